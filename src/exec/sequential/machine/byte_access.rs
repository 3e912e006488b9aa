//! Loads and stores of numbers of one byte or two, byte by byte.

use super::access_step::LaneAccess;
use super::addressing::{AddressedLanes, TransferDirection};
use super::control_trace::{StoredExtent, trace_stored};
use super::state::Machine;
use crate::ir::atomic::AccessKind;
use crate::ir::lane_mask::MASK_WORDS;
use crate::ir::{Access, AccessRoot, Scalar};
use vkcert_model::index_range::IndexRange;

impl Machine<'_> {
    /// Reads numbers of any size, lane by lane.
    pub(super) fn load_bytes(
        &mut self,
        access: &Access,
        addressed: &AddressedLanes,
        result_scalars: &[Scalar],
        source_index: u32,
    ) {
        for ((component, byte_count), scalar) in
            access.components.iter().zip(access.sizes.iter()).zip(result_scalars)
        {
            let mut lane_values = std::mem::take(&mut self.registers.staging_words);
            lane_values.fill(0);
            let mut undefined_lanes = [0; MASK_WORDS];
            let access_moment = self.access_moment(access.root, source_index);
            for lane in addressed.lanes.lanes() {
                let Some(byte_offset) = self.checked_address(
                    access,
                    addressed,
                    (lane, *component),
                    *byte_count,
                    source_index,
                ) else {
                    continue;
                };
                let first_byte = 4 * addressed.first_word + byte_offset as usize;
                let byte_range =
                    IndexRange { start: first_byte, end: first_byte + *byte_count as usize };
                let store = self.memory.store_of(access.root);
                lane_values[lane] = store.bytes_as_number(byte_range) as u32;
                if store.has_undefined_byte(byte_range) {
                    undefined_lanes[lane / 64] |= 1 << (lane % 64);
                }
                if let Some(watched_store) = self.memory.store_of_mut(access.root) {
                    let values = [u128::from(lane_values[lane]); 2];
                    let touch = AccessKind::Read;
                    let lane_access =
                        LaneAccess { lane, bytes: byte_range, touch, values, atomic: None };
                    self.monitor.observe_access(watched_store, &access_moment, &lane_access);
                }
                if access.root == AccessRoot::PushConstant {
                    self.note_push_constant(byte_range, source_index);
                }
                self.trace_stored_word(access.root, lane, first_byte / 4);
            }
            self.report_access((access.root, &access.name), source_index);
            self.watch_read(access.root, &addressed.lanes, &lane_values, source_index, *component);
            self.registers.write_words(*scalar, &lane_values);
            self.set_undefined_lanes(*scalar, &undefined_lanes);
            self.registers.staging_words = lane_values;
            self.pass_origins(
                TransferDirection::Load,
                *scalar,
                (access, &undefined_lanes),
                addressed,
                (*component, *byte_count),
            );
        }
    }

    /// Writes numbers of any size, lane by lane.
    pub(super) fn store_bytes(
        &mut self,
        access: &Access,
        addressed: &AddressedLanes,
        source_scalars: &[Scalar],
        source_index: u32,
    ) {
        for ((component, byte_count), scalar) in
            access.components.iter().zip(access.sizes.iter()).zip(source_scalars)
        {
            let undefined_lanes = if self.monitor.track_undefined {
                self.registers.undefined_bits(*scalar)
            } else {
                [0; MASK_WORDS]
            };
            let access_moment = self.access_moment(access.root, source_index);
            let mut memory_changed = false;
            for lane in addressed.lanes.lanes() {
                let Some(byte_offset) = self.checked_address(
                    access,
                    addressed,
                    (lane, *component),
                    *byte_count,
                    source_index,
                ) else {
                    continue;
                };
                let first_byte = 4 * addressed.first_word + byte_offset as usize;
                let byte_range =
                    IndexRange { start: first_byte, end: first_byte + *byte_count as usize };
                let lane_trace = self.lane_trace(lane);
                let new_value = self.registers.word_of(*scalar, lane) & low_bits(byte_range.len());
                let Some(store) = self.memory.store_of_mut(access.root) else { continue };
                let old_value = store.bytes_as_number(byte_range) as u32;
                let lane_access = LaneAccess {
                    lane,
                    bytes: byte_range,
                    touch: AccessKind::Write,
                    values: [old_value, new_value].map(u128::from),
                    atomic: None,
                };
                self.monitor.observe_access(store, &access_moment, &lane_access);
                trace_stored(
                    store,
                    lane_trace,
                    first_byte / 4..first_byte / 4 + 1,
                    StoredExtent::Part,
                );
                memory_changed |= old_value != new_value;
                let is_undefined = undefined_lanes[lane / 64] >> (lane % 64) & 1 == 1;
                // An undefined value written to a buffer was reported where it was written.
                let is_defined = !is_undefined || access.root.is_buffer();
                for (byte_index, byte_value) in byte_range.into_iter().zip(new_value.to_le_bytes())
                {
                    store.write_byte(byte_index, byte_value, is_defined);
                }
            }
            self.report_access((access.root, &access.name), source_index);
            self.watch_change(access.root, memory_changed);
            self.pass_origins(
                TransferDirection::Store,
                *scalar,
                (access, &undefined_lanes),
                addressed,
                (*component, *byte_count),
            );
        }
    }
}

/// The bits of so many bytes of a word.
fn low_bits(byte_count: usize) -> u32 {
    u32::MAX >> (32 - 8 * byte_count.clamp(1, 4))
}

//! Loads and stores of numbers of one byte or two, byte by byte.

use super::access_step::LaneAccess;
use super::addressing::{Addressed, Direction};
use super::control_trace::{Stored, trace_stored};
use super::state::Machine;
use crate::ir::atomic::AccessKind;
use crate::ir::lane_mask::MASK_WORDS;
use crate::ir::{Access, Scalar};

impl Machine<'_> {
    /// Reads numbers of any size, lane by lane.
    pub(super) fn load_bytes(
        &mut self,
        access: &Access,
        found: &Addressed,
        to: &[Scalar],
        place: u32,
    ) {
        for ((component, bytes), scalar) in
            access.components.iter().zip(access.sizes.iter()).zip(to)
        {
            let mut out = std::mem::take(&mut self.registers.staging);
            out.fill(0);
            let mut undefined = [0; MASK_WORDS];
            let moment = self.moment(access.root, place);
            for lane in found.lanes.lanes() {
                let Some(byte) = self.inside(access, found, (lane, *component), *bytes, place)
                else {
                    continue;
                };
                let first = 4 * found.first + byte as usize;
                let bytes = first..first + *bytes as usize;
                let store = self.memory.store_of(access.root);
                out[lane] = store.bytes_as_number(&bytes) as u32;
                if store.has_undefined_byte(&bytes) {
                    undefined[lane / 64] |= 1 << (lane % 64);
                }
                if let Some(store) = self.memory.store_of_mut(access.root) {
                    let values = [u128::from(out[lane]); 2];
                    let touch = AccessKind::Read;
                    let one = LaneAccess { lane, bytes, touch, values, atomic: None };
                    self.monitor.observe(store, &moment, &one);
                }
                self.follow_part(access.root, lane, first / 4);
            }
            self.tell_access((access.root, &access.name), place);
            self.watch_read(access.root, &found.lanes, &out, place, *component);
            self.registers.write_words(*scalar, &out);
            self.set_undefined(*scalar, &undefined);
            self.registers.staging = out;
            self.pass_origins(
                Direction::Load,
                *scalar,
                (access, &undefined),
                found,
                (*component, *bytes),
            );
        }
    }

    /// Writes numbers of any size, lane by lane.
    pub(super) fn store_bytes(
        &mut self,
        access: &Access,
        found: &Addressed,
        from: &[Scalar],
        place: u32,
    ) {
        for ((component, bytes), scalar) in
            access.components.iter().zip(access.sizes.iter()).zip(from)
        {
            let undefined = if self.monitor.track_undefined {
                self.registers.undefined_bits(*scalar)
            } else {
                [0; MASK_WORDS]
            };
            let moment = self.moment(access.root, place);
            let mut changed = false;
            for lane in found.lanes.lanes() {
                let Some(byte) = self.inside(access, found, (lane, *component), *bytes, place)
                else {
                    continue;
                };
                let first = 4 * found.first + byte as usize;
                let bytes = first..first + *bytes as usize;
                let trace = self.path(lane);
                let new = self.registers.word_of(*scalar, lane) & low_bits(bytes.len());
                let Some(store) = self.memory.store_of_mut(access.root) else { continue };
                let old = store.bytes_as_number(&bytes) as u32;
                let one = LaneAccess {
                    lane,
                    bytes: bytes.clone(),
                    touch: AccessKind::Write,
                    values: [old, new].map(u128::from),
                    atomic: None,
                };
                self.monitor.observe(store, &moment, &one);
                trace_stored(store, trace, first / 4..first / 4 + 1, Stored::Part);
                changed |= old != new;
                let is_undefined = undefined[lane / 64] >> (lane % 64) & 1 == 1;
                // An undefined value written to a buffer was reported where it was written.
                let defined = !is_undefined || access.root.is_buffer();
                for (at, byte) in bytes.zip(new.to_le_bytes()) {
                    store.write_byte(at, byte, defined);
                }
            }
            self.tell_access((access.root, &access.name), place);
            self.watch_change(access.root, changed);
            self.pass_origins(
                Direction::Store,
                *scalar,
                (access, &undefined),
                found,
                (*component, *bytes),
            );
        }
    }
}

/// The bits of so many bytes of a word.
fn low_bits(bytes: usize) -> u32 {
    u32::MAX >> (32 - 8 * bytes.clamp(1, 4))
}

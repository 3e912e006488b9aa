//! Accesses whose lanes may go to different buffers: by an index into descriptors, or by a device
//! address.
//!
//! Knows: an address is a symbol, the buffer's number above an offset (`exec::resource`);
//! arithmetic on it moves the offset.
//! Promises: lanes that go to one buffer do so together, buffers in ascending order; an index
//! beyond its descriptors and an address of no buffer are out-of-bounds findings, after which a
//! read gives 0 and a write is dropped.
//! Does not cover: what one buffer's access does (`access`).

use super::finding_collector::NOWHERE;
use super::state::Machine;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};
use crate::ir::{Access, AccessRoot, NumberRegisters, PointedObject, Reg, Scalar};
use std::sync::Arc;
use vkcert_model::finding::{Finding, FindingKind};

impl Machine<'_> {
    pub(super) fn is_indirect(&self, access: &Access) -> bool {
        matches!(
            access.root,
            AccessRoot::Descriptors { .. } | AccessRoot::Address(_) | AccessRoot::Pointer { .. }
        )
    }

    pub(super) fn load_indirectly(
        &mut self,
        access: &Access,
        result_scalars: &[Scalar],
        source_index: u32,
    ) {
        self.gather_targets(access, result_scalars, source_index, &mut |machine, access| {
            machine.load_memory(access, result_scalars, source_index)
        });
    }

    /// The same for an access with results: each lane gets that of its own buffer, 0 where it has
    /// none. A register that does not outlive its block is written in every lane each time, so
    /// results are put aside.
    pub(super) fn gather_targets(
        &mut self,
        access: &Access,
        result_scalars: &[Scalar],
        source_index: u32,
        run_access: &mut dyn FnMut(&mut Self, &Access),
    ) {
        let width = self.registers.width;
        let mut result_words = std::mem::take(&mut self.memory.indirect_targets.results);
        let mut undefined_results = std::mem::take(&mut self.memory.indirect_targets.undefined);
        result_words.clear();
        result_words.resize(width * result_scalars.len(), 0);
        undefined_results.clear();
        undefined_results.resize(result_scalars.len(), [0; MASK_WORDS]);
        self.run_each_target(access, source_index, &mut |machine, access| {
            run_access(machine, access);
            let active = machine.registers.active_lanes;
            for ((scalar, words), undefined) in result_scalars
                .iter()
                .zip(result_words.chunks_exact_mut(width))
                .zip(&mut undefined_results)
            {
                let bits = machine.registers.undefined_bits(*scalar);
                undefined.iter_mut().zip(bits).zip(active.0).for_each(
                    |((result_bits, new_bits), active)| *result_bits |= new_bits & active,
                );
                for lane in active.lanes() {
                    words[lane] = machine.registers.word_of(*scalar, lane);
                }
            }
        });
        for ((scalar, words), undefined) in
            result_scalars.iter().zip(result_words.chunks_exact(width)).zip(&undefined_results)
        {
            self.registers.write_words(*scalar, words);
            let origins = self.origins_of(*scalar, undefined);
            self.set_undefined_lanes(*scalar, undefined);
            self.restore_origins(*scalar, origins);
        }
        (self.memory.indirect_targets.results, self.memory.indirect_targets.undefined) =
            (result_words, undefined_results);
    }

    /// Runs an access once for each buffer that some of its lanes go to, with these lanes active.
    pub(super) fn run_each_target(
        &mut self,
        access: &Access,
        source_index: u32,
        run_access: &mut dyn FnMut(&mut Self, &Access),
    ) {
        let mut lane_targets = std::mem::take(&mut self.memory.indirect_targets.targets);
        lane_targets.clear();
        match access.root {
            AccessRoot::Descriptors { first, length, index } => {
                self.targets_by_index(
                    access,
                    [first, length],
                    index,
                    source_index,
                    &mut lane_targets,
                );
            }
            AccessRoot::Address(parts) => {
                self.targets_by_address(access, parts, source_index, &mut lane_targets)
            }
            AccessRoot::Pointer { which, into: _ } => {
                return self.run_each_object(access, which, source_index, run_access);
            }
            AccessRoot::Descriptor(_)
            | AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Buffer(_) => {}
        }
        let (active_lanes, were_full) = (self.registers.active_lanes, self.registers.all_active);
        for (root, lanes) in &lane_targets {
            self.registers.activate_lanes(*lanes, *lanes == active_lanes && were_full);
            run_access(self, &Access { root: *root, ..access.clone() });
        }
        self.registers.activate_lanes(active_lanes, were_full);
        self.memory.indirect_targets.targets = lane_targets;
    }

    /// The same for a variable pointer, object by object.
    fn run_each_object(
        &mut self,
        access: &Access,
        pointer_register: Reg,
        source_index: u32,
        run_access: &mut dyn FnMut(&mut Self, &Access),
    ) {
        let program = self.program;
        let (active_lanes, were_full) = (self.registers.active_lanes, self.registers.all_active);
        let mut lane_objects = std::mem::take(&mut self.memory.indirect_targets.objects);
        lane_objects.clear();
        for lane in active_lanes.lanes() {
            let object_number = self.registers.words[pointer_register.0 as usize][lane] as usize;
            if (1..=program.objects.len()).contains(&object_number) {
                add_lane(&mut lane_objects, object_number - 1, lane);
                continue;
            }
            let pointer_fault = if object_number == 0 { "is null" } else { "leads nowhere" };
            self.report_target(
                lane,
                source_index,
                &format!("the pointer `{}` {pointer_fault}", access.name),
            );
        }
        for (object_number, lanes) in &lane_objects {
            let PointedObject { root, window, name } = &program.objects[*object_number];
            self.registers.activate_lanes(*lanes, *lanes == active_lanes && were_full);
            let object_access =
                Access { root: *root, window: *window, name: Arc::clone(name), ..access.clone() };
            run_access(self, &object_access);
        }
        self.registers.activate_lanes(active_lanes, were_full);
        self.memory.indirect_targets.objects = lane_objects;
    }

    fn targets_by_index(
        &mut self,
        access: &Access,
        [first_descriptor, array_length]: [u32; 2],
        index_register: Reg,
        source_index: u32,
        targets: &mut Vec<(AccessRoot, LaneMask)>,
    ) {
        let active_lanes = self.registers.active_lanes;
        for lane in active_lanes.lanes() {
            let index_register = self.registers.words[index_register.0 as usize][lane];
            if index_register < array_length {
                add_lane(targets, AccessRoot::Descriptor(first_descriptor + index_register), lane);
                continue;
            }
            let object_name = &access.name;
            self.report_target(lane, source_index, &format!("index {index_register} is outside the {array_length} descriptors of `{object_name}`"));
        }
    }

    fn targets_by_address(
        &mut self,
        access: &Access,
        address_parts: NumberRegisters,
        source_index: u32,
        targets: &mut Vec<(AccessRoot, LaneMask)>,
    ) {
        let active_lanes = self.registers.active_lanes;
        for lane in active_lanes.lanes() {
            let device_address = self.registers.number_at(address_parts, lane);
            if let Some((buffer, offset)) = self.memory.buffer_at_address(device_address) {
                self.memory.offsets[lane] = offset;
                add_lane(targets, AccessRoot::Buffer(buffer), lane);
                continue;
            }
            self.report_target(
                lane,
                source_index,
                &format!("the address {device_address:#x} of `{}` is in no buffer", access.name),
            );
        }
    }

    fn report_target(&mut self, lane: usize, source_index: u32, message: &str) {
        let global_id = self.global_id(self.registers.first_lane + lane as u32);
        self.monitor.collector.add_occurrence(
            FindingKind::OutOfBounds,
            [source_index, NOWHERE],
            u32::MAX - 1,
            || Finding {
                invocations: vec![global_id],
                ..Finding::new(FindingKind::OutOfBounds, message.to_owned())
            },
        );
    }
}

/// Adds a lane to those of a target.
fn add_lane<T: Ord>(targets: &mut Vec<(T, LaneMask)>, target: T, lane: usize) {
    let target_index = targets
        .binary_search_by(|(other_target, _)| other_target.cmp(&target))
        .unwrap_or_else(|target_index| {
            targets.insert(target_index, (target, LaneMask::EMPTY));
            target_index
        });
    targets[target_index].1.insert(lane);
}

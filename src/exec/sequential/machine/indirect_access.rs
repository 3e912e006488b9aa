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
use vkcert_model::finding::{Finding, FindingKind};

impl Machine<'_> {
    pub(super) fn is_indirect(&self, access: &Access) -> bool {
        matches!(
            access.root,
            AccessRoot::Descriptors { .. } | AccessRoot::Address(_) | AccessRoot::Pointer { .. }
        )
    }

    pub(super) fn load_indirectly(&mut self, access: &Access, to: &[Scalar], place: u32) {
        self.gather_targets(access, to, place, &mut |machine, access| {
            machine.load(access, to, place)
        });
    }

    /// The same for an access with results: each lane gets that of its own buffer, 0 where it has
    /// none. A register that does not outlive its block is written in every lane each time, so
    /// results are put aside.
    pub(super) fn gather_targets(
        &mut self,
        access: &Access,
        to: &[Scalar],
        place: u32,
        run: &mut dyn FnMut(&mut Self, &Access),
    ) {
        let width = self.registers.width;
        let mut results = std::mem::take(&mut self.memory.detour.results);
        let mut all_undefined = std::mem::take(&mut self.memory.detour.undefined);
        results.clear();
        results.resize(width * to.len(), 0);
        all_undefined.clear();
        all_undefined.resize(to.len(), [0; MASK_WORDS]);
        self.each_target(access, place, &mut |machine, access| {
            run(machine, access);
            let active = machine.registers.active;
            for ((scalar, words), undefined) in
                to.iter().zip(results.chunks_exact_mut(width)).zip(&mut all_undefined)
            {
                let bits = machine.registers.undefined_bits(*scalar);
                undefined
                    .iter_mut()
                    .zip(bits)
                    .zip(active.0)
                    .for_each(|((all, bits), active)| *all |= bits & active);
                for lane in active.lanes() {
                    words[lane] = machine.registers.word_of(*scalar, lane);
                }
            }
        });
        for ((scalar, words), undefined) in
            to.iter().zip(results.chunks_exact(width)).zip(&all_undefined)
        {
            self.registers.write_words(*scalar, words);
            let origins = self.origins_of(*scalar, undefined);
            self.set_undefined(*scalar, undefined);
            self.restore_origins(*scalar, origins);
        }
        (self.memory.detour.results, self.memory.detour.undefined) = (results, all_undefined);
    }

    /// Runs an access once for each buffer that some of its lanes go to, with these lanes active.
    pub(super) fn each_target(
        &mut self,
        access: &Access,
        place: u32,
        run: &mut dyn FnMut(&mut Self, &Access),
    ) {
        let mut targets = std::mem::take(&mut self.memory.detour.targets);
        targets.clear();
        match access.root {
            AccessRoot::Descriptors { first, length, index } => {
                self.by_index(access, [first, length], index, place, &mut targets);
            }
            AccessRoot::Address(parts) => self.by_address(access, parts, place, &mut targets),
            AccessRoot::Pointer { which, into: _ } => {
                return self.each_object(access, which, place, run);
            }
            AccessRoot::Descriptor(_)
            | AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Buffer(_) => {}
        }
        let (active, full) = (self.registers.active, self.registers.full);
        for (root, lanes) in &targets {
            self.registers.activate(*lanes, *lanes == active && full);
            run(self, &Access { root: *root, ..access.clone() });
        }
        self.registers.activate(active, full);
        self.memory.detour.targets = targets;
    }

    /// The same for a variable pointer, object by object.
    fn each_object(
        &mut self,
        access: &Access,
        which: Reg,
        place: u32,
        run: &mut dyn FnMut(&mut Self, &Access),
    ) {
        let program = self.program;
        let (active, full) = (self.registers.active, self.registers.full);
        let mut objects = std::mem::take(&mut self.memory.detour.objects);
        objects.clear();
        for lane in active.lanes() {
            let number = self.registers.words[which.0 as usize][lane] as usize;
            if (1..=program.objects.len()).contains(&number) {
                add(&mut objects, number - 1, lane);
                continue;
            }
            let what = if number == 0 { "is null" } else { "leads nowhere" };
            self.report_target(lane, place, &format!("the pointer `{}` {what}", access.name));
        }
        for (number, lanes) in &objects {
            let PointedObject { root, window, name } = program.objects[*number].clone();
            self.registers.activate(*lanes, *lanes == active && full);
            run(self, &Access { root, window, name, ..access.clone() });
        }
        self.registers.activate(active, full);
        self.memory.detour.objects = objects;
    }

    fn by_index(
        &mut self,
        access: &Access,
        [first, length]: [u32; 2],
        index: Reg,
        place: u32,
        targets: &mut Vec<(AccessRoot, LaneMask)>,
    ) {
        let active = self.registers.active;
        for lane in active.lanes() {
            let index = self.registers.words[index.0 as usize][lane];
            if index < length {
                add(targets, AccessRoot::Descriptor(first + index), lane);
                continue;
            }
            let name = &access.name;
            self.report_target(
                lane,
                place,
                &format!("index {index} is outside the {length} descriptors of `{name}`"),
            );
        }
    }

    fn by_address(
        &mut self,
        access: &Access,
        parts: NumberRegisters,
        place: u32,
        targets: &mut Vec<(AccessRoot, LaneMask)>,
    ) {
        let active = self.registers.active;
        for lane in active.lanes() {
            let address = self.registers.number(parts, lane);
            if let Some((buffer, offset)) = self.memory.addressed(address) {
                self.memory.offsets[lane] = offset;
                add(targets, AccessRoot::Buffer(buffer), lane);
                continue;
            }
            self.report_target(
                lane,
                place,
                &format!("the address {address:#x} of `{}` is in no buffer", access.name),
            );
        }
    }

    fn report_target(&mut self, lane: usize, place: u32, message: &str) {
        let witness = self.invocation(self.registers.first_lane + lane as u32);
        self.monitor.collector.add(
            FindingKind::OutOfBounds,
            [place, NOWHERE],
            u32::MAX - 1,
            || Finding {
                invocations: vec![witness],
                ..Finding::new(FindingKind::OutOfBounds, message.to_owned())
            },
        );
    }
}

/// Adds a lane to those of a target.
fn add<T: Ord>(targets: &mut Vec<(T, LaneMask)>, target: T, lane: usize) {
    let at = targets.binary_search_by(|(other, _)| other.cmp(&target)).unwrap_or_else(|at| {
        targets.insert(at, (target, LaneMask::EMPTY));
        at
    });
    targets[at].1.insert(lane);
}

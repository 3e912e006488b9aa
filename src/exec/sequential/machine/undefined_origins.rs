//! Undefined values on their way: which operation left each.
//!
//! Knows: an undefined value is marked as one that nobody wrote is (`Machine::set_undefined`); here
//! stands, of those that an operation left, which operation. Few values are undefined, so they
//! stand in a map.
//! Promises: a mark without an origin is of a value that nobody wrote. A value is told once for
//! each use of it that tells.
//! Does not cover: buffers and images: what is written there has been told.

use super::finding_collector::NOWHERE;
use super::origins::{Home, Origin};
use super::state::Machine;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS, set_bits};
use crate::ir::{AccessRoot, AddressUnit, LaneInstruction, Scalar};
use crate::settings::variation::{Arbitrary, Variation};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::random::mix_bits;
use vkcert_spirv::operation::undefined::{Undefined, UndefinedExtent};

/// An access to memory by some lanes.
pub(super) struct Moved<'a> {
    pub root: AccessRoot,
    pub lanes: &'a [u64; MASK_WORDS],
    /// By lane, from the root on, in units of the access.
    pub addresses: &'a dyn Fn(usize) -> u32,
    /// Word where the root begins.
    pub first: u32,
    pub size: u32,
    pub unit: AddressUnit,
}

impl Machine<'_> {
    fn home(&self, home: Home) -> (u64, Home) {
        (self.scheduler.workgroup_index, home)
    }

    fn register(&self, scalar: Scalar, lane: usize) -> (u64, Home) {
        self.home(Home::Register(scalar, self.registers.first_lane + lane as u32))
    }

    /// What an operation leaves in these lanes: an undefined value, which is marked. Undefined
    /// behaviour is told at once.
    pub(super) fn leave_undefined(
        &mut self,
        to: &[Scalar],
        lanes: &LaneMask,
        undefined: Undefined,
        place: u32,
    ) {
        match undefined.extent {
            UndefinedExtent::Behaviour => {
                self.report_value(lanes, place, FindingKind::UndefinedValue, undefined.why)
            }
            UndefinedExtent::Value => self.mark(to, lanes, Origin { place, why: undefined.why }),
        }
        if !lanes.is_empty() {
            self.take_any(to, lanes, place);
        }
    }

    fn mark(&mut self, to: &[Scalar], lanes: &LaneMask, origin: Origin) {
        if !self.monitor.track_undefined || lanes.is_empty() {
            return;
        }
        let number = self.monitor.origins.number(origin);
        for scalar in to {
            let marks = self.registers.marks_of(*scalar);
            marks.iter_mut().zip(&lanes.0).for_each(|(marks, lanes)| *marks |= lanes);
            for lane in lanes.lanes() {
                let register = self.register(*scalar, lane);
                self.monitor.origins.homes.insert(register, number);
            }
        }
    }

    /// Gives undefined results another value, in a run that asks for it.
    fn take_any(&mut self, to: &[Scalar], lanes: &LaneMask, place: u32) {
        let chosen =
            self.settings.variation.map_or(Arbitrary::Documented, |variation| variation.undefined);
        for (index, scalar) in to.iter().enumerate() {
            for lane in lanes.lanes() {
                let value = match chosen {
                    Arbitrary::Documented | Arbitrary::Operand { .. } => return,
                    Arbitrary::Always { word } => word,
                    Arbitrary::Chosen { seed } | Arbitrary::Sized { seed } => {
                        let execution = mix_bits(u64::from(seed) << 32 | u64::from(place))
                            ^ self.scheduler.steps_left;
                        chosen
                            .by_chance(execution ^ mix_bits((index << 16 | lane) as u64))
                            .unwrap_or_default()
                    }
                };
                match scalar {
                    Scalar::Word(reg) => self.registers.words[reg.0 as usize][lane] = value,
                    Scalar::Mask(reg) => {
                        let word = &mut self.registers.masks
                            [reg.0 as usize * self.registers.mask_words + lane / 64];
                        *word = *word & !(1 << (lane % 64)) | u64::from(value & 1) << (lane % 64);
                    }
                }
            }
        }
    }

    /// Gives an undefined result of an operation on words the value of an operand, in a run that
    /// asks for it.
    pub(super) fn take_operand(&mut self, action: &LaneInstruction, lanes: &LaneMask) {
        let Some(Variation { undefined: Arbitrary::Operand { number }, .. }) =
            self.settings.variation
        else {
            return;
        };
        let (to, operand) = match (action, number) {
            (
                LaneInstruction::Unary { to, a, .. }
                | LaneInstruction::Binary { to, a, .. }
                | LaneInstruction::Ternary { to, a, .. },
                0,
            ) => (*to, *a),
            (LaneInstruction::Binary { to, b, .. } | LaneInstruction::Ternary { to, b, .. }, 1) => {
                (*to, *b)
            }
            _ => return,
        };
        for lane in lanes.lanes() {
            self.registers.words[to.0 as usize][lane] =
                self.registers.words[operand.0 as usize][lane];
        }
    }

    /// Forgets where marks of a register came from.
    pub(super) fn forget_origins(&mut self, scalar: Scalar, marks: &[u64; MASK_WORDS]) {
        for lane in LaneMask(*marks).lanes() {
            let register = self.register(scalar, lane);
            self.monitor.origins.homes.remove(&register);
        }
    }

    /// A register takes the values of others with their marks: each source with the lanes that it
    /// gives its value to.
    pub(super) fn carry(&mut self, to: Scalar, sources: &[(Scalar, [u64; MASK_WORDS])]) {
        if !self.monitor.track_undefined {
            return;
        }
        let mut marks = [0; MASK_WORDS];
        let mut taken = Vec::new();
        for (source, lanes) in sources {
            let own = self.registers.undefined_bits(*source);
            let own: [u64; MASK_WORDS] =
                std::array::from_fn(|word| own[word] & lanes[word] & self.registers.active.0[word]);
            marks.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
            if !self.monitor.origins.is_empty() {
                taken.extend(LaneMask(own).lanes().filter_map(|lane| {
                    self.monitor
                        .origins
                        .homes
                        .get(&self.register(*source, lane))
                        .map(|origin| (lane, *origin))
                }));
            }
        }
        self.set_undefined(to, &marks);
        for (lane, origin) in taken {
            let register = self.register(to, lane);
            self.monitor.origins.homes.insert(register, origin);
        }
    }

    /// Gives marked lanes of a register the origins that those of other lanes have.
    pub(super) fn carry_across(
        &mut self,
        to: Scalar,
        from: Scalar,
        marks: &[u64; MASK_WORDS],
        sources: &[u32],
    ) {
        self.set_undefined(to, marks);
        if self.monitor.origins.is_empty() {
            return;
        }
        let origin = |lane: usize| {
            self.monitor.origins.homes.get(&self.register(from, sources[lane] as usize)).copied()
        };
        let taken: Vec<_> =
            LaneMask(*marks).lanes().filter_map(|lane| Some((lane, origin(lane)?))).collect();
        for (lane, origin) in taken {
            let register = self.register(to, lane);
            self.monitor.origins.homes.insert(register, origin);
        }
    }

    /// The origins of marked lanes of a register, to be given back by [`Machine::restore_origins`].
    pub(super) fn origins_of(
        &self,
        scalar: Scalar,
        marks: &[u64; MASK_WORDS],
    ) -> Vec<(usize, u32)> {
        if self.monitor.origins.is_empty() {
            return Vec::new();
        }
        let origin =
            |lane: usize| self.monitor.origins.homes.get(&self.register(scalar, lane)).copied();
        LaneMask(*marks).lanes().filter_map(|lane| Some((lane, origin(lane)?))).collect()
    }

    pub(super) fn restore_origins(&mut self, scalar: Scalar, origins: Vec<(usize, u32)>) {
        for (lane, origin) in origins {
            let register = self.register(scalar, lane);
            self.monitor.origins.homes.insert(register, origin);
        }
    }

    fn homes_in_memory(&self, moved: &Moved<'_>, lane: usize) -> Vec<(u64, Home)> {
        let address = (moved.addresses)(lane);
        match moved.root {
            AccessRoot::Invocation => {
                vec![self.home(Home::Invocation(address, self.registers.first_lane + lane as u32))]
            }
            AccessRoot::Workgroup => {
                let bytes = moved.unit.bytes();
                let first = 4 * moved.first + bytes * address;
                (first..first + bytes * moved.size)
                    .map(|byte| self.home(Home::Workgroup(byte)))
                    .collect()
            }
            AccessRoot::Descriptor(_)
            | AccessRoot::Buffer(_)
            | AccessRoot::PushConstant
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. } => Vec::new(),
        }
    }

    /// A register was read from memory by these lanes; `marks` are what it has now.
    pub(super) fn carry_from_memory(
        &mut self,
        to: Scalar,
        marks: &[u64; MASK_WORDS],
        moved: &Moved<'_>,
    ) {
        let marked = |lane: &usize| marks[lane / 64] >> (lane % 64) & 1 == 1;
        for lane in LaneMask(*moved.lanes).lanes().filter(marked) {
            let homes = self.homes_in_memory(moved, lane);
            if let Some(origin) =
                homes.iter().find_map(|home| self.monitor.origins.homes.get(home)).copied()
            {
                let register = self.register(to, lane);
                self.monitor.origins.homes.insert(register, origin);
            }
        }
    }

    /// A register was written to memory by these lanes; `marks` are those of the register.
    pub(super) fn carry_to_memory(
        &mut self,
        from: Scalar,
        marks: &[u64; MASK_WORDS],
        moved: &Moved<'_>,
    ) {
        for lane in LaneMask(*moved.lanes).lanes() {
            let marked = marks[lane / 64] >> (lane % 64) & 1 == 1;
            let origin = self
                .monitor
                .origins
                .homes
                .get(&self.register(from, lane))
                .copied()
                .filter(|_| marked);
            for home in self.homes_in_memory(moved, lane) {
                match origin {
                    Some(origin) => drop(self.monitor.origins.homes.insert(home, origin)),
                    None => drop(self.monitor.origins.homes.remove(&home)),
                }
            }
        }
    }

    /// An invocation's memory begins a life in the active lanes.
    pub(super) fn forget_memory(&mut self, word: u32) {
        if self.monitor.origins.is_empty() {
            return;
        }
        for lane in self.registers.active.lanes() {
            let home = self.home(Home::Invocation(word, self.registers.first_lane + lane as u32));
            self.monitor.origins.homes.remove(&home);
        }
    }

    /// Reports an undefined operand among `suspects` in an active lane: one that an operation left
    /// where it did, one that nobody wrote where it is used.
    pub(super) fn check_defined(&mut self, suspects: &[Scalar], place: u32) {
        let mut unwritten = [0u64; MASK_WORDS];
        let mut any = 0;
        for suspect in suspects {
            let marks = self.registers.undefined_bits(*suspect);
            for (index, all) in unwritten[..self.registers.mask_words].iter_mut().enumerate() {
                let mut found = marks[index] & self.registers.active.0[index];
                if found != 0 && !self.monitor.origins.is_empty() {
                    found = self.tell_origins(*suspect, index, found);
                }
                *all |= found;
                any |= found;
            }
        }
        if any != 0 {
            self.report_undefined(
                &LaneMask(unwritten),
                place,
                "an uninitialised value is used here",
            );
        }
    }

    /// Tells of the marked lanes of a register, those of one word of a mask, which operations left
    /// their values, and takes these marks away; gives the lanes whose value no operation left.
    fn tell_origins(&mut self, suspect: Scalar, index: usize, marks: u64) -> u64 {
        let mut unwritten = marks;
        for bit in set_bits(marks) {
            let lane = 64 * index + bit;
            let register = self.register(suspect, lane);
            let Some(number) = self.monitor.origins.homes.remove(&register) else { continue };
            unwritten &= !(1 << bit);
            let Origin { place, why } = self.monitor.origins.all[number as usize];
            let witness = self.invocation(self.registers.first_lane + lane as u32);
            self.monitor.collector.add(FindingKind::UndefinedValue, [place, NOWHERE], 0, || {
                Finding {
                    invocations: vec![witness],
                    ..Finding::new(FindingKind::UndefinedValue, why)
                }
            });
        }
        let told = marks & !unwritten;
        self.registers.marks_of(suspect)[index] &= !told;
        unwritten
    }
}

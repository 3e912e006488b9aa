//! The origins of undefined values: which operation left each, followed through copies and memory.
//!
//! Knows: an undefined value is marked as one that nobody wrote is (`Machine::set_undefined_lanes`); here
//! stands, of those that an operation left, which operation. Few values are undefined, so they
//! stand in a map.
//! Promises: a mark without an origin is of a value that nobody wrote. A value is told once for
//! each use of it that tells.
//! Does not cover: buffers and images: what is written there has been told.

use super::finding_collector::NOWHERE;
use super::origins::{UndefinedOrigin, ValueLocation};
use super::state::Machine;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS, set_bits};
use crate::ir::{AccessRoot, AddressUnit, LaneInstruction, Scalar};
use crate::settings::variation::{Arbitrary, Variation};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::random::mix_bits;
use vkcert_spirv::operation::undefined::{Undefined, UndefinedExtent};

/// An access to memory by some lanes.
pub(super) struct MovedValue<'a> {
    pub root: AccessRoot,
    pub lanes: &'a [u64; MASK_WORDS],
    /// By lane, from the root on, in units of the access.
    pub addresses: &'a dyn Fn(usize) -> u32,
    /// Word where the root begins.
    pub first_word: u32,
    pub unit_count: u32,
    pub unit: AddressUnit,
}

impl Machine<'_> {
    fn in_workgroup(&self, value_location: ValueLocation) -> (u64, ValueLocation) {
        (self.scheduler.workgroup_index, value_location)
    }

    fn register_location(&self, scalar: Scalar, lane: usize) -> (u64, ValueLocation) {
        self.in_workgroup(ValueLocation::Register(scalar, self.registers.first_lane + lane as u32))
    }

    /// What an operation leaves in these lanes: an undefined value, which is marked. Undefined
    /// behaviour is told at once.
    pub(super) fn leave_undefined(
        &mut self,
        result_scalars: &[Scalar],
        lanes: &LaneMask,
        undefined: Undefined,
        source_index: u32,
    ) {
        match undefined.extent {
            UndefinedExtent::Behaviour => {
                self.report_lanes(lanes, source_index, FindingKind::UndefinedValue, undefined.why)
            }
            UndefinedExtent::Value => self.mark_undefined(
                result_scalars,
                lanes,
                UndefinedOrigin { source_index, why: undefined.why },
            ),
        }
        if !lanes.is_empty() {
            self.vary_undefined(result_scalars, lanes, source_index);
        }
    }

    fn mark_undefined(
        &mut self,
        result_scalars: &[Scalar],
        lanes: &LaneMask,
        origin: UndefinedOrigin,
    ) {
        if !self.monitor.track_undefined || lanes.is_empty() {
            return;
        }
        let origin_number = self.monitor.origins.origin_number(origin);
        for scalar in result_scalars {
            let register_marks = self.registers.undefined_marks(*scalar);
            register_marks
                .iter_mut()
                .zip(&lanes.0)
                .for_each(|(mark_word, lane_word)| *mark_word |= lane_word);
            for lane in lanes.lanes() {
                let register = self.register_location(*scalar, lane);
                self.monitor.origins.by_location.insert(register, origin_number);
            }
        }
    }

    /// Gives undefined results another value, in a run that asks for it.
    fn vary_undefined(&mut self, result_scalars: &[Scalar], lanes: &LaneMask, source_index: u32) {
        let chosen_values =
            self.settings.variation.map_or(Arbitrary::Documented, |variation| variation.undefined);
        for (result_index, scalar) in result_scalars.iter().enumerate() {
            for lane in lanes.lanes() {
                let value = match chosen_values {
                    Arbitrary::Documented | Arbitrary::Operand { .. } => return,
                    Arbitrary::Always { word } => word,
                    Arbitrary::Chosen { seed } | Arbitrary::Sized { seed } => {
                        let execution = mix_bits(u64::from(seed) << 32 | u64::from(source_index))
                            ^ self.scheduler.steps_left;
                        chosen_values
                            .by_chance(execution ^ mix_bits((result_index << 16 | lane) as u64))
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
    pub(super) fn take_operand_value(&mut self, action: &LaneInstruction, lanes: &LaneMask) {
        let Some(Variation { undefined: Arbitrary::Operand { number }, .. }) =
            self.settings.variation
        else {
            return;
        };
        let (result_register, operand_register) = match (action, number) {
            (
                LaneInstruction::Unary { to: result_register, a, .. }
                | LaneInstruction::Binary { to: result_register, a, .. }
                | LaneInstruction::Ternary { to: result_register, a, .. },
                0,
            ) => (*result_register, *a),
            (
                LaneInstruction::Binary { to: result_register, b, .. }
                | LaneInstruction::Ternary { to: result_register, b, .. },
                1,
            ) => (*result_register, *b),
            _ => return,
        };
        for lane in lanes.lanes() {
            self.registers.words[result_register.0 as usize][lane] =
                self.registers.words[operand_register.0 as usize][lane];
        }
    }

    /// Forgets where marks of a register came from.
    pub(super) fn forget_origins(&mut self, scalar: Scalar, undefined_lanes: &[u64; MASK_WORDS]) {
        for lane in LaneMask(*undefined_lanes).lanes() {
            let register = self.register_location(scalar, lane);
            self.monitor.origins.by_location.remove(&register);
        }
    }

    /// A register takes the values of others with their marks: each source with the lanes that it
    /// gives its value to.
    pub(super) fn carry_marks(
        &mut self,
        result_scalar: Scalar,
        sources: &[(Scalar, [u64; MASK_WORDS])],
    ) {
        if !self.monitor.track_undefined {
            return;
        }
        let mut result_marks = [0; MASK_WORDS];
        let mut carried_origins = Vec::new();
        for (source, lanes) in sources {
            let source_marks = self.registers.undefined_bits(*source);
            let source_marks: [u64; MASK_WORDS] = std::array::from_fn(|word| {
                source_marks[word] & lanes[word] & self.registers.active_lanes.0[word]
            });
            result_marks
                .iter_mut()
                .zip(source_marks)
                .for_each(|(result_word, source_word)| *result_word |= source_word);
            if !self.monitor.origins.is_empty() {
                carried_origins.extend(LaneMask(source_marks).lanes().filter_map(|lane| {
                    self.monitor
                        .origins
                        .by_location
                        .get(&self.register_location(*source, lane))
                        .map(|origin| (lane, *origin))
                }));
            }
        }
        self.set_undefined_lanes(result_scalar, &result_marks);
        for (lane, origin) in carried_origins {
            let register = self.register_location(result_scalar, lane);
            self.monitor.origins.by_location.insert(register, origin);
        }
    }

    /// Gives marked lanes of a register the origins that those of other lanes have.
    pub(super) fn carry_marks_across(
        &mut self,
        result_scalar: Scalar,
        source_scalar: Scalar,
        undefined_lanes: &[u64; MASK_WORDS],
        source_lanes: &[u32],
    ) {
        self.set_undefined_lanes(result_scalar, undefined_lanes);
        if self.monitor.origins.is_empty() {
            return;
        }
        let origin_of_source = |lane: usize| {
            self.monitor
                .origins
                .by_location
                .get(&self.register_location(source_scalar, source_lanes[lane] as usize))
                .copied()
        };
        let carried_origins: Vec<_> = LaneMask(*undefined_lanes)
            .lanes()
            .filter_map(|lane| Some((lane, origin_of_source(lane)?)))
            .collect();
        for (lane, origin) in carried_origins {
            let register = self.register_location(result_scalar, lane);
            self.monitor.origins.by_location.insert(register, origin);
        }
    }

    /// The origins of marked lanes of a register, to be given back by [`Machine::restore_origins`].
    pub(super) fn origins_of(
        &self,
        scalar: Scalar,
        undefined_lanes: &[u64; MASK_WORDS],
    ) -> Vec<(usize, u32)> {
        if self.monitor.origins.is_empty() {
            return Vec::new();
        }
        let origin_of_lane = |lane: usize| {
            self.monitor.origins.by_location.get(&self.register_location(scalar, lane)).copied()
        };
        LaneMask(*undefined_lanes)
            .lanes()
            .filter_map(|lane| Some((lane, origin_of_lane(lane)?)))
            .collect()
    }

    pub(super) fn restore_origins(&mut self, scalar: Scalar, origins: Vec<(usize, u32)>) {
        for (lane, origin) in origins {
            let register = self.register_location(scalar, lane);
            self.monitor.origins.by_location.insert(register, origin);
        }
    }

    fn memory_locations(
        &self,
        moved_value: &MovedValue<'_>,
        lane: usize,
    ) -> Vec<(u64, ValueLocation)> {
        let address = (moved_value.addresses)(lane);
        match moved_value.root {
            AccessRoot::Invocation => {
                vec![self.in_workgroup(ValueLocation::Invocation(
                    address,
                    self.registers.first_lane + lane as u32,
                ))]
            }
            AccessRoot::Workgroup => {
                let unit_bytes = moved_value.unit.byte_count();
                let first_byte = 4 * moved_value.first_word + unit_bytes * address;
                (first_byte..first_byte + unit_bytes * moved_value.unit_count)
                    .map(|byte| self.in_workgroup(ValueLocation::Workgroup(byte)))
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
        result_scalar: Scalar,
        undefined_lanes: &[u64; MASK_WORDS],
        moved_value: &MovedValue<'_>,
    ) {
        let is_marked = |lane: &usize| undefined_lanes[lane / 64] >> (lane % 64) & 1 == 1;
        for lane in LaneMask(*moved_value.lanes).lanes().filter(is_marked) {
            let memory_locations = self.memory_locations(moved_value, lane);
            if let Some(origin) = memory_locations
                .iter()
                .find_map(|value_location| self.monitor.origins.by_location.get(value_location))
                .copied()
            {
                let register = self.register_location(result_scalar, lane);
                self.monitor.origins.by_location.insert(register, origin);
            }
        }
    }

    /// A register was written to memory by these lanes; `marks` are those of the register.
    pub(super) fn carry_to_memory(
        &mut self,
        source_scalar: Scalar,
        undefined_lanes: &[u64; MASK_WORDS],
        moved_value: &MovedValue<'_>,
    ) {
        for lane in LaneMask(*moved_value.lanes).lanes() {
            let is_marked = undefined_lanes[lane / 64] >> (lane % 64) & 1 == 1;
            let origin = self
                .monitor
                .origins
                .by_location
                .get(&self.register_location(source_scalar, lane))
                .copied()
                .filter(|_| is_marked);
            for value_location in self.memory_locations(moved_value, lane) {
                match origin {
                    Some(origin) => {
                        self.monitor.origins.by_location.insert(value_location, origin);
                    }
                    None => {
                        self.monitor.origins.by_location.remove(&value_location);
                    }
                }
            }
        }
    }

    /// An invocation's memory begins a life in the active lanes.
    pub(super) fn forget_memory_origins(&mut self, word_index: u32) {
        if self.monitor.origins.is_empty() {
            return;
        }
        for lane in self.registers.active_lanes.lanes() {
            let value_location = self.in_workgroup(ValueLocation::Invocation(
                word_index,
                self.registers.first_lane + lane as u32,
            ));
            self.monitor.origins.by_location.remove(&value_location);
        }
    }

    /// Reports an undefined operand among `suspects` in an active lane: one that an operation left
    /// where it did, one that nobody wrote where it is used.
    pub(super) fn check_defined(&mut self, suspect_scalars: &[Scalar], source_index: u32) {
        let mut unwritten_lanes = [0u64; MASK_WORDS];
        let mut any_unwritten = 0;
        for suspect in suspect_scalars {
            let suspect_marks = self.registers.undefined_bits(*suspect);
            for (mask_word, all) in
                unwritten_lanes[..self.registers.mask_words].iter_mut().enumerate()
            {
                let mut unwritten_word =
                    suspect_marks[mask_word] & self.registers.active_lanes.0[mask_word];
                if unwritten_word != 0 && !self.monitor.origins.is_empty() {
                    unwritten_word = self.report_origins(*suspect, mask_word, unwritten_word);
                }
                *all |= unwritten_word;
                any_unwritten |= unwritten_word;
            }
        }
        if any_unwritten != 0 {
            self.report_undefined(
                &LaneMask(unwritten_lanes),
                source_index,
                "an uninitialised value is used here",
            );
        }
    }

    /// Tells of the marked lanes of a register, those of one word of a mask, which operations left
    /// their values, and takes these marks away; gives the lanes whose value no operation left.
    fn report_origins(
        &mut self,
        suspect_scalar: Scalar,
        mask_word: usize,
        marked_lanes: u64,
    ) -> u64 {
        let mut unwritten_lanes = marked_lanes;
        for bit in set_bits(marked_lanes) {
            let lane = 64 * mask_word + bit;
            let register = self.register_location(suspect_scalar, lane);
            let Some(origin_number) = self.monitor.origins.by_location.remove(&register) else {
                continue;
            };
            unwritten_lanes &= !(1 << bit);
            let UndefinedOrigin { source_index: place, why: undefined_reason } =
                self.monitor.origins.known_origins[origin_number as usize];
            let global_id = self.global_id(self.registers.first_lane + lane as u32);
            self.monitor.collector.add_occurrence(
                FindingKind::UndefinedValue,
                [place, NOWHERE],
                0,
                || Finding {
                    invocations: vec![global_id],
                    ..Finding::new(FindingKind::UndefinedValue, undefined_reason)
                },
            );
        }
        let reported_lanes = marked_lanes & !unwritten_lanes;
        self.registers.undefined_marks(suspect_scalar)[mask_word] &= !reported_lanes;
        unwritten_lanes
    }
}

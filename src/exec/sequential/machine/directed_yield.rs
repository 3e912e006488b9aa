//! Directed yields: an invocation that is about to change a word that others wait for holds, so that
//! the waiting ones run first.
//!
//! Knows: a first run in the ordinary order observes which words atomics read, and which of these
//! some atomic leaves as they are, as one in a waiting loop does. In a second run the lanes that
//! are about to change such a word by an atomic hold, and all other invocations run on, those of
//! other workgroups too, until none is runnable. Then the held lanes are released one by one, the
//! one that has held longest first; changes of words that are only read (flags) come last of all.
//! After each change the waiting invocations read again.
//! Promises: such a run is one of those that Vulkan permits: each invocation runs its own
//! instructions in order. An atomic that leaves memory as it is (an `atomicOr` of 0, a failing
//! compare-exchange) does not hold. Each instruction holds a limited number of lanes, so that a run
//! ends where it ends without. Lanes of a subgroup that works together hold together.
//! Does not cover: plain stores, because no other invocation may rely on one before an atomic that
//! follows it.

use super::held_lanes::{
    AtomicEffect, BlockProgress, BlockRegisters, HeldLanes, HoldUrgency, SharedWord,
};
use super::registers::Registers;
use super::spin_watch::{MOST_ROUNDS, TurnEnd};
use super::state::Machine;
use super::step_budget::EarlyStop;
use super::tile::Tile;
use crate::ir::image::ImageOperation;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{
    Access, AccessRoot, LaneInstruction, LocatedInstruction, NumberRegisters, SubgroupUse,
};
use std::rc::Rc;

impl Registers {
    /// Restores the registers of a block as they were when its lanes held.
    pub(super) fn restore_block(&mut self, held_lanes: &HeldLanes) {
        let block_registers = &held_lanes.registers;
        self.words[..block_registers.words.len()].clone_from_slice(&block_registers.words);
        self.masks[..block_registers.masks.len()].copy_from_slice(&block_registers.masks);
        self.undefined_words[..block_registers.undefined_words.len()]
            .copy_from_slice(&block_registers.undefined_words);
        self.undefined_masks[..block_registers.undefined_masks.len()]
            .copy_from_slice(&block_registers.undefined_masks);
    }
}

impl Machine<'_> {
    /// Whether all lanes of a tile hold together, because its subgroups work together.
    pub(super) fn holds_whole_tile(&self, tile: &Tile) -> bool {
        self.program.subgroups != SubgroupUse::None && !tile.tile_holds.held_lanes.is_empty()
    }

    /// Runs the steps of a block, or from one on that the lanes held before; they hold before any
    /// other that changes what is looked at.
    pub(super) fn run_block_steps(
        &mut self,
        tile: &mut Tile,
        block: u32,
        held_step: Option<usize>,
    ) -> BlockProgress {
        let program = self.program;
        for (step_index, step) in
            program.blocks[block as usize].steps.iter().enumerate().skip(held_step.unwrap_or(0))
        {
            if held_step != Some(step_index)
                && let Some(urgency) = self.hold_urgency(step)
            {
                self.hold_active_lanes(tile, urgency, (block, step_index));
                return BlockProgress::Held;
            }
            self.run_step(step);
        }
        BlockProgress::Completed
    }

    fn hold_urgency(&mut self, step: &LocatedInstruction) -> Option<HoldUrgency> {
        let (lane_effects, has_result): (Vec<AtomicEffect>, bool) = match &step.instruction {
            LaneInstruction::Atomic { op, form, access, to, a, b } => {
                let operand_bits = |parts: &Option<NumberRegisters>, lane| {
                    parts.map_or(0, |parts| self.registers.number_at(parts, lane))
                };
                let lane_effect = |lane: usize| {
                    let (root, cell) = self.word_of_lane(access, form.width().words(), lane)?;
                    let words = &self.memory.store_of(root).words;
                    let (SharedWord::Buffer { buffer: _, word } | SharedWord::Workgroup { word }) =
                        cell;
                    let high_half = if form.width().words() == 2 {
                        u64::from(words[word + 1]) << 32
                    } else {
                        0
                    };
                    let old_value = u64::from(words[word]) | high_half;
                    let new_value = op.new_value(
                        *form,
                        old_value,
                        operand_bits(a, lane),
                        operand_bits(b, lane),
                    );
                    Some(AtomicEffect {
                        shared_word: cell,
                        changes: new_value.is_some_and(|new_value| new_value != old_value),
                    })
                };
                (
                    self.registers.active_lanes.lanes().filter_map(lane_effect).collect(),
                    to.is_some(),
                )
            }
            LaneInstruction::Image(image) => {
                let ImageOperation::Atomic(op) = image.operation else { return None };
                let lane_effect = |lane: usize| {
                    let (buffer, word, [old_value, new_value]) =
                        self.texel_effect(op, image, lane)?;
                    Some(AtomicEffect {
                        shared_word: SharedWord::Buffer { buffer, word },
                        changes: new_value != old_value,
                    })
                };
                (
                    self.registers.active_lanes.lanes().filter_map(lane_effect).collect(),
                    !image.to.is_empty(),
                )
            }
            _ => return None,
        };
        self.scheduler.directed_yield.as_mut()?.urgency_of_effects(
            step.source_index,
            &lane_effects,
            has_result,
        )
    }

    /// The word that a lane accesses, and its root; none where that lies outside.
    fn word_of_lane(
        &self,
        access: &Access,
        word_count: usize,
        lane: usize,
    ) -> Option<(AccessRoot, SharedWord)> {
        let (root, window, start_offset) = match access.root {
            AccessRoot::Descriptors { first: first_word, length, index: descriptor_index } => {
                let descriptor_index =
                    Some(self.registers.words[descriptor_index.0 as usize][lane])
                        .filter(|descriptor_index| *descriptor_index < length)?;
                (AccessRoot::Descriptor(first_word + descriptor_index), access.window, 0)
            }
            AccessRoot::Address(parts) => {
                let (buffer, offset) =
                    self.memory.buffer_at_address(self.registers.number_at(parts, lane))?;
                (AccessRoot::Buffer(buffer), access.window, offset)
            }
            AccessRoot::Pointer { which, into: _ } => {
                let object_number = self.registers.words[which.0 as usize][lane].checked_sub(1)?;
                let object = self.program.objects.get(object_number as usize)?;
                (object.root, object.window, 0)
            }
            root @ (AccessRoot::Descriptor(_)
            | AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Buffer(_)) => (root, access.window, 0),
        };
        let (root_limit, first_word) = self.root_range(root, window, access.unit);
        let address = access.dimensions.iter().fold(
            access.base.wrapping_add(start_offset),
            |address, dimension| {
                let descriptor_index = self.registers.words[dimension.index.0 as usize][lane];
                address.wrapping_add(descriptor_index.wrapping_mul(dimension.stride))
            },
        );
        let unit_size = access.unit.units_of_words(1);
        let (word_index, root_limit) =
            ((address / unit_size) as usize, (root_limit / unit_size) as usize);
        let word_index = (word_index < root_limit
            && root_limit - word_index >= word_count
            && address.is_multiple_of(unit_size))
        .then_some(first_word + word_index)?;
        let shared_word = match root {
            AccessRoot::Descriptor(descriptor_index) => SharedWord::Buffer {
                buffer: self.memory.slots[descriptor_index as usize]?.buffer,
                word: word_index,
            },
            AccessRoot::Buffer(buffer) => {
                SharedWord::Buffer { buffer: buffer as usize, word: word_index }
            }
            AccessRoot::Workgroup => SharedWord::Workgroup { word: word_index },
            AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. } => return None,
        };
        Some((root, shared_word))
    }

    /// Keeps the active lanes before a step, with what the block has computed.
    fn hold_active_lanes(
        &mut self,
        tile: &mut Tile,
        urgency: HoldUrgency,
        (block, step): (u32, usize),
    ) {
        let shared_words = self.program.shared_words as usize;
        let shared_masks = self.program.shared_masks as usize * self.registers.mask_words;
        let block_registers = Rc::new(BlockRegisters {
            words: self.registers.words[..shared_words].to_vec(),
            masks: self.registers.masks[..shared_masks].to_vec(),
            undefined_words: self.registers.undefined_words
                [..shared_words * self.registers.mask_words]
                .to_vec(),
            undefined_masks: self.registers.undefined_masks[..shared_masks].to_vec(),
        });
        let Some(yielding) = &mut self.scheduler.directed_yield else { return };
        let hold_number = yielding.next_hold;
        yielding.next_hold += 1;
        tile.tile_holds.held_lanes.push_back(HeldLanes {
            hold_number,
            urgency,
            block_index: block,
            step_index: step,
            lanes: self.registers.active_lanes,
            registers: block_registers,
        });
    }

    /// Lets the lane go on that has held longest of those that may, counters before flags; whether
    /// there is one.
    fn release_longest_held(
        &mut self,
        workgroup_tiles: &mut [Tile],
        may_release: impl Fn(&HeldLanes) -> bool,
    ) -> bool {
        let held_by_tile =
            workgroup_tiles.iter().enumerate().flat_map(|(tile_index, held_tile)| {
                held_tile
                    .tile_holds
                    .held_lanes
                    .iter()
                    .map(move |held_lanes| (tile_index, held_lanes))
            });
        let released_hold = held_by_tile
            .filter(|(_, held_lanes)| may_release(held_lanes))
            .min_by_key(|(_, held_lanes)| (held_lanes.urgency, held_lanes.hold_number));
        let Some((tile_index, hold_number)) =
            released_hold.map(|(tile_index, held_lanes)| (tile_index, held_lanes.hold_number))
        else {
            return false;
        };
        let holds_subgroups = self.program.subgroups != SubgroupUse::None;
        let holding = &mut workgroup_tiles[tile_index].tile_holds;
        let Some(hold_index) =
            holding.held_lanes.iter().position(|held_lanes| held_lanes.hold_number == hold_number)
        else {
            return false;
        };
        let held_lanes = &mut holding.held_lanes[hold_index];
        let mut released_lanes = held_lanes.lanes;
        if !holds_subgroups && let Some(lane) = held_lanes.lanes.lanes().next() {
            released_lanes = LaneMask::EMPTY;
            released_lanes.insert(lane);
        }
        let released = HeldLanes { lanes: released_lanes, ..held_lanes.clone() };
        held_lanes
            .lanes
            .0
            .iter_mut()
            .zip(released_lanes.0)
            .for_each(|(held_bits, released_bits)| *held_bits &= !released_bits);
        if held_lanes.lanes.is_empty() {
            holding.held_lanes.remove(hold_index);
        }
        holding.released_lanes = Some(released);
        if let Some(yielding) = &mut self.scheduler.directed_yield {
            yielding.released += 1;
        }
        true
    }

    /// Runs the workgroup's invocations, from barrier to barrier. Those that held before this turn
    /// go on, if it is for a counter; for a flag one may when nobody else can go on.
    pub(super) fn run_directed(
        &mut self,
        workgroup_tiles: &mut [Tile],
    ) -> Result<TurnEnd, EarlyStop> {
        let first_of_turn =
            self.scheduler.directed_yield.as_ref().map_or(0, |yielding| yielding.next_hold);
        let mut quiet_rounds = 0;
        loop {
            let (changes_before, arrivals_before) =
                (self.scheduler.spin_watch.changes, self.scheduler.spin_watch.arrivals);
            self.run_tiles(workgroup_tiles)?;
            if workgroup_tiles.iter().all(Tile::is_free) {
                if self.release_barrier(workgroup_tiles) {
                    continue;
                }
                return Ok(TurnEnd::Ended);
            }
            workgroup_tiles.iter_mut().for_each(Tile::resume_yielded);
            if self.release_longest_held(workgroup_tiles, |held_lanes| {
                held_lanes.urgency == HoldUrgency::Counter && held_lanes.hold_number < first_of_turn
            }) {
                continue;
            }
            // Some wait for what others write. As long as these do anything, all of them go on, but
            // not for ever.
            quiet_rounds = if self.scheduler.spin_watch.arrivals == arrivals_before {
                quiet_rounds + 1
            } else {
                0
            };
            if self.scheduler.spin_watch.changes != changes_before && quiet_rounds < MOST_ROUNDS {
                continue;
            }
            let no_other_workgroup = !self.may_yield();
            let may_change = no_other_workgroup
                || self
                    .scheduler
                    .directed_yield
                    .as_ref()
                    .is_some_and(|yielding| yielding.flags_may_change);
            if may_change && self.release_longest_held(workgroup_tiles, |_| true) {
                self.scheduler
                    .directed_yield
                    .iter_mut()
                    .for_each(|yielding| yielding.flags_may_change = false);
            } else if !no_other_workgroup {
                return Ok(TurnEnd::Yielded);
            }
        }
    }
}

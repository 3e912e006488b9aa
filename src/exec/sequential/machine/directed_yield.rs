//! Who waits goes first: an invocation that is about to change what others look at lets these go on
//! before.
//!
//! Knows: a first run in the ordinary order tells which words atomics look at, and which of these
//! some atomic leaves as they are, as one in a waiting loop does. In a second run the lanes that
//! are about to change such a word by an atomic hold, and everybody else goes on, other workgroups
//! too, until nobody can. Then those that hold go on one by one, who has held longest first;
//! changes of words that somebody only looks at (flags) come last of all. After each change who
//! waits looks again.
//! Promises: such a run is one of those that Vulkan permits: each invocation runs its own
//! instructions in order. An atomic that leaves memory as it is (an `atomicOr` of 0, a failing
//! compare-exchange) does not hold. Each instruction holds a limited number of lanes, so that a run
//! ends where it ends without. Lanes of a subgroup that works together hold together.
//! Does not cover: plain stores, atomic or not what follows: without an atomic behind them nobody
//! may see them.

use super::held_lanes::{BlockRegisters, Cell, Effect, Held, Steps, Urgency};
use super::registers::Registers;
use super::spin_watch::{Pace, ROUNDS};
use super::state::Machine;
use super::step_budget::Stop;
use super::tile::Tile;
use crate::ir::image::ImageOperation;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{
    Access, AccessRoot, LaneInstruction, LocatedInstruction, NumberRegisters, SubgroupUse,
};
use std::rc::Rc;

impl Registers {
    /// Puts back what a block had computed.
    pub(super) fn restore(&mut self, held: &Held) {
        let registers = &held.registers;
        self.words[..registers.words.len()].clone_from_slice(&registers.words);
        self.masks[..registers.masks.len()].copy_from_slice(&registers.masks);
        self.undefined_words[..registers.undefined_words.len()]
            .copy_from_slice(&registers.undefined_words);
        self.undefined_masks[..registers.undefined_masks.len()]
            .copy_from_slice(&registers.undefined_masks);
    }
}

impl Machine<'_> {
    /// Whether a tile stands still as a whole.
    pub(super) fn holds_together(&self, tile: &Tile) -> bool {
        self.program.subgroups != SubgroupUse::None && !tile.holding.held.is_empty()
    }

    /// Runs the steps of a block, or from one on that the lanes held before; they hold before any
    /// other that changes what is looked at.
    pub(super) fn run_steps(&mut self, tile: &mut Tile, block: u32, held: Option<usize>) -> Steps {
        let program = self.program;
        for (index, step) in
            program.blocks[block as usize].steps.iter().enumerate().skip(held.unwrap_or(0))
        {
            if held != Some(index)
                && let Some(urgency) = self.urgency(step)
            {
                self.hold(tile, urgency, (block, index));
                return Steps::Held;
            }
            self.step(step);
        }
        Steps::Done
    }

    fn urgency(&mut self, step: &LocatedInstruction) -> Option<Urgency> {
        let (effects, has_result): (Vec<Effect>, bool) = match &step.instruction {
            LaneInstruction::Atomic { op, form, access, to, a, b } => {
                let operand = |parts: &Option<NumberRegisters>, lane| {
                    parts.map_or(0, |parts| self.registers.number(parts, lane))
                };
                let effect = |lane: usize| {
                    let (root, cell) = self.cell_of(access, form.width().words(), lane)?;
                    let words = &self.memory.store_of(root).words;
                    let (Cell::Buffer { buffer: _, word } | Cell::Workgroup { word }) = cell;
                    let high = if form.width().words() == 2 {
                        u64::from(words[word + 1]) << 32
                    } else {
                        0
                    };
                    let old = u64::from(words[word]) | high;
                    let new = op.apply(*form, old, operand(a, lane), operand(b, lane));
                    Some(Effect { cell, changes: new.is_some_and(|new| new != old) })
                };
                (self.registers.active.lanes().filter_map(effect).collect(), to.is_some())
            }
            LaneInstruction::Image(image) => {
                let ImageOperation::Atomic(op) = image.operation else { return None };
                let effect = |lane: usize| {
                    let (buffer, word, [old, new]) = self.texel_effect(op, image, lane)?;
                    Some(Effect { cell: Cell::Buffer { buffer, word }, changes: new != old })
                };
                (self.registers.active.lanes().filter_map(effect).collect(), !image.to.is_empty())
            }
            _ => return None,
        };
        self.scheduler.yielding.as_mut()?.judge(step.source_index, &effects, has_result)
    }

    /// The word that a lane accesses, and its root; none where that lies outside.
    fn cell_of(&self, access: &Access, words: usize, lane: usize) -> Option<(AccessRoot, Cell)> {
        let (root, window, start) = match access.root {
            AccessRoot::Descriptors { first, length, index } => {
                let index = Some(self.registers.words[index.0 as usize][lane])
                    .filter(|index| *index < length)?;
                (AccessRoot::Descriptor(first + index), access.window, 0)
            }
            AccessRoot::Address(parts) => {
                let (buffer, offset) = self.memory.addressed(self.registers.number(parts, lane))?;
                (AccessRoot::Buffer(buffer), access.window, offset)
            }
            AccessRoot::Pointer { which, into: _ } => {
                let number = self.registers.words[which.0 as usize][lane].checked_sub(1)?;
                let object = self.program.objects.get(number as usize)?;
                (object.root, object.window, 0)
            }
            root @ (AccessRoot::Descriptor(_)
            | AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Buffer(_)) => (root, access.window, 0),
        };
        let (limit, first) = self.range_of(root, window, access.unit);
        let address =
            access.dimensions.iter().fold(access.base.wrapping_add(start), |address, dimension| {
                let index = self.registers.words[dimension.index.0 as usize][lane];
                address.wrapping_add(index.wrapping_mul(dimension.stride))
            });
        let unit = access.unit.of_words(1);
        let (word, limit) = ((address / unit) as usize, (limit / unit) as usize);
        let word = (word < limit && limit - word >= words && address.is_multiple_of(unit))
            .then_some(first + word)?;
        let cell = match root {
            AccessRoot::Descriptor(index) => {
                Cell::Buffer { buffer: self.memory.slots[index as usize]?.buffer, word }
            }
            AccessRoot::Buffer(buffer) => Cell::Buffer { buffer: buffer as usize, word },
            AccessRoot::Workgroup => Cell::Workgroup { word },
            AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. } => return None,
        };
        Some((root, cell))
    }

    /// Keeps the active lanes before a step, with what the block has computed.
    fn hold(&mut self, tile: &mut Tile, urgency: Urgency, (block, step): (u32, usize)) {
        let shared_words = self.program.shared_words as usize;
        let shared_masks = self.program.shared_masks as usize * self.registers.mask_words;
        let registers = Rc::new(BlockRegisters {
            words: self.registers.words[..shared_words].to_vec(),
            masks: self.registers.masks[..shared_masks].to_vec(),
            undefined_words: self.registers.undefined_words
                [..shared_words * self.registers.mask_words]
                .to_vec(),
            undefined_masks: self.registers.undefined_masks[..shared_masks].to_vec(),
        });
        let Some(yielding) = &mut self.scheduler.yielding else { return };
        let number = yielding.next;
        yielding.next += 1;
        tile.holding.held.push_back(Held {
            number,
            urgency,
            block,
            step,
            lanes: self.registers.active,
            registers,
        });
    }

    /// Lets the lane go on that has held longest of those that may, counters before flags; whether
    /// there is one.
    fn release(&mut self, tiles: &mut [Tile], may: impl Fn(&Held) -> bool) -> bool {
        let all = tiles
            .iter()
            .enumerate()
            .flat_map(|(tile, of)| of.holding.held.iter().map(move |held| (tile, held)));
        let first =
            all.filter(|(_, held)| may(held)).min_by_key(|(_, held)| (held.urgency, held.number));
        let Some((tile, number)) = first.map(|(tile, held)| (tile, held.number)) else {
            return false;
        };
        let together = self.program.subgroups != SubgroupUse::None;
        let holding = &mut tiles[tile].holding;
        let Some(at) = holding.held.iter().position(|held| held.number == number) else {
            return false;
        };
        let held = &mut holding.held[at];
        let mut lanes = held.lanes;
        if !together && let Some(lane) = held.lanes.lanes().next() {
            lanes = LaneMask::EMPTY;
            lanes.insert(lane);
        }
        let released = Held { lanes, ..held.clone() };
        held.lanes.0.iter_mut().zip(lanes.0).for_each(|(held, gone)| *held &= !gone);
        if held.lanes.is_empty() {
            holding.held.remove(at);
        }
        holding.released = Some(released);
        if let Some(yielding) = &mut self.scheduler.yielding {
            yielding.released += 1;
        }
        true
    }

    /// Runs the workgroup's invocations, from barrier to barrier. Those that held before this turn
    /// go on, if it is for a counter; for a flag one may when nobody else can go on.
    pub(super) fn go_on_yielding(&mut self, tiles: &mut [Tile]) -> Result<Pace, Stop> {
        let turn = self.scheduler.yielding.as_ref().map_or(0, |yielding| yielding.next);
        let mut rounds = 0;
        loop {
            let (before, arrivals) = (self.scheduler.watch.changes, self.scheduler.watch.arrivals);
            self.run_tiles(tiles)?;
            if tiles.iter().all(Tile::is_free) {
                if self.meet(tiles) {
                    continue;
                }
                return Ok(Pace::Ended);
            }
            tiles.iter_mut().for_each(Tile::wake);
            if self.release(tiles, |held| held.urgency == Urgency::Counter && held.number < turn) {
                continue;
            }
            // Some wait for what others write. As long as these do anything, all of them go on, but
            // not for ever.
            rounds = if self.scheduler.watch.arrivals == arrivals { rounds + 1 } else { 0 };
            if self.scheduler.watch.changes != before && rounds < ROUNDS {
                continue;
            }
            let alone = !self.may_rest();
            let may_change = alone
                || self
                    .scheduler
                    .yielding
                    .as_ref()
                    .is_some_and(|yielding| yielding.flags_may_change);
            if may_change && self.release(tiles, |_| true) {
                self.scheduler
                    .yielding
                    .iter_mut()
                    .for_each(|yielding| yielding.flags_may_change = false);
            } else if !alone {
                return Ok(Pace::Rests);
            }
        }
    }
}

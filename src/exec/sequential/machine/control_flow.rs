//! A tile from block to block: the lowest block that has lanes runs next, for all of them at once.

use super::finding_collector::NOWHERE;
use super::held_lanes::{Held, Steps};
use super::registers::Registers;
use super::spin_watch::Before;
use super::state::Machine;
use super::step_budget::Stop;
use super::tile::{Entry, Tile, Waiting, insert};
use crate::ir::lane_mask::{LaneMask, spread_bits};
use crate::ir::{Reg, SpinWaits, Terminator};
use vkcert_model::finding::{Finding, FindingKind};

impl Registers {
    /// Splits the active lanes; the target where they stay together.
    fn branch(&self, tile: &mut Tile, condition: Reg, yes: u32, no: u32) -> Option<u32> {
        let values = &self.masks[condition.0 as usize * self.mask_words..][..self.mask_words];
        let (mut taken, mut passed) = (LaneMask::EMPTY, LaneMask::EMPTY);
        let (mut any_taken, mut any_passed) = (0, 0);
        for (index, value) in values.iter().enumerate() {
            taken.0[index] = self.active.0[index] & value;
            passed.0[index] = self.active.0[index] & !value;
            any_taken |= taken.0[index];
            any_passed |= passed.0[index];
        }
        match (any_taken != 0, any_passed != 0) {
            (true, false) => Some(yes),
            (false, _) => Some(no),
            (true, true) => {
                insert(&mut tile.frontier, yes, &taken);
                insert(&mut tile.frontier, no, &passed);
                None
            }
        }
    }

    fn switch(&mut self, tile: &mut Tile, selector: Reg, cases: &[(u32, u32)], default: u32) {
        let mut targets = std::mem::take(&mut self.staging);
        for lane in self.active.lanes() {
            let value = self.words[selector.0 as usize][lane];
            targets[lane] =
                cases.iter().find(|(case, _)| *case == value).map_or(default, |(_, to)| *to);
        }
        let mut rest = self.active;
        while let Some(first) = rest.lanes().next() {
            let to = targets[first];
            let mut mask = LaneMask::EMPTY;
            rest.lanes().filter(|lane| targets[*lane] == to).for_each(|lane| mask.insert(lane));
            rest.0.iter_mut().zip(&mask.0).for_each(|(rest, gone)| *rest &= !gone);
            insert(&mut tile.frontier, to, &mask);
        }
        self.staging = targets;
    }
}

impl<'a> Machine<'a> {
    /// Runs a tile until every lane waits or has ended.
    pub(super) fn run_tile(&mut self, tile: &mut Tile) -> Result<(), Stop> {
        if tile.frontier.is_empty() && !tile.holding.has_released() {
            return Ok(());
        }
        self.registers.exchange(tile);
        self.registers.first_lane = tile.first;
        let mut result = Ok(());
        if let Some(held) = tile.holding.take_released() {
            self.registers.restore(&held);
            let Held { block, step, lanes: mask, .. } = held;
            result = self.run_from(tile, Entry { block, mask }, Some(step));
        }
        while result.is_ok()
            && !self.holds_together(tile)
            && let Some(entry) = tile.frontier.pop()
        {
            result = self.run_from(tile, entry, None);
        }
        self.registers.exchange(tile);
        result
    }

    /// Runs from a block on, or from a step of it that lanes held before, while the lanes stay
    /// together and lowest.
    fn run_from(
        &mut self,
        tile: &mut Tile,
        entry: Entry,
        mut held: Option<usize>,
    ) -> Result<(), Stop> {
        let program = self.program;
        self.registers.active = entry.mask;
        self.registers.full = tile.frontier.is_empty() && tile.waiting.is_empty() && tile.is_free();
        let waits = self.program.waits;
        self.scheduler.watch.restart(tile.before, self.settings.following.schedule.turns);
        if !self.registers.full {
            spread_bits(
                &mut self.registers.lane_mask,
                &self.registers.active.0[..self.registers.mask_words],
            );
        }
        let active = u64::from(self.registers.active.count(self.registers.mask_words));
        let ceiling = tile.frontier.last().map_or(u32::MAX, |next| next.block);
        let mut at = entry.block;
        loop {
            let block = &program.blocks[at as usize];
            if waits != SpinWaits::Never
                && self.scheduler.watch.is_tired(block.steps.len() as u64 + 1, waits)
            {
                tile.resting.push(Entry { block: at, mask: self.registers.active });
                tile.before = Before::Waited;
                return Ok(());
            }
            let cost = (block.steps.len() as u64 + 1) * active;
            if cost > self.scheduler.steps_left && !self.scheduler.takes_more(cost) {
                let lane = self.registers.active.lanes().next().unwrap_or(0) as u32;
                return Err(Stop::Steps {
                    place: block.source_index,
                    invocation: self.invocation(self.registers.first_lane + lane),
                });
            }
            self.scheduler.steps_left -= cost;
            if self.scheduler.deadline.has_passed() {
                return Err(Stop::Time);
            }
            if self.scheduler.yielding.is_some() {
                if self.run_steps(tile, at, held.take()) == Steps::Held {
                    return Ok(());
                }
            } else {
                for step in &block.steps {
                    if self.settings.variation.is_some() && self.varied_step(step) {
                        continue;
                    }
                    self.step(step);
                }
            }
            if !block.operands_to_check.is_empty() && self.monitor.track_undefined {
                self.check_defined(&block.operands_to_check, block.source_index);
            }
            match &block.terminator {
                Terminator::Jump { to } => at = *to,
                Terminator::Branch { condition, yes, no } => {
                    match self.registers.branch(tile, *condition, *yes, *no) {
                        Some(to) => at = to,
                        None => return Ok(()),
                    }
                }
                Terminator::Switch { selector, cases, default } => {
                    self.registers.switch(tile, *selector, cases, *default);
                    return Ok(());
                }
                Terminator::Barrier { barrier, to } => {
                    let waiting =
                        Waiting { barrier: *barrier, to: *to, mask: self.registers.active };
                    tile.waiting.push(waiting);
                    self.scheduler.watch.arrive();
                    return Ok(());
                }
                Terminator::End | Terminator::Unreachable => {
                    self.end(
                        tile,
                        block.source_index,
                        matches!(block.terminator, Terminator::Unreachable),
                    );
                    return Ok(());
                }
            }
            if at >= ceiling {
                insert(&mut tile.frontier, at, &self.registers.active);
                return Ok(());
            }
        }
    }

    fn end(&mut self, tile: &mut Tile, place: u32, unreachable: bool) {
        self.scheduler.watch.arrive();
        for lane in self.registers.active.lanes() {
            if let Some(ended) = tile.ended.get_mut(lane) {
                *ended = place;
            }
        }
        if unreachable && let Some(lane) = self.registers.active.lanes().next() {
            let witness = self.invocation(self.registers.first_lane + lane as u32);
            self.monitor.collector.add(FindingKind::UndefinedValue, [place, NOWHERE], 0, || {
                Finding {
                    invocations: vec![witness],
                    ..Finding::new(
                        FindingKind::UndefinedValue,
                        "execution reached OpUnreachable; the invocation ends here",
                    )
                }
            });
        }
    }
}

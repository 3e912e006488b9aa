//! A tile from block to block: the lowest block that has lanes runs next, for all of them at once.

use super::finding_collector::NOWHERE;
use super::held_lanes::{BlockProgress, HeldLanes};
use super::registers::Registers;
use super::spin_watch::YieldHistory;
use super::state::Machine;
use super::step_budget::EarlyStop;
use super::tile::{BarrierWait, FrontierEntry, Tile, insert_entry};
use crate::ir::lane_mask::{LaneMask, spread_bits};
use crate::ir::{Reg, SpinWaits, Terminator};
use vkcert_model::finding::{Finding, FindingKind};

impl Registers {
    /// Splits the active lanes; the target where they stay together.
    fn split_branch(
        &self,
        tile: &mut Tile,
        condition_register: Reg,
        true_block: u32,
        false_block: u32,
    ) -> Option<u32> {
        let condition_lanes =
            &self.masks[condition_register.0 as usize * self.mask_words..][..self.mask_words];
        let (mut taken_lanes, mut passed_lanes) = (LaneMask::EMPTY, LaneMask::EMPTY);
        let (mut any_taken, mut any_passed) = (0, 0);
        for (mask_word, value) in condition_lanes.iter().enumerate() {
            taken_lanes.0[mask_word] = self.active_lanes.0[mask_word] & value;
            passed_lanes.0[mask_word] = self.active_lanes.0[mask_word] & !value;
            any_taken |= taken_lanes.0[mask_word];
            any_passed |= passed_lanes.0[mask_word];
        }
        match (any_taken != 0, any_passed != 0) {
            (true, false) => Some(true_block),
            (false, _) => Some(false_block),
            (true, true) => {
                insert_entry(&mut tile.frontier, true_block, &taken_lanes);
                insert_entry(&mut tile.frontier, false_block, &passed_lanes);
                None
            }
        }
    }

    fn split_switch(
        &mut self,
        tile: &mut Tile,
        selector_register: Reg,
        cases: &[(u32, u32)],
        default_block: u32,
    ) {
        let mut lane_targets = std::mem::take(&mut self.staging_words);
        for lane in self.active_lanes.lanes() {
            let selector_value = self.words[selector_register.0 as usize][lane];
            lane_targets[lane] = cases
                .iter()
                .find(|(case, _)| *case == selector_value)
                .map_or(default_block, |(_, target_block)| *target_block);
        }
        let mut remaining_lanes = self.active_lanes;
        while let Some(first_lane) = remaining_lanes.lanes().next() {
            let target_block = lane_targets[first_lane];
            let mut target_lanes = LaneMask::EMPTY;
            remaining_lanes
                .lanes()
                .filter(|lane| lane_targets[*lane] == target_block)
                .for_each(|lane| target_lanes.insert(lane));
            remaining_lanes
                .0
                .iter_mut()
                .zip(&target_lanes.0)
                .for_each(|(remaining_bits, target_bits)| *remaining_bits &= !target_bits);
            insert_entry(&mut tile.frontier, target_block, &target_lanes);
        }
        self.staging_words = lane_targets;
    }
}

impl<'a> Machine<'a> {
    /// Runs a tile until every lane waits or has ended.
    pub(super) fn run_tile(&mut self, tile: &mut Tile) -> Result<(), EarlyStop> {
        if tile.frontier.is_empty() && !tile.tile_holds.has_released() {
            return Ok(());
        }
        self.registers.exchange_tile(tile);
        self.registers.first_lane = tile.first_lane;
        let mut run_result = Ok(());
        if let Some(held_lanes) = tile.tile_holds.take_released() {
            self.registers.restore_block(&held_lanes);
            let HeldLanes { block_index: block, step_index: step, lanes: active_lanes, .. } =
                held_lanes;
            run_result = self.run_from_block(
                tile,
                FrontierEntry { block_index: block, mask: active_lanes },
                Some(step),
            );
        }
        while run_result.is_ok()
            && !self.holds_whole_tile(tile)
            && let Some(entry) = tile.frontier.pop()
        {
            run_result = self.run_from_block(tile, entry, None);
        }
        self.registers.exchange_tile(tile);
        run_result
    }

    /// Runs from a block on, or from a step of it that lanes held before, while the lanes stay
    /// together and lowest.
    fn run_from_block(
        &mut self,
        tile: &mut Tile,
        entry: FrontierEntry,
        mut held_step: Option<usize>,
    ) -> Result<(), EarlyStop> {
        let program = self.program;
        self.registers.active_lanes = entry.mask;
        self.registers.all_active =
            tile.frontier.is_empty() && tile.waiting.is_empty() && tile.is_free();
        let spin_waits = self.program.spin_waits;
        self.scheduler
            .spin_watch
            .restart_lanes(tile.yield_history, self.settings.following.schedule.turns);
        if !self.registers.all_active {
            spread_bits(
                &mut self.registers.lane_mask,
                &self.registers.active_lanes.0[..self.registers.mask_words],
            );
        }
        let active_count =
            u64::from(self.registers.active_lanes.count_lanes(self.registers.mask_words));
        let lowest_waiting = tile.frontier.last().map_or(u32::MAX, |next| next.block_index);
        let mut block_index = entry.block_index;
        loop {
            let block = &program.blocks[block_index as usize];
            if spin_waits != SpinWaits::Never
                && self.scheduler.spin_watch.must_yield(block.steps.len() as u64 + 1, spin_waits)
            {
                tile.yielded.push(FrontierEntry { block_index, mask: self.registers.active_lanes });
                tile.yield_history = YieldHistory::Yielded;
                return Ok(());
            }
            let step_cost = (block.steps.len() as u64 + 1) * active_count;
            if step_cost > self.scheduler.steps_left && !self.scheduler.lease_steps(step_cost) {
                let lane = self.registers.active_lanes.lanes().next().unwrap_or(0) as u32;
                return Err(EarlyStop::StepLimit {
                    place: block.source_index,
                    invocation: self.global_id(self.registers.first_lane + lane),
                });
            }
            self.scheduler.steps_left -= step_cost;
            if self.scheduler.deadline.has_passed() {
                return Err(EarlyStop::TimeLimit);
            }
            if let Some(pairs) = &mut self.monitor.pairs {
                pairs.note_block(block_index);
            }
            if self.scheduler.directed_yield.is_some() {
                if self.run_block_steps(tile, block_index, held_step.take()) == BlockProgress::Held
                {
                    return Ok(());
                }
            } else {
                for step in &block.steps {
                    if self.settings.variation.is_some() && self.run_varied_step(step) {
                        continue;
                    }
                    self.run_step(step);
                }
            }
            if !block.operands_to_check.is_empty() && self.monitor.track_undefined {
                self.check_defined(&block.operands_to_check, block.source_index);
            }
            match &block.terminator {
                Terminator::Jump { to } => block_index = *to,
                Terminator::Branch { condition, yes, no } => {
                    match self.registers.split_branch(tile, *condition, *yes, *no) {
                        Some(to) => block_index = to,
                        None => return Ok(()),
                    }
                }
                Terminator::Switch { selector, cases, default } => {
                    self.registers.split_switch(tile, *selector, cases, *default);
                    return Ok(());
                }
                Terminator::Barrier { barrier, to } => {
                    let barrier_wait = BarrierWait {
                        barrier_index: *barrier,
                        next_block: *to,
                        mask: self.registers.active_lanes,
                    };
                    tile.waiting.push(barrier_wait);
                    self.scheduler.spin_watch.note_arrival();
                    return Ok(());
                }
                Terminator::End | Terminator::Unreachable => {
                    self.end_lanes(
                        tile,
                        block.source_index,
                        matches!(block.terminator, Terminator::Unreachable),
                    );
                    return Ok(());
                }
            }
            if block_index >= lowest_waiting {
                insert_entry(&mut tile.frontier, block_index, &self.registers.active_lanes);
                return Ok(());
            }
        }
    }

    fn end_lanes(&mut self, tile: &mut Tile, source_index: u32, unreachable: bool) {
        self.scheduler.spin_watch.note_arrival();
        for lane in self.registers.active_lanes.lanes() {
            if let Some(end_index) = tile.end_places.get_mut(lane) {
                *end_index = source_index;
            }
        }
        if unreachable && let Some(lane) = self.registers.active_lanes.lanes().next() {
            let global_id = self.global_id(self.registers.first_lane + lane as u32);
            self.monitor.collector.add_occurrence(
                FindingKind::UndefinedValue,
                [source_index, NOWHERE],
                0,
                || Finding {
                    invocations: vec![global_id],
                    ..Finding::new(
                        FindingKind::UndefinedValue,
                        "execution reached OpUnreachable; the invocation ends here",
                    )
                },
            );
        }
    }
}

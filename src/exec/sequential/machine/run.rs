//! Which workgroup and which tile runs next, to barriers and to the end.

use super::finding_collector::NOWHERE;
use super::held_lanes::TileHolds;
use super::speculative_parallel::{ParallelRun, ShareOutcome};
use super::spin_watch::{MOST_ROUNDS, TurnEnd, YieldHistory};
use super::state::Machine;
use super::step_budget::EarlyStop;
use super::tile::{FrontierEntry, Tile};
use super::undefined_contents::WordOwner;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{Reg, UniformValue};
use crate::memory::store::UNDEFINED_WORD;
use std::collections::VecDeque;

impl<'a> Machine<'a> {
    /// Runs every workgroup, on several cores where that is asked for and pays.
    pub(crate) fn run_workgroups(
        &mut self,
        mut sharing: Option<&ParallelRun>,
        mut on_completed: impl FnMut([u32; 3]),
    ) -> Result<(), EarlyStop> {
        let mut tiles = self.new_tiles();
        let workgroup_count = self.scheduler.workgroup_count();
        let steps_before = self.scheduler.steps_left;
        let mut yielded_workgroups = VecDeque::new();
        let most_yielded = self.most_yielded();
        for started_count in 0..workgroup_count {
            if let Some(parallel_run) = sharing
                && parallel_run.is_worth(
                    self,
                    steps_before - self.scheduler.steps_left,
                    [started_count, workgroup_count],
                )
            {
                if parallel_run.run_parallel(self, [started_count, workgroup_count])
                    == ShareOutcome::AllRun
                {
                    (started_count..workgroup_count)
                        .for_each(|order_index| on_completed(self.scheduler.group_at(order_index)));
                    return Ok(());
                }
                sharing = None;
            }
            match self.run_workgroup_at(
                &mut tiles,
                self.scheduler.workgroup_order.workgroup_at(started_count),
            )? {
                TurnEnd::Ended => on_completed(self.scheduler.workgroup_id),
                TurnEnd::Yielded => yielded_workgroups.push_back(self.yield_workgroup(&mut tiles)),
            }
            self.run_yielded(&mut yielded_workgroups, &mut tiles, most_yielded, &mut on_completed)?;
        }
        self.run_yielded(&mut yielded_workgroups, &mut tiles, 0, &mut on_completed)
    }

    /// Runs the workgroup with this linear index.
    pub(super) fn run_workgroup_at(
        &mut self,
        workgroup_tiles: &mut [Tile],
        workgroup_index: u64,
    ) -> Result<TurnEnd, EarlyStop> {
        self.select_workgroup(workgroup_index);
        let turn_end = self.run_workgroup(workgroup_tiles)?;
        if turn_end == TurnEnd::Ended {
            self.monitor.origins.forget_workgroup(workgroup_index);
        }
        Ok(turn_end)
    }

    /// What follows is the workgroup with this linear index.
    pub(super) fn select_workgroup(&mut self, workgroup_index: u64) {
        self.scheduler.workgroup_id = self.scheduler.group_at(workgroup_index);
        self.scheduler.workgroup_index = workgroup_index;
        self.monitor.collector.workgroup_index = workgroup_index;
        let program = self.program;
        for (uniform, reg) in &program.uniforms {
            if let UniformValue::WorkgroupId(axis) = uniform {
                self.registers.words[reg.0 as usize]
                    .fill(self.scheduler.workgroup_id[*axis as usize]);
            }
        }
    }

    /// The first time of the workgroup that runs from now on.
    pub(super) fn begin_workgroup(&mut self) -> u32 {
        let start_time = self.monitor.clock.start_workgroup();
        self.monitor.workgroup_starts.push((start_time, self.scheduler.workgroup_index));
        if let Some(pairs) = &mut self.monitor.pairs {
            pairs.begin_workgroup(self.scheduler.workgroup_index, start_time);
        }
        start_time
    }

    /// One state per tile where tiles must wait for each other, else one that all share.
    pub(super) fn new_tiles(&self) -> Vec<Tile> {
        let program = self.program;
        let invocations = program.local_size.iter().product::<u32>();
        let own_words = (program.words - program.shared_words) as usize;
        let own_masks = (program.masks - program.shared_masks) as usize;
        let private_words = program.invocation_words as usize;
        let new_tile = |first_index: u32| Tile {
            first_lane: first_index,
            all_lanes: LaneMask::first_lanes(
                (invocations - first_index).min(self.registers.width as u32) as usize,
            ),
            words: vec![vec![0; self.registers.width].into(); own_words],
            masks: vec![0; own_masks * self.registers.mask_words],
            undefined_words: vec![0; own_words * self.registers.mask_words],
            undefined_masks: vec![0; own_masks * self.registers.mask_words],
            private_words: vec![UNDEFINED_WORD; private_words * self.registers.width],
            private_undefined: vec![u64::MAX; private_words * self.registers.mask_words],
            frontier: Vec::new(),
            waiting: Vec::new(),
            yielded: Vec::new(),
            tile_holds: TileHolds::default(),
            yield_history: YieldHistory::Never,
            end_places: if program.barriers.is_empty() {
                Vec::new()
            } else {
                vec![NOWHERE; self.registers.width]
            },
        };
        if self.is_tile_by_tile() {
            return vec![new_tile(0)];
        }
        (0..invocations).step_by(self.registers.width).map(new_tile).collect()
    }

    fn run_workgroup(&mut self, workgroup_tiles: &mut [Tile]) -> Result<TurnEnd, EarlyStop> {
        let start_time = self.begin_workgroup();
        if let Some(order) = &self.monitor.order {
            order.borrow_mut().start_workgroup(self.scheduler.workgroup_index, start_time);
        }
        self.memory.workgroup.make_undefined();
        if self.settings.variation.is_some() {
            self.unwritten_words(WordOwner::Workgroup).fill_store(&mut self.memory.workgroup);
        }
        for range in &self.program.workgroup_zeroed {
            for word in range.start as usize..range.end as usize {
                self.memory.workgroup.words[word] = 0;
                self.memory.workgroup.set_defined(word, true);
            }
        }
        self.monitor.lane_traces.fill(0);
        self.monitor.regions.entered_times[0] += 1;
        if self.is_tile_by_tile() {
            let invocations = self.program.local_size.iter().product::<u32>();
            for order_index in 0..self.scheduler.workgroup_order.tiles() {
                let first_lane = self.scheduler.workgroup_order.tile_at(order_index) as u32
                    * self.registers.width as u32;
                workgroup_tiles[0].first_lane = first_lane;
                workgroup_tiles[0].all_lanes = LaneMask::first_lanes(
                    (invocations - first_lane).min(self.registers.width as u32) as usize,
                );
                self.start_tile(&mut workgroup_tiles[0]);
                self.run_tile(&mut workgroup_tiles[0])?;
            }
            return Ok(TurnEnd::Ended);
        }
        workgroup_tiles.iter_mut().for_each(|tile| self.start_tile(tile));
        self.run_to_barriers(workgroup_tiles)
    }

    /// Runs the workgroup's invocations, from barrier to barrier.
    pub(super) fn run_to_barriers(
        &mut self,
        workgroup_tiles: &mut [Tile],
    ) -> Result<TurnEnd, EarlyStop> {
        if self.scheduler.lets_waiters_first() {
            return self.run_directed(workgroup_tiles);
        }
        let mut quiet_rounds = 0;
        loop {
            let (changes_before, arrivals_before) =
                (self.scheduler.spin_watch.changes, self.scheduler.spin_watch.arrivals);
            self.run_tiles(workgroup_tiles)?;
            if workgroup_tiles.iter().all(|tile| tile.yielded.is_empty()) {
                if self.release_barrier(workgroup_tiles) {
                    continue;
                }
                return Ok(TurnEnd::Ended);
            }
            // Some wait for what others write. As long as these do anything, all of them go on, but
            // not for ever.
            workgroup_tiles.iter_mut().for_each(Tile::resume_yielded);
            quiet_rounds = if self.scheduler.spin_watch.arrivals == arrivals_before {
                quiet_rounds + 1
            } else {
                0
            };
            if (self.scheduler.spin_watch.changes == changes_before || quiet_rounds >= MOST_ROUNDS)
                && self.may_yield()
            {
                return Ok(TurnEnd::Yielded);
            }
        }
    }

    /// Runs every tile until each of its lanes waits or has ended.
    pub(super) fn run_tiles(&mut self, workgroup_tiles: &mut [Tile]) -> Result<(), EarlyStop> {
        (0..self.scheduler.workgroup_order.tiles()).try_for_each(|order_index| {
            self.run_tile(&mut workgroup_tiles[self.scheduler.workgroup_order.tile_at(order_index)])
        })
    }

    /// Puts a tile's lanes at the entry with fresh registers.
    fn start_tile(&self, tile: &mut Tile) {
        let program = self.program;
        let tile_register = |reg: &Reg| (reg.0 - program.shared_words) as usize;
        for (builtin, reg) in &program.per_lane {
            for (lane, word) in tile.words[tile_register(reg)].iter_mut().enumerate() {
                *word = self.builtin_of_lane(*builtin, tile.first_lane + lane as u32);
            }
        }
        let [unwritten_words, unwritten_masks, unwritten_memory] =
            [WordOwner::Words, WordOwner::Masks, WordOwner::Invocations]
                .map(|whose| self.unwritten_words(whose));
        tile.undefined_words.fill(0);
        tile.undefined_masks.fill(0);
        for reg in &program.undefined_words {
            unwritten_words.fill_lanes(&mut tile.words[tile_register(reg)], reg.0, tile.first_lane);
            tile.undefined_words[tile_register(reg) * self.registers.mask_words..]
                [..self.registers.mask_words]
                .fill(u64::MAX);
        }
        for reg in &program.undefined_masks {
            let first_word = (reg.0 - program.shared_masks) as usize * self.registers.mask_words;
            unwritten_masks.fill_masks(
                &mut tile.masks[first_word..first_word + self.registers.mask_words],
                reg.0,
                tile.first_lane,
            );
            tile.undefined_masks[first_word..first_word + self.registers.mask_words].fill(u64::MAX);
        }
        for reg in &program.zeroed_words {
            tile.words[tile_register(reg)].fill(0);
        }
        unwritten_memory.fill_memory(
            &mut tile.private_words,
            self.registers.width,
            tile.first_lane,
        );
        tile.private_undefined.fill(u64::MAX);
        tile.end_places.fill(NOWHERE);
        tile.waiting.clear();
        tile.yielded.clear();
        tile.tile_holds.clear();
        tile.yield_history = YieldHistory::Never;
        tile.frontier.clear();
        tile.frontier.push(FrontierEntry { block_index: 0, mask: tile.all_lanes });
    }
}

//! Which workgroup and which tile runs next, to barriers and to the end.

use super::finding_collector::NOWHERE;
use super::held_lanes::Holding;
use super::speculative_parallel::{Shared, Sharing};
use super::spin_watch::{Before, Pace, ROUNDS};
use super::state::Machine;
use super::step_budget::Stop;
use super::tile::{Entry, Tile};
use super::undefined_contents::Whose;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{Reg, UniformValue};
use crate::memory::store::UNDEFINED_WORD;
use std::collections::VecDeque;

impl<'a> Machine<'a> {
    /// Runs every workgroup, on several cores where that is asked for and pays.
    pub(crate) fn run(
        &mut self,
        mut sharing: Option<&Sharing>,
        mut completed: impl FnMut([u32; 3]),
    ) -> Result<(), Stop> {
        let mut tiles = self.tiles();
        let count = self.scheduler.workgroups();
        let before = self.scheduler.steps_left;
        let mut resting = VecDeque::new();
        let most_resting = self.most_resting();
        for started in 0..count {
            if let Some(asked) = sharing
                && asked.is_worth(self, before - self.scheduler.steps_left, [started, count])
            {
                if asked.share(self, [started, count]) == Shared::Wholly {
                    (started..count).for_each(|index| completed(self.scheduler.group_at(index)));
                    return Ok(());
                }
                sharing = None;
            }
            match self.run_one(&mut tiles, self.scheduler.lineup.workgroup(started))? {
                Pace::Ended => completed(self.scheduler.workgroup),
                Pace::Rests => resting.push_back(self.lay_aside(&mut tiles)),
            }
            self.turns(&mut resting, &mut tiles, most_resting, &mut completed)?;
        }
        self.turns(&mut resting, &mut tiles, 0, &mut completed)
    }

    /// Runs the workgroup with this linear index.
    pub(super) fn run_one(&mut self, tiles: &mut [Tile], index: u64) -> Result<Pace, Stop> {
        self.choose(index);
        let pace = self.run_workgroup(tiles)?;
        if pace == Pace::Ended {
            self.monitor.origins.forget(index);
        }
        Ok(pace)
    }

    /// What follows is the workgroup with this linear index.
    pub(super) fn choose(&mut self, index: u64) {
        self.scheduler.workgroup = self.scheduler.group_at(index);
        self.scheduler.workgroup_index = index;
        self.monitor.collector.workgroup = index;
        let program = self.program;
        for (uniform, reg) in &program.uniforms {
            if let UniformValue::WorkgroupId(axis) = uniform {
                self.registers.words[reg.0 as usize].fill(self.scheduler.workgroup[*axis as usize]);
            }
        }
    }

    /// The first time of the workgroup that runs from now on.
    pub(super) fn begins(&mut self) -> u32 {
        let time = self.monitor.clock.start_workgroup();
        self.monitor.starts.push((time, self.scheduler.workgroup_index));
        time
    }

    /// One state per tile where tiles must wait for each other, else one that all share.
    pub(super) fn tiles(&self) -> Vec<Tile> {
        let program = self.program;
        let invocations = program.local_size.iter().product::<u32>();
        let own_words = (program.words - program.shared_words) as usize;
        let own_masks = (program.masks - program.shared_masks) as usize;
        let memory = program.invocation_words as usize;
        let tile = |first: u32| Tile {
            first,
            all: LaneMask::first_lanes(
                (invocations - first).min(self.registers.width as u32) as usize
            ),
            words: vec![vec![0; self.registers.width].into(); own_words],
            masks: vec![0; own_masks * self.registers.mask_words],
            undefined_words: vec![0; own_words * self.registers.mask_words],
            undefined_masks: vec![0; own_masks * self.registers.mask_words],
            memory: vec![UNDEFINED_WORD; memory * self.registers.width],
            memory_undefined: vec![u64::MAX; memory * self.registers.mask_words],
            frontier: Vec::new(),
            waiting: Vec::new(),
            resting: Vec::new(),
            holding: Holding::default(),
            before: Before::Never,
            ended: if program.barriers.is_empty() {
                Vec::new()
            } else {
                vec![NOWHERE; self.registers.width]
            },
        };
        if self.is_tile_by_tile() {
            return vec![tile(0)];
        }
        (0..invocations).step_by(self.registers.width).map(tile).collect()
    }

    fn run_workgroup(&mut self, tiles: &mut [Tile]) -> Result<Pace, Stop> {
        let time = self.begins();
        if let Some(order) = &self.monitor.order {
            order.borrow_mut().start_workgroup(self.scheduler.workgroup_index, time);
        }
        self.memory.workgroup.make_undefined();
        if self.settings.variation.is_some() {
            self.unwritten(Whose::Workgroup).fill(&mut self.memory.workgroup);
        }
        for range in &self.program.workgroup_zeroed {
            for word in range.start as usize..range.end as usize {
                self.memory.workgroup.words[word] = 0;
                self.memory.workgroup.set_defined(word, true);
            }
        }
        self.monitor.paths.fill(0);
        self.monitor.regions.entered[0] += 1;
        if self.is_tile_by_tile() {
            let invocations = self.program.local_size.iter().product::<u32>();
            for started in 0..self.scheduler.lineup.tiles() {
                let first =
                    self.scheduler.lineup.tile(started) as u32 * self.registers.width as u32;
                tiles[0].first = first;
                tiles[0].all = LaneMask::first_lanes(
                    (invocations - first).min(self.registers.width as u32) as usize,
                );
                self.start(&mut tiles[0]);
                self.run_tile(&mut tiles[0])?;
            }
            return Ok(Pace::Ended);
        }
        tiles.iter_mut().for_each(|tile| self.start(tile));
        self.go_on(tiles)
    }

    /// Runs the workgroup's invocations, from barrier to barrier.
    pub(super) fn go_on(&mut self, tiles: &mut [Tile]) -> Result<Pace, Stop> {
        if self.scheduler.lets_waiters_first() {
            return self.go_on_yielding(tiles);
        }
        let mut rounds = 0;
        loop {
            let (before, arrivals) = (self.scheduler.watch.changes, self.scheduler.watch.arrivals);
            self.run_tiles(tiles)?;
            if tiles.iter().all(|tile| tile.resting.is_empty()) {
                if self.meet(tiles) {
                    continue;
                }
                return Ok(Pace::Ended);
            }
            // Some wait for what others write. As long as these do anything, all of them go on, but
            // not for ever.
            tiles.iter_mut().for_each(Tile::wake);
            rounds = if self.scheduler.watch.arrivals == arrivals { rounds + 1 } else { 0 };
            if (self.scheduler.watch.changes == before || rounds >= ROUNDS) && self.may_rest() {
                return Ok(Pace::Rests);
            }
        }
    }

    /// Runs every tile until each of its lanes waits or has ended.
    pub(super) fn run_tiles(&mut self, tiles: &mut [Tile]) -> Result<(), Stop> {
        (0..self.scheduler.lineup.tiles())
            .try_for_each(|started| self.run_tile(&mut tiles[self.scheduler.lineup.tile(started)]))
    }

    /// Puts a tile's lanes at the entry with fresh registers.
    fn start(&self, tile: &mut Tile) {
        let program = self.program;
        let own = |reg: &Reg| (reg.0 - program.shared_words) as usize;
        for (what, reg) in &program.per_lane {
            for (lane, word) in tile.words[own(reg)].iter_mut().enumerate() {
                *word = self.per_lane(*what, tile.first + lane as u32);
            }
        }
        let [words, masks, memory] =
            [Whose::Words, Whose::Masks, Whose::Invocations].map(|whose| self.unwritten(whose));
        tile.undefined_words.fill(0);
        tile.undefined_masks.fill(0);
        for reg in &program.undefined_words {
            words.fill_lanes(&mut tile.words[own(reg)], reg.0, tile.first);
            tile.undefined_words[own(reg) * self.registers.mask_words..]
                [..self.registers.mask_words]
                .fill(u64::MAX);
        }
        for reg in &program.undefined_masks {
            let first = (reg.0 - program.shared_masks) as usize * self.registers.mask_words;
            masks.fill_masks(
                &mut tile.masks[first..first + self.registers.mask_words],
                reg.0,
                tile.first,
            );
            tile.undefined_masks[first..first + self.registers.mask_words].fill(u64::MAX);
        }
        for reg in &program.zeroed {
            tile.words[own(reg)].fill(0);
        }
        memory.fill_memory(&mut tile.memory, self.registers.width, tile.first);
        tile.memory_undefined.fill(u64::MAX);
        tile.ended.fill(NOWHERE);
        tile.waiting.clear();
        tile.resting.clear();
        tile.holding.clear();
        tile.before = Before::Never;
        tile.frontier.clear();
        tile.frontier.push(Entry { block: 0, mask: tile.all });
    }
}

//! The machine: runs a program workgroup by workgroup, tile by tile, to barriers and to the end.
//!
//! Knows: a tile is a run of consecutive invocations of a workgroup; its lanes stand at blocks, and the lowest block that
//! has lanes runs next, for all of them at once (see `ir` for why they come together again). At a barrier a lane
//! leaves the tile's frontier and waits with the identity of the barrier; when no lane of the workgroup can run, the
//! identities are compared.
//! Promises: workgroups run in linear order, x fastest, and tiles in theirs, unless a schedule has them otherwise
//! (`workgroup_order`); invocations of a tile in local-index order. Lanes that read in a loop until others have written let these go
//! on first (`spin_detection`).
//! Does not cover: which workgroups run on several cores (`speculative_parallel`).

mod access;
mod access_observers;
mod control_trace;
mod cooperative_matrix;
pub mod directed_yield;
mod dot_product;
mod execute;
pub mod finding_collector;
pub mod image;
mod indirect_access;
pub mod printer;
pub mod recorder;
pub mod speculative_parallel;
mod spin_detection;
mod subgroup;
pub mod undefined_contents;
mod undefined_origins;
pub mod variation;
pub mod workgroup_order;

use super::ir::{PerLane, Program, Reg, Terminator, Uniform, Waits};
use super::settings::Settings;
use crate::exec::resource::JobSampler;
use crate::exec::sequential::ir::lane_mask::{Mask, spread};
use crate::exec::sequential::ir::memory_semantics::Kinds;
use crate::exec::sequential::machine::image::access::Workspace;
use crate::exec::sequential::memory::aliasing::Aliasing;
use crate::exec::sequential::memory::race_shadow::{Atomicity, Shadow, Stamp};
use crate::exec::sequential::memory::read_tracking::Reads;
use crate::exec::sequential::memory::store::{Clock, Ordered, Slot, Store, UNDEFINED_WORD, shared_memory};
use crate::exec::sequential::memory::vector_clocks::Order;
use crate::model::finding::{Finding, FindingKind};
use access::Clash;
use directed_yield::{Held, Holding, Steps, Yielding};
use finding_collector::{Collector, NOWHERE};
use indirect_access::Detour;
use printer::Printer;
use recorder::{Rank, Recorder, parts_of_rank, rank};
use speculative_parallel::{Allowance, Shared, Sharing};
use spin_detection::{Before, Pace, ROUNDS, Watch};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Instant;
use undefined_contents::Whose;
use undefined_origins::Origins;
use variation::Variation;
use workgroup_order::Lineup;

/// Lanes that stand at the start of a block.
#[derive(Debug, Clone)]
struct Entry {
    block: u32,
    mask: Mask,
}

/// Lanes that wait at a barrier.
#[derive(Debug, Clone)]
struct Waiting {
    barrier: u32,
    to: u32,
    mask: Mask,
}

/// The state of a tile between two runs.
#[derive(Debug, Clone)]
struct Tile {
    /// Local index of the first lane.
    first: u32,
    all: Mask,
    words: Vec<Box<[u32]>>,
    masks: Vec<u64>,
    undefined_words: Vec<u64>,
    undefined_masks: Vec<u64>,
    memory: Vec<u32>,
    memory_undefined: Vec<u64>,
    /// Descending by block, so that the lowest is last.
    frontier: Vec<Entry>,
    waiting: Vec<Waiting>,
    /// Lanes that read until others have written, and let these go on first.
    resting: Vec<Entry>,
    /// Lanes that let others go on first, before a change.
    holding: Holding,
    before: Before,
    /// By lane: the instruction at which it ended.
    ended: Vec<u32>,
}

/// Why a run stopped before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    Steps {
        place: u32,
        invocation: [u32; 3],
    },
    /// The time limit was reached.
    Time,
}

/// Blocks that a machine runs between two looks at the clock: some milliseconds.
const BLOCKS_PER_LOOK: u32 = 1 << 12;

/// When a run has to end.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Option<Instant>,
    blocks_until_look: u32,
}

impl Deadline {
    pub fn new(at: Option<Instant>) -> Self {
        Self { at, blocks_until_look: BLOCKS_PER_LOOK }
    }

    /// Counts a block; whether the time is over, as far as the clock was looked at.
    fn has_passed(&mut self) -> bool {
        self.blocks_until_look -= 1;
        self.blocks_until_look == 0 && self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        self.blocks_until_look = BLOCKS_PER_LOOK;
        self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// The same deadline for another machine.
    pub fn again(self) -> Self {
        Self::new(self.at)
    }
}

/// How often the loops of the lowering ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegionCounts {
    /// Workgroups that entered region 0, and that left barrier `i` into region `i + 1`.
    pub entered: Vec<u64>,
    /// By barrier: how often all invocations of a workgroup executed it together.
    pub whole: Vec<u64>,
}

impl RegionCounts {
    fn new(barriers: usize) -> Self {
        Self { entered: vec![0; barriers + 1], whole: vec![0; barriers] }
    }

    /// Adds the counts of other workgroups.
    pub fn join(&mut self, other: &RegionCounts) {
        self.entered.iter_mut().zip(&other.entered).for_each(|(all, times)| *all += times);
        self.whole.iter_mut().zip(&other.whole).for_each(|(all, times)| *all += times);
    }
}

/// A dispatch in progress.
pub struct Machine<'a> {
    pub program: &'a Program,
    settings: Settings,
    pub groups: [u32; 3],
    pub stores: &'a mut [Store],
    pub slots: Vec<Option<Slot>>,
    /// By descriptor: words from the start of its range up to the last one accessed.
    pub touched: Vec<u32>,
    pub workgroup_memory: Store,
    pub push_constants: Store,
    pub collector: Collector,
    pub recorder: Recorder,
    pub printer: Printer,
    pub steps_left: u64,
    deadline: Deadline,
    pub regions: RegionCounts,
    /// Whether any barrier was divergent.
    pub diverged: bool,

    clock: Clock,
    subgroup_size: u32,
    /// What orders accesses, where races are looked for and barriers of workgroups are not all.
    pub(crate) order: Option<Rc<RefCell<Order>>>,
    watch: Watch,
    /// Where `restrict` variables overlap others.
    pub(crate) aliasing: Option<Aliasing>,
    /// Where it is asked what is read.
    pub(crate) reads: Option<Reads>,
    /// Where who waits goes first.
    pub(crate) yielding: Option<Yielding>,
    lineup: Lineup,
    /// Whether it is marked what the workgroups do to the stores (see `access_sets`).
    marked: bool,
    /// Steps that several machines share; none for a machine that runs all workgroups.
    allowance: Option<&'a Allowance>,
    /// Elements of a matrix while it is computed.
    elements: Vec<u64>,
    /// First time of each workgroup so far, and its linear index.
    starts: Vec<(u32, u64)>,
    workgroup: [u32; 3],
    workgroup_index: u64,
    track_undefined: bool,
    origins: Origins,
    track_races: bool,
    variation: Option<Variation>,
    /// By local index: the path of the invocation so far (see `control_trace`); empty in an ordinary run.
    paths: Vec<u64>,

    /// Lanes of a tile, and words of its masks.
    width: usize,
    mask_words: usize,
    words: Vec<Box<[u32]>>,
    masks: Vec<u64>,
    undefined_words: Vec<u64>,
    undefined_masks: Vec<u64>,
    memory: Vec<u32>,
    memory_undefined: Vec<u64>,
    first_lane: u32,
    /// The active lanes, and whether every lane that can still run is active.
    active: Mask,
    full: bool,
    /// `active` as one word per lane; valid unless `full`.
    lane_mask: Box<[u32]>,
    scratch: Box<[u32]>,
    /// For loaded and stored values.
    staging: Box<[u32]>,
    /// The same for numbers of 64 bits: their high halves.
    staging_high: Box<[u32]>,
    addresses: Box<[u32]>,
    /// Where each lane's device address lies in its buffer, while it is followed.
    offsets: Box<[u32]>,
    /// Bytes of the job's buffers.
    lengths: Vec<usize>,
    races: Vec<Clash>,
    /// The job's samplers.
    samplers: &'a [JobSampler],
    workspace: Workspace,
    detour: Detour,
}

/// What a dispatch needs beside the program.
pub struct Launch<'a> {
    pub settings: Settings,
    pub groups: [u32; 3],
    pub stores: &'a mut [Store],
    pub slots: Vec<Option<Slot>>,
    pub samplers: &'a [JobSampler],
    pub push_constants: Store,
    /// Bytes of the job's buffers, which are the first of the stores.
    pub lengths: Vec<usize>,
    pub collector: Collector,
    pub recorder: Recorder,
    pub steps_left: u64,
    pub deadline: Deadline,
    /// Where workgroups run on several cores: the steps of all of them, taken from as they are needed.
    pub allowance: Option<&'a Allowance>,
}

/// Bytes that a dispatch of `program` needs beside its buffers.
pub fn working_bytes(program: &Program, width: u32) -> u64 {
    let invocations: u64 = program.local_size.iter().map(|size| u64::from(*size)).product();
    let tiles = invocations.div_ceil(u64::from(width));
    let per_tile = (u64::from(program.words) + u64::from(program.invocation_words)) * u64::from(width) * 4;
    tiles.saturating_mul(per_tile).saturating_add(u64::from(program.workgroup_words) * 40)
}

impl<'a> Machine<'a> {
    pub fn new(program: &'a Program, launch: Launch<'a>) -> Self {
        let invocations = program.local_size.iter().map(|size| *size as usize).product::<usize>();
        let width = (launch.settings.tile_width as usize).min(invocations).max(1);
        let mask_words = width.div_ceil(64);
        let checks = launch.collector.checks.clone();
        let track_races = checks.has(FindingKind::DataRace);
        let mut machine = Self {
            program,
            settings: launch.settings,
            groups: launch.groups,
            stores: launch.stores,
            touched: vec![0; launch.slots.len()],
            clock: Clock::new(shared_memory(&launch.slots)),
            slots: launch.slots,
            workgroup_memory: Store::default(),
            push_constants: launch.push_constants,
            collector: launch.collector,
            recorder: launch.recorder,
            printer: Printer::default(),
            steps_left: launch.steps_left,
            deadline: launch.deadline,
            regions: RegionCounts::new(program.barriers.len()),
            diverged: false,
            subgroup_size: launch.settings.subgroup_size,
            order: None,
            watch: Watch::default(),
            aliasing: None,
            reads: None,
            yielding: None,
            lineup: Lineup::new(launch.settings.following.schedule, launch.groups, invocations.div_ceil(width)),
            marked: launch.allowance.is_some(),
            allowance: launch.allowance,
            starts: Vec::new(),
            workgroup: [0; 3],
            workgroup_index: 0,
            track_undefined: checks.has(FindingKind::UninitializedRead) || checks.has(FindingKind::UndefinedValue),
            origins: Origins::default(),
            track_races,
            paths: if launch.settings.variation.is_some() { vec![0; invocations] } else { Vec::new() },
            variation: launch.settings.variation,
            width,
            mask_words,
            words: vec![vec![0; width].into(); program.words as usize],
            masks: vec![0; program.masks as usize * mask_words],
            undefined_words: vec![0; program.words as usize * mask_words],
            undefined_masks: vec![0; program.masks as usize * mask_words],
            memory: Vec::new(),
            memory_undefined: Vec::new(),
            first_lane: 0,
            active: Mask::EMPTY,
            full: true,
            lane_mask: vec![0; width].into(),
            scratch: vec![0; width].into(),
            staging: vec![0; width].into(),
            staging_high: vec![0; width].into(),
            elements: Vec::new(),
            addresses: vec![0; width].into(),
            offsets: vec![0; width].into(),
            lengths: launch.lengths,
            races: Vec::new(),
            samplers: launch.samplers,
            workspace: Workspace::default(),
            detour: Detour::default(),
        };
        machine.fill_uniforms();
        machine.order_exactly();
        machine.workgroup_memory = machine.fresh_workgroup_memory();
        machine
    }

    /// Workgroup memory that nobody has used.
    fn fresh_workgroup_memory(&self) -> Store {
        let words = self.program.workgroup_words as usize;
        let mut memory = Store::undefined_words(words);
        if self.track_races && words > 0 {
            let mut shadow = Shadow::new(words, Atomicity::WithAtomics, self.program.granule);
            if let Some(order) = &self.order {
                shadow.order_exactly(order, Kinds::WORKGROUP);
            }
            memory.shadow = Some(shadow);
        }
        if self.variation.is_some() {
            memory.paths = Some(vec![0; words]);
        }
        memory
    }

    /// Whether the tiles of a workgroup run one after the other, each to its end.
    fn is_tile_by_tile(&self) -> bool {
        self.program.barriers.is_empty() && self.program.waits == Waits::Never && !self.lets_waiters_first()
    }

    /// Fills the registers that hold the same value in the whole dispatch.
    fn fill_uniforms(&mut self) {
        let program = self.program;
        for (uniform, reg) in &program.uniforms {
            let value = match uniform {
                Uniform::Constant(value) => *value,
                Uniform::PushConstant(word) => {
                    if self.push_constants.is_undefined(*word as usize) {
                        let first = reg.0 as usize * self.mask_words;
                        self.undefined_words[first..first + self.mask_words].fill(u64::MAX);
                    }
                    self.push_constants.words[*word as usize]
                }
                Uniform::NumWorkgroups(axis) => self.groups[*axis as usize],
                Uniform::SubgroupSize => self.subgroup_size,
                Uniform::NumSubgroups => self.subgroups_of_workgroup(),
                Uniform::WorkgroupId(_) => 0,
            };
            self.words[reg.0 as usize].fill(value);
        }
        for (value, reg) in &program.uniform_masks {
            let first = reg.0 as usize * self.mask_words;
            self.masks[first..first + self.mask_words].fill(if *value { u64::MAX } else { 0 });
        }
    }

    /// Runs every workgroup, on several cores where that is asked for and pays.
    pub fn run(&mut self, mut sharing: Option<&Sharing>, mut completed: impl FnMut([u32; 3])) -> Result<(), Stop> {
        let mut tiles = self.tiles();
        let count = self.workgroups();
        let before = self.steps_left;
        let mut resting = VecDeque::new();
        let most_resting = self.most_resting();
        for started in 0..count {
            if let Some(asked) = sharing
                && asked.is_worth(self, before - self.steps_left, [started, count])
            {
                if asked.share(self, [started, count]) == Shared::Wholly {
                    (started..count).for_each(|index| completed(self.group_at(index)));
                    return Ok(());
                }
                sharing = None;
            }
            match self.run_one(&mut tiles, self.lineup.workgroup(started))? {
                Pace::Ended => completed(self.workgroup),
                Pace::Rests => resting.push_back(self.lay_aside(&mut tiles)),
            }
            self.turns(&mut resting, &mut tiles, most_resting, &mut completed)?;
        }
        self.turns(&mut resting, &mut tiles, 0, &mut completed)
    }

    fn workgroups(&self) -> u64 {
        self.groups.iter().fold(1, |product: u64, count| product.saturating_mul(u64::from(*count)))
    }

    fn group_at(&self, index: u64) -> [u32; 3] {
        let [columns, rows, _] = self.groups.map(u64::from);
        [index % columns, index / columns % rows, index / (columns * rows)].map(|at| at as u32)
    }

    /// Runs the workgroup with this linear index.
    fn run_one(&mut self, tiles: &mut [Tile], index: u64) -> Result<Pace, Stop> {
        self.choose(index);
        let pace = self.run_workgroup(tiles)?;
        if pace == Pace::Ended {
            self.origins.forget(index);
        }
        Ok(pace)
    }

    /// What follows is the workgroup with this linear index.
    fn choose(&mut self, index: u64) {
        self.workgroup = self.group_at(index);
        self.workgroup_index = index;
        self.collector.workgroup = index;
        let program = self.program;
        for (uniform, reg) in &program.uniforms {
            if let Uniform::WorkgroupId(axis) = uniform {
                self.words[reg.0 as usize].fill(self.workgroup[*axis as usize]);
            }
        }
    }

    /// The first time of the workgroup that runs from now on.
    fn begins(&mut self) -> u32 {
        let time = self.clock.workgroup_starts();
        self.starts.push((time, self.workgroup_index));
        time
    }

    /// One state per tile where tiles must wait for each other, else one that all share.
    fn tiles(&self) -> Vec<Tile> {
        let program = self.program;
        let invocations = program.local_size.iter().product::<u32>();
        let own_words = (program.words - program.shared_words) as usize;
        let own_masks = (program.masks - program.shared_masks) as usize;
        let memory = program.invocation_words as usize;
        let tile = |first: u32| Tile {
            first,
            all: Mask::first((invocations - first).min(self.width as u32) as usize),
            words: vec![vec![0; self.width].into(); own_words],
            masks: vec![0; own_masks * self.mask_words],
            undefined_words: vec![0; own_words * self.mask_words],
            undefined_masks: vec![0; own_masks * self.mask_words],
            memory: vec![UNDEFINED_WORD; memory * self.width],
            memory_undefined: vec![u64::MAX; memory * self.mask_words],
            frontier: Vec::new(),
            waiting: Vec::new(),
            resting: Vec::new(),
            holding: Holding::default(),
            before: Before::Never,
            ended: if program.barriers.is_empty() { Vec::new() } else { vec![NOWHERE; self.width] },
        };
        if self.is_tile_by_tile() {
            return vec![tile(0)];
        }
        (0..invocations).step_by(self.width).map(tile).collect()
    }

    fn run_workgroup(&mut self, tiles: &mut [Tile]) -> Result<Pace, Stop> {
        let time = self.begins();
        if let Some(order) = &self.order {
            order.borrow_mut().start(self.workgroup_index, time);
        }
        self.workgroup_memory.reset();
        if self.variation.is_some() {
            self.unwritten(Whose::Workgroup).fill(&mut self.workgroup_memory);
        }
        for range in &self.program.workgroup_zeroed {
            for word in range.start as usize..range.end as usize {
                self.workgroup_memory.words[word] = 0;
                self.workgroup_memory.define(word, true);
            }
        }
        self.paths.fill(0);
        self.regions.entered[0] += 1;
        if self.is_tile_by_tile() {
            let invocations = self.program.local_size.iter().product::<u32>();
            for started in 0..self.lineup.tiles() {
                let first = self.lineup.tile(started) as u32 * self.width as u32;
                tiles[0].first = first;
                tiles[0].all = Mask::first((invocations - first).min(self.width as u32) as usize);
                self.start(&mut tiles[0]);
                self.run_tile(&mut tiles[0])?;
            }
            return Ok(Pace::Ended);
        }
        tiles.iter_mut().for_each(|tile| self.start(tile));
        self.go_on(tiles)
    }

    /// Runs the workgroup's invocations, from barrier to barrier.
    fn go_on(&mut self, tiles: &mut [Tile]) -> Result<Pace, Stop> {
        if self.lets_waiters_first() {
            return self.go_on_yielding(tiles);
        }
        let mut rounds = 0;
        loop {
            let (before, arrivals) = (self.watch.changes, self.watch.arrivals);
            self.run_tiles(tiles)?;
            if tiles.iter().all(|tile| tile.resting.is_empty()) {
                if self.meet(tiles) {
                    continue;
                }
                return Ok(Pace::Ended);
            }
            // Some wait for what others write. As long as these do anything, all of them go on, but not for ever.
            tiles.iter_mut().for_each(Tile::wake);
            rounds = if self.watch.arrivals == arrivals { rounds + 1 } else { 0 };
            if (self.watch.changes == before || rounds >= ROUNDS) && self.may_rest() {
                return Ok(Pace::Rests);
            }
        }
    }

    /// Runs every tile until each of its lanes waits or has ended.
    fn run_tiles(&mut self, tiles: &mut [Tile]) -> Result<(), Stop> {
        (0..self.lineup.tiles()).try_for_each(|started| self.run_tile(&mut tiles[self.lineup.tile(started)]))
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
            tile.undefined_words[own(reg) * self.mask_words..][..self.mask_words].fill(u64::MAX);
        }
        for reg in &program.undefined_masks {
            let first = (reg.0 - program.shared_masks) as usize * self.mask_words;
            masks.fill_masks(&mut tile.masks[first..first + self.mask_words], reg.0, tile.first);
            tile.undefined_masks[first..first + self.mask_words].fill(u64::MAX);
        }
        for reg in &program.zeroed {
            tile.words[own(reg)].fill(0);
        }
        memory.fill_memory(&mut tile.memory, self.width, tile.first);
        tile.memory_undefined.fill(u64::MAX);
        tile.ended.fill(NOWHERE);
        tile.waiting.clear();
        tile.resting.clear();
        tile.holding.clear();
        tile.before = Before::Never;
        tile.frontier.clear();
        tile.frontier.push(Entry { block: 0, mask: tile.all });
    }

    fn per_lane(&self, what: PerLane, local: u32) -> u32 {
        // Lanes behind the last invocation repeat it, so that their addresses stay inside.
        let local = local.min(self.program.local_size.iter().product::<u32>() - 1);
        let id = self.local_id(local);
        match what {
            PerLane::LocalIndex => local,
            PerLane::SubgroupId | PerLane::SubgroupInvocation | PerLane::SubgroupMask(_, _) => {
                self.subgroup_value(what, local)
            }
            PerLane::LocalId(axis) => id[axis as usize],
            PerLane::GlobalId(axis) => {
                let axis = axis as usize;
                self.workgroup[axis].wrapping_mul(self.program.local_size[axis]).wrapping_add(id[axis])
            }
        }
    }

    fn local_id(&self, local: u32) -> [u32; 3] {
        let [columns, rows, _] = self.program.local_size;
        [local % columns, local / columns % rows, local / (columns * rows)]
    }

    pub fn invocation_of_rank(&self, rank: Rank) -> [u32; 3] {
        let (workgroup, local) = parts_of_rank(rank);
        self.invocation_of(workgroup, local)
    }

    /// Global invocation id of a local index in the current workgroup.
    fn invocation(&self, local: u32) -> [u32; 3] {
        self.invocation_of(self.workgroup_index, local)
    }

    /// Global invocation id of a local index in a workgroup given by its linear index.
    pub fn invocation_of(&self, workgroup: u64, local: u32) -> [u32; 3] {
        let group = self.group_at(workgroup);
        let id = self.local_id(local);
        std::array::from_fn(|axis| group[axis].wrapping_mul(self.program.local_size[axis]).wrapping_add(id[axis]))
    }

    /// Global invocation id behind a stamp.
    fn stamped(&self, stamp: Stamp) -> [u32; 3] {
        let at = self.starts.partition_point(|(start, _)| *start <= stamp.time()).saturating_sub(1);
        self.invocation_of(self.starts.get(at).map_or(0, |(_, workgroup)| *workgroup), stamp.lane())
    }

    /// Whether an access was made in the workgroup that runs.
    fn is_of_this_workgroup(&self, stamp: Stamp) -> bool {
        let at = self.starts.partition_point(|(start, _)| *start <= stamp.time());
        at.checked_sub(1).is_some_and(|at| self.starts[at].1 == self.workgroup_index)
    }

    fn rank(&self, lane: usize) -> u64 {
        rank(self.workgroup_index, self.first_lane + lane as u32)
    }

    /// Exchanges the tile's registers with the machine's own.
    fn exchange(&mut self, tile: &mut Tile) {
        let program = self.program;
        let shared_words = program.shared_words as usize;
        let shared_masks = program.shared_masks as usize * self.mask_words;
        self.words[shared_words..].swap_with_slice(&mut tile.words);
        self.masks[shared_masks..].swap_with_slice(&mut tile.masks);
        self.undefined_words[shared_words * self.mask_words..].swap_with_slice(&mut tile.undefined_words);
        self.undefined_masks[shared_masks..].swap_with_slice(&mut tile.undefined_masks);
        std::mem::swap(&mut self.memory, &mut tile.memory);
        std::mem::swap(&mut self.memory_undefined, &mut tile.memory_undefined);
    }

    /// Runs a tile until every lane waits or has ended.
    fn run_tile(&mut self, tile: &mut Tile) -> Result<(), Stop> {
        if tile.frontier.is_empty() && !tile.holding.has_released() {
            return Ok(());
        }
        self.exchange(tile);
        self.first_lane = tile.first;
        let mut result = Ok(());
        if let Some(held) = tile.holding.take_released() {
            self.restore(&held);
            let Held { block, step, lanes: mask, .. } = held;
            result = self.run_from(tile, Entry { block, mask }, Some(step));
        }
        while result.is_ok()
            && !self.holds_together(tile)
            && let Some(entry) = tile.frontier.pop()
        {
            result = self.run_from(tile, entry, None);
        }
        self.exchange(tile);
        result
    }

    /// Runs from a block on, or from a step of it that lanes held before, while the lanes stay together and lowest.
    fn run_from(&mut self, tile: &mut Tile, entry: Entry, mut held: Option<usize>) -> Result<(), Stop> {
        let program = self.program;
        self.active = entry.mask;
        self.full = tile.frontier.is_empty() && tile.waiting.is_empty() && tile.is_free();
        let waits = self.program.waits;
        self.watch.restart(tile.before, self.settings.following.schedule.turns);
        if !self.full {
            spread(&mut self.lane_mask, &self.active.0[..self.mask_words]);
        }
        let active = u64::from(self.active.count(self.mask_words));
        let ceiling = tile.frontier.last().map_or(u32::MAX, |next| next.block);
        let mut at = entry.block;
        loop {
            let block = &program.blocks[at as usize];
            if waits != Waits::Never && self.watch.is_tired(block.steps.len() as u64 + 1, waits) {
                tile.resting.push(Entry { block: at, mask: self.active });
                tile.before = Before::Waited;
                return Ok(());
            }
            let cost = (block.steps.len() as u64 + 1) * active;
            if cost > self.steps_left && !self.takes_more(cost) {
                let lane = self.active.lanes().next().unwrap_or(0) as u32;
                return Err(Stop::Steps { place: block.place, invocation: self.invocation(self.first_lane + lane) });
            }
            self.steps_left -= cost;
            if self.deadline.has_passed() {
                return Err(Stop::Time);
            }
            if self.yielding.is_some() {
                if self.run_steps(tile, at, held.take()) == Steps::Held {
                    return Ok(());
                }
            } else {
                for step in &block.steps {
                    if self.variation.is_some() && self.varied_step(step) {
                        continue;
                    }
                    self.step(step);
                }
            }
            if !block.suspects.is_empty() && self.track_undefined {
                self.check_defined(&block.suspects, block.place);
            }
            match &block.terminator {
                Terminator::Jump { to } => at = *to,
                Terminator::Branch { condition, yes, no } => match self.branch(tile, *condition, *yes, *no) {
                    Some(to) => at = to,
                    None => return Ok(()),
                },
                Terminator::Switch { selector, cases, default } => {
                    self.switch(tile, *selector, cases, *default);
                    return Ok(());
                }
                Terminator::Barrier { barrier, to } => {
                    let waiting = Waiting { barrier: *barrier, to: *to, mask: self.active };
                    tile.waiting.push(waiting);
                    self.watch.arrive();
                    return Ok(());
                }
                Terminator::End | Terminator::Unreachable => {
                    self.end(tile, block.place, matches!(block.terminator, Terminator::Unreachable));
                    return Ok(());
                }
            }
            if at >= ceiling {
                insert(&mut tile.frontier, at, &self.active);
                return Ok(());
            }
        }
    }

    /// Splits the active lanes; the target where they stay together.
    fn branch(&self, tile: &mut Tile, condition: Reg, yes: u32, no: u32) -> Option<u32> {
        let values = &self.masks[condition.0 as usize * self.mask_words..][..self.mask_words];
        let (mut taken, mut passed) = (Mask::EMPTY, Mask::EMPTY);
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
            targets[lane] = cases.iter().find(|(case, _)| *case == value).map_or(default, |(_, to)| *to);
        }
        let mut rest = self.active;
        while let Some(first) = rest.lanes().next() {
            let to = targets[first];
            let mut mask = Mask::EMPTY;
            rest.lanes().filter(|lane| targets[*lane] == to).for_each(|lane| mask.insert(lane));
            rest.0.iter_mut().zip(&mask.0).for_each(|(rest, gone)| *rest &= !gone);
            insert(&mut tile.frontier, to, &mask);
        }
        self.staging = targets;
    }

    fn end(&mut self, tile: &mut Tile, place: u32, unreachable: bool) {
        self.watch.arrive();
        for lane in self.active.lanes() {
            if let Some(ended) = tile.ended.get_mut(lane) {
                *ended = place;
            }
        }
        if unreachable && let Some(lane) = self.active.lanes().next() {
            let witness = self.invocation(self.first_lane + lane as u32);
            self.collector.add(FindingKind::UndefinedValue, [place, NOWHERE], 0, || Finding {
                invocations: vec![witness],
                ..Finding::new(FindingKind::UndefinedValue, "execution reached OpUnreachable; the invocation ends here")
            });
        }
    }

    /// All lanes of the workgroup wait or have ended. Compares the barriers, releases those that wait; whether any did.
    fn meet(&mut self, tiles: &mut [Tile]) -> bool {
        let mut gathered: BTreeMap<(u32, Vec<u32>), (u64, u32)> = BTreeMap::new();
        let mut ended: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
        for tile in tiles.iter() {
            for waiting in &tile.waiting {
                self.identities(tile, waiting, &mut gathered);
            }
            for (lane, place) in tile.ended.iter().enumerate().filter(|(_, place)| **place != NOWHERE) {
                ended.entry(*place).or_insert((0, tile.first + lane as u32)).0 += 1;
            }
        }
        if gathered.is_empty() {
            return false;
        }
        let barriers: Vec<u32> = gathered.keys().map(|(barrier, _)| *barrier).collect();
        if gathered.len() > 1 || !ended.is_empty() {
            self.report_divergence(&gathered, &ended);
        } else {
            self.regions.whole[barriers[0] as usize] += 1;
            self.recorder.keep_barrier(barriers[0], self.workgroup_index);
        }
        for barrier in &barriers {
            self.regions.entered[*barrier as usize + 1] += 1;
        }
        let ordered = self.ordered(barriers[0]);
        self.clock.barrier(ordered);
        if let Some(order) = &self.order {
            let fences = self.program.barriers[barriers[0] as usize].fences;
            let mut order = order.borrow_mut();
            order.barrier(ordered.kinds(), fences.control, self.clock.latest());
            if let Some(fence) = fences.repeated(self.settings.memory_model) {
                let after = self.clock.tick();
                let invocations = self.program.local_size.iter().product::<u32>();
                (0..invocations).for_each(|one| order.fence(one, fence, after));
            }
        }
        for tile in tiles {
            for waiting in std::mem::take(&mut tile.waiting) {
                insert(&mut tile.frontier, waiting.to, &waiting.mask);
            }
        }
        true
    }

    /// Adds each waiting lane under its barrier and the iterations of the loops around it.
    fn identities(&self, tile: &Tile, waiting: &Waiting, gathered: &mut BTreeMap<(u32, Vec<u32>), (u64, u32)>) {
        let barrier = &self.program.barriers[waiting.barrier as usize];
        let counters: Vec<&[u32]> =
            barrier.counters.iter().map(|reg| &tile.words[(reg.0 - self.program.shared_words) as usize][..]).collect();
        let mut last: Option<(Vec<u32>, u64, u32)> = None;
        let flush = |(iterations, count, first): (Vec<u32>, u64, u32), gathered: &mut BTreeMap<_, (u64, u32)>| {
            gathered.entry((waiting.barrier, iterations)).or_insert((0, first)).0 += count;
        };
        for lane in waiting.mask.lanes() {
            let same = |iterations: &[u32]| iterations.iter().zip(&counters).all(|(value, all)| *value == all[lane]);
            match &mut last {
                Some((iterations, count, _)) if same(iterations) => *count += 1,
                _ => {
                    if let Some(done) = last.take() {
                        flush(done, gathered);
                    }
                    let iterations = counters.iter().map(|all| all[lane]).collect();
                    last = Some((iterations, 1, tile.first + lane as u32));
                }
            }
        }
        if let Some(done) = last {
            flush(done, gathered);
        }
    }

    fn report_divergence(
        &mut self,
        gathered: &BTreeMap<(u32, Vec<u32>), (u64, u32)>,
        ended: &BTreeMap<u32, (u64, u32)>,
    ) {
        self.diverged = true;
        let place = |barrier: &u32| self.program.barriers[*barrier as usize].place;
        let mut waiting = gathered.iter();
        let Some(((barrier, iterations), (count, first))) = waiting.next() else { return };
        let (here, one) = (place(barrier), self.invocation(*first));
        let others = waiting.map(|((other, others), (number, lane))| {
            let what = if other == barrier {
                format!("{number} wait at it in another iteration ({others:?} against {iterations:?})")
            } else {
                format!("{number} wait at another barrier")
            };
            (place(other), what, *number, *lane)
        });
        let ended =
            ended.iter().map(|(place, (number, lane))| (*place, format!("{number} have ended"), *number, *lane));
        let found: Vec<_> = others.chain(ended).collect();
        for (other, what, number, lane) in found {
            let two = self.invocation(lane);
            self.collector.add(FindingKind::BarrierDivergence, [here, other], 0, || Finding {
                invocations: vec![one, two],
                ..Finding::new(
                    FindingKind::BarrierDivergence,
                    format!("{count} invocations of the workgroup wait at this barrier while {what}"),
                )
                .detail("waiting", *count)
                .detail("elsewhere", number)
            });
        }
    }

    /// What a barrier orders under the memory model in force (see `docs/memory-model.md`).
    fn ordered(&self, barrier: u32) -> Ordered {
        self.program.barriers[barrier as usize].fences.ordered(self.settings.memory_model)
    }

    fn report_undefined(&mut self, lanes: &Mask, place: u32, message: &str) {
        for lane in lanes.lanes() {
            let witness = self.invocation(self.first_lane + lane as u32);
            self.collector.add(FindingKind::UninitializedRead, [place, NOWHERE], 0, || Finding {
                invocations: vec![witness],
                ..Finding::new(FindingKind::UninitializedRead, message)
            });
        }
    }
}

impl Tile {
    /// Whether no lane rests or holds.
    fn is_free(&self) -> bool {
        self.resting.is_empty() && self.holding.is_empty()
    }

    /// Lets the lanes that rest go on.
    fn wake(&mut self) {
        for Entry { block, mask } in std::mem::take(&mut self.resting) {
            insert(&mut self.frontier, block, &mask);
        }
    }
}

/// Adds lanes to the frontier, which is kept in descending order of blocks.
fn insert(frontier: &mut Vec<Entry>, block: u32, mask: &Mask) {
    let position = frontier.partition_point(|entry| entry.block > block);
    match frontier.get_mut(position) {
        Some(entry) if entry.block == block => entry.mask.merge(mask),
        _ => frontier.insert(position, Entry { block, mask: *mask }),
    }
}

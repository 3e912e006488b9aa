//! The state of a dispatch in progress.

use super::clash::Clash;
use super::finding_collector::{Collector, NOWHERE};
use super::held_lanes::Yielding;
use super::image::workspace::Workspace;
use super::indirect_targets::Detour;
use super::origins::Origins;
use super::printer::Printer;
use super::recorder::{Rank, Recorder, parts_of_rank, rank};
use super::regions::RegionCounts;
use super::spin_watch::Watch;
use super::step_budget::{Allowance, Deadline};
use super::tile::Tile;
use super::workgroup_order::Lineup;
use crate::ir::lane_mask::Mask;
use crate::ir::memory_semantics::{Kinds, Ordered};
use crate::ir::{PerLane, Program, Uniform, Waits};
use crate::memory::aliasing::Aliasing;
use crate::memory::race_shadow::{Atomicity, Shadow, Stamp};
use crate::memory::read_tracking::Reads;
use crate::memory::store::{Clock, Slot, Store, shared_memory};
use crate::memory::vector_clocks::Order;
use crate::settings::Settings;
use crate::settings::variation::Variation;
use std::cell::RefCell;
use std::rc::Rc;
use vkcert_exec::resource::JobSampler;
use vkcert_model::finding::{Finding, FindingKind};

/// A dispatch in progress.
pub(crate) struct Machine<'a> {
    pub program: &'a Program,
    pub(super) settings: Settings,
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
    pub(super) deadline: Deadline,
    pub regions: RegionCounts,
    /// Whether any barrier was divergent.
    pub diverged: bool,

    pub(super) clock: Clock,
    pub(super) subgroup_size: u32,
    /// What orders accesses, where races are looked for and barriers of workgroups are not all.
    pub(crate) order: Option<Rc<RefCell<Order>>>,
    pub(super) watch: Watch,
    /// Where `restrict` variables overlap others.
    pub(crate) aliasing: Option<Aliasing>,
    /// Where it is asked what is read.
    pub(crate) reads: Option<Reads>,
    /// Where who waits goes first.
    pub(crate) yielding: Option<Yielding>,
    pub(super) lineup: Lineup,
    /// Whether it is marked what the workgroups do to the stores (see `access_sets`).
    pub(super) marked: bool,
    /// Steps that several machines share; none for a machine that runs all workgroups.
    pub(super) allowance: Option<&'a Allowance>,
    /// Elements of a matrix while it is computed.
    pub(super) elements: Vec<u64>,
    /// First time of each workgroup so far, and its linear index.
    pub(super) starts: Vec<(u32, u64)>,
    pub(super) workgroup: [u32; 3],
    pub(super) workgroup_index: u64,
    pub(super) track_undefined: bool,
    pub(super) origins: Origins,
    pub(super) track_races: bool,
    pub(super) variation: Option<Variation>,
    /// By local index: the path of the invocation so far (see `control_trace`); empty in an
    /// ordinary run.
    pub(super) paths: Vec<u64>,

    /// Lanes of a tile, and words of its masks.
    pub(super) width: usize,
    pub(super) mask_words: usize,
    pub(super) words: Vec<Box<[u32]>>,
    pub(super) masks: Vec<u64>,
    pub(super) undefined_words: Vec<u64>,
    pub(super) undefined_masks: Vec<u64>,
    pub(super) memory: Vec<u32>,
    pub(super) memory_undefined: Vec<u64>,
    pub(super) first_lane: u32,
    /// The active lanes, and whether every lane that can still run is active.
    pub(super) active: Mask,
    pub(super) full: bool,
    /// `active` as one word per lane; valid unless `full`.
    pub(super) lane_mask: Box<[u32]>,
    pub(super) scratch: Box<[u32]>,
    /// For loaded and stored values.
    pub(super) staging: Box<[u32]>,
    /// The same for numbers of 64 bits: their high halves.
    pub(super) staging_high: Box<[u32]>,
    pub(super) addresses: Box<[u32]>,
    /// Where each lane's device address lies in its buffer, while it is followed.
    pub(super) offsets: Box<[u32]>,
    /// Bytes of the job's buffers.
    pub(super) lengths: Vec<usize>,
    pub(super) races: Vec<Clash>,
    /// The job's samplers.
    pub(super) samplers: &'a [JobSampler],
    pub(super) workspace: Workspace,
    pub(super) detour: Detour,
}

/// What a dispatch needs beside the program.
pub(crate) struct Launch<'a> {
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
    /// Where workgroups run on several cores: the steps of all of them, taken from as they are
    /// needed.
    pub allowance: Option<&'a Allowance>,
}

/// Bytes that a dispatch of `program` needs beside its buffers.
pub(crate) fn working_bytes(program: &Program, width: u32) -> u64 {
    let invocations: u64 = program.local_size.iter().map(|size| u64::from(*size)).product();
    let tiles = invocations.div_ceil(u64::from(width));
    let per_tile =
        (u64::from(program.words) + u64::from(program.invocation_words)) * u64::from(width) * 4;
    tiles.saturating_mul(per_tile).saturating_add(u64::from(program.workgroup_words) * 40)
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program, launch: Launch<'a>) -> Self {
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
            lineup: Lineup::new(
                launch.settings.following.schedule,
                launch.groups,
                invocations.div_ceil(width),
            ),
            marked: launch.allowance.is_some(),
            allowance: launch.allowance,
            starts: Vec::new(),
            workgroup: [0; 3],
            workgroup_index: 0,
            track_undefined: checks.has(FindingKind::UninitializedRead)
                || checks.has(FindingKind::UndefinedValue),
            origins: Origins::default(),
            track_races,
            paths: if launch.settings.variation.is_some() {
                vec![0; invocations]
            } else {
                Vec::new()
            },
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
    pub(super) fn fresh_workgroup_memory(&self) -> Store {
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
    pub(super) fn is_tile_by_tile(&self) -> bool {
        self.program.barriers.is_empty()
            && self.program.waits == Waits::Never
            && !self.lets_waiters_first()
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

    pub(super) fn per_lane(&self, what: PerLane, local: u32) -> u32 {
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
                self.workgroup[axis]
                    .wrapping_mul(self.program.local_size[axis])
                    .wrapping_add(id[axis])
            }
        }
    }

    fn local_id(&self, local: u32) -> [u32; 3] {
        let [columns, rows, _] = self.program.local_size;
        [local % columns, local / columns % rows, local / (columns * rows)]
    }

    pub(crate) fn invocation_of_rank(&self, rank: Rank) -> [u32; 3] {
        let (workgroup, local) = parts_of_rank(rank);
        self.invocation_of(workgroup, local)
    }

    /// Global invocation id of a local index in the current workgroup.
    pub(super) fn invocation(&self, local: u32) -> [u32; 3] {
        self.invocation_of(self.workgroup_index, local)
    }

    /// Global invocation id of a local index in a workgroup given by its linear index.
    pub(crate) fn invocation_of(&self, workgroup: u64, local: u32) -> [u32; 3] {
        let group = self.group_at(workgroup);
        let id = self.local_id(local);
        std::array::from_fn(|axis| {
            group[axis].wrapping_mul(self.program.local_size[axis]).wrapping_add(id[axis])
        })
    }

    /// Global invocation id behind a stamp.
    pub(super) fn stamped(&self, stamp: Stamp) -> [u32; 3] {
        let at = self.starts.partition_point(|(start, _)| *start <= stamp.time()).saturating_sub(1);
        self.invocation_of(self.starts.get(at).map_or(0, |(_, workgroup)| *workgroup), stamp.lane())
    }

    /// Whether an access was made in the workgroup that runs.
    pub(super) fn is_of_this_workgroup(&self, stamp: Stamp) -> bool {
        let at = self.starts.partition_point(|(start, _)| *start <= stamp.time());
        at.checked_sub(1).is_some_and(|at| self.starts[at].1 == self.workgroup_index)
    }

    pub(super) fn rank(&self, lane: usize) -> u64 {
        rank(self.workgroup_index, self.first_lane + lane as u32)
    }

    /// Exchanges the tile's registers with the machine's own.
    pub(super) fn exchange(&mut self, tile: &mut Tile) {
        let program = self.program;
        let shared_words = program.shared_words as usize;
        let shared_masks = program.shared_masks as usize * self.mask_words;
        self.words[shared_words..].swap_with_slice(&mut tile.words);
        self.masks[shared_masks..].swap_with_slice(&mut tile.masks);
        self.undefined_words[shared_words * self.mask_words..]
            .swap_with_slice(&mut tile.undefined_words);
        self.undefined_masks[shared_masks..].swap_with_slice(&mut tile.undefined_masks);
        std::mem::swap(&mut self.memory, &mut tile.memory);
        std::mem::swap(&mut self.memory_undefined, &mut tile.memory_undefined);
    }

    pub(super) fn report_undefined(&mut self, lanes: &Mask, place: u32, message: &str) {
        for lane in lanes.lanes() {
            let witness = self.invocation(self.first_lane + lane as u32);
            self.collector.add(FindingKind::UninitializedRead, [place, NOWHERE], 0, || Finding {
                invocations: vec![witness],
                ..Finding::new(FindingKind::UninitializedRead, message)
            });
        }
    }

    /// What a barrier orders under the memory model in force (see `docs/memory-model.md`).
    pub(super) fn ordered(&self, barrier: u32) -> Ordered {
        self.program.barriers[barrier as usize].fences.ordered(self.settings.memory_model)
    }

    pub(super) fn workgroups(&self) -> u64 {
        self.groups.iter().fold(1, |product: u64, count| product.saturating_mul(u64::from(*count)))
    }

    pub(super) fn group_at(&self, index: u64) -> [u32; 3] {
        let [columns, rows, _] = self.groups.map(u64::from);
        [index % columns, index / columns % rows, index / (columns * rows)].map(|at| at as u32)
    }
}

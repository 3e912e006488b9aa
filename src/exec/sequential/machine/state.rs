//! The state of a dispatch in progress.

use super::dispatch_memory::DispatchMemory;
use super::finding_collector::{FindingCollector, NOWHERE};
use super::image::workspace::ImageWorkspace;
use super::indirect_targets::IndirectTargets;
use super::monitor::Monitor;
use super::origins::UndefinedOrigins;
use super::printer::Printer;
use super::recorder::{Rank, Recorder, invocation_rank, parts_of_rank};
use super::regions::RegionCounts;
use super::registers::Registers;
use super::scheduler::Scheduler;
use super::spin_watch::SpinWatch;
use super::step_budget::{Deadline, StepBudget};
use super::workgroup_order::WorkgroupOrder;
use crate::ir::lane_mask::LaneMask;
use crate::ir::memory_semantics::{MemoryKinds, OrderedMemory};
use crate::ir::{PerLaneValue, Program, SpinWaits, UniformValue};
use crate::memory::definitions::{Definitions, FirstWriter};
use crate::memory::pair_tracking::PairTracker;
use crate::memory::race_shadow::{AccessStamp, RaceShadow};
use crate::memory::store::{BoundRange, IntervalClock, Store, shared_views};
use crate::settings::Settings;
use vkcert_exec::resource::JobSampler;
use vkcert_model::finding::{Finding, FindingKind};

/// A dispatch in progress.
pub(crate) struct Machine<'a> {
    pub program: &'a Program,
    pub(super) settings: Settings,
    pub registers: Registers,
    pub memory: DispatchMemory<'a>,
    pub monitor: Monitor,
    pub scheduler: Scheduler<'a>,
}

/// What a dispatch needs beside the program.
pub(crate) struct DispatchLaunch<'a> {
    pub settings: Settings,
    pub workgroup_counts: [u32; 3],
    pub stores: &'a mut [Store],
    pub slots: Vec<Option<BoundRange>>,
    pub samplers: &'a [JobSampler],
    pub push_constants: Store,
    /// Bytes of the job's buffers, which are the first of the stores.
    pub buffer_lengths: Vec<usize>,
    pub collector: FindingCollector,
    pub recorder: Recorder,
    pub steps_left: u64,
    pub deadline: Deadline,
    /// Where workgroups run on several cores: the steps of all of them, taken from as they are
    /// needed.
    pub step_budget: Option<&'a StepBudget>,
}

/// Bytes that a dispatch of `program` needs beside its buffers.
pub(crate) fn working_bytes(program: &Program, tile_width: u32) -> u64 {
    let invocations: u64 = program.local_size.iter().map(|size| u64::from(*size)).product();
    let tiles = invocations.div_ceil(u64::from(tile_width));
    let per_tile = (u64::from(program.words) + u64::from(program.invocation_words))
        * u64::from(tile_width)
        * 4;
    tiles.saturating_mul(per_tile).saturating_add(u64::from(program.workgroup_words) * 40)
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program, launch: DispatchLaunch<'a>) -> Self {
        let invocations = program.local_size.iter().map(|size| *size as usize).product::<usize>();
        let tile_width = (launch.settings.tile_width as usize).min(invocations).max(1);
        let DispatchLaunch {
            settings,
            workgroup_counts: groups,
            collector,
            step_budget: allowance,
            ..
        } = launch;
        let trace_count = if settings.variation.is_some() { invocations } else { 0 };
        let monitor = Monitor {
            track_races: collector.checks.has(FindingKind::DataRace),
            track_undefined: collector.checks.has(FindingKind::UninitializedRead)
                || collector.checks.has(FindingKind::UndefinedValue),
            collector,
            recorder: launch.recorder,
            printer: Printer::default(),
            regions: RegionCounts::new(program.barriers.len()),
            diverged: false,
            clock: IntervalClock::new(shared_views(&launch.slots)),
            workgroup_starts: Vec::new(),
            order: None,
            races: Vec::new(),
            noted_users: Vec::new(),
            aliasing: None,
            reads: None,
            pairs: None,
            marks_access_sets: allowance.is_some(),
            origins: UndefinedOrigins::default(),
            lane_traces: vec![0; trace_count],
        };
        let memory = DispatchMemory {
            stores: launch.stores,
            touched_words: vec![0; launch.slots.len()],
            slots: launch.slots,
            workgroup: Store::default(),
            push_constants: launch.push_constants,
            buffer_lengths: launch.buffer_lengths,
            samplers: launch.samplers,
            addresses: vec![0; tile_width].into(),
            offsets: vec![0; tile_width].into(),
            indirect_targets: IndirectTargets::default(),
            workspace: ImageWorkspace::default(),
        };
        let tile_count = invocations.div_ceil(tile_width);
        let scheduler = Scheduler {
            workgroup_counts: groups,
            workgroup_id: [0; 3],
            workgroup_index: 0,
            workgroup_order: WorkgroupOrder::new(settings.following.schedule, groups, tile_count),
            steps_left: launch.steps_left,
            step_budget: allowance,
            deadline: launch.deadline,
            spin_watch: SpinWatch::default(),
            directed_yield: None,
        };
        let registers = Registers::new(program, tile_width);
        let mut machine = Self { program, settings, registers, memory, monitor, scheduler };
        machine.fill_uniforms();
        machine.order_exactly();
        machine.memory.workgroup = machine.fresh_workgroup_memory();
        machine
    }

    /// Workgroup memory that nobody has used.
    pub(super) fn fresh_workgroup_memory(&self) -> Store {
        let word_count = self.program.workgroup_words as usize;
        let mut memory = Store::undefined_words(word_count);
        if self.monitor.track_races && word_count > 0 {
            let mut shadow = RaceShadow::new(word_count, self.program.granule);
            if let Some(order) = &self.monitor.order {
                shadow.order_exactly(order, MemoryKinds::WORKGROUP);
            }
            memory.shadow = Some(shadow);
        }
        if self.settings.variation.is_some() {
            memory.control_traces = Some(vec![0; word_count]);
        }
        if self.monitor.pairs.is_some() {
            memory.definitions = Some(self.workgroup_definitions());
        }
        memory
    }

    fn workgroup_definitions(&self) -> Definitions {
        Definitions::new(FirstWriter::Nobody, self.program.granule)
    }

    /// Follows from now on who reads what another side wrote.
    pub(crate) fn track_pairs(&mut self, pairs: Option<PairTracker>) {
        self.memory.workgroup.definitions = pairs.as_ref().map(|_| self.workgroup_definitions());
        self.monitor.pairs = pairs;
    }

    /// Whether the tiles of a workgroup run one after the other, each to its end.
    pub(super) fn is_tile_by_tile(&self) -> bool {
        self.program.barriers.is_empty()
            && self.program.spin_waits == SpinWaits::Never
            && !self.scheduler.lets_waiters_first()
    }

    /// Fills the registers that hold the same value in the whole dispatch.
    fn fill_uniforms(&mut self) {
        let program = self.program;
        for (uniform, reg) in &program.uniforms {
            let value = match uniform {
                UniformValue::Constant(value) => *value,
                UniformValue::PushConstant(word) => {
                    if self.memory.push_constants.is_undefined(*word as usize) {
                        let first_word = reg.0 as usize * self.registers.mask_words;
                        self.registers.undefined_words
                            [first_word..first_word + self.registers.mask_words]
                            .fill(u64::MAX);
                    }
                    self.memory.push_constants.words[*word as usize]
                }
                UniformValue::NumWorkgroups(axis) => {
                    self.scheduler.workgroup_counts[*axis as usize]
                }
                UniformValue::SubgroupSize => self.settings.subgroup_size,
                UniformValue::NumSubgroups => self.subgroups_of_workgroup(),
                UniformValue::WorkgroupId(_) => 0,
            };
            self.registers.words[reg.0 as usize].fill(value);
        }
        for (value, reg) in &program.uniform_masks {
            let first_word = reg.0 as usize * self.registers.mask_words;
            self.registers.masks[first_word..first_word + self.registers.mask_words]
                .fill(if *value { u64::MAX } else { 0 });
        }
    }

    pub(super) fn builtin_of_lane(&self, builtin_value: PerLaneValue, local_index: u32) -> u32 {
        // Lanes behind the last invocation repeat it, so that their addresses stay inside.
        let local_index = local_index.min(self.program.local_size.iter().product::<u32>() - 1);
        let local_id = self.local_id(local_index);
        match builtin_value {
            PerLaneValue::LocalIndex => local_index,
            PerLaneValue::SubgroupId
            | PerLaneValue::SubgroupInvocation
            | PerLaneValue::SubgroupMask(_, _) => self.subgroup_value(builtin_value, local_index),
            PerLaneValue::LocalId(axis) => local_id[axis as usize],
            PerLaneValue::GlobalId(axis) => {
                let axis = axis as usize;
                self.scheduler.workgroup_id[axis]
                    .wrapping_mul(self.program.local_size[axis])
                    .wrapping_add(local_id[axis])
            }
        }
    }

    fn local_id(&self, local_index: u32) -> [u32; 3] {
        let [columns, rows, _] = self.program.local_size;
        [local_index % columns, local_index / columns % rows, local_index / (columns * rows)]
    }

    pub(crate) fn global_id_of_rank(&self, rank: Rank) -> [u32; 3] {
        let (workgroup, local_index) = parts_of_rank(rank);
        self.global_id_of(workgroup, local_index)
    }

    /// Global invocation id of a local index in the current workgroup.
    pub(super) fn global_id(&self, local_index: u32) -> [u32; 3] {
        self.global_id_of(self.scheduler.workgroup_index, local_index)
    }

    /// Global invocation id of a local index in a workgroup given by its linear index.
    pub(crate) fn global_id_of(&self, workgroup_index: u64, local_index: u32) -> [u32; 3] {
        let workgroup_id = self.scheduler.group_at(workgroup_index);
        let local_id = self.local_id(local_index);
        std::array::from_fn(|axis| {
            workgroup_id[axis]
                .wrapping_mul(self.program.local_size[axis])
                .wrapping_add(local_id[axis])
        })
    }

    /// Global invocation id behind a stamp.
    pub(super) fn global_id_of_stamp(&self, stamp: AccessStamp) -> [u32; 3] {
        let start_index = self
            .monitor
            .workgroup_starts
            .partition_point(|(start, _)| *start <= stamp.time())
            .saturating_sub(1);
        self.global_id_of(
            self.monitor.workgroup_starts.get(start_index).map_or(0, |(_, workgroup)| *workgroup),
            stamp.lane(),
        )
    }

    /// Whether an access was made in the workgroup that runs.
    pub(super) fn is_of_this_workgroup(&self, stamp: AccessStamp) -> bool {
        let start_index =
            self.monitor.workgroup_starts.partition_point(|(start, _)| *start <= stamp.time());
        start_index.checked_sub(1).is_some_and(|start_index| {
            self.monitor.workgroup_starts[start_index].1 == self.scheduler.workgroup_index
        })
    }

    pub(super) fn rank_of_lane(&self, lane: usize) -> u64 {
        invocation_rank(self.scheduler.workgroup_index, self.registers.first_lane + lane as u32)
    }

    pub(super) fn report_undefined(&mut self, lanes: &LaneMask, source_index: u32, message: &str) {
        for lane in lanes.lanes() {
            let global_id = self.global_id(self.registers.first_lane + lane as u32);
            self.monitor.collector.add_occurrence(
                FindingKind::UninitializedRead,
                [source_index, NOWHERE],
                0,
                || Finding {
                    invocations: vec![global_id],
                    ..Finding::new(FindingKind::UninitializedRead, message)
                },
            );
        }
    }

    /// What a barrier orders under the memory model in force (see `docs/memory-model.md`).
    pub(super) fn barrier_order(&self, barrier_index: u32) -> OrderedMemory {
        self.program.barriers[barrier_index as usize]
            .fences
            .ordered_memory(self.settings.memory_model)
    }
}

//! The state of a dispatch in progress.

use super::dispatch_memory::DispatchMemory;
use super::finding_collector::{Collector, NOWHERE};
use super::image::workspace::Workspace;
use super::indirect_targets::Detour;
use super::monitor::Monitor;
use super::origins::Origins;
use super::printer::Printer;
use super::recorder::{Rank, Recorder, parts_of_rank, rank};
use super::regions::RegionCounts;
use super::registers::Registers;
use super::scheduler::Scheduler;
use super::spin_watch::Watch;
use super::step_budget::{Allowance, Deadline};
use super::workgroup_order::Lineup;
use crate::ir::lane_mask::LaneMask;
use crate::ir::memory_semantics::{MemoryKinds, OrderedMemory};
use crate::ir::{PerLaneValue, Program, SpinWaits, UniformValue};
use crate::memory::race_shadow::{AccessStamp, AtomicUse, RaceShadow};
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
pub(crate) struct Launch<'a> {
    pub settings: Settings,
    pub groups: [u32; 3],
    pub stores: &'a mut [Store],
    pub slots: Vec<Option<BoundRange>>,
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
        let Launch { settings, groups, collector, allowance, .. } = launch;
        let traces = if settings.variation.is_some() { invocations } else { 0 };
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
            starts: Vec::new(),
            order: None,
            races: Vec::new(),
            users: Vec::new(),
            aliasing: None,
            reads: None,
            marked: allowance.is_some(),
            origins: Origins::default(),
            paths: vec![0; traces],
        };
        let memory = DispatchMemory {
            stores: launch.stores,
            touched: vec![0; launch.slots.len()],
            slots: launch.slots,
            workgroup: Store::default(),
            push_constants: launch.push_constants,
            lengths: launch.lengths,
            samplers: launch.samplers,
            addresses: vec![0; width].into(),
            offsets: vec![0; width].into(),
            detour: Detour::default(),
            workspace: Workspace::default(),
        };
        let tiles = invocations.div_ceil(width);
        let scheduler = Scheduler {
            groups,
            workgroup: [0; 3],
            workgroup_index: 0,
            lineup: Lineup::new(settings.following.schedule, groups, tiles),
            steps_left: launch.steps_left,
            allowance,
            deadline: launch.deadline,
            watch: Watch::default(),
            yielding: None,
        };
        let registers = Registers::new(program, width);
        let mut machine = Self { program, settings, registers, memory, monitor, scheduler };
        machine.fill_uniforms();
        machine.order_exactly();
        machine.memory.workgroup = machine.fresh_workgroup_memory();
        machine
    }

    /// Workgroup memory that nobody has used.
    pub(super) fn fresh_workgroup_memory(&self) -> Store {
        let words = self.program.workgroup_words as usize;
        let mut memory = Store::undefined_words(words);
        if self.monitor.track_races && words > 0 {
            let mut shadow = RaceShadow::new(words, AtomicUse::WithAtomics, self.program.granule);
            if let Some(order) = &self.monitor.order {
                shadow.order_exactly(order, MemoryKinds::WORKGROUP);
            }
            memory.shadow = Some(shadow);
        }
        if self.settings.variation.is_some() {
            memory.control_traces = Some(vec![0; words]);
        }
        memory
    }

    /// Whether the tiles of a workgroup run one after the other, each to its end.
    pub(super) fn is_tile_by_tile(&self) -> bool {
        self.program.barriers.is_empty()
            && self.program.waits == SpinWaits::Never
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
                        let first = reg.0 as usize * self.registers.mask_words;
                        self.registers.undefined_words[first..first + self.registers.mask_words]
                            .fill(u64::MAX);
                    }
                    self.memory.push_constants.words[*word as usize]
                }
                UniformValue::NumWorkgroups(axis) => self.scheduler.groups[*axis as usize],
                UniformValue::SubgroupSize => self.settings.subgroup_size,
                UniformValue::NumSubgroups => self.subgroups_of_workgroup(),
                UniformValue::WorkgroupId(_) => 0,
            };
            self.registers.words[reg.0 as usize].fill(value);
        }
        for (value, reg) in &program.uniform_masks {
            let first = reg.0 as usize * self.registers.mask_words;
            self.registers.masks[first..first + self.registers.mask_words].fill(if *value {
                u64::MAX
            } else {
                0
            });
        }
    }

    pub(super) fn per_lane(&self, what: PerLaneValue, local: u32) -> u32 {
        // Lanes behind the last invocation repeat it, so that their addresses stay inside.
        let local = local.min(self.program.local_size.iter().product::<u32>() - 1);
        let id = self.local_id(local);
        match what {
            PerLaneValue::LocalIndex => local,
            PerLaneValue::SubgroupId
            | PerLaneValue::SubgroupInvocation
            | PerLaneValue::SubgroupMask(_, _) => self.subgroup_value(what, local),
            PerLaneValue::LocalId(axis) => id[axis as usize],
            PerLaneValue::GlobalId(axis) => {
                let axis = axis as usize;
                self.scheduler.workgroup[axis]
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
        self.invocation_of(self.scheduler.workgroup_index, local)
    }

    /// Global invocation id of a local index in a workgroup given by its linear index.
    pub(crate) fn invocation_of(&self, workgroup: u64, local: u32) -> [u32; 3] {
        let group = self.scheduler.group_at(workgroup);
        let id = self.local_id(local);
        std::array::from_fn(|axis| {
            group[axis].wrapping_mul(self.program.local_size[axis]).wrapping_add(id[axis])
        })
    }

    /// Global invocation id behind a stamp.
    pub(super) fn stamped(&self, stamp: AccessStamp) -> [u32; 3] {
        let at = self
            .monitor
            .starts
            .partition_point(|(start, _)| *start <= stamp.time())
            .saturating_sub(1);
        self.invocation_of(
            self.monitor.starts.get(at).map_or(0, |(_, workgroup)| *workgroup),
            stamp.lane(),
        )
    }

    /// Whether an access was made in the workgroup that runs.
    pub(super) fn is_of_this_workgroup(&self, stamp: AccessStamp) -> bool {
        let at = self.monitor.starts.partition_point(|(start, _)| *start <= stamp.time());
        at.checked_sub(1)
            .is_some_and(|at| self.monitor.starts[at].1 == self.scheduler.workgroup_index)
    }

    pub(super) fn rank(&self, lane: usize) -> u64 {
        rank(self.scheduler.workgroup_index, self.registers.first_lane + lane as u32)
    }

    pub(super) fn report_undefined(&mut self, lanes: &LaneMask, place: u32, message: &str) {
        for lane in lanes.lanes() {
            let witness = self.invocation(self.registers.first_lane + lane as u32);
            self.monitor.collector.add(FindingKind::UninitializedRead, [place, NOWHERE], 0, || {
                Finding {
                    invocations: vec![witness],
                    ..Finding::new(FindingKind::UninitializedRead, message)
                }
            });
        }
    }

    /// What a barrier orders under the memory model in force (see `docs/memory-model.md`).
    pub(super) fn ordered(&self, barrier: u32) -> OrderedMemory {
        self.program.barriers[barrier as usize].fences.ordered_memory(self.settings.memory_model)
    }
}

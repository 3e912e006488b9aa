//! The checks of a dispatch and what they collect: findings, records, printed lines, the order of
//! accesses, races, undefined values, control-flow traces.
//!
//! Knows: nothing here changes what a kernel computes; a run without checks leaves the same memory.
//! Does not cover: whether an invocation makes progress (`spin_watch`), which decides what runs.

use super::clash::RacingPair;
use super::finding_collector::FindingCollector;
use super::origins::UndefinedOrigins;
use super::printer::Printer;
use super::recorder::Recorder;
use super::regions::RegionCounts;
use crate::ir::atomic::AccessKind;
use crate::memory::aliasing::Aliasing;
use crate::memory::pair_tracking::PairTracker;
use crate::memory::read_tracking::ReadTracker;
use crate::memory::store::IntervalClock;
use crate::memory::vector_clocks::HappensBefore;
use std::cell::RefCell;
use std::rc::Rc;
use vkcert_model::index_range::IndexRange;

/// What is noticed of a dispatch.
pub(crate) struct Monitor {
    pub collector: FindingCollector,
    pub recorder: Recorder,
    pub printer: Printer,
    pub regions: RegionCounts,
    /// Whether any barrier was divergent.
    pub diverged: bool,
    pub(crate) clock: IntervalClock,
    /// First time of each workgroup so far, and its linear index.
    pub(super) workgroup_starts: Vec<(u32, u64)>,
    /// What orders accesses, where races are looked for and barriers of workgroups are not all.
    pub(crate) order: Option<Rc<RefCell<HappensBefore>>>,
    pub(super) track_races: bool,
    /// Races of the access that runs.
    pub(super) races: Vec<RacingPair>,
    /// Lane, bytes and kind of each access of the instruction that runs, where that is noted.
    pub(super) noted_users: Vec<(usize, IndexRange, AccessKind)>,
    /// Where `restrict` variables overlap others.
    pub(crate) aliasing: Option<Aliasing>,
    /// The bytes that are read, where that is asked for.
    pub(crate) reads: Option<ReadTracker>,
    /// Who reads what another side wrote, where that is followed.
    pub(crate) pairs: Option<PairTracker>,
    /// Whether stores keep access sets, because workgroups run on several cores.
    pub(super) marks_access_sets: bool,
    pub(super) track_undefined: bool,
    pub(super) origins: UndefinedOrigins,
    /// By local index: the control-flow trace of the invocation so far (see `control_trace`);
    /// empty in an ordinary run.
    pub(super) lane_traces: Vec<u64>,
}

impl Monitor {
    /// Whether the lanes and bytes of accesses are noted.
    pub(super) fn notes_users(&self) -> bool {
        self.aliasing.is_some() || self.reads.is_some()
    }
}

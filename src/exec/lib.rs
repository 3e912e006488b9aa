//! Engines: run a prepared job, report buffers, coverage records and findings.
//!
//! Knows: what a job is once every file is read, checked and laid out (`Job`), and what an engine
//! gives back (`Run`).
//! Promises: an engine never changes a job; a trap in the kernel under test is a result
//! (`Completion`), `ExecError` means that the tool itself failed.
//! Does not cover: expectations and verdicts (`requirement::judge`), decoding of records
//! (`instrument`).

pub mod access_pairs;
pub mod alteration;
pub mod comparison;
pub mod flow;
pub mod judge;
pub mod judged_bytes;
pub mod prepare;
pub mod repeat;
pub mod resource;
pub mod schedule;
pub mod stored;
pub mod variation;

use access_pairs::{AccessPairs, PairTracking};
use repeat::{Results, Variant};
use resource::{JobResources, JobView};
use schedule::Following;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use variation::Variation;
use vkcert_model::evidence::LoweringDecision;
use vkcert_model::finding::{Checks, Finding, RaceScope};
use vkcert_model::id::ModuleKey;
use vkcert_model::invocations::InvocationRecords;
use vkcert_model::printed::Printed;
use vkcert_model::procedure::{DescriptorClass, Limits};
use vkcert_model::records::{MarkerTable, RecordBuffer, Records};
use vkcert_model::schedule::Extent;
use vkcert_model::verdict::EngineName;

/// Everything an engine needs to run one test: modules, buffers, dispatches in order, limits.
#[derive(Debug, Clone)]
pub struct Job {
    /// For messages: the test's id.
    pub name: String,
    /// Modules, one per kernel and specialization.
    pub modules: Vec<JobModule>,
    /// Buffers, and contents of images, by index.
    pub buffers: Vec<JobBuffer>,
    /// Which of the buffers are images, samplers, stored addresses.
    pub resources: JobResources,
    /// Run in order with a full memory barrier between them.
    pub dispatches: Vec<JobDispatch>,
    /// Limits of the run.
    pub limits: Limits,
    /// Findings that are looked for.
    pub checks: Checks,
}

/// A module with the way its coverage is recorded.
#[derive(Debug, Clone)]
pub struct JobModule {
    /// Records, findings and counts are keyed by it.
    pub key: ModuleKey,
    /// The SPIR-V module, validated.
    pub words: Arc<Vec<u32>>,
    /// What of it is recorded, and how.
    pub recording: ModuleRecording,
}

/// What of a module's execution is recorded.
#[derive(Debug, Clone)]
pub enum ModuleRecording {
    /// Production and traced modules: nothing is recorded.
    None,
    /// The marked module; the sequential engine executes marker calls natively.
    Markers(Arc<MarkerTable>),
    /// The instrumented module; the engine binds a record buffer at `set`/`binding` and reads it
    /// back.
    Buffer(RecordBuffer),
}

impl ModuleRecording {
    /// What the sequential engine records by.
    pub fn markers(&self) -> Option<&Arc<MarkerTable>> {
        match self {
            ModuleRecording::Markers(table) => Some(table),
            ModuleRecording::None | ModuleRecording::Buffer(_) => None,
        }
    }
}

/// Bytes of a buffer; runs and variants of a job share them.
pub type BufferContents = Arc<Vec<u8>>;

/// A buffer with its initial contents.
#[derive(Debug, Clone)]
pub struct JobBuffer {
    /// Name in the test, as messages and outputs have it.
    pub name: String,
    /// Initial contents; undefined bytes hold 0xCD.
    pub bytes: BufferContents,
    /// Byte ranges whose contents the test defines, ascending and disjoint; the rest is
    /// uninitialised.
    pub defined: Vec<std::ops::Range<usize>>,
}

/// One dispatch command with all that is bound to it.
#[derive(Debug, Clone)]
pub struct JobDispatch {
    /// Index into `Job::modules`.
    pub module: usize,
    /// Name of the entry point.
    pub entry: String,
    /// Workgroup counts, each at least 1.
    pub groups: [u32; 3],
    /// What is bound to descriptors.
    pub bindings: Vec<JobBinding>,
    /// Push-constant bytes with the ranges that are defined.
    pub push_constants: Vec<u8>,
    /// Byte ranges of them that are defined, ascending and disjoint.
    pub push_constants_defined: Vec<std::ops::Range<usize>>,
    /// Raw bits by specialization id (`SpecId`); ids of the module that are absent keep their
    /// default.
    pub specialization: BTreeMap<u32, u64>,
    /// Subgroup size for engines that can choose; none: the engine's default.
    pub subgroup_size: Option<u32>,
}

/// What is bound to a descriptor: a buffer range, an image, a sampler.
#[derive(Debug, Clone, PartialEq)]
pub struct JobBinding {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Index in an array of descriptors; 0 where it is none.
    pub array_index: u32,
    /// Descriptor type.
    pub class: DescriptorClass,
    /// What the descriptor shows of the buffer.
    pub view: JobView,
    /// Index into `Job::buffers`; 0 for a sampler.
    pub buffer: usize,
    /// Bytes; 0 for images and samplers.
    pub offset: u64,
    /// Bytes; 0 for images and samplers.
    pub range: u64,
    /// Added to `offset` for the dynamic classes.
    pub dynamic_offset: u64,
}

impl JobBinding {
    /// A storage buffer, bound from its first byte on for `range` bytes.
    pub fn storage(set: u32, binding: u32, buffer: usize, range: u64) -> Self {
        let (class, view) = (DescriptorClass::Storage, JobView::Bytes);
        Self {
            set,
            binding,
            array_index: 0,
            class,
            view,
            buffer,
            offset: 0,
            range,
            dynamic_offset: 0,
        }
    }
}

/// What a run gives back.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// How it ended.
    pub completion: Completion,
    /// Final contents by index of `Job::buffers`; empty where the run did not get that far.
    pub buffers: Vec<BufferContents>,
    /// Sorted, without duplicates.
    pub findings: Vec<Finding>,
    /// Only of modules that record.
    pub records: BTreeMap<ModuleKey, Records>,
    /// What a reader of the result should know though it is no finding, as sentences; sorted,
    /// without duplicates.
    pub notes: Vec<String>,
    /// Of engines that print.
    pub printed: Printed,
    /// Whether the data races are those of every schedule, or of this one; of engines that look for
    /// them.
    pub race_scope: Option<RaceScope>,
}

impl Run {
    /// A run that ended before anything was produced.
    pub fn ended(completion: Completion) -> Self {
        Self {
            completion,
            buffers: Vec::new(),
            findings: Vec::new(),
            records: BTreeMap::new(),
            notes: Vec::new(),
            printed: Printed::default(),
            race_scope: None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Completion {
    /// All dispatches were executed to their end.
    Completed,
    /// A device did not finish within `limits.seconds` and its worker was killed, or the sequential
    /// engine not within its time limit.
    Timeout {
        /// Which limit it was, in words.
        reason: String,
    },
    /// `limits.steps` was reached.
    NoTermination {
        /// Which limit it was, in words.
        reason: String,
    },
    /// A named SPIR-V instruction, capability or device feature is missing.
    Unsupported {
        /// What is missing, by name.
        what: String,
    },
    /// The run broke in a way that the kernel is answerable for (barrier divergence).
    Error {
        /// What happened, in words.
        reason: String,
    },
    /// The driver lost the device while the kernel ran, for which the kernel is answerable too.
    DeviceLost {
        /// What the driver said, in words.
        reason: String,
    },
    /// A limit other than time or steps was exceeded, or the records cannot be trusted.
    Undetermined {
        /// Which limit it was, or why the records cannot be trusted.
        reason: String,
    },
    /// Repetitions of the job left different buffers or records.
    Varying {
        /// What differs, in words.
        reason: String,
    },
}

impl Completion {
    /// Why the run did not complete, or what is missing for it; none of one that completed.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Completed => None,
            Self::Timeout { reason }
            | Self::NoTermination { reason }
            | Self::Unsupported { what: reason }
            | Self::Error { reason }
            | Self::DeviceLost { reason }
            | Self::Undetermined { reason }
            | Self::Varying { reason } => Some(reason),
        }
    }

    /// The same completion for another reason.
    pub fn with_reason(&self, reason: String) -> Self {
        match self {
            Self::Completed => Self::Completed,
            Self::Timeout { .. } => Self::Timeout { reason },
            Self::NoTermination { .. } => Self::NoTermination { reason },
            Self::Unsupported { .. } => Self::Unsupported { what: reason },
            Self::Error { .. } => Self::Error { reason },
            Self::DeviceLost { .. } => Self::DeviceLost { reason },
            Self::Undetermined { .. } => Self::Undetermined { reason },
            Self::Varying { .. } => Self::Varying { reason },
        }
    }
}

/// As findings word it: a device that was lost is an error of the run.
impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeviceLost { reason } => write!(f, "Error {{ reason: {reason:?} }}"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// The tool failed (exit code 3); never caused by the kernel under test.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// An engine failed.
    #[error("the {engine} engine failed: {message}")]
    Engine {
        /// Which engine.
        engine: EngineName,
        /// How it failed, in one sentence.
        message: String,
    },
    /// The Vulkan engine has no device to run on.
    #[error("no usable device: {reason}")]
    NoDevice {
        /// Why, in words.
        reason: String,
        /// Whether another choice of device would help.
        absence: DeviceAbsence,
    },
}

/// What of a device is missing, for the advice that helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceAbsence {
    /// There are devices, and none is the one that was named.
    NoneMatches,
    /// Loader, driver, device or worker cannot be used.
    NoneUsable,
}

/// What the sequential engine counts beside a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counts {
    /// Loop decisions that only the lowering has.
    pub lowering: BTreeMap<ModuleKey, Vec<LoweringDecision>>,
    /// By dispatch, then set and binding: bytes of the bound range up to the last one that was
    /// accessed.
    pub touched: Vec<BTreeMap<(u32, u32), u64>>,
    /// What was read that another side had written, where the request asks for it.
    pub access_pairs: AccessPairs,
}

/// A run that an engine is asked for.
#[derive(Debug, Clone, Copy)]
pub struct RunRequest<'a> {
    /// What is run.
    pub job: &'a Job,
    /// The schedule of its dispatches, on an engine that has extents; none: as the engine is set
    /// up.
    pub following: Option<Following>,
    /// How it departs from the ordinary run, on an engine that can depart; none: as the engine is
    /// set up.
    pub variation: Option<Variation>,
    /// How often the job runs, each time from its initial contents, or until a run does not
    /// complete.
    pub repetitions: NonZeroU32,
    /// Whether to follow who reads what another side wrote, on an engine that sees accesses.
    pub pair_tracking: PairTracking,
}

impl<'a> RunRequest<'a> {
    /// The job once, as the engine is set up.
    pub fn once(job: &'a Job) -> Self {
        Self {
            job,
            following: None,
            variation: None,
            repetitions: NonZeroU32::MIN,
            pair_tracking: PairTracking::Off,
        }
    }
}

/// What a request came to.
#[derive(Debug)]
pub struct RunOutcome {
    /// All repetitions together; [`Completion::Varying`] where they differ.
    pub run: Run,
    /// Those of the first repetition.
    pub counts: Counts,
    /// The different results, where completed repetitions left several.
    pub variants: Vec<Variant>,
    /// Repetitions that were started.
    pub started: u32,
}

impl RunOutcome {
    /// A run that ended before anything was produced.
    pub fn ended(completion: Completion) -> Self {
        let (counts, variants) = (Counts::default(), Vec::new());
        Self { run: Run::ended(completion), counts, variants, started: 1 }
    }
}

/// Runs prepared jobs.
pub trait Executor {
    /// Which engine it is.
    fn name(&self) -> EngineName;

    /// Runs a job as it is asked for. Counts are those of the first repetition, nothing from an
    /// engine that does not see every access and loop; only it is observed, but for findings.
    fn execute(
        &mut self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Results, Counts), ExecError>;

    /// The same, with what all repetitions come to.
    fn answer(
        &mut self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<RunOutcome, ExecError> {
        let (results, counts) = self.execute(request, observer)?;
        let started = results.started_count();
        let (run, variants) = results.into_outcome(request.job, request.repetitions);
        Ok(RunOutcome { run, counts, variants, started })
    }

    /// Runs `job` once and reports events to `observer`.
    fn run(&mut self, job: &Job, observer: &mut dyn Observer) -> Result<Run, ExecError> {
        Ok(self.answer(&RunRequest::once(job), observer)?.run)
    }

    /// Runs a job once and tells which invocations recorded some bits of its modules: of modules
    /// that record natively, or in slots.
    fn run_by_invocation(
        &mut self,
        _request: &RunRequest<'_>,
        _bits: &BTreeSet<u32>,
    ) -> Result<(Run, InvocationRecords), ExecError> {
        let what = "records by invocation".to_owned();
        Ok((Run::ended(Completion::Unsupported { what }), InvocationRecords::new()))
    }

    /// How large each dispatch of a job is, on an engine that puts workgroups and invocations in
    /// order itself; nothing from one that leaves their order to a device.
    fn extents(&mut self, _job: &Job) -> Result<Option<Vec<Extent>>, ExecError> {
        Ok(None)
    }
}

/// Sees a run's events, for progress displays and traces. Every method has an empty default.
pub trait Observer {
    /// Dispatch `index` of the job starts.
    fn dispatch_started(&mut self, _index: usize) {}
    /// A workgroup of the current dispatch is complete (sequential engine only).
    fn workgroup_completed(&mut self, _workgroup: [u32; 3]) {}
    /// A finding was made for the first time.
    fn finding(&mut self, _finding: &Finding) {}
}

/// An observer that looks away.
pub struct Unobserved;
impl Observer for Unobserved {}

//! What the parent and its device worker say to each other.
//!
//! Knows: the wire types, which are our own, so that a change of the job types cannot silently
//! change the protocol.
//! Does not cover: how a message travels (`frame`), who waits how long (`process`), what a message
//! means for a test (`executor`).

use super::identity::{DeviceChoice, DeviceIdentity, NoVulkan};
use super::settings::LoopCounting;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_exec::resource::{JobAddress, JobSampler, JobView};
use vkcert_instrument::RecordForm;
use vkcert_model::image::ImageShape;
use vkcert_model::invocations::Ranks;
use vkcert_model::procedure::DescriptorClass;

/// Upper bound of a request's payload in bytes; more is refused by the worker.
pub(crate) const REQUEST_LIMIT: u64 = 8 << 30;

/// Room in a reply for everything but buffer contents and records: messages are bounded by the
/// worker.
pub(crate) const REPLY_SLACK: u64 = 16 << 20;

/// From the parent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Always first: open a device and prove it alive.
    Open(Open),
    /// Describe every device.
    List,
    /// Run the job so many times, each time from its initial contents.
    Run { job: WireJob, repetitions: u32 },
    /// Run the jobs in turn, `repetitions` times, and time each.
    Measure { jobs: Vec<WireJob>, repetitions: u32 },
    /// Destroy everything, report what the validation layer says about that, end.
    Close,
}

/// From the worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    Opened(Box<Opened>),
    Unavailable(NoVulkan),
    Listed(Vec<DeviceIdentity>),
    /// Where the current request has got to; in the order of [`Phase`].
    Reached(Phase),
    Ran(WireRuns),
    Measured {
        ending: Ending,
        times: Vec<Vec<WireTime>>,
        fitness: Fitness,
    },
    Closed(Vec<WireMessage>),
    /// The worker itself failed (a defect of the tool).
    Failed(String),
}

/// Stations of one request, in this order; the parent's patience depends on them. A station may be
/// passed in silence where it takes no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Phase {
    /// Counted from 0.
    pub repetition: u32,
    pub stage: Stage,
}

/// Stations of one repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// Checking, compiling pipelines, filling buffers.
    Preparing,
    /// On a device that cuts loops off: the dispatch with this index runs in its loop-counting
    /// form.
    Counting(u32),
    /// The dispatch with this index was handed to the device.
    Dispatched(u32),
    /// Every dispatch has ended; contents are read back.
    Collecting,
}

impl Phase {
    pub(crate) const START: Self = Self { repetition: 0, stage: Stage::Preparing };
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Open {
    pub device: DeviceChoice,
    pub validation: super::settings::ValidationLayers,
    pub robustness: super::robustness::Robustness,
    /// [`super::Settings::api_limit`]
    pub api_limit: Option<(u32, u32)>,
    /// [`super::Settings::memory`]
    pub memory: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Opened {
    pub identity: DeviceIdentity,
    /// Name and version of the validation layer in use; none: off or not installed.
    pub layer: Option<String>,
    /// Iterations after which the device ends a kernel's loops by itself; none: not within the
    /// probe.
    pub loop_limit: Option<u32>,
    /// Which robustness features are on.
    pub robustness: super::robustness::Granted,
    /// What the layer, loader and driver said while starting.
    pub messages: Vec<WireMessage>,
    /// What the user may want to know and no result depends on.
    pub notes: Vec<String>,
}

/// SHA-256 over a module's words in little-endian bytes.
pub(crate) type Digest = [u8; 32];

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WireJob {
    pub name: String,
    /// Whether the worker first forgets the modules it has been sent.
    pub cache: Cache,
    /// Most bytes that buffers and records may take together.
    pub memory_bytes: u64,
    pub modules: Vec<WireModule>,
    pub buffers: Vec<Bytes>,
    pub images: Vec<WireImage>,
    pub samplers: Vec<JobSampler>,
    pub addresses: Vec<JobAddress>,
    pub dispatches: Vec<WireDispatch>,
    pub loop_counting: LoopCounting,
    /// Bits of modules with slots of which it is asked who recorded them.
    pub asked: BTreeSet<u32>,
}

/// One of the job's buffers is the contents of an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WireImage {
    /// For messages.
    pub name: String,
    pub buffer: u32,
    pub shape: ImageShape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cache {
    Keep,
    Forget,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WireModule {
    pub kernel: String,
    pub digest: Digest,
    /// The words as little-endian bytes; absent where this worker has had them before.
    pub words: Option<Bytes>,
    pub records: Option<RecordSlot>,
}

/// Where a record buffer is bound, and its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordSlot {
    pub set: u32,
    pub binding: u32,
    pub form: RecordForm,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WireDispatch {
    pub module: u32,
    pub entry: String,
    pub groups: [u32; 3],
    pub bindings: Vec<WireBinding>,
    pub push_constants: Bytes,
    pub specialization: Vec<(u32, u64)>,
    pub subgroup_size: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WireBinding {
    pub set: u32,
    pub binding: u32,
    pub array_index: u32,
    pub class: DescriptorClass,
    pub view: JobView,
    pub buffer: u32,
    pub offset: u64,
    pub range: u64,
    pub dynamic_offset: u64,
}

/// A storage buffer of `range` bytes, bound whole.
pub(crate) fn storage_binding(
    set: u32,
    binding: u32,
    buffer_index: u32,
    byte_count: u64,
) -> WireBinding {
    let (class, array_index, offset, dynamic_offset) = (DescriptorClass::Storage, 0, 0, 0);
    let view = JobView::Bytes;
    WireBinding {
        set,
        binding,
        array_index,
        class,
        view,
        buffer: buffer_index,
        offset,
        range: byte_count,
        dynamic_offset,
    }
}

/// How a run ended, as far as a living worker can tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ending {
    Completed,
    /// The driver ended a loop by itself.
    CutOff(String),
    Unsupported(String),
    Error(String),
    DeviceLost(String),
    Undetermined(String),
}

/// Whether the worker can take another job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Fitness {
    #[default]
    Fit,
    /// The device is lost or out of order: replace the worker.
    Spent,
}

/// The repetitions of a job, up to the first that did not complete.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct WireRuns {
    pub fitness: Fitness,
    /// Each different one once.
    pub different: Vec<WireRun>,
    /// By repetition: index of what it left.
    pub of: Vec<u32>,
}

impl WireRuns {
    /// A request that came to nothing in a repetition; what those before it left is lost.
    pub(crate) fn ended_in(repetition: u32, ending: Ending, fitness: Fitness) -> Self {
        Self {
            fitness,
            different: vec![WireRun::ended(ending)],
            of: vec![0; repetition as usize + 1],
        }
    }

    pub(crate) fn add_run(&mut self, run: WireRun) {
        let known_index = self.different.iter().position(|known_run| *known_run == run);
        let run_index = known_index.unwrap_or(self.different.len());
        if known_index.is_none() {
            self.different.push(run);
        }
        self.of.push(run_index as u32);
    }

    /// What the first repetition left.
    pub(crate) fn into_first(self) -> WireRun {
        self.different
            .into_iter()
            .next()
            .unwrap_or_else(|| WireRun::ended(Ending::Error("nothing ran".to_owned())))
    }
}

/// What one repetition left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireRun {
    pub ending: Ending,
    /// By index of the job's buffers; empty where the run did not get that far.
    pub buffers: Vec<Bytes>,
    /// By module index, united over the dispatches.
    pub records: Vec<WireRecords>,
    /// Who recorded the bits that are asked for.
    pub invocations: Vec<WireInvocations>,
    pub messages: Vec<WireMessage>,
    pub trespasses: Vec<Trespass>,
}

impl WireRun {
    pub(crate) fn ended(ending: Ending) -> Self {
        Self {
            ending,
            buffers: Vec::new(),
            records: Vec::new(),
            invocations: Vec::new(),
            messages: Vec::new(),
            trespasses: Vec::new(),
        }
    }
}

/// What the dispatches of one module recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireRecords {
    pub module: u32,
    /// Data words.
    pub words: Vec<u32>,
    /// Bit and global invocation id.
    pub witnesses: Vec<(u32, [u32; 3])>,
}

/// Who recorded the bits that are asked for, in one dispatch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireInvocations {
    pub dispatch: u32,
    pub local_size: [u32; 3],
    pub by_bit: BTreeMap<u32, Ranks>,
}

/// A message of the validation layer, with how often it came.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct WireMessage {
    pub severity: Severity,
    /// The message's id name, e.g. a VUID; empty where it has none.
    pub id: String,
    pub text: String,
    pub count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Severity {
    Error,
    Warning,
}

/// Bytes that changed during a run though no dispatch may write to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trespass {
    /// Index of the job's buffers.
    pub buffer: u32,
    pub side: Side,
    /// Distance in bytes between the buffer's edge and the nearest changed byte (0: directly beside
    /// it); within the buffer, between its start and the first changed byte.
    pub distance: u64,
    /// Changed bytes.
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Side {
    /// In the guard zone before the buffer.
    Before,
    /// In the guard zone behind it.
    Behind,
    /// In the buffer, where nothing binds it.
    Within,
}

/// One timed run of a job, in milliseconds, summed over its dispatches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WireTime {
    /// From submission until the host has seen the fence.
    pub wall: f64,
    /// Between the device's own timestamps; none where its queue has none.
    pub device: Option<f64>,
}

/// A byte string that travels as one block.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Bytes(pub Arc<Vec<u8>>);

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(bytes))
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Block;
        impl Visitor<'_> for Block {
            type Value = Bytes;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a byte string")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes::from(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Block)
    }
}

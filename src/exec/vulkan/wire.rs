//! Jobs as the worker gets them, and runs as the engine gives them back.
//!
//! Knows: which words are sent (a module travels once per worker), and what a worker's answer or
//! loss means for a test.
//! Promises: findings are sorted; every reason names the dispatch and is the same in every run.

use super::conversation::{describe_loss, tool};
use super::process::Loss;
use super::protocol::{
    Bytes, Cache, Digest, Ending, REPLY_SLACK, RecordSlot, Severity, Side, Stage, Trespass,
    WireBinding, WireDispatch, WireImage, WireInvocations, WireJob, WireMessage, WireModule,
    WireRecords, WireRun,
};
use sha2::Digest as _;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_exec::resource::JobImage;
use vkcert_exec::{
    Completion, ExecError, Job, JobBinding, JobDispatch, JobModule, ModuleRecording, Run,
};
use vkcert_instrument::{CanaryError, RecordForm, check_bits};
use vkcert_model::finding::Finding;
use vkcert_model::finding_details::{
    AccessKind, AccessedMemory, GuardSide, GuardZoneDetails, LayerMessage, MessageSeverity,
    OutOfBoundsDetails,
};
use vkcert_model::id::ModuleKey;
use vkcert_model::invocations::{DispatchInvocations, InvocationRecords};
use vkcert_model::printed::Printed;
use vkcert_model::records::Records;

/// Why a job is not even sent; none: it is.
pub(crate) fn refuse(job: &Job) -> Option<Completion> {
    let bytes: u64 = job.buffers.iter().map(|buffer| buffer.bytes.len() as u64).sum();
    let most = job.limits.memory_bytes;
    if bytes > most {
        let reason =
            format!("the buffers take {bytes} bytes, and the test's memory_bytes is {most}");
        return Some(Completion::Undetermined { reason });
    }
    // Their contents cannot be copied from and to buffers (Vulkan specification,
    // vkCmdCopyBufferToImage).
    let image = job.resources.images.iter().find(|image| image.shape.samples > 1)?;
    let (name, samples) = (&job.buffers[image.buffer as usize].name, image.shape.samples);
    let what = format!(
        "multisampled images on the device engine (`{name}` has {samples} samples per texel)"
    );
    Some(Completion::Unsupported { what })
}

/// What a worker has been sent.
#[derive(Default)]
pub(crate) struct KnownModules {
    sent: BTreeSet<Digest>,
    /// Digests by the words' address; the words are held, so that an address stays theirs.
    digests: BTreeMap<usize, (Arc<Vec<u32>>, Digest)>,
}

impl KnownModules {
    /// The digest of a module's words, and the words as bytes if the worker does not have them.
    fn send(&mut self, words: &Arc<Vec<u32>>) -> (Digest, Option<Bytes>) {
        let address = Arc::as_ptr(words).addr();
        if let Some((_, digest)) = self.digests.get(&address) {
            return (*digest, None);
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let digest: Digest = sha2::Sha256::digest(&bytes).into();
        self.digests.insert(address, (words.clone(), digest));
        (digest, self.sent.insert(digest).then_some(Bytes::from(bytes)))
    }
}

/// A job in wire form, with the bits of which it is asked who recorded them; words that the worker
/// has had are left out. Past `most` modules the worker starts anew.
pub(crate) fn job(
    job: &Job,
    asked: &BTreeSet<u32>,
    known: &mut KnownModules,
    most: usize,
) -> WireJob {
    let cache = if known.digests.len() > most { Cache::Forget } else { Cache::Keep };
    if cache == Cache::Forget {
        *known = KnownModules::default();
    }
    WireJob {
        name: job.name.clone(),
        cache,
        memory_bytes: job.limits.memory_bytes,
        modules: job.modules.iter().map(|of| module(of, known)).collect(),
        buffers: job.buffers.iter().map(|buffer| Bytes(Arc::clone(&buffer.bytes))).collect(),
        images: job.resources.images.iter().map(|of| image(job, of)).collect(),
        samplers: job.resources.samplers.clone(),
        addresses: job.resources.addresses.clone(),
        dispatches: job.dispatches.iter().map(dispatch).collect(),
        asked: asked.clone(),
    }
}

fn image(job: &Job, image: &JobImage) -> WireImage {
    let name = job
        .buffers
        .get(image.buffer as usize)
        .map_or_else(String::new, |buffer| buffer.name.clone());
    WireImage { name, buffer: image.buffer, shape: image.shape }
}

fn module(module: &JobModule, known: &mut KnownModules) -> WireModule {
    let (digest, words) = known.send(&module.words);
    let records = match &module.recording {
        // Marker calls are ordinary calls to a device.
        ModuleRecording::None | ModuleRecording::Markers(_) => None,
        ModuleRecording::Buffer(buffer) => Some(RecordSlot {
            set: buffer.set,
            binding: buffer.binding,
            form: RecordForm::of_buffer(buffer),
        }),
    };
    WireModule { kernel: module.key.to_string(), digest, words, records }
}

fn dispatch(dispatch: &JobDispatch) -> WireDispatch {
    WireDispatch {
        module: dispatch.module as u32,
        entry: dispatch.entry.clone(),
        groups: dispatch.groups,
        bindings: dispatch.bindings.iter().map(binding).collect(),
        push_constants: Bytes::from(dispatch.push_constants.clone()),
        specialization: dispatch.specialization.iter().map(|(id, bits)| (*id, *bits)).collect(),
        subgroup_size: dispatch.subgroup_size,
    }
}

fn binding(binding: &JobBinding) -> WireBinding {
    WireBinding {
        set: binding.set,
        binding: binding.binding,
        array_index: binding.array_index,
        class: binding.class,
        view: binding.view,
        buffer: binding.buffer as u32,
        offset: binding.offset,
        range: binding.range,
        dynamic_offset: binding.dynamic_offset,
    }
}

/// Bytes of the longest honest reply to a job, every repetition of which may leave something else.
pub(crate) fn reply_limit(job: &Job, asked: &BTreeSet<u32>, repetitions: u32) -> u64 {
    let buffers: u64 = job.buffers.iter().map(|buffer| buffer.bytes.len() as u64 + 16).sum();
    let records = job.modules.iter().map(|module| match &module.recording {
        // Words of at most 5 bytes; for each bit a number and an invocation.
        ModuleRecording::Buffer(buffer) => u64::from(buffer.words) * (5 + 32 * 20) + 16,
        ModuleRecording::None | ModuleRecording::Markers(_) => 0,
    });
    // Who set a bit of a word takes at most ten bytes for 64 invocations; the words themselves,
    // four for each, fit in memory.
    let invocations = if asked.is_empty() { 0 } else { job.limits.memory_bytes.saturating_mul(2) };
    (buffers + records.sum::<u64>())
        .saturating_add(invocations)
        .saturating_mul(repetitions.into())
        .saturating_add(REPLY_SLACK)
}

/// Who recorded the bits that were asked for.
pub(crate) fn invocations(found: Vec<WireInvocations>) -> InvocationRecords {
    let row = |of: WireInvocations| {
        let WireInvocations { dispatch, local_size, by_bit } = of;
        (dispatch, DispatchInvocations { local_size, by_bit, ..DispatchInvocations::default() })
    };
    found.into_iter().map(row).collect()
}

/// A worker's answer as the engine's.
pub(crate) fn run(job: &Job, run: WireRun) -> Run {
    let mut records: BTreeMap<ModuleKey, Records> = BTreeMap::new();
    let mut completion = completion(run.ending);
    for WireRecords { module, words, witnesses } in run.records {
        let Some(module) = job.modules.get(module as usize) else { continue };
        let new =
            Records { words, witnesses: witnesses.into_iter().collect(), ..Records::default() };
        match impossible(&module.recording, &new) {
            None => records.entry(module.key).or_default().merge(&new),
            Some(why) => {
                let reason = format!("records of kernel `{}` cannot be trusted: {why}", module.key);
                completion = Completion::Undetermined { reason };
            }
        }
    }
    let trespasses = run.trespasses.iter().map(|found| trespass(job, found));
    let messages = run.messages.into_iter().map(validation);
    let mut findings: Vec<Finding> =
        trespasses.chain(messages).filter(|finding| job.checks.has(finding.kind)).collect();
    findings.sort_by(Finding::order);
    Run {
        completion,
        buffers: run.buffers.into_iter().map(|buffer| buffer.0).collect(),
        findings,
        records,
        notes: Vec::new(),
        printed: Printed::default(),
        race_scope: None,
    }
}

/// A recorded bit that stands for nothing.
fn impossible(recording: &ModuleRecording, records: &Records) -> Option<CanaryError> {
    match recording {
        ModuleRecording::Buffer(buffer) => check_bits(&buffer.layout, records).err(),
        ModuleRecording::None | ModuleRecording::Markers(_) => None,
    }
}

/// What an answer without a run comes to.
pub(crate) fn nothing() -> Completion {
    Completion::Undetermined { reason: "the device worker told of no run".to_owned() }
}

pub(crate) fn completion(ending: Ending) -> Completion {
    match ending {
        Ending::Completed => Completion::Completed,
        Ending::CutOff(reason) => Completion::Timeout { reason },
        Ending::Unsupported(what) => Completion::Unsupported { what },
        Ending::Error(reason) => Completion::Error { reason },
        Ending::DeviceLost(reason) => Completion::DeviceLost { reason },
        Ending::Undetermined(reason) => Completion::Undetermined { reason },
    }
}

/// A message of the validation layer as a finding.
pub(crate) fn validation(message: WireMessage) -> Finding {
    let severity = match message.severity {
        Severity::Error => MessageSeverity::Error,
        Severity::Warning => MessageSeverity::Warning,
    };
    let details = LayerMessage { message_id: message.id, severity };
    Finding { count: message.count, ..Finding::validation(message.text, details) }
}

fn trespass(job: &Job, found: &Trespass) -> Finding {
    let name = job.buffers.get(found.buffer as usize).map_or("?", |buffer| &buffer.name);
    let Trespass { bytes, distance, .. } = found;
    let (side, message) = match found.side {
        Side::Before => (
            GuardSide::Before,
            format!(
                "{bytes} bytes before buffer `{name}` changed, the nearest {distance} bytes from its edge"
            ),
        ),
        Side::Behind => (
            GuardSide::Behind,
            format!(
                "{bytes} bytes behind buffer `{name}` changed, the nearest {distance} bytes from its edge"
            ),
        ),
        Side::Within => (
            GuardSide::Within,
            format!(
                "{bytes} bytes of buffer `{name}` that nothing binds changed, the first at byte {distance}"
            ),
        ),
    };
    let details = OutOfBoundsDetails::GuardZone(GuardZoneDetails {
        access: AccessKind::Write,
        buffer: name.to_owned(),
        memory: AccessedMemory::Buffer,
        side,
    });
    Finding { count: *bytes, ..Finding::out_of_bounds(message, details) }
}

/// The kernel that runs at `stage`.
pub(crate) fn kernel_at(job: &Job, stage: Stage) -> String {
    match stage {
        Stage::Dispatched(index) | Stage::Counting(index) => {
            let module = job
                .dispatches
                .get(index as usize)
                .and_then(|dispatch| job.modules.get(dispatch.module));
            module.map_or_else(|| "?".to_owned(), |module| format!("kernel `{}`", module.key))
        }
        Stage::Preparing | Stage::Collecting => {
            let names: BTreeSet<String> =
                job.modules.iter().map(|module| format!("`{}`", module.key)).collect();
            format!("kernel {}", names.into_iter().collect::<Vec<_>>().join(", "))
        }
    }
}

/// What the loss of a worker means for the job that it had.
pub(crate) fn lost(
    loss: Loss,
    stage: Stage,
    seconds: f64,
    kernel: &str,
) -> Result<Completion, ExecError> {
    let place = match stage {
        Stage::Preparing => format!("while {kernel} was prepared"),
        Stage::Dispatched(index) | Stage::Counting(index) => {
            format!("in dispatch {index} of {kernel}")
        }
        Stage::Collecting => format!("after {kernel} had ended"),
    };
    match loss {
        Loss::TimedOut => Ok(Completion::Timeout {
            reason: match stage {
                Stage::Dispatched(index) | Stage::Counting(index) => {
                    format!("dispatch {index} of {kernel} did not end within {seconds} s")
                }
                Stage::Preparing | Stage::Collecting => {
                    format!("the driver did not answer {place}")
                }
            },
        }),
        Loss::Exhausted => Ok(Completion::Undetermined {
            reason: format!("the device worker took more memory than it may {place}"),
        }),
        Loss::Panicked { .. } => {
            Err(tool(format!("the device worker: {} {place}", describe_loss(&loss))))
        }
        Loss::Died { .. } | Loss::Garbage { .. } => Ok(Completion::Error {
            reason: format!("the device worker was lost {place}: {}", describe_loss(&loss)),
        }),
    }
}

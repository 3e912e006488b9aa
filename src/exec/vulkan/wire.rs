//! Jobs as the worker gets them, and runs as the engine gives them back.
//!
//! Knows: which words are sent (a module travels once per worker), and what a worker's answer or
//! loss means for a test.
//! Promises: findings are sorted; every reason names the dispatch and is the same in every run.

use super::conversation::{describe_loss, tool_error};
use super::process::WorkerLoss;
use super::protocol::{
    Bytes, Cache, Digest, Ending, REPLY_SLACK, RecordSlot, Severity, Side, Stage, Trespass,
    WireBinding, WireDispatch, WireImage, WireInvocations, WireJob, WireMessage, WireModule,
    WireRecords, WireRun,
};
use super::settings::LoopCounting;
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
pub(crate) fn refusal(job: &Job) -> Option<Completion> {
    let buffer_bytes: u64 = job.buffers.iter().map(|buffer| buffer.bytes.len() as u64).sum();
    let memory_limit = job.limits.memory_bytes;
    if buffer_bytes > memory_limit {
        let reason = format!(
            "the buffers take {buffer_bytes} bytes, and the test's memory_bytes is {memory_limit}"
        );
        return Some(Completion::Undetermined { reason });
    }
    // Their contents cannot be copied from and to buffers (Vulkan specification,
    // vkCmdCopyBufferToImage).
    let image = job.resources.images.iter().find(|image| image.shape.samples > 1)?;
    let (image_name, sample_count) =
        (&job.buffers[image.buffer as usize].name, image.shape.samples);
    let unsupported_image = format!(
        "multisampled images on the device engine (`{image_name}` has {sample_count} samples per texel)"
    );
    Some(Completion::Unsupported { what: unsupported_image })
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
    fn send_module(&mut self, module_words: &Arc<Vec<u32>>) -> (Digest, Option<Bytes>) {
        let words_address = Arc::as_ptr(module_words).addr();
        if let Some((_, digest)) = self.digests.get(&words_address) {
            return (*digest, None);
        }
        let module_bytes: Vec<u8> =
            module_words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let digest: Digest = sha2::Sha256::digest(&module_bytes).into();
        self.digests.insert(words_address, (Arc::clone(module_words), digest));
        (digest, self.sent.insert(digest).then_some(Bytes::from(module_bytes)))
    }
}

/// Modules that a worker keeps.
const KNOWN_MODULES: usize = 256;

/// A job in wire form, with the bits of which it is asked who recorded them; words that the worker
/// has had are left out. Past [`KNOWN_MODULES`] modules the worker starts anew.
pub(crate) fn wire_job(
    job: &Job,
    asked_bits: &BTreeSet<u32>,
    loop_counting: LoopCounting,
    known_modules: &mut KnownModules,
) -> WireJob {
    let module_cache =
        if known_modules.digests.len() > KNOWN_MODULES { Cache::Forget } else { Cache::Keep };
    if module_cache == Cache::Forget {
        *known_modules = KnownModules::default();
    }
    WireJob {
        name: job.name.clone(),
        cache: module_cache,
        memory_bytes: job.limits.memory_bytes,
        modules: job.modules.iter().map(|module| wire_module(module, known_modules)).collect(),
        buffers: job.buffers.iter().map(|buffer| Bytes(Arc::clone(&buffer.bytes))).collect(),
        images: job.resources.images.iter().map(|image| wire_image(job, image)).collect(),
        samplers: job.resources.samplers.clone(),
        addresses: job.resources.addresses.clone(),
        dispatches: job.dispatches.iter().map(wire_dispatch).collect(),
        loop_counting,
        asked: asked_bits.clone(),
    }
}

fn wire_image(job: &Job, job_image: &JobImage) -> WireImage {
    let image_name = job
        .buffers
        .get(job_image.buffer as usize)
        .map_or_else(String::new, |buffer| buffer.name.clone());
    WireImage { name: image_name, buffer: job_image.buffer, shape: job_image.shape }
}

fn wire_module(job_module: &JobModule, known_modules: &mut KnownModules) -> WireModule {
    let (digest, sent_words) = known_modules.send_module(&job_module.words);
    let record_slot = match &job_module.recording {
        // Marker calls are ordinary calls to a device.
        ModuleRecording::None | ModuleRecording::Markers(_) => None,
        ModuleRecording::Buffer(buffer) => Some(RecordSlot {
            set: buffer.set,
            binding: buffer.binding,
            form: RecordForm::of_buffer(buffer),
        }),
    };
    WireModule {
        kernel: job_module.key.to_string(),
        digest,
        words: sent_words,
        records: record_slot,
    }
}

fn wire_dispatch(job_dispatch: &JobDispatch) -> WireDispatch {
    WireDispatch {
        module: job_dispatch.module as u32,
        entry: job_dispatch.entry.clone(),
        groups: job_dispatch.groups,
        bindings: job_dispatch.bindings.iter().map(wire_binding).collect(),
        push_constants: Bytes::from(job_dispatch.push_constants.clone()),
        specialization: job_dispatch.specialization.iter().map(|(id, bits)| (*id, *bits)).collect(),
        subgroup_size: job_dispatch.subgroup_size,
    }
}

fn wire_binding(job_binding: &JobBinding) -> WireBinding {
    WireBinding {
        set: job_binding.set,
        binding: job_binding.binding,
        array_index: job_binding.array_index,
        class: job_binding.class,
        view: job_binding.view,
        buffer: job_binding.buffer as u32,
        offset: job_binding.offset,
        range: job_binding.range,
        dynamic_offset: job_binding.dynamic_offset,
    }
}

/// Bytes of the longest honest reply to a job, every repetition of which may leave something else.
pub(crate) fn reply_limit(job: &Job, asked_bits: &BTreeSet<u32>, repetition_count: u32) -> u64 {
    let buffer_bytes: u64 = job.buffers.iter().map(|buffer| buffer.bytes.len() as u64 + 16).sum();
    let record_bytes = job.modules.iter().map(|module| match &module.recording {
        // Words of at most 5 bytes; for each bit a number and an invocation.
        ModuleRecording::Buffer(buffer) => u64::from(buffer.words) * (5 + 32 * 20) + 16,
        ModuleRecording::None | ModuleRecording::Markers(_) => 0,
    });
    // Who set a bit of a word takes at most ten bytes for 64 invocations; the words themselves,
    // four for each, fit in memory.
    let invocation_bytes =
        if asked_bits.is_empty() { 0 } else { job.limits.memory_bytes.saturating_mul(2) };
    (buffer_bytes + record_bytes.sum::<u64>())
        .saturating_add(invocation_bytes)
        .saturating_mul(repetition_count.into())
        .saturating_add(REPLY_SLACK)
}

/// Who recorded the bits that were asked for.
pub(crate) fn invocation_records(wire_invocations: Vec<WireInvocations>) -> InvocationRecords {
    let dispatch_row = |wire_row: WireInvocations| {
        let WireInvocations { dispatch, local_size, by_bit } = wire_row;
        (dispatch, DispatchInvocations { local_size, by_bit, ..DispatchInvocations::default() })
    };
    wire_invocations.into_iter().map(dispatch_row).collect()
}

/// A worker's answer as the engine's.
pub(crate) fn run_of_answer(job: &Job, wire_run: WireRun) -> Run {
    let mut records: BTreeMap<ModuleKey, Records> = BTreeMap::new();
    let mut run_completion = completion_of(wire_run.ending);
    for WireRecords { module: job_module, words, witnesses } in wire_run.records {
        let Some(job_module) = job.modules.get(job_module as usize) else { continue };
        let new_records =
            Records { words, witnesses: witnesses.into_iter().collect(), ..Records::default() };
        match impossible_record(&job_module.recording, &new_records) {
            None => records.entry(job_module.key).or_default().merge(&new_records),
            Some(distrust_reason) => {
                let reason = format!(
                    "records of kernel `{}` cannot be trusted: {distrust_reason}",
                    job_module.key
                );
                run_completion = Completion::Undetermined { reason };
            }
        }
    }
    let trespass_findings =
        wire_run.trespasses.iter().map(|wire_trespass| trespass_finding(job, wire_trespass));
    let message_findings = wire_run.messages.into_iter().map(validation_finding);
    let mut findings: Vec<Finding> = trespass_findings
        .chain(message_findings)
        .filter(|finding| job.checks.has(finding.kind))
        .collect();
    findings.sort_by(Finding::order);
    Run {
        completion: run_completion,
        buffers: wire_run.buffers.into_iter().map(|buffer| buffer.0).collect(),
        findings,
        records,
        notes: Vec::new(),
        printed: Printed::default(),
        race_scope: None,
    }
}

/// A recorded bit that stands for nothing.
fn impossible_record(recording: &ModuleRecording, records: &Records) -> Option<CanaryError> {
    match recording {
        ModuleRecording::Buffer(buffer) => check_bits(&buffer.layout, records).err(),
        ModuleRecording::None | ModuleRecording::Markers(_) => None,
    }
}

/// What an answer without a run comes to.
pub(crate) fn no_run() -> Completion {
    Completion::Undetermined { reason: "the device worker told of no run".to_owned() }
}

pub(crate) fn completion_of(ending: Ending) -> Completion {
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
pub(crate) fn validation_finding(wire_message: WireMessage) -> Finding {
    let severity = match wire_message.severity {
        Severity::Error => MessageSeverity::Error,
        Severity::Warning => MessageSeverity::Warning,
    };
    let details = LayerMessage { message_id: wire_message.id, severity };
    Finding { count: wire_message.count, ..Finding::validation(wire_message.text, details) }
}

fn trespass_finding(job: &Job, wire_trespass: &Trespass) -> Finding {
    let buffer_name =
        job.buffers.get(wire_trespass.buffer as usize).map_or("?", |buffer| &buffer.name);
    let Trespass { bytes, distance, .. } = wire_trespass;
    let (guard_side, message) = match wire_trespass.side {
        Side::Before => (
            GuardSide::Before,
            format!(
                "{bytes} bytes before buffer `{buffer_name}` changed, the nearest {distance} bytes from its edge"
            ),
        ),
        Side::Behind => (
            GuardSide::Behind,
            format!(
                "{bytes} bytes behind buffer `{buffer_name}` changed, the nearest {distance} bytes from its edge"
            ),
        ),
        Side::Within => (
            GuardSide::Within,
            format!(
                "{bytes} bytes of buffer `{buffer_name}` that nothing binds changed, the first at byte {distance}"
            ),
        ),
    };
    let details = OutOfBoundsDetails::GuardZone(GuardZoneDetails {
        access: AccessKind::Write,
        buffer: buffer_name.to_owned(),
        memory: AccessedMemory::Buffer,
        side: guard_side,
    });
    Finding { count: *bytes, ..Finding::out_of_bounds(message, details) }
}

/// The kernel that runs at `stage`.
pub(crate) fn kernel_at(job: &Job, stage: Stage) -> String {
    match stage {
        Stage::Dispatched(dispatch_index) | Stage::Counting(dispatch_index) => {
            let job_module = job
                .dispatches
                .get(dispatch_index as usize)
                .and_then(|dispatch| job.modules.get(dispatch.module));
            job_module
                .map_or_else(|| "?".to_owned(), |job_module| format!("kernel `{}`", job_module.key))
        }
        Stage::Preparing | Stage::Collecting => {
            let kernel_names: BTreeSet<String> =
                job.modules.iter().map(|job_module| format!("`{}`", job_module.key)).collect();
            format!("kernel {}", kernel_names.into_iter().collect::<Vec<_>>().join(", "))
        }
    }
}

/// What the loss of a worker means for the job that it had.
pub(crate) fn completion_after_loss(
    worker_loss: WorkerLoss,
    stage: Stage,
    seconds: f64,
    kernel_name: &str,
) -> Result<Completion, ExecError> {
    let stage_text = match stage {
        Stage::Preparing => format!("while {kernel_name} was prepared"),
        Stage::Dispatched(dispatch_index) | Stage::Counting(dispatch_index) => {
            format!("in dispatch {dispatch_index} of {kernel_name}")
        }
        Stage::Collecting => format!("after {kernel_name} had ended"),
    };
    match worker_loss {
        WorkerLoss::TimedOut => Ok(Completion::Timeout {
            reason: match stage {
                Stage::Dispatched(dispatch_index) | Stage::Counting(dispatch_index) => {
                    format!(
                        "dispatch {dispatch_index} of {kernel_name} did not end within {seconds} s"
                    )
                }
                Stage::Preparing | Stage::Collecting => {
                    format!("the driver did not answer {stage_text}")
                }
            },
        }),
        WorkerLoss::Exhausted => Ok(Completion::Undetermined {
            reason: format!("the device worker took more memory than it may {stage_text}"),
        }),
        WorkerLoss::Panicked { .. } => Err(tool_error(format!(
            "the device worker: {} {stage_text}",
            describe_loss(&worker_loss)
        ))),
        WorkerLoss::Died { .. } | WorkerLoss::Garbage { .. } => Ok(Completion::Error {
            reason: format!(
                "the device worker was lost {stage_text}: {}",
                describe_loss(&worker_loss)
            ),
        }),
    }
}

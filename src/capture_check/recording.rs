//! Whether what was recorded is still valid when it is submitted.
//!
//! Knows: which pipelines, sets, buffers and memory a submitted command names, what was destroyed or
//! written since it was recorded (Vulkan specification, "Command Buffer Lifecycle", "Descriptor Set
//! Updates"). Whether sets are bound with compatible layouts is told by `interface`.
//! Promises: what a kernel does not use is no fault of its dispatch. What depends on flags of
//! bindings, which captures do not have, is undetermined.
//! Does not cover: what is destroyed while it is in use by the device; buffer views, images and
//! samplers that were destroyed.

use crate::kernel::KernelTable;
use crate::row::{CaptureCheckName, CaptureReport};
use crate::words::operation_in_words;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_capture::program::{
    Action, BarrierScope, BoundResource, BoundSet, Dispatch, Groups, Program, SetLife,
};
use vkcert_model::evidence::CheckStatus;

const CHECK: CaptureCheckName = CaptureCheckName::Descriptors;

/// Stands for the pipeline of what has none.
const NO_PIPELINE: usize = usize::MAX;

/// Makes the checks.
pub(crate) fn check_recording(
    program: &Program,
    kernels: &KernelTable,
    report: &mut CaptureReport,
) {
    let mut check = RecordingCheck { program, kernels, report, told: BTreeSet::new() };
    for (index, operation) in program.operations.iter().enumerate() {
        check.take_action(index, &operation.action);
    }
}

/// A kind of fault, by which one of a pipeline is told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// No pipeline is bound.
    Unbound,
    /// Which pipeline is bound is not known.
    Unseen,
    /// The pipeline was destroyed.
    Pipeline,
    /// A set was freed.
    Set(u32),
    /// A set was written where its kernel uses it.
    Updated(u32),
    /// A set was written in a way that flags of its bindings may permit.
    PerhapsUpdated(u32),
    /// A buffer is gone.
    Buffer(usize),
    /// One of several buffers of a binding is gone.
    PerhapsBuffer(usize),
}

struct RecordingCheck<'a> {
    program: &'a Program,
    kernels: &'a KernelTable,
    report: &'a mut CaptureReport,
    /// By pipeline, or [`NO_PIPELINE`].
    told: BTreeSet<(usize, Fault)>,
}

impl RecordingCheck<'_> {
    fn tell(
        &mut self,
        (pipeline, fault): (usize, Fault),
        status: CheckStatus,
        index: usize,
        words: &str,
    ) {
        if self.told.insert((pipeline, fault)) {
            let message = format!("{}: {words}", operation_in_words(self.program, index));
            self.report.add(CHECK, status, message, &[index]);
        }
    }

    fn take_action(&mut self, index: usize, action: &Action) {
        match action {
            Action::Dispatch(dispatch) => self.take_dispatch(index, dispatch),
            Action::UnboundDispatch { unseen } => self.take_unbound(index, unseen.as_deref()),
            Action::Copy { from, to, .. } => {
                self.take_named_buffer(index, *from, "it reads");
                self.take_named_buffer(index, *to, "it writes");
            }
            Action::ImageCopy { read, written, .. } => {
                read.iter().for_each(|read| self.take_named_buffer(index, *read, "it reads"));
                let written = written.iter();
                written.for_each(|written| self.take_named_buffer(index, *written, "it writes"));
            }
            Action::Fill { buffer, .. } | Action::Update { buffer, .. } => {
                self.take_named_buffer(index, *buffer, "it writes");
            }
            Action::Barrier(parts) => {
                for part in parts.iter() {
                    if let BarrierScope::Buffer { buffer, .. } = part.scope {
                        self.take_named_buffer(index, buffer, "it names");
                    }
                }
            }
            Action::Submit
            | Action::SemaphoreWait(_)
            | Action::SemaphoreSignal(_)
            | Action::Unsupported { .. }
            | Action::HostWait { .. }
            | Action::Map(_)
            | Action::Unmap(_)
            | Action::Flush(_)
            | Action::Invalidate(_)
            | Action::Contents { .. } => {}
        }
    }

    fn take_named_buffer(&mut self, index: usize, buffer: usize, place: &str) {
        self.take_buffer(index, (NO_PIPELINE, buffer), place, CheckStatus::Refuted);
    }

    fn take_unbound(&mut self, index: usize, unseen: Option<&str>) {
        match unseen {
            Some(name) => {
                let key = (NO_PIPELINE, Fault::Unseen);
                let words = format!("what is bound is not known behind {name}, not modelled");
                self.tell(key, CheckStatus::Undetermined, index, &words);
            }
            None => {
                let key = (NO_PIPELINE, Fault::Unbound);
                let words = "it was recorded with no compute pipeline bound \
                             (VUID-vkCmdDispatch-None-08606)";
                self.tell(key, CheckStatus::Refuted, index, words);
            }
        }
    }

    fn take_dispatch(&mut self, index: usize, dispatch: &Dispatch) {
        let pipeline = dispatch.pipeline;
        if self.program.pipelines[pipeline].end.precedes(index) {
            let words = "its pipeline was destroyed before the submission";
            self.tell((pipeline, Fault::Pipeline), CheckStatus::Refuted, index, words);
        }
        if let Groups::Indirect { buffer, .. } = dispatch.groups {
            self.take_buffer(
                index,
                (pipeline, buffer),
                "it reads its workgroups from",
                CheckStatus::Refuted,
            );
        }
        if dispatch.unseen.is_some() {
            return;
        }
        let Ok(kernel) = self.kernels.of_pipeline(pipeline) else { return };
        let mut used: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for resource in &kernel.reflection.resources {
            used.entry(resource.set).or_default().insert(resource.binding);
        }
        for bound in &dispatch.sets {
            let Some(bindings) = used.get(&bound.number) else { continue };
            self.take_set(index, pipeline, bound, bindings);
            self.take_descriptors(index, pipeline, bound, bindings);
        }
    }

    fn take_descriptors(
        &mut self,
        index: usize,
        pipeline: usize,
        bound: &BoundSet,
        used_bindings: &BTreeSet<u32>,
    ) {
        for descriptor in bound.descriptors.iter() {
            let binding = descriptor.binding;
            let BoundResource::Buffer { buffer, .. } = descriptor.resource else { continue };
            if !used_bindings.contains(&binding) {
                continue;
            }
            let place = format!("binding {}.{binding} has", bound.number);
            // Of several descriptors those that are not reached need not be valid.
            let several = bound.layout.bindings.get(&binding).is_some_and(|(_, count)| *count > 1);
            let status = if several { CheckStatus::Undetermined } else { CheckStatus::Refuted };
            self.take_buffer(index, (pipeline, buffer), &place, status);
        }
    }

    fn take_set(
        &mut self,
        index: usize,
        pipeline: usize,
        bound: &BoundSet,
        used_bindings: &BTreeSet<u32>,
    ) {
        let number = bound.number;
        match bound.life {
            SetLife::Allocated => {}
            SetLife::Freed => {
                let words =
                    format!("set {number}, which its kernel uses, was freed before the submission");
                self.tell((pipeline, Fault::Set(number)), CheckStatus::Refuted, index, &words);
            }
        }
        if bound.updated.is_empty() {
            return;
        }
        let updated: Vec<String> = bound.updated.iter().map(u32::to_string).collect();
        let mut words = format!(
            "set {number} was written at binding {} between its binding and the submission",
            updated.join(", ")
        );
        let is_used = bound.updated.iter().any(|binding| used_bindings.contains(binding));
        let (fault, status) = if bound.layout.may_update_after_bind() || !is_used {
            words.push_str(
                "; undetermined, because the capture does not have the flags of its bindings, by \
                 which that may be permitted",
            );
            (Fault::PerhapsUpdated(number), CheckStatus::Undetermined)
        } else {
            words.push_str(
                ", and its layout permits no update after binding, so that the command buffer is \
                 invalid (\"Descriptor Set Updates\")",
            );
            (Fault::Updated(number), CheckStatus::Refuted)
        };
        self.tell((pipeline, fault), status, index, &words);
    }

    fn take_buffer(
        &mut self,
        index: usize,
        (pipeline, buffer): (usize, usize),
        place: &str,
        status: CheckStatus,
    ) {
        let object = &self.program.buffers[buffer];
        let memory = object.memory.map(|(memory, _)| &self.program.memories[memory]);
        let fault = if object.end.precedes(index) {
            "was destroyed"
        } else if memory.is_some_and(|memory| memory.end.precedes(index)) {
            "lies in memory that was freed"
        } else {
            return;
        };
        let mut words =
            format!("{place} buffer {}, which {fault} before the submission", buffer + 1);
        let key = if status == CheckStatus::Undetermined {
            words.push_str("; undetermined, because it is one of several descriptors");
            Fault::PerhapsBuffer(buffer)
        } else {
            Fault::Buffer(buffer)
        };
        self.tell((pipeline, key), status, index, &words);
    }
}

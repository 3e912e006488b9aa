//! Whether what was recorded is still valid when it is submitted.
//!
//! Knows: which pipelines, sets, buffers and memory a submitted command names, what was destroyed or
//! written since it was recorded (Vulkan specification, "Command Buffer Lifecycle", "Descriptor Set
//! Updates"). Whether sets are bound with compatible layouts is told by `interface`.
//! Promises: what a kernel does not use is no fault of its dispatch. What depends on what invocations
//! reach, or on flags of bindings that the capture does not have (version 1), is undetermined.
//! Does not cover: what is destroyed while it is in use by the device; buffer views that were
//! destroyed.

use crate::kernel::KernelTable;
use crate::row::{CaptureCheckName, CaptureReport};
use crate::words::operation_in_words;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_capture::program::{
    Action, BarrierScope, BoundResource, BoundSet, Dispatch, Groups, ObjectEnd, PARTIALLY_BOUND,
    Program, SetLayout, SetLife, UPDATE_AFTER_BIND, UPDATE_UNUSED_WHILE_PENDING,
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
    /// An object is gone.
    Object(UsedObject),
    /// An object is gone that need not be reached.
    PerhapsObject(UsedObject),
}

/// An object that a command uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum UsedObject {
    Buffer(usize),
    Image(usize),
    View(usize),
    Sampler(usize),
}

impl UsedObject {
    fn in_words(self) -> String {
        match self {
            UsedObject::Buffer(index) => format!("buffer {}", index + 1),
            UsedObject::Image(index) => format!("image {}", index + 1),
            UsedObject::View(index) => format!("image view {}", index + 1),
            UsedObject::Sampler(index) => format!("sampler {}", index + 1),
        }
    }

    /// When it was destroyed, and its memory where it has some.
    fn ends(self, program: &Program) -> (ObjectEnd, Option<ObjectEnd>) {
        let memory_end =
            |memory: Option<(usize, u64)>| memory.map(|(memory, _)| program.memories[memory].end);
        match self {
            UsedObject::Buffer(index) => {
                let object = &program.buffers[index];
                (object.end, memory_end(object.memory))
            }
            UsedObject::Image(index) => {
                let object = &program.images[index];
                (object.end, memory_end(object.memory))
            }
            UsedObject::View(index) => (program.image_views[index].end, None),
            UsedObject::Sampler(index) => (program.samplers[index].end, None),
        }
    }
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
            Action::CopyToImage { from, to, .. } => {
                self.take_named_buffer(index, *from, "it reads");
                self.take_named_image(index, to.image, "it writes");
            }
            Action::CopyFromImage { from, to, .. } => {
                self.take_named_image(index, from.image, "it reads");
                self.take_named_buffer(index, *to, "it writes");
            }
            Action::CopyImage { from, to, .. } => {
                self.take_named_image(index, from.image, "it reads");
                self.take_named_image(index, to.image, "it writes");
            }
            Action::ClearImage { to, .. } => self.take_named_image(index, to.image, "it writes"),
            Action::Barrier(parts) => {
                for part in parts.iter() {
                    match part.scope {
                        BarrierScope::Buffer { buffer, .. } => {
                            self.take_named_buffer(index, buffer, "it names");
                        }
                        BarrierScope::ImagePart { image, .. } => {
                            self.take_named_image(index, image, "it names");
                        }
                        BarrierScope::Execution | BarrierScope::All | BarrierScope::Image => {}
                    }
                }
            }
            Action::ImageContents { .. }
            | Action::UnreadImage { .. }
            | Action::Submit
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
        let object = UsedObject::Buffer(buffer);
        self.take_object(index, (NO_PIPELINE, object), place, CheckStatus::Refuted);
    }

    fn take_named_image(&mut self, index: usize, image: usize, place: &str) {
        let object = UsedObject::Image(image);
        self.take_object(index, (NO_PIPELINE, object), place, CheckStatus::Refuted);
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
            let object = UsedObject::Buffer(buffer);
            let place = "it reads its workgroups from";
            self.take_object(index, (pipeline, object), place, CheckStatus::Refuted);
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
            if !used_bindings.contains(&binding) {
                continue;
            }
            let place = format!("binding {}.{binding} has", bound.number);
            // Those that are not reached need not be valid, of several, or where the binding says so.
            let several = bound.layout.bindings.get(&binding).is_some_and(|(_, count)| *count > 1)
                || bound.layout.has_binding_flag(binding, PARTIALLY_BOUND);
            let status = if several { CheckStatus::Undetermined } else { CheckStatus::Refuted };
            for object in self.objects_of(&descriptor.resource) {
                self.take_object(index, (pipeline, object), &place, status.clone());
            }
        }
    }

    /// What a descriptor leads to.
    fn objects_of(&self, resource: &BoundResource) -> Vec<UsedObject> {
        match resource {
            BoundResource::Buffer { buffer, .. } => vec![UsedObject::Buffer(*buffer)],
            BoundResource::View(bound) => {
                let image = bound.view.map(|view| self.program.image_views[view].image);
                let objects = [
                    bound.view.map(UsedObject::View),
                    image.map(UsedObject::Image),
                    bound.sampler.map(UsedObject::Sampler),
                ];
                objects.into_iter().flatten().collect()
            }
            BoundResource::Image
            | BoundResource::Inline(_)
            | BoundResource::Null
            | BoundResource::Other => Vec::new(),
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
        let permissions = bound.updated.iter().map(|binding| {
            (*binding, permission(&bound.layout, *binding, used_bindings.contains(binding)))
        });
        let permissions: Vec<(u32, UpdatePermission)> = permissions.collect();
        for permission in
            [UpdatePermission::Refused, UpdatePermission::Open, UpdatePermission::Unrecorded]
        {
            let own = permissions.iter().filter(|(_, other)| *other == permission);
            let bindings: Vec<String> = own.map(|(binding, _)| binding.to_string()).collect();
            let (false, Some((words, status))) = (bindings.is_empty(), permission.in_words())
            else {
                continue;
            };
            let words = format!(
                "set {number} was written at binding {} between its binding and the submission{words}",
                bindings.join(", ")
            );
            let fault = match status {
                CheckStatus::Refuted => Fault::Updated(number),
                CheckStatus::Holds | CheckStatus::Undetermined | CheckStatus::Unknown(_) => {
                    Fault::PerhapsUpdated(number)
                }
            };
            self.tell((pipeline, fault), status, index, &words);
        }
    }

    fn take_object(
        &mut self,
        index: usize,
        (pipeline, object): (usize, UsedObject),
        place: &str,
        status: CheckStatus,
    ) {
        let (end, memory_end) = object.ends(self.program);
        let fault = if end.precedes(index) {
            "was destroyed"
        } else if memory_end.is_some_and(|end| end.precedes(index)) {
            "lies in memory that was freed"
        } else {
            return;
        };
        let mut words =
            format!("{place} {}, which {fault} before the submission", object.in_words());
        let key = if status == CheckStatus::Undetermined {
            words.push_str(
                "; undetermined, because it is one of several descriptors or of a binding that need \
                 not be bound wholly",
            );
            Fault::PerhapsObject(object)
        } else {
            Fault::Object(object)
        };
        self.tell((pipeline, key), status, index, &words);
    }
}

/// Whether a set may be written at a binding between its binding and the submission (Vulkan
/// specification, "VkDescriptorBindingFlagBits", "Descriptor Set Updates").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UpdatePermission {
    Given,
    /// Only if no invocation reaches the descriptor.
    Open,
    /// The capture does not have the flags that may permit it.
    Unrecorded,
    Refused,
}

impl UpdatePermission {
    /// What is said of an update, and how sure it is; nothing of one that is permitted.
    fn in_words(self) -> Option<(&'static str, CheckStatus)> {
        match self {
            UpdatePermission::Given => None,
            UpdatePermission::Open => Some((
                "; undetermined, because that is permitted only if no invocation uses what was \
                 written (PARTIALLY_BOUND, UPDATE_UNUSED_WHILE_PENDING)",
                CheckStatus::Undetermined,
            )),
            UpdatePermission::Unrecorded => Some((
                "; undetermined, because the capture does not have the flags of its bindings, by \
                 which that may be permitted",
                CheckStatus::Undetermined,
            )),
            UpdatePermission::Refused => Some((
                ", and its layout permits no update after binding, so that the command buffer is \
                 invalid (\"Descriptor Set Updates\")",
                CheckStatus::Refuted,
            )),
        }
    }
}

fn permission(layout: &SetLayout, binding: u32, is_used: bool) -> UpdatePermission {
    if layout.binding_flags.is_none() {
        return match layout.may_update_after_bind() || !is_used {
            true => UpdatePermission::Unrecorded,
            false => UpdatePermission::Refused,
        };
    }
    let while_unused = layout.has_binding_flag(binding, UPDATE_UNUSED_WHILE_PENDING);
    if layout.has_binding_flag(binding, UPDATE_AFTER_BIND) || (while_unused && !is_used) {
        UpdatePermission::Given
    } else if while_unused && layout.has_binding_flag(binding, PARTIALLY_BOUND) {
        UpdatePermission::Open
    } else {
        UpdatePermission::Refused
    }
}

//! Descriptor sets as programs may write and bind them: dynamic offsets, layouts that are compatible
//! and such that are not, inline uniform blocks in parts, copies.

use super::script::{COHERENT, QUEUE, Script, TestBuffer};
use super::{assert_all_hold, only_refuted, report, told};
use crate::row::CaptureCheckName;
use vkcert_capture::command::Command;
use vkcert_capture::event::*;
use vkcert_capture::program::{BoundResource, Program};
use vkcert_capture::value::{Bytes, Handle};
use vkcert_model::evidence::CheckStatus;

const STORAGE: i32 = 7;
const STORAGE_DYNAMIC: i32 = 9;
const INLINE: i32 = 1_000_138_000;

/// A script whose layouts, pipelines and sets are made one by one.
struct Bindings {
    script: Script,
}

impl Bindings {
    fn new() -> Self {
        Self { script: Script::new(COHERENT) }
    }

    /// A layout of bindings with their descriptor types and counts.
    fn set_layout(&mut self, bindings: &[(u32, i32, u32)]) -> Handle {
        let layout = self.script.handle();
        let bindings = bindings.iter().map(|(binding, descriptor_type, count)| LayoutBinding {
            binding: *binding,
            descriptor_type: *descriptor_type,
            count: *count,
            stages: 0x20,
        });
        let bindings = bindings.collect();
        self.script.push(Event::SetLayout(SetLayout { layout, flags: 0, bindings }));
        layout
    }

    fn pipeline_layout(&mut self, sets: &[Handle], push_bytes: u32) -> Handle {
        let layout = self.script.handle();
        let range = PushRange { stages: 0x20, offset: 0, size: push_bytes };
        let (sets, push_constants) = (sets.to_vec(), vec![range]);
        self.script.push(Event::PipelineLayout(PipelineLayout { layout, sets, push_constants }));
        layout
    }

    fn pipeline(&mut self, glsl: &str, layout: Handle) -> Handle {
        let (module, pipeline) = (self.script.handle(), self.script.handle());
        let code = Bytes(super::compiled(glsl));
        self.script.push(Event::ShaderModule(ShaderModule { module, code }));
        let (entry, specialization) = ("main".to_owned(), Vec::new());
        let made = ComputePipeline { pipeline, layout, module, entry, specialization };
        self.script.push(Event::ComputePipeline(made));
        pipeline
    }

    fn set(&mut self, layout: Handle) -> Handle {
        let set = self.script.handle();
        let sets = vec![(set, layout)];
        self.script.push(Event::DescriptorSets(DescriptorSets { pool: Handle(6), sets }));
        set
    }

    fn write(&mut self, set: Handle, place: (u32, u32), class: i32, written: Descriptor) {
        let (binding, element) = place;
        self.script.push(Event::WriteDescriptors(vec![DescriptorWrite {
            set,
            binding,
            element,
            descriptor_type: class,
            descriptors: vec![written],
        }]));
    }

    fn copy(&mut self, from: (Handle, u32, u32), to: (Handle, u32, u32), count: u32) {
        self.script.push(Event::CopyDescriptors(vec![DescriptorCopy { from, to, count }]));
    }
}

fn range(buffer: TestBuffer, range: u64) -> Descriptor {
    Descriptor::Buffer { buffer: buffer.buffer, offset: 0, range }
}

fn bind(layout: Handle, first: u32, sets: &[Handle], offsets: &[u32]) -> Command {
    let (sets, dynamic_offsets) = (sets.to_vec(), offsets.to_vec());
    Command::BindSets { layout, first, sets, dynamic_offsets }
}

const DISPATCH: Command = Command::Dispatch { base: [0; 3], groups: [1; 3] };

/// Dynamic offsets count for what the layout has, whether it is written or not.
#[test]
fn a_dynamic_descriptor_that_was_never_written_takes_its_offset() {
    const SECOND: &str = "layout(binding = 1) buffer A { uint a[]; };\n\
                          void main() { a[0] = 1; }";
    let mut bindings = Bindings::new();
    let data = bindings.script.buffer();
    let dynamic = [(0, STORAGE_DYNAMIC, 2), (1, STORAGE_DYNAMIC, 1)];
    let set_layout = bindings.set_layout(&dynamic);
    let layout = bindings.pipeline_layout(&[set_layout], 16);
    let pipeline = bindings.pipeline(SECOND, layout);
    let set = bindings.set(set_layout);
    bindings.write(set, (1, 0), STORAGE_DYNAMIC, range(data, 64));
    let commands = [0, 64].map(|offset| {
        vec![
            Command::BindPipeline(pipeline),
            bind(layout, 0, &[set], &[128, 192, offset]),
            DISPATCH,
        ]
    });
    // The two write ranges that do not overlap, so that no barrier is needed.
    bindings.script.submit(QUEUE, commands.concat());
    assert_all_hold(&bindings.script);
    let program = bindings.script.program();
    let offsets = program.dispatches().map(|(_, dispatch)| {
        dispatch.descriptors_at(0, 1).map(|(_, offset)| offset).collect::<Vec<_>>()
    });
    assert_eq!(offsets.collect::<Vec<_>>(), [[0], [64]]);
}

const FIRST_SET: &str = "layout(binding = 0) buffer A { uint a[]; };\n\
                         void main() { a[0] = 1; }";

/// A set that is bound with a layout of so many bytes of push constants, and a dispatch with one of
/// 16; the sets' layouts are made twice and are alike.
fn bound_with(push_bytes: u32) -> Script {
    let mut bindings = Bindings::new();
    let data = bindings.script.buffer();
    let set_layouts = [0, 1].map(|_| bindings.set_layout(&[(0, STORAGE, 1)]));
    let bound_layout = bindings.pipeline_layout(&[set_layouts[0]], push_bytes);
    let layout = bindings.pipeline_layout(&[set_layouts[1]], 16);
    let pipeline = bindings.pipeline(FIRST_SET, layout);
    let set = bindings.set(set_layouts[0]);
    bindings.write(set, (0, 0), STORAGE, range(data, u64::MAX));
    let commands =
        vec![Command::BindPipeline(pipeline), bind(bound_layout, 0, &[set], &[]), DISPATCH];
    bindings.script.submit(QUEUE, commands);
    bindings.script
}

#[test]
fn a_set_is_bound_for_pipelines_of_compatible_layouts_alone() {
    assert_all_hold(&bound_with(16));
    let message = only_refuted(&bound_with(32), CaptureCheckName::Descriptors);
    assert!(message.contains("a pipeline layout that is not compatible"), "{message}");
}

/// Two sets of one layout, the second one bound again with another layout.
fn bound_again(other_first: &[(u32, i32, u32)]) -> Script {
    const TWO_SETS: &str = "layout(set = 0, binding = 0) buffer A { uint a[]; };\n\
                            layout(set = 1, binding = 0) buffer B { uint b[]; };\n\
                            void main() { b[0] = a[0]; }";
    let mut bindings = Bindings::new();
    let buffers = [0, 1].map(|_| bindings.script.buffer());
    let set_layout = bindings.set_layout(&[(0, STORAGE, 1)]);
    let other_layout = bindings.set_layout(other_first);
    let layout = bindings.pipeline_layout(&[set_layout, set_layout], 16);
    let other = bindings.pipeline_layout(&[other_layout, set_layout], 16);
    let pipeline = bindings.pipeline(TWO_SETS, layout);
    let sets = [0, 1].map(|_| bindings.set(set_layout));
    for (set, buffer) in sets.iter().zip(buffers) {
        bindings.write(*set, (0, 0), STORAGE, range(buffer, u64::MAX));
    }
    let commands = vec![
        Command::BindPipeline(pipeline),
        bind(layout, 0, &sets, &[]),
        bind(other, 1, &sets[1..], &[]),
        bind(layout, 1, &sets[1..], &[]),
        DISPATCH,
    ];
    bindings.script.submit(QUEUE, commands);
    bindings.script
}

#[test]
fn binding_with_another_layout_disturbs_lower_sets() {
    assert_all_hold(&bound_again(&[(0, STORAGE, 1)]));
    let message = only_refuted(&bound_again(&[(0, STORAGE, 2)]), CaptureCheckName::Descriptors);
    assert!(message.contains("binding 0.0 (A): its set was bound with"), "{message}");
}

#[test]
fn an_inline_uniform_block_may_be_written_in_parts() {
    const BLOCK: &str = "layout(binding = 0) uniform A { uvec4 first; uvec4 second; };\n\
                         layout(binding = 1) buffer B { uint b[]; };\n\
                         void main() { b[0] = first.x + second.x; }";
    let written = |parts: &[u32]| {
        let mut bindings = Bindings::new();
        let data = bindings.script.buffer();
        let set_layout = bindings.set_layout(&[(0, INLINE, 32), (1, STORAGE, 1)]);
        let layout = bindings.pipeline_layout(&[set_layout], 16);
        let pipeline = bindings.pipeline(BLOCK, layout);
        let set = bindings.set(set_layout);
        for first in parts {
            let content = Descriptor::Inline(Bytes(vec![1; 16]));
            bindings.write(set, (0, *first), INLINE, content);
        }
        bindings.write(set, (1, 0), STORAGE, range(data, u64::MAX));
        let commands =
            vec![Command::BindPipeline(pipeline), bind(layout, 0, &[set], &[]), DISPATCH];
        bindings.script.submit(QUEUE, commands);
        bindings.script
    };
    assert_all_hold(&written(&[0, 16]));
    assert_all_hold(&written(&[16, 0]));
    let report = report(&written(&[16]));
    let open = told(&report, CaptureCheckName::BindingSize, CheckStatus::Undetermined);
    assert!(open[0].contains("16 bytes are written inline, the block has 32"), "{open:?}");
}

/// The buffers that the descriptors of a binding lead to, by element.
fn buffers_at(program: &Program, binding: u32) -> Vec<(u32, usize)> {
    let (_, dispatch) = program.dispatches().next().unwrap();
    let descriptors = dispatch.descriptors_at(0, binding).map(|(descriptor, _)| descriptor);
    let buffers = descriptors.map(|descriptor| match descriptor.resource {
        BoundResource::Buffer { buffer, .. } => (descriptor.element, buffer),
        _ => panic!("{descriptor:?}"),
    });
    buffers.collect()
}

#[test]
fn copies_keep_places_between_which_nothing_was_written() {
    let mut bindings = Bindings::new();
    let buffers = [0, 1].map(|_| bindings.script.buffer());
    let set_layout = bindings.set_layout(&[(0, STORAGE, 2), (1, STORAGE, 2)]);
    let layout = bindings.pipeline_layout(&[set_layout], 16);
    let pipeline = bindings.pipeline(FIRST_SET, layout);
    let [source, target] = [0, 1].map(|_| bindings.set(set_layout));
    bindings.write(source, (0, 0), STORAGE, range(buffers[0], u64::MAX));
    bindings.write(source, (1, 1), STORAGE, range(buffers[1], u64::MAX));
    bindings.copy((source, 0, 0), (target, 0, 0), 4);
    let commands = vec![Command::BindPipeline(pipeline), bind(layout, 0, &[target], &[]), DISPATCH];
    bindings.script.submit(QUEUE, commands);
    let program = bindings.script.program();
    assert_eq!(buffers_at(&program, 0), [(0, 0)]);
    assert_eq!(buffers_at(&program, 1), [(1, 1)]);
}

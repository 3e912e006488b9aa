//! Images: their layouts, the order of what touches them, what they hold, and test procedures.

use super::script::{
    BYTES, COHERENT, COMPUTE, QUEUE, SHADER_READ, SHADER_WRITE, Script, TRANSFER, TRANSFER_WRITE,
    TestBuffer,
};
use super::{assert_all_hold, only_refuted, report, told};
use crate::procedure::captured_procedure;
use crate::row::CaptureCheckName;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use vkcert_capture::command::{Command, Dependency, DependencyScope, QueueTransfer};
use vkcert_capture::event::*;
use vkcert_capture::image::{
    BufferImageRegion, Coordinates, FloatBits, ImageInLayout, ImageRegion, ImageScope,
    SubresourceRange, TexelBox,
};
use vkcert_capture::value::{Bytes, Handle};
use vkcert_model::evidence::CheckStatus;

const CHECK: CaptureCheckName = CaptureCheckName::DeviceDependency;

const UNDEFINED: i32 = 0;
const GENERAL: i32 = 1;
const READ_ONLY: i32 = 5;
const TARGET: i32 = 7;

const R32_UINT: i32 = 98;

const SAMPLED_IMAGE: i32 = 2;
const STORAGE_IMAGE: i32 = 3;

/// Columns, rows and layers of every image; two levels.
const EXTENT: [u32; 3] = [4, 2, 1];
const LAYERS: u32 = 3;

const STORE: &str = "layout(local_size_x = 4, local_size_y = 2) in;\n\
     layout(binding = 0, r32ui) uniform writeonly uimage2D image;\n\
     void main() { imageStore(image, ivec2(gl_GlobalInvocationID.xy), uvec4(1)); }";
const LOAD: &str = "#extension GL_EXT_samplerless_texture_functions : require\n\
     layout(local_size_x = 4, local_size_y = 2) in;\n\
     layout(binding = 0) uniform utexture2D image;\n\
     layout(binding = 1) buffer A { uint a[]; };\n\
     void main() {\n\
         uint at = gl_LocalInvocationIndex;\n\
         a[at] = texelFetch(image, ivec2(gl_GlobalInvocationID.xy), 0).x;\n\
     }";

/// An image and a view of one layer of its largest level.
#[derive(Debug, Clone, Copy)]
struct TestImage {
    image: Handle,
    view: Handle,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct TestPipeline {
    pipeline: Handle,
    layout: Handle,
    pub(super) set: Handle,
}

pub(super) struct Images {
    pub(super) script: Script,
}

fn part(level: u32, layer: u32) -> SubresourceRange {
    SubresourceRange { aspects: 1, level, levels: 1, layer, layers: 1 }
}

fn texels(level: u32, layer: u32, offset: [i32; 3], extent: [u32; 3]) -> TexelBox {
    TexelBox { aspects: 1, level, layer, layers: 1, offset, extent }
}

impl Images {
    pub(super) fn new() -> Self {
        Self { script: Script::new(COHERENT) }
    }

    fn image(&mut self) -> TestImage {
        let image = self.script.handle();
        self.script.push(Event::ImageMade(Box::new(Image {
            image,
            flags: 0,
            image_type: 1,
            format: R32_UINT,
            extent: EXTENT,
            levels: 2,
            layers: LAYERS,
            samples: 1,
            tiling: 0,
            usage: 0xf,
            initial_layout: UNDEFINED,
            memory_bytes: 0,
        })));
        let view = self.view(image, part(0, 0), [0; 4]);
        TestImage { image, view }
    }

    fn view(&mut self, image: Handle, range: SubresourceRange, components: [i32; 4]) -> Handle {
        let view = self.script.handle();
        let (view_type, format) = (1, R32_UINT);
        let made = ImageView { view, image, view_type, format, components, range };
        self.script.push(Event::ImageView(made));
        view
    }

    /// A pipeline with an image at binding 0 and a buffer behind it.
    pub(super) fn pipeline(
        &mut self,
        glsl: &str,
        (class, view, layout): (i32, Handle, i32),
        buffer: TestBuffer,
    ) -> TestPipeline {
        let handles = [(); 5].map(|()| self.script.handle());
        let [module, set_layout, pipeline_layout, pipeline, set] = handles;
        let code = Bytes(super::compiled(glsl));
        let binding = |binding: u32, descriptor_type: i32| LayoutBinding {
            binding,
            descriptor_type,
            count: 1,
            stages: 0x20,
        };
        let write = |binding: u32, descriptor_type: i32, written: Descriptor| DescriptorWrite {
            set,
            binding,
            element: 0,
            descriptor_type,
            descriptors: vec![written],
        };
        let seen = Descriptor::View { view, sampler: Handle(0), layout };
        let bound = Descriptor::Buffer { buffer: buffer.buffer, offset: 0, range: u64::MAX };
        let events = [
            Event::ShaderModule(ShaderModule { module, code }),
            Event::SetLayout(SetLayout {
                layout: set_layout,
                flags: 0,
                bindings: vec![binding(0, class), binding(1, 7)],
            }),
            Event::BindingFlags(BindingFlags {
                layout: set_layout,
                bindings: vec![(0, self.script.binding_flags)],
            }),
            Event::PipelineLayout(PipelineLayout {
                layout: pipeline_layout,
                sets: vec![set_layout],
                push_constants: Vec::new(),
            }),
            Event::ComputePipeline(ComputePipeline {
                pipeline,
                layout: pipeline_layout,
                module,
                entry: "main".to_owned(),
                specialization: Vec::new(),
            }),
            Event::DescriptorSets(DescriptorSets {
                pool: Handle(6),
                sets: vec![(set, set_layout)],
            }),
            Event::WriteDescriptors(vec![write(0, class, seen), write(1, 7, bound)]),
        ];
        events.into_iter().for_each(|event| self.script.push(event));
        TestPipeline { pipeline, layout: pipeline_layout, set }
    }
}

impl TestPipeline {
    pub(super) fn dispatch(self) -> Vec<Command> {
        vec![
            Command::BindPipeline(self.pipeline),
            Command::BindSets {
                layout: self.layout,
                first: 0,
                sets: vec![self.set],
                dynamic_offsets: Vec::new(),
            },
            Command::Dispatch { base: [0; 3], groups: [1; 3] },
        ]
    }
}

/// A barrier of a part of an image, from stages and accesses in a layout to others.
fn change(
    image: TestImage,
    range: SubresourceRange,
    (source_stages, source_access, before): (u64, u64, i32),
    (target_stages, target_access, behind): (u64, u64, i32),
) -> Command {
    let (layouts, transfer) = ([before, behind], QueueTransfer::None);
    let scope = ImageScope { image: image.image, range, layouts, transfer };
    Command::Barrier(vec![Dependency {
        source_stages,
        source_access,
        target_stages,
        target_access,
        scope: DependencyScope::ImagePart(scope),
    }])
}

const STORED: (u64, u64, i32) = (COMPUTE, SHADER_WRITE, GENERAL);
const FETCHED: (u64, u64, i32) = (COMPUTE, SHADER_READ, READ_ONLY);
const COPIED: (u64, u64, i32) = (TRANSFER, TRANSFER_WRITE, TARGET);
const NOTHING: (u64, u64, i32) = (0x1, 0, UNDEFINED);

/// One kernel stores to an image, and another one reads it behind what stands between.
fn stored_and_fetched(seen_layout: i32, between: impl FnOnce(TestImage) -> Vec<Command>) -> Script {
    let mut images = Images::new();
    let (image, buffer) = (images.image(), images.script.buffer());
    let store = images.pipeline(STORE, (STORAGE_IMAGE, image.view, GENERAL), buffer);
    let load = images.pipeline(LOAD, (SAMPLED_IMAGE, image.view, seen_layout), buffer);
    let commands = [
        vec![change(image, part(0, 0), NOTHING, STORED)],
        store.dispatch(),
        between(image),
        load.dispatch(),
    ];
    images.script.submit(QUEUE, commands.concat());
    images.script
}

#[test]
fn a_barrier_of_the_image_orders_what_touches_it() {
    let right = |image| vec![change(image, part(0, 0), STORED, FETCHED)];
    assert_all_hold(&stored_and_fetched(READ_ONLY, right));
    let message = only_refuted(&stored_and_fetched(GENERAL, |_| Vec::new()), CHECK);
    let expected = "dispatch 2 (operation 4) reads binding 0.0 (image 1, level 0, layer 0), which \
                    dispatch 1 (operation 3) writes, and no dependency orders the two";
    assert!(message.starts_with(expected), "{message}");
    // A barrier of another layer is none of this one.
    let other_layer =
        |image| vec![change(image, part(0, 1), STORED, (COMPUTE, SHADER_READ, GENERAL))];
    let messages =
        told(&report(&stored_and_fetched(GENERAL, other_layer)), CHECK, CheckStatus::Refuted);
    assert!(messages.iter().any(|message| message.contains("level 0, layer 0")), "{messages:#?}");
}

/// What a kernel touches of the layer that its view sees is touched of that layer.
#[test]
fn views_of_other_layers_are_told_apart() {
    let through = |layers: [u32; 2]| {
        let mut images = Images::new();
        let (image, buffer) = (images.image(), images.script.buffer());
        let [stored, fetched] =
            layers.map(|layer| images.view(image.image, part(0, layer), [0; 4]));
        let store = images.pipeline(STORE, (STORAGE_IMAGE, stored, GENERAL), buffer);
        let load = images.pipeline(LOAD, (SAMPLED_IMAGE, fetched, GENERAL), buffer);
        let all = SubresourceRange { layers: u32::MAX, ..part(0, 0) };
        let access = (COMPUTE, SHADER_READ | SHADER_WRITE, GENERAL);
        let first = change(image, all, NOTHING, access);
        images.script.submit(QUEUE, [vec![first], store.dispatch(), load.dispatch()].concat());
        images.script
    };
    assert_all_hold(&through([0, 1]));
    let message = only_refuted(&through([2, 2]), CHECK);
    assert!(message.contains("image 1, level 0, layer 2"), "{message}");
}

/// A change of layout is a write: what stands before it is to be in its first scope, what stands
/// behind it in its second one.
#[test]
fn changes_of_layout_are_ordered_like_writes() {
    let without_source = |image| vec![change(image, part(0, 0), (0x1, 0, GENERAL), FETCHED)];
    let messages =
        told(&report(&stored_and_fetched(READ_ONLY, without_source)), CHECK, CheckStatus::Refuted);
    let expected = "the barrier (operation 4) changes the layout of image 1, level 0, layer 0, which \
                    dispatch 1 (operation 3) writes, and no dependency orders the two";
    assert!(messages.iter().any(|message| message.starts_with(expected)), "{messages:#?}");
    let without_access = |image| vec![change(image, part(0, 0), (COMPUTE, 0, GENERAL), FETCHED)];
    let messages =
        told(&report(&stored_and_fetched(READ_ONLY, without_access)), CHECK, CheckStatus::Refuted);
    assert!(
        messages.iter().any(|message| message.contains("leaves the write out")),
        "{messages:#?}"
    );
    let without_target = |image| vec![change(image, part(0, 0), STORED, (COMPUTE, 0, READ_ONLY))];
    let message = only_refuted(&stored_and_fetched(READ_ONLY, without_target), CHECK);
    let expected = "which the barrier (operation 4) brings into another layout";
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("dstAccessMask SHADER_READ"), "{message}");
}

/// One kernel may store to an image, and the layout is changed behind it without an order.
fn stored_and_changed(statement: &str, between: Vec<Command>) -> Script {
    let mut images = Images::new();
    let (image, buffer) = (images.image(), images.script.buffer());
    let glsl = format!(
        "layout(local_size_x = 4, local_size_y = 2) in;\n\
         layout(binding = 0, r32ui) uniform writeonly uimage2D image;\n\
         layout(binding = 1) buffer A {{ uint a[]; }};\n\
         void main() {{ {statement} }}"
    );
    let store = images.pipeline(&glsl, (STORAGE_IMAGE, image.view, GENERAL), buffer);
    let commands = [
        vec![change(image, part(0, 0), NOTHING, STORED)],
        store.dispatch(),
        between,
        vec![change(image, part(0, 0), (0x1, 0, GENERAL), FETCHED)],
    ];
    images.script.submit(QUEUE, commands.concat());
    images.script
}

/// A change of layout touches all of its range: what counts is whether the other access does.
#[test]
fn a_change_of_layout_needs_an_order_where_texels_are_touched() {
    let all = "imageStore(image, ivec2(gl_GlobalInvocationID.xy), uvec4(1));";
    let message = only_refuted(&stored_and_changed(all, Vec::new()), CHECK);
    assert!(message.contains("changes the layout of image 1, level 0, layer 0, which dispatch 1"));
    let none = format!("if (gl_GlobalInvocationID.x > 100u) {{ {all} }}");
    assert_all_hold(&stored_and_changed(&none, Vec::new()));
    let open = |statement: &str, between: Vec<Command>, reason: &str| {
        let report = report(&stored_and_changed(statement, between));
        assert_eq!(told(&report, CHECK, CheckStatus::Refuted), Vec::<String>::new());
        let messages = told(&report, CHECK, CheckStatus::Undetermined);
        let is_told = |message: &String| {
            message.contains("changes the layout of image 1") && message.ends_with(reason)
        };
        assert!(messages.iter().any(is_told), "{messages:#?}");
    };
    let chosen = "imageStore(image, ivec2(a[0], 0), uvec4(1));";
    open(chosen, Vec::new(), "depends on more than what the host gives");
    let name = "vkCmdWaitEvents".to_owned();
    let events = Command::Unsupported { name, effect: OpenEffect::Order };
    open(all, vec![events], "because vkCmdWaitEvents stands between them, not modelled");
}

#[test]
fn images_are_in_the_layouts_that_descriptors_and_barriers_name() {
    let in_general =
        |image| vec![change(image, part(0, 0), STORED, (COMPUTE, SHADER_READ, GENERAL))];
    let message = only_refuted(&stored_and_fetched(READ_ONLY, in_general), CHECK);
    let expected = "binding 0.0 names image 1 in the layout SHADER_READ_ONLY_OPTIMAL, and it is in \
                    GENERAL";
    assert!(message.contains(expected), "{message}");
    let from_target =
        |image| vec![change(image, part(0, 0), (COMPUTE, SHADER_WRITE, TARGET), FETCHED)];
    let message = only_refuted(&stored_and_fetched(READ_ONLY, from_target), CHECK);
    assert!(message.contains("it takes image 1 in the layout TRANSFER_DST_OPTIMAL"), "{message}");
    let render_pass = |image| {
        let (name, effect) = ("vkCmdBeginRenderPass".to_owned(), OpenEffect::Order);
        vec![Command::Unsupported { name, effect }, change(image, part(0, 0), STORED, FETCHED)]
    };
    let report = report(&stored_and_fetched(GENERAL, render_pass));
    let messages = told(&report, CHECK, CheckStatus::Refuted);
    let names_layout = messages.iter().any(|message| message.contains("binding 0.0 names image"));
    assert!(names_layout, "the barrier tells the layout again: {messages:#?}");
}

/// With synchronization2 the layouts of a barrier that names one twice are ignored.
#[test]
fn a_barrier_that_names_one_layout_twice_changes_none() {
    for layout in [UNDEFINED, TARGET] {
        let order = |image| {
            let (source, target) =
                ((COMPUTE, SHADER_WRITE, layout), (COMPUTE, SHADER_READ, layout));
            vec![change(image, part(0, 0), source, target)]
        };
        let report = report(&stored_and_fetched(GENERAL, order));
        assert_eq!(told(&report, CHECK, CheckStatus::Refuted).len(), 0, "{:#?}", report.checks);
        let messages = told(&report, CHECK, CheckStatus::Undetermined);
        let is_doubted = messages.iter().any(|message| message.contains("synchronization2"));
        assert_eq!(is_doubted, layout == TARGET, "{messages:?}");
    }
}

/// A layout that may be wrong is told first, and one that is wrong of the same pipeline still is.
#[test]
fn an_open_layout_hides_no_wrong_one() {
    let mut images = Images::new();
    let (image, buffer) = (images.image(), images.script.buffer());
    let view = images.view(image.image, SubresourceRange { levels: 2, ..part(0, 0) }, [0; 4]);
    let load = images.pipeline(LOAD, (SAMPLED_IMAGE, view, READ_ONLY), buffer);
    let commands = [
        vec![change(image, part(0, 0), NOTHING, FETCHED)],
        load.dispatch(),
        vec![change(image, part(0, 0), FETCHED, STORED)],
        load.dispatch(),
    ];
    images.script.submit(QUEUE, commands.concat());
    let report = report(&images.script);
    for (status, dispatch) in
        [(CheckStatus::Undetermined, "dispatch 1 "), (CheckStatus::Refuted, "dispatch 2 ")]
    {
        let messages = told(&report, CHECK, status);
        let is_told =
            |message: &String| message.starts_with(dispatch) && message.contains("in the layout");
        assert!(messages.iter().any(is_told), "{messages:#?}");
    }
}

/// Where no invocation reaches an image, its layout is not asked for; a command reaches all that it
/// names.
#[test]
fn layouts_count_where_texels_are_reached() {
    let of_groups = |groups: [u32; 3]| {
        let mut images = Images::new();
        let (image, buffer) = (images.image(), images.script.buffer());
        let load = images.pipeline(LOAD, (SAMPLED_IMAGE, image.view, READ_ONLY), buffer);
        let mut commands = vec![change(image, part(0, 0), NOTHING, STORED)];
        commands.extend(load.dispatch().into_iter().map(|command| match command {
            Command::Dispatch { base, .. } => Command::Dispatch { base, groups },
            other => other,
        }));
        images.script.submit(QUEUE, commands);
        let messages = told(&report(&images.script), CHECK, CheckStatus::Refuted);
        messages.iter().filter(|message| message.contains("in the layout")).count()
    };
    assert_eq!((of_groups([1, 1, 1]), of_groups([0, 1, 1])), (1, 0));
    let mut images = Images::new();
    let image = images.image();
    let clear = Command::ClearColor {
        to: ImageInLayout { image: image.image, layout: TARGET },
        color: [0; 4],
        ranges: vec![SubresourceRange { levels: 2, ..part(0, 0) }],
    };
    images.script.submit(QUEUE, vec![change(image, part(0, 0), NOTHING, COPIED), clear]);
    let messages = told(&report(&images.script), CHECK, CheckStatus::Refuted);
    assert!(messages.iter().any(|message| message.contains("UNDEFINED")), "{messages:#?}");
}

/// Copies that touch no texel in common need no order; texels alone are compared.
#[test]
fn boxes_of_one_layer_are_told_apart_by_their_texels() {
    let copied = |columns: [i32; 2]| {
        let mut images = Images::new();
        let (image, buffer) = (images.image(), images.script.buffer());
        let copies = columns.map(|column| Command::CopyBufferToImage {
            from: buffer.buffer,
            to: ImageInLayout { image: image.image, layout: TARGET },
            regions: vec![BufferImageRegion {
                buffer_offset: 0,
                row_length: 0,
                image_height: 0,
                texels: texels(0, 0, [column, 0, 0], [2, 2, 1]),
            }],
        });
        let first = change(image, part(0, 0), NOTHING, COPIED);
        images.script.submit(QUEUE, [vec![first], copies.to_vec()].concat());
        images.script
    };
    assert_all_hold(&copied([0, 2]));
    let message = only_refuted(&copied([0, 1]), CHECK);
    assert!(message.contains("the copy (operation 4) writes its target (image 1"), "{message}");
}

/// An image at the end of a buffer's memory, of so many bytes and a format, which a kernel stores to
/// in a layout that it is in or not.
fn stored_beside_a_buffer(memory_bytes: u64, format: i32, layout: i32) -> Vec<String> {
    let mut images = Images::new();
    let buffer = images.script.buffer();
    let image = images.script.handle();
    let made = Image {
        image,
        flags: 0,
        image_type: 1,
        format,
        extent: EXTENT,
        levels: 1,
        layers: 1,
        samples: 1,
        tiling: 0,
        usage: 0xf,
        initial_layout: UNDEFINED,
        memory_bytes,
    };
    images.script.push(Event::ImageMade(Box::new(made)));
    let binding = Binding { resource: image, memory: buffer.memory, offset: BYTES - 64 };
    images.script.push(Event::BindImage(binding));
    let view = images.view(image, part(0, 0), [0; 4]);
    let store = images.pipeline(STORE, (STORAGE_IMAGE, view, layout), buffer);
    let image = TestImage { image, view };
    let first = change(image, part(0, 0), NOTHING, STORED);
    images.script.submit(QUEUE, [vec![first], store.dispatch()].concat());
    let report = report(&images.script);
    let refuted = told(&report, CHECK, CheckStatus::Refuted);
    let marked = refuted.into_iter().map(|message| format!("REFUTED {message}"));
    marked.chain(told(&report, CHECK, CheckStatus::Undetermined)).collect()
}

#[test]
fn what_of_images_is_not_followed_is_undetermined_by_name() {
    const DEPTH: i32 = 126;
    for (memory_bytes, format, layout, words) in [
        (64, R32_UINT, GENERAL, "buffer 1 lies in the same memory"),
        (0, R32_UINT, GENERAL, "how many bytes of memory it takes is not known"),
        (64, DEPTH, READ_ONLY, "some layouts of depth and stencil stand for others"),
    ] {
        let messages = stored_beside_a_buffer(memory_bytes, format, layout);
        assert!(messages.iter().all(|message| !message.starts_with("REFUTED")), "{messages:#?}");
        assert!(messages.iter().any(|message| message.contains(words)), "{messages:#?}");
    }
    let messages = stored_beside_a_buffer(64, R32_UINT, READ_ONLY);
    assert!(messages[0].starts_with("REFUTED"), "{messages:#?}");
}

/// An image that a buffer fills, of which the kernel sees one layer of one level.
fn filled(seen: SubresourceRange, components: [i32; 4]) -> Script {
    let mut images = Images::new();
    let (image, staging, buffer) = (images.image(), images.script.buffer(), images.script.buffer());
    let bytes = Bytes((0..=255).collect());
    images.script.map(staging);
    images.script.push(Event::Contents(Contents { memory: staging.memory, offset: 0, bytes }));
    images.script.push(Event::Unmap(staging.memory));
    let view = images.view(image.image, seen, components);
    let load = images.pipeline(LOAD, (SAMPLED_IMAGE, view, READ_ONLY), buffer);
    let all = SubresourceRange { levels: u32::MAX, layers: u32::MAX, ..part(0, 0) };
    let target = ImageInLayout { image: image.image, layout: TARGET };
    let copy = Command::CopyBufferToImage {
        from: staging.buffer,
        to: target,
        regions: vec![BufferImageRegion {
            buffer_offset: 4,
            // Rows and slices of the buffer are longer than those of the image.
            row_length: 5,
            image_height: 3,
            texels: TexelBox { layers: LAYERS, ..texels(0, 0, [0; 3], EXTENT) },
        }],
    };
    let clear = Command::ClearColor { to: target, color: [9, 0, 0, 0], ranges: vec![part(1, 2)] };
    let same = Command::CopyImage {
        from: ImageInLayout { layout: GENERAL, ..target },
        to: target,
        regions: vec![ImageRegion {
            from: texels(0, 2, [1, 1, 0], [2, 1, 1]),
            to: texels(1, 1, [0; 3], [2, 1, 1]),
        }],
    };
    let commands = [
        vec![change(image, all, NOTHING, COPIED), copy, clear, same],
        vec![change(image, all, COPIED, FETCHED)],
        load.dispatch(),
    ];
    images.script.submit(QUEUE, commands.concat());
    images.script
}

/// The image of the procedure of the one dispatch.
fn procedure_image(script: &Script) -> (serde_json::Value, Vec<u8>, Vec<String>) {
    let procedure = captured_procedure(&script.program(), 1).unwrap();
    let image = procedure.document["tests"][0]["images"]["image1"].clone();
    let bytes = STANDARD.decode(image["bytes"].as_str().unwrap_or_default()).unwrap();
    (image, bytes, procedure.remarks)
}

#[test]
fn a_procedure_has_the_layer_that_the_kernel_sees_with_what_was_copied_into_it() {
    let (image, bytes, remarks) = procedure_image(&filled(part(0, 1), [0; 4]));
    assert_eq!(image["extent"], serde_json::json!([4, 2]));
    assert_eq!((&image["layers"], &image["levels"]), (&1.into(), &1.into()));
    // Behind four bytes and three rows of five texels.
    let first = 4 + 3 * 5 * 4;
    let expected: Vec<u8> = (first..first + 16).chain(first + 20..first + 36).collect();
    assert_eq!(bytes, expected);
    assert!(remarks[0].contains("levels 0 to 0 and layers 1 to 1"), "{remarks:?}");
    let (_, bytes, _) = procedure_image(&filled(part(1, 2), [0; 4]));
    assert_eq!(bytes, [9, 0, 0, 0, 9, 0, 0, 0], "the color that it was cleared to");
    let (_, bytes, _) = procedure_image(&filled(part(1, 1), [0; 4]));
    let first = 4 + (2 * 3 + 1) * 5 * 4 + 4;
    assert_eq!(bytes, (first..first + 8).collect::<Vec<u8>>(), "copied from another image");
    let (image, _, remarks) = procedure_image(&filled(part(1, 0), [0; 4]));
    assert_eq!(image["bytes"], serde_json::Value::String(STANDARD.encode([0; 8])));
    assert!(remarks.iter().any(|remark| remark.contains("8 of 8 bytes")), "{remarks:?}");
    let swizzled = filled(part(0, 0), [6, 5, 4, 3]);
    let refusal = captured_procedure(&swizzled.program(), 1).unwrap_err();
    assert_eq!(refusal, "image 1: its view exchanges components");
}

/// What a dispatch may have written, and what a barrier discards, is not known.
#[test]
fn contents_that_are_written_or_discarded_are_not_known() {
    let behind = |between: fn(&mut Images, TestImage, TestBuffer) -> Vec<Command>| {
        let mut images = Images::new();
        let (image, buffer) = (images.image(), images.script.buffer());
        let bytes = Bytes(vec![5; 32]);
        let (level, layer) = (0, 0);
        let contents = ImageContents { image: image.image, level, layer, bytes };
        images.script.push(Event::ImageContents(contents));
        let between = between(&mut images, image, buffer);
        let load = images.pipeline(LOAD, (SAMPLED_IMAGE, image.view, GENERAL), buffer);
        images.script.submit(QUEUE, [between, load.dispatch()].concat());
        let program = images.script.program();
        let number = program.dispatches().count() as u32;
        let procedure = captured_procedure(&program, number).unwrap();
        procedure.document["tests"][0]["images"]["image1"]["bytes"].is_string()
    };
    assert!(behind(|_, image, _| vec![change(image, part(0, 0), STORED, STORED)]));
    assert!(behind(|_, image, _| vec![change(image, part(0, 1), NOTHING, STORED)]));
    assert!(!behind(|_, image, _| vec![change(image, part(0, 0), NOTHING, STORED)]));
    assert!(!behind(|images, image, buffer| {
        images.pipeline(STORE, (STORAGE_IMAGE, image.view, GENERAL), buffer).dispatch()
    }));
}

#[test]
fn what_the_layer_read_or_could_not_read_is_said() {
    let told_of = |event: fn(Handle) -> Event| {
        let mut images = Images::new();
        let (image, buffer) = (images.image(), images.script.buffer());
        let load = images.pipeline(LOAD, (SAMPLED_IMAGE, image.view, READ_ONLY), buffer);
        images.script.push(event(image.image));
        images.script.submit(QUEUE, load.dispatch());
        procedure_image(&images.script)
    };
    let (_, bytes, _) = told_of(|image| {
        let bytes = Bytes(vec![5; 32]);
        Event::ImageContents(ImageContents { image, level: 0, layer: 0, bytes })
    });
    assert_eq!(bytes, [5; 32]);
    let (_, bytes, remarks) = told_of(|image| {
        let reason = "it was not made to be copied".to_owned();
        Event::UnreadImage(UnreadImage { image, reason })
    });
    assert_eq!(bytes, Vec::<u8>::new());
    let expected = "the layer did not read it: it was not made to be copied";
    assert!(remarks.iter().any(|remark| remark.contains(expected)), "{remarks:?}");
}

/// What else lies in the memory of an image may have written it.
#[test]
fn contents_of_shared_memory_are_not_known() {
    let at = |offset: u64| {
        let mut images = Images::new();
        let (image, buffer) = (images.image(), images.script.buffer());
        let (resource, memory) = (image.image, buffer.memory);
        images.script.push(Event::BindImage(Binding { resource, memory, offset }));
        let (level, layer, bytes) = (0, 0, Bytes(vec![5; 32]));
        images.script.push(Event::ImageContents(ImageContents {
            image: image.image,
            level,
            layer,
            bytes,
        }));
        let load = images.pipeline(LOAD, (SAMPLED_IMAGE, image.view, GENERAL), buffer);
        images.script.submit(QUEUE, load.dispatch());
        procedure_image(&images.script)
    };
    assert_eq!(at(BYTES).1, [5; 32]);
    let (_, bytes, remarks) = at(BYTES - 64);
    assert_eq!(bytes, Vec::<u8>::new());
    let expected = "buffer 1 lies in the same memory";
    assert!(remarks.iter().any(|remark| remark.contains(expected)), "{remarks:?}");
}

#[test]
fn samplers_that_a_procedure_cannot_say_are_refused_by_name() {
    type Change = fn(&mut Sampler);
    const SAMPLE: &str = "layout(binding = 0) uniform usampler2D image;\n\
         layout(binding = 1) buffer A { uint a[]; };\n\
         void main() { a[0] = texture(image, vec2(0.5)).x; }";
    let procedure = |change: Change| {
        let mut images = Images::new();
        let (image, buffer, sampler) =
            (images.image(), images.script.buffer(), images.script.handle());
        let mut made = Sampler {
            sampler,
            filters: [0; 2],
            mipmap: 1,
            address: [2, 2, 0],
            border: 0,
            anisotropy: None,
            compare: None,
            lod: [0.0f32, 0.0, 1000.0].map(|number| FloatBits(number.to_bits())),
            coordinates: Coordinates::Normalized,
            extended: false,
        };
        change(&mut made);
        images.script.push(Event::Sampler(made));
        let sample = images.pipeline(SAMPLE, (1, image.view, READ_ONLY), buffer);
        images.script.push(Event::WriteDescriptors(vec![DescriptorWrite {
            set: sample.set,
            binding: 0,
            element: 0,
            descriptor_type: 1,
            descriptors: vec![Descriptor::View { view: image.view, sampler, layout: READ_ONLY }],
        }]));
        images.script.submit(QUEUE, sample.dispatch());
        captured_procedure(&images.script.program(), 1)
    };
    let said = procedure(|_| {}).unwrap().document["tests"][0]["samplers"]["sampler1"].clone();
    assert_eq!(
        said,
        serde_json::json!({
            "filter": "nearest",
            "mipmap": "linear",
            "address": "clamp_to_edge",
            "min_lod": 0.0,
            "lod_bias": 0.0,
            "coordinates": "normalized",
        })
    );
    let cases: [(Change, &str); 4] = [
        (|sampler| sampler.filters = [0, 1], "sampler 1: it enlarges with another filter"),
        (|sampler| sampler.address = [0, 1, 0], "sampler 1: its axes have different address modes"),
        (|sampler| sampler.anisotropy = Some(FloatBits(0)), "sampler 1: it is anisotropic"),
        (|sampler| sampler.extended = true, "sampler 1: flags or chained structures say more"),
    ];
    for (change, expected) in cases {
        let refusal = procedure(change).unwrap_err();
        assert!(refusal.starts_with(expected), "{refusal}");
    }
}

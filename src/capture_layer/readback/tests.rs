//! What is read of a dispatch and what is named instead, by records alone.

use super::bound_places::{BoundPlaces, BoundRange, bound_places};
use super::objects::Objects;
use super::recorded::{CommandBuffer, PoolProtection};
use std::sync::Arc;
use vkcert_capture::command::{Command, Dependency, DependencyScope, QueueTransfer};
use vkcert_capture::event::*;
use vkcert_capture::image::{ImageScope, SubresourceRange};
use vkcert_capture::value::Handle;

const MEMORY: Handle = Handle(1);
const BUFFER: Handle = Handle(2);
const SET_LAYOUT: Handle = Handle(3);
const LAYOUT: Handle = Handle(4);
const SET: Handle = Handle(5);
const PIPELINE: Handle = Handle(6);
const IMAGE: Handle = Handle(7);
const VIEW: Handle = Handle(8);

const GENERAL: i32 = 1;
const SHADER_READ_ONLY: i32 = 5;

/// Descriptor types.
const STORAGE_IMAGE: i32 = 3;
const STORAGE_BUFFER: i32 = 7;
const STORAGE_BUFFER_DYNAMIC: i32 = 9;

/// A buffer at bindings 0 and 1 (dynamic), an image at 2; the kernel uses some bindings.
struct Scene {
    objects: Objects,
    records: u64,
}

fn image(levels: u32) -> Image {
    Image {
        image: IMAGE,
        flags: 0,
        image_type: 1,
        format: 98,
        extent: [8, 4, 1],
        levels,
        layers: 1,
        samples: 1,
        tiling: 0,
        usage: 0xf,
        initial_layout: 0,
        memory_bytes: 256,
    }
}

const ALL: SubresourceRange =
    SubresourceRange { aspects: 1, level: 0, levels: u32::MAX, layer: 0, layers: u32::MAX };

impl Scene {
    fn of(used: &[u32], flags: Vec<(u32, u32)>, levels: u32) -> Self {
        let mut scene = Self { objects: Objects::default(), records: 0 };
        let types = [STORAGE_BUFFER, STORAGE_BUFFER_DYNAMIC, STORAGE_IMAGE];
        let bindings = (0..).zip(types).map(|(binding, descriptor_type)| LayoutBinding {
            binding,
            descriptor_type,
            count: 1,
            stages: 0x20,
        });
        let write = |binding: u32, descriptor: Descriptor| DescriptorWrite {
            set: SET,
            binding,
            element: 0,
            descriptor_type: types[binding as usize],
            descriptors: vec![descriptor],
        };
        let range = |offset: u64, range: u64| Descriptor::Buffer { buffer: BUFFER, offset, range };
        let view = Descriptor::View { view: VIEW, sampler: Handle(0), layout: SHADER_READ_ONLY };
        for event in [
            Event::Memory(Memory { device: Handle(9), memory: MEMORY, size: 512, memory_type: 0 }),
            Event::Buffer(Buffer { buffer: BUFFER, size: 128, usage: 0x20 }),
            Event::BindBuffer(Binding { resource: BUFFER, memory: MEMORY, offset: 0 }),
            Event::ImageMade(Box::new(image(levels))),
            Event::BindImage(Binding { resource: IMAGE, memory: MEMORY, offset: 256 }),
            Event::ImageView(ImageView {
                view: VIEW,
                image: IMAGE,
                view_type: 1,
                format: 98,
                components: [0; 4],
                range: ALL,
            }),
            Event::SetLayout(SetLayout {
                layout: SET_LAYOUT,
                flags: 0,
                bindings: bindings.collect(),
            }),
            Event::BindingFlags(BindingFlags { layout: SET_LAYOUT, bindings: flags }),
            Event::PipelineLayout(PipelineLayout {
                layout: LAYOUT,
                sets: vec![SET_LAYOUT],
                push_constants: Vec::new(),
            }),
            Event::DescriptorSets(DescriptorSets {
                pool: Handle(10),
                sets: vec![(SET, SET_LAYOUT)],
            }),
            Event::WriteDescriptors(vec![
                write(0, range(16, u64::MAX)),
                write(1, range(0, 32)),
                write(2, view),
            ]),
        ] {
            scene.take(event);
        }
        let used = used.iter().map(|binding| (0, *binding)).collect();
        scene.objects.pipelines.insert(PIPELINE, Some(Arc::new(used)));
        scene
    }

    fn take(&mut self, event: Event) {
        self.records += 1;
        self.objects.take(self.records, &event);
    }

    /// What is read where pipeline and set are bound behind some commands.
    fn places(&self, before: &[Command]) -> BoundPlaces {
        let mut recorded = CommandBuffer::of_pool(Handle(11));
        let bind = Command::BindSets {
            layout: LAYOUT,
            first: 0,
            sets: vec![SET],
            dynamic_offsets: vec![64],
        };
        for command in before.iter().chain(&[Command::BindPipeline(PIPELINE), bind]) {
            recorded.take(&self.objects, command);
        }
        bound_places(&self.objects, &recorded)
    }
}

fn brought_to(layout: i32) -> Command {
    let scope = ImageScope {
        image: IMAGE,
        range: ALL,
        layouts: [0, layout],
        transfer: QueueTransfer::None,
    };
    Command::Barrier(vec![Dependency {
        source_stages: 0,
        source_access: 0,
        target_stages: 0,
        target_access: 0,
        scope: DependencyScope::ImagePart(scope),
    }])
}

fn ranges(places: &BoundPlaces) -> Vec<(u64, u64)> {
    let ranges = places.ranges.iter();
    ranges.map(|(_, BoundRange { offset, size, .. })| (*offset, *size)).collect()
}

#[test]
fn ranges_are_those_that_the_dispatch_sees() {
    let places = Scene::of(&[0, 1], Vec::new(), 1).places(&[]);
    assert_eq!((ranges(&places), places.unread.len()), (vec![(16, 112), (64, 32)], 0));
    let places = Scene::of(&[1], Vec::new(), 1).places(&[]);
    assert_eq!((ranges(&places), places.unread.len()), (vec![(64, 32)], 0));
}

/// UPDATE_AFTER_BIND, UPDATE_UNUSED_WHILE_PENDING, PARTIALLY_BOUND.
#[test]
fn what_need_not_be_valid_is_named_and_not_read() {
    for flag in [1, 2, 4] {
        let places = Scene::of(&[0, 1], vec![(0, flag)], 1).places(&[]);
        assert_eq!(ranges(&places), [(64, 32)]);
        let [reason] = &places.unread[..] else { panic!("{:?}", places.unread) };
        assert!(reason.starts_with("binding 0.0 may be written after"), "{reason}");
    }
}

#[test]
fn what_is_gone_is_named_and_not_read() {
    let kinds = [(ObjectKind::Buffer, BUFFER), (ObjectKind::Memory, MEMORY)];
    for (kind, handle) in kinds {
        let mut scene = Scene::of(&[0], Vec::new(), 1);
        scene.take(Event::Destroyed(Destroyed { kind, handle }));
        // A new one that has the old handle is not the one that the buffer lies in.
        scene.take(Event::Memory(Memory {
            device: Handle(9),
            memory: MEMORY,
            size: 512,
            memory_type: 0,
        }));
        let places = scene.places(&[]);
        assert_eq!(ranges(&places), []);
        assert_eq!(places.unread, ["binding 0.0: its buffer, or its memory, is gone"]);
    }
}

/// A layout that is not sure is not read: neither texels nor the image would be what they are.
#[test]
fn an_image_is_read_where_its_layout_is_sure() {
    let scene = Scene::of(&[2], Vec::new(), 2);
    let wait =
        Command::Unsupported { name: "vkCmdWaitEvents".to_owned(), effect: OpenEffect::Order };
    for (before, is_read) in [
        (vec![], false),
        (vec![brought_to(GENERAL)], false),
        (vec![brought_to(SHADER_READ_ONLY)], true),
        (vec![brought_to(SHADER_READ_ONLY), wait], false),
        (vec![brought_to(SHADER_READ_ONLY), Command::Execute(Vec::new())], false),
    ] {
        let places = scene.places(&before);
        assert_eq!(
            (places.texels.len(), places.unread.len()),
            match is_read {
                true => (1, 0),
                false => (0, 1),
            }
        );
    }
    let places = scene.places(&[brought_to(SHADER_READ_ONLY)]);
    let (_, texels) = &places.texels[0];
    assert_eq!((texels.layer_bytes(0), texels.layer_bytes(1)), (128, 32));
}

#[test]
fn command_buffers_that_may_run_twice_or_are_protected_are_not_read() {
    let mut recorded = CommandBuffer::of_pool(Handle(11));
    assert_eq!(recorded.refusal(PoolProtection::None), None);
    let protected = recorded.refusal(PoolProtection::Protected);
    assert_eq!(protected.as_deref(), Some("its command buffer is protected"));
    recorded.begin(4);
    assert!(recorded.refusal(PoolProtection::None).unwrap().contains("several times at once"));
    recorded.begin(1);
    assert_eq!(recorded.refusal(PoolProtection::None), None);
    let name = "vkCmdBindDescriptorBuffersEXT".to_owned();
    let bind = Command::Unsupported { name, effect: OpenEffect::Accesses };
    recorded.take(&Objects::default(), &bind);
    let unseen = recorded.refusal(PoolProtection::None).unwrap();
    assert!(unseen.contains("behind vkCmdBindDescriptorBuffersEXT"), "{unseen}");
}

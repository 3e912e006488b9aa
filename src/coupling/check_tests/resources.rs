//! Buffers, images and samplers on both sides.

use super::{
    KERNEL, LARGE, compiled, correct, coupled, coupled_module, coupled_with, refuted, rows,
};
use crate::{BufferUse, Interface, TestUse};
use std::collections::BTreeMap;
use vkcert_model::evidence::CheckStatus;
use vkcert_model::image::{ImageDim, ImageFormat};
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::{HostBuffer, HostImage};

#[test]
fn a_buffer_holds_what_its_block_has_at_least() {
    let source = KERNEL.replace("float right[];", "float right[8];");
    let row = |size: &str| {
        let mut interface = correct();
        interface.buffers[1].size = size.to_owned();
        refuted(&coupled_with(&source, &interface, &LARGE), "buffer-size").len()
    };
    assert_eq!((row("32"), row("31"), row("31 + m"), row("28 + 4 * m")), (0, 1, 0, 0));
    assert_eq!(row("30 + m"), 1);
}

#[test]
fn images_and_samplers_are_what_the_kernel_declares() {
    let text = "#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, rgba8) uniform image2D kept;
layout(set = 0, binding = 1) uniform texture3D volume;
layout(set = 0, binding = 2) uniform sampler near;
layout(set = 0, binding = 3) uniform isampler2DArray numbers;
layout(set = 0, binding = 4) buffer Out { float o[]; };
void main() {
    vec4 all = imageLoad(kept, ivec2(0)) + texture(sampler3D(volume, near), vec3(0)) + vec4(texture(numbers, vec3(0)));
    o[0] = all.x;
}
";
    let module = compiled(text);
    let image = |binding: u32, class, format, dimension, layered| HostImage {
        set: 0,
        binding,
        name: None,
        class,
        format,
        dimension,
        layered,
        multisampled: false,
        extent: Vec::new(),
        layers: None,
        levels: None,
        host_writes: true,
    };
    use DescriptorClass::{Combined, SampledImage, Sampler, StorageImage};
    let right = vec![
        image(0, StorageImage, Some(ImageFormat::Rgba8), Some(ImageDim::Two), false),
        image(1, SampledImage, Some(ImageFormat::R16f), Some(ImageDim::Three), false),
        image(2, Sampler, None, None, false),
        image(3, Combined, Some(ImageFormat::R32i), Some(ImageDim::Two), true),
    ];
    let shown = |images: Vec<HostImage>| {
        let buffers = vec![HostBuffer {
            binding: 4,
            size: "m * 4".to_owned(),
            ..correct().buffers.remove(0)
        }];
        let interface =
            Interface { buffers, images, push_constants: None, local_size: None, ..correct() };
        let coupling = coupled_module(&module, &interface, &LARGE);
        let found = rows(&coupling, "image-descriptor").into_iter();
        found.map(|row| (row.status.to_string(), row.message.clone())).collect::<Vec<_>>()
    };
    let statuses = |images: Vec<HostImage>| {
        let all = shown(images).into_iter();
        all.map(|(status, _)| status).filter(|status| status != "holds").collect::<Vec<_>>()
    };
    assert_eq!(shown(right.clone()).len(), 4);
    assert!(statuses(right.clone()).is_empty(), "{:#?}", shown(right.clone()));
    type Change = fn(&mut Vec<HostImage>);
    let wrong: &[(Change, &str)] = &[
        (|images| images[0].class = DescriptorClass::SampledImage, "refuted"),
        (|images| images[0].format = Some(ImageFormat::Rgba8i), "refuted"),
        (|images| images[0].format = Some(ImageFormat::Rgba16), "refuted"),
        (|images| images[0].dimension = Some(ImageDim::Three), "refuted"),
        (|images| images[0].multisampled = true, "refuted"),
        (|images| images[1].format = Some(ImageFormat::R32i), "refuted"),
        (|images| images[2].class = DescriptorClass::Combined, "refuted"),
        (|images| images[3].layered = false, "refuted"),
        (|images| images[3].format = Some(ImageFormat::R32ui), "refuted"),
        (|images| images[3].binding = 4, "undetermined refuted"),
        (|images| drop(images.remove(2)), "undetermined"),
    ];
    for (number, (change, expected)) in wrong.iter().enumerate() {
        let mut images = right.clone();
        change(&mut images);
        assert_eq!(statuses(images.clone()).join(" "), *expected, "{number}: {:#?}", shown(images));
    }
    // A sampled image has the format of its view alone; one that the kernel does not use does no
    // harm.
    let mut more = right.clone();
    more[1].format = Some(ImageFormat::Rgba8);
    more.push(image(9, Sampler, None, None, false));
    assert!(statuses(more.clone()).is_empty(), "{:#?}", shown(more));
}

#[test]
fn an_image_is_undetermined_and_not_a_missing_buffer() {
    let with_image = KERNEL
        .replace(
            "shared float tile",
            "layout(set=1, binding=0, r32f) uniform image2D picture;\nshared float tile",
        )
        .replace("right[0] + ", "right[0] + imageLoad(picture, ivec2(0)).x + ");
    let (module, mut interface) = (compiled(&with_image), correct());
    let coupling = coupled_module(&module, &interface, &LARGE);
    assert!(refuted(&coupling, "buffer-size").is_empty(), "{:#?}", coupling.checks);
    let open = rows(&coupling, "image-descriptor")
        .into_iter()
        .find(|row| row.status == CheckStatus::Undetermined)
        .unwrap();
    assert_eq!(open.message, "1.0 (picture) is a storage_image, which no interface states");
    // One byte of buffer is no picture.
    interface.buffers.push(HostBuffer { set: 1, binding: 0, ..interface.buffers[0].clone() });
    let coupling = coupled_module(&module, &interface, &LARGE);
    let wrong = refuted(&coupling, "buffer-size");
    assert_eq!(wrong.len(), 1, "{wrong:#?}");
    assert_eq!(
        wrong[0].message,
        "the interface states a buffer at 1.0, where the kernel has a storage_image"
    );
}

#[test]
fn what_the_kernel_uses_in_a_test_must_fit_the_hosts_buffer() {
    let used = |bound, touched| TestUse {
        name: "TC-1".to_owned(),
        groups: [1, 1, 1],
        told: BTreeMap::from([("m".to_owned(), 3), ("n".to_owned(), 2), ("k".to_owned(), 4)]),
        buffers: BTreeMap::from([((0, 2), BufferUse { bound, touched })]),
        images: BTreeMap::new(),
        specialization: BTreeMap::new(),
        out_of_bounds: BTreeMap::new(),
    };
    let status = |bound, touched| {
        let coupling = coupled(&correct(), &[], &[used(bound, touched)], Some(&LARGE));
        let rows = rows(&coupling, "buffer-size");
        rows.last().map(|row| (row.status.to_string(), rows.len())).unwrap()
    };
    assert_eq!(status(48, None), ("holds".to_owned(), 4));
    assert_eq!(status(64, None), ("undetermined".to_owned(), 4));
    assert_eq!(status(64, Some(48)), ("holds".to_owned(), 4));
    assert_eq!(status(64, Some(52)), ("refuted".to_owned(), 4));
}

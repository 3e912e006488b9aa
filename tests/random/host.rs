//! The job of a random kernel: contents of its buffers, bindings, dispatch.

use super::frame::Kernel;
use super::types::Dice;
use super::writer::{Contents, Use};
use std::sync::Arc;
use vkcert::exec::resource::{
    AddressPlace, ImageView, JobAddress, JobImage, JobResources, JobSampler, JobView, ViewKind,
    address_symbol,
};
use vkcert::exec::{Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording};
use vkcert::model::finding::Checks;
use vkcert::model::image::{
    AddressMode, BorderColor, Coordinates, Filter, ImageDim, ImageFormat, ImageShape,
};
use vkcert::model::procedure::{DescriptorClass, Limits};

fn bytes(dice: &mut Dice, words: usize, contents: Contents) -> Vec<u8> {
    let mut word = || match contents {
        Contents::Zero => 0,
        Contents::Any => dice.roll() as u32,
        Contents::NormalFloats => (dice.roll() as u32 & 0xBFFF_BFFF) | 0x2000_2000,
    };
    (0..words).flat_map(|_| word().to_le_bytes()).collect()
}

fn buffer(name: String, bytes: Vec<u8>) -> JobBuffer {
    let defined = std::iter::once(0..bytes.len()).collect();
    JobBuffer { name, bytes: bytes.into(), defined }
}

/// Job of a compiled kernel on a subgroup size.
pub(crate) fn job(kernel: &Kernel, words: &[u32], subgroup_size: u32) -> Job {
    let shape = &kernel.shape;
    let mut dice = Dice(kernel.seed ^ 0xABCD);
    let (mut buffers, mut bindings, mut resources) =
        (Vec::new(), Vec::new(), JobResources::default());
    for (index, bound) in shape.buffers.iter().enumerate() {
        buffers.push(buffer(
            format!("{}.{}", bound.binding, bound.array_index),
            bytes(&mut dice, bound.words, bound.contents),
        ));
        let class = match bound.use_of {
            Use::Storage => DescriptorClass::Storage,
            Use::Uniform => DescriptorClass::Uniform,
            Use::Addressed => continue,
        };
        let storage = JobBinding::storage(0, bound.binding, index, 4 * bound.words as u64);
        bindings.push(JobBinding { class, array_index: bound.array_index, ..storage });
    }
    for image in &shape.images {
        let format =
            ImageFormat::ALL.iter().find(|format| format.name() == image.format).expect("a format");
        let extent = [image.extent[0], image.extent[1], 1];
        let image_shape = ImageShape {
            dim: ImageDim::Two,
            format: *format,
            extent,
            layers: 1,
            levels: 1,
            samples: 1,
        };
        let size = image_shape.bytes().expect("a size") as usize;
        let view = ImageView { kind: ViewKind::Two, level: 0, levels: 1, layer: 0, layers: 1 };
        let index = buffers.len();
        buffers.push(buffer(image.binding.to_string(), bytes(&mut dice, size / 4, image.contents)));
        resources.images.push(JobImage { buffer: index as u32, shape: image_shape });
        let (class, view) = if image.sampled {
            (DescriptorClass::Combined, JobView::Combined(view, 0))
        } else {
            (DescriptorClass::StorageImage, JobView::Image(view))
        };
        bindings.push(JobBinding {
            class,
            view,
            range: 0,
            ..JobBinding::storage(0, image.binding, index, 0)
        });
    }
    if shape.images.iter().any(|image| image.sampled) {
        resources.samplers.push(nearest());
    }
    let mut push_constants = shape.push.clone().unwrap_or_default();
    if let Some(target) = shape.addressed {
        let at = push_constants.len() - 8;
        push_constants[at..].copy_from_slice(&address_symbol(target as u32, 0).to_le_bytes());
        let (place, at) = (AddressPlace::PushConstants(0), at as u64);
        resources.addresses.push(JobAddress { place, at, target: target as u32, offset: 0 });
    }
    let dispatch = JobDispatch {
        module: 0,
        entry: "main".to_owned(),
        groups: [shape.groups, 1, 1],
        bindings,
        push_constants_defined: std::iter::once(0..push_constants.len()).collect(),
        push_constants,
        specialization: shape
            .specialization
            .iter()
            .filter(|(id, _)| declares(words, **id))
            .map(|(id, bits)| (*id, *bits))
            .collect(),
        subgroup_size: Some(subgroup_size),
    };
    Job {
        name: format!("seed {}", kernel.seed),
        modules: vec![JobModule {
            key: "random".into(),
            words: Arc::new(words.to_vec()),
            recording: ModuleRecording::None,
        }],
        buffers,
        resources,
        dispatches: vec![dispatch],
        // Drivers compile at the first dispatch, on machines that may be busy.
        limits: Limits { seconds: 120.0, ..Limits::default() },
        checks: Checks::all(),
    }
}

/// Whether the module has a specialization constant of this id: the optimiser drops what nothing
/// uses.
fn declares(words: &[u32], id: u32) -> bool {
    const DECORATE: u32 = 4 << 16 | 71;
    const SPEC_ID: u32 = 1;
    words.windows(4).any(|one| one[0] == DECORATE && one[2] == SPEC_ID && one[3] == id)
}

fn nearest() -> JobSampler {
    JobSampler {
        name: "nearest".to_owned(),
        filter: Filter::Nearest,
        mipmap: Filter::Nearest,
        address: AddressMode::ClampToEdge,
        border: BorderColor::OpaqueWhite,
        compare: None,
        min_lod: 0.0,
        max_lod: None,
        lod_bias: 0.0,
        coordinates: Coordinates::Normalized,
    }
}

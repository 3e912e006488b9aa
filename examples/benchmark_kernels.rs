//! The sequential engine beside a software device that has one core, kernel by kernel: a matrix
//! product in tiles, a histogram with atomics, a tree of decisions, an image filter by texels and
//! one by a sampler.
//!
//! ```text
//! cargo run --release --example benchmark_kernels            # all, medians of 9 alternating runs
//! cargo run --release --example benchmark_kernels -- tiled   # one kernel
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use vkcert::exec::resource::{ImageView, JobImage, JobResources, JobSampler, JobView, ViewKind};
use vkcert::exec::sequential::{Jobs, SequentialExecutor, Settings};
use vkcert::exec::vulkan::{
    DeviceChoice, Settings as DeviceSettings, ValidationLayers, VulkanExecutor,
};
use vkcert::exec::{
    Completion, Executor, Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording,
    Unobserved,
};
use vkcert::glsl::{self, KernelSource};
use vkcert::instrument;
use vkcert::model::device_type::DeviceType;
use vkcert::model::finding::{Checks, FindingKind};
use vkcert::model::image::{
    AddressMode, BorderColor, Coordinates, Filter, ImageDim, ImageFormat, ImageShape,
};
use vkcert::model::procedure::{DescriptorClass, Limits};
use vkcert::spirv::module::Module;

const RUNS: usize = 9;
/// Width and height of the images.
const SIDE: u32 = 256;

/// What a kernel has bound, in the order of its bindings.
#[derive(Clone, Copy)]
enum Bound {
    Words(u32),
    /// 32-bit floats, a channel.
    StorageImage,
    Sampled,
}

struct Kernel {
    name: &'static str,
    text: &'static str,
    groups: [u32; 2],
    bound: &'static [Bound],
    push_constants: &'static [u32],
}

const KERNELS: &[Kernel] = &[
    Kernel {
        name: "tiled",
        text: include_str!("../src/cli/bench/matmul_tiled.comp"),
        groups: [8, 8],
        bound: &[Bound::Words(128 * 128), Bound::Words(128 * 128), Bound::Words(128 * 128)],
        push_constants: &[128, 128, 128],
    },
    Kernel {
        name: "histogram",
        text: include_str!("../src/cli/bench/histogram.comp"),
        groups: [256, 1],
        bound: &[Bound::Words(256 * 1024), Bound::Words(64)],
        push_constants: &[256 * 1024 - 100],
    },
    Kernel {
        name: "branchy",
        text: include_str!("../src/cli/bench/branchy.comp"),
        groups: [512, 1],
        bound: &[Bound::Words(32_768), Bound::Words(32_768)],
        push_constants: &[32_768 - 7],
    },
    Kernel {
        name: "filter-texels",
        text: "#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, r32f) uniform readonly image2D source;
layout(set = 0, binding = 1, r32f) uniform writeonly image2D target;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    ivec2 size = imageSize(source);
    float sum = 0.0, weights = 0.0;
    for (int y = -1; y <= 1; y++) {
        for (int x = -1; x <= 1; x++) {
            ivec2 place = at + ivec2(x, y);
            if (place.x >= 0 && place.y >= 0 && place.x < size.x && place.y < size.y) {
                float weight = float((2 - abs(x)) * (2 - abs(y)));
                sum += weight * imageLoad(source, place).x;
                weights += weight;
            }
        }
    }
    imageStore(target, at, vec4(sum / weights));
}
",
        groups: [SIDE / 16, SIDE / 16],
        bound: &[Bound::StorageImage, Bound::StorageImage],
        push_constants: &[],
    },
    Kernel {
        name: "filter-sampler",
        text: "#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1, r32f) uniform writeonly image2D target;
void main() {
    vec2 size = vec2(textureSize(source, 0));
    vec2 at = vec2(gl_GlobalInvocationID.xy) + 0.5;
    float sum = textureLod(source, (at + vec2(-0.5, -0.5)) / size, 0.0).x + textureLod(source, (at + vec2(0.5, -0.5)) / size, 0.0).x
        + textureLod(source, (at + vec2(-0.5, 0.5)) / size, 0.0).x + textureLod(source, (at + vec2(0.5, 0.5)) / size, 0.0).x;
    imageStore(target, ivec2(gl_GlobalInvocationID.xy), vec4(sum > 0.0 ? sum * 0.25 : 0.0));
}
",
        groups: [SIDE / 16, SIDE / 16],
        bound: &[Bound::Sampled, Bound::StorageImage],
        push_constants: &[],
    },
];

impl Kernel {
    fn job(&self, words: &[u32], recording: ModuleRecording, checks: Checks) -> Job {
        let mut buffers = Vec::new();
        let mut resources = JobResources::default();
        let mut bindings = Vec::new();
        for (index, bound) in self.bound.iter().enumerate() {
            let words = match bound {
                Bound::Words(words) => *words,
                Bound::StorageImage | Bound::Sampled => SIDE * SIDE,
            };
            // Words without pattern for integers are floats between 0 and 2 for the others.
            let noise = |at: u32| (at ^ at >> 15).wrapping_mul(0x2C1B_3C6D);
            let floats = self.push_constants.len() != 1;
            let word = |at: u32| if floats { 0x3F80_0000 | noise(at) >> 9 } else { noise(at) };
            let last = index + 1 == self.bound.len();
            let bytes: Vec<u8> =
                (0..words).flat_map(|at| if last { 0 } else { word(at) }.to_le_bytes()).collect();
            let shape = ImageShape {
                dim: ImageDim::Two,
                format: ImageFormat::R32f,
                extent: [SIDE, SIDE, 1],
                layers: 1,
                levels: 1,
                samples: 1,
            };
            let view = ImageView { kind: ViewKind::Two, level: 0, levels: 1, layer: 0, layers: 1 };
            let image = |class, view| JobBinding {
                class,
                view,
                ..JobBinding::storage(0, index as u32, index, 0)
            };
            bindings.push(match bound {
                Bound::Words(_) => JobBinding::storage(0, index as u32, index, bytes.len() as u64),
                Bound::StorageImage => image(DescriptorClass::StorageImage, JobView::Image(view)),
                Bound::Sampled => image(DescriptorClass::Combined, JobView::Combined(view, 0)),
            });
            match bound {
                Bound::Words(_) => {}
                Bound::StorageImage | Bound::Sampled => {
                    resources.images.push(JobImage { buffer: index as u32, shape });
                }
            }
            buffers.push(JobBuffer {
                name: format!("binding {index}"),
                defined: std::iter::once(0..bytes.len()).collect(),
                bytes: bytes.into(),
            });
        }
        if self.bound.iter().any(|bound| matches!(bound, Bound::Sampled)) {
            resources.samplers.push(linear());
        }
        let push: Vec<u8> =
            self.push_constants.iter().flat_map(|word| word.to_le_bytes()).collect();
        let dispatch = JobDispatch {
            module: 0,
            entry: "main".to_owned(),
            groups: [self.groups[0], self.groups[1], 1],
            bindings,
            push_constants_defined: std::iter::once(0..push.len()).collect(),
            push_constants: push,
            specialization: BTreeMap::new(),
            subgroup_size: None,
        };
        Job {
            name: self.name.to_owned(),
            modules: vec![JobModule {
                key: self.name.into(),
                words: Arc::new(words.to_vec()),
                recording,
            }],
            buffers,
            resources,
            dispatches: vec![dispatch],
            limits: Limits { steps: u64::MAX, seconds: 60.0, ..Limits::default() },
            checks,
        }
    }
}

fn linear() -> JobSampler {
    JobSampler {
        name: "linear".to_owned(),
        filter: Filter::Linear,
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted = std::env::args().nth(1);
    let mut device = device();
    println!(
        "milliseconds, medians of {RUNS} alternating runs; `DEVICE / PLAIN` above 1: the engine is faster"
    );
    println!(
        "{:<15} {:>9} {:>9} {:>9} {:>9} {:>15} {:>13}",
        "KERNEL", "PLAIN", "2 CORES", "CHECKED", "DEVICE", "DEVICE / PLAIN", "CHECKED/PLAIN"
    );
    for kernel in KERNELS
        .iter()
        .filter(|kernel| wanted.as_deref().is_none_or(|wanted| kernel.name.contains(wanted)))
    {
        measure(kernel, device.as_mut())?;
    }
    Ok(())
}

/// A software device that may use one core; none where there is no such device.
fn device() -> Option<VulkanExecutor> {
    let program = std::env::current_exe().ok()?.parent()?.parent()?.join("vkcert");
    let mut settings = DeviceSettings::new(program);
    settings.validation = ValidationLayers::Off;
    // llvmpipe counts the threads beside the one that hands work out.
    settings.environment.insert("LP_NUM_THREADS".to_owned(), "1".to_owned());
    let executor = VulkanExecutor::new(DeviceChoice::Best, settings).ok()?;
    println!("device: {} ({})", executor.device().name, executor.device().driver_info);
    (executor.device().kind == DeviceType::Cpu).then_some(executor)
}

fn measure(
    kernel: &Kernel,
    device: Option<&mut VulkanExecutor>,
) -> Result<(), Box<dyn std::error::Error>> {
    let source = KernelSource::alone(format!("{}.comp", kernel.name), kernel.text, "vulkan1.1");
    let compiled = glsl::compile(&source).map_err(|errors| format!("{errors:?}"))?;
    let made = instrument::instrument(
        &compiled.structure,
        &Module::parse(compiled.marked.clone())?,
        "main",
    )?;
    let production = kernel.job(&compiled.production, ModuleRecording::None, Checks::none());
    let checks = Checks::of_kinds([
        FindingKind::DataRace,
        FindingKind::UninitializedRead,
        FindingKind::OutOfBounds,
    ]);
    let checked = kernel.job(
        &compiled.marked,
        ModuleRecording::Markers(Arc::new(made.markers.clone())),
        checks,
    );
    let engine = |jobs| SequentialExecutor::new(Settings { jobs, ..Settings::default() });
    let mut sides = [
        (engine(Jobs::One), &production),
        (engine(Jobs::Most(2)), &production),
        (engine(Jobs::One), &checked),
    ];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..RUNS {
        for ((engine, job), times) in sides.iter_mut().zip(&mut times) {
            let start = Instant::now();
            let run = engine.run(job, &mut Unobserved)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            if run.completion != Completion::Completed || !run.findings.is_empty() {
                return Err(format!("{:?} {:?}", run.completion, run.findings).into());
            }
        }
    }
    let [plain, two, checked] = times.map(median);
    let device = match device {
        Some(device) => {
            let measured = device.measure(&[&production], RUNS as u32)?;
            if measured.completion != Completion::Completed {
                return Err(format!("{:?}", measured.completion).into());
            }
            measured.times.first().map(|times| median(times.iter().map(|time| time.wall).collect()))
        }
        None => None,
    };
    let shown =
        |value: Option<f64>| value.map_or("not run".to_owned(), |value| format!("{value:.3}"));
    println!(
        "{:<15} {plain:>9.3} {two:>9.3} {checked:>9.3} {:>9} {:>15} {:>13.2}",
        kernel.name,
        shown(device),
        shown(device.map(|device| device / plain)),
        checked / plain
    );
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

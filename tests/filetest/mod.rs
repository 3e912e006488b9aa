//! Reads file tests (`tests/filetests/README.md`) and compiles them.

#![allow(dead_code)]

pub(crate) mod judge;

use std::path::Path;
use std::sync::Arc;
use vkcert::exec::resource::{
    AddressPlace, ImageView, JobAddress, JobImage, JobResources, JobSampler, JobView, ViewKind,
    address_symbol,
};
use vkcert::exec::{
    BufferContents, Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording,
};
use vkcert::model::finding::Checks;
use vkcert::model::image::{
    AddressMode, BorderColor, Coordinates, Filter, ImageDim, ImageFormat, ImageShape,
};
use vkcert::model::procedure::{DescriptorClass, Limits};

#[derive(Debug, Clone, Default)]
pub(crate) struct FileTest {
    pub name: String,
    pub words: Vec<u32>,
    pub groups: [u32; 3],
    pub buffers: Vec<Buffer>,
    pub images: Vec<Image>,
    pub aliases: Vec<Alias>,
    pub addresses: Vec<Address>,
    pub push: Vec<Option<u32>>,
    pub specialization: Vec<(u32, u64)>,
    pub expect: Vec<Expect>,
    pub findings: Vec<Expected>,
    pub details: Vec<(String, String, String)>,
    /// Global invocation id, line of the file and text of every printed line.
    pub prints: Vec<String>,
    pub completion: Completed,
    pub steps: Option<u64>,
    pub subgroup_size: Option<u32>,
    /// None: Vulkan 1.1, SPIR-V 1.3.
    pub environment: Option<shaderc::EnvVersion>,
    pub spec_memory_model: bool,
    pub unordered: bool,
    /// Lines of barriers without which the file has no race either.
    pub spare: Vec<u32>,
    /// Whether a device must not run it.
    pub sequential_only: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    pub binding: u32,
    pub class: DescriptorClass,
    pub words: Vec<Option<u32>>,
    pub range: Option<u64>,
}

/// A binding that sees bytes of another binding's buffer.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    pub binding: u32,
    pub of: u32,
    pub offset: u64,
    /// None: all behind the offset.
    pub range: Option<u64>,
    /// None: seen as the other binding sees it.
    pub texels: Option<(DescriptorClass, ImageFormat)>,
}

/// The device address of a buffer, stored in another one before the run.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub binding: u32,
    /// Byte offset of the 8 bytes.
    pub at: u64,
    pub target: u32,
    /// Bytes added to the address.
    pub offset: u64,
}

/// An image or texel buffer; bound behind the buffers in order.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    pub binding: u32,
    pub array_index: u32,
    pub class: DescriptorClass,
    /// None: a texel buffer of this format.
    pub shape: Option<ImageShape>,
    pub format: ImageFormat,
    pub words: Vec<Option<u32>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Expect {
    pub binding: u32,
    pub kind: String,
    pub words: Vec<Option<u32>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub kind: String,
    pub line: u32,
    pub other: Option<u32>,
}

#[derive(Debug, Clone, Default)]
pub(crate) enum Completed {
    #[default]
    Wholly,
    Error,
    NoTermination,
    Undetermined,
    Unsupported(String),
}

/// Compiles GLSL without optimisation.
pub(crate) fn compile(name: &str, text: &str) -> Vec<u32> {
    compile_with(&shaderc::Compiler::new().unwrap(), shaderc::EnvVersion::Vulkan1_1, name, text)
}

fn compile_with(
    compiler: &shaderc::Compiler,
    environment: shaderc::EnvVersion,
    name: &str,
    text: &str,
) -> Vec<u32> {
    let mut options = shaderc::CompileOptions::new().unwrap();
    options.set_target_env(shaderc::TargetEnv::Vulkan, environment as u32);
    options.set_generate_debug_info();
    options.set_optimization_level(shaderc::OptimizationLevel::Zero);
    compiler
        .compile_into_spirv(text, shaderc::ShaderKind::Compute, name, "main", Some(&options))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .as_binary()
        .to_vec()
}

fn word(kind: &str, text: &str) -> u32 {
    match kind {
        "uint" => text.parse().unwrap(),
        "int" => text.parse::<i32>().unwrap() as u32,
        "float" => text.parse::<f32>().unwrap().to_bits(),
        "hex" => u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap(),
        other => panic!("type {other}"),
    }
}

fn words<'a>(kind: &str, texts: impl Iterator<Item = &'a str>) -> Vec<Option<u32>> {
    let mut words = Vec::new();
    for text in texts {
        let (text, count) = match text.split_once('*') {
            Some((text, count)) => (text, count.parse().unwrap()),
            None => (text, 1),
        };
        let one = if matches!(text, "?" | "_") { None } else { Some(word(kind, text)) };
        words.extend(std::iter::repeat_n(one, count));
    }
    words
}

impl FileTest {
    /// All tests of a folder, by name.
    pub(crate) fn read_all(folder: &Path) -> Vec<Self> {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let compiler = shaderc::Compiler::new().unwrap();
        let comp = |path: &std::path::PathBuf| {
            path.extension().is_some_and(|extension| extension == "comp")
        };
        paths.into_iter().filter(comp).map(|path| Self::read(&compiler, &path)).collect()
    }

    pub(crate) fn read(compiler: &shaderc::Compiler, path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        Self::of(compiler, &path.file_stem().unwrap().to_string_lossy(), &text)
    }

    /// The test that a text is.
    pub(crate) fn of(compiler: &shaderc::Compiler, name: &str, text: &str) -> Self {
        let mut test = Self::parse(name, text);
        let environment = test.environment.unwrap_or(shaderc::EnvVersion::Vulkan1_1);
        test.words = compile_with(compiler, environment, name, text);
        test
    }

    /// The test with its `neighbour` directive in place of the one that this names: it has no
    /// finding.
    pub(crate) fn neighbour(compiler: &shaderc::Compiler, name: &str, text: &str) -> Self {
        let of_two = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let others: Vec<String> = text
            .lines()
            .filter_map(|line| Some(format!(" {}", line.strip_prefix("//! neighbour ")?)))
            .collect();
        assert!(!others.is_empty(), "{name}: no neighbour");
        let changed = text.lines().map(|line| match line.strip_prefix("//!") {
            Some(rest) if rest.starts_with(" finding ") || rest.starts_with(" neighbour ") => {
                "//".to_owned()
            }
            Some(rest) => match others.iter().find(|other| of_two(other) == of_two(rest)) {
                Some(other) => format!("//!{other}"),
                None => line.to_owned(),
            },
            None => line.to_owned(),
        });
        Self::of(compiler, name, &changed.collect::<Vec<_>>().join("\n"))
    }

    fn parse(name: &str, text: &str) -> Self {
        let mut test = FileTest { name: name.to_owned(), groups: [1; 3], ..Self::default() };
        for line in text.lines().filter_map(|line| line.strip_prefix("//!")) {
            if let Some(printed) = line.strip_prefix(" print ") {
                test.prints.push(printed.to_owned());
                continue;
            }
            let mut parts = line.split_whitespace();
            let directive = parts.next().unwrap_or_default();
            test.directive(directive, parts.collect());
        }
        test.sequential_only |=
            !test.findings.is_empty() || !matches!(test.completion, Completed::Wholly);
        test
    }

    fn directive(&mut self, directive: &str, parts: Vec<&str>) {
        let number = |at: usize| parts[at].parse::<u32>().unwrap();
        match directive {
            "groups" => self.groups = [number(0), number(1), number(2)],
            "buffer" | "uniform" => self.buffers.push(Buffer {
                binding: number(0),
                class: if directive == "buffer" {
                    DescriptorClass::Storage
                } else {
                    DescriptorClass::Uniform
                },
                words: words(parts[1], parts[2..].iter().copied()),
                range: None,
            }),
            "image" | "texels" => self.images.push(image(directive, &parts)),
            "range" => {
                let buffer =
                    self.buffers.iter_mut().find(|buffer| buffer.binding == number(0)).unwrap();
                buffer.range = Some(u64::from(number(1)));
            }
            "alias" => self.aliases.push(Alias {
                binding: number(0),
                of: number(1),
                offset: parts.get(2).map_or(0, |_| u64::from(number(2))),
                range: parts.get(3).map(|_| u64::from(number(3))),
                texels: None,
            }),
            "texel-alias" => {
                let class = serde_json::from_value(parts[2].into()).unwrap();
                let format = serde_json::from_value(parts[3].into()).unwrap();
                let (binding, of) = (number(0), number(1));
                self.aliases.push(Alias {
                    binding,
                    of,
                    offset: 0,
                    range: None,
                    texels: Some((class, format)),
                });
            }
            "address" => self.addresses.push(Address {
                binding: number(0),
                at: u64::from(number(1)),
                target: number(2),
                offset: parts.get(3).map_or(0, |_| u64::from(number(3))),
            }),
            "vulkan" => {
                self.environment = match parts[0] {
                    "1.2" => Some(shaderc::EnvVersion::Vulkan1_2),
                    other => panic!("{}: Vulkan {other}", self.name),
                }
            }
            "subgroup-size" => {
                self.subgroup_size = Some(number(0));
                self.sequential_only = true;
            }
            "push" => {
                for pair in parts.chunks(2) {
                    self.push.extend(words(pair[0], pair[1..].iter().copied()));
                }
            }
            "spec" => self.specialization.push((number(0), parts[1].parse().unwrap())),
            "expect" => self.expect.push(Expect {
                binding: number(0),
                kind: parts[1].to_owned(),
                words: words(parts[1], parts[2..].iter().copied()),
            }),
            "finding" => self.findings.push(Expected {
                kind: parts[0].to_owned(),
                line: number(1),
                other: parts.get(2).map(|_| number(2)),
            }),
            "detail" => {
                self.details.push((parts[0].to_owned(), parts[1].to_owned(), parts[2].to_owned()))
            }
            "completion" => {
                self.completion = match parts[0] {
                    "completed" => Completed::Wholly,
                    "error" => Completed::Error,
                    "no-termination" => Completed::NoTermination,
                    "undetermined" => Completed::Undetermined,
                    "unsupported" => Completed::Unsupported(parts[1..].join(" ")),
                    other => panic!("completion {other}"),
                }
            }
            "steps" => self.steps = Some(u64::from(number(0))),
            "spec-memory-model" => self.spec_memory_model = true,
            "spare" => self.spare.push(number(0)),
            "unordered" => self.unordered = true,
            "sequential-only" => self.sequential_only = true,
            "neighbour" => {}
            other => panic!("{}: directive {other}", self.name),
        }
    }

    /// The job, with every check on.
    pub(crate) fn job(&self) -> Job {
        let images =
            self.images.iter().zip(self.buffers.len()..).map(|(image, buffer)| image.bound(buffer));
        let shapes = self.images.iter().zip(self.buffers.len() as u32..);
        let resources = JobResources {
            images: shapes
                .filter_map(|(image, buffer)| Some(JobImage { buffer, shape: image.shape? }))
                .collect(),
            samplers: self
                .images
                .iter()
                .find(|image| image.class == DescriptorClass::Combined)
                .map(|_| nearest())
                .into_iter()
                .collect(),
            addresses: self.addresses.iter().map(|one| self.stored(one)).collect(),
        };
        let bindings = self.buffers.iter().enumerate().map(|(index, buffer)| JobBinding {
            set: 0,
            binding: buffer.binding,
            array_index: 0,
            class: buffer.class,
            view: Default::default(),
            buffer: index,
            offset: 0,
            range: buffer.range.unwrap_or(buffer.words.len() as u64 * 4),
            dynamic_offset: 0,
        });
        let (push_constants, push_constants_defined) = bytes(&self.push);
        Job {
            name: self.name.clone(),
            modules: vec![JobModule {
                key: self.name.as_str().into(),
                words: Arc::new(self.words.clone()),
                recording: ModuleRecording::None,
            }],
            buffers: self.contents(),
            dispatches: vec![JobDispatch {
                module: 0,
                entry: "main".to_owned(),
                groups: self.groups,
                bindings: bindings
                    .chain(self.aliases.iter().map(|alias| self.aliased(alias)))
                    .chain(images)
                    .collect(),
                push_constants,
                push_constants_defined,
                specialization: self.specialization.iter().copied().collect(),
                subgroup_size: self.subgroup_size,
            }],
            resources,
            limits: Limits { steps: self.steps.unwrap_or(50_000_000), ..Limits::default() },
            checks: Checks::all(),
        }
    }

    /// What lies in the buffers, then in the images.
    fn contents(&self) -> Vec<JobBuffer> {
        let named = self.buffers.iter().map(|buffer| (buffer.binding, &buffer.words));
        let named = named.chain(self.images.iter().map(|image| (image.binding, &image.words)));
        let contents = named.map(|(name, words)| {
            let (bytes, defined) = bytes(words);
            JobBuffer { name: name.to_string(), bytes: bytes.into(), defined }
        });
        let mut contents: Vec<JobBuffer> = contents.collect();
        for one in &self.addresses {
            let (at, symbol) =
                (one.at as usize, address_symbol(self.buffer_of(one.target) as u32, one.offset));
            let bytes = Arc::make_mut(&mut contents[self.buffer_of(one.binding)].bytes);
            bytes[at..at + 8].copy_from_slice(&symbol.to_le_bytes());
        }
        contents
    }

    /// Which buffer a binding has.
    fn buffer_of(&self, binding: u32) -> usize {
        let at = self.buffers.iter().position(|buffer| buffer.binding == binding);
        at.unwrap_or_else(|| panic!("{}: no buffer {binding}", self.name))
    }

    fn aliased(&self, alias: &Alias) -> JobBinding {
        let buffer = self.buffer_of(alias.of);
        let behind = self.buffers[buffer].words.len() as u64 * 4 - alias.offset;
        JobBinding {
            set: 0,
            binding: alias.binding,
            array_index: 0,
            class: alias.texels.map_or(self.buffers[buffer].class, |(class, _)| class),
            view: alias.texels.map_or(JobView::Bytes, |(_, format)| JobView::Texels(format)),
            buffer,
            offset: alias.offset,
            range: alias.range.unwrap_or(behind),
            dynamic_offset: 0,
        }
    }

    fn stored(&self, address: &Address) -> JobAddress {
        JobAddress {
            place: AddressPlace::Buffer(self.buffer_of(address.binding) as u32),
            at: address.at,
            target: self.buffer_of(address.target) as u32,
            offset: address.offset,
        }
    }

    /// Words that are not as expected.
    pub(crate) fn mismatches(&self, buffers: &[BufferContents]) -> Vec<String> {
        let mut problems = Vec::new();
        for expect in &self.expect {
            let bound = self
                .buffers
                .iter()
                .map(|buffer| buffer.binding)
                .chain(self.images.iter().map(|one| one.binding));
            let index =
                bound.enumerate().find(|(_, binding)| *binding == expect.binding).unwrap().0;
            let Some(bytes) = buffers.get(index) else {
                problems.push(format!("no buffer {}", expect.binding));
                continue;
            };
            for (at, (chunk, expected)) in bytes.chunks(4).zip(&expect.words).enumerate() {
                let actual = u32::from_le_bytes(chunk.try_into().unwrap());
                let Some(expected) = expected else { continue };
                let equal = match expect.kind.as_str() {
                    "float" => {
                        let (a, b) = (f32::from_bits(actual), f32::from_bits(*expected));
                        (a - b).abs() <= 1e-5 * b.abs().max(1.0)
                            || a == b
                            || (a.is_nan() && b.is_nan())
                    }
                    _ => actual == *expected,
                };
                if !equal {
                    problems.push(format!(
                        "buffer {} word {at}: {actual} ({}), expected {expected} ({})",
                        expect.binding,
                        f32::from_bits(actual),
                        f32::from_bits(*expected)
                    ));
                }
            }
        }
        problems
    }
}

/// `image BINDING[.INDEX] CLASS DIM FORMAT EXTENT LAYERS LEVELS TYPE WORDS`, `texels
/// BINDING[.INDEX] CLASS FORMAT TYPE WORDS`.
fn image(directive: &str, parts: &[&str]) -> Image {
    let parsed = |text: &str| serde_json::Value::from(text);
    let (binding, array_index) = parts[0].split_once('.').unwrap_or((parts[0], "0"));
    let (binding, array_index) = (binding.parse().unwrap(), array_index.parse().unwrap());
    let class = serde_json::from_value(parsed(parts[1])).unwrap();
    let number = |text: &str| text.parse::<u32>().unwrap();
    if directive == "texels" {
        let format = serde_json::from_value(parsed(parts[2])).unwrap();
        let words = words(parts[3], parts[4..].iter().copied());
        return Image { binding, array_index, class, shape: None, format, words };
    }
    let format = serde_json::from_value(parsed(parts[3])).unwrap();
    let mut extent = [1; 3];
    let (size, samples) = parts[4].split_once('*').unwrap_or((parts[4], "1"));
    extent.iter_mut().zip(size.split('x')).for_each(|(axis, text)| *axis = number(text));
    let dim = serde_json::from_value(parsed(parts[2])).unwrap();
    let (layers, levels, samples) = (number(parts[5]), number(parts[6]), number(samples));
    let shape = ImageShape { dim, format, extent, layers, levels, samples };
    let words = words(parts[7], parts[8..].iter().copied());
    assert_eq!(Some(words.len() as u64 * 4), shape.bytes(), "{parts:?}");
    Image { binding, array_index, class, shape: Some(shape), format, words }
}

impl Image {
    fn bound(&self, buffer: usize) -> JobBinding {
        let (range, view) = match &self.shape {
            None => (self.words.len() as u64 * 4, JobView::Texels(self.format)),
            Some(shape) => {
                let kind = match (shape.dim, shape.layers) {
                    (ImageDim::One, 1) => ViewKind::One,
                    (ImageDim::One, _) => ViewKind::OneArray,
                    (ImageDim::Two, 1) => ViewKind::Two,
                    (ImageDim::Two, _) => ViewKind::TwoArray,
                    (ImageDim::Three, _) => ViewKind::Three,
                    (ImageDim::Cube, 6) => ViewKind::Cube,
                    (ImageDim::Cube, _) => ViewKind::CubeArray,
                };
                let levels =
                    if self.class == DescriptorClass::StorageImage { 1 } else { shape.levels };
                let view = ImageView { kind, level: 0, levels, layer: 0, layers: shape.layers };
                let combined = self.class == DescriptorClass::Combined;
                (0, if combined { JobView::Combined(view, 0) } else { JobView::Image(view) })
            }
        };
        let (binding, array_index, class) = (self.binding, self.array_index, self.class);
        JobBinding {
            set: 0,
            binding,
            array_index,
            class,
            view,
            buffer,
            offset: 0,
            range,
            dynamic_offset: 0,
        }
    }
}

/// The sampler of combined images: nearest, with a border that is for floats.
fn nearest() -> JobSampler {
    JobSampler {
        name: "nearest".to_owned(),
        filter: Filter::Nearest,
        mipmap: Filter::Nearest,
        address: AddressMode::ClampToBorder,
        border: BorderColor::OpaqueWhite,
        compare: None,
        min_lod: 0.0,
        max_lod: None,
        lod_bias: 0.0,
        coordinates: Coordinates::Normalized,
    }
}

fn bytes(words: &[Option<u32>]) -> (Vec<u8>, Vec<std::ops::Range<usize>>) {
    let bytes = words.iter().flat_map(|word| word.unwrap_or(0xCDCD_CDCD).to_le_bytes()).collect();
    let mut defined: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if word.is_some() {
            match defined.last_mut() {
                Some(last) if last.end == 4 * at => last.end = 4 * at + 4,
                _ => defined.push(4 * at..4 * at + 4),
            }
        }
    }
    (bytes, defined)
}

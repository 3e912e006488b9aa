//! What is expected of the final buffers, laid out and checked.

use super::binding::Bound;
use super::contents::{FilePlace, Source, elements};
use super::dispatch::{Call, Dispatched, interface, resolve};
use super::image::stored;
use super::layout::Walk;
use super::{Problems, Setting, job_module};
use crate::resource::{AddressPlace, JobImage, JobView, address_symbol};
use crate::{Job, JobBinding};
use vkcert_model::element::{DataType, Datum, ElementType, ScalarClass, ScalarType};
use vkcert_model::expectation::{CheckerKernel, ElementOrder};
use vkcert_model::finding::Checks;
use vkcert_model::image::{ImageFormat, ImageShape, TexelEncoding};
use vkcert_model::procedure::{Expectation, Test, Tolerance};
use vkcert_oracle::comparison::{Placement, group_into_records};
use vkcert_oracle::scalar::{Leaf, read_scalar};
use vkcert_oracle::texel::{compared_offset, decode_texels};
use vkcert_requirement::Origin;

/// One expectation.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Index into `Job::buffers`.
    pub buffer: usize,
    /// For an image whose texels are not plain scalars: offsets count the decoded components.
    pub format: Option<ImageFormat>,
    pub tolerance: Tolerance,
    pub placement: Placement,
    pub contents: ExpectedContents,
}

/// Where expected values come from.
#[derive(Debug, Clone)]
pub enum ExpectedContents {
    /// Values at byte offsets.
    Values(Vec<Leaf>),
    /// `length` bytes from byte `offset` on equal those of another buffer's start, scalar by
    /// scalar.
    Buffer { other: usize, scalar: ScalarType, offset: usize, length: usize },
    /// `length` bytes from byte `offset` on are what a reference run leaves there.
    Reference { job: Box<Job>, scalar: ScalarType, offset: usize, length: usize },
    /// A checker, run on the final contents, leaves nothing but ones in its verdict, which is the
    /// buffer judged.
    Check { job: Box<Job> },
}

/// Prepares one expectation; none after a problem.
pub(super) fn prepare(
    expectation: &Expectation,
    test: &Test,
    job: &Job,
    calls: &[Dispatched],
    setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Expected> {
    if let Some(checker) = &expectation.check {
        return prepare_check(checker, test, job, setting, &origin.at("check"), problems);
    }
    let own = test.buffers.get(expectation.judged()).and_then(|buffer| buffer.data_type);
    let scope = match &expectation.image {
        Some(name) => image_scope(name, expectation, job, setting, origin, problems)?,
        None => buffer_scope((expectation, own), job, setting, origin, problems)?,
    };
    let declared = expectation.data_type.or(own);
    let (contents, scalars) = match (scope.image, declared, &expectation.values) {
        (Some(image), _, Some(values)) => scope.texels(&image.shape, values, problems)?,
        (Some(image), _, None) => scope.unreflected(Some(element(&image.shape)), problems)?,
        (None, Some(DataType::Reflect), Some(_)) if expectation.count.is_some() => {
            let message = "`count` does not go with `reflect`: the values say what is judged";
            problems.push(origin.at("count").key_error("contradiction", message));
            return None;
        }
        (None, Some(DataType::Reflect), Some(values)) => {
            scope.reflected(values, test, calls, problems)?
        }
        (None, Some(DataType::Reflect), None) => scope.unreflected(None, problems)?,
        (None, Some(DataType::Element(element)), Some(values)) => {
            let bytes = elements(element, values, &origin.at("values"), problems)?;
            scope.values(element.scalar, &bytes, "values", problems)?
        }
        (None, None, Some(_)) => {
            let message =
                format!("the values need a `type`, since `{}` has none", expectation.judged());
            problems.push(origin.error("missing-key", message).hint("for example \"float\""));
            return None;
        }
        (None, Some(DataType::Element(element)), None) => {
            scope.unreflected(Some(element), problems)?
        }
        (None, None, None) => scope.unreflected(None, problems)?,
    };
    let tolerance = tolerance(expectation, &scalars, origin, problems)?;
    let placement = placement(expectation, &scope, declared, &contents, problems)?;
    Some(Expected { buffer: scope.buffer, format: scope.format(), tolerance, placement, contents })
}

/// Where the elements may stand. Of free order it must be known what an element is, and every
/// record must be whole.
fn placement(
    expectation: &Expectation,
    scope: &Scope<'_>,
    declared: Option<DataType>,
    contents: &ExpectedContents,
    problems: &mut Problems,
) -> Option<Placement> {
    match expectation.order.unwrap_or_default() {
        ElementOrder::Fixed => return Some(Placement::InPlace),
        ElementOrder::Any => {}
    }
    let origin = scope.origin;
    let of_image = scope.image.map(|image| DataType::Element(element(&image.shape)));
    let element_bytes = match of_image.or(declared) {
        Some(DataType::Element(element)) => {
            element.scalar.size() as u64 * u64::from(element.components)
        }
        Some(DataType::Reflect) if expectation.record.is_some() => 1,
        Some(DataType::Reflect) => {
            let message =
                "`order = \"any\"` with `reflect` needs a `record`: the bytes that belong together";
            problems.push(origin.error("missing-key", message));
            return None;
        }
        None => {
            let message = "`order = \"any\"` needs a `type`: which bytes are an element";
            problems.push(origin.error("missing-key", message).hint("for example \"uint\""));
            return None;
        }
    };
    let record = element_bytes.saturating_mul(expectation.record.unwrap_or(1));
    let whole = match contents {
        ExpectedContents::Values(leaves) => are_alike(leaves, record),
        ExpectedContents::Buffer { length, .. } | ExpectedContents::Reference { length, .. } => {
            (*length as u64).is_multiple_of(record.max(1))
        }
        ExpectedContents::Check { .. } => true,
    };
    if record == 0 || !whole {
        let message = format!(
            "what is expected is no whole number of records of {record} bytes with the same elements"
        );
        problems.push(
            origin
                .at(if expectation.record.is_some() { "record" } else { "order" })
                .error("size", message),
        );
        return None;
    }
    Some(Placement::AnyOrder { record })
}

/// Whether every record has the same elements at the same places.
fn are_alike(leaves: &[Leaf], record: u64) -> bool {
    let start = leaves.first().map_or(0, |leaf| leaf.offset);
    let shape = |one: &vkcert_oracle::matching::ScalarRecord| -> Vec<ScalarType> {
        one.scalars.iter().map(|(scalar, _)| *scalar).collect()
    };
    let all = group_into_records(leaves, record);
    let places = |leaf: &Leaf| (leaf.offset.saturating_sub(start)) % record.max(1);
    let numbers = all.first().map_or(0, |one| one.scalars.len()).max(1);
    let same_places = leaves
        .chunks(numbers)
        .all(|chunk| chunk.iter().map(places).eq(leaves.iter().take(numbers).map(places)));
    let fit = leaves.iter().all(|leaf| places(leaf) + leaf.scalar.size() as u64 <= record);
    same_places && fit && all.iter().all(|one| shape(one) == shape(&all[0]))
}

/// A texel's components.
fn element(shape: &ImageShape) -> ElementType {
    ElementType { scalar: shape.format.component(), components: shape.format.components() }
}

fn buffer_scope<'a>(
    (expectation, own): (&'a Expectation, Option<DataType>),
    job: &'a Job,
    setting: &'a Setting<'a>,
    origin: &'a Origin,
    problems: &mut Problems,
) -> Option<Scope<'a>> {
    let buffer = named(expectation.judged(), Kind::Buffer, job, &origin.at("buffer"), problems)?;
    let size = job.buffers[buffer].bytes.len();
    let Some(offset) = usize::try_from(expectation.offset).ok().filter(|offset| *offset < size)
    else {
        let message = format!(
            "offset {} lies beyond the {size} bytes of `{}`",
            expectation.offset,
            expectation.judged()
        );
        problems.push(origin.at("offset").error("size", message));
        return None;
    };
    Some(Scope { expectation, job, setting, origin, buffer, image: None, own, offset, size })
}

/// Offsets and sizes are those of the compared components where the format is not plain.
fn image_scope<'a>(
    name: &str,
    expectation: &'a Expectation,
    job: &'a Job,
    setting: &'a Setting<'a>,
    origin: &'a Origin,
    problems: &mut Problems,
) -> Option<Scope<'a>> {
    let buffer = named(name, Kind::Image, job, &origin.at("image"), problems)?;
    let image = *job.resources.images.iter().find(|image| image.buffer as usize == buffer)?;
    let shape = &image.shape;
    let (level, layer) = (expectation.level.unwrap_or(0), expectation.layer.unwrap_or(0));
    for (key, given, most) in [("level", level, shape.levels), ("layer", layer, shape.layers)] {
        if given >= most {
            let message = format!("`{name}` has {most} {key}s, and no {key} {given}");
            problems.push(origin.at(key).error("size", message));
            return None;
        }
    }
    let texel = shape.format.texel_size() as u64;
    let size = job.buffers[buffer].bytes.len() as u64;
    let start = shape
        .layer_start(level, layer)?
        .checked_add(expectation.offset)
        .filter(|start| *start < size);
    let Some(start) = start.filter(|start| start.is_multiple_of(texel)) else {
        let message = format!(
            "offset {} is no start of a texel of `{name}` ({} bytes each, {size} bytes in all)",
            expectation.offset, texel
        );
        problems.push(origin.at("offset").error("size", message));
        return None;
    };
    let compared = |bytes| compared_offset(shape.format, bytes) as usize;
    let (offset, size) = (compared(start), compared(size));
    Some(Scope {
        expectation,
        job,
        setting,
        origin,
        buffer,
        image: Some(image),
        own: None,
        offset,
        size,
    })
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Buffer,
    Image,
}

fn named(
    name: &str,
    kind: Kind,
    job: &Job,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<usize> {
    let image = |index| job.resources.images.iter().any(|image| image.buffer as usize == index);
    let fits = |index| image(index) == (kind == Kind::Image);
    let mut buffers = job.buffers.iter().enumerate();
    let found =
        buffers.find(|(index, buffer)| buffer.name == name && fits(*index)).map(|(index, _)| index);
    if found.is_none() {
        let (id, what) = match kind {
            Kind::Buffer => ("unknown-buffer", "buffer"),
            Kind::Image => ("unknown-id", "image"),
        };
        problems.push(origin.error(id, format!("there is no {what} `{name}`")));
    }
    found
}

/// Units in the last place are a notion of floats.
fn tolerance(
    expectation: &Expectation,
    scalars: &[ScalarType],
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Tolerance> {
    let tolerance = expectation.tolerance.unwrap_or_default();
    let whole = scalars.iter().find(|scalar| scalar.class() != ScalarClass::Float);
    if let (Some(_), Some(scalar)) = (tolerance.ulp, whole) {
        let message =
            format!("`ulp` is a tolerance for floating-point elements, and these are {scalar}");
        problems.push(
            origin.at("tolerance").at("ulp").key_error("bad-value", message).hint("use `abs`"),
        );
        return None;
    }
    Some(tolerance)
}

struct Scope<'a> {
    expectation: &'a Expectation,
    job: &'a Job,
    setting: &'a Setting<'a>,
    origin: &'a Origin,
    buffer: usize,
    /// Where an image is judged.
    image: Option<JobImage>,
    /// The type of the buffer judged, where the test declares one.
    own: Option<DataType>,
    /// Of what is compared, bytes.
    offset: usize,
    /// Of what is compared, bytes.
    size: usize,
}

type Contents = (ExpectedContents, Vec<ScalarType>);

impl Scope<'_> {
    /// The format of an image whose texels are compared as decoded components.
    fn format(&self) -> Option<ImageFormat> {
        let format = self.image?.shape.format;
        match format.encoding() {
            TexelEncoding::Plain(_) => None,
            TexelEncoding::Unorm(_)
            | TexelEncoding::Snorm(_)
            | TexelEncoding::Srgb
            | TexelEncoding::Rgb10A2
            | TexelEncoding::Rgb10A2Uint
            | TexelEncoding::R11G11B10 => Some(format),
        }
    }

    /// Texels as their format holds the values given.
    fn texels(
        &self,
        shape: &ImageShape,
        values: &Datum,
        problems: &mut Problems,
    ) -> Option<Contents> {
        let place = self.origin.at("values");
        let components = elements(element(shape), values, &place, problems)?;
        let texels = stored(shape.format, &components, &place, problems)?;
        self.values(
            shape.format.component(),
            &decode_texels(shape.format, &texels),
            "values",
            problems,
        )
    }

    /// Elements one after the other from the offset on.
    fn values(
        &self,
        scalar: ScalarType,
        bytes: &[u8],
        key: &str,
        problems: &mut Problems,
    ) -> Option<Contents> {
        if bytes.len() > self.size - self.offset {
            let message = format!(
                "{} bytes are expected from byte {} on, and `{}` has {}",
                bytes.len(),
                self.offset,
                self.expectation.judged(),
                self.size
            );
            problems.push(self.origin.at(key).error("size", message));
            return None;
        }
        if bytes.is_empty() || !bytes.len().is_multiple_of(scalar.size()) {
            let message = format!("{} bytes are no whole number of {scalar}", bytes.len());
            problems.push(self.origin.at(key).error("size", message));
            return None;
        }
        if let Some(count) = self.expectation.count
            && self.counted(count, scalar) != Some(bytes.len())
        {
            let message =
                format!("`{key}` has {} bytes, and {count} elements are to be judged", bytes.len());
            problems.push(self.origin.at("count").error("size", message));
            return None;
        }
        let leaf = |at| Leaf {
            offset: (self.offset + at) as u64,
            scalar,
            bits: read_scalar(bytes, scalar, at).expect("a whole number of elements"),
        };
        let leaves = (0..bytes.len()).step_by(scalar.size()).map(leaf).collect();
        Some((ExpectedContents::Values(leaves), vec![scalar]))
    }

    /// Bytes of so many elements; without a type, of so many bytes.
    fn counted(&self, count: u64, scalar: ScalarType) -> Option<usize> {
        let own = self.expectation.data_type.or(self.own);
        let components = match (self.image, own) {
            (Some(image), _) => u64::from(image.shape.format.components()),
            (None, Some(DataType::Element(element))) => u64::from(element.components),
            (None, Some(DataType::Reflect) | None) => 1,
        };
        usize::try_from(count.checked_mul(components)?.checked_mul(scalar.size() as u64)?).ok()
    }

    /// Members of the kernel's own block.
    fn reflected(
        &self,
        values: &Datum,
        test: &Test,
        calls: &[Dispatched],
        problems: &mut Problems,
    ) -> Option<Contents> {
        let name = self.expectation.judged();
        let block = test.dispatches.iter().zip(calls).find_map(|(dispatch, called)| {
            let binding =
                dispatch.bindings.iter().find(|binding| binding.buffer.as_deref() == Some(name))?;
            called.block(binding.set, binding.binding)
        });
        let Some(block) = block else {
            let problem = self
                .origin
                .error("no-block", format!("no dispatch binds the buffer `{name}` to a block"));
            problems.push(problem);
            return None;
        };
        let before = problems.count();
        let mut walk = Walk::new(block.layout, problems);
        walk.value(block.ty, None, self.offset as u64, values, &self.origin.at("values"));
        let (mut leaves, pointers) = (walk.leaves, walk.pointers);
        for pointer in pointers {
            let place = AddressPlace::Buffer(self.buffer as u32);
            let address =
                pointer.resolve(place, &self.job.buffers, &self.job.resources, problems)?;
            let bits = address_symbol(address.target, address.offset);
            leaves.push(Leaf { offset: address.at, scalar: ScalarType::Uint64, bits });
        }
        let end =
            leaves.iter().map(|leaf| leaf.offset as usize + leaf.scalar.size()).max().unwrap_or(0);
        if end > self.size {
            let message = format!("the values reach to byte {end}, and `{name}` has {}", self.size);
            problems.push(self.origin.at("values").error("size", message));
        }
        if leaves.is_empty() && problems.count() == before {
            problems.push(self.origin.at("values").error("size", "no value is expected"));
        }
        let scalars = leaves.iter().map(|leaf| leaf.scalar).collect();
        (problems.count() == before).then_some((ExpectedContents::Values(leaves), scalars))
    }

    /// A file, another buffer or a reference; without a type, byte by byte.
    fn unreflected(
        &self,
        element: Option<ElementType>,
        problems: &mut Problems,
    ) -> Option<Contents> {
        let scalar = element.map_or(ScalarType::Uint8, |element| element.scalar);
        if let Some(path) = &self.expectation.file {
            let source = Source { base: self.setting.base, limit: self.job.limits.memory_bytes };
            if let Some(image) = self.image {
                let (format, place) = (image.shape.format, self.origin.at("file"));
                let (_, bytes) =
                    source.file(path, FilePlace::Texels(&image.shape), &place, problems)?;
                return self.values(scalar, &decode_texels(format, &bytes), "file", problems);
            }
            let (found, bytes) = source.file(
                path,
                FilePlace::Elements(element),
                &self.origin.at("file"),
                problems,
            )?;
            return self.values(
                found.map_or(scalar, |found| found.scalar),
                &bytes,
                "file",
                problems,
            );
        }
        let rest = match self.expectation.count {
            None => self.size - self.offset,
            Some(count) => self.judged_bytes(count, scalar, problems)?,
        };
        if !rest.is_multiple_of(scalar.size()) {
            let message = format!(
                "the last {rest} bytes of `{}` are no whole number of {scalar}",
                self.expectation.judged()
            );
            problems.push(self.origin.error("size", message));
            return None;
        }
        if let (Some(name), Some(image)) = (&self.expectation.equals_image, self.image) {
            return self.same_image(name, &image.shape, scalar, rest, problems);
        }
        if let Some(name) = &self.expectation.equals_buffer {
            let other =
                named(name, Kind::Buffer, self.job, &self.origin.at("equals_buffer"), problems)?;
            let length = self.job.buffers[other].bytes.len();
            if self.is_unlike(length, rest) {
                let message = format!(
                    "`{name}` has {length} bytes, and {rest} bytes of `{}` are compared",
                    self.expectation.judged()
                );
                problems.push(self.origin.at("equals_buffer").error("size", message));
                return None;
            }
            let contents =
                ExpectedContents::Buffer { other, scalar, offset: self.offset, length: rest };
            return Some((contents, vec![scalar]));
        }
        let Some(reference) = &self.expectation.reference else {
            let message = "an expectation has exactly one of `values`, `file`, `equals_buffer`, `reference` and `check`";
            problems.push(self.origin.error("contradiction", message));
            return None;
        };
        let place = self.origin.at("reference");
        let called = Called {
            setting: self.setting,
            call: Call::of_reference(reference),
            what: "reference",
        };
        let job = called.job(self.job, self.buffer, &place, problems)?;
        let contents = ExpectedContents::Reference {
            job: Box::new(job),
            scalar,
            offset: self.offset,
            length: rest,
        };
        Some((contents, vec![scalar]))
    }

    /// Whether another buffer of so many bytes cannot be what so many bytes are compared with.
    fn is_unlike(&self, length: usize, compared: usize) -> bool {
        match self.expectation.count {
            None => length != compared,
            Some(_) => length < compared,
        }
    }

    /// Bytes of so many elements, which must lie inside of what is judged.
    fn judged_bytes(
        &self,
        count: u64,
        scalar: ScalarType,
        problems: &mut Problems,
    ) -> Option<usize> {
        let bytes = self
            .counted(count, scalar)
            .filter(|bytes| *bytes > 0 && *bytes <= self.size - self.offset);
        if bytes.is_none() {
            let message = format!(
                "{count} elements from byte {} on, and `{}` has {} bytes",
                self.offset,
                self.expectation.judged(),
                self.size
            );
            problems.push(self.origin.at("count").error("size", message));
        }
        bytes
    }

    /// Another image of the same format, number of texels and of samples.
    fn same_image(
        &self,
        name: &str,
        shape: &ImageShape,
        scalar: ScalarType,
        rest: usize,
        problems: &mut Problems,
    ) -> Option<Contents> {
        let place = self.origin.at("equals_image");
        let other = named(name, Kind::Image, self.job, &place, problems)?;
        let theirs =
            self.job.resources.images.iter().find(|image| image.buffer as usize == other)?.shape;
        let length =
            compared_offset(theirs.format, self.job.buffers[other].bytes.len() as u64) as usize;
        let alike = (theirs.format, theirs.samples) == (shape.format, shape.samples);
        if !alike || self.is_unlike(length, rest) {
            let message = format!(
                "`{name}` has another format or another number of texels or samples than what is compared"
            );
            problems.push(place.error("size", message));
            return None;
        }
        Some((
            ExpectedContents::Buffer { other, scalar, offset: self.offset, length: rest },
            vec![scalar],
        ))
    }
}

/// A kernel that computes or checks what is expected.
struct Called<'a> {
    setting: &'a Setting<'a>,
    call: Call<'a>,
    what: &'static str,
}

impl Called<'_> {
    /// The kernel on the test's buffers; it must bind the one that it is asked for.
    fn job(
        &self,
        of_test: &Job,
        wanted: usize,
        place: &Origin,
        problems: &mut Problems,
    ) -> Option<Job> {
        let (what, call) = (self.what, &self.call);
        let called = interface(call, self.setting, place, problems)?;
        let bound = Bound { buffers: &of_test.buffers, resources: &of_test.resources };
        let (dispatch, pushed) =
            resolve(call, &called, &bound, 0, 0, self.setting, place, problems)?;
        let mut resources = of_test.resources.clone();
        resources.addresses.retain(|address| matches!(address.place, AddressPlace::Buffer(_)));
        resources.addresses.extend(pushed);
        let binds = |binding: &JobBinding| {
            binding.buffer == wanted && !matches!(binding.view, JobView::Sampler(_))
        };
        if !dispatch.bindings.iter().any(binds) {
            let name = &of_test.buffers[wanted].name;
            let message =
                format!("the {what} does not bind `{name}`, so that it cannot compute it");
            problems.push(place.at("bindings").error("missing-binding", message));
            return None;
        }
        let kernel = &self.setting.kernels[call.kernel];
        let mut module = job_module(call.kernel, kernel);
        module.recording = crate::ModuleRecording::None;
        Some(Job {
            name: format!("{} ({what})", of_test.name),
            modules: vec![module],
            buffers: of_test.buffers.clone(),
            resources,
            dispatches: vec![dispatch],
            limits: of_test.limits,
            checks: self.setting.checks.clone(),
        })
    }
}

/// A checker with its verdict: whole `uint`s, of a buffer that no dispatch of the test binds.
fn prepare_check(
    checker: &CheckerKernel,
    test: &Test,
    job: &Job,
    setting: &Setting<'_>,
    place: &Origin,
    problems: &mut Problems,
) -> Option<Expected> {
    let verdict = named(&checker.verdict, Kind::Buffer, job, &place.at("verdict"), problems)?;
    let bytes = job.buffers[verdict].bytes.len();
    if bytes == 0 || !bytes.is_multiple_of(ScalarType::Uint32.size()) {
        let message =
            format!("the {bytes} bytes of `{}` are no whole number of uint", checker.verdict);
        problems.push(place.at("verdict").error("size", message));
        return None;
    }
    let binds = |name: &str| {
        test.dispatches
            .iter()
            .flat_map(|one| &one.bindings)
            .any(|one| one.buffer.as_deref() == Some(name))
    };
    if binds(&checker.verdict) {
        let message = format!(
            "a dispatch of the test binds `{}`, which is for the checker alone",
            checker.verdict
        );
        problems.push(place.at("verdict").error("contradiction", message));
        return None;
    }
    let called = Called { setting, call: Call::of_checker(checker), what: "checker" };
    let checking = called.job(job, verdict, place, problems)?;
    // A checker that does something undefined says nothing.
    let job = Box::new(Job { checks: Checks::all(), ..checking });
    let tolerance = Tolerance { bits: true, ..Tolerance::default() };
    let contents = ExpectedContents::Check { job };
    Some(Expected {
        buffer: verdict,
        format: None,
        tolerance,
        placement: Placement::InPlace,
        contents,
    })
}

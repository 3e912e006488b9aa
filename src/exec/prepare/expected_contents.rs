//! What an expectation says that a buffer or image holds: values, bytes, a file, rules.
//!
//! Promises: contents have the length of what is judged; what cannot be compared with it is a
//! problem with its place.
//! Does not cover: tolerances and places (`expectation`), checkers and references
//! (`reference_call`).

use super::ExpectedContents;
use super::call::{Call, Dispatched};
use super::contents::Source;
use super::elements::elements;
use super::file_contents::FilePlace;
use super::layout::Walk;
use super::problems::Problems;
use super::reference_call::Called;
use super::setting::Setting;
use super::texel_elements::stored;
use crate::Job;
use crate::resource::{AddressPlace, JobImage, address_symbol};
use vkcert_model::element::{DataType, Datum, ElementType, ScalarType};
use vkcert_model::image::{ImageFormat, ImageShape, TexelEncoding};
use vkcert_model::procedure::{Expectation, Test};
use vkcert_oracle::scalar::{Leaf, read_scalar};
use vkcert_oracle::texel::{compared_offset, decode_texels};
use vkcert_requirement::Origin;

pub(super) struct Scope<'a> {
    pub(super) expectation: &'a Expectation,
    pub(super) job: &'a Job,
    pub(super) setting: &'a Setting<'a>,
    pub(super) origin: &'a Origin,
    pub(super) buffer: usize,
    /// Where an image is judged.
    pub(super) image: Option<JobImage>,
    /// The type of the buffer judged, where the test declares one.
    pub(super) own: Option<DataType>,
    /// Of what is compared, bytes.
    pub(super) offset: usize,
    /// Of what is compared, bytes.
    pub(super) size: usize,
}

pub(super) type Contents = (ExpectedContents, Vec<ScalarType>);

impl Scope<'_> {
    /// The format of an image whose texels are compared as decoded components.
    pub(super) fn format(&self) -> Option<ImageFormat> {
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
    pub(super) fn texels(
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
    pub(super) fn values(
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
    pub(super) fn reflected(
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
    pub(super) fn unreflected(
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

/// A texel's components.
pub(super) fn element(shape: &ImageShape) -> ElementType {
    ElementType { scalar: shape.format.component(), components: shape.format.components() }
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Buffer,
    Image,
}

pub(super) fn named(
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

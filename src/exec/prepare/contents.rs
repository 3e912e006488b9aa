//! Initial contents of buffers.
//!
//! Promises: contents as the file defines them, byte for byte; which bytes are defined; everything
//! else 0xCD. A count that contradicts the contents, a value that does not fit and a file that
//! cannot be read are reported with their place.

use super::address::Pointer;
use super::image::stored_element;
use super::layout::{Layout, Walk};
use super::random::{Bounds, SplitMix64, random_component};
use super::{Problems, npy, picture};
use crate::JobBuffer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::ops::Range;
use std::path::Path;
use vkcert_model::element::{DataType, Datum, ElementType, ScalarClass};
use vkcert_model::image::ImageShape;
use vkcert_model::procedure::{Buffer, Fill, Iota, Random};
use vkcert_oracle::scalar::{
    Leaf, append_scalar, decode_float, decode_integer, encode_datum, float_bits,
};
use vkcert_requirement::Origin;
use vkcert_requirement::document::read_at_most;
use vkcert_spirv::module::Id;
use vkcert_spirv::types::Type;

/// What an uninitialised byte holds on a device.
pub const UNINITIALISED: u8 = 0xCD;
/// Bytes that a file may have besides its elements.
const MOST_HEADER_BYTES: u64 = 1 << 16;
/// Faults listed for one array of values.
const LISTED: usize = 16;

/// What the contents of a file are for.
#[derive(Debug, Clone, Copy)]
pub enum FilePlace<'a> {
    /// Elements of a buffer; without a type, as the file has them.
    Elements(Option<ElementType>),
    /// Texels of an image.
    Texels(&'a ImageShape),
}

/// What is wrong with a file.
struct FileFault {
    kind: &'static str,
    message: String,
}

impl FilePlace<'_> {
    /// The element type, where one is known, and the contents of a file.
    fn read(self, path: &str, file: Vec<u8>) -> Result<(Option<ElementType>, Vec<u8>), FileFault> {
        let wanted = match self {
            FilePlace::Elements(element) => element,
            FilePlace::Texels(shape) => Some(stored_element(shape.format)),
        };
        if let FilePlace::Texels(shape) = self
            && picture::is_picture(&file)
        {
            let texels = picture::read(&file, shape)
                .map_err(|message| FileFault { kind: "picture", message })?;
            return Ok((wanted, texels));
        }
        let refused = |message: String| FileFault { kind: "npy", message };
        if !npy::is_npy(&file) {
            let named = path.ends_with(".npy");
            return if named {
                Err(refused("it is no .npy file".to_owned()))
            } else {
                Ok((wanted, file))
            };
        }
        let array = npy::read(&file).map_err(refused)?;
        if let Some(wanted) = wanted.filter(|wanted| wanted.scalar != array.scalar) {
            return Err(refused(format!("it holds {} where {wanted} is declared", array.scalar)));
        }
        match self.shape_fault(&array.shape) {
            Some(message) => Err(refused(message)),
            None => Ok((wanted.or(Some(ElementType::scalar(array.scalar))), array.bytes)),
        }
    }

    /// Why an array of this shape does not go here; none: it does. A list of numbers goes
    /// everywhere; an array of more axes says how its elements lie, and has to say it as the image
    /// or the vector type does; so has every array for an image with several samples.
    fn shape_fault(self, shape: &[usize]) -> Option<String> {
        let axes = |lengths: &[usize]| {
            lengths.iter().copied().filter(|length| *length != 1).collect::<Vec<_>>()
        };
        let multisampled = matches!(self, FilePlace::Texels(image) if image.samples > 1);
        if axes(shape).len() <= 1 && !multisampled {
            return None;
        }
        match self {
            FilePlace::Elements(element) => {
                let components = element.map_or(1, |element| element.components) as usize;
                let fits = components == 1 || shape.last() == Some(&components);
                (!fits).then(|| {
                    format!(
                        "an array of shape {} has no vectors of {components} in its last axis",
                        listed(shape)
                    )
                })
            }
            FilePlace::Texels(image) => {
                let components = stored_element(image.format).components as usize;
                let [width, height, depth] = image.extent.map(|length| length as usize);
                let (layers, samples) = (image.layers as usize, image.samples as usize);
                let wanted = [layers, depth, height, width, samples, components];
                if image.levels == 1 && axes(shape) == axes(&wanted) {
                    return None;
                }
                let given = format!("an array of shape {}", listed(shape));
                Some(match (image.levels, shape) {
                    (1, [rows, columns])
                        if (depth, layers, samples, components) == (1, 1, 1, 1) =>
                    {
                        format!(
                            "{given} is {rows} rows of {columns}, which is the extent [{columns}, {rows}], not \
                         [{width}, {height}]"
                        )
                    }
                    (1, _) => format!(
                        "{given} is not the image, whose shape is {}",
                        listed(&axes(&wanted))
                    ),
                    _ => format!("{given} is not several levels; give their texels as one list"),
                })
            }
        }
    }
}

/// `(2, 3)`.
fn listed(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("({})", lengths.join(", "))
}

/// The block that a `reflect` buffer is laid out as.
pub struct Block<'a> {
    pub layout: &'a Layout,
    /// The block structure.
    pub ty: Id,
    /// Bytes without a runtime array.
    pub fixed_bytes: u64,
}

/// Where contents come from and how large they may be.
pub struct Source<'a> {
    pub base: &'a Path,
    /// Bytes.
    pub limit: u64,
}

impl Source<'_> {
    /// The buffer `name` with its initial contents and the addresses that it is to hold; none after
    /// a problem.
    pub fn buffer(
        &self,
        name: &str,
        buffer: &Buffer,
        block: Option<Block<'_>>,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<(JobBuffer, Vec<Pointer>)> {
        let whole = |bytes: Vec<u8>| JobBuffer {
            name: name.to_owned(),
            defined: whole_range(bytes.len()),
            bytes,
        };
        let mut pointers = Vec::new();
        let made = match buffer.data_type {
            Some(DataType::Reflect) => match block {
                Some(block) => {
                    self.reflected(name, buffer, &block, &mut pointers, origin, problems)?
                }
                None => {
                    let problem = origin.at("type").error(
                        "no-block",
                        format!("no dispatch binds the buffer `{name}` to a block"),
                    );
                    problems.push(
                        problem.hint("`reflect` lays a buffer out as the block of the first binding that names it"),
                    );
                    return None;
                }
            },
            Some(DataType::Element(element)) => match &buffer.data {
                Some(data) => whole(elements(element, data, &origin.at("data"), problems)?),
                None => match (&buffer.fill, buffer.count) {
                    (Some(fill), Some(count)) => {
                        self.room(name, element, count, origin, problems)?;
                        whole(filled(element, fill, count, &origin.at("fill"), problems)?)
                    }
                    _ => self.untyped(name, buffer, Some(element), origin, problems)?,
                },
            },
            None => self.untyped(name, buffer, None, origin, problems)?,
        };
        self.check_size(name, buffer, &made, origin, problems)?;
        for (index, entry) in buffer.address_of.iter().enumerate() {
            pointers.push(Pointer::of_entry(entry, origin.at("address_of").at(index)));
        }
        Some((made, pointers))
    }

    /// Contents that need no conversion: bytes, a file, or nothing.
    fn untyped(
        &self,
        name: &str,
        buffer: &Buffer,
        element: Option<ElementType>,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<JobBuffer> {
        let whole = |bytes: Vec<u8>| JobBuffer {
            name: name.to_owned(),
            defined: whole_range(bytes.len()),
            bytes,
        };
        if let Some(text) = &buffer.bytes {
            let bytes = decode_base64(text, &origin.at("bytes"), problems)?;
            return Some(whole(bytes));
        }
        if let Some(path) = &buffer.file {
            let (_, bytes) =
                self.file(path, FilePlace::Elements(element), &origin.at("file"), problems)?;
            return Some(whole(bytes));
        }
        let (Some(element), Some(count)) = (element, buffer.count) else {
            problems.push(origin.error(
                "missing-key",
                format!("the buffer `{name}` has neither contents nor `type` and `count`"),
            ));
            return None;
        };
        let bytes = self.room(name, element, count, origin, problems)?;
        Some(JobBuffer {
            name: name.to_owned(),
            bytes: vec![UNINITIALISED; bytes],
            defined: Vec::new(),
        })
    }

    /// Bytes of `count` elements, if they are within the limit.
    fn room(
        &self,
        name: &str,
        element: ElementType,
        count: u64,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<usize> {
        let bytes = count.checked_mul(element.size() as u64).filter(|bytes| *bytes <= self.limit);
        if bytes.is_none() {
            let message = format!(
                "{count} elements of {element} in `{name}` exceed the memory limit of {} bytes",
                self.limit
            );
            problems.push(
                origin.at("count").error("limit", message).hint("raise `limits.memory_bytes`"),
            );
        }
        bytes.map(|bytes| bytes as usize)
    }

    fn check_size(
        &self,
        name: &str,
        buffer: &Buffer,
        made: &JobBuffer,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<()> {
        let length = made.bytes.len();
        if length == 0 {
            problems.push(origin.error(
                "size",
                format!("the buffer `{name}` is empty; Vulkan has no buffer of no bytes"),
            ));
            return None;
        }
        let Some(DataType::Element(element)) = buffer.data_type else { return Some(()) };
        if !length.is_multiple_of(element.size()) {
            let message = format!(
                "`{name}` has {length} bytes, which is no whole number of {element} ({} bytes each)",
                element.size()
            );
            problems.push(origin.at("type").error("size", message));
            return None;
        }
        let held = (length / element.size()) as u64;
        if let Some(count) = buffer.count.filter(|count| *count != held) {
            let message = format!(
                "`count` is {count}, but the contents of `{name}` are {held} elements of {element}"
            );
            problems.push(
                origin
                    .at("count")
                    .error("size", message)
                    .hint("leave `count` out where contents are given"),
            );
            return None;
        }
        Some(())
    }

    /// The element type (for `.npy` files, or as asked for) and bytes of a file.
    pub fn file(
        &self,
        path: &str,
        place: FilePlace<'_>,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<(Option<ElementType>, Vec<u8>)> {
        let limit = self.limit.saturating_add(MOST_HEADER_BYTES);
        let file = match read_at_most(&self.base.join(path), path, limit) {
            Ok(file) => file,
            Err(error) => {
                let base =
                    if self.base.as_os_str().is_empty() { Path::new(".") } else { self.base };
                let hint = format!("paths are relative to `{}`", base.display());
                problems.push(origin.error(error.kind, error.message).hint(hint));
                return None;
            }
        };
        let read = place.read(path, file);
        read.map_err(|fault| {
            problems.push(origin.error(fault.kind, format!("`{path}`: {}", fault.message)))
        })
        .ok()
    }

    fn reflected(
        &self,
        name: &str,
        buffer: &Buffer,
        block: &Block<'_>,
        pointers: &mut Vec<Pointer>,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<JobBuffer> {
        let before = problems.count();
        let leaves = match &buffer.data {
            Some(data) => {
                let mut walk = Walk::new(block.layout, problems);
                walk.value(block.ty, None, 0, data, &origin.at("data"));
                pointers.append(&mut walk.pointers);
                walk.leaves
            }
            None if buffer.fill.is_none() && buffer.file.is_none() && buffer.bytes.is_none() => {
                Vec::new()
            }
            None => {
                let problem = origin
                    .at("type")
                    .error("contradiction", "a buffer of type `reflect` takes `data` alone");
                problems.push(problem);
                return None;
            }
        };
        let bytes = reflected_size(buffer, block).filter(|bytes| *bytes <= self.limit);
        let Some(bytes) = bytes else {
            problems.push(origin.error(
                "limit",
                format!("`{name}` exceeds the memory limit of {} bytes", self.limit),
            ));
            return None;
        };
        if problems.count() > before {
            return None;
        }
        let mut made = JobBuffer {
            name: name.to_owned(),
            bytes: vec![UNINITIALISED; bytes as usize],
            defined: Vec::new(),
        };
        made.defined = place(&leaves, &mut made.bytes);
        Some(made)
    }
}

/// Bytes of a `reflect` buffer: the block, with as many elements of a runtime array at its end as
/// `data` gives or `count` says.
fn reflected_size(buffer: &Buffer, block: &Block<'_>) -> Option<u64> {
    let Some(Type::Structure { members, .. }) = block.layout.types.get(block.ty) else {
        return Some(block.fixed_bytes);
    };
    let Some((last, member)) = members.iter().enumerate().next_back() else {
        return Some(block.fixed_bytes);
    };
    let Some(Type::RuntimeArray { stride, .. }) = block.layout.types.get(member.ty) else {
        return Some(block.fixed_bytes);
    };
    let given = match &buffer.data {
        Some(Datum::Record(values)) => {
            let name = member.name.clone().unwrap_or_else(|| last.to_string());
            values.get(&name)
        }
        Some(Datum::List(values)) => values.get(last),
        Some(Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_)) | None => None,
    };
    let given = match given {
        Some(Datum::List(values)) => values.len() as u64,
        _ => 0,
    };
    let count = buffer.count.unwrap_or(0).max(given);
    let end = u64::from(stride.unwrap_or(0))
        .checked_mul(count)?
        .checked_add(member.offset.unwrap_or(0).into())?;
    Some(end.max(block.fixed_bytes))
}

/// Writes scalars to their places and gives the byte ranges written; scalars beyond the end are
/// left out.
pub(super) fn place(leaves: &[Leaf], bytes: &mut [u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        let range = leaf.offset as usize..leaf.offset as usize + leaf.scalar.size();
        if let Some(slot) = bytes.get_mut(range.clone()) {
            slot.copy_from_slice(&leaf.bits.to_le_bytes()[..leaf.scalar.size()]);
            ranges.push(range);
        }
    }
    merged(ranges)
}

/// All of `length` bytes.
pub(super) fn whole_range(length: usize) -> Vec<Range<usize>> {
    std::iter::once(0..length).filter(|range| !range.is_empty()).collect()
}

/// Ascending, disjoint, not touching, without empty ones.
pub fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Standard base64 with padding.
pub(super) fn decode_base64(
    text: &str,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    match STANDARD.decode(text) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            problems.push(
                origin
                    .error("base64", format!("this is no base64: {error}"))
                    .hint("RFC 4648, with padding"),
            );
            None
        }
    }
}

/// An array of elements, flat or with one array per vector, to bytes.
pub(super) fn elements(
    element: ElementType,
    data: &Datum,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let Datum::List(values) = data else {
        problems.push(
            origin.error(
                "wrong-type",
                format!("expected an array of {element}, found {}", data.kind()),
            ),
        );
        return None;
    };
    let mut bytes = Vec::with_capacity(values.len() * element.scalar.size());
    let faults = std::cell::Cell::new(0);
    let refuse = |origin: Origin, kind, message: String, problems: &mut Problems| {
        faults.set(faults.get() + 1);
        if faults.get() <= LISTED {
            problems.push(origin.error(kind, message));
        }
    };
    for (index, value) in values.iter().enumerate() {
        let nested = match value {
            Datum::List(parts) if element.components > 1 => {
                if parts.len() != element.components as usize {
                    let message = format!(
                        "{element} has {} components, and {} are given",
                        element.components,
                        parts.len()
                    );
                    refuse(origin.at(index), "size", message, problems);
                    continue;
                }
                parts.as_slice()
            }
            other => std::slice::from_ref(other),
        };
        for (part, component) in nested.iter().enumerate() {
            match encode_datum(element.scalar, component) {
                Ok(bits) => append_scalar(&mut bytes, element.scalar, bits),
                Err(message) => {
                    let place = origin.at(index);
                    let place =
                        if matches!(value, Datum::List(_)) { place.at(part) } else { place };
                    refuse(place, "bad-value", message, problems);
                }
            }
        }
    }
    if faults.get() == 0 && !bytes.len().is_multiple_of(element.size()) {
        let count = bytes.len() / element.scalar.size();
        refuse(
            origin.clone(),
            "size",
            format!("{count} components are no whole number of {element}"),
            problems,
        );
    }
    if faults.get() > LISTED {
        problems.push(
            origin.error("bad-value", format!("{} more values are wrong", faults.get() - LISTED)),
        );
    }
    (faults.get() == 0).then_some(bytes)
}

pub(super) fn filled(
    element: ElementType,
    fill: &Fill,
    count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    match fill {
        Fill::Constant(value) => constant(element, value, count, &origin.at("constant"), problems),
        Fill::Iota(rule) => iota(element, rule, count, &origin.at("iota"), problems),
        Fill::Random(rule) => random(element, rule, count, &origin.at("random"), problems),
    }
}

fn constant(
    element: ElementType,
    value: &Datum,
    count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let one = match value {
        Datum::List(_) => elements(element, value, origin, problems)?,
        single => {
            let all = Datum::List(vec![single.clone(); element.components as usize]);
            match encode_datum(element.scalar, single) {
                Ok(_) => elements(element, &all, origin, problems)?,
                Err(message) => {
                    problems.push(origin.error("bad-value", message));
                    return None;
                }
            }
        }
    };
    if one.len() != element.size() {
        problems.push(origin.error("size", format!("a constant is one {element}")));
        return None;
    }
    Some(one.repeat(count as usize))
}

fn iota(
    element: ElementType,
    rule: &Iota,
    count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let start = rule.start.clone().unwrap_or(Datum::Integer(0));
    let step = rule.step.clone().unwrap_or(Datum::Integer(1));
    let components = count * u64::from(element.components);
    let mut bytes = Vec::with_capacity(count as usize * element.size());
    match element.scalar.class() {
        ScalarClass::Float => {
            let start = bits(element, &start, &origin.at("start"), problems)?;
            let step = bits(element, &step, &origin.at("step"), problems)?;
            let (start, step) =
                (decode_float(element.scalar, start), decode_float(element.scalar, step));
            for index in 0..components {
                append_scalar(
                    &mut bytes,
                    element.scalar,
                    float_bits(element.scalar, start + index as f64 * step),
                );
            }
        }
        ScalarClass::Signed | ScalarClass::Unsigned => {
            let (Some(start), Some(step)) = (whole(&start), whole(&step)) else {
                problems.push(
                    origin
                        .error("bad-value", "`start` and `step` of an integer buffer are integers"),
                );
                return None;
            };
            let last = start + i128::from(components.saturating_sub(1)) * step;
            let range = element.scalar.integer_range().expect("an integer type has a range");
            if [start, last].iter().any(|value| *value < range.0 || *value > range.1) {
                problems.push(origin.error(
                    "bad-value",
                    format!("{start} to {last} does not fit in {}", element.scalar),
                ));
                return None;
            }
            for index in 0..components {
                append_scalar(
                    &mut bytes,
                    element.scalar,
                    (start + i128::from(index) * step) as u64,
                );
            }
        }
        ScalarClass::Bool => {
            problems.push(origin.error("bad-value", "Booleans cannot be counted up"));
            return None;
        }
    }
    Some(bytes)
}

fn whole(value: &Datum) -> Option<i128> {
    match value {
        Datum::Integer(value) => Some(*value),
        Datum::Text(text) => text
            .parse::<i64>()
            .map(i128::from)
            .or_else(|_| text.parse::<u64>().map(i128::from))
            .ok(),
        Datum::Bool(_) | Datum::Float(_) | Datum::List(_) | Datum::Record(_) => None,
    }
}

fn bits(
    element: ElementType,
    value: &Datum,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<u64> {
    encode_datum(element.scalar, value)
        .map_err(|message| problems.push(origin.error("bad-value", message)))
        .ok()
}

fn random(
    element: ElementType,
    rule: &Random,
    count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let scalar = element.scalar;
    let bound = |value: &Option<Datum>, key: &str, problems: &mut Problems| match value {
        None => Some(None),
        Some(value) => bits(element, value, &origin.at(key), problems).map(Some),
    };
    let (min, max) = (bound(&rule.min, "min", problems)?, bound(&rule.max, "max", problems)?);
    let (bounds, ordered) = match scalar.integer_range() {
        Some((least, most)) => {
            let least = min.map_or(least, |bits| decode_integer(scalar, bits));
            let most = max.map_or(most, |bits| decode_integer(scalar, bits));
            (Bounds::Integer(least, most), least <= most)
        }
        None => {
            let least = min.map_or(0.0, |bits| decode_float(scalar, bits));
            let most = max.map_or(1.0, |bits| decode_float(scalar, bits));
            (Bounds::Float(least, most), least <= most && (most - least).is_finite())
        }
    };
    if !ordered {
        problems.push(origin.error("bad-value", "`min` is at most `max`, and both are finite"));
        return None;
    }
    let mut generator = SplitMix64::new(rule.seed);
    let mut bytes = Vec::with_capacity(count as usize * element.size());
    for _ in 0..count * u64::from(element.components) {
        append_scalar(&mut bytes, scalar, random_component(&mut generator, scalar, bounds));
    }
    Some(bytes)
}

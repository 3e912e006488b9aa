//! Initial contents of buffers.
//!
//! Promises: contents as the file defines them, byte for byte; which bytes are defined; everything
//! else 0xCD. A count that contradicts the contents, a value that does not fit and a file that
//! cannot be read are reported with their place.

use super::UNINITIALISED;
use super::address::Pointer;
use super::definedness::{place, whole_range};
use super::elements::{decode_base64, elements, filled};
use super::file_contents::FilePlace;
use super::layout::{Layout, Walk};
use super::problems::Problems;
use crate::JobBuffer;
use std::path::Path;
use std::sync::Arc;
use vkcert_model::element::{DataType, Datum, ElementType};
use vkcert_model::procedure::Buffer;
use vkcert_requirement::Origin;
use vkcert_requirement::document::read_at_most;
use vkcert_spirv::module::Id;
use vkcert_spirv::types::Type;

/// Bytes that a file may have besides its elements.
const MOST_HEADER_BYTES: u64 = 1 << 16;
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
            bytes: Arc::new(bytes),
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
            bytes: Arc::new(bytes),
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
            bytes: Arc::new(vec![UNINITIALISED; bytes]),
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
        let mut bytes = vec![UNINITIALISED; bytes as usize];
        let defined = place(&leaves, &mut bytes);
        Some(JobBuffer { name: name.to_owned(), bytes: Arc::new(bytes), defined })
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

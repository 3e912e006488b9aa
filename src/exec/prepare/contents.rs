//! Initial contents of buffers.
//!
//! Promises: contents as the file defines them, byte for byte; which bytes are defined; everything
//! else 0xCD. A count that contradicts the contents, a value that does not fit and a file that
//! cannot be read are reported with their place.

use super::UNINITIALISED;
use super::address::NamedAddress;
use super::definedness::{defined_buffer, place_scalars};
use super::elements::{decode_base64, encode_elements, fill_elements};
use super::file_contents::FilePlace;
use super::layout::{ModuleLayout, ValueWalk};
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
pub struct ReflectedBlock<'a> {
    pub layout: &'a ModuleLayout,
    /// The block structure.
    pub ty: Id,
    /// Bytes without a runtime array.
    pub fixed_bytes: u64,
}

/// Where contents come from and how large they may be.
pub struct ContentsSource<'a> {
    pub base_folder: &'a Path,
    /// Bytes.
    pub byte_limit: u64,
}

impl ContentsSource<'_> {
    /// The buffer `name` with its initial contents and the addresses that it is to hold; none after
    /// a problem.
    pub fn initial_buffer(
        &self,
        buffer_name: &str,
        buffer: &Buffer,
        block: Option<ReflectedBlock<'_>>,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<(JobBuffer, Vec<NamedAddress>)> {
        let mut pointers = Vec::new();
        let job_buffer = match buffer.data_type {
            Some(DataType::Reflect) => match block {
                Some(block) => self.reflected_buffer(
                    buffer_name,
                    buffer,
                    &block,
                    &mut pointers,
                    origin,
                    problems,
                )?,
                None => {
                    let problem = origin.at("type").error(
                        "no-block",
                        format!("no dispatch binds the buffer `{buffer_name}` to a block"),
                    );
                    problems.push(
                        problem.hint("`reflect` lays a buffer out as the block of the first binding that names it"),
                    );
                    return None;
                }
            },
            Some(DataType::Element(element)) => match &buffer.data {
                Some(data) => {
                    let bytes = encode_elements(element, data, &origin.at("data"), problems)?;
                    defined_buffer(buffer_name, bytes)
                }
                None => match (&buffer.fill, buffer.count) {
                    (Some(fill_rule), Some(count)) => {
                        self.checked_byte_count(buffer_name, element, count, origin, problems)?;
                        defined_buffer(
                            buffer_name,
                            fill_elements(element, fill_rule, count, &origin.at("fill"), problems)?,
                        )
                    }
                    _ => {
                        self.untyped_buffer(buffer_name, buffer, Some(element), origin, problems)?
                    }
                },
            },
            None => self.untyped_buffer(buffer_name, buffer, None, origin, problems)?,
        };
        self.check_size(buffer_name, buffer, &job_buffer, origin, problems)?;
        for (entry_index, entry) in buffer.address_of.iter().enumerate() {
            pointers.push(NamedAddress::of_entry(entry, origin.at("address_of").at(entry_index)));
        }
        Some((job_buffer, pointers))
    }

    /// Contents that need no conversion: bytes, a file, or nothing.
    fn untyped_buffer(
        &self,
        buffer_name: &str,
        buffer: &Buffer,
        element_type: Option<ElementType>,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<JobBuffer> {
        if let Some(text) = &buffer.bytes {
            let bytes = decode_base64(text, &origin.at("bytes"), problems)?;
            return Some(defined_buffer(buffer_name, bytes));
        }
        if let Some(file_path) = &buffer.file {
            let (_, bytes) = self.file_contents(
                file_path,
                FilePlace::Elements(element_type),
                &origin.at("file"),
                problems,
            )?;
            return Some(defined_buffer(buffer_name, bytes));
        }
        let (Some(element_type), Some(count)) = (element_type, buffer.count) else {
            problems.push(origin.error(
                "missing-key",
                format!("the buffer `{buffer_name}` has neither contents nor `type` and `count`"),
            ));
            return None;
        };
        let bytes = self.checked_byte_count(buffer_name, element_type, count, origin, problems)?;
        Some(JobBuffer {
            name: buffer_name.to_owned(),
            bytes: Arc::new(vec![UNINITIALISED; bytes]),
            defined: Vec::new(),
        })
    }

    /// Bytes of `count` elements, if they are within the limit.
    fn checked_byte_count(
        &self,
        buffer_name: &str,
        element_type: ElementType,
        element_count: u64,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<usize> {
        let byte_count = element_count
            .checked_mul(element_type.size() as u64)
            .filter(|byte_count| *byte_count <= self.byte_limit);
        if byte_count.is_none() {
            let message = format!(
                "{element_count} elements of {element_type} in `{buffer_name}` exceed the memory limit of {} bytes",
                self.byte_limit
            );
            problems.push(
                origin.at("count").error("limit", message).hint("raise `limits.memory_bytes`"),
            );
        }
        byte_count.map(|byte_count| byte_count as usize)
    }

    fn check_size(
        &self,
        buffer_name: &str,
        buffer: &Buffer,
        job_buffer: &JobBuffer,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<()> {
        let byte_count = job_buffer.bytes.len();
        if byte_count == 0 {
            problems.push(origin.error(
                "size",
                format!("the buffer `{buffer_name}` is empty; Vulkan has no buffer of no bytes"),
            ));
            return None;
        }
        let Some(DataType::Element(element)) = buffer.data_type else { return Some(()) };
        if !byte_count.is_multiple_of(element.size()) {
            let message = format!(
                "`{buffer_name}` has {byte_count} bytes, which is no whole number of {element} ({} bytes each)",
                element.size()
            );
            problems.push(origin.at("type").error("size", message));
            return None;
        }
        let held_elements = (byte_count / element.size()) as u64;
        if let Some(count) = buffer.count.filter(|count| *count != held_elements) {
            let message = format!(
                "`count` is {count}, but the contents of `{buffer_name}` are {held_elements} elements of {element}"
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
    pub fn file_contents(
        &self,
        file_path: &str,
        file_place: FilePlace<'_>,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<(Option<ElementType>, Vec<u8>)> {
        let byte_limit = self.byte_limit.saturating_add(MOST_HEADER_BYTES);
        let read_bytes =
            match read_at_most(&self.base_folder.join(file_path), file_path, byte_limit) {
                Ok(read_bytes) => read_bytes,
                Err(error) => {
                    let base_folder = if self.base_folder.as_os_str().is_empty() {
                        Path::new(".")
                    } else {
                        self.base_folder
                    };
                    let hint = format!("paths are relative to `{}`", base_folder.display());
                    problems.push(origin.error(error.kind, error.message).hint(hint));
                    return None;
                }
            };
        let read_result = file_place.read_contents(file_path, read_bytes);
        read_result
            .map_err(|fault| {
                problems.push(origin.error(fault.kind, format!("`{file_path}`: {}", fault.message)))
            })
            .ok()
    }

    fn reflected_buffer(
        &self,
        buffer_name: &str,
        buffer: &Buffer,
        block: &ReflectedBlock<'_>,
        pointers: &mut Vec<NamedAddress>,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<JobBuffer> {
        let problems_before = problems.count();
        let scalar_leaves = match &buffer.data {
            Some(data) => {
                let mut value_walk = ValueWalk::new(block.layout, problems);
                value_walk.collect_value(block.ty, None, 0, data, &origin.at("data"));
                pointers.append(&mut value_walk.named_addresses);
                value_walk.scalar_leaves
            }
            None if buffer.fill.is_none() && buffer.file.is_none() && buffer.bytes.is_none() => {
                Vec::new()
            }
            None => {
                let type_problem = origin
                    .at("type")
                    .error("contradiction", "a buffer of type `reflect` takes `data` alone");
                problems.push(type_problem);
                return None;
            }
        };
        let buffer_bytes =
            reflected_size(buffer, block).filter(|buffer_bytes| *buffer_bytes <= self.byte_limit);
        let Some(buffer_bytes) = buffer_bytes else {
            problems.push(origin.error(
                "limit",
                format!("`{buffer_name}` exceeds the memory limit of {} bytes", self.byte_limit),
            ));
            return None;
        };
        if problems.count() > problems_before {
            return None;
        }
        let mut buffer_bytes = vec![UNINITIALISED; buffer_bytes as usize];
        let defined = place_scalars(&scalar_leaves, &mut buffer_bytes);
        Some(JobBuffer { name: buffer_name.to_owned(), bytes: Arc::new(buffer_bytes), defined })
    }
}

/// Bytes of a `reflect` buffer: the block, with as many elements of a runtime array at its end as
/// `data` gives or `count` says.
fn reflected_size(buffer: &Buffer, block: &ReflectedBlock<'_>) -> Option<u64> {
    let Some(Type::Structure { members, .. }) = block.layout.types.get(block.ty) else {
        return Some(block.fixed_bytes);
    };
    let Some((last_member, member)) = members.iter().enumerate().next_back() else {
        return Some(block.fixed_bytes);
    };
    let Some(Type::RuntimeArray { stride: array_stride, .. }) = block.layout.types.get(member.ty)
    else {
        return Some(block.fixed_bytes);
    };
    let given_elements = match &buffer.data {
        Some(Datum::Record(values)) => match &member.name {
            Some(member_name) => values.get(member_name),
            None => values.get(&last_member.to_string()),
        },
        Some(Datum::List(values)) => values.get(last_member),
        Some(Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_)) | None => None,
    };
    let given_elements = match given_elements {
        Some(Datum::List(values)) => values.len() as u64,
        _ => 0,
    };
    let count = buffer.count.unwrap_or(0).max(given_elements);
    let array_end = u64::from(array_stride.unwrap_or(0))
        .checked_mul(count)?
        .checked_add(member.offset.unwrap_or(0).into())?;
    Some(array_end.max(block.fixed_bytes))
}

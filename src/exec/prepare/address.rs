//! Device addresses that a test stores in buffers and push constants.
//!
//! Knows: `{"address_of": name, "offset": bytes}` as a value, and the entries of a buffer's
//! `address_of`.
//! Promises: the address lies within the buffer that it names, its 8 bytes within the place that
//! holds it; two never share a byte. In the job's bytes its symbol stands in its place.
//! Does not cover: real addresses, which an engine knows.

use super::problems::Problems;
use crate::JobBuffer;
use crate::resource::{AddressPlace, JobAddress, JobResources, address_symbol};
use vkcert_model::element::Datum;
use vkcert_model::index_range::IndexRange;
use vkcert_model::procedure::AddressOf;
use vkcert_requirement::Origin;

/// Bytes of an address.
pub(super) const ADDRESS_BYTES: usize = 8;

/// An address that a value asks for, by name.
pub struct NamedAddress {
    /// Byte offset where it is stored.
    pub at: u64,
    pub buffer: String,
    pub offset: u64,
    pub origin: Origin,
}

impl NamedAddress {
    /// An entry of a buffer's `address_of`.
    pub fn of_entry(entry: &AddressOf, origin: Origin) -> Self {
        Self { at: entry.at, buffer: entry.buffer.clone(), offset: entry.offset, origin }
    }

    /// What a value asks for; none: it is no address. A key other than `address_of` and `offset` is
    /// a problem.
    pub fn of_value(
        at: u64,
        given_value: &Datum,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<Self> {
        let Datum::Record(members) = given_value else { return None };
        let buffer_name = members.get("address_of")?;
        if let Some(unknown_key) =
            members.keys().find(|key| !["address_of", "offset"].contains(&key.as_str()))
        {
            let message = format!("an address has `address_of` and `offset`, not `{unknown_key}`");
            problems.push(origin.at(unknown_key).key_error("unknown-member", message));
        }
        let Datum::Text(buffer_name) = buffer_name else {
            let message = format!("expected the name of a buffer, found {}", buffer_name.kind());
            problems.push(origin.at("address_of").error("wrong-type", message));
            return None;
        };
        let byte_offset = match members.get("offset") {
            None => 0,
            Some(Datum::Integer(byte_offset)) if u64::try_from(*byte_offset).is_ok() => {
                *byte_offset as u64
            }
            Some(unknown_key) => {
                problems.push(
                    origin
                        .at("offset")
                        .error("bad-value", format!("{unknown_key} is no number of bytes")),
                );
                return None;
            }
        };
        Some(Self { at, buffer: buffer_name.clone(), offset: byte_offset, origin: origin.clone() })
    }

    /// The address that it stands for; none after a problem.
    pub fn resolve_address(
        &self,
        address_place: AddressPlace,
        buffers: &[JobBuffer],
        resources: &JobResources,
        problems: &mut Problems,
    ) -> Option<JobAddress> {
        let target_buffer = buffers.iter().position(|buffer| buffer.name == self.buffer);
        let is_image = |buffer_index| {
            resources.images.iter().any(|image| image.buffer as usize == buffer_index)
        };
        let Some(target_buffer) = target_buffer.filter(|target_buffer| !is_image(*target_buffer))
        else {
            let message = format!("there is no buffer `{}`", self.buffer);
            problems.push(self.name_origin().error("unknown-buffer", message));
            return None;
        };
        let buffer_size = buffers[target_buffer].bytes.len() as u64;
        if self.offset >= buffer_size {
            let message = format!(
                "offset {} lies beyond the {buffer_size} bytes of `{}`",
                self.offset, self.buffer
            );
            problems.push(self.origin.at("offset").error("size", message));
            return None;
        }
        Some(JobAddress {
            place: address_place,
            at: self.at,
            target: target_buffer as u32,
            offset: self.offset,
        })
    }

    fn name_origin(&self) -> Origin {
        // An entry of a list has the key `buffer`, a value the key `address_of`; the place of a
        // missing key is its parent's.
        self.origin.at("buffer")
    }
}

/// Puts the symbols of a place's addresses into its bytes; they count as defined. None after a
/// problem.
pub(super) fn place_symbols(
    pointers: &[NamedAddress],
    addresses: &[JobAddress],
    bytes: &mut [u8],
    defined: &mut Vec<std::ops::Range<usize>>,
    problems: &mut Problems,
) -> Option<()> {
    let mut taken_offsets: Vec<u64> = Vec::new();
    for (pointer, address) in pointers.iter().zip(addresses) {
        let address_end = address
            .at
            .checked_add(ADDRESS_BYTES as u64)
            .filter(|address_end| *address_end <= bytes.len() as u64);
        let fault_message = match address_end {
            None => {
                format!(
                    "an address at byte {} does not lie within the {} bytes there are",
                    address.at,
                    bytes.len()
                )
            }
            Some(_) if !address.at.is_multiple_of(4) => {
                format!("an address at byte {}, no multiple of 4", address.at)
            }
            Some(_)
                if taken_offsets.iter().any(|taken_offset| {
                    taken_offset.abs_diff(address.at) < ADDRESS_BYTES as u64
                }) =>
            {
                format!("an address at byte {} overlaps another", address.at)
            }
            Some(_) => {
                let first_byte = address.at as usize;
                let byte_range = IndexRange { start: first_byte, end: first_byte + ADDRESS_BYTES };
                bytes[byte_range.range()]
                    .copy_from_slice(&address_symbol(address.target, address.offset).to_le_bytes());
                defined.push(byte_range.range());
                taken_offsets.push(address.at);
                continue;
            }
        };
        problems.push(pointer.origin.at("at").error("size", fault_message));
        return None;
    }
    *defined = super::definedness::merged_ranges(std::mem::take(defined));
    Some(())
}

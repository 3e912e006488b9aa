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
use vkcert_model::procedure::AddressOf;
use vkcert_requirement::Origin;

/// Bytes of an address.
pub(super) const ADDRESS_BYTES: usize = 8;

/// An address that a value asks for, by name.
pub struct Pointer {
    /// Byte offset where it is stored.
    pub at: u64,
    pub buffer: String,
    pub offset: u64,
    pub origin: Origin,
}

impl Pointer {
    /// An entry of a buffer's `address_of`.
    pub fn of_entry(entry: &AddressOf, origin: Origin) -> Self {
        Self { at: entry.at, buffer: entry.buffer.clone(), offset: entry.offset, origin }
    }

    /// What a value asks for; none: it is no address. A key other than `address_of` and `offset` is
    /// a problem.
    pub fn of_value(
        at: u64,
        value: &Datum,
        origin: &Origin,
        problems: &mut Problems,
    ) -> Option<Self> {
        let Datum::Record(members) = value else { return None };
        let buffer = members.get("address_of")?;
        if let Some(other) =
            members.keys().find(|key| !["address_of", "offset"].contains(&key.as_str()))
        {
            let message = format!("an address has `address_of` and `offset`, not `{other}`");
            problems.push(origin.at(other).key_error("unknown-member", message));
        }
        let Datum::Text(buffer) = buffer else {
            let message = format!("expected the name of a buffer, found {}", buffer.kind());
            problems.push(origin.at("address_of").error("wrong-type", message));
            return None;
        };
        let offset = match members.get("offset") {
            None => 0,
            Some(Datum::Integer(offset)) if u64::try_from(*offset).is_ok() => *offset as u64,
            Some(other) => {
                problems.push(
                    origin
                        .at("offset")
                        .error("bad-value", format!("{other} is no number of bytes")),
                );
                return None;
            }
        };
        Some(Self { at, buffer: buffer.clone(), offset, origin: origin.clone() })
    }

    /// The address that it stands for; none after a problem.
    pub fn resolve(
        &self,
        place: AddressPlace,
        buffers: &[JobBuffer],
        resources: &JobResources,
        problems: &mut Problems,
    ) -> Option<JobAddress> {
        let target = buffers.iter().position(|buffer| buffer.name == self.buffer);
        let image = |target| resources.images.iter().any(|image| image.buffer as usize == target);
        let Some(target) = target.filter(|target| !image(*target)) else {
            let message = format!("there is no buffer `{}`", self.buffer);
            problems.push(self.named().error("unknown-buffer", message));
            return None;
        };
        let size = buffers[target].bytes.len() as u64;
        if self.offset >= size {
            let message =
                format!("offset {} lies beyond the {size} bytes of `{}`", self.offset, self.buffer);
            problems.push(self.origin.at("offset").error("size", message));
            return None;
        }
        Some(JobAddress { place, at: self.at, target: target as u32, offset: self.offset })
    }

    fn named(&self) -> Origin {
        // An entry of a list has the key `buffer`, a value the key `address_of`; the place of a
        // missing key is its parent's.
        self.origin.at("buffer")
    }
}

/// Puts the symbols of a place's addresses into its bytes; they count as defined. None after a
/// problem.
pub(super) fn place_symbols(
    pointers: &[Pointer],
    addresses: &[JobAddress],
    bytes: &mut [u8],
    defined: &mut Vec<std::ops::Range<usize>>,
    problems: &mut Problems,
) -> Option<()> {
    let mut taken: Vec<u64> = Vec::new();
    for (pointer, address) in pointers.iter().zip(addresses) {
        let end =
            address.at.checked_add(ADDRESS_BYTES as u64).filter(|end| *end <= bytes.len() as u64);
        let problem = match end {
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
                if taken.iter().any(|other| other.abs_diff(address.at) < ADDRESS_BYTES as u64) =>
            {
                format!("an address at byte {} overlaps another", address.at)
            }
            Some(_) => {
                let range = address.at as usize..address.at as usize + ADDRESS_BYTES;
                bytes[range.clone()]
                    .copy_from_slice(&address_symbol(address.target, address.offset).to_le_bytes());
                defined.push(range);
                taken.push(address.at);
                continue;
            }
        };
        problems.push(pointer.origin.at("at").error("size", problem));
        return None;
    }
    *defined = super::definedness::merged(std::mem::take(defined));
    Some(())
}

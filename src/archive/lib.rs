//! The archive of a campaign: one file, a tar in zstd, with what is needed to verify the campaign
//! later and to read it without this program.
//!
//! Knows: where what stands in an archive ([`layout`]), the list of its hashes ([`sums`]), how one is
//! written ([`mod@pack`]), and how one of unknown origin is unpacked ([`mod@unpack`]).
//! Promises: nothing is written outside of the folder that is asked for, and no more than the
//! limits allow; an archive that is damaged, cut off, or holds anything that this program does not
//! write into archives is an error by name.
//! Does not cover: whether the evidence in it holds (`verify`).

pub mod layout;
mod limited;
pub mod pack;
pub mod sums;
pub mod unpack;

pub use pack::{Contents, WrittenArchive, pack};
pub use unpack::{ArchiveError, Limits, UnpackedArchive, is_archive, unpack};

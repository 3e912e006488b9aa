//! Unpacks an archive of unknown origin.
//!
//! Promises: an entry is a file or a folder below the one folder of the archive, once, and within
//! the limits; links, devices and names that lead elsewhere are errors, and so is what follows the
//! last entry. The bytes of every file are held to the list of hashes.
//! Does not cover: who wrote the archive: list and files may both be forged.

use crate::layout::SUMS;
use crate::limited::LimitedReader;
use crate::sums::{self, Sums};
use ruzstd::decoding::StreamingDecoder;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use tar::EntryType;
use vkcert_model::canonical::sha256_of;

/// The first bytes of a zstd frame (RFC 8878, 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// What an archive may hold.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Files and folders.
    pub entries: usize,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all of it, decompressed.
    pub total_bytes: u64,
    /// Bytes of one path.
    pub path_bytes: usize,
    /// Folders above a file.
    pub depth: usize,
}

impl Default for Limits {
    /// Far above what campaigns of 10,000 tests write.
    fn default() -> Self {
        Self {
            entries: 200_000,
            file_bytes: 1 << 30,
            total_bytes: 16 << 30,
            path_bytes: 1_024,
            depth: 64,
        }
    }
}

/// Why a file cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It cannot be read, is cut off or damaged.
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    /// It is no archive at all.
    #[error("it is no archive: it does not begin as zstd does")]
    NotZstd,
    /// The checksum of the compressed stream is another one, or it has none.
    #[error("it is damaged: its checksum is not that of its contents")]
    Damaged,
    /// Bytes follow the end of the archive.
    #[error("it goes on behind its end")]
    GoesOn,
    /// An entry that is neither file nor folder.
    #[error("the entry `{path}` is neither a file nor a folder")]
    OtherKind {
        /// As the archive names it.
        path: String,
    },
    /// A name that leads elsewhere, or is no text.
    #[error("the entry `{path}` has no path inside of the archive")]
    Outside {
        /// As the archive names it.
        path: String,
    },
    /// The same path again.
    #[error("the entry `{path}` is there twice")]
    Twice {
        /// As the archive names it.
        path: String,
    },
    /// A limit is exceeded.
    #[error("{0}")]
    BeyondLimit(String),
    /// No folder that holds all, or no list of hashes in it.
    #[error("it is no archive of this program: {0}")]
    OtherLayout(String),
    /// What was unpacked cannot be written.
    #[error("cannot write {path}: {error}")]
    Unwritable {
        /// The file or folder.
        path: String,
        /// Why.
        error: io::Error,
    },
}

impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> Self {
        ArchiveError::Unreadable(error)
    }
}

/// An archive that was unpacked.
#[derive(Debug)]
pub struct UnpackedArchive {
    /// Its one folder.
    pub top: PathBuf,
    /// The hashes of its files, as its list has them.
    pub sums: Sums,
    /// How files and list differ, a sentence for each file.
    pub differences: Vec<String>,
}

/// Whether a path leads to a file that begins as archives do.
pub fn is_archive(path: &Path) -> bool {
    let mut beginning = [0; ZSTD_MAGIC.len()];
    // A pipe may never open.
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut beginning).is_ok())
        && beginning == ZSTD_MAGIC
}

/// Unpacks an archive into a folder that is there and empty.
///
/// # Errors
/// The archive is damaged, or holds what archives of this program do not.
pub fn unpack(
    file: &Path,
    folder: &Path,
    limits: &Limits,
) -> Result<UnpackedArchive, ArchiveError> {
    if !is_archive(file) {
        File::open(file)?;
        return Err(ArchiveError::NotZstd);
    }
    let mut compressed = BufReader::new(File::open(file)?);
    let decoder = StreamingDecoder::new(&mut compressed).map_err(io::Error::other)?;
    let mut entries = tar::Archive::new(LimitedReader::new(decoder, limits.total_bytes));
    let mut unpacking = Unpacking { folder, limits, paths: BTreeSet::new(), sums: Sums::new() };
    unpacking.read_entries(&mut entries)?;
    let decoder = require_end(entries.into_inner())?;
    let frame = &decoder.decoder;
    if frame.get_checksum_from_data().is_none()
        || frame.get_checksum_from_data() != frame.get_calculated_checksum()
    {
        return Err(ArchiveError::Damaged);
    }
    drop(decoder);
    if compressed.read(&mut [0])? > 0 {
        return Err(ArchiveError::GoesOn);
    }
    unpacking.compare_with_list()
}

/// A tar ends in zeros up to the end of its stream.
fn require_end<R: Read>(mut stream: LimitedReader<R>) -> Result<R, ArchiveError> {
    let mut rest = [0; 4_096];
    loop {
        match stream.read(&mut rest)? {
            0 => return Ok(stream.into_inner()),
            count if rest[..count].iter().any(|byte| *byte != 0) => {
                return Err(ArchiveError::GoesOn);
            }
            _ => {}
        }
    }
}

/// Writes to a file what is read.
struct CopiedReader<R> {
    reader: R,
    file: File,
    bytes: u64,
}

impl<R: Read> Read for CopiedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.file.write_all(&buffer[..count])?;
        self.bytes += count as u64;
        Ok(count)
    }
}

struct Unpacking<'a> {
    folder: &'a Path,
    limits: &'a Limits,
    /// Of every entry.
    paths: BTreeSet<PathBuf>,
    /// Of the files, with the folder that holds all.
    sums: Sums,
}

impl Unpacking<'_> {
    fn read_entries<R: Read>(&mut self, archive: &mut tar::Archive<R>) -> Result<(), ArchiveError> {
        // Raw: an extension of the format that gives a path or a size is an entry of its own.
        let mut long_path = None;
        for entry in archive.entries()?.raw(true) {
            let mut entry = entry?;
            let kind = entry.header().entry_type();
            if kind == EntryType::GNULongName && long_path.is_none() {
                long_path = Some(self.long_path(&mut entry)?);
                continue;
            }
            let name = match long_path.take() {
                Some(path) => path,
                None => entry.path_bytes().into_owned(),
            };
            let path = self.checked_path(&name)?;
            match kind {
                EntryType::Directory => self.make_folder(&path)?,
                EntryType::Regular => self.write_file(&path, &mut entry)?,
                _ => return Err(ArchiveError::OtherKind { path: path.display().to_string() }),
            }
        }
        Ok(())
    }

    /// A path that does not fit into the header of its entry.
    fn long_path<R: Read>(&self, entry: &mut tar::Entry<R>) -> Result<Vec<u8>, ArchiveError> {
        if entry.size() > self.limits.path_bytes as u64 + 1 {
            return Err(self.long_name());
        }
        let mut path = Vec::new();
        entry.read_to_end(&mut path)?;
        if path.last() == Some(&0) {
            path.pop();
        }
        Ok(path)
    }

    fn long_name(&self) -> ArchiveError {
        let limit = self.limits.path_bytes;
        ArchiveError::BeyondLimit(format!("a path has more than {limit} bytes"))
    }

    /// A path of plain names below one folder, which no entry had before.
    fn checked_path(&mut self, name: &[u8]) -> Result<PathBuf, ArchiveError> {
        let shown = String::from_utf8_lossy(name).into_owned();
        if name.len() > self.limits.path_bytes {
            return Err(self.long_name());
        }
        let Ok(text) = std::str::from_utf8(name) else {
            return Err(ArchiveError::Outside { path: shown });
        };
        let text = text.strip_suffix('/').unwrap_or(text);
        let path = PathBuf::from(text);
        let is_name = |component: Component| matches!(component, Component::Normal(_));
        let is_plain = path.components().all(is_name)
            && path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
        if text.is_empty() || text.contains('\0') || !is_plain {
            return Err(ArchiveError::Outside { path: shown });
        }
        if path.components().count() > self.limits.depth {
            let limit = self.limits.depth;
            return Err(ArchiveError::BeyondLimit(format!(
                "`{shown}` is more than {limit} folders deep"
            )));
        }
        if !self.paths.insert(path.clone()) {
            return Err(ArchiveError::Twice { path: shown });
        }
        if self.paths.len() > self.limits.entries {
            let limit = self.limits.entries;
            return Err(ArchiveError::BeyondLimit(format!("it has more than {limit} entries")));
        }
        Ok(path)
    }

    fn make_folder(&self, path: &Path) -> Result<(), ArchiveError> {
        let folder = self.folder.join(path);
        fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, error))
    }

    fn write_file<R: Read>(
        &mut self,
        path: &Path,
        entry: &mut tar::Entry<R>,
    ) -> Result<(), ArchiveError> {
        let shown = path.display().to_string();
        if entry.size() > self.limits.file_bytes {
            let limit = self.limits.file_bytes;
            return Err(ArchiveError::BeyondLimit(format!(
                "`{shown}` has more than {limit} bytes"
            )));
        }
        if let Some(parent) = path.parent() {
            self.make_folder(parent)?;
        }
        let target = self.folder.join(path);
        let file = File::create_new(&target).map_err(|error| unwritable(&target, error))?;
        let size = entry.size();
        let mut copied = CopiedReader { reader: entry, file, bytes: 0 };
        let digits = sha256_of(&mut copied)?;
        if copied.bytes != size {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        self.sums.insert(shown, digits);
        Ok(())
    }

    /// Holds the files to the list of their hashes.
    fn compare_with_list(self) -> Result<UnpackedArchive, ArchiveError> {
        let other_layout = |reason: &str| ArchiveError::OtherLayout(reason.to_owned());
        let first_name = |path: &String| path.split('/').next().map(str::to_owned);
        let tops: BTreeSet<String> = self.sums.keys().filter_map(first_name).collect();
        let mut tops = tops.into_iter();
        let (Some(top), None) = (tops.next(), tops.next()) else {
            return Err(other_layout("it has not one folder that holds all"));
        };
        let prefix = format!("{top}/");
        let mut unpacked = Sums::new();
        for (path, digits) in &self.sums {
            let below = path
                .strip_prefix(&prefix)
                .ok_or_else(|| other_layout("it has a file beside the folder that holds all"))?;
            unpacked.insert(below.to_owned(), digits.clone());
        }
        if unpacked.remove(SUMS).is_none() {
            return Err(other_layout(&format!("it has no list of hashes, {SUMS}")));
        }
        let top = self.folder.join(top);
        let list = fs::read_to_string(top.join(SUMS))?;
        let listed = sums::of_text(&list).map_err(|line| {
            other_layout(&format!("line {line} of {SUMS} is not one hash and one path"))
        })?;
        let differences = differences(&listed, &unpacked);
        Ok(UnpackedArchive { top, sums: listed, differences })
    }
}

fn differences(listed: &Sums, unpacked: &Sums) -> Vec<String> {
    let mut sentences = Vec::new();
    for (path, digits) in listed {
        match unpacked.get(path) {
            None => sentences.push(format!("{path} is listed in {SUMS}, and not in the archive")),
            Some(found) if found != digits => {
                sentences.push(format!("{path} has another SHA-256 than {SUMS} says"));
            }
            Some(_) => {}
        }
    }
    let unlisted = unpacked.keys().filter(|path| !listed.contains_key(*path));
    sentences.extend(unlisted.map(|path| format!("{path} is not listed in {SUMS}")));
    sentences
}

fn unwritable(path: &Path, error: io::Error) -> ArchiveError {
    ArchiveError::Unwritable { path: path.display().to_string(), error }
}

#[cfg(test)]
mod tests;

//! Writes an archive.
//!
//! Promises: the same files give the same bytes, whoever writes them when: entries are sorted,
//! owner, time and rights are left out. The archive appears whole or not at all, and was read back.
//! Does not cover: other forms of compression, and what zstd could save with more effort.

use crate::layout::{README, SUMS};
use crate::sums::{self, Sums};
use crate::unpack::{ArchiveError, Limits, unpack};
use ruzstd::encoding::{CompressionLevel, FrameCompressor};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};
use vkcert_model::canonical::{sha256_digits, sha256_of};
use vkcert_model::path::folder_of;

/// What an entry of an archive holds.
#[derive(Debug, Clone)]
pub enum Contents {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Those of a file.
    File(PathBuf),
}

impl Contents {
    fn digits(&self) -> io::Result<String> {
        match self {
            Contents::Bytes(bytes) => Ok(sha256_digits(bytes)),
            Contents::File(path) => sha256_of(File::open(path)?),
        }
    }
}

/// An archive that was written.
#[derive(Debug)]
pub struct WrittenArchive {
    /// SHA-256 of the file.
    pub digits: String,
    /// Its bytes.
    pub bytes: u64,
    /// Files in it.
    pub files: usize,
}

/// Writes the files, by their paths below the folder `top`, and the list of their hashes.
///
/// # Errors
/// A file cannot be read, the archive cannot be written, or what was written is not what was to be.
pub fn pack(
    target: &Path,
    top: &str,
    files: &BTreeMap<String, Contents>,
) -> Result<WrittenArchive, ArchiveError> {
    if let Some(path) = files.keys().find(|path| !sums::is_listable(path)) {
        return Err(ArchiveError::Outside { path: path.clone() });
    }
    let mut hashes = Sums::new();
    for (path, contents) in files {
        hashes.insert(path.clone(), contents.digits()?);
    }
    let tar = written_tar(top, files, &hashes)?;
    let folder = folder_of(target);
    let unwritable =
        |error: io::Error| ArchiveError::Unwritable { path: target.display().to_string(), error };
    let compressed = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
    compress(tar, compressed.as_file()).map_err(unwritable)?;
    read_back(compressed.path(), &hashes)?;
    let digits = sha256_of(compressed.reopen()?)?;
    let bytes = compressed.as_file().metadata()?.len();
    let rights = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    compressed.as_file().set_permissions(rights).map_err(unwritable)?;
    compressed.persist(target).map_err(|error| unwritable(error.error))?;
    Ok(WrittenArchive { digits, bytes, files: files.len() + 1 })
}

/// All entries in one file without a name: what is read first stands first.
fn written_tar(
    top: &str,
    files: &BTreeMap<String, Contents>,
    hashes: &Sums,
) -> Result<File, ArchiveError> {
    let list = Contents::Bytes(sums::to_text(hashes).into_bytes());
    let mut builder = Builder::new(BufWriter::new(tempfile::tempfile()?));
    let readme = files.get_key_value(README).map(|(path, contents)| (path.as_str(), contents));
    let others = files.iter().filter(|(path, _)| *path != README);
    let others = others.map(|(path, contents)| (path.as_str(), contents));
    for (path, contents) in readme.into_iter().chain([(SUMS, &list)]).chain(others) {
        append(&mut builder, &format!("{top}/{path}"), contents)?;
    }
    let mut tar = builder.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    tar.rewind()?;
    Ok(tar)
}

fn append<W: Write>(
    builder: &mut Builder<W>,
    path: &str,
    contents: &Contents,
) -> Result<(), ArchiveError> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    match contents {
        Contents::Bytes(bytes) => {
            header.set_size(bytes.len() as u64);
            builder.append_data(&mut header, path, bytes.as_slice())?;
        }
        Contents::File(file) => {
            let file = File::open(file)?;
            header.set_size(file.metadata()?.len());
            builder.append_data(&mut header, path, file)?;
        }
    }
    Ok(())
}

/// The file is on its medium when this returns, so that its name cannot come to stand for less.
fn compress(tar: File, target: &File) -> io::Result<()> {
    // The compressor panics where its streams fail: these never do, and keep the error.
    let mut source = KeptError { stream: BufReader::new(tar), error: None };
    let mut drain = KeptError { stream: BufWriter::new(target), error: None };
    let mut compressor = FrameCompressor::new(CompressionLevel::Fastest);
    compressor.set_source(&mut source);
    compressor.set_drain(&mut drain);
    compressor.compress();
    drop(compressor);
    if let Some(error) = source.error.or(drain.error) {
        return Err(error);
    }
    drain.stream.flush()?;
    target.sync_all()
}

/// A stream that keeps its first error and goes on as if it had ended.
struct KeptError<S> {
    stream: S,
    error: Option<io::Error>,
}

impl<S: Read> Read for KeptError<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match (&self.error, self.stream.read(buffer)) {
            (Some(_), _) => Ok(0),
            (None, Ok(count)) => Ok(count),
            (None, Err(error)) if error.kind() == io::ErrorKind::Interrupted => self.read(buffer),
            (None, Err(error)) => {
                self.error = Some(error);
                Ok(0)
            }
        }
    }
}

impl<S: Write> Write for KeptError<S> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if self.error.is_none()
            && let Err(error) = self.stream.write_all(buffer)
        {
            self.error = Some(error);
        }
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Unpacks what was written, and holds it to what was to be.
fn read_back(file: &Path, hashes: &Sums) -> Result<(), ArchiveError> {
    let folder = tempfile::tempdir()?;
    let unpacked = unpack(file, folder.path(), &Limits::default())?;
    match unpacked.differences.as_slice() {
        [] if unpacked.sums == *hashes => Ok(()),
        differences => {
            let difference = differences.first().map_or("its list is another one", String::as_str);
            Err(ArchiveError::OtherLayout(format!(
                "what was written is read otherwise: {difference}"
            )))
        }
    }
}

#[cfg(test)]
mod tests;

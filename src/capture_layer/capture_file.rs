//! The file of a capture, inside of a process that does not know of it.
//!
//! Knows: the path of the file, and by which number on the device it is told from every other file.
//! Promises: nothing but this file is written or cut. A program may close descriptors that it did not
//! open, and its next file then has the number that was this one's: before each write the descriptor
//! is held against the file, and the file is opened again where it was closed. The descriptor stands
//! behind those that a program gets by itself, so that these have the numbers that they have alone.
//! Does not cover: a program that closes and opens descriptors while another of its threads submits.

use std::ffi::c_int;
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Captures of one process at most: a process that is replaced (`execve`) keeps its number.
const MOST_CAPTURES: u32 = 1000;

/// The first descriptor that is tried; where fewer are allowed, the last one.
const FIRST_DESCRIPTOR: u64 = 1000;

/// `struct rlimit` of the C library.
#[repr(C)]
struct ResourceLimit {
    soft: u64,
    hard: u64,
}

/// RLIMIT_FSIZE of Linux.
const FILE_SIZE_LIMIT: c_int = 1;
/// RLIMIT_NOFILE of Linux.
const DESCRIPTOR_LIMIT: c_int = 7;
/// F_DUPFD_CLOEXEC of Linux.
const DUPLICATE_FROM: c_int = 1030;

unsafe extern "C" {
    safe fn getrlimit(resource: c_int, limit: &mut ResourceLimit) -> c_int;
    safe fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
}

fn soft_limit(resource: c_int) -> u64 {
    let mut limit = ResourceLimit { soft: u64::MAX, hard: u64::MAX };
    if getrlimit(resource, &mut limit) == 0 { limit.soft } else { u64::MAX }
}

/// The file and what was written to it.
pub(crate) struct CaptureFile {
    /// Never closed: its descriptor may be somebody else's by then.
    file: ManuallyDrop<File>,
    path: PathBuf,
    identity: (u64, u64),
    written_bytes: u64,
}

fn identity_of(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// The same file behind the descriptors of the program; as it is where there is no room.
fn out_of_the_way(file: File) -> ManuallyDrop<File> {
    let first = FIRST_DESCRIPTOR.min(soft_limit(DESCRIPTOR_LIMIT).saturating_sub(1));
    let first = c_int::try_from(first).unwrap_or(0);
    let moved = fcntl(file.as_raw_fd(), DUPLICATE_FROM, first);
    if moved < 0 {
        return ManuallyDrop::new(file);
    }
    // Safety: the descriptor was made just now, for nobody else.
    ManuallyDrop::new(unsafe { File::from_raw_fd(moved) })
}

impl CaptureFile {
    /// A new file in a folder, by the number of the process.
    pub(crate) fn create(folder: &Path, process: u32) -> std::io::Result<Self> {
        let names = std::iter::once(format!("{process}.capture"))
            .chain((1..MOST_CAPTURES).map(|number| format!("{process}.{number}.capture")));
        for path in names.map(|name| folder.join(name)) {
            match File::options().append(true).create_new(true).open(&path) {
                Ok(file) => {
                    let identity = identity_of(&file.metadata()?);
                    let file = out_of_the_way(file);
                    return Ok(Self { file, path, identity, written_bytes: 0 });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Bytes that were written.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Appends bytes, all of them or, where that fails, none that stay.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let end = self.written_bytes + bytes.len() as u64;
        // To write more would end the process by a signal.
        if end > soft_limit(FILE_SIZE_LIMIT) {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.reopen_if_closed()?;
        if let Err(error) = self.file.write_all(bytes) {
            // What is whole stays readable; if even that fails, the reader says so.
            let _ = self.cut(self.written_bytes);
            return Err(error);
        }
        self.written_bytes = end;
        Ok(())
    }

    /// Takes back what stands behind a number of bytes.
    pub(crate) fn cut(&mut self, bytes: u64) -> std::io::Result<()> {
        self.reopen_if_closed()?;
        self.file.set_len(bytes)?;
        self.written_bytes = bytes;
        Ok(())
    }

    fn is_open(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| identity_of(&metadata) == self.identity)
    }

    fn reopen_if_closed(&mut self) -> std::io::Result<()> {
        if self.is_open() {
            return Ok(());
        }
        let file = File::options().append(true).open(&self.path)?;
        if identity_of(&file.metadata()?) != self.identity {
            return Err(Error::new(ErrorKind::NotFound, "another file has its name"));
        }
        // The descriptor that was this file's is the program's now, and stays open.
        self.file = out_of_the_way(file);
        Ok(())
    }
}

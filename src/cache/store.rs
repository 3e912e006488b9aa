//! A folder of entries, each a file that is named by its key.
//!
//! Knows: the form of a file: one line of JSON ([`EntryHeader`]) with the SHA-256 of what follows, then
//! that. Promises: a file appears whole under its name or not at all; what is read is what was
//! written, or [`Loaded::Damaged`]. Several processes can use a folder at once. Entries reach the
//! disk within some seconds of being written ([`SYNC_INTERVAL`]), also where the machine goes down.
//! Does not cover: what entries mean.

use super::key::CacheKey;
use super::told_size::ToldSize;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, SystemTime};
use vkcert_model::canonical::sha256_digits;

/// Version of the form of files; each has a folder of its own, so that programs of several versions
/// can share a cache.
pub const STORE_VERSION: u32 = 1;

/// Most bytes of an entry: larger ones are neither written nor read.
pub const MOST_ENTRY_BYTES: u64 = 1 << 30;

/// Most bytes of the first line of a file.
const MOST_HEADER_BYTES: usize = 4096;

/// Time between two moments at which what was written is made to last. A run that ends before the
/// first of them waits for none.
pub const SYNC_INTERVAL: Duration = Duration::from_secs(5);

/// Begins the names of files that are not whole yet.
const UNFINISHED: &str = "unfinished-";

/// How long a use stands for later ones: to write down the time of each costs a run more than to read
/// its entry.
const USE_IS_RECENT: Duration = Duration::from_secs(60 * 60);

/// What an unfinished file's age is where nobody writes it any more.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a folder cannot be used, or an entry not be written.
#[derive(Debug, thiserror::Error)]
#[error("the cache in {folder} cannot be used: {message}")]
pub struct CacheError {
    /// The folder.
    pub folder: String,
    /// What was tried and what came of it.
    pub message: String,
}

/// What stands under a key.
#[derive(Debug, PartialEq, Eq)]
pub enum Loaded {
    /// The content, with the origin that was written beside it.
    Found {
        /// Of the run that wrote it.
        origin: CacheKey,
        /// What was written.
        content: KeptContent,
    },
    /// Nothing.
    Missing,
    /// Something that nobody wrote so; it is gone now.
    Damaged,
}

/// What was written under a key.
#[derive(Debug, PartialEq, Eq)]
pub struct KeptContent {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Hexadecimal SHA-256 of it.
    pub sha256: String,
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryHeader {
    key: String,
    origin: String,
    bytes: u64,
    sha256: String,
}

/// The entries of a folder.
pub struct CacheStore {
    root: PathBuf,
    folder: PathBuf,
    unsynced: Arc<AtomicBool>,
    /// Bytes that were written here.
    added: AtomicU64,
    size: ToldSize,
    /// Dropped with the store, which ends the thread that makes entries last.
    _syncing: Sender<()>,
}

/// A file of the store.
#[derive(Debug, Clone)]
pub struct EntryFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was last written or used.
    pub used: SystemTime,
}

impl CacheStore {
    /// Opens a folder, and makes it where there is none.
    pub fn open(root: &Path) -> Result<Self, CacheError> {
        let folder = root.join(format!("v{STORE_VERSION}"));
        let failure = |error: io::Error| CacheError {
            folder: root.display().to_string(),
            message: error.to_string(),
        };
        fs::create_dir_all(&folder).map_err(failure)?;
        write_tag(root).map_err(failure)?;
        let unsynced = Arc::new(AtomicBool::new(false));
        let directory = File::open(&folder).map_err(failure)?;
        let syncing = start_syncing(directory, Arc::clone(&unsynced)).map_err(failure)?;
        let size = ToldSize::of_folder(&folder);
        let (root, added) = (root.to_owned(), AtomicU64::new(0));
        Ok(Self { root, folder, unsynced, added, size, _syncing: syncing })
    }

    /// Whether a folder is one that [`open`](Self::open) has made.
    pub fn is_there(root: &Path) -> bool {
        root.join(format!("v{STORE_VERSION}")).is_dir() && root.join("CACHEDIR.TAG").is_file()
    }

    /// The folder that was opened.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn path_of(&self, key: &CacheKey) -> PathBuf {
        let digits = key.to_string();
        self.folder.join(&digits[..2]).join(&digits[2..])
    }

    /// What stands under a key. A file that cannot be read counts as none.
    pub fn load(&self, key: &CacheKey) -> Loaded {
        let path = self.path_of(key);
        let read_entry = match read_limited(&path) {
            Ok(Some(read_entry)) => read_entry,
            Ok(None) => return Loaded::Missing,
            Err(_) => return self.discard(key),
        };
        match parsed_entry(key, &read_entry.bytes) {
            Some(ParsedEntry { origin, content_start, sha256 }) => {
                read_entry.mark_used();
                let mut bytes = read_entry.bytes;
                bytes.drain(..content_start);
                Loaded::Found { origin, content: KeptContent { bytes, sha256 } }
            }
            None => self.discard(key),
        }
    }

    /// Removes what cannot be used.
    pub fn discard(&self, key: &CacheKey) -> Loaded {
        // What cannot be removed is found damaged again.
        let _ = fs::remove_file(self.path_of(key));
        Loaded::Damaged
    }

    /// Writes an entry, in place of what stood under the key.
    pub fn save(
        &self,
        key: &CacheKey,
        origin: &CacheKey,
        content: &[u8],
    ) -> Result<(), CacheError> {
        self.write_entry(key, origin, content).map_err(|error| CacheError {
            folder: self.root.display().to_string(),
            message: error.to_string(),
        })
    }

    fn write_entry(&self, key: &CacheKey, origin: &CacheKey, content: &[u8]) -> io::Result<()> {
        if content.len() as u64 > MOST_ENTRY_BYTES {
            return Ok(());
        }
        let header = EntryHeader {
            key: key.to_string(),
            origin: origin.to_string(),
            bytes: content.len() as u64,
            sha256: sha256_digits(content),
        };
        let path = self.path_of(key);
        let entry_folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(entry_folder)?;
        let mut unfinished =
            tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(entry_folder)?;
        let mut line = serde_json::to_vec(&header)?;
        line.push(b'\n');
        unfinished.write_all(&line)?;
        unfinished.write_all(content)?;
        let unfinished = unfinished.into_temp_path();
        fs::rename(&unfinished, &path)?;
        // Its old name is gone: there is nothing to remove.
        let _ = unfinished.keep();
        self.unsynced.store(true, Ordering::Release);
        self.added.fetch_add((line.len() + content.len()) as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Bytes of all entries with those that were written here since this was asked last; none: they
    /// are to be counted.
    pub fn told_size(&self) -> Option<u64> {
        self.size.add(self.added.swap(0, Ordering::Relaxed))
    }

    /// Every entry, in no order.
    pub fn entries(&self) -> Result<Vec<EntryFile>, CacheError> {
        let failure = |error: io::Error| CacheError {
            folder: self.root.display().to_string(),
            message: error.to_string(),
        };
        let mut entries = Vec::new();
        for folder_entry in fs::read_dir(&self.folder).map_err(failure)? {
            let entry_folder = folder_entry.map_err(failure)?.path();
            let Ok(files) = fs::read_dir(&entry_folder) else { continue };
            for file in files.flatten() {
                let Ok(metadata) = file.metadata() else { continue };
                let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                let name = file.file_name().to_string_lossy().into_owned();
                let folder_name = entry_folder.file_name().unwrap_or_default().to_string_lossy();
                if !is_hexadecimal(&folder_name, 2) {
                    continue;
                }
                let is_unfinished = name.starts_with(UNFINISHED);
                if is_unfinished {
                    remove_abandoned(&file.path(), used);
                } else if metadata.is_file() && is_hexadecimal(&name, 62) {
                    entries.push(EntryFile { path: file.path(), bytes: metadata.len(), used });
                }
            }
        }
        Ok(entries)
    }
}

impl Drop for CacheStore {
    fn drop(&mut self) {
        if *self.added.get_mut() > 0 {
            self.told_size();
        }
    }
}

/// What may stay in a store; none: no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct PruneLimits {
    /// Since an entry was written or used.
    pub longest_unused: Option<Duration>,
    /// Of all entries together.
    pub most_bytes: Option<u64>,
}

impl CacheStore {
    /// Removes entries beyond the limits, the longest unused first; how many.
    pub fn prune(&self, limits: &PruneLimits) -> Result<usize, CacheError> {
        let mut entries = self.entries()?;
        entries.sort_by_key(|entry| entry.used);
        let mut bytes_left: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let mut removed = 0;
        for entry in entries {
            let is_too_much = limits.most_bytes.is_some_and(|most| bytes_left > most);
            let age = entry.used.elapsed().unwrap_or_default();
            let is_too_old = limits.longest_unused.is_some_and(|longest| age > longest);
            if (is_too_much || is_too_old) && fs::remove_file(&entry.path).is_ok() {
                bytes_left -= entry.bytes;
                removed += 1;
            }
        }
        self.added.store(0, Ordering::Relaxed);
        // What cannot be written is counted again the next time.
        let _ = self.size.replace(bytes_left);
        Ok(removed)
    }
}

/// Whether a name is that of an entry or of a folder of entries: other files are not the store's.
fn is_hexadecimal(name: &str, length: usize) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    name.len() == length && name.bytes().all(is_digit)
}

/// Others may be writing it; one that is old has been left behind by a process that was killed.
fn remove_abandoned(path: &Path, written: SystemTime) {
    if written.elapsed().is_ok_and(|age| age > ABANDONED) {
        let _ = fs::remove_file(path);
    }
}

/// The file by which backup programs know a cache (Cache Directory Tagging Specification).
fn write_tag(root: &Path) -> io::Result<()> {
    let path = root.join("CACHEDIR.TAG");
    match path.exists() {
        true => Ok(()),
        false => fs::write(
            path,
            "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of vkcert.\n",
        ),
    }
}

/// Starts what makes entries last; it ends with the sender.
fn start_syncing(directory: File, unsynced: Arc<AtomicBool>) -> io::Result<Sender<()>> {
    let (end, ended) = mpsc::channel::<()>();
    let keep_syncing = move || {
        while ended.recv_timeout(SYNC_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if unsynced.swap(false, Ordering::AcqRel) {
                // What does not last is made again.
                let _ = rustix::fs::syncfs(&directory);
            }
        }
    };
    std::thread::Builder::new().name("cache".to_owned()).spawn(keep_syncing)?;
    Ok(end)
}

/// The file of an entry as it was read.
struct ReadEntry {
    bytes: Vec<u8>,
    file: File,
    /// When it was last written or used; none where the system does not tell.
    used: Option<SystemTime>,
}

impl ReadEntry {
    /// Marks when the entry was used, for `prune`. A time that cannot be set is no fault.
    fn mark_used(&self) {
        let age = self.used.and_then(|used| used.elapsed().ok());
        if age.is_none_or(|age| age >= USE_IS_RECENT) {
            let _ = self.file.set_modified(SystemTime::now());
        }
    }
}

/// A regular file within the limits; none: there is none.
fn read_limited(path: &Path) -> io::Result<Option<ReadEntry>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let most_bytes = MOST_ENTRY_BYTES + MOST_HEADER_BYTES as u64;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > most_bytes {
        return Err(io::Error::other("no file of a cache"));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
    Read::by_ref(&mut file).take(most_bytes + 1).read_to_end(&mut bytes)?;
    Ok(Some(ReadEntry { bytes, file, used: metadata.modified().ok() }))
}

/// A file that is what was written under a key.
struct ParsedEntry {
    origin: CacheKey,
    /// Where its content begins.
    content_start: usize,
    /// Hexadecimal SHA-256 of the content.
    sha256: String,
}

fn parsed_entry(key: &CacheKey, file_bytes: &[u8]) -> Option<ParsedEntry> {
    let line_end = file_bytes.iter().take(MOST_HEADER_BYTES).position(|byte| *byte == b'\n')?;
    let header: EntryHeader = serde_json::from_slice(&file_bytes[..line_end]).ok()?;
    let content_start = line_end + 1;
    let content = &file_bytes[content_start..];
    let is_whole = header.key == key.to_string()
        && header.bytes == content.len() as u64
        && header.sha256 == sha256_digits(content);
    let origin = CacheKey::parse(&header.origin)?;
    is_whole.then_some(ParsedEntry { origin, content_start, sha256: header.sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long ago an entry was used, in minutes, once it has been read.
    fn minutes_since_use(minutes_before: u64) -> u64 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = CacheStore::open(folder.path()).expect("a cache");
        let key = CacheKey::of_bytes(b"key");
        store.save(&key, &key, b"content").expect("is saved");
        let file = File::open(store.path_of(&key)).expect("the entry");
        let before = SystemTime::now() - Duration::from_secs(60 * minutes_before);
        file.set_modified(before).expect("its time is set");
        assert!(
            matches!(store.load(&key), Loaded::Found { content, .. } if content.bytes == b"content")
        );
        let used = file.metadata().and_then(|metadata| metadata.modified()).expect("a time");
        used.elapsed().expect("in the past").as_secs() / 60
    }

    #[test]
    fn a_use_is_marked_unless_one_was_not_long_ago() {
        assert_eq!(minutes_since_use(120), 0);
        assert_eq!(minutes_since_use(10), 10);
    }
}

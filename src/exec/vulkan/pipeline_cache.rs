//! The driver's pipeline cache, kept in a file from one worker to the next.
//!
//! Knows: where the file lies, what must hold of it before the driver sees it, when it is written.
//! Promises: a file that is damaged, too large or another device's or driver's is not used, with a
//! note; a file is whole or not there at all (it is written beside its place and renamed); nothing
//! about it reaches evidence; any failure with it costs time only.
//! Does not cover: data that the driver wrote well-formed and wrong: [`VARIABLE`] set to `off` is
//! the way out.

use super::device::Device;
use ash::vk;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use vkcert_model::canonical::hexadecimal_digits;

/// Set to `off`, no cache is read or written.
pub(crate) const VARIABLE: &str = "VKCERT_PIPELINE_CACHE";

const MAGIC: &[u8] = b"vkcert pipeline cache 1\n";
/// Magic and SHA-256 of what follows.
const PREFIX_BYTES: usize = MAGIC.len() + 32;
/// Most bytes of a cache that are kept.
const MOST_BYTES: u64 = 64 << 20;
/// Bytes of a header of version one (Vulkan specification, "Pipeline Cache Header").
const HEADER_BYTES: usize = 32;
/// A file beside its place that has not been renamed for so long belongs to a worker that is gone.
const ABANDONED: Duration = Duration::from_secs(3600);
const UNFINISHED: &str = ".unfinished-";

/// Whose cache data it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheOwner {
    pub vendor_id: u32,
    pub device_id: u32,
    pub driver_version: u32,
    /// pipelineCacheUUID
    pub uuid: [u8; 16],
}

impl CacheOwner {
    fn file_name(&self) -> String {
        let Self { vendor_id, device_id, driver_version, uuid } = self;
        format!(
            "pipelines-{vendor_id:08x}-{device_id:08x}-{driver_version:08x}-{}.bin",
            hexadecimal_digits(uuid)
        )
    }
}

/// Why a file is not used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnusableCache {
    #[error("it is no pipeline cache of this program")]
    Foreign,
    #[error("it is damaged: its contents are not what its SHA-256 says")]
    Damaged,
    #[error("it has more than {MOST_BYTES} bytes")]
    TooLarge,
    #[error("its pipeline cache header is {what}")]
    Header { what: &'static str },
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// The cache of one device.
pub(crate) struct PipelineCache {
    /// Null where the driver made none.
    pub raw: vk::PipelineCache,
    cache_file: Option<CacheFile>,
    /// What is in the file.
    stored_data: Vec<u8>,
    /// Pipelines made since the file was written, and before.
    new_pipelines: usize,
    saved_pipelines: usize,
    device: Rc<Device>,
}

struct CacheFile {
    folder: PathBuf,
    owner: CacheOwner,
}

impl PipelineCache {
    /// Opens the device's cache with what the file holds; the note says why that is nothing, where
    /// there is a file.
    pub(crate) fn open_cache(device: &Rc<Device>) -> (Self, Option<String>) {
        let cache_folder = cache_folder(|name| std::env::var_os(name).map(PathBuf::from));
        let cache_file = cache_folder
            .map(|cache_folder| CacheFile { folder: cache_folder, owner: device.cache_owner() });
        let (stored_data, unused_note) = match cache_file.as_ref().map(CacheFile::load_data) {
            Some(Ok(stored_data)) => (stored_data, None),
            Some(Err((file, unusable_reason))) => (
                Vec::new(),
                Some(format!(
                    "the pipeline cache `{}` is not used: {unusable_reason}",
                    file.display()
                )),
            ),
            None => (Vec::new(), None),
        };
        let create_cache = |initial_data: &[u8]| {
            let create_info = vk::PipelineCacheCreateInfo::default().initial_data(initial_data);
            // SAFETY: the data live until the call returns; they are what this driver once gave
            // (checked in `contents`).
            unsafe { device.raw.create_pipeline_cache(&create_info, None) }
        };
        let raw_cache =
            create_cache(&stored_data).or_else(|_| create_cache(&[])).unwrap_or_default();
        (
            Self {
                raw: raw_cache,
                cache_file,
                stored_data,
                new_pipelines: 0,
                saved_pipelines: 0,
                device: Rc::clone(device),
            },
            unused_note,
        )
    }

    /// A pipeline was made with the cache.
    pub(crate) fn note_pipeline(&mut self) {
        self.new_pipelines += 1;
    }

    /// Writes the file if enough pipelines are new; with some new ones, if `idle` finds that there
    /// is time. As the cache grows it is written more rarely, so that all writing together stays a
    /// few times its last size.
    pub(crate) fn save_cache(&mut self, is_idle: impl FnOnce() -> bool) {
        if self.new_pipelines == 0 || (self.new_pipelines * 4 < self.saved_pipelines && !is_idle())
        {
            return;
        }
        self.saved_pipelines += std::mem::take(&mut self.new_pipelines);
        let Some(cache_file) =
            self.cache_file.as_ref().filter(|_| self.raw != vk::PipelineCache::null())
        else {
            return;
        };
        // SAFETY: the cache is alive, and nothing else uses it now.
        let Ok(cache_data) = (unsafe { self.device.raw.get_pipeline_cache_data(self.raw) }) else {
            return;
        };
        let is_own = check_header(&cache_data, &cache_file.owner).is_ok();
        if is_own
            && cache_data != self.stored_data
            && cache_data.len() as u64 <= MOST_BYTES
            && cache_file.store_data(&cache_data).is_ok()
        {
            self.stored_data = cache_data;
        }
    }
}

impl Drop for PipelineCache {
    fn drop(&mut self) {
        // SAFETY: pipelines do not need the cache that they were made with; null is allowed.
        unsafe { self.device.raw.destroy_pipeline_cache(self.raw, None) }
    }
}

impl CacheFile {
    /// The data in the file; none without a file.
    fn load_data(&self) -> Result<Vec<u8>, (PathBuf, UnusableCache)> {
        let file_path = self.folder.join(self.owner.file_name());
        let usable_data = match read_cache_file(&file_path) {
            Ok(Some(file)) => checked_contents(&file, &self.owner).map(<[u8]>::to_vec),
            Ok(None) => Ok(Vec::new()),
            Err(unusable_reason) => Err(unusable_reason),
        };
        usable_data.map_err(|unusable_reason| (file_path, unusable_reason))
    }

    /// Writes the file beside its place and renames it: another worker, or one that is killed now,
    /// leaves it whole.
    fn store_data(&self, cache_data: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        self.clear_abandoned();
        let mut unfinished_file =
            tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder)?;
        unfinished_file.write_all(MAGIC)?;
        unfinished_file.write_all(&Sha256::digest(cache_data))?;
        unfinished_file.write_all(cache_data)?;
        unfinished_file.persist(self.folder.join(self.owner.file_name()))?;
        Ok(())
    }

    /// Removes what workers that were killed while they wrote have left.
    fn clear_abandoned(&self) {
        for folder_entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_unfinished = folder_entry.file_name().to_string_lossy().starts_with(UNFINISHED);
            let modified_time =
                folder_entry.metadata().and_then(|metadata| metadata.modified()).ok();
            let file_age = modified_time.and_then(|modified_time| modified_time.elapsed().ok());
            if is_unfinished && file_age.is_some_and(|file_age| file_age > ABANDONED) {
                // One that cannot be removed is in nobody's way.
                let _ = fs::remove_file(folder_entry.path());
            }
        }
    }
}

/// `$XDG_CACHE_HOME/vkcert` or `~/.cache/vkcert`; none: switched off, or the user has neither. A
/// relative path counts as none (XDG Base Directory Specification).
fn cache_folder(environment_variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if environment_variable(VARIABLE).is_some_and(|value| value.as_os_str() == "off") {
        return None;
    }
    user_folder(environment_variable)
}

/// `$XDG_CACHE_HOME/vkcert` or `~/.cache/vkcert`; none: the user has neither.
pub fn user_cache_folder() -> Option<PathBuf> {
    user_folder(|name| std::env::var_os(name).map(PathBuf::from))
}

fn user_folder(environment_variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute_path = |name| environment_variable(name).filter(|path| path.is_absolute());
    let user_caches = absolute_path("XDG_CACHE_HOME")
        .or_else(|| absolute_path("HOME").map(|home| home.join(".cache")))?;
    Some(user_caches.join("vkcert"))
}

/// A regular file of at most [`MOST`] bytes of data; none: there is none.
fn read_cache_file(path: &Path) -> Result<Option<Vec<u8>>, UnusableCache> {
    let unreadable_file = |error: io::Error| UnusableCache::Unreadable(error.to_string());
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable_file(error)),
        Ok(metadata) if !metadata.is_file() => return Err(UnusableCache::Foreign),
        Ok(_) => {}
    }
    let most_bytes = MOST_BYTES + PREFIX_BYTES as u64;
    let mut file_bytes = Vec::new();
    fs::File::open(path)
        .map_err(unreadable_file)?
        .take(most_bytes + 1)
        .read_to_end(&mut file_bytes)
        .map_err(unreadable_file)?;
    if file_bytes.len() as u64 > most_bytes {
        Err(UnusableCache::TooLarge)
    } else {
        Ok(Some(file_bytes))
    }
}

/// The cache data of a file, if it is whole and the owner's.
fn checked_contents<'a>(
    file_bytes: &'a [u8],
    owner: &CacheOwner,
) -> Result<&'a [u8], UnusableCache> {
    if file_bytes.len() < PREFIX_BYTES || !file_bytes.starts_with(MAGIC) {
        return Err(UnusableCache::Foreign);
    }
    let (file_prefix, cache_data) = file_bytes.split_at(PREFIX_BYTES);
    if Sha256::digest(cache_data).as_slice() != &file_prefix[MAGIC.len()..] {
        return Err(UnusableCache::Damaged);
    }
    check_header(cache_data, owner)?;
    Ok(cache_data)
}

fn word_at(header: &[u8; HEADER_BYTES], byte_offset: usize) -> u32 {
    u32::from_le_bytes([
        header[byte_offset],
        header[byte_offset + 1],
        header[byte_offset + 2],
        header[byte_offset + 3],
    ])
}

/// Vulkan specification, "Pipeline Cache Header": length, version, vendor and device in
/// little-endian bytes, then the UUID.
fn check_header(cache_data: &[u8], owner: &CacheOwner) -> Result<(), UnusableCache> {
    let wrong_header = |what| Err(UnusableCache::Header { what });
    let Some(header) = cache_data.first_chunk::<HEADER_BYTES>() else {
        return wrong_header("cut off");
    };
    let header_word = |byte_offset: usize| word_at(header, byte_offset);
    if (header_word(0) as usize) < HEADER_BYTES || header_word(0) as usize > cache_data.len() {
        return wrong_header("of an impossible length");
    }
    if header_word(4) != vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32 {
        return wrong_header("of an unknown version");
    }
    if header_word(8) != owner.vendor_id || header_word(12) != owner.device_id {
        return wrong_header("another device's");
    }
    if header[16..] != owner.uuid {
        return wrong_header("another driver's");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: CacheOwner = CacheOwner {
        vendor_id: 0x10005,
        device_id: 0x10DE,
        driver_version: 0x0160_3006,
        uuid: [0x5A; 16],
    };

    fn data() -> Vec<u8> {
        let mut data: Vec<u8> = [32, 1, OWNER.vendor_id, OWNER.device_id]
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        data.extend(OWNER.uuid);
        data.extend((0..200_u8).map(|byte| byte ^ 0x33));
        data
    }

    fn place(folder: &tempfile::TempDir) -> CacheFile {
        CacheFile { folder: folder.path().join("vkcert"), owner: OWNER }
    }

    #[test]
    fn what_was_stored_is_loaded_and_nothing_else_stays() {
        let folder = tempfile::tempdir().expect("folder");
        let place = place(&folder);
        assert_eq!(place.load_data(), Ok(Vec::new()), "no file is no fault");
        place.store_data(&data()).expect("stores");
        place.store_data(&data()).expect("stores again");
        assert_eq!(place.load_data(), Ok(data()));
        let names: Vec<_> = fs::read_dir(&place.folder)
            .expect("lists")
            .map(|e| e.expect("entry").file_name())
            .collect();
        assert_eq!(names, [OWNER.file_name().as_str()]);
    }

    #[test]
    fn every_changed_byte_and_every_truncation_is_found() {
        let folder = tempfile::tempdir().expect("folder");
        let place = place(&folder);
        place.store_data(&data()).expect("stores");
        let file = fs::read(place.folder.join(OWNER.file_name())).expect("reads");
        assert_eq!(checked_contents(&file, &OWNER), Ok(data().as_slice()));
        for at in 0..file.len() {
            checked_contents(&file[..at], &OWNER).expect_err("truncated");
            let mut changed = file.clone();
            changed[at] ^= 1;
            checked_contents(&changed, &OWNER).expect_err("changed");
        }
    }

    #[test]
    fn a_header_must_be_the_devices_and_the_drivers() {
        let said = |data: &[u8], owner: &CacheOwner| {
            check_header(data, owner).expect_err("wrong").to_string()
        };
        check_header(&data(), &OWNER).expect("its own");
        assert!(said(&data()[..31], &OWNER).ends_with("cut off"));
        assert!(said(&data(), &CacheOwner { vendor_id: 1, ..OWNER }).ends_with("another device's"));
        assert!(said(&data(), &CacheOwner { device_id: 1, ..OWNER }).ends_with("another device's"));
        assert!(
            said(&data(), &CacheOwner { uuid: [0; 16], ..OWNER }).ends_with("another driver's")
        );
        for length in [0, 31, 233, u32::MAX] {
            let mut wrong = data();
            wrong[..4].copy_from_slice(&length.to_le_bytes());
            assert!(said(&wrong, &OWNER).ends_with("of an impossible length"));
        }
        let mut wrong = data();
        wrong[4] = 2;
        assert!(said(&wrong, &OWNER).ends_with("of an unknown version"));
    }

    #[test]
    fn a_file_that_is_too_large_is_not_read_and_other_owners_have_other_files() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("large");
        fs::File::create(&path)
            .and_then(|file| file.set_len(MOST_BYTES + PREFIX_BYTES as u64 + 1))
            .expect("writes");
        assert_eq!(read_cache_file(&path), Err(UnusableCache::TooLarge));
        assert_eq!(read_cache_file(folder.path()), Err(UnusableCache::Foreign));
        let others = [
            CacheOwner { vendor_id: 1, ..OWNER },
            CacheOwner { device_id: 1, ..OWNER },
            CacheOwner { driver_version: 1, ..OWNER },
            CacheOwner { uuid: [1; 16], ..OWNER },
        ];
        assert!(others.iter().all(|other| other.file_name() != OWNER.file_name()));
    }

    #[test]
    fn the_folder_is_the_users_and_can_be_switched_off() {
        let folder = |rows: &[(&str, &str)]| {
            cache_folder(|name| {
                rows.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value))
            })
        };
        let (xdg, home, off) = (("XDG_CACHE_HOME", "/c"), ("HOME", "/h"), (VARIABLE, "off"));
        assert_eq!(folder(&[xdg, home]), Some("/c/vkcert".into()));
        assert_eq!(folder(&[home]), Some("/h/.cache/vkcert".into()));
        assert_eq!(
            folder(&[("XDG_CACHE_HOME", "relative"), home]),
            Some("/h/.cache/vkcert".into())
        );
        assert_eq!(folder(&[("XDG_CACHE_HOME", ""), ("HOME", "")]), None);
        assert_eq!(folder(&[]), None);
        assert_eq!(folder(&[xdg, home, off]), None);
    }
}

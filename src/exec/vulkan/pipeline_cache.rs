//! The driver's pipeline cache, kept in a file from one worker to the next.
//!
//! Knows: where the file lies, what must hold of it before the driver sees it, when it is written.
//! Promises: a file that is damaged, too large or another device's or driver's is not used, with a
//! note; a file is whole or not there at all (it is written beside its place and renamed); nothing
//! about it reaches evidence; any failure with it costs time only.
//! Does not cover: data that the driver wrote well-formed and wrong: [`VARIABLE`] set to `off` is
//! the way out.

use super::describe::hexadecimal;
use super::device::Device;
use ash::vk;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// Set to `off`, no cache is read or written.
pub(crate) const VARIABLE: &str = "VKCERT_PIPELINE_CACHE";

const MAGIC: &[u8] = b"vkcert pipeline cache 1\n";
/// Magic and SHA-256 of what follows.
const PREFIX: usize = MAGIC.len() + 32;
/// Most bytes of a cache that are kept.
const MOST: u64 = 64 << 20;
/// Bytes of a header of version one (Vulkan specification, "Pipeline Cache Header").
const HEADER: usize = 32;
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
            hexadecimal(uuid)
        )
    }
}

/// Why a file is not used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("it is no pipeline cache of this program")]
    Foreign,
    #[error("it is damaged: its contents are not what its SHA-256 says")]
    Damaged,
    #[error("it has more than {MOST} bytes")]
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
    place: Option<Place>,
    /// What is in the file.
    stored: Vec<u8>,
    /// Pipelines made since the file was written, and before.
    new: usize,
    saved: usize,
    device: Rc<Device>,
}

struct Place {
    folder: PathBuf,
    owner: CacheOwner,
}

impl PipelineCache {
    /// Opens the device's cache with what the file holds; the note says why that is nothing, where
    /// there is a file.
    pub(crate) fn open(device: &Rc<Device>) -> (Self, Option<String>) {
        let folder = folder(|name| std::env::var_os(name).map(PathBuf::from));
        let place = folder.map(|folder| Place { folder, owner: device.cache_owner() });
        let (stored, note) = match place.as_ref().map(Place::load) {
            Some(Ok(stored)) => (stored, None),
            Some(Err((file, why))) => (
                Vec::new(),
                Some(format!("the pipeline cache `{}` is not used: {why}", file.display())),
            ),
            None => (Vec::new(), None),
        };
        let create = |data: &[u8]| {
            let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
            // SAFETY: the data live until the call returns; they are what this driver once gave
            // (checked in `contents`).
            unsafe { device.raw.create_pipeline_cache(&info, None) }
        };
        let raw = create(&stored).or_else(|_| create(&[])).unwrap_or_default();
        (Self { raw, place, stored, new: 0, saved: 0, device: device.clone() }, note)
    }

    /// A pipeline was made with the cache.
    pub(crate) fn made(&mut self) {
        self.new += 1;
    }

    /// Writes the file if enough pipelines are new; with some new ones, if `idle` finds that there
    /// is time. As the cache grows it is written more rarely, so that all writing together stays a
    /// few times its last size.
    pub(crate) fn save(&mut self, idle: impl FnOnce() -> bool) {
        if self.new == 0 || (self.new * 4 < self.saved && !idle()) {
            return;
        }
        self.saved += std::mem::take(&mut self.new);
        let Some(place) = self.place.as_ref().filter(|_| self.raw != vk::PipelineCache::null())
        else {
            return;
        };
        // SAFETY: the cache is alive, and nothing else uses it now.
        let Ok(data) = (unsafe { self.device.raw.get_pipeline_cache_data(self.raw) }) else {
            return;
        };
        let is_own = check_header(&data, &place.owner).is_ok();
        if is_own && data != self.stored && data.len() as u64 <= MOST && place.store(&data).is_ok()
        {
            self.stored = data;
        }
    }
}

impl Drop for PipelineCache {
    fn drop(&mut self) {
        // SAFETY: pipelines do not need the cache that they were made with; null is allowed.
        unsafe { self.device.raw.destroy_pipeline_cache(self.raw, None) }
    }
}

impl Place {
    /// The data in the file; none without a file.
    fn load(&self) -> Result<Vec<u8>, (PathBuf, Unusable)> {
        let path = self.folder.join(self.owner.file_name());
        let usable = match read(&path) {
            Ok(Some(file)) => contents(&file, &self.owner).map(<[u8]>::to_vec),
            Ok(None) => Ok(Vec::new()),
            Err(why) => Err(why),
        };
        usable.map_err(|why| (path, why))
    }

    /// Writes the file beside its place and renames it: another worker, or one that is killed now,
    /// leaves it whole.
    fn store(&self, data: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        self.clear_abandoned();
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(data))?;
        file.write_all(data)?;
        file.persist(self.folder.join(self.owner.file_name()))?;
        Ok(())
    }

    /// Removes what workers that were killed while they wrote have left.
    fn clear_abandoned(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
            let modified = entry.metadata().and_then(|metadata| metadata.modified()).ok();
            let age = modified.and_then(|modified| modified.elapsed().ok());
            if is_unfinished && age.is_some_and(|age| age > ABANDONED) {
                // One that cannot be removed is in nobody's way.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// `$XDG_CACHE_HOME/vkcert` or `~/.cache/vkcert`; none: switched off, or the user has neither. A
/// relative path counts as none (XDG Base Directory Specification).
fn folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if variable(VARIABLE).is_some_and(|value| value.as_os_str() == "off") {
        return None;
    }
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let caches =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("vkcert"))
}

/// A regular file of at most [`MOST`] bytes of data; none: there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Unusable> {
    let unreadable = |error: io::Error| Unusable::Unreadable(error.to_string());
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
        Ok(metadata) if !metadata.is_file() => return Err(Unusable::Foreign),
        Ok(_) => {}
    }
    let most = MOST + PREFIX as u64;
    let mut bytes = Vec::new();
    fs::File::open(path)
        .map_err(unreadable)?
        .take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > most { Err(Unusable::TooLarge) } else { Ok(Some(bytes)) }
}

/// The cache data of a file, if it is whole and the owner's.
fn contents<'a>(file: &'a [u8], owner: &CacheOwner) -> Result<&'a [u8], Unusable> {
    if file.len() < PREFIX || !file.starts_with(MAGIC) {
        return Err(Unusable::Foreign);
    }
    let (prefix, data) = file.split_at(PREFIX);
    if Sha256::digest(data).as_slice() != &prefix[MAGIC.len()..] {
        return Err(Unusable::Damaged);
    }
    check_header(data, owner)?;
    Ok(data)
}

/// Vulkan specification, "Pipeline Cache Header": length, version, vendor and device in
/// little-endian bytes, then the UUID.
fn check_header(data: &[u8], owner: &CacheOwner) -> Result<(), Unusable> {
    let wrong = |what| Err(Unusable::Header { what });
    let Some(header) = data.first_chunk::<HEADER>() else { return wrong("cut off") };
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    if (word(0) as usize) < HEADER || word(0) as usize > data.len() {
        return wrong("of an impossible length");
    }
    if word(4) != vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32 {
        return wrong("of an unknown version");
    }
    if word(8) != owner.vendor_id || word(12) != owner.device_id {
        return wrong("another device's");
    }
    if header[16..] != owner.uuid {
        return wrong("another driver's");
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

    fn place(folder: &tempfile::TempDir) -> Place {
        Place { folder: folder.path().join("vkcert"), owner: OWNER }
    }

    #[test]
    fn what_was_stored_is_loaded_and_nothing_else_stays() {
        let folder = tempfile::tempdir().expect("folder");
        let place = place(&folder);
        assert_eq!(place.load(), Ok(Vec::new()), "no file is no fault");
        place.store(&data()).expect("stores");
        place.store(&data()).expect("stores again");
        assert_eq!(place.load(), Ok(data()));
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
        place.store(&data()).expect("stores");
        let file = fs::read(place.folder.join(OWNER.file_name())).expect("reads");
        assert_eq!(contents(&file, &OWNER), Ok(data().as_slice()));
        for at in 0..file.len() {
            contents(&file[..at], &OWNER).expect_err("truncated");
            let mut changed = file.clone();
            changed[at] ^= 1;
            contents(&changed, &OWNER).expect_err("changed");
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
            .and_then(|file| file.set_len(MOST + PREFIX as u64 + 1))
            .expect("writes");
        assert_eq!(read(&path), Err(Unusable::TooLarge));
        assert_eq!(read(folder.path()), Err(Unusable::Foreign));
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
            folder(|name| {
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

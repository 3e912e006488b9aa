//! Where results go: stdout, or a folder that appears whole or not at all.
//!
//! Promises: a run writes into a temporary folder beside its target and renames it when everything is there; a lock file
//! makes a second run into the same folder wait; an interrupted run leaves the target as it was.

use super::exit::Exit;
use super::failure::Failure;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Prints to stdout; a reader that has gone away ends the program quietly.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Prints bytes to stdout.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Failure::ClosedOutput),
        Err(error) => Err(Failure::Tool { message: format!("cannot write to stdout: {error}"), path: None }),
    }
}

/// Prints a value to stdout as one JSON document, as it is read.
pub fn print_json<T: serde::Serialize>(value: &T) -> Result<(), Failure> {
    let mut stdout = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut stdout, value).map_err(std::io::Error::from);
    match written.and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            // What is left in the buffer has no reader.
            drop(stdout.into_parts());
            Err(Failure::ClosedOutput)
        }
        Err(error) => Err(Failure::Tool { message: format!("cannot write to stdout: {error}"), path: None }),
    }
}

/// The temporary folder of the run in progress, for the signal handler.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Ends the program on SIGINT and SIGTERM with nothing half-written.
pub fn end_cleanly_on_signals() -> Result<(), Failure> {
    let signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]);
    let mut signals = signals.map_err(|error| Failure::tool(format!("cannot watch signals: {error}")))?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            if let Ok(mut unfinished) = UNFINISHED.lock()
                && let Some(folder) = unfinished.take()
            {
                // The folder is ours alone; what cannot be removed is at least not where results are looked for.
                let _ = fs::remove_dir_all(folder);
            }
            let exit = if signal == signal_hook::consts::SIGINT { Exit::Interrupted } else { Exit::Terminated };
            std::process::exit(i32::from(exit.code()));
        }
    });
    Ok(())
}

/// A folder under construction.
pub struct PendingFolder {
    target: PathBuf,
    temporary: PathBuf,
    _lock: File,
}

impl PendingFolder {
    /// Waits for other runs into `target`, then starts a temporary folder beside it.
    pub fn start(target: &Path) -> Result<Self, Failure> {
        let name = target.file_name().ok_or_else(|| {
            Failure::tool(format!("{} cannot be an output folder: it has no name of its own", target.display()))
        })?;
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        fs::create_dir_all(&parent).map_err(|error| Failure::unwritable(&parent, &error))?;
        let sibling = |suffix: &str| {
            let mut file = std::ffi::OsString::from(".");
            file.push(name);
            file.push(suffix);
            parent.join(file)
        };
        let lock_path = sibling(".lock");
        let lock = File::create(&lock_path).map_err(|error| Failure::unwritable(&lock_path, &error))?;
        lock.lock().map_err(|error| Failure::unwritable(&lock_path, &error))?;
        let temporary = sibling(".unfinished");
        if temporary.exists() {
            fs::remove_dir_all(&temporary).map_err(|error| Failure::unwritable(&temporary, &error))?;
        }
        fs::create_dir(&temporary).map_err(|error| Failure::unwritable(&temporary, &error))?;
        *UNFINISHED.lock().expect("no holder of this lock panics") = Some(temporary.clone());
        let folder = Self { target: target.to_owned(), temporary, _lock: lock };
        folder.probe()?;
        Ok(folder)
    }

    /// Finds now what would otherwise be found when everything has run: a target that nothing can be put into.
    fn probe(&self) -> Result<(), Failure> {
        let target = if self.target.exists() { &self.target } else { &self.temporary };
        let file =
            tempfile::NamedTempFile::new_in(target).map_err(|error| Failure::unwritable(&self.target, &error))?;
        file.close().map_err(|error| Failure::unwritable(&self.target, &error))
    }

    /// Writes one file; `path` is relative to the folder.
    pub fn write(&self, path: &str, contents: &[u8]) -> Result<(), Failure> {
        let file = self.temporary.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
        }
        fs::write(&file, contents).map_err(|error| Failure::unwritable(&self.target.join(path), &error))
    }

    /// Puts what was written in the place of the target. Entries of the target that `replaced` does not name stay.
    pub fn finish(self, replaced: &[&str]) -> Result<(), Failure> {
        let unwritable = |path: &Path| {
            let path = path.to_owned();
            move |error: std::io::Error| Failure::unwritable(&path, &error)
        };
        // A signal that arrives now waits: what is being put in place is put there whole.
        let mut unfinished = UNFINISHED.lock().expect("no holder of this lock panics");
        if !self.target.exists() {
            fs::rename(&self.temporary, &self.target).map_err(unwritable(&self.target))?;
        } else {
            for name in replaced {
                let (new, old) = (self.temporary.join(name), self.target.join(name));
                let gone = self.target.join(format!(".{name}.old"));
                remove(&gone).map_err(unwritable(&gone))?; // of a run that was killed here
                if old.exists() {
                    fs::rename(&old, &gone).map_err(unwritable(&old))?;
                }
                if new.exists() {
                    fs::rename(&new, &old).map_err(unwritable(&old))?;
                }
                remove(&gone).map_err(unwritable(&gone))?;
            }
        }
        *unfinished = None;
        Ok(())
    }
}

/// Removes a file or folder where there is one.
fn remove(path: &Path) -> std::io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

impl Drop for PendingFolder {
    fn drop(&mut self) {
        if let Ok(mut unfinished) = UNFINISHED.lock() {
            *unfinished = None;
        }
        // Left over when a run fails: never what a reader would take for results.
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

/// Replaces one file whole.
pub fn write_file(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| Failure::unwritable(path, &error))?;
    file.write_all(contents).map_err(|error| Failure::unwritable(path, &error))?;
    file.persist(path).map_err(|error| Failure::unwritable(path, &error.error))?;
    Ok(())
}

//! Where results go: stdout, or a folder that appears whole or not at all.
//!
//! Promises: a run writes into a folder of its own and moves it into place in one step when it is
//! complete; a lock file makes a second run into the same folder wait; an interrupted run leaves
//! the old results as they were.
//! What it moves into place is on the disk before.

use super::failure::Failure;
use crate::model::exit::Exit;
use crate::model::path::folder_of;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;
pub(super) use vkcert_verifier::output::{print_to_stderr, stdout_width};

/// Prints to stdout. A reader that has gone away is no failure.
pub(super) fn print_text(text: &str) -> Result<(), Failure> {
    Ok(vkcert_verifier::output::print_text(text)?)
}

/// Prints bytes to stdout.
pub(super) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    Ok(vkcert_verifier::output::print_bytes(bytes)?)
}

/// Prints a value to stdout as one JSON document, as it is read.
pub(super) fn print_json<T: serde::Serialize>(value: &T) -> Result<(), Failure> {
    let mut stdout = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut stdout, value).map_err(std::io::Error::from);
    match written.and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            // The rest of the buffer has no reader.
            drop(stdout.into_parts());
            Ok(())
        }
        Err(error) => {
            Err(Failure::Tool { message: format!("cannot write to stdout: {error}"), path: None })
        }
    }
}

/// The output folder of the run in progress, for the signal handler.
static UNFINISHED_RUN: Mutex<Option<UnfinishedRun>> = Mutex::new(None);

/// What a run leaves behind that does not finish.
#[derive(Clone)]
struct UnfinishedRun {
    folder: PathBuf,
    /// The output folder, where this run has made it.
    created_folder: Option<PathBuf>,
}

impl UnfinishedRun {
    /// Removes it. What cannot be removed is at least not in the place of results.
    fn remove_files(&self) {
        let _ = fs::remove_dir_all(&self.folder);
        if let Some(created_folder) = &self.created_folder {
            // Succeeds only for an empty folder.
            let _ = fs::remove_dir(created_folder);
        }
    }
}

/// Ends the program on SIGINT and SIGTERM with nothing half-written.
pub(super) fn end_cleanly_on_signals() -> Result<(), Failure> {
    let signals = signal_hook::iterator::Signals::new([
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
    ]);
    let mut signals =
        signals.map_err(|error| Failure::tool(format!("cannot watch signals: {error}")))?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            if let Ok(mut unfinished) = UNFINISHED_RUN.lock()
                && let Some(unfinished) = unfinished.take()
            {
                unfinished.remove_files();
            }
            let exit_status = if signal == signal_hook::consts::SIGINT {
                Exit::Interrupted
            } else {
                Exit::Terminated
            };
            std::process::exit(i32::from(exit_status.code()));
        }
    });
    Ok(())
}

/// As long as it is held, signals wait.
pub(super) struct HeldSignals {
    _lock: Option<MutexGuard<'static, Option<UnfinishedRun>>>,
}

/// Lets SIGINT and SIGTERM wait until several steps are done that belong together.
pub(super) fn hold_signals() -> HeldSignals {
    HeldSignals { _lock: UNFINISHED_RUN.lock().ok() }
}

/// The folder in an output folder in which a section is made, and in which the one that it replaces is
/// removed.
pub(super) fn unfinished_name(section: &str) -> String {
    format!(".{section}.unfinished")
}

/// An output folder under construction.
///
/// What one command generates stands in one sub-folder of the output folder, its *section*, and
/// links beside the section lead to its entries: `evidence` to `latest/evidence`. A finished run
/// puts a whole new section in the place of the old one in one step, so that a program that is
/// killed at any moment leaves the old results or the new ones. Where the file system cannot
/// exchange two folders, a journal file says that the new section is whole, and the next run
/// completes the exchange. Files of others in the output folder stay.
pub(super) struct PendingFolder {
    output_folder: PathBuf,
    section: &'static str,
    unfinished: UnfinishedRun,
    _lock: File,
}

impl PendingFolder {
    /// Waits for other runs into `target`, completes what a killed one left, then starts a new
    /// section.
    pub(super) fn start(target: &Path, section: &'static str) -> Result<Self, Failure> {
        let lock = Self::lock_folder(target)?;
        let created_folder = (!target.exists()).then(|| target.to_owned());
        fs::create_dir_all(target).map_err(|error| Failure::unwritable(target, &error))?;
        let unfinished =
            UnfinishedRun { folder: target.join(unfinished_name(section)), created_folder };
        let folder = Self { output_folder: target.to_owned(), section, unfinished, _lock: lock };
        let start_result = folder.complete_exchange().and_then(|()| {
            remove_entry(&folder.unfinished.folder)?;
            remove_entry(&folder.adopted_folder())?;
            fs::create_dir(&folder.unfinished.folder)
        });
        start_result.map_err(|error| Failure::unwritable(target, &error))?;
        *UNFINISHED_RUN.lock().expect("no holder of this lock panics") =
            Some(folder.unfinished.clone());
        Ok(folder)
    }

    /// The lock file stands beside the output folder, so that a folder that a failed run has made
    /// can be removed.
    fn lock_folder(target: &Path) -> Result<File, Failure> {
        let name = target.file_name().ok_or_else(|| {
            Failure::tool(format!(
                "{} cannot be an output folder: it has no name of its own",
                target.display()
            ))
        })?;
        let parent = folder_of(target);
        fs::create_dir_all(parent).map_err(|error| Failure::unwritable(parent, &error))?;
        let mut file_name = std::ffi::OsString::from(".");
        file_name.push(name);
        file_name.push(".lock");
        let lock_path = parent.join(file_name);
        let lock_file =
            File::create(&lock_path).map_err(|error| Failure::unwritable(&lock_path, &error))?;
        lock_file.lock().map_err(|error| Failure::unwritable(&lock_path, &error))?;
        Ok(lock_file)
    }

    /// Writes one file; `path` is relative to the section.
    pub(super) fn write(&self, path: &str, contents: &[u8]) -> Result<(), Failure> {
        let file = self.place_of(path)?;
        if self.takes_unchanged(path, &file, contents) {
            return Ok(());
        }
        let written = File::create_new(&file).and_then(|mut file| file.write_all(contents));
        written.map_err(|error| self.unwritable(path, &error))
    }

    /// Takes a file of the section that this one replaces, where it holds the same: what is not written
    /// again need not be put on the disk again. Both names lead to one file until the old section
    /// is removed; nothing writes to a file of a section once it is there.
    fn takes_unchanged(&self, path: &str, file: &Path, contents: &[u8]) -> bool {
        let earlier = self.output_folder.join(self.section).join(path);
        let has_length = fs::symlink_metadata(&earlier)
            .is_ok_and(|found| found.is_file() && found.len() == contents.len() as u64);
        let is_same = has_length && fs::read(&earlier).is_ok_and(|found| found == contents);
        if !is_same || fs::hard_link(&earlier, file).is_err() {
            return false;
        }
        // Who goes by times sees that this run has made it; a time that cannot be set is no fault.
        let _ = File::open(file).and_then(|file| file.set_modified(SystemTime::now()));
        true
    }

    /// A file to be written piece by piece; `path` is relative to the section.
    pub(super) fn create(&self, path: &str) -> Result<BufWriter<File>, Failure> {
        let file = File::create_new(self.place_of(path)?);
        Ok(BufWriter::new(file.map_err(|error| self.unwritable(path, &error))?))
    }

    /// A file of the section that has been written.
    pub(super) fn open(&self, path: &str) -> std::io::Result<File> {
        File::open(self.unfinished.folder.join(path))
    }

    /// That a file of the section cannot be written, by the name that the user will see.
    pub(super) fn unwritable(&self, path: &str, error: &std::io::Error) -> Failure {
        Failure::unwritable(&self.output_folder.join(path), error)
    }

    /// Where a file of the section is written, in a folder that is there.
    fn place_of(&self, path: &str) -> Result<PathBuf, Failure> {
        let file = self.unfinished.folder.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
        }
        Ok(file)
    }

    /// Puts the new section in the place of the old one, which may be removed while the program goes on.
    /// `linked` are the entries that links beside it lead to.
    pub(super) fn finish(self, linked: &[&str]) -> Result<SectionRemoval, Failure> {
        // The handler of a signal that arrives now waits for this lock, so that the results are put
        // in place as a whole.
        let mut unfinished = UNFINISHED_RUN.lock().expect("no holder of this lock panics");
        let finish_result = self
            .make_lasting()
            .and_then(|()| self.adopt_results(linked))
            .and_then(|()| self.exchange_sections())
            .and_then(|()| self.link_entries(linked));
        finish_result.map_err(|error| Failure::unwritable(&self.output_folder, &error))?;
        *unfinished = None;
        drop(unfinished);
        Ok(SectionRemoval::of_folder(self))
    }

    /// Has what is written by now put on the disk while more is made; all of it is waited for when the
    /// run is finished.
    pub(super) fn begin_lasting(&self) {
        let folder = self.unfinished.folder.clone();
        // Whether it has succeeded is found out then.
        let _ =
            std::thread::Builder::new().spawn(move || File::open(folder).map(rustix::fs::syncfs));
    }

    /// The new section must be on the disk before it takes the place of the old one.
    fn make_lasting(&self) -> std::io::Result<()> {
        Ok(rustix::fs::syncfs(File::open(&self.unfinished.folder)?)?)
    }

    /// Makes a section of results that stand in the output folder itself, where earlier versions of
    /// this program put them; then links take their place, one by one, without a change of what is
    /// read there.
    fn adopt_results(&self, linked: &[&str]) -> std::io::Result<()> {
        let section = self.output_folder.join(self.section);
        let is_result = |name: &&&str| is_not_a_link(&self.output_folder.join(name));
        let own_results: Vec<&str> = linked.iter().filter(is_result).copied().collect();
        if own_results.is_empty() {
            return Ok(());
        }
        if !section.exists() {
            let adopted = self.adopted_folder();
            fs::create_dir(&adopted)?;
            for name in &own_results {
                copy_entry(&self.output_folder.join(name), &adopted.join(name))?;
            }
            fs::rename(&adopted, &section)?;
        }
        own_results.iter().try_for_each(|name| self.link_entry(name))
    }

    /// A section in the making of results that stand in the output folder itself.
    fn adopted_folder(&self) -> PathBuf {
        self.output_folder.join(format!(".{}.adopted", self.section))
    }

    /// Exchanges the old section for the new one. Where that is one step, the old one stands then where
    /// the new one was made.
    fn exchange_sections(&self) -> std::io::Result<()> {
        let (new_section, old_section) =
            (&self.unfinished.folder, self.output_folder.join(self.section));
        if !old_section.exists() {
            return fs::rename(new_section, &old_section);
        }
        if exchange_entries(new_section, &old_section)? == ExchangeResult::Unsupported {
            File::create(self.journal_file())?;
            return self.complete_exchange();
        }
        Ok(())
    }

    /// Exists while the new section is whole and the old one may be in its place, or nothing.
    fn journal_file(&self) -> PathBuf {
        self.output_folder.join(format!(".{}.exchange", self.section))
    }

    /// Completes an exchange in several steps, from whichever of them it was left at.
    fn complete_exchange(&self) -> std::io::Result<()> {
        let (new_section, section) =
            (&self.unfinished.folder, self.output_folder.join(self.section));
        let old_section = self.output_folder.join(format!(".{}.old", self.section));
        let journal = self.journal_file();
        if journal.exists() && new_section.exists() {
            remove_entry(&old_section)?;
            if section.exists() {
                fs::rename(&section, &old_section)?;
            }
            fs::rename(new_section, &section)?;
        }
        remove_entry(&journal)?;
        remove_entry(&old_section)
    }

    /// Links to the entries of the section, and to nothing else in it.
    fn link_entries(&self, linked: &[&str]) -> std::io::Result<()> {
        for entry in fs::read_dir(&self.output_folder)? {
            let path = entry?.path();
            let leads_to_section =
                fs::read_link(&path).is_ok_and(|to| to.parent() == Some(Path::new(self.section)));
            if leads_to_section
                && !linked.iter().any(|name| path.file_name() == Some(name.as_ref()))
            {
                fs::remove_file(path)?;
            }
        }
        for name in linked {
            self.link_entry(name)?;
            // Of a run that was killed behind the exchange of the two.
            remove_entry(&self.fresh_link(name))?;
        }
        Ok(())
    }

    fn fresh_link(&self, name: &str) -> PathBuf {
        self.output_folder.join(format!(".{name}.link"))
    }

    /// Puts a link to an entry of the section in the place of whatever has its name, in one step
    /// where the file system can.
    fn link_entry(&self, name: &str) -> std::io::Result<()> {
        let (link_path, link_target) =
            (self.output_folder.join(name), Path::new(self.section).join(name));
        if fs::read_link(&link_path).is_ok_and(|present_target| present_target == link_target) {
            return Ok(());
        }
        let fresh_path = self.fresh_link(name);
        remove_entry(&fresh_path)?;
        std::os::unix::fs::symlink(&link_target, &fresh_path)?;
        if is_not_a_link(&link_path)
            && exchange_entries(&fresh_path, &link_path)? == ExchangeResult::Done
        {
            return remove_entry(&fresh_path);
        }
        if link_path.is_dir() {
            remove_entry(&link_path)?;
        }
        fs::rename(&fresh_path, &link_path)
    }
}

/// The removal of a section whose place another one has taken; whoever drops this waits for it. What
/// cannot be removed, or is left by a program that is killed, the next run removes.
pub(super) struct SectionRemoval(Option<std::thread::JoinHandle<()>>);

impl SectionRemoval {
    fn of_folder(folder: PendingFolder) -> Self {
        // Where no thread starts, the folder is dropped here, which removes it, too.
        Self(std::thread::Builder::new().spawn(move || drop(folder)).ok())
    }
}

impl Drop for SectionRemoval {
    fn drop(&mut self) {
        let _ = self.0.take().map(std::thread::JoinHandle::join);
    }
}

/// Whether two folders have changed places.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExchangeResult {
    Done,
    /// The kernel or the file system has no such operation.
    Unsupported,
}

/// Lets two entries of one file system change places in one step.
fn exchange_entries(first_path: &Path, second_path: &Path) -> std::io::Result<ExchangeResult> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, first_path, CWD, second_path, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(ExchangeResult::Done),
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => Ok(ExchangeResult::Unsupported),
        Err(error) => Err(error.into()),
    }
}

/// Whether something other than a link stands at a path.
fn is_not_a_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| !metadata.is_symlink())
}

/// Copies a file, or a folder with everything in it.
fn copy_entry(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_entry(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Removes a file or folder where there is one.
fn remove_entry(path: &Path) -> std::io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

impl Drop for PendingFolder {
    fn drop(&mut self) {
        if let Ok(mut unfinished) = UNFINISHED_RUN.lock()
            && unfinished.as_ref().is_some_and(|other| other.folder == self.unfinished.folder)
        {
            *unfinished = None;
        }
        // What a failed run leaves must not be taken for results.
        if !self.journal_file().exists() {
            self.unfinished.remove_files();
        }
    }
}

/// Replaces one file whole.
pub(super) fn write_file(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    Ok(vkcert_verifier::output::write_file(path, contents)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folder as a run finds it that comes behind one killed in an exchange of several steps.
    fn left_by_killed_run(entries: &[(&str, &str)]) -> String {
        let out = tempfile::tempdir().expect("a temporary folder");
        for (path, contents) in entries {
            let path = out.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, contents).expect("a file");
        }
        PendingFolder::start(out.path(), "latest").expect("starts");
        fs::read_to_string(out.path().join("latest/report")).unwrap_or_default()
    }

    #[test]
    fn what_has_not_changed_is_taken_from_the_section_before() {
        use std::os::unix::fs::MetadataExt;
        let out = tempfile::tempdir().expect("a temporary folder");
        let section = out.path().join("latest");
        let inode = |name: &str| fs::metadata(section.join(name)).expect("a file").ino();
        let text = |name: &str| fs::read_to_string(section.join(name)).expect("a file");
        let begin_run = || PendingFolder::start(out.path(), "latest").expect("starts");
        let write = |folder: &PendingFolder, name: &str, text: &str| {
            folder.write(name, text.as_bytes()).expect("is written");
        };
        let first = begin_run();
        for name in ["same", "longer", "other", "tampered"] {
            write(&first, name, "one");
        }
        first.finish(&[]).expect("is put in place");
        let inodes = ["same", "longer", "other", "tampered"].map(inode);
        fs::write(section.join("tampered"), "two").expect("is written");
        let second = begin_run();
        for (name, text) in
            [("same", "one"), ("longer", "one1"), ("other", "two"), ("tampered", "one")]
        {
            write(&second, name, text);
        }
        // A killed run leaves the old results, whatever it has written.
        assert_eq!(["same", "longer", "other"].map(text), ["one", "one", "one"]);
        assert!(second.write("same", b"two").is_err(), "a file is written once");
        assert_eq!(text("same"), "one");
        second.finish(&[]).expect("is put in place");
        assert_eq!(
            ["same", "longer", "other", "tampered"].map(text),
            ["one", "one1", "two", "one"]
        );
        let are_taken: Vec<bool> = ["same", "longer", "other", "tampered"]
            .iter()
            .zip(inodes)
            .map(|(name, inode_before)| inode(name) == inode_before)
            .collect();
        assert_eq!(are_taken, [true, false, false, false]);
    }

    #[test]
    fn the_next_run_completes_an_exchange_from_each_of_its_steps() {
        let (journal, new, old) =
            (".latest.exchange", ".latest.unfinished/report", ".latest.old/report");
        let section = "latest/report";
        // Before the journal the new section may be incomplete.
        assert_eq!(left_by_killed_run(&[(section, "old"), (new, "half")]), "old");
        assert_eq!(left_by_killed_run(&[(section, "old"), (new, "new"), (journal, "")]), "new");
        assert_eq!(left_by_killed_run(&[(old, "old"), (new, "new"), (journal, "")]), "new");
        assert_eq!(left_by_killed_run(&[(old, "old"), (section, "new"), (journal, "")]), "new");
        assert_eq!(left_by_killed_run(&[(old, "old"), (section, "new")]), "new");
    }
}

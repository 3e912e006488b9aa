//! How many bytes a store holds, without looking at each of its files.
//!
//! Knows: a file of the store with what was counted last, to which each run adds a line. Promises: where
//! it is missing, long, or not what was written, nothing is told, and the files are counted: so they are
//! after some hundred runs.
//! Does not cover: what runs add that are killed, or while another counts; it is told after the next
//! count.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// In the folder of entries.
const FILE: &str = "sizes";

/// Longest file, in bytes: some hundred runs.
const MOST_BYTES: u64 = 1 << 10;

/// The file: a number of bytes in each line.
pub(crate) struct ToldSize {
    folder: PathBuf,
}

impl ToldSize {
    /// Of the store with these entries.
    pub(crate) fn of_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Adds what a run has added, and tells the size with that; none: it is not known.
    pub(crate) fn add(&self, added: u64) -> Option<u64> {
        // Without the file there is nothing to add to.
        let mut file = File::options().append(true).open(self.path()).ok()?;
        file.write_all(format!("{added}\n").as_bytes()).ok()?;
        if file.metadata().ok()?.len() > MOST_BYTES {
            return None;
        }
        let text = fs::read_to_string(self.path()).ok()?;
        // Of a count that was lost with the power, the added line is left.
        if text.lines().count() < 2 { None } else { sum_of_lines(&text) }
    }

    /// Replaces it by what was counted.
    pub(crate) fn replace(&self, counted: u64) -> io::Result<()> {
        let mut unfinished = tempfile::NamedTempFile::new_in(&self.folder)?;
        writeln!(unfinished, "{counted}")?;
        unfinished.persist(self.path())?;
        Ok(())
    }
}

fn sum_of_lines(text: &str) -> Option<u64> {
    text.lines().try_fold(0_u64, |sum, line| sum.checked_add(line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_the_last_count_with_all_that_was_added() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let told = ToldSize::of_folder(folder.path());
        assert_eq!(told.add(5), None);
        told.replace(100).expect("it is written");
        assert_eq!((told.add(5), told.add(7)), (Some(105), Some(112)));
        told.replace(50).expect("it is written");
        assert_eq!(told.add(0), Some(50));
    }

    #[test]
    fn what_is_no_list_of_numbers_or_too_long_tells_no_size() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let told = ToldSize::of_folder(folder.path());
        for text in ["", "x\n", "-1\n", "18446744073709551615\n1\n", "\n"] {
            fs::write(folder.path().join(FILE), text).expect("it is written");
            assert_eq!(told.add(1), None, "{text:?}");
        }
        fs::write(folder.path().join(FILE), "1\n".repeat(1 << 9)).expect("it is written");
        assert_eq!(told.add(1), None);
    }
}

//! The files of a report in several: the first one at the place asked for, the others in a folder
//! beside it. Of an HTML report these are pages of kernels, of a PDF report further volumes.
//!
//! Promises: the folder holds the files of this report and no older ones; a folder that holds
//! anything but files of such a report is neither replaced nor removed. The others are in place
//! before the first, which names them.
//! Does not cover: a reader who follows links while the files change.

use crate::output;
use rayon::prelude::*;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_report::{
    FormatName, KERNEL_PAGE_START, PagedHtml, PdfVolumes, ReportError, VOLUME_START, kernel_folder,
    volume_folder,
};
use vkcert_verification::VerifyError;

/// A report in several files.
pub(crate) enum SplitReport<'e> {
    /// An index, and a page for each kernel.
    Pages(Box<PagedHtml<'e>>),
    /// A first volume, and further ones.
    Volumes(Box<PdfVolumes<'e>>),
}

/// What the files beside a first one are, by the format of the report.
struct OtherFiles {
    folder_of: fn(&OsStr) -> OsString,
    /// What the name of each begins with.
    name_start: &'static str,
    /// What each of them begins with.
    start: &'static str,
    words: &'static str,
}

/// None where a report of the format is always one file.
fn other_files(format: FormatName) -> Option<OtherFiles> {
    match format {
        FormatName::Html => Some(OtherFiles {
            folder_of: kernel_folder,
            name_start: "kernel-",
            start: KERNEL_PAGE_START,
            words: "pages of a report",
        }),
        FormatName::Pdf => Some(OtherFiles {
            folder_of: volume_folder,
            name_start: "volume-",
            start: VOLUME_START,
            words: "volumes of a report",
        }),
        FormatName::Terminal
        | FormatName::Json
        | FormatName::Lcov
        | FormatName::Cobertura
        | FormatName::Junit
        | FormatName::Sarif
        | FormatName::Mutants => None,
    }
}

impl SplitReport<'_> {
    fn other_files(&self) -> OtherFiles {
        let format = match self {
            SplitReport::Pages(_) => FormatName::Html,
            SplitReport::Volumes(_) => FormatName::Pdf,
        };
        other_files(format).expect("the format has reports in several files")
    }

    /// What JSON output calls the files beside the first.
    pub(crate) fn member(&self) -> &'static str {
        match self {
            SplitReport::Pages(_) => "pages",
            SplitReport::Volumes(_) => "volumes",
        }
    }

    /// How many files there are beside the first.
    pub(crate) fn other_count(&self) -> usize {
        match self {
            SplitReport::Pages(pages) => pages.kernel_count(),
            SplitReport::Volumes(volumes) => volumes.volume_count() - 1,
        }
    }

    /// Why it cannot go to standard output.
    fn needs_file(&self) -> VerifyError {
        match self {
            SplitReport::Pages(pages) => {
                let count = pages.kernel_count();
                refusal(
                    format!("an HTML report of {count} kernels is an index and a page for each"),
                    "name the index with --output, or ask for one page with a larger --html-split-above",
                )
            }
            SplitReport::Volumes(volumes) => {
                let count = volumes.volume_count();
                refusal(
                    format!("this PDF report has {count} volumes"),
                    "name the first with --output, or ask for one file with a larger --pdf-volume-pages",
                )
            }
        }
    }

    fn first_file(&self) -> Result<Vec<u8>, VerifyError> {
        match self {
            SplitReport::Pages(pages) => Ok(pages.index_page()),
            SplitReport::Volumes(volumes) => volumes.first_volume().map_err(unrendered),
        }
    }

    /// Writes the others with `write`, on all cores.
    fn write_others(
        &self,
        write: impl Fn(&str, &[u8]) -> Result<(), VerifyError> + Sync,
    ) -> Result<(), VerifyError> {
        match self {
            SplitReport::Pages(pages) => pages.write_kernel_pages(write).map(drop),
            SplitReport::Volumes(volumes) => volumes.further_volumes().try_for_each(|volume| {
                let (name, bytes) = volume.map_err(unrendered)?;
                write(&name, &bytes)
            }),
        }
    }

    /// Writes all files; the folder of the others.
    pub(crate) fn write_files(&self, first: Option<&Path>) -> Result<PathBuf, VerifyError> {
        let Some(first) = first else { return Err(self.needs_file()) };
        let others = self.other_files();
        if fs::metadata(first).is_ok_and(|metadata| !metadata.is_file()) {
            let message =
                format!("{} is no file that could have others beside it", first.display());
            return Err(refusal(message, "name another with --output"));
        }
        let folder = others.folder_beside(first);
        if fs::symlink_metadata(&folder).is_ok() && !others.are_all_of(&folder) {
            let message =
                format!("{} holds something other than {}", folder.display(), others.words);
            return Err(refusal(message, "name another file with --output, or remove the folder"));
        }
        self.replace_others(&folder)?;
        output::write_file(first, &self.first_file()?)?;
        Ok(folder)
    }

    /// Puts a folder with the others in the place of an older one.
    fn replace_others(&self, folder: &Path) -> Result<(), VerifyError> {
        let unwritable = |error: io::Error| VerifyError::unwritable(folder, &error);
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let unfinished = tempfile::Builder::new()
            .prefix(".report-files")
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(parent)
            .map_err(unwritable)?;
        let new_folder = unfinished.path().join("new");
        fs::create_dir(&new_folder).map_err(unwritable)?;
        self.write_others(|name, bytes| {
            fs::write(new_folder.join(name), bytes)
                .map_err(|error| VerifyError::unwritable(&folder.join(name), &error))
        })?;
        // What is left in `unfinished` goes with it.
        if folder.exists() {
            fs::rename(folder, unfinished.path().join("old")).map_err(unwritable)?;
        }
        fs::rename(&new_folder, folder).map_err(unwritable)
    }
}

/// Removes what an earlier report in several files left beside this one.
pub(crate) fn remove_old_files(format: FormatName, first: &Path) -> Result<(), VerifyError> {
    let Some(others) = other_files(format) else { return Ok(()) };
    let folder = others.folder_beside(first);
    if !others.are_all_of(&folder) {
        return Ok(());
    }
    fs::remove_dir_all(&folder).map_err(|error| VerifyError::unwritable(&folder, &error))
}

fn unrendered(error: ReportError) -> VerifyError {
    VerifyError::tool(error.to_string())
}

fn refusal(message: String, hint: &str) -> VerifyError {
    VerifyError::from(Diagnostic::new("usage", message).hint(hint))
}

impl OtherFiles {
    fn folder_beside(&self, first: &Path) -> PathBuf {
        let name = first.file_name().unwrap_or(OsStr::new("report"));
        first.with_file_name((self.folder_of)(name))
    }

    /// Whether a path is a folder of such files and of nothing else.
    fn are_all_of(&self, folder: &Path) -> bool {
        let is_folder = fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
        let mut entries = match fs::read_dir(folder) {
            Ok(entries) if is_folder => entries,
            Ok(_) | Err(_) => return false,
        };
        entries.all(|entry| entry.is_ok_and(|entry| self.is_one(&entry.path())))
    }

    fn is_one(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(self.name_start)
            && fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
            && self.begins(path).unwrap_or(false)
    }

    fn begins(&self, path: &Path) -> io::Result<bool> {
        let mut start = vec![0; self.start.len()];
        File::open(path)?.read_exact(&mut start)?;
        Ok(start == self.start.as_bytes())
    }
}

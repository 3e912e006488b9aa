//! The files of an HTML report in several: the index at the place asked for, the pages of kernels in
//! a folder beside it.
//!
//! Promises: the folder holds the pages of this report and no older ones; a folder that holds
//! anything but such pages is neither replaced nor removed. The pages are in place before the index
//! that leads to them.
//! Does not cover: a reader who follows links while the files change.

use crate::output;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_report::{KERNEL_PAGE_START, PagedHtml, kernel_folder};
use vkcert_verification::VerifyError;

/// Writes index and pages; the folder of the pages.
pub(crate) fn write_pages(
    pages: &PagedHtml,
    index_file: Option<&Path>,
) -> Result<PathBuf, VerifyError> {
    let count = pages.kernel_count();
    let Some(index_file) = index_file else {
        let message = format!("an HTML report of {count} kernels is an index and a page for each");
        return Err(refusal(
            message,
            "name the index with --output, or ask for one page with a larger --html-split-above",
        ));
    };
    if fs::metadata(index_file).is_ok_and(|metadata| !metadata.is_file()) {
        let message =
            format!("{} is no file that could have pages beside it", index_file.display());
        return Err(refusal(message, "name another with --output"));
    }
    let folder = folder_beside(index_file);
    if fs::symlink_metadata(&folder).is_ok() && !holds_pages_alone(&folder) {
        let message = format!("{} holds something other than pages of a report", folder.display());
        return Err(refusal(message, "name another file with --output, or remove the folder"));
    }
    replace_pages(pages, &folder)?;
    output::write_file(index_file, &pages.index_page())?;
    Ok(folder)
}

/// Removes the pages that an earlier report in several files left beside this one.
pub(crate) fn remove_old_pages(index_file: &Path) -> Result<(), VerifyError> {
    let folder = folder_beside(index_file);
    if !holds_pages_alone(&folder) {
        return Ok(());
    }
    fs::remove_dir_all(&folder).map_err(|error| VerifyError::unwritable(&folder, &error))
}

fn refusal(message: String, hint: &str) -> VerifyError {
    VerifyError::from(Diagnostic::new("usage", message).hint(hint))
}

fn folder_beside(index_file: &Path) -> PathBuf {
    index_file.with_file_name(kernel_folder(index_file.file_name().unwrap_or(OsStr::new("report"))))
}

/// Whether a path is a folder of pages of kernels and of nothing else.
fn holds_pages_alone(folder: &Path) -> bool {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) if is_folder => entries,
        Ok(_) | Err(_) => return false,
    };
    entries.all(|entry| entry.is_ok_and(|entry| is_page(&entry.path())))
}

fn is_page(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
        && starts_as_page(path).unwrap_or(false)
}

fn starts_as_page(path: &Path) -> io::Result<bool> {
    let mut start = vec![0; KERNEL_PAGE_START.len()];
    File::open(path)?.read_exact(&mut start)?;
    Ok(start == KERNEL_PAGE_START.as_bytes())
}

/// Puts a folder with the pages in the place of an older one.
fn replace_pages(pages: &PagedHtml, folder: &Path) -> Result<(), VerifyError> {
    let unwritable = |error: io::Error| VerifyError::unwritable(folder, &error);
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let unfinished = tempfile::Builder::new()
        .prefix(".report-pages")
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .map_err(unwritable)?;
    let new_folder = unfinished.path().join("new");
    fs::create_dir(&new_folder).map_err(unwritable)?;
    pages.write_kernel_pages(|name, bytes| {
        fs::write(new_folder.join(name), bytes)
            .map_err(|error| VerifyError::unwritable(&folder.join(name), &error))
    })?;
    // What is left in `unfinished` goes with it.
    if folder.exists() {
        fs::rename(folder, unfinished.path().join("old")).map_err(unwritable)?;
    }
    fs::rename(&new_folder, folder).map_err(unwritable)
}

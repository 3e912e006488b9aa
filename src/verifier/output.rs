//! Where results go: stdout, or one file that appears whole or not at all.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use vkcert_model::path::folder_of;
use vkcert_verification::VerifyError;

/// Prints to stdout. A closed stdout is no failure, because the exit code of a command does not
/// depend on who reads its output.
pub fn print_text(text: &str) -> Result<(), VerifyError> {
    print_bytes(text.as_bytes())
}

/// Prints to stderr; the text holds its line ends. A closed stderr is no failure.
pub fn print_to_stderr(text: impl std::fmt::Display) {
    let _ = write!(std::io::stderr(), "{text}");
}

/// Columns of the terminal that stdout is; none where it is no terminal, because lines in files and
/// pipes are not wrapped.
pub fn stdout_width() -> Option<u16> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0)
}

/// Prints bytes to stdout.
pub fn print_bytes(bytes: &[u8]) -> Result<(), VerifyError> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(VerifyError::Tool {
            message: format!("cannot write to stdout: {error}"),
            path: None,
        }),
    }
}

/// Replaces one file whole; a link to it and its permissions stay. What is no file, such as a pipe
/// or a device, takes the contents and is never replaced.
pub fn write_file(path: &Path, contents: &[u8]) -> Result<(), VerifyError> {
    replace_contents(path, contents).map_err(|error| VerifyError::unwritable(path, &error))
}

fn replace_contents(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let Ok(present_file) = std::fs::metadata(path) else {
        let readable_by_all = Permissions::from_mode(0o666);
        return persist_contents(path, contents, readable_by_all).map(drop);
    };
    if !present_file.is_file() {
        return OpenOptions::new().write(true).open(path)?.write_all(contents);
    }
    let permissions = present_file.permissions();
    let new_file = persist_contents(&path.canonicalize()?, contents, permissions.clone())?;
    // The mask of the process took some from them when the file was made.
    new_file.set_permissions(permissions)
}

/// Writes a file beside its place and moves it there. The mask of the process takes from the
/// permissions.
fn persist_contents(
    path: &Path,
    contents: &[u8],
    permissions: Permissions,
) -> std::io::Result<File> {
    let mut unfinished_file =
        tempfile::Builder::new().permissions(permissions).tempfile_in(folder_of(path))?;
    unfinished_file.write_all(contents)?;
    Ok(unfinished_file.persist(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileTypeExt;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        for contents in ["one", "another"] {
            write_file(&path, contents.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), contents);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let nowhere = folder.path().join("none/report.html");
        let Err(VerifyError::Tool { message, path }) = write_file(&nowhere, b"") else {
            panic!("it is written")
        };
        let shown = nowhere.display().to_string();
        assert!(message.starts_with(&format!("cannot write {shown}: ")), "{message}");
        assert_eq!(path, Some(shown));
    }

    #[test]
    fn links_and_permissions_of_a_file_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requirements.toml");
        let plainly_created = folder.path().join("plainly_created");
        std::fs::write(&plainly_created, "").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();

        write_file(&path, b"new").unwrap();
        assert_eq!(mode(&path), mode(&plainly_created));

        let link = folder.path().join("link");
        std::os::unix::fs::symlink("requirements.toml", &link).unwrap();
        for permissions in [0o777, 0o640] {
            std::fs::set_permissions(&path, Permissions::from_mode(permissions)).unwrap();
            write_file(&link, format!("{permissions}").as_bytes()).unwrap();
            assert!(link.is_symlink());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{permissions}"));
            assert_eq!(mode(&path) & 0o777, permissions);
        }
    }

    #[test]
    fn a_pipe_takes_the_contents_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).unwrap()
        });
        write_file(&pipe, b"a report").unwrap();
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), "a report");
    }
}

//! Where results go: stdout, or one file that appears whole or not at all.

use std::io::Write;
use std::path::Path;
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

/// Replaces one file whole.
pub fn write_file(path: &Path, contents: &[u8]) -> Result<(), VerifyError> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)
        .map_err(|error| VerifyError::unwritable(path, &error))?;
    file.write_all(contents).map_err(|error| VerifyError::unwritable(path, &error))?;
    file.persist(path).map_err(|error| VerifyError::unwritable(path, &error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::write_file;
    use vkcert_verification::VerifyError;

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
}

//! `certify --events FILE`: what a run does, line by line while it does it, for dashboards.
//!
//! Promises: every line is one whole JSON object and is there at once; a file that cannot be made
//! stops the run before it begins; one that cannot be written any more is told once and does not
//! stop it.
//! Does not cover: the file of a program that was killed, which ends with its last line.

use super::failure::Failure;
use super::output;
use crate::model::event::{EventLine, RunEvent};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

/// Where events go; nowhere, where none are asked for.
pub(super) struct EventLog {
    start: Instant,
    file: Option<Mutex<EventFile>>,
}

struct EventFile {
    path: PathBuf,
    file: File,
    is_writable: bool,
}

impl EventLog {
    pub(super) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let open_file = |path: &Path| {
            let file = File::create(path).map_err(|error| Failure::unwritable(path, &error))?;
            Ok::<_, Failure>(Mutex::new(EventFile {
                path: path.to_owned(),
                file,
                is_writable: true,
            }))
        };
        Ok(Self { start: Instant::now(), file: path.map(open_file).transpose()? })
    }

    /// Seconds since the run began.
    pub(super) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    pub(super) fn tell(&self, event: RunEvent) {
        let Some(file) = &self.file else { return };
        // A poisoned lock is of a panic elsewhere: its file is whole line by line.
        let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if file.is_writable {
            file.write(&EventLine { seconds: self.seconds(), event });
        }
    }
}

impl EventFile {
    fn write(&mut self, line: &EventLine) {
        let written = serde_json::to_string(line).map_err(std::io::Error::from);
        let written = written.and_then(|text| self.file.write_all(format!("{text}\n").as_bytes()));
        if let Err(error) = written {
            self.is_writable = false;
            let path = self.path.display();
            output::print_to_stderr(format_args!(
                "note: no more events are written to {path}: {error}\n"
            ));
        }
    }
}

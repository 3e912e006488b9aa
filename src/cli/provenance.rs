//! `provenance.json`: where, when, by which program and from which commit a run was made.
//!
//! Knows: the running process, the machine and the project's repository.
//! Promises: what cannot be read is null and stops no run; nothing in the project is written, and
//! of the environment nothing but `SOURCE_DATE_EPOCH` is stored.
//! Does not cover: evidence and reports, which are the same bytes with another provenance.

mod host;
mod repository;

use super::args::Certify;
use super::failure::Failure;
use crate::derivation::files::canonical_bytes;
use crate::derivation::stated::{TOOL, TOOL_VERSION};
use crate::model::provenance::{
    Argument, ArgumentBytes, PROVENANCE_SCHEMA, ProjectCommit, Provenance, ProvenanceTool,
    RunOrigin, RunReuse, utc_date_time,
};
use base64::Engine as _;
use repository::Written;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is known before the run writes anything.
pub(super) struct RunStart {
    started: String,
    project: ProjectCommit,
    /// SHA-256 of the program's file; none where it cannot be read.
    program: Option<String>,
}

impl RunStart {
    /// Looks at clock and repository.
    pub(super) fn observe(
        project_folder: &Path,
        output_folder: &Path,
        certify: &Certify,
        program: ProgramHashing,
    ) -> Self {
        let written = Written { output_folder, outputs: certify.save_outputs.as_deref() };
        Self::of_project(repository::project_commit(project_folder, &written), program)
    }

    /// When the run began.
    pub(super) fn started(&self) -> &str {
        &self.started
    }

    /// What git says of the project.
    pub(super) fn project(&self) -> &ProjectCommit {
        &self.project
    }

    /// The SHA-256 of the program's file; none where it cannot be read.
    pub(super) fn program(&self) -> Option<&str> {
        self.program.as_deref()
    }

    /// Looks at clock and program alone: what is written is of a project whose commit others have looked up.
    pub(super) fn of_project(project: ProjectCommit, program: ProgramHashing) -> Self {
        Self { started: now(), project, program: program.finish() }
    }

    /// This run as a cache tells where its results are from; none where the program's own file
    /// cannot be read.
    pub(super) fn origin(&self) -> Option<RunOrigin> {
        Some(RunOrigin {
            tool: this_tool(),
            build_commit: env!("VKCERT_BUILD_COMMIT").to_owned(),
            binary_sha256: self.program.clone()?,
            host: host::this_machine(),
            argv: std::env::args_os().map(argument).collect(),
            started: self.started.clone(),
        })
    }

    /// The file's bytes, once the evidence is known; `reuse`: what was taken from a cache, if one
    /// was used.
    pub(super) fn finish(
        self,
        evidence_root: &str,
        reuse: Option<RunReuse>,
    ) -> Result<Vec<u8>, Failure> {
        let provenance = Provenance {
            schema: PROVENANCE_SCHEMA,
            evidence_root: evidence_root.to_owned(),
            tool: this_tool(),
            build_commit: env!("VKCERT_BUILD_COMMIT").to_owned(),
            binary_sha256: self.program,
            host: host::this_machine(),
            argv: std::env::args_os().map(argument).collect(),
            started: self.started,
            finished: now(),
            source_date_epoch: std::env::var_os("SOURCE_DATE_EPOCH")
                .map(|value| value.to_string_lossy().into_owned()),
            project: self.project,
            reuse,
        };
        canonical_bytes(&provenance).map_err(|error| Failure::tool(error.to_string()))
    }
}

fn this_tool() -> ProvenanceTool {
    ProvenanceTool { name: TOOL.to_owned(), version: TOOL_VERSION.to_owned() }
}

/// The time by the clock of the machine.
fn now() -> String {
    let seconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    };
    utc_date_time(seconds)
}

/// The hash of the program's file, which is made while the project is read: the file is large.
pub(super) struct ProgramHashing(Option<JoinHandle<io::Result<String>>>);

impl ProgramHashing {
    /// Begins on a thread of its own.
    pub(super) fn begin() -> Self {
        Self(std::thread::Builder::new().spawn(program_hash).ok())
    }

    /// None: the file cannot be read.
    fn finish(self) -> Option<String> {
        let hash = match self.0 {
            Some(hashing) => hashing.join().ok()?,
            // No thread could be started.
            None => program_hash(),
        };
        hash.ok()
    }
}

/// The SHA-256 of the file that runs, even where another has taken its name since it was started.
fn program_hash() -> io::Result<String> {
    let program =
        File::open("/proc/self/exe").or_else(|_| std::env::current_exe().and_then(File::open))?;
    crate::model::canonical::sha256_of(program)
}

/// A word of the command line, whatever its bytes are.
fn argument(word: OsString) -> Argument {
    word.into_string().map_or_else(
        |word| {
            let bytes = base64::engine::general_purpose::STANDARD.encode(word.as_encoded_bytes());
            Argument::Bytes(ArgumentBytes { bytes })
        },
        Argument::Text,
    )
}

//! `vkcert archive`: a campaign as one file that can be verified later, with and without this
//! program.
//!
//! Promises: what is archived was verified, from the same bytes; all inputs of the run are in it;
//! what is not is named.
//! Does not cover: the form of the file (`vkcert_archive`).

use super::args::{Archive, Common, OutputForm};
use super::failure::Failure;
use super::output;
use super::schema;
use crate::campaign::verification::{Compiling, RebuiltProject};
use crate::derivation::files::{PROVENANCE, REPORTS};
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::Evidence;
use crate::model::exit::Exit;
use crate::model::path::display_path;
use crate::model::wording::plural;
use crate::verify::{
    EvidenceFolder, LaidOutProject, RebuildOutcome, Verification, VerificationOptions,
    VerificationStatus, verify_and_rebuild,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use vkcert_archive::{ArchiveError, Contents, WrittenArchive, layout, pack};
use vkcert_verifier::report::refuse_unverified;

/// The documents of the formats, as this version has them.
const DOCUMENTS: &[(&str, &str)] = &[
    ("agreement.md", include_str!("../../docs/agreement.md")),
    ("coupling-coverage.md", include_str!("../../docs/coupling-coverage.md")),
    ("evidence.md", include_str!("../../docs/evidence.md")),
    ("findings.md", include_str!("../../docs/findings.md")),
    ("mcdc.md", include_str!("../../docs/mcdc.md")),
    ("project.md", include_str!("../../docs/project.md")),
    ("requirements.md", include_str!("../../docs/requirements.md")),
    ("test-procedure.md", include_str!("../../docs/test-procedure.md")),
];

/// Verifies evidence and writes it with all that belongs to it into one file.
pub(super) fn archive_evidence(
    common: &Common,
    arguments: &Archive,
    toolchain: &Compiling,
) -> Result<Exit, Failure> {
    let folder = EvidenceFolder::read(&arguments.evidence)?;
    let input_folder = arguments.project.clone();
    let options = VerificationOptions { input_folder, ..VerificationOptions::default() };
    let (verification, stored, rebuilt) = verify_and_rebuild(&folder, &options, toolchain)?;
    let is_wanted = verification.holds() || arguments.unverified;
    let (Some(stored), Some(rebuilt)) = (stored.filter(|_| is_wanted), rebuilt) else {
        let instead =
            "--unverified archives all the same what can be read, and the archive says so";
        return Ok(refuse_unverified(common, &arguments.evidence, &verification, instead)?);
    };
    let mut archived = Archived::of_results(&arguments.evidence, &folder)?;
    match &rebuilt {
        RebuildOutcome::Whole(rebuilt) => {
            archived.add_inputs(&stored, &rebuilt.laid_out)?;
            archived.add_modules(rebuilt);
        }
        RebuildOutcome::ProjectAlone(laid_out, reason) => {
            archived.add_inputs(&stored, laid_out)?;
            archived.lacks.push(format!("production modules: {reason}"));
        }
        RebuildOutcome::WithoutInputs(reason) => return Err(incomplete(reason)),
        RebuildOutcome::Contradicting(problem) => return Err(incomplete(problem)),
    }
    archived.add_formats();
    let root = folder.root();
    archived.add_text(layout::README, &archived.readme(&stored, &root, &verification));
    let written = pack(&arguments.output, &layout::top_folder(&root), &archived.files)
        .map_err(|error| unwritten(&arguments.output, &error))?;
    print_written(common, arguments, &written, &archived.lacks, &root)?;
    Ok(Exit::Success)
}

/// What an archive is made of.
struct Archived {
    files: BTreeMap<String, Contents>,
    /// What is not in it and why, a sentence each.
    lacks: Vec<String>,
}

impl Archived {
    /// Evidence and reports as they were read, and what stands beside them.
    fn of_results(evidence: &Path, folder: &EvidenceFolder) -> Result<Self, Failure> {
        let mut archived = Self { files: BTreeMap::new(), lacks: Vec::new() };
        for (name, bytes) in &folder.files {
            archived.add_bytes(&format!("{}/{name}", layout::EVIDENCE), bytes.clone());
        }
        let in_results = |name: &str| format!("{}/{name}", layout::RESULTS);
        for (name, bytes) in &folder.reports {
            archived.add_bytes(&in_results(name), bytes.clone());
        }
        match &folder.report_list {
            Some(list) => archived.add_bytes(&in_results(REPORTS), list.clone()),
            None => archived.lacks.push("reports: there is no list of them".to_owned()),
        }
        let unlisted = folder.unlisted.iter();
        archived.lacks.extend(unlisted.map(|name| format!("{name}: the list lacks it")));
        let provenance = evidence.with_file_name(PROVENANCE);
        match std::fs::read(&provenance) {
            Ok(bytes) => archived.add_bytes(&in_results(PROVENANCE), bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                archived.lacks.push(format!("{PROVENANCE}: there is none"));
            }
            Err(error) => {
                let message = format!("it cannot be read: {error}");
                let file = display_path(&provenance);
                return Err(Diagnostic::new("bad-evidence", message).in_file(file).into());
            }
        }
        Ok(archived)
    }

    fn add_bytes(&mut self, path: &str, bytes: Vec<u8>) {
        self.files.insert(path.to_owned(), Contents::Bytes(bytes));
    }

    fn add_text(&mut self, path: &str, text: &str) {
        self.add_bytes(path, text.as_bytes().to_vec());
    }

    /// Every input of the run; one that is not there is an error.
    fn add_inputs(&mut self, stored: &Evidence, laid_out: &LaidOutProject) -> Result<(), Failure> {
        if let Some(path) = laid_out.absent.first() {
            return Err(incomplete(&format!("the input {path} is not stored")));
        }
        for path in stored.manifest.inputs.keys() {
            let file = laid_out.project.root.join(path);
            let bytes = std::fs::read(&file)
                .map_err(|error| incomplete(&format!("the input {path}: {error}")))?;
            self.add_bytes(&format!("{}/{path}", layout::PROJECT), bytes);
        }
        Ok(())
    }

    fn add_modules(&mut self, rebuilt: &RebuiltProject) {
        for kernel in &rebuilt.kernels {
            let bytes = kernel.production.iter().flat_map(|word| word.to_le_bytes()).collect();
            self.add_bytes(&format!("{}/{}.spv", layout::MODULES, kernel.name), bytes);
        }
    }

    fn add_formats(&mut self) {
        for (name, text) in schema::texts() {
            self.add_text(&format!("{}/{name}.json", layout::SCHEMAS), &text);
        }
        for (name, text) in DOCUMENTS {
            self.add_text(&format!("{}/{name}", layout::DOCUMENTS), text);
        }
    }

    fn readme(&self, stored: &Evidence, root: &str, verification: &Verification) -> String {
        let project = &stored.campaign.project;
        let standing = match verification.status() {
            VerificationStatus::Verified => "When it was archived, the evidence verified.",
            VerificationStatus::InPart => {
                "When it was archived, the evidence verified in part: not all could be derived again."
            }
            VerificationStatus::NotVerified => "WHEN IT WAS ARCHIVED, THE EVIDENCE DID NOT VERIFY.",
        };
        let lacks = match self.lacks.as_slice() {
            [] => String::new(),
            lacks => {
                let lines: String = lacks.iter().map(|lack| format!("- {lack}\n")).collect();
                format!("\n## What is not in it\n\n{lines}")
            }
        };
        format!(
            include_str!("archive/README.md"),
            project = project.name,
            tool = stored.manifest.tool,
            compiler = stored.manifest.compiler,
            version = project.tool_version,
            archiver = env!("CARGO_PKG_VERSION"),
            root = root,
            standing = standing,
            lacks = lacks,
        )
    }
}

fn incomplete(reason: &str) -> Failure {
    let message = format!("the archive would be incomplete: {reason}");
    let diagnostic = Diagnostic::new("incomplete-archive", message);
    diagnostic.hint("--project DIR gives inputs that the evidence does not store").into()
}

fn unwritten(target: &Path, error: &ArchiveError) -> Failure {
    match error {
        ArchiveError::Unwritable { .. } | ArchiveError::Unreadable(_) => Failure::Tool {
            message: format!("cannot archive: {error}"),
            path: Some(display_path(target)),
        },
        ArchiveError::Outside { .. } | ArchiveError::BeyondLimit(_) => {
            Diagnostic::new("unsupported", format!("cannot archive: {error}")).into()
        }
        ArchiveError::NotZstd
        | ArchiveError::Damaged
        | ArchiveError::GoesOn
        | ArchiveError::OtherKind { .. }
        | ArchiveError::Twice { .. }
        | ArchiveError::OtherLayout(_) => {
            Failure::tool(format!("what was archived cannot be read back: {error}"))
        }
    }
}

fn print_written(
    common: &Common,
    arguments: &Archive,
    written: &WrittenArchive,
    lacks: &[String],
    root: &str,
) -> Result<(), Failure> {
    let file = display_path(&arguments.output);
    if common.form() == OutputForm::Json {
        return output::print_text(&format!(
            "{:#}\n",
            json!({
                "schema": 1, "archive": file, "sha256": written.digits, "bytes": written.bytes,
                "files": written.files, "root": root, "lacks": lacks,
            })
        ));
    }
    let mut text = format!(
        "archive  {file}\ncontents {} in {} bytes\n",
        plural(written.files, "file", "files"),
        written.bytes
    );
    for lack in lacks {
        text.push_str(&format!("lacks    {lack}\n"));
    }
    text.push_str(&format!("sha256   {}\nroot     {root}\n", written.digits));
    output::print_text(&text)
}

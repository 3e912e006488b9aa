//! The verification of an evidence folder: everything that follows from something else stored,
//! derived again.
//!
//! Knows: an evidence folder, and list of reports and provenance beside it. What needs a compiler or an engine
//! is behind [`Toolchain`]: the caller gives one, or [`NoToolchain`], and then what follows from
//! modules is told by name as not derived.
//! Promises: what is stored and does not follow is a problem by name, what cannot be derived is
//! reported as such; nothing is printed.
//! Runs that were stored earlier are held to the same, for the trend of a report (`history`).
//! Does not cover: facts, which follow from nothing else (`docs/evidence.md` lists them): only a
//! signature protects these.

pub mod consistency;
pub mod difference;
mod error;
pub mod first_format;
pub mod folder;
pub mod form;
mod history;
#[cfg(test)]
mod honest;
#[cfg(test)]
mod objectives_tests;
pub mod project_derivation;
pub mod provenance;
pub mod rebuild;
pub mod records;
pub mod sources;
#[cfg(test)]
mod standards_tests;
pub mod telling;
mod toolchain;

pub use error::VerifyError;
pub use folder::EvidenceFolder;
pub use history::{FoundRuns, OwnOutput, find_runs};
pub use provenance::ProvenanceCheck;
pub use rebuild::{LaidOutProject, RebuildOutcome, rebuild_project};
pub use toolchain::{NoToolchain, Toolchain, maker_of_modules};

use base64::Engine as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use vkcert_model::evidence::{Evidence, OutputBytes, TestResult};
use vkcert_model::id::TestId;

/// What is checked besides the ordinary checks.
#[derive(Debug, Clone, Default)]
pub struct VerificationOptions {
    /// A hash that the manifest or the list of reports must have.
    pub root: Option<String>,
    /// A project whose files must be the inputs.
    pub project: Option<PathBuf>,
    /// A folder with inputs that the evidence does not store, where no project is given.
    pub input_folder: Option<PathBuf>,
    /// Whether the sequential engine runs the tests again.
    pub replay: Replay,
    /// What success asks for.
    pub demand: SuccessDemand,
}

/// What counts as success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SuccessDemand {
    /// That nothing differs.
    #[default]
    NoDifference,
    /// That nothing differs and everything was derived.
    Everything,
}

/// Whether the sequential engine runs the tests again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replay {
    /// It does not.
    #[default]
    No,
    /// It runs all of them, and kernels that expectations refer to.
    Sequential,
}

/// The result of a verification.
#[derive(Debug, Default)]
pub struct Verification {
    /// Differences between what is stored and what follows from the records.
    pub problems: Vec<String>,
    /// What cannot be derived again, and why.
    pub not_derivable: Vec<String>,
    /// What follows from modules, and is not derivable where the kernels cannot be compiled as they
    /// were.
    pub not_derived_from_modules: Vec<String>,
    /// How many statements were derived again.
    pub checked: u64,
    /// SHA-256 of the manifest.
    pub root: String,
    /// SHA-256 of the list of reports, where it is there.
    pub reports_hash: Option<String>,
    /// What could be made again from the stored inputs.
    pub extent: DerivationExtent,
    /// What the hash given by `--root` covers.
    pub root_cover: RootCover,
    /// The hash that `--root` gives, as it was compared.
    pub given_root: Option<String>,
    /// The comparison with the project given by `--project`.
    pub project: ProjectCheck,
    /// The comparison of report files with their list.
    pub reports: ReportCheck,
    /// What `provenance.json` beside the evidence is.
    pub provenance: ProvenanceCheck,
}

/// What could be rebuilt, so that the rest could be derived from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DerivationExtent {
    /// Project and kernels.
    #[default]
    Whole,
    /// The project without its kernels.
    WithoutModules,
    /// Neither: only statements that evidence makes twice were compared.
    WithoutInputs,
}

impl DerivationExtent {
    /// The name in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            DerivationExtent::Whole => "whole",
            DerivationExtent::WithoutModules => "without-modules",
            DerivationExtent::WithoutInputs => "without-inputs",
        }
    }
}

/// The status of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationStatus {
    /// All was derived, and nothing differs.
    Verified,
    /// Nothing differs, and not all could be derived.
    InPart,
    /// Something differs.
    NotVerified,
}

impl VerificationStatus {
    /// The name in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            VerificationStatus::Verified => "verified",
            VerificationStatus::InPart => "verified-in-part",
            VerificationStatus::NotVerified => "not-verified",
        }
    }
}

/// What the hash given by `--root` covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RootCover {
    /// No hash was given.
    #[default]
    NotGiven,
    /// It is neither that of the manifest nor that of the list of reports.
    Nothing,
    /// That of the manifest: it says nothing of reports.
    Evidence,
    /// That of the list of reports, which holds the root.
    EvidenceAndReports,
}

impl RootCover {
    /// None where no hash was given.
    pub fn name(self) -> Option<&'static str> {
        match self {
            RootCover::NotGiven => None,
            RootCover::Nothing => Some("nothing"),
            RootCover::Evidence => Some("evidence"),
            RootCover::EvidenceAndReports => Some("evidence-and-reports"),
        }
    }
}

/// The comparison with the project given by `--project`.
#[derive(Debug, Default)]
pub enum ProjectCheck {
    /// No project was given.
    #[default]
    NotGiven,
    /// The evidence cannot be read, so that there was nothing to compare them with.
    NotCompared {
        /// The folder, as the user names it.
        folder: String,
    },
    /// What the comparison found.
    Compared(ComparedFiles),
}

/// The inputs of evidence beside the files of a project.
#[derive(Debug, Default)]
pub struct ComparedFiles {
    /// As the user names it.
    pub folder_name: String,
    /// How many inputs the evidence names; each was looked for.
    pub input_count: usize,
    /// How many of them the project has with the same SHA-256.
    pub same_files: usize,
    /// Requirement files of the project that the run did not read.
    pub unread_files: usize,
    /// The comparison of the kernels.
    pub kernels: KernelCheck,
}

/// The comparison of the project's kernels.
#[derive(Debug)]
pub enum KernelCheck {
    /// No kernel could be compared.
    NotCompared {
        /// Why.
        reason: String,
    },
    /// What the comparison found.
    Compared(ComparedKernels),
}

impl Default for KernelCheck {
    fn default() -> Self {
        KernelCheck::NotCompared { reason: String::new() }
    }
}

/// The kernels of the project, each compiled there.
#[derive(Debug, Default)]
pub struct ComparedKernels {
    /// How many kernels the project has, without those that the evidence sets aside.
    pub kernels: usize,
    /// Of those that it sets aside: how many do not compile in the project either.
    pub set_aside: usize,
    /// Those whose includes lead to the files of the evidence.
    pub same_files: usize,
    /// Those that compile to the production module of the evidence.
    pub same_modules: usize,
    /// Who made the modules of the evidence, where that is another compiler: they were not
    /// compared.
    pub other_compiler: Option<String>,
}

/// The reports beside the evidence.
#[derive(Debug, Default)]
pub struct ReportCheck {
    /// Names in the list of reports, each compared with its hash there; none without a list.
    pub listed: Option<Vec<String>>,
    /// Names of reports that it does not hold, which were compared with nothing.
    pub unlisted: Vec<String>,
    /// Whether there is a list that cannot be read: its names are not known.
    pub unreadable: bool,
}

impl Verification {
    /// Counts a statement, and notes a problem where it does not hold.
    pub fn check(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        self.checked += 1;
        if !holds {
            self.problems.push(problem());
        }
    }

    /// The contents that a test left, by the name of the buffer, as far as evidence stores more than
    /// their hashes; what cannot be decoded is a problem.
    pub fn stored_outputs(
        &mut self,
        test: &TestId,
        result: &TestResult,
    ) -> BTreeMap<String, Vec<u8>> {
        let mut outputs = BTreeMap::new();
        for (name, output) in &result.outputs {
            let OutputBytes::Bytes(text) = output else { continue };
            match base64::engine::general_purpose::STANDARD.decode(text) {
                Ok(bytes) => drop(outputs.insert(name.clone(), bytes)),
                Err(error) => {
                    self.problems.push(format!("test {test}: buffer {name} is not base64: {error}"))
                }
            }
        }
        outputs
    }

    /// Whether nothing differs; more may be not derivable.
    pub fn holds(&self) -> bool {
        self.problems.is_empty()
    }

    /// What the verification comes to.
    pub fn status(&self) -> VerificationStatus {
        match (
            self.holds(),
            self.not_derivable.is_empty() && self.extent == DerivationExtent::Whole,
        ) {
            (false, _) => VerificationStatus::NotVerified,
            (true, true) => VerificationStatus::Verified,
            (true, false) => VerificationStatus::InPart,
        }
    }

    /// Whether the result meets the demand.
    pub fn satisfies(&self, demand: SuccessDemand) -> bool {
        match demand {
            SuccessDemand::NoDifference => self.holds(),
            SuccessDemand::Everything => self.status() == VerificationStatus::Verified,
        }
    }

    /// Notes what could not be rebuilt, and with it what is therefore not derived.
    fn leave_out(&mut self, extent: DerivationExtent, reason: &str) {
        self.extent = extent;
        self.not_derivable.push(reason.to_owned());
        self.not_derivable.append(&mut self.not_derived_from_modules);
    }
}

/// Verifies an evidence folder; the evidence comes with it where it could be read.
pub fn verify_folder<T: Toolchain>(
    path: &Path,
    options: &VerificationOptions,
    toolchain: &T,
) -> Result<(Verification, Option<Box<Evidence>>), T::Error> {
    verify_read_folder(&EvidenceFolder::read(path)?, options, toolchain)
}

/// Verifies an evidence folder that was read.
pub fn verify_read_folder<T: Toolchain>(
    folder: &EvidenceFolder,
    options: &VerificationOptions,
    toolchain: &T,
) -> Result<(Verification, Option<Box<Evidence>>), T::Error> {
    let (verification, stored, _) = verify_and_rebuild(folder, options, toolchain)?;
    Ok((verification, stored))
}

/// A verification, the evidence where it could be read, and what was rebuilt of its inputs where its
/// form allows that.
pub type RebuiltVerification<C> = (Verification, Option<Box<Evidence>>, Option<RebuildOutcome<C>>);

/// The same, with the project that was rebuilt on the way.
pub fn verify_and_rebuild<T: Toolchain>(
    folder: &EvidenceFolder,
    options: &VerificationOptions,
    toolchain: &T,
) -> Result<RebuiltVerification<T::Compiled>, T::Error> {
    let (mut verification, stored) = verify_files(folder, options)?;
    if let Some(project) = &options.project {
        verification.project = ProjectCheck::NotCompared { folder: project.display().to_string() };
    }
    let rebuild_outcome = match &stored {
        Some(stored) => verify_evidence(stored, options, toolchain, &mut verification)?,
        None => None,
    };
    Ok((verification, stored, rebuild_outcome))
}

/// Checks hashes and form of the files alone.
pub fn verify_files(
    folder: &EvidenceFolder,
    options: &VerificationOptions,
) -> Result<(Verification, Option<Box<Evidence>>), VerifyError> {
    let examined_folder = folder::examine_files(folder)?;
    let mut verification = Verification {
        problems: examined_folder.problems,
        checked: (folder.files.len() + folder.reports.len()) as u64,
        root: folder.root(),
        reports_hash: folder.list_hash(),
        reports: ReportCheck {
            listed: folder.report_list.is_some().then(|| folder.reports.keys().cloned().collect()),
            unlisted: folder.unlisted.clone(),
            unreadable: folder.has_unreadable_list(),
        },
        provenance: ProvenanceCheck::of(folder.provenance.as_ref(), &folder.root()),
        ..Verification::default()
    };
    if let Some(wanted_hash) = &options.root {
        let wanted_hash = wanted_hash.trim().trim_start_matches("sha256:").to_ascii_lowercase();
        verification.root_cover = if verification.reports_hash.as_ref() == Some(&wanted_hash) {
            RootCover::EvidenceAndReports
        } else if verification.root == wanted_hash {
            RootCover::Evidence
        } else {
            RootCover::Nothing
        };
        verification.check(verification.root_cover != RootCover::Nothing, || {
            format!("neither the manifest nor the list of reports has the SHA-256 {wanted_hash}")
        });
        verification.given_root = Some(wanted_hash);
    }
    Ok((verification, examined_folder.evidence))
}

/// Verifies what the files hold; what was rebuilt of the inputs, where the form allows that.
fn verify_evidence<T: Toolchain>(
    stored: &Evidence,
    options: &VerificationOptions,
    toolchain: &T,
    verification: &mut Verification,
) -> Result<Option<RebuildOutcome<T::Compiled>>, T::Error> {
    if let Some(problem) = form::malformed_reason(stored) {
        verification.problems.push(problem);
        return Ok(None);
    }
    if let Some(project) = &options.project {
        let compared_files = sources::compare_sources(stored, project, toolchain, verification)?;
        verification.project = ProjectCheck::Compared(compared_files);
    }
    let input_folder = options.project.as_deref().or(options.input_folder.as_deref());
    let rebuild_outcome = rebuild::rebuild_project(stored, input_folder, toolchain);
    verify_contents(stored, &rebuild_outcome, options, toolchain, verification)?;
    Ok(Some(rebuild_outcome))
}

/// Compares the evidence with what follows from the rebuilt project.
pub fn verify_contents<T: Toolchain>(
    stored: &Evidence,
    rebuild_outcome: &RebuildOutcome<T::Compiled>,
    options: &VerificationOptions,
    toolchain: &T,
    verification: &mut Verification,
) -> Result<(), T::Error> {
    first_format::check_first_format(stored, verification);
    consistency::check_always(stored, verification);
    records::check_bounds(stored, verification);
    match rebuild_outcome {
        RebuildOutcome::Whole(rebuild_outcome) => {
            toolchain.derive(stored, rebuild_outcome, options.replay, verification)?
        }
        RebuildOutcome::ProjectAlone(project, reason) => {
            verification.leave_out(DerivationExtent::WithoutModules, reason);
            project_derivation::compare_project(stored, project, verification)?;
            consistency::check_definitions(stored, verification);
            consistency::check_records(stored, verification);
            refuse_replay(options, verification);
        }
        RebuildOutcome::WithoutInputs(reason) => {
            verification.leave_out(DerivationExtent::WithoutInputs, reason);
            consistency::check_definitions(stored, verification);
            consistency::check_records(stored, verification);
            refuse_replay(options, verification);
        }
        RebuildOutcome::Contradicting(problem) => verification.problems.push(problem.clone()),
    }
    Ok(())
}

fn refuse_replay(options: &VerificationOptions, verification: &mut Verification) {
    match options.replay {
        Replay::No => {}
        Replay::Sequential => {
            verification.problems.push("the tests cannot be replayed (see above)".to_owned())
        }
    }
}

/// Whether reports of the evidence can be made at all; the reason where not.
pub fn why_unreadable(stored: &Evidence) -> Option<String> {
    form::malformed_reason(stored)
}

#[cfg(test)]
mod tests {
    use super::{
        DerivationExtent, NoToolchain, ProjectCheck, RootCover, SuccessDemand, Verification,
        VerificationOptions, VerificationStatus, VerifyError, verify_files, verify_folder,
        why_unreadable,
    };
    use crate::honest::{
        PROJECT_FILES, folder_of, honest, list_files, result_of, stored_folder, write_project,
    };
    use std::path::Path;
    use vkcert_model::evidence::{Evidence, OutputBytes};
    use vkcert_model::verdict::EngineName;

    fn write_folder(evidence: &Evidence, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        for (name, bytes) in &folder_of(evidence).files {
            std::fs::write(folder.join(name), bytes).unwrap();
        }
    }

    fn verified(evidence: &Evidence, options: &VerificationOptions) -> Verification {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("evidence");
        write_folder(evidence, &path);
        verify_folder(&path, options, &NoToolchain).unwrap().0
    }

    #[test]
    fn a_folder_is_verified_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("evidence");
        write_folder(&honest(), &path);
        let options = VerificationOptions::default();
        let (verification, evidence) = verify_folder(&path, &options, &NoToolchain).unwrap();
        assert_eq!(verification.problems, Vec::<String>::new());
        assert_eq!(evidence.as_deref(), Some(&honest()));
        assert_eq!(verification.root, folder_of(&honest()).root());
        assert_eq!(verification.status(), VerificationStatus::InPart);
        assert!(matches!(verification.project, ProjectCheck::NotGiven));
        let nowhere = verify_folder(&folder.path().join("none"), &options, &NoToolchain);
        assert!(matches!(nowhere, Err(VerifyError::Input(_))));
        // Files that cannot be read as evidence leave nothing to derive from.
        std::fs::write(path.join("campaign.json"), "{").unwrap();
        let (verification, evidence) = verify_folder(&path, &options, &NoToolchain).unwrap();
        assert!(evidence.is_none() && verification.problems.len() == 2);
    }

    #[test]
    fn what_is_malformed_is_not_derived_from() {
        let mut malformed = honest();
        malformed.kernels[0].layout.bits = 0;
        list_files(&mut malformed);
        let told = "guard on sequential: \
                    the layout of its records does not follow from its structure";
        assert_eq!(why_unreadable(&malformed).as_deref(), Some(told));
        assert_eq!(why_unreadable(&honest()), None);
        let verification = verified(&malformed, &VerificationOptions::default());
        assert_eq!(verification.problems, [told]);
    }

    #[test]
    fn each_file_and_each_report_is_a_statement() {
        let mut folder = folder_of(&honest());
        let (alone, _) = verify_files(&folder, &VerificationOptions::default()).unwrap();
        assert_eq!((alone.checked, alone.reports.listed), (5, None));
        for name in ["a.html", "b.html"] {
            folder.reports.insert(name.to_owned(), Vec::new());
        }
        folder.report_list = Some(b"{".to_vec());
        folder.unlisted.push("c.html".to_owned());
        let (beside, _) = verify_files(&folder, &VerificationOptions::default()).unwrap();
        assert_eq!(beside.checked, 7);
        assert_eq!(beside.reports_hash, folder.list_hash());
        assert_eq!(beside.reports.listed.unwrap(), ["a.html", "b.html"]);
        assert_eq!(beside.reports.unlisted, ["c.html"]);
        assert!(beside.reports.unreadable && !alone.reports.unreadable);
        assert_eq!(beside.problems, ["reports.json is not a list of reports"]);
    }

    #[test]
    fn a_given_root_is_that_of_the_manifest_or_of_the_list() {
        let mut folder = folder_of(&honest());
        folder.report_list = Some(b"{".to_vec());
        let none = "0".repeat(64);
        for (root, cover) in [
            (None, RootCover::NotGiven),
            (Some(folder.root()), RootCover::Evidence),
            (Some(format!(" sha256:{}\n", folder.root().to_uppercase())), RootCover::Evidence),
            (folder.list_hash(), RootCover::EvidenceAndReports),
            (Some(none.clone()), RootCover::Nothing),
        ] {
            let options = VerificationOptions { root, ..VerificationOptions::default() };
            let (verification, _) = verify_files(&folder, &options).unwrap();
            assert_eq!(verification.root_cover, cover, "{:?}", options.root);
            assert_eq!(verification.given_root.is_some(), options.root.is_some());
            let told =
                format!("neither the manifest nor the list of reports has the SHA-256 {none}");
            assert_eq!(verification.problems.contains(&told), cover == RootCover::Nothing);
        }
        folder.report_list = None;
        let options = VerificationOptions { root: Some(none), ..VerificationOptions::default() };
        let (verification, _) = verify_files(&folder, &options).unwrap();
        assert_eq!(verification.root_cover, RootCover::Nothing);
    }

    #[test]
    fn evidence_is_compared_with_the_project_that_is_given() {
        let project = tempfile::tempdir().unwrap();
        write_project(project.path());
        let options = VerificationOptions {
            project: Some(project.path().to_owned()),
            ..VerificationOptions::default()
        };
        let verification = verified(&honest(), &options);
        let ProjectCheck::Compared(compared) = &verification.project else {
            panic!("{:?}", verification.project)
        };
        assert_eq!((compared.same_files, verification.problems.len()), (PROJECT_FILES.len(), 0));
        let mut malformed = honest();
        malformed.kernels[0].layout.bits = 0;
        let verification = verified(&malformed, &options);
        let ProjectCheck::NotCompared { folder } = verification.project else {
            panic!("{:?}", verification.project)
        };
        assert_eq!(folder, project.path().display().to_string());
    }

    #[test]
    fn older_evidence_verifies_in_part() {
        for format in ["format_1", "format_2"] {
            let path = stored_folder(format);
            let options = VerificationOptions::default();
            let (verification, _) = verify_folder(&path, &options, &NoToolchain).unwrap();
            assert_eq!(verification.problems, Vec::<String>::new(), "{format}");
            assert_eq!(verification.status(), VerificationStatus::InPart, "{format}");
        }
    }

    #[test]
    fn what_holds_and_what_was_derived_make_the_status() {
        use DerivationExtent::{Whole, WithoutInputs, WithoutModules};
        use VerificationStatus::{InPart, NotVerified, Verified};
        let told = |is_there: bool| Vec::from_iter(is_there.then(|| "a sentence".to_owned()));
        for (has_problem, lacks_something, extent, status) in [
            (false, false, Whole, Verified),
            (false, true, Whole, InPart),
            (false, false, WithoutModules, InPart),
            (false, true, WithoutInputs, InPart),
            (true, false, Whole, NotVerified),
            (true, true, WithoutInputs, NotVerified),
        ] {
            let verification = Verification {
                problems: told(has_problem),
                not_derivable: told(lacks_something),
                extent,
                ..Verification::default()
            };
            assert_eq!(verification.status(), status);
            assert_eq!(verification.holds(), !has_problem);
            assert_eq!(verification.satisfies(SuccessDemand::NoDifference), !has_problem);
            assert_eq!(verification.satisfies(SuccessDemand::Everything), status == Verified);
        }
    }

    #[test]
    fn each_check_is_counted_and_told_where_it_does_not_hold() {
        let mut verification = Verification::default();
        verification.check(true, || unreachable!("it holds"));
        verification.check(false, || "a sentence".to_owned());
        verification.check(true, || unreachable!("it holds"));
        assert_eq!(verification.checked, 3);
        assert_eq!(verification.problems, ["a sentence"]);
    }

    #[test]
    fn stored_contents_are_decoded() {
        let mut evidence = honest();
        let result = result_of(&mut evidence, 0, EngineName::Sequential);
        let hash = OutputBytes::Hash { sha256: "sha256:0".to_owned(), bytes: 9 };
        result.outputs.insert("large".to_owned(), hash);
        result.outputs.insert("other".to_owned(), OutputBytes::Bytes("*".to_owned()));
        let result = result.clone();
        let mut verification = Verification::default();
        let outputs = verification.stored_outputs(&"T1".into(), &result);
        assert_eq!(outputs.keys().collect::<Vec<_>>(), ["i", "o"]);
        let values = [9_u32, 6, 7, 9].map(u32::to_le_bytes);
        assert_eq!(outputs["o"], values.concat());
        let told = "test T1: buffer other is not base64: Invalid symbol 42, offset 0.";
        assert_eq!(verification.problems, [told]);
    }
}

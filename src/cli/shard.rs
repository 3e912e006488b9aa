//! `certify --shard K/N` and `merge`: a campaign in parts, and all of them together.
//!
//! Promises: what is merged is what one run would have written, byte for byte; parts that do not
//! belong together, or are not whole, are refused, and nothing is written.
//! Does not cover: who runs the parts.

use super::args::{Certify, Common, Merge, OutputForm, Recording, ScheduleOptions};
use super::cache;
use super::certify::{
    FileOrigin, RESULT_SECTION, exit_of_conclusion, printed_result, wanted_reports, write_results,
};
use super::failure::Failure;
use super::output::{self, PendingFolder};
use super::provenance::{ProgramHashing, RunStart};
use crate::campaign::merging::{StoredShard, derive_merged, unite_facts};
use crate::campaign::verification::Compiling;
use crate::derivation::files::PROVENANCE;
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::Evidence;
use crate::model::exit::Exit;
use crate::model::id::TestId;
use crate::model::path::display_path;
use crate::model::procedure::{Language, Test};
use crate::model::provenance::{
    CouplingReuse, KernelReuse, ProjectCommit, Provenance, ReusedRuns, RunReuse,
};
use crate::model::shard::{SHARD_SCHEMA, Shard, ShardFile};
use crate::model::verdict::Verdict;
use crate::model::wording::plural;
use crate::report::Written;
use crate::requirement::{Located, Project, trace};
use crate::verify::{
    EvidenceFolder, RebuildOutcome, VerificationOptions, rebuild_project, verify_files,
};
use clap::ValueEnum;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use vkcert_cache::{CacheKey, RunCache};

/// The file that tells which part of a campaign a run was.
pub(super) const SHARD: &str = "shard.json";

/// Most bytes of it.
const MOST_BYTES: u64 = 16 << 20;

/// A run that is a part of a campaign.
pub(super) struct PendingShard {
    shard: Shard,
    /// Tests that are left out of all parts.
    left_out: Vec<TestId>,
}

impl PendingShard {
    /// Leaves out the tests of the other parts.
    pub(super) fn begin(shard: Shard, project: &mut Project) -> Self {
        let left_out = project.left_out.iter().map(|test| test.id).collect();
        let is_elsewhere = |test: &mut Located<Test>| !shard.has(hash_of_kernel(test));
        project.left_out.extend(project.tests.extract_if(.., is_elsewhere));
        Self { shard, left_out }
    }

    /// What `shard.json` says of the run.
    pub(super) fn file(
        self,
        (common, certify): (&Common, &Certify),
        (evidence, start): (&Evidence, &RunStart),
    ) -> Result<ShardFile, Failure> {
        Ok(ShardFile {
            schema: SHARD_SCHEMA,
            shard: self.shard,
            root: evidence.root().map_err(|error| Failure::tool(error.to_string()))?,
            program: start.program().map(str::to_owned),
            left_out: self.left_out,
            options: options_of_results(common, certify),
        })
    }
}

/// Of the name of a test's first kernel.
fn hash_of_kernel(test: &Test) -> u64 {
    let kernels = trace::kernels_of(test);
    let first_kernel = kernels.iter().map(|name| name.as_str()).min().unwrap_or_default();
    CacheKey::of_bytes(first_kernel.as_bytes()).low_bits()
}

/// Options that results depend on, where they are given.
fn options_of_results(common: &Common, certify: &Certify) -> BTreeMap<String, String> {
    let ScheduleOptions { schedules, seed, replay } = certify.schedules;
    let Recording { record_mode, witness } = certify.recording;
    let word = |value: Option<clap::builder::PossibleValue>| Some(value?.get_name().to_owned());
    let text = |value: Option<&dyn std::fmt::Display>| value.map(|value| value.to_string());
    let options = [
        ("--engine", common.engine.and_then(|engine| word(engine.to_possible_value()))),
        ("--device", common.device.clone()),
        ("--timeout", text(common.timeout.as_ref().map(|value| value as _))),
        ("--max-steps", text(common.max_steps.as_ref().map(|value| value as _))),
        ("--check", Some(certify.check.clone())),
        ("--repeat", text(certify.repetition.repeat.as_ref().map(|value| value as _))),
        ("--schedules", text(schedules.as_ref().map(|value| value as _))),
        ("--seed", text(seed.as_ref().map(|value| value as _))),
        ("--replay", text(replay.as_ref().map(|value| value as _))),
        ("--record-mode", word(record_mode.to_possible_value())),
        ("--witness", Some(witness.to_string())),
        ("--keep-going", certify.keep_going.then(|| "given".to_owned())),
    ];
    options.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Exit 1 where a test of the part is no pass, and where kernels were set aside.
pub(super) fn exit_of_shard(evidence: &Evidence) -> Exit {
    let results = evidence.campaign.tests.iter().flat_map(|test| &test.results);
    let has_all_kernels = evidence.campaign.set_aside.is_empty();
    match has_all_kernels && results.into_iter().all(|result| result.verdict == Verdict::Pass) {
        true => Exit::Success,
        false => Exit::Failed,
    }
}

/// What is printed of a part.
pub(super) fn printed_shard(
    common: &Common,
    shard: Shard,
    (evidence, written): (&Evidence, &Written),
    project: &Path,
) -> Result<String, Failure> {
    if common.form() == OutputForm::Json || common.line_form().is_some() {
        return printed_result(common, (evidence, written), None, (project, None));
    }
    let tests = &evidence.campaign.tests;
    let results = || tests.iter().flat_map(|test| &test.results);
    let passed = results().filter(|result| result.verdict == Verdict::Pass).count();
    let Shard { number, of } = shard;
    let set_aside = evidence.campaign.set_aside_in_words();
    let set_aside = set_aside.map(|words| format!("  {words}\n")).unwrap_or_default();
    Ok(format!(
        "  Shard {number} of {of}: {}, {passed} of {} passed\n{set_aside}  Files  {}\n  `vkcert merge` tells what all shards come to\n",
        plural(tests.len(), "test", "tests"),
        plural(results().count(), "run", "runs"),
        written.files.join("  ")
    ))
}

/// `vkcert merge`.
pub(super) fn merge_shards(
    common: &Common,
    merge: &Merge,
    toolchain: &Compiling,
) -> Result<Exit, Failure> {
    let reports = wanted_reports(&merge.reports, None)?;
    let Some(out) = &merge.out else {
        return Err(Diagnostic::new("usage", "shards are merged into a folder: --out DIR").into());
    };
    let program = ProgramHashing::begin();
    let shards: Vec<ReadShard> =
        merge.shards.iter().map(|folder| read_shard(folder)).collect::<Result<_, _>>()?;
    refuse_overwriting(&merge.shards, out)?;
    let start = RunStart::of_project(common_commit(&shards), program);
    let reused = shards
        .iter()
        .map(|shard| ReusedRuns {
            count: shard.results,
            origin: shard.provenance.as_ref().and_then(Provenance::origin),
        })
        .collect();
    let united = unite_facts(shards.into_iter().map(|shard| shard.stored).collect())?;
    let cache = cache::open_cache(&merge.cache, &start)?;
    let toolchain = &Compiling { cache: cache.clone(), ..toolchain.clone() };
    let rebuilt = match rebuild_project(&united.evidence, merge.project.as_deref(), toolchain) {
        RebuildOutcome::Whole(rebuilt) => rebuilt,
        RebuildOutcome::ProjectAlone(_, reason)
        | RebuildOutcome::WithoutInputs(reason)
        | RebuildOutcome::Contradicting(reason) => {
            let message = format!("the project of the shards cannot be made again: {reason}");
            return Err(Diagnostic::new("bad-shard", message).into());
        }
    };
    cache.as_deref().map_or(Ok(()), cache::refuse_differing)?;
    let folder = PendingFolder::start(out, RESULT_SECTION)?;
    let evidence = derive_merged(united, &rebuilt, &folder)?;
    cache.as_deref().map_or(Ok(()), cache::refuse_differing)?;
    let of_cache = cache.as_deref().map(RunCache::reuse);
    let made_all = || made_all(rebuilt.project(), &evidence);
    let reuse = RunReuse { reused, ..of_cache.unwrap_or_else(made_all) };
    folder.begin_lasting();
    cache.iter().for_each(|cache| cache::shrink_cache(cache));
    drop(rebuilt);
    let origin = FileOrigin { start, reuse: Some(reuse), shard_file: None };
    let results = write_results(&evidence, &reports, origin, folder, out)?;
    let project = merge.project.as_deref().unwrap_or(Path::new("."));
    let placed = results.place_beside(|written| {
        printed_result(common, (&evidence, written), None, (project, Some(out)))
    })?;
    output::print_text(&placed.printed)?;
    Ok(exit_of_conclusion(&evidence))
}

/// What there is to tell where all kernels were compiled and their coupling was analysed.
fn made_all(project: &Project, evidence: &Evidence) -> RunReuse {
    let kernels = project.settings.kernels.iter();
    let compiled = kernels.filter(|kernel| kernel.language == Language::Glsl).count() as u64;
    let analysed = evidence.campaign.coupling.len() as u64;
    RunReuse {
        kernels: KernelReuse { compiled, ..KernelReuse::default() },
        coupling: CouplingReuse { analysed, ..CouplingReuse::default() },
        ..RunReuse::default()
    }
}

/// What is merged is written into no folder that it is merged from.
fn refuse_overwriting(shards: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let Ok(out) = out.canonicalize() else { return Ok(()) };
    let is_in_out = |shard: &&PathBuf| shard.canonicalize().is_ok_and(|shard| shard == out);
    match shards.iter().find(is_in_out) {
        None => Ok(()),
        Some(shard) => {
            let diagnostic = Diagnostic::new("usage", "--out is the folder of a shard");
            Err(diagnostic.in_file(display_path(shard)).into())
        }
    }
}

/// The commit of the project that all shards tell.
fn common_commit(shards: &[ReadShard]) -> ProjectCommit {
    let mut commits =
        shards.iter().map(|shard| shard.provenance.as_ref().map(|told| &told.project));
    let unknown = |reason: &str| ProjectCommit::unknown(reason.to_owned());
    let Some(Some(first)) = commits.next() else { return unknown("the first shard tells none") };
    match commits.all(|commit| commit == Some(first)) {
        true => first.clone(),
        false => unknown("the shards tell different ones"),
    }
}

/// A shard with where it was made.
struct ReadShard {
    stored: StoredShard,
    /// Results of tests on engines.
    results: u64,
    /// None: there is no `provenance.json`, or it has another form.
    provenance: Option<Provenance>,
}

fn read_shard(folder: &Path) -> Result<ReadShard, Failure> {
    let name = display_path(folder);
    let refused = |message: String| -> Failure {
        Diagnostic::new("bad-shard", message).in_file(display_path(&folder.join(SHARD))).into()
    };
    let file = read_shard_file(&folder.join(SHARD)).map_err(refused)?;
    let evidence_folder = EvidenceFolder::read(&folder.join("evidence"))?;
    let (verification, stored) = verify_files(&evidence_folder, &VerificationOptions::default())?;
    if let Some(problem) = verification.problems.first() {
        return Err(refused(format!("its evidence is not as it was written: {problem}")));
    }
    if file.root != evidence_folder.root() {
        return Err(refused("it is of other evidence than that beside it".to_owned()));
    }
    let evidence = *stored.ok_or_else(|| refused("it holds no campaign".to_owned()))?;
    let results = evidence.campaign.tests.iter().map(|test| test.results.len() as u64).sum();
    let provenance = fs::read(folder.join(PROVENANCE)).ok();
    let provenance = provenance.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let provenance = provenance.filter(|told: &Provenance| told.fault().is_none());
    Ok(ReadShard { stored: StoredShard { name, file, evidence }, results, provenance })
}

fn read_shard_file(path: &Path) -> Result<ShardFile, String> {
    let metadata = fs::metadata(path).map_err(|error| {
        format!("this is no shard: {error}; `vkcert certify --shard K/N` writes one")
    })?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err("this is no file of a shard".to_owned());
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let file: ShardFile = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let is_one = file.shard.to_string().parse() == Ok(file.shard);
    match file.schema == SHARD_SCHEMA && is_one {
        true => Ok(file),
        false => Err("its form is not of this version".to_owned()),
    }
}

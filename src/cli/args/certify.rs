//! Options of `vkcert certify` and `vkcert merge`: what runs, how often, in which order, and what is written of it.
//!
//! Promises: what a word cannot mean is a diagnostic of the command line. Does not cover: what the options come to
//! (`cli::certify`, `cli::plan`).

use super::super::failure::Failure;
use super::MutantOptions;
use crate::campaign::early_end::{OnFailure, RunLimits, TimeLimit};
use crate::campaign::mutation::MutationRequest;
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::{JudgingEngines, JudgingTests};
use crate::model::project::MOST_REPETITIONS;
use crate::model::records::{RecordMode, Witnesses};
use crate::model::schedule::{MOST_SCHEDULES, Schedule, Schedules};
use crate::model::shard::Shard;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Certify {
    /// Folder of the project
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Folder for reports and evidence [default: reports in the project]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub reports: ReportOptions,
    /// Folder of stored runs of the same project, for a chapter on their trend (PDF and HTML)
    #[arg(long, value_name = "DIR")]
    pub history: Option<PathBuf>,
    /// Evidence of an earlier run of the same project, a folder or an archive: what has changed is
    /// told and written to baseline.json
    #[arg(long, value_name = "EVIDENCE")]
    pub baseline: Option<PathBuf>,
    /// File for what the run does, a JSON object per line as it does it (see `vkcert schema event`)
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// What exit code 1 is for: all that counts against the result, or what is worse than in the
    /// baseline alone
    #[arg(long, value_enum, default_value_t = FailOn::Conclusion)]
    pub fail_on: FailOn,
    /// Findings to look for: all, none, or a comma-separated list of kinds
    #[arg(long, value_name = "KINDS", default_value = "all")]
    pub check: String,
    /// Leave tests out, by id (for trying what a test contributes; shown in the evidence)
    #[arg(long, value_name = "TEST", value_delimiter = ',')]
    pub without: Vec<String>,
    /// Run these tests alone, by id (shown in the evidence: the others are left out)
    #[arg(long, value_name = "TEST", value_delimiter = ',', conflicts_with = "without")]
    pub only: Vec<String>,
    /// Folder for the actual outputs of every test, as .npy files (images as .png files too, where
    /// these can hold them)
    #[arg(long, value_name = "DIR")]
    pub save_outputs: Option<PathBuf>,
    /// Run one of N parts of the tests, the K-th; `vkcert merge` puts the parts together
    #[arg(long, value_name = "K/N", conflicts_with_all = ["baseline", "history", "only"])]
    pub shard: Option<Shard>,
    /// Certify the other kernels where some do not compile: these are set aside, with the tests that
    /// name them, and count against the result
    #[arg(long)]
    pub keep_going: bool,
    #[command(flatten)]
    pub ending: EndingOptions,
    #[command(flatten)]
    pub cache: CacheOptions,
    #[command(flatten)]
    pub recording: Recording,
    #[command(flatten)]
    pub repetition: Repetition,
    #[command(flatten)]
    pub schedules: ScheduleOptions,
    /// Put small faults into the kernels, judge each by all tests, and report which of them these
    /// would notice (on the sequential engine)
    #[arg(long, conflicts_with = "shard", help_heading = "Mutants")]
    pub mutation: bool,
    /// With `--mutation`: let the device judge each mutant beside the sequential engine, of whose verdicts the
    /// score is
    #[arg(long, requires = "mutation", help_heading = "Mutants")]
    pub mutants_on_device: bool,
    #[command(flatten)]
    pub mutants: MutantOptions,
}

impl Certify {
    /// The schedules that are asked for. A seed may be that of a sample of mutants.
    pub(in crate::cli) fn schedules_over(
        &self,
        project: Schedules,
    ) -> Result<(Schedules, Option<Schedule>), Failure> {
        let mut schedules = self.schedules;
        if self.mutants.sample.is_some() {
            schedules.schedules.get_or_insert(project.count);
        }
        schedules.over(project)
    }

    /// What is asked of mutation testing; none where it is not asked for.
    pub(in crate::cli) fn mutation_request(&self) -> Result<Option<MutationRequest>, Failure> {
        match (self.mutation, self.mutants.first_given()) {
            (true, _) => {
                let mut extent = self.mutants.extent(JudgingTests::All, self.schedules.seed)?;
                extent.engines = match self.mutants_on_device {
                    true => JudgingEngines::Both,
                    false => JudgingEngines::Sequential,
                };
                Ok(Some(MutationRequest { extent, ..MutationRequest::default() }))
            }
            (false, Some(option)) => {
                let message = format!("{option} goes with --mutation, which is not asked for");
                Err(Diagnostic::new("usage", message).into())
            }
            (false, None) => Ok(None),
        }
    }
}

/// What ends a run before all tests have begun; those that have begun go on, results are written.
#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct EndingOptions {
    /// Begin no further test after the first one that does not pass; those that are left are
    /// `not-run` and count against the result
    #[arg(long)]
    pub fail_fast: bool,
    /// Seconds after which no further test begins; those that are left are `not-run` and count
    /// against the result
    #[arg(long, value_name = "SECONDS", value_parser = run_seconds)]
    pub time_limit: Option<f64>,
    /// Bytes of memory of the process and of its children at which no further test begins; those
    /// that are left are `not-run` and count against the result
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub memory_limit: Option<u64>,
}

impl EndingOptions {
    /// For a run that begins now.
    pub(in crate::cli) fn limits(self) -> RunLimits {
        let start = Instant::now();
        RunLimits {
            on_failure: if self.fail_fast { OnFailure::End } else { OnFailure::GoOn },
            time: self.time_limit.map(|seconds| TimeLimit { seconds, start }),
            memory_bytes: self.memory_limit,
        }
    }
}

/// Most seconds that a run can be given: a year.
const MOST_RUN_SECONDS: f64 = 31_536_000.0;

fn run_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= MOST_RUN_SECONDS => Ok(value),
        Ok(_) => Err(format!("must be above 0 and at most {MOST_RUN_SECONDS}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Which reports are written.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ReportOptions {
    /// Reports to write, by name (see `vkcert list formats`) [default: json,html,pdf]
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub report: Vec<String>,
    /// Kernels above which the HTML report is an index and, in `report-kernels`, a page for each
    /// kernel; 0 for always [default: 1000]
    #[arg(long, value_name = "N")]
    pub html_split_above: Option<usize>,
    /// Pages of kernels above which the PDF report is several volumes of about so many pages at
    /// most, those behind the first in `report-volumes` [default: 1000]
    #[arg(long, value_name = "PAGES", value_parser = clap::value_parser!(u64).range(1..))]
    pub pdf_volume_pages: Option<u64>,
}

/// Put the shards of a campaign together, as if it had been one run, or campaigns side by side
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Merge {
    /// Output folder of each shard (`vkcert certify --shard K/N --out DIR`), or of each campaign
    #[arg(required = true, value_name = "DIR")]
    pub shards: Vec<PathBuf>,
    /// Show campaigns of one project on several devices, drivers or engines side by side; what they
    /// show is not united
    #[arg(long, conflicts_with_all = ["project", "report", "html_split_above", "cache", "no_cache"])]
    pub campaigns: bool,
    /// Folder for reports and evidence, or for campaigns.json and campaigns.html
    #[arg(long, value_name = "DIR", required_unless_present = "campaigns")]
    pub out: Option<PathBuf>,
    /// Folder of the project, for input files that are too large to be stored in evidence
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    #[command(flatten)]
    pub cache: CacheOptions,
    #[command(flatten)]
    pub reports: ReportOptions,
}

/// Where results of runs, compiled kernels and their coupling are kept and found.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CacheOptions {
    /// Folder in which results of runs, compiled kernels and their coupling are kept and found; `verify` makes one in
    /// ten of those found again and compares [default: VKCERT_CACHE, or vkcert/runs in the user's
    /// cache folder]
    #[arg(long, value_name = "DIR|verify", conflicts_with = "no_cache", value_parser = clap::builder::OsStringValueParser::new())]
    pub cache: Vec<OsString>,
    /// Compile and run everything, and keep nothing
    #[arg(long)]
    pub no_cache: bool,
}

/// What a run fails for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum FailOn {
    Conclusion,
    Regression,
}

/// How often tests run.
#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct Repetition {
    /// Runs of each test that must leave the same bytes [default: 3 on vulkan, 1 on sequential]
    #[arg(long, value_name = "N", value_parser = repeat)]
    pub repeat: Option<NonZeroU32>,
}

fn repeat(text: &str) -> Result<NonZeroU32, String> {
    match text.parse::<NonZeroU32>() {
        Ok(value) if value.get() <= MOST_REPETITIONS => Ok(value),
        Ok(_) | Err(_) => Err(format!("must be a whole number from 1 to {MOST_REPETITIONS}")),
    }
}

/// Orders of workgroups, and on the sequential engine of their invocations, that tests run in.
#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct ScheduleOptions {
    /// Other orders of its workgroups and invocations that each test runs in; what differs is a
    /// finding [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MOST_SCHEDULES)))]
    pub schedules: Option<u32>,
    /// Seed of the random ones among them [default: 0], and of a sample of mutants [default: 1]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Run in this schedule in place of the ordinary one (docs/schedules.md), such as
    /// `reversed+tiles:1`
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = ["schedules", "seed"])]
    pub replay: Option<Schedule>,
}

impl ScheduleOptions {
    /// What is typed, over what the project has; a schedule that is replayed is the only one.
    pub(in crate::cli) fn over(
        self,
        project: Schedules,
    ) -> Result<(Schedules, Option<Schedule>), Failure> {
        if self.seed.is_some() && self.schedules.is_none() && project.count == 0 {
            let diagnostic = Diagnostic::new(
                "usage",
                "--seed goes with --schedules, and no schedule is asked for",
            );
            let hint = "for example --schedules 8; with --mutation also --sample 500";
            return Err(diagnostic.hint(hint).into());
        }
        let (asked, seed) =
            (self.schedules.unwrap_or(project.count), self.seed.unwrap_or(project.seed));
        let count = if self.replay.is_some() { 0 } else { asked };
        Ok((Schedules { count, seed }, self.replay))
    }
}

/// How coverage is recorded on a device.
#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct Recording {
    /// How bits reach the record buffer on a device
    #[arg(long, value_enum, default_value_t = RecordModeChoice::Auto, value_name = "MODE")]
    pub record_mode: RecordModeChoice,
    /// Record on a device, too, the lowest invocation that showed each vector
    #[arg(long)]
    pub witness: bool,
}

impl Recording {
    pub(in crate::cli) fn witnesses(self) -> Witnesses {
        if self.witness { Witnesses::Recorded } else { Witnesses::Omitted }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum RecordModeChoice {
    /// The mode that fits kernel and device
    Auto,
    /// Private words, handed over once when an invocation ends
    Private,
    /// As private, tested in workgroup memory first
    Workgroup,
    /// As private, united per subgroup first
    Subgroup,
    /// Each bit tested in the buffer at once
    Direct,
    /// One slot per invocation, without atomics
    Slots,
}

impl RecordModeChoice {
    /// None: the mode that fits kernel and device.
    pub(in crate::cli) fn mode(self) -> Option<RecordMode> {
        match self {
            RecordModeChoice::Auto => None,
            RecordModeChoice::Private => Some(RecordMode::Private),
            RecordModeChoice::Workgroup => Some(RecordMode::Workgroup),
            RecordModeChoice::Subgroup => Some(RecordMode::Subgroup),
            RecordModeChoice::Direct => Some(RecordMode::Direct),
            RecordModeChoice::Slots => Some(RecordMode::Slots),
        }
    }
}

//! The command line as typed.

mod certify;
mod mutation;

use crate::model::coverage::Status;
use crate::model::shard::MOST_SHARDS;
pub(super) use certify::{
    CacheOptions, Certify, FailOn, Merge, RecordModeChoice, Recording, Repetition, ReportOptions,
    ScheduleOptions,
};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub(super) use mutation::{MutantOptions, Mutate};
use std::ffi::OsString;
use std::path::PathBuf;
pub(super) use vkcert_verifier::args::{Color, Common, EngineArgument, OutputForm, Report, Verify};

/// Certification toolkit for Vulkan/GLSL compute kernels: requirement-based tests, MC/DC, coupling,
/// evidence.
#[derive(Debug, Parser)]
#[command(name = "vkcert", version, max_term_width = 100, arg_required_else_help = true)]
pub(super) struct CommandLine {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Clone, Subcommand)]
pub(super) enum Command {
    /// Check, compile, run and measure a whole project; write evidence and reports
    Certify(Box<Certify>),
    /// Write the production modules of a project to spirv/
    Build(ProjectFolder),
    /// Run one test-procedure file (TOML or JSON) outside any project
    Run(Run),
    /// List what a project holds or what this program knows
    List(List),
    /// Show the links between requirements, or pin them to the present contents of the parents
    Requirements(Requirements),
    /// MC/DC of one Boolean expression
    Mcdc(Mcdc),
    /// Print the single-thread-equivalent sequential form of a kernel
    Lower(Lower),
    /// Build kernels as C++ programs with clang and compare outputs and MC/DC with the engines'
    Dissimilar(Dissimilar),
    /// Check the coupling of host and kernels alone
    Couple(Couple),
    /// Put small faults into the kernels, and see whether the tests notice
    Mutate(Mutate),
    /// Record what a host program does with Vulkan, and check it
    Capture(Capture),
    /// Render stored evidence again; no compiler, no GPU
    Report(Report),
    /// Re-derive every verdict and percentage of stored evidence, and check all hashes
    Verify(Verify),
    /// Put evidence, reports, sources and modules into one file, to be verified later
    Archive(Archive),
    /// Put the shards of a campaign together, as if it had been one run, or campaigns side by side
    Merge(Merge),
    /// Print a script that runs a campaign on a farm of machines
    Pipeline(Pipeline),
    /// Look at the results that earlier runs have kept, or remove some
    Cache(CacheCommand),
    /// Start a new project
    Init(Init),
    /// Measure what recording costs on a device, with built-in kernels
    BenchOverhead(BenchOverhead),
    /// Say what is installed and usable here, and how to install what is missing
    Doctor,
    /// Print the JSON Schema of a file format
    Schema(Schema),
    /// Print shell completions
    Completions(Completions),
    /// Print the manual page, or write a page per command into a folder
    Manual(Manual),
    /// The process that owns the device (started by this program itself)
    #[command(name = "__vulkan-worker", hide = true)]
    VulkanWorker,
    /// The process that a header is read in (started by this program itself)
    #[command(name = "__read-header", hide = true)]
    HeaderReader,
}

#[derive(Debug, Clone, Args)]
pub(super) struct ProjectFolder {
    /// Folder of the project
    #[arg(default_value = ".")]
    pub dir: PathBuf,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Archive {
    /// Evidence folder of an earlier run
    pub evidence: PathBuf,
    /// File to write, as a rule with the ending .tar.zst
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The project, for inputs that are too large to be stored in evidence
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Archive evidence that does not verify, too
    #[arg(long)]
    pub unverified: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Requirements {
    /// Folder of the project
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Write the hash of the parent into every link that has none
    #[arg(long)]
    pub pin: bool,
    /// Pin suspect links anew, too: after their children were reviewed
    #[arg(long, requires = "pin")]
    pub suspect: bool,
    /// Print all requirements as a table (CSV)
    #[arg(long, conflicts_with_all = ["pin", "suspect", "import"])]
    pub csv: bool,
    /// Bring a changed table back into the project's files
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pin", "suspect"])]
    pub import: Option<PathBuf>,
    /// Only tell what an import would change
    #[arg(long, requires = "import")]
    pub dry_run: bool,
}

/// Print a script that runs a campaign on a farm of machines
#[derive(Debug, Clone, Args)]
pub(super) struct Pipeline {
    #[command(subcommand)]
    pub form: PipelineForm,
}

#[derive(Debug, Clone, Subcommand)]
pub(super) enum PipelineForm {
    /// A shell script that submits an array of shards and their merge with sbatch
    Slurm(Slurm),
}

#[derive(Debug, Clone, Args)]
pub(super) struct Slurm {
    /// Folder of the project, on a file system that all nodes share
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Into how many parts the tests go
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SHARDS)))]
    pub shards: u32,
    /// Folder for the shards, their logs and cache, and what is merged of them; shared, too
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Devices of a shard, as `--gres` of sbatch has them: `gpu:1`
    #[arg(long, value_name = "LIST", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub gres: Option<String>,
    /// Processors of a shard
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub cpus: u32,
    /// One more option of sbatch for the shards, such as `--sbatch=--partition=gpu`
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub sbatch: Vec<String>,
    /// Options of `vkcert certify`
    #[arg(last = true, value_name = "OPTION")]
    pub certify: Vec<String>,
}

/// Look at the results that earlier runs have kept, or remove some
#[derive(Debug, Clone, Args)]
pub(super) struct CacheCommand {
    #[command(subcommand)]
    pub action: CacheAction,
    /// The cache [default: VKCERT_CACHE, or vkcert/runs in the user's cache folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

#[derive(Debug, Clone, Subcommand)]
pub(super) enum CacheAction {
    /// Say how much there is
    Stats,
    /// Remove what has not been used for long, the longest unused first
    Prune(Prune),
}

#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = true)]
pub(super) struct Prune {
    /// Days without use after which an entry goes
    #[arg(long, value_name = "DAYS")]
    pub older_than: Option<u32>,
    /// Bytes that may stay
    #[arg(long, value_name = "BYTES")]
    pub most_bytes: Option<u64>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Run {
    /// Test-procedure file, or with `--dispatch` a capture
    pub file: PathBuf,
    /// Run the dispatch of this number in a capture, with what it was given
    #[arg(long, value_name = "N")]
    pub dispatch: Option<u32>,
    /// Findings to look for: all, none, or a comma-separated list of kinds
    #[arg(long, value_name = "KINDS", default_value = "all")]
    pub check: String,
    /// Put the final contents of every buffer into the JSON result, as base64
    #[arg(long)]
    pub dump_buffers: bool,
    /// Folder for the actual outputs of every test, as .npy files (images as .png files too, where
    /// these can hold them)
    #[arg(long, value_name = "DIR")]
    pub save_outputs: Option<PathBuf>,
    /// Run these tests alone, by id
    #[arg(long, value_name = "TEST", value_delimiter = ',')]
    pub only: Vec<String>,
    #[command(flatten)]
    pub recording: Recording,
    #[command(flatten)]
    pub repetition: Repetition,
    #[command(flatten)]
    pub schedules: ScheduleOptions,
}

#[derive(Debug, Clone, Args)]
pub(super) struct BenchOverhead {
    /// Measure the kernels whose id holds this text [default: all]
    #[arg(value_name = "KERNEL-PATTERN")]
    pub pattern: Option<String>,
    /// Alternating runs that are counted
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = clap::value_parser!(u32).range(20..=10_000))]
    pub repetitions: u32,
    /// Multiplies the workgroups, for a large device
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub size_factor: u32,
    /// How bits reach the record buffer
    #[arg(long, value_enum, default_value_t = RecordModeChoice::Auto, value_name = "MODE")]
    pub record_mode: RecordModeChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Listing {
    Kernels,
    Requirements,
    Tests,
    Obligations,
    Findings,
    Mutants,
    Devices,
    Criteria,
    Formats,
    Documents,
    Operators,
}

#[derive(Debug, Clone, Args)]
pub(super) struct List {
    pub what: Listing,
    /// Folder of the project
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Justifications to review: with `obligations` for what no test can cover under a
    /// configuration, with `findings` for those that stand, with `mutants` for those that no test noticed
    #[arg(long)]
    pub propose: bool,
    /// With `obligations`: those that tests have brought to this, from stored evidence
    #[arg(long, value_enum, conflicts_with = "propose")]
    pub status: Option<ObligationStatus>,
    /// With `--status`: what a justification of each obligation is bound to; `--format json` always
    /// has it. With `tests`: what reviews of their procedures and of their results are bound to
    #[arg(long)]
    pub hash: bool,
    /// With `findings`, `mutants`, `--status` and `tests --hash`: the evidence to read [default:
    /// reports/evidence in the project]
    #[arg(long, value_name = "DIR")]
    pub evidence: Option<PathBuf>,
}

/// What tests have come to for an obligation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ObligationStatus {
    /// Uncovered or undetermined
    Open,
    Covered,
    Uncovered,
    Justified,
    Undetermined,
    All,
}

impl ObligationStatus {
    pub(super) fn includes(self, status: Status) -> bool {
        match self {
            ObligationStatus::Open => matches!(status, Status::Uncovered | Status::Undetermined),
            ObligationStatus::Covered => status == Status::Covered,
            ObligationStatus::Uncovered => status == Status::Uncovered,
            ObligationStatus::Justified => status == Status::Justified,
            ObligationStatus::Undetermined => status == Status::Undetermined,
            ObligationStatus::All => true,
        }
    }
}

#[derive(Debug, Clone, Args)]
pub(super) struct Mcdc {
    /// Boolean expression, e.g. "x < k && y < m"
    pub expression: String,
    /// Evaluation vectors that tests have shown, e.g. TT,TF,F-
    #[arg(long, value_name = "TT,TF,F-", allow_hyphen_values = true)]
    pub vectors: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LoweredForm {
    Text,
    Cpp,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Lower {
    /// Name of a kernel of the project, or a GLSL or SPIR-V file
    pub kernel: String,
    #[arg(long, value_enum, default_value_t = LoweredForm::Text)]
    pub emit: LoweredForm,
    /// Folder of the project
    #[arg(long, default_value = ".")]
    pub project: PathBuf,
    /// With `--emit cpp`: take the kernel and tests from this test-procedure file
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    pub procedure: Option<PathBuf>,
    /// With `--emit cpp`: embed the data of this test, under its specialization
    #[arg(long, value_name = "TEST")]
    pub test: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Dissimilar {
    /// Folder of the project, or a test-procedure file
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Folder for the table and the programs [default: reports in the project; none for a file]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum GraphForm {
    Text,
    Dot,
    Svg,
    Json,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Couple {
    /// Folder of the project
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Print the coupling graph in this form
    #[arg(long, value_enum)]
    pub graph: Option<GraphForm>,
}

#[derive(Debug, Clone, Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Capture {
    /// File for the capture [default: the program's name with `.capture`, here]
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["check", "show", "procedure"])]
    pub output: Option<PathBuf>,
    /// Record what memory holds, too, so that a dispatch can become a test procedure
    #[arg(long, conflicts_with_all = ["check", "show", "procedure"])]
    pub contents: bool,
    /// Check a capture: interfaces of kernels, and the order of all that is written and used
    #[arg(long, value_name = "FILE", conflicts_with_all = ["show", "procedure"])]
    pub check: Option<PathBuf>,
    /// With `--check`: hold the capture against the interfaces of this project, too
    #[arg(long, value_name = "DIR", requires = "check")]
    pub project: Option<PathBuf>,
    /// List the operations of a capture with their numbers
    #[arg(long, value_name = "FILE", conflicts_with = "procedure")]
    pub show: Option<PathBuf>,
    /// Print a test procedure (JSON) of one dispatch of a capture
    #[arg(long, value_name = "FILE", requires = "dispatch")]
    pub procedure: Option<PathBuf>,
    /// With `--procedure`: the number of the dispatch
    #[arg(long, value_name = "N", requires = "procedure")]
    pub dispatch: Option<u32>,
    /// The program and its arguments, behind `--`
    #[arg(last = true, value_name = "PROGRAM", conflicts_with_all = ["check", "show", "procedure"])]
    pub program: Vec<OsString>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Init {
    /// Folder to create (must be new or empty)
    pub dir: PathBuf,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Schema {
    /// Name of the file format; without it, the names
    pub name: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Completions {
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Manual {
    /// Folder for the pages (`man1` of a manual path) [default: stdout, the page of the program
    /// alone]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

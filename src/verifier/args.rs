//! The arguments that both programs understand, and the command line of the small one.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::io::IsTerminal;
use std::path::PathBuf;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::document::Paper;
use vkcert_report::LineForm;

/// Verifies evidence of vkcert and renders its reports again, with no compiler and no engine.
#[derive(Debug, Parser)]
#[command(name = "vkcert-verify", version, max_term_width = 100, arg_required_else_help = true)]
pub struct CommandLine {
    /// Options that every command understands.
    #[command(flatten)]
    pub common: Common,
    /// What is to be done.
    #[command(subcommand)]
    pub command: Command,
}

/// What the small program does.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Render stored evidence again; no compiler, no GPU
    Report(Report),
    /// Re-derive every verdict and percentage of stored evidence, and check all hashes
    Verify(Verify),
}

/// Options that every command understands.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// Engines to run on [default: sequential, and vulkan too where a device is found; `mutate`: sequential]
    #[arg(long, global = true, value_enum)]
    pub engine: Option<EngineArgument>,
    /// Vulkan device by name (part of it) or index
    #[arg(long, global = true, value_name = "NAME_OR_INDEX", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub device: Option<String>,
    /// Form of the result on stdout
    #[arg(long, global = true, value_enum, default_value_t = FormatArgument::Text)]
    pub format: FormatArgument,
    /// Tests run at the same time [default: number of cores; one on a device with processors of its
    /// own]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    #[allow(missing_docs, reason = "a doc comment would stand in `--help`")]
    pub color: Color,
    /// Print the result alone
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more about what is done
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Wall-clock limit per run of a test, in seconds [default: 10 on a device; the sequential
    /// engine counts steps]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Limit per test on the sequential engine, in instructions summed over all invocations
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 86_400.0 => Ok(value),
        Ok(_) => Err("must be above 0 and at most 86400".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Render stored evidence again; no compiler, no GPU
#[derive(Debug, Clone, Args)]
pub struct Report {
    /// Evidence folder of an earlier run
    pub evidence: PathBuf,
    /// Which report (see `vkcert list formats`)
    #[arg(long, value_name = "F")]
    pub report_format: String,
    /// Which document, of a PDF or HTML report (see `vkcert list documents`) [default: all]
    #[arg(long, value_name = "NAME")]
    pub document: Option<String>,
    /// Paper of a PDF report [default: that of the project, else a4]
    #[arg(long, value_enum, value_name = "SIZE")]
    pub paper: Option<PaperArgument>,
    /// Kernels above which an HTML report is an index, FILE, and a page for each kernel in the
    /// folder FILE-kernels beside it (FILE without its extension); 0 for always [default: 1000]
    #[arg(long, value_name = "N")]
    pub html_split_above: Option<usize>,
    /// Pages of kernels above which a PDF report is a first volume, FILE, and further ones in the
    /// folder FILE-volumes beside it (FILE without its extension) [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub pdf_volume_pages: Option<u64>,
    /// Folder of stored runs of the same project, for a chapter on their trend (PDF and HTML)
    #[arg(long, value_name = "DIR")]
    pub history: Option<PathBuf>,
    /// File to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Render evidence that does not verify, too, with a stamp on every page that says so
    #[arg(long)]
    pub unverified: bool,
}

/// Sizes of paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "a doc comment would stand in `--help`")]
pub enum PaperArgument {
    A4,
    Letter,
}

impl From<PaperArgument> for Paper {
    fn from(argument: PaperArgument) -> Self {
        match argument {
            PaperArgument::A4 => Paper::A4,
            PaperArgument::Letter => Paper::Letter,
        }
    }
}

/// Re-derive every verdict and percentage of stored evidence, and check all hashes
#[derive(Debug, Clone, Args)]
pub struct Verify {
    /// Evidence folder of an earlier run, or an archive of `vkcert archive`
    pub evidence: PathBuf,
    /// SHA-256 that the manifest or the list of reports must have
    #[arg(long, value_name = "HASH")]
    pub root: Option<String>,
    /// Compare the inputs with the files of a project, and its kernels, compiled there, with those
    /// of the evidence
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Run the tests again on the sequential engine, with kernels that expectations refer to
    #[arg(long)]
    pub replay: bool,
    /// Fail also where something could not be derived again
    #[arg(long)]
    pub strict: bool,
}

/// Which engines `--engine` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "a doc comment would stand in `--help`")]
pub enum EngineArgument {
    Sequential,
    Vulkan,
    Both,
}

/// Which form of the result `--format` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArgument {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// A line `file:line:column: kind: message` for all that counts (certify alone)
    Short,
    /// Annotations of a GitHub workflow (certify alone)
    Github,
}

/// The form of a result as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputForm {
    /// For people.
    Text,
    /// One JSON document.
    Json,
}

impl Common {
    /// The form of the result of a command that knows no lines.
    pub fn form(&self) -> OutputForm {
        match self.format {
            FormatArgument::Json => OutputForm::Json,
            FormatArgument::Text | FormatArgument::Short | FormatArgument::Github => {
                OutputForm::Text
            }
        }
    }

    /// The form of lines that is asked for; none: the result as a whole.
    pub fn line_form(&self) -> Option<LineForm> {
        match self.format {
            FormatArgument::Short => Some(LineForm::Short),
            FormatArgument::Github => Some(LineForm::Github),
            FormatArgument::Text | FormatArgument::Json => None,
        }
    }

    /// Refuses lines, for a command that has none.
    ///
    /// # Errors
    /// Where lines are asked for.
    pub fn refuse_lines(&self, command: &str) -> Result<(), Diagnostic> {
        let word = match self.format {
            FormatArgument::Text | FormatArgument::Json => return Ok(()),
            FormatArgument::Short => "short",
            FormatArgument::Github => "github",
        };
        let message = format!("`vkcert {command}` has no `--format {word}`");
        Err(Diagnostic::new("usage", message)
            .hint("`vkcert certify`, `run` and `couple` have; here there are text and json"))
    }
}

/// When `--color` lets streams have colour codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "a doc comment would stand in `--help`")]
pub enum Color {
    Auto,
    Always,
    Never,
}

/// Whether a stream gets colour codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coloring {
    /// It gets them.
    Colored,
    /// It gets none.
    Plain,
}

impl Color {
    fn on(self, terminal: bool) -> Coloring {
        let wanted = match self {
            Color::Always => true,
            Color::Never => false,
            // https://no-color.org: any non-empty value switches colour off.
            Color::Auto => {
                terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        if wanted { Coloring::Colored } else { Coloring::Plain }
    }

    /// Whether standard output gets colour codes.
    pub fn on_stdout(self) -> Coloring {
        self.on(std::io::stdout().is_terminal())
    }

    /// Whether standard error gets colour codes.
    pub fn on_stderr(self) -> Coloring {
        self.on(std::io::stderr().is_terminal())
    }
}

#[cfg(test)]
mod tests {
    use super::{Color, Coloring, CommandLine, seconds};
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_arguments_are_consistent() {
        CommandLine::command().debug_assert();
        assert!(CommandLine::try_parse_from(["vkcert-verify", "verify"]).is_err());
    }

    #[test]
    fn a_limit_in_seconds_is_above_0_and_at_most_a_day() {
        for (text, value) in [("0.001", 0.001), ("10", 10.0), ("86400", 86_400.0)] {
            assert_eq!(seconds(text), Ok(value));
        }
        const OUTSIDE: &str = "must be above 0 and at most 86400";
        for (text, told) in [
            ("0", OUTSIDE),
            ("-1", OUTSIDE),
            ("86400.1", OUTSIDE),
            ("NaN", OUTSIDE),
            ("inf", OUTSIDE),
            ("ten", "invalid float literal"),
        ] {
            assert_eq!(seconds(text), Err(told.to_owned()), "{text}");
        }
    }

    #[test]
    fn colour_is_asked_for_or_follows_the_terminal() {
        for terminal in [false, true] {
            assert_eq!(Color::Always.on(terminal), Coloring::Colored);
            assert_eq!(Color::Never.on(terminal), Coloring::Plain);
        }
        assert_eq!(Color::Auto.on(false), Coloring::Plain);
        assert_eq!(Color::Always.on_stdout(), Coloring::Colored);
        assert_eq!(Color::Never.on_stdout(), Coloring::Plain);
        assert_eq!(Color::Always.on_stderr(), Coloring::Colored);
        assert_eq!(Color::Never.on_stderr(), Coloring::Plain);
    }
}

//! clang 19: finding it, building a program with coverage, running it, and what llvm-cov says.
//!
//! Promises: every call has a time limit; the message of a tool that fails is passed on. One
//! version is used, because the meaning of its output may change with another.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The packages that hold the tools, on Debian and Ubuntu.
pub const INSTALL_COMMAND: &str = "sudo apt-get install clang-19 llvm-19 libclang-rt-19-dev";

/// Options that programs are built with.
pub const COMPILER_OPTIONS: [&str; 9] = [
    "-std=c++17",
    "-O1",
    "-Wall",
    "-Wextra",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fprofile-instr-generate",
    "-fcoverage-mapping",
    "-fcoverage-mcdc",
];

const BUILD_LIMIT: Duration = Duration::from_secs(300);
const RUN_LIMIT: Duration = Duration::from_secs(120);

/// The tools of one version.
#[derive(Debug, Clone)]
pub struct ClangTools {
    compiler_tool: PathBuf,
    profile_tool: PathBuf,
    coverage_tool: PathBuf,
    /// The compiler's first line about itself.
    pub version: String,
}

/// What a process returned and printed.
#[derive(Debug, Clone)]
struct ProcessOutput {
    exit_code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// A program that is built.
#[derive(Debug, Clone)]
pub struct BuiltProgram {
    source: PathBuf,
    program: PathBuf,
    /// The warnings of the build.
    pub compiler_messages: String,
}

/// How a run of a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// With what it printed.
    Completed(String),
    /// It stopped by itself, with the reason: something undefined, an access beyond a buffer,
    /// barrier divergence.
    StoppedItself(String),
}

/// The two forms of llvm-cov's report: records as JSON, and text with the executed vectors.
#[derive(Debug, Clone)]
pub struct CoverageReports {
    /// `llvm-cov export`: regions, branches and MC/DC records as JSON.
    pub json: String,
    /// `llvm-cov show`: the source with executed vectors.
    pub text: String,
}

impl ClangTools {
    /// Finds the tools in PATH.
    ///
    /// # Errors
    /// The name of the first tool that is not installed.
    pub fn find_in_path() -> Result<Self, String> {
        let find_tool = |name: &str| {
            let search_path = std::env::var_os("PATH").unwrap_or_default();
            let tool_path = std::env::split_paths(&search_path)
                .map(|folder| folder.join(name))
                .find(|path| path.is_file());
            tool_path.ok_or_else(|| format!("{name} is not installed"))
        };
        let (compiler_tool, profile_tool, coverage_tool) =
            (find_tool("clang++-19")?, find_tool("llvm-profdata-19")?, find_tool("llvm-cov-19")?);
        let version_output =
            run_to_completion(Command::new(&compiler_tool).arg("--version"), BUILD_LIMIT)?;
        let version = version_output.stdout.lines().next().unwrap_or_default().to_owned();
        Ok(Self { compiler_tool, profile_tool, coverage_tool, version })
    }

    /// Builds a program in `folder`.
    ///
    /// # Errors
    /// The compiler's first error, or the reason why a constant of the kernel is undefined.
    pub fn build_program(&self, folder: &Path, text: &str) -> Result<BuiltProgram, String> {
        let (source, program) = (folder.join("program.cpp"), folder.join("program"));
        std::fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
        let mut command = Command::new(&self.compiler_tool);
        command.args(COMPILER_OPTIONS).arg(&source).arg("-o").arg(&program);
        let compiler_output = run_to_completion(&mut command, BUILD_LIMIT)?;
        if compiler_output.exit_code == Some(0) {
            return Ok(BuiltProgram { source, program, compiler_messages: compiler_output.stderr });
        }
        if let Some(reason) = stopped_constant(&compiler_output.stderr) {
            return Err(format!("a constant of the kernel is undefined: {reason}"));
        }
        let first_error = compiler_output
            .stderr
            .lines()
            .find(|line| line.contains("error:"))
            .unwrap_or("it failed without a message");
        Err(format!("the compiler does not accept the program: {first_error}"))
    }

    /// Runs a program with a job; its execution counts are written to `counts`.
    pub fn run_program(
        &self,
        built: &BuiltProgram,
        job: &Path,
        counts: &Path,
    ) -> Result<RunOutcome, String> {
        let mut command = Command::new(&built.program);
        command.arg(job).env("LLVM_PROFILE_FILE", counts);
        let program_output = run_to_completion(&mut command, RUN_LIMIT)?;
        match program_output.exit_code {
            Some(0) => Ok(RunOutcome::Completed(program_output.stdout)),
            Some(3) => {
                let reason = program_output.stderr.trim();
                Ok(RunOutcome::StoppedItself(
                    reason.strip_prefix("stopped: ").unwrap_or(reason).to_owned(),
                ))
            }
            exit_code => Err(format!(
                "the program ended with {exit_code:?}: {}",
                program_output.stderr.trim()
            )),
        }
    }

    /// The coverage of all runs together.
    pub fn coverage_reports(
        &self,
        built: &BuiltProgram,
        counts: &[PathBuf],
    ) -> Result<CoverageReports, String> {
        let merged_profile = built.program.with_extension("profdata");
        let mut merge_command = Command::new(&self.profile_tool);
        merge_command.args(["merge", "-sparse"]).args(counts).arg("-o").arg(&merged_profile);
        require_success(run_to_completion(&mut merge_command, BUILD_LIMIT)?, "llvm-profdata-19")?;
        let llvm_cov_report = |arguments: &[&str]| {
            let mut report_command = Command::new(&self.coverage_tool);
            report_command
                .args(arguments)
                .arg(&built.program)
                .arg("-instr-profile")
                .arg(&merged_profile)
                .arg(&built.source);
            require_success(run_to_completion(&mut report_command, BUILD_LIMIT)?, "llvm-cov-19")
        };
        let json_report = llvm_cov_report(&["export", "-format=text"])?;
        let text_report = llvm_cov_report(&["show", "-show-mcdc", "-show-branches=count"])?;
        Ok(CoverageReports { json: json_report, text: text_report })
    }
}

/// The reason why `stop` of the header kept a constant from being computed, from the source line
/// that the compiler quotes.
fn stopped_constant(compiler_messages: &str) -> Option<&str> {
    let (_, quoted) =
        compiler_messages.split_once("function 'stop' cannot be used in a constant expression")?;
    quoted.split_once("stop(\"")?.1.split_once("\")").map(|(reason, _)| reason)
}

fn require_success(process_output: ProcessOutput, tool_name: &str) -> Result<String, String> {
    if process_output.exit_code == Some(0) {
        Ok(process_output.stdout)
    } else {
        Err(format!("{tool_name} failed: {}", process_output.stderr.trim()))
    }
}

/// Runs a process to its end, and kills it at the time limit.
fn run_to_completion(command: &mut Command, limit: Duration) -> Result<ProcessOutput, String> {
    let program_name = command.get_program().to_string_lossy().into_owned();
    let describe_error = |error: std::io::Error| format!("{program_name}: {error}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(describe_error)?;
    // Both pipes are read while the program runs, because it would block on a full pipe.
    let spawn_reader = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read_result = pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes));
            read_result.map(|_| String::from_utf8_lossy(&bytes).into_owned())
        })
    };
    let stdout =
        spawn_reader(child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let stderr =
        spawn_reader(child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let start_time = Instant::now();
    let exit_status = loop {
        if let Some(exit_status) = child.try_wait().map_err(describe_error)? {
            break exit_status;
        }
        if start_time.elapsed() > limit {
            child.kill().map_err(describe_error)?;
            child.wait().map_err(describe_error)?;
            return Err(format!("{program_name} did not end within {} s", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let joined_text = |reader: std::thread::JoinHandle<std::io::Result<String>>| {
        reader
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            .map_err(describe_error)
    };
    Ok(ProcessOutput {
        exit_code: exit_status.code(),
        stdout: joined_text(stdout)?,
        stderr: joined_text(stderr)?,
    })
}

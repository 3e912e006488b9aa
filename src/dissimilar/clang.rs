//! clang 19: finding it, building a program with coverage, running it, and what llvm-cov says.
//!
//! Promises: every call has a time limit; a tool that fails is told with its own words. One version
//! is used, so that what is read of its output means what it is taken for.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The packages that hold the tools, on Debian and Ubuntu.
pub const INSTALL: &str = "sudo apt-get install clang-19 llvm-19 libclang-rt-19-dev";

/// Options that programs are built with.
pub const OPTIONS: [&str; 9] = [
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
pub struct Toolchain {
    compiler: PathBuf,
    profile: PathBuf,
    coverage: PathBuf,
    /// The compiler's first line about itself.
    pub version: String,
}

/// What a started program left.
#[derive(Debug, Clone)]
struct Left {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// A program that is built.
#[derive(Debug, Clone)]
pub struct Built {
    source: PathBuf,
    program: PathBuf,
    /// What the compiler said while it built.
    pub said: String,
}

/// How a run of a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ran {
    /// With what it printed.
    Completed(String),
    /// It stopped by itself, with the reason: something undefined, an access beyond a buffer,
    /// barrier divergence.
    Stopped(String),
}

/// The two forms of llvm-cov's report: records as JSON, and text with the executed vectors.
#[derive(Debug, Clone)]
pub struct Reports {
    pub json: String,
    pub text: String,
}

impl Toolchain {
    /// The tools in PATH; else what is missing.
    pub fn find() -> Result<Self, String> {
        let tool = |name: &str| {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            let found = std::env::split_paths(&folders)
                .map(|folder| folder.join(name))
                .find(|path| path.is_file());
            found.ok_or_else(|| format!("{name} is not installed"))
        };
        let (compiler, profile, coverage) =
            (tool("clang++-19")?, tool("llvm-profdata-19")?, tool("llvm-cov-19")?);
        let left = run(Command::new(&compiler).arg("--version"), BUILD_LIMIT)?;
        let version = left.stdout.lines().next().unwrap_or_default().to_owned();
        Ok(Self { compiler, profile, coverage, version })
    }

    /// Builds a program in `folder`; else what the compiler said.
    pub fn build(&self, folder: &Path, text: &str) -> Result<Built, String> {
        let (source, program) = (folder.join("program.cpp"), folder.join("program"));
        std::fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
        let mut command = Command::new(&self.compiler);
        command.args(OPTIONS).arg(&source).arg("-o").arg(&program);
        let left = run(&mut command, BUILD_LIMIT)?;
        if left.code == Some(0) {
            return Ok(Built { source, program, said: left.stderr });
        }
        if let Some(why) = stopped_constant(&left.stderr) {
            return Err(format!("a constant of the kernel is undefined: {why}"));
        }
        let first = left
            .stderr
            .lines()
            .find(|line| line.contains("error:"))
            .unwrap_or("it failed without a message");
        Err(format!("the compiler does not accept the program: {first}"))
    }

    /// Runs a program with a job; what it counts goes to `counts`.
    pub fn run(&self, built: &Built, job: &Path, counts: &Path) -> Result<Ran, String> {
        let mut command = Command::new(&built.program);
        command.arg(job).env("LLVM_PROFILE_FILE", counts);
        let left = run(&mut command, RUN_LIMIT)?;
        match left.code {
            Some(0) => Ok(Ran::Completed(left.stdout)),
            Some(3) => {
                let reason = left.stderr.trim();
                Ok(Ran::Stopped(reason.strip_prefix("stopped: ").unwrap_or(reason).to_owned()))
            }
            code => Err(format!("the program ended with {code:?}: {}", left.stderr.trim())),
        }
    }

    /// What all runs together covered.
    pub fn reports(&self, built: &Built, counts: &[PathBuf]) -> Result<Reports, String> {
        let merged = built.program.with_extension("profdata");
        let mut command = Command::new(&self.profile);
        command.args(["merge", "-sparse"]).args(counts).arg("-o").arg(&merged);
        succeeded(run(&mut command, BUILD_LIMIT)?, "llvm-profdata-19")?;
        let report = |arguments: &[&str]| {
            let mut command = Command::new(&self.coverage);
            command
                .args(arguments)
                .arg(&built.program)
                .arg("-instr-profile")
                .arg(&merged)
                .arg(&built.source);
            succeeded(run(&mut command, BUILD_LIMIT)?, "llvm-cov-19")
        };
        let json = report(&["export", "-format=text"])?;
        let text = report(&["show", "-show-mcdc", "-show-branches=count"])?;
        Ok(Reports { json, text })
    }
}

/// Where `stop` of the header keeps a constant from being computed: the reason, from the line that
/// the compiler quotes.
fn stopped_constant(said: &str) -> Option<&str> {
    let (_, quoted) = said.split_once("function 'stop' cannot be used in a constant expression")?;
    quoted.split_once("stop(\"")?.1.split_once("\")").map(|(why, _)| why)
}

fn succeeded(left: Left, name: &str) -> Result<String, String> {
    if left.code == Some(0) {
        Ok(left.stdout)
    } else {
        Err(format!("{name} failed: {}", left.stderr.trim()))
    }
}

/// Runs to the end, or kills at the limit.
fn run(command: &mut Command, limit: Duration) -> Result<Left, String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let failed = |error: std::io::Error| format!("{shown}: {error}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    // Both pipes are emptied while the program runs, or it would wait for room in one of them.
    let reader = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes));
            read.map(|_| String::from_utf8_lossy(&bytes).into_owned())
        })
    };
    let stdout = reader(child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let stderr = reader(child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if start.elapsed() > limit {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            return Err(format!("{shown} did not end within {} s", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let text = |reader: std::thread::JoinHandle<std::io::Result<String>>| {
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(failed)
    };
    Ok(Left { code: status.code(), stdout: text(stdout)?, stderr: text(stderr)? })
}

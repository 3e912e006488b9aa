//! The process that the compiler reads a header in.
//!
//! Promises: it is over within [`TIME_LIMIT`], takes at most [`MEMORY_LIMIT`], and whatever becomes
//! of it, the caller gets an answer. Two calls with the same files get the same one.
//! Does not cover: what the answer says (`parsing`).

use super::{HeaderFault, HeaderOutcome, HeaderRequest};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Wall-clock time for one header.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Processor time for one header, in seconds; less than the wall-clock time, so that a busy machine
/// gives the same answer.
const PROCESSOR_LIMIT: u64 = 10;

/// Wall-clock time in which the process may be asleep at every look: what it waits for then never
/// comes. Whoever reads files or waits for a processor does not sleep.
const SLEEP_LIMIT: Duration = Duration::from_secs(2);

/// Address space that the process may take beside what it has when it starts, in bytes.
const MEMORY_LIMIT: u64 = 2 << 30;

/// Bytes of an answer.
const ANSWER_LIMIT: u64 = 64 << 20;

/// Reads a struct of a header in `folder`. `program` answers [`super::answer_request`] when it is
/// started with `arguments`; `library` is libclang's file.
///
/// # Errors
/// If the process cannot be started.
pub fn read_header(
    (program, arguments): (&Path, &[&str]),
    library: &Path,
    folder: &Path,
    request: &HeaderRequest,
) -> Result<HeaderOutcome, String> {
    let describe_error = |error: std::io::Error| format!("the process that reads headers: {error}");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("LIBCLANG_PATH", library);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(describe_error)?;
    let question = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        // A process that is gone is told by its answer.
        let _ = input.write_all(&question);
    }
    let Some(output) = child.stdout.take() else {
        return Err("the process that reads headers has no output".to_owned());
    };
    let answer_reader = std::thread::spawn(move || {
        let mut answer = Vec::new();
        output.take(ANSWER_LIMIT).read_to_end(&mut answer).map(|_| answer)
    });
    let exit_status = wait_for(&mut child).map_err(describe_error)?;
    let answer = answer_reader
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        .map_err(describe_error)?;
    Ok(match (exit_status, serde_json::from_slice(&answer)) {
        (ProcessEnd::Own(status), Ok(outcome)) if status.success() => outcome,
        (end, _) => HeaderOutcome::Faulty(vec![fault_of_process(&request.file, end)]),
    })
}

/// How the process came to its end.
enum ProcessEnd {
    Own(ExitStatus),
    /// It took too long.
    Late,
    /// It waited for what did not come.
    Asleep,
}

fn wait_for(child: &mut Child) -> std::io::Result<ProcessEnd> {
    let start = Instant::now();
    let mut last_awake = start;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(ProcessEnd::Own(status));
        }
        if !is_asleep(child.id()) {
            last_awake = Instant::now();
        }
        let is_late = start.elapsed() > TIME_LIMIT;
        if is_late || last_awake.elapsed() > SLEEP_LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(if is_late { ProcessEnd::Late } else { ProcessEnd::Asleep });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether all of a process sleeps, as it does where it waits for the other end of a pipe; no where
/// the system does not tell.
fn is_asleep(process: u32) -> bool {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{process}/task")) else { return false };
    let mut tasks = tasks.peekable();
    let is_task_asleep = |task: std::io::Result<std::fs::DirEntry>| {
        let status = task.and_then(|task| std::fs::read_to_string(task.path().join("stat")));
        // The name of the program stands in brackets before the state.
        status.is_ok_and(|status| {
            status.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
        })
    };
    tasks.peek().is_some() && tasks.all(is_task_asleep)
}

fn fault_of_process(file: &str, end: ProcessEnd) -> HeaderFault {
    let words = match end {
        ProcessEnd::Late => format!("it is not read within {} s", TIME_LIMIT.as_secs()),
        ProcessEnd::Asleep => {
            "the compiler waits for contents that do not come: it or what it includes is no regular file"
                .to_owned()
        }
        ProcessEnd::Own(_) => format!(
            "the compiler does not come to the end of it within {PROCESSOR_LIMIT} s and {} GiB, or crashes",
            MEMORY_LIMIT >> 30
        ),
    };
    HeaderFault::of_file(file, words)
}

/// Limits the process that this is called in.
pub(super) fn limit_this_process() -> Result<(), String> {
    let memory_limit = MEMORY_LIMIT.saturating_add(address_space());
    let limits =
        [(Resource::As, memory_limit), (Resource::Cpu, PROCESSOR_LIMIT), (Resource::Core, 0)];
    for (resource, limit) in limits {
        let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
        setrlimit(resource, limit).map_err(|error| format!("limits cannot be set: {error}"))?;
    }
    Ok(())
}

/// Bytes of address space that this process has: the stacks of the program count, although hardly
/// any of them is ever touched.
fn address_space() -> u64 {
    let table = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = table.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or(0_u64);
    pages.saturating_mul(rustix::param::page_size() as u64)
}

//! Crashes of the C++ code that is linked in: the GLSL compiler and the SPIR-V validator.
//!
//! Knows: which of them a thread is in, and on what.
//! Promises: in the program a fault there ends with one line that names both and with exit code 3,
//! never without a word; a fault anywhere else goes the way that it went without this. What is in
//! the making on disk stays as when the program is killed.
//! Does not cover: damage that shows only behind the call. Libraries and tests that use this crate:
//! the program alone asks for the line, since others, such as a fuzzer, watch for crashes
//! themselves.

use std::cell::Cell;
use std::io::IsTerminal;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

/// The exit code of a tool that fails itself (`cli::Exit::Tool`).
const EXIT: i32 = 3;

/// Code that is linked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Compiler,
    Validator,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Compiler => "GLSL compiler",
            Part::Validator => "SPIR-V validator",
        }
    }
}

/// Signals of faults and of `abort`, with their names.
const SIGNALS: [(i32, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGABRT, "SIGABRT"),
];

/// Bytes that stderr and stdout get, prepared: a handler may not allocate.
struct Words {
    before_signal: Vec<u8>,
    behind_signal: Vec<u8>,
    document: Vec<u8>,
}

thread_local! {
    /// Of the part that this thread is in; null outside of all.
    static CURRENT: Cell<*const Words> = const { Cell::new(ptr::null()) };
}

/// Whether stdout is to get a JSON document.
static JSON: AtomicBool = AtomicBool::new(false);

/// Somebody tells of a crash already.
static TELLING: AtomicBool = AtomicBool::new(false);

/// What the signals did before, in the order of [`SIGNALS`].
static BEFORE: [OnceLock<libc::sigaction>; SIGNALS.len()] =
    [const { OnceLock::new() }; SIGNALS.len()];

/// While it lives, this thread is in a part.
pub struct Inside {
    outer: *const Words,
    _words: Box<Words>,
}

impl Inside {
    /// This thread begins to let `part` work on `subject`, a file as reports name it.
    pub fn new(part: Part, subject: &str) -> Self {
        let words = Box::new(Words::of(part, subject));
        let outer = CURRENT.replace(&raw const *words);
        Self { outer, _words: words }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        CURRENT.set(self.outer);
    }
}

impl Words {
    fn of(part: Part, subject: &str) -> Self {
        // A subject stands on one line whatever its name holds.
        let subject = subject.escape_debug();
        let said = format!("the {} crashed on {subject}", part.name());
        let meaning = "this is a defect of that part, and nothing is said about the kernel";
        // A bar may stand on the line.
        let begin = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
        let document = match JSON.load(Ordering::Relaxed) {
            true => document(&format!("{said}; {meaning}"), &subject.to_string()),
            false => String::new(),
        };
        Self {
            before_signal: format!("{begin}vkcert: {said} (").into_bytes(),
            behind_signal: format!("); {meaning}\n").into_bytes(),
            document: document.into_bytes(),
        }
    }
}

/// As other failures are told with `--format json`.
fn document(message: &str, file: &str) -> String {
    let error = serde_json::json!({
        "kind": "tool", "message": message, "hint": null, "file": file, "line": null, "column": null,
    });
    format!("{:#}\n", serde_json::json!({ "error": error }))
}

/// Crashes inside a part are told from now on.
pub fn tell_crashes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for ((signal, _), before) in SIGNALS.iter().zip(&BEFORE) {
            watch(*signal, before);
        }
    });
}

/// Crashes are told on stdout too, as a JSON document.
pub fn tell_in_json() {
    JSON.store(true, Ordering::Relaxed);
}

fn watch(signal: i32, before: &OnceLock<libc::sigaction>) {
    // SAFETY: all zeros is a valid `sigaction`, and the calls get pointers to live ones. The
    // handler keeps to functions that may be called in one. It runs on the thread's own stack for
    // signals, where there is one: a stack may be what ran out.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, ptr::null(), &mut old) != 0 {
            return;
        }
        let _ = before.set(old);
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = on_fault as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(signal, &new, ptr::null_mut());
    }
}

/// Tells of a crash inside a part and ends the program; of any other does what was done before.
extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the words live as long as `CURRENT` leads to them, and only this thread changes that.
    match unsafe { CURRENT.get().as_ref() } {
        Some(words) => tell(signal, words),
        None => pass_on(signal, info, context),
    }
}

fn tell(signal: i32, words: &Words) -> ! {
    if TELLING.swap(true, Ordering::AcqRel) {
        loop {
            // SAFETY: no arguments; the thread that tells ends the program.
            unsafe { libc::pause() };
        }
    }
    let name =
        SIGNALS.iter().find(|(known, _)| *known == signal).map_or("signal", |(_, name)| name);
    for bytes in [&words.before_signal[..], name.as_bytes(), &words.behind_signal] {
        write(libc::STDERR_FILENO, bytes);
    }
    write(libc::STDOUT_FILENO, &words.document);
    // SAFETY: ends the program without running anything of it.
    unsafe { libc::_exit(EXIT) }
}

fn write(to: i32, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: a live slice.
        let written = unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => bytes = &bytes[written..],
            _ => return,
        }
    }
}

/// Does what was done about the signal before: by a handler, such as that of the standard library,
/// which tells of threads whose stack ran out, or by the system, which ends the program.
fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = SIGNALS.iter().zip(&BEFORE).find(|((known, _), _)| *known == signal);
    let before = before.and_then(|(_, before)| before.get());
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    let has_info = before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0);
    if handler != libc::SIG_DFL && handler != libc::SIG_IGN && has_info {
        // SAFETY: the address of a handler that was installed with SA_SIGINFO, called as the system
        // would.
        let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
            unsafe { std::mem::transmute(handler) };
        return handler(signal, info, context);
    }
    // SAFETY: zeros are the default action, and `raise` waits until this handler returns.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, before.map_or(&raw const default, ptr::from_ref), ptr::null_mut());
        libc::raise(signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Output};

    const CHILD: &str = "VKCERT_TEST_CRASH";

    /// Runs this test program again, for one test alone that crashes in a way.
    fn crashed(way: &str) -> Output {
        let program = std::env::current_exe().expect("the test program");
        let name = "tests::a_process_that_crashes";
        let mut child = Command::new(program);
        child.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(CHILD, way);
        child.output().expect("it starts")
    }

    /// Crashes where it is asked to; for the others.
    #[test]
    fn a_process_that_crashes() {
        let Ok(way) = std::env::var(CHILD) else { return };
        if way.contains("json") {
            tell_in_json();
        }
        tell_crashes();
        let outer = Inside::new(Part::Validator, "outer");
        let inner = Inside::new(Part::Compiler, "glsl/\n.comp");
        if way.contains("outer") {
            drop(inner);
        } else if way.contains("outside") {
            drop(inner);
            drop(outer);
        }
        if way.contains("thread") {
            let other = std::thread::spawn(|| exhausted(1));
            let _ = other.join();
        }
        if way.contains("abort") {
            std::process::abort();
        }
        read_nowhere();
    }

    fn read_nowhere() {
        let nowhere = ptr::without_provenance::<u8>(std::hint::black_box(16));
        // SAFETY: there is none: nothing is mapped there, and the fault is what is wanted.
        unsafe { ptr::read_volatile(nowhere) };
    }

    /// Runs out of stack.
    fn exhausted(depth: u64) -> u64 {
        if depth == std::hint::black_box(u64::MAX) {
            return depth;
        }
        let room = std::hint::black_box([depth; 512]);
        exhausted(depth + 1) + room[depth as usize % 512]
    }

    #[test]
    fn a_crash_inside_a_part_is_told_with_exit_code_3() {
        for (way, line) in [
            (
                "inside",
                "vkcert: the GLSL compiler crashed on glsl/\\n.comp (SIGSEGV); this is a defect of",
            ),
            (
                "inside abort",
                "vkcert: the GLSL compiler crashed on glsl/\\n.comp (SIGABRT); this is a defect of",
            ),
            (
                "outer",
                "vkcert: the SPIR-V validator crashed on outer (SIGSEGV); this is a defect of",
            ),
        ] {
            let output = crashed(way);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(EXIT), "{way}: {said}");
            assert_eq!(
                said.lines().filter(|told| told.starts_with(line)).count(),
                1,
                "{way}: {said}"
            );
            assert!(!String::from_utf8_lossy(&output.stdout).contains("error"), "{way}");
        }
        let output = crashed("inside json");
        let said = String::from_utf8_lossy(&output.stdout);
        let document = &said[said.find('{').expect("a document")..];
        let document: serde_json::Value = serde_json::from_str(document).expect("one document");
        assert_eq!(document["error"]["kind"], "tool", "{document:#}");
        assert!(
            document["error"]["message"]
                .as_str()
                .is_some_and(|message| message.contains("crashed"))
        );
    }

    #[test]
    fn a_crash_outside_goes_its_old_way() {
        assert_eq!(crashed("outside").status.signal(), Some(libc::SIGSEGV));
        assert_eq!(crashed("outside abort").status.signal(), Some(libc::SIGABRT));
        let overflown = crashed("outside thread");
        assert_eq!(overflown.status.signal(), Some(libc::SIGABRT));
        assert!(String::from_utf8_lossy(&overflown.stderr).contains("has overflowed its stack"));
    }
}

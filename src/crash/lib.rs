//! Crashes of the C++ code that is linked in: the GLSL compiler and the SPIR-V validator.
//!
//! Knows: which of the two each thread is running, and on which file.
//! Promises: in the program a fault there ends with one line that names the code and the file, and
//! with exit code 3; a fault anywhere else is handled as if this crate were not there. Unfinished
//! files on disk stay as they are when the program is killed.
//! Does not cover: damage that shows only after the call has returned. The handlers are installed
//! by the program alone, because other users of the libraries, such as a fuzzer, watch for crashes
//! themselves.

use std::cell::Cell;
use std::io::IsTerminal;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

/// The exit code of a tool that fails itself (`cli::Exit::Tool`).
const TOOL_EXIT_CODE: i32 = 3;

/// The C++ code that is linked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativePart {
    /// glslang, called through shaderc.
    Compiler,
    /// The validator of SPIRV-Tools.
    Validator,
}

impl NativePart {
    fn name(self) -> &'static str {
        match self {
            NativePart::Compiler => "GLSL compiler",
            NativePart::Validator => "SPIR-V validator",
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

/// The bytes to be written to stderr and stdout, prepared because a signal handler must not
/// allocate.
struct CrashMessage {
    before_signal: Vec<u8>,
    behind_signal: Vec<u8>,
    json_document: Vec<u8>,
}

thread_local! {
    /// The message of the native code that this thread is running; null outside of it.
    static CURRENT_MESSAGE: Cell<*const CrashMessage> = const { Cell::new(ptr::null()) };
}

/// Whether a JSON document is written to stdout.
static JSON_OUTPUT: AtomicBool = AtomicBool::new(false);

/// Whether a thread reports a crash already.
static CRASH_REPORTED: AtomicBool = AtomicBool::new(false);

/// The previous actions of the signals, in the order of [`SIGNALS`].
static PREVIOUS_ACTIONS: [OnceLock<libc::sigaction>; SIGNALS.len()] =
    [const { OnceLock::new() }; SIGNALS.len()];

/// While it lives, this thread is running native code.
pub struct NativeScope {
    outer_message: *const CrashMessage,
    _message: Box<CrashMessage>,
}

impl NativeScope {
    /// This thread begins to run `part` on `subject`, a file as reports name it.
    pub fn new(part: NativePart, subject: &str) -> Self {
        let crash_message = Box::new(CrashMessage::for_crash(part, subject));
        let outer_message = CURRENT_MESSAGE.replace(&raw const *crash_message);
        Self { outer_message, _message: crash_message }
    }
}

impl Drop for NativeScope {
    fn drop(&mut self) {
        CURRENT_MESSAGE.set(self.outer_message);
    }
}

impl CrashMessage {
    fn for_crash(part: NativePart, shown_subject: &str) -> Self {
        // Escaped, so that the message stays on one line.
        let shown_subject = shown_subject.escape_debug();
        let crash_sentence = format!("the {} crashed on {shown_subject}", part.name());
        let meaning = "this is a defect of that part, and nothing is said about the kernel";
        // A progress bar may stand on the line: it is erased.
        let line_start = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
        let json_text = match JSON_OUTPUT.load(Ordering::Relaxed) {
            true => {
                json_document(&format!("{crash_sentence}; {meaning}"), &shown_subject.to_string())
            }
            false => String::new(),
        };
        Self {
            before_signal: format!("{line_start}vkcert: {crash_sentence} (").into_bytes(),
            behind_signal: format!("); {meaning}\n").into_bytes(),
            json_document: json_text.into_bytes(),
        }
    }
}

/// The document that other failures have with `--format json`.
fn json_document(message: &str, file: &str) -> String {
    let error_object = serde_json::json!({
        "kind": "tool", "message": message, "hint": null, "file": file, "line": null, "column": null,
    });
    format!("{:#}\n", serde_json::json!({ "error": error_object }))
}

/// Installs the handlers, once.
pub fn install_crash_handlers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for ((signal, _), previous_slot) in SIGNALS.iter().zip(&PREVIOUS_ACTIONS) {
            install_handler(*signal, previous_slot);
        }
    });
}

/// From now on a crash is reported on stdout too, as a JSON document.
pub fn report_in_json() {
    JSON_OUTPUT.store(true, Ordering::Relaxed);
}

fn install_handler(signal: i32, previous_slot: &OnceLock<libc::sigaction>) {
    // SAFETY: all zeros is a valid `sigaction`, and the calls get pointers to live ones. The
    // handler keeps to functions that may be called in one. It runs on the thread's own stack for
    // signals, where there is one: a stack may be what ran out.
    unsafe {
        let mut previous_action: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, ptr::null(), &mut previous_action) != 0 {
            return;
        }
        let _ = previous_slot.set(previous_action);
        let mut crash_action: libc::sigaction = std::mem::zeroed();
        crash_action.sa_sigaction = on_fault as *const () as usize;
        crash_action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(signal, &crash_action, ptr::null_mut());
    }
}

/// Reports a crash of native code and ends the program; passes any other on to the previous action.
extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the message lives as long as `CURRENT_MESSAGE` leads to it, and only this thread
    // changes that.
    match unsafe { CURRENT_MESSAGE.get().as_ref() } {
        Some(words) => report_and_exit(signal, words),
        None => call_previous_handler(signal, info, context),
    }
}

fn report_and_exit(signal: i32, words: &CrashMessage) -> ! {
    if CRASH_REPORTED.swap(true, Ordering::AcqRel) {
        loop {
            // SAFETY: no arguments; the thread that reports ends the program.
            unsafe { libc::pause() };
        }
    }
    let signal_name = SIGNALS
        .iter()
        .find(|(listed_signal, _)| *listed_signal == signal)
        .map_or("signal", |(_, signal_name)| signal_name);
    for message_part in [&words.before_signal[..], signal_name.as_bytes(), &words.behind_signal] {
        write_bytes(libc::STDERR_FILENO, message_part);
    }
    write_bytes(libc::STDOUT_FILENO, &words.json_document);
    // SAFETY: ends the program without running any of its code.
    unsafe { libc::_exit(TOOL_EXIT_CODE) }
}

fn write_bytes(descriptor: i32, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: a live slice.
        let written_bytes = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written_bytes) {
            Ok(written_bytes) if written_bytes > 0 => bytes = &bytes[written_bytes..],
            _ => return,
        }
    }
}

/// Runs the previous action of the signal: a handler, such as that of the standard library, which
/// reports exhausted stacks, or the default action, which ends the program.
fn call_previous_handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let previous_action = SIGNALS
        .iter()
        .zip(&PREVIOUS_ACTIONS)
        .find(|((listed_signal, _), _)| *listed_signal == signal);
    let previous_action = previous_action.and_then(|(_, previous_action)| previous_action.get());
    let handler_address =
        previous_action.map_or(libc::SIG_DFL, |previous_action| previous_action.sa_sigaction);
    let has_info = previous_action
        .is_some_and(|previous_action| previous_action.sa_flags & libc::SA_SIGINFO != 0);
    if handler_address != libc::SIG_DFL && handler_address != libc::SIG_IGN && has_info {
        // SAFETY: the address of a handler that was installed with SA_SIGINFO, called as the system
        // would.
        let handler_address: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
            unsafe { std::mem::transmute(handler_address) };
        return handler_address(signal, info, context);
    }
    // SAFETY: zeros are the default action, and `raise` waits until this handler returns.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        libc::sigaction(
            signal,
            previous_action.map_or(&raw const default, ptr::from_ref),
            ptr::null_mut(),
        );
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
    fn run_crashing_child(way: &str) -> Output {
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
            report_in_json();
        }
        install_crash_handlers();
        let outer = NativeScope::new(NativePart::Validator, "outer");
        let inner = NativeScope::new(NativePart::Compiler, "glsl/\n.comp");
        if way.contains("outer") {
            drop(inner);
        } else if way.contains("outside") {
            drop(inner);
            drop(outer);
        }
        if way.contains("thread") {
            let other = std::thread::spawn(|| exhaust_stack(1));
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
    fn exhaust_stack(depth: u64) -> u64 {
        if depth == std::hint::black_box(u64::MAX) {
            return depth;
        }
        let room = std::hint::black_box([depth; 512]);
        exhaust_stack(depth + 1) + room[depth as usize % 512]
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
            let output = run_crashing_child(way);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(TOOL_EXIT_CODE), "{way}: {said}");
            assert_eq!(
                said.lines().filter(|told| told.starts_with(line)).count(),
                1,
                "{way}: {said}"
            );
            assert!(!String::from_utf8_lossy(&output.stdout).contains("error"), "{way}");
        }
        let output = run_crashing_child("inside json");
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
        assert_eq!(run_crashing_child("outside").status.signal(), Some(libc::SIGSEGV));
        assert_eq!(run_crashing_child("outside abort").status.signal(), Some(libc::SIGABRT));
        let overflown = run_crashing_child("outside thread");
        assert_eq!(overflown.status.signal(), Some(libc::SIGABRT));
        assert!(String::from_utf8_lossy(&overflown.stderr).contains("has overflowed its stack"));
    }
}

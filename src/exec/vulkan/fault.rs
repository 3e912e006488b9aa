//! Faults that a worker commits when it is told to, so that tests can show what the parent makes of them.
//!
//! Knows: the environment variable `VKCERT_WORKER_FAULT`, of the form `KIND` (every job) or `KIND@TEST` (the job of that
//! name). Always compiled, so that what is tested is what is used; without the variable nothing here does anything.

use std::io::Write;

/// Set for a worker by tests.
pub const VARIABLE: &str = "VKCERT_WORKER_FAULT";

/// What a worker can be told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Die by a signal when the job arrives.
    Abort,
    /// Fail an assertion of the tool itself when the job arrives.
    Panic,
    /// Write bytes that are no frame.
    Garbage,
    /// Never answer.
    Hang,
    /// Write a great deal on the error stream, then announce a frame beyond any limit.
    Flood,
    /// Change a guard byte of the job's first buffer after its dispatches.
    Guard,
    /// Spoil the result of the canary dispatch.
    Canary,
    /// End in the middle of a frame.
    Truncate,
}

const KINDS: &[(&str, FaultKind)] = &[
    ("abort", FaultKind::Abort),
    ("panic", FaultKind::Panic),
    ("garbage", FaultKind::Garbage),
    ("hang", FaultKind::Hang),
    ("flood", FaultKind::Flood),
    ("guard", FaultKind::Guard),
    ("canary", FaultKind::Canary),
    ("truncate", FaultKind::Truncate),
];

/// The fault that this worker is told to commit.
#[derive(Debug, Clone, Default)]
pub struct Fault {
    kind: Option<FaultKind>,
    /// The one job that it applies to; none: all.
    job: Option<String>,
}

impl Fault {
    pub fn from_environment() -> Self {
        std::env::var(VARIABLE).map(|text| Self::parse(&text)).unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let (kind, job) = text.split_once('@').map_or((text, None), |(kind, job)| (kind, Some(job.to_owned())));
        Self { kind: KINDS.iter().find(|(name, _)| *name == kind).map(|(_, kind)| *kind), job }
    }

    pub fn strikes(&self, kind: FaultKind, job: &str) -> bool {
        self.kind == Some(kind) && self.job.as_deref().is_none_or(|only| only == job)
    }

    /// The faults that strike when a job arrives.
    pub fn strike_on_arrival(&self, job: &str, pipe: &mut impl Write) {
        let Some(kind) = self.kind.filter(|kind| self.strikes(*kind, job)) else { return };
        // Errors on the way are of no interest: whatever comes out is the fault.
        match kind {
            FaultKind::Abort => std::process::abort(),
            FaultKind::Panic => panic!("the fault `panic` was asked for"),
            FaultKind::Garbage => drop(pipe.write_all(b"Segmentation fault, or some such words").and(pipe.flush())),
            FaultKind::Hang => loop {
                std::thread::park();
            },
            FaultKind::Flood => {
                let _ = std::io::stderr().write_all(&vec![b'!'; 4 << 20]);
                let header = [b"vkcw".as_slice(), &super::protocol::VERSION.to_le_bytes(), &[0xFF; 10]].concat();
                let _ = pipe.write_all(&header).and(pipe.flush());
            }
            FaultKind::Truncate => {
                let reply = super::protocol::frame(&super::protocol::Reply::Failed("cut".to_owned()));
                let _ = reply.map(|bytes| pipe.write_all(&bytes[..bytes.len() - 1]).and(pipe.flush()));
                super::worker::exit_now(0);
            }
            FaultKind::Guard | FaultKind::Canary => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_applies_to_the_job_it_names_and_unknown_ones_to_none() {
        let all = Fault::parse("hang");
        assert!(all.strikes(FaultKind::Hang, "A") && !all.strikes(FaultKind::Abort, "A"));
        let one = Fault::parse("abort@A");
        assert!(one.strikes(FaultKind::Abort, "A") && !one.strikes(FaultKind::Abort, "B"));
        assert!(KINDS.iter().all(|(_, kind)| !Fault::parse("nonsense").strikes(*kind, "A")));
    }
}

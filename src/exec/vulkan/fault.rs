//! Faults that a worker commits when it is told to, so that tests can show what the parent makes of
//! them.
//!
//! Knows: the environment variable `VKCERT_WORKER_FAULT`: faults with commas between them, each of
//! the form `KIND` (every job) or `KIND@TEST` (the job of that name). Always compiled, so that what
//! is tested is what is used; without the variable nothing here does anything.

use super::protocol::{Phase, Reply, Stage, WireRun};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use vkcert_model::invocations::Ranks;

/// Set for a worker by tests.
pub(crate) const VARIABLE: &str = "VKCERT_WORKER_FAULT";

/// What a worker can be told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
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
    /// Change the last byte of the job's last buffer after its dispatches.
    Stray,
    /// Spoil the result of the canary dispatch.
    Canary,
    /// End in the middle of a frame.
    Truncate,
    /// End in the middle of the first dispatch, with an exit handler that never returns.
    HangExit,
    /// Take memory without end when the job arrives.
    Allocate,
    /// Change the first byte of the job's last buffer in every other run.
    Waver,
    /// Change the first record word in every other run of a job that records.
    WaverRecords,
    /// Change the lowest bit of the first word of the job's last buffer in every run.
    Nudge,
    /// Change the bit of that word that halves or doubles a float, in every run.
    Deviate,
    /// Lose the lowest bit of the first record word in every run of a job that records.
    Forget,
    /// Lose the highest bit of that word in every such run.
    ForgetLast,
    /// Set the last bit below the highest of that word that is not set in every such run, as if by
    /// the first invocation.
    Invent,
    /// The same as if by the first two.
    InventTwo,
    /// Change the lowest bit of the first word of the job's last buffer in every run that tells who
    /// recorded.
    NudgeSlots,
}

const KINDS: &[(&str, FaultKind)] = &[
    ("abort", FaultKind::Abort),
    ("panic", FaultKind::Panic),
    ("garbage", FaultKind::Garbage),
    ("hang", FaultKind::Hang),
    ("flood", FaultKind::Flood),
    ("guard", FaultKind::Guard),
    ("stray", FaultKind::Stray),
    ("canary", FaultKind::Canary),
    ("truncate", FaultKind::Truncate),
    ("hang-exit", FaultKind::HangExit),
    ("allocate", FaultKind::Allocate),
    ("waver", FaultKind::Waver),
    ("waver-records", FaultKind::WaverRecords),
    ("nudge", FaultKind::Nudge),
    ("deviate", FaultKind::Deviate),
    ("forget", FaultKind::Forget),
    ("forget-last", FaultKind::ForgetLast),
    ("invent", FaultKind::Invent),
    ("invent-two", FaultKind::InventTwo),
    ("nudge-slots", FaultKind::NudgeSlots),
];

/// A fault and the one job that it applies to; none for a fault that is not known.
fn parse_fault(fault_text: &str) -> Option<(FaultKind, Option<String>)> {
    let (kind_name, only_job) = match fault_text.split_once('@') {
        Some((kind_name, job_name)) => (kind_name, Some(job_name.to_owned())),
        None => (fault_text, None),
    };
    let (_, fault_kind) = KINDS.iter().find(|(known_name, _)| *known_name == kind_name)?;
    Some((*fault_kind, only_job))
}

/// The faults that this worker is told to commit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    /// With the one job that each applies to; none: all.
    told_faults: Vec<(FaultKind, Option<String>)>,
    /// Runs so far, by job and by whether they recorded.
    run_counts: BTreeMap<(String, bool), u64>,
}

impl Faults {
    pub(crate) fn from_environment() -> Self {
        std::env::var(VARIABLE).map(|text| Self::parse(&text)).unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        Self {
            told_faults: text.split(',').filter_map(parse_fault).collect(),
            run_counts: BTreeMap::new(),
        }
    }

    pub(crate) fn strikes(&self, fault_kind: FaultKind, job_name: &str) -> bool {
        let is_for_job = |only_job: &Option<String>| {
            only_job.as_deref().is_none_or(|only_job| only_job == job_name)
        };
        self.told_faults
            .iter()
            .any(|(told_fault, only_job)| *told_fault == fault_kind && is_for_job(only_job))
    }

    /// The faults that strike when a job arrives.
    pub(crate) fn strike_on_arrival(&self, job: &str, pipe: &mut impl Write) {
        let striking_kinds = KINDS
            .iter()
            .map(|(_, fault_kind)| *fault_kind)
            .filter(|fault_kind| self.strikes(*fault_kind, job));
        striking_kinds.for_each(|fault_kind| Self::commit_fault(fault_kind, pipe));
    }

    /// The faults that strike when a job has run.
    pub(crate) fn strike_after(&mut self, job: &str, run: &mut WireRun) {
        self.strike_always(job, run);
        let run_count =
            self.run_counts.entry((job.to_owned(), !run.records.is_empty())).or_default();
        *run_count += 1;
        if run_count.is_multiple_of(2) {
            if self.strikes(FaultKind::Waver, job)
                && let Some(byte) = run
                    .buffers
                    .last_mut()
                    .and_then(|buffer| Arc::make_mut(&mut buffer.0).first_mut())
            {
                *byte ^= 1;
            }
            if self.strikes(FaultKind::WaverRecords, job)
                && let Some(word) = first_record_word(run)
            {
                *word &= *word - 1;
            }
        }
    }

    /// What every run suffers alike, so that only another engine can tell.
    fn strike_always(&self, job: &str, run: &mut WireRun) {
        // The canary would show it before any test runs; it has a fault of its own.
        if job == super::canary::NAME {
            return;
        }
        // Little-endian words: the lowest bit of a float, and the lowest of its exponent.
        let has_slots = !run.invocations.is_empty();
        for (fault_kind, byte, bit) in
            [(FaultKind::Nudge, 0, 1), (FaultKind::Deviate, 2, 0x80), (FaultKind::NudgeSlots, 0, 1)]
        {
            if self.strikes(fault_kind, job)
                && (fault_kind != FaultKind::NudgeSlots || has_slots)
                && let Some(byte) = run
                    .buffers
                    .last_mut()
                    .and_then(|buffer| Arc::make_mut(&mut buffer.0).get_mut(byte))
            {
                *byte ^= bit;
            }
        }
        let Some(record_word) = first_record_word(run).copied() else { return };
        if self.strikes(FaultKind::Forget, job) && record_word != 0 {
            lose_bit(run, record_word.trailing_zeros());
        }
        let highest_bit = 31 - record_word.leading_zeros().min(31);
        if self.strikes(FaultKind::ForgetLast, job) {
            lose_bit(run, highest_bit);
        }
        let Some(record_word) = first_record_word(run) else { return };
        let unset_bits = !*record_word & ((1 << highest_bit) - 1);
        let invented_ranks = [(FaultKind::Invent, 1), (FaultKind::InventTwo, 2)];
        let rank_count = invented_ranks
            .iter()
            .find(|(fault_kind, _)| self.strikes(*fault_kind, job))
            .map(|(_, rank_count)| *rank_count);
        if let (Some(rank_count), true) = (rank_count, unset_bits != 0) {
            let bit = 31 - unset_bits.leading_zeros();
            *record_word |= 1 << bit;
            let ranks = run
                .invocations
                .iter_mut()
                .take(1)
                .filter_map(|invocation_records| invocation_records.by_bit.get_mut(&bit));
            ranks.for_each(|bit_ranks| (0..rank_count).for_each(|rank| bit_ranks.insert(rank)));
        }
    }

    fn commit_fault(fault_kind: FaultKind, pipe: &mut impl Write) {
        // Errors on the way are of no interest: whatever comes out is the fault.
        match fault_kind {
            FaultKind::Abort => std::process::abort(),
            FaultKind::Panic => panic!("the fault `panic` was asked for"),
            FaultKind::Garbage => {
                drop(pipe.write_all(b"Segmentation fault, or some such words").and(pipe.flush()))
            }
            FaultKind::Hang => loop {
                std::thread::park();
            },
            FaultKind::Flood => {
                let _ = std::io::stderr().write_all(&vec![b'!'; 4 << 20]);
                let frame_header =
                    [b"vkcw".as_slice(), &super::frame::VERSION.to_le_bytes(), &[0xFF; 10]]
                        .concat();
                let _ = pipe.write_all(&frame_header).and(pipe.flush());
            }
            FaultKind::Truncate => {
                let truncated_frame = super::frame::encode_frame(&Reply::Failed("cut".to_owned()));
                let _ = truncated_frame
                    .map(|bytes| pipe.write_all(&bytes[..bytes.len() - 1]).and(pipe.flush()));
                super::system::exit_now(0);
            }
            FaultKind::HangExit => {
                let announced_phases =
                    [Phase::START, Phase { repetition: 0, stage: Stage::Dispatched(0) }];
                let phase_frames = announced_phases.map(|phase| {
                    super::frame::encode_frame(&Reply::Reached(phase)).unwrap_or_default()
                });
                let _ = pipe.write_all(&phase_frames.concat()).and(pipe.flush());
                super::system::hang_in_exit();
            }
            FaultKind::Allocate => {
                let mut taken_memory = Vec::new();
                loop {
                    // Written to, or it would not be there.
                    taken_memory.push(vec![1_u8; 16 << 20]);
                    std::hint::black_box(&mut taken_memory);
                }
            }
            FaultKind::Guard
            | FaultKind::Stray
            | FaultKind::Canary
            | FaultKind::Waver
            | FaultKind::WaverRecords
            | FaultKind::Nudge
            | FaultKind::Deviate
            | FaultKind::Forget
            | FaultKind::ForgetLast
            | FaultKind::Invent
            | FaultKind::InventTwo
            | FaultKind::NudgeSlots => {}
        }
    }
}

/// The first record word of a run.
fn first_record_word(run: &mut WireRun) -> Option<&mut u32> {
    run.records.first_mut()?.words.first_mut()
}

/// Takes a bit of the first record word away, and every invocation that set it.
fn lose_bit(run: &mut WireRun, bit: u32) {
    if let Some(record_word) = first_record_word(run) {
        *record_word &= !(1 << bit);
    }
    let setters_of_bit = run
        .invocations
        .iter_mut()
        .filter_map(|invocation_records| invocation_records.by_bit.get_mut(&bit));
    setters_of_bit.for_each(|ranks| *ranks = Ranks::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_applies_to_the_job_it_names_and_unknown_ones_to_none() {
        let all = Faults::parse("hang");
        assert!(all.strikes(FaultKind::Hang, "A") && !all.strikes(FaultKind::Abort, "A"));
        let one = Faults::parse("abort@A");
        assert!(one.strikes(FaultKind::Abort, "A") && !one.strikes(FaultKind::Abort, "B"));
        let several = Faults::parse("abort@A,hang@B,nonsense,hang@C");
        assert!(several.strikes(FaultKind::Abort, "A") && !several.strikes(FaultKind::Hang, "A"));
        assert!(["B", "C"].iter().all(|job| several.strikes(FaultKind::Hang, job)));
        assert!(KINDS.iter().all(|(_, kind)| !Faults::parse("nonsense").strikes(*kind, "A")));
    }
}

//! What the host reads and writes through mapped memory.
//!
//! Knows: the host's own accesses are no calls, so mapping memory after the device wrote it, and
//! invalidating it, count as reading it; memory that was mapped all the time may be read, or not.
//! Promises: what a fence or a wait for idle completes is not taken as visible to the host: that
//! takes a dependency to the stage HOST with HOST_READ (Vulkan specification, "Fences"), and on
//! memory that is not coherent vkInvalidateMappedMemoryRanges.
//! Does not cover: whether the host waits before it reads, and which bytes it reads.

use super::OrderCheck;
use super::ordering::Access;
use super::span::AccessSpan;
use super::state::Completion;
use super::uses::UseKind;
use crate::row::{CaptureCheckName, CaptureReport};
use crate::words::operation_in_words;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use vkcert_capture::program::{MemorySpan, Program};
use vkcert_model::evidence::CheckStatus;

/// What the host has mapped and flushed.
#[derive(Debug, Default)]
pub(super) struct HostState {
    /// By memory: the operation that mapped it, and the range.
    mapped: BTreeMap<usize, (usize, MemorySpan)>,
    /// Ranges that were mapped at any time, each with the operation that mapped it first.
    ever_mapped: BTreeMap<usize, Vec<(usize, MemorySpan)>>,
    /// Ranges that were flushed, by memory.
    flushed: BTreeMap<usize, Vec<MemorySpan>>,
    /// Ranges that were invalidated since the host's last wait, by memory.
    invalidated: BTreeMap<usize, Vec<MemorySpan>>,
    told: BTreeSet<(CaptureCheckName, usize)>,
    /// Writes of which it was told that the host did not wait for them.
    told_pending: BTreeSet<usize>,
    /// Writes whose missing invalidation was told.
    told_invalidation: BTreeSet<usize>,
    /// Writes that the host was given without a dependency.
    given: Vec<GivenWrite>,
    /// What is told of writes whose reading is not shown, unless it is later; by the write.
    possible: BTreeMap<usize, (String, usize)>,
    reads: u64,
    writes: u64,
}

/// A write that the host was given by mapping memory, with no dependency between.
#[derive(Debug)]
struct GivenWrite {
    written: usize,
    map: usize,
    mapped: MemorySpan,
    message: String,
    use_behind: UseBehind,
}

/// Whether the device reads what is mapped once it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UseBehind {
    /// It does not: the host can have mapped it only to read.
    None,
    /// It does: the host may have mapped it only to write.
    Read,
}

/// What speaks for a read of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadSign {
    /// The memory was mapped or invalidated after the device wrote it.
    Shown(usize),
    /// It was mapped all the time.
    Possible(usize),
}

const MAPPED_BEFORE: &str = "; undetermined, because the memory was mapped before, and whether \
                             the host reads it is no call";

const FLUSHED_IN_PART: &str = "; undetermined, because whether the host wrote, and the device uses, \
                               the bytes that were not flushed is not known";

fn overlap(first: &MemorySpan, second: &MemorySpan) -> bool {
    first.memory == second.memory && first.start < second.end && second.start < first.end
}

fn covers(spans: &[MemorySpan], asked: &MemorySpan) -> bool {
    let mut next = asked.start;
    let mut sorted: Vec<&MemorySpan> = spans.iter().collect();
    sorted.sort();
    for span in sorted {
        if span.start <= next && next < span.end {
            next = span.end;
        }
    }
    next >= asked.end
}

const MAPPED_TO_WRITE: &str = "; undetermined, because the device reads of what was mapped once it \
                               was, so that the host may have mapped it to write alone";

impl HostState {
    /// The device reads bytes: whoever mapped some of the same before may have written them.
    pub(super) fn read_behind(&mut self, span: &MemorySpan) {
        let overlapping = self.given.iter_mut().filter(|given| overlap(&given.mapped, span));
        overlapping.for_each(|given| given.use_behind = UseBehind::Read);
    }

    fn tell_given(&mut self, report: &mut CaptureReport) {
        for mut given in std::mem::take(&mut self.given) {
            let status = match given.use_behind {
                UseBehind::None => CheckStatus::Refuted,
                UseBehind::Read => {
                    given.message.push_str(MAPPED_TO_WRITE);
                    CheckStatus::Undetermined
                }
            };
            let operations = [given.written, given.map];
            report.add(CaptureCheckName::HostRead, status, given.message, &operations);
        }
    }

    /// Whether the host mapped any of a memory so far.
    pub(super) fn was_mapped(&self, memory: usize) -> bool {
        self.ever_mapped.contains_key(&memory)
    }

    pub(super) fn flushed(&mut self, span: MemorySpan) {
        self.flushed.entry(span.memory).or_default().push(span);
    }

    /// The device reads what it did not write itself: the host must have.
    pub(super) fn device_reads(
        &mut self,
        access: &Access,
        kind: UseKind,
        span: &MemorySpan,
        program: &Program,
        report: &mut CaptureReport,
    ) {
        const CHECK: CaptureCheckName = CaptureCheckName::HostWrite;
        let mapped = self.ever_mapped.get(&span.memory).map_or(&[][..], Vec::as_slice);
        let mapped = mapped.iter().find(|(_, mapped)| overlap(mapped, span));
        let Some((map, _)) = mapped.filter(|_| kind == UseKind::Read) else { return };
        self.writes += u64::from(report.scope.has_operations(&[access.operation]));
        let flushed = self.flushed.get(&span.memory).map_or(&[][..], Vec::as_slice);
        if !program.memories[span.memory].is_non_coherent() || covers(flushed, span) {
            return;
        }
        if self.told.insert((CHECK, access.operation)) {
            let is_flushed = flushed.iter().any(|flushed| overlap(flushed, span));
            let (unflushed, status) = match is_flushed {
                true => ("some of them", CheckStatus::Undetermined),
                false => ("them", CheckStatus::Refuted),
            };
            let mut message = format!(
                "{} reads bytes {} to {} of memory {}, which is not coherent and which the host \
                 mapped in {}, and the host never flushed {unflushed}: vkFlushMappedMemoryRanges is \
                 needed before the submission (Vulkan specification, \"Host Access to Device \
                 Memory Objects\")",
                operation_in_words(program, access.operation),
                span.start,
                span.end,
                span.memory + 1,
                operation_in_words(program, *map),
            );
            if is_flushed {
                message.push_str(FLUSHED_IN_PART);
            }
            report.add(CHECK, status, message, &[*map, access.operation]);
        }
    }

    /// What is said where nothing speaks against it.
    pub(super) fn hold(&self, report: &mut CaptureReport) {
        let message = match self.reads {
            0 => "no read of the host is seen of what the device wrote".to_owned(),
            1 => "what 1 read of the host needs is available to it".to_owned(),
            reads => format!("what {reads} reads of the host need is available to it"),
        };
        report.holds(CaptureCheckName::HostRead, message);
        let message = match self.writes {
            0 => "no read of the device is seen of what the host wrote".to_owned(),
            1 => "what the host wrote for 1 read of the device is coherent or flushed".to_owned(),
            writes => {
                format!(
                    "what the host wrote for {writes} reads of the device is coherent or flushed"
                )
            }
        };
        report.holds(CaptureCheckName::HostWrite, message);
    }
}

impl OrderCheck<'_> {
    pub(super) fn host_mapped(&mut self, index: usize, span: MemorySpan) {
        self.host.mapped.insert(span.memory, (index, span));
        let ever = self.host.ever_mapped.entry(span.memory).or_default();
        let is_within = |mapped: &MemorySpan| mapped.start <= span.start && span.end <= mapped.end;
        if !ever.iter().any(|(_, mapped)| is_within(mapped)) {
            ever.push((index, span));
        }
        self.check_host_reads(&span, ReadSign::Shown(index));
    }

    pub(super) fn host_waited(&mut self) {
        self.host.invalidated.clear();
        let mapped: Vec<(usize, MemorySpan)> = self.host.mapped.values().copied().collect();
        for (map, span) in mapped {
            // A wait is not yet a read; what was mapped later than the write shows one.
            self.check_host_reads(&span, ReadSign::Possible(map));
        }
    }

    pub(super) fn host_invalidated(&mut self, index: usize, span: MemorySpan) {
        self.host.invalidated.entry(span.memory).or_default().push(span);
        self.check_host_reads(&span, ReadSign::Shown(index));
    }

    pub(super) fn host_unmapped(&mut self, memory: usize) {
        if let Some((map, span)) = self.host.mapped.get(&memory).copied() {
            self.check_pending_writes(map, &span);
        }
        self.end_mapping(memory);
    }

    fn end_mapping(&mut self, memory: usize) {
        let Some((map, span)) = self.host.mapped.remove(&memory) else { return };
        self.check_invalidated(map, &span);
    }

    /// Tells of memory that the host mapped and unmapped while the device may write it.
    fn check_pending_writes(&mut self, map: usize, span: &MemorySpan) {
        let mut pending = Vec::new();
        for (range, state) in self.ranges.touched(&AccessSpan::from(*span)) {
            state.catch_up(&self.log, &range, self.program);
            let Some(range) = range.bytes() else { continue };
            for write in state.writes() {
                if write.ordered.completion == Completion::Pending {
                    pending.push((range, write.ordered.access.operation));
                }
            }
        }
        for (range, written) in pending {
            if !self.is_behind(map, written) || !self.host.told_pending.insert(written) {
                continue;
            }
            let message = format!(
                "{} writes bytes {} to {} of memory {}, which {} gives to the host until it is \
                 unmapped, and the host did not wait for that write (Vulkan specification, \"Fences\"); \
                 undetermined, because whether the host reads it is no call",
                operation_in_words(self.program, written),
                range.start,
                range.end,
                range.memory + 1,
                operation_in_words(self.program, map),
            );
            let operations = [written, map];
            let status = CheckStatus::Undetermined;
            self.report.add(CaptureCheckName::HostRead, status, message, &operations);
        }
    }

    pub(super) fn host_ended(&mut self) {
        let mapped: Vec<usize> = self.host.mapped.keys().copied().collect();
        mapped.into_iter().for_each(|memory| self.end_mapping(memory));
        self.host.tell_given(self.report);
        let check = CaptureCheckName::HostRead;
        let mut by_sign: BTreeMap<usize, (String, Vec<usize>)> = BTreeMap::new();
        for (written, (message, sign)) in std::mem::take(&mut self.host.possible) {
            if !self.host.told.contains(&(check, written)) {
                by_sign.entry(sign).or_insert((message, Vec::new())).1.push(written);
            }
        }
        // One mapping most often serves many buffers: it is told of once.
        for (sign, (mut message, written)) in by_sign {
            if written.len() > 1 {
                message.push_str(&format!("; the same of {} other writes", written.len() - 1));
            }
            let operations: Vec<usize> = written.into_iter().chain([sign]).collect();
            self.report.add(check, CheckStatus::Undetermined, message, &operations);
        }
    }

    /// Asks for visibility to the host of what the device wrote and the host knows to be complete.
    fn check_host_reads(&mut self, span: &MemorySpan, sign: ReadSign) {
        let mut missing = Vec::new();
        for (range, state) in self.ranges.touched(&AccessSpan::from(*span)) {
            state.catch_up(&self.log, &range, self.program);
            let Some(range) = range.bytes() else { continue };
            for write in state.writes() {
                let Completion::Known(_) = write.ordered.completion else { continue };
                let written = write.ordered.access.operation;
                if let ReadSign::Shown(reader) = sign {
                    let orderers = write.host.as_slice();
                    let place = "the host".to_owned();
                    self.report.scope.add_flow(written, reader, place, orderers);
                }
                match write.host {
                    Some(barrier) => {
                        self.host.reads += u64::from(self.report.scope.has_operations(&[written]));
                        self.orderers.insert(barrier);
                    }
                    None => missing.push((range, write.ordered.clone())),
                }
            }
        }
        for (range, write) in missing {
            let written = write.access.operation;
            let (sign, shown) = match sign {
                ReadSign::Shown(by) => (by, true),
                ReadSign::Possible(map) => (map, self.is_behind(map, written)),
            };
            let check = CaptureCheckName::HostRead;
            if self.host.told.contains(&(check, written)) {
                continue;
            }
            let mut message = self.missing_host_dependency(&range, written, sign);
            match (&write.unknown, shown) {
                (Some(name), _) => {
                    let reason = format!("; undetermined, because {name} is not modelled");
                    message.push_str(&reason);
                    self.host.possible.entry(written).or_insert((message, sign));
                }
                (None, false) => {
                    message.push_str(MAPPED_BEFORE);
                    self.host.possible.entry(written).or_insert((message, sign));
                }
                (None, true) => {
                    self.host.told.insert((check, written));
                    let mapping = self.host.mapped.get(&span.memory);
                    match mapping.filter(|(map, _)| *map == sign) {
                        Some((map, mapped)) => {
                            let (map, mapped, use_behind) = (*map, *mapped, UseBehind::None);
                            let given = GivenWrite { written, map, mapped, message, use_behind };
                            self.host.given.push(given);
                        }
                        // To invalidate is to read.
                        None => {
                            let operations = [written, sign];
                            self.report.add(check, CheckStatus::Refuted, message, &operations);
                        }
                    }
                }
            }
        }
    }

    fn missing_host_dependency(&self, range: &MemorySpan, written: usize, sign: usize) -> String {
        let writer = operation_in_words(self.program, written);
        let reader = operation_in_words(self.program, sign);
        format!(
            "{writer} writes bytes {} to {} of memory {}, which {reader} gives to the host, and no \
             dependency makes them available to the host: a barrier with srcStageMask and \
             srcAccessMask of the write, dstStageMask HOST and dstAccessMask HOST_READ is needed, \
             because a fence makes nothing visible to the host (Vulkan specification, \"Fences\")",
            range.start,
            range.end,
            range.memory + 1,
        )
    }

    fn is_behind(&self, later: usize, earlier: usize) -> bool {
        self.positions[later] > self.positions[earlier]
    }

    /// Asks for an invalidation of memory that is not coherent, before it is unmapped.
    fn check_invalidated(&mut self, map: usize, span: &MemorySpan) {
        if !self.program.memories[span.memory].is_non_coherent() {
            return;
        }
        let invalidated = self.host.invalidated.remove(&span.memory).unwrap_or_default();
        let mut missing = Vec::new();
        for (range, state) in self.ranges.touched(&AccessSpan::from(*span)) {
            state.catch_up(&self.log, &range, self.program);
            let Some(range) = range.bytes() else { continue };
            for write in state.writes() {
                let Completion::Known(_) = write.ordered.completion else { continue };
                let asked = MemorySpan {
                    start: range.start.max(span.start),
                    end: range.end.min(span.end),
                    ..range
                };
                if !covers(&invalidated, &asked) {
                    missing.push((asked, write.ordered.access.operation));
                }
            }
        }
        for (range, written) in missing {
            let check = CaptureCheckName::HostRead;
            if !self.host.told_invalidation.insert(written) {
                continue;
            }
            let mut message = format!(
                "{} writes bytes {} to {} of memory {}, which is not coherent, and {} gives them \
                 to the host without vkInvalidateMappedMemoryRanges behind its wait (Vulkan \
                 specification, \"Host Access to Device Memory Objects\")",
                operation_in_words(self.program, written),
                range.start,
                range.end,
                range.memory + 1,
                operation_in_words(self.program, map),
            );
            let status = if self.is_behind(map, written) {
                CheckStatus::Refuted
            } else {
                message.push_str(MAPPED_BEFORE);
                CheckStatus::Undetermined
            };
            self.report.add(check, status, message, &[written, map]);
        }
    }
}

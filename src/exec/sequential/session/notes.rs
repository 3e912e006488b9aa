//! Notes and lines that a run leaves for people.

use super::early::Early;
use crate::ir::{ControlBarrier, MemoryClass, Program};
use crate::machine::finding_collector::FindingCollector;
use crate::machine::recorder::Rank;
use std::collections::BTreeMap;
use vkcert_exec::Completion;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::invocations::Ranks;
use vkcert_model::printed::{Printed, PrintedLine};
use vkcert_spirv::barriers::barrier_number;
use vkcert_spirv::module::Module;

/// Barriers that a dispatch passed and that order accesses by the idiom alone, of memory that the
/// kernel writes.
pub(crate) fn idiom_notes(module: &Module, program: &Program, entered: &[u64]) -> Vec<String> {
    let writes =
        |kept: MemoryClass| program.descriptors.iter().any(|one| one.written && one.kept == kept);
    let (buffers, images) = (writes(MemoryClass::Buffer), writes(MemoryClass::Image));
    let passed =
        program.barriers.iter().zip(entered.iter().skip(1)).filter(|(_, times)| **times > 0);
    let by_idiom = passed.filter_map(|(barrier, _)| {
        match (
            buffers && barrier.fences.buffers_by_idiom(),
            images && barrier.fences.images_by_idiom(),
        ) {
            (true, true) => Some((barrier, "buffer and image")),
            (true, false) => Some((barrier, "buffer")),
            (false, true) => Some((barrier, "image")),
            (false, false) => None,
        }
    });
    let note = |(barrier, memory): (&ControlBarrier, &str)| {
        format!(
            "the barrier at {} orders {memory} accesses by the memory barrier before it alone, which the memory model `idiom` accepts; the Vulkan memory model (`spec`) wants one directly behind it as well",
            module.place_of(barrier.source_index as usize)
        )
    };
    by_idiom.map(note).collect()
}

/// How often whole workgroups executed each barrier, by its number in the module.
pub(crate) fn executed_whole(
    module: &Module,
    program: &Program,
    whole: &[u64],
) -> BTreeMap<u32, u64> {
    let mut executed = BTreeMap::new();
    for (barrier, times) in program.barriers.iter().zip(whole).filter(|(_, times)| **times > 0) {
        *executed.entry(barrier_number(module, barrier.source_index as usize)).or_insert(0) +=
            times;
    }
    executed
}

/// Workgroups that executed each barrier, by its number in the module, of those by its index in the
/// program.
pub(crate) fn by_number(
    module: &Module,
    program: &Program,
    by_index: &BTreeMap<u32, Ranks>,
) -> BTreeMap<u32, Ranks> {
    let mut by_number: BTreeMap<u32, Ranks> = BTreeMap::new();
    for (index, workgroups) in by_index {
        let place = program.barriers[*index as usize].source_index;
        let known = by_number.entry(barrier_number(module, place as usize)).or_default();
        *known = known.united(workgroups);
    }
    by_number
}

pub(crate) fn over_memory(bytes: u64, limit: u64) -> Early {
    Early::Completion(Completion::Undetermined {
        reason: format!("the run needs {bytes} bytes of memory; the limit is {limit}"),
    })
}

/// Printed lines with their places.
pub(crate) fn printed_lines(
    (lines, omitted): (Vec<(Rank, u32, String)>, u64),
    module: &Module,
    invocation: impl Fn(Rank) -> [u32; 3],
) -> Printed {
    let line = |(rank, place, text): (Rank, u32, String)| PrintedLine {
        dispatch: 0,
        invocation: invocation(rank),
        place: module.place_of(place as usize),
        text,
    };
    Printed { lines: lines.into_iter().map(line).collect(), omitted }
}

pub(crate) fn no_termination(
    collector: &mut FindingCollector,
    place: u32,
    invocation: [u32; 3],
    limit: u64,
) {
    let pair = [place, crate::machine::finding_collector::NOWHERE];
    collector.add_occurrence(FindingKind::NoTermination, pair, 0, || Finding {
        invocations: vec![invocation],
        ..Finding::new(
            FindingKind::NoTermination,
            format!("the limit of {limit} steps was reached here"),
        )
    });
}

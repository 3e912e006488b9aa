//! Notes and lines that a run leaves for people.

use super::early::EarlyEnd;
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
pub(crate) fn idiom_notes(
    spirv_module: &Module,
    program: &Program,
    entered_times: &[u64],
) -> Vec<String> {
    let writes_kind = |kept: MemoryClass| {
        program.descriptors.iter().any(|descriptor| descriptor.written && descriptor.kept == kept)
    };
    let (writes_buffers, writes_images) =
        (writes_kind(MemoryClass::Buffer), writes_kind(MemoryClass::Image));
    let passed_barriers =
        program.barriers.iter().zip(entered_times.iter().skip(1)).filter(|(_, times)| **times > 0);
    let idiom_barriers = passed_barriers.filter_map(|(barrier, _)| {
        match (
            writes_buffers && barrier.fences.buffers_by_idiom(),
            writes_images && barrier.fences.images_by_idiom(),
        ) {
            (true, true) => Some((barrier, "buffer and image")),
            (true, false) => Some((barrier, "buffer")),
            (false, true) => Some((barrier, "image")),
            (false, false) => None,
        }
    });
    let idiom_note = |(barrier, memory_kinds): (&ControlBarrier, &str)| {
        format!(
            "the barrier at {} orders {memory_kinds} accesses by the memory barrier before it alone, which the memory model `idiom` accepts; the Vulkan memory model (`spec`) wants one directly behind it as well",
            spirv_module.place_of(barrier.source_index as usize)
        )
    };
    idiom_barriers.map(idiom_note).collect()
}

/// How often whole workgroups executed each barrier, by its number in the module.
pub(crate) fn whole_executions(
    spirv_module: &Module,
    program: &Program,
    whole_times: &[u64],
) -> BTreeMap<u32, u64> {
    let mut times_by_number = BTreeMap::new();
    for (barrier, times) in
        program.barriers.iter().zip(whole_times).filter(|(_, times)| **times > 0)
    {
        *times_by_number
            .entry(barrier_number(spirv_module, barrier.source_index as usize))
            .or_insert(0) += times;
    }
    times_by_number
}

/// Workgroups that executed each barrier, by its number in the module, of those by its index in the
/// program.
pub(crate) fn workgroups_by_number(
    spirv_module: &Module,
    program: &Program,
    by_index: &BTreeMap<u32, Ranks>,
) -> BTreeMap<u32, Ranks> {
    let mut by_number: BTreeMap<u32, Ranks> = BTreeMap::new();
    for (barrier_index, workgroups) in by_index {
        let place = program.barriers[*barrier_index as usize].source_index;
        let known_workgroups =
            by_number.entry(barrier_number(spirv_module, place as usize)).or_default();
        *known_workgroups = known_workgroups.united(workgroups);
    }
    by_number
}

pub(crate) fn memory_limit_end(needed_bytes: u64, memory_limit: u64) -> EarlyEnd {
    EarlyEnd::Completion(Completion::Undetermined {
        reason: format!(
            "the run needs {needed_bytes} bytes of memory; the limit is {memory_limit}"
        ),
    })
}

/// Printed lines with their places.
pub(crate) fn printed_lines(
    (ranked_lines, omitted_lines): (Vec<(Rank, u32, String)>, u64),
    spirv_module: &Module,
    global_id: impl Fn(Rank) -> [u32; 3],
) -> Printed {
    let printed_line = |(rank, place, text): (Rank, u32, String)| PrintedLine {
        dispatch: 0,
        invocation: global_id(rank),
        place: spirv_module.place_of(place as usize),
        text,
    };
    Printed { lines: ranked_lines.into_iter().map(printed_line).collect(), omitted: omitted_lines }
}

pub(crate) fn report_no_termination(
    collector: &mut FindingCollector,
    source_index: u32,
    global_id: [u32; 3],
    step_limit: u64,
) {
    let source_pair = [source_index, crate::machine::finding_collector::NOWHERE];
    collector.add_occurrence(FindingKind::NoTermination, source_pair, 0, || Finding {
        invocations: vec![global_id],
        ..Finding::new(
            FindingKind::NoTermination,
            format!("the limit of {step_limit} steps was reached here"),
        )
    });
}

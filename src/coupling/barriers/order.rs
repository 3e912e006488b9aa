//! Rows of accesses that barriers are to order.
//!
//! Knows: the conflicting accesses of a kernel, which barriers order nothing.
//! Promises: the accesses of an object that are ordered are one row; each pair that is not is told
//! with its places and the way between them, equal ones of a line once with their number.

use super::host_values::{Specialization, host_ranges, specializations};
use super::shown::ShownFaults;
use super::{fault_in_words, open_in_words};
use crate::CouplingInput;
use crate::expressions::HostExpressions;
use crate::rows::CheckRows;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::place::Place;
use vkcert_requirement::host::decide::HostModel;
use vkcert_spirv::pairs::{
    AccessOrder, ConflictingAccess, PairRequest, conflicting_accesses, idle_barriers,
};
use vkcert_spirv::range::AccessKind;

const CHECK: CouplingCheckName = CouplingCheckName::BarrierOrder;

/// Lines of a way that are named; of a longer one the first and the last are.
const MOST_PLACES_NAMED: usize = 6;

/// The order of the accesses of a kernel.
pub(super) struct AccessOrders<'a> {
    pub input: &'a CouplingInput<'a>,
    pub conflicts: Vec<ConflictingAccess>,
    /// Source indices of barriers that order nothing.
    pub idle_barriers: Vec<usize>,
    /// Specializations under which some accesses are not known to be ordered.
    pub open_specializations: BTreeSet<Specialization>,
}

impl<'a> AccessOrders<'a> {
    /// Of a kernel of which nothing is told.
    pub(super) fn unknown(input: &'a CouplingInput<'a>) -> Self {
        Self {
            input,
            conflicts: Vec::new(),
            idle_barriers: Vec::new(),
            open_specializations: BTreeSet::new(),
        }
    }

    /// What is known under every specialization that the host can make: of two accesses what is
    /// most open, of barriers those that never order anything; else why nothing is told.
    pub(super) fn of_kernel(
        input: &'a CouplingInput<'a>,
        host: &HostModel,
        expressions: &HostExpressions,
    ) -> Result<Self, String> {
        let ranges = host_ranges(input, host, expressions);
        let mut conflicts: BTreeMap<[usize; 2], ConflictingAccess> = BTreeMap::new();
        let mut idle: Option<BTreeSet<usize>> = None;
        let mut open_specializations = BTreeSet::new();
        for specialization in &specializations(input, host, expressions)? {
            let request = PairRequest {
                module: input.module,
                entry: &input.reflection.entry,
                specialization,
                memory_model: input.memory_model,
                unwritten_by_host: &BTreeSet::new(),
                aliased: &BTreeSet::new(),
            };
            let found_conflicts = conflicting_accesses(&request, &ranges);
            for conflict in found_conflicts.map_err(|error| error.to_string())? {
                if is_open(&conflict) {
                    open_specializations.insert(specialization.clone());
                }
                let (write, other) = (conflict.write, conflict.other);
                let key = [write.min(other), write.max(other)];
                let known = conflicts.entry(key).or_insert_with(|| conflict.clone());
                if known.order < conflict.order {
                    *known = conflict;
                }
            }
            let also_idle = BTreeSet::from_iter(idle_barriers(&request).unwrap_or_default());
            idle = Some(match idle {
                Some(idle) => idle.intersection(&also_idle).copied().collect(),
                None => also_idle,
            });
        }
        Ok(Self {
            input,
            conflicts: conflicts.into_values().collect(),
            idle_barriers: idle.into_iter().flatten().collect(),
            open_specializations,
        })
    }

    /// Where the accesses stand in the module that nothing is known to order.
    pub(super) fn sought_races(&self) -> BTreeSet<[u32; 2]> {
        let open = self.conflicts.iter().filter(|conflict| is_open(conflict));
        open.map(|conflict| self.words_of(conflict)).collect()
    }

    fn words_of(&self, conflict: &ConflictingAccess) -> [u32; 2] {
        let instructions = &self.input.module.instructions;
        let words = [conflict.write, conflict.other].map(|index| instructions[index].offset);
        [words[0].min(words[1]), words[0].max(words[1])]
    }

    /// Of a barrier that orders nothing: that it does not.
    pub(super) fn idle_note(&self, barrier_word: Option<u32>) -> &'static str {
        let instructions = &self.input.module.instructions;
        let is_idle = self
            .idle_barriers
            .iter()
            .any(|index| Some(instructions[*index].offset) == barrier_word);
        match is_idle {
            true => {
                "; note: it orders no two accesses of different invocations which nothing else orders"
            }
            false => "",
        }
    }

    pub(super) fn add_rows(&self, rows: &mut CheckRows, shown: &ShownFaults) {
        if self.conflicts.is_empty() {
            rows.add_holding(
                CHECK,
                "no invocation can read what another one of its workgroup writes, but by atomics",
            );
            return;
        }
        self.add_holding_rows(rows);
        // With the name of what is accessed.
        let mut open_messages: Vec<(&str, String, usize)> = Vec::new();
        for conflict in self.conflicts.iter().filter(|conflict| is_open(conflict)) {
            let fault = shown.races.get(&self.words_of(conflict));
            let accesses = [conflict.write, conflict.other];
            match fault {
                Some(fault) if !fault.contents.decide_accesses(accesses) => {
                    let message = format!(
                        "{}: {}{}",
                        self.accesses_in_words(conflict),
                        fault_in_words(fault),
                        self.way_in_words(conflict)
                    );
                    let [place, other_place] = self.places_of(conflict).map(Some);
                    let values = Some(fault.parameters.clone());
                    rows.begin_subject(format!("accesses of {}", conflict.name));
                    rows.add_refuted_at(CHECK, message, values, place, other_place);
                    rows.count_accesses(1);
                    rows.end_subject();
                }
                fault => {
                    let message = format!(
                        "{}: {}; {}{}",
                        self.accesses_in_words(conflict),
                        reason_in_words(conflict.order),
                        open_in_words(shown, fault),
                        self.way_in_words(conflict)
                    );
                    match open_messages.iter_mut().find(|(_, known, _)| *known == message) {
                        Some((_, _, count)) => *count += 1,
                        None => open_messages.push((&conflict.name, message, 1)),
                    }
                }
            }
        }
        for (name, message, count) in open_messages {
            rows.begin_subject(format!("accesses of {name}"));
            let message = match count {
                1 => message,
                count => format!("{message} ({count} pairs of accesses)"),
            };
            rows.add_undetermined(CHECK, message);
            rows.count_accesses(count);
        }
        rows.end_subject();
    }

    /// Rows for each object with the accesses that barriers order, and with those that are apart
    /// where none does.
    fn add_holding_rows(&self, rows: &mut CheckRows) {
        let mut counts: BTreeMap<(&str, AccessOrder), usize> = BTreeMap::new();
        for conflict in self.conflicts.iter().filter(|conflict| !is_open(conflict)) {
            *counts.entry((&conflict.name, conflict.order)).or_default() += 1;
        }
        for ((name, order), count) in counts {
            let (noun, verb) = if count == 1 { ("pair", "is") } else { ("pairs", "are") };
            let words = match order {
                AccessOrder::Apart => {
                    "to different elements wherever no barrier stands between them"
                }
                AccessOrder::Ordered
                | AccessOrder::UnknownOrder
                | AccessOrder::UnknownElements
                | AccessOrder::UnknownInvocations
                | AccessOrder::Missing => "ordered by a barrier on every way",
            };
            let message = format!(
                "{name}: {count} {noun} of a write and a read by different invocations {verb} {words}"
            );
            rows.add_holding(CHECK, message);
            rows.count_accesses(count);
        }
    }

    /// `tile[] (write at a.comp:9 in main, read at a.comp:11 in main) has no ordering barrier`
    fn accesses_in_words(&self, conflict: &ConflictingAccess) -> String {
        let [write, other] = self.places_of(conflict);
        let verb = match conflict.order {
            AccessOrder::Missing => "has no ordering barrier between invocations",
            AccessOrder::Ordered
            | AccessOrder::Apart
            | AccessOrder::UnknownOrder
            | AccessOrder::UnknownElements
            | AccessOrder::UnknownInvocations => {
                "is not shown to be ordered by a barrier between invocations"
            }
        };
        format!(
            "{} ({} at {write}, {} at {other}) {verb}",
            conflict.name,
            kind_word(conflict.write_kind),
            kind_word(conflict.other_kind)
        )
    }

    fn places_of(&self, conflict: &ConflictingAccess) -> [Place; 2] {
        [conflict.write, conflict.other].map(|index| self.input.module.place_of(index))
    }

    /// `; a way without one: line 9, 11, 12`
    fn way_in_words(&self, conflict: &ConflictingAccess) -> String {
        let Some(way) = &conflict.way else { return String::new() };
        let lines = way.iter().filter_map(|index| self.input.module.place_of(*index).line);
        let mut lines: Vec<String> = lines.map(|line| line.to_string()).collect();
        lines.dedup();
        if lines.len() < 2 {
            return String::new();
        }
        if lines.len() > MOST_PLACES_NAMED {
            let behind = lines.len() - MOST_PLACES_NAMED / 2;
            lines.splice(MOST_PLACES_NAMED / 2..behind, ["...".to_owned()]);
        }
        format!("; a way without one leads by lines {}", lines.join(", "))
    }
}

fn is_open(conflict: &ConflictingAccess) -> bool {
    !conflict.order.is_shown()
}

fn reason_in_words(order: AccessOrder) -> &'static str {
    match order {
        AccessOrder::Ordered => "a barrier does",
        AccessOrder::Apart => "no two invocations access one element",
        AccessOrder::UnknownOrder => {
            "fences apart from barriers, atomics, subgroups or barriers that not all may reach decide their order"
        }
        AccessOrder::UnknownElements => "it is not known which element an invocation accesses",
        AccessOrder::UnknownInvocations => {
            "it is not known which invocations come to both accesses"
        }
        AccessOrder::Missing => "whether control takes that way is not known",
    }
}

fn kind_word(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic",
    }
}

//! How many invocations executed each statement, from who recorded which bit.
//!
//! Knows: an invocation's records are those of a run of it alone, so what it executed follows from
//! them as what a test executed follows from the test's.
//! Promises: a statement has a number only where it is known of every invocation whether it
//! executed it, and only one that the records of the test bear out; records that cannot be are
//! counted in nothing.
//! Does not cover: how often an invocation executed a statement.

use super::super::statement::{Truth, visit_block};
use super::super::subject::CoverageSubject;
use super::assessment::Assessment;
use super::contradictions;
use super::test_evidence::has_impossible_record;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::{StatementId, TestId};
use vkcert_model::invocations::{DispatchInvocations, Ranks, count_by_sets};
use vkcert_model::metric::StatementCounts;
use vkcert_model::records::Records;
use vkcert_model::structure::StatementKind;
use vkcert_model::vector::Outcome;

/// A dispatch of a kernel.
pub struct CountedDispatch<'a> {
    /// Who recorded the bits that the test recorded.
    pub recorded_by: &'a DispatchInvocations,
    /// Its invocations.
    pub invocation_count: u64,
}

/// Counts of one test; `records` are those of the test, `dispatches` its dispatches of the kernel.
pub fn statement_counts(
    subject: &CoverageSubject,
    test: TestId,
    records: &Records,
    dispatches: &[CountedDispatch],
) -> StatementCounts {
    let assessment = Assessment::new(subject, &[]);
    let mut facts = assessment.execution_facts();
    if let Some(reason) = reason_not_counted(subject, (test, records), &facts, dispatches) {
        return StatementCounts::NotMeasured(reason);
    }
    // A vector that nobody recorded may be impossible under the configuration: it stands for
    // nothing.
    let recorded_bits = recorded_bits(dispatches);
    facts.iter_mut().for_each(|fact| fact.retain(|bit| recorded_bits.contains(bit)));
    let mut executed: BTreeMap<StatementId, Option<u64>> =
        assessment.statement_ids().into_iter().map(|id| (id, Some(0))).collect();
    for (shown_facts, invocation_count) in invocations_by_facts(&facts, dispatches) {
        let bits = shown_facts.iter().filter_map(|index| facts[*index as usize].first().copied());
        let execution = assessment.execution_of(&records_of_bits(subject, bits));
        for (id, count) in &mut executed {
            let truth = execution.statements.get(id).copied().unwrap_or(Truth::Unknown);
            *count = match truth {
                Truth::Yes => count.map(|count| count + invocation_count),
                Truth::No => *count,
                Truth::Unknown => None,
            };
        }
    }
    let of_test = assessment.execution_of(&records.of_ordinary_schedule());
    let borne_out = executed.into_iter().filter_map(|(id, count)| {
        let truth = of_test.statements.get(&id).copied().unwrap_or(Truth::Unknown);
        Some((id, borne_out_count(truth, count)?))
    });
    StatementCounts::Counted {
        dispatched: dispatches.iter().map(|dispatch| dispatch.invocation_count).sum(),
        executed: borne_out.collect(),
    }
}

/// The count that the records of the whole test bear out, if any: they tell whether the statement
/// was executed at all, and [`counts_contradiction`] holds counts to that.
fn borne_out_count(truth_of_test: Truth, count: Option<u64>) -> Option<u64> {
    match truth_of_test {
        Truth::Yes => count.filter(|count| *count > 0),
        Truth::No => Some(count.unwrap_or(0)),
        Truth::Unknown => count.filter(|count| *count == 0),
    }
}

/// The bits that some invocation recorded.
fn recorded_bits(dispatches: &[CountedDispatch]) -> BTreeSet<u32> {
    let ranks_by_bit = dispatches.iter().flat_map(|dispatch| &dispatch.recorded_by.by_bit);
    ranks_by_bit.filter(|(_, ranks)| !ranks.is_empty()).map(|(bit, _)| *bit).collect()
}

/// Whether counts agree with what the records of the test show: what none executed was not
/// executed, what some executed was. The reason why not.
pub fn counts_contradiction(
    subject: &CoverageSubject,
    records: &Records,
    counts: &StatementCounts,
) -> Option<String> {
    let StatementCounts::Counted { dispatched, executed } = counts else { return None };
    let assessment = Assessment::new(subject, &[]);
    let execution = assessment.execution_of(&records.of_ordinary_schedule());
    let statement_ids = assessment.statement_ids();
    let unknown_id = executed.keys().find(|id| !statement_ids.contains(id));
    if let Some(id) = unknown_id {
        return Some(format!("{id} is no statement of the kernel"));
    }
    statement_ids.into_iter().find_map(|id| {
        let truth = execution.statements.get(&id).copied().unwrap_or(Truth::Unknown);
        match (truth, executed.get(&id).copied()) {
            (_, Some(count)) if count > *dispatched => Some(format!(
                "{id} is executed by {count} invocations of {dispatched} that were dispatched"
            )),
            (Truth::Yes, Some(0)) => {
                Some(format!("no invocation executed {id}, which the records show"))
            }
            (Truth::No | Truth::Unknown, Some(1..)) => {
                Some(format!("invocations executed {id}, which the records do not show"))
            }
            (Truth::No, None) => Some(format!("{id} has no count")),
            (Truth::Yes | Truth::Unknown, None)
            | (Truth::No | Truth::Unknown, Some(0))
            | (Truth::Yes, Some(1..)) => None,
        }
    })
}

/// Statements that the ordinary run of a test did not execute, by its records; those of which these
/// do not tell are not among them.
pub fn unexecuted_statements(
    subject: &CoverageSubject,
    records: &Records,
) -> BTreeSet<StatementId> {
    let assessment = Assessment::new(subject, &[]);
    let execution = assessment.execution_of(&records.of_ordinary_schedule());
    let truths = execution.statements.into_iter();
    truths.filter(|(_, truth)| *truth == Truth::No).map(|(id, _)| id).collect()
}

/// Bits that show the same of what was executed: any of them that can be recorded.
type ExecutionFact = BTreeSet<u32>;

impl Assessment<'_> {
    /// Statements that are obligations.
    fn statement_ids(&self) -> BTreeSet<StatementId> {
        let mut statement_ids = BTreeSet::new();
        for (_, function) in self.reached_functions() {
            visit_block(&function.body, &mut |statement| statement_ids.extend(statement.id));
        }
        statement_ids
    }

    /// What statements depend on: outcomes of decisions, entries of functions, labels. Which
    /// conditions led to an outcome does not matter, nor do marks of calls and loops.
    fn execution_facts(&self) -> Vec<ExecutionFact> {
        let outcomes = self.layout.decisions.iter().flat_map(|slot| {
            [Outcome::True, Outcome::False].map(|outcome| {
                let rows = slot.vectors.iter().filter(|row| row.vector.outcome == outcome);
                rows.map(|row| slot.base + row.sum).collect()
            })
        });
        let mut marks = BTreeSet::new();
        for function in &self.structure.functions {
            marks.insert(function.entry_mark);
            visit_block(&function.body, &mut |statement| {
                if let StatementKind::Switch { switch, .. } = &statement.kind {
                    let labels = &self.structure.switch(*switch).labels;
                    marks.extend(labels.iter().filter_map(|label| label.mark));
                }
            });
        }
        let mark_bits = marks.into_iter().filter_map(|mark| self.layout.mark_bit(mark));
        outcomes.chain(mark_bits.map(|bit| BTreeSet::from([bit]))).collect()
    }
}

fn reason_not_counted(
    subject: &CoverageSubject,
    (test, records): (TestId, &Records),
    facts: &[ExecutionFact],
    dispatches: &[CountedDispatch],
) -> Option<String> {
    if records.follow_undefined() {
        return Some("what the test recorded may follow an undefined value".to_owned());
    }
    let impossible_slot =
        subject.layout.decisions.iter().find(|slot| has_impossible_record(slot, records));
    if let Some(slot) = impossible_slot {
        return Some(format!("a vector is recorded of {} that cannot occur", slot.decision));
    }
    if let Some(sentence) = contradictions(subject, &[(test, records)]).into_iter().next() {
        return Some(sentence);
    }
    let ordinary_records = records.of_ordinary_schedule();
    let recorded_bits = recorded_bits(dispatches);
    let differs = |bit: &&u32| recorded_bits.contains(*bit) != ordinary_records.has(**bit);
    facts.iter().flatten().find(differs).map(|_| {
        "the run that counted invocations did not record what the test recorded".to_owned()
    })
}

/// How many invocations showed exactly these facts, by ascending indices.
fn invocations_by_facts(
    facts: &[ExecutionFact],
    dispatches: &[CountedDispatch],
) -> BTreeMap<Vec<u32>, u64> {
    let mut invocations: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for dispatch in dispatches {
        let by_bit = &dispatch.recorded_by.by_bit;
        let who_showed = |fact: &ExecutionFact| {
            let setters = fact.iter().filter_map(|bit| by_bit.get(bit));
            setters.fold(Ranks::default(), |united, ranks| united.united(ranks))
        };
        let by_fact: Vec<Ranks> = facts.iter().map(who_showed).collect();
        let by_fact: Vec<&Ranks> = by_fact.iter().collect();
        for (shown_facts, count) in count_by_sets(&by_fact, dispatch.invocation_count) {
            *invocations.entry(shown_facts).or_default() += count;
        }
    }
    invocations
}

fn records_of_bits(subject: &CoverageSubject, bits: impl Iterator<Item = u32>) -> Records {
    let mut words = vec![0; subject.layout.words()];
    for bit in bits {
        words[bit as usize / 32] |= 1 << (bit % 32);
    }
    Records { words, ..Records::default() }
}

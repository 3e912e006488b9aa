//! Which obligations of coupling the tests have shown.
//!
//! Knows: the obligations of one kernel, and the pairs that each test that counts showed.
//! Promises: an obligation is covered by a test that showed one of its pairs. What a test showed and
//! cannot be given to one obligation covers none: those that it may be of are undetermined unless
//! another test covers them, and what belongs to none is a row of its own.
//! Does not cover: accesses that nothing orders and that no obligation has: they are data races,
//! which the engine tells as findings.

use super::classes::outside_id;
use super::finder::{Belonging, ObligationFinder, is_left_out};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::access_pair::{AccessPair, Passage};
use vkcert_model::coverage::{Proposal, SimpleObligation, Status};
use vkcert_model::id::{ObligationId, TestId};
use vkcert_model::pair_obligation::{KernelPairs, PairObligation, PairPlace, ShownBy};
use vkcert_model::place::Place;
use vkcert_model::records::Reach;
use vkcert_model::requirement::JustificationClass;

/// What tells which pairs tests showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairRecords<'a> {
    /// Records of them are kept.
    Kept,
    /// Nothing does, for this reason.
    Missing(&'a str),
}

/// Why a device shows no coupling coverage.
pub const DEVICE_KEEPS_NO_PAIRS: &str = "a device does not tell who wrote what an invocation reads";

/// What is assessed of one kernel.
#[derive(Clone, Copy)]
pub struct CouplingSubject<'a> {
    /// The obligations, and what tests showed beside them.
    pub kernel_pairs: &'a KernelPairs,
    /// Where an instruction of the module stands.
    pub place_of: &'a dyn Fn(u32) -> Place,
}

/// The pairs of the obligations that the execution of their use shows, of what a run executed.
pub fn executed_pairs(
    obligations: &[PairObligation],
    has_executed: impl Fn(u32) -> bool,
) -> BTreeSet<AccessPair> {
    let shown = obligations.iter().filter(|obligation| obligation.shown_by == ShownBy::Execution);
    let pairs = shown.flat_map(|obligation| obligation.pairs.iter().copied());
    pairs.filter(|pair| has_executed(pair.use_index)).collect()
}

/// Assesses the obligations of one kernel, in their order; behind them what tests showed and no
/// obligation has. `counted_tests` are those that count, in order of execution.
pub fn assess_coupling(
    subject: &CouplingSubject<'_>,
    records: PairRecords<'_>,
    counted_tests: &[(TestId, &BTreeSet<AccessPair>)],
) -> Vec<SimpleObligation> {
    let obligations = &subject.kernel_pairs.obligations;
    if let PairRecords::Missing(reason) = records {
        let unknown = obligations.iter().map(|obligation| {
            pair_row(obligation, Status::Undetermined, Some(reason.to_owned()), Vec::new())
        });
        return unknown.collect();
    }
    let finder = ObligationFinder::of_obligations(obligations);
    let mut shown = ShownObligations::new(obligations.len());
    for (test, pairs) in counted_tests {
        for pair in pairs.iter() {
            match finder.find(pair) {
                Belonging::To(number) => push_new(&mut shown.tests[number], *test),
                Belonging::ToOneOf(numbers) => {
                    for number in numbers {
                        push_new(&mut shown.unclear_tests[number], *test);
                    }
                }
                Belonging::ToNone if is_left_out(subject.kernel_pairs, pair) => {}
                Belonging::ToNone => push_new(shown.outside.entry(*pair).or_default(), *test),
            }
        }
    }
    shown.rows(subject)
}

/// What tests showed, by obligation.
struct ShownObligations {
    tests: Vec<Vec<TestId>>,
    unclear_tests: Vec<Vec<TestId>>,
    outside: BTreeMap<AccessPair, Vec<TestId>>,
}

impl ShownObligations {
    fn new(count: usize) -> Self {
        Self {
            tests: vec![Vec::new(); count],
            unclear_tests: vec![Vec::new(); count],
            outside: BTreeMap::new(),
        }
    }

    fn rows(self, subject: &CouplingSubject<'_>) -> Vec<SimpleObligation> {
        let shown = self.tests.into_iter().zip(self.unclear_tests);
        let mut rows: Vec<SimpleObligation> = subject
            .kernel_pairs
            .obligations
            .iter()
            .zip(shown)
            .map(|(obligation, (tests, unclear_tests))| {
                let (status, reason) = match (tests.is_empty(), unclear_tests.is_empty()) {
                    (false, _) => (Status::Covered, None),
                    (true, true) => (Status::Uncovered, None),
                    (true, false) => (Status::Undetermined, Some(unclear_reason(&unclear_tests))),
                };
                pair_row(obligation, status, reason, tests)
            })
            .collect();
        // Numbers are those of the kernel, whichever of its tests are asked.
        let mut known_pairs = subject.kernel_pairs.pairs_outside.clone();
        known_pairs.extend(self.outside.keys());
        let numbered = (1..).zip(known_pairs);
        rows.extend(numbered.filter_map(|(number, pair)| {
            let tests = self.outside.get(&pair)?.clone();
            Some(outside_row(number, &pair, tests, subject.place_of))
        }));
        rows
    }
}

fn unclear_reason(tests: &[TestId]) -> String {
    format!(
        "the instructions can access several objects, and what {} showed does not tell which",
        listed(tests)
    )
}

fn listed(tests: &[TestId]) -> String {
    tests.iter().map(TestId::as_str).collect::<Vec<_>>().join(", ")
}

/// Tests come in order, so that the same one can only be the last.
fn push_new(tests: &mut Vec<TestId>, test: TestId) {
    if tests.last() != Some(&test) {
        tests.push(test);
    }
}

fn pair_row(
    obligation: &PairObligation,
    status: Status,
    reason: Option<String>,
    tests: Vec<TestId>,
) -> SimpleObligation {
    let PairPlace { file, line, column, .. } = &obligation.use_place;
    let proposal =
        (status == Status::Uncovered && obligation.reach == Reach::Excluded).then(|| {
            let reason = "the configuration keeps control from one of the two places".to_owned();
            Proposal { class: JustificationClass::Deactivated, reason }
        });
    SimpleObligation {
        id: ObligationId::from(obligation.id.to_string()),
        file: file.clone(),
        line: *line,
        column: *column,
        text: obligation.to_string(),
        status,
        reason,
        tests,
        uncounted: Vec::new(),
        proposal,
        object: None,
    }
}

/// A pair that no obligation has: the pairs were not all told before the tests ran.
fn outside_row(
    number: usize,
    pair: &AccessPair,
    tests: Vec<TestId>,
    place_of: &dyn Fn(u32) -> Place,
) -> SimpleObligation {
    let use_place = place_of(pair.use_index);
    let written = match pair.passage {
        Passage::Host => "given by the host".to_owned(),
        Passage::Dispatch { kernel, .. } => format!("written by {kernel}"),
        Passage::Barrier { store, .. }
        | Passage::Atomic { store }
        | Passage::Unordered { store } => {
            format!("written at {}", place_of(store))
        }
    };
    let reason = format!(
        "{} showed a pair that is not among those of the kernel: one memory may be bound or named \
         in two ways",
        listed(&tests)
    );
    SimpleObligation {
        id: outside_id(number),
        file: use_place.file.clone().unwrap_or_default(),
        line: use_place.line.unwrap_or(0),
        column: use_place.column.unwrap_or(0),
        text: format!("{written} -> read at {use_place}"),
        status: Status::Undetermined,
        reason: Some(reason),
        tests,
        uncounted: Vec::new(),
        proposal: None,
        object: None,
    }
}

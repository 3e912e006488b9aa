//! Which obligations of coupling the tests have shown.
//!
//! Knows: the obligations of one kernel, and the pairs that each test that counts showed.
//! Promises: an obligation is covered by a test that showed one of its pairs. What a test showed and
//! cannot be given to one obligation covers none: those that it may be of are undetermined unless
//! another test covers them, and what belongs to none is a row of its own.
//! Does not cover: accesses that nothing orders and that no obligation has: they are data races,
//! which the engine tells as findings.

use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::access_pair::{AccessPair, Passage, ReadDescriptor};
use vkcert_model::coverage::{Proposal, SimpleObligation, Status};
use vkcert_model::id::{ObligationId, TestId};
use vkcert_model::pair_obligation::{CouplingClass, PairObligation, PairPlace, ShownBy};
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

/// Whether obligations name what earlier dispatches leave to later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlierDispatches {
    /// All pairs of dispatches are among them.
    Listed,
    /// None are: nothing tells which dispatches follow each other.
    NotListed,
}

/// What is assessed of one kernel.
#[derive(Clone, Copy)]
pub struct CouplingSubject<'a> {
    /// The obligations.
    pub obligations: &'a [PairObligation],
    /// Whether those of class kernel-to-kernel are among them.
    pub earlier_dispatches: EarlierDispatches,
    /// Bindings whose contents the host never writes, as its interface says. What tests fill them
    /// with stands for what another kernel leaves there.
    pub unwritten_by_host: &'a BTreeSet<ReadDescriptor>,
    /// Where an instruction of the module stands.
    pub place_of: &'a dyn Fn(u32) -> Place,
}

/// Obligations of one class, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassSummary {
    /// The class.
    pub class: CouplingClass,
    /// All of them.
    pub total: u32,
    /// Shown by tests that count.
    pub covered: u32,
    /// Uncovered, with an accepted justification.
    pub justified: u32,
    /// Shown by no test that counts.
    pub uncovered: u32,
    /// Not known.
    pub undetermined: u32,
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
    if let PairRecords::Missing(reason) = records {
        let unknown = subject.obligations.iter().map(|obligation| {
            pair_row(obligation, Status::Undetermined, Some(reason.to_owned()), Vec::new())
        });
        return unknown.collect();
    }
    let finder = ObligationFinder::of_obligations(subject.obligations);
    let mut shown = ShownObligations::new(subject.obligations.len());
    for (test, pairs) in counted_tests {
        for pair in pairs.iter() {
            match finder.find(pair) {
                Belonging::To(number) => push_new(&mut shown.tests[number], *test),
                Belonging::ToOneOf(numbers) => {
                    for number in numbers {
                        push_new(&mut shown.unclear_tests[number], *test);
                    }
                }
                Belonging::ToNone if subject.leaves_out(pair) => {}
                Belonging::ToNone => push_new(shown.outside.entry(*pair).or_default(), *test),
            }
        }
    }
    shown.rows(subject)
}

/// The obligations by class, as they stand after justifications; `rows` begin with those of the
/// obligations, in their order.
pub fn class_summaries(
    obligations: &[PairObligation],
    rows: &[SimpleObligation],
) -> Vec<ClassSummary> {
    let mut summaries = CouplingClass::ALL.map(|class| ClassSummary {
        class,
        total: 0,
        covered: 0,
        justified: 0,
        uncovered: 0,
        undetermined: 0,
    });
    for (obligation, row) in obligations.iter().zip(rows) {
        let of_class = summaries.iter_mut().filter(|summary| summary.class == obligation.class);
        for summary in of_class {
            summary.total += 1;
            *match row.status {
                Status::Covered => &mut summary.covered,
                Status::Justified => &mut summary.justified,
                Status::Uncovered => &mut summary.uncovered,
                Status::Undetermined => &mut summary.undetermined,
            } += 1;
        }
    }
    summaries.into_iter().filter(|summary| summary.total > 0).collect()
}

impl CouplingSubject<'_> {
    /// Whether a pair without obligation is none by rule.
    fn leaves_out(&self, pair: &AccessPair) -> bool {
        match pair.passage {
            Passage::Unordered { .. } => true,
            Passage::Host => pair
                .descriptor
                .is_some_and(|descriptor| self.unwritten_by_host.contains(&descriptor)),
            Passage::Dispatch { .. } => self.earlier_dispatches == EarlierDispatches::NotListed,
            Passage::Barrier { .. } | Passage::Atomic { .. } => false,
        }
    }
}

/// Which obligation a shown pair is of.
#[derive(Debug, PartialEq, Eq)]
enum Belonging {
    To(usize),
    /// The pair does not tell which.
    ToOneOf(BTreeSet<usize>),
    ToNone,
}

/// An obligation by its index, with the descriptor that its use reads through.
type FoundObligation = (Option<ReadDescriptor>, usize);

/// Obligations by the pairs that show them.
struct ObligationFinder {
    by_pair: BTreeMap<(u32, Passage), Vec<FoundObligation>>,
    /// By use and store, whatever orders them.
    by_store: BTreeMap<(u32, u32), Vec<FoundObligation>>,
}

impl ObligationFinder {
    fn of_obligations(obligations: &[PairObligation]) -> Self {
        let mut finder = Self { by_pair: BTreeMap::new(), by_store: BTreeMap::new() };
        for (number, obligation) in obligations.iter().enumerate() {
            for pair in &obligation.pairs {
                let entry = (pair.descriptor, number);
                finder.by_pair.entry((pair.use_index, pair.passage)).or_default().push(entry);
                if let Passage::Barrier { store, .. } | Passage::Atomic { store } = pair.passage {
                    finder.by_store.entry((pair.use_index, store)).or_default().push(entry);
                }
            }
        }
        finder
    }

    fn find(&self, pair: &AccessPair) -> Belonging {
        let entries = match pair.passage {
            // What orders the two is not followed by the engine: flags, fences apart from barriers.
            Passage::Unordered { store } => self.by_store.get(&(pair.use_index, store)),
            Passage::Host
            | Passage::Dispatch { .. }
            | Passage::Barrier { .. }
            | Passage::Atomic { .. } => self.by_pair.get(&(pair.use_index, pair.passage)),
        };
        let entries = entries.map_or(&[][..], Vec::as_slice);
        let exact = entries.iter().filter(|(descriptor, _)| *descriptor == pair.descriptor);
        let mut numbers: BTreeSet<usize> = exact.map(|(_, number)| *number).collect();
        if numbers.is_empty() && pair.descriptor.is_none() {
            numbers = entries.iter().map(|(_, number)| *number).collect();
        }
        match numbers.len() {
            0 => Belonging::ToNone,
            1 => numbers.first().map_or(Belonging::ToNone, |number| Belonging::To(*number)),
            _ => Belonging::ToOneOf(numbers),
        }
    }
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
        let outside = (1..).zip(self.outside);
        rows.extend(
            outside
                .map(|(number, (pair, tests))| outside_row(number, &pair, tests, subject.place_of)),
        );
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
    number: u32,
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
        id: ObligationId::from(format!("PX{number}")),
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

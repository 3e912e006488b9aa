//! Coverage by file and line, as viewers of coverage show it.
//!
//! Promises: a line, outcome or condition that several kernels, configurations or engines have
//! counts at its worst; only what tests cover is hit, so that neither a justification nor what is
//! undetermined makes anything hit; decisions of different texts at one place stay apart.
//! Does not cover: code without source; functions that no entry point reaches, unless the project
//! asks for function coverage.

use crate::facts::is_asked_for;
use std::collections::BTreeMap;
use vkcert_model::coverage::{
    ConditionMcdc, DecisionCoverage, Independence, SimpleObligation, Status,
};
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{Evidence, KernelEvidence, SetAsideKernel};
use vkcert_model::place::LineStarts;
use vkcert_model::structure::Function;

/// How many tests execute or show something, at its worst; 0: it is not covered.
pub(super) type Hits = u32;

/// The coverage of one source file.
#[derive(Default)]
pub(super) struct FileCoverage {
    /// By line, then name.
    pub functions: BTreeMap<(u32, String), EnteredFunction>,
    /// By line.
    pub lines: BTreeMap<u32, LineCoverage>,
}

/// A function with the lines that it takes, from that of its header on.
#[derive(Clone, Copy)]
pub(super) struct EnteredFunction {
    /// How many tests enter it.
    pub hits: Hits,
    /// The last line of its body; that of the header where the body is not known or elsewhere.
    pub last_line: u32,
}

/// What begins on a line.
#[derive(Default)]
pub(super) struct LineCoverage {
    /// Over the statements that begin here; none where none does.
    statements: Option<Hits>,
    /// By column and text.
    pub decisions: BTreeMap<(u32, String), Decision>,
    /// Labels of switches, by column and text.
    pub labels: BTreeMap<(u32, String), Hits>,
}

/// A decision at its worst.
pub(super) struct Decision {
    /// True, then false.
    pub outcomes: [Hits; 2],
    /// In source order.
    pub conditions: Vec<Condition>,
}

/// A condition of a decision.
pub(super) struct Condition {
    /// The source text.
    pub text: String,
    /// Whether a pair of vectors shows that it affects the outcome, wherever it is measured.
    pub is_shown: bool,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub covered: u32,
    pub total: u32,
}

impl Share {
    pub(super) fn of(items: impl Iterator<Item = bool>) -> Self {
        items.map(|is_covered| Self { covered: u32::from(is_covered), total: 1 }).sum()
    }

    /// The rate of branches beside this share of lines: where there is no branch, none is left out
    /// as soon as a line is hit.
    pub(super) fn branch_rate(self, branches: Share) -> String {
        match branches.total {
            0 => Share { covered: u32::from(self.covered > 0), total: 1 }.rate(),
            _ => branches.rate(),
        }
    }

    /// `0.8333`, rounded down, so that only a complete share is 1; of nothing 0, because nothing
    /// is shown.
    pub(super) fn rate(self) -> String {
        let ten_thousandths = (u64::from(self.covered) * 10_000).checked_div(u64::from(self.total));
        match ten_thousandths.unwrap_or_default() {
            10_000 => "1".to_owned(),
            ten_thousandths => format!("0.{ten_thousandths:04}"),
        }
    }

    /// `50% (1/2)`, rounded down.
    pub(super) fn percent_and_counts(self) -> String {
        format!("{} ({}/{})", self.percent(), self.covered, self.total)
    }

    /// `50%`, rounded down; of nothing 0.
    pub(super) fn percent(self) -> String {
        let percent = (u64::from(self.covered) * 100).checked_div(u64::from(self.total));
        format!("{}%", percent.unwrap_or_default())
    }
}

impl std::iter::Sum for Share {
    fn sum<I: Iterator<Item = Self>>(shares: I) -> Self {
        shares.fold(Self::default(), |sum, share| Self {
            covered: sum.covered + share.covered,
            total: sum.total + share.total,
        })
    }
}

impl LineCoverage {
    /// Of a line on which no statement begins: whether what stands on it was evaluated at all.
    pub(super) fn hits(&self) -> Hits {
        let evaluations = || {
            let outcomes = self
                .decisions
                .values()
                .map(|decision| decision.outcomes.into_iter().max().unwrap_or_default());
            outcomes.chain(self.labels.values().copied()).min()
        };
        self.statements.or_else(evaluations).unwrap_or_default()
    }

    /// Outcomes of decisions, and labels.
    pub(super) fn branches(&self) -> Share {
        let outcomes = self.decisions.values().flat_map(|decision| decision.outcomes);
        Share::of(outcomes.chain(self.labels.values().copied()).map(|hits| hits > 0))
    }

    /// Conditions whose independence is shown.
    pub(super) fn conditions(&self) -> Share {
        let conditions = self.decisions.values().flat_map(|decision| &decision.conditions);
        Share::of(conditions.map(|condition| condition.is_shown))
    }
}

impl FileCoverage {
    pub(super) fn line_share(&self) -> Share {
        Share::of(self.lines.values().map(|line| line.hits() > 0))
    }

    pub(super) fn branch_share(&self) -> Share {
        self.lines.values().map(LineCoverage::branches).sum()
    }
}

/// A remark for each kernel that was set aside: no number is of it, though its lines may be of others.
pub(super) fn set_aside_lines(evidence: &Evidence) -> Vec<String> {
    let remark = |row: &SetAsideKernel| {
        format!("kernel {} does not compile and was set aside: no number here is of it", row.kernel)
    };
    evidence.campaign.set_aside.iter().map(remark).collect()
}

/// Every source file that a kernel executes something of, by path.
pub(super) fn source_coverage(evidence: &Evidence) -> BTreeMap<String, FileCoverage> {
    let mut files = BTreeMap::new();
    let form = McdcForm::asked_for(evidence);
    for kernel in &evidence.kernels {
        add_kernel(&mut files, kernel, form);
    }
    files
}

/// By which pairs a condition counts as shown.
#[derive(Clone, Copy)]
enum McdcForm {
    UniqueCause,
    Masking,
}

impl McdcForm {
    /// Unique cause where the project asks for it, since it shows masking too; else masking.
    fn asked_for(evidence: &Evidence) -> Self {
        if is_asked_for(evidence, &CriterionName::McdcUniqueCause.into()) {
            McdcForm::UniqueCause
        } else {
            McdcForm::Masking
        }
    }

    fn independence(self, mcdc: &ConditionMcdc) -> &Independence {
        match self {
            McdcForm::UniqueCause => &mcdc.unique_cause,
            McdcForm::Masking => &mcdc.masking,
        }
    }
}

fn add_kernel(files: &mut BTreeMap<String, FileCoverage>, kernel: &KernelEvidence, form: McdcForm) {
    let coverage = &kernel.coverage;
    for statement in &coverage.statements {
        if let Some(line) = line_of(files, &statement.file, statement.line) {
            let hits = hits_of(statement);
            line.statements = Some(line.statements.map_or(hits, |present| present.min(hits)));
        }
    }
    add_functions(files, kernel);
    for decision in &coverage.decisions {
        add_decision(files, decision, form);
    }
    let labels = coverage.branches.iter().filter(|branch| branch.id.as_str().starts_with('W'));
    for label in labels {
        if let Some(line) = line_of(files, &label.file, label.line) {
            keep_worst(&mut line.labels, (label.column, label.text.clone()), hits_of(label));
        }
    }
}

/// The functions that the kernel enters; where function coverage is asked for, all that its source
/// defines.
fn add_functions(files: &mut BTreeMap<String, FileCoverage>, kernel: &KernelEvidence) {
    let points = kernel.coverage.points.iter();
    let entries =
        points.filter_map(|point| Some((point.id.as_str().strip_suffix(".entry")?, point)));
    let function_obligations: Vec<(&str, &SimpleObligation)> = match &kernel.coverage.functions {
        Some(functions) => {
            functions.iter().map(|obligation| (obligation.id.as_str(), obligation)).collect()
        }
        None => entries.collect(),
    };
    for (function_id, obligation) in function_obligations {
        if obligation.line == 0 {
            continue;
        }
        let mut functions = kernel.structure.functions.iter();
        let function = functions.find(|function| function.id.to_string() == function_id);
        let name = function.map_or(obligation.text.as_str(), |function| function.name.as_str());
        let end_line = function.and_then(|function| last_line(kernel, function));
        let entered = EnteredFunction {
            hits: hits_of(obligation),
            last_line: end_line.unwrap_or(obligation.line).max(obligation.line),
        };
        let file = files.entry(obligation.file.clone()).or_default();
        let functions = file.functions.entry((obligation.line, name.to_owned()));
        functions
            .and_modify(|present| {
                present.hits = present.hits.min(entered.hits);
                present.last_line = present.last_line.max(entered.last_line);
            })
            .or_insert(entered);
    }
}

/// The line that a function ends on; none where its span lies outside of the stored text.
fn last_line(kernel: &KernelEvidence, function: &Function) -> Option<u32> {
    let span = function.span;
    let text = &kernel.structure.files.get(span.file.0 as usize)?.text;
    let last_byte = (span.end as usize).checked_sub(1)?;
    (last_byte < text.len()).then(|| LineStarts::of(text).line(last_byte))
}

fn add_decision(
    files: &mut BTreeMap<String, FileCoverage>,
    decision: &DecisionCoverage,
    form: McdcForm,
) {
    let Some(line) = line_of(files, &decision.file, decision.line) else { return };
    let outcome_hits = |letter: &str| {
        let mut outcomes = decision.outcomes.iter();
        outcomes.find(|outcome| outcome.id.as_str().ends_with(letter)).map_or(0, hits_of)
    };
    let is_shown = |index: usize| {
        let id = decision.conditions[index].id;
        let mut all_mcdc = decision.mcdc.iter();
        all_mcdc
            .find(|mcdc| mcdc.condition == id)
            .is_some_and(|mcdc| form.independence(mcdc).status == Status::Covered)
    };
    let conditions = decision.conditions.iter().enumerate().map(|(index, condition)| Condition {
        text: condition.text.clone(),
        is_shown: is_shown(index),
    });
    let measured =
        Decision { outcomes: [".T", ".F"].map(outcome_hits), conditions: conditions.collect() };
    match line.decisions.entry((decision.column, decision.text.clone())) {
        std::collections::btree_map::Entry::Vacant(entry) => {
            entry.insert(measured);
        }
        std::collections::btree_map::Entry::Occupied(mut entry) => {
            entry.get_mut().worsen(&measured)
        }
    }
}

impl Decision {
    fn worsen(&mut self, other: &Self) {
        for (own, others) in self.outcomes.iter_mut().zip(other.outcomes) {
            *own = (*own).min(others);
        }
        for (index, condition) in self.conditions.iter_mut().enumerate() {
            let others = other.conditions.get(index);
            condition.is_shown &= others.is_some_and(|condition| condition.is_shown);
        }
    }
}

/// The line of a file; none where the place is not known.
fn line_of<'f>(
    files: &'f mut BTreeMap<String, FileCoverage>,
    file: &str,
    line: u32,
) -> Option<&'f mut LineCoverage> {
    if line == 0 {
        return None;
    }
    if !files.contains_key(file) {
        files.insert(file.to_owned(), FileCoverage::default());
    }
    files.get_mut(file).map(|coverage| coverage.lines.entry(line).or_default())
}

fn hits_of(obligation: &SimpleObligation) -> Hits {
    match obligation.status {
        Status::Covered => u32::try_from(obligation.tests.len()).unwrap_or(u32::MAX).max(1),
        Status::Uncovered | Status::Justified | Status::Undetermined => 0,
    }
}

fn keep_worst<K: Ord>(worst_hits: &mut BTreeMap<K, Hits>, key: K, hits: Hits) {
    worst_hits.entry(key).and_modify(|present| *present = (*present).min(hits)).or_insert(hits);
}

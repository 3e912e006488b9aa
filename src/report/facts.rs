//! What reports derive from evidence: shares, results of tests, the trace read backwards; and, each
//! in a file of its own, uncovered obligations and findings merged over tests.
//!
//! Promises: nothing is dropped; a share that is not complete never prints as 100 %, and one that
//! is not empty never as 0 %.

mod findings;
pub(crate) mod obligations;

pub(crate) use findings::{MergedFinding, finding_counts, findings};
pub(crate) use obligations::{
    UncoveredObligation, exercised_only_by_few, justified_conditions, merged_obligations,
    of_passed_tests, uncovered_obligations,
};

use std::collections::BTreeMap;
use vkcert_model::coverage::{
    CriterionSummary, DecisionCoverage, KernelCoverage, ObservedVector, Status,
};
use vkcert_model::evidence::{
    CodeTrace, Evidence, KernelEvidence, Mismatch, TestEvidence, TestResult,
};
use vkcert_model::id::{KernelName, RequirementId};
use vkcert_model::schedule::Schedule;
use vkcert_model::verdict::{EngineName, Verdict};

/// The criteria of structural coverage that tables have columns for, in report order, with their
/// titles.
pub(crate) const CRITERIA_COLUMNS: &[(&str, &str)] = &[
    ("statement", "Statement"),
    ("branch", "Branch"),
    ("decision", "Decision"),
    ("mcdc-masking", "MC/DC masking"),
    ("mcdc-unique-cause", "MC/DC unique-cause"),
    ("multiple-condition", "Multiple-condition"),
    ("object-branch", "Object branch"),
    ("additional-code", "Additional code"),
    ("barrier", "Barrier"),
];

/// Criteria that overviews show only where the project asks for them.
const ON_REQUEST: &[&str] = &["multiple-condition", "object-branch", "additional-code", "barrier"];

/// Title of a criterion; one without a title is named as stored.
pub(crate) fn criterion_title(name: &str) -> &str {
    CRITERIA_COLUMNS
        .iter()
        .find(|(criterion, _)| *criterion == name)
        .map_or(name, |(_, title)| title)
}

/// The criteria that any kernel was measured by and overviews show: known ones first, others as
/// stored.
pub(crate) fn measured_criteria(evidence: &Evidence) -> Vec<String> {
    let all = || evidence.campaign.conclusion.summary.iter().flat_map(|row| &row.criteria);
    let mut names: Vec<String> = Vec::new();
    for (name, _) in CRITERIA_COLUMNS {
        if ON_REQUEST.contains(name) && !asked_for(evidence, name) {
            continue;
        }
        // Most kernels have no additional code at all.
        let empty =
            *name == "additional-code" && all().all(|row| row.criterion != *name || row.total == 0);
        if !empty && all().any(|summary| summary.criterion == *name) {
            names.push((*name).to_owned());
        }
    }
    for summary in all() {
        if !names.contains(&summary.criterion) && !ON_REQUEST.contains(&summary.criterion.as_str())
        {
            names.push(summary.criterion.clone());
        }
    }
    names
}

/// Whether the project asks for a criterion; `mcdc` alone asks for masking MC/DC.
pub fn asked_for(evidence: &Evidence, criterion: &str) -> bool {
    let asked = &evidence.campaign.project.criteria;
    asked.iter().any(|name| name == criterion || (name == "mcdc" && criterion == "mcdc-masking"))
}

/// `91.6 %` of n in m, rounded down to a tenth so that only a complete share prints as 100 %, and
/// only none as 0.0 %; nothing for 0 of 0.
pub(crate) fn percent(n: u32, m: u32) -> Option<String> {
    let tenths = (u64::from(n) * 1000).checked_div(u64::from(m))?;
    Some(match tenths {
        1000 => "100\u{a0}%".to_owned(),
        0 if n > 0 => "<0.1\u{a0}%".to_owned(),
        _ => format!("{}.{}\u{a0}%", tenths / 10, tenths % 10),
    })
}

/// `11/12 (91.6 %)`, with the justified ones named apart.
pub(crate) fn share(summary: &CriterionSummary) -> String {
    let Some(percent) = percent(summary.covered, summary.total) else {
        return "0/0\u{a0}(none)".to_owned();
    };
    let justified = if summary.justified > 0 {
        format!(" + {} justified", summary.justified)
    } else {
        String::new()
    };
    format!("{}/{}\u{a0}({percent}){justified}", summary.covered, summary.total)
}

/// Shares of a kernel (or of what else `U` stands for) that are the same on these engines.
pub(crate) struct CoverageRow<U> {
    pub unit: U,
    pub engines: Vec<EngineName>,
    pub criteria: Vec<CriterionSummary>,
}

/// Shares of the criteria named, per kernel and configuration; engines with the same shares are one
/// row.
pub(crate) fn coverage_rows<'a>(
    evidence: &'a Evidence,
    names: &[String],
) -> Vec<CoverageRow<Unit<'a>>> {
    let mut rows = Vec::new();
    for row in &evidence.campaign.conclusion.summary {
        let unit = unit(evidence, &row.kernel, &row.configuration);
        let shown = row.criteria.iter().filter(|summary| names.contains(&summary.criterion));
        add_shares(&mut rows, unit, row.engine, shown.cloned().collect());
    }
    rows
}

/// Shares of the criteria named over all kernels, per engine; none where some kernel was not
/// measured by all of them.
pub(crate) fn coverage_totals(
    evidence: &Evidence,
    names: &[String],
) -> Option<Vec<CoverageRow<()>>> {
    let mut by_engine: BTreeMap<EngineName, Vec<CriterionSummary>> = BTreeMap::new();
    for row in &evidence.campaign.conclusion.summary {
        let zero = |name: &String| CriterionSummary {
            criterion: name.clone(),
            total: 0,
            covered: 0,
            justified: 0,
            uncovered: 0,
            undetermined: 0,
        };
        let totals =
            by_engine.entry(row.engine).or_insert_with(|| names.iter().map(zero).collect());
        for total in totals {
            let part = row.criteria.iter().find(|summary| summary.criterion == total.criterion)?;
            total.total = total.total.saturating_add(part.total);
            total.covered = total.covered.saturating_add(part.covered);
            total.justified = total.justified.saturating_add(part.justified);
            total.uncovered = total.uncovered.saturating_add(part.uncovered);
            total.undetermined = total.undetermined.saturating_add(part.undetermined);
        }
    }
    let mut rows = Vec::new();
    for (engine, criteria) in by_engine {
        add_shares(&mut rows, (), engine, criteria);
    }
    Some(rows)
}

fn add_shares<U: PartialEq>(
    rows: &mut Vec<CoverageRow<U>>,
    unit: U,
    engine: EngineName,
    criteria: Vec<CriterionSummary>,
) {
    match rows.iter_mut().find(|row| row.unit == unit && row.criteria == criteria) {
        Some(row) => row.engines.push(engine),
        None => rows.push(CoverageRow { unit, engines: vec![engine], criteria }),
    }
}

/// Obligations of a criterion over all kernels, counted where most are: on one engine of each.
pub(crate) fn obligations_of(evidence: &Evidence, criterion: &str) -> u32 {
    let mut by_unit: BTreeMap<(&KernelName, &str), u32> = BTreeMap::new();
    for row in &evidence.campaign.conclusion.summary {
        let total = row
            .criteria
            .iter()
            .find(|summary| summary.criterion == criterion)
            .map_or(0, |found| found.total);
        let most = by_unit.entry((&row.kernel, &row.configuration)).or_default();
        *most = total.max(*most);
    }
    by_unit.values().sum()
}

/// Symbol and word of a status, for text that must not rely on colour.
pub(crate) fn status_symbol(status: Status) -> &'static str {
    match status {
        Status::Covered => "✓",
        Status::Uncovered => "✗",
        Status::Justified => "J",
        Status::Undetermined => "?",
    }
}

fn add_new<T: PartialEq>(list: &mut Vec<T>, item: Option<T>) {
    if let Some(item) = item
        && !list.contains(&item)
    {
        list.push(item);
    }
}

/// What some engines say of a test that did not pass.
pub(crate) struct Failure<'a> {
    pub verdict: Verdict,
    pub reason: Option<&'a str>,
    pub mismatches: &'a [Mismatch],
    pub engines: Vec<String>,
}

/// Engines that say the same of a test are one entry; none of a test that passed or did not run.
pub(crate) fn failures(test: &TestEvidence) -> Vec<Failure<'_>> {
    let mut failures: Vec<Failure> = Vec::new();
    for result in test
        .results
        .iter()
        .filter(|result| !matches!(result.verdict, Verdict::Pass | Verdict::NotRun))
    {
        let (reason, mismatches) = (result.reason.as_deref(), result.mismatches.as_slice());
        let same = |known: &&mut Failure| {
            (known.verdict, known.reason, known.mismatches) == (result.verdict, reason, mismatches)
        };
        match failures.iter_mut().find(same) {
            Some(known) => known.engines.push(result.engine.to_string()),
            None => {
                let engines = vec![result.engine.to_string()];
                failures.push(Failure { verdict: result.verdict, reason, mismatches, engines });
            }
        }
    }
    failures
}

impl Failure<'_> {
    /// `fail on sequential and vulkan: 1 of 4 elements differ`
    pub(crate) fn in_words(&self) -> String {
        let reason = self.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{} on {}{reason}", self.verdict, self.engines.join(" and "))
    }
}

/// How many test results there are of each verdict, per engine.
pub(crate) fn verdict_counts(evidence: &Evidence) -> BTreeMap<EngineName, BTreeMap<Verdict, u32>> {
    let mut counts: BTreeMap<EngineName, BTreeMap<Verdict, u32>> = BTreeMap::new();
    for engine in &evidence.campaign.engines {
        counts.entry(engine.engine).or_default();
    }
    for test in &evidence.campaign.tests {
        for result in &test.results {
            *counts.entry(result.engine).or_default().entry(result.verdict).or_default() += 1;
        }
    }
    counts
}

/// What schedules came to on an engine, over all tests: `3 equal, 1 different`; none where none
/// were asked for.
pub(crate) fn schedule_counts(evidence: &Evidence, engine: EngineName) -> Option<String> {
    let results = evidence.campaign.tests.iter().flat_map(|test| &test.results);
    let schedules: Vec<_> = results
        .filter(|result| result.engine == engine)
        .filter_map(|result| result.schedules.as_ref())
        .collect();
    let first = schedules.first()?;
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for result in &schedules {
        *counts.entry(result.status.name()).or_default() += 1;
    }
    let counts: Vec<String> =
        counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    Some(format!("up to {}, seed {}: {}", first.asked, first.seed, counts.join(", ")))
}

/// The result of a test on an engine.
pub(crate) fn result_on(test: &TestEvidence, engine: EngineName) -> Option<&TestResult> {
    test.results.iter().find(|result| result.engine == engine)
}

/// A kernel under one configuration: what a chapter is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit<'a> {
    pub kernel: &'a KernelName,
    /// None where the kernel has no other.
    pub configuration: Option<&'a str>,
    /// Whether it is the first one of the kernel, which links to the kernel lead to.
    first: bool,
}

impl Unit<'_> {
    /// `matmul`, or `matmul [TILE=16]`.
    pub(crate) fn label(&self) -> String {
        self.configuration
            .map_or_else(|| self.kernel.to_string(), |name| format!("{} [{name}]", self.kernel))
    }

    /// Where its chapter begins.
    pub(crate) fn anchor(&self) -> String {
        match self.configuration {
            Some(name) if !self.first => format!("kernel/{}@{name}", self.kernel),
            Some(_) | None => format!("kernel/{}", self.kernel),
        }
    }
}

/// Kernels and configurations in project order.
pub(crate) fn units(evidence: &Evidence) -> Vec<Unit<'_>> {
    let mut units = Vec::new();
    for kernel in &evidence.kernels {
        add_new(&mut units, Some(unit(evidence, &kernel.kernel, &kernel.configuration.name)));
    }
    units
}

/// The unit of a kernel and the name of a configuration.
pub(crate) fn unit<'a>(
    evidence: &Evidence,
    kernel: &'a KernelName,
    configuration: &'a str,
) -> Unit<'a> {
    let mut names = evidence
        .kernels
        .iter()
        .filter(|row| row.kernel == *kernel)
        .map(|row| &row.configuration.name);
    let first = names.next().is_none_or(|name| name == configuration);
    let several = !first || names.any(|name| name != configuration);
    Unit { kernel, configuration: several.then_some(configuration), first }
}

/// The evidence of a unit on each engine, with its index.
pub(crate) fn on_engines<'a>(
    evidence: &'a Evidence,
    wanted: &Unit,
) -> Vec<(usize, &'a KernelEvidence)> {
    let of_unit =
        |row: &KernelEvidence| unit(evidence, &row.kernel, &row.configuration.name) == *wanted;
    evidence.kernels.iter().enumerate().filter(|(_, row)| of_unit(row)).collect()
}

/// Functions of the kernels' sources, as file, name and line, with the requirements that name them.
pub(crate) struct CodeRow<'a> {
    pub file: &'a str,
    pub function: &'a str,
    pub line: u32,
    pub requirements: Vec<&'a RequirementId>,
    pub kernels: Vec<&'a KernelName>,
}

/// The trace from code to requirements: every function of every kernel, also those that no
/// requirement names.
pub(crate) fn code_rows(evidence: &Evidence) -> Vec<CodeRow<'_>> {
    let mut rows: Vec<CodeRow> = Vec::new();
    for kernel in &evidence.kernels {
        for function in &kernel.structure.functions {
            let Some(file) = kernel.structure.files.get(function.span.file.0 as usize) else {
                continue;
            };
            let line =
                vkcert_model::place::Position::of(&file.text, function.span.start as usize).line;
            let same = |row: &&mut CodeRow| {
                row.file == file.path && row.function == function.name && row.line == line
            };
            let names = |code: &CodeTrace| code.names(&file.path, &function.name, &kernel.kernel);
            let naming =
                evidence.campaign.requirements.iter().filter(|row| row.code.iter().any(names));
            let naming = naming.map(|row| &row.requirement.uid);
            if let Some(row) = rows.iter_mut().find(same) {
                add_new(&mut row.kernels, Some(&kernel.kernel));
                naming.for_each(|uid| add_new(&mut row.requirements, Some(uid)));
                continue;
            }
            let (requirements, kernels) = (naming.collect(), vec![&kernel.kernel]);
            rows.push(CodeRow {
                file: &file.path,
                function: &function.name,
                line,
                requirements,
                kernels,
            });
        }
    }
    rows
}

/// Whether two engines show the same of a decision: vectors with their tests, and every status.
pub(crate) fn same_decision(one: &DecisionCoverage, other: &DecisionCoverage) -> bool {
    let vectors = |d: &DecisionCoverage| {
        d.vectors.iter().map(|v| (v.values.clone(), v.outcome, v.tests.clone())).collect::<Vec<_>>()
    };
    let statuses = |d: &DecisionCoverage| {
        let sides = |m: &vkcert_model::coverage::ConditionMcdc| {
            (
                m.unique_cause.status,
                m.unique_cause.pair.clone(),
                m.masking.status,
                m.masking.pair.clone(),
            )
        };
        d.mcdc.iter().map(sides).collect::<Vec<_>>()
    };
    let outcomes = |d: &DecisionCoverage| {
        d.outcomes.iter().map(|o| (o.id.clone(), o.status)).collect::<Vec<_>>()
    };
    vectors(one) == vectors(other)
        && statuses(one) == statuses(other)
        && outcomes(one) == outcomes(other)
}

/// The summary that a kernel's coverage holds, or none.
pub(crate) fn summary<'a>(
    coverage: &'a KernelCoverage,
    criterion: &str,
) -> Option<&'a CriterionSummary> {
    coverage.summary.iter().find(|summary| summary.criterion == criterion)
}

/// A place in a kernel's source: the file is named only where it is not the main one.
pub(crate) fn place(source: &str, file: &str, line: u32, column: u32) -> String {
    let at = if column == 0 { line.to_string() } else { format!("{line}:{column}") };
    if file == source { at } else { format!("{file}:{at}") }
}

/// `x,y,z` of an invocation, or `-`.
pub(crate) fn invocation(id: Option<[u32; 3]>) -> String {
    id.map_or("-".to_owned(), |[x, y, z]| format!("{x},{y},{z}"))
}

/// The same, with the directed schedule that it is seen in, where the ordinary one does not show
/// it.
pub(crate) fn invocation_in(id: Option<[u32; 3]>, directed: Option<Schedule>) -> String {
    match directed {
        None => invocation(id),
        Some(schedule) => format!("{} in {schedule}", invocation(id)),
    }
}

/// Who showed a vector first, and that undefined values may have done so.
pub(crate) fn witness_of(vector: &ObservedVector) -> String {
    let witness = invocation_in(vector.witness, vector.first_directed());
    if vector.undefined { format!("{witness}, may follow an undefined value") } else { witness }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_share_never_prints_as_complete() {
        assert_eq!(percent(9999, 10000).as_deref(), Some("99.9\u{a0}%"));
        assert_eq!(percent(7, 7).as_deref(), Some("100\u{a0}%"));
        assert_eq!(percent(0, 3).as_deref(), Some("0.0\u{a0}%"));
        assert_eq!(percent(0, 0), None);
        // What is covered is not nothing.
        assert_eq!(percent(1, 3000).as_deref(), Some("<0.1\u{a0}%"));
        assert_eq!(percent(u32::MAX - 1, u32::MAX).as_deref(), Some("99.9\u{a0}%"));
    }
}

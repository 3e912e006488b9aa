//! What begins on each line of a kernel's source: obligations with their statuses, and tests.
//!
//! Promises: every statement, branch, outcome, entry and exit point, and every condition where
//! MC/DC is asked for, stands on one line or is among `without_line`, once; a status is that of
//! every engine, the worst one where they differ; time is linear in the evidence.

use super::coverage_mark::CoverageMark;
use super::criteria::is_asked_for;
use std::collections::{BTreeMap, HashMap};
use vkcert_model::coverage::{ConditionMcdc, ConditionPlace, SimpleObligation, Status};
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::id::TestId;

/// An obligation of the source text, on all engines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListedObligation {
    /// As printed: `S12`, `D3.T`, `D3.C1`.
    pub id: String,
    pub status: Status,
    /// Each criterion that counts it.
    pub criteria: Vec<CriterionName>,
}

/// What begins on one line.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineFacts {
    /// In the order statements, branches and outcomes, points, conditions.
    pub obligations: Vec<ListedObligation>,
    /// Index into the tests of the kernel, and whether it counts on every engine; ascending.
    pub tests: Vec<(usize, bool)>,
}

impl LineFacts {
    pub(crate) fn mark(&self) -> Option<CoverageMark> {
        CoverageMark::of_statuses(self.obligations.iter().map(|item| item.status))
    }
}

/// What begins on the lines of a kernel's files.
pub(crate) struct SourceLines {
    /// By index of the file and line, from 1.
    pub lines: BTreeMap<(usize, u32), LineFacts>,
    /// Obligations whose place is in no line of a stored file.
    pub without_line: Vec<ListedObligation>,
    /// Tests that count somewhere, in the order of the campaign.
    pub tests: Vec<TestId>,
    /// The form of MC/DC that conditions have their status of; none: conditions are left out.
    pub mcdc: Option<CriterionName>,
}

impl SourceLines {
    /// Covered ones and all of a criterion, over the lines.
    pub(crate) fn counted(&self, criterion: CriterionName) -> (usize, usize) {
        let all_items = self.lines.values().flat_map(|line| &line.obligations);
        let criterion_items = all_items.filter(|item| item.criteria.contains(&criterion));
        criterion_items.fold((0, 0), |(covered, total), item| {
            (covered + usize::from(item.status == Status::Covered), total + 1)
        })
    }
}

/// The form of MC/DC that is asked for; the stricter one where both are.
fn asked_mcdc(evidence: &Evidence) -> Option<CriterionName> {
    let forms = [CriterionName::McdcUniqueCause, CriterionName::McdcMasking];
    forms.into_iter().find(|form| is_asked_for(evidence, &(*form).into()))
}

/// `sides` are the evidence of one unit, per engine.
pub(crate) fn source_lines(evidence: &Evidence, sides: &[&KernelEvidence]) -> SourceLines {
    let mcdc = asked_mcdc(evidence);
    let mut collected = Collected::default();
    for (side_index, side) in sides.iter().enumerate() {
        collected.add_side(side_index, side, mcdc);
    }
    let tests = collected.numbered_tests(evidence);
    let number_of: HashMap<TestId, usize> =
        tests.iter().enumerate().map(|(index, test)| (*test, index)).collect();
    let mut source_lines =
        SourceLines { lines: BTreeMap::new(), without_line: Vec::new(), tests, mcdc };
    let mut tests_by_line: BTreeMap<(usize, u32), Vec<(usize, usize)>> = BTreeMap::new();
    let places = FilePlaces::of_kernel(sides);
    for item in collected.items {
        // What an engine does not measure is not shown there.
        let is_everywhere = item.side_count == sides.len();
        let status =
            if is_everywhere { item.status } else { worse(item.status, Status::Undetermined) };
        let listed = ListedObligation { id: item.id, status, criteria: item.criteria };
        let Some(place) = places.line_of(item.file, item.line) else {
            source_lines.without_line.push(listed);
            continue;
        };
        source_lines.lines.entry(place).or_default().obligations.push(listed);
        let numbered_tests = item.tests.into_iter().map(|(test, side)| (number_of[&test], side));
        tests_by_line.entry(place).or_default().extend(numbered_tests);
    }
    for (place, line_tests) in tests_by_line {
        source_lines.lines.entry(place).or_default().tests = merged_tests(line_tests, sides.len());
    }
    source_lines
}

/// Tests with the engines that they count on, drawn together.
fn merged_tests(mut line_tests: Vec<(usize, usize)>, side_count: usize) -> Vec<(usize, bool)> {
    line_tests.sort_unstable();
    line_tests.dedup();
    let by_test =
        line_tests.chunk_by(|(first_test, _), (second_test, _)| first_test == second_test);
    by_test.map(|engines| (engines[0].0, engines.len() == side_count)).collect()
}

/// The one that says less for the kernel.
fn worse(first_status: Status, second_status: Status) -> Status {
    let rank = |status| match status {
        Status::Covered => 0,
        Status::Justified => 1,
        Status::Undetermined => 2,
        Status::Uncovered => 3,
    };
    if rank(second_status) > rank(first_status) { second_status } else { first_status }
}

/// How many lines each stored file has.
struct FilePlaces<'a> {
    files: HashMap<&'a str, (usize, usize)>,
}

impl<'a> FilePlaces<'a> {
    fn of_kernel(sides: &[&'a KernelEvidence]) -> Self {
        let stored_files = sides.first().into_iter().flat_map(|side| &side.structure.files);
        let files = stored_files.enumerate().map(|(index, file)| {
            (file.path.as_str(), (index, file.text.split_inclusive('\n').count()))
        });
        Self { files: files.collect() }
    }

    fn line_of(&self, file: &str, line: u32) -> Option<(usize, u32)> {
        let (file_index, line_count) = *self.files.get(file)?;
        (1..=line_count).contains(&(line as usize)).then_some((file_index, line))
    }
}

/// An obligation while the engines are gone through.
struct CollectedItem<'a> {
    id: String,
    file: &'a str,
    line: u32,
    status: Status,
    criteria: Vec<CriterionName>,
    side_count: usize,
    last_side: usize,
    /// With the index of the engine.
    tests: Vec<(TestId, usize)>,
}

#[derive(Default)]
struct Collected<'a> {
    items: Vec<CollectedItem<'a>>,
    item_by_id: HashMap<String, usize>,
}

impl<'a> Collected<'a> {
    fn add_side(&mut self, side: usize, kernel: &'a KernelEvidence, mcdc: Option<CriterionName>) {
        let coverage = &kernel.coverage;
        let outcomes = coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
        for item in &coverage.statements {
            self.add_simple(side, item, CriterionName::Statement);
        }
        for item in &coverage.branches {
            self.add_simple(side, item, CriterionName::Branch);
        }
        // An outcome is an obligation of branch and of decision coverage.
        for item in outcomes.chain(&coverage.points) {
            self.add_simple(side, item, CriterionName::Decision);
        }
        let Some(form) = mcdc else { return };
        for decision in &coverage.decisions {
            let mcdc_by_id: HashMap<_, _> =
                decision.mcdc.iter().map(|mcdc| (mcdc.condition, mcdc)).collect();
            for condition in &decision.conditions {
                let status = condition_status(mcdc_by_id.get(&condition.id).copied(), form);
                self.add_condition(side, &decision.file, condition, status, form);
            }
        }
    }

    fn add_simple(&mut self, side: usize, item: &'a SimpleObligation, criterion: CriterionName) {
        let place = (item.file.as_str(), item.line);
        let collected = self.add(side, item.id.as_str(), place, item.status, criterion);
        collected.tests.extend(item.tests.iter().map(|test| (*test, side)));
    }

    fn add_condition(
        &mut self,
        side: usize,
        file: &'a str,
        condition: &ConditionPlace,
        status: Status,
        form: CriterionName,
    ) {
        self.add(side, &condition.id.to_string(), (file, condition.line), status, form);
    }

    fn add(
        &mut self,
        side: usize,
        id: &str,
        (file, line): (&'a str, u32),
        status: Status,
        criterion: CriterionName,
    ) -> &mut CollectedItem<'a> {
        let index = match self.item_by_id.get(id) {
            Some(index) => *index,
            None => {
                self.item_by_id.insert(id.to_owned(), self.items.len());
                self.items.push(CollectedItem {
                    id: id.to_owned(),
                    file,
                    line,
                    status,
                    criteria: Vec::new(),
                    side_count: 1,
                    last_side: side,
                    tests: Vec::new(),
                });
                self.items.len() - 1
            }
        };
        let item = &mut self.items[index];
        item.status = worse(item.status, status);
        if item.last_side != side {
            item.last_side = side;
            item.side_count += 1;
        }
        if !item.criteria.contains(&criterion) {
            item.criteria.push(criterion);
        }
        item
    }

    /// Every test that counts for some obligation, in the order of the campaign.
    fn numbered_tests(&self, evidence: &Evidence) -> Vec<TestId> {
        let campaign_order: HashMap<TestId, usize> = evidence
            .campaign
            .tests
            .iter()
            .enumerate()
            .map(|(index, test)| (test.id, index))
            .collect();
        let seen_tests: std::collections::BTreeSet<(usize, TestId)> = self
            .items
            .iter()
            .flat_map(|item| &item.tests)
            .map(|(test, _)| (campaign_order.get(test).copied().unwrap_or(usize::MAX), *test))
            .collect();
        seen_tests.into_iter().map(|(_, test)| test).collect()
    }
}

fn condition_status(mcdc: Option<&ConditionMcdc>, form: CriterionName) -> Status {
    mcdc.map_or(Status::Undetermined, |mcdc| match form {
        CriterionName::McdcUniqueCause => mcdc.unique_cause.status,
        _ => mcdc.masking.status,
    })
}

#[cfg(test)]
#[path = "source_lines_tests.rs"]
mod tests;

//! Runs of one project that were stored, beside the run of a report: what a trend is made of.
//!
//! Knows: what of a run's evidence a trend shows ([`RunRecord`]), and what makes two runs the same
//! measure ([`RunMeasure`]).
//! Promises: a record says nothing that its evidence does not; whatever differs between two
//! histories differs in the value, so that files made with them can be told apart.
//! Does not cover: where runs are stored and whether their evidence holds (`verify`), how they are
//! shown (`chapter::trend`).

use super::ReportError;
use super::{facts, statement};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::criterion::StoredCriterion;
use vkcert_model::evidence::{Evidence, ProjectIdentity, TestResult};
use vkcert_model::project::{Contraction, ProjectFile, Robustness, ValidationLayers};
use vkcert_model::verdict::{EngineName, Verdict};

/// Of what evidence of an older format does not hold.
const NOT_STORED: &str = "not stored";

/// Runs that a trend shows at most, that of the report included.
pub const MOST_SHOWN_RUNS: usize = 40;

/// Stored runs and the run of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The runs that are shown, in order; exactly one of them is that of the report.
    pub runs: Vec<RunRecord>,
    /// What the order follows.
    pub order: RunOrder,
    /// Stored runs before the first one that is shown: they were not read as a whole.
    pub earlier_runs: usize,
    /// What is not shown, though it looks like a run; in order of the folders.
    pub left_out: Vec<LeftOutRun>,
    /// Folders too deep to be looked into.
    pub unsearched_folders: usize,
}

/// What the order of runs follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOrder {
    /// The date of the evidence, because every run has one.
    Date,
    /// The name of the folder, because some run has no date.
    Folder,
}

/// A folder that looks like a run and is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutRun {
    /// Relative to the folder of all runs.
    pub folder: String,
    /// Why, as a sentence without its full stop.
    pub reason: String,
}

/// Which run a record is of, and what its evidence was held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStanding {
    /// That of the report, which says itself what its evidence was held to.
    Present,
    /// A stored one: what follows from its inputs and records was derived again, without a compiler.
    Derived,
    /// A stored one without inputs: what it says twice was compared.
    ComparedWithItself,
}

/// What a trend shows of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// Which run it is.
    pub standing: RunStanding,
    /// Its evidence, relative to the folder of all runs; none: it is not there.
    pub folder: Option<String>,
    /// SHA-256 of the manifest.
    pub root: String,
    /// RFC 3339, of the evidence.
    pub date: Option<String>,
    /// Name and version of the tool.
    pub tool: String,
    /// The conclusion, as page 1 of its own report has it.
    pub conclusion: String,
    /// Exit code of the run.
    pub exit_code: u8,
    /// Kernels, each under each of its configurations.
    pub kernels: usize,
    /// Results of tests by engine.
    pub verdicts: BTreeMap<EngineName, BTreeMap<Verdict, u32>>,
    /// Shares of all kernels together, by criterion in report order.
    pub shares: Vec<CriterionShares>,
    /// Findings that stand, equal ones once.
    pub standing_findings: usize,
    /// Open items that count against the result; none where the evidence holds none of either kind.
    pub open_items: Option<ItemCounts>,
    /// What its shares are a measure by.
    pub measure: RunMeasure,
}

/// Open items of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemCounts {
    /// They count against the result.
    pub standing: usize,
    /// The project accepts them.
    pub accepted: usize,
}

/// A criterion over all kernels of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriterionShares {
    /// The criterion.
    pub criterion: StoredCriterion,
    /// Engines with the same counts stand together; none where some kernel was not measured by it.
    pub by_engines: Option<Vec<(Vec<EngineName>, CriterionSummary)>>,
}

impl CriterionShares {
    /// The least share of all engines.
    pub fn least(&self) -> Option<&CriterionSummary> {
        let summaries = self.by_engines.iter().flatten().map(|(_, summary)| summary);
        summaries.min_by(|first, second| {
            // a/b < c/d where a * d < c * b; of none, nothing is left to cover.
            let products = |left: &CriterionSummary, right: &CriterionSummary| {
                u64::from(left.covered) * u64::from(right.total)
            };
            products(first, second).cmp(&products(second, first))
        })
    }
}

/// What shares of a run are measured by. Runs with another measure are not to be compared number by
/// number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMeasure {
    /// Aspect and value, in a fixed order.
    pub aspects: Vec<(&'static str, String)>,
}

impl RunMeasure {
    pub(crate) fn of_evidence(evidence: &Evidence) -> Self {
        let campaign = &evidence.campaign;
        let project = &campaign.project;
        let criteria = project.criteria.iter().map(StoredCriterion::as_str);
        let left_out_tests = campaign.tests_not_in_run().into_iter();
        let left_out_tests = left_out_tests.map(|test| test.as_str());
        let set_aside = campaign.set_aside.iter().map(|row| row.kernel.as_str());
        let mut aspects = vec![
            ("level", project.level.in_words()),
            ("criteria asked for", listed(criteria)),
            ("engines", listed(ran_engines(evidence))),
            ("tool", tool_words(project)),
            ("compiler", project.compiler.clone()),
            ("profile", profile_words(project)),
            ("decisions", project.decision_policy.name().to_owned()),
            ("memory model", project.memory_model.name().to_owned()),
            ("tests left out", listed(left_out_tests)),
            ("kernels set aside", listed(set_aside)),
            ("findings not looked for", unsought_words(evidence)),
            ("repetitions", listed(repetition_words(evidence))),
            ("other schedules", listed(schedule_words(evidence).into_iter())),
            ("replayed schedule", listed(replayed_schedules(evidence).into_iter())),
        ];
        aspects.extend(setting_aspects(campaign.settings.as_ref()));
        Self { aspects }
    }

    /// What of this measure is not as in an earlier one: aspect, earlier value, value.
    pub fn changes_since<'m>(
        &'m self,
        earlier: &'m RunMeasure,
    ) -> Vec<(&'static str, &'m str, &'m str)> {
        let pairs = earlier.aspects.iter().zip(&self.aspects);
        pairs
            .filter(|(before, after)| before != after)
            .map(|((aspect, before), (_, after))| (*aspect, before.as_str(), after.as_str()))
            .collect()
    }
}

/// `a, b`, or `none`.
fn listed<T: AsRef<str>>(names: impl Iterator<Item = T>) -> String {
    let names: Vec<String> = names.map(|name| name.as_ref().to_owned()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The engines that ran, each with its device.
fn ran_engines(evidence: &Evidence) -> impl Iterator<Item = String> {
    let engines = evidence.campaign.engines.iter().filter(|engine| engine.ran);
    engines.map(|engine| {
        let identity = |name: &str| engine.identity.get(name).map(String::as_str);
        let device_words = ["device", "driver", "driver info"].into_iter().filter_map(identity);
        let device_words: Vec<&str> = device_words.collect();
        if device_words.is_empty() {
            return engine.engine.to_string();
        }
        format!("{} ({})", engine.engine, device_words.join(", "))
    })
}

/// Kinds that were not looked for, or not everywhere, each with the reason, as the run's own report
/// has them. Evidence of an older format tells only those that the command line left out.
fn unsought_words(evidence: &Evidence) -> String {
    let campaign = &evidence.campaign;
    let left_out: Vec<String> = campaign.not_looked_for.iter().map(ToString::to_string).collect();
    match (statement::holds_items(campaign), left_out.is_empty()) {
        (true, _) => {
            let unsought_rows = campaign.unsought.iter();
            listed(unsought_rows.map(|row| format!("{} ({})", row.kind, row.reason)))
        }
        (false, true) => NOT_STORED.to_owned(),
        (false, false) => format!("{}; others {NOT_STORED}", left_out.join(", ")),
    }
}

/// The results of all tests on all engines.
fn all_results(evidence: &Evidence) -> impl Iterator<Item = &TestResult> {
    evidence.campaign.tests.iter().flat_map(|test| &test.results)
}

/// `sequential 1`, by engine: the most that some test ran, as a repetition that does not complete is
/// the last.
fn repetition_words(evidence: &Evidence) -> impl Iterator<Item = String> {
    let mut repetitions_by_engine: BTreeMap<EngineName, u32> = BTreeMap::new();
    for result in all_results(evidence).filter(|result| result.repetitions > 0) {
        let repetitions = repetitions_by_engine.entry(result.engine).or_default();
        *repetitions = result.repetitions.max(*repetitions);
    }
    repetitions_by_engine.into_iter().map(|(engine, repetitions)| format!("{engine} {repetitions}"))
}

/// What was asked for, which the command line may set: `6 with seed 0`.
fn schedule_words(evidence: &Evidence) -> BTreeSet<String> {
    let schedule_results = all_results(evidence).filter_map(|result| result.schedules.as_ref());
    schedule_results.map(|result| format!("{} with seed {}", result.asked, result.seed)).collect()
}

fn replayed_schedules(evidence: &Evidence) -> BTreeSet<String> {
    let replayed = all_results(evidence).filter_map(|result| result.schedule.as_ref());
    replayed.map(ToString::to_string).collect()
}

/// Settings that the command line does not change.
fn setting_aspects(settings: Option<&ProjectFile>) -> [(&'static str, String); 3] {
    let validation = settings.map(|settings| match settings.validation {
        ValidationLayers::On => "on",
        ValidationLayers::Off => "off",
        ValidationLayers::Required => "required",
    });
    let contraction = settings.map(|settings| match settings.contraction {
        Contraction::Forbidden => "forbidden",
        Contraction::Allowed => "allowed",
    });
    let robustness = settings.map(|settings| match settings.robustness {
        Robustness::Off => "off",
        Robustness::Basic => "basic",
        Robustness::Strict => "strict",
        Robustness::Best => "best",
    });
    [
        ("validation layers", validation),
        ("contraction", contraction),
        ("robustness of accesses", robustness),
    ]
    .map(|(aspect, value)| (aspect, value.unwrap_or(NOT_STORED).to_owned()))
}

fn tool_words(project: &ProjectIdentity) -> String {
    format!("{} {}", project.tool, project.tool_version)
}

fn profile_words(project: &ProjectIdentity) -> String {
    let profile = &project.profile;
    if profile.features.is_empty() {
        return profile.name.clone();
    }
    format!("{} with {}", profile.name, profile.features.join(", "))
}

impl RunRecord {
    /// The record of a run's evidence, which is stored in `folder`.
    ///
    /// # Errors
    /// If the evidence has no root.
    pub fn of_evidence(
        evidence: &Evidence,
        standing: RunStanding,
        folder: Option<String>,
    ) -> Result<Self, ReportError> {
        let campaign = &evidence.campaign;
        let (standing_findings, _) = facts::finding_counts(&facts::merged_findings(evidence));
        let item_counts = || {
            let standing = campaign.open_items.iter().filter(|item| item.stands()).count();
            ItemCounts { standing, accepted: campaign.open_items.len() - standing }
        };
        Ok(Self {
            standing,
            folder,
            root: evidence.root()?,
            date: campaign.project.date.clone(),
            tool: tool_words(&campaign.project),
            conclusion: statement::conclusion_title(evidence).1,
            exit_code: campaign.conclusion.exit_code,
            kernels: facts::kernel_units(evidence).len(),
            verdicts: facts::verdict_counts(evidence),
            shares: criterion_shares(evidence),
            standing_findings,
            open_items: statement::holds_items(campaign).then(item_counts),
            measure: RunMeasure::of_evidence(evidence),
        })
    }

    /// The share of a criterion that the run was measured by.
    pub(crate) fn shares_of(&self, criterion: &StoredCriterion) -> Option<&CriterionShares> {
        self.shares.iter().find(|shares| shares.criterion == *criterion)
    }
}

fn criterion_shares(evidence: &Evidence) -> Vec<CriterionShares> {
    let criteria = facts::measured_criteria(evidence);
    let shares = criteria.into_iter().map(|criterion| {
        let totals = facts::coverage_totals(evidence, std::slice::from_ref(&criterion));
        let by_engines = totals.map(|rows| {
            let counts = rows.into_iter().flat_map(|row| {
                row.criteria.into_iter().map(move |summary| (row.engines.clone(), summary))
            });
            counts.collect()
        });
        CriterionShares { criterion, by_engines }
    });
    shares.collect()
}

impl History {
    /// The criteria that any of the runs was measured by, in report order.
    pub(crate) fn criteria(&self) -> Vec<StoredCriterion> {
        let mut criteria: Vec<StoredCriterion> = Vec::new();
        for shares in self.runs.iter().flat_map(|run| &run.shares) {
            if !criteria.contains(&shares.criterion) {
                criteria.push(shares.criterion.clone());
            }
        }
        let place = |criterion: &StoredCriterion| {
            let columns = facts::CRITERIA_COLUMNS.iter();
            columns.map(|(column, _)| *column).position(|column| *criterion == column)
        };
        // Those that this version does not know come last, as they were met.
        criteria.sort_by_key(|criterion| place(criterion).unwrap_or(usize::MAX));
        criteria
    }

    /// The number of each run's measure, from 1 in order of their first runs.
    pub(crate) fn measure_numbers(&self) -> Vec<usize> {
        let measures = self.measures();
        let number = |run: &RunRecord| {
            measures
                .iter()
                .position(|measure| **measure == run.measure)
                .map_or(0, |index| index + 1)
        };
        self.runs.iter().map(number).collect()
    }

    /// The measures of the runs, each once, in order of their first runs.
    pub(crate) fn measures(&self) -> Vec<&RunMeasure> {
        let mut measures: Vec<&RunMeasure> = Vec::new();
        for run in &self.runs {
            if !measures.contains(&&run.measure) {
                measures.push(&run.measure);
            }
        }
        measures
    }
}

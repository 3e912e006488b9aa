//! Campaigns of one project side by side, as a table for programs, a terminal and a browser.
//!
//! Knows: evidence of several campaigns and nothing else.
//! Promises: campaigns that are not of the same project, sources, tests and settings are refused by name; no number is of
//! more than one engine of one campaign.
//! Does not cover: whether the evidence is true (`verify`); which difference follows from which.

mod page;
mod words;

pub use page::side_by_side_page;
pub use words::side_by_side_in_words;

use crate::baseline::compare_with_baseline;
use crate::facts::{is_asked_for, is_told_elsewhere};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::baseline::{BaselineChange, ChangeArea};
use vkcert_model::campaigns::{
    CAMPAIGNS_SCHEMA, CampaignDifference, CampaignTable, ComparedCampaign, CoverageRow,
    EngineColumn, VerdictRow,
};
use vkcert_model::coupling_summary::ObligationCounts;
use vkcert_model::criterion::StoredCriterion;
use vkcert_model::evidence::{Evidence, KernelSummary};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::verdict::{EngineName, Verdict};

/// A campaign, and the folder that it is called by.
pub struct NamedCampaign {
    /// As it was named.
    pub folder: String,
    /// What it left.
    pub evidence: Evidence,
}

/// A criterion of a kernel under a configuration.
type CoveredUnit = (KernelName, String, StoredCriterion);

/// Why two campaigns are not of the same: what of project, settings, files and tests differs; none where nothing does.
/// Tool, engines, devices and drivers may differ.
pub fn what_keeps_apart(first: &Evidence, other: &Evidence) -> Option<String> {
    let (campaign, other_campaign) = (&first.campaign, &other.campaign);
    let (name, other_name) = (&campaign.project.name, &other_campaign.project.name);
    if name != other_name {
        return Some(format!("one is of the project `{name}`, the other of `{other_name}`"));
    }
    let (files, other_files) = (&first.manifest.inputs, &other.manifest.inputs);
    let paths: BTreeSet<&String> = files.keys().chain(other_files.keys()).collect();
    if let Some(path) = paths.into_iter().find(|path| files.get(*path) != other_files.get(*path)) {
        return Some(format!("the file {path} differs"));
    }
    if campaign.settings != other_campaign.settings {
        return Some("the settings of vkcert.toml differ".to_owned());
    }
    let tests = |evidence: &Evidence| -> BTreeSet<TestId> {
        evidence.campaign.tests.iter().map(|test| test.id).collect()
    };
    if let Some(test) = tests(first).symmetric_difference(&tests(other)).next() {
        return Some(format!("only one has the test {test} (--without, --only, --shard)"));
    }
    (campaign.not_looked_for != other_campaign.not_looked_for)
        .then(|| "not the same findings were looked for (--check)".to_owned())
}

/// The table of campaigns that nothing keeps apart.
///
/// # Errors
/// If a manifest cannot be written as JSON, which the types rule out.
pub fn side_by_side(campaigns: &[NamedCampaign]) -> Result<CampaignTable, serde_json::Error> {
    let mut columns = Vec::new();
    for (index, NamedCampaign { evidence, .. }) in campaigns.iter().enumerate() {
        let ran = evidence.campaign.engines.iter().filter(|row| row.ran);
        columns.extend(ran.map(|row| EngineColumn { campaign: index + 1, engine: row.engine }));
    }
    let of_column = |column: &EngineColumn| &campaigns[column.campaign - 1].evidence;
    Ok(CampaignTable {
        schema: CAMPAIGNS_SCHEMA,
        project: campaigns
            .first()
            .map(|first| first.evidence.campaign.project.name.clone())
            .unwrap_or_default(),
        campaigns: campaigns.iter().map(compared_campaign).collect::<Result<_, _>>()?,
        coverage: coverage_rows(&columns, of_column),
        tests: verdict_rows(&columns, of_column),
        differences: differences(campaigns)?,
        columns,
    })
}

fn compared_campaign(named: &NamedCampaign) -> Result<ComparedCampaign, serde_json::Error> {
    let NamedCampaign { folder, evidence } = named;
    let campaign = &evidence.campaign;
    Ok(ComparedCampaign {
        folder: folder.clone(),
        root: evidence.root()?,
        tool: format!("{} {}", campaign.project.tool, campaign.project.tool_version),
        engines: campaign.engines.clone(),
        exit_code: campaign.conclusion.exit_code,
        reasons: campaign.conclusion.reasons.clone(),
        set_aside: campaign.set_aside.iter().map(|row| row.kernel).collect(),
    })
}

/// How a campaign ended, with the kernels of which it says nothing.
fn ending_in_words(campaign: &ComparedCampaign) -> String {
    let exit_code = campaign.exit_code;
    let names: Vec<&str> = campaign.set_aside.iter().map(KernelName::as_str).collect();
    match names.is_empty() {
        true => exit_code.to_string(),
        false => format!("{exit_code}, without kernels that do not compile: {}", names.join(", ")),
    }
}

/// Each criterion of each kernel, in the order of the campaigns.
fn coverage_rows<'e>(
    columns: &[EngineColumn],
    of_column: impl Fn(&EngineColumn) -> &'e Evidence,
) -> Vec<CoverageRow> {
    let mut units: Vec<CoveredUnit> = Vec::new();
    let mut known = BTreeSet::new();
    let mut counts_by_column: Vec<BTreeMap<CoveredUnit, ObligationCounts>> = Vec::new();
    for column in columns {
        let evidence = of_column(column);
        let rows = evidence.campaign.conclusion.summary.iter();
        let own_rows = rows.filter(|row| row.engine == column.engine);
        let counts: Vec<_> = own_rows.flat_map(|row| counts_of_row(evidence, row)).collect();
        for (unit, _) in &counts {
            if known.insert(unit.clone()) {
                units.push(unit.clone());
            }
        }
        counts_by_column.push(counts.into_iter().collect());
    }
    let row = |unit: CoveredUnit| {
        let cells = counts_by_column.iter().map(|counts| counts.get(&unit).copied()).collect();
        let (kernel, configuration, criterion) = unit;
        CoverageRow { kernel, configuration, criterion, cells }
    };
    units.into_iter().map(row).collect()
}

/// What an engine tells of the criteria that are asked for.
fn counts_of_row<'e>(
    evidence: &'e Evidence,
    row: &'e KernelSummary,
) -> impl Iterator<Item = (CoveredUnit, ObligationCounts)> + 'e {
    let place = (&row.kernel, row.configuration.as_str(), row.engine);
    let told_here = row.criteria.iter().filter(move |counts| {
        is_asked_for(evidence, &counts.criterion)
            && !is_told_elsewhere(evidence, place, &counts.criterion)
    });
    told_here.map(|counts| {
        let unit = (row.kernel, row.configuration.clone(), counts.criterion.clone());
        (unit, counts.counts())
    })
}

/// Each test, in the order of the project.
fn verdict_rows<'e>(
    columns: &[EngineColumn],
    of_column: impl Fn(&EngineColumn) -> &'e Evidence,
) -> Vec<VerdictRow> {
    let verdicts: Vec<BTreeMap<TestId, Verdict>> =
        columns.iter().map(|column| verdicts_on(of_column(column), column.engine)).collect();
    let Some(first) = columns.first() else { return Vec::new() };
    let tests = of_column(first).campaign.tests.iter().map(|test| test.id);
    let row = |test: TestId| {
        let cells = verdicts.iter().map(|of_column| of_column.get(&test).copied()).collect();
        VerdictRow { test, cells }
    };
    tests.map(row).collect()
}

fn verdicts_on(evidence: &Evidence, engine: EngineName) -> BTreeMap<TestId, Verdict> {
    let tests = evidence.campaign.tests.iter();
    let verdicts = tests.filter_map(|test| {
        let result = test.results.iter().find(|result| result.engine == engine)?;
        Some((test.id, result.verdict))
    });
    verdicts.collect()
}

fn differences(campaigns: &[NamedCampaign]) -> Result<Vec<CampaignDifference>, serde_json::Error> {
    let Some((first, others)) = campaigns.split_first() else { return Ok(Vec::new()) };
    let difference = |(index, other): (usize, &NamedCampaign)| {
        let comparison = compare_with_baseline(&first.evidence, &other.evidence)?;
        let changes = comparison.changes.into_iter().filter(is_told_by_no_table).collect();
        Ok(CampaignDifference { campaign: index + 2, changes })
    };
    others.iter().enumerate().map(difference).collect()
}

/// That an engine ran in one campaign alone is a difference of its own: what it shows of each kernel and test stands in the
/// tables.
fn is_told_by_no_table(change: &BaselineChange) -> bool {
    let is_in_both = change.before.is_some() && change.now.is_some();
    match change.area {
        ChangeArea::Kernel | ChangeArea::Test => is_in_both,
        ChangeArea::Settings
        | ChangeArea::Environment
        | ChangeArea::Requirement
        | ChangeArea::Finding
        | ChangeArea::Coverage
        | ChangeArea::Coupling
        | ChangeArea::Justification
        | ChangeArea::OpenItem
        | ChangeArea::Objective => true,
    }
}

/// `test TC-01 on vulkan: pass in campaign 1, fail in campaign 2`.
fn difference_sentence(change: &BaselineChange, campaign: usize) -> String {
    let BaselineChange { effect: _, area, subject, before, now } = change;
    match (before, now) {
        (Some(first), Some(other)) => {
            format!("{area} {subject}: {first} in campaign 1, {other} in campaign {campaign}")
        }
        (Some(first), None) => format!("{area} {subject}: {first} in campaign 1 alone"),
        (None, Some(other)) => format!("{area} {subject}: {other} in campaign {campaign} alone"),
        (None, None) => format!("{area} {subject}"),
    }
}

/// `2 vulkan`
fn column_title(column: &EngineColumn) -> String {
    format!("{} {}", column.campaign, column.engine)
}

/// The kernel, with its configuration where it has several.
fn unit_title(table: &CampaignTable, row: &CoverageRow) -> String {
    let is_only = table
        .coverage
        .iter()
        .all(|other| other.kernel != row.kernel || other.configuration == row.configuration);
    match is_only {
        true => row.kernel.to_string(),
        false => format!("{} ({})", row.kernel, row.configuration),
    }
}

/// `5 of 6, 1 of them justified`; nothing where the engine tells nothing.
fn counts_in_words(counts: Option<&ObligationCounts>) -> String {
    let Some(ObligationCounts { total, covered, justified, .. }) = counts else {
        return "-".to_owned();
    };
    let closed = format!("{} of {total}", covered + justified);
    match justified {
        0 => closed,
        justified => format!("{closed}, {justified} of them justified"),
    }
}

fn verdict_in_words(verdict: Option<Verdict>) -> String {
    verdict.map_or_else(|| "-".to_owned(), |verdict| verdict.to_string())
}

/// What ran in a campaign: `sequential, vulkan: llvmpipe (Mesa 22.3.6)`.
fn engines_in_words(campaign: &ComparedCampaign) -> String {
    let engines = campaign.engines.iter().map(|row| {
        let fact = |key: &str| row.identity.get(key).map(String::as_str).unwrap_or_default();
        match (row.ran, fact("device")) {
            (false, _) => format!("{} not run", row.engine),
            (true, "") => row.engine.to_string(),
            (true, device) => {
                format!("{}: {device} ({} {})", row.engine, fact("driver"), fact("driver info"))
            }
        }
    });
    engines.collect::<Vec<_>>().join(", ")
}

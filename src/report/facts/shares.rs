//! Shares of coverage, per kernel and over all of them.
//!
//! Promises: a share that is not complete never prints as 100 %, and one that is not empty never as
//! 0 %.

use super::criteria::is_told_elsewhere;
use super::unit::{KernelUnit, kernel_unit};
use std::collections::BTreeMap;
use vkcert_model::coupling_summary::ObligationCounts;
use vkcert_model::coverage::{CriterionSummary, KernelCoverage};
use vkcert_model::criterion::StoredCriterion;
use vkcert_model::evidence::{Evidence, KernelSummary};
use vkcert_model::id::KernelName;
use vkcert_model::verdict::EngineName;

/// `91.6 %` of n in m, rounded down to a tenth so that only a complete share prints as 100 %, and
/// only none as 0.0 %; nothing for 0 of 0.
pub(crate) fn percent_in_words(
    covered_count: impl Into<u64>,
    total_count: impl Into<u64>,
) -> Option<String> {
    let (covered_count, total_count) = (covered_count.into(), total_count.into());
    let percent_tenths = (u128::from(covered_count) * 1000).checked_div(u128::from(total_count))?;
    Some(match percent_tenths {
        1000 => "100\u{a0}%".to_owned(),
        0 if covered_count > 0 => "<0.1\u{a0}%".to_owned(),
        _ => format!("{}.{}\u{a0}%", percent_tenths / 10, percent_tenths % 10),
    })
}

/// `11/12 (91.6 %)`, with the justified ones named apart.
pub(crate) fn share_in_words(summary: &CriterionSummary) -> String {
    counts_in_words(summary.counts())
}

/// The same of counts that are of no criterion.
pub(crate) fn counts_in_words(counts: ObligationCounts) -> String {
    let Some(percent_words) = percent_in_words(counts.covered, counts.total) else {
        return "0/0\u{a0}(none)".to_owned();
    };
    let justified_words = if counts.justified > 0 {
        format!(" + {} justified", counts.justified)
    } else {
        String::new()
    };
    format!("{}/{}\u{a0}({percent_words}){justified_words}", counts.covered, counts.total)
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
    criteria: &[StoredCriterion],
) -> Vec<CoverageRow<KernelUnit<'a>>> {
    let mut rows = Vec::new();
    for row in &evidence.campaign.conclusion.summary {
        let unit = kernel_unit(evidence, &row.kernel, &row.configuration);
        let shown_summaries = row
            .criteria
            .iter()
            .filter(|summary| criteria.contains(&summary.criterion))
            .filter(|summary| is_told(evidence, row, &summary.criterion));
        add_shares(&mut rows, unit, row.engine, shown_summaries.cloned().collect());
    }
    rows
}

/// Whether the engine of a row tells of a criterion, or no other one does.
fn is_told(evidence: &Evidence, row: &KernelSummary, criterion: &StoredCriterion) -> bool {
    !is_told_elsewhere(evidence, (&row.kernel, &row.configuration, row.engine), criterion)
}

fn zero_summary(criterion: &StoredCriterion) -> CriterionSummary {
    CriterionSummary {
        criterion: criterion.clone(),
        total: 0,
        covered: 0,
        justified: 0,
        uncovered: 0,
        undetermined: 0,
    }
}

/// Shares of the criteria named over all kernels, per engine; none where some kernel was not
/// measured by all of them.
pub(crate) fn coverage_totals(
    evidence: &Evidence,
    criteria: &[StoredCriterion],
) -> Option<Vec<CoverageRow<()>>> {
    let mut by_engine: BTreeMap<EngineName, Vec<CriterionSummary>> = BTreeMap::new();
    for row in &evidence.campaign.conclusion.summary {
        let engine_totals = by_engine.entry(row.engine).or_insert_with(|| {
            let told = criteria.iter().filter(|name| is_told(evidence, row, name));
            told.map(zero_summary).collect()
        });
        for criterion_total in engine_totals {
            let kernel_summary = row
                .criteria
                .iter()
                .find(|summary| summary.criterion == criterion_total.criterion)?;
            criterion_total.total = criterion_total.total.saturating_add(kernel_summary.total);
            criterion_total.covered =
                criterion_total.covered.saturating_add(kernel_summary.covered);
            criterion_total.justified =
                criterion_total.justified.saturating_add(kernel_summary.justified);
            criterion_total.uncovered =
                criterion_total.uncovered.saturating_add(kernel_summary.uncovered);
            criterion_total.undetermined =
                criterion_total.undetermined.saturating_add(kernel_summary.undetermined);
        }
    }
    let mut rows = Vec::new();
    for (engine, totals) in by_engine {
        add_shares(&mut rows, (), engine, totals);
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
pub(crate) fn obligations_of(evidence: &Evidence, criterion: &StoredCriterion) -> u32 {
    let mut by_unit: BTreeMap<(&KernelName, &str), u32> = BTreeMap::new();
    for row in &evidence.campaign.conclusion.summary {
        let total = row
            .criteria
            .iter()
            .find(|summary| summary.criterion == *criterion)
            .map_or(0, |criterion_summary| criterion_summary.total);
        let most_obligations = by_unit.entry((&row.kernel, &row.configuration)).or_default();
        *most_obligations = total.max(*most_obligations);
    }
    by_unit.values().sum()
}

/// The summary that a kernel's coverage holds, or none.
pub(crate) fn criterion_summary<'a>(
    coverage: &'a KernelCoverage,
    criterion: &StoredCriterion,
) -> Option<&'a CriterionSummary> {
    coverage.summary.iter().find(|summary| summary.criterion == *criterion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_share_never_prints_as_complete() {
        assert_eq!(percent_in_words(9999u32, 10000u32).as_deref(), Some("99.9\u{a0}%"));
        assert_eq!(percent_in_words(7u32, 7u32).as_deref(), Some("100\u{a0}%"));
        assert_eq!(percent_in_words(0u32, 3u32).as_deref(), Some("0.0\u{a0}%"));
        assert_eq!(percent_in_words(0u32, 0u32), None);
        // What is covered is not nothing.
        assert_eq!(percent_in_words(1u32, 3000u32).as_deref(), Some("<0.1\u{a0}%"));
        assert_eq!(percent_in_words(u32::MAX - 1, u32::MAX).as_deref(), Some("99.9\u{a0}%"));
    }
}

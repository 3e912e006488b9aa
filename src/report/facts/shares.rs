//! Shares of coverage, per kernel and over all of them.
//!
//! Promises: a share that is not complete never prints as 100 %, and one that is not empty never as
//! 0 %.

use super::unit::{Unit, unit};
use std::collections::BTreeMap;
use vkcert_model::coverage::{CriterionSummary, KernelCoverage};
use vkcert_model::evidence::Evidence;
use vkcert_model::id::KernelName;
use vkcert_model::verdict::EngineName;

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

/// The summary that a kernel's coverage holds, or none.
pub(crate) fn summary<'a>(
    coverage: &'a KernelCoverage,
    criterion: &str,
) -> Option<&'a CriterionSummary> {
    coverage.summary.iter().find(|summary| summary.criterion == criterion)
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

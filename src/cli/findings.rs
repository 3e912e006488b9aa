//! `vkcert list findings`: the findings of stored evidence by name, and justifications to review
//! for those that stand.
//!
//! Promises: a proposal is only printed, never applied: reason, author and approver are empty,
//! which no justification may be.
//! Does not cover: making evidence (`certify`); whether it is as it was written (`verify`).

use super::args::{Common, List, OutputForm};
use super::failure::Failure;
use super::obligations::unsigned_justification;
use super::{output, places};
use crate::model::evidence::{Campaign, Evidence};
use crate::model::exit::Exit;
use crate::model::finding::{Acceptance, Finding};
use crate::model::finding_index::FindingIndex;
use crate::model::id::{KernelName, TestId};
use crate::model::requirement::{Justification, JustificationClass, JustificationSubject};
use crate::verify::folder;
use serde_json::{Value, json};

/// Findings of one kernel with the same name and content; or one that has no name.
struct ListedFinding<'a> {
    kernel: Option<&'a KernelName>,
    finding: &'a Finding,
    showing_tests: Vec<&'a TestId>,
    count: u64,
}

impl ListedFinding<'_> {
    fn state_in_words(&self) -> &str {
        match &self.finding.acceptance {
            None => "stands; no justification can accept it",
            Some(Acceptance { justification: None, .. }) => "stands",
            Some(Acceptance { justification: Some(reason), .. }) => reason,
        }
    }
}

/// One row per kernel, name and content.
pub(super) fn finding_rows(list: &List) -> Result<Vec<Value>, Failure> {
    let stored_evidence = load_evidence(list)?;
    let finding_row = |listed_finding: &ListedFinding| {
        let acceptance = listed_finding.finding.acceptance.as_ref();
        json!({
            "id": acceptance.map(|acceptance| &acceptance.id),
            "kernel": listed_finding.kernel,
            "configuration": listed_finding.finding.configuration,
            "kind": listed_finding.finding.kind,
            "place": listed_finding.finding.place.as_ref().map(ToString::to_string),
            "tests": listed_finding.showing_tests,
            "count": listed_finding.count,
            "state": listed_finding.state_in_words(),
            "text": acceptance.map_or(&listed_finding.finding.message, |acceptance| &acceptance.content),
            "hash": acceptance.map(|acceptance| &acceptance.hash),
        })
    };
    Ok(listed_findings(&stored_evidence.campaign).iter().map(finding_row).collect())
}

/// Justifications to review, as TOML for `requirements/` (with `--format json` as an array with the
/// text in it).
pub(super) fn propose_justifications(common: &Common, list: &List) -> Result<Exit, Failure> {
    let stored_evidence = load_evidence(list)?;
    let listed_findings = listed_findings(&stored_evidence.campaign);
    let mut text = String::new();
    let mut values = Vec::new();
    for listed_finding in
        listed_findings.iter().filter(|listed_finding| listed_finding.finding.stands())
    {
        let place_suffix = listed_finding
            .finding
            .place
            .as_ref()
            .map_or_else(String::new, |place| format!(" at {place}"));
        let (Some(kernel), Some(acceptance)) =
            (listed_finding.kernel, &listed_finding.finding.acceptance)
        else {
            text.push_str(&format!(
                "# No justification can accept this: {}{place_suffix}\n\n",
                on_one_line(&listed_finding.finding.message)
            ));
            continue;
        };
        let justification = unsigned_justification(&Justification {
            kernel: *kernel,
            subject: JustificationSubject::Finding(acceptance.id),
            configuration: None,
            class: JustificationClass::Analysis,
            reason: String::new(),
            category: None,
            means: None,
            argument: None,
            author: String::new(),
            approver: String::new(),
            date: None,
            hash: acceptance.hash.clone(),
        });
        values.push(json!({ "id": acceptance.id, "kernel": kernel, "text": acceptance.content, "justification": justification }));
        text.push_str(&format!(
            "# {}{place_suffix}: {}\n{justification}\n",
            acceptance.id,
            on_one_line(&acceptance.content)
        ));
    }
    match common.form() {
        OutputForm::Json => output::print_text(&format!("{:#}\n", Value::Array(values)))?,
        OutputForm::Text if text.is_empty() => {
            output::print_text("# No finding stands; there is nothing to propose.\n")?
        }
        OutputForm::Text if values.is_empty() => output::print_text(&text)?,
        OutputForm::Text => {
            let heading = "# Review each of these, say why it does no harm, have it approved, and put it into requirements/.\n\n";
            output::print_text(&format!("{heading}{text}"))?;
        }
    }
    Ok(Exit::Success)
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The stored evidence of a listing; what its hashes do not agree with is a warning.
pub(super) fn load_evidence(list: &List) -> Result<Evidence, Failure> {
    let default_folder = list.dir.join(places::DEFAULT_EVIDENCE_PATH);
    let evidence_folder = list.evidence.as_deref().unwrap_or(&default_folder);
    let (stored_evidence, problems) = folder::load_evidence(evidence_folder)?;
    for problem in &problems {
        super::output::print_to_stderr(format_args!("warning: {problem}\n"));
    }
    Ok(stored_evidence)
}

fn listed_findings(campaign: &Campaign) -> Vec<ListedFinding<'_>> {
    let mut rows: Vec<ListedFinding> = Vec::new();
    let mut index = FindingIndex::default();
    for (kernel, test, finding) in campaign.all_findings() {
        let is_same_finding = |row_index: usize| {
            let listed_finding = rows[row_index].finding;
            finding.acceptance.is_some()
                && listed_finding.acceptance == finding.acceptance
                && listed_finding.configuration == finding.configuration
        };
        let key = (kernel, finding.acceptance.as_ref().map(|acceptance| &acceptance.hash));
        match index.find(&key, is_same_finding).map(|row_index| &mut rows[row_index]) {
            Some(row) => {
                row.count = row.count.saturating_add(finding.count);
                row.showing_tests.extend(test.filter(|test| !row.showing_tests.contains(test)));
            }
            None => {
                index.add(key, rows.len());
                rows.push(ListedFinding {
                    kernel,
                    finding,
                    showing_tests: test.into_iter().collect(),
                    count: finding.count,
                });
            }
        }
    }
    rows.sort_by(|first_row, second_row| {
        first_row
            .kernel
            .cmp(&second_row.kernel)
            .then_with(|| first_row.finding.order(second_row.finding))
    });
    rows
}

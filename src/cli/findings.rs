//! `vkcert list findings`: the findings of stored evidence by name, and justifications to review
//! for those that stand.
//!
//! Promises: a proposal is only printed, never applied: reason, author and approver are empty,
//! which no justification may be.
//! Does not cover: making evidence (`certify`); whether it is as it was written (`verify`).

use super::args::{Common, List, OutputForm};
use super::failure::Failure;
use super::obligations::unsigned;
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
struct Row<'a> {
    kernel: Option<&'a KernelName>,
    finding: &'a Finding,
    tests: Vec<&'a TestId>,
    count: u64,
}

impl Row<'_> {
    fn state(&self) -> &str {
        match &self.finding.acceptance {
            None => "stands; no justification can accept it",
            Some(Acceptance { justification: None, .. }) => "stands",
            Some(Acceptance { justification: Some(reason), .. }) => reason,
        }
    }
}

/// One row per kernel, name and content.
pub(super) fn rows(list: &List) -> Result<Vec<Value>, Failure> {
    let stored = load(list)?;
    let row = |row: &Row| {
        let acceptance = row.finding.acceptance.as_ref();
        json!({
            "id": acceptance.map(|known| &known.id),
            "kernel": row.kernel,
            "configuration": row.finding.configuration,
            "kind": row.finding.kind,
            "place": row.finding.place.as_ref().map(ToString::to_string),
            "tests": row.tests,
            "count": row.count,
            "state": row.state(),
            "text": acceptance.map_or(&row.finding.message, |known| &known.content),
            "hash": acceptance.map(|known| &known.hash),
        })
    };
    Ok(of(&stored.campaign).iter().map(row).collect())
}

/// Justifications to review, as TOML for `requirements/` (with `--format json` as an array with the
/// text in it).
pub(super) fn propose(common: &Common, list: &List) -> Result<Exit, Failure> {
    let stored = load(list)?;
    let all = of(&stored.campaign);
    let mut text = String::new();
    let mut values = Vec::new();
    for row in all.iter().filter(|row| row.finding.stands()) {
        let place =
            row.finding.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
        let (Some(kernel), Some(acceptance)) = (row.kernel, &row.finding.acceptance) else {
            text.push_str(&format!(
                "# No justification can accept this: {}{place}\n\n",
                line(&row.finding.message)
            ));
            continue;
        };
        let justification = unsigned(&Justification {
            kernel: kernel.clone(),
            subject: JustificationSubject::Finding(acceptance.id.clone()),
            configuration: None,
            class: JustificationClass::Analysis,
            reason: String::new(),
            category: None,
            means: None,
            argument: None,
            author: String::new(),
            approver: String::new(),
            hash: acceptance.hash.clone(),
        });
        values.push(json!({ "id": acceptance.id, "kernel": kernel, "text": acceptance.content, "justification": justification }));
        text.push_str(&format!(
            "# {}{place}: {}\n{justification}\n",
            acceptance.id,
            line(&acceptance.content)
        ));
    }
    match common.format {
        OutputForm::Json => output::print(&format!("{:#}\n", Value::Array(values)))?,
        OutputForm::Text if text.is_empty() => {
            output::print("# No finding stands; there is nothing to propose.\n")?
        }
        OutputForm::Text if values.is_empty() => output::print(&text)?,
        OutputForm::Text => {
            let head = "# Review each of these, say why it does no harm, have it approved, and put it into requirements/.\n\n";
            output::print(&format!("{head}{text}"))?;
        }
    }
    Ok(Exit::Success)
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn load(list: &List) -> Result<Evidence, Failure> {
    let folder = list.evidence.clone().unwrap_or_else(|| list.dir.join(places::EVIDENCE));
    let (stored, problems) = folder::load(&folder)?;
    for problem in &problems {
        super::output::tell(format_args!("warning: {problem}\n"));
    }
    Ok(stored)
}

fn of(campaign: &Campaign) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut index = FindingIndex::default();
    for (kernel, test, finding) in campaign.all_findings() {
        let same = |row: usize| {
            let known = rows[row].finding;
            finding.acceptance.is_some()
                && known.acceptance == finding.acceptance
                && known.configuration == finding.configuration
        };
        let key = (kernel, finding.acceptance.as_ref().map(|acceptance| &acceptance.hash));
        match index.find(&key, same).map(|row| &mut rows[row]) {
            Some(row) => {
                row.count = row.count.saturating_add(finding.count);
                row.tests.extend(test.filter(|test| !row.tests.contains(test)));
            }
            None => {
                index.add(key, rows.len());
                rows.push(Row {
                    kernel,
                    finding,
                    tests: test.into_iter().collect(),
                    count: finding.count,
                });
            }
        }
    }
    rows.sort_by(|a, b| a.kernel.cmp(&b.kernel).then_with(|| a.finding.order(b.finding)));
    rows
}

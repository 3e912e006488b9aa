//! LCOV tracefiles of version 2 with MC/DC records, which older readers of lines and branches read
//! too.
//!
//! Promises: one record per source file; totals are those of the lines above them.

use super::source_coverage::{
    Condition, FileCoverage, LineCoverage, Share, set_aside_lines, source_coverage,
};
use crate::{Format, Presentation, ReportError, Standing};
use std::fmt::Write as _;
use vkcert_model::evidence::Evidence;

/// `lcov`
pub(crate) struct Lcov;

impl Format for Lcov {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let project = &evidence.campaign.project;
        let mut text = format!(
            "# {} {}: {}, evidence {}\n",
            project.tool,
            project.tool_version,
            one_line(&project.name),
            evidence.root()?
        );
        if let Some(stamp) = presentation.standing.stamp() {
            text.push_str(&format!("# {stamp}\n"));
        }
        for line in set_aside_lines(evidence) {
            text.push_str(&format!("# {}\n", one_line(&line)));
        }
        let test_name = match presentation.standing {
            Standing::Verified => "vkcert",
            Standing::InPart(_) => "vkcert_VERIFIED_IN_PART",
            Standing::Unverified(_) => "vkcert_NOT_VERIFIED",
        };
        for (path, file) in source_coverage(evidence) {
            text.push_str(&format!("TN:{test_name}\nSF:{}\n", one_line(&path)));
            add_functions(&mut text, &file);
            add_branches(&mut text, &file);
            add_conditions(&mut text, &file);
            add_lines(&mut text, &file);
            text.push_str("end_of_record\n");
        }
        Ok(text.into_bytes())
    }
}

/// A text without line breaks and other control characters: a record is one line.
fn one_line(text: &str) -> String {
    text.split(char::is_control).collect::<Vec<_>>().join(" ")
}

fn add_record(text: &mut String, record: std::fmt::Arguments) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(record);
    text.push('\n');
}

fn add_totals(text: &mut String, [found, hit]: [&str; 2], share: Share) {
    if share.total > 0 {
        add_record(text, format_args!("{found}:{}", share.total));
        add_record(text, format_args!("{hit}:{}", share.covered));
    }
}

/// Names are unique in a record: of functions with one name the later ones have their line.
fn add_functions(text: &mut String, file: &FileCoverage) {
    let mut names = std::collections::BTreeSet::new();
    let functions: Vec<_> = file
        .functions
        .iter()
        .map(|((line, name), function)| {
            let name = one_line(name);
            let is_first = names.insert(name.clone());
            (*line, if is_first { name } else { format!("{name}@{line}") }, function.hits)
        })
        .collect();
    for (line, name, _) in &functions {
        add_record(text, format_args!("FN:{line},{name}"));
    }
    for (_, name, hits) in &functions {
        add_record(text, format_args!("FNDA:{hits},{name}"));
    }
    add_totals(text, ["FNF", "FNH"], Share::of(functions.iter().map(|(_, _, hits)| *hits > 0)));
}

/// A decision is a block of two branches, true and false; a label of a switch one of its own.
fn add_branches(text: &mut String, file: &FileCoverage) {
    for (number, line) in &file.lines {
        let mut block = 0;
        for decision in line.decisions.values() {
            let was_evaluated = decision.outcomes.iter().any(|hits| *hits > 0);
            for (branch, hits) in decision.outcomes.iter().enumerate() {
                let taken = if was_evaluated { hits.to_string() } else { "-".to_owned() };
                add_record(text, format_args!("BRDA:{number},{block},{branch},{taken}"));
            }
            block += 1;
        }
        for hits in line.labels.values() {
            add_record(text, format_args!("BRDA:{number},{block},0,{hits}"));
            block += 1;
        }
    }
    add_totals(text, ["BRF", "BRH"], file.branch_share());
}

/// A pair of vectors shows a condition in both directions.
fn add_conditions(text: &mut String, file: &FileCoverage) {
    let mut share = Share::default();
    for (number, line) in &file.lines {
        for group in condition_groups(line) {
            let size = group.len();
            for (index, condition) in group.into_iter().enumerate() {
                let taken = u32::from(condition.is_shown);
                for sense in ["t", "f"] {
                    let expression = one_line(&condition.text);
                    add_record(
                        text,
                        format_args!("MCDC:{number},{size},{sense},{taken},{index},{expression}"),
                    );
                }
                share.total += 2;
                share.covered += 2 * taken;
            }
        }
    }
    add_totals(text, ["MCF", "MCH"], share);
}

/// The conditions of a line by decision. Groups are told apart by their size alone, so that
/// decisions of a line are one group where two of them have as many conditions.
fn condition_groups(line: &LineCoverage) -> Vec<Vec<&Condition>> {
    let groups: Vec<Vec<&Condition>> = line
        .decisions
        .values()
        .map(|decision| decision.conditions.iter().collect())
        .filter(|group: &Vec<_>| !group.is_empty())
        .collect();
    let sizes: std::collections::BTreeSet<usize> = groups.iter().map(Vec::len).collect();
    if sizes.len() == groups.len() { groups } else { vec![groups.concat()] }
}

fn add_lines(text: &mut String, file: &FileCoverage) {
    for (number, line) in &file.lines {
        add_record(text, format_args!("DA:{number},{}", line.hits()));
    }
    let share = file.line_share();
    add_record(text, format_args!("LH:{}\nLF:{}", share.covered, share.total));
}

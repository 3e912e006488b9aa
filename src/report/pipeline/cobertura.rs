//! Cobertura XML with conditions, and with the attributes of VectorCAST for functions and MC/DC.
//!
//! Promises: every rate is that of the lines and branches below it, rounded down; of no branches it
//! is 1 where a line is hit, else 0. The document is of the form of `coverage-04.dtd`, but for two
//! attributes: `function-coverage` of a method and `mcdcpair-coverage` of a line.

use super::source_coverage::{
    EnteredFunction, FileCoverage, LineCoverage, Share, set_aside_lines, source_coverage,
};
use super::xml::{Attribute, XmlWriter};
use crate::{Format, Presentation, ReportError};
use std::collections::BTreeMap;
use vkcert_model::evidence::Evidence;

/// `cobertura`
pub(crate) struct Cobertura;

impl Format for Cobertura {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let project = &evidence.campaign.project;
        let stamp = presentation.standing.stamp();
        let set_aside = set_aside_lines(evidence);
        let comments: Vec<&str> =
            stamp.into_iter().chain(set_aside.iter().map(String::as_str)).collect();
        let files = source_coverage(evidence);
        let mut by_folder: BTreeMap<&str, Vec<(&str, &FileCoverage)>> = BTreeMap::new();
        for (path, file) in &files {
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
            by_folder.entry(folder).or_default().push((path, file));
        }
        let counts = Counts::of(files.values());
        let mut version = format!("{} {}", project.tool, project.tool_version);
        for remark in &comments {
            version.push_str(&format!(", {remark}"));
        }
        let mut xml = XmlWriter::new(&comments);
        xml.open(
            "coverage",
            &[
                ("line-rate", &counts.lines.rate()),
                ("branch-rate", &counts.lines.branch_rate(counts.branches)),
                ("lines-covered", &counts.lines.covered.to_string()),
                ("lines-valid", &counts.lines.total.to_string()),
                ("branches-covered", &counts.branches.covered.to_string()),
                ("branches-valid", &counts.branches.total.to_string()),
                ("complexity", "0"),
                ("version", &version),
                ("timestamp", "0"),
            ],
        );
        xml.open("sources", &[]);
        xml.leaf("source", &[], ".");
        xml.close();
        xml.open("packages", &[]);
        for (folder, files) in by_folder {
            let counts = Counts::of(files.iter().map(|(_, file)| *file));
            xml.open("package", &rated(&[("name", folder)], &counts.rates()));
            xml.open("classes", &[]);
            for (path, file) in files {
                add_class(&mut xml, path, file);
            }
            xml.close();
            xml.close();
        }
        Ok(xml.finish())
    }
}

/// Lines and branches of some files.
struct Counts {
    lines: Share,
    branches: Share,
}

impl Counts {
    fn of<'f>(files: impl Iterator<Item = &'f FileCoverage> + Clone) -> Self {
        Self {
            lines: files.clone().map(FileCoverage::line_share).sum(),
            branches: files.map(FileCoverage::branch_share).sum(),
        }
    }

    fn rates(&self) -> [String; 2] {
        [self.lines.rate(), self.lines.branch_rate(self.branches)]
    }
}

/// Attributes with the rates behind them, and the complexity, which is not measured.
fn rated<'a>(own: &[Attribute<'a>], [lines, branches]: &'a [String; 2]) -> Vec<Attribute<'a>> {
    let rates = [("line-rate", lines.as_str()), ("branch-rate", branches), ("complexity", "0")];
    own.iter().copied().chain(rates).collect()
}

fn add_class(xml: &mut XmlWriter, path: &str, file: &FileCoverage) {
    let counts = Counts::of(std::iter::once(file));
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    xml.open("class", &rated(&[("name", name), ("filename", path)], &counts.rates()));
    xml.open("methods", &[]);
    for ((line, name), function) in &file.functions {
        add_method(xml, (*line, name), function, file);
    }
    xml.close();
    xml.open("lines", &[]);
    for (number, line) in &file.lines {
        add_line(xml, *number, line);
    }
    xml.close();
    xml.close();
}

/// A function with its lines, of which the first, where no statement begins on it, is hit by who
/// enters the function.
fn add_method(
    xml: &mut XmlWriter,
    (line, name): (u32, &str),
    function: &EnteredFunction,
    file: &FileCoverage,
) {
    let is_header_alone = !file.lines.contains_key(&line);
    let inner_lines = || file.lines.range(line..=function.last_line);
    let header = is_header_alone.then_some(function.hits > 0);
    let hit_lines = inner_lines().map(|(_, inner)| inner.hits() > 0);
    let counts = Counts {
        lines: Share::of(header.into_iter().chain(hit_lines)),
        branches: inner_lines().map(|(_, inner)| inner.branches()).sum(),
    };
    // Functions of one name differ by the line.
    let signature = format!("line {line}");
    let entered_words = Share::of(std::iter::once(function.hits > 0)).percent_and_counts();
    let rates = counts.rates();
    let mut attributes = rated(&[("name", name), ("signature", &signature)], &rates);
    attributes.push(("function-coverage", &entered_words));
    xml.open("method", &attributes);
    xml.open("lines", &[]);
    if is_header_alone {
        let (number, hits) = (line.to_string(), function.hits.to_string());
        xml.empty("line", &[("number", &number), ("hits", &hits), ("branch", "false")]);
    }
    for (number, inner) in inner_lines() {
        add_line(xml, *number, inner);
    }
    xml.close();
    xml.close();
}

fn add_line(xml: &mut XmlWriter, number: u32, line: &LineCoverage) {
    let (number, hits) = (number.to_string(), line.hits().to_string());
    let (branches, conditions) = (line.branches(), line.conditions());
    if branches.total == 0 {
        xml.empty("line", &[("number", &number), ("hits", &hits), ("branch", "false")]);
        return;
    }
    let (branch_words, pair_words) =
        (branches.percent_and_counts(), conditions.percent_and_counts());
    let mut attributes = vec![
        ("number", number.as_str()),
        ("hits", &hits),
        ("branch", "true"),
        ("condition-coverage", &branch_words),
    ];
    if conditions.total > 0 {
        attributes.push(("mcdcpair-coverage", &pair_words));
    }
    xml.open("line", &attributes);
    xml.open("conditions", &[]);
    let jumps = line
        .decisions
        .values()
        .map(|decision| ("jump", Share::of(decision.outcomes.iter().map(|hits| *hits > 0))));
    let labels = line.labels.values().map(|hits| ("switch", Share::of(std::iter::once(*hits > 0))));
    for (number, (kind, share)) in jumps.chain(labels).enumerate() {
        xml.empty(
            "condition",
            &[("number", &number.to_string()), ("type", kind), ("coverage", &share.percent())],
        );
    }
    xml.close();
    xml.close();
}

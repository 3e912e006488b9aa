//! Cobertura XML with conditions, and with the attributes of VectorCAST for functions and MC/DC.
//!
//! Promises: every rate is that of the lines and branches below it, rounded down.

use super::source_coverage::{FileCoverage, LineCoverage, Share, source_coverage};
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
        let comments: Vec<&str> = stamp.into_iter().collect();
        let files = source_coverage(evidence);
        let mut by_folder: BTreeMap<&str, Vec<(&str, &FileCoverage)>> = BTreeMap::new();
        for (path, file) in &files {
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
            by_folder.entry(folder).or_default().push((path, file));
        }
        let counts = Counts::of(files.values());
        let version = match stamp {
            Some(stamp) => format!("{} {}, {stamp}", project.tool, project.tool_version),
            None => format!("{} {}", project.tool, project.tool_version),
        };
        let mut xml = XmlWriter::new(&comments);
        xml.open(
            "coverage",
            &[
                ("line-rate", &counts.lines.rate()),
                ("branch-rate", &counts.branches.rate()),
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
        [self.lines.rate(), self.branches.rate()]
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
    for ((line, name), hits) in &file.functions {
        let entered = Share::of(std::iter::once(*hits > 0));
        // Functions of one name differ by the line.
        let signature = format!("line {line}");
        let own = [("name", name.as_str()), ("signature", signature.as_str())];
        let rates = [entered.rate(), Share::default().rate()];
        let coverage = entered.percent_and_counts();
        let mut attributes = rated(&own, &rates);
        attributes.push(("function-coverage", coverage.as_str()));
        xml.open("method", &attributes);
        xml.open("lines", &[]);
        xml.empty("line", &[("number", &line.to_string()), ("hits", &hits.to_string())]);
        xml.close();
        xml.close();
    }
    xml.close();
    xml.open("lines", &[]);
    for (number, line) in &file.lines {
        add_line(xml, *number, line);
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

//! Formats for other programs, read back and compared with the evidence.

use crate::tests::rendered;
use crate::{FormatName, Presentation, Standing, render};
use std::collections::BTreeMap;
use vkcert_model::coverage::Status;
use vkcert_model::evidence::Evidence;
use vkcert_sample as sample;

/// What a source file's record of a tracefile says.
#[derive(Default)]
struct LcovRecord {
    lines: BTreeMap<u32, u32>,
    branches: Vec<u32>,
    conditions: Vec<u32>,
    functions: BTreeMap<String, Option<u32>>,
    totals: BTreeMap<String, usize>,
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(',').map(|number| number.parse().unwrap_or_else(|_| panic!("{text}"))).collect()
}

impl LcovRecord {
    fn read(&mut self, line: &str) {
        let (key, value) = line.split_once(':').unwrap_or_else(|| panic!("{line}"));
        match key {
            "FN" => {
                let (start, name) = value.split_once(',').unwrap();
                assert!(start.parse::<u32>().unwrap() > 0);
                assert!(self.functions.insert(name.to_owned(), None).is_none(), "{line}");
            }
            "FNDA" => {
                let (hits, name) = value.split_once(',').unwrap();
                let function = self.functions.get_mut(name).unwrap_or_else(|| panic!("{line}"));
                assert!(function.replace(hits.parse().unwrap()).is_none(), "{line}");
            }
            "BRDA" => {
                let (place, taken) = value.rsplit_once(',').unwrap();
                assert_eq!(numbers(place).len(), 3, "{line}");
                self.branches.push(if taken == "-" { 0 } else { taken.parse().unwrap() });
            }
            "MCDC" => {
                let parts: Vec<&str> = value.splitn(6, ',').collect();
                let [_, size, sense, taken, index, text] = parts.as_slice() else {
                    panic!("{line}")
                };
                assert!(["t", "f"].contains(sense) && !text.is_empty(), "{line}");
                assert!(index.parse::<u32>().unwrap() < size.parse().unwrap(), "{line}");
                self.conditions.push(taken.parse().unwrap());
            }
            "DA" => {
                let [number, hits] = numbers(value)[..] else { panic!("{line}") };
                assert!(number > 0 && self.lines.insert(number, hits).is_none(), "{line}");
            }
            "FNF" | "FNH" | "BRF" | "BRH" | "MCF" | "MCH" | "LF" | "LH" => {
                let total = value.parse().unwrap();
                assert!(self.totals.insert(key.to_owned(), total).is_none(), "{line}");
            }
            _ => panic!("{line}"),
        }
    }

    /// Totals are those of the lines above them.
    fn check_totals(&self) {
        let hit = |hits: &[u32]| hits.iter().filter(|hits| **hits > 0).count();
        let functions: Vec<u32> = self.functions.values().map(|hits| hits.unwrap()).collect();
        let lines: Vec<u32> = self.lines.values().copied().collect();
        for (kind, hits) in
            [("FN", &functions), ("BR", &self.branches), ("MC", &self.conditions), ("L", &lines)]
        {
            let total = |letter: &str| {
                self.totals.get(&format!("{kind}{letter}")).copied().unwrap_or_default()
            };
            assert_eq!([total("F"), total("H")], [hits.len(), hit(hits)], "{kind}");
        }
    }
}

fn lcov_records(evidence: &Evidence) -> BTreeMap<String, LcovRecord> {
    let text = String::from_utf8(rendered(evidence, FormatName::Lcov)).unwrap();
    let mut records = BTreeMap::new();
    let mut open: Option<(String, LcovRecord)> = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match (line, &mut open) {
            ("TN:vkcert", None) => {}
            ("end_of_record", Some((_, record))) => {
                record.check_totals();
                records.extend(open.take());
            }
            (line, Some((_, record))) => record.read(line),
            (line, None) => {
                let path = line.strip_prefix("SF:").unwrap_or_else(|| panic!("{line}"));
                open = Some((path.to_owned(), LcovRecord::default()));
            }
        }
    }
    assert!(open.is_none(), "a record is not closed");
    records
}

#[test]
fn of_two_engines_the_worse_one_counts() {
    let records = lcov_records(&sample::evidence());
    let record = &records["glsl/matmul_naive.comp"];
    // The sequential engine alone shows the second condition of `x < k && y < m`.
    assert_eq!(record.conditions, [1, 1, 1, 1, 0, 0]);
    let alone = lcov_records(&sample::flawless());
    assert_eq!(alone["glsl/matmul_naive.comp"].conditions, [1; 6]);
}

#[test]
fn lines_and_branches_are_those_of_the_evidence() {
    let evidence = sample::flawless();
    let coverage = &evidence.kernels[0].coverage;
    let record = &lcov_records(&evidence)["glsl/matmul_naive.comp"];
    let statements = || coverage.statements.iter().map(|statement| statement.line);
    assert!(statements().all(|line| record.lines[&line] > 0));
    let outcomes: usize = coverage.decisions.iter().map(|decision| decision.outcomes.len()).sum();
    assert_eq!(record.branches.len(), outcomes);
}

#[test]
fn nothing_but_a_test_makes_a_line_hit() {
    for status in [Status::Uncovered, Status::Justified, Status::Undetermined] {
        let mut evidence = sample::flawless();
        let coverage = &mut evidence.kernels[0].coverage;
        coverage.statements[1].status = status;
        coverage.decisions[0].outcomes[0].status = status;
        coverage.decisions[0].mcdc[0].masking.status = status;
        let line = coverage.statements[1].line;
        let record = &lcov_records(&evidence)["glsl/matmul_naive.comp"];
        assert_eq!(record.lines[&line], 0, "{status}");
        assert_eq!(record.totals["BRH"], record.totals["BRF"] - 1, "{status}");
        assert_eq!(record.totals["MCH"], record.totals["MCF"] - 2, "{status}");
        let xml = String::from_utf8(rendered(&evidence, FormatName::Cobertura)).unwrap();
        let [lines, branches] = [&record.totals["LF"], &record.totals["BRF"]];
        for counts in [
            format!("lines-covered=\"{}\" lines-valid=\"{lines}\"", record.totals["LH"]),
            format!("branches-covered=\"{}\" branches-valid=\"{branches}\"", branches - 1),
            format!("<line number=\"{line}\" hits=\"0\""),
        ] {
            assert!(xml.contains(&counts), "{counts}: {xml}");
        }
    }
}

#[test]
fn evidence_that_does_not_verify_says_so() {
    let standing = Standing::Unverified(vec!["a problem".to_owned()]);
    let presentation = Presentation { standing, ..Presentation::default() };
    for format in [FormatName::Lcov, FormatName::Cobertura] {
        let bytes = render(&sample::evidence(), format, &presentation).unwrap();
        assert!(String::from_utf8(bytes).unwrap().contains("NOT VERIFIED"), "{format}");
    }
}

#[test]
fn where_nothing_is_measured_nothing_is_covered() {
    let mut evidence = sample::flawless();
    evidence.kernels.clear();
    let xml = String::from_utf8(rendered(&evidence, FormatName::Cobertura)).unwrap();
    assert!(xml.contains("line-rate=\"0.0000\" branch-rate=\"0.0000\""), "{xml}");
}

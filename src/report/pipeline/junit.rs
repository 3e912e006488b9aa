//! JUnit XML: a suite per engine with a case per test, and a suite for all else that counts.
//!
//! Promises: only a test that passed is a case without `failure`, `error` or `skipped`; a case
//! fails for each thing that counts against the campaign, so that no green file stands beside an
//! exit code other than 0. Of a part of a campaign it has the tests alone.

use super::declared::DeclaredPlaces;
use super::notices::{Notice, Weight, mismatch_in_words, notices, test_place};
use super::xml::XmlWriter;
use crate::{Format, Presentation, ReportError};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::{Evidence, TestEvidence, TestResult};
use vkcert_model::verdict::{EngineName, Verdict};

/// `junit`
pub(crate) struct Junit;

impl Format for Junit {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let project = &evidence.campaign.project;
        let (notices, mut suites) =
            rayon::join(|| notices(evidence, presentation), || engine_suites(evidence));
        // What counts besides is told of all parts together.
        if presentation.part.is_none() {
            suites.push(campaign_suite(evidence, &notices));
        }
        let stamp = presentation.standing.stamp();
        let comments: Vec<&str> = stamp.into_iter().collect();
        let mut xml = XmlWriter::new(&comments);
        let count = |outcome: fn(&Outcome) -> bool| {
            suites.iter().map(|suite| suite.count(outcome)).sum::<usize>().to_string()
        };
        xml.open(
            "testsuites",
            &[
                ("name", project.name.as_str()),
                ("tests", &count(|_| true)),
                ("failures", &count(Outcome::is_failure)),
                ("errors", &count(Outcome::is_error)),
            ],
        );
        let mut identity = vec![
            ("tool", format!("{} {}", project.tool, project.tool_version)),
            ("level", project.level.to_string()),
            ("evidence", evidence.root()?),
        ];
        identity.extend(stamp.map(|stamp| ("standing", stamp.to_owned())));
        identity.extend(presentation.part.map(|part| ("shard", part.to_string())));
        for suite in &suites {
            add_suite(&mut xml, suite, &identity);
        }
        Ok(xml.finish())
    }
}

/// What a case came to, as JUnit knows it; with its type and message.
enum Outcome {
    Passed,
    Failure(&'static str, String),
    Error(&'static str, String),
    Skipped(&'static str, String),
}

impl Outcome {
    fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failure(..))
    }

    fn is_error(&self) -> bool {
        matches!(self, Outcome::Error(..))
    }

    fn is_skipped(&self) -> bool {
        matches!(self, Outcome::Skipped(..))
    }
}

struct Case {
    class: String,
    name: String,
    properties: Vec<(&'static str, String)>,
    outcome: Outcome,
    /// What stands inside of a failure, error or skipped case.
    details: Vec<String>,
    /// What is to be known besides.
    output: Vec<String>,
}

struct Suite {
    name: String,
    properties: Vec<(String, String)>,
    cases: Vec<Case>,
}

impl Suite {
    fn count(&self, outcome: fn(&Outcome) -> bool) -> usize {
        self.cases.iter().filter(|case| outcome(&case.outcome)).count()
    }
}

/// Engines that the campaign lists, and any other that a result names.
fn engines(evidence: &Evidence) -> BTreeSet<EngineName> {
    let campaign = &evidence.campaign;
    let results = campaign.tests.iter().flat_map(|test| &test.results);
    let listed = campaign.engines.iter().map(|row| row.engine);
    listed.chain(results.map(|result| result.engine)).collect()
}

fn engine_suites(evidence: &Evidence) -> Vec<Suite> {
    let declared = DeclaredPlaces::of(evidence);
    // Every test has its place.
    declared.read_all();
    let suite = |engine| engine_suite(engine, evidence, &declared);
    engines(evidence).into_iter().map(suite).collect()
}

fn engine_suite(engine: EngineName, evidence: &Evidence, declared: &DeclaredPlaces) -> Suite {
    let identity = evidence.campaign.engines.iter().find(|row| row.engine == engine);
    let reason = identity.and_then(|row| row.reason.as_deref());
    let cases_of_test = |test| {
        let results = engine_results(test, engine);
        if results.is_empty() {
            let words = reason.map_or(String::new(), |reason| format!(": {reason}"));
            let outcome = Outcome::Skipped("not-run", format!("{}{words}", Verdict::NotRun));
            return vec![test_case(test, engine, outcome, declared)];
        }
        results.into_iter().map(|result| result_case(test, result, declared)).collect()
    };
    let cases = evidence.campaign.tests.par_iter().flat_map_iter(cases_of_test).collect();
    let properties = identity.into_iter().flat_map(|row| &row.identity);
    let properties = properties.map(|(key, value)| (key.clone(), value.clone())).collect();
    Suite { name: engine.to_string(), properties, cases }
}

fn engine_results(test: &TestEvidence, engine: EngineName) -> Vec<&TestResult> {
    test.results.iter().filter(|result| result.engine == engine).collect()
}

fn result_case(test: &TestEvidence, result: &TestResult, declared: &DeclaredPlaces) -> Case {
    let findings = result.findings.iter().map(|finding| {
        let place = finding.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        let standing = if finding.stands() { "" } else { " (accepted)" };
        format!("{place}{}: {}{standing}", finding.kind, finding.message)
    });
    Case {
        details: result.mismatches.iter().map(mismatch_in_words).collect(),
        output: findings.collect(),
        ..test_case(test, result.engine, outcome_of(result), declared)
    }
}

fn test_case(
    test: &TestEvidence,
    engine: EngineName,
    outcome: Outcome,
    declared: &DeclaredPlaces,
) -> Case {
    let kernels: Vec<&str> = test.kernels.iter().map(|kernel| kernel.as_str()).collect();
    let requirements: Vec<&str> = test.requirements.iter().map(|uid| uid.as_str()).collect();
    let mut properties: Vec<(&'static str, String)> =
        requirements.iter().map(|uid| ("requirement", (*uid).to_owned())).collect();
    // Readers that keep one value for a name find all of them here.
    properties.push(("requirements", requirements.join(",")));
    properties.push(("place", test_place(test, declared).in_words()));
    properties.extend(test.title.iter().map(|title| ("title", title.clone())));
    Case {
        class: format!("{engine}.{}", kernels.join("+")),
        name: test.id.to_string(),
        properties,
        outcome,
        details: Vec::new(),
        output: Vec::new(),
    }
}

/// Each verdict has its element and its type, and only one is a pass.
fn outcome_of(result: &TestResult) -> Outcome {
    let message = match &result.reason {
        Some(reason) => format!("{}: {reason}", result.verdict),
        None => result.verdict.to_string(),
    };
    match result.verdict {
        Verdict::Pass => Outcome::Passed,
        Verdict::Fail => Outcome::Failure("fail", message),
        Verdict::Error => Outcome::Error("error", message),
        Verdict::Timeout => Outcome::Error("timeout", message),
        Verdict::Undetermined => Outcome::Error("undetermined", message),
        Verdict::Unsupported => Outcome::Error("unsupported", message),
        Verdict::NotRun => Outcome::Skipped("not-run", message),
    }
}

/// A case for each thing that counts, but for the tests, which have theirs; and one for the whole.
fn campaign_suite(evidence: &Evidence, notices: &[Notice]) -> Suite {
    let mut groups: BTreeMap<(&str, &str), Vec<&Notice>> = BTreeMap::new();
    for notice in notices.iter().filter(|notice| !notice.rule.is_of_test()) {
        match notice.weight {
            Weight::Counts | Weight::Doubts => {
                let key = (notice.rule.id.as_str(), notice.about.as_str());
                groups.entry(key).or_default().push(notice);
            }
            Weight::Accepted(_) | Weight::Told => {}
        }
    }
    let mut cases = vec![conclusion_case(evidence, notices)];
    cases.extend(groups.into_iter().map(|((rule, about), rows)| group_case(rule, about, &rows)));
    Suite { name: "campaign".to_owned(), properties: Vec::new(), cases }
}

/// Of notices of one rule about one thing.
fn group_case(rule: &str, about: &str, rows: &[&Notice]) -> Case {
    let details = rows.iter().map(|row| format!("{}: {}", row.place.in_words(), row.message));
    let message = match rows {
        [single] => single.message.clone(),
        rows => format!("{} of them: {}", rows.len(), rows[0].message),
    };
    let outcome = match rows.iter().any(|row| row.counts()) {
        true => Outcome::Failure("counts", message),
        false => Outcome::Skipped("doubts", message),
    };
    Case {
        class: format!("campaign.{rule}"),
        name: if about.is_empty() { rule.to_owned() } else { about.to_owned() },
        properties: Vec::new(),
        outcome,
        details: details.collect(),
        output: Vec::new(),
    }
}

/// Of the exit code; with what is accepted and what is to be known.
fn conclusion_case(evidence: &Evidence, notices: &[Notice]) -> Case {
    let conclusion = &evidence.campaign.conclusion;
    let outcome = match (conclusion.exit_code, notices.iter().any(Notice::counts)) {
        (0, false) => Outcome::Passed,
        (0, true) => Outcome::Failure("conclusion", "something counts against it".to_owned()),
        (code, _) => Outcome::Failure("conclusion", format!("exit code {code}")),
    };
    let output = notices.iter().filter_map(|notice| {
        let words = format!("{}: {}", notice.rule.id, notice.message);
        match &notice.weight {
            Weight::Accepted(text) => Some(format!("accepted: {words}: {text}")),
            Weight::Told => Some(format!("note: {words}")),
            Weight::Counts | Weight::Doubts => None,
        }
    });
    Case {
        class: "campaign.conclusion".to_owned(),
        name: "conclusion".to_owned(),
        properties: Vec::new(),
        outcome,
        details: conclusion.reasons.clone(),
        output: output.collect(),
    }
}

fn add_suite(xml: &mut XmlWriter, suite: &Suite, identity: &[(&'static str, String)]) {
    xml.open(
        "testsuite",
        &[
            ("name", suite.name.as_str()),
            ("tests", &suite.cases.len().to_string()),
            ("failures", &suite.count(Outcome::is_failure).to_string()),
            ("errors", &suite.count(Outcome::is_error).to_string()),
            ("skipped", &suite.count(Outcome::is_skipped).to_string()),
        ],
    );
    let identity = identity.iter().map(|(name, value)| (*name, value.as_str()));
    let properties = suite.properties.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    add_properties(xml, identity.chain(properties));
    let text_of_case = |case| {
        let mut inner = xml.inner();
        add_case(&mut inner, case);
        inner.into_text()
    };
    let texts: Vec<String> = suite.cases.par_iter().map(text_of_case).collect();
    texts.iter().for_each(|text| xml.add_text(text));
    xml.close();
}

fn add_properties<'p>(xml: &mut XmlWriter, properties: impl Iterator<Item = (&'p str, &'p str)>) {
    xml.open("properties", &[]);
    properties.for_each(|(name, value)| xml.empty("property", &[("name", name), ("value", value)]));
    xml.close();
}

fn add_case(xml: &mut XmlWriter, case: &Case) {
    xml.open("testcase", &[("classname", case.class.as_str()), ("name", case.name.as_str())]);
    if !case.properties.is_empty() {
        let properties = case.properties.iter().map(|(name, value)| (*name, value.as_str()));
        add_properties(xml, properties);
    }
    let element = match &case.outcome {
        Outcome::Passed => None,
        Outcome::Failure(kind, message) => Some(("failure", kind, message)),
        Outcome::Error(kind, message) => Some(("error", kind, message)),
        Outcome::Skipped(kind, message) => Some(("skipped", kind, message)),
    };
    if let Some((element, kind, message)) = element {
        let attributes = [("type", *kind), ("message", message.as_str())];
        xml.leaf(element, &attributes, &case.details.join("\n"));
    }
    if !case.output.is_empty() {
        xml.leaf("system-out", &[], &case.output.join("\n"));
    }
    xml.close();
}

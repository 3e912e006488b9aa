//! Names, places and words of findings on a small kernel made by hand.

use super::place::subject_places;
use super::*;
use std::collections::BTreeMap;
use vkcert_model::evidence::Configuration;
use vkcert_model::finding::FindingKind;
use vkcert_model::finding_details::FindingDetails;
use vkcert_model::finding_subject::SubjectPlace;
use vkcert_model::id::{KernelName, ObligationId, StatementId};
use vkcert_model::place::{FileIndex, Place, SourceFile, Span};
use vkcert_model::requirement::{DeactivationCategory, JustificationSubject};
use vkcert_model::structure::{
    Block, Exit, Expansion, Function, KernelStructure, MarkIndex, Statement, StatementKind,
};

const MAIN: &str = "#define SET(b) b = 1u; c = 2u\nvoid main() {\n  a = 0u; raised =\n    flag;  ä = 1u;\n  SET(x);\n\n  if (p) { q = 1u; }\n  for (i = 0u; i < n; i++) s++;\n}\n";
const INCLUDED: &str = "z = 3u;\n";

fn span_in(file: u32, of: &str) -> Span {
    let start = [MAIN, INCLUDED][file as usize].find(of).expect(of) as u32;
    Span { file: FileIndex(file), start, end: start + of.len() as u32 }
}

fn statement(number: u32, span: Span, kind: StatementKind) -> Statement {
    Statement { id: Some(StatementId(number)), span, kind, expansion: Vec::new() }
}

fn body() -> Block {
    use vkcert_model::id::DecisionId;
    let simple = |number: u32, of: &str| statement(number, span_in(0, of), StatementKind::Simple);
    let from_macro = |number: u32, of: &str| Statement {
        expansion: vec![Expansion { macro_name: "SET".to_owned(), site: span_in(0, "SET(x)") }],
        ..simple(number, of)
    };
    let then = Statement {
        id: None,
        span: span_in(0, "{ q = 1u; }"),
        kind: StatementKind::Block { block: Block(vec![simple(7, "q = 1u;")]) },
        expansion: Vec::new(),
    };
    let branch =
        StatementKind::If { decision: DecisionId(1), then: Box::new(then), otherwise: None };
    let repeat = StatementKind::For {
        init: Some(Box::new(simple(9, "i = 0u;"))),
        decision: Some(DecisionId(2)),
        body: Box::new(simple(10, "s++;")),
    };
    Block(vec![
        simple(1, "a = 0u;"),
        simple(2, "raised =\n    flag;"),
        simple(3, "ä = 1u;"),
        from_macro(4, "b = 1u"),
        from_macro(5, "c = 2u"),
        statement(6, span_in(0, "if (p)"), branch),
        statement(8, span_in(0, "for (i = 0u; i < n; i++)"), repeat),
        statement(11, span_in(1, "z = 3u;"), StatementKind::Simple),
    ])
}

/// What findings are found in: stored evidence with the kernel above in place of its own.
struct Evidence {
    kernels: Vec<KernelEvidence>,
    campaign: Campaign,
}

impl Evidence {
    fn new() -> Self {
        let read = |name: &str| {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../reports/sample/evidence")
                .join(name);
            std::fs::read(path).unwrap()
        };
        let mut campaign: Campaign = serde_json::from_slice(&read("campaign.json")).unwrap();
        let mut kernel: KernelEvidence =
            serde_json::from_slice(&read("kernel-matmul_naive-sequential.json")).unwrap();
        let file =
            |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
        let main = Function {
            name: "main".to_owned(),
            span: span_in(0, MAIN),
            entry_mark: MarkIndex(0),
            body: body(),
            exits: vec![Exit::EndOfBody { span: span_in(0, "}\n") }],
            ..kernel.structure.functions[0].clone()
        };
        kernel.structure = KernelStructure {
            files: vec![file("k.comp", MAIN), file("inc.glsl", INCLUDED)],
            functions: vec![main],
            ..kernel.structure
        };
        kernel.kernel = "k".into();
        kernel.modules.code = "c0de0123456789abcdef".to_owned();
        kernel.configuration = Configuration { name: "TILE=4".to_owned(), ..Default::default() };
        let mut other = KernelEvidence { kernel: "other".into(), ..kernel.clone() };
        other.modules.code = "07e7".to_owned();
        campaign.tests.truncate(1);
        campaign.tests[0].id = "T1".into();
        campaign.tests[0].hash = "sha256:0123456789abcdef0123456789abcdef".to_owned();
        campaign.tests[0].kernels = vec!["k".into(), "other".into(), "unknown".into()];
        for row in &mut campaign.engines {
            row.ran = row.engine == EngineName::Vulkan;
            row.identity = ["device", "driver", "driver version", "loader"]
                .map(|name| (name.to_owned(), format!("the {name}")))
                .into();
        }
        campaign.coupling.truncate(1);
        campaign.coupling[0].kernel = "k".into();
        let interface = serde_json::json!({ "kernel": "k", "groups": ["1", "1", "1"] });
        campaign.coupling[0].definition = Some(serde_json::from_value(interface).unwrap());
        Self { kernels: vec![kernel, other], campaign }
    }

    fn occasion(&self, engine: Option<EngineName>, binding: HashBinding) -> FindingOccasion<'_> {
        let context = FindingContext { kernels: &self.kernels, campaign: &self.campaign, binding };
        FindingOccasion {
            context,
            kernel: &self.kernels[0],
            test: Some(&self.campaign.tests[0]),
            engine,
        }
    }

    /// `id: content`, found on the sequential engine.
    fn told(&self, finding: &Finding) -> Option<String> {
        let occasion = self.occasion(Some(EngineName::Sequential), HashBinding::Content);
        let acceptance = acceptance_of(finding, occasion)?;
        Some(format!("{}: {}", acceptance.id, acceptance.content))
    }
}

trait Detailed {
    /// The same with one more detail, as evidence stores it.
    fn with(self, name: &str, value: impl Into<serde_json::Value>) -> Self;
}

impl Detailed for Finding {
    fn with(self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        let mut details = self.stored_details();
        details.insert(name.to_owned(), value.into());
        Finding { details: FindingDetails::Stored(details), ..self }
    }
}

fn place(file: &str, line: u32, column: Option<u32>) -> Place {
    Place {
        file: Some(file.to_owned()),
        line: Some(line),
        column,
        function: Some("main".to_owned()),
        instruction: Some(77),
    }
}

#[test]
fn a_place_names_its_statement_and_the_rest_of_it() {
    let evidence = Evidence::new();
    let in_words = |place: Place| {
        let found = subject_places(
            &Finding::new(FindingKind::DataRace, "m").at(place),
            &evidence.kernels[0],
        );
        let [SubjectPlace { statement, name, text, from, access: None }] = found.as_slice() else {
            panic!("one place without access: {found:?}")
        };
        let id = statement.map_or("-".to_owned(), |id| id.to_string());
        let from = from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
        format!("{id} {name} [{text}]{from}")
    };
    for (line, column, expected) in [
        (3, Some(3), "S1 S1 [a = 0u;]"),
        (3, Some(7), "S1 S1 [a = 0u;] from 0u;"),
        (3, Some(9), "S1 S1 [a = 0u;] from ;"),
        // The space behind it is in no statement.
        (3, Some(10), "- main [a = 0u; raised =]"),
        (3, Some(11), "S2 S2 [raised = flag;]"),
        (3, Some(18), "S2 S2 [raised = flag;] from = flag;"),
        (4, Some(5), "S2 S2 [raised = flag;] from flag;"),
        // Columns count characters, not bytes.
        (4, Some(12), "S3 S3 [ä = 1u;]"),
        (4, Some(16), "S3 S3 [ä = 1u;] from 1u;"),
        (4, Some(18), "S3 S3 [ä = 1u;] from ;"),
        // A line alone: what its beginning is in, else the first statement on it.
        (3, None, "S1 S1 [a = 0u;]"),
        (4, None, "S2 S2 [raised = flag;]"),
        (3, Some(0), "S1 S1 [a = 0u;]"),
        (3, Some(99), "S1 S1 [a = 0u;]"),
        // A macro's text is where it is used.
        (5, Some(3), "S4 S4 [SET(x)]"),
        (5, Some(7), "S4 S4 [SET(x)] from x)"),
        (1, Some(16), "- main [#define SET(b) b = 1u; c = 2u]"),
        (2, Some(1), "- main [void main() {]"),
        (2, None, "- main [void main() {]"),
        (6, None, "- main []"),
        (7, Some(3), "S6 S6 [if (p)]"),
        (7, Some(7), "S6 S6 [if (p)] from p)"),
        (7, Some(10), "- main [if (p) { q = 1u; }]"),
        (7, Some(12), "S7 S7 [q = 1u;]"),
        (7, None, "S6 S6 [if (p)]"),
        // Of statements within each other the innermost.
        (8, Some(3), "S8 S8 [for (i = 0u; i < n; i++)]"),
        (8, Some(8), "S9 S9 [i = 0u;]"),
        (8, Some(16), "S8 S8 [for (i = 0u; i < n; i++)] from i < n; i++)"),
        (8, Some(28), "S10 S10 [s++;]"),
        (8, None, "S8 S8 [for (i = 0u; i < n; i++)]"),
        (99, None, "- 77 [main+word 77]"),
        (0, None, "- 77 [main+word 77]"),
    ] {
        assert_eq!(in_words(place("k.comp", line, column)), expected, "{line}:{column:?}");
    }
    assert_eq!(in_words(place("inc.glsl", 1, Some(5))), "S11 S11 [z = 3u;] from 3u;");
    assert_eq!(in_words(place("other.comp", 1, Some(5))), "- 77 [main+word 77]");
    let nameless = Place { function: None, ..place("k.comp", 2, None) };
    assert_eq!(in_words(nameless), "- module [void main() {]");
    assert_eq!(in_words(Place::default()), "- module [-]");
}

#[test]
fn of_two_places_the_earlier_access_is_at_the_other_one() {
    let evidence = Evidence::new();
    let accesses = |accesses: serde_json::Value| {
        let mut finding = Finding::new(FindingKind::DataRace, "m")
            .at(place("k.comp", 3, Some(3)))
            .with("accesses", accesses);
        finding.other_place = Some(place("k.comp", 4, Some(12)));
        let places = subject_places(&finding, &evidence.kernels[0]);
        places.into_iter().map(|place| (place.name, place.access)).collect::<Vec<_>>()
    };
    let row = |name: &str, access: Option<&str>| (name.to_owned(), access.map(str::to_owned));
    let expected = [row("S1", Some("read")), row("S3", Some("write"))];
    assert_eq!(accesses(serde_json::json!(["write", "read"])), expected);
    assert_eq!(accesses(serde_json::json!([2])), [row("S1", None), row("S3", Some("2"))]);
    assert_eq!(accesses(serde_json::json!("both")), [row("S1", None), row("S3", None)]);
}

/// What acceptances are called by, and what people read of them.
#[test]
fn findings_in_words() {
    let evidence = Evidence::new();
    let new = |kind: FindingKind| Finding::new(kind, "index 9 of `a` is 4 too large");
    let at = |kind: FindingKind| new(kind).at(place("k.comp", 3, Some(7)));
    let mut race = at(FindingKind::DataRace)
        .with("memory", "buffer")
        .with("same_value", true)
        .with("values", "1, 2")
        .with("accesses", serde_json::json!(["write", "read"]));
    race.other_place = Some(place("k.comp", 4, Some(12)));
    race.numbers = vec![9, 4];
    race.configuration = Some("TILE=4".to_owned());
    let unplaced = Finding {
        place: Some(Place { instruction: Some(5), ..Place::default() }),
        ..new(FindingKind::UndefinedValue)
    };
    let findings = [
        ("race", race),
        ("place without source", unplaced),
        (
            "bounds at a place",
            at(FindingKind::OutOfBounds).with("dimension", 1).with("buffer", "r"),
        ),
        (
            "bounds of a device",
            new(FindingKind::OutOfBounds).with("buffer", "r").with("side", "behind"),
        ),
        ("uninitialised", at(FindingKind::UninitializedRead)),
        ("untraced", at(FindingKind::UntracedBranch)),
        (
            "schedule",
            new(FindingKind::ScheduleDependentOutput).with("kernels", "k").with("other", 1),
        ),
        (
            "schedule and coverage",
            new(FindingKind::ScheduleDependentOutput)
                .with("changed", "D1.T")
                .with("verdicts", serde_json::json!(["pass"])),
        ),
        (
            "disagreement",
            new(FindingKind::EngineDisagreement).with("decision", "D1").with("zone", 3),
        ),
        ("disagreement of all", new(FindingKind::EngineDisagreement)),
        ("coupling", new(FindingKind::Coupling).with("check", "buffer-size")),
    ];
    let told =
        findings.map(|(name, finding)| format!("{name}: {}", evidence.told(&finding).unwrap()));
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_no_justification_can_accept_has_no_name() {
    let evidence = Evidence::new();
    let schedule = || Finding::new(FindingKind::ScheduleDependentOutput, "m");
    let verdicts = |verdicts: &[&str]| schedule().with("verdicts", serde_json::json!(verdicts));
    assert!(evidence.told(&verdicts(&["pass"])).is_some());
    for finding in [
        verdicts(&["pass", "fail"]),
        verdicts(&["fail"]),
        verdicts(&[]),
        schedule().with("ended", false),
        Finding::new(FindingKind::BarrierDivergence, "m"),
        Finding::new(FindingKind::NoTermination, "m").at(place("k.comp", 3, None)),
        Finding::new(FindingKind::Validation, "m"),
        // Of the host, without the check or the interface.
        Finding::new(FindingKind::Coupling, "m"),
    ] {
        assert_eq!(evidence.told(&finding), None, "{finding:?}");
    }
    let coupling = Finding::new(FindingKind::Coupling, "m").with("check", "c");
    let mut without_interface = Evidence::new();
    without_interface.campaign.coupling[0].definition = None;
    assert_eq!(without_interface.told(&coupling), None);
    without_interface.campaign.coupling.clear();
    assert_eq!(without_interface.told(&coupling), None);
    // What is of a test needs one.
    let occasion = FindingOccasion {
        test: None,
        ..evidence.occasion(Some(EngineName::Sequential), HashBinding::Content)
    };
    assert_eq!(acceptance_of(&schedule(), occasion), None);
}

#[test]
fn what_a_device_shows_is_of_that_device() {
    let evidence = Evidence::new();
    let finding = Finding::new(FindingKind::EngineDisagreement, "m");
    let content = |engine: Option<EngineName>| {
        let occasion = evidence.occasion(engine, HashBinding::Content);
        acceptance_of(&finding, occasion).unwrap().content
    };
    assert!(content(Some(EngineName::Sequential)).contains("; on the sequential engine;"));
    for engine in [Some(EngineName::Vulkan), None] {
        let told = content(engine);
        assert!(told.contains("; on the device, the driver, the driver version;"), "{told}");
    }
    // A device that did not run shows nothing.
    let mut absent = Evidence::new();
    absent.campaign.engines.iter_mut().for_each(|row| row.ran = false);
    let occasion = absent.occasion(None, HashBinding::Content);
    let acceptance = acceptance_of(&finding, occasion).unwrap();
    let engine = acceptance.subject.unwrap().engine.unwrap();
    assert_eq!((engine.engine, engine.identity), (EngineName::Vulkan, BTreeMap::new()));
}

#[test]
fn a_subject_holds_the_facts_of_its_kind() {
    let evidence = Evidence::new();
    let subject = |finding: &Finding, engine: Option<EngineName>| {
        let occasion = evidence.occasion(engine, HashBinding::Content);
        let acceptance = acceptance_of(finding, occasion).unwrap();
        let subject = acceptance.subject.unwrap();
        assert_eq!(subject.id, acceptance.id);
        assert_eq!(acceptance.hash, content_hash(canonical_json(&subject).unwrap().as_bytes()));
        subject
    };
    let sequential = Some(EngineName::Sequential);
    let code = |names: &[(&str, &str)]| -> BTreeMap<KernelName, String> {
        names.iter().map(|(name, code)| (KernelName::from(*name), (*code).to_owned())).collect()
    };
    let own_code = ("k", "c0de0123456789abcdef");

    let mut race = Finding::new(FindingKind::DataRace, "m")
        .at(place("k.comp", 3, None))
        .with("memory", "buffer")
        .with("values", 3);
    race.numbers = vec![9, 4];
    race.configuration = Some("TILE=4".to_owned());
    let of_race = subject(&race, sequential);
    assert_eq!((of_race.code, of_race.instructions), (code(&[own_code]), vec![4, 9]));
    assert_eq!(of_race.facts.into_keys().collect::<Vec<_>>(), ["memory"]);
    assert_eq!((of_race.places.len(), of_race.test, of_race.engine), (1, None, None));
    assert_eq!(of_race.configuration["name"], "TILE=4");
    assert!(of_race.configuration.contains_key("local_size"));
    race.configuration = Some("unknown".to_owned());
    let of_race = subject(&race, sequential);
    let name = BTreeMap::from([("name".to_owned(), "unknown".into())]);
    assert_eq!(of_race.configuration, name);

    let all = code(&[own_code, ("other", "07e7"), ("unknown", "")]);
    let bounds =
        Finding::new(FindingKind::OutOfBounds, "m").with("side", "behind").with("object", "a");
    let of_device = subject(&bounds, Some(EngineName::Vulkan));
    assert_eq!((of_device.code, of_device.places.len()), (all.clone(), 0));
    assert_eq!(of_device.facts.into_keys().collect::<Vec<_>>(), ["side"]);
    assert_eq!(of_device.test.unwrap().id.as_str(), "T1");
    let identity = of_device.engine.unwrap().identity;
    assert_eq!(identity.into_keys().collect::<Vec<_>>(), ["device", "driver", "driver version"]);
    let placed = subject(&bounds.clone().at(place("k.comp", 3, None)), sequential);
    assert_eq!(placed.facts.into_keys().collect::<Vec<_>>(), ["cause", "object"]);
    assert_eq!((placed.places.len(), placed.test), (1, None));

    let disagreement = Finding::new(FindingKind::EngineDisagreement, "`a` is 3");
    let of_test = subject(&disagreement, sequential);
    assert_eq!((of_test.code, of_test.engine.unwrap().engine), (all, EngineName::Sequential));
    let facts =
        [("about".to_owned(), serde_json::json!(["a"])), ("cause".to_owned(), "_ is …".into())];
    assert_eq!(of_test.facts, BTreeMap::from(facts));
    let of_test = subject(&disagreement.with("zone", 3), sequential);
    assert_eq!(of_test.facts.into_keys().collect::<Vec<_>>(), ["zone"]);

    let coupling = |check: &str| {
        let finding = Finding::new(FindingKind::Coupling, "m").with("check", check).with("m", 1);
        subject(&finding, None)
    };
    let of_size = coupling("buffer-size");
    assert_eq!((of_size.engine, of_size.interface.map(|hash| hash.len())), (None, Some(64)));
    assert_eq!(of_size.facts.into_keys().collect::<Vec<_>>(), ["check"]);
    assert_eq!(coupling("device-limits").engine.unwrap().engine, EngineName::Vulkan);
}

#[test]
fn the_first_format_binds_to_words() {
    let evidence = Evidence::new();
    let finding = Finding::new(FindingKind::DataRace, "m").at(place("k.comp", 3, None));
    let found =
        acceptance_of(&finding, evidence.occasion(None, HashBinding::DisplayedText)).unwrap();
    assert_eq!(
        (found.id.as_str(), found.subject, found.justification),
        ("data-race@S1", None, None)
    );
    assert_eq!(found.content, "`a = 0u;`; code c0de0123456789ab");
    let hashed = format!("k\n{}\n{}\n", found.id, found.content);
    assert_eq!(found.hash, content_hash(hashed.as_bytes()));
}

#[test]
fn a_finding_is_accepted_by_analysis_that_is_signed() {
    let analysis = || Justification {
        kernel: "k".into(),
        subject: JustificationSubject::Obligation(ObligationId::from("D1.T")),
        configuration: None,
        class: JustificationClass::Analysis,
        reason: "Either order is right.".to_owned(),
        category: None,
        means: None,
        argument: None,
        author: "A. Author".to_owned(),
        approver: "R. Reviewer".to_owned(),
        date: None,
        hash: String::new(),
    };
    let accepted = |change: fn(&mut Justification), approval: ApproverRule| {
        let mut justification = analysis();
        change(&mut justification);
        accepted_sentence(&justification, approval)
    };
    let sentence = "analysis: Either order is right. (author A. Author, approver R. Reviewer)";
    assert_eq!(accepted(|_| {}, ApproverRule::Independent).as_deref(), Ok(sentence));
    let same_person =
        |justification: &mut Justification| justification.approver = "a author".to_owned();
    assert!(accepted(same_person, ApproverRule::Free).is_ok());
    type Change = fn(&mut Justification);
    let wrong: [(Change, &str); 4] = [
        (
            same_person,
            "author and approver are the same (A. Author and a author); this level demands independence",
        ),
        (
            |it| it.class = JustificationClass::Defensive,
            "a finding is accepted by analysis, not as defensive",
        ),
        (|it| it.category = Some(DeactivationCategory::Never), "class analysis has no `category`"),
        (|it| it.reason = "-".to_owned(), "reason, author and approver must be given"),
    ];
    for (change, told) in wrong {
        assert_eq!(accepted(change, ApproverRule::Independent).unwrap_err(), told);
    }
}

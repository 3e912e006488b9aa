//! Tests of which kernels the code of requirements is part of, and which of them tests judge.

use super::reach::{CodeFunction, TestedCode, UntestedCode, reached_functions};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::coverage::{KernelCoverage, SimpleObligation};
use vkcert_model::evidence::{
    Configuration, EVIDENCE_SCHEMA, KernelEvidence, ModuleHashes, ObjectEvidence,
    RequirementEvidence, SetAsideKernel,
};
use vkcert_model::id::{FunctionId, KernelName, TestId};
use vkcert_model::place::{FileIndex, SourceFile, Span};
use vkcert_model::records::{Presence, RecordLayout};
use vkcert_model::structure::{
    Accuracy, Block, Function, KernelStructure, MarkIndex, RequestedParts, TextDigests,
};
use vkcert_model::verdict::EngineName;

/// A function of a kernel: its file by number, its name, the digest of its text, and the tests that
/// entered it; none: it is not reached.
pub(super) type FunctionRow<'a> = (u32, &'a str, &'a str, Option<&'a [&'a str]>);

/// A kernel of the files `NAME.comp` and `common.glsl`, whose text outside of functions is `rest`.
pub(super) fn kernel(name: &str, rest: &str, functions: &[FunctionRow]) -> KernelEvidence {
    let files = [format!("{name}.comp"), "common.glsl".to_owned()];
    let mut points: Vec<Value> = Vec::new();
    let mut rows = Vec::new();
    for (index, (file, function_name, _, tests)) in functions.iter().enumerate() {
        let id = FunctionId(index as u32 + 1);
        rows.push(Function {
            id,
            name: (*function_name).to_owned(),
            span: Span { file: FileIndex(*file), start: 0, end: 1 },
            entry_mark: MarkIndex(0),
            body: Block::default(),
            exits: Vec::new(),
            expansion: Vec::new(),
        });
        if let Some(tests) = tests {
            points.push(point(&format!("{id}.entry"), "covered", tests));
        }
    }
    let points: Vec<SimpleObligation> = serde_json::from_value(points.into()).unwrap();
    let digests = functions.iter().map(|(_, _, digest, _)| (*digest).to_owned()).collect();
    KernelEvidence {
        schema: EVIDENCE_SCHEMA,
        kernel: name.into(),
        engine: EngineName::Sequential,
        source: files[0].clone(),
        configuration: Configuration {
            name: "default".into(),
            entry: "main".into(),
            target_env: "vulkan1.1".into(),
            defines: BTreeMap::new(),
            include: Vec::new(),
            specialization: Vec::new(),
            local_size: [1; 3],
        },
        modules: ModuleHashes {
            code: format!("code of {name}"),
            text: None,
            production: String::new(),
            production_file: None,
            traced: String::new(),
            instrumented: String::new(),
        },
        recording: None,
        structure: KernelStructure {
            files: files
                .iter()
                .map(|path| SourceFile { path: path.clone(), text: "".into() })
                .collect(),
            entry: "main".into(),
            functions: rows,
            decisions: Vec::new(),
            switches: Vec::new(),
            accuracy: Accuracy::Exact,
            markers: Vec::new(),
            value_marker: String::new(),
            mark_marker: String::new(),
            texts: TextDigests {
                functions: digests,
                files: files
                    .iter()
                    .map(|path| (path.clone(), format!("{rest} of {path}")))
                    .collect(),
                unread: None,
            },
            requested: RequestedParts::default(),
        },
        layout: RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 },
        presence: Presence::default(),
        records: Vec::new(),
        objects: ObjectEvidence::default(),
        barriers: Vec::new(),
        boundaries: None,
        pairs: None,
        coverage: KernelCoverage { points, ..KernelCoverage::default() },
        lowering: Vec::new(),
    }
}

fn point(id: &str, status: &str, tests: &[&str]) -> Value {
    json!({ "id": id, "status": status, "tests": tests, "witness": null, "line": 1, "column": 1,
            "file": "f", "text": "t" })
}

/// A link to code: file, symbol, kernels.
type LinkRow<'a> = (&'a str, Option<&'a str>, &'a [&'a str]);

/// A requirement with links to code, verified by the test `T`.
fn requirement(uid: &str, links: &[LinkRow]) -> RequirementEvidence {
    let code: Vec<Value> = links
        .iter()
        .map(|(file, symbol, kernels)| {
            json!({ "file": file, "symbol": symbol, "line": null, "found": true, "kernels": kernels })
        })
        .collect();
    serde_json::from_value(json!({
        "requirement": { "uid": uid, "level": "LLR", "title": "t", "statement": "s", "verification": ["test"] },
        "hash": "", "file": "", "suspect_parents": [], "children": [], "tests": ["T"],
        "left_out_tests": [], "code": code, "status": "untested", "open": [],
    }))
    .unwrap()
}

pub(super) fn judged(rows: &[(&str, &[&str])]) -> BTreeMap<TestId, BTreeSet<KernelName>> {
    rows.iter()
        .map(|(test, kernels)| {
            (TestId::from(*test), kernels.iter().map(|name| KernelName::from(*name)).collect())
        })
        .collect()
}

/// Links that no test judges, and of the others `kernel: text` where none does.
fn described(untested: &UntestedCode) -> Vec<String> {
    let links = untested.links.iter().map(|link| format!("nothing of {link}"));
    let kernels = untested.kernels.iter().map(|row| {
        let unread = row.unread.as_deref().unwrap_or_default();
        format!("{}: {:?}{unread}", row.in_words(), row.text)
    });
    links.chain(kernels).collect()
}

fn untested(
    kernels: &[KernelEvidence],
    judged_kernels: &[(&str, &[&str])],
    links: &[LinkRow],
) -> Vec<String> {
    let code = TestedCode::new(kernels, judged(judged_kernels));
    described(&code.untested_code(&requirement("R", links), &[TestId::from("T")]))
}

const ENTERED: Option<&[&str]> = Some(&["T"]);
const REACHED: Option<&[&str]> = Some(&[]);

/// Three kernels: `a` and `b` call `sum`, `c` only includes it.
fn three_kernels() -> [KernelEvidence; 3] {
    [
        kernel(
            "a",
            "same",
            &[(0, "main", "a-main", ENTERED), (1, "sum", "s", ENTERED), (1, "spare", "x", None)],
        ),
        kernel(
            "b",
            "same",
            &[(0, "main", "b-main", ENTERED), (1, "sum", "s", ENTERED), (1, "spare", "x", None)],
        ),
        kernel(
            "c",
            "same",
            &[(0, "main", "c-main", ENTERED), (1, "sum", "s", None), (1, "spare", "x", None)],
        ),
    ]
}

#[test]
fn a_function_leads_to_the_kernels_that_reach_it() {
    let kernels = three_kernels();
    let sum: &[LinkRow] = &[("common.glsl", Some("sum"), &[])];
    let whole: &[LinkRow] = &[("common.glsl", None, &[])];
    for links in [sum, whole] {
        let text = if links == sum { "common.glsl:sum" } else { "common.glsl" };
        assert!(untested(&kernels, &[("T", &["a", "b"])], links).is_empty());
        assert_eq!(untested(&kernels, &[("T", &["a"])], links), [format!("{text} in b: Same")]);
        assert_eq!(untested(&kernels, &[("T", &["b"])], links), [format!("{text} in a: Same")]);
        assert_eq!(untested(&kernels, &[("T", &["c"])], links), [format!("nothing of {text}")]);
        assert_eq!(
            untested(&kernels, &[("U", &["a", "b"])], links),
            [format!("nothing of {text}")]
        );
        assert_eq!(untested(&kernels, &[], links), [format!("nothing of {text}")]);
    }
    // What no kernel reaches leads to none; a name that is no function, to those of its file.
    let spare: &[LinkRow] = &[("common.glsl", Some("spare"), &[])];
    assert_eq!(
        untested(&kernels, &[("T", &["a", "b", "c"])], spare),
        ["nothing of common.glsl:spare"]
    );
    let constant: &[LinkRow] = &[("common.glsl", Some("LIMIT"), &[])];
    assert_eq!(untested(&kernels, &[("T", &["a"])], constant), ["common.glsl:LIMIT in b: Same"]);
    let main_of_b: &[LinkRow] = &[("b.comp", Some("main"), &[])];
    assert!(untested(&kernels, &[("T", &["b"])], main_of_b).is_empty());
    assert_eq!(untested(&kernels, &[("T", &["a"])], main_of_b), ["nothing of b.comp:main"]);
    let host: &[LinkRow] = &[("host.cpp", Some("main"), &[])];
    assert!(untested(&kernels, &[], host).is_empty(), "no kernel is made of it");
    let named: &[LinkRow] = &[("common.glsl", Some("sum"), &["b"])];
    assert!(untested(&kernels, &[("T", &["b"])], named).is_empty());
    assert_eq!(untested(&kernels, &[("T", &["a"])], named), ["nothing of common.glsl:sum of b"]);
}

#[test]
fn a_link_that_was_not_found_claims_nothing() {
    let kernels = three_kernels();
    let mut row = requirement("R", &[("common.glsl", Some("sum"), &[])]);
    row.code[0].found = false;
    let code = TestedCode::new(&kernels, judged(&[]));
    assert_eq!(code.untested_code(&row, &[TestId::from("T")]), UntestedCode::default());
}

/// A function whose entries are measured is judged only by a test that entered it.
#[test]
fn a_test_judges_the_functions_that_it_entered() {
    let sum: &[LinkRow] = &[("common.glsl", Some("sum"), &[])];
    let whole: &[LinkRow] = &[("common.glsl", None, &[])];
    let mut kernels = [kernel("a", "", &[(0, "main", "m", ENTERED), (1, "sum", "s", REACHED)])];
    let by_test: &[(&str, &[&str])] = &[("T", &["a"])];
    assert_eq!(untested(&kernels, by_test, sum), ["nothing of common.glsl:sum"]);
    assert!(untested(&kernels, by_test, whole).is_empty());
    for (status, tests, is_judged) in [
        ("covered", &["T"][..], true),
        ("covered", &["U"], false),
        ("uncovered", &[], false),
        ("justified", &[], false),
        // Where it could not be measured nothing speaks against it.
        ("undetermined", &[], true),
    ] {
        let row = point("F2.entry", status, tests);
        kernels[0].coverage.points[1] = serde_json::from_value(row).unwrap();
        assert_eq!(untested(&kernels, by_test, sum).is_empty(), is_judged, "{status}");
    }
    // Of two functions of one name one that was entered is enough.
    let overloaded = [kernel(
        "a",
        "",
        &[(0, "main", "m", ENTERED), (1, "sum", "s", REACHED), (1, "sum", "t", ENTERED)],
    )];
    assert!(untested(&overloaded, by_test, sum).is_empty());
    let elsewhere = [kernel(
        "a",
        "",
        &[(0, "main", "m", ENTERED), (1, "sum", "s", REACHED), (0, "sum", "t", ENTERED)],
    )];
    assert_eq!(untested(&elsewhere, by_test, sum), ["nothing of common.glsl:sum"]);
}

#[test]
fn an_untested_kernel_has_the_same_text_or_another() {
    let sum: &[LinkRow] = &[("common.glsl", Some("sum"), &[])];
    let whole: &[LinkRow] = &[("common.glsl", None, &[])];
    let by_test: &[(&str, &[&str])] = &[("T", &["a"])];
    let with_b = |rest: &str, functions: &[FunctionRow]| {
        [
            kernel(
                "a",
                "rest",
                &[(0, "main", "m", ENTERED), (1, "sum", "s", ENTERED), (1, "cut", "c", None)],
            ),
            kernel("b", rest, functions),
        ]
    };
    let other_sum = with_b("rest", &[(0, "main", "n", ENTERED), (1, "sum", "s2", ENTERED)]);
    assert_eq!(untested(&other_sum, by_test, sum), ["common.glsl:sum in b: Other"]);
    assert_eq!(untested(&other_sum, by_test, whole), ["common.glsl in b: Other"]);
    // The text outside of functions belongs to the whole file alone.
    let other_rest = with_b("another", &[(0, "main", "n", ENTERED), (1, "sum", "s", ENTERED)]);
    assert_eq!(untested(&other_rest, by_test, sum), ["common.glsl:sum in b: Same"]);
    assert_eq!(untested(&other_rest, by_test, whole), ["common.glsl in b: Other"]);
    // A function that is not reached is no part of what the kernel does.
    let other_cut = with_b(
        "rest",
        &[(0, "main", "n", ENTERED), (1, "sum", "s", ENTERED), (1, "cut", "c2", None)],
    );
    assert_eq!(untested(&other_cut, by_test, whole), ["common.glsl in b: Same"]);
    let more = with_b(
        "rest",
        &[(0, "main", "n", ENTERED), (1, "sum", "s", ENTERED), (1, "cut", "c", ENTERED)],
    );
    assert_eq!(untested(&more, by_test, whole), ["common.glsl in b: Other"]);
    let mut unread = with_b("another", &[(0, "main", "n", ENTERED), (1, "sum", "s2", ENTERED)]);
    unread[1].structure.texts.unread = Some(" `#x`".to_owned());
    assert_eq!(untested(&unread, by_test, sum), ["common.glsl:sum in b: Unread `#x`"]);
    unread.reverse();
    assert_eq!(untested(&unread, by_test, sum), ["common.glsl:sum in b: Unread `#x`"]);
    unread[1].structure.texts.unread = unread[0].structure.texts.unread.take();
    assert_eq!(untested(&unread, by_test, sum), ["common.glsl:sum in b: Unread `#x`"]);
    let mut third = other_sum.to_vec();
    third.push(kernel("c", "rest", &[(0, "main", "n", ENTERED)]));
    third[2].structure.texts.unread = Some("elsewhere".to_owned());
    assert_eq!(untested(&third, by_test, sum), ["common.glsl:sum in b: Other"]);
}

/// Kernels are named in project order, each once, whichever of its rows are in evidence.
#[test]
fn kernels_are_named_once_in_project_order() {
    let [a, b, _] = three_kernels();
    let mut z = kernel("z", "same", &[(0, "main", "z", ENTERED), (1, "sum", "s", ENTERED)]);
    z.engine = EngineName::Vulkan;
    let rows = [z.clone(), b.clone(), a, z, b];
    let sum: &[LinkRow] = &[("common.glsl", Some("sum"), &[])];
    let expected = ["common.glsl:sum in z: Same", "common.glsl:sum in b: Same"];
    assert_eq!(untested(&rows, &[("T", &["a"])], sum), expected);
}

/// A module without source has its entry point and the functions that its branches stand in; its
/// text is the module.
#[test]
fn a_module_without_source_is_one_text() {
    let module = |name: &str, functions: &[&str]| {
        let mut evidence = kernel(name, "", &[]);
        evidence.source = "m.spv".to_owned();
        evidence.structure.files.clear();
        let branches: Vec<Value> = functions
            .iter()
            .map(|function| {
                json!({ "id": "B1", "kind": "conditional", "outcomes": [], "origin": "no-source",
                        "place": { "file": null, "line": null, "column": null,
                                   "function": function, "instruction": 5 } })
            })
            .collect();
        let structure = json!({ "branches": branches, "loops": [], "bits": 0 });
        evidence.objects.structure = serde_json::from_value(structure).unwrap();
        evidence
    };
    let modules = [module("a", &["sum(f1;", "main("]), module("b", &["sum(f1;"])];
    let functions = |name: &'static str| CodeFunction { file: "m.spv", name };
    assert_eq!(reached_functions(&modules[0]), [functions("main"), functions("sum")]);
    let sum: &[LinkRow] = &[("m.spv", Some("sum"), &[])];
    assert_eq!(untested(&modules, &[("T", &["a"])], sum), ["m.spv:sum in b: Other"]);
    let mut same = modules.clone();
    same[1].modules.code = same[0].modules.code.clone();
    assert_eq!(untested(&same, &[("T", &["a"])], sum), ["m.spv:sum in b: Same"]);
}

#[test]
fn functions_that_are_reached_are_the_entry_and_those_that_are_measured() {
    let evidence = kernel(
        "a",
        "",
        &[
            (1, "sum", "s", REACHED),
            (1, "spare", "x", None),
            (0, "main", "m", None),
            (7, "far", "f", ENTERED),
        ],
    );
    let names: Vec<(&str, &str)> = reached_functions(&evidence)
        .iter()
        .map(|function| (function.file, function.name))
        .collect();
    assert_eq!(names, [("common.glsl", "sum"), ("a.comp", "main"), ("a.comp", "far")]);
}

/// Its text is not known, so that nothing that is shown elsewhere says anything of it.
#[test]
fn code_of_a_kernel_that_does_not_compile_is_not_judged_in_it() {
    let kernels = three_kernels();
    let broken = SetAsideKernel {
        kernel: "broken".into(),
        source: "broken.comp".to_owned(),
        included: vec!["common.glsl".to_owned()],
        tests: Vec::new(),
        diagnostics: Vec::new(),
    };
    let code = TestedCode::new(&kernels, judged(&[("T", &["a", "b"])])).beside(&[broken]);
    let untested = |links: &[LinkRow]| {
        described(&code.untested_code(&requirement("R", links), &[TestId::from("T")]))
    };
    let row = "common.glsl:sum in broken: Unreada kernel that does not compile";
    assert_eq!(untested(&[("common.glsl", Some("sum"), &[])]), [row]);
    assert_eq!(untested(&[("broken.comp", Some("main"), &[])]), ["nothing of broken.comp:main"]);
    // The link is of other kernels, or of a file that is no part of it.
    assert!(untested(&[("common.glsl", Some("sum"), &["a", "b"])]).is_empty());
    assert!(untested(&[("a.comp", Some("main"), &[])]).is_empty());
    assert!(untested(&[("host.cpp", None, &[])]).is_empty());
}

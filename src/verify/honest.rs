//! Honest evidence for tests of the checks, and what they must say of each forgery of it.
//!
//! The facts of one small kernel are written down here, as both engines recorded them in two tests;
//! all else is derived from them and from the project's files. Without a compiler the verification
//! has no objection to it.

use crate::folder::examine_files;
use crate::{
    EvidenceFolder, NoToolchain, RebuildOutcome, Verification, VerificationOptions, rebuild,
    verify_contents,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use vkcert_derivation::files::{MANIFEST, canonical_bytes, evidence_files};
use vkcert_derivation::{conclusion, derive, objectives, open_items, stated};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::{
    Agreement, Campaign, EVIDENCE_SCHEMA, Evidence, KernelEvidence, Manifest, StoredFile,
    StoredInputs, TestEvidence, TestResult,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::verdict::EngineName;
use vkcert_requirement::{Project, load_project, trace};

pub(crate) const KERNEL_PATH: &str = "glsl/guard.comp";
pub(crate) const REQUIREMENTS_PATH: &str = "requirements/all.toml";

/// The files of the project.
pub(crate) const PROJECT_FILES: [(&str, &str); 3] =
    [("vkcert.toml", SETTINGS), (REQUIREMENTS_PATH, REQUIREMENTS), (KERNEL_PATH, KERNEL)];

const SETTINGS: &str = r#"schema = 1
name = "Guard"
level = "C"
validation = "off"

[[kernel]]
name = "guard"
source = "glsl/guard.comp"
"#;

const REQUIREMENTS: &str = r#"schema = 1

[[requirement]]
uid = "R"
level = "HLR"
title = "Guard"
statement = "The kernel shall copy the first three values that are above 5."
verification = ["test"]
implements = [{ file = "glsl/guard.comp", symbol = "main" }]

[[test]]
id = "T1"
requirements = ["R"]
buffers.i = { type = "uint", data = [4, 6, 7, 8] }
buffers.o = { type = "uint", data = [9, 9, 9, 9] }
expect = [{ buffer = "o", values = [9, 6, 7, 9] }]

[[test.dispatches]]
kernel = "guard"
groups = [1, 1, 1]
bindings = [{ binding = 0, buffer = "i" }, { binding = 1, buffer = "o" }]

[[test]]
id = "T2"
requirements = ["R"]
buffers.i = { type = "uint", data = [1, 1, 1, 1] }
buffers.o = { type = "uint", data = [9, 9, 9, 9] }
expect = [{ buffer = "o", values = [9, 9, 9, 9] }]

[[test.dispatches]]
kernel = "guard"
groups = [1, 1, 1]
bindings = [{ binding = 0, buffer = "i" }, { binding = 1, buffer = "o" }]
"#;

const KERNEL: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { uint i[]; };
layout(std430, binding = 1) buffer Out { uint o[]; };
void main() {
    uint x = gl_GlobalInvocationID.x;
    if (x < 3u && i[x] > 5u) {
        o[x] = i[x];
    }
    barrier();
}
";

const COMPILER: &str = "a compiler of GLSL";

/// What one test leaves in the buffer `o`, in base64, and which bits it records.
struct TestFacts {
    input: &'static str,
    output: &'static str,
    /// Marks and vectors of source code.
    source_word: u32,
    /// Outcomes of branches of object code.
    object_word: u32,
}

const TEST_FACTS: [TestFacts; 2] = [
    TestFacts {
        input: "BAAAAAYAAAAHAAAACAAAAA==",
        output: "CQAAAAYAAAAHAAAACQAAAA==",
        source_word: 0b1111,
        object_word: 0b1111,
    },
    TestFacts {
        input: "AQAAAAEAAAABAAAAAQAAAA==",
        output: "CQAAAAkAAAAJAAAACQAAAA==",
        source_word: 0b1101,
        object_word: 0b1011,
    },
];

const ENGINES: [EngineName; 2] = [EngineName::Sequential, EngineName::Vulkan];

fn read_json<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("facts in the form of evidence")
}

/// Honest evidence.
pub(crate) fn honest() -> Evidence {
    honest_with(|_| {})
}

/// Evidence with other facts, and what follows from them.
pub(crate) fn honest_with(change_facts: impl FnOnce(&mut Evidence)) -> Evidence {
    honest_of_project(&PROJECT_FILES, change_facts)
}

/// The same of a project whose file says this of standard and level.
pub(crate) fn honest_at_level(
    level_lines: &str,
    change_facts: impl FnOnce(&mut Evidence),
) -> Evidence {
    let settings = SETTINGS.replace("level = \"C\"", level_lines);
    let [_, requirements, kernel] = PROJECT_FILES;
    honest_of_project(&[("vkcert.toml", &settings), requirements, kernel], change_facts)
}

fn honest_of_project(
    project_files: &[(&str, &str); 3],
    change_facts: impl FnOnce(&mut Evidence),
) -> Evidence {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), project_files);
    let project = load_project(folder.path()).expect("a project without faults");
    let inputs = project_files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let hashes = inputs.clone().map(|(path, text)| (path, sha256_digits(text.as_bytes())));
    let files = inputs.map(|(path, text)| (path, StoredFile::Text(text)));
    let mut evidence = Evidence {
        campaign: campaign_facts(&project),
        kernels: ENGINES.map(kernel_facts).into(),
        mutations: Vec::new(),
        inputs: Some(StoredInputs { schema: EVIDENCE_SCHEMA, files: files.into() }),
        manifest: Manifest {
            schema: EVIDENCE_SCHEMA,
            tool: format!("{} {}", stated::TOOL, stated::TOOL_VERSION),
            compiler: COMPILER.to_owned(),
            devices: vec!["a device (its driver 1.0)".to_owned()],
            inputs: hashes.into(),
            outputs: BTreeMap::new(),
        },
    };
    change_facts(&mut evidence);
    conclude(&mut evidence);
    evidence
}

/// Derives what follows from the records and lists the files.
pub(crate) fn conclude(evidence: &mut Evidence) {
    let Evidence { campaign, kernels, manifest, .. } = evidence;
    for kernel in kernels.iter_mut() {
        kernel.coverage = derive::derived_coverage(kernel, &campaign.project);
    }
    derive::apply_justifications(kernels, campaign);
    derive::settle_requirements(campaign, kernels);
    open_items::derive_open_items(campaign, kernels);
    campaign.conclusion = conclusion::conclude(campaign, kernels);
    objectives::derive_objectives(campaign, kernels, &manifest.inputs);
    list_files(evidence);
}

/// Writes the hashes of the files into the manifest, as a forger does.
pub(crate) fn list_files(evidence: &mut Evidence) {
    let files = evidence_files(evidence).unwrap();
    evidence.manifest.outputs =
        files.into_iter().map(|(name, bytes)| (name, sha256_digits(&bytes))).collect();
}

/// The evidence as its folder is read.
pub(crate) fn folder_of(evidence: &Evidence) -> EvidenceFolder {
    let mut files = evidence_files(evidence).unwrap();
    files.insert(MANIFEST.to_owned(), canonical_bytes(&evidence.manifest).unwrap());
    EvidenceFolder { folder_name: "evidence".to_owned(), files, ..EvidenceFolder::default() }
}

/// Evidence that an older version of the program wrote: `format_1` or `format_2`.
pub(crate) fn stored_folder(format: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("tests/stored").join(format).join("evidence")
}

pub(crate) fn stored_evidence(format: &str) -> Evidence {
    let folder = EvidenceFolder::read(&stored_folder(format)).unwrap();
    *examine_files(&folder).unwrap().evidence.expect("evidence that can be read")
}

/// Writes the project's files into a folder.
pub(crate) fn write_project(folder: &Path) {
    write_files(folder, &PROJECT_FILES);
}

fn write_files(folder: &Path, project_files: &[(&str, &str)]) {
    for (path, text) in project_files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn campaign_facts(project: &Project) -> Campaign {
    let settings = &project.settings.value;
    let mut campaign: Campaign = read_json(json!({
        "schema": EVIDENCE_SCHEMA,
        "project": {
            "name": settings.name, "level": settings.level,
            "profile": { "name": "vulkan", "features": [], "meaning": [], "refused": [] },
            "decision_policy": settings.decision_policy, "memory_model": settings.memory_model,
            "criteria": settings.required_criteria(), "metrics": settings.metrics,
            "tool": stated::TOOL, "tool_version": stated::TOOL_VERSION,
            "compiler": COMPILER, "compiler_options": stated::compiler_options(settings),
            "date": "2026-01-31T12:00:00Z",
        },
        "settings": settings,
        "engines": [
            { "engine": "sequential", "ran": true, "reason": null, "identity": {} },
            { "engine": "vulkan", "ran": true, "reason": null, "identity": {
                "device": "a device", "driver": "its driver", "driver info": "1.0",
            }},
        ],
        "requirements": trace::trace_requirements(project),
        "tests": [], "justifications": [], "coupling": [], "findings": [], "agreement": [],
        "limits": [],
        "conclusion": { "exit_code": 0, "reasons": [], "summary": [] },
    }));
    let stated_tests = stated::tests_without_results(project);
    campaign.tests = stated_tests.into_iter().zip(TEST_FACTS).map(test_facts).collect();
    campaign.agreement = campaign.tests.iter().map(agreement_of).collect();
    campaign
}

fn agreement_of(test: &TestEvidence) -> Agreement {
    read_json(json!({
        "test": test.id, "kernel": "guard",
        "outputs": "identical", "coverage": "identical", "differences": [],
    }))
}

fn test_facts((stated_test, facts): (TestEvidence, TestFacts)) -> TestEvidence {
    let range = |buffer: &str| json!({ "buffer": buffer, "offset": 0, "bytes": 16 });
    TestEvidence {
        expected: read_json(json!([{
            "buffer": "o", "tolerance": {},
            "contents": { "values": [{ "offset": 0, "scalar": "uint", "bytes": facts.output }] },
        }])),
        flows: read_json(json!([{
            "kernel": "guard", "stores": [{ "to": [range("o")], "from": [range("i")] }],
        }])),
        results: ENGINES.map(|engine| result_facts(engine, &facts)).into(),
        ..stated_test
    }
}

fn result_facts(engine: EngineName, facts: &TestFacts) -> TestResult {
    let mut result = json!({
        "engine": engine, "verdict": "pass", "reason": null, "mismatches": [], "findings": [],
        "repetitions": 3,
        "outputs": { "i": { "bytes": facts.input }, "o": { "bytes": facts.output } },
    });
    if engine == EngineName::Sequential {
        result["repetitions"] = json!(1);
        result["race_scope"] = json!("all-schedules");
        result["altered"] = json!([{
            "kernel": "guard", "dispatches": [0],
            "noticed": { "alteration": "shifted", "dispatch": 0, "extent": "changed" },
        }]);
        let touched = [0, 1].map(|binding| json!({ "set": 0, "binding": binding, "bytes": 12 }));
        result["touched"] = json!([touched]);
    }
    read_json(result)
}

/// The place of a text in the kernel.
pub(crate) fn span_of(text: &str) -> Value {
    let start = KERNEL.find(text).expect("a text of the kernel");
    json!({ "file": 0, "start": start, "end": start + text.len() })
}

fn kernel_facts(engine: EngineName) -> KernelEvidence {
    let condition = |number: u32, text: &str| {
        json!({
            "text": text, "span": span_of(text), "constness": "runtime", "coupling": number,
        })
    };
    let structure = json!({
        "accuracy": "exact", "entry": "main", "switches": [],
        "files": [{ "path": KERNEL_PATH, "text": KERNEL }],
        "value_marker": "vkcert_value", "mark_marker": "vkcert_mark",
        "texts": { "functions": ["main as tokens"], "files": { KERNEL_PATH: "as tokens" } },
        "functions": [{
            "id": "F1", "name": "main", "span": span_of(&KERNEL[KERNEL.find("void").unwrap()..]),
            "entry_mark": 0,
            "exits": [{ "end-of-body": { "span": span_of("}\n    barrier") } }],
            "body": [
                {
                    "id": "S1", "kind": "simple",
                    "span": span_of("uint x = gl_GlobalInvocationID.x;"),
                },
                { "id": "S2", "span": span_of("if (x < 3u && i[x] > 5u)"), "kind": { "if": {
                    "decision": "D1", "otherwise": [],
                    "then": {
                        "id": null, "span": span_of("{\n        o[x] = i[x];\n    }"),
                        "kind": { "block": { "block": [
                            { "id": "S3", "kind": "simple", "span": span_of("o[x] = i[x];") },
                        ]}},
                    },
                }}},
                { "id": "S4", "kind": "simple", "span": span_of("barrier();") },
            ],
        }],
        "decisions": [{
            "id": "D1", "function": "F1", "context": "if", "constness": "runtime",
            "recording": "marked", "span": span_of("x < 3u && i[x] > 5u"),
            "text": "x < 3u && i[x] > 5u",
            "expression": { "and": [{ "condition": 0 }, { "condition": 1 }] },
            "conditions": [
                condition(0, "x < 3u"), condition(1, "i[x] > 5u"),
            ],
        }],
        "markers": [
            { "mark": { "mark": 0 } },
            { "decision": { "decision": "D1" } },
            { "condition": { "condition": 0, "decision": "D1" } },
            { "condition": { "condition": 1, "decision": "D1" } },
        ],
    });
    let markers = structure["markers"].as_array().unwrap().iter().enumerate();
    let presence: serde_json::Map<String, Value> = markers
        .map(|(number, role)| (number.to_string(), json!({ "role": role, "constness": "runtime" })))
        .collect();
    let branch = |number: u32| {
        json!({
            "id": format!("B{}", number + 1), "kind": "conditional",
            "place": {
                "file": KERNEL_PATH, "line": 7, "column": 9, "function": "main",
                "instruction": number,
            },
            "origin": { "decisions": ["D1"] },
            "outcomes": [
                { "label": "T", "text": "true", "bit": 2 * number },
                { "label": "F", "text": "false", "bit": 2 * number + 1 },
            ],
        })
    };
    let mut kernel: KernelEvidence = read_json(json!({
        "schema": EVIDENCE_SCHEMA, "kernel": "guard", "engine": engine, "source": KERNEL_PATH,
        "configuration": {
            "name": "default", "entry": "main", "target_env": "vulkan1.1", "defines": {},
            "include": [], "specialization": [], "local_size": [4, 1, 1],
        },
        "modules": {
            "production": "0", "code": "1", "text": "2", "production_file": null, "traced": "3",
            "instrumented": "4",
        },
        "structure": structure,
        "layout": { "decisions": [], "marks": [], "bits": 0 },
        "presence": { "markers": presence },
        "records": rows_of_records(engine, |facts| facts.source_word),
        "objects": {
            "instrumented": "5",
            "structure": {
                "branches": [branch(0), branch(1)], "loops": [], "bits": 4, "unrecorded": null,
            },
            "records": rows_of_records(engine, |facts| facts.object_word),
        },
        "barriers": [{
            "number": 0, "file": KERNEL_PATH, "line": 10, "column": 5, "function": "main",
        }],
        "coverage": {
            "configuration": "default", "statements": [], "branches": [], "points": [],
            "decisions": [], "summary": [],
        },
    }));
    kernel.layout = vkcert_coverage::layout::record_layout(&kernel.structure, &kernel.presence);
    kernel
}

fn rows_of_records(engine: EngineName, word_of: fn(&TestFacts) -> u32) -> Value {
    let row = |(test, facts): (&str, TestFacts)| {
        let word = word_of(&facts);
        let bits = (0..32).filter(|bit| word >> bit & 1 == 1);
        let witnesses: BTreeMap<u32, [u32; 3]> = bits.map(|bit| (bit, [bit % 4, 0, 0])).collect();
        let mut records = json!({ "words": [word] });
        if engine == EngineName::Sequential {
            records["witnesses"] = json!(witnesses);
            records["barriers"] = json!({ "0": 1 });
        }
        json!({ "test": test, "verdict": "pass", "counted": true, "records": records })
    };
    ["T1", "T2"].into_iter().zip(TEST_FACTS).map(row).collect()
}

/// What the verification finds without a compiler.
pub(crate) fn verified(evidence: &Evidence) -> Verification {
    verified_with(evidence, &VerificationOptions::default())
}

/// The same with options.
pub(crate) fn verified_with(evidence: &Evidence, options: &VerificationOptions) -> Verification {
    let mut verification = Verification::default();
    let rebuilt = rebuild::rebuild_project(evidence, None, &NoToolchain);
    verify_contents(evidence, &rebuilt, options, &NoToolchain, &mut verification).unwrap();
    verification
}

/// The same where the stored inputs cannot be used either.
pub(crate) fn verified_without_inputs(evidence: &Evidence) -> Verification {
    let mut verification = Verification::default();
    let without_inputs = RebuildOutcome::WithoutInputs("no inputs".to_owned());
    let options = VerificationOptions::default();
    verify_contents(evidence, &without_inputs, &options, &NoToolchain, &mut verification).unwrap();
    verification
}

/// The result of a test of honest evidence, both counted from 0.
pub(crate) fn result_of(
    evidence: &mut Evidence,
    test: usize,
    engine: EngineName,
) -> &mut TestResult {
    let mut results = evidence.campaign.tests[test].results.iter_mut();
    results.find(|result| result.engine == engine).expect("a result of each engine")
}

/// A finding in invocation 0 of the kernel.
pub(crate) fn finding(kind: FindingKind) -> Finding {
    Finding {
        kernel: Some("guard".into()),
        invocations: vec![[0, 0, 0]],
        ..Finding::new(kind, "A sentence.")
    }
}

/// A forgery, and what the verification must say of it.
pub(crate) struct Forgery {
    /// What is forged.
    pub(crate) field: &'static str,
    /// Forges it.
    pub(crate) forge: fn(&mut Evidence),
    /// A problem as a whole.
    pub(crate) told: &'static str,
}

impl Forgery {
    pub(crate) const fn new(
        field: &'static str,
        forge: fn(&mut Evidence),
        told: &'static str,
    ) -> Self {
        Self { field, forge, told }
    }
}

/// The verification has nothing against the evidence, and tells of each forgery of it.
pub(crate) fn assert_told(evidence: &Evidence, forgeries: &[Forgery]) {
    assert_found(evidence, forgeries, |evidence| verified(evidence).problems);
}

/// The same where the stored inputs cannot be used, so that only the evidence itself is there.
pub(crate) fn assert_told_without_inputs(evidence: &Evidence, forgeries: &[Forgery]) {
    assert_found(evidence, forgeries, |evidence| verified_without_inputs(evidence).problems);
}

/// The same of evidence that an older version of the program wrote.
pub(crate) fn assert_told_of(format: &str, forgeries: &[Forgery]) {
    assert_told_without_inputs(&stored_evidence(format), forgeries);
}

fn assert_found(
    evidence: &Evidence,
    forgeries: &[Forgery],
    problems_of: fn(&Evidence) -> Vec<String>,
) {
    assert_eq!(problems_of(evidence), Vec::<String>::new(), "of honest evidence");
    for Forgery { field, forge, told } in forgeries {
        let mut forged = evidence.clone();
        forge(&mut forged);
        assert_ne!(forged, *evidence, "{field} is not forged");
        let problems = problems_of(&forged);
        assert!(problems.iter().any(|problem| problem == told), "{field}: {told}: {problems:#?}");
    }
}

/// The verification has nothing against evidence of other facts.
pub(crate) fn assert_permitted(change_facts: fn(&mut Evidence)) {
    assert_eq!(verified(&honest_with(change_facts)).problems, Vec::<String>::new());
}

#[test]
fn honest_evidence_verifies_as_far_as_it_can_without_a_compiler() {
    let evidence = honest();
    for verification in [verified(&evidence), verified_without_inputs(&evidence)] {
        assert_eq!(verification.problems, Vec::<String>::new());
        assert!(verification.checked > 100, "{}", verification.checked);
    }
    assert_eq!(evidence.campaign.conclusion.exit_code, 1);
    assert_eq!(evidence.campaign.open_items.len(), 2);
}

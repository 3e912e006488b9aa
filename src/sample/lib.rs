//! Synthetic evidence for the tests of reports: two kernels, two engines, failures, long names,
//! Unicode, many decisions.
//!
//! Consistent enough that shares follow from the lists; nothing here was measured.

use std::collections::BTreeMap;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::coverage::*;
use vkcert_model::evidence::*;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::*;
use vkcert_model::open_item::*;
use vkcert_model::place::{FileIndex, Place, Position, SourceFile, Span};
use vkcert_model::project::{CriterionName, ProjectFile};
use vkcert_model::reason::{Reason, ReasonKind};
use vkcert_model::records::{Presence, RecordLayout, Records};
use vkcert_model::requirement::*;
use vkcert_model::structure::*;
use vkcert_model::vector::{Outcome, Values};
use vkcert_model::verdict::{EngineName, Verdict};

pub const LONG_KERNEL: &str = "convolution_2d_zero_padding_with_bounds_checks_and_saturation";
const NAIVE: &str = "matmul_naive";
const NAIVE_SOURCE: &str = "#version 450
// Naive matrix multiplication: r (k x m) = a (n x m) · b (k x n); größe in Elementen.
layout(local_size_x = 16, local_size_y = 16) in;

layout(push_constant) uniform Sizes { uint m; uint n; uint k; };
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer R { float r[]; };

float dot_row_column(uint row, uint column) {
    float sum = 0.0;
    for (uint i = 0u; i < n; ++i) {
        sum += a[row * n + i] * b[i * k + column];
    }
    return sum;
}

float unused(float x) { return x < 0.0 ? -x : x; }

void main() {
    uint x = gl_GlobalInvocationID.x;
    uint y = gl_GlobalInvocationID.y;
    if (x < k && y < m) {
        r[y * k + x] = dot_row_column(y, x);
    }
}
";

fn hash(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::from("sha256:");
    for _ in 0..4 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&format!("{state:016x}"));
    }
    text
}

fn values(text: &str) -> Values {
    text.parse().expect("samples hold valid vectors")
}

/// The two vectors of an independence pair, if there is one.
type Pair<'a> = Option<[&'a str; 2]>;

/// A decision built from its conditions' texts, which must occur in the source in order.
struct DecisionSample<'a> {
    number: u32,
    file: &'a str,
    source: &'a str,
    text: &'a str,
    conditions: &'a [&'a str],
    context: DecisionContext,
    /// (values, outcome, tests)
    vectors: &'a [(&'a str, bool, &'a [&'a str])],
    /// Per condition: unique-cause pair, masking pair.
    pairs: &'a [(Pair<'a>, Pair<'a>)],
    missing: &'a [&'a str],
    closing: &'a [&'a str],
}

impl DecisionSample<'_> {
    fn build(&self) -> DecisionCoverage {
        let id = DecisionId(self.number);
        let start = self.source.find(self.text).expect("the decision stands in the source");
        let at = Position::of(self.source, start);
        let mut from = start;
        let conditions: Vec<ConditionPlace> = (1..)
            .zip(self.conditions)
            .map(|(number, text)| {
                let begin = from
                    + self.source[from..].find(text).expect("the condition stands in the decision");
                from = begin + text.len();
                let place = Position::of(self.source, begin);
                ConditionPlace {
                    id: ConditionId { decision: id, number },
                    text: (*text).to_owned(),
                    line: place.line,
                    column: place.column,
                    span: [begin as u32, from as u32],
                    constness: Constness::Runtime,
                    value: None,
                    coupled_with: Vec::new(),
                }
            })
            .collect();
        let vectors: Vec<ObservedVector> = (0..)
            .zip(self.vectors)
            .map(|(index, (text, outcome, tests))| ObservedVector {
                values: values(text),
                outcome: Outcome::from(*outcome),
                tests: tests.iter().map(|test| TestId::from(*test)).collect(),
                witness: Some([index, 0, 0]),
                witnesses: Vec::new(),
                directed: Vec::new(),
                undefined: false,
            })
            .collect();
        let outcomes = [("T", true), ("F", false)].map(|(letter, value)| {
            let seen = self.vectors.iter().find(|(_, outcome, _)| *outcome == value);
            let status = if seen.is_some() { Status::Covered } else { Status::Uncovered };
            let tests = seen.map_or(Vec::new(), |(_, _, tests)| {
                tests.iter().map(|test| TestId::from(*test)).collect()
            });
            let text = format!("{} is {value}", self.text);
            SimpleObligation {
                tests,
                ..simple(&format!("{id}.{letter}"), self.file, at, &text, status)
            }
        });
        let side = |pair: Option<[&str; 2]>| {
            let witness = |text: &str| {
                let vector = vectors
                    .iter()
                    .find(|vector| vector.values == values(text))
                    .expect("pairs name vectors");
                Witness {
                    test: vector.tests[0].clone(),
                    invocation: vector.witness,
                    directed: None,
                }
            };
            Independence {
                status: if pair.is_some() { Status::Covered } else { Status::Uncovered },
                pair: pair.map(|pair| pair.map(values)),
                shown_by: pair.map(|pair| pair.map(witness)),
                uncounted: Vec::new(),
                reason: None,
                proposal: None,
            }
        };
        let mcdc: Vec<ConditionMcdc> = conditions
            .iter()
            .zip(self.pairs)
            .map(|(condition, (unique, masking))| ConditionMcdc {
                condition: condition.id,
                unique_cause: side(*unique),
                masking: side(*masking),
            })
            .collect();
        let explanation = mcdc.iter().filter(|mcdc| mcdc.masking.status != Status::Covered);
        let explanation = explanation.map(|mcdc| {
            format!(
                "{} was never shown to affect the outcome: no passed test evaluated it to both values.",
                mcdc.condition
            )
        });
        DecisionCoverage {
            id,
            file: self.file.to_owned(),
            line: at.line,
            column: at.column,
            text: self.text.to_owned(),
            function: Some("main".into()),
            context: self.context,
            constness: Constness::Runtime,
            constant_outcome: None,
            expansion: Vec::new(),
            outcomes: outcomes.into(),
            conditions,
            vectors: vectors.clone(),
            explanation: explanation.collect(),
            mcdc,
            combinations: Vec::new(),
            coupling: None,
            minimum: Some(MinimumVectors {
                conditions_plus_one: self.conditions.len() as u32 + 1,
                unique_cause: count(self.conditions.len() as u32 + 1, self.conditions.len()),
                masking: count(self.conditions.len() as u32 + 1, self.conditions.len()),
            }),
            missing: self.missing.iter().map(|text| values(text)).collect(),
            closing_set: self.closing.iter().map(|text| values(text)).collect(),
        }
    }
}

fn count(vectors: u32, conditions: usize) -> VectorCount {
    VectorCount { vectors, at_least: vectors, conditions: conditions as u32 }
}

fn constant(id: u32, name: &str, type_name: &str, value: &str) -> SpecializedConstant {
    SpecializedConstant {
        id,
        name: Some(name.into()),
        type_name: type_name.into(),
        value: value.into(),
        bits: "0x10".into(),
        default: true,
    }
}

fn simple(id: &str, file: &str, at: Position, text: &str, status: Status) -> SimpleObligation {
    SimpleObligation {
        id: ObligationId::from(id),
        file: file.to_owned(),
        line: at.line,
        column: at.column,
        text: text.to_owned(),
        status,
        reason: None,
        tests: Vec::new(),
        uncounted: Vec::new(),
        proposal: None,
        object: None,
    }
}

fn counts(criterion: &str, statuses: impl Iterator<Item = Status>) -> CriterionSummary {
    let mut summary = CriterionSummary {
        criterion: criterion.into(),
        total: 0,
        covered: 0,
        justified: 0,
        uncovered: 0,
        undetermined: 0,
    };
    for status in statuses {
        summary.total += 1;
        match status {
            Status::Covered => summary.covered += 1,
            Status::Uncovered => summary.uncovered += 1,
            Status::Justified => summary.justified += 1,
            Status::Undetermined => summary.undetermined += 1,
        }
    }
    summary
}

fn summarised(mut coverage: KernelCoverage) -> KernelCoverage {
    let status = |item: &SimpleObligation| item.status;
    let outcomes = || coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let mcdc = || coverage.decisions.iter().flat_map(|decision| &decision.mcdc);
    coverage.summary = vec![
        counts("statement", coverage.statements.iter().map(status)),
        counts("branch", coverage.branches.iter().map(status)),
        counts("decision", outcomes().chain(&coverage.points).map(status)),
        counts("mcdc-masking", mcdc().map(|mcdc| mcdc.masking.status)),
        counts("mcdc-unique-cause", mcdc().map(|mcdc| mcdc.unique_cause.status)),
    ];
    coverage
}

fn statements(file: &str, source: &str, uncovered: &[usize]) -> Vec<SimpleObligation> {
    let lines = (1..).zip(source.lines()).filter(|(_, line)| line.starts_with("    "));
    let lines = lines.filter(|(_, line)| line.trim() != "}");
    (1..)
        .zip(lines)
        .map(|(number, (line, text))| {
            let column = (text.len() - text.trim_start().len()) as u32 + 1;
            let status =
                if uncovered.contains(&number) { Status::Uncovered } else { Status::Covered };
            simple(&format!("S{number}"), file, Position { line, column }, text.trim(), status)
        })
        .collect()
}

fn naive_coverage(engine: EngineName) -> KernelCoverage {
    const FILE: &str = "glsl/matmul_naive.comp";
    let guard: &[(&str, bool, &[&str])] = match engine {
        EngineName::Sequential => &[
            ("TT", true, &["TC-MM-01", "TC-MM-02", "TC-MM-03"]),
            ("TF", false, &["TC-MM-02"]),
            ("F-", false, &["TC-MM-01", "TC-MM-03"]),
        ],
        EngineName::Vulkan => {
            &[("TT", true, &["TC-MM-01", "TC-MM-02"]), ("F-", false, &["TC-MM-01"])]
        }
    };
    let both = Some(["TT", "TF"]);
    let second = if engine == EngineName::Sequential { (both, both) } else { (None, None) };
    let first = (Some(["TT", "F-"]), Some(["TT", "F-"]));
    let base = DecisionSample {
        number: 1,
        file: FILE,
        source: NAIVE_SOURCE,
        text: "i < n",
        conditions: &["i < n"],
        context: DecisionContext::For,
        vectors: &[("T", true, &["TC-MM-01", "TC-MM-02"]), ("F", false, &["TC-MM-01", "TC-MM-02"])],
        pairs: &[(Some(["T", "F"]), Some(["T", "F"]))],
        missing: &[],
        closing: &[],
    };
    let open: &[&str] = if engine == EngineName::Sequential { &[] } else { &["TF"] };
    let decisions = vec![
        base.build(),
        DecisionSample {
            number: 2,
            text: "x < k && y < m",
            conditions: &["x < k", "y < m"],
            context: DecisionContext::If,
            vectors: guard,
            pairs: &[first, second],
            missing: open,
            closing: open,
            ..base
        }
        .build(),
    ];
    let branches = decisions.iter().flat_map(|decision| decision.outcomes.clone()).collect();
    let point =
        |id: &str, line| simple(id, FILE, Position { line, column: 1 }, "main", Status::Covered);
    summarised(KernelCoverage {
        configuration: "default".into(),
        statements: statements(FILE, NAIVE_SOURCE, &[]),
        branches,
        points: vec![
            point("F1.entry", 10),
            point("F1.X1", 15),
            point("F3.entry", 20),
            point("F3.X1", 26),
        ],
        decisions,
        objects: Vec::new(),
        additional: Vec::new(),
        barriers: Vec::new(),
        not_reached: vec!["unused".into()],
        summary: Vec::new(),
    })
}

/// 60 decisions, one of them with twelve conditions.
fn large_source() -> String {
    let mut source = String::from(
        "#version 450\nlayout(local_size_x = 8, local_size_y = 8) in;\n\nvoid main() {\n",
    );
    for number in 1..60 {
        source.push_str(&format!(
            "    if (inside{number}(x, y) || tile_border_{number} < saturation_limit) {{\n"
        ));
        source.push_str(&format!(
            "        accumulate_with_saturation_{number}(x, y, \"<b>&amp;\");\n    }}\n"
        ));
    }
    source.push_str(&format!("    bool all_ok = {};\n}}\n", twelve()));
    source
}

fn twelve() -> String {
    (1..=12).map(|n| format!("flag_{n:02}")).collect::<Vec<_>>().join(" && ")
}

fn large_coverage() -> KernelCoverage {
    const FILE: &str =
        "glsl/filters/convolution_2d_zero_padding_with_bounds_checks_and_saturation.comp";
    let source = large_source();
    let mut decisions = Vec::new();
    for number in 1..60 {
        let one = format!("inside{number}(x, y)");
        let two = format!("tile_border_{number} < saturation_limit");
        let open = number % 17 == 3;
        let tests: &[&str] =
            &["TC-CONV-01", "TC-CONV-02", "TC-CONV-03-WITH-A-RATHER-LONG-IDENTIFIER-FOR-A-TEST"];
        let all = [("T-", true, tests), ("FT", true, &tests[..1]), ("FF", false, &tests[1..2])];
        let both = |pair: [&'static str; 2]| (Some(pair), Some(pair));
        decisions.push(
            DecisionSample {
                number,
                file: FILE,
                source: &source,
                text: &format!("{one} || {two}"),
                conditions: &[&one, &two],
                context: DecisionContext::If,
                vectors: if open { &all[..2] } else { &all },
                pairs: &if open {
                    [(None, None); 2]
                } else {
                    [both(["T-", "FF"]), both(["FT", "FF"])]
                },
                missing: if open { &["FF"] } else { &[] },
                closing: if open { &["FF"] } else { &[] },
            }
            .build(),
        );
    }
    decisions.push(twelve_conditions(FILE, &source));
    decisions[6].constness = Constness::Specialization;
    decisions[6].constant_outcome = Some(Outcome::True);
    decisions[7].expansion = vec!["CLAMPED".into(), "GUARD".into()];
    let branches = decisions[..59].iter().flat_map(|decision| decision.outcomes.clone()).collect();
    let mut points =
        vec![simple("F1.entry", FILE, Position { line: 4, column: 1 }, "main", Status::Covered)];
    points.push(SimpleObligation {
        reason: Some("accepted: unreachable by construction".into()),
        ..simple("F1.X2", FILE, Position { line: 90, column: 5 }, "return;", Status::Justified)
    });
    summarised(KernelCoverage {
        configuration: "default".into(),
        statements: statements(FILE, &source, &[6, 7, 40]),
        branches,
        points,
        decisions,
        objects: Vec::new(),
        additional: Vec::new(),
        barriers: Vec::new(),
        not_reached: Vec::new(),
        summary: Vec::new(),
    })
}

fn twelve_conditions(file: &str, source: &str) -> DecisionCoverage {
    let names: Vec<String> = (1..=12).map(|n| format!("flag_{n:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows: Vec<String> =
        (0..12).map(|n| format!("{}F{}", "T".repeat(n), "-".repeat(11 - n))).collect();
    let tests: &[&str] = &["TC-CONV-02"];
    let mut vectors: Vec<(&str, bool, &[&str])> = vec![("TTTTTTTTTTTT", true, tests)];
    vectors.extend(rows.iter().map(|row| (row.as_str(), false, tests)));
    let pairs: Vec<_> = rows
        .iter()
        .map(|row| Some(["TTTTTTTTTTTT", row.as_str()]))
        .map(|pair| (pair, pair))
        .collect();
    DecisionSample {
        number: 60,
        file,
        source,
        text: &twelve(),
        conditions: &names,
        context: DecisionContext::Initialiser,
        vectors: &vectors,
        pairs: &pairs,
        missing: &[],
        closing: &[],
    }
    .build()
}

fn kernel(name: &str, engine: EngineName) -> KernelEvidence {
    let naive = name == NAIVE;
    let (file, text) = if naive {
        ("glsl/matmul_naive.comp", NAIVE_SOURCE.to_owned())
    } else {
        (
            "glsl/filters/convolution_2d_zero_padding_with_bounds_checks_and_saturation.comp",
            large_source(),
        )
    };
    let function = |number: u32, name: &str| {
        let start =
            text.find(&format!(" {name}(")).expect("the function stands in the source") as u32;
        Function {
            id: FunctionId(number),
            name: name.into(),
            span: Span { file: FileIndex(0), start, end: start + 4 },
            entry_mark: MarkIndex(number),
            body: Block::default(),
            exits: Vec::new(),
            expansion: Vec::new(),
        }
    };
    let functions = if naive {
        vec![function(1, "dot_row_column"), function(2, "unused"), function(3, "main")]
    } else {
        vec![function(1, "main")]
    };
    let record = |test: &str, verdict, counted| TestRecords {
        test: TestId::from(test),
        verdict,
        counted,
        records: Records::default(),
    };
    let lowering = |id: &str, text: &str, true_count, false_count| LoweringDecision {
        id: id.into(),
        text: text.into(),
        true_count,
        false_count,
    };
    KernelEvidence {
        schema: EVIDENCE_SCHEMA,
        kernel: KernelName::from(name),
        engine,
        source: file.into(),
        configuration: Configuration {
            name: "default".into(),
            entry: "main".into(),
            target_env: "vulkan1.2".into(),
            defines: [("TILE".to_owned(), "16".to_owned())].into(),
            include: Vec::new(),
            specialization: vec![
                constant(0, "TILE", "uint", "16"),
                constant(1, "CLAMP", "bool", "true"),
            ],
            local_size: [16, 16, 1],
        },
        modules: ModuleHashes {
            code: hash(5).trim_start_matches("sha256:").to_owned(),
            text: None,
            production: hash(1),
            production_file: Some(format!("spirv/{name}.spv")),
            traced: hash(2),
            instrumented: hash(3),
        },
        recording: None,
        structure: KernelStructure {
            files: vec![SourceFile { path: file.into(), text }],
            entry: "main".into(),
            functions,
            decisions: Vec::new(),
            switches: Vec::new(),
            accuracy: Accuracy::Exact,
            markers: Vec::new(),
            value_marker: "vkcert_value".into(),
            mark_marker: "vkcert_mark".into(),
            texts: TextDigests::default(),
        },
        layout: RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 },
        presence: Presence::default(),
        records: if naive {
            vec![record("TC-MM-01", Verdict::Pass, true), record("TC-MM-04", Verdict::Fail, false)]
        } else {
            vec![record("TC-CONV-01", Verdict::Pass, true)]
        },
        objects: ObjectEvidence::default(),
        barriers: Vec::new(),
        coverage: if naive { naive_coverage(engine) } else { large_coverage() },
        lowering: match engine {
            EngineName::Sequential => vec![
                lowering("L1", "workgroup.x < groups.x", 12, 4),
                lowering("L2", "invocation.x < local_size.x", 3072, 192),
            ],
            EngineName::Vulkan => Vec::new(),
        },
    }
}

fn requirement(
    uid: &str,
    level: RequirementLevel,
    title: &str,
    status: RequirementStatus,
) -> RequirementEvidence {
    RequirementEvidence {
        requirement: Requirement {
            uid: RequirementId::from(uid),
            level,
            title: title.into(),
            statement: format!(
                "The kernel shall {}: the element r(y, x) is the sum over i of a(y, i)·b(i, x), within 4 ulp of the \
                 exact value, for every 0 ≤ x < k and 0 ≤ y < m. 中",
                title.to_lowercase()
            ),
            rationale: Some("The dispatch may exceed the result by a partial workgroup.".into()),
            parents: Vec::new(),
            derived: false,
            safety_rationale: None,
            verification: vec![VerificationMethod::Test],
            implements: Vec::new(),
        },
        hash: hash(uid.len() as u64 * 31),
        file: "requirements/matmul.toml".into(),
        suspect_parents: Vec::new(),
        children: Vec::new(),
        tests: Vec::new(),
        left_out_tests: Vec::new(),
        code: Vec::new(),
        status,
        open: Vec::new(),
        untested_code: Vec::new(),
        untested_kernels: Vec::new(),
    }
}

fn requirements() -> Vec<RequirementEvidence> {
    use RequirementLevel::{Hlr, Llr};
    let code = |file: &str, symbol: &str, line, found| CodeTrace {
        file: file.into(),
        symbol: Some(symbol.into()),
        line,
        found,
        kernels: Vec::new(),
    };
    let mut list = vec![
        requirement("HLR-MM-001", Hlr, "Multiply matrices", RequirementStatus::VerifiedByChildren),
        requirement("LLR-MM-001", Llr, "Sum products in order of i", RequirementStatus::Verified),
        requirement(
            "LLR-MM-002",
            Llr,
            "Guard against indices outside the result",
            RequirementStatus::Failed,
        ),
        requirement(
            "LLR-CONV-001",
            Llr,
            "Pad with zeros outside the image",
            RequirementStatus::Untested,
        ),
        requirement("LLR-CONV-002", Llr, "Bounded run time", RequirementStatus::ByOtherMeans),
    ];
    list[0].children = vec!["LLR-MM-001".into(), "LLR-MM-002".into()];
    for item in &mut list[1..3] {
        item.requirement.parents =
            vec![ParentLink { uid: "HLR-MM-001".into(), hash: Some(hash(9)) }];
        item.tests = vec!["TC-MM-01".into(), "TC-MM-02".into()];
        item.code = vec![code("glsl/matmul_naive.comp", "main", Some(20), true)];
    }
    list[1].code.push(code("glsl/matmul_naive.comp", "dot_row_column", Some(10), true));
    list[2].tests.push("TC-MM-04".into());
    list[2].suspect_parents = vec!["HLR-MM-001".into()];
    list[3].code = vec![code("glsl/filters/convolution.comp", "pad", None, false)];
    list
}

fn result(engine: EngineName, verdict: Verdict) -> TestResult {
    TestResult {
        left_open: Vec::new(),
        engine,
        verdict,
        reason: None,
        mismatches: Vec::new(),
        findings: Vec::new(),
        race_scope: None,
        repetitions: 1,
        deciding_repetition: None,
        schedule: None,
        schedules: None,
        directed: Vec::new(),
        altered: Vec::new(),
        judged: Vec::new(),
        idle: Vec::new(),
        rests_on_undefined: false,
        notes: Vec::new(),
        printed_lines: 0,
        touched: Vec::new(),
        outputs: BTreeMap::new(),
    }
}

fn test(id: &str, title: &str, kernel: &str, verdicts: [Verdict; 2]) -> TestEvidence {
    TestEvidence {
        id: TestId::from(id),
        title: Some(title.into()),
        kind: if id.ends_with('4') { "robustness".into() } else { "normal".into() },
        requirements: vec!["LLR-MM-001".into(), "LLR-MM-002".into()],
        kernels: vec![KernelName::from(kernel)],
        file: "requirements/matmul.toml".into(),
        hash: hash(id.len() as u64),
        procedure: vec![format!("{kernel} 2×1×1 groups, m=3 n=2 k=20")],
        definition: serde_json::from_value(serde_json::json!({"id": id, "dispatches": []}))
            .unwrap(),
        expected: Vec::new(),
        flows: Vec::new(),
        results: vec![
            result(EngineName::Sequential, verdicts[0]),
            result(EngineName::Vulkan, verdicts[1]),
        ],
    }
}

fn race() -> Finding {
    let place = |line, column| Place {
        file: Some("glsl/matmul_naive.comp".into()),
        line: Some(line),
        column,
        function: Some("main".into()),
        instruction: Some(412),
    };
    Finding {
        count: 3,
        other_place: Some(place(13, None)),
        invocations: vec![[0, 0, 0], [1, 0, 0]],
        ..Finding::new(
            FindingKind::DataRace,
            "Invocation (1,0,0) reads element 17 of r while (0,0,0) writes it.",
        )
        .at(place(24, Some(9)))
        .detail("memory", "buffer")
        .detail("same_value", false)
    }
}

fn tests() -> Vec<TestEvidence> {
    use Verdict::{Fail, NotRun, Pass, Timeout};
    let mut list = vec![
        test("TC-MM-01", "3 by 2 by 20, one partial workgroup", NAIVE, [Pass, Pass]),
        test("TC-MM-02", "17 by 5 by 16", NAIVE, [Pass, Pass]),
        test("TC-MM-03", "Größte zulässige Abmessung", NAIVE, [Pass, NotRun]),
        test("TC-MM-04", "Empty matrix", NAIVE, [Fail, Timeout]),
        test("TC-CONV-01", "5 × 5 box over 33 × 17", LONG_KERNEL, [Pass, Pass]),
        test("TC-CONV-02", "Kernel larger than the image", LONG_KERNEL, [Pass, Pass]),
        test(
            "TC-CONV-03-WITH-A-RATHER-LONG-IDENTIFIER-FOR-A-TEST",
            "Impulse",
            LONG_KERNEL,
            [Pass, Pass],
        ),
    ];
    list[3].results[1].reason = Some("the fence was not signalled within 10 s".into());
    list[3].results[0].mismatches = (0..15_u32)
        .map(|index| Mismatch {
            buffer: "result".into(),
            offset: u64::from(index) * 4,
            expected: serde_json::json!(1.5),
            actual: serde_json::json!("NaN"),
            bits: format!("0x7fc0{index:04x}"),
            texel: None,
            member: None,
        })
        .collect();
    list[1].results[0].findings = vec![race()];
    list[3].results[0].findings = vec![race()];
    list
}

fn coupling() -> Vec<CouplingEvidence> {
    let node = |id: &str, kind: &str, label: &str| CouplingNode {
        id: id.into(),
        kind: kind.into(),
        label: label.into(),
    };
    let edge = |from: &str, to: &str, kind: &str, label: &str| CouplingEdge {
        from: from.into(),
        to: to.into(),
        kind: kind.into(),
        label: label.into(),
    };
    let check = |check: &str, status: &str, message: &str| CouplingCheck {
        check: check.into(),
        status: status.into(),
        message: message.into(),
        counterexample: None,
    };
    let mut refuted = check(
        "dispatch-covers-domain",
        "refuted",
        "The dispatch of 1 group in y covers 16 rows of a domain with m rows.",
    );
    refuted.counterexample = Some([("m".to_owned(), 17), ("k".to_owned(), 1)].into());
    vec![CouplingEvidence {
        definition: None,
        kernel: NAIVE.into(),
        nodes: vec![
            node("parameter:m", "parameter", "m"),
            node("push-constant:0", "push constant", "Sizes.m"),
            node("decision:D2", "decision", "D2: x < k && y < m"),
        ],
        edges: vec![
            edge("parameter:m", "push-constant:0", "data", "stored at offset 0"),
            edge("push-constant:0", "decision:D2", "control", "read by condition C2"),
        ],
        checks: vec![check("local-size-match", "holds", "Both sides say 16 × 16 × 1."), refuted],
    }]
}

fn settings() -> ProjectFile {
    let kernel =
        |name: &str| serde_json::json!({"name": name, "source": format!("glsl/{name}.comp")});
    serde_json::from_value(serde_json::json!({
        "schema": 1, "name": "Matrix & image kernels <demo>", "level": "A", "kernel": [kernel(NAIVE), kernel(LONG_KERNEL)],
    }))
    .expect("a project file")
}

/// One of each state.
fn open_items() -> Vec<OpenItem> {
    let criterion = OpenItem::new(
        OpenItemKind::CriterionNotAsked,
        Some(OpenItemSubject::Criterion(CriterionName::AdditionalCode)),
        Acceptability::ByProject,
        "DO-178C table A-7 asks for additional-code coverage at level A, and `criteria` does not",
    );
    let interface = OpenItem {
        acceptance: Some(ItemApproval {
            reason: "The host of this kernel is verified by its own project, document V-17.".into(),
            author: "A. Prüfer".into(),
            approver: "B. Reviewer".into(),
        }),
        ..OpenItem::new(
            OpenItemKind::KernelWithoutInterface,
            Some(OpenItemSubject::Kernel(LONG_KERNEL.into())),
            Acceptability::ByProject,
            "the kernel has no [[interface]]: its coupling with the host is not analysed",
        )
    };
    let left_out = OpenItem::new(
        OpenItemKind::TestLeftOut,
        Some(OpenItemSubject::Test("TC-MM-05".into())),
        Acceptability::Never,
        "test TC-MM-05 was left out on request (--without)",
    );
    vec![criterion, interface, left_out]
}

/// Both engines left and recorded the same.
pub fn identical(test: &TestId, kernel: &KernelName) -> Agreement {
    Agreement {
        test: test.clone(),
        kernel: kernel.clone(),
        outputs: AgreementOutcome::Identical,
        coverage: AgreementOutcome::Identical,
        differences: Vec::new(),
        bounds: None,
        left_open: Vec::new(),
    }
}

/// The whole sample.
pub fn evidence() -> Evidence {
    let engines = [EngineName::Sequential, EngineName::Vulkan];
    let kernels: Vec<KernelEvidence> = [NAIVE, LONG_KERNEL]
        .iter()
        .flat_map(|name| engines.map(|engine| kernel(name, engine)))
        .collect();
    let summary = kernels.iter().map(|kernel| KernelSummary {
        kernel: kernel.kernel.clone(),
        configuration: kernel.configuration.name.clone(),
        engine: kernel.engine,
        criteria: kernel.coverage.summary.clone(),
    });
    let summary = summary.collect();
    let identity = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    let justification = |obligation: &str, rejected: Option<&str>| {
        JustificationEvidence {
        justification: Justification {
            kernel: LONG_KERNEL.into(),
            subject: JustificationSubject::Obligation(ObligationId::from(obligation)),
            configuration: None,
            class: JustificationClass::Defensive,
            reason: "The early return guards against a dispatch that the host never makes; see the interface.".into(),
            category: None,
            means: None,
            argument: None,
            author: "A. Prüfer".into(),
            approver: "B. Reviewer".into(),
            hash: hash(77),
        },
        file: "requirements/justifications.toml".into(),
        rejected: rejected.map(str::to_owned),
        not_judged: None,
    }
    };
    let agreement = |test: &str, coverage: AgreementOutcome, differences: Vec<String>| Agreement {
        left_open: Vec::new(),
        test: test.into(),
        kernel: NAIVE.into(),
        outputs: AgreementOutcome::Identical,
        coverage,
        differences,
        bounds: None,
    };
    Evidence {
        campaign: Campaign {
            schema: EVIDENCE_SCHEMA,
            settings: Some(settings()),
            project: ProjectIdentity {
                name: "Matrix & image kernels <demo>".into(),
                level: "A".into(),
                profile: ProfileEvidence::default(),
                decision_policy: "literal".into(),
                memory_model: "idiom".into(),
                criteria: ["statement", "branch", "decision", "mcdc-masking"]
                    .map(str::to_owned)
                    .into(),
                tool: "vkcert".into(),
                tool_version: "0.2.0".into(),
                compiler: "shaderc 2024.4 with glslang 15.1 and SPIRV-Tools 2025.1".into(),
                compiler_options: "-O0 -g --target-env=vulkan1.2".into(),
                date: Some("2026-01-31T12:00:00Z".into()),
            },
            engines: vec![
                EngineIdentity {
                    engine: EngineName::Sequential,
                    ran: true,
                    reason: None,
                    identity: identity(&[("tile width", "64"), ("order", "ascending")]),
                },
                EngineIdentity {
                    engine: EngineName::Vulkan,
                    ran: true,
                    reason: None,
                    identity: identity(&[
                        ("device", "llvmpipe (LLVM 15.0.6, 256 bits)"),
                        ("driver", "llvmpipe Mesa 22.3.6"),
                        ("api", "1.3.230"),
                        ("device uuid", "6d657361-3232-2e33-2e36-000000000000"),
                    ]),
                },
            ],
            requirements: requirements(),
            tests: tests(),
            records: Vec::new(),
            justifications: vec![
                justification("F1.X2", None),
                justification("S6", Some("the hash is of another content: the code has changed")),
            ],
            coupling: coupling(),
            findings: vec![KernelFinding {
                kernel: NAIVE.into(),
                engine: None,
                test: None,
                finding: Finding::new(
                    FindingKind::Coupling,
                    "The dispatch of 1 group in y covers 16 rows of a domain with m rows.",
                )
                .detail("check", "dispatch-covers-domain"),
            }],
            agreement: vec![
                agreement("TC-MM-01", AgreementOutcome::Identical, Vec::new()),
                agreement(
                    "TC-MM-02",
                    AgreementOutcome::Different,
                    vec!["D2: vector TF on sequential only".into()],
                ),
                Agreement {
                    outputs: AgreementOutcome::WithinErrorBounds,
                    bounds: Some(error_bounds()),
                    ..agreement("TC-MM-03", AgreementOutcome::Identical, Vec::new())
                },
            ],
            left_out: Vec::new(),
            not_looked_for: Vec::new(),
            open_items: open_items(),
            rejected_acceptances: Vec::new(),
            notes: Vec::new(),
            unsought: vec![UnsoughtKind {
                kind: FindingKind::ScheduleDependentOutput,
                reason: UnsoughtReason::NoOtherSchedule,
            }],
            limits: vec![
                "Images and cooperative matrices are unsupported by the sequential engine.".into(),
                "Weak memory behaviour is not explored.".into(),
            ],
            conclusion: Conclusion {
                exit_code: 1,
                reasons: reasons().iter().map(Reason::to_string).collect(),
                grounds: reasons().iter().map(Reason::ground).collect(),
                summary,
            },
        },
        kernels,
        inputs: None,
        manifest: Manifest {
            schema: EVIDENCE_SCHEMA,
            tool: "vkcert 0.2.0".into(),
            compiler: "shaderc 2024.4".into(),
            devices: vec!["llvmpipe (LLVM 15.0.6, 256 bits)".into()],
            inputs: ["glsl/matmul_naive.comp", "requirements/matmul.toml", "vkcert.toml"]
                .map(|path| (path.to_owned(), hash(path.len() as u64)))
                .into(),
            outputs: ["campaign.json", "kernel-matmul_naive-sequential.json"]
                .map(|path| (path.to_owned(), hash(path.len() as u64)))
                .into(),
        },
    }
}

fn error_bounds() -> ErrorBounds {
    let value = |value: f64, bits: &str| ElementValue { value: value.into(), bits: bits.into() };
    ErrorBounds {
        runs: 2,
        rounding: "nearest".into(),
        buffers: vec![BoundedBuffer {
            buffer: "result".into(),
            elements: 3,
            outside: 0,
            undefined: 0,
            worst_ulp: Some(2),
            listed: vec![BoundedElement {
                element: "values[3]".into(),
                offset: 12,
                type_name: "float".into(),
                within: true,
                sequential: value(2.0, "0x40000000"),
                vulkan: value(2.0000005, "0x40000002"),
                permitted: vec![vec![
                    value(1.9999993, "0x3ffffffa"),
                    value(2.000001, "0x40000004"),
                ]],
                nan_permitted: false,
                texel: None,
                undefined: false,
                undefined_bits: None,
            }],
        }],
    }
}

/// The sample with nothing against it: every list that speaks of defects is empty.
pub fn flawless() -> Evidence {
    let mut evidence = evidence();
    evidence.kernels.retain(|kernel| {
        kernel.kernel.as_str() == NAIVE && kernel.engine == EngineName::Sequential
    });
    let campaign = &mut evidence.campaign;
    campaign.requirements.truncate(2);
    campaign.tests.truncate(2);
    for test in &mut campaign.tests {
        test.results.truncate(1);
        test.results[0].findings.clear();
    }
    campaign.engines[1].ran = false;
    campaign.engines[1].reason = Some("no Vulkan device was found".into());
    campaign.engines[1].identity.clear();
    campaign.open_items.clear();
    campaign.notes = vec![CampaignNote {
        kind: NoteKind::EngineNotRun,
        sentence:
            "Not run on the engine vulkan: no Vulkan device was found. Nothing is claimed for it."
                .into(),
    }];
    campaign.unsought.push(UnsoughtKind {
        kind: FindingKind::EngineDisagreement,
        reason: UnsoughtReason::NoDevice,
    });
    campaign.justifications.clear();
    campaign.coupling.clear();
    campaign.findings.clear();
    campaign.agreement.clear();
    let kept =
        |row: &KernelSummary| row.kernel.as_str() == NAIVE && row.engine == EngineName::Sequential;
    campaign.conclusion.summary.retain(kept);
    campaign.conclusion.exit_code = 0;
    campaign.conclusion.reasons.clear();
    campaign.conclusion.grounds.clear();
    evidence
}

/// Some of those that the sample gives.
fn reasons() -> Vec<Reason> {
    let (test, engines, verdict) =
        (TestId::from("TC-MM-04"), vec![EngineName::Sequential], Verdict::Fail);
    let kind = ReasonKind::TestFailed;
    let told = [
        Reason::Test { kind, test, engines, verdict, reason: None },
        Reason::RequirementUntested { requirement: "LLR-CONV-001".into() },
        Reason::FindingStands { kind: FindingKind::DataRace, count: 1 },
        Reason::FindingStands { kind: FindingKind::Coupling, count: 1 },
    ];
    let items = open_items().into_iter().filter(OpenItem::stands).map(|item| item.reason());
    told.into_iter().chain(items).collect()
}

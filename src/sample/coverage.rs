//! The coverage of the two kernels, with the texts that it is of.

use super::decision::{DecisionSample, simple_obligation};
use vkcert_model::coverage::{
    CriterionSummary, DecisionCoverage, KernelCoverage, SimpleObligation, Status,
};
use vkcert_model::criterion::CriterionName;
use vkcert_model::place::Position;
use vkcert_model::structure::{Constness, DecisionContext};
use vkcert_model::vector::Outcome;
use vkcert_model::verdict::EngineName;

pub(super) const NAIVE_SOURCE: &str = "#version 450
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

fn criterion_summary(
    criterion: CriterionName,
    statuses: impl Iterator<Item = Status>,
) -> CriterionSummary {
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

fn with_summary(mut coverage: KernelCoverage) -> KernelCoverage {
    let status_of = |item: &SimpleObligation| item.status;
    let decision_outcomes = || coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let condition_mcdc = || coverage.decisions.iter().flat_map(|decision| &decision.mcdc);
    coverage.summary = vec![
        criterion_summary(CriterionName::Statement, coverage.statements.iter().map(status_of)),
        criterion_summary(CriterionName::Branch, coverage.branches.iter().map(status_of)),
        criterion_summary(
            CriterionName::Decision,
            decision_outcomes().chain(&coverage.points).map(status_of),
        ),
        criterion_summary(
            CriterionName::McdcMasking,
            condition_mcdc().map(|mcdc| mcdc.masking.status),
        ),
        criterion_summary(
            CriterionName::McdcUniqueCause,
            condition_mcdc().map(|mcdc| mcdc.unique_cause.status),
        ),
    ];
    coverage
}

fn statement_obligations(
    file: &str,
    source: &str,
    uncovered_numbers: &[usize],
) -> Vec<SimpleObligation> {
    let statement_lines = (1..).zip(source.lines()).filter(|(_, line)| line.starts_with("    "));
    let statement_lines = statement_lines.filter(|(_, line)| line.trim() != "}");
    (1..)
        .zip(statement_lines)
        .map(|(number, (line, text))| {
            let column = (text.len() - text.trim_start().len()) as u32 + 1;
            let status = if uncovered_numbers.contains(&number) {
                Status::Uncovered
            } else {
                Status::Covered
            };
            simple_obligation(
                &format!("S{number}"),
                file,
                Position { line, column },
                text.trim(),
                status,
            )
        })
        .collect()
}

pub(super) fn naive_coverage(engine: EngineName) -> KernelCoverage {
    const FILE: &str = "glsl/matmul_naive.comp";
    let guard_vectors: &[(&str, bool, &[&str])] = match engine {
        EngineName::Sequential => &[
            ("TT", true, &["TC-MM-01", "TC-MM-02", "TC-MM-03"]),
            ("TF", false, &["TC-MM-02"]),
            ("F-", false, &["TC-MM-01", "TC-MM-03"]),
        ],
        EngineName::Vulkan => {
            &[("TT", true, &["TC-MM-01", "TC-MM-02"]), ("F-", false, &["TC-MM-01"])]
        }
    };
    let both_pair = Some(["TT", "TF"]);
    let second_pairs =
        if engine == EngineName::Sequential { (both_pair, both_pair) } else { (None, None) };
    let first_pairs = (Some(["TT", "F-"]), Some(["TT", "F-"]));
    let loop_decision = DecisionSample {
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
    let open_vectors: &[&str] = if engine == EngineName::Sequential { &[] } else { &["TF"] };
    let decisions = vec![
        loop_decision.build(),
        DecisionSample {
            number: 2,
            text: "x < k && y < m",
            conditions: &["x < k", "y < m"],
            context: DecisionContext::If,
            vectors: guard_vectors,
            pairs: &[first_pairs, second_pairs],
            missing: open_vectors,
            closing: open_vectors,
            ..loop_decision
        }
        .build(),
    ];
    let branches = decisions.iter().flat_map(|decision| decision.outcomes.clone()).collect();
    let covered_point = |id: &str, line| {
        simple_obligation(id, FILE, Position { line, column: 1 }, "main", Status::Covered)
    };
    with_summary(KernelCoverage {
        functions: None,
        calls: None,
        loops: None,
        boundaries: None,
        coupling: None,
        coupling_classes: Vec::new(),
        average_statement: None,
        configuration: "default".into(),
        statements: statement_obligations(FILE, NAIVE_SOURCE, &[]),
        branches,
        points: vec![
            covered_point("F1.entry", 10),
            covered_point("F1.X1", 15),
            covered_point("F3.entry", 20),
            covered_point("F3.X1", 26),
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
pub(super) fn large_source() -> String {
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
    source.push_str(&format!("    bool all_ok = {};\n}}\n", twelve_flags()));
    source
}

fn twelve_flags() -> String {
    (1..=12).map(|flag_number| format!("flag_{flag_number:02}")).collect::<Vec<_>>().join(" && ")
}

pub(super) fn large_coverage() -> KernelCoverage {
    const FILE: &str =
        "glsl/filters/convolution_2d_zero_padding_with_bounds_checks_and_saturation.comp";
    let source = large_source();
    let mut decisions = Vec::new();
    for number in 1..60 {
        let first_condition = format!("inside{number}(x, y)");
        let second_condition = format!("tile_border_{number} < saturation_limit");
        let is_open = number % 17 == 3;
        let tests: &[&str] =
            &["TC-CONV-01", "TC-CONV-02", "TC-CONV-03-WITH-A-RATHER-LONG-IDENTIFIER-FOR-A-TEST"];
        let all_vectors =
            [("T-", true, tests), ("FT", true, &tests[..1]), ("FF", false, &tests[1..2])];
        let same_pairs = |pair: [&'static str; 2]| (Some(pair), Some(pair));
        decisions.push(
            DecisionSample {
                number,
                file: FILE,
                source: &source,
                text: &format!("{first_condition} || {second_condition}"),
                conditions: &[&first_condition, &second_condition],
                context: DecisionContext::If,
                vectors: if is_open { &all_vectors[..2] } else { &all_vectors },
                pairs: &if is_open {
                    [(None, None); 2]
                } else {
                    [same_pairs(["T-", "FF"]), same_pairs(["FT", "FF"])]
                },
                missing: if is_open { &["FF"] } else { &[] },
                closing: if is_open { &["FF"] } else { &[] },
            }
            .build(),
        );
    }
    decisions.push(twelve_conditions(FILE, &source));
    decisions[6].constness = Constness::Specialization;
    decisions[6].constant_outcome = Some(Outcome::True);
    decisions[7].expansion = vec!["CLAMPED".into(), "GUARD".into()];
    let branches = decisions[..59].iter().flat_map(|decision| decision.outcomes.clone()).collect();
    let mut points = vec![simple_obligation(
        "F1.entry",
        FILE,
        Position { line: 4, column: 1 },
        "main",
        Status::Covered,
    )];
    points.push(SimpleObligation {
        reason: Some("accepted: unreachable by construction".into()),
        ..simple_obligation(
            "F1.X2",
            FILE,
            Position { line: 90, column: 5 },
            "return;",
            Status::Justified,
        )
    });
    with_summary(KernelCoverage {
        functions: None,
        calls: None,
        loops: None,
        boundaries: None,
        coupling: None,
        coupling_classes: Vec::new(),
        average_statement: None,
        configuration: "default".into(),
        statements: statement_obligations(FILE, &source, &[6, 7, 40]),
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
    let flag_names: Vec<String> =
        (1..=12).map(|flag_number| format!("flag_{flag_number:02}")).collect();
    let flag_names: Vec<&str> = flag_names.iter().map(String::as_str).collect();
    let false_vectors: Vec<String> = (0..12)
        .map(|flag_number| format!("{}F{}", "T".repeat(flag_number), "-".repeat(11 - flag_number)))
        .collect();
    let tests: &[&str] = &["TC-CONV-02"];
    let mut vectors: Vec<(&str, bool, &[&str])> = vec![("TTTTTTTTTTTT", true, tests)];
    vectors.extend(false_vectors.iter().map(|row| (row.as_str(), false, tests)));
    let pairs: Vec<_> = false_vectors
        .iter()
        .map(|row| Some(["TTTTTTTTTTTT", row.as_str()]))
        .map(|pair| (pair, pair))
        .collect();
    DecisionSample {
        number: 60,
        file,
        source,
        text: &twelve_flags(),
        conditions: &flag_names,
        context: DecisionContext::Initialiser,
        vectors: &vectors,
        pairs: &pairs,
        missing: &[],
        closing: &[],
    }
    .build()
}

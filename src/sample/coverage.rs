//! The coverage of the two kernels, with the texts that it is of.

use super::decision::{DecisionSample, simple};
use vkcert_model::coverage::{
    CriterionSummary, DecisionCoverage, KernelCoverage, SimpleObligation, Status,
};
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

pub(super) fn naive_coverage(engine: EngineName) -> KernelCoverage {
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
    source.push_str(&format!("    bool all_ok = {};\n}}\n", twelve()));
    source
}

fn twelve() -> String {
    (1..=12).map(|n| format!("flag_{n:02}")).collect::<Vec<_>>().join(" && ")
}

pub(super) fn large_coverage() -> KernelCoverage {
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

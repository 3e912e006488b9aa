//! Decisions from reports of llvm-cov as clang 19 writes them.

use super::*;
use vkcert_model::id::DecisionId;

const SHOWN: &str = "\
  |---> MC/DC Decision Region (2:5) to (2:13)
  |
  |  Number of Conditions: 2
  |     Condition C1 --> (2:5)
  |     Condition C2 --> (2:11)
  |
  |  Executed MC/DC Test Vectors:
  |
  |     C1, C2    Result
  |  1 { F,  -  = F      }
  |  2 { T,  F  = F      }
  |
  |  C1-Pair: not covered
  |  C2-Pair: not covered
";

fn program(text: &str, root: LineExtent, conditions: Vec<LineExtent>) -> CppProgram {
    let placed = PlacedDecision { id: DecisionId(1), whole: root, root, conditions };
    CppProgram { text: text.to_owned(), decisions: vec![placed] }
}

fn extent(start: u32, end: u32) -> LineExtent {
    LineExtent { line: 2, start, end }
}

#[test]
fn values_of_negated_conditions_are_those_of_the_leaf() {
    let made = program("\nif (!(a) && b)", extent(5, 14), vec![extent(7, 8), extent(13, 14)]);
    let json = r#"{"data":[{"files":[{"branches":[[2,5,2,9,1,1,0,0,6],[2,13,2,14,0,1,0,0,6]],
        "mcdc_records":[[2,5,2,14,0,5,[true,false]]]}]}]}"#;
    let text = SHOWN.replace("(2:13)", "(2:14)").replace("(2:11)", "(2:13)");
    let reports = CoverageReports { json: json.to_owned(), text };
    let coverage = ProgramCoverage::from_reports(&made, &reports, "").unwrap();
    let MeasuredDecision::Vectors { conditions, vectors } =
        &coverage.measured_decisions()[&DecisionId(1)]
    else {
        panic!()
    };
    assert_eq!(*conditions, [MeasuredCondition::Covered, MeasuredCondition::Uncovered]);
    assert_eq!(vectors.iter().map(String::as_str).collect::<Vec<_>>(), ["FF", "T-"]);
}

#[test]
fn a_branch_of_a_negated_condition_is_turned_around() {
    let made = program("\nif (!a)", extent(5, 7), vec![extent(6, 7)]);
    let json = r#"{"data":[{"files":[{"branches":[[2,5,2,7,3,1,0,0,4]],"mcdc_records":[]}]}]}"#;
    let reports = CoverageReports { json: json.to_owned(), text: String::new() };
    let coverage = ProgramCoverage::from_reports(&made, &reports, "").unwrap();
    assert_eq!(
        coverage.measured_decisions()[&DecisionId(1)],
        MeasuredDecision::Branch { true_count: 1, false_count: 3 }
    );
}

#[test]
fn a_branch_that_clang_folds_is_not_measured() {
    let made = program("\nif (ON)", extent(5, 7), vec![extent(5, 7)]);
    let json = r#"{"data":[{"files":[{"branches":[[2,5,2,7,0,0,0,0,4]],"mcdc_records":[]}]}]}"#;
    let text = "  |  Branch (2:5): [Folded - Ignored]\n".to_owned();
    let coverage =
        ProgramCoverage::from_reports(&made, &CoverageReports { json: json.to_owned(), text }, "")
            .unwrap();
    assert_eq!(
        coverage.measured_decisions()[&DecisionId(1)],
        MeasuredDecision::NotMeasured { reason: FOLDED.to_owned() }
    );
}

#[test]
fn what_clang_refuses_is_told_in_its_words() {
    let made = program("\nif (a && b)", extent(5, 11), vec![extent(5, 6), extent(10, 11)]);
    let json = r#"{"data":[{"files":[{"branches":[],"mcdc_records":[]}]}]}"#;
    let reports = CoverageReports { json: json.to_owned(), text: String::new() };
    let said = "/x/program.cpp:2:5: warning: unsupported MC/DC boolean expression; contains an operation with a \
                nested boolean expression. Expression will not be covered";
    let coverage = ProgramCoverage::from_reports(&made, &reports, said).unwrap();
    let MeasuredDecision::NotMeasured { reason } = &coverage.measured_decisions()[&DecisionId(1)]
    else {
        panic!()
    };
    assert_eq!(reason, "clang: contains an operation with a nested boolean expression");
    assert_eq!(ProgramCoverage::other_warnings(said), Vec::<String>::new());
}

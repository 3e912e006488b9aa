//! Operand values below the table of vectors of a decision.

use crate::document::{Block, Text};
use crate::facts;
use vkcert_model::coverage::DecisionCoverage;
use vkcert_model::evidence::KernelEvidence;

/// What each row compared at its witness, row by row; nothing where the evidence has no values.
pub(super) fn compared_list(kernel: &KernelEvidence, decision: &DecisionCoverage) -> Option<Block> {
    let numbered_rows = (1..).zip(&decision.vectors);
    let lines: Vec<Text> = numbered_rows
        .filter_map(|(row, vector)| {
            let operands = facts::compared_operands(kernel, decision, vector);
            let operand_texts = operands.iter().map(|operand| Text::code(operand.as_str()));
            (!operands.is_empty()).then(|| {
                Text::plain(format!("Compared in row {row} at its witness, first there: "))
                    .followed_by(Text::join(operand_texts, "; "))
                    .then_plain(".")
            })
        })
        .collect();
    (!lines.is_empty()).then_some(Block::List(lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::records::{DecisionSlot, NumberedVector};
    use vkcert_model::vector::Vector;
    use vkcert_sample as sample;

    #[test]
    fn values_stand_with_the_row_whose_witness_compared_them() {
        let mut kernel = sample::evidence().kernels.swap_remove(0);
        let decisions = kernel.coverage.decisions.clone();
        let decision = decisions.iter().find(|decision| decision.vectors.len() > 1).unwrap();
        assert_eq!(compared_list(&kernel, decision), None);
        let numbered = decision.vectors.iter().zip(0..).map(|(vector, sum)| NumberedVector {
            sum,
            vector: Vector { values: vector.values.clone(), outcome: vector.outcome },
        });
        kernel.layout.decisions = vec![DecisionSlot {
            decision: decision.id,
            base: 40,
            size: 9,
            weights: Vec::new(),
            vectors: numbered.collect(),
        }];
        let first_test = decision.vectors[1].tests[0];
        let records = kernel.records.iter_mut().find(|records| records.test == first_test);
        let records = records.expect("the first test of a vector has records");
        assert!(records.counted);
        records.records.operands.insert(41, vec!["a < b with a=1.5 b=2.0".to_owned()]);
        let Some(Block::List(lines)) = compared_list(&kernel, decision) else { panic!("a list") };
        let words: Vec<String> =
            lines.iter().map(|line| line.0.iter().map(|run| run.text.as_str()).collect()).collect();
        assert_eq!(
            words,
            ["Compared in row 2 at its witness, first there: a < b with a=1.5 b=2.0."]
        );
    }
}

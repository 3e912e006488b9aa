//! Products of cooperative matrices, element by element.
//!
//! Promises: integers of a product are as in a dot product (`dot_product`); floats are multiplied
//! and added in the precision of the result, from the first product on, the third matrix last.

use super::dot_product::{DotProduct, SumKind, extend_number, low_bits};
use vkcert_spirv::operation::sized::NumberFormat;
use vkcert_spirv::types::Signedness;

/// A product of an M by K matrix with a K by N one, plus an M by N one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixProduct {
    pub inner: usize,
    pub columns: usize,
    /// Of the three matrices.
    pub forms: [NumberFormat; 3],
    /// Of the three matrices and the result; of integers.
    pub signs: [Signedness; 4],
    pub sum: SumKind,
    pub result: NumberFormat,
}

impl MatrixProduct {
    /// An element from a row of the first matrix, a column of the second and the element of the
    /// third; and whether it is defined.
    pub(crate) fn result_element(
        self,
        row_value: impl Fn(usize) -> u64,
        column_value: impl Fn(usize) -> u64,
        c: u64,
    ) -> (u64, bool) {
        let result_width = self.result.width();
        if self.result.is_float() {
            let round_to_result = |value: f64| self.result.to_float(self.result.from_float(value));
            let product_at = |at: usize| {
                round_to_result(
                    self.forms[0].to_float(row_value(at))
                        * self.forms[1].to_float(column_value(at)),
                )
            };
            let sum = (1..self.inner)
                .fold(product_at(0), |sum, at| round_to_result(sum + product_at(at)));
            return (
                self.result.from_float(sum + round_to_result(self.forms[2].to_float(c))),
                true,
            );
        }
        let third_bits =
            low_bits(extend_number(c, self.forms[2].width(), self.signs[2]), result_width);
        let at = |index: usize| match index {
            index if index < self.inner => row_value(index),
            index if index < 2 * self.inner => column_value(index - self.inner),
            _ => third_bits,
        };
        let signs = [self.signs[0], self.signs[1], self.signs[3]];
        let components = [self.forms[0].width(), self.forms[1].width()];
        let dot = DotProduct { signs, sum: self.sum, components, packed: 1, result: result_width };
        match self.sum {
            SumKind::Accumulated => dot.result_value(2 * self.inner + 1, at),
            SumKind::Plain => (
                low_bits(
                    i128::from(dot.result_value(2 * self.inner, at).0) + i128::from(third_bits),
                    result_width,
                ),
                true,
            ),
        }
    }
}

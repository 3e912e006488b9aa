//! Matrices: determinant and inverse, by products or by pairs.
//!
//! Knows: an inverse of a singular matrix is undefined (GLSL.std.450). It is marked undefined and
//! is a finding only where it is used.

use super::number::{NumberList, compute_binary, compute_unary, define_numbers, push_relation};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::ir::{LaneInstruction, NumberRegisters, Reg};
use crate::settings::variation::Expansion;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::{Binary, Compare, Unary};
use vkcert_spirv::operation::sized::{NumberFormat, Relation, Width};

/// A square matrix by columns, transposed or reversed as an expansion needs it. The determinant is
/// the same, and the inverse is transposed or reversed in the same way.
pub(super) struct SquareMatrix<'a> {
    form: NumberFormat,
    parts: &'a [NumberRegisters],
    size: usize,
    expansion: Expansion,
}

impl SquareMatrix<'_> {
    fn from_numbers(
        numbers: &NumberList,
        expansion: Expansion,
    ) -> Result<SquareMatrix<'_>, Unsupported> {
        let matrix_size =
            (2..=4).find(|matrix_size| matrix_size * matrix_size == numbers.parts.len());
        let matrix_size = matrix_size
            .ok_or_else(|| unsupported("a determinant of a matrix that is not square"))?;
        Ok(SquareMatrix {
            form: numbers.number_format,
            parts: &numbers.parts,
            size: matrix_size,
            expansion,
        })
    }

    /// Index of an element in the matrix itself.
    fn element_index(&self, column: usize, row: usize) -> usize {
        let last_index = self.size - 1;
        let (column, row) = match self.expansion {
            Expansion::Columns | Expansion::Pairs => (column, row),
            Expansion::LastColumns => (last_index - column, last_index - row),
            Expansion::Rows | Expansion::RowPairs => (row, column),
            Expansion::LastRows => (last_index - row, last_index - column),
        };
        column * self.size + row
    }

    fn element_at(&self, column: usize, row: usize) -> NumberRegisters {
        self.parts[self.element_index(column, row)]
    }

    fn determinant_value(&self, decoder: &mut Decoder<'_>) -> Result<NumberRegisters, Unsupported> {
        let all_indices: Vec<usize> = (0..self.size).collect();
        match (self.expansion, self.size) {
            (Expansion::Pairs | Expansion::RowPairs, 3) => self.sum_of_products(decoder),
            (Expansion::Pairs | Expansion::RowPairs, 4) => self.sum_of_minor_pairs(decoder),
            (
                Expansion::Columns | Expansion::LastColumns | Expansion::Rows | Expansion::LastRows,
                _,
            )
            | (Expansion::Pairs | Expansion::RowPairs, _) => {
                self.minor_determinant(decoder, &all_indices, &all_indices)
            }
        }
    }

    /// The determinant of some columns and as many rows, by the first of these columns.
    fn minor_determinant(
        &self,
        decoder: &mut Decoder<'_>,
        columns: &[usize],
        rows: &[usize],
    ) -> Result<NumberRegisters, Unsupported> {
        self.expand_by_column(decoder, columns, rows, [Binary::FAdd, Binary::FSub])
    }

    /// The same sum of products, whose terms are added in turn by these operations.
    fn expand_by_column(
        &self,
        decoder: &mut Decoder<'_>,
        columns: &[usize],
        rows: &[usize],
        signs: [Binary; 2],
    ) -> Result<NumberRegisters, Unsupported> {
        let number_format = self.form;
        let ([first_column, other_columns @ ..], [_, ..]) = (columns, rows) else {
            return Err(unsupported("a determinant of nothing"));
        };
        let mut terms = Vec::new();
        for (row_index, row) in rows.iter().enumerate() {
            let element = self.element_at(*first_column, *row);
            let term = if other_columns.is_empty() {
                element
            } else {
                let other_rows: Vec<usize> =
                    rows.iter().copied().filter(|other_row| other_row != row).collect();
                let minor = self.expand_by_column(decoder, other_columns, &other_rows, signs)?;
                compute_binary(decoder, Binary::FMul, number_format, element, minor)?
            };
            terms.push((TermSign::of_position(row_index), term));
        }
        self.sum_by_operators(decoder, &terms, signs)
    }

    /// Three rows: six products of three elements.
    fn sum_of_products(&self, decoder: &mut Decoder<'_>) -> Result<NumberRegisters, Unsupported> {
        let signed_orders = [
            (TermSign::Plus, [0, 1, 2]),
            (TermSign::Plus, [1, 2, 0]),
            (TermSign::Plus, [2, 0, 1]),
            (TermSign::Minus, [2, 1, 0]),
            (TermSign::Minus, [1, 0, 2]),
            (TermSign::Minus, [0, 2, 1]),
        ];
        let mut terms = Vec::new();
        for (sign, [first, second, third]) in signed_orders {
            let partial_product = compute_binary(
                decoder,
                Binary::FMul,
                self.form,
                self.element_at(0, first),
                self.element_at(1, second),
            )?;
            terms.push((
                sign,
                compute_binary(
                    decoder,
                    Binary::FMul,
                    self.form,
                    partial_product,
                    self.element_at(2, third),
                )?,
            ));
        }
        self.signed_sum(decoder, &terms)
    }

    /// Four rows: minors of the first two columns with those of the other two.
    fn sum_of_minor_pairs(
        &self,
        decoder: &mut Decoder<'_>,
    ) -> Result<NumberRegisters, Unsupported> {
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let mut terms = Vec::new();
        for (pair_index, rows) in pairs.iter().enumerate() {
            let other_rows = pairs[pairs.len() - 1 - pair_index];
            let left_minor = self.minor_determinant(decoder, &[0, 1], rows)?;
            let right_minor = self.minor_determinant(decoder, &[2, 3], &other_rows)?;
            let product =
                compute_binary(decoder, Binary::FMul, self.form, left_minor, right_minor)?;
            terms.push((TermSign::of_position(rows[0] + rows[1] + 1), product));
        }
        self.signed_sum(decoder, &terms)
    }

    fn signed_sum(
        &self,
        decoder: &mut Decoder<'_>,
        terms: &[(TermSign, NumberRegisters)],
    ) -> Result<NumberRegisters, Unsupported> {
        self.sum_by_operators(decoder, terms, [Binary::FAdd, Binary::FSub])
    }

    /// Terms with the operations that stand for plus and minus.
    fn sum_by_operators(
        &self,
        decoder: &mut Decoder<'_>,
        terms: &[(TermSign, NumberRegisters)],
        [plus, minus]: [Binary; 2],
    ) -> Result<NumberRegisters, Unsupported> {
        let mut sum: Option<NumberRegisters> = None;
        for (sign, term) in terms {
            let op = match sign {
                TermSign::Plus => plus,
                TermSign::Minus => minus,
            };
            sum = Some(match sum {
                None => *term,
                Some(sum) => compute_binary(decoder, op, self.form, sum, *term)?,
            });
        }
        sum.ok_or_else(|| unsupported("a determinant of nothing"))
    }
}

/// Of a term; the first of a sum has a plus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermSign {
    Plus,
    Minus,
}

impl TermSign {
    fn of_position(place: usize) -> Self {
        if place.is_multiple_of(2) { TermSign::Plus } else { TermSign::Minus }
    }
}

pub(super) fn matrix_determinant(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let matrix = SquareMatrix::from_numbers(&operands[0], decoder.expansion)?;
    let result = matrix.determinant_value(decoder)?;
    define_numbers(decoder, instruction, &[result]);
    Ok(())
}

/// The permanent of the absolute values: the sum of the determinant's products without signs.
pub(super) fn matrix_permanent(
    decoder: &mut Decoder<'_>,
    matrix: &SquareMatrix<'_>,
) -> Result<NumberRegisters, Unsupported> {
    let (number_format, all_indices) = (matrix.form, (0..matrix.size).collect::<Vec<_>>());
    let absolute_values =
        matrix.parts.iter().map(|part| compute_unary(decoder, Unary::FAbs, number_format, *part));
    let absolute_values = absolute_values.collect::<Result<Vec<_>, _>>()?;
    SquareMatrix { parts: &absolute_values, ..*matrix }.expand_by_column(
        decoder,
        &all_indices,
        &all_indices,
        [Binary::FAdd; 2],
    )
}

/// Whether a matrix may be singular: its determinant does not exceed its own rounding errors.
pub(super) fn is_singular(
    decoder: &mut Decoder<'_>,
    matrix: &SquareMatrix<'_>,
    determinant: NumberRegisters,
) -> Result<Reg, Unsupported> {
    let number_format = matrix.form;
    let significand_bits = match number_format {
        NumberFormat::Float(Width::W16) => 11,
        NumberFormat::Brain => 8,
        NumberFormat::Float(Width::W64) => 53,
        NumberFormat::Float(Width::W8 | Width::W32) | NumberFormat::Integer(_) => 24,
    };
    // Each product of the determinant is rounded so often, and each of their sums.
    let roundings = 2.0 * matrix.size as f64;
    let relative_error = decoder.constant_number(
        number_format,
        number_format.from_float(roundings * 2f64.powi(-significand_bits)),
    );
    let permanent_value = matrix_permanent(decoder, matrix)?;
    let error_bound =
        compute_binary(decoder, Binary::FMul, number_format, permanent_value, relative_error)?;
    let determinant_size = compute_unary(decoder, Unary::FAbs, number_format, determinant)?;
    Ok(push_relation(
        decoder,
        Relation::Compare(Compare::FOrdLessThanEqual),
        number_format,
        &[determinant_size, error_bound],
    ))
}

/// A number that is undefined where a condition holds.
pub(super) fn undefined_where(
    decoder: &mut Decoder<'_>,
    number: NumberRegisters,
    condition: Reg,
    reason: &'static str,
) -> NumberRegisters {
    NumberRegisters {
        low: push_undefined_where(decoder, number.low, condition, reason),
        high: number.high.map(|high| push_undefined_where(decoder, high, condition, reason)),
    }
}

fn push_undefined_where(
    decoder: &mut Decoder<'_>,
    value: Reg,
    condition: Reg,
    reason: &'static str,
) -> Reg {
    let to = decoder.new_word();
    decoder.push_instruction(LaneInstruction::UndefinedWhere { to, value, condition, why: reason });
    to
}

/// The adjugate divided by the determinant.
pub(super) fn matrix_inverse(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let matrix = SquareMatrix::from_numbers(&operands[0], decoder.expansion)?;
    let (number_format, matrix_size) = (matrix.form, matrix.size);
    let all_indices: Vec<usize> = (0..matrix_size).collect();
    let determinant = matrix.determinant_value(decoder)?;
    let singular_mask = is_singular(decoder, &matrix, determinant)?;
    let one_number = decoder.constant_number(number_format, number_format.from_float(1.0));
    let (op, factor) = match matrix.expansion {
        Expansion::Columns | Expansion::LastColumns | Expansion::RowPairs => {
            (Binary::FDiv, determinant)
        }
        Expansion::Rows | Expansion::LastRows | Expansion::Pairs => (
            Binary::FMul,
            compute_binary(decoder, Binary::FDiv, number_format, one_number, determinant)?,
        ),
    };
    let indices_without = |index: usize| {
        all_indices.iter().copied().filter(|other_index| *other_index != index).collect::<Vec<_>>()
    };
    let mut parts = vec![determinant; matrix_size * matrix_size];
    for column in 0..matrix_size {
        for row in 0..matrix_size {
            // Element (row, column) of the inverse is the cofactor of (column, row).
            let minor = matrix.minor_determinant(
                decoder,
                &indices_without(row),
                &indices_without(column),
            )?;
            let signed_minor = match TermSign::of_position(column + row) {
                TermSign::Plus => minor,
                TermSign::Minus => compute_unary(decoder, Unary::FNegate, number_format, minor)?,
            };
            let element = compute_binary(decoder, op, number_format, signed_minor, factor)?;
            let why = "inverse of a matrix that is singular, or nearly so";
            parts[matrix.element_index(column, row)] =
                undefined_where(decoder, element, singular_mask, why);
        }
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

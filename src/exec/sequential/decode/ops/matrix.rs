//! Matrices: determinant and inverse, by products or by pairs.
//!
//! Knows: an inverse of a singular matrix is undefined (GLSL.std.450), which is doubted and not
//! told where it may still be meant.

use super::number::{Numbers, compute1, compute2, define, relate};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::ir::{LaneInstruction, NumberRegisters, Reg};
use crate::settings::variation::Expansion;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::{Binary, Compare, Unary};
use vkcert_spirv::operation::sized::{NumberFormat, Relation, Width};

/// A square matrix by columns, as an expansion looks at it: turned, or from its other end. Its
/// determinant stays the same, and its inverse is the inverse looked at in the same way.
pub(super) struct Square<'a> {
    form: NumberFormat,
    parts: &'a [NumberRegisters],
    size: usize,
    expansion: Expansion,
}

impl Square<'_> {
    fn of(numbers: &Numbers, expansion: Expansion) -> Result<Square<'_>, Unsupported> {
        let size = (2..=4).find(|size| size * size == numbers.parts.len());
        let size =
            size.ok_or_else(|| unsupported("a determinant of a matrix that is not square"))?;
        Ok(Square { form: numbers.form, parts: &numbers.parts, size, expansion })
    }

    /// Where an element stands in the matrix itself.
    fn place(&self, column: usize, row: usize) -> usize {
        let last = self.size - 1;
        let (column, row) = match self.expansion {
            Expansion::Columns | Expansion::Pairs => (column, row),
            Expansion::LastColumns => (last - column, last - row),
            Expansion::Rows | Expansion::RowPairs => (row, column),
            Expansion::LastRows => (last - row, last - column),
        };
        column * self.size + row
    }

    fn at(&self, column: usize, row: usize) -> NumberRegisters {
        self.parts[self.place(column, row)]
    }

    fn determinant(&self, decoder: &mut Decoder<'_>) -> Result<NumberRegisters, Unsupported> {
        let all: Vec<usize> = (0..self.size).collect();
        match (self.expansion, self.size) {
            (Expansion::Pairs | Expansion::RowPairs, 3) => self.by_products(decoder),
            (Expansion::Pairs | Expansion::RowPairs, 4) => self.by_pairs(decoder),
            (
                Expansion::Columns | Expansion::LastColumns | Expansion::Rows | Expansion::LastRows,
                _,
            )
            | (Expansion::Pairs | Expansion::RowPairs, _) => self.minor(decoder, &all, &all),
        }
    }

    /// The determinant of some columns and as many rows, by the first of these columns.
    fn minor(
        &self,
        decoder: &mut Decoder<'_>,
        columns: &[usize],
        rows: &[usize],
    ) -> Result<NumberRegisters, Unsupported> {
        self.expand(decoder, columns, rows, [Binary::FAdd, Binary::FSub])
    }

    /// The same sum of products, whose terms are added in turn by these operations.
    fn expand(
        &self,
        decoder: &mut Decoder<'_>,
        columns: &[usize],
        rows: &[usize],
        signs: [Binary; 2],
    ) -> Result<NumberRegisters, Unsupported> {
        let form = self.form;
        let ([first, others @ ..], [_, ..]) = (columns, rows) else {
            return Err(unsupported("a determinant of nothing"));
        };
        let mut terms = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let element = self.at(*first, *row);
            let term = if others.is_empty() {
                element
            } else {
                let rest: Vec<usize> = rows.iter().copied().filter(|other| other != row).collect();
                let minor = self.expand(decoder, others, &rest, signs)?;
                compute2(decoder, Binary::FMul, form, element, minor)?
            };
            terms.push((Sign::of(index), term));
        }
        self.sum_by(decoder, &terms, signs)
    }

    /// Three rows: six products of three elements.
    fn by_products(&self, decoder: &mut Decoder<'_>) -> Result<NumberRegisters, Unsupported> {
        let orders = [
            (Sign::Plus, [0, 1, 2]),
            (Sign::Plus, [1, 2, 0]),
            (Sign::Plus, [2, 0, 1]),
            (Sign::Minus, [2, 1, 0]),
            (Sign::Minus, [1, 0, 2]),
            (Sign::Minus, [0, 2, 1]),
        ];
        let mut terms = Vec::new();
        for (sign, [first, second, third]) in orders {
            let pair =
                compute2(decoder, Binary::FMul, self.form, self.at(0, first), self.at(1, second))?;
            terms
                .push((sign, compute2(decoder, Binary::FMul, self.form, pair, self.at(2, third))?));
        }
        self.sum(decoder, &terms)
    }

    /// Four rows: minors of the first two columns with those of the other two.
    fn by_pairs(&self, decoder: &mut Decoder<'_>) -> Result<NumberRegisters, Unsupported> {
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let mut terms = Vec::new();
        for (index, rows) in pairs.iter().enumerate() {
            let others = pairs[pairs.len() - 1 - index];
            let left = self.minor(decoder, &[0, 1], rows)?;
            let right = self.minor(decoder, &[2, 3], &others)?;
            let product = compute2(decoder, Binary::FMul, self.form, left, right)?;
            terms.push((Sign::of(rows[0] + rows[1] + 1), product));
        }
        self.sum(decoder, &terms)
    }

    fn sum(
        &self,
        decoder: &mut Decoder<'_>,
        terms: &[(Sign, NumberRegisters)],
    ) -> Result<NumberRegisters, Unsupported> {
        self.sum_by(decoder, terms, [Binary::FAdd, Binary::FSub])
    }

    /// Terms with the operations that stand for plus and minus.
    fn sum_by(
        &self,
        decoder: &mut Decoder<'_>,
        terms: &[(Sign, NumberRegisters)],
        [plus, minus]: [Binary; 2],
    ) -> Result<NumberRegisters, Unsupported> {
        let mut sum: Option<NumberRegisters> = None;
        for (sign, term) in terms {
            let op = match sign {
                Sign::Plus => plus,
                Sign::Minus => minus,
            };
            sum = Some(match sum {
                None => *term,
                Some(sum) => compute2(decoder, op, self.form, sum, *term)?,
            });
        }
        sum.ok_or_else(|| unsupported("a determinant of nothing"))
    }
}

/// Of a term; the first of a sum has a plus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
}

impl Sign {
    fn of(place: usize) -> Self {
        if place.is_multiple_of(2) { Sign::Plus } else { Sign::Minus }
    }
}

pub(super) fn determinant(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let matrix = Square::of(&operands[0], decoder.expansion)?;
    let result = matrix.determinant(decoder)?;
    define(decoder, instruction, &[result]);
    Ok(())
}

/// A square matrix whose elements are all positive: the determinant's products, summed up.
pub(super) fn permanent(
    decoder: &mut Decoder<'_>,
    matrix: &Square<'_>,
) -> Result<NumberRegisters, Unsupported> {
    let (form, all) = (matrix.form, (0..matrix.size).collect::<Vec<_>>());
    let absolute = matrix.parts.iter().map(|part| compute1(decoder, Unary::FAbs, form, *part));
    let absolute = absolute.collect::<Result<Vec<_>, _>>()?;
    Square { parts: &absolute, ..*matrix }.expand(decoder, &all, &all, [Binary::FAdd; 2])
}

/// Whether a matrix cannot be told from a singular one: the determinant is not above its own
/// rounding errors.
pub(super) fn is_singular(
    decoder: &mut Decoder<'_>,
    matrix: &Square<'_>,
    determinant: NumberRegisters,
) -> Result<Reg, Unsupported> {
    let form = matrix.form;
    let digits = match form {
        NumberFormat::Float(Width::W16) => 11,
        NumberFormat::Brain => 8,
        NumberFormat::Float(Width::W64) => 53,
        NumberFormat::Float(Width::W8 | Width::W32) | NumberFormat::Integer(_) => 24,
    };
    // Each product of the determinant is rounded so often, and each of their sums.
    let roundings = 2.0 * matrix.size as f64;
    let error = decoder.constant_number(form, form.from_float(roundings * 2f64.powi(-digits)));
    let products = permanent(decoder, matrix)?;
    let bound = compute2(decoder, Binary::FMul, form, products, error)?;
    let size = compute1(decoder, Unary::FAbs, form, determinant)?;
    Ok(relate(decoder, Relation::Compare(Compare::FOrdLessThanEqual), form, &[size, bound]))
}

/// A number that is undefined where a condition holds.
pub(super) fn doubted(
    decoder: &mut Decoder<'_>,
    number: NumberRegisters,
    condition: Reg,
    why: &'static str,
) -> NumberRegisters {
    let mut doubt = |value: Reg| {
        let to = decoder.word();
        decoder.push(LaneInstruction::UndefinedWhere { to, value, condition, why });
        to
    };
    NumberRegisters { low: doubt(number.low), high: number.high.map(doubt) }
}

/// The adjugate divided by the determinant.
pub(super) fn inverse(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let matrix = Square::of(&operands[0], decoder.expansion)?;
    let (form, size) = (matrix.form, matrix.size);
    let all: Vec<usize> = (0..size).collect();
    let determinant = matrix.determinant(decoder)?;
    let singular = is_singular(decoder, &matrix, determinant)?;
    let one = decoder.constant_number(form, form.from_float(1.0));
    let (op, factor) = match matrix.expansion {
        Expansion::Columns | Expansion::LastColumns | Expansion::RowPairs => {
            (Binary::FDiv, determinant)
        }
        Expansion::Rows | Expansion::LastRows | Expansion::Pairs => {
            (Binary::FMul, compute2(decoder, Binary::FDiv, form, one, determinant)?)
        }
    };
    let without =
        |index: usize| all.iter().copied().filter(|other| *other != index).collect::<Vec<_>>();
    let mut parts = vec![determinant; size * size];
    for column in 0..size {
        for row in 0..size {
            // Element (row, column) of the inverse is the cofactor of (column, row).
            let minor = matrix.minor(decoder, &without(row), &without(column))?;
            let signed = match Sign::of(column + row) {
                Sign::Plus => minor,
                Sign::Minus => compute1(decoder, Unary::FNegate, form, minor)?,
            };
            let element = compute2(decoder, op, form, signed, factor)?;
            let why = "inverse of a matrix that is singular, or nearly so";
            parts[matrix.place(column, row)] = doubted(decoder, element, singular, why);
        }
    }
    define(decoder, instruction, &parts);
    Ok(())
}

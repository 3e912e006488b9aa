//! Expressions of floats and matrices.
//!
//! Floats that a variable can hold are zero or between a least and a greatest magnitude (`tame`),
//! so that neither denormals nor infinities come to operations; what the specification allows to
//! round otherwise has exact operands.

use super::types::{FLOATS, INTEGERS, Scalar, Type, float_literal, integer_literal};
use super::writer::{Access, Writer};
use Scalar::{F16, F32, F64, I32, U16, U32, U64};

impl Writer {
    /// Whole numbers from -3 to 4: sums and products of a few are exact.
    pub(crate) fn small(&mut self, scalar: Scalar, n: u32) -> String {
        let a = self.integer(I32, n, 0);
        let name = scalar.vector(n);
        format!("({name}({a} & {}) - {name}(3))", Self::of(I32, n, 7))
    }

    fn float_leaf(&mut self, scalar: Scalar, n: u32) -> String {
        if !self.dice.one_in(4)
            && let Some(place) = self.place(&Type::Numbers(scalar, n), Access::Read)
        {
            return place;
        }
        if self.dice.one_in(3) {
            return self.small(scalar, n);
        }
        let literal = float_literal(scalar, (self.dice.below(97) as f64 - 48.0) * 0.25);
        let literal = literal.replace("-0.0", "0.0");
        if n == 1 { format!("({literal})") } else { format!("{}({literal})", scalar.vector(n)) }
    }

    pub(crate) fn float(&mut self, scalar: Scalar, n: u32, depth: u32) -> String {
        if depth == 0 {
            return self.float_leaf(scalar, n);
        }
        let less = depth - 1;
        let text = match self.dice.below(24) {
            choice @ 0..=5 => {
                let (a, b) = (self.float(scalar, n, less), self.float(scalar, n, less));
                format!("{a} {} {b}", ["+", "-", "*"][choice as usize / 2])
            }
            6 => {
                let divisor = float_literal(scalar, self.dice.pick(&[0.25, 0.5, 2.0, -4.0, 8.0]));
                format!("{} / {}({divisor})", self.float(scalar, n, less), scalar.vector(n))
            }
            choice @ 7..=13 => {
                let a = self.float(scalar, n, less);
                format!(
                    "{}({a})",
                    ["floor", "ceil", "trunc", "roundEven", "abs", "sign", "-"]
                        [choice as usize - 7]
                )
            }
            choice @ 14..=15 => {
                let (a, b) = (self.float(scalar, n, less), self.float(scalar, n, less));
                format!("{}({a}, {b})", ["min", "max"][choice as usize - 14])
            }
            16 => {
                let (a, name) = (self.float(scalar, n, less), scalar.vector(n));
                format!("clamp({a}, {name}(-2.5), {name}({}))", self.dice.below(50))
            }
            17 => {
                let (a, b) = (self.float(scalar, n, less), self.float(scalar, n, less));
                format!("mix({a}, {b}, {})", self.boolean(n, less))
            }
            18 => {
                let condition = self.boolean(1, less);
                format!(
                    "{condition} ? {} : {}",
                    self.float(scalar, n, less),
                    self.float(scalar, n, less)
                )
            }
            19 | 20 => self.float_of(scalar, n, less),
            21 => return self.swizzled(scalar, n, less),
            22 => match self.call(&Type::Numbers(scalar, n), depth) {
                Some(call) => return call,
                None => self.products(scalar, n),
            },
            _ => self.products(scalar, n),
        };
        self.tame(&Type::Numbers(scalar, n), &text)
    }

    /// Sums of products, of operands for which every order and fusion is exact.
    fn products(&mut self, scalar: Scalar, n: u32) -> String {
        let (a, b) = (self.small(scalar, n), self.small(scalar, n));
        match self.dice.below(6) {
            0 => format!("fma({a}, {b}, {})", self.small(scalar, n)),
            1 if n == 1 => format!("dot({}, {})", self.small(scalar, 3), self.small(scalar, 3)),
            2 if n == 3 => format!("cross({a}, {b})"),
            3 if n > 1 => {
                let matrix = self.small_matrix(scalar, 2, n);
                format!("{matrix} * {}", self.small(scalar, 2))
            }
            4 if n > 1 => {
                let matrix = self.small_matrix(scalar, n, 3);
                format!("{} * {matrix}", self.small(scalar, 3))
            }
            5 if n == 1 && scalar != F16 => {
                format!("determinant({})", self.small_matrix(scalar, 2, 2))
            }
            _ => format!("step({a}, {b})"),
        }
    }

    fn small_matrix(&mut self, scalar: Scalar, columns: u32, rows: u32) -> String {
        let values: Vec<String> = (0..columns).map(|_| self.small(scalar, rows)).collect();
        format!("{}({})", Type::Matrix(scalar, columns, rows).name(), values.join(", "))
    }

    fn float_of(&mut self, scalar: Scalar, n: u32, depth: u32) -> String {
        let name = scalar.vector(n);
        match self.dice.below(5) {
            0 => format!("{name}({})", self.boolean(n, depth)),
            1 => {
                let from = self.dice.pick(&FLOATS);
                let a = self.float(from, n, depth);
                if scalar == F16 && from != F16 {
                    let limit = |value: f64| float_literal(from, value);
                    format!("{name}(roundEven(clamp({a}, {}, {})))", limit(-99.0), limit(99.0))
                } else {
                    format!("{name}({a})")
                }
            }
            2 => {
                let bits = [
                    (F16, U16, "uint16BitsToFloat16"),
                    (F32, U32, "uintBitsToFloat"),
                    (F64, U64, "uint64BitsToDouble"),
                ];
                let (_, of, function) =
                    bits.into_iter().find(|(float, ..)| *float == scalar).expect("a float");
                let vector = of.vector(n);
                let (keep, add) = (0xBFFF_u64 << (of.bits() - 16), 0x2000_u64 << (of.bits() - 16));
                let rest = (1_u64 << (of.bits() - 16)) - 1;
                let literal = |bits: u64| format!("{vector}({})", integer_literal(of, bits));
                let a = self.integer(of, n, depth);
                format!("{function}(({a} & {}) | {})", literal(keep | rest), literal(add))
            }
            3 if scalar == F32 && n == 2 => {
                format!(
                    "unpackHalf2x16(({} & 0xBFFFBFFFu) | 0x20002000u)",
                    self.integer(U32, 1, depth)
                )
            }
            _ => {
                let from = self.dice.pick(&INTEGERS);
                let a = self.integer(from, n, depth);
                let most = match scalar {
                    F16 => 7,
                    F32 => 20,
                    _ => 29,
                };
                match from.bits().checked_sub(most) {
                    Some(shift) if shift > 0 => {
                        format!("{name}({a} >> {})", Self::of(from, n, u64::from(shift)))
                    }
                    _ => format!("{name}({a})"),
                }
            }
        }
    }

    pub(crate) fn matrix(&mut self, scalar: Scalar, columns: u32, rows: u32, depth: u32) -> String {
        let ty = Type::Matrix(scalar, columns, rows);
        if (depth == 0 || self.dice.one_in(3))
            && let Some(place) = self.place(&ty, Access::Read)
        {
            return place;
        }
        if depth == 0 || self.dice.one_in(3) {
            let values: Vec<String> = (0..columns).map(|_| self.float(scalar, rows, 0)).collect();
            return format!("{}({})", ty.name(), values.join(", "));
        }
        let less = depth - 1;
        let a = self.matrix(scalar, columns, rows, less);
        let text = match self.dice.below(7) {
            0 => format!("{a} + {}", self.matrix(scalar, columns, rows, less)),
            1 => format!("{a} - {}", self.matrix(scalar, columns, rows, less)),
            2 => format!("matrixCompMult({a}, {})", self.matrix(scalar, columns, rows, less)),
            3 => format!("transpose({})", self.matrix(scalar, rows, columns, less)),
            4 => format!("{a} * {}", self.float(scalar, 1, less)),
            5 => format!(
                "outerProduct({}, {})",
                self.small(scalar, rows),
                self.small(scalar, columns)
            ),
            _ => {
                let left = self.small_matrix(scalar, 2, rows);
                format!("{left} * {}", self.small_matrix(scalar, columns, 2))
            }
        };
        self.tame(&ty, &text)
    }
}

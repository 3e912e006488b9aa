//! Atomic operations: what each leaves in memory, and how accesses touch it.

use vkcert_spirv::operation::operator::Binary;
use vkcert_spirv::operation::sized::{NumberFormat, Operation, SizedOperator};

/// An atomic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomic {
    Load,
    Store,
    Exchange,
    CompareExchange,
    Increment,
    Decrement,
    Add,
    Sub,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    FAdd,
    FMin,
    FMax,
}

/// How an atomic touches memory, for race detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
}

impl Touch {
    pub fn name(self) -> &'static str {
        match self {
            Touch::Read => "read",
            Touch::Write => "write",
            Touch::AtomicRead => "atomic read",
            Touch::AtomicWrite => "atomic write",
        }
    }
}

impl Atomic {
    /// The new value from the old one, the operand and the comparator, all as bits; none: memory is
    /// left as it is.
    pub fn apply(self, form: NumberFormat, old: u64, value: u64, comparator: u64) -> Option<u64> {
        let quick =
            if form == NumberFormat::WORD { self.on_words(old as u32, value as u32) } else { None };
        match quick {
            Some(new) => Some(u64::from(new)),
            None => self.on_numbers(form, old, value, comparator),
        }
    }

    /// The new value of an integer of 32 bits; none for operations that are not worth a way of
    /// their own.
    #[inline]
    fn on_words(self, old: u32, value: u32) -> Option<u32> {
        match self {
            Atomic::Increment => Some(old.wrapping_add(1)),
            Atomic::Decrement => Some(old.wrapping_sub(1)),
            Atomic::Add => Some(old.wrapping_add(value)),
            Atomic::Sub => Some(old.wrapping_sub(value)),
            Atomic::SMin => Some((old as i32).min(value as i32) as u32),
            Atomic::UMin => Some(old.min(value)),
            Atomic::SMax => Some((old as i32).max(value as i32) as u32),
            Atomic::UMax => Some(old.max(value)),
            Atomic::And => Some(old & value),
            Atomic::Or => Some(old | value),
            Atomic::Xor => Some(old ^ value),
            Atomic::Load
            | Atomic::Store
            | Atomic::Exchange
            | Atomic::CompareExchange
            | Atomic::FAdd
            | Atomic::FMin
            | Atomic::FMax => None,
        }
    }

    fn on_numbers(self, form: NumberFormat, old: u64, value: u64, comparator: u64) -> Option<u64> {
        let compute = |op: Binary| {
            Operation::new(SizedOperator::Binary(op), form, form).result_bits(old, value, 0)
        };
        match self {
            Atomic::Load => None,
            Atomic::Store | Atomic::Exchange => Some(value),
            Atomic::CompareExchange => (old == comparator).then_some(value),
            Atomic::Increment => Operation::new(SizedOperator::Binary(Binary::IAdd), form, form)
                .result_bits(old, 1, 0),
            Atomic::Decrement => Operation::new(SizedOperator::Binary(Binary::ISub), form, form)
                .result_bits(old, 1, 0),
            Atomic::Add => compute(Binary::IAdd),
            Atomic::Sub => compute(Binary::ISub),
            Atomic::SMin => compute(Binary::SMin),
            Atomic::UMin => compute(Binary::UMin),
            Atomic::SMax => compute(Binary::SMax),
            Atomic::UMax => compute(Binary::UMax),
            Atomic::And => compute(Binary::BitwiseAnd),
            Atomic::Or => compute(Binary::BitwiseOr),
            Atomic::Xor => compute(Binary::BitwiseXor),
            Atomic::FAdd => compute(Binary::FAdd),
            Atomic::FMin => compute(Binary::NMin),
            Atomic::FMax => compute(Binary::NMax),
        }
    }

    pub fn touch(self) -> Touch {
        match self {
            Atomic::Load => Touch::AtomicRead,
            _ => Touch::AtomicWrite,
        }
    }

    /// Whether the old value is the result and nothing else: an undefined one is used where the
    /// result is.
    pub fn gives_what_was_there(self) -> bool {
        matches!(self, Atomic::Load | Atomic::Exchange)
    }

    /// Whether the old value matters: an undefined one is then read.
    pub fn reads(self) -> bool {
        self != Atomic::Store
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomics_on_words_compute_what_those_on_numbers_do() {
        use Atomic::{Add, And, Decrement, Increment, Or, SMax, SMin, Sub, UMax, UMin, Xor};
        let form = NumberFormat::WORD;
        let words = [0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, u32::MAX, 0x1234_5678];
        for op in [Increment, Decrement, Add, Sub, SMin, UMin, SMax, UMax, And, Or, Xor] {
            for old in words {
                for value in words {
                    let quick = op.on_words(old, value).map(u64::from);
                    assert_eq!(
                        quick,
                        op.on_numbers(form, old.into(), value.into(), 0),
                        "{op:?} {old} {value}"
                    );
                }
            }
        }
    }
}

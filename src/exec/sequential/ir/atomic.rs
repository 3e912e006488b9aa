//! Atomic operations: what each leaves in memory, and how accesses touch it.

pub(crate) use vkcert_model::finding_details::AccessKind;
use vkcert_spirv::operation::operator::Binary;
use vkcert_spirv::operation::sized::{NumberFormat, Operation, SizedOperator};

/// An atomic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomicOperation {
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

impl AtomicOperation {
    /// The new value from the old one, the operand and the comparator, all as bits; none: memory is
    /// left as it is.
    pub fn apply(self, form: NumberFormat, old: u64, value: u64, comparator: u64) -> Option<u64> {
        let quick = if form == NumberFormat::WORD {
            self.apply_to_words(old as u32, value as u32)
        } else {
            None
        };
        match quick {
            Some(new) => Some(u64::from(new)),
            None => self.apply_to_numbers(form, old, value, comparator),
        }
    }

    /// The new value of an integer of 32 bits; none for operations that are not worth a way of
    /// their own.
    #[inline]
    fn apply_to_words(self, old: u32, value: u32) -> Option<u32> {
        match self {
            AtomicOperation::Increment => Some(old.wrapping_add(1)),
            AtomicOperation::Decrement => Some(old.wrapping_sub(1)),
            AtomicOperation::Add => Some(old.wrapping_add(value)),
            AtomicOperation::Sub => Some(old.wrapping_sub(value)),
            AtomicOperation::SMin => Some((old as i32).min(value as i32) as u32),
            AtomicOperation::UMin => Some(old.min(value)),
            AtomicOperation::SMax => Some((old as i32).max(value as i32) as u32),
            AtomicOperation::UMax => Some(old.max(value)),
            AtomicOperation::And => Some(old & value),
            AtomicOperation::Or => Some(old | value),
            AtomicOperation::Xor => Some(old ^ value),
            AtomicOperation::Load
            | AtomicOperation::Store
            | AtomicOperation::Exchange
            | AtomicOperation::CompareExchange
            | AtomicOperation::FAdd
            | AtomicOperation::FMin
            | AtomicOperation::FMax => None,
        }
    }

    fn apply_to_numbers(
        self,
        form: NumberFormat,
        old: u64,
        value: u64,
        comparator: u64,
    ) -> Option<u64> {
        let compute = |op: Binary| {
            Operation::new(SizedOperator::Binary(op), form, form).result_bits(old, value, 0)
        };
        match self {
            AtomicOperation::Load => None,
            AtomicOperation::Store | AtomicOperation::Exchange => Some(value),
            AtomicOperation::CompareExchange => (old == comparator).then_some(value),
            AtomicOperation::Increment => {
                Operation::new(SizedOperator::Binary(Binary::IAdd), form, form)
                    .result_bits(old, 1, 0)
            }
            AtomicOperation::Decrement => {
                Operation::new(SizedOperator::Binary(Binary::ISub), form, form)
                    .result_bits(old, 1, 0)
            }
            AtomicOperation::Add => compute(Binary::IAdd),
            AtomicOperation::Sub => compute(Binary::ISub),
            AtomicOperation::SMin => compute(Binary::SMin),
            AtomicOperation::UMin => compute(Binary::UMin),
            AtomicOperation::SMax => compute(Binary::SMax),
            AtomicOperation::UMax => compute(Binary::UMax),
            AtomicOperation::And => compute(Binary::BitwiseAnd),
            AtomicOperation::Or => compute(Binary::BitwiseOr),
            AtomicOperation::Xor => compute(Binary::BitwiseXor),
            AtomicOperation::FAdd => compute(Binary::FAdd),
            AtomicOperation::FMin => compute(Binary::NMin),
            AtomicOperation::FMax => compute(Binary::NMax),
        }
    }

    pub fn access_kind(self) -> AccessKind {
        match self {
            AtomicOperation::Load => AccessKind::AtomicRead,
            _ => AccessKind::AtomicWrite,
        }
    }

    /// Whether the old value is the result and nothing else: an undefined one is used where the
    /// result is.
    pub fn returns_old_value(self) -> bool {
        matches!(self, AtomicOperation::Load | AtomicOperation::Exchange)
    }

    /// Whether the old value matters: an undefined one is then read.
    pub fn reads_memory(self) -> bool {
        self != AtomicOperation::Store
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomics_on_words_compute_what_those_on_numbers_do() {
        use AtomicOperation::{
            Add, And, Decrement, Increment, Or, SMax, SMin, Sub, UMax, UMin, Xor,
        };
        let form = NumberFormat::WORD;
        let words = [0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, u32::MAX, 0x1234_5678];
        for op in [Increment, Decrement, Add, Sub, SMin, UMin, SMax, UMax, And, Or, Xor] {
            for old in words {
                for value in words {
                    let quick = op.apply_to_words(old, value).map(u64::from);
                    assert_eq!(
                        quick,
                        op.apply_to_numbers(form, old.into(), value.into(), 0),
                        "{op:?} {old} {value}"
                    );
                }
            }
        }
    }
}

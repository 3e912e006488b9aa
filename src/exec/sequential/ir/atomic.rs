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
    pub fn new_value(
        self,
        number_format: NumberFormat,
        old_value: u64,
        value: u64,
        comparator: u64,
    ) -> Option<u64> {
        let word_result = if number_format == NumberFormat::WORD {
            self.apply_to_words(old_value as u32, value as u32)
        } else {
            None
        };
        match word_result {
            Some(new_word) => Some(u64::from(new_word)),
            None => self.apply_to_numbers(number_format, old_value, value, comparator),
        }
    }

    /// Fast path for integers of 32 bits; none for operations that only `apply_to_numbers` has.
    #[inline]
    fn apply_to_words(self, old_value: u32, value: u32) -> Option<u32> {
        match self {
            AtomicOperation::Increment => Some(old_value.wrapping_add(1)),
            AtomicOperation::Decrement => Some(old_value.wrapping_sub(1)),
            AtomicOperation::Add => Some(old_value.wrapping_add(value)),
            AtomicOperation::Sub => Some(old_value.wrapping_sub(value)),
            AtomicOperation::SMin => Some((old_value as i32).min(value as i32) as u32),
            AtomicOperation::UMin => Some(old_value.min(value)),
            AtomicOperation::SMax => Some((old_value as i32).max(value as i32) as u32),
            AtomicOperation::UMax => Some(old_value.max(value)),
            AtomicOperation::And => Some(old_value & value),
            AtomicOperation::Or => Some(old_value | value),
            AtomicOperation::Xor => Some(old_value ^ value),
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
        number_format: NumberFormat,
        old_value: u64,
        value: u64,
        comparator: u64,
    ) -> Option<u64> {
        let changed_by = |op: Binary, operand: u64| {
            Operation::new(SizedOperator::Binary(op), number_format, number_format)
                .result_bits(old_value, operand, 0)
        };
        let compute_with = |op: Binary| changed_by(op, value);
        match self {
            AtomicOperation::Load => None,
            AtomicOperation::Store | AtomicOperation::Exchange => Some(value),
            AtomicOperation::CompareExchange => (old_value == comparator).then_some(value),
            AtomicOperation::Increment => changed_by(Binary::IAdd, 1),
            AtomicOperation::Decrement => changed_by(Binary::ISub, 1),
            AtomicOperation::Add => compute_with(Binary::IAdd),
            AtomicOperation::Sub => compute_with(Binary::ISub),
            AtomicOperation::SMin => compute_with(Binary::SMin),
            AtomicOperation::UMin => compute_with(Binary::UMin),
            AtomicOperation::SMax => compute_with(Binary::SMax),
            AtomicOperation::UMax => compute_with(Binary::UMax),
            AtomicOperation::And => compute_with(Binary::BitwiseAnd),
            AtomicOperation::Or => compute_with(Binary::BitwiseOr),
            AtomicOperation::Xor => compute_with(Binary::BitwiseXor),
            AtomicOperation::FAdd => compute_with(Binary::FAdd),
            AtomicOperation::FMin => compute_with(Binary::NMin),
            AtomicOperation::FMax => compute_with(Binary::NMax),
        }
    }

    pub fn access_kind(self) -> AccessKind {
        match self {
            AtomicOperation::Load => AccessKind::AtomicRead,
            _ => AccessKind::AtomicWrite,
        }
    }

    /// Whether the result is the old value and nothing is computed from it: an undefined old value
    /// is then used only where the result is used.
    pub fn returns_old_value(self) -> bool {
        matches!(self, AtomicOperation::Load | AtomicOperation::Exchange)
    }

    /// Whether it reads the old value, so that an undefined one is a finding.
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
        let number_format = NumberFormat::WORD;
        let words = [0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, u32::MAX, 0x1234_5678];
        for op in [Increment, Decrement, Add, Sub, SMin, UMin, SMax, UMax, And, Or, Xor] {
            for old_value in words {
                for value in words {
                    let quick = op.apply_to_words(old_value, value).map(u64::from);
                    assert_eq!(
                        quick,
                        op.apply_to_numbers(number_format, old_value.into(), value.into(), 0),
                        "{op:?} {old_value} {value}"
                    );
                }
            }
        }
    }
}

//! Values of an invocation, known or not, and parts of them.
//!
//! Promises: [`ConstantValue::Undef`] stands for what is not known.

use super::TouchingKernel;
use crate::constants::ConstantValue;
use crate::module::Id;
use crate::types::Type;

/// Components of a composite that are followed at most.
const MOST_COMPONENTS: u64 = 4_096;

/// What an id stands for while an invocation runs.
#[derive(Debug, Clone)]
pub(super) enum RunValue {
    /// A number or a composite.
    Data(ConstantValue),
    /// Where something is.
    Pointer(Pointer),
}

/// A variable and the way from there.
#[derive(Debug, Clone)]
pub(super) struct Pointer {
    pub(super) variable: Id,
    /// Indices; none for those that are not known.
    pub(super) path: Vec<Option<u64>>,
}

/// A part of a composite.
pub(super) fn part_of(value: &ConstantValue, path: &[u64]) -> ConstantValue {
    let Some((first, rest)) = path.split_first() else { return value.clone() };
    match value {
        ConstantValue::Composite(parts) => match parts.get(*first as usize) {
            Some(part) => part_of(part, rest),
            None => ConstantValue::Undef,
        },
        ConstantValue::Null => ConstantValue::Null,
        ConstantValue::Scalar(_) | ConstantValue::Bool(_) | ConstantValue::Undef => {
            ConstantValue::Undef
        }
    }
}

impl TouchingKernel {
    /// A value with the zero of its type written out, if that is a scalar.
    pub(super) fn spelled_out(&self, value: ConstantValue, type_id: Id) -> ConstantValue {
        match (&value, self.types.get(type_id)) {
            (ConstantValue::Null, Some(Type::Bool)) => ConstantValue::Bool(false),
            (ConstantValue::Null, Some(Type::Int { .. } | Type::Float { .. })) => {
                ConstantValue::Scalar(0)
            }
            _ => value,
        }
    }

    /// Puts a part into a composite; what cannot be told apart is not known afterwards.
    pub(super) fn put_part(
        &self,
        target: &mut ConstantValue,
        type_id: Id,
        path: &[u64],
        part: ConstantValue,
    ) {
        let Some((first, rest)) = path.split_first() else {
            *target = part;
            return;
        };
        if let ConstantValue::Undef | ConstantValue::Null = target {
            let count = self.types.component_count(type_id, &self.constants);
            if let Some(count) = count.filter(|count| *count <= MOST_COMPONENTS) {
                *target = ConstantValue::Composite(vec![target.clone(); count as usize]);
            }
        }
        let inner = u32::try_from(*first).ok();
        let inner = inner.and_then(|index| self.types.component_type(type_id, index));
        match (target, inner) {
            (ConstantValue::Composite(parts), Some(inner)) if (*first as usize) < parts.len() => {
                self.put_part(&mut parts[*first as usize], inner, rest, part);
            }
            (target, _) => *target = ConstantValue::Undef,
        }
    }
}

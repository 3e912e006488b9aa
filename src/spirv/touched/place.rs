//! Where in a binding or in the push constants a pointer leads.

use super::value::Pointer;
use super::{DispatchNumbers, TouchingKernel};
use crate::constants::ConstantValue;
use crate::module::Id;
use crate::types::{Majorness, MatrixLayout, Type};

/// Bytes behind the start of a block.
pub(super) struct BlockBytes {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl TouchingKernel {
    /// The bytes of a block that a pointer names; in words why they are not known. `name` is the
    /// block's for people.
    pub(super) fn block_bytes(&self, pointer: &Pointer, name: &str) -> Result<BlockBytes, String> {
        let declared = self.module.definition(pointer.variable);
        let contents = declared.and_then(|made| self.types.variable_contents(made));
        let (_, mut type_id) = contents.ok_or_else(|| format!("{name} has no type"))?;
        if !matches!(self.types.get(type_id), Some(Type::Structure { .. })) {
            return Err(format!("{name} is an array of descriptors"));
        }
        let mut matrix: Option<MatrixLayout> = None;
        let mut start: u64 = 0;
        for index in &pointer.path {
            let index = index.ok_or_else(|| {
                format!(
                    "which element of {name} it touches depends on more than what the host gives"
                )
            })?;
            let (inner, stride) = self.step(type_id, index, &mut matrix, name)?;
            let step = stride.map_or(Some(0), |stride| index.checked_mul(stride));
            let member = match self.types.get(type_id) {
                Some(Type::Structure { members, .. }) => {
                    members.get(index as usize).and_then(|member| member.offset).map(u64::from)
                }
                _ => Some(0),
            };
            let moved = step.zip(member).and_then(|(step, member)| step.checked_add(member));
            start = moved
                .and_then(|moved| start.checked_add(moved))
                .ok_or_else(|| format!("it leaves {name}"))?;
            type_id = inner;
        }
        let is_plain = matches!(
            self.types.get(type_id),
            Some(Type::Int { .. } | Type::Float { .. } | Type::Vector { .. })
        );
        let bytes = self.types.byte_extent(type_id, None, &self.constants).ok();
        let end = bytes.filter(|_| is_plain).and_then(|bytes| start.checked_add(bytes));
        let end = end.ok_or_else(|| format!("it touches a whole composite of {name}"))?;
        Ok(BlockBytes { start, end })
    }

    /// The type of a component, and the bytes from one to the next.
    fn step(
        &self,
        type_id: Id,
        index: u64,
        matrix: &mut Option<MatrixLayout>,
        name: &str,
    ) -> Result<(Id, Option<u64>), String> {
        let not_laid_out = || format!("{name} is laid out in a way that is not followed");
        match self.types.get(type_id) {
            Some(Type::Structure { members, .. }) => {
                let member = members.get(index as usize).ok_or_else(not_laid_out)?;
                *matrix = member.matrix;
                Ok((member.ty, None))
            }
            Some(Type::Array { element, stride, .. } | Type::RuntimeArray { element, stride }) => {
                let stride = stride.ok_or_else(not_laid_out)?;
                Ok((*element, Some(u64::from(stride))))
            }
            Some(Type::Matrix { column, .. }) => match matrix {
                Some(MatrixLayout { stride, majorness: Majorness::Column }) => {
                    Ok((*column, Some(u64::from(*stride))))
                }
                Some(MatrixLayout { majorness: Majorness::Row, .. }) | None => Err(not_laid_out()),
            },
            Some(Type::Vector { component, .. }) => {
                let width = self.types.scalar_width(*component).ok_or_else(not_laid_out)?;
                Ok((*component, Some(u64::from(width / 8))))
            }
            _ => Err(not_laid_out()),
        }
    }

    /// What the host pushed where a pointer leads.
    pub(super) fn pushed_value(
        &self,
        pointer: &Pointer,
        type_id: Id,
        numbers: &DispatchNumbers<'_>,
    ) -> ConstantValue {
        match self.block_bytes(pointer, "the push constants") {
            Ok(bytes) => self.value_at(bytes.start, type_id, numbers.push_constants),
            Err(_) => ConstantValue::Undef,
        }
    }

    fn value_at(&self, start: u64, type_id: Id, bytes: &[Option<u8>]) -> ConstantValue {
        match self.types.get(type_id) {
            Some(Type::Int { width, .. } | Type::Float { width }) => {
                let own = (start..start + u64::from(width / 8)).map(|at| {
                    let byte = usize::try_from(at).ok().and_then(|at| *bytes.get(at)?);
                    byte.map(u64::from)
                });
                let sum = own
                    .enumerate()
                    .try_fold(0, |sum, (place, byte)| byte.map(|byte| sum | byte << (8 * place)));
                sum.map_or(ConstantValue::Undef, ConstantValue::Scalar)
            }
            Some(Type::Vector { component, count }) => {
                let width = self.types.scalar_width(*component).unwrap_or(32);
                let parts = (0..u64::from(*count)).map(|part| {
                    self.value_at(start + part * u64::from(width / 8), *component, bytes)
                });
                ConstantValue::Composite(parts.collect())
            }
            _ => ConstantValue::Undef,
        }
    }
}

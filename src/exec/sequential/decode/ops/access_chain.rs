//! Access chains: indices into blocks, arrays and structures, with their bounds.
//!
//! Promises: every index is a dimension with its bound, or a constant within the bound.
//! Does not cover: loads and stores (`memory`).

use super::number::{compute_binary, compute_number};
use super::opaque;
use crate::decode::decoder::Decoder;
use crate::decode::layout::MemoryArrangement;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Pointer, PointerTarget};
use crate::decode::{layout, unsupported};
use crate::ir::{AccessRoot, Dimension, DimensionBound, Reg, Scalar};
use std::sync::Arc;
use vkcert_spirv::module::Id;
use vkcert_spirv::operation::operator::Binary;
use vkcert_spirv::operation::sized::{NumberFormat, SizedOperator, Width};
use vkcert_spirv::types::{Majorness, Signedness, Type};

/// An array of descriptors is indexed as such.
pub(super) fn check_descriptors(
    decoder: &Decoder<'_>,
    pointer: &Pointer,
) -> Result<(), Unsupported> {
    let is_array = matches!(
        decoder.types.get(pointer.pointee_type),
        Some(Type::Array { .. } | Type::RuntimeArray { .. })
    );
    match pointer.target {
        PointerTarget::Descriptors { .. } if !is_array => {
            Err(unsupported("an untyped access chain into an array of descriptors by another type"))
        }
        _ => Ok(()),
    }
}

/// A pointer as one to another type, whose layout is its own.
pub(crate) fn retyped_pointer(pointer: Pointer, type_id: Id) -> Result<Pointer, Unsupported> {
    if pointer.pointee_type == type_id {
        return Ok(pointer);
    }
    let target = match pointer.target {
        PointerTarget::Memory { arrangement: MemoryArrangement::Flat, .. }
        | PointerTarget::Registers(_)
        | PointerTarget::Constant(_) => {
            return Err(unsupported("an untyped pointer into memory without a layout"));
        }
        PointerTarget::Memory { root, base, dimensions, arrangement: _, name } => {
            PointerTarget::Memory {
                root,
                base,
                dimensions,
                arrangement: MemoryArrangement::Explicit(None),
                name,
            }
        }
        target @ (PointerTarget::Descriptors { .. }
        | PointerTarget::Opaque(_)
        | PointerTarget::Texel(_)) => target,
    };
    Ok(Pointer { target, pointee_type: type_id })
}

/// Whether a pointer does not say what it points to.
pub(crate) fn is_untyped(decoder: &Decoder<'_>, pointer_id: Id) -> Result<bool, Unsupported> {
    Ok(matches!(decoder.types.get(decoder.type_of(pointer_id)?), Some(Type::UntypedPointer { .. })))
}

/// The pointer behind an id, to data of a type: an untyped one does not say which.
pub(crate) fn pointer_to(
    decoder: &mut Decoder<'_>,
    pointer_id: Id,
    type_id: Id,
) -> Result<Pointer, Unsupported> {
    let pointer = decoder.pointer_of(pointer_id)?;
    if is_untyped(decoder, pointer_id)? { retyped_pointer(pointer, type_id) } else { Ok(pointer) }
}

/// One index of an access chain.
pub(crate) fn apply_index(
    decoder: &mut Decoder<'_>,
    pointer: Pointer,
    index_id: Id,
) -> Result<Pointer, Unsupported> {
    let constant = constant_index(decoder, index_id)?;
    match pointer.target {
        PointerTarget::Opaque(_) | PointerTarget::Texel(_) => {
            Err(unsupported("an access chain into an image or sampler"))
        }
        PointerTarget::Descriptors { variable, length }
            if opaque::is_opaque(decoder, pointer.pointee_type) =>
        {
            let inner_type = component_type(decoder, pointer.pointee_type, 0)?;
            Ok(Pointer {
                target: opaque::opaque_element(decoder, variable, length, index_id, constant)?,
                pointee_type: inner_type,
            })
        }
        PointerTarget::Descriptors { variable, length } => {
            let inner_type = component_type(decoder, pointer.pointee_type, 0)?;
            let target = match constant.filter(|element_index| *element_index < length) {
                Some(element_index) => decoder.buffer_descriptor(variable, element_index),
                None => {
                    let (index_register, _) = index_word(decoder, index_id)?;
                    decoder.any_descriptor(variable, length, index_register)?
                }
            };
            Ok(Pointer { target, pointee_type: inner_type })
        }
        PointerTarget::Registers(scalars) => {
            let (scalars, inner_type) =
                indexed_scalars(decoder, &scalars, pointer.pointee_type, constant)?;
            Ok(Pointer { target: PointerTarget::Registers(scalars), pointee_type: inner_type })
        }
        PointerTarget::Constant(scalars) => {
            let (scalars, inner_type) =
                indexed_scalars(decoder, &scalars, pointer.pointee_type, constant)?;
            Ok(Pointer { target: PointerTarget::Constant(scalars), pointee_type: inner_type })
        }
        PointerTarget::Memory { root, base, dimensions, arrangement, name } => {
            let mut place = ChainPosition { root, base, dimensions, arrangement, name };
            let inner_type = place.index_step(decoder, pointer.pointee_type, index_id, constant)?;
            let ChainPosition { root, base, dimensions, arrangement, name } = place;
            Ok(Pointer {
                target: PointerTarget::Memory { root, base, dimensions, arrangement, name },
                pointee_type: inner_type,
            })
        }
    }
}

pub(super) fn component_type(
    decoder: &Decoder<'_>,
    type_id: Id,
    index: u32,
) -> Result<Id, Unsupported> {
    decoder
        .types
        .component_type(type_id, index)
        .ok_or_else(|| unsupported("an access chain into a type without components"))
}

pub(super) fn indexed_scalars(
    decoder: &Decoder<'_>,
    scalars: &[Scalar],
    type_id: Id,
    index: Option<u32>,
) -> Result<(Arc<[Scalar]>, Id), Unsupported> {
    let index = index.ok_or_else(|| unsupported("a dynamic index into a built-in input"))?;
    let mut first_scalar = 0;
    let is_uniform = !matches!(decoder.types.get(type_id), Some(Type::Structure { .. }));
    let inner_type = component_type(decoder, type_id, index)?;
    let scalar_count = decoder.scalar_kinds(inner_type)?.len();
    if is_uniform {
        first_scalar = scalar_count * index as usize;
    } else {
        for earlier_member in 0..index {
            first_scalar +=
                decoder.scalar_kinds(component_type(decoder, type_id, earlier_member)?)?.len();
        }
    }
    let inner_scalars = scalars
        .get(first_scalar..first_scalar + scalar_count)
        .ok_or_else(|| unsupported("a constant index outside its array"))?;
    Ok((inner_scalars.into(), inner_type))
}

pub(super) struct ChainPosition {
    root: AccessRoot,
    base: u32,
    dimensions: Vec<Dimension>,
    arrangement: MemoryArrangement,
    name: Arc<str>,
}

impl ChainPosition {
    fn index_step(
        &mut self,
        decoder: &mut Decoder<'_>,
        type_id: Id,
        index_id: Id,
        constant_value: Option<u32>,
    ) -> Result<Id, Unsupported> {
        let indexed_type = decoder.types.get(type_id).cloned();
        if let Some(Type::Structure { members, .. }) = &indexed_type {
            let member_index = constant_value
                .ok_or_else(|| unsupported("a structure index that is no constant"))?;
            let member = members
                .get(member_index as usize)
                .ok_or_else(|| unsupported("a structure index out of range"))?;
            match self.arrangement {
                MemoryArrangement::Flat | MemoryArrangement::Spread(_) => {
                    for earlier_member in &members[..member_index as usize] {
                        let word_count = layout::flat_size(
                            &decoder.types,
                            &decoder.constants,
                            earlier_member.ty,
                        )?;
                        self.advance_by(word_count.checked_mul(4))?;
                    }
                }
                MemoryArrangement::Explicit(_) => {
                    let offset =
                        member.offset.ok_or_else(|| unsupported("a member without Offset"))?;
                    self.advance_by(Some(offset))?;
                    self.arrangement = MemoryArrangement::Explicit(member.matrix);
                }
            }
            return Ok(member.ty);
        }
        let inner_type = component_type(decoder, type_id, 0)?;
        let (stride, bound) = self.stride_and_bound(decoder, &indexed_type, inner_type)?;
        self.add_index(decoder, index_id, constant_value, stride, bound)?;
        Ok(inner_type)
    }

    /// Advances the base by some bytes; none stands for more than 2^32.
    fn advance_by(&mut self, bytes: Option<u32>) -> Result<(), Unsupported> {
        let new_base = bytes.and_then(|bytes| self.base.checked_add(bytes));
        self.base = new_base.ok_or_else(|| unsupported("an offset of more than 2^32 bytes"))?;
        Ok(())
    }

    /// Bytes from one element to the next, and the number of elements.
    fn stride_and_bound(
        &mut self,
        decoder: &Decoder<'_>,
        indexed_type: &Option<Type>,
        inner_type: Id,
    ) -> Result<(u32, DimensionBound), Unsupported> {
        let flat_stride = || {
            let words = layout::flat_size(&decoder.types, &decoder.constants, inner_type)?;
            words.checked_mul(4).ok_or_else(|| unsupported("a variable of more than 2^32 bytes"))
        };
        let declared_stride = |stride: &Option<u32>| {
            stride.ok_or_else(|| unsupported("an array without ArrayStride"))
        };
        Ok(match (indexed_type, self.arrangement) {
            (Some(Type::Array { length, stride, .. }), arrangement) => {
                let bound =
                    DimensionBound::Fixed(layout::element_count(&decoder.constants, *length)?);
                match arrangement {
                    MemoryArrangement::Flat => (flat_stride()?, bound),
                    MemoryArrangement::Explicit(_) | MemoryArrangement::Spread(_) => {
                        (declared_stride(stride)?, bound)
                    }
                }
            }
            (Some(Type::RuntimeArray { stride, .. }), _) => {
                (declared_stride(stride)?, DimensionBound::Runtime)
            }
            (Some(Type::Matrix { count, .. }), MemoryArrangement::Explicit(layout)) => {
                let layout = layout.ok_or_else(|| unsupported("a matrix without MatrixStride"))?;
                match layout.majorness {
                    Majorness::Column => {
                        self.arrangement = MemoryArrangement::Explicit(None);
                        (layout.stride, DimensionBound::Fixed(*count))
                    }
                    Majorness::Row => {
                        self.arrangement = MemoryArrangement::Spread(layout.stride);
                        let component_type = component_type(decoder, inner_type, 0)?;
                        (
                            layout::scalar_bytes(&decoder.types, component_type)?,
                            DimensionBound::Fixed(*count),
                        )
                    }
                }
            }
            (
                Some(Type::Matrix { count, .. }),
                MemoryArrangement::Flat | MemoryArrangement::Spread(_),
            ) => (flat_stride()?, DimensionBound::Fixed(*count)),
            (Some(Type::Vector { count, .. }), MemoryArrangement::Spread(stride)) => {
                self.arrangement = MemoryArrangement::Explicit(None);
                (stride, DimensionBound::Fixed(*count))
            }
            (Some(Type::CooperativeMatrix { share, .. }), MemoryArrangement::Flat) => {
                (flat_stride()?, DimensionBound::Fixed(*share))
            }
            (Some(Type::Vector { count, .. }), MemoryArrangement::Flat) => {
                (flat_stride()?, DimensionBound::Fixed(*count))
            }
            (Some(Type::Vector { count, .. }), MemoryArrangement::Explicit(_)) => {
                (layout::scalar_bytes(&decoder.types, inner_type)?, DimensionBound::Fixed(*count))
            }
            _ => return Err(unsupported("an access chain into a type without components")),
        })
    }

    fn add_index(
        &mut self,
        decoder: &mut Decoder<'_>,
        index_id: Id,
        constant_value: Option<u32>,
        stride: u32,
        bound: DimensionBound,
    ) -> Result<(), Unsupported> {
        if let Some(constant_value) = constant_value {
            let is_inside = match bound {
                DimensionBound::Fixed(bound) => constant_value < bound,
                DimensionBound::Runtime => true,
            };
            let new_base =
                constant_value.checked_mul(stride).and_then(|bytes| bytes.checked_add(self.base));
            if let (true, Some(new_base)) = (is_inside, new_base) {
                self.base = new_base;
                return Ok(());
            }
        }
        let (register, signedness) = index_word(decoder, index_id)?;
        let signed = signedness == Signedness::Signed;
        self.dimensions.push(Dimension { index: register, stride, bound, signed });
        Ok(())
    }
}

/// The value of a constant index, where it is one that a word holds and that is not negative.
pub(super) fn constant_index(
    decoder: &Decoder<'_>,
    index_id: Id,
) -> Result<Option<u32>, Unsupported> {
    let Some(index_bits) = decoder.constants.scalar_bits(index_id) else { return Ok(None) };
    let Some(Type::Int { width: width @ 1..=64, signedness }) =
        decoder.types.get(decoder.type_of(index_id)?)
    else {
        return Err(unsupported("an index that is no integer"));
    };
    let is_negative = *signedness == Signedness::Signed && index_bits >> (width - 1) & 1 == 1;
    Ok(if is_negative { None } else { u32::try_from(index_bits).ok() })
}

/// An index as a word. A narrow index is extended; a wide one is clamped to the range of a word,
/// whose ends are outside everything that is indexed.
pub(crate) fn index_word(
    decoder: &mut Decoder<'_>,
    index_id: Id,
) -> Result<(Reg, Signedness), Unsupported> {
    let type_id = decoder.type_of(index_id)?;
    let Some(Type::Int { signedness, .. }) = decoder.types.get(type_id) else {
        return Err(unsupported("an index that is no integer"));
    };
    let signedness = *signedness;
    let (index_format, index_registers) = decoder.number_of(index_id)?;
    let word_format = NumberFormat::WORD;
    let index_registers = match (index_format.width(), signedness) {
        (Width::W32, _) | (Width::W8 | Width::W16, Signedness::Unsigned) => index_registers,
        (Width::W8 | Width::W16, Signedness::Signed) => compute_number(
            decoder,
            SizedOperator::FromSigned,
            [index_format, word_format],
            &[index_registers],
        )?,
        (Width::W64, Signedness::Unsigned) => {
            let greatest_word = decoder.constant_number(index_format, u64::from(u32::MAX));
            compute_binary(decoder, Binary::UMin, index_format, index_registers, greatest_word)?
        }
        (Width::W64, Signedness::Signed) => {
            let [least_word, greatest_word] = [i32::MIN, i32::MAX]
                .map(|bound| decoder.constant_number(index_format, i64::from(bound) as u64));
            let bounded_below =
                compute_binary(decoder, Binary::SMax, index_format, index_registers, least_word)?;
            compute_binary(decoder, Binary::SMin, index_format, bounded_below, greatest_word)?
        }
    };
    Ok((index_registers.low, signedness))
}

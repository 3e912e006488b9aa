//! Where a pointer leads: steps into blocks, arrays and structures, with their bounds.
//!
//! Promises: every index is a dimension with its bound, or a constant that lies inside.
//! Does not cover: what is loaded or stored there (`memory`).

use super::image;
use super::number::{compute, compute2};
use crate::decode::decoder::Decoder;
use crate::decode::layout::Arrangement;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Location, Pointer};
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
        decoder.types.get(pointer.ty),
        Some(Type::Array { .. } | Type::RuntimeArray { .. })
    );
    match pointer.to {
        Location::Descriptors { .. } if !is_array => {
            Err(unsupported("an untyped access chain into an array of descriptors by another type"))
        }
        _ => Ok(()),
    }
}

/// A pointer as one to another type, whose layout is its own.
pub(crate) fn retyped(pointer: Pointer, ty: Id) -> Result<Pointer, Unsupported> {
    if pointer.ty == ty {
        return Ok(pointer);
    }
    let to = match pointer.to {
        Location::Memory { arrangement: Arrangement::Flat, .. }
        | Location::Registers(_)
        | Location::Constant(_) => {
            return Err(unsupported("an untyped pointer into memory without a layout"));
        }
        Location::Memory { root, base, dimensions, arrangement: _, name } => Location::Memory {
            root,
            base,
            dimensions,
            arrangement: Arrangement::Explicit(None),
            name,
        },
        to @ (Location::Descriptors { .. } | Location::Opaque(_) | Location::Texel(_)) => to,
    };
    Ok(Pointer { to, ty })
}

/// Whether a pointer does not say what it points to.
pub(crate) fn is_untyped(decoder: &Decoder<'_>, pointer: Id) -> Result<bool, Unsupported> {
    Ok(matches!(decoder.types.get(decoder.type_of(pointer)?), Some(Type::UntypedPointer { .. })))
}

/// The pointer behind an id, to data of a type: an untyped one does not say which.
pub(crate) fn pointer_to(
    decoder: &mut Decoder<'_>,
    id: Id,
    ty: Id,
) -> Result<Pointer, Unsupported> {
    let pointer = decoder.pointer(id)?;
    if is_untyped(decoder, id)? { retyped(pointer, ty) } else { Ok(pointer) }
}

/// One index of an access chain.
pub(crate) fn step_into(
    decoder: &mut Decoder<'_>,
    pointer: Pointer,
    index: Id,
) -> Result<Pointer, Unsupported> {
    let constant = constant_index(decoder, index)?;
    match pointer.to {
        Location::Opaque(_) | Location::Texel(_) => {
            Err(unsupported("an access chain into an image or sampler"))
        }
        Location::Descriptors { variable, length } if image::is_opaque(decoder, pointer.ty) => {
            let ty = component(decoder, pointer.ty, 0)?;
            Ok(Pointer { to: image::element(decoder, variable, length, index, constant)?, ty })
        }
        Location::Descriptors { variable, length } => {
            let ty = component(decoder, pointer.ty, 0)?;
            let to = match constant.filter(|index| *index < length) {
                Some(index) => decoder.descriptor(variable, index),
                None => {
                    let (index, _) = index_word(decoder, index)?;
                    decoder.any_descriptor(variable, length, index)?
                }
            };
            Ok(Pointer { to, ty })
        }
        Location::Registers(scalars) => {
            let (scalars, ty) = within(decoder, &scalars, pointer.ty, constant)?;
            Ok(Pointer { to: Location::Registers(scalars), ty })
        }
        Location::Constant(scalars) => {
            let (scalars, ty) = within(decoder, &scalars, pointer.ty, constant)?;
            Ok(Pointer { to: Location::Constant(scalars), ty })
        }
        Location::Memory { root, base, dimensions, arrangement, name } => {
            let mut place = Place { root, base, dimensions, arrangement, name };
            let ty = place.step(decoder, pointer.ty, index, constant)?;
            let Place { root, base, dimensions, arrangement, name } = place;
            Ok(Pointer { to: Location::Memory { root, base, dimensions, arrangement, name }, ty })
        }
    }
}

pub(super) fn component(decoder: &Decoder<'_>, ty: Id, index: u32) -> Result<Id, Unsupported> {
    decoder
        .types
        .component_type(ty, index)
        .ok_or_else(|| unsupported("an access chain into a type without components"))
}

pub(super) fn within(
    decoder: &Decoder<'_>,
    scalars: &[Scalar],
    ty: Id,
    index: Option<u32>,
) -> Result<(Arc<[Scalar]>, Id), Unsupported> {
    let index = index.ok_or_else(|| unsupported("a dynamic index into a built-in input"))?;
    let mut start = 0;
    let uniform = !matches!(decoder.types.get(ty), Some(Type::Structure { .. }));
    let inner = component(decoder, ty, index)?;
    let size = decoder.kinds(inner)?.len();
    if uniform {
        start = size * index as usize;
    } else {
        for before in 0..index {
            start += decoder.kinds(component(decoder, ty, before)?)?.len();
        }
    }
    let part = scalars
        .get(start..start + size)
        .ok_or_else(|| unsupported("a constant index outside its array"))?;
    Ok((part.into(), inner))
}

pub(super) struct Place {
    root: AccessRoot,
    base: u32,
    dimensions: Vec<Dimension>,
    arrangement: Arrangement,
    name: Arc<str>,
}

impl Place {
    fn step(
        &mut self,
        decoder: &mut Decoder<'_>,
        ty: Id,
        index: Id,
        constant: Option<u32>,
    ) -> Result<Id, Unsupported> {
        let of = decoder.types.get(ty).cloned();
        if let Some(Type::Structure { members, .. }) = &of {
            let index =
                constant.ok_or_else(|| unsupported("a structure index that is no constant"))?;
            let member = members
                .get(index as usize)
                .ok_or_else(|| unsupported("a structure index out of range"))?;
            match self.arrangement {
                Arrangement::Flat | Arrangement::Spread(_) => {
                    for before in &members[..index as usize] {
                        let words =
                            layout::flat_size(&decoder.types, &decoder.constants, before.ty)?;
                        self.advance(words.checked_mul(4))?;
                    }
                }
                Arrangement::Explicit(_) => {
                    let offset =
                        member.offset.ok_or_else(|| unsupported("a member without Offset"))?;
                    self.advance(Some(offset))?;
                    self.arrangement = Arrangement::Explicit(member.matrix);
                }
            }
            return Ok(member.ty);
        }
        let inner = component(decoder, ty, 0)?;
        let (stride, bound) = self.extent(decoder, &of, inner)?;
        self.index(decoder, index, constant, stride, bound)?;
        Ok(inner)
    }

    /// Goes on by some bytes; none: by more than 2^32.
    fn advance(&mut self, bytes: Option<u32>) -> Result<(), Unsupported> {
        let base = bytes.and_then(|bytes| self.base.checked_add(bytes));
        self.base = base.ok_or_else(|| unsupported("an offset of more than 2^32 bytes"))?;
        Ok(())
    }

    /// Bytes between elements, and how many there are.
    fn extent(
        &mut self,
        decoder: &Decoder<'_>,
        ty: &Option<Type>,
        inner: Id,
    ) -> Result<(u32, DimensionBound), Unsupported> {
        let flat = || {
            let words = layout::flat_size(&decoder.types, &decoder.constants, inner)?;
            words.checked_mul(4).ok_or_else(|| unsupported("a variable of more than 2^32 bytes"))
        };
        let explicit = |stride: &Option<u32>| {
            stride.ok_or_else(|| unsupported("an array without ArrayStride"))
        };
        Ok(match (ty, self.arrangement) {
            (Some(Type::Array { length, stride, .. }), arrangement) => {
                let bound =
                    DimensionBound::Fixed(layout::elements_of(&decoder.constants, *length)?);
                match arrangement {
                    Arrangement::Flat => (flat()?, bound),
                    Arrangement::Explicit(_) | Arrangement::Spread(_) => (explicit(stride)?, bound),
                }
            }
            (Some(Type::RuntimeArray { stride, .. }), _) => {
                (explicit(stride)?, DimensionBound::Runtime)
            }
            (Some(Type::Matrix { count, .. }), Arrangement::Explicit(layout)) => {
                let layout = layout.ok_or_else(|| unsupported("a matrix without MatrixStride"))?;
                match layout.majorness {
                    Majorness::Column => {
                        self.arrangement = Arrangement::Explicit(None);
                        (layout.stride, DimensionBound::Fixed(*count))
                    }
                    Majorness::Row => {
                        self.arrangement = Arrangement::Spread(layout.stride);
                        let component = component(decoder, inner, 0)?;
                        (
                            layout::scalar_bytes(&decoder.types, component)?,
                            DimensionBound::Fixed(*count),
                        )
                    }
                }
            }
            (Some(Type::Matrix { count, .. }), Arrangement::Flat | Arrangement::Spread(_)) => {
                (flat()?, DimensionBound::Fixed(*count))
            }
            (Some(Type::Vector { count, .. }), Arrangement::Spread(stride)) => {
                self.arrangement = Arrangement::Explicit(None);
                (stride, DimensionBound::Fixed(*count))
            }
            (Some(Type::CooperativeMatrix { share, .. }), Arrangement::Flat) => {
                (flat()?, DimensionBound::Fixed(*share))
            }
            (Some(Type::Vector { count, .. }), Arrangement::Flat) => {
                (flat()?, DimensionBound::Fixed(*count))
            }
            (Some(Type::Vector { count, .. }), Arrangement::Explicit(_)) => {
                (layout::scalar_bytes(&decoder.types, inner)?, DimensionBound::Fixed(*count))
            }
            _ => return Err(unsupported("an access chain into a type without components")),
        })
    }

    fn index(
        &mut self,
        decoder: &mut Decoder<'_>,
        index: Id,
        constant: Option<u32>,
        stride: u32,
        bound: DimensionBound,
    ) -> Result<(), Unsupported> {
        if let Some(constant) = constant {
            let inside = match bound {
                DimensionBound::Fixed(bound) => constant < bound,
                DimensionBound::Runtime => true,
            };
            let base = constant.checked_mul(stride).and_then(|bytes| bytes.checked_add(self.base));
            if let (true, Some(base)) = (inside, base) {
                self.base = base;
                return Ok(());
            }
        }
        let (register, signedness) = index_word(decoder, index)?;
        let signed = signedness == Signedness::Signed;
        self.dimensions.push(Dimension { index: register, stride, bound, signed });
        Ok(())
    }
}

/// The value of a constant index, where it is one that a word holds and that is not negative.
pub(super) fn constant_index(decoder: &Decoder<'_>, index: Id) -> Result<Option<u32>, Unsupported> {
    let Some(bits) = decoder.constants.scalar_bits(index) else { return Ok(None) };
    let Some(Type::Int { width: width @ 1..=64, signedness }) =
        decoder.types.get(decoder.type_of(index)?)
    else {
        return Err(unsupported("an index that is no integer"));
    };
    let negative = *signedness == Signedness::Signed && bits >> (width - 1) & 1 == 1;
    Ok(if negative { None } else { u32::try_from(bits).ok() })
}

/// An index as a word: a narrow one extended, a wide one that no word holds as the word next to it,
/// which lies outside everything that is indexed.
pub(crate) fn index_word(
    decoder: &mut Decoder<'_>,
    index: Id,
) -> Result<(Reg, Signedness), Unsupported> {
    let ty = decoder.type_of(index)?;
    let Some(Type::Int { signedness, .. }) = decoder.types.get(ty) else {
        return Err(unsupported("an index that is no integer"));
    };
    let signedness = *signedness;
    let (form, parts) = decoder.number(index)?;
    let word = NumberFormat::WORD;
    let parts = match (form.width(), signedness) {
        (Width::W32, _) | (Width::W8 | Width::W16, Signedness::Unsigned) => parts,
        (Width::W8 | Width::W16, Signedness::Signed) => {
            compute(decoder, SizedOperator::FromSigned, [form, word], &[parts])?
        }
        (Width::W64, Signedness::Unsigned) => {
            let most = decoder.constant_number(form, u64::from(u32::MAX));
            compute2(decoder, Binary::UMin, form, parts, most)?
        }
        (Width::W64, Signedness::Signed) => {
            let [least, most] = [i32::MIN, i32::MAX]
                .map(|bound| decoder.constant_number(form, i64::from(bound) as u64));
            let above = compute2(decoder, Binary::SMax, form, parts, least)?;
            compute2(decoder, Binary::SMin, form, above, most)?
        }
    };
    Ok((parts.low, signedness))
}

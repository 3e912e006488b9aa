//! Memory instructions (SPIR-V specification, section "Memory Instructions").

use super::meaning::{Meaning, Row, row};
use super::number::{compute, compute2};
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::layout;
use crate::decode::layout::{Arrangement, Part};
use crate::decode::ops::image;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Location, Pointer, Value};
use crate::ir::{Access, Action, Alignment, Bound, Dimension, Reg, Root, Scalar, Uniform, Unit};
use rspirv::dr::Operand;
use rspirv::spirv::{MemoryAccess, Op};
use std::sync::Arc;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::operator::Binary;
use vkcert_spirv::operation::sized::{NumberFormat, SizedOperator, Width};
use vkcert_spirv::types::{Majorness, Signedness, Type};

pub(crate) const TABLE: &[Row] = &[
    row(Op::Variable, Meaning::Special(variable)),
    row(Op::AccessChain, Meaning::Special(access_chain)),
    row(Op::InBoundsAccessChain, Meaning::Special(access_chain)),
    row(Op::Load, Meaning::Special(load)),
    row(Op::Store, Meaning::Special(store)),
    row(Op::CopyMemory, Meaning::Special(copy_memory)),
    row(Op::ArrayLength, Meaning::Special(array_length)),
    row(Op::CopyMemorySized, Meaning::Special(copy_memory_sized)),
    row(Op::UntypedVariableKHR, Meaning::Special(variable)),
    row(Op::UntypedAccessChainKHR, Meaning::Special(untyped_access_chain)),
    row(Op::UntypedInBoundsAccessChainKHR, Meaning::Special(untyped_access_chain)),
    row(Op::UntypedArrayLengthKHR, Meaning::Special(untyped_array_length)),
];

fn variable(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let pointer = decoder.variable(instruction)?;
    decoder.define(instruction, Value::Pointer(pointer));
    Ok(())
}

fn access_chain(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let mut pointer = decoder.pointer(id(instruction, 0)?)?;
    for index in instruction.ids().skip(1) {
        pointer = step_into(decoder, pointer, index)?;
    }
    decoder.define(instruction, Value::Pointer(pointer));
    Ok(())
}

/// OpUntypedAccessChainKHR: the base type, the base, indices into that type.
fn untyped_access_chain(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let ty = id(instruction, 0)?;
    let base = decoder.pointer(id(instruction, 1)?)?;
    let mut pointer = retyped(base, ty)?;
    check_descriptors(decoder, &pointer)?;
    for index in instruction.ids().skip(2) {
        pointer = step_into(decoder, pointer, index)?;
    }
    decoder.define(instruction, Value::Pointer(pointer));
    Ok(())
}

/// An array of descriptors is indexed as such.
fn check_descriptors(decoder: &Decoder<'_>, pointer: &Pointer) -> Result<(), Unsupported> {
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

fn component(decoder: &Decoder<'_>, ty: Id, index: u32) -> Result<Id, Unsupported> {
    decoder
        .types
        .component_type(ty, index)
        .ok_or_else(|| unsupported("an access chain into a type without components"))
}

fn within(
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

struct Place {
    root: Root,
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
    ) -> Result<(u32, Bound), Unsupported> {
        let flat = || {
            let words = layout::flat_size(&decoder.types, &decoder.constants, inner)?;
            words.checked_mul(4).ok_or_else(|| unsupported("a variable of more than 2^32 bytes"))
        };
        let explicit = |stride: &Option<u32>| {
            stride.ok_or_else(|| unsupported("an array without ArrayStride"))
        };
        Ok(match (ty, self.arrangement) {
            (Some(Type::Array { length, stride, .. }), arrangement) => {
                let bound = Bound::Fixed(layout::elements_of(&decoder.constants, *length)?);
                match arrangement {
                    Arrangement::Flat => (flat()?, bound),
                    Arrangement::Explicit(_) | Arrangement::Spread(_) => (explicit(stride)?, bound),
                }
            }
            (Some(Type::RuntimeArray { stride, .. }), _) => (explicit(stride)?, Bound::Runtime),
            (Some(Type::Matrix { count, .. }), Arrangement::Explicit(layout)) => {
                let layout = layout.ok_or_else(|| unsupported("a matrix without MatrixStride"))?;
                match layout.majorness {
                    Majorness::Column => {
                        self.arrangement = Arrangement::Explicit(None);
                        (layout.stride, Bound::Fixed(*count))
                    }
                    Majorness::Row => {
                        self.arrangement = Arrangement::Spread(layout.stride);
                        let component = component(decoder, inner, 0)?;
                        (layout::scalar_bytes(&decoder.types, component)?, Bound::Fixed(*count))
                    }
                }
            }
            (Some(Type::Matrix { count, .. }), Arrangement::Flat | Arrangement::Spread(_)) => {
                (flat()?, Bound::Fixed(*count))
            }
            (Some(Type::Vector { count, .. }), Arrangement::Spread(stride)) => {
                self.arrangement = Arrangement::Explicit(None);
                (stride, Bound::Fixed(*count))
            }
            (Some(Type::CooperativeMatrix { share, .. }), Arrangement::Flat) => {
                (flat()?, Bound::Fixed(*share))
            }
            (Some(Type::Vector { count, .. }), Arrangement::Flat) => {
                (flat()?, Bound::Fixed(*count))
            }
            (Some(Type::Vector { count, .. }), Arrangement::Explicit(_)) => {
                (layout::scalar_bytes(&decoder.types, inner)?, Bound::Fixed(*count))
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
        bound: Bound,
    ) -> Result<(), Unsupported> {
        if let Some(constant) = constant {
            let inside = match bound {
                Bound::Fixed(bound) => constant < bound,
                Bound::Runtime => true,
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
fn constant_index(decoder: &Decoder<'_>, index: Id) -> Result<Option<u32>, Unsupported> {
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

/// The access behind a pointer into memory.
fn access(decoder: &mut Decoder<'_>, pointer: &Pointer) -> Result<Option<Access>, Unsupported> {
    let parts = match &pointer.to {
        Location::Memory { arrangement, .. } => {
            layout::components(&decoder.types, &decoder.constants, pointer.ty, *arrangement)?
        }
        _ => Vec::new(),
    };
    access_to(decoder, &pointer.to, &parts)
}

/// The access of some parts at a place in memory.
fn access_to(
    decoder: &mut Decoder<'_>,
    to: &Location,
    parts: &[Part],
) -> Result<Option<Access>, Unsupported> {
    match to {
        Location::Memory { root, base, dimensions, arrangement: _, name } => {
            let strides = dimensions.iter().map(|dimension| dimension.stride);
            let mut places = parts.iter().map(|part| part.offset).chain(strides).chain([*base]);
            let words =
                places.all(|place| place % 4 == 0) && parts.iter().all(|part| part.bytes == 4);
            // Where an address leads is known when it is followed.
            let words = words && !matches!(root, Root::Address(_));
            let unit = if words { Unit::Word } else { Unit::Byte };
            if unit == Unit::Byte {
                let least = parts.iter().map(|part| part.bytes).min().unwrap_or(4);
                decoder.program.granule = decoder.program.granule.min(least);
            }
            let bytes = unit.bytes();
            let scaled = |dimension: &Dimension| Dimension {
                stride: dimension.stride / bytes,
                ..*dimension
            };
            Ok(Some(Access {
                root: *root,
                unit,
                base: base / bytes,
                dimensions: dimensions.iter().map(scaled).collect(),
                components: parts.iter().map(|part| part.offset / bytes).collect(),
                sizes: if words {
                    Arc::new([])
                } else {
                    parts.iter().map(|part| part.bytes).collect()
                },
                window: None,
                alignment: match root {
                    Root::Address(address) => Alignment {
                        access: declared_alignment(decoder),
                        block: decoder
                            .references
                            .alignments
                            .get(&address.low)
                            .copied()
                            .unwrap_or(1),
                    },
                    _ => Alignment::NONE,
                },
                name: name.clone(),
            }))
        }
        Location::Registers(_) | Location::Constant(_) => Ok(None),
        Location::Descriptors { .. } => {
            Err(unsupported("a load or store of a whole array of descriptors"))
        }
        Location::Opaque(_) | Location::Texel(_) => {
            Err(unsupported("a load or store of an image or sampler"))
        }
    }
}

/// What the instruction that is decoded says of the alignment of its pointer, else 1. Where it has
/// two memory operands, of the target and of the source, the lesser counts for both.
fn declared_alignment(decoder: &Decoder<'_>) -> u32 {
    let operands = decoder.instruction().map_or(&[][..], |instruction| &instruction.operands);
    let aligned = operands.windows(2).filter_map(|pair| match pair {
        [Operand::MemoryAccess(flags), Operand::LiteralBit32(bytes)]
            if flags.contains(MemoryAccess::ALIGNED) =>
        {
            Some(*bytes)
        }
        _ => None,
    });
    aligned.min().unwrap_or(1).max(1)
}

/// The access of an atomic: a number of 32 or 64 bits in memory.
pub(crate) fn atomic_access(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<(Access, NumberFormat), Unsupported> {
    let form = decoder.form(pointer.ty).filter(|form| form.width() >= Width::W32);
    let form =
        form.ok_or_else(|| unsupported("an atomic on a type that is no scalar of 32 or 64 bits"))?;
    let access =
        access(decoder, pointer)?.ok_or_else(|| unsupported("an atomic on a private variable"))?;
    let access = match access.root {
        Root::Address(_) => {
            let alignment = Alignment { access: form.width().bytes(), ..access.alignment };
            Access { alignment, ..access }
        }
        _ => access,
    };
    match (access.unit, access.root) {
        // Whether an address is aligned is known when it is followed.
        (Unit::Word, _) | (Unit::Byte, Root::Address(_) | Root::Pointer { .. }) => {
            Ok((access, form))
        }
        (Unit::Byte, _) => Err(unsupported("an atomic on a number that is not aligned")),
    }
}

/// The value that a pointer points to.
pub(crate) fn load_from(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<Arc<[Scalar]>, Unsupported> {
    if let Location::Constant(scalars) = &pointer.to {
        return Ok(scalars.clone());
    }
    if let Location::Registers(scalars) = &pointer.to {
        let to = decoder.fresh(pointer.ty)?;
        decoder.copy_all(&to, scalars)?;
        return Ok(to);
    }
    let Some(access) = access(decoder, pointer)? else {
        return Err(unsupported("a load from here"));
    };
    // What the test gives as push constants is the same for every invocation; the size is checked
    // when it is known.
    if access.root == Root::PushConstant
        && access.dimensions.is_empty()
        && access.unit == Unit::Word
    {
        return Ok(access
            .components
            .iter()
            .map(|component| {
                Scalar::Word(decoder.uniform(Uniform::PushConstant(access.base + component)))
            })
            .collect());
    }
    let to = decoder.fresh(pointer.ty)?;
    if access.components.len() != to.len() {
        return Err(unsupported("a load of this type"));
    }
    decoder.push(Action::Load { access: Arc::new(access), to: to.clone() });
    Ok(to)
}

/// Stores a value.
pub(crate) fn store_to(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
    value: &[Scalar],
) -> Result<(), Unsupported> {
    match &pointer.to {
        Location::Registers(scalars) => decoder.copy_all(&scalars.clone(), value),
        Location::Memory { root, .. } => {
            decoder.note_write(*root);
            let Some(access) = access(decoder, pointer)? else {
                return Err(unsupported("a store to here"));
            };
            if access.components.len() != value.len() {
                return Err(unsupported("a store of this type"));
            }
            decoder.push(Action::Store { access: Arc::new(access), from: value.into() });
            Ok(())
        }
        Location::Constant(_)
        | Location::Descriptors { .. }
        | Location::Opaque(_)
        | Location::Texel(_) => Err(unsupported("a store to an input")),
    }
}

fn load(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let ty = instruction.result_type.ok_or_else(|| unsupported("OpLoad without a type"))?;
    let pointer = pointer_to(decoder, id(instruction, 0)?, ty)?;
    if let Location::Opaque(chosen) = &pointer.to {
        return image::load(decoder, instruction, chosen.clone(), pointer.ty);
    }
    let value = load_from(decoder, &pointer)?;
    decoder.define(instruction, Value::Scalars(value));
    Ok(())
}

fn store(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let object = id(instruction, 1)?;
    let ty = decoder.type_of(object)?;
    let pointer = pointer_to(decoder, id(instruction, 0)?, ty)?;
    let value = decoder.scalars(object)?;
    store_to(decoder, &pointer, &value)
}

fn copy_memory(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let [to, from] = [id(instruction, 0)?, id(instruction, 1)?];
    // At least one of the two says what is copied.
    let typed = if is_untyped(decoder, to)? { from } else { to };
    let ty = decoder
        .types
        .pointee(decoder.type_of(typed)?)
        .ok_or_else(|| unsupported("OpCopyMemory of no type"))?;
    let (to, from) = (pointer_to(decoder, to, ty)?, pointer_to(decoder, from, ty)?);
    let value = load_from(decoder, &from)?;
    store_to(decoder, &to, &value)
}

/// OpCopyMemorySized: bytes, whatever they are.
fn copy_memory_sized(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let size = decoder.constants.scalar_bits(id(instruction, 2)?);
    let size =
        size.ok_or_else(|| unsupported("OpCopyMemorySized of a size that is no constant"))?;
    let size = u32::try_from(size).ok().filter(|size| *size <= MOST_COPIED);
    let size = size.ok_or_else(|| {
        unsupported(format!("OpCopyMemorySized of more than {MOST_COPIED} bytes"))
    })?;
    let (words, rest) = (size / 4, size % 4);
    let whole = (0..words).map(|word| Part { offset: 4 * word, bytes: 4 });
    let parts: Vec<Part> =
        whole.chain((0..rest).map(|byte| Part { offset: 4 * words + byte, bytes: 1 })).collect();
    let [to, from] = [decoder.pointer(id(instruction, 0)?)?, decoder.pointer(id(instruction, 1)?)?];
    if [&to, &from]
        .iter()
        .any(|one| matches!(one.to, Location::Memory { arrangement: Arrangement::Flat, .. }))
    {
        return Err(unsupported("OpCopyMemorySized of memory without a layout"));
    }
    let no_memory = || unsupported("OpCopyMemorySized of what is no memory");
    let from = access_to(decoder, &from.to, &parts)?.ok_or_else(no_memory)?;
    let into = access_to(decoder, &to.to, &parts)?.ok_or_else(no_memory)?;
    decoder.note_write(into.root);
    let values: Arc<[Scalar]> = parts.iter().map(|_| Scalar::Word(decoder.word())).collect();
    decoder.push(Action::Load { access: Arc::new(from), to: values.clone() });
    decoder.push(Action::Store { access: Arc::new(into), from: values });
    Ok(())
}

/// Most bytes that OpCopyMemorySized copies.
const MOST_COPIED: u32 = 1 << 14;

fn array_length(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let pointer = decoder.pointer(id(instruction, 0)?)?;
    let member =
        instruction.literal(1).ok_or_else(|| unsupported("OpArrayLength without a member"))?;
    length_of(decoder, instruction, pointer, member)
}

/// The structure, a pointer to it, and the member.
fn untyped_array_length(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let pointer = decoder.pointer(id(instruction, 1)?)?;
    let pointer = retyped(pointer, id(instruction, 0)?)?;
    let member = instruction
        .literal(2)
        .ok_or_else(|| unsupported("OpUntypedArrayLengthKHR without a member"))?;
    length_of(decoder, instruction, pointer, member)
}

fn length_of(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    pointer: Pointer,
    member: u32,
) -> Result<(), Unsupported> {
    let (root, base) = match pointer.to {
        Location::Memory { root, base, .. } => (root, base),
        Location::Registers(_)
        | Location::Constant(_)
        | Location::Descriptors { .. }
        | Location::Opaque(_)
        | Location::Texel(_) => (Root::Invocation, 0),
    };
    let Some(Type::Structure { members, .. }) = decoder.types.get(pointer.ty) else {
        return Err(unsupported("OpArrayLength of a type that is no structure"));
    };
    let member = members
        .get(member as usize)
        .ok_or_else(|| unsupported("OpArrayLength of a missing member"))?;
    let Some(Type::RuntimeArray { stride: Some(stride), .. }) = decoder.types.get(member.ty) else {
        return Err(unsupported("OpArrayLength of a member that is no runtime array"));
    };
    let (offset, stride) = (member.offset.unwrap_or(0), *stride);
    let length = |decoder: &mut Decoder<'_>, descriptor: u32| {
        let to = decoder.word();
        decoder.push(Action::ArrayLength { descriptor, base: base + offset, stride, to });
        to
    };
    let to = match root {
        Root::Descriptor(descriptor) => length(decoder, descriptor),
        Root::Descriptors { first, length: count, index } => {
            let from: Vec<Reg> =
                (first..first + count).map(|descriptor| length(decoder, descriptor)).collect();
            let to = decoder.word();
            decoder.push(Action::Pick { to, from: from.into(), index });
            to
        }
        Root::Pointer { .. } => return Err(unsupported("OpArrayLength of a variable pointer")),
        Root::Workgroup
        | Root::Invocation
        | Root::PushConstant
        | Root::Address(_)
        | Root::Buffer(_) => {
            return Err(unsupported("OpArrayLength of a pointer that is no buffer"));
        }
    };
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Word(to)])));
    Ok(())
}

//! An access from where a pointer leads: root, dimensions, alignment.

use crate::decode::decoder::Decoder;
use crate::decode::layout::Part;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Location, Pointer};
use crate::decode::{layout, unsupported};
use crate::ir::{Access, AccessRoot, AddressUnit, Alignment, Dimension};
use rspirv::dr::Operand;
use rspirv::spirv::MemoryAccess;
use std::sync::Arc;
use vkcert_spirv::operation::sized::{NumberFormat, Width};

/// The access behind a pointer into memory.
pub(super) fn access(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<Option<Access>, Unsupported> {
    let parts = match &pointer.to {
        Location::Memory { arrangement, .. } => {
            layout::components(&decoder.types, &decoder.constants, pointer.ty, *arrangement)?
        }
        _ => Vec::new(),
    };
    access_to(decoder, &pointer.to, &parts)
}

/// The access of some parts at a place in memory.
pub(super) fn access_to(
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
            let words = words && !matches!(root, AccessRoot::Address(_));
            let unit = if words { AddressUnit::Word } else { AddressUnit::Byte };
            if unit == AddressUnit::Byte {
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
                    AccessRoot::Address(address) => Alignment {
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
pub(super) fn declared_alignment(decoder: &Decoder<'_>) -> u32 {
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
        AccessRoot::Address(_) => {
            let alignment = Alignment { access: form.width().bytes(), ..access.alignment };
            Access { alignment, ..access }
        }
        _ => access,
    };
    match (access.unit, access.root) {
        // Whether an address is aligned is known when it is followed.
        (AddressUnit::Word, _)
        | (AddressUnit::Byte, AccessRoot::Address(_) | AccessRoot::Pointer { .. }) => {
            Ok((access, form))
        }
        (AddressUnit::Byte, _) => Err(unsupported("an atomic on a number that is not aligned")),
    }
}

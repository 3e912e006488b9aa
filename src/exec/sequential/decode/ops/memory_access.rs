//! Memory accesses from pointers: root, dimensions, alignment.

use crate::decode::decoder::Decoder;
use crate::decode::layout::ScalarLayout;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Pointer, PointerTarget};
use crate::decode::{layout, unsupported};
use crate::ir::{Access, AccessRoot, AddressUnit, Alignment, Dimension};
use rspirv::dr::Operand;
use rspirv::spirv::MemoryAccess;
use std::sync::Arc;
use vkcert_spirv::operation::sized::{NumberFormat, Width};

/// The access behind a pointer into memory.
pub(super) fn access_of_pointer(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<Option<Access>, Unsupported> {
    let parts = match &pointer.target {
        PointerTarget::Memory { arrangement, .. } => layout::scalar_layouts(
            &decoder.types,
            &decoder.constants,
            pointer.pointee_type,
            *arrangement,
        )?,
        _ => Vec::new(),
    };
    access_to(decoder, &pointer.target, &parts)
}

/// The access to scalars of these layouts at a target in memory.
pub(super) fn access_to(
    decoder: &mut Decoder<'_>,
    target: &PointerTarget,
    scalar_layouts: &[ScalarLayout],
) -> Result<Option<Access>, Unsupported> {
    match target {
        PointerTarget::Memory { root, base, dimensions, arrangement: _, name } => {
            let strides = dimensions.iter().map(|dimension| dimension.stride);
            let mut byte_positions = scalar_layouts
                .iter()
                .map(|scalar_layout| scalar_layout.offset)
                .chain(strides)
                .chain([*base]);
            let all_words = byte_positions.all(|byte_position| byte_position % 4 == 0)
                && scalar_layouts.iter().all(|scalar_layout| scalar_layout.bytes == 4);
            // Whether an address is aligned to words is known only at run time.
            let all_words = all_words && !matches!(root, AccessRoot::Address(_));
            let unit = if all_words { AddressUnit::Word } else { AddressUnit::Byte };
            if unit == AddressUnit::Byte {
                let smallest_bytes = scalar_layouts
                    .iter()
                    .map(|scalar_layout| scalar_layout.bytes)
                    .min()
                    .unwrap_or(4);
                decoder.program.granule = decoder.program.granule.min(smallest_bytes);
            }
            let unit_bytes = unit.byte_count();
            let scaled_dimension = |dimension: &Dimension| Dimension {
                stride: dimension.stride / unit_bytes,
                ..*dimension
            };
            Ok(Some(Access {
                root: *root,
                unit,
                base: base / unit_bytes,
                dimensions: dimensions.iter().map(scaled_dimension).collect(),
                components: scalar_layouts
                    .iter()
                    .map(|scalar_layout| scalar_layout.offset / unit_bytes)
                    .collect(),
                sizes: if all_words {
                    Arc::new([])
                } else {
                    scalar_layouts.iter().map(|scalar_layout| scalar_layout.bytes).collect()
                },
                window: None,
                alignment: match root {
                    AccessRoot::Address(address) => Alignment {
                        access: declared_alignment(decoder),
                        block: decoder
                            .address_alignments
                            .alignments
                            .get(&address.low)
                            .copied()
                            .unwrap_or(1),
                    },
                    _ => Alignment::NONE,
                },
                name: Arc::clone(name),
            }))
        }
        PointerTarget::Registers(_) | PointerTarget::Constant(_) => Ok(None),
        PointerTarget::Descriptors { .. } => {
            Err(unsupported("a load or store of a whole array of descriptors"))
        }
        PointerTarget::Opaque(_) | PointerTarget::Texel(_) => {
            Err(unsupported("a load or store of an image or sampler"))
        }
    }
}

/// The alignment that the current instruction declares for its pointer, else 1. Where it has two
/// memory operands, of the target and of the source, the smaller one is used for both.
pub(super) fn declared_alignment(decoder: &Decoder<'_>) -> u32 {
    let operands =
        decoder.current_instruction().map_or(&[][..], |instruction| &instruction.operands);
    let alignments = operands.windows(2).filter_map(|pair| match pair {
        [Operand::MemoryAccess(flags), Operand::LiteralBit32(bytes)]
            if flags.contains(MemoryAccess::ALIGNED) =>
        {
            Some(*bytes)
        }
        _ => None,
    });
    alignments.min().unwrap_or(1).max(1)
}

/// The access of an atomic: a number of 32 or 64 bits in memory.
pub(crate) fn atomic_access(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<(Access, NumberFormat), Unsupported> {
    let number_format = decoder
        .form(pointer.pointee_type)
        .filter(|number_format| number_format.width() >= Width::W32);
    let number_format = number_format
        .ok_or_else(|| unsupported("an atomic on a type that is no scalar of 32 or 64 bits"))?;
    let access = access_of_pointer(decoder, pointer)?
        .ok_or_else(|| unsupported("an atomic on a private variable"))?;
    let access = match access.root {
        AccessRoot::Address(_) => {
            let alignment = Alignment { access: number_format.width().bytes(), ..access.alignment };
            Access { alignment, ..access }
        }
        _ => access,
    };
    match (access.unit, access.root) {
        // Whether a pointer is aligned is known only at run time.
        (AddressUnit::Word, _)
        | (AddressUnit::Byte, AccessRoot::Address(_) | AccessRoot::Pointer { .. }) => {
            Ok((access, number_format))
        }
        (AddressUnit::Byte, _) => Err(unsupported("an atomic on a number that is not aligned")),
    }
}

//! The scalars and texels in which two contents of a buffer differ.
//!
//! Knows: the blocks of the production modules that a job binds, and the shapes of its images.
//! Promises: every differing byte belongs to one difference; a byte that blocks see differently, or
//! that none sees, is compared as a byte.
//! Does not cover: whether a difference is permitted.

use vkcert_exec::Job;
use vkcert_exec::prepare::scalar_type;
use vkcert_model::element::ScalarType;
use vkcert_model::image::{ImageFormat, ImageShape, TexelPlace};
use vkcert_oracle::contents::ContentsDifference;
use vkcert_oracle::difference::{
    PermittedResults, ScalarDifference, TexelComponent, ValueBasis, ZeroSigns,
};
use vkcert_oracle::scalar::read_scalar;
use vkcert_oracle::texel::stored_offset;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::interface::Reflection;
use vkcert_spirv::locate::scalar_at;
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::precision::ImplementationFreedom;
use vkcert_spirv::types::Types;

/// What a comparison knows of a job's buffers.
pub struct BoundBlocks {
    modules: Vec<BoundModule>,
    /// By buffer: where a block of which module's type is bound.
    bound: Vec<Vec<BoundBlock>>,
    /// By buffer: the image whose contents it is.
    images: Vec<Option<ImageShape>>,
    /// Whether one of the kernels keeps the signs of zeros.
    pub zeros: ZeroSigns,
}

struct BoundModule {
    types: Types,
    constants: Constants,
}

struct BoundBlock {
    /// Bytes from the start of the buffer.
    start: u64,
    end: u64,
    module: usize,
    block: Id,
}

/// A scalar of a buffer: its type, its first byte.
struct LocatedScalar {
    ty: ScalarType,
    offset: u64,
}

impl LocatedScalar {
    /// Its bits in contents of the buffer; none where it reaches beyond them.
    fn bits_in(&self, contents: &[u8]) -> Option<u64> {
        read_scalar(contents, self.ty, self.offset as usize)
    }
}

impl BoundBlocks {
    /// Of the production modules of a job, as each dispatch specializes them. What cannot be
    /// reflected on is left out: its bytes have no type.
    pub fn of_job(job: &Job) -> Self {
        let (bound, images) =
            (job.buffers.iter().map(|_| Vec::new()).collect(), vec![None; job.buffers.len()]);
        let mut blocks = Self { modules: Vec::new(), bound, images, zeros: ZeroSigns::Equal };
        for image in &job.resources.images {
            blocks.images[image.buffer as usize] = Some(image.shape);
        }
        for dispatch in &job.dispatches {
            let words = &job.modules[dispatch.module].words;
            let Ok(module) = Module::parse(words.to_vec()) else { continue };
            let Ok(reflection) =
                Reflection::of_entry_point(&module, &dispatch.entry, &dispatch.specialization)
            else {
                continue;
            };
            let types = Types::of_module(&module);
            let Ok(constants) = Constants::evaluate(&module, &types, &dispatch.specialization)
            else {
                continue;
            };
            if ImplementationFreedom::of_entry_point(&module, reflection.function).zeros
                == ZeroSigns::Signed
            {
                blocks.zeros = ZeroSigns::Signed;
            }
            for binding in &dispatch.bindings {
                let resource = reflection.resources.iter().find(|bound_resource| {
                    (bound_resource.set, bound_resource.binding) == (binding.set, binding.binding)
                });
                let Some(resource) = resource else { continue };
                let start = binding.offset + binding.dynamic_offset;
                blocks.bound[binding.buffer].push(BoundBlock {
                    start,
                    end: start + binding.range,
                    module: blocks.modules.len(),
                    block: resource.block_type,
                });
            }
            blocks.modules.push(BoundModule { types, constants });
        }
        blocks
    }

    fn views_of_byte(
        &self,
        buffer: usize,
        byte: u64,
    ) -> impl Iterator<Item = (ScalarType, u64, String)> {
        let blocks_at_byte = self.bound[buffer]
            .iter()
            .filter(move |bound_block| (bound_block.start..bound_block.end).contains(&byte));
        blocks_at_byte.filter_map(move |bound_block| {
            let BoundModule { types, constants } = &self.modules[bound_block.module];
            let located_scalar =
                scalar_at(types, constants, bound_block.block, byte - bound_block.start)?;
            Some((
                scalar_type(types, located_scalar.ty)?,
                bound_block.start + located_scalar.offset,
                located_scalar.path,
            ))
        })
    }

    /// The scalar at a byte. Where blocks see it differently, and where none sees it, it is a byte.
    fn scalar_at(&self, buffer: usize, byte: u64) -> LocatedScalar {
        let mut scalar_views = self.views_of_byte(buffer, byte).map(|(ty, offset, _)| (ty, offset));
        match scalar_views.next() {
            Some((ty, offset)) if scalar_views.all(|other_view| other_view == (ty, offset)) => {
                LocatedScalar { ty, offset }
            }
            Some(_) | None => LocatedScalar { ty: ScalarType::Uint8, offset: byte },
        }
    }

    /// Where a difference stands in its image.
    pub fn texel_place(&self, scalar_difference: &ScalarDifference) -> Option<TexelPlace> {
        let (shape, texel) = (self.images[scalar_difference.buffer]?, scalar_difference.texel?);
        shape.texel_place(
            scalar_difference.offset / shape.format.texel_size() as u64,
            texel.component,
        )
    }

    /// How a program names the scalar of a difference: `values[3].x`, a texel; the byte where it
    /// has no name.
    pub fn path_in_program(&self, scalar_difference: &ScalarDifference) -> String {
        if let Some(texel) = self.texel_place(scalar_difference) {
            return texel.to_string();
        }
        let (buffer, offset) = (scalar_difference.buffer, scalar_difference.offset);
        self.views_of_byte(buffer, offset)
            .next()
            .map_or_else(|| format!("byte {offset}"), |(_, _, path)| path)
    }

    /// Scalars in which two contents of a buffer differ, ascending.
    pub fn scalar_differences(&self, contents: ContentsDifference<'_>) -> Vec<ScalarDifference> {
        let ContentsDifference { buffer, left: our_bytes, right: their_bytes } = contents;
        if let Some(shape) = self.images[buffer] {
            return texel_differences(buffer, shape.format, our_bytes, their_bytes);
        }
        let mut differences_found: Vec<ScalarDifference> = Vec::new();
        let mut end_of_last = 0;
        for byte_offset in contents.offsets() {
            if byte_offset < end_of_last {
                continue;
            }
            let mut scalar = self.scalar_at(buffer, byte_offset as u64);
            let whole_scalars = (scalar.bits_in(our_bytes), scalar.bits_in(their_bytes));
            let (ours, theirs) = match whole_scalars {
                (Some(our_bits), Some(their_bits)) => (our_bits, their_bits),
                // The scalar reaches beyond the buffer: its bytes.
                _ => {
                    scalar = LocatedScalar { ty: ScalarType::Uint8, offset: byte_offset as u64 };
                    (our_bytes[byte_offset].into(), their_bytes[byte_offset].into())
                }
            };
            end_of_last = scalar.offset as usize + scalar.ty.size();
            let permitted = PermittedResults::none_for(scalar.ty);
            let (scalar, offset) = (scalar.ty, scalar.offset);
            differences_found.push(ScalarDifference {
                buffer,
                offset,
                scalar,
                texel: None,
                ours,
                theirs,
                permitted,
                basis: ValueBasis::Defined,
            });
        }
        differences_found
    }
}

/// Components in which two contents of an image differ, ascending. A texel whose bytes differ has
/// at least one, though two encodings of one value may be all that differs.
pub(super) fn texel_differences(
    buffer: usize,
    format: ImageFormat,
    our_bytes: &[u8],
    their_bytes: &[u8],
) -> Vec<ScalarDifference> {
    let (texel_size, component_type) = (format.texel_size(), format.component());
    let components = u64::from(format.components());
    let texels =
        our_bytes.chunks_exact(texel_size).zip(their_bytes.chunks_exact(texel_size)).enumerate();
    let mut differences_found = Vec::new();
    for (index, (left, right)) in texels.filter(|(_, (left, right))| left != right) {
        let count_before = differences_found.len();
        let mut all_components = Vec::new();
        for component in 0..components {
            let texel = TexelComponent { format, component: component as u32 };
            let (Some(ours), Some(theirs)) =
                (texel.component_bits(left, 0), texel.component_bits(right, 0))
            else {
                continue;
            };
            let offset = stored_offset(
                format,
                (index as u64 * components + component) * component_type.size() as u64,
            );
            let permitted = PermittedResults::none_for(component_type);
            all_components.push(ScalarDifference {
                buffer,
                offset,
                scalar: component_type,
                texel: Some(texel),
                ours,
                theirs,
                permitted,
                basis: ValueBasis::Defined,
            });
        }
        differences_found.extend(
            all_components
                .iter()
                .filter(|component_difference| {
                    component_difference.ours != component_difference.theirs
                })
                .cloned(),
        );
        if differences_found.len() == count_before {
            differences_found.extend(all_components.into_iter().next());
        }
    }
    differences_found
}

//! Values of ids: constants, scalars, pointers.

use super::decoder::Decoder;
use super::layout::ScalarKind;
use super::unsupported::{Unsupported, unsupported};
use super::value::{DecodedValue, OpaqueHandle, Pointer};
use crate::decode::{ops, source_text};
use crate::ir::*;
use std::sync::Arc;
use vkcert_spirv::constants::ConstantValue;
use vkcert_spirv::module::Id;
use vkcert_spirv::types::Type;

impl<'a> Decoder<'a> {
    pub(crate) fn value_of(&mut self, value_id: Id) -> Result<DecodedValue, Unsupported> {
        if let Some(value) = self.frames.last().and_then(|frame| frame.values.get(&value_id)) {
            return Ok(value.clone());
        }
        if let Some(value) = self.global_values.get(&value_id) {
            return Ok(value.clone());
        }
        let value = self.global_value(value_id)?;
        self.global_values.insert(value_id, value.clone());
        Ok(value)
    }

    pub(crate) fn push_constant_scalars(
        &mut self,
        value: &ConstantValue,
        type_id: Id,
        scalars: &mut Vec<Scalar>,
    ) -> Result<(), Unsupported> {
        let kinds = self.scalar_kinds(type_id)?;
        match value {
            ConstantValue::Scalar(bits) => {
                scalars.push(Scalar::Word(self.constant_word(*bits as u32)));
                if kinds.len() == 2 {
                    scalars.push(Scalar::Word(self.constant_word((bits >> 32) as u32)));
                }
            }
            ConstantValue::Bool(value) => scalars.push(Scalar::Mask(self.constant_mask(*value))),
            ConstantValue::Null => {
                for kind in kinds {
                    scalars.push(match kind {
                        ScalarKind::Word => Scalar::Word(self.constant_word(0)),
                        ScalarKind::Mask => Scalar::Mask(self.constant_mask(false)),
                    });
                }
            }
            ConstantValue::Undef => {
                for kind in kinds {
                    let scalar = self.new_scalar(kind);
                    match scalar {
                        Scalar::Word(reg) => self.program.undefined_words.push(reg),
                        Scalar::Mask(reg) => self.program.undefined_masks.push(reg),
                    }
                    scalars.push(scalar);
                }
            }
            ConstantValue::Composite(parts)
                if matches!(self.types.get(type_id), Some(Type::CooperativeMatrix { .. })) =>
            {
                let mut constituent_scalars = Vec::new();
                for constituent in parts {
                    let inner_type = self.types.component_type(type_id, 0);
                    self.push_constant_scalars(
                        constituent,
                        inner_type.ok_or_else(|| unsupported("a matrix without elements"))?,
                        &mut constituent_scalars,
                    )?;
                }
                // One constituent stands for all elements.
                let repetitions = kinds.len() / constituent_scalars.len().max(1);
                scalars.extend(constituent_scalars.repeat(repetitions));
            }
            ConstantValue::Composite(parts) => {
                for (index, constituent) in parts.iter().enumerate() {
                    let inner_type = self.types.component_type(type_id, index as u32);
                    let inner_type = inner_type
                        .ok_or_else(|| unsupported("a constant whose type does not match"))?;
                    self.push_constant_scalars(constituent, inner_type, scalars)?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn scalars_of(&mut self, value_id: Id) -> Result<Arc<[Scalar]>, Unsupported> {
        match self.value_of(value_id)? {
            DecodedValue::Scalars(scalars) => Ok(scalars),
            DecodedValue::Pointer(pointer) => ops::pointer::as_address(self, &pointer),
            DecodedValue::Opaque(_) => {
                Err(unsupported("an image or sampler where a number is expected"))
            }
        }
    }

    pub(crate) fn words_of(&mut self, value_id: Id) -> Result<Vec<Reg>, Unsupported> {
        self.scalars_of(value_id)?
            .iter()
            .map(|scalar| match scalar {
                Scalar::Word(reg) => Ok(*reg),
                Scalar::Mask(_) => Err(unsupported("a Boolean where a number is expected")),
            })
            .collect()
    }

    pub(crate) fn masks_of(&mut self, value_id: Id) -> Result<Vec<Reg>, Unsupported> {
        self.scalars_of(value_id)?
            .iter()
            .map(|scalar| match scalar {
                Scalar::Mask(reg) => Ok(*reg),
                Scalar::Word(_) => Err(unsupported("a number where a Boolean is expected")),
            })
            .collect()
    }

    pub(crate) fn pointer_of(&mut self, value_id: Id) -> Result<Pointer, Unsupported> {
        match self.value_of(value_id)? {
            DecodedValue::Pointer(pointer) => Ok(pointer),
            DecodedValue::Scalars(_) => ops::pointer::from_address(self, value_id),
            DecodedValue::Opaque(_) => Err(unsupported("an image or sampler as a pointer")),
        }
    }

    pub(crate) fn opaque_of(&mut self, value_id: Id) -> Result<OpaqueHandle, Unsupported> {
        match self.value_of(value_id)? {
            DecodedValue::Opaque(opaque) => Ok(opaque),
            DecodedValue::Pointer(_) | DecodedValue::Scalars(_) => {
                Err(unsupported("a value that is no image or sampler"))
            }
        }
    }

    /// Notes the alignment that the block type behind an address declares, if it declares one.
    pub(crate) fn note_address_alignment(&mut self, address: Reg, block_type: Id) {
        let module = self.module;
        let declared_alignments = self.address_alignments.declared.get_or_insert_with(|| {
            let texts = source_text::source_texts(module);
            texts.values().flat_map(|text| vkcert_glsl::reference_alignments(text)).collect()
        });
        let alignment = match self.types.get(block_type) {
            Some(Type::Structure { name: Some(name), .. }) => {
                declared_alignments.get(name).copied()
            }
            _ => None,
        };
        match alignment {
            Some(alignment) => {
                self.address_alignments.alignments.insert(address, alignment.max(1));
            }
            None => {
                self.address_alignments.alignments.remove(&address);
            }
        }
    }

    /// The instance name of a block, or the block's own where it has none.
    pub(crate) fn block_name(&self, variable: Id) -> String {
        if let Some(name) = self.module.debug_name(variable).filter(|name| !name.is_empty()) {
            return name.to_owned();
        }
        let contents = self
            .module
            .definition(variable)
            .and_then(|definition| self.types.variable_contents(definition));
        contents
            .map_or_else(|| format!("%{variable}"), |(_, type_id)| self.types.glsl_name(type_id))
    }
}

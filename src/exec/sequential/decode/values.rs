//! Values of ids: constants, scalars, pointers.

use super::decoder::Decoder;
use super::layout::Kind;
use super::unsupported::{Unsupported, unsupported};
use super::value::{Opaque, Pointer, Value};
use crate::decode::{ops, source_text};
use crate::ir::*;
use std::sync::Arc;
use vkcert_spirv::constants::ConstantValue;
use vkcert_spirv::module::Id;
use vkcert_spirv::types::Type;

impl<'a> Decoder<'a> {
    pub(crate) fn value(&mut self, id: Id) -> Result<Value, Unsupported> {
        if let Some(value) = self.frames.last().and_then(|frame| frame.values.get(&id)) {
            return Ok(value.clone());
        }
        if let Some(value) = self.globals.get(&id) {
            return Ok(value.clone());
        }
        let value = self.global(id)?;
        self.globals.insert(id, value.clone());
        Ok(value)
    }

    pub(crate) fn constant(
        &mut self,
        value: &ConstantValue,
        ty: Id,
        into: &mut Vec<Scalar>,
    ) -> Result<(), Unsupported> {
        let kinds = self.kinds(ty)?;
        match value {
            ConstantValue::Scalar(bits) => {
                into.push(Scalar::Word(self.constant_word(*bits as u32)));
                if kinds.len() == 2 {
                    into.push(Scalar::Word(self.constant_word((bits >> 32) as u32)));
                }
            }
            ConstantValue::Bool(value) => into.push(Scalar::Mask(self.constant_mask(*value))),
            ConstantValue::Null => {
                for kind in kinds {
                    into.push(match kind {
                        Kind::Word => Scalar::Word(self.constant_word(0)),
                        Kind::Mask => Scalar::Mask(self.constant_mask(false)),
                    });
                }
            }
            ConstantValue::Undef => {
                for kind in kinds {
                    let scalar = self.scalar(kind);
                    match scalar {
                        Scalar::Word(reg) => self.program.undefined_words.push(reg),
                        Scalar::Mask(reg) => self.program.undefined_masks.push(reg),
                    }
                    into.push(scalar);
                }
            }
            ConstantValue::Composite(parts)
                if matches!(self.types.get(ty), Some(Type::CooperativeMatrix { .. })) =>
            {
                let mut one = Vec::new();
                for part in parts {
                    let inner = self.types.component_type(ty, 0);
                    self.constant(
                        part,
                        inner.ok_or_else(|| unsupported("a matrix without elements"))?,
                        &mut one,
                    )?;
                }
                // One constituent stands for all elements.
                let times = kinds.len() / one.len().max(1);
                into.extend(one.repeat(times));
            }
            ConstantValue::Composite(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    let inner = self.types.component_type(ty, index as u32);
                    let inner =
                        inner.ok_or_else(|| unsupported("a constant whose type does not match"))?;
                    self.constant(part, inner, into)?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn scalars(&mut self, id: Id) -> Result<Arc<[Scalar]>, Unsupported> {
        match self.value(id)? {
            Value::Scalars(scalars) => Ok(scalars),
            Value::Pointer(pointer) => ops::pointer::as_address(self, &pointer),
            Value::Opaque(_) => Err(unsupported("an image or sampler where a number is expected")),
        }
    }

    pub(crate) fn words(&mut self, id: Id) -> Result<Vec<Reg>, Unsupported> {
        self.scalars(id)?
            .iter()
            .map(|scalar| match scalar {
                Scalar::Word(reg) => Ok(*reg),
                Scalar::Mask(_) => Err(unsupported("a Boolean where a number is expected")),
            })
            .collect()
    }

    pub(crate) fn masks(&mut self, id: Id) -> Result<Vec<Reg>, Unsupported> {
        self.scalars(id)?
            .iter()
            .map(|scalar| match scalar {
                Scalar::Mask(reg) => Ok(*reg),
                Scalar::Word(_) => Err(unsupported("a number where a Boolean is expected")),
            })
            .collect()
    }

    pub(crate) fn pointer(&mut self, id: Id) -> Result<Pointer, Unsupported> {
        match self.value(id)? {
            Value::Pointer(pointer) => Ok(pointer),
            Value::Scalars(_) => ops::pointer::from_address(self, id),
            Value::Opaque(_) => Err(unsupported("an image or sampler as a pointer")),
        }
    }

    pub(crate) fn opaque(&mut self, id: Id) -> Result<Opaque, Unsupported> {
        match self.value(id)? {
            Value::Opaque(opaque) => Ok(opaque),
            Value::Pointer(_) | Value::Scalars(_) => {
                Err(unsupported("a value that is no image or sampler"))
            }
        }
    }

    /// Notes that an address leads to a block of a type, which may say how such addresses are
    /// aligned.
    pub(crate) fn note_reference(&mut self, address: Reg, block: Id) {
        let module = self.module;
        let declared = self.references.declared.get_or_insert_with(|| {
            let texts = source_text::source_texts(module);
            texts.values().flat_map(|text| vkcert_glsl::reference_alignments(text)).collect()
        });
        let bytes = match self.types.get(block) {
            Some(Type::Structure { name: Some(name), .. }) => declared.get(name).copied(),
            _ => None,
        };
        match bytes {
            Some(bytes) => drop(self.references.alignments.insert(address, bytes.max(1))),
            None => drop(self.references.alignments.remove(&address)),
        }
    }

    /// The instance name of a block, or the block's own where it has none.
    pub(crate) fn block_name(&self, variable: Id) -> String {
        if let Some(name) = self.module.debug_name(variable).filter(|name| !name.is_empty()) {
            return name.to_owned();
        }
        let held =
            self.module.definition(variable).and_then(|one| self.types.variable_contents(one));
        held.map_or_else(|| format!("%{variable}"), |(_, ty)| self.types.glsl_name(ty))
    }
}

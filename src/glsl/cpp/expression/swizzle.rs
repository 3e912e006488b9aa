//! Swizzles and what is written through them: C++ has no reference to several components at once.

use super::{COMPONENT_NAMES, component_list};
use crate::cpp::{Emitted, Emitter, Unsupported};
use crate::syntax::{Expression, ExpressionKind, TokenIndex};

impl Emitter<'_> {
    /// What is written: of swizzles of a swizzle the components that they come to.
    pub(in crate::cpp) fn emit_written_place(&mut self, target: &Expression) -> Emitted {
        let (base, components) = self.composed_swizzle(target)?;
        match components.as_slice() {
            [] => self.emit_expression(base),
            [0] if self.is_scalar(base) == Some(true) => self.emit_expression(base),
            [component] => {
                self.emit_expression(base)?;
                self.out.write_piece(COMPONENT_NAMES[*component]);
                Ok(())
            }
            several => {
                self.out.write_piece(&format!("swizzled<{}>(", component_list(several)));
                self.emit_expression(base)?;
                self.out.write_piece(")");
                Ok(())
            }
        }
    }

    /// The vector that is written and which of its components; none: all of what is written.
    fn composed_swizzle<'e>(
        &self,
        target: &'e Expression,
    ) -> Result<(&'e Expression, Vec<usize>), Unsupported> {
        match &target.kind {
            ExpressionKind::Parenthesised(inner) => self.composed_swizzle(inner),
            ExpressionKind::Field { base, name } => {
                let outer_components = self.field_components(base, *name)?;
                if outer_components.is_empty() {
                    self.refuse_copy(base)?;
                    return Ok((target, Vec::new()));
                }
                let (base, inner_components) = self.composed_swizzle(base)?;
                let composed_component = |component_index: usize| {
                    inner_components.get(component_index).copied().unwrap_or(component_index)
                };
                Ok((base, outer_components.into_iter().map(composed_component).collect()))
            }
            ExpressionKind::Index { base, .. } => {
                self.refuse_copy(base)?;
                Ok((target, Vec::new()))
            }
            _ => Ok((target, Vec::new())),
        }
    }

    /// A part of several components is a copy in the program: nothing in it can be written.
    fn refuse_copy(&self, base: &Expression) -> Emitted {
        match self.composed_swizzle(base)?.1.len() {
            0 | 1 => Ok(()),
            _ => Err(self.unsupported_at("an index of a swizzle that is written", base.first)),
        }
    }

    /// The components that a swizzle of these letters names.
    pub(in crate::cpp) fn swizzle_components(&self, name: TokenIndex) -> Option<Vec<usize>> {
        let swizzle_letters = self.token_text(name);
        if swizzle_letters.len() > 4 {
            return None;
        }
        ["xyzw", "rgba", "stpq"].iter().find_map(|letter_set| {
            swizzle_letters.chars().map(|letter| letter_set.find(letter)).collect()
        })
    }

    /// The components that a field is; none where it is a member of a structure.
    pub(in crate::cpp) fn field_components(
        &self,
        base: &Expression,
        name: TokenIndex,
    ) -> Result<Vec<usize>, Unsupported> {
        match self.swizzle_components(name) {
            Some(components) if !self.is_member(base, name)? => Ok(components),
            Some(_) | None => Ok(Vec::new()),
        }
    }

    /// C++ has no reference to several components at once.
    pub(in crate::cpp) fn refuse_written_swizzle(&self, argument: &Expression) -> Emitted {
        self.refuse_written_view(argument)?;
        match self.composed_swizzle(argument)? {
            (_, components) if components.len() > 1 => {
                Err(self.unsupported_at("a swizzle that a function writes", argument.last))
            }
            (base, components) if !components.is_empty() && base.last + 2 != argument.last => {
                Err(self
                    .unsupported_at("a swizzle of a swizzle that a function writes", argument.last))
            }
            _ => Ok(()),
        }
    }

    /// A whole array of a block has no place of its own in the program.
    fn refuse_written_view(&self, argument: &Expression) -> Emitted {
        let symbol = match &argument.kind {
            ExpressionKind::Parenthesised(inner) => return self.refuse_written_view(inner),
            ExpressionKind::Identifier => self.resolve_name(self.token_text(argument.first)),
            ExpressionKind::Field { base, name } => {
                self.block_members(base).and_then(|members| members.get(self.token_text(*name)))
            }
            _ => None,
        };
        match symbol.is_some_and(|symbol| self.views.contains(&symbol.text)) {
            true => {
                Err(self
                    .unsupported_at("an array of a block that a function writes", argument.first))
            }
            false => Ok(()),
        }
    }
}

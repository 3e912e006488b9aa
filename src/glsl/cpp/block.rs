//! Blocks: views of bound buffers, and copies of what is only read.
//!
//! Knows: GLSL's members and, from reflection, where their bytes lie (`ValueLayout`).
//! Promises: a member of a storage block is referred to in place only where its bytes lie as those
//! of the C++ type do; other layouts are unsupported by name (`layout`). Uniform blocks and push
//! constants are copied out number by number, so that any layout of them will do. What lies beyond
//! the range that is bound stops the program where it is accessed, and nowhere else.

use super::super::syntax::{Declaration, Declarator, DeclaredType, TokenIndex};
use super::{Emitted, Emitter, MatrixOrder, NameSymbol, ValueLayout, ValuePlace, built_in, layout};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where a block is bound.
#[derive(Debug, Clone)]
enum BlockRange {
    /// As C++ writes the range.
    Range(String),
    /// The entry point does not use it.
    Nowhere,
}

/// A member of a block as it is declared in C++.
struct BlockMember<'a> {
    /// `static ` or nothing.
    storage: &'static str,
    declared: &'a DeclaredType,
    declarator: &'a Declarator,
    /// How expressions reach it.
    path: String,
    bound: Option<BoundMember<'a>>,
}

/// Where a member's value stands in what is bound.
struct BoundMember<'a> {
    /// As C++ writes it.
    range: &'a str,
    /// In bytes from the range's start.
    offset: u32,
    layout: &'a ValueLayout,
}

impl<'a> Emitter<'a> {
    /// A block at file level.
    pub(super) fn emit_block(&mut self, declaration: &Declaration) -> Emitted {
        let declared_type = &declaration.declared;
        let near_token = declared_type.name.unwrap_or_default();
        let block_name = self.token_text(near_token);
        let (bound, layout) = self.block_binding(declared_type, block_name);
        let block_noun =
            if declared_type.has_qualifier("buffer") { "storage block" } else { "block" };
        self.out.line(&format!("// The {block_noun} `{block_name}`."));
        let members = match layout {
            Some(ValueLayout::Structure(members)) => members.iter().map(Some).collect(),
            Some(_) => {
                return Err(
                    self.unsupported_at(format!("the layout of `{block_name}`"), near_token)
                );
            }
            None => Vec::new(),
        };
        match declaration.declarators.first() {
            None => {
                let symbols = self.emit_members(declared_type, "", &bound, members)?;
                symbols.into_iter().for_each(|(name, symbol)| {
                    self.declare_name(&name, symbol.text, symbol.place, symbol.shape)
                });
            }
            Some(instance_declarator) if instance_declarator.sizes.is_empty() => {
                let spelled = built_in::spelled_name(self.token_text(instance_declarator.name));
                self.out.open_block("static struct {");
                let symbols =
                    self.emit_members(declared_type, &format!("{spelled}."), &bound, members)?;
                self.out.close_block(&format!("}} {spelled};"));
                self.declare_name(
                    self.token_text(instance_declarator.name),
                    spelled,
                    ValuePlace::Block(symbols),
                    None,
                );
            }
            Some(instance_declarator) => {
                return Err(self.unsupported_at("an array of blocks", instance_declarator.name));
            }
        }
        self.out.line("");
        Ok(())
    }

    fn block_binding(
        &self,
        declared_type: &DeclaredType,
        block_name: &str,
    ) -> (BlockRange, Option<&'a ValueLayout>) {
        if declared_type.layout.iter().any(|layout_name| layout_name == "push_constant") {
            let layout = self.interface.push_constants.as_ref();
            let bound_range =
                "Range{const_cast<unsigned char *>(job.push.data()), job.push.size()}".to_owned();
            return (
                if layout.is_some() { BlockRange::Range(bound_range) } else { BlockRange::Nowhere },
                layout,
            );
        }
        match self.interface.blocks.get(block_name) {
            Some(block) => {
                let bound_range = format!("job.bound({}, {})", block.set, block.binding);
                (BlockRange::Range(bound_range), Some(&block.layout))
            }
            None => (BlockRange::Nowhere, None),
        }
    }

    /// Declares the members; `prefix` is how expressions reach them.
    fn emit_members(
        &mut self,
        declared_type: &DeclaredType,
        path_prefix: &str,
        bound: &BlockRange,
        layouts: Vec<Option<&(u32, ValueLayout)>>,
    ) -> Result<BTreeMap<String, NameSymbol<'a>>, super::Unsupported> {
        let mut symbols = BTreeMap::new();
        let mut member_layouts = layouts.into_iter();
        for member in &declared_type.members {
            for declarator in &member.declarators {
                let layout = member_layouts.next().flatten();
                let member_name = self.token_text(declarator.name);
                let spelled_name = built_in::spelled_name(member_name);
                let bound_member = match (bound, layout) {
                    (BlockRange::Range(range), Some((offset, layout))) => {
                        Some(BoundMember { range, offset: *offset, layout })
                    }
                    (BlockRange::Range(_) | BlockRange::Nowhere, _) => None,
                };
                let storage = if path_prefix.is_empty() { "static " } else { "" };
                let member_path = format!("{path_prefix}{spelled_name}");
                let member = BlockMember {
                    storage,
                    declared: &member.declared,
                    declarator,
                    path: member_path,
                    bound: bound_member,
                };
                let symbol = if declared_type.has_qualifier("buffer") {
                    self.emit_stored_member(member)?
                } else {
                    self.emit_copied_member(member)?
                };
                symbols.insert(member_name.to_owned(), symbol);
            }
        }
        Ok(symbols)
    }

    /// A member of a storage block.
    fn emit_stored_member(
        &mut self,
        member: BlockMember,
    ) -> Result<NameSymbol<'a>, super::Unsupported> {
        let BlockMember { storage, declared, declarator, path: member_path, bound } = member;
        let (member_name, near_token) = (self.token_text(declarator.name), declarator.name);
        let element_type = self.element_name(declared, near_token)?;
        if element_type == "bool" || element_type.starts_with("bvec") {
            return Err(self.unsupported_at(
                format!("the Boolean `{member_name}` in a storage block"),
                near_token,
            ));
        }
        let array_sizes = layout::all_sizes(declared, &declarator.sizes);
        let is_array = !array_sizes.is_empty();
        self.out.start_line();
        self.out
            .write_piece(&format!("{storage}{}<", if is_array { "Elements" } else { "Member" }));
        self.write_array(
            &element_type,
            array_sizes.get(1..).unwrap_or_default(),
            None,
            near_token,
        )?;
        self.out.write_piece(&format!("> {};", built_in::spelled_name(member_name)));
        self.out.end_line();
        let refuse_layout = |emitter: &Self, reason: &str| {
            emitter.unsupported_at(format!("the layout of `{member_name}` ({reason})"), near_token)
        };
        if let Some(BoundMember { range, offset, layout }) = bound {
            let binding_line = match (is_array, layout) {
                (true, ValueLayout::Array { stride, count, element }) => {
                    let element_size = self
                        .fitting_size(declared, element)
                        .map_err(|reason| refuse_layout(self, &reason))?;
                    if *stride < element_size {
                        return Err(refuse_layout(self, "elements that overlap"));
                    }
                    format!(
                        "{member_path}.bind({range}, {offset}, {stride}, {});",
                        count.unwrap_or(0)
                    )
                }
                (false, layout) => {
                    self.fitting_size(declared, layout)
                        .map_err(|reason| refuse_layout(self, &reason))?;
                    format!("{member_path}.bind({range}, {offset});")
                }
                (true, _) => return Err(refuse_layout(self, "no array")),
            };
            self.bindings.push(binding_line);
        }
        let access_text = if is_array { member_path } else { format!("{member_path}.get()") };
        let access_text: Rc<str> = access_text.into();
        if is_array {
            self.views.insert(Rc::clone(&access_text));
        }
        let declared_shape = self.declared_shape(declared, &declarator.sizes);
        Ok(NameSymbol {
            text: access_text,
            place: ValuePlace::InMemory,
            field: None,
            shape: declared_shape,
        })
    }

    /// A member of a block that is only read. What of it is there is copied before a dispatch; the
    /// program stops where it reads the rest.
    fn emit_copied_member(
        &mut self,
        member: BlockMember,
    ) -> Result<NameSymbol<'a>, super::Unsupported> {
        let BlockMember { storage, declared, declarator, path: member_path, bound } = member;
        let near_token = declarator.name;
        let is_array = !layout::all_sizes(declared, &declarator.sizes).is_empty();
        self.out.start_line();
        self.out.write_piece(&format!("{storage}{}<", if is_array { "Copies" } else { "Copied" }));
        self.write_type(declared, &declarator.sizes, None, near_token)?;
        self.out
            .write_piece(&format!("> {};", built_in::spelled_name(self.token_text(near_token))));
        self.out.end_line();
        if let Some(BoundMember { range, offset, layout }) = bound {
            let copied = CopySource { range, declared, near: near_token };
            match (is_array, layout) {
                (true, ValueLayout::Array { stride, count: Some(count), element }) => {
                    self.bindings
                        .push(format!("for (std::size_t at_0 = 0; at_0 < {count}; ++at_0) {{"));
                    let target = format!("{member_path}.value.elements[at_0]");
                    self.emit_copy(
                        &copied,
                        &target,
                        element,
                        &format!("{offset} + at_0 * {stride}"),
                        1,
                    )?;
                    self.bindings.push(format!("{member_path}.end(at_0);"));
                    self.bindings.push("}".to_owned());
                }
                (_, layout) => {
                    self.emit_copy(
                        &copied,
                        &format!("{member_path}.value"),
                        layout,
                        &offset.to_string(),
                        0,
                    )?;
                    self.bindings.push(format!("{member_path}.end();"));
                }
            }
        }
        let access_text = if is_array { member_path } else { format!("{member_path}.get()") };
        let declared_shape = self.declared_shape(declared, &declarator.sizes);
        Ok(NameSymbol {
            text: access_text.into(),
            place: ValuePlace::Unwritten,
            field: None,
            shape: declared_shape,
        })
    }

    /// Lines that copy a value of a block that is only read.
    fn emit_copy(
        &mut self,
        copied: &CopySource,
        target: &str,
        layout: &ValueLayout,
        offset: &str,
        depth: usize,
    ) -> Emitted {
        match layout {
            ValueLayout::Number(_) | ValueLayout::Vector { .. } => {
                self.bindings.push(format!("load({target}, {}, {offset});", copied.range));
                Ok(())
            }
            ValueLayout::Matrix { bytes, stride, order, .. } => {
                let [column, row] = match order {
                    MatrixOrder::Columns => [stride, bytes],
                    MatrixOrder::Rows => [bytes, stride],
                };
                self.bindings
                    .push(format!("load({target}, {}, {offset}, {column}, {row});", copied.range));
                Ok(())
            }
            ValueLayout::Array { stride, count: Some(count), element } => {
                let index_name = format!("at_{depth}");
                self.bindings.push(format!(
                    "for (std::size_t {index_name} = 0; {index_name} < {count}; ++{index_name}) {{"
                ));
                let (element_target, offset) = (
                    format!("{target}.elements[{index_name}]"),
                    format!("{offset} + {index_name} * {stride}"),
                );
                self.emit_copy(copied, &element_target, element, &offset, depth + 1)?;
                self.bindings.push("}".to_owned());
                Ok(())
            }
            ValueLayout::Structure(members) => {
                let name = copied.declared.name.unwrap_or(copied.near);
                let known_members = self.structure_members(name)?;
                for (member, (member_offset, member_layout)) in known_members.iter().zip(members) {
                    let member_path = format!("{target}.{}", member.name);
                    let copied = CopySource { declared: member.declared, ..*copied };
                    self.emit_copy(
                        &copied,
                        &member_path,
                        member_layout,
                        &format!("{offset} + {member_offset}"),
                        depth,
                    )?;
                }
                Ok(())
            }
            ValueLayout::Array { count: None, .. } => {
                Err(self.unsupported_at("an array without a size", copied.near))
            }
            ValueLayout::Other(unsupported_kind) => {
                Err(self.unsupported_at(format!("{unsupported_kind} in a block"), copied.near))
            }
        }
    }
}

/// What is copied out of a block.
#[derive(Clone, Copy)]
struct CopySource<'a> {
    range: &'a str,
    declared: &'a DeclaredType,
    near: TokenIndex,
}

//! Blocks: views of bound buffers, and copies of what is only read.
//!
//! Knows: GLSL's members and, from reflection, where their bytes lie (`Layout`).
//! Promises: a member of a storage block is referred to in place only where its bytes lie as those
//! of the C++ type do; other layouts are unsupported by name (`layout`). Uniform blocks and push
//! constants are copied out number by number, so that any layout of them will do. What lies beyond
//! the range that is bound stops the program where it is accessed, and nowhere else.

use super::super::syntax::{Declaration, Declarator, DeclaredType, TokenIndex};
use super::{Emitted, Emitter, Held, Layout, MatrixOrder, Symbol, built_in, layout};
use std::collections::BTreeMap;

/// Where a block is bound.
#[derive(Debug, Clone)]
enum Bound {
    /// As C++ writes the range.
    To(String),
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
    layout: Layout,
}

impl Emitter<'_> {
    /// A block at file level.
    pub(super) fn block(&mut self, declaration: &Declaration) -> Emitted {
        let declared = &declaration.declared;
        let near = declared.name.unwrap_or_default();
        let name = self.text(near);
        let (bound, layout) = self.binding(declared, name);
        let what = if declared.has("buffer") { "storage block" } else { "block" };
        self.out.line(&format!("// The {what} `{name}`."));
        let members = match layout {
            Some(Layout::Structure(members)) => members.into_iter().map(Some).collect(),
            Some(_) => return Err(self.unsupported(format!("the layout of `{name}`"), near)),
            None => Vec::new(),
        };
        match declaration.declarators.first() {
            None => {
                let symbols = self.members(declared, "", &bound, members)?;
                symbols.into_iter().for_each(|(name, symbol)| {
                    self.declare(&name, symbol.text, symbol.place, symbol.shape)
                });
            }
            Some(instance) if instance.sizes.is_empty() => {
                let spelled = built_in::spelled(self.text(instance.name));
                self.out.open("static struct {");
                let symbols = self.members(declared, &format!("{spelled}."), &bound, members)?;
                self.out.close(&format!("}} {spelled};"));
                self.declare(self.text(instance.name), spelled, Held::Block(symbols), None);
            }
            Some(instance) => return Err(self.unsupported("an array of blocks", instance.name)),
        }
        self.out.line("");
        Ok(())
    }

    fn binding(&self, declared: &DeclaredType, name: &str) -> (Bound, Option<Layout>) {
        if declared.layout.iter().any(|known| known == "push_constant") {
            let layout = self.interface.push_constants.clone();
            let range =
                "Range{const_cast<unsigned char *>(job.push.data()), job.push.size()}".to_owned();
            return (if layout.is_some() { Bound::To(range) } else { Bound::Nowhere }, layout);
        }
        match self.interface.blocks.get(name) {
            Some(block) => {
                let range = format!("job.bound({}, {})", block.set, block.binding);
                (Bound::To(range), Some(block.layout.clone()))
            }
            None => (Bound::Nowhere, None),
        }
    }

    /// Declares the members; `prefix` is how expressions reach them.
    fn members(
        &mut self,
        declared: &DeclaredType,
        prefix: &str,
        bound: &Bound,
        layouts: Vec<Option<(u32, Layout)>>,
    ) -> Result<BTreeMap<String, Symbol>, super::Unsupported> {
        let mut symbols = BTreeMap::new();
        let mut layouts = layouts.into_iter();
        for member in &declared.members {
            for declarator in &member.declarators {
                let layout = layouts.next().flatten();
                let name = self.text(declarator.name);
                let spelled = built_in::spelled(name);
                let bound = match (bound, layout) {
                    (Bound::To(range), Some((offset, layout))) => {
                        Some(BoundMember { range, offset, layout })
                    }
                    (Bound::To(_) | Bound::Nowhere, _) => None,
                };
                let storage = if prefix.is_empty() { "static " } else { "" };
                let path = format!("{prefix}{spelled}");
                let member =
                    BlockMember { storage, declared: &member.declared, declarator, path, bound };
                let symbol = if declared.has("buffer") {
                    self.stored(member)?
                } else {
                    self.copied(member)?
                };
                symbols.insert(name.to_owned(), symbol);
            }
        }
        Ok(symbols)
    }

    /// A member of a storage block.
    fn stored(&mut self, member: BlockMember) -> Result<Symbol, super::Unsupported> {
        let BlockMember { storage, declared, declarator, path, bound } = member;
        let (name, near) = (self.text(declarator.name), declarator.name);
        let element = self.element_name(declared, near)?;
        if element == "bool" || element.starts_with("bvec") {
            return Err(self.unsupported(format!("the Boolean `{name}` in a storage block"), near));
        }
        let sizes = layout::all_sizes(declared, &declarator.sizes);
        let is_array = !sizes.is_empty();
        self.out.start();
        self.out.write(&format!("{storage}{}<", if is_array { "Elements" } else { "Member" }));
        self.write_array(&element, sizes.get(1..).unwrap_or_default(), None, near)?;
        self.out.write(&format!("> {};", built_in::spelled(name)));
        self.out.end();
        let refused = |emitter: &Self, what: &str| {
            emitter.unsupported(format!("the layout of `{name}` ({what})"), near)
        };
        if let Some(BoundMember { range, offset, layout }) = bound {
            let line = match (is_array, layout) {
                (true, Layout::Array { stride, count, element }) => {
                    let size =
                        self.fitting(declared, &element).map_err(|what| refused(self, &what))?;
                    if stride < size {
                        return Err(refused(self, "elements that overlap"));
                    }
                    format!("{path}.bind({range}, {offset}, {stride}, {});", count.unwrap_or(0))
                }
                (false, layout) => {
                    self.fitting(declared, &layout).map_err(|what| refused(self, &what))?;
                    format!("{path}.bind({range}, {offset});")
                }
                (true, _) => return Err(refused(self, "no array")),
            };
            self.bindings.push(line);
        }
        let text = if is_array { path } else { format!("{path}.get()") };
        if is_array {
            self.views.insert(text.clone());
        }
        let shape = self.shape(declared, &declarator.sizes);
        Ok(Symbol { text, place: Held::InMemory, field: None, shape })
    }

    /// A member of a block that is only read. What of it is there is copied before a dispatch; the
    /// program stops where it reads the rest.
    fn copied(&mut self, member: BlockMember) -> Result<Symbol, super::Unsupported> {
        let BlockMember { storage, declared, declarator, path, bound } = member;
        let near = declarator.name;
        let is_array = !layout::all_sizes(declared, &declarator.sizes).is_empty();
        self.out.start();
        self.out.write(&format!("{storage}{}<", if is_array { "Copies" } else { "Copied" }));
        self.write_type(declared, &declarator.sizes, None, near)?;
        self.out.write(&format!("> {};", built_in::spelled(self.text(near))));
        self.out.end();
        if let Some(BoundMember { range, offset, layout }) = bound {
            let copied = Copied { range, declared, near };
            match (is_array, &layout) {
                (true, Layout::Array { stride, count: Some(count), element }) => {
                    self.bindings
                        .push(format!("for (std::size_t at_0 = 0; at_0 < {count}; ++at_0) {{"));
                    let target = format!("{path}.value.elements[at_0]");
                    self.copy(
                        &copied,
                        &target,
                        element,
                        &format!("{offset} + at_0 * {stride}"),
                        1,
                    )?;
                    self.bindings.push(format!("{path}.end(at_0);"));
                    self.bindings.push("}".to_owned());
                }
                (_, layout) => {
                    self.copy(&copied, &format!("{path}.value"), layout, &offset.to_string(), 0)?;
                    self.bindings.push(format!("{path}.end();"));
                }
            }
        }
        let text = if is_array { path } else { format!("{path}.get()") };
        let shape = self.shape(declared, &declarator.sizes);
        Ok(Symbol { text, place: Held::Unwritten, field: None, shape })
    }

    /// Lines that copy a value of a block that is only read.
    fn copy(
        &mut self,
        copied: &Copied,
        target: &str,
        layout: &Layout,
        offset: &str,
        depth: usize,
    ) -> Emitted {
        match layout {
            Layout::Number(_) | Layout::Vector { .. } => {
                self.bindings.push(format!("load({target}, {}, {offset});", copied.range));
                Ok(())
            }
            Layout::Matrix { bytes, stride, order, .. } => {
                let [column, row] = match order {
                    MatrixOrder::Columns => [stride, bytes],
                    MatrixOrder::Rows => [bytes, stride],
                };
                self.bindings
                    .push(format!("load({target}, {}, {offset}, {column}, {row});", copied.range));
                Ok(())
            }
            Layout::Array { stride, count: Some(count), element } => {
                let index = format!("at_{depth}");
                self.bindings.push(format!(
                    "for (std::size_t {index} = 0; {index} < {count}; ++{index}) {{"
                ));
                let (target, offset) = (
                    format!("{target}.elements[{index}]"),
                    format!("{offset} + {index} * {stride}"),
                );
                self.copy(copied, &target, element, &offset, depth + 1)?;
                self.bindings.push("}".to_owned());
                Ok(())
            }
            Layout::Structure(members) => {
                let name = copied.declared.name.unwrap_or(copied.near);
                let known = self.structure_members(name)?;
                for (member, (inner, layout)) in known.iter().zip(members) {
                    let path = format!("{target}.{}", member.name);
                    let copied = Copied { declared: &member.declared, ..*copied };
                    self.copy(&copied, &path, layout, &format!("{offset} + {inner}"), depth)?;
                }
                Ok(())
            }
            Layout::Array { count: None, .. } => {
                Err(self.unsupported("an array without a size", copied.near))
            }
            Layout::Other(what) => Err(self.unsupported(format!("{what} in a block"), copied.near)),
        }
    }
}

/// What is copied out of a block.
#[derive(Clone, Copy)]
struct Copied<'a> {
    range: &'a str,
    declared: &'a DeclaredType,
    near: TokenIndex,
}

//! Structures as they lie in storage blocks: the program refers to them in place, so its own types
//! must lie alike.
//!
//! Knows: from reflection, where the members of a block lie. Promises: a structure of the program
//! has its members at the offsets of the first storage block that holds it; a block in which it
//! lies otherwise is unsupported by name.

use super::super::syntax::{Declaration, DeclaredType, Expression, Item};
use super::super::token::Token;
use super::{Emitter, Interface, Layout, MatrixOrder};
use std::collections::BTreeMap;

/// How a structure lies wherever it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StructureLayout {
    /// Byte offsets of the members.
    pub offsets: Vec<u32>,
    /// Bytes of the members in the program.
    pub sizes: Vec<u32>,
    /// Bytes from one element to the next, where arrays of it are stored.
    pub stride: Option<u32>,
    /// Bytes to which the program rounds its size.
    alignment: u32,
}

impl StructureLayout {
    /// Bytes up to the end of the last member.
    pub(super) fn end(&self) -> u32 {
        self.offsets.last().zip(self.sizes.last()).map_or(0, |(offset, size)| offset + size)
    }

    /// Bytes in the program.
    pub(super) fn size(&self) -> u32 {
        self.stride.unwrap_or(0).max(self.end()).next_multiple_of(self.alignment.max(1))
    }
}

/// Structures of the text by name, members one by one.
type Structures<'i> = BTreeMap<String, Vec<&'i DeclaredType>>;

/// How the structures of all storage blocks lie, by name.
pub(super) fn of_structures(
    tokens: &[Token],
    items: &[Item],
    interface: &Interface,
) -> BTreeMap<String, StructureLayout> {
    let declarations = || {
        items.iter().filter_map(|item| match item {
            Item::Declaration(declaration) => Some(declaration),
            Item::Prototype { .. } | Item::Function(_) | Item::Unread { .. } => None,
        })
    };
    let mut structures = Structures::new();
    for Declaration { declared, .. } in declarations() {
        if let (true, Some(name)) = (declared.has_body, declared.name) {
            structures.insert(tokens[name].text.to_string(), members(declared));
        }
    }
    let mut finder = Finder { tokens, structures, found: BTreeMap::new() };
    for Declaration { declared, .. } in
        declarations().filter(|declaration| declaration.declared.has("buffer"))
    {
        let block = declared.name.and_then(|name| interface.blocks.get(&*tokens[name].text));
        if let Some(Layout::Structure(layouts)) = block.map(|block| &block.layout) {
            let named = members(declared).into_iter().zip(layouts);
            named.for_each(|(member, (_, layout))| finder.visit(member, layout, None));
        }
    }
    finder.found
}

/// The type of every declared member.
fn members(declared: &DeclaredType) -> Vec<&DeclaredType> {
    let each = declared
        .members
        .iter()
        .flat_map(|member| member.declarators.iter().map(|_| &member.declared));
    each.collect()
}

struct Finder<'i> {
    tokens: &'i [Token],
    structures: Structures<'i>,
    found: BTreeMap<String, StructureLayout>,
}

impl Finder<'_> {
    fn visit(&mut self, declared: &DeclaredType, layout: &Layout, stride: Option<u32>) {
        match layout {
            Layout::Array { stride, element, .. } => self.visit(declared, element, Some(*stride)),
            Layout::Structure(layouts) => {
                let Some(name) = declared.name.map(|name| self.tokens[name].text.to_string())
                else {
                    return;
                };
                let Some(inner) = self.structures.get(&name).cloned() else { return };
                for (member, (_, layout)) in inner.iter().zip(layouts) {
                    self.visit(member, layout, None);
                }
                let sizes = inner
                    .iter()
                    .zip(layouts)
                    .map(|(member, (_, layout))| self.size(member, layout))
                    .collect();
                let alignment =
                    layouts.iter().map(|(_, layout)| self.alignment(layout)).max().unwrap_or(1);
                let offsets = layouts.iter().map(|(offset, _)| *offset).collect();
                let made = StructureLayout { offsets, sizes, stride, alignment };
                let known = self.found.entry(name).or_insert(made);
                known.stride = known.stride.max(stride);
            }
            Layout::Number(_)
            | Layout::Vector { .. }
            | Layout::Matrix { .. }
            | Layout::Other(_) => {}
        }
    }

    /// Bytes of a value in the program.
    fn size(&self, declared: &DeclaredType, layout: &Layout) -> u32 {
        match layout {
            Layout::Number(bytes) => *bytes,
            Layout::Vector { count, bytes } => count * bytes,
            Layout::Matrix { columns, rows, bytes, .. } => columns * column_bytes(*rows, *bytes),
            Layout::Array { count, element, .. } => {
                let count = u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX);
                self.size(declared, element).saturating_mul(count)
            }
            Layout::Structure(_) => {
                let name = declared.name.map_or("", |name| &*self.tokens[name].text);
                self.found.get(name).map_or(0, StructureLayout::size)
            }
            Layout::Other(_) => 0,
        }
    }

    /// That of the widest number.
    fn alignment(&self, layout: &Layout) -> u32 {
        match layout {
            Layout::Number(bytes) | Layout::Vector { bytes, .. } | Layout::Matrix { bytes, .. } => {
                *bytes
            }
            Layout::Array { element, .. } => self.alignment(element),
            Layout::Structure(members) => {
                members.iter().map(|(_, layout)| self.alignment(layout)).max().unwrap_or(1)
            }
            Layout::Other(_) => 1,
        }
    }
}

/// Bytes of a matrix column in the program: three rows take the space of four.
fn column_bytes(rows: u32, bytes: u32) -> u32 {
    if rows == 3 { 4 * bytes } else { rows * bytes }
}

impl Emitter<'_> {
    /// Bytes of a value that lies in a block as its C++ type does; else what stands in the way.
    pub(super) fn fitting(&self, declared: &DeclaredType, layout: &Layout) -> Result<u32, String> {
        match layout {
            Layout::Number(bytes) => Ok(*bytes),
            Layout::Vector { count, bytes } => Ok(count * bytes),
            Layout::Matrix { order: MatrixOrder::Rows, .. } => {
                Err("a matrix that lies row by row".to_owned())
            }
            Layout::Matrix { columns, rows, bytes, stride, order: MatrixOrder::Columns } => {
                let expected = column_bytes(*rows, *bytes);
                let refused = || format!("columns of {rows} rows every {stride} bytes");
                if *stride == expected { Ok(columns * stride) } else { Err(refused()) }
            }
            Layout::Array { stride, count: Some(count), element } => {
                let size = self.fitting(declared, element)?;
                match u32::try_from(u64::from(size) * count) {
                    Ok(total) if *stride == size => Ok(total),
                    Ok(_) => Err(format!("elements of {size} bytes every {stride} bytes")),
                    Err(_) => Err("more than 4 GiB".to_owned()),
                }
            }
            Layout::Array { count: None, .. } => {
                Err("a runtime array inside another type".to_owned())
            }
            Layout::Structure(members) => self.fitting_structure(declared, members),
            Layout::Other(what) => Err(what.clone()),
        }
    }

    fn fitting_structure(
        &self,
        declared: &DeclaredType,
        layouts: &[(u32, Layout)],
    ) -> Result<u32, String> {
        let name = declared.name.map_or("", |name| self.text(name));
        let (Some(laid), Some(known)) = (self.layouts.get(name), self.structures.get(name)) else {
            return Err(format!("the structure `{name}`"));
        };
        let offsets: Vec<u32> = layouts.iter().map(|(offset, _)| *offset).collect();
        if offsets != laid.offsets {
            return Err(format!("`{name}` lies otherwise in another block"));
        }
        let mut end = 0;
        for ((offset, layout), member) in layouts.iter().zip(known) {
            if *offset < end {
                return Err(format!("members of `{name}` that overlap"));
            }
            end = offset + self.fitting(&member.declared, layout)?;
        }
        Ok(laid.size())
    }

    /// Bytes between the members of a structure and behind its last: `gaps[i]` stands before member
    /// `i`.
    pub(super) fn gaps(&self, name: &str) -> Option<Vec<u32>> {
        let laid = self.layouts.get(name)?;
        let mut end = 0;
        let mut gaps = Vec::new();
        for (offset, size) in laid.offsets.iter().zip(&laid.sizes) {
            gaps.push(offset.saturating_sub(end));
            end = offset + size;
        }
        gaps.push(laid.size() - end);
        Some(gaps)
    }
}

/// The array sizes around a declared name, its own and those of its type.
pub(super) fn all_sizes<'d>(
    declared: &'d DeclaredType,
    sizes: &'d [Option<Expression>],
) -> Vec<&'d Option<Expression>> {
    sizes.iter().chain(&declared.sizes).collect()
}

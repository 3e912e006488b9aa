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
    let mut layout_finder = Finder { tokens, structures, found: BTreeMap::new() };
    for Declaration { declared, .. } in
        declarations().filter(|declaration| declaration.declared.has("buffer"))
    {
        let bound_block = declared.name.and_then(|name| interface.blocks.get(&*tokens[name].text));
        if let Some(Layout::Structure(layouts)) = bound_block.map(|bound_block| &bound_block.layout)
        {
            let typed_layouts = members(declared).into_iter().zip(layouts);
            typed_layouts
                .for_each(|(member, (_, layout))| layout_finder.visit(member, layout, None));
        }
    }
    layout_finder.found
}

/// The type of every declared member.
fn members(declared: &DeclaredType) -> Vec<&DeclaredType> {
    let member_types = declared
        .members
        .iter()
        .flat_map(|member| member.declarators.iter().map(|_| &member.declared));
    member_types.collect()
}

struct Finder<'i> {
    tokens: &'i [Token],
    structures: Structures<'i>,
    found: BTreeMap<String, StructureLayout>,
}

impl Finder<'_> {
    fn visit(&mut self, declared_type: &DeclaredType, layout: &Layout, stride: Option<u32>) {
        match layout {
            Layout::Array { stride, element, .. } => {
                self.visit(declared_type, element, Some(*stride))
            }
            Layout::Structure(layouts) => {
                let Some(structure_name) = declared_type
                    .name
                    .map(|structure_name| self.tokens[structure_name].text.to_string())
                else {
                    return;
                };
                let Some(member_types) = self.structures.get(&structure_name).cloned() else {
                    return;
                };
                for (member, (_, layout)) in member_types.iter().zip(layouts) {
                    self.visit(member, layout, None);
                }
                let sizes = member_types
                    .iter()
                    .zip(layouts)
                    .map(|(member, (_, layout))| self.size(member, layout))
                    .collect();
                let alignment =
                    layouts.iter().map(|(_, layout)| self.alignment(layout)).max().unwrap_or(1);
                let offsets = layouts.iter().map(|(offset, _)| *offset).collect();
                let structure_layout = StructureLayout { offsets, sizes, stride, alignment };
                let known_layout = self.found.entry(structure_name).or_insert(structure_layout);
                known_layout.stride = known_layout.stride.max(stride);
            }
            Layout::Number(_)
            | Layout::Vector { .. }
            | Layout::Matrix { .. }
            | Layout::Other(_) => {}
        }
    }

    /// Bytes of a value in the program.
    fn size(&self, declared_type: &DeclaredType, layout: &Layout) -> u32 {
        match layout {
            Layout::Number(bytes) => *bytes,
            Layout::Vector { count, bytes } => count * bytes,
            Layout::Matrix { columns, rows, bytes, .. } => columns * column_bytes(*rows, *bytes),
            Layout::Array { count, element, .. } => {
                let count = u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX);
                self.size(declared_type, element).saturating_mul(count)
            }
            Layout::Structure(_) => {
                let structure_name = declared_type
                    .name
                    .map_or("", |structure_name| &*self.tokens[structure_name].text);
                self.found.get(structure_name).map_or(0, StructureLayout::size)
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
fn column_bytes(row_count: u32, number_bytes: u32) -> u32 {
    if row_count == 3 { 4 * number_bytes } else { row_count * number_bytes }
}

impl Emitter<'_> {
    /// Bytes of a value that lies in a block as its C++ type does; else what stands in the way.
    pub(super) fn fitting(
        &self,
        declared_type: &DeclaredType,
        layout: &Layout,
    ) -> Result<u32, String> {
        match layout {
            Layout::Number(bytes) => Ok(*bytes),
            Layout::Vector { count, bytes } => Ok(count * bytes),
            Layout::Matrix { order: MatrixOrder::Rows, .. } => {
                Err("a matrix that lies row by row".to_owned())
            }
            Layout::Matrix { columns, rows, bytes, stride, order: MatrixOrder::Columns } => {
                let expected_stride = column_bytes(*rows, *bytes);
                let refuse_stride = || format!("columns of {rows} rows every {stride} bytes");
                if *stride == expected_stride { Ok(columns * stride) } else { Err(refuse_stride()) }
            }
            Layout::Array { stride, count: Some(count), element } => {
                let element_size = self.fitting(declared_type, element)?;
                match u32::try_from(u64::from(element_size) * count) {
                    Ok(total) if *stride == element_size => Ok(total),
                    Ok(_) => Err(format!("elements of {element_size} bytes every {stride} bytes")),
                    Err(_) => Err("more than 4 GiB".to_owned()),
                }
            }
            Layout::Array { count: None, .. } => {
                Err("a runtime array inside another type".to_owned())
            }
            Layout::Structure(members) => self.fitting_structure(declared_type, members),
            Layout::Other(reason) => Err(reason.clone()),
        }
    }

    fn fitting_structure(
        &self,
        declared_type: &DeclaredType,
        layouts: &[(u32, Layout)],
    ) -> Result<u32, String> {
        let structure_name =
            declared_type.name.map_or("", |structure_name| self.text(structure_name));
        let (Some(structure_layout), Some(known_members)) =
            (self.layouts.get(structure_name), self.structures.get(structure_name))
        else {
            return Err(format!("the structure `{structure_name}`"));
        };
        let offsets: Vec<u32> = layouts.iter().map(|(offset, _)| *offset).collect();
        if offsets != structure_layout.offsets {
            return Err(format!("`{structure_name}` lies otherwise in another block"));
        }
        let mut end_offset = 0;
        for ((offset, layout), member) in layouts.iter().zip(known_members) {
            if *offset < end_offset {
                return Err(format!("members of `{structure_name}` that overlap"));
            }
            end_offset = offset + self.fitting(&member.declared, layout)?;
        }
        Ok(structure_layout.size())
    }

    /// Bytes between the members of a structure and behind its last: `gaps[i]` stands before member
    /// `i`.
    pub(super) fn gaps(&self, structure_name: &str) -> Option<Vec<u32>> {
        let structure_layout = self.layouts.get(structure_name)?;
        let mut end_offset = 0;
        let mut member_gaps = Vec::new();
        for (offset, size) in structure_layout.offsets.iter().zip(&structure_layout.sizes) {
            member_gaps.push(offset.saturating_sub(end_offset));
            end_offset = offset + size;
        }
        member_gaps.push(structure_layout.size() - end_offset);
        Some(member_gaps)
    }
}

/// The array sizes around a declared name, its own and those of its type.
pub(super) fn all_sizes<'d>(
    declared: &'d DeclaredType,
    sizes: &'d [Option<Expression>],
) -> Vec<&'d Option<Expression>> {
    sizes.iter().chain(&declared.sizes).collect()
}

//! Structures as they lie in storage blocks: the program refers to them in place, so its own types
//! must lie alike.
//!
//! Knows: from reflection, where the members of a block lie. Promises: a structure of the program
//! has its members at the offsets of the first storage block that holds it; a block in which it
//! lies otherwise is unsupported by name.

use super::super::syntax::{Declaration, DeclaredType, Expression, FileLevelItem};
use super::super::token::Token;
use super::{Emitter, KernelInterface, MatrixOrder, ValueLayout};
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
    pub(super) fn end_offset(&self) -> u32 {
        self.offsets.last().zip(self.sizes.last()).map_or(0, |(offset, size)| offset + size)
    }

    /// Bytes in the program.
    pub(super) fn program_size(&self) -> u32 {
        self.stride.unwrap_or(0).max(self.end_offset()).next_multiple_of(self.alignment.max(1))
    }
}

/// Structures of the text by name, members one by one.
type Structures<'i> = BTreeMap<String, Vec<&'i DeclaredType>>;

fn declarations(items: &[FileLevelItem]) -> impl Iterator<Item = &Declaration> {
    items.iter().filter_map(|item| match item {
        FileLevelItem::Declaration(declaration) => Some(declaration),
        FileLevelItem::Prototype { .. }
        | FileLevelItem::Function(_)
        | FileLevelItem::Unread { .. } => None,
    })
}

/// How the structures of all storage blocks lie, by name.
pub(super) fn structure_layouts(
    tokens: &[Token],
    items: &[FileLevelItem],
    interface: &KernelInterface,
) -> BTreeMap<String, StructureLayout> {
    let mut structures = Structures::new();
    for Declaration { declared, .. } in declarations(items) {
        if let (true, Some(name)) = (declared.has_body, declared.name) {
            structures.insert(tokens[name].text.to_string(), member_types(declared));
        }
    }
    let mut layout_finder = LayoutFinder { tokens, structures, structure_layouts: BTreeMap::new() };
    for Declaration { declared, .. } in
        declarations(items).filter(|declaration| declaration.declared.has_qualifier("buffer"))
    {
        let bound_block = declared.name.and_then(|name| interface.blocks.get(&*tokens[name].text));
        if let Some(ValueLayout::Structure(layouts)) =
            bound_block.map(|bound_block| &bound_block.layout)
        {
            let typed_layouts = member_types(declared).into_iter().zip(layouts);
            typed_layouts
                .for_each(|(member, (_, layout))| layout_finder.visit_value(member, layout, None));
        }
    }
    layout_finder.structure_layouts
}

/// The type of every declared member.
fn member_types(declared: &DeclaredType) -> Vec<&DeclaredType> {
    let member_types = declared
        .members
        .iter()
        .flat_map(|member| member.declarators.iter().map(|_| &member.declared));
    member_types.collect()
}

struct LayoutFinder<'i> {
    tokens: &'i [Token],
    structures: Structures<'i>,
    structure_layouts: BTreeMap<String, StructureLayout>,
}

impl LayoutFinder<'_> {
    fn visit_value(
        &mut self,
        declared_type: &DeclaredType,
        layout: &ValueLayout,
        stride: Option<u32>,
    ) {
        match layout {
            ValueLayout::Array { stride: element_stride, element, .. } => {
                self.visit_value(declared_type, element, Some(*element_stride))
            }
            ValueLayout::Structure(layouts) => {
                let Some(structure_name) = declared_type
                    .name
                    .map(|structure_name| self.tokens[structure_name].text.to_string())
                else {
                    return;
                };
                let Some(member_types) = self.structures.get(&structure_name).cloned() else {
                    return;
                };
                for (member, (_, member_layout)) in member_types.iter().zip(layouts) {
                    self.visit_value(member, member_layout, None);
                }
                let sizes = member_types
                    .iter()
                    .zip(layouts)
                    .map(|(member, (_, member_layout))| self.program_size(member, member_layout))
                    .collect();
                let alignment = layouts
                    .iter()
                    .map(|(_, member_layout)| self.widest_number(member_layout))
                    .max()
                    .unwrap_or(1);
                let offsets = layouts.iter().map(|(offset, _)| *offset).collect();
                let structure_layout = StructureLayout { offsets, sizes, stride, alignment };
                let known_layout =
                    self.structure_layouts.entry(structure_name).or_insert(structure_layout);
                known_layout.stride = known_layout.stride.max(stride);
            }
            ValueLayout::Number(_)
            | ValueLayout::Vector { .. }
            | ValueLayout::Matrix { .. }
            | ValueLayout::Other(_) => {}
        }
    }

    /// Bytes of a value in the program.
    fn program_size(&self, declared_type: &DeclaredType, layout: &ValueLayout) -> u32 {
        match layout {
            ValueLayout::Number(bytes) => *bytes,
            ValueLayout::Vector { count, bytes } => count * bytes,
            ValueLayout::Matrix { columns, rows, bytes, .. } => {
                columns * column_bytes(*rows, *bytes)
            }
            ValueLayout::Array { count, element, .. } => {
                let count = u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX);
                self.program_size(declared_type, element).saturating_mul(count)
            }
            ValueLayout::Structure(_) => {
                let structure_name = declared_type
                    .name
                    .map_or("", |structure_name| &*self.tokens[structure_name].text);
                self.structure_layouts.get(structure_name).map_or(0, StructureLayout::program_size)
            }
            ValueLayout::Other(_) => 0,
        }
    }

    /// That of the widest number.
    fn widest_number(&self, layout: &ValueLayout) -> u32 {
        match layout {
            ValueLayout::Number(bytes)
            | ValueLayout::Vector { bytes, .. }
            | ValueLayout::Matrix { bytes, .. } => *bytes,
            ValueLayout::Array { element, .. } => self.widest_number(element),
            ValueLayout::Structure(members) => members
                .iter()
                .map(|(_, member_layout)| self.widest_number(member_layout))
                .max()
                .unwrap_or(1),
            ValueLayout::Other(_) => 1,
        }
    }
}

/// Bytes of a matrix column in the program: three rows take the space of four.
fn column_bytes(row_count: u32, number_bytes: u32) -> u32 {
    if row_count == 3 { 4 * number_bytes } else { row_count * number_bytes }
}

impl Emitter<'_> {
    /// Bytes of a value that lies in a block as its C++ type does; else what stands in the way.
    pub(super) fn fitting_size(
        &self,
        declared_type: &DeclaredType,
        layout: &ValueLayout,
    ) -> Result<u32, String> {
        match layout {
            ValueLayout::Number(bytes) => Ok(*bytes),
            ValueLayout::Vector { count, bytes } => Ok(count * bytes),
            ValueLayout::Matrix { order: MatrixOrder::Rows, .. } => {
                Err("a matrix that lies row by row".to_owned())
            }
            ValueLayout::Matrix { columns, rows, bytes, stride, order: MatrixOrder::Columns } => {
                let expected_stride = column_bytes(*rows, *bytes);
                let refuse_stride = || format!("columns of {rows} rows every {stride} bytes");
                if *stride == expected_stride { Ok(columns * stride) } else { Err(refuse_stride()) }
            }
            ValueLayout::Array { stride, count: Some(count), element } => {
                let element_size = self.fitting_size(declared_type, element)?;
                match u32::try_from(u64::from(element_size) * count) {
                    Ok(total) if *stride == element_size => Ok(total),
                    Ok(_) => Err(format!("elements of {element_size} bytes every {stride} bytes")),
                    Err(_) => Err("more than 4 GiB".to_owned()),
                }
            }
            ValueLayout::Array { count: None, .. } => {
                Err("a runtime array inside another type".to_owned())
            }
            ValueLayout::Structure(members) => self.fitting_structure(declared_type, members),
            ValueLayout::Other(reason) => Err(reason.clone()),
        }
    }

    fn fitting_structure(
        &self,
        declared_type: &DeclaredType,
        layouts: &[(u32, ValueLayout)],
    ) -> Result<u32, String> {
        let structure_name =
            declared_type.name.map_or("", |structure_name| self.token_text(structure_name));
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
        for ((offset, layout), member) in layouts.iter().zip(known_members.iter()) {
            if *offset < end_offset {
                return Err(format!("members of `{structure_name}` that overlap"));
            }
            end_offset = offset + self.fitting_size(member.declared, layout)?;
        }
        Ok(structure_layout.program_size())
    }

    /// Bytes between the members of a structure and behind its last: `gaps[i]` stands before member
    /// `i`.
    pub(super) fn member_gaps(&self, structure_name: &str) -> Option<Vec<u32>> {
        let structure_layout = self.layouts.get(structure_name)?;
        let mut end_offset = 0;
        let mut member_gaps = Vec::new();
        for (offset, size) in structure_layout.offsets.iter().zip(&structure_layout.sizes) {
            member_gaps.push(offset.saturating_sub(end_offset));
            end_offset = offset + size;
        }
        member_gaps.push(structure_layout.program_size() - end_offset);
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

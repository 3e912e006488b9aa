//! How the kernels of a test lay out its buffers, as evidence stores it.
//!
//! Promises: every binding of a buffer is looked at; bindings that lay it out alike are one layout.
//! Does not cover: images, buffers behind device addresses, blocks without names.

use super::layout::{ModuleLayout, scalar_type};
use super::{BoundBlock, Prepared};
use std::collections::BTreeMap;
use vkcert_model::block_layout::{BlockLayout, BlockMember, MatrixOrder, MemberContents};
use vkcert_model::id::KernelName;
use vkcert_model::procedure::{Binding, Test};
use vkcert_spirv::module::Id;
use vkcert_spirv::types::{Majorness, MatrixLayout, StructureMember, Type};

/// The layouts of each buffer whose contents are more than a list of numbers; none of one that some
/// kernel binds to what cannot be told.
pub fn buffer_layouts(test: &Test, prepared: &Prepared) -> BTreeMap<String, Vec<BlockLayout>> {
    let layouts_of = |name: &String| Some((name.clone(), layouts_of_buffer(test, prepared, name)?));
    test.buffers.keys().filter_map(layouts_of).collect()
}

fn layouts_of_buffer(test: &Test, prepared: &Prepared, buffer: &str) -> Option<Vec<BlockLayout>> {
    let mut layouts: Vec<BlockLayout> = Vec::new();
    for (dispatch, declared) in test.dispatches.iter().zip(&prepared.declared) {
        let names_buffer = |binding: &&Binding| binding.buffer.as_deref() == Some(buffer);
        for binding in dispatch.bindings.iter().filter(names_buffer) {
            // A binding that the kernel does not declare says nothing of the buffer.
            let Some(block) = declared.get(&(binding.set, binding.binding)) else { continue };
            add_layout(&mut layouts, block_layout(block, binding, dispatch.kernel)?);
        }
    }
    (!layouts.iter().all(BlockLayout::is_plain_list)).then_some(layouts)
}

fn add_layout(layouts: &mut Vec<BlockLayout>, new: BlockLayout) {
    let is_same =
        |known: &&mut BlockLayout| (known.offset, &known.members) == (new.offset, &new.members);
    match layouts.iter_mut().find(is_same) {
        Some(known) if known.kernels.contains(&new.kernels[0]) => {}
        Some(known) => known.kernels.extend(new.kernels),
        None => layouts.push(new),
    }
}

fn block_layout(block: &BoundBlock, binding: &Binding, kernel: KernelName) -> Option<BlockLayout> {
    let Type::Structure { members, .. } = block.layout.types.get(block.ty)? else { return None };
    Some(BlockLayout {
        kernels: vec![kernel],
        offset: binding.offset + binding.dynamic_offset.unwrap_or(0),
        members: members_of(&block.layout, members)?,
    })
}

/// None where a member has no name, no place or no numbers.
fn members_of(layout: &ModuleLayout, members: &[StructureMember]) -> Option<Vec<BlockMember>> {
    let member_of = |member: &StructureMember| {
        Some(BlockMember {
            name: member.name.clone().filter(|name| !name.is_empty())?,
            offset: member.offset?.into(),
            contents: contents_of(layout, member.ty, member.matrix)?,
        })
    };
    let mut members = members.iter().map(member_of).collect::<Option<Vec<_>>>()?;
    members.sort_by_key(|member| member.offset);
    Some(members)
}

fn contents_of(
    layout: &ModuleLayout,
    type_id: Id,
    matrix_layout: Option<MatrixLayout>,
) -> Option<MemberContents> {
    let array = |element: Id, stride: Option<u32>, length: Option<u64>| {
        Some(MemberContents::Array {
            stride: stride?,
            length,
            element: Box::new(contents_of(layout, element, matrix_layout)?),
        })
    };
    match layout.types.get(type_id)? {
        Type::Structure { members, .. } => {
            Some(MemberContents::Structure(members_of(layout, members)?))
        }
        Type::Array { element, stride, length } => {
            array(*element, *stride, Some(layout.constants.array_length(*length)?))
        }
        Type::RuntimeArray { element, stride } => array(*element, *stride, None),
        Type::Matrix { column, count } => {
            let Type::Vector { component, count: rows } = layout.types.get(*column)? else {
                return None;
            };
            let MatrixLayout { stride, majorness } = matrix_layout?;
            let order = match majorness {
                Majorness::Column => MatrixOrder::Columns,
                Majorness::Row => MatrixOrder::Rows,
            };
            let scalar = scalar_type(&layout.types, *component)?.to_string();
            let (columns, rows) = (*count, *rows);
            Some(MemberContents::Matrix { scalar, columns, rows, stride, order })
        }
        Type::Vector { component, count } => Some(MemberContents::Vector {
            scalar: scalar_type(&layout.types, *component)?.to_string(),
            components: *count,
        }),
        Type::Int { .. } | Type::Float { .. } => {
            Some(MemberContents::Scalar(scalar_type(&layout.types, type_id)?.to_string()))
        }
        Type::Void
        | Type::Bool
        | Type::BFloat16
        | Type::CooperativeMatrix { .. }
        | Type::Pointer { .. }
        | Type::UntypedPointer { .. }
        | Type::ForwardPointer { .. }
        | Type::Function { .. }
        | Type::Image(_)
        | Type::Sampler
        | Type::SampledImage { .. }
        | Type::Other(_) => None,
    }
}

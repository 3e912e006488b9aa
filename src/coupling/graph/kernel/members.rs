//! The members of the blocks that a kernel binds.
//!
//! Knows: the blocks as the module declares them. Promises: a member is named by its binding and
//! offset; blocks of one binding that have the same offsets share their members.
//! Does not cover: members of structures inside a block; blocks whose offsets are not decorated, and
//! several of one binding that differ in them, of which the buffer stands as a whole.

use super::names::{is_buffer, name_or_number};
use super::{CouplingGraph, CouplingInput};
use std::collections::BTreeMap;
use vkcert_model::evidence::{CouplingEdgeKind, CouplingNodeKind};
use vkcert_spirv::interface::ReflectedResource;
use vkcert_spirv::types::{Type, Types};

/// Members by set and binding, in the order of their offsets.
#[derive(Debug, Default)]
pub(in crate::graph) struct BufferMembers {
    by_binding: BTreeMap<(u32, u32), Vec<BufferMember>>,
}

/// What lies at an offset of a bound block.
#[derive(Debug, PartialEq, Eq)]
struct BufferMember {
    offset: u32,
    /// `Stars.flags, uint[] at offset 16`
    label: String,
}

impl BufferMembers {
    pub(in crate::graph) fn of_input(input: &CouplingInput<'_>) -> Self {
        let types = Types::of_module(input.module);
        let mut by_binding: BTreeMap<(u32, u32), Option<Vec<BufferMember>>> = BTreeMap::new();
        let blocks = input.reflection.resources.iter().filter(|block| is_buffer(block.class));
        for block in blocks {
            let members = members_of_block(&types, block);
            let joined = match by_binding.remove(&(block.set, block.binding)) {
                Some(known) => known.zip(members).and_then(|(known, more)| joined(known, more)),
                None => members,
            };
            by_binding.insert((block.set, block.binding), joined);
        }
        let known = by_binding.into_iter().filter_map(|(place, members)| Some((place, members?)));
        Self { by_binding: known.collect() }
    }

    /// Nodes of the members of a buffer, which its bound size holds.
    pub(super) fn add_nodes(
        &self,
        graph: &mut CouplingGraph,
        place: (u32, u32),
        buffer_node: &str,
    ) {
        for member in self.by_binding.get(&place).into_iter().flatten() {
            let node_id = member_id(place, member.offset);
            graph.add_node(&node_id, CouplingNodeKind::BufferMember, member.label.clone());
            graph.add_edge(buffer_node, &node_id, CouplingEdgeKind::Sizes, "holds");
        }
    }

    /// The nodes of what lies at an offset, of all members where that is not known; none where the
    /// buffer has no nodes of members.
    pub(in crate::graph) fn ids_at(
        &self,
        place: (u32, u32),
        offset: Option<u64>,
    ) -> Option<Vec<String>> {
        let members = self.by_binding.get(&place)?;
        let starts: Vec<Option<u32>> = members.iter().map(|member| Some(member.offset)).collect();
        let held = match holding_member(&starts, offset) {
            Some(number) => &members[number..=number],
            None => members,
        };
        Some(held.iter().map(|member| member_id(place, member.offset)).collect())
    }
}

/// The number of the member that holds an offset, of members that begin at these.
pub(super) fn holding_member(starts: &[Option<u32>], offset: Option<u64>) -> Option<usize> {
    let offset = offset?;
    let begun = starts.iter().enumerate().filter_map(|(number, start)| {
        let start = (*start)?;
        (u64::from(start) <= offset).then_some((number, start))
    });
    begun.max_by_key(|(_, start)| *start).map(|(number, _)| number)
}

/// `buffer-member:0.1+16`
fn member_id((set, binding): (u32, u32), offset: u32) -> String {
    format!("buffer-member:{set}.{binding}+{offset}")
}

/// None of a block that is no structure or has a member without an offset.
fn members_of_block(types: &Types, block: &ReflectedResource) -> Option<Vec<BufferMember>> {
    let Some(Type::Structure { members, .. }) = types.get(block.block_type) else { return None };
    let described = members.iter().enumerate().map(|(number, member)| {
        let offset = member.offset?;
        let name = name_or_number(member.name.as_deref(), '#', number);
        let block_name = block.name.as_deref().map_or(String::new(), |block| format!("{block}."));
        let type_name = types.glsl_name(member.ty);
        Some(BufferMember {
            offset,
            label: format!("{block_name}{name}, {type_name} at offset {offset}"),
        })
    });
    let mut described = described.collect::<Option<Vec<BufferMember>>>()?;
    described.sort_by_key(|member| member.offset);
    Some(described)
}

/// The members of two blocks of one binding; none where they begin at different offsets.
fn joined(known: Vec<BufferMember>, more: Vec<BufferMember>) -> Option<Vec<BufferMember>> {
    let have_same_offsets = known.len() == more.len()
        && known.iter().zip(&more).all(|(member, other)| member.offset == other.offset);
    let joined_members = known.into_iter().zip(more).map(|(member, other)| BufferMember {
        offset: member.offset,
        label: format!("{}; {}", member.label, other.label),
    });
    have_same_offsets.then(|| joined_members.collect())
}

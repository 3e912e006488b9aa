//! Where C places the members of structs that an interface states.
//!
//! Knows: each member stands at the next multiple of its alignment; a scalar's is its size, an
//! array's its element's, a struct's the greatest of its members'. Stated offsets, sizes, strides
//! and alignments take the place of these rules.
//! Promises: it ends for every interface; a name that leads nowhere, or back to itself, is
//! unsupported by name (the check of interfaces refuses both before).
//! Does not cover: bit-fields, unions, pointers, which an interface cannot state.

use vkcert_model::requirement::{
    HostContents, HostMember, HostStruct, MemberType, NamedStruct, PlacedMember, PlacedStruct,
};

/// Structs within structs that are followed.
const MOST_LEVELS: usize = 64;

/// Contents with their alignment in bytes.
pub(super) struct AlignedContents {
    pub contents: HostContents,
    alignment: u64,
}

/// The struct that the host pushes: without a stated size it ends with its last member.
pub(crate) fn place_block(block: &HostStruct, structs: &[NamedStruct]) -> PlacedStruct {
    let (members, _) = place_members(&block.members, structs, 0);
    let size = block.size.map_or_else(|| end_of(&members), u64::from);
    PlacedStruct { size, members }
}

/// What a name stands for: a scalar or a struct of the interface.
pub(crate) fn place_type(member_type: &MemberType, structs: &[NamedStruct]) -> HostContents {
    contents_of_type(member_type, structs, 0).contents
}

/// What a member is, wherever it stands.
pub(crate) fn place_member(member: &HostMember, structs: &[NamedStruct]) -> HostContents {
    contents_of_member(member, structs, 0).contents
}

/// Bytes up to the end of the last member.
pub(super) fn end_of(members: &[PlacedMember]) -> u64 {
    let ends = members.iter().map(|member| member.offset.saturating_add(member.contents.size()));
    ends.max().unwrap_or(0)
}

/// The same of anything: padding behind the last member left out.
pub(crate) fn end_of_contents(contents: &HostContents) -> u64 {
    match contents {
        HostContents::Structure(structure) => end_of(&structure.members),
        HostContents::Scalar(_)
        | HostContents::Array { .. }
        | HostContents::FlexibleArray { .. }
        | HostContents::Unsupported { .. } => contents.size(),
    }
}

fn place_members(
    members: &[HostMember],
    structs: &[NamedStruct],
    level: usize,
) -> (Vec<PlacedMember>, u64) {
    let (mut end, mut widest_alignment) = (0u64, 1);
    let mut placed_members = Vec::new();
    for member in members {
        let AlignedContents { contents, alignment } = contents_of_member(member, structs, level);
        let next_place = end.checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
        let offset = member.offset.map_or(next_place, u64::from);
        end = offset.saturating_add(contents.size());
        widest_alignment = widest_alignment.max(alignment);
        placed_members.push(PlacedMember {
            name: member.name.clone(),
            offset,
            contents,
            spelling: None,
            place: None,
            order: member.order,
            padding: member.padding,
        });
    }
    (placed_members, widest_alignment)
}

fn contents_of_member(
    member: &HostMember,
    structs: &[NamedStruct],
    level: usize,
) -> AlignedContents {
    let AlignedContents { contents, alignment } =
        contents_of_type(&member.member_type, structs, level);
    let Some(dimensions) = &member.count else { return AlignedContents { contents, alignment } };
    let element_stride = member.stride.map_or_else(|| contents.size(), u64::from);
    let mut array = contents;
    let mut stride = element_stride;
    for count in dimensions.0.iter().rev() {
        let count = u64::from(*count);
        array = HostContents::Array { count, stride, element: Box::new(array) };
        stride = stride.saturating_mul(count);
    }
    AlignedContents { contents: array, alignment }
}

fn contents_of_type(
    member_type: &MemberType,
    structs: &[NamedStruct],
    level: usize,
) -> AlignedContents {
    let name = match member_type {
        MemberType::Scalar(scalar_type) => {
            let alignment = u64::from(scalar_type.size_in_bytes());
            return AlignedContents { contents: HostContents::Scalar(*scalar_type), alignment };
        }
        MemberType::Structure(name) => name,
    };
    let named_struct = structs.iter().find(|named_struct| named_struct.name == *name);
    let Some(named_struct) = named_struct.filter(|_| level < MOST_LEVELS) else {
        let kind = format!("a `{name}`, of which the interface states nothing");
        return AlignedContents {
            contents: HostContents::Unsupported { kind, size: None },
            alignment: 1,
        };
    };
    let (members, widest_alignment) = place_members(&named_struct.members, structs, level + 1);
    let alignment = named_struct.align.map_or(widest_alignment, u64::from).max(1);
    let end = end_of(&members).checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
    let size = named_struct.size.map_or(end, u64::from);
    AlignedContents { contents: HostContents::Structure(PlacedStruct { size, members }), alignment }
}

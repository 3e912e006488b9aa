//! Push constants: the struct that the host fills against the block that the kernel reads.
//!
//! Knows: C's rules for placing members (each at the next multiple of its alignment, which is its
//! size) and the block's decorated offsets.
//! Promises: names, offsets, types and sizes are compared member by member; a swap of equal-sized
//! members is found by name.
//! Does not cover: vectors, matrices, arrays and nested structs in the block; such members are
//! `undetermined` by name.

use super::rows::CheckRows;
use std::borrow::Cow;
use std::collections::BTreeSet;
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::requirement::{HostMember, HostStruct, HostType};
use vkcert_requirement::host::expression::{integer_format, type_name};
use vkcert_spirv::interface::PushConstants;
use vkcert_spirv::types::{Signedness, Type, Types};

const CHECK: CouplingCheckName = CouplingCheckName::PushConstantLayout;

/// A member of the host's struct as C places it.
struct PlacedMember<'a> {
    name: &'a str,
    width: HostType,
    offset: u32,
}

/// Compares both sides; `known` are the parameters and locals that a member without a value may
/// name.
pub(super) fn check_push_constants(
    rows: &mut CheckRows,
    host: Option<&HostStruct>,
    block: Option<&PushConstants>,
    types: &Types,
    known_names: &BTreeSet<&str>,
) {
    let (host, block) = match (host, block) {
        (None, None) => {
            return rows.add_holding(CHECK, "neither host nor kernel has push constants");
        }
        (None, Some(block)) => {
            let message = format!(
                "the kernel reads {} bytes of push constants, the interface states none",
                block.size
            );
            return rows.add_refuted(CHECK, message, None);
        }
        (Some(_), None) => {
            return rows.add_refuted(
                CHECK,
                "the host sets push constants, the kernel reads none",
                None,
            );
        }
        (Some(host), Some(block)) => (host, block),
    };
    let placed_members = place_members(host);
    let mut layout_faults = Vec::new();
    let mut unknown_parts = Vec::new();
    for (member_index, member) in block.members.iter().enumerate() {
        let member_name =
            member.name.as_deref().map_or_else(|| Cow::from(format!("#{member_index}")), Cow::from);
        let Some(offset) = member.offset else {
            unknown_parts.push(format!("{member_name} has no offset in the module"));
            continue;
        };
        let Some(width) = scalar_type(types, member.ty) else {
            unknown_parts.push(format!("{member_name} is a {}", types.glsl_name(member.ty)));
            continue;
        };
        layout_faults.extend(member_faults(&placed_members, &member_name, offset, width));
    }
    let unread_members = placed_members.iter().filter(|host_member| {
        !block.members.iter().any(|member| member.name.as_deref() == Some(host_member.name))
    });
    layout_faults.extend(unread_members.map(|host_member| {
        format!("the host's member {} is no member of the kernel's block", host_member.name)
    }));
    let last_end = placed_members
        .iter()
        .map(|member| member.offset + size_in_bytes(member.width))
        .max()
        .unwrap_or(0);
    let host_size = host.size.unwrap_or(last_end);
    if host_size < last_end {
        layout_faults.push(format!(
            "the host's struct of {host_size} bytes ends before its last member does ({last_end})"
        ));
    }
    if u64::from(host_size) < block.size {
        layout_faults.push(format!(
            "the host hands over {host_size} bytes, the kernel's block has {}",
            block.size
        ));
    }
    // Interfaces state integers; the value of a floating-point member couples no size.
    let is_stated = |m: &&HostMember| {
        m.value.is_some()
            || integer_format(m.width).is_none()
            || known_names.contains(m.name.as_str())
    };
    let members_without_value = host.members.iter().filter(|m| !is_stated(m));
    unknown_parts.extend(
        members_without_value
            .map(|member| format!("what the host stores in {} is not stated", member.name)),
    );
    match (layout_faults.is_empty(), unknown_parts.is_empty()) {
        (false, _) => rows.add_refuted(CHECK, layout_faults.join("; "), None),
        (true, false) => rows.add_undetermined(CHECK, unknown_parts.join("; ")),
        (true, true) => {
            let count = block.members.len();
            rows.add_holding(
                CHECK,
                format!("{count} members agree in name, offset and type; {host_size} bytes"),
            );
        }
    }
}

fn member_faults(
    placed_members: &[PlacedMember<'_>],
    name: &str,
    offset: u32,
    width: HostType,
) -> Vec<String> {
    let mut layout_faults = Vec::new();
    let Some(host_member) = placed_members.iter().find(|host_member| host_member.name == name)
    else {
        return vec![format!(
            "the kernel reads {name} at offset {offset}, the host's struct has no such member"
        )];
    };
    if host_member.offset != offset {
        let member_there = placed_members.iter().find(|other_member| other_member.offset == offset);
        let name_there =
            member_there.map_or("nothing".to_owned(), |other_member| other_member.name.to_owned());
        layout_faults.push(format!(
            "the kernel reads {name} at offset {offset}, where the host stores {name_there}; the host stores {name} at {}",
            host_member.offset
        ));
    }
    if host_member.width != width {
        let type_names = (type_name(host_member.width), type_name(width));
        layout_faults.push(format!(
            "{name} is {} on the host and {} in the kernel",
            type_names.0, type_names.1
        ));
    }
    layout_faults
}

fn place_members(host: &HostStruct) -> Vec<PlacedMember<'_>> {
    let mut end = 0;
    let mut placed_members = Vec::new();
    for member in &host.members {
        let size = size_in_bytes(member.width);
        let offset = member.offset.unwrap_or_else(|| u32::next_multiple_of(end, size));
        end = offset.saturating_add(size);
        placed_members.push(PlacedMember { name: &member.name, width: member.width, offset });
    }
    placed_members
}

/// The offset of each member of the host's struct, in its order, in bytes.
pub(super) fn member_offsets(host: &HostStruct) -> Vec<u32> {
    place_members(host).iter().map(|member| member.offset).collect()
}

fn size_in_bytes(width: HostType) -> u32 {
    match width {
        HostType::Int8 | HostType::Uint8 => 1,
        HostType::Int16 | HostType::Uint16 => 2,
        HostType::Int32 | HostType::Uint32 | HostType::Float32 => 4,
        HostType::Int64 | HostType::Uint64 | HostType::Float64 => 8,
    }
}

/// The host type of a scalar member.
fn scalar_type(types: &Types, ty: u32) -> Option<HostType> {
    match types.get(ty)? {
        Type::Int { width, signedness } => match (width, signedness) {
            (8, Signedness::Signed) => Some(HostType::Int8),
            (8, Signedness::Unsigned) => Some(HostType::Uint8),
            (16, Signedness::Signed) => Some(HostType::Int16),
            (16, Signedness::Unsigned) => Some(HostType::Uint16),
            (32, Signedness::Signed) => Some(HostType::Int32),
            (32, Signedness::Unsigned) => Some(HostType::Uint32),
            (64, Signedness::Signed) => Some(HostType::Int64),
            (64, Signedness::Unsigned) => Some(HostType::Uint64),
            _ => None,
        },
        Type::Float { width: 32 } => Some(HostType::Float32),
        Type::Float { width: 64 } => Some(HostType::Float64),
        Type::Float { .. }
        | Type::BFloat16
        | Type::Void
        | Type::Bool
        | Type::Vector { .. }
        | Type::Matrix { .. }
        | Type::Array { .. }
        | Type::RuntimeArray { .. }
        | Type::Structure { .. }
        | Type::Pointer { .. }
        | Type::UntypedPointer { .. }
        | Type::ForwardPointer { .. }
        | Type::Function { .. }
        | Type::Image(..)
        | Type::Sampler
        | Type::SampledImage { .. }
        | Type::CooperativeMatrix { .. }
        | Type::Other(..) => None,
    }
}

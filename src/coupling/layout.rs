//! Push constants: the struct that the host fills against the block that the kernel reads.
//!
//! Knows: C's rules for placing members (each at the next multiple of its alignment, which is its
//! size) and the block's decorated offsets.
//! Promises: names, offsets, types and sizes are compared member by member; a swap of equal-sized
//! members is found by name.
//! Does not cover: vectors, matrices, arrays and nested structs in the block; such members are
//! `undetermined` by name.

use super::rows::Rows;
use std::collections::BTreeSet;
use vkcert_model::requirement::{HostMember, HostStruct, HostType};
use vkcert_requirement::host::expression::{integer_format, type_name};
use vkcert_spirv::interface::PushConstants;
use vkcert_spirv::types::{Signedness, Type, Types};

const CHECK: &str = "push-constant-layout";

/// A member of the host's struct as C places it.
struct Placed<'a> {
    name: &'a str,
    width: HostType,
    offset: u32,
}

/// Compares both sides; `known` are the parameters and locals that a member without a value may
/// name.
pub(super) fn compare(
    rows: &mut Rows,
    host: Option<&HostStruct>,
    block: Option<&PushConstants>,
    types: &Types,
    known: &BTreeSet<&str>,
) {
    let (host, block) = match (host, block) {
        (None, None) => return rows.holds(CHECK, "neither host nor kernel has push constants"),
        (None, Some(block)) => {
            let message = format!(
                "the kernel reads {} bytes of push constants, the interface states none",
                block.size
            );
            return rows.refuted(CHECK, message, None);
        }
        (Some(_), None) => {
            return rows.refuted(
                CHECK,
                "the host sets push constants, the kernel reads none",
                None,
            );
        }
        (Some(host), Some(block)) => (host, block),
    };
    let placed = place(host);
    let mut wrong = Vec::new();
    let mut unknown = Vec::new();
    for (index, member) in block.members.iter().enumerate() {
        let name = member.name.clone().unwrap_or_else(|| format!("#{index}"));
        let Some(offset) = member.offset else {
            unknown.push(format!("{name} has no offset in the module"));
            continue;
        };
        let Some(width) = scalar(types, member.ty) else {
            unknown.push(format!("{name} is a {}", types.glsl_name(member.ty)));
            continue;
        };
        wrong.extend(member_faults(&placed, &name, offset, width));
    }
    let unread = placed
        .iter()
        .filter(|host| !block.members.iter().any(|m| m.name.as_deref() == Some(host.name)));
    wrong.extend(
        unread.map(|host| {
            format!("the host's member {} is no member of the kernel's block", host.name)
        }),
    );
    let end = placed.iter().map(|member| member.offset + bytes(member.width)).max().unwrap_or(0);
    let size = host.size.unwrap_or(end);
    if size < end {
        wrong.push(format!(
            "the host's struct of {size} bytes ends before its last member does ({end})"
        ));
    }
    if u64::from(size) < block.size {
        wrong.push(format!(
            "the host hands over {size} bytes, the kernel's block has {}",
            block.size
        ));
    }
    // Interfaces state integers; the value of a floating-point member couples no size.
    let stated = |m: &&HostMember| {
        m.value.is_some() || integer_format(m.width).is_none() || known.contains(m.name.as_str())
    };
    let valueless = host.members.iter().filter(|m| !stated(m));
    unknown.extend(
        valueless.map(|member| format!("what the host stores in {} is not stated", member.name)),
    );
    match (wrong.is_empty(), unknown.is_empty()) {
        (false, _) => rows.refuted(CHECK, wrong.join("; "), None),
        (true, false) => rows.undetermined(CHECK, unknown.join("; ")),
        (true, true) => {
            let count = block.members.len();
            rows.holds(
                CHECK,
                format!("{count} members agree in name, offset and type; {size} bytes"),
            );
        }
    }
}

fn member_faults(placed: &[Placed<'_>], name: &str, offset: u32, width: HostType) -> Vec<String> {
    let mut wrong = Vec::new();
    let Some(host) = placed.iter().find(|host| host.name == name) else {
        return vec![format!(
            "the kernel reads {name} at offset {offset}, the host's struct has no such member"
        )];
    };
    if host.offset != offset {
        let there = placed.iter().find(|other| other.offset == offset);
        let instead = there.map_or("nothing".to_owned(), |other| other.name.to_owned());
        wrong.push(format!(
            "the kernel reads {name} at offset {offset}, where the host stores {instead}; the host stores {name} at {}",
            host.offset
        ));
    }
    if host.width != width {
        let names = (type_name(host.width), type_name(width));
        wrong.push(format!("{name} is {} on the host and {} in the kernel", names.0, names.1));
    }
    wrong
}

fn place(host: &HostStruct) -> Vec<Placed<'_>> {
    let mut end = 0;
    let mut placed = Vec::new();
    for member in &host.members {
        let size = bytes(member.width);
        let offset = member.offset.unwrap_or_else(|| u32::next_multiple_of(end, size));
        end = offset.saturating_add(size);
        placed.push(Placed { name: &member.name, width: member.width, offset });
    }
    placed
}

fn bytes(width: HostType) -> u32 {
    match width {
        HostType::Int8 | HostType::Uint8 => 1,
        HostType::Int16 | HostType::Uint16 => 2,
        HostType::Int32 | HostType::Uint32 | HostType::Float32 => 4,
        HostType::Int64 | HostType::Uint64 | HostType::Float64 => 8,
    }
}

/// The host type of a scalar member.
fn scalar(types: &Types, ty: u32) -> Option<HostType> {
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

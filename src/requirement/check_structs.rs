//! Consistency of the structs of `[[interface]]`: names, counts, and which struct holds which.
//!
//! Promises: after it every name of a struct leads to one, no struct holds itself, and no struct is
//! larger than [`MOST_BYTES`] or has more than [`MOST_PARTS`] members, so that whoever places members comes to an end.
//! Does not cover: whether the structs match the kernel (`coupling`).

use super::document::Origin;
use super::nearest::did_you_mean;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::requirement::{HostMember, HostType, Interface, MemberType, NamedStruct};

/// Bytes of a struct; as many as an offset of a module can name.
const MOST_BYTES: u64 = u32::MAX as u64;

/// Dimensions of an array.
const MOST_DIMENSIONS: usize = 8;

/// Members of a struct, those of the structs in it counted as often as they stand there.
const MOST_PARTS: u64 = 1 << 16;

/// Structs within structs.
const MOST_LEVELS: usize = 32;

pub(super) fn check_structs(
    origin: &Origin,
    interface: &Interface,
    problems: &mut Vec<Diagnostic>,
) {
    let mut names = StructNames { structs: BTreeMap::new(), order: Vec::new() };
    for (index, named_struct) in interface.structs.iter().enumerate() {
        let place = origin.at("structs").at(index);
        let name = named_struct.name.as_str();
        if HostType::of_name(name).is_some() || !is_identifier(name) {
            let message = format!("`{name}` is no name of a struct");
            problems.push(place.at("name").error("bad-name", message));
        }
        if names.structs.insert(name, named_struct).is_some() {
            let message = format!("the struct `{name}` is stated twice");
            problems.push(place.at("name").error("duplicate-id", message));
        }
        names.order.push(name);
        if let Some(align) = named_struct.align.filter(|align| !align.is_power_of_two()) {
            let message = format!("an alignment of {align} bytes is no power of two");
            problems.push(place.at("align").error("bad-value", message));
        }
    }
    if let Some(block) = &interface.push_constants {
        let place = origin.at("push_constants").at("members");
        names.check_members(&place, &block.members, problems);
    }
    let mut extents = BTreeMap::new();
    for (index, named_struct) in interface.structs.iter().enumerate() {
        let place = origin.at("structs").at(index).at("members");
        names.check_members(&place, &named_struct.members, problems);
        let extent = names.extent(named_struct, &mut Vec::new(), &mut extents);
        problems.extend(extent.err().map(|message| place.error("bad-value", message)));
    }
    for (index, buffer) in interface.buffers.iter().enumerate() {
        let place = origin.at("buffers").at(index);
        if let Some(MemberType::Structure(name)) = &buffer.element {
            problems.extend(names.check_name(&place.at("element"), name));
        }
        if let Some(name) = &buffer.block {
            problems.extend(names.check_name(&place.at("block"), name));
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    !name.is_empty() && name.chars().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit())
}

struct StructNames<'a> {
    structs: BTreeMap<&'a str, &'a NamedStruct>,
    order: Vec<&'a str>,
}

impl StructNames<'_> {
    fn check_name(&self, place: &Origin, name: &str) -> Option<Diagnostic> {
        if self.structs.contains_key(name) {
            return None;
        }
        let scalar_names = HostType::ALL.iter().map(|(scalar_name, _)| *scalar_name);
        let known_names: Vec<&str> = scalar_names.chain(self.order.iter().copied()).collect();
        let message = format!("`{name}` is neither a scalar type nor a struct of the interface");
        let hint = did_you_mean(name, &known_names)
            .unwrap_or_else(|| format!("the types here are {}", known_names.join(", ")));
        Some(place.error("unknown-type", message).hint(hint))
    }

    fn check_members(
        &self,
        place: &Origin,
        members: &[HostMember],
        problems: &mut Vec<Diagnostic>,
    ) {
        let mut member_names = BTreeSet::new();
        for (index, member) in members.iter().enumerate() {
            let place = place.at(index);
            if !member_names.insert(member.name.as_str()) {
                let message = format!("the member `{}` is declared twice", member.name);
                problems.push(place.at("name").error("duplicate-id", message));
            }
            if let MemberType::Structure(name) = &member.member_type {
                problems.extend(self.check_name(&place.at("type"), name));
            }
            problems.extend(check_array(&place, member));
            if member.value.is_some() && member.scalar_type().is_none() {
                let message = "a value is stated of a member that is one scalar";
                problems.push(place.at("value").error("bad-value", message));
            }
        }
    }

    /// What a struct takes at least; `holders` are the structs that it is in. The error says that
    /// it holds itself, or is too deep or too large to be placed.
    fn extent<'s>(
        &'s self,
        named_struct: &'s NamedStruct,
        holders: &mut Vec<&'s str>,
        known: &mut BTreeMap<&'s str, StructExtent>,
    ) -> Result<StructExtent, String> {
        let name = named_struct.name.as_str();
        if let Some(extent) = known.get(name) {
            return Ok(*extent);
        }
        if holders.contains(&name) {
            return Err(format!("the struct `{name}` holds itself"));
        }
        if holders.len() >= MOST_LEVELS {
            return Err(too_deep());
        }
        holders.push(name);
        let mut whole = StructExtent { bytes: 0, parts: 0, levels: 1 };
        for member in &named_struct.members {
            let element = match &member.member_type {
                MemberType::Scalar(scalar_type) => StructExtent {
                    bytes: u64::from(scalar_type.size_in_bytes()),
                    parts: 1,
                    levels: 0,
                },
                MemberType::Structure(inner_name) => match self.structs.get(inner_name.as_str()) {
                    Some(inner_struct) => self.extent(inner_struct, holders, known)?,
                    // Told by its name.
                    None => StructExtent { bytes: 0, parts: 1, levels: 0 },
                },
            };
            let dimensions = member.count.iter().flat_map(|count| &count.0);
            let bytes = dimensions
                .fold(element.bytes, |bytes, count| bytes.saturating_mul(u64::from(*count)));
            whole.bytes = whole.bytes.saturating_add(bytes);
            whole.parts = whole.parts.saturating_add(element.parts);
            whole.levels = whole.levels.max(element.levels + 1);
        }
        holders.pop();
        if whole.levels > MOST_LEVELS {
            return Err(too_deep());
        }
        if whole.bytes > MOST_BYTES {
            return Err(format!("the struct `{name}` has more than {MOST_BYTES} bytes"));
        }
        if whole.parts > MOST_PARTS {
            return Err(format!("the struct `{name}` has more than {MOST_PARTS} members"));
        }
        known.insert(name, whole);
        Ok(whole)
    }
}

fn too_deep() -> String {
    format!("more than {MOST_LEVELS} structs stand within each other")
}

/// What a struct takes at least.
#[derive(Clone, Copy)]
struct StructExtent {
    bytes: u64,
    /// Members, those of inner structs counted as often as they stand there.
    parts: u64,
    /// Structs within each other, itself counted.
    levels: usize,
}

/// Counts and strides of one member.
fn check_array(place: &Origin, member: &HostMember) -> Option<Diagnostic> {
    match &member.count {
        Some(count) if count.0.is_empty() || count.0.contains(&0) => {
            Some(place.at("count").error("bad-value", "an array has at least one element"))
        }
        Some(count) if count.0.len() > MOST_DIMENSIONS => {
            let message = format!("an array has at most {MOST_DIMENSIONS} dimensions");
            Some(place.at("count").error("limit", message))
        }
        Some(_) => None,
        None if member.stride.is_some() => {
            let message = "a stride is stated of an array";
            Some(place.at("stride").error("bad-value", message).hint("add its `count`"))
        }
        None => None,
    }
}

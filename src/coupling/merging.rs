//! What several sources say of one struct of the host, as one.
//!
//! Knows: the structs that the interface states, and those that were read of headers.
//! Promises: a header says where members lie, the interface which values they hold, what is padding
//! and how matrices lie; where the interface states what a header says otherwise, that is a conflict
//! with both places, and the header's layout goes on to the other checks.
//! Does not cover: whether the struct matches the kernel (`layout`).

mod conflicts;

use super::layout::{counted, place_block, place_type};
use super::rows::CheckRows;
use conflicts::{Conflict, conflicts_with_first};
use std::borrow::Cow;
use std::collections::BTreeMap;
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::place::Place;
use vkcert_model::requirement::{
    HeaderReading, HeaderUse, HostBuffer, HostContents, HostHeader, HostMember, HostStruct,
    HostType, Interface, MemberType, NamedStruct, PlacedMember, PlacedStruct,
};

const CHECK: CouplingCheckName = CouplingCheckName::HostFacts;

/// Conflicts that one row tells.
const MOST_CONFLICTS: usize = 16;

/// What the project states of the host's structs, before it is merged.
#[derive(Debug, Clone, Copy)]
pub struct StatedStructs<'a> {
    /// The interface as its file has it.
    pub interface: &'a Interface,
    /// Where the interface stands.
    pub place: &'a Place,
    /// What was read of its headers, in its order.
    pub readings: &'a [HeaderReading],
}

/// An object that host and kernel share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SharedObject {
    PushConstants,
    Buffer { set: u32, binding: u32 },
}

/// What the host stores in an object.
pub(super) struct StoredForm {
    pub describes: HeaderUse,
    /// What the struct or the scalar is called.
    pub name: String,
    pub contents: HostContents,
    /// Elements that follow a block to the end of the buffer: what they are called, and one of them.
    pub rest: Option<(String, HostContents)>,
}

/// The interface with the members of the push constants that headers add to it, so that values and
/// offsets are looked up in one place.
pub fn merged_interface<'a>(
    interface: &'a Interface,
    readings: &[HeaderReading],
) -> Cow<'a, Interface> {
    let push_constants = first_reading(interface, readings, SharedObject::PushConstants);
    let Some((_, HeaderReading { contents: HostContents::Structure(structure), .. })) =
        push_constants
    else {
        return Cow::Borrowed(interface);
    };
    let stated_members: BTreeMap<&str, &HostMember> = interface
        .push_constants
        .iter()
        .flat_map(|block| &block.members)
        .map(|member| (member.name.as_str(), member))
        .collect();
    let merged_member = |placed: &PlacedMember| {
        let stated = stated_members.get(placed.name.as_str()).map(|member| (*member).clone());
        let mut member =
            stated.unwrap_or_else(|| HostMember::scalar(&placed.name, HostType::Uint8));
        member.member_type = match &placed.contents {
            HostContents::Scalar(scalar_type) => MemberType::Scalar(*scalar_type),
            HostContents::Array { .. }
            | HostContents::FlexibleArray { .. }
            | HostContents::Structure(_)
            | HostContents::Unsupported { .. } => {
                MemberType::Structure(placed.spelling.clone().unwrap_or_default())
            }
        };
        member.offset = u32::try_from(placed.offset).ok();
        (member.count, member.stride) = (None, None);
        member
    };
    let members = structure.members.iter().map(merged_member).collect();
    let merged = HostStruct { size: u32::try_from(structure.size).ok(), members };
    Cow::Owned(Interface { push_constants: Some(merged), ..interface.clone() })
}

impl StatedStructs<'_> {
    /// What the host stores in an object, of all sources together; none where nothing states it.
    pub(super) fn stored_form(&self, object: SharedObject) -> Option<StoredForm> {
        let stated = self.stated_form(object);
        let Some((header, reading)) = first_reading(self.interface, self.readings, object) else {
            return stated;
        };
        let mut contents = reading.contents.clone();
        if let (HostContents::Structure(placed), Some(members)) =
            (&mut contents, self.stated_members(object, header.describes))
        {
            self.add_facts(placed, members);
        }
        let (describes, name) = (header.describes, header.structure.clone());
        let rest = match describes {
            HeaderUse::Block => self.stated_rest(object),
            HeaderUse::Element | HeaderUse::PushConstants => None,
        };
        Some(StoredForm { describes, name, contents, rest })
    }

    /// Where a header declares a member of the push constants; none where no header does.
    pub(super) fn pushed_member_place(&self, member_name: &str) -> Option<&Place> {
        let object = SharedObject::PushConstants;
        let (_, reading) = first_reading(self.interface, self.readings, object)?;
        let HostContents::Structure(placed) = &reading.contents else { return None };
        placed.members.iter().find(|member| member.name == member_name)?.place.as_ref()
    }

    /// What the interface itself states.
    fn stated_form(&self, object: SharedObject) -> Option<StoredForm> {
        let structs = &self.interface.structs;
        match object {
            SharedObject::PushConstants => {
                let block = self.interface.push_constants.as_ref()?;
                let contents = HostContents::Structure(place_block(block, structs));
                let describes = HeaderUse::PushConstants;
                let name = "push constants".to_owned();
                Some(StoredForm { describes, name, contents, rest: None })
            }
            SharedObject::Buffer { set, binding } => {
                let buffer = self.stated_buffer((set, binding))?;
                let (describes, member_type) = match (&buffer.block, &buffer.element) {
                    (Some(name), _) => (HeaderUse::Block, MemberType::Structure(name.clone())),
                    (None, Some(element)) => (HeaderUse::Element, element.clone()),
                    (None, None) => return None,
                };
                let contents = place_type(&member_type, structs);
                let rest = buffer.block.as_ref().and_then(|_| self.stated_rest(object));
                Some(StoredForm { describes, name: member_type.into(), contents, rest })
            }
        }
    }

    fn stated_buffer(&self, place: (u32, u32)) -> Option<&HostBuffer> {
        self.interface.buffers.iter().find(|row| (row.set, row.binding) == place)
    }

    /// The elements that the interface states of a buffer.
    fn stated_rest(&self, object: SharedObject) -> Option<(String, HostContents)> {
        match object {
            SharedObject::PushConstants => None,
            SharedObject::Buffer { set, binding } => {
                let element = self.stated_buffer((set, binding))?.element.as_ref()?;
                Some((element.clone().into(), place_type(element, &self.interface.structs)))
            }
        }
    }

    /// The members that the interface states of an object's struct.
    fn stated_members(&self, object: SharedObject, describes: HeaderUse) -> Option<&[HostMember]> {
        match object {
            SharedObject::PushConstants => Some(&self.interface.push_constants.as_ref()?.members),
            SharedObject::Buffer { set, binding } => {
                Some(&self.stated_struct((set, binding), describes)?.members)
            }
        }
    }

    /// The struct that the interface states of a buffer, as its block or as its elements.
    fn stated_struct(&self, place: (u32, u32), describes: HeaderUse) -> Option<&NamedStruct> {
        let buffer = self.stated_buffer(place)?;
        match (describes, &buffer.block, &buffer.element) {
            (HeaderUse::Block | HeaderUse::PushConstants, Some(name), _)
            | (HeaderUse::Element, Some(name), _)
            | (HeaderUse::Element, None, Some(MemberType::Structure(name))) => {
                self.named_struct(name)
            }
            (_, None, _) => None,
        }
    }

    fn named_struct(&self, name: &str) -> Option<&NamedStruct> {
        self.interface.structs.iter().find(|named_struct| named_struct.name == name)
    }

    /// The members of the struct that a member or its elements are.
    fn inner_members(&self, member: &HostMember) -> Option<&[HostMember]> {
        match &member.member_type {
            MemberType::Scalar(_) => None,
            MemberType::Structure(name) => Some(&self.named_struct(name)?.members),
        }
    }

    /// Adds what a header cannot say: padding, and how matrices lie.
    fn add_facts(&self, placed: &mut PlacedStruct, stated: &[HostMember]) {
        for member in stated {
            let named_members = placed.members.iter_mut().filter(|row| row.name == member.name);
            for placed_member in named_members {
                placed_member.order = member.order;
                placed_member.padding = member.padding;
                if let (Some(structure), Some(inner)) =
                    (inner_struct(&mut placed_member.contents), self.inner_members(member))
                {
                    self.add_facts(structure, inner);
                }
            }
        }
    }

    /// A row for each header: where it is from, and whether all sources agree.
    pub(super) fn check_sources(&self, rows: &mut CheckRows) {
        for (header, reading) in self.interface.header.iter().zip(self.readings) {
            let object = object_of(header);
            rows.begin_subject(format!("{} of {}", header.structure, header.file));
            let mut conflicts = self.conflicts_with_statement(object, header, reading);
            if let Some(first) = first_reading(self.interface, self.readings, object) {
                conflicts.extend(conflicts_with_first(first, (header, reading)));
            }
            self.add_row(rows, header, reading, conflicts);
        }
        rows.end_subject();
    }

    fn add_row(
        &self,
        rows: &mut CheckRows,
        header: &HostHeader,
        reading: &HeaderReading,
        conflicts: Vec<Conflict>,
    ) {
        let source = format!(
            "`{}` of {} as {} lays it out for {} ({})",
            header.structure, header.file, reading.reader, header.target, header.standard
        );
        if !conflicts.is_empty() {
            let place = conflicts.iter().find_map(|conflict| conflict.place.clone());
            let left_out = conflicts.len().saturating_sub(MOST_CONFLICTS);
            let mut words: Vec<String> =
                conflicts.into_iter().take(MOST_CONFLICTS).map(|conflict| conflict.words).collect();
            if left_out > 0 {
                words.push(format!("and {left_out} more"));
            }
            let header_place = place
                .unwrap_or_else(|| Place { file: Some(header.file.clone()), ..Place::default() });
            let message = format!("{source}: {}", words.join("; "));
            let (place, other_place) = (Some(header_place), Some(self.place.clone()));
            return rows.add_refuted_at(CHECK, message, None, place, other_place);
        }
        match &reading.contents {
            HostContents::Structure(placed) => {
                let member_count = counted(placed.members.len() as u64, "member");
                let size = counted(placed.size, "byte");
                rows.add_holding(CHECK, format!("{source}: {member_count}, {size}"));
            }
            HostContents::Unsupported { kind, .. } => {
                rows.add_undetermined(CHECK, format!("{source}: it is {kind}"));
            }
            HostContents::Scalar(scalar_type) => {
                rows.add_holding(CHECK, format!("{source}: {}", scalar_type.name()));
            }
            HostContents::Array { count, .. } => {
                rows.add_holding(
                    CHECK,
                    format!("{source}: an array of {}", counted(*count, "element")),
                );
            }
            HostContents::FlexibleArray { .. } => {
                rows.add_holding(CHECK, format!("{source}: a flexible array"));
            }
        }
    }
}

/// The first header that describes an object; others are compared with it.
fn first_reading<'a>(
    interface: &'a Interface,
    readings: &'a [HeaderReading],
    object: SharedObject,
) -> Option<(&'a HostHeader, &'a HeaderReading)> {
    let mut sources = interface.header.iter().zip(readings);
    sources.find(|(header, _)| object_of(header) == object)
}

fn object_of(header: &HostHeader) -> SharedObject {
    match header.describes {
        HeaderUse::PushConstants => SharedObject::PushConstants,
        HeaderUse::Block | HeaderUse::Element => SharedObject::Buffer {
            set: header.set.unwrap_or_default(),
            binding: header.binding.unwrap_or_default(),
        },
    }
}

fn inner_struct(contents: &mut HostContents) -> Option<&mut PlacedStruct> {
    match contents {
        HostContents::Structure(structure) => Some(structure),
        HostContents::Array { element, .. } | HostContents::FlexibleArray { element, .. } => {
            inner_struct(element)
        }
        HostContents::Scalar(_) | HostContents::Unsupported { .. } => None,
    }
}

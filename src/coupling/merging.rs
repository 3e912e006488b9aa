//! What several sources say of one struct of the host, as one.
//!
//! Knows: the structs that the interface states, and those that were read of headers.
//! Promises: a header says where members lie, the interface which values they hold, what is padding
//! and how matrices lie; where the interface states what a header says otherwise, that is a conflict
//! with both places, and the header's layout goes on to the other checks.
//! Does not cover: whether the struct matches the kernel (`layout`).

use super::layout::{counted, has_same_numbers, place_block, place_member, place_type};
use super::rows::CheckRows;
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
            let mut conflicts = Vec::new();
            if let HostContents::Structure(placed) = &reading.contents {
                conflicts = self.conflicts_with_statement((object, header.describes), placed);
            }
            // Elements that the interface alone states follow the header's block.
            if let Some(stated) = self.stated_form(object)
                && (stated.describes, header.describes) == (HeaderUse::Block, HeaderUse::Element)
            {
                let words = format!(
                    "the interface states `{}` there, one of the two as a block and the other as an element",
                    stated.name
                );
                conflicts.push(Conflict { words, place: None });
            }
            let first = first_reading(self.interface, self.readings, object);
            if let Some((_, first_reading)) = first
                && !is_same_layout(&first_reading.contents, &reading.contents)
            {
                let words = format!(
                    "`{}` of {} is laid out otherwise than `{}` of {}, which describes the same object",
                    reading.structure, reading.file, first_reading.structure, first_reading.file
                );
                conflicts.push(Conflict { words, place: None });
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

    fn conflicts_with_statement(
        &self,
        (object, describes): (SharedObject, HeaderUse),
        placed: &PlacedStruct,
    ) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        let stated_size = match object {
            SharedObject::PushConstants => {
                self.interface.push_constants.as_ref().and_then(|block| block.size)
            }
            SharedObject::Buffer { set, binding } => {
                self.stated_struct((set, binding), describes).and_then(|row| row.size)
            }
        };
        if let Some(stated_size) = stated_size
            && u64::from(stated_size) != placed.size
        {
            let words = format!(
                "the interface states {stated_size} bytes, the header's struct has {}",
                placed.size
            );
            conflicts.push(Conflict { words, place: None });
        }
        if let Some(members) = self.stated_members(object, describes) {
            self.compare_members("", members, placed, &mut conflicts);
        }
        conflicts
    }

    fn compare_members(
        &self,
        path: &str,
        stated: &[HostMember],
        placed: &PlacedStruct,
        conflicts: &mut Vec<Conflict>,
    ) {
        for member in stated {
            let member_path = if path.is_empty() {
                member.name.clone()
            } else {
                format!("{path}.{}", member.name)
            };
            let Some(placed_member) = placed.members.iter().find(|row| row.name == member.name)
            else {
                let words = format!(
                    "the interface states a member {member_path}, which the header's struct does not have"
                );
                conflicts.push(Conflict { words, place: None });
                continue;
            };
            let place = &placed_member.place;
            if let Some(offset) = member.offset.map(u64::from)
                && offset != placed_member.offset
            {
                let words = format!(
                    "the interface states {member_path} at offset {offset}, the header has it at {}",
                    placed_member.offset
                );
                conflicts.push(Conflict { words, place: place.clone() });
            }
            let stated_contents = place_member(member, &self.interface.structs);
            if !is_same_shape(&stated_contents, &placed_member.contents) {
                let words = format!(
                    "the interface states {member_path} as {}, the header as `{}`",
                    member.type_words(),
                    placed_member.spelling.as_deref().unwrap_or("another type")
                );
                conflicts.push(Conflict { words, place: place.clone() });
                continue;
            }
            let inner_placed = inner_struct_of(&placed_member.contents);
            if let (Some(inner_placed), Some(inner)) = (inner_placed, self.inner_members(member)) {
                self.compare_members(&member_path, inner, inner_placed, conflicts);
            }
        }
    }
}

/// A contradiction, with its place in the header.
struct Conflict {
    words: String,
    place: Option<Place>,
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

fn inner_struct_of(contents: &HostContents) -> Option<&PlacedStruct> {
    match contents {
        HostContents::Structure(structure) => Some(structure),
        HostContents::Array { element, .. } | HostContents::FlexibleArray { element, .. } => {
            inner_struct_of(element)
        }
        HostContents::Scalar(_) | HostContents::Unsupported { .. } => None,
    }
}

/// Whether two layouts agree in everything but where they are declared.
fn is_same_layout(left: &HostContents, right: &HostContents) -> bool {
    match (left, right) {
        (HostContents::Structure(left), HostContents::Structure(right)) => {
            let same_member = |(left, right): (&PlacedMember, &PlacedMember)| {
                (&left.name, left.offset) == (&right.name, right.offset)
                    && is_same_layout(&left.contents, &right.contents)
            };
            left.size == right.size
                && left.members.len() == right.members.len()
                && left.members.iter().zip(&right.members).all(same_member)
        }
        (
            HostContents::Array { count, stride, element },
            HostContents::Array { count: other_count, stride: other_stride, element: other },
        ) => (count, stride) == (other_count, other_stride) && is_same_layout(element, other),
        (
            HostContents::FlexibleArray { stride, element },
            HostContents::FlexibleArray { stride: other_stride, element: other },
        ) => stride == other_stride && is_same_layout(element, other),
        (
            HostContents::Structure(_)
            | HostContents::Array { .. }
            | HostContents::FlexibleArray { .. }
            | HostContents::Scalar(_)
            | HostContents::Unsupported { .. },
            _,
        ) => left == right,
    }
}

/// Whether a stated type and one of a header are alike; members of structs are compared by name,
/// and how numbers of arrays are grouped does not count.
fn is_same_shape(stated: &HostContents, read: &HostContents) -> bool {
    match (stated, read) {
        (HostContents::Scalar(stated), HostContents::Scalar(read)) => stated == read,
        (
            HostContents::Array { count, stride, element },
            HostContents::Array { count: read_count, stride: read_stride, element: read },
        ) if (count, stride) == (read_count, read_stride) => is_same_shape(element, read),
        (HostContents::Structure(_), HostContents::Structure(_)) => true,
        // What the header leaves open is not contradicted.
        (_, HostContents::Unsupported { .. }) => true,
        (
            HostContents::Array { stride, element, .. },
            HostContents::FlexibleArray { stride: read_stride, element: read },
        ) => stride == read_stride && is_same_shape(element, read),
        (HostContents::FlexibleArray { .. }, _) | (_, HostContents::FlexibleArray { .. }) => false,
        (HostContents::Array { .. }, _) | (_, HostContents::Array { .. }) => {
            has_same_numbers(stated, read)
        }
        (
            HostContents::Scalar(_) | HostContents::Structure(_) | HostContents::Unsupported { .. },
            _,
        ) => false,
    }
}

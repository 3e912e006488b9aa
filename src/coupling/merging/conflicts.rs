//! What an interface states of a struct of the host, against what a header says of it.
//!
//! Knows: names, places, types, counts, strides, sizes and alignments of both.
//! Promises: what the interface leaves out of a struct that it states whole, C's rules say; of one
//! that it states in part the order of its members counts. Each difference names the member.
//! Does not cover: what the header leaves open (bit-fields, unions, pointers).

use super::{SharedObject, StatedStructs, StoredForm};
use crate::layout::{
    counted, has_same_numbers, path_within, place_block, place_member, place_type,
};
use vkcert_model::place::Place;
use vkcert_model::requirement::{
    HeaderReading, HeaderUse, HostContents, HostHeader, HostMember, HostStruct, MemberType,
    NamedStruct, PlacedMember, PlacedStruct,
};

/// A contradiction, with its place in the header.
pub(super) struct Conflict {
    pub words: String,
    pub place: Option<Place>,
}

impl Conflict {
    fn new(words: String) -> Self {
        Self { words, place: None }
    }

    fn at(words: String, member: &PlacedMember) -> Self {
        Self { words, place: member.place.clone() }
    }
}

/// A header against the first one that describes the same object.
pub(super) fn conflicts_with_first(
    (first_header, first): (&HostHeader, &HeaderReading),
    (header, reading): (&HostHeader, &HeaderReading),
) -> Vec<Conflict> {
    let mut conflicts = Vec::new();
    if first_header.describes != header.describes {
        conflicts.push(Conflict::new(format!(
            "`{}` of {} describes the same buffer, one of the two as a block and the other as an element",
            first.structure, first.file
        )));
    }
    if !is_same_layout(&first.contents, &reading.contents) {
        conflicts.push(Conflict::new(format!(
            "`{}` of {} is laid out otherwise than `{}` of {}, which describes the same object",
            reading.structure, reading.file, first.structure, first.file
        )));
    }
    conflicts
}

/// What the interface states of one struct; push constants have neither name nor alignment.
#[derive(Clone, Copy)]
struct Statement<'a> {
    name: Option<&'a str>,
    size: Option<u32>,
    align: Option<u32>,
    members: &'a [HostMember],
}

impl<'a> Statement<'a> {
    fn of_pushed(block: &'a HostStruct) -> Self {
        let HostStruct { size, members } = block;
        Self { name: None, size: *size, align: None, members }
    }

    fn of_named(named_struct: &'a NamedStruct) -> Self {
        let NamedStruct { name, size, align, members } = named_struct;
        Self { name: Some(name), size: *size, align: *align, members }
    }
}

impl StatedStructs<'_> {
    /// A header against what the interface states of its object.
    pub(super) fn conflicts_with_statement(
        &self,
        object: SharedObject,
        header: &HostHeader,
        reading: &HeaderReading,
    ) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        let stated = self.stated_form(object);
        if let Some(StoredForm { name, contents, .. }) =
            stated.as_ref().filter(|stated| stated.describes == header.describes)
            && !is_same_shape(contents, &reading.contents)
        {
            conflicts.push(Conflict::new(format!(
                "the interface states `{name}` there, the header has {}",
                contents_in_words(&reading.contents)
            )));
        }
        // Elements that the interface alone states follow the header's block.
        if let Some(stated) = stated.as_ref()
            && (stated.describes, header.describes) == (HeaderUse::Block, HeaderUse::Element)
        {
            conflicts.push(Conflict::new(format!(
                "the interface states `{}` there, one of the two as a block and the other as an element",
                stated.name
            )));
        }
        if let HostContents::Structure(placed) = &reading.contents
            && let Some(statement) = self.statement_of(object, header.describes)
        {
            self.compare_struct("", statement, placed, &mut conflicts);
        }
        conflicts
    }

    fn statement_of(&self, object: SharedObject, describes: HeaderUse) -> Option<Statement<'_>> {
        match object {
            SharedObject::PushConstants => {
                self.interface.push_constants.as_ref().map(Statement::of_pushed)
            }
            SharedObject::Buffer { set, binding } => {
                self.stated_struct((set, binding), describes).map(Statement::of_named)
            }
        }
    }

    /// The struct that a member or its elements are.
    fn inner_statement(&self, member: &HostMember) -> Option<Statement<'_>> {
        match &member.member_type {
            MemberType::Scalar(_) => None,
            MemberType::Structure(name) => self.named_struct(name).map(Statement::of_named),
        }
    }

    /// `path` is that of the struct within the object, empty for the object itself.
    fn compare_struct(
        &self,
        path: &str,
        statement: Statement<'_>,
        placed: &PlacedStruct,
        conflicts: &mut Vec<Conflict>,
    ) {
        let owner = if path.is_empty() { String::new() } else { format!(" of {path}") };
        if let Some(stated_size) = statement.size.map(u64::from)
            && stated_size != placed.size
        {
            conflicts.push(Conflict::new(format!(
                "the interface states {stated_size} bytes{owner}, the header's struct has {}",
                placed.size
            )));
        }
        if let Some(align) = statement.align.map(u64::from).filter(|align| *align > 0)
            && !placed.size.is_multiple_of(align)
        {
            conflicts.push(Conflict::new(format!(
                "the interface states an alignment of {}{owner}, the header's struct has {}",
                counted(align, "byte"),
                counted(placed.size, "byte")
            )));
        }
        let earlier_conflicts = conflicts.len();
        for member in statement.members {
            self.compare_member(&path_within(path, &member.name), member, placed, conflicts);
        }
        if conflicts.len() == earlier_conflicts {
            conflicts.extend(self.implied_conflicts(path, statement, placed));
        }
    }

    fn compare_member(
        &self,
        path: &str,
        member: &HostMember,
        placed: &PlacedStruct,
        conflicts: &mut Vec<Conflict>,
    ) {
        let Some(placed_member) = placed.members.iter().find(|row| row.name == member.name) else {
            let words = format!(
                "the interface states a member {path}, which the header's struct does not have"
            );
            return conflicts.push(Conflict::new(words));
        };
        if let Some(offset) = member.offset.map(u64::from)
            && offset != placed_member.offset
        {
            let words = format!(
                "the interface states {path} at offset {offset}, the header has it at {}",
                placed_member.offset
            );
            conflicts.push(Conflict::at(words, placed_member));
        }
        let stated_contents = place_member(member, &self.interface.structs);
        if !is_same_shape(&stated_contents, &placed_member.contents) {
            let words = format!(
                "the interface states {path} as {}, the header as `{}`",
                member.type_words(),
                placed_member.spelling.as_deref().unwrap_or("another type")
            );
            return conflicts.push(Conflict::at(words, placed_member));
        }
        let inner_placed = inner_struct_of(&placed_member.contents);
        if let (Some(inner_placed), Some(inner)) = (inner_placed, self.inner_statement(member)) {
            self.compare_struct(path, inner, inner_placed, conflicts);
        }
    }

    /// What follows from a statement without being written in it; the members agree as far as they
    /// are written.
    fn implied_conflicts(
        &self,
        path: &str,
        statement: Statement<'_>,
        placed: &PlacedStruct,
    ) -> Vec<Conflict> {
        let is_stated = |row: &PlacedMember| {
            let is_compared = !matches!(row.contents, HostContents::Unsupported { .. });
            is_compared && statement.members.iter().any(|member| member.name == row.name)
        };
        if !placed.members.iter().all(is_stated) {
            return order_conflict(path, statement.members, placed).into_iter().collect();
        }
        let block = HostStruct { size: None, members: statement.members.to_vec() };
        let implied = place_block(&block, &self.interface.structs);
        for member in &implied.members {
            let placed_member = placed.members.iter().find(|row| row.name == member.name);
            let Some(placed_member) = placed_member.filter(|row| row.offset != member.offset)
            else {
                continue;
            };
            let words = format!(
                "the interface states no offset of {}, C's rules place it at {}, and the header has it at {}",
                path_within(path, &member.name),
                member.offset,
                placed_member.offset
            );
            return vec![Conflict::at(words, placed_member)];
        }
        self.implied_size_conflict(path, statement, placed).into_iter().collect()
    }

    /// The size by C's rules, where none is stated; push constants end with their last member.
    fn implied_size_conflict(
        &self,
        path: &str,
        statement: Statement<'_>,
        placed: &PlacedStruct,
    ) -> Option<Conflict> {
        let is_open_ended =
            |row: &PlacedMember| matches!(row.contents, HostContents::FlexibleArray { .. });
        if statement.size.is_some() || placed.members.iter().any(is_open_ended) {
            return None;
        }
        let named_type = MemberType::Structure(statement.name?.to_owned());
        let implied_size = place_type(&named_type, &self.interface.structs).size();
        if implied_size == placed.size {
            return None;
        }
        let owner = if path.is_empty() { "the struct" } else { path };
        Some(Conflict::new(format!(
            "the interface states no size of {owner}, C's rules give it {}, and the header's struct has {}",
            counted(implied_size, "byte"),
            placed.size
        )))
    }
}

/// Members that are stated in another order than that of the header.
fn order_conflict(path: &str, stated: &[HostMember], placed: &PlacedStruct) -> Option<Conflict> {
    let mut earlier: Option<(&str, u64)> = None;
    for member in stated {
        let placed_member = placed.members.iter().find(|row| row.name == member.name)?;
        if let Some((earlier_name, earlier_offset)) = earlier
            && member.offset.is_none()
            && placed_member.offset < earlier_offset
        {
            let words = format!(
                "the interface states {} behind {}, the header has it in front of it",
                path_within(path, &member.name),
                path_within(path, earlier_name)
            );
            return Some(Conflict::at(words, placed_member));
        }
        earlier = Some((&member.name, placed_member.offset));
    }
    None
}

fn contents_in_words(contents: &HostContents) -> String {
    match contents {
        HostContents::Scalar(scalar_type) => scalar_type.name().to_owned(),
        HostContents::Structure(placed) => format!("a struct of {}", counted(placed.size, "byte")),
        HostContents::Array { count, .. } => format!("an array of {}", counted(*count, "element")),
        HostContents::FlexibleArray { .. } => "a flexible array".to_owned(),
        HostContents::Unsupported { kind, .. } => kind.clone(),
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

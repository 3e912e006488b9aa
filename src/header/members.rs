//! What a struct has for members.
//!
//! Knows: which types of C and C++ are numbers of which host type.
//! Promises: members are in declaration order; those of an anonymous struct are members of what it
//! is in. What has no layout that can be compared is kept by name.
//! Does not cover: whether the header has errors.

use super::file_names::shown_name;
use super::syntax_tree::{Cursor, DeclarationKind, DeclaredType, SourcePlace, TypeKind};
use std::cmp::Ordering;
use vkcert_model::place::Place;
use vkcert_model::requirement::{HostContents, HostType, PlacedMember, PlacedStruct};

/// Members of a struct, those of inner structs counted as often as they stand there. The library
/// takes a time for each that grows with their number.
pub(super) const MOST_MEMBERS: usize = 1 << 12;

/// Structs and arrays within each other.
const MOST_LEVELS: usize = 64;

/// What a type has for members; none where there are more than [`MOST_MEMBERS`].
pub(super) fn contents_of(structure: DeclaredType<'_>) -> Option<HostContents> {
    let mut reader = StructReader { members_left: MOST_MEMBERS };
    reader.contents(structure, 0).ok()
}

/// Why the members of a struct are not read to the end.
enum ReadingStop {
    /// There are more than anybody reads.
    TooManyMembers,
    /// One of them makes the whole struct what this says, which is not compared.
    NotCompared(String),
}

struct StructReader {
    members_left: usize,
}

impl StructReader {
    fn contents(
        &mut self,
        declared_type: DeclaredType<'_>,
        level: usize,
    ) -> Result<HostContents, ReadingStop> {
        let canonical_type = declared_type.canonical();
        let size = canonical_type.size();
        if level > MOST_LEVELS {
            let kind = format!("a type of more than {MOST_LEVELS} levels");
            return Ok(HostContents::Unsupported { kind, size });
        }
        if let Some(scalar) = scalar_type(canonical_type) {
            return Ok(scalar);
        }
        match canonical_type.kind() {
            TypeKind::Array => {
                let (element, count) =
                    (canonical_type.array_element(), canonical_type.array_size());
                self.elements(element, count.filter(|count| *count > 0), level)
            }
            TypeKind::FlexibleArray => self.elements(canonical_type.array_element(), None, level),
            TypeKind::Vector => self.vector(canonical_type, level),
            TypeKind::Enumeration => {
                self.contents(canonical_type.declaration().enumeration_type(), level + 1)
            }
            TypeKind::Record => self.record(canonical_type, level),
            TypeKind::Unsigned
            | TypeKind::Signed
            | TypeKind::Floating
            | TypeKind::Pointer
            | TypeKind::Reference
            | TypeKind::UnsizedArray
            | TypeKind::Other => {
                Ok(HostContents::Unsupported { kind: kind_in_words(canonical_type), size })
            }
        }
    }

    /// An array; without a count as many elements as there is room for.
    fn elements(
        &mut self,
        element: DeclaredType<'_>,
        count: Option<u64>,
        level: usize,
    ) -> Result<HostContents, ReadingStop> {
        let Some(stride) = element.size() else {
            let kind = "an array of what has no size".to_owned();
            return Ok(HostContents::Unsupported { kind, size: Some(0) });
        };
        let element = Box::new(self.contents(element, level + 1)?);
        Ok(match count {
            Some(count) => HostContents::Array { count, stride, element },
            None => HostContents::FlexibleArray { stride, element },
        })
    }

    /// A vector of the compiler. Three elements take the room of four, and those of `bool` are
    /// bits.
    fn vector(
        &mut self,
        vector: DeclaredType<'_>,
        level: usize,
    ) -> Result<HostContents, ReadingStop> {
        let size = vector.size();
        let list = self.elements(vector.vector_element(), vector.vector_size(), level)?;
        let (Some(bytes), HostContents::Array { .. }) = (size, &list) else {
            let kind = "a vector without elements".to_owned();
            return Ok(HostContents::Unsupported { kind, size });
        };
        Ok(match bytes.cmp(&list.size()) {
            Ordering::Equal => list,
            Ordering::Less => {
                let kind = "a vector whose elements are no whole bytes".to_owned();
                HostContents::Unsupported { kind, size }
            }
            Ordering::Greater => {
                let elements = PlacedMember {
                    name: "elements".to_owned(),
                    offset: 0,
                    contents: list,
                    spelling: None,
                    place: None,
                    order: None,
                    padding: false,
                };
                HostContents::Structure(PlacedStruct { size: bytes, members: vec![elements] })
            }
        })
    }

    fn record(
        &mut self,
        record: DeclaredType<'_>,
        level: usize,
    ) -> Result<HostContents, ReadingStop> {
        let size = record.size();
        let unsupported =
            |kind: &str| Ok(HostContents::Unsupported { kind: kind.to_owned(), size });
        let declaration = record.declaration();
        if declaration.kind() == DeclarationKind::Union {
            return unsupported("a union");
        }
        let Some(bytes) = size else { return unsupported("an incomplete type") };
        if let Some(kind) = class_feature(declaration) {
            return unsupported(kind);
        }
        let mut members = Vec::new();
        match self.add_fields(record, 0, level, &mut members) {
            Ok(()) => {}
            Err(ReadingStop::NotCompared(kind)) => return unsupported(&kind),
            Err(ReadingStop::TooManyMembers) => return Err(ReadingStop::TooManyMembers),
        }
        Ok(HostContents::Structure(PlacedStruct { size: bytes, members }))
    }

    fn add_fields(
        &mut self,
        record: DeclaredType<'_>,
        start: u64,
        level: usize,
        members: &mut Vec<PlacedMember>,
    ) -> Result<(), ReadingStop> {
        for field in record.fields() {
            self.members_left =
                self.members_left.checked_sub(1).ok_or(ReadingStop::TooManyMembers)?;
            let field_type = field.declared_type();
            let inner_record = field_type.canonical();
            let declaration = inner_record.declaration();
            let offset = start + field.offset_in_bits().unwrap_or(0) / 8;
            let name = field.name();
            // With the extensions of Microsoft a struct with a tag may be unnamed, too.
            let is_unnamed = declaration.is_anonymous_record() || name.is_empty();
            if inner_record.kind() == TypeKind::Record && is_unnamed {
                let first_inner = members.len();
                if level >= MOST_LEVELS {
                    let kind = format!("a struct of more than {MOST_LEVELS} unnamed levels");
                    return Err(ReadingStop::NotCompared(kind));
                }
                if let Some(kind) = class_feature(declaration) {
                    return Err(ReadingStop::NotCompared(format!("a struct around {kind}")));
                }
                self.add_fields(inner_record, offset, level + 1, members)?;
                if declaration.kind() == DeclarationKind::Union {
                    members[first_inner..].iter_mut().for_each(mark_as_alternative);
                }
                continue;
            }
            let contents = match field.bit_width() {
                // A gap that no name reaches.
                Some(_) if name.is_empty() => continue,
                Some(bits) => {
                    let kind = format!("a bit-field of {bits} bits");
                    HostContents::Unsupported { kind, size: None }
                }
                None if field.offset_in_bits().is_none() => {
                    let kind = "a member without a fixed place".to_owned();
                    HostContents::Unsupported { kind, size: None }
                }
                None => self.contents(field_type, level + 1)?,
            };
            members.push(PlacedMember {
                name,
                offset,
                contents,
                spelling: Some(field_type.spelling()),
                place: Some(model_place(field.place())),
                order: None,
                padding: false,
            });
        }
        Ok(())
    }
}

/// A member of an anonymous union.
fn mark_as_alternative(member: &mut PlacedMember) {
    let size = Some(member.contents.size());
    member.contents = HostContents::Unsupported { kind: "a part of a union".to_owned(), size };
}

/// What makes a class one whose layout is not compared.
fn class_feature(declaration: Cursor<'_>) -> Option<&'static str> {
    let template = declaration.template();
    let parts = declaration.children().into_iter();
    let parts = parts.chain(template.into_iter().flat_map(|template| template.children()));
    parts.into_iter().find_map(|part| {
        // Destructors and conversions are functions, too.
        if part.is_virtual() {
            return Some("a class with virtual functions");
        }
        match part.kind() {
            DeclarationKind::Base => Some("a class with a base"),
            DeclarationKind::Namespace
            | DeclarationKind::Linkage
            | DeclarationKind::Struct
            | DeclarationKind::Union
            | DeclarationKind::TypeName
            | DeclarationKind::Other => None,
        }
    })
}

fn model_place(place: SourcePlace) -> Place {
    Place {
        file: place.file.as_deref().map(shown_name),
        line: Some(place.line),
        column: Some(place.column),
        ..Place::default()
    }
}

/// Numbers that a host type stands for.
fn scalar_type(canonical_type: DeclaredType<'_>) -> Option<HostContents> {
    let size = canonical_type.size()?;
    let scalar = match (canonical_type.kind(), size) {
        // A bool takes a byte, which is 0 or 1.
        (TypeKind::Unsigned, 1) => HostType::Uint8,
        (TypeKind::Unsigned, 2) => HostType::Uint16,
        (TypeKind::Unsigned, 4) => HostType::Uint32,
        (TypeKind::Unsigned, 8) => HostType::Uint64,
        (TypeKind::Signed, 1) => HostType::Int8,
        (TypeKind::Signed, 2) => HostType::Int16,
        (TypeKind::Signed, 4) => HostType::Int32,
        (TypeKind::Signed, 8) => HostType::Int64,
        (TypeKind::Floating, 2) => HostType::Float16,
        (TypeKind::Floating, 4) => HostType::Float32,
        (TypeKind::Floating, 8) => HostType::Float64,
        (_, _) => return None,
    };
    Some(HostContents::Scalar(scalar))
}

fn kind_in_words(canonical_type: DeclaredType<'_>) -> String {
    match canonical_type.kind() {
        TypeKind::Pointer => "a pointer".to_owned(),
        TypeKind::Reference => "a reference".to_owned(),
        TypeKind::FlexibleArray => "a flexible array".to_owned(),
        TypeKind::UnsizedArray => "an array of unknown size".to_owned(),
        TypeKind::Unsigned
        | TypeKind::Signed
        | TypeKind::Floating
        | TypeKind::Array
        | TypeKind::Vector
        | TypeKind::Enumeration
        | TypeKind::Record
        | TypeKind::Other => {
            format!("of type `{}`, which is not compared,", canonical_type.spelling())
        }
    }
}

//! From a header to the struct that is asked for.
//!
//! Knows: which types of C and C++ are numbers of which host type.
//! Promises: members are in declaration order; those of an anonymous struct are members of what it
//! is in. What has no layout that can be compared is kept by name.
//! Does not cover: which struct a name means (`naming`), which objects of the program have the type.

use super::naming::{Language, StructSearch, WantedName, find_struct};
use super::process::limit_this_process;
use super::silenced::silencing_reason;
use super::syntax_tree::{
    Cursor, DeclarationKind, DeclaredType, SourcePlace, TranslationUnit, TypeKind, UnitFailure,
};
use super::{HeaderFault, HeaderOutcome, HeaderRequest, ReadStruct};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::Path;
use vkcert_model::path::lexically_clean;
use vkcert_model::place::Place;
use vkcert_model::requirement::{HostContents, HostType, PlacedMember, PlacedStruct};

/// Members of a struct, those of inner structs counted as often as they stand there. The library
/// takes a time for each that grows with their number.
const MOST_MEMBERS: usize = 1 << 12;

/// Structs and arrays within each other.
const MOST_LEVELS: usize = 64;

/// Errors that are told.
const MOST_ERRORS: usize = 20;

/// Warnings of what the compiler ignores, which are errors unless an interface states otherwise.
const HEEDED_WARNINGS: [&str; 3] = ["unknown-attributes", "ignored-attributes", "unknown-pragmas"];

/// Reads a request from the standard input and answers it on the standard output. The process is
/// limited from here on.
///
/// # Errors
/// If the request is none, or the answer cannot be written.
pub fn answer_request() -> Result<(), String> {
    let mut question = Vec::new();
    let read = std::io::stdin().read_to_end(&mut question);
    read.map_err(|error| format!("no request: {error}"))?;
    let request: HeaderRequest =
        serde_json::from_slice(&question).map_err(|error| format!("no request: {error}"))?;
    limit_this_process()?;
    let answer = serde_json::to_vec(&outcome_of(&request)).map_err(|error| error.to_string())?;
    let written = std::io::stdout().write_all(&answer);
    written.map_err(|error| format!("the answer cannot be written: {error}"))
}

fn outcome_of(request: &HeaderRequest) -> HeaderOutcome {
    let arguments = compiler_arguments(request);
    let unit = match TranslationUnit::parse(&request.file, &arguments, None) {
        Ok(unit) => unit,
        Err(failure) => return outcome_of_failure(request, failure),
    };
    let errors = unit.errors();
    if !errors.is_empty() {
        let told_errors = errors.into_iter().take(MOST_ERRORS);
        let faults = told_errors.map(|error| HeaderFault {
            message: error.message,
            file: error.place.file.as_deref().map(shown_name),
            line: error.place.line,
            column: error.place.column,
        });
        return HeaderOutcome::Faulty(faults.collect());
    }
    if let Some(fault) = silencing_fault(request, &unit) {
        return HeaderOutcome::Faulty(vec![fault]);
    }
    let wanted = WantedName::of(&request.structure);
    match find_struct(&unit, wanted, Language::of(request)) {
        StructSearch::Unique(structure) => {
            if structure.canonical().size().is_some() || Language::of(request) == Language::C {
                return outcome_of_struct(request, &unit, structure);
            }
            // An instance of a template has no layout before something uses it.
            let user = format!("static_assert(sizeof({}) != 0, \"\");\n", wanted.name);
            match using_unit(request, &arguments, &user) {
                Some(using_unit) => outcome_of_search(request, &using_unit, wanted),
                None => outcome_of_struct(request, &unit, structure),
            }
        }
        StructSearch::Several => HeaderOutcome::SeveralTypes,
        StructSearch::Missing(declared) => {
            // `using` and aliases of namespaces lead to names, too: the compiler finds them.
            let user = format!("using {FOUND_NAME} = {};\n", wanted.name);
            let found_unit = if Language::of(request) == Language::Cpp {
                using_unit(request, &arguments, &user)
            } else {
                None
            };
            match found_unit {
                Some(unit) => outcome_of_search(request, &unit, WantedName::of(FOUND_NAME)),
                None => HeaderOutcome::NoStruct { declared },
            }
        }
    }
}

/// A file of the project that keeps the compiler from telling what it ignores, unless the interface
/// states that nothing of this changes a layout.
fn silencing_fault(request: &HeaderRequest, unit: &TranslationUnit) -> Option<HeaderFault> {
    let is_stated =
        |warning: &str| request.flags.iter().any(|flag| *flag == format!("-Wno-{warning}"));
    if HEEDED_WARNINGS.into_iter().all(is_stated) {
        return None;
    }
    let (project_files, _) = files_of(unit);
    project_files.into_iter().find_map(|file| {
        let bytes = std::fs::read(&file).ok()?;
        let (line, reason) = silencing_reason(&String::from_utf8_lossy(&bytes))?;
        let message = format!(
            "{reason}, so that attributes and pragmas which the compiler ignores would not be told; \
             -Wno-unknown-attributes, -Wno-ignored-attributes and -Wno-unknown-pragmas together state \
             that none of them changes a layout"
        );
        Some(HeaderFault { message, file: Some(file), line, column: 1 })
    })
}

/// The name of a text that uses the header and is in no file.
const USER_FILE: &str = "vkcert-user.cpp";

/// The name that such a text gives to a type.
const FOUND_NAME: &str = "vkcert_found_type";

/// The header with lines behind it that use it; none where these are wrong.
fn using_unit(
    request: &HeaderRequest,
    arguments: &[String],
    lines: &str,
) -> Option<TranslationUnit> {
    let text = format!("#include \"{}\"\n{lines}", request.file);
    let unit = TranslationUnit::parse(USER_FILE, arguments, Some(&text)).ok()?;
    unit.errors().is_empty().then_some(unit)
}

fn outcome_of_search(
    request: &HeaderRequest,
    unit: &TranslationUnit,
    wanted: WantedName<'_>,
) -> HeaderOutcome {
    match find_struct(unit, wanted, Language::of(request)) {
        StructSearch::Unique(structure) => outcome_of_struct(request, unit, structure),
        StructSearch::Several => HeaderOutcome::SeveralTypes,
        StructSearch::Missing(declared) => HeaderOutcome::NoStruct { declared },
    }
}

fn outcome_of_failure(request: &HeaderRequest, failure: UnitFailure) -> HeaderOutcome {
    match failure {
        UnitFailure::NoLibrary(message) => HeaderOutcome::Unusable(message),
        UnitFailure::Crashed => {
            let fault = HeaderFault::of_file(&request.file, "the compiler crashes on it");
            HeaderOutcome::Faulty(vec![fault])
        }
        UnitFailure::Refused(words) => {
            let message = format!(
                "{words} for the target `{}` as `{}`: whether it knows both is the first question",
                request.target, request.standard
            );
            HeaderOutcome::Faulty(vec![HeaderFault::of_file(&request.file, message)])
        }
    }
}

fn outcome_of_struct(
    request: &HeaderRequest,
    unit: &TranslationUnit,
    structure: DeclaredType<'_>,
) -> HeaderOutcome {
    let mut reader = StructReader { members_left: MOST_MEMBERS };
    let Ok(contents) = reader.contents(structure, 0) else {
        let message = format!("`{}` has more than {MOST_MEMBERS} members", request.structure);
        return HeaderOutcome::Faulty(vec![HeaderFault::of_file(&request.file, message)]);
    };
    let (project_files, outside_files) = files_of(unit);
    let reader = unit.compiler_name();
    HeaderOutcome::Read(Box::new(ReadStruct { reader, contents, project_files, outside_files }))
}

fn compiler_arguments(request: &HeaderRequest) -> Vec<String> {
    let language = match Language::of(request) {
        Language::C => "c",
        Language::Cpp => "c++",
    };
    let mut arguments = vec![
        format!("--target={}", request.target),
        "-x".to_owned(),
        language.to_owned(),
        format!("-std={}", request.standard),
        format!("-ferror-limit={MOST_ERRORS}"),
    ];
    // What the compiler passes over may be what the host program's own compiler lays out by.
    arguments.extend(HEEDED_WARNINGS.map(|warning| format!("-Werror={warning}")));
    for (name, value) in &request.defines {
        arguments.push(format!("-D{name}={value}"));
    }
    for folder in &request.include {
        arguments.push(format!("-I{folder}"));
    }
    arguments.extend(request.sysroot.iter().map(|folder| format!("--sysroot={folder}")));
    arguments.extend(request.flags.iter().cloned());
    arguments
}

/// Files of the project that were read, and those outside that its files include.
fn files_of(unit: &TranslationUnit) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut project_files, mut outside_files) = (BTreeSet::new(), BTreeSet::new());
    for file in unit.files() {
        match project_path(&file.name) {
            Some(path) if path == USER_FILE => {}
            Some(path) => {
                project_files.insert(path);
            }
            None if file.included_in.as_deref().is_some_and(|by| project_path(by).is_some()) => {
                outside_files.insert(outside_name(&file.name));
            }
            None => {}
        }
    }
    (project_files, outside_files)
}

/// The path in the project, which is the folder that the process runs in.
fn project_path(name: &str) -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    let path = lexically_clean(&folder.join(name));
    let inside = path.strip_prefix(lexically_clean(&folder)).ok()?;
    let parts = inside.iter().map(|part| part.to_str());
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

/// A file outside of the project as `#include <...>` names it: no place of this machine.
fn outside_name(name: &str) -> String {
    let behind_include = name.rsplit_once("/include/").map(|(_, rest)| rest);
    let file_name = || Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or(name);
    behind_include.unwrap_or_else(file_name).to_owned()
}

fn shown_name(name: &str) -> String {
    project_path(name).unwrap_or_else(|| outside_name(name))
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

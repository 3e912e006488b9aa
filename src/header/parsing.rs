//! From a request to what the compiler says of the struct.
//!
//! Knows: the compiler's arguments; what of its answer is a fault of the header.
//! Promises: a struct is told only of a header in which the compiler finds no error and passes over
//! nothing.
//! Does not cover: which struct a name means (`naming`), what its members are (`members`), which
//! objects of the program have the type.

use super::file_names::{USER_FILE, files_of, shown_name};
use super::members::{MOST_MEMBERS, contents_of};
use super::naming::{Language, StructSearch, WantedName, find_struct};
use super::process::limit_this_process;
use super::silenced::silencing_reason;
use super::syntax_tree::{DeclaredType, TranslationUnit, UnitFailure};
use super::{HeaderFault, HeaderOutcome, HeaderRequest, ReadStruct};
use std::io::{Read, Write};

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
    let Some(contents) = contents_of(structure) else {
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

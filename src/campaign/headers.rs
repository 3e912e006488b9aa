//! The headers that interfaces name, read by a compiler.
//!
//! Knows: a project's interfaces, the program that reads headers in a process of its own, what
//! evidence stores of readings.
//! Promises: nothing is looked for where no interface names a header. What is wrong with a header is
//! told before that the compiler's library is missing. A stored reading that cannot be made again
//! is named as not derivable.
//! Does not cover: what the reading means (`coupling`).

use crate::CampaignError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use vkcert_header::{
    HeaderFault, HeaderOutcome, HeaderRequest, INSTALL_COMMAND, ReadStruct, find_library,
    read_header,
};
use vkcert_model::canonical::content_hash;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::Campaign;
use vkcert_model::id::KernelName;
use vkcert_model::place::Position;
use vkcert_model::requirement::{HeaderReading, HostHeader};
use vkcert_requirement::Project;
use vkcert_requirement::document::{Origin, read_bytes};
use vkcert_requirement::nearest::did_you_mean;
use vkcert_verification::Verification;

/// The argument that makes the program answer a request for a struct (hidden from its help).
pub const READER_COMMAND: &str = "__read-header";

/// What was read, in the order of each kernel's interface.
pub type HostHeaders = BTreeMap<KernelName, Vec<HeaderReading>>;

/// Reads every header of the project; `program` is the one that answers [`READER_COMMAND`].
pub fn read_headers(
    project: &Project,
    program: Option<&Path>,
) -> Result<HostHeaders, CampaignError> {
    let missing_folders = missing_folders(project);
    if !missing_folders.is_empty() {
        return Err(CampaignError::Input(missing_folders));
    }
    read_existing(project, program)
}

/// Folders that a compiler would pass over without a word, because they are not there.
fn missing_folders(project: &Project) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for interface in &project.interfaces {
        for (index, header) in interface.header.iter().enumerate() {
            let place = interface.origin.at("header").at(index);
            let include = place.at("include");
            let includes = header.include.iter().enumerate();
            let includes = includes.map(|(number, folder)| (include.at(number), folder));
            let sysroot = header.sysroot.iter().map(|folder| (place.at("sysroot"), folder));
            for (folder_place, folder) in includes.chain(sysroot) {
                if !project.root.join(folder).is_dir() {
                    let message = format!("there is no folder `{folder}`");
                    diagnostics.push(folder_place.error("missing-folder", message));
                }
            }
        }
    }
    diagnostics
}

/// The same without a look at folders: rebuilt evidence has those alone of which a file was read.
fn read_existing(project: &Project, program: Option<&Path>) -> Result<HostHeaders, CampaignError> {
    let mut diagnostics = Vec::new();
    let mut requests = Vec::new();
    for interface in &project.interfaces {
        for (index, header) in interface.header.iter().enumerate() {
            let place = interface.origin.at("header").at(index);
            match read_bytes(&project.root.join(&header.file), &header.file) {
                Ok(_) => requests.push((interface.kernel, header, place)),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
    }
    if !diagnostics.is_empty() {
        return Err(CampaignError::Input(diagnostics));
    }
    let mut headers = HostHeaders::new();
    if requests.is_empty() {
        return Ok(headers);
    }
    let reader = HeaderReader::find(program)?;
    for (kernel, header, place) in requests {
        match reader.read(project, header, &place)? {
            Ok(reading) => headers.entry(kernel).or_default().push(reading),
            Err(found) => diagnostics.extend(found),
        }
    }
    if diagnostics.is_empty() { Ok(headers) } else { Err(CampaignError::Input(diagnostics)) }
}

/// The readings that evidence stores.
pub fn stored_headers(stored_campaign: &Campaign) -> HostHeaders {
    let rows = stored_campaign.coupling.iter().filter(|row| !row.headers.is_empty());
    rows.map(|row| (row.kernel, row.headers.clone())).collect()
}

/// Reads the headers of rebuilt evidence again, and compares. The compiler must be the one that the
/// evidence names; otherwise what it read is not derivable here.
pub fn compare_readings(
    stored: &HostHeaders,
    project: &Project,
    program: Option<&Path>,
    verification: &mut Verification,
) {
    let stated: BTreeMap<KernelName, Vec<(&str, &str)>> = project
        .interfaces
        .iter()
        .filter(|interface| !interface.header.is_empty())
        .map(|interface| {
            let names = interface.header.iter();
            let names = names.map(|header| (header.file.as_str(), header.structure.as_str()));
            (interface.kernel, names.collect())
        })
        .collect();
    let named: BTreeMap<KernelName, Vec<(&str, &str)>> = stored
        .iter()
        .map(|(kernel, readings)| (*kernel, readings.iter().map(names_of_reading).collect()))
        .collect();
    verification.check(stated == named, || {
        "headers that were read: not those of the interfaces".to_owned()
    });
    if stored.is_empty() {
        return;
    }
    match read_existing(project, program) {
        Ok(read_again) => {
            for (kernel, readings) in stored {
                let fresh_readings = read_again.get(kernel).map_or(&[][..], Vec::as_slice);
                compare_kernel(*kernel, readings, fresh_readings, verification);
            }
        }
        Err(failure) => {
            let reason = failure.sentence();
            let names = stored.iter().flat_map(|(kernel, readings)| {
                readings.iter().map(move |reading| not_read_again(*kernel, reading, reason))
            });
            verification.not_derivable.extend(names);
        }
    }
}

fn names_of_reading(reading: &HeaderReading) -> (&str, &str) {
    (&reading.file, &reading.structure)
}

fn not_read_again(kernel: KernelName, reading: &HeaderReading, reason: &str) -> String {
    format!("{kernel}: what `{}` says of `{}`: {reason}", reading.file, reading.structure)
}

fn compare_kernel(
    kernel: KernelName,
    stored: &[HeaderReading],
    fresh: &[HeaderReading],
    verification: &mut Verification,
) {
    for (stored_reading, fresh_reading) in stored.iter().zip(fresh) {
        if stored_reading.reader == fresh_reading.reader {
            verification.check(stored_reading == fresh_reading, || {
                let (file, name) = names_of_reading(stored_reading);
                format!("{kernel}: `{name}` of `{file}` is read otherwise by the same compiler")
            });
        } else {
            let reason = format!(
                "it was read by {}, here is {}",
                stored_reading.reader, fresh_reading.reader
            );
            verification.not_derivable.push(not_read_again(kernel, stored_reading, &reason));
        }
    }
}

/// What reading headers needs.
struct HeaderReader<'a> {
    program: &'a Path,
    library: PathBuf,
}

impl<'a> HeaderReader<'a> {
    fn find(program: Option<&'a Path>) -> Result<Self, CampaignError> {
        let program = program.ok_or_else(|| CampaignError::Unavailable {
            message: "an interface names a header, and no program is named that reads headers"
                .to_owned(),
            hint: Some("name one in the plan".to_owned()),
        })?;
        let library = find_library().ok_or_else(|| {
            library_missing(
                "an interface names a header, and libclang, which reads it, is not installed",
            )
        })?;
        Ok(Self { program, library })
    }

    fn read(
        &self,
        project: &Project,
        header: &HostHeader,
        place: &Origin,
    ) -> Result<Result<HeaderReading, Vec<Diagnostic>>, CampaignError> {
        let request = HeaderRequest {
            file: header.file.clone(),
            structure: header.structure.clone(),
            target: header.target.clone(),
            standard: header.standard.clone(),
            defines: header.defines.clone(),
            include: header.include.clone(),
            flags: header.flags.clone(),
            sysroot: header.sysroot.clone(),
        };
        let program = (self.program, &[READER_COMMAND][..]);
        let outcome = read_header(program, &self.library, &project.root, &request);
        Ok(match outcome.map_err(CampaignError::tool)? {
            HeaderOutcome::Read(read_struct) => reading_of(project, header, *read_struct),
            HeaderOutcome::Faulty(faults) => {
                Err(faults.into_iter().map(|fault| diagnostic_of(fault, header)).collect())
            }
            HeaderOutcome::NoStruct { declared } => {
                let names: Vec<String> = declared.into_iter().collect();
                let message =
                    format!("`{}` declares no struct `{}`", header.file, header.structure);
                let problem = place.at("struct").error("unknown-struct", message);
                Err(vec![match name_hint(&header.structure, &names) {
                    Some(hint) => problem.hint(hint),
                    None => problem,
                }])
            }
            HeaderOutcome::SeveralTypes => {
                let name = &header.structure;
                let message = format!("`{}` declares several types `{name}`", header.file);
                let hint = format!("write `struct {name}` or `typedef {name}`");
                Err(vec![place.at("struct").error("ambiguous-struct", message).hint(hint)])
            }
            HeaderOutcome::Unusable(message) => {
                let message =
                    format!("an interface names a header, and libclang cannot be used: {message}");
                return Err(library_missing(&message));
            }
        })
    }
}

/// A name that differs in where it belongs, or in few letters.
fn name_hint(wanted_name: &str, names: &[String]) -> Option<String> {
    let last_part = |name: &str| name.rsplit([' ', ':']).next().map(str::to_owned);
    let wanted_part = last_part(wanted_name);
    let namesake = names.iter().find(|name| last_part(name) == wanted_part);
    match namesake {
        Some(name) => Some(format!("did you mean `{name}`?")),
        None => did_you_mean(wanted_name, names),
    }
}

fn library_missing(message: &str) -> CampaignError {
    CampaignError::Unavailable {
        message: message.to_owned(),
        hint: Some(INSTALL_COMMAND.to_owned()),
    }
}

fn reading_of(
    project: &Project,
    header: &HostHeader,
    read_struct: ReadStruct,
) -> Result<HeaderReading, Vec<Diagnostic>> {
    let mut files = BTreeMap::new();
    for path in read_struct.project_files {
        let bytes =
            read_bytes(&project.root.join(&path), &path).map_err(|diagnostic| vec![diagnostic])?;
        files.insert(path, content_hash(&bytes));
    }
    Ok(HeaderReading {
        file: header.file.clone(),
        structure: header.structure.clone(),
        reader: read_struct.reader,
        contents: read_struct.contents,
        files,
        outside: read_struct.outside_files.into_iter().collect(),
    })
}

fn diagnostic_of(fault: HeaderFault, header: &HostHeader) -> Diagnostic {
    let HeaderFault { message, file, line, column } = fault;
    let position = Position { line: line.max(1), column: column.max(1) };
    let is_missing_file = message.contains("file not found");
    let is_passed_over = message.ends_with(" ignored");
    let file = file.unwrap_or_else(|| header.file.clone());
    let problem = Diagnostic::new("header", message).at_position(file, position);
    if is_missing_file {
        problem.hint(format!(
            "folders of the project stand in `include`, the target's own headers in a `sysroot` of the project; `flags = [\"-ffreestanding\"]` does without them, and the compiler's own come with {INSTALL_COMMAND}"
        ))
    } else if is_passed_over {
        problem.hint(
            "the host program's compiler may lay out members by it; `flags` with `-Wno-unknown-attributes`, `-Wno-ignored-attributes` or `-Wno-unknown-pragmas` states that it changes no layout",
        )
    } else {
        problem
    }
}

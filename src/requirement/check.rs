//! Consistency of a project and of a test-procedure file: names, references, traces.

use super::check_document::check_document;
use super::check_interface::check_interfaces;
use super::check_justification::check_justifications;
use super::check_requirements::{
    check_code, check_cycles, check_people, check_records, check_requirement,
    check_test_requirements, check_test_reviews, check_texts, check_uids,
};
use super::check_test::{KernelNames, check_tests};
use super::code::SourceTexts;
use super::document::Origin;
use super::load::Project;
use super::nearest::nearest_name;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::{KernelText, Language, Procedure};
use vkcert_model::project::{MOST_REPETITIONS, ProjectFile};
use vkcert_model::schedule::MOST_SCHEDULES;
use vkcert_model::vulkan_sc::Profile;

/// Everything that is wrong with a project whose files have been read.
pub(crate) fn check_project(project: &Project) -> Vec<Diagnostic> {
    let mut problems = check_settings(project);
    let by_uid = check_uids(project, &mut problems);
    let sources = SourceTexts::of_project(project);
    let code_problems: Vec<Vec<Diagnostic>> = project
        .requirements
        .par_iter()
        .map(|requirement| check_code(project, requirement, &sources))
        .collect();
    for (requirement, of_code) in project.requirements.iter().zip(code_problems) {
        check_requirement(requirement, project.settings.requirement_levels, &by_uid, &mut problems);
        problems.extend(of_code);
    }
    check_cycles(project, &by_uid, &mut problems);
    let names: Vec<&KernelName> =
        project.settings.kernels.iter().map(|kernel| &kernel.name).collect();
    let kernels = KernelNames { names, table: "vkcert.toml" };
    problems.extend(check_tests(&project.tests, &kernels));
    check_test_requirements(project, &by_uid, &mut problems);
    check_records(project, &by_uid, &mut problems);
    check_test_reviews(project, &mut problems);
    for test in &project.tests {
        let people = [&test.author, &test.reviewer];
        check_people(&test.origin, "a test", people, &mut problems);
    }
    check_justifications(&project.justifications, &kernels, &mut problems);
    check_interfaces(&project.interfaces, &kernels, &mut problems);
    problems.extend(check_all_spellings(project));
    problems
}

/// Longest name, in bytes: a kernel, its configuration and the engine together name a file of the
/// evidence, and file systems take 255 bytes.
const MOST_NAME_BYTES: usize = 100;

/// A name that may stand in file names and reports; `what` is what it names.
pub(crate) fn check_name(origin: &Origin, named_thing: &str, name: &str) -> Option<Diagnostic> {
    if name.len() > MOST_NAME_BYTES {
        let message = format!(
            "the name of a {named_thing} has {} bytes; the limit is {MOST_NAME_BYTES}",
            name.len()
        );
        return Some(origin.error("limit", message));
    }
    if !name.is_empty() && !name.starts_with('.') && name.chars().all(is_name_character) {
        return None;
    }
    Some(
        origin
            .error("bad-name", format!("`{name}` is no name of a {named_thing}"))
            .hint("use letters, digits, `-`, `_` and `.`, and do not begin with `.`"),
    )
}

/// Names of one kind that differ in capitals alone. Readers take them for each other, and so do file
/// systems that do not tell capitals from small letters.
fn check_spellings<'a>(
    named_thing: &str,
    names: impl Iterator<Item = (Origin, &'a str)>,
) -> Vec<Diagnostic> {
    let mut first_spellings: BTreeMap<String, &str> = BTreeMap::new();
    let mut problems = Vec::new();
    for (place, name) in names {
        let first = *first_spellings.entry(name.to_ascii_lowercase()).or_insert(name);
        if first != name {
            let message =
                format!("the {named_thing} `{name}` differs from `{first}` in capitals alone");
            let problem = place.error("duplicate-id", message);
            problems.push(problem.hint("name one of them otherwise"));
        }
    }
    problems
}

fn check_all_spellings(project: &Project) -> Vec<Diagnostic> {
    let requirements =
        project.requirements.iter().map(|row| (row.origin.at("uid"), row.uid.as_str()));
    let mut problems = check_spellings("requirement", requirements);
    let tests = project.tests.iter().map(|test| (test.origin.at("id"), test.id.as_str()));
    problems.extend(check_spellings("test", tests));
    let kernel_table = project.settings.origin.at("kernel");
    let kernels = project.settings.kernels.iter().enumerate();
    let kernel_names = kernels
        .clone()
        .map(|(index, kernel)| (kernel_table.at(index).at("name"), kernel.name.as_str()));
    problems.extend(check_spellings("kernel", kernel_names));
    for (index, kernel) in kernels {
        let table = kernel_table.at(index).at("configuration");
        let configurations = kernel.configurations.iter().enumerate();
        let names =
            configurations.map(|(index, row)| (table.at(index).at("name"), row.name.as_str()));
        problems.extend(check_spellings("configuration", names));
    }
    problems
}

fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// Most names that a hint lists.
const LISTED_NAMES: usize = 12;

/// A reference to something that does not exist, with the nearest name that does.
pub(crate) fn unknown_name<'a>(
    origin: &Origin,
    kind: &'static str,
    named_thing: &str,
    name: &str,
    known_names: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let known_names: Vec<&str> = known_names.into_iter().collect();
    let hint = match nearest_name(name, known_names.iter().copied()) {
        Some(nearest_known) => format!("did you mean `{nearest_known}`?"),
        None if known_names.is_empty() => format!("no {named_thing} is declared"),
        None => {
            let listed_names = &known_names[..known_names.len().min(LISTED_NAMES)];
            format!("known: {}", listed_names.join(", "))
        }
    };
    origin.error(kind, format!("there is no {named_thing} `{name}`")).hint(hint)
}

fn check_settings(project: &Project) -> Vec<Diagnostic> {
    let settings = &project.settings;
    let origin = &settings.origin;
    let mut problems = Vec::new();
    if settings.name.trim().is_empty() {
        problems.push(origin.at("name").error("bad-value", "the project's name is empty"));
    }
    if settings.kernels.is_empty() {
        problems.push(
            origin
                .at("kernel")
                .error("missing-key", "the project has no kernel")
                .hint("add a `[[kernel]]`"),
        );
    }
    let mut seen_kernels = BTreeSet::new();
    for (kernel_index, kernel) in settings.kernels.iter().enumerate() {
        let kernel_place = origin.at("kernel").at(kernel_index);
        problems.extend(check_name(&kernel_place.at("name"), "kernel", kernel.name.as_str()));
        if !seen_kernels.insert(&kernel.name) {
            let message = format!("the kernel `{}` is declared twice", kernel.name);
            problems.push(kernel_place.at("name").error("duplicate-id", message));
        }
        problems.extend(check_path(
            &project.root,
            &kernel_place.at("source"),
            &kernel.source,
            PathKind::File,
        ));
        check_configurations(&kernel_place, kernel, &mut problems);
        let people = [&kernel.author, &kernel.reviewer];
        check_people(&kernel_place, "a kernel", people, &mut problems);
    }
    if let Some(document) = &settings.document {
        check_document(&origin.at("document"), document, &mut problems);
    }
    if let Some(target) = &settings.target {
        let required_texts = [
            ("device", &target.device),
            ("driver", &target.driver),
            ("driver_info", &target.driver_info),
        ];
        check_texts(&origin.at("target"), "the target", &required_texts, &mut problems);
    }
    check_lists(origin, settings, &mut problems);
    check_limits(&origin.at("limits"), &settings.limits, &mut problems);
    if let Some(demand) = &settings.mutation
        && !(0.0..=100.0).contains(&demand.threshold)
    {
        let message = format!(
            "the threshold of a mutation score is a percentage from 0 to 100, not {}",
            demand.threshold
        );
        problems.push(origin.at("mutation").at("threshold").error("bad-value", message));
    }
    problems
}

/// The include folders that are not there.
pub(crate) fn check_include_folders(project: &Project) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (kernel_index, kernel) in project.settings.kernels.iter().enumerate() {
        let include_place = project.settings.origin.at("kernel").at(kernel_index).at("include");
        for (folder_index, folder) in kernel.include.iter().enumerate() {
            let folder_place = include_place.at(folder_index);
            problems.extend(check_path(&project.root, &folder_place, folder, PathKind::Folder));
        }
    }
    problems
}

fn check_configurations(
    place: &Origin,
    kernel: &vkcert_model::project::ProjectKernel,
    problems: &mut Vec<Diagnostic>,
) {
    let mut seen_names = BTreeSet::new();
    for (index, configuration) in kernel.configurations.iter().enumerate() {
        let place = place.at("configuration").at(index);
        problems.extend(check_name(&place.at("name"), "configuration", &configuration.name));
        if !seen_names.insert(&configuration.name) {
            let message = format!("the configuration `{}` is declared twice", configuration.name);
            problems.push(place.at("name").error("duplicate-id", message));
        }
        let specialization_place = place.at("specialization");
        super::check_test::check_specialization(
            &specialization_place,
            &configuration.specialization,
            problems,
        );
    }
}

fn check_lists(
    origin: &Origin,
    settings: &vkcert_model::project::ProjectFile,
    problems: &mut Vec<Diagnostic>,
) {
    fn repeated<T: Ord>(list: &[T]) -> Option<usize> {
        let mut seen = BTreeSet::new();
        list.iter().position(|item| !seen.insert(item))
    }
    if let Some(engines) = &settings.engines {
        let place = origin.at("engines");
        if engines.is_empty() {
            problems.push(
                place
                    .error("bad-value", "no engine is named")
                    .hint("leave `engines` out for the default"),
            );
        }
        problems.extend(
            repeated(engines)
                .map(|index| place.at(index).error("duplicate-id", "this engine is named twice")),
        );
    }
    if settings.repeat.is_some_and(|repeat| repeat.get() > MOST_REPETITIONS) {
        let message = format!("a test can be repeated {MOST_REPETITIONS} times at most");
        problems.push(origin.at("repeat").error("bad-value", message));
    }
    if let Some(features) = &settings.sc_features {
        let place = origin.at("sc_features");
        let repeated_entry = repeated(features)
            .map(|index| place.at(index).error("duplicate-id", "this feature is named twice"));
        problems.extend(repeated_entry);
        match settings.profile {
            Profile::VulkanSc => {}
            Profile::Vulkan => problems.push(
                place
                    .key_error(
                        "contradiction",
                        "`sc_features` goes with the profile `vulkan-sc` alone",
                    )
                    .hint("add `profile = \"vulkan-sc\"`, or leave `sc_features` out"),
            ),
        }
    }
    if settings.schedules.count > MOST_SCHEDULES {
        let message = format!("a test can have {MOST_SCHEDULES} schedules at most");
        problems.push(origin.at("schedules").at("count").error("bad-value", message));
    }
    check_level(origin, settings, problems);
    if let Some(criteria) = &settings.criteria {
        let place = origin.at("criteria");
        let repeated_entry = repeated(criteria)
            .map(|index| place.at(index).error("duplicate-id", "this criterion is named twice"));
        problems.extend(repeated_entry);
    }
    let place = origin.at("metrics");
    let repeated_entry = repeated(&settings.metrics)
        .map(|index| place.at(index).error("duplicate-id", "this metric is named twice"));
    problems.extend(repeated_entry);
}

/// Whether the level is one of the standard, and where the standard asks for no coverage by itself
/// the project says what was agreed.
fn check_level(origin: &Origin, settings: &ProjectFile, problems: &mut Vec<Diagnostic>) {
    let (standard, level) = (settings.standard, settings.level);
    if level.standard() != standard {
        let [strictest, .., least_strict] = standard.levels();
        let message = format!("`{level}` is no level of {standard}");
        let hint = format!(
            "levels of {standard} are `{strictest}` (the strictest) to `{least_strict}`; `{level}` is one of \
             `standard = \"{}\"`",
            level.standard()
        );
        problems.push(origin.at("level").error("contradiction", message).hint(hint));
    } else if level.leaves_coverage_to_customer() && settings.criteria.is_none() {
        let message = format!("at {level} the coverage to be reached is agreed with the customer");
        let hint = "add `criteria` with what must be covered wholly: `criteria = []` where that is nothing";
        problems.push(origin.at("level").error("missing-key", message).hint(hint));
    }
}

fn check_limits(
    place: &Origin,
    limits: &vkcert_model::project::ProjectLimits,
    problems: &mut Vec<Diagnostic>,
) {
    if !(limits.seconds.is_finite() && limits.seconds > 0.0) {
        problems.push(
            place.at("seconds").error("limit", "a time limit is a number of seconds above 0"),
        );
    }
    let [gx, gy, gz] = limits.groups.map(u64::from);
    let [lx, ly, lz] = limits.local_size.map(u64::from);
    let required_positive = [
        ("steps", limits.steps),
        ("memory_bytes", limits.memory_bytes),
        ("groups", gx.min(gy).min(gz)),
        ("local_size", lx.min(ly).min(lz)),
        ("invocations", limits.invocations.into()),
        ("nesting", limits.nesting.into()),
        ("call_depth", limits.call_depth.into()),
    ];
    for (name, _) in required_positive.iter().filter(|(_, value)| *value == 0) {
        problems.push(
            place
                .at(*name)
                .error("limit", format!("the limit `{name}` is 0, so that nothing could run")),
        );
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    File,
    Folder,
}

pub(super) fn check_path(
    root: &Path,
    origin: &Origin,
    path: &str,
    kind: PathKind,
) -> Option<Diagnostic> {
    let full_path = root.join(path);
    let (exists, path_noun) = match kind {
        PathKind::File => (full_path.is_file(), "file"),
        PathKind::Folder => (full_path.is_dir(), "folder"),
    };
    if exists {
        return None;
    }
    let siblings = full_path
        .parent()
        .and_then(|folder| std::fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .flatten();
    let mut sibling_names: Vec<String> =
        siblings.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    sibling_names.sort();
    let wanted_name = Path::new(path)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let hint = match nearest_name(&wanted_name, sibling_names.iter().map(String::as_str)) {
        Some(nearest_sibling) => {
            format!("did you mean `{}`?", Path::new(path).with_file_name(nearest_sibling).display())
        }
        None => format!(
            "paths are relative to `{}`",
            if root.as_os_str().is_empty() { Path::new(".") } else { root }.display()
        ),
    };
    Some(origin.error("missing-file", format!("there is no {path_noun} `{path}`")).hint(hint))
}

pub(super) fn hash_error(origin: &Origin, hash: &str) -> Diagnostic {
    origin
        .error("bad-hash", format!("`{hash}` is no content hash"))
        .hint("`sha256:` and 64 hexadecimal digits")
}

/// What is wrong with the kernels of a test-procedure file.
pub(crate) fn check_procedure(origin: &Origin, procedure: &Procedure) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    if procedure.tests.is_empty() {
        problems.push(origin.at("tests").error("missing-key", "the file has no test"));
    }
    for (name, kernel) in &procedure.kernels {
        let place = origin.at("kernels").at(name.as_str());
        problems.extend(check_name(&place, "kernel", name.as_str()));
        if kernel.language == Language::Spirv {
            // Macros and includes are the compiler's; ignoring them would run another kernel than
            // was asked for.
            let forbidden_keys =
                [("defines", !kernel.defines.is_empty()), ("include", !kernel.include.is_empty())];
            for (key, _) in forbidden_keys.into_iter().filter(|(_, is_given)| *is_given) {
                problems.push(
                    place.at(key).error("contradiction", format!("a SPIR-V module has no `{key}`")),
                );
            }
        }
        let KernelText::Contents(contents) = &kernel.source else { continue };
        let place = place.at("source");
        let problem = match (&contents.text, &contents.bytes, kernel.language) {
            (Some(_), Some(_), _) => Some("a kernel has `text` or `bytes`, not both"),
            (None, None, _) => Some("a kernel's contents are `text` or `bytes`"),
            (Some(_), None, Language::Spirv) => Some("a SPIR-V module is given as `bytes`"),
            (None, Some(_), Language::Glsl) => Some("GLSL is given as `text`"),
            (Some(_), None, Language::Glsl) | (None, Some(_), Language::Spirv) => None,
        };
        problems.extend(problem.map(|message| place.error("contradiction", message)));
    }
    problems
}

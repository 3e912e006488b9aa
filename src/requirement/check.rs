//! Consistency of a project and of a test-procedure file: names, references, traces.

use super::check_test::{KernelNames, check_tests};
use super::code;
use super::document::{Located, Origin};
use super::load::Project;
use super::nearest::nearest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use vkcert_model::canonical::is_content_hash;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::finding::FindingKind;
use vkcert_model::id::{FindingId, KernelName, RequirementId};
use vkcert_model::procedure::{DescriptorClass, KernelText, Language, Procedure};
use vkcert_model::project::MOST_REPETITIONS;
use vkcert_model::requirement::{
    HostImage, Interface, Justification, JustificationClass, JustificationSubject, Requirement,
    RequirementLevel,
};
use vkcert_model::schedule::MOST_SCHEDULES;
use vkcert_model::vulkan_sc::Profile;

/// Everything that is wrong with a project whose files have been read.
pub(crate) fn check_project(project: &Project) -> Vec<Diagnostic> {
    let mut problems = check_settings(project);
    let by_uid = check_uids(project, &mut problems);
    for requirement in &project.requirements {
        check_requirement(requirement, &by_uid, &mut problems);
        check_code(project, requirement, &mut problems);
    }
    check_cycles(project, &by_uid, &mut problems);
    let names: Vec<&KernelName> =
        project.settings.kernels.iter().map(|kernel| &kernel.name).collect();
    let kernels = KernelNames { names, table: "vkcert.toml" };
    problems.extend(check_tests(&project.tests, &kernels));
    check_test_requirements(project, &by_uid, &mut problems);
    check_records(project, &by_uid, &mut problems);
    check_justifications(&project.justifications, &kernels, &mut problems);
    check_interfaces(&project.interfaces, &kernels, &mut problems);
    problems
}

/// A name that may stand in file names and reports; `what` is what it names.
pub(crate) fn check_name(origin: &Origin, what: &str, name: &str) -> Option<Diagnostic> {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    if !name.is_empty() && !name.starts_with('.') && name.chars().all(plain) {
        return None;
    }
    Some(
        origin
            .error("bad-name", format!("`{name}` is no name of a {what}"))
            .hint("use letters, digits, `-`, `_` and `.`, and do not begin with `.`"),
    )
}

/// A reference to something that does not exist, with the nearest name that does.
pub(crate) fn unknown<'a>(
    origin: &Origin,
    kind: &'static str,
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let hint = match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let known: Vec<_> = known.into_iter().take(12).collect();
            if known.is_empty() {
                format!("no {what} is declared")
            } else {
                format!("known: {}", known.join(", "))
            }
        }
    };
    origin.error(kind, format!("there is no {what} `{name}`")).hint(hint)
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
    let mut seen = BTreeSet::new();
    for (index, kernel) in settings.kernels.iter().enumerate() {
        let place = origin.at("kernel").at(index);
        problems.extend(check_name(&place.at("name"), "kernel", kernel.name.as_str()));
        if !seen.insert(&kernel.name) {
            let message = format!("the kernel `{}` is declared twice", kernel.name);
            problems.push(place.at("name").error("duplicate-id", message));
        }
        problems.extend(check_path(
            &project.root,
            &place.at("source"),
            &kernel.source,
            PathKind::File,
        ));
        for (index, folder) in kernel.include.iter().enumerate() {
            let place = place.at("include").at(index);
            problems.extend(check_path(&project.root, &place, folder, PathKind::Folder));
        }
        check_configurations(&place, kernel, &mut problems);
    }
    check_lists(origin, settings, &mut problems);
    check_limits(&origin.at("limits"), &settings.limits, &mut problems);
    problems
}

fn check_configurations(
    place: &Origin,
    kernel: &vkcert_model::project::ProjectKernel,
    problems: &mut Vec<Diagnostic>,
) {
    let mut seen = BTreeSet::new();
    for (index, configuration) in kernel.configurations.iter().enumerate() {
        let place = place.at("configuration").at(index);
        problems.extend(check_name(&place.at("name"), "configuration", &configuration.name));
        if !seen.insert(&configuration.name) {
            let message = format!("the configuration `{}` is declared twice", configuration.name);
            problems.push(place.at("name").error("duplicate-id", message));
        }
        let values = place.at("specialization");
        super::check_test::check_specialization(&values, &configuration.specialization, problems);
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
        let again = repeated(features)
            .map(|index| place.at(index).error("duplicate-id", "this feature is named twice"));
        problems.extend(again);
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
    if let Some(criteria) = &settings.criteria {
        let place = origin.at("criteria");
        let again = repeated(criteria)
            .map(|index| place.at(index).error("duplicate-id", "this criterion is named twice"));
        problems.extend(again);
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
    let positive = [
        ("steps", limits.steps),
        ("memory_bytes", limits.memory_bytes),
        ("groups", gx.min(gy).min(gz)),
        ("local_size", lx.min(ly).min(lz)),
        ("invocations", limits.invocations.into()),
        ("nesting", limits.nesting.into()),
        ("call_depth", limits.call_depth.into()),
    ];
    for (name, _) in positive.iter().filter(|(_, value)| *value == 0) {
        problems.push(
            place
                .at(*name)
                .error("limit", format!("the limit `{name}` is 0, so that nothing could run")),
        );
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PathKind {
    File,
    Folder,
}

fn check_path(root: &Path, origin: &Origin, path: &str, kind: PathKind) -> Option<Diagnostic> {
    let full = root.join(path);
    let (exists, what) = match kind {
        PathKind::File => (full.is_file(), "file"),
        PathKind::Folder => (full.is_dir(), "folder"),
    };
    if exists {
        return None;
    }
    let siblings = full
        .parent()
        .and_then(|folder| std::fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .flatten();
    let mut names: Vec<String> =
        siblings.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let wanted = Path::new(path)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let hint = match nearest(&wanted, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{}`?", Path::new(path).with_file_name(near).display()),
        None => format!(
            "paths are relative to `{}`",
            if root.as_os_str().is_empty() { Path::new(".") } else { root }.display()
        ),
    };
    Some(origin.error("missing-file", format!("there is no {what} `{path}`")).hint(hint))
}

type ByUid<'a> = BTreeMap<&'a RequirementId, &'a Located<Requirement>>;

fn check_uids<'a>(project: &'a Project, problems: &mut Vec<Diagnostic>) -> ByUid<'a> {
    let mut by_uid = ByUid::new();
    for requirement in &project.requirements {
        let place = requirement.origin.at("uid");
        problems.extend(check_name(&place, "requirement", requirement.uid.as_str()));
        if let Some(first) = by_uid.insert(&requirement.uid, requirement) {
            let message = format!("the requirement `{}` is declared twice", requirement.uid);
            problems.push(
                place
                    .error("duplicate-id", message)
                    .hint(format!("also in {}", first.origin.file())),
            );
            by_uid.insert(&requirement.uid, first);
        }
    }
    by_uid
}

fn check_requirement(
    requirement: &Located<Requirement>,
    by_uid: &ByUid<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let origin = &requirement.origin;
    let uid = &requirement.uid;
    for (key, text) in [("title", &requirement.title), ("statement", &requirement.statement)] {
        if text.trim().is_empty() {
            problems
                .push(origin.at(key).error("bad-value", format!("the {key} of `{uid}` is empty")));
        }
    }
    if requirement.verification.is_empty() {
        let problem = origin
            .at("verification")
            .error("bad-value", format!("`{uid}` names no way to verify it"));
        problems.push(problem.hint("one or more of \"test\", \"analysis\", \"review\""));
    }
    let rationale = requirement.safety_rationale.as_deref().unwrap_or("").trim();
    if requirement.derived && rationale.is_empty() {
        let problem = origin.at("derived").key_error(
            "missing-rationale",
            format!("`{uid}` is derived without a `safety_rationale`"),
        );
        problems.push(
            problem
                .hint("derived requirements go to the safety assessment (DO-178C 5.2.1.b): say why this one is safe"),
        );
    }
    if requirement.level == RequirementLevel::Llr
        && requirement.parents.is_empty()
        && !requirement.derived
    {
        let problem = origin
            .at("uid")
            .error("missing-parent", format!("`{uid}` is a low-level requirement without parents"));
        problems.push(
            problem.hint("name its parents, or set `derived = true` with a `safety_rationale`"),
        );
    }
    let mut seen = BTreeSet::new();
    for (index, parent) in requirement.parents.iter().enumerate() {
        let place = origin.at("parents").at(index);
        if !by_uid.contains_key(&parent.uid) {
            let known = by_uid.keys().map(|uid| uid.as_str());
            problems.push(unknown(
                &place.at("uid"),
                "unknown-requirement",
                "requirement",
                parent.uid.as_str(),
                known,
            ));
        }
        if !seen.insert(&parent.uid) {
            problems.push(
                place
                    .at("uid")
                    .error("duplicate-id", format!("the parent `{}` is named twice", parent.uid)),
            );
        }
        let hash = parent.hash.as_deref().filter(|hash| !is_content_hash(hash));
        problems.extend(hash.map(|hash| bad_hash(&place.at("hash"), hash)));
    }
}

fn bad_hash(origin: &Origin, hash: &str) -> Diagnostic {
    origin
        .error("bad-hash", format!("`{hash}` is no content hash"))
        .hint("`sha256:` and 64 hexadecimal digits")
}

fn check_code(
    project: &Project,
    requirement: &Located<Requirement>,
    problems: &mut Vec<Diagnostic>,
) {
    for (index, link) in requirement.implements.iter().enumerate() {
        let place = requirement.origin.at("implements").at(index);
        for (index, kernel) in link.kernels.iter().enumerate() {
            let known = || project.settings.kernels.iter().map(|kernel| kernel.name.as_str());
            if !known().any(|name| name == kernel.as_str()) {
                let place = place.at("kernels").at(index);
                problems.push(unknown(
                    &place,
                    "unknown-kernel",
                    "kernel",
                    kernel.as_str(),
                    known(),
                ));
            }
        }
        if let Some(problem) =
            check_path(&project.root, &place.at("file"), &link.file, PathKind::File)
        {
            problems.push(problem);
            continue;
        }
        let Some(symbol) = &link.symbol else { continue };
        // A binary module has no text to look in: the symbol is then its entry point or debug name,
        // checked when it is read.
        let Ok(text) = std::fs::read_to_string(project.root.join(&link.file)) else { continue };
        if code::find(&text, symbol).is_none() {
            let functions = code::functions(&text);
            let known = functions.iter().map(|(name, _)| name.as_str());
            problems.push(unknown(
                &place.at("symbol"),
                "unknown-symbol",
                "function",
                symbol,
                known,
            ));
        }
    }
}

/// Reports each cycle of parents once, at the requirement on it that comes first.
fn check_cycles(project: &Project, by_uid: &ByUid<'_>, problems: &mut Vec<Diagnostic>) {
    let mut done: BTreeSet<&RequirementId> = BTreeSet::new();
    for start in &project.requirements {
        let mut path: Vec<&RequirementId> = Vec::new();
        let mut stack: Vec<(&RequirementId, usize)> = vec![(&start.uid, 0)];
        while let Some((uid, next)) = stack.pop() {
            if next == 0 {
                if let Some(from) = path.iter().position(|seen| *seen == uid) {
                    let cycle: Vec<&str> =
                        path[from..].iter().chain([&uid]).map(|uid| uid.as_str()).collect();
                    let message =
                        format!("requirements are their own parents: {}", cycle.join(" -> "));
                    let place = by_uid[uid].origin.at("parents");
                    problems.push(
                        place
                            .error("requirement-cycle", message)
                            .hint("parents lead from LLR to HLR and end"),
                    );
                    done.extend(path[from..].iter().copied());
                    continue;
                }
                if done.contains(uid) || !by_uid.contains_key(uid) {
                    continue;
                }
                path.push(uid);
            }
            match by_uid[uid].parents.get(next) {
                Some(parent) => {
                    stack.push((uid, next + 1));
                    stack.push((&parent.uid, 0));
                }
                None => {
                    path.pop();
                    done.insert(uid);
                }
            }
        }
    }
}

fn check_test_requirements(project: &Project, by_uid: &ByUid<'_>, problems: &mut Vec<Diagnostic>) {
    for test in &project.tests {
        for (index, uid) in test.requirements.iter().enumerate() {
            let place = test.origin.at("requirements").at(index);
            if !by_uid.contains_key(uid) {
                let known = by_uid.keys().map(|uid| uid.as_str());
                problems.push(unknown(
                    &place,
                    "unknown-requirement",
                    "requirement",
                    uid.as_str(),
                    known,
                ));
            }
        }
    }
}

/// Records name what exists, and every field says something.
fn check_records(project: &Project, by_uid: &ByUid<'_>, problems: &mut Vec<Diagnostic>) {
    for records in [&project.analyses, &project.reviews] {
        let mut seen = BTreeSet::new();
        for record in records {
            let origin = &record.origin;
            let uid = &record.requirement;
            if !by_uid.contains_key(uid) {
                let known = by_uid.keys().map(|uid| uid.as_str());
                let place = origin.at("requirement");
                problems.push(unknown(
                    &place,
                    "unknown-requirement",
                    "requirement",
                    uid.as_str(),
                    known,
                ));
            }
            if !is_content_hash(&record.hash) {
                problems.push(bad_hash(&origin.at("hash"), &record.hash));
            }
            let texts = [
                ("document", &record.document),
                ("section", &record.section),
                ("author", &record.author),
                ("reviewer", &record.reviewer),
            ];
            for (key, _) in texts.iter().filter(|(_, text)| !text.contains(char::is_alphanumeric)) {
                problems.push(
                    origin.at(*key).error("bad-value", format!("the {key} of a record is empty")),
                );
            }
            if !seen.insert((uid, &record.document, &record.section)) {
                let message =
                    format!("{} {} of `{uid}` is recorded twice", record.document, record.section);
                problems.push(origin.at("section").error("duplicate-id", message));
            }
        }
    }
}

fn check_justifications(
    list: &[Located<Justification>],
    kernels: &KernelNames<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let mut seen = BTreeSet::new();
    for justification in list {
        let origin = &justification.origin;
        problems.extend(kernels.check(&origin.at("kernel"), &justification.kernel));
        if !is_content_hash(&justification.hash) {
            problems.push(bad_hash(&origin.at("hash"), &justification.hash));
        }
        let texts = [
            ("reason", &justification.reason),
            ("author", &justification.author),
            ("approver", &justification.approver),
        ];
        for (key, _) in texts.iter().filter(|(_, text)| !text.contains(char::is_alphanumeric)) {
            problems.push(
                origin
                    .at(*key)
                    .error("bad-value", format!("the {key} of a justification is empty")),
            );
        }
        for fault in justification.statement_faults() {
            problems.push(origin.at(fault.key).error("bad-value", fault.message));
        }
        problems.extend(too_long(justification));
        let subject = &justification.subject;
        let content = match subject {
            JustificationSubject::Obligation(_) => None,
            JustificationSubject::Finding(id) => {
                problems.extend(check_finding(origin, id, justification.class));
                // Statements can be in several findings of one kind.
                Some(&justification.hash)
            }
        };
        if !seen.insert((&justification.kernel, subject, &justification.configuration, content)) {
            let message = format!("{subject} of `{}` is justified twice", justification.kernel);
            problems.push(origin.at(subject.key()).error("duplicate-id", message));
        }
    }
}

/// Longest text of a justification, in bytes: a longer argument is a document, to be named.
const MOST_TEXT: usize = 1 << 16;

fn too_long(justification: &Located<Justification>) -> Option<Diagnostic> {
    let Justification { reason, means, argument, author, approver, .. } = &justification.value;
    let texts = [
        ("reason", Some(reason)),
        ("means", means.as_ref()),
        ("argument", argument.as_ref()),
        ("author", Some(author)),
        ("approver", Some(approver)),
    ];
    let length = |text: Option<&String>| text.map_or(0, String::len);
    let (key, text) = texts.into_iter().find(|(_, text)| length(*text) > MOST_TEXT)?;
    let message = format!(
        "the {key} of a justification has {} bytes; the limit is {MOST_TEXT}",
        length(text)
    );
    Some(
        justification
            .origin
            .at(key)
            .error("limit", message)
            .hint("name a document that has the rest"),
    )
}

/// What is wrong with a justification of a finding, as far as its name and class tell.
fn check_finding(origin: &Origin, id: &FindingId, class: JustificationClass) -> Option<Diagnostic> {
    let place = origin.at("finding");
    let acceptable = || {
        FindingKind::ALL.iter().filter(|(kind, _)| kind.can_be_accepted()).map(|(_, name)| *name)
    };
    let Some(kind) = id.kind() else {
        let kind = id.as_str().split('@').next().unwrap_or_default();
        return Some(unknown(&place, "unknown-id", "kind of finding", kind, acceptable()));
    };
    if !kind.can_be_accepted() {
        let message = format!("no justification can accept a finding of the kind `{kind}`");
        let hint =
            format!("those that can be accepted: {}", acceptable().collect::<Vec<_>>().join(", "));
        return Some(place.error("bad-value", message).hint(hint));
    }
    if id.what().is_none() {
        let message = format!("`{id}` does not say which finding is meant");
        return Some(
            place
                .error("bad-value", message)
                .hint("`vkcert list findings` prints the names of findings"),
        );
    }
    (class != JustificationClass::Analysis).then(|| {
        let message = format!("a finding is accepted by analysis, not as {class}");
        origin.at("class").error("bad-value", message).hint("class = \"analysis\"")
    })
}

fn check_interfaces(
    list: &[Located<Interface>],
    kernels: &KernelNames<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let mut seen = BTreeSet::new();
    for interface in list {
        let origin = &interface.origin;
        problems.extend(kernels.check(&origin.at("kernel"), &interface.kernel));
        if !seen.insert(&interface.kernel) {
            let message = format!("the kernel `{}` has two interfaces", interface.kernel);
            problems.push(origin.at("kernel").error("duplicate-id", message));
        }
        let mut names = BTreeSet::new();
        for (index, parameter) in interface.parameters.iter().enumerate() {
            let place = origin.at("parameters").at(index);
            if !names.insert(parameter.name.as_str()) {
                let message = format!("the host variable `{}` is declared twice", parameter.name);
                problems.push(place.at("name").error("duplicate-id", message));
            }
            if parameter.min > parameter.max {
                let message = format!(
                    "`{}` ranges from {} down to {}",
                    parameter.name, parameter.min, parameter.max
                );
                problems
                    .push(place.at("max").error("bad-value", message).hint("min is at most max"));
            }
        }
        for (index, local) in interface.locals.iter().enumerate() {
            if !names.insert(local.name.as_str()) {
                let message = format!("the host variable `{}` is declared twice", local.name);
                problems
                    .push(origin.at("locals").at(index).at("name").error("duplicate-id", message));
            }
        }
        let mut bound = BTreeSet::new();
        for (index, buffer) in interface.buffers.iter().enumerate() {
            if !bound.insert((buffer.set, buffer.binding)) {
                let message =
                    format!("set {} binding {} is described twice", buffer.set, buffer.binding);
                problems.push(
                    origin.at("buffers").at(index).at("binding").error("duplicate-id", message),
                );
            }
        }
        for (index, image) in interface.images.iter().enumerate() {
            let place = origin.at("images").at(index);
            if !bound.insert((image.set, image.binding)) {
                let message =
                    format!("set {} binding {} is described twice", image.set, image.binding);
                problems.push(place.at("binding").error("duplicate-id", message));
            }
            problems.extend(check_host_image(&place, image));
        }
    }
}

/// An image has a format and a dimension, and a sampler has neither.
fn check_host_image(place: &Origin, image: &HostImage) -> Option<Diagnostic> {
    let complete = image.format.is_some() && image.dimension.is_some();
    let bare = image.format.is_none()
        && image.dimension.is_none()
        && !image.layered
        && !image.multisampled;
    match image.class {
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Combined
            if complete =>
        {
            None
        }
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Combined => {
            Some(place.error("missing-key", "an image has a `format` and a `dimension`"))
        }
        DescriptorClass::Sampler if bare => None,
        DescriptorClass::Sampler => {
            Some(place.error("bad-value", "a sampler has no format and no dimension"))
        }
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => {
            let message = format!("{} is the class of a buffer", image.class.name());
            Some(place.at("class").error("wrong-class", message).hint("buffers stand in `buffers`"))
        }
    }
}

/// What is wrong with the kernels of a test-procedure file.
pub(crate) fn check_procedure(origin: &Origin, procedure: &Procedure) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    if procedure.tests.is_empty() {
        problems.push(origin.at("tests").error("missing-key", "the file has no test"));
    }
    for (name, kernel) in &procedure.kernels {
        let place = origin.at("kernels").at(&name.0);
        problems.extend(check_name(&place, "kernel", name.as_str()));
        if kernel.language == Language::Spirv {
            // Macros and includes are the compiler's; ignoring them would run another kernel than
            // was asked for.
            let given =
                [("defines", !kernel.defines.is_empty()), ("include", !kernel.include.is_empty())];
            for (key, _) in given.into_iter().filter(|(_, given)| *given) {
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

//! Consistency of a project's requirements: identifiers, parents, links to code, and the records of
//! analyses and reviews.
//!
//! Does not cover: requirements that tests name beyond their existence, and whether a hash is the
//! present one (`hash`).

use super::check::{PathKind, check_name, check_path, hash_error, unknown_name};
use super::check_document::check_date;
use super::code::{self, SourceTexts};
use super::document::{Located, Origin};
use super::load::Project;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::canonical::is_content_hash;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::id::{RequirementId, TestId};
use vkcert_model::project::RequirementLevels;
use vkcert_model::requirement::{Requirement, RequirementLevel, SignedReason};

pub(super) type RequirementsByUid<'a> = BTreeMap<&'a RequirementId, &'a Located<Requirement>>;

pub(super) fn check_uids<'a>(
    project: &'a Project,
    problems: &mut Vec<Diagnostic>,
) -> RequirementsByUid<'a> {
    let mut by_uid = RequirementsByUid::new();
    for requirement in &project.requirements {
        let place = requirement.origin.at("uid");
        problems.extend(check_name(&place, "requirement", requirement.uid.as_str()));
        if let Some(first_declared) = by_uid.insert(&requirement.uid, requirement) {
            let message = format!("the requirement `{}` is declared twice", requirement.uid);
            problems.push(
                place
                    .error("duplicate-id", message)
                    .hint(format!("also in {}", first_declared.origin.file())),
            );
            by_uid.insert(&requirement.uid, first_declared);
        }
    }
    by_uid
}

pub(super) fn check_requirement(
    requirement: &Located<Requirement>,
    levels: RequirementLevels,
    by_uid: &RequirementsByUid<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let origin = &requirement.origin;
    let uid = &requirement.uid;
    for (field_name, text) in [("title", &requirement.title), ("statement", &requirement.statement)]
    {
        if text.trim().is_empty() {
            problems.push(
                origin
                    .at(field_name)
                    .error("bad-value", format!("the {field_name} of `{uid}` is empty")),
            );
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
    if levels.are_both()
        && requirement.level == RequirementLevel::Llr
        && requirement.parents.is_empty()
        && !requirement.derived
    {
        let problem = origin
            .at("uid")
            .error("missing-parent", format!("`{uid}` is a low-level requirement without parents"));
        problems.push(problem.hint(
            "name its parents, set `derived = true` with a `safety_rationale`, or, where the project has one level of \
             requirements, `requirement_levels = \"single\"` in vkcert.toml",
        ));
    }
    if let Some(signed) = &requirement.no_robustness_test {
        let SignedReason { reason, author, approver } = signed;
        let required_texts = [("reason", reason), ("author", author), ("approver", approver)];
        let place = origin.at("no_robustness_test");
        check_texts(&place, "why no robustness test is needed", &required_texts, problems);
    }
    let mut seen_parents = BTreeSet::new();
    for (index, parent) in requirement.parents.iter().enumerate() {
        let place = origin.at("parents").at(index);
        check_known(&place.at("uid"), &parent.uid, by_uid, problems);
        if !seen_parents.insert(&parent.uid) {
            problems.push(
                place
                    .at("uid")
                    .error("duplicate-id", format!("the parent `{}` is named twice", parent.uid)),
            );
        }
        let hash = parent.hash.as_deref().filter(|hash| !is_content_hash(hash));
        problems.extend(hash.map(|hash| hash_error(&place.at("hash"), hash)));
    }
}

pub(super) fn check_code(
    project: &Project,
    requirement: &Located<Requirement>,
    sources: &SourceTexts<'_>,
) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let known_kernels = project.settings.kernels.iter().map(|kernel| kernel.name.as_str());
    for (link_index, link) in requirement.implements.iter().enumerate() {
        let place = requirement.origin.at("implements").at(link_index);
        for (kernel_index, kernel_name) in link.kernels.iter().enumerate() {
            if !known_kernels.clone().any(|known| known == kernel_name.as_str()) {
                problems.push(unknown_name(
                    &place.at("kernels").at(kernel_index),
                    "unknown-kernel",
                    "kernel",
                    kernel_name.as_str(),
                    known_kernels.clone(),
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
        if sources.symbol_line(&link.file, symbol).is_some() {
            continue;
        }
        if let Some(source_text) = sources.text(&link.file) {
            let functions = code::function_lines(source_text);
            let known_names = functions.iter().map(|(name, _)| name.as_str());
            problems.push(unknown_name(
                &place.at("symbol"),
                "unknown-symbol",
                "function",
                symbol,
                known_names,
            ));
        }
    }
    problems
}

/// Reports each cycle of parents once, at the requirement on it that comes first.
pub(super) fn check_cycles(
    project: &Project,
    by_uid: &RequirementsByUid<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let mut finished: BTreeSet<&RequirementId> = BTreeSet::new();
    let mut levels = ParentLevels::new();
    for first_requirement in &project.requirements {
        let mut current_path: Vec<&RequirementId> = Vec::new();
        // A chain of parents may be as long as there are requirements.
        let mut places_in_path: BTreeMap<&RequirementId, usize> = BTreeMap::new();
        let mut stack: Vec<(&RequirementId, usize)> = vec![(&first_requirement.uid, 0)];
        while let Some((uid, next_parent)) = stack.pop() {
            if next_parent == 0 {
                if let Some(&cycle_start) = places_in_path.get(uid) {
                    let cycle: Vec<&str> = current_path[cycle_start..]
                        .iter()
                        .chain([&uid])
                        .map(|uid| uid.as_str())
                        .collect();
                    let message =
                        format!("requirements are their own parents: {}", cycle.join(" -> "));
                    let place = by_uid[uid].origin.at("parents");
                    problems.push(
                        place
                            .error("requirement-cycle", message)
                            .hint("parents lead from LLR to HLR and end"),
                    );
                    finished.extend(current_path[cycle_start..].iter().copied());
                    continue;
                }
                if finished.contains(uid) || !by_uid.contains_key(uid) {
                    continue;
                }
                places_in_path.insert(uid, current_path.len());
                current_path.push(uid);
            }
            match by_uid[uid].parents.get(next_parent) {
                Some(parent) => {
                    stack.push((uid, next_parent + 1));
                    stack.push((&parent.uid, 0));
                }
                None => {
                    current_path.pop();
                    places_in_path.remove(uid);
                    finished.insert(uid);
                    problems.extend(check_levels(by_uid[uid], &mut levels));
                }
            }
        }
    }
}

/// By requirement, how many levels of parents it has above it.
type ParentLevels<'a> = BTreeMap<&'a RequirementId, usize>;

/// Most levels of requirements above another one: what is asked of a requirement is followed down
/// to all that is below it.
const MOST_PARENT_LEVELS: usize = 64;

/// Keeps how many levels are above a requirement whose parents are known; the first one that has too
/// many is told.
fn check_levels<'a>(
    requirement: &'a Located<Requirement>,
    levels: &mut ParentLevels<'a>,
) -> Option<Diagnostic> {
    let parent_levels = requirement.parents.iter().filter_map(|link| levels.get(&link.uid));
    let level = parent_levels.max().map_or(0, |highest| highest + 1);
    levels.insert(&requirement.uid, level);
    (level == MOST_PARENT_LEVELS + 1).then(|| {
        let message = format!(
            "`{}` has {level} levels of parents above it; the limit is {MOST_PARENT_LEVELS}",
            requirement.uid
        );
        requirement.origin.at("parents").error("limit", message)
    })
}

pub(super) fn check_test_requirements(
    project: &Project,
    by_uid: &RequirementsByUid<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    for test in &project.tests {
        for (index, uid) in test.requirements.iter().enumerate() {
            let place = test.origin.at("requirements").at(index);
            check_known(&place, uid, by_uid, problems);
        }
    }
}

/// Problems up to which the nearest name is looked for among all: whoever mends these sees the next.
const PROBLEMS_WITH_HINT: usize = 100;

/// A reference to a requirement that the project does not have.
fn check_known(
    place: &Origin,
    uid: &RequirementId,
    by_uid: &RequirementsByUid<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    if by_uid.contains_key(uid) {
        return;
    }
    let kind = "unknown-requirement";
    problems.push(if problems.len() < PROBLEMS_WITH_HINT {
        let known_uids = by_uid.keys().map(|known_uid| known_uid.as_str());
        unknown_name(place, kind, "requirement", uid.as_str(), known_uids)
    } else {
        place.error(kind, format!("there is no requirement `{uid}`"))
    });
}

/// Records name what exists, and every field says something.
pub(super) fn check_records(
    project: &Project,
    by_uid: &RequirementsByUid<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    for records in [&project.analyses, &project.reviews] {
        let mut seen_records = BTreeSet::new();
        for record in records {
            let origin = &record.origin;
            let uid = &record.requirement;
            check_known(&origin.at("requirement"), uid, by_uid, problems);
            if !is_content_hash(&record.hash) {
                problems.push(hash_error(&origin.at("hash"), &record.hash));
            }
            let required_texts = [
                ("document", &record.document),
                ("section", &record.section),
                ("author", &record.author),
                ("reviewer", &record.reviewer),
            ];
            check_texts(origin, "a record", &required_texts, problems);
            if !seen_records.insert((uid, &record.document, &record.section)) {
                let message =
                    format!("{} {} of `{uid}` is recorded twice", record.document, record.section);
                problems.push(origin.at("section").error("duplicate-id", message));
            }
        }
    }
}

/// Texts that must say something: at least one letter or digit.
pub(super) fn check_texts(
    origin: &Origin,
    holder: &str,
    required_texts: &[(&'static str, &String)],
    problems: &mut Vec<Diagnostic>,
) {
    for (key, text) in required_texts {
        if !text.contains(char::is_alphanumeric) {
            let message = format!("the {key} of {holder} is empty");
            problems.push(origin.at(*key).error("bad-value", message));
        }
    }
}

/// Names of people beside a kernel or a test, where they are given.
pub(super) fn check_people(
    origin: &Origin,
    holder: &str,
    [author, reviewer]: [&Option<String>; 2],
    problems: &mut Vec<Diagnostic>,
) {
    let given_names = [("author", author), ("reviewer", reviewer)];
    let given_names = given_names.into_iter().filter_map(|(key, name)| Some((key, name.as_ref()?)));
    check_texts(origin, holder, &given_names.collect::<Vec<_>>(), problems);
}

pub(super) fn check_test_reviews(project: &Project, problems: &mut Vec<Diagnostic>) {
    let known_tests: BTreeSet<&TestId> = project.tests.iter().map(|test| &test.id).collect();
    for review in &project.test_reviews {
        let origin = &review.origin;
        let required_texts = [
            ("document", &review.document),
            ("section", &review.section),
            ("reviewer", &review.reviewer),
        ];
        check_texts(origin, "a review", &required_texts, problems);
        if let Some(date) = &review.date {
            check_date(&origin.at("date"), date, problems);
        }
        if let Some(hash) = review.document_hash.as_ref().filter(|hash| !is_content_hash(hash)) {
            problems.push(hash_error(&origin.at("document_hash"), hash));
        }
        if review.tests.is_empty() {
            let problem = origin.at("tests").error("bad-value", "the review is of no test");
            problems.push(problem.hint("tests = [{ id = \"TC-1\", hash = \"sha256:...\" }]"));
        }
        let mut seen_tests = BTreeSet::new();
        for (index, test) in review.tests.iter().enumerate() {
            let place = origin.at("tests").at(index);
            if !known_tests.contains(&test.id) {
                problems.push(unknown_name(
                    &place.at("id"),
                    "unknown-test",
                    "test",
                    test.id.as_str(),
                    known_tests.iter().map(|id| id.as_str()),
                ));
            }
            if !is_content_hash(&test.hash) {
                problems.push(hash_error(&place.at("hash"), &test.hash));
            }
            if !seen_tests.insert(&test.id) {
                let message = format!("the review names `{}` twice", test.id);
                problems.push(place.at("id").error("duplicate-id", message));
            }
        }
    }
}

//! Everything that is to be shown at a place: what counts against the result, what is accepted, and
//! what a reader must know.
//!
//! Knows: the evidence and whether it verifies.
//! Promises: each ground of the conclusion has a notice that counts, and there is no other that
//! counts; where the exit code is not 0 one counts, whatever the evidence stores. What is justified
//! or accepted is there, marked as such. A place is as the evidence has it, and none is made up.
//! Does not cover: how formats print them (`sarif`, `junit`, `lines`).

mod accepted;
mod grounds;

pub(super) use grounds::{mismatch_in_words, shown_by_in_words, test_place};

use super::declared::DeclaredPlaces;
use super::rules::Rule;
use crate::{Presentation, Standing};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::Evidence;
use vkcert_model::evidence::StoredFile;
use vkcert_model::place::{LineStarts, Place, Position};

/// The file of a project that every project has.
pub(super) const PROJECT_FILE: &str = "vkcert.toml";

/// What a notice means for the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Weight {
    /// It counts against the result.
    Counts,
    /// It casts doubt on all of the result.
    Doubts,
    /// A person has accepted it, with this text.
    Accepted(String),
    /// It is to be known and does not count.
    Told,
}

/// A place in a file of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoticePlace {
    /// Relative to the project.
    pub file: String,
    /// 1-based; none: the file as a whole.
    pub line: Option<u32>,
    /// 1-based; none: the line as a whole.
    pub column: Option<u32>,
}

impl NoticePlace {
    fn file(file: &str) -> Self {
        Self { file: file.to_owned(), line: None, column: None }
    }

    /// A line or column of 0 is not known.
    fn at(file: &str, line: u32, column: u32) -> Self {
        let known = |number: u32| (number > 0).then_some(number);
        let line = known(line);
        Self { file: file.to_owned(), line, column: line.and(known(column)) }
    }

    fn declared(file: &str, position: Option<Position>) -> Self {
        let position = position.map_or((0, 0), |position| (position.line, position.column));
        Self::at(file, position.0, position.1)
    }

    fn of_finding(place: Option<&Place>) -> Option<Self> {
        let place = place?;
        let (line, column) = (place.line.unwrap_or_default(), place.column.unwrap_or_default());
        Some(Self::at(place.file.as_ref()?, line, column))
    }

    /// `file:line:column`, as far as they are known.
    pub(super) fn in_words(&self) -> String {
        let numbers = [self.line, self.column].into_iter().flatten();
        numbers.fold(self.file.clone(), |words, number| format!("{words}:{number}"))
    }
}

/// Something to be shown.
#[derive(Debug, Clone)]
pub(super) struct Notice {
    pub rule: Rule,
    pub weight: Weight,
    /// The kernel with its engines, the test, the requirement, the item; empty: the project.
    pub about: String,
    /// One sentence or more.
    pub message: String,
    pub place: NoticePlace,
    /// The other access of a pair.
    pub other_place: Option<NoticePlace>,
    /// The function of the kernel, where one is known.
    pub function: Option<String>,
    /// What the fingerprint is of: texts of the source and names, no line and no value.
    identity: Vec<String>,
}

impl Notice {
    fn new(
        rule: Rule,
        weight: Weight,
        about: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let about = about.into();
        Self {
            rule,
            weight,
            identity: vec![about.clone()],
            about,
            message: message.into(),
            place: NoticePlace::file(PROJECT_FILE),
            other_place: None,
            function: None,
        }
    }

    fn at(self, place: NoticePlace) -> Self {
        Self { place, ..self }
    }

    fn known_by(self, identity: Vec<String>) -> Self {
        Self { identity, ..self }
    }

    /// Whether it counts against the result.
    pub(super) fn counts(&self) -> bool {
        self.weight == Weight::Counts
    }
}

/// All notices: those that count in the order of the conclusion's grounds, then the others.
pub(super) fn notices(evidence: &Evidence, presentation: &Presentation) -> Vec<Notice> {
    let sources = Sources::of(evidence);
    let mut notices = standing_notices(&presentation.standing);
    grounds::add_grounds(evidence, &sources, &mut notices);
    accepted::add_accepted(evidence, &sources, &mut notices);
    add_told(evidence, &mut notices);
    let exit_code = evidence.campaign.conclusion.exit_code;
    if exit_code != 0 && !notices.iter().any(Notice::counts) {
        let message = format!("the campaign ended with exit code {exit_code}");
        notices.insert(0, Notice::new(Rule::counts(), Weight::Counts, "", message));
    }
    notices
}

fn standing_notices(standing: &Standing) -> Vec<Notice> {
    let (rule, weight, reasons) = match standing {
        Standing::Verified => return Vec::new(),
        Standing::InPart(reasons) => (Rule::verified_in_part(), Weight::Doubts, reasons),
        Standing::Unverified(reasons) => (Rule::not_verified(), Weight::Counts, reasons),
    };
    let stamp = standing.stamp().unwrap_or_default();
    vec![Notice::new(rule, weight, "", format!("{stamp}: {}", reasons.join("; ")))]
}

fn add_told(evidence: &Evidence, notices: &mut Vec<Notice>) {
    let campaign = &evidence.campaign;
    for note in &campaign.notes {
        notices.push(Notice::new(Rule::of_note(note.kind), Weight::Told, "", &note.sentence));
    }
    for row in &campaign.unsought {
        let message = format!("{}: {}", row.kind, row.reason);
        let name = row.kind.to_string();
        notices.push(Notice::new(Rule::not_sought(), Weight::Told, name, message));
    }
}

/// A fingerprint per notice that stays when lines are inserted above and sentences are worded anew:
/// of its rule, of what it is known by, and of its position among equals.
pub(super) fn fingerprints(notices: &[Notice]) -> Vec<String> {
    let mut seen: BTreeMap<(&str, &[String]), usize> = BTreeMap::new();
    let fingerprint = |notice: &Notice, position: usize| {
        let parts = [notice.rule.id.clone(), position.to_string()];
        let parts: Vec<String> = parts.into_iter().chain(notice.identity.clone()).collect();
        // As JSON no part can be taken for two.
        sha256_digits(serde_json::json!(parts).to_string().as_bytes())
    };
    notices
        .iter()
        .map(|notice| {
            let key = (notice.rule.id.as_str(), notice.identity.as_slice());
            let position = seen.entry(key).or_default();
            *position += 1;
            fingerprint(notice, *position)
        })
        .collect()
}

/// The rules of some notices, by name.
pub(super) fn rules(notices: &[Notice]) -> Vec<&Rule> {
    let by_id: BTreeMap<&str, &Rule> =
        notices.iter().map(|notice| (notice.rule.id.as_str(), &notice.rule)).collect();
    by_id.into_values().collect()
}

/// Texts of the project's files, as far as the evidence holds them.
struct Sources<'e> {
    texts: BTreeMap<&'e str, (&'e str, OnceLock<LineStarts>)>,
    declared: DeclaredPlaces<'e>,
    /// The file of each requirement.
    requirement_files: BTreeMap<&'e str, &'e str>,
}

impl<'e> Sources<'e> {
    fn of(evidence: &'e Evidence) -> Self {
        let of_kernels = evidence.kernels.iter().flat_map(|kernel| &kernel.structure.files);
        let of_kernels = of_kernels.map(|file| (file.path.as_str(), file.text.as_str()));
        let stored = evidence.inputs.iter().flat_map(|inputs| &inputs.files);
        let stored = stored.filter_map(|(path, file)| match file {
            StoredFile::Text(text) => Some((path.as_str(), text.as_str())),
            StoredFile::Bytes(_) | StoredFile::Omitted { .. } => None,
        });
        let texts: BTreeMap<&str, &str> = of_kernels.chain(stored).collect();
        let texts = texts.into_iter().map(|(path, text)| (path, (text, OnceLock::new())));
        let mut requirement_files = BTreeMap::new();
        for row in &evidence.campaign.requirements {
            requirement_files.entry(row.requirement.uid.as_str()).or_insert(row.file.as_str());
        }
        let declared = DeclaredPlaces::of(evidence);
        Self { texts: texts.collect(), declared, requirement_files }
    }

    /// The text of the line of a place, without white space around it; empty where it is not known.
    fn line_text(&self, place: Option<&NoticePlace>) -> String {
        let line_text = place.and_then(|place| {
            let (text, lines) = self.texts.get(place.file.as_str())?;
            let lines = lines.get_or_init(|| LineStarts::of(text));
            let (start, end) = lines.range(text, place.line?)?;
            text.get(start..end)
        });
        line_text.unwrap_or_default().trim().to_owned()
    }
}

/// The names once each, in order.
fn joined<T: ToString + Ord>(names: impl Iterator<Item = T>) -> String {
    let names: BTreeSet<T> = names.collect();
    names.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

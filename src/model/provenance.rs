//! `provenance.json`: where, when, by which program and from which commit a run was made.
//!
//! Knows: what the file says, and which of it has a form.
//! Promises: the schema and [`Provenance::fault`] ask for the same.
//! Does not cover: whether any of it is true. Nothing derives it and nothing signs it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the format that `certify` writes and `verify` reads.
pub const PROVENANCE_SCHEMA: u32 = 1;

/// Most changes of a project that are listed; all are counted.
pub const MOST_LISTED_CHANGES: usize = 100;

/// `provenance.json`, beside the evidence and outside of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Version of the format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub schema: u32,
    /// SHA-256 of `evidence/manifest.json`.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub evidence_root: String,
    /// The program.
    pub tool: ProvenanceTool,
    /// The commit that the program was built from, with `-dirty` where what it is built of differed
    /// from it; `unknown` where git did not tell.
    #[schemars(regex(pattern = r"^([0-9a-f]{40}([0-9a-f]{24})?(-dirty)?|unknown)$"))]
    pub build_commit: String,
    /// SHA-256 of the running program's file; null where it could not be read.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub binary_sha256: Option<String>,
    /// The machine.
    pub host: Host,
    /// The command line, the program's name first.
    pub argv: Vec<Argument>,
    /// When the run began, by the clock of the machine: UTC, RFC 3339.
    #[schemars(regex(pattern = r"^\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"))]
    pub started: String,
    /// When its files were written, likewise.
    #[schemars(regex(pattern = r"^\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"))]
    pub finished: String,
    /// The value of `SOURCE_DATE_EPOCH`; null where it is not set.
    pub source_date_epoch: Option<String>,
    /// The commit of the project.
    pub project: ProjectCommit,
    /// What was taken from a cache; absent where none was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<RunReuse>,
}

/// What a run took from a cache in place of running an engine, compiling a kernel or analysing its coupling. Evidence is the
/// same without.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunReuse {
    /// How often an engine ran.
    pub ran: u64,
    /// How often a result was taken instead, by where it was made; in the order of their times.
    pub reused: Vec<ReusedRuns>,
    /// The same of kernels; none were kept before version 0.4.0.
    #[serde(default)]
    pub kernels: KernelReuse,
    /// The same of the coupling of kernels with their hosts; none was kept before version 0.4.0.
    #[serde(default)]
    pub coupling: CouplingReuse,
    /// Results that were there and ran again all the same, to be compared; each was the same.
    pub compared: u64,
    /// Entries that were damaged, which are not used.
    pub damaged: u64,
    /// Why results could not be kept; null where all that may be kept were.
    pub not_kept: Option<String>,
}

/// Kernels that a run took from a cache in place of compiling them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KernelReuse {
    /// How many were compiled.
    pub compiled: u64,
    /// How many were taken instead, by the run that compiled them; in the order of their times.
    pub reused: Vec<ReusedRuns>,
    /// Those that were there and were compiled all the same, to be compared; each was the same.
    pub compared: u64,
}

/// Coupling of kernels with their hosts that a run took from a cache in place of analysing it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CouplingReuse {
    /// Of how many kernels it was analysed.
    pub analysed: u64,
    /// Of how many it was taken instead, by the run that analysed it; in the order of their times.
    pub reused: Vec<ReusedRuns>,
    /// Of how many it was there and analysed all the same, to be compared; each was the same.
    pub compared: u64,
}

/// Results, kernels or coupling of one earlier run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReusedRuns {
    /// How many of them were taken.
    pub count: u64,
    /// The run; null where the cache does not tell it any more.
    pub origin: Option<RunOrigin>,
}

/// The run that made a result, as caches keep it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunOrigin {
    /// The program.
    pub tool: ProvenanceTool,
    /// The commit that it was built from.
    #[schemars(regex(pattern = r"^([0-9a-f]{40}([0-9a-f]{24})?(-dirty)?|unknown)$"))]
    pub build_commit: String,
    /// SHA-256 of its file.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub binary_sha256: String,
    /// The machine.
    pub host: Host,
    /// The command line, the program's name first.
    pub argv: Vec<Argument>,
    /// When the run began: UTC, RFC 3339.
    #[schemars(regex(pattern = r"^\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"))]
    pub started: String,
}

/// A program by name and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProvenanceTool {
    /// Name of the program.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The machine of a run; each part is null where it could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// `PRETTY_NAME` of the operating system's `os-release`.
    pub os: Option<String>,
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// The architecture that the program was built for.
    pub architecture: Option<String>,
    /// Name of the first processor.
    pub cpu: Option<String>,
    /// Processors that the kernel lists.
    pub logical_cores: Option<u64>,
    /// Memory of the machine in bytes.
    pub memory_bytes: Option<u64>,
}

/// One word of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Argument {
    /// The text, where it is valid UTF-8.
    Text(String),
    /// Anything else.
    Bytes(ArgumentBytes),
}

/// A word that is no UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArgumentBytes {
    /// base64
    pub bytes: String,
}

/// What git says of the folder of `vkcert.toml`, before the run writes anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectCommit {
    /// The commit of HEAD; null with a `reason`.
    #[schemars(regex(pattern = r"^[0-9a-f]{40}([0-9a-f]{24})?$"))]
    pub commit: Option<String>,
    /// Whether anything in the working tree differs from the commit or is untracked, files that git
    /// ignores and what runs write left out; null with a `reason`.
    pub dirty: Option<bool>,
    /// How many changes there are.
    pub change_count: u64,
    /// The first 100 of them, as `git status --porcelain` tells them, without quotes.
    pub changes: Vec<String>,
    /// Why commit or state are not known; null where both are.
    pub reason: Option<String>,
}

impl ProjectCommit {
    /// Nothing is known, for a reason.
    pub fn unknown(reason: String) -> Self {
        Self { reason: Some(reason), ..Self::default() }
    }

    fn fault(&self) -> Option<&'static str> {
        let listed = self.changes.len() as u64;
        let is_listed = listed == self.change_count.min(MOST_LISTED_CHANGES as u64)
            && listed <= self.change_count;
        let is_known = self.commit.is_some() && self.dirty.is_some();
        if self.commit.as_deref().is_some_and(|commit| !is_commit(commit)) {
            Some("the commit of the project is no object name")
        } else if is_known == self.reason.is_some() {
            Some("the commit and state of the project are neither known nor missing with a reason")
        } else if !is_listed || self.dirty.unwrap_or(false) != (self.change_count > 0) {
            Some("the changes of the project do not fit its state")
        } else {
            None
        }
    }
}

impl Provenance {
    /// The run, as later ones tell where they have its results from; none where it does not know its
    /// program.
    pub fn origin(&self) -> Option<RunOrigin> {
        Some(RunOrigin {
            tool: self.tool.clone(),
            build_commit: self.build_commit.clone(),
            binary_sha256: self.binary_sha256.clone()?,
            host: self.host.clone(),
            argv: self.argv.clone(),
            started: self.started.clone(),
        })
    }

    /// What is not in the form that the schema asks for.
    pub fn fault(&self) -> Option<&'static str> {
        if !is_sha256(&self.evidence_root) {
            Some("the root is no SHA-256")
        } else if !is_build_commit(&self.build_commit) {
            Some("the commit of the program is no object name")
        } else if self.binary_sha256.as_deref().is_some_and(|hash| !is_sha256(hash)) {
            Some("the hash of the program is no SHA-256")
        } else if !is_utc(&self.started) || !is_utc(&self.finished) {
            Some("a time is not in the form of RFC 3339 in UTC")
        } else {
            self.project.fault().or_else(|| self.reuse.as_ref()?.fault())
        }
    }
}

impl RunReuse {
    fn fault(&self) -> Option<&'static str> {
        let has_form = |origin: &RunOrigin| {
            is_build_commit(&origin.build_commit)
                && is_sha256(&origin.binary_sha256)
                && is_utc(&origin.started)
        };
        let rows = self.reused.iter().chain(&self.kernels.reused).chain(&self.coupling.reused);
        let mut origins = rows.filter_map(|row| row.origin.as_ref());
        (!origins.all(has_form)).then_some("the origin of reused results has another form")
    }
}

/// Whether a text is what programs tell of the commit that they were built from.
fn is_build_commit(text: &str) -> bool {
    text == "unknown" || is_commit(text.strip_suffix("-dirty").unwrap_or(text))
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && is_hexadecimal(text)
}

/// Whether a text is the name of a git object, by SHA-1 or by SHA-256.
pub fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && is_hexadecimal(text)
}

/// Whether a text has the form `YYYY-MM-DDThh:mm:ssZ`.
fn is_utc(text: &str) -> bool {
    const REST: &str = "-00-00T00:00:00Z";
    let Some(year_digits) = text.len().checked_sub(REST.len()) else { return false };
    let fits = |(character, form): (u8, u8)| match form {
        b'0' => character.is_ascii_digit(),
        other => character == other,
    };
    let (year, rest) = text.as_bytes().split_at(year_digits);
    year.len() >= 4
        && year.iter().all(u8::is_ascii_digit)
        && rest.iter().copied().zip(REST.bytes()).all(fits)
}

/// Seconds since 1970 as a UTC date and time in the form of RFC 3339.
pub fn utc_date_time(seconds: i64) -> String {
    let (days, seconds_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Civil date from a day number: the Gregorian calendar in 400-year eras that start on 1 March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) =
        (seconds_of_day / 3_600, seconds_of_day % 3_600 / 60, seconds_of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance() -> Provenance {
        Provenance {
            schema: PROVENANCE_SCHEMA,
            evidence_root: "0a".repeat(32),
            tool: ProvenanceTool { name: "vkcert".to_owned(), version: "1".to_owned() },
            build_commit: format!("{}-dirty", "b".repeat(40)),
            binary_sha256: Some("f".repeat(64)),
            host: Host::default(),
            argv: vec![Argument::Text("vkcert".to_owned())],
            started: utc_date_time(0),
            finished: utc_date_time(1_709_164_800),
            source_date_epoch: None,
            project: ProjectCommit {
                commit: Some("c".repeat(64)),
                dirty: Some(true),
                change_count: 1,
                changes: vec!["?? a".to_owned()],
                reason: None,
            },
            reuse: Some(RunReuse {
                ran: 1,
                reused: vec![
                    ReusedRuns { count: 2, origin: Some(origin()) },
                    ReusedRuns { count: 1, origin: None },
                ],
                ..RunReuse::default()
            }),
        }
    }

    fn changed_origin(provenance: &mut Provenance) -> &mut RunOrigin {
        provenance.reuse.as_mut().unwrap().reused[0].origin.as_mut().unwrap()
    }

    fn origin() -> RunOrigin {
        RunOrigin {
            tool: ProvenanceTool { name: "vkcert".to_owned(), version: "1".to_owned() },
            build_commit: "unknown".to_owned(),
            binary_sha256: "e".repeat(64),
            host: Host::default(),
            argv: Vec::new(),
            started: utc_date_time(0),
        }
    }

    #[test]
    fn times_are_dates_of_the_calendar() {
        assert_eq!(utc_date_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc_date_time(1_709_164_800), "2024-02-29T00:00:00Z");
        assert_eq!(utc_date_time(4_107_542_399), "2100-02-28T23:59:59Z");
        assert!(is_utc("12024-02-29T00:00:00Z"));
        for text in [
            "",
            "Z",
            "-00-00T00:00:00Z",
            "2024-02-29T00:00:00",
            "2024-02-29 00:00:00Z",
            "é024-02-29T00:00:00Z",
        ] {
            assert!(!is_utc(text), "{text}");
        }
    }

    #[test]
    fn what_has_another_form_is_a_fault() {
        assert_eq!(provenance().fault(), None);
        let unknown = Provenance {
            build_commit: "unknown".to_owned(),
            binary_sha256: None,
            project: ProjectCommit::unknown("no git".to_owned()),
            ..provenance()
        };
        assert_eq!(unknown.fault(), None);
        let faults: [fn(&mut Provenance); 14] = [
            |provenance| provenance.evidence_root = "A".repeat(64),
            |provenance| provenance.evidence_root.push('0'),
            |provenance| provenance.build_commit = "main".to_owned(),
            |provenance| provenance.build_commit = "unknown-dirty".to_owned(),
            |provenance| provenance.binary_sha256 = Some(String::new()),
            |provenance| provenance.finished = "yesterday".to_owned(),
            |provenance| provenance.project.commit = Some("HEAD".to_owned()),
            |provenance| provenance.project.commit = None,
            |provenance| provenance.project.reason = Some("why".to_owned()),
            |provenance| provenance.project.dirty = Some(false),
            |provenance| provenance.project.change_count = 2,
            |provenance| changed_origin(provenance).binary_sha256.clear(),
            |provenance| changed_origin(provenance).build_commit = "main".to_owned(),
            |provenance| changed_origin(provenance).started = "yesterday".to_owned(),
        ];
        for (index, change) in faults.into_iter().enumerate() {
            let mut changed = provenance();
            change(&mut changed);
            assert!(changed.fault().is_some(), "{index}: {changed:?}");
        }
    }
}

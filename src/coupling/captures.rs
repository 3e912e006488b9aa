//! What captures of the host program tell, against what the project states of it.
//!
//! Knows: what was read of each capture about the kernel, and the results of its own checks.
//! Promises: a row for each result that is about the kernel's dispatches; what dispatches are given
//! is compared with the interface and the headers (`facts`), and a conflict names its places and the
//! operation of the capture. A capture that does not run the kernel is `undetermined`. What is
//! accepted of a capture is accepted of that file alone: the subject of a finding has its hash.
//! Does not cover: what the kernel does with what it is given.

mod facts;
mod resources;

use super::CouplingInput;
use super::expressions::HostExpressions;
use super::graph::captured_node_id;
use super::rows::CheckRows;
use facts::{CapturedFacts, FactComparison, FactConflict};
use vkcert_model::evidence::{CheckStatus, CouplingCheckName};
use vkcert_model::place::Place;
use vkcert_model::requirement::{CapturedCheck, CapturedKernel, CapturedModules};
use vkcert_requirement::host::decide::HostModel;

/// Digits of a hash that tell a file from others of its name.
const HASH_DIGITS: usize = 16;

/// Adds the rows of all captures.
pub(super) fn check_captures(
    rows: &mut CheckRows,
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
) {
    let facts = CapturedFacts { input, host, expressions };
    for captured in input.captures {
        let capture_rows = CaptureRows { input, captured };
        if !capture_rows.add_modules(rows) {
            continue;
        }
        for check in &captured.checks {
            capture_rows.add_check(rows, check);
        }
        capture_rows.add_comparison(rows, facts.compare(captured));
    }
    rows.end_subject();
}

/// One capture and where its rows point to.
struct CaptureRows<'a> {
    input: &'a CouplingInput<'a>,
    captured: &'a CapturedKernel,
}

impl CaptureRows<'_> {
    fn file(&self) -> &str {
        &self.captured.reading.file
    }

    /// `host.capture 0123456789abcdef`
    fn file_and_hash(&self) -> String {
        let hash = &self.captured.reading.sha256;
        let digits = hash.rsplit(':').next().unwrap_or(hash);
        format!("{} {}", self.file(), digits.get(..HASH_DIGITS).unwrap_or(digits))
    }

    fn capture_place(&self) -> Place {
        Place { file: Some(self.file().to_owned()), ..Place::default() }
    }

    fn add_refuted(
        &self,
        rows: &mut CheckRows,
        check: CouplingCheckName,
        message: String,
        subject_words: &str,
    ) {
        rows.begin_subject(format!("{}: {subject_words}", self.file_and_hash()));
        let places = (self.capture_place(), self.input.stated.place.clone());
        rows.add_refuted_at(check, message, None, Some(places.0), Some(places.1));
    }

    /// Says which module is the kernel's; whether there is a dispatch of it.
    fn add_modules(&self, rows: &mut CheckRows) -> bool {
        let (file, reading) = (self.file(), &self.captured.reading);
        let kernel = self.input.interface.kernel;
        match &reading.modules {
            CapturedModules::Production(numbers) if numbers.is_empty() => {
                let message = format!(
                    "`{file}`: no shader module is the production module of `{kernel}` byte by \
                     byte, and the interface states none by its number (`module`)"
                );
                rows.add_undetermined(CouplingCheckName::HostFacts, message);
                return false;
            }
            CapturedModules::OtherBuild(number) => {
                let message = format!(
                    "`{file}`: module {number}, which the interface states, is another build than \
                     the production module of `{kernel}`: what is shown of the production module is \
                     not shown of what the host runs"
                );
                rows.add_undetermined(CouplingCheckName::ShaderModule, message);
            }
            CapturedModules::Production(_) => {}
        }
        if reading.dispatch_count == 0 {
            let message = format!("`{file}`: no dispatch runs the module of `{kernel}`");
            rows.add_undetermined(CouplingCheckName::HostFacts, message);
        }
        reading.dispatch_count > 0
    }

    /// A result of the capture's own checks.
    fn add_check(&self, rows: &mut CheckRows, row: &CapturedCheck) {
        let check = row.check.clone();
        let message = format!("`{}`: {}", self.file(), row.message);
        match &row.status {
            CheckStatus::Holds => rows.add_holding(check, message),
            CheckStatus::Undetermined | CheckStatus::Unknown(_) => {
                rows.add_undetermined(check, message);
            }
            CheckStatus::Refuted => {
                let numbers: Vec<String> = row.operations.iter().map(usize::to_string).collect();
                let subject_words = match numbers.is_empty() {
                    true => row.message.clone(),
                    false => format!("operations {}", numbers.join(", ")),
                };
                self.add_refuted(rows, check, message, &subject_words);
            }
        }
        if row.status != CheckStatus::Holds {
            let nodes = row.operations.iter().filter_map(|number| self.operation_node(*number));
            rows.name_nodes(nodes);
        }
    }

    /// The node of an operation that the graph draws.
    fn operation_node(&self, number: usize) -> Option<String> {
        let operation = self.captured.order.operations.get(&number)?;
        Some(captured_node_id(self.file(), number, operation))
    }

    fn add_comparison(&self, rows: &mut CheckRows, comparison: FactComparison) {
        let FactComparison { conflicts, agreements, open } = comparison;
        let file = self.file();
        let conflicting: Vec<CouplingCheckName> =
            conflicts.values().map(|conflict| conflict.check.clone()).collect();
        for (subject_words, conflict) in conflicts {
            self.add_conflict(rows, &subject_words, conflict);
        }
        for (check, words) in open {
            rows.add_undetermined(check, format!("`{file}`: {words}"));
        }
        for (check, words) in agreements {
            if !conflicting.contains(&check) {
                rows.add_holding(check, format!("`{file}`: {words}"));
            }
        }
    }

    fn add_conflict(&self, rows: &mut CheckRows, subject_words: &str, conflict: FactConflict) {
        let FactConflict { check, words, values, declared_at, more } = conflict;
        let interface_place = self.input.stated.place;
        let mut places = format!("the interface is at {interface_place}");
        if let Some(place) = &declared_at {
            places.push_str(&format!(", the member at {place}"));
        }
        let more = match more {
            0 => String::new(),
            count => format!("; so in {count} dispatches more"),
        };
        let message = format!("`{}`: {words}{more} ({places})", self.file());
        rows.begin_subject(format!("{}: {subject_words}", self.file_and_hash()));
        let place = declared_at.unwrap_or_else(|| self.capture_place());
        let other_place = Some(interface_place.clone());
        rows.add_refuted_at(check, message, values, Some(place), other_place);
    }
}

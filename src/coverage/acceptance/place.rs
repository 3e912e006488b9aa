//! The statements that a finding is about.

use crate::statement::visit;
use serde_json::Value;
use vkcert_model::evidence::KernelEvidence;
use vkcert_model::finding::Finding;
use vkcert_model::finding_subject::SubjectPlace;
use vkcert_model::id::StatementId;
use vkcert_model::place::{LineStarts, Place, Span};

/// The places of a finding in the order of the source, whichever of two came first.
pub(super) fn places(finding: &Finding, kernel: &KernelEvidence) -> Vec<SubjectPlace> {
    let accesses = finding.details.get("accesses").and_then(Value::as_array);
    let access = |index: usize| match accesses?.get(index)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    // The earlier access is the first, and at the other place.
    let given = [(finding.other_place.as_ref(), access(0)), (finding.place.as_ref(), access(1))];
    let subject = |(place, access): (Option<&Place>, _)| {
        Some(SubjectPlace { access, ..subject_place(kernel, place?) })
    };
    let mut places: Vec<SubjectPlace> = given.into_iter().filter_map(subject).collect();
    places.sort();
    places
}

fn subject_place(kernel: &KernelEvidence, place: &Place) -> SubjectPlace {
    in_source(kernel, place).unwrap_or_else(|| {
        let name = place.instruction.map_or_else(|| "module".to_owned(), |word| word.to_string());
        let text = Place { file: None, line: None, column: None, ..place.clone() }.to_string();
        SubjectPlace { statement: None, name, text, from: None, access: None }
    })
}

/// The statement that a place is in, and where in it; of one known by line alone, the first
/// statement on the line.
fn in_source(kernel: &KernelEvidence, place: &Place) -> Option<SubjectPlace> {
    let structure = &kernel.structure;
    let (file, line) = (place.file.as_ref()?, place.line?);
    let index = structure.files.iter().position(|known| known.path == *file)?;
    let text = &structure.files[index].text;
    let (start, end) = LineStarts::of(text).range(text, line)?;
    let first = start + text[start..end].len() - text[start..end].trim_start().len();
    let exact = place.column.and_then(|column| {
        let mut characters = text[start..end].char_indices().map(|(offset, _)| start + offset);
        characters.nth(column.checked_sub(1)? as usize)
    });
    let at = exact.unwrap_or(first);
    let mut found: Option<(StatementId, Span)> = None;
    for function in &structure.functions {
        visit(&function.body, &mut |statement| {
            // What comes out of a macro is where the macro is used.
            let sites =
                statement.expansion.iter().map(|expansion| expansion.site).chain([statement.span]);
            let Some(span) = sites.into_iter().find(|span| span.file.0 as usize == index) else {
                return;
            };
            let Some(id) = statement.id else { return };
            let (begins, ends) = (span.start as usize, span.end as usize);
            let here = begins <= at && at < ends || exact.is_none() && (at..end).contains(&begins);
            let better =
                |(_, old): (StatementId, Span)| begins > old.start as usize && begins <= at;
            if here && found.is_none_or(better) {
                found = Some((id, span));
            }
        });
    }
    let plain = |start: usize, end: usize| {
        text.get(start..end).unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let Some((id, span)) = found else {
        // Between statements: the condition behind a `do` body, a part of a loop's header, a
        // function's parameters.
        let name = place.function.clone().unwrap_or_else(|| "module".to_owned());
        return Some(SubjectPlace {
            statement: None,
            name,
            text: plain(start, end),
            from: None,
            access: None,
        });
    };
    let (begins, ends) = (span.start as usize, span.end as usize);
    // From there to the end of the statement: one text for each place.
    let from = exact.filter(|at| *at > begins).map(|at| plain(at, ends));
    Some(SubjectPlace {
        statement: Some(id),
        name: id.to_string(),
        text: plain(begins, ends),
        from,
        access: None,
    })
}

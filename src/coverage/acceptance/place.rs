//! The statements that a finding is about.

use super::words::value_text;
use crate::statement::visit_block;
use serde_json::Value;
use std::ops::Range;
use vkcert_model::evidence::KernelEvidence;
use vkcert_model::finding::Finding;
use vkcert_model::finding_details::DetailName;
use vkcert_model::finding_subject::SubjectPlace;
use vkcert_model::id::StatementId;
use vkcert_model::place::{LineStarts, Place, Span};
use vkcert_model::structure::KernelStructure;

/// The places of a finding in the order of the source, whichever of two came first.
pub(super) fn subject_places(finding: &Finding, kernel: &KernelEvidence) -> Vec<SubjectPlace> {
    let access_kinds = match finding.detail(DetailName::Accesses) {
        Some(Value::Array(access_kinds)) => access_kinds,
        Some(_) | None => Vec::new(),
    };
    let mut access_kinds = access_kinds.into_iter().map(value_text);
    let mut subject_places = Vec::new();
    // The earlier access is the first, and at the other place.
    for place in [&finding.other_place, &finding.place] {
        let access = access_kinds.next();
        let Some(place) = place else { continue };
        subject_places.push(SubjectPlace { access, ..subject_place(kernel, place) });
    }
    subject_places.sort();
    subject_places
}

fn subject_place(kernel: &KernelEvidence, place: &Place) -> SubjectPlace {
    place_in_source(&kernel.structure, place).unwrap_or_else(|| {
        let name = place.instruction.map_or_else(|| "module".to_owned(), |word| word.to_string());
        let text = Place { file: None, ..place.clone() }.to_string();
        SubjectPlace { statement: None, name, text, from: None, access: None }
    })
}

/// The statement that a place is in, and where in it; of one known by line alone, the first
/// statement on the line.
pub(crate) fn place_in_source(structure: &KernelStructure, place: &Place) -> Option<SubjectPlace> {
    let (file, line) = (place.file.as_ref()?, place.line?);
    let file_index = structure.files.iter().position(|known_file| known_file.path == *file)?;
    let text = &structure.files[file_index].text;
    let (start, end) = LineStarts::of(text).range(text, line)?;
    let first_character = start + text[start..end].len() - text[start..end].trim_start().len();
    let exact_offset = place.column.and_then(|column| {
        let mut characters = text[start..end].char_indices().map(|(offset, _)| start + offset);
        characters.nth(column.checked_sub(1)? as usize)
    });
    let place_offset = exact_offset.unwrap_or(first_character);
    let mut containing_statement: Option<(StatementId, Span)> = None;
    for function in &structure.functions {
        visit_block(&function.body, &mut |statement| {
            // What comes out of a macro is where the macro is used.
            let macro_sites =
                statement.expansion.iter().map(|expansion| expansion.site).chain([statement.span]);
            let Some(statement_span) = macro_sites
                .into_iter()
                .find(|statement_span| statement_span.file.0 as usize == file_index)
            else {
                return;
            };
            let Some(statement_id) = statement.id else { return };
            let (span_start, span_end) =
                (statement_span.start as usize, statement_span.end as usize);
            let contains_place = span_start <= place_offset && place_offset < span_end
                || exact_offset.is_none() && (place_offset..end).contains(&span_start);
            let is_closer = |(_, old_span): (StatementId, Span)| {
                span_start > old_span.start as usize && span_start <= place_offset
            };
            if contains_place && containing_statement.is_none_or(is_closer) {
                containing_statement = Some((statement_id, statement_span));
            }
        });
    }
    let Some((statement_id, statement_span)) = containing_statement else {
        // Between statements: the condition behind a `do` body, a part of a loop's header, a
        // function's parameters.
        let name = place.function.clone().unwrap_or_else(|| "module".to_owned());
        return Some(SubjectPlace {
            statement: None,
            name,
            text: collapsed_text(text, start..end),
            from: None,
            access: None,
        });
    };
    let (span_start, span_end) = (statement_span.start as usize, statement_span.end as usize);
    // From there to the end of the statement: one text for each place.
    let from_text = exact_offset
        .filter(|offset| *offset > span_start)
        .map(|offset| collapsed_text(text, offset..span_end));
    Some(SubjectPlace {
        statement: Some(statement_id),
        name: statement_id.to_string(),
        text: collapsed_text(text, span_start..span_end),
        from: from_text,
        access: None,
    })
}

fn collapsed_text(text: &str, range: Range<usize>) -> String {
    text.get(range).unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ")
}

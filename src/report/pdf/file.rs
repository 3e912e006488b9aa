//! The file: pages, structure, bookmarks, dates and identifier, as PDF/A-2a and PDF/UA-1 ask.
//!
//! Evidence without a date gives PDF/UA-1 alone: PDF/A wants the date at which a file was made
//! (ISO 19005-2, 6.6.6), and one that is not in the evidence would be another at each run.
//!
//! Promises: `krilla` checks what of both standards a program can check while it writes; a file that
//! breaks one of them is an error, never written.

use super::bookmarks::document_outline;
use super::canvas::PageFlow;
use super::packed::packed_file;
use super::page::write_page;
use super::tags::{WrittenPieces, tag_tree};
use crate::ReportError;
use crate::document::Document;
use krilla::SerializeSettings;
use krilla::configure::{Accessibility, Archival, ConfigurationBuilder};
use krilla::destination::XyzDestination;
use krilla::error::KrillaError;
use krilla::geom::Point;
use krilla::metadata::{DateTime, Metadata, TextDirection};
use vkcert_model::canonical::hexadecimal_digits;

pub(super) fn pdf_bytes(
    mut flow: PageFlow<'_>,
    document: &Document,
    identifier: &[u8],
) -> Result<Vec<u8>, ReportError> {
    let date = document.date.as_deref().and_then(file_date);
    let mut file = krilla::Document::new_with(serialize_settings(date)?);
    let mut pieces = WrittenPieces::of_structure(&flow.structure);
    // A long report is held in one form at a time.
    for page in std::mem::take(&mut flow.pages) {
        write_page(&page, &mut file, (flow.faces, &flow.anchors), &mut pieces)
            .ok_or_else(|| ReportError::Pdf("a page has no size".to_owned()))?;
    }
    file.set_tag_tree(tag_tree(&flow.structure, &pieces));
    file.set_outline(document_outline(&flow.outline));
    file.set_metadata(metadata(document, date, identifier));
    drop((flow, pieces));
    let plain = file.finish().map_err(|error| ReportError::Pdf(fault_text(&error)))?;
    packed_file(&plain).map_err(|error| ReportError::Pdf(error.to_string()))
}

fn serialize_settings(date: Option<DateTime>) -> Result<SerializeSettings, ReportError> {
    let accessible = ConfigurationBuilder::new().with_accessibility_validator(Accessibility::UA1);
    let configuration = match date {
        Some(_) => accessible.with_archival_validator(Archival::A2_A),
        None => accessible,
    };
    let configuration =
        configuration.finish().map_err(|error| ReportError::Pdf(format!("{error:?}")))?;
    Ok(SerializeSettings { configuration, no_device_cs: true, ..SerializeSettings::default() })
}

fn metadata(document: &Document, date: Option<DateTime>, identifier: &[u8]) -> Metadata {
    let hexadecimal = hexadecimal_digits(identifier);
    let metadata = Metadata::new()
        .title(document.project_and_title())
        .description(document.level.clone())
        .creator(document.tool.clone())
        .producer(document.tool.clone())
        .language("en".to_owned())
        .text_direction(TextDirection::LeftToRight)
        .document_id(hexadecimal);
    match date {
        Some(date) => metadata.creation_date(date),
        None => metadata,
    }
}

/// Of an RFC 3339 date in UTC.
fn file_date(date: &str) -> Option<DateTime> {
    let number = |start: usize, end: usize| date.get(start..end)?.parse::<u16>().ok();
    let short = |start: usize| u8::try_from(number(start, start + 2)?).ok();
    Some(
        DateTime::new(number(0, 4)?)
            .month(short(5)?)
            .day(short(8)?)
            .hour(short(11)?)
            .minute(short(14)?)
            .second(short(17)?)
            .utc_offset_hour(0)
            .utc_offset_minute(0),
    )
}

/// Where a link or a bookmark to a height on a page leads: a little above it.
pub(super) fn destination(page: usize, y: f32) -> XyzDestination {
    XyzDestination::new(page, Point::from_xy(0.0, ((y - 14.0) * 100.0).round() / 100.0))
}

/// What was broken by name; the library's own text says only how many.
fn fault_text(error: &KrillaError) -> String {
    match error {
        KrillaError::Validation(violations) => {
            let names = violations.iter().map(|(violation, _)| format!("{violation:?}"));
            format!("{error}: {}", names.collect::<Vec<_>>().join(", "))
        }
        error => error.to_string(),
    }
}

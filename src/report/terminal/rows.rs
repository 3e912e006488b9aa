//! Lists whose entries have several parts: in columns where they fit, else folded below what they
//! belong to.
//!
//! Promises: nothing is cut, and a part never runs into the next one.

use super::measure::{column_width, pad_to, wrap};
use super::page::{SummaryPage, tone_symbol};
use crate::document::Tone;

/// A column is at most this wide for its rows to be aligned; longer parts stand on a row that is.
const ALIGNED: usize = 28;
/// Space between two columns.
const GAP: usize = 2;
/// The last part stands beside the others where it has at least this room.
const BESIDE: usize = 24;
/// Where the last part stands otherwise.
const BELOW: usize = 4;

/// An entry of a list.
pub(super) struct ListRow {
    /// What it belongs to, or nothing; entries with the same one follow each other.
    pub group: Vec<String>,
    /// Short parts in columns, and a last one that may be long.
    pub parts: Vec<String>,
}

impl SummaryPage<'_> {
    /// Each entry on a line if all fit, else with its group above it and its last part in lines of
    /// its own.
    pub(super) fn write_rows(&mut self, rows: &[ListRow], tone: Tone) {
        let room_columns = self.page_width().saturating_sub(8);
        let whole_rows: Vec<Vec<&str>> = rows
            .iter()
            .map(|row| row.group.iter().chain(&row.parts).map(String::as_str).collect())
            .collect();
        let aligned_lines = aligned_rows(&whole_rows);
        if aligned_lines.iter().all(|line| column_width(line) <= room_columns) {
            return aligned_lines.iter().for_each(|line| self.write_item(line, tone));
        }
        let (kept_parts, short_lines) = short_parts(rows, room_columns);
        let widest_short = short_lines.iter().map(|line| column_width(line)).max().unwrap_or(0);
        let mut row_group: &[String] = &[];
        for (row, short_line) in rows.iter().zip(short_lines) {
            if row_group != row.group {
                row_group = &row.group;
                for line in wrap(&row_group.join(", "), self.page_width().saturating_sub(4)) {
                    self.write_line(&format!("    {line}"));
                }
            }
            let other_parts = row.parts.get(kept_parts..).unwrap_or_default();
            for (line_index, line) in
                folded_row(&short_line, other_parts, room_columns, widest_short)
                    .into_iter()
                    .enumerate()
            {
                let indent = if row.group.is_empty() { "    " } else { "      " };
                let line = match line_index {
                    0 => format!("{indent}{} {line}", self.painted(tone_symbol(tone), tone)),
                    _ => format!("{indent}  {line}"),
                };
                self.write_line(&line);
            }
        }
    }
}

/// As many of the first parts as fit beside each other in every row, the last one never among them,
/// in columns.
fn short_parts(rows: &[ListRow], room_columns: usize) -> (usize, Vec<String>) {
    let part_count = rows.iter().map(|row| row.parts.len()).min().unwrap_or(0);
    let aligned_lines = |kept_parts: usize| {
        let first_parts =
            rows.iter().map(|row| row.parts[..kept_parts].iter().map(String::as_str).collect());
        aligned_rows(&first_parts.collect::<Vec<Vec<&str>>>())
    };
    let fits_room = |kept_parts: &usize| {
        aligned_lines(*kept_parts).iter().all(|line| column_width(line) <= room_columns)
    };
    let kept_parts = (1..part_count).rev().find(fits_room).unwrap_or(part_count.min(1));
    (kept_parts, aligned_lines(kept_parts))
}

/// The short parts with one more beside them where that is all and has room, else each of the
/// others below. What stands beside them stands behind the widest short parts of all rows, where
/// that leaves it room.
fn folded_row(
    short_line: &str,
    other_parts: &[String],
    room_columns: usize,
    widest_short: usize,
) -> Vec<String> {
    let lead_columns = if widest_short + GAP + BESIDE <= room_columns {
        widest_short
    } else {
        column_width(short_line)
    } + GAP;
    if let [last_part] = other_parts
        && lead_columns + BESIDE.min(column_width(last_part)) <= room_columns
    {
        let wrapped_lines = wrap(last_part, room_columns - lead_columns).into_iter().enumerate();
        return wrapped_lines
            .map(|(line_index, line)| {
                format!(
                    "{}{line}",
                    pad_to(if line_index == 0 { short_line } else { "" }, lead_columns)
                )
            })
            .collect();
    }
    let lines_below =
        other_parts.iter().flat_map(|part| wrap(part, room_columns.saturating_sub(BELOW)));
    wrap(short_line, room_columns)
        .into_iter()
        .chain(lines_below.map(|line| format!("{}{line}", " ".repeat(BELOW))))
        .collect()
}

/// Rows of cells as lines, in columns as wide as their cells need.
fn aligned_rows(rows: &[Vec<&str>]) -> Vec<String> {
    let column_count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width_of_column = |column_index: usize| {
        let column_widths =
            rows.iter().filter_map(|row| row.get(column_index)).map(|cell| column_width(cell));
        column_widths.filter(|width| *width <= ALIGNED).max().unwrap_or(0)
    };
    let column_widths: Vec<usize> = (0..column_count).map(width_of_column).collect();
    let aligned_line = |row: &Vec<&str>| {
        let cells = row.iter().zip(&column_widths).map(|(cell, width)| pad_to(cell, *width));
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    rows.iter().map(aligned_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_too_wide_keeps_its_columns() {
        let short = "D2.C2  MC/DC mask.  a.comp:23:9";
        let widest = column_width(short);
        let folded = |room: usize| {
            folded_row(
                short,
                &["first_operand < second_operand && third_operand".to_owned()],
                room,
                widest,
            )
        };
        assert_eq!(
            folded(100),
            [format!("{short}  first_operand < second_operand && third_operand")]
        );
        let lines = folded(60);
        assert_eq!(lines[0], format!("{short}  first_operand <"));
        assert_eq!(lines[1], format!("{}second_operand &&", " ".repeat(33)));
        let lines = folded(50);
        assert_eq!(lines, [short, "    first_operand < second_operand &&", "    third_operand"]);
        // A column that is too wide for the page goes below with what follows it.
        let row = |place: &str| ListRow {
            group: Vec::new(),
            parts: ["S6", "Statement", place, "text"].map(str::to_owned).into(),
        };
        let (kept, short) = short_parts(&[row("a.comp:1:1"), row(&"long/".repeat(20))], 60);
        assert_eq!((kept, short[0].as_str()), (2, "S6  Statement"));
        assert!(folded(20).iter().all(|line| column_width(line) <= 20));
    }
}

//! Lists whose entries have several parts: in columns where they fit, else folded below what they
//! belong to.
//!
//! Promises: nothing is cut, and a part never runs into the next one.

use super::measure::{columns, pad, wrap};
use super::page::{Page, symbol};
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
pub(super) struct Row {
    /// What it belongs to, or nothing; entries with the same one follow each other.
    pub group: Vec<String>,
    /// Short parts in columns, and a last one that may be long.
    pub parts: Vec<String>,
}

impl Page<'_> {
    /// Each entry on a line if all fit, else with its group above it and its last part in lines of
    /// its own.
    pub(super) fn rows(&mut self, rows: &[Row], tone: Tone) {
        let room = self.width().saturating_sub(8);
        let whole: Vec<Vec<&str>> = rows
            .iter()
            .map(|row| row.group.iter().chain(&row.parts).map(String::as_str).collect())
            .collect();
        let lines = aligned(&whole);
        if lines.iter().all(|line| columns(line) <= room) {
            return lines.iter().for_each(|line| self.item(line, tone));
        }
        let (kept, short) = short_parts(rows, room);
        let widest = short.iter().map(|line| columns(line)).max().unwrap_or(0);
        let mut group: &[String] = &[];
        for (row, short) in rows.iter().zip(short) {
            if group != row.group {
                group = &row.group;
                for line in wrap(&group.join(", "), self.width().saturating_sub(4)) {
                    self.line(&format!("    {line}"));
                }
            }
            let others = row.parts.get(kept..).unwrap_or_default();
            for (index, line) in folded(&short, others, room, widest).into_iter().enumerate() {
                let indent = if row.group.is_empty() { "    " } else { "      " };
                let line = match index {
                    0 => format!("{indent}{} {line}", self.paint(symbol(tone), tone)),
                    _ => format!("{indent}  {line}"),
                };
                self.line(&line);
            }
        }
    }
}

/// As many of the first parts as fit beside each other in every row, the last one never among them,
/// in columns.
fn short_parts(rows: &[Row], room: usize) -> (usize, Vec<String>) {
    let count = rows.iter().map(|row| row.parts.len()).min().unwrap_or(0);
    let lines = |kept: usize| {
        let parts = rows.iter().map(|row| row.parts[..kept].iter().map(String::as_str).collect());
        aligned(&parts.collect::<Vec<Vec<&str>>>())
    };
    let fits = |kept: &usize| lines(*kept).iter().all(|line| columns(line) <= room);
    let kept = (1..count).rev().find(fits).unwrap_or(count.min(1));
    (kept, lines(kept))
}

/// The short parts with one more beside them where that is all and has room, else each of the
/// others below. What stands beside them stands behind the widest short parts of all rows, where
/// that leaves it room.
fn folded(short: &str, others: &[String], room: usize, widest: usize) -> Vec<String> {
    let lead = if widest + GAP + BESIDE <= room { widest } else { columns(short) } + GAP;
    if let [last] = others
        && lead + BESIDE.min(columns(last)) <= room
    {
        let lines = wrap(last, room - lead).into_iter().enumerate();
        return lines
            .map(|(index, line)| {
                format!("{}{line}", pad(if index == 0 { short } else { "" }, lead))
            })
            .collect();
    }
    let below = others.iter().flat_map(|part| wrap(part, room.saturating_sub(BELOW)));
    wrap(short, room)
        .into_iter()
        .chain(below.map(|line| format!("{}{line}", " ".repeat(BELOW))))
        .collect()
}

/// Rows of cells as lines, in columns as wide as their cells need.
fn aligned(rows: &[Vec<&str>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |index: usize| {
        let widths = rows.iter().filter_map(|row| row.get(index)).map(|cell| columns(cell));
        widths.filter(|width| *width <= ALIGNED).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &Vec<&str>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| pad(cell, *width));
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_too_wide_keeps_its_columns() {
        let short = "D2.C2  MC/DC mask.  a.comp:23:9";
        let widest = columns(short);
        let folded = |room: usize| {
            folded(
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
        let row = |place: &str| Row {
            group: Vec::new(),
            parts: ["S6", "Statement", place, "text"].map(str::to_owned).into(),
        };
        let (kept, short) = short_parts(&[row("a.comp:1:1"), row(&"long/".repeat(20))], 60);
        assert_eq!((kept, short[0].as_str()), (2, "S6  Statement"));
        assert!(folded(20).iter().all(|line| columns(line) <= 20));
    }
}

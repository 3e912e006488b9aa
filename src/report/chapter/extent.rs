//! About how high blocks are on an A4 page, for what page 1 has room for.
//!
//! Promises: heights are in lines of running text, and rather too high than too low.
//! Does not cover: the setting itself (`report::pdf`), which knows the fonts.

use crate::report::document::{Block, Style, Table, Text};

/// Widths in ems of the text that they hold: of the project's name in the title, of a line in a notice, of a value behind its
/// label, of a table and its caption, and what a column takes beside its text.
pub const TITLE: f32 = 17.5;
const NOTICE: f32 = 44.5;
const VALUE: f32 = 38.0;
const TABLE: f32 = 52.5;
const CAPTION: f32 = 51.5;
const PADDING: f32 = 0.9;

/// Ems of a character, a little more than the fonts of the report have on average.
fn em(character: char, style: Style) -> f32 {
    match (style, character) {
        (Style::Code, _) => 0.5,
        (_, 'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | ' ' | '.' | ',' | ':' | ';' | '(' | ')' | '[' | ']' | '-') => {
            0.31
        }
        (_, 'm' | 'w' | 'A'..='Z' | '—' | '…' | '✗' | '✓' | '%') => 0.76,
        (_, character) if character.is_ascii() => 0.5,
        _ => 0.9,
    }
}

fn width(text: &Text) -> f32 {
    text.0.iter().map(|run| run.text.chars().map(|character| em(character, run.style)).sum::<f32>()).sum()
}

/// How many lines of this width a text takes, at least one.
pub fn lines(text: &Text, line: f32) -> f32 {
    (width(text) / line).ceil().max(1.0)
}

/// Height of a block; of one that page 1 has none of a whole page.
pub fn of_block(block: &Block) -> f32 {
    match block {
        Block::Pairs(pairs) => pairs.iter().map(|(_, value)| lines(value, VALUE) + 0.13).sum::<f32>() + 0.5,
        Block::Notice { title, lines: below, .. } => {
            below.iter().map(|line| lines(line, NOTICE) + 0.24).sum::<f32>() + 1.3 * lines(title, 0.75 * NOTICE) + 3.3
        }
        Block::Paragraph(text) => lines(text, NOTICE) + 0.5,
        Block::Table(table) => of_table(table),
        Block::Heading(_) | Block::List(_) | Block::Together(_) | Block::Source { .. } => f32::INFINITY,
    }
}

/// Height of a table with its caption.
pub fn of_table(table: &Table) -> f32 {
    let widths = column_widths(table);
    let height = |cells: &mut dyn Iterator<Item = &Text>| {
        let lines = cells.zip(&widths).map(|(cell, width)| lines(cell, *width)).fold(1.0, f32::max);
        0.9 * lines + 0.38
    };
    let rows: f32 = table.rows.iter().map(|row| height(&mut row.iter())).sum();
    let head = height(&mut table.columns.iter().map(|column| &column.title));
    let caption =
        table.caption.as_ref().map_or(0.0, |caption| lines(&Text::plain("Table 1. ").and(caption.clone()), CAPTION));
    rows + head + 0.95 * caption + 1.2
}

/// What each column gets: what it needs where all fit, else shares by the square root of that.
fn column_widths(table: &Table) -> Vec<f32> {
    let room = TABLE - PADDING * table.columns.len() as f32;
    let natural = |index: usize| {
        let cells = table.rows.iter().map(|row| width(&row[index]));
        cells.fold(width(&table.columns[index].title), f32::max)
    };
    let natural: Vec<f32> = (0..table.columns.len()).map(natural).collect();
    if natural.iter().sum::<f32>() <= room {
        return natural.into_iter().map(|width| width + 0.01).collect();
    }
    let at = |scale: f32| natural.iter().map(move |width| (scale * width.sqrt()).min(*width));
    let (mut low, mut high) = (0.0, TABLE);
    for _ in 0..20 {
        let middle = (low + high) / 2.0;
        if at(middle).sum::<f32>() > room { high = middle } else { low = middle }
    }
    at(low).map(|width| width.max(1.0) + 0.01).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::Align;

    #[test]
    fn what_does_not_fit_a_line_takes_several() {
        let text = |words: usize| Text::plain("several words ".repeat(words));
        assert_eq!((lines(&text(1), NOTICE), lines(&text(30), NOTICE)), (1.0, 5.0));
        let mut table = Table::new("A caption").column("A", Align::Left).column("B", Align::Left);
        table.row(vec![text(1), text(1)]);
        let low = of_table(&table);
        table.row(vec![text(1), text(30)]);
        assert!(of_table(&table) > low + 3.0, "{low}");
    }
}

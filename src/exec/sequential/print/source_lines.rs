//! Source lines in the printed form of the lowering.
//!
//! Knows: the text that OpSource and OpSourceContinued carry, and which lines are headers of loops.
//! Promises: branches that lie within one line are folded into that line; text is printed as the
//! module has it.
//! Does not cover: files whose text the module does not carry: their lines are printed by number
//! alone.

use crate::decode::source_text::source_texts;
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_spirv::module::{FunctionBlock, Id, Module};

/// A line of a source file; `file` is the id of the OpString with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SourceLine {
    pub file: Id,
    pub line: u32,
}

/// Which part of a line runs: a `for` line does so in three places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LinePart {
    Start,
    Condition,
    Whole,
    Update,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Statement {
    pub line: SourceLine,
    pub part: LinePart,
}

/// A piece of the body of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RegionItem {
    Statements(BTreeSet<Statement>),
    Open { word: &'static str, line: Option<SourceLine> },
    Or,
    Close,
}

/// Folds branches within one line into the line, and joins what then stands together.
pub(crate) fn collapse_items(items: Vec<(usize, RegionItem)>) -> Vec<(usize, RegionItem)> {
    let mut collapsed_items: Vec<(usize, RegionItem)> = Vec::new();
    for (depth, item) in items {
        match item {
            RegionItem::Statements(statements) if statements.is_empty() => {}
            RegionItem::Statements(statements) => {
                append_statements(&mut collapsed_items, depth, statements)
            }
            RegionItem::Open { .. } | RegionItem::Or => collapsed_items.push((depth, item)),
            RegionItem::Close => match selection_in_one_line(&collapsed_items) {
                Some((open_index, statements)) => {
                    collapsed_items.truncate(open_index);
                    append_statements(&mut collapsed_items, depth, statements);
                }
                None => collapsed_items.push((depth, RegionItem::Close)),
            },
        }
    }
    without_headers(collapsed_items)
}

/// Takes out statements that the header of a construct beside or around them shows already.
fn without_headers(items: Vec<(usize, RegionItem)>) -> Vec<(usize, RegionItem)> {
    let mut kept_items: Vec<(usize, RegionItem)> = Vec::new();
    let mut enclosing_lines: Vec<Option<SourceLine>> = Vec::new();
    for (depth, mut item) in items {
        match &mut item {
            RegionItem::Statements(statements) => {
                let is_shown = |statement: &Statement| {
                    statement.part != LinePart::Start
                        && enclosing_lines.contains(&Some(statement.line))
                };
                statements.retain(|statement| !is_shown(statement));
                if statements.is_empty() {
                    continue;
                }
            }
            RegionItem::Open { line, .. } => {
                enclosing_lines.push(*line);
                if let Some((_, RegionItem::Statements(statements_before))) = kept_items.last_mut()
                    && statements_before.last().map(|last_statement| last_statement.line) == *line
                {
                    statements_before.pop_last();
                    if statements_before.is_empty() {
                        kept_items.pop();
                    }
                }
            }
            RegionItem::Or => {}
            RegionItem::Close => {
                enclosing_lines.pop();
            }
        }
        kept_items.push((depth, item));
    }
    kept_items
}

/// The last selection that is still open, if all of it lies in its header's line: where it opens,
/// and its statements.
fn selection_in_one_line(items: &[(usize, RegionItem)]) -> Option<(usize, BTreeSet<Statement>)> {
    let mut statements = BTreeSet::new();
    for (item_index, (_, item)) in items.iter().enumerate().rev() {
        match item {
            RegionItem::Statements(item_statements) => {
                statements.extend(item_statements.iter().copied())
            }
            RegionItem::Or => {}
            RegionItem::Close => return None,
            RegionItem::Open { word, line } => {
                let is_in_line = |statement: &Statement| Some(statement.line) == *line;
                return (*word == "selection" && statements.iter().all(is_in_line))
                    .then_some((item_index, statements));
            }
        }
    }
    None
}

fn append_statements(
    items: &mut Vec<(usize, RegionItem)>,
    depth: usize,
    statements: BTreeSet<Statement>,
) {
    if let Some((last_depth, RegionItem::Statements(statements_before))) = items.last_mut()
        && *last_depth == depth
        && statements_before.last() <= statements.first()
    {
        statements_before.extend(statements);
    } else if !statements.is_empty() {
        items.push((depth, RegionItem::Statements(statements)));
    }
}

fn trimmed_lines(file_text: &str) -> Vec<String> {
    file_text.lines().map(|line| line.trim().to_owned()).collect()
}

/// The source text of a module.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceListing {
    text: BTreeMap<Id, Vec<String>>,
    loop_lines: BTreeSet<SourceLine>,
}

impl SourceListing {
    pub(crate) fn from_module(spirv_module: &Module) -> Self {
        let file_texts = source_texts(spirv_module);
        let mut listing = Self {
            text: file_texts
                .into_iter()
                .map(|(file, file_text)| (file, trimmed_lines(&file_text)))
                .collect(),
            loop_lines: BTreeSet::new(),
        };
        for block in spirv_module.functions.iter().flat_map(|function| &function.blocks) {
            if spirv_module
                .instructions_in(block.range)
                .iter()
                .any(|instruction| instruction.op == Op::LoopMerge)
            {
                listing.loop_lines.extend(listing.header_line(spirv_module, block));
            }
        }
        listing
    }

    pub(crate) fn is_loop(&self, line: SourceLine) -> bool {
        self.loop_lines.contains(&line)
    }

    /// The line of a construct by its first block: where a loop begins, where a selection branches.
    pub(crate) fn header_line(
        &self,
        spirv_module: &Module,
        block: &FunctionBlock,
    ) -> Option<SourceLine> {
        let is_loop = spirv_module
            .instructions_in(block.range)
            .iter()
            .any(|instruction| instruction.op == Op::LoopMerge);
        let mut source_lines = block.range.range().filter_map(|index| spirv_module.line_of(index));
        let line_record = if is_loop { source_lines.next() } else { source_lines.next_back() }?;
        Some(SourceLine { file: line_record.file, line: line_record.line })
    }

    fn text(&self, source_line: SourceLine) -> Option<&str> {
        let file_lines = self.text.get(&source_line.file)?;
        file_lines.get(source_line.line.checked_sub(1)? as usize).map(String::as_str)
    }

    /// `loop, line 43: for (...)`.
    pub(crate) fn construct_text(
        &self,
        construct_word: &str,
        header_line: Option<SourceLine>,
    ) -> String {
        let Some(header_line) = header_line else { return construct_word.to_owned() };
        match self.text(header_line).map(|header_text| header_text.trim_end_matches('{').trim_end())
        {
            Some(header_text) if !header_text.is_empty() => {
                format!("{construct_word}, line {}: {header_text}", header_line.line)
            }
            Some(_) | None => format!("{construct_word}, line {}", header_line.line),
        }
    }

    /// An item as it is printed, one text per line.
    pub(crate) fn printed_lines(&self, item: &RegionItem) -> Vec<String> {
        match item {
            RegionItem::Statements(statements) => {
                statements.iter().filter_map(|statement| self.statement_text(statement)).collect()
            }
            RegionItem::Open { word, line } => vec![self.opening_text(word, *line)],
            RegionItem::Or => vec!["} or {".to_owned()],
            RegionItem::Close => vec!["}".to_owned()],
        }
    }

    /// `  56  if (...) {`, or `selection {` where the text is not known.
    fn opening_text(&self, construct_word: &str, header_line: Option<SourceLine>) -> String {
        let numbered_text = header_line.and_then(|header_line| {
            Some((header_line.line, self.text(header_line)?.trim_end_matches('{').trim_end()))
        });
        match numbered_text {
            Some((line_number, numbered_text)) => format!("{line_number:>4}  {numbered_text} {{"),
            None => format!("{} {{", self.construct_text(construct_word, header_line)),
        }
    }

    /// ` 43 for (...) // update`; none where only a brace stands in the line (the end of a
    /// function).
    fn statement_text(&self, statement: &Statement) -> Option<String> {
        let line_number = statement.line.line;
        let part_note = match statement.part {
            LinePart::Whole => "",
            LinePart::Start => "  // start",
            LinePart::Condition => "  // condition",
            LinePart::Update => "  // update",
        };
        match self.text(statement.line) {
            Some("" | "{" | "}") => None,
            Some(line_text) => {
                let line_text = if part_note.is_empty() {
                    line_text
                } else {
                    line_text.trim_end_matches('{').trim_end()
                };
                Some(format!("{line_number:>4}  {line_text}{part_note}"))
            }
            None => Some(format!("line {line_number}{part_note}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(lines: &[u32]) -> RegionItem {
        let statement = |line: &u32| Statement {
            line: SourceLine { file: 1, line: *line },
            part: LinePart::Whole,
        };
        RegionItem::Statements(lines.iter().map(statement).collect())
    }

    fn open(line: u32) -> RegionItem {
        RegionItem::Open { word: "selection", line: Some(SourceLine { file: 1, line }) }
    }

    #[test]
    fn a_conditional_expression_stays_part_of_its_line() {
        let items = vec![
            (0, statements(&[44])),
            (0, open(46)),
            (1, statements(&[46])),
            (0, RegionItem::Or),
            (1, statements(&[46])),
            (0, RegionItem::Close),
            (0, statements(&[46, 47])),
        ];
        assert_eq!(collapse_items(items), [(0, statements(&[44, 46, 47]))]);
    }

    #[test]
    fn a_branch_with_lines_of_its_own_is_printed() {
        let items = vec![(0, open(56)), (1, statements(&[57])), (0, RegionItem::Close)];
        let mut with_header = items.clone();
        with_header.insert(0, (0, statements(&[56])));
        assert_eq!(
            (collapse_items(items.clone()), collapse_items(with_header)),
            (items.clone(), items)
        );
        let nested = vec![
            (0, open(1)),
            (1, open(2)),
            (2, statements(&[2])),
            (1, RegionItem::Close),
            (0, RegionItem::Close),
        ];
        assert_eq!(
            collapse_items(nested),
            [(0, open(1)), (1, statements(&[2])), (0, RegionItem::Close)]
        );
    }
}

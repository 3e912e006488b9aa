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
pub(crate) enum Part {
    Start,
    Condition,
    Whole,
    Update,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Statement {
    pub line: SourceLine,
    pub part: Part,
}

/// A piece of the body of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    Statements(BTreeSet<Statement>),
    Open { word: &'static str, line: Option<SourceLine> },
    Or,
    Close,
}

/// Folds branches within one line into the line, and joins what then stands together.
pub(crate) fn collapsed(items: Vec<(usize, Item)>) -> Vec<(usize, Item)> {
    let mut done: Vec<(usize, Item)> = Vec::new();
    for (depth, item) in items {
        match item {
            Item::Statements(statements) if statements.is_empty() => {}
            Item::Statements(statements) => append(&mut done, depth, statements),
            Item::Open { .. } | Item::Or => done.push((depth, item)),
            Item::Close => match within_one_line(&done) {
                Some((open, statements)) => {
                    done.truncate(open);
                    append(&mut done, depth, statements);
                }
                None => done.push((depth, Item::Close)),
            },
        }
    }
    without_headers(done)
}

/// Takes out statements that the header of a construct beside or around them shows already.
fn without_headers(items: Vec<(usize, Item)>) -> Vec<(usize, Item)> {
    let mut done: Vec<(usize, Item)> = Vec::new();
    let mut around: Vec<Option<SourceLine>> = Vec::new();
    for (depth, mut item) in items {
        match &mut item {
            Item::Statements(statements) => {
                let shown =
                    |one: &Statement| one.part != Part::Start && around.contains(&Some(one.line));
                statements.retain(|one| !shown(one));
                if statements.is_empty() {
                    continue;
                }
            }
            Item::Open { line, .. } => {
                around.push(*line);
                if let Some((_, Item::Statements(before))) = done.last_mut()
                    && before.last().map(|last| last.line) == *line
                {
                    before.pop_last();
                    if before.is_empty() {
                        done.pop();
                    }
                }
            }
            Item::Or => {}
            Item::Close => {
                around.pop();
            }
        }
        done.push((depth, item));
    }
    done
}

/// The last selection that is still open, if all of it lies in its header's line: where it opens,
/// and its statements.
fn within_one_line(items: &[(usize, Item)]) -> Option<(usize, BTreeSet<Statement>)> {
    let mut statements = BTreeSet::new();
    for (index, (_, item)) in items.iter().enumerate().rev() {
        match item {
            Item::Statements(found) => statements.extend(found.iter().copied()),
            Item::Or => {}
            Item::Close => return None,
            Item::Open { word, line } => {
                let here = |statement: &Statement| Some(statement.line) == *line;
                return (*word == "selection" && statements.iter().all(here))
                    .then_some((index, statements));
            }
        }
    }
    None
}

fn append(items: &mut Vec<(usize, Item)>, depth: usize, statements: BTreeSet<Statement>) {
    if let Some((last, Item::Statements(before))) = items.last_mut()
        && *last == depth
        && before.last() <= statements.first()
    {
        before.extend(statements);
    } else if !statements.is_empty() {
        items.push((depth, Item::Statements(statements)));
    }
}

/// The source text of a module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listing {
    text: BTreeMap<Id, Vec<String>>,
    loops: BTreeSet<SourceLine>,
}

impl Listing {
    pub(crate) fn of(module: &Module) -> Self {
        let text = source_texts(module);
        let lines = |text: String| text.lines().map(|line| line.trim().to_owned()).collect();
        let mut listing = Self {
            text: text.into_iter().map(|(file, text)| (file, lines(text))).collect(),
            loops: BTreeSet::new(),
        };
        for block in module.functions.iter().flat_map(|function| &function.blocks) {
            if module.instructions_in(block.range).iter().any(|one| one.op == Op::LoopMerge) {
                listing.loops.extend(listing.header(module, block));
            }
        }
        listing
    }

    pub(crate) fn is_loop(&self, line: SourceLine) -> bool {
        self.loops.contains(&line)
    }

    /// The line of a construct by its first block: where a loop begins, where a selection branches.
    pub(crate) fn header(&self, module: &Module, block: &FunctionBlock) -> Option<SourceLine> {
        let looping = module.instructions_in(block.range).iter().any(|one| one.op == Op::LoopMerge);
        let mut lines = block.range.range().filter_map(|index| module.line_of(index));
        let line = if looping { lines.next() } else { lines.next_back() }?;
        Some(SourceLine { file: line.file, line: line.line })
    }

    fn text(&self, line: SourceLine) -> Option<&str> {
        let lines = self.text.get(&line.file)?;
        lines.get(line.line.checked_sub(1)? as usize).map(String::as_str)
    }

    /// `loop, line 43: for (...)`.
    pub(crate) fn construct(&self, word: &str, line: Option<SourceLine>) -> String {
        let Some(line) = line else { return word.to_owned() };
        match self.text(line).map(|text| text.trim_end_matches('{').trim_end()) {
            Some(text) if !text.is_empty() => format!("{word}, line {}: {text}", line.line),
            Some(_) | None => format!("{word}, line {}", line.line),
        }
    }

    /// An item as it is printed, one text per line.
    pub(crate) fn lines(&self, item: &Item) -> Vec<String> {
        match item {
            Item::Statements(statements) => {
                statements.iter().filter_map(|one| self.statement(one)).collect()
            }
            Item::Open { word, line } => vec![self.opening(word, *line)],
            Item::Or => vec!["} or {".to_owned()],
            Item::Close => vec!["}".to_owned()],
        }
    }

    /// `  56  if (...) {`, or `selection {` where the text is not known.
    fn opening(&self, word: &str, line: Option<SourceLine>) -> String {
        let text = line
            .and_then(|line| Some((line.line, self.text(line)?.trim_end_matches('{').trim_end())));
        match text {
            Some((number, text)) => format!("{number:>4}  {text} {{"),
            None => format!("{} {{", self.construct(word, line)),
        }
    }

    /// ` 43 for (...) // update`; none where only a brace stands in the line (the end of a
    /// function).
    fn statement(&self, statement: &Statement) -> Option<String> {
        let number = statement.line.line;
        let part = match statement.part {
            Part::Whole => "",
            Part::Start => "  // start",
            Part::Condition => "  // condition",
            Part::Update => "  // update",
        };
        match self.text(statement.line) {
            Some("" | "{" | "}") => None,
            Some(text) => {
                let text =
                    if part.is_empty() { text } else { text.trim_end_matches('{').trim_end() };
                Some(format!("{number:>4}  {text}{part}"))
            }
            None => Some(format!("line {number}{part}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(lines: &[u32]) -> Item {
        let statement =
            |line: &u32| Statement { line: SourceLine { file: 1, line: *line }, part: Part::Whole };
        Item::Statements(lines.iter().map(statement).collect())
    }

    fn open(line: u32) -> Item {
        Item::Open { word: "selection", line: Some(SourceLine { file: 1, line }) }
    }

    #[test]
    fn a_conditional_expression_stays_part_of_its_line() {
        let items = vec![
            (0, statements(&[44])),
            (0, open(46)),
            (1, statements(&[46])),
            (0, Item::Or),
            (1, statements(&[46])),
            (0, Item::Close),
            (0, statements(&[46, 47])),
        ];
        assert_eq!(collapsed(items), [(0, statements(&[44, 46, 47]))]);
    }

    #[test]
    fn a_branch_with_lines_of_its_own_is_printed() {
        let items = vec![(0, open(56)), (1, statements(&[57])), (0, Item::Close)];
        let mut with_header = items.clone();
        with_header.insert(0, (0, statements(&[56])));
        assert_eq!((collapsed(items.clone()), collapsed(with_header)), (items.clone(), items));
        let nested = vec![
            (0, open(1)),
            (1, open(2)),
            (2, statements(&[2])),
            (1, Item::Close),
            (0, Item::Close),
        ];
        assert_eq!(collapsed(nested), [(0, open(1)), (1, statements(&[2])), (0, Item::Close)]);
    }
}

//! What llvm-cov says of the decisions of a program.
//!
//! Knows: the records of `llvm-cov export` (format 2.0.1: branches, MC/DC records), the executed
//! vectors that `llvm-cov show -show-mcdc` prints, and clang's warnings about decisions that it
//! cannot measure.
//! Promises: a record is taken for a decision only if it stands exactly where the decision was
//! written; clang's values of conditions with `!` before them are turned into those of the leaf.
//! What cannot be matched is not measured, with the reason.

use super::clang::Reports;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_glsl::cpp::{Extent, PlacedDecision, Program};

/// Why a constant is not measured.
pub const FOLDED: &str = "a constant, which clang folds";

/// What clang measured of one decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measured {
    /// MC/DC: per condition, and the vectors that were executed (`T`, `F`, `-`, and `C` for a
    /// folded constant).
    Vectors { conditions: Vec<Shown>, vectors: BTreeSet<String> },
    /// A single condition: how often its branch was taken with the leaf true and false.
    Branch { true_count: u64, false_count: u64 },
    /// Nothing, and why.
    Not { reason: String },
}

/// What clang says of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Covered,
    Uncovered,
    /// A constant: not measured.
    Folded,
}

/// All that was read of a program's coverage.
pub struct Coverage<'a> {
    program: &'a Program,
    lines: Vec<&'a str>,
    branches: BTreeMap<Extent, Branch>,
    /// By line and column of the region's start.
    regions: BTreeMap<Extent, Vec<bool>>,
    blocks: BTreeMap<Extent, Block>,
    /// Where branches start that clang folds.
    folded: BTreeSet<(u32, u32)>,
    /// Reasons for what clang did not measure, by line and column.
    warnings: BTreeMap<(u32, u32), String>,
}

#[derive(Debug, Clone, Copy)]
struct Branch {
    true_count: u64,
    false_count: u64,
}

/// What `llvm-cov show` prints of one decision.
#[derive(Debug, Clone, Default)]
struct Block {
    /// Where the conditions start.
    starts: Vec<(u32, u32)>,
    vectors: Vec<Vec<char>>,
    folded: BTreeSet<usize>,
}

impl<'a> Coverage<'a> {
    /// Reads what llvm-cov and the compiler said of a program.
    pub fn read(program: &'a Program, reports: &Reports, said: &str) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(&reports.json).map_err(|error| error.to_string())?;
        let file = &document["data"][0]["files"][0];
        let (mut branches, mut regions) = (BTreeMap::new(), BTreeMap::new());
        for row in file["branches"].as_array().into_iter().flatten() {
            let [extent, rest] = record(row).ok_or("a branch record that is not understood")?;
            let (Some(true_count), Some(false_count)) = (rest[0].as_u64(), rest[1].as_u64()) else {
                return Err("a branch record that is not understood".to_owned());
            };
            if let Some(extent) = one_line(extent) {
                branches.insert(extent, Branch { true_count, false_count });
            }
        }
        for row in file["mcdc_records"].as_array().into_iter().flatten() {
            let [extent, rest] = record(row).ok_or("an MC/DC record that is not understood")?;
            let covered = rest
                .last()
                .and_then(Value::as_array)
                .ok_or("an MC/DC record that is not understood")?;
            if let Some(extent) = one_line(extent) {
                regions.insert(
                    extent,
                    covered.iter().map(|shown| shown == &Value::Bool(true)).collect(),
                );
            }
        }
        let blocks = blocks(&reports.text)?;
        let lines = program.text.lines().collect();
        let folded = folded(&reports.text);
        Ok(Self { program, lines, branches, regions, blocks, folded, warnings: warnings(said) })
    }

    /// Warnings that are not about what MC/DC covers.
    pub fn other_warnings(said: &str) -> Vec<String> {
        let warned = said.lines().filter(|line| line.contains(": warning: "));
        warned.filter(|line| !line.contains("MC/DC")).map(str::to_owned).collect()
    }

    /// Every decision that the program holds.
    pub fn measured(&self) -> BTreeMap<vkcert_model::id::DecisionId, Measured> {
        self.program.decisions.iter().map(|placed| (placed.id, self.decision(placed))).collect()
    }

    fn decision(&self, placed: &PlacedDecision) -> Measured {
        let made =
            if placed.conditions.len() == 1 { self.branch(placed) } else { self.vectors(placed) };
        made.unwrap_or_else(|reason| Measured::Not { reason })
    }

    fn branch(&self, placed: &PlacedDecision) -> Result<Measured, String> {
        let leaf = placed.conditions[0];
        let (extent, branch) = self
            .branches
            .iter()
            .find(|(extent, _)| self.is_same(**extent, leaf))
            .ok_or("a value without a branch: clang counts branches alone")?;
        if self.folded.contains(&(extent.line, extent.start)) {
            return Err(FOLDED.to_owned());
        }
        let (true_count, false_count) = match self.negations(*extent, leaf) % 2 {
            0 => (branch.true_count, branch.false_count),
            _ => (branch.false_count, branch.true_count),
        };
        Ok(Measured::Branch { true_count, false_count })
    }

    fn vectors(&self, placed: &PlacedDecision) -> Result<Measured, String> {
        let whole = self.regions.iter().find(|(extent, _)| self.is_same(**extent, placed.root));
        let (extent, covered) = whole.ok_or_else(|| self.reason(placed))?;
        let block = self.blocks.get(extent).ok_or("llvm-cov shows no vectors of it")?;
        let count = placed.conditions.len();
        if covered.len() != count || block.starts.len() != count {
            let found = format!("clang counts {} conditions", covered.len());
            return Err(match self.holds_exclusive_or(placed) {
                true => format!("`^^` has no counterpart in C++: {found}"),
                false => found,
            });
        }
        let mut leaves = Vec::with_capacity(count);
        for start in &block.starts {
            leaves.push(self.leaf(*start, placed)?);
        }
        let mut conditions = vec![Shown::Uncovered; count];
        for (at, (leaf, _)) in leaves.iter().enumerate() {
            conditions[*leaf] = match (block.folded.contains(&at), covered[at]) {
                (true, _) => Shown::Folded,
                (false, true) => Shown::Covered,
                (false, false) => Shown::Uncovered,
            };
        }
        let vectors = block.vectors.iter().map(|row| {
            let mut values = vec!['?'; count];
            for (value, (leaf, negations)) in row.iter().zip(&leaves) {
                values[*leaf] = match (value, negations % 2) {
                    ('T', 1) => 'F',
                    ('F', 1) => 'T',
                    (value, _) => *value,
                };
            }
            values.into_iter().collect()
        });
        Ok(Measured::Vectors { vectors: vectors.collect(), conditions })
    }

    /// Which leaf a condition of clang's is, and how many `!` clang counts to it.
    fn leaf(&self, start: (u32, u32), placed: &PlacedDecision) -> Result<(usize, usize), String> {
        let found = self.branches.keys().find(|extent| (extent.line, extent.start) == start);
        let found = found.ok_or("a condition of clang's without a branch")?;
        let leaf = placed.conditions.iter().position(|leaf| self.is_same(*found, *leaf));
        let leaf = leaf.ok_or("a condition of clang's that is no condition of the decision")?;
        Ok((leaf, self.negations(*found, placed.conditions[leaf])))
    }

    /// Why there is no MC/DC record.
    fn reason(&self, placed: &PlacedDecision) -> String {
        let within = |(line, column): &(u32, u32)| {
            *line == placed.whole.line
                && *column + 1 >= placed.whole.start
                && *column <= placed.whole.end
        };
        let warned =
            self.warnings.iter().find(|(at, _)| within(at)).map(|(_, reason)| reason.clone());
        let surrounding = || {
            let inside = |(line, column): &(u32, u32)| {
                *line == placed.whole.line && *column < placed.whole.start
            };
            let nested = self.warnings.iter().rev().find(|(at, _)| inside(at));
            nested.map(|_| "nested in a decision that clang does not measure".to_owned())
        };
        let text = self.text(placed.whole);
        let exclusive = text
            .contains(") != (")
            .then(|| "`^^` has no counterpart in C++ (`!=` is one condition)".to_owned());
        warned
            .or(exclusive)
            .or_else(surrounding)
            .unwrap_or_else(|| "clang has no record of it".to_owned())
    }

    /// The emitter writes `^^` so, and nothing else of a decision with several conditions.
    fn holds_exclusive_or(&self, placed: &PlacedDecision) -> bool {
        self.text(placed.whole).contains(") != (")
    }

    fn text(&self, extent: Extent) -> &str {
        // What was not written has no place.
        let at = |number: u32| (number as usize).checked_sub(1);
        let piece = || self.lines.get(at(extent.line)?)?.get(at(extent.start)?..at(extent.end)?);
        piece().unwrap_or_default()
    }

    /// Whether two pieces of a line are the same expression, but for `!` and parentheses around all
    /// of it.
    fn is_same(&self, outer: Extent, inner: Extent) -> bool {
        let overlaps =
            outer.line == inner.line && outer.start < inner.end && inner.start < outer.end;
        overlaps && bare(self.text(outer)) == bare(self.text(inner))
    }

    /// The `!` that stand around the leaf in what clang calls the condition.
    fn negations(&self, outer: Extent, leaf: Extent) -> usize {
        let before = leaf.start.saturating_sub(outer.start) as usize;
        self.text(outer).get(..before).map_or(0, |text| text.matches('!').count())
    }
}

/// Without `!` and parentheses around all of it.
fn bare(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        if let Some(rest) = text.strip_prefix('!') {
            text = rest.trim_start();
        } else if encloses(text) {
            text = text[1..text.len() - 1].trim();
        } else {
            return text;
        }
    }
}

/// Whether the first character is a parenthesis that the last one closes.
fn encloses(text: &str) -> bool {
    let mut depth = 0_usize;
    if !text.starts_with('(') || !text.ends_with(')') {
        return false;
    }
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1 == text.len();
        }
    }
    false
}

/// The four numbers of a record's place, and what stands behind them.
fn record(row: &Value) -> Option<[&[Value]; 2]> {
    let row = row.as_array()?;
    (row.len() > 6).then(|| [&row[..4], &row[4..]])
}

/// Expressions of the kernel stand on one line; what does not is none.
fn one_line(place: &[Value]) -> Option<Extent> {
    let number = |at: usize| place.get(at)?.as_u64().and_then(|number| u32::try_from(number).ok());
    let (line, start, end_line, end) = (number(0)?, number(1)?, number(2)?, number(3)?);
    (line == end_line).then_some(Extent { line, start, end })
}

/// `(12:7)` somewhere in a line, all of them.
fn positions(line: &str) -> Vec<(u32, u32)> {
    let position = |text: &str| {
        let (line, column) = text.split_once(')')?.0.split_once(':')?;
        Some((line.parse().ok()?, column.parse().ok()?))
    };
    line.split('(').skip(1).filter_map(position).collect()
}

/// Where the branches of constant conditions start: `Branch (10:7): [Folded - Ignored]`.
fn folded(text: &str) -> BTreeSet<(u32, u32)> {
    let lines = text
        .lines()
        .filter(|line| line.contains("Branch (") && line.contains("[Folded - Ignored]"));
    lines.filter_map(|line| positions(line).first().copied()).collect()
}

/// The blocks of MC/DC in the text of `llvm-cov show`.
fn blocks(text: &str) -> Result<BTreeMap<Extent, Block>, String> {
    let mut blocks = BTreeMap::new();
    let mut current: Option<(Extent, Block)> = None;
    let mut conditions = 0;
    for line in text.lines() {
        if line.contains("|---> MC/DC Decision Region") {
            blocks.extend(current.take());
            let &[(line, start), (end_line, end)] = positions(line).as_slice() else {
                return Err(format!("a line of llvm-cov is not understood: `{line}`"));
            };
            if line == end_line {
                current = Some((Extent { line, start, end }, Block::default()));
            }
            conditions = 0;
            continue;
        }
        let Some((_, block)) = &mut current else { continue };
        let Some(said) = line.trim_start().strip_prefix('|').map(str::trim) else { continue };
        if let Some(count) = said.strip_prefix("Number of Conditions:") {
            conditions = count
                .trim()
                .parse()
                .map_err(|_| format!("a line of llvm-cov is not understood: `{line}`"))?;
        } else if said.starts_with("Condition C") && said.contains("-->") {
            block.starts.extend(positions(said).first());
        } else if let Some((before, rest)) = said.split_once('{')
            && before.trim().parse::<u32>().is_ok()
        {
            let row = vector(rest).filter(|row: &Vec<char>| row.len() == conditions);
            block.vectors.push(
                row.ok_or_else(|| format!("a vector of llvm-cov is not understood: `{line}`"))?,
            );
        } else if let Some((name, _)) = said.split_once("-Pair: constant folded") {
            let number: Option<usize> =
                name.strip_prefix('C').and_then(|number| number.parse().ok());
            block.folded.extend(number.map(|number| number - 1));
        }
    }
    blocks.extend(current);
    Ok(blocks)
}

/// `F,  -,  T  = F      }`
fn vector(text: &str) -> Option<Vec<char>> {
    let (values, _) = text.split_once('=')?;
    let value = |value: &str| match value.trim() {
        "T" => Some('T'),
        "F" => Some('F'),
        "-" => Some('-'),
        "C" => Some('C'),
        _ => None,
    };
    values.split(',').map(value).collect()
}

/// `program.cpp:7:14: warning: unsupported MC/DC boolean expression; contains ...`
fn warnings(said: &str) -> BTreeMap<(u32, u32), String> {
    let mut found = BTreeMap::new();
    for line in said.lines().filter(|line| line.contains("unsupported MC/DC boolean expression")) {
        let Some((place, message)) =
            line.split_once(": warning: unsupported MC/DC boolean expression; ")
        else {
            continue;
        };
        let mut numbers = place.rsplit(':');
        let (Some(column), Some(row)) = (numbers.next(), numbers.next()) else { continue };
        if let (Ok(row), Ok(column)) = (row.parse(), column.parse()) {
            let reason = message.split(". Expression").next().unwrap_or(message);
            found.insert((row, column), format!("clang: {reason}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::id::DecisionId;

    const SHOWN: &str = "\
  |---> MC/DC Decision Region (2:5) to (2:13)
  |
  |  Number of Conditions: 2
  |     Condition C1 --> (2:5)
  |     Condition C2 --> (2:11)
  |
  |  Executed MC/DC Test Vectors:
  |
  |     C1, C2    Result
  |  1 { F,  -  = F      }
  |  2 { T,  F  = F      }
  |
  |  C1-Pair: not covered
  |  C2-Pair: not covered
";

    fn program(text: &str, root: Extent, conditions: Vec<Extent>) -> Program {
        let placed = PlacedDecision { id: DecisionId(1), whole: root, root, conditions };
        Program { text: text.to_owned(), decisions: vec![placed] }
    }

    fn extent(start: u32, end: u32) -> Extent {
        Extent { line: 2, start, end }
    }

    #[test]
    fn values_of_negated_conditions_are_those_of_the_leaf() {
        let made = program("\nif (!(a) && b)", extent(5, 14), vec![extent(7, 8), extent(13, 14)]);
        let json = r#"{"data":[{"files":[{"branches":[[2,5,2,9,1,1,0,0,6],[2,13,2,14,0,1,0,0,6]],
            "mcdc_records":[[2,5,2,14,0,5,[true,false]]]}]}]}"#;
        let text = SHOWN.replace("(2:13)", "(2:14)").replace("(2:11)", "(2:13)");
        let reports = Reports { json: json.to_owned(), text };
        let coverage = Coverage::read(&made, &reports, "").unwrap();
        let Measured::Vectors { conditions, vectors } = &coverage.measured()[&DecisionId(1)] else {
            panic!()
        };
        assert_eq!(*conditions, [Shown::Covered, Shown::Uncovered]);
        assert_eq!(vectors.iter().map(String::as_str).collect::<Vec<_>>(), ["FF", "T-"]);
    }

    #[test]
    fn a_branch_of_a_negated_condition_is_turned_around() {
        let made = program("\nif (!a)", extent(5, 7), vec![extent(6, 7)]);
        let json = r#"{"data":[{"files":[{"branches":[[2,5,2,7,3,1,0,0,4]],"mcdc_records":[]}]}]}"#;
        let reports = Reports { json: json.to_owned(), text: String::new() };
        let coverage = Coverage::read(&made, &reports, "").unwrap();
        assert_eq!(
            coverage.measured()[&DecisionId(1)],
            Measured::Branch { true_count: 1, false_count: 3 }
        );
    }

    #[test]
    fn a_branch_that_clang_folds_is_not_measured() {
        let made = program("\nif (ON)", extent(5, 7), vec![extent(5, 7)]);
        let json = r#"{"data":[{"files":[{"branches":[[2,5,2,7,0,0,0,0,4]],"mcdc_records":[]}]}]}"#;
        let text = "  |  Branch (2:5): [Folded - Ignored]\n".to_owned();
        let coverage = Coverage::read(&made, &Reports { json: json.to_owned(), text }, "").unwrap();
        assert_eq!(
            coverage.measured()[&DecisionId(1)],
            Measured::Not { reason: FOLDED.to_owned() }
        );
    }

    #[test]
    fn what_clang_refuses_is_told_in_its_words() {
        let made = program("\nif (a && b)", extent(5, 11), vec![extent(5, 6), extent(10, 11)]);
        let json = r#"{"data":[{"files":[{"branches":[],"mcdc_records":[]}]}]}"#;
        let reports = Reports { json: json.to_owned(), text: String::new() };
        let said = "/x/program.cpp:2:5: warning: unsupported MC/DC boolean expression; contains an operation with a \
                    nested boolean expression. Expression will not be covered";
        let coverage = Coverage::read(&made, &reports, said).unwrap();
        let Measured::Not { reason } = &coverage.measured()[&DecisionId(1)] else { panic!() };
        assert_eq!(reason, "clang: contains an operation with a nested boolean expression");
        assert_eq!(Coverage::other_warnings(said), Vec::<String>::new());
    }
}

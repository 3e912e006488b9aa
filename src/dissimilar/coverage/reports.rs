//! What llvm-cov and clang print, line by line.
//!
//! Knows: the records of `llvm-cov export`, the blocks of `llvm-cov show -show-mcdc`, clang's
//! warnings about MC/DC.
//! Promises: a block that is not understood is an error; a record that spans several lines is left
//! out, as no expression of a kernel does.
//! Does not cover: which decision a record belongs to.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_glsl::cpp::LineExtent;

#[derive(Debug, Clone, Copy)]
pub(super) struct BranchCounts {
    pub true_count: u64,
    pub false_count: u64,
}

/// The MC/DC block that `llvm-cov show` prints for one decision.
#[derive(Debug, Clone, Default)]
pub(super) struct McdcBlock {
    /// Line and column where each condition starts.
    pub condition_starts: Vec<(u32, u32)>,
    pub executed_vectors: Vec<Vec<char>>,
    pub folded_conditions: BTreeSet<usize>,
}

/// The four numbers of a record's place, and what stands behind them.
pub(super) fn split_record(record_values: &Value) -> Option<[&[Value]; 2]> {
    let record_values = record_values.as_array()?;
    (record_values.len() > 6).then(|| [&record_values[..4], &record_values[4..]])
}

/// The extent of a record; none where it spans several lines, as no expression of a kernel does.
pub(super) fn extent_on_one_line(place_numbers: &[Value]) -> Option<LineExtent> {
    let number = |number_index: usize| {
        place_numbers.get(number_index)?.as_u64().and_then(|number| u32::try_from(number).ok())
    };
    let (line, start, end_line, end) = (number(0)?, number(1)?, number(2)?, number(3)?);
    (line == end_line).then_some(LineExtent { line, start, end })
}

/// All positions of the form `(12:7)` in a line.
fn parse_positions(report_line: &str) -> Vec<(u32, u32)> {
    let parse_position = |text: &str| {
        let (line, column) = text.split_once(')')?.0.split_once(':')?;
        Some((line.parse().ok()?, column.parse().ok()?))
    };
    report_line.split('(').skip(1).filter_map(parse_position).collect()
}

/// Where the branches of constant conditions start: `Branch (10:7): [Folded - Ignored]`.
pub(super) fn folded_branches(text: &str) -> BTreeSet<(u32, u32)> {
    let folded_lines = text
        .lines()
        .filter(|line| line.contains("Branch (") && line.contains("[Folded - Ignored]"));
    folded_lines.filter_map(|line| parse_positions(line).first().copied()).collect()
}

/// The blocks of MC/DC in the text of `llvm-cov show`.
pub(super) fn mcdc_blocks(text: &str) -> Result<BTreeMap<LineExtent, McdcBlock>, String> {
    let mut finished_blocks = BTreeMap::new();
    let mut current_block: Option<(LineExtent, McdcBlock)> = None;
    let mut condition_count = 0;
    for line in text.lines() {
        if line.contains("|---> MC/DC Decision Region") {
            finished_blocks.extend(current_block.take());
            let &[(line, start), (end_line, end)] = parse_positions(line).as_slice() else {
                return Err(format!("a line of llvm-cov is not understood: `{line}`"));
            };
            if line == end_line {
                current_block = Some((LineExtent { line, start, end }, McdcBlock::default()));
            }
            condition_count = 0;
            continue;
        }
        let Some((_, block)) = &mut current_block else { continue };
        let Some(block_line) = line.trim_start().strip_prefix('|').map(str::trim) else { continue };
        if let Some(count) = block_line.strip_prefix("Number of Conditions:") {
            condition_count = count
                .trim()
                .parse()
                .map_err(|_| format!("a line of llvm-cov is not understood: `{line}`"))?;
        } else if block_line.starts_with("Condition C") && block_line.contains("-->") {
            block.condition_starts.extend(parse_positions(block_line).first());
        } else if let Some((before, vector_text)) = block_line.split_once('{')
            && before.trim().parse::<u32>().is_ok()
        {
            let executed_vector = parse_vector(vector_text)
                .filter(|executed_vector: &Vec<char>| executed_vector.len() == condition_count);
            block.executed_vectors.push(
                executed_vector
                    .ok_or_else(|| format!("a vector of llvm-cov is not understood: `{line}`"))?,
            );
        } else if let Some((name, _)) = block_line.split_once("-Pair: constant folded") {
            let condition_number: Option<usize> =
                name.strip_prefix('C').and_then(|digits| digits.parse().ok());
            block
                .folded_conditions
                .extend(condition_number.map(|condition_number| condition_number - 1));
        }
    }
    finished_blocks.extend(current_block);
    Ok(finished_blocks)
}

/// `F,  -,  T  = F      }`
fn parse_vector(text: &str) -> Option<Vec<char>> {
    let (values, _) = text.split_once('=')?;
    let parse_value = |value: &str| match value.trim() {
        "T" => Some('T'),
        "F" => Some('F'),
        "-" => Some('-'),
        "C" => Some('C'),
        _ => None,
    };
    values.split(',').map(parse_value).collect()
}

/// `program.cpp:7:14: warning: unsupported MC/DC boolean expression; contains ...`
pub(super) fn mcdc_warnings(compiler_messages: &str) -> BTreeMap<(u32, u32), String> {
    let mut reasons_by_place = BTreeMap::new();
    for line in compiler_messages
        .lines()
        .filter(|line| line.contains("unsupported MC/DC boolean expression"))
    {
        let Some((place_text, message)) =
            line.split_once(": warning: unsupported MC/DC boolean expression; ")
        else {
            continue;
        };
        let mut numbers = place_text.rsplit(':');
        let (Some(column_number), Some(line_number)) = (numbers.next(), numbers.next()) else {
            continue;
        };
        if let (Ok(line_number), Ok(column_number)) = (line_number.parse(), column_number.parse()) {
            let reason = message.split(". Expression").next().unwrap_or(message);
            reasons_by_place.insert((line_number, column_number), format!("clang: {reason}"));
        }
    }
    reasons_by_place
}

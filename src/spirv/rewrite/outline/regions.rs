//! Stretches of a function that can become functions of their own.
//!
//! Promises: see `outline`: a stretch is taken only if every pair of a definition and a use lies
//! inside of it or outside of it.

use super::rows::ModuleRows;
use super::{Id, OutlineSizes};
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use vkcert_model::index_range::IndexRange;

/// Most constructs within each other (SPIR-V specification, section 2.17).
const NESTING: i64 = 1023;

/// Stretches of a function, each a range of rows, inner before outer; those of one level by place.
pub(super) fn find_regions(
    rows: &ModuleRows<'_>,
    function: IndexRange,
    sizes: OutlineSizes,
) -> Option<Vec<IndexRange>> {
    let open_sums = open_pairs(rows, function)?;
    let eligible_rows = cuttable_rows(rows, function);
    let mut found_regions: Vec<IndexRange> = Vec::new();
    // Where a stretch may begin: by the pairs that are open there, with the blocks before it that
    // are in no piece.
    let mut region_starts: Vec<(u128, usize, i64)> = Vec::new();
    let mut start_positions: BTreeMap<u128, usize> = BTreeMap::new();
    let mut block_count = 0_i64;
    for row in function {
        let row_in_function = row - function.start;
        if eligible_rows[row_in_function] {
            match start_positions
                .get(&open_sums[row_in_function])
                .map(|start_position| region_starts[*start_position])
            {
                Some((_, start, blocks_before))
                    if block_count - blocks_before >= sizes.piece as i64 =>
                {
                    found_regions.push((start..row).into());
                    let start_position = start_positions[&open_sums[row_in_function]];
                    for (open_sum, ..) in region_starts.drain(start_position..) {
                        start_positions.remove(&open_sum);
                    }
                    block_count = blocks_before;
                    start_positions.insert(open_sums[row_in_function], region_starts.len());
                    region_starts.push((open_sums[row_in_function], row, block_count));
                }
                Some(_) => {}
                None => {
                    start_positions.insert(open_sums[row_in_function], region_starts.len());
                    region_starts.push((open_sums[row_in_function], row, block_count));
                }
            }
        }
        if rows.rows[row].op == Op::Label {
            block_count += 1;
        }
    }
    Some(found_regions)
}

/// Before each row, the pairs of definition and use with one on either side, as a sum over numbers
/// of the pairs: equal sums are equal sets but for a chance of 2^-128, and then the pieces are not
/// valid.
fn open_pairs(rows: &ModuleRows<'_>, function: IndexRange) -> Option<Vec<u128>> {
    let mut definition_rows: BTreeMap<Id, usize> = BTreeMap::new();
    // The terminator of each block, by label.
    let mut block_ends: BTreeMap<Id, usize> = BTreeMap::new();
    let mut label = None;
    for row in function {
        let current_row = &rows.rows[row];
        if current_row.op == Op::Label {
            label = current_row.result;
        }
        if crate::module::is_terminator(current_row.op)
            && let Some(label) = label.take()
        {
            block_ends.insert(label, row);
        }
        if let Some(result) = current_row.result
            && !matches!(current_row.op, Op::Function | Op::FunctionParameter | Op::Variable)
            && definition_rows.insert(result, row).is_some()
        {
            return None;
        }
    }
    let row_count = function.len();
    let mut pair_toggles = vec![0_u128; row_count + 2];
    let mut nesting_changes = vec![0_i64; row_count + 2];
    let mut pair_number = 0_u64;
    for row in function {
        for (operand, (_, id)) in rows.uses(row).iter().enumerate() {
            let Some(definition) = definition_rows.get(id).copied() else { continue };
            // A phi names the block whose end leads to it: a cut before that end gives the block
            // another name.
            let names_parent = rows.rows[row].op == Op::Phi && operand % 2 == 1;
            let definition = match block_ends.get(id) {
                Some(end) if names_parent && *end < row => *end,
                _ => definition,
            };
            let (earlier_row, later_row) =
                (definition.min(row) - function.start, definition.max(row) - function.start);
            pair_number += 1;
            let pair_sum = pair_hash(pair_number);
            pair_toggles[earlier_row + 1] ^= pair_sum;
            pair_toggles[later_row + 1] ^= pair_sum;
            if operand == 0 && matches!(rows.rows[row].op, Op::SelectionMerge | Op::LoopMerge) {
                nesting_changes[earlier_row] += 1;
                nesting_changes[later_row] -= 1;
            }
        }
    }
    let mut nesting_depth = 0;
    if nesting_changes.iter().any(|change| {
        nesting_depth += change;
        nesting_depth > NESTING
    }) {
        return None;
    }
    let mut open_sum = 0;
    Some(
        pair_toggles[..row_count]
            .iter()
            .map(|toggle| {
                open_sum ^= toggle;
                open_sum
            })
            .collect(),
    )
}

/// 128 bits that depend on a number (the finaliser of splitmix64, twice).
fn pair_hash(pair_number: u64) -> u128 {
    u128::from(mixed_bits(pair_number)) << 64
        | u128::from(mixed_bits(pair_number ^ 0xA5A5_A5A5_0000_0000))
}

fn mixed_bits(seed: u64) -> u64 {
    let mut mixed_value = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed_value = (mixed_value ^ (mixed_value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed_value = (mixed_value ^ (mixed_value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed_value ^ (mixed_value >> 31)
}

/// Rows before which a function can be cut: inside a block, behind its phis and the function's
/// variables, not between a merge instruction and its branch.
fn cuttable_rows(rows: &ModuleRows<'_>, function: IndexRange) -> Vec<bool> {
    #[derive(PartialEq, Eq)]
    enum Part {
        Outside,
        Head,
        Body,
        Merge,
    }
    let last_variable_row =
        rows.rows[function.range()].iter().rposition(|row| row.op == Op::Variable);
    let first_cuttable = last_variable_row.map_or(0, |last_variable| last_variable + 1);
    let mut part = Part::Outside;
    let mut cuttable_rows = Vec::with_capacity(function.len());
    for row in function {
        let op = rows.rows[row].op;
        if part == Part::Head && !matches!(op, Op::Line | Op::NoLine | Op::Phi | Op::Variable) {
            part = Part::Body;
        }
        cuttable_rows.push(part == Part::Body && row - function.start >= first_cuttable);
        part = match op {
            Op::Label => Part::Head,
            Op::SelectionMerge | Op::LoopMerge => Part::Merge,
            op if crate::module::is_terminator(op) => Part::Outside,
            _ => part,
        };
    }
    cuttable_rows
}

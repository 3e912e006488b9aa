//! Stretches of a function that can become functions of their own.
//!
//! Promises: see `outline`: a stretch is taken only if every pair of a definition and a use lies
//! inside of it or outside of it.

use super::rows::Rows;
use super::{Id, Sizes};
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use std::ops::Range;

/// Most constructs within each other (SPIR-V specification, section 2.17).
pub(super) const NESTING: i64 = 1023;

/// Stretches of a function, each a range of rows, inner before outer; those of one level by place.
pub(super) fn regions(
    rows: &Rows<'_>,
    function: &Range<usize>,
    sizes: Sizes,
) -> Option<Vec<Range<usize>>> {
    let open = open_pairs(rows, function)?;
    let eligible = eligible(rows, function);
    let mut found: Vec<Range<usize>> = Vec::new();
    // Where a stretch may begin: by the pairs that are open there, with the blocks before it that
    // are in no piece.
    let mut starts: Vec<(u128, usize, i64)> = Vec::new();
    let mut places: BTreeMap<u128, usize> = BTreeMap::new();
    let mut blocks = 0_i64;
    for row in function.clone() {
        let at = row - function.start;
        if eligible[at] {
            match places.get(&open[at]).map(|place| starts[*place]) {
                Some((_, start, before)) if blocks - before >= sizes.piece as i64 => {
                    found.push(start..row);
                    let place = places[&open[at]];
                    for (open, ..) in starts.drain(place..) {
                        places.remove(&open);
                    }
                    blocks = before;
                    places.insert(open[at], starts.len());
                    starts.push((open[at], row, blocks));
                }
                Some(_) => {}
                None => {
                    places.insert(open[at], starts.len());
                    starts.push((open[at], row, blocks));
                }
            }
        }
        if rows.rows[row].op == Op::Label {
            blocks += 1;
        }
    }
    Some(found)
}

/// Before each row, the pairs of definition and use with one on either side, as a sum over numbers
/// of the pairs: equal sums are equal sets but for a chance of 2^-128, and then the pieces are not
/// valid.
pub(super) fn open_pairs(rows: &Rows<'_>, function: &Range<usize>) -> Option<Vec<u128>> {
    let mut defined: BTreeMap<Id, usize> = BTreeMap::new();
    // The terminator of each block, by label.
    let mut ends: BTreeMap<Id, usize> = BTreeMap::new();
    let mut label = None;
    for row in function.clone() {
        let here = &rows.rows[row];
        if here.op == Op::Label {
            label = here.result;
        }
        if crate::module::is_terminator(here.op)
            && let Some(label) = label.take()
        {
            ends.insert(label, row);
        }
        if let Some(result) = here.result
            && !matches!(here.op, Op::Function | Op::FunctionParameter | Op::Variable)
            && defined.insert(result, row).is_some()
        {
            return None;
        }
    }
    let length = function.len();
    let mut toggles = vec![0_u128; length + 2];
    let mut nesting = vec![0_i64; length + 2];
    let mut number = 0_u64;
    for row in function.clone() {
        for (operand, (_, id)) in rows.uses(row).iter().enumerate() {
            let Some(definition) = defined.get(id).copied() else { continue };
            // A phi names the block whose end leads to it: a cut before that end gives the block
            // another name.
            let parent = rows.rows[row].op == Op::Phi && operand % 2 == 1;
            let definition = match ends.get(id) {
                Some(end) if parent && *end < row => *end,
                _ => definition,
            };
            let (low, high) =
                (definition.min(row) - function.start, definition.max(row) - function.start);
            number += 1;
            let sign = signature(number);
            toggles[low + 1] ^= sign;
            toggles[high + 1] ^= sign;
            if operand == 0 && matches!(rows.rows[row].op, Op::SelectionMerge | Op::LoopMerge) {
                nesting[low] += 1;
                nesting[high] -= 1;
            }
        }
    }
    let mut depth = 0;
    if nesting.iter().any(|change| {
        depth += change;
        depth > NESTING
    }) {
        return None;
    }
    let mut open = 0;
    Some(
        toggles[..length]
            .iter()
            .map(|toggle| {
                open ^= toggle;
                open
            })
            .collect(),
    )
}

/// 128 bits that depend on a number (the finaliser of splitmix64, twice).
pub(super) fn signature(number: u64) -> u128 {
    let mix = |seed: u64| {
        let mut value = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    };
    u128::from(mix(number)) << 64 | u128::from(mix(number ^ 0xA5A5_A5A5_0000_0000))
}

/// Rows before which a function can be cut: inside a block, behind its phis and the function's
/// variables, not between a merge instruction and its branch.
pub(super) fn eligible(rows: &Rows<'_>, function: &Range<usize>) -> Vec<bool> {
    #[derive(PartialEq, Eq)]
    enum Part {
        Outside,
        Head,
        Body,
        Merge,
    }
    let variables = rows.rows[function.clone()].iter().rposition(|row| row.op == Op::Variable);
    let first = variables.map_or(0, |last| last + 1);
    let mut part = Part::Outside;
    let mut found = Vec::with_capacity(function.len());
    for row in function.clone() {
        let op = rows.rows[row].op;
        if part == Part::Head && !matches!(op, Op::Line | Op::NoLine | Op::Phi | Op::Variable) {
            part = Part::Body;
        }
        found.push(part == Part::Body && row - function.start >= first);
        part = match op {
            Op::Label => Part::Head,
            Op::SelectionMerge | Op::LoopMerge => Part::Merge,
            op if crate::module::is_terminator(op) => Part::Outside,
            _ => part,
        };
    }
    found
}

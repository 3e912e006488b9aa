//! Ranges of what is the same for the workgroup, by what the host says of its numbers.
//!
//! Knows: ranges of push constants and of the number of workgroups; sums, products, quotients,
//! remainders and shifts of these.
//! Promises: a number outside of its range is never computed in a dispatch of that host. What may
//! wrap, and what memory holds beside push constants, has all numbers.
//! Does not cover: how the numbers of a host depend on each other.

use super::KernelPairs;
use super::index_form::{IndexForm, SharedTerm};
use super::index_forms::{IndexForms, TermSource};
use super::sum::WordRange;
use crate::flow::pointer::PointerAnalysis;
use crate::module::Id;
use crate::types::Type;
use rspirv::spirv::{Op, StorageClass};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What a host says of its numbers, for all values of its parameters.
#[derive(Debug, Clone, Default)]
pub struct HostRanges {
    /// Numbers of 32 bits in the push constants, by the byte where they begin.
    pub push_constants: BTreeMap<u64, WordRange>,
    /// The number of workgroups in x, y and z; none where nothing is said.
    pub groups: [Option<WordRange>; 3],
}

/// The ranges of the terms of a kernel, in the order of their numbers.
pub(super) struct TermRanges<'a> {
    pointers: &'a PointerAnalysis<'a>,
    forms: &'a IndexForms<'a>,
    host: &'a HostRanges,
    ranges: RefCell<Vec<WordRange>>,
}

impl<'a> TermRanges<'a> {
    pub(super) fn new(kernel: &KernelPairs<'a>, host: &'a HostRanges) -> Self {
        let (pointers, forms) = (kernel.pointers, kernel.forms);
        Self { pointers, forms, host, ranges: RefCell::default() }
    }

    pub(super) fn of_term(&self, term: SharedTerm) -> WordRange {
        let mut ranges = self.ranges.borrow_mut();
        if ranges.len() <= term {
            for source in self.forms.sources().iter().skip(ranges.len()) {
                let range = self.of_source(source, &ranges);
                ranges.push(range);
            }
        }
        ranges.get(term).copied().unwrap_or(WordRange::ANY)
    }

    fn of_source(&self, source: &TermSource, known: &[WordRange]) -> WordRange {
        let groups = |axis: u32| self.host.groups.get(axis as usize).copied().flatten();
        match source {
            TermSource::WorkgroupId(axis) => groups(*axis).map_or(WordRange::ANY, |range| {
                WordRange { low: 0, high: range.high.saturating_sub(1) }
            }),
            TermSource::GroupCount(axis) => groups(*axis).unwrap_or(WordRange::ANY),
            TermSource::Memory(variable, indices) => {
                let byte = self.pushed_byte(*variable, indices);
                let range = byte.and_then(|byte| self.host.push_constants.get(&byte));
                range.copied().unwrap_or(WordRange::ANY)
            }
            TermSource::Operation(op, literals, forms) if literals.is_empty() => {
                let ranges: Vec<WordRange> =
                    forms.iter().map(|form| range_of_form(form, known)).collect();
                match ranges[..] {
                    [left, right] => range_of_operation(*op, left, right),
                    _ => WordRange::ANY,
                }
            }
            TermSource::Operation(..) => WordRange::ANY,
        }
    }

    /// Where in the push constants a number of 32 bits stands; none of other memory, and where an
    /// index is not the same in all of a dispatch.
    fn pushed_byte(&self, variable: Id, indices: &[IndexForm]) -> Option<u64> {
        let types = self.pointers.types;
        let definition = self.pointers.module.definition(variable)?;
        let (class, mut type_id) = types.variable_contents(definition)?;
        let mut byte = 0;
        for index in indices {
            let index = index.constant_value()?;
            let (inner, offset) = match types.get(type_id)? {
                Type::Structure { members, .. } => {
                    let member = members.get(index as usize)?;
                    (member.ty, u64::from(member.offset?))
                }
                Type::Array { element, stride, .. } => {
                    (*element, u64::from((*stride)?) * u64::from(index))
                }
                Type::Vector { component, .. } => {
                    let bytes = types.scalar_width(*component)? / 8;
                    (*component, u64::from(bytes) * u64::from(index))
                }
                _ => return None,
            };
            (type_id, byte) = (inner, byte + offset);
        }
        let is_word = self.forms.is_scalar_word(type_id);
        (class == StorageClass::PushConstant && is_word).then_some(byte)
    }
}

/// The numbers that a form can be, which is the same for the workgroup.
fn range_of_form(form: &IndexForm, known: &[WordRange]) -> WordRange {
    if !form.is_shared() || !form.is_exact() {
        return WordRange::ANY;
    }
    let constant = i128::from(form.constant as i32);
    let integers = form.terms().fold([constant; 2], |[low, high], (term, count)| {
        let range = known.get(term).copied().unwrap_or(WordRange::ANY);
        let count = i128::from(count as i32);
        let ends = [range.low, range.high].map(|end| i128::from(end) * count);
        [low + ends[0].min(ends[1]), high + ends[0].max(ends[1])]
    });
    match form.constant_value() {
        Some(value) => WordRange { low: value, high: value },
        None => WordRange::of_integers(integers),
    }
}

fn range_of_operation(op: Op, left: WordRange, right: WordRange) -> WordRange {
    let [least, greatest] = [(left.low, right.low), (left.high, right.high)];
    let are_natural = left.high <= i32::MAX as u32 && right.high <= i32::MAX as u32;
    match op {
        // With and without sign they are the same.
        Op::SDiv if are_natural => range_of_operation(Op::UDiv, left, right),
        Op::SRem | Op::SMod if are_natural => range_of_operation(Op::UMod, left, right),
        Op::IMul => {
            let product = |(left, right): (u32, u32)| i128::from(left) * i128::from(right);
            WordRange::of_integers([product(least), product(greatest)])
        }
        Op::UDiv if right.low > 0 => {
            WordRange { low: left.low / right.high, high: left.high / right.low }
        }
        Op::UMod if right.low > 0 => WordRange { low: 0, high: left.high.min(right.high - 1) },
        Op::ShiftRightLogical if right.high < 32 => {
            WordRange { low: left.low >> right.high, high: left.high >> right.low }
        }
        Op::ShiftLeftLogical if right.high < 32 => WordRange::of_integers([
            i128::from(left.low) << right.low,
            i128::from(left.high) << right.high,
        ]),
        Op::BitwiseAnd => WordRange { low: 0, high: left.high.min(right.high) },
        _ => WordRange::ANY,
    }
}

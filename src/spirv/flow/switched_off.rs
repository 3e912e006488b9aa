//! What a kernel can store where its specialization at hand switches off every store.
//!
//! Knows: the specialization constants that branches depend on, and the numbers that they are
//! compared with.
//! Promises: a place is told only if control can come to a store to it under some specialization
//! that was tried as a whole: conditions on one constant that exclude each other are never both
//! met.
//! Does not cover: specializations whose values are not near a number that stands in a condition;
//! more than so many of them.

use super::{Branches, Flow, FlowPlace, Live, flows, flows_past};
use crate::cfg::switch_targets;
use crate::constants::Constants;
use crate::fold::Folding;
use crate::interface::{ReflectError, compute_entry};
use crate::module::{Id, Instruction, Module};
use crate::types::{Type, Types};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::structure::Constness;

/// Specializations that are tried, at least and at most; between these as many as make so many
/// instructions together.
const TRIED: (usize, usize) = (64, 1024);
const INSTRUCTIONS: usize = 4_000_000;

/// What the entry point can store under other specializations than the one at hand. It depends on
/// no memory.
pub(super) fn switched_off(
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
) -> Result<Vec<Flow>, ReflectError> {
    let both_ways = flows_past(Branches::Unspecialized, module, entry, specialization)?;
    let possible: BTreeSet<FlowPlace> = both_ways.into_iter().map(|flow| flow.to).collect();
    let mut found: BTreeMap<FlowPlace, BTreeSet<u64>> = BTreeMap::new();
    if possible.is_empty() {
        return Ok(Vec::new());
    }
    let most = (INSTRUCTIONS / module.instructions.len().max(1)).clamp(TRIED.0, TRIED.1);
    for values in Choices::of(module, entry, specialization)?.combinations().take(most) {
        // What cannot be evaluated under these values is not stored under them.
        let of_these = flows(module, entry, &values).unwrap_or_default();
        for flow in of_these.into_iter().filter(|flow| possible.contains(&flow.to)) {
            found.entry(flow.to).or_default().extend(flow.members);
        }
        if found.len() == possible.len() {
            break;
        }
    }
    Ok(found.into_iter().map(|(to, members)| Flow { to, members, from: BTreeSet::new() }).collect())
}

/// Values that may decide branches.
struct Choices<'a> {
    given: &'a BTreeMap<u32, u64>,
    /// By specialization id: raw bits.
    values: BTreeMap<u32, Vec<u64>>,
}

impl<'a> Choices<'a> {
    fn of(
        module: &Module,
        entry: &str,
        given: &'a BTreeMap<u32, u64>,
    ) -> Result<Self, ReflectError> {
        let types = Types::of(module);
        let constants = Constants::evaluate(module, &types, given)?;
        let fixed = constants.unspecialized();
        let none = BTreeMap::new();
        let folding = |constants| Folding { module, types: &types, constants, stands_for: &none };
        let live = Live::of(&folding(&fixed), compute_entry(module, entry)?.function);
        let mut numbers: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        let ends = live.instructions().map(|index| &module.instructions[index]);
        for end in ends.filter(|end| matches!(end.op, Op::BranchConditional | Op::Switch)) {
            let folding = folding(&constants);
            let Some(condition) = end.id(0).filter(|condition| folding.value(*condition).is_some())
            else {
                continue;
            };
            let cases = switch_targets(end).into_iter().filter(|_| end.op == Op::Switch);
            let mut compared = numbers_of(module, &constants, condition);
            compared.extend(cases.filter_map(|(value, _)| value));
            for id in folding.specialization_ids(condition) {
                numbers.entry(id).or_default().extend(&compared);
            }
        }
        let mut choices = Self { given, values: BTreeMap::new() };
        for constant in
            module.instructions.iter().filter(|instruction| instruction.op.is_constant())
        {
            let Some(id) = constant.result.and_then(|id| module.specialization_id(id)) else {
                continue;
            };
            if let Some(numbers) = numbers.get(&id) {
                let own = constant.result.and_then(|id| constants.scalar(id));
                choices.values.insert(id, values_near(&types, constant, numbers, own));
            }
        }
        Ok(choices)
    }

    /// Whole specializations: constants alone first, then all of them together.
    fn combinations(&self) -> impl Iterator<Item = BTreeMap<u32, u64>> + '_ {
        let one = self.values.iter().flat_map(|(id, values)| {
            values.iter().map(move |value| BTreeMap::from([(*id, *value)]))
        });
        let count = self
            .values
            .values()
            .map(Vec::len)
            .try_fold(1_usize, usize::checked_mul)
            .unwrap_or(usize::MAX);
        let together = (0..count).map(|number| self.combination(number));
        one.chain(together).map(|chosen| {
            let mut all = self.given.clone();
            all.extend(chosen);
            all
        })
    }

    fn combination(&self, mut number: usize) -> BTreeMap<u32, u64> {
        let choose = |(id, values): (&u32, &Vec<u64>)| {
            let value = values[number % values.len()];
            number /= values.len();
            (*id, value)
        };
        self.values.iter().map(choose).collect()
    }
}

/// The numbers that a condition is made of.
fn numbers_of(module: &Module, constants: &Constants, condition: Id) -> BTreeSet<u64> {
    let (mut numbers, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![condition]);
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            numbers.extend(
                constants.scalar(id).filter(|_| constants.constness(id) == Constness::Constant),
            );
            open.extend(module.definition(id).into_iter().flat_map(Instruction::ids));
        }
    }
    numbers
}

/// These numbers and their neighbours as bits of a constant, each once; a Boolean has two values.
fn values_near(
    types: &Types,
    constant: &Instruction,
    numbers: &BTreeSet<u64>,
    own: Option<u64>,
) -> Vec<u64> {
    if matches!(constant.op, Op::SpecConstantTrue | Op::SpecConstantFalse) {
        return vec![0, 1];
    }
    let width = match constant.result_type.and_then(|ty| types.get(ty)) {
        Some(Type::Int { width, .. } | Type::Float { width }) => *width,
        _ => 64,
    };
    let mask = u64::MAX >> (64 - width.clamp(1, 64));
    let near = numbers
        .iter()
        .chain(&[0])
        .flat_map(|number| [*number, number.wrapping_add(1), number.wrapping_sub(1)]);
    let values: BTreeSet<u64> = near.chain(own).map(|value| value & mask).collect();
    values.into_iter().collect()
}

//! What a kernel can store where its specialization at hand switches off every store.
//!
//! Knows: the specialization constants that branches depend on, and the numbers that they are
//! compared with.
//! Promises: a place is told only if control can come to a store to it under some specialization
//! that was tried as a whole: conditions on one constant that exclude each other are never both
//! met.
//! Does not cover: specializations whose values are not near a number that stands in a condition;
//! more than so many of them.

use super::{DecidedBranches, FlowPlace, LiveCode, MemoryFlow, flows_past, kernel_flows};
use crate::cfg::switch_targets;
use crate::constants::Constants;
use crate::fold::ConstantFolding;
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
    entry_name: &str,
    specialization_values: &BTreeMap<u32, u64>,
) -> Result<Vec<MemoryFlow>, ReflectError> {
    let both_ways =
        flows_past(DecidedBranches::Unspecialized, module, entry_name, specialization_values)?;
    let possible_places: BTreeSet<FlowPlace> = both_ways.into_iter().map(|flow| flow.to).collect();
    let mut members_by_place: BTreeMap<FlowPlace, BTreeSet<u64>> = BTreeMap::new();
    if possible_places.is_empty() {
        return Ok(Vec::new());
    }
    let most_tried = (INSTRUCTIONS / module.instructions.len().max(1)).clamp(TRIED.0, TRIED.1);
    for tried_values in
        SpecializationChoices::near_conditions(module, entry_name, specialization_values)?
            .tried_specializations()
            .take(most_tried)
    {
        // What cannot be evaluated under these values is not stored under them.
        let flows_of_values = kernel_flows(module, entry_name, &tried_values).unwrap_or_default();
        for flow in flows_of_values.into_iter().filter(|flow| possible_places.contains(&flow.to)) {
            members_by_place.entry(flow.to).or_default().extend(flow.members);
        }
        if members_by_place.len() == possible_places.len() {
            break;
        }
    }
    Ok(members_by_place
        .into_iter()
        .map(|(to, members)| MemoryFlow { to, members, from: BTreeSet::new() })
        .collect())
}

/// Values that may decide branches.
struct SpecializationChoices<'a> {
    given: &'a BTreeMap<u32, u64>,
    /// By specialization id: raw bits.
    values: BTreeMap<u32, Vec<u64>>,
}

impl<'a> SpecializationChoices<'a> {
    fn near_conditions(
        module: &Module,
        entry_name: &str,
        given_values: &'a BTreeMap<u32, u64>,
    ) -> Result<Self, ReflectError> {
        let types = Types::of_module(module);
        let constants = Constants::evaluate(module, &types, given_values)?;
        let fixed_constants = constants.without_specialization();
        let no_aliases = BTreeMap::new();
        let fixed_folding = ConstantFolding {
            module,
            types: &types,
            constants: &fixed_constants,
            stands_for: &no_aliases,
        };
        let folding = ConstantFolding { constants: &constants, ..fixed_folding };
        let live =
            LiveCode::from_entry_point(&fixed_folding, compute_entry(module, entry_name)?.function);
        let mut compared_numbers: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        let terminators = live.live_instructions().map(|index| &module.instructions[index]);
        for terminator in terminators
            .filter(|terminator| matches!(terminator.op, Op::BranchConditional | Op::Switch))
        {
            let Some(condition) =
                terminator.id(0).filter(|condition| folding.constant_value(*condition).is_some())
            else {
                continue;
            };
            let cases =
                switch_targets(terminator).into_iter().filter(|_| terminator.op == Op::Switch);
            let mut numbers_of_condition = numbers_of(module, &constants, condition);
            numbers_of_condition.extend(cases.filter_map(|(value, _)| value));
            for spec_id in folding.specialization_ids(condition) {
                compared_numbers.entry(spec_id).or_default().extend(&numbers_of_condition);
            }
        }
        let mut choices = Self { given: given_values, values: BTreeMap::new() };
        for constant in
            module.instructions.iter().filter(|instruction| instruction.op.is_constant())
        {
            let Some(constant_id) = constant.result else { continue };
            let Some(spec_id) = module.specialization_id(constant_id) else { continue };
            if let Some(compared_numbers) = compared_numbers.get(&spec_id) {
                let own_value = constants.scalar_bits(constant_id);
                choices
                    .values
                    .insert(spec_id, values_near(&types, constant, compared_numbers, own_value));
            }
        }
        Ok(choices)
    }

    /// Whole specializations: constants alone first, then all of them together.
    fn tried_specializations(&self) -> impl Iterator<Item = BTreeMap<u32, u64>> + '_ {
        let single_choices = self.values.iter().flat_map(|(id, values)| {
            values.iter().map(move |value| BTreeMap::from([(*id, *value)]))
        });
        let combination_count = self
            .values
            .values()
            .map(Vec::len)
            .try_fold(1_usize, usize::checked_mul)
            .unwrap_or(usize::MAX);
        let joint_choices = (0..combination_count).map(|number| self.numbered_combination(number));
        single_choices.chain(joint_choices).map(|chosen_values| {
            let mut all_values = self.given.clone();
            all_values.extend(chosen_values);
            all_values
        })
    }

    fn numbered_combination(&self, mut number: usize) -> BTreeMap<u32, u64> {
        let mut chosen_values = BTreeMap::new();
        for (id, values) in &self.values {
            chosen_values.insert(*id, values[number % values.len()]);
            number /= values.len();
        }
        chosen_values
    }
}

/// The numbers that a condition is made of.
fn numbers_of(module: &Module, constants: &Constants, condition: Id) -> BTreeSet<u64> {
    let (mut constant_numbers, mut visited_ids, mut pending_ids) =
        (BTreeSet::new(), BTreeSet::new(), vec![condition]);
    while let Some(id) = pending_ids.pop() {
        if visited_ids.insert(id) {
            constant_numbers.extend(
                constants
                    .scalar_bits(id)
                    .filter(|_| constants.constness(id) == Constness::Constant),
            );
            pending_ids.extend(module.definition(id).into_iter().flat_map(Instruction::ids));
        }
    }
    constant_numbers
}

/// These numbers and their neighbours as bits of a constant, each once; a Boolean has two values.
fn values_near(
    types: &Types,
    constant: &Instruction,
    numbers: &BTreeSet<u64>,
    own_value: Option<u64>,
) -> Vec<u64> {
    if matches!(constant.op, Op::SpecConstantTrue | Op::SpecConstantFalse) {
        return vec![0, 1];
    }
    let bit_width = match constant.result_type.and_then(|ty| types.get(ty)) {
        Some(Type::Int { width: bit_width, .. } | Type::Float { width: bit_width }) => *bit_width,
        _ => 64,
    };
    let mask = u64::MAX >> (64 - bit_width.clamp(1, 64));
    let near_numbers = numbers
        .iter()
        .chain(&[0])
        .flat_map(|number| [*number, number.wrapping_add(1), number.wrapping_sub(1)]);
    let values: BTreeSet<u64> = near_numbers.chain(own_value).map(|value| value & mask).collect();
    values.into_iter().collect()
}

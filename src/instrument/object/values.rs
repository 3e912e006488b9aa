//! Which text a Boolean value is computed by, and which decisions that text belongs to.
//!
//! Knows: the instructions behind a value, down to comparisons, calls, loads and constants.
//! Promises: two values have a leaf in common only if one text, variable or specialization constant
//! computes both. A value that an optimiser may have made of a part of one of several decisions is
//! each one's.
//! Does not cover: what was stored in a variable that a value is loaded from.

use super::super::markers::MarkerCalls;
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::DecisionId;
use vkcert_model::place::Span;
use vkcert_model::structure::{Constness, KernelStructure, MarkerRole};
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::{Id, Instruction, Module};

/// What one part of a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueLeaf {
    /// The operation at a token of the re-lined text.
    Token(u32),
    /// A constant computed from specialization constants: their ids (SpecId), and the operation
    /// written out.
    Specialization { ids: BTreeSet<u32>, text: String },
    /// A variable or parameter, by its name.
    Variable(String),
    /// An instruction to which the compiler gives no place.
    Unplaced,
}

/// All parts of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueLeaves(BTreeSet<ValueLeaf>);

impl ValueLeaves {
    pub(super) fn token_leaves(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().filter_map(|leaf| match leaf {
            ValueLeaf::Token(token) => Some(*token),
            ValueLeaf::Specialization { .. } | ValueLeaf::Variable(_) | ValueLeaf::Unplaced => None,
        })
    }

    pub(super) fn first_token(&self) -> Option<u32> {
        self.token_leaves().next()
    }

    /// Whether nothing but constants of the text is behind the value.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has_unplaced(&self) -> bool {
        self.0.contains(&ValueLeaf::Unplaced)
    }
}

/// Reads leaves out of a module.
pub(super) struct LeafReader<'a> {
    pub module: &'a Module,
    constants: &'a Constants,
    /// The token of an instruction.
    token: &'a dyn Fn(usize) -> Option<u32>,
    /// What is stored in each variable as a whole.
    stores: BTreeMap<Id, Vec<Id>>,
    /// Where an optimiser may put a value in the place of what holds it.
    forwarding: Option<ValueForwarding>,
}

/// Where values go: into variables, as a whole or in parts, through parameters either way, and out
/// of functions.
struct ValueForwarding {
    /// By variable or parameter.
    stored: BTreeMap<Id, Vec<Id>>,
    /// What calls pass for each parameter, and the parameters that each variable is passed for.
    passed: BTreeMap<Id, Vec<Id>>,
    /// By function.
    returned: BTreeMap<Id, Vec<Id>>,
}

impl<'a> LeafReader<'a> {
    pub(super) fn for_module(
        module: &'a Module,
        constants: &'a Constants,
        token: &'a dyn Fn(usize) -> Option<u32>,
    ) -> Self {
        let mut stores: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
        for store in module.instructions.iter().filter(|instruction| instruction.op == Op::Store) {
            if let (Some(variable), Some(value)) = (store.id(0), store.id(1)) {
                stores.entry(variable).or_default().push(value);
            }
        }
        Self { module, constants, token, stores, forwarding: None }
    }

    /// The same for what an optimiser may make of the module.
    pub(super) fn of_rewritten(self) -> Self {
        Self { forwarding: Some(ValueForwarding::of_module(self.module)), ..self }
    }

    pub(super) fn leaves_of(&self, value_id: Id) -> ValueLeaves {
        let (mut found_leaves, mut visited_ids, mut pending_ids) =
            (BTreeSet::new(), BTreeSet::new(), vec![value_id]);
        while let Some(id) = pending_ids.pop() {
            if visited_ids.insert(id) {
                self.visit_value(id, &mut found_leaves, &mut pending_ids);
            }
        }
        ValueLeaves(found_leaves)
    }

    fn visit_value(
        &self,
        value_id: Id,
        found_leaves: &mut BTreeSet<ValueLeaf>,
        pending_ids: &mut Vec<Id>,
    ) {
        let Some(instruction_index) = self.module.definition_index(value_id) else {
            found_leaves.insert(ValueLeaf::Unplaced);
            return;
        };
        let definition = &self.module.instructions[instruction_index];
        match self.constants.constness(value_id) {
            Constness::Constant => return,
            Constness::Specialization => {
                let mut ids = BTreeSet::new();
                let written_text = self.written_out(value_id, &mut ids);
                found_leaves.insert(ValueLeaf::Specialization { ids, text: written_text });
                return;
            }
            Constness::Runtime => {}
        }
        if let Some(forwarding) = &self.forwarding {
            forwarding.go_on(self.module, value_id, definition, pending_ids);
        }
        let leaf_of_place = |instruction_index: usize| {
            (self.token)(instruction_index).map_or(ValueLeaf::Unplaced, ValueLeaf::Token)
        };
        match definition.op {
            Op::Undef | Op::ConstantNull => {}
            Op::Phi => pending_ids.extend(definition.ids().step_by(2)),
            Op::CopyObject => pending_ids.extend(definition.ids()),
            Op::LogicalNot
            | Op::LogicalAnd
            | Op::LogicalOr
            | Op::LogicalEqual
            | Op::LogicalNotEqual
            | Op::Select => {
                pending_ids.extend(definition.ids());
            }
            Op::Load => self.visit_load(definition, found_leaves, pending_ids),
            Op::FunctionParameter => {
                found_leaves.insert(ValueLeaf::Variable(self.debug_name(value_id)));
            }
            Op::Variable if self.forwarding.is_some() => {}
            _ => {
                found_leaves.insert(leaf_of_place(instruction_index));
            }
        }
    }

    /// A load has no line of its own: the compiler leaves that of the instruction before it
    /// standing. A variable without a name is the compiler's own: what is stored there is the
    /// value.
    fn visit_load(
        &self,
        load: &Instruction,
        found_leaves: &mut BTreeSet<ValueLeaf>,
        pending_ids: &mut Vec<Id>,
    ) {
        let pointer =
            load.id(0).and_then(|pointer| Some((pointer, self.module.definition_index(pointer)?)));
        let leaf = match pointer {
            Some((_, index))
                if matches!(
                    self.module.instructions[index].op,
                    Op::AccessChain | Op::InBoundsAccessChain
                ) =>
            {
                (self.token)(index).map_or(ValueLeaf::Unplaced, ValueLeaf::Token)
            }
            Some((variable, _)) => {
                match (
                    self.module.debug_name(variable).unwrap_or_default(),
                    self.stores.get(&variable),
                ) {
                    ("", Some(values)) => return pending_ids.extend(values),
                    _ => ValueLeaf::Variable(self.debug_name(variable)),
                }
            }
            None => ValueLeaf::Unplaced,
        };
        found_leaves.insert(leaf);
    }

    fn debug_name(&self, named_id: Id) -> String {
        self.module
            .debug_name(named_id)
            .filter(|name| !name.is_empty())
            .map_or_else(|| format!("%{named_id}"), str::to_owned)
    }

    /// A specialization constant by its id, an operation on some with its operands.
    fn written_out(&self, constant_id: Id, specialization_ids: &mut BTreeSet<u32>) -> String {
        let Some(definition) = self.module.definition(constant_id) else {
            return format!("%{constant_id}");
        };
        if self.constants.constness(constant_id) == Constness::Constant {
            return self
                .constants
                .value(constant_id)
                .map_or_else(|| format!("%{constant_id}"), |value| format!("{value:?}"));
        }
        if let Some(number) = self.module.specialization_id(constant_id) {
            specialization_ids.insert(number);
            return format!("constant {number}");
        }
        let operands: Vec<String> = definition
            .operands
            .iter()
            .map(|operand| match operand {
                Operand::IdRef(operand_id) => self.written_out(*operand_id, specialization_ids),
                other => format!("{other:?}"),
            })
            .collect();
        format!("{:?}({})", definition.op, operands.join(" "))
    }
}

impl ValueForwarding {
    fn of_module(module: &Module) -> Self {
        let mut forwarding =
            Self { stored: BTreeMap::new(), passed: BTreeMap::new(), returned: BTreeMap::new() };
        for instruction in &module.instructions {
            match instruction.op {
                Op::Store => {
                    if let (Some(pointer), Some(value)) = (instruction.id(0), instruction.id(1)) {
                        forwarding
                            .stored
                            .entry(pointer_root(module, pointer))
                            .or_default()
                            .push(value);
                    }
                }
                Op::Variable => {
                    let initial_value = instruction.result.zip(instruction.ids().next());
                    initial_value.into_iter().for_each(|(id, value)| {
                        forwarding.stored.entry(id).or_default().push(value)
                    });
                }
                Op::FunctionCall => forwarding.pass_arguments(module, instruction),
                _ => {}
            }
        }
        for function in &module.functions {
            let instructions = module.instructions_in(&function.range).iter();
            let returned_ids = instructions
                .filter(|i| i.op == Op::ReturnValue)
                .flat_map(Instruction::ids)
                .collect();
            forwarding.returned.insert(function.id, returned_ids);
        }
        forwarding
    }

    fn pass_arguments(&mut self, module: &Module, call: &Instruction) {
        let callee = call.id(0).and_then(|id| module.function_by_id(id));
        let instructions =
            callee.into_iter().flat_map(|callee| module.instructions_in(&callee.range));
        let parameters = instructions
            .filter(|instruction| instruction.op == Op::FunctionParameter)
            .filter_map(|instruction| instruction.result);
        for (parameter, argument) in parameters.zip(call.ids().skip(1)) {
            let argument = pointer_root(module, argument);
            self.passed.entry(parameter).or_default().push(argument);
            self.passed.entry(argument).or_default().push(parameter);
        }
    }

    /// What the value of an instruction may have been before it got there.
    fn go_on(
        &self,
        module: &Module,
        value_id: Id,
        definition: &Instruction,
        pending_ids: &mut Vec<Id>,
    ) {
        match definition.op {
            Op::Load => {
                pending_ids.extend(definition.id(0).map(|pointer| pointer_root(module, pointer)))
            }
            Op::Variable | Op::FunctionParameter => {
                pending_ids.extend(self.stored.get(&value_id).into_iter().flatten());
                pending_ids.extend(self.passed.get(&value_id).into_iter().flatten());
            }
            Op::FunctionCall => {
                let returned_ids = definition.id(0).and_then(|callee| self.returned.get(&callee));
                pending_ids.extend(returned_ids.into_iter().flatten());
            }
            Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::VectorShuffle
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic => pending_ids.extend(definition.ids()),
            _ => {}
        }
    }
}

/// The variable or parameter that a pointer leads into.
fn pointer_root(module: &Module, pointer: Id) -> Id {
    let mut pointer_root = pointer;
    while let Some(definition) = module.definition(pointer_root)
        && matches!(definition.op, Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject)
        && let Some(base) = definition.id(0)
    {
        pointer_root = base;
    }
    pointer_root
}

/// The decisions that a value may come of, each list ascending.
#[derive(Debug)]
pub(super) struct OwnersOfValue {
    /// Of the possible ones those that have no other within them; without an optimiser, whose text
    /// computes the value and little else.
    pub closest: Vec<DecisionId>,
    /// Those whose text has a part in it.
    pub possible: Vec<DecisionId>,
    /// Of the possible ones those whose conditions have no part that the value does not have.
    pub whole: Vec<DecisionId>,
}

/// Which decisions the value of a text belongs to, as the marked module has it.
pub(super) struct DecisionOwners {
    /// Every leaf of each decision's conditions.
    leaves: BTreeMap<DecisionId, BTreeSet<ValueLeaf>>,
    decisions: BTreeMap<ValueLeaf, BTreeSet<DecisionId>>,
    /// By the ids of the specialization constants in a leaf.
    by_ids: BTreeMap<BTreeSet<u32>, BTreeSet<DecisionId>>,
    /// Of a module that an optimiser has rewritten.
    rewritten: Option<RewrittenOwners>,
}

struct RewrittenOwners {
    /// The decisions that have each specialization constant in a condition.
    by_constant: BTreeMap<u32, BTreeSet<DecisionId>>,
    /// Where each decision stands in the text.
    spans: BTreeMap<DecisionId, Span>,
}

impl DecisionOwners {
    pub(super) fn of_decisions(keys: &LeafReader<'_>, marker_calls: &MarkerCalls) -> Self {
        let mut leaves_by_decision: BTreeMap<DecisionId, BTreeSet<ValueLeaf>> = BTreeMap::new();
        for call in marker_calls.calls.values() {
            let decision = match call.role {
                MarkerRole::Condition { decision, .. } | MarkerRole::Single { decision } => {
                    decision
                }
                MarkerRole::Decision { .. } | MarkerRole::Mark { .. } => continue,
            };
            if let Some(operand) = call.operand {
                leaves_by_decision
                    .entry(decision)
                    .or_default()
                    .extend(unmarked_leaves(keys, marker_calls, operand).0);
            }
        }
        let mut decisions_by_leaf: BTreeMap<ValueLeaf, BTreeSet<DecisionId>> = BTreeMap::new();
        let mut by_ids: BTreeMap<BTreeSet<u32>, BTreeSet<DecisionId>> = BTreeMap::new();
        for (decision, decision_leaves) in &leaves_by_decision {
            for leaf in decision_leaves {
                decisions_by_leaf.entry(leaf.clone()).or_default().insert(*decision);
                if let ValueLeaf::Specialization { ids, .. } = leaf {
                    by_ids.entry(ids.clone()).or_default().insert(*decision);
                }
            }
        }
        Self { leaves: leaves_by_decision, decisions: decisions_by_leaf, by_ids, rewritten: None }
    }

    /// The same for a module that an optimiser has rewritten.
    pub(super) fn of_rewritten(
        keys: &LeafReader<'_>,
        marker_calls: &MarkerCalls,
        kernel_structure: &KernelStructure,
    ) -> Self {
        let owners = Self::of_decisions(keys, marker_calls);
        let spans = kernel_structure
            .decisions
            .iter()
            .map(|decision| (decision.id, decision.span))
            .collect();
        let rewritten = RewrittenOwners { by_constant: by_constant(&owners.by_ids), spans };
        Self { rewritten: Some(rewritten), ..owners }
    }

    /// The decisions that all leaves belong to.
    pub(super) fn of_value(&self, leaves: &ValueLeaves) -> OwnersOfValue {
        let possible_decisions = self.common_owners(leaves);
        let leaf_counts: Vec<usize> = possible_decisions
            .iter()
            .map(|decision| self.leaves.get(decision).map_or(0, BTreeSet::len))
            .collect();
        let fewest_leaves = leaf_counts.iter().min().copied().unwrap_or(0);
        let of_size = |wanted_size: usize| {
            let decisions_of_size = possible_decisions
                .iter()
                .zip(&leaf_counts)
                .filter(|(_, size)| **size == wanted_size);
            decisions_of_size.map(|(decision, _)| *decision).collect()
        };
        let closest = match &self.rewritten {
            Some(rewritten) => rewritten.innermost_decisions(&possible_decisions),
            None => of_size(fewest_leaves),
        };
        OwnersOfValue { closest, whole: of_size(leaves.0.len()), possible: possible_decisions }
    }

    /// The decisions that all leaves belong to.
    fn common_owners(&self, leaves: &ValueLeaves) -> Vec<DecisionId> {
        let mut owner_sets = leaves.0.iter().map(|leaf| self.owners_of(leaf));
        let Some(Some(first_owners)) = owner_sets.next() else { return Vec::new() };
        let mut common_owners = first_owners.into_owned();
        for set in owner_sets {
            let Some(set) = set else { return Vec::new() };
            common_owners.retain(|decision| set.contains(decision));
        }
        common_owners.into_iter().collect()
    }

    /// All decisions that any leaf belongs to, and the leaves that belong to none.
    pub(super) fn of_each(&self, leaves: &ValueLeaves) -> (BTreeSet<DecisionId>, ValueLeaves) {
        let (mut owning_decisions, mut foreign_leaves) = (BTreeSet::new(), BTreeSet::new());
        for leaf in &leaves.0 {
            match self.owners_of(leaf) {
                Some(decisions) => owning_decisions.extend(decisions.iter()),
                None => drop(foreign_leaves.insert(leaf.clone())),
            }
        }
        (owning_decisions, ValueLeaves(foreign_leaves))
    }

    fn owners_of(&self, leaf: &ValueLeaf) -> Option<Cow<'_, BTreeSet<DecisionId>>> {
        match (leaf, &self.rewritten) {
            (ValueLeaf::Specialization { ids, .. }, Some(rewritten)) => {
                rewritten.of_constants(ids).map(Cow::Owned)
            }
            (ValueLeaf::Specialization { ids, .. }, None) => {
                self.decisions.get(leaf).or_else(|| self.by_ids.get(ids)).map(Cow::Borrowed)
            }
            (ValueLeaf::Token(_) | ValueLeaf::Variable(_) | ValueLeaf::Unplaced, _) => {
                self.decisions.get(leaf).map(Cow::Borrowed)
            }
        }
    }
}

/// The decisions that have each specialization constant in a condition.
fn by_constant(
    by_ids: &BTreeMap<BTreeSet<u32>, BTreeSet<DecisionId>>,
) -> BTreeMap<u32, BTreeSet<DecisionId>> {
    let mut decisions_by_constant: BTreeMap<u32, BTreeSet<DecisionId>> = BTreeMap::new();
    for (ids, decisions) in by_ids {
        ids.iter().for_each(|id| decisions_by_constant.entry(*id).or_default().extend(decisions));
    }
    decisions_by_constant
}

impl RewrittenOwners {
    /// Whose value an optimiser may have made of some constants: the decisions that have all of
    /// them; none: those that have any.
    fn of_constants(&self, specialization_ids: &BTreeSet<u32>) -> Option<BTreeSet<DecisionId>> {
        let decision_sets: Vec<&BTreeSet<DecisionId>> =
            specialization_ids.iter().filter_map(|id| self.by_constant.get(id)).collect();
        let has_all = |decision: &&DecisionId| {
            decision_sets.len() == specialization_ids.len()
                && decision_sets.iter().all(|set| set.contains(decision))
        };
        let having_all: BTreeSet<DecisionId> =
            decision_sets.first()?.iter().filter(has_all).copied().collect();
        Some(if having_all.is_empty() {
            decision_sets.into_iter().flatten().copied().collect()
        } else {
            having_all
        })
    }

    /// The decisions that have none of the others within them.
    fn innermost_decisions(&self, decisions: &[DecisionId]) -> Vec<DecisionId> {
        let spans: Vec<&Span> =
            decisions.iter().filter_map(|decision| self.spans.get(decision)).collect();
        let has_inner = |decision: &DecisionId| {
            self.spans.get(decision).is_some_and(|outer_span| {
                spans.iter().any(|inner_span| is_within(inner_span, outer_span))
            })
        };
        decisions.iter().copied().filter(|decision| !has_inner(decision)).collect()
    }
}

fn is_within(inner_span: &Span, outer_span: &Span) -> bool {
    inner_span != outer_span
        && inner_span.file == outer_span.file
        && outer_span.start <= inner_span.start
        && inner_span.end <= outer_span.end
}

/// The leaves of a marked value; markers of inner decisions are seen through.
fn unmarked_leaves(keys: &LeafReader<'_>, marker_calls: &MarkerCalls, value_id: Id) -> ValueLeaves {
    let (mut found_leaves, mut visited_ids, mut pending_ids) =
        (BTreeSet::new(), BTreeSet::new(), vec![value_id]);
    while let Some(id) = pending_ids.pop() {
        if !visited_ids.insert(id) {
            continue;
        }
        let marker =
            keys.module.definition_index(id).and_then(|index| marker_calls.calls.get(&index));
        match marker.and_then(|call| call.operand) {
            Some(operand) => pending_ids.push(operand),
            None => keys.visit_value(id, &mut found_leaves, &mut pending_ids),
        }
    }
    ValueLeaves(found_leaves)
}

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
pub(super) enum Leaf {
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
pub(super) struct Leaves(BTreeSet<Leaf>);

impl Leaves {
    pub(super) fn tokens(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().filter_map(|leaf| match leaf {
            Leaf::Token(token) => Some(*token),
            Leaf::Specialization { .. } | Leaf::Variable(_) | Leaf::Unplaced => None,
        })
    }

    pub(super) fn first_token(&self) -> Option<u32> {
        self.tokens().next()
    }

    /// Whether nothing but constants of the text is behind the value.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has_unplaced(&self) -> bool {
        self.0.contains(&Leaf::Unplaced)
    }
}

/// Reads leaves out of a module.
pub(super) struct Keys<'a> {
    pub module: &'a Module,
    constants: &'a Constants,
    /// The token of an instruction.
    token: &'a dyn Fn(usize) -> Option<u32>,
    /// What is stored in each variable as a whole.
    stores: BTreeMap<Id, Vec<Id>>,
    /// Where an optimiser may put a value in the place of what holds it.
    forwarding: Option<Forwarding>,
}

/// Where values go: into variables, as a whole or in parts, through parameters either way, and out
/// of functions.
struct Forwarding {
    /// By variable or parameter.
    stored: BTreeMap<Id, Vec<Id>>,
    /// What calls pass for each parameter, and the parameters that each variable is passed for.
    passed: BTreeMap<Id, Vec<Id>>,
    /// By function.
    returned: BTreeMap<Id, Vec<Id>>,
}

impl<'a> Keys<'a> {
    pub(super) fn of(
        module: &'a Module,
        constants: &'a Constants,
        token: &'a dyn Fn(usize) -> Option<u32>,
    ) -> Self {
        let mut stores: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
        for store in module.instructions.iter().filter(|i| i.op == Op::Store) {
            if let (Some(variable), Some(value)) = (store.id(0), store.id(1)) {
                stores.entry(variable).or_default().push(value);
            }
        }
        Self { module, constants, token, stores, forwarding: None }
    }

    /// The same for what an optimiser may make of the module.
    pub(super) fn of_rewritten(self) -> Self {
        Self { forwarding: Some(Forwarding::of(self.module)), ..self }
    }

    pub(super) fn leaves(&self, value: Id) -> Leaves {
        let (mut found, mut seen, mut pending) = (BTreeSet::new(), BTreeSet::new(), vec![value]);
        while let Some(id) = pending.pop() {
            if seen.insert(id) {
                self.visit(id, &mut found, &mut pending);
            }
        }
        Leaves(found)
    }

    fn visit(&self, id: Id, found: &mut BTreeSet<Leaf>, pending: &mut Vec<Id>) {
        let Some(index) = self.module.definition_index(id) else {
            found.insert(Leaf::Unplaced);
            return;
        };
        let definition = &self.module.instructions[index];
        match self.constants.constness(id) {
            Constness::Constant => return,
            Constness::Specialization => {
                let mut ids = BTreeSet::new();
                let text = self.written(id, &mut ids);
                found.insert(Leaf::Specialization { ids, text });
                return;
            }
            Constness::Runtime => {}
        }
        if let Some(forwarding) = &self.forwarding {
            forwarding.go_on(self.module, id, definition, pending);
        }
        let place = |index: usize| (self.token)(index).map_or(Leaf::Unplaced, Leaf::Token);
        match definition.op {
            Op::Undef | Op::ConstantNull => {}
            Op::Phi => pending.extend(definition.ids().step_by(2)),
            Op::CopyObject => pending.extend(definition.ids()),
            Op::LogicalNot
            | Op::LogicalAnd
            | Op::LogicalOr
            | Op::LogicalEqual
            | Op::LogicalNotEqual
            | Op::Select => {
                pending.extend(definition.ids());
            }
            Op::Load => self.loaded(definition, found, pending),
            Op::FunctionParameter => {
                found.insert(Leaf::Variable(self.name(id)));
            }
            Op::Variable if self.forwarding.is_some() => {}
            _ => {
                found.insert(place(index));
            }
        }
    }

    /// A load has no line of its own: the compiler leaves that of the instruction before it
    /// standing. A variable without a name is the compiler's own: what is stored there is the
    /// value.
    fn loaded(&self, load: &Instruction, found: &mut BTreeSet<Leaf>, pending: &mut Vec<Id>) {
        let pointer =
            load.id(0).and_then(|pointer| Some((pointer, self.module.definition_index(pointer)?)));
        let leaf = match pointer {
            Some((_, index))
                if matches!(
                    self.module.instructions[index].op,
                    Op::AccessChain | Op::InBoundsAccessChain
                ) =>
            {
                (self.token)(index).map_or(Leaf::Unplaced, Leaf::Token)
            }
            Some((variable, _)) => {
                match (
                    self.module.debug_name(variable).unwrap_or_default(),
                    self.stores.get(&variable),
                ) {
                    ("", Some(values)) => return pending.extend(values),
                    _ => Leaf::Variable(self.name(variable)),
                }
            }
            None => Leaf::Unplaced,
        };
        found.insert(leaf);
    }

    fn name(&self, id: Id) -> String {
        self.module
            .debug_name(id)
            .filter(|name| !name.is_empty())
            .map_or_else(|| format!("%{id}"), str::to_owned)
    }

    /// A specialization constant by its id, an operation on some with its operands.
    fn written(&self, id: Id, ids: &mut BTreeSet<u32>) -> String {
        let Some(definition) = self.module.definition(id) else { return format!("%{id}") };
        if self.constants.constness(id) == Constness::Constant {
            return self
                .constants
                .value(id)
                .map_or_else(|| format!("%{id}"), |value| format!("{value:?}"));
        }
        if let Some(number) = self.module.specialization_id(id) {
            ids.insert(number);
            return format!("constant {number}");
        }
        let operands: Vec<String> = definition
            .operands
            .iter()
            .map(|operand| match operand {
                Operand::IdRef(inner) => self.written(*inner, ids),
                other => format!("{other:?}"),
            })
            .collect();
        format!("{:?}({})", definition.op, operands.join(" "))
    }
}

impl Forwarding {
    fn of(module: &Module) -> Self {
        let mut found =
            Self { stored: BTreeMap::new(), passed: BTreeMap::new(), returned: BTreeMap::new() };
        for instruction in &module.instructions {
            match instruction.op {
                Op::Store => {
                    if let (Some(pointer), Some(value)) = (instruction.id(0), instruction.id(1)) {
                        found.stored.entry(root(module, pointer)).or_default().push(value);
                    }
                }
                Op::Variable => {
                    let initial = instruction.result.zip(instruction.ids().next());
                    initial
                        .into_iter()
                        .for_each(|(id, value)| found.stored.entry(id).or_default().push(value));
                }
                Op::FunctionCall => found.pass(module, instruction),
                _ => {}
            }
        }
        for function in &module.functions {
            let instructions = module.instructions[function.range.clone()].iter();
            let returned = instructions
                .filter(|i| i.op == Op::ReturnValue)
                .flat_map(Instruction::ids)
                .collect();
            found.returned.insert(function.id, returned);
        }
        found
    }

    fn pass(&mut self, module: &Module, call: &Instruction) {
        let callee = call.id(0).and_then(|id| module.function_by_id(id));
        let instructions =
            callee.into_iter().flat_map(|callee| &module.instructions[callee.range.clone()]);
        let parameters =
            instructions.filter(|i| i.op == Op::FunctionParameter).filter_map(|i| i.result);
        for (parameter, argument) in parameters.zip(call.ids().skip(1)) {
            let argument = root(module, argument);
            self.passed.entry(parameter).or_default().push(argument);
            self.passed.entry(argument).or_default().push(parameter);
        }
    }

    /// What the value of an instruction may have been before it got there.
    fn go_on(&self, module: &Module, id: Id, definition: &Instruction, pending: &mut Vec<Id>) {
        match definition.op {
            Op::Load => pending.extend(definition.id(0).map(|pointer| root(module, pointer))),
            Op::Variable | Op::FunctionParameter => {
                pending.extend(self.stored.get(&id).into_iter().flatten());
                pending.extend(self.passed.get(&id).into_iter().flatten());
            }
            Op::FunctionCall => {
                let returned = definition.id(0).and_then(|callee| self.returned.get(&callee));
                pending.extend(returned.into_iter().flatten());
            }
            Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::VectorShuffle
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic => pending.extend(definition.ids()),
            _ => {}
        }
    }
}

/// The variable or parameter that a pointer leads into.
fn root(module: &Module, pointer: Id) -> Id {
    let mut root = pointer;
    while let Some(definition) = module.definition(root)
        && matches!(definition.op, Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject)
        && let Some(base) = definition.id(0)
    {
        root = base;
    }
    root
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
pub(super) struct Owners {
    /// Every leaf of each decision's conditions.
    leaves: BTreeMap<DecisionId, BTreeSet<Leaf>>,
    decisions: BTreeMap<Leaf, BTreeSet<DecisionId>>,
    /// By the ids of the specialization constants in a leaf.
    by_ids: BTreeMap<BTreeSet<u32>, BTreeSet<DecisionId>>,
    /// Of a module that an optimiser has rewritten.
    rewritten: Option<Rewritten>,
}

struct Rewritten {
    /// The decisions that have each specialization constant in a condition.
    by_constant: BTreeMap<u32, BTreeSet<DecisionId>>,
    /// Where each decision stands in the text.
    spans: BTreeMap<DecisionId, Span>,
}

impl Owners {
    pub(super) fn of(keys: &Keys<'_>, calls: &MarkerCalls) -> Self {
        let mut leaves: BTreeMap<DecisionId, BTreeSet<Leaf>> = BTreeMap::new();
        for call in calls.calls.values() {
            let decision = match call.role {
                MarkerRole::Condition { decision, .. } | MarkerRole::Single { decision } => {
                    decision
                }
                MarkerRole::Decision { .. } | MarkerRole::Mark { .. } => continue,
            };
            if let Some(operand) = call.operand {
                leaves.entry(decision).or_default().extend(unmarked(keys, calls, operand).0);
            }
        }
        let mut decisions: BTreeMap<Leaf, BTreeSet<DecisionId>> = BTreeMap::new();
        let mut by_ids: BTreeMap<BTreeSet<u32>, BTreeSet<DecisionId>> = BTreeMap::new();
        for (decision, found) in &leaves {
            for leaf in found {
                decisions.entry(leaf.clone()).or_default().insert(*decision);
                if let Leaf::Specialization { ids, .. } = leaf {
                    by_ids.entry(ids.clone()).or_default().insert(*decision);
                }
            }
        }
        Self { leaves, decisions, by_ids, rewritten: None }
    }

    /// The same for a module that an optimiser has rewritten.
    pub(super) fn of_rewritten(
        keys: &Keys<'_>,
        calls: &MarkerCalls,
        structure: &KernelStructure,
    ) -> Self {
        let owners = Self::of(keys, calls);
        let spans =
            structure.decisions.iter().map(|decision| (decision.id, decision.span)).collect();
        let rewritten = Rewritten { by_constant: by_constant(&owners.by_ids), spans };
        Self { rewritten: Some(rewritten), ..owners }
    }

    /// The decisions that all leaves belong to.
    pub(super) fn of_value(&self, leaves: &Leaves) -> OwnersOfValue {
        let possible = self.common(leaves);
        let sizes: Vec<usize> = possible
            .iter()
            .map(|decision| self.leaves.get(decision).map_or(0, BTreeSet::len))
            .collect();
        let fewest = sizes.iter().min().copied().unwrap_or(0);
        let of_size = |wanted: usize| {
            let sized = possible.iter().zip(&sizes).filter(|(_, size)| **size == wanted);
            sized.map(|(decision, _)| *decision).collect()
        };
        let closest = match &self.rewritten {
            Some(rewritten) => rewritten.innermost(&possible),
            None => of_size(fewest),
        };
        OwnersOfValue { closest, whole: of_size(leaves.0.len()), possible }
    }

    /// The decisions that all leaves belong to.
    fn common(&self, leaves: &Leaves) -> Vec<DecisionId> {
        let mut sets = leaves.0.iter().map(|leaf| self.owners(leaf));
        let Some(Some(first)) = sets.next() else { return Vec::new() };
        let mut common = first.into_owned();
        for set in sets {
            let Some(set) = set else { return Vec::new() };
            common.retain(|decision| set.contains(decision));
        }
        common.into_iter().collect()
    }

    /// All decisions that any leaf belongs to, and the leaves that belong to none.
    pub(super) fn of_each(&self, leaves: &Leaves) -> (BTreeSet<DecisionId>, Leaves) {
        let (mut owned, mut foreign) = (BTreeSet::new(), BTreeSet::new());
        for leaf in &leaves.0 {
            match self.owners(leaf) {
                Some(decisions) => owned.extend(decisions.iter()),
                None => drop(foreign.insert(leaf.clone())),
            }
        }
        (owned, Leaves(foreign))
    }

    fn owners(&self, leaf: &Leaf) -> Option<Cow<'_, BTreeSet<DecisionId>>> {
        match (leaf, &self.rewritten) {
            (Leaf::Specialization { ids, .. }, Some(rewritten)) => {
                rewritten.of_constants(ids).map(Cow::Owned)
            }
            (Leaf::Specialization { ids, .. }, None) => {
                self.decisions.get(leaf).or_else(|| self.by_ids.get(ids)).map(Cow::Borrowed)
            }
            (Leaf::Token(_) | Leaf::Variable(_) | Leaf::Unplaced, _) => {
                self.decisions.get(leaf).map(Cow::Borrowed)
            }
        }
    }
}

/// The decisions that have each specialization constant in a condition.
fn by_constant(
    by_ids: &BTreeMap<BTreeSet<u32>, BTreeSet<DecisionId>>,
) -> BTreeMap<u32, BTreeSet<DecisionId>> {
    let mut found: BTreeMap<u32, BTreeSet<DecisionId>> = BTreeMap::new();
    for (ids, decisions) in by_ids {
        ids.iter().for_each(|id| found.entry(*id).or_default().extend(decisions));
    }
    found
}

impl Rewritten {
    /// Whose value an optimiser may have made of some constants: the decisions that have all of
    /// them; none: those that have any.
    fn of_constants(&self, ids: &BTreeSet<u32>) -> Option<BTreeSet<DecisionId>> {
        let sets: Vec<&BTreeSet<DecisionId>> =
            ids.iter().filter_map(|id| self.by_constant.get(id)).collect();
        let has_all = |decision: &&DecisionId| {
            sets.len() == ids.len() && sets.iter().all(|set| set.contains(decision))
        };
        let all: BTreeSet<DecisionId> = sets.first()?.iter().filter(has_all).copied().collect();
        Some(if all.is_empty() { sets.into_iter().flatten().copied().collect() } else { all })
    }

    /// The decisions that have none of the others within them.
    fn innermost(&self, decisions: &[DecisionId]) -> Vec<DecisionId> {
        let spans: Vec<&Span> =
            decisions.iter().filter_map(|decision| self.spans.get(decision)).collect();
        let has_inner = |decision: &DecisionId| {
            self.spans
                .get(decision)
                .is_some_and(|outer| spans.iter().any(|inner| is_within(inner, outer)))
        };
        decisions.iter().copied().filter(|decision| !has_inner(decision)).collect()
    }
}

fn is_within(inner: &Span, outer: &Span) -> bool {
    inner != outer
        && inner.file == outer.file
        && outer.start <= inner.start
        && inner.end <= outer.end
}

/// The leaves of a marked value; markers of inner decisions are seen through.
fn unmarked(keys: &Keys<'_>, calls: &MarkerCalls, value: Id) -> Leaves {
    let (mut found, mut seen, mut pending) = (BTreeSet::new(), BTreeSet::new(), vec![value]);
    while let Some(id) = pending.pop() {
        if !seen.insert(id) {
            continue;
        }
        let marker = keys.module.definition_index(id).and_then(|index| calls.calls.get(&index));
        match marker.and_then(|call| call.operand) {
            Some(operand) => pending.push(operand),
            None => keys.visit(id, &mut found, &mut pending),
        }
    }
    Leaves(found)
}

//! Which text a Boolean value is computed by (`owners`: which decisions that text belongs to).
//!
//! Knows: the instructions behind a value, down to comparisons, calls, loads and constants.
//! Promises: two values have a leaf in common only if one text, variable or specialization constant
//! computes both.
//! Does not cover: what was stored in a variable that a value is loaded from.

use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::structure::Constness;
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
pub(super) struct ValueLeaves(pub(super) BTreeSet<ValueLeaf>);

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

    pub(super) fn visit_value(
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
                found_leaves.insert(self.token_leaf(instruction_index));
            }
        }
    }

    fn token_leaf(&self, instruction_index: usize) -> ValueLeaf {
        (self.token)(instruction_index).map_or(ValueLeaf::Unplaced, ValueLeaf::Token)
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
                self.token_leaf(index)
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
            let instructions = module.instructions_in(function.range).iter();
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
            callee.into_iter().flat_map(|callee| module.instructions_in(callee.range));
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

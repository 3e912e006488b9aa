//! The way through functions and blocks.
//!
//! Knows: control flow, calls, what branches tell.
//! Promises: a block is entered with what all ways to it have in common, after all of them are
//! known; a function is walked anew for each call, with what the call hands over.
//! Does not cover: loops (`loops`), single instructions (`step`).

use super::Walk;
use super::atom::Origin;
use super::condition::Condition;
use super::polynomial::Polynomial;
use super::state::{Arrival, State, WordType};
use super::value::{Root, Value, VariableKey};
use crate::cfg::{ControlFlowGraph, NaturalLoop, switch_targets};
use crate::module::{Function, Id};
use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Calls and loops within each other.
const DEEPEST_NESTING: usize = 48;

/// A function's blocks in an order in which what comes before stands before.
pub(super) struct FunctionShape {
    pub graph: ControlFlowGraph,
    /// By block.
    pub order: Vec<usize>,
    /// By header.
    pub loops: BTreeMap<usize, NaturalLoop>,
}

impl FunctionShape {
    fn of_graph(graph: ControlFlowGraph) -> Self {
        let loops = graph.natural_loops().into_iter().map(|natural| (natural.header, natural));
        Self { order: reverse_postorder(&graph), loops: loops.collect(), graph }
    }
}

/// Position of each block; blocks that nothing leads to come last.
fn reverse_postorder(graph: &ControlFlowGraph) -> Vec<usize> {
    let mut is_visited = vec![false; graph.blocks.len()];
    let mut postorder = Vec::new();
    let mut open_blocks: Vec<(usize, usize)> = Vec::new();
    if !graph.blocks.is_empty() {
        is_visited[0] = true;
        open_blocks.push((0, 0));
    }
    while let Some((block, next)) = open_blocks.pop() {
        match graph.blocks[block].successors.get(next) {
            Some(successor) => {
                open_blocks.push((block, next + 1));
                if !std::mem::replace(&mut is_visited[*successor], true) {
                    open_blocks.push((*successor, 0));
                }
            }
            None => postorder.push(block),
        }
    }
    let mut positions = vec![usize::MAX; graph.blocks.len()];
    for (position, block) in postorder.into_iter().rev().enumerate() {
        positions[block] = position;
    }
    positions
}

/// A call of a function while it is walked.
pub(super) struct Frame {
    pub shape: Rc<FunctionShape>,
    pub values: HashMap<Id, Value>,
    /// States at the returns, with what is returned.
    returns: Vec<(State, Option<Value>)>,
    variables: Vec<VariableKey>,
    pub nesting: usize,
}

impl Frame {
    pub(super) fn return_count(&self) -> usize {
        self.returns.len()
    }

    /// States at the returns behind the first `count`.
    pub(super) fn states_at_returns(&mut self, count: usize) -> impl Iterator<Item = &mut State> {
        self.returns.iter_mut().skip(count).map(|(state, _)| state)
    }

    /// Forgets the returns of a walk that is done anew.
    pub(super) fn forget_returns(&mut self, count: usize) {
        self.returns.truncate(count);
    }
}

/// Where a walk through some blocks leads.
#[derive(Default)]
pub(super) struct RegionExits {
    /// Arrivals at the header that the walk began with.
    pub back: Vec<Arrival>,
    /// Arrivals at blocks outside.
    pub outside: Vec<(usize, Arrival)>,
}

/// Cases of a switch of which a target is told by a condition, at most.
const MOST_CASES: usize = 32;

impl Walk<'_> {
    /// Walks the entry point.
    pub(super) fn walk_entry(&mut self, function: Id) {
        let mut state = State::default();
        for instruction in &self.module.instructions {
            if instruction.op == Op::Function {
                break;
            }
            if let Some((StorageClass::Private, type_id)) =
                self.types.variable_contents(instruction)
            {
                let variable = instruction.result.expect("OpVariable has a result");
                let initial = instruction.id(1).and_then(|value| self.constant_value(value));
                let key = self.new_variable(&mut state, type_id, initial);
                self.private_variables.insert(variable, key);
            }
        }
        self.walk_call(state, function, Vec::new(), 0);
    }

    /// Makes a variable of the invocation.
    fn new_variable(
        &mut self,
        state: &mut State,
        type_id: Id,
        initial: Option<Value>,
    ) -> VariableKey {
        let key = VariableKey(self.variable_types.len() as u32);
        self.variable_types.push(type_id);
        let value = match initial {
            Some(value) => value,
            None => self.fresh_value(type_id, &Origin::Variable),
        };
        state.variables.insert(key, value);
        key
    }

    /// Walks a function from its entry to its returns; the state behind the call and what is
    /// returned; none: it does not return, or the analysis stopped.
    pub(super) fn walk_call(
        &mut self,
        mut state: State,
        function_id: Id,
        arguments: Vec<Value>,
        nesting: usize,
    ) -> Option<(State, Option<Value>)> {
        if nesting > DEEPEST_NESTING {
            self.stop("calls and loops are nested too deeply");
        }
        let module = self.module;
        let function = module.function_by_id(function_id)?;
        if function.blocks.is_empty() {
            self.stop("a function has no body");
        }
        if self.is_stopped() {
            return None;
        }
        let shape = self.function_shape(function);
        let values = function.parameters.iter().copied().zip(arguments).collect();
        let mut frame =
            Frame { shape, values, returns: Vec::new(), variables: Vec::new(), nesting };
        self.declare_variables(function, &mut frame, &mut state);
        let entry = Arrival { state, phis: Vec::new() };
        self.walk_region(&mut frame, None, BTreeMap::from([(0, vec![entry])]));
        self.join_returns(frame, function)
    }

    fn join_returns(
        &mut self,
        frame: Frame,
        function: &Function,
    ) -> Option<(State, Option<Value>)> {
        let result_type = self.module.instructions[function.range.start].result_type?;
        let returns_value = frame.returns.iter().all(|(_, value)| value.is_some());
        let mut arrivals = Vec::new();
        for (state, value) in frame.returns {
            arrivals.push(Arrival { state, phis: value.into_iter().collect() });
        }
        let phi_types = if returns_value { vec![result_type] } else { Vec::new() };
        let mut joined = self.join_arrivals(arrivals, &phi_types)?;
        for key in frame.variables {
            joined.state.variables.remove(&key);
        }
        Some((joined.state, joined.phis.pop()))
    }

    fn function_shape(&mut self, function: &Function) -> Rc<FunctionShape> {
        if let Some(shape) = self.shapes.get(&function.id) {
            return shape.clone();
        }
        let graph = ControlFlowGraph::of_function(self.module, function);
        let shape = Rc::new(FunctionShape::of_graph(graph));
        self.shapes.insert(function.id, shape.clone());
        shape
    }

    fn declare_variables(&mut self, function: &Function, frame: &mut Frame, state: &mut State) {
        for index in function.blocks[0].instruction_indices() {
            let instruction = &self.module.instructions[index];
            let (Some((_, type_id)), Some(variable)) =
                (self.types.variable_contents(instruction), instruction.result)
            else {
                continue;
            };
            let initial = instruction.id(1).and_then(|value| self.constant_value(value));
            let key = self.new_variable(state, type_id, initial);
            frame.variables.push(key);
            let pointer = self.variable_pointer(variable, Root::Own(key), type_id);
            frame.values.insert(variable, pointer);
        }
    }

    /// Walks blocks from the arrivals on; with a header, only the blocks of its loop.
    pub(super) fn walk_region(
        &mut self,
        frame: &mut Frame,
        header: Option<usize>,
        arrivals: BTreeMap<usize, Vec<Arrival>>,
    ) -> RegionExits {
        let shape = frame.shape.clone();
        let region = header.map(|header| &shape.loops[&header].blocks);
        let mut exits = RegionExits::default();
        // By position in the order, so that a block comes after all that lead to it.
        let mut pending: BTreeMap<usize, (usize, Vec<Arrival>)> = BTreeMap::new();
        for (block, block_arrivals) in arrivals {
            pending.insert(shape.order[block], (block, block_arrivals));
        }
        let mut is_first = true;
        while let Some((_, (block, block_arrivals))) = pending.pop_first() {
            let is_own_header = std::mem::replace(&mut is_first, false) && header.is_some();
            let next_arrivals = if shape.loops.contains_key(&block) && !is_own_header {
                self.walk_loop(frame, block, block_arrivals)
            } else {
                self.walk_block(frame, block, block_arrivals)
            };
            if self.is_stopped() {
                return exits;
            }
            for (target, arrival) in next_arrivals {
                if header == Some(target) {
                    exits.back.push(arrival);
                } else if region.is_some_and(|blocks| !blocks.contains(&target)) {
                    exits.outside.push((target, arrival));
                } else {
                    let slot = pending.entry(shape.order[target]);
                    slot.or_insert_with(|| (target, Vec::new())).1.push(arrival);
                }
            }
        }
        exits
    }

    /// Types of the OpPhi of a block.
    pub(super) fn phi_types(&self, frame: &Frame, block: usize) -> Vec<(Id, Id)> {
        let block = &frame.shape.graph.blocks[block];
        let instructions =
            block.instruction_indices().map(|index| &self.module.instructions[index]);
        let phis = instructions.filter(|instruction| instruction.op == Op::Phi);
        phis.filter_map(|phi| Some((phi.result?, phi.result_type?))).collect()
    }

    fn walk_block(
        &mut self,
        frame: &mut Frame,
        block: usize,
        arrivals: Vec<Arrival>,
    ) -> Vec<(usize, Arrival)> {
        let phis = self.phi_types(frame, block);
        let types: Vec<Id> = phis.iter().map(|(_, type_id)| *type_id).collect();
        let Some(Arrival { mut state, phis: values }) = self.join_arrivals(arrivals, &types) else {
            return Vec::new();
        };
        for ((id, _), value) in phis.into_iter().zip(values) {
            frame.values.insert(id, value);
        }
        let indices = frame.shape.graph.blocks[block].instruction_indices();
        let terminator = frame.shape.graph.blocks[block].terminator();
        for index in indices {
            if index == terminator {
                break;
            }
            self.visits += 1;
            match self.step(frame, state, index) {
                Some(next_state) => state = next_state,
                None => return Vec::new(),
            }
        }
        if self.visits > super::MOST_VISITS {
            self.stop("the kernel takes more steps than the analysis goes");
            return Vec::new();
        }
        self.leave_block(frame, block, state, terminator)
    }

    fn leave_block(
        &mut self,
        frame: &mut Frame,
        block: usize,
        state: State,
        terminator: usize,
    ) -> Vec<(usize, Arrival)> {
        let module = self.module;
        let instruction = &module.instructions[terminator];
        let targets: Vec<(usize, State)> = match instruction.op {
            Op::Branch => {
                let target =
                    instruction.id(0).and_then(|id| frame.shape.graph.block_with_label(id));
                target.into_iter().map(|target| (target, state.clone())).collect()
            }
            Op::BranchConditional => self.branch_targets(frame, &state, terminator),
            Op::Switch => self.switch_states(frame, &state, terminator),
            Op::Return => {
                frame.returns.push((state, None));
                Vec::new()
            }
            Op::ReturnValue => {
                let value = instruction.id(0).map(|id| self.value_of(frame, id));
                frame.returns.push((state, value));
                Vec::new()
            }
            _ => Vec::new(),
        };
        let label = frame.shape.graph.blocks[block].label;
        let mut arrivals = Vec::new();
        for (target, state) in targets {
            let phis = self.phi_values(frame, target, label);
            arrivals.push((target, Arrival { state, phis }));
        }
        arrivals
    }

    /// Values of a block's OpPhi where control comes from the block with this label.
    fn phi_values(&mut self, frame: &Frame, target: usize, label: Id) -> Vec<Value> {
        let module = self.module;
        let indices = frame.shape.graph.blocks[target].instruction_indices();
        let mut values = Vec::new();
        for index in indices {
            let phi = &module.instructions[index];
            if phi.op != Op::Phi {
                continue;
            }
            let source = phi.operands.chunks_exact(2).find_map(|pair| match pair {
                [Operand::IdRef(value), Operand::IdRef(from)] if *from == label => Some(*value),
                _ => None,
            });
            values.push(match source {
                Some(source) => self.value_of(frame, source),
                None => Value::Unknown(Origin::Joined),
            });
        }
        values
    }

    fn branch_targets(
        &mut self,
        frame: &Frame,
        state: &State,
        terminator: usize,
    ) -> Vec<(usize, State)> {
        let instruction = &self.module.instructions[terminator];
        let condition = match instruction.id(0).map(|id| self.value_of(frame, id)) {
            Some(Value::Boolean(condition)) => condition,
            Some(_) | None => Rc::new(self.unknown_condition(&Origin::Joined)),
        };
        let graph = &frame.shape.graph;
        let target = |operand: usize| graph.block_with_label(instruction.id(operand)?);
        let (Some(if_true), Some(if_false)) = (target(1), target(2)) else { return Vec::new() };
        if if_true == if_false {
            return vec![(if_true, state.clone())];
        }
        let ways = [(if_true, true), (if_false, false)];
        let mut targets = Vec::new();
        for (target, value) in ways {
            let assumed = self.assumed_state(state, &condition, value);
            targets.extend(assumed.map(|assumed| (target, assumed)));
        }
        targets
    }

    fn switch_states(
        &mut self,
        frame: &Frame,
        state: &State,
        terminator: usize,
    ) -> Vec<(usize, State)> {
        let instruction = &self.module.instructions[terminator];
        let selector_type = instruction.id(0).and_then(|id| self.type_of(id));
        let word = selector_type.and_then(|type_id| self.word_type(type_id));
        let selector = match (instruction.id(0), selector_type, word) {
            (Some(id), Some(type_id), Some(word)) => {
                let value = self.value_of(frame, id);
                let number = self.integer_of(&value, type_id);
                Some((self.reading_of(&state.facts, &number, word), word))
            }
            _ => None,
        };
        let mut cases = Vec::new();
        for (literal, label) in switch_targets(instruction) {
            cases.push((literal, frame.shape.graph.block_with_label(label)));
        }
        let mut targets = Vec::new();
        for target in frame.shape.graph.blocks[self.block_of(frame, terminator)].successors.clone()
        {
            let condition = selector
                .as_ref()
                .and_then(|selector| condition_of_target(selector, &cases, target));
            // What is not told of the selector still decides.
            let condition = condition.unwrap_or_else(|| self.unknown_condition(&Origin::Joined));
            let assumed = self.assumed_state(state, &Rc::new(condition), true);
            targets.extend(assumed.map(|assumed| (target, assumed)));
        }
        targets
    }

    fn block_of(&self, frame: &Frame, terminator: usize) -> usize {
        let blocks = &frame.shape.graph.blocks;
        blocks.partition_point(|block| block.terminator() < terminator)
    }
}

/// When a switch goes to a target: the selector is one of its cases, or none of those that lead
/// elsewhere. None where there are too many.
fn condition_of_target(
    (number, word): &(Polynomial, WordType),
    cases: &[(Option<u64>, Option<usize>)],
    target: usize,
) -> Option<Condition> {
    let is_default =
        cases.iter().any(|(literal, block)| literal.is_none() && *block == Some(target));
    let mut parts = Vec::new();
    for (literal, block) in cases {
        let Some(literal) = literal else { continue };
        let case_number = literal_number(*literal, word.width, word.is_signed);
        let difference = number.plus_number(-case_number);
        match (is_default, *block == Some(target)) {
            (false, true) => parts.push(Rc::new(Condition::Zero(difference))),
            (true, false) => parts.push(Rc::new(Condition::NonZero(difference))),
            (true, true) | (false, false) => {}
        }
    }
    match (is_default, parts.len()) {
        (_, 1) => parts.pop().map(|part| (*part).clone()),
        (true, 0) => Some(Condition::Known(true)),
        (_, count) if count > MOST_CASES => None,
        (true, _) => Condition::all(parts),
        (false, _) => Condition::any(parts),
    }
}

/// The number of a case of an OpSwitch.
fn literal_number(literal: u64, width: u32, is_signed: bool) -> i128 {
    let modulus = 1i128 << width;
    let residue = i128::from(literal).rem_euclid(modulus);
    if is_signed && residue >= modulus / 2 { residue - modulus } else { residue }
}

//! Which invocations of a workgroup can come to a block.
//!
//! Knows: branches on comparisons of index forms (`lane == 0u`, `lane < 32u`), joined by logical
//! operators or by short-circuit evaluation, on every way to a block; of a function those of the
//! blocks that call it.
//! Promises: who is left out comes there under no input. Does not cover: conditions on what has no
//! form; ways that rejoin.

use super::index_form::IndexForm;
use super::index_forms::IndexForms;
use super::node_set::NodeSet;
use super::word::comparison;
use crate::cfg::ControlFlowGraph;
use crate::flow::live::BlockOf;
use crate::flow::pointer::PointerAnalysis;
use crate::module::{Id, Instruction};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A condition as far as it is known.
enum Guard {
    Comparison(Op, Rc<IndexForm>, Rc<IndexForm>),
    Both(Box<Guard>, Box<Guard>),
    Either(Box<Guard>, Box<Guard>),
    Not(Box<Guard>),
    /// One of several values, each with who can come from where it is made.
    Joined(Vec<(Rc<NodeSet>, Guard)>),
    Unknown,
}

impl Guard {
    fn is_unknown(&self) -> bool {
        match self {
            Guard::Unknown => true,
            Guard::Comparison(..) => false,
            Guard::Not(inner) => inner.is_unknown(),
            Guard::Both(first, second) | Guard::Either(first, second) => {
                first.is_unknown() && second.is_unknown()
            }
            Guard::Joined(values) => values.iter().all(|(_, value)| value.is_unknown()),
        }
    }

    /// What the condition is for an invocation; none where that is not known.
    fn value_at(&self, number: usize, local_id: [u32; 3]) -> Option<bool> {
        match self {
            Guard::Unknown => None,
            Guard::Comparison(op, left, right) => compared(*op, left, right, local_id),
            Guard::Not(inner) => inner.value_at(number, local_id).map(|value| !value),
            Guard::Both(first, second) => {
                match (first.value_at(number, local_id), second.value_at(number, local_id)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), second) => second,
                    (None, _) => None,
                }
            }
            Guard::Either(first, second) => {
                match (first.value_at(number, local_id), second.value_at(number, local_id)) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), second) => second,
                    (None, _) => None,
                }
            }
            Guard::Joined(values) => {
                let possible = values.iter().filter(|(executors, _)| executors.contains(number));
                let mut values = possible.map(|(_, value)| value.value_at(number, local_id));
                let first = values.next()??;
                values.all(|value| value == Some(first)).then_some(first)
            }
        }
    }
}

/// The value of a comparison; none where values that are the same for the workgroup decide.
fn compared(op: Op, left: &IndexForm, right: &IndexForm, local_id: [u32; 3]) -> Option<bool> {
    if let Op::IEqual | Op::INotEqual = op {
        let difference = left.minus(right).value_at(local_id)?;
        return Some((difference == 0) == (op == Op::IEqual));
    }
    comparison(op, left.value_at(local_id)?, right.value_at(local_id)?)
}

/// Deepest nesting of conditions that is followed.
const MAX_DEPTH: usize = 32;

/// Who can come to the blocks of a kernel. Invocations are numbered by local index.
pub(super) struct Executors<'a> {
    pointers: &'a PointerAnalysis<'a>,
    forms: &'a IndexForms<'a>,
    local_ids: Vec<[u32; 3]>,
    graphs: BTreeMap<Id, (ControlFlowGraph, Vec<Option<usize>>)>,
    entry_function: Id,
    known: RefCell<HashMap<BlockOf, Rc<NodeSet>>>,
}

impl<'a> Executors<'a> {
    pub(super) fn new(
        pointers: &'a PointerAnalysis<'a>,
        forms: &'a IndexForms<'a>,
        [size_x, size_y, size_z]: [u32; 3],
        entry_function: Id,
    ) -> Self {
        let rows = (0..size_z).flat_map(move |z| (0..size_y).map(move |y| (y, z)));
        let local_ids = rows.flat_map(|(y, z)| (0..size_x).map(move |x| [x, y, z])).collect();
        let functions = pointers.live.live_functions();
        let graphs = functions.map(|(function, _)| {
            let graph = ControlFlowGraph::of_function(pointers.module, function);
            let dominators = graph.immediate_dominators();
            (function.id, (graph, dominators))
        });
        Self {
            pointers,
            forms,
            local_ids,
            graphs: graphs.collect(),
            entry_function,
            known: RefCell::default(),
        }
    }

    /// Local ids by local index.
    pub(super) fn local_ids(&self) -> &[[u32; 3]] {
        &self.local_ids
    }

    /// Who can come to an instruction.
    pub(super) fn of_instruction(&self, instruction: usize) -> Rc<NodeSet> {
        match self.pointers.live.block_of(instruction) {
            Some(block) => self.of_block(block),
            None => Rc::new(NodeSet::all_below(self.local_ids.len())),
        }
    }

    fn of_block(&self, block: BlockOf) -> Rc<NodeSet> {
        // Dominators are followed by a loop: functions have thousands of blocks in a row.
        let mut chain = Vec::new();
        let mut next_block = Some(block.1);
        let mut executors = None;
        while let Some(index) = next_block {
            if let Some(known) = self.known.borrow().get(&(block.0, index)) {
                executors = Some(Rc::clone(known));
                break;
            }
            chain.push(index);
            next_block =
                self.graphs.get(&block.0).and_then(|(_, dominators)| *dominators.get(index)?);
        }
        let mut executors = executors.unwrap_or_else(|| self.of_callers(block.0));
        while let Some(index) = chain.pop() {
            executors = self.past_guard((block.0, index), executors);
            self.known.borrow_mut().insert((block.0, index), Rc::clone(&executors));
        }
        executors
    }

    /// Who calls a function.
    fn of_callers(&self, function: Id) -> Rc<NodeSet> {
        let count = self.local_ids.len();
        if function == self.entry_function {
            return Rc::new(NodeSet::all_below(count));
        }
        let mut callers = NodeSet::of(count);
        for call in self.pointers.live.calls_of(function) {
            callers.unite(&self.of_instruction(*call));
        }
        Rc::new(callers)
    }

    /// Those of `executors` that pass the branch to a block which has no other way to it.
    fn past_guard(&self, block: BlockOf, executors: Rc<NodeSet>) -> Rc<NodeSet> {
        let Some((condition, wanted)) = self.guard_of(block) else { return executors };
        let guard = self.guard(condition, MAX_DEPTH);
        if guard.is_unknown() {
            return executors;
        }
        let mut passing = NodeSet::of(self.local_ids.len());
        for (number, local_id) in self.local_ids.iter().enumerate() {
            if executors.contains(number) && guard.value_at(number, *local_id) != Some(!wanted) {
                passing.insert(number);
            }
        }
        Rc::new(passing)
    }

    /// The block that dominates a block directly.
    pub(super) fn dominator_of(&self, (function, block): BlockOf) -> Option<usize> {
        *self.graphs.get(&function)?.1.get(block)?
    }

    /// Whether an instruction comes before another one of its function on every way there.
    pub(super) fn dominates(&self, earlier: usize, later: usize) -> bool {
        let blocks = [earlier, later].map(|index| self.pointers.live.block_of(index));
        let [Some((function, earlier_block)), Some((later_function, mut block))] = blocks else {
            return false;
        };
        if function != later_function {
            return false;
        }
        if earlier_block == block {
            return earlier < later;
        }
        while let Some(dominator) = self.dominator_of((function, block)) {
            if dominator == earlier_block {
                return true;
            }
            block = dominator;
        }
        false
    }

    /// Whether no way from an instruction to another one of its function, on which neither is
    /// executed again and a boundary is not, has an instruction that `disturbs`.
    pub(super) fn is_free_between(
        &self,
        from: usize,
        to: usize,
        boundary: Option<BlockOf>,
        disturbs: impl Fn(usize) -> bool,
    ) -> bool {
        let blocks = [from, to].map(|index| self.pointers.live.block_of(index));
        let [Some((function, from_block)), Some((to_function, to_block))] = blocks else {
            return false;
        };
        let Some((graph, _)) = self.graphs.get(&function).filter(|_| function == to_function)
        else {
            return false;
        };
        if from_block == to_block && from < to {
            return !(from + 1..to).any(disturbs);
        }
        let start = graph.blocks[to_block].instruction_indices().start;
        if (start..to).any(&disturbs) {
            return false;
        }
        let mut visited = NodeSet::of(graph.blocks.len());
        let mut pending = graph.blocks[to_block].predecessors.clone();
        while let Some(block) = pending.pop() {
            if boundary == Some((function, block)) && block != from_block || !visited.insert(block)
            {
                continue;
            }
            let instructions = graph.blocks[block].instruction_indices();
            if block == from_block {
                if (from + 1..instructions.end).any(&disturbs) {
                    return false;
                }
                continue;
            }
            if instructions.into_iter().any(&disturbs) {
                return false;
            }
            pending.extend(&graph.blocks[block].predecessors);
        }
        true
    }

    /// The condition of the branch from a block to another one, and its value on the way there.
    pub(super) fn edge_guard(&self, (function, from): BlockOf, to: usize) -> Option<(Id, bool)> {
        let (graph, _) = self.graphs.get(&function)?;
        self.branch_guard(graph, from, to)
    }

    /// The condition of the only branch to a block, and its value on the way there.
    pub(super) fn guard_of(&self, (function, block): BlockOf) -> Option<(Id, bool)> {
        let (graph, _) = self.graphs.get(&function)?;
        let [predecessor] = graph.blocks.get(block)?.predecessors[..] else { return None };
        self.branch_guard(graph, predecessor, block)
    }

    fn branch_guard(
        &self,
        graph: &ControlFlowGraph,
        predecessor: usize,
        block: usize,
    ) -> Option<(Id, bool)> {
        let module = self.pointers.module;
        let branch = &module.instructions[graph.blocks[predecessor].terminator()];
        let (if_true, if_false) = (branch.id(1)?, branch.id(2)?);
        let label = graph.blocks[block].label;
        let decides = branch.op == Op::BranchConditional && if_true != if_false;
        decides.then_some((branch.id(0)?, if_true == label))
    }

    fn guard(&self, condition: Id, depth: usize) -> Guard {
        let Some(definition) = self.pointers.module.definition(condition).filter(|_| depth > 0)
        else {
            return Guard::Unknown;
        };
        let inner = |operand: usize| {
            let guard = definition.id(operand).map(|operand| self.guard(operand, depth - 1));
            Box::new(guard.unwrap_or(Guard::Unknown))
        };
        match definition.op {
            Op::LogicalAnd => Guard::Both(inner(0), inner(1)),
            Op::LogicalOr => Guard::Either(inner(0), inner(1)),
            Op::LogicalNot => Guard::Not(inner(0)),
            Op::Phi => self.joined(condition, definition, depth),
            _ => self.comparison(definition).unwrap_or(Guard::Unknown),
        }
    }

    fn comparison(&self, definition: &Instruction) -> Option<Guard> {
        let comparisons = [
            Op::IEqual,
            Op::INotEqual,
            Op::ULessThan,
            Op::ULessThanEqual,
            Op::UGreaterThan,
            Op::UGreaterThanEqual,
            Op::SLessThan,
            Op::SLessThanEqual,
            Op::SGreaterThan,
            Op::SGreaterThanEqual,
        ];
        if !comparisons.contains(&definition.op) {
            return None;
        }
        let form = |operand: usize| self.forms.form_of(definition.id(operand)?);
        Some(Guard::Comparison(definition.op, form(0)?, form(1)?))
    }

    /// The values of a phi whose sources dominate it: those of `&&` and `||`, not those of loops.
    fn joined(&self, result: Id, phi: &Instruction, depth: usize) -> Guard {
        let live = self.pointers.live;
        let own_block =
            self.pointers.module.definition_index(result).and_then(|index| live.block_of(index));
        let Some((function, own_block)) = own_block else { return Guard::Unknown };
        let mut values = Vec::new();
        for source in phi.operands.chunks_exact(2) {
            let [Operand::IdRef(value), Operand::IdRef(label)] = source else {
                return Guard::Unknown;
            };
            let block = live.block_labelled(function, *label);
            let Some(block) = block.filter(|(_, block)| *block < own_block) else {
                return Guard::Unknown;
            };
            values.push((self.of_block(block), self.guard(*value, depth - 1)));
        }
        Guard::Joined(values)
    }
}

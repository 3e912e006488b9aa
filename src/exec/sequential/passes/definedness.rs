//! Definedness: operands that some path can leave undefined (a forward may-analysis), and
//! operations whose result may be undefined.
//!
//! Promises: only operands and operations that are named here need a look at run time.

use super::occurrences::{Occurrence, Table, occurrences};
use crate::decode::{Checked, Known};
use crate::ir::subgroup_operation::LaneExchange;
use crate::ir::*;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use vkcert_spirv::operation::undefined::{Undefined, UndefinedExtent};

/// 64-bit words of a part of a state.
const PART: usize = 8;

/// Lasting registers that may be undefined, as bits. A block changes few of them: what it leaves
/// alone it has in common with the blocks before it.
#[derive(Debug, Clone)]
struct State(Vec<Rc<[u64; PART]>>);

impl State {
    fn merge(&mut self, other: &State) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            if Rc::ptr_eq(mine, theirs)
                || mine.iter().zip(theirs.iter()).all(|(mine, theirs)| *theirs & !*mine == 0)
            {
                continue;
            }
            changed = true;
            Rc::make_mut(mine)
                .iter_mut()
                .zip(theirs.iter())
                .for_each(|(mine, theirs)| *mine |= theirs);
        }
        changed
    }
}

/// Registers that may be undefined, at one place of the program.
struct May {
    /// Numbers of lasting registers; none for those that are written and read in one block alone.
    numbers: Table<Option<u32>>,
    lasting: State,
    /// The others. Each is written before it is read, so nothing has to be forgotten between
    /// blocks.
    passing: Table<bool>,
}

impl May {
    fn new(program: &mut Program) -> Self {
        let occurrences = occurrences(program);
        let mut numbers = Table::new(program, None);
        let mut count = 0;
        let mut number = |one: &Occurrence| {
            one.lasting.then(|| {
                count += 1;
                count - 1
            })
        };
        numbers.words = occurrences.words.iter().map(&mut number).collect();
        numbers.masks = occurrences.masks.iter().map(&mut number).collect();
        let parts = (count as usize).div_ceil(64 * PART);
        // All parts are one until something is set.
        let none = Rc::new([0; PART]);
        Self { numbers, lasting: State(vec![none; parts]), passing: Table::new(program, false) }
    }
    fn has(&self, scalar: Scalar) -> bool {
        match self.numbers.get(scalar) {
            Some(number) => {
                let (word, bit) = (*number as usize / 64, number % 64);
                self.lasting.0[word / PART][word % PART] >> bit & 1 == 1
            }
            None => *self.passing.get(scalar),
        }
    }
    fn set(&mut self, scalar: Scalar, may: bool) {
        if self.has(scalar) == may {
            return;
        }
        match self.numbers.get(scalar) {
            Some(number) => {
                let (word, bit) = (*number as usize / 64, number % 64);
                Rc::make_mut(&mut self.lasting.0[word / PART])[word % PART] ^= 1 << bit;
            }
            None => *self.passing.at(scalar) = may,
        }
    }
}

/// The effect of one action on what may be undefined; calls `operand` with each operand that may
/// be.
fn transfer(
    step: &mut LocatedInstruction,
    state: &mut May,
    memory: impl Fn(AccessRoot) -> bool,
    mut operand: impl FnMut(Scalar),
) {
    let leaves = leaves_undefined(step);
    let action = &mut step.instruction;
    let mut travels = match action {
        LaneInstruction::Undefine { .. } | LaneInstruction::UndefineMask { .. } => true,
        LaneInstruction::Load { access, .. } => memory(access.root),
        LaneInstruction::Atomic { op, access, .. } => op.returns_old_value() && memory(access.root),
        LaneInstruction::Image(step) if step.operation.forwards_memory() => step
            .image
            .descriptors
            .iter()
            .any(|descriptor| memory(AccessRoot::Descriptor(*descriptor))),
        _ => false,
    };
    action.visit_registers(&mut |scalar, using| match using {
        RegisterUse::Operand => {
            if state.has(*scalar) {
                operand(*scalar);
            }
        }
        RegisterUse::Forward => travels |= state.has(*scalar),
        RegisterUse::Write | RegisterUse::Update => {}
    });
    // Of the actions that pass values on, these write what they read; the others write computed
    // values.
    let passes = matches!(
        action,
        LaneInstruction::Copy { .. }
            | LaneInstruction::CopyMask { .. }
            | LaneInstruction::Select { .. }
            | LaneInstruction::SelectMask { .. }
            | LaneInstruction::UndefinedWhere { .. }
            | LaneInstruction::ExtractDynamic { .. }
            | LaneInstruction::InsertDynamic { .. }
            | LaneInstruction::Load { .. }
            | LaneInstruction::Atomic { .. }
            | LaneInstruction::Image(_)
            | LaneInstruction::Exchange { .. }
            | LaneInstruction::Undefine { .. }
            | LaneInstruction::UndefineMask { .. }
    );
    action.visit_registers(&mut |scalar, using| {
        if using == RegisterUse::Write {
            state.set(*scalar, leaves || (travels && passes));
        }
    });
}

/// Whether a step may leave an undefined value, whatever its operands hold.
fn leaves_undefined(step: &LocatedInstruction) -> bool {
    let value = |undefined: &Undefined| undefined.extent == UndefinedExtent::Value;
    match &step.instruction {
        LaneInstruction::Unary { op, .. } => {
            step.may_be_undefined && op.undefined_rules().iter().any(|rule| value(&rule.then))
        }
        LaneInstruction::Binary { op, .. } => {
            step.may_be_undefined && op.undefined_rules().iter().any(|rule| value(&rule.then))
        }
        LaneInstruction::Ternary { op, .. } => {
            step.may_be_undefined && op.undefined_rules().iter().any(|rule| value(&rule.then))
        }
        LaneInstruction::Sized { .. } => step.may_be_undefined,
        LaneInstruction::Dot { dot, .. } => dot.may_be_undefined(),
        LaneInstruction::Group { op, .. } => op.may_be_undefined(),
        LaneInstruction::Exchange { way, .. } => *way != LaneExchange::First,
        LaneInstruction::UndefinedWhere { .. } => true,
        _ => false,
    }
}

/// Fills the suspects; gives the registers that are ever written a value that may be undefined.
pub(crate) fn find_suspects(program: &mut Program, known: &Known) -> Table<bool> {
    let mut ever = Table::new(program, false);
    if known.undefined_checked == Checked::No {
        return ever;
    }
    let mut may = May::new(program);
    let from_outside = program.undefined_words.iter().map(|reg| Scalar::Word(*reg));
    let from_outside =
        from_outside.chain(program.undefined_masks.iter().map(|reg| Scalar::Mask(*reg)));
    let push = program.uniforms.iter().filter(|(uniform, _)| {
        matches!(uniform, UniformValue::PushConstant(_)) && !known.push_constants_defined
    });
    for scalar in from_outside.chain(push.map(|(_, reg)| Scalar::Word(*reg))) {
        may.set(scalar, true);
        *ever.at(scalar) = true;
    }
    let descriptors = program.descriptors.clone();
    let memory = |root: AccessRoot| match root {
        AccessRoot::Descriptor(index) => {
            let one = &descriptors[index as usize];
            !known.defined.contains(&(one.set, one.binding, one.array_index))
        }
        AccessRoot::PushConstant => !known.push_constants_defined,
        AccessRoot::Workgroup
        | AccessRoot::Invocation
        | AccessRoot::Descriptors { .. }
        | AccessRoot::Address(_)
        | AccessRoot::Pointer { .. }
        | AccessRoot::Buffer(_) => true,
    };
    let ins = fixpoint(program, &mut may, &memory);
    for (block, state) in program.blocks.iter_mut().zip(ins) {
        let Some(state) = state else { continue };
        may.lasting = state;
        let state = &mut may;
        for step in &mut block.steps {
            let mut suspects = Vec::new();
            transfer(step, state, memory, |scalar| {
                if !suspects.contains(&scalar) {
                    suspects.push(scalar);
                }
            });
            step.operands_to_check = suspects.into();
            step.instruction.visit_registers(&mut |scalar, using| {
                if using == RegisterUse::Write && state.has(*scalar) {
                    *ever.at(*scalar) = true;
                }
            });
        }
        let decider = block.terminator.deciding_register().filter(|decider| state.has(*decider));
        block.operands_to_check = decider.into_iter().collect();
    }
    ever
}

/// What may be undefined at the start of each block; none for blocks that nothing reaches.
fn fixpoint(
    program: &mut Program,
    may: &mut May,
    memory: &dyn Fn(AccessRoot) -> bool,
) -> Vec<Option<State>> {
    let mut ins: Vec<Option<State>> = vec![None; program.blocks.len()];
    if ins.is_empty() {
        return ins;
    }
    ins[0] = Some(may.lasting.clone());
    let mut open: BTreeSet<usize> = BTreeSet::from([0]);
    while let Some(at) = open.pop_first() {
        let Some(state) = ins[at].clone() else { continue };
        may.lasting = state;
        for step in &mut program.blocks[at].steps {
            transfer(step, may, memory, |_| {});
        }
        for next in program.blocks[at].terminator.successors() {
            let next = next as usize;
            let changed = match &mut ins[next] {
                Some(old) => old.merge(&may.lasting),
                empty => {
                    *empty = Some(may.lasting.clone());
                    true
                }
            };
            if changed {
                open.insert(next);
            }
        }
    }
    ins
}

/// Marks the operations about which something can be undefined for operands that are not ruled out.
pub(crate) fn find_undefined_results(program: &mut Program) {
    let constants: HashMap<Reg, u32> = program
        .uniforms
        .iter()
        .filter_map(|(uniform, reg)| match uniform {
            UniformValue::Constant(value) => Some((*reg, *value)),
            UniformValue::PushConstant(_)
            | UniformValue::WorkgroupId(_)
            | UniformValue::NumWorkgroups(_)
            | UniformValue::SubgroupSize
            | UniformValue::NumSubgroups => None,
        })
        .collect();
    let value = |reg: &Reg| constants.get(reg).copied();
    for step in program.blocks.iter_mut().flat_map(|block| &mut block.steps) {
        step.may_be_undefined = match &step.instruction {
            LaneInstruction::Unary { op, a, to: _ } => {
                op.undefined_rules().iter().any(|rule| rule.may_be_met(value(a)))
            }
            LaneInstruction::Binary { op, a, b, to: _ } => {
                op.undefined_rules().iter().any(|rule| rule.may_be_met(value(a), value(b)))
            }
            LaneInstruction::Ternary { op, a, b, c, to: _ } => op
                .undefined_rules()
                .iter()
                .any(|rule| rule.may_be_met(value(a), value(b), value(c))),
            LaneInstruction::Sized { operation, .. } => operation.may_be_undefined(),
            _ => false,
        };
    }
}

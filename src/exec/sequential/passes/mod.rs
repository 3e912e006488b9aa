//! Settles a decoded program: drops copies, finds operands that may be undefined, assigns registers.
//!
//! Promises: none of this can be seen in results. A register that lives in one block shares its place with others; an
//! operand is looked at for definedness only where some path can leave it undefined (a forward may-analysis), and an
//! operation for an undefined result only where its operands are not constants that rule it out.

mod contraction;
mod dead_code;
pub mod ordering_need;
pub mod schedule_dependence;
pub mod schedule_influence;

use super::ir::*;
use super::settings::MemoryModel;
use crate::exec::sequential::decode::ops::subgroup::Way;
use crate::exec::sequential::machine::variation::{Products, Variation};
use crate::spirv::operation::undefined::{Extent, Undefined};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// What is known of a dispatch before it is decoded; makes checks unnecessary, never wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    pub push_constants_defined: bool,
    /// Set, binding and array index of descriptors whose buffer is wholly defined.
    pub defined: BTreeSet<(u32, u32, u32)>,
    pub undefined_checked: Checked,
    /// Descriptors of each binding, by set and binding: the highest array index that is bound, and one.
    pub bound: BTreeMap<(u32, u32), u32>,
    /// Invocations of a subgroup, where a dispatch has told.
    pub subgroup_size: Option<u32>,
    /// What barriers order.
    pub memory_model: MemoryModel,
    /// How the run departs from the ordinary one.
    pub variation: Option<Variation>,
}

/// Whether uninitialised reads are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Checked {
    #[default]
    Yes,
    No,
}

/// How a register occurs in the program.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    block: Option<u32>,
    /// In more than one block, or read before written, or set from outside.
    lasting: bool,
    writes: u32,
}

const NEVER: Occurrence = Occurrence { block: None, lasting: false, writes: 0 };

#[derive(Debug, Clone)]
struct Table<T> {
    words: Vec<T>,
    masks: Vec<T>,
}

impl<T: Clone> Table<T> {
    fn new(program: &Program, value: T) -> Self {
        Self { words: vec![value.clone(); program.words as usize], masks: vec![value; program.masks as usize] }
    }
    fn at(&mut self, scalar: Scalar) -> &mut T {
        match scalar {
            Scalar::Word(reg) => &mut self.words[reg.0 as usize],
            Scalar::Mask(reg) => &mut self.masks[reg.0 as usize],
        }
    }
    fn get(&self, scalar: Scalar) -> &T {
        match scalar {
            Scalar::Word(reg) => &self.words[reg.0 as usize],
            Scalar::Mask(reg) => &self.masks[reg.0 as usize],
        }
    }
}

/// Settles the program.
pub fn settle(program: &mut Program, known: &Known) {
    forward_copies(program);
    if let Some(Products::Contracted(preferred)) = known.variation.map(|variation| variation.products) {
        contraction::contract(program, preferred);
    }
    find_undefined_results(program);
    let may = find_suspects(program, known);
    dead_code::spare_unneeded(program);
    assign(program, &may);
}

fn occurrences(program: &mut Program) -> Table<Occurrence> {
    let mut table = Table::new(program, NEVER);
    let outside: Vec<Scalar> = lasting_from_outside(program);
    for scalar in outside {
        table.at(scalar).lasting = true;
    }
    for (index, block) in program.blocks.iter_mut().enumerate() {
        let index = index as u32;
        let mut note = |scalar: Scalar, write: bool| {
            let one = table.at(scalar);
            match one.block {
                None => {
                    one.block = Some(index);
                    one.lasting |= !write;
                }
                Some(block) if block != index => one.lasting = true,
                Some(_) => {}
            }
            one.writes += u32::from(write);
        };
        for step in &mut block.steps {
            step.action.registers(&mut |scalar, using| note(*scalar, using == Use::Write));
        }
        if let Some(decider) = block.terminator.decider() {
            note(decider, false);
        }
    }
    table
}

fn lasting_from_outside(program: &Program) -> Vec<Scalar> {
    let words = program.per_lane.iter().map(|(_, reg)| *reg);
    let words = words.chain(program.zeroed.iter().copied()).chain(program.undefined_words.iter().copied());
    let words = words.chain(program.barriers.iter().flat_map(|barrier| barrier.counters.iter().copied()));
    words.map(Scalar::Word).chain(program.undefined_masks.iter().map(|reg| Scalar::Mask(*reg))).collect()
}

fn as_copy(action: &Action) -> Option<(Scalar, Scalar)> {
    match action {
        Action::Copy { to, from } => Some((Scalar::Word(*to), Scalar::Word(*from))),
        Action::CopyMask { to, from } => Some((Scalar::Mask(*to), Scalar::Mask(*from))),
        _ => None,
    }
}

/// A copy whose target is read in its block alone, while the source does not change, is not needed.
fn forward_copies(program: &mut Program) {
    let table = occurrences(program);
    for block in &mut program.blocks {
        let end = block.steps.len();
        let mut last_read: HashMap<Scalar, usize> = HashMap::new();
        let mut writes: HashMap<Scalar, Vec<usize>> = HashMap::new();
        for (at, step) in block.steps.iter_mut().enumerate() {
            step.action.registers(&mut |scalar, using| {
                if matches!(using, Use::Write | Use::Update) {
                    writes.entry(*scalar).or_default().push(at);
                }
                if using != Use::Write {
                    last_read.insert(*scalar, at);
                }
            });
        }
        if let Some(decider) = block.terminator.decider() {
            last_read.insert(decider, end);
        }
        let mut replaced: HashMap<Scalar, Scalar> = HashMap::new();
        let mut dead: BTreeSet<usize> = BTreeSet::new();
        for (at, step) in block.steps.iter_mut().enumerate() {
            step.action.registers(&mut |scalar, using| {
                if matches!(using, Use::Operand | Use::Travel)
                    && let Some(new) = replaced.get(scalar)
                {
                    *scalar = *new;
                }
            });
            let Some((to, from)) = as_copy(&step.action) else { continue };
            let target = table.get(to);
            if target.lasting || target.writes != 1 {
                continue;
            }
            let until = last_read.get(&to).copied().unwrap_or(at);
            let changed = writes.get(&from).is_some_and(|all| is_written(all, at, until));
            if !changed {
                replaced.insert(to, from);
                let read = last_read.entry(from).or_insert(until);
                *read = (*read).max(until);
                dead.insert(at);
            }
        }
        match &mut block.terminator {
            Terminator::Branch { condition: reg, yes: _, no: _ } => {
                if let Some(Scalar::Mask(new)) = replaced.get(&Scalar::Mask(*reg)) {
                    *reg = *new;
                }
            }
            Terminator::Switch { selector: reg, cases: _, default: _ } => {
                if let Some(Scalar::Word(new)) = replaced.get(&Scalar::Word(*reg)) {
                    *reg = *new;
                }
            }
            Terminator::Jump { .. } | Terminator::Barrier { .. } | Terminator::End | Terminator::Unreachable => {}
        }
        let mut at = 0..end;
        block.steps.retain(|_| at.next().is_some_and(|at| !dead.contains(&at)));
    }
}

/// Whether one of the `writes`, in ascending order, is behind step `at` and not behind `until`.
fn is_written(writes: &[usize], at: usize, until: usize) -> bool {
    let behind = writes.partition_point(|write| *write <= at);
    writes.get(behind).is_some_and(|write| *write <= until)
}

/// 64-bit words of a part of a state.
const PART: usize = 8;

/// Lasting registers that may be undefined, as bits. A block changes few of them: what it leaves alone it has in common
/// with the blocks before it.
#[derive(Debug, Clone)]
struct State(Vec<Rc<[u64; PART]>>);

impl State {
    fn merge(&mut self, other: &State) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            if Rc::ptr_eq(mine, theirs) || mine.iter().zip(theirs.iter()).all(|(mine, theirs)| *theirs & !*mine == 0) {
                continue;
            }
            changed = true;
            Rc::make_mut(mine).iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine |= theirs);
        }
        changed
    }
}

/// Registers that may be undefined, at one place of the program.
struct May {
    /// Numbers of lasting registers; none for those that are written and read in one block alone.
    numbers: Table<Option<u32>>,
    lasting: State,
    /// The others. Each is written before it is read, so nothing has to be forgotten between blocks.
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

/// The effect of one action on what may be undefined; calls `operand` with each operand that may be.
fn transfer(step: &mut Step, state: &mut May, memory: impl Fn(Root) -> bool, mut operand: impl FnMut(Scalar)) {
    let leaves = leaves_undefined(step);
    let action = &mut step.action;
    let mut travels = match action {
        Action::Undefine { .. } | Action::UndefineMask { .. } => true,
        Action::Load { access, .. } => memory(access.root),
        Action::Atomic { op, access, .. } => op.gives_what_was_there() && memory(access.root),
        Action::Image(step) if step.doing.passes_memory_on() => {
            step.image.descriptors.iter().any(|descriptor| memory(Root::Descriptor(*descriptor)))
        }
        _ => false,
    };
    action.registers(&mut |scalar, using| match using {
        Use::Operand => {
            if state.has(*scalar) {
                operand(*scalar);
            }
        }
        Use::Travel => travels |= state.has(*scalar),
        Use::Write | Use::Update => {}
    });
    // Of the actions that pass values on, these write what they read; the others write computed values.
    let passes = matches!(
        action,
        Action::Copy { .. }
            | Action::CopyMask { .. }
            | Action::Select { .. }
            | Action::SelectMask { .. }
            | Action::Doubt { .. }
            | Action::Pick { .. }
            | Action::Put { .. }
            | Action::Load { .. }
            | Action::Atomic { .. }
            | Action::Image(_)
            | Action::Exchange { .. }
            | Action::Undefine { .. }
            | Action::UndefineMask { .. }
    );
    action.registers(&mut |scalar, using| {
        if using == Use::Write {
            state.set(*scalar, leaves || (travels && passes));
        }
    });
}

/// Whether a step may leave an undefined value, whatever its operands hold.
fn leaves_undefined(step: &Step) -> bool {
    let value = |undefined: &Undefined| undefined.extent == Extent::Value;
    match &step.action {
        Action::Unary { op, .. } => step.may_be_undefined && op.rules().iter().any(|rule| value(&rule.then)),
        Action::Binary { op, .. } => step.may_be_undefined && op.rules().iter().any(|rule| value(&rule.then)),
        Action::Ternary { op, .. } => step.may_be_undefined && op.rules().iter().any(|rule| value(&rule.then)),
        Action::Sized { .. } => step.may_be_undefined,
        Action::Dot { dot, .. } => dot.may_be_undefined(),
        Action::Group { op, .. } => op.may_be_undefined(),
        Action::Exchange { way, .. } => *way != Way::First,
        Action::Doubt { .. } => true,
        _ => false,
    }
}

/// Fills the suspects; gives the registers that are ever written a value that may be undefined.
fn find_suspects(program: &mut Program, known: &Known) -> Table<bool> {
    let mut ever = Table::new(program, false);
    if known.undefined_checked == Checked::No {
        return ever;
    }
    let mut may = May::new(program);
    let from_outside = program.undefined_words.iter().map(|reg| Scalar::Word(*reg));
    let from_outside = from_outside.chain(program.undefined_masks.iter().map(|reg| Scalar::Mask(*reg)));
    let push = program
        .uniforms
        .iter()
        .filter(|(uniform, _)| matches!(uniform, Uniform::PushConstant(_)) && !known.push_constants_defined);
    for scalar in from_outside.chain(push.map(|(_, reg)| Scalar::Word(*reg))) {
        may.set(scalar, true);
        *ever.at(scalar) = true;
    }
    let descriptors = program.descriptors.clone();
    let memory = |root: Root| match root {
        Root::Descriptor(index) => {
            let one = &descriptors[index as usize];
            !known.defined.contains(&(one.set, one.binding, one.array_index))
        }
        Root::PushConstant => !known.push_constants_defined,
        Root::Workgroup
        | Root::Invocation
        | Root::Descriptors { .. }
        | Root::Address(_)
        | Root::Pointer { .. }
        | Root::Buffer(_) => true,
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
            step.suspects = suspects.into();
            step.action.registers(&mut |scalar, using| {
                if using == Use::Write && state.has(*scalar) {
                    *ever.at(*scalar) = true;
                }
            });
        }
        let decider = block.terminator.decider().filter(|decider| state.has(*decider));
        block.suspects = decider.into_iter().collect();
    }
    ever
}

/// What may be undefined at the start of each block; none for blocks that nothing reaches.
fn fixpoint(program: &mut Program, may: &mut May, memory: &dyn Fn(Root) -> bool) -> Vec<Option<State>> {
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
fn find_undefined_results(program: &mut Program) {
    let constants: HashMap<Reg, u32> = program
        .uniforms
        .iter()
        .filter_map(|(uniform, reg)| match uniform {
            Uniform::Constant(value) => Some((*reg, *value)),
            Uniform::PushConstant(_)
            | Uniform::WorkgroupId(_)
            | Uniform::NumWorkgroups(_)
            | Uniform::SubgroupSize
            | Uniform::NumSubgroups => None,
        })
        .collect();
    let value = |reg: &Reg| constants.get(reg).copied();
    for step in program.blocks.iter_mut().flat_map(|block| &mut block.steps) {
        step.may_be_undefined = match &step.action {
            Action::Unary { op, a, to: _ } => op.rules().iter().any(|rule| rule.may_be_met(value(a))),
            Action::Binary { op, a, b, to: _ } => op.rules().iter().any(|rule| rule.may_be_met(value(a), value(b))),
            Action::Ternary { op, a, b, c, to: _ } => {
                op.rules().iter().any(|rule| rule.may_be_met(value(a), value(b), value(c)))
            }
            Action::Sized { operation, .. } => operation.may_be_undefined(),
            _ => false,
        };
    }
}

/// Places of registers that live in one block: of those that may be undefined, and of the others.
#[derive(Default)]
struct Pool {
    free: Vec<u32>,
    size: u32,
}

impl Pool {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.size += 1;
            self.size - 1
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Unused,
    /// Uniform register by number.
    Uniform(u32),
    /// In the pool for values that are always defined, or for those that may not be.
    Defined(u32),
    Maybe(u32),
    Lasting(u32),
}

/// Gives every register its final number.
fn assign(program: &mut Program, may: &Table<bool>) {
    let table = occurrences(program);
    let mut places = Table::new(program, Place::Unused);
    for (index, (_, reg)) in program.uniforms.iter().enumerate() {
        places.words[reg.0 as usize] = Place::Uniform(index as u32);
    }
    for (index, (_, reg)) in program.uniform_masks.iter().enumerate() {
        places.masks[reg.0 as usize] = Place::Uniform(index as u32);
    }
    let mut lasting = [0u32; 2];
    let mut place_lasting = |scalar: Scalar, places: &mut Table<Place>| {
        let count = &mut lasting[usize::from(matches!(scalar, Scalar::Mask(_)))];
        if matches!(places.get(scalar), Place::Unused) {
            *places.at(scalar) = Place::Lasting(*count);
            *count += 1;
        }
    };
    for scalar in lasting_from_outside(program) {
        place_lasting(scalar, &mut places);
    }
    let mut pools: [[Pool; 2]; 2] = Default::default();
    for block in &mut program.blocks {
        let mut last: HashMap<Scalar, usize> = HashMap::new();
        for (at, step) in block.steps.iter_mut().enumerate() {
            step.action.registers(&mut |scalar, _| {
                last.insert(*scalar, at);
            });
        }
        let decider = block.terminator.decider();
        last.extend(decider.map(|decider| (decider, usize::MAX)));
        for pool in pools.iter_mut().flatten() {
            pool.free = (0..pool.size).rev().collect();
        }
        for (at, step) in block.steps.iter_mut().enumerate() {
            let mut ending: Vec<(Scalar, Place)> = Vec::new();
            step.action.registers(&mut |scalar, _| {
                if matches!(places.get(*scalar), Place::Unused) {
                    if table.get(*scalar).lasting {
                        place_lasting(*scalar, &mut places);
                    } else {
                        let kind = usize::from(matches!(scalar, Scalar::Mask(_)));
                        let maybe = *may.get(*scalar);
                        let place = pools[kind][usize::from(maybe)].take();
                        *places.at(*scalar) = if maybe { Place::Maybe(place) } else { Place::Defined(place) };
                    }
                }
                if last.get(scalar) == Some(&at) && !ending.iter().any(|(other, _)| other == scalar) {
                    ending.push((*scalar, *places.get(*scalar)));
                }
            });
            for (scalar, place) in ending {
                let kind = usize::from(matches!(scalar, Scalar::Mask(_)));
                match place {
                    Place::Defined(index) => pools[kind][0].free.push(index),
                    Place::Maybe(index) => pools[kind][1].free.push(index),
                    Place::Unused | Place::Uniform(_) | Place::Lasting(_) => {}
                }
            }
        }
        if let Some(decider) = decider
            && matches!(places.get(decider), Place::Unused)
        {
            place_lasting(decider, &mut places);
        }
    }
    let sizes = pools.map(|[defined, maybe]| [defined.size, maybe.size]);
    let uniforms = [program.uniforms.len() as u32, program.uniform_masks.len() as u32];
    let shared = [0, 1].map(|kind: usize| uniforms[kind] + sizes[kind][0] + sizes[kind][1]);
    let number = |scalar: Scalar| {
        let kind = usize::from(matches!(scalar, Scalar::Mask(_)));
        match places.get(scalar) {
            Place::Unused => 0,
            Place::Uniform(index) => *index,
            Place::Defined(index) => uniforms[kind] + index,
            Place::Maybe(index) => uniforms[kind] + sizes[kind][0] + index,
            Place::Lasting(index) => shared[kind] + index,
        }
    };
    renumber(program, &number);
    [program.shared_words, program.shared_masks] = shared;
    program.words = shared[0] + lasting[0];
    program.masks = shared[1] + lasting[1];
}

fn renumber(program: &mut Program, number: &dyn Fn(Scalar) -> u32) {
    let rename = |scalar: Scalar| match scalar {
        Scalar::Word(_) => Scalar::Word(Reg(number(scalar))),
        Scalar::Mask(_) => Scalar::Mask(Reg(number(scalar))),
    };
    let word = |reg: &mut Reg| *reg = Reg(number(Scalar::Word(*reg)));
    let mask = |reg: &mut Reg| *reg = Reg(number(Scalar::Mask(*reg)));
    for block in &mut program.blocks {
        for step in &mut block.steps {
            step.action.registers(&mut |scalar, _| *scalar = rename(*scalar));
            step.suspects.iter_mut().for_each(|scalar| *scalar = rename(*scalar));
        }
        block.suspects.iter_mut().for_each(|scalar| *scalar = rename(*scalar));
        match &mut block.terminator {
            Terminator::Branch { condition, yes: _, no: _ } => mask(condition),
            Terminator::Switch { selector, cases: _, default: _ } => word(selector),
            Terminator::Jump { .. } | Terminator::Barrier { .. } | Terminator::End | Terminator::Unreachable => {}
        }
    }
    for barrier in &mut program.barriers {
        let mut counters = barrier.counters.to_vec();
        counters.iter_mut().for_each(word);
        barrier.counters = counters.into();
    }
    program.uniforms.iter_mut().for_each(|(_, reg)| word(reg));
    program.uniform_masks.iter_mut().for_each(|(_, reg)| mask(reg));
    program.per_lane.iter_mut().for_each(|(_, reg)| word(reg));
    program.zeroed.iter_mut().for_each(word);
    program.undefined_words.iter_mut().for_each(word);
    program.undefined_masks.iter_mut().for_each(mask);
}

#[cfg(test)]
mod tests {
    use super::is_written;

    #[test]
    fn a_write_counts_behind_the_copy_up_to_the_last_read() {
        let writes = [1, 4, 4, 9];
        for at in 0..11 {
            for until in 0..11 {
                let listed = writes.iter().any(|write| *write > at && *write <= until);
                assert_eq!(is_written(&writes, at, until), listed, "behind {at}, up to {until}");
            }
        }
    }
}

//! The registers of an instruction, visited in one place: reads before writes.
//!
//! Promises: every register that an instruction names is visited, with how it is used.

use super::instruction::{Action, Compared, Print, Printable};
use super::register::{Parts, Scalar, Use, mask, word};
use std::sync::Arc;

impl Action {
    /// Calls `visit` for every register field, reads before writes.
    pub fn registers(&mut self, visit: &mut dyn FnMut(&mut Scalar, Use)) {
        use Use::{Operand, Travel, Update, Write};
        let v = visit;
        match self {
            Action::Copy { to, from } => {
                word(v, from, Travel);
                word(v, to, Write);
            }
            Action::CopyMask { to, from } => {
                mask(v, from, Travel);
                mask(v, to, Write);
            }
            Action::Unary { to, a, op: _ } => {
                word(v, a, Operand);
                word(v, to, Write);
            }
            Action::Binary { to, a, b, op: _ } => {
                word(v, a, Operand);
                word(v, b, Operand);
                word(v, to, Write);
            }
            Action::Ternary { to, a, b, c, op: _ } => {
                [a, b, c].into_iter().for_each(|reg| word(v, reg, Operand));
                word(v, to, Write);
            }
            Action::Compare { op: _, to, a, b } => {
                word(v, a, Operand);
                word(v, b, Operand);
                mask(v, to, Write);
            }
            Action::Classify { op: _, to, a } | Action::ToMask { to, a } => {
                word(v, a, Operand);
                mask(v, to, Write);
            }
            Action::Sized { operation: _, to, from } | Action::Dot { dot: _, to, from } => {
                *from = parts(from, v);
                to.visit(v, Write);
            }
            Action::Relate { relation: _, form: _, to, from } => {
                *from = parts(from, v);
                mask(v, to, Write);
            }
            Action::Logic { table: _, to, a, b } => {
                mask(v, a, Operand);
                mask(v, b, Operand);
                mask(v, to, Write);
            }
            Action::Not { to, a } => {
                mask(v, a, Operand);
                mask(v, to, Write);
            }
            Action::Select { to, condition, a, b } => {
                mask(v, condition, Operand);
                word(v, a, Travel);
                word(v, b, Travel);
                word(v, to, Write);
            }
            Action::SelectMask { to, condition, a, b } => {
                mask(v, condition, Operand);
                mask(v, a, Travel);
                mask(v, b, Travel);
                mask(v, to, Write);
            }
            Action::Product(factors) => {
                let factors = Arc::make_mut(factors);
                let read = factors.a.iter_mut().chain(&mut factors.b).chain(&mut factors.c);
                read.for_each(|parts| parts.visit(v, Operand));
                factors.to.iter_mut().for_each(|parts| parts.visit(v, Write));
            }
            Action::Converged => {}
            Action::Doubt { to, value, condition, why: _ } => {
                mask(v, condition, Operand);
                word(v, value, Travel);
                word(v, to, Write);
            }
            Action::Assume { condition, otherwise: _ } => mask(v, condition, Operand),
            Action::ToWord { to, a } => {
                mask(v, a, Operand);
                word(v, to, Write);
            }
            Action::Pick { to, from, index } => {
                word(v, index, Operand);
                let mut registers = from.to_vec();
                registers.iter_mut().for_each(|reg| word(v, reg, Travel));
                *from = registers.into();
                word(v, to, Write);
            }
            Action::Put { to, old, value, index, position: _ } => {
                word(v, index, Operand);
                word(v, old, Travel);
                word(v, value, Travel);
                word(v, to, Write);
            }
            Action::ArrayLength { to, descriptor: _, base: _, stride: _ }
            | Action::Undefine { to }
            | Action::LoopReset { counter: to } => word(v, to, Write),
            Action::UndefineMask { to } => mask(v, to, Write),
            Action::LoopNext { counter } => word(v, counter, Update),
            Action::UndefineMemory { base: _, words: _ }
            | Action::Mark { bit: _ }
            | Action::SubgroupBarrier { fences: _ }
            | Action::Fence { fence: _ } => {}
            Action::Group { op: _, to, from, index } => {
                *from = scalars(from, Operand, v);
                index.iter_mut().for_each(|index| word(v, index, Operand));
                *to = scalars(to, Write, v);
            }
            Action::Exchange { way: _, to, from, index } => {
                *from = scalars(from, Travel, v);
                index.iter_mut().for_each(|index| word(v, index, Operand));
                *to = scalars(to, Write, v);
            }
            Action::Atomic { op: _, form: _, access, to, a, b } => {
                *access = Arc::new(access.with_registers(v));
                a.iter_mut().chain(b.iter_mut()).for_each(|parts| parts.visit(v, Operand));
                to.iter_mut().for_each(|parts| parts.visit(v, Write));
            }
            Action::Print(print) => {
                let mut new = Print::clone(print);
                let value = |value: &Printable| match value {
                    Printable::Booleans(masks) => {
                        let mut masks = masks.to_vec();
                        masks.iter_mut().for_each(|reg| mask(v, reg, Operand));
                        Printable::Booleans(masks.into())
                    }
                    Printable::Numbers(kindred, numbers) => {
                        Printable::Numbers(*kindred, parts(numbers, v))
                    }
                };
                new.values = new.values.iter().map(value).collect();
                *print = Arc::new(new);
            }
            Action::Image(step) => *step = Arc::new(step.with_registers(v)),
            Action::Load { access, to } => {
                *access = Arc::new(access.with_registers(v));
                *to = scalars(to, Write, v);
            }
            Action::Store { access, from } => {
                *access = Arc::new(access.with_registers(v));
                let using = if access.root.is_buffer() { Operand } else { Travel };
                *from = scalars(from, using, v);
            }
            Action::Condition { slot: _, sum, value, weights: _ } => {
                mask(v, value, Travel);
                word(v, sum, Update);
            }
            Action::Decision { slot: _, sum, compared } => {
                *compared = compared.iter().map(|one| one.with_registers(v)).collect();
                word(v, sum, Update);
            }
            Action::Single { slot: _, value, weights: _, compared } => {
                *compared = compared.iter().map(|one| one.with_registers(v)).collect();
                mask(v, value, Travel);
            }
        }
    }
}

impl Compared {
    fn with_registers(&self, visit: &mut dyn FnMut(&mut Scalar, Use)) -> Compared {
        let mut new = self.clone();
        word(visit, &mut new.left, Use::Travel);
        word(visit, &mut new.right, Use::Travel);
        new
    }
}

pub(crate) fn parts(list: &[Parts], visit: &mut dyn FnMut(&mut Scalar, Use)) -> Arc<[Parts]> {
    let mut list = list.to_vec();
    list.iter_mut().for_each(|parts| parts.visit(visit, Use::Operand));
    list.into()
}

pub(crate) fn scalars(
    list: &[Scalar],
    using: Use,
    visit: &mut dyn FnMut(&mut Scalar, Use),
) -> Arc<[Scalar]> {
    let mut list = list.to_vec();
    list.iter_mut().for_each(|scalar| visit(scalar, using));
    list.into()
}

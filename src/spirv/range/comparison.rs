//! Whether comparisons of integers come to the same as other ones in their places.
//!
//! Knows: the comparisons of a walk that are asked of, each time with the facts of its place.
//! Promises: yes only by proof, in every call and every round of a loop: what the one tells of its
//! operands implies the other, and the other way round. By induction over the steps of an execution all
//! comparisons may then be exchanged at once.
//! Does not cover: comparisons of vectors and of floats; executions whose behaviour is undefined.

use super::arithmetic::condition_of;
use super::fact::FactList;
use super::proof::{Effort, is_at_least_zero};
use super::state::State;
use super::value::Value;
use super::walk::Frame;
use super::{HostNumbers, Interval, Origin, Polynomial, Walk, condition::Condition};
use crate::module::{Id, Module};
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A comparison that may stand in the place of one of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherComparison {
    /// Index of the instruction in whose place it stands.
    pub instruction: usize,
    /// What compares.
    pub op: Op,
    /// Left and right.
    pub operands: [ComparedOperand; 2],
}

/// An operand of such a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedOperand {
    /// What an id of the module stands for.
    Id(Id),
    /// A constant, as its word has it, of the type of the other operand.
    Word(u64),
}

/// Of each list, whether all comparisons come to the same as the other ones in their places, whenever they are
/// made, for all contents of memory, push constants, specializations and counts of workgroups.
pub fn comparisons_agree(
    module: &Module,
    entry_function: Id,
    lists: &[Vec<OtherComparison>],
) -> Vec<bool> {
    let mut walk = Walk::new(module, entry_function, &BTreeMap::new(), any_host(module));
    for (list, others) in lists.iter().enumerate() {
        for other in others {
            let asked = AskedComparison { list, other: other.clone() };
            walk.asked_comparisons.entry(other.instruction).or_default().push(asked);
        }
    }
    walk.walk_entry(entry_function);
    let mut agree = vec![!walk.is_stopped(); lists.len()];
    for made in std::mem::take(&mut walk.comparisons) {
        agree[made.list] = agree[made.list] && walk.comes_to_the_same(&made);
    }
    agree
}

/// A comparison that is asked of, with the place of its list.
#[derive(Debug, Clone)]
pub(super) struct AskedComparison {
    list: usize,
    other: OtherComparison,
}

/// A host of which nothing is known.
fn any_host(module: &Module) -> HostNumbers {
    let mut host = HostNumbers::default();
    let mut any_word = |interval: Interval| {
        let origin = Origin::Host("a host value".to_owned());
        Polynomial::atom(host.atoms.new_symbol("", interval, origin))
    };
    let word = Interval::of_word(32, false);
    let groups = [(); 3].map(|()| any_word(word));
    let ids = module.instructions.iter().filter_map(|row| module.specialization_id(row.result?));
    // As a number of any width, of which a word has what fits.
    let specialization = ids.map(|id| (id, any_word(Interval::of_word(64, false)))).collect();
    HostNumbers { groups, specialization, ..host }
}

/// A comparison as a walk came to it.
#[derive(Debug, Clone)]
pub(super) struct MadeComparison {
    list: usize,
    facts: FactList,
    /// What the two come to; none where one of them is not followed.
    conditions: Option<[Rc<Condition>; 2]>,
}

impl Walk<'_> {
    /// Keeps what is known where a comparison that is asked of is made.
    pub(super) fn record_comparison(&mut self, frame: &Frame, state: &State, index: usize) {
        let Some(asked) = self.asked_comparisons.get(&index).cloned() else { return };
        for AskedComparison { list, other } in asked {
            let conditions = self.two_conditions(frame, state, &other);
            let facts = state.facts.clone();
            self.comparisons.push(MadeComparison { list, facts, conditions });
            if self.comparisons.len() > super::MOST_RECORDED {
                self.stop("the kernel has more comparisons in its calls than the analysis follows");
            }
        }
    }

    fn two_conditions(
        &mut self,
        frame: &Frame,
        state: &State,
        other: &OtherComparison,
    ) -> Option<[Rc<Condition>; 2]> {
        let instruction = &self.module.instructions[other.instruction];
        let own_operands = [instruction.id(0)?, instruction.id(1)?].map(ComparedOperand::Id);
        let own = self.condition_of_comparison(frame, state, instruction.op, &own_operands)?;
        let other = self.condition_of_comparison(frame, state, other.op, &other.operands)?;
        Some([own, other])
    }

    fn condition_of_comparison(
        &mut self,
        frame: &Frame,
        state: &State,
        op: Op,
        operands: &[ComparedOperand; 2],
    ) -> Option<Rc<Condition>> {
        let type_of = |walk: &Self, operand: &ComparedOperand| match operand {
            ComparedOperand::Id(id) => walk.type_of(*id),
            ComparedOperand::Word(_) => None,
        };
        let types = operands.each_ref().map(|operand| type_of(self, operand));
        let constant_type = types[0].or(types[1])?;
        let mut values = Vec::new();
        for (operand, own_type) in operands.iter().zip(types) {
            let type_id = own_type.unwrap_or(constant_type);
            let value = match operand {
                ComparedOperand::Id(id) => self.value_of(frame, *id),
                ComparedOperand::Word(bits) => {
                    let width = self.word_type(type_id)?.width;
                    Value::integer(Polynomial::constant(i128::from(*bits)).as_word(width))
                }
            };
            values.push((value, type_id));
        }
        condition_of(&self.truth(state, op, &values)?).cloned()
    }

    fn comes_to_the_same(&mut self, made: &MadeComparison) -> bool {
        let Some([own, other]) = &made.conditions else { return false };
        own == other
            || self.implies(&made.facts, own, other) && self.implies(&made.facts, other, own)
    }

    /// Whether one condition holds where the other one does.
    fn implies(&mut self, facts: &FactList, one: &Rc<Condition>, other: &Rc<Condition>) -> bool {
        let state = State { facts: facts.clone(), ..State::default() };
        // Where it never holds, it implies everything.
        let Some(assumed) = self.assumed_state(&state, one, true) else { return true };
        let mut is_shown = |number: &Polynomial| {
            let facts = &assumed.facts;
            is_at_least_zero(&self.atoms, facts, number, Effort::Full, &mut self.proof_work)
        };
        match &**other {
            Condition::Known(value) => *value || is_shown(&Polynomial::constant(-1)),
            Condition::AtLeastZero(number) => is_shown(number),
            Condition::Zero(number) => is_shown(number) && is_shown(&number.negated()),
            Condition::NonZero(number) => {
                is_shown(&number.plus_number(-1)) || is_shown(&number.negated().plus_number(-1))
            }
            Condition::All(_)
            | Condition::Any(_)
            | Condition::ByWay(_)
            | Condition::Not(_)
            | Condition::Unknown(..) => false,
        }
    }
}

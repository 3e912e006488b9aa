//! Witnesses: the lowest rank of all invocations that set a bit.
//!
//! Knows: one word per bit behind the data words, at first `NOBODY`.

use crate::record::buffer::Storage;
use rspirv::dr::Operand;
use rspirv::spirv::{LoopControl, Op};
use vkcert_model::records::HEADER_WORDS;
use vkcert_spirv::module::Id;
use vkcert_spirv::rewrite::{ModuleDraft, new_instruction};

impl Storage {
    /// `if (rank < witness[number]) atomicMin(witness[number], rank)`
    pub(super) fn tell_witness(&self, draft: &mut ModuleDraft, number: Id) {
        let rank = self.rank.expect("witnesses have ranks");
        let first = draft.uint_constant(HEADER_WORDS + self.copied_words());
        let index = self.binary(draft, Op::IAdd, number, first);
        let place = self.word(draft, index);
        let mine = self.load(draft, rank.value);
        let lowest = self.atomic(draft, Op::AtomicLoad, place, self.scope, None);
        let lower = draft.emit(
            Op::ULessThan,
            self.boolean,
            vec![Operand::IdRef(mine), Operand::IdRef(lowest)],
        );
        draft.branch_if(lower, |draft| {
            self.atomic(draft, Op::AtomicUMin, place, self.scope, Some(mine));
        });
    }

    /// Defines `tell(first, bits)`: tells the witness of bit `first + n` for every bit n of `bits`.
    pub(super) fn define_witness(&self, draft: &mut ModuleDraft) {
        let Some(function) = self.tell_witnesses else { return };
        let [first, bits, number, rest, next, shifted] = std::array::from_fn(|_| draft.fresh_id());
        let [start, header, test, body, proceed, exit] = std::array::from_fn(|_| draft.fresh_id());
        draft.begin_function(self.void, function, &[(self.uint, first), (self.uint, bits)]);
        draft.branch(start);
        draft.begin_block(start);
        draft.branch(header);
        draft.begin_block(header);
        for (result, from_start, again) in [(number, first, next), (rest, bits, shifted)] {
            let operands = [from_start, start, again, proceed].map(Operand::IdRef).to_vec();
            draft.functions.push(new_instruction(Op::Phi, Some(self.uint), Some(result), operands));
        }
        let merge = vec![
            Operand::IdRef(exit),
            Operand::IdRef(proceed),
            Operand::LoopControl(LoopControl::NONE),
        ];
        draft.push(Op::LoopMerge, merge);
        draft.branch(test);
        draft.begin_block(test);
        let (zero, one) = (draft.uint_constant(0), draft.uint_constant(1));
        let some = self.differ(draft, rest, zero);
        let targets = [some, body, exit].map(Operand::IdRef).to_vec();
        draft.push(Op::BranchConditional, targets);
        draft.begin_block(body);
        let low = self.binary(draft, Op::BitwiseAnd, rest, one);
        let set = self.differ(draft, low, zero);
        draft.branch_if(set, |draft| self.tell_witness(draft, number));
        draft.branch(proceed);
        draft.begin_block(proceed);
        for (op, result, value) in
            [(Op::IAdd, next, number), (Op::ShiftRightLogical, shifted, rest)]
        {
            let operands = vec![Operand::IdRef(value), Operand::IdRef(one)];
            draft.functions.push(new_instruction(op, Some(self.uint), Some(result), operands));
        }
        draft.branch(header);
        draft.begin_block(exit);
        draft.end_function();
        draft.add_name(function, "vkcert_witness");
    }
}

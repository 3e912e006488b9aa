//! Witnesses: the lowest rank of all invocations that set a bit.
//!
//! Knows: one word per bit behind the data words, at first `NOBODY`.

use crate::record::buffer::RecordStorage;
use rspirv::dr::Operand;
use rspirv::spirv::{LoopControl, Op};
use vkcert_model::records::HEADER_WORDS;
use vkcert_spirv::module::Id;
use vkcert_spirv::rewrite::{ModuleDraft, new_instruction};

impl RecordStorage {
    /// `if (rank < witness[number]) atomicMin(witness[number], rank)`
    pub(super) fn tell_witness(&self, draft: &mut ModuleDraft, bit_number: Id) {
        let rank = self.rank.expect("witnesses have ranks");
        let first_witness = draft.uint_constant(HEADER_WORDS + self.copied_words());
        let word_index = self.binary_operation(draft, Op::IAdd, bit_number, first_witness);
        let word_pointer = self.word_pointer_at(draft, word_index);
        let own_rank = self.load_word(draft, rank.value);
        let lowest_rank =
            self.atomic_operation(draft, Op::AtomicLoad, word_pointer, self.scope, None);
        let is_lower = draft.emit(
            Op::ULessThan,
            self.boolean,
            vec![Operand::IdRef(own_rank), Operand::IdRef(lowest_rank)],
        );
        draft.branch_if(is_lower, |draft| {
            self.atomic_operation(draft, Op::AtomicUMin, word_pointer, self.scope, Some(own_rank));
        });
    }

    /// Defines `tell(first, bits)`: tells the witness of bit `first + n` for every bit n of `bits`.
    pub(super) fn define_witness(&self, draft: &mut ModuleDraft) {
        let Some(function) = self.tell_witnesses else { return };
        let [first_bit, bits, bit_number, remaining_bits, next_number, shifted_bits] =
            std::array::from_fn(|_| draft.fresh_id());
        let [start_block, header_block, test_block, body_block, continue_block, merge_block] =
            std::array::from_fn(|_| draft.fresh_id());
        draft.begin_function(self.void, function, &[(self.uint, first_bit), (self.uint, bits)]);
        draft.branch(start_block);
        draft.begin_block(start_block);
        draft.branch(header_block);
        draft.begin_block(header_block);
        for (result, from_start, value_again) in
            [(bit_number, first_bit, next_number), (remaining_bits, bits, shifted_bits)]
        {
            let operands =
                [from_start, start_block, value_again, continue_block].map(Operand::IdRef).to_vec();
            draft.functions.push(new_instruction(Op::Phi, Some(self.uint), Some(result), operands));
        }
        let merge_operands = vec![
            Operand::IdRef(merge_block),
            Operand::IdRef(continue_block),
            Operand::LoopControl(LoopControl::NONE),
        ];
        draft.push(Op::LoopMerge, merge_operands);
        draft.branch(test_block);
        draft.begin_block(test_block);
        let (zero, one_constant) = (draft.uint_constant(0), draft.uint_constant(1));
        let has_bits = self.not_equal(draft, remaining_bits, zero);
        let targets = [has_bits, body_block, merge_block].map(Operand::IdRef).to_vec();
        draft.push(Op::BranchConditional, targets);
        draft.begin_block(body_block);
        let lowest_bit = self.binary_operation(draft, Op::BitwiseAnd, remaining_bits, one_constant);
        let is_set = self.not_equal(draft, lowest_bit, zero);
        draft.branch_if(is_set, |draft| self.tell_witness(draft, bit_number));
        draft.branch(continue_block);
        draft.begin_block(continue_block);
        for (op, result, value) in [
            (Op::IAdd, next_number, bit_number),
            (Op::ShiftRightLogical, shifted_bits, remaining_bits),
        ] {
            let operands = vec![Operand::IdRef(value), Operand::IdRef(one_constant)];
            draft.functions.push(new_instruction(op, Some(self.uint), Some(result), operands));
        }
        draft.branch(header_block);
        draft.begin_block(merge_block);
        draft.end_function();
        draft.add_name(function, "vkcert_witness");
    }
}

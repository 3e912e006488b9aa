//! Words of the record buffer, of workgroup memory and of inputs, as instructions.

use crate::record::buffer::{BuiltInInput, RecordStorage};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use vkcert_spirv::module::Id;
use vkcert_spirv::rewrite::ModuleDraft;

impl RecordStorage {
    pub(super) fn binary_operation(
        &self,
        draft: &mut ModuleDraft,
        op: Op,
        first_operand: Id,
        second_operand: Id,
    ) -> Id {
        draft.emit(
            op,
            self.uint,
            vec![Operand::IdRef(first_operand), Operand::IdRef(second_operand)],
        )
    }

    pub(super) fn load_word(&self, draft: &mut ModuleDraft, pointer: Id) -> Id {
        draft.emit(Op::Load, self.uint, vec![Operand::IdRef(pointer)])
    }

    /// Pointer to the buffer's word with a number.
    pub(super) fn word_pointer_at(&self, draft: &mut ModuleDraft, word_index: Id) -> Id {
        let member = draft.uint_constant(0);
        draft.emit(
            Op::AccessChain,
            self.word_pointer,
            [self.buffer, member, word_index].map(Operand::IdRef).to_vec(),
        )
    }

    pub(super) fn fixed_word(&self, draft: &mut ModuleDraft, word_index: u32) -> Id {
        let word_index = draft.uint_constant(word_index);
        self.word_pointer_at(draft, word_index)
    }

    pub(super) fn header_value(&self, draft: &mut ModuleDraft, word_index: u32) -> Id {
        let word_pointer = self.fixed_word(draft, word_index);
        self.load_word(draft, word_pointer)
    }

    pub(super) fn not_equal(
        &self,
        draft: &mut ModuleDraft,
        first_operand: Id,
        second_operand: Id,
    ) -> Id {
        draft.emit(
            Op::INotEqual,
            self.boolean,
            vec![Operand::IdRef(first_operand), Operand::IdRef(second_operand)],
        )
    }

    pub(super) fn atomic_operation(
        &self,
        draft: &mut ModuleDraft,
        op: Op,
        pointer: Id,
        scope: Id,
        stored_value: Option<Id>,
    ) -> Id {
        let mut operands = vec![
            Operand::IdRef(pointer),
            Operand::IdScope(scope),
            Operand::IdMemorySemantics(self.relaxed),
        ];
        operands.extend(stored_value.map(Operand::IdRef));
        draft.emit(op, self.uint, operands)
    }

    pub(super) fn atomic_store(
        &self,
        draft: &mut ModuleDraft,
        pointer: Id,
        scope: Id,
        value_id: Id,
    ) {
        let operands = vec![
            Operand::IdRef(pointer),
            Operand::IdScope(scope),
            Operand::IdMemorySemantics(self.relaxed),
            Operand::IdRef(value_id),
        ];
        draft.push(Op::AtomicStore, operands);
    }

    pub(super) fn load_input(
        &self,
        draft: &mut ModuleDraft,
        input: BuiltInInput,
        type_id: Id,
    ) -> Id {
        let loaded_input = draft.emit(Op::Load, input.ty, vec![Operand::IdRef(input.variable)]);
        if input.ty == type_id {
            loaded_input
        } else {
            draft.emit(Op::Bitcast, type_id, vec![Operand::IdRef(loaded_input)])
        }
    }

    /// The components of an input with three.
    pub(super) fn input_components(
        &self,
        draft: &mut ModuleDraft,
        input: BuiltInInput,
        vector_type: Id,
    ) -> [Id; 3] {
        let loaded_vector = self.load_input(draft, input, vector_type);
        [0, 1, 2].map(|axis| {
            draft.emit(
                Op::CompositeExtract,
                self.uint,
                vec![Operand::IdRef(loaded_vector), Operand::LiteralBit32(axis)],
            )
        })
    }
}

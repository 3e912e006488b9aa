//! Words of the record buffer, of workgroup memory and of inputs, as instructions.

use crate::record::buffer::{Input, Storage};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use vkcert_spirv::module::Id;
use vkcert_spirv::rewrite::ModuleDraft;

impl Storage {
    pub(super) fn binary(&self, draft: &mut ModuleDraft, op: Op, a: Id, b: Id) -> Id {
        draft.emit(op, self.uint, vec![Operand::IdRef(a), Operand::IdRef(b)])
    }

    pub(super) fn load(&self, draft: &mut ModuleDraft, pointer: Id) -> Id {
        draft.emit(Op::Load, self.uint, vec![Operand::IdRef(pointer)])
    }

    /// Pointer to the buffer's word with a number.
    pub(super) fn word(&self, draft: &mut ModuleDraft, index: Id) -> Id {
        let member = draft.uint_constant(0);
        draft.emit(
            Op::AccessChain,
            self.word_pointer,
            [self.buffer, member, index].map(Operand::IdRef).to_vec(),
        )
    }

    pub(super) fn fixed_word(&self, draft: &mut ModuleDraft, index: u32) -> Id {
        let index = draft.uint_constant(index);
        self.word(draft, index)
    }

    pub(super) fn header(&self, draft: &mut ModuleDraft, index: u32) -> Id {
        let word = self.fixed_word(draft, index);
        self.load(draft, word)
    }

    pub(super) fn differ(&self, draft: &mut ModuleDraft, a: Id, b: Id) -> Id {
        draft.emit(Op::INotEqual, self.boolean, vec![Operand::IdRef(a), Operand::IdRef(b)])
    }

    pub(super) fn atomic(
        &self,
        draft: &mut ModuleDraft,
        op: Op,
        pointer: Id,
        scope: Id,
        value: Option<Id>,
    ) -> Id {
        let mut operands = vec![
            Operand::IdRef(pointer),
            Operand::IdScope(scope),
            Operand::IdMemorySemantics(self.relaxed),
        ];
        operands.extend(value.map(Operand::IdRef));
        draft.emit(op, self.uint, operands)
    }

    pub(super) fn atomic_store(&self, draft: &mut ModuleDraft, pointer: Id, scope: Id, value: Id) {
        let operands = vec![
            Operand::IdRef(pointer),
            Operand::IdScope(scope),
            Operand::IdMemorySemantics(self.relaxed),
            Operand::IdRef(value),
        ];
        draft.push(Op::AtomicStore, operands);
    }

    pub(super) fn input(&self, draft: &mut ModuleDraft, input: Input, ty: Id) -> Id {
        let loaded = draft.emit(Op::Load, input.ty, vec![Operand::IdRef(input.variable)]);
        if input.ty == ty {
            loaded
        } else {
            draft.emit(Op::Bitcast, ty, vec![Operand::IdRef(loaded)])
        }
    }

    /// The components of an input with three.
    pub(super) fn components(&self, draft: &mut ModuleDraft, input: Input, triple: Id) -> [Id; 3] {
        let all = self.input(draft, input, triple);
        [0, 1, 2].map(|axis| {
            draft.emit(
                Op::CompositeExtract,
                self.uint,
                vec![Operand::IdRef(all), Operand::LiteralBit32(axis)],
            )
        })
    }
}

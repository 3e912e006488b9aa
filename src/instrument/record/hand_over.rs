//! How bits get from an invocation into the record buffer.
//!
//! Knows: the five modes. With atomics, a bit is tested before it is set: most invocations find
//! nothing new.
//! Promises: every bit of an invocation that reaches the end of the entry point is in the buffer
//! when the dispatch has ended; so is the canary if any invocation has handed over. Witnesses hold
//! the lowest rank of all that set a bit.
//! Does not cover: what the words mean (`form`).

use super::buffer::{GroupCopy, Storage};
use super::plan::SingleBits;
use crate::form::{INVOCATIONS_WORD, LOCAL_WORD, PLANE_WORD, ROW_WORD};
use rspirv::dr::Operand;
use rspirv::spirv::{GroupOperation, MemorySemantics, Op};
use vkcert_model::records::{CANARY, HEADER_WORDS, RecordMode, Witnesses};
use vkcert_spirv::module::Id;
use vkcert_spirv::rewrite::ModuleDraft;

/// Words whose tests share one branch.
const CHUNK: usize = 8;

/// A gathered word while it is handed over.
#[derive(Clone, Copy)]
struct Gathered {
    word: u32,
    bits: Id,
}

impl Storage {
    /// What stands before the kernel: the rank, and the workgroup's words as zero.
    pub(super) fn prepare(&self, draft: &mut ModuleDraft) {
        if let Some(rank) = self.rank {
            let value = self.compute_rank(draft);
            draft.store(rank.value, value);
            if self.mode == RecordMode::Slots {
                let invocations = self.header(draft, INVOCATIONS_WORD);
                draft.store(rank.invocations, invocations);
            }
        }
        if self.set_one.is_some() {
            self.find_copy(draft);
        }
        if let Some(shared) = self.shared {
            let local = self.input(draft, shared.local, self.uint);
            let zero = draft.uint_constant(0);
            let first = draft.emit(
                Op::IEqual,
                self.boolean,
                vec![Operand::IdRef(local), Operand::IdRef(zero)],
            );
            draft.branch_if(first, |draft| {
                for word in self.gathered.keys() {
                    let place = self.shared_word(draft, *word);
                    self.atomic_store(draft, place, self.workgroup_scope, zero);
                }
            });
            let semantics = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::WORKGROUP_MEMORY;
            let semantics = draft.uint_constant(semantics.bits());
            let scope = Operand::IdScope(self.workgroup_scope);
            let operands = vec![scope.clone(), scope, Operand::IdMemorySemantics(semantics)];
            draft.push(Op::ControlBarrier, operands);
        }
    }

    /// Settles which copy is the workgroup's: before the kernel if bits are handed over one by one,
    /// else behind it, so that no register holds it in between.
    fn find_copy(&self, draft: &mut ModuleDraft) {
        if let Some(copy) = self.copy {
            let first = self.first_of(draft, copy);
            draft.store(copy.first, first);
        }
    }

    /// Where the workgroup's copy of the data words begins: behind its canary, at `HEADER + 1 + ((x
    /// + y + z) % copies) * stride`
    fn first_of(&self, draft: &mut ModuleDraft, copy: GroupCopy) -> Id {
        let [x, y, z] = self.components(draft, copy.workgroup, copy.triple);
        let [last, stride, header] = [copy.copies - 1, copy.stride, HEADER_WORDS + 1]
            .map(|value| draft.uint_constant(value));
        let xy = self.binary(draft, Op::IAdd, x, y);
        let xyz = self.binary(draft, Op::IAdd, xy, z);
        let number = self.binary(draft, Op::BitwiseAnd, xyz, last);
        let distance = self.binary(draft, Op::IMul, number, stride);
        self.binary(draft, Op::IAdd, distance, header)
    }

    /// Data words of all copies.
    pub(super) fn copied_words(&self) -> u32 {
        self.copy.map_or(self.words, |copy| copy.copies * copy.stride)
    }

    /// Pointer to a data word that invocations share.
    fn data_word(&self, draft: &mut ModuleDraft, word: Id) -> Id {
        let first = match self.copy {
            Some(copy) => self.load(draft, copy.first),
            None => draft.uint_constant(HEADER_WORDS),
        };
        let index = self.binary(draft, Op::IAdd, first, word);
        self.word(draft, index)
    }

    /// The same for a word whose number is fixed.
    fn fixed_data_word(&self, draft: &mut ModuleDraft, word: u32) -> Id {
        if self.copy.is_none() {
            return self.fixed_word(draft, HEADER_WORDS + word);
        }
        let word = draft.uint_constant(word);
        self.data_word(draft, word)
    }

    /// `(x + y * groups.x + z * groups.x * groups.y) * local size + local index`
    fn compute_rank(&self, draft: &mut ModuleDraft) -> Id {
        let rank = self.rank.expect("the mode has ranks");
        let [x, y, z] = self.components(draft, rank.workgroup, rank.triple);
        let [row, plane, local_size] =
            [ROW_WORD, PLANE_WORD, LOCAL_WORD].map(|word| self.header(draft, word));
        let y = self.binary(draft, Op::IMul, y, row);
        let z = self.binary(draft, Op::IMul, z, plane);
        let xy = self.binary(draft, Op::IAdd, x, y);
        let linear = self.binary(draft, Op::IAdd, xy, z);
        let first = self.binary(draft, Op::IMul, linear, local_size);
        let local = self.input(draft, rank.local, self.uint);
        self.binary(draft, Op::IAdd, first, local)
    }

    fn shared_word(&self, draft: &mut ModuleDraft, word: u32) -> Id {
        let shared = self.shared.expect("the mode has workgroup words");
        let place = draft.uint_constant(self.shared_places[&word]);
        draft.emit(
            Op::AccessChain,
            shared.element_pointer,
            vec![Operand::IdRef(shared.array), Operand::IdRef(place)],
        )
    }

    /// What stands behind the kernel: gathered bits, and the canary.
    pub(super) fn hand_over(&self, draft: &mut ModuleDraft) {
        if self.mode == RecordMode::Slots {
            return self.fill_slot(draft);
        }
        if self.set_one.is_none() {
            self.find_copy(draft);
        }
        if self.canary_word.is_none() {
            self.write_canary_once(draft);
        }
        let mut all: Vec<Gathered> = Vec::new();
        for word in self.gathered.keys() {
            all.push(Gathered { word: *word, bits: self.gathered_bits(draft, *word) });
        }
        if let Some(tell) = self.tell_witnesses {
            for gathered in &all {
                let first = draft.uint_constant(gathered.word * 32);
                let operands = [tell, first, gathered.bits].map(Operand::IdRef).to_vec();
                draft.emit(Op::FunctionCall, self.void, operands);
            }
        }
        match self.mode {
            RecordMode::Private | RecordMode::Direct => self.add_all(draft, &all),
            RecordMode::Workgroup => self.add_what_the_workgroup_lacks(draft, &all),
            RecordMode::Subgroup => self.add_once_per_subgroup(draft, &all),
            RecordMode::Slots => unreachable!("slots are filled above"),
        }
    }

    /// What the invocation has gathered of a word.
    fn gathered_bits(&self, draft: &mut ModuleDraft, word: u32) -> Id {
        let mut bits = self.load(draft, self.gathered[&word]);
        for (_, flag) in self.flags.range(32 * word..=32 * word + 31) {
            let flag = self.load(draft, *flag);
            bits = self.binary(draft, Op::BitwiseOr, bits, flag);
        }
        bits
    }

    /// Writes the canary unless it is there.
    fn write_canary_once(&self, draft: &mut ModuleDraft) {
        let proof = self.proof(draft);
        let canary = self.canary(draft);
        let present = self.atomic(draft, Op::AtomicLoad, canary, self.scope, None);
        let missing = self.differ(draft, present, proof);
        draft.branch_if(missing, |draft| self.atomic_store(draft, canary, self.scope, proof));
    }

    /// The canary's place: in the header, or before the workgroup's copy.
    fn canary(&self, draft: &mut ModuleDraft) -> Id {
        match self.copy {
            None => self.fixed_word(draft, 1),
            Some(copy) => {
                let first = self.load(draft, copy.first);
                let one = draft.uint_constant(1);
                let index = self.binary(draft, Op::ISub, first, one);
                self.word(draft, index)
            }
        }
    }

    /// `nonce ^ CANARY`
    fn proof(&self, draft: &mut ModuleDraft) -> Id {
        let nonce = self.header(draft, 0);
        let canary = draft.uint_constant(CANARY);
        self.binary(draft, Op::BitwiseXor, nonce, canary)
    }

    /// The bits of each word that the buffer does not have yet, one branch for several words.
    fn add_all(&self, draft: &mut ModuleDraft, all: &[Gathered]) {
        for chunk in all.chunks(CHUNK) {
            let new = self.missing_in(draft, chunk, self.scope, Self::fixed_data_word);
            let proof = self.proof_of(draft, chunk);
            let any = self.any(draft, new.iter().map(|(gathered, _)| gathered.bits));
            draft.branch_if(any, |draft| {
                for (gathered, place) in &new {
                    self.atomic_or_unless_zero(draft, *place, gathered.bits, new.len());
                }
                self.write_canary(draft, proof);
            });
        }
    }

    /// The bits of each word that its place does not have yet, with the place.
    fn missing_in(
        &self,
        draft: &mut ModuleDraft,
        chunk: &[Gathered],
        scope: Id,
        place: fn(&Self, &mut ModuleDraft, u32) -> Id,
    ) -> Vec<(Gathered, Id)> {
        let missing = chunk.iter().map(|gathered| {
            let place = place(self, draft, gathered.word);
            let known = self.atomic(draft, Op::AtomicLoad, place, scope, None);
            let bits = self.without(draft, gathered.bits, known);
            (Gathered { bits, ..*gathered }, place)
        });
        missing.collect()
    }

    /// Where only one word is handed over, its bits are known to be new.
    fn atomic_or_unless_zero(&self, draft: &mut ModuleDraft, place: Id, bits: Id, words: usize) {
        let add = |draft: &mut ModuleDraft| {
            self.atomic(draft, Op::AtomicOr, place, self.scope, Some(bits));
        };
        if words == 1 {
            return add(draft);
        }
        let zero = draft.uint_constant(0);
        let some = self.differ(draft, bits, zero);
        draft.branch_if(some, add);
    }

    /// What the canary shall hold, if the word that every invocation has a bit in is among these.
    /// It is computed outside of the branch, where all invocations load the same word: some devices
    /// load word by word inside.
    fn proof_of(&self, draft: &mut ModuleDraft, chunk: &[Gathered]) -> Option<Id> {
        let certain = chunk.iter().any(|gathered| Some(gathered.word) == self.canary_word);
        certain.then(|| self.proof(draft))
    }

    fn write_canary(&self, draft: &mut ModuleDraft, proof: Option<Id>) {
        if let Some(proof) = proof {
            let canary = self.canary(draft);
            self.atomic_store(draft, canary, self.scope, proof);
        }
    }

    /// `bits & ~known`
    fn without(&self, draft: &mut ModuleDraft, bits: Id, known: Id) -> Id {
        let unknown = draft.emit(Op::Not, self.uint, vec![Operand::IdRef(known)]);
        self.binary(draft, Op::BitwiseAnd, bits, unknown)
    }

    /// Whether one of the words is not zero.
    fn any(&self, draft: &mut ModuleDraft, words: impl Iterator<Item = Id>) -> Id {
        let words: Vec<Id> = words.collect();
        let zero = draft.uint_constant(0);
        let united = words
            .into_iter()
            .reduce(|a, b| self.binary(draft, Op::BitwiseOr, a, b))
            .unwrap_or(zero);
        self.differ(draft, united, zero)
    }

    fn add_what_the_workgroup_lacks(&self, draft: &mut ModuleDraft, all: &[Gathered]) {
        for chunk in all.chunks(CHUNK) {
            let new = self.missing_in(draft, chunk, self.workgroup_scope, Self::shared_word);
            let proof = self.proof_of(draft, chunk);
            let any = self.any(draft, new.iter().map(|(gathered, _)| gathered.bits));
            draft.branch_if(any, |draft| {
                for (gathered, place) in &new {
                    let before = self.atomic(
                        draft,
                        Op::AtomicOr,
                        *place,
                        self.workgroup_scope,
                        Some(gathered.bits),
                    );
                    let bits = self.without(draft, gathered.bits, before);
                    let place = self.fixed_data_word(draft, gathered.word);
                    let known = self.atomic(draft, Op::AtomicLoad, place, self.scope, None);
                    let bits = self.without(draft, bits, known);
                    self.atomic_or_unless_zero(draft, place, bits, 2);
                }
                self.write_canary(draft, proof);
            });
        }
    }

    /// Unites the bits of all invocations that are here; one of them hands over.
    fn add_once_per_subgroup(&self, draft: &mut ModuleDraft, all: &[Gathered]) {
        let subgroup = draft.uint_constant(rspirv::spirv::Scope::Subgroup as u32);
        let united: Vec<Gathered> = all
            .iter()
            .map(|gathered| {
                let operands = vec![
                    Operand::IdScope(subgroup),
                    Operand::GroupOperation(GroupOperation::Reduce),
                    Operand::IdRef(gathered.bits),
                ];
                Gathered {
                    bits: draft.emit(Op::GroupNonUniformBitwiseOr, self.uint, operands),
                    ..*gathered
                }
            })
            .collect();
        let elected =
            draft.emit(Op::GroupNonUniformElect, self.boolean, vec![Operand::IdScope(subgroup)]);
        draft.branch_if(elected, |draft| self.add_all(draft, &united));
    }

    /// The invocation's own words: nobody else touches them.
    fn fill_slot(&self, draft: &mut ModuleDraft) {
        let canary = self.slot_word(draft, None);
        let proof = self.proof(draft);
        draft.store(canary, proof);
        for word in self.gathered.keys() {
            let mut bits = self.gathered_bits(draft, *word);
            let number = draft.uint_constant(*word);
            let place = self.slot_word(draft, Some(number));
            if self.single_bits == SingleBits::Used {
                let before = self.load(draft, place);
                bits = self.binary(draft, Op::BitwiseOr, before, bits);
            }
            draft.store(place, bits);
        }
    }

    /// Pointer to a data word of the invocation's slot, or to its canary: `HEADER + (1 + word) *
    /// invocations + rank`.
    fn slot_word(&self, draft: &mut ModuleDraft, word: Option<Id>) -> Id {
        let rank = self.rank.expect("slots have ranks");
        let header = draft.uint_constant(HEADER_WORDS);
        let mine = self.load(draft, rank.value);
        let mut index = self.binary(draft, Op::IAdd, mine, header);
        if let Some(word) = word {
            let one = draft.uint_constant(1);
            let row = self.binary(draft, Op::IAdd, word, one);
            let invocations = self.load(draft, rank.invocations);
            let first = self.binary(draft, Op::IMul, row, invocations);
            index = self.binary(draft, Op::IAdd, first, index);
        }
        self.word(draft, index)
    }

    /// Defines the function that hands over the bit with a number.
    pub(super) fn define_set_one(&self, draft: &mut ModuleDraft) {
        let Some(function) = self.set_one else { return };
        let number = draft.fresh_id();
        draft.begin_function(self.void, function, &[(self.uint, number)]);
        let [five, low, one] = [5, 31, 1].map(|value| draft.uint_constant(value));
        let word = self.binary(draft, Op::ShiftRightLogical, number, five);
        let place = self.binary(draft, Op::BitwiseAnd, number, low);
        let bit = self.binary(draft, Op::ShiftLeftLogical, one, place);
        if self.mode == RecordMode::Slots {
            let place = self.slot_word(draft, Some(word));
            let before = self.load(draft, place);
            let after = self.binary(draft, Op::BitwiseOr, before, bit);
            draft.store(place, after);
        } else {
            if self.witnesses == Witnesses::Recorded {
                self.tell_witness(draft, number);
            }
            let place = self.data_word(draft, word);
            let known = self.atomic(draft, Op::AtomicLoad, place, self.scope, None);
            let new = self.without(draft, bit, known);
            self.atomic_or_unless_zero(draft, place, new, 2);
        }
        draft.end_function();
        draft.add_name(function, "vkcert_record");
    }
}

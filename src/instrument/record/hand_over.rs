//! How bits get from an invocation into the record buffer.
//!
//! Knows: the five modes. With atomics, a bit is tested before it is set: most invocations find
//! nothing new.
//! Promises: every bit of an invocation that reaches the end of the entry point is in the buffer
//! when the dispatch has ended; so is the canary if any invocation has handed over. Witnesses hold
//! the lowest rank of all that set a bit.
//! Does not cover: what the words mean (`form`).

use super::buffer::{GroupCopy, RecordStorage};
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
struct GatheredWord {
    word: u32,
    bits: Id,
}

impl RecordStorage {
    /// What stands before the kernel: the rank, and the workgroup's words as zero.
    pub(super) fn prepare_recording(&self, draft: &mut ModuleDraft) {
        if let Some(rank) = self.rank {
            let rank_value = self.compute_rank(draft);
            draft.store(rank.value, rank_value);
            if self.mode == RecordMode::Slots {
                let invocations = self.header_value(draft, INVOCATIONS_WORD);
                draft.store(rank.invocations, invocations);
            }
        }
        if self.set_one.is_some() {
            self.find_copy(draft);
        }
        if let Some(shared_words) = self.shared {
            let local_index = self.load_input(draft, shared_words.local, self.uint);
            let zero = draft.uint_constant(0);
            let is_first = draft.emit(
                Op::IEqual,
                self.boolean,
                vec![Operand::IdRef(local_index), Operand::IdRef(zero)],
            );
            draft.branch_if(is_first, |draft| {
                for word in self.gathered.keys() {
                    let word_pointer = self.shared_word(draft, *word);
                    self.atomic_store(draft, word_pointer, self.workgroup_scope, zero);
                }
            });
            let memory_semantics =
                MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::WORKGROUP_MEMORY;
            let memory_semantics = draft.uint_constant(memory_semantics.bits());
            let operands = vec![
                Operand::IdScope(self.workgroup_scope),
                Operand::IdScope(self.workgroup_scope),
                Operand::IdMemorySemantics(memory_semantics),
            ];
            draft.push(Op::ControlBarrier, operands);
        }
    }

    /// Settles which copy is the workgroup's: before the kernel if bits are handed over one by one,
    /// else behind it, so that no register holds it in between.
    fn find_copy(&self, draft: &mut ModuleDraft) {
        if let Some(group_copy) = self.copy {
            let first_word = self.first_of(draft, group_copy);
            draft.store(group_copy.first, first_word);
        }
    }

    /// Where the workgroup's copy of the data words begins: behind its canary, at `HEADER + 1 + ((x
    /// + y + z) % copies) * stride`
    fn first_of(&self, draft: &mut ModuleDraft, group_copy: GroupCopy) -> Id {
        let [x, y, z] = self.input_components(draft, group_copy.workgroup, group_copy.triple);
        let [copy_mask, stride, header_length] =
            [group_copy.copies - 1, group_copy.stride, HEADER_WORDS + 1]
                .map(|value| draft.uint_constant(value));
        let partial_sum = self.binary_operation(draft, Op::IAdd, x, y);
        let group_sum = self.binary_operation(draft, Op::IAdd, partial_sum, z);
        let copy_number = self.binary_operation(draft, Op::BitwiseAnd, group_sum, copy_mask);
        let copy_distance = self.binary_operation(draft, Op::IMul, copy_number, stride);
        self.binary_operation(draft, Op::IAdd, copy_distance, header_length)
    }

    /// Data words of all copies.
    pub(super) fn copied_words(&self) -> u32 {
        self.copy.map_or(self.words, |copy| copy.copies * copy.stride)
    }

    /// Pointer to a data word that invocations share.
    fn data_word(&self, draft: &mut ModuleDraft, data_index: Id) -> Id {
        let first_word = match self.copy {
            Some(copy) => self.load_word(draft, copy.first),
            None => draft.uint_constant(HEADER_WORDS),
        };
        let index = self.binary_operation(draft, Op::IAdd, first_word, data_index);
        self.word_pointer_at(draft, index)
    }

    /// The same for a word whose number is fixed.
    fn fixed_data_word(&self, draft: &mut ModuleDraft, data_index: u32) -> Id {
        if self.copy.is_none() {
            return self.fixed_word(draft, HEADER_WORDS + data_index);
        }
        let data_index = draft.uint_constant(data_index);
        self.data_word(draft, data_index)
    }

    /// `(x + y * groups.x + z * groups.x * groups.y) * local size + local index`
    fn compute_rank(&self, draft: &mut ModuleDraft) -> Id {
        let rank = self.rank.expect("the mode has ranks");
        let [x, y, z] = self.input_components(draft, rank.workgroup, rank.triple);
        let [row_length, plane_size, local_size] =
            [ROW_WORD, PLANE_WORD, LOCAL_WORD].map(|word| self.header_value(draft, word));
        let y = self.binary_operation(draft, Op::IMul, y, row_length);
        let z = self.binary_operation(draft, Op::IMul, z, plane_size);
        let xy = self.binary_operation(draft, Op::IAdd, x, y);
        let linear_index = self.binary_operation(draft, Op::IAdd, xy, z);
        let first_rank = self.binary_operation(draft, Op::IMul, linear_index, local_size);
        let local_index = self.load_input(draft, rank.local, self.uint);
        self.binary_operation(draft, Op::IAdd, first_rank, local_index)
    }

    fn shared_word(&self, draft: &mut ModuleDraft, data_index: u32) -> Id {
        let shared_words = self.shared.expect("the mode has workgroup words");
        let array_index = draft.uint_constant(self.shared_places[&data_index]);
        draft.emit(
            Op::AccessChain,
            shared_words.element_pointer,
            vec![Operand::IdRef(shared_words.array), Operand::IdRef(array_index)],
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
        let mut all_gathered: Vec<GatheredWord> = Vec::new();
        for word in self.gathered.keys() {
            all_gathered.push(GatheredWord { word: *word, bits: self.gathered_bits(draft, *word) });
        }
        if let Some(tell_function) = self.tell_witnesses {
            for gathered in &all_gathered {
                let first_bit = draft.uint_constant(gathered.word * 32);
                let operands =
                    [tell_function, first_bit, gathered.bits].map(Operand::IdRef).to_vec();
                draft.emit(Op::FunctionCall, self.void, operands);
            }
        }
        match self.mode {
            RecordMode::Private | RecordMode::Direct => self.add_all(draft, &all_gathered),
            RecordMode::Workgroup => self.add_what_the_workgroup_lacks(draft, &all_gathered),
            RecordMode::Subgroup => self.add_once_per_subgroup(draft, &all_gathered),
            RecordMode::Slots => unreachable!("slots are filled above"),
        }
    }

    /// What the invocation has gathered of a word.
    fn gathered_bits(&self, draft: &mut ModuleDraft, data_index: u32) -> Id {
        let mut bits = self.load_word(draft, self.gathered[&data_index]);
        for (_, flag) in self.flags.range(32 * data_index..=32 * data_index + 31) {
            let flag = self.load_word(draft, *flag);
            bits = self.binary_operation(draft, Op::BitwiseOr, bits, flag);
        }
        bits
    }

    /// Writes the canary unless it is there.
    fn write_canary_once(&self, draft: &mut ModuleDraft) {
        let expected_canary = self.expected_canary(draft);
        let canary_pointer = self.canary_pointer(draft);
        let present_value =
            self.atomic_operation(draft, Op::AtomicLoad, canary_pointer, self.scope, None);
        let is_missing = self.not_equal(draft, present_value, expected_canary);
        draft.branch_if(is_missing, |draft| {
            self.atomic_store(draft, canary_pointer, self.scope, expected_canary)
        });
    }

    /// The canary's place: in the header, or before the workgroup's copy.
    fn canary_pointer(&self, draft: &mut ModuleDraft) -> Id {
        match self.copy {
            None => self.fixed_word(draft, 1),
            Some(copy) => {
                let first_word = self.load_word(draft, copy.first);
                let one_constant = draft.uint_constant(1);
                let index = self.binary_operation(draft, Op::ISub, first_word, one_constant);
                self.word_pointer_at(draft, index)
            }
        }
    }

    /// `nonce ^ CANARY`
    fn expected_canary(&self, draft: &mut ModuleDraft) -> Id {
        let nonce = self.header_value(draft, 0);
        let canary_constant = draft.uint_constant(CANARY);
        self.binary_operation(draft, Op::BitwiseXor, nonce, canary_constant)
    }

    /// The bits of each word that the buffer does not have yet, one branch for several words.
    fn add_all(&self, draft: &mut ModuleDraft, all_gathered: &[GatheredWord]) {
        for chunk in all_gathered.chunks(CHUNK) {
            let new_bits = self.missing_in(draft, chunk, self.scope, Self::fixed_data_word);
            let expected_canary = self.canary_for_chunk(draft, chunk);
            let any_new = self.any_bits(draft, new_bits.iter().map(|(gathered, _)| gathered.bits));
            draft.branch_if(any_new, |draft| {
                for (gathered, place) in &new_bits {
                    self.atomic_or_unless_zero(draft, *place, gathered.bits, new_bits.len());
                }
                self.write_canary(draft, expected_canary);
            });
        }
    }

    /// The bits of each word that its place does not have yet, with the place.
    fn missing_in(
        &self,
        draft: &mut ModuleDraft,
        chunk: &[GatheredWord],
        scope: Id,
        word_pointer: fn(&Self, &mut ModuleDraft, u32) -> Id,
    ) -> Vec<(GatheredWord, Id)> {
        let missing_words = chunk.iter().map(|gathered| {
            let word_pointer = word_pointer(self, draft, gathered.word);
            let known_bits =
                self.atomic_operation(draft, Op::AtomicLoad, word_pointer, scope, None);
            let bits = self.bits_without(draft, gathered.bits, known_bits);
            (GatheredWord { bits, ..*gathered }, word_pointer)
        });
        missing_words.collect()
    }

    /// Where only one word is handed over, its bits are known to be new.
    fn atomic_or_unless_zero(
        &self,
        draft: &mut ModuleDraft,
        word_pointer: Id,
        bits: Id,
        word_count: usize,
    ) {
        let add_bits = |draft: &mut ModuleDraft| {
            self.atomic_operation(draft, Op::AtomicOr, word_pointer, self.scope, Some(bits));
        };
        if word_count == 1 {
            return add_bits(draft);
        }
        let zero = draft.uint_constant(0);
        let has_bits = self.not_equal(draft, bits, zero);
        draft.branch_if(has_bits, add_bits);
    }

    /// What the canary shall hold, if the word that every invocation has a bit in is among these.
    /// It is computed outside of the branch, where all invocations load the same word: some devices
    /// load word by word inside.
    fn canary_for_chunk(&self, draft: &mut ModuleDraft, chunk: &[GatheredWord]) -> Option<Id> {
        let has_certain_word = chunk.iter().any(|gathered| Some(gathered.word) == self.canary_word);
        has_certain_word.then(|| self.expected_canary(draft))
    }

    fn write_canary(&self, draft: &mut ModuleDraft, expected_canary: Option<Id>) {
        if let Some(expected_canary) = expected_canary {
            let canary_pointer = self.canary_pointer(draft);
            self.atomic_store(draft, canary_pointer, self.scope, expected_canary);
        }
    }

    /// `bits & ~known`
    fn bits_without(&self, draft: &mut ModuleDraft, bits: Id, known_bits: Id) -> Id {
        let unknown_mask = draft.emit(Op::Not, self.uint, vec![Operand::IdRef(known_bits)]);
        self.binary_operation(draft, Op::BitwiseAnd, bits, unknown_mask)
    }

    /// Whether one of the words is not zero.
    fn any_bits(&self, draft: &mut ModuleDraft, words: impl Iterator<Item = Id>) -> Id {
        let words: Vec<Id> = words.collect();
        let zero = draft.uint_constant(0);
        let united_bits = words
            .into_iter()
            .reduce(|a, b| self.binary_operation(draft, Op::BitwiseOr, a, b))
            .unwrap_or(zero);
        self.not_equal(draft, united_bits, zero)
    }

    fn add_what_the_workgroup_lacks(&self, draft: &mut ModuleDraft, all_gathered: &[GatheredWord]) {
        for chunk in all_gathered.chunks(CHUNK) {
            let new_bits = self.missing_in(draft, chunk, self.workgroup_scope, Self::shared_word);
            let expected_canary = self.canary_for_chunk(draft, chunk);
            let any_new = self.any_bits(draft, new_bits.iter().map(|(gathered, _)| gathered.bits));
            draft.branch_if(any_new, |draft| {
                for (gathered, shared_word) in &new_bits {
                    let bits_before = self.atomic_operation(
                        draft,
                        Op::AtomicOr,
                        *shared_word,
                        self.workgroup_scope,
                        Some(gathered.bits),
                    );
                    let new_in_group = self.bits_without(draft, gathered.bits, bits_before);
                    let data_word = self.fixed_data_word(draft, gathered.word);
                    let known_bits =
                        self.atomic_operation(draft, Op::AtomicLoad, data_word, self.scope, None);
                    let new_in_buffer = self.bits_without(draft, new_in_group, known_bits);
                    self.atomic_or_unless_zero(draft, data_word, new_in_buffer, 2);
                }
                self.write_canary(draft, expected_canary);
            });
        }
    }

    /// Unites the bits of all invocations that are here; one of them hands over.
    fn add_once_per_subgroup(&self, draft: &mut ModuleDraft, all_gathered: &[GatheredWord]) {
        let subgroup_scope = draft.uint_constant(rspirv::spirv::Scope::Subgroup as u32);
        let united_words: Vec<GatheredWord> = all_gathered
            .iter()
            .map(|gathered| {
                let operands = vec![
                    Operand::IdScope(subgroup_scope),
                    Operand::GroupOperation(GroupOperation::Reduce),
                    Operand::IdRef(gathered.bits),
                ];
                GatheredWord {
                    bits: draft.emit(Op::GroupNonUniformBitwiseOr, self.uint, operands),
                    ..*gathered
                }
            })
            .collect();
        let is_elected = draft.emit(
            Op::GroupNonUniformElect,
            self.boolean,
            vec![Operand::IdScope(subgroup_scope)],
        );
        draft.branch_if(is_elected, |draft| self.add_all(draft, &united_words));
    }

    /// The invocation's own words: nobody else touches them.
    fn fill_slot(&self, draft: &mut ModuleDraft) {
        let canary_pointer = self.slot_word(draft, None);
        let expected_canary = self.expected_canary(draft);
        draft.store(canary_pointer, expected_canary);
        for word in self.gathered.keys() {
            let mut bits = self.gathered_bits(draft, *word);
            let word_number = draft.uint_constant(*word);
            let word_pointer = self.slot_word(draft, Some(word_number));
            if self.single_bits == SingleBits::Used {
                let bits_before = self.load_word(draft, word_pointer);
                bits = self.binary_operation(draft, Op::BitwiseOr, bits_before, bits);
            }
            draft.store(word_pointer, bits);
        }
    }

    /// Pointer to a data word of the invocation's slot, or to its canary: `HEADER + (1 + word) *
    /// invocations + rank`.
    fn slot_word(&self, draft: &mut ModuleDraft, data_index: Option<Id>) -> Id {
        let rank = self.rank.expect("slots have ranks");
        let header_length = draft.uint_constant(HEADER_WORDS);
        let own_rank = self.load_word(draft, rank.value);
        let mut index = self.binary_operation(draft, Op::IAdd, own_rank, header_length);
        if let Some(data_index) = data_index {
            let one_constant = draft.uint_constant(1);
            let row_number = self.binary_operation(draft, Op::IAdd, data_index, one_constant);
            let invocations = self.load_word(draft, rank.invocations);
            let row_start = self.binary_operation(draft, Op::IMul, row_number, invocations);
            index = self.binary_operation(draft, Op::IAdd, row_start, index);
        }
        self.word_pointer_at(draft, index)
    }

    /// Defines the function that hands over the bit with a number.
    pub(super) fn define_set_one(&self, draft: &mut ModuleDraft) {
        let Some(function) = self.set_one else { return };
        let bit_number = draft.fresh_id();
        draft.begin_function(self.void, function, &[(self.uint, bit_number)]);
        let [five_constant, low_mask, one_constant] =
            [5, 31, 1].map(|value| draft.uint_constant(value));
        let word_index =
            self.binary_operation(draft, Op::ShiftRightLogical, bit_number, five_constant);
        let bit_in_word = self.binary_operation(draft, Op::BitwiseAnd, bit_number, low_mask);
        let bit = self.binary_operation(draft, Op::ShiftLeftLogical, one_constant, bit_in_word);
        if self.mode == RecordMode::Slots {
            let slot_word = self.slot_word(draft, Some(word_index));
            let bits_before = self.load_word(draft, slot_word);
            let bits_after = self.binary_operation(draft, Op::BitwiseOr, bits_before, bit);
            draft.store(slot_word, bits_after);
        } else {
            if self.witnesses == Witnesses::Recorded {
                self.tell_witness(draft, bit_number);
            }
            let data_word = self.data_word(draft, word_index);
            let known_bits =
                self.atomic_operation(draft, Op::AtomicLoad, data_word, self.scope, None);
            let new_bits = self.bits_without(draft, bit, known_bits);
            self.atomic_or_unless_zero(draft, data_word, new_bits, 2);
        }
        draft.end_function();
        draft.add_name(function, "vkcert_record");
    }
}

//! Contents of stores before and after a dispatch: what nobody wrote, push constants.

use crate::ir::{Program, UniformValue};
use crate::memory::copy_on_write::CopyOnWrite;
use crate::memory::store::{Store, UNDEFINED_WORD};
use std::collections::BTreeMap;
use vkcert_exec::{JobBuffer, JobDispatch};

/// What nobody has written is as the test has it: a run gives it another value for its readers
/// alone.
pub(super) fn leave_unwritten(bytes: &mut [u8], buffer: &JobBuffer, store: &Store) {
    for (byte_index, (byte, byte_before)) in bytes.iter_mut().zip(buffer.bytes.iter()).enumerate() {
        let byte_part = (byte_index % 4) as u32;
        if store.are_bytes_undefined(byte_index / 4, byte_part..byte_part + 1) {
            *byte = *byte_before;
        }
    }
}

/// Descriptors of each binding of a dispatch.
pub(super) fn descriptor_counts(dispatch: &JobDispatch) -> BTreeMap<(u32, u32), u32> {
    let mut counts_by_binding = BTreeMap::new();
    for binding in &dispatch.bindings {
        let descriptor_count = counts_by_binding.entry((binding.set, binding.binding)).or_insert(0);
        *descriptor_count = (binding.array_index + 1).max(*descriptor_count);
    }
    counts_by_binding
}

/// Words of push constants that the program reads at known places.
pub(super) fn used_push_constant_words(program: &Program) -> usize {
    let words_up_to = |uniform: &UniformValue| match uniform {
        UniformValue::PushConstant(word) => Some(*word as usize + 1),
        UniformValue::Constant(_)
        | UniformValue::WorkgroupId(_)
        | UniformValue::NumWorkgroups(_)
        | UniformValue::SubgroupSize
        | UniformValue::NumSubgroups => None,
    };
    program.uniforms.iter().filter_map(|(uniform, _)| words_up_to(uniform)).max().unwrap_or(0)
}

pub(super) fn extend_push_constants(store: &mut Store, word_count: usize) {
    let old_words = store.words.len();
    store.words.own_mut().resize(word_count, UNDEFINED_WORD);
    let mut undefined_bytes: CopyOnWrite<u64> = store.undefined.take().unwrap_or_default();
    undefined_bytes.own_mut().resize(word_count.div_ceil(16), 0);
    store.undefined = Some(undefined_bytes);
    (old_words..word_count).for_each(|word| store.set_defined(word, false));
}

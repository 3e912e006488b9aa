//! Contents of stores before and after a dispatch: what nobody wrote, push constants.

use crate::ir::{Program, UniformValue};
use crate::memory::copy_on_write::CopyOnWrite;
use crate::memory::store::{Store, UNDEFINED_WORD};
use std::collections::BTreeMap;
use vkcert_exec::{JobBuffer, JobDispatch};

/// What nobody has written is as the test has it: a run gives it another value for its readers
/// alone.
pub(super) fn leave_unwritten(bytes: &mut [u8], buffer: &JobBuffer, store: &Store) {
    for (at, (byte, before)) in bytes.iter_mut().zip(buffer.bytes.iter()).enumerate() {
        let part = (at % 4) as u32;
        if store.are_bytes_undefined(at / 4, part..part + 1) {
            *byte = *before;
        }
    }
}

/// Descriptors of each binding of a dispatch.
pub(super) fn bound(dispatch: &JobDispatch) -> BTreeMap<(u32, u32), u32> {
    let mut bound = BTreeMap::new();
    for binding in &dispatch.bindings {
        let most = bound.entry((binding.set, binding.binding)).or_insert(0);
        *most = (binding.array_index + 1).max(*most);
    }
    bound
}

/// Words of push constants that the program reads at known places.
pub(super) fn used_push_constants(program: &Program) -> usize {
    let word = |uniform: &UniformValue| match uniform {
        UniformValue::PushConstant(word) => Some(*word as usize + 1),
        UniformValue::Constant(_)
        | UniformValue::WorkgroupId(_)
        | UniformValue::NumWorkgroups(_)
        | UniformValue::SubgroupSize
        | UniformValue::NumSubgroups => None,
    };
    program.uniforms.iter().filter_map(|(uniform, _)| word(uniform)).max().unwrap_or(0)
}

pub(super) fn extend_push_constants(store: &mut Store, words: usize) {
    let had = store.words.len();
    store.words.own_mut().resize(words, UNDEFINED_WORD);
    let mut bits: CopyOnWrite<u64> = store.undefined.take().unwrap_or_default();
    bits.own_mut().resize(words.div_ceil(16), 0);
    store.undefined = Some(bits);
    (had..words).for_each(|word| store.set_defined(word, false));
}

//! Push constants that a program reads and that nobody has set, by the names that the kernel gives
//! them.
//!
//! Knows: words that are read at fixed offsets; one read at a computed offset is told where it is
//! used, like any memory.

use crate::ir::{Program, UniformValue};
use crate::memory::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_spirv::interface::{PushConstants, Reflection};
use vkcert_spirv::module::Module;

/// The member that holds a word, else its bytes.
fn name_of_word(push_constants: Option<&PushConstants>, word: u32) -> String {
    let byte_offset = u64::from(word) * 4;
    let members_before = push_constants.iter().flat_map(|block| &block.members).filter(|member| {
        member.offset.is_some_and(|member_offset| u64::from(member_offset) <= byte_offset)
    });
    let holding_member = members_before.max_by_key(|member| member.offset);
    match holding_member.and_then(|member| member.name.as_deref()) {
        Some(member_name) => format!("`{member_name}`"),
        None => format!("bytes {byte_offset} to {}", byte_offset + 3),
    }
}

/// The note about them; none where all that is read has been set.
pub(super) fn unset_note(
    program: &Program,
    push_constants: &Store,
    spirv_module: &Module,
    (entry, specialization): (&str, &BTreeMap<u32, u64>),
) -> Option<String> {
    let unset_words = program.uniforms.iter().filter_map(|(uniform, _)| match uniform {
        UniformValue::PushConstant(word) => {
            push_constants.is_undefined(*word as usize).then_some(*word)
        }
        UniformValue::Constant(_)
        | UniformValue::WorkgroupId(_)
        | UniformValue::NumWorkgroups(_)
        | UniformValue::SubgroupSize
        | UniformValue::NumSubgroups => None,
    });
    let unset_words: BTreeSet<u32> = unset_words.collect();
    // What a module shows to its host takes longer to find out than most dispatches.
    if unset_words.is_empty() {
        return None;
    }
    let reflection = Reflection::of_entry_point(spirv_module, entry, specialization).ok();
    let push_constant_block =
        reflection.as_ref().and_then(|reflection| reflection.push_constants.as_ref());
    let names: BTreeSet<String> =
        unset_words.iter().map(|word| name_of_word(push_constant_block, *word)).collect();
    let name_list = names.into_iter().collect::<Vec<_>>().join(", ");
    Some(format!("the kernel reads push constants that the test does not give: {name_list}"))
}

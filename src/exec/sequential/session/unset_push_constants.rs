//! Push constants that a program reads and that nobody has set, by the names that the kernel gives
//! them.
//!
//! Knows: words that are read at fixed offsets; one read at a computed offset is told where it is
//! used, like any memory.

use crate::ir::{Program, UniformValue};
use crate::memory::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_spirv::interface::Reflection;
use vkcert_spirv::module::Module;

/// The note about them; none where all that is read has been set.
pub(super) fn note(
    program: &Program,
    push_constants: &Store,
    module: &Module,
    (entry, specialization): (&str, &BTreeMap<u32, u64>),
) -> Option<String> {
    let words = program.uniforms.iter().filter_map(|(uniform, _)| match uniform {
        UniformValue::PushConstant(word) => {
            push_constants.is_undefined(*word as usize).then_some(*word)
        }
        UniformValue::Constant(_)
        | UniformValue::WorkgroupId(_)
        | UniformValue::NumWorkgroups(_)
        | UniformValue::SubgroupSize
        | UniformValue::NumSubgroups => None,
    });
    let reflection = Reflection::of_entry_point(module, entry, specialization).ok();
    let block = reflection.as_ref().and_then(|reflection| reflection.push_constants.as_ref());
    let named = |word: u32| {
        let byte = u64::from(word) * 4;
        let members = block.iter().flat_map(|block| &block.members);
        let before =
            members.filter(|member| member.offset.is_some_and(|offset| u64::from(offset) <= byte));
        let member =
            before.max_by_key(|member| member.offset).and_then(|member| member.name.as_deref());
        member.map_or_else(|| format!("bytes {byte} to {}", byte + 3), |name| format!("`{name}`"))
    };
    let names: BTreeSet<String> = words.map(named).collect();
    if names.is_empty() {
        return None;
    }
    let list = names.into_iter().collect::<Vec<_>>().join(", ");
    Some(format!("the kernel reads push constants that the test does not give: {list}"))
}

//! The opcodes of SPIR-V: what each does to the state that other invocations or later instructions
//! can see, and whether the sequential engine runs it.
//!
//! Knows: every opcode of the grammar of the pinned rspirv, in one group here or in
//! [`foreign`](super::foreign).
//! Promises: an opcode that is in neither fails a test, so that a new grammar is looked at before
//! it is used. The engine dispatches by this table: what is not its own here never reaches a
//! handler, and `docs/spirv-support.md` is written from it.
//! Does not cover: which operand is the pointer, and of what scope a barrier is; readers of the
//! instruction see that.

mod invocation;
mod shared;

use super::foreign::FOREIGN;
use rspirv::spirv::Op;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The effect class of an opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Declares something or structures the text; nothing happens when it is passed.
    Declaration,
    /// The result depends on the operands alone.
    Pure,
    /// Computes where something is, or how much there is of it; touches no contents.
    Address,
    /// Reads memory, an image or a clock.
    Read,
    /// Writes memory or an image.
    Write,
    /// May do either: copies, and extended instructions, of which some write through a pointer.
    ReadWrite,
    /// Reads and writes memory in one step that other invocations see whole.
    Atomic,
    /// Orders memory or holds invocations.
    Barrier,
    /// The result depends on what other invocations of the subgroup do.
    Subgroup,
    /// Goes to another function and comes back.
    Call,
    /// Goes to another block.
    Branch,
    /// Leaves the function or ends the invocation.
    End,
}

/// Whether the sequential engine runs an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineSupport {
    /// It runs it, or heeds what it declares.
    Engine,
    /// A kernel that holds one is `unsupported` by name; what the instruction belongs to.
    Not(&'static str),
}

/// Opcodes that are alike.
#[derive(Debug)]
pub struct OpcodeGroup {
    /// A title of `docs/spirv-support.md`; several groups may share one.
    pub title: &'static str,
    /// What the instructions do.
    pub effect: Effect,
    /// Whether the sequential engine runs them.
    pub support: EngineSupport,
    /// The opcodes.
    pub ops: &'static [Op],
}

/// The effect of `op`; `None` where this tool does not model it ([`FOREIGN`]).
pub fn effect_of(op: Op) -> Option<Effect> {
    GROUP_OF.get(&op).map(|opcode_group| opcode_group.effect)
}

/// Whether `op` says nothing but what things are called and where they come from: the first of the
/// groups.
pub(crate) fn is_debug(op: Op) -> bool {
    invocation::GROUPS[0].ops.contains(&op)
}

/// Whether the sequential engine runs `op`.
pub fn engine_support(op: Op) -> EngineSupport {
    match GROUP_OF.get(&op) {
        Some(opcode_group) => opcode_group.support,
        None => {
            let foreign_opcodes = FOREIGN.iter().find(|row| row.ops.contains(&op));
            EngineSupport::Not(
                foreign_opcodes.map_or("of a newer grammar", |foreign_opcodes| foreign_opcodes.why),
            )
        }
    }
}

static GROUP_OF: LazyLock<HashMap<Op, &'static OpcodeGroup>> = LazyLock::new(|| {
    opcode_groups().flat_map(|group| group.ops.iter().map(move |op| (*op, group))).collect()
});

/// The opcodes whose effect is known.
pub fn opcode_groups() -> impl Iterator<Item = &'static OpcodeGroup> {
    invocation::GROUPS.iter().chain(shared::GROUPS)
}

/// Whether an instruction is an atomic operation, of whatever extension.
pub fn is_atomic(op: Op) -> bool {
    effect_of(op) == Some(Effect::Atomic)
}

/// Whether an instruction reads an image that may be resident in part.
pub(crate) fn is_sparse(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSparseSampleImplicitLod
            | Op::ImageSparseSampleExplicitLod
            | Op::ImageSparseSampleDrefImplicitLod
            | Op::ImageSparseSampleDrefExplicitLod
            | Op::ImageSparseSampleProjImplicitLod
            | Op::ImageSparseSampleProjExplicitLod
            | Op::ImageSparseSampleProjDrefImplicitLod
            | Op::ImageSparseSampleProjDrefExplicitLod
            | Op::ImageSparseFetch
            | Op::ImageSparseGather
            | Op::ImageSparseDrefGather
            | Op::ImageSparseTexelsResident
            | Op::ImageSparseRead
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_opcode_of_the_grammar_stands_in_exactly_one_group() {
        let mut group_counts: BTreeMap<Op, usize> = BTreeMap::new();
        let modelled = opcode_groups().flat_map(|group| group.ops.iter());
        let listed = modelled.chain(FOREIGN.iter().flat_map(|foreign| foreign.ops.iter()));
        listed.for_each(|op| *group_counts.entry(*op).or_default() += 1);
        for row in rspirv::grammar::INSTRUCTION_TABLE.iter() {
            assert_eq!(group_counts.get(&row.opcode), Some(&1), "{:?}", row.opcode);
        }
    }

    #[test]
    fn atomic_and_sparse_instructions_are_those_that_the_grammar_calls_so() {
        for row in rspirv::grammar::INSTRUCTION_TABLE.iter() {
            let name = format!("{:?}", row.opcode);
            assert_eq!(is_atomic(row.opcode), name.starts_with("Atomic"), "{name}");
            assert_eq!(is_sparse(row.opcode), name.starts_with("ImageSparse"), "{name}");
        }
    }

    #[test]
    fn terminators_are_branches_and_ends() {
        for row in rspirv::grammar::INSTRUCTION_TABLE.iter() {
            let class = effect_of(row.opcode);
            if class.is_some() {
                let ends = matches!(class, Some(Effect::Branch | Effect::End));
                assert_eq!(ends, crate::module::is_terminator(row.opcode), "{:?}", row.opcode);
            }
        }
    }
}

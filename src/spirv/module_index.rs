//! What of a module counts for what it does, beside its functions.
//!
//! Knows: the instructions in front of functions. Promises: what the compiler writes in an order that follows from its
//! way through the text is in an order of its own here, so that two modules can be compared row by row.
//! Does not cover: groups of decorations.

use super::module::{Id, Instruction, Module};
use rspirv::binary::Assemble;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};

/// Places of instructions in a module.
pub(crate) struct ModuleIndex {
    /// Memory model and modes of the entry point.
    pub(crate) whole: Vec<usize>,
    /// What is decorated as the size of workgroups, which holds whether anything reads it or not (SPIR-V
    /// specification, BuiltIn WorkgroupSize).
    pub(crate) sizes: Vec<Id>,
    /// By target, as far as it has any, in order: decorations.
    decorations: Vec<(Id, usize)>,
    /// Variables that stand for what the host hands over, or that the workgroup shares.
    pub(crate) resources: Vec<Id>,
    pub(crate) first_function: usize,
}

impl ModuleIndex {
    /// None of a module with groups of decorations, and of one without functions.
    pub(crate) fn of_module(module: &Module) -> Option<Self> {
        let first_function = module.functions.first()?.range.start;
        let mut index = Self {
            whole: Vec::new(),
            sizes: Vec::new(),
            decorations: Vec::new(),
            resources: Vec::new(),
            first_function,
        };
        for (place, row) in module.instructions[..first_function].iter().enumerate() {
            match row.op {
                // Capabilities follow from the code that is reached.
                Op::MemoryModel | Op::ExecutionMode | Op::ExecutionModeId => {
                    index.whole.push(place);
                }
                Op::Decorate | Op::DecorateId | Op::DecorateString | Op::MemberDecorate => {
                    index.decorations.push((row.id(0)?, place));
                    index.sizes.extend(row.id(0).filter(|_| is_size_of_workgroups(row)));
                }
                Op::DecorationGroup
                | Op::GroupDecorate
                | Op::GroupMemberDecorate
                | Op::MemberDecorateString => return None,
                Op::Variable if !is_of_invocation(row) => index.resources.push(row.result?),
                // What defines an id is written where the id is met.
                _ => {}
            }
        }
        // The compiler writes them in the order in which it comes across what they are of.
        let words = |place: usize| literal_words(&module.instructions[place]);
        index.decorations.sort_by_cached_key(|(id, place)| (*id, words(*place)));
        index
            .whole
            .sort_by_cached_key(|place| (module.instructions[*place].op as u32, words(*place)));
        Some(index)
    }

    pub(crate) fn decorations_of(&self, id: Id) -> &[(Id, usize)] {
        let start = self.decorations.partition_point(|(target, _)| *target < id);
        let end = self.decorations.partition_point(|(target, _)| *target <= id);
        &self.decorations[start..end]
    }
}

fn is_size_of_workgroups(decoration: &Instruction) -> bool {
    let operands = decoration.operands.iter();
    operands
        .skip(1)
        .eq(&[Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(BuiltIn::WorkgroupSize)])
}

/// Whether each invocation has its own, so that one which nothing uses does not matter.
pub(crate) fn is_of_invocation(variable: &Instruction) -> bool {
    matches!(
        variable.operands.first(),
        Some(Operand::StorageClass(
            StorageClass::Input
                | StorageClass::Output
                | StorageClass::Private
                | StorageClass::Function
        ))
    )
}

/// The operands that are no ids.
fn literal_words(row: &Instruction) -> Vec<u32> {
    let mut words = Vec::new();
    let literals = row.operands.iter().filter(|operand| operand.id_ref_any().is_none());
    literals.for_each(|operand| operand.assemble_into(&mut words));
    words
}

//! Word streams before they are parsed: what the reader of rspirv does not check or cannot read.
//!
//! Knows: rspirv 0.13 reads strings beyond the module, OpSpecConstantOp with one operand per entry
//! of the grammar, and no capability that its grammar lacks.

use super::ModuleError;
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Op};

/// Numbers of declared capabilities that the grammar does not have.
pub fn unknown_capabilities(module_words: &[u32]) -> Vec<u32> {
    let declared_numbers =
        capability_words(module_words).map(|(_, capability_number)| capability_number);
    declared_numbers.filter(|capability_number| is_unknown(*capability_number)).collect()
}

/// The module without these declarations.
pub fn without_unknown_capabilities(module_words: &[u32]) -> Vec<u32> {
    let dropped_starts: Vec<usize> = capability_words(module_words)
        .filter(|numbered_capability| is_unknown(numbered_capability.1))
        .map(|(word_index, _)| word_index)
        .collect();
    let is_kept = |word_index: usize| {
        !dropped_starts
            .iter()
            .any(|dropped_start| (*dropped_start..dropped_start + 2).contains(&word_index))
    };
    module_words
        .iter()
        .enumerate()
        .filter(|(word_index, _)| is_kept(*word_index))
        .map(|(_, word)| *word)
        .collect()
}

fn is_unknown(capability_number: u32) -> bool {
    Capability::from_u32(capability_number).is_none()
}

/// Where each OpCapability stands, and its number; they come before everything else.
fn capability_words(module_words: &[u32]) -> impl Iterator<Item = (usize, u32)> + '_ {
    let first_word = 5;
    let declared_pairs = module_words.get(first_word..).unwrap_or_default().chunks_exact(2);
    let declared_pairs =
        declared_pairs.take_while(|word_pair| word_pair[0] == 2 << 16 | Op::Capability as u32);
    declared_pairs
        .enumerate()
        .map(move |(pair_index, word_pair)| (first_word + 2 * pair_index, word_pair[1]))
}

/// Instructions must end within the module: rspirv 0.13 reads strings up to the end that an
/// instruction claims.
pub(crate) fn whole_instructions(module_words: &[u32]) -> Result<(), ModuleError> {
    let mut word_offset = 5;
    while let Some(word) = module_words.get(word_offset) {
        let word_count = (word >> 16) as usize;
        if word_count == 0 || word_offset + word_count > module_words.len() {
            let reason = format!("the instruction at word {word_offset} claims {word_count} words");
            return Err(ModuleError::Parse { reason });
        }
        word_offset += word_count;
    }
    Ok(())
}

/// rspirv 0.13 reads exactly one operand per entry of the grammar behind the opcode of an
/// OpSpecConstantOp, so that a shuffle or an extraction with several indices fails. In its eyes
/// they become OpSpecConstantComposite, whose operands are plain words; [`constant_operation`]
/// gives them their meaning. `None` where the module has none.
pub(crate) fn disguise_constant_operations(module_words: &[u32]) -> Option<Vec<u32>> {
    let mut disguised_copy: Option<Vec<u32>> = None;
    let mut word_offset = 5;
    while let Some(word) = module_words.get(word_offset) {
        if word & 0xFFFF == Op::SpecConstantOp as u32 {
            let disguised_words = disguised_copy.get_or_insert_with(|| module_words.to_vec());
            disguised_words[word_offset] = word & 0xFFFF_0000 | Op::SpecConstantComposite as u32;
        }
        word_offset += (word >> 16).max(1) as usize;
    }
    disguised_copy
}

/// The operands of an OpSpecConstantOp from its plain words: opcode, then ids and literals as that
/// opcode has them.
pub(super) fn constant_operation(operand_words: &[Operand]) -> Result<Vec<Operand>, ModuleError> {
    let mut operand_words = operand_words.iter().filter_map(|word| match word {
        Operand::IdRef(word) => Some(*word),
        _ => None,
    });
    let opcode = operand_words.next().and_then(Op::from_u32);
    let op = opcode.ok_or_else(|| ModuleError::Parse {
        reason: "OpSpecConstantOp without an opcode".to_owned(),
    })?;
    let id_count = match op {
        Op::CompositeExtract => 1,
        Op::CompositeInsert | Op::VectorShuffle => 2,
        _ => usize::MAX,
    };
    let operands = operand_words.enumerate().map(|(word_index, word)| match word_index {
        word_index if word_index < id_count => Operand::IdRef(word),
        _ => Operand::LiteralBit32(word),
    });
    Ok(std::iter::once(Operand::LiteralSpecConstantOpInteger(op)).chain(operands).collect())
}

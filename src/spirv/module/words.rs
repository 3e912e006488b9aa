//! Word streams before they are parsed: what the reader of rspirv does not check or cannot read.
//!
//! Knows: rspirv 0.13 reads strings beyond the module, OpSpecConstantOp with one operand per entry
//! of the grammar, and no capability that its grammar lacks.

use super::ModuleError;
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Op};

/// Numbers of declared capabilities that the grammar does not have.
pub fn unknown_capabilities(words: &[u32]) -> Vec<u32> {
    let declared = capabilities(words).map(|(_, number)| number);
    declared.filter(|number| Capability::from_u32(*number).is_none()).collect()
}

/// The module without these declarations.
pub fn without_unknown_capabilities(words: &[u32]) -> Vec<u32> {
    let unknown = |number: u32| Capability::from_u32(number).is_none();
    let dropped: Vec<usize> =
        capabilities(words).filter(|one| unknown(one.1)).map(|(at, _)| at).collect();
    let kept = |at: usize| !dropped.iter().any(|start| (*start..start + 2).contains(&at));
    words.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, word)| *word).collect()
}

/// Where each OpCapability stands, and its number; they come before everything else.
pub(super) fn capabilities(words: &[u32]) -> impl Iterator<Item = (usize, u32)> + '_ {
    let first = 5;
    let declared = words.get(first..).unwrap_or_default().chunks_exact(2);
    let declared = declared.take_while(|pair| pair[0] == 2 << 16 | Op::Capability as u32);
    declared.enumerate().map(move |(at, pair)| (first + 2 * at, pair[1]))
}

/// Instructions must end within the module: rspirv 0.13 reads strings up to the end that an
/// instruction claims.
pub(crate) fn whole_instructions(words: &[u32]) -> Result<(), ModuleError> {
    let mut offset = 5;
    while let Some(word) = words.get(offset) {
        let length = (word >> 16) as usize;
        if length == 0 || offset + length > words.len() {
            let reason = format!("the instruction at word {offset} claims {length} words");
            return Err(ModuleError::Parse { reason });
        }
        offset += length;
    }
    Ok(())
}

/// rspirv 0.13 reads exactly one operand per entry of the grammar behind the opcode of an
/// OpSpecConstantOp, so that a shuffle or an extraction with several indices fails. In its eyes
/// they become OpSpecConstantComposite, whose operands are plain words; [`constant_operation`]
/// gives them their meaning. `None` where the module has none.
pub(crate) fn disguise_constant_operations(words: &[u32]) -> Option<Vec<u32>> {
    let mut disguised: Option<Vec<u32>> = None;
    let mut offset = 5;
    while let Some(word) = words.get(offset) {
        if word & 0xFFFF == Op::SpecConstantOp as u32 {
            let copy = disguised.get_or_insert_with(|| words.to_vec());
            copy[offset] = word & 0xFFFF_0000 | Op::SpecConstantComposite as u32;
        }
        offset += (word >> 16).max(1) as usize;
    }
    disguised
}

/// The operands of an OpSpecConstantOp from its plain words: opcode, then ids and literals as that
/// opcode has them.
pub(super) fn constant_operation(words: &[Operand]) -> Result<Vec<Operand>, ModuleError> {
    let mut words = words.iter().filter_map(|word| match word {
        Operand::IdRef(word) => Some(*word),
        _ => None,
    });
    let opcode = words.next().and_then(Op::from_u32);
    let op = opcode.ok_or_else(|| ModuleError::Parse {
        reason: "OpSpecConstantOp without an opcode".to_owned(),
    })?;
    let ids = match op {
        Op::CompositeExtract => 1,
        Op::CompositeInsert | Op::VectorShuffle => 2,
        _ => usize::MAX,
    };
    let operands = words.enumerate().map(|(index, word)| match index {
        index if index < ids => Operand::IdRef(word),
        _ => Operand::LiteralBit32(word),
    });
    Ok(std::iter::once(Operand::LiteralSpecConstantOpInteger(op)).chain(operands).collect())
}

//! The text that a module carries (OpSource and OpSourceContinued).

use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use vkcert_spirv::module::{Id, Module};

/// The source texts that a module carries, by file.
pub(crate) fn source_texts(module: &Module) -> BTreeMap<Id, String> {
    let mut texts: BTreeMap<Id, String> = BTreeMap::new();
    let mut current_file = None;
    for instruction in &module.instructions {
        match (instruction.op, instruction.operands.as_slice()) {
            (
                Op::Source,
                [_, _, Operand::IdRef(file_id), Operand::LiteralString(text_part), ..],
            ) => {
                texts.insert(*file_id, text_part.clone());
                current_file = Some(*file_id);
            }
            (Op::SourceContinued, [Operand::LiteralString(text_part)]) => {
                if let Some(texts) = current_file.and_then(|file_id| texts.get_mut(&file_id)) {
                    texts.push_str(text_part);
                }
            }
            (Op::Function, _) => break,
            (_, _) => {}
        }
    }
    texts
}

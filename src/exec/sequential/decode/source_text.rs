//! The text that a module carries (OpSource and OpSourceContinued).

use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::borrow::Cow;
use std::collections::BTreeMap;
use vkcert_spirv::module::{Id, Module};

/// The source texts that a module carries, by file.
pub(crate) fn source_texts(module: &Module) -> BTreeMap<Id, Cow<'_, str>> {
    let mut texts: BTreeMap<Id, Cow<'_, str>> = BTreeMap::new();
    let mut current_file = None;
    for instruction in &module.instructions {
        match (instruction.op, instruction.operands.as_slice()) {
            (
                Op::Source,
                [_, _, Operand::IdRef(file_id), Operand::LiteralString(text_part), ..],
            ) => {
                texts.insert(*file_id, Cow::Borrowed(text_part));
                current_file = Some(*file_id);
            }
            (Op::SourceContinued, [Operand::LiteralString(text_part)]) => {
                if let Some(text) = current_file.and_then(|file_id| texts.get_mut(&file_id)) {
                    text.to_mut().push_str(text_part);
                }
            }
            (Op::Function, _) => break,
            (_, _) => {}
        }
    }
    texts
}

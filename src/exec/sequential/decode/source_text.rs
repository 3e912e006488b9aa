//! The text that a module carries (OpSource and OpSourceContinued).

use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use vkcert_spirv::module::{Id, Module};

/// The source texts that a module carries, by file.
pub(crate) fn source_texts(module: &Module) -> BTreeMap<Id, String> {
    let mut text: BTreeMap<Id, String> = BTreeMap::new();
    let mut current = None;
    for instruction in &module.instructions {
        match (instruction.op, instruction.operands.as_slice()) {
            (Op::Source, [_, _, Operand::IdRef(file), Operand::LiteralString(part), ..]) => {
                text.insert(*file, part.clone());
                current = Some(*file);
            }
            (Op::SourceContinued, [Operand::LiteralString(part)]) => {
                if let Some(text) = current.and_then(|file| text.get_mut(&file)) {
                    text.push_str(part);
                }
            }
            (Op::Function, _) => break,
            (_, _) => {}
        }
    }
    text
}

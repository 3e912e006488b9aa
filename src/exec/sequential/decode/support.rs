//! The document of supported SPIR-V.
//!
//! Promises: everything is read from the tables that the engine itself dispatches by.

use super::declarations::CAPABILITIES;
use super::ops::extended;
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use vkcert_spirv::foreign::FOREIGN;
use vkcert_spirv::opcodes::{Effect, EngineSupport, opcode_groups};

const DOCUMENT_HEAD: &str = "# SPIR-V that the sequential engine runs

This file is written from the tables that the engine dispatches by; a test compares the two (`VKCERT_WRITE=1 cargo test --release
--test integration spirv_support` writes it anew). A kernel that holds anything else is `unsupported`, with the name of what is missing,
before anything runs.

Effect classes: a *declaration* says something of the module, a *pure* instruction depends on its operands alone, an *address* says
where something is, *reads*, *writes* and *atomics* touch memory, a *barrier* orders it, and a *subgroup* operation depends on what
other invocations do.
";

/// The text of `docs/spirv-support.md`.
pub fn support_document() -> String {
    let mut text = DOCUMENT_HEAD.to_owned();
    text.push_str("\n## Instructions\n\n| family | effect | instructions |\n| --- | --- | --- |\n");
    for group in opcode_groups().filter(|group| group.support == EngineSupport::Engine) {
        text.push_str(&format!(
            "| {} | {} | {} |\n",
            group.title,
            effect_name(group.effect),
            opcode_names(group.ops)
        ));
    }
    text.push_str("\n## Capabilities\n\n");
    let mut names: Vec<String> =
        CAPABILITIES.iter().map(|capability| format!("{capability:?}")).collect();
    names.sort();
    text.push_str(&format!("{}.\n", names.join(", ")));
    let (run_names, missing_names) = extended::supported_names();
    text.push_str(&format!(
        "\n## GLSL.std.450\n\n{}.\n\nNot run: {}.\n",
        run_names.join(", "),
        missing_names.join(", ")
    ));
    text.push_str(
        "\nOf other instruction sets, `NonSemantic.DebugPrintf` prints to the result, and the other non-semantic sets say nothing to a\nrun.\n",
    );
    text.push_str("\n## Instructions that are not run\n\n| why | instructions |\n| --- | --- |\n");
    let mut missing_opcodes: BTreeMap<&str, Vec<Op>> = BTreeMap::new();
    for group in opcode_groups() {
        match group.support {
            EngineSupport::Engine => {}
            EngineSupport::Not(why) => missing_opcodes.entry(why).or_default().extend(group.ops),
        }
    }
    for (why, ops) in missing_opcodes {
        text.push_str(&format!("| {why} | {} |\n", opcode_names(&ops)));
    }
    text.push_str("\n## Instructions of other execution models, of OpenCL and of vendors\n\n| what | instructions |\n| --- | --- |\n");
    for foreign in FOREIGN {
        text.push_str(&format!("| {} | {} |\n", foreign.why, opcode_names(foreign.ops)));
    }
    text
}

fn opcode_names(ops: &[Op]) -> String {
    let mut names: Vec<String> = ops.iter().map(|op| format!("{op:?}")).collect();
    names.sort();
    names.join(", ")
}

fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Declaration => "declaration",
        Effect::Pure => "pure",
        Effect::Address => "address",
        Effect::Read => "read",
        Effect::Write => "write",
        Effect::ReadWrite => "read and write",
        Effect::Atomic => "atomic",
        Effect::Barrier => "barrier",
        Effect::Subgroup => "subgroup",
        Effect::Call => "call",
        Effect::Branch => "branch",
        Effect::End => "end",
    }
}

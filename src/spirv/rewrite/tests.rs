//! Random edits leave valid modules, and what no edit names stays as it is.

use super::super::module::{Id, Instruction, Module};
use super::super::validate::{TargetEnv, validate};
use super::*;
use proptest::prelude::*;
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, StorageClass};
use std::sync::OnceLock;
use vkcert_glsl::{KernelSource, compile};

const BODIES: [&str; 4] = [
    "void main() { data[gl_GlobalInvocationID.x] = 1u; }",
    "void main() { uint s = 0u; for (uint i = 0u; i < 9u; i++) { if (data[i] == 3u) break; s += data[i]; } data[0] = s; }",
    "uint f(uint x) { switch (x) { case 1u: return 4u; case 7u: x++; default: return x; } }\n\
     void main() { data[1] = f(data[2]) + (data[3] > 2u ? f(5u) : 6u); }",
    "shared uint s[4]; void main() { s[gl_LocalInvocationIndex] = data[0]; barrier(); do { data[1]++; } while (data[1] < s[2]); }",
];

/// Each body for SPIR-V 1.0 and 1.6: storage buffers and interfaces of entry points are written in
/// two ways.
fn modules() -> &'static [(Module, TargetEnv)] {
    static MODULES: OnceLock<Vec<(Module, TargetEnv)>> = OnceLock::new();
    MODULES.get_or_init(|| {
        let environments = [("vulkan1.0", TargetEnv::Vulkan1_0), ("vulkan1.3", TargetEnv::Vulkan1_3)];
        let all = environments.into_iter().flat_map(|row| BODIES.map(|body| (body, row)));
        let compiled = all.map(|(body, (name, environment))| {
            let text = format!(
                "#version 460\nlayout(local_size_x = 4) in;\nlayout(binding = 0) buffer B {{ uint data[]; }};\n{body}\n"
            );
            let source = KernelSource::alone("k.comp", text, name);
            (Module::parse(compile(&source).expect("compiles").production).expect("SPIR-V"), environment)
        });
        compiled.collect()
    })
}

/// Whether arithmetic may stand before the instruction with this index.
fn takes_arithmetic(module: &Module, index: usize) -> bool {
    let before = &module.instructions[index - 1];
    let starts_block = matches!(before.op, Op::Function | Op::FunctionParameter | Op::FunctionEnd);
    let here = module.instructions[index].op;
    !starts_block
        && !matches!(before.op, Op::SelectionMerge | Op::LoopMerge)
        && !super::super::module::is_terminator(before.op)
        && !matches!(
            here,
            Op::Function | Op::FunctionParameter | Op::Label | Op::Phi | Op::Variable
        )
}

/// A buffer and sums in random places that are stored there.
fn edited(module: &Module, chosen: &[prop::sample::Index]) -> Vec<u32> {
    let mut draft = ModuleDraft::without_functions(module);
    let words = draft.word_array();
    let block = draft.storage_block(words, 3, 7);
    let uint = draft.uint_type();
    let pointer = draft.pointer_type(block.class, uint);
    if module.header.version() >= (1, 4) {
        let points: Vec<Id> = module.entry_points.iter().map(|point| point.function).collect();
        for function in points {
            for point in draft.entry_points_of(function) {
                point.operands.push(Operand::IdRef(block.variable));
            }
        }
    }
    let start = module.functions[0].range.start;
    let places: Vec<usize> = (start..module.instructions.len())
        .filter(|index| takes_arithmetic(module, *index))
        .collect();
    let mut edits = InstructionEdits::default();
    for (number, place) in chosen.iter().enumerate() {
        let (zero, amount) = (draft.uint_constant(0), draft.uint_constant(number as u32));
        let [sum, cell] = std::array::from_fn(|_| draft.fresh_id());
        let ids = |ids: &[Id]| ids.iter().copied().map(Operand::IdRef).collect();
        let code = [
            new_instruction(Op::IAdd, Some(uint), Some(sum), ids(&[amount, amount])),
            new_instruction(
                Op::AccessChain,
                Some(pointer),
                Some(cell),
                ids(&[block.variable, zero, amount]),
            ),
            new_instruction(Op::Store, None, None, ids(&[cell, sum])),
        ];
        edits.insert_before(*place.get(&places), code);
    }
    draft.copy_functions(module, &mut edits);
    draft.finish()
}

/// The instructions of a module but for those that name an id from `bound` upwards.
fn without_new(module: &Module, bound: Id) -> Vec<(Op, Option<Id>, Vec<Operand>)> {
    let named = |i: &Instruction| {
        i.result.into_iter().chain(i.result_type).chain(i.ids()).any(|id| id >= bound)
    };
    let mut kept = Vec::new();
    for instruction in &module.instructions {
        let mut operands = instruction.operands.clone();
        if instruction.op == Op::EntryPoint {
            operands.retain(|operand| !matches!(operand, Operand::IdRef(id) if *id >= bound));
        } else if named(instruction) {
            continue;
        }
        kept.push((instruction.op, instruction.result, operands));
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_edits_are_valid_and_add_alone(
        number in 0..BODIES.len() * 2,
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
    ) {
        let (module, environment) = &modules()[number];
        let words = edited(module, &chosen);
        prop_assert_eq!(validate(&words, *environment).map_err(|error| error.to_string()), Ok(()));
        let made = Module::parse(words).expect("SPIR-V");
        let bound = module.header.bound;
        prop_assert_eq!(without_new(&made, bound), without_new(module, bound));
        prop_assert!(made.instructions.iter().filter_map(|i| i.result).all(|id| id < made.header.bound));
    }
}

#[test]
fn a_draft_without_edits_is_the_module() {
    for (module, _) in modules() {
        let mut draft = ModuleDraft::without_functions(module);
        draft.copy_functions(module, &mut InstructionEdits::default());
        // Magic number, version and generator: the writer names itself.
        assert_eq!(draft.finish()[3..], module.words[3..]);
    }
}

#[test]
fn a_kernel_from_nothing_is_valid() {
    let mut draft = ModuleDraft::new_kernel((1, 0));
    let void = draft.declare_type(Op::TypeVoid, Vec::new());
    let uint = draft.uint_type();
    let words = draft.word_array();
    let block = draft.storage_block(words, 0, 0);
    assert_eq!(block.class, StorageClass::Uniform);
    let (element, zero) = (draft.pointer_type(block.class, uint), draft.uint_constant(0));
    let main = draft.fresh_id();
    draft.begin_function(void, main, &[]);
    let place = draft.emit(
        Op::AccessChain,
        element,
        [block.variable, zero, zero].map(Operand::IdRef).to_vec(),
    );
    draft.store(place, zero);
    draft.end_function();
    draft.entry_point(main, &[], [1, 1, 1]);
    let words = draft.finish();
    assert!(validate(&words, TargetEnv::Vulkan1_0).is_ok());
    let module = Module::parse(words).expect("SPIR-V");
    assert!(module.decoration(block.variable, Decoration::Binding).is_some());
}

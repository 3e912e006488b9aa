//! Reading real modules: constants, layouts, interfaces, validation.

use super::constants::Constants;
use super::interface::{Access, BarrierUse, DescriptorCount, Reflection};
use super::module::Module;
use super::types::Types;
use super::validate::{TargetEnv, disassemble, validate};
use crate::compile_tests::compile;
use proptest::prelude::*;
use std::collections::BTreeMap;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::structure::Constness;

const KERNEL: &str = "
    layout(local_size_x_id = 3, local_size_y = 4) in;
    layout(constant_id = 0) const uint TILE = 16;
    layout(constant_id = 1) const bool FAST = true;
    layout(constant_id = 7) const float SCALE = 1.5;
    const uint AREA = TILE * TILE + 1;
    const uvec2 PAIR = uvec2(TILE, 5u);
    const uint SWAPPED = PAIR.yx.y;
    shared float tile[AREA];
    struct Item { vec3 a; float b; };
    layout(set = 1, binding = 2) readonly buffer In { uint n; Item items[]; } source[2];
    layout(set = 0, binding = 5) uniform Params { mat3 m; float f[3]; } params;
    layout(set = 0, binding = 1) writeonly buffer Out { float r[]; };
    layout(set = 0, binding = 9) buffer Unused { float never[]; };
    layout(push_constant) uniform Push { uint m, n; vec4 k; } push;
    layout(set = 2, binding = 0, r32f) uniform image2D picture;
    void main() {
        tile[gl_LocalInvocationIndex % AREA] = source[0].items[push.n].b * SCALE;
        barrier();
        r[gl_GlobalInvocationID.x] = tile[SWAPPED] + params.f[1] + params.m[0][0] + float(FAST)
            + imageLoad(picture, ivec2(0)).x;
    }";

/// SPIR-V specification, OpTypeArray: a length is at least 1.
#[test]
fn a_length_below_1_is_no_length() {
    let kernel = "
        layout(local_size_x = 1) in;
        layout(constant_id = 0) const int SIGNED = 4;
        layout(constant_id = 1) const uint DIVISOR = 2u;
        shared uint tile[SIGNED];
        shared uint parts[64u / DIVISOR];
        layout(set = 0, binding = 0) writeonly buffer Out { uint r[]; };
        void main() {
            tile[0] = 1u;
            parts[0] = 1u;
            barrier();
            r[0] = tile[0] + parts[0];
        }";
    let module = Module::parse(compile(kernel, TargetEnv::Vulkan1_2)).unwrap();
    let reflected = |signed: u64, divisor: u64| {
        let constants = BTreeMap::from([(0, signed), (1, divisor)]);
        Reflection::of_entry_point(&module, "main", &constants).map_err(|error| error.to_string())
    };
    assert!(reflected(4, 2).is_ok());
    for (signed, divisor) in [(u64::from(u32::MAX), 2), (0, 2), (4, 0), (4, 65)] {
        let told = reflected(signed, divisor).unwrap_err();
        assert!(told.contains("is not known, or below 1"), "{signed} {divisor}: {told}");
    }
    assert!(reflected(1, 64).is_ok());
}

#[test]
fn interface_of_a_kernel_is_what_its_text_declares() {
    let module = Module::parse(compile(KERNEL, TargetEnv::Vulkan1_2)).unwrap();
    let reflection =
        Reflection::of_entry_point(&module, "main", &BTreeMap::from([(3, 8), (0, 3)])).unwrap();
    assert_eq!(reflection.local_size, [8, 4, 1]);
    assert_eq!(reflection.barriers, BarrierUse::Used);
    let rows: Vec<_> = reflection
        .resources
        .iter()
        .map(|resource| {
            (resource.set, resource.binding, resource.class, resource.count, resource.access)
        })
        .collect();
    let one = DescriptorCount::One;
    assert_eq!(
        rows,
        [
            (0, 1, DescriptorClass::Storage, one, Access::WriteOnly),
            (0, 5, DescriptorClass::Uniform, one, Access::ReadOnly),
            (1, 2, DescriptorClass::Storage, DescriptorCount::Array(2), Access::ReadOnly),
            (2, 0, DescriptorClass::StorageImage, one, Access::ReadWrite),
        ]
    );
    let source = &reflection.resources[2];
    assert_eq!(
        (source.name.as_deref(), source.block_name.as_deref()),
        (Some("source"), Some("In"))
    );
    assert_eq!((source.fixed_bytes, source.element_stride), (16, Some(16)));
    // std140: three columns of 16 bytes, then three elements of 16 bytes, the last of which ends
    // after 4.
    assert_eq!(reflection.resources[1].fixed_bytes, 48 + 36);
    let push = reflection.push_constants.unwrap();
    let members: Vec<_> =
        push.members.iter().map(|member| (member.name.as_deref(), member.offset)).collect();
    assert_eq!(members, [(Some("m"), Some(0)), (Some("n"), Some(4)), (Some("k"), Some(16))]);
    assert_eq!(push.size, 32);
    assert_eq!(reflection.workgroup.len(), 1);
    assert_eq!(reflection.workgroup[0].size, 4 * (3 * 3 + 1));
    let rows: Vec<_> = reflection
        .specialization
        .iter()
        .map(|constant| {
            (
                constant.spec_id,
                constant.name.as_deref(),
                constant.type_name.as_str(),
                constant.default,
            )
        })
        .collect();
    assert_eq!(rows[0], (0, Some("TILE"), "uint", 16));
    assert_eq!(rows[1], (1, Some("FAST"), "bool", 1));
    assert_eq!((rows[2].0, rows[2].3), (3, 1));
    assert_eq!(rows[3], (7, Some("SCALE"), "float", u64::from(1.5_f32.to_bits())));
    assert!(reflection.capabilities.contains(&"Shader".to_owned()));
}

#[test]
fn unknown_entry_point_is_refused_with_those_that_exist() {
    let module = Module::parse(compile("void main() {}", TargetEnv::Vulkan1_0)).unwrap();
    let error = Reflection::of_entry_point(&module, "other", &BTreeMap::new()).unwrap_err();
    assert!(error.to_string().contains("`main`"), "{error}");
}

#[test]
fn shuffle_of_specialization_constants_is_read_and_evaluated() {
    let source = "layout(constant_id = 0) const uint A = 3;
        const uvec3 V = uvec3(A, A + 1, 9u);
        const uvec3 W = V.zyx;
        layout(binding = 0) buffer B { uint r[]; };
        void main() { r[W.x] = W.y; }";
    let module = Module::parse(compile(source, TargetEnv::Vulkan1_0)).unwrap();
    let types = Types::of_module(&module);
    let constants = Constants::evaluate(&module, &types, &BTreeMap::from([(0, 7)])).unwrap();
    let shuffle = module.instructions.iter().find(|instruction| {
        matches!(
            instruction.operands.first(),
            Some(rspirv::dr::Operand::LiteralSpecConstantOpInteger(
                rspirv::spirv::Op::VectorShuffle
            ))
        )
    });
    let id = shuffle.expect("glslang folds the swizzle into a shuffle").result.unwrap();
    use super::constants::ConstantValue::{Composite, Scalar};
    assert_eq!(constants.value(id), Some(&Composite(vec![Scalar(9), Scalar(8), Scalar(7)])));
    assert_eq!(constants.constness(id), Constness::Specialization);
}

proptest! {
    /// The compiler folds the same expression over literals; both must agree.
    #[test]
    fn specialized_arithmetic_equals_literal_arithmetic(a: i32, b: i32, op in 0_usize..17) {
        const OPS: [&str; 17] = [
            "A + B", "A - B", "A * B", "A ^ B", "A & B", "A | B", "~A", "-B", "A << (B & 31)", "A >> (B & 31)",
            "int(uint(A) >> uint(B & 31))", "A / max1", "A % max1", "int(uint(A) / (uint(B) | 1u))",
            "int(uint(A) % (uint(B) | 1u))", "A < B ? 1 : 2", "int(uint(A) >= uint(B)) + int(A == B)",
        ];
        let divisor = "((B & 0xFFFF) | 1)";
        let a = if OPS[op].contains("% max1") { a & i32::MAX } else { a };
        let expression = OPS[op].replace("max1", divisor);
        let kernel = |declarations: String| format!(
            "{declarations} const int R = {expression};
             layout(binding = 0) buffer O {{ int r[]; }}; void main() {{ r[0] = R; }}");
        let stored = |source: String| {
            let module = Module::parse(compile(&source, TargetEnv::Vulkan1_0)).unwrap();
            let specialization = BTreeMap::from([(0, u64::from(a as u32)), (1, u64::from(b as u32))]);
            let constants = Constants::evaluate(&module, &Types::of_module(&module), &specialization).unwrap();
            let store = module.instructions.iter().find(|instruction| instruction.op == rspirv::spirv::Op::Store);
            constants.scalar_bits(store.unwrap().id(1).unwrap())
        };
        let literal = stored(kernel(format!("const int A = int({}u); const int B = int({}u);", a as u32, b as u32)));
        let special = stored(kernel(
            "layout(constant_id = 0) const int A = 1; layout(constant_id = 1) const int B = 1;".to_owned()));
        prop_assert!(literal.is_some());
        prop_assert_eq!(literal, special);
    }

    #[test]
    fn garbage_is_refused_and_never_crashes(words in prop::collection::vec(any::<u32>(), 0..60), header: bool) {
        let mut words = words;
        if header {
            words.splice(0..0, [rspirv::spirv::MAGIC_NUMBER, 0x0001_0000, 0, 100, 0]);
        }
        let _ = validate(&words, TargetEnv::Vulkan1_2);
        let _ = disassemble(&words);
        let _ = Module::parse(words);
    }

    /// What the validator accepts after a random change, every reader of this layer must survive.
    #[test]
    fn damaged_modules_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 1..4),
                                    small: bool, cut in any::<prop::sample::Index>(), truncate: bool) {
        let mut words = damaged_base().to_vec();
        for (index, value) in changes {
            let index = index.index(words.len());
            words[index] = if small { words[index] ^ (1 << (value % 8)) } else { value };
        }
        if truncate {
            words.truncate(cut.index(words.len()));
        }
        let valid = validate(&words, TargetEnv::Vulkan1_2).is_ok();
        let parsed = Module::parse(words);
        if let (true, Ok(module)) = (valid, parsed) {
            let _ = Reflection::of_entry_point(&module, "main", &BTreeMap::new());
        }
    }
}

fn damaged_base() -> &'static [u32] {
    static WORDS: std::sync::OnceLock<Vec<u32>> = std::sync::OnceLock::new();
    WORDS.get_or_init(|| compile(KERNEL, TargetEnv::Vulkan1_2))
}

#[test]
fn validator_names_what_is_wrong() {
    let mut words = compile("void main() {}", TargetEnv::Vulkan1_0);
    assert_eq!(validate(&words, TargetEnv::Vulkan1_0), Ok(()));
    words.pop();
    let error = validate(&words, TargetEnv::Vulkan1_0).unwrap_err();
    assert!(!error.message.is_empty(), "{error}");
    assert!(validate(&[], TargetEnv::Vulkan1_0).is_err());
    assert!(validate(&[0x0302_2307], TargetEnv::Vulkan1_0).is_err());
    for (env, name) in TargetEnv::ALL {
        assert_eq!(TargetEnv::from_name(name.to_str().unwrap()), Some(*env));
        assert!(
            validate(&compile("void main() {}", TargetEnv::Vulkan1_0), *env).is_ok(),
            "{env:?}"
        );
    }
}

#[test]
fn disassembly_shows_names() {
    let text = disassemble(&compile("void main() {}", TargetEnv::Vulkan1_0)).unwrap();
    assert!(text.contains("OpEntryPoint GLCompute %main"), "{text}");
}

/// Lines of barriers under non-uniform control flow with the line of the branch; line 2 is the
/// first of `body`.
fn divergent(body: &str) -> Vec<(u32, u32, String)> {
    let source = format!(
        "layout(local_size_x = 8) in; layout(push_constant) uniform P {{ uint n; }};         layout(constant_id = 0) const uint S = 1; shared uint w[8];         layout(binding = 0) buffer A {{ uint r[]; }}; layout(binding = 1) readonly buffer C {{ uint c[]; }};         layout(binding = 2) uniform U {{ uint u; }};\n{body}"
    );
    let module = Module::parse(compile(&source, TargetEnv::Vulkan1_1)).unwrap();
    let entry = module.entry_points[0].function;
    let barriers = super::uniformity::divergent_barriers(&module, entry);
    let line = |place: &vkcert_model::place::Place| place.line.unwrap();
    barriers
        .iter()
        .map(|b| (line(&b.barrier), line(&b.branch), b.divergence.what.clone()))
        .collect()
}

#[test]
fn barriers_under_uniform_control_flow_are_accepted() {
    let uniform = "void main() {
        uint x = gl_LocalInvocationID.x;
        for (uint i = 0u; i < n; i++) { w[x] = i; barrier(); }
        if (gl_WorkGroupID.x > u && c[n] > S) { barrier(); }
        if (x > 3u) { r[x] = 1u; } else { r[x] = 2u; }
        barrier();
    }";
    assert_eq!(divergent(uniform), []);
}

#[test]
fn barrier_under_an_invocation_dependent_guard_is_found_with_both_lines() {
    let guarded = "void main() {
        uint x = gl_GlobalInvocationID.x; uint y = x + 1u;
        if (y < n) {
            for (uint i = 0u; i < n; i++) {
                barrier();
            }
        }
    }";
    assert_eq!(divergent(guarded), [(7, 5, "GlobalInvocationId".to_owned())]);
}

#[test]
fn barrier_after_an_early_return_is_found() {
    let early = "void main() {
        if (gl_LocalInvocationIndex > n) return;
        barrier();
    }";
    assert_eq!(divergent(early), [(5, 4, "LocalInvocationIndex".to_owned())]);
}

#[test]
fn divergence_passes_through_calls_variables_and_loop_exits() {
    let called = "void f(uint k) {
        if (k == 0u) {
            barrier();
        }
    }
    void g() {
        barrier();
    }
    void main() {
        uint v = 0u;
        if (atomicAdd(r[0], 1u) == 0u) { v = 1u; }
        f(v);
        while (w[0] < n) {
            g();
        }
    }";
    let found: Vec<_> =
        divergent(called).into_iter().map(|(barrier, branch, _)| (barrier, branch)).collect();
    assert_eq!(found[0], (5, 4));
    assert_eq!(found[1].0, 9);
    assert_eq!(found.len(), 2);
}

#[test]
fn loads_count_as_uniform_only_where_nobody_writes() {
    assert_eq!(divergent("void main() { if (c[u] > 1u) barrier(); }"), []);
    assert_eq!(divergent("void main() { if (r[u] > 1u) barrier(); }"), []);
    assert_eq!(
        divergent("void main() { if (c[gl_LocalInvocationIndex] > 1u) barrier(); }").len(),
        1
    );
    assert_eq!(divergent("void main() { r[1] = 2u; if (r[u] > 1u) barrier(); }").len(), 1);
    assert_eq!(divergent("void main() { if (w[u] > 1u) barrier(); }").len(), 1);
    assert_eq!(
        divergent(
            "void main() { if (gl_WorkGroupID.x > 1u && gl_LocalInvocationID.x > 1u) barrier(); }"
        )
        .len(),
        1
    );
}

#[test]
fn decorations_of_a_group_are_those_of_its_targets() {
    let text = "
        OpCapability Shader
        OpExtension \"SPV_KHR_storage_buffer_storage_class\"
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\"
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %stride ArrayStride 16
        %stride = OpDecorationGroup
        OpDecorate %offset Offset 32
        OpDecorate %offset NonWritable
        %offset = OpDecorationGroup
        OpGroupDecorate %stride %row %array
        OpMemberDecorate %block 0 Offset 0
        OpGroupMemberDecorate %offset %block 1
        OpDecorate %block Block
        OpDecorate %buffer DescriptorSet 1
        OpDecorate %buffer Binding 2
        %void = OpTypeVoid
        %void_function = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %two = OpConstant %uint 2
        %row = OpTypeArray %uint %two
        %array = OpTypeRuntimeArray %uint
        %block = OpTypeStruct %row %array
        %pointer = OpTypePointer StorageBuffer %block
        %buffer = OpVariable %pointer StorageBuffer
        %main = OpFunction %void None %void_function
        %label = OpLabel
        OpReturn
        OpFunctionEnd";
    let compiler = shaderc::Compiler::new().expect("compiler");
    let words = compiler.assemble(text, None).expect("assembly").as_binary().to_vec();
    validate(&words, TargetEnv::Vulkan1_3).expect("valid");
    let types = Types::of_module(&Module::parse(words).unwrap());
    let layouts: Vec<String> = types.iter().map(|(_, ty)| format!("{ty:?}")).collect();
    let all = layouts.join("\n");
    assert_eq!(all.matches("stride: Some(16)").count(), 2, "{all}");
    assert!(all.contains("offset: Some(32)"), "{all}");
}

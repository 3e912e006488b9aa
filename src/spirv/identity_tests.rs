//! What makes two modules one, and what does not.

use crate::compile_tests::compile;
use crate::identity::{ModuleIdentity, module_identity};
use crate::module::Module;
use crate::validate::TargetEnv;

fn identity(text: &str) -> ModuleIdentity {
    let module = Module::parse(compile(text, TargetEnv::Vulkan1_2)).expect("it parses");
    module_identity(&module).expect("it has one entry point")
}

const KERNEL: &str = "layout(local_size_x = 4) in;
layout(constant_id = 3) const int STEP = 2;
shared uint one[8]; shared uint two[8];
layout(std430, binding = 0) buffer Data { uint n; float x; uint o[]; };
uint unused(uint a) { return a * 7u; }
uint helper(uint a) { return a + 3u; }
void main() {
    one[gl_LocalInvocationID.x] = n; two[gl_LocalInvocationID.x] = 5u;
    barrier();
    for (int i = 0; i < 4; i += STEP) { o[i] = helper(one[i]) - two[i + 1] * o[i]; }
    precise float y = x * 2.0 + 1.0; x = y;
}";

fn changed(old: &str, new: &str) -> String {
    assert_eq!(KERNEL.matches(old).count(), 1, "{old}");
    KERNEL.replace(old, new)
}

#[test]
fn names_lines_order_and_what_is_not_called_are_no_difference() {
    let own = identity(KERNEL);
    let same = [
        ("shared uint one[8]; shared uint two[8];", "shared uint two[8];\n\nshared uint one[8];"),
        ("uint unused(uint a) { return a * 7u; }\n", ""),
        ("return a * 7u;", "return a / 9u + gl_GlobalInvocationID.z;"),
        ("uint helper(uint a) { return a + 3u; }", "uint helper(uint b) { return b + (1u + 2u); }"),
        ("i < 4;", "i < ((3) + 1);"),
        ("buffer Data", "buffer Other"),
    ];
    for (old, new) in same {
        assert_eq!(identity(&changed(old, new)), own, "{new}");
    }
}

#[test]
fn code_declarations_and_decorations_are_a_difference() {
    let own = identity(KERNEL);
    let other = [
        ("i < 4", "i < 5"),
        ("i < 4", "i <= 4"),
        ("a + 3u", "3u + a"),
        ("a + 3u", "a - 3u"),
        ("two[i + 1]", "one[i + 1]"),
        ("helper(one[i])", "helper(two[i])"),
        ("[gl_LocalInvocationID.x] = 5u", "[gl_GlobalInvocationID.x] = 5u"),
        ("local_size_x = 4", "local_size_x = 8"),
        ("constant_id = 3", "constant_id = 4"),
        ("STEP = 2", "STEP = 3"),
        ("shared uint one[8]", "shared uint one[9]"),
        ("binding = 0", "binding = 1"),
        ("std430, binding = 0", "std430, set = 1, binding = 0"),
        ("buffer Data", "coherent buffer Data"),
        ("uint n; float x;", "float x; uint n;"),
        ("uint n; float x;", "uint n; layout(offset = 8) float x;"),
        ("precise float y", "float y"),
        ("    barrier();\n", ""),
        ("barrier();", "memoryBarrierShared();"),
    ];
    for (old, new) in other {
        assert_ne!(identity(&changed(old, new)), own, "{new}");
    }
}

#[test]
fn sizes_of_workgroups_that_the_host_gives_are_a_difference() {
    let text = |sizes: &str| {
        format!(
            "layout({sizes}) in; layout(binding = 0) buffer Data {{ uint o[]; }};
            void main() {{ o[gl_LocalInvocationIndex] = gl_LocalInvocationID.x; }}"
        )
    };
    let own = identity(&text("local_size_x_id = 4, local_size_y_id = 6"));
    assert_eq!(own, identity(&text("local_size_y_id = 6,\n local_size_x_id = 4")));
    for sizes in [
        "local_size_x_id = 6, local_size_y_id = 4",
        "local_size_x_id = 4, local_size_z_id = 6",
        "local_size_x_id = 4, local_size_y_id = 7",
        "local_size_x_id = 4, local_size_y = 1",
        "local_size_x = 1, local_size_y = 1",
    ] {
        assert_ne!(identity(&text(sizes)), own, "{sizes}");
    }
}

#[test]
fn two_of_one_type_are_told_apart() {
    let text = |first: &str, second: &str| {
        format!(
            "shared uint one[8]; shared uint two[8];
            layout(binding = 0) buffer Data {{ uint o[]; }};
            void main() {{ one[0] = o[0]; two[0] = o[1]; barrier(); o[2] = {first}[1]; o[3] = {second}[1]; }}"
        )
    };
    assert_ne!(identity(&text("one", "two")), identity(&text("two", "one")));
    assert_ne!(identity(&text("one", "two")), identity(&text("one", "one")));
}

#[test]
fn modules_with_several_entry_points_have_none() {
    let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %f \"a\"\n\
                OpEntryPoint GLCompute %f \"b\"\nOpExecutionMode %f LocalSize 1 1 1\n%void = OpTypeVoid\n\
                %t = OpTypeFunction %void\n%f = OpFunction %void None %t\n%l = OpLabel\nOpReturn\nOpFunctionEnd";
    let words = shaderc::Compiler::new().unwrap().assemble(text, None).expect("assembly");
    let module = Module::parse(words.as_binary().to_vec()).expect("it parses");
    assert_eq!(module_identity(&module), None);
}

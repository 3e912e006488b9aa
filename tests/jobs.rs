//! Jobs and instructions that GLSL tests seldom reach, on the sequential engine: several
//! dispatches, descriptor arrays, and, from SPIR-V assembly, OpCopyMemory, OpVectorInsertDynamic
//! and OpUndef. Expected values are computed by hand.

// A job's defined bytes are a list of ranges; here it has one.
#![allow(clippy::single_range_in_vec_init)]

use crate::filetest;

use filetest::{Buffer, FileTest};
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::{Completion, Executor, Job, Run, Unobserved};
use vkcert::model::finding::FindingKind;
use vkcert::model::procedure::DescriptorClass;

fn job(module: Vec<u32>, buffers: &[&[u32]]) -> Job {
    let buffers = buffers.iter().enumerate().map(|(binding, words)| Buffer {
        binding: binding as u32,
        class: DescriptorClass::Storage,
        words: words.iter().map(|word| Some(*word)).collect(),
        range: None,
    });
    FileTest {
        name: "job".to_owned(),
        words: module,
        groups: [1; 3],
        buffers: buffers.collect(),
        ..FileTest::default()
    }
    .job()
}

fn run(job: &Job) -> Run {
    let run = SequentialExecutor::default().run(job, &mut Unobserved).unwrap();
    assert_eq!(run.completion, Completion::Completed);
    run
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn dispatches_of_a_job_run_in_order_on_the_same_buffers() {
    let module = filetest::compile(
        "multiple",
        "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
layout(push_constant) uniform P { uint factor; };
void main() { r[gl_GlobalInvocationID.x] = r[gl_GlobalInvocationID.x] * factor + 1u; }
",
    );
    let mut job = job(module, &[&[1, 2, 3, 4]]);
    let first = job.dispatches[0].clone();
    job.dispatches = [10u32, 3, 2]
        .map(|factor| {
            let mut one = first.clone();
            one.push_constants = factor.to_le_bytes().to_vec();
            one.push_constants_defined = vec![0..4];
            one
        })
        .to_vec();
    let run = run(&job);
    assert_eq!(run.findings, []);
    // ((x * 10 + 1) * 3 + 1) * 2 + 1; any other order gives other numbers.
    assert_eq!(words(&run.buffers[0]), [69, 129, 189, 249]);
}

#[test]
fn each_element_of_a_descriptor_array_is_its_own_buffer() {
    let module = filetest::compile(
        "array",
        "#version 450
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; } all[3];
void main() { all[2].r[0] = all[0].r[0] * 100u + all[1].r[0]; }
",
    );
    let mut job = job(module, &[&[7], &[5], &[0]]);
    for (index, binding) in job.dispatches[0].bindings.iter_mut().enumerate() {
        binding.binding = 0;
        binding.array_index = index as u32;
    }
    let run = run(&job);
    assert_eq!(run.findings, []);
    let values: Vec<_> = run.buffers.iter().map(|bytes| words(bytes)[0]).collect();
    assert_eq!(values, [7, 5, 705]);
}

/// A module with one invocation and a buffer of a runtime array of uint, `%r`; `body` sees `%uint`,
/// `%v4`, `%pu`, `%c0` to `%c5`, and a Function variable `%spare`.
fn assembled(body: &str) -> Vec<u32> {
    let constants: String = (0..6).map(|n| format!("%c{n} = OpConstant %uint {n}\n")).collect();
    let text = format!(
        "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %array ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block BufferBlock
OpDecorate %r DescriptorSet 0
OpDecorate %r Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
{constants}%v4 = OpTypeVector %uint 4
%array = OpTypeRuntimeArray %uint
%block = OpTypeStruct %array
%pb = OpTypePointer Uniform %block
%pu = OpTypePointer Uniform %uint
%pf = OpTypePointer Function %uint
%r = OpVariable %pb Uniform
%main = OpFunction %void None %fn
%start = OpLabel
%spare = OpVariable %pf Function
{body}
OpReturn
OpFunctionEnd
"
    );
    let compiler = shaderc::Compiler::new().unwrap();
    let mut options = shaderc::CompileOptions::new().unwrap();
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_0 as u32);
    let artifact =
        compiler.assemble(&text, Some(&options)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    artifact.as_binary().to_vec()
}

#[test]
fn copy_memory_copies_between_buffer_and_variable() {
    let module = assembled(
        "%p0 = OpAccessChain %pu %r %c0 %c0
%p1 = OpAccessChain %pu %r %c0 %c1
%p2 = OpAccessChain %pu %r %c0 %c2
OpCopyMemory %spare %p0
OpCopyMemory %p0 %p1
OpCopyMemory %p2 %spare",
    );
    let run = run(&job(module, &[&[11, 22, 33]]));
    assert_eq!(run.findings, []);
    assert_eq!(words(&run.buffers[0]), [22, 22, 11]);
}

#[test]
fn a_dynamic_insert_replaces_one_component() {
    let store = |n: u32| {
        format!(
            "%e{n} = OpCompositeExtract %uint %new {n}\n%q{n} = OpAccessChain %pu %r %c0 %c{}\nOpStore %q{n} %e{n}\n",
            n + 1
        )
    };
    let body = format!(
        "%p0 = OpAccessChain %pu %r %c0 %c0
%index = OpLoad %uint %p0
%old = OpCompositeConstruct %v4 %c1 %c2 %c3 %c4
%new = OpVectorInsertDynamic %v4 %old %c5 %index
{}",
        (0..4).map(store).collect::<String>()
    );
    let module = assembled(&body);
    for index in 0..4u32 {
        let run = run(&job(module.clone(), &[&[index, 0, 0, 0, 0]]));
        assert_eq!(run.findings, []);
        let mut expected = [index, 1, 2, 3, 4];
        expected[index as usize + 1] = 5;
        assert_eq!(words(&run.buffers[0]), expected);
    }
}

/// SPIR-V, OpUndef: the value may be anything, so storing it to a buffer is a use of an undefined
/// value; the other stores of the kernel are not touched by that.
#[test]
fn an_undef_that_is_written_to_a_buffer_is_found() {
    let module = assembled(
        "%p0 = OpAccessChain %pu %r %c0 %c0
%p1 = OpAccessChain %pu %r %c0 %c1
%u = OpUndef %uint
%unused = OpIAdd %uint %c1 %c2
OpStore %p0 %unused
OpStore %p1 %u",
    );
    let run = run(&job(module, &[&[9, 9]]));
    let kinds: Vec<_> = run.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::UninitializedRead]);
    assert_eq!(words(&run.buffers[0])[0], 3);
}

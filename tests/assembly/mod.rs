//! Kernels in SPIR-V assembly: assembled, validated, run on the sequential engine and on the
//! device.

#![allow(dead_code)]

pub(crate) mod operation;

use crate::filetest::{Buffer, FileTest};
use rspirv::binary::Assemble;
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use vkcert::exec::sequential::{SequentialExecutor, Settings};
use vkcert::exec::vulkan::VulkanExecutor;
use vkcert::exec::{Completion, Executor, Job, Run, Unobserved};
use vkcert::model::finding::FindingKind;
use vkcert::model::procedure::DescriptorClass;
use vkcert::spirv::validate::{TargetEnv, validate};

/// A kernel. `%i` and `%o` are blocks of a runtime array of uint at bindings 0 and 1; `%x` is the
/// local index; `%c0` to `%c9` are constants of type uint; pointers: `%pb` to a block, `%pu` to its
/// words, `%fu` to a function variable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kernel {
    /// Names of capabilities and extensions.
    pub needs: &'static [&'static str],
    /// Imported instruction sets.
    pub imports: &'static str,
    pub interface: &'static str,
    /// Execution modes of `%main`.
    pub modes: &'static str,
    pub decorations: &'static str,
    pub declarations: String,
    /// Instructions of `main` behind its variables.
    pub variables: &'static str,
    pub body: String,
    /// Behind `main`.
    pub functions: &'static str,
    /// Local size; 0 is 1.
    pub size: u32,
}

impl Kernel {
    pub(crate) fn text(&self) -> String {
        let (extensions, capabilities): (Vec<&str>, Vec<&str>) =
            self.needs.iter().copied().partition(|name| name.starts_with("SPV_"));
        let capabilities: String =
            capabilities.iter().map(|name| format!("OpCapability {name}\n")).collect();
        let extensions: String =
            extensions.iter().map(|name| format!("OpExtension \"{name}\"\n")).collect();
        let constants: String =
            (0..10).map(|n| format!("%c{n} = OpConstant %uint {n}\n")).collect();
        let model = if self.needs.contains(&"VulkanMemoryModel") { "Vulkan" } else { "GLSL450" };
        format!(
            "OpCapability Shader
{capabilities}{extensions}{}OpMemoryModel Logical {model}
OpEntryPoint GLCompute %main \"main\" %i %o %index {}
OpExecutionMode %main LocalSize {} 1 1
{}
OpName %i \"i\"
OpName %o \"o\"
OpDecorate %array ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %i DescriptorSet 0
OpDecorate %i Binding 0
OpDecorate %o DescriptorSet 0
OpDecorate %o Binding 1
OpDecorate %index BuiltIn LocalInvocationIndex
{}
%void = OpTypeVoid
%procedure = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%array = OpTypeRuntimeArray %uint
%block = OpTypeStruct %array
%pb = OpTypePointer StorageBuffer %block
%pu = OpTypePointer StorageBuffer %uint
%fu = OpTypePointer Function %uint
%pi = OpTypePointer Input %uint
{constants}%i = OpVariable %pb StorageBuffer
%o = OpVariable %pb StorageBuffer
%index = OpVariable %pi Input
{}
%main = OpFunction %void None %procedure
%start = OpLabel
{}
%x = OpLoad %uint %index
{}
OpReturn
OpFunctionEnd
{}",
            self.imports,
            self.interface,
            self.size.max(1),
            self.modes,
            self.decorations,
            self.declarations,
            self.variables,
            self.body,
            self.functions
        )
    }

    pub(crate) fn words(&self) -> Vec<u32> {
        let text = self.text();
        let compiler = shaderc::Compiler::new().unwrap();
        let mut options = shaderc::CompileOptions::new().unwrap();
        options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_3 as u32);
        // The assembler knows core instructions of version 1.0 only, and those of extensions.
        let known = NEWER.iter().fold(text.clone(), |text, (new, old)| text.replace(new, old));
        let artifact = compiler
            .assemble(&known, Some(&options))
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut words = artifact.as_binary().to_vec();
        words[1] = 0x0001_0600;
        if known == text { words } else { newer(&words) }
    }

    /// The job with one group; the module must be valid.
    pub(crate) fn job(&self, input: &[u32], output: usize) -> Job {
        let words = self.words();
        validate(&words, TargetEnv::Vulkan1_3)
            .unwrap_or_else(|error| panic!("{error}\n{}", self.text()));
        self.unchecked(words, input, output)
    }

    fn unchecked(&self, words: Vec<u32>, input: &[u32], output: usize) -> Job {
        let buffer = |(binding, words): (u32, Vec<u32>)| Buffer {
            binding,
            class: DescriptorClass::Storage,
            words: words.into_iter().map(Some).collect(),
            range: None,
        };
        FileTest {
            name: "assembled".to_owned(),
            words,
            groups: [1; 3],
            buffers: [(0, input.to_vec()), (1, vec![0; output])].map(buffer).to_vec(),
            ..FileTest::default()
        }
        .job()
    }

    pub(crate) fn run(&self, input: &[u32], output: usize) -> Run {
        sequential(&self.job(input, output), Settings::default())
    }

    /// What the sequential engine does not have of it.
    pub(crate) fn unsupported(&self) -> String {
        match self.run(&[0; 64], 64).completion {
            Completion::Unsupported { what } => what,
            other => panic!("{other:?}"),
        }
    }

    /// The same of a module that is not valid in Vulkan.
    pub(crate) fn refused(&self) -> String {
        let job = self.unchecked(self.words(), &[0; 64], 64);
        match sequential(&job, Settings::default()).completion {
            Completion::Unsupported { what } => what,
            other => panic!("{other:?}"),
        }
    }

    /// Words of the output where nothing is found; the same on the device if there is one that can.
    pub(crate) fn output(
        &self,
        input: &[u32],
        output: usize,
        device: Option<&mut VulkanExecutor>,
    ) -> Vec<u32> {
        let job = self.job(input, output);
        let run = sequential(&job, Settings::default());
        assert_eq!(
            (&run.completion, run.findings.as_slice()),
            (&Completion::Completed, &[][..]),
            "{}",
            self.text()
        );
        for tile_width in [1, 3] {
            let other = sequential(&job, Settings { tile_width, ..Settings::default() });
            assert_eq!(run.buffers, other.buffers, "tiles of {tile_width}");
        }
        if let Some(device) = device {
            let theirs = device.run(&job, &mut Unobserved).unwrap();
            match &theirs.completion {
                Completion::Completed => {
                    let pair = [&run, &theirs]
                        .map(|run| run.buffers.iter().map(|one| words(one)).collect::<Vec<_>>());
                    assert_eq!(pair[0], pair[1], "sequential, device\n{}", self.text());
                }
                Completion::Unsupported { what } => eprintln!("NOT RUN on the device: {what}"),
                other => panic!("{other:?}"),
            }
        }
        words(&run.buffers[1])
    }

    /// Kinds and messages of what is found.
    pub(crate) fn findings(&self, input: &[u32], output: usize) -> Vec<(FindingKind, String)> {
        let run = self.run(input, output);
        assert_eq!(run.completion, Completion::Completed, "{}", self.text());
        run.findings.into_iter().map(|finding| (finding.kind, finding.message)).collect()
    }
}

/// Instructions that are not core ones of version 1.0, with those that stand for them in the text.
const NEWER: &[(&str, &str)] = &[
    ("OpCopyLogical", "OpCopyObject"),
    ("OpPtrEqual", "OpIEqual"),
    ("OpPtrNotEqual", "OpINotEqual"),
];

/// The module with the newer instructions where their stand-ins would not be valid.
fn newer(words: &[u32]) -> Vec<u32> {
    let mut module = rspirv::dr::load_words(words).unwrap();
    let types: BTreeMap<u32, u32> =
        module.all_inst_iter().filter_map(|one| Some((one.result_id?, one.result_type?))).collect();
    let pointers = module.all_inst_iter().filter(|one| one.class.opcode == Op::TypePointer);
    let pointers: Vec<Option<u32>> = pointers.map(|one| one.result_id).collect();
    for one in module.all_inst_iter_mut() {
        let Some(rspirv::dr::Operand::IdRef(operand)) = one.operands.first() else { continue };
        let ty = types.get(operand).copied();
        let new = match one.class.opcode {
            Op::CopyObject if ty != one.result_type => Op::CopyLogical,
            Op::IEqual if pointers.contains(&ty) => Op::PtrEqual,
            Op::INotEqual if pointers.contains(&ty) => Op::PtrNotEqual,
            _ => continue,
        };
        one.class = rspirv::grammar::INSTRUCTION_TABLE.get(new);
    }
    module.assemble()
}

pub(crate) fn sequential(job: &Job, settings: Settings) -> Run {
    SequentialExecutor::new(settings).run(job, &mut Unobserved).unwrap()
}

pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

//! The canary dispatch: a kernel so small that a device which gets it wrong can be trusted with nothing.
//!
//! Knows: a module built here (no compiler), 8 workgroups of 8 invocations, each writing one word that depends on its id.

use super::identity::NoVulkan;
use super::pass::storage_binding;
use super::protocol::{Bytes, Cache, Ending, WireDispatch, WireJob, WireModule, WireRun};
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use rspirv::spirv as spv;
use sha2::{Digest, Sha256};

/// The job's name; no test's id has spaces.
pub const NAME: &str = "canary dispatch";
const GROUPS: u32 = 8;
const LOCAL: u32 = 8;
const FACTOR: u32 = 0x9E37_79B1;

fn expected(index: u32) -> u32 {
    index.wrapping_mul(FACTOR) ^ FACTOR
}

/// `words[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * FACTOR ^ FACTOR`
fn module() -> Result<Vec<u32>, rspirv::dr::Error> {
    let mut b = Builder::new();
    b.set_version(1, 3);
    b.capability(spv::Capability::Shader);
    b.memory_model(spv::AddressingModel::Logical, spv::MemoryModel::GLSL450);
    let (void, word) = (b.type_void(), b.type_int(32, 0));
    let procedure = b.type_function(void, []);
    let triple = b.type_vector(word, 3);
    let words = b.type_runtime_array(word);
    let block = b.type_struct([words]);
    let input = b.type_pointer(None, spv::StorageClass::Input, triple);
    let storage = b.type_pointer(None, spv::StorageClass::StorageBuffer, block);
    let element = b.type_pointer(None, spv::StorageClass::StorageBuffer, word);
    let (zero, factor) = (b.constant_bit32(word, 0), b.constant_bit32(word, FACTOR));
    let id = b.variable(input, None, spv::StorageClass::Input, None);
    let buffer = b.variable(storage, None, spv::StorageClass::StorageBuffer, None);
    b.decorate(id, spv::Decoration::BuiltIn, [Operand::BuiltIn(spv::BuiltIn::GlobalInvocationId)]);
    b.decorate(words, spv::Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
    b.decorate(block, spv::Decoration::Block, []);
    b.member_decorate(block, 0, spv::Decoration::Offset, [Operand::LiteralBit32(0)]);
    b.decorate(buffer, spv::Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
    b.decorate(buffer, spv::Decoration::Binding, [Operand::LiteralBit32(0)]);
    let main = b.begin_function(void, None, spv::FunctionControl::NONE, procedure)?;
    b.begin_block(None)?;
    let ids = b.load(triple, None, id, None, [])?;
    let x = b.composite_extract(word, None, ids, [0])?;
    let product = b.i_mul(word, None, x, factor)?;
    let value = b.bitwise_xor(word, None, product, factor)?;
    let place = b.access_chain(element, None, buffer, [zero, x])?;
    b.store(place, value, None, [])?;
    b.ret()?;
    b.end_function()?;
    b.entry_point(spv::ExecutionModel::GLCompute, main, "main", [id]);
    b.execution_mode(main, spv::ExecutionMode::LocalSize, [LOCAL, 1, 1]);
    Ok(b.module().assemble())
}

pub fn job() -> WireJob {
    let words = module().expect("the builder's calls are in order");
    one_buffer_job(NAME, &words, (GROUPS * LOCAL) as usize, GROUPS)
}

/// Runs a loop of known length (see [`super::census`]).
pub fn loop_probe() -> WireJob {
    let words = super::census::probe_module().expect("the builder's calls are in order");
    one_buffer_job("loop probe", &words, 1, 1)
}

/// A job with one buffer of `length` zero words at set 0, binding 0, and `groups` workgroups in x.
fn one_buffer_job(name: &str, words: &[u32], length: usize, groups: u32) -> WireJob {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let binding = storage_binding(0, 0, 0, length as u64 * 4);
    WireJob {
        name: name.to_owned(),
        cache: Cache::Keep,
        memory_bytes: u64::MAX,
        modules: vec![WireModule {
            kernel: name.to_owned(),
            digest: Sha256::digest(&bytes).into(),
            words: Some(Bytes(bytes)),
            records: None,
        }],
        buffers: vec![Bytes(vec![0; length * 4])],
        images: Vec::new(),
        samplers: Vec::new(),
        addresses: Vec::new(),
        dispatches: vec![WireDispatch {
            module: 0,
            entry: "main".to_owned(),
            groups: [groups, 1, 1],
            bindings: vec![binding],
            push_constants: Bytes::default(),
            specialization: Vec::new(),
            subgroup_size: None,
        }],
        asked: Default::default(),
    }
}

/// Iterations after which the device cuts loops off; none: the probe's loop ran to its end.
pub fn judge_loop_probe(run: &WireRun) -> Result<Option<u32>, NoVulkan> {
    let count = run.buffers.first().and_then(|buffer| buffer.0.first_chunk()).map(|bytes| u32::from_le_bytes(*bytes));
    match count {
        Some(count) if run.ending == Ending::Completed => Ok((count != super::census::PROBE).then_some(count)),
        Some(_) | None => Err(NoVulkan::Canary { reason: format!("the loop probe: {:?}", run.ending) }),
    }
}

/// Whether the device did what the kernel says, without a word from the validation layer.
pub fn judge(run: &WireRun) -> Result<(), NoVulkan> {
    let canary = |reason: String| Err(NoVulkan::Canary { reason });
    if run.ending != Ending::Completed {
        return canary(format!("{:?}", run.ending));
    }
    if let Some(message) = run.messages.first() {
        return canary(message.text.clone());
    }
    if !run.trespasses.is_empty() {
        return canary("it wrote outside its buffer".to_owned());
    }
    let right: Vec<u8> = (0..GROUPS * LOCAL).flat_map(|index| expected(index).to_le_bytes()).collect();
    match run.buffers.first() {
        Some(buffer) if buffer.0 == right => Ok(()),
        Some(_) | None => canary("its output is wrong".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_words_pass() {
        let right: Vec<u8> = (0..GROUPS * LOCAL).flat_map(|index| expected(index).to_le_bytes()).collect();
        let mut run = WireRun::ended(Ending::Completed);
        assert!(judge(&run).is_err());
        run.buffers = vec![Bytes(right)];
        assert_eq!(judge(&run), Ok(()));
        run.buffers[0].0[17] ^= 1;
        assert!(judge(&run).is_err());
    }

    #[test]
    fn the_canary_module_parses_and_needs_one_buffer() {
        let module = crate::spirv::module::Module::parse(module().expect("builds")).expect("parses");
        let needs = crate::spirv::interface::DeviceNeeds::of(&module, "main", &Default::default()).expect("has main");
        assert_eq!((needs.local_size, needs.descriptors.len()), (Some([LOCAL, 1, 1]), 1));
    }
}

//! The canary dispatch: a kernel so small that a device which gets it wrong can be trusted with
//! nothing.
//!
//! Knows: a module built here (no compiler), 8 workgroups of 8 invocations, each writing one word
//! that depends on its id.

use super::identity::NoVulkan;
use super::protocol::{
    Bytes, Cache, Ending, WireDispatch, WireJob, WireModule, WireRun, storage_binding,
};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Op};
use sha2::{Digest, Sha256};
use vkcert_spirv::rewrite::ModuleDraft;

/// The job's name; no test's id has spaces.
pub(crate) const NAME: &str = "canary dispatch";
const GROUPS: u32 = 8;
const LOCAL: u32 = 8;
const FACTOR: u32 = 0x9E37_79B1;

fn expected(index: u32) -> u32 {
    index.wrapping_mul(FACTOR) ^ FACTOR
}

/// `words[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * FACTOR ^ FACTOR`
fn module() -> Vec<u32> {
    let mut draft = ModuleDraft::new_kernel((1, 3));
    let (void, word) = (draft.declare_type(Op::TypeVoid, Vec::new()), draft.uint_type());
    let triple =
        draft.declare_type(Op::TypeVector, vec![Operand::IdRef(word), Operand::LiteralBit32(3)]);
    let words = draft.word_array();
    let block = draft.storage_block(words, 0, 0);
    let element = draft.pointer_type(block.class, word);
    let (zero, factor) = (draft.uint_constant(0), draft.uint_constant(FACTOR));
    let id = draft.built_in(BuiltIn::GlobalInvocationId, triple);
    let main = draft.fresh_id();
    draft.begin_function(void, main, &[]);
    let ids = draft.emit(Op::Load, triple, vec![Operand::IdRef(id)]);
    let x =
        draft.emit(Op::CompositeExtract, word, vec![Operand::IdRef(ids), Operand::LiteralBit32(0)]);
    let product = draft.emit(Op::IMul, word, [x, factor].map(Operand::IdRef).to_vec());
    let value = draft.emit(Op::BitwiseXor, word, [product, factor].map(Operand::IdRef).to_vec());
    let chain = [block.variable, zero, x].map(Operand::IdRef).to_vec();
    let place = draft.emit(Op::AccessChain, element, chain);
    draft.store(place, value);
    draft.end_function();
    draft.entry_point(main, &[id], [LOCAL, 1, 1]);
    draft.finish()
}

pub(crate) fn job() -> WireJob {
    one_buffer_job(NAME, &module(), (GROUPS * LOCAL) as usize, GROUPS)
}

/// Runs a loop of known length (see [`super::loop_count`]).
pub(crate) fn loop_probe() -> WireJob {
    one_buffer_job("loop probe", &super::loop_count::probe_module(), 1, 1)
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
            words: Some(Bytes::from(bytes)),
            records: None,
        }],
        buffers: vec![Bytes::from(vec![0; length * 4])],
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
pub(crate) fn judge_loop_probe(run: &WireRun) -> Result<Option<u32>, NoVulkan> {
    let count = run
        .buffers
        .first()
        .and_then(|buffer| buffer.0.first_chunk())
        .map(|bytes| u32::from_le_bytes(*bytes));
    match count {
        Some(count) if run.ending == Ending::Completed => {
            Ok((count != super::loop_count::PROBE).then_some(count))
        }
        Some(_) | None => {
            Err(NoVulkan::Canary { reason: format!("the loop probe: {:?}", run.ending) })
        }
    }
}

/// Whether the device did what the kernel says, without a word from the validation layer.
pub(crate) fn judge(run: &WireRun) -> Result<(), NoVulkan> {
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
    let right: Vec<u8> =
        (0..GROUPS * LOCAL).flat_map(|index| expected(index).to_le_bytes()).collect();
    match run.buffers.first() {
        Some(buffer) if *buffer.0 == right => Ok(()),
        Some(_) | None => canary("its output is wrong".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_words_pass() {
        let right: Vec<u8> =
            (0..GROUPS * LOCAL).flat_map(|index| expected(index).to_le_bytes()).collect();
        let mut run = WireRun::ended(Ending::Completed);
        assert!(judge(&run).is_err());
        run.buffers = vec![Bytes::from(right)];
        assert_eq!(judge(&run), Ok(()));
        std::sync::Arc::make_mut(&mut run.buffers[0].0)[17] ^= 1;
        assert!(judge(&run).is_err());
    }

    #[test]
    fn the_canary_module_parses_and_needs_one_buffer() {
        let module = vkcert_spirv::module::Module::parse(module()).expect("parses");
        let needs = vkcert_spirv::interface::DeviceNeeds::of_entry_point(
            &module,
            "main",
            &Default::default(),
        )
        .expect("has main");
        assert_eq!((needs.local_size, needs.descriptors.len()), (Some([LOCAL, 1, 1]), 1));
    }
}

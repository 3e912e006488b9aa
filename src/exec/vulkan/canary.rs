//! The canary dispatch: a kernel so small that a device which gets it wrong can be trusted with
//! nothing.
//!
//! Knows: a module built here (no compiler), 8 workgroups of 8 invocations, each writing one word
//! that depends on its id.

use super::identity::NoVulkan;
use super::protocol::{
    Bytes, Cache, Ending, WireDispatch, WireJob, WireModule, WireRun, storage_binding,
};
use super::settings::LoopCounting;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Op};
use sha2::{Digest, Sha256};
use vkcert_spirv::rewrite::ModuleDraft;

/// The job's name; no test's id has spaces.
pub(crate) const NAME: &str = "canary dispatch";
const GROUPS: u32 = 8;
const LOCAL: u32 = 8;
const FACTOR: u32 = 0x9E37_79B1;

fn expected_word(invocation_index: u32) -> u32 {
    invocation_index.wrapping_mul(FACTOR) ^ FACTOR
}

/// `words[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * FACTOR ^ FACTOR`
fn canary_module() -> Vec<u32> {
    let mut draft = ModuleDraft::new_kernel((1, 3));
    let (void_type, word_type) = (draft.declare_type(Op::TypeVoid, Vec::new()), draft.uint_type());
    let vector_type = draft
        .declare_type(Op::TypeVector, vec![Operand::IdRef(word_type), Operand::LiteralBit32(3)]);
    let word_array = draft.word_array();
    let storage_block = draft.storage_block(word_array, 0, 0);
    let element_pointer = draft.pointer_type(storage_block.class, word_type);
    let (zero_constant, factor_constant) = (draft.uint_constant(0), draft.uint_constant(FACTOR));
    let id_variable = draft.built_in(BuiltIn::GlobalInvocationId, vector_type);
    let main_function = draft.fresh_id();
    draft.begin_function(void_type, main_function, &[]);
    let invocation_id = draft.emit(Op::Load, vector_type, vec![Operand::IdRef(id_variable)]);
    let invocation_x = draft.emit(
        Op::CompositeExtract,
        word_type,
        vec![Operand::IdRef(invocation_id), Operand::LiteralBit32(0)],
    );
    let scaled_index = draft.emit(
        Op::IMul,
        word_type,
        [invocation_x, factor_constant].map(Operand::IdRef).to_vec(),
    );
    let result_word = draft.emit(
        Op::BitwiseXor,
        word_type,
        [scaled_index, factor_constant].map(Operand::IdRef).to_vec(),
    );
    let access_chain =
        [storage_block.variable, zero_constant, invocation_x].map(Operand::IdRef).to_vec();
    let result_pointer = draft.emit(Op::AccessChain, element_pointer, access_chain);
    draft.store(result_pointer, result_word);
    draft.end_function();
    draft.entry_point(main_function, &[id_variable], [LOCAL, 1, 1]);
    draft.finish()
}

pub(crate) fn canary_job() -> WireJob {
    one_buffer_job(NAME, &canary_module(), (GROUPS * LOCAL) as usize, GROUPS)
}

/// Runs a loop of known length (see [`super::loop_count`]).
pub(crate) fn loop_probe_job() -> WireJob {
    one_buffer_job("loop probe", &super::loop_count::probe_module(), 1, 1)
}

/// A job with one buffer of `length` zero words at set 0, binding 0, and `groups` workgroups in x.
fn one_buffer_job(
    job_name: &str,
    module_words: &[u32],
    word_count: usize,
    workgroup_count: u32,
) -> WireJob {
    let module_bytes: Vec<u8> = module_words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffer_binding = storage_binding(0, 0, 0, word_count as u64 * 4);
    WireJob {
        name: job_name.to_owned(),
        cache: Cache::Keep,
        memory_bytes: u64::MAX,
        modules: vec![WireModule {
            kernel: job_name.to_owned(),
            digest: Sha256::digest(&module_bytes).into(),
            words: Some(Bytes::from(module_bytes)),
            records: None,
        }],
        buffers: vec![Bytes::from(vec![0; word_count * 4])],
        images: Vec::new(),
        samplers: Vec::new(),
        addresses: Vec::new(),
        dispatches: vec![WireDispatch {
            module: 0,
            entry: "main".to_owned(),
            groups: [workgroup_count, 1, 1],
            bindings: vec![buffer_binding],
            push_constants: Bytes::default(),
            specialization: Vec::new(),
            subgroup_size: None,
        }],
        loop_counting: LoopCounting::default(),
        asked: Default::default(),
    }
}

/// Iterations after which the device cuts loops off; none: the probe's loop ran to its end.
pub(crate) fn check_loop_probe(run: &WireRun) -> Result<Option<u32>, NoVulkan> {
    let iteration_count = run
        .buffers
        .first()
        .and_then(|buffer| buffer.0.first_chunk())
        .map(|bytes| u32::from_le_bytes(*bytes));
    match iteration_count {
        Some(iteration_count) if run.ending == Ending::Completed => {
            Ok((iteration_count != super::loop_count::PROBE_ITERATIONS).then_some(iteration_count))
        }
        Some(_) | None => {
            Err(NoVulkan::Canary { reason: format!("the loop probe: {:?}", run.ending) })
        }
    }
}

/// Whether the device did what the kernel says, without a word from the validation layer.
pub(crate) fn check_canary(run: &WireRun) -> Result<(), NoVulkan> {
    let canary_failure = |reason: String| Err(NoVulkan::Canary { reason });
    if run.ending != Ending::Completed {
        return canary_failure(format!("{:?}", run.ending));
    }
    if let Some(message) = run.messages.first() {
        return canary_failure(message.text.clone());
    }
    if !run.trespasses.is_empty() {
        return canary_failure("it wrote outside its buffer".to_owned());
    }
    let expected_bytes: Vec<u8> =
        (0..GROUPS * LOCAL).flat_map(|index| expected_word(index).to_le_bytes()).collect();
    match run.buffers.first() {
        Some(buffer) if *buffer.0 == expected_bytes => Ok(()),
        Some(_) | None => canary_failure("its output is wrong".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_words_pass() {
        let right: Vec<u8> =
            (0..GROUPS * LOCAL).flat_map(|index| expected_word(index).to_le_bytes()).collect();
        let mut run = WireRun::ended(Ending::Completed);
        assert!(check_canary(&run).is_err());
        run.buffers = vec![Bytes::from(right)];
        assert_eq!(check_canary(&run), Ok(()));
        std::sync::Arc::make_mut(&mut run.buffers[0].0)[17] ^= 1;
        assert!(check_canary(&run).is_err());
    }

    #[test]
    fn the_canary_module_parses_and_needs_one_buffer() {
        let module = vkcert_spirv::module::Module::parse(canary_module()).expect("parses");
        let needs = vkcert_spirv::interface::DeviceNeeds::of_entry_point(
            &module,
            "main",
            &Default::default(),
        )
        .expect("has main");
        assert_eq!((needs.local_size, needs.descriptors.len()), (Some([LOCAL, 1, 1]), 1));
    }
}

//! Who reads what another side wrote, as the sequential engine sees it: each way in which a value
//! can come, in kernels made by hand, and on random kernels against what the values themselves tell.
//!
//! Instructions are named by a word in a comment on their line: `//@ word`.

// A job's defined bytes are a list of ranges; here it has one.
#![allow(clippy::single_range_in_vec_init)]

mod obliged;
mod told_by_values;

use crate::filetest;

use filetest::FileTest;
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use vkcert::exec::access_pairs::{AccessPairs, ModulePairs, PairTracking};
use vkcert::exec::schedule::Following;
use vkcert::exec::sequential::{Jobs, MemoryModel, SequentialExecutor, SequentialRun, Settings};
use vkcert::exec::{Completion, Job, JobDispatch, JobModule, ModuleRecording, RunRequest};
use vkcert::exec::{Executor, Unobserved};
use vkcert::model::access_pair::Passage;
use vkcert::model::finding::Checks;
use vkcert::model::id::ModuleKey;
use vkcert::model::schedule::{Order, Schedule};
use vkcert::spirv::module::Module;

/// Runs a job and follows its accesses.
fn tracked_run(job: &Job, settings: Settings) -> SequentialRun {
    let request = RunRequest { pair_tracking: PairTracking::On, ..RunRequest::once(job) };
    SequentialExecutor::new(settings)
        .run_once(&request, &mut Unobserved)
        .expect("the engine does not fail")
}

fn modules_of(run: &SequentialRun) -> &BTreeMap<ModuleKey, ModulePairs> {
    match &run.access_pairs {
        AccessPairs::Tracked(modules) => modules,
        other => panic!("{other:?}"),
    }
}

/// A text with the names of its lines.
struct NamedLines {
    module: Module,
    names: BTreeMap<u32, String>,
}

impl NamedLines {
    fn new(text: &str, words: &[u32]) -> Self {
        let names = text.lines().zip(1..).filter_map(|(line, number)| {
            Some((number, line.split_once("//@ ")?.1.trim().to_owned()))
        });
        let module = Module::parse(words.to_vec()).expect("the compiler writes modules");
        Self { module, names: names.collect() }
    }

    fn line_of(&self, source_index: u32) -> u32 {
        self.module.place_of(source_index as usize).line.unwrap_or_default()
    }

    /// The name of the line of an instruction, or its number.
    fn name_of(&self, source_index: u32) -> String {
        let line = self.line_of(source_index);
        self.names.get(&line).cloned().unwrap_or_else(|| format!("line {line}"))
    }
}

/// The pairs of a module as text, such as `use from host` or `use from store behind barrier`. The
/// stores of other dispatches are named by `writers`, by kernel.
fn shown_pairs(
    run: &SequentialRun,
    key: ModuleKey,
    lines: &BTreeMap<ModuleKey, NamedLines>,
) -> BTreeSet<String> {
    let own = &lines[&key];
    let pairs = modules_of(run).get(&key).into_iter().flat_map(|module| &module.pairs);
    let shown = pairs.map(|pair| {
        let through = match pair.descriptor {
            Some(descriptor) => format!(" by {}", descriptor.binding),
            None => String::new(),
        };
        let way = match pair.passage {
            Passage::Host => "host".to_owned(),
            Passage::Dispatch { kernel, specialization, store } => {
                let writer = ModuleKey { kernel, specialization };
                format!("{} of dispatch {kernel}", lines[&writer].name_of(store))
            }
            Passage::Barrier { store, barrier } => {
                format!("{} behind {}", own.name_of(store), own.name_of(barrier))
            }
            Passage::Atomic { store } => format!("{} atomically", own.name_of(store)),
            Passage::Unordered { store } => format!("{} unordered", own.name_of(store)),
        };
        format!("{}{through} from {way}", own.name_of(pair.use_index))
    });
    shown.collect()
}

/// The pairs of a kernel whose job is written as directives in its text.
fn pairs_of(text: &str) -> BTreeSet<String> {
    pairs_in(text, Settings::default())
}

fn pairs_in(text: &str, settings: Settings) -> BTreeSet<String> {
    let test = file_test(text);
    let run = tracked_run(&test.job(), settings);
    assert_eq!(run.run.completion, Completion::Completed);
    let key = ModuleKey::from("kernel");
    shown_pairs(&run, key, &BTreeMap::from([(key, NamedLines::new(text, &test.words))]))
}

fn file_test(text: &str) -> FileTest {
    FileTest::of(&shaderc::Compiler::new().unwrap(), "kernel", text)
}

/// The job of the first text with the dispatches of the others behind its own, all on its buffers.
/// Kernels are called `a`, `b` and so on; the same text is the same kernel.
fn job_of_dispatches(texts: &[&str]) -> (Job, BTreeMap<ModuleKey, NamedLines>) {
    let mut job = file_test(texts[0]).job();
    let first_dispatch = job.dispatches.remove(0);
    job.modules.clear();
    let mut lines = BTreeMap::new();
    let mut known_texts: Vec<&str> = Vec::new();
    for text in texts {
        let module = known_texts.iter().position(|known| known == text).unwrap_or_else(|| {
            let name = ["a", "b", "c"][known_texts.len()];
            known_texts.push(text);
            let words = file_test(text).words;
            lines.insert(ModuleKey::from(name), NamedLines::new(text, &words));
            let (key, recording) = (name.into(), ModuleRecording::None);
            job.modules.push(JobModule { key, words: Arc::new(words), recording });
            known_texts.len() - 1
        });
        job.dispatches.push(JobDispatch { module, ..first_dispatch.clone() });
    }
    (job, lines)
}

fn pairs_of_last(texts: &[&str]) -> BTreeSet<String> {
    let (job, lines) = job_of_dispatches(texts);
    let run = tracked_run(&job, Settings::default());
    assert_eq!(run.run.completion, Completion::Completed);
    let last = job.modules[job.dispatches.last().unwrap().module].key;
    shown_pairs(&run, last, &lines)
}

#[track_caller]
fn assert_pairs(found: BTreeSet<String>, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|text| (*text).to_owned()).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_the_host_defined_and_a_kernel_reads_is_a_pair() {
    let text = "#version 450
//! buffer 0 uint 1 2 3 4
//! uniform 1 uint 5*4
//! buffer 2 uint ?*4
//! push uint 7 uint ?
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(std140, set = 0, binding = 1) uniform U { uint u; };
layout(std430, set = 0, binding = 2) buffer R { uint r[]; };
layout(push_constant) uniform P { uint given; uint absent; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint x = a[i]; //@ storage
    x += u; //@ uniform
    x += given; //@ pushed
    uint y = absent; //@ absent
    uint z = r[i]; //@ undefined
    if (x == 0u) x += a[i]; //@ not executed
    r[i] = x;
    r[i] += 1u; //@ own
}
";
    assert_pairs(
        pairs_of(text),
        &["storage by 0 from host", "uniform by 1 from host", "pushed from host"],
    );
}

const REVERSAL: &str = "#version 450
//! buffer 0 uint 1*64
//! groups 2 1 1
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
shared uint tile[32];
void main() {
    uint i = gl_LocalInvocationIndex;
    tile[i] = a[gl_GlobalInvocationID.x]; //@ fill
    barrier(); //@ first
    barrier(); //@ second
    uint mirrored = tile[31u - i]; //@ use
    uint own = tile[i]; //@ own
    barrier(); //@ third
    if (i == 0u) tile[5] = 1u; //@ refill
    barrier(); //@ fourth
    if (i != 5u) own += tile[5]; //@ later
    a[gl_GlobalInvocationID.x] = mirrored + own; //@ leave
}
";

#[test]
fn a_value_comes_by_the_first_barrier_behind_its_store() {
    assert_pairs(
        pairs_of(REVERSAL),
        &["fill by 0 from host", "use from fill behind first", "later from refill behind fourth"],
    );
}

const BUFFER_EXCHANGE: &str = "#version 450
//! buffer 0 uint ?*32
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
shared uint t;
void main() {
    uint i = gl_LocalInvocationIndex;
    a[i] = i; //@ store
    barrier(); //@ bare
    FENCE
    barrier(); //@ ordering
    uint mirrored = a[31u - i]; //@ use
}
";

#[test]
fn a_barrier_that_does_not_order_the_memory_ends_no_interval() {
    let fenced = BUFFER_EXCHANGE.replace("FENCE", "memoryBarrierBuffer();");
    assert_pairs(pairs_of(&fenced), &["use by 0 from store behind ordering"]);
    let bare = BUFFER_EXCHANGE.replace("FENCE", "");
    assert_pairs(pairs_of(&bare), &["use by 0 from store unordered"]);
}

#[test]
fn the_memory_model_decides_which_barrier_orders() {
    let fenced = BUFFER_EXCHANGE.replace("FENCE", "memoryBarrierBuffer();");
    let settings = Settings { memory_model: MemoryModel::Spec, ..Settings::default() };
    assert_pairs(pairs_in(&fenced, settings), &["use by 0 from store unordered"]);
}

#[test]
fn atomics_of_several_invocations_follow_each_other() {
    let text = "#version 450
//! buffer 0 uint 0*4
//! groups 2 1 1
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer A { uint total, largest, own[2]; };
shared uint counter;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 7u) counter = 0u; //@ clear
    barrier(); //@ first
    atomicAdd(counter, i); //@ count
    barrier(); //@ second
    uint seen = counter; //@ read
    if (i == 0u) atomicAdd(total, seen); //@ add
    if (i == 0u) atomicMax(own[gl_WorkGroupID.x], seen); //@ alone
}
";
    assert_pairs(
        pairs_of(text),
        &[
            "count from clear behind first",
            "count from count atomically",
            "read from count behind second",
            "add by 0 from host",
            "add by 0 from add atomically",
            "alone by 0 from host",
        ],
    );
}

#[test]
fn an_atomic_exchange_reads_before_it_defines_and_a_plain_read_of_it_is_unordered() {
    let text = "#version 450
//! buffer 0 uint 0*4
layout(local_size_x = 2) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0u) atomicExchange(a[0], 5u); //@ exchange
    if (i == 1u) atomicCompSwap(a[0], 4u, 6u); //@ fails
    if (i == 0u) atomicOr(a[0], 0u); //@ own
    uint x = a[0]; //@ plain
}
";
    assert_pairs(
        pairs_of(text),
        &[
            "exchange by 0 from host",
            "fails by 0 from exchange atomically",
            "plain by 0 from own unordered",
        ],
    );
}

#[test]
fn an_atomic_store_reads_nothing_and_an_atomic_load_defines_nothing() {
    let text = "#version 450
//! buffer 0 uint 0*4
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 2) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicStore(a[0], i, gl_ScopeDevice, 0, 0); //@ store
    uint x = atomicLoad(a[0], gl_ScopeDevice, 0, 0); //@ load
    uint y = atomicLoad(a[1], gl_ScopeDevice, 0, 0); //@ given
}
";
    assert_pairs(pairs_of(text), &["load by 0 from store atomically", "given by 0 from host"]);
}

#[test]
fn workgroup_memory_begins_without_a_writer_in_each_workgroup() {
    let text = "#version 450
//! groups 2 1 1
#extension GL_EXT_null_initializer : require
layout(local_size_x = 2) in;
shared uint t[2];
shared uint zero[2] = {};
void main() {
    uint i = gl_LocalInvocationIndex;
    uint x = t[1u - i]; //@ undefined
    uint y = zero[1u - i]; //@ zero
    barrier();
    t[i] = i; //@ store
    zero[i] = i;
}
";
    assert_pairs(pairs_of(text), &[]);
}

#[test]
fn memory_that_is_buffer_and_image_is_ordered_only_as_both() {
    let text = "#version 450
//! buffer 0 uint 0*4
//! texel-alias 1 0 storage_texel r32ui
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1, r32ui) uniform uimageBuffer t;
void main() {
    int i = int(gl_LocalInvocationIndex);
    a[i] = uint(i); //@ store
    memoryBarrierBuffer();
    barrier(); //@ one
    uint x = imageLoad(t, 3 - i).x; //@ early
    uint z = a[3 - i]; //@ alike
    memoryBarrier();
    barrier(); //@ both
    uint y = imageLoad(t, 3 - i).x; //@ use
}
";
    assert_pairs(
        pairs_of(text),
        &[
            "early by 1 from store unordered",
            "alike by 0 from store unordered",
            "use by 1 from store behind both",
        ],
    );
}

#[test]
fn push_constants_at_a_computed_place_are_the_host_s() {
    let text = "#version 450
//! buffer 0 uint 0*4
//! push uint 1 uint ? uint 2
layout(local_size_x = 2) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(push_constant) uniform P { uint pushed[3]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint x = pushed[2u * i]; //@ defined
    uint y = pushed[1u + i - i]; //@ undefined
    if (i == 5u) a[0] = pushed[0]; //@ never
}
";
    assert_pairs(pairs_of(text), &["defined from host"]);
}

#[test]
fn a_load_that_another_dispatch_executed_reads_no_push_constant_of_this_one() {
    let text = "#version 450
//! buffer 0 uint 0*2
//! push uint 1 uint ?
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(push_constant) uniform P { uint mode; uint bonus; };
void main() {
    uint extra = 0u;
    if (mode == 1u) //@ mode
        extra = bonus; //@ bonus
    a[0] = 1u;
}
";
    let (mut job, lines) = job_of_dispatches(&[text, text]);
    let last = &mut job.dispatches[1];
    last.push_constants = [2u32, 5].iter().flat_map(|word| word.to_le_bytes()).collect();
    last.push_constants_defined = vec![0..8];
    let run = tracked_run(&job, Settings::default());
    assert_eq!(run.run.completion, Completion::Completed);
    assert_pairs(shown_pairs(&run, "a".into(), &lines), &["mode from host"]);
}

#[test]
fn what_another_workgroup_wrote_is_unordered_whatever_barriers_stand_between() {
    let text = "#version 450
//! buffer 0 uint 0*2
//! groups 2 1 1
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    a[gl_WorkGroupID.x] = 1u; //@ store
    memoryBarrierBuffer();
    barrier(); //@ barrier
    uint x = a[1u - gl_WorkGroupID.x]; //@ use
}
";
    assert_pairs(pairs_of(text), &["use by 0 from host", "use by 0 from store unordered"]);
}

const STEP_A: &str = "#version 450
//! buffer 0 uint 1*8
//! buffer 1 uint ?*8
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(std430, set = 0, binding = 1) buffer B { uint b[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    b[i] = a[i]; //@ copy
}
";

const STEP_B: &str = "#version 450
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(std430, set = 0, binding = 1) buffer B { uint b[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    a[7u - i] = b[i]; //@ turn
}
";

#[test]
fn definitions_live_on_from_dispatch_to_dispatch() {
    assert_pairs(pairs_of_last(&[STEP_A, STEP_B]), &["turn by 1 from copy of dispatch a"]);
    assert_pairs(
        pairs_of_last(&[STEP_A, STEP_B, STEP_A]),
        &["copy by 0 from host", "copy by 0 from turn of dispatch b"],
    );
    let again = "#version 450
//! buffer 0 uint 1*8
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    a[gl_LocalInvocationIndex] += 1u; //@ count
}
";
    assert_pairs(
        pairs_of_last(&[again, again]),
        &["count by 0 from host", "count by 0 from count of dispatch a"],
    );
}

#[test]
fn a_buffer_behind_two_bindings_is_one_memory() {
    let text = "#version 450
//! buffer 0 uint 0*8
//! alias 1 0 16
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(std430, set = 0, binding = 1) buffer B { uint b[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    a[4u + i] = i; //@ store
    memoryBarrierBuffer();
    barrier(); //@ barrier
    uint x = b[3u - i]; //@ use
    uint y = a[i]; //@ given
}
";
    assert_pairs(pairs_of(text), &["use by 1 from store behind barrier", "given by 0 from host"]);
}

#[test]
fn texels_of_images_and_texel_buffers_are_followed() {
    let text = "#version 450
//! image 0 storage_image 2d r32ui 4 1 1 uint 7 7 ? ?
//! texels 1 storage_texel r32ui uint 1 2 3 4
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D picture;
layout(set = 0, binding = 1, r32ui) uniform uimageBuffer list;
void main() {
    int i = int(gl_LocalInvocationIndex);
    uvec4 x = imageLoad(list, i); //@ list
    uvec4 y = imageLoad(picture, ivec2(i, 0)); //@ picture
    barrier(); //@ apart
    imageStore(picture, ivec2(i, 0), uvec4(3u)); //@ store
    imageAtomicAdd(list, 0, 1u); //@ count
    memoryBarrierImage();
    barrier(); //@ barrier
    uvec4 z = imageLoad(picture, ivec2(3 - i, 0)); //@ use
}
";
    assert_pairs(
        pairs_of(text),
        &[
            "list by 1 from host",
            "picture by 0 from host",
            "count by 1 from host",
            "count by 1 from count atomically",
            "use by 0 from store behind barrier",
        ],
    );
}

#[test]
fn what_a_device_address_leads_to_is_the_memory_of_the_buffer() {
    let text = "#version 450
//! vulkan 1.2
//! buffer 0 uint 0*2
//! buffer 1 uint 5*8
//! address 0 0 1
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer List { uint list[]; };
layout(std430, set = 0, binding = 0) buffer A { List target; };
layout(std430, set = 0, binding = 1) buffer B { uint b[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    List there = target; //@ pointer
    uint x = there.list[4u + i]; //@ given
    there.list[i] = i; //@ store
    memoryBarrierBuffer();
    barrier(); //@ barrier
    uint y = b[3u - i]; //@ use
}
";
    assert_pairs(
        pairs_of(text),
        &["pointer by 0 from host", "given from host", "use by 1 from store behind barrier"],
    );
}

const BYTES: &str = "#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { uint8_t a[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 2u) a[i] = uint8_t(i); //@ low
    if (i == 2u) a[2] = uint8_t(9); //@ high
    memoryBarrierBuffer();
    barrier(); //@ barrier
    if (i == 0u) { uint8_t own = a[0]; } //@ own
    if (i == 0u) { uint8_t other = a[1]; } //@ other
    if (i == 0u) { uint8_t third = a[2]; } //@ third
    if (i == 0u) { uint8_t last = a[3]; } //@ last
}
";

const WORDS: &str = "#version 450
//! buffer 0 hex 0x04030201 0x08070605
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    if (gl_LocalInvocationIndex == 3u) a[0] = a[1]; //@ word
}
";

const WHOLE: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    uint x = a[0]; //@ whole
}
";

#[test]
fn bytes_of_a_word_have_writers_of_their_own() {
    assert_pairs(
        pairs_of_last(&[WORDS, BYTES]),
        &[
            "other by 0 from low behind barrier",
            "third by 0 from high behind barrier",
            "last by 0 from word of dispatch a",
        ],
    );
    assert_pairs(
        pairs_of_last(&[WORDS, BYTES, WHOLE]),
        &[
            "whole by 0 from word of dispatch a",
            "whole by 0 from low of dispatch b",
            "whole by 0 from high of dispatch b",
        ],
    );
}

#[test]
fn each_part_of_an_aggregate_has_a_writer_of_its_own() {
    let text = "#version 450
//! buffer 0 uint 1*16
layout(local_size_x = 2) in;
struct Pair { uvec4 v; uint n[4]; };
layout(std430, set = 0, binding = 0) buffer A { Pair a[]; };
shared Pair p;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 1u) p = a[0]; //@ copy
    barrier(); //@ first
    if (i == 1u) p.v.y = 5u; //@ component
    if (i == 1u) p.n[2] = 6u; //@ element
    barrier(); //@ second
    if (i == 0u) { uvec4 v = p.v; } //@ vector
    if (i == 0u) { uint y = p.v.y; } //@ y
    if (i == 0u) { uint n[4] = p.n; } //@ array
    if (i == 0u) a[1] = p; //@ back
}
";
    assert_pairs(
        pairs_of(text),
        &[
            "copy by 0 from host",
            "vector from copy behind first",
            "vector from component behind second",
            "y from component behind second",
            "array from copy behind first",
            "array from element behind second",
            "back from copy behind first",
            "back from component behind second",
            "back from element behind second",
        ],
    );
}

const TURNS: &str = "#version 450
//! buffer 0 uint 0*2
//! buffer 1 uint 0*2
//! groups 2 1 1
layout(local_size_x = 2) in;
layout(std430, set = 0, binding = 0) coherent buffer A { uint flag, ready; };
layout(std430, set = 0, binding = 1) buffer B { uint b[]; };
shared uint t[2];
void main() {
    uint i = gl_LocalInvocationIndex;
    t[i] = i; //@ store
    if (gl_WorkGroupID.x == 0u) {
        while (atomicOr(flag, 0u) == 0u) { } //@ wait
    } else {
        atomicExchange(flag, 1u); //@ release
    }
    barrier(); //@ barrier
    b[gl_WorkGroupID.x] = t[1u - i]; //@ use
}
";

#[test]
fn a_workgroup_that_waits_for_another_keeps_its_intervals() {
    assert_pairs(
        pairs_of(TURNS),
        &[
            "wait by 0 from host",
            "wait by 0 from wait atomically",
            "wait by 0 from release atomically",
            "release by 0 from wait atomically",
            "release by 0 from release atomically",
            "use from store behind barrier",
        ],
    );
}

#[test]
fn what_was_executed_is_known_by_instruction() {
    let text = "#version 450
//! buffer 0 uint 0*8
//! groups 2 1 1
layout(local_size_x = 4) in;
layout(constant_id = 3) const uint factor = 2u;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
uint scaled(uint x) {
    return x * factor; //@ scaled
}
void main() {
    uint i = gl_GlobalInvocationID.x; //@ id
    barrier();
    if (i == 7u) a[i] = scaled(i); //@ last
    if (i == 8u) a[i] = 1u; //@ never
}
";
    let test = file_test(text);
    let run = tracked_run(&test.job(), Settings::default());
    let lines = NamedLines::new(text, &test.words);
    let executed = &modules_of(&run)[&ModuleKey::from("kernel")];
    let has_executed = |name: &str, op: Op| {
        let mut instructions = lines.module.instructions.iter().zip(0..);
        instructions.any(|(instruction, at)| {
            instruction.op == op && lines.name_of(at) == name && executed.has_executed(at)
        })
    };
    assert!(has_executed("scaled", Op::IMul));
    assert!(has_executed("id", Op::Load));
    assert!(has_executed("last", Op::Store));
    assert!(has_executed("never", Op::IEqual));
    assert!(!has_executed("never", Op::Store));
}

/// Tile widths, orders and cores that leave the same of a kernel without races.
fn ways_of_running() -> Vec<Settings> {
    let mut ways = Vec::new();
    for tile_width in [1, 3, 64, 1024] {
        for order in [Order::InOrder, Order::Reversed] {
            let schedule = Schedule { workgroups: order, ..Schedule::default() };
            let following = Following { schedule, ..Following::default() };
            ways.push(Settings { tile_width, following, ..Settings::default() });
        }
        let jobs = Jobs::Dealt { workers: 2, alone: 0, batch: 1 };
        ways.push(Settings { tile_width, jobs, ..Settings::default() });
    }
    ways
}

#[test]
fn pairs_of_race_free_kernels_do_not_depend_on_the_schedule() {
    let fenced = BUFFER_EXCHANGE.replace("FENCE", "memoryBarrierBuffer();");
    for text in [REVERSAL, &fenced] {
        let expected = pairs_of(text);
        for settings in ways_of_running() {
            assert_eq!(pairs_in(text, settings), expected, "{settings:?}");
        }
    }
}

#[test]
fn definitions_beyond_the_memory_limit_are_undetermined_by_name() {
    const CONTENTS: u64 = 1 << 16;
    let mut job = file_test(REVERSAL).job();
    job.checks = Checks::none();
    job.buffers[0].bytes = Arc::new(vec![0; CONTENTS as usize]);
    // Who wrote a word takes two words.
    for (memory_bytes, is_enough) in [(2 * CONTENTS, false), (4 * CONTENTS, true)] {
        job.limits.memory_bytes = memory_bytes;
        let run = tracked_run(&job, Settings::default());
        assert_eq!(run.run.completion, Completion::Completed);
        match run.access_pairs {
            AccessPairs::Tracked(_) => assert!(is_enough),
            AccessPairs::Undetermined { reason } => {
                assert!(!is_enough && reason.contains("memory"), "{reason}")
            }
            AccessPairs::NotTracked => panic!("it was asked for"),
        }
    }
}

/// The file tests, with what they run under.
fn file_tests() -> Vec<(FileTest, Settings)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/run");
    let with_settings = |test: FileTest| {
        let memory_model =
            if test.spec_memory_model { MemoryModel::Spec } else { MemoryModel::Idiom };
        (test, Settings { memory_model, ..Settings::default() })
    };
    FileTest::read_all(&folder).into_iter().map(with_settings).collect()
}

#[test]
fn following_accesses_changes_nothing_else() {
    let mut pair_count = 0;
    for (test, settings) in file_tests() {
        let job = test.job();
        let tracked = tracked_run(&job, settings);
        if let AccessPairs::Tracked(modules) = &tracked.access_pairs {
            pair_count += modules.values().map(|module| module.pairs.len()).sum::<usize>();
        }
        let plain = SequentialExecutor::new(settings)
            .run_with_lowering_counts(&job, &mut Unobserved)
            .expect("the engine does not fail");
        assert_eq!(plain.access_pairs, AccessPairs::NotTracked);
        let untracked = SequentialRun { access_pairs: AccessPairs::NotTracked, ..tracked };
        assert_eq!(untracked, plain, "{}", test.name);
    }
    assert!(pair_count > 100, "{pair_count}");
}

#[test]
fn pairs_are_those_of_the_first_repetition() {
    let job = file_test(REVERSAL).job();
    let request = RunRequest {
        pair_tracking: PairTracking::On,
        repetitions: NonZeroU32::new(3).unwrap(),
        ..RunRequest::once(&job)
    };
    let outcome = SequentialExecutor::default().answer(&request, &mut Unobserved).unwrap();
    assert_eq!(outcome.counts.access_pairs, tracked_run(&job, Settings::default()).access_pairs);
}

//! Random kernels whose values tell who wrote them: every store leaves a word that names its line,
//! dispatch, workgroup, invocation and the barriers before it, and every load is noted with what it
//! found. From the notes the pairs follow by their definition, without the engine's own accounts.

use super::{NamedLines, modules_of, tracked_run};
use crate::filetest;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;
use vkcert::exec::resource::{JobResources, JobView};
use vkcert::exec::schedule::Following;
use vkcert::exec::sequential::{SequentialRun, Settings};
use vkcert::exec::{
    Completion, Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording,
};
use vkcert::model::access_pair::{AccessPair, Passage};
use vkcert::model::finding::Checks;
use vkcert::model::id::ModuleKey;
use vkcert::model::image::ImageFormat;
use vkcert::model::procedure::{DescriptorClass, Limits};
use vkcert::model::random::SplitMix64;
use vkcert::model::schedule::{Order, Schedule};

/// Elements of each memory.
const ELEMENTS: u32 = 8;
/// Notes of an invocation in a dispatch: pairs of words.
const MOST_NOTES: u32 = 400;
/// Barriers of a workgroup in a dispatch.
const MOST_BARRIERS: u32 = 256;
const MOST_INVOCATIONS: u32 = 8;
const MOST_GROUPS: u32 = 4;
const MOST_DISPATCHES: u32 = 3;

/// Memory under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    Words,
    Vectors,
    Texels,
    Workgroup,
}

/// A line that accesses memory.
#[derive(Debug, Clone, Copy)]
struct Site {
    memory: Memory,
    binding: Option<u32>,
    is_atomic: bool,
}

/// A kernel with what its lines do.
#[derive(Debug, Clone, Default)]
struct Kernel {
    text: String,
    invocations: u32,
    sites: BTreeMap<u32, Site>,
    /// What the barrier of a line orders.
    barriers: BTreeMap<u32, Vec<Memory>>,
}

/// Lines of a kernel in the making.
struct Writer {
    random: SplitMix64,
    kernel: Kernel,
    depth: usize,
}

impl Writer {
    fn below(&mut self, end: u32) -> u32 {
        self.random.integer(0, i128::from(end) - 1) as u32
    }

    fn line(&mut self, text: &str) {
        let indent = 4 * self.depth;
        writeln!(self.kernel.text, "{:indent$}{text}", "").unwrap();
    }

    /// The number of the line that comes next.
    fn next_line(&self) -> u32 {
        self.kernel.text.lines().count() as u32 + 1
    }

    fn index(&mut self) -> String {
        let (factor, offset) = (self.below(4), self.below(ELEMENTS));
        format!("(lane * {factor}u + {offset}u + turn) % {ELEMENTS}u")
    }

    fn guard(&mut self) -> String {
        match self.below(4) {
            0 => format!("if (lane == {}u) ", self.below(MOST_INVOCATIONS)),
            1 => format!("if ((lane & 1u) == {}u) ", self.below(2)),
            _ => String::new(),
        }
    }

    fn access(&mut self) {
        let (line, index, guard) = (self.next_line(), self.index(), self.guard());
        let tag = format!("tag({line}u)");
        let note = |value: &str| format!("note({value}, {line}u)");
        let component = ["x", "y", "z", "w"][self.below(4) as usize];
        let (memory, binding, is_atomic, statement) = match self.below(15) {
            0 => (Memory::Words, Some(0), false, note(&format!("m[{index}]"))),
            1 => (Memory::Words, Some(4), false, note(&format!("other[{index}]"))),
            2 => (Memory::Words, None, false, format!("m[{index}] = {tag}")),
            3 => {
                (Memory::Words, Some(0), true, note(&format!("atomicExchange(m[{index}], {tag})")))
            }
            4 => (
                Memory::Words,
                Some(0),
                true,
                note(&format!("atomicCompSwap(m[{index}], 0u, {tag})")),
            ),
            5 => (Memory::Vectors, Some(5), false, format!("noteAll(v[{index}], {line}u)")),
            6 => (Memory::Vectors, Some(5), false, note(&format!("v[{index}].{component}"))),
            7 => (Memory::Vectors, None, false, format!("v[{index}] = uvec4({tag})")),
            8 => (Memory::Vectors, None, false, format!("v[{index}].{component} = {tag}")),
            9 => (Memory::Texels, Some(6), false, note(&format!("imageLoad(t, int({index})).x"))),
            10 => {
                (Memory::Texels, None, false, format!("imageStore(t, int({index}), uvec4({tag}))"))
            }
            11 => (
                Memory::Texels,
                Some(6),
                true,
                note(&format!("imageAtomicExchange(t, int({index}), {tag})")),
            ),
            12 => (Memory::Workgroup, None, false, note(&format!("s[{index}]"))),
            13 => (Memory::Workgroup, None, false, format!("s[{index}] = {tag}")),
            _ => {
                (Memory::Workgroup, None, true, note(&format!("atomicExchange(s[{index}], {tag})")))
            }
        };
        self.kernel.sites.insert(line, Site { memory, binding, is_atomic });
        self.line(&format!("{guard}{statement};"));
    }

    fn barrier(&mut self) {
        use Memory::{Texels, Vectors, Words, Workgroup};
        let (fence, ordered) = match self.below(5) {
            0 => ("memoryBarrierBuffer(); ", vec![Words, Vectors, Workgroup]),
            1 => ("memoryBarrierImage(); ", vec![Texels, Workgroup]),
            2 => ("memoryBarrier(); ", vec![Words, Vectors, Texels, Workgroup]),
            _ => ("", vec![Workgroup]),
        };
        let line = self.next_line();
        self.kernel.barriers.insert(line, ordered);
        self.line(&format!("{fence}barrier(); passed({line}u);"));
    }

    /// Statements that all invocations of a workgroup execute together.
    fn statements(&mut self, most: u32, calls: bool) {
        for _ in 0..1 + self.below(most) {
            match self.below(10) {
                0..6 => self.access(),
                6 | 7 => self.barrier(),
                8 if self.depth < 3 => {
                    let turns = ["2u", "3u", "1u + group % 2u"][self.below(3) as usize];
                    let counter = format!("k{}", self.depth);
                    self.line(&format!(
                        "for (uint {counter} = 0u; {counter} < {turns}; {counter}++) {{"
                    ));
                    self.depth += 1;
                    self.line("turn++;");
                    self.statements(4, calls);
                    self.depth -= 1;
                    self.line("}");
                }
                _ if calls => self.line("helper();"),
                _ => self.access(),
            }
        }
    }
}

fn random_kernel(seed: u64) -> Kernel {
    let mut writer = Writer { random: SplitMix64::new(seed), kernel: Kernel::default(), depth: 0 };
    let invocations = [1, 2, 5, 8][writer.below(4) as usize];
    writer.kernel.invocations = invocations;
    writer.kernel.text = format!(
        "#version 450
layout(local_size_x = {invocations}) in;
layout(std430, set = 0, binding = 0) buffer M {{ uint m[]; }};
layout(std430, set = 0, binding = 1) buffer Notes {{ uint notes[]; }};
layout(std430, set = 0, binding = 2) buffer Barriers {{ uint barriers[]; }};
layout(std430, set = 0, binding = 4) buffer Other {{ uint other[]; }};
layout(std430, set = 0, binding = 5) buffer V {{ uvec4 v[]; }};
layout(set = 0, binding = 6, r32ui) uniform uimageBuffer t;
layout(push_constant) uniform P {{ uint dispatch; }};
shared uint s[{ELEMENTS}];
uint lane, group, step, turn, noted;
uint tag(uint line) {{
    return 0x80000000u | line | dispatch << 8 | group << 10 | lane << 12 | step << 15;
}}
void note(uint value, uint line) {{
    uint place = (dispatch * {MOST_GROUPS}u + group) * {MOST_INVOCATIONS}u + lane;
    uint first = (place * {MOST_NOTES}u + noted) * 2u;
    notes[first] = value;
    notes[first + 1u] = 0x80000000u | line | step << 8;
    noted++;
}}
void noteAll(uvec4 value, uint line) {{
    for (uint k = 0u; k < 4u; k++) note(value[k], line);
}}
void passed(uint line) {{
    uint place = dispatch * {MOST_GROUPS}u + group;
    if (lane == 0u) barriers[place * {MOST_BARRIERS}u + step] = line;
    step++;
}}
void helper() {{
"
    );
    writer.depth = 1;
    writer.statements(4, false);
    writer.depth = 0;
    writer.line("}");
    writer.line("void main() {");
    writer.depth = 1;
    writer.line("lane = gl_LocalInvocationIndex; group = gl_WorkGroupID.x;");
    writer.line("step = 0u; turn = 0u; noted = 0u;");
    let line = writer.next_line();
    let site = Site { memory: Memory::Workgroup, binding: None, is_atomic: false };
    writer.kernel.sites.insert(line, site);
    writer.line(&format!(
        "for (uint k = lane; k < {ELEMENTS}u; k += {invocations}u) s[k] = tag({line}u);"
    ));
    writer.barrier();
    writer.statements(14, true);
    writer.depth = 0;
    writer.line("}");
    assert!(writer.next_line() < 256, "a line has 8 bits");
    writer.kernel
}

/// Kernels and the dispatches of them, with the number of workgroups of each.
struct Case {
    kernels: Vec<Kernel>,
    dispatches: Vec<(usize, u32)>,
}

fn random_case(seed: u64) -> Case {
    let mut random = SplitMix64::new(seed ^ 0x5eed);
    let mut below = |end: i128| random.integer(0, end - 1) as usize;
    let kernels: Vec<Kernel> =
        (0..1 + below(2) as u64).map(|number| random_kernel(2 * seed + number)).collect();
    let dispatch_count = 1 + below(i128::from(MOST_DISPATCHES));
    let dispatches =
        (0..dispatch_count).map(|_| (below(kernels.len() as i128), 1 + below(3) as u32));
    Case { dispatches: dispatches.collect(), kernels }
}

fn zeros(name: &str, words: u32) -> JobBuffer {
    let bytes = words as usize * 4;
    JobBuffer {
        name: name.to_owned(),
        bytes: Arc::new(vec![0; bytes]),
        defined: std::iter::once(0..bytes).collect(),
    }
}

impl Case {
    fn job(&self) -> Job {
        let places = MOST_DISPATCHES * MOST_GROUPS;
        let buffers = vec![
            zeros("m", ELEMENTS),
            zeros("notes", places * MOST_INVOCATIONS * MOST_NOTES * 2),
            zeros("barriers", places * MOST_BARRIERS),
            zeros("v", 4 * ELEMENTS),
            zeros("t", ELEMENTS),
        ];
        let storage = |(binding, buffer): (u32, usize)| {
            JobBinding::storage(0, binding, buffer, buffers[buffer].bytes.len() as u64)
        };
        let texels = JobBinding {
            class: DescriptorClass::StorageTexel,
            view: JobView::Texels(ImageFormat::R32ui),
            ..storage((6, 4))
        };
        let bindings: Vec<JobBinding> = [(0, 0), (1, 1), (2, 2), (4, 0), (5, 3)]
            .map(storage)
            .into_iter()
            .chain([texels])
            .collect();
        let modules = self.kernels.iter().zip(["a", "b"]).map(|(kernel, name)| JobModule {
            key: name.into(),
            words: Arc::new(filetest::compile(name, &kernel.text)),
            recording: ModuleRecording::None,
        });
        let dispatches =
            self.dispatches.iter().zip(0u32..).map(|((module, groups), number)| JobDispatch {
                module: *module,
                entry: "main".to_owned(),
                groups: [*groups, 1, 1],
                bindings: bindings.clone(),
                push_constants: number.to_le_bytes().to_vec(),
                push_constants_defined: std::iter::once(0..4).collect(),
                specialization: BTreeMap::new(),
                subgroup_size: None,
            });
        Job {
            name: "told by values".to_owned(),
            modules: modules.collect(),
            dispatches: dispatches.collect(),
            buffers,
            resources: JobResources::default(),
            limits: Limits { steps: 50_000_000, ..Limits::default() },
            checks: Checks::none(),
        }
    }
}

/// A pair by lines: module of the use, its line and binding, what it comes by.
type LinePair = (usize, u32, Option<u32>, LineWay);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LineWay {
    Host,
    Dispatch { module: usize, store: u32 },
    Barrier { store: u32, barrier: u32 },
    Atomic { store: u32 },
    Unordered { store: u32 },
}

/// Words that a run left in a buffer.
fn words_of(run: &SequentialRun, buffer: usize) -> Vec<u32> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    run.run.buffers[buffer].chunks(4).map(word).collect()
}

/// What the notes of a run tell.
struct Notes<'c> {
    case: &'c Case,
    barriers: Vec<u32>,
}

impl Notes<'_> {
    fn pairs(case: &Case, run: &SequentialRun) -> BTreeSet<LinePair> {
        let notes = Notes { case, barriers: words_of(run, 2) };
        let words = words_of(run, 1);
        let of_place = words.chunks(2 * MOST_NOTES as usize).zip(0u32..);
        let mut pairs = BTreeSet::new();
        for (place_words, place) in of_place {
            let reader = [
                place / (MOST_GROUPS * MOST_INVOCATIONS),
                place / MOST_INVOCATIONS % MOST_GROUPS,
                place % MOST_INVOCATIONS,
            ];
            assert_eq!(place_words.last(), Some(&0), "an invocation has more notes than fit");
            let noted = place_words.chunks(2).filter(|note| note[1] != 0);
            pairs.extend(noted.filter_map(|note| notes.pair(reader, note[0], note[1])));
        }
        pairs
    }

    /// The pair of a note by an invocation: dispatch, workgroup, local index.
    fn pair(&self, reader: [u32; 3], value: u32, note: u32) -> Option<LinePair> {
        let [dispatch, group, lane] = reader;
        let (line, step) = (note & 0xff, note >> 8 & 0xff);
        let (module, _) = self.case.dispatches[dispatch as usize];
        let site = self.case.kernels[module].sites[&line];
        let pair = |way| Some((module, line, site.binding, way));
        if value >> 31 == 0 {
            assert_eq!(value, 0);
            return pair(LineWay::Host);
        }
        let (store, by_dispatch) = (value & 0xff, value >> 8 & 3);
        let (by_group, by_lane, by_step) = (value >> 10 & 3, value >> 12 & 7, value >> 15 & 0xff);
        let (writer, _) = self.case.dispatches[by_dispatch as usize];
        let written = self.case.kernels[writer].sites[&store];
        assert_eq!(written.memory, site.memory);
        if by_dispatch != dispatch {
            return pair(LineWay::Dispatch { module: writer, store });
        }
        if by_group == group {
            if by_lane == lane {
                return None;
            }
            let first = ((dispatch * MOST_GROUPS + group) * MOST_BARRIERS) as usize;
            let mut between = self.barriers[first + by_step as usize..first + step as usize].iter();
            let orders = |barrier: &&u32| {
                self.case.kernels[module].barriers[*barrier].contains(&site.memory)
            };
            if let Some(barrier) = between.find(orders) {
                return pair(LineWay::Barrier { store, barrier: *barrier });
            }
        }
        pair(if site.is_atomic && written.is_atomic {
            LineWay::Atomic { store }
        } else {
            LineWay::Unordered { store }
        })
    }
}

/// The engine's pairs of the lines that note what they read.
fn followed_pairs(case: &Case, job: &Job, run: &SequentialRun) -> BTreeSet<LinePair> {
    let lines: Vec<NamedLines> = case
        .kernels
        .iter()
        .zip(&job.modules)
        .map(|(kernel, module)| NamedLines::new(&kernel.text, &module.words))
        .collect();
    let number_of =
        |key: ModuleKey| job.modules.iter().position(|module| module.key == key).unwrap();
    let mut pairs = BTreeSet::new();
    for (key, module_pairs) in modules_of(run) {
        let module = number_of(*key);
        let line_of = |source_index| lines[module].line_of(source_index);
        for AccessPair { use_index, descriptor, passage } in &module_pairs.pairs {
            let line = line_of(*use_index);
            if !case.kernels[module].sites.contains_key(&line) {
                continue;
            }
            let way = match *passage {
                Passage::Host => LineWay::Host,
                Passage::Dispatch { kernel, specialization, store } => {
                    let module = number_of(ModuleKey { kernel, specialization });
                    LineWay::Dispatch { module, store: lines[module].line_of(store) }
                }
                Passage::Barrier { store, barrier } => {
                    LineWay::Barrier { store: line_of(store), barrier: line_of(barrier) }
                }
                Passage::Atomic { store } => LineWay::Atomic { store: line_of(store) },
                Passage::Unordered { store } => LineWay::Unordered { store: line_of(store) },
            };
            pairs.insert((module, line, descriptor.map(|descriptor| descriptor.binding), way));
        }
    }
    pairs
}

pub(super) fn number_from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn values_tell_the_pairs_that_were_followed() {
    let first = number_from_environment("VKCERT_RANDOM_SEED", 1);
    let count = number_from_environment("VKCERT_PAIR_KERNELS", 60);
    let mut by_way: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in first..first + count {
        let case = random_case(seed);
        let job = case.job();
        for (tile_width, workgroups) in
            [(64, Order::InOrder), (1, Order::InOrder), (3, Order::Reversed)]
        {
            let schedule = Schedule { workgroups, ..Schedule::default() };
            let following = Following { schedule, ..Following::default() };
            let run = tracked_run(&job, Settings { tile_width, following, ..Settings::default() });
            assert_eq!(run.run.completion, Completion::Completed);
            let (followed, told) = (followed_pairs(&case, &job, &run), Notes::pairs(&case, &run));
            let texts: Vec<&str> = case.kernels.iter().map(|kernel| kernel.text.as_str()).collect();
            assert_eq!(
                followed,
                told,
                "seed {seed}, tiles of {tile_width}, {workgroups:?}, {:?}\n{}",
                case.dispatches,
                texts.join("\n")
            );
            for (_, _, _, way) in told {
                let name = match way {
                    LineWay::Host => "host",
                    LineWay::Dispatch { .. } => "dispatch",
                    LineWay::Barrier { .. } => "barrier",
                    LineWay::Atomic { .. } => "atomic",
                    LineWay::Unordered { .. } => "unordered",
                };
                *by_way.entry(name).or_default() += 1;
            }
        }
    }
    println!("{count} kernels: {by_way:?}");
    assert_eq!(by_way.len(), 5, "{by_way:?}");
}

//! Modules changed at random: whatever they say, the loader and the sequential engine neither panic
//! nor hang nor take more memory than the job's limit allows.
//!
//! Most of these modules are not valid, and the program refuses them before the engine sees them;
//! the engine does not rely on it. `VKCERT_MUTATIONS` says how many modules are run (`make soak`
//! runs more), `VKCERT_SEED` runs one of them alone.

use crate::filetest;

use filetest::FileTest;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vkcert::exec::sequential::{SequentialExecutor, lower_kernel};
use vkcert::exec::{Executor, Unobserved};
use vkcert::model::random::SplitMix64;
use vkcert::spirv::interface::Reflection;
use vkcert::spirv::module::Module;

/// A case that takes longer hangs; most take less than a millisecond.
const LONGEST: Duration = Duration::from_secs(20);
const MEMORY_LIMIT: u64 = 64 << 20;
/// What the process may hold beside: corpus, compiler, program.
const BESIDE: u64 = 768 << 20;

/// The file tests, without and with optimisation, and the kernels of the front end's file tests,
/// which bind nothing.
fn corpus() -> Vec<FileTest> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let mut tests = FileTest::read_all(&folder.join("run"));
    let count = tests.len();
    let compiler = shaderc::Compiler::new().unwrap();
    for index in 0..count {
        let path = folder.join("run").join(format!("{}.comp", tests[index].name));
        tests.extend(
            optimised(&compiler, &path).map(|words| FileTest { words, ..tests[index].clone() }),
        );
    }
    let mut paths: Vec<_> = std::fs::read_dir(folder.join("glsl"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let alone = FileTest { name, groups: [1; 3], ..FileTest::default() };
        tests.extend(optimised(&compiler, &path).map(|words| FileTest { words, ..alone }));
    }
    assert!(tests.len() > 2 * count, "{} modules of {count} file tests", tests.len());
    tests
}

/// The module of a file that compiles by itself.
fn optimised(compiler: &shaderc::Compiler, path: &Path) -> Option<Vec<u32>> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut options = shaderc::CompileOptions::new().unwrap();
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_3 as u32);
    options.set_optimization_level(shaderc::OptimizationLevel::Performance);
    let made = compiler.compile_into_spirv(
        &text,
        shaderc::ShaderKind::Compute,
        "kernel",
        "main",
        Some(&options),
    );
    Some(made.ok()?.as_binary().to_vec())
}

/// Starts and lengths of the instructions behind the header.
fn instructions(words: &[u32]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if length == 0 || at + length > words.len() {
            break;
        }
        found.push((at, length));
        at += length;
    }
    found
}

struct Mutator {
    random: SplitMix64,
}

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        self.random.integer(0, bound.max(1) as i128 - 1) as usize
    }

    fn word(&mut self, words: &[u32]) -> u32 {
        let interesting = [
            0,
            1,
            2,
            3,
            4,
            7,
            8,
            16,
            31,
            32,
            64,
            255,
            0x7FFF_FFFF,
            0x8000_0000,
            u32::MAX,
            1 << 20,
            1 << 28,
        ];
        match self.below(4) {
            0 => interesting[self.below(interesting.len())],
            1 => self.below(words[3] as usize + 2) as u32,
            2 => words[self.below(words.len())],
            _ => self.random.draw() as u32,
        }
    }

    fn one(&mut self, words: &mut Vec<u32>) {
        let all = instructions(words);
        if all.is_empty() {
            return;
        }
        let (at, length) = all[self.below(all.len())];
        let (other, other_length) = all[self.below(all.len())];
        match self.below(16) {
            0 => {
                let at = self.below(words.len());
                words[at] ^= 1 << self.below(32);
            }
            1 | 2 if length > 1 => {
                let place = at + 1 + self.below(length - 1);
                words[place] = self.word(words);
            }
            3 => {
                words.drain(at..at + length);
            }
            4 => {
                let copy = words[at..at + length].to_vec();
                words.splice(other..other, copy);
            }
            5 if at + length <= other => {
                let (first, second) =
                    (words[at..at + length].to_vec(), words[other..other + other_length].to_vec());
                words.splice(other..other + other_length, first);
                words.splice(at..at + length, second);
            }
            6 => words[at] = words[at] & 0xFFFF_0000 | self.below(420) as u32,
            7 => words[at] = words[at] & 0xFFFF_0000 | words[other] & 0xFFFF,
            // An operand becomes one of another instruction of the same opcode.
            10..=12 if length > 1 => {
                let same: Vec<_> =
                    all.iter().filter(|(other, _)| words[*other] == words[at]).collect();
                let (from, _) = *same[self.below(same.len())];
                let place = 1 + self.below(length - 1);
                words[at + place] = words[from + place];
            }
            // An operand becomes another id.
            13..=15 if length > 1 => {
                let place = at + length - 1 - self.below(length - 1);
                words[place] = 1 + self.below(words[3].min(1 << 16) as usize) as u32;
            }
            // A constant, or the literals of an execution mode or of a decoration.
            8 | 9 => {
                let literal =
                    |op: u32| matches!(op & 0xFFFF, 16 | 28 | 30 | 43 | 50 | 71 | 72 | 331);
                let literals: Vec<_> =
                    all.iter().filter(|(at, length)| literal(words[*at]) && *length > 2).collect();
                if !literals.is_empty() {
                    let (at, length) = *literals[self.below(literals.len())];
                    words[at + length - 1 - self.below(length - 2)] = self.word(words);
                }
            }
            _ => {}
        }
    }
}

fn mutated(tests: &[FileTest], seed: u64) -> FileTest {
    let mut mutator = Mutator { random: SplitMix64::new(seed) };
    let mut test = tests[mutator.below(tests.len())].clone();
    for _ in 0..1 + mutator.below(4) {
        mutator.one(&mut test.words);
    }
    test
}

/// Everything that reads a module, then a run; how it ended.
fn run(test: &FileTest) -> &'static str {
    let Ok(module) = Module::parse(test.words.clone()) else { return "not read" };
    let _ = Reflection::of_entry_point(&module, "main", &BTreeMap::new());
    let _ = lower_kernel(&module, "main");
    let mut job = test.job();
    job.modules[0].words = Arc::new(test.words.clone());
    job.limits.steps = 200_000;
    job.limits.memory_bytes = MEMORY_LIMIT;
    match SequentialExecutor::default().run(&job, &mut Unobserved) {
        Ok(run) => match run.completion {
            vkcert::exec::Completion::Completed => "completed",
            vkcert::exec::Completion::Unsupported { .. } => "unsupported",
            _ => "ended early",
        },
        Err(_) => "refused",
    }
}

fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn modules_changed_at_random_end_in_an_answer() {
    let tests = corpus();
    let seeds: Vec<u64> = match number("VKCERT_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("VKCERT_MUTATIONS").unwrap_or(20_000)).collect(),
    };
    let (mut problems, mut tally) = (Vec::new(), BTreeMap::new());
    let announced = std::env::var_os("VKCERT_ANNOUNCE").is_some();
    for seed in seeds {
        if announced {
            println!("seed {seed}");
        }
        let test = mutated(&tests, seed);
        let started = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| run(&test))) {
            Ok(ending) => *tally.entry(ending).or_insert(0u32) += 1,
            Err(_) => problems.push(format!("seed {seed} ({}) panics", test.name)),
        }
        if started.elapsed() > LONGEST {
            problems.push(format!("seed {seed} ({}) takes {:?}", test.name, started.elapsed()));
        }
        if let Some(peak) = peak_memory().filter(|peak| *peak > MEMORY_LIMIT + BESIDE) {
            problems.push(format!("seed {seed} ({}): {} MiB", test.name, peak >> 20));
            break;
        }
    }
    println!("{tally:?}");
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
    assert!(
        tally.contains_key("completed")
            && tally.contains_key("unsupported")
            && tally.contains_key("not read")
    );
}

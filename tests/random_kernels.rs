//! Random kernels over what the sequential engine runs: modules with and without optimisation,
//! several tile widths and the device leave the same bytes, and no finding is made; a defect put
//! into a kernel is found.

use crate::device;
use crate::random;

use device::device;
use random::frame::{Kernel, kernel};
use random::{faults, host, reduce};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use vkcert::exec::sequential::{SequentialExecutor, Settings};
use vkcert::exec::vulkan::VulkanExecutor;
use vkcert::exec::{Completion, Executor, Run, Unobserved};
use vkcert::spirv::validate::{self, TargetEnv};

const WIDTHS: [u32; 6] = [1, 3, 8, 16, 64, 1024];
/// Of a device that does not say.
const SUBGROUP: u32 = 8;

fn compile(text: &str, level: shaderc::OptimizationLevel) -> Result<Vec<u32>, String> {
    let mut options = shaderc::CompileOptions::new().unwrap();
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_2 as u32);
    options.set_generate_debug_info();
    options.set_optimization_level(level);
    let compiler = shaderc::Compiler::new().unwrap();
    let made = compiler.compile_into_spirv(
        text,
        shaderc::ShaderKind::Compute,
        "random",
        "main",
        Some(&options),
    );
    let words = made.map_err(|error| format!("does not compile: {error}"))?.as_binary().to_vec();
    validate::validate(&words, TargetEnv::Vulkan1_2)
        .map_err(|error| format!("is not valid: {error}"))?;
    Ok(words)
}

fn sequential(kernel: &Kernel, words: &[u32], tile_width: u32) -> Result<Run, String> {
    let settings = Settings { tile_width, ..Settings::default() };
    let run =
        SequentialExecutor::new(settings).run(&host::job(kernel, words, SUBGROUP), &mut Unobserved);
    run.map_err(|error| format!("the sequential engine: {error}"))
}

/// What is wrong with a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wrong {
    /// It is none: the generator is at fault.
    Kernel(String),
    /// A finding, no completion, or runs of the sequential engine that differ.
    Engine(String),
    /// The device leaves other bytes, or runs without an end.
    Device(String),
}

impl Wrong {
    /// What stays the same while a kernel is made smaller.
    fn kind(&self) -> (u32, String) {
        let (number, text) = match self {
            Wrong::Kernel(text) => (0, text),
            Wrong::Engine(text) => (1, text),
            Wrong::Device(text) => (2, text),
        };
        let kind = if text.contains("word ") {
            "difference"
        } else {
            text.split(':').nth(1).unwrap_or_default()
        };
        (number, format!("{} {kind}", text.split([':', ',']).next().unwrap_or_default()))
    }
}

fn clean(run: &Run, what: &str) -> Result<(), Wrong> {
    if run.completion != Completion::Completed {
        return Err(Wrong::Engine(format!("{what}: {:?}", run.completion)));
    }
    match run.findings.first() {
        None => Ok(()),
        Some(finding) => {
            Err(Wrong::Engine(format!("{what}: {}: {}", finding.kind, finding.message)))
        }
    }
}

fn difference(kernel: &Kernel, left: &Run, right: &Run) -> Option<String> {
    let buffers = left.buffers.iter().zip(&right.buffers).enumerate();
    let (number, (a, b)) = buffers.into_iter().find(|(_, (a, b))| a != b)?;
    let at = a.iter().zip(b.iter()).position(|(a, b)| a != b).unwrap_or(0) & !3;
    let bound = kernel.shape.buffers.get(number).map_or(99, |bound| bound.binding);
    let shown = |bytes: &[u8]| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let count = a.chunks(4).zip(b.chunks(4)).filter(|(a, b)| a != b).count();
    Some(format!(
        "buffer {number} (binding {bound}) word {}: {:#x} and {:#x}, {count} words differ",
        at / 4,
        shown(a),
        shown(b)
    ))
}

/// Runs a kernel every way.
fn check(kernel: &Kernel, device: Option<&mut VulkanExecutor>) -> Result<(), Wrong> {
    let plain = compile(&kernel.text, shaderc::OptimizationLevel::Zero).map_err(Wrong::Kernel)?;
    let optimized =
        compile(&kernel.text, shaderc::OptimizationLevel::Performance).map_err(Wrong::Kernel)?;
    let width = WIDTHS[kernel.seed as usize % WIDTHS.len()];
    let first = sequential(kernel, &plain, 1024).map_err(Wrong::Engine)?;
    clean(&first, "not optimised")?;
    for (words, width, what) in [
        (&plain, width, "another tile width"),
        (&optimized, 1024, "optimised"),
        (&optimized, width, "optimised, another tile width"),
    ] {
        let run = sequential(kernel, words, width).map_err(Wrong::Engine)?;
        clean(&run, what)?;
        if let Some(difference) = difference(kernel, &first, &run) {
            return Err(Wrong::Engine(format!("{what}: {difference}")));
        }
    }
    let Some(device) = device else { return Ok(()) };
    for (words, what) in [(&plain, "not optimised"), (&optimized, "optimised")] {
        let run = device.run(&host::job(kernel, words, SUBGROUP), &mut Unobserved);
        let run = run.map_err(|error| Wrong::Device(format!("{what}: {error}")))?;
        if run.completion != Completion::Completed {
            return Err(Wrong::Device(format!("{what}: {:?}", run.completion)));
        }
        if let Some(difference) = difference(kernel, &first, &run) {
            return Err(Wrong::Device(format!("{what}: {difference}")));
        }
    }
    Ok(())
}

/// On the device, one invocation after the other: a third computation, in which no two invocations
/// go different ways. None: the invocations of the kernel work together.
fn one_at_a_time(kernel: &Kernel, device: &mut VulkanExecutor) -> Option<Run> {
    if kernel.shape.barriers {
        return None;
    }
    let mut last: Option<Run> = None;
    for only in 0..kernel.shape.local_size * kernel.shape.groups {
        let guard = format!("void main() {{\n    if (gl_GlobalInvocationID.x != {only}u) return;");
        let words = compile(
            &kernel.text.replace("void main() {", &guard),
            shaderc::OptimizationLevel::Zero,
        )
        .ok()?;
        let mut job = host::job(kernel, &words, SUBGROUP);
        if let Some(last) = last {
            job.buffers
                .iter_mut()
                .zip(last.buffers)
                .for_each(|(buffer, bytes)| buffer.bytes = bytes);
        }
        last = device
            .run(&job, &mut Unobserved)
            .ok()
            .filter(|run| run.completion == Completion::Completed);
        last.as_ref()?;
    }
    last
}

/// What speaks for whom where runs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Third {
    /// The device itself, one invocation after the other, leaves what the sequential engine leaves.
    WithTheEngine,
    /// Invocations work together; of the optimised module the device leaves what the sequential
    /// engine leaves of both.
    OptimisedWithTheEngine,
    /// The device leaves something else, even one invocation after the other.
    Otherwise,
    /// Invocations work together, and of both modules the device leaves something else.
    None,
    /// The modules differ: of each of them the device leaves what the sequential engine leaves of
    /// it.
    EachModuleAlike,
    /// The modules differ, and the engines do too.
    Modules,
}

impl Third {
    /// As `tests/random_known.txt` has it.
    const NAMES: [(&'static str, Third); 6] = [
        ("with-the-engine", Third::WithTheEngine),
        ("optimised-with-the-engine", Third::OptimisedWithTheEngine),
        ("otherwise", Third::Otherwise),
        ("none", Third::None),
        ("each-module-alike", Third::EachModuleAlike),
        ("modules", Third::Modules),
    ];
}

fn third(kernel: &Kernel, device: &mut VulkanExecutor) -> Third {
    let words = |level| compile(&kernel.text, level).unwrap();
    let [plain, optimised] =
        [words(shaderc::OptimizationLevel::Zero), words(shaderc::OptimizationLevel::Performance)];
    let [ours, ours_optimised] =
        [&plain, &optimised].map(|words| sequential(kernel, words, 1024).unwrap());
    let mut alike = |words: &[u32], ours: &Run| {
        let run = device.run(&host::job(kernel, words, SUBGROUP), &mut Unobserved);
        run.is_ok_and(|run| difference(kernel, ours, &run).is_none())
    };
    if difference(kernel, &ours, &ours_optimised).is_some() {
        let each = alike(&plain, &ours) && alike(&optimised, &ours_optimised);
        return if each { Third::EachModuleAlike } else { Third::Modules };
    }
    let optimised_alike = alike(&optimised, &ours);
    match one_at_a_time(kernel, device) {
        None if optimised_alike => Third::OptimisedWithTheEngine,
        None => Third::None,
        Some(run) if difference(kernel, &ours, &run).is_none() => Third::WithTheEngine,
        Some(_) => Third::Otherwise,
    }
}

/// A kernel of which a driver or the optimiser is known to make something wrong.
struct Known {
    /// Part of the driver's identity, or `optimiser`.
    at_fault: &'static str,
    third: Third,
    why: &'static str,
}

/// By seed (`tests/random_known.txt`).
fn known() -> BTreeMap<u64, Known> {
    let lines = include_str!("random_known.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows = lines.map(|line| {
        let mut parts = line.splitn(4, " | ");
        let mut next = || parts.next().expect("seed, who is at fault, third computation, reason");
        let (seed, at_fault, name) = (next().parse().expect("a seed"), next(), next());
        let (_, third) =
            Third::NAMES.into_iter().find(|row| row.0 == name).expect("a third computation");
        (seed, Known { at_fault, third, why: next() })
    });
    rows.collect()
}

/// A number from the environment; `make soak` asks for more kernels.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_kernels_run_alike_everywhere() {
    let known = known();
    let (from, count) = (number("VKCERT_RANDOM_SEED", 1), number("VKCERT_WIDE_KERNELS", 300));
    let (next, workers) = (AtomicU64::new(from), number("VKCERT_RANDOM_WORKERS", 2));
    let failures = std::sync::Mutex::new(BTreeMap::new());
    let named = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut engine = device();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + count {
                        break;
                    }
                    let Err(wrong) = check(&kernel(seed), engine.as_mut()) else { continue };
                    let why = excuse(&known, seed, &wrong, engine.as_mut());
                    println!("seed {seed}: {wrong:?}: {why:?}");
                    match why {
                        Ok(_) => _ = named.fetch_add(1, Ordering::Relaxed),
                        Err(why) => _ = failures.lock().unwrap().insert(seed, (wrong, why)),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let named = named.into_inner();
    println!(
        "{count} kernels from seed {from}, {named} with a known defect of the driver or the optimiser, {} failures",
        failures.len()
    );
    assert!(failures.is_empty(), "{} of {count}: {failures:#?}", failures.len());
}

/// The known reason, if the third computation is the one that belongs to it; else what the third
/// computation says.
fn excuse(
    known: &BTreeMap<u64, Known>,
    seed: u64,
    wrong: &Wrong,
    engine: Option<&mut VulkanExecutor>,
) -> Result<&'static str, String> {
    if let Wrong::Kernel(_) = wrong {
        return Err("no kernel".to_owned());
    }
    // The module that the compiler makes does not depend on who runs it.
    let Some(engine) = engine else {
        let known = known.get(&seed).filter(|known| known.third == Third::EachModuleAlike);
        return known.map(|known| known.why).ok_or_else(|| "not known".to_owned());
    };
    let driver = format!("optimiser {:?}", engine.identity());
    let third = third(&kernel(seed), engine);
    match known.get(&seed).filter(|known| driver.contains(known.at_fault)) {
        Some(known) if known.third == third => Ok(known.why),
        _ => Err(format!("not known; third computation: {third:?}")),
    }
}

/// `VKCERT_RANDOM_SEED=7 cargo test --test integration one_kernel -- --ignored --nocapture`
#[test]
#[ignore = "shows one kernel, and what is wrong with it made small"]
fn one_kernel() {
    let mut one = kernel(number("VKCERT_RANDOM_SEED", 1));
    if let Some(path) = std::env::var_os("VKCERT_RANDOM_TEXT") {
        one.text = std::fs::read_to_string(path).unwrap();
        one.shape.barriers = one.text.contains("barrier();") || one.text.contains("= subgroup");
        let mut engine = device();
        return println!(
            "{:?}, {:?}",
            check(&one, engine.as_mut()),
            engine.as_mut().map(|engine| third(&one, engine))
        );
    }
    println!("{}\n{:?}", one.text, one.shape);
    let mut engine = device();
    println!("third computation: {:?}", engine.as_mut().map(|engine| third(&one, engine)));
    let Err(wrong) = check(&one, engine.as_mut()) else { return println!("nothing wrong") };
    println!("{wrong:?}");
    let small = reduce::reduce(&one.text, &mut |text| {
        let candidate = Kernel { text: text.to_owned(), ..one.clone() };
        match (&wrong, &mut engine) {
            (Wrong::Device(_), Some(engine)) => device_differs(&candidate, engine),
            (_, engine) => {
                check(&candidate, engine.as_mut()).is_err_and(|other| other.kind() == wrong.kind())
            }
        }
    });
    println!("---- reduced ----\n{small}");
    if let Some(folder) = std::env::var_os("VKCERT_RANDOM_FOLDER") {
        store(&std::path::PathBuf::from(folder), &small);
    }
    let candidate = Kernel { text: small, ..one.clone() };
    println!("{:?}", check(&candidate, engine.as_mut()));
}

/// Whether the device leaves other bytes than the sequential engine, on the module without
/// optimisation, of a kernel without findings: the quick question of the reduction.
fn device_differs(kernel: &Kernel, engine: &mut VulkanExecutor) -> bool {
    let Ok(words) = compile(&kernel.text, shaderc::OptimizationLevel::Zero) else { return false };
    let Ok(ours) = sequential(kernel, &words, 1024) else { return false };
    if clean(&ours, "").is_err() {
        return false;
    }
    let run = engine.run(&host::job(kernel, &words, SUBGROUP), &mut Unobserved);
    run.is_ok_and(|run| {
        run.completion == Completion::Completed && difference(kernel, &ours, &run).is_some()
    })
}

/// Writes a kernel's text and modules into a folder.
fn store(folder: &std::path::Path, text: &str) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("random.comp"), text).unwrap();
    for (name, level) in [
        ("plain.spv", shaderc::OptimizationLevel::Zero),
        ("optimised.spv", shaderc::OptimizationLevel::Performance),
    ] {
        if let Ok(words) = compile(text, level) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            std::fs::write(folder.join(name), bytes).unwrap();
        }
    }
}

#[test]
fn a_defect_in_a_random_kernel_is_found() {
    let count = number("VKCERT_WIDE_KERNELS", 300) / 3;
    let mut kinds = BTreeMap::new();
    for seed in 1..=count {
        let faulty = faults::faulty(&kernel(seed));
        let text = &faulty.kernel.text;
        let words = compile(text, shaderc::OptimizationLevel::Zero)
            .unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        let run = sequential(&faulty.kernel, &words, WIDTHS[seed as usize % WIDTHS.len()]).unwrap();
        let found = run.findings.iter().any(|finding| finding.kind == faulty.due);
        assert!(found, "seed {seed}: {} is not found: {:#?}\n{text}", faulty.what, run.findings);
        *kinds.entry(faulty.what).or_insert(0) += 1;
    }
    println!("{kinds:?}");
}

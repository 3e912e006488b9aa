//! What runs show lies in what the static analysis lists: on the file tests, the demonstration's
//! tests and random kernels that are free of races.

use super::{file_tests, modules_of, tracked_run};
use crate::random;

use random::frame::kernel;
use random::host;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use vkcert::campaign::certification::{CampaignRequest, set_up};
use vkcert::campaign::project;
use vkcert::exec::access_pairs::AccessPairs;
use vkcert::exec::resource::JobView;
use vkcert::exec::sequential::{SequentialRun, Settings};
use vkcert::exec::{Completion, Job, JobBinding, JobDispatch, JobModule, ModuleRecording};
use vkcert::model::access_pair::{AccessPair, ReadDescriptor};
use vkcert::model::finding::FindingKind;
use vkcert::model::id::ModuleKey;
use vkcert::spirv::module::Module;
use vkcert::spirv::pairs::{
    BoundBytes, PairRequest, SharedBindings, StaticPair, dispatch_pairs, static_pairs,
};

/// A descriptor with the bytes that it shows; of an image and a texel buffer all.
fn bound(binding: &JobBinding) -> (ReadDescriptor, BoundBytes) {
    let place = ReadDescriptor { set: binding.set, binding: binding.binding };
    let start = binding.offset + binding.dynamic_offset;
    match binding.view {
        JobView::Bytes => (place, BoundBytes { start, end: start + binding.range }),
        JobView::Texels(_) | JobView::Image(_) | JobView::Sampler(_) | JobView::Combined(..) => {
            (place, BoundBytes::ALL)
        }
    }
}

/// Distinct bindings of a dispatch with bytes in common.
fn aliased_bindings(dispatch: &JobDispatch) -> BTreeSet<(ReadDescriptor, ReadDescriptor)> {
    let mut shared = SharedBindings::default();
    for first in &dispatch.bindings {
        for second in dispatch.bindings.iter().filter(|second| second.buffer == first.buffer) {
            shared.share(bound(first), bound(second));
        }
    }
    shared.descriptors().filter(|(first, second)| first != second).collect()
}

/// Pairs that a run showed and that are not listed, as text.
fn unlisted_pairs(job: &Job, settings: Settings, run: &SequentialRun) -> Vec<String> {
    let parsed: Vec<Module> =
        job.modules.iter().map(|module| Module::parse((*module.words).clone()).unwrap()).collect();
    let nothing = BTreeSet::new();
    let aliased: Vec<_> = job.dispatches.iter().map(aliased_bindings).collect();
    let pair_request = |dispatch_index: usize| {
        let dispatch = &job.dispatches[dispatch_index];
        PairRequest {
            module: &parsed[dispatch.module],
            entry: &dispatch.entry,
            specialization: &dispatch.specialization,
            memory_model: settings.memory_model,
            unwritten_by_host: &nothing,
            aliased: &aliased[dispatch_index],
        }
    };
    let mut listed: BTreeMap<ModuleKey, BTreeSet<AccessPair>> = BTreeMap::new();
    for (index, later) in job.dispatches.iter().enumerate() {
        let key = job.modules[later.module].key;
        let mut add = |pairs: Vec<StaticPair>| {
            listed.entry(key).or_default().extend(pairs.into_iter().map(|pair| pair.pair))
        };
        add(static_pairs(&pair_request(index)).expect("pairs are listed"));
        for earlier_index in 0..index {
            let earlier = &job.dispatches[earlier_index];
            let mut shared = SharedBindings::default();
            for before in &earlier.bindings {
                for after in later.bindings.iter().filter(|after| after.buffer == before.buffer) {
                    shared.share(bound(before), bound(after));
                }
            }
            let earlier_key = job.modules[earlier.module].key;
            let pairs = dispatch_pairs(
                (&pair_request(earlier_index), earlier_key),
                &pair_request(index),
                &shared,
            );
            add(pairs.expect("pairs are listed"));
        }
    }
    let mut unlisted = Vec::new();
    for (key, module_pairs) in modules_of(run) {
        let module = job.modules.iter().position(|module| module.key == *key).unwrap();
        let line = |index: u32| parsed[module].place_of(index as usize).line.unwrap_or_default();
        for pair in module_pairs.pairs.difference(&listed[key]) {
            unlisted.push(format!("{}: line {}: {pair:?}", job.name, line(pair.use_index)));
        }
    }
    unlisted
}

/// Whether the promise of the static analysis is given for a run.
fn is_promised(run: &SequentialRun) -> bool {
    let unsound = |kind| {
        matches!(
            kind,
            FindingKind::DataRace | FindingKind::OutOfBounds | FindingKind::BarrierDivergence
        )
    };
    let has_pairs = matches!(run.access_pairs, AccessPairs::Tracked(_));
    let is_sound = !run.run.findings.iter().any(|finding| unsound(finding.kind));
    is_sound && has_pairs && run.run.completion == Completion::Completed
}

#[track_caller]
fn assert_listed(runs: impl Iterator<Item = (Job, Settings)>, least: usize) {
    let (mut counted, mut pair_count, mut unlisted) = (0, 0, Vec::new());
    for (job, settings) in runs {
        let run = tracked_run(&job, settings);
        if is_promised(&run) {
            counted += 1;
            pair_count += modules_of(&run).values().map(|module| module.pairs.len()).sum::<usize>();
            unlisted.extend(unlisted_pairs(&job, settings, &run));
        }
    }
    println!("{counted} runs, {pair_count} pairs, {} not listed", unlisted.len());
    assert!(unlisted.is_empty(), "{} not listed:\n{}", unlisted.len(), unlisted.join("\n"));
    assert!(counted >= least, "{counted} runs");
}

#[test]
fn pairs_of_file_tests_are_listed() {
    assert_listed(file_tests().into_iter().map(|(test, settings)| (test.job(), settings)), 50);
}

#[test]
fn pairs_of_random_kernels_are_listed() {
    let count = super::told_by_values::number_from_environment("VKCERT_PAIR_KERNELS", 40);
    let first = super::told_by_values::number_from_environment("VKCERT_RANDOM_SEED", 1);
    let jobs = (first..first + count).map(|seed| {
        let kernel = kernel(seed);
        let mut options = shaderc::CompileOptions::new().unwrap();
        options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_2 as u32);
        options.set_generate_debug_info();
        options.set_optimization_level(if seed % 2 == 0 {
            shaderc::OptimizationLevel::Zero
        } else {
            shaderc::OptimizationLevel::Performance
        });
        let artifact = shaderc::Compiler::new().unwrap().compile_into_spirv(
            &kernel.text,
            shaderc::ShaderKind::Compute,
            "random",
            "main",
            Some(&options),
        );
        let words = artifact.expect("it compiles").as_binary().to_vec();
        (host::job(&kernel, &words, 8), Settings::default())
    });
    assert_listed(jobs, count as usize / 2);
}

#[test]
fn pairs_of_the_demonstration_are_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(project) = project::load_project(folder) else { panic!("the project is read") };
    let Ok(ready) = set_up(project, &CampaignRequest::default()) else { panic!("it is set up") };
    let Ok(prepared) = ready.campaign.prepare() else { panic!("its tests are laid out") };
    let jobs = prepared.iter().filter_map(|test| {
        let plan = test.job_plan.as_ref().ok()?;
        let modules =
            test.kernels.iter().zip(&plan.job.modules).map(|(kernel, module)| JobModule {
                key: module.key,
                words: Arc::clone(&kernel.production),
                recording: ModuleRecording::None,
            });
        Some((Job { modules: modules.collect(), ..plan.job.clone() }, Settings::default()))
    });
    assert_listed(jobs, 50);
}

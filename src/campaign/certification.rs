//! A whole campaign in stages: a project is compiled, its tests are laid out, run and judged, the
//! evidence is sealed.
//!
//! Promises: what is wrong with the input is an error before what the machine lacks. Nothing is
//! written.
//! Does not cover: where evidence and reports go (`evidence::files`, `report`).

use super::agreement::{self, AgreementComparison, ComparisonEngines};
use super::assemble::LaidOut;
use super::captures::read_captures;
use super::coupling::{self, CouplingSources, HostReadings, StoredCoupling};
use super::display::{Display, Unseen};
use super::engines::{DeviceEngine, EngineSettings, Engines};
use super::facts::{
    self, CampaignFacts, CampaignSetting, EvidenceTarget, FilesInMemory, MutationFacts,
    SealedEvidence,
};
use super::headers::{HostHeaders, read_headers};
use super::kernel::Kernel;
use super::mutation::{MutationDevice, MutationEngines, MutationRequest, mutate_project};
use super::plan::RunPlan;
use super::profile::{self, ProjectTarget};
use super::reuse::CampaignCache;
use super::set_aside::{BrokenKernel, OnBrokenKernel, compile_what_compiles};
use super::test_run::{PreparedTest, TestRun};
use super::{
    CampaignError, altered, assemble, configuration, execution, inputs, judged, justifications,
    project, recording,
};
use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::Arc;
use vkcert_cache::RunCache;
use vkcert_deep_stack::STACK_BYTES;
use vkcert_model::evidence::{EngineIdentity, Evidence, JudgingEngines};
use vkcert_model::finding::FindingKind;
use vkcert_model::records::{RecordMode, Witnesses};
use vkcert_model::schedule::{Schedule, Schedules};
use vkcert_requirement::Project;

/// What is asked of a campaign beside what its project says.
#[derive(Debug, Clone)]
pub struct CampaignRequest {
    /// Engines, checks and limits of the run.
    pub plan: RunPlan,
    /// How often each test runs on an engine; none: as the project has it.
    pub repeat: Option<NonZeroU32>,
    /// Other schedules that each test runs in; none: as the project has it.
    pub schedules: Option<Schedules>,
    /// The schedule that tests run in, in place of the ordinary one.
    pub replay: Option<Schedule>,
    /// How bits reach the record buffer on a device; none: as suits kernel and device.
    pub record_mode: Option<RecordMode>,
    /// Whether a device's records tell the lowest invocation per bit.
    pub witnesses: Witnesses,
    /// What a kernel that does not compile does to the others.
    pub on_broken_kernel: OnBrokenKernel,
    /// What engines look into before they run, and where they leave what they find; none: everything
    /// runs, and nothing is kept.
    pub cache: Option<Arc<RunCache>>,
    /// Mutants that the tests are to judge; none: there are none.
    pub mutation: Option<MutationRequest>,
}

impl Default for CampaignRequest {
    fn default() -> Self {
        let (repeat, schedules, replay, record_mode) = (None, None, None, None);
        Self {
            plan: RunPlan::default(),
            repeat,
            schedules,
            replay,
            record_mode,
            witnesses: Witnesses::Omitted,
            on_broken_kernel: OnBrokenKernel::End,
            cache: None,
            mutation: None,
        }
    }
}

/// Carries out the campaign of a project, as [`project::load_project`] reads it.
///
/// # Errors
///
/// Input that is wrong, an engine that was asked for and is not there, a failure of the tool. A
/// test that fails and an obligation that is not covered are no errors: the evidence holds them,
/// and its conclusion counts them.
pub fn certify(
    project: Project,
    request: &CampaignRequest,
) -> Result<SealedEvidence, CampaignError> {
    let thread_pool = rayon::ThreadPoolBuilder::new()
        .stack_size(STACK_BYTES)
        .num_threads(request.plan.jobs)
        .build();
    let thread_pool = thread_pool.map_err(|error| {
        CampaignError::tool(format!("cannot start the threads of a campaign: {error}"))
    })?;
    thread_pool.install(|| {
        let SetUp { campaign, engines } = set_up(project, request)?;
        let prepared_tests = campaign.prepare()?;
        let outcome = campaign.run(&prepared_tests, &mut engines?, &Unseen)?;
        campaign.seal(outcome)
    })
}

/// A project whose kernels are compiled and configured for a run.
pub struct ReadyCampaign {
    /// The project as it was read.
    pub project: Project,
    /// Its kernels, compiled and configured, in project order.
    pub kernels: Vec<Kernel>,
    /// Those that do not compile and were set aside.
    broken_kernels: Vec<BrokenKernel>,
    plan: RunPlan,
    host_readings: HostReadings,
    schedules: Schedules,
    replay: Option<Schedule>,
    mutation: Option<MutationRequest>,
}

/// A campaign, and the engines that it asks for: why they are not there is told after what is wrong
/// with its tests.
pub struct SetUp {
    /// The campaign.
    pub campaign: ReadyCampaign,
    /// The engines, or why they are not there.
    pub engines: Result<Engines, CampaignError>,
}

/// Opens the engines that a project and a request ask for.
pub fn open_engines(
    project: &Project,
    request: &CampaignRequest,
) -> Result<Engines, CampaignError> {
    let project_settings = &project.settings.value;
    let engine_settings = EngineSettings {
        memory_model: project_settings.memory_model,
        validation: project_settings.validation,
        robustness: project_settings.robustness,
        repeat: request.repeat.or(project_settings.repeat),
        replay: request.replay,
    };
    let mut engines =
        Engines::open(&request.plan, project_settings.engines.as_deref(), engine_settings)?;
    let cache = request.cache.clone();
    engines.cache = cache.map(|runs| CampaignCache::new(runs, &engines));
    Ok(engines)
}

/// Compiles the kernels of a project, checks what goes with them, and opens the engines.
pub fn set_up(project: Project, request: &CampaignRequest) -> Result<SetUp, CampaignError> {
    let opened_engines = open_engines(&project, request);
    set_up_with(project, request, opened_engines, &|_| {})
}

/// The same with engines that were opened, or why they were not; `tell` hears of kernels that were
/// set aside before anything else is done.
pub fn set_up_with(
    mut project: Project,
    request: &CampaignRequest,
    opened_engines: Result<Engines, CampaignError>,
    tell: &dyn Fn(&[BrokenKernel]),
) -> Result<SetUp, CampaignError> {
    let cache = request.cache.as_deref();
    let (targeted_kernels, broken_kernels) = match request.on_broken_kernel {
        OnBrokenKernel::End => (project::compile_or_take_kernels(&project, cache)?, Vec::new()),
        OnBrokenKernel::SetAside => compile_what_compiles(&mut project, cache)?,
    };
    if !broken_kernels.is_empty() {
        tell(&broken_kernels);
    }
    profile::check_modules(&project, &targeted_kernels)?;
    let mut kernels = configuration::configure_kernels(&project, targeted_kernels)?;
    justifications::check_justifications(&project, &kernels)?;
    let project_settings = &project.settings.value;
    let target = ProjectTarget::of_project(project_settings);
    let engines = opened_engines.and_then(|engines| {
        recording::apply_for(
            &mut kernels,
            &engines,
            request.record_mode,
            request.witnesses,
            &target,
        )?;
        Ok(engines)
    });
    let captures = read_captures(&project, &kernels)?;
    let (headers, engines) = match read_headers(&project, request.plan.worker.as_deref()) {
        Ok(headers) => (headers, engines),
        Err(missing @ CampaignError::Unavailable { .. }) => (HostHeaders::new(), Err(missing)),
        Err(failure) => return Err(failure),
    };
    configuration::add_header_boundaries(&project, &mut kernels, &headers);
    let schedules = request.schedules.unwrap_or(project_settings.schedules);
    let (plan, replay) = (request.plan.clone(), request.replay);
    let host_readings = HostReadings { headers, captures };
    let mutation = request.mutation.clone();
    let campaign = ReadyCampaign {
        project,
        kernels,
        broken_kernels,
        plan,
        host_readings,
        schedules,
        replay,
        mutation,
    };
    Ok(SetUp { campaign, engines })
}

/// What the runs of a campaign came to.
pub struct CampaignOutcome {
    /// One row per test of the project, one entry per engine.
    pub runs_by_test: Vec<Vec<TestRun>>,
    /// The tests as they were laid out for the engines.
    pub laid_out: LaidOut,
    agreement: AgreementComparison,
    coupled: Vec<StoredCoupling>,
    mutation: Option<MutationFacts>,
    engines: Vec<EngineIdentity>,
}

impl ReadyCampaign {
    /// Checks and lays out every test.
    pub fn prepare(&self) -> Result<Vec<PreparedTest<'_>>, CampaignError> {
        execution::prepare_project(
            &self.project,
            &self.kernels,
            &self.plan,
            (self.schedules, self.replay),
        )
    }

    /// Runs every test on every engine, compares the engines, and finds out what the tests judge.
    pub fn run(
        &self,
        prepared_tests: &[PreparedTest],
        engines: &mut Engines,
        display: &dyn Display,
    ) -> Result<CampaignOutcome, CampaignError> {
        let kernels = &self.kernels;
        // Before anything runs.
        self.device_for_mutants(&mut engines.vulkan)?;
        let mut runs = execution::run_tests(prepared_tests, engines, &self.plan, display)?;
        let laid_out = judged::lay_open(prepared_tests, kernels)?;
        if engines.sequential {
            altered::examine_tests(
                prepared_tests,
                &laid_out,
                kernels,
                &mut runs,
                &engines.sequential(),
            )?;
        }
        judged::doubt_idle_tests(prepared_tests, &laid_out, kernels, &mut runs);
        let device = coupling::device_limits(engines);
        let test_facts = coupling::facts_of_runs(&runs);
        let sources = CouplingSources {
            project: &self.project,
            kernels,
            prepared_tests,
            test_facts: &test_facts,
            device: device.as_ref(),
            host_readings: &self.host_readings,
        };
        let cache = engines.cache.as_ref().map(CampaignCache::runs);
        let coupling_results = sources.analyse_or_take(cache)?;
        let mutation = self.judge_mutants(prepared_tests, engines)?;
        let agreement = agreement::compare_engines(
            prepared_tests,
            &runs,
            &mut ComparisonEngines::of_engines(engines),
        );
        Ok(CampaignOutcome {
            runs_by_test: runs,
            laid_out,
            agreement,
            coupled: coupling_results,
            mutation,
            engines: engines.identities(),
        })
    }

    /// The device that judges mutants beside the sequential engine; none where none was asked to.
    ///
    /// # Errors
    /// One was asked to, and none runs the tests.
    fn device_for_mutants<'e>(
        &self,
        engine: &'e mut DeviceEngine,
    ) -> Result<Option<MutationDevice<'e>>, CampaignError> {
        let asked = self.mutation.as_ref().map(|request| request.extent.engines);
        match (asked, engine) {
            (None | Some(JudgingEngines::Sequential), _) => Ok(None),
            (Some(JudgingEngines::Both), DeviceEngine::Ready(executor)) => {
                Ok(Some(MutationDevice { executor, workers: self.plan.workers }))
            }
            (Some(JudgingEngines::Both), DeviceEngine::NotRun { .. } | DeviceEngine::NotAsked) => {
                Err(CampaignError::Unavailable {
                    message: "a device was asked to judge mutants, and none runs the tests"
                        .to_owned(),
                    hint: Some(
                        "`vkcert list devices`, or leave `--mutants-on-device` out".to_owned(),
                    ),
                })
            }
        }
    }

    /// What the tests make of mutants, where that is asked for.
    fn judge_mutants(
        &self,
        prepared_tests: &[PreparedTest],
        engines: &mut Engines,
    ) -> Result<Option<MutationFacts>, CampaignError> {
        let Some(request) = &self.mutation else { return Ok(None) };
        let sequential = engines.sequential();
        let device = self.device_for_mutants(&mut engines.vulkan)?;
        let engines = MutationEngines { sequential: &sequential, device };
        let judged =
            mutate_project(&self.project, &self.kernels, prepared_tests, engines, request)?;
        Ok(Some(judged.facts))
    }

    /// Reads every input again, derives what follows, and seals all of it.
    pub fn seal(self, outcome: CampaignOutcome) -> Result<SealedEvidence, CampaignError> {
        let files = FilesInMemory::default();
        let evidence = self.seal_to(outcome, &files)?;
        Ok(files.sealed(evidence))
    }

    /// The same, whose files go to `target` as soon as they are made.
    pub fn seal_to(
        self,
        outcome: CampaignOutcome,
        target: &dyn EvidenceTarget,
    ) -> Result<Evidence, CampaignError> {
        let mut inputs = inputs::gather_inputs(&self.project, &self.kernels)?;
        inputs::add_host_files(&mut inputs, &self.project, &self.host_readings)?;
        inputs::add_set_aside(&mut inputs, &self.project, &self.broken_kernels)?;
        let facts = CampaignFacts {
            engines: outcome.engines,
            runs_by_test: outcome.runs_by_test,
            laid_out: outcome.laid_out,
            agreement: outcome.agreement,
            coupled: outcome.coupled,
            mutation: outcome.mutation,
            inputs,
            request: self.what_was_asked(),
            date: assemble::source_date(),
        };
        facts::derive_evidence(&self.project, Cow::Owned(self.kernels), facts, target)
    }

    /// What was asked for beside the project, as evidence tells it.
    fn what_was_asked(&self) -> CampaignSetting {
        let finding_kinds = FindingKind::ALL.iter().map(|(kind, _)| *kind);
        CampaignSetting {
            left_out: self.project.left_out_on_request(),
            set_aside: self.broken_kernels.iter().map(|row| row.stored(&self.project)).collect(),
            not_looked_for: finding_kinds.filter(|kind| !self.plan.checks.has(*kind)).collect(),
            replay: self.replay,
        }
    }
}

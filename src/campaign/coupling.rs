//! The coupling analysis of a project: every interface against its kernel's module and the tests
//! that use it.

mod coupled_kernel;
mod kept;

use super::captures::HostCaptures;
use super::engines::{DeviceEngine, Engines};
use super::headers::HostHeaders;
use super::kernel::Kernel;
use super::project::all_or_diagnostics;
use super::test_run::{PreparedTest, TestRun};
use crate::CampaignError;
use coupled_kernel::{CoupledKernel, Hosts};
use rayon::prelude::*;
use std::collections::BTreeMap;
use vkcert_cache::RunCache;
use vkcert_coupling::{Coupling, DeviceLimits};
use vkcert_model::evidence::{CouplingEvidence, EngineIdentity, KernelFinding};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::KernelName;
use vkcert_model::requirement::{CaptureReading, HeaderReading};
use vkcert_model::verdict::EngineName;
use vkcert_requirement::Project;

/// The coupling of one kernel.
#[derive(Debug, Clone)]
pub struct KernelCoupling {
    /// Name of the kernel.
    pub kernel: KernelName,
    /// Graph and checks.
    pub coupling: Coupling,
    /// What was read of the headers that the interface names.
    pub headers: Vec<HeaderReading>,
    /// What was read of the captures that it names.
    pub captures: Vec<CaptureReading>,
}

/// The coupling of one kernel as evidence stores it.
#[derive(Debug, Clone)]
pub struct StoredCoupling {
    /// Graph, checks and what was read.
    pub row: CouplingEvidence,
    /// One per refuted check.
    pub findings: Vec<KernelFinding>,
}

/// What was read of the host program itself.
#[derive(Debug, Clone, Default)]
pub struct HostReadings {
    /// Of headers that interfaces name.
    pub headers: HostHeaders,
    /// Of captures that they name.
    pub captures: HostCaptures,
}

/// What the coupling of a project's kernels is analysed from.
pub struct CouplingSources<'a> {
    /// The project, with what it says of hosts.
    pub project: &'a Project,
    /// Its kernels.
    pub kernels: &'a [Kernel],
    /// Its tests.
    pub prepared_tests: &'a [PreparedTest<'a>],
    /// What the sequential engine told of each test.
    pub test_facts: &'a [TestFacts<'a>],
    /// None: the limits that every Vulkan device has.
    pub device: Option<&'a DeviceLimits>,
    /// What was read of host programs.
    pub host_readings: &'a HostReadings,
}

impl CouplingSources<'_> {
    /// Analyses every interface of the project. A kernel without interface has no host to be coupled
    /// with, and says so in `missing`.
    pub fn analyse(&self) -> Result<Vec<KernelCoupling>, CampaignError> {
        self.of_each_kernel(|hosts, coupled| {
            let coupling = coupled.analyse()?;
            let checks = hosts.with_set_aside(coupled.interface, coupling.checks);
            Ok(KernelCoupling {
                kernel: coupled.interface.kernel,
                coupling: Coupling { checks, ..coupling },
                headers: coupled.readings.to_vec(),
                captures: coupled.capture_readings(),
            })
        })
    }

    /// The same as evidence stores it. What a cache keeps of it is taken from there.
    pub fn analyse_or_take(
        &self,
        cache: Option<&RunCache>,
    ) -> Result<Vec<StoredCoupling>, CampaignError> {
        self.of_each_kernel(|hosts, coupled| {
            let stored = kept::analysed_or_taken(coupled, cache)?;
            let row = CouplingEvidence {
                definition: Some(coupled.interface.value.clone()),
                checks: hosts.with_set_aside(coupled.interface, stored.row.checks),
                headers: coupled.readings.to_vec(),
                captures: coupled.capture_readings(),
                ..stored.row
            };
            Ok(StoredCoupling { row, ..stored })
        })
    }

    fn of_each_kernel<T: Send>(
        &self,
        answer: impl Fn(&Hosts<'_>, &CoupledKernel<'_>) -> Result<T, CampaignError> + Sync,
    ) -> Result<Vec<T>, CampaignError> {
        let hosts = Hosts::of_sources(self);
        let interfaces = self.project.interfaces.par_iter().with_max_len(1);
        let answers = interfaces.filter_map(|interface| {
            let coupled = hosts.coupled_kernel(interface)?;
            let answered = answer(&hosts, &coupled);
            Some(answered.map_err(|failure| hosts.in_file_of_interface(interface, failure)))
        });
        all_or_diagnostics(answers.collect())
    }
}

/// The limits of the device that runs.
pub fn device_limits(engines: &Engines) -> Option<DeviceLimits> {
    match &engines.vulkan {
        DeviceEngine::Ready(executor) => {
            let limits = &executor.device().limits;
            Some(DeviceLimits {
                groups: limits.workgroup_count,
                local_size: limits.workgroup_size,
                invocations: limits.workgroup_invocations,
                push_constant_bytes: limits.push_constants,
                workgroup_bytes: limits.workgroup_memory,
            })
        }
        DeviceEngine::NotRun { .. } | DeviceEngine::NotAsked => None,
    }
}

/// The same from the identity that evidence stores of a device.
pub fn device_limits_of(engines: &[EngineIdentity]) -> Option<DeviceLimits> {
    let device = engines.iter().find(|row| row.engine == EngineName::Vulkan && row.ran)?;
    let identity_text = |property_name: &str| device.identity.get(property_name);
    let identity_number = |property_name: &str| identity_text(property_name)?.parse().ok();
    let identity_triple = |property_name: &str| {
        let parts: Vec<u32> = identity_text(property_name)?
            .split(' ')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        parts.try_into().ok()
    };
    Some(DeviceLimits {
        groups: identity_triple("maxComputeWorkGroupCount")?,
        local_size: identity_triple("maxComputeWorkGroupSize")?,
        invocations: identity_number("maxComputeWorkGroupInvocations")?,
        push_constant_bytes: identity_number("maxPushConstantsSize")?,
        workgroup_bytes: identity_number("maxComputeSharedMemorySize")?,
    })
}

impl StoredCoupling {
    /// Without what was read of the host.
    fn of_coupling(kernel: KernelName, coupling: Coupling) -> Self {
        let (row, findings) = coupling.into_evidence(kernel);
        let of_kernel = |finding: Finding| {
            debug_assert_eq!(finding.kind, FindingKind::Coupling);
            KernelFinding { kernel, engine: None, test: None, finding }
        };
        Self { row, findings: findings.into_iter().map(of_kernel).collect() }
    }
}

impl KernelCoupling {
    /// What evidence stores.
    pub fn stored(self) -> StoredCoupling {
        let Self { kernel, coupling, headers, captures } = self;
        let StoredCoupling { row, findings } = StoredCoupling::of_coupling(kernel, coupling);
        StoredCoupling { row: CouplingEvidence { headers, captures, ..row }, findings }
    }
}

/// Bytes that a dispatch of a test accessed, by set and binding.
pub type TouchedBytes = BTreeMap<(u32, u32), u64>;

/// What the sequential engine told of a test.
#[derive(Debug, Clone, Copy, Default)]
pub struct TestFacts<'a> {
    /// By dispatch; empty where the engine did not tell.
    pub touched: &'a [TouchedBytes],
    /// Findings in the production modules.
    pub findings: &'a [Finding],
}

/// By test of a campaign.
pub fn facts_of_runs(runs_by_test: &[Vec<TestRun>]) -> Vec<TestFacts<'_>> {
    runs_by_test.iter().map(|runs_of_test| facts_of_test(runs_of_test)).collect()
}

fn facts_of_test(runs_of_test: &[TestRun]) -> TestFacts<'_> {
    let sequential_run = runs_of_test.iter().find(|run| run.engine == EngineName::Sequential);
    sequential_run.map_or_else(TestFacts::default, |run| TestFacts {
        touched: &run.counts.touched,
        findings: &run.findings,
    })
}

//! The coupling analysis of a project: every interface against its kernel's module and the tests
//! that use it.

use super::captures::HostCaptures;
use super::engines::{DeviceEngine, Engines};
use super::headers::HostHeaders;
use super::kernel::{Kernel, KernelsByName, kernels_by_name};
use super::project::all_or_diagnostics;
use super::test_run::{PreparedTest, TestRun};
use super::told_values::ToldPlaces;
use crate::CampaignError;
use rayon::prelude::*;
use std::collections::BTreeMap;
use vkcert_coupling::{
    self as coupling, BufferUse, Coupling, CouplingInput, DeviceLimits, EarlierKernel, FlowError,
    ImageUse, KernelFlow, StatedPipeline, TestUse,
};
use vkcert_exec::{ExecError, Executor, Job, JobDispatch, Run, Unobserved};
use vkcert_model::evidence::{
    CheckStatus, CouplingCheck, CouplingCheckName, CouplingEvidence, EngineIdentity, KernelFinding,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::KernelName;
use vkcert_model::path::canonical_name;
use vkcert_model::place::Place;
use vkcert_model::project::MemoryModel;
use vkcert_model::requirement::{
    CaptureReading, CapturedKernel, EarlierDispatch, HeaderReading, Interface,
};
use vkcert_model::verdict::EngineName;
use vkcert_requirement::document::Origin;
use vkcert_requirement::{Located, Project, trace};
use vkcert_sequential::SequentialExecutor;
use vkcert_spirv::interface::Reflection;

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

/// What was read of the host program itself.
#[derive(Debug, Clone, Default)]
pub struct HostReadings {
    /// Of headers that interfaces name.
    pub headers: HostHeaders,
    /// Of captures that they name.
    pub captures: HostCaptures,
}

/// Analyses every interface of the project. A kernel without interface has no host to be coupled
/// with, and says so in `missing`.
pub fn analyse_interfaces(
    project: &Project,
    kernels: &[Kernel],
    prepared_tests: &[PreparedTest],
    test_facts: &[TestFacts<'_>],
    (device, host_readings): (Option<&DeviceLimits>, &HostReadings),
) -> Result<Vec<KernelCoupling>, CampaignError> {
    let kernels_by_name = kernels_by_name(kernels);
    let tests = TestsByKernel::of_tests(prepared_tests, test_facts);
    let coupled_kernels = project.interfaces.par_iter().with_max_len(1).filter_map(|interface| {
        let kernel = *kernels_by_name.get(&interface.kernel)?;
        let HostReadings { headers, captures } = host_readings;
        let readings = headers.get(&interface.kernel).map_or(&[][..], Vec::as_slice);
        let captures = captures.by_kernel.get(&interface.kernel).map_or(&[][..], Vec::as_slice);
        let files = interface.pipeline.iter().map(|pipeline| pipeline.file.as_str());
        let pipelines: Vec<_> = files.filter_map(|file| stated_pipeline(project, file)).collect();
        let host = StatedHost {
            interface: &interface.value,
            origin: &interface.origin,
            place: place_of_interface(project, interface),
            readings,
            pipelines: &pipelines,
            captures,
            memory_model: project.settings.value.memory_model,
        };
        let coupling = earlier_kernels(project, interface, &kernels_by_name)
            .and_then(|earlier| analyse_interface(&host, kernel, &earlier, &tests, device))
            .map_err(|failure| in_file_of_interface(project, interface, failure));
        Some(coupling.map(|mut coupling| {
            add_set_aside_kernels(project, interface, &mut coupling);
            KernelCoupling {
                kernel: interface.kernel,
                coupling,
                headers: readings.to_vec(),
                captures: captures.iter().map(|captured| captured.reading.clone()).collect(),
            }
        }))
    });
    all_or_diagnostics(coupled_kernels.collect())
}

/// Diagnostics of an interface that name no place are of its file.
fn in_file_of_interface(
    project: &Project,
    interface: &Located<Interface>,
    failure: CampaignError,
) -> CampaignError {
    let CampaignError::Input(found) = failure else { return failure };
    let file = project.relative_file(interface);
    let placed = found.into_iter().map(|diagnostic| match diagnostic.location {
        Some(_) => diagnostic,
        None => diagnostic.in_file(file.clone()),
    });
    CampaignError::Input(placed.collect())
}

/// The tests that dispatch each kernel, in the order of the project.
struct TestsByKernel<'a>(BTreeMap<KernelName, Vec<(&'a PreparedTest<'a>, &'a TestFacts<'a>)>>);

impl<'a> TestsByKernel<'a> {
    fn of_tests(prepared_tests: &'a [PreparedTest<'a>], test_facts: &'a [TestFacts<'a>]) -> Self {
        let mut by_kernel: BTreeMap<KernelName, Vec<_>> = BTreeMap::new();
        for (test, facts) in prepared_tests.iter().zip(test_facts) {
            for kernel in trace::kernels_of(test.test) {
                by_kernel.entry(kernel).or_default().push((test, facts));
            }
        }
        Self(by_kernel)
    }
}

/// What kernels that were set aside leave to this one, as its interface states, cannot be checked.
fn add_set_aside_kernels(project: &Project, interface: &Interface, coupling: &mut Coupling) {
    for earlier in &interface.earlier {
        if project.set_aside.iter().any(|row| row.settings.name == earlier.kernel) {
            let kernel = earlier.kernel;
            let row = CouplingCheck {
                check: CouplingCheckName::EarlierDispatches,
                status: CheckStatus::Undetermined,
                message: format!(
                    "what {kernel} leaves here is not known: it does not compile and was set aside"
                ),
                counterexample: None,
                accesses: None,
                subjects: Vec::new(),
            };
            let place = coupling.checks.partition_point(|known| known.check <= row.check);
            coupling.checks.insert(place, row);
        }
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

/// What evidence stores, and the findings of refuted checks.
pub fn coupling_evidence(
    results: Vec<KernelCoupling>,
) -> (Vec<CouplingEvidence>, Vec<KernelFinding>) {
    let (mut stored_rows, mut kernel_findings) = (Vec::new(), Vec::new());
    for KernelCoupling { kernel, coupling, headers, captures } in results {
        let (mut stored_row, findings) = coupling.into_evidence(kernel);
        stored_row.headers = headers;
        stored_row.captures = captures;
        stored_rows.push(stored_row);
        kernel_findings.extend(findings.into_iter().map(|finding| {
            debug_assert_eq!(finding.kind, FindingKind::Coupling);
            KernelFinding { kernel, engine: None, test: None, finding }
        }));
    }
    (stored_rows, kernel_findings)
}

/// What the project says of the host of one kernel.
struct StatedHost<'a> {
    interface: &'a Interface,
    origin: &'a Origin,
    /// Where the interface stands.
    place: Place,
    readings: &'a [HeaderReading],
    pipelines: &'a [StatedPipeline<'a>],
    captures: &'a [CapturedKernel],
    memory_model: MemoryModel,
}

/// A description, and which others of the project have its identifier.
fn stated_pipeline<'a>(project: &'a Project, file: &'a str) -> Option<StatedPipeline<'a>> {
    let pipeline = project.pipelines.get(file)?;
    let others = project.pipelines.iter().filter(|(other, described)| {
        canonical_name(other) != canonical_name(file)
            && pipeline.identifier.is_some()
            && described.identifier == pipeline.identifier
    });
    let same_identifier = others.map(|(other, _)| other.as_str()).collect();
    Some(StatedPipeline { file, pipeline, same_identifier })
}

fn place_of_interface(project: &Project, interface: &Located<Interface>) -> Place {
    let position = interface.origin.position();
    Place {
        file: Some(project.relative_file(interface)),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        ..Place::default()
    }
}

fn analyse_interface(
    host: &StatedHost<'_>,
    kernel: &Kernel,
    earlier_kernels: &[ReflectedKernel<'_>],
    tests: &TestsByKernel<'_>,
    device: Option<&DeviceLimits>,
) -> Result<Coupling, CampaignError> {
    let interface = &*coupling::merged_interface(host.interface, host.readings);
    // Sizes under the specialization that the host sets, where its values are constants; `couple`
    // tells of the others.
    let declared = reflected_under(kernel, &BTreeMap::new())?.specialization;
    let specialization = coupling::host_constants(interface, &declared);
    let reflection = reflected_by_host(kernel, host.origin, &specialization)?;
    let barriers = coupling::kernel_barriers(&kernel.module, &reflection);
    let test_uses = uses_by_tests(interface, kernel, tests);
    let flow = kernel_flow(kernel, &specialization)
        .map_err(|error| CampaignError::tool(format!("{}: {error}", kernel.name)))?;
    let earlier_kernels: Vec<EarlierKernel> =
        earlier_kernels.iter().map(ReflectedKernel::as_earlier).collect();
    let coupling_input = CouplingInput {
        interface,
        stated: coupling::StatedStructs {
            interface: host.interface,
            place: &host.place,
            readings: host.readings,
        },
        pipelines: host.pipelines,
        earlier: &earlier_kernels,
        captures: host.captures,
        module: &kernel.module,
        reflection: &reflection,
        structure: kernel.structure(),
        flow: &flow,
        barriers: &barriers,
        tests: &test_uses,
        device,
        replay: Some(replayed_run),
        memory_model: host.memory_model,
    };
    Ok(coupling::analyse_coupling(&coupling_input)?)
}

/// A kernel that an interface states to be dispatched before its own.
struct ReflectedKernel<'a> {
    stated: &'a EarlierDispatch,
    kernel: &'a Kernel,
    reflection: Reflection,
    interface: Option<&'a Interface>,
}

impl ReflectedKernel<'_> {
    fn as_earlier(&self) -> EarlierKernel<'_> {
        let Self { stated, kernel, reflection, interface } = self;
        EarlierKernel { stated, module: &kernel.module, reflection, interface: *interface }
    }
}

/// The earlier kernels of an interface, each under the specialization that its own host sets.
fn earlier_kernels<'a>(
    project: &'a Project,
    interface: &'a Interface,
    kernels_by_name: &KernelsByName<'a>,
) -> Result<Vec<ReflectedKernel<'a>>, CampaignError> {
    let stated_kernels = interface
        .earlier
        .iter()
        .filter_map(|stated| Some((stated, *kernels_by_name.get(&stated.kernel)?)));
    let reflected_kernels = stated_kernels.map(|(stated, kernel)| {
        let mut interfaces = project.interfaces.iter();
        let interface = interfaces.find(|interface| interface.kernel == stated.kernel);
        let by_default = reflected_under(kernel, &BTreeMap::new())?;
        let Some(interface) = interface else {
            let reflection = by_default;
            return Ok(ReflectedKernel { stated, kernel, reflection, interface: None });
        };
        let specialization = coupling::host_constants(interface, &by_default.specialization);
        let reflection = reflected_by_host(kernel, &interface.origin, &specialization)?;
        let interface = Some(&interface.value);
        Ok(ReflectedKernel { stated, kernel, reflection, interface })
    });
    reflected_kernels.collect()
}

fn reflected_under(
    kernel: &Kernel,
    specialization: &BTreeMap<u32, u64>,
) -> Result<Reflection, CampaignError> {
    Reflection::of_entry_point(&kernel.module, &kernel.entry, specialization)
        .map_err(|error| CampaignError::tool(format!("{}: {error}", kernel.name)))
}

/// The same under what the host sets. The module has sizes under its own values: where it has none
/// under the host's, these are at fault.
fn reflected_by_host(
    kernel: &Kernel,
    interface: &Origin,
    specialization: &BTreeMap<u32, u64>,
) -> Result<Reflection, CampaignError> {
    let reflection = Reflection::of_entry_point(&kernel.module, &kernel.entry, specialization);
    reflection.map_err(|error| {
        let message = format!("`{}` with the constants that the host sets: {error}", kernel.name);
        CampaignError::Input(vec![interface.at("specialization").error("bad-value", message)])
    })
}

fn kernel_flow<'a>(
    kernel: &'a Kernel,
    specialization: &BTreeMap<u32, u64>,
) -> Result<KernelFlow<'a>, FlowError> {
    match kernel.measured() {
        Some(measured) => KernelFlow::of_marked(
            &measured.structure,
            &measured.module,
            &kernel.entry,
            specialization,
        ),
        None => KernelFlow::of_production(&kernel.module, &kernel.entry, specialization),
    }
}

/// A run on the sequential engine that shows what a check says of a kernel.
fn replayed_run(job: &Job, memory_model: MemoryModel) -> Result<Run, ExecError> {
    let mut engine = SequentialExecutor::default();
    engine.settings.memory_model = memory_model;
    engine.run(job, &mut Unobserved)
}

/// Every dispatch of the kernel by a test.
fn uses_by_tests(
    interface: &Interface,
    kernel: &Kernel,
    tests: &TestsByKernel<'_>,
) -> Vec<TestUse> {
    let told_places = ToldPlaces::of_kernel(interface, kernel);
    let mut test_uses = Vec::new();
    for (test, facts) in tests.0.get(&interface.kernel).into_iter().flatten() {
        let Ok(plan) = &test.job_plan else { continue };
        let out_of_bounds = found_out_of_bounds(interface.kernel, facts.findings);
        for (number, (dispatch, job)) in
            test.test.dispatches.iter().zip(&plan.job.dispatches).enumerate()
        {
            if dispatch.kernel != interface.kernel {
                continue;
            }
            let accessed_bytes = facts.touched.get(number);
            let of_buffers = |binding: &&vkcert_exec::JobBinding| {
                binding.view.image().is_none() && binding.view.sampler().is_none()
            };
            let buffers = job.bindings.iter().filter(of_buffers).map(|binding| {
                let binding_key = (binding.set, binding.binding);
                // A binding that a complete run never accessed was touched in no byte.
                let touched = accessed_bytes
                    .map(|accessed_bytes| accessed_bytes.get(&binding_key).copied().unwrap_or(0));
                (binding_key, BufferUse { bound: binding.range, touched })
            });
            test_uses.push(TestUse {
                name: test.test.id.to_string(),
                groups: dispatch.groups,
                told: told_places.values_of(test.test, dispatch, &job.specialization),
                buffers: buffers.collect(),
                images: bound_images(&plan.job, job),
                specialization: job.specialization.clone(),
                out_of_bounds: out_of_bounds.clone(),
            });
        }
    }
    test_uses
}

/// The images that a dispatch binds, each as large as its view shows it.
fn bound_images(job: &Job, dispatch: &JobDispatch) -> BTreeMap<(u32, u32), ImageUse> {
    let images = dispatch.bindings.iter().filter(|binding| binding.array_index == 0);
    let images = images.filter_map(|binding| {
        let view = binding.view.image()?;
        let mut images = job.resources.images.iter();
        let shape = images.find(|image| image.buffer as usize == binding.buffer)?.shape;
        let axes = shape.level_extent(view.level)[..shape.dim.axes()].to_vec();
        let (layers, levels) = (view.layers, view.levels);
        Some(((binding.set, binding.binding), ImageUse { axes, layers, levels }))
    });
    images.collect()
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

/// What was found out of bounds in a kernel, by the word offset of the instruction.
fn found_out_of_bounds(kernel: KernelName, findings: &[Finding]) -> BTreeMap<u32, String> {
    let is_of_kernel = |finding: &&Finding| {
        let of_module = finding.module.as_ref().map(|key| key.kernel);
        finding.kernel.or(of_module) == Some(kernel)
    };
    findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::OutOfBounds)
        .filter(is_of_kernel)
        .filter_map(|finding| {
            let offset = finding.place.as_ref()?.instruction?;
            Some((offset, finding.message.clone()))
        })
        .collect()
}

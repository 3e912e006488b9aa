//! One kernel with its host: what the project says of it, and what tests dispatch of it.
//!
//! Knows: an interface, its kernel, the kernels that it states to come before, and the tests of the
//! project. Promises: all that an analysis reads is a member of [`CoupledKernel`], so that a cache can
//! name it.

use super::super::kernel::{Kernel, KernelsByName, kernels_by_name};
use super::super::test_run::PreparedTest;
use super::super::told_values::ToldPlaces;
use super::{CouplingSources, HostReadings, TestFacts};
use crate::CampaignError;
use std::borrow::Cow;
use std::collections::BTreeMap;
use vkcert_coupling::{
    self as coupling, BufferUse, Coupling, CouplingInput, DeviceLimits, EarlierKernel, FlowError,
    ImageUse, KernelFlow, StatedPipeline, TestUse,
};
use vkcert_exec::{ExecError, Executor, Job, JobBinding, JobDispatch, Run, Unobserved};
use vkcert_model::evidence::{CheckStatus, CouplingCheck, CouplingCheckName};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::KernelName;
use vkcert_model::path::canonical_name;
use vkcert_model::place::Place;
use vkcert_model::project::MemoryModel;
use vkcert_model::requirement::{
    CaptureReading, CapturedKernel, EarlierDispatch, HeaderReading, Interface,
};
use vkcert_requirement::{Located, Project, trace};
use vkcert_sequential::SequentialExecutor;
use vkcert_spirv::interface::Reflection;

/// What hosts of a project's kernels are told by.
pub(super) struct Hosts<'a> {
    sources: &'a CouplingSources<'a>,
    kernels: KernelsByName<'a>,
    tests: TestsByKernel<'a>,
}

impl<'a> Hosts<'a> {
    pub(super) fn of_sources(sources: &'a CouplingSources<'a>) -> Self {
        Self {
            sources,
            kernels: kernels_by_name(sources.kernels),
            tests: TestsByKernel::of_tests(sources.prepared_tests, sources.test_facts),
        }
    }

    /// The kernel of an interface; none where it is not among those of the campaign.
    pub(super) fn coupled_kernel(
        &self,
        interface: &'a Located<Interface>,
    ) -> Option<CoupledKernel<'a>> {
        let CouplingSources { project, host_readings, device, .. } = *self.sources;
        let kernel = *self.kernels.get(&interface.kernel)?;
        let HostReadings { headers, captures } = host_readings;
        let readings = headers.get(&interface.kernel).map_or(&[][..], Vec::as_slice);
        let captures = captures.by_kernel.get(&interface.kernel);
        let files = interface.pipeline.iter().map(|pipeline| pipeline.file.as_str());
        let merged = coupling::merged_interface(&interface.value, readings);
        let tests = uses_by_tests(&merged, kernel, &self.tests);
        Some(CoupledKernel {
            interface,
            kernel,
            place: place_of_interface(project, interface),
            readings,
            merged,
            pipelines: files.filter_map(|file| stated_pipeline(project, file)).collect(),
            captures: captures.map_or(&[][..], Vec::as_slice),
            earlier: self.stated_earlier(interface),
            tests,
            device,
            memory_model: project.settings.value.memory_model,
        })
    }

    /// The checks, with what kernels that were set aside leave to this one as its interface states:
    /// that cannot be checked.
    pub(super) fn with_set_aside(
        &self,
        interface: &Interface,
        mut checks: Vec<CouplingCheck>,
    ) -> Vec<CouplingCheck> {
        for earlier in &interface.earlier {
            if self.sources.project.set_aside.iter().any(|row| row.settings.name == earlier.kernel)
            {
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
                let place = checks.partition_point(|known| known.check <= row.check);
                checks.insert(place, row);
            }
        }
        checks
    }

    /// Diagnostics that name no place are of the interface's file.
    pub(super) fn in_file_of_interface(
        &self,
        interface: &Located<Interface>,
        failure: CampaignError,
    ) -> CampaignError {
        let CampaignError::Input(found) = failure else { return failure };
        let file = self.sources.project.relative_file(interface);
        let placed = found.into_iter().map(|diagnostic| match diagnostic.location {
            Some(_) => diagnostic,
            None => diagnostic.in_file(file.clone()),
        });
        CampaignError::Input(placed.collect())
    }

    /// The kernels that an interface states to come before, of those that are there.
    fn stated_earlier(&self, interface: &'a Interface) -> Vec<StatedEarlier<'a>> {
        let stated = interface.earlier.iter().filter_map(|stated| {
            let kernel = *self.kernels.get(&stated.kernel)?;
            let mut interfaces = self.sources.project.interfaces.iter();
            let interface = interfaces.find(|interface| interface.kernel == stated.kernel);
            Some(StatedEarlier { stated, kernel, interface })
        });
        stated.collect()
    }
}

/// A kernel with its host.
pub(super) struct CoupledKernel<'a> {
    /// What the project says of the host.
    pub(super) interface: &'a Located<Interface>,
    pub(super) kernel: &'a Kernel,
    /// Where the interface stands.
    pub(super) place: Place,
    /// What was read of the headers that it names.
    pub(super) readings: &'a [HeaderReading],
    /// The interface with these merged in.
    pub(super) merged: Cow<'a, Interface>,
    pub(super) pipelines: Vec<StatedPipeline<'a>>,
    pub(super) captures: &'a [CapturedKernel],
    pub(super) earlier: Vec<StatedEarlier<'a>>,
    /// Every dispatch of the kernel by a test.
    pub(super) tests: Vec<TestUse>,
    pub(super) device: Option<&'a DeviceLimits>,
    pub(super) memory_model: MemoryModel,
}

/// A kernel that an interface states to be dispatched before its own.
pub(super) struct StatedEarlier<'a> {
    pub(super) stated: &'a EarlierDispatch,
    pub(super) kernel: &'a Kernel,
    /// Its own interface.
    pub(super) interface: Option<&'a Located<Interface>>,
}

/// The same under the specialization that its own host sets.
struct ReflectedKernel<'a> {
    earlier: &'a StatedEarlier<'a>,
    reflection: Reflection,
}

impl<'a> StatedEarlier<'a> {
    fn reflected(&'a self) -> Result<ReflectedKernel<'a>, CampaignError> {
        let by_default = reflected_under(self.kernel, &BTreeMap::new())?;
        let reflection = match self.interface {
            None => by_default,
            Some(interface) => {
                let constants = coupling::host_constants(interface, &by_default.specialization);
                reflected_by_host(self.kernel, interface, &constants)?
            }
        };
        Ok(ReflectedKernel { earlier: self, reflection })
    }
}

impl ReflectedKernel<'_> {
    fn as_earlier(&self) -> EarlierKernel<'_> {
        let StatedEarlier { stated, kernel, interface } = self.earlier;
        EarlierKernel {
            stated,
            module: &kernel.module,
            reflection: &self.reflection,
            interface: interface.map(|interface| &interface.value),
        }
    }
}

impl CoupledKernel<'_> {
    /// Graph and checks, from nothing but the members and the modules of their kernels.
    pub(super) fn analyse(&self) -> Result<Coupling, CampaignError> {
        let Self { kernel, merged, .. } = self;
        let earlier_kernels: Vec<ReflectedKernel<'_>> =
            self.earlier.iter().map(StatedEarlier::reflected).collect::<Result<_, _>>()?;
        let earlier: Vec<EarlierKernel<'_>> =
            earlier_kernels.iter().map(ReflectedKernel::as_earlier).collect();
        // Sizes under the specialization that the host sets, where its values are constants; `couple`
        // tells of the others.
        let declared = reflected_under(kernel, &BTreeMap::new())?.specialization;
        let specialization = coupling::host_constants(merged, &declared);
        let reflection = reflected_by_host(kernel, self.interface, &specialization)?;
        let barriers = coupling::kernel_barriers(&kernel.module, &reflection);
        let flow = kernel_flow(kernel, &specialization)
            .map_err(|error| CampaignError::tool(format!("{}: {error}", kernel.name)))?;
        let coupling_input = CouplingInput {
            interface: merged,
            stated: coupling::StatedStructs {
                interface: &self.interface.value,
                place: &self.place,
                readings: self.readings,
            },
            pipelines: &self.pipelines,
            earlier: &earlier,
            captures: self.captures,
            module: &kernel.module,
            reflection: &reflection,
            structure: kernel.structure(),
            flow: &flow,
            barriers: &barriers,
            tests: &self.tests,
            device: self.device,
            replay: Some(replayed_run),
            memory_model: self.memory_model,
        };
        Ok(coupling::analyse_coupling(&coupling_input)?)
    }

    pub(super) fn capture_readings(&self) -> Vec<CaptureReading> {
        self.captures.iter().map(|captured| captured.reading.clone()).collect()
    }
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
    interface: &Located<Interface>,
    specialization: &BTreeMap<u32, u64>,
) -> Result<Reflection, CampaignError> {
    let reflection = Reflection::of_entry_point(&kernel.module, &kernel.entry, specialization);
    reflection.map_err(|error| {
        let message = format!("`{}` with the constants that the host sets: {error}", kernel.name);
        CampaignError::Input(vec![
            interface.origin.at("specialization").error("bad-value", message),
        ])
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
            let of_buffers = |binding: &&JobBinding| {
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

//! Data and control coupling between the host's dispatch and the kernel.
//!
//! Knows: an interface description (`[[interface]]`), the kernel's module, optionally its source
//! structure, the sizes that tests use and a device's limits.
//! Promises: every check is answered, `holds` only by proof, `refuted` with values or places and a
//! `coupling` finding, `undetermined` with the reason.
//! Does not cover: the host program itself; the interface is what its author states of it.

mod barriers;
mod bounds;
mod captures;
#[cfg(test)]
mod check_tests;
mod checks;
mod constants;
mod cover;
mod earlier;
mod expressions;
pub mod graph;
mod images;
mod layout;
mod merging;
mod replay;
mod rows;
mod subject_nodes;

pub use constants::host_constants;
pub use earlier::EarlierKernel;
pub use graph::CouplingGraph;
pub use layout::member_offsets;
pub use merging::{StatedStructs, merged_interface};

use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::{ExecError, Job, Run};
use vkcert_instrument::{InstrumentError, marked_values};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{CouplingCheck, CouplingEvidence};
use vkcert_model::finding::Finding;
use vkcert_model::id::DecisionId;
use vkcert_model::place::Place;
use vkcert_model::project::MemoryModel;
use vkcert_model::requirement::{CapturedKernel, Interface, OfflinePipeline};
use vkcert_model::structure::KernelStructure;
use vkcert_requirement::host::decide::{self, ToldValues};
use vkcert_spirv::barriers::barrier_number;
use vkcert_spirv::flow::{CallResult, KernelDependences, kernel_dependences};
use vkcert_spirv::interface::{ReflectError, Reflection};
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::pairs::{BarrierRegion, barrier_regions};
use vkcert_spirv::uniformity::divergent_barriers;

/// What the coupling analysis of one kernel reads.
#[derive(Debug, Clone, Copy)]
pub struct CouplingInput<'a> {
    /// What the project says of the host, headers merged in (see [`merged_interface`]).
    pub interface: &'a Interface,
    /// What it says of structs, source by source.
    pub stated: StatedStructs<'a>,
    /// Descriptions of pipelines that the host creates of the kernel.
    pub pipelines: &'a [StatedPipeline<'a>],
    /// Kernels that the host dispatches before, in the order of the interface.
    pub earlier: &'a [EarlierKernel<'a>],
    /// What captures of the host program tell of the kernel, in the interface's order.
    pub captures: &'a [CapturedKernel],
    /// The kernel's production module.
    pub module: &'a Module,
    /// Under the specialization that the host sets.
    pub reflection: &'a Reflection,
    /// For decision nodes.
    pub structure: Option<&'a KernelStructure>,
    /// What the kernel's accesses, decisions and barriers depend on.
    pub flow: &'a KernelFlow<'a>,
    /// Every barrier of the kernel; see [`kernel_barriers`].
    pub barriers: &'a [Barrier],
    /// What tests dispatch of the kernel.
    pub tests: &'a [TestUse],
    /// None: the limits that every Vulkan device has.
    pub device: Option<&'a DeviceLimits>,
    /// Runs a job on the sequential engine, to show an access out of bounds, a race or a barrier
    /// that not all reach; none: nothing is run, and nothing of that is refuted.
    pub replay: Option<ReplayEngine>,
    /// What orders memory.
    pub memory_model: MemoryModel,
}

/// A description of a pipeline that the host creates of the kernel.
#[derive(Debug, Clone)]
pub struct StatedPipeline<'a> {
    /// Its file, relative to the project.
    pub file: &'a str,
    /// What it says.
    pub pipeline: &'a OfflinePipeline,
    /// The files of other pipelines of the project that have the same identifier.
    pub same_identifier: Vec<&'a str>,
}

/// What the kernel's accesses, decisions and barriers depend on, in one of its modules.
#[derive(Debug, Clone)]
pub struct KernelFlow<'a> {
    /// The marked module; the production module of a kernel that has none.
    pub module: &'a Module,
    /// By the instructions and ids of that module.
    pub dependences: KernelDependences,
    /// The marker calls whose values are those of decisions and their conditions, by their results.
    pub marked_decisions: BTreeMap<Id, DecisionId>,
    /// What lies between the barriers of the workgroup.
    pub regions: Vec<BarrierRegion>,
}

impl<'a> KernelFlow<'a> {
    /// The flow of a kernel with marked text.
    pub fn of_marked(
        structure: &KernelStructure,
        marked_module: &'a Module,
        entry_name: &str,
        specialization: &BTreeMap<u32, u64>,
    ) -> Result<Self, FlowError> {
        let marked_values = marked_values(structure, marked_module)?;
        let call_results = marked_values.iter().map(|(call, marked)| {
            let result = match marked.decision {
                Some(_) => CallResult::StandIn(marked.value),
                None => CallResult::Passed(marked.value),
            };
            (*call, result)
        });
        let call_results = call_results.collect();
        let marked_decisions =
            marked_values.iter().filter_map(|(call, marked)| Some((*call, marked.decision?)));
        let dependences =
            kernel_dependences(marked_module, entry_name, specialization, &call_results)?;
        Ok(Self {
            module: marked_module,
            regions: regions_of(marked_module, entry_name, specialization, &dependences)?,
            dependences,
            marked_decisions: marked_decisions.collect(),
        })
    }

    /// The flow of a kernel without, in which no decisions can be told.
    pub fn of_production(
        module: &'a Module,
        entry_name: &str,
        specialization: &BTreeMap<u32, u64>,
    ) -> Result<Self, FlowError> {
        let call_results = BTreeMap::new();
        let dependences = kernel_dependences(module, entry_name, specialization, &call_results)?;
        Ok(Self {
            module,
            regions: regions_of(module, entry_name, specialization, &dependences)?,
            dependences,
            marked_decisions: BTreeMap::new(),
        })
    }
}

/// The regions with the accesses to what others see.
fn regions_of(
    module: &Module,
    entry_name: &str,
    specialization: &BTreeMap<u32, u64>,
    dependences: &KernelDependences,
) -> Result<Vec<BarrierRegion>, ReflectError> {
    let accesses = dependences.accesses.iter().map(|access| access.instruction).collect();
    barrier_regions(module, entry_name, specialization, &accesses)
}

/// The flow of a kernel cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// A marker call is not as the front end wrote it.
    #[error(transparent)]
    Markers(#[from] InstrumentError),
    /// The entry point cannot be read.
    #[error(transparent)]
    EntryPoint(#[from] ReflectError),
}

/// Runs a job on the sequential engine.
pub type ReplayEngine = fn(&Job, MemoryModel) -> Result<Run, ExecError>;

/// A barrier of the kernel and whether all invocations of a workgroup reach it alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Barrier {
    /// Its number among the control barriers of the module, from 0.
    pub number: u32,
    /// Where the barrier stands in the source.
    pub place: Place,
    /// Whether the invocations of a workgroup reach it alike.
    pub control: BarrierControl,
}

/// Whether the invocations of a workgroup reach a barrier alike.
#[derive(Debug, Clone, PartialEq)]
pub enum BarrierControl {
    /// They do.
    Uniform,
    /// It stands under a branch that invocations of one workgroup can take differently.
    Divergent {
        /// The branch.
        branch: Place,
        /// What its condition depends on, in words.
        reason: String,
    },
    /// It could not be decided.
    Unknown {
        /// What keeps it from being decided.
        reason: String,
    },
}

/// The barriers that the entry point reaches, in module order, as the uniformity analysis sees
/// them.
pub fn kernel_barriers(module: &Module, reflection: &Reflection) -> Vec<Barrier> {
    let divergent_list = divergent_barriers(module, reflection.function);
    let reached_functions = reflection.functions.iter().filter_map(|id| module.function_by_id(*id));
    let mut barrier_indices: Vec<usize> =
        reached_functions.flat_map(|function| function.range.range()).collect();
    barrier_indices.sort_unstable();
    barrier_indices.retain(|index| module.instructions[*index].op == Op::ControlBarrier);
    let barrier_at = |index: usize| {
        let divergent_barrier =
            divergent_list.iter().find(|divergent| divergent.instruction == index);
        let control = divergent_barrier.map_or(BarrierControl::Uniform, |divergent_barrier| {
            BarrierControl::Divergent {
                branch: divergent_barrier.branch.clone(),
                reason: format!("its condition depends on {}", divergent_barrier.divergence.what),
            }
        });
        Barrier { number: barrier_number(module, index), place: module.place_of(index), control }
    };
    barrier_indices.into_iter().map(barrier_at).collect()
}

/// One dispatch of a kernel by a test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestUse {
    /// Test id, for messages.
    pub name: String,
    /// Workgroup counts in x, y and z.
    pub groups: [u32; 3],
    /// Values of host parameters and locals, as far as the test's push constants and specialization
    /// tell.
    pub told: ToldValues,
    /// By set and binding.
    pub buffers: BTreeMap<(u32, u32), BufferUse>,
    /// By set and binding.
    pub images: BTreeMap<(u32, u32), ImageUse>,
    /// Raw bits of the specialization constants that it sets, by SpecId.
    pub specialization: BTreeMap<u32, u64>,
    /// What the sequential engine found out of bounds in the kernel in any dispatch of the test, by
    /// the word offset of the instruction in the production module.
    pub out_of_bounds: BTreeMap<u32, String>,
}

/// The size of an image in a test, as its view shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageUse {
    /// Texels of the largest level on each axis.
    pub axes: Vec<u32>,
    /// Layers, each face of a cube counted.
    pub layers: u32,
    /// Mip levels.
    pub levels: u32,
}

/// The bytes of a buffer in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferUse {
    /// Bytes bound.
    pub bound: u64,
    /// Bytes up to the last one that the kernel accessed, where an engine told.
    pub touched: Option<u64>,
}

/// Limits of a device that couple host and kernel (Vulkan specification, "Limits").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceLimits {
    /// maxComputeWorkGroupCount
    pub groups: [u32; 3],
    /// maxComputeWorkGroupSize
    pub local_size: [u32; 3],
    /// maxComputeWorkGroupInvocations
    pub invocations: u32,
    /// maxPushConstantsSize
    pub push_constant_bytes: u32,
    /// maxComputeSharedMemorySize
    pub workgroup_bytes: u32,
}

impl DeviceLimits {
    /// What every Vulkan 1.0 device has at least (Vulkan specification, "Required Limits").
    pub const GUARANTEED: DeviceLimits = DeviceLimits {
        groups: [65_535; 3],
        local_size: [128, 128, 64],
        invocations: 128,
        push_constant_bytes: 128,
        workgroup_bytes: 16_384,
    };
}

/// The result for one kernel.
#[derive(Debug, Clone)]
pub struct Coupling {
    /// Host values, kernel and what connects them.
    pub graph: CouplingGraph,
    /// In the order of [`vkcert_model::evidence::CouplingCheckName`].
    pub checks: Vec<CouplingCheck>,
    /// One per refuted check.
    pub findings: Vec<Finding>,
}

/// Analyses one kernel; a diagnostic means that the interface itself is wrong (an unknown name, a
/// syntax error).
pub fn analyse_coupling(input: &CouplingInput<'_>) -> Result<Coupling, Diagnostic> {
    let host = decide::HostModel::from_interface(input.interface, input.reflection.local_size)?;
    let expressions = expressions::HostExpressions::from_interface(&host, input)?;
    let graph = graph::build_graph(input, &host, &expressions);
    let subject_nodes = subject_nodes::SubjectNodes::of_graph(&graph);
    let mut rows = rows::CheckRows::new(input.interface.source.clone(), subject_nodes);
    let varying = checks::VaryingSizes::of_input(input);
    let host_checks = checks::HostChecks { input, host: &host, expressions: &expressions, varying };
    host_checks.check_dispatch(&mut rows);
    host_checks.check_overflow(&mut rows);
    host_checks.check_local_size(&mut rows);
    let known_names: BTreeSet<&str> = host.names.iter().map(|name| name.name.as_str()).collect();
    input.stated.check_sources(&mut rows);
    layout::check_layouts(&mut rows, input, &known_names, &host_checks.varying);
    host_checks.check_buffers(&mut rows);
    images::check_images(&mut rows, input);
    host_checks.check_image_sizes(&mut rows);
    earlier::check_earlier(&mut rows, input);
    host_checks.check_limits(&mut rows);
    host_checks.check_specialization(&mut rows);
    host_checks.check_pipelines(&mut rows);
    barriers::check_barriers(&mut rows, input, &host, &expressions);
    bounds::check_index_bounds(&mut rows, input, &host, &expressions);
    captures::check_captures(&mut rows, input, &host, &expressions);
    rows.checks.sort_by(|one, other| one.check.cmp(&other.check));
    Ok(Coupling { graph, checks: rows.checks, findings: rows.findings })
}

impl Coupling {
    /// What evidence stores, and the findings.
    pub fn into_evidence(
        self,
        kernel: vkcert_model::id::KernelName,
    ) -> (CouplingEvidence, Vec<Finding>) {
        let evidence = CouplingEvidence {
            headers: Vec::new(),
            captures: Vec::new(),
            definition: None,
            kernel,
            nodes: self.graph.nodes(),
            edges: self.graph.edges(),
            checks: self.checks,
        };
        (evidence, self.findings)
    }
}

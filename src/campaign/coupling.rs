//! The coupling analysis of a project: every interface against its kernel's module and the tests
//! that use it.

use super::engines::{Engines, Vulkan};
use super::kernel::Kernel;
use super::test_run::{PreparedTest, TestRun};
use crate::CampaignError;
use std::collections::BTreeMap;
use vkcert_coupling::{
    self as coupling, BufferUse, Coupling, CouplingInput, DeviceLimits, TestUse,
};
use vkcert_model::evidence::{CouplingEvidence, EngineIdentity, KernelFinding};
use vkcert_model::finding::FindingKind;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::Dispatch;
use vkcert_model::requirement::{HostMember, Interface};
use vkcert_model::verdict::EngineName;
use vkcert_requirement::Project;
use vkcert_spirv::interface::Reflection;

/// The coupling of one kernel.
pub struct KernelCoupling {
    /// Name of the kernel.
    pub kernel: KernelName,
    /// Graph and checks.
    pub coupling: Coupling,
}

/// Analyses every interface of the project. A kernel without interface has no host to be coupled
/// with, and says so in `missing`.
pub fn analyse(
    project: &Project,
    kernels: &[Kernel],
    prepared: &[PreparedTest],
    touched: &[Touched],
    device: Option<&DeviceLimits>,
) -> Result<Vec<KernelCoupling>, CampaignError> {
    let mut results = Vec::new();
    let mut diagnostics = Vec::new();
    for interface in &project.interfaces {
        let Some(kernel) = kernels.iter().find(|kernel| kernel.name == interface.kernel.as_str())
        else {
            continue;
        };
        match analyse_one(&interface.value, kernel, prepared, touched, device) {
            Ok(coupling) => results.push(KernelCoupling { kernel: interface.kernel, coupling }),
            Err(CampaignError::Input(found)) => {
                let file = project.relative_file(interface);
                diagnostics.extend(found.into_iter().map(|diagnostic| match diagnostic.location {
                    Some(_) => diagnostic,
                    None => diagnostic.in_file(file.clone()),
                }));
            }
            Err(other) => return Err(other),
        }
    }
    if diagnostics.is_empty() { Ok(results) } else { Err(CampaignError::Input(diagnostics)) }
}

/// The limits of the device that runs.
pub fn device_limits(engines: &Engines) -> Option<DeviceLimits> {
    match &engines.vulkan {
        Vulkan::Ready(executor) => {
            let limits = &executor.device().limits;
            Some(DeviceLimits {
                groups: limits.workgroup_count,
                local_size: limits.workgroup_size,
                invocations: limits.workgroup_invocations,
                push_constant_bytes: limits.push_constants,
                workgroup_bytes: limits.workgroup_memory,
            })
        }
        Vulkan::NotRun { .. } | Vulkan::NotAsked => None,
    }
}

/// The same from the identity that evidence stores of a device.
pub fn device_limits_of(engines: &[EngineIdentity]) -> Option<DeviceLimits> {
    let device = engines.iter().find(|row| row.engine == EngineName::Vulkan && row.ran)?;
    let text = |name: &str| device.identity.get(name);
    let number = |name: &str| text(name)?.parse().ok();
    let triple = |name: &str| {
        let parts: Vec<u32> =
            text(name)?.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        parts.try_into().ok()
    };
    Some(DeviceLimits {
        groups: triple("maxComputeWorkGroupCount")?,
        local_size: triple("maxComputeWorkGroupSize")?,
        invocations: number("maxComputeWorkGroupInvocations")?,
        push_constant_bytes: number("maxPushConstantsSize")?,
        workgroup_bytes: number("maxComputeSharedMemorySize")?,
    })
}

/// What evidence stores, and the findings of refuted checks.
pub fn evidence(results: &[KernelCoupling]) -> (Vec<CouplingEvidence>, Vec<KernelFinding>) {
    let stored = results.iter().map(|row| row.coupling.evidence(&row.kernel)).collect();
    let finding = |row: &KernelCoupling, finding: &vkcert_model::finding::Finding| {
        debug_assert_eq!(finding.kind, FindingKind::Coupling);
        KernelFinding { kernel: row.kernel, engine: None, test: None, finding: finding.clone() }
    };
    let findings = results
        .iter()
        .flat_map(|row| row.coupling.findings.iter().map(move |found| finding(row, found)));
    (stored, findings.collect())
}

fn analyse_one(
    interface: &Interface,
    kernel: &Kernel,
    prepared: &[PreparedTest],
    touched: &[Touched],
    device: Option<&DeviceLimits>,
) -> Result<Coupling, CampaignError> {
    // Sizes under the specialization that the host sets, where its values are constants; `couple`
    // tells of the others.
    let constants = vkcert_requirement::host::specialized_values(interface).into_iter();
    let specialization: BTreeMap<u32, u64> =
        constants.filter_map(|(id, value)| Some((id, u64::try_from(value?).ok()?))).collect();
    let reflection = Reflection::of_entry_point(&kernel.module, &kernel.entry, &specialization)
        .map_err(|error| CampaignError::tool(format!("{}: {error}", kernel.name)))?;
    let barriers = coupling::barriers(&kernel.module, &reflection);
    let tests = uses(interface, prepared, touched);
    let input = CouplingInput {
        interface,
        module: &kernel.module,
        reflection: &reflection,
        structure: kernel.measured().map(|measured| &measured.structure),
        barriers: &barriers,
        tests: &tests,
        device,
    };
    Ok(coupling::couple(&input)?)
}

/// Every dispatch of the kernel by a test.
fn uses(interface: &Interface, prepared: &[PreparedTest], touched: &[Touched]) -> Vec<TestUse> {
    let mut uses = Vec::new();
    for (test, touched) in prepared.iter().zip(touched) {
        let Ok(plan) = &test.plan else { continue };
        for (number, (dispatch, job)) in
            test.test.dispatches.iter().zip(&plan.job.dispatches).enumerate()
        {
            if dispatch.kernel != interface.kernel {
                continue;
            }
            let accessed = touched.get(number);
            let of_buffers = |binding: &&vkcert_exec::JobBinding| {
                binding.view.image().is_none() && binding.view.sampler().is_none()
            };
            let buffers = job.bindings.iter().filter(of_buffers).map(|binding| {
                let key = (binding.set, binding.binding);
                // A binding that a complete run never accessed was touched in no byte.
                let touched = accessed.map(|accessed| accessed.get(&key).copied().unwrap_or(0));
                (key, BufferUse { bound: binding.range, touched })
            });
            uses.push(TestUse {
                name: test.test.id.to_string(),
                groups: dispatch.groups,
                parameters: parameters(interface, dispatch),
                buffers: buffers.collect(),
            });
        }
    }
    uses
}

/// What each dispatch of a test accessed, by set and binding; empty where the sequential engine did
/// not tell.
pub type Touched = Vec<BTreeMap<(u32, u32), u64>>;

/// From the runs of a campaign.
pub fn touched(runs: &[Vec<TestRun>]) -> Vec<Touched> {
    let row = |row: &Vec<TestRun>| {
        row.iter()
            .find(|run| run.engine == EngineName::Sequential)
            .map(|run| run.counts.touched.clone())
            .unwrap_or_default()
    };
    runs.iter().map(row).collect()
}

/// Host parameters that the host stores unchanged in a push constant: their values are the test's.
fn parameters(interface: &Interface, dispatch: &Dispatch) -> BTreeMap<String, i64> {
    let mut values = BTreeMap::new();
    let Some(constants) =
        dispatch.push_constants.as_ref().and_then(|datum| serde_json::to_value(datum).ok())
    else {
        return values;
    };
    let members = interface.push_constants.iter().flat_map(|block| &block.members);
    for HostMember { name, value, .. } in members {
        let parameter = value.as_deref().unwrap_or(name).trim();
        let known = interface.parameters.iter().any(|known| known.name == parameter);
        if let (true, Some(value)) =
            (known, constants.get(name).and_then(serde_json::Value::as_i64))
        {
            values.insert(parameter.to_owned(), value);
        }
    }
    values
}

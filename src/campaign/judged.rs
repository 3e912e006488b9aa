//! Tests of a campaign that judge nothing their kernels store, by the kernels' code or by altered
//! contents.
//!
//! Promises: such a test is `undetermined` wherever it passed; `vkcert run` knows no such rule.

use super::assemble::{self, LaidOut};
use super::kernel::Kernel;
use super::test_run::{PreparedTest, TestRun};
use crate::CampaignError;
use std::collections::BTreeMap;
use vkcert_exec::flow::BindingNames;
use vkcert_exec::prepare::Prepared;
use vkcert_exec::{flow, stored};
use vkcert_model::altered::failed_alterations;
use vkcert_model::flow::DispatchFlow;
use vkcert_model::id::KernelName;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::judged::TestObservation;
use vkcert_spirv::flow::{MemoryFlow, flows_or_switched_off};
use vkcert_spirv::interface::{ReflectError, Reflection};

/// What a kernel can store.
struct KernelFlow {
    flows: Vec<MemoryFlow>,
    names: BindingNames,
}

/// By name and specialization: it is the same in every test.
type KernelFlows = BTreeMap<(KernelName, BTreeMap<u32, u64>), KernelFlow>;

/// What each test that can run expects, and what its dispatches can store.
pub fn lay_open(prepared: &[PreparedTest], kernels: &[Kernel]) -> Result<LaidOut, CampaignError> {
    let mut known = KernelFlows::new();
    let mut laid_out = LaidOut::new();
    for test in prepared {
        let Ok(plan) = &test.plan else { continue };
        laid_out.insert(
            test.test.id,
            (stored::expectations(plan), dispatch_flows(plan, kernels, &mut known)?),
        );
    }
    Ok(laid_out)
}

fn dispatch_flows(
    plan: &Prepared,
    kernels: &[Kernel],
    known: &mut KernelFlows,
) -> Result<Vec<DispatchFlow>, CampaignError> {
    let mut found = Vec::new();
    for (number, dispatch) in plan.job.dispatches.iter().enumerate() {
        let of = &plan.modules[dispatch.module];
        let key = (of.kernel, of.specialization.clone());
        if !known.contains_key(&key) {
            let kernel = kernels.iter().find(|kernel| kernel.name == of.kernel.as_str());
            let kernel = kernel.expect("a prepared test has its kernels");
            let made = kernel_flow(kernel, &of.specialization);
            let made = made
                .map_err(|error| CampaignError::tool(format!("kernel `{}`: {error}", of.kernel)))?;
            known.insert(key.clone(), made);
        }
        let KernelFlow { flows, names } = &known[&key];
        found.push(flow::of_dispatch(&plan.job, number, &of.kernel, flows, names));
    }
    Ok(found)
}

fn kernel_flow(
    kernel: &Kernel,
    specialization: &BTreeMap<u32, u64>,
) -> Result<KernelFlow, ReflectError> {
    let flows = flows_or_switched_off(&kernel.module, &kernel.entry, specialization)?;
    let resources = Reflection::of_entry_point(&kernel.module, &kernel.entry, specialization)?
        .resources
        .into_iter();
    let named = resources
        .map(|resource| ((resource.set, resource.binding), resource.block_name.or(resource.name)));
    Ok(KernelFlow {
        flows,
        names: named.filter_map(|(place, name)| Some((place, name?))).collect(),
    })
}

/// Takes the passes of tests that judge nothing back.
pub fn doubt_idle_tests(
    prepared: &[PreparedTest],
    laid_out: &LaidOut,
    kernels: &[Kernel],
    runs: &mut [Vec<TestRun>],
) {
    let codes = assemble::codes(kernels);
    for (test, row) in prepared.iter().zip(runs) {
        let Some((expected, flows)) = laid_out.get(&test.test.id) else { continue };
        let by_code = TestObservation::from_expectations(expected, flows, &codes);
        let sequential = row.iter().find(|run| run.engine == EngineName::Sequential);
        let observation =
            match sequential.and_then(|run| failed_alterations(run.verdict, &run.altered)) {
                Some(altered) => by_code.confirmed_by_alterations(altered, flows),
                None => by_code,
            };
        let Some(reason) = observation.emptiness_reason() else { continue };
        let passed = row.iter_mut().filter(|run| run.verdict == Verdict::Pass);
        passed.for_each(|run| run.doubt(reason.clone()));
    }
}

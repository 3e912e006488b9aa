//! Tests of a campaign that judge nothing their kernels store, by the kernels' code or by altered
//! contents.
//!
//! Promises: such a test is `undetermined` wherever it passed; `vkcert run` knows no such rule.

use super::assemble::{self, LaidOut, LaidOutTest};
use super::configuration::Specialization;
use super::kernel::Kernel;
use super::test_run::{PreparedTest, TestRun};
use crate::CampaignError;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use vkcert_exec::flow::BindingNames;
use vkcert_exec::prepare::{Prepared, buffer_layouts};
use vkcert_exec::{flow, stored};
use vkcert_model::altered::failed_alterations;
use vkcert_model::evidence::StoredExpectation;
use vkcert_model::flow::DispatchFlow;
use vkcert_model::id::KernelName;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::judged::{KernelCodes, TestObservation};
use vkcert_spirv::flow::{MemoryFlow, flows_or_switched_off};
use vkcert_spirv::interface::{ReflectError, Reflection};

/// What a kernel can store.
struct KernelFlow {
    flows: Vec<MemoryFlow>,
    names: BindingNames,
}

/// By name and specialization: it is the same in every test.
type KernelFlows<'a> = BTreeMap<(KernelName, &'a Specialization), KernelFlow>;

/// What each test that can run expects, and what its dispatches can store.
pub fn lay_open(
    prepared_tests: &[PreparedTest],
    kernels: &[Kernel],
) -> Result<LaidOut, CampaignError> {
    let mut known_flows = KernelFlows::new();
    let mut laid_out = LaidOut::new();
    for test in prepared_tests {
        let Ok(plan) = &test.job_plan else { continue };
        let laid_out_test = LaidOutTest {
            expected: stored::stored_expectations(plan),
            flows: dispatch_flows(plan, kernels, &mut known_flows)?,
            layouts: buffer_layouts(test.test, plan),
        };
        laid_out.insert(test.test.id, laid_out_test);
    }
    Ok(laid_out)
}

fn dispatch_flows<'a>(
    job_plan: &'a Prepared,
    kernels: &[Kernel],
    known_flows: &mut KernelFlows<'a>,
) -> Result<Vec<DispatchFlow>, CampaignError> {
    let mut flows_by_dispatch = Vec::new();
    for (number, dispatch) in job_plan.job.dispatches.iter().enumerate() {
        let module_use = &job_plan.modules[dispatch.module];
        let kernel_key = (module_use.kernel, &module_use.specialization);
        let KernelFlow { flows, names } = match known_flows.entry(kernel_key) {
            Entry::Occupied(known_flow) => known_flow.into_mut(),
            Entry::Vacant(unknown_flow) => {
                let kernel =
                    kernels.iter().find(|kernel| kernel.name == module_use.kernel.as_str());
                let kernel = kernel.expect("a prepared test has its kernels");
                let new_flow = kernel_flow(kernel, &module_use.specialization);
                unknown_flow.insert(new_flow.map_err(|error| {
                    CampaignError::tool(format!("kernel `{}`: {error}", module_use.kernel))
                })?)
            }
        };
        flows_by_dispatch.push(flow::of_dispatch(
            &job_plan.job,
            number,
            &module_use.kernel,
            flows,
            names,
        ));
    }
    Ok(flows_by_dispatch)
}

fn kernel_flow(
    kernel: &Kernel,
    specialization: &BTreeMap<u32, u64>,
) -> Result<KernelFlow, ReflectError> {
    let flows = flows_or_switched_off(&kernel.module, &kernel.entry, specialization)?;
    let resources = Reflection::of_entry_point(&kernel.module, &kernel.entry, specialization)?
        .resources
        .into_iter();
    let names_by_place = resources
        .map(|resource| ((resource.set, resource.binding), resource.block_name.or(resource.name)));
    Ok(KernelFlow {
        flows,
        names: names_by_place
            .filter_map(|(binding_place, name)| Some((binding_place, name?)))
            .collect(),
    })
}

/// Takes the passes of tests that judge nothing back.
pub fn doubt_idle_tests(
    prepared_tests: &[PreparedTest],
    laid_out: &LaidOut,
    kernels: &[Kernel],
    runs_by_test: &mut [Vec<TestRun>],
) {
    let codes = assemble::kernel_codes(kernels);
    for (test, row) in prepared_tests.iter().zip(runs_by_test) {
        let Some(LaidOutTest { expected, flows, .. }) = laid_out.get(&test.test.id) else {
            continue;
        };
        let observation = observation_of_runs((expected, flows), &codes, row);
        let Some(reason) = observation.emptiness_reason() else { continue };
        let passed_runs = row.iter_mut().filter(|run| run.verdict == Verdict::Pass);
        passed_runs.for_each(|run| run.doubt(reason.clone()));
    }
}

/// What a test judges by the kernels' code, held to what altered contents showed on the sequential
/// engine.
pub fn observation_of_runs(
    (stored_expectations, dispatch_flows): (&[StoredExpectation], &[DispatchFlow]),
    codes: &KernelCodes,
    runs_of_test: &[TestRun],
) -> TestObservation {
    let by_code = TestObservation::from_expectations(stored_expectations, dispatch_flows, codes);
    let sequential_run = runs_of_test.iter().find(|run| run.engine == EngineName::Sequential);
    match sequential_run.and_then(|run| failed_alterations(run.verdict, &run.altered)) {
        Some(altered) => by_code.confirmed_by_alterations(altered, dispatch_flows),
        None => by_code,
    }
}

//! Tests of a campaign that judge nothing their kernels store, by the kernels' code or by altered
//! contents.
//!
//! Promises: such a test is `undetermined` wherever it passed; `vkcert run` knows no such rule.

use super::assemble::{self, LaidOut, LaidOutTest};
use super::configuration::Specialization;
use super::kernel::{Kernel, kernels_by_name};
use super::test_run::{PreparedTest, TestRun};
use crate::CampaignError;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
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

/// A kernel by name and specialization.
type KernelKey<'a> = (KernelName, &'a Specialization);

/// What kernels can store is the same in every test.
type KernelFlows<'a> = BTreeMap<KernelKey<'a>, KernelFlow>;

/// What each test that can run expects, and what its dispatches can store.
pub fn lay_open<'t>(
    prepared_tests: &'t [PreparedTest],
    kernels: &[Kernel],
) -> Result<LaidOut, CampaignError> {
    let plans = || {
        let laid_out = |test: &'t PreparedTest| Some((test, test.job_plan.as_ref().ok()?));
        prepared_tests.iter().filter_map(laid_out)
    };
    let modules = plans().flat_map(|(_, plan)| &plan.modules);
    let keys = modules.map(|module| (module.kernel, &module.specialization));
    let keys: Vec<KernelKey> = keys.collect::<BTreeSet<_>>().into_iter().collect();
    let kernels_by_name = kernels_by_name(kernels);
    let flow_of_key = |key: KernelKey<'t>| {
        let (name, specialization) = key;
        let kernel = kernels_by_name.get(&name);
        let kernel = kernel.expect("a prepared test has its kernels");
        let flow = kernel_flow(kernel, specialization);
        let flow =
            flow.map_err(|error| CampaignError::tool(format!("kernel `{name}`: {error}")))?;
        Ok::<_, CampaignError>((key, flow))
    };
    let flows: KernelFlows =
        keys.into_par_iter().with_max_len(1).map(flow_of_key).collect::<Result<_, _>>()?;
    let plans: Vec<(&PreparedTest, &Prepared)> = plans().collect();
    let laid_out = plans.into_par_iter().map(|(test, plan)| {
        let laid_out_test = LaidOutTest {
            expected: stored::stored_expectations(plan),
            flows: dispatch_flows(plan, &flows),
            layouts: buffer_layouts(test.test, plan),
        };
        (test.test.id, laid_out_test)
    });
    Ok(laid_out.collect())
}

fn dispatch_flows(job_plan: &Prepared, known_flows: &KernelFlows) -> Vec<DispatchFlow> {
    let dispatches = job_plan.job.dispatches.iter().enumerate();
    let flows = dispatches.map(|(number, dispatch)| {
        let module_use = &job_plan.modules[dispatch.module];
        let KernelFlow { flows, names } =
            &known_flows[&(module_use.kernel, &module_use.specialization)];
        flow::of_dispatch(&job_plan.job, number, &module_use.kernel, flows, names)
    });
    flows.collect()
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
    prepared_tests.par_iter().zip(runs_by_test).for_each(|(test, row)| {
        let Some(LaidOutTest { expected, flows, .. }) = laid_out.get(&test.test.id) else {
            return;
        };
        let observation = observation_of_runs((expected, flows), &codes, row);
        let Some(reason) = observation.emptiness_reason() else { return };
        let passed_runs = row.iter_mut().filter(|run| run.verdict == Verdict::Pass);
        passed_runs.for_each(|run| run.doubt(reason.clone()));
    });
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

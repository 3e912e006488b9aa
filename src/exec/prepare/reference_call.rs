//! Kernels that an expectation calls: references, which compute what is expected, and checkers,
//! which judge it.

use super::binding::BindingTargets;
use super::dispatch::{resolve_dispatch, resolve_interface};
use super::expected_contents::{ResourceKind, named_resource};
use super::problems::Problems;
use super::setting::{Setting, job_module};
use super::{Expected, ExpectedContents};
use crate::resource::{AddressPlace, JobView};
use crate::{Job, JobBinding};
use vkcert_model::element::ScalarType;
use vkcert_model::expectation::CheckerKernel;
use vkcert_model::finding::Checks;
use vkcert_model::procedure::{KernelCall, Test, Tolerance};
use vkcert_oracle::comparison::Placement;
use vkcert_requirement::Origin;

/// A kernel that computes or checks what is expected.
pub(super) struct CalledKernel<'a> {
    pub(super) setting: &'a Setting<'a>,
    pub(super) call: KernelCall<'a>,
    pub(super) role_name: &'static str,
}

impl CalledKernel<'_> {
    /// The kernel on the test's buffers; it must bind the one that it is asked for.
    pub(super) fn reference_job(
        &self,
        test_job: &Job,
        wanted_buffer: usize,
        call_origin: &Origin,
        problems: &mut Problems,
    ) -> Option<Job> {
        let (role_name, call) = (self.role_name, &self.call);
        let resolved_call = resolve_interface(call, self.setting, call_origin, problems)?;
        let binding_targets =
            BindingTargets { buffers: &test_job.buffers, resources: &test_job.resources };
        let (job_dispatch, pushed_addresses) = resolve_dispatch(
            call,
            &resolved_call,
            &binding_targets,
            0,
            0,
            self.setting,
            call_origin,
            problems,
        )?;
        let mut resources = test_job.resources.clone();
        resources.addresses.retain(|address| matches!(address.place, AddressPlace::Buffer(_)));
        resources.addresses.extend(pushed_addresses);
        let binds_wanted = |binding: &JobBinding| {
            binding.buffer == wanted_buffer && !matches!(binding.view, JobView::Sampler(_))
        };
        if !job_dispatch.bindings.iter().any(binds_wanted) {
            let buffer_name = &test_job.buffers[wanted_buffer].name;
            let message = format!(
                "the {role_name} does not bind `{buffer_name}`, so that it cannot compute it"
            );
            problems.push(call_origin.at("bindings").error("missing-binding", message));
            return None;
        }
        let kernel = &self.setting.kernels[call.kernel];
        let mut module = job_module(call.kernel, kernel);
        module.recording = crate::ModuleRecording::None;
        Some(Job {
            name: format!("{} ({role_name})", test_job.name),
            modules: vec![module],
            buffers: test_job.buffers.clone(),
            resources,
            dispatches: vec![job_dispatch],
            limits: test_job.limits,
            checks: self.setting.checks,
        })
    }
}

/// A checker with its verdict: whole `uint`s, of a buffer that no dispatch of the test binds.
pub(super) fn prepare_check(
    checker: &CheckerKernel,
    test: &Test,
    test_job: &Job,
    test_setting: &Setting<'_>,
    check_origin: &Origin,
    problems: &mut Problems,
) -> Option<Expected> {
    let verdict_buffer = named_resource(
        &checker.verdict,
        ResourceKind::Buffer,
        test_job,
        &check_origin.at("verdict"),
        problems,
    )?;
    let byte_count = test_job.buffers[verdict_buffer].bytes.len();
    if byte_count == 0 || !byte_count.is_multiple_of(ScalarType::Uint32.size()) {
        let message =
            format!("the {byte_count} bytes of `{}` are no whole number of uint", checker.verdict);
        problems.push(check_origin.at("verdict").error("size", message));
        return None;
    }
    let is_bound = |buffer_name: &str| {
        test.dispatches
            .iter()
            .flat_map(|dispatch| &dispatch.bindings)
            .any(|binding| binding.buffer.as_deref() == Some(buffer_name))
    };
    if is_bound(&checker.verdict) {
        let message = format!(
            "a dispatch of the test binds `{}`, which is for the checker alone",
            checker.verdict
        );
        problems.push(check_origin.at("verdict").error("contradiction", message));
        return None;
    }
    let checker_call = CalledKernel {
        setting: test_setting,
        call: KernelCall::of_checker(checker),
        role_name: "checker",
    };
    let reference_job =
        checker_call.reference_job(test_job, verdict_buffer, check_origin, problems)?;
    // A checker that does something undefined says nothing.
    let checker_job = Box::new(Job { checks: Checks::all(), ..reference_job });
    let tolerance = Tolerance { bits: true, ..Tolerance::default() };
    let contents = ExpectedContents::Check { job: checker_job };
    Some(Expected {
        buffer: verdict_buffer,
        format: None,
        tolerance,
        placement: Placement::InPlace,
        contents,
    })
}

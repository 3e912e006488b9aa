//! Kernels that an expectation calls: references, which compute what is expected, and checkers,
//! which judge it.

use super::binding::Bound;
use super::call::Call;
use super::dispatch::{interface, resolve};
use super::expected_contents::{Kind, named};
use super::problems::Problems;
use super::setting::{Setting, job_module};
use super::{Expected, ExpectedContents};
use crate::resource::{AddressPlace, JobView};
use crate::{Job, JobBinding};
use vkcert_model::element::ScalarType;
use vkcert_model::expectation::CheckerKernel;
use vkcert_model::finding::Checks;
use vkcert_model::procedure::{Test, Tolerance};
use vkcert_oracle::comparison::Placement;
use vkcert_requirement::Origin;

/// A kernel that computes or checks what is expected.
pub(super) struct Called<'a> {
    pub(super) setting: &'a Setting<'a>,
    pub(super) call: Call<'a>,
    pub(super) what: &'static str,
}

impl Called<'_> {
    /// The kernel on the test's buffers; it must bind the one that it is asked for.
    pub(super) fn job(
        &self,
        of_test: &Job,
        wanted: usize,
        place: &Origin,
        problems: &mut Problems,
    ) -> Option<Job> {
        let (what, call) = (self.what, &self.call);
        let called = interface(call, self.setting, place, problems)?;
        let bound = Bound { buffers: &of_test.buffers, resources: &of_test.resources };
        let (dispatch, pushed) =
            resolve(call, &called, &bound, 0, 0, self.setting, place, problems)?;
        let mut resources = of_test.resources.clone();
        resources.addresses.retain(|address| matches!(address.place, AddressPlace::Buffer(_)));
        resources.addresses.extend(pushed);
        let binds = |binding: &JobBinding| {
            binding.buffer == wanted && !matches!(binding.view, JobView::Sampler(_))
        };
        if !dispatch.bindings.iter().any(binds) {
            let name = &of_test.buffers[wanted].name;
            let message =
                format!("the {what} does not bind `{name}`, so that it cannot compute it");
            problems.push(place.at("bindings").error("missing-binding", message));
            return None;
        }
        let kernel = &self.setting.kernels[call.kernel];
        let mut module = job_module(call.kernel, kernel);
        module.recording = crate::ModuleRecording::None;
        Some(Job {
            name: format!("{} ({what})", of_test.name),
            modules: vec![module],
            buffers: of_test.buffers.clone(),
            resources,
            dispatches: vec![dispatch],
            limits: of_test.limits,
            checks: self.setting.checks.clone(),
        })
    }
}

/// A checker with its verdict: whole `uint`s, of a buffer that no dispatch of the test binds.
pub(super) fn prepare_check(
    checker: &CheckerKernel,
    test: &Test,
    job: &Job,
    setting: &Setting<'_>,
    place: &Origin,
    problems: &mut Problems,
) -> Option<Expected> {
    let verdict = named(&checker.verdict, Kind::Buffer, job, &place.at("verdict"), problems)?;
    let bytes = job.buffers[verdict].bytes.len();
    if bytes == 0 || !bytes.is_multiple_of(ScalarType::Uint32.size()) {
        let message =
            format!("the {bytes} bytes of `{}` are no whole number of uint", checker.verdict);
        problems.push(place.at("verdict").error("size", message));
        return None;
    }
    let binds = |name: &str| {
        test.dispatches
            .iter()
            .flat_map(|one| &one.bindings)
            .any(|one| one.buffer.as_deref() == Some(name))
    };
    if binds(&checker.verdict) {
        let message = format!(
            "a dispatch of the test binds `{}`, which is for the checker alone",
            checker.verdict
        );
        problems.push(place.at("verdict").error("contradiction", message));
        return None;
    }
    let called = Called { setting, call: Call::of_checker(checker), what: "checker" };
    let checking = called.job(job, verdict, place, problems)?;
    // A checker that does something undefined says nothing.
    let job = Box::new(Job { checks: Checks::all(), ..checking });
    let tolerance = Tolerance { bits: true, ..Tolerance::default() };
    let contents = ExpectedContents::Check { job };
    Some(Expected {
        buffer: verdict,
        format: None,
        tolerance,
        placement: Placement::InPlace,
        contents,
    })
}

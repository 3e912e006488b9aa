//! Schedules on an engine that answers as it is told.

use super::*;
use crate::kernel::{self, Kernel, MeasuredParts, ModuleVariant};
use crate::test_run::{ModuleRecords, PreparedTest, job_of};
use std::num::NonZeroU32;
use vkcert_exec::prepare::{ModuleUse, Prepared};
use vkcert_exec::repeat::Results;
use vkcert_exec::{
    BufferContents, Counts, ExecError, Executor, JobBinding, JobBuffer, JobDispatch, JobModule,
    ModuleRecording, Observer, RunRequest, Unobserved,
};
use vkcert_glsl::KernelSource;
use vkcert_model::finding::Checks;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::Test;
use vkcert_model::project::Contraction;
use vkcert_model::schedule::Schedules;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sequential::SequentialExecutor;
use vkcert_spirv::module::Module;

const BYTES: usize = 16;

/// Answers with the next run of its list; keeps the orders that it was asked for.
struct Told {
    answers: Vec<Run>,
    asked: Vec<BufferContents>,
}

impl Executor for Told {
    fn name(&self) -> EngineName {
        EngineName::Vulkan
    }
    fn execute(
        &mut self,
        request: &RunRequest<'_>,
        _observer: &mut dyn Observer,
    ) -> Result<(Results, Counts), ExecError> {
        self.asked.push(request.job.buffers.last().expect("the order").bytes.clone());
        let several = self.answers.len() > 1;
        let run = if several { self.answers.remove(0) } else { self.answers[0].clone() };
        Ok((Results::new(run), Counts::default()))
    }
}

/// An engine that runs every job once.
fn once_on(executor: &mut dyn Executor) -> TestEngine<'_> {
    TestEngine { executor, repetitions: NonZeroU32::MIN }
}

fn left(byte: u8) -> Run {
    let mut out = vec![1; BYTES];
    out[6] = byte;
    // The permutation comes back too and is of no interest.
    Run { buffers: vec![out.into(), vec![byte; 4].into()], ..Run::ended(Completion::Completed) }
}

fn job() -> Job {
    let module = include_bytes!("../../../tests/schedules/signed_copies.spv");
    let words = Module::parse_bytes(module).expect("a module").words;
    let binding = JobBinding::storage(0, 0, 0, BYTES as u64);
    Job {
        name: "T".to_owned(),
        modules: vec![JobModule { key: "k".into(), words, recording: ModuleRecording::None }],
        buffers: vec![JobBuffer {
            name: "out".to_owned(),
            bytes: vec![0; BYTES].into(),
            defined: Vec::new(),
        }],
        resources: Default::default(),
        dispatches: vec![JobDispatch {
            module: 0,
            entry: "main".to_owned(),
            groups: [9, 1, 1],
            bindings: vec![binding],
            push_constants: Vec::new(),
            push_constants_defined: Vec::new(),
            specialization: Default::default(),
            subgroup_size: None,
        }],
        limits: Default::default(),
        checks: Checks::all(),
    }
}

/// Runs four schedules of a passed test; `answers` begins with the first-to-last order.
fn amplified(job: Job, answers: Vec<Run>) -> (TestRun, Vec<BufferContents>) {
    let mut engine = Told { answers, asked: Vec::new() };
    let plan = Prepared {
        job,
        modules: modules(),
        expected: Vec::new(),
        listed: 1,
        blocks: Vec::new(),
        declared: Vec::new(),
    };
    let production = Run { buffers: vec![left(1).buffers.remove(0)], ..left(1) };
    let run = amplified_by(&mut engine, &plan, &production);
    (run, engine.asked)
}

fn modules() -> Vec<ModuleUse> {
    vec![ModuleUse { kernel: KernelName::from("k".to_owned()), specialization: Default::default() }]
}

fn amplified_by(engine: &mut Told, plan: &Prepared, production: &Run) -> TestRun {
    let test: Test =
        serde_json::from_value(serde_json::json!({"id": "T", "dispatches": []})).expect("a test");
    let (contraction, schedules) = (Contraction::Forbidden, Schedules { count: 4, seed: 0 });
    let prepared = PreparedTest {
        test: &test,
        job_plan: Ok(plan.clone()),
        kernels: Vec::new(),
        contraction,
        schedules,
        replay: None,
        metrics: &[],
        analyser: SequentialExecutor::default(),
    };
    let mut run = TestRun {
        verdict: Verdict::Pass,
        reason: None,
        ..TestRun::not_run(EngineName::Vulkan, "")
    };
    let open = LeftOpen::of_test(&prepared, plan);
    run_schedules(&open, &plan.job, production, &mut once_on(engine), &mut run)
        .expect("the tool does not fail");
    run
}

fn status(run: &TestRun) -> (ScheduleStatus, usize, usize) {
    let result = run.schedules.as_ref().expect("schedules were asked for");
    (result.status, result.ran.len(), result.different.len())
}

#[test]
fn each_schedule_runs_once_behind_the_first_to_last_order() {
    let (run, asked) = amplified(job(), vec![left(1)]);
    assert_eq!(
        (status(&run), run.verdict, run.findings.len()),
        ((ScheduleStatus::Equal, 4, 0), Verdict::Pass, 0)
    );
    let permutation = |bytes: &Vec<u8>| bytes[12..].iter().step_by(4).copied().collect::<Vec<u8>>();
    assert_eq!(asked.len(), 5);
    assert_eq!(permutation(&asked[0]), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(permutation(&asked[1]), [8, 7, 6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(permutation(&asked[2]), [4, 0, 1, 2, 3, 5, 6, 7, 8]);
    assert_eq!(
        asked[0][..12],
        [9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0],
        "counts stand before the permutation"
    );
}

#[test]
fn a_rewritten_module_that_is_not_production_shows_nothing_about_orders() {
    let late = Completion::Timeout { reason: "late".to_owned() };
    for (first, told) in [
        (left(2), "leave other contents than production, first in buffer `out` at offset 6"),
        (Run::ended(late), "do not leave one result: timeout, late"),
    ] {
        let (run, asked) = amplified(job(), vec![first, left(1)]);
        assert_eq!((status(&run), run.findings.len()), ((ScheduleStatus::Undetermined, 0, 0), 0));
        assert_eq!((run.verdict, asked.len()), (Verdict::Undetermined, 1));
        assert!(
            run.reason.as_ref().is_some_and(|reason| reason.ends_with(told)),
            "{:?}",
            run.reason
        );
    }
}

#[test]
fn the_simplest_of_those_that_differ_is_shown_and_all_are_named() {
    let shown = |answers: Vec<Run>| {
        amplified(job(), answers).0.findings[0].schedule().map(|schedule| schedule.to_string())
    };
    // In order, reversed, first:4, random:0:1, first:2.
    assert_eq!(
        shown(vec![left(1), left(1), left(9), left(7), left(1)]).as_deref(),
        Some("first:4")
    );
    assert_eq!(
        shown(vec![left(1), left(3), left(9), left(7), left(5)]).as_deref(),
        Some("reversed")
    );
    let (run, _) = amplified(job(), vec![left(1), left(1), left(9), left(7), left(5)]);
    assert_eq!((status(&run), run.verdict), ((ScheduleStatus::Different, 4, 3), Verdict::Pass));
    let [finding] = run.findings.as_slice() else { panic!("{:?}", run.findings) };
    let details = finding.stored_details();
    let detail = |name: &str| details[name].clone();
    assert_eq!(
        (detail("schedule"), detail("schedules")),
        ("first:2".into(), vec!["first:4", "random:0:1", "first:2"].into())
    );
    // The word at byte 4 holds byte 6, which is 5 in place of 1.
    assert_eq!(
        (detail("type"), detail("offset"), detail("bytes")),
        ("uint".into(), 4.into(), 1.into())
    );
    assert_eq!(
        (detail("expected_bits"), detail("actual_bits")),
        ("0x01010101".into(), "0x01050101".into())
    );
    assert_eq!(finding.count, 3);
}

#[test]
fn a_schedule_that_does_not_complete_is_a_finding_and_the_last() {
    let late = Run::ended(Completion::Timeout { reason: "late".to_owned() });
    let (run, asked) = amplified(job(), vec![left(1), left(2), late, left(1)]);
    assert_eq!((status(&run), asked.len()), ((ScheduleStatus::Different, 2, 2), 3));
    let schedules: Vec<_> = run
        .findings
        .iter()
        .filter_map(|finding| finding.schedule())
        .map(|schedule| schedule.to_string())
        .collect();
    assert_eq!(schedules, ["first:4", "reversed"]);
    assert!(
        run.findings[0].message.ends_with("with schedule `first:4` it does not: timeout, late"),
        "{:?}",
        run.findings
    );
}

#[test]
fn a_schedule_whose_repetitions_differ_is_a_finding_and_others_go_on() {
    let varying = Run::ended(Completion::Varying { reason: "2 of 3".to_owned() });
    let (run, asked) = amplified(job(), vec![left(1), varying, left(1)]);
    assert_eq!((status(&run), asked.len()), ((ScheduleStatus::Different, 4, 1), 5));
    assert!(
        run.findings[0].message.starts_with("whether k leaves one result depends on"),
        "{:?}",
        run.findings
    );
}

#[test]
fn what_an_engine_cannot_tell_is_undetermined() {
    let full = Run::ended(Completion::Undetermined { reason: "out of memory".to_owned() });
    let (run, _) = amplified(job(), vec![left(1), left(1), full]);
    assert_eq!(
        (status(&run), run.verdict),
        ((ScheduleStatus::Undetermined, 2, 0), Verdict::Undetermined)
    );
    assert_eq!(run.reason.as_deref(), Some("schedules: `first:4`: out of memory"));
}

#[test]
fn findings_of_a_schedule_are_kept_with_its_name() {
    let finding = Finding::new(FindingKind::OutOfBounds, "written behind `out`");
    let outside = Run { findings: vec![finding], ..left(1) };
    let (run, _) = amplified(job(), vec![left(1), outside.clone(), outside, left(1)]);
    assert_eq!(status(&run), (ScheduleStatus::Equal, 4, 0));
    let [finding] = run.findings.as_slice() else { panic!("{:?}", run.findings) };
    assert_eq!(
        (finding.kind, finding.schedule().map(|schedule| schedule.to_string())),
        (FindingKind::OutOfBounds, Some("reversed".to_owned()))
    );
}

#[test]
fn too_many_workgroups_are_undetermined_and_one_has_no_order() {
    let groups = |groups| {
        let mut job = job();
        job.dispatches[0].groups = groups;
        amplified(job, vec![left(1)])
    };
    let (run, asked) = groups([1024, 1025, 1]);
    assert_eq!(
        (status(&run), run.verdict, asked.len()),
        ((ScheduleStatus::Undetermined, 0, 0), Verdict::Undetermined, 0)
    );
    assert!(
        run.reason.as_ref().is_some_and(|reason| reason.contains("1049600 workgroups")),
        "{:?}",
        run.reason
    );
    let (run, asked) = groups([1, 1, 1]);
    assert_eq!(
        (status(&run), run.verdict, asked.len()),
        ((ScheduleStatus::NothingToPermute, 0, 0), Verdict::Pass, 0)
    );
}

#[test]
fn a_module_that_cannot_be_rewritten_is_undetermined_by_name() {
    let mut job = job();
    let module = include_bytes!("../../../tests/schedules/block_member.spv");
    job.modules[0].words = Module::parse_bytes(module).expect("a module").words;
    let (run, asked) = amplified(job, vec![left(1)]);
    assert_eq!(
        (status(&run), run.verdict, asked.len()),
        ((ScheduleStatus::Undetermined, 0, 0), Verdict::Undetermined, 0)
    );
    let told = "schedules: kernel `k`: the built-in WorkgroupId is a member of a block";
    assert_eq!(run.reason.as_deref(), Some(told));
}

/// What any schedule changed is named, though one of them is shown.
#[test]
fn every_buffer_that_some_schedule_changes_is_named() {
    let mut job = job();
    job.buffers.push(JobBuffer {
        name: "more".to_owned(),
        bytes: vec![0; 4].into(),
        defined: Vec::new(),
    });
    let with = |out: u8, more: u8| {
        let mut run = left(out);
        run.buffers.insert(1, vec![more; 4].into());
        run
    };
    let plan = Prepared {
        job: job.clone(),
        modules: modules(),
        expected: Vec::new(),
        listed: 1,
        blocks: Vec::new(),
        declared: Vec::new(),
    };
    let mut engine =
        Told { answers: vec![with(1, 1), with(1, 2), with(3, 1), with(1, 1)], asked: Vec::new() };
    let production = Run { buffers: with(1, 1).buffers[..2].to_vec(), ..left(1) };
    let run = amplified_by(&mut engine, &plan, &production);
    let [finding] = run.findings.as_slice() else { panic!("{:?}", run.findings) };
    let details = finding.stored_details();
    assert_eq!(details["buffers"], serde_json::json!(["more", "out"]));
    assert_eq!((details["buffer"].clone(), finding.count), ("more".into(), 2));
}

#[test]
fn notes_of_schedules_are_kept_once_and_those_of_production_not_again() {
    let noting = |note: &str| Run { notes: vec![note.to_owned()], ..left(1) };
    let (run, _) = amplified(job(), vec![left(1), noting("slow"), noting("late"), noting("slow")]);
    assert_eq!(run.notes, ["late", "slow"]);
}

/// That a dispatch alone varies or does not complete is its doing, too.
#[test]
fn dispatches_that_alone_do_not_leave_one_result_are_named() {
    let varying = Run::ended(Completion::Varying { reason: "2 of 3".to_owned() });
    let late = Run::ended(Completion::Timeout { reason: "late".to_owned() });
    for ending in [varying, late, left(9)] {
        let mut job = job();
        job.dispatches.push(job.dispatches[0].clone());
        // In order, reversed and three more, then reversed in each dispatch alone.
        let equal = left(1);
        let answers = vec![
            equal.clone(),
            left(9),
            equal.clone(),
            equal.clone(),
            equal.clone(),
            ending,
            equal,
        ];
        let (run, asked) = amplified(job, answers);
        assert_eq!(asked.len(), 7);
        let [finding] = run.findings.as_slice() else { panic!("{:?}", run.findings) };
        assert_eq!(finding.stored_details()["dispatches"], serde_json::json!([0]));
    }
}

/// The sequential engine, which cannot measure in another order than the ordinary one.
struct Hindered(SequentialExecutor);

impl Executor for Hindered {
    fn name(&self) -> EngineName {
        EngineName::Sequential
    }
    fn execute(
        &mut self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Results, Counts), ExecError> {
        let records = |module: &JobModule| !matches!(module.recording, ModuleRecording::None);
        let measures = request.job.modules.iter().any(records);
        let schedule = request.following.unwrap_or_default().schedule;
        match measures && schedule != Schedule::IN_ORDER {
            true => {
                let completion = Completion::Undetermined { reason: "out of memory".to_owned() };
                Ok((Results::new(Run::ended(completion)), Counts::default()))
            }
            false => self.0.execute(request, observer),
        }
    }
    fn extents(
        &mut self,
        job: &Job,
    ) -> Result<Option<Vec<vkcert_model::schedule::Extent>>, ExecError> {
        self.0.extents(job)
    }
}

#[test]
fn coverage_of_a_schedule_that_cannot_be_measured_is_undetermined() {
    let text = "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer Out { uint sum; };\n\
                void main() { if (gl_WorkGroupID.x < 2u) { atomicAdd(sum, 1u); } }\n";
    let kernel = kernel::from_glsl(
        "k",
        KernelSource::alone("k.comp", text, "vulkan1.1"),
        MeasuredParts::Source,
    );
    let Ok(kernel) = kernel.map(Kernel::outside_project) else { panic!("the kernel compiles") };
    let mut job = job();
    job.modules[0].words.clone_from(&kernel.production);
    job.dispatches[0].groups = [3, 1, 1];
    let plan = Prepared {
        job,
        modules: modules(),
        expected: Vec::new(),
        listed: 1,
        blocks: Vec::new(),
        declared: Vec::new(),
    };
    let test: Test =
        serde_json::from_value(serde_json::json!({"id": "T", "dispatches": []})).expect("a test");
    let (contraction, schedules) = (Contraction::Forbidden, Schedules { count: 1, seed: 0 });
    let kernels = vec![&kernel];
    let prepared = PreparedTest {
        test: &test,
        job_plan: Ok(plan.clone()),
        kernels,
        contraction,
        schedules,
        replay: None,
        metrics: &[],
        analyser: SequentialExecutor::default(),
    };
    let mut engine = Hindered(SequentialExecutor::default());
    let measuring = job_of(&prepared, ModuleVariant::Marked).expect("a kernel that is measured");
    let production = engine.run(&plan.job, &mut Unobserved).expect("it runs");
    let measured = engine.run(&measuring, &mut Unobserved).expect("it runs");
    let records = ModuleRecords {
        kernel: "k".to_owned(),
        specialization: Default::default(),
        records: Ok(measured.records[&"k".into()].clone()),
        lowering: Vec::new(),
    };
    let passed = TestRun::not_run(EngineName::Sequential, "");
    let mut run =
        TestRun { verdict: Verdict::Pass, reason: None, records: vec![records], ..passed };
    let open = LeftOpen::of_test(&prepared, &plan);
    run_schedules(&open, &plan.job, &production, &mut once_on(&mut engine), &mut run)
        .expect("the tool does not fail");
    assert_eq!(
        (status(&run), run.verdict),
        ((ScheduleStatus::Undetermined, 1, 0), Verdict::Undetermined)
    );
    assert!(
        run.reason
            .as_ref()
            .is_some_and(|reason| reason.contains("the measured run did not complete")),
        "{run:?}"
    );
}

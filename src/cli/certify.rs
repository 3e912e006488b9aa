//! `vkcert certify`: the main job, from a project folder to evidence, reports and an exit code.

mod writing;

use super::args::{Certify, Common, FailOn, OutputForm};
use super::baseline::{self, read_baseline, regression_exit};
use super::cache;
use super::events::EventLog;
use super::failure::{self, Failure};
use super::mutate::refuse_other_step_limit;
use super::output::{self, PendingFolder, SectionRemoval};
use super::places;
use super::plan;
use super::progress::WatchedCampaign;
use super::provenance::{ProgramHashing, RunStart};
use super::save;
use super::shard::{self, PendingShard};
use super::unchanged::{CampaignInputs, KeptResult};
use crate::campaign::CampaignError;
use crate::campaign::certification::{CampaignRequest, SetUp, open_engines, set_up_with};
use crate::campaign::engines::Engines;
use crate::campaign::plan::RunPlan;
use crate::campaign::project;
use crate::campaign::set_aside::{BrokenKernel, OnBrokenKernel};
use crate::derivation::stated::{TOOL, TOOL_VERSION};
use crate::model::baseline::BaselineComparison;
use crate::model::canonical::canonical_lines;
use crate::model::diagnostic::Diagnostic;
use crate::model::event::RunEvent;
use crate::model::evidence::{Campaign, Evidence, SetAsideKernel, StoredDiagnostic};
use crate::model::exit::Exit;
use crate::model::id::{KernelName, TestId};
use crate::report::{self, FormatName, History, Written};
use crate::requirement::Project;
use crate::verify::{FoundRuns, OwnOutput, VerifyError, find_runs};
use rayon::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};
pub(super) use writing::{FileOrigin, WantedReports, wanted_reports, write_results};
use writing::{PlacedResults, unwritable_json};

use vkcert_verifier::history::tell_left_out;
use vkcert_verifier::report::terminal_presentation;

/// The sub-folder of the output folder that a run writes.
pub(super) const RESULT_SECTION: &str = "latest";

/// Runs the whole campaign, writes evidence and reports, prints the summary.
pub(super) fn certify_project(common: &Common, certify: &Certify) -> Result<Exit, Failure> {
    let events = EventLog::open(certify.events.as_deref())?;
    let result = certify_and_print(common, certify, &events);
    events.tell(match &result {
        Ok(exit) => RunEvent::Finished { exit_code: exit.code() },
        Err(failure) => RunEvent::Failed {
            exit_code: failure::exit_for(failure).code(),
            message: failure.sentence().to_owned(),
        },
    });
    result
}

fn certify_and_print(
    common: &Common,
    certify: &Certify,
    events: &EventLog,
) -> Result<Exit, Failure> {
    let run = StartedRun::begin(common, certify, events)?;
    let inputs = run.inputs();
    if let Some(kept) = inputs.as_ref().and_then(|inputs| run.kept_result(inputs)) {
        return tell_kept(common, &kept, events);
    }
    let (started, cache) = (run.start.started().to_owned(), run.request.cache.clone());
    let finished = run.finish()?;
    let exit = match (certify.fail_on, &finished.comparison) {
        (FailOn::Regression, Some(comparison)) => regression_exit(comparison),
        (FailOn::Regression, None) | (FailOn::Conclusion, _) => {
            exit_of_conclusion(&finished.evidence)
        }
    };
    output::print_text(&finished.printed)?;
    if certify.shard.is_some() {
        return Ok(shard::exit_of_shard(&finished.evidence));
    }
    if let (Some(comparison), OutputForm::Text, None) =
        (&finished.comparison, common.form(), common.line_form())
    {
        baseline::print_comparison(common, certify, comparison)?;
    }
    if let (Some(inputs), Some(cache)) = (inputs, cache) {
        let Written { root, provenance, reports, files: _ } = finished.written;
        let (hashes, links) = ([root, reports, provenance], Vec::new());
        let set_aside = finished.evidence.campaign.set_aside.clone();
        let (printed, exit_code) = (finished.printed, exit.code());
        let kept = KeptResult { hashes, links, started, set_aside, printed, exit_code };
        inputs.keep(&cache, (kept, &finished.evidence));
    }
    drop(finished.replaced);
    // The process ends here, and gives all its memory back at once.
    std::mem::forget(finished.evidence);
    Ok(exit)
}

/// Prints what a run of the same has printed, whose results are there.
fn tell_kept(common: &Common, kept: &KeptResult, events: &EventLog) -> Result<Exit, Failure> {
    tell_set_aside(events, &kept.set_aside);
    events.tell(RunEvent::Written { root: kept.hashes[0].clone() });
    output::print_text(&kept.printed)?;
    if !common.quiet {
        output::print_to_stderr(format_args!(
            "note: nothing has changed since the run of {}, whose results stand; `--no-cache` runs all the same\n",
            kept.started
        ));
    }
    Ok(exit_of_code(kept.exit_code))
}

/// What is printed of a run; `project` and `out` are the folders that advised commands name.
pub(super) fn printed_result(
    common: &Common,
    (evidence, written): (&Evidence, &Written),
    comparison: Option<&BaselineComparison>,
    (project, out): (&Path, Option<&Path>),
) -> Result<String, Failure> {
    if let Some(form) = common.line_form() {
        let presentation = terminal_presentation(common, None, report::Places::default());
        return Ok(report::result_lines(evidence, &presentation, form, project));
    }
    match common.form() {
        OutputForm::Json => json_document(evidence, written, comparison),
        OutputForm::Text => {
            let advised_places = places::places_of_run(project, out);
            let summary = report::render(
                evidence,
                FormatName::Terminal,
                &terminal_presentation(common, Some(written.clone()), advised_places),
            );
            let summary = summary.map_err(|error| Failure::tool(error.to_string()))?;
            String::from_utf8(summary).map_err(|error| Failure::tool(error.to_string()))
        }
    }
}

/// What a run has come to.
pub(super) struct FinishedRun {
    pub(super) evidence: Evidence,
    pub(super) written: Written,
    /// Beside the run of `--baseline`.
    pub(super) comparison: Option<BaselineComparison>,
    printed: String,
    /// The results that stood there before.
    replaced: SectionRemoval,
}

/// How a run ends that fails for all that counts against its conclusion.
pub(super) fn exit_of_conclusion(evidence: &Evidence) -> Exit {
    exit_of_code(evidence.campaign.conclusion.exit_code)
}

/// Runs the whole campaign, writes evidence and reports.
#[cfg(test)]
pub(super) fn run_campaign(
    common: &Common,
    certify: &Certify,
    events: &EventLog,
) -> Result<FinishedRun, Failure> {
    StartedRun::begin(common, certify, events)?.finish()
}

/// A run whose project is read and whose engines are open.
struct StartedRun<'a> {
    common: &'a Common,
    certify: &'a Certify,
    events: &'a EventLog,
    project: Project,
    output_folder: PathBuf,
    reports: WantedReports,
    stored_runs: Option<FoundRuns>,
    baseline: Option<Box<Evidence>>,
    start: RunStart,
    part: Option<PendingShard>,
    request: CampaignRequest,
    /// Why they are not there is told after what is wrong with the input.
    engines: Result<Engines, CampaignError>,
}

impl<'a> StartedRun<'a> {
    fn begin(
        common: &'a Common,
        certify: &'a Certify,
        events: &'a EventLog,
    ) -> Result<Self, Failure> {
        let limits = certify.ending.limits();
        let plan = RunPlan { limits, ..plan::plan_of(common, &certify.check)? };
        let reports = wanted_reports(&certify.reports, certify.shard)?;
        let has_mutants = reports.rows.iter().any(|row| row.name == FormatName::Mutants);
        if has_mutants && !certify.mutation {
            let message = "the report `mutants` goes with --mutation, which is not asked for";
            return Err(Diagnostic::new("usage", message).into());
        }
        if certify.mutation {
            refuse_other_step_limit(common)?;
        }
        if certify.history.is_some() && reports.rows.iter().all(|row| !row.has_documents) {
            let message = "--history goes with the reports html and pdf, which --report leaves out";
            return Err(Diagnostic::new("usage", message).into());
        }
        let program = ProgramHashing::begin();
        let mut project = project::load_project(&certify.dir)?;
        let output_folder = certify.out.clone().unwrap_or_else(|| project.root.join("reports"));
        let stored_runs = stored_runs(certify, &project.settings.value.name, &output_folder)?;
        let baseline = read_baseline(certify, &project.settings.value.name)?;
        let start = RunStart::observe(&project.root, &output_folder, certify, program);
        leave_tests_out(&mut project, certify)?;
        let part = certify.shard.map(|part| PendingShard::begin(part, &mut project));
        events.tell(started(&project));
        let (schedules, replay) = certify.schedules_over(project.settings.value.schedules)?;
        let request = CampaignRequest {
            plan,
            repeat: certify.repetition.repeat,
            schedules: Some(schedules),
            replay,
            record_mode: certify.recording.record_mode.mode(),
            witnesses: certify.recording.witnesses(),
            on_broken_kernel: match certify.keep_going {
                true => OnBrokenKernel::SetAside,
                false => OnBrokenKernel::End,
            },
            cache: cache::open_cache(&certify.cache, &start)?,
            mutation: certify.mutation_request()?,
        };
        let engines = open_engines(&project, &request);
        Ok(Self {
            common,
            certify,
            events,
            project,
            output_folder,
            reports,
            stored_runs,
            baseline,
            start,
            part,
            request,
            engines,
        })
    }

    /// What the run depends on, where a cache could have its result.
    fn inputs(&self) -> Option<CampaignInputs> {
        let engines = self.engines.as_ref().ok()?;
        let cache = self.request.cache.as_ref()?;
        CampaignInputs::of_run(
            (self.common, self.certify),
            (&self.project, engines, self.start.project()),
            (cache, &self.output_folder),
        )
    }

    fn kept_result(&self, inputs: &CampaignInputs) -> Option<KeptResult> {
        inputs.kept_result(self.request.cache.as_ref()?)
    }

    /// Runs the campaign and writes its results.
    fn finish(self) -> Result<FinishedRun, Failure> {
        let Self { common, certify, events, project, output_folder, mut reports, .. } = self;
        let SetUp { campaign, engines } =
            set_up_with(project, &self.request, self.engines, &|broken_kernels| {
                tell_broken_kernels(common, events, broken_kernels);
            })?;
        engines.iter().for_each(plan::tell_notes);
        let prepared_tests = campaign.prepare()?;
        // Faults of the input are reported before engines that this machine lacks.
        let folder = PendingFolder::start(&output_folder, RESULT_SECTION)?;
        let display = WatchedCampaign::new(common, events, &prepared_tests);
        let campaign_outcome = campaign.run(&prepared_tests, &mut engines?, &display)?;
        let cache = self.request.cache;
        cache.as_deref().map_or(Ok(()), cache::refuse_differing)?;
        if let Some(save_folder) = &certify.save_outputs {
            save::save_outputs(
                save_folder,
                &prepared_tests,
                &campaign_outcome.laid_out,
                &campaign_outcome.runs_by_test,
            )?;
        }
        prepared_tests.into_par_iter().for_each(drop);
        let ((), evidence) = rayon::join(
            || cache.iter().for_each(|cache| cache::shrink_cache(cache)),
            || campaign.seal_to(campaign_outcome, &folder),
        );
        let evidence = evidence?;
        folder.begin_lasting();
        reports.presentation.history = read_history(self.stored_runs, &evidence)?;
        let baseline = self.baseline;
        let compared =
            baseline.map(|baseline| baseline::compared(&baseline, &evidence)).transpose()?;
        reports.comparison = compared.as_ref().map(|compared| compared.bytes.clone());
        let reuse = cache.map(|cache| cache.reuse());
        let part = self.part;
        let shard_file = part.map(|part| part.file((common, certify), (&evidence, &self.start)));
        let origin = FileOrigin { start: self.start, reuse, shard_file: shard_file.transpose()? };
        let results = write_results(&evidence, &reports, origin, folder, &output_folder)?;
        let comparison = compared.map(|compared| compared.comparison);
        let placed = results.place_beside(|written| {
            let results = (&evidence, written);
            match certify.shard {
                Some(part) => shard::printed_shard(common, part, results, &certify.dir),
                None => {
                    let places = (certify.dir.as_path(), certify.out.as_deref());
                    printed_result(common, results, comparison.as_ref(), places)
                }
            }
        })?;
        let PlacedResults { written, printed, replaced } = placed;
        events.tell(RunEvent::Written { root: written.root.clone() });
        Ok(FinishedRun { evidence, written, comparison, printed, replaced })
    }
}

/// Tells what the compiler says against kernels that are set aside, as if the run ended for it.
fn tell_broken_kernels(common: &Common, events: &EventLog, broken_kernels: &[BrokenKernel]) {
    for BrokenKernel { name, diagnostics, .. } in broken_kernels {
        let message = told_against(diagnostics.iter().map(StoredDiagnostic::of));
        events.tell(RunEvent::KernelSetAside { kernel: *name, message });
        failure::print_failure(&Failure::Input(diagnostics.clone()), common.color);
        output::print_to_stderr(format_args!("{}", set_aside_note(*name)));
    }
}

/// What the compiler says against a kernel, a line each.
fn told_against(diagnostics: impl Iterator<Item = StoredDiagnostic>) -> String {
    diagnostics.map(|row| row.to_string()).collect::<Vec<_>>().join("\n")
}

fn set_aside_note(kernel: KernelName) -> String {
    format!("note: kernel {kernel} does not compile and is set aside; the run goes on without it\n")
}

/// Tells the same of a run whose results stand.
fn tell_set_aside(events: &EventLog, set_aside: &[SetAsideKernel]) {
    for row in set_aside {
        let message = told_against(row.diagnostics.iter().cloned());
        output::print_to_stderr(format_args!("{message}\n{}", set_aside_note(row.kernel)));
        events.tell(RunEvent::KernelSetAside { kernel: row.kernel, message });
    }
}

fn started(project: &Project) -> RunEvent {
    let settings = &project.settings.value;
    RunEvent::Started {
        schema: 1,
        tool: format!("{TOOL} {TOOL_VERSION}"),
        project: settings.name.clone(),
        kernels: settings.kernels.len(),
        tests: project.tests.len(),
    }
}

/// The runs of `--history`. Faults of that folder are reported before anything runs.
fn stored_runs(
    certify: &Certify,
    project: &str,
    output_folder: &Path,
) -> Result<Option<FoundRuns>, Failure> {
    let Some(folder) = &certify.history else { return Ok(None) };
    let own_output = OwnOutput { folder: output_folder, section: RESULT_SECTION };
    Ok(Some(find_runs(folder, project, Some(own_output))?))
}

/// The stored runs beside the one that was just made.
fn read_history(
    stored_runs: Option<FoundRuns>,
    evidence: &Evidence,
) -> Result<Option<History>, VerifyError> {
    let Some(stored_runs) = stored_runs else { return Ok(None) };
    let history = stored_runs.read_beside(evidence, None)?;
    tell_left_out(&history);
    Ok(Some(history))
}

pub(super) fn exit_of_code(code: u8) -> Exit {
    let exit_codes = [Exit::Success, Exit::Failed, Exit::Usage, Exit::Tool, Exit::Unavailable];
    exit_codes.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Tool)
}

/// Removes the tests that `--without` names and those that `--only` does not; an unknown id is an
/// error.
fn leave_tests_out(project: &mut Project, certify: &Certify) -> Result<(), Failure> {
    let options = [("--without", &certify.without), ("--only", &certify.only)];
    let named_tests =
        options.iter().flat_map(|(option, ids)| ids.iter().map(move |id| (option, id)));
    for (option, id) in named_tests {
        if !project.tests.iter().any(|test| test.id.as_str() == id) {
            let known_tests: Vec<&str> =
                project.tests.iter().map(|test| test.id.as_str()).collect();
            let diagnostic =
                Diagnostic::new("unknown-id", format!("{option}: no test is named `{id}`"));
            let hint = crate::requirement::nearest::did_you_mean(id, &known_tests);
            let list_command =
                places::places_of_run(&certify.dir, None).on_project("vkcert list tests", "");
            return Err(Diagnostic {
                hint: hint.or(Some(format!("see {list_command}"))),
                ..diagnostic
            }
            .into());
        }
    }
    let is_named = |ids: &[String], test: &TestId| ids.iter().any(|id| test.as_str() == id);
    let is_kept = |test: &TestId| match certify.only.is_empty() {
        true => !is_named(&certify.without, test),
        false => is_named(&certify.only, test),
    };
    project.left_out = project.tests.extract_if(.., |test| !is_kept(&test.id)).collect();
    Ok(())
}

/// What `--format json` prints. Like the evidence it is the same in two runs: where and when they were
/// made is not in it.
#[derive(Serialize)]
struct Document<'w> {
    #[serde(flatten)]
    campaign: &'w Campaign,
    root: &'w str,
    reports: &'w str,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<&'w BaselineComparison>,
}

/// The campaign with the hashes that identify evidence and reports.
fn json_document(
    evidence: &Evidence,
    written: &Written,
    baseline: Option<&BaselineComparison>,
) -> Result<String, Failure> {
    let document = Document {
        campaign: &evidence.campaign,
        root: &written.root,
        reports: &written.reports,
        baseline,
    };
    canonical_lines(&document).map_err(unwritable_json)
}

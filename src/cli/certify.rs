//! `vkcert certify`: the main job, from a project folder to evidence, reports and an exit code.

use super::args::{Certify, Common, OutputForm};
use super::failure::Failure;
use super::output::{self, PendingFolder};
use super::places;
use super::plan;
use super::progress::Progress;
use super::save;
use crate::campaign::certification::{CampaignRequest, SetUp, set_up};
use crate::campaign::facts::SealedEvidence;
use crate::campaign::project;
use crate::derivation::files::{MANIFEST, REPORTS, canonical};
use crate::model::canonical::{canonical_lines, sha256_digits};
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::{Campaign, Evidence, ReportList};
use crate::model::exit::Exit;
use crate::model::id::TestId;
use crate::report::{self, FORMATS, FormatName, Written};
use crate::requirement::Project;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use vkcert_verifier::report::presentation;

/// The sub-folder of the output folder that a run writes.
const SECTION: &str = "latest";

/// Runs the whole campaign, writes evidence and reports, prints the summary.
pub(super) fn command(common: &Common, certify: &Certify) -> Result<Exit, Failure> {
    let (evidence, written) = run(common, certify)?;
    match common.format {
        OutputForm::Json => output::print(&document(&evidence, &written)?)?,
        OutputForm::Text => {
            let places = places::of_run(&certify.dir, certify.out.as_deref());
            let summary = report::render(
                &evidence,
                FormatName::Terminal,
                &presentation(common, Some(written), places),
            );
            output::print_bytes(&summary.map_err(|error| Failure::tool(error.to_string()))?)?;
        }
    }
    Ok(exit(evidence.campaign.conclusion.exit_code))
}

/// Runs the whole campaign, writes evidence and reports.
pub(super) fn run(common: &Common, certify: &Certify) -> Result<(Evidence, Written), Failure> {
    let plan = plan::plan_of(common, &certify.check)?;
    let mut project = project::load(&certify.dir)?;
    leave_out(&mut project, certify)?;
    let (schedules, replay) = certify.schedules.over(project.settings.value.schedules)?;
    let request = CampaignRequest {
        plan,
        repeat: certify.repetition.repeat,
        schedules: Some(schedules),
        replay,
        record_mode: certify.recording.record_mode.mode(),
        witnesses: certify.recording.witnesses(),
    };
    let SetUp { campaign, engines } = set_up(project, &request)?;
    engines.iter().for_each(plan::tell_notes);
    let prepared = campaign.prepare()?;
    // What is wrong with the input is told before what the machine lacks.
    let out = certify.out.clone().unwrap_or_else(|| campaign.project.root.join("reports"));
    let folder = PendingFolder::start(&out, SECTION)?;
    let outcome = campaign.run(&prepared, &mut engines?, &Progress::new(common))?;
    if let Some(folder) = &certify.save_outputs {
        save::outputs(folder, &prepared, &outcome.laid_out, &outcome.runs)?;
    }
    drop(prepared);
    let sealed = campaign.seal(&outcome)?;
    let written = write(&sealed, folder, &out)?;
    Ok((sealed.evidence, written))
}

fn exit(code: u8) -> Exit {
    let all = [Exit::Success, Exit::Failed, Exit::Usage, Exit::Tool, Exit::Unavailable];
    all.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Tool)
}

/// Removes the tests that `--without` names and those that `--only` does not; an unknown id is an
/// error.
fn leave_out(project: &mut Project, certify: &Certify) -> Result<(), Failure> {
    let options = [("--without", &certify.without), ("--only", &certify.only)];
    let asked = options.iter().flat_map(|(option, ids)| ids.iter().map(move |id| (option, id)));
    for (option, id) in asked {
        if !project.tests.iter().any(|test| test.id.as_str() == id) {
            let known: Vec<&str> = project.tests.iter().map(|test| test.id.as_str()).collect();
            let diagnostic =
                Diagnostic::new("unknown-id", format!("{option}: no test is named `{id}`"));
            let hint = crate::requirement::nearest::did_you_mean(id, &known);
            let list = places::of_run(&certify.dir, None).on_project("vkcert list tests", "");
            return Err(
                Diagnostic { hint: hint.or(Some(format!("see {list}"))), ..diagnostic }.into()
            );
        }
    }
    let named = |ids: &[String], test: &TestId| ids.iter().any(|id| test.as_str() == id);
    let stays = |test: &TestId| match certify.only.is_empty() {
        true => !named(&certify.without, test),
        false => named(&certify.only, test),
    };
    project.left_out = project.tests.extract_if(.., |test| !stays(&test.id)).collect();
    Ok(())
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Document<'w> {
    #[serde(flatten)]
    campaign: &'w Campaign,
    root: &'w str,
    reports: &'w str,
}

/// The campaign with the hashes that all of the evidence and the reports are known by.
fn document(evidence: &Evidence, written: &Written) -> Result<String, Failure> {
    let document =
        Document { campaign: &evidence.campaign, root: &written.root, reports: &written.reports };
    canonical_lines(&document).map_err(unwritten)
}

/// A value that cannot be written as JSON is a defect of the tool.
fn unwritten(error: serde_json::Error) -> Failure {
    Failure::tool(error.to_string())
}

/// Writes evidence and reports, and the list of both hashes.
fn write(sealed: &SealedEvidence, folder: PendingFolder, out: &Path) -> Result<Written, Failure> {
    let SealedEvidence { evidence, files } = sealed;
    let write_evidence = || {
        for (name, bytes) in files {
            folder.write(&format!("evidence/{name}"), bytes)?;
        }
        folder.write(
            &format!("evidence/{MANIFEST}"),
            &canonical(&evidence.manifest).map_err(unwritten)?,
        )
    };
    let (reports_rendered, evidence_written) = rayon::join(|| rendered(evidence), write_evidence);
    evidence_written?;
    let mut names = vec!["evidence"];
    let mut reports = BTreeMap::new();
    for (file, bytes) in reports_rendered? {
        folder.write(file, &bytes)?;
        reports.insert(file.to_owned(), sha256_digits(&bytes));
        names.push(file);
    }
    let root = evidence.root().map_err(unwritten)?;
    let list =
        canonical(&ReportList { schema: 1, root: root.clone(), reports }).map_err(unwritten)?;
    folder.write(REPORTS, &list)?;
    let files = names.iter().map(|name| crate::model::path::shown(&out.join(name))).collect();
    names.push(REPORTS);
    folder.finish(&names)?;
    Ok(Written { root, reports: sha256_digits(&list), files })
}

/// Every report that is a file, with its name, rendered on all cores.
fn rendered(evidence: &Evidence) -> Result<Vec<(&'static str, Vec<u8>)>, Failure> {
    FORMATS
        .par_iter()
        .filter_map(|row| Some((row.name, row.file?)))
        .map(|(name, file)| {
            let bytes = report::render(evidence, name, &report::Presentation::default());
            Ok((file, bytes.map_err(|error| Failure::tool(error.to_string()))?))
        })
        .collect()
}

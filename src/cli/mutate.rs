//! `vkcert mutate`: whether the tests of a project would notice small faults in its kernels.

mod tables;

use super::args::{Common, EngineArgument, Mutate, OutputForm};
use super::baseline::evidence_of_project;
use super::failure::Failure;
use super::output;
use super::plan;
use crate::campaign::certification::{CampaignRequest, SetUp, set_up};
use crate::campaign::engines::DeviceEngine;
use crate::campaign::mutation::{
    MutantModules, MutationDevice, MutationEngines, MutationRequest, ProjectMutation,
    mutate_project, unchanged_kernels,
};
use crate::campaign::plan::{EngineChoice, EngineRequest, RunPlan};
use crate::campaign::project;
use crate::coverage::ApproverRule;
use crate::derivation::conclusion::because_of_score;
use crate::derivation::mutation::{
    AcceptanceRules, MutantJustificationOutcome, Traces, accept_mutants, summarize,
};
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::{
    JudgingTests, MutantEdit, MutantEvidence, MutantPair, MutantRuns, MutantStatus,
    MutationEvidence, MutationExtent, MutationOrder, MutationScore, MutationSummary,
    ThresholdStanding, UnreachedPlace, mutants_with_kernels,
};
use crate::model::exit::Exit;
use crate::model::id::KernelName;
use crate::model::mutation::MUTATION_OPERATORS;
use crate::model::place::SourceFile;
use crate::report::mutant_diff;
use crate::requirement::Project;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What is to be known of mutants that one module selects.
const DOUBT_OF_ONE_MODULE: &str = "Mutants were selected in one module of each kernel (--one-module): some may have been \
                                   judged as something else than their diff shows.\n";

/// Mutates the kernels of a project and prints what no test noticed.
pub(super) fn mutate_kernels(common: &Common, arguments: &Mutate) -> Result<Exit, Failure> {
    let mut request = request_of(arguments)?;
    refuse_other_step_limit(common)?;
    let engines = EngineRequest::Explicit(engines_of_mutants(common)?);
    let plan = RunPlan { engines, ..plan::plan_of(common, "all")? };
    let workers = plan.workers;
    let loaded = project::load_project(&arguments.dir)?;
    let SetUp { campaign, engines } =
        set_up(loaded, &CampaignRequest { plan, ..CampaignRequest::default() })?;
    let prepared_tests = campaign.prepare()?;
    let project = &campaign.project;
    let mut carried = Vec::new();
    if let Some(path) = &arguments.baseline {
        let stored = evidence_of_project(path, &project.settings.value.name)?;
        request.unchanged = unchanged_kernels(
            project,
            &campaign.kernels,
            &prepared_tests,
            &stored,
            request.extent.order,
        );
        carried = carried_kernels(stored.mutations, &request);
    }
    let mut engines = engines?;
    let sequential = engines.sequential();
    let device_engine = match &mut engines.vulkan {
        DeviceEngine::Ready(executor) => Some(MutationDevice { executor, workers }),
        DeviceEngine::NotRun { .. } | DeviceEngine::NotAsked => None,
    };
    let device_name = device_engine.as_ref().map(|device| {
        let identity = device.executor.device();
        format!("{}, {} {}", identity.name, identity.driver_name, identity.driver_info)
    });
    let ProjectMutation { facts, files } = mutate_project(
        project,
        &campaign.kernels,
        &prepared_tests,
        MutationEngines { sequential: &sequential, device: device_engine },
        &request,
    )?;
    let counting = match carried.is_empty() && !request.unchanged.is_empty() {
        true => UnchangedKernels::LeftOut,
        false => UnchangedKernels::AsBefore,
    };
    let mut mutations = facts.mutations;
    mutations.extend(carried);
    let place =
        |name: &KernelName| campaign.kernels.iter().position(|kernel| kernel.name == name.as_str());
    mutations.sort_by_key(|kernel| place(&kernel.kernel));
    let rejected = accept_justified(project, &mut mutations);
    let summary = summarize(facts.asked, &mutations, &Traces::of_project(project));
    mutations.retain(|kernel| !request.unchanged.contains(&kernel.kernel));
    let threshold = project.settings.value.mutation.map(|demand| demand.threshold);
    let outcome = MutationOutcome {
        mutations: &mutations,
        summary: &summary,
        files: &files,
        unchanged: &request.unchanged,
        counting,
        rejected: &rejected,
        device: device_name,
    };
    let standing = threshold.map(|threshold| outcome.against_threshold(threshold));
    let demand = project.settings.value.mutation;
    let demand = demand.filter(|_| standing == Some(ThresholdStanding::Below));
    let low_score = demand.and_then(|demand| because_of_score(&summary, demand));
    match common.form() {
        OutputForm::Json => {
            let mut document = outcome.json_document(request.modules);
            document["threshold"] = json!(threshold);
            document["reaches_threshold"] = match standing {
                Some(ThresholdStanding::Reached) => json!(true),
                Some(ThresholdStanding::Below) => json!(false),
                Some(ThresholdStanding::NotKnown) | None => Value::Null,
            };
            output::print_text(&format!("{document:#}\n"))?;
        }
        OutputForm::Text => {
            let mut text = outcome.text();
            if request.modules == MutantModules::Together {
                text.push_str(DOUBT_OF_ONE_MODULE);
            }
            if let Some(reason) = &low_score {
                let _ = writeln!(text, "{reason}");
            }
            if let (Some(ThresholdStanding::NotKnown), Some(threshold)) = (standing, threshold) {
                let _ = writeln!(
                    text,
                    "the threshold of {threshold} % is of all mutants of the project: whether their score reaches it is not known"
                );
            }
            output::print_text(&text)?;
        }
    }
    Ok(match low_score {
        Some(_) => Exit::Failed,
        None => Exit::Success,
    })
}

/// The mutants of the baseline that count as they did there: those of kernels in which nothing has changed, of these
/// that are asked for. None where only some mutants or tests of each kernel are asked for.
fn carried_kernels(
    stored: Vec<MutationEvidence>,
    request: &MutationRequest,
) -> Vec<MutationEvidence> {
    let MutationExtent { operators, kernels, requirements, sample, .. } = &request.extent;
    let is_whole = operators.is_empty() && requirements.is_empty() && sample.is_none();
    let is_asked = |name: &KernelName| kernels.is_empty() || kernels.contains(name);
    let mut unchanged: Vec<MutationEvidence> = stored
        .into_iter()
        .filter(|kernel| {
            is_whole && request.unchanged.contains(&kernel.kernel) && is_asked(&kernel.kernel)
        })
        .collect();
    if request.extent.order.is_first() {
        unchanged.iter_mut().for_each(|kernel| kernel.pairs.clear());
    }
    unchanged
}

/// What becomes of kernels in which nothing has changed since the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnchangedKernels {
    /// Their mutants count as they did there.
    AsBefore,
    /// They count for nothing.
    LeftOut,
}

/// Marks the mutants that the project's justifications accept; the justifications that are rejected, as sentences.
fn accept_justified(project: &Project, mutations: &mut [MutationEvidence]) -> Vec<String> {
    let rules = AcceptanceRules {
        approval: ApproverRule::for_level(project.settings.value.level),
        lacks_tests: false,
    };
    let justifications = || project.justifications.iter().map(|located| &located.value);
    let outcomes = accept_mutants(mutations, justifications(), &rules);
    let rejected = justifications().zip(outcomes).filter_map(|(justification, outcome)| {
        let Some(MutantJustificationOutcome::Rejected(reason)) = outcome else { return None };
        let (subject, kernel) = (&justification.subject, justification.kernel);
        Some(format!("the justification of {subject} of kernel {kernel} is rejected: {reason}"))
    });
    rejected.collect()
}

/// The limit of a mutant follows from that of its test, so that a score is of the project alone.
pub(super) fn refuse_other_step_limit(common: &Common) -> Result<(), Failure> {
    if common.max_steps.is_none() {
        return Ok(());
    }
    let message =
        "--max-steps does not go with mutants: what ends them decides whether they are killed";
    let hint = "`steps` under [limits] of vkcert.toml, or of a test, is the limit of both";
    Err(Diagnostic::new("usage", message).hint(hint).into())
}

/// The sequential engine decides about mutants; a device can judge them beside it.
fn engines_of_mutants(common: &Common) -> Result<EngineChoice, Failure> {
    match (common.engine, &common.device) {
        (Some(EngineArgument::Both), _) | (None, Some(_)) => Ok(EngineChoice::Both),
        (Some(EngineArgument::Sequential) | None, None) => Ok(EngineChoice::Sequential),
        (Some(EngineArgument::Sequential), Some(_)) => {
            let message = "a device was named, and the sequential engine alone was asked for";
            Err(Diagnostic::new("usage", message).into())
        }
        (Some(EngineArgument::Vulkan), _) => {
            let message = "a device judges mutants beside the sequential engine, not alone";
            Err(Diagnostic::new("usage", message).hint("use `--engine both`").into())
        }
    }
}

fn request_of(arguments: &Mutate) -> Result<MutationRequest, Failure> {
    let judges = match arguments.matrix {
        true => JudgingTests::All,
        false => JudgingTests::UntilKilled,
    };
    let modules = match arguments.one_module {
        true => MutantModules::Together,
        false => MutantModules::Each,
    };
    let extent = arguments.mutants.extent(judges, arguments.seed)?;
    Ok(MutationRequest { extent, modules, ..MutationRequest::default() })
}

/// What is known of why no test noticed something; empty where nothing is.
fn reason_of_open(status: MutantStatus, runs: &MutantRuns) -> String {
    match status {
        MutantStatus::Survived => runs.other_contents_in_words().unwrap_or_default(),
        MutantStatus::Undecided => runs.reason().unwrap_or_default().to_owned(),
        MutantStatus::NoTest
        | MutantStatus::NoCoverage
        | MutantStatus::Killed
        | MutantStatus::Equivalent
        | MutantStatus::NotCompiled
        | MutantStatus::Duplicate
        | MutantStatus::Accepted => String::new(),
    }
}

/// A change of a text, as it is printed.
struct ToldChange<'t> {
    /// What became of it.
    outcome: &'t str,
    /// In the order of files and texts.
    edits: &'t [MutantEdit],
    /// Its mutants.
    name: &'t str,
    /// Empty where there is none.
    reason: &'t str,
}

/// What tests made of mutants, as it is printed.
struct MutationOutcome<'m> {
    mutations: &'m [MutationEvidence],
    summary: &'m MutationSummary,
    /// The files that edits are of.
    files: &'m [SourceFile],
    /// Kernels whose mutants were not judged again.
    unchanged: &'m BTreeSet<KernelName>,
    counting: UnchangedKernels,
    /// Justifications of mutants that are not accepted, each with the reason.
    rejected: &'m [String],
    /// Device and driver; none where no device judged.
    device: Option<String>,
}

impl MutationOutcome<'_> {
    fn against_threshold(&self, threshold: f64) -> ThresholdStanding {
        let standing = self.summary.against_threshold(threshold);
        let is_below = standing == ThresholdStanding::Below && !self.mutations.is_empty();
        match self.counting {
            UnchangedKernels::AsBefore => standing,
            UnchangedKernels::LeftOut if is_below => ThresholdStanding::Below,
            UnchangedKernels::LeftOut => ThresholdStanding::NotKnown,
        }
    }

    fn diff(&self, edits: &[MutantEdit]) -> String {
        let text_of = |path: &str| {
            let file = self.files.iter().find(|file| file.path == path);
            file.map(|file| &*file.text)
        };
        mutant_diff(edits, text_of)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (kernel, mutant) in mutants_with_kernels(self.mutations) {
            self.write_open_mutant(&mut text, kernel, mutant);
        }
        for kernel in self.mutations {
            for place in UnreachedPlace::of_kernel(kernel) {
                let _ = writeln!(
                    text,
                    "{} {place}: mutants of kernel {}: {}; no test executes what is changed there",
                    MutantStatus::NoCoverage.word(),
                    kernel.kernel,
                    place.mutants
                );
            }
        }
        for kernel in self.mutations {
            for note in kernel.all_notes() {
                let _ = writeln!(text, "note: kernel {}: {note}", kernel.kernel);
            }
        }
        let counting = match self.counting {
            UnchangedKernels::AsBefore => "its mutants count as they did there",
            UnchangedKernels::LeftOut => "its mutants were not judged again, and do not count here",
        };
        let asked = &self.summary.asked.kernels;
        let is_asked = |kernel: &&KernelName| asked.is_empty() || asked.contains(kernel);
        for kernel in self.unchanged.iter().filter(is_asked) {
            let _ = writeln!(
                text,
                "note: kernel {kernel}: nothing has changed since the baseline; {counting}"
            );
        }
        if !text.is_empty() {
            text.push('\n');
        }
        for table in tables::all_tables(self.summary) {
            let _ = writeln!(text, "{table}");
        }
        if self.summary.asked.order == MutationOrder::Second {
            self.write_pairs(&mut text);
            text.push('\n');
        }
        for sentence in self.rejected {
            let _ = writeln!(text, "warning: {sentence}");
        }
        text.push_str(&score_in_words(self.summary));
        if let Some(device) = &self.device {
            self.write_device(&mut text, device);
        }
        text
    }

    /// What a device made of mutants, and those that an expectation told from the kernel on one engine alone.
    fn write_device(&self, text: &mut String, device: &str) {
        text.push('\n');
        for (kernel, mutant) in mutants_with_kernels(self.mutations) {
            if let Some(agreement) = mutant.agreement().filter(|own| own.is_difference()) {
                self.write_mutant(text, kernel, mutant, agreement.words(), "");
            }
        }
        let _ = writeln!(text, "On {device}:");
        for row in &self.summary.by_agreement {
            let _ = writeln!(text, "{:>8}  {}", row.mutants, row.agreement.words());
        }
        text.push_str(
            "These are the mutants that compile and are no duplicates. The score is that of the sequential engine.\n",
        );
    }

    /// Pairs of mutants, each of which tests notice by itself.
    fn write_pairs(&self, text: &mut String) {
        for kernel in self.mutations {
            for pair in kernel.pairs.iter().filter(|pair| pair.status.is_open()) {
                self.write_open_pair(text, kernel, pair);
            }
        }
        let _ = writeln!(text, "{}", tables::table_of_pairs(self.summary));
        text.push_str(
            "Pairs of mutants that tests kill one by one; they do not count for the score.\n",
        );
    }

    /// A pair that no test noticed.
    fn write_open_pair(&self, text: &mut String, kernel: &MutationEvidence, pair: &MutantPair) {
        let parts = kernel.mutants_of_pair(pair);
        let ids: Vec<String> = parts.iter().map(|mutant| mutant.id().to_string()).collect();
        let edits: Vec<MutantEdit> =
            parts.iter().flat_map(|mutant| &mutant.edits).cloned().collect();
        self.write_change(
            text,
            &ToldChange {
                outcome: pair.status.word(),
                edits: &edits,
                name: &format!("mutants {} of kernel {} at once", ids.join(" and "), kernel.kernel),
                reason: &reason_of_open(pair.status, &pair.runs),
            },
        );
    }

    /// One that counts and that no test noticed; those that no test reaches are told by place.
    fn write_open_mutant(
        &self,
        text: &mut String,
        kernel: &MutationEvidence,
        mutant: &MutantEvidence,
    ) {
        let status = mutant.status;
        if status.is_open() && status != MutantStatus::NoCoverage {
            let reason = reason_of_open(status, &mutant.runs);
            self.write_mutant(text, kernel, mutant, status.word(), &reason);
        }
    }

    /// A mutant with words for what became of it, and its change.
    fn write_mutant(
        &self,
        text: &mut String,
        kernel: &MutationEvidence,
        mutant: &MutantEvidence,
        outcome: &str,
        reason: &str,
    ) {
        let codes = codes(mutant).join(", ");
        let name = format!("mutant {} of kernel {} ({codes})", mutant.id(), kernel.kernel);
        let edits = &mutant.edits;
        self.write_change(text, &ToldChange { outcome, edits, name: &name, reason });
    }

    fn write_change(&self, text: &mut String, told: &ToldChange<'_>) {
        let ToldChange { outcome, edits, name, reason } = told;
        let place = edits.first().expect("a mutant changes something").place();
        let colon = if reason.is_empty() { "" } else { ": " };
        let _ = writeln!(text, "{outcome} {place}: {name}{colon}{reason}");
        text.push_str(&self.diff(edits));
        text.push('\n');
    }

    fn pairs_json(&self) -> Vec<Value> {
        let kernels = self.mutations.iter();
        let pairs = kernels.flat_map(|kernel| kernel.pairs.iter().map(move |pair| (kernel, pair)));
        let pairs = pairs.map(|(kernel, pair)| {
            json!({
                "kernel": kernel.kernel,
                "parts": pair.parts,
                "relation": pair.relation,
                "status": pair.status,
            })
        });
        pairs.collect()
    }

    fn json_document(&self, modules: MutantModules) -> Value {
        let kernels = self.mutations.iter().map(|kernel| {
            let mutants = kernel.mutants.iter().map(|mutant| self.mutant_json(mutant));
            json!({
                "kernel": kernel.kernel,
                "population": kernel.population,
                "tests": kernel.tests,
                "mutants": mutants.collect::<Vec<_>>(),
                "unreached": UnreachedPlace::of_kernel(kernel),
                "notes": kernel.all_notes().collect::<Vec<_>>(),
            })
        });
        let operators: Vec<Value> = MUTATION_OPERATORS
            .iter()
            .map(|row| json!({ "code": row.code, "description": row.description }))
            .collect();
        let modules = match modules {
            MutantModules::Each => "each",
            MutantModules::Together => "together",
        };
        json!({
            "schema": 1,
            "modules": modules,
            "unchanged": self.unchanged,
            "rejected": self.rejected,
            "operators": operators,
            "kernels": kernels.collect::<Vec<_>>(),
            "second_order": self.pairs_json(),
            "device": self.device.as_ref().map(|name| json!({ "name": name, "mutants": self.device_json() })),
            "score": score_json(self.summary),
            "summary": self.summary,
        })
    }

    /// What a device made of mutants.
    fn device_json(&self) -> Vec<Value> {
        let rows = mutants_with_kernels(self.mutations).filter_map(|(kernel, mutant)| {
            let own = mutant.on_device.as_ref()?;
            Some(json!({
                "kernel": kernel.kernel,
                "id": mutant.id(),
                "tests": own.tests,
                "module": own.module,
                "agreement": mutant.agreement(),
            }))
        });
        rows.collect()
    }

    fn mutant_json(&self, mutant: &MutantEvidence) -> Value {
        let edit = mutant.edits.first().expect("a mutant changes something");
        let mut value = json!({
            "id": mutant.id(),
            "number": mutant.number,
            "operators": mutant.operators,
            "file": edit.file,
            "line": edit.line,
            "column": edit.column,
            "edits": mutant.edits,
            "diff": self.diff(&mutant.edits),
            "status": mutant.status,
        });
        if let MutantRuns::Judged(verdicts) = &mutant.runs {
            value["tests"] = json!(verdicts);
        }
        if let Some(cause) = mutant.runs.kill_cause() {
            value["killed_by"] = json!(cause.word());
        }
        if let Some(reason) = mutant.runs.reason() {
            value["reason"] = json!(reason);
        }
        if let Some(first) = mutant.runs.same_as() {
            value["same_as"] = json!(first);
        }
        if let Some(proof) = mutant.proof {
            value["proof"] = json!(proof.name());
        }
        if let Some(acceptance) = &mutant.acceptance {
            value["acceptance"] = json!(acceptance);
        }
        value
    }
}

fn codes(mutant: &MutantEvidence) -> Vec<&'static str> {
    mutant.operators.iter().map(|operator| operator.code()).collect()
}

fn score_json(summary: &MutationSummary) -> Value {
    let score = MutationScore::of_summary(summary);
    let mut value = json!({
        "judged": score.judged,
        "killed": score.killed,
        "by_expectation": summary.counts.by_expectation,
        "percent": score.percent(),
    });
    if let Some(interval) = score.interval() {
        value["interval"] = json!({ "low": interval.low, "high": interval.high, "confidence": 95 });
    }
    value
}

/// The score, with what it says too little of.
fn score_in_words(summary: &MutationSummary) -> String {
    if summary.counts.judged() == 0 {
        return "no mutant was judged\n".to_owned();
    }
    let mut words = format!(
        "mutation score {}; by expectations alone {}\n",
        summary.score_in_words(),
        MutationScore::by_expectation(summary),
    );
    if let Some(uncounted) = summary.counts.uncounted_in_words() {
        let _ = writeln!(words, "not counted: {uncounted}");
    }
    if let Some(score) = summary.score_with_accepted() {
        let _ = writeln!(words, "with the accepted ones {score}");
    }
    if summary.counts.survived > 0 {
        words.push_str(
            "Of the mutants that survived, some may do what the kernel does, without a proof.\n",
        );
    }
    words
}

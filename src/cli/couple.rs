//! `vkcert couple`: the coupling checks alone.

use super::args::{Common, Couple, GraphForm, OutputForm};
use super::failure::Failure;
use super::output;
use super::plan;
use crate::campaign::coupling::{
    CouplingSources, HostReadings, KernelCoupling, StoredCoupling, TestFacts, TouchedBytes,
};
use crate::campaign::engines::EngineSettings;
use crate::campaign::kernel::Kernel;
use crate::campaign::test_run::PreparedTest;
use crate::campaign::{captures, coupling, execution, headers, project};
use crate::derivation::open_items::{self, CouplingItems};
use crate::exec::sequential::SequentialExecutor;
use crate::exec::{Job, Unobserved};
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::{
    CheckStatus, CouplingCheck, CouplingCheckName, CouplingEvidence, KernelFinding,
};
use crate::model::exit::Exit;
use crate::model::finding::{Checks, Finding, FindingKind};
use crate::model::id::KernelName;
use crate::model::open_item::{OpenItem, OpenItemSubject};
use crate::model::path::display_path;
use crate::model::requirement::Interface;
use crate::model::schedule::Schedules;
use crate::report::{self, InterfacePlaces};
use crate::requirement::{Located, Project};
use serde_json::json;

/// Checks every interface of the project; exit 1 where a check is refuted, or undetermined and not
/// accepted by the project.
pub(super) fn check_coupling(common: &Common, couple: &Couple) -> Result<Exit, Failure> {
    if let (Some(_), Some(_)) = (common.line_form(), couple.graph) {
        let message = "--graph prints graphs: it goes with `--format text` and `json` alone";
        return Err(Diagnostic::new("usage", message).into());
    }
    let plan = plan::plan_of(common, "all")?;
    let loaded = project::load_project(&couple.dir)?;
    let kernels: Vec<Kernel> =
        project::compile_kernels(&loaded)?.into_iter().map(Kernel::unconfigured).collect();
    let prepared_tests =
        execution::prepare_project(&loaded, &kernels, &plan, (Schedules::default(), None))?;
    let captures = captures::read_captures(&loaded, &kernels)?;
    let headers = headers::read_headers(&loaded, plan.worker.as_deref())?;
    let host_readings = HostReadings { headers, captures };
    let engines = plan::open_engines(&plan, None, EngineSettings::default())?;
    let device = coupling::device_limits(&engines);
    let told_by_tests = told_by_tests(&prepared_tests)?;
    let test_facts: Vec<TestFacts<'_>> = told_by_tests
        .iter()
        .map(|told| TestFacts { touched: &told.touched, findings: &told.findings })
        .collect();
    let sources = CouplingSources {
        project: &loaded,
        kernels: &kernels,
        prepared_tests: &prepared_tests,
        test_facts: &test_facts,
        device: device.as_ref(),
        host_readings: &host_readings,
    };
    let results = sources.analyse()?;
    let stored: Vec<StoredCoupling> = results.iter().cloned().map(KernelCoupling::stored).collect();
    let findings: Vec<KernelFinding> =
        stored.iter().flat_map(|stored| stored.findings.iter().cloned()).collect();
    let rows: Vec<CouplingEvidence> = stored.into_iter().map(|stored| stored.row).collect();
    let items = open_items::coupling_items(&rows, &loaded.settings.value);
    let exit = if is_met(&rows, &items) { Exit::Success } else { Exit::Failed };
    if let Some(form) = common.line_form() {
        let places = interface_places(&loaded, couple);
        let lines = report::coupling_lines(&standing_rows(rows, &items), &findings, &places, form);
        output::print_text(&lines)?;
        return Ok(exit);
    }
    match (common.form(), couple.graph) {
        (OutputForm::Json, _) => {
            let findings: Vec<_> = findings.iter().map(|row| &row.finding).collect();
            output::print_text(&format!(
                "{:#}\n",
                json!({
                    "schema": 1,
                    "kernels": rows,
                    "findings": findings,
                    "open_items": items.open_items,
                    "rejected_acceptances": items.rejected_acceptances,
                })
            ))?;
        }
        (OutputForm::Text, Some(GraphForm::Svg)) => {
            output::print_text(&report::coupling_svg(&rows))?;
        }
        (OutputForm::Text, Some(GraphForm::Text)) => print_graphs(&results, graph_in_words)?,
        (OutputForm::Text, Some(GraphForm::Dot)) => print_graphs(&results, graphviz_text)?,
        (OutputForm::Text, Some(GraphForm::Json)) => print_graphs(&results, graph_json)?,
        (OutputForm::Text, None) => {
            let mut text = String::new();
            for kernel_coupling in &results {
                text.push_str(&format!("{}\n", kernel_coupling.kernel));
                text.push_str(&kernel_lines(&kernel_coupling.coupling.checks));
                text.push_str(&item_lines(&kernel_coupling.kernel, &items));
            }
            text.push_str(&rejected_lines(&items));
            if results.is_empty() {
                text.push_str("the project describes no host: no [[interface]] in requirements/\n");
            }
            output::print_text(&text)?;
        }
    }
    Ok(exit)
}

/// Whether every check holds, but for what the project accepts, and every acceptance accepts.
fn is_met(rows: &[CouplingEvidence], items: &CouplingItems) -> bool {
    let checks = rows.iter().flat_map(|row| &row.checks);
    let mut deciding = checks.filter(|check| {
        check.status != CheckStatus::Undetermined
            || open_items::kind_of_check(&check.check).is_none()
    });
    deciding.all(|check| check.status == CheckStatus::Holds)
        && !items.open_items.iter().any(OpenItem::stands)
        && items.rejected_acceptances.is_empty()
}

/// The rows without the checks that the project accepts as they are.
fn standing_rows(rows: Vec<CouplingEvidence>, items: &CouplingItems) -> Vec<CouplingEvidence> {
    let is_accepted = |kernel: &KernelName, check: &CouplingCheck| {
        let mut accepted = items.open_items.iter().filter(|item| !item.stands());
        check.status == CheckStatus::Undetermined
            && accepted.any(|item| {
                is_item_of(item, kernel)
                    && open_items::kind_of_check(&check.check) == Some(item.kind)
            })
    };
    let mut rows = rows;
    for row in &mut rows {
        let kernel = row.kernel;
        row.checks.retain(|check| !is_accepted(&kernel, check));
    }
    rows
}

fn is_item_of(item: &OpenItem, kernel: &KernelName) -> bool {
    let subject = match &item.subject {
        Some(OpenItemSubject::Accesses { kernel, .. }) => Some(kernel),
        Some(
            OpenItemSubject::Criterion(_)
            | OpenItemSubject::Kernel(_)
            | OpenItemSubject::Function { .. }
            | OpenItemSubject::Requirement(_)
            | OpenItemSubject::Test(_)
            | OpenItemSubject::Engine(_),
        )
        | None => None,
    };
    subject == Some(kernel)
}

/// What of a kernel is open as a whole: accepted with its reason, or not.
fn item_lines(kernel: &KernelName, items: &CouplingItems) -> String {
    let width = output::stdout_width();
    let of_kernel = items.open_items.iter().filter(|item| is_item_of(item, kernel));
    let mut text = String::new();
    for item in of_kernel {
        let OpenItem { name, sentence, acceptance, .. } = item;
        let row = match acceptance {
            Some(approval) => {
                let reason = approval.reason.split_whitespace().collect::<Vec<_>>().join(" ");
                let signed = format!("{}, approved by {}", approval.author, approval.approver);
                sign_and_words(
                    "accepted",
                    &format!("{name}: {sentence}. {reason} ({signed})"),
                    width,
                )
            }
            None => sign_and_words("open", &format!("{name}: {sentence}"), width),
        };
        text.push_str(&row);
    }
    text
}

/// Acceptances of the project that accept nothing of coupling.
fn rejected_lines(items: &CouplingItems) -> String {
    let width = output::stdout_width();
    let rows = items.rejected_acceptances.iter().map(|row| {
        let words = format!("acceptance of {}: {}", row.item, row.reason);
        sign_and_words("rejected", &words, width)
    });
    rows.collect()
}

/// Where a project states its interfaces, for lines that name places.
fn interface_places(loaded: &Project, couple: &Couple) -> InterfacePlaces {
    let place_of = |interface: &Located<Interface>| {
        let position = interface.origin.at("kernel").position();
        let file = display_path(&couple.dir.join(loaded.relative_file(interface)));
        (interface.kernel, (file, position))
    };
    InterfacePlaces {
        folder: couple.dir.clone(),
        interfaces: loaded.interfaces.iter().map(place_of).collect(),
    }
}

/// What a run of a test on the sequential engine tells of the host.
#[derive(Default)]
struct ToldByTest {
    touched: Vec<TouchedBytes>,
    findings: Vec<Finding>,
}

/// What the tests access, and what they find out of bounds, from one run of each on the sequential
/// engine.
fn told_by_tests(prepared_tests: &[PreparedTest]) -> Result<Vec<ToldByTest>, Failure> {
    let told_by_test = |test: &PreparedTest| {
        let Ok(plan) = &test.job_plan else { return Ok(ToldByTest::default()) };
        let checks = Checks::of_kinds([FindingKind::OutOfBounds]);
        let job = Job { checks, ..plan.job.clone() };
        let counted_run =
            SequentialExecutor::default().run_with_lowering_counts(&job, &mut Unobserved);
        let counted_run = counted_run.map_err(|error| Failure::tool(error.to_string()))?;
        Ok(ToldByTest { touched: counted_run.touched, findings: counted_run.run.findings })
    };
    prepared_tests.iter().map(told_by_test).collect()
}

/// The checks of a kernel. Of accesses only those in full that are not shown to be within bounds.
fn kernel_lines(checks: &[CouplingCheck]) -> String {
    let width = output::stdout_width();
    let is_of_bounds = |check: &CouplingCheck| check.check == CouplingCheckName::IndexBounds;
    let is_proved_access =
        |check: &CouplingCheck| is_of_bounds(check) && check.status == CheckStatus::Holds;
    let mut text = String::new();
    for check in checks.iter().filter(|check| !is_of_bounds(check)) {
        text.push_str(&check_lines(check, width));
    }
    let count = |rows: &mut dyn Iterator<Item = &CouplingCheck>| -> u32 {
        rows.map(|check| check.accesses.unwrap_or(0)).sum()
    };
    let all = count(&mut checks.iter().filter(|check| is_of_bounds(check)));
    let proved = count(&mut checks.iter().filter(|check| is_proved_access(check)));
    if proved > 0 {
        let summary = CouplingCheck {
            check: CouplingCheckName::IndexBounds,
            status: CheckStatus::Holds,
            message: format!("{proved} of {all} accesses are proved to be within what they access"),
            counterexample: None,
            accesses: Some(proved),
            subjects: Vec::new(),
        };
        text.push_str(&check_lines(&summary, width));
    }
    // Without accesses the row that says so.
    let is_shown = |check: &CouplingCheck| !is_proved_access(check) || all == 0;
    for check in checks.iter().filter(|check| is_of_bounds(check) && is_shown(check)) {
        text.push_str(&check_lines(check, width));
    }
    text
}

/// A check and its counterexample, broken between words within the width of a terminal.
fn check_lines(check: &CouplingCheck, width: Option<u16>) -> String {
    // What is refuted whatever the parameters has no values.
    let values = check.counterexample.as_ref().filter(|parameters| !parameters.is_empty());
    let counterexample = values.map(|parameters| {
        let values: Vec<String> =
            parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("for {}", values.join(", "))
    });
    // A refuted check most often names its values itself.
    let counterexample =
        counterexample.filter(|sentence| !check.message.contains(sentence.as_str()));
    let mut text = sign_and_words(
        &check.status.to_string(),
        &format!("{}: {}", check.check, check.message),
        width,
    );
    if let Some(sentence) = counterexample {
        text.push_str(&sign_and_words("", &sentence, width));
    }
    text
}

/// A word in a column of its own, and a sentence beside it.
fn sign_and_words(sign: &str, sentence: &str, width: Option<u16>) -> String {
    const INDENT: usize = 16;
    let line_width = width.map_or(usize::MAX, |width| usize::from(width.max(40)) - INDENT);
    let mut text = String::new();
    for (line_number, line) in report::wrap(sentence, line_width).into_iter().enumerate() {
        let sign = if line_number == 0 { sign } else { "" };
        text.push_str(&format!("  {sign:<12}  {line}\n"));
    }
    text
}

/// The graph of each kernel, in one form.
fn print_graphs(
    results: &[coupling::KernelCoupling],
    graph_text: fn(&coupling::KernelCoupling) -> String,
) -> Result<(), Failure> {
    for kernel_coupling in results {
        output::print_text(&graph_text(kernel_coupling))?;
    }
    Ok(())
}

fn graph_in_words(kernel_coupling: &coupling::KernelCoupling) -> String {
    format!("kernel {}\n{}", kernel_coupling.kernel, kernel_coupling.coupling.graph.in_words())
}

fn graphviz_text(kernel_coupling: &coupling::KernelCoupling) -> String {
    kernel_coupling.coupling.graph.graphviz_text(kernel_coupling.kernel.as_str())
}

fn graph_json(kernel_coupling: &coupling::KernelCoupling) -> String {
    let graph = &kernel_coupling.coupling.graph;
    let (nodes, edges) = (graph.nodes(), graph.edges());
    let kernel = &kernel_coupling.kernel;
    format!("{:#}\n", json!({ "kernel": kernel, "nodes": nodes, "edges": edges }))
}

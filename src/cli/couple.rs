//! `vkcert couple`: the coupling checks alone.

use super::args::{Common, Couple, GraphForm, OutputForm};
use super::failure::Failure;
use super::output;
use super::plan;
use crate::campaign::coupling::Touched;
use crate::campaign::engines::EngineSettings;
use crate::campaign::test_run::PreparedTest;
use crate::campaign::{coupling, execution, project};
use crate::exec::sequential::SequentialExecutor;
use crate::exec::{Executor, Job, Unobserved};
use crate::model::evidence::{CheckStatus, CouplingCheck};
use crate::model::exit::Exit;
use crate::model::finding::Checks;
use crate::model::schedule::Schedules;
use crate::report;
use serde_json::json;

/// Checks every interface of the project; exit 1 where a check is refuted or undetermined.
pub(super) fn command(common: &Common, couple: &Couple) -> Result<Exit, Failure> {
    let plan = plan::plan_of(common, "all")?;
    let loaded = project::load(&couple.dir)?;
    let kernels = project::compile(&loaded)?;
    let prepared = execution::prepare(&loaded, &kernels, &plan, (Schedules::default(), None))?;
    let engines = plan::open_engines(&plan, None, EngineSettings::default())?;
    let device = coupling::device_limits(&engines);
    let touched = accesses(&prepared)?;
    let results = coupling::analyse(&loaded, &kernels, &prepared, &touched, device.as_ref())?;
    match (common.format, couple.graph) {
        (OutputForm::Json, _) => {
            let (rows, findings) = coupling::evidence(&results);
            let findings: Vec<_> = findings.iter().map(|row| &row.finding).collect();
            output::print(&format!(
                "{:#}\n",
                json!({ "schema": 1, "kernels": rows, "findings": findings })
            ))?;
        }
        (OutputForm::Text, Some(form)) => {
            for row in &results {
                output::print(&graph(row, form)?)?;
            }
        }
        (OutputForm::Text, None) => {
            let mut text = String::new();
            for row in &results {
                text.push_str(&format!("{}\n", row.kernel));
                row.coupling
                    .checks
                    .iter()
                    .for_each(|check| text.push_str(&lines(check, output::stdout_width())));
            }
            if results.is_empty() {
                text.push_str("the project describes no host: no [[interface]] in requirements/\n");
            }
            output::print(&text)?;
        }
    }
    let holds = results
        .iter()
        .flat_map(|row| &row.coupling.checks)
        .all(|check| check.status == CheckStatus::Holds);
    Ok(if holds { Exit::Success } else { Exit::Failed })
}

/// What the tests access, from one run of each on the sequential engine.
fn accesses(prepared: &[PreparedTest]) -> Result<Vec<Touched>, Failure> {
    let one = |test: &PreparedTest| {
        let Ok(plan) = &test.plan else { return Ok(Touched::new()) };
        let job = Job { checks: Checks::none(), ..plan.job.clone() };
        let run = SequentialExecutor::default().run_counting(&job, &mut Unobserved);
        let (_, counts) = run.map_err(|error| Failure::tool(error.to_string()))?;
        Ok(counts.touched)
    };
    prepared.iter().map(one).collect()
}

/// A check and its counterexample, broken between words within the width of a terminal.
fn lines(check: &CouplingCheck, width: Option<u16>) -> String {
    const INDENT: usize = 16;
    let values = check.counterexample.as_ref().map(|values| {
        let values: Vec<String> =
            values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("for {}", values.join(", "))
    });
    // A refuted check most often names its values itself.
    let values = values.filter(|values| !check.message.contains(values.as_str()));
    let room = width.map_or(usize::MAX, |width| usize::from(width.max(40)) - INDENT);
    let mut text = String::new();
    for (index, part) in [Some(format!("{}: {}", check.check, check.message)), values]
        .into_iter()
        .flatten()
        .enumerate()
    {
        for (number, line) in report::wrap(&part, room).into_iter().enumerate() {
            let status =
                if (index, number) == (0, 0) { check.status.to_string() } else { String::new() };
            text.push_str(&format!("  {status:<12}  {line}\n"));
        }
    }
    text
}

fn graph(row: &coupling::KernelCoupling, form: GraphForm) -> Result<String, Failure> {
    let graph = &row.coupling.graph;
    Ok(match form {
        GraphForm::Text => format!("kernel {}\n{}", row.kernel, graph.text()),
        GraphForm::Dot => graph.dot(row.kernel.as_str()),
        GraphForm::Json => {
            format!(
                "{:#}\n",
                json!({ "kernel": row.kernel, "nodes": graph.nodes(), "edges": graph.edges() })
            )
        }
        GraphForm::Svg => {
            return Err(Failure::Unavailable {
                message: "unsupported: --graph svg is not part of this version".to_owned(),
                hint: Some(
                    "`--graph dot` prints what Graphviz draws: pipe it to `dot -Tsvg`".to_owned(),
                ),
            });
        }
    })
}

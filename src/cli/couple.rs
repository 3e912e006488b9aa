//! `vkcert couple`: the coupling checks alone.

use super::args::{Common, Couple, GraphForm, OutputForm};
use super::engines::{EngineSettings, Engines};
use super::exit::Exit;
use super::failure::Failure;
use super::plan::Plan;
use super::{campaign, coupling, output, project};
use crate::model::evidence::CouplingCheck;
use serde_json::json;

/// Checks every interface of the project; exit 1 where a check is refuted or undetermined.
pub fn command(common: &Common, couple: &Couple) -> Result<Exit, Failure> {
    let plan = Plan::new(common, "all")?;
    let loaded = project::load(&couple.dir)?;
    let kernels = project::compile(&loaded)?;
    let prepared = campaign::prepare(&loaded, &kernels, &plan)?;
    let engines = Engines::open(&plan, None, EngineSettings::default())?;
    let device = coupling::device_limits(&engines);
    let results = coupling::analyse(&loaded, &kernels, &prepared, device.as_ref())?;
    match (common.format, couple.graph) {
        (OutputForm::Json, _) => {
            let (rows, findings) = coupling::evidence(&results);
            let findings: Vec<_> = findings.iter().map(|row| &row.finding).collect();
            output::print(&format!("{:#}\n", json!({ "schema": 1, "kernels": rows, "findings": findings })))?;
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
                row.coupling.checks.iter().for_each(|check| text.push_str(&line(check)));
            }
            if results.is_empty() {
                text.push_str("the project describes no host: no [[interface]] in requirements/\n");
            }
            output::print(&text)?;
        }
    }
    let holds = results.iter().flat_map(|row| &row.coupling.checks).all(|check| check.status == "holds");
    Ok(if holds { Exit::Success } else { Exit::Failed })
}

fn line(check: &CouplingCheck) -> String {
    let values = check.counterexample.as_ref().map(|values| {
        let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("{:16}for {}\n", "", values.join(", "))
    });
    format!("  {:<12}  {}: {}\n{}", check.status, check.check, check.message, values.unwrap_or_default())
}

fn graph(row: &coupling::KernelCoupling, form: GraphForm) -> Result<String, Failure> {
    let graph = &row.coupling.graph;
    Ok(match form {
        GraphForm::Text => graph.text(),
        GraphForm::Dot => graph.dot(),
        GraphForm::Json => format!("{:#}\n", json!({ "nodes": graph.nodes(), "edges": graph.edges() })),
        GraphForm::Svg => {
            return Err(Failure::Unavailable {
                message: "unsupported: --graph svg is not part of this version".to_owned(),
                hint: Some("vkcert couple --graph dot | dot -Tsvg".to_owned()),
            });
        }
    })
}

//! The comparison as text for people: Markdown, whose columns line up in a terminal too.

use super::comparison::{Agreement, Compared, Comparison, ConditionRow, Vectors};
use std::fmt::Write;

/// The whole report.
pub fn markdown(comparison: &Comparison) -> String {
    let mut text = "# Dissimilar measurement\n\n".to_owned();
    let device = comparison.device.as_deref().unwrap_or("none");
    let _ = writeln!(text, "Compiler: {} ({})", comparison.compiler, comparison.options.join(" "));
    let _ = writeln!(text, "Device: {device}\n");
    text.push_str(&summary(comparison));
    let unsupported: Vec<_> = comparison
        .kernels
        .iter()
        .filter_map(|row| Some((row, row.unsupported.as_ref()?)))
        .collect();
    for (row, what) in unsupported {
        let _ = writeln!(text, "- {} [{}]: unsupported: {what}", row.kernel, row.configuration);
    }
    for (row, warning) in comparison
        .kernels
        .iter()
        .flat_map(|row| row.warnings.iter().map(move |warning| (row, warning)))
    {
        let _ = writeln!(text, "- {} [{}]: {warning}", row.kernel, row.configuration);
    }
    text.push_str("\n## Outputs\n\n");
    text.push_str(&outputs(comparison));
    text.push_str(
        "\n## Conditions\n\nUnique-cause MC/DC, and the executed vectors of each decision. ",
    );
    text.push_str("A decision with one condition: whether its branch went both ways.\n\n");
    text.push_str(&conditions(comparison));
    text
}

fn outputs(comparison: &Comparison) -> String {
    let rows = comparison.outputs.iter().map(|row| {
        let (kernels, bytes) = (row.kernels.join(", "), row.bytes.to_string());
        vec![row.test.clone(), kernels, bytes, compared(&row.sequential), compared(&row.device)]
    });
    table(&["test", "kernels", "bytes", "against sequential", "against device"], rows.collect())
}

fn conditions(comparison: &Comparison) -> String {
    let decision =
        |row: &ConditionRow| (row.kernel.clone(), row.configuration.clone(), row.decision.clone());
    let mut before = None;
    let mut rows = Vec::new();
    for row in &comparison.conditions {
        // The vectors of a decision stand beside its first condition.
        let first = before.replace(decision(row)) != Some(decision(row));
        let kernel = match row.configuration.as_str() {
            "default" => row.kernel.clone(),
            name => format!("{} [{name}]", row.kernel),
        };
        rows.push(vec![
            kernel,
            row.condition.clone(),
            format!("{}:{}", row.line, row.column),
            cell(&row.text),
            row.sequential.clone(),
            row.device.clone().unwrap_or_else(|| "not run".to_owned()),
            row.clang.clone(),
            agreement(row),
            if first { vectors(&row.vectors) } else { String::new() },
        ]);
    }
    let heads = [
        "kernel",
        "condition",
        "place",
        "text",
        "sequential",
        "device",
        "clang",
        "agreement",
        "vectors",
    ];
    table(&heads, rows)
}

/// What it comes to, in a few lines.
pub fn summary(comparison: &Comparison) -> String {
    let summary = &comparison.summary;
    format!(
        "{} of {} conditions agree, {} disagree, {} not measured; {} vectors were measured alike.\n{} of {} tests left \
         identical outputs, {} outputs within the error bounds, {} different ones, in {} a program stopped; {} unsupported.\n",
        summary.agree,
        summary.conditions,
        summary.disagree,
        summary.not_measured,
        summary.vectors,
        summary.identical_outputs,
        summary.tests,
        summary.outputs_within_bounds,
        summary.different_outputs,
        summary.stopped,
        summary.unsupported,
    )
}

fn agreement(row: &ConditionRow) -> String {
    let word = match row.agreement {
        Agreement::Agrees => "agrees",
        Agreement::Disagrees => "DISAGREES",
        Agreement::NotMeasured => "not measured",
    };
    row.reason
        .as_ref()
        .map_or_else(|| word.to_owned(), |reason| format!("{word}: {}", cell(reason)))
}

fn compared(compared: &Compared) -> String {
    match compared {
        Compared::Identical => "identical".to_owned(),
        Compared::WithinBounds(why) => format!("within the error bounds: {}", cell(why)),
        Compared::Different(why) => format!("DIFFERENT: {}", cell(why)),
        Compared::DifferentOnTheDevice(why) => {
            format!("different, as the engines are: {}", cell(why))
        }
        Compared::Stopped(why) => format!("STOPPED: {}", cell(why)),
        Compared::Unsupported(why) => format!("unsupported: {}", cell(why)),
        Compared::NotRun(why) => format!("not run: {}", cell(why)),
    }
}

/// One list where all measurements are the same, else each of them.
fn vectors(vectors: &Vectors) -> String {
    let shown = |all: &std::collections::BTreeSet<String>| {
        if all.is_empty() {
            "none".to_owned()
        } else {
            all.iter().cloned().collect::<Vec<_>>().join(" ")
        }
    };
    let others = [vectors.device.as_ref(), vectors.clang.as_ref()];
    if others.iter().flatten().all(|other| **other == vectors.sequential) {
        return shown(&vectors.sequential);
    }
    let mut parts = vec![format!("sequential {}", shown(&vectors.sequential))];
    parts.extend(vectors.device.as_ref().map(|all| format!("device {}", shown(all))));
    parts.extend(vectors.clang.as_ref().map(|all| format!("clang {}", shown(all))));
    parts.join("; ")
}

/// Text that may stand in a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

fn table(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let mut text = line(&heads.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>());
    text.push_str(&line(&widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>()));
    rows.iter().for_each(|row| text.push_str(&line(row)));
    text
}

//! The comparison as text for people: Markdown, whose columns line up in a terminal too.

use super::comparison::{Agreement, Compared, Comparison, ConditionRow, Vectors};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The whole report.
pub fn markdown_report(comparison: &Comparison) -> String {
    let mut text = "# Dissimilar measurement\n\n".to_owned();
    let device = comparison.device.as_deref().unwrap_or("none");
    let _ = writeln!(text, "Compiler: {} ({})", comparison.compiler, comparison.options.join(" "));
    let _ = writeln!(text, "Device: {device}\n");
    text.push_str(&summary_lines(comparison));
    let unsupported: Vec<_> = comparison
        .kernels
        .iter()
        .filter_map(|row| Some((row, row.unsupported.as_ref()?)))
        .collect();
    for (row, unsupported_construct) in unsupported {
        let _ = writeln!(
            text,
            "- {} [{}]: unsupported: {unsupported_construct}",
            row.kernel, row.configuration
        );
    }
    for (row, warning) in comparison
        .kernels
        .iter()
        .flat_map(|row| row.warnings.iter().map(move |warning| (row, warning)))
    {
        let _ = writeln!(text, "- {} [{}]: {warning}", row.kernel, row.configuration);
    }
    text.push_str("\n## Outputs\n\n");
    text.push_str(&output_table(comparison));
    text.push_str(
        "\n## Conditions\n\nUnique-cause MC/DC, and the executed vectors of each decision. ",
    );
    text.push_str("A decision with one condition: whether its branch went both ways.\n\n");
    text.push_str(&condition_table(comparison));
    text
}

fn output_table(comparison: &Comparison) -> String {
    let rows = comparison.outputs.iter().map(|row| {
        let (kernels, bytes) = (row.kernels.join(", "), row.bytes.to_string());
        vec![
            row.test.as_str().into(),
            kernels.into(),
            bytes.into(),
            comparison_cell(&row.sequential).into(),
            comparison_cell(&row.device).into(),
        ]
    });
    markdown_table(
        &["test", "kernels", "bytes", "against sequential", "against device"],
        rows.collect(),
    )
}

fn condition_table(comparison: &Comparison) -> String {
    let mut previous_decision = None;
    let mut rows = Vec::new();
    for row in &comparison.conditions {
        // The vectors of a decision are shown beside its first condition.
        let is_first_condition =
            previous_decision.replace(decision_key(row)) != Some(decision_key(row));
        let kernel = match row.configuration.as_str() {
            "default" => Cow::Borrowed(row.kernel.as_str()),
            configuration_name => format!("{} [{configuration_name}]", row.kernel).into(),
        };
        rows.push(vec![
            kernel,
            row.condition.as_str().into(),
            format!("{}:{}", row.line, row.column).into(),
            escaped_cell(&row.text).into(),
            row.sequential.as_str().into(),
            row.device.as_deref().unwrap_or("not run").into(),
            row.clang.as_str().into(),
            agreement_cell(row).into(),
            if is_first_condition { vectors_cell(&row.vectors).into() } else { Cow::default() },
        ]);
    }
    let column_heads = [
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
    markdown_table(&column_heads, rows)
}

/// The decision that a row belongs to: kernel, configuration and number.
fn decision_key(row: &ConditionRow) -> [&str; 3] {
    [&row.kernel, &row.configuration, &row.decision]
}

/// The totals, in two lines.
pub fn summary_lines(comparison: &Comparison) -> String {
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

fn agreement_cell(row: &ConditionRow) -> String {
    let word = match row.agreement {
        Agreement::Agrees => "agrees",
        Agreement::Disagrees => "DISAGREES",
        Agreement::NotMeasured => "not measured",
    };
    row.reason
        .as_ref()
        .map_or_else(|| word.to_owned(), |reason| format!("{word}: {}", escaped_cell(reason)))
}

fn comparison_cell(compared: &Compared) -> String {
    match compared {
        Compared::Identical => "identical".to_owned(),
        Compared::WithinBounds(reason) => {
            format!("within the error bounds: {}", escaped_cell(reason))
        }
        Compared::Different(reason) => format!("DIFFERENT: {}", escaped_cell(reason)),
        Compared::DifferentOnTheDevice(reason) => {
            format!("different, as the engines are: {}", escaped_cell(reason))
        }
        Compared::Stopped(reason) => format!("STOPPED: {}", escaped_cell(reason)),
        Compared::Unsupported(reason) => format!("unsupported: {}", escaped_cell(reason)),
        Compared::NotRun(reason) => format!("not run: {}", escaped_cell(reason)),
    }
}

/// One list where all measurements are the same, else each of them.
fn vectors_cell(vectors: &Vectors) -> String {
    let other_measurements = [vectors.device.as_ref(), vectors.clang.as_ref()];
    if other_measurements.into_iter().flatten().all(|measured| *measured == vectors.sequential) {
        return vector_list(&vectors.sequential);
    }
    let mut parts = vec![format!("sequential {}", vector_list(&vectors.sequential))];
    for (name, measured) in ["device", "clang"].into_iter().zip(other_measurements) {
        parts.extend(measured.map(|measured| format!("{name} {}", vector_list(measured))));
    }
    parts.join("; ")
}

/// The vectors with spaces between them.
fn vector_list(vectors: &BTreeSet<String>) -> String {
    if vectors.is_empty() {
        return "none".to_owned();
    }
    vectors.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The text with everything escaped that would end a cell.
fn escaped_cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

fn markdown_table(column_heads: &[&str], rows: Vec<Vec<Cow<'_, str>>>) -> String {
    let column_width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([column_heads[column].len()]).max().unwrap_or(0)
    };
    let column_widths: Vec<usize> = (0..column_heads.len()).map(column_width).collect();
    let rules: Vec<String> = column_widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut text = table_line(column_heads, &column_widths);
    text.push_str(&table_line(&rules, &column_widths));
    rows.iter().for_each(|row| text.push_str(&table_line(row, &column_widths)));
    text
}

/// The cells of a row, each as wide as its column.
fn table_line(cells: &[impl std::fmt::Display], column_widths: &[usize]) -> String {
    let padded_cells =
        cells.iter().zip(column_widths).map(|(cell, width)| format!("{cell:<width$}"));
    format!("| {} |\n", padded_cells.collect::<Vec<_>>().join(" | "))
}

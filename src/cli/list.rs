//! `vkcert list WHAT`: kernels, requirements, tests, obligations, findings, mutants, devices, criteria,
//! formats, documents, mutation operators.

use super::args::{Common, List, Listing, OutputForm};
use super::failure::Failure;
use super::{findings, listed_mutants, listed_tests, measured_obligations, obligations, output};
use crate::campaign::{engines, project};
use crate::coverage::CRITERIA;
use crate::exec::vulkan::VulkanExecutor;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::model::mutation::MUTATION_OPERATORS;
use crate::model::vulkan_sc::Profile;
use crate::report::{self, DOCUMENTS, FORMATS};
use comfy_table::{Table, presets};
use serde_json::{Value, json};

/// Prints one listing as a table, or as a JSON array.
pub(super) fn print_listing(common: &Common, list: &List) -> Result<Exit, Failure> {
    refuse_misplaced_options(list)?;
    match list.what {
        Listing::Obligations if list.propose => {
            return obligations::propose_justifications(common, list);
        }
        Listing::Findings if list.propose => {
            return findings::propose_justifications(common, list);
        }
        Listing::Mutants if list.propose => {
            return listed_mutants::propose_justifications(common, list);
        }
        Listing::Obligations
        | Listing::Findings
        | Listing::Mutants
        | Listing::Kernels
        | Listing::Requirements
        | Listing::Tests
        | Listing::Devices
        | Listing::Criteria
        | Listing::Formats
        | Listing::Documents
        | Listing::Operators => {}
    }
    let rows = match list.what {
        Listing::Kernels => kernel_rows(list)?,
        Listing::Requirements => requirement_rows(list)?,
        Listing::Tests => listed_tests::test_rows(list)?,
        Listing::Obligations => match list.status {
            Some(status) => measured_obligations::obligation_rows(list, status, common.form())?,
            None => obligations::obligation_rows(list, common.form())?,
        },
        Listing::Findings => findings::finding_rows(list)?,
        Listing::Mutants => listed_mutants::mutant_rows(list)?,
        Listing::Devices => device_rows()?,
        Listing::Criteria => CRITERIA
            .iter()
            .map(|row| json!({"name": row.name(), "description": row.description()}))
            .collect(),
        Listing::Formats => FORMATS
            .iter()
            .map(|row| json!({"name": row.word, "description": row.description, "file": row.file}))
            .collect(),
        Listing::Operators => MUTATION_OPERATORS
            .iter()
            .map(|row| json!({"name": row.code, "description": row.description}))
            .collect(),
        Listing::Documents => DOCUMENTS
            .iter()
            .map(|row| {
                json!({"name": row.word, "title": row.title, "do_178c": row.asked_for_by, "description": row.description})
            })
            .collect(),
    };
    match (common.form(), list.status) {
        (OutputForm::Json, _) => output::print_text(&format!("{:#}\n", Value::Array(rows)))?,
        (OutputForm::Text, None) => {
            output::print_text(&table_of_rows(&rows, output::stdout_width()))?
        }
        (OutputForm::Text, Some(_)) => {
            let (asked_rows, other_count) = measured_obligations::split_asked_rows(rows);
            output::print_text(&table_of_rows(&asked_rows, output::stdout_width()))?;
            let others_sentence = "more belong to criteria that the project does not ask for; --format json lists them";
            let others_sentence =
                (other_count > 0).then(|| format!("{other_count} {others_sentence}"));
            for sentence in others_sentence
                .into_iter()
                .chain(measured_obligations::next_steps(list, &asked_rows))
            {
                let line_width = output::stdout_width().map_or(usize::MAX, usize::from);
                output::print_text(&format!(
                    "{}\n",
                    report::wrap(&sentence, line_width).join("\n")
                ))?;
            }
        }
    }
    Ok(Exit::Success)
}

/// Options that go with some listings alone.
fn refuse_misplaced_options(list: &List) -> Result<(), Failure> {
    let is_of_obligations = list.what == Listing::Obligations;
    let is_of_evidence = matches!(list.what, Listing::Findings | Listing::Mutants);
    let has_status = list.status.is_some();
    let tells_hashes_of_tests = list.what == Listing::Tests && list.hash;
    let misplaced_options = [
        (has_status && !is_of_obligations, "--status goes with `vkcert list obligations` alone"),
        (
            list.hash && !has_status && !tells_hashes_of_tests,
            "--hash goes with `vkcert list obligations --status` and `vkcert list tests` alone",
        ),
        (
            list.evidence.is_some() && !is_of_evidence && !has_status && !tells_hashes_of_tests,
            "--evidence goes with `vkcert list findings`, `vkcert list mutants`, `vkcert list obligations --status` and `vkcert list tests --hash` alone",
        ),
        (
            list.propose && !is_of_obligations && !is_of_evidence,
            "--propose goes with `vkcert list obligations`, `vkcert list findings` and `vkcert list mutants` alone",
        ),
    ];
    match misplaced_options.into_iter().find(|(is_misplaced, _)| *is_misplaced) {
        Some((_, message)) => Err(Diagnostic::new("usage", message).into()),
        None => Ok(()),
    }
}

/// A table with a column per key of the first row: identifiers first, the others by name. Where it
/// is wider than the terminal, each row becomes an entry of several lines, its short cells first.
fn table_of_rows(rows: &[Value], width: Option<u16>) -> String {
    let Some(Value::Object(first_row)) = rows.first() else {
        return "nothing to list\n".to_owned();
    };
    let leading_keys = ["id", "uid", "name", "index"];
    // A table holds rows of requested criteria alone; proposals, and what no justification is
    // accepted for, are told below it.
    let hidden_keys =
        ["asked", measured_obligations::PROPOSED_KEY, measured_obligations::JUSTIFIABLE_KEY];
    let mut keys: Vec<&String> =
        first_row.keys().filter(|key| !hidden_keys.contains(&key.as_str())).collect();
    keys.sort();
    // A stable sort: identifiers come first, and the others stay in the order of their names.
    keys.sort_by_key(|key| !leading_keys.contains(&key.as_str()));
    let cell_rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| keys.iter().map(|key| cell_text(&row[key.as_str()])).collect())
        .collect();
    let column_titles: Vec<String> =
        keys.iter().map(|key| key.replace('_', " ").to_uppercase()).collect();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(&column_titles);
    table.add_rows(&cell_rows);
    let table_lines: Vec<String> =
        table.lines().map(|line| line.trim_end().trim_start_matches(' ').to_owned()).collect();
    match width.map(usize::from) {
        Some(width) if table_lines.iter().any(|line| line.chars().count() > width) => {
            rows_as_entries(&column_titles, &cell_rows, width)
        }
        Some(_) | None => table_lines.join("\n") + "\n",
    }
}

fn cell_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        Value::Array(items) => {
            let item_texts =
                items.iter().map(|item| item.as_str().map_or(item.to_string(), str::to_owned));
            item_texts.collect::<Vec<_>>().join(" ")
        }
        other_value => other_value.to_string(),
    }
}

fn rows_as_entries(column_titles: &[String], cell_rows: &[Vec<String>], width: usize) -> String {
    const INDENT: usize = 4;
    let longest_cell =
        |index: usize| cell_rows.iter().map(|row| row[index].chars().count()).max().unwrap_or(0);
    let mut column_order: Vec<usize> = (1..column_titles.len()).collect();
    column_order.sort_by_key(|index| longest_cell(*index));
    column_order.insert(0, 0);
    let mut text = String::new();
    for row in std::iter::once(column_titles).chain(cell_rows.iter().map(Vec::as_slice)) {
        let entry =
            column_order.iter().map(|index| row[*index].as_str()).collect::<Vec<_>>().join(" · ");
        for (line_number, line) in
            report::wrap(&entry, width.max(40) - INDENT).into_iter().enumerate()
        {
            let indent = if line_number == 0 { 0 } else { INDENT };
            text.push_str(&format!("{:indent$}{line}\n", ""));
        }
    }
    text
}

fn kernel_rows(list: &List) -> Result<Vec<Value>, Failure> {
    let loaded = project::load_project(&list.dir)?;
    // Which kernels a profile refuses is known only after compiling them.
    let compiled_kernels = match loaded.settings.value.profile {
        Profile::Vulkan => Vec::new(),
        Profile::VulkanSc => project::compile_kernels(&loaded)?,
    };
    let rows = loaded.settings.value.kernels.iter().enumerate().map(|(index, kernel)| {
        let tests = loaded.tests.iter().filter(|test| test.dispatches.iter().any(|dispatch| dispatch.kernel == kernel.name)).count();
        let mut row = json!({
            "name": kernel.name, "source": kernel.source, "entry": kernel.entry, "tests": tests,
            "module": project::module_file(kernel.name.as_str()), "target": kernel.target_env.name(),
        });
        if let Some(compiled_kernel) = compiled_kernels.get(index) {
            row["refused"] = json!(compiled_kernel.refused);
        }
        row
    });
    Ok(rows.collect())
}

fn requirement_rows(list: &List) -> Result<Vec<Value>, Failure> {
    let loaded = project::load_project(&list.dir)?;
    let rows = loaded.requirements.iter().map(|requirement| {
        let tests: Vec<_> = loaded
            .tests
            .iter()
            .filter(|test| test.requirements.contains(&requirement.uid))
            .map(|test| &test.id)
            .collect();
        json!({
            "uid": requirement.uid, "level": requirement.level, "title": requirement.title, "tests": tests,
            "hash": crate::requirement::hash::requirement_hash(requirement),
        })
    });
    Ok(rows.collect())
}

fn device_rows() -> Result<Vec<Value>, Failure> {
    let settings = engines::worker_settings()?;
    let devices = VulkanExecutor::devices(&settings).map_err(|error| Failure::Unavailable {
        message: error.to_string(),
        hint: Some(engines::INSTALL_DEVICE.to_owned()),
    })?;
    let rows = devices.iter().map(|device| {
        json!({
            "index": device.index, "name": device.name, "type": device.kind, "api": device.api_version,
            "driver": format!("{} {}", device.driver_name, device.driver_info), "uuid": device.device_uuid,
        })
    });
    Ok(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_to_the_terminal_and_loses_nothing() {
        let row = |id: &str| json!({"id": id, "place": "glsl/a_long_name.comp:33:9", "text": "x < k && y < m", "reason": null});
        let rows = [row("D1.C1.masking"), row("S1")];
        let whole = table_of_rows(&rows, None);
        assert_eq!(whole.lines().count(), 3);
        assert_eq!(table_of_rows(&rows, Some(200)), whole);
        let narrow = table_of_rows(&rows, Some(40));
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        for word in whole.split_whitespace() {
            assert!(narrow.contains(word), "{word}: {narrow}");
        }
    }
}

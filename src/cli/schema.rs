//! `vkcert schema NAME`: the JSON Schema of every file format.

use super::args::{Common, OutputForm, Schema};
use super::failure::Failure;
use super::output;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::requirement::schema::{SCHEMAS, SchemaRow};
use serde_json::{Value, json};

/// Formats that no project has.
const CAPTURE_SCHEMAS: &[SchemaRow] = &[
    SchemaRow {
        name: "capture",
        describes: "a record of a capture, in JSON",
        make: vkcert_capture::record_schema,
    },
    SchemaRow {
        name: "capture-check",
        describes: "checks of `vkcert capture --check --format json`",
        make: vkcert_capture_check::report_schema,
    },
];

fn rows() -> impl Iterator<Item = &'static SchemaRow> {
    SCHEMAS.iter().chain(CAPTURE_SCHEMAS)
}

/// Every schema as text, by name.
pub(super) fn texts() -> impl Iterator<Item = (&'static str, String)> {
    rows().map(|row| (row.name, schema_text(row)))
}

fn schema_text(row: &SchemaRow) -> String {
    format!("{:#}\n", (row.make)().as_value())
}

/// Prints one schema, or the table of names.
pub(super) fn print_schema(common: &Common, schema_arguments: &Schema) -> Result<Exit, Failure> {
    let Some(name) = &schema_arguments.name else {
        if common.form() == OutputForm::Json {
            let rows = rows().map(|row| json!({ "name": row.name, "describes": row.describes }));
            output::print_text(&format!("{:#}\n", Value::Array(rows.collect())))?;
            return Ok(Exit::Success);
        }
        let lines: String =
            rows().map(|row| format!("{:<14} {}\n", row.name, row.describes)).collect();
        output::print_text(&lines)?;
        return Ok(Exit::Success);
    };
    let Some(row) = rows().find(|row| row.name == name) else {
        let names: Vec<&str> = rows().map(|row| row.name).collect();
        let diagnostic = Diagnostic::new("unknown-id", format!("no file format is named `{name}`"));
        return Err(diagnostic.hint(format!("use one of {}", names.join(", "))).into());
    };
    output::print_text(&schema_text(row))?;
    Ok(Exit::Success)
}

//! `vkcert schema NAME`: the JSON Schema of every file format.

use super::args::{Common, OutputForm, Schema};
use super::failure::Failure;
use super::output;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::requirement::schema::{self, SCHEMAS};
use serde_json::{Value, json};

/// Prints one schema, or the table of names.
pub(super) fn print_schema(common: &Common, schema_arguments: &Schema) -> Result<Exit, Failure> {
    let Some(name) = &schema_arguments.name else {
        if common.form() == OutputForm::Json {
            let rows =
                SCHEMAS.iter().map(|row| json!({ "name": row.name, "describes": row.describes }));
            output::print_text(&format!("{:#}\n", Value::Array(rows.collect())))?;
            return Ok(Exit::Success);
        }
        let lines: String =
            SCHEMAS.iter().map(|row| format!("{:<14} {}\n", row.name, row.describes)).collect();
        output::print_text(&lines)?;
        return Ok(Exit::Success);
    };
    let Some(text) = schema::schema_text(name) else {
        let names: Vec<&str> = SCHEMAS.iter().map(|row| row.name).collect();
        let diagnostic = Diagnostic::new("unknown-id", format!("no file format is named `{name}`"));
        return Err(diagnostic.hint(format!("use one of {}", names.join(", "))).into());
    };
    output::print_text(&format!("{text}\n"))?;
    Ok(Exit::Success)
}

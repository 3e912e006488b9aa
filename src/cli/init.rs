//! `vkcert init DIR`: a small project that certifies as it is, with schemas for editors.

use super::args::{Common, Init, OutputForm};
use super::exit::Exit;
use super::failure::Failure;
use super::output;
use crate::model::diagnostic::Diagnostic;
use crate::requirement::schema;
use std::fs;

/// Path in the new project and contents.
const FILES: &[(&str, &str)] = &[
    ("vkcert.toml", include_str!("template/vkcert.toml")),
    ("glsl/scale.comp", include_str!("template/scale.comp")),
    ("requirements/scale.toml", include_str!("template/scale.toml")),
    (".gitignore", "/reports/\n"),
];

/// The schemas that the files of the template name in their first line (`#:schema`), so that editors complete and check
/// them; they are those of this version of the program.
const SCHEMA_FILES: &[(&str, &str)] =
    &[("schema/project.json", "project"), ("schema/requirements.json", "requirements")];

/// Path in the new project and contents of everything that is written.
fn files() -> impl Iterator<Item = (&'static str, String)> {
    let schemas = SCHEMA_FILES.iter().map(|(path, name)| {
        let text = schema::schema(name).expect("the table of schemas has those of the template");
        (*path, text + "\n")
    });
    FILES.iter().map(|(path, contents)| (*path, (*contents).to_owned())).chain(schemas)
}

/// Writes the template; the folder must be new or empty.
pub fn command(common: &Common, init: &Init) -> Result<Exit, Failure> {
    let shown = init.dir.display().to_string();
    let occupied = match fs::read_dir(&init.dir) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => {
            return Err(Diagnostic::new("usage", format!("{shown} cannot be used: {error}")).in_file(shown).into());
        }
    };
    if occupied {
        let diagnostic = Diagnostic::new("usage", format!("{shown} is not empty"));
        return Err(diagnostic.hint("give the name of a folder that does not exist yet").in_file(shown).into());
    }
    for (path, contents) in files() {
        let file = init.dir.join(path);
        let folder = file.parent().expect("every template file stands in a folder");
        fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
        fs::write(&file, contents).map_err(|error| Failure::unwritable(&file, &error))?;
    }
    if common.format == OutputForm::Json {
        let files: Vec<_> = files().map(|(path, _)| path).collect();
        let document = serde_json::json!({ "schema": 1, "project": shown, "files": files });
        output::print(&format!("{document:#}\n"))?;
        return Ok(Exit::Success);
    }
    let listing: String = files().map(|(path, _)| format!("  {path}\n")).collect();
    output::print(&format!("New project in {shown}:\n{listing}Next: vkcert certify {shown}\n"))?;
    Ok(Exit::Success)
}

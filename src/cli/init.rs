//! `vkcert init DIR`: a small project that certifies as it is, named after its folder, with schemas
//! for editors.

use super::args::{Common, Init, OutputForm};
use super::failure::Failure;
use super::{output, places};
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::report::Places;
use crate::requirement::schema;
use std::fs;
use std::path::Path;

/// What stands for the project's name in the template.
const NAME_PLACEHOLDER: &str = "{{project}}";
/// The name where the folder's own has no letter and no digit.
const FALLBACK_NAME: &str = "new project";
/// Characters of a name; reports have it in one line.
const NAME_LENGTH: usize = 60;

/// Path in the new project and contents.
const TEMPLATE_FILES: &[(&str, &str)] = &[
    ("vkcert.toml", include_str!("template/vkcert.toml")),
    ("glsl/scale.comp", include_str!("template/scale.comp")),
    ("requirements/scale.toml", include_str!("template/scale.toml")),
    (".gitignore", "/reports/\n"),
];

/// The schemas that the files of the template name in their first line (`#:schema`), so that
/// editors complete and check them; they are those of this version of the program.
const SCHEMA_FILES: &[(&str, &str)] =
    &[("schema/project.json", "project"), ("schema/requirements.json", "requirements")];

/// Path in the new project and contents of everything that is written; `name` is that of the
/// project.
fn template_files(name: &str) -> impl Iterator<Item = (&'static str, String)> {
    let schemas = SCHEMA_FILES.iter().map(|(file_path, schema_name)| {
        let text = schema::schema_text(schema_name)
            .expect("the table of schemas has those of the template");
        (*file_path, text + "\n")
    });
    TEMPLATE_FILES
        .iter()
        .map(move |(file_path, contents)| (*file_path, contents.replace(NAME_PLACEHOLDER, name)))
        .chain(schemas)
}

/// The name of a project in this folder: that of the folder, other characters than letters, digits
/// and `. _ -` as spaces.
fn project_name(dir: &Path) -> String {
    let folder_name = match dir.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        // `.` and the like have a name only where they lead to.
        None => {
            let canonical_path = dir.canonicalize().ok();
            let name = canonical_path.as_deref().and_then(Path::file_name);
            name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        }
    };
    let is_name_character =
        |character: char| character.is_alphanumeric() || "._-".contains(character);
    let spaced_name: String = folder_name
        .chars()
        .map(|character| if is_name_character(character) { character } else { ' ' })
        .take(NAME_LENGTH)
        .collect();
    let name = spaced_name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.chars().any(char::is_alphanumeric) { name } else { FALLBACK_NAME.to_owned() }
}

/// Writes the template; the folder must be new or empty.
pub(super) fn create_project(common: &Common, init: &Init) -> Result<Exit, Failure> {
    let shown_folder = init.dir.display().to_string();
    let is_occupied = match fs::read_dir(&init.dir) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => {
            return Err(Diagnostic::new(
                "usage",
                format!("{shown_folder} cannot be used: {error}"),
            )
            .in_file(shown_folder)
            .into());
        }
    };
    if is_occupied {
        let diagnostic = Diagnostic::new("usage", format!("{shown_folder} is not empty"));
        return Err(diagnostic
            .hint("give the name of a folder that does not exist yet")
            .in_file(shown_folder)
            .into());
    }
    let name = project_name(&init.dir);
    for (path, contents) in template_files(&name) {
        let file = init.dir.join(path);
        let folder = file.parent().expect("every template file stands in a folder");
        fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
        fs::write(&file, contents).map_err(|error| Failure::unwritable(&file, &error))?;
    }
    if common.form() == OutputForm::Json {
        let files: Vec<_> = template_files(&name).map(|(path, _)| path).collect();
        let document = serde_json::json!({ "schema": 1, "project": shown_folder, "name": name, "files": files });
        output::print_text(&format!("{document:#}\n"))?;
        return Ok(Exit::Success);
    }
    let listing: String = template_files(&name).map(|(path, _)| format!("  {path}\n")).collect();
    let places = Places { project: places::place_of_project(&init.dir), ..Places::default() };
    let next_command = places.on_project("vkcert certify", "");
    output::print_text(&format!(
        "New project `{name}` in {shown_folder}:\n{listing}Next: {next_command}\n"
    ))?;
    Ok(Exit::Success)
}

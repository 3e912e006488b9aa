//! `vkcert requirements`: the links between requirements, and pinning them to the present contents
//! of the parents.

use super::args::{Common, OutputForm, Requirements};
use super::failure::Failure;
use super::requirement_csv::{self, ImportedRequirement, RequirementChange, TableImport};
use super::{file_set, output, places};
use crate::campaign::project;
use crate::model::exit::Exit;
use crate::requirement::document::read_text;
use crate::requirement::pin::{Link, LinkState, Pinning, pin_links};
use crate::requirement::{Project, load_project_with};
use serde_json::json;
use std::path::Path;

/// Exit 0; 1 where a link is suspect.
pub(super) fn print_links(common: &Common, link_arguments: &Requirements) -> Result<Exit, Failure> {
    let loaded = project::load_project(&link_arguments.dir)?;
    if link_arguments.csv {
        return print_table(common, &loaded);
    }
    if let Some(table) = &link_arguments.import {
        return import_table(common, link_arguments, &loaded, table);
    }
    let pinning = match (link_arguments.pin, link_arguments.suspect) {
        (false, _) => Pinning::None,
        (true, false) => Pinning::Missing,
        (true, true) => Pinning::MissingAndSuspect,
    };
    let (links, files) = pin_links(&loaded, pinning);
    file_set::write_all_or_none(&loaded.root, &files)?;
    match common.form() {
        OutputForm::Json => {
            let written: Vec<&String> = files.keys().collect();
            let document = json!({ "schema": 1, "links": links, "written": written });
            output::print_text(&format!("{document:#}\n"))?;
        }
        OutputForm::Text => output::print_text(&links_in_words(&links, link_arguments))?,
    }
    let suspect = links.iter().any(|link| link.state == LinkState::Suspect);
    Ok(if suspect { Exit::Failed } else { Exit::Success })
}

fn print_table(common: &Common, project: &Project) -> Result<Exit, Failure> {
    let table = requirement_csv::requirements_in_csv(project)?;
    match common.form() {
        OutputForm::Json => {
            output::print_text(&format!("{:#}\n", json!({ "schema": 1, "csv": table })))?;
        }
        OutputForm::Text => output::print_text(&table)?,
    }
    Ok(Exit::Success)
}

/// Nothing is written where the project would not be one any more.
fn import_table(
    common: &Common,
    arguments: &Requirements,
    project: &Project,
    table: &Path,
) -> Result<Exit, Failure> {
    let name = table.display().to_string();
    let text = read_text(table, &name)?;
    let TableImport { requirements: imported, files } =
        requirement_csv::import_requirements(project, &name, &text)?;
    load_project_with(&project.root, &files)?;
    if !arguments.dry_run {
        file_set::write_all_or_none(&project.root, &files)?;
    }
    let absent_count = project.requirements.len()
        - imported.iter().filter(|row| row.change != RequirementChange::Added).count();
    match common.form() {
        OutputForm::Json => {
            let written: Vec<&String> =
                if arguments.dry_run { Vec::new() } else { files.keys().collect() };
            let document = json!({
                "schema": 1, "requirements": imported, "absent": absent_count, "written": written,
            });
            output::print_text(&format!("{document:#}\n"))?;
        }
        OutputForm::Text => {
            output::print_text(&import_in_words(&imported, absent_count))?;
            if arguments.dry_run {
                output::print_text("Nothing was written (--dry-run).\n")?;
            }
        }
    }
    Ok(Exit::Success)
}

fn import_in_words(imported: &[ImportedRequirement], absent_count: usize) -> String {
    let count = |change| imported.iter().filter(|row| row.change == change).count();
    let mut text = String::new();
    for row in imported {
        let told = match row.change {
            RequirementChange::Added => "added    ",
            RequirementChange::Changed => "changed  ",
            RequirementChange::Unchanged => continue,
        };
        let keys = match row.change {
            RequirementChange::Changed => format!("  {}", row.keys.join(", ")),
            RequirementChange::Added | RequirementChange::Unchanged => String::new(),
        };
        text.push_str(&format!("{told}  {}{keys}  {}\n", row.uid, row.file));
        for parent in &row.pins_lost {
            text.push_str(&format!(
                "           the link to {parent} is taken out, and with it the hash that it was reviewed with\n"
            ));
        }
        for parent in &row.not_pinned {
            text.push_str(&format!(
                "           the link to {parent} is new and not pinned: review it, then `vkcert requirements --pin`\n"
            ));
        }
    }
    text.push_str(&format!(
        "{} rows: {} added, {} changed, {} as they were; {absent_count} of the project are not in the table and stay\n",
        imported.len(),
        count(RequirementChange::Added),
        count(RequirementChange::Changed),
        count(RequirementChange::Unchanged),
    ));
    text
}

fn links_in_words(links: &[Link], link_arguments: &Requirements) -> String {
    let count_state = |state: LinkState| links.iter().filter(|link| link.state == state).count();
    let mut text = String::new();
    for link in links {
        let state = match (link.changed, link.state) {
            (true, _) => "pinned now",
            // Of the others only what asks for something is told where links are pinned.
            (false, LinkState::Pinned) if link_arguments.pin => continue,
            (false, LinkState::Pinned) => "pinned",
            (false, LinkState::NotPinned) => "not pinned",
            (false, LinkState::Suspect) => "SUSPECT",
        };
        text.push_str(&format!(
            "{state:<10}  {} -> {}  {}\n",
            link.requirement, link.parent, link.file
        ));
    }
    let (pinned, not_pinned, suspect) = (
        count_state(LinkState::Pinned),
        count_state(LinkState::NotPinned),
        count_state(LinkState::Suspect),
    );
    text.push_str(&format!(
        "{} links: {pinned} pinned, {not_pinned} not pinned, {suspect} suspect\n",
        links.len()
    ));
    let places = places::places_of_run(&link_arguments.dir, None);
    if suspect > 0 {
        let pin_command = places.on_project("vkcert requirements", "--pin --suspect");
        text.push_str(&format!(
            "The parents of suspect links have changed: review the children, then {pin_command}.\n"
        ));
    } else if not_pinned > 0 {
        let pin_command = places.on_project("vkcert requirements", "--pin");
        text.push_str(&format!("{pin_command} pins what is not pinned.\n"));
    }
    text
}

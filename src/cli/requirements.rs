//! `vkcert requirements`: the links between requirements, and pinning them to the present contents
//! of the parents.

use super::args::{Common, OutputForm, Requirements};
use super::failure::Failure;
use super::{output, places};
use crate::campaign::project;
use crate::model::exit::Exit;
use crate::requirement::pin::{Link, LinkState, Pinning, pin_links};
use serde_json::json;

/// Exit 0; 1 where a link is suspect.
pub(super) fn print_links(common: &Common, link_arguments: &Requirements) -> Result<Exit, Failure> {
    let loaded = project::load_project(&link_arguments.dir)?;
    let pinning = match (link_arguments.pin, link_arguments.suspect) {
        (false, _) => Pinning::None,
        (true, false) => Pinning::Missing,
        (true, true) => Pinning::MissingAndSuspect,
    };
    let (links, files) = pin_links(&loaded, pinning);
    for (file, text) in &files {
        // A link in the file system keeps pointing to the file.
        let path = loaded.root.join(file);
        let path = path.canonicalize().unwrap_or(path);
        output::write_file(&path, text.as_bytes())?;
    }
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

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
pub(super) fn command(common: &Common, asked: &Requirements) -> Result<Exit, Failure> {
    let loaded = project::load(&asked.dir)?;
    let pinning = match (asked.pin, asked.suspect) {
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
    match common.format {
        OutputForm::Json => {
            let written: Vec<&String> = files.keys().collect();
            let document = json!({ "schema": 1, "links": links, "written": written });
            output::print(&format!("{document:#}\n"))?;
        }
        OutputForm::Text => output::print(&told(&links, asked))?,
    }
    let suspect = links.iter().any(|link| link.state == LinkState::Suspect);
    Ok(if suspect { Exit::Failed } else { Exit::Success })
}

fn told(links: &[Link], asked: &Requirements) -> String {
    let count = |state: LinkState| links.iter().filter(|link| link.state == state).count();
    let mut text = String::new();
    for link in links {
        let state = match (link.changed, link.state) {
            (true, _) => "pinned now",
            // Of the others only what asks for something is told where links are pinned.
            (false, LinkState::Pinned) if asked.pin => continue,
            (false, LinkState::Pinned) => "pinned",
            (false, LinkState::NotPinned) => "not pinned",
            (false, LinkState::Suspect) => "SUSPECT",
        };
        text.push_str(&format!(
            "{state:<10}  {} -> {}  {}\n",
            link.requirement, link.parent, link.file
        ));
    }
    let (pinned, open, suspect) =
        (count(LinkState::Pinned), count(LinkState::NotPinned), count(LinkState::Suspect));
    text.push_str(&format!(
        "{} links: {pinned} pinned, {open} not pinned, {suspect} suspect\n",
        links.len()
    ));
    let places = places::of_run(&asked.dir, None);
    if suspect > 0 {
        let pin = places.on_project("vkcert requirements", "--pin --suspect");
        text.push_str(&format!(
            "The parents of suspect links have changed: review the children, then {pin}.\n"
        ));
    } else if open > 0 {
        let pin = places.on_project("vkcert requirements", "--pin");
        text.push_str(&format!("{pin} pins what is not pinned.\n"));
    }
    text
}

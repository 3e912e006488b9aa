//! What tests need: tool, engines, target computer, settings, modules (DO-178C 11.13.c).
//!
//! Promises: told as the project asks for it. What a run had of it is a result and stands elsewhere.

use super::document_control::stated_text;
use super::identification;
use super::members::ContentsOf;
use crate::DocumentName;
use crate::document::{Block, Outline, Text};
use vkcert_model::evidence::Evidence;
use vkcert_model::project::TargetComputer;

pub(super) const ANCHOR: &str = "chapter/environment";

pub(super) fn environment_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Test environment", ANCHOR);
    outline.add_paragraph(Text::sentence(format!(
        "What the tests need. Which engines and devices a run had, and that it had them, stands in the documents `{}` and `{}`.",
        DocumentName::Svr,
        DocumentName::Tool
    )));
    let project = &evidence.campaign.project;
    let mut pairs = vec![("Project".to_owned(), Text::strong(project.name.as_str()))];
    pairs.push((
        project.level.standard().level_label().to_owned(),
        Text::plain(project.level.in_words()),
    ));
    pairs.extend(identification::build_pairs(evidence, ContentsOf::Case));
    let settings = evidence.campaign.settings.as_ref();
    let target = settings.and_then(|settings| settings.target.as_ref());
    pairs.push(("Target computer".to_owned(), target_text(target)));
    pairs.push((
        "Sequential engine".to_owned(),
        Text::plain("part of the tool; any machine that the tool runs on, no device"),
    ));
    pairs.push(("Vulkan engine".to_owned(), Text::plain(
        "a Vulkan device of version 1.1 or later with the features that the modules declare; without one of them the tests of \
         such a module are unsupported there",
    )));
    outline.add_block(Block::Pairs(pairs));
    identification::settings_section(evidence, ContentsOf::Case, outline);
    identification::configurations_section(evidence, outline);
}

fn target_text(target: Option<&TargetComputer>) -> Text {
    match target {
        Some(TargetComputer { device, driver, driver_info }) => {
            stated_text(&format!("{device}; driver {driver}, {driver_info}"))
        }
        None => Text::quiet("the project names none"),
    }
}

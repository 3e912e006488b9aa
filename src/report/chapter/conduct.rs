//! How tests are carried out and how their outputs are judged, as far as it is the same for all of
//! them (DO-178C 11.13.c).
//!
//! Promises: nothing here tells what a run came to.
//! Does not cover: the steps of one test (`procedure`).

use crate::document::{Block, Outline, Text};
use vkcert_model::evidence::Evidence;

/// Two sections of a chapter on tests.
pub(super) fn conduct_sections(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(2, "How tests are carried out", "chapter/tests/conduct");
    outline.add_block(Block::List(conduct_rules(evidence)));
    outline.add_heading(2, "How outputs are judged", "chapter/tests/judging");
    outline.add_block(Block::List(judging_rules()));
}

fn conduct_rules(evidence: &Evidence) -> Vec<Text> {
    let settings = evidence.campaign.settings.as_ref();
    let repetition_words = match settings.and_then(|settings| settings.repeat) {
        Some(times) => format!("{times} times on each engine"),
        None => {
            "3 times on a device, once on the sequential engine, which is deterministic".to_owned()
        }
    };
    let schedule_rule = settings.filter(|settings| settings.schedules.count > 0).map(|settings| {
        format!(
            "Besides the ordinary order, each procedure is carried out in {} other orders of its workgroups, seed {}; outputs \
             that differ are findings.",
            settings.schedules.count, settings.schedules.seed
        )
    });
    let rules = [
        "`vkcert build` makes the production modules from the source texts; `vkcert certify` in the folder of the project carries \
         out every procedure on the engines of the project and judges it; `vkcert certify --only TEST` does so with one, and \
         the result then says that the others were left out."
            .to_owned(),
        "The steps of a procedure are carried out in their order by one queue of one device, or by the sequential engine. \
         Each test begins with buffers and images of its own; nothing is left over from another one."
            .to_owned(),
        "Push constants that no step sets for a dispatch are uninitialised in it, whatever an earlier dispatch was given."
            .to_owned(),
        "The production module alone is judged. Coverage comes from the same steps with the instrumented module in its place; \
         what it leaves in buffers and images is compared with what production left."
            .to_owned(),
        format!(
            "Each procedure is carried out {repetition_words}, unless the command line of a run says otherwise, every time with \
             the initial contents made anew. Each repetition is judged by itself."
        ),
    ];
    rules.into_iter().chain(schedule_rule).map(Text::sentence).collect()
}

fn judging_rules() -> Vec<Text> {
    let rules = [
        "A value agrees with the expected one if any of the bounds of its tolerance holds: `abs` a, |actual - expected| ≤ a; \
         `rel` r, |actual - expected| ≤ r · |expected|; n ULP, at most n steps between representable values of its type. \
         With tolerance “none” it must be equal. Two NaNs agree, the two zeros agree, and an infinity agrees only with itself; \
         with “the same bits” nothing but the bits counts.",
        "“Each in its place” compares element by element. “In any order” compares as a multiset: within a tolerance every \
         expected element or record needs a counterpart of its own.",
        "Texels are compared component by component, as a kernel reads them; an expected value is first rounded to what the \
         format stores.",
        "Pass: everything dispatched has completed, and every comparison holds in every repetition. Fail: a comparison does \
         not hold in a repetition that has completed.",
        "Neither of the two: `error` (invocations of a workgroup wait at different barriers, or the device is lost), `timeout` \
         (a limit of time or steps), `unsupported` (engine or device lacks a named instruction, feature or capability), \
         `not-run`, `undetermined` (for example repetitions that differ beyond what the comparisons leave open). None of \
         them counts as passed.",
        "In a project a test that compares none of what its kernels store is `undetermined`, even if it completes.",
    ];
    rules.map(Text::sentence).into()
}

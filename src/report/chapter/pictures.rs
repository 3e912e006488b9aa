//! Pictures of the images of tests.
//!
//! Promises: an image without picture is named with the reason; where more tests have images than
//! are pictured, the tests that do not match come first and the rest is counted.
//! Does not cover: how a picture is drawn (`drawing::pictures`).

use crate::document::{Outline, Text};
use crate::drawing::pictures::{picture_drawing, unpictured_reason};
use crate::facts;
use std::collections::BTreeSet;
use vkcert_model::evidence::{Evidence, TestEvidence};

/// Tests whose images are pictured.
const MOST_TESTS: usize = 24;

/// The tests whose images are pictured, by index; says how many are not.
pub(super) fn pictured_tests(evidence: &Evidence, outline: &mut Outline) -> BTreeSet<usize> {
    let matches_all =
        |test: &TestEvidence| test.results.iter().all(|result| result.mismatches.is_empty());
    let tests = evidence.campaign.tests.iter().enumerate();
    let mut with_images: Vec<(bool, usize)> = tests
        .filter(|(_, test)| !test.definition.images.is_empty())
        .map(|(index, test)| (matches_all(test), index))
        .collect();
    with_images.sort_unstable();
    let left_out = with_images.len().saturating_sub(MOST_TESTS);
    if left_out > 0 {
        outline.add_paragraph(format!(
            "Images are pictured for {MOST_TESTS} of {} tests that have some, those with elements that do not match first; \
             the other {left_out} have none.",
            with_images.len()
        ));
    }
    with_images.into_iter().take(MOST_TESTS).map(|(_, index)| index).collect()
}

/// A figure per image of a test, or why there is none.
pub(super) fn picture_blocks(test: &TestEvidence, outline: &mut Outline) {
    for image in facts::image_facts(test) {
        let reason = match unpictured_reason(&image.shape) {
            Some(reason) => reason,
            None => match picture_drawing(&test.id, &image) {
                Some(drawing) => {
                    outline.add_drawings([drawing]);
                    continue;
                }
                None => "the evidence holds none of its values",
            },
        };
        let named = Text::plain("No picture of image ").followed_by(Text::code(image.name));
        outline.add_paragraph(named.then_plain(format!(": {reason}.")));
    }
}

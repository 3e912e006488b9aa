use super::*;
use vkcert_model::id::KernelName;
use vkcert_sample as sample;

/// Number of a bar with the filled length beside it.
fn drawn_bars(drawing: &Drawing) -> Vec<(String, f32)> {
    let filled_at = |baseline: f32| {
        let areas = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Area { corners, paint: Paint::Ink(Tone::Good) } => Some(corners),
            Shape::Area { .. }
            | Shape::Line { .. }
            | Shape::Label { .. }
            | Shape::Raster { .. } => None,
        });
        let on_line = areas.filter(|corners| {
            corners[0].x == BAR_LEFT && (corners[0].y..corners[2].y).contains(&(baseline - 1.0))
        });
        on_line.map(|corners| corners[1].x - corners[0].x).sum::<f32>()
    };
    let labels = drawing.shapes.iter().filter_map(|shape| match shape {
        Shape::Label { spot, text, .. } if spot.x == NUMBERS_LEFT && text.text.contains('/') => {
            Some((text.text.clone(), filled_at(spot.y)))
        }
        Shape::Area { .. } | Shape::Line { .. } | Shape::Label { .. } | Shape::Raster { .. } => {
            None
        }
    });
    labels.collect()
}

#[test]
fn bars_are_as_long_as_what_the_evidence_holds() {
    let mut evidence = sample::evidence();
    let row = &mut evidence.campaign.conclusion.summary[0].criteria[0];
    (row.total, row.covered, row.justified, row.undetermined, row.uncovered) = (1000, 997, 1, 1, 1);
    let drawings = coverage_bars(&evidence);
    let bars: Vec<(String, f32)> = drawings.iter().flat_map(drawn_bars).collect();
    let criteria = facts::measured_criteria(&evidence);
    let kernel_rows = facts::coverage_rows(&evidence, &criteria);
    let totals = facts::coverage_totals(&evidence, &criteria).into_iter().flatten();
    let summaries: Vec<CriterionSummary> = totals
        .flat_map(|row| row.criteria)
        .chain(kernel_rows.into_iter().flat_map(|row| row.criteria))
        .collect();
    assert_eq!(bars.len(), summaries.len());
    assert!(bars.iter().any(|(_, length)| *length < BAR_WIDTH && *length > 0.0));
    for ((numbers, length), summary) in bars.iter().zip(&summaries) {
        assert!(
            numbers.starts_with(&format!("{}/{}\u{a0}", summary.covered, summary.total)),
            "{numbers}: {summary:?}"
        );
        let share = match summary.total {
            0 => 0.0,
            total => summary.covered as f32 / total as f32,
        };
        // Parts that would not be seen take their room from the longest.
        let narrow_parts = [summary.justified, summary.undetermined, summary.uncovered];
        let narrow_parts = narrow_parts.into_iter().filter(|count| *count > 0).count() as f32;
        let difference = (length - share * BAR_WIDTH).abs();
        assert!(difference <= narrow_parts * LEAST_PART + 0.01, "{numbers}: {length}");
    }
}

#[test]
fn no_part_that_stands_for_an_obligation_is_too_short_to_be_seen() {
    let widths = part_widths([99_999, 1, 0, 1]);
    assert_eq!([widths[1], widths[2], widths[3]], [LEAST_PART, 0.0, LEAST_PART]);
    assert!((widths.iter().sum::<f32>() - BAR_WIDTH).abs() < 0.01, "{widths:?}");
    assert!(widths[0] < BAR_WIDTH, "an incomplete share never looks complete");
    assert_eq!(part_widths([0; 4]), [0.0; 4]);
}

#[test]
fn of_many_kernels_those_with_the_most_open_obligations_are_drawn() {
    let mut evidence = sample::evidence();
    let row = evidence.campaign.conclusion.summary[0].clone();
    evidence.campaign.conclusion.summary = (0..1000)
        .map(|number: u32| {
            let mut row = row.clone();
            row.kernel = KernelName::from(format!("kernel_{number}").as_str());
            row.criteria[0].uncovered = if number >= 990 { 7 } else { 0 };
            row
        })
        .collect();
    let drawings = coverage_bars(&evidence);
    assert!(drawings.len() <= 3, "{}", drawings.len());
    let drawn = format!("{drawings:?}");
    assert!((990..1000).all(|number| drawn.contains(&format!("kernel_{number}\""))));
    let caption = &drawings[0].caption.0[0].text;
    assert!(caption.contains("Drawn are the 16 of 1000 rows of the table"), "{caption}");
    assert!(drawings.iter().all(|drawing| drawing.height <= MOST_HEIGHT + KEY_HEIGHT));
}

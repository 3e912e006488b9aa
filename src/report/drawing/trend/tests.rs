//! Strips by their shapes: where marks stand, which of them lines join, what is lettered.

use super::*;

fn line(fractions: &[Option<(u32, u32)>]) -> TrendLine {
    TrendLine { title: "Statement".to_owned(), fractions: fractions.to_vec() }
}

fn runs(measures: &[usize]) -> TrendRuns {
    TrendRuns { measures: measures.to_vec(), present: measures.len() - 1 }
}

/// The ends of the lines that join marks.
fn joined(drawing: &Drawing) -> Vec<(Spot, Spot)> {
    let lines = drawing.shapes.iter().filter_map(|shape| match shape {
        Shape::Line { spots, paint: Paint::Accent, .. } => Some((spots[0], spots[1])),
        _ => None,
    });
    lines.collect()
}

fn letters(drawing: &Drawing) -> Vec<&str> {
    let labels = drawing.shapes.iter().filter_map(|shape| match shape {
        Shape::Label { text, .. } => Some(text.text.as_str()),
        _ => None,
    });
    labels.collect()
}

#[test]
fn lines_rise_with_shares_and_stop_at_another_measure() {
    let fractions = [Some((4, 8)), Some((6, 8)), Some((8, 8)), Some((8, 8))];
    let drawing = trend_drawings(&[line(&fractions)], &runs(&[1, 1, 1, 2])).remove(0);
    let lines = joined(&drawing);
    assert_eq!(lines.len(), 2);
    // The axis begins at 50 %: 4/8 stands at its foot, 8/8 at its head.
    let (foot, head) = (HEAD_HEIGHT + PLOT_HEIGHT, HEAD_HEIGHT);
    assert_eq!([lines[0].0.y, lines[0].1.y, lines[1].1.y], [foot, (foot + head) / 2.0, head]);
    assert_eq!(lines[0].1, lines[1].0);
    let words = letters(&drawing);
    for word in ["50 %", "100 %", "measure", "2", "8/8 (100\u{a0}%)"] {
        assert!(words.contains(&word), "{word}: {words:?}");
    }
    assert!(drawing.caption.plain_words().contains("no line joins them"));
    assert!(drawing.description.contains("Statement: from 4/8 in run 1 to 8/8 in run 4"));
}

#[test]
fn what_was_not_measured_has_no_mark_and_no_line() {
    let fractions = [Some((1, 2)), None, Some((0, 0)), Some((2, 2))];
    let drawing = trend_drawings(&[line(&fractions)], &runs(&[1; 4])).remove(0);
    assert!(joined(&drawing).is_empty());
    let marks = drawing.shapes.iter().filter(|shape| matches!(shape, Shape::Area { .. })).count();
    // That beside the name, and those of the first and the last run.
    assert_eq!(marks, 3);
    let missing = trend_drawings(&[line(&[Some((1, 2)), None])], &runs(&[1; 2])).remove(0);
    assert!(letters(&missing).contains(&"not measured"));
}

#[test]
fn small_differences_near_the_whole_are_seen() {
    assert_eq!(axis_begin(&line(&[Some((999, 1000))])), 90.0);
    assert_eq!(axis_begin(&line(&[Some((899, 1000)), None])), 80.0);
    assert_eq!(axis_begin(&line(&[Some((0, 5))])), 0.0);
    assert_eq!(axis_begin(&line(&[None, Some((0, 0))])), 90.0);
}

#[test]
fn marks_differ_by_shape_and_figures_hold_a_page() {
    let lines: Vec<TrendLine> = (0..13).map(|_| line(&[Some((1, 2)); 40])).collect();
    let drawings = trend_drawings(&lines, &runs(&[1; 40]));
    assert_eq!(drawings.len(), 2);
    assert!(drawings.iter().all(|drawing| drawing.height < 520.0));
    let shapes: Vec<_> = (0..14).map(MarkShape::of_index).collect();
    for (index, mark) in shapes.iter().enumerate() {
        let same = |other: &&MarkShape| other.corners == mark.corners && other.fill == mark.fill;
        assert_eq!(shapes.iter().filter(same).count(), 1, "{index}");
    }
}

#[test]
fn numbers_of_runs_have_room_and_that_of_the_report_is_there() {
    let measures = vec![1; 40];
    let drawing =
        trend_drawings(&[line(&[Some((1, 2)); 40])], &TrendRuns { measures, present: 37 });
    let mut numbers: Vec<(f32, bool, &str)> = Vec::new();
    for shape in &drawing[0].shapes {
        if let Shape::Label { spot, align: ColumnAlign::Centre, text, .. } = shape {
            let is_strong = text.style == crate::document::Style::Strong;
            numbers.push((spot.x, is_strong, text.text.as_str()));
        }
    }
    assert!(numbers.windows(2).all(|pair| pair[1].0 - pair[0].0 >= NUMBER_STEP - 0.01));
    let strong: Vec<&str> =
        numbers.iter().filter(|(_, strong, _)| *strong).map(|(.., number)| *number).collect();
    assert_eq!(strong, ["38"]);
}

//! The trend: its tables hold the numbers of the evidence, and its marks stand at their heights.

use super::*;
use crate::trend_tests::{earlier_evidence, history_of};

#[test]
fn the_trend_shows_the_numbers_of_every_run() {
    let evidence = sample::evidence();
    let history = history_of(&evidence);
    let presentation = Presentation { history: Some(history), ..Presentation::default() };
    let value = in_browser_with(
        &evidence,
        &presentation,
        1000,
        "var chapter = document.getElementById('chapter:trend').closest('.chapter');
         chapter.style.contentVisibility = 'visible';
         function rows(caption) {
           var tables = Array.from(chapter.querySelectorAll('table'));
           var table = tables.find(function (one) { return one.caption.textContent.startsWith(caption); });
           return Array.from(table.tBodies[0].rows).map(function (row) { return Array.from(row.cells).map(function (cell) { return cell.textContent; }); });
         }
         var svg = chapter.querySelector('svg');
         var lines = Array.from(svg.querySelectorAll('polyline')).filter(function (line) { return line.style.stroke.includes('accent'); });
         return { runs: rows('Runs'), shares: rows('Shares by run'), left_out: rows('Left out'), name: svg.getAttribute('aria-label'),
           lines: lines.length, wide: document.documentElement.scrollWidth <= innerWidth };",
    );
    assert_eq!(value["wide"], true);
    let runs = [earlier_evidence(1, 2), earlier_evidence(2, 1), evidence];
    for (index, run) in runs.iter().enumerate() {
        let root = run.root().unwrap();
        assert_eq!(value["runs"][index][3], root[..12], "{value}");
        let row = value["shares"][index].as_array().unwrap();
        let criteria = facts::measured_criteria(run);
        for (column, criterion) in criteria.iter().enumerate() {
            let totals = facts::coverage_totals(run, std::slice::from_ref(criterion)).unwrap();
            let cell = row[2 + column].as_str().unwrap();
            for summary in totals.iter().flat_map(|total| &total.criteria) {
                let words = facts::share_in_words(summary);
                assert!(cell.contains(&words), "{criterion:?}: {words} is not in {cell}");
            }
            let name = value["name"].as_str().unwrap();
            assert!(name.contains(facts::criterion_title(criterion)), "{name}");
        }
        assert_eq!(row.len(), 2 + criteria.len());
    }
    assert_eq!(value["left_out"].as_array().unwrap().len(), 1);
    assert!(value["lines"].as_u64().unwrap() > 2, "{value}");
}

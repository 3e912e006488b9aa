//! Conditions in the marked source: what a click or Enter on one shows.

use super::*;
use vkcert_model::vector::Values;

#[test]
fn a_condition_opens_its_vectors_pair_tests_and_witnesses() {
    let mut evidence = sample::evidence();
    let decisions = &mut evidence.kernels[0].coverage.decisions;
    let without_pair = decisions[0].mcdc.last_mut().unwrap();
    (without_pair.unique_cause.pair, without_pair.masking.pair) = (None, None);
    let kernel = &evidence.kernels[0];
    let script = "function chosen(link) {
           var panel = link.closest('.columns').querySelector('aside.vectors');
           var table = Array.from(panel.querySelectorAll('table')).find(function (one) { return one.caption.textContent.startsWith('Decision '); });
           return { id: link.title.split(':')[0], lead: panel.querySelector('.condition-lead').textContent,
             rows: table ? Array.from(table.tBodies[0].rows).map(function (row) { return Array.from(row.cells).map(function (cell) { return cell.textContent; }); }) : [],
             pair: Array.from(panel.querySelectorAll('tr.pair')).map(function (row) { return row.cells[0].textContent; }),
             own: Array.from(panel.querySelectorAll('tr.chosen')).map(function (row) { return row.cells[0].textContent; }),
             way: panel.querySelector('.way a').hash, current: document.querySelectorAll('a.condition[aria-current]').length,
             told: panel.getAttribute('aria-live'), ids: panel.querySelectorAll('[id]').length };
         }
         var view = document.querySelector('.source-view');
         var links = Array.from(view.querySelectorAll('a.condition'));
         return links.map(function (link) { link.focus(); link.click(); return chosen(document.activeElement); });";
    let value = in_browser(&evidence, 1200, script);
    let shown = value.as_array().unwrap();
    let conditions = kernel.coverage.decisions.iter().flat_map(|decision| {
        decision.conditions.iter().map(move |condition| (decision, condition))
    });
    let mut with_pairs = 0;
    for (decision, condition) in conditions {
        let id = condition.id.to_string();
        let panel = shown.iter().find(|panel| panel["id"] == id.as_str());
        let panel = panel.unwrap_or_else(|| panic!("{id} is no link"));
        let mcdc = decision.mcdc.iter().find(|mcdc| mcdc.condition == condition.id).unwrap();
        let statuses = format!(
            "MC/DC masking {}, unique-cause {}",
            mcdc.masking.status, mcdc.unique_cause.status
        );
        assert!(panel["lead"].as_str().unwrap().contains(&statuses), "{panel}");
        let rows = panel["rows"].as_array().unwrap();
        assert_eq!(rows.len(), decision.vectors.len(), "{panel}");
        for (row, vector) in rows.iter().zip(&decision.vectors) {
            let tests = vector.tests.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            assert_eq!(row[1], tests.as_str());
            assert_eq!(row[2], facts::witness_of(vector).as_str());
        }
        let row_of =
            |values: &Values| format!("{} ◆", facts::vector_row(decision, values).unwrap());
        let pair = mcdc.unique_cause.pair.as_ref().or(mcdc.masking.pair.as_ref());
        let mut due: Vec<String> = pair.into_iter().flatten().map(row_of).collect();
        due.sort();
        with_pairs += usize::from(!due.is_empty());
        assert_eq!(panel["pair"], serde_json::json!(due), "{id}");
        let is_told = panel["lead"].as_str().unwrap().contains("No independence pair");
        assert_eq!(is_told, due.is_empty(), "{panel}");
        if decision.conditions.len() > 1 {
            assert_eq!(panel["own"][0], id.as_str());
        }
        assert_eq!(panel["way"], format!("#kernel:{}:{}", kernel.kernel, decision.id));
        assert_eq!(panel["told"], "polite");
        assert_eq!(panel["ids"], 0);
        assert!(panel["current"].as_u64().unwrap() >= 1);
    }
    assert!(with_pairs > 0 && with_pairs < shown.len(), "{with_pairs}");
}

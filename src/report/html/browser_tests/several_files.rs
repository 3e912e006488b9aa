//! A report in several files, opened from a folder.

use super::*;
use crate::PagedHtml;
use std::ffi::OsStr;

/// A name that a URL, a file and a page each read otherwise.
const HOSTILE: &str = "../a b/\"><script>alert(1)</script>#?%41.comp";

/// The sample with a kernel under a hostile name.
fn with_hostile_kernel() -> Evidence {
    let mut evidence = sample::evidence();
    let mut hostile = evidence.kernels[0].clone();
    hostile.kernel = HOSTILE.into();
    let mut summary = evidence.campaign.conclusion.summary[0].clone();
    summary.kernel = HOSTILE.into();
    evidence.campaign.conclusion.summary.push(summary);
    evidence.kernels.push(hostile);
    evidence
}

/// Index and pages with a script on each, in a folder.
fn written(evidence: &Evidence, scripts: [&str; 2]) -> tempfile::TempDir {
    let presentation = Presentation::default();
    let index_name = OsStr::new("the report#1.html");
    let pages = PagedHtml::of_report(evidence, &presentation, 0, index_name).unwrap().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kernel_folder = folder.path().join(pages.folder());
    std::fs::create_dir(&kernel_folder).unwrap();
    let write_page = |name: &str, bytes: &[u8]| {
        std::fs::write(kernel_folder.join(name), scripted(bytes, scripts[1]))
    };
    pages.write_kernel_pages(write_page).unwrap();
    let index = scripted(&pages.index_page(), scripts[0]);
    std::fs::write(folder.path().join(index_name), index).unwrap();
    folder
}

/// What a page shows of itself.
const TOLD: &str = "return { kind: document.documentElement.dataset.vkcertPage, heading: document.querySelector('h1').textContent,
    at: location.hash, reached: document.querySelector(':target') !== null,
    tables: Array.from(document.querySelectorAll('caption')).map(function (one) { return one.textContent; }),
    text: document.querySelector('main').textContent };";

#[test]
fn links_lead_from_the_index_to_each_kernel_and_back() {
    let evidence = with_hostile_kernel();
    let units = facts::kernel_units(&evidence);
    assert_eq!(units.len(), 3);
    for (number, unit) in units.iter().enumerate() {
        let click = format!(
            "var rows = Array.from(document.getElementById('chapter:kernels').closest('.chapter').querySelectorAll('tbody tr'));
             if (rows.length !== 3) {{ return rows.length; }}
             rows[{number}].querySelector('a').click();"
        );
        let folder = written(&evidence, [&click, TOLD]);
        let page = opened(&folder.path().join("the report#1.html"), 1200);
        assert_eq!(page["kind"], "kernel", "{page}");
        assert_eq!(page["heading"], format!("Kernel {}", unit.unit_label()));
        assert_eq!(page["reached"], true);
        let (_, kernel) = facts::on_engines(&evidence, unit)[0];
        for summary in &kernel.coverage.summary {
            let share = format!("{}/{}", summary.covered, summary.total);
            assert!(page["text"].as_str().unwrap().contains(&share), "{share}");
        }
        for decision in &kernel.coverage.decisions {
            let caption = format!("Decision {}, ", decision.id);
            let is_there = |told: &Value| told.as_str().unwrap().starts_with(&caption);
            assert!(page["tables"].as_array().unwrap().iter().any(is_there), "{caption}");
        }
        let other_units = units.iter().filter(|other| other.kernel != unit.kernel);
        for other in other_units.filter(|other| other.kernel.as_str() != HOSTILE) {
            let heading = format!("Kernel {}", other.unit_label());
            assert!(!page["text"].as_str().unwrap().contains(&heading), "{heading}");
        }
    }
    // A test stands in the index, and the way back in the contents.
    for link in ["main .chapter a[href*='#test:']", "nav a[href*='#chapter:kernels']"] {
        let click = format!("document.querySelector(\"{link}\").click();");
        let folder = written(&evidence, [TOLD, &click]);
        let kernel_folder = folder.path().join("the report#1-kernels");
        let page = opened(&kernel_folder.join("kernel-matmul_naive.html"), 1200);
        assert_eq!(page["kind"], "index", "{link}");
        assert_eq!(page["reached"], true, "{link}");
    }
}

#[test]
fn the_index_finds_a_kernel_by_its_name() {
    let script = "await find('#?%41');
        var rows = document.getElementById('chapter:kernels').closest('.chapter').querySelectorAll('tbody tr');
        var shown = Array.from(rows).filter(function (row) { return row.checkVisibility(); });
        return shown.map(function (row) { return row.cells[0].textContent; });";
    let folder = written(&with_hostile_kernel(), [script, ""]);
    let told = opened(&folder.path().join("the report#1.html"), 1200);
    assert_eq!(told, serde_json::json!([HOSTILE]));
}

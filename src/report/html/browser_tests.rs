//! The page in a browser: scripts click and type, and what they find is compared with the evidence.

mod conditions;
mod drawings;
mod folded;
mod hostile_names;
mod several_files;
mod trees;
mod trend;

use super::*;
use crate::tests::with_open_statements;
use crate::{FormatName, render};
use base64::Engine as _;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use vkcert_sample as sample;

/// A page with a script, the body of a function that returns a value, which runs once it is loaded.
fn scripted(page: &[u8], script: &str) -> String {
    let driver = format!(
        "<script>addEventListener('load', function () {{
            function press(key, element) {{
              (element || document.body).dispatchEvent(new KeyboardEvent('keydown', {{ key: key, bubbles: true, cancelable: true }}));
            }}
            function find(words) {{
              var field = document.querySelector('.toolbar input[type=search]');
              field.value = words;
              field.dispatchEvent(new Event('input'));
              return new Promise(function (done) {{ setTimeout(done, 400); }});
            }}
            function visible(selector) {{
              return Array.from(document.querySelectorAll(selector)).filter(function (one) {{ return one.checkVisibility(); }});
            }}
            function told(value) {{
              if (value === undefined) {{ return; }}
              var result = document.createElement('pre');
              result.id = 'result';
              result.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(value))));
              document.body.append(result);
            }}
            (async function () {{ {script} }})().then(told, function (error) {{ told('failed: ' + error); }});
        }});</script></body>"
    );
    String::from_utf8(page.to_vec()).unwrap().replace("</body>", &driver)
}

/// Opens a file and gives the value of the first script on the way that has one.
fn opened(file: &Path, width: u32) -> Value {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={width},900"))
        .arg(format!("file://{}", file.display().to_string().replace('#', "%23")))
        .output()
        .expect("chromium runs (`tools/setup.sh test` installs it)");
    let dom = String::from_utf8(output.stdout).unwrap();
    let encoded = dom.split("<pre id=\"result\">").nth(1).and_then(|rest| rest.split('<').next());
    let encoded = encoded.unwrap_or_else(|| panic!("the script gave no result: {width}"));
    let json = base64::engine::general_purpose::STANDARD.decode(encoded).unwrap();
    let value: Value = serde_json::from_slice(&json).unwrap();
    assert!(!value.as_str().is_some_and(|text| text.starts_with("failed: ")), "{value}");
    value
}

/// Runs a script on the page of a report; its value.
fn in_browser(evidence: &Evidence, width: u32, script: &str) -> Value {
    in_browser_with(evidence, &Presentation::default(), width, script)
}

fn in_browser_with(
    evidence: &Evidence,
    presentation: &Presentation,
    width: u32,
    script: &str,
) -> Value {
    let page = render(evidence, FormatName::Html, presentation).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, scripted(&page, script)).unwrap();
    opened(&file, width)
}

#[test]
fn nothing_is_cut_from_narrow_to_wide() {
    for width in [800, 1200, 2000] {
        let widths = "return [document.documentElement.scrollWidth, innerWidth];";
        let value = in_browser(&sample::evidence(), width, widths);
        let [content, window] = [0, 1].map(|index| value[index].as_u64().unwrap());
        assert!(content <= window && window >= u64::from(width) - 40, "{width}: {value}");
    }
}

/// What the page tells of its widths in a frame that is narrower than a window can be.
fn in_narrow_frame(evidence: &Evidence, width: u32) -> Value {
    let page = render(evidence, FormatName::Html, &Presentation::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let widths = "document.querySelectorAll('.chapter').forEach(function (chapter) { chapter.style.contentVisibility = 'visible'; });
        parent.postMessage([document.documentElement.scrollWidth, innerWidth], '*');";
    std::fs::write(folder.path().join("report.html"), scripted(&page, widths)).unwrap();
    let frame = format!(
        "<body><script>var message = new Promise(function (done) {{ addEventListener('message', function (event) {{ done(event.data); }}); }});</script>
         <iframe src='report.html' style='width: {width}px; height: 900px; border: 0'></iframe></body>"
    );
    let file = folder.path().join("frame.html");
    std::fs::write(&file, scripted(frame.as_bytes(), "return await message;")).unwrap();
    opened(&file, 1200)
}

#[test]
fn nothing_is_cut_on_the_screen_of_a_telephone() {
    for width in [320, 480] {
        let value = in_narrow_frame(&sample::evidence(), width);
        let [content, window] = [0, 1].map(|index| value[index].as_u64().unwrap());
        assert!(content <= window && window == u64::from(width), "{width}: {value}");
    }
}

#[test]
fn tables_and_shares_are_those_of_the_evidence() {
    let evidence = sample::evidence();
    let value = in_browser(
        &evidence,
        1200,
        "function rows(caption) {
           var tables = Array.from(document.querySelectorAll('table'));
           var table = tables.find(function (one) { return one.caption && one.caption.textContent.includes(caption); });
           return Array.from(table.tBodies[0].rows).map(function (row) { return Array.from(row.cells).map(function (cell) { return cell.textContent; }); });
         }
         var summary = document.getElementById('chapter:summary').closest('.chapter').textContent;
         return { tests: rows('Verdict of every test'), summary: summary };",
    );
    let tests = value["tests"].as_array().unwrap();
    assert_eq!(tests.len(), evidence.campaign.tests.len());
    for (row, test) in tests.iter().zip(&evidence.campaign.tests) {
        assert_eq!(row[0], test.id.to_string());
        let verdicts = evidence.campaign.engines.iter().map(|engine| {
            let result = test.results.iter().find(|result| result.engine == engine.engine);
            result.map_or("not-run".to_owned(), |result| result.verdict.to_string())
        });
        for (index, verdict) in verdicts.enumerate() {
            let cell = row[3 + index].as_str().unwrap();
            assert!(cell.contains(&verdict), "{cell}: {verdict}");
        }
    }
    let summary = value["summary"].as_str().unwrap();
    let shares = evidence.campaign.conclusion.summary.iter().flat_map(|row| &row.criteria);
    for share in shares {
        let words = format!("{}/{}", share.covered, share.total);
        assert!(summary.contains(&words), "{words}");
    }
}

#[test]
fn a_search_shows_what_has_the_words_and_says_how_much_it_hides() {
    let evidence = sample::evidence();
    let test = evidence.campaign.tests[0].id.to_string();
    let script = format!(
        "var all = visible('.part').length;
         await find('{test}');
         var leaves = visible('.part').filter(function (one) {{ return !one.querySelector('.part'); }});
         var found = visible('.part').length;
         var texts = leaves.map(function (one) {{
           var around = [];
           for (var node = one; node; node = node.parentElement.closest('.part')) {{ around.push(node.querySelector('h2, h3, h4')); }}
           return one.textContent + around.map(function (heading) {{ return heading ? heading.textContent : ''; }}).join(' ');
         }});
         var told = document.querySelector('.toolbar output').textContent;
         var rows = visible('table[data-shown]').length;
         press('Escape');
         return {{ all: all, found: found, texts: texts, told: told, rows: rows, after: visible('.part').length, left: document.querySelectorAll('.left-out').length }};"
    );
    let value = in_browser(&evidence, 1200, &script);
    let count = |name: &str| value[name].as_u64().unwrap();
    assert!(0 < count("found") && count("found") < count("all"), "{value}");
    assert_eq!(value["told"], format!("{} of {} sections shown", count("found"), count("all")));
    for text in value["texts"].as_array().unwrap() {
        assert!(text.as_str().unwrap().contains(&test), "{text}");
    }
    assert!(count("rows") > 0);
    assert_eq!((count("after"), count("left")), (count("all"), 0));
}

#[test]
fn open_places_are_found_by_filter_and_key() {
    let open = in_browser(
        &with_open_statements(3),
        1200,
        "press('o');
         var shown = visible('.part').filter(function (one) { return !one.querySelector('.part'); });
         var clean = shown.filter(function (one) { return !one.querySelector('.bad, .caution'); }).length;
         press('o');
         press('n');
         var first = document.querySelector('.at');
         var inside = first.getBoundingClientRect();
         press('n');
         var second = document.querySelector('.at');
         press('p');
         return { shown: shown.length, clean: clean, moved: first !== second, back: document.querySelector('.at') === first,
                  seen: inside.top >= 0 && inside.bottom <= innerHeight, told: document.querySelector('.toolbar output').textContent };",
    );
    assert!(open["shown"].as_u64().unwrap() > 0, "{open}");
    assert_eq!(open["clean"], 0);
    assert_eq!([&open["moved"], &open["back"], &open["seen"]], [true, true, true], "{open}");
    assert!(open["told"].as_str().unwrap().starts_with("open place 1 of "), "{open}");
}

#[test]
fn a_column_sorts_both_ways_and_back() {
    let value = in_browser(
        &sample::evidence(),
        1200,
        "var table = Array.from(document.querySelectorAll('.chapter table')).find(function (one) { return one.tBodies[0].rows.length > 2; });
         var title = table.querySelector('th');
         function column() { return Array.from(table.tBodies[0].rows).map(function (row) { return row.cells[0].textContent; }); }
         var orders = [column()];
         for (var times = 0; times < 3; times += 1) { title.click(); orders.push(column()); }
         return orders;",
    );
    let orders: Vec<Vec<String>> = serde_json::from_value(value).unwrap();
    let [plain, ascending, descending, back] = &orders[..] else { panic!("four orders") };
    let mut reversed = ascending.clone();
    reversed.reverse();
    assert_eq!((plain, &reversed), (back, descending));
    assert!(ascending != descending);
}

#[test]
fn the_theme_changes_by_key_and_the_search_takes_the_keyboard() {
    let value = in_browser(
        &sample::evidence(),
        1200,
        "function paper() { return getComputedStyle(document.body).backgroundColor; }
         var seen = [document.documentElement.dataset.theme || 'system'];
         var papers = {};
         for (var times = 0; times < 3; times += 1) {
           press('t');
           seen.push(document.documentElement.dataset.theme || 'system');
           papers[seen[seen.length - 1]] = paper();
         }
         press('/');
         return { seen: seen, papers: papers, focus: document.activeElement.type };",
    );
    assert_eq!(value["seen"], serde_json::json!(["system", "light", "dark", "system"]));
    assert_ne!(value["papers"]["light"], value["papers"]["dark"]);
    assert_eq!(value["focus"], "search");
}

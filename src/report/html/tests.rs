use super::*;
use crate::{FormatName, render};
use vkcert_sample as sample;

fn page(evidence: &Evidence) -> String {
    String::from_utf8(render(evidence, FormatName::Html, &Presentation::default()).unwrap())
        .unwrap()
}

#[test]
fn text_of_the_project_is_escaped() {
    let mut evidence = sample::evidence();
    evidence.campaign.project.name = "<script>alert(1)</script>".into();
    evidence.campaign.conclusion.grounds.clear();
    evidence.campaign.conclusion.reasons = vec!["a \"quoted\" <img src=x> & b".into()];
    let page = page(&evidence);
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<img"));
    assert!(page.contains("&lt;img src=x&gt; &amp; b"));
}

#[test]
fn the_page_refers_to_nothing_outside() {
    let page = page(&sample::evidence());
    for word in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn every_link_has_its_target_and_every_id_is_unique() {
    let page = page(&sample::evidence());
    let values = |attribute: &str| {
        let parts: Vec<String> = page
            .split(attribute)
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect();
        parts
    };
    let ids = values(" id=\"");
    let unique: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
    for link in values("href=\"#") {
        assert!(unique.contains(&link), "#{link}");
    }
}

#[test]
fn conditions_in_the_source_are_marked_by_symbol() {
    let page = page(&sample::evidence());
    let start = page.find("class=\"source-view\"").unwrap();
    let view = &page[start..start + page[start..].find("</section>").unwrap()];
    let guard = view.split("class=\"line ").find(|line| line.contains("x &lt; k")).unwrap();
    insta::assert_snapshot!(
        guard.replace("</span><span", "</span>\n<span").replace("<a ", "\n<a ")
    );
}

#[test]
fn macro_spans_outside_the_text_mark_nothing() {
    let mut evidence = sample::evidence();
    for decision in &mut evidence.kernels[0].coverage.decisions {
        for condition in &mut decision.conditions {
            condition.span = [5_000_000, 5_000_001];
        }
    }
    assert!(page(&evidence).contains("source-view"));
}

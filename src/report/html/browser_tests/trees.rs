//! The tree of requirements: what it says, how it opens, and what a filter leaves of it.

use super::*;
use std::collections::BTreeSet;

/// Functions for scripts: lines of the tree and what can be seen of them.
const TREE: &str = "var tree = document.querySelector('.tree');
    function lines() { return Array.from(tree.querySelectorAll('.tree-line')); }
    function seen() { return lines().filter(function (line) { return line.checkVisibility(); }); }
    function texts(all) { return all.map(function (line) { return line.textContent; }); }
    var openAll = tree.querySelector('.open-all');
    var closeAll = tree.querySelector('.close-all');";

fn in_tree(evidence: &Evidence, script: &str) -> Value {
    in_browser(evidence, 1200, &format!("{TREE}\n{script}"))
}

#[test]
fn the_tree_has_every_requirement_with_its_status_tests_and_code() {
    let evidence = sample::evidence();
    let value = in_tree(
        &evidence,
        "return lines().map(function (line) {
           var below = line.parentElement.matches('details') ? line.parentElement.querySelectorAll(':scope > ul > .node') : [];
           return { text: line.textContent, links: line.matches('summary') ? line.querySelectorAll('a').length : 0,
             full: line.matches('summary') ? line.parentElement.querySelector(':scope > .in-full a').hash : line.querySelector('a') && line.querySelector('a').hash, below: Array.from(below).map(function (node) { return node.querySelector('.tree-line').textContent; }) };
         });",
    );
    let lines = value.as_array().unwrap();
    for row in &evidence.campaign.requirements {
        let uid = &row.requirement.uid;
        let name = format!(" {} {uid} ", row.requirement.level);
        let mut own_lines =
            lines.iter().filter(|line| line["text"].as_str().unwrap().contains(&name));
        let line = own_lines.next().unwrap_or_else(|| panic!("{uid}"));
        assert!(line["text"].as_str().unwrap().contains(&row.status.to_string()), "{line}");
        assert_eq!(line["full"], format!("#requirement:{uid}"));
        assert_eq!(line["links"], 0, "{line}");
        let below = line["below"].as_array().unwrap();
        assert_eq!(below.len(), row.children.len() + row.tests.len() + row.code.len(), "{line}");
        for test in &row.tests {
            let stored = evidence.campaign.tests.iter().find(|stored| stored.id == *test).unwrap();
            let start = format!("Test {test} ");
            let told = below.iter().filter_map(Value::as_str).find(|told| told.starts_with(&start));
            let told = told.unwrap_or_else(|| panic!("{test}"));
            for result in &stored.results {
                let verdict = format!("{} on {}", result.verdict, result.engine);
                assert!(told.contains(&verdict), "{told}: {verdict}");
            }
        }
    }
}

#[test]
fn the_tree_opens_by_mouse_and_by_keys() {
    let value = in_tree(
        &sample::evidence(),
        "closeAll.click();
         var closed = seen().length;
         var first = seen()[0];
         first.focus();
         press('ArrowRight', document.activeElement);
         var opened = seen().length;
         press('ArrowRight', document.activeElement);
         var below = document.activeElement === seen()[1];
         press('ArrowLeft', document.activeElement);
         press('ArrowLeft', document.activeElement);
         var back = document.activeElement === first;
         press('ArrowLeft', document.activeElement);
         var closedAgain = seen().length;
         press('End', document.activeElement);
         var last = document.activeElement === seen()[seen().length - 1];
         press('ArrowUp', document.activeElement);
         press('Home', document.activeElement);
         var home = document.activeElement === first;
         first.click();
         var clicked = seen().length;
         openAll.click();
         return { closed: closed, opened: opened, below: below, back: back, closedAgain: closedAgain, last: last, home: home, clicked: clicked,
                  all: seen().length === lines().length };",
    );
    let count = |name: &str| value[name].as_u64().unwrap();
    let evidence = sample::evidence();
    let roots = evidence.campaign.requirements.iter();
    let roots = roots.filter(|row| row.requirement.parents.is_empty()).count() as u64;
    assert_eq!((count("closed"), count("closedAgain")), (roots, roots), "{value}");
    assert!(count("opened") > roots && count("clicked") == count("opened"), "{value}");
    for name in ["below", "back", "last", "home", "all"] {
        assert_eq!(value[name], true, "{name}: {value}");
    }
}

#[test]
fn a_filter_leaves_the_lines_that_have_the_words_and_the_way_to_them() {
    let evidence = sample::evidence();
    let row = evidence.campaign.requirements.iter().find(|row| !row.tests.is_empty()).unwrap();
    let test = row.tests[0];
    let script = format!(
        "closeAll.click();
         var before = seen().length;
         await find('{test}');
         var found = texts(seen());
         var told = tree.querySelector('.tree-shown').textContent;
         press('Escape');
         return {{ before: before, found: found, told: told, after: seen().length, all: lines().length, left: tree.querySelectorAll('.left-out').length }};"
    );
    let value = in_tree(&evidence, &script);
    let found: Vec<String> = serde_json::from_value(value["found"].clone()).unwrap();
    assert!(found.iter().any(|line| line.starts_with(&format!("Test {test} "))), "{found:?}");
    assert!(found.len() < value["all"].as_u64().unwrap() as usize);
    let naming: BTreeSet<String> = evidence
        .campaign
        .requirements
        .iter()
        .filter(|row| !row.tests.contains(&test))
        .filter(|row| row.children.is_empty())
        .map(|row| format!(" {} ", row.requirement.uid))
        .collect();
    let strays = found.iter().filter(|line| naming.iter().any(|name| line.contains(name)));
    assert_eq!(strays.count(), 0, "{found:?}");
    assert_eq!(value["told"], format!("{} of {} lines shown", found.len(), value["all"]));
    assert_eq!((&value["after"], &value["left"]), (&value["before"], &Value::from(0)));
}

#[test]
fn open_only_leaves_what_is_open_in_the_tree() {
    let value = in_tree(
        &sample::evidence(),
        "press('o');
         var nodes = Array.from(tree.querySelectorAll('.node')).filter(function (node) { return node.checkVisibility(); });
         var clean = nodes.filter(function (node) { return !node.querySelector('.bad, .caution'); }).map(function (node) { return node.textContent; });
         return { shown: nodes.length, all: tree.querySelectorAll('.node').length, clean: clean };",
    );
    assert_eq!(value["clean"], serde_json::json!([]));
    let count = |name: &str| value[name].as_u64().unwrap();
    assert!(0 < count("shown") && count("shown") < count("all"), "{value}");
}

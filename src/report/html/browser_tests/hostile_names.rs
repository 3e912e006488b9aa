//! Names and texts that try to leave their place on the page.

use super::*;
use std::collections::BTreeSet;

/// Ends strings, elements, style and script, starts others, and turns the direction of text.
const HOSTILE: &str = "\"'></script></style></textarea><script>window.hacked=1</script><img src=x onerror=window.hacked=1>${1}\u{202e}\u{2066}\u{61c}";

/// Names of all members of objects that hold texts.
fn text_members(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if member.is_string() {
                    names.insert(name.clone());
                }
                text_members(member, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| text_members(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Adds the hostile text to every member of this name.
fn with_hostile_member(value: &mut Value, name: &str) {
    match value {
        Value::Object(members) => {
            for (member_name, member) in members {
                match member {
                    Value::String(text) if member_name == name => text.push_str(HOSTILE),
                    other_member => with_hostile_member(other_member, name),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| with_hostile_member(item, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The sample with the hostile text behind every text that may hold any, and the names of these.
fn hostile_evidence() -> (Evidence, BTreeSet<String>) {
    let mut value = serde_json::to_value(sample::evidence()).unwrap();
    let mut names = BTreeSet::new();
    text_members(&value, &mut names);
    names.retain(|name| {
        let mut changed = value.clone();
        with_hostile_member(&mut changed, name);
        let is_free_text = serde_json::from_value::<Evidence>(changed.clone()).is_ok();
        if is_free_text {
            value = changed;
        }
        is_free_text
    });
    (serde_json::from_value(value).unwrap(), names)
}

#[test]
fn hostile_text_stays_text_in_every_field() {
    let (evidence, names) = hostile_evidence();
    for name in ["name", "title", "statement", "text", "path", "kernel", "id", "uid", "reason"] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    let page = render(&evidence, FormatName::Html, &Presentation::default()).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert_eq!(page.matches("</script").count(), 1);
    assert_eq!(page.matches("</style").count(), 1);
    for character in ['\u{202e}', '\u{2066}', '\u{61c}'] {
        assert!(!page.contains(character), "{character:?}");
    }
    let value = in_browser(
        &evidence,
        1200,
        "document.querySelectorAll('a.condition').forEach(function (link) { link.click(); });
         await find('hacked');
         document.querySelectorAll('.chapter th').forEach(function (title) { title.click(); });
         return { hacked: window.hacked === undefined, images: document.querySelectorAll('img').length,
                  scripts: document.querySelectorAll('script').length, styles: document.querySelectorAll('style').length,
                  handlers: document.querySelectorAll('[onerror]').length, seen: document.querySelector('h1').textContent };",
    );
    assert_eq!(value["hacked"], true);
    // The page's own script, and that of the test.
    let counts =
        ["images", "scripts", "styles", "handlers"].map(|name| value[name].as_u64().unwrap());
    assert_eq!(counts, [0, 2, 1, 0], "{value}");
    assert!(value["seen"].as_str().unwrap().contains("<img src=x"), "{value}");
}

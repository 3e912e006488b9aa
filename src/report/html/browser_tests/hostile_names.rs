//! Names and texts that try to leave their place on the page.

use super::*;
use std::collections::BTreeSet;

/// Ends strings, elements, style and script, starts others, and turns the direction of text.
const HOSTILE: &str = "\"'></script></style></textarea><script>window.hacked=1</script><img src=x onerror=window.hacked=1>${1}\u{202e}\u{2066}\u{61c}";

/// Names of all members that hold texts, each behind the name of the member around it.
fn text_members(value: &Value, around: &str, names: &mut BTreeSet<[String; 2]>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if member.is_string() {
                    names.insert([around, name].map(str::to_owned));
                }
                text_members(member, name, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| text_members(item, around, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Adds the hostile text to every member of these names.
fn add_hostile_text(value: &mut Value, around: &str, names: &[String; 2]) {
    match value {
        Value::Object(members) => {
            for (member_name, member) in members {
                match member {
                    Value::String(text) if [around, member_name] == *names => {
                        text.push_str(HOSTILE);
                    }
                    other_member => add_hostile_text(other_member, member_name, names),
                }
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| add_hostile_text(item, around, names));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The sample with the hostile text behind every text that may hold any, and the names of these.
fn hostile_evidence() -> (Evidence, BTreeSet<[String; 2]>) {
    let mut value = serde_json::to_value(sample::evidence()).unwrap();
    let mut names = BTreeSet::new();
    text_members(&value, "", &mut names);
    names.retain(|names| {
        let mut changed = value.clone();
        add_hostile_text(&mut changed, "", names);
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
    for due in [
        ["project", "name"],
        ["tests", "id"],
        ["tests", "title"],
        ["requirement", "uid"],
        ["requirement", "statement"],
        ["kernels", "kernel"],
        ["files", "path"],
        ["files", "text"],
        ["conditions", "text"],
        ["justification", "reason"],
        ["finding", "message"],
    ] {
        assert!(names.contains(&due.map(str::to_owned)), "{due:?}: {names:?}");
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

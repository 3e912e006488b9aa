//! Tests of reading files and of the places that diagnostics name.

use super::*;
use crate::project_folder::{ProjectFolder, kinds_and_places};
use serde::Deserialize;
use serde::de::{SeqAccess, Visitor};

fn document(text: &str) -> Arc<Document> {
    Document::parse("d.toml", text, FileSyntax::Toml).unwrap()
}

#[test]
fn a_file_is_toml_or_json_by_its_name_or_first_character() {
    for (path, text, syntax) in [
        ("a.json", "a = 1", FileSyntax::Json),
        ("a.toml", "{}", FileSyntax::Toml),
        ("a.txt", " \n{}", FileSyntax::Json),
        ("a", "a = 1", FileSyntax::Toml),
        ("a.txt", "", FileSyntax::Toml),
        ("json", "[a]", FileSyntax::Toml),
    ] {
        assert_eq!(FileSyntax::of_file(Path::new(path), text), syntax, "{path} {text}");
    }
    let folder = ProjectFolder::with_files(&[("a.json", "{\"k\": 1}"), ("b", "k = 2")]);
    for (file, value) in [("a.json", 1), ("b", 2)] {
        let read = Document::load(&folder.path.join(file), "shown").unwrap();
        assert_eq!(read.root().entry("k").unwrap().node.value, Value::Integer(value));
        assert_eq!(read.file, "shown");
    }
}

#[test]
fn a_file_is_read_up_to_its_limit() {
    assert_eq!((MOST_TEXT_BYTES, MOST_DATA_BYTES), (33_554_432, 2_147_483_648));
    let folder = ProjectFolder::with_files(&[("five", "12345"), ("none", "")]);
    let read = |file: &str, limit: u64| {
        read_at_most(&folder.path.join(file), file, limit).map_err(|problem| problem.message)
    };
    let too_large =
        |limit: u64| Err(format!("`five` is larger than {limit} bytes, the limit for such a file"));
    assert_eq!(read("five", 5), Ok(b"12345".to_vec()));
    assert_eq!(read("five", 6), Ok(b"12345".to_vec()));
    assert_eq!((read("five", 4), read("five", 0)), (too_large(4), too_large(0)));
    assert_eq!(read("none", 0), Ok(Vec::new()));
    assert_eq!(read_bytes(&folder.path.join("five"), "five").unwrap(), b"12345");
    assert_eq!(read_text(&folder.path.join("five"), "five").unwrap(), "12345");
    // A file of the kernel has more bytes than the length that it reports.
    let status = Path::new("/proc/self/status");
    let problem = read_at_most(status, "status", 10).unwrap_err();
    assert_eq!(problem.kind, "limit");
    assert!(read_bytes(status, "status").unwrap().len() > 10);
}

#[test]
fn what_is_no_file_is_told_and_not_read() {
    let folder = ProjectFolder::with_files(&[("folder/file", "")]);
    let _socket = std::os::unix::net::UnixListener::bind(folder.path.join("socket")).unwrap();
    let pipe = folder.path.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (path, name, kind) in [
        (folder.path.join("folder"), "folder", "a folder"),
        (pipe, "pipe", "a pipe"),
        (folder.path.join("socket"), "socket", "a socket"),
        ("/dev/zero".into(), "zero", "a device"),
    ] {
        let problem = read_bytes(&path, name).unwrap_err();
        assert_eq!(problem.message, format!("`{name}` is {kind}, not a file"));
        assert_eq!(kinds_and_places(&[problem]), [format!("not-a-file {name}")]);
    }
    let absent = folder.path.join("absent");
    let problem = read_bytes(&absent, "absent").unwrap_err();
    assert_eq!(problem.hint, Some(format!("there is nothing at `{}`", absent.display())));
    assert_eq!(kinds_and_places(&[problem]), ["missing-file absent"]);
    let below_a_file = read_bytes(&folder.path.join("folder/file/x"), "x").unwrap_err();
    assert_eq!((below_a_file.kind, below_a_file.hint), ("missing-file", None));
}

#[test]
fn a_text_is_utf8() {
    assert_eq!(decode_text("é".as_bytes().to_vec(), "f").unwrap(), "é");
    let problem = decode_text(vec![b'a', 0xc3, b'b'], "f").unwrap_err();
    assert_eq!(problem.message, "`f` is not UTF-8: byte 1 starts no character");
}

/// Files stay in the order in which they first occur; within one, the order is that of the text.
#[test]
fn diagnostics_stand_in_the_order_of_their_places() {
    let at = |message: &str, file: &str, start: usize| {
        Diagnostic::new("kind", message).at_span(file, "0123456789", start..start + 1)
    };
    let ordered = in_place_order(vec![
        at("1", "b", 7),
        at("2", "a", 3),
        at("3", "b", 2),
        Diagnostic::new("kind", "4").in_file("a"),
        Diagnostic::new("kind", "5"),
        at("6", "b", 7),
        at("7", "a", 0),
    ]);
    let messages: Vec<&str> = ordered.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["3", "1", "6", "4", "7", "2", "5"]);
}

#[test]
fn a_place_of_several_lines_shows_its_first() {
    for (text, span, shown) in [
        ("abc", 1..2, "b"),
        ("ab  \ncd\nef", 1..9, "b"),
        ("ab\ncd", 0..5, "ab"),
        ("x \ny", 0..4, "x"),
        (" \ny", 0..3, " "),
        ("\nab", 0..3, "\nab"),
        ("ab\ncd", 3..5, "cd"),
        ("abc", 2..9, "c"),
    ] {
        let range = first_line(text, span.clone().into()).range();
        assert_eq!(&text[range.clone()], shown, "{span:?} of {text:?}");
        assert_eq!(range.start, span.start);
        let fault = DocumentFault::new(FaultKind::BadValue, "message").at(span);
        let problem = fault.hint(Some("do".into())).into_diagnostic("f", &text.into());
        assert_eq!((problem.kind, problem.message.as_str()), ("bad-value", "message"));
        assert_eq!(problem.hint.as_deref(), Some("do"));
        assert_eq!(problem.location.unwrap().span, Some(range));
    }
    assert_eq!(first_line("abc", (7..9).into()), (3..3).into());
    let whole =
        DocumentFault::new(FaultKind::BadValue, "message").into_diagnostic("f", &"abc".into());
    assert_eq!(whole.location.unwrap().span, None);
}

#[test]
fn an_origin_names_a_value_and_its_key() {
    let document = document("a = 1\n[t]\nlist = [10, { x = true }]\n");
    check_origin(&document, &Origin::of(&document));
    // The same of a document that has given back its tree.
    let mut treeless = TreelessDocuments::default();
    let mut table = Origin::of(&document).at("t");
    treeless.replace_in(&mut table, &["list", "absent"]);
    let without_tree = table.document().unwrap();
    assert!(without_tree.root.get().is_none());
    assert_eq!(table.position(), Origin::of(&document).at("t").position());
    assert_eq!(table.at("list").position(), Some(Position { line: 3, column: 8 }));
    assert_eq!(table.at("absent").position(), None);
    let element = table.at("list").at(1);
    assert_eq!(element.position(), Some(Position { line: 3, column: 13 }));
    assert!(without_tree.root.get().is_none(), "the tree that told it was not kept");
    check_origin(without_tree, &Origin::of(without_tree));
    let mut whole = Origin::of(&document);
    treeless.replace_in(&mut whole, &[]);
    assert!(Arc::ptr_eq(whole.document().unwrap(), without_tree), "each is made once");
}

fn check_origin(document: &Arc<Document>, origin: &Origin) {
    let element = origin.at("t").at("list").at(1);
    let shown = |problem: Diagnostic| kinds_and_places(&[problem]).remove(0);
    assert_eq!(shown(element.at("x").error("e", "m")), "e true");
    assert_eq!(shown(element.at("x").key_error("e", "m")), "e x");
    assert_eq!(shown(element.error("e", "m")), "e { x = true }");
    assert_eq!(shown(element.key_error("e", "m")), "e { x = true }", "an element has no key");
    assert_eq!(
        shown(origin.at("t").at("absent").error("e", "m")),
        "e [t]",
        "the table it lacks in"
    );
    assert_eq!(shown(origin.at(&"a".to_owned()).error("e", "m")), "e 1");
    assert_eq!(element.at("x").value().unwrap().value, Value::Bool(true));
    assert_eq!(origin.at("t").at("list").at(0).value().unwrap().value, Value::Integer(10));
    assert!(origin.at("t").at("list").at(2).value().is_none());
    assert!(origin.at("a").at("b").value().is_none());
    assert_eq!((origin.file(), element.document().is_some()), ("d.toml", true));
    let nowhere = Origin::none().at("a");
    assert_eq!((nowhere.file(), nowhere.document().is_none()), ("", true));
    assert!(nowhere.value().is_none() && nowhere.error("e", "m").location.is_none());
    assert!(nowhere.key_error("e", "m").location.is_none());
    let located = Located { value: "text".to_owned(), origin: nowhere };
    assert_eq!(located.len(), 4);
    assert_eq!(document.root().entry("a").unwrap().node.elements(), []);
    assert!(document.root().entry("a").unwrap().node.entry("a").is_none());
}

#[test]
fn toml_has_its_values_in_the_order_of_the_text() {
    let text = "z = 0x1F\na = -7\nf = 1.5\ni = -inf\nb = false\ns = \"a\\tb\"\nd = 1979-05-27\n\
                e = 1e308\nn = [0o17, 0b101, 1_000]\nt = { k = 9223372036854775807 }\n";
    let root = document(text).root().clone();
    let Value::Table(entries) = &root.value else { panic!("a table") };
    let keys: String = entries.iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, "zafibsdent");
    let value = |key: &str| root.entry(key).unwrap().node.value.clone();
    assert_eq!(value("z"), Value::Integer(31));
    assert_eq!(value("a"), Value::Integer(-7));
    assert_eq!((value("f"), value("i")), (Value::Float(1.5), Value::Float(f64::NEG_INFINITY)));
    assert_eq!(value("b"), Value::Bool(false));
    assert_eq!(
        (value("s"), value("d")),
        (Value::Text("a\tb".into()), Value::Text("1979-05-27".into()))
    );
    assert_eq!(value("e"), Value::Float(1e308));
    let list = root.entry("n").unwrap().node.clone();
    let numbers: Vec<&Value> = list.elements().iter().map(|node| &node.value).collect();
    assert_eq!(numbers, [&Value::Integer(15), &Value::Integer(5), &Value::Integer(1000)]);
    assert_eq!(&text[list.elements()[1].span.range()], "0b101");
    let most = root.entry("t").unwrap().node.entry("k").unwrap();
    assert_eq!(most.node.value, Value::Integer(i64::MAX.into()));
}

#[test]
fn of_toml_all_duplicates_are_told_but_one_syntax_error() {
    let problems = |text: &str| {
        kinds_and_places(&Document::parse("d.toml", text, FileSyntax::Toml).unwrap_err())
    };
    assert_eq!(problems("a = 1\nb = 2\nb = 3\na = 4\n"), ["duplicate-key b", "duplicate-key a"]);
    let errors = problems("a = 1\na = 2\nb = ]\nc = ]\n");
    assert!(errors.len() == 1 && errors[0].starts_with("toml-syntax"), "{errors:?}");
    for number in ["1e999", "-1e400", &"9".repeat(60)] {
        assert_eq!(problems(&format!("a = {number}\n")), [format!("toml-syntax {number}")]);
    }
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outer {
    inner: Inner,
    #[serde(default)]
    list: Vec<Inner>,
    #[serde(default)]
    pair: Option<[f64; 2]>,
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    wrapped: Option<Wrapped>,
    #[serde(default)]
    ratio: Option<Ratio>,
    #[serde(default)]
    counted: Option<Counted>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    count: u64,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Choice {
    Plain,
    Number(u32),
    Pair(i8, i8),
    Fields {
        #[serde(default)]
        start: i64,
    },
    Wrapped(Inner),
}

#[derive(Debug, PartialEq, Deserialize)]
struct Wrapped(u8);

#[derive(Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
struct Ratio(f64);

impl TryFrom<f64> for Ratio {
    type Error = &'static str;
    fn try_from(value: f64) -> Result<Self, Self::Error> {
        if value <= 1.0 { Ok(Ratio(value)) } else { Err("a ratio is at most 1") }
    }
}

/// How many elements an array says it has before they are read.
#[derive(Debug, PartialEq)]
struct Counted(Option<usize>);

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl<'de> Visitor<'de> for CountVisitor {
            type Value = Counted;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Counted, A::Error> {
                let announced = elements.size_hint();
                while elements.next_element::<u8>()?.is_some() {}
                Ok(Counted(announced))
            }
        }
        deserializer.deserialize_seq(CountVisitor)
    }
}

fn read_json(text: &str) -> Result<Outer, Vec<Diagnostic>> {
    Origin::of(&Document::parse("d.json", text, FileSyntax::Json).unwrap()).read()
}

#[test]
fn values_become_the_types_that_are_asked_for() {
    let read = read_json(
        r#"{ "inner": { "count": 18446744073709551615, "name": null },
             "list": [{ "count": 1, "name": "n" }, { "count": 2 }],
             "pair": [1, 340282366920938463463374607431768211455],
             "choices": ["plain", { "number": 7 }, { "pair": [-1, 2] }, "fields",
                         { "fields": { "start": -3 } }, { "wrapped": { "count": 4 } }],
             "wrapped": 255, "ratio": 0.5, "counted": [1, 2, 3] }"#,
    );
    let inner = |count: u64, name: Option<&str>| Inner { count, name: name.map(str::to_owned) };
    let expected = Outer {
        inner: inner(u64::MAX, None),
        list: vec![inner(1, Some("n")), inner(2, None)],
        pair: Some([1.0, 2f64.powi(128)]),
        choices: vec![
            Choice::Plain,
            Choice::Number(7),
            Choice::Pair(-1, 2),
            Choice::Fields { start: 0 },
            Choice::Fields { start: -3 },
            Choice::Wrapped(inner(4, None)),
        ],
        wrapped: Some(Wrapped(255)),
        ratio: Some(Ratio(0.5)),
        counted: Some(Counted(Some(3))),
    };
    assert_eq!(read.unwrap(), expected);
}

/// Message and place of the one fault of a text.
#[test]
fn a_fault_has_the_place_of_its_value() {
    for (field, message, place) in [
        (r#""pair": [1]"#, "expected an array of length 2, found 1", "[1]"),
        (r#""pair": [1, 2, 3, 4]"#, "expected an array of 2 elements, found 4", "3"),
        (r#""pair": [1, "x"]"#, "expected f64, found string \"x\"", "\"x\""),
        (r#""pair": {"a": 1}"#, "expected an array of length 2, found an object", "{\"a\": 1}"),
        (r#""list": 3"#, "expected a sequence, found integer `3`", "3"),
        (r#""list": [null]"#, "expected an object, found null", "null"),
        (r#""list": [[1]]"#, "expected an object, found an array", "[1]"),
        (r#""choices": [{"fields": [1]}]"#, "expected an object, found an array", "[1]"),
        (
            r#""list": [{"count": -1}]"#,
            "expected an integer from 0 to 18446744073709551615, found integer `-1`",
            "-1",
        ),
        (r#""list": [{"name": "n"}]"#, "the key `count` is missing", "{\"name\": \"n\"}"),
        (r#""wrapped": 256"#, "expected an integer from 0 to 255, found integer `256`", "256"),
        (r#""ratio": 1.5"#, "a ratio is at most 1", "1.5"),
        (r#""choices": ["plane"]"#, "`plane` is none of the values allowed here", "\"plane\""),
        (r#""choices": [{"plane": 1}]"#, "`plane` is none of the values allowed here", "\"plane\""),
        (r#""choices": [{"plain": 1}]"#, "this name stands alone, as a string", "1"),
        (
            r#""choices": [{"number": 1, "pair": 2}]"#,
            "expected an object with exactly one key",
            "{\"number\": 1, \"pair\": 2}",
        ),
        (r#""choices": [{}]"#, "expected an object with exactly one key", "{}"),
        (
            r#""choices": [{"number": "x"}]"#,
            "expected an integer from 0 to 4294967295, found string \"x\"",
            "\"x\"",
        ),
        (
            r#""choices": [{"fields": {"start": true}}]"#,
            "expected an integer from -9223372036854775808 to 9223372036854775807, found boolean `true`",
            "true",
        ),
        (
            r#""choices": ["number"]"#,
            "expected an integer from 0 to 4294967295, found an object",
            "\"number\"",
        ),
    ] {
        let problems =
            read_json(&format!("{{ \"inner\": {{ \"count\": 1 }}, {field} }}")).unwrap_err();
        let [problem] = problems.as_slice() else { panic!("{field}: {problems:?}") };
        let shown = kinds_and_places(&problems).remove(0);
        assert!(shown.ends_with(&format!(" {place}")), "{field}: {shown}");
        assert!(problem.message.contains(message), "{field}: {}", problem.message);
    }
}

#[test]
fn a_value_that_is_not_allowed_leads_to_those_that_are() {
    let hint = |field: &str| {
        let text = format!("{{ \"inner\": {{ \"count\": 1 }}, {field} }}");
        read_json(&text).unwrap_err().remove(0).hint
    };
    assert_eq!(hint(r#""choices": ["plan"]"#).as_deref(), Some("did you mean `plain`?"));
    let all = "one of `plain`, `number`, `pair`, `fields`, `wrapped`";
    assert_eq!(hint(r#""choices": ["xxxxxxxx"]"#).as_deref(), Some(all));
    assert_eq!(hint(r#""lists": []"#).as_deref(), Some("did you mean `list`?"));
    let keys =
        "the keys here are `inner`, `list`, `pair`, `choices`, `wrapped`, `ratio`, `counted`";
    assert_eq!(hint(r#""zzzzzzzz": []"#).as_deref(), Some(keys));
}

/// All unknown keys, and the first fault of another kind; a key that is missing because it is
/// misspelt is told once.
#[test]
fn unknown_keys_are_all_told() {
    for (text, expected) in [
        (
            r#"{"inner": {"count": 1, "x": 1}, "y": 2, "list": [{"z": 3, "count": 1}]}"#,
            &["unknown-key \"x\"", "unknown-key \"y\"", "unknown-key \"z\""][..],
        ),
        (r#"{"inner": {"cuont": 1}}"#, &["unknown-key \"cuont\""]),
        (r#"{"inner": {"zzzzz": 1}}"#, &["unknown-key \"zzzzz\"", "missing-key {\"zzzzz\": 1}"]),
        (r#"{"inner": {"nmae": "n"}}"#, &["unknown-key \"nmae\"", "missing-key {\"nmae\": \"n\"}"]),
        (r#"{"inner": {"cuont": 1, "name": 2}}"#, &["unknown-key \"cuont\"", "wrong-type 2"]),
        (
            r#"{"inner": {"cuont": 1, "zzzzz": 2}}"#,
            &["unknown-key \"cuont\"", "unknown-key \"zzzzz\""],
        ),
        (
            r#"{"inner": {"zzzzz": 1, "cuont": 2}}"#,
            &["unknown-key \"zzzzz\"", "unknown-key \"cuont\""],
        ),
        (r#"{"inner": {}}"#, &["missing-key {}"]),
        (r#"{"list": []}"#, &["missing-key {\"list\": []}"]),
        (
            r#"{"inner": {"count": 1}, "x": {"x": 1}, "pair": [1]}"#,
            &["unknown-key \"x\"", "bad-value [1]"],
        ),
    ] {
        assert_eq!(kinds_and_places(&read_json(text).unwrap_err()), expected, "{text}");
    }
}

/// What a whole value is refused for has no place of its own within it.
#[test]
fn a_value_that_is_refused_as_a_whole_is_the_place() {
    let document =
        Document::parse("d.json", "{ \"r\": 1.5, \"s\": [] }", FileSyntax::Json).unwrap();
    let origin = Origin::of(&document);
    let refused = origin.at("r").read::<Ratio>().unwrap_err();
    assert_eq!(kinds_and_places(&refused), ["bad-value 1.5"]);
    let wrong = origin.at("s").read::<Ratio>().unwrap_err();
    assert_eq!(kinds_and_places(&wrong), ["wrong-type []"]);
}

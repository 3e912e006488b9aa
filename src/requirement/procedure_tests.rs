//! Tests of what is refused in a test procedure, and at which place.
//!
//! Each row of a table edits one place of a file in which everything is right.

use super::document::FileSyntax;
use super::load_procedure::parse_procedure;
use super::project_folder::{edited, kinds_and_places};
use std::path::Path;

const PROCEDURE: &str = r#"schema = 1
[kernels.k]
source.text = "void main() {}"
[kernels.s]
language = "spirv"
source.bytes = "AAAA"
[kernels.f]
source = "f.comp"
defines = { N = "4" }
include = ["inc"]
[[tests]]
id = "TC-1"
limits = { seconds = 0.5, steps = 1, memory_bytes = 1 }
[tests.buffers]
a = { type = "uint", data = [1, 2] }
b = { type = "uint", count = 2, address_of = [{ at = 0, buffer = "a" }] }
c = { bytes = "AAAA" }
d = { type = "uint", fill = { constant = 1 }, count = 2 }
e = { file = "e.npy" }
[tests.images.i]
dim = "2d"
format = "rgba8"
extent = [2, 2]
data = [0, 0, 0, 1]
[tests.images.j]
dim = "2d"
format = "rgba8"
extent = [2, 2]
[tests.samplers.t]
filter = "linear"
[[tests.dispatches]]
kernel = "k"
groups = [1, 1, 1]
subgroup_size = 128
bindings = [
    { binding = 0, buffer = "a" },
    { binding = 1, image = "i", sampler = "t" },
    { binding = 2, sampler = "t" },
    { binding = 0, set = 1, image = "j" },
    { binding = 0, array_index = 1, buffer = "b" },
]
specialization = { 0 = { type = "uint", value = 4 } }
[[tests.expect]]
buffer = "a"
type = "uint"
values = [1, 2]
count = 1
order = "any"
record = 1
tolerance = { abs = 0, rel = 0.0, ulp = 0 }
[[tests.expect]]
buffer = "b"
file = "b.npy"
tolerance = { bits = true }
[[tests.expect]]
buffer = "c"
equals_buffer = "a"
[[tests.expect]]
image = "i"
equals_image = "j"
level = 0
layer = 0
[[tests.expect]]
buffer = "d"
[tests.expect.reference]
kernel = "f"
groups = [2, 1, 1]
bindings = [{ binding = 3, buffer = "d" }]
specialization = { 1 = { bits = 3 } }
[[tests.expect]]
[tests.expect.check]
kernel = "s"
groups = [3, 1, 1]
bindings = [{ binding = 4, buffer = "e" }]
specialization = { 2 = { bits = 3 } }
verdict = "e"
[[tests]]
id = "TC-2"
[[tests.dispatches]]
kernel = "s"
groups = [1, 1, 1]
"#;

fn problems_of(text: &str) -> Vec<String> {
    let read = parse_procedure("p.toml", text, FileSyntax::Toml, Path::new("folder"));
    kinds_and_places(&read.err().unwrap_or_default())
}

#[track_caller]
fn assert_refused(cases: &[(&str, &str, &str)]) {
    for (part, replacement, expected) in cases {
        let found = problems_of(&edited(PROCEDURE, part, replacement));
        assert_eq!(found, [*expected], "`{part}` to `{replacement}`");
    }
}

#[track_caller]
fn assert_accepted(cases: &[(&str, &str)]) {
    for (part, replacement) in cases {
        let found = problems_of(&edited(PROCEDURE, part, replacement));
        assert!(found.is_empty(), "`{part}` to `{replacement}`: {found:?}");
    }
}

#[test]
fn a_procedure_without_fault_is_read() {
    let file = parse_procedure("p.toml", PROCEDURE, FileSyntax::Toml, Path::new("folder")).unwrap();
    assert_eq!(file.base, Path::new("folder"));
    let ids: Vec<&str> = file.tests.iter().map(|test| test.id.as_str()).collect();
    assert_eq!(ids, ["TC-1", "TC-2"]);
    let second_id = PROCEDURE.find("\"TC-2\"").unwrap();
    let location = file.tests[1].origin.at("id").error("kind", "message").location.unwrap();
    assert_eq!(location.span, Some(second_id..second_id + 6));
}

#[test]
fn kernels_are_given_by_what_their_language_has() {
    let tests = PROCEDURE.find("[[tests]]").unwrap();
    let without_tests = format!("tests = []\n{}", &PROCEDURE[..tests]);
    let without_tests = edited(&without_tests, "tests = []\nschema = 1", "schema = 1\ntests = []");
    assert_eq!(problems_of(&without_tests), ["missing-key []"]);
    assert_refused(&[
        (
            "source.text = \"void main() {}\"",
            "source = { text = \"\", bytes = \"\" }",
            "contradiction { text = \"\", bytes = \"\" }",
        ),
        (
            "source.text = \"void main() {}\"",
            "source = { bytes = \"AA\" }",
            "contradiction { bytes = \"AA\" }",
        ),
        ("source.text = \"void main() {}\"", "source = {}", "contradiction {}"),
        ("source.bytes = \"AAAA\"", "source = { text = \"\" }", "contradiction { text = \"\" }"),
        ("source.bytes = \"AAAA\"", "source = {}", "contradiction {}"),
        (
            "source.bytes = \"AAAA\"",
            "source.bytes = \"AAAA\"\ndefines = { N = \"4\" }",
            "contradiction { N = \"4\" }",
        ),
        (
            "source.bytes = \"AAAA\"",
            "source.bytes = \"AAAA\"\ninclude = [\"i\"]",
            "contradiction [\"i\"]",
        ),
    ]);
    assert_accepted(&[
        ("source.bytes = \"AAAA\"", "source = \"s.spv\""),
        ("source.bytes = \"AAAA\"", "source.bytes = \"AAAA\"\ndefines = {}\ninclude = []"),
    ]);
}

#[test]
fn tests_have_names_limits_and_dispatches() {
    assert_refused(&[
        ("\"TC-2\"", "\"TC 2\"", "bad-name \"TC 2\""),
        ("\"TC-2\"", "\"TC-1\"", "duplicate-id \"TC-1\""),
        ("seconds = 0.5", "seconds = 0", "limit 0"),
        ("seconds = 0.5", "seconds = -0.5", "limit -0.5"),
        ("seconds = 0.5", "seconds = inf", "limit inf"),
        ("steps = 1", "steps = 0", "limit 0"),
        ("memory_bytes = 1", "memory_bytes = 0", "limit 0"),
        ("kernel = \"k\"", "kernel = \"kk\"", "unknown-kernel \"kk\""),
        ("groups = [1, 1, 1]", "groups = [0, 1, 1]", "bad-groups 0"),
        ("groups = [1, 1, 1]", "groups = [1, 1, 0]", "bad-groups 0"),
        ("subgroup_size = 128", "subgroup_size = 96", "bad-value 96"),
        ("subgroup_size = 128", "subgroup_size = 256", "bad-value 256"),
        ("subgroup_size = 128", "subgroup_size = 0", "bad-value 0"),
        ("0 = { type", "0x = { type", "unknown-id 0x"),
        (
            "value = 4",
            "value = 4, bits = 4",
            "contradiction { type = \"uint\", value = 4, bits = 4 }",
        ),
    ]);
    assert_accepted(&[
        ("subgroup_size = 128", "subgroup_size = 1"),
        ("subgroup_size = 128\n", ""),
        ("seconds = 0.5, ", ""),
        ("steps = 1, ", "steps = 2, "),
    ]);
    let last_dispatch = PROCEDURE.rfind("[[tests.dispatches]]").unwrap();
    assert_eq!(
        problems_of(&format!("{}dispatches = []\n", &PROCEDURE[..last_dispatch])),
        ["missing-key []"]
    );
    let unknown = parse_procedure(
        "p.toml",
        &edited(PROCEDURE, "kernel = \"k\"", "kernel = \"kk\""),
        FileSyntax::Toml,
        Path::new(""),
    );
    assert_eq!(unknown.unwrap_err()[0].message, "there is no kernel `kk` in kernels");
}

#[test]
fn contents_are_given_once() {
    assert_refused(&[
        ("data = [1, 2]", "data = [1, 2], bytes = \"AA\"", "contradiction data"),
        ("data = [1, 2]", "data = [1, 2], file = \"f\"", "contradiction file"),
        (
            "data = [1, 2]",
            "data = [1, 2], count = 2, fill = { constant = 1 }",
            "contradiction fill",
        ),
        ("{ bytes = \"AAAA\" }", "{ type = \"uint\" }", "missing-key { type = \"uint\" }"),
        (
            "fill = { constant = 1 }, count = 2",
            "fill = { constant = 1 }",
            "missing-key { type = \"uint\", fill = { constant = 1 } }",
        ),
        (
            "{ type = \"uint\", data = [1, 2] }",
            "{ data = [1, 2] }",
            "missing-key { data = [1, 2] }",
        ),
        (
            "{ type = \"uint\", fill = { constant = 1 }, count = 2 }",
            "{ fill = { constant = 1 }, count = 2 }",
            "missing-key { fill = { constant = 1 }, count = 2 }",
        ),
        ("{ bytes = \"AAAA\" }", "{ count = 4 }", "missing-key { count = 4 }"),
        (
            "{ bytes = \"AAAA\" }",
            "{ bytes = \"AAAA\", count = 4 }",
            "missing-key { bytes = \"AAAA\", count = 4 }",
        ),
        ("at = 0, buffer = \"a\"", "at = 0, buffer = \"z\"", "unknown-buffer \"z\""),
        ("data = [0, 0, 0, 1]", "data = [0, 0, 0, 1]\nbytes = \"AA\"", "contradiction bytes"),
        ("data = [0, 0, 0, 1]", "bytes = \"AA\"\nfile = \"f\"", "contradiction file"),
        ("data = [0, 0, 0, 1]", "fill = { constant = 1 }\nfile = \"f\"", "contradiction file"),
    ]);
    assert_accepted(&[
        ("{ file = \"e.npy\" }", "{ file = \"e.npy\", count = 4 }"),
        ("data = [1, 2]", "data = [1, 2], count = 2"),
        ("data = [0, 0, 0, 1]", "file = \"f\""),
        ("data = [0, 0, 0, 1]\n", ""),
    ]);
}

#[test]
fn bindings_name_one_thing_in_each_place() {
    assert_refused(&[
        ("{ binding = 2, sampler = \"t\" }", "{ binding = 1, sampler = \"t\" }", "duplicate-id 1"),
        (
            "binding = 0, array_index = 1, buffer",
            "binding = 0, array_index = 0, buffer",
            "duplicate-id 0",
        ),
        ("{ binding = 0, set = 1, image", "{ binding = 2, set = 0, image", "duplicate-id 2"),
        (
            "{ binding = 0, buffer = \"a\" }",
            "{ binding = 0, buffer = \"z\" }",
            "unknown-buffer \"z\"",
        ),
        ("{ binding = 0, buffer = \"a\" }", "{ binding = 0 }", "contradiction { binding = 0 }"),
        ("image = \"j\" }", "image = \"z\" }", "unknown-id \"z\""),
        (
            "{ binding = 2, sampler = \"t\" }",
            "{ binding = 2, sampler = \"z\" }",
            "unknown-id \"z\"",
        ),
        (
            "{ binding = 2, sampler = \"t\" }",
            "{ binding = 2, sampler = \"t\", buffer = \"a\" }",
            "contradiction { binding = 2, sampler = \"t\", buffer = \"a\" }",
        ),
        (
            "image = \"j\" }",
            "image = \"j\", buffer = \"a\" }",
            "contradiction { binding = 0, set = 1, image = \"j\", buffer = \"a\" }",
        ),
    ]);
}

#[test]
fn an_expectation_judges_one_thing_by_one_source() {
    assert_refused(&[
        ("buffer = \"a\"\ntype", "buffer = \"z\"\ntype", "unknown-buffer \"z\""),
        ("image = \"i\"\nequals", "image = \"z\"\nequals", "unknown-id \"z\""),
        ("equals_buffer = \"a\"", "equals_buffer = \"z\"", "unknown-buffer \"z\""),
        ("equals_image = \"j\"", "equals_image = \"z\"", "unknown-id \"z\""),
        ("buffer = \"c\"\n", "", "contradiction [[tests.expect]]"),
        ("buffer = \"c\"\n", "buffer = \"c\"\nlevel = 0\n", "contradiction level"),
        ("buffer = \"c\"\n", "buffer = \"c\"\nlayer = 0\n", "contradiction layer"),
        ("level = 0\n", "type = \"uint\"\n", "contradiction type"),
        ("equals_image = \"j\"", "equals_buffer = \"a\"", "contradiction equals_buffer"),
        ("equals_buffer = \"a\"", "equals_image = \"j\"", "contradiction equals_image"),
        ("equals_buffer = \"a\"", "values = [1]\nfile = \"f\"", "contradiction [[tests.expect]]"),
        (
            "equals_buffer = \"a\"",
            "equals_buffer = \"a\"\nvalues = [1]",
            "contradiction [[tests.expect]]",
        ),
        ("equals_buffer = \"a\"\n", "", "contradiction [[tests.expect]]"),
        ("file = \"b.npy\"\n", "", "contradiction [[tests.expect]]"),
        ("order = \"any\"\n", "", "contradiction record"),
        ("order = \"any\"", "order = \"fixed\"", "contradiction record"),
        ("record = 1", "record = 0", "bad-value 0"),
        ("count = 1\n", "count = 0\n", "bad-value 0"),
        ("abs = 0", "abs = -1", "bad-value -1"),
        ("abs = 0", "abs = inf", "bad-value inf"),
        ("rel = 0.0", "rel = nan", "bad-value nan"),
        ("bits = true", "bits = true, abs = 1", "contradiction bits"),
        ("bits = true", "bits = true, rel = 1", "contradiction bits"),
        ("bits = true", "bits = true, ulp = 1", "contradiction bits"),
    ]);
    assert_accepted(&[
        ("bits = true", "bits = false, ulp = 1"),
        ("record = 1\n", ""),
        ("count = 1\n", ""),
    ]);
    let both = edited(PROCEDURE, "image = \"i\"\nequals", "image = \"i\"\nbuffer = \"c\"\nequals");
    assert_eq!(problems_of(&both), ["contradiction [[tests.expect]]"]);
}

#[test]
fn references_and_checkers_are_dispatches_of_their_own() {
    assert_refused(&[
        ("kernel = \"f\"", "kernel = \"ff\"", "unknown-kernel \"ff\""),
        ("groups = [2, 1, 1]", "groups = [2, 0, 1]", "bad-groups 0"),
        ("binding = 3, buffer = \"d\"", "binding = 3, buffer = \"z\"", "unknown-buffer \"z\""),
        ("{ 1 = { bits = 3 } }", "{ y = { bits = 3 } }", "unknown-id y"),
        ("kernel = \"s\"\ngroups = [3", "kernel = \"ss\"\ngroups = [3", "unknown-kernel \"ss\""),
        ("groups = [3, 1, 1]", "groups = [3, 1, 0]", "bad-groups 0"),
        ("binding = 4, buffer = \"e\"", "binding = 4, buffer = \"z\"", "unknown-buffer \"z\""),
        ("{ 2 = { bits = 3 } }", "{ y = { bits = 3 } }", "unknown-id y"),
        ("verdict = \"e\"", "verdict = \"z\"", "unknown-buffer \"z\""),
    ]);
    for (key, value) in [
        ("buffer", "\"a\""),
        ("image", "\"i\""),
        ("type", "\"uint\""),
        ("offset", "4"),
        ("level", "0"),
        ("layer", "0"),
        ("count", "1"),
        ("order", "\"any\""),
        ("record", "1"),
        ("tolerance", "{ abs = 1 }"),
    ] {
        let header = "[[tests.expect]]\n[tests.expect.check]";
        let keyed = format!("[[tests.expect]]\n{key} = {value}\n[tests.expect.check]");
        assert_refused(&[(header, &keyed, &format!("contradiction {key}"))]);
    }
    let header = "[[tests.expect]]\n[tests.expect.check]";
    assert_accepted(&[(header, "[[tests.expect]]\noffset = 0\n[tests.expect.check]")]);
    assert_refused(&[(
        header,
        "[[tests.expect]]\nvalues = [1]\n[tests.expect.check]",
        "contradiction [[tests.expect]]",
    )]);
}

//! Reports tell the contents of buffers by the names that the kernels give to their members.

use crate::support::{run, vkcert, write};
use serde_json::Value;
use std::path::Path;

const KERNEL: &str = "#version 450
layout(local_size_x = 4) in;
struct Star { vec2 place; float flux; uint flags; };
layout(std430, binding = 0) buffer Catalogue { uint count; Star star[]; };
layout(std430, binding = 1) buffer Plain { uint seen[]; };
void main() {
    uint i = gl_LocalInvocationID.x;
    seen[i] = i;
    if (i < count) {
        star[i].flux *= 0.5;
        star[i].flags |= 2u;
    }
}
";

/// Lays the same buffer out by other names.
const OTHER_KERNEL: &str = "#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Words { uint number; uint gap; uint word[]; };
void main() { number += word[2] * 0u; }
";

fn star(flux: &str, flags: u32) -> String {
    format!("{{ place = [1.0, 2.5], flux = {flux}, flags = {flags} }}")
}

/// `stars` of them; `more_dispatches` follow the first.
fn project(folder: &Path, stars: usize, expected_flags: u32, more_dispatches: &str) {
    let kernel = |name: &str| format!("[[kernel]]\nname = \"{name}\"\nsource = \"{name}.comp\"\n");
    let head = "schema = 1\nname = \"Stars\"\nlevel = \"D\"\n";
    write(folder, "vkcert.toml", format!("{head}{}{}", kernel("k"), kernel("other")));
    write(folder, "k.comp", KERNEL);
    write(folder, "other.comp", OTHER_KERNEL);
    let before = vec![star("3.0", 1); stars].join(", ");
    let after = vec![star("1.5", expected_flags); stars].join(", ");
    let requirement = "[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"Stars\"\n\
                       statement = \"They shall be halved.\"\nverification = [\"test\"]\n";
    let test = format!(
        "[[test]]\nid = \"T\"\nrequirements = [\"HLR-1\"]\n\
         buffers.seen = {{ type = \"uint\", count = 4 }}\n\
         buffers.stars = {{ type = \"reflect\", data = {{ count = 2, star = [{before}] }} }}\n\
         dispatches = [{{ kernel = \"k\", groups = [1, 1, 1], bindings = [\
         {{ binding = 0, buffer = \"stars\" }}, {{ binding = 1, buffer = \"seen\" }}] }}{more_dispatches}]\n\
         expect = [{{ buffer = \"stars\", tolerance = {{ abs = 0.25 }}, values = {{ count = 2, star = [{after}] }} }}, \
         {{ buffer = \"seen\", values = [0, 1, 2, 3] }}]\n"
    );
    write(folder, "requirements/r.toml", format!("schema = 1\n{requirement}\n{test}"));
}

fn certify(folder: &Path, exit: i32) -> Value {
    run(vkcert().args(["certify", "--engine", "sequential"]).arg(folder), exit);
    let campaign = std::fs::read(folder.join("reports/evidence/campaign.json")).unwrap();
    serde_json::from_slice(&campaign).unwrap()
}

/// The text of a report in HTML, without its tags.
fn report_text(folder: &Path, document: &str) -> String {
    let mut report = vkcert();
    report.args(["report", "--report-format", "html", "--document", document]);
    let output = run(report.arg(folder.join("reports/evidence")), 0);
    let html = String::from_utf8(output.stdout).unwrap();
    let mut text = String::new();
    for part in html.split('<') {
        text.push_str(part.split_once('>').map_or("", |(_, text)| text));
        text.push(' ');
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_holds(text: &str, part: &str) {
    let start = text.find("members of").unwrap_or_default();
    let shown: String = text[start..].chars().take(3_000).collect();
    assert!(text.contains(part), "`{part}` is not in: {shown}");
}

#[test]
fn members_have_input_expectation_output_and_difference() {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), 2, 3, "");
    let campaign = certify(folder.path(), 0);
    let layouts = &campaign["tests"][0]["layouts"];
    assert_eq!(layouts.as_object().unwrap().len(), 1, "the plain list has none: {layouts}");
    let text = report_text(folder.path(), "svr");
    assert_holds(&text, "T: members of stars");
    // Member, byte, type, input, expected, tolerance, actual, difference.
    assert_holds(&text, "count 0 uint 2 2 abs 0.25 2 0");
    assert_holds(&text, "star[1].place.y 28 float 2.5 2.5 abs 0.25 2.5 0");
    assert_holds(&text, "star[1].flux 32 float 3 1.5 abs 0.25 1.5 0");
    assert_holds(&text, "star[1].flags 36 uint 1 3 abs 0.25 3 0");
    let cases = report_text(folder.path(), "svcp");
    assert_holds(&cases, "star[1].flags 36 uint 1 3 abs 0.25");
    assert!(!cases.contains("Actual"), "a document of cases has no results");
    run(vkcert().arg("verify").arg(folder.path().join("reports/evidence")).arg("--strict"), 0);
}

#[test]
fn a_difference_is_told_by_member() {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), 2, 7, "");
    certify(folder.path(), 1);
    let text = report_text(folder.path(), "svr");
    assert_holds(&text, "star[0].flags 20 uint 1 7 abs 0.25 3 4");
}

#[test]
fn of_many_members_the_first_are_told_and_what_all_have_in_common() {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), 100, 3, "");
    let campaign = certify(folder.path(), 1);
    assert_eq!(campaign["tests"][0]["results"][0]["verdict"], "fail");
    let text = report_text(folder.path(), "svr");
    assert_holds(&text, "T: members of stars , the first 24 scalars; 377 more");
    assert_holds(&text, "star[].flux Input 100 least 3, greatest 3, mean 3");
    assert_holds(&text, "star[].flux Actual, sequential 100 least 1.5, greatest 3, mean 2.97");
}

#[test]
fn kernels_that_lay_a_buffer_out_differently_give_it_no_names() {
    let folder = tempfile::tempdir().unwrap();
    let other = ", { kernel = \"other\", groups = [1, 1, 1], bindings = [{ binding = 0, buffer = \"stars\" }] }";
    project(folder.path(), 2, 3, other);
    let campaign = certify(folder.path(), 0);
    assert_eq!(campaign["tests"][0]["layouts"]["stars"].as_array().unwrap().len(), 2);
    let text = report_text(folder.path(), "svr");
    let sentence = "The members of stars have no single name: k ; other lay it out differently. \
                    Its contents are told as plain elements.";
    assert_holds(&text, sentence);
    assert!(!text.contains("T: members of"), "{text}");
}

//! What of a stored buffer no test judges, member by member and element by element, and
//! expectations that judge nothing.

use super::*;

/// Two members of two blocks of one binding, and an array.
pub(super) const PARTS: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Outputs { uint a; uint b; } outputs[2];
layout(std430, binding = 2) buffer Results { float results[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    if (g == 0) {
        outputs[0].a = 1; outputs[0].b = 2; outputs[1].a = 3; outputs[1].b = 4;
    }
    results[g] = float(g) + 0.5;
}
";

/// A million, and halves.
pub(super) const MIXED: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Out { float f[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    f[g] = g == 0 ? 1e6 : 0.5;
}
";

/// Sets every element, and reads what stood there without need.
pub(super) const AGAIN: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { int o[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    o[g] = a[g] + (o[g] & 0);
}
";

/// Raises a flag, lowers it, or leaves it.
pub(super) const STATUS: &str = "#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Status { uint count; uint overflow; uint spare; vec3 ends[2]; };
void main() {
    count = uint(a.length());
    overflow = a[0] > 100 ? 1 : 0;
    if (a[1] > 100) ends[1] = vec3(1.0);
}
";

/// Stores under conditions on one constant that exclude each other.
pub(super) const NEVER: &str = "#version 450
layout(local_size_x = 4) in;
layout(constant_id = 0) const uint MODE = 0u;
layout(std430, binding = 0) buffer Out { int o[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    if (MODE > 1u) { if (MODE < 2u) o[g] = 7; }
}
";

const FLOATS: &str = "buffers.f = { type = \"float\", fill = { constant = -3.0 }, count = 4 }\n";

fn row(id: &'static str, counted: &'static [&'static str], steps: &[String]) -> Row {
    let verdict = if counted.is_empty() { NOTHING } else { PASS };
    Row { id, verdict, counted, body: format!("{A_AND_O}{}", steps.concat()) }
}

fn parts(id: &'static str, expectations: &[&str]) -> Row {
    let expectations: String = expectations.iter().map(|what| expect(what)).collect();
    row(id, &["parts"], &[parts_dispatch(), expectations])
}

fn parts_dispatch() -> String {
    let buffers = "buffers.x = { type = \"uint\", data = [0, 0] }\nbuffers.y = { type = \"uint\", data = [0, 0] }\n\
                   buffers.z = { type = \"float\", count = 4 }\n";
    let bindings = "{ binding = 0, buffer = \"x\" }, { binding = 0, array_index = 1, buffer = \"y\" }, { binding = 2, buffer = \"z\" }";
    format!(
        "{buffers}[[test.dispatches]]\nkernel = \"parts\"\ngroups = [1, 1, 1]\nbindings = [{bindings}]\n"
    )
}

fn mixed(id: &'static str, start: &str, expectations: &[&str]) -> Row {
    let buffer = format!("buffers.m = {{ type = \"float\", {start}count = 4 }}\n");
    let expectations: String = expectations.iter().map(|what| expect(what)).collect();
    row(id, &["mixed"], &[buffer, dispatch("mixed", &["m"]), expectations])
}

const WIDE: &str = "buffer = \"m\"\nvalues = [1e6, 0.5, 0.5, 0.5]\ntolerance = { abs = 1.0 }";

pub(super) fn rows() -> Vec<Row> {
    let halves = |id, counted, start: &str, values: &str, tolerance: &str| {
        let buffer = format!(
            "buffers.w = {{ type = \"float\", fill = {{ constant = {start} }}, count = 4 }}\n"
        );
        let expected =
            format!("buffer = \"w\"\nvalues = {values}\ntolerance = {{ abs = {tolerance} }}");
        row(id, counted, &[buffer, dispatch("halves", &["a", "w"]), expect(&expected)])
    };
    let residuals = |id, counted, start: &str, values: &str| {
        let buffer = format!("buffers.w = {{ type = \"float\", {start}count = 4 }}\n");
        let expected = format!("buffer = \"w\"\nvalues = {values}\ntolerance = {{ abs = 1e-3 }}");
        row(id, counted, &[buffer, dispatch("residuals", &["a", "w"]), expect(&expected)])
    };
    let near = "[1e-9, 3e-8, 9e-8, 1e-8]";
    let fives = "fill = { constant = 5.0 }, ";
    let copy = || dispatch("copy", &["o", "p", "a", "r"]);
    let exact = || expect("buffer = \"p\"\nvalues = [-1, -1, -1, -1]");
    let check = "[[test.expect]]\n[test.expect.check]\nkernel = \"blind\"\ngroups = [1, 1, 1]\nverdict = \"v\"\nbindings = [{ binding = 0, buffer = \"o\" }, { binding = 1, buffer = \"v\" }]\n";
    let status = |id, values: &str| {
        let buffer =
            "buffers.s = { type = \"uint\", fill = { constant = 0 }, count = 12 }\n".to_owned();
        row(
            id,
            &["status"],
            &[
                buffer,
                dispatch("status", &["a", "s"]),
                expect(&format!("buffer = \"s\"\nvalues = {values}")),
            ],
        )
    };
    let once = || dispatch("k", &["a", "o"]);
    vec![
        parts(
            "parts-in-part",
            &[
                "buffer = \"x\"\nvalues = [1, 2]",
                "buffer = \"y\"\nvalues = [3]",
                "buffer = \"z\"\nvalues = [0.5, 1.5]\ntolerance = { abs = 1e-3 }",
            ],
        ),
        parts(
            "parts-that-remain",
            &[
                "buffer = \"y\"\noffset = 4\nvalues = [4]",
                "buffer = \"z\"\nvalues = [0.5, 1.5, 2.5, 3.5]",
            ],
        ),
        parts(
            "parts-all",
            &[
                "buffer = \"x\"\nvalues = [1, 2]",
                "buffer = \"y\"\nvalues = [3, 4]",
                "buffer = \"z\"\nvalues = [0.5, 1.5, 2.5, 3.5]",
            ],
        ),
        parts(
            "parts-without-results",
            &["buffer = \"x\"\nvalues = [1, 2]", "buffer = \"y\"\nvalues = [3, 4]"],
        ),
        row(
            "parts-beside",
            &["k"],
            &[parts_dispatch(), once(), expect("buffer = \"o\"\nvalues = [0, 1, 0, 1]")],
        ),
        status("flag-that-is-not-judged", "[4]"),
        status("flag-and-ends", "[4, 0, 0, 0, 0, 0, 0, 0, 0]"),
        mixed("wide-for-most", "", &[WIDE]),
        mixed("narrow-for-all", "", &[&WIDE.replace("1.0", "0.25")]),
        row(
            "beside-a-wide-one",
            &["copy"],
            &[
                copy(),
                exact(),
                expect("buffer = \"r\"\nvalues = [0, 3, 9, 1]\ntolerance = { abs = 1000 }"),
            ],
        ),
        row(
            "beside-a-blind-checker",
            &["k"],
            &[
                "buffers.v = { type = \"uint\", data = [0] }\n".to_owned(),
                once(),
                expect("buffer = \"o\"\nvalues = [0, 1, 0, 1]"),
                check.to_owned(),
            ],
        ),
        row(
            "beside-a-wide-comparison",
            &["halves"],
            &[
                FLOATS.to_owned(),
                "buffers.g = { type = \"float\", data = [0.0, 1.5, 4.5, 0.5] }\n".to_owned(),
                dispatch("halves", &["a", "f"]),
                expect("buffer = \"f\"\nvalues = [0.0, 1.5]"),
                expect("buffer = \"f\"\nequals_buffer = \"g\"\ntolerance = { abs = 100.0 }"),
            ],
        ),
        row(
            "again-and-again",
            &["again"],
            &[
                dispatch("again", &["a", "o"]).repeat(10),
                expect("buffer = \"o\"\nvalues = [0, 3, 9, 1]"),
            ],
        ),
        row(
            "stored-never",
            &[],
            &[dispatch("never", &["o"]), expect("buffer = \"o\"\nvalues = [-1, -1, -1, -1]")],
        ),
        residuals("near-zeros-over-fives", &["residuals"], fives, near),
        residuals("zeros-over-fives", &["residuals"], fives, "[0.0, 0.0, 0.0, 0.0]"),
        residuals("near-zeros-over-nothing", &[], "", near),
        residuals("near-zeros-within-their-start", &[], "fill = { constant = 1e-4 }, ", near),
        halves("wide-over-fifties", &[], "50.0", "[0.0, 1.5, 4.5, 0.5]", "9.0"),
        halves("wide-over-a-billion", &[], "1e9", "[0.0, 0.0, 0.0, 0.0]", "1e8"),
    ]
}

fn told(rows: &[&str], kind: &str) -> Vec<String> {
    let campaign = super::notes::certified(rows, 0);
    let notes = campaign["notes"].as_array().unwrap().iter().filter(|note| note["kind"] == kind);
    notes.map(|note| note["sentence"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn members_and_elements_that_no_test_judges_are_noted() {
    let in_part = told(&["parts-in-part"], "outputs-not-judged");
    let sentence = "Judged outputs of which no single test judges all, at the scale of each element, directly or through what else is \
                    made of them: parts (binding 0 `Outputs[1].b`: no test judges it, binding 2 `Results.results[]`: at most 2 of 4 \
                    stored elements judged by any test).";
    assert_eq!(in_part, [sentence]);
    let campaign = super::notes::certified(&["parts-in-part"], 0);
    let objectives = campaign["objectives"].as_array().unwrap();
    let row = objectives.iter().find(|row| row["objective"] == "A-7.3").unwrap();
    let left = "tests do not judge all that kernels store";
    assert!(row["applicant"].to_string().contains(left) && row["status"] != "met", "{row}");
    // What one test leaves another may judge.
    let both = told(&["parts-in-part", "parts-that-remain"], "outputs-not-judged");
    assert!(
        !both.iter().any(|note| note.starts_with("Judged outputs of which no single test")),
        "{both:?}"
    );
}

/// A small test that judges all says nothing of what another one covers alone.
#[test]
fn tests_that_judge_nothing_of_a_member_that_others_judge_are_noted() {
    let sentence = |members: &str| {
        format!(
            "Outputs that one test judges, and that another one with coverage of the same kernel stores and does not judge: \
             parts ({members})."
        )
    };
    let one = told(&["parts-all", "parts-without-results"], "outputs-not-judged");
    let results =
        "binding 2 `Results.results[]`: stored and not judged at all by test parts-without-results";
    assert_eq!(one, [sentence(results)]);
    let rows = ["parts-all", "parts-that-remain", "parts-without-results", "parts-in-part"];
    let several = told(&rows, "outputs-not-judged");
    let outputs = |member: &str| {
        format!(
            "binding 0 `Outputs[{member}`: stored and not judged at all by test parts-that-remain"
        )
    };
    let members = [outputs("0].a"), outputs("0].b"), outputs("1].a"), "and 2 more".to_owned()];
    assert_eq!(several, [sentence(&members.join(", ").replace(", and", " and"))]);
    // What a test does not cover it need not judge.
    let beside = told(&["parts-all", "parts-beside"], "outputs-not-judged");
    assert!(!beside.iter().any(|note| note.contains("parts-beside")), "{beside:?}");
}

/// What another test judges whole is no note; that this one does not stands where tests are told.
#[test]
fn tests_that_judge_in_part_are_told_beside_their_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let ids = ["parts-all", "parts-in-part", "values"];
    let rows: Vec<Row> = super::rows().into_iter().filter(|row| ids.contains(&row.id)).collect();
    project(folder.path(), &rows);
    let out = folder.path().join("out");
    let campaign = run_json(&mut certify_sequentially(folder.path(), &out), 0);
    let notes = campaign["notes"].as_array().unwrap();
    let silent = "binding 2 `Results.results[]`";
    assert!(
        !notes.iter().any(|note| note["sentence"].as_str().unwrap().contains(silent)),
        "{notes:?}"
    );
    let html = std::fs::read_to_string(out.join("report.html")).unwrap();
    let row = |id: &str| {
        let results = &html[html.find("Verdict of every test on every engine").unwrap()..];
        let row = &results[results.find(&format!(">{id}<")).unwrap()..];
        row[..row.find("</tr>").unwrap()].to_owned()
    };
    assert!(row("parts-in-part").contains("judges in part"), "{}", row("parts-in-part"));
    for id in ["parts-all", "values"] {
        assert!(!row(id).contains("judges in part"), "{}", row(id));
    }
    let entry = &html[html.find("Judged in part, sequential").unwrap()..];
    assert!(entry[..entry.find("Hash").unwrap()].contains("at most 2 of 4 stored elements"));
}

#[test]
fn members_that_every_test_leaves_as_they_were_are_noted() {
    let all = told(&["flag-that-is-not-judged"], "outputs-not-judged");
    let end = ": status (binding 1 `Status.ends[]`: no test judges it, binding 1 `Status.overflow`: no test judges it).";
    assert!(all.len() == 1 && all[0].ends_with(end), "{all:?}");
    assert_eq!(told(&["flag-that-is-not-judged", "flag-and-ends"], "outputs-not-judged"), [""; 0]);
}

#[test]
fn elements_are_judged_at_their_own_scale() {
    let wide = told(&["wide-for-most"], "outputs-not-judged");
    assert!(
        wide.len() == 1
            && wide[0].ends_with(
                ": mixed (binding 0 `Out.f[]`: at most 1 of 4 stored elements judged by any test)."
            ),
        "{wide:?}"
    );
    assert_eq!(told(&["narrow-for-all"], "outputs-not-judged"), [""; 0]);
    assert_eq!(told(&["near-zeros-over-fives", "zeros-over-fives"], "outputs-not-judged"), [""; 0]);
}

#[test]
fn what_later_dispatches_make_of_stores_is_judged_by_them() {
    let in_part = |rows: &[&str]| -> Vec<String> {
        let all = told(rows, "outputs-not-judged").into_iter();
        all.filter(|note| note.starts_with("Judged outputs of which no single test")).collect()
    };
    let rows = [
        "copied",
        "sum-through-sums",
        "tallied",
        "sorted",
        "by-its-model",
        "checked-ascending",
        "address",
    ];
    assert_eq!(in_part(&rows), [""; 0]);
    // Nothing reads what the last one of these leaves; of texels the first is looked at.
    let rows = in_part(&["damped-thrice", "texels"]);
    let all = "damp (binding 0 `State.s[]`: at most 3 of 4 stored elements judged by any test), \
               image (binding 1 `made`: at most 4 of 16 stored elements judged by any test).";
    assert!(rows.len() == 1 && rows[0].ends_with(all), "{rows:?}");
}

#[test]
fn expectations_that_judge_nothing_are_noted() {
    let rows = [
        "beside-a-wide-one",
        "beside-a-blind-checker",
        "beside-a-wide-comparison",
        "beside-an-idle-one",
        "values",
    ];
    let told = told(&rows, "expectation-judges-nothing");
    let sentence = "Expectations that none of the alterations tried on what the kernels of their test stored makes fail: test \
                    beside-an-idle-one: expectation 1 of 2 (`a`), test beside-a-wide-one: expectation 2 of 2 (`r`), test \
                    beside-a-blind-checker: expectation 2 of 2 (`v`) and 1 more.";
    assert_eq!(told, [sentence]);
}

/// All that is run again behind each of many dispatches takes long: of these the first is tried.
#[test]
fn the_first_of_many_dispatches_is_noted_where_nothing_of_it_is_judged() {
    let told = told(&["again-and-again"], "outputs-not-judged");
    assert!(
        told.iter().any(|note| note.ends_with("(test again-and-again: 1 of 10 of again).")),
        "{told:?}"
    );
}

#[test]
fn forged_elements_and_expectations_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<Row> = super::rows()
        .into_iter()
        .filter(|row| ["parts-in-part", "beside-a-wide-one"].contains(&row.id))
        .collect();
    project(folder.path(), &rows);
    let out = folder.path().join("out");
    run(&mut certify_sequentially(folder.path(), &out), 0);
    let forgeries: &[(&str, &str, Value)] = &[
        ("beside-a-wide-one", "idle/0", 0.into()),
        ("parts-in-part", "judged/3/kernel", "copy".into()),
        ("parts-in-part", "judged/3/place/binding", 7.into()),
        ("parts-in-part", "judged/3/array_index", 0.into()),
        ("parts-in-part", "judged/3/member", "a".into()),
        ("parts-in-part", "judged/3/stored", 2.into()),
        ("parts-in-part", "judged/3/judged", 1.into()),
        ("parts-in-part", "flows/0/stores/0/members/0", 8.into()),
    ];
    for (test, field, value) in forgeries {
        let copy = folder.path().join("forged");
        copy_tree(&out.join("latest/evidence"), &copy);
        let mut place = String::new();
        forge(&copy, "campaign.json", |campaign| {
            let mut tests = campaign["tests"].as_array().unwrap().iter();
            let of = if field.starts_with("flows") { "" } else { "results/0/" };
            place =
                format!("/tests/{}/{of}{field}", tests.position(|row| row["id"] == *test).unwrap());
            *campaign.pointer_mut(&place).unwrap() = value.clone();
        });
        let output = run(vkcert().arg("verify").arg(&copy), 1);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            said.contains(&format!("differs           campaign.json{place}")),
            "{field}: {said}"
        );
    }
}

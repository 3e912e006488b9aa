//! Tests of what is refused in a project, and at which place.
//!
//! Each row of a table edits one place of files in which everything is right.

use super::project_folder::{ProjectFolder, edited, kinds_and_places};
use vkcert_model::diagnostic::Diagnostic;

/// Every limit at the least and every count at the greatest that is accepted.
const PROJECT: &str = r#"schema = 1
name = "Example"
level = "A"
criteria = ["statement", "decision"]
engines = ["sequential", "vulkan"]
repeat = 1000
schedules = { count = 1000 }
[limits]
seconds = 0.001
steps = 1
memory_bytes = 1
groups = [1, 1, 1]
local_size = [1, 1, 1]
invocations = 1
nesting = 1
call_depth = 1
[[kernel]]
name = "k"
source = "glsl/k.comp"
include = ["glsl/inc"]
[[kernel.configuration]]
name = "small"
specialization = { 0 = { type = "uint", value = 16 } }
[[kernel.configuration]]
name = "large"
specialization = { 0 = { bits = "0x20" } }
[[kernel]]
name = "l-2.b_"
source = "glsl/l.comp"
"#;

const REQUIREMENTS: &str = r#"schema = 1
[[requirement]]
uid = "HLR-1"
level = "HLR"
title = "Results"
statement = "The kernel shall write results."
verification = ["test"]
[[requirement]]
uid = "LLR-1"
level = "LLR"
title = "Guard"
statement = "No store beyond."
parents = [{ uid = "HLR-1", hash = "sha256:0000000000000000000000000000000000000000000000000000000000000000" }]
verification = ["analysis", "review"]
implements = [{ file = "glsl/k.comp", symbol = "guard", kernels = ["k"] }, { file = "glsl/l.comp" }]
[[requirement]]
uid = "LLR-2"
level = "LLR"
title = "Derived"
statement = "Some more."
derived = true
safety_rationale = "No effect on safety."
verification = ["review"]
[[test]]
id = "TC-1"
requirements = ["HLR-1", "LLR-1"]
buffers.r = { type = "uint", count = 4 }
[[test.dispatches]]
kernel = "k"
groups = [1, 1, 1]
bindings = [{ binding = 0, buffer = "r" }]
[[analysis]]
requirement = "LLR-1"
document = "D-1"
section = "2"
author = "A. Author"
reviewer = "R. Reviewer"
hash = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
[[analysis]]
requirement = "LLR-1"
document = "D-1"
section = "3"
author = "A. Author"
reviewer = "R. Reviewer"
hash = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
[[review]]
requirement = "LLR-2"
document = "D-2"
section = "4"
author = "A. Author"
reviewer = "R. Reviewer"
hash = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
[[justification]]
kernel = "k"
obligation = "D1.T"
class = "defensive"
reason = "Never asked for."
author = "A. Author"
approver = "B. Approver"
hash = "sha256:3333333333333333333333333333333333333333333333333333333333333333"
[[justification]]
kernel = "k"
finding = "data-race@S4"
class = "analysis"
reason = "Same values."
author = "A. Author"
approver = "B. Approver"
hash = "sha256:4444444444444444444444444444444444444444444444444444444444444444"
[[interface]]
kernel = "k"
parameters = [{ name = "n", type = "uint32", min = 4, max = 4 }, { name = "m", type = "uint32", min = 1, max = 2 }]
locals = [{ name = "p", type = "uint32", value = "n" }]
buffers = [{ set = 0, binding = 0, size = "4 * n" }, { set = 1, binding = 0, size = "4" }]
groups = ["1", "1", "1"]
[[interface.images]]
set = 2
binding = 0
class = "storage_image"
format = "rgba8"
dimension = "2d"
[[interface.images]]
set = 2
binding = 1
class = "sampler"
"#;

fn project_folder(project: &str, requirements: &str) -> ProjectFolder {
    ProjectFolder::with_files(&[
        ("vkcert.toml", project),
        ("requirements/all.toml", requirements),
        ("glsl/k.comp", "void guard() {}\nvoid main() { guard(); }\n"),
        ("glsl/l.comp", "void main() {}\n"),
        ("glsl/inc/common.h", "\n"),
    ])
}

fn problems_of(project: &str, requirements: &str) -> Vec<Diagnostic> {
    project_folder(project, requirements).load().err().unwrap_or_default()
}

#[track_caller]
fn assert_settings(part: &str, replacement: &str, expected: &[&str]) {
    let found = problems_of(&edited(PROJECT, part, replacement), REQUIREMENTS);
    assert_eq!(kinds_and_places(&found), expected, "`{part}` to `{replacement}`: {found:?}");
}

#[track_caller]
fn assert_requirements(part: &str, replacement: &str, expected: &[&str]) {
    let found = problems_of(PROJECT, &edited(REQUIREMENTS, part, replacement));
    assert_eq!(kinds_and_places(&found), expected, "`{part}` to `{replacement}`: {found:?}");
}

#[test]
fn a_project_without_fault_is_read() {
    let found = problems_of(PROJECT, REQUIREMENTS);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn settings_name_what_exists_once() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("\"Example\"", "\" \"", &["bad-value \" \""]),
        (
            "[\"statement\", \"decision\"]",
            "[\"decision\", \"decision\"]",
            &["duplicate-id \"decision\""],
        ),
        ("[\"sequential\", \"vulkan\"]", "[]", &["bad-value []"]),
        ("\"vulkan\"]", "\"sequential\"]", &["duplicate-id \"sequential\""]),
        ("repeat = 1000", "repeat = 1001", &["bad-value 1001"]),
        ("count = 1000", "count = 1001", &["bad-value 1001"]),
        ("l-2.b_", ".l", &["bad-name \".l\""]),
        ("l-2.b_", "l 2", &["bad-name \"l 2\""]),
        ("l-2.b_", "", &["bad-name \"\""]),
        ("l-2.b_", "é", &["bad-name \"é\""]),
        ("l-2.b_", "k", &["duplicate-id \"k\""]),
        ("\"large\"", "\"small\"", &["duplicate-id \"small\""]),
        ("\"large\"", "\"a/b\"", &["bad-name \"a/b\""]),
        ("0 = { bits", "x = { bits", &["unknown-id x"]),
        ("0 = { bits", "4294967296 = { bits", &["unknown-id 4294967296"]),
        ("bits = \"0x20\"", "bits = 1, value = 1", &["contradiction { bits = 1, value = 1 }"]),
        ("bits = \"0x20\"", "type = \"uint\"", &["contradiction { type = \"uint\" }"]),
        ("glsl/l.comp", "glsl/n.comp", &["missing-file \"glsl/n.comp\""]),
        ("glsl/l.comp", "glsl/inc", &["missing-file \"glsl/inc\""]),
        ("glsl/inc", "glsl/k.comp", &["missing-file \"glsl/k.comp\""]),
    ];
    for (part, replacement, expected) in cases {
        assert_settings(part, replacement, expected);
    }
}

#[test]
fn a_level_is_one_of_its_standard() {
    let levels: &[(&str, &[&str])] = &[
        ("standard = \"ISO 26262-6\"\nlevel = \"ASIL D\"", &[]),
        ("standard = \"ECSS-E-ST-40C\"\nlevel = \"category B\"", &[]),
        ("standard = \"ECSS-E-ST-40C\"\nlevel = \"category D\"", &[]),
        ("standard = \"DO-178C\"\nlevel = \"D\"", &[]),
        // The letter that is the strictest of one standard is the least strict of another.
        ("standard = \"ISO 26262-6\"\nlevel = \"A\"", &["contradiction \"A\""]),
        ("standard = \"ECSS-E-ST-40C\"\nlevel = \"ASIL A\"", &["contradiction \"ASIL A\""]),
        ("level = \"ASIL D\"", &["contradiction \"ASIL D\""]),
    ];
    for (lines, expected) in levels {
        assert_settings("level = \"A\"", lines, expected);
    }
    let found = problems_of(&edited(PROJECT, "level = \"A\"", "level = \"ASIL D\""), REQUIREMENTS);
    let hint = found[0].hint.as_deref().unwrap();
    assert!(
        hint.contains("`standard = \"ISO 26262-6\"`") && hint.contains("`A` (the strictest)"),
        "{hint}"
    );
    let unknown = "standard = \"ISO 26262\"\nlevel = \"ASIL D\"";
    let found = problems_of(&edited(PROJECT, "level = \"A\"", unknown), REQUIREMENTS);
    assert_eq!(kinds_and_places(&found), ["bad-value \"ISO 26262\""]);
    assert!(found[0].hint.as_deref().unwrap().contains("ISO 26262-6"), "{found:?}");
}

#[test]
fn what_is_agreed_with_the_customer_is_stated() {
    for category in ["category C", "category D"] {
        let level = format!("standard = \"ECSS-E-ST-40C\"\nlevel = \"{category}\"");
        let project = edited(PROJECT, "level = \"A\"", &level);
        assert!(problems_of(&project, REQUIREMENTS).is_empty(), "{category}");
        let criteria = "criteria = [\"statement\", \"decision\"]\n";
        assert!(
            problems_of(&edited(&project, criteria, "criteria = []\n"), REQUIREMENTS).is_empty()
        );
        let found = problems_of(&edited(&project, criteria, ""), REQUIREMENTS);
        assert_eq!(kinds_and_places(&found), [format!("missing-key \"{category}\"")]);
    }
}

#[test]
fn features_of_vulkan_sc_go_with_its_profile() {
    let features = "engines = [\"sequential\"]\nsc_features = ";
    let engines = "engines = [\"sequential\", \"vulkan\"]";
    let once = format!("{features}[\"shaderFloat64\"]");
    assert_settings(engines, &once, &["contradiction sc_features"]);
    assert_settings(engines, &format!("{once}\nprofile = \"vulkan-sc\""), &[]);
    let twice =
        format!("{features}[\"shaderFloat64\", \"shaderFloat64\"]\nprofile = \"vulkan-sc\"");
    assert_settings(engines, &twice, &["duplicate-id \"shaderFloat64\""]);
}

#[test]
fn no_limit_is_zero() {
    for (part, replacement, place) in [
        ("seconds = 0.001", "seconds = 0", "0"),
        ("seconds = 0.001", "seconds = -1.0", "-1.0"),
        ("seconds = 0.001", "seconds = inf", "inf"),
        ("seconds = 0.001", "seconds = nan", "nan"),
        ("steps = 1", "steps = 0", "0"),
        ("memory_bytes = 1", "memory_bytes = 0", "0"),
        ("groups = [1, 1, 1]", "groups = [0, 1, 1]", "[0, 1, 1]"),
        ("groups = [1, 1, 1]", "groups = [1, 0, 1]", "[1, 0, 1]"),
        ("groups = [1, 1, 1]", "groups = [1, 1, 0]", "[1, 1, 0]"),
        ("local_size = [1, 1, 1]", "local_size = [0, 1, 1]", "[0, 1, 1]"),
        ("local_size = [1, 1, 1]", "local_size = [1, 0, 1]", "[1, 0, 1]"),
        ("local_size = [1, 1, 1]", "local_size = [1, 1, 0]", "[1, 1, 0]"),
        ("invocations = 1", "invocations = 0", "0"),
        ("nesting = 1", "nesting = 0", "0"),
        ("call_depth = 1", "call_depth = 0", "0"),
    ] {
        assert_settings(part, replacement, &[format!("limit {place}").as_str()]);
    }
}

#[test]
fn a_project_has_a_kernel() {
    let kernels = PROJECT.find("[[kernel]]").unwrap();
    let settings = edited(&PROJECT[..kernels], "schema = 1\n", "schema = 1\nkernel = []\n");
    let requirements = "schema = 1\n";
    let found = problems_of(&settings, requirements);
    assert_eq!(kinds_and_places(&found), ["missing-key []"]);
}

#[test]
fn requirements_say_what_they_ask_for() {
    let second_hash =
        "hash = \"sha256:0000000000000000000000000000000000000000000000000000000000000000\"";
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "uid = \"LLR-2\"",
            "uid = \"LLR 2\"",
            &["bad-name \"LLR 2\"", "unknown-requirement \"LLR-2\""],
        ),
        (
            "uid = \"LLR-2\"",
            "uid = \"LLR-1\"",
            &["duplicate-id \"LLR-1\"", "unknown-requirement \"LLR-2\""],
        ),
        ("\"Guard\"", "\" \"", &["bad-value \" \""]),
        ("\"No store beyond.\"", "\"\"", &["bad-value \"\""]),
        ("verification = [\"test\"]", "verification = []", &["bad-value []"]),
        ("\"No effect on safety.\"", "\" \"", &["missing-rationale derived"]),
        ("safety_rationale = \"No effect on safety.\"\n", "", &["missing-rationale derived"]),
        ("derived = true\n", "", &["missing-parent \"LLR-2\""]),
        ("derived = true\n", "parents = [{ uid = \"HLR-1\" }]\n", &[]),
        ("level = \"HLR\"", "level = \"LLR\"", &["missing-parent \"HLR-1\""]),
        ("{ uid = \"HLR-1\", hash", "{ uid = \"HLR-2\", hash", &["unknown-requirement \"HLR-2\""]),
        (
            "{ uid = \"HLR-1\", hash",
            "{ uid = \"HLR-1\" }, { uid = \"HLR-1\", hash",
            &["duplicate-id \"HLR-1\""],
        ),
        (second_hash, "hash = \"sha256:00\"", &["bad-hash \"sha256:00\""]),
        ("symbol = \"guard\"", "symbol = \"gard\"", &["unknown-symbol \"gard\""]),
        ("kernels = [\"k\"]", "kernels = [\"k\", \"m\"]", &["unknown-kernel \"m\""]),
        (
            "{ file = \"glsl/l.comp\" }",
            "{ file = \"glsl/o.comp\", symbol = \"x\" }",
            &["missing-file \"glsl/o.comp\""],
        ),
        ("\"HLR-1\", \"LLR-1\"]", "\"HLR-1\", \"LLR-9\"]", &["unknown-requirement \"LLR-9\""]),
        ("\"HLR-1\", \"LLR-1\"]", "\"HLR-1\", \"HLR-1\"]", &["duplicate-id \"HLR-1\""]),
    ];
    for (part, replacement, expected) in cases {
        assert_requirements(part, replacement, expected);
    }
}

#[test]
fn a_duplicate_names_the_file_of_the_first() {
    let folder = project_folder(PROJECT, REQUIREMENTS);
    let again = REQUIREMENTS.find("[[requirement]]\nuid = \"LLR-2\"").unwrap();
    let end = REQUIREMENTS.find("[[test]]").unwrap();
    folder.write("requirements/b.toml", &format!("schema = 1\n{}", &REQUIREMENTS[again..end]));
    let found = folder.load().unwrap_err();
    assert_eq!(kinds_and_places(&found), ["duplicate-id \"LLR-2\""]);
    assert!(found[0].location.as_ref().unwrap().file.ends_with("b.toml"));
    assert!(found[0].hint.as_ref().unwrap().ends_with("requirements/all.toml"), "{found:?}");
}

/// A requirement with its parents.
type ParentsRow<'a> = (&'a str, &'a [&'a str]);

#[test]
fn each_cycle_of_parents_is_told_once() {
    let cycles: &[(&[ParentsRow], &[&str])] = &[
        (&[("A", &["B"]), ("B", &["C"]), ("C", &[])], &[]),
        (&[("A", &["B", "C"]), ("B", &["D"]), ("C", &["D"]), ("D", &[])], &[]),
        (&[("A", &["A"])], &["A -> A"]),
        (&[("A", &["B"]), ("B", &["A"])], &["A -> B -> A"]),
        (&[("X", &["A"]), ("A", &["B"]), ("B", &["C"]), ("C", &["A"])], &["A -> B -> C -> A"]),
        (
            &[("A", &["B"]), ("B", &["A"]), ("C", &["D"]), ("D", &["C"])],
            &["A -> B -> A", "C -> D -> C"],
        ),
        (&[("A", &["Y", "B"]), ("Y", &[]), ("B", &["Y", "A"])], &["A -> B -> A"]),
        (&[("A", &["B", "C"]), ("B", &["A"]), ("C", &["A"])], &["A -> B -> A", "A -> C -> A"]),
    ];
    for (rows, expected) in cycles {
        let mut requirements = "schema = 1\n".to_owned();
        for (uid, parents) in *rows {
            let links: Vec<String> =
                parents.iter().map(|parent| format!("{{ uid = \"{parent}\" }}")).collect();
            requirements.push_str(&format!(
                "[[requirement]]\nuid = \"{uid}\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\n\
                 verification = [\"test\"]\nparents = [{}]\n",
                links.join(", ")
            ));
        }
        let found = problems_of(PROJECT, &requirements);
        let messages: Vec<&str> = found.iter().map(|problem| problem.message.as_str()).collect();
        let expected: Vec<String> = expected
            .iter()
            .map(|cycle| format!("requirements are their own parents: {cycle}"))
            .collect();
        assert_eq!(messages, expected, "{rows:?}");
    }
}

#[test]
fn records_say_who_verified_what() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("requirement = \"LLR-2\"", "requirement = \"LLR-3\"", &["unknown-requirement \"LLR-3\""]),
        ("document = \"D-2\"", "document = \"-\"", &["bad-value \"-\""]),
        ("section = \"4\"", "section = \"\"", &["bad-value \"\""]),
        ("section = \"3\"", "section = \"2\"", &["duplicate-id \"2\""]),
        // Records of another method are others.
        (
            "[[review]]\nrequirement = \"LLR-2\"\ndocument = \"D-2\"\nsection = \"4\"",
            "[[review]]\nrequirement = \"LLR-1\"\ndocument = \"D-1\"\nsection = \"2\"",
            &[],
        ),
    ];
    for (part, replacement, expected) in cases {
        assert_requirements(part, replacement, expected);
    }
    let hash = format!("sha256:{}", "2".repeat(64));
    assert_requirements(&hash, "sha1:22", &["bad-hash \"sha1:22\""]);
    for key in ["author", "reviewer"] {
        let records = REQUIREMENTS.find("[[review]]").unwrap();
        let name = if key == "author" { "A. Author" } else { "R. Reviewer" };
        let line = format!("{key} = \"{name}\"");
        let changed = edited(&REQUIREMENTS[records..], &line, &format!("{key} = \" .\""));
        let found = problems_of(PROJECT, &format!("{}{changed}", &REQUIREMENTS[..records]));
        assert_eq!(kinds_and_places(&found), ["bad-value \" .\""], "{key}");
    }
}

#[test]
fn justifications_say_what_and_why() {
    let analysis = "class = \"analysis\"";
    let long_text = "x".repeat(65_537);
    let longest_text = "x".repeat(65_536);
    let cases: &[(&str, &str, &[&str])] = &[
        ("kernel = \"k\"\nobligation", "kernel = \"m\"\nobligation", &["unknown-kernel \"m\""]),
        ("\"Never asked for.\"", "\"...\"", &["bad-value \"...\""]),
        (
            "reason = \"Never asked for.\"\nauthor = \"A. Author\"",
            "reason = \"r\"\nauthor = \"\"",
            &["bad-value \"\""],
        ),
        ("\"B. Approver\"", "\" \"", &["bad-value \" \""]),
        ("\"data-race@S4\"", "\"data-rase@S4\"", &["unknown-id \"data-rase@S4\""]),
        ("\"data-race@S4\"", "\"barrier-divergence@S4\"", &["bad-value \"barrier-divergence@S4\""]),
        ("\"data-race@S4\"", "\"data-race\"", &["bad-value \"data-race\""]),
        (analysis, "class = \"defensive\"", &["bad-value \"defensive\""]),
        (
            "class = \"defensive\"",
            "class = \"deactivated\"",
            &["bad-value [[justification]]", "bad-value [[justification]]"],
        ),
        (analysis, &format!("{analysis}\ndate = \"2026-02-28\""), &[]),
        (analysis, &format!("{analysis}\ndate = \"2026-02-29\""), &["bad-value \"2026-02-29\""]),
        (analysis, &format!("{analysis}\ndate = \"28.2.2026\""), &["bad-value \"28.2.2026\""]),
        ("\"Never asked for.\"", &format!("\"{longest_text}\""), &[]),
        ("\"Never asked for.\"", &format!("\"{long_text}\""), &[&format!("limit \"{long_text}\"")]),
        (analysis, &format!("{analysis}\nargument = \"{long_text}\""), &["limit", "bad-value"]),
    ];
    for (part, replacement, expected) in cases {
        let found = problems_of(PROJECT, &edited(REQUIREMENTS, part, replacement));
        let shown: Vec<&str> = found.iter().map(|problem| problem.kind).collect();
        let kinds: Vec<&str> =
            expected.iter().map(|row| row.split(' ').next().unwrap_or_default()).collect();
        assert_eq!(shown, kinds, "`{part}`");
        if expected.iter().all(|row| row.contains(' ')) {
            assert_eq!(kinds_and_places(&found), *expected, "`{part}`");
        }
    }
}

#[test]
fn a_justification_is_bound_to_a_content() {
    let hash = format!("sha256:{}", "3".repeat(64));
    assert_requirements(&hash, "sha256:33", &["bad-hash \"sha256:33\""]);
}

#[test]
fn a_subject_is_justified_once() {
    let start = REQUIREMENTS.find("[[justification]]").unwrap();
    let end = REQUIREMENTS.find("[[interface]]").unwrap();
    let finding = start + REQUIREMENTS[start + 1..end].find("[[justification]]").unwrap() + 1;
    let with = |text: &str| {
        let found = problems_of(PROJECT, &format!("{REQUIREMENTS}{text}"));
        kinds_and_places(&found)
    };
    let obligation = &REQUIREMENTS[start..finding];
    assert_eq!(with(obligation), ["duplicate-id \"D1.T\""]);
    assert!(with(&edited(obligation, "D1.T", "D1.F")).is_empty());
    assert!(with(&edited(obligation, "kernel = \"k\"", "kernel = \"l-2.b_\"")).is_empty());
    let configured = "configuration = \"small\"\nclass";
    assert!(with(&edited(obligation, "class", configured)).is_empty());
    // An obligation has one hash at a time, a finding may have several.
    assert_eq!(with(&edited(obligation, "3333", "3334")), ["duplicate-id \"D1.T\""]);
    let finding = &REQUIREMENTS[finding..end];
    assert_eq!(with(finding), ["duplicate-id \"data-race@S4\""]);
    assert!(with(&edited(finding, "4444", "4445")).is_empty());
}

#[test]
fn interfaces_describe_each_thing_once() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("name = \"m\"", "name = \"n\"", &["duplicate-id \"n\""]),
        ("name = \"p\"", "name = \"m\"", &["duplicate-id \"m\""]),
        ("min = 4, max = 4", "min = 5, max = 4", &["bad-value 4"]),
        ("{ set = 1, binding = 0, size", "{ set = 0, binding = 0, size", &["duplicate-id 0"]),
        ("set = 2\nbinding = 0", "set = 1\nbinding = 0", &["duplicate-id 0"]),
        ("set = 2\nbinding = 1", "set = 2\nbinding = 0", &["duplicate-id 0"]),
        ("format = \"rgba8\"\n", "", &["missing-key [[interface.images]]"]),
        ("dimension = \"2d\"\n", "", &["missing-key [[interface.images]]"]),
        ("dimension = \"2d\"", "dimension = \"2d\"\nextent = [\"n\", \"2\"]", &[]),
        (
            "dimension = \"2d\"",
            "dimension = \"2d\"\nextent = [\"n\", \"2\"]\nlayered = true\nlayers = \"m\"\nlevels = \"1\"",
            &[],
        ),
        ("dimension = \"2d\"", "dimension = \"2d\"\nextent = [\"n\"]", &["size [\"n\"]"]),
        ("dimension = \"2d\"", "dimension = \"2d\"\nextent = [\"n\", \"0\"]", &["bad-value \"0\""]),
        (
            "dimension = \"2d\"",
            "dimension = \"2d\"\nextent = [\"-4\", \"n\"]",
            &["bad-value \"-4\""],
        ),
        (
            "dimension = \"2d\"",
            "dimension = \"2d\"\nextent = [\"n\", \"2147483648\"]",
            &["bad-value \"2147483648\""],
        ),
        (
            "dimension = \"2d\"",
            "dimension = \"2d\"\nextent = [\"n\", \"2\"]\nlevels = \"0\"",
            &["bad-value \"0\""],
        ),
        (
            "dimension = \"2d\"",
            "dimension = \"2d\"\nextent = [\"n\", \"2\"]\nlayers = \"3\"",
            &["bad-value \"3\""],
        ),
        (
            "dimension = \"2d\"",
            "dimension = \"2d\"\nextent = [\"n\", \"2\"]\nlayered = true",
            &["missing-key [[interface.images]]"],
        ),
        ("dimension = \"2d\"", "dimension = \"2d\"\nlevels = \"2\"", &["missing-key \"2\""]),
        (
            "dimension = \"2d\"",
            "dimension = \"2d\"\nextent = [\"n\", \"2\"]\nmultisampled = true\nlevels = \"2\"",
            &["bad-value \"2\""],
        ),
        (
            "{ set = 1, binding = 0, size = \"4\" }",
            "{ set = 1, binding = 0, size = \"4\", extent = [\"4\"] }",
            &["unknown-key extent"],
        ),
        (
            "class = \"sampler\"",
            "class = \"sampler\"\nextent = [\"n\"]",
            &["bad-value [[interface.images]]"],
        ),
        ("class = \"storage_image\"", "class = \"sampled_image\"", &[]),
        ("class = \"storage_image\"", "class = \"combined\"", &[]),
        ("class = \"storage_image\"", "class = \"storage\"", &["wrong-class \"storage\""]),
        (
            "class = \"storage_image\"",
            "class = \"storage_texel\"",
            &["wrong-class \"storage_texel\""],
        ),
        (
            "class = \"sampler\"",
            "class = \"sampler\"\nformat = \"r8\"",
            &["bad-value [[interface.images]]"],
        ),
        (
            "class = \"sampler\"",
            "class = \"sampler\"\ndimension = \"1d\"",
            &["bad-value [[interface.images]]"],
        ),
        (
            "class = \"sampler\"",
            "class = \"sampler\"\nlayered = true",
            &["bad-value [[interface.images]]"],
        ),
        (
            "class = \"sampler\"",
            "class = \"sampler\"\nmultisampled = true",
            &["bad-value [[interface.images]]"],
        ),
        (
            "[[interface]]\nkernel = \"k\"",
            "[[interface]]\nkernel = \"kk\"",
            &["unknown-kernel \"kk\""],
        ),
    ];
    for (part, replacement, expected) in cases {
        assert_requirements(part, replacement, expected);
    }
    let second = "[[interface]]\nkernel = \"k\"\ngroups = [\"1\", \"1\", \"1\"]\n";
    let found = problems_of(PROJECT, &format!("{REQUIREMENTS}{second}"));
    assert_eq!(kinds_and_places(&found), ["duplicate-id \"k\""]);
    let pipeline = |file: &str| format!("[[interface.pipeline]]\nfile = \"{file}\"\n");
    let pipelines = pipeline("k.json") + &pipeline("./k.json");
    let found = problems_of(PROJECT, &format!("{REQUIREMENTS}{pipelines}"));
    let told = kinds_and_places(&found);
    assert!(told.contains(&"duplicate-id \"./k.json\"".to_owned()), "{told:?}");
}

#[test]
fn parents_have_as_many_levels_as_anybody_follows() {
    let chain = |levels: usize| {
        let requirement = |number: usize| {
            let parents = match number {
                0 => String::new(),
                _ => format!("parents = [{{ uid = \"HLR-C{}\" }}]\n", number - 1),
            };
            format!(
                "[[requirement]]\nuid = \"HLR-C{number}\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\n\
                 verification = [\"test\"]\n{parents}"
            )
        };
        // The lowest first, so that all others are on the way to it.
        let all: String = (0..=levels).rev().map(requirement).collect();
        problems_of(PROJECT, &format!("{REQUIREMENTS}{all}"))
    };
    assert!(chain(64).is_empty());
    let found = chain(200);
    assert_eq!(kinds_and_places(&found), ["limit [{ uid = \"HLR-C64\" }]"]);
    assert_eq!(found[0].message, "`HLR-C65` has 65 levels of parents above it; the limit is 64");
}

#[test]
fn structs_of_an_interface_lead_somewhere_and_come_to_an_end() {
    let problems = |structs: &str| {
        let stated = format!("{REQUIREMENTS}{structs}");
        kinds_and_places(&problems_of(PROJECT, &stated))
    };
    let of = |name: &str, members: &str| {
        format!("[[interface.structs]]\nname = \"{name}\"\nmembers = [{members}]\n")
    };
    let pair = |inner: &str| {
        format!("{{ name = \"a\", type = \"{inner}\" }}, {{ name = \"b\", type = \"{inner}\" }}")
    };
    let member = |rest: &str| format!("{{ name = \"a\", type = \"int8\"{rest} }}");
    assert_eq!(problems(&of("S", &pair("float32"))), [""; 0]);
    assert_eq!(problems(&of("S", &pair("float33"))), ["unknown-type \"float33\""; 2]);
    assert_eq!(problems(&of("int8", &pair("float32"))), ["bad-name \"int8\""]);
    let twice = of("S", &pair("int8")) + &of("S", &pair("int8"));
    assert_eq!(problems(&twice), ["duplicate-id \"S\""]);
    let same_members = pair("int8").replace("\"b\"", "\"a\"");
    assert_eq!(problems(&of("S", &same_members)), ["duplicate-id \"a\""]);
    assert_eq!(problems(&of("S", &member(", count = 0"))), ["bad-value 0"]);
    assert_eq!(problems(&of("S", &member(", count = [2, 0]"))), ["bad-value [2, 0]"]);
    assert_eq!(problems(&of("S", &member(", stride = 4"))), ["bad-value 4"]);
    assert_eq!(problems(&of("S", &member(", count = 2, value = \"n\""))), ["bad-value \"n\""]);
    assert_eq!(problems(&of("S", &member(", count = \"2\""))).len(), 1);
    assert_eq!(problems(&(of("S", &pair("int8")) + "align = 3\n")), ["bad-value 3"]);
    // A holds B, B holds A: each is told.
    let circle = of("A", &pair("B")) + &of("B", &pair("A"));
    assert_eq!(problems(&circle).len(), 2);
    // Every level doubles the members.
    let doubled = |levels: usize| -> String {
        let inner = |level| if level == 0 { "int8".to_owned() } else { format!("S{}", level - 1) };
        (0..levels).map(|level| of(&format!("S{level}"), &pair(&inner(level)))).collect()
    };
    assert!(problems(&doubled(16)).is_empty());
    assert!(!problems(&doubled(60)).is_empty());
    let nested = |levels: usize| -> Vec<String> {
        let inner = |level| if level == 0 { "int8".to_owned() } else { format!("S{}", level - 1) };
        let only = |level| format!("{{ name = \"a\", type = \"{}\" }}", inner(level));
        (0..levels).map(|level| of(&format!("S{level}"), &only(level))).collect()
    };
    for levels in [32, 33] {
        let outermost_first: Vec<String> = nested(levels).into_iter().rev().collect();
        for structs in [nested(levels), outermost_first] {
            assert_eq!(problems(&structs.concat()).is_empty(), levels == 32);
        }
    }
    let large = member(", count = [65536, 65536]");
    assert_eq!(problems(&of("S", &large)).len(), 1);
    let buffers = "buffers = [{ set = 0, binding = 0, size = \"4 * n\"";
    let with_contents = |contents: &str| {
        let stated = edited(REQUIREMENTS, buffers, &format!("{buffers}, {contents}"));
        kinds_and_places(&problems_of(PROJECT, &(stated + &of("S", &pair("int8")))))
    };
    assert_eq!(with_contents("element = \"S\""), [""; 0]);
    assert_eq!(with_contents("element = \"T\""), ["unknown-type \"T\""]);
    assert_eq!(with_contents("block = \"int8\""), ["unknown-type \"int8\""]);
    assert_eq!(with_contents("block = \"S\", element = \"S\""), [""; 0]);
}

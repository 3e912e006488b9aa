//! Stores that nothing reads after them: a test judges none of them by what was read before.

use super::*;

const BLOCKS: &str = "layout(std430, binding = 0) buffer In { uint a[]; };
layout(std430, binding = 1) buffer Data { uint d[]; };
layout(std430, binding = 2) buffer Out { uint o[]; };
layout(std430, binding = 3) buffer Extra { uint e[]; };
";

/// A kernel of its own, what its test dispatches, and how much of members is judged: `d[] 0 of 4`.
struct Case {
    id: &'static str,
    text: String,
    steps: String,
    judged: &'static [&'static str],
}

const BUFFERS: &str = "buffers.a = { type = \"uint\", data = [3, 5, 7, 11] }
buffers.d = { type = \"uint\", data = [20, 30, 40, 50] }
buffers.o = { type = \"uint\", data = [1000, 1000, 1000, 1000] }
buffers.e = { type = \"uint\", data = [2000, 2000, 2000, 2000] }
";

/// `main` of four invocations; they know themselves as `i`.
fn four(main: &str) -> String {
    format!(
        "#version 460\n#extension GL_KHR_shader_subgroup_shuffle : enable\n#extension GL_KHR_shader_subgroup_arithmetic : enable\n\
         layout(local_size_x = 4) in;\n{BLOCKS}shared uint s[4];\n\
         void main() {{ uint i = gl_GlobalInvocationID.x; {main} }}\n"
    )
}

fn one(main: &str) -> String {
    four(main).replace("local_size_x = 4", "local_size_x = 1")
}

fn once(kernel: &str) -> String {
    dispatch(kernel, &["a", "d", "o", "e"])
}

fn values(buffer: &str, values: &str) -> String {
    expect(&format!("buffer = \"{buffer}\"\nvalues = {values}"))
}

/// One dispatch of a kernel of its own, of whose results `o` is wanted.
fn case(id: &'static str, text: String, wanted: &str, judged: &'static [&'static str]) -> Case {
    Case { id, text, steps: once(id) + &values("o", wanted), judged }
}

fn cases() -> Vec<Case> {
    let barrier = "memoryBarrierBuffer(); barrier();";
    vec![
        case(
            "replaced",
            four("uint old = d[i]; d[i] = 666; o[i] = old;"),
            "[20, 30, 40, 50]",
            &["d[] 0 of 4", "o[] 4 of 4"],
        ),
        case(
            "read-back",
            four("d[i] = a[i] + 1; o[i] = 2 * d[i];"),
            "[8, 12, 16, 24]",
            &["d[] 4 of 4", "o[] 4 of 4"],
        ),
        // What was stored is read for what no test judges.
        case(
            "read-back-for-another",
            four("uint old = d[i]; d[i] = 666; e[i] = d[i]; o[i] = old;"),
            "[20, 30, 40, 50]",
            &["d[] 0 of 4", "o[] 4 of 4"],
        ),
        case(
            "stored-again",
            four("d[i] = a[i] + 1; uint first = d[i]; d[i] = 666; o[i] = first;"),
            "[4, 6, 8, 12]",
            &["d[] 0 of 4", "o[] 4 of 4"],
        ),
        case(
            "read-by-others",
            four(&format!("d[i] = a[i] + 1; {barrier} o[i] = d[3 - i];")),
            "[12, 8, 6, 4]",
            &["d[] 4 of 4", "o[] 4 of 4"],
        ),
        case(
            "replaced-behind-a-barrier",
            four(&format!("o[i] = d[3 - i]; {barrier} d[i] = 666;")),
            "[50, 40, 30, 20]",
            &["d[] 0 of 4", "o[] 4 of 4"],
        ),
        // A load in a loop stands before and behind the store; each element is read before it.
        case(
            "replaced-in-a-loop",
            one("uint sum = 0; for (uint k = 0; k < 4; k++) { sum += d[k]; d[k] = 666; } o[0] = sum;"),
            "[140]",
            &["d[] 0 of 4", "o[] 1 of 1"],
        ),
        case(
            "carried-by-a-loop",
            one("d[0] = a[0]; for (uint k = 1; k < 4; k++) d[k] = d[k - 1] + a[k]; o[0] = d[3];"),
            "[26]",
            &["d[] 4 of 4", "o[] 1 of 1"],
        ),
        // All but what the last iteration leaves.
        case(
            "carried-in-one-element",
            one("d[0] = 0; for (uint k = 0; k < 4; k++) { o[k] = d[0]; d[0] += a[k]; }"),
            "[0, 3, 8, 15]",
            &["d[] 0 of 1", "o[] 4 of 4"],
        ),
        // What stands between is read for what no test judges.
        case(
            "beside-another-element",
            one("d[0] = a[0]; d[1] = d[0]; d[2] = a[2]; o[0] = d[2];"),
            "[7]",
            &["d[] 1 of 3", "o[] 1 of 1"],
        ),
        case(
            "tickets",
            four("uint ticket = atomicAdd(d[0], 1); o[ticket - 20] = 7;"),
            "[7, 7, 7, 7]",
            &["d[] 0 of 1", "o[] 4 of 4"],
        ),
        case(
            "shared-before",
            four("s[i] = d[i]; barrier(); d[i] = 666; o[i] = s[3 - i];"),
            "[50, 40, 30, 20]",
            &["d[] 0 of 4", "o[] 4 of 4"],
        ),
        case(
            "shared-behind",
            four("d[i] = a[i]; s[i] = d[i]; barrier(); o[i] = s[3 - i];"),
            "[11, 7, 5, 3]",
            &["d[] 4 of 4", "o[] 4 of 4"],
        ),
        case(
            "subgroup-before",
            four("uint other = subgroupShuffleXor(d[i], 1); d[i] = 666; o[i] = other;"),
            "[30, 20, 50, 40]",
            &["d[] 0 of 4", "o[] 4 of 4"],
        ),
        case(
            "subgroup-behind",
            four("d[i] = a[i]; o[i] = subgroupAdd(d[i]);"),
            "[26, 26, 26, 26]",
            &["d[] 4 of 4", "o[] 4 of 4"],
        ),
        // Of whole structures, and of what is smaller than a word.
        case(
            "structures",
            "#version 460\nlayout(local_size_x = 1) in;\nstruct Pair { uint x; uint y; };\n\
             layout(std430, binding = 0) buffer In { uint a[]; };\nlayout(std430, binding = 1) buffer Data { Pair d[]; };\n\
             layout(std430, binding = 2) buffer Out { uint o[]; };\nlayout(std430, binding = 3) buffer Extra { uint e[]; };\n\
             void main() { Pair pair = d[1]; d[1] = Pair(1, 2); d[0] = Pair(a[0], a[1]); Pair back = d[0];\n\
             o[0] = back.x + back.y; o[1] = pair.x; }\n"
                .to_owned(),
            "[8, 40]",
            &["d[].x 1 of 2", "d[].y 1 of 2", "o[] 2 of 2"],
        ),
        case(
            "bytes",
            "#version 460\n#extension GL_EXT_shader_explicit_arithmetic_types_int8 : enable\nlayout(local_size_x = 1) in;\n\
             layout(std430, binding = 0) buffer In { uint a[]; };\nlayout(std430, binding = 1) buffer Data { uint8_t d[]; };\n\
             layout(std430, binding = 2) buffer Out { uint o[]; };\nlayout(std430, binding = 3) buffer Extra { uint e[]; };\n\
             void main() { uint old = uint(d[0]); d[0] = uint8_t(1); d[1] = uint8_t(9); o[0] = old + uint(d[1]); }\n"
                .to_owned(),
            "[29]",
            &["d[] 1 of 2", "o[] 1 of 1"],
        ),
        // What `e` is read for is lost.
        Case {
            id: "behind-a-replaced-one",
            text: four("uint old = d[i]; d[i] = e[i]; o[i] = old;"),
            steps: dispatch("fives", &["e"]) + &once("behind-a-replaced-one") + &values("o", "[20, 30, 40, 50]"),
            judged: &["d[] 0 of 4", "f[] 0 of 4", "o[] 4 of 4"],
        },
        // What a sum is made of is judged by the sums before the last.
        Case {
            id: "summed-in-place",
            text: one("d[0] = 1; for (uint k = 0; k < 4; k++) { o[k] = d[0]; d[0] += e[k]; }"),
            steps: dispatch("fives", &["e"]) + &once("summed-in-place") + &values("o", "[1, 6, 11, 16]"),
            judged: &["d[] 0 of 1", "f[] 4 of 4", "o[] 4 of 4"],
        },
        // What a kernel can store to and leaves as another one stored it counts for it as well.
        Case {
            id: "beside-fives",
            text: four("if (i > 1) d[i] = a[i]; else o[i] = d[i];"),
            steps: dispatch("fives", &["d"])
                + &once("beside-fives")
                + &values("o", "[5, 5]")
                + &expect("buffer = \"d\"\noffset = 8\nvalues = [7, 11]"),
            judged: &["d[] 4 of 4", "f[] 2 of 4", "o[] 2 of 2"],
        },
        Case {
            id: "over-fives",
            text: four("d[i] = a[i]; o[i] = d[i];"),
            steps: dispatch("fives", &["d"])
                + &once("over-fives")
                + &values("d", "[3, 5, 7, 11]")
                + &values("o", "[3, 5, 7, 11]"),
            judged: &["d[] 4 of 4", "f[] 0 of 4", "o[] 4 of 4"],
        },
        // Of one kernel the first dispatch leaves what the second one reads.
        Case {
            id: "in-phases",
            text: four("if (gl_NumWorkGroups.y == 1) d[i] = a[i] + 1; else if (gl_WorkGroupID.y == 1) o[i] = d[3 - i];"),
            steps: once("in-phases")
                + &once("in-phases").replace("[1, 1, 1]", "[1, 2, 1]")
                + &values("o", "[12, 8, 6, 4]"),
            judged: &["d[] 4 of 4", "o[] 4 of 4"],
        },
    ]
}

const FIVES: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Fives { uint f[]; };
void main() { f[gl_GlobalInvocationID.x] = 5; }
";

fn small_project(folder: &Path, cases: &[Case]) {
    let mut settings = "schema = 1\nname = \"Reads\"\nlevel = \"D\"\n".to_owned();
    let mut tests = "schema = 1\n".to_owned();
    let texts = cases.iter().map(|case| (case.id, case.text.as_str()));
    for (name, text) in texts.chain([("fives", FIVES)]) {
        settings += &format!(
            "[[kernel]]\nname = \"{name}\"\nsource = \"glsl/{name}.comp\"\ntarget_env = \"vulkan1.2\"\n"
        );
        write(folder, &format!("glsl/{name}.comp"), text);
    }
    for Case { id, .. } in cases {
        tests += &format!(
            "[[requirement]]\nuid = \"HLR-{id}\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n"
        );
    }
    for Case { id, steps, .. } in cases {
        tests +=
            &format!("[[test]]\nid = \"{id}\"\nrequirements = [\"HLR-{id}\"]\n{BUFFERS}{steps}");
    }
    write(folder, "vkcert.toml", settings);
    write(folder, "requirements/all.toml", tests);
}

/// By test: `member judged of stored`.
fn judged(campaign: &Value) -> BTreeMap<String, Vec<String>> {
    let of_test = |test: &Value| {
        let rows = test["results"][0]["judged"].as_array().cloned().unwrap_or_default();
        let told = |row: &Value| {
            format!("{} {} of {}", row["member"].as_str().unwrap(), row["judged"], row["stored"])
        };
        let mut told: Vec<String> =
            rows.iter().filter(|row| row["member"] != "e[]").map(told).collect();
        told.sort();
        (test["id"].as_str().unwrap().to_owned(), told)
    };
    campaign["tests"].as_array().unwrap().iter().map(of_test).collect()
}

#[test]
fn stores_count_through_reads_behind_them_alone() {
    let folder = tempfile::tempdir().unwrap();
    let cases = cases();
    small_project(folder.path(), &cases);
    let out = folder.path().join("out");
    let campaign = run_json(&mut certify_sequentially(folder.path(), &out), 0);
    let found = judged(&campaign);
    let wanted: BTreeMap<String, Vec<String>> = cases
        .iter()
        .map(|case| (case.id.to_owned(), case.judged.iter().map(|row| (*row).to_owned()).collect()))
        .collect();
    assert_eq!(found, wanted);
    // Within what the code permits it is a fact of the run, which a run can show again.
    let evidence = out.join("latest/evidence");
    run(vkcert().arg("verify").arg(&evidence).args(["--strict", "--replay"]), 0);
    run(vkcert().arg("verify").arg(&evidence), 0);
    let place = campaign["tests"]
        .as_array()
        .unwrap()
        .iter()
        .position(|test| test["id"] == "replaced")
        .unwrap();
    for (value, options) in [(5, &[][..]), (4, &["--replay"])] {
        let copy = folder.path().join("forged");
        copy_tree(&evidence, &copy);
        forge(&copy, "campaign.json", |campaign| {
            campaign["tests"][place]["results"][0]["judged"][0]["judged"] = value.into();
        });
        let said = String::from_utf8_lossy(
            &run(vkcert().arg("verify").arg(&copy).args(options), 1).stdout,
        )
        .into_owned();
        assert!(
            said.contains(&format!(
                "differs           campaign.json/tests/{place}/results/0/judged/0"
            )),
            "{said}"
        );
    }
}

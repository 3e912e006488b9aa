//! Schedules on the sequential engine: workgroups and invocations come in the order of the text;
//! what depends on it is found with the simplest schedule that shows it, which repeats it exactly;
//! what does not depend on it is not found.

use super::filetest::FileTest;
use super::support::{root, run, run_json, vkcert, without_driver, write};
use super::{ORDERED, SAFE, any_order, by_id, compile, files, final_words, job, project};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::LazyLock;
use vkcert::exec::sequential::{Jobs, SequentialExecutor, Settings};
use vkcert::exec::{Completion, Executor, Job, Run, Unobserved};
use vkcert::model::schedule::{Schedule, Tiles};

/// Notes which invocation comes when: once before a barrier, where there is one, and once behind
/// it.
fn arrivals(barrier: &str) -> Vec<u32> {
    let text = format!(
        "#version 450
layout(local_size_x_id = 0) in;
layout(binding = 0) buffer Next {{ uint next; }};
layout(binding = 1) buffer Order {{ uint order[]; }};
void note() {{ order[atomicAdd(next, 1u)] = gl_GlobalInvocationID.x; }}
void main() {{ note(); {barrier} note(); }}"
    );
    compile(&text, shaderc::EnvVersion::Vulkan1_3).expect("compiles")
}

static WITH_BARRIER: LazyLock<Vec<u32>> = LazyLock::new(|| arrivals("barrier();"));
static WITHOUT_BARRIER: LazyLock<Vec<u32>> = LazyLock::new(|| arrivals(""));

fn any_schedule() -> impl Strategy<Value = Schedule> {
    let tiles = (any_order(), 1_u32..20).prop_map(|(order, width)| Tiles { order, width });
    (any_order(), proptest::option::of(tiles))
        .prop_map(|(order, tiles)| Schedule::new(order, tiles))
}

fn run_in(job: &Job, schedule: Schedule, jobs: Jobs) -> Run {
    let mut engine = SequentialExecutor::new(Settings {
        following: schedule.into(),
        jobs,
        ..Settings::default()
    });
    engine.run(job, &mut Unobserved).expect("runs")
}

/// The global ids in the order in which they come, from the description of schedules alone.
fn due(schedule: Schedule, groups: u32, size: u32, with_barrier: bool) -> Vec<u32> {
    let width = schedule.tiles.map_or(64, |tiles| tiles.width);
    let locals: Vec<u32> = (0..size).collect();
    let tiles: Vec<&[u32]> = locals.chunks(width as usize).collect();
    let order = schedule
        .tiles
        .map_or_else(Default::default, |tiles| tiles.order)
        .permutation(tiles.len() as u32);
    let mut all = Vec::new();
    for group in schedule.workgroups.permutation(groups) {
        let ids = |tile: &u32| {
            tiles[*tile as usize].iter().map(move |local| group * size + local).collect::<Vec<_>>()
        };
        // Each tile notes all of its invocations, then all of them again; with a barrier, all tiles
        // do so in between.
        if with_barrier {
            let once: Vec<u32> = order.iter().flat_map(ids).collect();
            all.extend(once.iter().chain(&once));
        } else {
            all.extend(order.iter().flat_map(|tile| [ids(tile), ids(tile)]).flatten());
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn workgroups_and_invocations_come_in_the_order_of_the_schedule(
        groups in 1_u32..9,
        size in 1_u32..40,
        schedule in any_schedule(),
        with_barrier in any::<bool>(),
        shared in any::<bool>(),
    ) {
        let words = if with_barrier { WITH_BARRIER.clone() } else { WITHOUT_BARRIER.clone() };
        let invocations = (groups * size) as usize;
        let buffers = [(0, vec![0]), (1, vec![0; 2 * invocations])];
        let job = job(words, "main", [groups, 1, 1], &[(0, u64::from(size))], &buffers);
        let jobs = if shared { Jobs::Dealt { workers: 2, alone: 1, batch: 1 } } else { Jobs::One };
        let run = run_in(&job, schedule, jobs);
        prop_assert_eq!(&run.completion, &Completion::Completed);
        prop_assert_eq!(super::words_of(&run.buffers[1]), due(schedule, groups, size, with_barrier), "{}", schedule);
    }
}

/// File tests whose kernels keep what came last.
const LAST_WINS: &[&str] = &["atomics_all"];

/// File tests that any device may run, other than those.
fn orderless() -> Vec<(String, Job)> {
    let tests = FileTest::read_all(&root().join("tests/filetests/run"));
    let jobs = tests
        .into_iter()
        .filter(|test| !test.sequential_only)
        .map(|test| (test.name.clone(), test.job()));
    let (dependent, jobs): (Vec<_>, Vec<_>) =
        jobs.partition(|(name, _)| LAST_WINS.contains(&name.as_str()));
    for (name, job) in &dependent {
        let schedule = "reversed+tiles:1:reversed".parse().expect("a schedule");
        let [ordinary, reversed] =
            [Schedule::IN_ORDER, schedule].map(|schedule| run_in(job, schedule, Jobs::One).buffers);
        assert_ne!(ordinary, reversed, "{name} is no exception");
    }
    assert_eq!((dependent.len(), jobs.len() > 20), (LAST_WINS.len(), true), "{}", jobs.len());
    jobs
}

static ORDERLESS: LazyLock<Vec<(String, Job)>> = LazyLock::new(orderless);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn kernels_that_any_device_may_run_do_not_depend_on_the_schedule(
        which in any::<proptest::sample::Index>(),
        schedule in any_schedule(),
    ) {
        let (name, job) = &ORDERLESS[which.index(ORDERLESS.len())];
        let run = run_in(job, schedule, Jobs::One);
        prop_assert_eq!(&run.completion, &Completion::Completed, "{} {}", name, schedule);
        prop_assert_eq!(&run.buffers, &run_in(job, Schedule::IN_ORDER, Jobs::One).buffers, "{} {}", name, schedule);
    }
}

fn sequential(arguments: &[&str]) -> Command {
    let mut command = vkcert();
    without_driver(command.current_dir(root()))
        .args(["run"])
        .args(arguments)
        .args(["--engine", "sequential"]);
    command
}

/// The kernels of `tests/kernels` have no races: outputs and coverage are the same in any schedule.
#[test]
fn kernels_without_races_give_one_result_in_every_schedule() {
    let mut tests = 0;
    for (seed, path) in files("tests/kernels", "toml").iter().enumerate() {
        let file = path.to_str().expect("text");
        let result =
            run_json(&mut sequential(&[file, "--schedules", "9", "--seed", &seed.to_string()]), 0);
        for (id, test) in by_id(&result) {
            assert_eq!(test["schedules"]["status"], "equal", "{id}: {}", test["schedules"]);
            tests += 1;
        }
    }
    assert!(tests >= 20, "{tests}");
}

const WITHIN: &str = "tests/schedules/within.toml";

fn shown(result: &Value, kind: &str) -> Vec<Value> {
    let findings = result["findings"].as_array().expect("findings").iter();
    findings.filter(|finding| finding["kind"] == kind).cloned().collect()
}

fn details(result: &BTreeMap<String, Value>, id: &str) -> Value {
    let findings = shown(&result[id], "schedule-dependent-output");
    findings.first().unwrap_or_else(|| panic!("{id}: {:#}", result[id]["schedules"]))["details"]
        .clone()
}

#[test]
fn what_depends_on_the_order_within_a_workgroup_is_found_and_what_does_not_is_not() {
    let command = ["--schedules", "7", "--seed", "3"];
    let result = by_id(&run_json(&mut sequential(&[&[WITHIN][..], &command].concat()), 1));
    for id in ["TC-COMMUTING", "TC-ORDERED", "TC-SUBGROUPS"] {
        let test = &result[id];
        assert_eq!(
            (&test["schedules"]["status"], &test["findings"]),
            (&"equal".into(), &json!([])),
            "{id}"
        );
        assert_eq!(test["schedules"]["ran"].as_array().map(Vec::len), Some(7), "{id}");
    }
    let simplest = |id: &str| details(&result, id)["schedule"].as_str().expect("text").to_owned();
    assert_eq!(simplest("TC-PLACES"), "in-order+tiles:1:reversed");
    assert_eq!(simplest("TC-WINNER"), "in-order+tiles:1:reversed");
    // Nothing is reversed: it is enough that invocations do not run together.
    assert_eq!(simplest("TC-LOCKSTEP"), "in-order+tiles:1");
    assert_eq!(simplest("TC-BOTH"), "reversed+tiles:1:reversed");
    let lockstep = details(&result, "TC-LOCKSTEP");
    for (name, value) in [
        ("baseline", json!("in-order")),
        ("buffer", json!("left")),
        ("offset", json!(0)),
        ("expected", json!(2)),
        ("actual", json!(0)),
        ("bytes", json!(7)),
        ("kernels", json!(["lockstep"])),
        ("verdict", json!("fail")),
    ] {
        assert_eq!(lockstep[name], value, "{name}: {lockstep:#}");
    }
    assert!(lockstep.get("abs").is_none(), "{lockstep:#}");
    // The race is the ordinary run's own finding, not one more of each schedule.
    assert_eq!(shown(&result["TC-WINNER"], "data-race").len(), 1);
    let second = details(&result, "TC-SECOND");
    assert_eq!((&second["kernels"], &second["dispatches"]), (&json!(["places"]), &json!([1])));
}

#[test]
fn differences_of_floats_have_a_size() {
    let result =
        by_id(&run_json(&mut sequential(&[WITHIN, "--only", "TC-FLOATS", "--schedules", "3"]), 1));
    let floats = details(&result, "TC-FLOATS");
    // From first to last 3 + 3 + 1 are lost one by one; the other way round 7 is rounded to 8, the
    // distance of floats there.
    for (name, value) in [
        ("schedule", json!("in-order+tiles:1:reversed")),
        ("type", json!("float")),
        ("expected", json!(1.0e8)),
        // The next float, shown by the shortest decimal that tells it from its neighbours.
        ("actual", json!(100_000_010.0)),
        ("abs", json!(8.0)),
        ("ulps", json!(1)),
        ("largest_abs", json!(8.0)),
        ("largest_ulps", json!(1)),
        ("verdict", json!("pass")),
    ] {
        assert_eq!(floats[name].as_f64(), value.as_f64(), "{name}: {floats:#}");
        assert!(value.is_f64() || floats[name] == value, "{name}: {floats:#}");
    }
}

#[test]
fn coverage_that_depends_on_the_order_is_found_where_outputs_are_equal() {
    let result =
        by_id(&run_json(&mut sequential(&[WITHIN, "--only", "TC-CHOSEN", "--schedules", "3"]), 1));
    let findings = shown(&result["TC-CHOSEN"], "schedule-dependent-output");
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let chosen = &findings[0]["details"];
    assert_eq!(
        (&chosen["schedule"], &chosen["only_in"]),
        (&"reversed".into(), &"in-order".into()),
        "{chosen:#}"
    );
    assert_eq!((&chosen["decision"], &chosen["vector"]), (&"D1".into(), &"TT".into()));
    let texts = chosen["coverage"].as_array().expect("a list");
    assert!(
        texts.len() == 2 && texts[1].as_str().expect("text").contains("vector TF of D1"),
        "{texts:?}"
    );
    assert!(texts[1].as_str().expect("text").ends_with("with `reversed` alone"), "{texts:?}");
    assert_eq!(result["TC-CHOSEN"]["schedules"]["status"], "different");
    // A barrier is passed if the first workgroup comes first.
    let result =
        by_id(&run_json(&mut sequential(&[WITHIN, "--only", "TC-BARRED", "--schedules", "2"]), 1));
    let barred = details(&result, "TC-BARRED");
    let texts = barred["coverage"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|text| text.as_str().expect("text"));
    let told = "barred: BAR2 (barrier at barred.comp:8) with `in-order` alone";
    assert!(texts.clone().any(|text| text == told), "{:?}", texts.collect::<Vec<_>>());
    // With both in another order the coverage differs with the outputs.
    let result =
        by_id(&run_json(&mut sequential(&[WITHIN, "--only", "TC-BOTH", "--schedules", "9"]), 1));
    assert_eq!(shown(&result["TC-BOTH"], "schedule-dependent-output").len(), 2);
    assert_eq!(
        result["TC-BOTH"]["schedules"]["different"],
        serde_json::json!(["reversed+tiles:1:reversed"]),
        "once"
    );
    // Every schedule that changes what is covered is counted and named.
    let result =
        by_id(&run_json(&mut sequential(&[WITHIN, "--only", "TC-BARRED", "--schedules", "9"]), 1));
    let findings = shown(&result["TC-BARRED"], "schedule-dependent-output");
    let [finding] = findings.as_slice() else { panic!("{findings:#?}") };
    let different = &result["TC-BARRED"]["schedules"]["different"];
    assert_eq!(
        (&finding["details"]["schedules"], finding["count"].as_u64()),
        (different, Some(6)),
        "{finding:#}"
    );
}

/// Final contents by test and buffer.
fn contents(arguments: &[&str]) -> BTreeMap<String, Value> {
    let output = sequential(&[arguments, &["--dump-buffers", "--format", "json"]].concat())
        .output()
        .expect("runs");
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    by_id(&result).into_iter().map(|(id, test)| (id, test["buffers"].clone())).collect()
}

#[test]
fn a_replayed_schedule_repeats_the_difference_exactly() {
    let result = by_id(&run_json(&mut sequential(&[WITHIN, "--schedules", "9", "--seed", "4"]), 1));
    let mut replayed = 0;
    for (id, test) in &result {
        for finding in shown(test, "schedule-dependent-output") {
            let Some(buffer) = finding["details"]["buffer"].as_str() else { continue };
            let schedule = finding["details"]["schedule"].as_str().expect("a schedule");
            let arguments = [WITHIN, "--only", id, "--replay", schedule, "--check", "none"];
            let replay = &contents(&arguments)[id][buffer];
            assert_eq!(replay, &contents(&arguments)[id][buffer], "{id}: the same twice");
            let (offset, bits) =
                (finding["details"]["offset"].as_u64(), &finding["details"]["actual_bits"]);
            let bytes = decoded(replay.as_str().expect("base64"));
            let at = offset.expect("an offset") as usize;
            let word = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
            assert_eq!(&Value::from(format!("0x{word:08x}")), bits, "{id}");
            assert_ne!(
                replay,
                &contents(&[WITHIN, "--only", id])[id][buffer],
                "{id}: not the ordinary result"
            );
            replayed += 1;
        }
    }
    assert!(replayed >= 5, "{replayed}");
}

fn decoded(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).expect("base64")
}

#[test]
fn schedules_are_the_same_twice() {
    let shown = || {
        run(&mut sequential(&[WITHIN, "--schedules", "6", "--seed", "11", "--format", "json"]), 1)
            .stdout
    };
    assert_eq!(shown(), shown());
}

#[test]
fn a_replay_says_which_schedule_it_was_and_names_the_right_invocations() {
    let file = "tests/schedules/order.toml";
    let result = run_json(&mut sequential(&[file, "--only", "TC-LAST", "--replay", "reversed"]), 1);
    let test = &result["tests"][0];
    assert_eq!((&test["schedule"], test.get("schedules")), (&"reversed".into(), None), "{test:#}");
    // 2x2 workgroups of one invocation, the last one first.
    assert_eq!(test["findings"][0]["invocations"], json!([[1, 1, 0], [0, 1, 0]]));
    let result = run_json(
        &mut sequential(&[WITHIN, "--only", "TC-SUBGROUPS", "--replay", "in-order+tiles:3"]),
        0,
    );
    let notes = result["tests"][0]["notes"].to_string();
    assert!(notes.contains("schedules with tiles of 3 run it in tiles of 8"), "{notes}");
    let ordinary = run_json(&mut sequential(&[WITHIN, "--only", "TC-SUBGROUPS"]), 0);
    assert!(ordinary["tests"][0].get("schedule").is_none());
}

#[test]
fn a_text_that_is_no_schedule_is_refused_with_the_known_forms() {
    for wrong in ["sideways", "in-order+tiles:0", "in-order+tiles:2000", "reversed+rows:1", "first"]
    {
        for command in ["run", "certify"] {
            let output = run(
                vkcert()
                    .args([command, "tests/schedules/within.toml", "--replay", wrong])
                    .current_dir(root()),
                2,
            );
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                told.contains("`first:WORKGROUP`") && told.contains("`+tiles:WIDTH`"),
                "{told}"
            );
        }
    }
    run(
        vkcert()
            .args(["run", WITHIN, "--replay", "reversed", "--schedules", "2"])
            .current_dir(root()),
        2,
    );
}

#[test]
fn a_device_follows_workgroups_and_is_not_run_for_tiles() {
    if super::device().is_none() {
        return;
    }
    let with = |schedule: &str, engine: &str, exit| {
        let command =
            ["run", "tests/schedules/order.toml", "--only", "TC-TICKET", "--replay", schedule];
        run_json(super::orderly().args(command).args(["--dump-buffers", "--engine", engine]), exit)
    };
    let both = with("first:5", "both", 0);
    let [ours, theirs] = [0, 1].map(|engine| &both["tests"][engine]["buffers"]["place"]);
    assert_eq!(theirs["schedule"], ours["schedule"]);
    let places: Vec<u8> =
        decoded(ours.as_str().expect("base64")).iter().step_by(4).copied().collect();
    assert_eq!(places, [1, 2, 3, 4, 5, 0, 6, 7]);
    if super::is_orderly(&super::device().expect("as before")) {
        assert_eq!(ours, theirs);
    }
    let tiles = with("first:5+tiles:1", "both", 0);
    assert_eq!(
        (&tiles["tests"][0]["verdict"], &tiles["tests"][1]["verdict"]),
        (&"pass".into(), &"not-run".into())
    );
    assert_eq!(
        tiles["tests"][1]["reason"],
        "no device follows the tiles of the schedule `first:5+tiles:1`"
    );
    run(
        super::orderly().args([
            "run",
            WITHIN,
            "--only",
            "TC-BOTH",
            "--replay",
            "in-order+tiles:1",
            "--engine",
            "vulkan",
        ]),
        4,
    );
}

#[test]
fn evidence_of_the_sequential_engine_has_its_schedules_and_replays() {
    for (statement, status) in [(SAFE, "equal"), (ORDERED, "different")] {
        let folder = project("schedules = { count = 3, seed = 5 }", statement);
        let out = folder.path().join("out");
        let certify = |options: &[&str]| -> Value {
            let mut command = vkcert();
            without_driver(&mut command).args([
                "certify",
                "--engine",
                "sequential",
                "--quiet",
                "--format",
                "json",
                "--out",
            ]);
            let output = command.arg(&out).arg(folder.path()).args(options).output().expect("runs");
            run(vkcert().arg("verify").arg(out.join("evidence")), 0);
            serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
        };
        let evidence = certify(&[]);
        assert_eq!(evidence["tests"][0]["results"][0]["schedules"]["status"], status);
        assert_eq!(evidence, certify(&[]), "the same twice");
        let told =
            evidence["conclusion"]["reasons"].to_string().contains("schedule-dependent-output");
        assert_eq!(told, status == "different");
        let replay = certify(&["--replay", "reversed"]);
        let result = &replay["tests"][0]["results"][0];
        assert_eq!((&result["schedule"], result.get("schedules")), (&"reversed".into(), None));
        assert_eq!(
            replay["engines"][0]["identity"]["schedule"], "reversed",
            "{}",
            replay["engines"]
        );
        assert!(evidence["engines"][0]["identity"].get("schedule").is_none());
        assert!(
            replay["limits"].to_string().contains("(--replay): reversed"),
            "{}",
            replay["limits"]
        );
    }
}

/// The words that the ordinary run leaves are those of the schedule `in-order`.
#[test]
fn the_ordinary_schedule_is_in_order() {
    let job =
        job(WITH_BARRIER.clone(), "main", [3, 1, 1], &[(0, 5)], &[(0, vec![0]), (1, vec![0; 30])]);
    assert_eq!(final_words(&job)[1], due(Schedule::IN_ORDER, 3, 5, true));
}

/// What a kernel of four workgroups does in other orders. `expect`: what of its two buffers the
/// test judges.
fn in_other_orders(statements: &str, expect: &str, exit: i32) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "schema = 1\n\n[kernels.k]\nsource.text = \"\"\"\n#version 450\nlayout(local_size_x = 1) in;\n\
         layout(binding = 0) buffer Next {{ uint next; }};\nlayout(binding = 1) buffer Out {{ uint value[]; }};\n\
         void main() {{\n    uint mine = atomicAdd(next, 1u);\n    {statements}\n}}\n\"\"\"\n\n[[tests]]\nid = \"T\"\n\
         buffers = {{ next = {{ type = \"uint\", data = [0] }}, value = {{ type = \"uint\", data = [9, 9] }} }}\n\
         dispatches = [{{ kernel = \"k\", groups = [4, 1, 1], bindings = [{{ binding = 0, buffer = \"next\" }}, \
         {{ binding = 1, buffer = \"value\" }}] }}]\nexpect = [{expect}]\n"
    );
    let file = write(folder.path(), "k.toml", text);
    let file = file.to_str().expect("text");
    run_json(&mut sequential(&[file, "--schedules", "1"]), exit)["tests"][0].clone()
}

/// Any order is open, and not which elements there are.
#[test]
fn a_result_that_the_expectations_refuse_is_found_where_they_leave_the_order_open() {
    let list = "if (mine < 2u) value[mine] = gl_WorkGroupID.x;";
    let test = in_other_orders(list, "{ buffer = \"value\", order = \"any\", values = [1, 0] }", 1);
    let findings = shown(&test, "schedule-dependent-output");
    assert_eq!(findings[0]["details"]["verdict"], "fail", "{test:#}");
    assert_eq!(
        (&test["verdict"], &test["schedules"]["status"]),
        (&json!("pass"), &json!("different"))
    );
    let test = in_other_orders(
        "value[mine & 1u] = mine & 1u;",
        "{ buffer = \"value\", order = \"any\", values = [1, 0] }",
        1,
    );
    assert_eq!(shown(&test, "schedule-dependent-output"), Vec::<Value>::new());
}

#[test]
fn what_another_order_alone_shows_at_another_place_is_found() {
    let statements = "value[gl_WorkGroupID.x + 8u] = 1u;\n    if (mine == 0u && gl_WorkGroupID.x != 0u) value[16] = 1u;";
    let test = in_other_orders(statements, "{ buffer = \"next\", values = [4] }", 1);
    let found = shown(&test, "out-of-bounds");
    let told: Vec<_> =
        found.iter().map(|one| (&one["place"]["line"], one["details"].get("schedule"))).collect();
    assert_eq!(told, [(&json!(7), None), (&json!(8), Some(&json!("reversed")))], "{found:#?}");
}

/// A race that writes the same in order may write something else in another.
#[test]
fn a_race_that_is_worse_in_another_order_is_found() {
    let statements = "value[0] = mine == 0u && gl_WorkGroupID.x != 0u ? 7u : 1u;";
    let test = in_other_orders(statements, "{ buffer = \"next\", values = [4] }", 1);
    let found = shown(&test, "data-race");
    let told: Vec<_> = found
        .iter()
        .map(|one| (&one["details"]["same_value"], one["details"].get("schedule")))
        .collect();
    assert_eq!(
        told,
        [(&json!(true), None), (&json!(false), Some(&json!("reversed")))],
        "{found:#?}"
    );
}

/// Of a project the branches of the production module are compared, too.
#[test]
fn branches_of_object_code_are_compared_in_every_schedule() {
    let folder =
        project("", "if (atomicAdd(total, 1u) == 0u && gl_WorkGroupID.x == 0u) { all[0] = 2u; }");
    let out = folder.path().join("out");
    let mut command = vkcert();
    without_driver(&mut command).args([
        "certify",
        "--engine",
        "sequential",
        "--quiet",
        "--format",
        "json",
    ]);
    let output = command
        .arg("--out")
        .arg(&out)
        .arg(folder.path())
        .args(["--schedules", "1"])
        .output()
        .expect("runs");
    let evidence: Value = serde_json::from_slice(&output.stdout).expect("evidence");
    let findings = shown(&evidence["tests"][0]["results"][0], "schedule-dependent-output");
    let covered = findings
        .iter()
        .flat_map(|one| one["details"]["coverage"].as_array().cloned().unwrap_or_default());
    let covered: Vec<String> =
        covered.map(|text| text.as_str().expect("text").to_owned()).collect();
    for due in ["k: vector TT of D1", "k: B2."] {
        assert!(covered.iter().any(|text| text.starts_with(due)), "{due}: {covered:#?}");
    }
}

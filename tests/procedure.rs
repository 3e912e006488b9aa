//! Test procedures from file to verdict, the documents' examples, traces of a project.

use crate::compiled;
use std::sync::Arc;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use vkcert::exec::judge::judge_run;
use vkcert::exec::prepare::{PrepareError, Prepared, prepare_test};
use vkcert::exec::resource::{AddressPlace, address_symbol};
use vkcert::exec::{Completion, Job, Run};
use vkcert::model::diagnostic::Diagnostic;
use vkcert::model::evidence::RequirementStatus;
use vkcert::model::generation::Generation;
use vkcert::model::procedure::Procedure;
use vkcert::model::verdict::Verdict;
use vkcert::requirement::document::FileSyntax;
use vkcert::requirement::hash::requirement_hash;
use vkcert::requirement::reach::TestedCode;
use vkcert::requirement::schema::{SCHEMAS, schema_text};
use vkcert::requirement::status::{VerificationResults, assign_statuses};
use vkcert::requirement::trace::trace_requirements;
use vkcert::requirement::{ProcedureFile, load_project, parse_procedure};
use vkcert::spirv::module::Module;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn parse(text: &str, syntax: FileSyntax) -> Result<ProcedureFile, Vec<Diagnostic>> {
    parse_procedure("test", text, syntax, &root().join("tests/filetests/bad/procedure"))
}

fn prepared(text: &str) -> Result<Prepared, PrepareError> {
    let file =
        parse(text, FileSyntax::Toml).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
    let kernels = compiled::kernels(&file);
    prepare_test(&file.tests[0], &compiled::setting(&kernels, &file.base))
}

/// A test of the kernel of the corpus with other buffers, dispatch keys and expectations.
fn corpus(buffers: &str, dispatch: &str, expect: &str) -> String {
    format!(
        "schema = 1\n[kernels.k]\nsource = \"kernel.comp\"\n[[tests]]\nid = \"T\"\n[tests.buffers]\n{buffers}\n\
         [[tests.dispatches]]\nkernel = \"k\"\ngroups = [1, 1, 1]\nbindings = [{{ binding = 0, buffer = \"a\" }}, \
         {{ binding = 1, buffer = \"r\" }}, {{ binding = 2, buffer = \"u\" }}]\n{dispatch}\n{expect}"
    )
}

const BUFFERS: &str = "a = { type = \"float\", data = [1, 2] }\nr = { type = \"float\", count = 16 }\nu = { type = \"vec4\", count = 5 }";

fn float(bytes: &[u8], offset: usize) -> f32 {
    f32::from_le_bytes(bytes[offset..offset + 4].try_into().unwrap())
}

#[test]
fn push_constants_stand_where_the_compiler_put_them() {
    let job = prepared(&corpus(
        BUFFERS,
        "push_constants = { m = 7, scale = [1, 2, 3], pair = { w = 9 }, tail = [4] }",
        "",
    ))
    .unwrap()
    .job;
    let dispatch = &job.dispatches[0];
    // std430: m at 0, scale at 16 (12 bytes), pair at 32 (w at 44), tail at 48 (4 bytes each).
    let bytes = &dispatch.push_constants;
    assert_eq!(bytes.len(), 56);
    assert_eq!(u32::from_le_bytes(bytes[0..4].try_into().unwrap()), 7);
    assert_eq!([16, 20, 24, 44, 48].map(|offset| float(bytes, offset)), [1.0, 2.0, 3.0, 9.0, 4.0]);
    assert_eq!(dispatch.push_constants_defined, [0..4, 16..28, 44..52]);
    assert!(bytes[4..16].iter().chain(&bytes[52..]).all(|byte| *byte == 0xCD));
}

#[test]
fn members_by_index_and_raw_bytes_are_accepted() {
    let by_index = prepared(&corpus(BUFFERS, "push_constants = [7, [1, 2, 3]]", "")).unwrap().job;
    assert_eq!(by_index.dispatches[0].push_constants_defined, [0..4, 16..28]);
    let raw =
        prepared(&corpus(BUFFERS, "push_constants = { bytes = \"BwAAAA==\" }", "")).unwrap().job;
    assert_eq!(raw.dispatches[0].push_constants[..4], [7, 0, 0, 0]);
    assert_eq!(raw.dispatches[0].push_constants_defined.first(), Some(&(0..4)));
}

#[test]
fn reflected_buffers_follow_the_block() {
    let buffers = "a = { type = \"float\", data = [1] }\n\
        r = { type = \"reflect\", data = { n = 3, m = [[1, 2], [3, 4], [5, 6]], r = [7, 8] } }\n\
        u = { type = \"reflect\", data = { p = [{ v = [1, 2, 3] }, { w = 4 }] } }";
    let expect =
        "[[tests.expect]]\nbuffer = \"r\"\nvalues = { m = [[1, 2], [3, 4], [5, 7]], r = [7] }";
    let prepared = prepared(&corpus(buffers, "", expect)).unwrap();
    // std430: n at 0, m at 8 with a stride of 8, r at 32. std140: v at 0, p at 16 with a stride of
    // 16.
    let r = &prepared.job.buffers[1];
    assert_eq!(r.bytes.len(), 40);
    assert_eq!(r.defined, [0..4, 8..40]);
    assert_eq!(
        [8, 12, 16, 20, 24, 28, 32, 36].map(|at| float(&r.bytes, at)),
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    );
    let u = &prepared.job.buffers[2];
    assert_eq!((u.bytes.len(), u.defined.clone()), (48, vec![16..28, 44..48]));
    let judgement = judge_run(&prepared, &completed(&prepared.job), &mut no_reference).unwrap();
    assert_eq!(
        (judgement.verdict, judgement.mismatch_count, judgement.mismatches[0].offset),
        (Verdict::Fail, 1, 28)
    );
}

/// An engine that changes nothing.
fn completed(job: &Job) -> Run {
    let buffers = job.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
    Run { buffers, ..Run::ended(Completion::Completed) }
}

fn no_reference(_: &Job) -> Result<Run, vkcert::exec::ExecError> {
    panic!("no reference is expected")
}

/// Vulkan: accesses must lie in the bound range, the block need not.
#[test]
fn a_block_may_be_larger_than_what_is_bound_to_it() {
    let job = prepared(&corpus(&BUFFERS.replace("count = 5", "count = 2"), "", "")).unwrap().job;
    assert_eq!(job.dispatches[0].bindings[2].range, 32);
}

/// A procedure of a kernel that declares push constants and never reads them.
fn never_reading(dispatch: &str) -> String {
    format!(
        "schema = 1\n[kernels.k]\nsource.text = \"\"\"\n#version 450\nlayout(local_size_x = 1) in;\n\
         layout(push_constant) uniform P {{ uint x; }} p;\nlayout(binding = 0) buffer A {{ uint a[]; }};\n\
         void main() {{ a[0] = 1u; }}\n\"\"\"\n[[tests]]\nid = \"T\"\nbuffers.a = {{ type = \"uint\", data = [0] }}\n\
         [[tests.dispatches]]\nkernel = \"k\"\ngroups = [1, 1, 1]\nbindings = [{{ binding = 0, buffer = \"a\" }}]\n{dispatch}"
    )
}

#[test]
fn push_constants_that_a_kernel_never_reads_may_be_given_or_left_out() {
    for dispatch in ["", "push_constants = { x = 3 }"] {
        let job = prepared(&never_reading(dispatch))
            .unwrap_or_else(|error| panic!("{dispatch}: {error:?}"))
            .job;
        assert!(job.dispatches[0].push_constants.is_empty(), "{dispatch}");
    }
    assert!(prepared(&never_reading("push_constants = { y = 3 }")).is_err());
}

/// A test of a kernel with a `uint` of specialization id 0 and a constant of id 1, which becomes 0
/// too.
fn with_one_id_for_two(ty: &str, specialization: &str) -> Result<Prepared, PrepareError> {
    let text = format!(
        "schema = 1\n[kernels.k]\nsource.text = \"\"\"\n#version 450\nlayout(local_size_x = 1) in;\n\
         layout(constant_id = 0) const uint N = 4u;\nlayout(constant_id = 1) const {ty} M = {ty}(5);\n\
         layout(binding = 0) buffer A {{ uint a[]; }};\nvoid main() {{ a[0] = N + uint(M); }}\n\"\"\"\n[[tests]]\nid = \"T\"\n\
         buffers.a = {{ type = \"uint\", data = [0] }}\n[[tests.dispatches]]\nkernel = \"k\"\ngroups = [1, 1, 1]\n\
         bindings = [{{ binding = 0, buffer = \"a\" }}]\n{specialization}"
    );
    let file =
        parse(&text, FileSyntax::Toml).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
    let mut kernels = compiled::kernels(&file);
    for kernel in kernels.values_mut() {
        let mut words = kernel.module.words.to_vec();
        // OpDecorate, target, SpecId, 1.
        let second = (5..words.len() - 3)
            .find(|at| words[*at] == 4 << 16 | 71 && words[at + 2..at + 4] == [1, 1]);
        words[second.expect("there is a second constant") + 3] = 0;
        kernel.module = std::sync::Arc::new(Module::parse(words).unwrap());
    }
    prepare_test(&file.tests[0], &compiled::setting(&kernels, &file.base))
}

#[test]
fn one_specialization_id_of_two_types_takes_no_value() {
    let given = "specialization = { 0 = { value = 8 } }";
    assert!(with_one_id_for_two("float", "").is_ok());
    assert!(with_one_id_for_two("uint", given).is_ok());
    let Err(PrepareError::Input(diagnostics)) = with_one_id_for_two("float", given) else {
        panic!("it has two types")
    };
    assert!(
        diagnostics[0].message.contains("different types have the specialization id 0"),
        "{diagnostics:?}"
    );
}

#[test]
fn specialization_values_become_raw_bits() {
    let text = "specialization = { 0 = { value = 8 }, 3 = { type = \"bool\", value = true } }";
    let job = prepared(&corpus(BUFFERS, text, "")).unwrap().job;
    assert_eq!(job.dispatches[0].specialization, BTreeMap::from([(0, 8), (3, 1)]));
    let text = "specialization = { 0 = { bits = \"0xffffffff\" } }";
    assert_eq!(
        prepared(&corpus(BUFFERS, text, "")).unwrap().job.dispatches[0].specialization[&0],
        0xffff_ffff
    );
}

#[test]
fn an_address_stands_as_a_symbol_and_counts_as_defined() {
    let buffers = "a = { type = \"uint64\", count = 3, address_of = [{ at = 8, buffer = \"r\", offset = 4 }] }\nr = { type = \"float\", count = 16 }\nu = { type = \"vec4\", count = 5 }";
    let job = prepared(&corpus(buffers, "", "")).unwrap().job;
    let address = job.resources.addresses[0];
    assert_eq!(
        (address.place, address.at, address.target, address.offset),
        (AddressPlace::Buffer(0), 8, 1, 4)
    );
    assert_eq!(job.buffers[0].bytes[8..16], address_symbol(1, 4).to_le_bytes());
    assert_eq!(job.buffers[0].defined, std::slice::from_ref(&(8..16)));
}

#[test]
fn mismatches_are_counted_in_full_and_listed_up_to_the_bound() {
    let buffers = "a = { type = \"float\", data = [1] }\nr = { type = \"float\", fill = { constant = 1 }, count = 40 }\nu = { type = \"vec4\", count = 5 }\nz = { type = \"float\", fill = { iota = {} }, count = 40 }";
    let prepared =
        prepared(&corpus(buffers, "", "[[tests.expect]]\nbuffer = \"r\"\nequals_buffer = \"z\""))
            .unwrap();
    let judgement = judge_run(&prepared, &completed(&prepared.job), &mut no_reference).unwrap();
    assert_eq!(
        (judgement.verdict, judgement.mismatch_count, judgement.mismatches.len()),
        (Verdict::Fail, 39, 16)
    );
    let first = &judgement.mismatches[0];
    assert_eq!((first.offset, &first.expected, &first.actual), (0, &0.0.into(), &1.0.into()));
    assert_eq!(first.bits, "0x3f800000");
    assert!(judgement.reason.unwrap().contains("39 of 40"));
}

/// The verdict comes of all elements, whatever is listed of them.
#[test]
fn what_is_not_listed_fails_all_the_same() {
    let buffers = "a = { type = \"float\", data = [1] }\nr = { type = \"float\", fill = { constant = 1 }, count = 40 }\nu = { type = \"vec4\", count = 5 }\nz = { type = \"float\", fill = { iota = {} }, count = 40 }";
    for (order, wrong) in [("", 39), ("order = \"any\"", 39)] {
        let expect = format!("[[tests.expect]]\nbuffer = \"r\"\nequals_buffer = \"z\"\n{order}");
        let mut prepared = prepared(&corpus(buffers, "", &expect)).unwrap();
        for listed in [0, 1] {
            prepared.listed = listed;
            let judgement =
                judge_run(&prepared, &completed(&prepared.job), &mut no_reference).unwrap();
            assert_eq!(
                (judgement.verdict, judgement.mismatch_count),
                (Verdict::Fail, wrong),
                "{order} {listed}"
            );
            assert_eq!(judgement.mismatches.len(), listed);
            assert!(judgement.reason.unwrap().contains("39 of 40"));
        }
    }
}

#[test]
fn a_reference_gives_the_expected_contents() {
    let expect = "[[tests.expect]]\nbuffer = \"r\"\noffset = 4\nreference = { kernel = \"k\", groups = [1, 1, 1], bindings = [{ binding = 0, buffer = \"a\" }, { binding = 1, buffer = \"r\" }, { binding = 2, buffer = \"u\" }] }";
    let prepared = prepared(&corpus(BUFFERS, "", expect)).unwrap();
    let run = completed(&prepared.job);
    let verdict = |reference: &mut dyn vkcert::exec::judge::ReferenceRunner| {
        judge_run(&prepared, &run, reference)
            .map(|judgement| (judgement.verdict, judgement.mismatch_count))
            .unwrap()
    };
    assert_eq!(verdict(&mut |job: &Job| Ok(completed(job))), (Verdict::Pass, 0));
    let changed = &mut |job: &Job| {
        let mut run = completed(job);
        let left = Arc::make_mut(&mut run.buffers[1]);
        left[60] ^= 1;
        left[0] ^= 1; // before the offset
        Ok(run)
    };
    assert_eq!(verdict(changed), (Verdict::Fail, 1));
    let endless =
        &mut |_: &Job| Ok(Run::ended(Completion::NoTermination { reason: "steps".to_owned() }));
    assert_eq!(verdict(endless), (Verdict::Undetermined, 0));
}

#[test]
fn completions_map_to_verdicts() {
    let prepared = prepared(&corpus(BUFFERS, "", "")).unwrap();
    let reason = || "why".to_owned();
    for (completion, verdict) in [
        (Completion::Completed, Verdict::Pass),
        (Completion::Timeout { reason: reason() }, Verdict::Timeout),
        (Completion::NoTermination { reason: reason() }, Verdict::Timeout),
        (Completion::Unsupported { what: reason() }, Verdict::Unsupported),
        (Completion::Error { reason: reason() }, Verdict::Error),
        (Completion::Undetermined { reason: reason() }, Verdict::Undetermined),
    ] {
        let judgement = judge_run(&prepared, &Run::ended(completion), &mut no_reference).unwrap();
        assert_eq!(judgement.verdict, verdict);
        assert_eq!(judgement.reason.is_none(), verdict == Verdict::Pass);
    }
}

/// Fenced blocks of a document whose info string is `SYNTAX WHAT`.
fn blocks(document: &str, what: &str) -> Vec<(FileSyntax, String)> {
    let text = fs::read_to_string(root().join("docs").join(document)).unwrap();
    let mut blocks = Vec::new();
    for (syntax, fence) in [(FileSyntax::Toml, "toml"), (FileSyntax::Json, "json")] {
        for part in text.split(&format!("```{fence} {what}\n")).skip(1) {
            blocks.push((syntax, part.split("```").next().unwrap().to_owned()));
        }
    }
    assert!(!blocks.is_empty());
    blocks
}

#[test]
fn the_documented_procedures_load_prepare_and_round_trip() {
    for (syntax, text) in blocks("test-procedure.md", "procedure") {
        let file = parse(&text, syntax).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
        let kernels = compiled::kernels(&file);
        for test in &file.tests {
            prepare_test(test, &compiled::setting(&kernels, &file.base))
                .unwrap_or_else(|error| panic!("{error:?}"));
        }
        let json = serde_json::to_string_pretty(&file.procedure.value).unwrap();
        assert_eq!(parse(&json, FileSyntax::Json).unwrap().procedure.value, file.procedure.value);
        assert_eq!(serde_json::from_str::<Procedure>(&json).unwrap(), file.procedure.value);
        let toml = toml::to_string(&file.procedure.value).unwrap();
        assert_eq!(parse(&toml, FileSyntax::Toml).unwrap().procedure.value, file.procedure.value);
    }
}

fn documented_project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("glsl")).unwrap();
    fs::create_dir_all(folder.path().join("requirements")).unwrap();
    fs::write(folder.path().join("glsl/k.comp"), "#version 450\nvoid main() {}\n").unwrap();
    fs::write(folder.path().join("vkcert.toml"), &blocks("project.md", "project")[0].1).unwrap();
    let requirements = &blocks("requirements.md", "requirements")[0].1;
    fs::write(folder.path().join("requirements/all.toml"), requirements).unwrap();
    folder
}

#[test]
fn the_documented_project_loads_and_traces() {
    let folder = documented_project();
    let project =
        load_project(folder.path()).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
    let status = |verdicts: Vec<Verdict>| {
        let verdicts = BTreeMap::from([(project.tests[0].id, verdicts)]);
        let mut traces = trace_requirements(&project);
        assign_statuses(
            &mut traces,
            VerificationResults { verdicts: &verdicts, records: &[], code: &TestedCode::default() },
            Generation::Current,
        );
        traces.iter().map(|trace| trace.status).collect::<Vec<_>>()
    };
    use RequirementStatus::{Failed, Open, Untested, Verified, VerifiedByChildren};
    assert_eq!(status(vec![Verdict::Pass]), [VerifiedByChildren, Verified]);
    // Engines that are missing have no verdict: on one that is there the run ended before the test.
    assert_eq!(status(vec![Verdict::Pass, Verdict::NotRun]), [Open, Open]);
    assert_eq!(status(vec![Verdict::Pass, Verdict::Fail]), [Failed, Failed]);
    assert_eq!(status(vec![Verdict::NotRun]), [Open, Open]);
    let traces = trace_requirements(&project);
    assert_eq!(traces[1].file, "requirements/all.toml");
    assert_eq!(traces[1].code[0].line, Some(2));
    assert_eq!(traces[1].suspect_parents, [traces[0].requirement.uid]);
    assert_eq!(traces[0].children, [traces[1].requirement.uid]);
    let mut without_test = project.clone();
    without_test.tests.clear();
    assert!(trace_requirements(&without_test).iter().all(|trace| trace.status == Untested));
}

#[test]
fn a_link_with_the_parents_hash_is_not_suspect_until_the_parent_changes() {
    let folder = documented_project();
    let file = folder.path().join("requirements/all.toml");
    let text = fs::read_to_string(&file).unwrap();
    let project = load_project(folder.path()).unwrap();
    let hash = requirement_hash(&project.requirements[0]);
    let suspects = |text: &str| {
        fs::write(&file, text).unwrap();
        trace_requirements(&load_project(folder.path()).unwrap())[1].suspect_parents.len()
    };
    let pinned = text.replacen(&format!("sha256:{}", "0".repeat(64)), &hash, 1);
    assert_eq!(suspects(&pinned), 0);
    assert_eq!(suspects(&pinned.replace("shall write no element", "should write no element")), 1);
    // The parent's own links are not its content.
    assert_eq!(
        suspects(&pinned.replacen(
            "verification = [\"test\"]",
            "verification = [\"test\"]\nimplements = [{ file = \"glsl/k.comp\" }]",
            1
        )),
        0
    );
}

fn properties(schema: &serde_json::Value, names: &mut BTreeSet<String>) {
    if let Some(members) = schema.get("properties").and_then(|properties| properties.as_object()) {
        names.extend(members.keys().cloned());
    }
    match schema {
        serde_json::Value::Object(members) => {
            members.values().for_each(|member| properties(member, names))
        }
        serde_json::Value::Array(values) => {
            values.iter().for_each(|value| properties(value, names))
        }
        _ => {}
    }
}

#[test]
fn every_key_of_a_schema_stands_in_its_document() {
    let procedure = fs::read_to_string(root().join("docs/test-procedure.md")).unwrap();
    for (name, document) in [
        ("procedure", "test-procedure.md"),
        ("project", "project.md"),
        ("requirements", "requirements.md"),
    ] {
        let text = fs::read_to_string(root().join("docs").join(document)).unwrap() + &procedure;
        let mut names = BTreeSet::new();
        properties(&serde_json::from_str(&schema_text(name).unwrap()).unwrap(), &mut names);
        assert!(names.len() > 10);
        for key in &names {
            let words = text
                .split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
            assert!(
                words.into_iter().any(|word| word == key),
                "{document} does not explain `{key}`"
            );
        }
    }
    assert!(SCHEMAS.iter().all(|row| schema_text(row.name).is_some()));
    assert!(schema_text("nothing").is_none());
}

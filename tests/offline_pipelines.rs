//! Descriptions of Vulkan SC pipelines: what is wrong with one ends in a diagnostic with its place
//! and nothing is written; a description and its shader are inputs of the evidence.

use crate::support::{certify_sequentially, copy_tree, root, run, run_json, vkcert, write};
use serde_json::{Value, json};
use std::path::Path;

const FILE: &str = "pipelines/double.json";
const SHADER: &str = "shaders/d.spv";

/// The minimal project, whose host creates a pipeline from a description.
fn project(description: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_tree(&root().join("tests/projects/minimal"), folder.path());
    let file = "requirements/double.toml";
    let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
    let pipeline = format!("{text}\n[[interface.pipeline]]\nfile = \"{FILE}\"\n");
    write(folder.path(), file, pipeline);
    write(folder.path(), FILE, description);
    folder
}

fn description() -> Value {
    json!({
        "PipelineUUID": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255],
        "ComputePipelineState": {
            "DescriptorSetLayouts": [{ "Values": {
                "bindingCount": "1",
                "pBindings": [{
                    "binding": 0,
                    "descriptorType": "VK_DESCRIPTOR_TYPE_STORAGE_BUFFER",
                    "descriptorCount": 1,
                    "stageFlags": "VK_SHADER_STAGE_COMPUTE_BIT",
                    "pImmutableSamplers": "NULL",
                }],
            } }],
            "PipelineLayout": {
                "setLayoutCount": 1,
                "pSetLayouts": ["Values"],
                "pushConstantRangeCount": 1,
                "pPushConstantRanges": [
                    { "stageFlags": "VK_SHADER_STAGE_COMPUTE_BIT", "offset": 0, "size": "4" },
                ],
            },
            "ComputePipeline": { "stage": {
                "stage": "VK_SHADER_STAGE_COMPUTE_BIT",
                "pName": "main",
                "pSpecializationInfo": {
                    "mapEntryCount": 0, "pMapEntries": "NULL", "dataSize": 0, "pData": "NULL",
                },
            } },
        },
    })
}

/// The first error of a certification that writes nothing.
fn error_of(project: &Path) -> Value {
    let out = project.join("reports");
    let document = run_json(vkcert().arg("certify").arg(project).arg("--out").arg(&out), 2);
    assert!(!out.exists(), "something was written");
    document["error"].clone()
}

#[test]
fn a_description_that_contradicts_itself_is_told_in_its_place() {
    let layout = "/ComputePipelineState/PipelineLayout";
    let set = "/ComputePipelineState/DescriptorSetLayouts/0/Values";
    let stage = "/ComputePipelineState/ComputePipeline/stage";
    let constants = format!("{stage}/pSpecializationInfo");
    let entry = json!([{ "constantID": 0, "offset": 2, "size": "4" }]);
    let of = |place: &str| place.to_owned();
    let cases: Vec<(String, Value, &str)> = vec![
        (of("/PipelineUUID"), json!([1, 2]), "an identifier has 16 bytes, this one 2"),
        (format!("{layout}/setLayoutCount"), json!(2), "`setLayoutCount` is 2, and 1 are listed"),
        (format!("{layout}/pSetLayouts/0"), json!("Other"), "there is no set layout `Other`"),
        (format!("{layout}/pSetLayouts"), json!("NULL"), "`setLayoutCount` is 1, and 0 are listed"),
        (format!("{layout}/pPushConstantRanges/0/size"), json!(6), "multiples of 4"),
        (format!("{layout}/pPushConstantRanges/0/size"), json!("-4"), "expected a number"),
        (
            format!("{layout}/pPushConstantRanges/0/offset"),
            json!("99999999999999999999999"),
            "expected a number",
        ),
        (
            format!("{layout}/pPushConstantRanges/0/offset"),
            json!(4_294_967_296_u64),
            "has more than 32 bits",
        ),
        (format!("{set}/bindingCount"), json!(0), "`bindingCount` is 0, and 1 are listed"),
        (format!("{set}/pBindings/0/stageFlags"), json!("COMPUTE"), "expected names of stages"),
        (format!("{set}/pBindings"), json!("none"), "expected"),
        (format!("{stage}/stage"), json!("VK_SHADER_STAGE_VERTEX_BIT"), "not the compute stage"),
        (
            constants.clone(),
            json!({ "mapEntryCount": 1, "pMapEntries": entry, "dataSize": 4, "pData": [1, 2, 3, 4] }),
            "4 bytes from byte 2 on exceed the data of 4 bytes",
        ),
        (
            constants.clone(),
            json!({ "mapEntryCount": 0, "pMapEntries": [], "dataSize": 9, "pData": "AQIDBA==" }),
            "`dataSize` is 9, the data has 4 bytes",
        ),
        (format!("{constants}/pData"), json!("!"), "expected base64 or a list of bytes"),
        (format!("{constants}/pData"), json!([1, 256]), ""),
        (of("/ComputePipelineState"), json!({}), "is missing"),
    ];
    for (place, value, words) in cases {
        let mut changed = description();
        *changed.pointer_mut(&place).unwrap() = value;
        let project = project(&format!("{changed:#}"));
        let error = error_of(project.path());
        assert!(error["message"].as_str().unwrap().contains(words), "{place}: {error}");
        assert!(error["file"].as_str().unwrap().ends_with(FILE), "{place}: {error}");
        assert!(error["line"].as_u64().unwrap() > 0, "{place}: {error}");
    }
    let shader = json!({ "stage": "VK_SHADER_STAGE_COMPUTE_BIT", "filename": "k.spv" });
    let layout = "/ComputePipelineState/PipelineLayout";
    let additions = [
        (layout, "setLayoutCounts", json!(1), "setLayoutCounts"),
        ("", "GraphicsPipelineState", json!({}), "of a graphics pipeline, too"),
        (
            "/ComputePipelineState",
            "ShaderFileNames",
            json!([shader, shader]),
            "one shader of the compute stage",
        ),
        ("/ComputePipelineState", "ShaderFileNames", json!([{ "filename": "k.spv" }]), "`stage`"),
    ];
    for (place, key, value, words) in additions {
        let mut changed = description();
        changed.pointer_mut(place).unwrap()[key] = value;
        let project = project(&changed.to_string());
        let error = error_of(project.path());
        assert!(error["message"].as_str().unwrap().contains(words), "{key}: {error}");
    }
}

#[test]
fn text_that_is_no_description_is_refused() {
    let whole = description().to_string();
    let repeated =
        whole.replacen("\"bindingCount\":\"1\"", "\"bindingCount\":1,\"bindingCount\":1", 1);
    assert_ne!(repeated, whole);
    let deep = "[".repeat(1_000_000);
    let large = format!("{{\"x\":\"{}\"}}", "a".repeat(5 << 20));
    for text in ["", "[]", "{}", "\u{0}", &whole[..whole.len() / 2], &repeated, &deep, &large] {
        let project = project(text);
        let error = error_of(project.path());
        assert!(error["file"].as_str().unwrap().ends_with(FILE), "{error}");
    }
    let project = project(&whole);
    std::fs::remove_file(project.path().join(FILE)).unwrap();
    assert_eq!(error_of(project.path())["kind"], "missing-file");
}

#[test]
fn a_description_is_an_input_of_the_evidence() {
    let mut described = description();
    let shader =
        json!([{ "stage": "VK_SHADER_STAGE_COMPUTE_BIT", "filename": "../shaders/d.spv" }]);
    described["ComputePipelineState"]["ShaderFileNames"] = shader;
    let project = project(&described.to_string());
    run(vkcert().arg("build").arg(project.path()), 0);
    let built = project.path().join("spirv/double.spv");
    let module = std::fs::read(&built).unwrap();
    std::fs::remove_file(built).unwrap();
    write(project.path(), SHADER, &module);
    let reports = project.path().join("reports");
    certify_sequentially(project.path(), &reports).output().unwrap();
    let evidence = reports.join("evidence");
    let text = std::fs::read_to_string(evidence.join("campaign.json")).unwrap();
    let identity = "pipeline 000102030405060708090a0b0c0d0eff of pipelines/double.json";
    assert!(text.contains(identity), "{text}");
    assert!(text.contains("shaders/d.spv of pipelines/double.json is the production"), "{text}");
    let verify = |exit: i32| {
        let mut command = vkcert();
        command.arg("verify").arg(&evidence).arg("--project").arg(project.path());
        String::from_utf8(run(&mut command, exit).stdout).unwrap()
    };
    verify(0);
    write(project.path(), SHADER, &module[..module.len() - 4]);
    let told = verify(1);
    assert!(told.contains(SHADER), "{told}");
    write(project.path(), SHADER, module);
    verify(0);
    described["PipelineUUID"][0] = json!(9);
    write(project.path(), FILE, described.to_string());
    let told = verify(1);
    assert!(told.contains(FILE), "{told}");
}

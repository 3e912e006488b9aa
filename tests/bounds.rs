//! Agreement within the error bounds of the Vulkan specification: results of the sequential engine
//! lie within them, results of a device that do so are no disagreement, and those that do not are
//! findings.

use crate::support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use support::*;
use vkcert::exec::sequential::{
    Direction, Flush, Preferred, Products, SequentialExecutor, Variation,
};
use vkcert::exec::vulkan::{DeviceChoice, Settings, VulkanExecutor};
use vkcert::exec::{
    Completion, Executor, Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording,
    Unobserved,
};
use vkcert::glsl::{self, KernelSource};
use vkcert::model::finding::Checks;
use vkcert::model::procedure::Limits;
use vkcert::spirv::precision::{BoundedOperation, FloatWidth, PermittedRounding, bounds_of};

const INPUTS: [[f32; 3]; 8] = [
    [0.75, 1.5, 2.25],
    [0.1, 0.3, 0.7],
    [0.999, 0.001, 1.5],
    [0.5, 2.5, -3.75],
    [0.3333, 0.7777, 0.1111],
    [0.9, 1.1, 1.0e-3],
    [0.0625, 3.0, 1.0],
    [0.2, 0.6, -0.4],
];

/// A kernel with one result per invocation.
fn kernel(statement: &str) -> String {
    format!(
        "#version 450
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer A {{ float a[][3]; }};
layout(std430, binding = 1) buffer R {{ float r[]; }};
void main() {{
    uint i = gl_GlobalInvocationID.x;
    float x = a[i][0], y = a[i][1], z = a[i][2];
    {statement}
}}"
    )
}

fn job(text: &str, inputs: &[u8]) -> Job {
    let source = KernelSource::alone("k.comp", text, "vulkan1.2");
    let words =
        glsl::compile(&source).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).production;
    #[allow(clippy::single_range_in_vec_init)]
    let buffer = |name: &str, bytes: Vec<u8>| JobBuffer {
        name: name.to_owned(),
        defined: vec![0..bytes.len()],
        bytes: bytes.into(),
    };
    let buffers = vec![buffer("a", inputs.to_vec()), buffer("r", vec![0; 32])];
    let bindings = buffers.iter().enumerate().map(|(index, buffer)| {
        JobBinding::storage(0, index as u32, index, buffer.bytes.len() as u64)
    });
    let dispatch = JobDispatch {
        module: 0,
        entry: "main".to_owned(),
        groups: [1, 1, 1],
        bindings: bindings.collect(),
        push_constants: Vec::new(),
        push_constants_defined: Vec::new(),
        specialization: BTreeMap::new(),
        subgroup_size: None,
    };
    Job {
        name: "bounds".to_owned(),
        modules: vec![JobModule {
            key: "k".into(),
            words: Arc::new(words),
            recording: ModuleRecording::None,
        }],
        buffers,
        dispatches: vec![dispatch],
        resources: Default::default(),
        limits: Limits { seconds: 60.0, ..Limits::default() },
        checks: Checks::none(),
    }
}

fn bytes(inputs: &[[f32; 3]]) -> Vec<u8> {
    inputs.iter().flatten().flat_map(|value| value.to_le_bytes()).collect()
}

fn results(job: &Job, variation: Option<Variation>) -> Vec<f32> {
    let mut engine = SequentialExecutor::default();
    engine.settings.variation = variation;
    let run = engine.run(job, &mut Unobserved).unwrap();
    assert_eq!(run.completion, Completion::Completed);
    run.buffers[1].chunks(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn toward(direction: Direction) -> Variation {
    Variation { direction, rounding: PermittedRounding::Any, ..Variation::NONE }
}

/// GLSL on x, y, z; the operation of the table; its operands.
type One = (&'static str, BoundedOperation, fn([f32; 3]) -> Vec<f32>);

/// One operation each.
fn operations() -> Vec<One> {
    use rspirv::spirv::{GlslStd450Op as G, Op};
    use vkcert::spirv::precision::BoundedOperation::{Core, Extended};
    let unary = |[x, _, _]: [f32; 3]| vec![x];
    let binary = |[x, y, _]: [f32; 3]| vec![x, y];
    let ternary = |[x, y, z]: [f32; 3]| vec![x, y, z];
    vec![
        ("x + y", Core(Op::FAdd), binary),
        ("x - y", Core(Op::FSub), binary),
        ("x * y", Core(Op::FMul), binary),
        ("x / y", Core(Op::FDiv), binary),
        ("mod(x, y)", Core(Op::FMod), binary),
        ("sqrt(x)", Extended(G::Sqrt), unary),
        ("inversesqrt(x)", Extended(G::InverseSqrt), unary),
        ("exp(x)", Extended(G::Exp), unary),
        ("exp2(x)", Extended(G::Exp2), unary),
        ("log(x)", Extended(G::Log), unary),
        ("log2(x)", Extended(G::Log2), unary),
        ("pow(x, y)", Extended(G::Pow), binary),
        ("sin(x)", Extended(G::Sin), unary),
        ("cos(x)", Extended(G::Cos), unary),
        ("tan(x)", Extended(G::Tan), unary),
        ("asin(x)", Extended(G::Asin), unary),
        ("acos(x)", Extended(G::Acos), unary),
        ("atan(x)", Extended(G::Atan), unary),
        ("atan(x, y)", Extended(G::Atan2), binary),
        ("sinh(x)", Extended(G::Sinh), unary),
        ("cosh(x)", Extended(G::Cosh), unary),
        ("tanh(x)", Extended(G::Tanh), unary),
        ("asinh(x)", Extended(G::Asinh), unary),
        ("acosh(x + 1.0)", Extended(G::Acosh), |[x, _, _]| vec![x + 1.0]),
        ("atanh(x)", Extended(G::Atanh), unary),
        ("fma(x, y, z)", Extended(G::Fma), ternary),
        ("mix(x, y, z)", Extended(G::FMix), ternary),
        ("radians(x)", Extended(G::Radians), unary),
        ("degrees(x)", Extended(G::Degrees), unary),
        ("fract(-x)", Extended(G::Fract), |[x, _, _]| vec![-x]),
        ("smoothstep(-1.0, 4.0, x)", Extended(G::SmoothStep), |[x, _, _]| vec![-1.0, 4.0, x]),
    ]
}

/// The engine's own result lies in the range, and runs that go up and down give its ends.
#[test]
fn runs_up_and_down_give_the_ends_of_what_is_permitted() {
    for (text, operation, operands) in operations() {
        // An addition inside an operand is varied itself: the range is then that of the operand as
        // it is.
        let nested =
            text.contains('+') && operation != BoundedOperation::Core(rspirv::spirv::Op::FAdd);
        let job = job(&kernel(&format!("r[i] = {text};")), &bytes(&INPUTS));
        let [plain, down, up] = [None, Some(toward(Direction::Down)), Some(toward(Direction::Up))]
            .map(|variation| results(&job, variation));
        let mut wide = 0;
        for (at, input) in INPUTS.iter().enumerate() {
            let operands: Vec<f64> = operands(*input).into_iter().map(f64::from).collect();
            let Some(range) =
                bounds_of(operation).unwrap().permitted_range(&operands, FloatWidth::Single)
            else {
                assert_eq!((plain[at], plain[at]), (down[at], up[at]), "{text} of {input:?}");
                continue;
            };
            let what = format!("{text} of {input:?}: {} in {range:?}", plain[at]);
            assert!(
                range.low <= f64::from(plain[at]) && f64::from(plain[at]) <= range.high,
                "{what}"
            );
            if !nested {
                assert_eq!(
                    (f64::from(down[at]), f64::from(up[at])),
                    (range.low, range.high),
                    "{what}"
                );
            }
            wide += u32::from(down[at] < up[at]);
        }
        assert!(wide > 0, "{text}: nothing was varied");
    }
}

/// Every variation of every operation, and chains of them: the ordinary result lies in the hull of
/// the others.
#[test]
fn variations_are_permitted_whatever_their_direction() {
    for (text, operation, operands) in operations() {
        let job = job(&kernel(&format!("r[i] = {text};")), &bytes(&INPUTS));
        for variation in Variation::ALL {
            let varied = results(&job, Some(*variation));
            for (at, input) in INPUTS.iter().enumerate().filter(|_| !text.contains("+ 1.0")) {
                let operands: Vec<f64> = operands(*input).into_iter().map(f64::from).collect();
                let Some(range) =
                    bounds_of(operation).unwrap().permitted_range(&operands, FloatWidth::Single)
                else {
                    continue;
                };
                let value = f64::from(varied[at]);
                assert!(
                    range.low <= value && value <= range.high,
                    "{text} of {input:?}: {value} {range:?} {variation:?}"
                );
            }
        }
    }
}

fn contracted() -> Variation {
    preferring(Preferred::First)
}

fn preferring(preferred: Preferred) -> Variation {
    let products = Products::Contracted(preferred);
    Variation { rounding: PermittedRounding::Nearest, products, ..toward(Direction::Ordinary) }
}

#[test]
fn of_a_sum_of_two_products_either_is_contracted() {
    let two = job(&kernel("r[i] = x * y + z * x;"), &bytes(&INPUTS));
    let first = INPUTS.map(|[x, y, z]| x.mul_add(y, z * x));
    let second = INPUTS.map(|[x, y, z]| z.mul_add(x, x * y));
    assert_ne!(first, second, "the inputs show no difference");
    assert_eq!(results(&two, Some(preferring(Preferred::First))), first);
    assert_eq!(results(&two, Some(preferring(Preferred::Second))), second);
    let ordered: Vec<_> = Variation::ALL.iter().map(|variation| variation.products).collect();
    for preferred in [Preferred::First, Preferred::Second] {
        assert!(ordered.contains(&Products::Contracted(preferred)), "{preferred:?} is tried");
    }
}

#[test]
fn products_are_contracted_unless_the_source_says_precise() {
    type Contracted = fn([f32; 3]) -> f32;
    let cases: [(&str, Contracted); 4] = [
        ("x * y + z", |[x, y, z]| x.mul_add(y, z)),
        ("z + x * y", |[x, y, z]| x.mul_add(y, z)),
        ("x * y - z", |[x, y, z]| x.mul_add(y, -z)),
        ("z - x * y", |[x, y, z]| (-x).mul_add(y, z)),
    ];
    for (text, expected) in cases {
        let free = job(&kernel(&format!("float p = {text}; r[i] = p;")), &bytes(&INPUTS));
        assert_eq!(results(&free, Some(contracted())), INPUTS.map(expected), "{text}");
        assert_ne!(
            results(&free, None),
            INPUTS.map(expected),
            "{text}: the inputs show no difference"
        );
        let fixed = job(&kernel(&format!("precise float p = {text}; r[i] = p;")), &bytes(&INPUTS));
        assert_eq!(results(&fixed, Some(contracted())), results(&free, None), "{text}");
    }
    let variable = job(&kernel("float p = x * y; r[i] = p + z;"), &bytes(&INPUTS));
    assert_eq!(results(&variable, Some(contracted())), INPUTS.map(|[x, y, z]| x.mul_add(y, z)));
    // A factor that has changed since: its old value is gone, and the product must stay what it
    // was.
    let changed = job(&kernel("float p = x * y; x = 2.0 * y; r[i] = p + z;"), &bytes(&INPUTS));
    assert_eq!(results(&changed, Some(contracted())), results(&changed, None));
}

#[test]
fn denormals_are_flushed_where_no_mode_forbids_it() {
    let flush = Variation {
        flush: Flush::ToZero,
        rounding: PermittedRounding::Nearest,
        ..toward(Direction::Ordinary)
    };
    let small = [[1.0e-30, 1.0e-10, 1.0e-40]; 8];
    for (text, plain, flushed) in [
        ("x * y", 1.0e-30_f32 * 1.0e-10, 0.0),
        ("z * 1.0e10", 1.0e-40_f32 * 1.0e10, 0.0),
        ("float(i + 5u) * 0.5", 2.5, 2.5),
        ("z > 0.0 ? 1.0 : 2.0", 1.0, 2.0),
    ] {
        let job = job(&kernel(&format!("r[i] = {text};")), &bytes(&small));
        assert_eq!(results(&job, None)[0], plain, "{text}");
        assert_eq!(results(&job, Some(flush))[0], flushed, "{text}");
    }
    let preserving = kernel("r[i] = x * y;").replace(
        "layout(local_size_x = 8) in;",
        "#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [4464], 4459, 32);
layout(local_size_x = 8) in;",
    );
    let preserving = job(&preserving, &bytes(&small));
    assert_eq!(results(&preserving, Some(flush))[0], 1.0e-30 * 1.0e-10);
}

/// The document's table has every row of the program's.
#[test]
fn every_bound_is_documented() {
    let document = std::fs::read_to_string(root().join("docs/agreement.md")).unwrap();
    let table = document.split("### The bounds").nth(1).unwrap();
    for row in vkcert::spirv::precision::TABLE.iter() {
        let name = match row.operation {
            BoundedOperation::Core(op) => format!("`Op{op:?}`"),
            BoundedOperation::Extended(op) => format!("`{op:?}`"),
            BoundedOperation::NormalizedComponent => "`Normalize`".to_owned(),
            // Described with the runs, not among the bounds.
            BoundedOperation::Contracted => continue,
        };
        assert!(table.contains(&name), "{name}");
    }
    let runs = document.split("### The bounds").next().unwrap();
    assert!(runs.contains(&format!("the {} are made only", Variation::ALL.len())));
}

// ---- both engines ----

/// Whether there is a device; required where the machine says so.
fn device() -> bool {
    match VulkanExecutor::new(DeviceChoice::Best, Settings::new(env!("CARGO_BIN_EXE_vkcert"))) {
        Ok(_) => true,
        Err(error) => {
            assert!(std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(), "{error}");
            eprintln!("NOT RUN: no Vulkan device ({error})");
            false
        }
    }
}

fn procedure(text: &str, result: &str, tolerance: Option<f64>) -> Value {
    let inputs: Vec<f32> = INPUTS.iter().flatten().copied().collect();
    let mut test = json!({
        "id": "T",
        "buffers": {"a": {"type": "float", "data": inputs}, "r": {"type": result, "count": 8, "fill": {"constant": 0}}},
        "dispatches": [{"kernel": "k", "groups": [1, 1, 1], "bindings": [
            {"set": 0, "binding": 0, "buffer": "a"}, {"set": 0, "binding": 1, "buffer": "r"}]}],
        "expect": []
    });
    if let Some(abs) = tolerance {
        test["expect"] = json!([{"buffer": "r", "type": "float", "values": [0, 0, 0, 0], "tolerance": {"abs": abs}}]);
    }
    json!({"schema": 1, "kernels": {"k": {"source": {"text": text}, "language": "glsl"}}, "tests": [test]})
}

fn on_both(procedure: &Value, fault: &str, exit: i32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "t.json", procedure.to_string());
    run_json(
        vkcert()
            .args(["run", "--engine", "both", "--dump-buffers"])
            .arg(file)
            .env("VKCERT_WORKER_FAULT", fault),
        exit,
    )
}

fn findings(result: &Value) -> Vec<Value> {
    result["tests"][0]["findings"].as_array().unwrap().clone()
}

#[test]
fn float_kernels_do_not_disagree_on_a_right_driver() {
    if !device() {
        return;
    }
    let mut within = Vec::new();
    let chains = [
        "x / y + sqrt(z * z + x)",
        "dot(vec3(x, y, z), vec3(y, z, x))",
        "length(vec2(x, y)) * exp(-y)",
        "normalize(vec3(x, y, z)).y",
        "distance(vec2(x, y), vec2(z, x))",
        "pow(x, y) / (1.0 + exp(z))",
        "sin(x) * cos(y) + tan(x)",
    ];
    let all = operations().into_iter().map(|(text, _, _)| text).chain(chains);
    for text in all {
        let result = on_both(&procedure(&kernel(&format!("r[i] = {text};")), "float", None), "", 0);
        assert_eq!(findings(&result), Vec::<Value>::new(), "{text}");
        let notes = result["tests"][1]["notes"].to_string();
        if notes.contains("within the error bounds") {
            within.push(format!("{text}: {notes}"));
        }
    }
    println!("{}", within.join("\n"));
    // Devices compute at least one of the transcendental functions otherwise than the C library.
    assert!(!within.is_empty());
}

#[test]
fn a_device_that_leaves_a_value_outside_is_found() {
    if !device() {
        return;
    }
    // One bit of a quotient: within 2.5 units in the last place.
    let quotient = kernel("r[i] = x / y;");
    let nudged = on_both(&procedure(&quotient, "float", None), "nudge", 0);
    assert!(
        nudged["tests"][1]["notes"][0].as_str().unwrap().contains("1 element differs within"),
        "{nudged:#}"
    );
    // The same bit of an exact result is none that any run leaves.
    let exact = on_both(&procedure(&kernel("r[i] = floor(10.0 * x);"), "float", None), "nudge", 1);
    assert_eq!(findings(&exact)[0]["details"]["permitted"], json!([[7.0, 7.0]]), "{exact:#}");
    let integer = kernel("r[i] = int(100.0 * x);").replace("buffer R { float", "buffer R { int");
    let integer = on_both(&procedure(&integer, "int", None), "nudge", 1);
    assert_eq!(findings(&integer)[0]["details"]["permitted"], json!([[75]]));
    assert_eq!(findings(&integer)[0]["details"]["vulkan"], json!(74));
    // Twice the quotient: outside, with its place and the values.
    let deviating = on_both(&procedure(&quotient, "float", None), "deviate", 1);
    let finding = &findings(&deviating)[0];
    assert_eq!(finding["kind"], "engine-disagreement");
    let details = &finding["details"];
    for (name, expected) in [
        ("buffer", json!("r")),
        ("element", json!("r[0]")),
        ("offset", json!(0)),
        ("type", json!("float")),
        ("sequential", json!(0.5)),
        ("vulkan", json!(1.0)),
        ("sequential_bits", json!("0x3f000000")),
        ("vulkan_bits", json!("0x3f800000")),
        ("elements", json!(1)),
        ("outside", json!(1)),
        ("runs", json!(Variation::ALL.len())),
    ] {
        assert_eq!(details[name], expected, "{name}: {finding:#}");
    }
    let permitted =
        [0, 1].map(|end| &details["permitted"][0][end]).map(|value| value.as_f64().unwrap());
    assert!(
        permitted[0] < 0.5
            && permitted[0] > 0.49999
            && permitted[1] > 0.5
            && permitted[1] < 0.50001,
        "{details:#}"
    );
}

/// x / y is 0.5 for the first invocation, and may be a little more: the result is 0 or 1 and
/// nothing between them.
#[test]
fn what_lies_between_the_results_of_a_decision_is_not_permitted() {
    if !device() {
        return;
    }
    let shared = "s[i] = x / y > 0.5 ? 1.0 : 0.0;\n    barrier();\n    r[i] = s[i ^ 1u] + s[i];";
    let through_memory = kernel(shared).replace("void main", "shared float s[8];\nvoid main");
    let branch =
        "if (x / y > 0.5) {\n        r[i] = 1.0;\n    } else {\n        r[i] = 0.0;\n    }";
    for text in [
        kernel("r[i] = x / y > 0.5 ? 1.0 : 0.0;"),
        kernel(branch),
        kernel("r[i] = floor(1.5 - x / y);"),
        kernel("r[i] = float(int(1.5 - x / y));"),
        kernel("r[i] = step(-0.5, -(x / y));"),
        through_memory,
    ] {
        // Without the fault the engines agree, with it the device leaves a number between 0 and 1,
        // or 2.
        on_both(&procedure(&text, "float", None), "", 0);
        let result = on_both(&procedure(&text, "float", None), "deviate", 1);
        let permitted = &findings(&result)[0]["details"]["permitted"];
        let spans: Vec<_> =
            permitted.as_array().unwrap().iter().map(|span| span.to_string()).collect();
        assert!(
            spans.contains(&"[0.0,0.0]".to_owned()) && spans.contains(&"[1.0,1.0]".to_owned()),
            "{text}\n{spans:?}"
        );
    }
}

#[test]
fn a_tolerance_covers_the_elements_that_it_judges_and_no_others() {
    if !device() {
        return;
    }
    let quotient = kernel("r[i] = x / y;");
    // The first four elements are expected within 10000: the deviation of the first is tolerated.
    on_both(&procedure(&quotient, "float", Some(1e4)), "deviate", 0);
    let mut later = procedure(&quotient, "float", Some(1e4));
    later["tests"][0]["expect"][0]["offset"] = json!(16);
    let result = on_both(&later, "deviate", 1);
    assert_eq!(findings(&result)[0]["details"]["element"], "r[0]", "{result:#}");
}

/// A kernel that writes a function of 16 floats to an image of some format.
fn picture(format: &str, expression: &str, range: [f32; 2]) -> Value {
    let text = format!(
        "#version 450
layout(local_size_x = 16) in;
layout({format}, binding = 0) uniform writeonly image2D o;
layout(binding = 1) buffer B {{ float f[]; }};
void main() {{
    int i = int(gl_GlobalInvocationID.x);
    imageStore(o, ivec2(i % 4, i / 4), vec4({expression}, 0.25, 0.5, 1.0));
}}"
    );
    json!({ "schema": 1, "kernels": { "k": { "source": { "text": text } } }, "tests": [{
        "id": "T",
        "buffers": { "b": { "type": "float", "count": 16,
                            "fill": { "random": { "seed": 3, "min": range[0], "max": range[1] } } } },
        "images": { "o": { "dim": "2d", "format": format, "extent": [4, 4], "fill": { "constant": 0 } } },
        "dispatches": [{ "kernel": "k", "groups": [1, 1, 1], "bindings": [
            { "binding": 0, "image": "o", "class": "storage_image" }, { "binding": 1, "buffer": "b" }] }]
    }] })
}

#[test]
fn images_are_compared_by_component_within_the_bounds() {
    if !device() {
        return;
    }
    for (format, range) in
        [("rgba32f", [-4.0, 4.0]), ("rgba16f", [-4.0, 4.0]), ("rgba8", [-5.0, 0.0])]
    {
        on_both(&picture(format, "exp(f[i])", range), "", 0);
    }
    // One float of the last buffer in the list, which is the image, is doubled or halved.
    let result = on_both(&picture("rgba32f", "exp(f[i])", [-4.0, 4.0]), "deviate", 1);
    let details = &findings(&result)[0]["details"];
    assert_eq!(
        (&details["element"], &details["type"]),
        (&json!("texel (0, 0, 0) red"), &json!("float")),
        "{details:#}"
    );
}

#[test]
fn a_mismatch_of_an_image_names_texel_and_component() {
    let mut procedure = picture("rgba32f", "f[i]", [0.0, 1.0]);
    let wrong = json!([[9.0, 0.25, 0.5, 1.0]]);
    procedure["tests"][0]["expect"] = json!([{ "image": "o", "offset": 80, "values": wrong }]);
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "t.json", procedure.to_string());
    let mut command = vkcert();
    command.args(["run", "--engine", "sequential"]).arg(&file);
    let result = run_json(&mut command, 1);
    let mismatch = &result["tests"][0]["mismatches"][0];
    assert_eq!(
        mismatch["texel"],
        json!({"level": 0, "layer": 0, "texel": [1, 1, 0], "component": 0}),
        "{mismatch:#}"
    );
    let text = run(vkcert().args(["run", "--engine", "sequential"]).arg(&file), 1);
    assert!(String::from_utf8_lossy(&text.stdout).contains("o, texel (1, 1, 0) red: expected 9"));
}

/// Whatever the expansion, results are those of the same matrix; for one that is nearly singular
/// they differ.
#[test]
fn determinants_and_inverses_in_other_orders_are_of_the_same_matrix() {
    let size = |n: usize| {
        kernel(&format!(
            "mat{n} m = mat{n}(1.0);
    for (int c = 0; c < {n}; ++c) for (int d = 0; d < {n}; ++d) m[c][d] = float(c == d) * 3.0 + a[i][(c * 2 + d) % 3] * float(c - 2 * d);
    r[i] = i < 4u ? determinant(m) : inverse(m)[i % {n}u][(i / 2u) % {n}u];"
        ))
    };
    for n in 2..=4 {
        let job = job(&size(n), &bytes(&INPUTS));
        let ordinary = results(&job, None);
        let mut changed = 0;
        for variation in Variation::MATRICES {
            let varied = results(&job, Some(*variation));
            for (left, right) in ordinary.iter().zip(&varied) {
                assert!(
                    (left - right).abs() <= 1e-4 * left.abs().max(1.0),
                    "{n} {variation:?}: {left} {right}"
                );
                changed += u32::from(left != right);
            }
        }
        assert!(changed > 0, "no expansion of {n} rows rounds otherwise");
    }
}

/// The device's first element is another one; only where it comes from an undefined value is that
/// no disagreement.
#[test]
fn what_comes_from_an_undefined_value_may_be_anything_on_the_device() {
    if !device() {
        return;
    }
    for (statement, kinds) in [
        ("r[i] = ldexp(x, 200);", &["undefined-value"][..]),
        ("r[i] = ldexp(x, 200) > 0.0 ? x : y;", &["undefined-value"]),
        ("float unused = ldexp(z, 200);\n    r[i] = x;", &["engine-disagreement"]),
        ("r[i] = i < 4u ? x : ldexp(x, 200);", &["undefined-value", "engine-disagreement"]),
    ] {
        let result = on_both(&procedure(&kernel(statement), "float", None), "deviate", 1);
        let told: BTreeSet<String> =
            findings(&result).iter().map(|one| one["kind"].as_str().unwrap().into()).collect();
        assert_eq!(
            told,
            kinds.iter().map(|kind| kind.to_string()).collect(),
            "{statement}: {result:#}"
        );
    }
}

/// The device's first element has another bit 0 (`nudge`) or bit 23 (`deviate`); only where that
/// bit depends on an undefined value is it no disagreement.
#[test]
fn bits_that_depend_on_no_undefined_value_are_compared() {
    if !device() {
        return;
    }
    for (value, fault, depends) in [
        ("(u & 1u) | 0xf0u", "nudge", true),
        ("(u & 1u) | 0xf0u", "deviate", false),
        ("(u & 0x00800000u) | 1u", "nudge", false),
        ("(u & 0x00800000u) | 1u", "deviate", true),
        ("u", "deviate", true),
        ("min(u, 12u)", "nudge", true),
        ("packHalf2x16(vec2(uintBitsToFloat(u), 1.0))", "nudge", true),
        ("packHalf2x16(vec2(uintBitsToFloat(u), 1.0))", "deviate", false),
    ] {
        let text = kernel(&format!("uint u = 1u << (40u + uint(x * 0.0));\n    r[i] = {value};"));
        let text = text.replace("buffer R { float", "buffer R { uint");
        let result = on_both(&procedure(&text, "uint", None), fault, 1);
        let disagreement = disagreements(&result);
        assert_eq!(disagreement.is_empty(), depends, "{value} {fault}: {result:#}");
        if let Some(finding) = disagreement.first() {
            let message = finding["message"].as_str().unwrap();
            assert!(
                message.contains("more bits than depend on an undefined value (0x"),
                "{message}"
            );
        } else {
            let notes = result["tests"][1]["notes"].to_string();
            assert!(notes.contains("undefined value"), "{value} {fault}: {notes}");
        }
    }
}

/// Runs with other undefined values have the subgroups of the device, as the ordinary run has: what
/// the size of a subgroup alone decides does not depend on an undefined value.
#[test]
fn runs_with_other_undefined_values_have_the_subgroups_of_the_device() {
    if !device() {
        return;
    }
    let text = kernel("float unused = ldexp(z, 200);\n    r[i] = float(gl_SubgroupSize);");
    let text = text
        .replace("#version 450", "#version 450\n#extension GL_KHR_shader_subgroup_basic : require");
    let mut procedure = procedure(&text, "float", None);
    procedure["kernels"]["k"]["target_env"] = json!("vulkan1.2");
    let (kinds, _) = kinds_and_notes(&on_both(&procedure, "deviate", 1));
    assert!(kinds.contains("engine-disagreement"), "{kinds:?}");
}

/// Kinds of findings, and notes that tell of vectors that follow undefined values.
fn kinds_and_notes(result: &Value) -> (BTreeSet<String>, Vec<String>) {
    let notes = result["tests"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|test| test["notes"].as_array().unwrap());
    let notes = notes
        .map(|note| note.as_str().unwrap().to_owned())
        .filter(|note| note.contains("it follows"));
    let kinds =
        findings(result).iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect();
    (kinds, notes.collect())
}

/// The device loses the last bit of its records, the vector T of D1. Only where other undefined
/// values lose it too, and a finding tells of one, is that no disagreement.
#[test]
fn a_vector_that_follows_an_undefined_value_is_no_disagreement_of_its_own() {
    if !device() {
        return;
    }
    let note =
        "D1 `v > 0.0`: vector T on sequential alone: it follows an undefined value at k.comp:8";
    for (statement, follows) in [
        ("float v = ldexp(x, 200);\n    if (v > 0.0) {\n        r[i] = 1.0;\n    }", true),
        // Some invocations decide on a value that is defined.
        (
            "float v = i < 1u ? x : ldexp(x, 200);\n    if (v > 0.0) {\n        r[i] = 1.0;\n    }",
            false,
        ),
        // Told, and nothing comes of it in the decision.
        (
            "r[i] = ldexp(x, 200); float v = x;\n    if (v > 0.0) {\n        r[i] += 0.0;\n    }",
            false,
        ),
    ] {
        let result = on_both(&procedure(&kernel(statement), "float", None), "forget-last", 1);
        let (kinds, notes) = kinds_and_notes(&result);
        assert!(kinds.contains("undefined-value"), "{statement}: {result:#}");
        assert_eq!(kinds.contains("engine-disagreement"), !follows, "{statement}: {result:#}");
        assert_eq!(
            notes.iter().any(|told| told.starts_with(note)),
            follows,
            "{statement}: {notes:?}"
        );
    }
}

fn disagreements(result: &Value) -> Vec<Value> {
    findings(result).into_iter().filter(|one| one["kind"] == "engine-disagreement").collect()
}

/// The device has the vector T as of invocation 0. Other invocations could have it by an undefined
/// value; only where that one could is it no disagreement.
#[test]
fn an_undefined_value_excuses_no_vector_of_another_invocation() {
    if !device() {
        return;
    }
    for (value, follows) in [
        ("-ldexp(x, 200)", true),
        ("i < 1u ? -1.0 : -ldexp(x, 200)", false),
        ("i > 6u ? -1.0 : -ldexp(x, 200)", true),
        ("i > 0u && i < 4u ? -ldexp(x, 200) : -1.0", false),
    ] {
        let text = kernel(&format!(
            "float v = {value};\n    if (v > 0.0) {{\n        r[i] = 1.0;\n    }}"
        ));
        let result = on_both(&procedure(&text, "float", None), "invent", 1);
        let (_, notes) = kinds_and_notes(&result);
        assert_eq!(
            notes.iter().any(|note| note.contains("vector T on vulkan alone: it follows")),
            follows,
            "{result:#}"
        );
        let found = disagreements(&result);
        assert_eq!(found.is_empty(), follows, "{value}: {result:#}");
        for finding in found {
            assert_eq!(finding["invocations"], json!([[0, 0, 0]]), "{finding:#}");
            assert_eq!(
                finding["details"]["undefined_values"], "of-other-invocations",
                "{finding:#}"
            );
            let told = "no run with other undefined values agrees with vulkan on invocation (0, 0, 0) of dispatch 0;";
            assert!(finding["message"].as_str().unwrap().contains(told), "{finding:#}");
        }
    }
}

/// The same invocation of another dispatch is another one.
#[test]
fn an_undefined_value_excuses_no_vector_of_another_dispatch() {
    if !device() {
        return;
    }
    let text = kernel(
        "float v = p > 0.5 ? -1.0 : -ldexp(x, 200);\n    if (v > 0.0) {\n        r[i] = 1.0;\n    }",
    );
    let text =
        text.replace("void main", "layout(push_constant) uniform P { float p; };\nvoid main");
    for (pushed, follows) in [([1.0, 0.0], false), ([0.0, 1.0], true), ([0.0, 0.0], true)] {
        let mut procedure = procedure(&text, "float", None);
        let mut dispatches = vec![procedure["tests"][0]["dispatches"][0].clone(); 2];
        dispatches
            .iter_mut()
            .zip(pushed)
            .for_each(|(one, p)| one["push_constants"] = json!({"p": p}));
        procedure["tests"][0]["dispatches"] = json!(dispatches);
        let result = on_both(&procedure, "invent", 1);
        assert_eq!(disagreements(&result).is_empty(), follows, "{pushed:?}: {result:#}");
    }
}

/// A kernel under two specializations is recorded under each by itself, and only one of them has
/// undefined values.
#[test]
fn an_undefined_value_excuses_no_vector_of_another_specialization() {
    if !device() {
        return;
    }
    let text = kernel("float v = -ldexp(x, N);\n    if (v > 0.0) {\n        r[i] = 1.0;\n    }");
    let text = text.replace("void main", "layout(constant_id = 0) const int N = 2;\nvoid main");
    for (exponents, follows) in [([1, 200], false), ([200, 1], true)] {
        let mut procedure = procedure(&text, "float", None);
        let mut dispatches = vec![procedure["tests"][0]["dispatches"][0].clone(); 2];
        dispatches.iter_mut().zip(exponents).for_each(|(one, n)| {
            one["specialization"] = json!({"0": {"type": "int", "value": n}});
        });
        procedure["tests"][0]["dispatches"] = json!(dispatches);
        let result = on_both(&procedure, "invent", 1);
        assert_eq!(disagreements(&result).is_empty(), follows, "{exponents:?}: {result:#}");
    }
}

/// The device records something else in the run with slots.
#[test]
fn a_run_with_slots_that_records_otherwise_excuses_nothing() {
    if !device() {
        return;
    }
    let text = kernel("float v = -ldexp(x, 200);\n    if (v > 0.0) {\n        r[i] = 1.0;\n    }");
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "t.json", procedure(&text, "float", None).to_string());
    let once = |fault: &str| {
        let mut command = vkcert();
        command
            .args(["run", "--engine", "both", "--repeat", "1"])
            .arg(&file)
            .env("VKCERT_WORKER_FAULT", fault);
        disagreements(&run_json(&mut command, 1))
    };
    assert_eq!(once("invent"), Vec::<Value>::new());
    let found = once("invent,waver-records");
    let told = "with a slot for each invocation, on the device other records came than before";
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0]["message"].as_str().unwrap().contains(told), "{found:#?}");
}

/// The device has the vector T as of invocations 0 and 1: each must be one that could.
#[test]
fn every_invocation_must_have_a_vector_from_an_undefined_value() {
    if !device() {
        return;
    }
    for (value, follows) in [
        ("-ldexp(x, 200)", true),
        ("i == 0u ? -1.0 : -ldexp(x, 200)", false),
        ("i == 1u ? -1.0 : -ldexp(x, 200)", false),
    ] {
        let text = kernel(&format!(
            "float v = {value};\n    if (v > 0.0) {{\n        r[i] = 1.0;\n    }}"
        ));
        let result = on_both(&procedure(&text, "float", None), "invent-two", 1);
        let found = disagreements(&result);
        assert_eq!(found.is_empty(), follows, "{value}: {result:#}");
        for finding in found {
            let told = format!(
                "on invocation ({}, 0, 0) of dispatch 0;",
                u32::from(value.starts_with("i == 1u"))
            );
            assert!(finding["message"].as_str().unwrap().contains(&told), "{finding:#}");
        }
    }
}

/// The device leaves something else in the run with slots.
#[test]
fn a_run_with_slots_that_leaves_other_outputs_excuses_nothing() {
    if !device() {
        return;
    }
    let text = kernel("float v = -ldexp(x, 200);\n    if (v > 0.0) {\n        r[i] = 1.0;\n    }");
    let result = on_both(&procedure(&text, "float", None), "invent,nudge-slots", 1);
    let found = disagreements(&result);
    assert_eq!(found.len(), 1, "{found:#?}");
    let told = "with a slot for each invocation, on the device other outputs came than before";
    assert!(found[0]["message"].as_str().unwrap().contains(told), "{found:#?}");
}

/// Whoever does not look for undefined values has none to excuse anything by.
#[test]
fn without_the_finding_nothing_follows_an_undefined_value() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (statement, fault) in [
        ("float v = -ldexp(x, 200);\n    if (v > 0.0) {\n        r[i] = 1.0;\n    }", "invent"),
        ("r[i] = ldexp(x, 200);", "deviate"),
    ] {
        let text = procedure(&kernel(statement), "float", None).to_string();
        let file = write(folder.path(), "t.json", text);
        for (check, found) in
            [("undefined-value,engine-disagreement", 0), ("engine-disagreement", 1)]
        {
            let mut command = vkcert();
            command
                .args(["run", "--engine", "both", "--check", check])
                .arg(&file)
                .env("VKCERT_WORKER_FAULT", fault);
            let result = run_json(&mut command, 1);
            assert_eq!(disagreements(&result).len(), found, "{check}: {statement}: {result:#}");
        }
    }
}

/// What depends on the schedule in one kernel excuses nothing in another, though it has the same
/// place in the records.
#[test]
fn the_schedule_excuses_no_vector_of_another_kernel() {
    if !device() {
        return;
    }
    let fixed = kernel("if (x > -100.0) {\n        r[i] = 1.0;\n    }");
    let mut procedure = procedure(&fixed, "float", None);
    let first = "#version 450
layout(local_size_x = 8) in;
layout(binding = 0) buffer N { uint next; };
void main() { if (atomicAdd(next, 1u) < 8u) { atomicOr(next, 64u); } }";
    procedure["kernels"]["first"] = json!({"source": {"text": first}, "language": "glsl"});
    procedure["tests"][0]["buffers"]["n"] = json!({"type": "uint", "data": [0]});
    let bindings = json!([{"set": 0, "binding": 0, "buffer": "n"}]);
    let dispatch = json!({"kernel": "first", "groups": [1, 1, 1], "bindings": bindings});
    procedure["tests"][0]["dispatches"].as_array_mut().unwrap().push(dispatch);
    // Of the first module.
    let result = on_both(&procedure, "forget-last", 1);
    let found = disagreements(&result);
    assert!(found.iter().any(|one| one["details"]["text"] == "x > -100.0"), "{result:#}");
}

/// Both engines would have to pass.
#[test]
fn a_tolerance_covers_nothing_where_an_engine_fails() {
    if !device() {
        return;
    }
    let mut procedure = procedure(&kernel("r[i] = i == 0u ? 1.0 : 0.0;"), "float", Some(1.0));
    on_both(&procedure, "deviate", 0);
    // The device halves or doubles it.
    procedure["tests"][0]["expect"][0]["values"] = json!([1, 0, 0, 0]);
    procedure["tests"][0]["expect"][0]["tolerance"] = json!({"abs": 0.25});
    let result = on_both(&procedure, "deviate", 1);
    assert_eq!(disagreements(&result).len(), 1, "{result:#}");
}

/// Where it cannot be compared by invocation, nothing is excused, and why is told.
#[test]
fn what_cannot_be_compared_by_invocation_follows_no_undefined_value() {
    if !device() {
        return;
    }
    let text = kernel("float v = -ldexp(x, 200);\n    if (v > 0.0) {\n        r[i] = 1.0;\n    }");
    let text = text.replace("gl_GlobalInvocationID.x", "gl_LocalInvocationIndex");
    let mut procedure = procedure(&text, "float", None);
    procedure["tests"][0]["dispatches"][0]["groups"] = json!([4096, 1, 1]);
    for (memory, follows) in [(1 << 20, true), (200_000, false)] {
        procedure["tests"][0]["limits"] = json!({"memory_bytes": memory});
        let result = on_both(&procedure, "invent", 1);
        let found = disagreements(&result);
        assert_eq!(found.is_empty(), follows, "{memory}: {result:#}");
        for finding in found {
            assert_eq!(finding["details"]["undefined_values"], "not-compared", "{finding:#}");
            let told = "is not known: with a slot for each invocation, on the device the run did not complete: record mode `slots`";
            assert!(finding["message"].as_str().unwrap().contains(told), "{finding:#}");
        }
    }
}

/// Mesa 22.3.6 compares an int that it made 64 bits wide as if it were never small: the value of
/// invocation 0 comes out wrong, and with it the decision on it. Invocation 5 could decide so by an
/// undefined value.
#[test]
fn a_defect_of_a_driver_is_not_excused_by_an_undefined_value_elsewhere() {
    if !device() {
        return;
    }
    let text = "#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer A { int a[]; };
layout(std430, binding = 1) buffer R { float r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = 3u;
    if (i == 0u) x = 3u + uint(int64_t(a[i]) > 5L);
    if (i == 5u) x = 3u + 7u / uint(a[6]);
    float s = float(i);
    if (x == 4u) { s += 1.0; } else { s += 1.0; }
    r[i] = s;
}";
    let mut procedure = procedure(text, "float", None);
    procedure["tests"][0]["buffers"]["a"] =
        json!({"type": "int", "data": [4, 0, 0, 0, 0, 0, 0, 0]});
    let result = on_both(&procedure, "", 1);
    let (kinds, notes) = kinds_and_notes(&result);
    assert!(kinds.contains("undefined-value"), "{result:#}");
    assert_eq!(notes, Vec::<String>::new());
    let disagreements = disagreements(&result);
    let Some(finding) = disagreements.iter().find(|one| one["details"]["text"] == "x == 4u") else {
        assert_eq!(disagreements, Vec::<Value>::new());
        eprintln!("NOT SHOWN: this device compares numbers of 64 bits as it must");
        return;
    };
    assert_eq!(
        (&finding["details"]["only_on"], &finding["details"]["vector"]),
        (&json!("vulkan"), &json!("T"))
    );
    assert_eq!(finding["invocations"], json!([[0, 0, 0]]), "{finding:#}");
}

/// What devices leave in place of undefined values: whatever it is, the finding that tells of the
/// value is the only one.
#[test]
fn decisions_on_undefined_values_are_told_once() {
    if !device() {
        return;
    }
    for (value, decision) in [
        // By all ones, by what the shift's amount has modulo 32, by either operand, by anything.
        ("uint v = (i + 7u) / (i * uint(x * 0.0));", "v == 0u"),
        ("uint v = (i + 7u) % (i * uint(x * 0.0));", "v == 0xffffffffu"),
        ("uint v = 1u << (32u + uint(x * 0.0));", "v == 1u"),
        ("uint v = 6u >> (33u + uint(x * 0.0));", "v == 3u"),
        ("float n = uintBitsToFloat(0x7fc00000u + uint(x * 0.0)); float v = min(n, y);", "v == y"),
        ("float n = uintBitsToFloat(0x7fc00000u + uint(x * 0.0)); float v = max(y, n);", "v == y"),
        (
            "float n = uintBitsToFloat(0x7fc00000u + uint(x * 0.0)); float v = clamp(n, 1.0, 2.0);",
            "v == 1.0",
        ),
        ("float v = sqrt(-1.0 - abs(x));", "v >= 0.0 || v < 0.0"),
        ("float v; if (x > 1e30) { v = 1.0; }", "v > 0.5"),
    ] {
        let text = kernel(&format!("{value}\n    if ({decision}) {{\n        r[i] = 1.0;\n    }}"));
        let (kinds, notes) = kinds_and_notes(&on_both(&procedure(&text, "float", None), "", 1));
        let told =
            kinds.iter().all(|kind| kind == "undefined-value" || kind == "uninitialized-read");
        assert!(told && kinds.len() == 1, "{value} {decision}: {kinds:?} {notes:?}");
        println!("{decision} with {value} {notes:?}");
    }
}

#[test]
fn a_vector_that_one_engine_alone_records_is_found_with_its_operands() {
    if !device() {
        return;
    }
    let text = kernel("if (x < 5.0 && y > 0.001) {\n        r[i] = 1.0;\n    }");
    let result = on_both(&procedure(&text, "float", None), "forget", 1);
    let finding = findings(&result)
        .into_iter()
        .find(|one| one["details"]["decision"] == "D1" || one["details"]["mark"] == 0);
    let finding = finding.unwrap_or_else(|| panic!("{result:#}"));
    assert!(finding["message"].as_str().unwrap().contains("sequential alone"), "{finding:#}");
}

/// A decision on the verge of what `exp` may return: devices that compute it otherwise take the
/// other branch.
#[test]
fn a_vector_that_depends_on_rounding_stands_and_says_so() {
    if !device() {
        return;
    }
    let exponentials = on_both(&procedure(&kernel("r[i] = exp(x);"), "float", None), "", 0);
    let values = |engine: usize| -> Vec<f32> {
        use base64::Engine;
        let text = exponentials["tests"][engine]["buffers"]["r"].as_str().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
        bytes.chunks(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
    };
    let (ours, theirs) = (values(0), values(1));
    let Some(at) = (0..8).find(|at| ours[*at] != theirs[*at]) else {
        eprintln!("NOT SHOWN: this device computes exp as the sequential engine does");
        return;
    };
    // The lower of the two does not exceed the limit, the higher one does.
    let limit = ours[at].min(theirs[at]).to_bits();
    let text = kernel(&format!(
        "float limit = uintBitsToFloat({limit}u);\n    float e = exp(a[{at}][0]);\n    if (e > limit) {{\n        r[i] = 1.0;\n    }}"
    ));
    let result = on_both(&procedure(&text, "float", None), "", 1);
    let vectors: Vec<_> =
        findings(&result).into_iter().filter(|one| !one["details"]["decision"].is_null()).collect();
    assert_eq!(vectors.len(), 2, "one vector on each engine alone: {result:#}");
    for finding in &vectors {
        let details = &finding["details"];
        assert_eq!(
            (&details["decision"], &details["text"]),
            (&json!("D1"), &json!("e > limit")),
            "{finding:#}"
        );
        assert_eq!(details["line"], 10, "{finding:#}");
        assert_eq!(details["within_error_bounds"], true, "{finding:#}");
        let operands = details["operands"].to_string();
        assert!(
            operands.contains("e > limit with e=") && operands.contains("limit="),
            "{finding:#}"
        );
        assert_eq!(finding["invocations"], json!([[0, 0, 0]]), "{finding:#}");
    }
    let sides: Vec<_> =
        vectors.iter().map(|one| one["details"]["only_on"].as_str().unwrap()).collect();
    assert!(sides.contains(&"sequential") && sides.contains(&"vulkan"), "{sides:?}");
}

// ---- evidence ----

fn project(folder: &Path) {
    write(folder, "glsl/k.comp", kernel("r[i] = exp(x) + tanh(y) * log(x);"));
    let settings = "schema = 1\nname = \"bounds\"\nlevel = \"D\"\n\n[[kernel]]\nname = \"k\"\nsource = \"glsl/k.comp\"\n";
    write(folder, "vkcert.toml", settings);
    let inputs =
        INPUTS.iter().flatten().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
    let requirements = format!(
        "schema = 1

[[requirement]]
uid = \"LLR-1\"
level = \"LLR\"
title = \"Sum\"
statement = \"The kernel shall compute the sum.\"
rationale = \"It is needed.\"
verification = [\"test\"]
derived = true
safety_rationale = \"None.\"
implements = [{{ file = \"glsl/k.comp\", symbol = \"main\" }}]

[[test]]
id = \"T-1\"
requirements = [\"LLR-1\"]
buffers.a = {{ type = \"float\", data = [{inputs}] }}
buffers.r = {{ type = \"float\", count = 8, fill = {{ constant = 0 }} }}
[[test.dispatches]]
kernel = \"k\"
groups = [1, 1, 1]
bindings = [{{ set = 0, binding = 0, buffer = \"a\" }}, {{ set = 0, binding = 1, buffer = \"r\" }}]
[[test.expect]]
buffer = \"r\"
offset = 28
values = [0.357]
tolerance.abs = 0.01
"
    );
    write(folder, "requirements/all.toml", requirements);
}

#[test]
fn evidence_holds_the_bounds_and_verify_derives_them_again() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    project(folder.path());
    run(vkcert().arg("build").arg(folder.path()), 0);
    let out = folder.path().join("reports");
    let summary = run(
        vkcert().args(["certify", "--engine", "both", "--out"]).arg(&out).arg(folder.path()),
        0,
    );
    let summary = String::from_utf8(summary.stdout).unwrap();
    assert!(
        summary.contains("1 with outputs that differ within the error bounds of Vulkan"),
        "{summary}"
    );
    let evidence = out.join("evidence");
    let campaign: Value =
        serde_json::from_slice(&std::fs::read(evidence.join("campaign.json")).unwrap()).unwrap();
    let row = &campaign["agreement"][0];
    assert_eq!(
        (&row["outputs"], &row["coverage"]),
        (&json!("within-error-bounds"), &json!("identical")),
        "{row:#}"
    );
    let buffer = &row["bounds"]["buffers"][0];
    assert_eq!(buffer["outside"], 0);
    assert_eq!(
        buffer["elements"].as_u64().unwrap() as usize,
        buffer["listed"].as_array().unwrap().len()
    );
    assert!(buffer["worst_ulp"].as_u64().unwrap() > 0);
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("within-error-bounds") && page.contains("ULP at most"));
    let verified = run(vkcert().arg("verify").arg(&evidence), 0);
    let verified = String::from_utf8(verified.stdout).unwrap();
    assert!(verified.contains("the permitted values come from"), "{verified}");
    // Each of these contradicts the stored outputs, or what else the row says.
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 7] = [
        ("outcome", |row| row["outputs"] = json!("identical")),
        ("no bounds", |row| row["bounds"] = Value::Null),
        ("value", |row| {
            row["bounds"]["buffers"][0]["listed"][0]["vulkan"]["bits"] = json!("0x3f800000")
        }),
        ("range", |row| {
            let sequential = row["bounds"]["buffers"][0]["listed"][0]["sequential"].clone();
            row["bounds"]["buffers"][0]["listed"][0]["permitted"] =
                json!([[sequential, sequential]]);
        }),
        ("element", |row| {
            row["bounds"]["buffers"][0]["listed"].as_array_mut().unwrap().remove(0);
            let elements = row["bounds"]["buffers"][0]["elements"].as_u64().unwrap();
            row["bounds"]["buffers"][0]["elements"] = json!(elements - 1);
        }),
        ("outside", |row| row["bounds"]["buffers"][0]["outside"] = json!(1)),
        ("coverage", |row| row["coverage"] = json!("different")),
    ];
    for (name, edit) in changes {
        forge(&evidence, "campaign.json", |campaign| edit(&mut campaign["agreement"][0]));
        let output = run(vkcert().arg("verify").arg(&evidence), 1);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("agreement of k on T-1"), "{name}: {said}");
        forge(&evidence, "campaign.json", |stored| *stored = campaign.clone());
    }
    run(vkcert().arg("verify").arg(&evidence), 0);
    // Evidence from before there were bounds: a row without them.
    forge(&evidence, "campaign.json", |campaign| {
        campaign["agreement"][0] = json!({"test": "T-1", "kernel": "k", "outputs": "different", "coverage": "identical",
            "differences": ["buffer `r` differs in 3 bytes, first at offset 4"]});
        campaign["findings"] = json!([{"kernel": "k", "engine": null, "test": "T-1", "finding": {
            "kind": "engine-disagreement", "message": "they differ", "count": 1, "place": null, "other_place": null}}]);
    });
    let said = String::from_utf8(run(vkcert().arg("verify").arg(&evidence), 1).stdout).unwrap();
    assert!(!said.contains("agreement of"), "{said}");
}

/// The vectors of one specialization differ, those of the one behind do not.
#[test]
fn coverage_is_different_if_that_of_any_specialization_is() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    project(folder.path());
    let text = kernel(
        "if (x + float(N) > 1000.0) {\n        r[i] = 0.357;\n    } else {\n        r[i] = 0.357;\n    }",
    );
    let text = text.replace("void main", "layout(constant_id = 0) const int N = 0;\nvoid main");
    write(folder.path(), "glsl/k.comp", text);
    let file = folder.path().join("requirements/all.toml");
    let requirements = std::fs::read_to_string(&file).unwrap();
    let (head, dispatch) = requirements.split_once("[[test.dispatches]]").unwrap();
    let (dispatch, expect) = dispatch.split_once("[[test.expect]]").unwrap();
    let with = |n: u32| {
        format!(
            "[[test.dispatches]]{dispatch}specialization = {{ 0 = {{ type = \"int\", value = {n} }} }}\n"
        )
    };
    std::fs::write(&file, format!("{head}{}{}[[test.expect]]{expect}", with(1), with(2000)))
        .unwrap();
    let out = folder.path().join("reports");
    let mut command = vkcert();
    command.args(["certify", "--engine", "both", "--out"]).arg(&out).arg(folder.path());
    run(command.env("VKCERT_WORKER_FAULT", "invent"), 1);
    let evidence = out.join("evidence");
    let campaign: Value =
        serde_json::from_slice(&std::fs::read(evidence.join("campaign.json")).unwrap()).unwrap();
    let row = &campaign["agreement"][0];
    assert_eq!(
        (&row["outputs"], &row["coverage"]),
        (&json!("identical"), &json!("different")),
        "{row:#}"
    );
    run(vkcert().arg("verify").arg(&evidence), 0);
}

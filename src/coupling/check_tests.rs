//! The paper's host code and the demonstration's, against modules made by the real compiler.

mod captures;
mod device;
mod earlier;
mod graph;
mod push_constants;
mod resources;
mod rounding_up;
mod subjects;

use super::*;
use vkcert_model::evidence::{CheckStatus, CouplingCheckName};
use vkcert_model::requirement::{
    HostBuffer, HostLocal, HostMember, HostParameter, HostSpecialization, HostStruct, HostType,
};

const KERNEL: &str = "#version 450
layout(local_size_x=16, local_size_y=16, local_size_z=1) in;
layout(std430, set=0, binding=0) readonly buffer Left { float left[]; };
layout(std430, set=0, binding=1) readonly buffer Right { float right[]; };
layout(std430, set=0, binding=2) buffer Result { float result[]; };
layout(push_constant) uniform Sizes { uint m; uint n; uint k; };
shared float tile[16][16];
void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    tile[gl_LocalInvocationID.y][gl_LocalInvocationID.x] = left[0];
    barrier();
    if (x < k && y < m) { result[y * k + x] = right[0] + tile[0][0] + float(n); }
}";

fn module() -> Module {
    compiled(KERNEL)
}

fn compiled(source: &str) -> Module {
    thread_local!(static COMPILER: shaderc::Compiler = shaderc::Compiler::new().expect("compiler"));
    let artifact = COMPILER.with(|compiler| {
        compiler
            .compile_into_spirv(source, shaderc::ShaderKind::Compute, "k.comp", "main", None)
            .unwrap()
    });
    Module::parse(artifact.as_binary().to_vec()).unwrap()
}

fn parameter(name: &str, max: i64) -> HostParameter {
    HostParameter { name: name.to_owned(), width: HostType::Uint32, min: 1, max }
}

fn members(names: &[&str]) -> HostStruct {
    let member = |name: &&str| HostMember::scalar(name, HostType::Uint32);
    HostStruct { size: Some(4 * names.len() as u32), members: names.iter().map(member).collect() }
}

/// The demonstration's host code.
fn correct() -> Interface {
    let text = |text: &str| text.to_owned();
    let buffer = |binding, size| HostBuffer {
        set: 0,
        binding,
        name: None,
        size: text(size),
        element: None,
        block: None,
        host_writes: true,
    };
    Interface {
        kernel: "matmul".into(),
        source: Some("host.cpp:14".to_owned()),
        parameters: vec![parameter("m", 4096), parameter("n", 4096), parameter("k", 4096)],
        locals: Vec::new(),
        push_constants: Some(members(&["m", "n", "k"])),
        header: Vec::new(),
        pipeline: Vec::new(),
        capture: Vec::new(),
        structs: Vec::new(),
        images: Vec::new(),
        buffers: vec![buffer(0, "m * n * 4"), buffer(1, "n * k * 4"), buffer(2, "m * k * 4")],
        groups: ["(k + 15) / 16", "(m + 15) / 16", "1"].map(text),
        local_size: Some([16, 16, 1]),
        domain: Some(["k", "m", "1"].map(text)),
        specialization: Vec::new(),
        earlier: Vec::new(),
    }
}

/// Figure 2 of the paper.
fn figure_two() -> Interface {
    let text = |text: &str| text.to_owned();
    Interface {
        locals: vec![HostLocal {
            name: text("number_of_threads"),
            width: HostType::Uint64,
            value: text("m * n * k"),
        }],
        push_constants: Some(members(&["n", "m", "k"])),
        groups: ["number_of_threads / 256", "1", "1"].map(text),
        ..correct()
    }
}

fn coupled(
    interface: &Interface,
    barriers: &[Barrier],
    tests: &[TestUse],
    device: Option<&DeviceLimits>,
) -> Coupling {
    let module = module();
    let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
    let flow = KernelFlow::of_production(&module, "main", &BTreeMap::new()).unwrap();
    let place = Place::default();
    let input = CouplingInput {
        interface,
        stated: StatedStructs { interface, place: &place, readings: &[] },
        pipelines: &[],
        earlier: &[],
        captures: &[],
        module: &module,
        reflection: &reflection,
        structure: None,
        flow: &flow,
        barriers,
        tests,
        device,
        replay: None,
        memory_model: MemoryModel::Idiom,
    };
    analyse_coupling(&input).unwrap()
}

fn rows<'a>(coupling: &'a Coupling, check: &str) -> Vec<&'a CouplingCheck> {
    coupling.checks.iter().filter(|row| row.check.as_str() == check).collect()
}

fn refuted<'a>(coupling: &'a Coupling, check: &str) -> Vec<&'a CouplingCheck> {
    rows(coupling, check).into_iter().filter(|row| row.status == CheckStatus::Refuted).collect()
}

const LARGE: DeviceLimits = DeviceLimits {
    invocations: 1024,
    local_size: [1024; 3],
    workgroup_bytes: 32_768,
    ..DeviceLimits::GUARANTEED
};

#[test]
fn the_demonstrations_host_holds_in_everything() {
    let coupling = coupled(&correct(), &[], &[], Some(&LARGE));
    let open: Vec<_> =
        coupling.checks.iter().filter(|row| row.status != CheckStatus::Holds).collect();
    assert!(open.is_empty(), "{open:#?}");
    assert_eq!(coupling.findings, []);
    assert_eq!(rows(&coupling, "dispatch-covers-domain").len(), 3);
}

#[test]
fn without_a_device_more_invocations_than_guaranteed_are_undetermined() {
    let coupling = coupled(&correct(), &[], &[], None);
    let open: Vec<_> =
        coupling.checks.iter().filter(|row| row.status != CheckStatus::Holds).collect();
    assert!(
        matches!(open.as_slice(), [row] if row.check == CouplingCheckName::DeviceLimits && row.message.contains("256")),
        "{open:#?}"
    );
}

#[test]
fn figure_two_leaves_rows_from_sixteen_up_unwritten() {
    let coupling = coupled(&figure_two(), &[], &[], Some(&LARGE));
    let rows = refuted(&coupling, "dispatch-covers-domain");
    let in_y = rows.iter().find(|row| row.message.starts_with("in y")).unwrap();
    assert_eq!(
        in_y.counterexample,
        Some(BTreeMap::from([("m".to_owned(), 17)])),
        "{}",
        in_y.message
    );
    assert!(in_y.message.contains("is 16, but the domain m is 17"), "{}", in_y.message);
    assert!(rows.iter().any(|row| row.message.starts_with("in x")));
}

#[test]
fn figure_two_drops_a_partial_workgroup() {
    let coupling = coupled(&figure_two(), &[], &[], Some(&LARGE));
    let rows = refuted(&coupling, "dispatch-not-truncated");
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert!(
        rows[0].message.contains("drops a partial workgroup: 0 instead of 1"),
        "{}",
        rows[0].message
    );
}

#[test]
fn figure_two_overflows_before_it_widens() {
    let coupling = coupled(&figure_two(), &[], &[], Some(&LARGE));
    let rows = refuted(&coupling, "host-overflow");
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert!(
        rows[0].message.contains("number_of_threads")
            && rows[0].message.contains("uint32 cannot hold"),
        "{}",
        rows[0].message
    );
    let values = rows[0].counterexample.clone().unwrap();
    assert!(values["m"] * values["n"] * values["k"] > i64::from(u32::MAX));
}

#[test]
fn every_refuted_check_is_a_finding_with_its_place() {
    let coupling = coupled(&figure_two(), &[], &[], Some(&LARGE));
    let count = coupling.checks.iter().filter(|row| row.status == CheckStatus::Refuted).count();
    assert_eq!(coupling.findings.len(), count);
    for finding in &coupling.findings {
        assert_eq!(finding.place.as_ref().unwrap().file.as_deref(), Some("host.cpp:14"));
        assert!(finding.coupling_check().is_some());
    }
}

#[test]
fn the_uniformity_of_barriers_comes_from_the_module() {
    let of = |source: &str| {
        let module = compiled(source);
        let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
        kernel_barriers(&module, &reflection)
    };
    assert!(matches!(of(KERNEL).as_slice(), [Barrier { control: BarrierControl::Uniform, .. }]));
    // As in figure 5: the barrier stands under the guard.
    let guarded = KERNEL.replace("    barrier();\n", "").replace("{ result", "{ barrier(); result");
    assert!(matches!(
        of(&guarded).as_slice(),
        [Barrier { control: BarrierControl::Divergent { .. }, .. }]
    ));
}

#[test]
fn other_mismatches_are_refuted_one_by_one() {
    let text = |text: &str| text.to_owned();
    let cases: Vec<(&str, Interface)> = vec![
        ("local-size-match", Interface { local_size: Some([16, 8, 1]), ..correct() }),
        (
            "push-constant-layout",
            Interface { push_constants: Some(members(&["m", "n"])), ..correct() },
        ),
        ("push-constant-layout", Interface { push_constants: None, ..correct() }),
        ("buffer-size", Interface { buffers: correct().buffers[..2].to_vec(), ..correct() }),
        (
            "host-overflow",
            Interface { groups: ["(k - 2) / 16 + 1", "(m + 15) / 16", "1"].map(text), ..correct() },
        ),
        (
            "dispatch-covers-domain",
            Interface { groups: ["k / 16 + 1", "m / 16", "1"].map(text), ..correct() },
        ),
        (
            "dispatch-covers-domain",
            Interface { groups: ["(k + 15) / 16", "(m + 15) / 16", "0"].map(text), ..correct() },
        ),
    ];
    for (check, interface) in cases {
        let coupling = coupled(&interface, &[], &[], Some(&LARGE));
        assert!(!refuted(&coupling, check).is_empty(), "{check}: {:#?}", coupling.checks);
    }
}

/// A value that fits the type of its expression and not that of the local that it goes to.
#[test]
fn what_a_local_cannot_hold_is_refuted() {
    for (width, most, value) in [
        (HostType::Uint8, 255, "m"),
        (HostType::Int8, 127, "m"),
        (HostType::Uint16, 65_535, "16 * m"),
        (HostType::Int16, 32_767, "16 * m"),
    ] {
        let local = HostLocal { name: "l".to_owned(), width, value: value.to_owned() };
        let coupled_to = |max: i64| {
            let parameters = vec![parameter("m", max), parameter("n", 4096), parameter("k", 4096)];
            coupled(
                &Interface { parameters, locals: vec![local.clone()], ..correct() },
                &[],
                &[],
                Some(&LARGE),
            )
        };
        let factor = if value == "m" { 1 } else { 16 };
        assert_eq!(
            refuted(&coupled_to(most / factor), "host-overflow"),
            Vec::<&CouplingCheck>::new(),
            "{width:?}"
        );
        let coupling = coupled_to(most / factor + 1);
        let rows = refuted(&coupling, "host-overflow");
        assert!(rows.len() == 1 && rows[0].message.contains("cannot hold"), "{width:?}: {rows:#?}");
    }
}

#[test]
fn the_domain_of_each_axis_may_overflow() {
    for axis in 0..3 {
        let mut interface = correct();
        interface.domain.as_mut().unwrap()[axis] = "m * 4000000u".to_owned();
        let coupling = coupled(&interface, &[], &[], Some(&LARGE));
        let rows = refuted(&coupling, "host-overflow");
        assert!(
            rows.iter().any(|row| row.message.starts_with("the domain in")),
            "{axis}: {rows:#?}"
        );
    }
}

fn coupled_with(source: &str, interface: &Interface, device: &DeviceLimits) -> Coupling {
    coupled_module(&compiled(source), interface, device)
}

fn coupled_module(module: &Module, interface: &Interface, device: &DeviceLimits) -> Coupling {
    let reflection = Reflection::of_entry_point(module, "main", &BTreeMap::new()).unwrap();
    let (barriers, tests, device) = (&[][..], &[][..], Some(device));
    let flow = KernelFlow::of_production(module, "main", &BTreeMap::new()).unwrap();
    analyse_coupling(&CouplingInput {
        interface,
        stated: StatedStructs { interface, place: &Place::default(), readings: &[] },
        pipelines: &[],
        earlier: &[],
        captures: &[],
        module,
        reflection: &reflection,
        structure: None,
        flow: &flow,
        barriers,
        tests,
        device,
        replay: None,
        memory_model: MemoryModel::Idiom,
    })
    .unwrap()
}

#[test]
fn an_unknown_name_in_the_interface_is_a_diagnostic() {
    let module = module();
    let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
    let interface =
        Interface { groups: ["(q + 15) / 16", "1", "1"].map(str::to_owned), ..correct() };
    let flow = KernelFlow::of_production(&module, "main", &BTreeMap::new()).unwrap();
    let place = Place::default();
    let input = CouplingInput {
        interface: &interface,
        stated: StatedStructs { interface: &interface, place: &place, readings: &[] },
        pipelines: &[],
        earlier: &[],
        captures: &[],
        module: &module,
        reflection: &reflection,
        structure: None,
        flow: &flow,
        barriers: &[],
        tests: &[],
        device: None,
        replay: None,
        memory_model: MemoryModel::Idiom,
    };
    let diagnostic = analyse_coupling(&input).unwrap_err();
    assert!(diagnostic.message.contains("`q` is not declared"), "{}", diagnostic.message);
    assert_eq!(diagnostic.location.unwrap().span, Some(1..2));
}

//! The paper's host code and the demonstration's, against modules made by the real compiler.

use super::*;
use vkcert_model::evidence::CheckStatus;
use vkcert_model::image::{ImageDim, ImageFormat};
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::{
    HostBuffer, HostImage, HostLocal, HostMember, HostParameter, HostStruct, HostType,
};
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::expression::{DivisionRounding, HostExpression};

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
    let member = |name: &&str| HostMember {
        name: (*name).to_owned(),
        width: HostType::Uint32,
        offset: None,
        value: None,
    };
    HostStruct { size: Some(4 * names.len() as u32), members: names.iter().map(member).collect() }
}

/// The demonstration's host code.
fn correct() -> Interface {
    let text = |text: &str| text.to_owned();
    let buffer = |binding, size| HostBuffer { set: 0, binding, name: None, size: text(size) };
    Interface {
        kernel: "matmul".into(),
        source: Some("host.cpp:14".to_owned()),
        parameters: vec![parameter("m", 4096), parameter("n", 4096), parameter("k", 4096)],
        locals: Vec::new(),
        push_constants: Some(members(&["m", "n", "k"])),
        images: Vec::new(),
        buffers: vec![buffer(0, "m * n * 4"), buffer(1, "n * k * 4"), buffer(2, "m * k * 4")],
        groups: ["(k + 15) / 16", "(m + 15) / 16", "1"].map(text),
        local_size: Some([16, 16, 1]),
        domain: Some(["k", "m", "1"].map(text)),
        specialization: Vec::new(),
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
    let input = CouplingInput {
        interface,
        module: &module,
        reflection: &reflection,
        structure: None,
        barriers,
        tests,
        device,
    };
    couple(&input).unwrap()
}

fn rows<'a>(coupling: &'a Coupling, check: &str) -> Vec<&'a CouplingCheck> {
    coupling.checks.iter().filter(|row| row.check == check).collect()
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
        matches!(open.as_slice(), [row] if row.check == "device-limits" && row.message.contains("256")),
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
fn figure_two_exceeds_the_devices_group_count() {
    let coupling = coupled(&figure_two(), &[], &[], None);
    let rows = refuted(&coupling, "device-limits");
    assert!(rows.len() == 1 && rows[0].message.contains("every device allows 65535"), "{rows:#?}");
    let wide = DeviceLimits { groups: [i32::MAX as u32, 65_535, 65_535], ..LARGE };
    let coupling = coupled(&figure_two(), &[], &[], Some(&wide));
    assert_eq!(refuted(&coupling, "device-limits"), Vec::<&CouplingCheck>::new());
    let noted = rows_with(&coupling, "a device need have only 65535");
    assert_eq!(noted, 1);
}

fn rows_with(coupling: &Coupling, text: &str) -> usize {
    coupling.checks.iter().filter(|row| row.message.contains(text)).count()
}

#[test]
fn figure_two_swaps_two_push_constants() {
    let coupling = coupled(&figure_two(), &[], &[], Some(&LARGE));
    let rows = refuted(&coupling, "push-constant-layout");
    assert!(
        rows[0].message.contains("reads m at offset 0, where the host stores n"),
        "{}",
        rows[0].message
    );
    assert!(
        rows[0].message.contains("reads n at offset 4, where the host stores m"),
        "{}",
        rows[0].message
    );
}

#[test]
fn every_refuted_check_is_a_finding_with_its_place() {
    let coupling = coupled(&figure_two(), &[], &[], Some(&LARGE));
    let count = coupling.checks.iter().filter(|row| row.status == CheckStatus::Refuted).count();
    assert_eq!(coupling.findings.len(), count);
    for finding in &coupling.findings {
        assert_eq!(finding.place.as_ref().unwrap().file.as_deref(), Some("host.cpp:14"));
        assert!(finding.details.contains_key("check"));
    }
}

#[test]
fn a_barrier_under_non_uniform_control_flow_names_both_places() {
    let place =
        |line| Place { file: Some("k.comp".to_owned()), line: Some(line), ..Place::default() };
    let reason = "x differs".to_owned();
    let barrier = Barrier {
        place: place(35),
        control: BarrierControl::Divergent { branch: place(30), reason },
    };
    let coupling = coupled(&correct(), &[barrier], &[], Some(&LARGE));
    let finding = &coupling.findings[0];
    assert_eq!(
        (finding.place.clone().unwrap().line, finding.other_place.clone().unwrap().line),
        (Some(35), Some(30))
    );
}

#[test]
fn the_uniformity_of_barriers_comes_from_the_module() {
    let of = |source: &str| {
        let module = compiled(source);
        let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
        barriers(&module, &reflection)
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
    couple(&CouplingInput {
        interface,
        module,
        reflection: &reflection,
        structure: None,
        barriers,
        tests,
        device,
    })
    .unwrap()
}

#[test]
fn what_a_kernel_needs_of_a_device_is_held_to_its_limits() {
    let fits = |device: DeviceLimits| {
        refuted(&coupled_with(KERNEL, &correct(), &device), "device-limits").len()
    };
    assert_eq!(fits(LARGE), 0);
    assert_eq!(fits(DeviceLimits { invocations: 255, ..LARGE }), 1);
    assert_eq!(fits(DeviceLimits { invocations: 256, ..LARGE }), 0);
    let large = KERNEL.replace("tile[16][16]", "tile[80][64]");
    let needs = |bytes| {
        let device = DeviceLimits { workgroup_bytes: bytes, ..LARGE };
        refuted(&coupled_with(&large, &correct(), &device), "device-limits").len()
    };
    assert_eq!((needs(80 * 64 * 4), needs(80 * 64 * 4 - 1)), (0, 1));
}

#[test]
fn a_specialization_value_fits_its_type() {
    let source = KERNEL
        .replace("shared float", "layout(constant_id = 3) const int SHIFT = 0;\nshared float");
    let source = source.replace("float(n)", "float(int(n) + SHIFT)");
    let row = |value: &str| {
        let specialization =
            vec![vkcert_model::requirement::HostSpecialization { id: 3, value: value.to_owned() }];
        let coupling = coupled_with(&source, &Interface { specialization, ..correct() }, &LARGE);
        rows(&coupling, "specialization-ids")[0].status.to_string()
    };
    assert_eq!(
        [row("-5"), row("2147483647"), row("2147483648"), row("m + 2147483647u")],
        ["holds", "holds", "refuted", "refuted"]
    );
}

#[test]
fn sizes_under_a_specialization_of_no_one_value_are_undetermined() {
    let source = KERNEL.replace("shared float", "layout(local_size_x_id = 3) in;\nshared float");
    assert!(source.contains("local_size_x_id"));
    let undetermined = |source: &str, value: &str| {
        let specialization =
            vec![vkcert_model::requirement::HostSpecialization { id: 3, value: value.to_owned() }];
        let coupling = coupled_with(source, &Interface { specialization, ..correct() }, &LARGE);
        rows(&coupling, "specialization-ids")
            .iter()
            .any(|row| row.status == CheckStatus::Undetermined)
    };
    assert!(undetermined(&source, "m"));
    assert!(!undetermined(&source, "8 + 8"));
    // A value that no size depends on is not asked for.
    let other = KERNEL
        .replace("shared float", "layout(constant_id = 3) const int SHIFT = 0;\nshared float");
    assert!(!undetermined(&other.replace("float(n)", "float(int(n) + SHIFT)"), "m"));
}

#[test]
fn a_buffer_holds_what_its_block_has_at_least() {
    let source = KERNEL.replace("float right[];", "float right[8];");
    let row = |size: &str| {
        let mut interface = correct();
        interface.buffers[1].size = size.to_owned();
        refuted(&coupled_with(&source, &interface, &LARGE), "buffer-size").len()
    };
    assert_eq!((row("32"), row("31"), row("31 + m"), row("28 + 4 * m")), (0, 1, 0, 0));
    assert_eq!(row("30 + m"), 1);
}

#[test]
fn each_of_several_barriers_counts() {
    let place =
        |line| Place { file: Some("k.comp".to_owned()), line: Some(line), ..Place::default() };
    let uniform = Barrier { place: place(1), control: BarrierControl::Uniform };
    let control = BarrierControl::Divergent { branch: place(2), reason: "x differs".to_owned() };
    let coupling =
        coupled(&correct(), &[uniform, Barrier { place: place(3), control }], &[], Some(&LARGE));
    assert_eq!(refuted(&coupling, "uniform-barrier").len(), 1);
}

#[test]
fn push_constants_agree_member_by_member() {
    let status = |block: HostStruct| {
        let coupling = coupled(
            &Interface { push_constants: Some(block), ..correct() },
            &[],
            &[],
            Some(&LARGE),
        );
        rows(&coupling, "push-constant-layout")[0].status.to_string()
    };
    let of = |change: &dyn Fn(&mut HostStruct)| {
        let mut block = members(&["m", "n", "k"]);
        change(&mut block);
        status(block)
    };
    assert_eq!(of(&|_| {}), "holds");
    assert_eq!(of(&|block| block.size = Some(8)), "refuted");
    assert_eq!(of(&|block| block.members[1].width = HostType::Int32), "refuted");
    assert_eq!(of(&|block| block.members[1].width = HostType::Float32), "refuted");
    // A byte before a word leaves a gap.
    assert_eq!(of(&|block| block.members[0].width = HostType::Uint8), "refuted");
    let other = |block: &mut HostStruct| block.members[2].name = "other".to_owned();
    assert_eq!(of(&other), "refuted");
    let mut unknown = correct();
    unknown.parameters.remove(1);
    unknown.buffers[0].size = "m * 4".to_owned();
    unknown.buffers[1].size = "k * 4".to_owned();
    let coupling = coupled(&unknown, &[], &[], Some(&LARGE));
    let row = &rows(&coupling, "push-constant-layout")[0];
    assert_eq!(
        (row.status.to_string().as_str(), row.message.as_str()),
        ("undetermined", "what the host stores in n is not stated")
    );
}

#[test]
fn members_stand_at_multiples_of_their_size() {
    let source = KERNEL.replace("uint m; uint n; uint k;", "uint m; double d; uint n; uint k;");
    let mut block = members(&["m", "d", "n", "k"]);
    (block.members[1].width, block.size) = (HostType::Float64, Some(24));
    let coupling =
        coupled_with(&source, &Interface { push_constants: Some(block), ..correct() }, &LARGE);
    let row = &rows(&coupling, "push-constant-layout")[0];
    assert_eq!(row.status, CheckStatus::Holds, "{}", row.message);
}

#[test]
fn images_and_samplers_are_what_the_kernel_declares() {
    let text = "#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, rgba8) uniform image2D kept;
layout(set = 0, binding = 1) uniform texture3D volume;
layout(set = 0, binding = 2) uniform sampler near;
layout(set = 0, binding = 3) uniform isampler2DArray numbers;
layout(set = 0, binding = 4) buffer Out { float o[]; };
void main() {
    vec4 all = imageLoad(kept, ivec2(0)) + texture(sampler3D(volume, near), vec3(0)) + vec4(texture(numbers, vec3(0)));
    o[0] = all.x;
}
";
    let module = compiled(text);
    let image = |binding: u32, class, format, dimension, layered| HostImage {
        set: 0,
        binding,
        name: None,
        class,
        format,
        dimension,
        layered,
        multisampled: false,
    };
    use DescriptorClass::{Combined, SampledImage, Sampler, StorageImage};
    let right = vec![
        image(0, StorageImage, Some(ImageFormat::Rgba8), Some(ImageDim::Two), false),
        image(1, SampledImage, Some(ImageFormat::R16f), Some(ImageDim::Three), false),
        image(2, Sampler, None, None, false),
        image(3, Combined, Some(ImageFormat::R32i), Some(ImageDim::Two), true),
    ];
    let shown = |images: Vec<HostImage>| {
        let buffers = vec![HostBuffer { set: 0, binding: 4, name: None, size: "m * 4".to_owned() }];
        let interface =
            Interface { buffers, images, push_constants: None, local_size: None, ..correct() };
        let coupling = coupled_module(&module, &interface, &LARGE);
        let found = rows(&coupling, "image-descriptor").into_iter();
        found.map(|row| (row.status.to_string(), row.message.clone())).collect::<Vec<_>>()
    };
    let statuses = |images: Vec<HostImage>| {
        let all = shown(images).into_iter();
        all.map(|(status, _)| status).filter(|status| status != "holds").collect::<Vec<_>>()
    };
    assert_eq!(shown(right.clone()).len(), 4);
    assert!(statuses(right.clone()).is_empty(), "{:#?}", shown(right.clone()));
    type Change = fn(&mut Vec<HostImage>);
    let wrong: &[(Change, &str)] = &[
        (|images| images[0].class = DescriptorClass::SampledImage, "refuted"),
        (|images| images[0].format = Some(ImageFormat::Rgba8i), "refuted"),
        (|images| images[0].format = Some(ImageFormat::Rgba16), "refuted"),
        (|images| images[0].dimension = Some(ImageDim::Three), "refuted"),
        (|images| images[0].multisampled = true, "refuted"),
        (|images| images[1].format = Some(ImageFormat::R32i), "refuted"),
        (|images| images[2].class = DescriptorClass::Combined, "refuted"),
        (|images| images[3].layered = false, "refuted"),
        (|images| images[3].format = Some(ImageFormat::R32ui), "refuted"),
        (|images| images[3].binding = 4, "undetermined refuted"),
        (|images| drop(images.remove(2)), "undetermined"),
    ];
    for (number, (change, expected)) in wrong.iter().enumerate() {
        let mut images = right.clone();
        change(&mut images);
        assert_eq!(statuses(images.clone()).join(" "), *expected, "{number}: {:#?}", shown(images));
    }
    // A sampled image has the format of its view alone; one that the kernel does not use does no
    // harm.
    let mut more = right.clone();
    more[1].format = Some(ImageFormat::Rgba8);
    more.push(image(9, Sampler, None, None, false));
    assert!(statuses(more.clone()).is_empty(), "{:#?}", shown(more));
}

#[test]
fn an_image_is_undetermined_and_not_a_missing_buffer() {
    let with_image = KERNEL
        .replace(
            "shared float tile",
            "layout(set=1, binding=0, r32f) uniform image2D picture;\nshared float tile",
        )
        .replace("right[0] + ", "right[0] + imageLoad(picture, ivec2(0)).x + ");
    let (module, mut interface) = (compiled(&with_image), correct());
    let coupling = coupled_module(&module, &interface, &LARGE);
    assert!(refuted(&coupling, "buffer-size").is_empty(), "{:#?}", coupling.checks);
    let open = rows(&coupling, "image-descriptor")
        .into_iter()
        .find(|row| row.status == CheckStatus::Undetermined)
        .unwrap();
    assert_eq!(open.message, "1.0 (picture) is a storage_image, which no interface states");
    // One byte of buffer is no picture.
    interface.buffers.push(HostBuffer { set: 1, binding: 0, ..interface.buffers[0].clone() });
    let coupling = coupled_module(&module, &interface, &LARGE);
    let wrong = refuted(&coupling, "buffer-size");
    assert_eq!(wrong.len(), 1, "{wrong:#?}");
    assert_eq!(
        wrong[0].message,
        "the interface states a buffer at 1.0, where the kernel has a storage_image"
    );
}

#[test]
fn what_the_kernel_uses_in_a_test_must_fit_the_hosts_buffer() {
    let used = |bound, touched| TestUse {
        name: "TC-1".to_owned(),
        groups: [1, 1, 1],
        parameters: BTreeMap::from([("m".to_owned(), 3), ("n".to_owned(), 2), ("k".to_owned(), 4)]),
        buffers: BTreeMap::from([((0, 2), BufferUse { bound, touched })]),
    };
    let status = |bound, touched| {
        let coupling = coupled(&correct(), &[], &[used(bound, touched)], Some(&LARGE));
        let rows = rows(&coupling, "buffer-size");
        rows.last().map(|row| (row.status.to_string(), rows.len())).unwrap()
    };
    assert_eq!(status(48, None), ("holds".to_owned(), 4));
    assert_eq!(status(64, None), ("undetermined".to_owned(), 4));
    assert_eq!(status(64, Some(48)), ("holds".to_owned(), 4));
    assert_eq!(status(64, Some(52)), ("refuted".to_owned(), 4));
}

/// The dispatch's x axis under other expressions and another range of k.
fn in_x(groups: &str, domain: &str, max: i64, local: Option<HostLocal>) -> Vec<CouplingCheck> {
    let text = |text: &str| text.to_owned();
    let interface = Interface {
        parameters: vec![parameter("m", 4096), parameter("n", 4096), parameter("k", max)],
        locals: local.into_iter().collect(),
        groups: [groups, "(m + 15) / 16", "1"].map(text),
        domain: Some([domain, "m", "1"].map(text)),
        ..correct()
    };
    let coupling = coupled(&interface, &[], &[], Some(&LARGE));
    let dispatch =
        |row: &&CouplingCheck| row.check.starts_with("dispatch") && row.message.starts_with("in x");
    coupling.checks.iter().filter(dispatch).cloned().collect()
}

#[test]
fn rounding_up_covers_every_domain_that_it_does_not_wrap_for() {
    let tile = || {
        Some(HostLocal { name: "TILE".to_owned(), width: HostType::Uint32, value: "16".to_owned() })
    };
    let most = i64::from(u32::MAX);
    for (groups, domain, max) in [
        ("(k + 15) / 16", "k", 1 << 31),
        ("(k + 15) / 16", "k", most - 15),
        ("(15 + k) / 16u", "k", 1 << 31),
        ("(k + 15) / 8", "k", 1 << 31),
        ("(k - 1) / 16 + 1", "k", most),
        ("k / 16 + 1", "k", most),
        ("(k + TILE - 1) / TILE", "k", 1 << 31),
        ("uint32((uint64(k) + 15) / 16)", "k", most),
        ("(k + 16) / 16", "k + 1", 1 << 31),
        ("(k * 2 + 15) / 16", "k * 2", 1 << 30),
    ] {
        let rows = in_x(groups, domain, max, tile());
        assert_eq!(rows.len(), 2);
        assert!(
            rows.iter().all(|row| row.status == CheckStatus::Holds),
            "{groups} for {domain} up to {max}: {rows:#?}"
        );
    }
}

#[test]
fn rounding_up_that_wraps_is_refuted_with_the_value() {
    let most = i64::from(u32::MAX);
    for max in [most - 14, most] {
        let rows = in_x("(k + 15) / 16", "k", max, None);
        let covers = rows.iter().find(|row| row.check == "dispatch-covers-domain").unwrap();
        assert_eq!(covers.status, CheckStatus::Refuted, "{covers:?}");
        assert!(covers.counterexample.as_ref().unwrap()["k"] > most - 15, "{covers:?}");
    }
}

#[test]
fn what_only_looks_like_rounding_up_is_not_proved() {
    let large = 1i64 << 31;
    for (groups, domain) in [
        ("(k + 14) / 16", "k"),
        ("(k + 31) / 32", "k"),
        ("(m + 15) / 16", "k"),
        ("(k + 15) / 16", "k + 1"),
        ("(k - 2) / 16 + 1", "k"),
        ("(k - m + 15) / 16", "k - m"),
        ("k / 16", "k"),
    ] {
        let rows = in_x(groups, domain, large, None);
        let covers = rows.iter().find(|row| row.check == "dispatch-covers-domain").unwrap();
        assert_ne!(covers.status, CheckStatus::Holds, "{groups} for {domain}: {covers:?}");
    }
}

proptest::proptest! {
    /// Against every value of the parameter: a proof is right, and what has enough added is proved.
    #[test]
    fn a_proof_by_form_is_right_for_every_value(
        (a, b, c, less) in (0i128..40, 0i128..3, 1i128..20, 0i128..3),
        (local, further) in (1i128..20, 0i128..3),
        low in 0i64..40,
        shape in 0usize..3,
    ) {
        let interface = Interface { parameters: vec![HostParameter { min: low, ..parameter("k", low + 60) }], ..correct() };
        let host = HostModel::from_interface(&interface, [16, 16, 1]).unwrap();
        let groups = match shape {
            0 => format!("(k + {a}) / {c} + {b}"),
            1 => format!("(k - {a}) / {c} + {b}"),
            _ => format!("{b} + ({a} + k - {less}) / {c}"),
        };
        let groups = host.parse_expression(&groups, "groups").unwrap();
        let domain = host.parse_expression(&format!("k + {further}"), "domain").unwrap();
        let proved = cover::covers_by_form(&host, &groups, &domain, local);
        let value = |expression: &HostExpression, k: i64| {
            let case = host.named_case(&BTreeMap::from([("k".to_owned(), k)]));
            expression.evaluate(&case.scope, DivisionRounding::Truncate, &mut Vec::new()).value
        };
        let covers = (low..=low + 60).all(|k| value(&groups, k) * local >= value(&domain, k));
        proptest::prop_assert!(covers || !proved);
        if shape == 0 && c <= local && a - further + b * c >= c - 1 {
            proptest::prop_assert!(proved);
        }
    }
}

#[test]
fn what_is_too_large_to_try_is_never_claimed() {
    let rows = in_x("k / 16 + min(k % 16, 1)", "k", i64::from(u32::MAX) - 100, None);
    assert!(rows.iter().all(|row| row.status == CheckStatus::Undetermined), "{rows:#?}");
}

#[test]
fn the_graph_couples_parameters_to_what_uses_them() {
    let coupling = coupled(&figure_two(), &[], &[], Some(&LARGE));
    let edges = coupling.graph.edges();
    let has = |from: &str, to: &str| edges.iter().any(|edge| edge.from == from && edge.to == to);
    assert!(
        has("parameter:m", "local:number_of_threads") && has("local:number_of_threads", "dispatch")
    );
    assert!(
        has("parameter:m", "push-constant:0")
            && has("local-size", "workgroup:tile")
            && has("parameter:k", "domain")
    );
    assert!(coupling.graph.dot("k").starts_with("digraph \"k\" {"));
    assert!(coupling.graph.text().contains("    <- local:number_of_threads (data, x)"));
}

#[test]
fn an_unknown_name_in_the_interface_is_a_diagnostic() {
    let module = module();
    let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
    let interface =
        Interface { groups: ["(q + 15) / 16", "1", "1"].map(str::to_owned), ..correct() };
    let input = CouplingInput {
        interface: &interface,
        module: &module,
        reflection: &reflection,
        structure: None,
        barriers: &[],
        tests: &[],
        device: None,
    };
    let diagnostic = couple(&input).unwrap_err();
    assert!(diagnostic.message.contains("`q` is not declared"), "{}", diagnostic.message);
    assert_eq!(diagnostic.location.unwrap().span, Some(1..2));
}

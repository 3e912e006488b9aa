//! Captured dispatches against the demonstration's host.

use super::*;
use vkcert_model::image::{ImageDim, ImageFormat};
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::project::MemoryModel;
use vkcert_model::requirement::{
    BoundBytes, BoundImage, CaptureReading, CapturedDispatch, CapturedKernel, CapturedModules,
    CapturedOrder, GivenFacts, HostImage, HostSpecialization,
};

/// What the demonstration's host gives for m, n and k.
fn given(m: u32, n: u32, k: u32) -> GivenFacts {
    let numbers = [m, n, k].into_iter().flat_map(|number| number.to_le_bytes());
    let bound =
        |binding, elements: u32| BoundBytes { set: 0, binding, bytes: 4 * u64::from(elements) };
    GivenFacts {
        groups: Some([k.div_ceil(16), m.div_ceil(16), 1]),
        local_size: Some([16, 16, 1]),
        specialization: BTreeMap::new(),
        push_constants: numbers.map(|byte| format!("{byte:02x}")).collect(),
        buffers: vec![bound(0, m * n), bound(1, n * k), bound(2, m * k)],
        images: Vec::new(),
        unseen: None,
    }
}

fn captured(all_given: &[GivenFacts]) -> CapturedKernel {
    let dispatch = |(index, given): (usize, &GivenFacts)| CapturedDispatch {
        dispatch: index as u32 + 1,
        operation: 10 * (index + 1),
        count: 3,
        given: given.clone(),
    };
    let dispatches: Vec<_> = all_given.iter().enumerate().map(dispatch).collect();
    let reading = CaptureReading {
        file: "host.capture".to_owned(),
        sha256: "sha256:0123456789abcdef0123".to_owned(),
        modules: CapturedModules::Production(vec![1]),
        dispatch_count: 3 * all_given.len() as u64,
        dispatches: dispatches.clone(),
        unlisted: 0,
    };
    CapturedKernel { reading, dispatches, checks: Vec::new(), order: CapturedOrder::default() }
}

fn coupled_with_capture(interface: &Interface, captured: &CapturedKernel) -> Coupling {
    let module = module();
    let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
    let flow = KernelFlow::of_production(&module, "main", &BTreeMap::new()).unwrap();
    let place = Place { file: Some("host.toml".to_owned()), line: Some(3), ..Place::default() };
    let input = CouplingInput {
        memory_model: MemoryModel::Idiom,
        interface,
        stated: StatedStructs { interface, place: &place, readings: &[] },
        pipelines: &[],
        earlier: &[],
        captures: std::slice::from_ref(captured),
        module: &module,
        reflection: &reflection,
        structure: None,
        flow: &flow,
        barriers: &[],
        tests: &[],
        device: Some(&LARGE),
        replay: None,
    };
    analyse_coupling(&input).unwrap()
}

/// Messages of the rows about facts, by status.
fn facts(interface: &Interface, all_given: &[GivenFacts]) -> Vec<(String, CheckStatus)> {
    let coupling = coupled_with_capture(interface, &captured(all_given));
    let names = ["host-facts", "push-constant-values"];
    let of_facts = coupling.checks.iter().filter(|row| names.contains(&row.check.as_str()));
    of_facts.map(|row| (row.message.clone(), row.status.clone())).collect()
}

fn refuted_facts(interface: &Interface, all_given: &[GivenFacts]) -> Vec<String> {
    let rows = facts(interface, all_given).into_iter();
    rows.filter(|row| row.1 == CheckStatus::Refuted).map(|row| row.0).collect()
}

#[test]
fn dispatches_that_are_given_what_is_stated_contradict_nothing() {
    let rows = facts(&correct(), &[given(20, 16, 20), given(1, 1, 1)]);
    assert!(rows.iter().all(|row| row.1 == CheckStatus::Holds), "{rows:#?}");
    let words = "6 dispatches are given what the interface states: buffer 0.0, buffer 0.1, buffer \
                 0.2, local size, workgroups in x, workgroups in y, workgroups in z";
    assert!(rows.iter().any(|row| row.0.ends_with(words)), "{rows:#?}");
    assert!(rows.iter().any(|row| row.0.contains("push in k, m, n is what")), "{rows:#?}");
}

/// Views that are bound have the extent, the layers and the levels that the interface states.
#[test]
fn bound_images_are_as_large_as_stated() {
    let text = |number: &str| Some(number.to_owned());
    let image = HostImage {
        set: 0,
        binding: 5,
        name: None,
        class: DescriptorClass::StorageImage,
        format: Some(ImageFormat::R32ui),
        dimension: Some(ImageDim::Two),
        layered: true,
        multisampled: false,
        extent: vec!["k".to_owned(), "m + 1".to_owned()],
        layers: text("3"),
        levels: text("n - 14"),
        host_writes: true,
    };
    let interface = Interface { images: vec![image], ..correct() };
    let bound = |extent: [u32; 3], layers: u32, levels: u32| {
        let bound = BoundImage { set: 0, binding: 5, extent, layers, levels };
        GivenFacts { images: vec![bound], ..given(20, 16, 24) }
    };
    assert_eq!(refuted_facts(&interface, &[bound([24, 21, 1], 3, 2)]), Vec::<String>::new());
    for (wrong, words) in [
        (
            bound([20, 21, 1], 3, 2),
            "has 20 texels in x of the image at 0.5, and the interface states k, which is 24",
        ),
        (
            bound([24, 20, 1], 3, 2),
            "has 20 texels in y of the image at 0.5, and the interface states m + 1, which is 21",
        ),
        (
            bound([24, 21, 1], 4, 2),
            "has 4 layers of the image at 0.5, and the interface states 3, which is 3",
        ),
        (
            bound([24, 21, 1], 3, 1),
            "has 1 levels of the image at 0.5, and the interface states n - 14, which is 2",
        ),
    ] {
        let messages = refuted_facts(&interface, &[wrong]);
        assert!(messages.len() == 1 && messages[0].contains(words), "{messages:#?}");
    }
}

#[test]
fn the_papers_order_of_members_shows_in_buffers_and_workgroups_without_a_range() {
    // Figure 2 initialises the struct as n, m, k; the kernel and its interface have m, n, k.
    let any = |name: &str| HostParameter { min: 0, ..parameter(name, i64::from(u32::MAX)) };
    let interface = Interface { parameters: ["m", "n", "k"].map(any).to_vec(), ..correct() };
    let (m, n, k) = (20, 48, 36);
    assert_eq!(refuted_facts(&interface, &[given(m, n, k)]), Vec::<String>::new());
    let numbers = given(n, m, k).push_constants;
    let swapped = GivenFacts { push_constants: numbers, ..given(m, n, k) };
    let told = refuted_facts(&interface, &[swapped]);
    assert_eq!(told.len(), 3, "{told:#?}");
    let words = "dispatch 1 (operation 10) has 2 workgroups in y, and the interface states (m + 15) \
                 / 16, which is 3 for k = 36, m = 48, n = 20; so in 2 dispatches more (the \
                 interface is at host.toml:3)";
    assert!(told.iter().any(|message| message.contains(words)), "{told:#?}");
    assert!(told.iter().any(|message| message.contains("has 2880 bytes bound at 0.2")));
}

#[test]
fn each_fact_is_compared() {
    let right = given(20, 16, 20);
    let mut cases: Vec<(GivenFacts, &str)> = Vec::new();
    let mut case = |change: &dyn Fn(&mut GivenFacts), words: &'static str| {
        let mut changed = right.clone();
        change(&mut changed);
        cases.push((changed, words));
    };
    case(&|given| given.groups = Some([2, 2, 2]), "has 2 workgroups in z");
    case(&|given| given.local_size = Some([8, 8, 1]), "runs workgroups of 8 x 8 x 1 invocations");
    case(&|given| given.buffers[1].bytes += 4, "has 1284 bytes bound at 0.1");
    case(&|given| given.buffers[1].bytes -= 4, "has 1276 bytes bound at 0.1");
    case(
        &|given| given.push_constants.replace_range(0..8, "00001000"),
        "pushes m = 1048576 at byte 0, and the interface states 1 to 4096 for m",
    );
    for (changed, words) in cases {
        let told = refuted_facts(&correct(), std::slice::from_ref(&changed));
        assert!(told.iter().any(|message| message.contains(words)), "{words}: {told:#?}");
    }
    // What nothing set, and what a command hides that is not modelled, is not compared.
    let unset = GivenFacts { push_constants: "--------".repeat(3), ..right.clone() };
    assert_eq!(refuted_facts(&correct(), &[unset]), Vec::<String>::new());
    let unseen = GivenFacts { unseen: Some("vkCmdFoo".to_owned()), ..given(1, 2, 3) };
    let rows = facts(&correct(), &[unseen]);
    let open =
        "what 3 dispatches are given is not compared, because it is not known behind vkCmdFoo";
    assert!(rows.iter().any(|row| row.0.contains(open)), "{rows:#?}");
    assert!(rows.iter().all(|row| row.1 != CheckStatus::Holds), "{rows:#?}");
    let indirect = GivenFacts { groups: None, ..right };
    let rows = facts(&correct(), &[indirect]);
    let words = "how many workgroups 3 of them have is read on the device";
    assert!(rows.iter().any(|row| row.0.contains(words)), "{rows:#?}");
}

#[test]
fn what_no_member_holds_is_compared_with_its_interval() {
    // The host pushes neither m nor k as they are, but m + 1 and nothing.
    let mut interface = correct();
    let mut block = members(&["m", "n", "k"]);
    block.members[2].value = Some("n + 1".to_owned());
    interface.push_constants = Some(block);
    let of = |groups: u32, last: u32| GivenFacts {
        groups: Some([groups, 2, 1]),
        push_constants: given(20, 16, last).push_constants,
        ..given(20, 16, 20)
    };
    let rows = facts(&interface, &[of(2, 17)]);
    assert!(rows.iter().all(|row| row.1 == CheckStatus::Holds), "{rows:#?}");
    let words = "workgroups in x: within the values that are possible, since no member of the push \
                 constants holds k";
    assert!(rows.iter().any(|row| row.0.contains(words)), "{rows:#?}");
    let told = refuted_facts(&interface, &[of(257, 17)]);
    let words =
        "has 257 workgroups in x, and the interface states (k + 15) / 16, which is 1 to 256";
    assert!(told.len() == 1 && told[0].contains(words), "{told:#?}");
    let told = refuted_facts(&interface, &[of(2, 18)]);
    let words =
        "pushes k = 18 at byte 8, and the interface states n + 1, which is 17 for m = 20, n = 16";
    assert!(told.len() == 1 && told[0].contains(words), "{told:#?}");
}

#[test]
fn what_refutes_names_both_places_and_the_file_by_its_hash() {
    let wrong = GivenFacts { groups: Some([1, 1, 1]), ..given(20, 16, 20) };
    let coupling = coupled_with_capture(&correct(), &captured(&[wrong]));
    let finding = &coupling.findings[0];
    let file = |place: &Option<Place>| place.as_ref().and_then(|place| place.file.clone());
    assert_eq!(file(&finding.place).as_deref(), Some("host.capture"));
    assert_eq!(file(&finding.other_place).as_deref(), Some("host.toml"));
    let details = serde_json::to_value(finding).unwrap()["details"].clone();
    assert_eq!(details["about"], "host.capture 0123456789abcdef: workgroups in x");
    assert_eq!(details["counterexample"]["k"], 20);
}

#[test]
fn a_capture_without_the_kernel_is_undetermined() {
    let mut absent = captured(&[]);
    absent.reading.modules = CapturedModules::Production(Vec::new());
    let mut unused = captured(&[]);
    unused.reading.dispatch_count = 0;
    for (capture, words) in [
        (absent, "no shader module is the production module of `matmul` byte by byte"),
        (unused, "no dispatch runs the module of `matmul`"),
    ] {
        let coupling = coupled_with_capture(&correct(), &capture);
        let open: Vec<_> =
            coupling.checks.iter().filter(|row| row.status != CheckStatus::Holds).collect();
        assert_eq!(open.len(), 1, "{open:#?}");
        assert_eq!(open[0].status, CheckStatus::Undetermined);
        assert!(open[0].message.contains(words), "{open:#?}");
    }
}

#[test]
fn constants_are_compared_with_what_is_stated_or_their_defaults() {
    let source = "#version 450\nlayout(local_size_x = 16, local_size_y = 16) in;\n\
                  layout(constant_id = 3) const int SHIFT = -2;\n\
                  layout(std430, binding = 0) buffer Values { int values[]; };\n\
                  void main() { values[0] = SHIFT; }";
    let module = compiled(source);
    let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
    let flow = KernelFlow::of_production(&module, "main", &BTreeMap::new()).unwrap();
    let place = Place::default();
    let told = |stated: Option<&str>, bits: Option<u64>| {
        let specialization = stated.into_iter();
        let specialization =
            specialization.map(|value| HostSpecialization { id: 3, value: value.to_owned() });
        let interface = Interface {
            specialization: specialization.collect(),
            buffers: Vec::new(),
            push_constants: None,
            ..correct()
        };
        let given = GivenFacts {
            specialization: bits.into_iter().map(|bits| (3, bits)).collect(),
            groups: None,
            ..given(20, 16, 20)
        };
        let captures = [captured(&[given])];
        let input = CouplingInput {
            memory_model: MemoryModel::Idiom,
            interface: &interface,
            stated: StatedStructs { interface: &interface, place: &place, readings: &[] },
            pipelines: &[],
            earlier: &[],
            captures: &captures,
            module: &module,
            reflection: &reflection,
            structure: None,
            flow: &flow,
            barriers: &[],
            tests: &[],
            device: Some(&LARGE),
            replay: None,
        };
        let coupling = analyse_coupling(&input).unwrap();
        refuted(&coupling, "host-facts")
            .into_iter()
            .map(|row| row.message.clone())
            .collect::<Vec<_>>()
    };
    let none = Vec::<String>::new();
    assert_eq!(told(None, None), none);
    assert_eq!(told(None, Some(0xffff_fffe)), none);
    assert_eq!(told(Some("-2"), None), none);
    assert_eq!(told(Some("5"), Some(5)), none);
    let words =
        "has 7 for the specialization constant 3, which the interface leaves at its default -2";
    assert!(told(None, Some(7))[0].contains(words));
    let words = "has -2 for the specialization constant 3, and the interface states 5";
    assert!(told(Some("5"), None)[0].contains(words));
}

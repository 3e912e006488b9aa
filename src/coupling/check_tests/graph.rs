//! The graph of the paper's host code and of small kernels, edge by edge.

use super::*;
use vkcert_glsl::{KernelSource, compile};
use vkcert_model::evidence::CouplingEdge;

/// The graph's edges as `from -kind-> to`, with their lines.
fn arrows(coupling: &Coupling) -> Vec<String> {
    let arrow = |edge: &CouplingEdge| {
        let lines: Vec<String> = edge.places.iter().map(|place| place.line.to_string()).collect();
        let lines = if lines.is_empty() { String::new() } else { format!(" {}", lines.join(" ")) };
        format!("{} -{}-> {}{lines}", edge.from, edge.kind, edge.to)
    };
    coupling.graph.edges().iter().map(arrow).collect()
}

/// The graph of a kernel with marked text.
fn coupled_text(source: &str, interface: &Interface) -> Coupling {
    coupled_under(MemoryModel::Idiom, source, interface)
}

fn coupled_under(memory_model: MemoryModel, source: &str, interface: &Interface) -> Coupling {
    let compiled = compile(&KernelSource::alone("k.comp", source, "vulkan1.2")).expect("compiles");
    let module = Module::parse(compiled.production).expect("SPIR-V");
    let marked = Module::parse(compiled.marked).expect("SPIR-V");
    let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
    let flow =
        KernelFlow::of_marked(&compiled.structure, &marked, "main", &BTreeMap::new()).unwrap();
    let barriers = kernel_barriers(&module, &reflection);
    let place = Place::default();
    let coupling_input = CouplingInput {
        interface,
        stated: StatedStructs { interface, place: &place, readings: &[] },
        pipelines: &[],
        earlier: &[],
        captures: &[],
        module: &module,
        reflection: &reflection,
        structure: Some(&compiled.structure),
        flow: &flow,
        barriers: &barriers,
        tests: &[],
        device: Some(&LARGE),
        replay: None,
        memory_model,
    };
    analyse_coupling(&coupling_input).unwrap()
}

fn contain(arrows: &[String], wanted: &[&str]) {
    for arrow in wanted {
        assert!(arrows.iter().any(|known| known == arrow), "{arrow} is not in {arrows:#?}");
    }
}

#[test]
fn host_values_flow_to_what_they_are_stored_as_and_size_what_they_size() {
    let coupling = coupled(&figure_two(), &[], &[], Some(&LARGE));
    let arrows = arrows(&coupling);
    contain(
        &arrows,
        &[
            "parameter:m -flows-to-> local:number_of_threads",
            "local:number_of_threads -sizes-> dispatch",
            "parameter:n -flows-to-> host-member:n",
            // The host stores n where the kernel reads m.
            "host-member:n -flows-to-> push-constant:0",
            "parameter:m -sizes-> buffer:0.2",
            "parameter:k -sizes-> domain",
            "assumed-local-size -sizes-> local-size",
        ],
    );
    assert!(
        !arrows.iter().any(|arrow| arrow.starts_with("host-member:m -flows-to-> push-constant:0"))
    );
    assert!(coupling.graph.graphviz_text("k").starts_with("digraph \"k\" {"));
    let words = coupling.graph.in_words();
    assert!(words.contains("    <- local:number_of_threads (sizes, x)"), "{words}");
}

#[test]
fn inside_the_kernel_values_indices_conditions_and_barriers_are_told_apart() {
    let arrows = arrows(&coupled_text(KERNEL, &correct()));
    contain(
        &arrows,
        &[
            "dispatch -flows-to-> built-in:GlobalInvocationId",
            "local-size -flows-to-> built-in:LocalInvocationId",
            "built-in:LocalInvocationId -indexes-> workgroup:tile 10",
            "buffer-member:0.0+0 -flows-to-> workgroup:tile 10",
            "barrier:BAR1 -orders-> workgroup:tile",
            "workgroup:tile -flows-to-> buffer-member:0.2+0 12",
            "push-constant:1 -flows-to-> buffer-member:0.2+0 12",
            "push-constant:2 -indexes-> buffer-member:0.2+0 12",
            "push-constant:0 -flows-to-> decision:D1 12",
            "built-in:GlobalInvocationId -flows-to-> decision:D1 12",
            "decision:D1 -controls-> buffer-member:0.2+0 12",
        ],
    );
    let wrong = ["push-constant:0 -flows-to-> buffer-member:0.2+0", "push-constant:1 -indexes->"];
    for start in wrong.iter().chain(&["decision:D1 -controls-> barrier:BAR1"]) {
        assert!(!arrows.iter().any(|arrow| arrow.starts_with(start)), "{start} is in {arrows:#?}");
    }
}

#[test]
fn a_barrier_under_a_guard_is_controlled_by_its_decision() {
    let guarded = KERNEL.replace("    barrier();\n", "").replace("{ result", "{ barrier(); result");
    let coupling = coupled_text(&guarded, &correct());
    let arrows = arrows(&coupling);
    contain(&arrows, &["decision:D1 -controls-> barrier:BAR1 11"]);
    let edges = coupling.graph.edges();
    let control = edges.iter().find(|edge| edge.from == "decision:D1" && edge.to == "barrier:BAR1");
    assert_eq!(control.map(|edge| edge.label.as_str()), Some("not uniform"));
}

#[test]
fn a_kernel_without_text_says_that_its_decisions_are_not_known() {
    let compiled = compile(&KernelSource::alone("k.comp", KERNEL, "vulkan1.2")).expect("compiles");
    let module = module();
    let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
    let flow = KernelFlow::of_production(&module, "main", &BTreeMap::new()).unwrap();
    let interface = correct();
    let place = Place::default();
    let coupling_input = CouplingInput {
        interface: &interface,
        stated: StatedStructs { interface: &interface, place: &place, readings: &[] },
        pipelines: &[],
        earlier: &[],
        captures: &[],
        module: &module,
        reflection: &reflection,
        structure: Some(&compiled.structure),
        flow: &flow,
        barriers: &[],
        tests: &[],
        device: None,
        replay: None,
        memory_model: MemoryModel::Idiom,
    };
    let nodes = analyse_coupling(&coupling_input).unwrap().graph.nodes();
    let decision = nodes.iter().find(|node| node.id == "decision:D1").expect("a decision");
    assert!(decision.label.ends_with("(what it depends on is not known)"), "{}", decision.label);
}

#[test]
fn a_decision_that_no_marker_stands_at_says_that_it_is_not_known() {
    let constant = KERNEL.replace("void main", "const uint LAST = 3u > 2u ? 1u : 2u;\nvoid main");
    let constant = constant.replace("left[0];", "left[LAST];");
    let nodes = coupled_text(&constant, &correct()).graph.nodes();
    let decisions = nodes.iter().filter(|node| node.id.starts_with("decision:"));
    let labels: Vec<&str> = decisions.map(|node| node.label.as_str()).collect();
    let expected = ["3u > 2u (what it depends on is not known)", "x < k && y < m"];
    assert_eq!(labels, expected);
}

#[test]
fn names_of_nodes_hold_whatever_is_written_around_them() {
    let moved = format!("// A line above.\n\n{KERNEL}").replace("#version 450\n", "");
    let moved = format!("#version 450\n{moved}");
    let [ids, moved_ids] = [KERNEL, moved.as_str()].map(|source| {
        let nodes = coupled_text(source, &correct()).graph.nodes();
        nodes.into_iter().map(|node| node.id).collect::<Vec<_>>()
    });
    assert_eq!(ids, moved_ids);
}

/// A kernel whose control chooses what it stores.
const CHOOSING: &str = "#version 450
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 0) writeonly buffer B { float b[]; };
layout(std430, binding = 1) buffer R { uint r[]; };
layout(r32ui, binding = 2) uniform uimage2D picture;
layout(push_constant) uniform P { uint mode; uint limit; uint list[2]; uint last; };
void main() {
    uint l = gl_LocalInvocationIndex;
    switch (mode) {
        case 0: r[l] = 1; break;
        default: break;
    }
    b[l] = 3.0;
    imageStore(picture, ivec2(l, 0), uvec4(4));
    memoryBarrierImage(); barrier();
    r[l + 8] = list[l & 1] + a[l];
    uint x = 0;
    if (limit > 3) x = 1;
    r[l + 16] = x;
}";

#[test]
fn control_that_chooses_whether_and_what_to_store_leads_to_what_is_stored() {
    let coupling = coupled_text(CHOOSING, &correct());
    let arrows = arrows(&coupling);
    contain(
        &arrows,
        &[
            "push-constant:0 -controls-> buffer-member:0.1+0 11",
            "push-constant:2 -flows-to-> buffer-member:0.1+0 17",
            "push-constant:1 -flows-to-> decision:D1 19",
            "decision:D1 -controls-> buffer-member:0.1+0 20",
        ],
    );
    let wrong = ["push-constant:3 -", "push-constant:0 -flows-to-", "decision:D1 -flows-to->"];
    for start in wrong {
        assert!(!arrows.iter().any(|arrow| arrow.starts_with(start)), "{start} is in {arrows:#?}");
    }
}

#[test]
fn blocks_at_one_binding_are_one_node_with_both_names() {
    let nodes = coupled_text(CHOOSING, &correct()).graph.nodes();
    let buffer = nodes.iter().find(|node| node.id == "buffer:0.0").expect("a buffer");
    assert_eq!(buffer.label, "B, write only; A, read only");
}

/// Blocks whose members lie at several places, and what is not told apart.
const MEMBERS: &str = "#version 450
layout(local_size_x = 8) in;
struct Star { vec2 at; uint flags; };
layout(std430, binding = 0) buffer A { uint count; uint sums[4]; Star stars[]; } a;
layout(std430, binding = 1) buffer B { uint first; uint second; };
layout(std430, binding = 1) buffer C { uint both[]; };
layout(std140, binding = 2) uniform D { vec4 limits; } d[2];
void main() {
    a.count = a.sums[gl_LocalInvocationIndex];
    a.stars[a.count].flags = uint(d[1].limits.x);
    second = both[0];
}";

#[test]
fn members_of_blocks_stand_apart_with_offset_and_type() {
    let graph = coupled_text(MEMBERS, &correct()).graph;
    let members = graph.nodes().into_iter().filter(|node| node.kind.as_str() == "buffer member");
    let members: Vec<String> = members.map(|node| format!("{}: {}", node.id, node.label)).collect();
    let expected = [
        "buffer-member:0.0+0: a.count, uint at offset 0",
        "buffer-member:0.0+4: a.sums, uint[] at offset 4",
        "buffer-member:0.0+24: a.stars, Star[] at offset 24",
        "buffer-member:0.2+0: d.limits, vec4 at offset 0",
    ];
    assert_eq!(members, expected);
    let arrows = arrows(&coupled_text(MEMBERS, &correct()));
    contain(
        &arrows,
        &[
            "buffer:0.0 -sizes-> buffer-member:0.0+24",
            "buffer-member:0.0+4 -flows-to-> buffer-member:0.0+0 9",
            "buffer-member:0.2+0 -flows-to-> buffer-member:0.0+24 10",
            "buffer-member:0.0+0 -indexes-> buffer-member:0.0+24 10",
            // Blocks of one binding with other offsets are one memory as a whole.
            "buffer:0.1 -flows-to-> buffer:0.1 11",
        ],
    );
    let wrong = ["buffer:0.0 -flows-to->", "buffer-member:0.0+4 -flows-to-> buffer-member:0.0+24"];
    for start in wrong {
        assert!(!arrows.iter().any(|arrow| arrow.starts_with(start)), "{start} is in {arrows:#?}");
    }
}

/// Members of a struct at the start of a buffer flow to the kernel's members at their places, those
/// of elements to all.
#[test]
fn members_of_structs_in_buffers_flow_to_the_members_of_blocks() {
    let coupling = |first: serde_json::Value| {
        let interface = serde_json::json!({
            "kernel": "k",
            "groups": ["1", "1", "1"],
            "structs": [
                { "name": "Head", "members": [
                    { "name": "total", "type": "uint32" },
                    { "name": "parts", "type": "uint32", "count": 4 },
                ] },
                { "name": "Limit", "members": [
                    { "name": "low", "type": "float32" }, { "name": "high", "type": "float32" },
                ] },
            ],
            "buffers": [
                first,
                { "set": 0, "binding": 1, "size": "64", "element": "Limit" },
                { "set": 0, "binding": 2, "size": "64", "element": "Limit" },
            ],
        });
        coupled_text(MEMBERS, &serde_json::from_value(interface).expect("an interface"))
    };
    let block =
        coupling(serde_json::json!({ "set": 0, "binding": 0, "size": "64", "block": "Head" }));
    let from_host = |coupling: &Coupling| -> Vec<String> {
        let arrows = arrows(coupling).into_iter();
        let mut from_host: Vec<String> =
            arrows.filter(|arrow| arrow.starts_with("host-member:")).collect();
        from_host.sort();
        from_host
    };
    let expected = [
        "host-member:0.0.parts -flows-to-> buffer-member:0.0+4",
        "host-member:0.0.total -flows-to-> buffer-member:0.0+0",
        // The kernel's blocks there have other members each.
        "host-member:0.1.high -flows-to-> buffer:0.1",
        "host-member:0.1.low -flows-to-> buffer:0.1",
        "host-member:0.2.high -flows-to-> buffer-member:0.2+0",
        "host-member:0.2.low -flows-to-> buffer-member:0.2+0",
    ];
    assert_eq!(from_host(&block), expected);
    let nodes = block.graph.nodes();
    let parts = nodes.iter().find(|node| node.id == "host-member:0.0.parts").expect("a member");
    assert!(parts.label.ends_with("Head.parts at offset 4"), "{}", parts.label);
    let element =
        coupling(serde_json::json!({ "set": 0, "binding": 0, "size": "64", "element": "Limit" }));
    let expected = [0, 24, 4]
        .map(|offset| format!("host-member:0.0.high -flows-to-> buffer-member:0.0+{offset}"));
    assert_eq!(from_host(&element)[..3], expected);
}

/// A barrier orders the memory that its semantics name, images apart from buffers.
#[test]
fn a_barrier_orders_images_or_buffers_as_its_semantics_name_them() {
    let ordered_by = |semantics: &str| {
        let source = CHOOSING
            .replace("#version 450", "#version 450\n#extension GL_KHR_memory_scope_semantics : require")
            .replace(
                "memoryBarrierImage(); barrier();",
                &format!(
                    "controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, {semantics}, gl_SemanticsAcquireRelease);"
                ),
            );
        let arrows = arrows(&coupled_text(&source, &correct()));
        let orders = arrows.into_iter().filter(|arrow| {
            arrow.contains(" -orders-> buffer") || arrow.contains(" -orders-> image")
        });
        orders.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(ordered_by("gl_StorageSemanticsImage"), "barrier:BAR1 -orders-> image:0.2");
    assert_eq!(
        ordered_by("gl_StorageSemanticsBuffer"),
        "barrier:BAR1 -orders-> buffer-member:0.0+0, barrier:BAR1 -orders-> buffer-member:0.1+0"
    );
}

/// The idiom takes a fence before a barrier for one behind it; the specification does not.
#[test]
fn a_fence_before_a_barrier_orders_under_the_idiom_alone() {
    let ordered = |model: MemoryModel, fences: &str| {
        let source = CHOOSING.replace("memoryBarrierImage(); barrier();", fences);
        let edges = coupled_under(model, &source, &correct()).graph.edges();
        let is_memory = |id: &str| !id.starts_with("barrier");
        let ordered = edges
            .into_iter()
            .filter(|edge| edge.kind.as_str() == "orders" && is_memory(edge.to.as_str()));
        ordered.map(|edge| format!("{} {}", edge.to, edge.label)).collect::<Vec<_>>().join(", ")
    };
    let cases = [
        ("memoryBarrierImage(); barrier();", "image:0.2 by the idiom alone", ""),
        ("memoryBarrierImage(); barrier(); memoryBarrierImage();", "image:0.2 ", "image:0.2 "),
        ("barrier(); memoryBarrierImage();", "", ""),
        ("barrier();", "", ""),
        ("memoryBarrierShared(); barrier();", "", ""),
    ];
    for (fences, by_idiom, by_specification) in cases {
        assert_eq!(ordered(MemoryModel::Idiom, fences), by_idiom, "{fences}");
        assert_eq!(ordered(MemoryModel::Spec, fences), by_specification, "{fences}");
    }
}

/// Two barriers in a loop, one of them in a function, and code behind it.
const LOOPING: &str = "#version 450
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) buffer B { uint b[]; };
layout(push_constant) uniform P { uint m; };
shared uint tile[8];
void wait() { barrier(); }
void main() {
    uint l = gl_LocalInvocationIndex, s = 0u;
    for (uint i = 0u; i < m; i++) {
        tile[l] = a[l + 8u * i];
        barrier();
        s += tile[7u - l];
        wait();
    }
    b[l] = s;
}";

#[test]
fn regions_stand_between_barriers_with_what_flows_out_of_and_into_them() {
    let coupling = coupled_text(LOOPING, &correct());
    let nodes = coupling.graph.nodes();
    let regions = nodes.iter().filter(|node| node.kind.as_str() == "barrier region");
    let regions: Vec<String> = regions.map(|node| format!("{}: {}", node.id, node.label)).collect();
    let barrier_at = |line: u32| {
        let mut barriers = nodes.iter().filter(|node| node.kind.as_str() == "barrier");
        let barrier = barriers.find(|node| node.place.as_ref().is_some_and(|at| at.line == line));
        barrier.expect("a barrier").id.trim_start_matches("barrier:").to_owned()
    };
    // In the module the function may stand before or behind `main`.
    let (inner, called) = (barrier_at(12), barrier_at(7));
    let mut expected = vec![
        format!("barrier-region:start: from start to {inner} or end"),
        format!("barrier-region:{inner}: from {inner} to {called}"),
        format!("barrier-region:{called}: from {called} to {inner} or end"),
    ];
    expected[1..].sort();
    assert_eq!(regions, expected);
    let arrows = arrows(&coupling);
    let wanted = [
        "barrier-region:start -flows-to-> workgroup:tile 11".to_owned(),
        format!("barrier-region:start -orders-> barrier:{inner}"),
        format!("barrier:{inner} -orders-> barrier-region:{inner}"),
        format!("workgroup:tile -flows-to-> barrier-region:{inner} 13"),
        format!("barrier-region:{inner} -orders-> barrier:{called}"),
        format!("barrier-region:{called} -flows-to-> workgroup:tile 11"),
        format!("barrier-region:{called} -orders-> barrier:{inner}"),
    ];
    contain(&arrows, &wanted.each_ref().map(String::as_str));
    // Nobody reads what is stored in B, and A is not written.
    let of_regions: Vec<&String> =
        arrows.iter().filter(|arrow| arrow.contains("barrier-region:")).collect();
    assert_eq!(of_regions.len(), wanted.len() + 1, "{of_regions:#?}");
    let without = LOOPING.replace("barrier();", "");
    let nodes = coupled_text(&without, &correct()).graph.nodes();
    assert!(nodes.iter().all(|node| node.kind.as_str() != "barrier region"));
}

const SIZED: &str = "#version 450
layout(local_size_x_id = 0, local_size_y = 2) in;
layout(constant_id = 1) const uint TILE = 8u;
layout(constant_id = 2) const uint STEP = 1u;
layout(std430, binding = 0) buffer A { uint a[]; };
layout(std430, binding = 1) readonly buffer B { uint b[]; };
layout(std430, binding = 2) readonly buffer C { uint c[TILE]; };
shared uint tile[TILE * 2u];
shared uint fixed_tile[4];
void main() {
    tile[0] = c[0];
    fixed_tile[0] = STEP;
    a[0] = uint(b.length());
    if (b.length() > 5) { a[uint(a.length()) - 1u] = tile[1] + fixed_tile[1]; }
}";

#[test]
fn sizes_that_a_kernel_asks_for_and_those_that_constants_give_are_edges() {
    let arrows = arrows(&coupled_text(SIZED, &correct()));
    contain(
        &arrows,
        &[
            "specialization:0 -sizes-> local-size",
            "specialization:1 -sizes-> workgroup:tile",
            "specialization:1 -sizes-> buffer:0.2",
            "buffer:0.1 -flows-to-> buffer-member:0.0+0 13",
            "buffer:0.1 -flows-to-> decision:D1 14",
            "buffer:0.0 -indexes-> buffer-member:0.0+0 14",
        ],
    );
    let wrong = ["specialization:2 -sizes->", "specialization:1 -sizes-> workgroup:fixed_tile"];
    for start in wrong {
        assert!(!arrows.iter().any(|arrow| arrow.starts_with(start)), "{start} is in {arrows:#?}");
    }
    assert!(!arrows.iter().any(|arrow| arrow.starts_with("kernel -flows-to->")), "{arrows:#?}");
}

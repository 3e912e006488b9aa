//! Flows of small kernels, by their bindings.

use super::{
    AddressOrigin, DescriptorPlace, FlowPlace, MemoryFlow, flows_or_switched_off, kernel_flows,
};
use crate::module::Module;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_glsl::{KernelSource, compile};

const HEADER: &str = "#version 460\n\
    #extension GL_EXT_buffer_reference : enable\n#extension GL_EXT_shader_explicit_arithmetic_types_int64 : enable\n\
    layout(local_size_x = 4) in;\n";

pub(super) fn compiled(body: &str) -> Module {
    let source = KernelSource::alone("k.comp", format!("{HEADER}{body}\n"), "vulkan1.2");
    Module::parse(compile(&source).expect("compiles").production).expect("SPIR-V")
}

fn shown(place: &FlowPlace) -> String {
    let at = |place: &DescriptorPlace| match place.element {
        Some(element) => format!("{}[{element}]", place.binding),
        None => place.binding.to_string(),
    };
    match place {
        FlowPlace::Descriptor(place) => at(place),
        FlowPlace::Addressed(held) => {
            let held = held.iter().map(|held| match held {
                AddressOrigin::PushConstants { offset } => format!("push {offset:?}"),
                AddressOrigin::Descriptor { place, offset } => format!("{} {offset:?}", at(place)),
                AddressOrigin::Addressed => "behind".to_owned(),
            });
            format!("*({})", held.collect::<Vec<_>>().join(", "))
        }
    }
}

/// `to <- from, from`, by place.
fn told(body: &str) -> Vec<String> {
    told_under(body, &BTreeMap::new())
}

fn told_under(body: &str, specialization: &BTreeMap<u32, u64>) -> Vec<String> {
    let flows = kernel_flows(&compiled(body), "main", specialization).expect("flows");
    flows.iter().map(arrow).collect()
}

fn arrow(flow: &MemoryFlow) -> String {
    let from: BTreeSet<String> = flow.from.iter().map(shown).collect();
    format!("{} <- {}", shown(&flow.to), from.into_iter().collect::<Vec<_>>().join(", "))
}

const BUFFERS: &str = "layout(std430, binding = 0) buffer A { uint a[]; };\n\
    layout(std430, binding = 1) buffer B { uint b[]; };\nlayout(std430, binding = 2) buffer C { uint c[]; };\n\
    layout(std430, binding = 3) buffer D { uint d[]; };\n";

fn of_main(main: &str) -> Vec<String> {
    told(&format!("{BUFFERS}void main() {{ uint i = gl_GlobalInvocationID.x; {main} }}"))
}

#[test]
fn values_indices_and_conditions_flow_into_a_store() {
    assert_eq!(of_main("b[i] = a[i];"), ["1 <- 0"]);
    assert_eq!(of_main("b[a[i]] = 1u;"), ["1 <- 0"]);
    assert_eq!(of_main("if (a[i] > 1u) { b[i] = 1u; } c[i] = d[i];"), ["1 <- 0", "2 <- 3"]);
    assert_eq!(of_main("if (a[i] > 1u) return; b[i] = 1u;"), ["1 <- 0"]);
    assert_eq!(of_main("uint n = 0u; while (a[n] != 0u) n++; b[i] = n;"), ["1 <- 0"]);
    assert_eq!(of_main("b[i] = a[i] > 1u ? c[i] : 2u;"), ["1 <- 0, 2"]);
}

#[test]
fn reading_alone_stores_nothing() {
    assert_eq!(of_main("uint x = a[i]; x++;"), Vec::<String>::new());
    assert_eq!(of_main("b[i] = uint(a.length());"), ["1 <- "]);
    assert_eq!(of_main("b[i] = atomicAdd(a[0], 0u); c[i] = atomicExchange(d[0], 1u);").len(), 4);
}

#[test]
fn atomics_depend_on_what_was_there() {
    assert_eq!(of_main("atomicAdd(a[0], b[i]);"), ["0 <- 0, 1"]);
    assert_eq!(of_main("b[i] = atomicAdd(a[0], 1u);"), ["0 <- 0", "1 <- 0"]);
}

#[test]
fn values_travel_through_functions_and_workgroup_memory() {
    let body = format!(
        "{BUFFERS}shared uint s[4]; uint twice(uint x) {{ return 2u * x; }} void put(inout uint to, uint x) {{ to = x; }}\n\
         void main() {{ uint i = gl_GlobalInvocationID.x; s[i] = twice(a[i]); barrier(); put(b[i], s[3u - i]); c[i] = 7u; }}"
    );
    // `inout` copies the element in and out.
    let found = told(&body);
    assert_eq!(found.len(), 2);
    assert!(found[0].starts_with("1 <- 0"), "{found:?}");
    assert_eq!(found[1], "2 <- ");
}

#[test]
fn a_branch_that_constants_decide_goes_one_way() {
    let body = format!(
        "layout(constant_id = 0) const uint MODE = 0u;\n{BUFFERS}\
         void main() {{ if (MODE == 1u) a[0] = 1u; else b[0] = 1u; switch (MODE) {{ case 1u: c[0] = 1u; break; default: d[0] = 1u; }} }}"
    );
    assert_eq!(told(&body), ["1 <- ", "3 <- "]);
    assert_eq!(told_under(&body, &BTreeMap::from([(0, 1)])), ["0 <- ", "2 <- "]);
}

#[test]
fn what_is_switched_off_wholly_is_where_other_specializations_store() {
    let body = format!(
        "layout(constant_id = 0) const uint MODE = 0u;\nconst bool NEVER = false;\n{BUFFERS}\
         void main() {{ if (MODE == 1u) a[0] = b[0]; if (MODE == 2u) {{ if (a[1] > 0u) c[0] = 1u; }} if (NEVER) d[0] = 1u; }}"
    );
    let module = compiled(&body);
    let told = |mode: u64| -> Vec<String> {
        let flows =
            flows_or_switched_off(&module, "main", &BTreeMap::from([(0, mode)])).expect("flows");
        flows.iter().map(arrow).collect()
    };
    assert_eq!(told(0), ["0 <- ", "2 <- "]);
    assert_eq!(told(1), ["0 <- 1"]);
    assert_eq!(told(2), ["2 <- 0"]);
}

#[test]
fn members_are_told_by_where_they_begin() {
    let body = "struct Inner { vec3 at; float mass; }; struct Outer { uint id; Inner parts[2]; };\n\
         layout(std430, binding = 0) buffer A { uint count; uint spare; vec4 color; Outer all[]; } a;\n\
         layout(std430, binding = 1) buffer B { float v[4]; mat2 m; } b[2];\n\
         void main() { uint i = gl_GlobalInvocationID.x; atomicAdd(a.count, 1u); a.color.y = 1.0; a.all[i].parts[1].mass = 2.0;\
         b[i].v[i] = 1.0; Inner inner; inner.at = vec3(0); inner.mass = 1.0; if (i > 7u) a.all[i].parts[0] = inner; b[1].m[0] = vec2(1); }";
    let flows = kernel_flows(&compiled(body), "main", &BTreeMap::new()).expect("flows");
    let told: Vec<(String, Vec<u64>)> = flows
        .iter()
        .map(|flow| (shown(&flow.to), flow.members.iter().copied().collect()))
        .collect();
    let told: Vec<(&str, &[u64])> =
        told.iter().map(|(to, members)| (to.as_str(), members.as_slice())).collect();
    assert_eq!(told, [("0", &[0, 16, 48, 60][..]), ("1", &[0]), ("1[1]", &[16])]);
}

/// Conditions on one constant that exclude each other, and such as several constants meet together.
#[test]
fn what_no_specialization_stores_is_not_switched_off() {
    let body = format!(
        "layout(constant_id = 0) const uint MODE = 0u;\nlayout(constant_id = 1) const int SIGN = 1;\n\
         layout(constant_id = 2) const bool ON = false;\n{BUFFERS}\
         void main() {{ if (MODE == 1u) {{ if (MODE == 2u) a[0] = 1u; }} if (MODE > 7u && SIGN < 0 && ON) b[0] = 1u;\
         if (ON) {{ if (MODE == 3u) {{ if (!ON) c[0] = 1u; }} }} switch (MODE) {{ case 40u: if (SIGN == -4) d[0] = 1u; break; default: break; }} }}"
    );
    let flows = flows_or_switched_off(&compiled(&body), "main", &BTreeMap::new()).expect("flows");
    assert_eq!(flows.iter().map(arrow).collect::<Vec<_>>(), ["1 <- ", "3 <- "]);
}

#[test]
fn elements_of_descriptor_arrays_are_told_apart_where_indices_are_constant() {
    let body = "layout(std430, binding = 0) buffer A { uint a[]; } blocks[4];\n\
         layout(constant_id = 0) const uint N = 2u;\nlayout(r32ui, binding = 1) uniform uimage2D pictures[2];\n\
         void main() { uint i = gl_WorkGroupID.x; blocks[1].a[i] = blocks[N].a[i]; \n\
         imageStore(pictures[1], ivec2(0), imageLoad(pictures[i], ivec2(i))); }";
    assert_eq!(told(body), ["0[1] <- 0[2]", "1[1] <- 1"]);
}

#[test]
fn images_are_read_where_texels_are_not_where_sizes_are() {
    let body = "layout(r32ui, binding = 0) uniform uimage2D from; layout(r32ui, binding = 1) uniform uimage2D to;\n\
         layout(binding = 2) uniform sampler2D seen; layout(std430, binding = 3) buffer B { uint b[]; };\n\
         void main() { b[0] = uint(imageSize(from).x); imageAtomicAdd(to, ivec2(0), uint(textureLod(seen, vec2(0), 0.0).x)); }";
    assert_eq!(told(body), ["1 <- 1, 2", "3 <- "]);
}

#[test]
fn device_addresses_are_told_by_where_they_were_read() {
    let body = "layout(buffer_reference) buffer Node;\nlayout(buffer_reference, std430) buffer Ref { uint v[]; };\n\
         layout(buffer_reference, std430) buffer Node { uint value; Node next; };\n\
         layout(push_constant) uniform P { Ref from; Ref to; Node list; };\n\
         layout(std430, binding = 0) buffer Holder { uint pad[2]; Ref held; };\n\
         void main() { uint i = gl_GlobalInvocationID.x; to.v[i] = from.v[i]; held.v[i] = 1u; list.next.value = 2u; }";
    let found = told(body);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.contains(&"*(push Some(8)) <- *(push Some(0))".to_owned()), "{found:?}");
    assert!(found.contains(&"*(0 Some(8)) <- 0".to_owned()), "{found:?}");
    // The node that leads there is among what may be meant.
    assert!(
        found.contains(&"*(push Some(16), behind) <- *(push Some(16))".to_owned()),
        "{found:?}"
    );
}

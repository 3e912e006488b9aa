//! What interfaces say of earlier kernels against both modules.

use super::*;
use vkcert_model::project::MemoryModel;
use vkcert_model::requirement::{BindingPlace, EarlierDispatch, SharedBinding};

const HEAD: &str = "#version 450\nlayout(local_size_x = 8) in;\n";

fn kernel(body: &str) -> Module {
    compiled(&format!("{HEAD}{body}"))
}

/// Reads buffer 0 of floats, writes buffer 1, and reads image 2.
fn later() -> Module {
    kernel(
        "layout(binding = 0) readonly buffer A { float a[]; };
         layout(binding = 1) writeonly buffer B { float b[]; };
         layout(binding = 2, r32f) readonly uniform image2D i;
         void main() { uint x = gl_GlobalInvocationID.x; b[x] = a[x] + imageLoad(i, ivec2(x, 0)).x; }",
    )
}

/// Writes floats to 3 and 6, numbers to 4, an image at 5; reads 7.
fn earlier() -> Module {
    kernel(
        "layout(binding = 3) buffer C { float c[]; };
         layout(binding = 4) buffer D { uint d[]; };
         layout(binding = 5, r32f) writeonly uniform image2D i;
         layout(binding = 6) buffer E { vec4 e[]; };
         layout(binding = 7) readonly buffer F { float f[]; };
         void main() {
             uint x = gl_GlobalInvocationID.x;
             c[x] = f[x]; d[x] = x; e[x] = vec4(f[x]); imageStore(i, ivec2(x, 0), vec4(1.0));
         }",
    )
}

/// A host without parameters that binds these buffers, of so many bytes.
fn host(buffers: &[(u32, &str)]) -> Interface {
    let template = correct();
    let buffers = buffers.iter().map(|(binding, size)| HostBuffer {
        binding: *binding,
        size: (*size).to_owned(),
        ..template.buffers[0].clone()
    });
    Interface {
        parameters: Vec::new(),
        locals: Vec::new(),
        push_constants: None,
        buffers: buffers.collect(),
        groups: ["1", "1", "1"].map(str::to_owned),
        local_size: None,
        domain: None,
        ..template.clone()
    }
}

/// Rows of the check for stated pairs of bindings.
fn told(interface: Interface, pairs: &[(u32, u32)]) -> Vec<(String, String)> {
    let coupling = coupled_behind(interface, pairs);
    let found = rows(&coupling, "earlier-dispatches").into_iter();
    found.map(|row| (row.status.to_string(), row.message.clone())).collect()
}

/// The later kernel behind the earlier one, which is stated to leave these bindings.
fn coupled_behind(interface: Interface, pairs: &[(u32, u32)]) -> Coupling {
    let place = |binding| BindingPlace { set: 0, binding };
    let shared =
        pairs.iter().map(|(from, to)| SharedBinding { from: place(*from), to: place(*to) });
    let stated = EarlierDispatch { kernel: "first".into(), shared: shared.collect() };
    let interface = Interface { earlier: vec![stated.clone()], ..interface };
    let (earlier_module, module) = (earlier(), later());
    let reflect =
        |module: &Module| Reflection::of_entry_point(module, "main", &BTreeMap::new()).unwrap();
    let (earlier_reflection, reflection) = (reflect(&earlier_module), reflect(&module));
    let earlier_host = host(&[(3, "64"), (4, "64"), (6, "64"), (7, "64")]);
    let earlier_kernel = EarlierKernel {
        stated: &stated,
        module: &earlier_module,
        reflection: &earlier_reflection,
        interface: Some(&earlier_host),
    };
    let flow = KernelFlow::of_production(&module, "main", &BTreeMap::new()).unwrap();
    let place = Place::default();
    analyse_coupling(&CouplingInput {
        memory_model: MemoryModel::Idiom,
        interface: &interface,
        stated: StatedStructs { interface: &interface, place: &place, readings: &[] },
        captures: &[],
        pipelines: &[],
        earlier: &[earlier_kernel],
        module: &module,
        reflection: &reflection,
        structure: None,
        flow: &flow,
        barriers: &[],
        tests: &[],
        device: None,
        replay: None,
    })
    .unwrap()
}

fn two_buffers() -> Interface {
    host(&[(0, "64"), (1, "64")])
}

#[test]
fn what_both_kernels_have_alike_can_be_handed_over() {
    let holding = told(two_buffers(), &[(3, 0), (6, 0), (5, 2)]);
    assert!(holding.iter().all(|(status, _)| status == "holds"), "{holding:?}");
    assert_eq!(holding[0].1, "what first can write at 0.3 is read at 0.0");
    // A size that depends on the host's values is not compared.
    let parameter = correct().parameters[0].clone();
    let size = format!("{} * 4", parameter.name);
    let sized = Interface { parameters: vec![parameter], ..host(&[(0, &size), (1, "64")]) };
    assert_eq!(told(sized, &[(3, 0)])[0].0, "holds");
}

#[test]
fn what_contradicts_between_two_kernels_is_refuted() {
    let faults = [
        ((8, 0), "first uses no binding 0.8"),
        ((3, 9), "the kernel uses no binding 0.9"),
        ((7, 0), "first cannot write 0.7"),
        ((3, 1), "the kernel cannot read 0.1"),
        ((3, 2), "one is a storage, the other a storage_image"),
        ((4, 0), "numbers are `uint` in the one, `float` in the other"),
    ];
    for (pair, words) in faults {
        let refuted = told(two_buffers(), &[pair]);
        assert!(refuted[0].0 == "refuted" && refuted[0].1.contains(words), "{pair:?}: {refuted:?}");
    }
    let refuted = told(host(&[(0, "32"), (1, "64")]), &[(3, 0)]);
    assert!(refuted[0].1.contains("state 64 bytes for the one, 32 for the other"), "{refuted:?}");
}

#[test]
fn what_nobody_is_stated_to_write_is_undetermined() {
    let mut interface = two_buffers();
    interface.buffers.iter_mut().for_each(|buffer| buffer.host_writes = false);
    assert_eq!(told(interface.clone(), &[(3, 0)]).len(), 1);
    // The kernel itself writes the other buffer.
    let open = told(interface, &[]);
    assert_eq!(open.len(), 1, "{open:?}");
    assert!(open[0].0 == "undetermined" && open[0].1.contains("reads 0.0"), "{open:?}");
}

#[test]
fn earlier_dispatches_stand_in_the_graph_with_what_they_leave() {
    // 7 is read only, 9 is no binding of the earlier kernel and 8 none of this one.
    let coupling = coupled_behind(two_buffers(), &[(3, 0), (5, 2), (7, 1), (9, 0), (6, 8)]);
    let nodes = coupling.graph.nodes().into_iter();
    let earlier = nodes.filter(|node| node.id.starts_with("earlier-"));
    let labels: Vec<String> = earlier.map(|node| format!("{}: {}", node.id, node.label)).collect();
    let expected = [
        "earlier-dispatch:first: first, (1, 1, 1) workgroups",
        "earlier-binding:first:0.3: C at 0.3, may be read and written",
        "earlier-binding:first:0.5: i at 0.5, write only",
        "earlier-binding:first:0.7: F at 0.7, read only",
        "earlier-binding:first:0.9: 0.9, which the kernel does not use",
        "earlier-binding:first:0.6: E at 0.6, may be read and written",
    ];
    assert_eq!(labels, expected);
    let edges = coupling.graph.edges().into_iter();
    let edges = edges.filter(|edge| edge.from.starts_with("earlier-"));
    let arrows: Vec<String> =
        edges.map(|edge| format!("{} -{}-> {}", edge.from, edge.kind, edge.to)).collect();
    let expected = [
        "earlier-dispatch:first -orders-> dispatch",
        "earlier-dispatch:first -flows-to-> earlier-binding:first:0.3",
        "earlier-binding:first:0.3 -flows-to-> buffer:0.0",
        "earlier-dispatch:first -flows-to-> earlier-binding:first:0.5",
        "earlier-binding:first:0.5 -flows-to-> image:0.2",
        "earlier-binding:first:0.7 -flows-to-> buffer:0.1",
        "earlier-binding:first:0.9 -flows-to-> buffer:0.0",
        "earlier-dispatch:first -flows-to-> earlier-binding:first:0.6",
    ];
    assert_eq!(arrows, expected);
}

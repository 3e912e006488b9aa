//! Which nodes of the graph the rows that do not hold are about.

use super::*;
use crate::bounds::tests::rows_of_check;

fn subjects(coupling: &Coupling, check: &str) -> Vec<String> {
    refuted(coupling, check).into_iter().flat_map(|row| row.subjects.clone()).collect()
}

#[test]
fn rows_of_the_host_name_the_one_value_that_they_refute() {
    let wraps = coupled(&figure_two(), &[], &[], Some(&LARGE));
    assert_eq!(subjects(&wraps, "host-overflow"), ["local:number_of_threads"]);
    // The local is right; what is dispatched wraps.
    let text = |text: &str| text.to_owned();
    let mut interface = correct();
    let half = HostLocal { name: text("half"), width: HostType::Uint32, value: text("k / 2") };
    interface.locals.push(half);
    interface.groups = ["(k - 2) / 16 + 1", "(m + 15) / 16", "1"].map(text);
    let wraps = coupled(&interface, &[], &[], Some(&LARGE));
    assert_eq!(subjects(&wraps, "host-overflow"), ["dispatch"]);
}

#[test]
fn rows_of_members_and_buffers_name_those() {
    let swapped = coupled(&figure_two(), &[], &[], Some(&LARGE));
    let both = ["push-constant:0", "push-constant:1"];
    assert_eq!(subjects(&swapped, "push-constant-layout"), both, "{:#?}", swapped.checks);
    let unstated = Interface { buffers: correct().buffers[..2].to_vec(), ..correct() };
    let unstated = coupled(&unstated, &[], &[], Some(&LARGE));
    assert_eq!(subjects(&unstated, "buffer-size"), ["buffer:0.2"]);
    let set = HostSpecialization { id: 9, value: "4".to_owned() };
    let undeclared = Interface { specialization: vec![set], ..correct() };
    let undeclared = coupled(&undeclared, &[], &[], Some(&LARGE));
    assert_eq!(refuted(&undeclared, "specialization-ids").len(), 1);
    assert_eq!(subjects(&undeclared, "specialization-ids"), [""; 0], "no node stands for it");
}

#[test]
fn of_several_barriers_the_one_under_the_branch_is_named() {
    let module = compiled(
        "#version 450\nlayout(local_size_x = 8) in;\n\
         layout(std430, binding = 0) buffer A { uint a[]; };\n\
         void main() { barrier(); if (a[gl_LocalInvocationIndex] > 1u) { barrier(); } }",
    );
    let mut interface = correct();
    interface.buffers.truncate(1);
    let rows = rows_of_check(&module, &interface, "uniform-barrier");
    let open = rows.iter().filter(|row| row.status != CheckStatus::Holds);
    let named: Vec<_> = open.flat_map(|row| row.subjects.clone()).collect();
    assert_eq!(named, ["barrier:BAR2"]);
}

/// Of two arrays, the one that is written behind its end.
#[test]
fn an_access_out_of_bounds_names_the_array_that_it_leaves() {
    let first = "if (i < m) { left[i] = 1u; } right[i + 0x40000u] = 2u;";
    let cases = [
        (first, "buffer-member:0.1+4"),
        ("tile[i & 7u] = i; other[8u + (i & 7u)] = i;", "workgroup:other"),
    ];
    for (body, subject) in cases {
        let module = compiled(&format!(
            "#version 450\nlayout(local_size_x = 16) in;\n\
             layout(std430, binding = 0) buffer Left {{ uint left[]; }};\n\
             layout(std430, binding = 1) buffer Right {{ uint head; uint right[]; }};\n\
             layout(push_constant) uniform Sizes {{ uint m; }};\n\
             shared uint tile[8]; shared uint other[8];\n\
             void main() {{ uint i = gl_GlobalInvocationID.x; {body} }}"
        ));
        let mut interface = correct();
        interface.groups = ["1", "1", "1"].map(str::to_owned);
        interface.buffers.truncate(2);
        for buffer in &mut interface.buffers {
            buffer.size = "m * 4 + 4".to_owned();
        }
        let rows = rows_of_check(&module, &interface, "index-bounds");
        let refuted: Vec<_> =
            rows.iter().filter(|row| row.status == CheckStatus::Refuted).collect();
        let [row] = refuted[..] else { panic!("{body}: {rows:#?}") };
        assert_eq!(row.subjects, [subject], "{row:#?}");
    }
}

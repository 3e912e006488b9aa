//! Who meets at an element, in workgroups of many invocations and in unrolled code.

use super::tests::{compiled, line, with_request};
use super::*;
use std::fmt::Write;

/// Lines of writes and of the reads behind a barrier that see what another invocation wrote.
fn lines_between_invocations(text: &str) -> Vec<(u32, u32)> {
    let module = compiled(text);
    let pairs = with_request(&module, static_pairs).expect("pairs");
    let lines = pairs.iter().filter_map(|pair| match pair.pair.passage {
        Passage::Barrier { store, .. } => {
            Some((line(&module, store), line(&module, pair.pair.use_index)))
        }
        Passage::Host
        | Passage::Atomic { .. }
        | Passage::Unordered { .. }
        | Passage::Dispatch { .. } => None,
    });
    lines.collect()
}

/// A kernel of 1024 invocations that reads one element of a tile behind a write of another one.
fn exchange(written: &str, read: &str) -> String {
    format!(
        "#version 460
layout(local_size_x = 1024) in;
layout(std430, binding = 0) buffer Out {{ uint a[]; }};
shared uint tile[4096];
void main() {{ uint lane = gl_LocalInvocationID.x;
tile[{written}] = lane;
barrier();
a[lane] = tile[{read}]; }}"
    )
}

#[test]
fn elements_of_a_large_workgroup_are_compared_one_by_one() {
    // Strides of 2 and of 4 meet at even elements alone.
    assert_eq!(lines_between_invocations(&exchange("lane * 2u", "lane * 4u + 1u")), []);
    assert_eq!(lines_between_invocations(&exchange("lane * 2u", "lane * 4u")), [(6, 8)]);
    assert_eq!(lines_between_invocations(&exchange("lane", "lane")), []);
    assert_eq!(lines_between_invocations(&exchange("lane", "1023u - lane")), [(6, 8)]);
    assert_eq!(lines_between_invocations(&exchange("lane", "lane + 1024u")), []);
}

/// Compared meetings of a kernel that writes and reads as many elements of each invocation.
fn compared_of_unrolled(count: u32) -> usize {
    let mut text = "#version 460
layout(local_size_x = 256) in;
layout(std430, binding = 0) buffer Out { uint a[]; };
shared uint tile[16384];
void main() { uint lane = gl_LocalInvocationID.x; uint sum = 0u;\n"
        .to_owned();
    for number in 0..count {
        writeln!(text, "tile[lane * {count}u + {number}u] = lane + {number}u;").unwrap();
    }
    text.push_str("barrier();\n");
    for number in 0..count {
        writeln!(text, "sum += tile[lane * {count}u + {number}u];").unwrap();
    }
    text.push_str("a[lane] = sum; }");
    let module = compiled(&text);
    with_request(&module, |request| {
        with_kernel(request, DecidedBranches::Specialized, |kernel| {
            assert_eq!(kernel.all_pairs().expect("few").len(), 0);
            kernel.workgroup_meetings.compared_count()
        })
    })
    .expect("a kernel")
}

#[test]
fn unrolled_accesses_are_compared_by_their_differences() {
    // The constants of 8 differ in 15 ways, those of 64 in 127.
    assert!(compared_of_unrolled(8) <= 15);
    assert!(compared_of_unrolled(64) <= 127);
}

#[test]
fn more_invocations_than_devices_have_are_refused() {
    let module = compiled(
        "#version 460
layout(local_size_x_id = 7) in;
layout(std430, binding = 0) buffer Out { uint a[]; };
void main() { a[0] = 1u; }",
    );
    let pairs_with = |size: u64| {
        let specialization = BTreeMap::from([(7, size)]);
        with_request(&module, |request| {
            static_pairs(&PairRequest { specialization: &specialization, ..*request })
        })
    };
    assert!(pairs_with(1 << 16).is_ok());
    assert_eq!(pairs_with((1 << 16) + 1), Err(PairError::TooManyInvocations));
    assert_eq!(pairs_with(u64::from(u32::MAX)), Err(PairError::TooManyInvocations));
}

//! What is said of an access that is proved and that a test finds out of bounds.

use super::{compiled, coupled_rows, is_open};
use crate::{BufferUse, TestUse};
use std::collections::BTreeMap;
use vkcert_model::evidence::CheckStatus;
use vkcert_model::requirement::Interface;

fn interface() -> Interface {
    serde_json::from_value(serde_json::json!({
        "kernel": "k",
        "parameters": [{ "name": "n", "type": "uint32", "min": 1, "max": 64 }],
        "push_constants": { "members": [{ "name": "n", "type": "uint32" }] },
        "buffers": [{ "set": 0, "binding": 0, "size": "n * 4" }],
        "groups": ["(n + 7) / 8", "1", "1"],
        "specialization": [{ "id": 3, "value": "5" }],
    }))
    .unwrap()
}

/// A test as the interface states it.
fn stated_test(offset: u32) -> TestUse {
    TestUse {
        name: "TC-9".to_owned(),
        groups: [2, 1, 1],
        told: BTreeMap::from([("n".to_owned(), 10)]),
        buffers: BTreeMap::from([((0, 0), BufferUse { bound: 40, touched: None })]),
        images: BTreeMap::new(),
        specialization: BTreeMap::from([(3, 5)]),
        out_of_bounds: BTreeMap::from([(offset, "element 10 of 10".to_owned())]),
    }
}

#[test]
fn a_proof_that_a_test_contradicts_is_none() {
    let module = compiled(
        "#version 450
        layout(local_size_x = 8) in;
        layout(constant_id = 3) const uint C = 5u;
        layout(std430, binding = 0) buffer A { uint a[]; };
        layout(push_constant) uniform P { uint n; };
        void main() { uint x = gl_GlobalInvocationID.x; if (x < n) a[x] = C; }",
    );
    let store = module.instructions.iter().rev().find(|row| row.op == rspirv::spirv::Op::Store);
    let offset = store.unwrap().offset;
    let open_rows = |test: TestUse| {
        let rows = coupled_rows(&module, &interface(), &[test], "index-bounds");
        rows.into_iter().filter(is_open).collect::<Vec<_>>()
    };
    let rows = open_rows(stated_test(offset));
    let [row] = rows.as_slice() else { panic!("{rows:#?}") };
    assert_eq!(row.status, CheckStatus::Undetermined);
    assert_eq!(row.accesses, Some(1));
    assert!(
        row.message.contains("but TC-9 finds it out of bounds for n = 10 (element 10 of 10)"),
        "{row:#?}"
    );
    // What is not known of a test excuses nothing.
    let unknown = TestUse { told: BTreeMap::new(), ..stated_test(offset) };
    assert_eq!(open_rows(unknown).len(), 1);
    // Another place, and tests beyond what the interface states.
    let stated = || stated_test(offset);
    let parameters = BTreeMap::from([("n".to_owned(), 65)]);
    let buffers = BTreeMap::from([((0, 0), BufferUse { bound: 36, touched: None })]);
    for other in [
        stated_test(offset + 1),
        TestUse { told: parameters, ..stated() },
        TestUse { buffers, ..stated() },
        TestUse { groups: [3, 1, 1], ..stated() },
        TestUse { specialization: BTreeMap::from([(3, 6)]), ..stated() },
    ] {
        let rows = open_rows(other.clone());
        assert!(rows.is_empty(), "{other:?}: {rows:#?}");
    }
}

//! What is done for the accesses of a kernel grows with their number: counted in allocations, so
//! that the load of the machine does not matter. A program of its own with one test, because the
//! counts are those of the whole process.

#[path = "../../../tests/support/allocations.rs"]
#[expect(dead_code, reason = "bytes grow with the sets of pieces, which are bits")]
mod allocations;

use allocations::{Allocated, count};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use vkcert_glsl::{KernelSource, compile};
use vkcert_model::project::MemoryModel;
use vkcert_spirv::module::Module;
use vkcert_spirv::pairs::{PairRequest, conflicting_accesses};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// Guards, each with a store to an element that nothing tells.
fn guarded_stores(store_count: u32) -> Module {
    let mut text = "#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer A { uint a[]; };
layout(push_constant) uniform P { uint n; };
void main() { uint k = gl_GlobalInvocationID.x;\n"
        .to_owned();
    for number in 0..store_count {
        writeln!(text, "if ((k & {number}u) != 0u) k += 2u; else k -= 1u;").unwrap();
        writeln!(text, "if (k < n) a[k] = {number}u;").unwrap();
    }
    text.push('}');
    let source = KernelSource::alone("k.comp", text, "vulkan1.2");
    Module::parse(compile(&source).expect("compiles").production).expect("SPIR-V")
}

fn allocated_for(store_count: u32) -> Allocated {
    let module = guarded_stores(store_count);
    let request = PairRequest {
        module: &module,
        entry: "main",
        specialization: &BTreeMap::new(),
        memory_model: MemoryModel::Idiom,
        unwritten_by_host: &BTreeSet::new(),
    };
    let (conflicts, allocated) = count(|| conflicting_accesses(&request).expect("few"));
    assert_eq!(conflicts.len(), 0, "no write is read");
    allocated
}

#[test]
fn guarded_stores_are_compared_without_a_search_for_each_pair() {
    let (small, large) = (allocated_for(25), allocated_for(100));
    assert!(large.allocations < small.allocations * 6, "{small:?}, {large:?}");
}

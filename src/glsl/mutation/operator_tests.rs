//! What single operators make of small texts, and of what they make nothing.

use super::tests::{listed, mutated, of_operator};
use super::*;

/// The mutants of a whole text.
fn mutants_of(text: &str) -> MutatedKernel {
    let source = KernelSource::alone("k.comp", text, "vulkan1.2");
    mutate(&source, SelectionWanted::Left).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// What the compiler says of each mutant of an operator.
fn refusals(kernel: &MutatedKernel, operator: MutationOperator) -> Vec<String> {
    let source = KernelSource::alone("k.comp", kernel.files[0].text.clone(), "vulkan1.2");
    let made = kernel.mutants.iter().filter(|mutant| mutant.operators[0] == operator);
    made.filter_map(|mutant| compile_alone(&source, kernel, mutant).err())
        .map(|error| error.to_string())
        .collect()
}

/// The mutants of an operator, all of which the compiler accepts.
fn accepted(kernel: &MutatedKernel, operator: MutationOperator) -> Vec<String> {
    assert_eq!(refusals(kernel, operator), [""; 0]);
    let lines = of_operator(kernel, operator.code()).into_iter();
    lines.map(|line| line.trim_end_matches(" (alone)").to_owned()).collect()
}

#[test]
fn sizes_of_the_workgroup_are_exchanged_and_changed_by_one() {
    use MutationOperator::{SizeDecrement, SizeExchange, SizeIncrement};
    let kernel =
        mutants_of("#version 450\nlayout(local_size_x = 8, local_size_y = 2) in;\nvoid main() {}");
    assert_eq!(
        accepted(&kernel, SizeExchange),
        [
            "AS local_size_x -> local_size_y, local_size_y -> local_size_x",
            "AS local_size_x -> local_size_z",
            "AS local_size_y -> local_size_z",
        ]
    );
    assert_eq!(
        accepted(&kernel, SizeIncrement),
        ["AI,LIT 8 -> 9", "AI,LIT 2 -> 3", "AI  -> , local_size_z = 2"]
    );
    assert_eq!(accepted(&kernel, SizeDecrement), ["AD,LIT 8 -> 7", "AD,LIT 2 -> 1"]);
}

#[test]
fn equal_sizes_are_not_exchanged_and_none_gets_less_than_one() {
    let kernel = mutants_of(
        "#version 450\n#define SIDE 1\nlayout(local_size_x = SIDE, local_size_z = 1) in;\nvoid main() {}",
    );
    assert_eq!(of_operator(&kernel, "AS"), [""; 0]);
    assert_eq!(of_operator(&kernel, "AD"), [""; 0]);
    // The definition stays what it is.
    assert_eq!(
        accepted(&kernel, MutationOperator::SizeIncrement),
        ["AI  -> ((,  -> ) + 1)", "AI  -> , local_size_y = 2", "AI,LIT 1 -> 2"]
    );
    let none = mutants_of("#version 450\nvoid main() {}");
    assert_eq!(listed(&none), [""; 0]);
}

#[test]
fn a_size_that_the_host_chooses_is_exchanged_and_not_changed_by_one() {
    let kernel = mutants_of("#version 450\nlayout(local_size_x_id = 3) in;\nvoid main() {}");
    assert_eq!(
        accepted(&kernel, MutationOperator::SizeExchange),
        ["AS local_size_x_id -> local_size_y_id", "AS local_size_x_id -> local_size_z_id",]
    );
    assert_eq!(
        accepted(&kernel, MutationOperator::SizeIncrement),
        ["AI  -> , local_size_y = 2", "AI  -> , local_size_z = 2"]
    );
    assert_eq!(of_operator(&kernel, "AD"), [""; 0]);
}

#[test]
fn memory_of_the_workgroup_becomes_private() {
    let kernel = mutated("shared float sums[4]; void main() { tile[0] = 1u; sums[0] = 1.0; }");
    let made = accepted(&kernel, MutationOperator::SharedRemoval);
    assert_eq!(made, ["SHR shared -> ", "SHR shared -> "]);
    let texts: Vec<String> = kernel
        .mutants
        .iter()
        .filter(|mutant| mutant.operators[0] == MutationOperator::SharedRemoval)
        .map(|mutant| kernel.mutated_text(mutant, 0).unwrap())
        .collect();
    assert!(texts[0].contains("\n uint tile[8];") && texts[0].contains("\nshared float sums[4];"));
    assert!(texts[1].contains("\nshared uint tile[8];") && texts[1].contains("\n float sums[4];"));
    // A block is no variable.
    let block = mutants_of(
        "#version 450\n#extension GL_EXT_shared_memory_block : require\n\
         shared Tile { uint tile[8]; }; void main() { tile[0] = 1u; }",
    );
    assert_eq!(of_operator(&block, "SHR"), [""; 0]);
}

#[test]
fn memory_qualifiers_are_removed_one_by_one() {
    let kernel = mutated(
        "layout(binding = 7) coherent buffer A { volatile uint a; uint rest[]; };
        layout(binding = 8, r32ui) volatile coherent uniform uimage2D other;
        uint read(coherent uimage2D from) { return 1u; }
        void main() { uint coherence = a + rest[0]; imageStore(other, ivec2(0), uvec4(coherence)); }",
    );
    assert_eq!(
        accepted(&kernel, MutationOperator::QualifierRemoval),
        ["QRM coherent -> ", "QRM volatile -> ", "QRM coherent -> ", "QRM volatile -> "]
    );
}

#[test]
fn neighbouring_push_constants_of_one_type_are_exchanged() {
    let text = |members: &str| {
        format!(
            "#version 450\nlayout(push_constant) uniform P {{ {members} }} p;\n\
             layout(binding = 0) buffer B {{ uint a; uint b; }};\nvoid main() {{ a = p.n; }}"
        )
    };
    let kernel = mutants_of(&text("uint n, m; float f; uint k; uint v[2], w[2], x[3];"));
    assert_eq!(
        accepted(&kernel, MutationOperator::PushConstantExchange),
        ["PCX n -> m, m -> n", "PCX v -> w, w -> v"]
    );
    let other = mutants_of(&text("uint n; int m; uint k;"));
    assert_eq!(of_operator(&other, "PCX"), [""; 0]);
}

#[test]
fn specialization_constants_are_changed_in_all_uses() {
    let kernel = mutated(
        "#define TWICE (COUNT * 2u)
        layout(constant_id = 1) const uint COUNT = 5u;
        layout(constant_id = 2) const float SCALE = 0.5;
        layout(constant_id = 3) const bool FAST = true;
        layout(constant_id = 4) const int UNUSED = 3;
        shared uint more[COUNT];
        void main() { if (FAST) data[0] = COUNT + TWICE + TWICE; data[1] = uint(SCALE); more[0] = 1u; }",
    );
    assert_eq!(
        accepted(&kernel, MutationOperator::SpecializationOffset),
        [
            "SPC COUNT -> (COUNT + 1u), COUNT -> (COUNT + 1u), COUNT -> (COUNT + 1u)",
            "SPC COUNT -> (COUNT - 1u), COUNT -> (COUNT - 1u), COUNT -> (COUNT - 1u)",
            "SPC SCALE -> (SCALE + 1.0)",
            "SPC SCALE -> (SCALE - 1.0)",
            "SPC FAST -> !FAST",
        ]
    );
    // It is not known which of the two is meant.
    let hidden = mutated(
        "layout(constant_id = 1) const uint COUNT = 5u;
        void main() { data[0] = COUNT; { uint a = 0u, COUNT = 1u; data[1] = COUNT; } }",
    );
    assert_eq!(of_operator(&hidden, "SPC"), [""; 0]);
}

#[test]
fn clusters_are_halved() {
    let kernel = mutated(
        "#define FOUR 4u\nvoid main() { data[0] = subgroupClusteredAdd(n, 8) + subgroupClusteredMax(n, FOUR)
        + subgroupClusteredMin(n, 2u) + subgroupClusteredOr(n, 1u) + subgroupAdd(n); }",
    );
    let made: Vec<String> = listed(&kernel)
        .into_iter()
        .filter(|line| line.starts_with("SGC") || line.contains(",SGC"))
        .collect();
    // Half of 2 is another literal as well, and there a constant is demanded.
    assert_eq!(made, ["SGC 8 -> 4", "SGC  -> ((,  -> ) / 2u)", "LIT,SGC 2u -> 1u (alone)"]);
    assert_eq!(refusals(&kernel, MutationOperator::ClusterHalving), [""; 0]);
}

#[test]
fn scopes_memory_and_orders_of_synchronisation_are_weakened() {
    let kernel = mutated(
        "void main() {
            memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquire);
            data[0] = atomicAdd(data[1], 1u, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
        }",
    );
    assert_eq!(
        of_operator(&kernel, "FWK"),
        [
            "FWK gl_ScopeDevice -> gl_ScopeWorkgroup",
            "FWK gl_StorageSemanticsBuffer -> gl_StorageSemanticsShared",
            "FWK gl_StorageSemanticsShared -> gl_StorageSemanticsBuffer",
            "FWK gl_ScopeWorkgroup -> gl_ScopeSubgroup",
            "FWK gl_StorageSemanticsBuffer -> gl_StorageSemanticsShared",
        ]
    );
    assert_eq!(refusals(&kernel, MutationOperator::FenceWeakening), [""; 0]);
    assert_eq!(
        of_operator(&kernel, "MOR"),
        [
            "MOR gl_SemanticsAcquire -> gl_SemanticsRelaxed (alone)",
            "MOR gl_SemanticsRelease -> gl_SemanticsRelaxed",
        ]
    );
    // A scope is no number.
    assert!(listed(&kernel).iter().all(|line| !line.starts_with("CIN gl_")));
    let plain = mutated(
        "void main() { memoryBarrierBuffer(); controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, 0, 0); }",
    );
    assert_eq!(of_operator(&plain, "FWK"), ["FWK memoryBarrierBuffer -> memoryBarrierShared"]);
    assert_eq!(of_operator(&plain, "MOR"), [""; 0]);
}

#[test]
fn what_makes_memory_available_goes_with_its_order() {
    let kernel = mutants_of(
        "#version 450\n#pragma use_vulkan_memory_model\n#extension GL_KHR_memory_scope_semantics : require\n\
         layout(binding = 0) buffer B { uint a; };\nvoid main() { \
         atomicStore(a, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, \
         gl_SemanticsRelease | gl_SemanticsMakeAvailable); }",
    );
    assert_eq!(
        accepted(&kernel, MutationOperator::MemoryOrderRelaxation),
        ["MOR gl_SemanticsRelease | gl_SemanticsMakeAvailable -> gl_SemanticsRelaxed"]
    );
}

#[test]
fn atomic_operations_whose_result_is_used_are_written_plainly() {
    let made = |body: &str| {
        let kernel = mutated(&format!("void main() {{ uint old = 0u; {body} data[2] = old; }}"));
        accepted(&kernel, MutationOperator::AtomicReplacement)
    };
    let declared = |call: &str| made(&format!("uint was = {call};"));
    assert_eq!(
        declared("atomicAdd(data[0], n + 1u)"),
        ["AR atomicAdd(data[0], n + 1u) -> data[0],  ->  data[0] += n + 1u;"]
    );
    assert_eq!(
        declared("atomicMax(data[0], n)"),
        ["AR atomicMax(data[0], n) -> data[0],  ->  data[0] = max(data[0], n);"]
    );
    assert_eq!(
        declared("atomicExchange(data[0], n)"),
        ["AR atomicExchange(data[0], n) -> data[0],  ->  data[0] = n;"]
    );
    assert_eq!(
        declared("atomicCompSwap(data[0], n & 1u, m)"),
        [
            "AR atomicCompSwap(data[0], n & 1u, m) -> data[0],  ->  if (data[0] == (n & 1u)) data[0] = m;"
        ]
    );
    assert_eq!(
        made("old = atomicOr(data[0], n);"),
        ["AR old = atomicOr(data[0], n); -> old = data[0]; data[0] |= n;"]
    );
    assert_eq!(
        made("if (n > 1u) old = atomicXor(data[0], n); else old = 1u;"),
        ["AR old = atomicXor(data[0], n); -> { old = data[0]; data[0] ^= n; }"]
    );
    assert_eq!(
        made("if (n > 1u) atomicCompSwap(data[0], n, m); else old = 1u;"),
        ["AR atomicCompSwap(data[0], n, m); -> { if (data[0] == n) data[0] = m; }"]
    );
    for left_out in [
        // With effects, or of what is written between.
        "uint was = atomicAdd(data[old++], n);",
        "uint was = atomicAdd(data[0], atomicAnd(data[1], n));",
        "old = atomicAdd(data[old], n);",
        "old = atomicAdd(data[0], old);",
        "atomicMin(data[old++], n);",
        // In other expressions, and where a second statement has no place.
        "old += atomicAdd(data[0], n);",
        "uint was = 1u + atomicAdd(data[0], n);",
        "uint one = 1u, was = atomicAdd(data[0], n);",
        "old = imageAtomicAdd(picture, ivec2(0), n);",
    ] {
        assert_eq!(made(left_out), [""; 0], "{left_out}");
    }
}

#[test]
fn indices_of_either_signedness_are_changed_in_es() {
    let kernel = mutants_of(
        "#version 310 es\nlayout(local_size_x = 8) in;\n\
         layout(std430, binding = 0) buffer B { uint data[]; };\n\
         void main() { uint i = gl_LocalInvocationIndex; int k = 1; data[i] = data[k]; }",
    );
    assert_eq!(
        accepted(&kernel, MutationOperator::OffsetReplacement),
        [
            "OFF  -> (-(~(,  -> )))",
            "OFF  -> (~(-(,  -> )))",
            "OFF  -> (-(~(,  -> )))",
            "OFF  -> (~(-(,  -> )))",
        ]
    );
}

#[test]
fn a_condition_that_is_declared_is_a_decision() {
    let kernel = mutated(
        "void main() { uint i = 0u; while (bool more = i < n) { data[i++] = uint(more); } }",
    );
    assert_eq!(accepted(&kernel, MutationOperator::ConditionalBoundary), ["CBR,ROR < -> <="]);
    assert_eq!(of_operator(&kernel, "LBO"), ["LBO  -> ((,  -> ) + 1)", "LBO  -> ((,  -> ) - 1)"]);
    assert_eq!(of_operator(&kernel, "NDE"), [""; 0]);
    assert!(listed(&kernel).contains(&"NCO,NDE  -> !(,  -> )".to_owned()));
}

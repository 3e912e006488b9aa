//! What accesses, branches and barriers of small kernels depend on, in the kernels' own names.

use super::tests::compiled;
use super::{CallResult, KernelDependences, KernelObject, ObjectAccess, kernel_dependences};
use crate::module::{Id, Instruction, Module};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

const DECLARATIONS: &str = "layout(constant_id = 7) const uint STEP = 2u;\n\
    layout(push_constant) uniform P { uint m; uint n; } p;\n\
    layout(std430, binding = 0) readonly buffer A { uint a[]; };\n\
    layout(std430, binding = 1) buffer B { uint b[]; };\n\
    layout(binding = 2, r32ui) uniform uimage2D picture;\n\
    shared uint tile[4];\n";

fn of_main(main: &str) -> (Module, KernelDependences) {
    of_module(&format!("{DECLARATIONS}void main() {{ {main} }}"))
}

fn of_module(text: &str) -> (Module, KernelDependences) {
    let module = compiled(text);
    let dependences = kernel_dependences(&module, "main", &BTreeMap::new(), &BTreeMap::new());
    let dependences = dependences.expect("an entry");
    (module, dependences)
}

fn words(module: &Module, objects: &BTreeSet<KernelObject>) -> String {
    let word = |object: &KernelObject| match object {
        KernelObject::PushConstant { offset: Some(offset) } => format!("push+{offset}"),
        KernelObject::PushConstant { offset: None } => "push".to_owned(),
        KernelObject::SpecializationConstant(id) => format!("spec {id}"),
        KernelObject::BuiltIn(built_in) => format!("{built_in:?}"),
        KernelObject::Descriptor { binding, offset: Some(0), .. } => format!("binding {binding}"),
        KernelObject::Descriptor { binding, offset: Some(offset), .. } => {
            format!("binding {binding}+{offset}")
        }
        KernelObject::Descriptor { binding, offset: None, .. } => format!("all of {binding}"),
        KernelObject::DescriptorSize { binding, .. } => format!("size of {binding}"),
        KernelObject::Workgroup(variable) => {
            module.debug_name(*variable).expect("a name").to_owned()
        }
        KernelObject::Addressed => "address".to_owned(),
        KernelObject::SubgroupOperation(number) => format!("subgroup {number}"),
        KernelObject::StandIn(_) => "call".to_owned(),
    };
    objects.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// `target <- values [indices]` of each access that writes.
fn stores((module, dependences): &(Module, KernelDependences)) -> Vec<String> {
    let store = |access: &ObjectAccess| {
        let [target, values, indices] =
            [&access.writes, &access.values, &access.indices].map(|objects| words(module, objects));
        format!("{target} <- {values} [{indices}]")
    };
    dependences.accesses.iter().filter(|access| !access.writes.is_empty()).map(store).collect()
}

#[test]
fn values_and_indices_of_a_store_are_told_apart() {
    let cases = [
        ("b[p.n] = a[p.m];", "binding 1 <- push+0, binding 0 [push+4]"),
        ("b[gl_GlobalInvocationID.x] = STEP;", "binding 1 <- spec 7 [GlobalInvocationId]"),
        ("b[0] = gl_NumWorkGroups.y * p.m;", "binding 1 <- push+0, NumWorkgroups []"),
        (
            "tile[gl_LocalInvocationIndex] = a[p.m];",
            "tile <- push+0, binding 0 [LocalInvocationIndex]",
        ),
        ("atomicAdd(b[p.m], p.n);", "binding 1 <- push+4, binding 1 [push+0]"),
        ("atomicExchange(b[0], p.n);", "binding 1 <- push+4 []"),
        ("imageStore(picture, ivec2(p.m, 0), uvec4(p.n));", "all of 2 <- push+4 [push+0]"),
        ("b[0] = imageLoad(picture, ivec2(p.m, 0)).x;", "binding 1 <- push+0, all of 2 []"),
        ("b[0] = uint(a.length());", "binding 1 <- size of 0 []"),
        ("b[uint(b.length()) - 1u] = 5u;", "binding 1 <-  [size of 1]"),
        ("b[0] = uint(imageSize(picture).x);", "binding 1 <- size of 2 []"),
    ];
    for (main, expected) in cases {
        assert_eq!(stores(&of_main(main)), [expected], "{main}");
    }
}

#[test]
fn workgroup_memory_ends_what_a_value_is_computed_from() {
    let main = "tile[0] = a[0]; barrier(); b[0] = tile[p.n];";
    let expected = ["tile <- binding 0 []", "binding 1 <- push+4, tile []"];
    assert_eq!(stores(&of_main(main)), expected);
}

#[test]
fn loops_variables_and_calls_are_followed() {
    let text = format!(
        "{DECLARATIONS}uint twice(uint x) {{ return x * 2u; }}\n\
        void main() {{ uint s = 0u; for (uint i = 0u; i < p.m; i++) s += twice(a[i]); b[0] = s; }}"
    );
    // How many turns a loop takes is decided by its branch and is no part of the value.
    assert_eq!(stores(&of_module(&text)), ["binding 1 <- binding 0 []"]);
}

#[test]
fn branches_around_an_access_decide_it_and_those_around_the_call_too() {
    let text = format!(
        "{DECLARATIONS}void put(uint x) {{ if (x > p.n) b[0] = x; }}\n\
        void main() {{ if (p.m > 1u) put(a[0]); b[1] = 1u; }}"
    );
    let (module, dependences) = of_module(&text);
    let deciders = |access: &&ObjectAccess| {
        let conditions = access.branches.iter().map(|branch| &dependences.conditions[branch]);
        let mut deciders: Vec<String> =
            conditions.map(|condition| words(&module, condition)).collect();
        deciders.sort();
        deciders.join("; ")
    };
    let stores = dependences.accesses.iter().filter(|access| !access.writes.is_empty());
    let deciders: Vec<String> = stores.clone().map(|access| deciders(&access)).collect();
    // The function stands behind `main` in the text, and before it in the module.
    assert_eq!(deciders, ["", "push+0; push+4, binding 0"]);
}

#[test]
fn a_barrier_has_the_branches_around_it() {
    let (module, dependences) =
        of_main("for (uint i = 0u; i < p.m; i += STEP) { barrier(); } barrier();");
    let deciders: Vec<Vec<String>> = dependences
        .barriers
        .values()
        .map(|branches| {
            let conditions = branches.iter().map(|branch| &dependences.conditions[branch]);
            conditions.map(|condition| words(&module, condition)).collect()
        })
        .collect();
    assert_eq!(deciders, [vec!["push+0, spec 7".to_owned()], vec![]]);
}

/// Calls of `same`, each with what the variable of its argument holds.
fn calls_with_values(module: &Module) -> Vec<(Id, Id)> {
    let stored_in = |variable: Id| {
        let is_store =
            |store: &&Instruction| store.op == Op::Store && store.id(0) == Some(variable);
        module.instructions.iter().find(is_store).and_then(|store| store.id(1))
    };
    let calls = module.instructions.iter().filter(|call| call.op == Op::FunctionCall);
    calls.map(|call| (call.result.unwrap(), stored_in(call.id(1).unwrap()).unwrap())).collect()
}

#[test]
fn a_call_whose_result_is_known_is_passed_or_told_apart() {
    let text = format!(
        "{DECLARATIONS}uint same(uint x) {{ return x; }}\n\
        void main() {{ b[0] = same(p.m); b[1] = same(p.n); }}"
    );
    // A function's result may come of any of its calls.
    let expected = ["binding 1 <- push+0, push+4 []", "binding 1 <- push+0, push+4 []"];
    assert_eq!(stores(&of_module(&text)), expected);
    let module = compiled(&text);
    let values = calls_with_values(&module);
    let [(first_call, first_value), (second_call, second_value)] = values[..] else {
        panic!("{values:?}")
    };
    let call_results = [
        (first_call, CallResult::Passed(first_value)),
        (second_call, CallResult::StandIn(second_value)),
    ];
    let dependences =
        kernel_dependences(&module, "main", &BTreeMap::new(), &call_results.into()).unwrap();
    assert_eq!(dependences.stand_ins.len(), 1);
    assert_eq!(words(&module, &dependences.stand_ins[&second_call].objects), "push+4");
    let expected = ["binding 1 <- push+0 []", "binding 1 <- call []"];
    assert_eq!(stores(&(module, dependences)), expected);
}

#[test]
fn branches_that_choose_a_value_are_told_apart_from_those_around_its_use() {
    let cases = [
        ("uint x = 0u; if (p.n > 3u) x = 1u; b[0] = x;", "push+4"),
        ("uint y = 0u; for (uint i = 0u; i < p.m; i++) y++; b[0] = y;", "push+0"),
        (
            "uint x = 0u; switch (p.n) { case 1: x = 1u; break; default: x = 2u; } b[0] = x;",
            "push+4",
        ),
        ("uint x = 0u; if (p.n > 3u) x = 1u; b[x] = 1u;", "push+4"),
        ("b[0] = pick(p.n);", "push+4"),
        ("set(); b[0] = global;", ""),
        ("if (p.m > 1u) set(); b[0] = global;", "push+0"),
        // The guard decides whether the value is used.
        ("if (p.n > 3u) { uint x = a[0]; if (x > 1u) b[0] = x; }", ""),
        ("for (uint i = 0u; i < p.m; i++) b[i] = i;", ""),
    ];
    for (main, expected) in cases {
        let text = format!(
            "{DECLARATIONS}uint global;\nvoid set() {{ global = 1u; }}\n\
            uint pick(uint c) {{ if (c > 3u) return 7u; return 1u; }}\nvoid main() {{ {main} }}"
        );
        let (module, dependences) = of_module(&text);
        let stores = dependences.accesses.iter().filter(|access| !access.writes.is_empty());
        let conditions = stores
            .flat_map(|access| &access.choices)
            .map(|branch| words(&module, &dependences.conditions[branch]));
        assert_eq!(conditions.collect::<Vec<_>>().join("; "), expected, "{main}");
    }
}

#[test]
fn an_element_of_pushed_arrays_is_of_its_array() {
    let text = "layout(push_constant) uniform P { uint m; uint list[2]; uint last; } p;\n\
        layout(std430, binding = 1) buffer B { uint b[]; };\n\
        void main() { b[0] = p.list[p.last]; }";
    assert_eq!(stores(&of_module(text)), ["binding 1 <- push+4, push+12 []"]);
}

#[test]
fn members_of_blocks_are_told_apart_and_whole_blocks_are_all_members() {
    let declarations = "struct Star { float x; uint flags; };\n\
        layout(std430, binding = 0) buffer A { uint count; uint sums[4]; Star stars[]; } a;\n\
        layout(std430, binding = 1) buffer B { uint first; uint second; } b[2];\n\
        layout(push_constant) uniform P { uint m; } p;\n";
    let cases = [
        ("a.count = a.sums[p.m];", "binding 0 <- push+0, binding 0+4 []"),
        ("a.sums[1] = a.stars[p.m].flags;", "binding 0+4 <- push+0, binding 0+24 []"),
        ("a.stars[p.m].x = 1.0;", "binding 0+20 <-  [push+0]"),
        ("b[0].second = b[1].first;", "binding 1+4 <- binding 1 []"),
        ("uint c[4] = a.sums; a.count = c[p.m];", "binding 0 <- push+0, binding 0+4 []"),
    ];
    for (main, expected) in cases {
        let text = format!("{declarations}void main() {{ {main} }}");
        assert_eq!(stores(&of_module(&text)), [expected], "{main}");
    }
}

//! Pairs of small kernels, by lines of their text.

use super::*;
use crate::range::AccessKind;
use vkcert_glsl::{KernelSource, compile};

const HEADER: &str = "#version 460\nlayout(local_size_x = 64) in;\n";

pub(super) fn compiled(text: &str) -> Module {
    let source = KernelSource::alone("k.comp", text.to_owned(), "vulkan1.2");
    Module::parse(compile(&source).expect("compiles").production).expect("SPIR-V")
}

pub(super) fn with_request<T>(module: &Module, query: impl FnOnce(&PairRequest<'_>) -> T) -> T {
    query(&PairRequest {
        module,
        entry: "main",
        specialization: &BTreeMap::new(),
        memory_model: MemoryModel::Idiom,
        unwritten_by_host: &BTreeSet::new(),
        aliased: &BTreeSet::new(),
    })
}

/// Writes that no barrier orders before reads of other invocations, or behind them, as if all
/// barriers were reached alike.
pub(super) fn unordered_accesses(module: &Module) -> Vec<ConflictingAccess> {
    unordered_within(module, &HostRanges::default())
}

/// The same whatever a host hands over in its ranges.
pub(super) fn unordered_within(module: &Module, host: &HostRanges) -> Vec<ConflictingAccess> {
    let rows = with_request(module, |request| conflicting_accesses(request, host));
    let rows = rows.expect("checks");
    let is_open = |row: &ConflictingAccess| {
        row.order > AccessOrder::UnknownOrder && row.other_kind == AccessKind::Read
    };
    rows.into_iter().filter(is_open).collect()
}

pub(super) fn line(module: &Module, index: u32) -> u32 {
    module.place_of(index as usize).line.unwrap_or(0)
}

/// `name: write -> read across barrier`, by lines, each once.
pub(super) fn told(module: &Module) -> BTreeSet<String> {
    let pairs = with_request(module, static_pairs).expect("pairs");
    let told = pairs.iter().map(|pair| {
        let passage = match pair.pair.passage {
            Passage::Host => "host".to_owned(),
            Passage::Barrier { store, barrier } => {
                format!("{} across {}", line(module, store), line(module, barrier))
            }
            Passage::Atomic { store } => format!("{} atomic", line(module, store)),
            Passage::Unordered { .. } | Passage::Dispatch { .. } => "?".to_owned(),
        };
        let reach = match pair.reach {
            Reach::Possible => "",
            Reach::Excluded => " excluded",
        };
        format!("{}: {passage} -> {}{reach}", pair.name, line(module, pair.pair.use_index))
    });
    told.collect()
}

fn kernel(declarations: &str, main: &str) -> Module {
    compiled(&format!(
        "{HEADER}{declarations}\nvoid main() {{\nuint lane = gl_LocalInvocationID.x;\n{main}\n}}"
    ))
}

/// The pairs of a kernel but for those of its host; lines count from the body of `main` on.
fn between_invocations(declarations: &str, main: &str) -> Vec<String> {
    let first = HEADER.lines().count() + declarations.lines().count() + 2;
    let module = compiled(&format!(
        "{HEADER}{declarations}\nvoid main() {{\nuint lane = gl_LocalInvocationID.x;\n{main}\n}}"
    ));
    let rows = told(&module).into_iter().filter(|row| !row.contains("host"));
    let rows = rows.map(|row| {
        let words = row.split(' ').map(|word| match word.parse::<usize>() {
            Ok(line) => (line - first).to_string(),
            Err(_) => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    });
    rows.collect::<BTreeSet<_>>().into_iter().collect()
}

const OUT: &str = "layout(std430, binding = 9) writeonly buffer Out { uint told[]; };";

fn shared_array(main: &str) -> Vec<String> {
    between_invocations(&format!("{OUT}\nshared uint s[64];"), main)
}

#[test]
fn a_value_of_another_invocation_comes_across_the_first_barrier() {
    assert_eq!(
        shared_array("s[lane] = 1u;\nbarrier();\nbarrier();\ntold[lane] = s[63u - lane];"),
        ["s[]: 1 across 2 -> 4"]
    );
    let in_branches = "s[lane] = 1u;\nif (gl_WorkGroupID.x > 1u) {\nbarrier();\n} else {\nbarrier();\n}\ntold[lane] = s[lane ^ 1u];";
    assert_eq!(shared_array(in_branches), ["s[]: 1 across 3 -> 7", "s[]: 1 across 5 -> 7"]);
}

#[test]
fn a_barrier_in_a_function_holds_whoever_calls_it() {
    let declarations = format!("{OUT}\nshared uint s[64];\nvoid meet() {{ barrier(); }}");
    let main = "s[lane] = 1u;\nmeet();\nbarrier();\ntold[lane] = s[lane ^ 1u];";
    let rows = told(&kernel(&declarations, main));
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows.iter().all(|row| row.contains("across 5 ->")), "{rows:?}");
    let module = kernel(&declarations, "s[lane] = 1u;\nmeet();\ntold[lane] = s[lane ^ 1u];");
    assert!(unordered_accesses(&module).is_empty());
}

#[test]
fn an_invocation_makes_no_pair_with_itself() {
    assert!(shared_array("s[lane] = 1u;\nbarrier();\ntold[lane] = s[lane];").is_empty());
    let copied = "uint i = gl_LocalInvocationIndex;\ns[i] = 1u;\nbarrier();\ntold[lane] = s[lane];";
    assert!(shared_array(copied).is_empty());
    // The neighbour's, and what only seems to be the own one.
    let next = "s[lane] = 1u;\nbarrier();\ntold[lane] = s[lane + 1u];";
    assert_eq!(shared_array(next), ["s[]: 1 across 2 -> 3"]);
    let halved = "s[lane / 2u] = 1u;\nbarrier();\ntold[lane] = s[lane / 2u];";
    assert_eq!(shared_array(halved), ["s[]: 1 across 2 -> 3"]);
}

#[test]
fn counters_in_steps_of_the_workgroup_stay_with_their_invocation() {
    let counted = |step: &str, read: &str| {
        shared_array(&format!(
            "for (uint i = lane; i < told.length(); i += {step}) s[i] = 1u;\nbarrier();\nfor (uint i = lane; i < told.length(); i += {step})\ntold[i] = s[{read}];"
        ))
    };
    let pair = ["s[]: 1 across 2 -> 4"];
    assert!(counted("64u", "i").is_empty());
    assert!(counted("128u", "i").is_empty());
    assert!(counted("64u", "i + 256u").is_empty());
    // Steps that bring an invocation to elements of others, and neighbours.
    assert_eq!(counted("32u", "i"), pair);
    assert_eq!(counted("1u", "i"), pair);
    assert_eq!(counted("64u", "i + 1u"), pair);
    assert_eq!(counted("64u", "i / 2u"), pair);
}

#[test]
fn elements_that_no_two_invocations_share_make_no_pair() {
    let apart = "s[2u * lane] = 1u;\nbarrier();\ntold[lane] = s[2u * lane + 1u];";
    assert!(shared_array(apart).is_empty());
    assert!(shared_array("s[lane] = 1u;\nbarrier();\ntold[lane] = s[lane + 64u];").is_empty());
    let constants = "s[3] = 1u;\nbarrier();\ntold[lane] = s[4];";
    assert!(shared_array(constants).is_empty());
    assert_eq!(
        shared_array("s[3] = 1u;\nbarrier();\ntold[lane] = s[3];"),
        ["s[]: 1 across 2 -> 3"]
    );
}

#[test]
fn one_invocation_behind_two_guards_makes_no_pair() {
    let guarded = |write: &str, read: &str| {
        shared_array(&format!("if ({write})\ns[0] = 1u;\nbarrier();\nif ({read})\ntold[0] = s[0];"))
    };
    let pair = ["s[]: 2 across 3 -> 5"];
    assert!(guarded("lane == 0u", "lane == 0u").is_empty());
    assert!(guarded("lane < 1u", "gl_LocalInvocationIndex == 0u").is_empty());
    assert!(guarded("lane == 0u && told.length() > 4", "!(lane != 0u)").is_empty());
    assert_eq!(guarded("lane == 0u", "lane == 1u"), pair);
    assert_eq!(guarded("lane == 0u || told.length() > 4", "lane == 0u"), pair);
    assert_eq!(guarded("lane < 2u", "lane == 0u"), pair);
    assert_eq!(guarded("gl_WorkGroupID.x == 0u", "lane == 0u"), pair);
    // In a function that only one invocation calls.
    let in_function = format!("{OUT}\nshared uint s[64];\nvoid put() {{ s[0] = 1u; }}");
    let main = "if (lane == 0u) put();\nbarrier();\nif (lane == 0u)\ntold[0] = s[0];";
    assert!(between_invocations(&in_function, main).is_empty());
}

#[test]
fn a_barrier_that_does_not_order_the_memory_makes_no_pair() {
    let buffer = "layout(std430, binding = 1) buffer B { uint b[]; };";
    let with = |between: &str| {
        between_invocations(
            &format!("{OUT}\n{buffer}"),
            &format!("b[lane] = 1u;\n{between}\ntold[lane] = b[lane ^ 1u];"),
        )
    };
    assert!(with("barrier();").is_empty());
    assert_eq!(with("memoryBarrierBuffer(); barrier();"), ["b[]: 1 across 2 -> 3"]);
    assert!(with("barrier(); memoryBarrierBuffer();").is_empty());
    // Later barriers count for what the first one does not order.
    assert_eq!(with("barrier();\nmemoryBarrierBuffer(); barrier();"), ["b[]: 1 across 3 -> 4"]);
}

#[test]
fn members_are_told_apart_and_named() {
    let declarations = format!(
        "{OUT}\nstruct Star {{ vec2 at; uint flags; }};\nshared Star stars[64];\nshared struct {{ uint a; uint b; }} pair;"
    );
    let main = "stars[lane].flags = 1u; pair.a = 1u;\nbarrier();\ntold[lane] = stars[lane ^ 1u].flags + pair.b;\ntold[lane] += pair.a + uint(stars[lane ^ 1u].at.x);";
    assert_eq!(
        between_invocations(&declarations, main),
        ["pair.a: 1 across 2 -> 4", "stars[].flags: 1 across 2 -> 3"]
    );
}

#[test]
fn atomics_meet_in_one_interval() {
    let declarations = format!("{OUT}\nshared uint n; shared uint m;");
    let main = "atomicAdd(n, 1u);\nbarrier();\nuint seen = atomicOr(n, 0u);\nbarrier();\natomicAdd(m, 1u);\ntold[lane] = seen;";
    assert_eq!(
        between_invocations(&declarations, main),
        ["m: 5 atomic -> 5", "n: 1 across 2 -> 3", "n: 1 atomic -> 1", "n: 3 atomic -> 3"]
    );
    let buffer = "layout(std430, binding = 1) buffer B { uint b[]; };";
    let main = "atomicAdd(b[0], 1u);\natomicAdd(b[1], 1u);\nuint seen = b[0];\ntold[lane] = seen;";
    assert_eq!(
        between_invocations(&format!("{OUT}\n{buffer}"), main),
        ["b[]: 1 atomic -> 1", "b[]: 2 atomic -> 2"]
    );
}

#[test]
fn flags_hand_over_what_is_coherent() {
    let main = "if (lane == 0u) {\nb[0] = 1u; c[0] = 1u;\nmemoryBarrierBuffer();\natomicExchange(flag, 1u);\n}\nif (atomicOr(flag, 0u) == 1u) {\nmemoryBarrierBuffer();\ntold[lane] = b[0];\ntold[lane] += c[0];\n}";
    let buffers = "layout(std430, binding = 1) coherent buffer B { uint b[]; };\nlayout(std430, binding = 2) buffer C { uint flag; uint c[]; };";
    let told = between_invocations(&format!("{OUT}\n{buffers}"), main);
    assert!(told.contains(&"b[]: 2 atomic -> 8".to_owned()), "{told:?}");
    assert!(!told.iter().any(|row| row.starts_with("c[]")), "{told:?}");
    assert!(told.contains(&"flag: 4 atomic -> 6".to_owned()), "{told:?}");
}

/// The pairs whose definition is the host: name and line.
fn from_host(declarations: &str, main: &str) -> Vec<String> {
    let rows = told(&kernel(declarations, main)).into_iter();
    let host = rows.filter_map(|row| Some(row.split_once(": host")?.0.to_owned()));
    host.collect::<BTreeSet<_>>().into_iter().collect()
}

#[test]
fn what_the_host_decides_is_told_by_member() {
    let declarations = format!(
        "{OUT}\nlayout(constant_id = 3) const uint STEP = 4u;\nlayout(push_constant) uniform P {{ uint used; uint idle; }} p;\n\
         layout(std140, binding = 0) uniform U {{ vec4 scale; vec4 bias; }};\nlayout(std430, binding = 1) readonly buffer A {{ uint count; uint a[]; }};\n\
         layout(r32ui, binding = 2) uniform readonly uimage2D picture;\nlayout(binding = 3) uniform sampler2D seen;"
    );
    let main = "uint x = p.used + uint(bias.y) + a[lane * STEP] + gl_NumWorkGroups.x + imageLoad(picture, ivec2(0)).x;\n\
                told[lane] = x + uint(textureLod(seen, vec2(0), 0.0).x) + uint(a.length());";
    assert_eq!(
        from_host(&declarations, main),
        ["STEP", "a[]", "bias", "gl_NumWorkGroups", "p.used", "picture", "seen"]
    );
}

#[test]
fn what_the_host_never_writes_is_no_pair_with_it() {
    let module = kernel(
        "layout(std430, binding = 1) buffer A { uint a[]; };\nlayout(std430, binding = 2) buffer B { uint b[]; };",
        "b[lane] += a[lane];",
    );
    let unwritten = BTreeSet::from([ReadDescriptor { set: 0, binding: 2 }]);
    let pairs = with_request(&module, |request| {
        static_pairs(&PairRequest { unwritten_by_host: &unwritten, ..*request })
    });
    let names: Vec<String> = pairs.expect("pairs").into_iter().map(|pair| pair.name).collect();
    assert_eq!(names, ["a[]"]);
}

#[test]
fn what_the_configuration_switches_off_stays_and_is_called_so() {
    let declarations = format!(
        "{OUT}\nlayout(constant_id = 0) const bool ON = false;\nlayout(std430, binding = 1) readonly buffer A {{ uint b; uint a[]; }};"
    );
    let module = kernel(&declarations, "told[lane] = b;\nif (ON) {\ntold[lane] = a[lane];\n}");
    let rows = told(&module);
    let excluded: Vec<&String> = rows.iter().filter(|row| row.contains("excluded")).collect();
    assert_eq!(excluded.len(), 1, "{rows:?}");
    assert!(excluded[0].starts_with("a[]: host"), "{rows:?}");
}

#[test]
fn parts_behind_parameters_and_choices_are_each_told() {
    let declarations = "layout(binding = 0) uniform sampler2D left;\nlayout(binding = 1) uniform sampler2D right;\n\
                        uint at(sampler2D image) { return uint(textureLod(image, vec2(0), 0.0).x); }";
    assert_eq!(
        from_host(&format!("{OUT}\n{declarations}"), "told[lane] = at(left) + at(right);"),
        ["left", "right"]
    );
    let blocks = "layout(std430, binding = 1) readonly buffer A { uint a; uint b; } blocks[2];";
    let module = kernel(&format!("{OUT}\n{blocks}"), "told[lane] = blocks[1].b;");
    assert!(told(&module).iter().any(|row| row.starts_with("blocks[].b: host")));
}

#[test]
fn device_addresses_are_an_object_of_their_own() {
    let declarations = format!(
        "#extension GL_EXT_buffer_reference : enable\n{OUT}\nlayout(buffer_reference) buffer Node;\nlayout(buffer_reference, std430) buffer Node {{ uint value; Node next; }};\nlayout(push_constant) uniform P {{ Node list; }};"
    );
    let text = format!("#version 460\n{}", declarations);
    let module = compiled(&format!(
        "{text}\nlayout(local_size_x = 64) in;\nvoid main() {{ told[0] = list.next.value; }}"
    ));
    let rows = told(&module);
    let names: BTreeSet<&str> =
        rows.iter().filter_map(|row| Some(row.split_once(": host")?.0)).collect();
    assert_eq!(names, BTreeSet::from(["*Node.next", "*Node.value", "list"]));
}

#[test]
fn missing_barriers_are_told_where_they_are_certain() {
    let orders = |main: &str| -> Vec<AccessOrder> {
        let module = kernel(&format!("{OUT}\nshared uint s[64];"), main);
        let rows = unordered_accesses(&module);
        rows.into_iter().map(|row| row.order).collect()
    };
    assert!(orders("s[lane] = 1u;\nbarrier();\ntold[lane] = s[lane ^ 1u];").is_empty());
    assert!(orders("s[lane] = 1u;\ntold[lane] = s[lane];").is_empty());
    assert_eq!(orders("s[lane] = 1u;\ntold[lane] = s[lane + 1u];"), [AccessOrder::Missing]);
    assert_eq!(orders("s[lane] = 1u;\ntold[lane] = s[lane ^ 1u];"), [AccessOrder::UnknownElements]);
    assert_eq!(
        orders("s[lane] = 1u;\nif (told.length() > int(lane))\ntold[lane] = s[lane + 1u];"),
        [AccessOrder::UnknownInvocations]
    );
    // On one of two ways.
    let one_way =
        "s[lane] = 1u;\nif (gl_WorkGroupID.x > 3u)\nbarrier();\ntold[lane] = s[lane + 1u];";
    assert_eq!(orders(one_way), [AccessOrder::Missing]);
    // The next round of a loop writes what the last one still reads.
    let round = "for (uint i = 0u; i < gl_WorkGroupID.x; ++i) {\ns[lane] = i;\nbarrier();\ntold[lane] = s[63u - lane];\n}";
    assert_eq!(orders(round), [AccessOrder::Missing]);
}

#[test]
fn ways_that_the_whole_workgroup_takes_alike_part_nobody() {
    let orders = |condition: &str| -> Vec<AccessOrder> {
        let main = format!(
            "barrier();\nif ({condition}) {{\ns[lane] = 1u;\n}} else {{\ntold[lane] = s[63u - lane];\n}}"
        );
        let module = kernel(&format!("{OUT}\nshared uint s[64];"), &main);
        let rows =
            with_request(&module, |request| conflicting_accesses(request, &HostRanges::default()))
                .expect("checks");
        rows.into_iter().map(|row| row.order).collect()
    };
    assert_eq!(orders("gl_WorkGroupID.x > 3u"), [AccessOrder::Ordered]);
    assert_eq!(orders("told.length() > int(lane)"), [AccessOrder::UnknownInvocations]);
    // The last round of a loop and what comes behind it have a barrier between them.
    let rounds = "for (uint i = 0u; i < gl_WorkGroupID.x; ++i) {\nif (told.length() > int(lane)) s[lane] = i;\nbarrier();\n}\ntold[lane] = s[63u - lane];";
    let module = kernel(&format!("{OUT}\nshared uint s[64];"), rounds);
    let rows =
        with_request(&module, |request| conflicting_accesses(request, &HostRanges::default()))
            .expect("checks");
    let orders: Vec<AccessOrder> = rows.into_iter().map(|row| row.order).collect();
    assert_eq!(orders, [AccessOrder::Ordered]);
}

#[test]
fn the_way_without_a_barrier_is_told() {
    let module = kernel(
        &format!("{OUT}\nshared uint s[64];"),
        "s[lane] = 1u;\nif (gl_WorkGroupID.x > 3u)\nbarrier();\ntold[lane] = s[lane + 1u];",
    );
    let rows = unordered_accesses(&module);
    let way = rows[0].way.as_ref().expect("a way");
    assert!(way.iter().all(|index| module.function_at(*index).is_some()), "{way:?}");
    assert_eq!(line(&module, *way.last().expect("a piece") as u32), 10);
}

#[test]
fn barriers_that_order_nothing_are_told() {
    let idle = |main: &str| {
        let module = kernel(&format!("{OUT}\nshared uint s[64];"), main);
        with_request(&module, idle_barriers).expect("checks").len()
    };
    assert_eq!(idle("s[lane] = 1u;\nbarrier();\ntold[lane] = s[63u - lane];"), 0);
    // One of two suffices.
    assert_eq!(idle("s[lane] = 1u;\nbarrier();\nbarrier();\ntold[lane] = s[63u - lane];"), 1);
    assert_eq!(idle("s[lane] = 1u;\nbarrier();\ntold[lane] = s[lane];"), 1);
    // Before the next write.
    assert_eq!(idle("told[lane] = s[63u - lane];\nbarrier();\ns[lane] = 1u;"), 0);
    assert_eq!(idle("told[lane] = s[63u - lane];\nbarrier();\ntold[lane] += s[0];"), 1);
}

/// Names and lines of what `later` reads from binding 5 where `earlier` wrote it through binding 0,
/// each bound from a byte of one buffer on.
fn read_of_earlier(
    (earlier, written_start): (&Module, u64),
    (later, read_start): (&Module, u64),
) -> Vec<(String, u32)> {
    let at =
        |binding, start| (ReadDescriptor { set: 0, binding }, BoundBytes { start, end: u64::MAX });
    let mut shared = SharedBindings::default();
    shared.share(at(0, written_start), at(5, read_start));
    let pairs = with_request(earlier, |first| {
        with_request(later, |second| {
            dispatch_pairs((first, "first".into()), second, &shared).expect("pairs")
        })
    });
    let is_of_first = |pair: &StaticPair| matches!(pair.pair.passage, Passage::Dispatch { kernel, .. } if kernel.as_str() == "first");
    assert!(pairs.iter().all(is_of_first), "{pairs:?}");
    pairs.iter().map(|pair| (pair.name.clone(), line(later, pair.pair.use_index))).collect()
}

#[test]
fn a_later_dispatch_reads_what_an_earlier_one_wrote() {
    let earlier = kernel(
        "struct Item { uint x; uint y; };\nlayout(std430, binding = 0) buffer A { uint count; uint pad; Item a[4]; };\nlayout(std430, binding = 1) buffer B { uint b[]; };",
        "a[lane].y = 1u;\nb[lane] = 2u;",
    );
    let later = kernel(
        "struct Part { uint x; uint y; };\nlayout(std430, binding = 5) readonly buffer A { uint number; uint pad; Part items[4]; };\nlayout(std430, binding = 6) buffer O { uint o[]; };",
        "o[lane] = number;\no[lane] += items[lane].x;\no[lane] += items[lane].y;",
    );
    let row = |name: &str, line| (name.to_owned(), line);
    assert_eq!(read_of_earlier((&earlier, 0), (&later, 0)), [row("items[].y", 10)]);
    // Four bytes further the one lies where the other is otherwise, and `number` in the first item.
    assert_eq!(
        read_of_earlier((&earlier, 64), (&later, 76)),
        [row("number", 8), row("items[].x", 9)]
    );
    // The last `y` of the earlier one ends at byte 40.
    assert_eq!(read_of_earlier((&earlier, 0), (&later, 40)), []);
    assert_eq!(read_of_earlier((&earlier, 40), (&later, 0)), []);
}

#[test]
fn members_behind_inner_arrays_and_matrices_have_places() {
    let block = "struct Item { uint x[2]; uint y; };\nlayout(std430, binding = 0) buffer A { mat2 m; mat2 n; Item a[4]; };";
    let earlier = kernel(block, "m[1] = vec2(1.0);\na[lane].x[lane & 1u] = 1u;");
    let later = kernel(
        &format!("{}\n{OUT}", block.replace("binding = 0", "binding = 5")),
        "told[0] = uint(m[0].x);\ntold[1] = uint(n[0].x);\ntold[2] = a[lane].x[0];\ntold[3] = a[lane].y;",
    );
    let told: Vec<String> =
        read_of_earlier((&earlier, 0), (&later, 0)).into_iter().map(|(name, _)| name).collect();
    assert_eq!(told, ["m", "a[].x[]"]);
}

#[test]
fn large_kernels_take_seconds() {
    let mut body = String::new();
    for number in 0..360 {
        let work = "sum = sum * 5u + (sum >> 3u) + lane; ".repeat(2);
        body += &format!(
            "if (told.length() > {number}) {{ s{}[lane] += {number}u; {work}}}\nif (gl_WorkGroupID.x == {number}u) {{ t[lane] = s{}[lane ^ {number}u] * 3u + sum; }}\nbarrier();\n",
            number % 40,
            number % 40
        );
    }
    let arrays: String = (0..40).map(|number| format!("shared uint s{number}[64]; ")).collect();
    let declarations = format!(
        "layout(std430, binding = 9) buffer Out {{ uint told[]; }};\nshared uint t[64]; {arrays}\nuint sum = 1u;"
    );
    let module = kernel(&declarations, &body);
    let blocks: usize = module.functions.iter().map(|function| function.blocks.len()).sum();
    assert!(blocks > 1000 && module.instructions.len() > 20_000, "{blocks}");
    let begun = std::time::Instant::now();
    let pairs = with_request(&module, static_pairs).expect("pairs");
    let told_pairs = begun.elapsed();
    let unordered = unordered_accesses(&module);
    let told_conflicts = begun.elapsed();
    let idle = with_request(&module, idle_barriers).expect("checks");
    let all = begun.elapsed();
    println!(
        "{} instructions, {blocks} blocks: {} pairs {told_pairs:?}; {} unordered {told_conflicts:?}; {} idle, all {all:?}",
        module.instructions.len(),
        pairs.len(),
        unordered.len(),
        idle.len()
    );
    assert!(all.as_secs() < 60, "{all:?}");
}

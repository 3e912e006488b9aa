//! The front end's own marked modules, instrumented.

use super::*;
use std::collections::BTreeSet;
use vkcert_glsl::{KernelSource, compile};
use vkcert_model::structure::{MarkerRole, Recording};

fn instrumented(text: &str, target_env: &str) -> (KernelStructure, Instrumented) {
    let source = KernelSource::alone("glsl/kernel.comp", text, target_env);
    let compiled = compile(&source).unwrap_or_else(|errors| panic!("{errors:?}"));
    let marked = Module::parse(compiled.marked).unwrap();
    let made =
        instrument(&compiled.structure, &marked, "main").unwrap_or_else(|error| panic!("{error}"));
    (compiled.structure, made)
}

const TILED: &str = "#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(push_constant) uniform P { uint m, n, k; } p;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer R { float r[]; };
layout(constant_id = 5) const uint MODE = 1u;
shared float ta[16][16], tb[16][16];
bool inside(uint x, uint y) { return x < p.k && y < p.m; }
float pick(float x, uint mode) {
    switch (mode) {
    case 0u: return x;
    case 1u: x = x * 2.0; // falls through
    case 2u: return x + 1.0;
    }
    return MODE == 1u ? x : -x;
}
#define CLAMPED(v, l) ((v) < (l) ? (v) : (l))
void main() {
    uvec2 g = gl_GlobalInvocationID.xy, l = gl_LocalInvocationID.xy;
    float sum = 0.0;
    for (uint t = 0u; t < (p.n + 15u) / 16u; t++) {
        uint c = t * 16u + l.x, d = t * 16u + l.y;
        ta[l.y][l.x] = g.y < p.m && c < p.n ? a[g.y * p.n + c] : 0.0;
        tb[l.y][l.x] = (d < p.n) && !(g.x >= p.k) ? b[d * p.k + g.x] : 0.0;
        barrier();
        uint i = 0u;
        do { sum += ta[l.y][i] * tb[i][l.x]; } while (++i < 16u);
        while (true) { if (i == 0u ^^ sum > 3.0) break; i--; if (i > 100u) continue; }
        barrier();
    }
    bool ok = inside(g.x, g.y) || p.n == 0u;
    if (ok) r[g.y * p.k + g.x] = pick(CLAMPED(sum, 1e9), p.n) + float(ok);
}
";

#[test]
fn front_end_and_instrumentation_agree_on_a_whole_kernel() {
    for env in ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"] {
        let (structure, made) = instrumented(TILED, env);
        assert_eq!(made.untraced, [], "{env}");
        let present: BTreeSet<u32> = made.presence.markers.keys().copied().collect();
        for (number, role) in structure.markers.iter().enumerate() {
            assert!(present.contains(&(number as u32)), "{env}: marker {number} {role:?}");
        }
        for decision in
            structure.decisions.iter().filter(|decision| decision.recording == Recording::Marked)
        {
            assert!(
                made.markers.layout.slot(decision.id).is_some(),
                "{env}: {} {}",
                decision.id,
                decision.text
            );
        }
        let marks =
            structure.markers.iter().filter(|role| matches!(role, MarkerRole::Mark { .. })).count();
        assert_eq!(made.markers.layout.marks.len(), marks);
    }
}

#[test]
fn function_that_nothing_calls_is_absent_and_breaks_nothing() {
    let text = "#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer B { uint r[]; };
bool never(uint x) { if (x > 3u && x < 9u) return true; return false; }
void main() { if (r[0] > 1u) r[1] = 2u; }
";
    let (structure, made) = instrumented(text, "vulkan1.1");
    assert!(made.presence.markers.len() < structure.markers.len());
    assert_eq!(made.untraced, []);
}

/// The compiler sees instructions of a set of their own; what everyone else sees are calls.
#[test]
fn markers_are_calls_and_leave_no_set_extension_or_second_type() {
    let text = "#version 450
layout(local_size_x = 8) in;
layout(binding = 0) buffer B { int s[]; };
bool same(uint a, uint b, bool v) { return a == b && v; }
void main() {
    if (same(1u, uint(s[0]), s[2] < 4) || s[3] == 2) s[1] = 2;
    switch (s[4]) { case 0: s[5] = 1; }
}
";
    for env in ["vulkan1.0", "vulkan1.3"] {
        let source = KernelSource::alone("glsl/kernel.comp", text, env);
        let marked = compile(&source).expect("it compiles").marked;
        validate(&marked, TargetEnv::from_name(env).expect("an environment")).expect("valid");
        let text = vkcert_spirv::validate::disassemble(&marked).expect("text");
        // The source text, with how markers are declared in it, is in OpSource; nowhere else.
        for line in
            text.lines().filter(|line| line.contains("OpExt") || line.contains("OpSourceExtension"))
        {
            assert!(!line.contains("vkcert") && !line.contains("spirv_intrinsics"), "{line}");
        }
        let calls = |name: &str| text.matches(&format!("OpFunctionCall {name}")).count();
        // Two decisions of two conditions, one of one in an argument; two function entries, a
        // label, an added default.
        assert_eq!((calls("%bool %vkcert_value"), calls("%void %vkcert_mark")), (7, 4), "{text}");
    }
}

//! Kernels of thousands of instructions and blocks.

use super::{bounds_rows, compiled, counted};
use std::fmt::Write;
use std::time::Instant;
use vkcert_model::requirement::Interface;

fn interface() -> Interface {
    serde_json::from_value(serde_json::json!({
        "kernel": "k",
        "parameters": [{ "name": "n", "type": "uint32", "min": 1, "max": 65536 }],
        "push_constants": { "members": [{ "name": "n", "type": "uint32" }] },
        "buffers": [{ "set": 0, "binding": 0, "size": "n * 4" }],
        "groups": ["(n + 63) / 64", "1", "1"],
    }))
    .unwrap()
}

const HEAD: &str = "#version 450
    layout(local_size_x = 64) in;
    layout(std430, binding = 0) buffer A { uint a[]; };
    layout(push_constant) uniform P { uint n; };
    shared uint tile[64];\n";

/// Guards and loops beside and within each other, 8 statements to each.
fn large_kernel(part_count: usize) -> String {
    let mut text = format!("{HEAD}void main() {{ uint x = gl_GlobalInvocationID.x;\n");
    text.push_str("uint lane = gl_LocalInvocationID.x; uint sum = 0u;\n");
    for part in 0..part_count {
        let factor = part % 7 + 1;
        write!(
            text,
            "if (x + {part}u < n) {{ uint v = a[x + {part}u] * {factor}u; v ^= v >> 3; sum += v; a[x] = v + 1u; }}
             for (uint i = lane; i < 64u; i += {factor}u) {{ sum += tile[i] + tile[i ^ 1u]; if (sum > {part}u) sum -= i; }}\n"
        )
        .unwrap();
    }
    text.push_str("if (x < n) a[x] = sum; }\n");
    text
}

#[test]
fn a_kernel_of_many_blocks_is_judged() {
    // 240 parts have 20,000 instructions in 2,000 blocks.
    let wanted_parts = std::env::var("VKCERT_BOUNDS_PARTS").ok();
    let part_count = wanted_parts.and_then(|count| count.parse().ok()).unwrap_or(30);
    let module = compiled(&large_kernel(part_count));
    let blocks: usize = module.functions.iter().map(|function| function.blocks.len()).sum();
    let start = Instant::now();
    let rows = bounds_rows(&module, &interface());
    let counts = counted(&rows);
    println!(
        "{} instructions, {blocks} blocks: {counts:?} in {:?}",
        module.instructions.len(),
        start.elapsed()
    );
    assert!(blocks > 8 * part_count, "{blocks}");
    // A read and a write of the buffer and two reads of the tile in each part, the last write.
    assert!(counts["holds"] == 4 * part_count as u32 + 1, "{counts:?}");
    assert_eq!(counts.get("refuted"), None);
}

/// Calls that double at each level: what the last function does is done 2 to the power of 24 times.
#[test]
fn calls_that_double_end_in_a_named_limit() {
    let mut text = HEAD.to_owned();
    text.push_str("void f0(uint x) { tile[x & 63u] = x; }\n");
    for level in 1..=24 {
        let below = level - 1;
        writeln!(text, "void f{level}(uint x) {{ f{below}(x); f{below}(x + 1u); }}").unwrap();
    }
    text.push_str("void main() { f24(gl_LocalInvocationID.x); }\n");
    let rows = bounds_rows(&compiled(&text), &interface());
    assert!(!counted(&rows).contains_key("holds"), "{rows:#?}");
    assert!(rows.iter().any(|row| row.message.contains("than the analysis")), "{rows:#?}");
}

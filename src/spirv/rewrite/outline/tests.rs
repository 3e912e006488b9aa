//! What is cut is valid where the whole is, and nothing invalid becomes valid by being cut.

#[path = "../../../../tests/support/large_kernel.rs"]
mod large_kernel;

use super::*;
use crate::compile_tests::compile;
use crate::module::Module;
use crate::validate::{TargetEnv, validate_whole};
use large_kernel::{Shape, kernel};

const SMALL: OutlineSizes = OutlineSizes { function: 4, piece: 3 };

fn module(text: &str) -> Vec<u32> {
    let (_, rest) = text.split_once('\n').expect("a version line");
    compile(rest, TargetEnv::Vulkan1_3)
}

fn valid(words: &[u32]) -> bool {
    validate_whole(words, TargetEnv::Vulkan1_3).is_ok()
}

fn largest_function(words: &[u32]) -> usize {
    let module = Module::parse(words.to_vec()).expect("SPIR-V");
    module.functions.iter().map(|function| function.blocks.len()).max().unwrap_or(0)
}

const NESTED: &str = "#version
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer B { int s[]; };
int part(inout int x, int limit) {
    int sum = 0;
    for (int i = 0; i < limit; ++i) {
        if (s[i] > x) { if (x == 3 && i > 2) break; sum += s[i]; } else if (x < 0 || sum > 9) continue;
        if (sum > 100) { if (x == 1) return sum; x++; }
        sum += s[i] > 2 ? (x > 1 ? 4 : s[i]) : 1;
        if (x > 7) x--;
        switch (sum & 3) { case 0: if (x > 2) x = 1; case 1: x += 2; break; default: if (x == 5) return 0; }
        if (x > 9) x -= 2;
        if (x > 8) x -= 3;
        while (x > 20) { x -= 3; if (x == 22) break; if (x == 24) { x = 2; } }
    }
    return sum;
}
void main() {
    int at = int(gl_GlobalInvocationID.x), x = s[at], y = 2;
    if (at < 40) {
        if (x > 1) y = part(x, 4);
        if (x > 2 || y > 3) y = part(y, x);
        if (x > 3) y += 2;
        do { y -= 3; if (y < 9) x++; if (x > 4) y--; } while (y > 0);
        if (x == y) return;
        if (x > 4) { if (y > 1) x = y; if (y > 2) x += y; if (y > 3) { for (int i = 0; i < 3; i++) if (s[i] == x) x++; } }
    }
    s[at] = x + y;
}";

#[test]
fn large_functions_are_cut_into_valid_pieces() {
    for shape in Shape::ALL {
        let whole = module(&kernel(shape, 600, 2));
        assert!(valid(&whole));
        let large = largest_function(&whole) > SIZES.function;
        assert_eq!(large, matches!(shape, Shape::Statements | Shape::Conditions), "{shape:?}");
        let Some(cut) = outline_functions(&whole, SIZES) else {
            assert!(!large, "{shape:?} is not cut");
            continue;
        };
        assert!(valid(&cut), "{shape:?}: {:?}", validate_whole(&cut, TargetEnv::Vulkan1_3));
        assert!(largest_function(&cut) <= SIZES.function, "{shape:?}: {}", largest_function(&cut));
    }
    // All within one guard and one loop.
    let guarded = kernel(Shape::Statements, 600, 4)
        .replace(
            "y = source[63 - at];",
            "y = source[63 - at]; for (int i = 0; i < mode; i++) { if (at < 60) {",
        )
        .replace("    target[at]", "}} target[at]");
    let whole = module(&guarded);
    let cut = outline_functions(&whole, SIZES).expect("it is cut");
    assert!(valid(&whole) && valid(&cut));
    assert!(largest_function(&cut) <= SIZES.function, "{}", largest_function(&cut));
}

#[test]
fn every_instruction_stays() {
    let whole = module(NESTED);
    let cut = outline_functions(&whole, SMALL).expect("it is cut");
    assert!(valid(&whole) && valid(&cut), "{:?}", validate_whole(&cut, TargetEnv::Vulkan1_3));
    let opcodes = |words: &[u32]| {
        let mut counts: BTreeMap<u32, i64> = BTreeMap::new();
        for instruction in Module::parse(words.to_vec()).expect("SPIR-V").instructions {
            *counts.entry(instruction.op as u32).or_default() += 1;
        }
        counts
    };
    let (before, after) = (opcodes(&whole), opcodes(&cut));
    let added =
        |op: Op| after.get(&(op as u32)).unwrap_or(&0) - before.get(&(op as u32)).unwrap_or(&0);
    let pieces = added(Op::Function);
    assert!(pieces >= 4, "{pieces} pieces");
    for op in [Op::FunctionEnd, Op::Label, Op::FunctionCall, Op::Unreachable] {
        assert_eq!(added(op), pieces, "{op:?}");
    }
    let free = [Op::Function, Op::FunctionEnd, Op::Label, Op::FunctionCall, Op::Unreachable]
        .into_iter()
        .chain([Op::Variable, Op::FunctionParameter, Op::Decorate])
        .map(|op| op as u32);
    let free: Vec<u32> = free.collect();
    for (op, count) in before.iter().filter(|(op, _)| !free.contains(op)) {
        assert_eq!(after.get(op), Some(count), "opcode {op}");
    }
}

/// One change to a module's functions: an operand, an instruction left out, two instructions or
/// stretches exchanged.
fn changed(words: &[u32], rows: &ModuleRows<'_>, mut roll: impl FnMut(usize) -> usize) -> Vec<u32> {
    let first = rows.function_ranges()[0].start;
    let some = |roll: &mut dyn FnMut(usize) -> usize| first + roll(rows.rows.len() - first);
    let text = |row: usize| {
        words[rows.rows[row].offset..rows.rows[row].offset + rows.rows[row].length].to_vec()
    };
    let mut order: Vec<usize> = (0..rows.rows.len()).collect();
    let mut replaced = None;
    match roll(8) {
        0 => drop(order.remove(some(&mut roll))),
        1 => {
            let (one, other) = (some(&mut roll), some(&mut roll));
            order.swap(one, other);
        }
        2 => {
            let one = some(&mut roll);
            let moved = order.remove(one);
            let near = (one + roll(12)).saturating_sub(6).clamp(first, order.len());
            order.insert(near, moved);
        }
        // An id takes the place of another, near or far: an operand, a label or a result.
        kind => loop {
            let row = some(&mut roll);
            let Some((offset, id)) = rows.uses(row).get(roll(3)).copied() else { continue };
            let other = if kind < 6 {
                (row + roll(60)).saturating_sub(30).clamp(first, rows.rows.len() - 1)
            } else {
                some(&mut roll)
            };
            let Some(result) = rows.rows[other].result.filter(|result| *result != id) else {
                continue;
            };
            replaced = Some((offset, result));
            break;
        },
    }
    let mut changed = words.to_vec();
    if let Some((offset, id)) = replaced {
        changed[offset] = id;
        return changed;
    }
    changed.truncate(5);
    order.into_iter().for_each(|row| changed.extend(text(row)));
    changed
}

#[test]
fn no_invalid_module_becomes_valid_by_being_cut() {
    let mut seed = 7_u64;
    let mut roll = |sides: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % sides
    };
    let texts = [
        NESTED.to_owned(),
        kernel(Shape::Functions, 30, 5),
        kernel(Shape::Conditions, 20, 6),
        kernel(Shape::Statements, 30, 7),
    ];
    let (mut both, mut stricter, mut refused, mut whole_only) = (0, 0, 0, 0);
    for text in texts {
        let words = module(&text);
        let mut rows = ModuleRows::new(&words);
        rspirv::binary::parse_words(&words, &mut rows).expect("SPIR-V");
        for number in 0..1_500 {
            let changed = changed(&words, &rows, &mut roll);
            let Some(cut) = outline_functions(&changed, SMALL) else {
                whole_only += 1;
                continue;
            };
            match (valid(&cut), validate_whole(&changed, TargetEnv::Vulkan1_3)) {
                (true, Ok(())) => both += 1,
                (false, Ok(())) => stricter += 1,
                (false, Err(_)) => refused += 1,
                (true, Err(error)) => {
                    panic!("change {number}: the pieces are valid, the whole is not: {error}")
                }
            }
        }
    }
    println!(
        "{both} valid, {stricter} valid as a whole alone, {refused} invalid, {whole_only} not cut"
    );
    assert!(
        both > 300 && refused > 1_500 && whole_only < 2_000 && stricter < 100,
        "{both} {stricter} {refused} {whole_only}"
    );
}

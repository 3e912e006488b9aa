//! Comparisons in which two modules differ, where they differ in nothing else.
//!
//! Knows: both modules as the compiler makes them without optimisation. Promises: with the other
//! comparisons in the places of its own, the first module is the second one.
//! Does not cover: whether they come to the same (`range`).

use super::{FormWriter, has_forward_pointers, integer};
use crate::module::{Id, Instruction, Module};
use crate::opcodes::is_debug;
use crate::range::{ComparedOperand, OtherComparison};
use rspirv::spirv::Op;

/// The comparisons of integers that stand in a module in the places of others of `own`; none where the two
/// differ in anything else, or where types are named before they are there.
pub fn other_comparisons(own: &Module, other: &Module) -> Option<Vec<OtherComparison>> {
    if has_forward_pointers(own) || has_forward_pointers(other) {
        return None;
    }
    let (mut own_writer, mut other_writer) = (FormWriter::new(own), FormWriter::new(other));
    let mut own_lines = Lines::of_module(own);
    let mut other_lines = Lines::of_module(other);
    let mut differences = Vec::new();
    loop {
        let (own_line, other_line) =
            (own_lines.next_line(&mut own_writer), other_lines.next_line(&mut other_writer));
        let ((index, own_text), (other_index, other_text)) = match (own_line, other_line) {
            (Some(own_line), Some(other_line)) => (own_line, other_line),
            (None, None) => return Some(differences),
            (Some(_), None) | (None, Some(_)) => return None,
        };
        if own_text == other_text {
            continue;
        }
        let row = &other.instructions[other_index];
        let own_row = &own.instructions[index];
        if !is_integer_comparison(own_row) || !is_integer_comparison(row) {
            return None;
        }
        let number_of_own = own_writer.numbers.get(&own_row.result?);
        if number_of_own.is_none() || number_of_own != other_writer.numbers.get(&row.result?) {
            return None;
        }
        let operand = |position: usize| {
            let id = row.id(position)?;
            match integer(other, id) {
                Some(bits) => Some(ComparedOperand::Word(bits)),
                None => own_id(&own_writer, &other_writer, id).map(ComparedOperand::Id),
            }
        };
        let operands = [operand(0)?, operand(1)?];
        differences.push(OtherComparison { instruction: index, op: row.op, operands });
    }
}

/// The id of one module that stands where an id of the other one does.
fn own_id(own: &FormWriter<'_>, other: &FormWriter<'_>, id: Id) -> Option<Id> {
    let of_number = |number| own.numbers.iter().find(|(_, own_number)| *own_number == number);
    let of_key = |key| own.keys.iter().find(|(_, own_key)| *own_key == key);
    match other.numbers.get(&id) {
        Some(number) => of_number(number).map(|(own_id, _)| *own_id),
        None => of_key(other.keys.get(&id)?).map(|(own_id, _)| *own_id),
    }
}

fn is_integer_comparison(row: &Instruction) -> bool {
    matches!(
        row.op,
        Op::IEqual
            | Op::INotEqual
            | Op::ULessThan
            | Op::ULessThanEqual
            | Op::UGreaterThan
            | Op::UGreaterThanEqual
            | Op::SLessThan
            | Op::SLessThanEqual
            | Op::SGreaterThan
            | Op::SGreaterThanEqual
    )
}

/// The rows of a module that count by themselves, each as a line.
struct Lines<'m> {
    module: &'m Module,
    next_index: usize,
}

impl<'m> Lines<'m> {
    fn of_module(module: &'m Module) -> Self {
        Self { module, next_index: 0 }
    }

    fn next_line(&mut self, writer: &mut FormWriter<'_>) -> Option<(usize, String)> {
        loop {
            let index = self.next_index;
            let row = self.module.instructions.get(index)?;
            self.next_index += 1;
            if is_debug(row.op) {
                continue;
            }
            if let Some(text) = writer.line(row) {
                return Some((index, text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TargetEnv;
    use crate::compile_tests::compile;
    use crate::range::comparisons_agree;
    use std::sync::Arc;

    fn module_of(statement: &str) -> Module {
        let source = format!(
            "layout(local_size_x = 8, local_size_y = 4) in;
            layout(constant_id = 3) const uint SPEC = 4u;
            layout(constant_id = 4) const bool IS_ASKED = true;
            layout(std430, binding = 0) buffer Data {{ uint n; uint x; int y; uint o[]; }};
            layout(push_constant) uniform Pushed {{ uint pushed; int width; }};
            uint limited(uint value) {{ return min(value, 15u); }}
            void main() {{ uint lane = gl_LocalInvocationID.x; {statement} }}"
        );
        Module::parse(Arc::new(compile(&source, TargetEnv::Vulkan1_1))).unwrap()
    }

    /// Whether a condition is shown to come to the same as another one, and the other way round.
    fn agree(statement: &str, one: &str, other: &str) -> bool {
        let [one, other] =
            [one, other].map(|condition| module_of(&statement.replace("CONDITION", condition)));
        let is_shown = |own: &Module, other: &Module| {
            let others = other_comparisons(own, other);
            others.is_some_and(|others| {
                comparisons_agree(own, own.entry_points[0].function, &[others]) == [true]
            })
        };
        let (forwards, backwards) = (is_shown(&one, &other), is_shown(&other, &one));
        assert_eq!(forwards, backwards, "{statement}");
        forwards
    }

    #[test]
    fn comparisons_agree_where_ranges_leave_no_difference() {
        for (statement, one, other) in [
            ("for (uint s = 0u; CONDITION; s += 8u) o[s] = 1u;", "s < 32u", "s < 31u"),
            ("for (int s = 1; CONDITION; ++s) o[s] = 1u;", "s <= 8", "s < 9"),
            ("if (CONDITION) o[0] = 1u;", "lane < 8u", "lane <= 8u"),
            ("if (CONDITION) o[0] = 1u;", "lane <= 7u", "lane != 8u"),
            (
                "if (CONDITION) o[0] = 1u;",
                "gl_LocalInvocationIndex < 32u",
                "gl_LocalInvocationIndex <= 31u",
            ),
            ("if (CONDITION) o[0] = 1u;", "lane * 2u < 7u", "lane * 2u < 8u"),
            ("if (CONDITION) o[0] = 1u;", "limited(x) >= 15u", "limited(x) == 15u"),
            ("uint v = x; if (v > n) return; if (CONDITION) o[0] = 1u;", "v < 3u", "3u > v"),
            (
                "uint v = x; uint m = n; if (v > m) return; if (CONDITION) o[0] = 1u;",
                "v < m",
                "v != m",
            ),
            ("uint v = x & 7u; if (CONDITION) o[0] = 1u;", "v == 7u", "v >= 7u"),
            ("uint v = x % 6u; if (CONDITION) o[0] = 1u;", "v != 5u", "v < 5u"),
            ("uint v = SPEC; if (v > 5u) return; if (CONDITION) o[0] = 1u;", "v == 5u", "v >= 5u"),
            ("int w = width; if (w < 0) return; if (CONDITION) o[0] = 1u;", "w == 0", "w <= 0"),
            // It is never made.
            ("if (lane > 7u) { if (CONDITION) o[0] = 1u; }", "x < 3u", "x > 3u"),
        ] {
            assert!(agree(statement, one, other), "{statement} {one} {other}");
        }
    }

    #[test]
    fn comparisons_that_differ_somewhere_are_not_said_to_agree() {
        for (statement, one, other) in [
            ("for (uint s = 0u; CONDITION; s += 8u) o[s] = 1u;", "s < 32u", "s < 33u"),
            ("for (uint s = 0u; CONDITION; s += 8u) o[s] = 1u;", "s < 30u", "s != 30u"),
            // It may begin above the bound.
            ("for (uint s = x; CONDITION; ++s) o[s] = 1u;", "s < 9u", "s != 9u"),
            ("if (CONDITION) o[0] = 1u;", "lane < 7u", "lane <= 7u"),
            ("if (CONDITION) o[0] = 1u;", "x < n", "x != n"),
            // Memory is another one at each load.
            ("if (x > n) return; if (CONDITION) o[0] = 1u;", "x < n", "x != n"),
            ("uint v = x * 3u; if (CONDITION) o[0] = 1u;", "v == 1u", "v == 2u"),
            ("uint v = SPEC; if (CONDITION) o[0] = 1u;", "v == 4u", "v >= 4u"),
            ("if (IS_ASKED) return; if (CONDITION) o[0] = 1u;", "lane < 3u", "lane < 4u"),
            ("int w = width; if (CONDITION) o[0] = 1u;", "w == 0", "w <= 0"),
            ("if (CONDITION) o[0] = 1u;", "y < 5", "uint(y) < 5u"),
            (
                "uint v = gl_GlobalInvocationID.x; if (CONDITION) o[0] = 1u;",
                "v < 3000000000u",
                "v < 3000000001u",
            ),
            ("uint v = gl_NumWorkGroups.x; if (CONDITION) o[0] = 1u;", "v == 1u", "v >= 1u"),
            // A sum is more than a comparison.
            ("if (CONDITION) o[0] = 1u;", "9u > limited(x)", "9u >= limited(x) + 1u"),
            // One of the calls differs.
            (
                "uint v = lane < 3u ? limited(x) : x; if (CONDITION) o[0] = 1u;",
                "v == 15u",
                "v >= 15u",
            ),
        ] {
            assert!(!agree(statement, one, other), "{statement} {one} {other}");
        }
        let (one, other) = (module_of("o[0] = lane;"), module_of("o[1] = lane;"));
        assert_eq!(other_comparisons(&one, &other), None);
        assert_eq!(other_comparisons(&one, &one), Some(Vec::new()));
        let (one, other) = (module_of("if (x < n) o[0] = 1u;"), module_of("if (n < x) o[0] = 1u;"));
        // The loads are exchanged as well.
        assert_eq!(other_comparisons(&one, &other), None);
    }
}

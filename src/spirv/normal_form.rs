//! One form for modules that do the same, as far as local rules tell.
//!
//! Knows: comparisons that come to the same; counting loops. Promises: two
//! modules with one normal form do the same for all inputs, with whatever specialization. The
//! rules, each of which holds for every value of its operands:
//! - a greater-than is a less-than with its operands exchanged;
//! - unsigned `x < 1`, `x <= 0` are `x == 0`; `0 < x`, `1 <= x` are `x != 0`;
//! - `-x == 0` is `x == 0`, of integers modulo their width and of floats;
//! - in a loop that counts from a number up to one that is not below it, in steps of 1 and
//!   no further than its condition lets it, `i < n` is `i != n`.
//!
//! Constants and types are compared by what they are, other ids by their order; what computes a
//! value that nothing uses is left out.
//! Does not cover: anything that needs ranges of values; modules with forward pointers.

use super::module::{Function, FunctionBlock, Id, Instruction, Module};
use super::opcodes::{Effect, effect_of, is_debug};
use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use vkcert_model::canonical::sha256_digits;

/// A module in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalForm(Vec<String>);

/// The normal form of a module; none of one that the rules do not read.
pub fn normal_form(module: &Module) -> Option<NormalForm> {
    let has_forward = |row: &Instruction| row.op == Op::TypeForwardPointer;
    if module.instructions.iter().any(has_forward) {
        return None;
    }
    let rows = module.instructions.iter().enumerate().filter(|(_, row)| !is_debug(row.op));
    let rows = rows.map(|(index, row)| rewritten(module, index, row)).collect();
    let mut writer = FormWriter {
        module,
        decorations: decorations_by_target(module),
        keys: BTreeMap::new(),
        numbers: BTreeMap::new(),
    };
    let rows = without_unused(rows);
    Some(NormalForm(rows.iter().filter_map(|row| writer.line(row)).collect()))
}

/// An instruction as the rules have it. A zero that a rule brings in is a literal 0 in the place of an
/// id, where modules have none.
fn rewritten(module: &Module, index: usize, row: &Instruction) -> Instruction {
    let mut row = row.clone();
    exchange_greater(&mut row);
    if ends_counting(module, index, &row) == Some(true) {
        row.op = Op::INotEqual;
    }
    compare_with_zero(module, &mut row);
    drop_negation(module, &mut row);
    row
}

/// `a > b` as `b < a`.
fn exchange_greater(row: &mut Instruction) {
    let less = match row.op {
        Op::UGreaterThan => Op::ULessThan,
        Op::SGreaterThan => Op::SLessThan,
        Op::UGreaterThanEqual => Op::ULessThanEqual,
        Op::SGreaterThanEqual => Op::SLessThanEqual,
        Op::FOrdGreaterThan => Op::FOrdLessThan,
        Op::FUnordGreaterThan => Op::FUnordLessThan,
        Op::FOrdGreaterThanEqual => Op::FOrdLessThanEqual,
        Op::FUnordGreaterThanEqual => Op::FUnordLessThanEqual,
        _ => return,
    };
    row.op = less;
    row.operands.swap(0, 1);
}

const ZERO: Operand = Operand::LiteralBit32(0);

fn compare_with_zero(module: &Module, row: &mut Instruction) {
    let (Some(left), Some(right)) = (row.id(0), row.id(1)) else { return };
    let (left_value, right_value) = (integer(module, left), integer(module, right));
    let (op, other) = match (row.op, left_value, right_value) {
        (Op::ULessThan, _, Some(1)) | (Op::ULessThanEqual, _, Some(0)) => (Op::IEqual, left),
        (Op::ULessThan, Some(0), _) | (Op::ULessThanEqual, Some(1), _) => (Op::INotEqual, right),
        (Op::IEqual | Op::INotEqual, _, Some(0)) => (row.op, left),
        (Op::IEqual | Op::INotEqual, Some(0), _) => (row.op, right),
        _ => return,
    };
    row.op = op;
    row.operands = vec![Operand::IdRef(other), ZERO];
}

/// `-x == 0` as `x == 0`.
fn drop_negation(module: &Module, row: &mut Instruction) {
    let negation = match row.op {
        Op::IEqual | Op::INotEqual => Op::SNegate,
        Op::FOrdEqual | Op::FUnordNotEqual => Op::FNegate,
        _ => return,
    };
    if negation == Op::FNegate && row.id(1).is_some_and(|id| is_float_zero(module, id)) {
        row.operands[1] = ZERO;
    }
    if row.operands.get(1) != Some(&ZERO) {
        return;
    }
    while let Some(definition) = row.id(0).and_then(|id| module.definition(id))
        && definition.op == negation
        && let Some(negated) = definition.id(0)
    {
        row.operands[0] = Operand::IdRef(negated);
    }
}

/// The value of a scalar integer that no specialization changes, as its word has it.
fn integer(module: &Module, id: Id) -> Option<u64> {
    let constant = module.definition(id).filter(|row| row.op == Op::Constant)?;
    let number_type = module.definition(constant.result_type?)?;
    if number_type.op != Op::TypeInt {
        return None;
    }
    match constant.operands.first()? {
        Operand::LiteralBit32(value) => Some(u64::from(*value)),
        Operand::LiteralBit64(value) => Some(*value),
        _ => None,
    }
}

/// Of a scalar of 32 bits.
fn is_float_zero(module: &Module, id: Id) -> bool {
    let constant = module.definition(id).filter(|row| row.op == Op::Constant);
    let Some(constant) = constant else { return false };
    let number_type = constant.result_type.and_then(|id| module.definition(id));
    number_type.is_some_and(|row| row.op == Op::TypeFloat)
        && matches!(constant.operands.first(), Some(Operand::LiteralBit32(0 | 0x8000_0000)))
}

/// Whether `row` is the condition of a loop in which `i < n` and `i != n` are the same: `i` begins at a
/// constant that is not above `n` and grows by 1 in each round, `n` stays, and no round is gone through
/// unless the condition held. None where it is not known.
fn ends_counting(module: &Module, index: usize, row: &Instruction) -> Option<bool> {
    let is_signed = match row.op {
        Op::ULessThan => false,
        Op::SLessThan => true,
        _ => return None,
    };
    let (counter, bound) = (row.id(0)?, row.id(1)?);
    let round = Round::of_condition(module, index, row.result?)?;
    let (start, next) = round.start_and_next(module, counter)?;
    let sum = module.definition(next).filter(|sum| sum.op == Op::IAdd)?;
    let (left, right) = (sum.id(0)?, sum.id(1)?);
    let grows_by_one = left == counter && integer(module, right) == Some(1)
        || right == counter && integer(module, left) == Some(1);
    let start = integer(module, start)?;
    let is_not_above = match (integer(module, bound), is_signed) {
        (Some(bound), false) => start <= bound,
        // Of 32 bits: below 2^31, a word is the number that it is read as.
        (Some(bound), true) => start <= bound && bound < 1 << 31,
        (None, false) => start == 0,
        (None, true) => false,
    };
    let stays = integer(module, bound).is_some()
        || module.definition_index(bound)? < round.header_start
        || is_pushed(module, bound);
    Some(grows_by_one && is_not_above && stays)
}

/// Whether an id is loaded from push constants, which stay.
fn is_pushed(module: &Module, id: Id) -> bool {
    let load = module.definition(id).filter(|row| row.op == Op::Load);
    let pointer = load.and_then(|load| load.id(0)).and_then(|id| module.definition(id));
    let pointer_type = pointer.and_then(|row| row.result_type).and_then(|id| module.definition(id));
    pointer_type.is_some_and(|row| {
        matches!(row.operands.first(), Some(Operand::StorageClass(StorageClass::PushConstant)))
    })
}

/// A loop whose header, or the block behind it, goes on by a condition or leaves.
struct Round {
    /// Index of the header's first instruction.
    header_start: usize,
    /// Index behind its last one.
    header_end: usize,
    /// The block that goes back to the header.
    back: Id,
}

impl Round {
    fn of_condition(module: &Module, index: usize, condition: Id) -> Option<Self> {
        let function = module.function_at(index)?;
        let place = function.blocks.iter().position(|block| block.range.contains(index))?;
        let block = &function.blocks[place];
        let branch = &module.instructions[block.range.end - 1];
        if branch.op != Op::BranchConditional || branch.id(0)? != condition {
            return None;
        }
        let header = match merge_of(module, block) {
            Some(_) => block,
            None => {
                // The block behind the header, to which no other leads.
                let before = &function.blocks[place.checked_sub(1)?];
                let leads_here = module.instructions[before.range.end - 1].op == Op::Branch
                    && leads_to(module, before, block.label);
                let is_only_way = ways_to(module, function, block.label).count() == 1;
                (leads_here && is_only_way).then_some(before)?
            }
        };
        let merge = merge_of(module, header)?;
        let (taken, left) = (branch.id(1)?, branch.id(2)?);
        if left != merge.id(0)? || taken == left {
            return None;
        }
        let mut ways_back = ways_to(module, function, header.label)
            .filter(|block| block.range.start >= header.range.start);
        let back = ways_back.next()?.label;
        let (header_start, header_end) = (header.range.start, header.range.end);
        ways_back.next().is_none().then_some(Self { header_start, header_end, back })
    }

    /// What a number of the header begins with, and what it is in the next round.
    fn start_and_next(&self, module: &Module, counter: Id) -> Option<(Id, Id)> {
        let phi = module.definition(counter).filter(|row| row.op == Op::Phi)?;
        let index = module.definition_index(counter)?;
        let is_of_header = (self.header_start..self.header_end).contains(&index);
        if !is_of_header || phi.operands.len() != 4 {
            return None;
        }
        let (first, second) = (phi.id(0)?, phi.id(2)?);
        match self.back {
            back if back == phi.id(3)? => Some((first, second)),
            back if back == phi.id(1)? => Some((second, first)),
            _ => None,
        }
    }
}

fn merge_of<'m>(module: &'m Module, block: &FunctionBlock) -> Option<&'m Instruction> {
    let mut rows = module.instructions[block.instruction_indices()].iter();
    rows.find(|row| row.op == Op::LoopMerge)
}

fn leads_to(module: &Module, block: &FunctionBlock, label: Id) -> bool {
    module.instructions[block.range.end - 1].ids().any(|id| id == label)
}

/// The blocks that lead to another.
fn ways_to<'f>(
    module: &'f Module,
    function: &'f Function,
    label: Id,
) -> impl Iterator<Item = &'f FunctionBlock> {
    function.blocks.iter().filter(move |block| leads_to(module, block, label))
}

/// Rows without those that compute what nothing uses.
fn without_unused(mut rows: Vec<Instruction>) -> Vec<Instruction> {
    loop {
        let used: BTreeSet<Id> = rows
            .iter()
            .filter(|row| !is_decoration(row.op))
            .flat_map(|row| row.ids().chain(row.result_type))
            .collect();
        let is_needed = |row: &Instruction| match row.result {
            Some(result) => {
                let is_free = effect_of(row.op) == Some(Effect::Pure);
                !is_free || used.contains(&result)
            }
            None => true,
        };
        let count = rows.len();
        rows.retain(is_needed);
        if rows.len() == count {
            return rows;
        }
    }
}

fn is_decoration(op: Op) -> bool {
    matches!(op, Op::Decorate | Op::MemberDecorate | Op::DecorateId | Op::DecorateString)
}

/// The decorations of each id, sorted.
fn decorations_by_target(module: &Module) -> BTreeMap<Id, Vec<String>> {
    let mut by_target: BTreeMap<Id, Vec<String>> = BTreeMap::new();
    for row in module.instructions.iter().filter(|row| is_decoration(row.op)) {
        let Some(target) = row.id(0) else { continue };
        by_target.entry(target).or_default().push(format!("{:?}", &row.operands[1..]));
    }
    by_target.values_mut().for_each(|rows| rows.sort());
    by_target
}

/// Types and constants, which are known by what they are.
fn is_known_by_content(row: &Instruction) -> bool {
    let name = format!("{:?}", row.op);
    name.starts_with("Type") || name.contains("Constant")
}

struct FormWriter<'m> {
    module: &'m Module,
    decorations: BTreeMap<Id, Vec<String>>,
    /// Of types and constants.
    keys: BTreeMap<Id, String>,
    /// Of other ids, in the order in which they come first.
    numbers: BTreeMap<Id, usize>,
}

impl FormWriter<'_> {
    /// None of types, constants and decorations: they stand where they are used. A constant that is
    /// built in, such as the local size, counts by itself.
    fn line(&mut self, row: &Instruction) -> Option<String> {
        if is_decoration(row.op) {
            return None;
        }
        if !is_known_by_content(row) {
            return Some(self.words(row));
        }
        let result = row.result?;
        let is_built_in = self
            .decorations
            .get(&result)
            .is_some_and(|rows| rows.iter().any(|decoration| decoration.contains("BuiltIn")));
        is_built_in.then(|| self.name(result))
    }

    fn words(&mut self, row: &Instruction) -> String {
        let mut line = format!("{:?}", row.op);
        for id in row.result_type.into_iter().chain(row.result) {
            let name = self.name(id);
            let _ = write!(line, " {name}");
        }
        for operand in &row.operands {
            match operand {
                Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => {
                    let name = self.name(*id);
                    let _ = write!(line, " {name}");
                }
                other => {
                    let _ = write!(line, " {other:?}");
                }
            }
        }
        line
    }

    fn name(&mut self, id: Id) -> String {
        let module = self.module;
        match module.definition(id).filter(|row| is_known_by_content(row)) {
            Some(row) => self.key(id, row),
            None => {
                let next = self.numbers.len();
                let number = *self.numbers.entry(id).or_insert(next);
                let decorations = match number == next {
                    true => self.decorations.get(&id).map(|rows| rows.join(",")),
                    false => None,
                };
                format!("%{number}{}", decorations.unwrap_or_default())
            }
        }
    }

    /// A digest of what a type or a constant is.
    fn key(&mut self, id: Id, row: &Instruction) -> String {
        if let Some(key) = self.keys.get(&id) {
            return key.clone();
        }
        let mut content = format!("{:?}", row.op);
        for part in row.result_type.into_iter().chain(row.ids()) {
            let name = self.name(part);
            let _ = write!(content, " {name}");
        }
        let literals = row.operands.iter().filter(|operand| {
            !matches!(
                operand,
                Operand::IdRef(_) | Operand::IdScope(_) | Operand::IdMemorySemantics(_)
            )
        });
        let _ = write!(content, " {:?}", literals.collect::<Vec<_>>());
        let _ = write!(content, " {:?}", self.decorations.get(&id));
        let key = sha256_digits(content.as_bytes());
        self.keys.insert(id, key.clone());
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile_tests::compile_optimised;
    use std::sync::Arc;

    /// The form of a kernel with a statement in its main function.
    fn form_of(statement: &str) -> NormalForm {
        let source = format!(
            "layout(local_size_x = 4) in;
            layout(std430, binding = 0) buffer Data {{ uint n; uint x; int y; float z; uint o[]; }};
            layout(push_constant) uniform Pushed {{ uint pushed; }};
            void main() {{ uint i = gl_GlobalInvocationID.x; {statement} }}"
        );
        let module = Module::parse(Arc::new(compile_optimised(&source))).unwrap();
        normal_form(&module).unwrap()
    }

    #[test]
    fn comparisons_that_come_to_the_same_have_one_form() {
        for (one, other) in [
            ("x > 0u", "x != 0u"),
            ("x > 0u", "x >= 1u"),
            ("0u < x", "x != 0u"),
            ("x == 0u", "x <= 0u"),
            ("x < 1u", "x == 0u"),
            ("(-x) != 0u", "x != 0u"),
            ("(-x) > 0u", "x > 0u"),
            ("(-y) == 0", "y == 0"),
            ("(-z) == 0.0", "z == 0.0"),
            ("x > 5u", "5u < x"),
        ] {
            let form = |condition: &str| form_of(&format!("if ({condition}) o[i] = 7u;"));
            assert_eq!(form(one), form(other), "{one} and {other}");
        }
    }

    #[test]
    fn comparisons_that_differ_have_other_forms() {
        for (one, other) in [
            ("x > 0u", "x > 1u"),
            ("y > 0", "y != 0"),
            ("y <= 0", "y == 0"),
            ("x > n", "x >= n"),
            ("x > n", "x != n"),
            ("(-x) > 1u", "x > 1u"),
            ("(-z) < 0.0", "z < 0.0"),
            ("x == 0u", "n == 0u"),
            ("x > 2u", "x > 3u"),
        ] {
            let form = |condition: &str| form_of(&format!("if ({condition}) o[i] = 7u;"));
            assert_ne!(form(one), form(other), "{one} and {other}");
        }
        assert_ne!(form_of("o[i] = 7u;"), form_of("o[i] = 8u;"));
        assert_ne!(form_of("o[i] = x;"), form_of("o[i] = n;"));
        let of_size = |size: u32| {
            let source = format!(
                "layout(local_size_x_id = 3, local_size_x = {size}) in;
                layout(std430, binding = 0) buffer Data {{ uint o[]; }};
                void main() {{ o[0] = 1u; }}"
            );
            let module = Module::parse(Arc::new(compile_optimised(&source))).unwrap();
            normal_form(&module).unwrap()
        };
        assert_ne!(of_size(4), of_size(8));
        assert_eq!(of_size(4), of_size(4));
    }

    fn form_of_loop(head: &str) -> NormalForm {
        form_of(&format!("uint bound = n; uint sum = 0u; for ({head}) sum += o[k]; o[i] = sum;"))
    }

    #[test]
    fn a_counting_loop_ends_alike_below_and_at_its_bound() {
        for head in [
            "uint k = 0u; k < bound; ++k",
            "uint k = 0u; k < pushed; ++k",
            "uint k = 3u; k < 9u; k++",
            "int k = 3; k < 9; k++",
        ] {
            assert_eq!(form_of_loop(head), form_of_loop(&head.replace('<', "!=")), "{head}");
        }
        for head in [
            // It may begin above its bound.
            "uint k = 1u; k < bound; ++k",
            "uint k = x; k < bound; ++k",
            "int k = 0; k < y; ++k",
            "uint k = 9u; k < 3u; ++k",
            // It may step over it.
            "uint k = 0u; k < bound; k += 2u",
            "uint k = 3u; k < 9u; k += 4u",
        ] {
            assert_ne!(form_of_loop(head), form_of_loop(&head.replace('<', "!=")), "{head}");
        }
        // The body moves the counter, or the bound.
        let moved = |head: &str, body: &str| {
            form_of(&format!("uint bound = n; for ({head}) {{ o[k] += 1u; {body} }}"))
        };
        for body in ["if (o[k] > 9u) ++k;", "if (o[k] > 9u) bound -= 1u;"] {
            let (below, at) = ("uint k = 0u; k < bound; ++k", "uint k = 0u; k != bound; ++k");
            assert_ne!(moved(below, body), moved(at, body), "{body}");
        }
        let left_inside = "if (o[k] > 9u) continue; o[k] = 2u;";
        let (below, at) = ("uint k = 0u; k < bound; ++k", "uint k = 0u; k != bound; ++k");
        assert_eq!(moved(below, left_inside), moved(at, left_inside));
    }
}

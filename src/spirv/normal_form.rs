//! One form for modules that do the same, as far as local rules tell.
//!
//! Knows: comparisons that come to the same; counting loops; modules as the compiler makes them without
//! optimisation. Promises: two modules with one normal form do the same for all inputs, with whatever
//! specialization: they store the same, end alike and have the same findings. Nothing is left out that could
//! have one. The rules, each of which holds for every value of its operands:
//! - a greater-than is a less-than with its operands exchanged;
//! - unsigned `x < 1`, `x <= 0` are `x == 0`; `0 < x`, `1 <= x` are `x != 0`;
//! - `-x == 0` is `x == 0`, of integers modulo their width and of floats;
//! - in a loop that counts from a number up to one that is not below it, in steps of 1 and
//!   no further than its condition lets it, `i < n` is `i != n`.
//!
//! Constants and types are compared by what they are, other ids by their order.
//! Does not cover: anything that needs ranges of values; modules with forward pointers.

mod comparisons;

pub use comparisons::other_comparisons;

use super::module::{Function, FunctionBlock, Id, Instruction, Module};
use super::opcodes::is_debug;
use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::index_range::IndexRange;

/// A module in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalForm(Vec<String>);

/// The normal form of a module; none of one that the rules do not read.
pub fn normal_form(module: &Module) -> Option<NormalForm> {
    if has_forward_pointers(module) {
        return None;
    }
    let rows = module.instructions.iter().enumerate().filter(|(_, row)| !is_debug(row.op));
    let rows = rows.map(|(index, row)| rewritten(module, index, row)).collect();
    let mut writer = FormWriter::new(module);
    let rows = without_unused(rows);
    Some(NormalForm(rows.iter().filter_map(|row| writer.line(row)).collect()))
}

fn has_forward_pointers(module: &Module) -> bool {
    module.instructions.iter().any(|row| row.op == Op::TypeForwardPointer)
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
    let (counter, bound) = (loaded_variable(module, row.id(0)?)?, row.id(1)?);
    let round = Round::of_condition(module, index, row.result?)?;
    let is_fresh = round.condition.contains(module.definition_index(row.id(0)?)?);
    let start = round.start_of_counter(module, counter).filter(|_| is_fresh)?;
    let is_not_above = match (integer(module, bound), is_signed) {
        (Some(bound), false) => start <= bound,
        // Of 32 bits: below 2^31, a word is the number that it is read as.
        (Some(bound), true) => start <= bound && bound < 1 << 31,
        (None, false) => start == 0,
        (None, true) => false,
    };
    let stays = integer(module, bound).is_some()
        || is_specialized(module, bound)
        || is_pushed(module, bound)
        || loaded_variable(module, bound).is_some_and(|variable| round.leaves(module, variable));
    Some(is_not_above && stays)
}

/// The variable of a function that a value is loaded from, as a whole.
fn loaded_variable(module: &Module, value: Id) -> Option<Id> {
    let load = module.definition(value).filter(|row| row.op == Op::Load)?;
    let variable = module.definition(load.id(0)?).filter(|row| row.op == Op::Variable)?;
    let is_own = variable.operands.first() == Some(&Operand::StorageClass(StorageClass::Function));
    is_own.then_some(variable.result?)
}

/// Whether an id is a scalar constant that a specialization gives.
fn is_specialized(module: &Module, id: Id) -> bool {
    module.definition(id).is_some_and(|row| row.op == Op::SpecConstant)
}

/// Whether an id is loaded from a fixed place of the push constants, which stay.
fn is_pushed(module: &Module, id: Id) -> bool {
    let load = module.definition(id).filter(|row| row.op == Op::Load);
    let pointer = load.and_then(|load| load.id(0)).and_then(|id| module.definition(id));
    let Some(chain) = pointer.filter(|row| row.op == Op::AccessChain) else { return false };
    let base = chain.id(0).and_then(|id| module.definition(id));
    let is_push_constant = base.is_some_and(|row| {
        row.op == Op::Variable
            && row.operands.first() == Some(&Operand::StorageClass(StorageClass::PushConstant))
    });
    is_push_constant && chain.ids().skip(1).all(|index| integer(module, index).is_some())
}

/// A loop whose header leads to its condition alone, which goes on or leaves.
struct Round<'m> {
    function: &'m Function,
    /// The block of the condition.
    condition: &'m IndexRange,
    /// Index of the header's first instruction; all of the loop stands behind it.
    header_start: usize,
    /// Index of the first instruction behind the loop.
    merge_start: usize,
    /// The block that goes back to the header.
    back: &'m FunctionBlock,
}

impl<'m> Round<'m> {
    fn of_condition(module: &'m Module, index: usize, condition: Id) -> Option<Self> {
        let function = module.function_at(index)?;
        let place = function.blocks.iter().position(|block| block.range.contains(index))?;
        let block = &function.blocks[place];
        let branch = &module.instructions[block.range.end - 1];
        if branch.op != Op::BranchConditional || branch.id(0)? != condition {
            return None;
        }
        // To the block of the condition the header leads, and no other.
        let header = &function.blocks[place.checked_sub(1)?];
        let leads_here = module.instructions[header.range.end - 1].op == Op::Branch
            && leads_to(module, header, block.label);
        if !leads_here || ways_to(module, function, block.label).count() != 1 {
            return None;
        }
        let merge = merge_of(module, header)?;
        let (taken, left) = (branch.id(1)?, branch.id(2)?);
        if left != merge.id(0)? || taken == left {
            return None;
        }
        let mut ways_back = ways_to(module, function, header.label)
            .filter(|block| block.range.start >= header.range.start);
        let back = ways_back.next()?;
        if ways_back.next().is_some() || back.label != merge.id(1)? {
            return None;
        }
        let merge_start = module.definition_index(left)?;
        let header_start = header.range.start;
        (merge_start > back.range.start).then_some(Self {
            function,
            condition: &block.range,
            header_start,
            merge_start,
            back,
        })
    }

    /// The stores of a variable; none where anything but a load or a store has it.
    fn stores(&self, module: &Module, variable: Id) -> Option<Vec<usize>> {
        let mut stores = Vec::new();
        for index in self.function.instruction_indices() {
            let row = &module.instructions[index];
            let is_named = row.ids().any(|id| id == variable);
            match row.op {
                _ if !is_named || is_debug(row.op) || row.op == Op::Load => {}
                Op::Store if row.id(0) == Some(variable) && row.id(1) != Some(variable) => {
                    stores.push(index);
                }
                _ => return None,
            }
        }
        Some(stores)
    }

    /// Whether nothing in the loop writes a variable.
    fn leaves(&self, module: &Module, variable: Id) -> bool {
        let inside = self.header_start..self.merge_start;
        let stores = self.stores(module, variable);
        stores.is_some_and(|stores| stores.iter().all(|index| !inside.contains(index)))
    }

    /// What a counter begins with, where the block before the header stores a constant last, and the block
    /// that goes back to the header adds 1: no other store is in the loop.
    fn start_of_counter(&self, module: &Module, counter: Id) -> Option<u64> {
        let stores = self.stores(module, counter)?;
        let inside: Vec<usize> = stores
            .iter()
            .copied()
            .filter(|index| (self.header_start..self.merge_start).contains(index))
            .collect();
        let [step] = inside[..] else { return None };
        if !self.back.range.contains(step) {
            return None;
        }
        let sum = module.definition(module.instructions[step].id(1)?)?;
        if sum.op != Op::IAdd {
            return None;
        }
        let is_counter = |id: Id| {
            loaded_variable(module, id) == Some(counter)
                && module.definition_index(id).is_some_and(|index| index >= self.header_start)
        };
        let (left, right) = (sum.id(0)?, sum.id(1)?);
        let adds_one = is_counter(left) && integer(module, right) == Some(1)
            || is_counter(right) && integer(module, left) == Some(1);
        let mut entries = self
            .function
            .blocks
            .iter()
            .filter(|block| block.range.end <= self.header_start && self.enters(module, block));
        let entry = entries.next().filter(|_| adds_one)?;
        let last = stores.iter().rfind(|index| entry.range.contains(**index))?;
        integer(module, module.instructions[*last].id(1)?).filter(|_| entries.next().is_none())
    }

    fn enters(&self, module: &Module, block: &FunctionBlock) -> bool {
        module.instructions[self.header_start]
            .result
            .is_some_and(|label| leads_to(module, block, label))
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

/// Rows without negations that a rule has left unused: nothing else is left out.
fn without_unused(mut rows: Vec<Instruction>) -> Vec<Instruction> {
    loop {
        let used: BTreeSet<Id> = rows
            .iter()
            .filter(|row| !is_decoration(row.op))
            .flat_map(|row| row.ids().chain(row.result_type))
            .collect();
        let is_needed = |row: &Instruction| match row.result {
            Some(result) => !matches!(row.op, Op::SNegate | Op::FNegate) || used.contains(&result),
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

impl<'m> FormWriter<'m> {
    fn new(module: &'m Module) -> Self {
        Self {
            module,
            decorations: decorations_by_target(module),
            keys: BTreeMap::new(),
            numbers: BTreeMap::new(),
        }
    }

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
    use crate::TargetEnv;
    use crate::compile_tests::compile;
    use std::sync::Arc;

    /// The form of a kernel with a statement in its main function.
    fn form_of(statement: &str) -> NormalForm {
        let source = format!(
            "layout(local_size_x = 4) in;
            layout(std430, binding = 0) buffer Data {{ uint n; uint x; int y; float z; uint o[]; }};
            layout(push_constant) uniform Pushed {{ uint pushed; uint places[4]; }};
            void main() {{ uint i = gl_GlobalInvocationID.x; {statement} }}"
        );
        let module = Module::parse(Arc::new(compile(&source, TargetEnv::Vulkan1_1))).unwrap();
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
        // What an optimiser may take for the same: other findings, another end, another zero.
        for (one, other) in [
            ("uint t = o[i]; o[0] = n;", "uint t = o[i + 1u]; o[0] = n;"),
            ("uint t = 9u / x; o[0] = n;", "uint t = 9u / (x - 1u); o[0] = n;"),
            (
                "uint t = 0u; for (uint k = 0u; k < n; ++k) t += k; o[0] = n;",
                "uint t = 0u; for (uint k = 0u; k >= n; ++k) t += k; o[0] = n;",
            ),
            ("o[0] = floatBitsToUint(z + 0.0);", "o[0] = floatBitsToUint(z - 0.0);"),
            ("z = 0.0 / z;", "z = 0.0 * z;"),
        ] {
            assert_ne!(form_of(one), form_of(other), "{one} and {other}");
        }
        assert_ne!(form_of("o[i] = 7u;"), form_of("o[i] = 8u;"));
        assert_ne!(form_of("o[i] = x;"), form_of("o[i] = n;"));
        let of_size = |size: u32| {
            let source = format!(
                "layout(local_size_x_id = 3, local_size_x = {size}) in;
                layout(std430, binding = 0) buffer Data {{ uint o[]; }};
                void main() {{ o[0] = 1u; }}"
            );
            let module = Module::parse(Arc::new(compile(&source, TargetEnv::Vulkan1_1))).unwrap();
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
            // The bound is another one in each round.
            "uint k = 0u; k < places[k & 3u]; ++k",
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
        // A function changes the counter.
        let source = |head: &str| {
            let text = format!(
                "layout(local_size_x = 4) in;
                layout(std430, binding = 0) buffer Data {{ uint n; uint o[]; }};
                void move(inout uint k) {{ if (o[k] > 3u) k += 1u; }}
                void main() {{ uint bound = n; for ({head}) {{ o[k] = 1u; move(k); }} }}"
            );
            let module = Module::parse(Arc::new(compile(&text, TargetEnv::Vulkan1_1))).unwrap();
            normal_form(&module).unwrap()
        };
        let (below, at) = ("uint k = 0u; k < bound; ++k", "uint k = 0u; k != bound; ++k");
        assert_ne!(source(below), source(at));
        let left_inside = "if (o[k] > 9u) continue; o[k] = 2u;";
        let (below, at) = ("uint k = 0u; k < bound; ++k", "uint k = 0u; k != bound; ++k");
        assert_eq!(moved(below, left_inside), moved(at, left_inside));
    }
}

//! Which code of a module another one changes.
//!
//! Knows: two modules as the compiler makes them of two texts that differ little; what of a module counts
//! (`module_index`). Promises: a run of the first module that enters none of the blocks which are told does in the second
//! module what it does in the first, instruction by instruction; whether analyses of whole programs may come to something
//! else all the same is told beside it. Ids are compared by what they stand for, and in functions by where they stand;
//! variables of functions by what they are, wherever they are declared.
//! Does not cover: changes of what stands beside functions, of which none is told; more than one changed stretch of a
//! function: all between the first and the last change is told.

use super::module::{Function, FunctionBlock, Id, Instruction, Module};
use super::module_index::{ModuleIndex, is_of_invocation};
use super::opcodes::is_debug;
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use vkcert_model::index_range::IndexRange;

/// A module that is compared with others.
pub struct ComparedModule<'m> {
    module: &'m Module,
    index: ModuleIndex,
    entry: Id,
}

impl<'m> ComparedModule<'m> {
    /// None of a module with more than one entry point, or with groups of decorations.
    pub fn of_module(module: &'m Module) -> Option<Self> {
        let [entry] = module.entry_points.as_slice() else { return None };
        let index = ModuleIndex::of_module(module)?;
        Some(Self { module, index, entry: entry.function })
    }

    /// None of what only makes values, and of what accesses memory of one invocation.
    fn effect_of(&self, row: &Instruction) -> Option<Effect> {
        let things: Vec<Id> = row.ids().filter_map(|id| self.named_thing(id, row.op)).collect();
        let has_effect = is_operation(row.op) || is_access(row.op) && !things.is_empty();
        has_effect.then_some(Effect { op: row.op as u32, things })
    }

    /// What a pointer leads to where invocations share it, a function, or a constant where it is no index.
    fn named_thing(&self, id: Id, op: Op) -> Option<Id> {
        let row = self.module.definition(id)?;
        let result_type = row.result_type.and_then(|id| self.module.definition(id));
        if result_type.is_some_and(|result_type| result_type.op == Op::TypePointer) {
            return self.shared_root(id);
        }
        let is_named = match row.op {
            Op::Function => true,
            Op::Constant | Op::SpecConstant => !is_access(op) && op != Op::ExtInst,
            // Values decide nothing of how the program is run.
            _ => false,
        };
        is_named.then_some(id)
    }

    /// The variable that a pointer leads to, or whatever makes it where that may lead anywhere; none of memory of one
    /// invocation.
    fn shared_root(&self, pointer: Id) -> Option<Id> {
        let row = self.module.definition(pointer)?;
        match row.op {
            Op::Variable => (!is_of_invocation(row)).then_some(pointer),
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::CopyObject => {
                self.shared_root(row.id(0)?)
            }
            _ => Some(pointer),
        }
    }

    /// Whether what an id stands for is said in front of the functions.
    fn is_global(&self, definition: usize) -> bool {
        definition < self.index.first_function
    }
}

/// Blocks of a module that another module changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedCode {
    /// The instructions of each, as indices in the first module.
    pub blocks: Vec<IndexRange>,
    /// Whether the other module has the same effects.
    pub effects: ChangedEffects,
}

/// Whether the changed code of two modules has the same calls, accesses of what invocations share, barriers, and
/// operations of atomics, subgroups and images. These decide, wherever they stand, how an engine runs the whole program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedEffects {
    /// It has.
    Same,
    /// It may have others.
    Others,
}

/// What `other` changes of `own`; none where the modules differ beside their functions.
pub fn changed_code(own: &ComparedModule<'_>, other: &ComparedModule<'_>) -> Option<ChangedCode> {
    let mut pairing = IdPairing::new(own, other);
    if !pairing.pair(own.entry, other.entry) || !pairing.has_same_frame() {
        return None;
    }
    let mut changed = ChangedCode { blocks: Vec::new(), effects: ChangedEffects::Same };
    let mut done = 0;
    while let Some((own_id, other_id)) = pairing.functions.get(done).copied() {
        done += 1;
        let own_function = own.module.function_by_id(own_id)?;
        let other_function = other.module.function_by_id(other_id)?;
        pairing.add_changes((own_function, other_function), &mut changed);
    }
    pairing.pairs_all_resources().then_some(changed)
}

/// Which id of one module stands where an id of another one does; each has one partner at most.
struct IdPairing<'p, 'm> {
    own: &'p ComparedModule<'m>,
    other: &'p ComparedModule<'m>,
    /// By id of `own`; 0: none yet.
    partner_of_own: Vec<Id>,
    /// By id of `other`.
    partner_of_other: Vec<Id>,
    /// All pairs, in the order in which they were made.
    made: Vec<(Id, Id)>,
    /// Those of functions.
    functions: Vec<(Id, Id)>,
}

impl<'p, 'm> IdPairing<'p, 'm> {
    fn new(own: &'p ComparedModule<'m>, other: &'p ComparedModule<'m>) -> Self {
        let no_partners = |side: &ComparedModule<'_>| vec![0; side.module.header.bound as usize];
        Self {
            own,
            other,
            partner_of_own: no_partners(own),
            partner_of_other: no_partners(other),
            made: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// Makes the pairs of two rows, or none where the rows differ.
    fn rows_match(&mut self, own: &Instruction, other: &Instruction) -> bool {
        self.is_match(|pairing| pairing.pairs_of_rows(own, other))
    }

    /// Makes pairs, or none where that comes to a difference.
    fn is_match(&mut self, make_pairs: impl FnOnce(&mut Self) -> bool) -> bool {
        let (made, functions) = (self.made.len(), self.functions.len());
        let is_match = make_pairs(self);
        if !is_match {
            for (own, other) in self.made.drain(made..) {
                self.partner_of_own[own as usize] = 0;
                self.partner_of_other[other as usize] = 0;
            }
            self.functions.truncate(functions);
        }
        is_match
    }

    fn pairs_of_rows(&mut self, own: &Instruction, other: &Instruction) -> bool {
        own.op == other.op
            && self.pair_results(own.result_type, other.result_type)
            && self.pair_results(own.result, other.result)
            && own.operands.len() == other.operands.len()
            && own
                .operands
                .iter()
                .zip(&other.operands)
                .all(|(own, other)| self.operands_match(own, other))
    }

    fn pair_results(&mut self, own: Option<Id>, other: Option<Id>) -> bool {
        match (own, other) {
            (Some(own), Some(other)) => self.pair(own, other),
            (own, other) => own == other,
        }
    }

    fn operands_match(&mut self, own: &Operand, other: &Operand) -> bool {
        match (own.id_ref_any(), other.id_ref_any()) {
            (Some(own), Some(other)) => self.pair(own, other),
            _ => own == other,
        }
    }

    /// Whether two ids may stand for each other.
    fn pair(&mut self, own: Id, other: Id) -> bool {
        let partners = (self.partner_of_own[own as usize], self.partner_of_other[other as usize]);
        if partners != (0, 0) {
            return partners == (other, own);
        }
        self.partner_of_own[own as usize] = other;
        self.partner_of_other[other as usize] = own;
        self.made.push((own, other));
        self.is_one_thing(own, other) && self.decorations_match(own, other)
    }

    fn is_one_thing(&mut self, own: Id, other: Id) -> bool {
        let (own_module, other_module) = (self.own.module, self.other.module);
        let definitions = (own_module.definition_index(own), other_module.definition_index(other));
        let (Some(own_place), Some(other_place)) = definitions else {
            return definitions == (None, None);
        };
        let own_row = &own_module.instructions[own_place];
        let other_row = &other_module.instructions[other_place];
        if self.own.is_global(own_place) != self.other.is_global(other_place) {
            return false;
        }
        match (own_row.op, other_row.op) {
            (Op::Function, Op::Function) => {
                self.functions.push((own, other));
                true
            }
            (Op::Function, _) | (_, Op::Function) => false,
            _ if self.own.is_global(own_place) => self.pairs_of_rows(own_row, other_row),
            (Op::Variable, Op::Variable) => self.pairs_of_rows(own_row, other_row),
            (Op::Variable, _) | (_, Op::Variable) => false,
            // What it is stands in its own row, which is compared where it stands.
            _ => true,
        }
    }

    fn decorations_match(&mut self, own: Id, other: Id) -> bool {
        let (own_side, other_side) = (self.own, self.other);
        let own_rows = own_side.index.decorations_of(own);
        let other_rows = other_side.index.decorations_of(other);
        own_rows.len() == other_rows.len()
            && own_rows.iter().zip(other_rows).all(|((_, own_place), (_, other_place))| {
                let own_row = &own_side.module.instructions[*own_place];
                self.pairs_of_rows(own_row, &other_side.module.instructions[*other_place])
            })
    }

    /// What modules say of themselves as a whole.
    fn has_same_frame(&mut self) -> bool {
        let (own, other) = (self.own, self.other);
        let entry_of = |side: &ComparedModule<'m>| {
            let entry = &side.module.entry_points[0];
            (side.module.header.version, entry.model, entry.name.clone())
        };
        let (own_rows, other_rows) = (&own.index.whole, &other.index.whole);
        let (own_sizes, other_sizes) = (&own.index.sizes, &other.index.sizes);
        entry_of(own) == entry_of(other)
            && own_rows.len() == other_rows.len()
            && own_rows.iter().zip(other_rows).all(|(own_place, other_place)| {
                let own_row = &own.module.instructions[*own_place];
                self.rows_match(own_row, &other.module.instructions[*other_place])
            })
            && own_sizes.len() == other_sizes.len()
            && own_sizes.iter().zip(other_sizes).all(|(own, other)| self.pair(*own, *other))
    }

    /// Whether what the host hands over, and what workgroups share, is the same beside what functions name of it.
    fn pairs_all_resources(&mut self) -> bool {
        let (own, other) = (self.own, self.other);
        let is_free = |partners: &[Id], id: &Id| partners[*id as usize] == 0;
        let own_free = own.index.resources.iter();
        let own_free: Vec<Id> =
            own_free.copied().filter(|id| is_free(&self.partner_of_own, id)).collect();
        for own_id in own_free {
            let other_free: Vec<Id> = other
                .index
                .resources
                .iter()
                .copied()
                .filter(|id| is_free(&self.partner_of_other, id))
                .collect();
            let is_same = |other_id: &Id| self.resources_match(own_id, *other_id);
            if !other_free.iter().any(is_same) {
                return false;
            }
        }
        other.index.resources.iter().all(|id| !is_free(&self.partner_of_other, id))
    }

    fn resources_match(&mut self, own: Id, other: Id) -> bool {
        let (own_module, other_module) = (self.own.module, self.other.module);
        match (own_module.definition(own), other_module.definition(other)) {
            (Some(own), Some(other)) => self.rows_match(own, other),
            _ => false,
        }
    }

    /// Where a branch goes that differs in where it goes alone: the labels that the other one does not go to. Whatever
    /// enters none of them goes where the other branch goes.
    fn other_targets(&mut self, own: &Instruction, other: &Instruction) -> Option<Vec<Id>> {
        let is_comparable = own.op == Op::BranchConditional
            && other.op == Op::BranchConditional
            && own.operands.len() == other.operands.len();
        if !is_comparable {
            return None;
        }
        let mut targets = Vec::new();
        for (place, (own, other)) in own.operands.iter().zip(&other.operands).enumerate() {
            let is_same = self.is_match(|pairing| pairing.operands_match(own, other));
            match own.id_ref_any() {
                _ if is_same => {}
                Some(label) if place > 0 => targets.push(label),
                Some(_) | None => return None,
            }
        }
        Some(targets)
    }

    /// Adds the blocks of a function between the first and the last row in which another one differs from it.
    fn add_changes(&mut self, (own, other): (&Function, &Function), code: &mut ChangedCode) {
        let (own_module, other_module) = (self.own.module, self.other.module);
        let own_rows = rows_of_function(own_module, own);
        let other_rows = rows_of_function(other_module, other);
        let mut entered_otherwise = Vec::new();
        let mut rows_match = |own_place: &usize, other_place: &usize| {
            let own_row = &own_module.instructions[*own_place];
            let other_row = &other_module.instructions[*other_place];
            if self.rows_match(own_row, other_row) {
                return true;
            }
            let targets = self.other_targets(own_row, other_row);
            let is_branch = targets.is_some();
            entered_otherwise.extend(targets.into_iter().flatten());
            is_branch
        };
        let shorter = own_rows.len().min(other_rows.len());
        let in_order = own_rows.iter().zip(&other_rows);
        let same_ahead = in_order.take_while(|(own, other)| rows_match(own, other)).count();
        let from_end = own_rows.iter().rev().zip(other_rows.iter().rev());
        let same_behind = from_end
            .take(shorter - same_ahead)
            .take_while(|(own, other)| rows_match(own, other))
            .count();
        let changed = same_ahead..own_rows.len() - same_behind;
        let changed_other = same_ahead..other_rows.len() - same_behind;
        if !self.effects_match(&own_rows[changed.clone()], &other_rows[changed_other]) {
            code.effects = ChangedEffects::Others;
        }
        let near = match (changed.is_empty(), own_rows.len() == other_rows.len()) {
            (false, _) => changed,
            (true, true) => 0..0,
            // Rows are put in and none is taken away: those around them tell the block.
            (true, false) => same_ahead.saturating_sub(1)..(same_ahead + 1).min(own_rows.len()),
        };
        let places = &own_rows[near];
        let is_changed = |block: &&FunctionBlock| {
            entered_otherwise.contains(&block.label)
                || places.iter().any(|place| block.range.contains(*place))
        };
        let changed = own.blocks.iter().filter(is_changed);
        code.blocks.extend(changed.map(|block| block.range));
        // What stands in front of its first block is the function's whole.
        let first_block = own.blocks.first().map(|block| block.range);
        let is_of_head = |first: &IndexRange| places.iter().any(|place| *place < first.start);
        code.blocks.extend(first_block.filter(is_of_head));
    }

    /// Whether rows of both modules have the same effects.
    fn effects_match(&self, own: &[usize], other: &[usize]) -> bool {
        let mut own_effects = Vec::new();
        for place in own {
            let row = &self.own.module.instructions[*place];
            let Some(mut effect) = self.own.effect_of(row) else { continue };
            for id in &mut effect.things {
                *id = self.partner_of_own[*id as usize];
            }
            own_effects.push(effect);
        }
        let rows = other.iter().map(|place| &self.other.module.instructions[*place]);
        let mut other_effects: Vec<Effect> =
            rows.filter_map(|row| self.other.effect_of(row)).collect();
        own_effects.sort_unstable();
        other_effects.sort_unstable();
        // What has no partner is 0, and no id of the other module is that.
        own_effects == other_effects
    }
}

/// What an instruction does beside its value.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Effect {
    op: u32,
    /// What it names of what decides its effect, in order.
    things: Vec<Id>,
}

/// Whether it accesses memory, or makes a pointer, and does nothing else.
fn is_access(op: Op) -> bool {
    matches!(
        op,
        Op::Load
            | Op::Store
            | Op::CopyMemory
            | Op::CopyMemorySized
            | Op::ArrayLength
            | Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
    )
}

/// Whether it does more than make values of values and access memory.
fn is_operation(op: Op) -> bool {
    const PARTS_OF_NAMES: [&str; 5] = ["Atomic", "Barrier", "Group", "Image", "Cooperative"];
    let name = format!("{op:?}");
    matches!(op, Op::FunctionCall | Op::ExtInst)
        || PARTS_OF_NAMES.iter().any(|part| name.contains(part))
}

/// Where the rows of a function stand that count by where they stand.
fn rows_of_function(module: &Module, function: &Function) -> Vec<usize> {
    let is_compared = |place: &usize| {
        let op = module.instructions[*place].op;
        !is_debug(op) && op != Op::Variable
    };
    function.instruction_indices().filter(is_compared).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile_tests::compile;
    use crate::validate::TargetEnv;

    const KERNEL: &str = "layout(local_size_x = 4) in;
        layout(std430, binding = 0) buffer Data { uint n; uint o[]; };
        layout(std430, binding = 1) buffer Rare { uint rare[]; };
        shared uint tile[4];
        uint twice(uint value) { return value * 2u; }
        uint limited(uint value) { if (value > 90u) { return twice(value); } return value; }
        void main() {
            uint i = gl_LocalInvocationID.x;
            tile[i] = i;
            if (n > 5u) { uint t = limited(o[i]); o[i] = t + 3u; } else { o[i] = 4u; }
            if (n > 70u && o[0] > 71u) { rare[i] = tile[i] + 72u; }
            o[i + 4u] = 80u;
        }";

    fn module_of(text: &str) -> Module {
        Module::parse(compile(text, TargetEnv::Vulkan1_2)).expect("it parses")
    }

    /// The constants in the blocks of the kernel that a change of its text changes.
    fn constants_of_change(old: &str, new: &str) -> Option<Vec<u32>> {
        assert_eq!(KERNEL.matches(old).count(), 1, "{old}");
        let (own, other) = (module_of(KERNEL), module_of(&KERNEL.replace(old, new)));
        let compared = |module| ComparedModule::of_module(module).expect("one entry point");
        let changed = changed_code(&compared(&own), &compared(&other))?;
        let rows = changed.blocks.iter().flat_map(|block| own.instructions_in(*block));
        let constants = rows.flat_map(Instruction::ids).filter_map(|id| {
            let constant = own.definition(id).filter(|row| row.op == Op::Constant)?;
            constant.literal(0).filter(|value| *value > 1)
        });
        Some(constants.collect())
    }

    #[test]
    fn a_change_is_told_by_the_blocks_it_is_in() {
        for (old, new, constants) in [
            ("value * 2u", "value * 9u", &[2][..]),
            ("value * 2u", "value", &[2]),
            ("value * 2u", "value * 2u * n", &[2]),
            ("value > 90u", "value >= 90u", &[90]),
            ("return twice(value);", "return value;", &[]),
            ("return twice(value);", "", &[]),
            ("t + 3u", "t - 3u", &[3]),
            // A call and its variable are gone.
            ("uint t = limited(o[i]);", "uint t = 1u;", &[3]),
            ("o[i] = 4u;", "", &[4]),
            ("o[i] = 4u;", "return; o[i] = 4u;", &[4]),
            ("n > 70u && o[0] > 71u", "n > 70u || o[0] > 71u", &[70]),
            ("o[0] > 71u", "o[1] > 71u", &[71]),
            ("n > 70u &&", "n < 70u &&", &[70]),
            ("rare[i] = tile[i] + 72u;", "", &[72]),
            ("rare[i] = tile[i] + 72u;", "rare[i] = tile[i] + 72u; barrier();", &[72]),
            ("rare[i] = tile[i] + 72u;", "while (n < 5u) { ++rare[i]; }", &[72]),
            ("+ 72u", "- 72u", &[72]),
            ("o[i + 4u] = 80u;", "o[i + 5u] = 80u;", &[4, 80]),
        ] {
            let mut found = constants_of_change(old, new).unwrap_or_else(|| panic!("{old}"));
            found.sort_unstable();
            let is_within = constants.iter().all(|constant| found.contains(constant));
            assert!(is_within, "{old}: {new}: {found:?}");
            // Nothing else is told, but literals that indices have.
            let strange: Vec<&u32> =
                found.iter().filter(|value| !constants.contains(value) && **value > 4).collect();
            assert!(strange.is_empty(), "{old}: {new}: {found:?}");
        }
        assert_eq!(constants_of_change("value * 2u", "value * (1u + 1u)"), Some(Vec::new()));
    }

    #[test]
    fn changed_effects_are_told() {
        for (old, new, effects) in [
            ("+ 72u", "- 72u", ChangedEffects::Same),
            ("o[0] > 71u", "o[1] > 71u", ChangedEffects::Same),
            ("value * 2u", "value * 9u", ChangedEffects::Same),
            ("o[i] = 4u;", "", ChangedEffects::Others),
            ("o[i] = 4u;", "rare[i] = 4u;", ChangedEffects::Others),
            ("rare[i] = tile[i] + 72u;", "rare[i] = 72u;", ChangedEffects::Others),
            (
                "rare[i] = tile[i] + 72u;",
                "rare[i] = tile[i] + 72u; barrier();",
                ChangedEffects::Others,
            ),
            (
                "rare[i] = tile[i] + 72u;",
                "atomicAdd(rare[i], tile[i] + 72u);",
                ChangedEffects::Others,
            ),
            ("return twice(value);", "return value;", ChangedEffects::Others),
        ] {
            let (own, other) = (module_of(KERNEL), module_of(&KERNEL.replace(old, new)));
            let compared = |module| ComparedModule::of_module(module).expect("one entry point");
            let changed = changed_code(&compared(&own), &compared(&other)).unwrap();
            assert_eq!(changed.effects, effects, "{old}: {new}");
        }
    }

    #[test]
    fn a_store_by_an_address_is_an_effect() {
        let text = "#extension GL_EXT_buffer_reference : require
            layout(local_size_x = 4) in;
            layout(buffer_reference, std430) buffer Node { uint value; };
            layout(push_constant) uniform Pushed { Node first; uint n; };
            void main() { Node at = first; uint t = n; if (n > 5u) { at.value = 3u; t = 4u; } at.value = t; }";
        let own = module_of(text);
        for (old, new, effects) in [
            ("at.value = 3u; ", "", ChangedEffects::Others),
            ("t = 4u; ", "", ChangedEffects::Same),
            ("3u", "9u", ChangedEffects::Same),
        ] {
            let other = module_of(&text.replace(old, new));
            let compared = |module| ComparedModule::of_module(module).expect("one entry point");
            let changed = changed_code(&compared(&own), &compared(&other)).unwrap();
            assert_eq!(changed.effects, effects, "{old}: {new}");
        }
    }

    #[test]
    fn changes_beside_functions_are_told_as_such() {
        for (old, new) in [
            ("local_size_x = 4", "local_size_x = 5"),
            ("shared uint tile[4]", "uint tile[4]"),
            ("shared uint tile[4]", "shared uint tile[5]"),
            ("binding = 1", "binding = 2"),
            ("buffer Rare", "coherent buffer Rare"),
        ] {
            assert_eq!(constants_of_change(old, new), None, "{new}");
        }
    }
}

//! Whether the accesses of a kernel stay within what they access, for all host values, workgroups
//! and invocations.
//!
//! Knows: a module, and what a host states of it as numbers: group counts, sizes of buffers, push
//! constants.
//! Promises: *within* is said only by proof. The walk (`walk`, `step`, `loops`) goes through the
//! entry point and, anew for each call, through its functions; every integer is a polynomial over
//! atoms (`polynomial`, `atom`): host values, ids of workgroups and invocations, iterations of
//! loops, quotients, what memory holds. What branches tell becomes inequalities (`fact`,
//! `condition`), from which `proof` shows each index to be in range (`access`).
//! Arithmetic is kept modulo the width of its words; a number is read off a word only where it is
//! proved to be in range, so that no proof rests on arithmetic that might wrap around.
//! Does not cover: other invocations; what memory holds is any value at every load.

mod access;
mod arithmetic;
mod atom;
mod bits;
mod comparison;
mod composite;
mod condition;
mod deciders;
mod division;
mod enumeration;
mod fact;
mod interval;
mod loops;
mod memory;
mod origins;
mod polynomial;
mod proof;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod texel;
mod value;
mod walk;
mod words;

pub use access::{AccessKind, AccessOutcome};
pub use atom::{Atoms, Origin};
pub use comparison::{ComparedOperand, OtherComparison, comparisons_agree};
pub use interval::Interval;
pub use polynomial::Polynomial;

use super::constants::Constants;
use super::interface::LocalSize;
use super::module::{Id, Module};
use super::types::Types;
use access::RecordedAccess;
use comparison::{AskedComparison, MadeComparison};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use value::{Value, VariableKey};
use walk::FunctionShape;

/// Instructions that a walk visits, those of calls and repeated walks through loops included.
const MOST_VISITS: usize = 600_000;
/// Steps of all proofs together; beyond, intervals alone prove.
const MOST_PROOF_WORK: usize = 2_000_000;
/// Accesses in all calls together.
const MOST_RECORDED: usize = 200_000;

/// What a host states of a kernel, as polynomials over its parameters.
#[derive(Debug, Default)]
pub struct HostNumbers {
    /// The atoms of the polynomials.
    pub atoms: Atoms,
    /// Workgroups in x, y and z.
    pub groups: [Polynomial; 3],
    /// Bytes of buffers, by set and binding.
    pub buffer_sizes: BTreeMap<(u32, u32), Polynomial>,
    /// Sizes of images whose extents are stated, by set and binding.
    pub image_sizes: BTreeMap<(u32, u32), ImageExtent>,
    /// Integers in the push constants, by the byte where they begin.
    pub push_constants: BTreeMap<u64, PushedNumber>,
    /// Specialization constants of no one value, by SpecId.
    pub specialization: BTreeMap<u32, Polynomial>,
}

/// The size of an image's view; each number is from 1 to the greatest of 32 bits with sign.
#[derive(Debug, Clone)]
pub struct ImageExtent {
    /// Texels of the largest level in x, y, z, as far as the view has them.
    pub axes: Vec<Polynomial>,
    /// Layers, of layered views.
    pub layers: Option<Polynomial>,
    /// Mip levels.
    pub levels: Polynomial,
}

/// An integer that the host stores in the push constants.
#[derive(Debug, Clone)]
pub struct PushedNumber {
    /// Bits of it.
    pub width: u32,
    /// The number, modulo 2 to the power of `width`.
    pub number: Polynomial,
}

/// An access place of a kernel with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedAccess {
    /// Index of the instruction.
    pub instruction: usize,
    /// How it uses memory.
    pub kind: AccessKind,
    /// The object in words: `left[..]`.
    pub object: String,
    /// What is known of it in all calls together.
    pub outcome: AccessOutcome,
}

/// Judges every access of an entry point; `specialization` are the raw bits of the constants that
/// the host gives one value each.
pub fn judge_accesses(
    module: &Module,
    entry_function: Id,
    specialization: &BTreeMap<u32, u64>,
    host: HostNumbers,
) -> Vec<JudgedAccess> {
    let mut walk = Walk::new(module, entry_function, specialization, host);
    walk.walk_entry(entry_function);
    walk.judged_accesses(entry_function)
}

/// Built-in ids as numbers.
#[derive(Debug, Default)]
struct InvocationIds {
    workgroup: [Polynomial; 3],
    local: [Polynomial; 3],
    global: [Polynomial; 3],
    groups: [Polynomial; 3],
    local_index: Polynomial,
}

/// A walk through an entry point.
struct Walk<'a> {
    module: &'a Module,
    types: Types,
    constants: Constants,
    /// Constants that depend on specialization constants of no one value.
    unsettled_constants: BTreeSet<Id>,
    host: HostNumbers,
    atoms: Atoms,
    ids: InvocationIds,
    /// Of variables of the invocation, by key.
    variable_types: Vec<Id>,
    private_variables: BTreeMap<Id, VariableKey>,
    push_constants: BTreeMap<(u64, Id), Value>,
    shapes: HashMap<Id, Rc<FunctionShape>>,
    glsl_set: Option<Id>,
    unknown_conditions: u32,
    accesses: Vec<RecordedAccess>,
    /// By the instruction in whose place they may stand.
    asked_comparisons: BTreeMap<usize, Vec<AskedComparison>>,
    comparisons: Vec<MadeComparison>,
    visits: usize,
    proof_work: usize,
    stop_reason: Option<String>,
}

impl<'a> Walk<'a> {
    fn new(
        module: &'a Module,
        entry_function: Id,
        specialization: &BTreeMap<u32, u64>,
        mut host: HostNumbers,
    ) -> Self {
        let types = Types::of_module(module);
        let constants = Constants::evaluate(module, &types, specialization).unwrap_or_default();
        let atoms = std::mem::take(&mut host.atoms);
        let unsettled_constants = unsettled_constants(module, &host.specialization);
        let mut walk = Self {
            module,
            types,
            constants,
            unsettled_constants,
            host,
            atoms,
            ids: InvocationIds::default(),
            variable_types: Vec::new(),
            private_variables: BTreeMap::new(),
            push_constants: BTreeMap::new(),
            shapes: HashMap::new(),
            glsl_set: glsl_instruction_set(module),
            unknown_conditions: 0,
            accesses: Vec::new(),
            asked_comparisons: BTreeMap::new(),
            comparisons: Vec::new(),
            visits: 0,
            proof_work: 0,
            stop_reason: None,
        };
        let local_size = walk.local_size(entry_function);
        walk.name_invocations(local_size);
        walk
    }

    /// The local size under the specialization; none where it has no one value.
    fn local_size(&self, entry_function: Id) -> Option<[u32; 3]> {
        let size = LocalSize::of_entry_point(self.module, entry_function)?;
        let constants: Vec<Id> = match size {
            LocalSize::WorkgroupSize(constant) => vec![constant],
            LocalSize::Constants(constants) => constants.to_vec(),
            LocalSize::Literals(_) => Vec::new(),
        };
        let is_settled = constants.iter().all(|constant| !self.is_unsettled(*constant));
        is_settled.then(|| size.evaluated_words(&self.constants)).flatten()
    }

    fn name_invocations(&mut self, local_size: Option<[u32; 3]>) {
        const AXES: [&str; 3] = ["x", "y", "z"];
        for (axis, axis_name) in AXES.into_iter().enumerate() {
            let groups = self.host.groups[axis].clone();
            let group_bound = self.atoms.interval_of(&groups).high - 1;
            let group = self.atoms.new_symbol(
                &format!("gl_WorkGroupID.{axis_name}"),
                Interval::new(0, group_bound.max(0)),
                Origin::Known,
            );
            let group_number = Polynomial::atom(group);
            if let Some(room) = groups.minus(&group_number) {
                self.atoms.add_fact(group, room.plus_number(-1));
            }
            let local_bound =
                local_size.map_or(i128::from(u32::MAX), |size| i128::from(size[axis]) - 1);
            let local_number = match local_bound {
                0 => Polynomial::constant(0),
                bound => Polynomial::atom(self.atoms.new_symbol(
                    &format!("gl_LocalInvocationID.{axis_name}"),
                    Interval::new(0, bound),
                    Origin::Known,
                )),
            };
            let start = local_size.and_then(|size| group_number.scaled(i128::from(size[axis])));
            self.ids.global[axis] = match start.and_then(|start| start.plus(&local_number)) {
                Some(global) => global,
                None => self.unknown_word("gl_GlobalInvocationID"),
            };
            self.ids.workgroup[axis] = group_number;
            self.ids.local[axis] = local_number;
            self.ids.groups[axis] = groups;
        }
        self.ids.local_index = match local_size.and_then(|size| self.local_index(size)) {
            Some(index) => index,
            None => self.unknown_word("gl_LocalInvocationIndex"),
        };
    }

    fn unknown_word(&mut self, name: &str) -> Polynomial {
        let interval = Interval::of_word(32, false);
        Polynomial::atom(self.atoms.new_symbol("", interval, Origin::BuiltIn(name.to_owned())))
    }

    /// z * (size in y * size in x) + y * size in x + x
    fn local_index(&self, size: [u32; 3]) -> Option<Polynomial> {
        let [x, y, z] = &self.ids.local;
        let row = i128::from(size[0]);
        let layer = row * i128::from(size[1]);
        x.plus(&y.scaled(row)?)?.plus(&z.scaled(layer)?)
    }

    /// Ends the analysis: nothing is shown of any access.
    fn stop(&mut self, reason: &str) {
        self.stop_reason.get_or_insert_with(|| reason.to_owned());
    }

    fn is_stopped(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// What is known of each access place, in the order of the module.
    fn judged_accesses(&mut self, entry_function: Id) -> Vec<JudgedAccess> {
        let mut by_place: BTreeMap<usize, JudgedAccess> = BTreeMap::new();
        for access in std::mem::take(&mut self.accesses) {
            let object = self.target_words(&access.target);
            let outcome = match &self.stop_reason {
                Some(reason) => {
                    AccessOutcome::Open { reason: reason.clone(), is_of_host_and_ids: false }
                }
                None => match by_place.get(&access.instruction).map(|judged| &judged.outcome) {
                    Some(AccessOutcome::Open { is_of_host_and_ids: false, .. }) => continue,
                    // A run cannot tell which of several calls it shows.
                    Some(AccessOutcome::Open { reason, is_of_host_and_ids: true }) => {
                        let reason = reason.clone();
                        if !self.is_open_by_contents(&access) {
                            continue;
                        }
                        AccessOutcome::Open { reason, is_of_host_and_ids: false }
                    }
                    Some(AccessOutcome::Within | AccessOutcome::Unreached) | None => {
                        self.judge(&access)
                    }
                },
            };
            let (instruction, kind) = (access.instruction, access.kind);
            by_place.insert(instruction, JudgedAccess { instruction, kind, object, outcome });
        }
        self.add_unwalked(entry_function, &mut by_place);
        by_place.into_values().collect()
    }

    /// Whether an access may leave what it accesses by what memory holds.
    fn is_open_by_contents(&mut self, access: &RecordedAccess) -> bool {
        let is_by_contents = |outcome: AccessOutcome| match outcome {
            AccessOutcome::Open { is_of_host_and_ids, .. } => !is_of_host_and_ids,
            AccessOutcome::Within | AccessOutcome::Unreached => false,
        };
        !self.is_of_host_and_ids(access) && is_by_contents(self.judge(access))
    }

    /// Access places that the walk did not come to.
    fn add_unwalked(&self, entry_function: Id, by_place: &mut BTreeMap<usize, JudgedAccess>) {
        let functions = super::calls::reachable_functions(self.module, entry_function);
        let ranges = functions.iter().filter_map(|id| self.module.function_by_id(*id));
        for index in ranges.flat_map(|function| function.instruction_indices()) {
            if !self.is_access_place(index) || by_place.contains_key(&index) {
                continue;
            }
            let outcome = match &self.stop_reason {
                Some(reason) => {
                    AccessOutcome::Open { reason: reason.clone(), is_of_host_and_ids: false }
                }
                None => AccessOutcome::Unreached,
            };
            let kind =
                access::access_kind(self.module.instructions[index].op).unwrap_or(AccessKind::Read);
            let object = "memory".to_owned();
            by_place.insert(index, JudgedAccess { instruction: index, kind, object, outcome });
        }
    }
}

/// Constants that depend on a specialization constant of no one value.
fn unsettled_constants(module: &Module, varying: &BTreeMap<u32, Polynomial>) -> BTreeSet<Id> {
    let mut unsettled = BTreeSet::new();
    if varying.is_empty() {
        return unsettled;
    }
    for instruction in &module.instructions {
        if instruction.op == Op::Function {
            break;
        }
        let Some(id) = instruction.result else { continue };
        let is_varying =
            module.specialization_id(id).is_some_and(|spec_id| varying.contains_key(&spec_id));
        let is_constant = instruction.op.is_constant();
        if is_constant && (is_varying || instruction.ids().any(|part| unsettled.contains(&part))) {
            unsettled.insert(id);
        }
    }
    unsettled
}

fn glsl_instruction_set(module: &Module) -> Option<Id> {
    let name = [Operand::LiteralString("GLSL.std.450".to_owned())];
    let import = module
        .instructions
        .iter()
        .find(|instruction| instruction.op == Op::ExtInstImport && instruction.operands == name);
    import.and_then(|import| import.result)
}

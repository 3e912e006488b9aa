//! Which members of a block the functions of an entry point use.
//!
//! Knows: access chains from the block's variable, and what loads, stores and copies go through them.
//! Promises: a member that is used is listed. A pointer that goes where it is not followed (into a
//! function, a choice) counts as a use of everything that it points to, and a chain of indices as
//! one of every element that they may name.
//! Does not cover: whether control comes to the use, or what becomes of what was loaded.

use super::super::module::{Id, Instruction, Module};
use super::super::types::{Type, Types};
use crate::constants::Constants;
use rspirv::spirv::Op;
use std::collections::{BTreeSet, HashMap};

/// Numbers of members from the block inwards; indices of arrays are left out.
pub type MemberPath = Vec<u32>;

/// The parts of a block that are used, by the paths that instructions go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsedMembers {
    /// Parts that are loaded.
    pub read: BTreeSet<MemberPath>,
    /// Parts that are stored to.
    pub written: BTreeSet<MemberPath>,
    /// Parts that are loaded for more than to compare them with 0, as a `bool` of GLSL is.
    pub valued: BTreeSet<MemberPath>,
}

impl UsedMembers {
    /// What these functions use of the block of a variable.
    pub fn of_variable(
        module: &Module,
        (types, constants): (&Types, &Constants),
        functions: &[Id],
        variable: Id,
    ) -> Self {
        let block = module.definition(variable).and_then(|definition| definition.result_type);
        let Some(block) = block.and_then(|pointer| types.pointee(pointer)) else {
            // Of a variable without a type nothing is known but that it may be used.
            let whole = BTreeSet::from([MemberPath::new()]);
            return Self { read: whole.clone(), written: whole.clone(), valued: whole };
        };
        let start = PointedPart { path: MemberPath::new(), ty: block };
        let mut walk = UseWalk {
            types,
            constants,
            parts: HashMap::from([(variable, start)]),
            loaded: HashMap::new(),
            used: UsedMembers::default(),
        };
        // Blocks stand behind those that dominate them, so that a chain is met before its uses.
        for function in functions.iter().filter_map(|id| module.function_by_id(*id)) {
            for instruction in module.instructions_in(function.range) {
                walk.visit(instruction);
            }
        }
        // A value may be used in front of where it is loaded: round a loop.
        for function in functions.iter().filter_map(|id| module.function_by_id(*id)) {
            for instruction in module.instructions_in(function.range) {
                walk.visit_values(instruction);
            }
        }
        walk.used
    }

    /// Whether a member is read, and nothing but whether it is 0 is asked of it.
    pub fn is_truth_alone(&self, path: &[u32]) -> bool {
        self.reads(path) && !touches(&self.valued, path) && !touches(&self.written, path)
    }

    /// Whether any of a member, or all of what it is in, is loaded.
    pub fn reads(&self, path: &[u32]) -> bool {
        touches(&self.read, path)
    }

    /// The same, or stored to.
    pub fn uses(&self, path: &[u32]) -> bool {
        self.reads(path) || touches(&self.written, path)
    }
}

fn touches(used_paths: &BTreeSet<MemberPath>, path: &[u32]) -> bool {
    used_paths.iter().any(|used_path| used_path.starts_with(path) || path.starts_with(used_path))
}

/// What a pointer points to.
#[derive(Clone)]
struct PointedPart {
    path: MemberPath,
    ty: Id,
}

struct UseWalk<'a> {
    types: &'a Types,
    constants: &'a Constants,
    /// By pointer.
    parts: HashMap<Id, PointedPart>,
    /// Where each loaded value is from.
    loaded: HashMap<Id, MemberPath>,
    used: UsedMembers,
}

impl UseWalk<'_> {
    fn visit(&mut self, instruction: &Instruction) {
        match instruction.op {
            Op::AccessChain | Op::InBoundsAccessChain => {
                let base = instruction.id(0).and_then(|base| self.parts.get(&base)).cloned();
                if let (Some(base), Some(result)) = (base, instruction.result) {
                    let part = self.inner_part(base, instruction);
                    self.parts.insert(result, part);
                }
            }
            Op::CopyObject => {
                let copied = instruction.id(0).and_then(|base| self.parts.get(&base)).cloned();
                if let (Some(copied), Some(result)) = (copied, instruction.result) {
                    self.parts.insert(result, copied);
                }
            }
            // Only how many elements there are is asked for.
            Op::ArrayLength => {}
            Op::Load => {
                self.mark(instruction.id(0), UseKind::Read);
                let part = instruction.id(0).and_then(|pointer| self.parts.get(&pointer));
                if let (Some(part), Some(result)) = (part, instruction.result) {
                    self.loaded.insert(result, part.path.clone());
                }
            }
            Op::Store => {
                self.mark(instruction.id(0), UseKind::Write);
                self.mark(instruction.id(1), UseKind::Both);
            }
            Op::CopyMemory | Op::CopyMemorySized => {
                // What becomes of the copy is not followed.
                let source = instruction.id(1).and_then(|source| self.parts.get(&source));
                self.used.valued.extend(source.map(|part| part.path.clone()));
                self.mark(instruction.id(0), UseKind::Write);
                self.mark(instruction.id(1), UseKind::Read);
            }
            _ => {
                for operand in instruction.ids() {
                    self.mark(Some(operand), UseKind::Both);
                }
            }
        }
    }

    /// Marks loaded values that are used otherwise than to compare them with 0.
    fn visit_values(&mut self, instruction: &Instruction) {
        let is_comparison = matches!(instruction.op, Op::INotEqual | Op::IEqual);
        let is_zero = |id: Id| self.constants.scalar_word(id) == Some(0);
        if is_comparison && instruction.ids().any(is_zero) {
            return;
        }
        for operand in instruction.ids() {
            if let Some(path) = self.loaded.get(&operand) {
                self.used.valued.insert(path.clone());
            }
        }
    }

    /// Where a chain leads. Behind an index that is no constant all members may be meant: the part
    /// stays the struct.
    fn inner_part(&self, base: PointedPart, chain: &Instruction) -> PointedPart {
        let PointedPart { mut path, mut ty } = base;
        for index in chain.ids().skip(1) {
            match self.types.get(ty) {
                Some(Type::Structure { members, .. }) => {
                    let number = self.constants.scalar_word(index);
                    let member = number.and_then(|number| members.get(number as usize));
                    let (Some(number), Some(member)) = (number, member) else { break };
                    path.push(number);
                    ty = member.ty;
                }
                Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => {
                    ty = *element;
                }
                // Components of vectors and columns of matrices are parts of one member.
                Some(_) | None => break,
            }
        }
        PointedPart { path, ty }
    }

    fn mark(&mut self, pointer: Option<Id>, kind: UseKind) {
        let Some(part) = pointer.and_then(|pointer| self.parts.get(&pointer)) else { return };
        let (reads, writes) = match kind {
            UseKind::Read => (true, false),
            UseKind::Write => (false, true),
            UseKind::Both => (true, true),
        };
        if reads {
            self.used.read.insert(part.path.clone());
        }
        if matches!(kind, UseKind::Both) {
            self.used.valued.insert(part.path.clone());
        }
        if writes {
            self.used.written.insert(part.path.clone());
        }
    }
}

#[derive(Clone, Copy)]
enum UseKind {
    Read,
    Write,
    Both,
}

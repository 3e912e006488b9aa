//! What a pointer may point to, and what an image value may be.
//!
//! Knows: access chains (typed and untyped), copies, choices (`OpPhi`, `OpSelect`), parameters,
//! results of functions, pointers that are kept in variables, device addresses.
//! Promises: everything that a pointer may point to is among its roots, as far as it comes from a
//! declared variable or from a number. Does not cover: whether an access stays within its object.

use super::live::Live;
use crate::constants::Constants;
use crate::module::{Id, Instruction, Module};
use crate::types::{Type, Types};
use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// What a pointer points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Root {
    Variable(Id, Element),
    /// The memory that a device address names; the id of the address.
    Address(Id),
}

/// Which element of an array of descriptors was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Element {
    /// None so far.
    Whole,
    At(u32),
    Any,
}

pub(super) struct Pointers<'a> {
    pub module: &'a Module,
    pub types: &'a Types,
    pub constants: &'a Constants,
    pub live: &'a Live<'a>,
    /// Pointers that are stored in a variable.
    kept: HashMap<Id, Vec<Id>>,
    known: RefCell<HashMap<Id, Rc<BTreeSet<Root>>>>,
}

impl<'a> Pointers<'a> {
    pub(super) fn new(
        module: &'a Module,
        types: &'a Types,
        constants: &'a Constants,
        live: &'a Live<'a>,
    ) -> Self {
        let (kept, known) = (HashMap::new(), RefCell::new(HashMap::new()));
        let mut pointers = Self { module, types, constants, live, kept, known };
        for store in live
            .instructions()
            .map(|index| &module.instructions[index])
            .filter(|i| i.op == Op::Store)
        {
            let (Some(pointer), Some(value)) = (store.id(0), store.id(1)) else { continue };
            if pointers.is_pointer(value)
                && let Some(variable) = pointers.variable_of(pointer)
            {
                pointers.kept.entry(variable).or_default().push(value);
            }
        }
        pointers
    }

    /// Everything that a pointer may point into; of an image value the variables that it may be
    /// loaded from.
    pub(super) fn roots(&self, pointer: Id) -> Rc<BTreeSet<Root>> {
        if let Some(known) = self.known.borrow().get(&pointer) {
            return Rc::clone(known);
        }
        let mut roots = BTreeSet::new();
        let (mut seen, mut open) = (HashSet::new(), vec![(pointer, None)]);
        while let Some((id, chosen)) = open.pop() {
            if seen.insert((id, chosen))
                && let Some(definition) = self.module.definition(id)
            {
                self.step(id, definition, chosen, &mut open, &mut roots);
            }
        }
        let roots = Rc::new(roots);
        self.known.borrow_mut().insert(pointer, Rc::clone(&roots));
        roots
    }

    /// Goes one definition back. `chosen` is the first index of the chain nearest to the variable,
    /// if there was a chain.
    fn step(
        &self,
        id: Id,
        definition: &Instruction,
        chosen: Option<Option<u32>>,
        open: &mut Vec<(Id, Option<Option<u32>>)>,
        roots: &mut BTreeSet<Root>,
    ) {
        let operand = |index: usize| definition.id(index).map(|id| (id, chosen));
        match definition.op {
            Op::Variable | Op::UntypedVariableKHR => {
                roots.insert(Root::Variable(id, self.element(definition, chosen)));
            }
            Op::AccessChain | Op::InBoundsAccessChain => {
                open.extend(definition.id(0).map(|base| (base, Some(self.index(definition, 1)))));
            }
            Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => {
                // Behind the type that the indices go by.
                open.extend(definition.id(1).map(|base| (base, Some(self.index(definition, 2)))));
            }
            Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR => {
                open.extend(operand(1))
            }
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => open.extend(operand(0)),
            Op::CopyObject
            | Op::CopyLogical
            | Op::ImageTexelPointer
            | Op::SampledImage
            | Op::Image => {
                open.extend(operand(0));
            }
            Op::Select => open.extend(operand(1).into_iter().chain(operand(2))),
            Op::Phi => {
                let values = definition.operands.iter().step_by(2);
                open.extend(values.filter_map(|value| value.id_ref_any()).map(|id| (id, chosen)));
            }
            Op::FunctionParameter => {
                open.extend(self.arguments(id).map(|argument| (argument, chosen)))
            }
            Op::FunctionCall => {
                let returns = definition.id(0).map_or(&[][..], |callee| self.live.returns(callee));
                let values =
                    returns.iter().filter_map(|index| self.module.instructions[*index].id(0));
                open.extend(values.map(|value| (value, chosen)));
            }
            Op::Load => self.loaded(id, definition, chosen, open, roots),
            Op::ConstantNull | Op::Undef => {}
            _ if self.is_pointer(id) => {
                roots.insert(Root::Address(id));
            }
            _ => {}
        }
    }

    /// A pointer or an image that comes out of memory.
    fn loaded(
        &self,
        id: Id,
        load: &Instruction,
        chosen: Option<Option<u32>>,
        open: &mut Vec<(Id, Option<Option<u32>>)>,
        roots: &mut BTreeSet<Root>,
    ) {
        let Some(from) = load.id(0) else { return };
        match self.pointer_class(id) {
            Some(StorageClass::PhysicalStorageBuffer) => {
                roots.insert(Root::Address(id));
            }
            Some(_) => {
                let kept = self.variable_of(from).and_then(|variable| self.kept.get(&variable));
                open.extend(kept.into_iter().flatten().map(|value| (*value, chosen)));
            }
            // An image or a sampler: what matters is where it is bound.
            None => open.push((from, chosen)),
        }
    }

    /// What is passed for a parameter.
    pub(super) fn arguments(&self, parameter: Id) -> impl Iterator<Item = Id> + '_ {
        let index = self.module.definition_index(parameter);
        let function = index.and_then(|index| self.module.function_at(index));
        let position = function
            .and_then(|function| function.parameters.iter().position(|id| *id == parameter));
        let calls = function.map_or(&[][..], |function| self.live.calls(function.id));
        calls.iter().filter_map(move |call| self.module.instructions[*call].id(1 + position?))
    }

    fn index(&self, chain: &Instruction, operand: usize) -> Option<u32> {
        let index = self.constants.scalar(chain.id(operand)?)?;
        u32::try_from(index).ok()
    }

    /// Which descriptor of a variable, where it is an array of them and a chain has chosen.
    fn element(&self, variable: &Instruction, chosen: Option<Option<u32>>) -> Element {
        let inner = |ty: Id| match self.types.get(ty) {
            Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => {
                Some(*element)
            }
            _ => None,
        };
        let descriptors = variable.operands.first().is_some_and(|class| {
            let bound =
                [StorageClass::Uniform, StorageClass::StorageBuffer, StorageClass::UniformConstant];
            bound.iter().any(|bound| *class == Operand::StorageClass(*bound))
        });
        let pointee =
            variable.result_type.and_then(|ty| self.types.pointee(ty)).filter(|_| descriptors);
        match (pointee.and_then(inner), chosen) {
            (None, _) | (Some(_), None) => Element::Whole,
            // Indices of arrays of arrays are not put together here.
            (Some(element), Some(_)) if inner(element).is_some() => Element::Any,
            (Some(_), Some(chosen)) => chosen.map_or(Element::Any, Element::At),
        }
    }

    /// The variable that a chain without loads begins at.
    fn variable_of(&self, mut pointer: Id) -> Option<Id> {
        // Longer than any chain of accesses; a module that is not valid may have a cycle.
        for _ in 0..64 {
            let definition = self.module.definition(pointer)?;
            match definition.op {
                Op::Variable => return Some(pointer),
                Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => {
                    pointer = definition.id(0)?
                }
                _ => return None,
            }
        }
        None
    }

    fn pointer_class(&self, id: Id) -> Option<StorageClass> {
        let ty = self.module.definition(id)?.result_type?;
        let declared = self.module.definition(ty)?;
        match (declared.op, declared.operands.first()) {
            (Op::TypePointer | Op::TypeUntypedPointerKHR, Some(Operand::StorageClass(class))) => {
                Some(*class)
            }
            _ => None,
        }
    }

    pub(super) fn is_pointer(&self, id: Id) -> bool {
        self.pointer_class(id).is_some()
    }

    /// Where the members begin that a chain of accesses points to, in bytes from the start of their
    /// block, indices of arrays taken as 0; empty of what is no chain from a variable.
    pub(super) fn member_starts(&self, pointer: Id) -> BTreeSet<u64> {
        let mut starts = BTreeSet::new();
        if let Some((start, ty)) = self.part(pointer) {
            self.members_of(start, ty, &mut starts);
        }
        starts
    }

    /// The same, as the type that stands there: a block, a member or a part of one.
    fn part(&self, pointer: Id) -> Option<(u64, Id)> {
        let definition = self.module.definition(pointer)?;
        match definition.op {
            Op::Variable => Some((0, self.types.pointee(definition.result_type?)?)),
            Op::CopyObject => self.part(definition.id(0)?),
            Op::AccessChain | Op::InBoundsAccessChain => {
                let (mut start, mut ty) = self.part(definition.id(0)?)?;
                for index in definition.ids().skip(1) {
                    match self.types.get(ty)? {
                        Type::Structure { members, .. } => {
                            let member = members
                                .get(usize::try_from(self.constants.scalar(index)?).ok()?)?;
                            start += u64::from(member.offset?);
                            ty = member.ty;
                        }
                        Type::Array { element, .. } | Type::RuntimeArray { element, .. } => {
                            ty = *element
                        }
                        _ => return Some((start, ty)),
                    }
                }
                Some((start, ty))
            }
            _ => None,
        }
    }

    fn members_of(&self, start: u64, ty: Id, starts: &mut BTreeSet<u64>) {
        match self.types.get(ty) {
            Some(Type::Structure { members, .. }) => {
                for member in members {
                    if let Some(offset) = member.offset {
                        self.members_of(start + u64::from(offset), member.ty, starts);
                    }
                }
            }
            Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => {
                self.members_of(start, *element, starts);
            }
            _ => drop(starts.insert(start)),
        }
    }

    /// Bytes from the start of a variable's block to what a chain of constant indices points to.
    pub(super) fn constant_offset(&self, pointer: Id) -> Option<u64> {
        let definition = self.module.definition(pointer)?;
        match definition.op {
            Op::Variable => Some(0),
            Op::CopyObject => self.constant_offset(definition.id(0)?),
            Op::AccessChain | Op::InBoundsAccessChain => {
                let base = self.module.definition(definition.id(0)?)?;
                let mut ty = self.types.pointee(base.result_type?)?;
                let mut offset = self.constant_offset(definition.id(0)?)?;
                let mut indices = definition.ids().skip(1);
                if let (
                    Op::Variable,
                    Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }),
                ) = (base.op, self.types.get(ty))
                {
                    // An array of descriptors.
                    indices.next();
                    ty = *element;
                }
                for index in indices {
                    let (inner, bytes) = self.inner(ty, self.constants.scalar(index)?)?;
                    offset = offset.checked_add(bytes)?;
                    ty = inner;
                }
                Some(offset)
            }
            _ => None,
        }
    }

    /// Type and offset of a part of a type.
    fn inner(&self, ty: Id, index: u64) -> Option<(Id, u64)> {
        match self.types.get(ty)? {
            Type::Structure { members, .. } => {
                let member = members.get(usize::try_from(index).ok()?)?;
                Some((member.ty, u64::from(member.offset?)))
            }
            Type::Array { element, stride, .. } | Type::RuntimeArray { element, stride } => {
                Some((*element, index.checked_mul(u64::from((*stride)?))?))
            }
            _ => None,
        }
    }
}

//! What a pointer may point to, and what an image value may be.
//!
//! Knows: access chains (typed and untyped), copies, choices (`OpPhi`, `OpSelect`), parameters,
//! results of functions, pointers that are kept in variables, device addresses.
//! Promises: everything that a pointer may point to is among its roots, as far as it comes from a
//! declared variable or from a number. Does not cover: whether an access stays within its object.

use super::live::LiveCode;
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
pub(crate) enum PointerRoot {
    Variable(Id, DescriptorElement),
    /// The memory that a device address names; the id of the address.
    Address(Id),
}

/// Which element of an array of descriptors was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum DescriptorElement {
    /// None so far.
    Whole,
    At(u32),
    Any,
}

pub(crate) struct PointerAnalysis<'a> {
    pub module: &'a Module,
    pub types: &'a Types,
    pub constants: &'a Constants,
    pub live: &'a LiveCode<'a>,
    /// Pointers that are stored in a variable.
    kept: HashMap<Id, Vec<Id>>,
    known: RefCell<HashMap<Id, Rc<BTreeSet<PointerRoot>>>>,
}

impl<'a> PointerAnalysis<'a> {
    pub(crate) fn new(
        module: &'a Module,
        types: &'a Types,
        constants: &'a Constants,
        live: &'a LiveCode<'a>,
    ) -> Self {
        let (kept_pointers, known_roots) = (HashMap::new(), RefCell::new(HashMap::new()));
        let mut pointers =
            Self { module, types, constants, live, kept: kept_pointers, known: known_roots };
        for store in live
            .live_instructions()
            .map(|index| &module.instructions[index])
            .filter(|instruction| instruction.op == Op::Store)
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
    pub(crate) fn roots_of(&self, pointer: Id) -> Rc<BTreeSet<PointerRoot>> {
        if let Some(known_roots) = self.known.borrow().get(&pointer) {
            return Rc::clone(known_roots);
        }
        let mut roots = BTreeSet::new();
        let (mut visited_pointers, mut pending_pointers) = (HashSet::new(), vec![(pointer, None)]);
        while let Some((id, chosen_index)) = pending_pointers.pop() {
            if visited_pointers.insert((id, chosen_index))
                && let Some(definition) = self.module.definition(id)
            {
                self.follow_pointer(
                    id,
                    definition,
                    chosen_index,
                    &mut pending_pointers,
                    &mut roots,
                );
            }
        }
        let roots = Rc::new(roots);
        self.known.borrow_mut().insert(pointer, Rc::clone(&roots));
        roots
    }

    /// Goes one definition back. `chosen` is the first index of the chain nearest to the variable,
    /// if there was a chain.
    fn follow_pointer(
        &self,
        id: Id,
        definition: &Instruction,
        chosen_index: Option<Option<u32>>,
        pending_pointers: &mut Vec<(Id, Option<Option<u32>>)>,
        roots: &mut BTreeSet<PointerRoot>,
    ) {
        let pointer_operand =
            |index: usize| definition.id(index).map(|operand| (operand, chosen_index));
        match definition.op {
            Op::Variable | Op::UntypedVariableKHR => {
                roots.insert(PointerRoot::Variable(
                    id,
                    self.descriptor_element(definition, chosen_index),
                ));
            }
            Op::AccessChain | Op::InBoundsAccessChain => {
                pending_pointers.extend(
                    definition.id(0).map(|base| (base, Some(self.constant_index(definition, 1)))),
                );
            }
            Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => {
                // Behind the type that the indices go by.
                pending_pointers.extend(
                    definition.id(1).map(|base| (base, Some(self.constant_index(definition, 2)))),
                );
            }
            Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR => {
                pending_pointers.extend(pointer_operand(1))
            }
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                pending_pointers.extend(pointer_operand(0))
            }
            Op::CopyObject
            | Op::CopyLogical
            | Op::ImageTexelPointer
            | Op::SampledImage
            | Op::Image => {
                pending_pointers.extend(pointer_operand(0));
            }
            Op::Select => {
                pending_pointers.extend(pointer_operand(1).into_iter().chain(pointer_operand(2)))
            }
            Op::Phi => {
                let values = definition.operands.iter().step_by(2);
                pending_pointers.extend(
                    values
                        .filter_map(|value| value.id_ref_any())
                        .map(|value| (value, chosen_index)),
                );
            }
            Op::FunctionParameter => pending_pointers
                .extend(self.passed_arguments(id).map(|argument| (argument, chosen_index))),
            Op::FunctionCall => {
                let returns =
                    definition.id(0).map_or(&[][..], |callee| self.live.returns_of(callee));
                let values =
                    returns.iter().filter_map(|index| self.module.instructions[*index].id(0));
                pending_pointers.extend(values.map(|value| (value, chosen_index)));
            }
            Op::Load => self.follow_load(id, definition, chosen_index, pending_pointers, roots),
            Op::ConstantNull | Op::Undef => {}
            _ if self.is_pointer(id) => {
                roots.insert(PointerRoot::Address(id));
            }
            _ => {}
        }
    }

    /// A pointer or an image that comes out of memory.
    fn follow_load(
        &self,
        id: Id,
        load: &Instruction,
        chosen_index: Option<Option<u32>>,
        pending_pointers: &mut Vec<(Id, Option<Option<u32>>)>,
        roots: &mut BTreeSet<PointerRoot>,
    ) {
        let Some(loaded_pointer) = load.id(0) else { return };
        match self.pointer_class(id) {
            Some(StorageClass::PhysicalStorageBuffer) => {
                roots.insert(PointerRoot::Address(id));
            }
            Some(_) => {
                let kept_pointers =
                    self.variable_of(loaded_pointer).and_then(|variable| self.kept.get(&variable));
                pending_pointers.extend(
                    kept_pointers.into_iter().flatten().map(|value| (*value, chosen_index)),
                );
            }
            // An image or a sampler: what matters is where it is bound.
            None => pending_pointers.push((loaded_pointer, chosen_index)),
        }
    }

    /// Where a pointer or an image that comes out of memory was before: the pointers that were
    /// stored there, the place of the image; empty of a device address.
    pub(crate) fn loaded_from(&self, load: &Instruction) -> Vec<Id> {
        let (Some(result), Some(loaded_pointer)) = (load.result, load.id(0)) else {
            return Vec::new();
        };
        match self.pointer_class(result) {
            Some(StorageClass::PhysicalStorageBuffer) => Vec::new(),
            Some(_) => {
                let variable = self.variable_of(loaded_pointer);
                variable.and_then(|variable| self.kept.get(&variable)).cloned().unwrap_or_default()
            }
            None => vec![loaded_pointer],
        }
    }

    /// What is passed for a parameter.
    pub(crate) fn passed_arguments(&self, parameter: Id) -> impl Iterator<Item = Id> + '_ {
        let parameter_index = self.module.definition_index(parameter);
        let function =
            parameter_index.and_then(|parameter_index| self.module.function_at(parameter_index));
        let parameter_position = function
            .and_then(|function| function.parameters.iter().position(|id| *id == parameter));
        let calls = function.map_or(&[][..], |function| self.live.calls_of(function.id));
        calls
            .iter()
            .filter_map(move |call| self.module.instructions[*call].id(1 + parameter_position?))
    }

    fn constant_index(&self, chain: &Instruction, operand: usize) -> Option<u32> {
        let index = self.constants.scalar_bits(chain.id(operand)?)?;
        u32::try_from(index).ok()
    }

    fn array_element(&self, type_id: Id) -> Option<Id> {
        match self.types.get(type_id)? {
            Type::Array { element, .. } | Type::RuntimeArray { element, .. } => Some(*element),
            _ => None,
        }
    }

    /// Which descriptor of a variable, where it is an array of them and a chain has chosen.
    fn descriptor_element(
        &self,
        variable: &Instruction,
        chosen_index: Option<Option<u32>>,
    ) -> DescriptorElement {
        let is_descriptor = variable.operands.first().is_some_and(|class| {
            let descriptor_classes =
                [StorageClass::Uniform, StorageClass::StorageBuffer, StorageClass::UniformConstant];
            descriptor_classes
                .iter()
                .any(|descriptor_class| *class == Operand::StorageClass(*descriptor_class))
        });
        let pointee = variable
            .result_type
            .and_then(|type_id| self.types.pointee(type_id))
            .filter(|_| is_descriptor);
        match (pointee.and_then(|pointee| self.array_element(pointee)), chosen_index) {
            (None, _) | (Some(_), None) => DescriptorElement::Whole,
            // Indices of arrays of arrays are not put together here.
            (Some(element), Some(_)) if self.array_element(element).is_some() => {
                DescriptorElement::Any
            }
            (Some(_), Some(chosen_index)) => {
                chosen_index.map_or(DescriptorElement::Any, DescriptorElement::At)
            }
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
        let pointer_type = self.module.definition(ty)?;
        match (pointer_type.op, pointer_type.operands.first()) {
            (Op::TypePointer | Op::TypeUntypedPointerKHR, Some(Operand::StorageClass(class))) => {
                Some(*class)
            }
            _ => None,
        }
    }

    pub(crate) fn is_pointer(&self, id: Id) -> bool {
        self.pointer_class(id).is_some()
    }

    /// Where the members begin that a chain of accesses points to, in bytes from the start of their
    /// block, indices of arrays taken as 0; empty of what is no chain from a variable.
    pub(crate) fn member_starts(&self, pointer: Id) -> BTreeSet<u64> {
        let mut start_offsets = BTreeSet::new();
        if let Some((byte_offset, ty)) = self.addressed_part(pointer) {
            self.members_of(byte_offset, ty, &mut start_offsets);
        }
        start_offsets
    }

    /// The offset at which such a chain begins, with the type that stands there: a block, a member or
    /// a part of one.
    pub(super) fn addressed_part(&self, pointer: Id) -> Option<(u64, Id)> {
        let definition = self.module.definition(pointer)?;
        match definition.op {
            Op::Variable => Some((0, self.types.pointee(definition.result_type?)?)),
            Op::CopyObject => self.addressed_part(definition.id(0)?),
            Op::AccessChain | Op::InBoundsAccessChain => {
                let (mut byte_offset, mut ty) = self.addressed_part(definition.id(0)?)?;
                for index in definition.ids().skip(1) {
                    match self.types.get(ty)? {
                        Type::Structure { members, .. } => {
                            let member = members
                                .get(usize::try_from(self.constants.scalar_bits(index)?).ok()?)?;
                            byte_offset += u64::from(member.offset?);
                            ty = member.ty;
                        }
                        Type::Array { element, .. } | Type::RuntimeArray { element, .. } => {
                            ty = *element
                        }
                        _ => return Some((byte_offset, ty)),
                    }
                }
                Some((byte_offset, ty))
            }
            _ => None,
        }
    }

    fn members_of(&self, byte_offset: u64, type_id: Id, member_starts: &mut BTreeSet<u64>) {
        match self.types.get(type_id) {
            Some(Type::Structure { members, .. }) => {
                for member in members {
                    if let Some(offset) = member.offset {
                        self.members_of(byte_offset + u64::from(offset), member.ty, member_starts);
                    }
                }
            }
            Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => {
                self.members_of(byte_offset, *element, member_starts);
            }
            _ => drop(member_starts.insert(byte_offset)),
        }
    }

    /// Bytes from the start of a variable's block to what a chain of constant indices points to.
    pub(crate) fn constant_offset(&self, pointer: Id) -> Option<u64> {
        let definition = self.module.definition(pointer)?;
        match definition.op {
            Op::Variable => Some(0),
            Op::CopyObject => self.constant_offset(definition.id(0)?),
            Op::AccessChain | Op::InBoundsAccessChain => {
                let base = self.module.definition(definition.id(0)?)?;
                let mut ty = self.types.pointee(base.result_type?)?;
                let mut byte_offset = self.constant_offset(definition.id(0)?)?;
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
                    let (inner_type, inner_offset) =
                        self.inner_part(ty, self.constants.scalar_bits(index)?)?;
                    byte_offset = byte_offset.checked_add(inner_offset)?;
                    ty = inner_type;
                }
                Some(byte_offset)
            }
            _ => None,
        }
    }

    /// Type and offset of a part of a type.
    fn inner_part(&self, type_id: Id, index: u64) -> Option<(Id, u64)> {
        match self.types.get(type_id)? {
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

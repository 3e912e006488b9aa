//! Names, decorations and entry points: what a module says of ids before its functions.

use super::{Id, Instruction, Module};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, ExecutionModel, Op};
use std::collections::BTreeMap;

/// An entry point.
#[derive(Debug, Clone)]
pub struct EntryPoint {
    /// The name that hosts select it by.
    pub name: String,
    /// Result id of its function.
    pub function: Id,
    /// Its execution model.
    pub model: ExecutionModel,
    /// Ids of the variables in its interface.
    pub interface: Vec<Id>,
}

/// A decoration with its operands behind the decoration word.
#[derive(Debug, Clone)]
pub struct Decorated {
    /// The decoration.
    pub decoration: Decoration,
    /// Its operands, as ids or literals.
    pub operands: Vec<Operand>,
}

/// Debug names and decorations by id.
#[derive(Debug, Clone, Default)]
pub(super) struct Annotations {
    names: BTreeMap<Id, String>,
    member_names: BTreeMap<(Id, u32), String>,
    decorations: BTreeMap<Id, Vec<Decorated>>,
    member_decorations: BTreeMap<(Id, u32), Vec<Decorated>>,
    strings: BTreeMap<Id, String>,
}

impl Annotations {
    pub(super) fn of_instructions(instructions: &[Instruction]) -> Self {
        let mut annotations = Self::default();
        instructions.iter().for_each(|instruction| annotations.add_annotation(instruction));
        annotations
    }

    fn decorations_of(&self, id: Id) -> &[Decorated] {
        self.decorations.get(&id).map_or(&[], Vec::as_slice)
    }

    fn add_annotation(&mut self, instruction: &Instruction) {
        let operands = &instruction.operands;
        match (instruction.op, operands.as_slice()) {
            (Op::Name, [Operand::IdRef(id), Operand::LiteralString(name)]) => {
                self.names.insert(*id, name.clone());
            }
            (
                Op::MemberName,
                [Operand::IdRef(id), Operand::LiteralBit32(member), Operand::LiteralString(name)],
            ) => {
                self.member_names.insert((*id, *member), name.clone());
            }
            (Op::String, [Operand::LiteralString(text)]) => {
                self.strings.extend(instruction.result.map(|id| (id, text.clone())));
            }
            (Op::Decorate, [Operand::IdRef(id), Operand::Decoration(decoration), rest @ ..]) => {
                let decorated_id = Decorated { decoration: *decoration, operands: rest.to_vec() };
                self.decorations.entry(*id).or_default().push(decorated_id);
            }
            (
                Op::MemberDecorate,
                [
                    Operand::IdRef(id),
                    Operand::LiteralBit32(member),
                    Operand::Decoration(decoration),
                    rest @ ..,
                ],
            ) => {
                let decorated_id = Decorated { decoration: *decoration, operands: rest.to_vec() };
                self.member_decorations.entry((*id, *member)).or_default().push(decorated_id);
            }
            // The group's own decorations come before it is used (SPIR-V, 2.4 and OpGroupDecorate).
            (Op::GroupDecorate, [Operand::IdRef(group), targets @ ..]) => {
                let group_decorations = self.decorations_of(*group).to_vec();
                for id in targets.iter().filter_map(Operand::id_ref_any) {
                    self.decorations
                        .entry(id)
                        .or_default()
                        .extend(group_decorations.iter().cloned());
                }
            }
            (Op::GroupMemberDecorate, [Operand::IdRef(group), targets @ ..]) => {
                let group_decorations = self.decorations_of(*group).to_vec();
                for pair in targets.chunks(2) {
                    if let [Operand::IdRef(id), Operand::LiteralBit32(member)] = pair {
                        self.member_decorations
                            .entry((*id, *member))
                            .or_default()
                            .extend(group_decorations.iter().cloned());
                    }
                }
            }
            _ => {}
        }
    }
}

/// The entry points in the order of the module.
pub(super) fn entry_points(instructions: &[Instruction]) -> Vec<EntryPoint> {
    let mut entry_points = Vec::new();
    for instruction in instructions {
        if let (
            Op::EntryPoint,
            [
                Operand::ExecutionModel(model),
                Operand::IdRef(function),
                Operand::LiteralString(name),
                interface @ ..,
            ],
        ) = (instruction.op, instruction.operands.as_slice())
        {
            let interface_ids = interface.iter().filter_map(|operand| match operand {
                Operand::IdRef(id) => Some(*id),
                _ => None,
            });
            entry_points.push(EntryPoint {
                name: name.clone(),
                function: *function,
                model: *model,
                interface: interface_ids.collect(),
            });
        }
    }
    entry_points
}

impl Module {
    /// The OpName of `id`.
    pub fn debug_name(&self, id: Id) -> Option<&str> {
        self.annotations.names.get(&id).map(String::as_str)
    }

    /// OpMemberName of a structure's member; none where it has none.
    pub fn member_name(&self, structure_type: Id, member_index: u32) -> Option<&str> {
        self.annotations.member_names.get(&(structure_type, member_index)).map(String::as_str)
    }

    /// Decorations of an id, in the order of the module.
    pub fn decorations(&self, id: Id) -> &[Decorated] {
        self.annotations.decorations_of(id)
    }

    /// Decorations of a structure's member, in the order of the module.
    pub fn member_decorations(&self, structure_type: Id, member_index: u32) -> &[Decorated] {
        self.annotations
            .member_decorations
            .get(&(structure_type, member_index))
            .map_or(&[], Vec::as_slice)
    }

    /// The first such decoration of an id; none where it lacks it.
    pub fn decoration(&self, id: Id, decoration: Decoration) -> Option<&Decorated> {
        self.decorations(id).iter().find(|decorated| decorated.decoration == decoration)
    }

    /// The number by which a host names a specialization constant (`SpecId`).
    pub fn specialization_id(&self, constant: Id) -> Option<u32> {
        match self.decoration(constant, Decoration::SpecId)?.operands.first()? {
            Operand::LiteralBit32(number) => Some(*number),
            _ => None,
        }
    }

    /// The first such decoration of a structure's member; none where it lacks it.
    pub fn member_decoration(
        &self,
        structure_type: Id,
        member_index: u32,
        decoration: Decoration,
    ) -> Option<&Decorated> {
        self.member_decorations(structure_type, member_index)
            .iter()
            .find(|decorated| decorated.decoration == decoration)
    }

    /// Text of an OpString; none where the id is none.
    pub(crate) fn debug_string(&self, id: Id) -> Option<&str> {
        self.annotations.strings.get(&id).map(String::as_str)
    }

    /// The first entry point with this name; none where there is none.
    pub fn entry_point(&self, name: &str) -> Option<&EntryPoint> {
        self.entry_points.iter().find(|entry| entry.name == name)
    }
}

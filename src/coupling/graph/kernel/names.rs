//! How nodes of a kernel are named: their ids, the words and the places of their labels.
//!
//! Promises: an id names what a node stands for, whatever is written around it.

use super::KernelNodes;
use super::members::holding_member;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Display;
use vkcert_model::evidence::{CodePlace, CouplingNodeKind};
use vkcert_model::id::DecisionId;
use vkcert_model::place::{Place, Position, Span};
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::flow::KernelObject;
use vkcert_spirv::interface::{Access, ReflectedResource};
use vkcert_spirv::memory_semantics::MemoryKinds;

impl KernelNodes<'_> {
    /// The nodes of an object: several members where the offset is not constant, none of what is no
    /// node.
    pub(super) fn node_ids(&self, object: &KernelObject) -> Vec<String> {
        match object {
            KernelObject::PushConstant { offset } => self.push_constant_ids(*offset),
            KernelObject::SpecializationConstant(id) => vec![format!("specialization:{id}")],
            KernelObject::BuiltIn(built_in) => vec![format!("built-in:{built_in:?}")],
            KernelObject::Descriptor { set, binding, offset } => self
                .members
                .ids_at((*set, *binding), *offset)
                .unwrap_or_else(|| self.resource_ids(*set, *binding)),
            KernelObject::DescriptorSize { set, binding } => self.resource_ids(*set, *binding),
            KernelObject::Workgroup(variable) => {
                let name = name_or_number(self.flow.module.debug_name(*variable), '%', variable);
                vec![format!("workgroup:{name}")]
            }
            KernelObject::Addressed => vec!["addressed-memory".to_owned()],
            KernelObject::SubgroupOperation(number) => {
                vec![format!("subgroup-operation:{number}")]
            }
            KernelObject::StandIn(call) => self
                .flow
                .marked_decisions
                .get(call)
                .map(|id| decision_id(*id))
                .into_iter()
                .collect(),
        }
    }

    fn resource_ids(&self, set: u32, binding: u32) -> Vec<String> {
        let resources = self.input.reflection.resources.iter();
        let bound = resources.filter(|row| (row.set, row.binding) == (set, binding));
        let ids: BTreeSet<String> = bound.map(resource_id).collect();
        ids.into_iter().collect()
    }

    /// The member that holds an offset; all of them where it is not constant.
    fn push_constant_ids(&self, offset: Option<u64>) -> Vec<String> {
        let blocks = self.input.reflection.push_constants.iter();
        let starts: Vec<Option<u32>> =
            blocks.flat_map(|block| block.members.iter().map(|member| member.offset)).collect();
        match holding_member(&starts, offset) {
            Some(number) => vec![format!("push-constant:{number}")],
            None => (0..starts.len()).map(|number| format!("push-constant:{number}")).collect(),
        }
    }

    /// The kind of memory that barriers order an object with; none of what nobody writes.
    pub(super) fn memory_kind(&self, object: &KernelObject) -> MemoryKinds {
        match object {
            KernelObject::Workgroup(_) => MemoryKinds::WORKGROUP,
            KernelObject::Descriptor { set, binding, .. } => {
                let resources = self.input.reflection.resources.iter();
                let bound = resources.filter(|row| (row.set, row.binding) == (*set, *binding));
                bound.fold(MemoryKinds::NONE, |kinds, resource| {
                    kinds.union(descriptor_memory(resource.class))
                })
            }
            KernelObject::Addressed => MemoryKinds::BUFFERS,
            KernelObject::PushConstant { .. }
            | KernelObject::SpecializationConstant(_)
            | KernelObject::BuiltIn(_)
            | KernelObject::DescriptorSize { .. }
            | KernelObject::SubgroupOperation(_)
            | KernelObject::StandIn(_) => MemoryKinds::NONE,
        }
    }

    pub(super) fn code_place(&self, instruction_index: usize) -> Option<CodePlace> {
        place_of_line(&self.flow.module.place_of(instruction_index))
    }
}

/// The memory that a descriptor leads to, as barriers order it: blocks are buffers, all else is of
/// images.
fn descriptor_memory(class: DescriptorClass) -> MemoryKinds {
    match is_buffer(class) {
        true => MemoryKinds::BUFFERS,
        false => MemoryKinds::IMAGES,
    }
}

/// `barrier:BAR1`; `number` counts the barriers of the module from 0.
pub(super) fn barrier_id(number: u32) -> String {
    format!("barrier:BAR{}", number + 1)
}

pub(super) fn decision_id(decision: DecisionId) -> String {
    format!("decision:{decision}")
}

/// Whether it is a block of memory; else it is an image, a texel buffer or a sampler.
pub(super) fn is_buffer(class: DescriptorClass) -> bool {
    match class {
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic => true,
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Sampler
        | DescriptorClass::Combined
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => false,
    }
}

pub(super) fn resource_kind(resource: &ReflectedResource) -> CouplingNodeKind {
    if is_buffer(resource.class) { CouplingNodeKind::Buffer } else { CouplingNodeKind::Image }
}

pub(in crate::graph) fn resource_id(resource: &ReflectedResource) -> String {
    let kind = if is_buffer(resource.class) { "buffer" } else { "image" };
    format!("{kind}:{}.{}", resource.set, resource.binding)
}

/// A name, or a number behind a mark where there is none.
pub(super) fn name_or_number(name: Option<&str>, mark: char, number: impl Display) -> Cow<'_, str> {
    match name {
        Some(name) if !name.is_empty() => Cow::from(name),
        Some(_) | None => Cow::from(format!("{mark}{number}")),
    }
}

pub(in crate::graph) fn access_words(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "read only",
        Access::WriteOnly => "write only",
        Access::ReadWrite => "may be read and written",
        Access::None => "asked for its length alone",
    }
}

pub(super) fn function_words(place: &Place) -> String {
    place.function.clone().unwrap_or_else(|| "a function".to_owned())
}

pub(super) fn place_of_line(place: &Place) -> Option<CodePlace> {
    Some(CodePlace { file: place.file.clone()?, line: place.line? })
}

pub(super) fn place_of_span(structure: &KernelStructure, span: Span) -> Option<CodePlace> {
    let file = structure.files.get(span.file.0 as usize)?;
    let line = Position::of(&file.text, span.start as usize).line;
    Some(CodePlace { file: file.path.clone(), line })
}

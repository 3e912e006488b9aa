//! Objects that a host, kernels and invocations share, and the part of one that an access is to.
//!
//! Knows: workgroup variables, what is bound to descriptors, what device addresses name, push
//! constants, specialization constants, built-ins that the dispatch decides; members of structures
//! and indices of arrays on the way to the part.
//! Promises: parts of which nothing tells that they are apart count as overlapping. Distinct
//! bindings are distinct memory but for those that are said to be aliased, and so is what device
//! addresses name.
//! Does not cover: which bindings hold one buffer: who binds them knows; one that is bound and named
//! by an address.

use crate::memory_semantics::MemoryKinds;
use crate::module::{Id, Module};
use crate::types::{Type, Types};
use std::collections::BTreeSet;
use vkcert_model::access_pair::ReadDescriptor;

/// Something that several sides can access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SharedObject {
    /// A variable in workgroup memory.
    Workgroup(Id),
    /// What is bound to a descriptor, or to an array of them.
    Descriptor(ReadDescriptor),
    /// What device addresses name, all of it.
    Addressed,
    /// The push-constant block.
    PushConstants,
    /// A specialization constant, by the number that the host names it by (SpecId).
    SpecializationConstant(u32),
    /// The number of workgroups of the dispatch.
    NumWorkgroups,
}

/// One step from an object into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep {
    /// A member of a structure.
    Member(u32),
    /// An element of an array, a column, a component; the id of the index, none where it is not
    /// known.
    Element(Option<Id>),
}

/// The part of an object that an access is to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectPath {
    /// The object.
    pub object: SharedObject,
    /// What declares it; of what a device address names the type of the block.
    pub declaration: Id,
    /// From the object to the part.
    pub steps: Vec<PathStep>,
}

/// Whether the steps of two paths can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathRelation {
    /// Their parts have nothing in common.
    Apart,
    /// They can; indices decide.
    SameSteps,
    /// One memory under two types: nothing can be told.
    Unknown,
}

impl ObjectPath {
    /// Whether two paths can lead to common memory, whatever the indices are.
    pub(super) fn relation(&self, other: &ObjectPath, types: &PathTypes<'_>) -> PathRelation {
        if self.object != other.object && !types.are_laid_over(self.object, other.object) {
            return PathRelation::Apart;
        }
        if types.contents(self.declaration) != types.contents(other.declaration)
            || self.object != other.object
        {
            return PathRelation::Unknown;
        }
        let differ = self.steps.iter().zip(&other.steps).any(|steps| match steps {
            (PathStep::Member(own), PathStep::Member(others)) => own != others,
            (PathStep::Element(_), PathStep::Element(_))
            | (PathStep::Member(_), PathStep::Element(_))
            | (PathStep::Element(_), PathStep::Member(_)) => false,
        });
        if differ { PathRelation::Apart } else { PathRelation::SameSteps }
    }

    /// The members on the way, without indices: what an obligation is about.
    pub fn members(&self) -> Vec<PathStep> {
        let without_index = |step: &PathStep| match step {
            PathStep::Member(member) => PathStep::Member(*member),
            PathStep::Element(_) => PathStep::Element(None),
        };
        self.steps.iter().map(without_index).collect()
    }
}

/// What paths are compared and named by.
pub(super) struct PathTypes<'a> {
    pub module: &'a Module,
    pub types: &'a Types,
    /// Bindings that can hold one buffer or image, each pair both ways.
    pub aliased: &'a BTreeSet<(ReadDescriptor, ReadDescriptor)>,
}

impl PathTypes<'_> {
    /// The type of what a declaration declares.
    fn contents(&self, declaration: Id) -> Option<Id> {
        let instruction = self.module.definition(declaration)?;
        match self.types.variable_contents(instruction) {
            Some((_, contents)) => Some(contents),
            None => Some(declaration),
        }
    }

    /// Workgroup variables that are blocks lie over each other
    /// (SPV_KHR_workgroup_memory_explicit_layout), and aliased bindings.
    fn are_laid_over(&self, first: SharedObject, second: SharedObject) -> bool {
        match (first, second) {
            (SharedObject::Workgroup(first), SharedObject::Workgroup(second)) => {
                self.is_block(first) && self.is_block(second)
            }
            (SharedObject::Descriptor(first), SharedObject::Descriptor(second)) => {
                self.aliased.contains(&(first, second))
            }
            (
                SharedObject::Workgroup(_)
                | SharedObject::Descriptor(_)
                | SharedObject::Addressed
                | SharedObject::PushConstants
                | SharedObject::SpecializationConstant(_)
                | SharedObject::NumWorkgroups,
                _,
            ) => false,
        }
    }

    fn is_block(&self, variable: Id) -> bool {
        let contents = self.contents(variable).and_then(|contents| self.types.get(contents));
        match contents {
            Some(Type::Structure { block, .. }) => *block != crate::types::BlockKind::None,
            Some(_) | None => false,
        }
    }

    /// Which kind of memory barriers must cover for an object; none of what nobody writes in a
    /// dispatch.
    pub(super) fn memory_kind(&self, path: &ObjectPath) -> Option<MemoryKinds> {
        match path.object {
            SharedObject::Workgroup(_) => Some(MemoryKinds::WORKGROUP),
            SharedObject::Descriptor(_) if self.is_image(path.declaration) => {
                Some(MemoryKinds::IMAGES)
            }
            SharedObject::Descriptor(_) | SharedObject::Addressed => Some(MemoryKinds::BUFFERS),
            SharedObject::PushConstants
            | SharedObject::SpecializationConstant(_)
            | SharedObject::NumWorkgroups => None,
        }
    }

    /// Whether the steps to a part tell which element it is: not of texels, of which coordinates
    /// do, and not behind device addresses, which differ themselves.
    pub(super) fn are_elements_told(&self, path: &ObjectPath) -> bool {
        match path.object {
            SharedObject::Workgroup(_) => true,
            SharedObject::Descriptor(_) => !self.is_image(path.declaration),
            SharedObject::Addressed
            | SharedObject::PushConstants
            | SharedObject::SpecializationConstant(_)
            | SharedObject::NumWorkgroups => false,
        }
    }

    fn is_image(&self, variable: Id) -> bool {
        let mut contents = self.contents(variable);
        while let Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) =
            contents.and_then(|contents| self.types.get(contents))
        {
            contents = Some(*element);
        }
        matches!(
            contents.and_then(|contents| self.types.get(contents)),
            Some(Type::Image(_) | Type::SampledImage { .. })
        )
    }

    /// The part in GLSL's words: `stars[].flags`, `tile[][]`. Members of a block without a name
    /// stand alone, as they do in GLSL.
    pub(super) fn name(&self, path: &ObjectPath) -> String {
        match path.object {
            SharedObject::NumWorkgroups => "gl_NumWorkGroups".to_owned(),
            SharedObject::SpecializationConstant(id) => self
                .own_name(path.declaration)
                .map_or_else(|| format!("constant_id {id}"), str::to_owned),
            SharedObject::Workgroup(_)
            | SharedObject::Descriptor(_)
            | SharedObject::Addressed
            | SharedObject::PushConstants => self.memory_name(path),
        }
    }

    fn memory_name(&self, path: &ObjectPath) -> String {
        let mut name = match (path.object, self.own_name(path.declaration)) {
            (SharedObject::Addressed, Some(block)) => format!("*{block}"),
            (SharedObject::Addressed, None) => "*address".to_owned(),
            (_, own_name) => own_name.unwrap_or_default().to_owned(),
        };
        let mut contents = self.contents(path.declaration);
        for step in &path.steps {
            let inner = contents.and_then(|contents| self.types.get(contents));
            match (step, inner) {
                (PathStep::Member(member), Some(Type::Structure { members, .. })) => {
                    let member_type = members.get(*member as usize);
                    let member_name = member_type.and_then(|member| member.name.clone());
                    if !name.is_empty() {
                        name.push('.');
                    }
                    name += &member_name.unwrap_or_else(|| format!("member {member}"));
                    contents = member_type.map(|member| member.ty);
                }
                (
                    PathStep::Element(_),
                    Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }),
                ) => {
                    name += "[]";
                    contents = Some(*element);
                }
                // Columns and components belong to the matrix or vector.
                (PathStep::Member(_) | PathStep::Element(_), _) => break,
            }
        }
        if name.is_empty() { self.fallback_name(path) } else { name }
    }

    /// Of a whole block without a name, or a module without names.
    fn fallback_name(&self, path: &ObjectPath) -> String {
        let contents =
            self.contents(path.declaration).and_then(|contents| self.types.get(contents));
        match (contents, path.object) {
            (Some(Type::Structure { name: Some(name), .. }), _) => name.clone(),
            (_, SharedObject::Descriptor(ReadDescriptor { set, binding })) => {
                format!("set {set} binding {binding}")
            }
            (_, SharedObject::PushConstants) => "push constants".to_owned(),
            (
                _,
                SharedObject::Workgroup(_)
                | SharedObject::Addressed
                | SharedObject::SpecializationConstant(_)
                | SharedObject::NumWorkgroups,
            ) => format!("%{}", path.declaration),
        }
    }

    fn own_name(&self, id: Id) -> Option<&str> {
        self.module.debug_name(id).filter(|name| !name.is_empty())
    }
}

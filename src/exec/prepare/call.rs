//! A dispatch as a test asks for it, and its kernel's interface once it is known.

use super::contents::ReflectedBlock;
use super::declared::DeclaredDescriptor;
use super::layout::ModuleLayout;
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::element::Datum;
use vkcert_model::expectation::CheckerKernel;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::{Binding, Dispatch, Reference, SpecializationValue};
use vkcert_spirv::interface::{PushConstants, ReflectedResource, Reflection};
use vkcert_spirv::types::Type;

/// What a dispatch and a reference have in common.
pub(super) struct KernelCall<'a> {
    pub kernel: &'a KernelName,
    pub groups: [u32; 3],
    pub subgroup_size: Option<u32>,
    pub bindings: &'a [Binding],
    pub push_constants: Option<&'a Datum>,
    pub specialization: &'a BTreeMap<String, SpecializationValue>,
}

impl<'a> KernelCall<'a> {
    pub(super) fn of_dispatch(dispatch: &'a Dispatch) -> Self {
        Self {
            kernel: &dispatch.kernel,
            groups: dispatch.groups,
            subgroup_size: dispatch.subgroup_size,
            bindings: &dispatch.bindings,
            push_constants: dispatch.push_constants.as_ref(),
            specialization: &dispatch.specialization,
        }
    }

    pub(super) fn of_reference(reference: &'a Reference) -> Self {
        Self {
            kernel: &reference.kernel,
            groups: reference.groups,
            subgroup_size: None,
            bindings: &reference.bindings,
            push_constants: reference.push_constants.as_ref(),
            specialization: &reference.specialization,
        }
    }

    pub(super) fn of_checker(checker: &'a CheckerKernel) -> Self {
        Self {
            kernel: &checker.kernel,
            groups: checker.groups,
            subgroup_size: None,
            bindings: &checker.bindings,
            push_constants: checker.push_constants.as_ref(),
            specialization: &checker.specialization,
        }
    }
}

/// A call's kernel under its specialization.
pub(super) struct ResolvedCall {
    /// Raw bits by specialization id.
    pub specialization: BTreeMap<u32, u64>,
    pub reflection: Reflection,
    /// The block that the module declares where the kernel does not use it.
    pub unused_push_constants: Option<PushConstants>,
    pub layout: Arc<ModuleLayout>,
    pub declared: Vec<DeclaredDescriptor>,
}

impl ResolvedCall {
    /// The block that the module declares, whether the kernel uses it or not.
    pub(super) fn declared_push_constants(&self) -> Option<&PushConstants> {
        self.reflection.push_constants.as_ref().or(self.unused_push_constants.as_ref())
    }

    /// The block behind a descriptor that the kernel uses.
    pub(super) fn descriptor_block(&self, set: u32, binding: u32) -> Option<ReflectedBlock<'_>> {
        let resource = self.descriptor_at(set, binding)?;
        let block = ReflectedBlock {
            layout: &self.layout,
            ty: resource.block_type,
            fixed_bytes: resource.fixed_bytes,
        };
        matches!(self.layout.types.get(resource.block_type), Some(Type::Structure { .. }))
            .then_some(block)
    }

    pub(super) fn descriptor_at(&self, set: u32, binding: u32) -> Option<&ReflectedResource> {
        self.reflection
            .resources
            .iter()
            .find(|resource| (resource.set, resource.binding) == (set, binding))
    }
}

//! The interface of the kernel that a dispatch, a reference or a checker starts, once it is known.

use super::contents::ReflectedBlock;
use super::declared::DeclaredDescriptor;
use super::layout::ModuleLayout;
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_spirv::interface::{PushConstants, ReflectedResource, Reflection};
use vkcert_spirv::types::Type;

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

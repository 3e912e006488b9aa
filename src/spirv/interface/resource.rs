//! Variables that are bound through descriptors.

use super::super::module::Id;
use super::super::types::{BlockKind, LayoutError, StructureMember, Type};
use super::declaration::{debug_name, decorated_number};
use super::entry_scope::EntryScope;
use super::{ModuleVariable, ReflectError};
use rspirv::spirv::{Decoration, Dim, StorageClass};
use vkcert_model::procedure::DescriptorClass;

/// A variable bound through a descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectedResource {
    /// Result id of the variable.
    pub variable: Id,
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Descriptor type that the declaration asks for.
    pub class: DescriptorClass,
    /// OpName of the variable, or of its block type where the variable has none.
    pub name: Option<String>,
    /// OpName of the block type.
    pub block_name: Option<String>,
    /// Type of one descriptor's contents: the block structure, image or sampler type.
    pub block_type: Id,
    /// Descriptors at the binding.
    pub count: DescriptorCount,
    /// What the declarations allow the kernel to do with it.
    pub access: Access,
    /// Bytes that every access outside a runtime array needs; 0 for what is no block.
    pub fixed_bytes: u64,
    /// Element stride of a runtime array at the end of the block, in bytes.
    pub element_stride: Option<u32>,
}

/// Number of descriptors at a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptorCount {
    /// The binding is no array.
    One,
    /// An array of so many.
    Array(u32),
    /// A runtime-sized descriptor array.
    Runtime,
}

/// What the declarations allow the kernel to do with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It can be read (NonWritable).
    ReadOnly,
    /// It can be written (NonReadable).
    WriteOnly,
    /// It can be read and written.
    ReadWrite,
    /// NonReadable and NonWritable: only its length may be asked for.
    None,
}

impl EntryScope<'_> {
    /// The variables that are bound through descriptors, in the order of the module.
    pub fn bound_variables(&self) -> impl Iterator<Item = ModuleVariable> {
        self.used_variables().filter(|variable| {
            matches!(
                variable.storage,
                StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant
            )
        })
    }

    /// All resources, by set and binding.
    pub(crate) fn bound_resources(&self) -> Result<Vec<ReflectedResource>, ReflectError> {
        let described_resources =
            self.bound_variables().map(|variable| self.described_resource(variable));
        let mut resources = described_resources.collect::<Result<Vec<_>, _>>()?;
        resources.sort_by_key(|resource| (resource.set, resource.binding, resource.variable));
        Ok(resources)
    }

    /// Describes one variable of [`Self::bound_variables`].
    pub(crate) fn described_resource(
        &self,
        bound_variable: ModuleVariable,
    ) -> Result<ReflectedResource, ReflectError> {
        let ModuleVariable { id: variable, storage, pointee } = bound_variable;
        let required_number = |decoration, missing_decoration| {
            let required_number = decorated_number(self.module, variable, decoration);
            required_number
                .ok_or(ReflectError::Undecorated { variable, missing: missing_decoration })
        };
        let (block_type, count) = self.descriptor_array(pointee)?;
        let class = self.descriptor_class(storage, block_type)?;
        let (fixed_bytes, element_stride) = self.block_bytes(block_type)?;
        let block_name = match self.types.get(block_type) {
            Some(Type::Structure { name, .. }) => name.clone(),
            _ => None,
        };
        Ok(ReflectedResource {
            variable,
            set: required_number(Decoration::DescriptorSet, "descriptor set")?,
            binding: required_number(Decoration::Binding, "binding")?,
            class,
            name: debug_name(self.module, variable).or_else(|| block_name.clone()),
            block_name,
            block_type,
            count,
            access: self.declared_access(variable, block_type, class),
            fixed_bytes,
            element_stride,
        })
    }

    /// The type of one descriptor of a variable, and how many it has.
    fn descriptor_array(&self, pointee: Id) -> Result<(Id, DescriptorCount), ReflectError> {
        match self.types.get(pointee) {
            Some(Type::Array { element, length, .. }) => {
                let array_length = self
                    .constants
                    .array_length(*length)
                    .and_then(|length| u32::try_from(length).ok());
                let (descriptor_type, inner_count) = self.descriptor_array(*element)?;
                let descriptor_count = match inner_count {
                    DescriptorCount::One => array_length,
                    DescriptorCount::Array(inner_length) => {
                        array_length.and_then(|outer_length| outer_length.checked_mul(inner_length))
                    }
                    DescriptorCount::Runtime => None,
                };
                let descriptor_count =
                    descriptor_count.ok_or(LayoutError::UnknownLength { length: *length })?;
                Ok((descriptor_type, DescriptorCount::Array(descriptor_count)))
            }
            Some(Type::RuntimeArray { element, .. }) => Ok((*element, DescriptorCount::Runtime)),
            _ => Ok((pointee, DescriptorCount::One)),
        }
    }

    fn descriptor_class(
        &self,
        storage_class: StorageClass,
        block_type: Id,
    ) -> Result<DescriptorClass, ReflectError> {
        let unsupported =
            || ReflectError::UnsupportedResource { what: self.types.glsl_name(block_type) };
        match (storage_class, self.types.get(block_type).ok_or_else(unsupported)?) {
            (StorageClass::StorageBuffer, Type::Structure { .. })
            | (StorageClass::Uniform, Type::Structure { block: BlockKind::BufferBlock, .. }) => {
                Ok(DescriptorClass::Storage)
            }
            (StorageClass::Uniform, Type::Structure { .. }) => Ok(DescriptorClass::Uniform),
            (_, Type::Sampler) => Ok(DescriptorClass::Sampler),
            (_, Type::SampledImage { image }) => match self.types.get(*image) {
                Some(Type::Image(image)) if image.dim == Dim::DimBuffer => {
                    Ok(DescriptorClass::UniformTexel)
                }
                _ => Ok(DescriptorClass::Combined),
            },
            (_, Type::Image(image)) if image.dim == Dim::DimSubpassData => Err(unsupported()),
            (_, Type::Image(image)) => match (image.dim, image.sampled) {
                (Dim::DimBuffer, 2) => Ok(DescriptorClass::StorageTexel),
                (Dim::DimBuffer, _) => Ok(DescriptorClass::UniformTexel),
                (_, 2) => Ok(DescriptorClass::StorageImage),
                (_, _) => Ok(DescriptorClass::SampledImage),
            },
            (_, _) => Err(unsupported()),
        }
    }

    fn block_bytes(&self, block_type: Id) -> Result<(u64, Option<u32>), ReflectError> {
        let Some(Type::Structure { members, .. }) = self.types.get(block_type) else {
            return Ok((0, None));
        };
        let element_stride = members.last().and_then(|member| match self.types.get(member.ty) {
            Some(Type::RuntimeArray { stride: element_stride, .. }) => *element_stride,
            _ => None,
        });
        Ok((self.types.byte_extent(block_type, None, self.constants)?, element_stride))
    }

    fn declared_access(&self, variable: Id, block_type: Id, class: DescriptorClass) -> Access {
        let has_decoration = |decoration| self.module.decoration(variable, decoration).is_some();
        let members = match self.types.get(block_type) {
            Some(Type::Structure { members, .. }) if !members.is_empty() => members.as_slice(),
            _ => &[],
        };
        let all_members = |member_property: fn(&StructureMember) -> bool| {
            !members.is_empty() && members.iter().all(member_property)
        };
        let writable = match class {
            DescriptorClass::Storage
            | DescriptorClass::StorageDynamic
            | DescriptorClass::StorageImage
            | DescriptorClass::StorageTexel => {
                !has_decoration(Decoration::NonWritable)
                    && !all_members(|member| member.access.non_writable)
            }
            DescriptorClass::Uniform
            | DescriptorClass::UniformDynamic
            | DescriptorClass::SampledImage
            | DescriptorClass::Sampler
            | DescriptorClass::Combined
            | DescriptorClass::UniformTexel => false,
        };
        let readable = !has_decoration(Decoration::NonReadable)
            && !all_members(|member| member.access.non_readable);
        match (readable, writable) {
            (true, true) => Access::ReadWrite,
            (true, false) => Access::ReadOnly,
            (false, true) => Access::WriteOnly,
            (false, false) => Access::None,
        }
    }
}

//! The interface of a kernel for the emitter, by reflection: local size, layouts of blocks,
//! specialization constants.

use std::collections::BTreeMap;
use vkcert_glsl::cpp::{BoundBlock, KernelInterface, MatrixOrder, SpecializationBits, ValueLayout};
use vkcert_spirv::constants::Constants;
use vkcert_spirv::interface::Reflection;
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::types::{Majorness, MatrixLayout, StructureMember, Type, Types};

/// The interface of an entry point under one specialization (raw bits by id). The module is one
/// that no optimiser has run over, so that it declares what the text declares.
pub fn kernel_interface(
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
) -> Result<KernelInterface, String> {
    let reflection = Reflection::of_entry_point(module, entry, specialization)
        .map_err(|error| error.to_string())?;
    let types = Types::of_module(module);
    let constants =
        Constants::evaluate(module, &types, specialization).map_err(|error| error.to_string())?;
    let layout_reader = LayoutReader { types: &types, constants: &constants };
    let mut blocks = BTreeMap::new();
    for resource in reflection.resources {
        let Some(name) = resource.block_name else { continue };
        let layout = layout_reader.type_layout(resource.block_type, None);
        blocks.insert(name, BoundBlock { set: resource.set, binding: resource.binding, layout });
    }
    let specialization = reflection.specialization.into_iter().filter_map(|constant| {
        let bits = specialization.get(&constant.spec_id).copied().unwrap_or(constant.default);
        Some((constant.name?, SpecializationBits { bits }))
    });
    Ok(KernelInterface {
        local_size: reflection.local_size,
        blocks,
        push_constants: reflection
            .push_constants
            .as_ref()
            .map(|block| layout_reader.structure_layout(&block.members)),
        specialization: specialization.collect(),
        workgroup_bytes: reflection.workgroup.iter().map(|variable| variable.size).sum(),
    })
}

struct LayoutReader<'a> {
    types: &'a Types,
    constants: &'a Constants,
}

impl LayoutReader<'_> {
    fn structure_layout(&self, members: &[StructureMember]) -> ValueLayout {
        let member_layout = |member: &StructureMember| {
            let layout = self.type_layout(member.ty, member.matrix);
            (member.offset.unwrap_or(0), layout)
        };
        ValueLayout::Structure(members.iter().map(member_layout).collect())
    }

    /// `matrix`: the layout of the matrix that the type is or holds.
    fn type_layout(&self, id: Id, matrix: Option<MatrixLayout>) -> ValueLayout {
        let unsupported_layout =
            || ValueLayout::Other(format!("the type {}", self.types.glsl_name(id)));
        match self.types.get(id) {
            Some(Type::Int { width, .. }) => ValueLayout::Number(width / 8),
            Some(Type::Float { width: width @ (16 | 32 | 64) }) => ValueLayout::Number(width / 8),
            Some(Type::Vector { component, count }) => match self.type_layout(*component, None) {
                ValueLayout::Number(bytes) => ValueLayout::Vector { count: *count, bytes },
                _ => unsupported_layout(),
            },
            Some(Type::Matrix { column, count }) => match (self.type_layout(*column, None), matrix)
            {
                (ValueLayout::Vector { count: rows, bytes }, Some(matrix)) => {
                    let matrix_order = match matrix.majorness {
                        Majorness::Column => MatrixOrder::Columns,
                        Majorness::Row => MatrixOrder::Rows,
                    };
                    ValueLayout::Matrix {
                        columns: *count,
                        rows,
                        bytes,
                        stride: matrix.stride,
                        order: matrix_order,
                    }
                }
                _ => unsupported_layout(),
            },
            Some(Type::Array { element, length, stride: Some(stride) }) => {
                match self.constants.array_length(*length) {
                    Some(count) => {
                        let element = Box::new(self.type_layout(*element, matrix));
                        ValueLayout::Array { stride: *stride, count: Some(count), element }
                    }
                    None => unsupported_layout(),
                }
            }
            Some(Type::RuntimeArray { element, stride: Some(stride) }) => ValueLayout::Array {
                stride: *stride,
                count: None,
                element: Box::new(self.type_layout(*element, matrix)),
            },
            Some(Type::Structure { members, .. }) => self.structure_layout(members),
            _ => unsupported_layout(),
        }
    }
}

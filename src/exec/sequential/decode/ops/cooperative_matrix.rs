//! Cooperative matrices (SPV_KHR_cooperative_matrix).
//!
//! Knows: matrices of scope Subgroup. Which invocation holds which element is left to an
//! implementation; here the element in row r and column c of a matrix with N columns belongs to
//! invocation `(r * N + c) mod S` of a subgroup of S, as its element `(r * N + c) / S`. To the rest
//! of the engine a matrix is these elements, as the components of a vector are.
//! Promises: loads and stores are accesses element by element, with their findings. Integers of a
//! product are as in a dot product (`dot_product`); floats are multiplied and added in the
//! precision of the result, from the first product on, the third matrix last. Use where not all
//! invocations of the subgroup are active is an `undefined-value` finding.
//! Does not cover: scope Workgroup; matrices whose elements are no multiple of the subgroup size.

use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::number::{compute_binary, define_numbers, number_operand};
use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::layout::MemoryArrangement;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{DecodedValue, Pointer, PointerTarget};
use crate::decode::{layout, unsupported};
use crate::ir::cooperative_product::MatrixProduct;
use crate::ir::dot_product::SumKind;
use crate::ir::memory_semantics::SUBGROUP_SCOPE;
use crate::ir::{
    AccessRoot, Dimension, DimensionBound, LaneInstruction, MatrixFactors, NumberRegisters,
    PerLaneValue, Reg, Scalar, SubgroupUse,
};
use rspirv::dr::Operand;
use rspirv::spirv::{CooperativeMatrixOperands, Op};
use std::sync::Arc;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::operator::Binary;
use vkcert_spirv::operation::sized::NumberFormat;
use vkcert_spirv::types::{Signedness, Type, Types};

pub(crate) const TABLE: &[OpcodeRow] = &[
    opcode_row(Op::CooperativeMatrixLoadKHR, OpcodeMeaning::Special(load_matrix)),
    opcode_row(Op::CooperativeMatrixStoreKHR, OpcodeMeaning::Special(store_matrix)),
    opcode_row(Op::CooperativeMatrixMulAddKHR, OpcodeMeaning::Special(multiply_add)),
    opcode_row(Op::CooperativeMatrixLengthKHR, OpcodeMeaning::Special(matrix_length)),
];

/// Sets the number of elements of each matrix that an invocation holds.
pub(crate) fn set_matrix_shares(
    types: &mut Types,
    constants: &Constants,
    subgroup_size: u32,
) -> Result<(), Unsupported> {
    types.share_matrices(|ids| {
        let [scope, rows, columns] = matrix_sizes(constants, ids)?;
        if scope != SUBGROUP_SCOPE {
            return Err(unsupported("a cooperative matrix with a scope other than Subgroup"));
        }
        let elements =
            rows.checked_mul(columns).filter(|elements| *elements > 0 && *elements <= 1 << 16);
        let elements = elements
            .ok_or_else(|| unsupported(format!("a cooperative matrix of {rows} by {columns}")))?;
        if elements % subgroup_size != 0 {
            return Err(unsupported(format!(
                "a cooperative matrix of {rows} by {columns} among {subgroup_size} invocations"
            )));
        }
        Ok(elements / subgroup_size)
    })
}

fn matrix_sizes(constants: &Constants, size_ids: [Id; 3]) -> Result<[u32; 3], Unsupported> {
    let [scope, rows, columns] = size_ids.map(|id| constants.scalar_word(id));
    match (scope, rows, columns) {
        (Some(scope), Some(rows), Some(columns)) => Ok([scope, rows, columns]),
        _ => Err(unsupported("a cooperative matrix whose size is no constant")),
    }
}

/// A matrix type: its component, rows, columns and share.
struct MatrixShape {
    component: Id,
    rows: u32,
    columns: u32,
    share: u32,
}

fn matrix_shape(decoder: &Decoder<'_>, type_id: Id) -> Result<MatrixShape, Unsupported> {
    match decoder.types.get(type_id) {
        Some(Type::CooperativeMatrix { component, scope, rows, columns, share }) => {
            let [_, rows, columns] = matrix_sizes(&decoder.constants, [*scope, *rows, *columns])?;
            Ok(MatrixShape { component: *component, rows, columns, share: *share })
        }
        _ => Err(unsupported("a matrix instruction on a type that is no cooperative matrix")),
    }
}

/// Requires that all invocations of the subgroup are active.
fn require_convergence(decoder: &mut Decoder<'_>) {
    decoder.program.subgroups = decoder.program.subgroups.max(SubgroupUse::Operations);
    decoder.push_instruction(LaneInstruction::Converged);
}

fn result_type(instruction: &Instruction) -> Result<Id, Unsupported> {
    instruction
        .result_type
        .ok_or_else(|| unsupported(format!("Op{:?} without a type", instruction.op)))
}

fn typed_pointer(decoder: &mut Decoder<'_>, pointer_id: Id) -> Result<Pointer, Unsupported> {
    if super::access_chain::is_untyped(decoder, pointer_id)? {
        return Err(unsupported("a cooperative matrix behind an untyped pointer"));
    }
    decoder.pointer_of(pointer_id)
}

fn load_matrix(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let ty = result_type(instruction)?;
    let pointer = typed_pointer(decoder, operand_id(instruction, 0)?)?;
    let element_pointers = element_pointers(decoder, instruction, [1, 2], pointer, ty)?;
    let mut scalars = Vec::new();
    for element in element_pointers {
        scalars.extend_from_slice(&super::memory::load_from(decoder, &element)?);
    }
    decoder.define_result(instruction, DecodedValue::Scalars(scalars.into()));
    Ok(())
}

fn store_matrix(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let pointer = typed_pointer(decoder, operand_id(instruction, 0)?)?;
    let object_id = operand_id(instruction, 1)?;
    let object_scalars = decoder.scalars_of(object_id)?;
    let element_pointers =
        element_pointers(decoder, instruction, [2, 3], pointer, decoder.type_of(object_id)?)?;
    let scalars_per_element = object_scalars.len() / element_pointers.len().max(1);
    for (element_pointer, element_scalars) in
        element_pointers.iter().zip(object_scalars.chunks(scalars_per_element.max(1)))
    {
        super::memory::store_to(decoder, element_pointer, element_scalars)?;
    }
    Ok(())
}

/// Which index of an element is counted in strides.
#[derive(Clone, Copy)]
enum MajorOrder {
    Row,
    Column,
}

/// Pointers to the elements of an invocation; the operands at the positions given are memory layout
/// and stride.
fn element_pointers(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    [order_operand, stride_operand]: [usize; 2],
    pointer: Pointer,
    matrix_type: Id,
) -> Result<Vec<Pointer>, Unsupported> {
    require_convergence(decoder);
    let matrix_shape = matrix_shape(decoder, matrix_type)?;
    let major_order = match decoder.constants.scalar_word(operand_id(instruction, order_operand)?) {
        Some(0) => MajorOrder::Row,
        Some(1) => MajorOrder::Column,
        _ => {
            return Err(unsupported(
                "a cooperative matrix in memory that is neither row-major nor column-major",
            ));
        }
    };
    let pointee_type = pointer.pointee_type;
    let matrix_start = matrix_start(decoder, pointer)?;
    let [pointee_bytes, element_bytes] =
        pointee_and_element_bytes(decoder, &matrix_start, pointee_type, matrix_shape.component)?;
    let stride_word = match instruction.id(stride_operand) {
        Some(stride_id) => super::access_chain::index_word(decoder, stride_id)?.0,
        None => return Err(unsupported("a cooperative matrix in memory without a stride")),
    };
    let pointee_bytes = decoder.constant_word(pointee_bytes);
    let stride_bytes = compute_binary(
        decoder,
        Binary::IMul,
        NumberFormat::WORD,
        stride_word.into(),
        pointee_bytes.into(),
    )?;
    let invocation = decoder.lane_register(PerLaneValue::SubgroupInvocation);
    let mut pointers = Vec::new();
    for share_index in 0..matrix_shape.share {
        let first_element = decoder.constant_word(share_index * decoder.subgroup_size);
        let element_number = compute_binary(
            decoder,
            Binary::IAdd,
            NumberFormat::WORD,
            invocation.into(),
            first_element.into(),
        )?;
        let columns = decoder.constant_word(matrix_shape.columns);
        let row = compute_binary(
            decoder,
            Binary::UDiv,
            NumberFormat::WORD,
            element_number,
            columns.into(),
        )?;
        let column = compute_binary(
            decoder,
            Binary::UMod,
            NumberFormat::WORD,
            element_number,
            columns.into(),
        )?;
        let (line_offset, offset_in_line) = match major_order {
            MajorOrder::Row => (row, column),
            MajorOrder::Column => (column, row),
        };
        let element_bytes = decoder.constant_word(element_bytes);
        let line_offset =
            compute_binary(decoder, Binary::IMul, NumberFormat::WORD, line_offset, stride_bytes)?;
        let offset_in_line = compute_binary(
            decoder,
            Binary::IMul,
            NumberFormat::WORD,
            offset_in_line,
            element_bytes.into(),
        )?;
        let bytes =
            compute_binary(decoder, Binary::IAdd, NumberFormat::WORD, line_offset, offset_in_line)?;
        pointers.push(offset_pointer(&matrix_start, bytes.low, matrix_shape.component)?);
    }
    Ok(pointers)
}

/// The pointer to a matrix; in workgroup memory with the bounds of its variable.
fn matrix_start(decoder: &mut Decoder<'_>, pointer: Pointer) -> Result<Pointer, Unsupported> {
    match &pointer.target {
        PointerTarget::Memory { root: AccessRoot::Workgroup, .. } => {
            super::variable_pointer::bounded_pointer(decoder, &pointer)
        }
        PointerTarget::Memory { .. } => Ok(pointer),
        _ => Err(unsupported(
            "a cooperative matrix in memory that is no buffer or workgroup variable",
        )),
    }
}

/// The pointer to an element at a byte offset.
fn offset_pointer(
    start: &Pointer,
    byte_offset: Reg,
    component_type: Id,
) -> Result<Pointer, Unsupported> {
    let mut target = start.target.clone();
    let PointerTarget::Memory { dimensions, arrangement, .. } = &mut target else {
        return Err(unsupported("a cooperative matrix in no memory"));
    };
    if let MemoryArrangement::Explicit(_) | MemoryArrangement::Spread(_) = arrangement {
        *arrangement = MemoryArrangement::Explicit(None);
    }
    dimensions.push(Dimension {
        index: byte_offset,
        stride: 1,
        bound: DimensionBound::Fixed(u32::MAX),
        signed: true,
    });
    Ok(Pointer { target, pointee_type: component_type })
}

/// Bytes of the pointee, and of an element.
fn pointee_and_element_bytes(
    decoder: &Decoder<'_>,
    start: &Pointer,
    pointee_type: Id,
    component_type: Id,
) -> Result<[u32; 2], Unsupported> {
    let (types, constants) = (&decoder.types, &decoder.constants);
    match &start.target {
        PointerTarget::Memory { arrangement: MemoryArrangement::Flat, .. } => {
            if types.scalar_of(pointee_type).and_then(|type_id| types.get(type_id))
                != types.get(component_type)
            {
                return Err(unsupported(
                    "a cooperative matrix in workgroup memory of another type",
                ));
            }
            Ok([
                4 * layout::flat_size(types, constants, pointee_type)?,
                4 * layout::flat_size(types, constants, component_type)?,
            ])
        }
        _ => {
            let parts = layout::scalar_layouts(
                types,
                constants,
                pointee_type,
                MemoryArrangement::Explicit(None),
            )?;
            let pointee_bytes =
                parts.iter().map(|part| part.offset + part.bytes).max().unwrap_or(0);
            Ok([pointee_bytes, layout::scalar_bytes(types, component_type)?])
        }
    }
}

/// Elements of each invocation.
fn matrix_length(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let element_count = matrix_shape(decoder, operand_id(instruction, 0)?)?.share;
    let length_register = decoder.constant_word(element_count);
    decoder.define_result(
        instruction,
        DecodedValue::Scalars(Arc::new([Scalar::Word(length_register)])),
    );
    Ok(())
}

fn multiply_add(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    require_convergence(decoder);
    let ty = result_type(instruction)?;
    let result_shape = matrix_shape(decoder, ty)?;
    let first_shape = matrix_shape(decoder, decoder.type_of(operand_id(instruction, 0)?)?)?;
    let second_shape = matrix_shape(decoder, decoder.type_of(operand_id(instruction, 1)?)?)?;
    if (first_shape.rows, second_shape.columns, first_shape.columns)
        != (result_shape.rows, result_shape.columns, second_shape.rows)
    {
        return Err(unsupported("a product of cooperative matrices that do not fit"));
    }
    let [first_factor, second_factor, addend] =
        [0, 1, 2].map(|index| number_operand(decoder, instruction, index));
    let (first_factor, second_factor, addend) = (first_factor?, second_factor?, addend?);
    let operands = instruction.operands.iter().find_map(|operand| match operand {
        Operand::CooperativeMatrixOperands(operands) => Some(*operands),
        _ => None,
    });
    let has_operand = |operand_flag: CooperativeMatrixOperands| {
        operands.is_some_and(|operand_flags| operand_flags.contains(operand_flag))
    };
    let signedness_of = |operand_flag| {
        if has_operand(operand_flag) { Signedness::Signed } else { Signedness::Unsigned }
    };
    let result_format = decoder.result_form(instruction)?;
    let product = MatrixProduct {
        inner: first_shape.columns as usize,
        columns: result_shape.columns as usize,
        forms: [first_factor.number_format, second_factor.number_format, addend.number_format],
        signs: [
            signedness_of(CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR),
            signedness_of(CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR),
            signedness_of(CooperativeMatrixOperands::MATRIX_C_SIGNED_COMPONENTS_KHR),
            signedness_of(CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR),
        ],
        sum: if has_operand(CooperativeMatrixOperands::SATURATING_ACCUMULATION_KHR) {
            SumKind::Accumulated
        } else {
            SumKind::Plain
        },
        result: result_format,
    };
    if product.forms.iter().any(|form| form.is_float() != result_format.is_float()) {
        return Err(unsupported("a product of cooperative matrices of integers and floats"));
    }
    let result_numbers: Vec<NumberRegisters> =
        (0..result_shape.share).map(|_| decoder.new_number(result_format)).collect();
    define_numbers(decoder, instruction, &result_numbers);
    let factors = MatrixFactors {
        product,
        a: first_factor.parts,
        b: second_factor.parts,
        c: addend.parts,
        to: result_numbers,
    };
    decoder.push_instruction(LaneInstruction::Product(Arc::new(factors)));
    Ok(())
}

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

use super::meaning::{Meaning, Row, row};
use super::number::{compute2, define, operand};
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::layout::Arrangement;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Location, Pointer, Value};
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

pub(crate) const TABLE: &[Row] = &[
    row(Op::CooperativeMatrixLoadKHR, Meaning::Special(load)),
    row(Op::CooperativeMatrixStoreKHR, Meaning::Special(store)),
    row(Op::CooperativeMatrixMulAddKHR, Meaning::Special(multiply)),
    row(Op::CooperativeMatrixLengthKHR, Meaning::Special(length)),
];

/// Tells how many elements of each matrix an invocation holds.
pub(crate) fn share(
    types: &mut Types,
    constants: &Constants,
    subgroup_size: u32,
) -> Result<(), Unsupported> {
    types.share_matrices(|ids| {
        let [scope, rows, columns] = sizes(constants, ids)?;
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

fn sizes(constants: &Constants, ids: [Id; 3]) -> Result<[u32; 3], Unsupported> {
    let [scope, rows, columns] = ids.map(|id| constants.scalar_word(id));
    match (scope, rows, columns) {
        (Some(scope), Some(rows), Some(columns)) => Ok([scope, rows, columns]),
        _ => Err(unsupported("a cooperative matrix whose size is no constant")),
    }
}

/// A matrix type: its component, rows, columns and share.
struct Matrix {
    component: Id,
    rows: u32,
    columns: u32,
    share: u32,
}

fn matrix(decoder: &Decoder<'_>, ty: Id) -> Result<Matrix, Unsupported> {
    match decoder.types.get(ty) {
        Some(Type::CooperativeMatrix { component, scope, rows, columns, share }) => {
            let [_, rows, columns] = sizes(&decoder.constants, [*scope, *rows, *columns])?;
            Ok(Matrix { component: *component, rows, columns, share: *share })
        }
        _ => Err(unsupported("a matrix instruction on a type that is no cooperative matrix")),
    }
}

/// All invocations of the subgroup must come here together.
fn converge(decoder: &mut Decoder<'_>) {
    decoder.program.subgroups = decoder.program.subgroups.max(SubgroupUse::Operations);
    decoder.push(LaneInstruction::Converged);
}

fn result_type(instruction: &Instruction) -> Result<Id, Unsupported> {
    instruction
        .result_type
        .ok_or_else(|| unsupported(format!("Op{:?} without a type", instruction.op)))
}

fn typed_pointer(decoder: &mut Decoder<'_>, pointer: Id) -> Result<Pointer, Unsupported> {
    if super::access_chain::is_untyped(decoder, pointer)? {
        return Err(unsupported("a cooperative matrix behind an untyped pointer"));
    }
    decoder.pointer(pointer)
}

fn load(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let ty = result_type(instruction)?;
    let pointer = typed_pointer(decoder, id(instruction, 0)?)?;
    let elements = elements(decoder, instruction, [1, 2], &pointer, ty)?;
    let mut scalars = Vec::new();
    for element in elements {
        scalars.extend_from_slice(&super::memory::load_from(decoder, &element)?);
    }
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

fn store(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let pointer = typed_pointer(decoder, id(instruction, 0)?)?;
    let object = id(instruction, 1)?;
    let value = decoder.scalars(object)?;
    let elements = elements(decoder, instruction, [2, 3], &pointer, decoder.type_of(object)?)?;
    let each = value.len() / elements.len().max(1);
    for (element, value) in elements.iter().zip(value.chunks(each.max(1))) {
        super::memory::store_to(decoder, element, value)?;
    }
    Ok(())
}

/// Which index of an element is counted in strides.
#[derive(Clone, Copy)]
enum Major {
    Row,
    Column,
}

/// Pointers to the elements of an invocation; the operands at the positions given are memory layout
/// and stride.
fn elements(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    [order, stride]: [usize; 2],
    pointer: &Pointer,
    ty: Id,
) -> Result<Vec<Pointer>, Unsupported> {
    converge(decoder);
    let matrix = matrix(decoder, ty)?;
    let major = match decoder.constants.scalar_word(id(instruction, order)?) {
        Some(0) => Major::Row,
        Some(1) => Major::Column,
        _ => {
            return Err(unsupported(
                "a cooperative matrix in memory that is neither row-major nor column-major",
            ));
        }
    };
    let start = start(decoder, pointer)?;
    let [pointed, each] = units(decoder, &start, pointer.ty, matrix.component)?;
    let stride = match instruction.id(stride) {
        Some(stride) => super::access_chain::index_word(decoder, stride)?.0,
        None => return Err(unsupported("a cooperative matrix in memory without a stride")),
    };
    let pointed = decoder.constant_word(pointed);
    let stride =
        compute2(decoder, Binary::IMul, NumberFormat::WORD, stride.into(), pointed.into())?;
    let invocation = decoder.lane_register(PerLaneValue::SubgroupInvocation);
    let mut pointers = Vec::new();
    for number in 0..matrix.share {
        let first = decoder.constant_word(number * decoder.subgroup_size);
        let place =
            compute2(decoder, Binary::IAdd, NumberFormat::WORD, invocation.into(), first.into())?;
        let columns = decoder.constant_word(matrix.columns);
        let row = compute2(decoder, Binary::UDiv, NumberFormat::WORD, place, columns.into())?;
        let column = compute2(decoder, Binary::UMod, NumberFormat::WORD, place, columns.into())?;
        let (line, within) = match major {
            Major::Row => (row, column),
            Major::Column => (column, row),
        };
        let each = decoder.constant_word(each);
        let line = compute2(decoder, Binary::IMul, NumberFormat::WORD, line, stride)?;
        let within = compute2(decoder, Binary::IMul, NumberFormat::WORD, within, each.into())?;
        let bytes = compute2(decoder, Binary::IAdd, NumberFormat::WORD, line, within)?;
        pointers.push(moved(&start, bytes.low, matrix.component)?);
    }
    Ok(pointers)
}

/// Where a matrix begins: in workgroup memory with the bounds of its variable.
fn start(decoder: &mut Decoder<'_>, pointer: &Pointer) -> Result<Pointer, Unsupported> {
    match &pointer.to {
        Location::Memory { root: AccessRoot::Workgroup, .. } => {
            super::variable_pointer::bounded(decoder, pointer)
        }
        Location::Memory { .. } => Ok(pointer.clone()),
        _ => Err(unsupported(
            "a cooperative matrix in memory that is no buffer or workgroup variable",
        )),
    }
}

/// The pointer to an element so many bytes behind the start.
fn moved(start: &Pointer, bytes: Reg, component: Id) -> Result<Pointer, Unsupported> {
    let mut to = start.to.clone();
    let Location::Memory { dimensions, arrangement, .. } = &mut to else {
        return Err(unsupported("a cooperative matrix in no memory"));
    };
    if let Arrangement::Explicit(_) | Arrangement::Spread(_) = arrangement {
        *arrangement = Arrangement::Explicit(None);
    }
    dimensions.push(Dimension {
        index: bytes,
        stride: 1,
        bound: DimensionBound::Fixed(u32::MAX),
        signed: true,
    });
    Ok(Pointer { to, ty: component })
}

/// Bytes of what a pointer points to, and of an element.
fn units(
    decoder: &Decoder<'_>,
    start: &Pointer,
    pointee: Id,
    component: Id,
) -> Result<[u32; 2], Unsupported> {
    let (types, constants) = (&decoder.types, &decoder.constants);
    match &start.to {
        Location::Memory { arrangement: Arrangement::Flat, .. } => {
            if types.scalar_of(pointee).and_then(|ty| types.get(ty)) != types.get(component) {
                return Err(unsupported(
                    "a cooperative matrix in workgroup memory of another type",
                ));
            }
            Ok([
                4 * layout::flat_size(types, constants, pointee)?,
                4 * layout::flat_size(types, constants, component)?,
            ])
        }
        _ => {
            let parts = layout::components(types, constants, pointee, Arrangement::Explicit(None))?;
            let pointed = parts.iter().map(|part| part.offset + part.bytes).max().unwrap_or(0);
            Ok([pointed, layout::scalar_bytes(types, component)?])
        }
    }
}

/// Elements of each invocation.
fn length(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let share = matrix(decoder, id(instruction, 0)?)?.share;
    let to = decoder.constant_word(share);
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Word(to)])));
    Ok(())
}

fn multiply(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    converge(decoder);
    let ty = result_type(instruction)?;
    let shape = matrix(decoder, ty)?;
    let first = matrix(decoder, decoder.type_of(id(instruction, 0)?)?)?;
    let second = matrix(decoder, decoder.type_of(id(instruction, 1)?)?)?;
    if (first.rows, second.columns, first.columns) != (shape.rows, shape.columns, second.rows) {
        return Err(unsupported("a product of cooperative matrices that do not fit"));
    }
    let [a, b, c] = [0, 1, 2].map(|index| operand(decoder, instruction, index));
    let (a, b, c) = (a?, b?, c?);
    let operands = instruction.operands.iter().find_map(|operand| match operand {
        Operand::CooperativeMatrixOperands(operands) => Some(*operands),
        _ => None,
    });
    let has = |one: CooperativeMatrixOperands| operands.is_some_and(|all| all.contains(one));
    let sign = |one| if has(one) { Signedness::Signed } else { Signedness::Unsigned };
    let result = decoder.result_form(instruction)?;
    let product = MatrixProduct {
        inner: first.columns as usize,
        columns: shape.columns as usize,
        forms: [a.form, b.form, c.form],
        signs: [
            sign(CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR),
            sign(CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR),
            sign(CooperativeMatrixOperands::MATRIX_C_SIGNED_COMPONENTS_KHR),
            sign(CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR),
        ],
        sum: if has(CooperativeMatrixOperands::SATURATING_ACCUMULATION_KHR) {
            SumKind::Accumulated
        } else {
            SumKind::Plain
        },
        result,
    };
    if product.forms.iter().any(|form| form.is_float() != result.is_float()) {
        return Err(unsupported("a product of cooperative matrices of integers and floats"));
    }
    let to: Vec<NumberRegisters> = (0..shape.share).map(|_| decoder.parts(result)).collect();
    let factors = MatrixFactors { product, a: a.parts, b: b.parts, c: c.parts, to: to.clone() };
    decoder.push(LaneInstruction::Product(Arc::new(factors)));
    define(decoder, instruction, &to);
    Ok(())
}

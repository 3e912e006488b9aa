//! Every scalar instruction that the engine runs has a row, and the columns of a row agree with
//! what is computed.

use super::super::sized::{NumberFormat, Operation, SizedOperator, Width};
use super::super::undefined::UndefinedExtent;
use super::*;
use crate::opcodes::{EngineSupport, opcode_groups};
use std::collections::BTreeSet;

/// Instructions of families of scalar operations that are made of several operations, or only move
/// bits.
const COMPOSED: [Op; 13] = [
    Op::Bitcast,
    Op::VectorTimesScalar,
    Op::MatrixTimesScalar,
    Op::VectorTimesMatrix,
    Op::MatrixTimesVector,
    Op::MatrixTimesMatrix,
    Op::OuterProduct,
    Op::Dot,
    Op::Any,
    Op::All,
    Op::LogicalEqual,
    Op::LogicalNotEqual,
    Op::Select,
];
const LOGIC: [Op; 3] = [Op::LogicalOr, Op::LogicalAnd, Op::LogicalNot];

/// Instructions of GLSL.std.450 that are made of several operations.
const COMPOSED_EXTENDED: [GLOp; 10] = [
    GLOp::Length,
    GLOp::Distance,
    GLOp::Cross,
    GLOp::FaceForward,
    GLOp::Reflect,
    GLOp::Refract,
    GLOp::Determinant,
    GLOp::MatrixInverse,
    GLOp::PackDouble2x32,
    GLOp::UnpackDouble2x32,
];

/// The same operation as a part of two instructions, and instructions for fragments, which are not
/// run.
const NOT_ASKED: [GLOp; 5] = [
    GLOp::ModfStruct,
    GLOp::FrexpStruct,
    GLOp::InterpolateAtCentroid,
    GLOp::InterpolateAtSample,
    GLOp::InterpolateAtOffset,
];

fn sources() -> Vec<OperationSource> {
    all_operations().map(|(source, _)| source).collect()
}

#[test]
fn every_scalar_instruction_that_is_run_has_a_row() {
    let families = ["Conversions", "Arithmetic", "Bits", "Comparisons and logic"];
    let groups = opcode_groups()
        .filter(|group| group.support == EngineSupport::Engine && families.contains(&group.title));
    let (sources, mut missing) = (sources(), Vec::new());
    for op in groups.flat_map(|group| group.ops) {
        let known = scalar_operation(*op).is_some() || sources.contains(&PartOfCore(*op));
        if known == (COMPOSED.contains(op) || LOGIC.contains(op)) {
            missing.push(*op);
        }
    }
    assert!(missing.is_empty(), "without a row, or with one and composed: {missing:?}");
}

#[test]
fn every_extended_instruction_has_a_row_or_is_composed() {
    let sources = sources();
    for op in (0..=u8::MAX).filter_map(|number| GLOp::from_u32(number.into())) {
        let part = PartOfExtended(op);
        let known = extended_operation(op).is_some() || sources.contains(&part);
        let otherwise =
            COMPOSED_EXTENDED.contains(&op) || NOT_ASKED.contains(&op) || op == GLOp::IMix;
        assert_ne!(known, otherwise, "{op:?}");
    }
}

#[test]
fn no_instruction_is_two_operations() {
    let conversions: Vec<Op> = CONVERSIONS.iter().map(|row| row.op).collect();
    let mut seen: Vec<OperationSource> = Vec::new();
    for (source, operation) in all_operations() {
        let whole = matches!(source, Core(_) | Extended(_));
        let on_words = matches!((source, operation), (Core(op), ScalarOperation::Unary(_)) if conversions.contains(&op));
        if whole && !on_words {
            assert!(!seen.contains(&source), "{source:?} twice");
            seen.push(source);
        }
    }
}

/// What a row says of one operation.
struct Columns {
    name: String,
    op: SizedOperator,
    source: OperationSource,
    operands: OperandKind,
    widths: OperationWidths,
    undefined: bool,
    jump: ResultJump,
    precision: ResultPrecision,
    folding: FoldingScope,
}

macro_rules! columns {
    ($operations:ident) => {
        $operations::ALL.iter().map(|operation| {
            let row = operation.row();
            Columns {
                name: format!("{operation:?}"),
                op: SizedOperator::$operations(*operation),
                source: row.source,
                operands: row.operands,
                widths: row.widths,
                undefined: !row.undefined.is_empty(),
                jump: row.jump,
                precision: row.precision,
                folding: row.folding,
            }
        })
    };
}

fn rows() -> Vec<Columns> {
    columns!(Unary).chain(columns!(Binary)).chain(columns!(Ternary)).collect()
}

/// Of other widths than that of words.
fn forms(operands: OperandKind) -> Vec<NumberFormat> {
    match operands {
        OperandKind::Floats | OperandKind::Exponent => {
            vec![
                NumberFormat::Float(Width::W16),
                NumberFormat::Float(Width::W64),
                NumberFormat::Brain,
            ]
        }
        OperandKind::Integers
        | OperandKind::Signed
        | OperandKind::Unsigned
        | OperandKind::Field => {
            [Width::W8, Width::W16, Width::W64].map(NumberFormat::Integer).to_vec()
        }
    }
}

#[test]
fn operations_exist_on_the_widths_of_their_row() {
    for row in rows() {
        for form in forms(row.operands) {
            let exists = Operation::new(row.op, form, form).exists();
            assert_eq!(exists, row.widths == OperationWidths::All, "{} on {form:?}", row.name);
        }
    }
}

/// Integers jump and have one result; what is rounded or bounded is a float; only exact results are
/// folded.
#[test]
fn the_columns_of_a_row_agree() {
    for row in rows() {
        let floats = matches!(row.operands, OperandKind::Floats | OperandKind::Exponent);
        let converts = matches!(row.operands, OperandKind::Signed | OperandKind::Unsigned);
        let unpacks = row.name.starts_with("Unpack");
        let name = &row.name;
        if !floats && !converts && !unpacks {
            assert!(row.jump == ResultJump::Result, "{name}");
            assert!(matches!(row.precision, ResultPrecision::Fixed), "{name}");
            assert!(!row.op.is_rounded(), "{name}");
        }
        if row.folding != FoldingScope::Never {
            let quantizes = row.source == Core(Op::QuantizeToF16);
            assert!(!floats || quantizes, "{name}: folding of floats is left to implementations");
        }
        assert_eq!(row.undefined && row.widths == OperationWidths::All, {
            let form = forms(row.operands)[0];
            Operation::new(row.op, form, form).may_be_undefined()
                && row.widths == OperationWidths::All
        });
    }
}

#[test]
fn a_rule_is_one_for_words_numbers_and_constants() {
    let remainder = Binary::SRem;
    let met = |a: i32, b: i32| {
        remainder.undefined_rules().iter().find(|rule| (rule.is_met)(a as u32, b as u32))
    };
    let form = NumberFormat::Integer(Width::W64);
    for (a, b, extent) in [
        (7, 2, None),
        (-7, 2, Some(UndefinedExtent::Value)),
        (7, 0, Some(UndefinedExtent::Behaviour)),
    ] {
        assert_eq!(met(a, b).map(|rule| rule.then.extent), extent);
        let wide = Operation::new(SizedOperator::Binary(remainder), form, form);
        let found = wide.undefined_for(i64::from(a) as u64, i64::from(b) as u64, 0);
        assert_eq!(found.map(|undefined| undefined.extent), extent);
    }
}

/// The bounds of the specification are all there: a row whose bound is lost would be taken for
/// exact.
#[test]
fn as_many_operations_are_bounded_as_the_specification_bounds() {
    let bounded: BTreeSet<String> =
        bounds_table().iter().map(|row| format!("{:?}", row.operation)).collect();
    assert_eq!(bounded.len(), 36);
}

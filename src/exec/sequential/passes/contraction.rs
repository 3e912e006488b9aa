//! Contraction: a product and the sum it goes into as one operation with one rounding.
//!
//! Knows: registers of a program before they are shared. Promises: a sum is changed only where its
//! product is computed before it in the same block, neither is decorated NoContraction, and the
//! factors still hold what they held then. The product itself stays. Does not cover: products of
//! other blocks.

use crate::ir::{LaneInstruction, NumberRegisters, Program, Reg, RegisterUse, Scalar};
use crate::settings::variation::Preferred;
use rustc_hash::FxHashMap;
use vkcert_spirv::operation::operator::{Binary, Ternary};
use vkcert_spirv::operation::sized::{NumberFormat, Operation, SizedOperator, Width};

/// Contracts every sum that may be contracted.
pub(super) fn contract_sums(program: &mut Program, preferred: Preferred) {
    let Program { blocks, freedom, .. } = program;
    for block in blocks {
        let mut factors_of_product: FxHashMap<Reg, [Reg; 2]> = FxHashMap::default();
        for step in &mut block.steps {
            let is_contractible = !freedom.separate.contains(&step.source_index);
            if is_contractible
                && let Some(action) =
                    contracted_instruction(&step.instruction, &factors_of_product, preferred)
            {
                step.instruction = action;
            }
            let mut written_registers = Vec::new();
            step.instruction.visit_registers(&mut |scalar, register_use| {
                if let (Scalar::Word(reg), RegisterUse::Write | RegisterUse::Update) =
                    (*scalar, register_use)
                {
                    written_registers.push(reg);
                }
            });
            factors_of_product.retain(|product, factors| {
                !written_registers.iter().any(|reg| reg == product || factors.contains(reg))
            });
            match &step.instruction {
                LaneInstruction::Binary { op: Binary::FMul, to, a, b } if is_contractible => {
                    factors_of_product.insert(*to, [*a, *b]);
                }
                LaneInstruction::Sized { operation, to, from }
                    if is_contractible
                        && is_on_words(operation, SizedOperator::Binary(Binary::FMul)) =>
                {
                    factors_of_product.insert(to.low, [from[0].low, from[1].low]);
                }
                // A copy forwards the product. So does a flush, because a product that is not
                // rounded is not flushed either.
                LaneInstruction::Copy { to, from } => {
                    forward_product(&mut factors_of_product, *to, *from)
                }
                LaneInstruction::Sized { operation, to, from }
                    if is_on_words(operation, SizedOperator::Flush) =>
                {
                    forward_product(&mut factors_of_product, to.low, from[0].low);
                }
                _ => {}
            }
        }
    }
}

/// Whether an operation is this one, on floats of 32 bits.
fn is_on_words(operation: &Operation, op: SizedOperator) -> bool {
    operation.op == op && operation.from == NumberFormat::Float(Width::W32)
}

fn forward_product(factors_of_product: &mut FxHashMap<Reg, [Reg; 2]>, to: Reg, from: Reg) {
    if let Some(factors) = factors_of_product.get(&from).copied() {
        factors_of_product.insert(to, factors);
    }
}

/// A sum with a product in it, as one operation.
fn contracted_instruction(
    action: &LaneInstruction,
    factors_of_product: &FxHashMap<Reg, [Reg; 2]>,
    preferred: Preferred,
) -> Option<LaneInstruction> {
    match action {
        LaneInstruction::Binary { op, to, a, b } => {
            let (op, [a, b, c]) =
                contracted_operation(*op, [*a, *b], factors_of_product, preferred)?;
            Some(LaneInstruction::Ternary { op, to: *to, a, b, c })
        }
        LaneInstruction::Sized { operation, to, from } => {
            let (SizedOperator::Binary(op), NumberFormat::Float(Width::W32)) =
                (operation.op, operation.from)
            else {
                return None;
            };
            let (op, operands) = contracted_operation(
                op,
                [from[0].low, from[1].low],
                factors_of_product,
                preferred,
            )?;
            let operation = Operation { op: SizedOperator::Ternary(op), ..*operation };
            Some(LaneInstruction::Sized {
                operation,
                to: *to,
                from: operands.map(NumberRegisters::from).into(),
            })
        }
        _ => None,
    }
}

/// The operation that a sum becomes, with its operands.
fn contracted_operation(
    op: Binary,
    [a, b]: [Reg; 2],
    factors_of_product: &FxHashMap<Reg, [Reg; 2]>,
    preferred: Preferred,
) -> Option<(Ternary, [Reg; 3])> {
    let (first_factors, second_factors) =
        match (factors_of_product.get(&a), factors_of_product.get(&b), preferred) {
            (Some(_), second_factors @ Some(_), Preferred::Second) => (None, second_factors),
            (first_factors, second_factors, _) => (first_factors, second_factors),
        };
    let (op, [x, y], c) = match (op, first_factors, second_factors) {
        (Binary::FAdd, Some(factors), _) => (Ternary::ContractedAdd, factors, b),
        (Binary::FAdd, None, Some(factors)) => (Ternary::ContractedAdd, factors, a),
        (Binary::FSub, Some(factors), _) => (Ternary::ContractedSub, factors, b),
        (Binary::FSub, None, Some(factors)) => (Ternary::ContractedSubFrom, factors, a),
        _ => return None,
    };
    Some((op, [*x, *y, c]))
}

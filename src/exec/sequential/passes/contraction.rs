//! Contraction: a product and the sum it goes into as one operation with one rounding.
//!
//! Knows: registers of a program before they are shared. Promises: a sum is changed only where its
//! product is computed before it in the same block, neither is decorated NoContraction, and the
//! factors still hold what they held then. The product itself stays. Does not cover: products of
//! other blocks.

use crate::ir::{LaneInstruction, NumberRegisters, Program, Reg, RegisterUse, Scalar};
use crate::settings::variation::Preferred;
use std::collections::HashMap;
use vkcert_spirv::operation::operator::{Binary, Ternary};
use vkcert_spirv::operation::sized::{NumberFormat, Operation, SizedOperator, Width};

/// Contracts every sum that may be contracted.
pub(super) fn contract(program: &mut Program, preferred: Preferred) {
    let Program { blocks, freedom, .. } = program;
    for block in blocks {
        let mut products: HashMap<Reg, [Reg; 2]> = HashMap::new();
        for step in &mut block.steps {
            let free = !freedom.separate.contains(&step.source_index);
            if free && let Some(action) = contracted(&step.instruction, &products, preferred) {
                step.instruction = action;
            }
            let mut written = Vec::new();
            step.instruction.visit_registers(&mut |scalar, using| {
                if let (Scalar::Word(reg), RegisterUse::Write | RegisterUse::Update) =
                    (*scalar, using)
                {
                    written.push(reg);
                }
            });
            products.retain(|product, factors| {
                !written.iter().any(|reg| reg == product || factors.contains(reg))
            });
            match &step.instruction {
                LaneInstruction::Binary { op: Binary::FMul, to, a, b } if free => {
                    products.insert(*to, [*a, *b]);
                }
                LaneInstruction::Sized { operation, to, from }
                    if free && is_on_words(operation, SizedOperator::Binary(Binary::FMul)) =>
                {
                    products.insert(to.low, [from[0].low, from[1].low]);
                }
                // Through a variable; a product that is not rounded is not flushed, either.
                LaneInstruction::Copy { to, from } => pass_on(&mut products, *to, *from),
                LaneInstruction::Sized { operation, to, from }
                    if is_on_words(operation, SizedOperator::Flush) =>
                {
                    pass_on(&mut products, to.low, from[0].low);
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

fn pass_on(products: &mut HashMap<Reg, [Reg; 2]>, to: Reg, from: Reg) {
    if let Some(factors) = products.get(&from).copied() {
        products.insert(to, factors);
    }
}

/// A sum with a product in it, as one operation.
fn contracted(
    action: &LaneInstruction,
    products: &HashMap<Reg, [Reg; 2]>,
    preferred: Preferred,
) -> Option<LaneInstruction> {
    match action {
        LaneInstruction::Binary { op, to, a, b } => {
            let (op, [a, b, c]) = contracted_as(*op, [*a, *b], products, preferred)?;
            Some(LaneInstruction::Ternary { op, to: *to, a, b, c })
        }
        LaneInstruction::Sized { operation, to, from } => {
            let (SizedOperator::Binary(op), NumberFormat::Float(Width::W32)) =
                (operation.op, operation.from)
            else {
                return None;
            };
            let (op, operands) =
                contracted_as(op, [from[0].low, from[1].low], products, preferred)?;
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
fn contracted_as(
    op: Binary,
    [a, b]: [Reg; 2],
    products: &HashMap<Reg, [Reg; 2]>,
    preferred: Preferred,
) -> Option<(Ternary, [Reg; 3])> {
    let (first, second) = match (products.get(&a), products.get(&b), preferred) {
        (Some(_), second @ Some(_), Preferred::Second) => (None, second),
        (first, second, _) => (first, second),
    };
    let (op, [x, y], c) = match (op, first, second) {
        (Binary::FAdd, Some(factors), _) => (Ternary::ContractedAdd, factors, b),
        (Binary::FAdd, None, Some(factors)) => (Ternary::ContractedAdd, factors, a),
        (Binary::FSub, Some(factors), _) => (Ternary::ContractedSub, factors, b),
        (Binary::FSub, None, Some(factors)) => (Ternary::ContractedSubFrom, factors, a),
        _ => return None,
    };
    Some((op, [*x, *y, c]))
}

//! Contraction: a product and the sum it goes into as one operation with one rounding.
//!
//! Knows: registers of a program before they are shared. Promises: a sum is changed only where its product is computed before
//! it in the same block, neither is decorated NoContraction, and the factors still hold what they held then. The product
//! itself stays. Does not cover: products of other blocks.

use super::ops::element::{Binary, Ternary};
use super::program::{Action, Program, Reg, Scalar, Use};
use super::variation::Preferred;
use std::collections::HashMap;

/// Contracts every sum that may be contracted.
pub fn contract(program: &mut Program, preferred: Preferred) {
    let Program { blocks, freedom, .. } = program;
    for block in blocks {
        let mut products: HashMap<Reg, [Reg; 2]> = HashMap::new();
        for step in &mut block.steps {
            let free = !freedom.separate.contains(&step.place);
            if free && let Some(action) = contracted(&step.action, &products, preferred) {
                step.action = action;
            }
            let mut written = Vec::new();
            step.action.registers(&mut |scalar, using| {
                if let (Scalar::Word(reg), Use::Write | Use::Update) = (*scalar, using) {
                    written.push(reg);
                }
            });
            products.retain(|product, factors| !written.iter().any(|reg| reg == product || factors.contains(reg)));
            match &step.action {
                Action::Binary { op: Binary::FMul, to, a, b } if free => drop(products.insert(*to, [*a, *b])),
                // Through a variable.
                Action::Copy { to, from } => {
                    if let Some(factors) = products.get(from).copied() {
                        products.insert(*to, factors);
                    }
                }
                _ => {}
            }
        }
    }
}

/// A sum with a product in it, as one operation.
fn contracted(action: &Action, products: &HashMap<Reg, [Reg; 2]>, preferred: Preferred) -> Option<Action> {
    let Action::Binary { op, to, a, b } = action else { return None };
    let (first, second) = match (products.get(a), products.get(b), preferred) {
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
    Some(Action::Ternary { op, to: *to, a: *x, b: *y, c: *c })
}

//! Passes over a decoded program, from copies to registers.
//!
//! Promises: none of this can be seen in results. A register that lives in one block shares its
//! place with others; an operand is looked at for definedness only where some path can leave it
//! undefined (a forward may-analysis), and an operation for an undefined result only where its
//! operands are not constants that rule it out.

mod contraction;
mod copy_propagation;
mod dead_code;
mod definedness;
mod occurrences;
mod register_allocation;

use super::decode::Known;
use super::ir::*;
use crate::settings::variation::Products;
use copy_propagation::propagate_copies;
use definedness::{find_suspects, find_undefined_results};
use register_allocation::allocate;

/// Makes a decoded program ready to run.
pub(crate) fn run(program: &mut Program, known: &Known) {
    propagate_copies(program);
    if let Some(Products::Contracted(preferred)) =
        known.variation.map(|variation| variation.products)
    {
        contraction::contract(program, preferred);
    }
    find_undefined_results(program);
    let may = find_suspects(program, known);
    dead_code::mark_dead_code(program);
    allocate(program, &may);
}

//! Passes over a decoded program, from copies to registers.
//!
//! Promises: no pass changes a result. A register that lives in one block shares its place with
//! others; an operand is checked for definedness at run time only where some path can leave it
//! undefined (a forward may-analysis), and an operation for an undefined result only where its
//! operands are not constants that rule it out.

mod contraction;
mod copy_propagation;
mod dead_code;
mod definedness;
mod occurrences;
mod register_allocation;

use super::decode::DispatchFacts;
use super::ir::*;
use crate::settings::variation::Products;
use copy_propagation::propagate_copies;
use definedness::{find_operands_to_check, find_undefined_results};
use register_allocation::allocate_registers;

/// Makes a decoded program ready to run.
pub(crate) fn run_passes(program: &mut Program, dispatch_facts: &DispatchFacts) {
    propagate_copies(program);
    if let Some(Products::Contracted(preferred)) =
        dispatch_facts.variation.map(|variation| variation.products)
    {
        contraction::contract_sums(program, preferred);
    }
    find_undefined_results(program);
    let maybe_undefined = find_operands_to_check(program, dispatch_facts);
    dead_code::mark_dead_code(program);
    allocate_registers(program, &maybe_undefined);
}

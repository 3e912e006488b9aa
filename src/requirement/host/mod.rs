//! What an `[[interface]]` says of the host program: its expressions, and statements about all
//! values of its parameters.
//!
//! Does not cover: what a kernel makes of these values (`coupling`).

pub mod decide;
pub mod expression;
#[cfg(test)]
mod expression_tests;
pub mod interval;
pub mod parser;

use decide::HostModel;
use std::collections::BTreeMap;
use vkcert_model::requirement::Interface;

/// The values that the host gives to specialization constants, by id; none where a value is not the
/// same for all parameters, or is no expression.
pub fn specialized_values(interface: &Interface) -> BTreeMap<u32, Option<i128>> {
    // No value depends on the local size.
    let host = HostModel::from_interface(interface, [1; 3]).ok();
    let constant_value = |text: &str| {
        let expression = host.as_ref()?.parse_expression(text, "a specialization constant").ok()?;
        let enclosing_interval = host.as_ref()?.value_interval(&expression);
        (enclosing_interval.low == enclosing_interval.high).then_some(enclosing_interval.low)
    };
    interface.specialization.iter().map(|row| (row.id, constant_value(&row.value))).collect()
}

//! What an `[[interface]]` says of the host program: its expressions, and statements about all
//! values of its parameters.
//!
//! Does not cover: what a kernel makes of these values (`coupling`).

pub mod decide;
#[cfg(test)]
mod decide_tests;
pub mod expression;
#[cfg(test)]
mod expression_tests;
pub mod interval;
#[cfg(test)]
mod interval_tests;
pub mod parser;
#[cfg(test)]
mod parser_tests;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specialization_that_depends_on_parameters_has_no_value() {
        let value_texts = ["8 * 2", "n", "fixed + 1", "n - n", "unknown", "-5"];
        let rows: Vec<_> = value_texts
            .iter()
            .enumerate()
            .map(|(index, text)| serde_json::json!({ "id": index + 3, "value": text }))
            .collect();
        let mut interface = serde_json::json!({
            "kernel": "k",
            "parameters": [{ "name": "n", "type": "int32", "min": 1, "max": 4 }],
            "locals": [{ "name": "fixed", "type": "int32", "value": "20" }],
            "groups": ["1", "1", "1"],
            "specialization": rows,
        });
        let specialized = |interface: &serde_json::Value| {
            specialized_values(&serde_json::from_value(interface.clone()).unwrap())
        };
        let values = [Some(16), None, Some(21), None, None, Some(-5)];
        assert_eq!(specialized(&interface), BTreeMap::from_iter((3..).zip(values)));
        interface["parameters"][0]["type"] = "float32".into();
        assert_eq!(specialized(&interface), BTreeMap::from_iter((3..).zip([None; 6])));
    }
}

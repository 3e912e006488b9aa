//! What an `[[interface]]` says of the host program: its expressions, and statements about all
//! values of its parameters.
//!
//! Does not cover: what a kernel makes of these values (`coupling`).

mod check_expressions;
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

pub(super) use check_expressions::check_expressions;

use decide::HostModel;
use std::collections::BTreeMap;
use vkcert_model::element::Datum;
use vkcert_model::requirement::Interface;

/// The number that a host gives to a specialization constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HostConstant {
    /// Of an expression.
    Integer(i128),
    /// Of a decimal number.
    Real(f64),
}

impl HostConstant {
    /// The number as a value for a constant of any type.
    pub fn as_datum(self) -> Datum {
        match self {
            HostConstant::Integer(number) => Datum::Integer(number),
            HostConstant::Real(number) => Datum::Float(number),
        }
    }
}

/// The number of a text like `-1.5` or `1e-3`: one with a point or an exponent, which no
/// expression of integers is.
pub fn decimal_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_part = |c: char| c.is_ascii_digit() || ".eE+-".contains(c);
    let is_decimal = text.contains(['.', 'e', 'E']) && text.chars().all(is_part);
    text.parse().ok().filter(|number: &f64| is_decimal && number.is_finite())
}

/// The values that the host gives to specialization constants, by id; none where a value is not the
/// same for all parameters, or is neither expression nor decimal number.
pub fn specialized_values(interface: &Interface) -> BTreeMap<u32, Option<HostConstant>> {
    // No value depends on the local size.
    let host = HostModel::from_interface(interface, [1; 3]).ok();
    let constant_value = |text: &str| {
        if let Some(number) = decimal_number(text) {
            return Some(HostConstant::Real(number));
        }
        let expression = host.as_ref()?.parse_expression(text, "a specialization constant").ok()?;
        let enclosing_interval = host.as_ref()?.value_interval(&expression);
        let is_one_value = enclosing_interval.low == enclosing_interval.high;
        is_one_value.then_some(HostConstant::Integer(enclosing_interval.low))
    };
    interface.specialization.iter().map(|row| (row.id, constant_value(&row.value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specialization_that_depends_on_parameters_has_no_value() {
        let value_texts =
            ["8 * 2", "n", "fixed + 1", "n - n", "unknown", "-5", "-2.5", "1e-3", "1.5 + n"];
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
        let integer = |number: i128| Some(HostConstant::Integer(number));
        let real = |number: f64| Some(HostConstant::Real(number));
        let expressions = [integer(16), None, integer(21), None, None, integer(-5)];
        let decimals = [real(-2.5), real(0.001), None];
        let values = expressions.into_iter().chain(decimals);
        assert_eq!(specialized(&interface), BTreeMap::from_iter((3..).zip(values)));
        interface["parameters"][0]["type"] = "float32".into();
        assert_eq!(
            specialized(&interface),
            BTreeMap::from_iter((3..).zip([None; 6].into_iter().chain(decimals)))
        );
    }
}

//! What an expression comes to where some names have values that are told.
//!
//! Knows: values of parameters and locals, as a test tells them.
//! Promises: a value is given only where the told ones settle it; else the parameters that are
//! missing are named.
//! Does not cover: whether there are parameters under which the host comes to the told values of
//! locals.

use super::super::expression::{DivisionRounding, HostExpression, TypedValue};
use super::super::interval::ValueInterval;
use super::{HostModel, host, interval_of_type};
use std::collections::{BTreeMap, BTreeSet};

/// Values of some parameters and locals, by name.
pub type ToldValues = BTreeMap<String, i64>;

impl HostModel {
    /// The parameters that are told, with their values.
    pub fn told_parameters(&self, told: &ToldValues) -> ToldValues {
        let is_parameter = |name: &String| self.parameters.iter().any(|row| row.name == *name);
        let parameters = told.iter().filter(|(name, _)| is_parameter(name));
        parameters.map(|(name, value)| (name.clone(), *value)).collect()
    }

    /// The first parameter whose told value is outside of the range that the interface states.
    pub fn parameter_out_of_range(&self, told: &ToldValues) -> Option<(&str, i64)> {
        self.parameters.iter().find_map(|parameter| {
            let value = *told.get(&parameter.name)?;
            (!parameter.contains(i128::from(value))).then_some((parameter.name.as_str(), value))
        })
    }

    /// The value of an expression; what it depends on and is not told where it is not settled.
    pub fn told_value(
        &self,
        expression: &HostExpression,
        told: &ToldValues,
    ) -> Result<i128, BTreeSet<&str>> {
        let untold = self.untold_parameters(expression, told);
        if !untold.is_empty() {
            return Err(untold);
        }
        let scope = self.told_scope(told);
        Ok(expression.evaluate(&scope, DivisionRounding::Truncate, &mut Vec::new()).value)
    }

    /// An interval that holds every value that an expression can have beside the told ones.
    pub fn told_interval(&self, expression: &HostExpression, told: &ToldValues) -> ValueInterval {
        let mut scope: Vec<ValueInterval> = Vec::with_capacity(self.names.len());
        for (index, name) in self.names.iter().enumerate() {
            let (low, high) = match told.get(&name.name) {
                Some(value) => (i128::from(*value), i128::from(*value)),
                None => match self.local_expression(index) {
                    Some(local) => {
                        let interval = local.enclose(&scope, &mut true);
                        (interval.low, interval.high)
                    }
                    None => (self.parameters[index].min, self.parameters[index].max),
                },
            };
            scope.push(interval_of_type(low, high, name.width, &mut true));
        }
        expression.enclose(&scope, &mut true)
    }

    /// The parameters that an expression depends on, through locals that are not told.
    fn untold_parameters(&self, expression: &HostExpression, told: &ToldValues) -> BTreeSet<&str> {
        let mut pending_names = BTreeSet::new();
        expression.collect_names(&mut pending_names);
        let mut untold = BTreeSet::new();
        // A local uses names before it alone.
        while let Some(name_index) = pending_names.pop_last() {
            let name = &self.names[name_index].name;
            if told.contains_key(name) {
                continue;
            }
            match self.local_expression(name_index) {
                Some(local) => local.collect_names(&mut pending_names),
                None => drop(untold.insert(name.as_str())),
            }
        }
        untold
    }

    /// Values of all names; those that depend on what is not told mean nothing.
    fn told_scope(&self, told: &ToldValues) -> Vec<TypedValue> {
        let mut scope: Vec<TypedValue> = Vec::with_capacity(self.names.len());
        for (index, name) in self.names.iter().enumerate() {
            let value = match told.get(&name.name) {
                Some(value) => i128::from(*value),
                None => match self.local_expression(index) {
                    Some(local) => {
                        local.evaluate(&scope, DivisionRounding::Truncate, &mut Vec::new()).value
                    }
                    None => self.parameters[index].min,
                },
            };
            let value = host::wrap_to_type(value, name.width);
            scope.push(TypedValue { value, width: name.width });
        }
        scope
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::requirement::Interface;

    fn host() -> HostModel {
        let interface: Interface = serde_json::from_value(serde_json::json!({
            "kernel": "k",
            "parameters": [
                { "name": "w", "type": "uint32", "min": 2, "max": 9 },
                { "name": "h", "type": "uint32", "min": 3, "max": 9 },
            ],
            "locals": [
                { "name": "total", "type": "uint32", "value": "w * h" },
                { "name": "byte", "type": "uint8", "value": "total * 10" },
            ],
            "groups": ["1", "1", "1"],
        }))
        .expect("an interface");
        HostModel::from_interface(&interface, [1; 3]).expect("a host")
    }

    fn told(values: &[(&str, i64)]) -> ToldValues {
        values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    fn value_of(text: &str, values: &[(&str, i64)]) -> Result<i128, Vec<String>> {
        let host = host();
        let expression = host.parse_expression(text, "test").expect("an expression");
        host.told_value(&expression, &told(values))
            .map_err(|untold| untold.into_iter().map(str::to_owned).collect())
    }

    #[test]
    fn a_told_local_settles_what_is_computed_from_it_and_nothing_else() {
        let missing = |names: &[&str]| Err(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(value_of("total * 4", &[("total", 16)]), Ok(64));
        assert_eq!(value_of("total * 4", &[("w", 2), ("h", 8)]), Ok(64));
        assert_eq!(value_of("byte", &[("total", 30)]), Ok(44));
        assert_eq!(value_of("w * h", &[("total", 16)]), missing(&["h", "w"]));
        assert_eq!(value_of("byte + w", &[("h", 3)]), missing(&["w"]));
        assert_eq!(value_of("7", &[]), Ok(7));
    }

    #[test]
    fn an_interval_holds_every_value_beside_the_told_ones() {
        let host = host();
        let expression = host.parse_expression("total * 4", "test").expect("an expression");
        let bounds = |values: &[(&str, i64)]| {
            let interval = host.told_interval(&expression, &told(values));
            (interval.low, interval.high)
        };
        assert_eq!(bounds(&[]), (24, 324));
        assert_eq!(bounds(&[("w", 5)]), (60, 180));
        assert_eq!(bounds(&[("total", 7)]), (28, 28));
    }

    #[test]
    fn values_outside_of_a_range_are_named() {
        let host = host();
        let values = told(&[("h", 2), ("total", 1000), ("w", 2)]);
        assert_eq!(host.parameter_out_of_range(&values), Some(("h", 2)));
        assert_eq!(host.parameter_out_of_range(&told(&[("total", 1000), ("w", 9)])), None);
        assert_eq!(host.told_parameters(&values), told(&[("h", 2), ("w", 2)]));
    }
}

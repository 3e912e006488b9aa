//! Decides statements about all values of the host's parameters: proved, refuted with values, or
//! open with the reason.
//!
//! Knows: the parameters' ranges, the locals in order, and any predicate over an evaluation of
//! them.
//! Promises: *proved* is said only after looking at every value of the parameters involved, or
//! where the caller has a proof of its own (intervals, rounding up by construction). *Refuted*
//! always comes with values that were evaluated. The search is deterministic: all combinations of
//! values at and beside the bounds, powers of two and multiples of the local size, then values from
//! a fixed seed.
//! Does not cover: proofs over more than [`EXHAUSTIVE`] combinations that no interval settles;
//! these stay open.

use super::expression::{self as host, Division, Event, Expression, Name, Typed};
use super::interval::{Enclosed, enclosed};
use super::parser;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::requirement::{HostType, Interface};

/// Combinations of parameter values up to which all are tried.
pub const EXHAUSTIVE: u128 = 1 << 20;
/// Combinations of interesting values tried beyond that.
const INTERESTING: usize = 60_000;
/// Combinations from the fixed seed.
const SEEDED: usize = 20_000;

/// Parameters and locals of an interface, ready for evaluation. Names are numbered: parameters
/// first, then locals.
#[derive(Debug, Clone)]
pub struct Host {
    pub names: Vec<Name>,
    parameters: Vec<ParameterRange>,
    locals: Vec<Expression>,
    /// Values worth trying beside the bounds.
    strides: Vec<i128>,
}

/// A parameter with the least and the greatest value that the interface declares.
#[derive(Debug, Clone)]
struct ParameterRange {
    name: String,
    min: i128,
    max: i128,
}

impl ParameterRange {
    fn value_count(&self) -> u128 {
        (self.max - self.min + 1) as u128
    }

    fn contains(&self, value: i128) -> bool {
        (self.min..=self.max).contains(&value)
    }
}

/// What is known of a statement about all parameter values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Proved,
    Refuted(BTreeMap<String, i64>),
    Open(String),
}

/// One choice of parameter values, evaluated.
pub struct Case {
    /// Values of all names.
    pub scope: Vec<Typed>,
    /// What happened while the locals were evaluated.
    pub events: Vec<Event>,
}

impl Host {
    /// Reads parameters and locals; `strides` are local sizes.
    pub fn of(interface: &Interface, strides: [u32; 3]) -> Result<Self, Diagnostic> {
        let mut names: Vec<Name> = Vec::new();
        let mut parameters = Vec::new();
        for parameter in &interface.parameters {
            declare(&mut names, &parameter.name, parameter.width)?;
            let (lowest, highest) = host::range(parameter.width);
            let (min, max) = (i128::from(parameter.min), i128::from(parameter.max));
            if min > max || min < lowest || max > highest {
                let width = host::type_name(parameter.width);
                let message = format!(
                    "parameter `{}`: {min} to {max} is no range of {width}",
                    parameter.name
                );
                return Err(Diagnostic::new("size", message));
            }
            parameters.push(ParameterRange { name: parameter.name.clone(), min, max });
        }
        let mut locals = Vec::new();
        for local in &interface.locals {
            locals.push(parser::parse(&local.value, &names, &format!("local `{}`", local.name))?);
            declare(&mut names, &local.name, local.width)?;
        }
        Ok(Self { names, parameters, locals, strides: strides.map(i128::from).into() })
    }

    /// Parses an expression over all parameters and locals.
    pub fn parse(&self, text: &str, place: &str) -> Result<Expression, Diagnostic> {
        parser::parse(text, &self.names, place)
    }

    /// A local's expression by its number among the names.
    pub fn local(&self, name: usize) -> Option<&Expression> {
        self.locals.get(name.checked_sub(self.parameters.len())?)
    }

    /// Locals by name, because a local's span does not point into the expression that uses it.
    pub fn locals(&self) -> impl Iterator<Item = (&Name, &Expression)> {
        self.names[self.parameters.len()..].iter().zip(&self.locals)
    }

    /// Evaluates the locals for one choice of parameters.
    fn case(&self, values: &[i128], division: Division) -> Case {
        let mut scope: Vec<Typed> = values
            .iter()
            .zip(&self.names)
            .map(|(value, name)| Typed { value: *value, width: name.width })
            .collect();
        let mut events = Vec::new();
        for (name, local) in self.locals() {
            let typed = local.evaluate(&scope, division, &mut events);
            let value = host::wrap(typed.value, name.width);
            if value != typed.value {
                events.push(Event::Overflow {
                    span: local.span.clone(),
                    exact: typed.value,
                    width: name.width,
                });
            }
            scope.push(Typed { value, width: name.width });
        }
        Case { scope, events }
    }

    /// Evaluates the locals for named parameter values; parameters that are not named take their
    /// smallest value.
    pub fn named_case(&self, values: &BTreeMap<String, i64>) -> Case {
        let mut all_values = Vec::with_capacity(self.parameters.len());
        for parameter in &self.parameters {
            all_values.push(match values.get(&parameter.name) {
                Some(value) => i128::from(*value),
                None => parameter.min,
            });
        }
        self.case(&all_values, Division::Truncate)
    }

    /// Intervals of all names, and whether the locals are free of events for every choice.
    pub fn enclose(&self) -> (Vec<Enclosed>, bool) {
        let mut quiet = true;
        let parameters = self.parameters.iter().zip(&self.names);
        let mut scope: Vec<Enclosed> = parameters
            .map(|(parameter, name)| Enclosed {
                low: parameter.min,
                high: parameter.max,
                width: name.width,
            })
            .collect();
        for (name, local) in self.locals() {
            let interval = local.enclose(&scope, &mut quiet);
            scope.push(enclosed(interval.low, interval.high, name.width, &mut quiet));
        }
        (scope, quiet)
    }

    /// An interval that holds every value of an expression, wrapped ones included.
    pub fn interval(&self, expression: &Expression) -> Enclosed {
        expression.enclose(&self.enclose().0, &mut true)
    }

    /// Names that expressions depend on, directly and through locals.
    pub fn depends(&self, expressions: &[&Expression]) -> BTreeSet<usize> {
        let mut dependencies = BTreeSet::new();
        for expression in expressions {
            expression.variables(&mut dependencies);
        }
        let mut unvisited: Vec<usize> = dependencies.iter().copied().collect();
        while let Some(name) = unvisited.pop() {
            let Some(local) = self.local(name) else { continue };
            let mut used = BTreeSet::new();
            local.variables(&mut used);
            unvisited.extend(used.into_iter().filter(|name| dependencies.insert(*name)));
        }
        dependencies
    }

    /// Decides whether `holds` is true for every choice of parameters; it may depend on the
    /// expressions `on` alone.
    pub fn decide(&self, on: &[&Expression], holds: &dyn Fn(&Case) -> bool) -> Answer {
        let used = self.depends(on);
        let free: Vec<usize> =
            (0..self.parameters.len()).filter(|parameter| used.contains(parameter)).collect();
        let combinations = free.iter().try_fold(1u128, |product, parameter| {
            product.checked_mul(self.parameters[*parameter].value_count())
        });
        let mut values: Vec<i128> = self.parameters.iter().map(|parameter| parameter.min).collect();
        if combinations.is_some_and(|combinations| combinations <= EXHAUSTIVE) {
            let choices: Vec<Vec<i128>> =
                free.iter().map(|parameter| self.all_values(*parameter)).collect();
            return self
                .first_failure(&free, &choices, &mut values, usize::MAX, holds)
                .map_or(Answer::Proved, Answer::Refuted);
        }
        let fine: Vec<Vec<i128>> =
            free.iter().map(|parameter| self.interesting(*parameter)).collect();
        let coarse: Vec<Vec<i128>> = free.iter().map(|parameter| self.bounds(*parameter)).collect();
        let counterexample = self
            .first_failure(&free, &coarse, &mut values, INTERESTING, holds)
            .or_else(|| self.first_failure(&free, &fine, &mut values, INTERESTING, holds))
            .or_else(|| self.seeded_failure(&free, &mut values, holds));
        match counterexample {
            Some(values) => Answer::Refuted(values),
            None => Answer::Open(self.open_reason(&free)),
        }
    }

    fn open_reason(&self, free: &[usize]) -> String {
        let names: Vec<&str> =
            free.iter().map(|parameter| self.parameters[*parameter].name.as_str()).collect();
        format!(
            "no counterexample among boundary and sampled values of {}, but more combinations than {EXHAUSTIVE} can occur and no bound proves it",
            names.join(", ")
        )
    }

    /// Tries combinations of choices, the last parameter fastest.
    fn first_failure(
        &self,
        free: &[usize],
        choices: &[Vec<i128>],
        values: &mut [i128],
        limit: usize,
        holds: &dyn Fn(&Case) -> bool,
    ) -> Option<BTreeMap<String, i64>> {
        let mut at = vec![0usize; free.len()];
        for _ in 0..limit {
            for (place, parameter) in free.iter().enumerate() {
                values[*parameter] = choices[place][at[place]];
            }
            if !holds(&self.case(values, Division::Truncate)) {
                return Some(self.named(free, values));
            }
            let next =
                (0..free.len()).rev().find(|place| at[*place] + 1 < choices[*place].len())?;
            at[next] += 1;
            at[next + 1..].iter_mut().for_each(|index| *index = 0);
        }
        None
    }

    fn seeded_failure(
        &self,
        free: &[usize],
        values: &mut [i128],
        holds: &dyn Fn(&Case) -> bool,
    ) -> Option<BTreeMap<String, i64>> {
        let mut state = 0x5643_4552_u64;
        for _ in 0..SEEDED {
            for parameter in free {
                // SplitMix64: every run tries the same values.
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut bits = state;
                bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                let ParameterRange { min, max, .. } = self.parameters[*parameter];
                values[*parameter] = min + i128::from(bits ^ bits >> 31).rem_euclid(max - min + 1);
            }
            if !holds(&self.case(values, Division::Truncate)) {
                return Some(self.named(free, values));
            }
        }
        None
    }

    fn named(&self, free: &[usize], values: &[i128]) -> BTreeMap<String, i64> {
        free.iter()
            .map(|parameter| (self.parameters[*parameter].name.clone(), values[*parameter] as i64))
            .collect()
    }

    fn all_values(&self, parameter: usize) -> Vec<i128> {
        (self.parameters[parameter].min..=self.parameters[parameter].max).collect()
    }

    /// Values at and beside the bounds, powers of two, and multiples of the local size, ascending.
    fn interesting(&self, parameter: usize) -> Vec<i128> {
        let range = &self.parameters[parameter];
        let mut centres: BTreeSet<i128> = BTreeSet::from([range.min, range.max, 0]);
        centres.extend((0..64).map(|bit| 1i128 << bit));
        centres.extend(self.strides.iter().copied());
        let near: BTreeSet<i128> =
            centres.iter().flat_map(|centre| [centre - 1, *centre, centre + 1]).collect();
        near.into_iter().filter(|value| range.contains(*value)).collect()
    }

    /// Values at the bounds, and one more than a multiple of the local size.
    fn bounds(&self, parameter: usize) -> Vec<i128> {
        let range = &self.parameters[parameter];
        let mut values = BTreeSet::from([range.min, range.min + 1, range.max - 1, range.max]);
        values.extend(self.strides.iter().map(|stride| stride + 1));
        values.into_iter().filter(|value| range.contains(*value)).collect()
    }

    /// Evaluates the locals again with divisions rounded up.
    pub fn rounded_up(&self, case: &Case) -> Case {
        let values: Vec<i128> =
            case.scope[..self.parameters.len()].iter().map(|typed| typed.value).collect();
        self.case(&values, Division::RoundUp)
    }
}

fn declare(names: &mut Vec<Name>, name: &str, width: HostType) -> Result<(), Diagnostic> {
    if names.iter().any(|known| known.name == name) {
        return Err(Diagnostic::new(
            "unknown-id",
            format!("`{name}` is declared twice in the interface"),
        ));
    }
    if host::integer(width).is_none() {
        let message = format!(
            "`{name}` has a floating-point type; parameters and locals of an interface are integers"
        );
        return Err(Diagnostic::new("size", message));
    }
    names.push(Name { name: name.to_owned(), width });
    Ok(())
}

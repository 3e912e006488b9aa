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
//! Does not cover: proofs over more than [`EXHAUSTIVE_LIMIT`] combinations that no interval
//! settles; these stay open.

mod told_names;

pub use told_names::ToldValues;

use super::expression::{
    self as host, ArithmeticEvent, DivisionRounding, HostExpression, HostName, TypedValue,
};
use super::interval::{ValueInterval, interval_of_type};
use super::parser;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::requirement::{HostParameter, HostType, Interface};

/// Combinations of parameter values up to which all are tried.
pub const EXHAUSTIVE_LIMIT: u128 = 1 << 20;
/// Combinations of interesting values tried beyond that.
const INTERESTING_CASES: usize = 60_000;
/// Combinations from the fixed seed.
const SEEDED_CASES: usize = 20_000;

/// Parameters and locals of an interface, ready for evaluation. Names are numbered: parameters
/// first, then locals.
#[derive(Debug, Clone)]
pub struct HostModel {
    /// Parameters, then locals, with their types.
    pub names: Vec<HostName>,
    parameters: Vec<ParameterRange>,
    locals: Vec<HostExpression>,
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
    /// The range, which must be one of the parameter's type.
    fn of_parameter(parameter: &HostParameter) -> Result<Self, Diagnostic> {
        let (least_of_type, greatest_of_type) = host::type_range(parameter.width);
        let (min, max) = (i128::from(parameter.min), i128::from(parameter.max));
        if min > max || min < least_of_type || max > greatest_of_type {
            let width = host::type_name(parameter.width);
            let name = &parameter.name;
            let message = format!("parameter `{name}`: {min} to {max} is no range of {width}");
            return Err(Diagnostic::new("size", message));
        }
        Ok(Self { name: parameter.name.clone(), min, max })
    }

    fn value_count(&self) -> u128 {
        (self.max - self.min + 1) as u128
    }

    fn contains(&self, value: i128) -> bool {
        (self.min..=self.max).contains(&value)
    }
}

/// What is known of a statement about all parameter values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofResult {
    /// It holds for all values.
    Proved,
    /// It fails for these values, by name of the parameter.
    Refuted(BTreeMap<String, i64>),
    /// It could not be decided, for this reason.
    Open(String),
}

/// Which locals are evaluated: a million cases take long where each evaluates what nobody asks for.
#[derive(Clone, Copy)]
enum EvaluatedLocals<'a> {
    All,
    /// By their numbers among the names.
    Named(&'a BTreeSet<usize>),
}

impl EvaluatedLocals<'_> {
    fn contains(self, name: usize) -> bool {
        match self {
            EvaluatedLocals::All => true,
            EvaluatedLocals::Named(names) => names.contains(&name),
        }
    }
}

/// What is to hold for every choice, and the names that it depends on.
struct Statement<'a> {
    holds: &'a dyn Fn(&EvaluatedCase) -> bool,
    used_names: &'a BTreeSet<usize>,
}

impl Statement<'_> {
    fn holds_for(&self, host: &HostModel, parameter_values: &[i128]) -> bool {
        let used_locals = EvaluatedLocals::Named(self.used_names);
        (self.holds)(&host.evaluate_case(parameter_values, DivisionRounding::Truncate, used_locals))
    }
}

/// One choice of parameter values, evaluated.
pub struct EvaluatedCase {
    /// Values of all names.
    pub scope: Vec<TypedValue>,
    /// What happened while the locals were evaluated.
    pub events: Vec<ArithmeticEvent>,
}

/// Whether the range that a parameter states is one of its type.
pub(super) fn check_range(parameter: &HostParameter) -> Result<(), Diagnostic> {
    ParameterRange::of_parameter(parameter).map(drop)
}

impl HostModel {
    /// Reads parameters and locals; `strides` are local sizes.
    pub fn from_interface(interface: &Interface, local_size: [u32; 3]) -> Result<Self, Diagnostic> {
        let mut names: Vec<HostName> = Vec::new();
        let mut parameters = Vec::new();
        for parameter in &interface.parameters {
            declare_name(&mut names, &parameter.name, parameter.width)?;
            parameters.push(ParameterRange::of_parameter(parameter)?);
        }
        let mut locals = Vec::new();
        for local in &interface.locals {
            locals.push(parser::parse_expression(
                &local.value,
                &names,
                &format!("local `{}`", local.name),
            )?);
            declare_name(&mut names, &local.name, local.width)?;
        }
        Ok(Self { names, parameters, locals, strides: local_size.map(i128::from).into() })
    }

    /// Parses an expression over all parameters and locals.
    pub fn parse_expression(
        &self,
        expression_text: &str,
        diagnostic_place: &str,
    ) -> Result<HostExpression, Diagnostic> {
        parser::parse_expression(expression_text, &self.names, diagnostic_place)
    }

    /// A local's expression by its number among the names.
    pub fn local_expression(&self, name: usize) -> Option<&HostExpression> {
        self.locals.get(name.checked_sub(self.parameters.len())?)
    }

    /// Locals by name, because a local's span does not point into the expression that uses it.
    pub fn locals(&self) -> impl Iterator<Item = (&HostName, &HostExpression)> {
        self.names[self.parameters.len()..].iter().zip(&self.locals)
    }

    /// Evaluates locals for one choice of parameters; those that are left out are 0.
    fn evaluate_case(
        &self,
        parameter_values: &[i128],
        division: DivisionRounding,
        evaluated_locals: EvaluatedLocals<'_>,
    ) -> EvaluatedCase {
        let mut scope: Vec<TypedValue> = parameter_values
            .iter()
            .zip(&self.names)
            .map(|(value, name)| TypedValue { value: *value, width: name.width })
            .collect();
        let mut events = Vec::new();
        for (name, local) in self.locals() {
            if !evaluated_locals.contains(scope.len()) {
                scope.push(TypedValue { value: 0, width: name.width });
                continue;
            }
            let exact_value = local.evaluate(&scope, division, &mut events);
            let wrapped_value = host::wrap_to_type(exact_value.value, name.width);
            if wrapped_value != exact_value.value {
                events.push(ArithmeticEvent::Overflow {
                    span: local.span,
                    exact: exact_value.value,
                    width: name.width,
                });
            }
            scope.push(TypedValue { value: wrapped_value, width: name.width });
        }
        EvaluatedCase { scope, events }
    }

    /// Evaluates the locals for named parameter values; parameters that are not named take their
    /// smallest value.
    pub fn named_case(&self, named_values: &BTreeMap<String, i64>) -> EvaluatedCase {
        let mut all_values = Vec::with_capacity(self.parameters.len());
        for parameter in &self.parameters {
            all_values.push(match named_values.get(&parameter.name) {
                Some(value) => i128::from(*value),
                None => parameter.min,
            });
        }
        self.evaluate_case(&all_values, DivisionRounding::Truncate, EvaluatedLocals::All)
    }

    /// Intervals of all names, and whether the locals are free of events for every choice.
    pub fn enclose_names(&self) -> (Vec<ValueInterval>, bool) {
        self.enclose_names_where(&BTreeMap::new())
    }

    /// The same where some parameters have one value, which need not be in their ranges.
    fn enclose_names_where(
        &self,
        known_values: &BTreeMap<String, i64>,
    ) -> (Vec<ValueInterval>, bool) {
        let mut is_quiet = true;
        let parameters = self.parameters.iter().zip(&self.names);
        let mut scope: Vec<ValueInterval> = parameters
            .map(|(parameter, name)| {
                let known_value = known_values.get(&parameter.name).copied().map(i128::from);
                ValueInterval {
                    low: known_value.unwrap_or(parameter.min),
                    high: known_value.unwrap_or(parameter.max),
                    width: name.width,
                }
            })
            .collect();
        for (name, local) in self.locals() {
            let interval = local.enclose(&scope, &mut is_quiet);
            scope.push(interval_of_type(interval.low, interval.high, name.width, &mut is_quiet));
        }
        (scope, is_quiet)
    }

    /// An interval that holds every value of an expression, wrapped ones included.
    pub fn value_interval(&self, expression: &HostExpression) -> ValueInterval {
        expression.enclose(&self.enclose_names().0, &mut true)
    }

    /// The same where some parameters have one value.
    pub fn value_interval_where(
        &self,
        expression: &HostExpression,
        known_values: &BTreeMap<String, i64>,
    ) -> ValueInterval {
        expression.enclose(&self.enclose_names_where(known_values).0, &mut true)
    }

    /// Names of the parameters that an expression depends on, directly and through locals.
    pub fn parameters_of(&self, expression: &HostExpression) -> BTreeSet<&str> {
        let names = self.dependencies_of(&[expression]).into_iter();
        names.filter_map(|name| Some(self.parameters.get(name)?.name.as_str())).collect()
    }

    /// Names that expressions depend on, directly and through locals.
    pub fn dependencies_of(&self, expressions: &[&HostExpression]) -> BTreeSet<usize> {
        let mut dependencies = BTreeSet::new();
        for expression in expressions {
            expression.collect_names(&mut dependencies);
        }
        let mut unvisited: Vec<usize> = dependencies.iter().copied().collect();
        while let Some(name) = unvisited.pop() {
            let Some(local) = self.local_expression(name) else { continue };
            let mut used_names = BTreeSet::new();
            local.collect_names(&mut used_names);
            unvisited.extend(used_names.into_iter().filter(|used| dependencies.insert(*used)));
        }
        dependencies
    }

    /// Decides whether `holds` is true for every choice of parameters; it may depend on the involved
    /// expressions alone: locals that these do not use are not evaluated.
    pub fn decide_for_all(
        &self,
        involved_expressions: &[&HostExpression],
        holds: &dyn Fn(&EvaluatedCase) -> bool,
    ) -> ProofResult {
        let used_names = self.dependencies_of(involved_expressions);
        let statement = Statement { holds, used_names: &used_names };
        let free_parameters: Vec<usize> =
            (0..self.parameters.len()).filter(|parameter| used_names.contains(parameter)).collect();
        let combinations = free_parameters.iter().try_fold(1u128, |product, parameter| {
            product.checked_mul(self.parameters[*parameter].value_count())
        });
        let mut parameter_values: Vec<i128> =
            self.parameters.iter().map(|parameter| parameter.min).collect();
        if combinations.is_some_and(|combinations| combinations <= EXHAUSTIVE_LIMIT) {
            let choices: Vec<Vec<i128>> =
                free_parameters.iter().map(|parameter| self.all_values(*parameter)).collect();
            return self
                .first_failure(
                    &free_parameters,
                    &choices,
                    &mut parameter_values,
                    usize::MAX,
                    &statement,
                )
                .map_or(ProofResult::Proved, ProofResult::Refuted);
        }
        let interesting_choices: Vec<Vec<i128>> =
            free_parameters.iter().map(|parameter| self.interesting_values(*parameter)).collect();
        let boundary_choices: Vec<Vec<i128>> =
            free_parameters.iter().map(|parameter| self.boundary_values(*parameter)).collect();
        let counterexample = self
            .first_failure(
                &free_parameters,
                &boundary_choices,
                &mut parameter_values,
                INTERESTING_CASES,
                &statement,
            )
            .or_else(|| {
                self.first_failure(
                    &free_parameters,
                    &interesting_choices,
                    &mut parameter_values,
                    INTERESTING_CASES,
                    &statement,
                )
            })
            .or_else(|| self.seeded_failure(&free_parameters, &mut parameter_values, &statement));
        match counterexample {
            Some(refuting_values) => ProofResult::Refuted(refuting_values),
            None => ProofResult::Open(self.open_reason(&free_parameters)),
        }
    }

    /// Choices of parameter values at and beside bounds and local sizes, the smallest ones first:
    /// enough to try what a kernel does, too few to show that it never does something.
    pub fn probing_cases(&self) -> Vec<BTreeMap<String, i64>> {
        let all: Vec<usize> = (0..self.parameters.len()).collect();
        let choices: Vec<Vec<i128>> =
            all.iter().map(|parameter| self.boundary_values(*parameter)).collect();
        let value_at = |parameter: usize, position: usize| {
            let values = &choices[parameter];
            values[position.min(values.len() - 1)]
        };
        let longest = choices.iter().map(Vec::len).max().unwrap_or(1);
        let mut cases: Vec<Vec<i128>> = Vec::new();
        for position in 0..longest {
            cases.push(all.iter().map(|parameter| value_at(*parameter, position)).collect());
        }
        for varied in &all {
            for base in 0..longest.min(3) {
                for position in 0..choices[*varied].len() {
                    let mut case: Vec<i128> =
                        all.iter().map(|parameter| value_at(*parameter, base)).collect();
                    case[*varied] = value_at(*varied, position);
                    cases.push(case);
                }
            }
        }
        cases.iter().map(|values| self.named_values(&all, values)).collect()
    }

    /// Each value of each parameter that has at most `most` of them, the others at their least.
    pub fn sweeping_cases(&self, most: usize) -> Vec<BTreeMap<String, i64>> {
        let all: Vec<usize> = (0..self.parameters.len()).collect();
        let least: Vec<i128> = self.parameters.iter().map(|parameter| parameter.min).collect();
        let mut cases = Vec::new();
        for (varied, parameter) in self.parameters.iter().enumerate() {
            let count = usize::try_from(parameter.max - parameter.min + 1);
            if count.is_ok_and(|count| count <= most) {
                cases.extend((parameter.min..=parameter.max).map(|value| {
                    let mut case = least.clone();
                    case[varied] = value;
                    self.named_values(&all, &case)
                }));
            }
        }
        cases
    }

    fn open_reason(&self, free_parameters: &[usize]) -> String {
        let parameter_names: Vec<&str> = free_parameters
            .iter()
            .map(|parameter| self.parameters[*parameter].name.as_str())
            .collect();
        format!(
            "no counterexample among boundary and sampled values of {}, but more combinations than {EXHAUSTIVE_LIMIT} can occur and no bound proves it",
            parameter_names.join(", ")
        )
    }

    /// Tries combinations of choices, the last parameter fastest.
    fn first_failure(
        &self,
        free_parameters: &[usize],
        choices: &[Vec<i128>],
        parameter_values: &mut [i128],
        case_limit: usize,
        statement: &Statement<'_>,
    ) -> Option<BTreeMap<String, i64>> {
        let mut choice_positions = vec![0usize; free_parameters.len()];
        for _ in 0..case_limit {
            for (place, parameter) in free_parameters.iter().enumerate() {
                parameter_values[*parameter] = choices[place][choice_positions[place]];
            }
            if !statement.holds_for(self, parameter_values) {
                return Some(self.named_values(free_parameters, parameter_values));
            }
            let next_position = (0..free_parameters.len())
                .rev()
                .find(|place| choice_positions[*place] + 1 < choices[*place].len())?;
            choice_positions[next_position] += 1;
            choice_positions[next_position + 1..].iter_mut().for_each(|index| *index = 0);
        }
        None
    }

    fn seeded_failure(
        &self,
        free_parameters: &[usize],
        parameter_values: &mut [i128],
        statement: &Statement<'_>,
    ) -> Option<BTreeMap<String, i64>> {
        let mut generator_state = 0x5643_4552_u64;
        for _ in 0..SEEDED_CASES {
            for parameter in free_parameters {
                // SplitMix64: every run tries the same values.
                generator_state = generator_state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut random_bits = generator_state;
                random_bits = (random_bits ^ random_bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                random_bits = (random_bits ^ random_bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                let ParameterRange { min, max, .. } = self.parameters[*parameter];
                parameter_values[*parameter] =
                    min + i128::from(random_bits ^ random_bits >> 31).rem_euclid(max - min + 1);
            }
            if !statement.holds_for(self, parameter_values) {
                return Some(self.named_values(free_parameters, parameter_values));
            }
        }
        None
    }

    fn named_values(
        &self,
        free_parameters: &[usize],
        parameter_values: &[i128],
    ) -> BTreeMap<String, i64> {
        free_parameters
            .iter()
            .map(|parameter| {
                (self.parameters[*parameter].name.clone(), parameter_values[*parameter] as i64)
            })
            .collect()
    }

    fn all_values(&self, parameter: usize) -> Vec<i128> {
        (self.parameters[parameter].min..=self.parameters[parameter].max).collect()
    }

    /// Values at and beside the bounds, powers of two, and multiples of the local size, ascending.
    fn interesting_values(&self, parameter: usize) -> Vec<i128> {
        let range = &self.parameters[parameter];
        let mut centres: BTreeSet<i128> = BTreeSet::from([range.min, range.max, 0]);
        centres.extend((0..64).map(|bit| 1i128 << bit));
        centres.extend(self.strides.iter().copied());
        let nearby_values: BTreeSet<i128> =
            centres.iter().flat_map(|centre| [centre - 1, *centre, centre + 1]).collect();
        nearby_values.into_iter().filter(|value| range.contains(*value)).collect()
    }

    /// Values at the bounds, and one more than a multiple of the local size.
    fn boundary_values(&self, parameter: usize) -> Vec<i128> {
        let range = &self.parameters[parameter];
        let mut values = BTreeSet::from([range.min, range.min + 1, range.max - 1, range.max]);
        values.extend(self.strides.iter().map(|stride| stride + 1));
        values.into_iter().filter(|value| range.contains(*value)).collect()
    }

    /// Evaluates the locals again with divisions rounded up.
    pub fn rounded_up(&self, case: &EvaluatedCase) -> EvaluatedCase {
        let parameter_values: Vec<i128> =
            case.scope[..self.parameters.len()].iter().map(|typed| typed.value).collect();
        self.evaluate_case(&parameter_values, DivisionRounding::RoundUp, EvaluatedLocals::All)
    }
}

pub(super) fn declare_name(
    names: &mut Vec<HostName>,
    name: &str,
    host_type: HostType,
) -> Result<(), Diagnostic> {
    if names.iter().any(|declared_name| declared_name.name == name) {
        return Err(Diagnostic::new(
            "unknown-id",
            format!("`{name}` is declared twice in the interface"),
        ));
    }
    if host::integer_format(host_type).is_none() {
        let message = format!(
            "`{name}` has a floating-point type; parameters and locals of an interface are integers"
        );
        return Err(Diagnostic::new("size", message));
    }
    names.push(HostName { name: name.to_owned(), width: host_type });
    Ok(())
}

//! What captured dispatches are given, merged with what the interface and its headers state.
//!
//! Knows: where headers or the interface place the members that the host pushes, which parameter or
//! expression each holds, and the interface's expressions for workgroups, buffers and constants.
//! Promises: values are read where the host's struct has its members, so that a host that pushes
//! another struct shows values that contradict something. An expression is computed from parameters
//! that are pushed; where it depends on others, what was captured is compared with the interval of
//! all its values, which is said. Each quantity is told of once, with the first dispatch that
//! contradicts.
//! Does not cover: floating-point members, of which interfaces state no values; behind a command that
//! is not modelled nothing is compared.

use crate::CouplingInput;
use crate::constants::{bits_in_words, host_constants};
use crate::expressions::HostExpressions;
use crate::layout::member_offsets;
use crate::rows::values_in_words;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::place::Place;
use vkcert_model::requirement::{
    CapturedDispatch, CapturedKernel, HostMember, HostParameter, HostType,
};
use vkcert_requirement::host::decide::{EvaluatedCase, HostModel};
use vkcert_requirement::host::expression::{
    DivisionRounding, HostExpression, integer_format, wrap_to_type,
};
use vkcert_spirv::interface::SpecializationConstant;

const VALUES: CouplingCheckName = CouplingCheckName::PushConstantValues;
const FACTS: CouplingCheckName = CouplingCheckName::HostFacts;
pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// What captured facts are compared with.
pub(super) struct CapturedFacts<'a> {
    pub input: &'a CouplingInput<'a>,
    pub host: &'a HostModel,
    pub expressions: &'a HostExpressions,
}

/// What a comparison came to.
#[derive(Debug, Default)]
pub(super) struct FactComparison {
    /// By the quantity that is told otherwise.
    pub conflicts: BTreeMap<String, FactConflict>,
    /// What is said of a check that nothing contradicts.
    pub agreements: Vec<(CouplingCheckName, String)>,
    /// What could not be compared.
    pub open: Vec<(CouplingCheckName, String)>,
}

/// A contradiction of what was captured and what is stated.
#[derive(Debug)]
pub(super) struct FactConflict {
    pub check: CouplingCheckName,
    /// A sentence without the name of the capture.
    pub words: String,
    /// Values of the parameters, where they take part.
    pub values: Option<BTreeMap<String, i64>>,
    /// Where a header declares the member.
    pub declared_at: Option<Place>,
    /// Dispatches behind the first that contradict, too.
    pub more: u64,
}

/// A dispatch with the values of parameters that it pushes.
pub(super) struct DispatchCase<'a> {
    pub(super) captured: &'a CapturedDispatch,
    values: BTreeMap<String, i64>,
    case: EvaluatedCase,
}

impl DispatchCase<'_> {
    /// `dispatch 3 (operation 17)`
    fn name(&self) -> String {
        name_of(self.captured)
    }
}

fn name_of(captured: &CapturedDispatch) -> String {
    format!("dispatch {} (operation {})", captured.dispatch, captured.operation)
}

/// A comparison while it is made.
#[derive(Default)]
pub(super) struct Collected {
    conflicts: BTreeMap<String, FactConflict>,
    /// Dispatches that were compared.
    compared: u64,
    /// Those of them whose workgroups are read on the device.
    indirect: u64,
    /// Members that were compared.
    members: BTreeSet<String>,
    /// Quantities that were compared with one value.
    exact: BTreeSet<String>,
    /// Quantities that were compared with an interval, with the parameters that are not pushed.
    enclosed: BTreeMap<String, String>,
}

impl Collected {
    fn add_conflict(&mut self, quantity: &str, count: u64, conflict: FactConflict) {
        match self.conflicts.get_mut(quantity) {
            Some(known) => known.more += count,
            None => {
                let conflict = FactConflict { more: count - 1, ..conflict };
                self.conflicts.insert(quantity.to_owned(), conflict);
            }
        }
    }
}

impl CapturedFacts<'_> {
    /// Compares all dispatches of a capture.
    pub(super) fn compare(&self, captured: &CapturedKernel) -> FactComparison {
        let mut collected = Collected::default();
        let mut unseen = BTreeMap::new();
        for dispatch in &captured.dispatches {
            if let Some(name) = &dispatch.given.unseen {
                *unseen.entry(name.as_str()).or_insert(0) += dispatch.count;
                continue;
            }
            collected.compared += dispatch.count;
            let case = self.pushed_case(dispatch, &mut collected);
            self.compare_members(&case, &mut collected);
            self.compare_groups(&case, &mut collected);
            self.compare_local_size(&case, &mut collected);
            self.compare_constants(&case, &mut collected);
            self.compare_buffers(&case, &mut collected);
            self.compare_images(&case, &mut collected);
        }
        let open = unseen.into_iter().map(|(name, count)| {
            let words = format!(
                "what {count} dispatches are given is not compared, because it is not known behind \
                 {name}, which is not modelled"
            );
            (FACTS, words)
        });
        FactComparison {
            open: open.collect(),
            agreements: agreements(&collected),
            conflicts: collected.conflicts,
        }
    }

    /// Members of one integer each, with where the host's struct has them.
    fn integer_members(&self) -> Vec<(&HostMember, u64, HostType)> {
        let interface = self.input.interface;
        let members = interface.push_constants.iter().flat_map(|block| &block.members);
        let placed = members.zip(member_offsets(interface));
        let integers = placed.filter(|(member, _)| !member.padding);
        integers
            .filter_map(|(member, offset)| {
                let scalar = member.scalar_type()?;
                integer_format(scalar).map(|_| (member, offset, scalar))
            })
            .collect()
    }

    fn parameter(&self, name: &str) -> Option<&HostParameter> {
        self.input.interface.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// The parameters that members hold as they are, and whether they are in their ranges.
    fn pushed_case<'c>(
        &self,
        captured: &'c CapturedDispatch,
        collected: &mut Collected,
    ) -> DispatchCase<'c> {
        let mut values: BTreeMap<String, i64> = BTreeMap::new();
        for (member, offset, scalar) in self.integer_members() {
            let Some(parameter) = self.parameter(held_name(member)) else { continue };
            let Some(pushed) = pushed_value(captured, offset, scalar) else { continue };
            let value = wrap_to_type(pushed, parameter.width);
            collected.members.insert(member.name.clone());
            let range = i128::from(parameter.min)..=i128::from(parameter.max);
            let known = values.get(&parameter.name).copied().map(i128::from);
            let contradiction = match known {
                Some(known) if known != value => {
                    Some(format!("another member has {} = {known}", parameter.name))
                }
                Some(_) | None if !range.contains(&value) => Some(format!(
                    "the interface states {} to {} for {}",
                    parameter.min, parameter.max, parameter.name
                )),
                Some(_) | None => None,
            };
            if let Some(words) = contradiction {
                self.add_member_conflict(captured, (member, offset, pushed), &words, collected);
            }
            if let (None, Ok(value)) = (known, i64::try_from(value)) {
                values.insert(parameter.name.clone(), value);
            }
        }
        let case = self.host.named_case(&values);
        DispatchCase { captured, values, case }
    }

    fn add_member_conflict(
        &self,
        captured: &CapturedDispatch,
        (member, offset, pushed): (&HostMember, u64, i128),
        contradiction: &str,
        collected: &mut Collected,
    ) {
        let declared_at = self.input.stated.pushed_member_place(&member.name).cloned();
        let words = format!(
            "{} pushes {} = {pushed} at byte {offset}, and {contradiction}: the host does not push \
             what is stated, or lays it out otherwise",
            name_of(captured),
            member.name
        );
        let conflict = FactConflict { check: VALUES, words, values: None, declared_at, more: 0 };
        collected.add_conflict(&format!("member {}", member.name), captured.count, conflict);
    }

    /// Members that hold a local or an expression.
    fn compare_members(&self, dispatch: &DispatchCase<'_>, collected: &mut Collected) {
        for (member, offset, scalar) in self.integer_members() {
            if self.parameter(held_name(member)).is_some() {
                continue;
            }
            let local = || {
                let mut locals = self.host.locals();
                locals.find(|(name, _)| name.name == member.name).map(|(_, local)| local)
            };
            let expression = self.expressions.members.get(&member.name).or_else(local);
            let Some(expression) = expression else { continue };
            let Some(pushed) = pushed_value(dispatch.captured, offset, scalar) else { continue };
            if !self.unpushed_parameters(expression, dispatch).is_empty() {
                continue;
            }
            collected.members.insert(member.name.clone());
            let stated = wrap_to_type(self.evaluated_value(expression, dispatch), scalar);
            if stated != pushed {
                let text = member.value.as_deref().unwrap_or(&member.name);
                let words = format!(
                    "the interface states {text}, which is {stated} {}",
                    values_in_words(&dispatch.values)
                );
                let place = (member, offset, pushed);
                self.add_member_conflict(dispatch.captured, place, &words, collected);
            }
        }
    }

    fn evaluated_value(&self, expression: &HostExpression, dispatch: &DispatchCase<'_>) -> i128 {
        let rounding = DivisionRounding::Truncate;
        expression.evaluate(&dispatch.case.scope, rounding, &mut Vec::new()).value
    }

    /// Parameters of an expression that no member holds, in words.
    fn unpushed_parameters(
        &self,
        expression: &HostExpression,
        dispatch: &DispatchCase<'_>,
    ) -> String {
        let parameters = self.host.parameters_of(expression).into_iter();
        let unpushed = parameters.filter(|name| !dispatch.values.contains_key(*name));
        unpushed.collect::<Vec<_>>().join(", ")
    }

    /// Compares a captured number with an expression; `words` tells what was captured.
    pub(super) fn compare_number(
        &self,
        dispatch: &DispatchCase<'_>,
        stated: &StatedNumber<'_>,
        captured: i128,
        collected: &mut Collected,
    ) {
        let unpushed = self.unpushed_parameters(stated.expression, dispatch);
        let contradiction = if unpushed.is_empty() {
            collected.exact.insert(stated.quantity.clone());
            let value = self.evaluated_value(stated.expression, dispatch);
            let value = stated.width.map_or(value, |width| wrap_to_type(value, width));
            (value != captured).then(|| value.to_string())
        } else {
            collected.enclosed.insert(stated.quantity.clone(), unpushed);
            let interval = self.host.value_interval_where(stated.expression, &dispatch.values);
            let is_possible = (interval.low..=interval.high).contains(&captured);
            (!is_possible).then(|| format!("{} to {}", interval.low, interval.high))
        };
        let Some(stated_value) = contradiction else { return };
        let words = format!(
            "{} has {captured} {}, and the interface states {}, which is {stated_value} {}",
            dispatch.name(),
            stated.words,
            stated.text,
            values_in_words(&dispatch.values),
        );
        let conflict = FactConflict {
            check: FACTS,
            words,
            values: Some(dispatch.values.clone()),
            declared_at: None,
            more: 0,
        };
        collected.add_conflict(&stated.quantity, dispatch.captured.count, conflict);
    }

    fn compare_groups(&self, dispatch: &DispatchCase<'_>, collected: &mut Collected) {
        let Some(groups) = dispatch.captured.given.groups else {
            collected.indirect += dispatch.captured.count;
            return;
        };
        for (axis, axis_name) in AXES.iter().enumerate() {
            let stated = StatedNumber {
                quantity: format!("workgroups in {axis_name}"),
                words: format!("workgroups in {axis_name}"),
                text: &self.input.interface.groups[axis],
                expression: &self.expressions.groups[axis],
                width: Some(HostType::Uint32),
            };
            self.compare_number(dispatch, &stated, i128::from(groups[axis]), collected);
        }
    }

    /// Constants that the interface states, and those that it leaves at their defaults.
    fn compare_constants(&self, dispatch: &DispatchCase<'_>, collected: &mut Collected) {
        let stated_constants = self.input.interface.specialization.iter();
        let stated: BTreeMap<u32, _> = stated_constants
            .zip(&self.expressions.specialization)
            .map(|(constant, expression)| (constant.id, (constant.value.as_str(), expression)))
            .collect();
        for declared in &self.input.reflection.specialization {
            let id = declared.spec_id;
            let captured = dispatch.captured.given.specialization.get(&id);
            let captured_bits = captured.copied().unwrap_or(declared.default);
            let is_signed = declared.type_name.starts_with("int");
            let captured_value = number_of_bits(captured_bits, declared.width, is_signed);
            let quantity = format!("specialization constant {id}");
            let words = format!("for the specialization constant {id}");
            let is_float = declared.type_name.starts_with("float");
            match stated.get(&id) {
                Some((text, Some(expression))) if !is_float => {
                    let stated = StatedNumber { quantity, words, text, expression, width: None };
                    self.compare_number(dispatch, &stated, captured_value, collected);
                }
                Some((text, _)) => {
                    collected.exact.insert(quantity.clone());
                    self.compare_bits(dispatch, (declared, text), captured_bits, collected);
                }
                None => {
                    collected.exact.insert(quantity.clone());
                    if captured_bits != declared.default {
                        let default = number_of_bits(declared.default, declared.width, is_signed);
                        let words = format!(
                            "{} has {captured_value} {words}, which the interface leaves at its \
                             default {default}",
                            dispatch.name()
                        );
                        self.add_fact_conflict(dispatch, &quantity, words, collected);
                    }
                }
            }
        }
    }

    /// A constant of which the host states a number that is no integer: by the bits that this comes to.
    fn compare_bits(
        &self,
        dispatch: &DispatchCase<'_>,
        (declared, text): (&SpecializationConstant, &str),
        captured_bits: u64,
        collected: &mut Collected,
    ) {
        let id = declared.spec_id;
        let stated = host_constants(self.input.interface, std::slice::from_ref(declared));
        if stated.get(&id) == Some(&captured_bits) {
            return;
        }
        let words = format!(
            "{} has {} for the specialization constant {id}, for which the interface states {text}",
            dispatch.name(),
            bits_in_words(declared, captured_bits)
        );
        let quantity = format!("specialization constant {id}");
        self.add_fact_conflict(dispatch, &quantity, words, collected);
    }

    fn compare_local_size(&self, dispatch: &DispatchCase<'_>, collected: &mut Collected) {
        let captured = dispatch.captured.given.local_size;
        let (Some([x, y, z]), Some(assumed)) = (captured, self.input.interface.local_size) else {
            return;
        };
        let quantity = "local size";
        collected.exact.insert(quantity.to_owned());
        if [x, y, z] != assumed {
            let words = format!(
                "{} runs workgroups of {x} x {y} x {z} invocations, and the interface states {} x \
                 {} x {}",
                dispatch.name(),
                assumed[0],
                assumed[1],
                assumed[2]
            );
            self.add_fact_conflict(dispatch, quantity, words, collected);
        }
    }

    fn add_fact_conflict(
        &self,
        dispatch: &DispatchCase<'_>,
        quantity: &str,
        words: String,
        collected: &mut Collected,
    ) {
        let conflict =
            FactConflict { check: FACTS, words, values: None, declared_at: None, more: 0 };
        collected.add_conflict(quantity, dispatch.captured.count, conflict);
    }
}

/// A number that the interface states.
pub(super) struct StatedNumber<'a> {
    pub(super) quantity: String,
    /// What follows the captured number in a sentence.
    pub(super) words: String,
    /// The expression as the interface has it.
    pub(super) text: &'a str,
    pub(super) expression: &'a HostExpression,
    /// The type that the value is converted to.
    pub(super) width: Option<HostType>,
}

/// The variable or expression that a member holds.
fn held_name(member: &HostMember) -> &str {
    member.value.as_deref().unwrap_or(&member.name).trim()
}

/// What a dispatch has at an offset; none where nothing set it.
fn pushed_value(captured: &CapturedDispatch, offset: u64, scalar: HostType) -> Option<i128> {
    let (bits, is_signed) = integer_format(scalar)?;
    let bytes = captured.given.pushed_bytes(usize::try_from(offset).ok()?, bits as usize / 8)?;
    let mut word = [0; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(&bytes);
    Some(number_of_bits(u64::from_le_bytes(word), bits, is_signed))
}

/// The number that the low bits of a word stand for.
fn number_of_bits(word: u64, bits: u32, is_signed: bool) -> i128 {
    let bits = bits.clamp(1, 64);
    let value = i128::from(word) & ((1 << bits) - 1);
    let is_negative = is_signed && value >> (bits - 1) != 0;
    if is_negative { value - (1 << bits) } else { value }
}

/// What is said where nothing contradicts.
fn agreements(collected: &Collected) -> Vec<(CouplingCheckName, String)> {
    let dispatch_count = collected.compared;
    let mut rows = Vec::new();
    if !collected.members.is_empty() {
        let members: Vec<&str> = collected.members.iter().map(String::as_str).collect();
        let words = format!(
            "what {dispatch_count} dispatches push in {} is what the interface states",
            members.join(", ")
        );
        rows.push((VALUES, words));
    }
    let exact: Vec<&str> = collected.exact.iter().map(String::as_str).collect();
    let mut words = match exact.is_empty() {
        true => format!("nothing that {dispatch_count} dispatches are given has a stated value"),
        false => format!(
            "{dispatch_count} dispatches are given what the interface states: {}",
            exact.join(", ")
        ),
    };
    for (quantity, unpushed) in &collected.enclosed {
        words.push_str(&format!(
            "; {quantity}: within the values that are possible, since no member of the push \
             constants holds {unpushed}"
        ));
    }
    if collected.indirect > 0 {
        words.push_str(&format!(
            "; how many workgroups {} of them have is read on the device",
            collected.indirect
        ));
    }
    if dispatch_count > 0 {
        rows.push((FACTS, words));
    }
    rows
}

//! What the host can hand to a kernel, as ranges of words and as values of its constants.
//!
//! Knows: the interface's expressions and their intervals.
//! Promises: every number that the host hands over with some values of its parameters is in its
//! range, and every specialization that it can make is listed. A kernel is run with what the host
//! makes of its constants with the same values of its parameters.
//! Does not cover: numbers of other widths than 32 bits; how numbers depend on each other.

use crate::CouplingInput;
use crate::constants::{bits_for_all, bits_in_words};
use crate::expressions::HostExpressions;
use crate::layout::member_offsets;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_requirement::host::HostConstant;
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::expression::{DivisionRounding, HostExpression, integer_format};
use vkcert_spirv::interface::{SizeConstants, SpecializationConstant};
use vkcert_spirv::pairs::{HostRanges, WordRange};

/// Most specializations of a kernel under which it is looked at.
pub(super) const MOST_SPECIALIZATIONS: usize = 64;

/// Raw bits by `SpecId`.
pub(super) type Specialization = BTreeMap<u32, u64>;

/// The ranges of all that the host hands over.
pub(super) fn host_ranges(
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
) -> HostRanges {
    let mut ranges = HostRanges {
        groups: expressions.groups.each_ref().map(|count| Some(range_of(host, count))),
        ..HostRanges::default()
    };
    let Some(block) = &input.interface.push_constants else { return ranges };
    for (member, offset) in block.members.iter().zip(member_offsets(input.interface)) {
        let format = member.scalar_type().and_then(integer_format);
        if format.is_none_or(|(width, _)| width != 32) {
            continue;
        }
        let range = match expressions.members.get(&member.name) {
            Some(value) => Some(range_of(host, value)),
            None => {
                let place = host.names.iter().position(|name| name.name == member.name);
                let interval = place.map(|place| host.enclose_names().0[place]);
                interval.map(|it| WordRange::of_integers([it.low, it.high]))
            }
        };
        // Of two members at one byte nothing is known.
        if let Some(range) = range {
            let known = ranges.push_constants.insert(offset, range);
            if known.is_some() {
                ranges.push_constants.insert(offset, WordRange::ANY);
            }
        }
    }
    ranges
}

fn range_of(host: &HostModel, expression: &HostExpression) -> WordRange {
    let interval = host.value_interval(expression);
    WordRange::of_integers([interval.low, interval.high])
}

/// All specializations that the host can make; else which constant has too many values, or one
/// that it cannot have.
pub(super) fn specializations(
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
) -> Result<Vec<Specialization>, String> {
    let declared = &input.reflection.specialization;
    let settled = crate::host_constants(input.interface, declared);
    let mut specializations = vec![settled.clone()];
    for (constant, value) in input.interface.specialization.iter().zip(&expressions.specialization)
    {
        let id = constant.id;
        let is_declared = declared.iter().any(|constant| constant.spec_id == id);
        if settled.contains_key(&id) || !is_declared {
            continue;
        }
        let no_value = || format!("the host sets the specialization constant {id} to no one value");
        let interval = host.value_interval(value.as_ref().ok_or_else(no_value)?);
        let count = usize::try_from(interval.high - interval.low + 1).unwrap_or(usize::MAX);
        if specializations.len().saturating_mul(count) > MOST_SPECIALIZATIONS {
            return Err(format!(
                "{}, and with it there are more than {MOST_SPECIALIZATIONS} specializations",
                no_value()
            ));
        }
        let mut extended = Vec::new();
        for number in interval.low..=interval.high {
            let bits = bits_for_all(id, HostConstant::Integer(number), declared)
                .ok_or_else(|| format!("the specialization constant {id} cannot be {number}"))?;
            extended.extend(specializations.iter().map(|known| {
                let mut specialization = known.clone();
                specialization.insert(id, bits);
                specialization
            }));
        }
        specializations = extended;
    }
    Ok(specializations)
}

/// Constants to which the host gives no one value and that decide neither the local size nor what is
/// bound or pushed, so that a kernel can be run with each of their values; none if others are, too.
pub(super) struct VaryingConstants<'a> {
    settled: Specialization,
    /// With what the host makes of each.
    varying: Vec<(u32, &'a HostExpression)>,
    declared: &'a [SpecializationConstant],
}

impl<'a> VaryingConstants<'a> {
    pub(super) fn of_kernel(
        input: &'a CouplingInput<'_>,
        expressions: &'a HostExpressions,
    ) -> Option<Self> {
        let declared = &input.reflection.specialization[..];
        let settled = crate::host_constants(input.interface, declared);
        let mut varying = Vec::new();
        for (constant, value) in
            input.interface.specialization.iter().zip(&expressions.specialization)
        {
            if !settled.contains_key(&constant.id) {
                varying.push((constant.id, value.as_ref()?));
            }
        }
        if !varying.is_empty() {
            let sizes =
                SizeConstants::of_entry_point(input.module, &input.reflection.entry).ok()?;
            let parts = sizes.local_size.iter().chain([&sizes.push_constants]);
            let mut parts = parts.chain(sizes.resources.values());
            let decides_size =
                |part: &BTreeSet<u32>| varying.iter().any(|(id, _)| part.contains(id));
            if parts.any(decides_size) {
                return None;
            }
        }
        Some(Self { settled, varying, declared })
    }

    /// Whether there is none.
    pub(super) fn are_none(&self) -> bool {
        self.varying.is_empty()
    }

    /// What the host makes of all constants with some values of its parameters; none where one of
    /// them cannot be what comes out.
    pub(super) fn specialization(
        &self,
        host: &HostModel,
        parameters: &BTreeMap<String, i64>,
    ) -> Option<Specialization> {
        let case = host.named_case(parameters);
        let mut specialization = self.settled.clone();
        for (id, expression) in &self.varying {
            let typed =
                expression.evaluate(&case.scope, DivisionRounding::Truncate, &mut Vec::new());
            let bits = bits_for_all(*id, HostConstant::Integer(typed.value), self.declared)?;
            specialization.insert(*id, bits);
        }
        Some(specialization)
    }

    /// `, specialization constant 2 = 9,`
    pub(super) fn in_words(&self, specialization: &Specialization) -> String {
        let value = |id: &u32| {
            let constant = self.declared.iter().find(|constant| constant.spec_id == *id)?;
            Some(bits_in_words(constant, *specialization.get(id)?))
        };
        let words = self.varying.iter().filter_map(|(id, _)| {
            Some(format!(", specialization constant {id} = {},", value(id)?))
        });
        words.collect()
    }
}

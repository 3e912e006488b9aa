//! One index as a sum over the place of an invocation in its workgroup.
//!
//! Knows: what local ids, values that are the same for the workgroup, and a constant count.
//! Promises: sums, differences and comparisons hold modulo 2 to the power of the bits that are told.
//! Does not cover: what the values are that are the same for the workgroup (`index_forms`).

use super::meeting::MeetingRange;
use std::collections::BTreeMap;

/// A 32-bit number that an invocation computes, in its lowest bits: the sum of its terms, modulo
/// 2 to the power of their number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct IndexForm {
    /// What the local id counts, in x, y and z.
    pub local: [u32; 3],
    /// What values count that are the same for the workgroup.
    pub shared_terms: BTreeMap<SharedTerm, u32>,
    pub constant: u32,
    /// How many of the lowest bits are told, up to 32.
    pub known_bits: u32,
}

impl Default for IndexForm {
    fn default() -> Self {
        Self { local: [0; 3], shared_terms: BTreeMap::new(), constant: 0, known_bits: 32 }
    }
}

/// A value that is the same for all invocations of a workgroup during a dispatch, by its number.
pub(super) type SharedTerm = usize;

impl IndexForm {
    pub(super) fn constant(value: u32) -> Self {
        Self { constant: value, ..Self::default() }
    }

    pub(super) fn plus(&self, other: &IndexForm, factor: u32) -> Self {
        let mut sum = self.clone();
        for (own, others) in sum.local.iter_mut().zip(other.local) {
            *own = own.wrapping_add(others.wrapping_mul(factor));
        }
        for (term, count) in &other.shared_terms {
            let own_count = sum.shared_terms.entry(*term).or_default();
            *own_count = own_count.wrapping_add(count.wrapping_mul(factor));
        }
        sum.shared_terms.retain(|_, count| *count != 0);
        sum.constant = sum.constant.wrapping_add(other.constant.wrapping_mul(factor));
        sum.known_bits = sum.known_bits.min(other.known_bits + factor.trailing_zeros());
        sum
    }

    /// The difference of two forms.
    pub(super) fn minus(&self, other: &IndexForm) -> Self {
        self.plus(other, u32::MAX)
    }

    /// The number that an invocation computes; none where it depends on more than its local id.
    pub(super) fn value_at(&self, local_id: [u32; 3]) -> Option<u32> {
        let is_known = self.shared_terms.is_empty() && self.is_exact();
        is_known.then(|| self.local_value(local_id))
    }

    /// Whether all invocations of a workgroup have it alike.
    pub(super) fn is_shared(&self) -> bool {
        self.local == [0; 3]
    }

    /// Whether two forms differ by what local ids decide; over a dispatch constants alone can be
    /// compared.
    pub(super) fn is_comparable(&self, other: &IndexForm, range: MeetingRange) -> bool {
        match range {
            MeetingRange::Workgroup => self.shared_terms == other.shared_terms,
            MeetingRange::Dispatch => {
                self.constant_value().is_some() && other.constant_value().is_some()
            }
        }
    }

    /// What an invocation adds to what is the same for the workgroup.
    pub(super) fn local_value(&self, local_id: [u32; 3]) -> u32 {
        let products = self.local.iter().zip(local_id).map(|(f, id)| f.wrapping_mul(id));
        products.fold(self.constant, u32::wrapping_add)
    }

    /// Whether all bits are told.
    pub(super) fn is_exact(&self) -> bool {
        self.known_bits == 32
    }

    /// What is the same for the workgroup, by its number, with how often it counts.
    pub(super) fn terms(&self) -> impl Iterator<Item = (SharedTerm, u32)> + '_ {
        self.shared_terms.iter().map(|(term, count)| (*term, *count))
    }

    /// The only thing that counts, if it counts once.
    pub(super) fn only_term(&self) -> Option<SharedTerm> {
        let mut terms = self.terms();
        let only = terms.next().filter(|(_, count)| *count == 1).map(|(term, _)| term);
        let is_alone = terms.next().is_none() && self.is_shared() && self.is_exact();
        only.filter(|_| is_alone && self.constant == 0)
    }

    /// How many of the lowest bits local ids and the constant decide.
    pub(super) fn low_bits(&self) -> u32 {
        let counts = self.shared_terms.values().map(|count| count.trailing_zeros());
        counts.fold(self.known_bits, u32::min)
    }

    /// The number where it is the same in all of a dispatch.
    pub(super) fn constant_value(&self) -> Option<u32> {
        (self.is_exact() && self.is_shared() && self.shared_terms.is_empty())
            .then_some(self.constant)
    }
}

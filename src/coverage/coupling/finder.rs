//! Which obligation of a kernel a shown pair is of, or that it is of none.
//!
//! Promises: a pair whose object the run does not tell is of every obligation that it may be of.
//! Does not cover: what tests make of it (`assess`).

use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::access_pair::{AccessPair, Passage, ReadDescriptor, ShownPairs};
use vkcert_model::pair_obligation::{KernelPairs, PairObligation};
use vkcert_model::records::Records;

/// Which obligation a shown pair is of, by its place in their list.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Belonging {
    To(usize),
    /// The pair does not tell which.
    ToOneOf(BTreeSet<usize>),
    ToNone,
}

/// An obligation by its index, with the descriptor that its use reads through.
type FoundObligation = (Option<ReadDescriptor>, usize);

/// Obligations by the pairs that show them.
pub(super) struct ObligationFinder {
    by_pair: BTreeMap<(u32, Passage), Vec<FoundObligation>>,
    /// Those that atomics or fences order, by use and store.
    by_store: BTreeMap<(u32, u32), Vec<FoundObligation>>,
}

impl ObligationFinder {
    pub(super) fn of_obligations(obligations: &[PairObligation]) -> Self {
        let mut finder = Self { by_pair: BTreeMap::new(), by_store: BTreeMap::new() };
        for (number, obligation) in obligations.iter().enumerate() {
            for pair in &obligation.pairs {
                let entry = (pair.descriptor, number);
                finder.by_pair.entry((pair.use_index, pair.passage)).or_default().push(entry);
                if let Passage::Atomic { store } = pair.passage {
                    finder.by_store.entry((pair.use_index, store)).or_default().push(entry);
                }
            }
        }
        finder
    }

    pub(super) fn find(&self, pair: &AccessPair) -> Belonging {
        let entries = match pair.passage {
            // What orders the two is not followed by the engine: flags, fences apart from barriers. A
            // barrier it is not, for these it follows.
            Passage::Unordered { store } => self.by_store.get(&(pair.use_index, store)),
            Passage::Host
            | Passage::Dispatch { .. }
            | Passage::Barrier { .. }
            | Passage::Atomic { .. } => self.by_pair.get(&(pair.use_index, pair.passage)),
        };
        let entries = entries.map_or(&[][..], Vec::as_slice);
        let exact = entries.iter().filter(|(descriptor, _)| *descriptor == pair.descriptor);
        let mut numbers: BTreeSet<usize> = exact.map(|(_, number)| *number).collect();
        if numbers.is_empty() && pair.descriptor.is_none() {
            numbers = entries.iter().map(|(_, number)| *number).collect();
        }
        match numbers.len() {
            0 => Belonging::ToNone,
            1 => numbers.first().map_or(Belonging::ToNone, |number| Belonging::To(*number)),
            _ => Belonging::ToOneOf(numbers),
        }
    }
}

/// Whether a pair without obligation is none by rule.
pub(super) fn is_left_out(kernel_pairs: &KernelPairs, pair: &AccessPair) -> bool {
    match pair.passage {
        Passage::Unordered { .. } => true,
        Passage::Host => pair
            .descriptor
            .is_some_and(|descriptor| kernel_pairs.unwritten_by_host.contains(&descriptor)),
        // The earlier kernel ran under no configuration that is certified.
        Passage::Dispatch { specialization, .. } => specialization == 0,
        Passage::Barrier { .. } | Passage::Atomic { .. } => false,
    }
}

/// Pairs that records show and no obligation has, but for those that rules leave out. Of all
/// records of a kernel, whether they count or not, so that each has one number.
pub fn pairs_outside<'a>(
    kernel_pairs: &KernelPairs,
    records: impl IntoIterator<Item = &'a Records>,
) -> BTreeSet<AccessPair> {
    if kernel_pairs.unknown.is_some() {
        return BTreeSet::new();
    }
    let finder = ObligationFinder::of_obligations(&kernel_pairs.obligations);
    let shown = records.into_iter().filter_map(|records| match &records.pairs {
        Some(ShownPairs::Shown(pairs)) => Some(pairs),
        Some(ShownPairs::NotFollowed(_)) | None => None,
    });
    let is_outside = |pair: &&AccessPair| {
        finder.find(pair) == Belonging::ToNone && !is_left_out(kernel_pairs, pair)
    };
    shown.flatten().filter(is_outside).copied().collect()
}

/// Source indices of the instructions of pairs, in the module of the reading kernel.
pub fn indices_of_pairs(pairs: &BTreeSet<AccessPair>) -> BTreeSet<u32> {
    pairs.iter().flat_map(AccessPair::own_indices).collect()
}

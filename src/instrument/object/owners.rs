//! Which decisions the value of a text belongs to.
//!
//! Promises: a value that an optimiser may have made of a part of one of several decisions is each
//! one's.

use super::values::{LeafReader, ValueLeaf, ValueLeaves};
use crate::markers::MarkerCalls;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::DecisionId;
use vkcert_model::place::Span;
use vkcert_model::structure::{KernelStructure, MarkerRole};
use vkcert_spirv::module::Id;

/// The decisions that a value may come of, each list ascending.
#[derive(Debug)]
pub(super) struct OwnersOfValue {
    /// Of the possible ones those that have no other within them; without an optimiser, whose text
    /// computes the value and little else.
    pub closest: Vec<DecisionId>,
    /// Those whose text has a part in it.
    pub possible: Vec<DecisionId>,
    /// Of the possible ones those whose conditions have no part that the value does not have.
    pub whole: Vec<DecisionId>,
}

/// Which decisions the value of a text belongs to, as the marked module has it.
pub(super) struct DecisionOwners {
    /// Every leaf of each decision's conditions.
    pub(super) leaves: BTreeMap<DecisionId, BTreeSet<ValueLeaf>>,
    pub(super) decisions: BTreeMap<ValueLeaf, BTreeSet<DecisionId>>,
    /// By the ids of the specialization constants in a leaf.
    pub(super) by_ids: BTreeMap<BTreeSet<u32>, BTreeSet<DecisionId>>,
    /// Of a module that an optimiser has rewritten.
    pub(super) rewritten: Option<RewrittenOwners>,
}

pub(super) struct RewrittenOwners {
    /// The decisions that have each specialization constant in a condition.
    pub(super) by_constant: BTreeMap<u32, BTreeSet<DecisionId>>,
    /// Where each decision stands in the text.
    pub(super) spans: BTreeMap<DecisionId, Span>,
}

impl DecisionOwners {
    pub(super) fn of_decisions(keys: &LeafReader<'_>, marker_calls: &MarkerCalls) -> Self {
        let mut leaves_by_decision: BTreeMap<DecisionId, BTreeSet<ValueLeaf>> = BTreeMap::new();
        for call in marker_calls.calls.values() {
            let decision = match call.role {
                MarkerRole::Condition { decision, .. } | MarkerRole::Single { decision } => {
                    decision
                }
                MarkerRole::Decision { .. }
                | MarkerRole::Mark { .. }
                | MarkerRole::MarkWhere { .. } => continue,
            };
            if let Some(operand) = call.operand {
                leaves_by_decision
                    .entry(decision)
                    .or_default()
                    .extend(unmarked_leaves(keys, marker_calls, operand).0);
            }
        }
        let mut decisions_by_leaf: BTreeMap<ValueLeaf, BTreeSet<DecisionId>> = BTreeMap::new();
        let mut by_ids: BTreeMap<BTreeSet<u32>, BTreeSet<DecisionId>> = BTreeMap::new();
        for (decision, decision_leaves) in &leaves_by_decision {
            for leaf in decision_leaves {
                decisions_by_leaf.entry(leaf.clone()).or_default().insert(*decision);
                if let ValueLeaf::Specialization { ids, .. } = leaf {
                    by_ids.entry(ids.clone()).or_default().insert(*decision);
                }
            }
        }
        Self { leaves: leaves_by_decision, decisions: decisions_by_leaf, by_ids, rewritten: None }
    }

    /// The same for a module that an optimiser has rewritten.
    pub(super) fn of_rewritten(
        keys: &LeafReader<'_>,
        marker_calls: &MarkerCalls,
        kernel_structure: &KernelStructure,
    ) -> Self {
        let owners = Self::of_decisions(keys, marker_calls);
        let spans = kernel_structure
            .decisions
            .iter()
            .map(|decision| (decision.id, decision.span))
            .collect();
        let rewritten = RewrittenOwners { by_constant: by_constant(&owners.by_ids), spans };
        Self { rewritten: Some(rewritten), ..owners }
    }

    /// The decisions that all leaves belong to.
    pub(super) fn of_value(&self, leaves: &ValueLeaves) -> OwnersOfValue {
        let possible_decisions = self.common_owners(leaves);
        let leaf_counts: Vec<usize> = possible_decisions
            .iter()
            .map(|decision| self.leaves.get(decision).map_or(0, BTreeSet::len))
            .collect();
        let fewest_leaves = leaf_counts.iter().min().copied().unwrap_or(0);
        let of_size = |wanted_size: usize| {
            let decisions_of_size = possible_decisions
                .iter()
                .zip(&leaf_counts)
                .filter(|(_, size)| **size == wanted_size);
            decisions_of_size.map(|(decision, _)| *decision).collect()
        };
        let closest = match &self.rewritten {
            Some(rewritten) => rewritten.innermost_decisions(&possible_decisions),
            None => of_size(fewest_leaves),
        };
        OwnersOfValue { closest, whole: of_size(leaves.0.len()), possible: possible_decisions }
    }

    /// The decisions that all leaves belong to.
    pub(super) fn common_owners(&self, leaves: &ValueLeaves) -> Vec<DecisionId> {
        let mut owner_sets = leaves.0.iter().map(|leaf| self.owners_of(leaf));
        let Some(Some(first_owners)) = owner_sets.next() else { return Vec::new() };
        let mut common_owners = first_owners.into_owned();
        for set in owner_sets {
            let Some(set) = set else { return Vec::new() };
            common_owners.retain(|decision| set.contains(decision));
        }
        common_owners.into_iter().collect()
    }

    /// All decisions that any leaf belongs to, and the leaves that belong to none.
    pub(super) fn of_each(&self, leaves: &ValueLeaves) -> (BTreeSet<DecisionId>, ValueLeaves) {
        let (mut owning_decisions, mut foreign_leaves) = (BTreeSet::new(), BTreeSet::new());
        for leaf in &leaves.0 {
            match self.owners_of(leaf) {
                Some(decisions) => owning_decisions.extend(decisions.iter()),
                None => drop(foreign_leaves.insert(leaf.clone())),
            }
        }
        (owning_decisions, ValueLeaves(foreign_leaves))
    }

    pub(super) fn owners_of(&self, leaf: &ValueLeaf) -> Option<Cow<'_, BTreeSet<DecisionId>>> {
        match (leaf, &self.rewritten) {
            (ValueLeaf::Specialization { ids, .. }, Some(rewritten)) => {
                rewritten.of_constants(ids).map(Cow::Owned)
            }
            (ValueLeaf::Specialization { ids, .. }, None) => {
                self.decisions.get(leaf).or_else(|| self.by_ids.get(ids)).map(Cow::Borrowed)
            }
            (ValueLeaf::Token(_) | ValueLeaf::Variable(_) | ValueLeaf::Unplaced, _) => {
                self.decisions.get(leaf).map(Cow::Borrowed)
            }
        }
    }
}

impl RewrittenOwners {
    /// Whose value an optimiser may have made of some constants: the decisions that have all of
    /// them; none: those that have any.
    pub(super) fn of_constants(
        &self,
        specialization_ids: &BTreeSet<u32>,
    ) -> Option<BTreeSet<DecisionId>> {
        let decision_sets: Vec<&BTreeSet<DecisionId>> =
            specialization_ids.iter().filter_map(|id| self.by_constant.get(id)).collect();
        let has_all = |decision: &&DecisionId| {
            decision_sets.len() == specialization_ids.len()
                && decision_sets.iter().all(|set| set.contains(decision))
        };
        let having_all: BTreeSet<DecisionId> =
            decision_sets.first()?.iter().filter(has_all).copied().collect();
        Some(if having_all.is_empty() {
            decision_sets.into_iter().flatten().copied().collect()
        } else {
            having_all
        })
    }

    /// The decisions that have none of the others within them.
    pub(super) fn innermost_decisions(&self, decisions: &[DecisionId]) -> Vec<DecisionId> {
        let spans: Vec<&Span> =
            decisions.iter().filter_map(|decision| self.spans.get(decision)).collect();
        let has_inner = |decision: &DecisionId| {
            self.spans.get(decision).is_some_and(|outer_span| {
                spans.iter().any(|inner_span| is_within(inner_span, outer_span))
            })
        };
        decisions.iter().copied().filter(|decision| !has_inner(decision)).collect()
    }
}

/// The decisions that have each specialization constant in a condition.
pub(super) fn by_constant(
    by_ids: &BTreeMap<BTreeSet<u32>, BTreeSet<DecisionId>>,
) -> BTreeMap<u32, BTreeSet<DecisionId>> {
    let mut decisions_by_constant: BTreeMap<u32, BTreeSet<DecisionId>> = BTreeMap::new();
    for (ids, decisions) in by_ids {
        ids.iter().for_each(|id| decisions_by_constant.entry(*id).or_default().extend(decisions));
    }
    decisions_by_constant
}

pub(super) fn is_within(inner_span: &Span, outer_span: &Span) -> bool {
    inner_span != outer_span
        && inner_span.file == outer_span.file
        && outer_span.start <= inner_span.start
        && inner_span.end <= outer_span.end
}

/// The leaves of a marked value; markers of inner decisions are seen through.
pub(super) fn unmarked_leaves(
    keys: &LeafReader<'_>,
    marker_calls: &MarkerCalls,
    value_id: Id,
) -> ValueLeaves {
    let (mut found_leaves, mut visited_ids, mut pending_ids) =
        (BTreeSet::new(), BTreeSet::new(), vec![value_id]);
    while let Some(id) = pending_ids.pop() {
        if !visited_ids.insert(id) {
            continue;
        }
        let marker =
            keys.module.definition_index(id).and_then(|index| marker_calls.calls.get(&index));
        match marker.and_then(|call| call.operand) {
            Some(operand) => pending_ids.push(operand),
            None => keys.visit_value(id, &mut found_leaves, &mut pending_ids),
        }
    }
    ValueLeaves(found_leaves)
}

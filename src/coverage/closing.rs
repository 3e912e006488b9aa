//! A smallest set of further vectors that completes masking MC/DC.
//!
//! Knows: per candidate vector, the conditions that it is sensitive to, with value and group (see
//! `independence`).
//! Promises: the set closes every condition offered. [`Minimality::Proved`] is said only where no
//! smaller set exists: by a lower bound that the set reaches, or because the search below it was
//! exhausted.
//! Does not cover: proofs beyond a fixed number of steps; then the set is the greedy one and marked
//! [`Minimality::NotProved`], with the number of vectors that any set must have. Measured:
//! decisions of `&&`, `||`, `!` with up to 20 conditions are proved; with `^^` those of up to 4
//! conditions, many larger ones, and pure chains of any length.
//!
//! Two facts carry the search. *One pair shows at most one condition*: of two conditions, each lies
//! in a sibling of the other at the operator where their ways meet; for the one to show, that
//! operand must be equal in both vectors, for the other it must differ. *Without `^^` above the
//! conditions* a condition is closed exactly if one chosen vector is sensitive to it with true and
//! one with false; that is set cover, apart for the vectors of each outcome.

use super::decision::PackedVector;
use std::collections::HashMap;

/// Search steps after which minimality is left open.
pub(super) const NODE_BUDGET: u32 = 400_000;
/// Candidates looked at after which the search of a decision with `^^` gives up.
pub(super) const LOOK_BUDGET: u32 = 20_000_000;
/// Distinct candidates beyond which a decision with `^^` is not searched.
const MAX_SEARCHED: usize = 2_048;

/// Whether a smaller closing set is excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Minimality {
    /// No smaller closing set does.
    Proved,
    /// A smaller closing set may do.
    NotProved,
}

/// A vector that may be added, with what it contributes to the conditions to be closed.
#[derive(Debug, Clone)]
pub(super) struct CandidateVector {
    pub vector: PackedVector,
    pub outcome: bool,
    pub tokens: Vec<SensitiveCondition>,
}

/// "Sensitive to this condition, in this group, with this value."
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SensitiveCondition {
    /// Index among the conditions to be closed.
    pub condition: usize,
    /// Number of the pair (condition, group).
    pub group: usize,
    pub value: bool,
}

/// What is to be closed.
#[derive(Debug, Clone)]
pub(super) struct ClosingTask {
    /// Number of conditions to be closed; each can be, with all candidates.
    pub open_conditions: usize,
    /// What the vectors at hand contribute: by group, with true and with false.
    pub group_values: Vec<[bool; 2]>,
    /// Vectors at hand by outcome (true, false).
    pub outcome_counts: [usize; 2],
    /// In canonical order.
    pub candidates: Vec<CandidateVector>,
    /// No smaller set than this can do (from the caller's knowledge of the expression).
    pub at_least: usize,
    /// Candidates that a search may look at.
    pub look_budget: u32,
    pub shape: SearchShape,
}

/// Which search applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchShape {
    /// Every condition has one group: no `^^` above it.
    Cover,
    General,
}

/// A closing set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClosingSet {
    /// Indexes of the chosen candidates, ascending.
    pub chosen_candidates: Vec<usize>,
    /// No set has fewer vectors.
    pub at_least: usize,
}

impl ClosingSet {
    pub(crate) fn closing_minimality(&self) -> Minimality {
        if self.at_least == self.chosen_candidates.len() {
            Minimality::Proved
        } else {
            Minimality::NotProved
        }
    }
}

/// Finds a closing set, the smallest one within the budget.
pub(super) fn closing_set(task: &ClosingTask) -> ClosingSet {
    if task.open_conditions == 0 {
        return ClosingSet { chosen_candidates: Vec::new(), at_least: 0 };
    }
    let mut closing_set = match task.shape {
        SearchShape::Cover => close_by_cover(task),
        SearchShape::General => close_by_search(task),
    };
    closing_set.chosen_candidates.sort_unstable();
    closing_set
}

type ElementMask = [u128; 2];

fn close_by_cover(task: &ClosingTask) -> ClosingSet {
    let mut chosen = Vec::new();
    let mut at_least = 0;
    for outcome in [true, false] {
        let mut candidate_sets: Vec<(ElementMask, usize)> = Vec::new();
        let mut seen_masks = HashMap::new();
        for (candidate_index, candidate) in
            task.candidates.iter().enumerate().filter(|(_, c)| c.outcome == outcome)
        {
            let mut element_mask = [0; 2];
            for token in candidate
                .tokens
                .iter()
                .filter(|token| !task.group_values[token.group][usize::from(!token.value)])
            {
                element_mask[usize::from(!token.value)] |= 1u128 << token.condition;
            }
            if element_mask != [0; 2] && seen_masks.insert(element_mask, ()).is_none() {
                candidate_sets.push((element_mask, candidate_index));
            }
        }
        let mut cover = SetCover::new(&candidate_sets);
        cover.solve_cover();
        chosen.extend(cover.best_sets.iter().map(|&set| cover.maximal_sets[set].1));
        at_least += if cover.budget == 0 {
            cover.cover_bound(cover.universe)
        } else {
            cover.best_sets.len()
        };
    }
    ClosingSet { chosen_candidates: chosen, at_least }
}

/// Minimum set cover by branch and bound.
struct SetCover {
    /// Sets that no other contains, in order.
    maximal_sets: Vec<(ElementMask, usize)>,
    universe: ElementMask,
    best_sets: Vec<usize>,
    budget: u32,
}

impl SetCover {
    fn new(candidate_sets: &[(ElementMask, usize)]) -> Self {
        let mut maximal_sets: Vec<(ElementMask, usize)> = Vec::new();
        let mut by_size: Vec<&(ElementMask, usize)> = candidate_sets.iter().collect();
        by_size.sort_by_key(|(mask, candidate_index)| {
            (std::cmp::Reverse(element_count(*mask)), *candidate_index)
        });
        for set in by_size {
            if !maximal_sets.iter().any(|(mask, _)| is_subset(set.0, *mask)) {
                maximal_sets.push(*set);
            }
        }
        let universe = maximal_sets.iter().fold([0; 2], |union_mask, (mask, _)| {
            [union_mask[0] | mask[0], union_mask[1] | mask[1]]
        });
        Self { maximal_sets, universe, best_sets: Vec::new(), budget: NODE_BUDGET }
    }

    fn solve_cover(&mut self) {
        self.best_sets = self.greedy_cover();
        let mut chosen = Vec::new();
        self.branch_on_rarest(self.universe, &mut chosen);
    }

    fn greedy_cover(&self) -> Vec<usize> {
        let mut uncovered_mask = self.universe;
        let mut chosen_sets = Vec::new();
        while uncovered_mask != [0; 2] {
            let covered_gain = |set: usize| {
                element_count(intersection_of(self.maximal_sets[set].0, uncovered_mask))
            };
            let best_set = (0..self.maximal_sets.len())
                .max_by_key(|&set| (covered_gain(set), std::cmp::Reverse(set)));
            let best_set = best_set.expect("the sets cover their union");
            uncovered_mask = difference_of(uncovered_mask, self.maximal_sets[best_set].0);
            chosen_sets.push(best_set);
        }
        chosen_sets
    }

    fn branch_on_rarest(&mut self, uncovered_mask: ElementMask, chosen_sets: &mut Vec<usize>) {
        if uncovered_mask == [0; 2] {
            if chosen_sets.len() < self.best_sets.len() {
                self.best_sets.clone_from(chosen_sets);
            }
            return;
        }
        if self.budget == 0
            || chosen_sets.len() + self.cover_bound(uncovered_mask) >= self.best_sets.len()
        {
            return;
        }
        self.budget -= 1;
        let rarest_element =
            elements_of(uncovered_mask).min_by_key(|&element| self.sets_holding(element).count());
        let element = rarest_element.expect("something is left");
        let mut covering_sets: Vec<usize> = self.sets_holding(element).collect();
        covering_sets.sort_by_key(|&set| {
            let gain = element_count(intersection_of(self.maximal_sets[set].0, uncovered_mask));
            (std::cmp::Reverse(gain), set)
        });
        for set in covering_sets {
            chosen_sets.push(set);
            self.branch_on_rarest(
                difference_of(uncovered_mask, self.maximal_sets[set].0),
                chosen_sets,
            );
            chosen_sets.pop();
        }
    }

    fn sets_holding(&self, element: (usize, u32)) -> impl Iterator<Item = usize> + '_ {
        (0..self.maximal_sets.len())
            .filter(move |&set| self.maximal_sets[set].0[element.0] >> element.1 & 1 == 1)
    }

    /// Elements of which no set holds two need a set each; and no set takes more than the largest
    /// one.
    fn cover_bound(&self, uncovered_mask: ElementMask) -> usize {
        let largest_gain = self
            .maximal_sets
            .iter()
            .map(|(mask, _)| element_count(intersection_of(*mask, uncovered_mask)))
            .max()
            .unwrap_or(1)
            .max(1);
        let by_size = (element_count(uncovered_mask) as usize).div_ceil(largest_gain as usize);
        let mut disjoint_elements = 0;
        let mut free_mask = uncovered_mask;
        while let Some(element) = elements_of(free_mask).next() {
            disjoint_elements += 1;
            let neighbour_mask =
                self.sets_holding(element).fold([0; 2], |union_mask: ElementMask, set| {
                    [
                        union_mask[0] | self.maximal_sets[set].0[0],
                        union_mask[1] | self.maximal_sets[set].0[1],
                    ]
                });
            free_mask = difference_of(free_mask, neighbour_mask);
        }
        by_size.max(disjoint_elements)
    }
}

fn is_subset(small_mask: ElementMask, large_mask: ElementMask) -> bool {
    small_mask[0] & !large_mask[0] == 0 && small_mask[1] & !large_mask[1] == 0
}

fn element_count(mask: ElementMask) -> u32 {
    mask[0].count_ones() + mask[1].count_ones()
}

fn intersection_of(left: ElementMask, right: ElementMask) -> ElementMask {
    [left[0] & right[0], left[1] & right[1]]
}

fn difference_of(left: ElementMask, right: ElementMask) -> ElementMask {
    [left[0] & !right[0], left[1] & !right[1]]
}

fn elements_of(mask: ElementMask) -> impl Iterator<Item = (usize, u32)> {
    (0..2).flat_map(move |half| {
        (0..128).filter(move |bit| mask[half] >> bit & 1 == 1).map(move |bit| (half, bit))
    })
}

fn close_by_search(task: &ClosingTask) -> ClosingSet {
    let mut search = ClosingSearch::new(task);
    let greedy_set = search.greedy_closing();
    let lower_bound = search.pair_count_bound().max(task.at_least);
    if search.distinct_candidates.len() > MAX_SEARCHED {
        return ClosingSet {
            at_least: lower_bound.min(greedy_set.len()),
            chosen_candidates: greedy_set,
        };
    }
    for length in lower_bound..greedy_set.len() {
        search.chosen_candidates.clear();
        if search.extend_closing(length) {
            return ClosingSet { chosen_candidates: search.chosen_candidates, at_least: length };
        }
        if search.budget == 0 {
            return ClosingSet { chosen_candidates: greedy_set, at_least: length };
        }
    }
    ClosingSet { at_least: greedy_set.len(), chosen_candidates: greedy_set }
}

/// Depth-first search for a closing set of a given length.
struct ClosingSearch<'a> {
    task: &'a ClosingTask,
    /// One candidate of each distinct contribution (and outcome), in canonical order.
    distinct_candidates: Vec<usize>,
    excluded_places: Vec<bool>,
    group_values: Vec<[bool; 2]>,
    closed_conditions: Vec<bool>,
    outcomes: [usize; 2],
    chosen_candidates: Vec<usize>,
    budget: u32,
}

impl<'a> ClosingSearch<'a> {
    fn new(task: &'a ClosingTask) -> Self {
        let mut first_candidates = HashMap::with_capacity(task.candidates.len());
        for (index, candidate) in task.candidates.iter().enumerate() {
            first_candidates.entry((&candidate.tokens, candidate.outcome)).or_insert(index);
        }
        let mut distinct_candidates: Vec<usize> = first_candidates.into_values().collect();
        distinct_candidates.sort_unstable();
        Self {
            task,
            excluded_places: vec![false; distinct_candidates.len()],
            distinct_candidates,
            group_values: task.group_values.clone(),
            closed_conditions: vec![false; task.open_conditions],
            outcomes: task.outcome_counts,
            chosen_candidates: Vec::new(),
            budget: task.look_budget,
        }
    }

    fn candidate_at(&self, place: usize) -> &'a CandidateVector {
        &self.task.candidates[self.distinct_candidates[place]]
    }

    /// Adds a candidate; returns what changed.
    fn add_candidate(
        &mut self,
        candidate: &CandidateVector,
    ) -> (Vec<SensitiveCondition>, Vec<usize>) {
        let mut new_tokens = Vec::new();
        let mut new_closed = Vec::new();
        self.outcomes[usize::from(!candidate.outcome)] += 1;
        for token in &candidate.tokens {
            let value_seen = &mut self.group_values[token.group][usize::from(!token.value)];
            if !*value_seen {
                *value_seen = true;
                new_tokens.push(*token);
            }
            if self.group_values[token.group] == [true; 2]
                && !self.closed_conditions[token.condition]
            {
                self.closed_conditions[token.condition] = true;
                new_closed.push(token.condition);
            }
        }
        (new_tokens, new_closed)
    }

    fn remove_candidate(
        &mut self,
        candidate: &CandidateVector,
        (tokens, closed): (Vec<SensitiveCondition>, Vec<usize>),
    ) {
        self.outcomes[usize::from(!candidate.outcome)] -= 1;
        for token in tokens {
            self.group_values[token.group][usize::from(!token.value)] = false;
        }
        for condition in closed {
            self.closed_conditions[condition] = false;
        }
    }

    /// Takes again and again the candidate that closes most conditions, then adds most.
    fn greedy_closing(&mut self) -> Vec<usize> {
        let mut chosen_candidates = Vec::new();
        let mut added_steps = Vec::new();
        while self.closed_conditions.contains(&false) {
            let best_place = (0..self.distinct_candidates.len())
                .max_by_key(|&place| (self.closing_gain(place), std::cmp::Reverse(place)));
            let best_place = best_place.expect("the candidates close every condition together");
            added_steps.push((best_place, self.add_candidate(self.candidate_at(best_place))));
            chosen_candidates.push(self.distinct_candidates[best_place]);
        }
        for (place, change) in added_steps.into_iter().rev() {
            self.remove_candidate(self.candidate_at(place), change);
        }
        chosen_candidates
    }

    /// Conditions that a candidate closes, and other contributions to conditions that stay open.
    fn closing_gain(&self, place: usize) -> (usize, usize) {
        let mut closed_and_added = (0, 0);
        let open_tokens = self
            .candidate_at(place)
            .tokens
            .iter()
            .filter(|token| !self.closed_conditions[token.condition]);
        for token in open_tokens {
            let group = self.group_values[token.group];
            if !group[usize::from(!token.value)] {
                if group[usize::from(token.value)] {
                    closed_and_added.0 += 1
                } else {
                    closed_and_added.1 += 1
                }
            }
        }
        closed_and_added
    }

    /// How many vectors it takes at least, by the number of pairs.
    fn pair_count_bound(&self) -> usize {
        let open_conditions = self.closed_conditions.iter().filter(|closed| !**closed).count();
        (0..)
            .find(|&added_vectors| self.new_pairs(added_vectors) >= open_conditions)
            .expect("pairs grow without bound")
    }

    /// Most new pairs of different outcome that `added` vectors make.
    fn new_pairs(&self, added_vectors: usize) -> usize {
        let [true_count, false_count] = self.outcomes;
        (0..=added_vectors)
            .map(|added_true| {
                (true_count + added_true) * (false_count + added_vectors - added_true)
                    - true_count * false_count
            })
            .max()
            .unwrap_or(0)
    }

    fn extend_closing(&mut self, vectors_left: usize) -> bool {
        let open_conditions = self.closed_conditions.iter().filter(|closed| !**closed).count();
        if open_conditions == 0 {
            return true;
        }
        if vectors_left == 0 || self.budget == 0 || self.new_pairs(vectors_left) < open_conditions {
            return false;
        }
        self.budget = self.budget.saturating_sub(self.distinct_candidates.len() as u32);
        let Some(candidate_places) = self.fewest_options(vectors_left) else { return false };
        let mut tried_places = Vec::new();
        let mut is_closed = false;
        for place in candidate_places {
            let candidate = self.candidate_at(place);
            let change = self.add_candidate(candidate);
            self.chosen_candidates.push(self.distinct_candidates[place]);
            self.excluded_places[place] = true;
            tried_places.push(place);
            is_closed = self.extend_closing(vectors_left - 1);
            if is_closed {
                break;
            }
            self.chosen_candidates.pop();
            self.remove_candidate(candidate, change);
        }
        // A set with an option that was tried and failed need not be looked at again below later
        // options.
        tried_places.into_iter().for_each(|place| self.excluded_places[place] = false);
        is_closed
    }

    /// The candidates that help the open condition with the fewest of them.
    fn fewest_options(&self, vectors_left: usize) -> Option<Vec<usize>> {
        let mut places_by_condition = vec![Vec::new(); self.task.open_conditions];
        for place in
            (0..self.distinct_candidates.len()).filter(|&place| !self.excluded_places[place])
        {
            let mut last_condition = None;
            for token in &self.candidate_at(place).tokens {
                let group = self.group_values[token.group];
                let helps = !group[usize::from(!token.value)]
                    && (group[usize::from(token.value)] || vectors_left > 1);
                if helps
                    && !self.closed_conditions[token.condition]
                    && last_condition != Some(token.condition)
                {
                    places_by_condition[token.condition].push(place);
                    last_condition = Some(token.condition);
                }
            }
        }
        (0..self.task.open_conditions)
            .filter(|&condition| !self.closed_conditions[condition])
            .map(|c| std::mem::take(&mut places_by_condition[c]))
            .min_by_key(Vec::len)
    }
}

#[cfg(test)]
mod tests;

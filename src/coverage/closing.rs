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

use super::decision::Packed;
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
    Proved,
    NotProved,
}

/// A vector that may be added, with what it contributes to the conditions to be closed.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub vector: Packed,
    pub outcome: bool,
    pub tokens: Vec<Token>,
}

/// "Sensitive to this condition, in this group, with this value."
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Token {
    /// Index among the conditions to be closed.
    pub condition: usize,
    /// Number of the pair (condition, group).
    pub group: usize,
    pub value: bool,
}

/// What is to be closed.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// Number of conditions to be closed; each can be, with all candidates.
    pub open: usize,
    /// What the vectors at hand contribute: by group, with true and with false.
    pub groups: Vec<[bool; 2]>,
    /// Vectors at hand by outcome (true, false).
    pub outcomes: [usize; 2],
    /// In canonical order.
    pub candidates: Vec<Candidate>,
    /// No smaller set than this can do (from the caller's knowledge of the expression).
    pub at_least: usize,
    /// Candidates that a search may look at.
    pub looks: u32,
    pub shape: Shape,
}

/// Which search applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Every condition has one group: no `^^` above it.
    Cover,
    General,
}

/// A closing set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Closing {
    /// Indexes of the chosen candidates, ascending.
    pub chosen: Vec<usize>,
    /// No set has fewer vectors.
    pub at_least: usize,
}

impl Closing {
    pub(crate) fn minimality(&self) -> Minimality {
        if self.at_least == self.chosen.len() { Minimality::Proved } else { Minimality::NotProved }
    }
}

/// Finds a closing set, the smallest one within the budget.
pub(super) fn close(task: &Task) -> Closing {
    if task.open == 0 {
        return Closing { chosen: Vec::new(), at_least: 0 };
    }
    let mut closing = match task.shape {
        Shape::Cover => by_cover(task),
        Shape::General => by_search(task),
    };
    closing.chosen.sort_unstable();
    closing
}

type Mask = [u128; 2];

fn by_cover(task: &Task) -> Closing {
    let mut chosen = Vec::new();
    let mut at_least = 0;
    for outcome in [true, false] {
        let mut sets: Vec<(Mask, usize)> = Vec::new();
        let mut known = HashMap::new();
        for (index, candidate) in
            task.candidates.iter().enumerate().filter(|(_, c)| c.outcome == outcome)
        {
            let mut mask = [0; 2];
            for token in candidate
                .tokens
                .iter()
                .filter(|token| !task.groups[token.group][usize::from(!token.value)])
            {
                mask[usize::from(!token.value)] |= 1u128 << token.condition;
            }
            if mask != [0; 2] && known.insert(mask, ()).is_none() {
                sets.push((mask, index));
            }
        }
        let mut cover = Cover::new(&sets);
        cover.solve();
        chosen.extend(cover.best.iter().map(|&set| cover.sets[set].1));
        at_least += if cover.budget == 0 { cover.bound(cover.universe) } else { cover.best.len() };
    }
    Closing { chosen, at_least }
}

/// Minimum set cover by branch and bound.
struct Cover {
    /// Sets that no other contains, in order.
    sets: Vec<(Mask, usize)>,
    universe: Mask,
    best: Vec<usize>,
    budget: u32,
}

impl Cover {
    fn new(sets: &[(Mask, usize)]) -> Self {
        let contained =
            |small: Mask, large: Mask| small[0] & !large[0] == 0 && small[1] & !large[1] == 0;
        let mut kept: Vec<(Mask, usize)> = Vec::new();
        let mut by_size: Vec<&(Mask, usize)> = sets.iter().collect();
        by_size.sort_by_key(|(mask, index)| (std::cmp::Reverse(size(*mask)), *index));
        for set in by_size {
            if !kept.iter().any(|(mask, _)| contained(set.0, *mask)) {
                kept.push(*set);
            }
        }
        let universe =
            kept.iter().fold([0; 2], |all, (mask, _)| [all[0] | mask[0], all[1] | mask[1]]);
        Self { sets: kept, universe, best: Vec::new(), budget: NODE_BUDGET }
    }

    fn solve(&mut self) {
        self.best = self.greedy();
        let mut chosen = Vec::new();
        self.branch(self.universe, &mut chosen);
    }

    fn greedy(&self) -> Vec<usize> {
        let mut left = self.universe;
        let mut chosen = Vec::new();
        while left != [0; 2] {
            let gain = |set: usize| size(and(self.sets[set].0, left));
            let best = (0..self.sets.len()).max_by_key(|&set| (gain(set), std::cmp::Reverse(set)));
            let best = best.expect("the sets cover their union");
            left = without(left, self.sets[best].0);
            chosen.push(best);
        }
        chosen
    }

    fn branch(&mut self, left: Mask, chosen: &mut Vec<usize>) {
        if left == [0; 2] {
            if chosen.len() < self.best.len() {
                self.best = chosen.clone();
            }
            return;
        }
        if self.budget == 0 || chosen.len() + self.bound(left) >= self.best.len() {
            return;
        }
        self.budget -= 1;
        let rarest = elements(left).min_by_key(|&element| self.holders(element).count());
        let element = rarest.expect("something is left");
        let mut holders: Vec<usize> = self.holders(element).collect();
        holders.sort_by_key(|&set| (std::cmp::Reverse(size(and(self.sets[set].0, left))), set));
        for set in holders {
            chosen.push(set);
            self.branch(without(left, self.sets[set].0), chosen);
            chosen.pop();
        }
    }

    fn holders(&self, element: (usize, u32)) -> impl Iterator<Item = usize> + '_ {
        (0..self.sets.len()).filter(move |&set| self.sets[set].0[element.0] >> element.1 & 1 == 1)
    }

    /// Elements of which no set holds two need a set each; and no set takes more than the largest
    /// one.
    fn bound(&self, left: Mask) -> usize {
        let largest =
            self.sets.iter().map(|(mask, _)| size(and(*mask, left))).max().unwrap_or(1).max(1);
        let by_size = (size(left) as usize).div_ceil(largest as usize);
        let mut apart = 0;
        let mut free = left;
        while let Some(element) = elements(free).next() {
            apart += 1;
            let neighbours = self.holders(element).fold([0; 2], |all: Mask, set| {
                [all[0] | self.sets[set].0[0], all[1] | self.sets[set].0[1]]
            });
            free = without(free, neighbours);
        }
        by_size.max(apart)
    }
}

fn size(mask: Mask) -> u32 {
    mask[0].count_ones() + mask[1].count_ones()
}

fn and(left: Mask, right: Mask) -> Mask {
    [left[0] & right[0], left[1] & right[1]]
}

fn without(left: Mask, right: Mask) -> Mask {
    [left[0] & !right[0], left[1] & !right[1]]
}

fn elements(mask: Mask) -> impl Iterator<Item = (usize, u32)> {
    (0..2).flat_map(move |half| {
        (0..128).filter(move |bit| mask[half] >> bit & 1 == 1).map(move |bit| (half, bit))
    })
}

fn by_search(task: &Task) -> Closing {
    let mut search = Search::new(task);
    let greedy = search.greedy();
    let bound = search.most_bound().max(task.at_least);
    if search.distinct.len() > MAX_SEARCHED {
        return Closing { at_least: bound.min(greedy.len()), chosen: greedy };
    }
    for length in bound..greedy.len() {
        search.chosen.clear();
        if search.extend(length) {
            return Closing { chosen: search.chosen, at_least: length };
        }
        if search.budget == 0 {
            return Closing { chosen: greedy, at_least: length };
        }
    }
    Closing { at_least: greedy.len(), chosen: greedy }
}

/// Depth-first search for a closing set of a given length.
struct Search<'a> {
    task: &'a Task,
    /// One candidate of each distinct contribution (and outcome), in canonical order.
    distinct: Vec<usize>,
    excluded: Vec<bool>,
    groups: Vec<[bool; 2]>,
    closed: Vec<bool>,
    outcomes: [usize; 2],
    chosen: Vec<usize>,
    budget: u32,
}

impl<'a> Search<'a> {
    fn new(task: &'a Task) -> Self {
        let mut known = HashMap::with_capacity(task.candidates.len());
        for (index, candidate) in task.candidates.iter().enumerate() {
            known.entry((&candidate.tokens, candidate.outcome)).or_insert(index);
        }
        let mut distinct: Vec<usize> = known.into_values().collect();
        distinct.sort_unstable();
        Self {
            task,
            excluded: vec![false; distinct.len()],
            distinct,
            groups: task.groups.clone(),
            closed: vec![false; task.open],
            outcomes: task.outcomes,
            chosen: Vec::new(),
            budget: task.looks,
        }
    }

    fn candidate(&self, place: usize) -> &'a Candidate {
        &self.task.candidates[self.distinct[place]]
    }

    /// Adds a candidate; returns what changed.
    fn add(&mut self, candidate: &Candidate) -> (Vec<Token>, Vec<usize>) {
        let mut new_tokens = Vec::new();
        let mut new_closed = Vec::new();
        self.outcomes[usize::from(!candidate.outcome)] += 1;
        for token in &candidate.tokens {
            let side = &mut self.groups[token.group][usize::from(!token.value)];
            if !*side {
                *side = true;
                new_tokens.push(*token);
            }
            if self.groups[token.group] == [true; 2] && !self.closed[token.condition] {
                self.closed[token.condition] = true;
                new_closed.push(token.condition);
            }
        }
        (new_tokens, new_closed)
    }

    fn remove(&mut self, candidate: &Candidate, (tokens, closed): (Vec<Token>, Vec<usize>)) {
        self.outcomes[usize::from(!candidate.outcome)] -= 1;
        for token in tokens {
            self.groups[token.group][usize::from(!token.value)] = false;
        }
        for condition in closed {
            self.closed[condition] = false;
        }
    }

    /// Takes again and again the candidate that closes most conditions, then adds most.
    fn greedy(&mut self) -> Vec<usize> {
        let mut chosen = Vec::new();
        let mut steps = Vec::new();
        while self.closed.contains(&false) {
            let best = (0..self.distinct.len())
                .max_by_key(|&place| (self.gain(place), std::cmp::Reverse(place)));
            let best = best.expect("the candidates close every condition together");
            steps.push((best, self.add(self.candidate(best))));
            chosen.push(self.distinct[best]);
        }
        for (place, change) in steps.into_iter().rev() {
            self.remove(self.candidate(place), change);
        }
        chosen
    }

    /// Conditions that a candidate closes, and other contributions to conditions that stay open.
    fn gain(&self, place: usize) -> (usize, usize) {
        let mut gain = (0, 0);
        let open =
            self.candidate(place).tokens.iter().filter(|token| !self.closed[token.condition]);
        for token in open {
            let group = self.groups[token.group];
            if !group[usize::from(!token.value)] {
                if group[usize::from(token.value)] { gain.0 += 1 } else { gain.1 += 1 }
            }
        }
        gain
    }

    /// How many vectors it takes at least, by the number of pairs.
    fn most_bound(&self) -> usize {
        let open = self.closed.iter().filter(|closed| !**closed).count();
        (0..).find(|&added| self.new_pairs(added) >= open).expect("pairs grow without bound")
    }

    /// Most new pairs of different outcome that `added` vectors make.
    fn new_pairs(&self, added: usize) -> usize {
        let [t, f] = self.outcomes;
        (0..=added).map(|a| (t + a) * (f + added - a) - t * f).max().unwrap_or(0)
    }

    fn extend(&mut self, length: usize) -> bool {
        let open = self.closed.iter().filter(|closed| !**closed).count();
        if open == 0 {
            return true;
        }
        if length == 0 || self.budget == 0 || self.new_pairs(length) < open {
            return false;
        }
        self.budget = self.budget.saturating_sub(self.distinct.len() as u32);
        let Some(options) = self.options(length) else { return false };
        let mut tried = Vec::new();
        let mut found = false;
        for place in options {
            let candidate = self.candidate(place);
            let change = self.add(candidate);
            self.chosen.push(self.distinct[place]);
            self.excluded[place] = true;
            tried.push(place);
            found = self.extend(length - 1);
            if found {
                break;
            }
            self.chosen.pop();
            self.remove(candidate, change);
        }
        // A set with an option that was tried and failed need not be looked at again below later
        // options.
        tried.into_iter().for_each(|place| self.excluded[place] = false);
        found
    }

    /// The candidates that help the open condition with the fewest of them.
    fn options(&self, length: usize) -> Option<Vec<usize>> {
        let mut options = vec![Vec::new(); self.task.open];
        for place in (0..self.distinct.len()).filter(|&place| !self.excluded[place]) {
            let mut last = None;
            for token in &self.candidate(place).tokens {
                let group = self.groups[token.group];
                let helps = !group[usize::from(!token.value)]
                    && (group[usize::from(token.value)] || length > 1);
                if helps && !self.closed[token.condition] && last != Some(token.condition) {
                    options[token.condition].push(place);
                    last = Some(token.condition);
                }
            }
        }
        (0..self.task.open)
            .filter(|&condition| !self.closed[condition])
            .map(|c| std::mem::take(&mut options[c]))
            .min_by_key(Vec::len)
    }
}

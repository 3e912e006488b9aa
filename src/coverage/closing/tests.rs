//! Set covers held to those that trying all choices finds.

use super::{ElementMask, SetCover};
use proptest::prelude::*;

/// Size of the smallest cover of the union, by trying all choices.
fn smallest_cover_size(masks: &[u128]) -> usize {
    let universe = masks.iter().fold(0, |union_mask, mask| union_mask | mask);
    let covers = |choice: &u32| {
        let chosen_masks = masks.iter().enumerate().filter(|(index, _)| choice >> index & 1 == 1);
        chosen_masks.fold(0, |union_mask, (_, mask)| union_mask | mask) == universe
    };
    let sizes = (0..1_u32 << masks.len()).filter(covers).map(|choice| choice.count_ones());
    sizes.min().expect("all sets cover their union") as usize
}

fn solved_cover(masks: &[u128], half: usize) -> (usize, bool) {
    let element_mask = |mask: u128| -> ElementMask {
        let mut halves = [0; 2];
        halves[half] = mask;
        halves
    };
    let candidate_sets: Vec<(ElementMask, usize)> =
        masks.iter().enumerate().map(|(index, mask)| (element_mask(*mask), index)).collect();
    let mut cover = SetCover::new(&candidate_sets);
    cover.solve_cover();
    let covered = cover
        .best_sets
        .iter()
        .fold(0, |union_mask, set| union_mask | cover.maximal_sets[*set].0[half]);
    (cover.best_sets.len(), covered == cover.universe[half])
}

#[test]
fn the_search_beats_the_greedy_cover() {
    // The largest set first leads to three sets; the two others suffice.
    let masks = [0b01_1110, 0b00_0111, 0b11_1000];
    assert_eq!(solved_cover(&masks, 0), (2, true));
    assert_eq!(solved_cover(&masks, 1), (2, true));
}

#[test]
fn the_greedy_cover_takes_the_set_with_most_that_is_left() {
    let masks = [0b01_1110, 0b00_0111, 0b11_1000, 0b00_0011];
    let sets: Vec<(ElementMask, usize)> =
        masks.iter().enumerate().map(|(index, mask)| ([*mask, 0], index)).collect();
    let cover = SetCover::new(&sets);
    // The last is a part of the second; the others stand by size, then in order.
    let kept: Vec<usize> = cover.maximal_sets.iter().map(|(_, index)| *index).collect();
    assert_eq!((kept, cover.universe), (vec![0, 1, 2], [0b11_1111, 0]));
    assert_eq!(cover.greedy_cover(), [0, 1, 2]);
}

#[test]
fn a_search_ends_with_its_budget() {
    let masks = [0b01_1110, 0b00_0111, 0b11_1000];
    let sets: Vec<(ElementMask, usize)> =
        masks.iter().enumerate().map(|(index, mask)| ([*mask, 0], index)).collect();
    let found = |budget: u32| {
        let mut cover = SetCover { budget, ..SetCover::new(&sets) };
        cover.solve_cover();
        (cover.budget, cover.best_sets.len())
    };
    assert_eq!((found(0), found(1)), ((0, 3), (0, 3)));
    assert_eq!(found(100).1, 2);
}

/// Six elements in sets of at most four need two; three of which no set holds two need three.
#[test]
fn the_bound_counts_sizes_and_elements_that_stand_apart() {
    let bound = |masks: &[u128]| {
        let sets: Vec<(ElementMask, usize)> =
            masks.iter().enumerate().map(|(index, mask)| ([0, *mask], index)).collect();
        let cover = SetCover::new(&sets);
        cover.cover_bound(cover.universe)
    };
    assert_eq!(bound(&[0b1111, 0b11_1100]), 2);
    assert_eq!(bound(&[0b001_0011, 0b010_1100, 0b111_0000]), 3);
    assert_eq!(bound(&[0b11, 0b110, 0b101]), 2);
    assert_eq!(bound(&[0b1]), 1);
    assert_eq!(bound(&[]), 0);
}

proptest! {
    /// A search that gives up keeps a cover, and its bound holds.
    #[test]
    fn a_cut_off_search_says_nothing_wrong(
        masks in prop::collection::vec(1_u128..1 << 9, 1..10),
        budget in 0..12_u32,
    ) {
        let sets: Vec<(ElementMask, usize)> =
            masks.iter().enumerate().map(|(index, mask)| ([*mask, 0], index)).collect();
        let mut cover = SetCover { budget, ..SetCover::new(&sets) };
        cover.solve_cover();
        let smallest = smallest_cover_size(&masks);
        prop_assert!(cover.cover_bound(cover.universe) <= smallest);
        prop_assert!(cover.best_sets.len() >= smallest);
        let covered = cover.best_sets.iter().fold(0, |covered, set| covered | cover.maximal_sets[*set].0[0]);
        prop_assert_eq!(covered, cover.universe[0]);
        if cover.budget > 0 {
            prop_assert_eq!(cover.best_sets.len(), smallest);
        }
    }

    #[test]
    fn no_smaller_cover_exists(
        masks in prop::collection::vec(1_u128..1 << 9, 1..10),
        half in 0..2_usize,
    ) {
        prop_assert_eq!(solved_cover(&masks, half), (smallest_cover_size(&masks), true));
    }
}

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

proptest! {
    #[test]
    fn no_smaller_cover_exists(
        masks in prop::collection::vec(1_u128..1 << 9, 1..10),
        half in 0..2_usize,
    ) {
        prop_assert_eq!(solved_cover(&masks, half), (smallest_cover_size(&masks), true));
    }
}

//! Records in any order: whether the actual ones are the expected ones.
//!
//! Knows: the tolerances of `compare`. Promises: a counterpart is claimed only where every record
//! has one of its own: the number of records without one is the least that any assignment leaves.
//! Where agreement is an equality, records are counted; single numbers within a tolerance are
//! matched along their order; records of several numbers within a tolerance by augmenting paths, up
//! to [`MATCHING_LIMIT`] of them, beyond which nothing is claimed.
//! Does not cover: where records stand and how large they are (`comparison`).

use super::compare::{canonical_bits, ordering_key, values_agree};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use vkcert_model::element::ScalarType;
use vkcert_model::procedure::Tolerance;

/// Most records of several numbers that are matched within a tolerance.
pub const MATCHING_LIMIT: usize = 2048;

/// Scalars that are compared as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalarRecord {
    /// First byte.
    pub offset: u64,
    /// Raw bits.
    pub scalars: Vec<(ScalarType, u64)>,
}

/// Indices of the records without a counterpart, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnmatchedRecords {
    /// Of the expected records.
    pub expected: Vec<usize>,
    /// Of the actual records.
    pub actual: Vec<usize>,
}

/// The records without a counterpart; an error says why matching was not tried.
pub(crate) fn find_unmatched(
    expected: &[ScalarRecord],
    actual: &[ScalarRecord],
    tolerance: &Tolerance,
) -> Result<UnmatchedRecords, String> {
    let matched_pairs = match choose_approach(expected, actual, tolerance) {
        MatchingApproach::Equality => equal_pairs(expected, actual, tolerance),
        MatchingApproach::Intervals(scalar) => interval_pairs(expected, actual, scalar, tolerance),
        MatchingApproach::Paths if expected.len().max(actual.len()) <= MATCHING_LIMIT => {
            path_pairs(expected, actual, tolerance)
        }
        MatchingApproach::Paths => {
            let record_count = expected.len().max(actual.len());
            return Err(format!(
                "{record_count} records of several elements in any order, compared within a tolerance; at most {MATCHING_LIMIT} are matched"
            ));
        }
    };
    Ok(records_without_pair(matched_pairs, expected.len(), actual.len()))
}

/// How counterparts are found.
enum MatchingApproach {
    Equality,
    /// Single numbers of one type.
    Intervals(ScalarType),
    Paths,
}

fn choose_approach(
    expected: &[ScalarRecord],
    actual: &[ScalarRecord],
    tolerance: &Tolerance,
) -> MatchingApproach {
    if tolerance.bits
        || (tolerance.abs.is_none() && tolerance.rel.is_none() && tolerance.ulp.is_none())
    {
        return MatchingApproach::Equality;
    }
    let mut all_records = expected.iter().chain(actual);
    match expected.first().map(|record| record.scalars.as_slice()) {
        Some([(scalar, _)])
            if all_records
                .all(|record| matches!(record.scalars[..], [(other, _)] if other == *scalar)) =>
        {
            MatchingApproach::Intervals(*scalar)
        }
        Some(_) | None => MatchingApproach::Paths,
    }
}

fn records_without_pair(
    matched_pairs: Vec<(usize, usize)>,
    expected_count: usize,
    actual_count: usize,
) -> UnmatchedRecords {
    let mut expected_is_open = vec![true; expected_count];
    let mut actual_is_open = vec![true; actual_count];
    for (left, right) in matched_pairs {
        expected_is_open[left] = false;
        actual_is_open[right] = false;
    }
    UnmatchedRecords {
        expected: set_indices(&expected_is_open),
        actual: set_indices(&actual_is_open),
    }
}

fn set_indices(flags: &[bool]) -> Vec<usize> {
    (0..flags.len()).filter(|index| flags[*index]).collect()
}

/// Records whose numbers are equal stand next to each other once both sides are sorted.
fn equal_pairs(
    expected: &[ScalarRecord],
    actual: &[ScalarRecord],
    tolerance: &Tolerance,
) -> Vec<(usize, usize)> {
    let expected_keys = sorted_keys(expected, tolerance);
    let actual_keys = sorted_keys(actual, tolerance);
    let (mut expected_position, mut actual_position, mut pairs) = (0, 0, Vec::new());
    while let (Some(expected_key), Some(actual_key)) =
        (expected_keys.get(expected_position), actual_keys.get(actual_position))
    {
        match expected_key.canonical_scalars.cmp(&actual_key.canonical_scalars) {
            std::cmp::Ordering::Less => expected_position += 1,
            std::cmp::Ordering::Greater => actual_position += 1,
            std::cmp::Ordering::Equal => {
                pairs.push((expected_key.record_index, actual_key.record_index));
                (expected_position, actual_position) = (expected_position + 1, actual_position + 1);
            }
        }
    }
    pairs
}

/// Equal records have equal canonical scalars.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RecordKey {
    canonical_scalars: Vec<(ScalarType, u64)>,
    record_index: usize,
}

fn sorted_keys(records: &[ScalarRecord], tolerance: &Tolerance) -> Vec<RecordKey> {
    let mut keys = Vec::with_capacity(records.len());
    for (record_index, record) in records.iter().enumerate() {
        let canonical_scalars = record
            .scalars
            .iter()
            .map(|(scalar, bits)| (*scalar, canonical_bits(*scalar, *bits, tolerance)))
            .collect();
        keys.push(RecordKey { canonical_scalars, record_index });
    }
    keys.sort();
    keys
}

/// The actual numbers that agree with an expected one are neighbours once all are sorted: an
/// interval of positions. Matching intervals to positions is solved greedily: each actual number
/// takes, of the expected ones whose interval holds its position, the one whose interval ends
/// first.
fn interval_pairs(
    expected: &[ScalarRecord],
    actual: &[ScalarRecord],
    scalar_type: ScalarType,
    tolerance: &Tolerance,
) -> Vec<(usize, usize)> {
    let single_number = |record: &ScalarRecord| record.scalars[0].1;
    let mut sorted_numbers: Vec<(i128, u64, usize)> = Vec::with_capacity(actual.len());
    sorted_numbers.extend(actual.iter().enumerate().map(|(index, record)| {
        let bits = single_number(record);
        (ordering_key(scalar_type, bits), bits, index)
    }));
    sorted_numbers.sort();
    let mut intervals: Vec<(usize, usize, usize)> = Vec::with_capacity(expected.len());
    for (index, record) in expected.iter().enumerate() {
        let (expected_bits, expected_key) =
            (single_number(record), ordering_key(scalar_type, single_number(record)));
        let is_in_tolerance = |bits: u64| values_agree(scalar_type, expected_bits, bits, tolerance);
        let interval_start = sorted_numbers
            .partition_point(|(key, bits, _)| *key < expected_key && !is_in_tolerance(*bits));
        let interval_end = sorted_numbers
            .partition_point(|(key, bits, _)| *key < expected_key || is_in_tolerance(*bits));
        intervals.push((interval_start, interval_end, index));
    }
    intervals.sort();
    let (mut next_interval, mut open_intervals, mut pairs) = (0, BinaryHeap::new(), Vec::new());
    for (position, (_, _, actual_index)) in sorted_numbers.iter().enumerate() {
        while let Some((interval_start, interval_end, index)) = intervals
            .get(next_interval)
            .filter(|(interval_start, _, _)| *interval_start <= position)
        {
            if interval_start < interval_end {
                open_intervals.push(Reverse((*interval_end, *index)));
            }
            next_interval += 1;
        }
        while open_intervals
            .peek()
            .is_some_and(|Reverse((interval_end, _))| *interval_end <= position)
        {
            open_intervals.pop();
        }
        if let Some(Reverse((_, index))) = open_intervals.pop() {
            pairs.push((index, *actual_index));
        }
    }
    pairs
}

/// Whether two records have the same scalars, with values that agree.
fn records_agree(
    expected_record: &ScalarRecord,
    actual_record: &ScalarRecord,
    tolerance: &Tolerance,
) -> bool {
    let mut scalar_pairs = expected_record.scalars.iter().zip(&actual_record.scalars);
    expected_record.scalars.len() == actual_record.scalars.len()
        && scalar_pairs.all(|((scalar, expected_bits), (actual_scalar, actual_bits))| {
            scalar == actual_scalar
                && values_agree(*scalar, *expected_bits, *actual_bits, tolerance)
        })
}

/// A largest matching (Hopcroft and Karp, SIAM Journal on Computing 2, 1973): shortest augmenting
/// paths, all of one length at a time.
fn path_pairs(
    expected: &[ScalarRecord],
    actual: &[ScalarRecord],
    tolerance: &Tolerance,
) -> Vec<(usize, usize)> {
    let agreeing_records = |expected_record: &ScalarRecord| {
        (0..actual.len())
            .filter(|index| records_agree(expected_record, &actual[*index], tolerance))
            .collect()
    };
    let mut search = BipartiteMatching {
        agreeing_actual: expected.iter().map(agreeing_records).collect(),
        actual_of_expected: vec![None; expected.len()],
        expected_of_actual: vec![None; actual.len()],
        depth: vec![None; expected.len()],
    };
    while search.build_layers() {
        for start in 0..expected.len() {
            if search.actual_of_expected[start].is_none() {
                search.augment_from(start);
            }
        }
    }
    search
        .actual_of_expected
        .iter()
        .enumerate()
        .filter_map(|(left, right)| Some((left, (*right)?)))
        .collect()
}

/// A matching that grows by augmenting paths.
struct BipartiteMatching {
    /// By expected record: the actual records that agree with it.
    agreeing_actual: Vec<Vec<usize>>,
    actual_of_expected: Vec<Option<usize>>,
    expected_of_actual: Vec<Option<usize>>,
    /// By expected record: how many pairs a shortest path to it passes; none: no path comes to it.
    depth: Vec<Option<usize>>,
}

impl BipartiteMatching {
    /// Measures the shortest alternating paths from expected records without a counterpart; returns
    /// whether one of them ends at an actual record without one.
    fn build_layers(&mut self) -> bool {
        let mut open_records = VecDeque::new();
        for (index, pair) in self.actual_of_expected.iter().enumerate() {
            self.depth[index] = pair.is_none().then_some(0);
            if pair.is_none() {
                open_records.push_back(index);
            }
        }
        let mut path_is_complete = false;
        while let Some(expected_index) = open_records.pop_front() {
            for actual_index in &self.agreeing_actual[expected_index] {
                match self.expected_of_actual[*actual_index] {
                    None => path_is_complete = true,
                    Some(next_expected) if self.depth[next_expected].is_none() => {
                        self.depth[next_expected] =
                            self.depth[expected_index].map(|depth| depth + 1);
                        open_records.push_back(next_expected);
                    }
                    Some(_) => {}
                }
            }
        }
        path_is_complete
    }

    /// Follows the layers from an expected record without a counterpart to an actual one without,
    /// and exchanges the pairs along this path.
    fn augment_from(&mut self, free_record: usize) {
        let mut path = vec![PathStep { expected_index: free_record, tried_count: 0 }];
        while let Some(last_step) = path.last_mut() {
            let PathStep { expected_index, tried_count } = *last_step;
            last_step.tried_count += 1;
            let Some(actual_index) = self.agreeing_actual[expected_index].get(tried_count).copied()
            else {
                // A dead end: no other path of this phase needs to pass it.
                self.depth[expected_index] = None;
                path.pop();
                continue;
            };
            match self.expected_of_actual[actual_index] {
                None => {
                    path.iter().for_each(|step| self.pair_last_tried(step));
                    return;
                }
                Some(next_expected)
                    if self.depth[next_expected].is_some()
                        && self.depth[next_expected]
                            == self.depth[expected_index].map(|depth_before| depth_before + 1) =>
                {
                    path.push(PathStep { expected_index: next_expected, tried_count: 0 });
                }
                Some(_) => {}
            }
        }
    }

    /// Pairs the record of a step with the agreeing record that was tried last.
    fn pair_last_tried(&mut self, step: &PathStep) {
        let actual_index = self.agreeing_actual[step.expected_index][step.tried_count - 1];
        self.actual_of_expected[step.expected_index] = Some(actual_index);
        self.expected_of_actual[actual_index] = Some(step.expected_index);
    }
}

/// An expected record on an augmenting path.
#[derive(Clone, Copy)]
struct PathStep {
    expected_index: usize,
    /// How many of the actual records that agree with it have been tried.
    tried_count: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn float_records(values: &[&[f32]]) -> Vec<ScalarRecord> {
        let make_record = |(record_number, numbers): (usize, &&[f32])| ScalarRecord {
            offset: record_number as u64,
            scalars: numbers
                .iter()
                .map(|value| (ScalarType::Float32, u64::from(value.to_bits())))
                .collect(),
        };
        values.iter().enumerate().map(make_record).collect()
    }

    fn absolute_tolerance(abs: f64) -> Tolerance {
        Tolerance { abs: Some(abs), ..Tolerance::default() }
    }

    fn open_indices(
        expected: &[&[f32]],
        actual: &[&[f32]],
        tolerance: &Tolerance,
    ) -> (Vec<usize>, Vec<usize>) {
        let unmatched_records =
            find_unmatched(&float_records(expected), &float_records(actual), tolerance).unwrap();
        (unmatched_records.expected, unmatched_records.actual)
    }

    #[test]
    fn equal_records_are_counted() {
        let exact = Tolerance::default();
        assert_eq!(
            open_indices(&[&[1.0], &[2.0], &[2.0]], &[&[2.0], &[1.0], &[2.0]], &exact),
            (vec![], vec![])
        );
        assert_eq!(
            open_indices(&[&[1.0], &[2.0], &[2.0]], &[&[1.0], &[1.0], &[2.0]], &exact),
            (vec![2], vec![1])
        );
        // Numbers of a record stay together.
        assert_eq!(
            open_indices(&[&[1.0, 2.0], &[3.0, 4.0]], &[&[3.0, 4.0], &[1.0, 2.0]], &exact),
            (vec![], vec![])
        );
        assert_eq!(
            open_indices(&[&[1.0, 2.0], &[3.0, 4.0]], &[&[1.0, 4.0], &[3.0, 2.0]], &exact).0.len(),
            2
        );
        assert_eq!(
            open_indices(&[&[0.0], &[f32::NAN]], &[&[-f32::NAN], &[-0.0]], &exact),
            (vec![], vec![])
        );
        let bits = Tolerance { bits: true, ..exact };
        assert_eq!(open_indices(&[&[0.0]], &[&[-0.0]], &bits), (vec![0], vec![0]));
    }

    #[test]
    fn a_near_neighbour_is_given_up_where_another_needs_it() {
        // The nearest pairing takes 1 for 1 and leaves 0 and 2, which do not agree.
        assert_eq!(
            open_indices(&[&[0.0], &[1.0]], &[&[1.0], &[2.0]], &absolute_tolerance(1.0)),
            (vec![], vec![])
        );
        let wide_records = [&[0.0, 0.0][..], &[1.0, 0.0]];
        assert_eq!(
            open_indices(&wide_records, &[&[1.0, 0.0], &[2.0, 0.0]], &absolute_tolerance(1.0)),
            (vec![], vec![])
        );
        // Each agrees with some expected one, and still two share one counterpart.
        assert_eq!(
            open_indices(&[&[0.0], &[5.0]], &[&[0.5], &[0.25]], &absolute_tolerance(1.0)).0,
            vec![1]
        );
    }

    #[test]
    fn too_many_records_within_a_tolerance_are_not_claimed() {
        let record_values: Vec<Vec<f32>> =
            (0..MATCHING_LIMIT + 1).map(|record_number| vec![record_number as f32, 0.0]).collect();
        let record_values: Vec<&[f32]> = record_values.iter().map(Vec::as_slice).collect();
        let matching_result = find_unmatched(
            &float_records(&record_values),
            &float_records(&record_values),
            &absolute_tolerance(0.5),
        );
        assert!(matching_result.is_err_and(|why| why.contains("at most 2048 are matched")));
        assert_eq!(
            open_indices(&record_values, &record_values, &Tolerance::default()),
            (vec![], vec![])
        );
    }

    /// The least number of records that any assignment leaves, by trying all of them.
    fn least_open(expected: &[f32], actual: &[f32], fits: &dyn Fn(f32, f32) -> bool) -> usize {
        let Some((first, others)) = expected.split_first() else { return 0 };
        let left_unmatched = 1 + least_open(others, actual, fits);
        let taken_counts = (0..actual.len())
            .filter(|taken_index| fits(*first, actual[*taken_index]))
            .map(|taken_index| {
                let remaining_numbers: Vec<f32> = actual
                    .iter()
                    .enumerate()
                    .filter(|(kept_index, _)| *kept_index != taken_index)
                    .map(|(_, number)| *number)
                    .collect();
                least_open(others, &remaining_numbers, fits)
            });
        taken_counts.min().map_or(left_unmatched, |taken_counts| taken_counts.min(left_unmatched))
    }

    proptest! {
        #[test]
        fn no_assignment_leaves_fewer(
            pairs in proptest::collection::vec((0_i8..12, 0_i8..12), 1..6),
            abs in proptest::option::of(0_u8..4),
            rel in proptest::option::of(0.0..2.0_f64),
            ulp in proptest::option::of(0_u64..0x0080_0000),
        ) {
            let tolerance = Tolerance { abs: abs.map(f64::from), rel, ulp, bits: false };
            let (ours, theirs): (Vec<f32>, Vec<f32>) =
                pairs.iter().map(|(left, right)| (f32::from(*left) - 4.0, f32::from(*right) - 4.0)).unzip();
            let bits = |value: f32| u64::from(value.to_bits());
            let fits = |left: f32, right: f32| values_agree(ScalarType::Float32, bits(left), bits(right), &tolerance);
            let least = least_open(&ours, &theirs, &fits);
            let single = |values: &[f32]| values.iter().map(|value| vec![*value]).collect::<Vec<_>>();
            let double = |values: &[f32]| values.iter().map(|value| vec![*value, 7.0]).collect::<Vec<_>>();
            for widen in [single, double] {
                let (left, right) = (widen(&ours), widen(&theirs));
                let slices = |all: &[Vec<f32>]| float_records(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
                let found = find_unmatched(&slices(&left), &slices(&right), &tolerance).unwrap();
                prop_assert_eq!(found.expected.len(), least);
                prop_assert_eq!(found.actual.len(), least);
            }
        }
    }
}

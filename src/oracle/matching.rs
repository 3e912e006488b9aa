//! Records in any order: whether the actual ones are the expected ones.
//!
//! Knows: the tolerances of `compare`. Promises: a counterpart is claimed only where every record
//! has one of its own: the number of records without one is the least that any assignment leaves.
//! Where agreement is an equality, records are counted; single numbers within a tolerance are
//! matched along their order; records of several numbers within a tolerance by augmenting paths, up
//! to [`MOST`] of them, beyond which nothing is claimed.
//! Does not cover: where records stand and how large they are (`comparison`).

use super::compare::{agrees, canonical, ordered};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use vkcert_model::element::ScalarType;
use vkcert_model::procedure::Tolerance;

/// Most records of several numbers that are matched within a tolerance.
pub const MOST: usize = 2048;

/// Scalars that are compared as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// First byte.
    pub offset: u64,
    /// Raw bits.
    pub scalars: Vec<(ScalarType, u64)>,
}

/// Indices of the records without a counterpart, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unmatched {
    pub expected: Vec<usize>,
    pub actual: Vec<usize>,
}

/// The records without a counterpart; an error says why matching was not tried.
pub fn unmatched(
    expected: &[Record],
    actual: &[Record],
    tolerance: &Tolerance,
) -> Result<Unmatched, String> {
    let pairs = match approach(expected, actual, tolerance) {
        Approach::Equality => equal_pairs(expected, actual, tolerance),
        Approach::Intervals(scalar) => interval_pairs(expected, actual, scalar, tolerance),
        Approach::Paths if expected.len().max(actual.len()) <= MOST => {
            path_pairs(expected, actual, tolerance)
        }
        Approach::Paths => {
            let number = expected.len().max(actual.len());
            return Err(format!(
                "{number} records of several elements in any order, compared within a tolerance; at most {MOST} are matched"
            ));
        }
    };
    Ok(rest(pairs, expected.len(), actual.len()))
}

/// How counterparts are found.
enum Approach {
    Equality,
    /// Single numbers of one type.
    Intervals(ScalarType),
    Paths,
}

fn approach(expected: &[Record], actual: &[Record], tolerance: &Tolerance) -> Approach {
    if tolerance.bits
        || (tolerance.abs.is_none() && tolerance.rel.is_none() && tolerance.ulp.is_none())
    {
        return Approach::Equality;
    }
    let mut all = expected.iter().chain(actual);
    match expected.first().map(|record| record.scalars.as_slice()) {
        Some([(scalar, _)])
            if all.all(|record| matches!(record.scalars[..], [(other, _)] if other == *scalar)) =>
        {
            Approach::Intervals(*scalar)
        }
        Some(_) | None => Approach::Paths,
    }
}

fn rest(pairs: Vec<(usize, usize)>, expected: usize, actual: usize) -> Unmatched {
    let mut expected_is_open = vec![true; expected];
    let mut actual_is_open = vec![true; actual];
    for (left, right) in pairs {
        expected_is_open[left] = false;
        actual_is_open[right] = false;
    }
    Unmatched { expected: set_indices(&expected_is_open), actual: set_indices(&actual_is_open) }
}

fn set_indices(flags: &[bool]) -> Vec<usize> {
    (0..flags.len()).filter(|index| flags[*index]).collect()
}

/// Records whose numbers are equal stand next to each other once both sides are sorted.
fn equal_pairs(
    expected: &[Record],
    actual: &[Record],
    tolerance: &Tolerance,
) -> Vec<(usize, usize)> {
    let expected_keys = sorted_keys(expected, tolerance);
    let actual_keys = sorted_keys(actual, tolerance);
    let (mut left, mut right, mut pairs) = (0, 0, Vec::new());
    while let (Some(expected_key), Some(actual_key)) =
        (expected_keys.get(left), actual_keys.get(right))
    {
        match expected_key.canonical_scalars.cmp(&actual_key.canonical_scalars) {
            std::cmp::Ordering::Less => left += 1,
            std::cmp::Ordering::Greater => right += 1,
            std::cmp::Ordering::Equal => {
                pairs.push((expected_key.record_index, actual_key.record_index));
                (left, right) = (left + 1, right + 1);
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

fn sorted_keys(records: &[Record], tolerance: &Tolerance) -> Vec<RecordKey> {
    let mut keys = Vec::with_capacity(records.len());
    for (record_index, record) in records.iter().enumerate() {
        let mut canonical_scalars = record.scalars.clone();
        for (scalar, bits) in &mut canonical_scalars {
            *bits = canonical(*scalar, *bits, tolerance);
        }
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
    expected: &[Record],
    actual: &[Record],
    scalar: ScalarType,
    tolerance: &Tolerance,
) -> Vec<(usize, usize)> {
    let number = |record: &Record| record.scalars[0].1;
    let mut points: Vec<(i128, u64, usize)> = Vec::with_capacity(actual.len());
    points.extend(actual.iter().enumerate().map(|(index, record)| {
        let bits = number(record);
        (ordered(scalar, bits), bits, index)
    }));
    points.sort();
    let mut stretches: Vec<(usize, usize, usize)> = Vec::with_capacity(expected.len());
    for (index, record) in expected.iter().enumerate() {
        let (wanted, place) = (number(record), ordered(scalar, number(record)));
        let fits = |bits: u64| agrees(scalar, wanted, bits, tolerance);
        let start = points.partition_point(|(at, bits, _)| *at < place && !fits(*bits));
        let end = points.partition_point(|(at, bits, _)| *at < place || fits(*bits));
        stretches.push((start, end, index));
    }
    stretches.sort();
    let (mut next, mut open, mut pairs) = (0, BinaryHeap::new(), Vec::new());
    for (at, (_, _, found)) in points.iter().enumerate() {
        while let Some((start, end, index)) =
            stretches.get(next).filter(|(start, _, _)| *start <= at)
        {
            if start < end {
                open.push(Reverse((*end, *index)));
            }
            next += 1;
        }
        while open.peek().is_some_and(|Reverse((end, _))| *end <= at) {
            open.pop();
        }
        if let Some(Reverse((_, index))) = open.pop() {
            pairs.push((index, *found));
        }
    }
    pairs
}

/// A largest matching (Hopcroft and Karp, SIAM Journal on Computing 2, 1973): shortest augmenting
/// paths, all of one length at a time.
fn path_pairs(
    expected: &[Record],
    actual: &[Record],
    tolerance: &Tolerance,
) -> Vec<(usize, usize)> {
    let same = |ours: &Record, theirs: &Record| {
        let numbers = ours.scalars.iter().zip(&theirs.scalars);
        ours.scalars.len() == theirs.scalars.len()
            && numbers.into_iter().all(|((scalar, wanted), (other, found))| {
                scalar == other && agrees(*scalar, *wanted, *found, tolerance)
            })
    };
    let fitting =
        |ours: &Record| (0..actual.len()).filter(|index| same(ours, &actual[*index])).collect();
    let mut search = Search {
        fitting: expected.iter().map(fitting).collect(),
        of_expected: vec![None; expected.len()],
        of_actual: vec![None; actual.len()],
        depth: vec![None; expected.len()],
    };
    while search.layers() {
        for start in 0..expected.len() {
            if search.of_expected[start].is_none() {
                search.augment(start);
            }
        }
    }
    search
        .of_expected
        .iter()
        .enumerate()
        .filter_map(|(left, right)| Some((left, (*right)?)))
        .collect()
}

/// A matching that grows by augmenting paths.
struct Search {
    /// By expected record: the actual records that agree with it.
    fitting: Vec<Vec<usize>>,
    of_expected: Vec<Option<usize>>,
    of_actual: Vec<Option<usize>>,
    /// By expected record: how many pairs a shortest path to it passes; none: no path comes to it.
    depth: Vec<Option<usize>>,
}

impl Search {
    /// Measures the shortest alternating paths from expected records without a counterpart; returns
    /// whether one of them ends at an actual record without one.
    fn layers(&mut self) -> bool {
        let mut queue = VecDeque::new();
        for (index, pair) in self.of_expected.iter().enumerate() {
            self.depth[index] = pair.is_none().then_some(0);
            if pair.is_none() {
                queue.push_back(index);
            }
        }
        let mut ends = false;
        while let Some(left) = queue.pop_front() {
            for right in &self.fitting[left] {
                match self.of_actual[*right] {
                    None => ends = true,
                    Some(next) if self.depth[next].is_none() => {
                        self.depth[next] = self.depth[left].map(|depth| depth + 1);
                        queue.push_back(next);
                    }
                    Some(_) => {}
                }
            }
        }
        ends
    }

    /// Follows the layers from an expected record without a counterpart to an actual one without,
    /// and exchanges the pairs along this path.
    fn augment(&mut self, start: usize) {
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((left, tried)) = path.last_mut() {
            let (left, at) = (*left, *tried);
            *tried += 1;
            let Some(right) = self.fitting[left].get(at).copied() else {
                // A dead end: no other path of this phase needs to pass it.
                self.depth[left] = None;
                path.pop();
                continue;
            };
            match self.of_actual[right] {
                None => {
                    for (left, tried) in path {
                        let right = self.fitting[left][tried - 1];
                        (self.of_expected[left], self.of_actual[right]) = (Some(right), Some(left));
                    }
                    return;
                }
                Some(next)
                    if self.depth[next].is_some()
                        && self.depth[next] == self.depth[left].map(|one| one + 1) =>
                {
                    path.push((next, 0));
                }
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn records(values: &[&[f32]]) -> Vec<Record> {
        let record = |(at, numbers): (usize, &&[f32])| Record {
            offset: at as u64,
            scalars: numbers
                .iter()
                .map(|value| (ScalarType::Float32, u64::from(value.to_bits())))
                .collect(),
        };
        values.iter().enumerate().map(record).collect()
    }

    fn abs(abs: f64) -> Tolerance {
        Tolerance { abs: Some(abs), ..Tolerance::default() }
    }

    fn open(
        expected: &[&[f32]],
        actual: &[&[f32]],
        tolerance: &Tolerance,
    ) -> (Vec<usize>, Vec<usize>) {
        let found = unmatched(&records(expected), &records(actual), tolerance).unwrap();
        (found.expected, found.actual)
    }

    #[test]
    fn equal_records_are_counted() {
        let exact = Tolerance::default();
        assert_eq!(
            open(&[&[1.0], &[2.0], &[2.0]], &[&[2.0], &[1.0], &[2.0]], &exact),
            (vec![], vec![])
        );
        assert_eq!(
            open(&[&[1.0], &[2.0], &[2.0]], &[&[1.0], &[1.0], &[2.0]], &exact),
            (vec![2], vec![1])
        );
        // Numbers of a record stay together.
        assert_eq!(
            open(&[&[1.0, 2.0], &[3.0, 4.0]], &[&[3.0, 4.0], &[1.0, 2.0]], &exact),
            (vec![], vec![])
        );
        assert_eq!(
            open(&[&[1.0, 2.0], &[3.0, 4.0]], &[&[1.0, 4.0], &[3.0, 2.0]], &exact).0.len(),
            2
        );
        assert_eq!(
            open(&[&[0.0], &[f32::NAN]], &[&[-f32::NAN], &[-0.0]], &exact),
            (vec![], vec![])
        );
        let bits = Tolerance { bits: true, ..exact };
        assert_eq!(open(&[&[0.0]], &[&[-0.0]], &bits), (vec![0], vec![0]));
    }

    #[test]
    fn a_near_neighbour_is_given_up_where_another_needs_it() {
        // The nearest pairing takes 1 for 1 and leaves 0 and 2, which do not agree.
        assert_eq!(open(&[&[0.0], &[1.0]], &[&[1.0], &[2.0]], &abs(1.0)), (vec![], vec![]));
        let one = [&[0.0, 0.0][..], &[1.0, 0.0]];
        assert_eq!(open(&one, &[&[1.0, 0.0], &[2.0, 0.0]], &abs(1.0)), (vec![], vec![]));
        // Each agrees with some expected one, and still two share one counterpart.
        assert_eq!(open(&[&[0.0], &[5.0]], &[&[0.5], &[0.25]], &abs(1.0)).0, vec![1]);
    }

    #[test]
    fn too_many_records_within_a_tolerance_are_not_claimed() {
        let many: Vec<Vec<f32>> = (0..MOST + 1).map(|at| vec![at as f32, 0.0]).collect();
        let many: Vec<&[f32]> = many.iter().map(Vec::as_slice).collect();
        let told = unmatched(&records(&many), &records(&many), &abs(0.5));
        assert!(told.is_err_and(|why| why.contains("at most 2048 are matched")));
        assert_eq!(open(&many, &many, &Tolerance::default()), (vec![], vec![]));
    }

    /// The least number of records that any assignment leaves, by trying all of them.
    fn least_open(expected: &[f32], actual: &[f32], fits: &dyn Fn(f32, f32) -> bool) -> usize {
        let Some((first, others)) = expected.split_first() else { return 0 };
        let without = 1 + least_open(others, actual, fits);
        let with = (0..actual.len()).filter(|at| fits(*first, actual[*at])).map(|at| {
            let left: Vec<f32> = actual
                .iter()
                .enumerate()
                .filter(|(one, _)| *one != at)
                .map(|(_, one)| *one)
                .collect();
            least_open(others, &left, fits)
        });
        with.min().map_or(without, |with| with.min(without))
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
            let fits = |left: f32, right: f32| agrees(ScalarType::Float32, bits(left), bits(right), &tolerance);
            let least = least_open(&ours, &theirs, &fits);
            let single = |values: &[f32]| values.iter().map(|value| vec![*value]).collect::<Vec<_>>();
            let double = |values: &[f32]| values.iter().map(|value| vec![*value, 7.0]).collect::<Vec<_>>();
            for widen in [single, double] {
                let (left, right) = (widen(&ours), widen(&theirs));
                let slices = |all: &[Vec<f32>]| records(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
                let found = unmatched(&slices(&left), &slices(&right), &tolerance).unwrap();
                prop_assert_eq!(found.expected.len(), least);
                prop_assert_eq!(found.actual.len(), least);
            }
        }
    }
}

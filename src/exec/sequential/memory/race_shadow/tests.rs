//! Races by intervals: hand-made histories, and random ones against the definition.

use super::*;

fn now(time: u32, lane: u32, workgroup: u32) -> CurrentAccess {
    CurrentAccess {
        stamp: AccessStamp::new(time, lane, 7),
        workgroup_start: workgroup,
        first_racing_time: 1,
    }
}

fn races(accesses: &[(AccessKind, CurrentAccess)]) -> Vec<AccessKind> {
    let mut shadow = RaceShadow::new(1, 4);
    let mut racing_kinds = Vec::new();
    for (access_kind, current_access) in accesses {
        racing_kinds.clear();
        shadow.record_access(0, *access_kind, current_access, [0; 2], |earlier| {
            racing_kinds.push(earlier.access_kind)
        });
    }
    racing_kinds
}

#[test]
fn a_write_races_with_a_reader_that_a_later_reader_of_its_own_workgroup_hides() {
    // Workgroup 1 reads (time 1), workgroup 2 reads (time 2) and writes by the same invocation.
    let last = races(&[
        (AccessKind::Read, now(1, 0, 1)),
        (AccessKind::Read, now(2, 0, 2)),
        (AccessKind::Write, now(2, 0, 2)),
    ]);
    assert_eq!(last, [AccessKind::Read]);
}

#[test]
fn an_ordered_interval_of_the_same_workgroup_does_not_race() {
    assert_eq!(races(&[(AccessKind::Write, now(1, 0, 1)), (AccessKind::Read, now(2, 5, 1))]), []);
    assert_eq!(
        races(&[(AccessKind::Write, now(1, 0, 1)), (AccessKind::Read, now(1, 5, 1))]),
        [AccessKind::Write]
    );
}

#[test]
fn atomics_race_with_plain_accesses_alone() {
    assert_eq!(
        races(&[(AccessKind::AtomicWrite, now(1, 0, 1)), (AccessKind::AtomicWrite, now(1, 1, 1))]),
        []
    );
    assert_eq!(
        races(&[(AccessKind::AtomicWrite, now(1, 0, 1)), (AccessKind::Read, now(1, 1, 1))]),
        [AccessKind::AtomicWrite]
    );
    assert_eq!(
        races(&[(AccessKind::AtomicRead, now(1, 0, 1)), (AccessKind::Read, now(1, 1, 1))]),
        []
    );
}

/// Against the definition: all pairs of a random history that keeps one writer at a time.
#[test]
fn a_reader_is_found_whenever_one_races() {
    let mut seed = 12345u32;
    let mut next = |bound: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % bound
    };
    for _ in 0..20_000 {
        let mut history: Vec<(u32, u32, u32)> = Vec::new();
        let (mut time, mut workgroup) = (1, 1);
        for _ in 0..next(7) {
            match next(4) {
                0 => time += 1,
                1 => {
                    time += 1;
                    workgroup = time;
                }
                _ => history.push((time, next(3), workgroup)),
            }
        }
        let writer = (time, next(3), workgroup);
        let expected = history
            .iter()
            .any(|(time, lane, _)| *time < writer.2 || (*time == writer.0 && *lane != writer.1));
        let mut accesses: Vec<_> =
            history.iter().map(|(t, l, w)| (AccessKind::Read, now(*t, *l, *w))).collect();
        accesses.push((AccessKind::Write, now(writer.0, writer.1, writer.2)));
        assert_eq!(!races(&accesses).is_empty(), expected, "{history:?} then {writer:?}");
    }
}

#[test]
fn a_stamp_keeps_the_last_invocation_of_the_largest_workgroup_apart() {
    let last_lane = (1 << crate::ir::LOCAL_BITS) - 1;
    let stamp = AccessStamp::new(7, last_lane, MOST_SOURCE_INDICES);
    assert_eq!((stamp.time(), stamp.lane()), (7, last_lane));
    assert_eq!(AccessStamp::new(7, 0, u32::MAX), AccessStamp::new(7, 0, MOST_SOURCE_INDICES));
}

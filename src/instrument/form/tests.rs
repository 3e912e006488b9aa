use super::*;

const SIZE: DispatchSize = DispatchSize { groups: [2, 3, 2], local_size: [4, 2, 1] };

fn form(mode: RecordMode, witnesses: Witnesses) -> RecordForm {
    RecordForm { mode, witnesses, words: 2, copies: 1 }
}

fn shared() -> RecordForm {
    form(RecordMode::Private, Witnesses::Omitted)
}

fn written(form: RecordForm, nonce: u32) -> Vec<u32> {
    let mut words = form.initial_words(&SIZE, nonce).unwrap();
    let canaries = match form.mode {
        RecordMode::Slots => 8..8 + 96,
        RecordMode::Private | RecordMode::Workgroup | RecordMode::Subgroup | RecordMode::Direct => {
            1..2
        }
    };
    words[canaries].fill(nonce ^ CANARY);
    words
}

#[test]
fn untouched_buffer_is_refused_in_every_mode() {
    for (mode, _) in RecordMode::ALL {
        for nonce in [0, CANARY, !CANARY, 7] {
            let form = form(mode, Witnesses::Omitted);
            let words = form.initial_words(&SIZE, nonce).unwrap();
            let error = form.read_records(&SIZE, &words, nonce).unwrap_err();
            assert!(
                matches!(
                    error,
                    CanaryError::Canary { .. } | CanaryError::Slots { missing: 96, .. }
                ),
                "{error}"
            );
            assert_eq!(
                form.read_records(&SIZE, &written(form, nonce), nonce).unwrap().words,
                [0, 0]
            );
        }
    }
}

#[test]
fn foreign_and_damaged_buffers_are_refused() {
    let error = |change: &dyn Fn(&mut Vec<u32>)| {
        let mut words = written(shared(), 9);
        change(&mut words);
        shared().read_records(&SIZE, &words, 9).unwrap_err()
    };
    assert_eq!(error(&|words| words[0] = 8), CanaryError::Nonce { expected: 9, actual: 8 });
    assert_eq!(error(&|words| words.truncate(9)), CanaryError::Size { expected: 10, actual: 9 });
    assert_eq!(error(&|words| words[5] += 1), CanaryError::Header { word: 5 });
    assert_eq!(error(&|words| words[7] = 1), CanaryError::Header { word: 7 });
}

#[test]
fn one_slot_without_canary_refuses_all() {
    let form = form(RecordMode::Slots, Witnesses::Omitted);
    let mut words = written(form, 9);
    words[8 + 40] = 0;
    words[8 + 41] = 9;
    let expected = CanaryError::Slots { missing: 2, invocations: 96, first: 40 };
    assert_eq!(form.read_records(&SIZE, &words, 9), Err(expected));
}

#[test]
fn slots_are_united_and_the_lowest_rank_is_the_witness() {
    let form = form(RecordMode::Slots, Witnesses::Recorded);
    let mut words = written(form, 9);
    let mut set =
        |rank: usize, bit: usize| words[8 + (1 + bit / 32) * 96 + rank] |= 1 << (bit % 32);
    for (rank, bit) in [(95, 0), (50, 0), (51, 0), (0, 33), (95, 33), (9, 63)] {
        set(rank, bit);
    }
    let records = form.read_records(&SIZE, &words, 9).unwrap();
    assert_eq!(records.words, [1, 1 << 31 | 2]);
    let witnesses = [(0, SIZE.invocation_at(50)), (33, [0, 0, 0]), (63, SIZE.invocation_at(9))];
    assert_eq!(records.witnesses, witnesses.into());
    let everyone = form.by_invocation(&SIZE, &words, &[0, 1, 33].into()).unwrap();
    let lowest = |bit: u32| (everyone.by_bit[&bit].count(), everyone.by_bit[&bit].lowest());
    assert_eq!((lowest(0), lowest(1), lowest(33)), ((3, Some(50)), (0, None), (2, Some(0))));
    assert_eq!((everyone.by_bit.len(), everyone.local_size), (3, SIZE.local_size));
    assert_eq!(shared().by_invocation(&SIZE, &written(shared(), 9), &[0].into()), None);
}

#[test]
fn ranks_count_workgroups_before_local_indices_x_first() {
    let all: Vec<[u32; 3]> = (0..96).map(|rank| SIZE.invocation_at(rank)).collect();
    assert_eq!((all[0], all[1], all[4], all[8]), ([0, 0, 0], [1, 0, 0], [0, 1, 0], [4, 0, 0]));
    assert_eq!((all[16], all[48], all[95]), ([0, 2, 0], [0, 0, 1], [7, 5, 1]));
    let mut sorted = all.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), 96);
}

#[test]
fn witnesses_that_contradict_their_bit_are_refused() {
    let form = form(RecordMode::Direct, Witnesses::Recorded);
    let mut words = written(form, 9);
    (words[8], words[10]) = (1, 95);
    assert_eq!(
        form.read_records(&SIZE, &words, 9).unwrap().witnesses,
        [(0, SIZE.invocation_at(95))].into()
    );
    for (bits, rank) in [(1, 96), (1, NOBODY), (0, 3)] {
        (words[8], words[10]) = (bits, rank);
        let error = form.read_records(&SIZE, &words, 9).unwrap_err();
        assert_eq!(error, CanaryError::Witness { bit: 0, rank, invocations: 96 });
    }
}

#[test]
fn dispatches_too_large_for_ranks_are_refused_only_where_ranks_are_needed() {
    let size = DispatchSize { groups: [65_535, 65_535, 1], local_size: [1, 1, 1] };
    let beyond = DispatchSize { local_size: [2, 1, 1], ..size };
    assert_eq!(shared().word_count(&beyond), Ok(10));
    let witnessed = form(RecordMode::Workgroup, Witnesses::Recorded);
    assert_eq!(witnessed.word_count(&size), Ok(74));
    let error = witnessed.word_count(&beyond).unwrap_err().to_string();
    assert!(error.contains("`workgroup` with witnesses: 8589672450 invocations"), "{error}");
    let error = form(RecordMode::Slots, Witnesses::Omitted).word_count(&size).unwrap_err();
    assert_eq!(error, RecordLimit::Slots { invocations: 4_294_836_225, words: 2 });
}

fn copied(copies: u32) -> RecordForm {
    RecordForm { copies, ..shared() }
}

#[test]
fn copies_are_united_and_each_used_one_needs_its_canary() {
    // Workgroups (0..2, 0..3, 0..2): sums 0 to 4, so that five of eight copies are used.
    let form = copied(8);
    let fresh = form.initial_words(&SIZE, 9).unwrap();
    assert_eq!(fresh.len(), 8 + 8 * 32);
    let at = |copy: usize, word: usize| 8 + 32 * copy + word;
    assert_eq!(
        form.read_records(&SIZE, &fresh, 9).unwrap_err(),
        CanaryError::Copy { copy: 0, expected: 9 ^ CANARY, actual: !(9 ^ CANARY) }
    );
    let mut words = fresh;
    (0..5).for_each(|copy| words[at(copy, 0)] = 9 ^ CANARY);
    assert_eq!(form.read_records(&SIZE, &words, 9).unwrap().words, [0, 0]);
    (words[at(0, 1)], words[at(4, 1)], words[at(2, 2)]) = (1, 6, 1 << 31);
    assert_eq!(form.read_records(&SIZE, &words, 9).unwrap().words, [7, 1 << 31]);
    let refused = |change: &dyn Fn(&mut Vec<u32>)| {
        let mut words = words.clone();
        change(&mut words);
        form.read_records(&SIZE, &words, 9).unwrap_err()
    };
    assert!(matches!(refused(&|words| words[at(4, 0)] = 0), CanaryError::Copy { copy: 4, .. }));
    assert!(matches!(
        refused(&|words| words[at(5, 0)] = 9 ^ CANARY),
        CanaryError::Copy { copy: 5, .. }
    ));
    assert_eq!(refused(&|words| words[at(3, 3)] = 1), CanaryError::Between { copy: 3 });
    assert_eq!(refused(&|words| words[at(6, 1)] = 1), CanaryError::Between { copy: 6 });
    assert!(matches!(refused(&|words| words[1] = 9 ^ CANARY), CanaryError::Canary { .. }));
}

#[test]
fn no_copy_is_used_by_a_dispatch_of_nothing() {
    let size = DispatchSize { groups: [4, 0, 1], ..SIZE };
    let form = copied(4);
    let words = form.initial_words(&size, 9).unwrap();
    assert_eq!(form.read_records(&size, &words, 9).unwrap().words, [0, 0]);
}

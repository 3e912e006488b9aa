//! Finds what must stay unmarked where the marked text does not compile although the plain text
//! does.
//!
//! Promises: the kernel never fails for its markers, and few compilations are needed: what stands
//! on the lines that the compiler complains about is left out first, and put back piece by piece. A
//! bounded search finds the decisions and marks at fault; what the budget leaves open is left
//! unmarked too.

use super::marking::Marked;
use std::collections::BTreeMap;

/// Most compilations of one search.
const COMPILATIONS: u32 = 120;

/// Most rounds of leaving out what the compiler complains about: an error can hide others.
const ROUNDS: u32 = 6;

/// Marked text that compiles, and what was left out for it.
#[derive(Debug, Clone)]
pub(crate) struct Isolated<T> {
    pub compiled: T,
    /// With the compiler's reason.
    pub excluded: BTreeMap<Marked, String>,
}

/// The compiler does not accept a text.
#[derive(Debug, Clone)]
pub(crate) struct Rejection {
    pub reason: String,
    /// What stands on the lines that it names.
    pub suspects: Vec<Marked>,
}

type Excluded = BTreeMap<Marked, String>;

/// Searches with `attempt`, which compiles the text with the given things left out.
/// `None` where not even the text without any marker compiles.
pub(crate) fn isolate<T>(
    all_marked: &[Marked],
    mut try_compile: impl FnMut(&Excluded) -> Result<T, Rejection>,
) -> Option<Isolated<T>> {
    let mut excluded = Excluded::new();
    let mut rejection = match try_compile(&excluded) {
        Ok(compiled) => return Some(Isolated { compiled, excluded }),
        Err(rejection) => rejection,
    };
    for _ in 0..ROUNDS {
        let excluded_before = excluded.len();
        for suspect in &rejection.suspects {
            excluded.entry(*suspect).or_insert_with(|| rejection.reason.clone());
        }
        if excluded.len() == excluded_before {
            break;
        }
        match try_compile(&excluded) {
            Ok(compiled) => return Some(put_back(Isolated { compiled, excluded }, try_compile)),
            Err(next_rejection) => rejection = next_rejection,
        }
    }
    let all_excluded: Excluded =
        all_marked.iter().map(|marked| (*marked, rejection.reason.clone())).collect();
    let compiled = try_compile(&all_excluded).ok()?;
    Some(put_back(Isolated { compiled, excluded: all_excluded }, try_compile))
}

/// Puts back what was left out for no fault of its own. Invariant: the text without `excluded`
/// compiles; pieces are put back as long as it does.
fn put_back<T>(
    mut isolated: Isolated<T>,
    mut try_compile: impl FnMut(&Excluded) -> Result<T, Rejection>,
) -> Isolated<T> {
    let excluded_items: Vec<Marked> = isolated.excluded.keys().copied().collect();
    let (first, second) = excluded_items.split_at(excluded_items.len() / 2);
    // All of them together are known not to compile.
    let mut pending_pieces: Vec<Vec<Marked>> =
        if excluded_items.len() < 2 { Vec::new() } else { vec![second.to_vec(), first.to_vec()] };
    let mut attempts_left = COMPILATIONS;
    while let Some(piece) = pending_pieces.pop() {
        if attempts_left == 0 {
            break;
        }
        attempts_left -= 1;
        let mut still_excluded = isolated.excluded.clone();
        for marked in &piece {
            still_excluded.remove(marked);
        }
        match try_compile(&still_excluded) {
            Ok(compiled) => isolated = Isolated { compiled, excluded: still_excluded },
            Err(rejection) if piece.len() == 1 => {
                isolated.excluded.insert(piece[0], rejection.reason);
            }
            Err(_) => {
                let (first, second) = piece.split_at(piece.len() / 2);
                pending_pieces.push(second.to_vec());
                pending_pieces.push(first.to_vec());
            }
        }
    }
    isolated
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::id::DecisionId;

    fn decisions(count: u32) -> Vec<Marked> {
        (1..=count).map(|number| Marked::Decision(DecisionId(number))).collect()
    }

    /// Searches with a compiler that rejects `faulty` and names `suspects(first fault)`; counts its
    /// compilations.
    fn search(
        all: &[Marked],
        faulty: &[Marked],
        suspects: impl Fn(Marked) -> Vec<Marked>,
    ) -> (Vec<Marked>, u32) {
        let mut compilations = 0;
        let found = isolate(all, |excluded| {
            compilations += 1;
            let fault = faulty.iter().find(|marked| !excluded.contains_key(marked));
            fault.map_or(Ok(()), |fault| {
                Err(Rejection { reason: format!("{fault:?}"), suspects: suspects(*fault) })
            })
        });
        (found.expect("the plain text compiles").excluded.into_keys().collect(), compilations)
    }

    #[test]
    fn search_finds_exactly_the_faulty_ones() {
        let all = decisions(40);
        let faulty = [all[3], all[17], all[38]];
        let (found, _) = search(&all, &faulty, |_| Vec::new());
        assert_eq!(found, faulty);
        // A neighbour on the line of each fault is put back.
        let neighbours = |fault| {
            all.iter().copied().filter(|other| *other == fault || *other == all[4]).collect()
        };
        let (found, compilations) = search(&all, &faulty, neighbours);
        assert_eq!(found, faulty);
        assert!(compilations <= 12, "{compilations}");
    }

    #[test]
    fn many_decisions_cost_no_more_than_their_faults() {
        let all = decisions(10_000);
        let faulty = [all[1], all[4_000], all[9_999]];
        let (found, compilations) = search(&all, &faulty, |fault| vec![fault]);
        assert_eq!(found, faulty);
        assert!(compilations <= 8, "{compilations}");
        let (found, compilations) = search(&all, &faulty, |_| Vec::new());
        assert_eq!(found, faulty);
        assert!(compilations <= COMPILATIONS, "{compilations}");
    }

    #[test]
    fn text_that_never_compiles_is_reported() {
        let broken = Rejection { reason: "broken".to_owned(), suspects: Vec::new() };
        assert!(isolate(&[], |_| Err::<(), _>(broken.clone())).is_none());
    }
}

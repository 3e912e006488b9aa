//! Finds what must stay unmarked where the marked text does not compile although the plain text
//! does.
//!
//! Promises: markers never make a kernel fail, and few compilations are needed: markers on the
//! lines that the compiler complains about are left out first and then put back by bisection.
//! Markers that the budget of compilations leaves undecided stay left out.

use std::collections::BTreeMap;
use std::rc::Rc;

/// Most compilations of one search.
const COMPILATION_LIMIT: u32 = 120;

/// Most rounds of leaving out what the compiler complains about: an error can hide others.
const ROUND_LIMIT: u32 = 6;

/// Marked text that compiles, and what was left out for it.
#[derive(Debug, Clone)]
pub(crate) struct AcceptedMarking<T, I> {
    pub compiled: T,
    /// With the compiler's reason.
    pub excluded: Excluded<I>,
}

/// The compiler does not accept a text.
#[derive(Debug, Clone)]
pub(crate) struct CompilerRejection<I> {
    pub reason: Rc<str>,
    /// What stands on the lines that it names.
    pub suspects: Vec<I>,
}

/// What stays unmarked, and why.
pub(crate) type Excluded<I> = BTreeMap<I, Rc<str>>;

/// Searches with `attempt`, which compiles the text with the given things left out.
/// `None` where not even the text without any marker compiles.
pub(crate) fn bisect_rejected<T, I: Copy + Ord>(
    all_marked: &[I],
    mut try_compile: impl FnMut(&Excluded<I>) -> Result<T, CompilerRejection<I>>,
) -> Option<AcceptedMarking<T, I>> {
    let mut excluded = Excluded::new();
    let mut rejection = match try_compile(&excluded) {
        Ok(compiled) => return Some(AcceptedMarking { compiled, excluded }),
        Err(rejection) => rejection,
    };
    for _ in 0..ROUND_LIMIT {
        let excluded_before = excluded.len();
        for suspect in &rejection.suspects {
            excluded.entry(*suspect).or_insert_with(|| Rc::clone(&rejection.reason));
        }
        if excluded.len() == excluded_before {
            break;
        }
        match try_compile(&excluded) {
            Ok(compiled) => {
                return Some(put_back(AcceptedMarking { compiled, excluded }, try_compile));
            }
            Err(next_rejection) => rejection = next_rejection,
        }
    }
    let all_excluded: Excluded<I> =
        all_marked.iter().map(|marked| (*marked, Rc::clone(&rejection.reason))).collect();
    let compiled = try_compile(&all_excluded).ok()?;
    Some(put_back(AcceptedMarking { compiled, excluded: all_excluded }, try_compile))
}

/// Puts back markers that were left out without being at fault. Invariant: the text without
/// `excluded` compiles; pieces are put back as long as it does.
fn put_back<T, I: Copy + Ord>(
    mut isolated: AcceptedMarking<T, I>,
    mut try_compile: impl FnMut(&Excluded<I>) -> Result<T, CompilerRejection<I>>,
) -> AcceptedMarking<T, I> {
    let excluded_items: Vec<I> = isolated.excluded.keys().copied().collect();
    let mut pending_pieces = Vec::new();
    // All of them together need not be tried: they are known not to compile.
    if excluded_items.len() > 1 {
        pending_pieces.extend(halves_last_first(&excluded_items));
    }
    let mut attempts_left = COMPILATION_LIMIT;
    while let Some(piece) = pending_pieces.pop() {
        if attempts_left == 0 {
            break;
        }
        attempts_left -= 1;
        let put_back: Vec<(I, Rc<str>)> =
            piece.iter().filter_map(|marked| isolated.excluded.remove_entry(marked)).collect();
        match try_compile(&isolated.excluded) {
            Ok(compiled) => isolated.compiled = compiled,
            Err(rejection) if piece.len() == 1 => {
                isolated.excluded.insert(piece[0], rejection.reason);
            }
            Err(_) => {
                isolated.excluded.extend(put_back);
                pending_pieces.extend(halves_last_first(&piece));
            }
        }
    }
    isolated
}

/// The two halves in the order in which a stack takes them.
fn halves_last_first<I: Copy>(marked_items: &[I]) -> [Vec<I>; 2] {
    let (first_half, second_half) = marked_items.split_at(marked_items.len() / 2);
    [second_half.to_vec(), first_half.to_vec()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::MarkedItem;
    use vkcert_model::id::DecisionId;

    fn decisions(count: u32) -> Vec<MarkedItem> {
        (1..=count).map(|number| MarkedItem::Decision(DecisionId(number))).collect()
    }

    /// Searches with a compiler that rejects `faulty` and names `suspects(first fault)`; counts its
    /// compilations.
    fn search(
        all: &[MarkedItem],
        faulty: &[MarkedItem],
        suspects: impl Fn(MarkedItem) -> Vec<MarkedItem>,
    ) -> (Vec<MarkedItem>, u32) {
        let mut compilations = 0;
        let excluded_decisions = bisect_rejected(all, |excluded| {
            compilations += 1;
            let fault = faulty.iter().find(|marked| !excluded.contains_key(marked));
            fault.map_or(Ok(()), |fault| {
                Err(CompilerRejection {
                    reason: format!("{fault:?}").into(),
                    suspects: suspects(*fault),
                })
            })
        });
        (
            excluded_decisions.expect("the plain text compiles").excluded.into_keys().collect(),
            compilations,
        )
    }

    #[test]
    fn search_finds_exactly_the_faulty_ones() {
        let all = decisions(40);
        let faulty = [all[3], all[17], all[38]];
        let (excluded_decisions, _) = search(&all, &faulty, |_| Vec::new());
        assert_eq!(excluded_decisions, faulty);
        // A neighbour on the line of each fault is put back.
        let neighbours = |fault| {
            all.iter().copied().filter(|other| *other == fault || *other == all[4]).collect()
        };
        let (excluded_decisions, compilations) = search(&all, &faulty, neighbours);
        assert_eq!(excluded_decisions, faulty);
        assert!(compilations <= 12, "{compilations}");
    }

    #[test]
    fn many_decisions_cost_no_more_than_their_faults() {
        let all = decisions(10_000);
        let faulty = [all[1], all[4_000], all[9_999]];
        let (excluded_decisions, compilations) = search(&all, &faulty, |fault| vec![fault]);
        assert_eq!(excluded_decisions, faulty);
        assert!(compilations <= 8, "{compilations}");
        let (excluded_decisions, compilations) = search(&all, &faulty, |_| Vec::new());
        assert_eq!(excluded_decisions, faulty);
        assert!(compilations <= COMPILATION_LIMIT, "{compilations}");
    }

    #[test]
    fn text_that_never_compiles_is_reported() {
        let broken = CompilerRejection { reason: "broken".into(), suspects: Vec::new() };
        assert!(
            bisect_rejected(&[], |_| Err::<(), CompilerRejection<MarkedItem>>(broken.clone()))
                .is_none()
        );
    }
}

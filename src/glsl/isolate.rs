//! Finds what must stay unmarked where the marked text does not compile although the plain text does.
//!
//! Promises: the kernel never fails for its markers. A bounded search finds the decisions and marks at fault; what the
//! budget leaves open is left unmarked too.

use super::marking::Marked;
use std::collections::BTreeMap;

/// Most compilations of one search.
const COMPILATIONS: u32 = 120;

/// Marked text that compiles, and what was left out for it.
#[derive(Debug, Clone)]
pub struct Isolated<T> {
    pub compiled: T,
    /// With the compiler's reason.
    pub excluded: BTreeMap<Marked, String>,
}

/// Searches with `attempt`, which compiles the text with the given things left out.
/// `None` where not even the text without any marker compiles.
pub fn isolate<T>(
    all: &[Marked],
    mut attempt: impl FnMut(&BTreeMap<Marked, String>) -> Result<T, String>,
) -> Option<Isolated<T>> {
    let none = BTreeMap::new();
    let reason = match attempt(&none) {
        Ok(compiled) => return Some(Isolated { compiled, excluded: none }),
        Err(reason) => reason,
    };
    let everything: BTreeMap<Marked, String> = all.iter().map(|marked| (*marked, reason.clone())).collect();
    let mut compiled = attempt(&everything).ok()?;
    // Invariant: the text without `excluded` compiles; pieces are put back as long as it does.
    let mut excluded = everything;
    let mut pending = vec![all.to_vec()];
    let mut left = COMPILATIONS;
    while let Some(piece) = pending.pop() {
        if left == 0 {
            break;
        }
        left -= 1;
        let mut without = excluded.clone();
        for marked in &piece {
            without.remove(marked);
        }
        match attempt(&without) {
            Ok(better) => (compiled, excluded) = (better, without),
            Err(reason) if piece.len() == 1 => {
                excluded.insert(piece[0], reason);
            }
            Err(_) => {
                let (first, second) = piece.split_at(piece.len() / 2);
                pending.push(second.to_vec());
                pending.push(first.to_vec());
            }
        }
    }
    Some(Isolated { compiled, excluded })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::DecisionId;

    #[test]
    fn search_finds_exactly_the_faulty_ones() {
        let all: Vec<Marked> = (1..=40).map(|number| Marked::Decision(DecisionId(number))).collect();
        let faulty = [all[3], all[17], all[38]];
        let found = isolate(&all, |excluded| {
            let fault = faulty.iter().find(|marked| !excluded.contains_key(marked));
            fault.map_or(Ok(excluded.len()), |marked| Err(format!("{marked:?}")))
        });
        let found = found.expect("the plain text compiles");
        assert_eq!(found.excluded.keys().copied().collect::<Vec<_>>(), faulty);
        assert_eq!(found.compiled, 3);
    }

    #[test]
    fn text_that_never_compiles_is_reported() {
        assert!(isolate(&[], |_| Err::<(), _>("broken".to_owned())).is_none());
    }
}

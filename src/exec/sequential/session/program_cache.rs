//! Parsed modules and decoded programs, kept from job to job.
//!
//! Knows: a program depends on its module's words, entry point, specialization, markers and what is
//! known of the dispatch (`DispatchFacts`); all of these are compared, none by a hash alone.
//! Promises: what is kept is bounded; what was used longest ago goes first. A program is the same
//! whether it was kept or not. Of two jobs that ask for the same program at the same time one
//! decodes it and the other waits.
//! Does not cover: two jobs that parse the same module at the same time, which both do so.

use crate::compile::compile;
use crate::decode::{DispatchFacts, Unsupported};
use crate::ir::Program;
use crate::tally::{Counter, Counters};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use vkcert_model::records::MarkerTable;
use vkcert_spirv::module::{Module, ModuleError};

/// Most instructions of kept modules, and most actions of kept programs: some hundred megabytes of
/// each.
const MOST_KEPT: usize = 1_000_000;

/// What a program was decoded from.
#[derive(Debug, Clone)]
pub(crate) struct Origin<'a> {
    pub module: &'a Arc<Module>,
    pub entry: &'a str,
    pub specialization: &'a BTreeMap<u32, u64>,
    pub markers: Option<&'a Arc<MarkerTable>>,
}

/// A program with what running it has shown.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub program: Program,
    /// Whether its workgroups were found to depend on each other; so they are not tried on several
    /// cores again.
    pub dependent: AtomicBool,
}

/// A program, or why there is none; empty while somebody decodes it.
type DecodedPlace = OnceLock<Result<Arc<Decoded>, Unsupported>>;

#[derive(Debug)]
struct Entry {
    words: Arc<Vec<u32>>,
    name: String,
    specialization: BTreeMap<u32, u64>,
    markers: Option<Arc<MarkerTable>>,
    known: DispatchFacts,
    decoded: Arc<DecodedPlace>,
    /// Actions; while it is decoded, instructions of its module.
    size: usize,
}

impl Entry {
    fn is_of(&self, origin: &Origin, known: &DispatchFacts) -> bool {
        let markers = match (&self.markers, origin.markers) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        markers
            && self.name == origin.entry
            && self.specialization == *origin.specialization
            && self.known == *known
            && same(&self.words, &origin.module.words)
    }
}

fn same(one: &Arc<Vec<u32>>, other: &Arc<Vec<u32>>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

/// Each with what was used last at the end.
#[derive(Debug, Default)]
struct Kept {
    modules: Vec<Arc<Module>>,
    programs: Vec<Entry>,
}

/// Shared by the clones of an engine.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    kept: Mutex<Kept>,
    pub counters: Counters,
}

impl Programs {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Entries are put in and taken out whole, whatever becomes of those who do so.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn module(&self, words: &Arc<Vec<u32>>) -> Result<Arc<Module>, ModuleError> {
        if let Some(module) = last(&mut self.kept().modules, |module| same(&module.words, words)) {
            return Ok(module.clone());
        }
        self.counters.count(Counter::Parsed);
        let module = Arc::new(Module::parse(words.clone())?);
        keep(&mut self.kept().modules, module.clone(), |module| module.instructions.len());
        Ok(module)
    }

    pub(crate) fn decoded(
        &self,
        origin: &Origin,
        known: &DispatchFacts,
    ) -> Result<Arc<Decoded>, Unsupported> {
        let place = self.place(origin, known);
        let mut is_new = false;
        let decoded = place.get_or_init(|| {
            is_new = true;
            let markers = origin.markers.map(|markers| &**markers);
            let program =
                compile(origin.module, origin.entry, origin.specialization, markers, known)?;
            Ok(Arc::new(Decoded { program, dependent: AtomicBool::new(false) }))
        });
        self.counters.count(if is_new { Counter::Decoded } else { Counter::Reused });
        if let (true, Ok(decoded)) = (is_new, decoded) {
            let size = decoded.program.blocks.iter().map(|block| block.steps.len() + 1).sum();
            self.measure(&place, size);
        }
        decoded.clone()
    }

    /// Sets the size of a program that was decoded.
    fn measure(&self, place: &Arc<DecodedPlace>, size: usize) {
        let programs = &mut self.kept().programs;
        if let Some(index) = programs.iter().position(|entry| Arc::ptr_eq(&entry.decoded, place)) {
            let entry = programs.remove(index);
            keep(programs, Entry { size, ..entry }, |entry| entry.size);
        }
    }

    /// Where a program is, or will be.
    fn place(&self, origin: &Origin, known: &DispatchFacts) -> Arc<DecodedPlace> {
        let programs = &mut self.kept().programs;
        if let Some(entry) = last(programs, |entry| entry.is_of(origin, known)) {
            return Arc::clone(&entry.decoded);
        }
        let decoded = Arc::default();
        let entry = Entry {
            words: origin.module.words.clone(),
            name: origin.entry.to_owned(),
            specialization: origin.specialization.clone(),
            markers: origin.markers.cloned(),
            known: known.clone(),
            decoded: Arc::clone(&decoded),
            size: origin.module.instructions.len(),
        };
        keep(programs, entry, |entry| entry.size);
        decoded
    }
}

/// The one that is meant, which goes to the end.
fn last<T>(all: &mut [T], is_meant: impl Fn(&T) -> bool) -> Option<&T> {
    let at = all.iter().rposition(is_meant)?;
    all[at..].rotate_left(1);
    all.last()
}

/// Puts one at the end, unless it alone is too large; those that there is no room for any more go
/// from the front.
fn keep<T>(all: &mut Vec<T>, new: T, size: impl Fn(&T) -> usize) {
    if size(&new) > MOST_KEPT {
        return;
    }
    all.push(new);
    let mut room = MOST_KEPT;
    let fits = |one: &T| {
        room = room.checked_sub(size(one).max(1))?;
        Some(())
    };
    let kept = all.iter().rev().map_while(fits).count();
    all.drain(..all.len() - kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let mut all: Vec<(u32, usize)> = Vec::new();
        let third = MOST_KEPT / 3;
        (0..3).for_each(|name| keep(&mut all, (name, third), |one| one.1));
        assert_eq!(last(&mut all, |one| one.0 == 0), Some(&(0, third)));
        keep(&mut all, (3, third), |one| one.1);
        assert_eq!(all.iter().map(|one| one.0).collect::<Vec<_>>(), [2, 0, 3]);
        keep(&mut all, (4, MOST_KEPT + 1), |one| one.1);
        assert_eq!(all.len(), 3);
        keep(&mut all, (5, MOST_KEPT), |one| one.1);
        assert_eq!(all, [(5, MOST_KEPT)]);
    }
}

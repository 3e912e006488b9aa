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
pub(crate) struct ProgramOrigin<'a> {
    pub module: &'a Arc<Module>,
    pub entry: &'a str,
    pub specialization: &'a BTreeMap<u32, u64>,
    pub markers: Option<&'a Arc<MarkerTable>>,
}

/// A program with what running it has shown.
#[derive(Debug)]
pub(crate) struct DecodedProgram {
    pub program: Program,
    /// Whether its workgroups were found to depend on each other; so they are not tried on several
    /// cores again.
    pub depends_on_order: AtomicBool,
}

/// A program, or why there is none; empty while somebody decodes it.
type DecodedPlace = OnceLock<Result<Arc<DecodedProgram>, Unsupported>>;

#[derive(Debug)]
struct ProgramEntry {
    spirv_words: Arc<Vec<u32>>,
    entry_name: String,
    specialization: BTreeMap<u32, u64>,
    markers: Option<Arc<MarkerTable>>,
    known_facts: DispatchFacts,
    decoded_place: Arc<DecodedPlace>,
    /// Actions; while it is decoded, instructions of its module.
    action_count: usize,
}

impl ProgramEntry {
    fn is_for(&self, origin: &ProgramOrigin, known_facts: &DispatchFacts) -> bool {
        let same_markers = match (&self.markers, origin.markers) {
            (Some(own_table), Some(other_table)) => Arc::ptr_eq(own_table, other_table),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        same_markers
            && self.entry_name == origin.entry
            && self.specialization == *origin.specialization
            && self.known_facts == *known_facts
            && same_words(&self.spirv_words, &origin.module.words)
    }
}

fn same_words(first_words: &Arc<Vec<u32>>, second_words: &Arc<Vec<u32>>) -> bool {
    Arc::ptr_eq(first_words, second_words) || first_words == second_words
}

/// Each with what was used last at the end.
#[derive(Debug, Default)]
struct KeptPrograms {
    modules: Vec<Arc<Module>>,
    programs: Vec<ProgramEntry>,
}

/// Shared by the clones of an engine.
#[derive(Debug, Default)]
pub(crate) struct ProgramCache {
    kept: Mutex<KeptPrograms>,
    pub counters: Counters,
}

impl ProgramCache {
    fn kept(&self) -> MutexGuard<'_, KeptPrograms> {
        // Entries are put in and taken out whole, whatever becomes of those who do so.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn parsed_module(
        &self,
        spirv_words: &Arc<Vec<u32>>,
    ) -> Result<Arc<Module>, ModuleError> {
        if let Some(module) =
            take_last(&mut self.kept().modules, |module| same_words(&module.words, spirv_words))
        {
            return Ok(Arc::clone(module));
        }
        self.counters.count_event(Counter::Parsed);
        let module = Arc::new(Module::parse(Arc::clone(spirv_words))?);
        keep_newest(&mut self.kept().modules, Arc::clone(&module), |module| {
            module.instructions.len()
        });
        Ok(module)
    }

    pub(crate) fn decoded_program(
        &self,
        origin: &ProgramOrigin,
        known_facts: &DispatchFacts,
    ) -> Result<Arc<DecodedProgram>, Unsupported> {
        let decoded_place = self.place_of(origin, known_facts);
        let mut is_first = false;
        let decoded_program = decoded_place.get_or_init(|| {
            is_first = true;
            let marker_table = origin.markers.map(|marker_table| &**marker_table);
            let program = compile(
                origin.module,
                origin.entry,
                origin.specialization,
                marker_table,
                known_facts,
            )?;
            Ok(Arc::new(DecodedProgram { program, depends_on_order: AtomicBool::new(false) }))
        });
        self.counters.count_event(if is_first { Counter::Decoded } else { Counter::Reused });
        if let (true, Ok(decoded_program)) = (is_first, decoded_program) {
            let action_count =
                decoded_program.program.blocks.iter().map(|block| block.steps.len() + 1).sum();
            self.set_size(&decoded_place, action_count);
        }
        decoded_program.clone()
    }

    /// Sets the size of a program that was decoded.
    fn set_size(&self, decoded_place: &Arc<DecodedPlace>, action_count: usize) {
        let programs = &mut self.kept().programs;
        if let Some(entry_index) =
            programs.iter().position(|entry| Arc::ptr_eq(&entry.decoded_place, decoded_place))
        {
            let entry = programs.remove(entry_index);
            keep_newest(programs, ProgramEntry { action_count, ..entry }, |entry| {
                entry.action_count
            });
        }
    }

    /// Where a program is, or will be.
    fn place_of(&self, origin: &ProgramOrigin, known_facts: &DispatchFacts) -> Arc<DecodedPlace> {
        let programs = &mut self.kept().programs;
        if let Some(entry) = take_last(programs, |entry| entry.is_for(origin, known_facts)) {
            return Arc::clone(&entry.decoded_place);
        }
        let decoded = Arc::default();
        let entry = ProgramEntry {
            spirv_words: Arc::clone(&origin.module.words),
            entry_name: origin.entry.to_owned(),
            specialization: origin.specialization.clone(),
            markers: origin.markers.cloned(),
            known_facts: known_facts.clone(),
            decoded_place: Arc::clone(&decoded),
            action_count: origin.module.instructions.len(),
        };
        keep_newest(programs, entry, |entry| entry.action_count);
        decoded
    }
}

/// The one that is meant, which goes to the end.
fn take_last<T>(kept_items: &mut [T], is_wanted: impl Fn(&T) -> bool) -> Option<&T> {
    let item_index = kept_items.iter().rposition(is_wanted)?;
    kept_items[item_index..].rotate_left(1);
    kept_items.last()
}

/// Puts one at the end, unless it alone is too large; those that there is no room for any more go
/// from the front.
fn keep_newest<T>(kept_items: &mut Vec<T>, new_item: T, item_size: impl Fn(&T) -> usize) {
    if item_size(&new_item) > MOST_KEPT {
        return;
    }
    kept_items.push(new_item);
    let mut free_size = MOST_KEPT;
    let still_fits = |kept_item: &T| {
        free_size = free_size.checked_sub(item_size(kept_item).max(1))?;
        Some(())
    };
    let kept_count = kept_items.iter().rev().map_while(still_fits).count();
    kept_items.drain(..kept_items.len() - kept_count);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let mut all: Vec<(u32, usize)> = Vec::new();
        let third = MOST_KEPT / 3;
        (0..3).for_each(|name| {
            keep_newest(&mut all, (name, third), |written_buffer| written_buffer.1)
        });
        assert_eq!(take_last(&mut all, |one| one.0 == 0), Some(&(0, third)));
        keep_newest(&mut all, (3, third), |written_buffer| written_buffer.1);
        assert_eq!(all.iter().map(|one| one.0).collect::<Vec<_>>(), [2, 0, 3]);
        keep_newest(&mut all, (4, MOST_KEPT + 1), |written_buffer| written_buffer.1);
        assert_eq!(all.len(), 3);
        keep_newest(&mut all, (5, MOST_KEPT), |written_buffer| written_buffer.1);
        assert_eq!(all, [(5, MOST_KEPT)]);
    }
}

//! Parsed modules and decoded programs, kept from job to job.
//!
//! Knows: a program depends on its module's words, entry point, specialization, markers and what is
//! known of the dispatch (`DispatchFacts`); all of these are compared, none by a hash alone.
//! Promises: what is kept is bounded; what was used longest ago goes first. What is looked for is found
//! among thousands in the same time, because all threads wait for who looks. A program is the same
//! whether it was kept or not. Of two jobs that ask for the same program of one module at the same time one
//! decodes it and the other waits.
//! Does not cover: two jobs that parse the same module at the same time, which both do so, and may then
//! decode it both.

use crate::compile::compile;
use crate::decode::{DispatchFacts, Unsupported};
use crate::ir::Program;
use crate::tally::{Counter, Counters};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
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

#[derive(Debug)]
struct KeptPrograms {
    modules: KeptItems<Arc<Module>>,
    programs: KeptItems<ProgramEntry>,
}

/// Shared by the clones of an engine.
#[derive(Debug)]
pub(crate) struct ProgramCache {
    kept: Mutex<KeptPrograms>,
    pub counters: Counters,
}

impl Default for ProgramCache {
    fn default() -> Self {
        Self::with_room(MOST_KEPT)
    }
}

impl ProgramCache {
    /// `room`: most instructions of kept modules, and most actions of kept programs.
    pub(crate) fn with_room(room: usize) -> Self {
        let (modules, programs) = (KeptItems::with_room(room), KeptItems::with_room(room));
        Self { kept: Mutex::new(KeptPrograms { modules, programs }), counters: Counters::default() }
    }

    fn kept(&self) -> MutexGuard<'_, KeptPrograms> {
        // Entries are put in and taken out whole, whatever becomes of those who do so.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn parsed_module(
        &self,
        spirv_words: &Arc<Vec<u32>>,
    ) -> Result<Arc<Module>, ModuleError> {
        let digest = digest_of(&spirv_words);
        let has_words = |module: &Arc<Module>| same_words(&module.words, spirv_words);
        if let Some(module) = self.kept().modules.used(digest, has_words) {
            return Ok(Arc::clone(module));
        }
        self.counters.count_event(Counter::Parsed);
        let module = Arc::new(Module::parse(Arc::clone(spirv_words))?);
        self.keep_as(digest, &module);
        Ok(module)
    }

    pub(crate) fn keep_module(&self, module: &Arc<Module>) {
        self.keep_as(digest_of(&module.words), module);
    }

    fn keep_as(&self, digest: u64, module: &Arc<Module>) {
        let size = module.instructions.len();
        self.kept().modules.keep(digest, Arc::clone(module), size);
    }

    pub(crate) fn decoded_program(
        &self,
        origin: &ProgramOrigin,
        known_facts: &DispatchFacts,
    ) -> Result<Arc<DecodedProgram>, Unsupported> {
        // The same words come with the same module, as long as that is kept.
        let words = Arc::as_ptr(&origin.module.words).addr();
        let digest = digest_of(&(words, origin.entry, origin.specialization));
        let decoded_place = self.place_of(digest, origin, known_facts);
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
            let is_this = |entry: &ProgramEntry| Arc::ptr_eq(&entry.decoded_place, &decoded_place);
            self.kept().programs.set_size(digest, is_this, action_count);
        }
        decoded_program.clone()
    }

    /// Where a program is, or will be: its size is that of its module until it is decoded.
    fn place_of(
        &self,
        digest: u64,
        origin: &ProgramOrigin,
        known_facts: &DispatchFacts,
    ) -> Arc<DecodedPlace> {
        let programs = &mut self.kept().programs;
        if let Some(entry) = programs.used(digest, |entry| entry.is_for(origin, known_facts)) {
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
        };
        programs.keep(digest, entry, origin.module.instructions.len());
        decoded
    }
}

/// What things are found by among others; those that are not the same may have the same.
fn digest_of(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Things that are kept as long as all of them together are not too large.
#[derive(Debug)]
struct KeptItems<T> {
    /// By the number of their last use: the first was used longest ago.
    items: BTreeMap<u64, KeptItem<T>>,
    /// Numbers of last uses, by digest.
    by_digest: FxHashMap<u64, Vec<u64>>,
    next_use: u64,
    /// Of all together.
    size: usize,
    /// Most of that.
    room: usize,
}

#[derive(Debug)]
struct KeptItem<T> {
    digest: u64,
    /// At least 1.
    size: usize,
    item: T,
}

impl<T> KeptItems<T> {
    fn with_room(room: usize) -> Self {
        Self { items: BTreeMap::new(), by_digest: FxHashMap::default(), next_use: 0, size: 0, room }
    }

    /// The one that is meant, which counts as used now.
    fn used(&mut self, digest: u64, is_meant: impl Fn(&T) -> bool) -> Option<&T> {
        let kept_item = self.remove(digest, is_meant)?;
        let last_use = self.insert(kept_item);
        Some(&self.items[&last_use].item)
    }

    /// Keeps one, unless it alone is too large; those that there is no room for any more go, what was
    /// used longest ago before all.
    fn keep(&mut self, digest: u64, item: T, size: usize) {
        let size = size.max(1);
        if size > self.room {
            return;
        }
        self.insert(KeptItem { digest, size, item });
        while self.size > self.room {
            let Some(oldest) = self.items.keys().next().copied() else { break };
            self.remove_use(oldest);
        }
    }

    /// Gives the one that is meant another size.
    fn set_size(&mut self, digest: u64, is_meant: impl Fn(&T) -> bool, size: usize) {
        if let Some(KeptItem { digest, item, .. }) = self.remove(digest, is_meant) {
            self.keep(digest, item, size);
        }
    }

    fn insert(&mut self, kept_item: KeptItem<T>) -> u64 {
        let last_use = self.next_use;
        self.next_use += 1;
        self.size += kept_item.size;
        self.by_digest.entry(kept_item.digest).or_default().push(last_use);
        self.items.insert(last_use, kept_item);
        last_use
    }

    fn remove(&mut self, digest: u64, is_meant: impl Fn(&T) -> bool) -> Option<KeptItem<T>> {
        let uses = self.by_digest.get(&digest)?;
        let last_use = uses.iter().rev().find(|last_use| is_meant(&self.items[*last_use].item))?;
        self.remove_use(*last_use)
    }

    fn remove_use(&mut self, last_use: u64) -> Option<KeptItem<T>> {
        let kept_item = self.items.remove(&last_use)?;
        self.size -= kept_item.size;
        if let Some(uses) = self.by_digest.get_mut(&kept_item.digest) {
            uses.retain(|other_use| *other_use != last_use);
            if uses.is_empty() {
                self.by_digest.remove(&kept_item.digest);
            }
        }
        Some(kept_item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of what is kept, what was used longest ago first.
    fn names(kept_items: &KeptItems<u32>) -> Vec<u32> {
        kept_items.items.values().map(|kept_item| kept_item.item).collect()
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let mut kept_items = KeptItems::with_room(MOST_KEPT);
        let third = MOST_KEPT / 3;
        // Several have one digest.
        let digest = |name: u32| u64::from(name % 2);
        (0..3).for_each(|name| kept_items.keep(digest(name), name, third));
        assert_eq!(kept_items.used(digest(0), |name| *name == 0), Some(&0));
        assert_eq!(kept_items.used(digest(1), |name| *name == 0), None);
        kept_items.keep(digest(3), 3, third);
        assert_eq!(names(&kept_items), [2, 0, 3]);
        kept_items.keep(digest(4), 4, MOST_KEPT + 1);
        assert_eq!(names(&kept_items), [2, 0, 3]);
        kept_items.set_size(digest(2), |name| *name == 2, 2 * third);
        assert_eq!(names(&kept_items), [3, 2]);
        kept_items.keep(digest(5), 5, MOST_KEPT);
        assert_eq!((names(&kept_items), kept_items.size), (vec![5], MOST_KEPT));
        assert_eq!(kept_items.by_digest.len(), 1);
    }
}

//! What a campaign takes from a cache and leaves there.
//!
//! Knows: the runs of one test on one engine stand in one entry ([`Bundle`]), which is named by the
//! first of them. Promises: each of them is looked up by its own key. What is taken is counted by
//! where it was made. A cache that cannot be written stops nothing.

use super::key::CacheKey;
use super::store::{CacheError, CacheStore, KeptContent, Loaded, PruneLimits};
use super::stored_run::{EngineResults, StoredResults};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use vkcert_model::canonical::canonical_json;
use vkcert_model::provenance::{CouplingReuse, KernelReuse, ReusedRuns, RunOrigin, RunReuse};

/// Whether results that could be taken run again, to be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recheck {
    /// None.
    Never,
    /// One of so many, drawn anew by each campaign.
    OneIn {
        /// At least 1.
        share: u32,
        /// What chance is drawn from.
        seed: u64,
    },
}

impl Recheck {
    /// Whether a run is drawn.
    fn draws(self, key: &CacheKey) -> bool {
        match self {
            Recheck::Never => false,
            Recheck::OneIn { share, seed } => {
                let drawn = CacheKey::of_bytes(format!("{seed} {key}").as_bytes());
                drawn.low_bits().is_multiple_of(u64::from(share.max(1)))
            }
        }
    }
}

/// The cache of a campaign.
pub struct RunCache {
    store: CacheStore,
    /// SHA-256 of the program's file.
    program: String,
    origin: CacheKey,
    recheck: Recheck,
    tally: Mutex<Tally>,
}

impl fmt::Debug for RunCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunCache").field("folder", &self.store.root()).finish_non_exhaustive()
    }
}

/// What a run makes that is no result of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Product {
    /// A compiled kernel.
    Kernel,
    /// The coupling of a kernel with its host.
    Coupling,
}

/// A product that was made, with what a cache keeps of it; without that it cannot be kept.
pub struct MadeProduct<T> {
    /// The product.
    pub product: T,
    /// All of it, written down.
    pub content: Option<Vec<u8>>,
}

/// What was taken and left.
#[derive(Default)]
struct Tally {
    ran: u64,
    reused: BTreeMap<CacheKey, u64>,
    products: BTreeMap<Product, ProductTally>,
    compared: u64,
    /// Names of tests, kernels and coupling that came to something else than what was kept of them.
    differing: Vec<String>,
    damaged: u64,
    not_kept: Option<String>,
}

/// The same of products.
#[derive(Default)]
struct ProductTally {
    made: u64,
    reused: BTreeMap<CacheKey, u64>,
    compared: u64,
}

/// The runs of one test on one engine.
#[derive(Default)]
pub(crate) struct Bundle {
    rows: BTreeMap<CacheKey, BundleRow>,
    is_changed: bool,
}

struct BundleRow {
    origin: CacheKey,
    results: StoredResults,
}

/// A row as an entry holds it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRow {
    key: String,
    origin: String,
    results: StoredResults,
}

impl RunCache {
    /// The cache of a run that begins here.
    pub fn new(store: CacheStore, origin: &RunOrigin, recheck: Recheck) -> Self {
        // Only values that no JSON has could fail.
        let text = canonical_json(origin).unwrap_or_default();
        let key = CacheKey::of_bytes(text.as_bytes());
        let mut tally = Tally::default();
        if let Err(error) = store.save(&key, &key, text.as_bytes()) {
            tally.not_kept = Some(error.to_string());
        }
        let program = origin.binary_sha256.clone();
        Self { store, program, origin: key, recheck, tally: Mutex::new(tally) }
    }

    /// The folder of the cache.
    pub fn folder(&self) -> &std::path::Path {
        self.store.root()
    }

    /// SHA-256 of the file of the program that runs: results of another one are not used.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Removes what has not been used for longest where there is more than so many bytes; how many
    /// entries.
    pub fn shrink(&self, most_bytes: u64) -> Result<usize, CacheError> {
        if self.store.told_size().is_some_and(|bytes| bytes <= most_bytes) {
            return Ok(0);
        }
        self.store.prune(&PruneLimits { longest_unused: None, most_bytes: Some(most_bytes) })
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has been taken and left up to now.
    pub fn reuse(&self) -> RunReuse {
        let Tally { ran, reused, products, compared, differing: _, damaged, not_kept } =
            &*self.tally();
        let none = ProductTally::default();
        let tally_of = |product: Product| products.get(&product).unwrap_or(&none);
        let (kernels, coupling) = (tally_of(Product::Kernel), tally_of(Product::Coupling));
        RunReuse {
            ran: *ran,
            reused: self.by_origin(reused),
            kernels: KernelReuse {
                compiled: kernels.made,
                reused: self.by_origin(&kernels.reused),
                compared: kernels.compared,
            },
            coupling: CouplingReuse {
                analysed: coupling.made,
                reused: self.by_origin(&coupling.reused),
                compared: coupling.compared,
            },
            compared: *compared,
            damaged: *damaged,
            not_kept: not_kept.clone(),
        }
    }

    /// Counts by the runs that they are of, in the order of their times.
    fn by_origin(&self, counts: &BTreeMap<CacheKey, u64>) -> Vec<ReusedRuns> {
        let row = |(origin, count): (&CacheKey, &u64)| ReusedRuns {
            count: *count,
            origin: self.origin_of(origin),
        };
        let mut rows: Vec<ReusedRuns> = counts.iter().map(row).collect();
        let time_of = |row: &ReusedRuns| row.origin.as_ref().map(|origin| origin.started.clone());
        rows.sort_by_cached_key(time_of);
        rows
    }

    /// Names of what came to something else than what was kept of it; the cache holds what is new
    /// now.
    pub fn differing(&self) -> Vec<String> {
        let mut names = self.tally().differing.clone();
        names.sort();
        names.dedup();
        names
    }

    fn origin_of(&self, origin: &CacheKey) -> Option<RunOrigin> {
        match self.store.load(origin) {
            Loaded::Found { content, .. } => serde_json::from_slice(&content.bytes).ok(),
            Loaded::Missing | Loaded::Damaged => None,
        }
    }

    /// A product: taken from the cache where `read` understands what stands under its key, else made
    /// and kept. One that is drawn to be compared is made, too. `name` is what a difference is told of.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn taken_or_made<T, E>(
        &self,
        kind: Product,
        (key, name): (CacheKey, &str),
        read: impl FnOnce(KeptContent) -> Option<T>,
        make: impl FnOnce() -> Result<MadeProduct<T>, E>,
    ) -> Result<T, E> {
        let mut compared = None;
        match self.store.load(&key) {
            Loaded::Missing => {}
            Loaded::Damaged => self.tally().damaged += 1,
            Loaded::Found { content, .. } if self.recheck.draws(&key) => {
                compared = Some(content.bytes);
            }
            Loaded::Found { origin, content } => {
                if let Some(product) = read(content) {
                    let mut tally = self.tally();
                    let of_kind = tally.products.entry(kind).or_default();
                    *of_kind.reused.entry(origin).or_default() += 1;
                    return Ok(product);
                }
            }
        }
        let MadeProduct { product, content } = make()?;
        self.keep_product(kind, (key, name), compared.as_deref(), content.as_deref());
        Ok(product)
    }

    /// Counts a product that was made and has no key.
    pub fn count_made(&self, kind: Product) {
        self.tally().products.entry(kind).or_default().made += 1;
    }

    /// Counts a product that was made, compares it with what was kept of it, and keeps it; without
    /// content it cannot be kept.
    fn keep_product(
        &self,
        kind: Product,
        (key, name): (CacheKey, &str),
        compared: Option<&[u8]>,
        content: Option<&[u8]>,
    ) {
        let mut tally = self.tally();
        let of_kind = tally.products.entry(kind).or_default();
        of_kind.made += 1;
        if compared.is_some() {
            if compared == content {
                of_kind.compared += 1;
                return;
            }
            tally.differing.push(name.to_owned());
        }
        drop(tally);
        match content {
            Some(content) => self.keep_bytes(&key, content),
            None => drop(self.store.discard(&key)),
        }
    }

    /// What was kept under a key; none: nothing that is whole.
    pub fn kept_bytes(&self, key: &CacheKey) -> Option<Vec<u8>> {
        match self.store.load(key) {
            Loaded::Found { content, .. } => Some(content.bytes),
            Loaded::Missing | Loaded::Damaged => None,
        }
    }

    /// Keeps bytes under a key; what cannot be kept is not there the next time.
    pub fn keep_bytes(&self, key: &CacheKey, bytes: &[u8]) {
        if let Err(error) = self.store.save(key, &self.origin, bytes) {
            self.tally().not_kept.get_or_insert(error.to_string());
        }
    }

    /// The runs that stand under the key of their first.
    pub(crate) fn load_bundle(&self, first_run: &CacheKey) -> Bundle {
        let rows = match self.store.load(first_run) {
            Loaded::Missing => return Bundle::default(),
            Loaded::Damaged => None,
            Loaded::Found { content, .. } => {
                let rows = parsed_rows(&content.bytes);
                if rows.is_none() {
                    self.store.discard(first_run);
                }
                rows
            }
        };
        if rows.is_none() {
            self.tally().damaged += 1;
        }
        Bundle { rows: rows.unwrap_or_default(), is_changed: false }
    }

    /// A result to be used in place of a run; none: the engine has to run.
    pub(crate) fn take(&self, bundle: &Bundle, key: &CacheKey) -> Option<EngineResults> {
        let row = bundle.rows.get(key)?;
        if self.recheck.draws(key) {
            return None;
        }
        let engine_results = row.results.clone().into_results()?;
        *self.tally().reused.entry(row.origin).or_default() += 1;
        Some(engine_results)
    }

    /// Counts a run of an engine, compares it with what was kept of it, and keeps it.
    pub(crate) fn keep(
        &self,
        bundle: &mut Bundle,
        (key, name): (CacheKey, &str),
        engine_results: Option<&EngineResults>,
    ) {
        let mut tally = self.tally();
        tally.ran += 1;
        let kept = bundle.rows.get(&key).and_then(|row| row.results.clone().into_results());
        if let Some(kept) = kept {
            if Some(&kept) == engine_results {
                tally.compared += 1;
                return;
            }
            tally.differing.push(name.to_owned());
            bundle.rows.remove(&key);
            bundle.is_changed = true;
        }
        drop(tally);
        if let Some(results) = engine_results.and_then(StoredResults::faithful) {
            bundle.rows.insert(key, BundleRow { origin: self.origin, results });
            bundle.is_changed = true;
        }
    }

    /// Writes the runs of a test, if there are new ones.
    pub(crate) fn save_bundle(&self, first_run: &CacheKey, bundle: &Bundle) {
        if !bundle.is_changed {
            return;
        }
        let rows = bundle.rows.iter().map(|(key, row)| StoredRow {
            key: key.to_string(),
            origin: row.origin.to_string(),
            results: row.results.clone(),
        });
        let rows: Vec<StoredRow> = rows.collect();
        let saved = match serde_json::to_vec(&rows) {
            Ok(content) => self
                .store
                .save(first_run, &self.origin, &content)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = saved {
            self.tally().not_kept.get_or_insert(reason);
        }
    }
}

fn parsed_rows(content: &[u8]) -> Option<BTreeMap<CacheKey, BundleRow>> {
    let stored: Vec<StoredRow> = serde_json::from_slice(content).ok()?;
    let row = |row: StoredRow| {
        let StoredRow { key, origin, results } = row;
        Some((CacheKey::parse(&key)?, BundleRow { origin: CacheKey::parse(&origin)?, results }))
    };
    stored.into_iter().map(row).collect()
}

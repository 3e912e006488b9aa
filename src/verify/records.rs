//! Facts within their bounds: records, outputs and findings that no run of the stored tests could
//! have left are not facts.
//!
//! Promises: a record of a bit, vector or invocation that does not exist, a buffer or row that is
//! missing and a finding told twice are problems. Does not cover: whether what is within the bounds
//! happened.

use super::Verification;
use std::collections::BTreeSet;
use vkcert_derivation::agreement::tells_of_undefined;
use vkcert_derivation::derive;
use vkcert_model::evidence::{Evidence, KernelEvidence, TestEvidence, TestRecords, TestResult};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::procedure::{Binding, Dispatch};
use vkcert_model::records::RecordLayout;
use vkcert_model::schedule::{DirectedResult, MeasuredCode};
use vkcert_model::structure::MarkIndex;
use vkcert_model::verdict::{EngineName, Verdict};

/// Everything that has bounds.
pub fn check(stored: &Evidence, found: &mut Verification) {
    for kernel in &stored.kernels {
        Rows { stored, kernel }.check(found);
    }
    for test in &stored.campaign.tests {
        test.results.iter().for_each(|result| of_result(stored, test, result, found));
    }
    repetitions(stored, found);
}

/// The records of one kernel under one configuration on one engine.
struct Rows<'a> {
    stored: &'a Evidence,
    kernel: &'a KernelEvidence,
}

impl Rows<'_> {
    fn check(&self, found: &mut Verification) {
        let kernel = self.kernel;
        let vectors = possible_bits(&kernel.layout);
        let objects = (0..kernel.objects.structure.bits).collect();
        let entry = self.entry_mark().and_then(|mark| kernel.layout.mark_bit(mark));
        for row in &kernel.records {
            let entered = entry.is_none_or(|bit| row.records.has(bit));
            found.check(entered, || self.problem(row, "the entry point was not entered"));
            self.row(row, kernel.layout.words(), &vectors, found);
            self.undefined(row, found);
            self.directed(row, MeasuredCode::Source, found);
        }
        let words = kernel.objects.structure.bits.div_ceil(32) as usize;
        for row in &kernel.objects.records {
            self.row(row, words, &objects, found);
            self.undefined(row, found);
            self.directed(row, MeasuredCode::Object, found);
        }
    }

    fn entry_mark(&self) -> Option<MarkIndex> {
        let structure = &self.kernel.structure;
        let entry = structure.functions.iter().find(|function| function.name == structure.entry)?;
        Some(entry.entry_mark)
    }

    fn problem(&self, row: &TestRecords, reason: &str) -> String {
        format!(
            "{} on {}: records of {}: {reason}",
            self.kernel.kernel, self.kernel.engine, row.test
        )
    }

    fn row(
        &self,
        row: &TestRecords,
        words: usize,
        possible: &BTreeSet<u32>,
        found: &mut Verification,
    ) {
        let records = &row.records;
        found.check(records.words.len() == words, || {
            self.problem(row, "another number of words than the layout has")
        });
        let bits = (0..records.words.len().min(words) as u32 * 32).filter(|bit| records.has(*bit));
        let bits: BTreeSet<u32> = bits.collect();
        found
            .check(bits.is_subset(possible), || self.problem(row, "a bit that stands for nothing"));
        let seen: BTreeSet<u32> = records.witnesses.keys().copied().collect();
        // The sequential engine knows who set each bit; a device tells of all or none.
        let told = self.kernel.engine == EngineName::Sequential || !seen.is_empty();
        found.check(!told || seen == bits, || {
            self.problem(row, "witnesses of other bits than were recorded")
        });
        let extents = self.extents(row);
        let inside = |id: &[u32; 3]| {
            extents.iter().any(|extent| (0..3).all(|axis| u64::from(id[axis]) < extent[axis]))
        };
        found.check(records.witnesses.values().all(inside), || {
            self.problem(row, "a witness that is none of the test's invocations")
        });
        let barriers = self.kernel.barriers.iter().map(|barrier| barrier.number);
        let barriers: BTreeSet<u32> = barriers.collect();
        found.check(records.barriers.keys().all(|number| barriers.contains(number)), || {
            self.problem(row, "a barrier that the kernel does not have")
        });
    }

    /// What may follow an undefined value is among what was recorded in a passed test that tells of
    /// one.
    fn undefined(&self, row: &TestRecords, found: &mut Verification) {
        let records = &row.records;
        let recorded = records.undefined.iter().all(|bit| records.has(*bit))
            && records
                .undefined_barriers
                .iter()
                .all(|number| records.barriers.contains_key(number));
        let test = self.stored.campaign.tests.iter().find(|test| test.id == row.test);
        let told = test.is_some_and(tells_of_undefined);
        found.check(recorded && (told || !records.follow_undefined()), || {
            self.problem(row, "what may follow an undefined value, of which the test does not tell")
        });
    }

    /// What directed schedules alone have shown is among what was recorded, and its test says that
    /// they did.
    fn directed(&self, row: &TestRecords, of: MeasuredCode, found: &mut Verification) {
        let records = &row.records;
        let right = records.directed.iter().all(|(bit, schedule)| {
            records.has(*bit)
                && self
                    .told(row, of)
                    .any(|told| told.schedule == *schedule && told.reason.is_none())
        });
        found.check(right, || {
            self.problem(row, "what a directed schedule has shown, which its test does not tell")
        });
    }

    /// What the test tells of directed schedules.
    fn told(&self, row: &TestRecords, of: MeasuredCode) -> impl Iterator<Item = &DirectedResult> {
        let test = self.stored.campaign.tests.iter().find(|test| test.id == row.test);
        let results = test.into_iter().flat_map(|test| &test.results);
        let own = results.filter(|result| result.engine == self.kernel.engine);
        own.flat_map(|result| &result.directed).filter(move |told| told.of == of)
    }

    /// Numbers of invocations of the test's dispatches of the kernel.
    fn extents(&self, row: &TestRecords) -> Vec<[u64; 3]> {
        let test = self.stored.campaign.tests.iter().find(|test| test.id == row.test);
        let dispatches = test.into_iter().flat_map(|test| &test.definition.dispatches);
        let own = dispatches.filter(|dispatch| dispatch.kernel == self.kernel.kernel);
        own.map(|dispatch| extent(dispatch, self.kernel.configuration.local_size)).collect()
    }
}

fn extent(dispatch: &Dispatch, local: [u32; 3]) -> [u64; 3] {
    [0, 1, 2].map(|axis| u64::from(dispatch.groups[axis]) * u64::from(local[axis]))
}

/// The bits of marks and of vectors that can occur.
fn possible_bits(layout: &RecordLayout) -> BTreeSet<u32> {
    let sums = layout
        .decisions
        .iter()
        .flat_map(|slot| slot.vectors.iter().map(|vector| slot.base + vector.sum));
    layout.marks.iter().copied().chain(sums).collect()
}

fn of_result(
    stored: &Evidence,
    test: &TestEvidence,
    result: &TestResult,
    found: &mut Verification,
) {
    let name = || format!("test {} on {}", test.id, result.engine);
    let sought = |kind| !stored.campaign.not_looked_for.contains(&kind);
    if result.verdict.completed() {
        let races = result.engine == EngineName::Sequential && sought(FindingKind::DataRace);
        // Older evidence may not have it.
        let scoped = result.race_scope.is_some() == races || stored.inputs.is_none();
        found
            .check(scoped, || format!("{}: whether its races are those of every schedule", name()));
        if stored.inputs.is_some() {
            touched(test, result, &name, found);
        }
    }
    directed(stored, test, result, found);
    let may = result.engine == EngineName::Sequential
        && tells_of_undefined(test)
        && result.verdict != Verdict::Fail;
    found.check(may || !result.rests_on_undefined, || {
        format!("{}: it passes by an undefined value, of which it does not tell", name())
    });
    found.check(decided(result), || {
        format!("{}: which of its repetitions gave the verdict", name())
    });
    let sorted = result.findings.windows(2).all(|pair| pair[0].order(&pair[1]).is_le());
    found.check(sorted, || format!("{}: its findings are out of order", name()));
    for (index, finding) in result.findings.iter().enumerate() {
        // They are in order, or told: what is the same stands beside it.
        let alike =
            result.findings[..index].iter().rev().take_while(|other| other.order(finding).is_eq());
        let mut same = alike.filter(|other| {
            other.kernel == finding.kernel && other.configuration == finding.configuration
        });
        let twice = same.next().is_some();
        found.check(!twice, || format!("{}: a finding {} stands twice", name(), finding.kind));
        found.check(finding.count >= 1, || {
            format!("{}: a finding {} that did not occur", name(), finding.kind)
        });
        found.check(invocations(stored, test, finding), || {
            format!("{}: a finding {} of invocations that there are none of", name(), finding.kind)
        });
    }
}

/// Directed schedules are run of passed tests on the sequential engine, and what they show is in
/// the records of its kernels.
fn directed(stored: &Evidence, test: &TestEvidence, result: &TestResult, found: &mut Verification) {
    let may = result.engine == EngineName::Sequential
        && result.verdict == Verdict::Pass
        && result.schedule.is_none();
    let rows = result.directed.iter().map(|told| (told.of, told.schedule));
    let rows: Vec<_> = rows.collect();
    let twice = (1..rows.len()).any(|index| rows[..index].contains(&rows[index]));
    found.check(!twice && rows.is_sorted_by_key(|(of, _)| *of), || {
        format!("test {} on {}: its directed schedules are out of order", test.id, result.engine)
    });
    for told in &result.directed {
        let rows =
            stored.kernels.iter().filter(|row| row.engine == result.engine).flat_map(|row| {
                match told.of {
                    MeasuredCode::Source => &row.records,
                    MeasuredCode::Object => &row.objects.records,
                }
            });
        let bits =
            rows.filter(|row| row.test == test.id).flat_map(|row| row.records.directed.values());
        let shown = bits.filter(|schedule| **schedule == told.schedule).count();
        let right =
            may && told.schedule.is_directed() && (told.reason.is_none() || told.shown == 0);
        // Records under a specialization that no configuration has are not stored.
        let number = shown <= told.shown as usize
            && (shown == told.shown as usize || !is_configured(stored, test));
        found.check(right && number, || {
            format!(
                "test {} on {}: what a directed schedule has shown ({told})",
                test.id, result.engine
            )
        });
    }
}

/// Whether every dispatch of a test is of a configuration of its kernel.
fn is_configured(stored: &Evidence, test: &TestEvidence) -> bool {
    test.definition.dispatches.iter().all(|dispatch| {
        let mut rows = stored.kernels.iter().filter(|row| row.kernel == dispatch.kernel);
        rows.any(|row| derive::is_of(&row.configuration, &dispatch.specialization))
    })
}

/// Whether the repetition that gave the verdict, where others pass, is one of several, and gave no
/// pass.
fn decided(result: &TestResult) -> bool {
    result.deciding_repetition.is_none_or(|repetition| {
        result.repetitions > 1
            && (1..=result.repetitions).contains(&repetition)
            && result.verdict != Verdict::Pass
    })
}

/// Whether the witnesses of a finding are invocations of its test, as many as it has places at
/// most.
fn invocations(stored: &Evidence, test: &TestEvidence, finding: &Finding) -> bool {
    let places = finding.place.iter().chain(&finding.other_place).count().max(1);
    let dispatches = test.definition.dispatches.iter();
    let own = dispatches
        .filter(|dispatch| finding.kernel.as_ref().is_none_or(|kernel| *kernel == dispatch.kernel));
    let extents = own.flat_map(|dispatch| {
        let rows = stored.kernels.iter().filter(|row| row.kernel == dispatch.kernel);
        rows.map(|row| extent(dispatch, row.configuration.local_size))
    });
    let extents: Vec<[u64; 3]> = extents.collect();
    let inside = |id: &[u32; 3]| {
        extents.iter().any(|extent| (0..3).all(|axis| u64::from(id[axis]) < extent[axis]))
    };
    finding.invocations.len() <= places.max(2) && finding.invocations.iter().all(inside)
}

/// What the sequential engine accessed is of buffers that are bound; it tells of each dispatch.
fn touched(
    test: &TestEvidence,
    result: &TestResult,
    name: &dyn Fn() -> String,
    found: &mut Verification,
) {
    let dispatches = &test.definition.dispatches;
    let due = if result.engine == EngineName::Sequential { dispatches.len() } else { 0 };
    found.check(result.touched.len() == due, || {
        format!("{}: what it accessed, per dispatch", name())
    });
    for (rows, dispatch) in result.touched.iter().zip(dispatches) {
        let keys: Vec<(u32, u32)> = rows.iter().map(|row| (row.set, row.binding)).collect();
        let bound = |key: &(u32, u32)| {
            dispatch.bindings.iter().any(|binding: &Binding| (binding.set, binding.binding) == *key)
        };
        let right = keys.is_sorted_by(|one, other| one < other) && keys.iter().all(bound);
        found.check(right, || format!("{}: what it accessed is not what is bound", name()));
    }
}

/// All tests that completed on an engine were started equally often.
fn repetitions(stored: &Evidence, found: &mut Verification) {
    for engine in [EngineName::Sequential, EngineName::Vulkan] {
        let results = stored.campaign.tests.iter().flat_map(|test| &test.results);
        let times = results
            .filter(|result| result.engine == engine && result.verdict.completed())
            .map(|result| result.repetitions);
        let times: BTreeSet<u32> = times.collect();
        let right = times.len() <= 1 && !times.contains(&0);
        found.check(right || stored.inputs.is_none(), || {
            format!("tests on {engine} were not started equally often")
        });
    }
}

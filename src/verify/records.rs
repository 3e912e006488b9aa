//! Bounds of facts: records, outputs and findings that no run of the stored tests could have left.
//!
//! Promises: a record of a bit, vector or invocation that does not exist, a buffer or row that is
//! missing and a finding that occurs twice are problems. Does not cover: whether what is within the
//! bounds happened.

mod pair_rows;

use super::Verification;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_derivation::agreement::tells_of_undefined;
use vkcert_derivation::derive;
use vkcert_model::evidence::{
    Evidence, KernelEvidence, RowsByTest, TestEvidence, TestRecords, TestResult,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::metric::{MetricName, StatementCounts};
use vkcert_model::procedure::{Binding, Dispatch};
use vkcert_model::records::{RecordLayout, Records};
use vkcert_model::schedule::{DirectedResult, MeasuredCode, Schedule};
use vkcert_model::structure::MarkIndex;
use vkcert_model::verdict::{EngineName, Verdict};

/// Checks everything that has bounds.
pub fn check_bounds(stored: &Evidence, verification: &mut Verification) {
    let tests = RowsByTest::of_tests(&stored.campaign.tests);
    let configurations = ConfigurationsByTest::of(stored);
    let kernel_hashes = derive::signed_kernel_hashes(&stored.kernels);
    for kernel in &stored.kernels {
        let barriers = kernel.barriers.iter().map(|barrier| barrier.number).collect();
        KernelRecords {
            stored,
            kernel_hashes: &kernel_hashes,
            kernel,
            tests: &tests,
            configurations: &configurations,
            barriers,
        }
        .check_rows(verification);
    }
    let directed_records = DirectedRecords::of(stored);
    for test in &stored.campaign.tests {
        for result in &test.results {
            check_result(stored, &directed_records, (test, result), verification);
        }
    }
    check_repetitions(stored, verification);
}

/// The records of one kernel under one configuration on one engine.
struct KernelRecords<'a> {
    stored: &'a Evidence,
    /// What justifications in other kernels are bound to of each kernel.
    kernel_hashes: &'a BTreeMap<KernelName, String>,
    kernel: &'a KernelEvidence,
    tests: &'a RowsByTest<'a, TestEvidence>,
    configurations: &'a ConfigurationsByTest,
    /// Numbers of the kernel's barriers.
    barriers: BTreeSet<u32>,
}

impl KernelRecords<'_> {
    fn check_rows(&self, verification: &mut Verification) {
        let kernel = self.kernel;
        let possible_vectors = possible_bits(&kernel.layout);
        let possible_object_bits = (0..kernel.objects.structure.bits).collect();
        let entry_bit = self.entry_mark().and_then(|mark| kernel.layout.mark_bit(mark));
        for row in &kernel.records {
            let entered = entry_bit.is_none_or(|bit| row.records.has(bit));
            verification
                .check(entered, || self.problem_sentence(row, "the entry point was not entered"));
            self.check_row(row, kernel.layout.words(), &possible_vectors, verification);
            self.check_barriers(row, verification);
            self.check_undefined(row, verification);
            self.check_directed(row, MeasuredCode::Source, verification);
            self.check_statement_counts(row, verification);
            self.check_pairs(row, verification);
            self.check_directed_pairs(row, verification);
        }
        self.check_pairs_outside(verification);
        self.check_pair_classes(verification);
        self.check_earlier_kernels(verification);
        let object_words = kernel.objects.structure.bits.div_ceil(32) as usize;
        for row in &kernel.objects.records {
            self.check_row(row, object_words, &possible_object_bits, verification);
            self.check_undefined(row, verification);
            self.check_directed(row, MeasuredCode::Object, verification);
            let counts = &row.records.statement_counts;
            verification.check(counts.is_none(), || {
                self.problem_sentence(row, "counts of statements beside records of object code")
            });
            let has_pairs = row.records.pairs.is_some() || !row.records.directed_pairs.is_empty();
            verification.check(!has_pairs, || {
                self.problem_sentence(row, "pairs of accesses beside records of object code")
            });
        }
    }

    fn entry_mark(&self) -> Option<MarkIndex> {
        let structure = &self.kernel.structure;
        let entry = structure.functions.iter().find(|function| function.name == structure.entry)?;
        Some(entry.entry_mark)
    }

    fn problem_sentence(&self, row: &TestRecords, reason: &str) -> String {
        format!(
            "{} on {}: records of {}: {reason}",
            self.kernel.kernel, self.kernel.engine, row.test
        )
    }

    fn check_row(
        &self,
        row: &TestRecords,
        word_count: usize,
        possible_bits: &BTreeSet<u32>,
        verification: &mut Verification,
    ) {
        let records = &row.records;
        verification.check(records.words.len() == word_count, || {
            self.problem_sentence(row, "another number of words than the layout has")
        });
        let recorded_bits =
            (0..records.words.len().min(word_count) as u32 * 32).filter(|bit| records.has(*bit));
        let recorded_bits: BTreeSet<u32> = recorded_bits.collect();
        verification.check(recorded_bits.is_subset(possible_bits), || {
            self.problem_sentence(row, "a bit that stands for nothing")
        });
        let witnessed_bits: BTreeSet<u32> = records.witnesses.keys().copied().collect();
        // The sequential engine knows which invocation set each bit; a device names all or none.
        let names_witnesses =
            self.kernel.engine == EngineName::Sequential || !witnessed_bits.is_empty();
        verification.check(!names_witnesses || witnessed_bits == recorded_bits, || {
            self.problem_sentence(row, "witnesses of other bits than were recorded")
        });
        let dispatch_extents = self.extents(row);
        let mut witnesses = records.witnesses.values();
        verification.check(witnesses.all(|id| is_invocation(*id, &dispatch_extents)), || {
            self.problem_sentence(row, "a witness that is none of the test's invocations")
        });
    }

    /// Those of object code are barriers of the production module, which a look at the evidence
    /// alone does not tell; nothing is derived from them.
    fn check_barriers(&self, row: &TestRecords, verification: &mut Verification) {
        let mut numbers = row.records.barriers.keys();
        verification.check(numbers.all(|number| self.barriers.contains(number)), || {
            self.problem_sentence(row, "a barrier that the kernel does not have")
        });
    }

    /// Bits that may follow an undefined value were recorded, in a test with a finding of such a
    /// value.
    fn check_undefined(&self, row: &TestRecords, verification: &mut Verification) {
        let records = &row.records;
        let is_recorded = records.undefined.iter().all(|bit| records.has(*bit))
            && records
                .undefined_barriers
                .iter()
                .all(|number| records.barriers.contains_key(number));
        let tells_of_value = self.tests.first(row.test).is_some_and(tells_of_undefined);
        verification.check(is_recorded && (tells_of_value || !records.follow_undefined()), || {
            self.problem_sentence(
                row,
                "what may follow an undefined value, of which the test does not tell",
            )
        });
    }

    /// What directed schedules alone have shown is among what was recorded, and its test says that
    /// they did.
    fn check_directed(&self, row: &TestRecords, of: MeasuredCode, found: &mut Verification) {
        let records = &row.records;
        let right = records.directed.iter().all(|(bit, schedule)| {
            records.has(*bit)
                && self.told(row, of).any(|directed_schedule| {
                    directed_schedule.schedule == *schedule && directed_schedule.reason.is_none()
                })
        });
        found.check(right, || {
            self.problem_sentence(
                row,
                "what a directed schedule has shown, which its test does not tell",
            )
        });
    }

    /// Counts of statements are there where they are asked for, agree with the records, and are of
    /// the invocations that the test dispatches.
    fn check_statement_counts(&self, row: &TestRecords, verification: &mut Verification) {
        let counts = row.records.statement_counts.as_ref();
        let may_have_counts = self.kernel.engine == EngineName::Sequential
            && self.stored.campaign.project.metrics.contains(&MetricName::AverageStatement);
        let must_have_counts = may_have_counts && row.counted;
        verification
            .check(if counts.is_some() { may_have_counts } else { !must_have_counts }, || {
                self.problem_sentence(row, "whether invocations were counted per statement")
            });
        let Some(counts) = counts else { return };
        let contradiction = derive::counts_contradiction(self.kernel, &row.records, counts);
        verification.check(contradiction.is_none(), || {
            self.problem_sentence(row, contradiction.as_deref().unwrap_or_default())
        });
        let StatementCounts::Counted { dispatched, .. } = counts else { return };
        let extents = self.extents(row);
        let of_kernel = extents.iter().map(|extent| extent.iter().product::<u64>()).sum();
        // Dispatches with other specialization values are of other configurations.
        let dispatches_match = match self.configurations.is_single(self.kernel, &row.test) {
            true => *dispatched == of_kernel,
            false => (1..of_kernel).contains(dispatched),
        };
        verification.check(dispatches_match, || {
            self.problem_sentence(row, "counts of other invocations than the test dispatches")
        });
    }

    /// What the test tells of directed schedules.
    fn told(&self, row: &TestRecords, of: MeasuredCode) -> impl Iterator<Item = &DirectedResult> {
        let results = self.tests.first(row.test).into_iter().flat_map(|test| &test.results);
        let own = results.filter(|result| result.engine == self.kernel.engine);
        own.flat_map(|result| &result.directed).filter(move |told| told.of == of)
    }

    /// Numbers of invocations of the test's dispatches of the kernel.
    fn extents(&self, row: &TestRecords) -> Vec<[u64; 3]> {
        let dispatches =
            self.tests.first(row.test).into_iter().flat_map(|test| &test.definition.dispatches);
        let own = dispatches.filter(|dispatch| dispatch.kernel == self.kernel.kernel);
        own.map(|dispatch| extent(dispatch, self.kernel.configuration.local_size)).collect()
    }
}

/// Under how many configurations a test ran a kernel on an engine.
struct ConfigurationsByTest(BTreeMap<(KernelName, EngineName, TestId), usize>);

impl ConfigurationsByTest {
    fn of(stored: &Evidence) -> Self {
        let mut counts = BTreeMap::new();
        for kernel in &stored.kernels {
            let tests: BTreeSet<TestId> = kernel.records.iter().map(|row| row.test).collect();
            for test in tests {
                *counts.entry((kernel.kernel, kernel.engine, test)).or_default() += 1;
            }
        }
        Self(counts)
    }

    fn is_single(&self, kernel: &KernelEvidence, test: &TestId) -> bool {
        self.0.get(&(kernel.kernel, kernel.engine, *test)) == Some(&1)
    }
}

/// What tests recorded in directed schedules.
struct DirectedRecords<'e> {
    rows: BTreeMap<(EngineName, MeasuredCode), RowsByTest<'e, TestRecords>>,
}

impl<'e> DirectedRecords<'e> {
    fn of(stored: &'e Evidence) -> Self {
        let engines = [EngineName::Sequential, EngineName::Vulkan];
        let keys =
            engines.into_iter().flat_map(|engine| MeasuredCode::ALL.map(|code| (engine, code)));
        let rows = keys.map(|(engine, code)| {
            let kernels = stored.kernels.iter().filter(|kernel| kernel.engine == engine);
            let rows = kernels.flat_map(|kernel| match code {
                MeasuredCode::Source | MeasuredCode::Accesses => &kernel.records,
                MeasuredCode::Object => &kernel.objects.records,
            });
            let directed_test = |row: &TestRecords| {
                (directed_count(&row.records, code, None) > 0).then_some(row.test)
            };
            ((engine, code), RowsByTest::new(rows, directed_test))
        });
        Self { rows: rows.collect() }
    }

    fn of_test(
        &self,
        engine: EngineName,
        code: MeasuredCode,
        test: &TestEvidence,
    ) -> &[&'e TestRecords] {
        self.rows.get(&(engine, code)).map_or(&[], |rows| rows.of(test.id))
    }
}

/// How much a directed schedule, or any, alone has shown.
fn directed_count(records: &Records, code: MeasuredCode, schedule: Option<Schedule>) -> usize {
    let is_of = |other: &Schedule| schedule.is_none_or(|schedule| schedule == *other);
    match code {
        MeasuredCode::Source | MeasuredCode::Object => {
            records.directed.values().filter(|other| is_of(other)).count()
        }
        MeasuredCode::Accesses => {
            let of_schedules = records.directed_pairs.iter().filter(|(other, _)| is_of(other));
            of_schedules.map(|(_, pairs)| pairs.len()).sum()
        }
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

fn check_result(
    stored: &Evidence,
    directed_records: &DirectedRecords,
    (test, result): (&TestEvidence, &TestResult),
    verification: &mut Verification,
) {
    let result_name = || format!("test {} on {}", test.id, result.engine);
    let was_sought = |kind| !stored.campaign.not_looked_for.contains(&kind);
    if result.verdict.completed() {
        let races_sought =
            result.engine == EngineName::Sequential && was_sought(FindingKind::DataRace);
        // Older evidence may not have it.
        let scope_matches = result.race_scope.is_some() == races_sought || stored.inputs.is_none();
        verification.check(scope_matches, || {
            format!("{}: whether its races are those of every schedule", result_name())
        });
        if stored.inputs.is_some() {
            check_touched(test, result, &result_name, verification);
        }
    }
    check_directed(stored, directed_records, (test, result), verification);
    let may_rest_on_undefined = result.engine == EngineName::Sequential
        && tells_of_undefined(test)
        && result.verdict != Verdict::Fail;
    verification.check(may_rest_on_undefined || !result.rests_on_undefined, || {
        format!("{}: it passes by an undefined value, of which it does not tell", result_name())
    });
    verification.check(decides_alone(result), || {
        format!("{}: which of its repetitions gave the verdict", result_name())
    });
    let is_sorted = result.findings.windows(2).all(|pair| pair[0].order(&pair[1]).is_le());
    verification.check(is_sorted, || format!("{}: its findings are out of order", result_name()));
    for (finding_index, finding) in result.findings.iter().enumerate() {
        // Findings are in order, or that was noted above: equal ones are neighbours.
        let findings_alike = result.findings[..finding_index]
            .iter()
            .rev()
            .take_while(|earlier_finding| earlier_finding.order(finding).is_eq());
        let mut same_findings = findings_alike.filter(|earlier_finding| {
            earlier_finding.kernel == finding.kernel
                && earlier_finding.configuration == finding.configuration
        });
        let stands_twice = same_findings.next().is_some();
        verification.check(!stands_twice, || {
            format!("{}: a finding {} stands twice", result_name(), finding.kind)
        });
        verification.check(finding.count >= 1, || {
            format!("{}: a finding {} that did not occur", result_name(), finding.kind)
        });
        verification.check(invocations_exist(stored, test, finding), || {
            format!(
                "{}: a finding {} of invocations that there are none of",
                result_name(),
                finding.kind
            )
        });
    }
}

/// Directed schedules are run for passed tests on the sequential engine alone, and what they show
/// is in the records of its kernels.
fn check_directed(
    stored: &Evidence,
    directed_records: &DirectedRecords,
    (test, result): (&TestEvidence, &TestResult),
    verification: &mut Verification,
) {
    let may_run_directed = result.engine == EngineName::Sequential
        && result.verdict == Verdict::Pass
        && result.schedule.is_none();
    let directed_rows = result
        .directed
        .iter()
        .map(|directed_result| (directed_result.of, directed_result.schedule));
    let directed_rows: Vec<_> = directed_rows.collect();
    let stands_twice = (1..directed_rows.len())
        .any(|index| directed_rows[..index].contains(&directed_rows[index]));
    verification.check(!stands_twice && directed_rows.is_sorted_by_key(|(of, _)| *of), || {
        format!("test {} on {}: its directed schedules are out of order", test.id, result.engine)
    });
    for directed_result in &result.directed {
        let DirectedResult { schedule, of, .. } = directed_result;
        let rows = directed_records.of_test(result.engine, *of, test).iter();
        let shown_count: usize =
            rows.map(|row| directed_count(&row.records, *of, Some(*schedule))).sum();
        let is_consistent = may_run_directed
            && of.is_measured_in(*schedule)
            && (directed_result.reason.is_none() || directed_result.shown == 0);
        // Records under a specialization that no configuration has are not stored.
        let count_matches = shown_count <= directed_result.shown as usize
            && (shown_count == directed_result.shown as usize || !is_configured(stored, test));
        verification.check(is_consistent && count_matches, || {
            format!(
                "test {} on {}: what a directed schedule has shown ({directed_result})",
                test.id, result.engine
            )
        });
    }
}

/// Whether every dispatch of a test is of a configuration of its kernel.
fn is_configured(stored: &Evidence, test: &TestEvidence) -> bool {
    test.definition.dispatches.iter().all(|dispatch| {
        let mut rows = stored.kernels.iter().filter(|row| row.kernel == dispatch.kernel);
        rows.any(|row| derive::leads_to_configuration(&row.configuration, &dispatch.specialization))
    })
}

/// Whether the repetition that gave the verdict, where others pass, is one of several and did not
/// pass.
fn decides_alone(result: &TestResult) -> bool {
    result.deciding_repetition.is_none_or(|repetition| {
        result.repetitions > 1
            && (1..=result.repetitions).contains(&repetition)
            && result.verdict != Verdict::Pass
    })
}

/// Whether the witnesses of a finding are invocations of its test, and no more of them than it has
/// places.
fn invocations_exist(stored: &Evidence, test: &TestEvidence, finding: &Finding) -> bool {
    let place_count = finding.place.iter().chain(&finding.other_place).count().max(1);
    let dispatches = test.definition.dispatches.iter();
    let own_dispatches = dispatches
        .filter(|dispatch| finding.kernel.as_ref().is_none_or(|kernel| *kernel == dispatch.kernel));
    let dispatch_extents = own_dispatches.flat_map(|dispatch| {
        let rows = stored.kernels.iter().filter(|row| row.kernel == dispatch.kernel);
        rows.map(|row| extent(dispatch, row.configuration.local_size))
    });
    let dispatch_extents: Vec<[u64; 3]> = dispatch_extents.collect();
    finding.invocations.len() <= place_count.max(2)
        && finding.invocations.iter().all(|id| is_invocation(*id, &dispatch_extents))
}

/// Whether an invocation id lies within one of the extents.
fn is_invocation(id: [u32; 3], extents: &[[u64; 3]]) -> bool {
    extents.iter().any(|extent| (0..3).all(|axis| u64::from(id[axis]) < extent[axis]))
}

/// The sequential engine reports its accesses for each dispatch, and only to buffers that are
/// bound.
fn check_touched(
    test: &TestEvidence,
    result: &TestResult,
    result_name: &dyn Fn() -> String,
    verification: &mut Verification,
) {
    let dispatches = &test.definition.dispatches;
    let expected_count = if result.engine == EngineName::Sequential { dispatches.len() } else { 0 };
    verification.check(result.touched.len() == expected_count, || {
        format!("{}: what it accessed, per dispatch", result_name())
    });
    for (touched_buffers, dispatch) in result.touched.iter().zip(dispatches) {
        let binding_keys: Vec<(u32, u32)> =
            touched_buffers.iter().map(|row| (row.set, row.binding)).collect();
        let is_bound = |key: &(u32, u32)| {
            dispatch.bindings.iter().any(|binding: &Binding| (binding.set, binding.binding) == *key)
        };
        let is_consistent = binding_keys
            .is_sorted_by(|first_key, second_key| first_key < second_key)
            && binding_keys.iter().all(is_bound);
        verification.check(is_consistent, || {
            format!("{}: what it accessed is not what is bound", result_name())
        });
    }
}

/// All tests that completed on an engine were started equally often.
fn check_repetitions(stored: &Evidence, verification: &mut Verification) {
    for engine in [EngineName::Sequential, EngineName::Vulkan] {
        let results = stored.campaign.tests.iter().flat_map(|test| &test.results);
        let repetition_counts = results
            .filter(|result| result.engine == engine && result.verdict.completed())
            .map(|result| result.repetitions);
        let repetition_counts: BTreeSet<u32> = repetition_counts.collect();
        let is_consistent = repetition_counts.len() <= 1 && !repetition_counts.contains(&0);
        verification.check(is_consistent || stored.inputs.is_none(), || {
            format!("tests on {engine} were not started equally often")
        });
    }
}

#[cfg(test)]
mod pair_tests;
#[cfg(test)]
mod statement_count_tests;
#[cfg(test)]
mod tests;

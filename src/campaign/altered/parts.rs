//! How much of what a test's kernels store it judges: member by member, element by element, and
//! which of its expectations judge nothing.
//!
//! Knows: a test that passed, its final contents, what its dispatches can store by their code.
//! Promises: no kernel is run but checkers, and these through the caller. An element is one that
//! holds something else than before the test. Every member that a kernel can store to by its code
//! has a row, as far as that tells members.
//! Does not cover: single elements that a kernel stores as they were; which bytes are judged
//! (`reach`).

use super::element_cache::ElementCache;
use super::ranges::{common_ranges, in_buffer, subtract_ranges};
use super::reach::{JudgedBytes, MemberRange, Reading};
use super::start_of;
use super::strict::StrictTest;
use crate::CampaignError;
use crate::test_run::PreparedTest;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use vkcert_exec::alteration::{
    ComparedSide, EarlierContents, Elements, Watches, altered_buffer, compared_sides,
    correctly_read,
};
use vkcert_exec::prepare::{BoundBlock, Expected, Prepared, merged_ranges};
use vkcert_exec::resource::JobView;
use vkcert_exec::{BufferContents, JobBinding, JobBuffer};
use vkcert_model::altered::Alteration;
use vkcert_model::evidence::{StoredContents, StoredExpectation};
use vkcert_model::flow::{BufferRange, DispatchFlow, StoreFlow};
use vkcert_model::judged::{JudgedMember, MemberPlace};
use vkcert_oracle::judged::{KernelCodes, TestObservation};

/// A test that passed, with what it left.
pub(super) struct PassedTest<'a> {
    pub prepared_test: &'a PreparedTest<'a>,
    pub job_plan: &'a Prepared,
    pub expected: &'a [StoredExpectation],
    pub flows: &'a [DispatchFlow],
    /// By buffer of the job.
    pub left: &'a [BufferContents],
}

/// What one expectation judges.
pub(super) struct JudgingView {
    /// The outputs that it judges by the kernels' code.
    pub observation: TestObservation,
    /// By buffer of the job: the bytes that it looks at and judges, ascending and disjoint.
    pub bytes: Vec<Vec<Range<usize>>>,
}

/// What the expectations of a test judge.
pub(super) struct JudgingViews {
    /// Of those that judge something.
    pub judging: Vec<JudgingView>,
    /// The others of several, by number.
    pub idle: Vec<u32>,
}

/// What stands behind a store of a dispatch.
pub(super) struct StoreTarget {
    pub place: Rc<MemberPlace>,
    /// Index into the job's buffers.
    pub buffer: usize,
    pub bytes: Range<usize>,
    /// As it is bound.
    pub block: Option<BoundBlock>,
}

impl StoreTarget {
    /// What it can reach, as a key of what is known of its bytes.
    pub(super) fn member_range(&self) -> MemberRange {
        (Rc::clone(&self.place), self.buffer)
    }

    /// The place of one of its members.
    fn place_of(&self, member: Option<String>) -> MemberPlace {
        let MemberPlace { kernel, place, array_index, member: _ } = &*self.place;
        MemberPlace { kernel: *kernel, place: place.clone(), array_index: *array_index, member }
    }
}

/// A store of a dispatch, by its row.
#[derive(Clone, Copy)]
pub(super) struct JudgedStore<'a> {
    pub dispatch: usize,
    pub row: usize,
    flow: &'a StoreFlow,
}

/// Elements of a member.
#[derive(Default)]
struct ElementCount {
    stored: u64,
    judged: u64,
}

impl PassedTest<'_> {
    /// What it judges; `is_blind` says of a checker, by the number of its expectation, whether it
    /// accepts whatever is stored.
    pub(super) fn judging_views(
        &self,
        kernel_codes: &KernelCodes,
        is_blind: &mut dyn FnMut(usize) -> Result<bool, CampaignError>,
    ) -> Result<JudgingViews, CampaignError> {
        let (start, defined) = start_of(&self.job_plan.job);
        let contents_before = EarlierContents { contents: &start, defined: &defined };
        let watches = Watches::of_test(self.job_plan, self.left);
        let elements =
            Elements { plan: self.job_plan, test: self.prepared_test.test, watches: &watches };
        let mut judging = Vec::new();
        let mut idle = Vec::new();
        for (number, (stored, expected)) in
            self.expected.iter().zip(&self.job_plan.expected).enumerate()
        {
            let observation = TestObservation::from_expectations(
                std::slice::from_ref(stored),
                self.flows,
                kernel_codes,
            );
            let expected = correctly_read(&elements, expected.clone());
            let judged_sides = expected
                .as_ref()
                .map_or(Vec::new(), |expected| compared_sides(expected, self.left));
            let bytes_looked_at = self.looked_at(stored, &judged_sides, contents_before);
            let judges = match (&stored.contents, &expected) {
                _ if observation.emptiness_reason().is_some() => false,
                (_, None) => false,
                // Of a single one the verdict on altered contents tells it.
                _ if self.expected.len() < 2 => true,
                (StoredContents::Check { .. }, Some(_)) => !is_blind(number)?,
                (_, Some(expected)) => {
                    self.is_any_storable(&observation, &bytes_looked_at)
                        || self.is_refused(&observation, expected, &judged_sides, contents_before)
                }
            };
            if !judges && self.expected.len() > 1 {
                idle.push(number as u32);
            }
            if judges {
                judging.push(JudgingView { observation, bytes: bytes_looked_at });
            }
        }
        Ok(JudgingViews { judging, idle })
    }

    /// Whether a checker accepts every alteration of what the kernels can store.
    pub(super) fn is_blind(
        &self,
        number: usize,
        kernel_codes: &KernelCodes,
    ) -> Result<bool, CampaignError> {
        let observation = TestObservation::from_expectations(
            &self.expected[number..=number],
            self.flows,
            kernel_codes,
        );
        let plan = Prepared {
            expected: vec![self.job_plan.expected[number].clone()],
            ..self.job_plan.clone()
        };
        StrictTest::of_test(self.prepared_test.test, &plan, self.left)
            .accepts_all(self.left, &self.storable_bytes(&observation))
    }

    /// Whether an alteration of what the kernels can store makes an expectation fail; of two
    /// buffers that it compares, of one of them.
    fn is_refused(
        &self,
        test_observation: &TestObservation,
        expected: &Expected,
        sides: &[ComparedSide<'_>],
        before: EarlierContents<'_>,
    ) -> bool {
        let watches = Watches::of_expectation(self.job_plan, expected, self.left);
        let storable = self.storable_bytes(test_observation);
        let looked_at =
            |buffer: usize| common_ranges(&storable[buffer], &watches.watched_ranges(buffer));
        let altered: Vec<Vec<Range<usize>>> = (0..storable.len()).map(looked_at).collect();
        let groups =
            Elements { plan: self.job_plan, test: self.prepared_test.test, watches: &watches }
                .element_groups(&altered);
        sides.iter().any(|side| {
            Alteration::ALL.iter().any(|alteration| {
                let contents = altered_buffer(side.buffer, self.left, before, &groups, *alteration);
                contents != *self.left[side.buffer] && side.refuses_contents(&contents)
            })
        })
    }

    /// Whether judged outputs can be stored to some of these bytes, by buffer.
    fn is_any_storable(
        &self,
        test_observation: &TestObservation,
        bytes: &[Vec<Range<usize>>],
    ) -> bool {
        let storable = self.storable_bytes(test_observation);
        storable
            .iter()
            .zip(bytes)
            .any(|(storable, bytes)| !common_ranges(storable, bytes).is_empty())
    }

    /// The bytes that judged outputs can be stored to, by buffer of the job; ascending and
    /// disjoint.
    pub(super) fn storable_bytes(
        &self,
        test_observation: &TestObservation,
    ) -> Vec<Vec<Range<usize>>> {
        let judged_stores = self
            .all_stores()
            .filter(|store| test_observation.judges_output(store.dispatch, store.row));
        let storable_ranges: BTreeSet<&BufferRange> =
            judged_stores.flat_map(|store| &store.flow.to).collect();
        let of_buffer = |buffer: &JobBuffer| {
            let named_ranges = storable_ranges.iter().filter(|range| range.buffer == buffer.name);
            merged_ranges(named_ranges.map(|range| in_buffer(range, buffer)).collect())
        };
        self.job_plan.job.buffers.iter().map(of_buffer).collect()
    }

    fn all_stores(&self) -> impl DoubleEndedIterator<Item = JudgedStore<'_>> {
        self.flows.iter().enumerate().flat_map(|(dispatch, flow)| {
            flow.stores.iter().enumerate().map(move |(row, flow)| JudgedStore {
                dispatch,
                row,
                flow,
            })
        })
    }

    /// The bytes that an expectation looks at and judges, by buffer.
    fn looked_at(
        &self,
        stored: &StoredExpectation,
        sides: &[ComparedSide<'_>],
        before: EarlierContents<'_>,
    ) -> Vec<Vec<Range<usize>>> {
        let mut bytes_by_buffer = vec![Vec::new(); self.job_plan.job.buffers.len()];
        for side in sides {
            bytes_by_buffer[side.buffer].extend(side.judged_ranges(self.left, before));
        }
        if let StoredContents::Check { reads, .. } = &stored.contents {
            for (bytes, buffer) in bytes_by_buffer.iter_mut().zip(&self.job_plan.job.buffers) {
                let own_reads = reads.iter().filter(|range| range.buffer == buffer.name);
                bytes.extend(own_reads.map(|range| in_buffer(range, buffer)));
            }
        }
        bytes_by_buffer.into_iter().map(merged_ranges).collect()
    }

    /// A row per member of what the kernels have stored, as far as it is known what they read.
    pub(super) fn judged_members(
        &self,
        judging_views: &[JudgingView],
        reading: Reading<'_>,
    ) -> Vec<JudgedMember> {
        let judged = self.judged_bytes(judging_views, reading);
        let mut counts: BTreeMap<MemberPlace, ElementCount> = BTreeMap::new();
        // Bytes that a later dispatch of the same kernel has stored in the same way.
        let mut later_targets: BTreeMap<MemberRange, Vec<Range<usize>>> = BTreeMap::new();
        for store in self.all_stores().rev() {
            for target in self.targets_of_store(store) {
                let known = later_targets.entry(target.member_range()).or_default();
                let new_bytes = subtract_ranges(std::slice::from_ref(&target.bytes), known);
                known.push(target.bytes.clone());
                *known = merged_ranges(std::mem::take(known));
                let changed_ranges: Vec<Range<usize>> = new_bytes
                    .into_iter()
                    .flat_map(|range| self.changed_bytes(target.buffer, range))
                    .collect();
                if !changed_ranges.is_empty() {
                    self.count_elements(
                        &target,
                        &changed_ranges,
                        judged_at(&judged, &target),
                        &mut counts,
                    );
                }
            }
        }
        self.add_unchanged(&judged, &mut counts);
        let judged_member = |(member_place, count): (MemberPlace, ElementCount)| {
            let MemberPlace { kernel, place, array_index, member } = member_place;
            JudgedMember {
                kernel,
                place,
                array_index,
                member,
                stored: count.stored,
                judged: count.judged,
            }
        };
        counts.into_iter().map(judged_member).collect()
    }

    /// Members that a kernel can store to and of which the test leaves every element as it was: of
    /// these the judged ones count.
    fn add_unchanged(
        &self,
        judged: &JudgedBytes,
        counts: &mut BTreeMap<MemberPlace, ElementCount>,
    ) {
        for store in self.all_stores().rev() {
            for target in self.targets_of_store(store) {
                let Some(block) = &target.block else { continue };
                let named_members = store
                    .flow
                    .members
                    .iter()
                    .map(|start| (*start, block.whole_member_at(block.offset + start)));
                // Later dispatches have told theirs.
                let new: Vec<(u64, MemberPlace)> = named_members
                    .map(|(start, member)| (start, target.place_of(member)))
                    .filter(|(_, place)| !counts.contains_key(place))
                    .collect();
                if new.is_empty() {
                    continue;
                }
                let judged_ranges =
                    common_ranges(judged_at(judged, &target), std::slice::from_ref(&target.bytes));
                let mut found: BTreeMap<u64, u64> = BTreeMap::new();
                self.each_element(&target, &judged_ranges, &mut |member, _| {
                    *found.entry(member).or_default() += 1
                });
                for (start, place) in new {
                    let found_count = found.get(&start).copied().unwrap_or_default();
                    counts.insert(place, ElementCount { stored: found_count, judged: found_count });
                }
            }
        }
    }

    /// What each store can reach, in the order of the dispatches.
    pub(super) fn each_target(&self) -> impl Iterator<Item = (JudgedStore<'_>, StoreTarget)> {
        self.all_stores().flat_map(|store| {
            self.targets_of_store(store).into_iter().map(move |target| (store, target))
        })
    }

    /// What a store can reach, by descriptor.
    fn targets_of_store(&self, store: JudgedStore<'_>) -> Vec<StoreTarget> {
        let kernel = &self.flows[store.dispatch].kernel;
        let buffers = &self.job_plan.job.buffers;
        let target_of = |buffer: usize,
                         buffer_range: &BufferRange,
                         array_index: u32,
                         block: Option<BoundBlock>| StoreTarget {
            place: Rc::new(MemberPlace {
                kernel: *kernel,
                place: store.flow.place.clone(),
                array_index,
                member: None,
            }),
            buffer,
            bytes: in_buffer(buffer_range, &buffers[buffer]),
            block,
        };
        let Some(store_place) = &store.flow.place else {
            let index = |buffer_range: &BufferRange| {
                buffers.iter().position(|buffer| buffer.name == buffer_range.buffer)
            };
            return store
                .flow
                .to
                .iter()
                .filter_map(|buffer_range| {
                    Some(target_of(index(buffer_range)?, buffer_range, 0, None))
                })
                .collect();
        };
        let binding_place = (store_place.set, store_place.binding);
        let declared_block = self.job_plan.declared[store.dispatch].get(&binding_place);
        let bound = self.job_plan.job.dispatches[store.dispatch].bindings.iter();
        let mut targets = Vec::new();
        for binding in bound.filter(|binding| (binding.set, binding.binding) == binding_place) {
            let offset = binding.offset + binding.dynamic_offset;
            let own_ranges =
                store.flow.to.iter().filter(|buffer_range| {
                    is_behind(binding, buffer_range, &buffers[binding.buffer])
                });
            let block = declared_block.map(|block| BoundBlock { offset, ..block.clone() });
            targets.extend(own_ranges.map(|buffer_range| {
                target_of(binding.buffer, buffer_range, binding.array_index, block.clone())
            }));
        }
        targets
    }

    /// The bytes of a range that hold something else than before the test.
    fn changed_bytes(&self, buffer: usize, range: Range<usize>) -> Vec<Range<usize>> {
        let (left, before) = (&self.left[buffer], &self.job_plan.job.buffers[buffer].bytes);
        if left[range.clone()] == before[range.clone()] {
            return Vec::new();
        }
        let mut changed: Vec<Range<usize>> = Vec::new();
        for byte in range.filter(|byte| left[*byte] != before[*byte]) {
            match changed.last_mut() {
                Some(last) if last.end == byte => last.end += 1,
                Some(_) | None => changed.push(byte..byte + 1),
            }
        }
        changed
    }

    /// Counts the elements that some changed bytes belong to.
    fn count_elements(
        &self,
        target: &StoreTarget,
        changed: &[Range<usize>],
        judged: &[Range<usize>],
        counts: &mut BTreeMap<MemberPlace, ElementCount>,
    ) {
        // By where the member begins.
        let mut counts_by_member: BTreeMap<u64, (Option<String>, ElementCount)> = BTreeMap::new();
        self.each_element(target, changed, &mut |member, element| {
            let member_name = || {
                target.block.as_ref().and_then(|block| block.whole_member_at(element.start as u64))
            };
            let (_, count) = counts_by_member
                .entry(member)
                .or_insert_with(|| (member_name(), ElementCount::default()));
            count.stored += 1;
            let first_judged = judged.partition_point(|range| range.end <= element.start);
            count.judged +=
                u64::from(judged.get(first_judged).is_some_and(|range| range.start < element.end));
        });
        for (member, target_count) in counts_by_member.into_values() {
            let count = counts.entry(target.place_of(member)).or_default();
            count.stored += target_count.stored;
            count.judged += target_count.judged;
        }
    }

    /// Tells the elements that some bytes belong to, each once, with where its member begins.
    fn each_element(
        &self,
        target: &StoreTarget,
        bytes: &[Range<usize>],
        tell_element: &mut dyn FnMut(u64, Range<usize>),
    ) {
        let watches = Watches::default();
        let elements =
            Elements { plan: self.job_plan, test: self.prepared_test.test, watches: &watches };
        let mut element_cache = ElementCache::of_target(target, &elements);
        let mut next_byte = 0;
        for range in bytes {
            let mut byte = range.start.max(next_byte);
            while byte < range.end {
                let Some((element, member)) = element_cache.element_at_byte(byte) else {
                    byte += 1;
                    continue;
                };
                next_byte = element.end;
                byte = next_byte;
                tell_element(member, element);
            }
        }
    }
}

/// Whether a range of a buffer is what a binding shows of it.
fn is_behind(binding: &JobBinding, buffer_range: &BufferRange, buffer: &JobBuffer) -> bool {
    let offset = binding.offset + binding.dynamic_offset;
    buffer_range.buffer == buffer.name
        && match binding.view {
            JobView::Bytes | JobView::Texels(_) => {
                (buffer_range.offset, buffer_range.bytes) == (offset, binding.range)
            }
            JobView::Image(_) | JobView::Combined(..) | JobView::Sampler(_) => true,
        }
}

/// The bytes that are judged where a target is.
fn judged_at<'a>(judged: &'a JudgedBytes, target: &StoreTarget) -> &'a [Range<usize>] {
    judged.get(&target.member_range()).map_or(&[], Vec::as_slice)
}

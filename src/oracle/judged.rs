//! Which dispatches of a test its expectations judge.
//!
//! Knows: what a test expects and what each of its dispatches can store ([`DispatchFlow`]).
//! Promises: a dispatch counts as judged only if an expectation that some value fails looks at
//! bytes that it can store to, or at bytes that a later dispatch can make of them. What stands on
//! both sides of a comparison is not judged by it: neither a buffer by itself, nor a kernel by its
//! own results.
//! Does not cover: whether the expected values are the right ones; running a test on altered
//! contents ([`TestObservation::confirmed_by_alterations`] takes the results).

use super::failable::{compared_ranges, expects_zeros, stored_length};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::altered::AlteredStores;
use vkcert_model::evidence::{StoredContents, StoredExpectation};
use vkcert_model::flow::{BufferRange, DispatchFlow};
use vkcert_model::id::KernelName;

/// Identity of the code of each kernel: the same for kernels that differ in their names alone.
pub type KernelCodes = BTreeMap<KernelName, String>;

/// Something that a dispatch can store: a store of its [`DispatchFlow`], by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DispatchOutput {
    dispatch: usize,
    store: usize,
}

/// Which dispatches of a test, and which of their outputs, the test judges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestObservation {
    /// Whether an output of it is judged, by dispatch.
    dispatches: Vec<bool>,
    /// The outputs that are judged by the kernels' code.
    outputs: BTreeSet<DispatchOutput>,
    /// Buffers that are expected to be zero within a tolerance which some initial contents would
    /// fail.
    zero_buffers: Vec<String>,
    /// Why expectations judge nothing, a sentence each.
    idle_reasons: Vec<String>,
    /// Kernels whose stores could be altered without the test failing.
    unnoticed_kernels: Vec<KernelName>,
}

impl TestObservation {
    /// For a test with these expectations and dispatches.
    pub fn from_expectations(
        expected: &[StoredExpectation],
        dispatch_flows: &[DispatchFlow],
        codes: &KernelCodes,
    ) -> Self {
        let mut observation =
            Self { dispatches: vec![false; dispatch_flows.len()], ..Self::default() };
        for expectation in expected {
            if expects_zeros(expectation) && !observation.zero_buffers.contains(&expectation.buffer)
            {
                observation.zero_buffers.push(expectation.buffer.clone());
            }
            match judged_outputs(expectation, dispatch_flows, codes) {
                Ok(judged) => observation.outputs.extend(judged),
                Err(sentence) if observation.idle_reasons.contains(&sentence) => {}
                Err(sentence) => observation.idle_reasons.push(sentence),
            }
        }
        for output in &observation.outputs {
            observation.dispatches[output.dispatch] = true;
        }
        observation
    }

    /// Every dispatch is judged: for evidence that does not store what they can store to.
    pub fn judging_everything(dispatch_count: usize) -> Self {
        Self { dispatches: vec![true; dispatch_count], ..Self::default() }
    }

    /// The same, held to what altered contents showed: a dispatch stays judged only if an
    /// alteration of its kernel's stores fails the test.
    pub fn confirmed_by_alterations(
        mut self,
        altered_stores: &[AlteredStores],
        flows: &[DispatchFlow],
    ) -> Self {
        for (dispatch_index, is_judged) in
            self.dispatches.iter_mut().enumerate().filter(|(_, is_judged)| **is_judged)
        {
            let dispatch_number = dispatch_index as u32;
            let tried_alterations = altered_stores
                .iter()
                .find(|alterations| alterations.dispatches.contains(&dispatch_number));
            if tried_alterations.is_some_and(|tried_alterations| {
                tried_alterations.noticed.is_some()
                    && !tried_alterations.overwritten.contains(&dispatch_number)
            }) {
                continue;
            }
            *is_judged = false;
            if let Some(flow) = flows.get(dispatch_index)
                && !self.unnoticed_kernels.contains(&flow.kernel)
            {
                self.unnoticed_kernels.push(flow.kernel);
            }
        }
        self
    }

    /// Why a pass would say nothing; none where an output of some dispatch is judged.
    pub fn emptiness_reason(&self) -> Option<String> {
        if self.dispatches.contains(&true) {
            return None;
        }
        if !self.unnoticed_kernels.is_empty() {
            let kernel_names: Vec<String> =
                self.unnoticed_kernels.iter().map(|kernel| format!("`{kernel}`")).collect();
            let hint = self.zero_start_hint();
            return Some(format!(
                "none of the tried alterations of what {} stored fails this test{hint}",
                kernel_names.join(" and ")
            ));
        }
        let idle_reasons = if self.idle_reasons.is_empty() {
            "it expects nothing".to_owned()
        } else {
            self.idle_reasons.join("; ")
        };
        Some(format!("no output of its kernels is judged: {idle_reasons}"))
    }

    /// What would let a test of zeros fail where nothing is stored.
    fn zero_start_hint(&self) -> String {
        let buffer_names: Vec<String> =
            self.zero_buffers.iter().map(|name| format!("`{name}`")).collect();
        if buffer_names.is_empty() {
            return String::new();
        }
        format!(
            "; {} shall be zero: let it start as what the tolerance refuses",
            buffer_names.join(" and ")
        )
    }

    /// Whether an output of dispatch `number` is judged.
    pub fn judges_dispatch(&self, dispatch_index: usize) -> bool {
        self.dispatches.get(dispatch_index) == Some(&true)
    }

    /// Whether what row `store` of the flow of dispatch `number` tells is judged, by the kernels'
    /// code.
    pub fn judges_output(&self, dispatch_index: usize, store_index: usize) -> bool {
        self.outputs.contains(&DispatchOutput { dispatch: dispatch_index, store: store_index })
    }
}

/// The outputs that an expectation judges; else why there are none.
fn judged_outputs(
    expectation: &StoredExpectation,
    flows: &[DispatchFlow],
    codes: &KernelCodes,
) -> Result<BTreeSet<DispatchOutput>, String> {
    let buffer_name = &expectation.buffer;
    let compared_bytes = compared_ranges(expectation);
    if compared_bytes.is_empty() {
        return Err(format!("no value of `{buffer_name}` fails the tolerance"));
    }
    let own_outputs = outputs_behind(&compared_bytes, flows);
    let identities = CodeIdentities { flows, codes };
    match &expectation.contents {
        StoredContents::Values(_) if own_outputs.is_empty() => {
            Err(not_stored_message(buffer_name, flows))
        }
        StoredContents::Values(_) => Ok(own_outputs),
        StoredContents::EqualsBuffer { buffer, length, .. } => {
            let bytes = length.map_or(u64::MAX, |length| stored_length(expectation, length));
            let other_bytes = BufferRange { buffer: buffer.clone(), offset: 0, bytes };
            let other_outputs = outputs_behind(&[other_bytes], flows);
            let mut judged_outputs = identities
                .outputs_by_other_code(&own_outputs, &identities.of_outputs(&other_outputs));
            judged_outputs.extend(
                identities
                    .outputs_by_other_code(&other_outputs, &identities.of_outputs(&own_outputs)),
            );
            if !judged_outputs.is_empty() {
                return Ok(judged_outputs);
            }
            Err(match own_outputs.is_empty() {
                _ if buffer == buffer_name => format!("`{buffer_name}` is compared with itself"),
                true => format!("{}, nor to `{buffer}`", not_stored_message(buffer_name, flows)),
                false => format!("`{buffer_name}` and `{buffer}` are made by the same kernels"),
            })
        }
        StoredContents::Check { kernel, reads } => {
            let checked_outputs = outputs_behind(reads, flows);
            let checker = KernelName::from(kernel);
            let judged_outputs = identities.outputs_by_other_code(
                &checked_outputs,
                &BTreeSet::from([identities.of_kernel(&checker)]),
            );
            if judged_outputs.is_empty() {
                return Err(format!(
                    "the checker `{kernel}` looks at nothing that a kernel of the test stores"
                ));
            }
            Ok(judged_outputs)
        }
        StoredContents::Reference { kernel, .. } => {
            let reference = KernelName::from(kernel);
            let judged_outputs = identities.outputs_by_other_code(
                &own_outputs,
                &BTreeSet::from([identities.of_kernel(&reference)]),
            );
            if !judged_outputs.is_empty() {
                return Ok(judged_outputs);
            }
            Err(match own_outputs.is_empty() {
                true => not_stored_message(buffer_name, flows),
                false => format!("the reference for `{buffer_name}` is the kernel itself"),
            })
        }
    }
}

/// The code behind each output: kernels that differ in their names alone count as one.
struct CodeIdentities<'a> {
    flows: &'a [DispatchFlow],
    codes: &'a KernelCodes,
}

impl<'a> CodeIdentities<'a> {
    /// The identity of a kernel's code; of a kernel without one, its name.
    fn of_kernel(&self, kernel: &'a KernelName) -> &'a str {
        self.codes.get(kernel).map_or(kernel.as_str(), String::as_str)
    }

    fn of_output(&self, output: &DispatchOutput) -> &'a str {
        self.of_kernel(&self.flows[output.dispatch].kernel)
    }

    fn of_outputs(&self, outputs: &BTreeSet<DispatchOutput>) -> BTreeSet<&'a str> {
        outputs.iter().map(|output| self.of_output(output)).collect()
    }

    /// The outputs that none of these pieces of code stores.
    fn outputs_by_other_code(
        &self,
        outputs: &BTreeSet<DispatchOutput>,
        excluded_code: &BTreeSet<&str>,
    ) -> BTreeSet<DispatchOutput> {
        let by_other_code =
            outputs.iter().filter(|output| !excluded_code.contains(self.of_output(output)));
        by_other_code.copied().collect()
    }
}

fn not_stored_message(buffer_name: &str, flows: &[DispatchFlow]) -> String {
    let mut stored_ranges = flows.iter().flat_map(|flow| &flow.stores).flat_map(|store| &store.to);
    if stored_ranges.any(|range| range.buffer == buffer_name) {
        format!("no kernel of the test stores to the part of `{buffer_name}` that is compared")
    } else {
        format!("no kernel of the test stores to `{buffer_name}`")
    }
}

/// The outputs from which the watched bytes can be made, directly or through later dispatches: a
/// backward data-flow analysis over the dispatches.
fn outputs_behind(
    judged_ranges: &[BufferRange],
    flows: &[DispatchFlow],
) -> BTreeSet<DispatchOutput> {
    let mut watched_ranges: Vec<&BufferRange> = judged_ranges.iter().collect();
    let mut contributing_outputs = BTreeSet::new();
    for (dispatch, flow) in flows.iter().enumerate().rev() {
        let mut open_stores: Vec<_> = flow.stores.iter().enumerate().collect();
        // A dispatch can read what it stores elsewhere, so repeat until nothing is added.
        loop {
            let is_watched = |range: &BufferRange| {
                watched_ranges.iter().any(|watched_range| watched_range.overlaps(range))
            };
            let (reached, other_stores): (Vec<_>, Vec<_>) =
                open_stores.into_iter().partition(|(_, store)| store.to.iter().any(is_watched));
            if reached.is_empty() {
                break;
            }
            contributing_outputs.extend(
                reached
                    .iter()
                    .map(|(store_index, _)| DispatchOutput { dispatch, store: *store_index }),
            );
            for range in reached.iter().flat_map(|(_, store)| &store.from) {
                if !watched_ranges.contains(&range) {
                    watched_ranges.push(range);
                }
            }
            open_stores = other_stores;
        }
    }
    contributing_outputs
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use vkcert_model::evidence::ExpectedRun;
    use vkcert_model::flow::StoreFlow;
    use vkcert_model::procedure::Tolerance;

    fn whole_buffer(buffer: &str) -> BufferRange {
        BufferRange { buffer: buffer.to_owned(), offset: 0, bytes: 4 }
    }

    fn flow(kernel: &str, stores: &[(&str, &str)]) -> DispatchFlow {
        let store = |(to, from): &(&str, &str)| StoreFlow {
            place: None,
            to: vec![whole_buffer(to)],
            members: Vec::new(),
            from: vec![whole_buffer(from)],
        };
        DispatchFlow { kernel: kernel.into(), stores: stores.iter().map(store).collect() }
    }

    fn expecting_byte(tolerance: Tolerance, value: u8) -> StoredExpectation {
        let run =
            ExpectedRun { scalar: "uint8".to_owned(), offset: 0, bytes: STANDARD.encode([value]) };
        let contents = StoredContents::Values(vec![run]);
        StoredExpectation {
            buffer: "a".to_owned(),
            tolerance,
            format: None,
            record: None,
            contents,
        }
    }

    #[test]
    fn what_a_dispatch_stores_may_come_of_what_it_stores_elsewhere() {
        let flows = [
            flow("made", &[("d", "e")]),
            flow("idle", &[("x", "e")]),
            flow("k", &[("a", "b"), ("b", "d")]),
        ];
        for stores in [&[("a", "b"), ("b", "d")], &[("b", "d"), ("a", "b")]] {
            let flows = [flows[0].clone(), flows[1].clone(), flow("k", stores)];
            let observation = TestObservation::from_expectations(
                &[expecting_byte(Tolerance::default(), 1)],
                &flows,
                &KernelCodes::new(),
            );
            assert_eq!(
                [0, 1, 2].map(|number| observation.judges_dispatch(number)),
                [true, false, true]
            );
            assert!(
                !observation.judges_output(1, 0)
                    && observation.judges_output(2, 0)
                    && observation.judges_output(2, 1)
            );
        }
    }

    #[test]
    fn an_expectation_judges_where_either_extreme_fails_it() {
        let expectation_judges = |abs: f64, value: u8| {
            let tolerance = Tolerance { abs: Some(abs), ..Tolerance::default() };
            TestObservation::from_expectations(
                &[expecting_byte(tolerance, value)],
                &[flow("k", &[("a", "b")])],
                &KernelCodes::new(),
            )
            .judges_dispatch(0)
        };
        assert!(
            expectation_judges(254.0, 255)
                && expectation_judges(254.0, 0)
                && expectation_judges(127.0, 128)
        );
        assert!(
            !expectation_judges(255.0, 255)
                && !expectation_judges(255.0, 0)
                && !expectation_judges(128.0, 128)
        );
    }
}

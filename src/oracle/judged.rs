//! Which dispatches of a test its expectations judge.
//!
//! Knows: what a test expects and what each of its dispatches can store ([`DispatchFlow`]).
//! Promises: a dispatch counts as judged only if an expectation that some value fails looks at
//! bytes that it can store to, or at bytes that a later dispatch can make of them. What stands on
//! both sides of a comparison is not judged by it: neither a buffer by itself, nor a kernel by its
//! own results.
//! Does not cover: whether the expected values are the right ones; how altered contents come to be
//! ([`Observation::holding`] is told).

use super::compare::{agrees, is_as_zero};
use super::scalar::{float_bits, read};
use super::texel::{stored_offset, stored_range};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::altered::AlteredStores;
use vkcert_model::element::{ElementType, ScalarClass, ScalarType};
use vkcert_model::evidence::{ExpectedRun, StoredContents, StoredExpectation};
use vkcert_model::flow::{BufferRange, DispatchFlow};
use vkcert_model::id::KernelName;
use vkcert_model::image::{ImageFormat, TexelEncoding};
use vkcert_model::procedure::Tolerance;

/// Identity of the code of each kernel: the same for kernels that differ in their names alone.
pub type Codes = BTreeMap<KernelName, String>;

/// Something that a dispatch can store: a store of its [`DispatchFlow`], by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Output {
    dispatch: usize,
    store: usize,
}

/// Which dispatches of a test, and which of their outputs, the test judges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observation {
    /// Whether an output of it is judged, by dispatch.
    dispatches: Vec<bool>,
    /// The outputs that are judged by the kernels' code.
    outputs: BTreeSet<Output>,
    /// Buffers that are expected to be zero within a tolerance which some initial contents would
    /// fail.
    zeros: Vec<String>,
    /// Why expectations judge nothing, a sentence each.
    idle: Vec<String>,
    /// Kernels whose stores could be altered without the test failing.
    unnoticed: Vec<KernelName>,
}

impl Observation {
    /// For a test with these expectations and dispatches.
    pub fn of(expected: &[StoredExpectation], flows: &[DispatchFlow], codes: &Codes) -> Self {
        let mut observation = Self { dispatches: vec![false; flows.len()], ..Self::default() };
        for expectation in expected {
            if wants_zeros(expectation) && !observation.zeros.contains(&expectation.buffer) {
                observation.zeros.push(expectation.buffer.clone());
            }
            match judged(expectation, flows, codes) {
                Ok(judged) => observation.outputs.extend(judged),
                Err(sentence) if observation.idle.contains(&sentence) => {}
                Err(sentence) => observation.idle.push(sentence),
            }
        }
        for output in &observation.outputs {
            observation.dispatches[output.dispatch] = true;
        }
        observation
    }

    /// Every dispatch is judged: for evidence that does not store what they can store to.
    pub fn of_everything(dispatches: usize) -> Self {
        Self { dispatches: vec![true; dispatches], ..Self::default() }
    }

    /// The same, held to what altered contents showed: a dispatch stays judged only if an
    /// alteration of its kernel's stores fails the test.
    pub fn holding(mut self, altered: &[AlteredStores], flows: &[DispatchFlow]) -> Self {
        for (number, judged) in
            self.dispatches.iter_mut().enumerate().filter(|(_, judged)| **judged)
        {
            let dispatch = number as u32;
            let row = altered.iter().find(|row| row.dispatches.contains(&dispatch));
            if row.is_some_and(|row| row.noticed.is_some() && !row.overwritten.contains(&dispatch))
            {
                continue;
            }
            *judged = false;
            if let Some(flow) = flows.get(number)
                && !self.unnoticed.contains(&flow.kernel)
            {
                self.unnoticed.push(flow.kernel.clone());
            }
        }
        self
    }

    /// Why a pass would say nothing; none where an output of some dispatch is judged.
    pub fn says_nothing(&self) -> Option<String> {
        if self.dispatches.contains(&true) {
            return None;
        }
        if !self.unnoticed.is_empty() {
            let names: Vec<String> =
                self.unnoticed.iter().map(|kernel| format!("`{kernel}`")).collect();
            let hint = self.hint();
            return Some(format!(
                "none of the tried alterations of what {} stored fails this test{hint}",
                names.join(" and ")
            ));
        }
        let why = if self.idle.is_empty() {
            "it expects nothing".to_owned()
        } else {
            self.idle.join("; ")
        };
        Some(format!("no output of its kernels is judged: {why}"))
    }

    /// What would let a test of zeros fail where nothing is stored.
    fn hint(&self) -> String {
        let names: Vec<String> = self.zeros.iter().map(|name| format!("`{name}`")).collect();
        if names.is_empty() {
            return String::new();
        }
        format!(
            "; {} shall be zero: let it start as what the tolerance refuses",
            names.join(" and ")
        )
    }

    /// Whether an output of dispatch `number` is judged.
    pub fn judges(&self, number: usize) -> bool {
        self.dispatches.get(number) == Some(&true)
    }

    /// Whether what row `store` of the flow of dispatch `number` tells is judged, by the kernels'
    /// code.
    pub fn judges_output(&self, number: usize, store: usize) -> bool {
        self.outputs.contains(&Output { dispatch: number, store })
    }
}

/// The outputs that an expectation judges; else why there are none.
fn judged(
    expectation: &StoredExpectation,
    flows: &[DispatchFlow],
    codes: &Codes,
) -> Result<BTreeSet<Output>, String> {
    let name = &expectation.buffer;
    let compared = compared_ranges(expectation);
    if compared.is_empty() {
        return Err(format!("no value of `{name}` fails the tolerance"));
    }
    let ours = made_by(compared, flows);
    let identities = CodeIdentities { flows, codes };
    match &expectation.contents {
        StoredContents::Values(_) if ours.is_empty() => Err(not_stored(name, flows)),
        StoredContents::Values(_) => Ok(ours),
        StoredContents::EqualsBuffer { buffer, length, .. } => {
            let bytes = length.map_or(u64::MAX, |length| stored_length(expectation, length));
            let other = BufferRange { buffer: buffer.clone(), offset: 0, bytes };
            let theirs = made_by(vec![other], flows);
            let mut judged =
                identities.outputs_by_other_code(&ours, &identities.of_outputs(&theirs));
            judged.extend(identities.outputs_by_other_code(&theirs, &identities.of_outputs(&ours)));
            if !judged.is_empty() {
                return Ok(judged);
            }
            Err(match ours.is_empty() {
                _ if buffer == name => format!("`{name}` is compared with itself"),
                true => format!("{}, nor to `{buffer}`", not_stored(name, flows)),
                false => format!("`{name}` and `{buffer}` are made by the same kernels"),
            })
        }
        StoredContents::Check { kernel, reads } => {
            let checked_outputs = made_by(reads.clone(), flows);
            let checker = KernelName(kernel.clone());
            let judged = identities.outputs_by_other_code(
                &checked_outputs,
                &BTreeSet::from([identities.of_kernel(&checker)]),
            );
            if judged.is_empty() {
                return Err(format!(
                    "the checker `{kernel}` looks at nothing that a kernel of the test stores"
                ));
            }
            Ok(judged)
        }
        StoredContents::Reference { kernel, .. } => {
            let reference = KernelName(kernel.clone());
            let judged = identities
                .outputs_by_other_code(&ours, &BTreeSet::from([identities.of_kernel(&reference)]));
            if !judged.is_empty() {
                return Ok(judged);
            }
            Err(match ours.is_empty() {
                true => not_stored(name, flows),
                false => format!("the reference for `{name}` is the kernel itself"),
            })
        }
    }
}

/// The code behind each output: kernels that differ in their names alone count as one.
struct CodeIdentities<'a> {
    flows: &'a [DispatchFlow],
    codes: &'a Codes,
}

impl<'a> CodeIdentities<'a> {
    /// The identity of a kernel's code; of a kernel without one, its name.
    fn of_kernel(&self, kernel: &'a KernelName) -> &'a str {
        self.codes.get(kernel).unwrap_or(&kernel.0)
    }

    fn of_output(&self, output: &Output) -> &'a str {
        self.of_kernel(&self.flows[output.dispatch].kernel)
    }

    fn of_outputs(&self, outputs: &BTreeSet<Output>) -> BTreeSet<&'a str> {
        outputs.iter().map(|output| self.of_output(output)).collect()
    }

    /// The outputs that none of these pieces of code stores.
    fn outputs_by_other_code(
        &self,
        outputs: &BTreeSet<Output>,
        excluded_code: &BTreeSet<&str>,
    ) -> BTreeSet<Output> {
        let mut others = outputs.clone();
        others.retain(|output| !excluded_code.contains(self.of_output(output)));
        others
    }
}

fn not_stored(name: &str, flows: &[DispatchFlow]) -> String {
    let mut stored = flows.iter().flat_map(|flow| &flow.stores).flat_map(|store| &store.to);
    if stored.any(|range| range.buffer == name) {
        format!("no kernel of the test stores to the part of `{name}` that is compared")
    } else {
        format!("no kernel of the test stores to `{name}`")
    }
}

/// The outputs from which the watched bytes can be made, directly or through later dispatches: a
/// backward data-flow analysis over the dispatches.
fn made_by(mut watched: Vec<BufferRange>, flows: &[DispatchFlow]) -> BTreeSet<Output> {
    let mut made = BTreeSet::new();
    for (dispatch, flow) in flows.iter().enumerate().rev() {
        let mut open: Vec<_> = flow.stores.iter().enumerate().collect();
        // A dispatch can read what it stores elsewhere, so repeat until nothing is added.
        loop {
            let is_watched =
                |range: &BufferRange| watched.iter().any(|watched| watched.overlaps(range));
            let (reached, rest): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|(_, store)| store.to.iter().any(is_watched));
            if reached.is_empty() {
                break;
            }
            made.extend(reached.iter().map(|(store, _)| Output { dispatch, store: *store }));
            for range in reached.iter().flat_map(|(_, store)| &store.from) {
                if !watched.contains(range) {
                    watched.push(range.clone());
                }
            }
            open = rest;
        }
    }
    made
}

/// The bytes whose values can fail an expectation.
fn compared_ranges(expectation: &StoredExpectation) -> Vec<BufferRange> {
    match &expectation.contents {
        StoredContents::Values(runs) => {
            runs.iter().flat_map(|run| compared_run(expectation, run)).collect()
        }
        // The range is of the checker's verdict, of which every value but one fails; what the
        // checker reads is looked at apart.
        StoredContents::Check { .. } => vec![compared_range(expectation, 0, None)],
        StoredContents::EqualsBuffer { scalar: text, offset, length, .. }
        | StoredContents::Reference { scalar: text, offset, length, .. } => {
            match text.parse::<ElementType>() {
                // The expected values are not known before the run; a tolerance that lets every
                // value pass for 1 is taken to let every value pass.
                Ok(element_type) if !can_fail_one(element_type.scalar, expectation) => Vec::new(),
                Ok(_) | Err(_) => vec![compared_range(expectation, *offset, *length)],
            }
        }
    }
}

/// The stored bytes behind `length` compared bytes from `offset` on; none: to the end.
fn compared_range(
    expectation: &StoredExpectation,
    offset: u64,
    length: Option<u64>,
) -> BufferRange {
    let offset = expectation.format.map_or(offset, |format| stored_offset(format, offset));
    let bytes = length.map_or(u64::MAX - offset, |length| stored_length(expectation, length));
    BufferRange { buffer: expectation.buffer.clone(), offset, bytes }
}

/// Number of stored bytes that so many compared bytes stand for.
fn stored_length(expectation: &StoredExpectation, compared: u64) -> u64 {
    expectation.format.map_or(compared, |format| {
        let range = stored_range(format, 0..compared);
        range.end - range.start
    })
}

/// The ranges of neighbouring elements of a run for which some value fails the expectation.
fn compared_run(expectation: &StoredExpectation, run: &ExpectedRun) -> Vec<BufferRange> {
    let Ok(element) = run.scalar.parse::<ElementType>() else { return Vec::new() };
    let Ok(bytes) = STANDARD.decode(&run.bytes) else { return Vec::new() };
    let size = element.scalar.size();
    let range = |start: usize, end: usize| {
        let [start, end] = [start, end].map(|within_run| run.offset + within_run as u64);
        stored_elements(expectation, start..end, size as u64)
    };
    if is_exact(&expectation.tolerance) {
        return if bytes.len() < size { Vec::new() } else { vec![range(0, bytes.len())] };
    }
    let mut ranges = Vec::new();
    let mut start = None;
    for (index, element_bytes) in bytes.chunks_exact(size).enumerate() {
        let mut word = [0; 8];
        word[..size].copy_from_slice(element_bytes);
        let fails = can_fail(element.scalar, u64::from_le_bytes(word), expectation);
        match (fails, start) {
            (true, None) => start = Some(index * size),
            (false, Some(from)) => {
                ranges.push(range(from, index * size));
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    ranges.extend(start.map(|from| range(from, bytes.len() / size * size)));
    ranges
}

/// The stored bytes behind a range of compared elements of so many bytes each.
fn stored_elements(
    expectation: &StoredExpectation,
    compared: std::ops::Range<u64>,
    element_size: u64,
) -> BufferRange {
    let (offset, end) = match expectation.format {
        None => (compared.start, compared.end),
        Some(format) => {
            let last = stored_offset(format, compared.end.saturating_sub(element_size));
            (stored_offset(format, compared.start), last + format.texel_size() as u64)
        }
    };
    BufferRange { buffer: expectation.buffer.clone(), offset, bytes: end - offset }
}

/// Whether only zeros, or values that the tolerance takes for zero, are expected, within a
/// tolerance that refuses 2, which is the most of their scale.
fn wants_zeros(expectation: &StoredExpectation) -> bool {
    let StoredContents::Values(runs) = &expectation.contents else { return false };
    !is_exact(&expectation.tolerance)
        && runs.iter().all(|run| run_wants_zeros(run, &expectation.tolerance) == Some(true))
}

/// The same of one run; none where the run cannot be decoded.
fn run_wants_zeros(run: &ExpectedRun, tolerance: &Tolerance) -> Option<bool> {
    let scalar = run.scalar.parse::<ElementType>().ok()?.scalar;
    let bytes = STANDARD.decode(&run.bytes).ok()?;
    if agrees(scalar, 0, bits_of(scalar, 2), tolerance) {
        return Some(false);
    }
    let mut offsets = (0..bytes.len()).step_by(scalar.size());
    Some(offsets.all(|offset| {
        read(&bytes, scalar, offset).is_none_or(|bits| is_as_zero(scalar, bits, tolerance))
    }))
}

/// Whether a tolerance lets equal values pass alone.
pub fn is_exact(tolerance: &Tolerance) -> bool {
    let Tolerance { abs, rel, ulp, bits } = tolerance;
    *bits || abs.is_none() && rel.is_none() && ulp.is_none()
}

/// Whether some finite value of the element does not agree with `expected`. It suffices to try the
/// extremes, because each bound of a tolerance holds in an interval around the expected value.
fn can_fail(scalar: ScalarType, expected: u64, expectation: &StoredExpectation) -> bool {
    let extremes = match expectation.format {
        Some(format) => texel_extremes(format),
        None => scalar_extremes(scalar),
    };
    extremes.into_iter().any(|extreme| !agrees(scalar, expected, extreme, &expectation.tolerance))
}

/// The same where 1 is expected.
fn can_fail_one(scalar: ScalarType, expectation: &StoredExpectation) -> bool {
    can_fail(scalar, bits_of(scalar, 1), expectation)
}

/// Raw bits of a small number; of Booleans 1.
fn bits_of(scalar: ScalarType, number: u8) -> u64 {
    match scalar.class() {
        ScalarClass::Bool => 1,
        ScalarClass::Signed | ScalarClass::Unsigned => number.into(),
        ScalarClass::Float => float_bits(scalar, number.into()),
    }
}

/// Raw bits of the least and the greatest finite value.
fn scalar_extremes(scalar: ScalarType) -> [u64; 2] {
    let width = scalar.size() * 8;
    let all = u64::MAX >> (64 - width);
    let sign = 1_u64 << (width - 1);
    match scalar.class() {
        ScalarClass::Bool => [0, 1],
        ScalarClass::Unsigned => [0, all],
        ScalarClass::Signed => [sign, all ^ sign],
        ScalarClass::Float => {
            let greatest = match width {
                16 => 0x7BFF,
                32 => 0x7F7F_FFFF,
                _ => 0x7FEF_FFFF_FFFF_FFFF,
            };
            [sign | greatest, greatest]
        }
    }
}

/// The same of a decoded component of a texel.
pub fn texel_extremes(format: ImageFormat) -> [u64; 2] {
    let floats =
        |least: f32, greatest: f32| [least, greatest].map(|value| u64::from(value.to_bits()));
    match format.encoding() {
        TexelEncoding::Plain(scalar) => scalar_extremes(scalar),
        TexelEncoding::Unorm(_) | TexelEncoding::Srgb | TexelEncoding::Rgb10A2 => floats(0.0, 1.0),
        TexelEncoding::Snorm(_) => floats(-1.0, 1.0),
        TexelEncoding::Rgb10A2Uint => [0, 1023],
        // The greatest value of 6 bits of mantissa at the greatest exponent.
        TexelEncoding::R11G11B10 => floats(0.0, 65024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::flow::StoreFlow;

    fn range(buffer: &str) -> BufferRange {
        BufferRange { buffer: buffer.to_owned(), offset: 0, bytes: 4 }
    }

    fn flow(kernel: &str, stores: &[(&str, &str)]) -> DispatchFlow {
        let store = |(to, from): &(&str, &str)| StoreFlow {
            place: None,
            to: vec![range(to)],
            members: Vec::new(),
            from: vec![range(from)],
        };
        DispatchFlow { kernel: kernel.into(), stores: stores.iter().map(store).collect() }
    }

    fn expects(tolerance: Tolerance, value: u8) -> StoredExpectation {
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
            let observation =
                Observation::of(&[expects(Tolerance::default(), 1)], &flows, &Codes::new());
            assert_eq!([0, 1, 2].map(|number| observation.judges(number)), [true, false, true]);
            assert!(
                !observation.judges_output(1, 0)
                    && observation.judges_output(2, 0)
                    && observation.judges_output(2, 1)
            );
        }
    }

    #[test]
    fn an_expectation_judges_where_either_extreme_fails_it() {
        let judges = |abs: f64, value: u8| {
            let tolerance = Tolerance { abs: Some(abs), ..Tolerance::default() };
            Observation::of(
                &[expects(tolerance, value)],
                &[flow("k", &[("a", "b")])],
                &Codes::new(),
            )
            .judges(0)
        };
        assert!(judges(254.0, 255) && judges(254.0, 0) && judges(127.0, 128));
        assert!(!judges(255.0, 255) && !judges(255.0, 0) && !judges(128.0, 128));
    }
}

//! The agreement of engines, derived again from stored outputs and records.
//!
//! Knows: evidence alone. Promises: whether outputs and vectors differ, which listed elements hold
//! what, and that the outcome follows; a disagreement has its finding. Does not cover: the
//! permitted values themselves, which come from runs of the sequential engine. Rows of older
//! evidence, without bounds, are held to what they say.

pub mod difference;

use base64::Engine as _;
use difference::differing;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::element::{ElementType, ScalarClass};
use vkcert_model::evidence::{
    Agreement, BoundedBuffer, BoundedElement, ElementValue, ErrorBounds, Evidence, FIRST_SCHEMA,
    KernelEvidence, KernelFinding, OutputBytes, TestEvidence,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::image::ImageFormat;
use vkcert_model::records::Records;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::difference::{
    NanResult, PermittedResults, ScalarDifference, TexelComponent, ValueBasis, ZeroSigns,
};
use vkcert_oracle::scalar::raw_bits;

/// What follows from the stored outputs and records.
#[derive(Debug, Default)]
pub struct Derivation {
    /// Statements that were derived again.
    pub checked: u64,
    pub problems: Vec<String>,
    pub not_derivable: Vec<String>,
    /// What the modules tell (`campaign::agreement::derived`): not derivable without them.
    pub of_modules: Vec<String>,
}

impl Derivation {
    pub fn check(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        self.checked += 1;
        if !holds {
            self.problems.push(problem());
        }
    }
}

/// Derives every row of the comparison again.
pub fn derive(stored: &Evidence) -> Derivation {
    let mut derivation = Derivation::default();
    for row in &stored.campaign.agreement {
        let label = format!("agreement of {} on {}", row.kernel, row.test);
        if let Some(test) = stored.campaign.tests.iter().find(|test| test.id == row.test) {
            outputs(test, row, &label, &mut derivation);
        } else {
            derivation.problems.push(format!("{label}: there is no such test"));
        }
        coverage(stored, row, &label, &mut derivation);
        let differs = row.outputs == AgreementOutcome::Different
            || row.coverage == AgreementOutcome::Different;
        let mut findings = stored.campaign.findings.iter();
        let found = findings.any(|one| {
            one.test.as_ref() == Some(&row.test)
                && one.finding.kind == FindingKind::EngineDisagreement
        });
        derivation.check(!differs || found, || format!("{label}: a difference without a finding"));
    }
    missing(stored, &mut derivation);
    derivation
}

/// Every test that came to its end on both engines is compared, with each of its kernels, once.
fn missing(stored: &Evidence, derivation: &mut Derivation) {
    for test in &stored.campaign.tests {
        let ended = |engine| {
            let mut results = test.results.iter().filter(|result| result.engine == engine);
            results.any(|result| result.verdict.completed())
        };
        let due = u32::from(ended(EngineName::Sequential) && ended(EngineName::Vulkan));
        for kernel in &test.kernels {
            let rows = stored
                .campaign
                .agreement
                .iter()
                .filter(|row| row.test == test.id && row.kernel == *kernel);
            let rows = rows.count() as u32;
            derivation.check(rows == 1 || rows == 0 && due == 0, || {
                format!(
                    "agreement of {kernel} on {}: {rows} rows where both engines ended",
                    test.id
                )
            });
        }
    }
}

/// Contents of a buffer on both engines, or how their hashes compare.
pub enum Contents {
    Bytes([Vec<u8>; 2]),
    SameHash,
    OtherHash,
}

pub fn contents(test: &TestEvidence, name: &str) -> Option<Contents> {
    let of = |engine| test.results.iter().find(|result| result.engine == engine)?.outputs.get(name);
    let decoded = |text: &String| base64::engine::general_purpose::STANDARD.decode(text).ok();
    Some(match (of(EngineName::Sequential)?, of(EngineName::Vulkan)?) {
        (OutputBytes::Bytes(ours), OutputBytes::Bytes(theirs)) => {
            Contents::Bytes([decoded(ours)?, decoded(theirs)?])
        }
        (ours, theirs) if ours == theirs => Contents::SameHash,
        (_, _) => Contents::OtherHash,
    })
}

fn outputs(test: &TestEvidence, row: &Agreement, label: &str, derivation: &mut Derivation) {
    let mut names = test.results.iter().filter(|result| result.engine == EngineName::Sequential);
    let names: Vec<&String> =
        names.next().iter().flat_map(|result| result.outputs.keys()).collect();
    let pairs: Vec<_> =
        names.into_iter().filter_map(|name| Some((name, contents(test, name)?))).collect();
    if pairs.is_empty() {
        return derivation.check(row.outputs == AgreementOutcome::NotCompared, || {
            format!("{label}: no outputs are stored")
        });
    }
    let differs = pairs.iter().any(|(_, contents)| match contents {
        Contents::Bytes([ours, theirs]) => ours != theirs,
        Contents::SameHash => false,
        Contents::OtherHash => true,
    });
    derivation.check(row.outputs.is_of_outputs(), || {
        format!("{label}: outputs are stored on both engines, and told as {}", row.outputs)
    });
    derivation.check(differs == (row.outputs != AgreementOutcome::Identical), || {
        format!(
            "{label}: stored {}, the stored outputs {}",
            row.outputs,
            if differs { "differ" } else { "are the same" }
        )
    });
    if row.outputs == AgreementOutcome::LeftOpen {
        left_open(test, &pairs, label, derivation);
    }
    if row.outputs == AgreementOutcome::WithinTolerance {
        let passed = |engine| {
            test.results.iter().any(|one| one.engine == engine && one.verdict == Verdict::Pass)
        };
        let both = passed(EngineName::Sequential) && passed(EngineName::Vulkan);
        let mut tolerances = test.expected.iter().map(|expected| &expected.tolerance);
        let wide =
            tolerances.any(|one| one.abs.is_some() || one.rel.is_some() || one.ulp.is_some());
        derivation.check(both && wide, || format!("{label}: no tolerance that both engines meet"));
    }
    let Some(bounds) = &row.bounds else {
        return derivation.check(row.outputs != AgreementOutcome::WithinErrorBounds, || {
            format!("{label}: within-error-bounds without bounds")
        });
    };
    outcome(bounds, row, label, derivation);
    for buffer in &bounds.buffers {
        match pairs.iter().find(|(name, _)| **name == buffer.buffer) {
            Some((_, Contents::Bytes(bytes))) => elements(test, buffer, bytes, label, derivation),
            Some((_, Contents::OtherHash)) => {
                let name = &buffer.buffer;
                derivation
                    .not_derivable
                    .push(format!("{label}: buffer {name} is stored as a hash alone"));
            }
            Some((_, Contents::SameHash)) | None => {
                derivation
                    .problems
                    .push(format!("{label}: buffer {} is no output that differs", buffer.buffer));
            }
        }
    }
    derivation.not_derivable.push(format!(
        "{label}: the permitted values come from {} runs of the sequential engine",
        bounds.runs
    ));
}

/// Where no more differs than the expectations leave open: what they look at in its place is the
/// same on both engines, unless the contents depend on the schedule, which is the module's to say,
/// and both engines pass.
fn left_open(
    test: &TestEvidence,
    pairs: &[(&String, Contents)],
    label: &str,
    derivation: &mut Derivation,
) {
    let passed = |engine| {
        test.results.iter().any(|one| one.engine == engine && one.verdict == Verdict::Pass)
    };
    let both = passed(EngineName::Sequential) && passed(EngineName::Vulkan);
    derivation
        .check(!test.expected.is_empty(), || format!("{label}: left open without any expectation"));
    for (name, contents) in pairs {
        let judged = test.expected.iter().any(|expected| expected.buffer == **name);
        match contents {
            Contents::SameHash => {}
            Contents::Bytes([ours, theirs]) if ours == theirs => {}
            Contents::Bytes(_) | Contents::OtherHash if judged => {
                derivation.check(both, || {
                    format!("{label}: buffer {name} differs, and not both engines pass")
                });
                derivation.of_modules.push(format!(
                    "{label}: that the contents of buffer {name} depend on the schedule comes from the module"
                ));
            }
            Contents::Bytes(_) | Contents::OtherHash => {}
        }
    }
}

fn outcome(bounds: &ErrorBounds, row: &Agreement, label: &str, derivation: &mut Derivation) {
    let outside = bounds.buffers.iter().any(|buffer| buffer.outside > 0);
    let expected =
        if outside { AgreementOutcome::Different } else { AgreementOutcome::WithinErrorBounds };
    derivation.check(row.outputs == expected, || {
        format!("{label}: stored {}, derived {expected}", row.outputs)
    });
}

/// The listed elements of a buffer, and, where all are listed, that there are no others.
fn elements(
    test: &TestEvidence,
    buffer: &BoundedBuffer,
    bytes: &[Vec<u8>; 2],
    label: &str,
    derivation: &mut Derivation,
) {
    let name = &buffer.buffer;
    let mut covered = Vec::new();
    let mut worst = None;
    for element in &buffer.listed {
        let place = || format!("{label}: {} of buffer {name}", element.element);
        let format = test.definition.images.get(name).map(|image| image.format);
        let Some(difference) = difference(element, format) else {
            derivation.problems.push(format!("{}: unreadable", place()));
            continue;
        };
        let [ours, theirs] = bytes.each_ref().map(|all| difference.bits_in(all));
        derivation
            .check(ours == Some(difference.ours) && theirs == Some(difference.theirs), || {
                format!("{}: the stored outputs have other values", place())
            });
        derivation.check(element.undefined == difference.is_undefined(), || {
            format!("{}: whether it depends on an undefined value does not follow from the bits that do", place())
        });
        // Whether zeros differ is the module's to say: either way will do.
        let within = [ZeroSigns::Equal, ZeroSigns::Signed]
            .map(|zeros| difference.device_value_is_permitted(zeros));
        derivation.check(within.contains(&element.within), || {
            format!(
                "{}: whether it is permitted does not follow from the permitted values",
                place()
            )
        });
        worst = worst.max(difference.distance_in_ulps());
        covered.push(covered_bytes(&difference));
    }
    let all_listed = buffer.listed.len() as u64 == buffer.elements;
    let outside = buffer.listed.iter().filter(|element| !element.within).count() as u64;
    let undefined = buffer.listed.iter().filter(|element| element.undefined).count() as u64;
    for (stored, listed, what) in
        [(buffer.outside, outside, "outside"), (buffer.undefined, undefined, "undefined")]
    {
        let right = if all_listed { listed == stored } else { listed <= stored };
        derivation.check(right, || format!("{label}: buffer {name}: {stored} elements {what}"));
    }
    derivation.check(buffer.undefined == 0 || tells_of_undefined(test), || {
        format!("{label}: buffer {name}: undefined values without a finding that tells of one")
    });
    if all_listed {
        derivation.check(worst == buffer.worst_ulp, || {
            format!("{label}: buffer {name}: the largest distance")
        });
        // Elements that a tolerance of the test covers are not listed.
        let judged = test.expected.iter().any(|expected| expected.buffer == *name);
        let [ours, theirs] = bytes;
        let differing =
            ours.iter().zip(theirs).enumerate().filter(|(_, (ours, theirs))| ours != theirs);
        let mut others =
            differing.filter(|(at, _)| !covered.iter().any(|range| range.contains(at)));
        derivation.check(judged || others.next().is_none(), || {
            format!("{label}: buffer {name} differs elsewhere")
        });
    }
}

/// Whether the sequential engine told of an undefined or uninitialised value in a test.
pub fn tells_of_undefined(test: &TestEvidence) -> bool {
    let kinds = [FindingKind::UndefinedValue, FindingKind::UninitializedRead];
    let mut results = test.results.iter().filter(|result| result.engine == EngineName::Sequential);
    results.any(|result| result.findings.iter().any(|finding| kinds.contains(&finding.kind)))
}

/// The bytes that an element accounts for: of an image, which packs components, its texel.
fn covered_bytes(difference: &ScalarDifference) -> std::ops::Range<usize> {
    let offset = difference.offset as usize;
    match difference.texel {
        None => offset..offset + difference.scalar.size(),
        Some(texel) => {
            let size = texel.format.texel_size();
            offset / size * size..(offset / size + 1) * size
        }
    }
}

fn difference(element: &BoundedElement, format: Option<ImageFormat>) -> Option<ScalarDifference> {
    let scalar = element.type_name.parse::<ElementType>().ok()?.scalar;
    let bits =
        |text: &String| raw_bits(text.strip_prefix("0x")?, scalar.size() as u32 * 8, text).ok();
    let span = |ends: &Vec<ElementValue>| {
        ends.iter().map(|end| bits(&end.bits)).collect::<Option<Vec<u64>>>()
    };
    let spans = element.permitted.iter().map(span).collect::<Option<Vec<_>>>()?;
    let permitted = match scalar.class() {
        ScalarClass::Float => PermittedResults::Between {
            // The paths themselves are not stored; any keys that differ will do.
            spans: (0..)
                .zip(spans.iter().filter_map(|ends| ends.as_slice().try_into().ok()))
                .collect(),
            nan: if element.nan_permitted { NanResult::Present } else { NanResult::Absent },
        },
        ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
            PermittedResults::OneOf(spans.concat())
        }
    };
    let (ours, theirs) = (bits(&element.sequential.bits)?, bits(&element.vulkan.bits)?);
    let texel = match (element.texel, format) {
        (Some(place), Some(format)) => Some(TexelComponent { format, component: place.component }),
        (Some(_), None) => return None,
        (None, _) => None,
    };
    let basis = match (&element.undefined_bits, element.undefined) {
        (Some(text), _) => ValueBasis::Undefined { bits: bits(text)? },
        (None, true) => ValueBasis::Undefined { bits: u64::MAX },
        (None, false) => ValueBasis::Defined,
    };
    Some(ScalarDifference {
        buffer: 0,
        offset: element.offset,
        scalar,
        texel,
        ours,
        theirs,
        permitted,
        basis,
    })
}

/// Whether the stored records of the engines are the same.
fn coverage(stored: &Evidence, row: &Agreement, label: &str, derivation: &mut Derivation) {
    let of = |engine| {
        stored.kernels.iter().filter(move |one| one.engine == engine && one.kernel == row.kernel)
    };
    let of_test = |kernel: &KernelEvidence| {
        kernel.records.iter().find(|one| one.test == row.test).map(|one| one.records.clone())
    };
    let mut compared = None;
    for ours in of(EngineName::Sequential) {
        let theirs = of(EngineName::Vulkan)
            .find(|other| other.configuration.name == ours.configuration.name);
        let (Some(left), Some(right)) = (of_test(ours), theirs.and_then(of_test)) else { continue };
        let same = |bit| Records::has(&left, bit) == right.has(bit);
        // No bit lies outside of the words.
        let words = left.words.len().max(right.words.len()) as u32;
        let same = (0..ours.layout.bits.min(words.saturating_mul(32))).all(same);
        compared = Some(compared.unwrap_or(true) && same);
        // Evidence of the first format has other words.
        if stored.campaign.schema != FIRST_SCHEMA {
            tell_of_each(stored, row, ours, [&left, &right], label, derivation);
        }
    }
    if let Some(same) = compared {
        let expected = if same { AgreementOutcome::Identical } else { AgreementOutcome::Different };
        // A test may run the kernel under a specialization that is no configuration; its records
        // are not stored.
        let beyond = same
            && matches!(
                row.coverage,
                AgreementOutcome::Different
                    | AgreementOutcome::ScheduleDependent
                    | AgreementOutcome::UndefinedValue
            );
        let excused = match row.coverage {
            AgreementOutcome::ScheduleDependent if !same => {
                let reason =
                    format!("{label}: which vectors depend on the schedule comes from the module");
                derivation.of_modules.push(reason);
                true
            }
            AgreementOutcome::UndefinedValue if !same => {
                derivation.not_derivable.push(format!(
                    "{label}: which vectors follow undefined values comes from runs of both engines, by invocation"
                ));
                true
            }
            AgreementOutcome::Identical
            | AgreementOutcome::WithinTolerance
            | AgreementOutcome::LeftOpen
            | AgreementOutcome::WithinErrorBounds
            | AgreementOutcome::ScheduleDependent
            | AgreementOutcome::UndefinedValue
            | AgreementOutcome::Different
            | AgreementOutcome::NotCompared => false,
        };
        derivation.check(row.coverage == expected || beyond || excused, || {
            format!("{label}: stored coverage {}, derived {expected}", row.coverage)
        });
    }
    if row.coverage == AgreementOutcome::UndefinedValue {
        let mut tests = stored.campaign.tests.iter().filter(|test| test.id == row.test);
        derivation.check(tests.any(tells_of_undefined), || {
            format!(
                "{label}: vectors that follow undefined values without a finding that tells of one"
            )
        });
    }
}

/// Each vector and mark that one engine alone has is a finding or is left open.
fn tell_of_each(
    stored: &Evidence,
    row: &Agreement,
    kernel: &KernelEvidence,
    [ours, theirs]: [&Records; 2],
    label: &str,
    derivation: &mut Derivation,
) {
    let findings = findings_of(stored, row);
    for difference in differing(&kernel.layout, [ours, theirs]) {
        let words = difference.words(&kernel.structure, kernel.kernel.as_str());
        let found = findings.iter().any(|finding| difference.is_told_by(finding));
        let open = row.left_open.iter().any(|line| line.starts_with(&words));
        derivation.check(found || open, || {
            format!("{label}: {words}: no finding tells of it, and it is not left open")
        });
        let different = row.coverage == AgreementOutcome::Different;
        derivation.check(!found || different, || {
            format!("{label}: {words}: a finding, and coverage {}", row.coverage)
        });
    }
}

/// The findings of a row's test and kernel.
pub fn findings_of<'e>(stored: &'e Evidence, row: &Agreement) -> Vec<&'e Finding> {
    let is_of =
        |one: &&KernelFinding| one.test.as_ref() == Some(&row.test) && one.kernel == row.kernel;
    stored.campaign.findings.iter().filter(is_of).map(|one| &one.finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::difference::marked;
    use vkcert_model::evidence::{StoredContents, StoredExpectation, TestResult};
    use vkcert_model::procedure::Tolerance;
    use vkcert_model::structure::MarkIndex;
    use vkcert_sample as sample;

    const TEST: &str = "TC-MM-01";

    /// Evidence of one test on both engines that left the same.
    fn agreed() -> Evidence {
        let mut evidence = sample::evidence();
        evidence.campaign.tests.retain(|test| test.id.as_str() == TEST);
        evidence.campaign.agreement.retain(|row| row.test.as_str() == TEST);
        evidence.campaign.findings.clear();
        evidence.campaign.tests[0].kernels = vec![evidence.campaign.agreement[0].kernel];
        evidence.campaign.tests[0].expected = vec![StoredExpectation {
            buffer: "out".to_owned(),
            format: None,
            tolerance: Tolerance::default(),
            record: None,
            contents: StoredContents::Values(Vec::new()),
        }];
        for engine in [EngineName::Sequential, EngineName::Vulkan] {
            result(&mut evidence, engine).verdict = Verdict::Pass;
            left(&mut evidence, engine, &[1, 2, 3, 4]);
        }
        let sequential =
            evidence.kernels.iter().find(|row| row.engine == EngineName::Sequential).cloned();
        let sequential = sequential.expect("a kernel on the sequential engine");
        for row in evidence.kernels.iter_mut().filter(|row| row.kernel == sequential.kernel) {
            row.records.clone_from(&sequential.records);
            row.records.iter_mut().for_each(|records| records.records.words = vec![1]);
            row.layout.bits = 2;
        }
        evidence
    }

    fn result(evidence: &mut Evidence, engine: EngineName) -> &mut TestResult {
        let mut results = evidence.campaign.tests[0].results.iter_mut();
        results.find(|result| result.engine == engine).expect("a result of each engine")
    }

    fn left(evidence: &mut Evidence, engine: EngineName, bytes: &[u8]) {
        let text = base64::engine::general_purpose::STANDARD.encode(bytes);
        result(evidence, engine).outputs = [("out".to_owned(), OutputBytes::Bytes(text))].into();
    }

    /// Problems that name the test's row.
    fn problems(change: impl FnOnce(&mut Evidence)) -> Vec<String> {
        let mut evidence = agreed();
        change(&mut evidence);
        derive(&evidence).problems
    }

    fn assert_told(problems: &[String], sentence: &str) {
        assert!(
            problems.iter().any(|problem| problem.contains(sentence)),
            "{sentence}: {problems:?}"
        );
    }

    #[test]
    fn engines_that_left_the_same_agree() {
        assert_eq!(problems(|_| {}), Vec::<String>::new());
        assert_told(
            &problems(|evidence| {
                evidence.campaign.agreement[0].outputs = AgreementOutcome::Different
            }),
            "are the same",
        );
    }

    #[test]
    fn outputs_that_differ_are_told_as_nothing_else() {
        let told = |outcome: AgreementOutcome| {
            problems(|evidence| {
                left(evidence, EngineName::Vulkan, &[1, 2, 3, 5]);
                evidence.campaign.agreement[0].outputs = outcome;
            })
        };
        assert_told(
            &told(AgreementOutcome::Identical),
            "stored identical, the stored outputs differ",
        );
        assert_told(
            &told(AgreementOutcome::NotCompared),
            "outputs are stored on both engines, and told as not compared",
        );
        assert_told(&told(AgreementOutcome::ScheduleDependent), "and told as schedule-dependent");
        assert_told(&told(AgreementOutcome::Different), "a difference without a finding");
        assert_told(
            &told(AgreementOutcome::WithinErrorBounds),
            "within-error-bounds without bounds",
        );
        let with_finding = problems(|evidence| {
            left(evidence, EngineName::Vulkan, &[1, 2, 3, 5]);
            let row = &mut evidence.campaign.agreement[0];
            row.outputs = AgreementOutcome::Different;
            let finding = Finding::new(FindingKind::EngineDisagreement, "out[3]");
            let (kernel, test) = (row.kernel, Some(row.test));
            evidence.campaign.findings.push(KernelFinding { kernel, engine: None, test, finding });
        });
        assert_eq!(with_finding, Vec::<String>::new());
    }

    #[test]
    fn a_tolerance_covers_what_both_engines_meet_with_it_alone() {
        let told = |verdict: Verdict, abs: Option<f64>| {
            problems(|evidence| {
                left(evidence, EngineName::Vulkan, &[1, 2, 3, 5]);
                result(evidence, EngineName::Vulkan).verdict = verdict;
                evidence.campaign.agreement[0].outputs = AgreementOutcome::WithinTolerance;
                for expected in &mut evidence.campaign.tests[0].expected {
                    expected.tolerance = Tolerance { abs, ..Tolerance::default() };
                }
            })
        };
        assert_eq!(told(Verdict::Pass, Some(1.0)), Vec::<String>::new());
        assert_told(&told(Verdict::Pass, None), "no tolerance that both engines meet");
        assert_told(&told(Verdict::Fail, Some(1.0)), "no tolerance that both engines meet");
    }

    #[test]
    fn vectors_of_one_engine_alone_are_a_difference() {
        let told = |outcome: AgreementOutcome| {
            problems(|evidence| {
                let mut rows =
                    evidence.kernels.iter_mut().filter(|row| row.engine == EngineName::Vulkan);
                let row = rows
                    .find(|row| row.records.iter().any(|records| records.test.as_str() == TEST));
                let records = row.expect("records of the device").records.iter_mut();
                records.for_each(|row| row.records.words[0] ^= 2);
                evidence.campaign.agreement[0].coverage = outcome;
            })
        };
        assert_told(
            &told(AgreementOutcome::Identical),
            "stored coverage identical, derived different",
        );
        assert_told(
            &told(AgreementOutcome::NotCompared),
            "stored coverage not compared, derived different",
        );
        assert_told(&told(AgreementOutcome::Different), "a difference without a finding");
        assert_eq!(told(AgreementOutcome::ScheduleDependent), Vec::<String>::new());
        assert_told(
            &told(AgreementOutcome::UndefinedValue),
            "undefined values without a finding that tells of one",
        );
        let with_finding = problems(|evidence| {
            let mut rows =
                evidence.kernels.iter_mut().filter(|row| row.engine == EngineName::Vulkan);
            let row =
                rows.find(|row| row.records.iter().any(|records| records.test.as_str() == TEST));
            row.expect("records of the device")
                .records
                .iter_mut()
                .for_each(|row| row.records.words[0] ^= 2);
            evidence.campaign.agreement[0].coverage = AgreementOutcome::UndefinedValue;
            let finding =
                Finding::new(FindingKind::UninitializedRead, "an uninitialised value is used here");
            result(evidence, EngineName::Sequential).findings.push(finding);
        });
        assert_eq!(with_finding, Vec::<String>::new());
    }

    #[test]
    fn what_one_engine_alone_recorded_is_a_finding_or_left_open() {
        let told = |coverage: AgreementOutcome, found: Option<u64>, open: Option<&str>| {
            problems(|evidence| {
                for row in &mut evidence.kernels {
                    row.layout.marks = vec![0, 1];
                    let of_device = row.engine == EngineName::Vulkan;
                    let records = row
                        .records
                        .iter_mut()
                        .filter(|records| of_device && records.test.as_str() == TEST);
                    records.for_each(|row| row.records.words[0] ^= 2);
                }
                let undefined = Finding::new(
                    FindingKind::UninitializedRead,
                    "an uninitialised value is used here",
                );
                result(evidence, EngineName::Sequential).findings.push(undefined);
                let row = &mut evidence.campaign.agreement[0];
                row.coverage = coverage;
                row.left_open.extend(open.map(str::to_owned));
                let (kernel, test) = (row.kernel, Some(row.test));
                let finding = |mark: u64| {
                    let finding = Finding::new(FindingKind::EngineDisagreement, "a mark")
                        .detail("mark", mark);
                    KernelFinding {
                        kernel,
                        engine: None,
                        test,
                        finding: finding.detail("only_on", "vulkan"),
                    }
                };
                evidence.campaign.findings.extend(found.map(finding));
            })
        };
        let evidence = agreed();
        let mut rows = evidence.kernels.iter();
        let row = rows
            .find(|row| row.kernel == evidence.campaign.agreement[0].kernel)
            .expect("its kernel");
        let line = format!(
            "{}: {} on vulkan alone: it follows",
            row.kernel,
            marked(&row.structure, MarkIndex(1))
        );
        let (different, undefined) =
            (AgreementOutcome::Different, AgreementOutcome::UndefinedValue);
        assert_eq!(told(different, Some(1), None), Vec::<String>::new());
        assert_eq!(told(undefined, None, Some(&line)), Vec::<String>::new());
        assert_told(
            &told(different, Some(0), None),
            "no finding tells of it, and it is not left open",
        );
        assert_told(
            &told(undefined, None, Some("another line")),
            "no finding tells of it, and it is not left open",
        );
        assert_told(
            &told(undefined, Some(1), Some(&line)),
            "a finding, and coverage undefined-value",
        );
    }

    #[test]
    fn a_test_that_ended_on_both_engines_has_its_row() {
        assert_told(
            &problems(|evidence| evidence.campaign.agreement.clear()),
            "0 rows where both engines ended",
        );
        let twice = problems(|evidence| {
            let row = evidence.campaign.agreement[0].clone();
            evidence.campaign.agreement.push(row);
        });
        assert_told(&twice, "2 rows where both engines ended");
        let alone = problems(|evidence| {
            evidence.campaign.agreement.clear();
            result(evidence, EngineName::Vulkan).verdict = Verdict::Unsupported;
        });
        assert_eq!(alone, Vec::<String>::new());
    }

    #[test]
    fn what_is_left_open_is_of_a_test_with_expectations_that_both_engines_meet() {
        let told = |verdict: Verdict, judged: &str| {
            problems(|evidence| {
                left(evidence, EngineName::Vulkan, &[1, 2, 3, 5]);
                result(evidence, EngineName::Vulkan).verdict = verdict;
                evidence.campaign.agreement[0].outputs = AgreementOutcome::LeftOpen;
                match judged {
                    "" => evidence.campaign.tests[0].expected.clear(),
                    name => evidence.campaign.tests[0]
                        .expected
                        .iter_mut()
                        .for_each(|one| one.buffer = name.to_owned()),
                }
            })
        };
        assert_eq!(told(Verdict::Pass, "out"), Vec::<String>::new());
        assert_eq!(told(Verdict::Fail, "other"), Vec::<String>::new());
        assert_told(&told(Verdict::Fail, "out"), "buffer out differs, and not both engines pass");
        assert_told(&told(Verdict::Pass, ""), "left open without any expectation");
    }
}

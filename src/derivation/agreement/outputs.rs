//! Whether the stored outputs of two engines differ as a row says.
//!
//! Knows: a test's stored outputs, verdicts and expectations, and its row.
//! Promises: an outcome that the stored outputs contradict is a problem; what hashes or modules
//! keep from being derived is named.
//! Does not cover: single elements (`elements`), records (`coverage`).

use super::Derivation;
use super::elements::elements;
use base64::Engine as _;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{Agreement, ErrorBounds, OutputBytes, TestEvidence};
use vkcert_model::finding::FindingKind;
use vkcert_model::verdict::{EngineName, Verdict};

/// Contents of a buffer on both engines, or how their hashes compare.
pub enum Contents {
    /// The contents on the sequential engine, then on the device.
    Bytes([Vec<u8>; 2]),
    /// Both are stored as the same hash and size.
    SameHash,
    /// At least one is stored as a hash, and they are not stored alike.
    OtherHash,
}

/// What the engines left in a buffer or image; none where one of them stores nothing of it, or no
/// valid base64.
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

pub(super) fn outputs(
    test: &TestEvidence,
    row: &Agreement,
    label: &str,
    derivation: &mut Derivation,
) {
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

/// Whether the sequential engine told of an undefined or uninitialised value in a test.
pub fn tells_of_undefined(test: &TestEvidence) -> bool {
    let kinds = [FindingKind::UndefinedValue, FindingKind::UninitializedRead];
    let mut results = test.results.iter().filter(|result| result.engine == EngineName::Sequential);
    results.any(|result| result.findings.iter().any(|finding| kinds.contains(&finding.kind)))
}

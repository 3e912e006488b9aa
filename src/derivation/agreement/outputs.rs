//! Whether the stored outputs of two engines differ as a row says.
//!
//! Knows: a test's stored outputs, verdicts and expectations, and its row.
//! Promises: an outcome that the stored outputs contradict is a problem; what hashes or modules
//! keep from being derived is named.
//! Does not cover: single elements (`elements`), records (`coverage`).

use super::Derivation;
use super::elements::check_elements;
use super::tolerated::{check_tolerated, has_tolerance};
use base64::Engine as _;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{Agreement, ErrorBounds, OutputBytes, TestEvidence};
use vkcert_model::finding::FindingKind;
use vkcert_model::verdict::{EngineName, Verdict};

/// Contents of a buffer on both engines, or how their hashes compare.
pub enum EngineContents {
    /// The contents on the sequential engine, then on the device.
    Bytes([Vec<u8>; 2]),
    /// Both are stored as the same hash and size.
    SameHash,
    /// At least one is stored as a hash, and they are not stored alike.
    OtherHash,
}

/// What the engines left in a buffer or image; none where one of them stores nothing of it, or no
/// valid base64.
pub fn contents_on_both(test: &TestEvidence, buffer_name: &str) -> Option<EngineContents> {
    let output_on = |engine| {
        test.results.iter().find(|result| result.engine == engine)?.outputs.get(buffer_name)
    };
    let decoded_bytes = |text: &String| base64::engine::general_purpose::STANDARD.decode(text).ok();
    Some(match (output_on(EngineName::Sequential)?, output_on(EngineName::Vulkan)?) {
        (OutputBytes::Bytes(ours), OutputBytes::Bytes(theirs)) => {
            EngineContents::Bytes([decoded_bytes(ours)?, decoded_bytes(theirs)?])
        }
        (ours, theirs) if ours == theirs => EngineContents::SameHash,
        (_, _) => EngineContents::OtherHash,
    })
}

pub(super) fn check_outputs(
    test: &TestEvidence,
    agreement_row: &Agreement,
    label: &str,
    derivation: &mut Derivation,
) {
    let mut names = test.results.iter().filter(|result| result.engine == EngineName::Sequential);
    let names: Vec<&String> =
        names.next().iter().flat_map(|result| result.outputs.keys()).collect();
    let stored_contents: Vec<_> =
        names.into_iter().filter_map(|name| Some((name, contents_on_both(test, name)?))).collect();
    if stored_contents.is_empty() {
        return derivation.check(agreement_row.outputs == AgreementOutcome::NotCompared, || {
            format!("{label}: no outputs are stored")
        });
    }
    let outputs_differ = stored_contents.iter().any(|(_, contents)| match contents {
        EngineContents::Bytes([ours, theirs]) => ours != theirs,
        EngineContents::SameHash => false,
        EngineContents::OtherHash => true,
    });
    derivation.check(agreement_row.outputs.is_of_outputs(), || {
        format!(
            "{label}: outputs are stored on both engines, and told as {}",
            agreement_row.outputs
        )
    });
    derivation.check(
        outputs_differ == (agreement_row.outputs != AgreementOutcome::Identical),
        || {
            format!(
                "{label}: stored {}, the stored outputs {}",
                agreement_row.outputs,
                if outputs_differ { "differ" } else { "are the same" }
            )
        },
    );
    if agreement_row.outputs == AgreementOutcome::LeftOpen {
        check_left_open(test, &stored_contents, label, derivation);
    }
    if agreement_row.outputs == AgreementOutcome::WithinTolerance {
        let passed_on = |engine| {
            test.results.iter().any(|one| one.engine == engine && one.verdict == Verdict::Pass)
        };
        let both_passed = passed_on(EngineName::Sequential) && passed_on(EngineName::Vulkan);
        derivation.check(both_passed && test.expected.iter().any(has_tolerance), || {
            format!("{label}: no tolerance that both engines meet")
        });
        check_tolerated(test, agreement_row, &stored_contents, label, derivation);
    }
    let Some(bounds) = &agreement_row.bounds else {
        return derivation
            .check(agreement_row.outputs != AgreementOutcome::WithinErrorBounds, || {
                format!("{label}: within-error-bounds without bounds")
            });
    };
    check_bounded_outcome(bounds, agreement_row, label, derivation);
    for buffer in &bounds.buffers {
        match stored_contents.iter().find(|(name, _)| **name == buffer.buffer) {
            Some((_, EngineContents::Bytes(bytes))) => {
                check_elements(test, buffer, bytes, label, derivation)
            }
            Some((_, EngineContents::OtherHash)) => {
                let name = &buffer.buffer;
                derivation
                    .not_derivable
                    .push(format!("{label}: buffer {name} is stored as a hash alone"));
            }
            Some((_, EngineContents::SameHash)) | None => {
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
fn check_left_open(
    test: &TestEvidence,
    stored_contents: &[(&String, EngineContents)],
    label: &str,
    derivation: &mut Derivation,
) {
    let passed_on = |engine| {
        test.results.iter().any(|result| result.engine == engine && result.verdict == Verdict::Pass)
    };
    let both_passed = passed_on(EngineName::Sequential) && passed_on(EngineName::Vulkan);
    derivation
        .check(!test.expected.is_empty(), || format!("{label}: left open without any expectation"));
    for (name, contents) in stored_contents {
        let is_judged = test.expected.iter().any(|expected| expected.buffer == **name);
        match contents {
            EngineContents::SameHash => {}
            EngineContents::Bytes([ours, theirs]) if ours == theirs => {}
            EngineContents::Bytes(_) | EngineContents::OtherHash if is_judged => {
                derivation.check(both_passed, || {
                    format!("{label}: buffer {name} differs, and not both engines pass")
                });
                derivation.of_modules.push(format!(
                    "{label}: that the contents of buffer {name} depend on the schedule comes from the module"
                ));
            }
            EngineContents::Bytes(_) | EngineContents::OtherHash => {}
        }
    }
}

fn check_bounded_outcome(
    bounds: &ErrorBounds,
    agreement_row: &Agreement,
    label: &str,
    derivation: &mut Derivation,
) {
    let any_outside = bounds.buffers.iter().any(|buffer| buffer.outside > 0);
    let expected_outcome =
        if any_outside { AgreementOutcome::Different } else { AgreementOutcome::WithinErrorBounds };
    derivation.check(agreement_row.outputs == expected_outcome, || {
        format!("{label}: stored {}, derived {expected_outcome}", agreement_row.outputs)
    });
}

/// Whether the sequential engine told of an undefined or uninitialised value in a test.
pub fn tells_of_undefined(test: &TestEvidence) -> bool {
    let kinds = [FindingKind::UndefinedValue, FindingKind::UninitializedRead];
    let mut results = test.results.iter().filter(|result| result.engine == EngineName::Sequential);
    results.any(|result| result.findings.iter().any(|finding| kinds.contains(&finding.kind)))
}

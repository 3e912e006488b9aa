//! What a finding is, in words: for people, and what acceptances in evidence of format 1 are bound
//! to.
//!
//! Promises: the part of the name behind the kind is unique for what can be told apart by it.

use super::FindingOccasion;
use super::cause::without_values;
use super::place::subject_places;
use super::subject::{BOUNDS_FACTS, GUARD_ZONE_FACTS, RACE_FACTS, SCHEDULE_FACTS};
use serde_json::Value;
use vkcert_model::canonical::{canonical_json, sha256_digits};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::DetailName;
use vkcert_model::finding_subject::SubjectPlace;
use vkcert_model::id::KernelName;
use vkcert_model::verdict::EngineName;

/// The part of the name behind the kind, and the content.
pub(super) fn name_and_content(
    finding: &Finding,
    occasion: FindingOccasion,
) -> Option<(String, String)> {
    let placed_words = |details: &[DetailName]| {
        content_at_places(finding, occasion, stated_details(finding, details))
    };
    match finding.kind {
        FindingKind::DataRace => Some(placed_words(RACE_FACTS)),
        // A device tells of no place.
        FindingKind::OutOfBounds if finding.place.is_none() => {
            content_in_test(finding, occasion, stated_details(finding, GUARD_ZONE_FACTS))
        }
        FindingKind::OutOfBounds => Some(placed_words(BOUNDS_FACTS)),
        FindingKind::UninitializedRead
        | FindingKind::UndefinedValue
        | FindingKind::UntracedBranch => {
            Some(content_at_places(finding, occasion, without_values(&finding.message)))
        }
        FindingKind::ScheduleDependentOutput => {
            // What does not meet its requirement in some order, or does not end, is no matter of
            // opinion.
            let passes_always = finding
                .detail(DetailName::Verdicts)
                .is_none_or(|verdicts| verdicts == serde_json::json!(["pass"]));
            let ends_always = finding.detail(DetailName::Ended).is_none();
            let nature_words = stated_details(finding, SCHEDULE_FACTS);
            if passes_always && ends_always {
                content_in_test(finding, occasion, nature_words)
            } else {
                None
            }
        }
        FindingKind::EngineDisagreement => {
            let stored_details = finding.stored_details().into_iter();
            let all_details =
                stored_details.map(|(name, value)| format!("{name} {}", value_text(value)));
            let nature_words =
                format!("{}; {}", finding.message, all_details.collect::<Vec<_>>().join(", "));
            content_in_test(finding, occasion, nature_words)
        }
        FindingKind::Coupling => coupling_content(finding, occasion),
        FindingKind::BarrierDivergence | FindingKind::NoTermination | FindingKind::Validation => {
            None
        }
    }
}

/// Beginning of a hash: enough to tell what differs apart, and to be read.
fn short_digits(digits: &str) -> &str {
    digits.get(..16).unwrap_or(digits)
}

/// Of a coupling check: the host's interface and the kernel's code; of limits also what is said of
/// the device.
fn coupling_content(finding: &Finding, occasion: FindingOccasion) -> Option<(String, String)> {
    let check_name = value_text(finding.detail(DetailName::Check)?);
    let name = &occasion.kernel.kernel;
    let rows = &occasion.context.campaign.coupling;
    let interface_digits = rows.iter().find(|row| row.kernel == *name)?.definition.as_ref()?;
    let interface_digits = sha256_digits(canonical_json(interface_digits).ok()?.as_bytes());
    let (interface_digits, code_digits) =
        (short_digits(&interface_digits), short_digits(&occasion.kernel.modules.code));
    Some((
        check_name,
        format!("{}; interface {interface_digits}, code {code_digits}", finding.message),
    ))
}

pub(super) fn value_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Those of the details that the finding has: `memory buffer, same_value true`.
fn stated_details(finding: &Finding, details: &[DetailName]) -> String {
    let mut stated_details = Vec::new();
    for name in details {
        let Some(value) = finding.detail(*name) else { continue };
        stated_details.push(format!("{} {}", name.text(), value_text(value)));
    }
    stated_details.join(", ")
}

/// Of a finding without a place: named by test, with what it is of there.
fn content_in_test(
    finding: &Finding,
    occasion: FindingOccasion,
    nature_words: String,
) -> Option<(String, String)> {
    let test = occasion.test?;
    let name_part =
        [DetailName::Buffer, DetailName::Decision, DetailName::Mark, DetailName::Obligation]
            .iter()
            .find_map(|name| finding.detail(*name));
    let name_part = match (finding.kind, name_part) {
        (FindingKind::ScheduleDependentOutput, _)
            if finding.detail(DetailName::Changed).is_some() =>
        {
            ".coverage".to_owned()
        }
        (FindingKind::ScheduleDependentOutput, _) => ".contents".to_owned(),
        (_, Some(name_part)) => format!(".{}", value_text(name_part)),
        (_, None) => String::new(),
    };
    let kernel_code = |name: &KernelName| {
        let row = occasion.context.kernels.iter().find(|row| row.kernel == *name);
        format!("{name} {}", row.map_or("-", |row| short_digits(&row.modules.code)))
    };
    let kernel_codes: Vec<String> = test.kernels.iter().map(kernel_code).collect();
    let test_hash = test.hash.strip_prefix("sha256:").unwrap_or(&test.hash);
    let engine_words = match occasion.engine {
        Some(EngineName::Sequential) => "on the sequential engine".to_owned(),
        Some(EngineName::Vulkan) | None => format!("on {}", device_words(occasion)),
    };
    let content_words = format!(
        "{nature_words}; {engine_words}; test {}, code of {}",
        short_digits(test_hash),
        kernel_codes.join(", ")
    );
    Some((format!("{}{name_part}", test.id), content_words))
}

/// Which device and driver ran.
fn device_words(occasion: FindingOccasion) -> String {
    super::subject::device_identity(occasion).into_values().collect::<Vec<_>>().join(", ")
}

fn content_at_places(
    finding: &Finding,
    occasion: FindingOccasion,
    nature_words: String,
) -> (String, String) {
    let places = subject_places(finding, occasion.kernel);
    let place_names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
    let place_texts: Vec<String> = places.iter().map(place_words).collect();
    let mut instruction_numbers: Vec<&u32> = finding.numbers.iter().collect();
    instruction_numbers.sort_unstable();
    let instruction_numbers: Vec<String> =
        instruction_numbers.iter().map(ToString::to_string).collect();
    let instruction_words = match instruction_numbers.as_slice() {
        [] => String::new(),
        some => format!(" instruction {}", some.join(" and ")),
    };
    let nature_words =
        if nature_words.is_empty() { nature_words } else { format!("{nature_words}: ") };
    let configuration_words = finding
        .configuration
        .as_ref()
        .map(|name| format!("configuration {name}, "))
        .unwrap_or_default();
    let code_digits = short_digits(&occasion.kernel.modules.code);
    let content_words = format!(
        "{nature_words}{}; {configuration_words}code {code_digits}{instruction_words}",
        place_texts.join(" and ")
    );
    (place_names.join(","), content_words)
}

/// `` write at `raised = 1u;`, at `= 1u;` ``
fn place_words(place: &SubjectPlace) -> String {
    let access_words = place.access.as_ref().map(|kind| format!("{kind} at ")).unwrap_or_default();
    let from_words = place.from.as_ref().map(|from| format!(", at `{from}`")).unwrap_or_default();
    match place.statement {
        None if place.name.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{access_words}{}", place.text)
        }
        _ => format!("{access_words}`{}`{from_words}", place.text),
    }
}

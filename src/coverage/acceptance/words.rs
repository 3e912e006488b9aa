//! What a finding is, in words: for people, and what acceptances in evidence of format 1 are bound
//! to.
//!
//! Promises: the part of the name behind the kind is unique for what can be told apart by it.

use super::Occasion;
use super::cause::without_values;
use super::place::places;
use serde_json::Value;
use vkcert_model::canonical::{canonical_json, sha256_digits};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_subject::SubjectPlace;
use vkcert_model::id::KernelName;
use vkcert_model::verdict::EngineName;

/// The part of the name behind the kind, and the content.
pub(super) fn named(finding: &Finding, occasion: Occasion) -> Option<(String, String)> {
    let placed = |details: &[&str]| at_places(finding, occasion, stated(finding, details));
    match finding.kind {
        FindingKind::DataRace => Some(placed(&["memory", "object", "reach", "same_value"])),
        // A device tells of no place.
        FindingKind::OutOfBounds if finding.place.is_none() => {
            in_test(finding, occasion, stated(finding, &["access", "buffer", "side"]))
        }
        FindingKind::OutOfBounds => Some(placed(&["dimension", "object"])),
        FindingKind::UninitializedRead
        | FindingKind::UndefinedValue
        | FindingKind::UntracedBranch => {
            Some(at_places(finding, occasion, without_values(&finding.message)))
        }
        FindingKind::ScheduleDependentOutput => {
            // What does not meet its requirement in some order, or does not end, is no matter of
            // opinion.
            let passes = finding
                .details
                .get("verdicts")
                .is_none_or(|verdicts| *verdicts == serde_json::json!(["pass"]));
            let ends = !finding.details.contains_key("ended");
            let nature = stated(finding, &["kernels", "buffers", "changed", "verdicts"]);
            if passes && ends { in_test(finding, occasion, nature) } else { None }
        }
        FindingKind::EngineDisagreement => {
            let details: Vec<&str> = finding.details.keys().map(String::as_str).collect();
            let nature = format!("{}; {}", finding.message, stated(finding, &details));
            in_test(finding, occasion, nature)
        }
        FindingKind::Coupling => coupling(finding, occasion),
        FindingKind::BarrierDivergence | FindingKind::NoTermination | FindingKind::Validation => {
            None
        }
    }
}

/// Beginning of a hash: enough to tell what differs apart, and to be read.
fn short(digits: &str) -> &str {
    digits.get(..16).unwrap_or(digits)
}

/// Of a coupling check: the host's interface and the kernel's code; of limits also what is said of
/// the device.
fn coupling(finding: &Finding, occasion: Occasion) -> Option<(String, String)> {
    let check = text(finding.details.get("check")?);
    let name = &occasion.kernel.kernel;
    let rows = &occasion.found.campaign.coupling;
    let interface = rows.iter().find(|row| row.kernel == *name)?.definition.as_ref()?;
    let interface = sha256_digits(canonical_json(interface).ok()?.as_bytes());
    let (interface, code) = (short(&interface), short(&occasion.kernel.modules.code));
    Some((check, format!("{}; interface {interface}, code {code}", finding.message)))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Those of the details that the finding has: `memory buffer, same_value true`.
fn stated(finding: &Finding, details: &[&str]) -> String {
    let stated = |name: &&str| Some(format!("{name} {}", text(finding.details.get(*name)?)));
    details.iter().filter_map(stated).collect::<Vec<_>>().join(", ")
}

/// Of a finding without a place: named by test, with what it is of there.
fn in_test(finding: &Finding, occasion: Occasion, nature: String) -> Option<(String, String)> {
    let test = occasion.test?;
    let part = ["buffer", "decision", "mark", "obligation"]
        .iter()
        .find_map(|name| finding.details.get(*name));
    let part = match (finding.kind, part) {
        (FindingKind::ScheduleDependentOutput, _) if finding.details.contains_key("changed") => {
            ".coverage".to_owned()
        }
        (FindingKind::ScheduleDependentOutput, _) => ".contents".to_owned(),
        (_, Some(part)) => format!(".{}", text(part)),
        (_, None) => String::new(),
    };
    let code = |name: &KernelName| {
        let row = occasion.found.kernels.iter().find(|row| row.kernel == *name);
        format!("{name} {}", row.map_or("-", |row| short(&row.modules.code)))
    };
    let codes: Vec<String> = test.kernels.iter().map(code).collect();
    let test_hash = test.hash.strip_prefix("sha256:").unwrap_or(&test.hash);
    let on = match occasion.engine {
        Some(EngineName::Sequential) => "on the sequential engine".to_owned(),
        Some(EngineName::Vulkan) | None => format!("on {}", device(occasion)),
    };
    let content =
        format!("{nature}; {on}; test {}, code of {}", short(test_hash), codes.join(", "));
    Some((format!("{}{part}", test.id), content))
}

/// Which device and driver ran.
fn device(occasion: Occasion) -> String {
    super::subject::device(occasion).into_values().collect::<Vec<_>>().join(", ")
}

fn at_places(finding: &Finding, occasion: Occasion, nature: String) -> (String, String) {
    let places = places(finding, occasion.kernel);
    let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
    let texts: Vec<String> = places.iter().map(told).collect();
    let mut numbers = finding.numbers.clone();
    numbers.sort_unstable();
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let instructions = match numbers.as_slice() {
        [] => String::new(),
        some => format!(" instruction {}", some.join(" and ")),
    };
    let nature = if nature.is_empty() { nature } else { format!("{nature}: ") };
    let configuration = finding
        .configuration
        .as_ref()
        .map(|name| format!("configuration {name}, "))
        .unwrap_or_default();
    let code = short(&occasion.kernel.modules.code);
    let content =
        format!("{nature}{}; {configuration}code {code}{instructions}", texts.join(" and "));
    (names.join(","), content)
}

/// `` write at `raised = 1u;`, at `= 1u;` ``
fn told(place: &SubjectPlace) -> String {
    let access = place.access.as_ref().map(|access| format!("{access} at ")).unwrap_or_default();
    let from = place.from.as_ref().map(|from| format!(", at `{from}`")).unwrap_or_default();
    match place.statement {
        None if place.name.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{access}{}", place.text)
        }
        _ => format!("{access}`{}`{from}", place.text),
    }
}

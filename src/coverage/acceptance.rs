//! Findings that a justification can accept: their names, and the content that a justification is signed for.
//!
//! Knows: which facts of a finding are about the code and which are about the run that showed it.
//! Promises: a justification accepts what its signers have seen and nothing else. The content holds the code of the kernel
//! (its module without debug information), the configuration and the instructions, or the test, the modules it dispatches
//! and the engine, or the host's interface: a change of any of them makes it stale, text that moves and comments do not.
//! Values, witnesses, counts and which of two invocations came first are no part of it.
//! Does not cover: which findings there are, whether accepting one is right (that is what the approver signs).

use super::justification::{Approval, sentence, subject_hash, unsigned};
use super::statement::visit;
use crate::model::canonical::{canonical_json, sha256_digits};
use crate::model::evidence::{Campaign, KernelEvidence, TestEvidence};
use crate::model::finding::{Acceptance, Finding, FindingKind};
use crate::model::id::{FindingId, KernelName, StatementId};
use crate::model::place::{LineStarts, Place, Span};
use crate::model::requirement::{Justification, JustificationClass};
use crate::model::verdict::EngineName;
use serde_json::Value;

/// What findings were found in.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    pub kernels: &'a [KernelEvidence],
    pub campaign: &'a Campaign,
}

/// Where a finding was found.
#[derive(Clone, Copy)]
pub struct Occasion<'a> {
    pub found: Found<'a>,
    /// The kernel on any engine.
    pub kernel: &'a KernelEvidence,
    /// None where no test showed it.
    pub test: Option<&'a TestEvidence>,
    /// None where it took no engine, or both.
    pub engine: Option<EngineName>,
}

/// Name, content and hash of a finding; none where no justification can accept it.
pub fn acceptance(finding: &Finding, occasion: Occasion) -> Option<Acceptance> {
    let (what, content) = subject(finding, occasion)?;
    let id = FindingId(format!("{}@{what}", finding.kind));
    let hash = subject_hash(&occasion.kernel.kernel, id.as_str(), &content);
    Some(Acceptance { id, content, hash, justification: None })
}

/// What the justification of a finding says, or why it is not accepted.
pub fn accepted(justification: &Justification, approval: Approval) -> Result<String, String> {
    match justification.class {
        JustificationClass::Analysis => {}
        JustificationClass::MissingTest
        | JustificationClass::MissingRequirement
        | JustificationClass::Extraneous
        | JustificationClass::Dead
        | JustificationClass::Deactivated
        | JustificationClass::Defensive => {
            return Err(format!("a finding is accepted by analysis, not as {}", justification.class));
        }
    }
    unsigned(justification, approval).map_or_else(|| Ok(sentence(justification)), Err)
}

/// The part of the name behind the kind, and the content.
fn subject(finding: &Finding, occasion: Occasion) -> Option<(String, String)> {
    let placed = |details: &[&str]| at_places(finding, occasion, stated(finding, details));
    match finding.kind {
        FindingKind::DataRace => Some(placed(&["memory", "object", "reach", "same_value"])),
        // A device tells of no place.
        FindingKind::OutOfBounds if finding.place.is_none() => {
            in_test(finding, occasion, stated(finding, &["access", "buffer", "side"]))
        }
        FindingKind::OutOfBounds => Some(placed(&["dimension", "object"])),
        FindingKind::UninitializedRead | FindingKind::UndefinedValue | FindingKind::UntracedBranch => {
            Some(at_places(finding, occasion, without_values(&finding.message)))
        }
        FindingKind::ScheduleDependentOutput => {
            // What does not meet its requirement in some order, or does not end, is no matter of opinion.
            let passes =
                finding.details.get("verdicts").is_none_or(|verdicts| *verdicts == serde_json::json!(["pass"]));
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
        FindingKind::BarrierDivergence | FindingKind::NoTermination | FindingKind::Validation => None,
    }
}

/// Beginning of a hash: enough to tell what differs apart, and to be read.
fn short(digits: &str) -> &str {
    digits.get(..16).unwrap_or(digits)
}

/// Of a coupling check: the host's interface and the kernel's code; of limits also what is said of the device.
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

/// A sentence with `…` for each number outside of quoted names.
fn without_values(message: &str) -> String {
    let number =
        |word: &str| word.trim_start_matches(['-', '(', '[']).starts_with(|first: char| first.is_ascii_digit());
    let plain = |text: &str| {
        let words = text.split(' ').map(|word| if number(word) { "…" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    let parts = message.split('`').enumerate();
    let parts = parts.map(|(index, part)| if index % 2 == 0 { plain(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

/// Those of the details that the finding has: `memory buffer, same_value true`.
fn stated(finding: &Finding, details: &[&str]) -> String {
    let stated = |name: &&str| Some(format!("{name} {}", text(finding.details.get(*name)?)));
    details.iter().filter_map(stated).collect::<Vec<_>>().join(", ")
}

/// Of a finding without a place: named by test, with what it is of there.
fn in_test(finding: &Finding, occasion: Occasion, nature: String) -> Option<(String, String)> {
    let test = occasion.test?;
    let part = ["buffer", "decision", "mark", "obligation"].iter().find_map(|name| finding.details.get(*name));
    let part = match (finding.kind, part) {
        (FindingKind::ScheduleDependentOutput, _) if finding.details.contains_key("changed") => ".coverage".to_owned(),
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
    let content = format!("{nature}; {on}; test {}, code of {}", short(test_hash), codes.join(", "));
    Some((format!("{}{part}", test.id), content))
}

/// Which device and driver ran.
fn device(occasion: Occasion) -> String {
    let engines = &occasion.found.campaign.engines;
    let row = engines.iter().find(|row| row.engine == EngineName::Vulkan && row.ran);
    let facts = row.into_iter().flat_map(|row| &row.identity);
    let facts = facts.filter(|(name, _)| ["device", "driver", "driver version"].contains(&name.as_str()));
    facts.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
}

/// A place of a finding.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    statement: Option<StatementId>,
    name: String,
    text: String,
}

fn at_places(finding: &Finding, occasion: Occasion, nature: String) -> (String, String) {
    let accesses = finding.details.get("accesses").and_then(Value::as_array);
    let access = |index: usize| match accesses.and_then(|accesses| accesses.get(index)) {
        Some(access) => format!("{} at ", text(access)),
        None => String::new(),
    };
    // The earlier access is the first, and at the other place.
    let places = [(finding.other_place.as_ref(), access(0)), (finding.place.as_ref(), access(1))];
    let spot = |(place, access): (Option<&Place>, String)| Some((spot(occasion.kernel, place?), access));
    let mut spots: Vec<(Spot, String)> = places.into_iter().filter_map(spot).collect();
    spots.sort();
    let names: Vec<&str> = spots.iter().map(|(spot, _)| spot.name.as_str()).collect();
    let texts: Vec<String> = spots.iter().map(|(spot, access)| format!("{access}{}", spot.text)).collect();
    let mut numbers = finding.numbers.clone();
    numbers.sort_unstable();
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let instructions = match numbers.as_slice() {
        [] => String::new(),
        some => format!(" instruction {}", some.join(" and ")),
    };
    let nature = if nature.is_empty() { nature } else { format!("{nature}: ") };
    let configuration =
        finding.configuration.as_ref().map(|name| format!("configuration {name}, ")).unwrap_or_default();
    let code = short(&occasion.kernel.modules.code);
    let content = format!("{nature}{}; {configuration}code {code}{instructions}", texts.join(" and "));
    (names.join(","), content)
}

fn spot(kernel: &KernelEvidence, place: &Place) -> Spot {
    in_source(kernel, place).unwrap_or_else(|| {
        let name = place.instruction.map_or_else(|| "module".to_owned(), |word| word.to_string());
        let text = Place { file: None, line: None, column: None, ..place.clone() }.to_string();
        Spot { statement: None, name, text }
    })
}

/// The statement that a place is in, and where in it; of one known by line alone, the first statement on the line.
fn in_source(kernel: &KernelEvidence, place: &Place) -> Option<Spot> {
    let structure = &kernel.structure;
    let (file, line) = (place.file.as_ref()?, place.line?);
    let index = structure.files.iter().position(|known| known.path == *file)?;
    let text = &structure.files[index].text;
    let (start, end) = LineStarts::of(text).range(text, line)?;
    let first = start + text[start..end].len() - text[start..end].trim_start().len();
    let exact = place.column.and_then(|column| {
        let mut characters = text[start..end].char_indices().map(|(offset, _)| start + offset);
        characters.nth(column.checked_sub(1)? as usize)
    });
    let at = exact.unwrap_or(first);
    let mut found: Option<(StatementId, Span)> = None;
    for function in &structure.functions {
        visit(&function.body, &mut |statement| {
            // What comes out of a macro is where the macro is used.
            let sites = statement.expansion.iter().map(|expansion| expansion.site).chain([statement.span]);
            let Some(span) = sites.into_iter().find(|span| span.file.0 as usize == index) else { return };
            let Some(id) = statement.id else { return };
            let (begins, ends) = (span.start as usize, span.end as usize);
            let here = begins <= at && at < ends || exact.is_none() && (at..end).contains(&begins);
            let better = |(_, old): (StatementId, Span)| begins > old.start as usize && begins <= at;
            if here && found.is_none_or(better) {
                found = Some((id, span));
            }
        });
    }
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((id, span)) = found else {
        // Between statements: the condition behind a `do` body, a part of a loop's header, a function's parameters.
        let name = place.function.clone().unwrap_or_else(|| "module".to_owned());
        return Some(Spot { statement: None, name, text: format!("`{}`", plain(&text[start..end])) });
    };
    // From there to the end of the statement: one text for each place.
    let part = exact.filter(|at| *at > span.start as usize);
    let part = part.map(|at| format!(", at `{}`", plain(&text[at..span.end as usize])));
    let text = format!("`{}`{}", plain(structure.text(span)), part.unwrap_or_default());
    Some(Spot { statement: Some(id), name: id.to_string(), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_values_unless_they_are_quoted() {
        let told = without_values("the size of level 7 of `mips 4` is asked for, which has 3 levels (-0.5, [1, 2])");
        assert_eq!(told, "the size of level … of `mips 4` is asked for, which has … levels … … …");
    }
}

//! Justifications: accepted reasons for obligations that no test covers.
//!
//! Knows: the content of an obligation, as a hash that goes stale when the code changes.
//! Promises: a justification is applied only to an open obligation of its own kernel with the very same content; every
//! other one is rejected with a reason. Where the level demands independence (DO-178C, tables: the
//! verification of level A and B is done by someone else than the author), author and approver must differ.
//! Does not cover: whether the reason is a good one; that is what the approver signs.

use super::criteria;
use crate::model::canonical::content_hash;
use crate::model::coverage::{Independence, KernelCoverage, SimpleObligation, Status};
use crate::model::id::{KernelName, ObligationId};
use crate::model::requirement::{Justification, JustificationClass, JustificationSubject};
use std::collections::BTreeMap;

/// Whether the approver of a justification must be another person than its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    Independent,
    Free,
}

impl Approval {
    /// What a DO-178C level (`A` to `D`) demands.
    pub fn for_level(level: &str) -> Self {
        if matches!(level, "A" | "B") { Approval::Independent } else { Approval::Free }
    }
}

/// Coverage with justifications applied, and what became of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Justified {
    pub coverage: KernelCoverage,
    /// In the order given: why it is rejected; none: accepted. Justifications of findings, and those of other kernels and
    /// configurations, are accepted unseen.
    pub rejected: Vec<Option<String>>,
}

/// `sha256:` and the hexadecimal hash of kernel name, obligation id and obligation text, each followed by a line feed.
///
/// The text is the source text that the obligation is about ([`contents`]), not its place: a justification survives code
/// that moves, and goes stale when the code itself or its number changes.
pub fn obligation_hash(kernel: &KernelName, obligation: &ObligationId, text: &str) -> String {
    subject_hash(kernel, obligation.as_str(), text)
}

/// The hash of what a justification is of: see [`obligation_hash`].
pub(super) fn subject_hash(kernel: &KernelName, id: &str, text: &str) -> String {
    content_hash(format!("{kernel}\n{id}\n{text}\n").as_bytes())
}

/// The text behind every obligation: of statements, outcomes, labels, points and vectors their own; of `D1.C2.unique-cause` and
/// `D1.C2.masking` the decision's text, ` / ` and the condition's.
pub fn contents(coverage: &KernelCoverage) -> BTreeMap<ObligationId, String> {
    let of_decisions =
        coverage.decisions.iter().flat_map(|decision| decision.outcomes.iter().chain(&decision.combinations));
    let simple = coverage.statements.iter().chain(&coverage.branches).chain(&coverage.points).chain(of_decisions);
    let simple = simple.chain(&coverage.objects).chain(&coverage.barriers);
    let mut contents: BTreeMap<ObligationId, String> =
        simple.map(|obligation| (obligation.id.clone(), obligation.text.clone())).collect();
    for decision in &coverage.decisions {
        for place in &decision.conditions {
            let text = format!("{} / {}", decision.text, place.text);
            contents.insert(ObligationId(format!("{}.unique-cause", place.id)), text.clone());
            contents.insert(ObligationId(format!("{}.masking", place.id)), text);
        }
    }
    contents
}

/// The obligation that a justification names, if it speaks of a kernel under a configuration.
pub fn about<'a>(
    justification: &'a Justification,
    kernel: &KernelName,
    coverage: &KernelCoverage,
) -> Option<&'a ObligationId> {
    let configuration = justification.configuration.as_ref();
    let of_this = justification.kernel == *kernel && configuration.is_none_or(|name| *name == coverage.configuration);
    match &justification.subject {
        JustificationSubject::Obligation(id) => of_this.then_some(id),
        JustificationSubject::Finding(_) => None,
    }
}

/// Applies the justifications of one kernel.
pub fn apply_justifications(
    kernel: &KernelName,
    coverage: &KernelCoverage,
    justifications: &[Justification],
    approval: Approval,
) -> Justified {
    let contents = contents(coverage);
    let statuses = statuses(coverage);
    let mut accepted: BTreeMap<&ObligationId, &Justification> = BTreeMap::new();
    let mut rejected = Vec::new();
    for justification in justifications {
        let Some(id) = about(justification, kernel, coverage) else {
            rejected.push(None);
            continue;
        };
        let reason = fault(kernel, (id, justification), &contents, &statuses, approval)
            .or_else(|| accepted.contains_key(id).then(|| format!("{id} is justified twice")));
        if reason.is_none() {
            accepted.insert(id, justification);
        }
        rejected.push(reason);
    }
    let mut coverage = coverage.clone();
    mark(&mut coverage, &accepted);
    coverage.summary = criteria::summary(&coverage);
    Justified { coverage, rejected }
}

/// Why a justification is not accepted.
fn fault(
    kernel: &KernelName,
    (id, justification): (&ObligationId, &Justification),
    contents: &BTreeMap<ObligationId, String>,
    statuses: &BTreeMap<ObligationId, Status>,
    approval: Approval,
) -> Option<String> {
    let (Some(text), Some(status)) = (contents.get(id), statuses.get(id)) else {
        return Some(format!("{kernel} has no obligation {id}"));
    };
    let hash = obligation_hash(kernel, id, text);
    if hash != justification.hash {
        return Some(format!("stale: {id} is now `{text}` with hash {hash}"));
    }
    unsigned(justification, approval).or_else(|| match status {
        Status::Covered | Status::Justified => Some(format!("not needed: {id} is {status}")),
        Status::Uncovered | Status::Undetermined => None,
    })
}

/// What a person signs: of a justification, or of anything else that a project accepts.
#[derive(Debug, Clone, Copy)]
pub struct Signature<'a> {
    pub reason: &'a str,
    pub author: &'a str,
    pub approver: &'a str,
}

/// What is missing of the people behind a justification.
pub(super) fn unsigned(justification: &Justification, approval: Approval) -> Option<String> {
    let Justification { reason, author, approver, .. } = justification;
    signature_fault(Signature { reason, author, approver }, approval)
}

/// Why a signature does not count.
pub fn signature_fault(signature: Signature, approval: Approval) -> Option<String> {
    let Signature { reason, author, approver } = signature;
    if [reason, author, approver].iter().any(|text| !text.contains(char::is_alphanumeric)) {
        return Some("reason, author and approver must be given".to_owned());
    }
    // Nobody becomes another person by a space, a capital or a letter that cannot be seen.
    let letters = |name: &str| -> String {
        name.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let same = letters(author) == letters(approver);
    (approval == Approval::Independent && same)
        .then(|| format!("author and approver are the same ({author}); this level demands independence"))
}

fn statuses(coverage: &KernelCoverage) -> BTreeMap<ObligationId, Status> {
    let of_decisions =
        coverage.decisions.iter().flat_map(|decision| decision.outcomes.iter().chain(&decision.combinations));
    let simple = coverage.statements.iter().chain(&coverage.branches).chain(&coverage.points).chain(of_decisions);
    let simple = simple.chain(&coverage.objects).chain(&coverage.barriers);
    let mut statuses: BTreeMap<ObligationId, Status> =
        simple.map(|obligation| (obligation.id.clone(), obligation.status)).collect();
    for mcdc in coverage.decisions.iter().flat_map(|decision| &decision.mcdc) {
        statuses.insert(ObligationId(format!("{}.unique-cause", mcdc.condition)), mcdc.unique_cause.status);
        statuses.insert(ObligationId(format!("{}.masking", mcdc.condition)), mcdc.masking.status);
    }
    statuses
}

fn mark(coverage: &mut KernelCoverage, accepted: &BTreeMap<&ObligationId, &Justification>) {
    let simple = |obligation: &mut SimpleObligation| {
        if let Some(justification) = accepted.get(&obligation.id) {
            obligation.status = Status::Justified;
            obligation.reason = Some(sentence(justification));
        }
    };
    coverage.statements.iter_mut().for_each(simple);
    coverage.branches.iter_mut().for_each(simple);
    coverage.objects.iter_mut().for_each(simple);
    coverage.barriers.iter_mut().for_each(simple);
    coverage.points.iter_mut().for_each(simple);
    for decision in &mut coverage.decisions {
        decision.outcomes.iter_mut().chain(&mut decision.combinations).for_each(simple);
        for mcdc in &mut decision.mcdc {
            let form = |form: &mut Independence, name: &str| {
                let id = ObligationId(format!("{}.{name}", mcdc.condition));
                if let Some(justification) = accepted.get(&id) {
                    form.status = Status::Justified;
                    form.reason = Some(sentence(justification));
                }
            };
            form(&mut mcdc.unique_cause, "unique-cause");
            form(&mut mcdc.masking, "masking");
        }
    }
}

/// What it says, in one line.
pub(super) fn sentence(justification: &Justification) -> String {
    let class = match justification.class {
        JustificationClass::MissingTest => "missing test",
        JustificationClass::MissingRequirement => "missing requirement",
        JustificationClass::Extraneous => "extraneous code",
        JustificationClass::Dead => "dead code",
        JustificationClass::Deactivated => "deactivated code",
        JustificationClass::Defensive => "defensive code",
        JustificationClass::Analysis => "analysis",
    };
    let Justification { reason, author, approver, .. } = justification;
    format!("{class}: {reason} (author {author}, approver {approver})")
}

//! Justifications: accepted reasons for obligations that no test covers.
//!
//! Knows: the content of an obligation, as a hash that goes stale when the code changes
//! (`content`); what each class claims (`claim`).
//! Promises: a justification is applied only to an open obligation of its own kernel with the very
//! same content, if no record refutes what it claims; every other one is rejected with a reason.
//! Where the level demands independence (DO-178C, tables: the verification of level A
//! and B is done by someone else than the author), author and approver must differ. Evidence of
//! format 1 is judged by what that format knew.
//! Does not cover: whether the reason is a good one; that is what the approver signs.

mod claim;
mod content;

pub use claim::Shown;
pub use content::{BoundConfiguration, BoundKernel, Contents};

use super::criteria;
use claim::{Claimed, class_fault};
use std::collections::BTreeMap;
use vkcert_model::canonical::content_hash;
use vkcert_model::coverage::{Independence, KernelCoverage, Proposal, SimpleObligation, Status};
use vkcert_model::evidence::FIRST_SCHEMA;
use vkcert_model::id::{KernelName, ObligationId};
use vkcert_model::project::SoftwareLevel;
use vkcert_model::requirement::{Justification, JustificationClass, JustificationSubject};

/// Whether the approver of a justification must be another person than its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    Independent,
    Free,
}

impl Approval {
    /// What a DO-178C level demands.
    pub fn for_level(level: SoftwareLevel) -> Self {
        match level {
            SoftwareLevel::A | SoftwareLevel::B => Approval::Independent,
            SoftwareLevel::C | SoftwareLevel::D => Approval::Free,
        }
    }
}

/// Whether classes that name a gap close obligations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    GapsStayOpen,
    GapsAreAccepted,
}

/// What hashes of justifications are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// Kernel, id and the displayed text (evidence of format 1).
    DisplayedText,
    /// [`Contents`].
    Content,
}

/// What justifications are judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standard {
    pub level: SoftwareLevel,
    pub approval: Approval,
    pub strictness: Strictness,
    pub binding: Binding,
}

impl Standard {
    /// For a level in evidence of a format.
    pub fn of(level: SoftwareLevel, schema: u32) -> Self {
        let first = schema == FIRST_SCHEMA;
        let lenient = first || level == SoftwareLevel::D;
        Self {
            level,
            approval: Approval::for_level(level),
            strictness: if lenient {
                Strictness::GapsAreAccepted
            } else {
                Strictness::GapsStayOpen
            },
            binding: if first { Binding::DisplayedText } else { Binding::Content },
        }
    }
}

/// Coverage with justifications applied, and what became of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Justified {
    pub coverage: KernelCoverage,
    /// In the order given; none: accepted. Justifications of findings, and those of other kernels
    /// and configurations, are accepted unseen.
    pub rejected: Vec<Option<Rejection>>,
}

/// Why a justification does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// It is bound to something else.
    Stale(String),
    Fault(String),
}

impl Rejection {
    pub fn reason(&self) -> &str {
        match self {
            Rejection::Stale(reason) | Rejection::Fault(reason) => reason,
        }
    }
}

/// A justification with what the records of all engines and configurations say against it.
#[derive(Debug, Clone)]
pub struct GivenJustification<'a> {
    pub justification: &'a Justification,
    pub refuted: Option<String>,
}

/// The hash of kernel, id and text: see [`Binding::DisplayedText`].
pub(super) fn displayed_hash(kernel: &KernelName, id: &str, text: &str) -> String {
    content_hash(format!("{kernel}\n{id}\n{text}\n").as_bytes())
}

/// Every obligation that is one by itself.
fn simple_obligations(coverage: &KernelCoverage) -> impl Iterator<Item = &SimpleObligation> {
    let of_decisions = coverage
        .decisions
        .iter()
        .flat_map(|decision| decision.outcomes.iter().chain(&decision.combinations));
    let of_source = coverage
        .statements
        .iter()
        .chain(&coverage.branches)
        .chain(&coverage.points)
        .chain(of_decisions);
    of_source.chain(&coverage.objects).chain(&coverage.barriers)
}

/// The displayed text of every obligation: of statements, outcomes, labels, points and vectors
/// their own; of `D1.C2.unique-cause` and `D1.C2.masking` the decision's text, ` / ` and the
/// condition's.
pub fn displayed(coverage: &KernelCoverage) -> BTreeMap<ObligationId, String> {
    let simple = simple_obligations(coverage);
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
    let of_this = justification.kernel == *kernel
        && configuration.is_none_or(|name| *name == coverage.configuration);
    match &justification.subject {
        JustificationSubject::Obligation(id) => of_this.then_some(id),
        JustificationSubject::Finding(_) => None,
    }
}

/// Applies justifications to the coverage of one kernel.
pub fn apply_justifications(
    bound: BoundKernel,
    coverage: &KernelCoverage,
    given: &[GivenJustification],
    standard: &Standard,
) -> Justified {
    let judging = Judging::new(bound, coverage, standard);
    let mut accepted: BTreeMap<&ObligationId, &Justification> = BTreeMap::new();
    let mut rejected = Vec::new();
    for GivenJustification { justification, refuted } in given {
        let Some(id) = about(justification, bound.kernel, coverage) else {
            rejected.push(None);
            continue;
        };
        let twice = || accepted.contains_key(id).then(|| format!("{id} is justified twice"));
        let rejection = judging
            .unknown(id)
            .or_else(|| refuted.clone())
            .map(Rejection::Fault)
            .or_else(|| judging.stale(id, justification).map(Rejection::Stale))
            .or_else(|| judging.fault(id, justification).or_else(twice).map(Rejection::Fault));
        if rejection.is_none() {
            accepted.insert(id, justification);
        }
        rejected.push(rejection);
    }
    drop(judging);
    let mut coverage = coverage.clone();
    mark(&mut coverage, &accepted);
    coverage.summary = criteria::criterion_summaries(&coverage);
    Justified { coverage, rejected }
}

/// What is known of an obligation before justifications.
struct Open<'a> {
    status: Status,
    proposal: Option<&'a Proposal>,
}

/// Judges the justifications of one kernel.
struct Judging<'a> {
    bound: BoundKernel<'a>,
    standard: &'a Standard,
    displayed: BTreeMap<ObligationId, String>,
    contents: Contents<'a>,
    open: BTreeMap<ObligationId, Open<'a>>,
}

impl<'a> Judging<'a> {
    fn new(bound: BoundKernel<'a>, coverage: &'a KernelCoverage, standard: &'a Standard) -> Self {
        let contents = Contents::of(bound, coverage);
        Self { bound, standard, displayed: displayed(coverage), contents, open: open(coverage) }
    }

    fn unknown(&self, id: &ObligationId) -> Option<String> {
        (!self.open.contains_key(id))
            .then(|| format!("{} has no obligation {id}", self.bound.kernel))
    }

    /// Why a justification of a known obligation with the right hash is not accepted.
    fn fault(&self, id: &ObligationId, justification: &Justification) -> Option<String> {
        unsigned(justification, self.standard.approval)
            .or_else(|| self.unclaimed(id, justification))
            .or_else(|| match self.open.get(id)?.status {
                status @ (Status::Covered | Status::Justified) => {
                    Some(format!("not needed: {id} is {status}"))
                }
                Status::Uncovered | Status::Undetermined => None,
            })
    }

    fn stale(&self, id: &ObligationId, justification: &Justification) -> Option<String> {
        let text = self.displayed.get(id).map_or("", String::as_str);
        let (signed, hash) = match self.standard.binding {
            Binding::DisplayedText => {
                (format!("{id}"), displayed_hash(self.bound.kernel, id.as_str(), text))
            }
            Binding::Content => (
                format!("{id} or the code or configuration of its kernel"),
                self.contents.hash(id)?,
            ),
        };
        (hash != justification.hash).then(|| {
            format!(
                "stale: {signed} is not what was signed for; it is now `{text}` with hash {hash}"
            )
        })
    }

    /// What is wrong with the class and what it states.
    fn unclaimed(&self, id: &ObligationId, justification: &Justification) -> Option<String> {
        match self.standard.binding {
            Binding::DisplayedText => return None,
            Binding::Content => {}
        }
        let stated = justification.statement_faults().into_iter().next().map(|fault| fault.message);
        stated.or_else(|| {
            let proposal = self.open.get(id)?.proposal;
            class_fault(
                justification,
                Claimed { id, proposal, objects: self.bound.objects },
                self.standard,
            )
        })
    }
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
    (approval == Approval::Independent && same).then(|| {
        format!("author and approver are the same ({author}); this level demands independence")
    })
}

fn open(coverage: &KernelCoverage) -> BTreeMap<ObligationId, Open<'_>> {
    let mut known = BTreeMap::new();
    for SimpleObligation { id, status, proposal, .. } in simple_obligations(coverage) {
        known.insert(id.clone(), Open { status: *status, proposal: proposal.as_ref() });
    }
    for mcdc in coverage.decisions.iter().flat_map(|decision| &decision.mcdc) {
        for (name, form) in [("unique-cause", &mcdc.unique_cause), ("masking", &mcdc.masking)] {
            let open = Open { status: form.status, proposal: form.proposal.as_ref() };
            known.insert(ObligationId(format!("{}.{name}", mcdc.condition)), open);
        }
    }
    known
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
        JustificationClass::Infeasible => "infeasible",
        JustificationClass::Analysis => "analysis",
    };
    let Justification { reason, category, means, argument, author, approver, .. } = justification;
    let category = category.map(|category| format!(" ({category})")).unwrap_or_default();
    let means = means.as_ref().map(|means| format!(" Means: {means}")).unwrap_or_default();
    let argument =
        argument.as_ref().map(|argument| format!(" Argument: {argument}")).unwrap_or_default();
    format!("{class}{category}: {reason}{means}{argument} (author {author}, approver {approver})")
}

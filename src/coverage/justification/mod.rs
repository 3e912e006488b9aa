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
mod source_text;

pub use claim::ShownObligations;
pub use content::{BoundConfiguration, BoundContents, BoundKernel, signed_kernel_hash};

use super::coupling::UNKNOWN_PAIRS;
use super::criteria;
use super::person::may_be_same_person;
use claim::{ClaimedObligation, class_fault};
use std::borrow::Cow;
use std::collections::BTreeMap;
use vkcert_model::canonical::content_hash;
use vkcert_model::coverage::{ConditionMcdc, KernelCoverage, Proposal, SimpleObligation, Status};
use vkcert_model::evidence::FIRST_SCHEMA;
use vkcert_model::id::{KernelName, ObligationId};
use vkcert_model::project::SoftwareLevel;
use vkcert_model::requirement::{Justification, JustificationSubject};

/// Whether the approver of a justification must be another person than its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApproverRule {
    /// The two strictest levels of each standard: they must be different people.
    Independent,
    /// They may be the same person.
    Free,
}

impl ApproverRule {
    /// What a level demands.
    pub fn for_level(level: SoftwareLevel) -> Self {
        match level.needs_other_approver() {
            true => ApproverRule::Independent,
            false => ApproverRule::Free,
        }
    }
}

/// Whether classes that name a gap close obligations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapStrictness {
    /// They do not: levels A to C, and every level of other standards than DO-178C.
    GapsStayOpen,
    /// They do: level D.
    GapsAreAccepted,
}

/// What hashes of justifications are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashBinding {
    /// Kernel, id and the displayed text (evidence of format 1).
    DisplayedText,
    /// [`Contents`].
    Content,
}

/// What justifications are judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JustificationStandard {
    /// Software level of the project.
    pub level: SoftwareLevel,
    /// Whether author and approver must be different people.
    pub approval: ApproverRule,
    /// Whether classes that name a gap close obligations.
    pub strictness: GapStrictness,
    /// What hashes are made over.
    pub binding: HashBinding,
}

impl JustificationStandard {
    /// For a level in evidence of a format.
    pub fn for_level(level: SoftwareLevel, schema: u32) -> Self {
        let is_first_format = schema == FIRST_SCHEMA;
        let is_lenient = is_first_format || level == SoftwareLevel::D;
        Self {
            level,
            approval: ApproverRule::for_level(level),
            strictness: if is_lenient {
                GapStrictness::GapsAreAccepted
            } else {
                GapStrictness::GapsStayOpen
            },
            binding: if is_first_format {
                HashBinding::DisplayedText
            } else {
                HashBinding::Content
            },
        }
    }
}

/// Coverage with justifications applied, and what became of each.
#[derive(Debug, Clone, PartialEq)]
pub struct JustifiedCoverage {
    /// The coverage, justified obligations with the reason.
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
    /// Anything else keeps it from counting: the reason.
    Fault(String),
}

impl Rejection {
    /// Why it does not count, in one sentence.
    pub fn reason(&self) -> &str {
        match self {
            Rejection::Stale(reason) | Rejection::Fault(reason) => reason,
        }
    }
}

/// A justification with what the records of all engines and configurations say against it.
#[derive(Debug, Clone)]
pub struct GivenJustification<'a> {
    /// As its file states it.
    pub justification: &'a Justification,
    /// What contradicts it, in one sentence; none where nothing does.
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
    let requested_lists = coverage.requested().into_iter();
    let requested = requested_lists.flat_map(|(_, obligations)| obligations.iter().flatten());
    of_source.chain(&coverage.objects).chain(&coverage.barriers).chain(requested)
}

/// The displayed text of every obligation: of statements, outcomes, labels, points and vectors
/// their own; of `D1.C2.unique-cause` and `D1.C2.masking` the decision's text, ` / ` and the
/// condition's.
pub fn displayed_texts(coverage: &KernelCoverage) -> BTreeMap<ObligationId, Cow<'_, str>> {
    let simple_items = simple_obligations(coverage);
    let mut text_by_id: BTreeMap<ObligationId, Cow<str>> = simple_items
        .map(|obligation| (obligation.id, Cow::Borrowed(obligation.text.as_str())))
        .collect();
    for decision in &coverage.decisions {
        for place in &decision.conditions {
            for form in ["unique-cause", "masking"] {
                let text = format!("{} / {}", decision.text, place.text);
                text_by_id.insert(ObligationId::from(format!("{}.{form}", place.id)), text.into());
            }
        }
    }
    text_by_id
}

/// The obligation that a justification names, if it speaks of a kernel under a configuration.
pub fn claimed_obligation<'a>(
    justification: &'a Justification,
    kernel: &KernelName,
    coverage: &KernelCoverage,
) -> Option<&'a ObligationId> {
    let configuration = justification.configuration.as_ref();
    let is_of_kernel = justification.kernel == *kernel
        && configuration.is_none_or(|name| *name == coverage.configuration);
    match &justification.subject {
        JustificationSubject::Obligation(id) => is_of_kernel.then_some(id),
        JustificationSubject::Finding(_) | JustificationSubject::Mutant(_) => None,
    }
}

/// Applies justifications to the coverage of one kernel.
pub fn apply_justifications(
    bound_kernel: BoundKernel,
    coverage: &KernelCoverage,
    given_justifications: &[GivenJustification],
    standard: &JustificationStandard,
) -> JustifiedCoverage {
    let justification_judge = JustificationJudge::new(bound_kernel, coverage, standard);
    let mut accepted_justifications: BTreeMap<&ObligationId, &Justification> = BTreeMap::new();
    let mut rejections = Vec::new();
    for GivenJustification { justification, refuted } in given_justifications {
        let Some(obligation_id) = claimed_obligation(justification, bound_kernel.kernel, coverage)
        else {
            rejections.push(None);
            continue;
        };
        let justified_twice = || {
            accepted_justifications
                .contains_key(obligation_id)
                .then(|| format!("{obligation_id} is justified twice"))
        };
        let rejection = justification_judge
            .unknown_obligation(obligation_id)
            .or_else(|| refuted.clone())
            .map(Rejection::Fault)
            .or_else(|| {
                justification_judge.stale_hash(obligation_id, justification).map(Rejection::Stale)
            })
            .or_else(|| {
                justification_judge
                    .acceptance_fault(obligation_id, justification)
                    .or_else(justified_twice)
                    .map(Rejection::Fault)
            });
        if rejection.is_none() {
            accepted_justifications.insert(obligation_id, justification);
        }
        rejections.push(rejection);
    }
    drop(justification_judge);
    let mut coverage = coverage.clone();
    mark_justified(&mut coverage, &accepted_justifications);
    coverage.summary = criteria::criterion_summaries(&coverage);
    JustifiedCoverage { coverage, rejected: rejections }
}

/// What is known of an obligation before justifications.
struct OpenObligation<'a> {
    status: Status,
    proposal: Option<&'a Proposal>,
}

/// Judges the justifications of one kernel.
struct JustificationJudge<'a> {
    bound: BoundKernel<'a>,
    standard: &'a JustificationStandard,
    displayed: BTreeMap<ObligationId, Cow<'a, str>>,
    contents: BoundContents<'a>,
    open_obligations: BTreeMap<ObligationId, OpenObligation<'a>>,
}

impl<'a> JustificationJudge<'a> {
    fn new(
        bound: BoundKernel<'a>,
        coverage: &'a KernelCoverage,
        standard: &'a JustificationStandard,
    ) -> Self {
        let contents = BoundContents::from_coverage(bound, coverage);
        Self {
            bound,
            standard,
            displayed: displayed_texts(coverage),
            contents,
            open_obligations: open_obligations(coverage),
        }
    }

    fn unknown_obligation(&self, id: &ObligationId) -> Option<String> {
        (!self.open_obligations.contains_key(id))
            .then(|| format!("{} has no obligation {id}", self.bound.kernel))
    }

    /// Why a justification of a known obligation with the right hash is not accepted.
    fn acceptance_fault(&self, id: &ObligationId, justification: &Justification) -> Option<String> {
        unsigned_fault(justification, self.standard.approval)
            .or_else(|| self.claim_fault(id, justification))
            .or_else(|| match self.open_obligations.get(id)?.status {
                status @ (Status::Covered | Status::Justified) => {
                    Some(format!("not needed: {id} is {status}"))
                }
                Status::Uncovered | Status::Undetermined => None,
            })
    }

    fn stale_hash(&self, id: &ObligationId, justification: &Justification) -> Option<String> {
        let text = self.displayed.get(id).map_or("", |text| &**text);
        let (signed_words, current_hash) = match self.standard.binding {
            HashBinding::DisplayedText => {
                (format!("{id}"), displayed_hash(self.bound.kernel, id.as_str(), text))
            }
            HashBinding::Content => (
                format!("{id} or the code or configuration of its kernel"),
                self.contents.content_hash_of(id)?,
            ),
        };
        (current_hash != justification.hash).then(|| {
            format!(
                "stale: {signed_words} is not what was signed for; it is now `{text}` with hash {current_hash}"
            )
        })
    }

    /// What is wrong with the class and what it states.
    fn claim_fault(&self, id: &ObligationId, justification: &Justification) -> Option<String> {
        match self.standard.binding {
            HashBinding::DisplayedText => return None,
            HashBinding::Content => {}
        }
        if let Some(reason) = self.bound.pairs.and_then(|pairs| pairs.unknown.as_ref())
            && id.as_str() == UNKNOWN_PAIRS
        {
            return Some(format!(
                "{id} stands for all that passes, which is not known ({reason}): nothing can be said of all of it"
            ));
        }
        let statement_fault =
            justification.statement_faults().into_iter().next().map(|fault| fault.message);
        statement_fault.or_else(|| {
            let proposal = self.open_obligations.get(id)?.proposal;
            class_fault(
                justification,
                ClaimedObligation { id, proposal, objects: self.bound.objects },
                self.standard,
            )
        })
    }
}

/// What a person signs: of a justification, or of anything else that a project accepts.
#[derive(Debug, Clone, Copy)]
pub struct Signature<'a> {
    /// Why; must not be empty.
    pub reason: &'a str,
    /// Who wrote it; must not be empty.
    pub author: &'a str,
    /// Who approved it; must not be empty.
    pub approver: &'a str,
}

/// What is missing of the people behind a justification.
pub(super) fn unsigned_fault(
    justification: &Justification,
    approval: ApproverRule,
) -> Option<String> {
    let Justification { reason, author, approver, .. } = justification;
    signature_fault(Signature { reason, author, approver }, approval)
}

/// Why a signature does not count.
pub fn signature_fault(signature: Signature, approval: ApproverRule) -> Option<String> {
    let Signature { reason, author, approver } = signature;
    if [reason, author, approver].iter().any(|text| !text.contains(char::is_alphanumeric)) {
        return Some("reason, author and approver must be given".to_owned());
    }
    if approval == ApproverRule::Free || !may_be_same_person(author, approver) {
        return None;
    }
    let names =
        if author == approver { author.to_owned() } else { format!("{author} and {approver}") };
    Some(format!("author and approver are the same ({names}); this level demands independence"))
}

fn open_obligations(coverage: &KernelCoverage) -> BTreeMap<ObligationId, OpenObligation<'_>> {
    let mut open_obligations = BTreeMap::new();
    for SimpleObligation { id, status, proposal, .. } in simple_obligations(coverage) {
        open_obligations
            .insert(*id, OpenObligation { status: *status, proposal: proposal.as_ref() });
    }
    for mcdc in coverage.decisions.iter().flat_map(|decision| &decision.mcdc) {
        for (name, form) in [("unique-cause", &mcdc.unique_cause), ("masking", &mcdc.masking)] {
            let open_obligation =
                OpenObligation { status: form.status, proposal: form.proposal.as_ref() };
            open_obligations
                .insert(ObligationId::from(format!("{}.{name}", mcdc.condition)), open_obligation);
        }
    }
    open_obligations
}

fn mark_justified(
    coverage: &mut KernelCoverage,
    accepted_justifications: &BTreeMap<&ObligationId, &Justification>,
) {
    let mark_obligation = |obligation: &mut SimpleObligation| {
        if let Some(justification) = accepted_justifications.get(&obligation.id) {
            obligation.status = Status::Justified;
            obligation.reason = Some(justification_sentence(justification));
        }
    };
    coverage.statements.iter_mut().for_each(mark_obligation);
    coverage.branches.iter_mut().for_each(mark_obligation);
    coverage.objects.iter_mut().for_each(mark_obligation);
    coverage.barriers.iter_mut().for_each(mark_obligation);
    coverage.points.iter_mut().for_each(mark_obligation);
    coverage.requested_mut().into_iter().flatten().flatten().for_each(mark_obligation);
    for decision in &mut coverage.decisions {
        decision.outcomes.iter_mut().chain(&mut decision.combinations).for_each(mark_obligation);
        for mcdc in &mut decision.mcdc {
            let ConditionMcdc { condition, unique_cause, masking } = mcdc;
            for (name, independence) in [("unique-cause", unique_cause), ("masking", masking)] {
                let id = ObligationId::from(format!("{condition}.{name}"));
                if let Some(justification) = accepted_justifications.get(&id) {
                    independence.status = Status::Justified;
                    independence.reason = Some(justification_sentence(justification));
                }
            }
        }
    }
}

/// What it says, in one line.
pub(super) fn justification_sentence(justification: &Justification) -> String {
    let class = justification.class.in_words();
    let Justification { reason, category, means, argument, author, approver, .. } = justification;
    let category = category.map(|category| format!(" ({category})")).unwrap_or_default();
    let means = means.as_ref().map(|means| format!(" Means: {means}")).unwrap_or_default();
    let argument =
        argument.as_ref().map(|argument| format!(" Argument: {argument}")).unwrap_or_default();
    format!("{class}{category}: {reason}{means}{argument} (author {author}, approver {approver})")
}

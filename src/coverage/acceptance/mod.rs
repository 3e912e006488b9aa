//! Findings and mutants that a justification can accept: their names, and what a justification is signed for.
//!
//! Knows: which facts of a finding are about the code and which are about the run that showed it
//! (`subject`, field by field; `words`, for people and for evidence of format 1).
//! Promises: a justification accepts what its signers have seen and nothing else. What is signed
//! holds the code of the kernel (its module without debug information), the configuration and the
//! instructions, or the test, the modules it dispatches and the engine, or the host's interface: a
//! change of any of them makes it stale, text that moves and comments do not. Values, witnesses,
//! counts and which of two invocations came first are no part of it.
//! Does not cover: which findings there are, whether accepting one is right (that is what the
//! approver signs).

mod cause;
mod mutant;
mod place;
mod subject;
#[cfg(test)]
mod tests;
mod words;

pub use mutant::{
    acceptance_of_subject, accepted_mutant_sentence, mutant_acceptance, subject_hash,
};
pub(crate) use place::place_in_source;

use super::justification::{
    ApproverRule, HashBinding, displayed_hash, justification_sentence, unsigned_fault,
};
use vkcert_model::canonical::{canonical_json, content_hash};
use vkcert_model::evidence::{Campaign, KernelEvidence, TestEvidence};
use vkcert_model::finding::{Acceptance, Finding};
use vkcert_model::id::FindingId;
use vkcert_model::requirement::{Justification, JustificationClass};
use vkcert_model::verdict::EngineName;

/// What findings were found in.
#[derive(Clone, Copy)]
pub struct FindingContext<'a> {
    /// All kernels under all configurations on all engines.
    pub kernels: &'a [KernelEvidence],
    /// The run that the findings are of.
    pub campaign: &'a Campaign,
    /// What hashes are made over.
    pub binding: HashBinding,
}

/// Where a finding was found.
#[derive(Clone, Copy)]
pub struct FindingOccasion<'a> {
    /// What findings of the run are looked at with.
    pub context: FindingContext<'a>,
    /// The kernel on any engine.
    pub kernel: &'a KernelEvidence,
    /// None where no test showed it.
    pub test: Option<&'a TestEvidence>,
    /// None where it took no engine, or both.
    pub engine: Option<EngineName>,
}

/// Name, subject and hash of a finding; none where no justification can accept it.
pub fn acceptance_of(finding: &Finding, occasion: FindingOccasion) -> Option<Acceptance> {
    let (finding_name, content) = words::name_and_content(finding, occasion)?;
    let finding_id = FindingId::from(format!("{}@{finding_name}", finding.kind));
    let (subject, subject_hash) = match occasion.context.binding {
        HashBinding::DisplayedText => {
            (None, displayed_hash(&occasion.kernel.kernel, finding_id.as_str(), &content))
        }
        HashBinding::Content => {
            let subject = subject::finding_subject(finding, occasion, finding_id);
            let subject_text =
                canonical_json(&subject).expect("subjects are representable as JSON");
            (Some(subject), content_hash(subject_text.as_bytes()))
        }
    };
    Some(Acceptance { id: finding_id, subject, content, hash: subject_hash, justification: None })
}

/// What the justification of a finding says, or why it is not accepted.
pub fn accepted_sentence(
    justification: &Justification,
    approval: ApproverRule,
) -> Result<String, String> {
    if justification.class != JustificationClass::Analysis {
        return Err(format!("a finding is accepted by analysis, not as {}", justification.class));
    }
    if let Some(fault) = justification.statement_faults().into_iter().next() {
        return Err(fault.message);
    }
    unsigned_fault(justification, approval)
        .map_or_else(|| Ok(justification_sentence(justification)), Err)
}

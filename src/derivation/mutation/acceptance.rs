//! Which justifications accept mutants that no test notices.
//!
//! Promises: a justification accepts the mutant of its kernel that has its name and its content, and no other, where
//! no test noticed it. One that accepts nothing is rejected with the reason, unless its mutant was not judged: then
//! it is not judged either.

use vkcert_coverage::ApproverRule;
use vkcert_coverage::acceptance::accepted_mutant_sentence;
use vkcert_model::evidence::{
    Campaign, MutantAcceptance, MutantEvidence, MutantStatus, MutationEvidence,
};
use vkcert_model::id::{MutantId, TestId};
use vkcert_model::requirement::{Justification, JustificationSubject};

/// What decides about justifications of mutants beside the mutants.
#[derive(Debug, Clone, Copy)]
pub struct AcceptanceRules {
    /// Whether author and approver may be one person.
    pub approval: ApproverRule,
    /// Whether tests were left out, and with them configurations and dispatches that justifications are bound to.
    pub lacks_tests: bool,
}

impl AcceptanceRules {
    /// Those of a campaign.
    pub fn of_campaign(campaign: &Campaign) -> Self {
        Self {
            approval: ApproverRule::for_level(campaign.project.level),
            lacks_tests: campaign.lacks_tests(),
        }
    }
}

/// What became of a justification of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutantJustificationOutcome {
    /// It accepts its mutant.
    Accepts,
    /// It does not, for this reason.
    Rejected(String),
    /// Nothing can be said of it here, for this reason.
    NotJudged(String),
}

/// Marks the mutants that justifications accept, with their statuses; what became of each justification that is of a
/// mutant, and none of the others, in order.
pub fn accept_mutants<'j>(
    mutations: &mut [MutationEvidence],
    justifications: impl Iterator<Item = &'j Justification>,
    rules: &AcceptanceRules,
) -> Vec<Option<MutantJustificationOutcome>> {
    for mutant in mutations.iter_mut().flat_map(|kernel| &mut kernel.mutants) {
        if let Some(acceptance) = &mut mutant.acceptance {
            acceptance.justification = None;
        }
        mutant.status = mutant.derived_status();
    }
    let mut outcome_of = |justification: &Justification| match &justification.subject {
        JustificationSubject::Mutant(id) => Some(apply(justification, id, mutations, rules)),
        JustificationSubject::Obligation(_) | JustificationSubject::Finding(_) => None,
    };
    justifications.map(&mut outcome_of).collect()
}

fn apply(
    justification: &Justification,
    id: &MutantId,
    mutations: &mut [MutationEvidence],
    rules: &AcceptanceRules,
) -> MutantJustificationOutcome {
    use MutantJustificationOutcome::{Accepts, NotJudged, Rejected};
    let kernel = &justification.kernel;
    let Some(row) = mutations.iter_mut().find(|row| row.kernel == *kernel) else {
        return NotJudged(format!("no mutant of {kernel} was asked for"));
    };
    let has_all = row.mutants.len() as u32 == row.population;
    let mut mutants = row.mutants.iter();
    let signed_elsewhere = mutants.find(|mutant| {
        let signed = mutant.acceptance.as_ref().map(|own| &own.hash);
        signed == Some(&justification.hash) && mutant.id() != *id
    });
    if let Some(other) = signed_elsewhere {
        return Rejected(format!("what was signed is mutant {} of {kernel} now", other.id()));
    }
    let Some(mutant) = row.mutants.iter_mut().find(|mutant| mutant.id() == *id) else {
        return match has_all {
            true => Rejected(format!("stale: {kernel} has no mutant {id} any more")),
            false => NotJudged(format!("mutant {id} of {kernel} was not asked for")),
        };
    };
    if let Some(outcome) = outcome_without_acceptance(justification, mutant, rules) {
        return outcome;
    }
    let Some(acceptance) = &mut mutant.acceptance else {
        return Rejected(format!("evidence does not say what is signed of {id}"));
    };
    if acceptance.hash != justification.hash {
        return match rules.lacks_tests {
            true => NotJudged("tests were left out, which it may be bound to".to_owned()),
            false => Rejected(format!("stale: {id} is now {}", in_words(acceptance))),
        };
    }
    let sentence = match accepted_mutant_sentence(justification, rules.approval) {
        Ok(sentence) => sentence,
        Err(reason) => return Rejected(reason),
    };
    if acceptance.justification.is_some() {
        return Rejected(format!("{id} is justified twice"));
    }
    acceptance.justification = Some(sentence);
    mutant.status = mutant.derived_status();
    Accepts
}

/// What becomes of the justification of a mutant that none can accept; none of one that a justification can.
fn outcome_without_acceptance(
    justification: &Justification,
    mutant: &MutantEvidence,
    rules: &AcceptanceRules,
) -> Option<MutantJustificationOutcome> {
    use MutantJustificationOutcome::{NotJudged, Rejected};
    Some(match mutant.runs.status(mutant.proof) {
        // Accepted is no status of runs.
        MutantStatus::Survived
        | MutantStatus::NoCoverage
        | MutantStatus::Undecided
        | MutantStatus::Accepted => return contradiction(justification, mutant).map(Rejected),
        MutantStatus::Killed => {
            let tests: Vec<&str> = mutant.runs.noticing_tests().map(TestId::as_str).collect();
            let tests = tests.join(", ");
            Rejected(match justification.class.claims_impossibility() {
                true => format!(
                    "contradicted: {tests} noticed it, which class {} says cannot be",
                    justification.class
                ),
                false => format!("not needed: {tests} noticed it"),
            })
        }
        MutantStatus::Equivalent => {
            let proof = mutant.proof.map_or("", |proof| proof.name());
            Rejected(format!("not needed: it is proved to do what the kernel does ({proof})"))
        }
        MutantStatus::NotCompiled => Rejected("not needed: it does not compile".to_owned()),
        MutantStatus::Duplicate => {
            let first = mutant.runs.same_as().map(|first| first.to_string()).unwrap_or_default();
            NotJudged(format!("it is compiled to the module of mutant {first}, which counts"))
        }
        MutantStatus::NoTest if rules.lacks_tests => NotJudged("tests were left out".to_owned()),
        MutantStatus::NoTest => {
            Rejected("no test runs its kernel: what it does is not known".to_owned())
        }
    })
}

/// What shows that a mutant which no expectation tells from the kernel does something else all the same.
fn contradiction(justification: &Justification, mutant: &MutantEvidence) -> Option<String> {
    let class = justification.class;
    let others = mutant.runs.other_contents_in_words().filter(|_| class.claims_impossibility())?;
    Some(format!("contradicted: {others}; class {class} says that no input shows a difference"))
}

fn in_words(acceptance: &MutantAcceptance) -> String {
    let changes = acceptance.subject.changes.iter();
    let changes: Vec<String> =
        changes.map(|change| format!("`{}` for `{}`", change.new, change.old)).collect();
    format!("{} with hash {}", changes.join(" and "), acceptance.hash)
}

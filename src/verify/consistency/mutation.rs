//! Mutants: status and counts follow from the verdicts of the tests.

use crate::Verification;
use std::collections::BTreeSet;
use vkcert_derivation::mutation::{Traces, summarize};
use vkcert_model::evidence::{
    Evidence, JudgingTests, MutantEvidence, MutantRuns, MutantVerdict, MutationEvidence,
    MutationExtent, Notice,
};
use vkcert_model::id::TestId;

pub(super) fn check_mutation(stored: &Evidence, verification: &mut Verification) {
    let Some(summary) = &stored.campaign.mutation else {
        return verification.check(stored.mutations.is_empty(), || {
            "there are mutants, and the campaign counts none".to_owned()
        });
    };
    verification.check(is_listed_once(&summary.asked), || {
        "what was asked of mutants is not listed in order, each once".to_owned()
    });
    for kernel in &stored.mutations {
        for mutant in &kernel.mutants {
            let status = mutant.runs.status(mutant.proof);
            verification.check(mutant.status == status, || {
                format!(
                    "mutant {} of kernel {}: its runs make it {}, not {}",
                    mutant.number,
                    kernel.kernel,
                    status.word(),
                    mutant.status.word()
                )
            });
            check_verdicts(kernel, mutant, summary.asked.judges, verification);
        }
    }
    let traces = Traces::of_campaign(&stored.campaign);
    let derived = summarize(summary.asked.clone(), &stored.mutations, &traces);
    verification.check(*summary == derived, || {
        "the counts of mutants do not follow from what tests made of them".to_owned()
    });
    verification.not_derived_from_modules.push(
        "mutants: that they are those of the kernels' texts, and that equivalent ones are"
            .to_owned(),
    );
}

fn is_listed_once(asked: &MutationExtent) -> bool {
    asked.operators.is_sorted_by(|left, right| left < right)
        && asked.kernels.is_sorted_by(|left, right| left < right)
        && asked.requirements.is_sorted_by(|left, right| left < right)
}

/// The tests of the kernel judged each mutant; one is left out only behind an expectation that does not
/// hold, where not all verdicts were asked for. Each way in which a test noticed it is told once.
fn check_verdicts(
    kernel: &MutationEvidence,
    mutant: &MutantEvidence,
    judges: JudgingTests,
    verification: &mut Verification,
) {
    let MutantRuns::Judged(verdicts) = &mutant.runs else { return };
    let due: BTreeSet<&TestId> = kernel.tests.iter().collect();
    let judging: BTreeSet<&TestId> = verdicts.keys().collect();
    let mut notices = verdicts.values().flat_map(|verdict| verdict.notices());
    let may_be_ended =
        judges == JudgingTests::UntilKilled && notices.any(|notice| *notice == Notice::Expectation);
    let is_whole = match may_be_ended {
        true => judging.is_subset(&due),
        false => judging == due,
    };
    let name = || format!("mutant {} of kernel {}", mutant.number, kernel.kernel);
    verification.check(is_whole, || {
        format!("{}: the tests that judged it are not those of the kernel", name())
    });
    let is_told_once = |verdict: &MutantVerdict| match verdict {
        MutantVerdict::Noticed(notices) => {
            !notices.is_empty() && notices.is_sorted_by(|left, right| left < right)
        }
        MutantVerdict::NotNoticed | MutantVerdict::Undecided(_) => true,
    };
    verification.check(verdicts.values().all(is_told_once), || {
        format!("{}: a test noticed it in no way, or twice in one way", name())
    });
}

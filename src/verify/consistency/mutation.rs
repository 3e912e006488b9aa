//! Mutants: status and counts follow from the verdicts of the tests.

use crate::Verification;
use std::collections::BTreeSet;
use vkcert_coverage::acceptance::subject_hash;
use vkcert_derivation::derive::signed_kernel_hashes;
use vkcert_derivation::mutation::{Traces, summarize};
use vkcert_model::evidence::{
    Evidence, JudgingEngines, JudgingTests, MutantAcceptance, MutantEdit, MutantEvidence,
    MutantPair, MutantRuns, MutantStatus, MutantVerdict, MutationEvidence, MutationExtent,
    MutationOrder, Notice, SubjectChange,
};
use vkcert_model::id::TestId;
use vkcert_requirement::is_requirement_file;

pub(super) fn check_mutation(stored: &Evidence, verification: &mut Verification) {
    let Some(summary) = &stored.campaign.mutation else {
        return verification.check(stored.mutations.is_empty(), || {
            "there are mutants, and the campaign counts none".to_owned()
        });
    };
    verification.check(is_listed_once(&summary.asked), || {
        "what was asked of mutants is not listed in order, each once".to_owned()
    });
    check_subjects(stored, verification);
    for kernel in &stored.mutations {
        for mutant in &kernel.mutants {
            let status = mutant.derived_status();
            verification.check(mutant.status == status, || {
                format!(
                    "mutant {} of kernel {}: its runs make it {}, not {}",
                    mutant.number,
                    kernel.kernel,
                    status.word(),
                    mutant.status.word()
                )
            });
            verification.check(is_duplicate_of_counted(kernel, mutant), || {
                format!(
                    "mutant {} of kernel {}: it is no duplicate of one that counts",
                    mutant.number, kernel.kernel
                )
            });
            check_verdicts(kernel, mutant, summary.asked.judges, verification);
            check_device(kernel, mutant, summary.asked.engines, verification);
        }
        check_pairs(kernel, summary.asked.order, verification);
    }
    let traces = Traces::of_campaign(&stored.campaign);
    let derived = summarize(summary.asked.clone(), &stored.mutations, &traces);
    verification.check(*summary == derived, || {
        "the counts of mutants do not follow from what tests made of them".to_owned()
    });
    if summary.asked.order == MutationOrder::Second {
        let pairs = "pairs of mutants: that they are those that are due, that equivalent ones are, and what tests made of them";
        verification.not_derived_from_modules.push(pairs.to_owned());
    }
    verification.not_derived_from_modules.push(
        "mutants: that they are those of the kernels' texts, that equivalent ones and duplicates are, and what tests made of them"
            .to_owned(),
    );
}

/// What is signed of a mutant is what evidence says of its kernel, its edits and its tests; whether justifications accept it
/// follows with all justifications (`coverage`).
fn check_subjects(stored: &Evidence, verification: &mut Verification) {
    let kernel_hashes = signed_kernel_hashes(&stored.kernels);
    for kernel in &stored.mutations {
        for mutant in &kernel.mutants {
            let is_due = mutant.runs.status(mutant.proof).can_be_accepted();
            let is_signed = mutant.acceptance.as_ref().map(|acceptance| {
                let MutantAcceptance { subject, hash, justification: _ } = acceptance;
                *hash == subject_hash(subject)
                    && subject.kernel == kernel.kernel
                    && Some(&subject.code) == kernel_hashes.get(&kernel.kernel)
                    && changes_are_edits(&subject.changes, &mutant.edits)
                    && subject.kernels.iter().all(|(name, hash)| {
                        kernel_hashes.get(name).is_none_or(|known| known == hash)
                    })
                    && subject.tests.iter().all(|(id, hash)| {
                        let mut tests = stored.campaign.tests.iter();
                        tests.find(|test| test.id == *id).is_none_or(|test| test.hash == *hash)
                    })
            });
            verification.check(is_signed.is_some() == is_due && is_signed != Some(false), || {
                format!(
                    "mutant {} of kernel {}: what a justification of it signs",
                    mutant.number, kernel.kernel
                )
            });
        }
    }
}

fn changes_are_edits(changes: &[SubjectChange], edits: &[MutantEdit]) -> bool {
    let of_changes: BTreeSet<_> =
        changes.iter().map(|change| (&change.file, &change.old, &change.new)).collect();
    let of_edits: BTreeSet<_> =
        edits.iter().map(|edit| (&edit.file, &edit.old, &edit.new)).collect();
    of_changes == of_edits
}

/// Each way in which a test noticed a mutant stands there once.
fn is_told_once(verdict: &MutantVerdict) -> bool {
    match verdict {
        MutantVerdict::Noticed(notices) => {
            !notices.is_empty() && notices.is_sorted_by(|left, right| left < right)
        }
        MutantVerdict::OtherContents(names) => {
            let named: BTreeSet<&String> = names.iter().collect();
            !names.is_empty() && named.len() == names.len()
        }
        MutantVerdict::NotNoticed | MutantVerdict::NotReached | MutantVerdict::Undecided(_) => true,
    }
}

/// A device has a verdict where it was asked, of what it can judge, by the tests of the kernel.
fn check_device(
    kernel: &MutationEvidence,
    mutant: &MutantEvidence,
    engines: JudgingEngines,
    verification: &mut Verification,
) {
    let name = || format!("mutant {} of kernel {}", mutant.number, kernel.kernel);
    let is_due = engines == JudgingEngines::Both && mutant.is_for_device();
    verification.check(mutant.on_device.is_some() == is_due, || {
        format!("{}: whether a device judged it is not what was asked for", name())
    });
    let Some(own) = &mutant.on_device else { return };
    verification.check(own.tests.keys().all(|test| kernel.tests.contains(test)), || {
        format!("{}: a test that is not of the kernel judged it on the device", name())
    });
    verification.check(own.tests.values().all(is_told_once), || {
        format!("{}: a test noticed it on the device in no way, or twice in one way", name())
    });
}

/// Pairs are of two mutants that tests killed, each once, and what became of them follows from their runs.
fn check_pairs(kernel: &MutationEvidence, order: MutationOrder, verification: &mut Verification) {
    let key = |pair: &MutantPair| (pair.parts, pair.relation);
    let is_due = order == MutationOrder::Second || kernel.pairs.is_empty();
    verification.check(is_due, || {
        format!("kernel {} has pairs of mutants, which were not asked for", kernel.kernel)
    });
    verification.check(kernel.pairs.is_sorted_by(|left, right| key(left) < key(right)), || {
        format!(
            "the pairs of mutants of kernel {} are not listed in order, each once",
            kernel.kernel
        )
    });
    let killed: BTreeSet<u32> = kernel
        .mutants
        .iter()
        .filter(|mutant| mutant.status == MutantStatus::Killed)
        .map(|mutant| mutant.number)
        .collect();
    for pair in &kernel.pairs {
        let [first, second] = pair.parts;
        let name = || format!("mutants {first} and {second} of kernel {}", kernel.kernel);
        verification
            .check(first != second && pair.parts.iter().all(|own| killed.contains(own)), || {
                format!("{}: they are no pair of killed mutants", name())
            });
        let status = pair.runs.status(pair.proof);
        verification.check(pair.status == status, || {
            format!(
                "{}: their runs make them {}, not {}",
                name(),
                status.word(),
                pair.status.word()
            )
        });
        verification.check(is_judged_as_pair(kernel, &pair.runs), || {
            format!("{}: the tests that judged them are not those of the kernel", name())
        });
    }
}

/// All tests of the kernel judged a pair, but for those behind an expectation that does not hold.
fn is_judged_as_pair(kernel: &MutationEvidence, runs: &MutantRuns) -> bool {
    let verdicts = match runs {
        MutantRuns::Judged(verdicts) => verdicts,
        MutantRuns::NotCompiled(_) | MutantRuns::NotRun(_) => return true,
        MutantRuns::SameAs(_) => return false,
    };
    let due: BTreeSet<&TestId> = kernel.tests.iter().collect();
    let judging: BTreeSet<&TestId> = verdicts.keys().collect();
    let mut notices = verdicts.values().flat_map(|verdict| verdict.notices());
    let is_ended = notices.any(|notice| *notice == Notice::Expectation);
    let is_whole = if is_ended { judging.is_subset(&due) } else { judging == due };
    is_whole && verdicts.values().all(is_told_once)
}

fn is_listed_once(asked: &MutationExtent) -> bool {
    asked.operators.is_sorted_by(|left, right| left < right)
        && asked.kernels.is_sorted_by(|left, right| left < right)
        && asked.requirements.is_sorted_by(|left, right| left < right)
}

/// Whether a mutant that is called a duplicate names one in front of it that is none, of the kernel's text as it is.
fn is_duplicate_of_counted(kernel: &MutationEvidence, mutant: &MutantEvidence) -> bool {
    if mutant.runs.same_as().is_none() {
        return true;
    }
    let is_of_dispatches =
        |mutant: &MutantEvidence| mutant.edits.iter().any(|edit| is_requirement_file(&edit.file));
    kernel.first_of(mutant).is_some_and(|named| {
        matches!(named.runs, MutantRuns::Judged(_))
            && named.number < mutant.number
            && !is_of_dispatches(named)
            && !is_of_dispatches(mutant)
    })
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
    let is_of_dispatches = mutant.edits.iter().all(|edit| is_requirement_file(&edit.file));
    let mut notices = verdicts.values().flat_map(|verdict| verdict.notices());
    let may_be_ended =
        judges == JudgingTests::UntilKilled && notices.any(|notice| *notice == Notice::Expectation);
    // Tests without the fault of a dispatch judge nothing.
    let is_whole = match may_be_ended || is_of_dispatches {
        true => judging.is_subset(&due),
        false => judging == due,
    };
    let name = || format!("mutant {} of kernel {}", mutant.number, kernel.kernel);
    let has_unreached = verdicts.values().any(MutantVerdict::is_not_reached);
    verification.check(!(is_of_dispatches && has_unreached), || {
        format!("{}: a test has the fault of a dispatch and is said not to reach it", name())
    });
    verification.check(is_whole, || {
        format!("{}: the tests that judged it are not those of the kernel", name())
    });
    verification.check(verdicts.values().all(is_told_once), || {
        format!("{}: a test noticed it in no way, or twice in one way", name())
    });
}

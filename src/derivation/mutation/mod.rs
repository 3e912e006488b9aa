//! What follows from the verdicts of tests on mutants: status of each mutant, which of them justifications accept, and all
//! counts.
//!
//! Promises: derived from stored verdicts alone. A count by test or by requirement is only made where
//! every test judged every mutant of its kernel.

mod acceptance;

pub use acceptance::{AcceptanceRules, MutantJustificationOutcome, accept_mutants};

use std::collections::BTreeSet;
use vkcert_model::evidence::{
    AgreementMutants, Campaign, EngineAgreement, JudgingEngines, JudgingTests, KernelMutants,
    MutantCounts, MutantEvidence, MutantVerdict, MutationEvidence, MutationExtent, MutationOrder,
    MutationSummary, Notice, OperatorMutants, PairRelation, RelationPairs, RequirementMutants,
    TestMutants,
};
use vkcert_model::id::{RequirementId, TestId};
use vkcert_model::mutation::MUTATION_OPERATORS;
use vkcert_requirement::Project;

/// A test with the requirements that it verifies.
struct TracedTest<'a> {
    id: TestId,
    requirements: &'a [RequirementId],
}

/// The tests and the requirements of a project, each in its order.
pub struct Traces<'a> {
    tests: Vec<TracedTest<'a>>,
    requirements: Vec<RequirementId>,
}

impl<'a> Traces<'a> {
    /// As evidence has them.
    pub fn of_campaign(campaign: &'a Campaign) -> Self {
        let tests = campaign.tests.iter();
        let requirements = campaign.requirements.iter().map(|row| row.requirement.uid);
        Self {
            tests: tests
                .map(|test| TracedTest { id: test.id, requirements: &test.requirements })
                .collect(),
            requirements: requirements.collect(),
        }
    }

    /// As a project has them.
    pub fn of_project(project: &'a Project) -> Self {
        let tests = project.tests.iter();
        Self {
            tests: tests
                .map(|test| TracedTest { id: test.id, requirements: &test.requirements })
                .collect(),
            requirements: project.requirements.iter().map(|row| row.uid).collect(),
        }
    }
}

/// Gives each mutant the status that follows from its runs, its proof and the justifications of the campaign, and
/// notes which of these are not accepted.
pub fn settle_mutants(mutations: &mut [MutationEvidence], campaign: &mut Campaign) {
    let rules = AcceptanceRules::of_campaign(campaign);
    let justifications = campaign.justifications.iter().map(|row| &row.justification);
    let outcomes = accept_mutants(mutations, justifications, &rules);
    for (row, outcome) in campaign.justifications.iter_mut().zip(outcomes) {
        let Some(outcome) = outcome else { continue };
        (row.rejected, row.not_judged) = match outcome {
            MutantJustificationOutcome::Accepts => (None, None),
            MutantJustificationOutcome::Rejected(reason) => (Some(reason), None),
            MutantJustificationOutcome::NotJudged(reason) => (None, Some(reason)),
        };
    }
}

/// Counts mutants by operator, kernel, requirement and test, and pairs of them by why they are paired.
pub fn summarize(
    asked: MutationExtent,
    mutations: &[MutationEvidence],
    traces: &Traces<'_>,
) -> MutationSummary {
    let mutants = || mutations.iter().flat_map(|kernel| &kernel.mutants);
    let by_operator = MUTATION_OPERATORS.iter().filter_map(|row| {
        let made = mutants().filter(|mutant| mutant.operators.contains(&row.operator));
        let counts = MutantCounts::of_mutants(made);
        (counts.total() > 0).then_some(OperatorMutants { operator: row.operator, counts })
    });
    let by_kernel = mutations.iter().map(|kernel| KernelMutants {
        kernel: kernel.kernel,
        counts: MutantCounts::of_mutants(&kernel.mutants),
    });
    let (by_test, by_requirement) = match asked.judges {
        JudgingTests::UntilKilled => (Vec::new(), Vec::new()),
        JudgingTests::All => {
            let judging: BTreeSet<TestId> =
                mutations.iter().flat_map(|kernel| &kernel.tests).copied().collect();
            let judging_tests: Vec<&TracedTest> =
                traces.tests.iter().filter(|test| judging.contains(&test.id)).collect();
            (
                judging_tests.iter().map(|test| mutants_of_test(mutations, test.id)).collect(),
                by_requirement(mutations, &judging_tests, &traces.requirements),
            )
        }
    };
    let by_agreement = match asked.engines {
        JudgingEngines::Sequential => Vec::new(),
        JudgingEngines::Both => by_agreement(mutations),
    };
    let by_relation = match asked.order {
        MutationOrder::First => Vec::new(),
        MutationOrder::Second => by_relation(mutations),
    };
    MutationSummary {
        asked,
        counts: MutantCounts::of_mutants(mutants()),
        by_operator: by_operator.collect(),
        by_kernel: by_kernel.collect(),
        by_requirement,
        by_test,
        by_agreement,
        by_relation,
    }
}

fn by_relation(mutations: &[MutationEvidence]) -> Vec<RelationPairs> {
    let relations = PairRelation::ALL.iter().map(|(relation, _)| {
        let pairs = mutations.iter().flat_map(|kernel| &kernel.pairs);
        RelationPairs::of_pairs(*relation, pairs)
    });
    relations.collect()
}

fn by_agreement(mutations: &[MutationEvidence]) -> Vec<AgreementMutants> {
    let agreements = EngineAgreement::ALL.iter().map(|(agreement, _)| {
        let mutants = mutations.iter().flat_map(|kernel| &kernel.mutants);
        let counted = mutants.filter(|mutant| mutant.agreement() == Some(*agreement));
        AgreementMutants { agreement: *agreement, mutants: counted.count() as u32 }
    });
    agreements.collect()
}

/// What some of the tests made of mutants.
#[derive(Default)]
struct Tally {
    judged: u32,
    killed: u32,
    by_expectation: u32,
    alone: u32,
}

impl Tally {
    /// Of mutants that one of `tests` reached and judged.
    fn of_tests(mutations: &[MutationEvidence], tests: &BTreeSet<TestId>) -> Self {
        let mut tally = Self::default();
        let kernels =
            mutations.iter().filter(|kernel| kernel.tests.iter().any(|test| tests.contains(test)));
        for mutant in kernels.flat_map(|kernel| &kernel.mutants) {
            tally.add(mutant, tests);
        }
        tally
    }

    /// A mutant that is proved to do what the kernel does is nothing that a test could notice.
    fn add(&mut self, mutant: &MutantEvidence, tests: &BTreeSet<TestId>) {
        let own_verdicts: Vec<&MutantVerdict> = mutant
            .runs
            .verdicts()
            .filter(|(test, verdict)| tests.contains(test) && !verdict.is_not_reached())
            .map(|(_, verdict)| verdict)
            .collect();
        if own_verdicts.is_empty() || mutant.proof.is_some() {
            return;
        }
        let notices = || own_verdicts.iter().flat_map(|verdict| verdict.notices());
        self.judged += 1;
        if notices().next().is_none() {
            return;
        }
        self.killed += 1;
        self.by_expectation += u32::from(notices().any(|notice| *notice == Notice::Expectation));
        self.alone += u32::from(mutant.runs.noticing_tests().all(|test| tests.contains(test)));
    }
}

fn mutants_of_test(mutations: &[MutationEvidence], test: TestId) -> TestMutants {
    let Tally { judged, killed, by_expectation, alone } =
        Tally::of_tests(mutations, &BTreeSet::from([test]));
    TestMutants { test, judged, killed, by_expectation, alone }
}

/// Requirements that have a judging test.
fn by_requirement(
    mutations: &[MutationEvidence],
    judging_tests: &[&TracedTest<'_>],
    requirements: &[RequirementId],
) -> Vec<RequirementMutants> {
    let mutants_of_requirement = |requirement: &RequirementId| {
        let requirement = *requirement;
        let own_tests =
            judging_tests.iter().filter(|test| test.requirements.contains(&requirement));
        let own_tests: BTreeSet<TestId> = own_tests.map(|test| test.id).collect();
        let Tally { judged, killed, by_expectation, alone } =
            Tally::of_tests(mutations, &own_tests);
        let mutants = RequirementMutants { requirement, judged, killed, by_expectation, alone };
        (!own_tests.is_empty()).then_some(mutants)
    };
    requirements.iter().filter_map(mutants_of_requirement).collect()
}

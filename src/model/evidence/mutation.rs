//! Mutation testing in evidence: the mutants of a kernel, and what each test made of each.
//!
//! Knows: the verdict of each test on each mutant, which is a fact. Promises: a mutant's status and
//! every count follow from these ([`MutantRuns::status`], [`MutantCounts`]).
//! Does not cover: how mutants are made and run (`glsl::mutation`, `campaign::mutation`).

use super::mutant_acceptance::MutantAcceptance;
use super::mutant_on_device::{EngineAgreement, MutantOnDevice};
use super::mutant_pair::{MutantPair, MutationOrder, RelationPairs};
use crate::finding::FindingKind;
use crate::id::{KernelName, MutantId, RequirementId, TestId};
use crate::mutation::MutationOperator;
use crate::wording::and_more;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// `mutation-<kernel>.json`: the mutants of a kernel with what its tests made of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MutationEvidence {
    /// Version of the evidence format.
    pub schema: u32,
    /// The kernel.
    pub kernel: KernelName,
    /// How many mutants the kernel has; those that were not asked for or not drawn are not listed.
    pub population: u32,
    /// The tests that judged, in the order of the project.
    pub tests: Vec<TestId>,
    /// What could not be mutated, or which tests no engine runs, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What engines had to note when they judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engine_notes: Vec<String>,
    /// By number.
    pub mutants: Vec<MutantEvidence>,
    /// Two of them at once, where that was asked for; by the numbers of the two, then by why they are paired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<MutantPair>,
}

impl MutationEvidence {
    /// All that is to be noted.
    pub fn all_notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().chain(&self.engine_notes).map(String::as_str)
    }

    /// The mutant that another one is a duplicate of; none of one that is none.
    pub fn first_of(&self, mutant: &MutantEvidence) -> Option<&MutantEvidence> {
        self.mutant_of_number(mutant.runs.same_as()?)
    }

    /// The mutant that has a number; none where it is not listed.
    pub fn mutant_of_number(&self, number: u32) -> Option<&MutantEvidence> {
        self.mutants.iter().find(|row| row.number == number)
    }

    /// The mutants of a pair; those that are listed.
    pub fn mutants_of_pair(&self, pair: &MutantPair) -> Vec<&MutantEvidence> {
        pair.parts.iter().filter_map(|number| self.mutant_of_number(*number)).collect()
    }
}

/// The mutants of kernels, each with its kernel.
pub fn mutants_with_kernels(
    kernels: &[MutationEvidence],
) -> impl Iterator<Item = (&MutationEvidence, &MutantEvidence)> {
    kernels.iter().flat_map(|kernel| kernel.mutants.iter().map(move |mutant| (kernel, mutant)))
}

/// A mutant of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MutantEvidence {
    /// Its place among all mutants of the kernel, from 1 on.
    pub number: u32,
    /// What makes it; the first operator names it.
    pub operators: Vec<MutationOperator>,
    /// What it changes, in the order of files and texts.
    pub edits: Vec<MutantEdit>,
    /// What became of its runs.
    pub runs: MutantRuns,
    /// Why it does what the kernel does, where that is proved; asked of what no test noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<EquivalenceProof>,
    /// Of what no test noticed and nothing proves equivalent: what a justification signs, and the one that
    /// accepts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<MutantAcceptance>,
    /// What a device made of it, where one was asked and the mutant compiles and is no duplicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_device: Option<MutantOnDevice>,
    /// What follows from these.
    pub status: MutantStatus,
}

impl MutantEvidence {
    /// As justifications name it.
    pub fn id(&self) -> MutantId {
        mutant_id(&self.operators, self.number)
    }

    /// Whether a device judges it where one is asked.
    pub fn is_for_device(&self) -> bool {
        match self.runs {
            MutantRuns::Judged(_) | MutantRuns::NotRun(_) => true,
            MutantRuns::SameAs(_) | MutantRuns::NotCompiled(_) => false,
        }
    }

    /// How the engines agree on it; none where no device judged it.
    pub fn agreement(&self) -> Option<EngineAgreement> {
        Some(EngineAgreement::of_runs(&self.runs, self.on_device.as_ref()?))
    }

    /// What follows from its runs, its proof and the justification that accepts it.
    pub fn derived_status(&self) -> MutantStatus {
        let accepted = self.acceptance.as_ref().and_then(|own| own.justification.as_ref());
        match self.runs.status(self.proof) {
            status if status.can_be_accepted() && accepted.is_some() => MutantStatus::Accepted,
            status => status,
        }
    }
}

/// The name of the mutant of a kernel that has this number.
pub fn mutant_id(operators: &[MutationOperator], number: u32) -> MutantId {
    let code = operators.first().map_or("", |operator| operator.code());
    MutantId::from(format!("{code}.{number}"))
}

/// A change of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MutantEdit {
    /// The file, as the project names it.
    pub file: String,
    /// Byte of the file that the old text begins at.
    pub start: u32,
    /// Line of it, from 1 on.
    pub line: u32,
    /// Column of it, from 1 on, in characters.
    pub column: u32,
    /// What is taken away.
    pub old: String,
    /// What stands there instead.
    pub new: String,
}

impl MutantEdit {
    /// Where it is: `file:line:column`.
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What became of the runs of a mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MutantRuns {
    /// What each test made of it; a test that is not named did not run, since others had noticed it.
    Judged(BTreeMap<TestId, MutantVerdict>),
    /// It did not run: it is compiled, as [`EquivalenceProof::SameModule`] says, to the module of the mutant of this
    /// kernel with this number, which is lower.
    SameAs(u32),
    /// The compiler refuses it, for this reason.
    NotCompiled(String),
    /// It could not be run, for this reason.
    NotRun(String),
}

/// What a test made of a mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MutantVerdict {
    /// In each of these ways it differs from the kernel, in the order of the type; never empty.
    Noticed(Vec<Notice>),
    /// It leaves what the kernel leaves, but for an order that expectations leave open, and what depends on the schedule.
    NotNoticed,
    /// It leaves other contents than the kernel in these buffers and images, in the order of the test, and nothing that is
    /// expected tells them apart; never empty.
    OtherContents(Vec<String>),
    /// The test executes nothing of the kernel's code that the mutant changes, and does with it what it does with the
    /// kernel.
    NotReached,
    /// It is not known, for this reason.
    Undecided(String),
}

/// How a test noticed a mutant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Notice {
    /// An expectation does not hold.
    Expectation,
    /// A finding that the kernel itself does not have in this test.
    Finding(FindingKind),
    /// It took too many steps.
    Time,
    /// Its run ended in an error.
    Error,
}

/// Why a mutant does what its kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EquivalenceProof {
    /// They are compiled to one module, but for names, lines, numbers of ids, capabilities and what the entry point
    /// does not reach.
    SameModule,
    /// Without optimisation their modules differ in nothing but comparisons that come to the same for
    /// all values of their operands, and in loops that count up to a bound, which end alike below and at
    /// it.
    SameNormalForm,
    /// Without optimisation their modules differ in nothing but comparisons of integers that come to the same
    /// for all values that their operands can have in the kernel.
    SameByRanges,
}

impl EquivalenceProof {
    /// As documents have it.
    pub fn name(self) -> &'static str {
        match self {
            EquivalenceProof::SameModule => "same-module",
            EquivalenceProof::SameNormalForm => "same-normal-form",
            EquivalenceProof::SameByRanges => "same-by-ranges",
        }
    }
}

/// What became of a mutant.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MutantStatus {
    /// A test noticed it.
    Killed,
    /// No test noticed it.
    Survived,
    /// No test noticed it, and none can: it does what the kernel does.
    Equivalent,
    /// No test runs its kernel.
    NoTest,
    /// Tests run its kernel, and none executes what it changes.
    NoCoverage,
    /// The compiler refuses it.
    NotCompiled,
    /// It is the fault of another mutant in other words.
    Duplicate,
    /// No test noticed it, and it is not known whether one would have.
    Undecided,
    /// No test noticed it, and a justification accepts that.
    Accepted,
}

impl MutantStatus {
    /// Every status with its word, in the order of documents.
    pub const ALL: &[(MutantStatus, &str)] = &[
        (MutantStatus::Killed, "killed"),
        (MutantStatus::Survived, "survived"),
        (MutantStatus::Equivalent, "equivalent"),
        (MutantStatus::NoTest, "no-test"),
        (MutantStatus::NoCoverage, "no-coverage"),
        (MutantStatus::NotCompiled, "not-compiled"),
        (MutantStatus::Duplicate, "duplicate"),
        (MutantStatus::Undecided, "undecided"),
        (MutantStatus::Accepted, "accepted"),
    ];

    /// Whether it counts and no test noticed it.
    pub fn is_open(self) -> bool {
        match self {
            MutantStatus::Survived
            | MutantStatus::NoTest
            | MutantStatus::NoCoverage
            | MutantStatus::Undecided => true,
            MutantStatus::Killed
            | MutantStatus::Equivalent
            | MutantStatus::NotCompiled
            | MutantStatus::Duplicate
            | MutantStatus::Accepted => false,
        }
    }

    /// Whether a justification can accept what has this status by its runs.
    pub fn can_be_accepted(self) -> bool {
        match self {
            MutantStatus::Survived | MutantStatus::NoCoverage | MutantStatus::Undecided => true,
            MutantStatus::Killed
            | MutantStatus::Equivalent
            | MutantStatus::NoTest
            | MutantStatus::NotCompiled
            | MutantStatus::Duplicate
            | MutantStatus::Accepted => false,
        }
    }

    /// The word of the status, for people and programs.
    pub fn word(self) -> &'static str {
        let mut rows = Self::ALL.iter();
        rows.find(|(status, _)| *status == self).expect("every status has a word").1
    }
}

/// How a mutant was killed first and foremost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillCause {
    /// By an expectation of some test.
    Expectation,
    /// By no expectation, and by a finding.
    Finding,
    /// By neither, and by too many steps.
    Time,
    /// By none of these, and by an error of the run.
    Error,
}

impl KillCause {
    /// As documents have it.
    pub fn word(self) -> &'static str {
        match self {
            KillCause::Expectation => "expectation",
            KillCause::Finding => "finding",
            KillCause::Time => "time",
            KillCause::Error => "error",
        }
    }
}

impl MutantVerdict {
    /// Whether the test does not come to what the mutant changes.
    pub fn is_not_reached(&self) -> bool {
        match self {
            MutantVerdict::NotReached => true,
            MutantVerdict::Noticed(_)
            | MutantVerdict::NotNoticed
            | MutantVerdict::OtherContents(_)
            | MutantVerdict::Undecided(_) => false,
        }
    }

    /// Ways in which the test noticed it; empty where it did not.
    pub fn notices(&self) -> &[Notice] {
        match self {
            MutantVerdict::Noticed(notices) => notices,
            MutantVerdict::NotNoticed
            | MutantVerdict::OtherContents(_)
            | MutantVerdict::NotReached
            | MutantVerdict::Undecided(_) => &[],
        }
    }
}

impl MutantRuns {
    /// The verdicts by test; none where the mutant did not run.
    pub fn verdicts(&self) -> impl Iterator<Item = (&TestId, &MutantVerdict)> {
        let verdicts = match self {
            MutantRuns::Judged(verdicts) => Some(verdicts),
            MutantRuns::SameAs(_) | MutantRuns::NotCompiled(_) | MutantRuns::NotRun(_) => None,
        };
        verdicts.into_iter().flatten()
    }

    /// What a test made of it; none where that did not run.
    pub fn verdict_of(&self, test: &TestId) -> Option<&MutantVerdict> {
        match self {
            MutantRuns::Judged(verdicts) => verdicts.get(test),
            MutantRuns::SameAs(_) | MutantRuns::NotCompiled(_) | MutantRuns::NotRun(_) => None,
        }
    }

    /// The tests that noticed it.
    pub fn noticing_tests(&self) -> impl Iterator<Item = &TestId> {
        self.verdicts().filter(|(_, verdict)| !verdict.notices().is_empty()).map(|(test, _)| test)
    }

    /// What it was killed by; none where no test noticed it.
    pub fn kill_cause(&self) -> Option<KillCause> {
        let mut notices: Vec<&Notice> =
            self.verdicts().flat_map(|(_, verdict)| verdict.notices()).collect();
        notices.sort();
        Some(match notices.first()? {
            Notice::Expectation => KillCause::Expectation,
            Notice::Finding(_) => KillCause::Finding,
            Notice::Time => KillCause::Time,
            Notice::Error => KillCause::Error,
        })
    }

    /// Where tests saw it leave other contents than the kernel, and expected nothing else.
    pub fn other_contents(&self) -> impl Iterator<Item = (&TestId, &[String])> {
        self.verdicts().filter_map(|(test, verdict)| match verdict {
            MutantVerdict::OtherContents(names) => Some((test, names.as_slice())),
            MutantVerdict::Noticed(_)
            | MutantVerdict::NotNoticed
            | MutantVerdict::NotReached
            | MutantVerdict::Undecided(_) => None,
        })
    }

    /// That in words, of the first of these tests; none where there is none.
    pub fn other_contents_in_words(&self) -> Option<String> {
        let mut tests = self.other_contents();
        let (test, names) = tests.next()?;
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let tests = and_more(test.as_str(), tests.count());
        Some(format!("other contents of {} in {tests}, and no expectation fails", names.join(", ")))
    }

    /// What becomes of a mutant that is proved to do what the kernel does, or is not.
    pub fn status(&self, proof: Option<EquivalenceProof>) -> MutantStatus {
        let verdicts = match self {
            MutantRuns::SameAs(_) => return MutantStatus::Duplicate,
            MutantRuns::NotCompiled(_) => return MutantStatus::NotCompiled,
            MutantRuns::NotRun(_) => return MutantStatus::Undecided,
            MutantRuns::Judged(verdicts) => verdicts,
        };
        if self.kill_cause().is_some() {
            return MutantStatus::Killed;
        }
        let is_undecided = |verdict: &MutantVerdict| matches!(verdict, MutantVerdict::Undecided(_));
        match proof {
            Some(_) => MutantStatus::Equivalent,
            None if verdicts.is_empty() => MutantStatus::NoTest,
            None if verdicts.values().any(is_undecided) => MutantStatus::Undecided,
            None if verdicts.values().all(MutantVerdict::is_not_reached) => {
                MutantStatus::NoCoverage
            }
            None => MutantStatus::Survived,
        }
    }

    /// The number of the mutant that it is a duplicate of.
    pub fn same_as(&self) -> Option<u32> {
        match self {
            MutantRuns::SameAs(first) => Some(*first),
            MutantRuns::Judged(_) | MutantRuns::NotCompiled(_) | MutantRuns::NotRun(_) => None,
        }
    }

    /// Why it was not judged, or not by all tests; none where it was.
    pub fn reason(&self) -> Option<&str> {
        match self {
            MutantRuns::SameAs(_) => None,
            MutantRuns::NotCompiled(reason) | MutantRuns::NotRun(reason) => Some(reason),
            MutantRuns::Judged(verdicts) => verdicts.values().find_map(|verdict| match verdict {
                MutantVerdict::Undecided(reason) => Some(reason.as_str()),
                MutantVerdict::Noticed(_)
                | MutantVerdict::NotNoticed
                | MutantVerdict::OtherContents(_)
                | MutantVerdict::NotReached => None,
            }),
        }
    }
}

/// `mutation` of `campaign.json`: what was asked for, and what follows from the mutants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MutationSummary {
    /// What was asked for.
    pub asked: MutationExtent,
    /// Of all mutants.
    pub counts: MutantCounts,
    /// In the order of the table of operators; a mutant that several operators make counts for each.
    pub by_operator: Vec<OperatorMutants>,
    /// In project order.
    pub by_kernel: Vec<KernelMutants>,
    /// Requirements whose tests judged, in project order. Empty where not all tests judged every mutant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_requirement: Vec<RequirementMutants>,
    /// Tests that judged, in project order. Empty where not all tests judged every mutant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_test: Vec<TestMutants>,
    /// How the engines agree, where a device judged; each way once, in the order of the type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_agreement: Vec<AgreementMutants>,
    /// Pairs of mutants, where they were asked for; each relation once, in the order of the type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_relation: Vec<RelationPairs>,
}

impl MutationSummary {
    /// The score, with what it is of where that is less than the project: `100 % (2 of 2), of operator SYR alone`.
    pub fn score_in_words(&self) -> String {
        let score = MutationScore::of_summary(self);
        match self.asked.restrictions_in_words() {
            words if words.is_empty() => score.to_string(),
            words => format!("{score}, {words} alone"),
        }
    }

    /// The score as it would be if the mutants that justifications accept counted; none where none is accepted.
    pub fn score_with_accepted(&self) -> Option<MutationScore> {
        let score = MutationScore::of_summary(self);
        let judged = score.judged + self.counts.accepted;
        (self.counts.accepted > 0).then_some(MutationScore { judged, ..score })
    }

    /// What the score says of a threshold of the project, in percent.
    pub fn against_threshold(&self, threshold: f64) -> ThresholdStanding {
        match MutationScore::of_summary(self).reaches(threshold) {
            false => ThresholdStanding::Below,
            true if self.asked.is_of_whole_project() => ThresholdStanding::Reached,
            true => ThresholdStanding::NotKnown,
        }
    }
}

/// How a score stands to the threshold of the project, which is of all of its mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThresholdStanding {
    /// It is no lower; the lower limit of a sample.
    Reached,
    /// It is lower, or nothing was judged.
    Below,
    /// It is no lower, and is not of all mutants.
    NotKnown,
}

/// How many mutants the engines agree on in a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgreementMutants {
    /// The way.
    pub agreement: EngineAgreement,
    /// How many.
    pub mutants: u32,
}

/// Which mutants were asked for, and by which tests they were to be judged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MutationExtent {
    /// Operators; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<MutationOperator>,
    /// Kernels; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelName>,
    /// Requirements whose tests judge; none: every test does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementId>,
    /// Drawn at random of all that were asked for; none: each of them is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<MutantSample>,
    /// Which tests run with a mutant.
    pub judges: JudgingTests,
    /// Which engines judge.
    #[serde(default, skip_serializing_if = "JudgingEngines::is_sequential")]
    pub engines: JudgingEngines,
    /// Whether pairs of mutants are judged as well.
    #[serde(default, skip_serializing_if = "MutationOrder::is_first")]
    pub order: MutationOrder,
}

impl MutationExtent {
    /// Whether it is of all mutants of the project, or of a sample of all of them, judged by all tests.
    pub fn is_of_whole_project(&self) -> bool {
        self.operators.is_empty() && self.kernels.is_empty() && self.requirements.is_empty()
    }

    /// What it is restricted to, but for a sample: `of operators AR, SYR, by the tests of requirement LLR-1`; empty where
    /// it is of the whole project.
    pub fn restrictions_in_words(&self) -> String {
        let words = |one: &str, many: &str, names: Vec<String>| match names.len() {
            0 => None,
            1 => Some(format!("{one} {}", names[0])),
            _ => Some(format!("{many} {}", names.join(", "))),
        };
        let operators = self.operators.iter().map(ToString::to_string).collect();
        let kernels = self.kernels.iter().map(ToString::to_string).collect();
        let requirements = self.requirements.iter().map(ToString::to_string).collect();
        let parts = [
            words("of operator", "of operators", operators),
            words("of kernel", "of kernels", kernels),
            words("by the tests of requirement", "by the tests of requirements", requirements),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Which engines judge mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JudgingEngines {
    /// The sequential engine, of whose verdicts the score is.
    #[default]
    Sequential,
    /// A device beside it.
    Both,
}

impl JudgingEngines {
    /// Whether no device judges.
    pub fn is_sequential(&self) -> bool {
        *self == JudgingEngines::Sequential
    }
}

/// Mutants that are drawn at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MutantSample {
    /// How many, at most.
    pub count: u32,
    /// Of the random numbers: the same seed draws the same mutants of the same kernels.
    pub seed: u64,
}

/// Which tests run with a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JudgingTests {
    /// Those up to the first whose expectation does not hold.
    #[default]
    UntilKilled,
    /// All: the whole matrix of mutants and tests.
    All,
}

/// How many mutants came to each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MutantCounts {
    /// Killed, in whatever way.
    pub killed: u32,
    /// Of these, by an expectation.
    pub by_expectation: u32,
    /// Of those that no expectation killed, by a finding.
    pub by_finding: u32,
    /// Of those that neither killed, by time or by an error.
    pub by_ending: u32,
    /// That no test noticed.
    pub survived: u32,
    /// That no test can notice.
    pub equivalent: u32,
    /// Of kernels that no test runs.
    pub no_test: u32,
    /// That change what no test executes.
    #[serde(default)]
    pub no_coverage: u32,
    /// That do not compile.
    pub not_compiled: u32,
    /// That are the fault of another one in other words.
    #[serde(default)]
    pub duplicate: u32,
    /// Of which it is not known.
    pub undecided: u32,
    /// That no test noticed, and a justification accepts.
    #[serde(default)]
    pub accepted: u32,
}

impl MutantCounts {
    /// Counts mutants.
    pub fn of_mutants<'m>(mutants: impl IntoIterator<Item = &'m MutantEvidence>) -> Self {
        Self::of_outcomes(mutants.into_iter().map(|mutant| (mutant.status, &mutant.runs)))
    }

    /// Counts what became of mutants, each with its runs.
    pub(super) fn of_outcomes<'m>(
        outcomes: impl Iterator<Item = (MutantStatus, &'m MutantRuns)>,
    ) -> Self {
        let mut counts = Self::default();
        for (status, runs) in outcomes {
            match status {
                MutantStatus::Killed => {
                    counts.killed += 1;
                    match runs.kill_cause() {
                        Some(KillCause::Expectation) => counts.by_expectation += 1,
                        Some(KillCause::Finding) => counts.by_finding += 1,
                        // Evidence that was altered may have none; `verify` tells that.
                        Some(KillCause::Time | KillCause::Error) | None => counts.by_ending += 1,
                    }
                }
                MutantStatus::Survived => counts.survived += 1,
                MutantStatus::Equivalent => counts.equivalent += 1,
                MutantStatus::NoTest => counts.no_test += 1,
                MutantStatus::NoCoverage => counts.no_coverage += 1,
                MutantStatus::NotCompiled => counts.not_compiled += 1,
                MutantStatus::Duplicate => counts.duplicate += 1,
                MutantStatus::Undecided => counts.undecided += 1,
                MutantStatus::Accepted => counts.accepted += 1,
            }
        }
        counts
    }

    /// Mutants that count for the score: all that compile and are neither proved to do what the kernel does, nor
    /// duplicates, nor accepted by a justification.
    pub fn judged(&self) -> u32 {
        self.killed + self.survived + self.no_test + self.no_coverage + self.undecided
    }

    /// What compiles and does not count for the score; none where all of it does.
    pub fn uncounted_in_words(&self) -> Option<String> {
        let duplicates = if self.duplicate == 1 { "duplicate" } else { "duplicates" };
        let parts = [
            (self.equivalent, "proved equivalent"),
            (self.duplicate, duplicates),
            (self.accepted, "accepted by justification"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, words)| format!("{count} {words}")).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// All of them.
    pub fn total(&self) -> u32 {
        self.judged() + self.equivalent + self.duplicate + self.not_compiled + self.accepted
    }
}

/// The share of mutants that tests noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MutationScore {
    /// Mutants that tests noticed.
    pub killed: u32,
    /// Mutants that count.
    pub judged: u32,
    /// Whether these were drawn at random of more.
    pub basis: ScoreBasis,
}

/// What a score is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreBasis {
    /// All mutants that were asked for.
    All,
    /// A sample of them.
    Sample,
}

/// Limits of a share, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreInterval {
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
}

/// The 0.975 quantile of the standard normal distribution: that of an interval of 95 %.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

impl MutationScore {
    /// With whatever tests noticed mutants by.
    pub fn of_summary(summary: &MutationSummary) -> Self {
        let MutantCounts { killed, .. } = summary.counts;
        Self { killed, judged: summary.counts.judged(), basis: ScoreBasis::of_summary(summary) }
    }

    /// With expectations alone.
    pub fn by_expectation(summary: &MutationSummary) -> Self {
        let killed = summary.counts.by_expectation;
        Self { killed, ..Self::of_summary(summary) }
    }

    /// In percent, rounded down to tenths: 100 is all of them. None where nothing was judged.
    pub fn percent(self) -> Option<f64> {
        let tenths = (u64::from(self.killed) * 1000).checked_div(u64::from(self.judged))?;
        Some(tenths as f64 / 10.0)
    }

    /// Where the share of all mutants lies with a confidence of 95 %, as far as a sample tells (E. B.
    /// Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927);
    /// none where all were judged, or none. It neglects that a sample is drawn without replacement, which makes it
    /// wider than it must be.
    pub fn interval(self) -> Option<ScoreInterval> {
        if self.basis == ScoreBasis::All || self.judged == 0 {
            return None;
        }
        let (count, share) =
            (f64::from(self.judged), f64::from(self.killed) / f64::from(self.judged));
        let square = NORMAL_QUANTILE * NORMAL_QUANTILE;
        let middle = share + square / (2.0 * count);
        let spread = share * (1.0 - share) / count + square / (4.0 * count * count);
        let half = NORMAL_QUANTILE * spread.sqrt();
        let scale = 100.0 / (1.0 + square / count);
        let limit = |value: f64| (value * scale).clamp(0.0, 100.0);
        Some(ScoreInterval { low: limit(middle - half), high: limit(middle + half) })
    }

    /// Whether it is shown to be no lower than a threshold in percent.
    pub fn reaches(self, threshold: f64) -> bool {
        match self.interval() {
            Some(interval) => interval.low >= threshold,
            // Without rounding: killed / judged >= threshold / 100.
            None => {
                self.judged > 0
                    && f64::from(self.killed) * 100.0 >= threshold * f64::from(self.judged)
            }
        }
    }
}

impl ScoreBasis {
    fn of_summary(summary: &MutationSummary) -> Self {
        match summary.asked.sample {
            // Fewer than were to be drawn: these are all.
            Some(sample) if summary.counts.total() >= sample.count => ScoreBasis::Sample,
            Some(_) | None => ScoreBasis::All,
        }
    }
}

impl fmt::Display for MutationScore {
    /// `93.1 % (231 of 248)`, of a sample with its limits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(percent) = self.percent() else { return f.write_str("of no mutant") };
        write!(f, "{percent} % ({} of {}", self.killed, self.judged)?;
        if let Some(ScoreInterval { low, high }) = self.interval() {
            // Limits are rounded outwards.
            let (low, high) = ((low * 10.0).floor() / 10.0, (high * 10.0).ceil() / 10.0);
            write!(f, " drawn; of all {low} to {high} % with 95 % confidence")?;
        }
        f.write_str(")")
    }
}

/// The mutants of an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorMutants {
    /// The operator.
    pub operator: MutationOperator,
    /// Of its mutants.
    pub counts: MutantCounts,
}

/// The mutants of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelMutants {
    /// The kernel.
    pub kernel: KernelName,
    /// Of its mutants.
    pub counts: MutantCounts,
}

/// What the tests of a requirement would notice by themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementMutants {
    /// The requirement.
    pub requirement: RequirementId,
    /// Mutants that a test of it judged.
    pub judged: u32,
    /// Of these, noticed by a test of it.
    pub killed: u32,
    /// Of these, by an expectation of one.
    pub by_expectation: u32,
    /// Of the killed ones, those that no test without this requirement noticed.
    pub alone: u32,
}

/// What a test noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestMutants {
    /// The test.
    pub test: TestId,
    /// Mutants that it judged.
    pub judged: u32,
    /// Of these, those that it noticed.
    pub killed: u32,
    /// Of these, by an expectation.
    pub by_expectation: u32,
    /// Of the noticed ones, those that no other test noticed.
    pub alone: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(verdicts: &[(&str, MutantVerdict)]) -> MutantRuns {
        let rows = verdicts.iter().map(|(test, verdict)| (TestId::from(*test), verdict.clone()));
        MutantRuns::Judged(rows.collect())
    }

    #[test]
    fn status_follows_from_runs_and_proof() {
        use MutantVerdict::{NotNoticed, Noticed, Undecided};
        let proof = Some(EquivalenceProof::SameModule);
        let unknown = || Undecided("no device".to_owned());
        let by_time = || Noticed(vec![Notice::Time]);
        for (runs, proof, status) in [
            (judged(&[]), None, MutantStatus::NoTest),
            (judged(&[("A", NotNoticed)]), None, MutantStatus::Survived),
            (judged(&[("A", NotNoticed)]), proof, MutantStatus::Equivalent),
            (judged(&[("A", NotNoticed), ("B", unknown())]), None, MutantStatus::Undecided),
            (judged(&[("A", unknown()), ("B", by_time())]), None, MutantStatus::Killed),
            // A proof does not outweigh what a test saw.
            (judged(&[("A", by_time())]), proof, MutantStatus::Killed),
            (MutantRuns::NotCompiled(String::new()), None, MutantStatus::NotCompiled),
            (MutantRuns::NotRun(String::new()), None, MutantStatus::Undecided),
        ] {
            assert_eq!(runs.status(proof), status, "{runs:?}");
        }
    }

    #[test]
    fn an_expectation_of_any_test_comes_before_findings_and_endings() {
        let finding = || MutantVerdict::Noticed(vec![Notice::Finding(FindingKind::DataRace)]);
        let expectation = || MutantVerdict::Noticed(vec![Notice::Expectation, Notice::Time]);
        let ending = || MutantVerdict::Noticed(vec![Notice::Error]);
        let cause = |verdicts: &[(&str, MutantVerdict)]| judged(verdicts).kill_cause();
        assert_eq!(cause(&[("A", finding()), ("B", expectation())]), Some(KillCause::Expectation));
        assert_eq!(cause(&[("A", ending()), ("B", finding())]), Some(KillCause::Finding));
        assert_eq!(cause(&[("A", ending())]), Some(KillCause::Error));
        assert_eq!(cause(&[("A", MutantVerdict::NotNoticed)]), None);
    }

    #[test]
    fn a_sample_has_limits_and_reaches_a_threshold_by_the_lower_one() {
        let sample = MutationScore { killed: 81, judged: 90, basis: ScoreBasis::Sample };
        let all = MutationScore { basis: ScoreBasis::All, ..sample };
        // Computed by hand from the formula.
        let interval = sample.interval().unwrap();
        assert!((interval.low - 82.07).abs() < 0.01 && (interval.high - 94.64).abs() < 0.01);
        assert!(all.reaches(90.0) && !all.reaches(90.1) && all.interval().is_none());
        assert!(sample.reaches(82.0) && !sample.reaches(83.0));
        assert_eq!(all.to_string(), "90 % (81 of 90)");
        assert_eq!(
            sample.to_string(),
            "90 % (81 of 90 drawn; of all 82 to 94.7 % with 95 % confidence)"
        );
        let none = MutationScore { killed: 0, judged: 0, basis: ScoreBasis::All };
        assert!(!none.reaches(0.0) && none.percent().is_none());
        let nearly = MutationScore { killed: 9999, judged: 10_000, basis: ScoreBasis::All };
        assert_eq!(nearly.percent(), Some(99.9));
    }

    #[test]
    fn every_status_has_its_own_word() {
        for (status, word) in MutantStatus::ALL {
            assert_eq!(status.word(), *word);
            assert_eq!(serde_json::to_value(status).unwrap(), *word);
        }
    }
}

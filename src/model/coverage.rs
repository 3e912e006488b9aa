//! Results of structural coverage for one kernel: every obligation with its status, every decision with its vectors.
//!
//! This is the `coverage` object of `vkcert run --format json` and of the evidence.

use super::coupling_summary::{CouplingClassSummary, ObligationCounts};
use super::criterion::{CriterionName, StoredCriterion};
use super::id::{ConditionId, DecisionId, ObligationId, TestId};
use super::metric::AverageStatementCoverage;
use super::requirement::JustificationClass;
use super::schedule::Schedule;
use super::structure::{Constness, DecisionContext};
use super::vector::{Outcome, Values};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of an obligation. Obligations are never dropped.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A test that counts shows it.
    Covered,
    /// No test that counts shows it, and no justification is accepted.
    Uncovered,
    /// Uncovered, with an accepted justification.
    Justified,
    /// Cannot be measured; the reason stands beside it. Counts as not covered.
    Undetermined,
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Status::Covered => "covered",
            Status::Uncovered => "uncovered",
            Status::Justified => "justified",
            Status::Undetermined => "undetermined",
        })
    }
}

/// Coverage of one kernel under one configuration by a set of tests.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct KernelCoverage {
    /// Name of the production configuration that it belongs to.
    #[serde(default)]
    pub configuration: String,
    /// Statements, in source order (`S1`, `S2` ...).
    pub statements: Vec<SimpleObligation>,
    /// Decision outcomes (`D1.T`, `D1.F`), switch labels (`W1.L1`).
    pub branches: Vec<SimpleObligation>,
    /// Entry and exit points of functions (`F1.entry`, `F1.X1`): obligations of decision coverage.
    #[serde(default)]
    pub points: Vec<SimpleObligation>,
    /// Decisions with their conditions, in source order.
    pub decisions: Vec<DecisionCoverage>,
    /// Outcomes of the production module's branches, switches and selects (`B1.T`, `B1.F`, `B2.L1`).
    #[serde(default)]
    pub objects: Vec<SimpleObligation>,
    /// Those of `objects` that trace to no source: additional code (DO-178C 6.4.4.2.b).
    #[serde(default)]
    pub additional: Vec<ObligationId>,
    /// Barriers of the workgroup (`BAR1`), executed by all of its invocations.
    #[serde(default)]
    pub barriers: Vec<SimpleObligation>,
    /// Function definitions of the source (`F1`), entered at least once; absent where the project does not ask for
    /// function coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<SimpleObligation>>,
    /// Calls of functions of the source (`CALL1`), executed at least once; absent where the project does not ask for
    /// call coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<SimpleObligation>>,
    /// Cases of loops (`LOOP1.zero`), each shown by some execution of the loop; absent where the project does not ask
    /// for loop boundary coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loops: Option<Vec<SimpleObligation>>,
    /// Boundary values of the inputs (`BND1`), each given by a test; absent where the project does not ask for boundary
    /// value coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundaries: Option<Vec<SimpleObligation>>,
    /// Values that pass from one side of a coupling to another (`P1`), each read in a test; behind them what tests showed
    /// beside them (`PX1`). Absent where the project does not ask for coupling coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupling: Option<Vec<SimpleObligation>>,
    /// Those of `coupling` by class, counted; without classes that have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coupling_classes: Vec<CouplingClassSummary>,
    /// Average statement coverage, a metric beside the obligations; absent where the project does not ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_statement: Option<AverageStatementCoverage>,
    /// What is in the source but not part of this kernel: functions that the entry point does not reach.
    #[serde(default)]
    pub not_reached: Vec<String>,
    /// Share of each criterion, computed from the obligations above.
    #[serde(default)]
    pub summary: Vec<CriterionSummary>,
}

impl KernelCoverage {
    /// Obligations that are derived only where a project asks for them, by criterion.
    pub fn requested(&self) -> [(CriterionName, &Option<Vec<SimpleObligation>>); 5] {
        let Self { functions, calls, loops, boundaries, coupling, .. } = self;
        [
            (CriterionName::Function, functions),
            (CriterionName::Call, calls),
            (CriterionName::LoopBoundary, loops),
            (CriterionName::Boundary, boundaries),
            (CriterionName::Coupling, coupling),
        ]
    }

    /// Obligations of coupling coverage: pairs, and beside them what couples by control, barriers
    /// and calls. None where the project does not ask for it.
    pub fn coupling_obligations(&self) -> impl Iterator<Item = &SimpleObligation> {
        let by_control = self.barriers.iter().chain(self.calls.iter().flatten());
        let pairs = self.coupling.as_ref();
        pairs.into_iter().flat_map(move |pairs| pairs.iter().chain(by_control.clone()))
    }

    /// Criteria that obligations of one of them are of: what couples by control is of coupling
    /// coverage, too, where that is asked for.
    pub fn criteria_with_coupling(&self, criterion: CriterionName) -> Vec<CriterionName> {
        let couples_by_control = matches!(criterion, CriterionName::Barrier | CriterionName::Call);
        let coupling =
            (couples_by_control && self.coupling.is_some()).then_some(CriterionName::Coupling);
        [criterion].into_iter().chain(coupling).collect()
    }

    /// As [`KernelCoverage::requested`], in the same order.
    pub fn requested_mut(&mut self) -> [&mut Option<Vec<SimpleObligation>>; 5] {
        let Self { functions, calls, loops, boundaries, coupling, .. } = self;
        [functions, calls, loops, boundaries, coupling]
    }
}

/// A barrier of a kernel's workgroups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelBarrier {
    /// Its number among the control barriers of the marked module, from 0; records are kept by it.
    pub number: u32,
    /// Path of the source file, relative to the project.
    pub file: String,
    /// 1-based line of the call.
    pub line: u32,
    /// Of the call; of the first token of the line where that comes out of a macro.
    pub column: u32,
    /// Name of the function that the call stands in.
    pub function: String,
}

/// An obligation without inner structure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SimpleObligation {
    /// Name of the obligation, unique in the kernel.
    pub id: ObligationId,
    /// Path of the source file, relative to the project.
    pub file: String,
    /// 1-based line.
    pub line: u32,
    /// 1-based column.
    pub column: u32,
    /// The source text that it is about, as reports print it.
    pub text: String,
    /// What tests and justifications make of it.
    pub status: Status,
    /// Why it is undetermined, or which justification holds.
    #[serde(default)]
    pub reason: Option<String>,
    /// Tests that cover it, in order of execution.
    #[serde(default)]
    pub tests: Vec<TestId>,
    /// Tests that exercise it and do not count: they did not pass, or do not judge it. Of uncovered ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<TestId>,
    /// A justification that the configuration itself suggests; the obligation stays open until a person has accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
    /// For obligations of object code: where in the module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectPlace>,
}

impl SimpleObligation {
    /// `file:line:column`, as far as they are known; for object code without debug information the place in the module.
    pub fn place(&self) -> String {
        match (&self.object, self.line, self.column) {
            (Some(object), 0, _) => {
                format!("{}: {}+word {}", self.file, object.function, object.instruction)
            }
            (Some(_), line, 0) => format!("{}:{line}", self.file),
            (_, line, column) => format!("{}:{line}:{column}", self.file),
        }
    }
}

/// Where in a production module an obligation stands, and what it traces to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectPlace {
    /// Name of the SPIR-V function, or its id as `%12` where it has none.
    pub function: String,
    /// Word offset in the module.
    pub instruction: u32,
    /// Decisions, switch, or the entry of a closed list, in words.
    pub origin: String,
}

/// What a justification could say of an obligation that nothing can cover under the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    /// The class that the justification would have.
    pub class: JustificationClass,
    /// Names the configuration, constants and values.
    pub reason: String,
}

/// What tests show of one decision: its outcomes, conditions, vectors and MC/DC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionCoverage {
    /// Number of the decision in the kernel.
    pub id: DecisionId,
    /// Path of the source file, relative to the project.
    pub file: String,
    /// 1-based line of its first token.
    pub line: u32,
    /// 1-based column of its first token.
    pub column: u32,
    /// The source text, white space collapsed to single spaces.
    pub text: String,
    /// Name of the function that it stands in; none at file level.
    pub function: Option<String>,
    /// Where in the grammar it stands.
    pub context: DecisionContext,
    /// What its outcome depends on, as far as text and module tell.
    pub constness: Constness,
    /// The only outcome that the decision can have under the configuration, where that is known.
    #[serde(default)]
    pub constant_outcome: Option<Outcome>,
    /// Macro names that the decision came through, outermost first.
    #[serde(default)]
    pub expansion: Vec<String>,
    /// Status of the two outcomes (decision coverage) as one obligation each: `D1.T`, `D1.F`.
    pub outcomes: Vec<SimpleObligation>,
    /// Its conditions, in source order.
    pub conditions: Vec<ConditionPlace>,
    /// What the tests showed, in canonical order (true before false before `-`, first condition first).
    pub vectors: Vec<ObservedVector>,
    /// Independence of each condition, in the order of `conditions`.
    pub mcdc: Vec<ConditionMcdc>,
    /// Obligations of multiple-condition coverage: every vector that can occur if no condition is fixed (`D1.V.TF`);
    /// more than 256 are one obligation together (`D1.V`), which is undetermined beyond 65,536.
    #[serde(default)]
    pub combinations: Vec<SimpleObligation>,
    /// What coupled conditions make impossible; none where no conditions are coupled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupling: Option<Coupling>,
    /// How many vectors MC/DC of the decision takes; none where too many can occur to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<MinimumVectors>,
    /// Vectors that no test showed, of those that can occur, in canonical order; empty where the decision has too many.
    #[serde(default)]
    pub missing: Vec<Values>,
    /// A smallest set of missing vectors that would complete MC/DC (masking), as far as MC/DC is attainable.
    #[serde(default)]
    pub closing_set: Vec<Values>,
    /// One sentence per uncovered condition that says what is missing.
    #[serde(default)]
    pub explanation: Vec<String>,
}

/// Conditions with the same side-effect-free text have the same value in one evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coupling {
    /// Conditions of each text that occurs more than once.
    pub groups: Vec<Vec<ConditionId>>,
    /// Vectors that short-circuit evaluation alone would allow, in canonical order; the first 64.
    pub excluded: Vec<Values>,
    /// How many there are; none where too many can occur to tell.
    pub excluded_count: Option<u32>,
    /// Conditions that no two vectors which can occur show by unique cause.
    pub without_unique_cause: Vec<ConditionId>,
    /// Conditions that no two vectors which can occur show by masking.
    pub without_masking: Vec<ConditionId>,
}

/// How many vectors MC/DC of a decision takes at least, beside the number of conditions plus one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MinimumVectors {
    /// Number of conditions plus one, which MC/DC takes at least without coupling.
    pub conditions_plus_one: u32,
    /// For unique-cause MC/DC.
    pub unique_cause: VectorCount,
    /// For masking MC/DC.
    pub masking: VectorCount,
}

/// Size of a smallest set of vectors that shows every condition which can be shown; exact where both numbers are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VectorCount {
    /// A set of this many does.
    pub vectors: u32,
    /// No set of fewer does.
    pub at_least: u32,
    /// Conditions that can be shown.
    pub conditions: u32,
}

impl VectorCount {
    /// Whether no smaller set does: both numbers are equal.
    pub fn is_exact(&self) -> bool {
        self.vectors == self.at_least
    }
}

impl std::fmt::Display for VectorCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_exact() {
            write!(f, "{}", self.vectors)
        } else {
            write!(f, "{} to {}", self.at_least, self.vectors)
        }
    }
}

/// A condition of a decision, with its place in the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionPlace {
    /// Name of the condition: `D3.C1`.
    pub id: ConditionId,
    /// The source text, as reports print it.
    pub text: String,
    /// 1-based line of its first token.
    pub line: u32,
    /// 1-based column of its first token.
    pub column: u32,
    /// Byte span in the file, for marking; start and end.
    pub span: [u32; 2],
    /// What its value depends on, as far as text and module tell.
    pub constness: Constness,
    /// The only value that it can have under the configuration, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Outcome>,
    /// Other conditions of the decision with the same side-effect-free text.
    #[serde(default)]
    pub coupled_with: Vec<ConditionId>,
}

/// A vector of a decision that tests showed, with who showed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedVector {
    /// One value per condition, in source order.
    pub values: Values,
    /// The outcome of the decision for these values.
    pub outcome: Outcome,
    /// Tests that showed it, in order of execution.
    pub tests: Vec<TestId>,
    /// Global invocation id of the first test's witness; null where the engine cannot tell.
    pub witness: Option<[u32; 3]>,
    /// A witness per test, in the order of `tests`.
    #[serde(default)]
    pub witnesses: Vec<Option<[u32; 3]>>,
    /// A directed schedule per test, in the order of `tests`: null where the ordinary one shows the vector. Empty where it
    /// does so in all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directed: Vec<Option<Schedule>>,
    /// Whether each of the tests may have shown it by an undefined value: then it covers nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undefined: bool,
}

impl ObservedVector {
    /// The directed schedule in which the first test shows it; none: the ordinary one.
    pub fn first_directed(&self) -> Option<Schedule> {
        self.directed.first().copied().flatten()
    }
}

/// What MC/DC of one condition came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionMcdc {
    /// The condition: `D3.C1`.
    pub condition: ConditionId,
    /// By a pair in which this condition alone differs (unique cause).
    pub unique_cause: Independence,
    /// By a pair in which every other condition is masked or the same (masking).
    pub masking: Independence,
}

/// Whether an independence pair shows that the condition alone affects the outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Independence {
    /// Covered where a pair was shown.
    pub status: Status,
    /// The two vectors; none where no pair was shown.
    pub pair: Option<[Values; 2]>,
    /// The first test (and its witness) behind each vector of the pair.
    #[serde(default)]
    pub shown_by: Option<[Witness; 2]>,
    /// Tests that exercise it and do not count: they did not pass, or do not judge it. Of uncovered ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<TestId>,
    /// Why it is undetermined or infeasible, or which justification holds.
    #[serde(default)]
    pub reason: Option<String>,
    /// A justification that the configuration itself suggests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
}

impl Independence {
    /// Independence that no pair shows, with the reason.
    pub fn without_pair(
        status: Status,
        reason: Option<String>,
        proposal: Option<Proposal>,
    ) -> Self {
        Self { status, pair: None, shown_by: None, uncounted: Vec::new(), reason, proposal }
    }
}

/// Who showed a vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Witness {
    /// The test that showed it.
    pub test: TestId,
    /// Global id of the lowest invocation that showed it; none where the records do not tell.
    pub invocation: Option<[u32; 3]>,
    /// The directed schedule that shows it, where the ordinary one does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directed: Option<Schedule>,
}

/// Counts of one criterion; `covered + justified + uncovered + undetermined == total`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionSummary {
    /// Name in the table of criteria: `statement`, `branch`, `decision`, `mcdc-unique-cause`, `mcdc-masking`,
    /// `multiple-condition`.
    pub criterion: StoredCriterion,
    /// Obligations of the criterion.
    pub total: u32,
    /// Obligations that a test covers.
    pub covered: u32,
    /// Uncovered obligations with an accepted justification.
    pub justified: u32,
    /// Obligations that neither a test nor a justification closes.
    pub uncovered: u32,
    /// Obligations that could not be measured.
    pub undetermined: u32,
}

impl CriterionSummary {
    /// The counts alone.
    pub fn counts(&self) -> ObligationCounts {
        let Self { total, covered, justified, uncovered, undetermined, .. } = *self;
        ObligationCounts { total, covered, justified, uncovered, undetermined }
    }

    /// Whether nothing is left open: every obligation is covered or justified.
    pub fn complete(&self) -> bool {
        self.covered + self.justified == self.total
    }
}

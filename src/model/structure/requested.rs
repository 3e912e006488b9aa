//! Calls and loops of the source text, which are marked only where a project's criteria ask for it.
//!
//! Knows: the cases of a loop (Peng and Rajan, "CLTestCheck: Measuring Test Effectiveness for GPU Kernels", 4.1) and
//! which of them its form allows.
//! Promises: a structure that nobody asked for holds nothing of this, so that its stored form is as it was.
//! Does not cover: what was executed (`records`), obligations (`coverage::assess`).

use super::{Expansion, MarkIndex};
use crate::criterion::CriterionName;
use crate::id::{CallId, DecisionId, FunctionId, LoopId, StatementId};
use crate::place::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a kernel is marked for only on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestedMark {
    /// Each call of a function of the source.
    Calls,
    /// Each loop, with its number of iterations.
    Loops,
}

/// The marks that these criteria need beyond those that every kernel has.
pub fn requested_marks(criteria: &[CriterionName]) -> BTreeSet<RequestedMark> {
    let mark_of = |criterion: &CriterionName| match criterion {
        CriterionName::Call | CriterionName::Coupling => Some(RequestedMark::Calls),
        CriterionName::LoopBoundary => Some(RequestedMark::Loops),
        CriterionName::Statement
        | CriterionName::Branch
        | CriterionName::Decision
        | CriterionName::McdcUniqueCause
        | CriterionName::McdcMasking
        | CriterionName::MultipleCondition
        | CriterionName::ObjectBranch
        | CriterionName::AdditionalCode
        | CriterionName::Barrier
        | CriterionName::Function
        | CriterionName::Boundary => None,
    };
    criteria.iter().filter_map(mark_of).collect()
}

/// Parts of a structure that a project asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RequestedParts {
    /// Calls of functions that the source defines, in source order; absent where nobody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<Call>>,
    /// Loops in source order, outer before inner; absent where nobody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loops: Option<Vec<Loop>>,
}

impl RequestedParts {
    /// Whether nobody asked for any.
    pub fn is_empty(&self) -> bool {
        self.calls.is_none() && self.loops.is_none()
    }
}

/// A call of a function of the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// Number of the call, printed as `CALL1`.
    pub id: CallId,
    /// The function that the call stands in; none at file level.
    pub function: Option<FunctionId>,
    /// Name, arguments and parentheses.
    pub span: Span,
    /// Passed when the call is evaluated, before its arguments; none where the call could not be marked.
    pub mark: Option<MarkIndex>,
    /// Macros that it came through, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expansion: Vec<Expansion>,
}

/// A loop statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loop {
    /// Number of the loop, printed as `LOOP1`.
    pub id: LoopId,
    /// The function that it stands in; none where no function definition could be read.
    pub function: Option<FunctionId>,
    /// The statement that it is; none where the function could not be read.
    pub statement: Option<StatementId>,
    /// As that of the statement: the header.
    pub span: Span,
    /// Where its condition stands.
    pub kind: LoopKind,
    /// Its controlling expression; none where it has none, and where the function could not be read.
    pub decision: Option<DecisionId>,
    /// The mark of each case that its form allows; empty where the loop could not be marked.
    pub marks: Vec<CaseMark>,
    /// Macros that it came through, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expansion: Vec<Expansion>,
}

/// Where the condition of a loop stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoopKind {
    /// Before the body: `while`, `for`.
    Head,
    /// Behind the body: `do ... while`.
    Tail,
    /// Nowhere: `for (;;)`.
    Endless,
}

/// The mark that an execution of a loop in one of its cases passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseMark {
    /// The case.
    pub case: LoopCase,
    /// Its mark.
    pub mark: MarkIndex,
}

/// What an invocation's execution of a loop, from entry to exit, can show.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LoopCase {
    /// The body was not entered.
    Zero,
    /// The body was entered once, and the loop left.
    Once,
    /// The body was entered a second time.
    More,
    /// The body was entered, and then the loop's own condition ended it.
    Boundary,
}

impl LoopCase {
    /// Every case, in the order of reports.
    pub const ALL: [LoopCase; 4] =
        [LoopCase::Zero, LoopCase::Once, LoopCase::More, LoopCase::Boundary];

    /// The last part of an obligation's id.
    pub fn name(self) -> &'static str {
        match self {
            LoopCase::Zero => "zero",
            LoopCase::Once => "once",
            LoopCase::More => "more",
            LoopCase::Boundary => "boundary",
        }
    }

    /// In words, behind the loop's header.
    pub fn words(self) -> &'static str {
        match self {
            LoopCase::Zero => "body not executed",
            LoopCase::Once => "body executed exactly once",
            LoopCase::More => "body executed more than once",
            LoopCase::Boundary => "boundary reached",
        }
    }
}

impl LoopKind {
    /// Why no execution of such a loop can show the case; none: some may.
    pub fn refusal(self, case: LoopCase) -> Option<&'static str> {
        match (self, case) {
            (LoopKind::Tail, LoopCase::Zero) => {
                Some("the body of `do ... while` stands before its condition")
            }
            (LoopKind::Endless, LoopCase::Zero) => {
                Some("no condition stands before the body of `for (;;)`")
            }
            (LoopKind::Endless, LoopCase::Boundary) => {
                Some("no condition of its own ends the loop")
            }
            (LoopKind::Head | LoopKind::Tail, LoopCase::Boundary)
            | (LoopKind::Head, LoopCase::Zero)
            | (LoopKind::Head | LoopKind::Tail | LoopKind::Endless, LoopCase::Once)
            | (LoopKind::Head | LoopKind::Tail | LoopKind::Endless, LoopCase::More) => None,
        }
    }
}

//! The structure of a kernel's source text: functions, statements, decisions, conditions, switches.
//!
//! Made by `glsl`, stored in evidence, read by every layer below. It describes *all* functions of the preprocessed
//! translation unit; which of them the entry point reaches is known only with the module (see `records::Presence`).
//!
//! Coverage marks. The marked source text calls two marker functions: one with a condition's or decision's value, and
//! one at every function entry and behind every `case`/`default` label. Whether a statement was executed follows from
//! these marks by structure alone (see `coverage::statement`): structured control flow has no other way in or out.

mod chain;
mod decision;
mod requested;
#[cfg(test)]
mod tests;

pub use decision::{BooleanExpression, Condition, Constness, Decision, DecisionContext, Recording};
pub use requested::{
    Call, CaseMark, Loop, LoopCase, LoopKind, RequestedMark, RequestedParts, requested_marks,
};

use super::id::{DecisionId, FunctionId, StatementId, SwitchId};
use super::place::{SourceFile, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The structure of one kernel under one set of defines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelStructure {
    /// The main file first, then included files in order of first inclusion.
    pub files: Vec<SourceFile>,
    /// Name of the entry point's function, normally `main`.
    pub entry: String,
    /// Function definitions, in source order.
    pub functions: Vec<Function>,
    /// In source order of the preprocessed text; `decisions[i].id == DecisionId(i + 1)`.
    pub decisions: Vec<Decision>,
    /// `switches[i].id == SwitchId(i + 1)`.
    pub switches: Vec<Switch>,
    /// How exactly spans are known.
    pub accuracy: Accuracy,
    /// What each marker number in the marked text stands for: `markers[n]` for `vkcert_value(n / 256, n % 256, …)` and
    /// `vkcert_mark(n / 256, n % 256)`.
    pub markers: Vec<MarkerRole>,
    /// Name of the marker function `bool vkcert_value(const uint page, const uint id, const bool v)`, which returns `v`; another name
    /// only where the source uses this one.
    pub value_marker: String,
    /// Name of the marker function `void vkcert_mark(const uint page, const uint id)`.
    pub mark_marker: String,
    /// By which the text of a function or file is compared with that of another kernel.
    #[serde(default, skip_serializing_if = "TextDigests::is_empty")]
    pub texts: TextDigests,
    /// What is marked only where a project asks for it.
    #[serde(default, skip_serializing_if = "RequestedParts::is_empty")]
    pub requested: RequestedParts,
}

/// SHA-256 of preprocessed text, token by token. Evidence of version 0.1.0 does not hold it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TextDigests {
    /// Of each function, in the order of `functions`: its text, and that at file level which it uses, directly or through
    /// what it uses, with the pragmas. Of the entry point also the local size.
    pub functions: Vec<String>,
    /// By path: what is written in the file, or stands where it is read.
    pub files: BTreeMap<String, String>,
    /// Where the text could not be taken apart, and why: the digest of every function is then that of the whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

impl TextDigests {
    /// Whether there are none, as in evidence of version 0.1.0.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.files.is_empty()
    }
}

/// How exactly the spans of a structure point into the original files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Accuracy {
    /// The token stream equals the compiler's own, token by token.
    Exact,
    /// It does not; the kernel is measured on the compiler's preprocessed text, with line accuracy only.
    LinesOnly,
}

/// Marker numbers are passed in two parts, because the compiler looks for each constant among all those before it: with
/// a constant for each of thousands of markers that takes longer than all else.
pub const MARKER_PAGE: u32 = 256;

/// What one marker number stands for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MarkerRole {
    /// The value of one condition of a decision with several; `condition` is the 0-based index.
    Condition {
        /// The decision that the condition is of.
        decision: DecisionId,
        /// 0-based index of the condition.
        condition: u32,
    },
    /// The outcome of a decision with several conditions; ends its evaluation.
    Decision {
        /// The decision whose outcome it is.
        decision: DecisionId,
    },
    /// The value of the only condition and the outcome at once. The recorded condition value is the *leaf's* own
    /// (contract: `!` is an operator): the marker stands around the leaf, the outcome follows from the expression.
    Single {
        /// The decision that has one condition.
        decision: DecisionId,
    },
    /// Execution passed here (function entry, switch label).
    Mark {
        /// Number of the mark.
        mark: MarkIndex,
    },
    /// Execution passed here while the value of the marker was true; several markers may set one mark.
    MarkWhere {
        /// Number of the mark.
        mark: MarkIndex,
    },
}

/// 0-based index of a coverage mark that carries no value.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct MarkIndex(pub u32);

/// A function definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Function {
    /// Number of the function, printed as `F1`.
    pub id: FunctionId,
    /// Name in the source.
    pub name: String,
    /// From the return type to the closing brace.
    pub span: Span,
    /// Set when the function is entered.
    pub entry_mark: MarkIndex,
    /// The statements of the function.
    pub body: Block,
    /// Exit points in source order: each `return` (and `discard`-like terminator), and the end of the body where it
    /// can be reached by falling off a `void` function.
    pub exits: Vec<Exit>,
    /// Set where the function's text comes out of a macro.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expansion: Vec<Expansion>,
}

/// An exit point of a function; prints as `F1.X1`, `F1.X2` in this order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// A `return` statement, or one that ends the invocation.
    Return {
        /// The statement.
        statement: StatementId,
    },
    /// The end of a body that control can fall through.
    EndOfBody {
        /// The closing brace.
        span: Span,
    },
}

/// Statements in order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Block(pub Vec<Statement>);

/// A statement. `{}` blocks and empty statements `;` carry no id: they are not obligations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statement {
    /// In source order over the whole kernel; none for blocks and empty statements.
    pub id: Option<StatementId>,
    /// The whole statement. For `if`, loops and `switch`: the header alone, up to and including its `)`.
    pub span: Span,
    /// What the statement is, with what stands in it.
    pub kind: StatementKind,
    /// Macros that it came through, outermost first; empty for plain text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expansion: Vec<Expansion>,
}

/// What a statement is, with what stands in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatementKind {
    /// `{ ... }`.
    Block {
        /// The statements in it.
        block: Block,
    },
    /// Nothing to execute: `;`, or a declaration without initialiser.
    Empty,
    /// Expression statement or declaration with initialiser.
    Simple,
    /// `if`, with its `else` where there is one.
    If {
        /// Its controlling expression.
        decision: DecisionId,
        /// What runs where it is true.
        then: Box<Statement>,
        /// Stored as a list: an `else if` chain as the `if` statements in order (each without its own `else`), then what
        /// the last `else` holds, so that a long chain does not nest deeply in files.
        #[serde(default, with = "chain")]
        #[schemars(with = "Vec<Statement>")]
        otherwise: Option<Box<Statement>>,
    },
    /// `while`.
    While {
        /// Its controlling expression.
        decision: DecisionId,
        /// What is repeated.
        body: Box<Statement>,
    },
    /// `do ... while`.
    DoWhile {
        /// What is repeated.
        body: Box<Statement>,
        /// Its controlling expression, evaluated behind the body.
        decision: DecisionId,
    },
    /// `decision` is none for `for (;;)`; init and update are part of this statement.
    For {
        /// The first part of the header, where there is one.
        init: Option<Box<Statement>>,
        /// The controlling expression.
        decision: Option<DecisionId>,
        /// What is repeated.
        body: Box<Statement>,
    },
    /// `switch`.
    Switch {
        /// Number of the switch, which has the labels.
        switch: SwitchId,
        /// The statements in it, labels among them.
        body: Block,
    },
    /// A `case` or `default` label inside a switch body; `label` is the 0-based index in the switch.
    Label {
        /// The switch that it is a label of.
        switch: SwitchId,
        /// 0-based index among the labels of the switch.
        label: u32,
    },
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`, with or without value.
    Return,
    /// `discard`, `terminateInvocation`, `demote` and the like: ends the invocation.
    Terminate,
}

/// A `switch` statement; each label is a branch obligation, and so is the implicit way past all labels where there
/// is no `default`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Switch {
    /// Number of the switch, printed as `W1`.
    pub id: SwitchId,
    /// `switch (...)`.
    pub span: Span,
    /// Text of the selector.
    pub text: String,
    /// Labels in source order.
    pub labels: Vec<Label>,
}

/// A `case` or `default` label. Its mark says that execution passed the label, also by falling through from the one
/// above; consecutive labels without a statement between them share what happens but have marks of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Label {
    /// What the label is.
    pub kind: LabelKind,
    /// The label in the source.
    pub span: Span,
    /// The source text, as reports print it.
    pub text: String,
    /// None where the label could not be marked.
    pub mark: Option<MarkIndex>,
}

/// What a label of a switch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LabelKind {
    /// `case`.
    Case,
    /// `default` of the source.
    Default,
    /// A `default:` that only the marked text has, added where the source has none, so that skipping all labels shows.
    ImplicitDefault,
}

/// One macro expansion that a token came through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Expansion {
    /// Name of the macro.
    pub macro_name: String,
    /// Where the macro is used.
    pub site: Span,
}

impl KernelStructure {
    /// The decision of this number; panics where there is none.
    pub fn decision(&self, id: DecisionId) -> &Decision {
        &self.decisions[id.0 as usize - 1]
    }

    /// The switch of this number; panics where there is none.
    pub fn switch(&self, id: SwitchId) -> &Switch {
        &self.switches[id.0 as usize - 1]
    }

    /// The text of a span in its original file.
    pub fn text(&self, span: Span) -> &str {
        &self.files[span.file.0 as usize].text[span.start as usize..span.end as usize]
    }
}

//! The structure of a kernel's source text: functions, statements, decisions, conditions, switches.
//!
//! Made by `glsl`, stored in evidence, read by every layer below. It describes *all* functions of the preprocessed
//! translation unit; which of them the entry point reaches is known only with the module (see `records::Presence`).
//!
//! Coverage marks. The marked source text calls two marker functions: one with a condition's or decision's value, and
//! one at every function entry and behind every `case`/`default` label. Whether a statement was executed follows from
//! these marks by structure alone (see `coverage::statement`): structured control flow has no other way in or out.

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
    Condition { decision: DecisionId, condition: u32 },
    /// The outcome of a decision with several conditions; ends its evaluation.
    Decision { decision: DecisionId },
    /// The value of the only condition and the outcome at once. The recorded condition value is the *leaf's* own
    /// (contract: `!` is an operator): the marker stands around the leaf, the outcome follows from the expression.
    Single { decision: DecisionId },
    /// Execution passed here (function entry, switch label).
    Mark { mark: MarkIndex },
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
    pub id: FunctionId,
    pub name: String,
    /// From the return type to the closing brace.
    pub span: Span,
    /// Set when the function is entered.
    pub entry_mark: MarkIndex,
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
    Return { statement: StatementId },
    EndOfBody { span: Span },
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
    pub kind: StatementKind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expansion: Vec<Expansion>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatementKind {
    Block {
        block: Block,
    },
    /// Nothing to execute: `;`, or a declaration without initialiser.
    Empty,
    /// Expression statement or declaration with initialiser.
    Simple,
    If {
        decision: DecisionId,
        then: Box<Statement>,
        /// Stored as a list: an `else if` chain as the `if` statements in order (each without its own `else`), then what
        /// the last `else` holds, so that a long chain does not nest deeply in files.
        #[serde(default, with = "chain")]
        #[schemars(with = "Vec<Statement>")]
        otherwise: Option<Box<Statement>>,
    },
    While {
        decision: DecisionId,
        body: Box<Statement>,
    },
    DoWhile {
        body: Box<Statement>,
        decision: DecisionId,
    },
    /// `decision` is none for `for (;;)`; init and update are part of this statement.
    For {
        init: Option<Box<Statement>>,
        decision: Option<DecisionId>,
        body: Box<Statement>,
    },
    Switch {
        switch: SwitchId,
        body: Block,
    },
    /// A `case` or `default` label inside a switch body; `label` is the 0-based index in the switch.
    Label {
        switch: SwitchId,
        label: u32,
    },
    Break,
    Continue,
    Return,
    /// `discard`, `terminateInvocation`, `demote` and the like: ends the invocation.
    Terminate,
}

/// A `switch` statement; each label is a branch obligation, and so is the implicit way past all labels where there
/// is no `default`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Switch {
    pub id: SwitchId,
    /// `switch (...)`.
    pub span: Span,
    /// Text of the selector.
    pub text: String,
    pub labels: Vec<Label>,
}

/// A `case` or `default` label. Its mark says that execution passed the label, also by falling through from the one
/// above; consecutive labels without a statement between them share what happens but have marks of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Label {
    pub kind: LabelKind,
    pub span: Span,
    pub text: String,
    /// None where the label could not be marked.
    pub mark: Option<MarkIndex>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LabelKind {
    Case,
    Default,
    /// A `default:` that only the marked text has, added where the source has none, so that skipping all labels shows.
    ImplicitDefault,
}

/// A decision and its conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    pub id: DecisionId,
    pub function: Option<FunctionId>,
    pub context: DecisionContext,
    pub span: Span,
    /// The source text, white space collapsed to single spaces, as reports print it.
    pub text: String,
    pub expression: BooleanExpression,
    /// In source order; `expression` refers to them by 0-based index.
    pub conditions: Vec<Condition>,
    pub constness: Constness,
    pub recording: Recording,
    /// Macro expansions that produced the decision, outermost first; empty for plain text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expansion: Vec<Expansion>,
}

/// Where in the grammar a decision stands.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionContext {
    If,
    While,
    DoWhile,
    For,
    Ternary,
    Assignment,
    Initialiser,
    Return,
    Argument,
    /// Any other place of a Boolean operator: an index, an operand of `==`, an expression statement ...
    Expression,
}

impl DecisionContext {
    /// Whether the decision directs control flow (policy `control-flow` counts these alone).
    pub fn controls_flow(self) -> bool {
        match self {
            DecisionContext::If
            | DecisionContext::While
            | DecisionContext::DoWhile
            | DecisionContext::For
            | DecisionContext::Ternary => true,
            DecisionContext::Assignment
            | DecisionContext::Initialiser
            | DecisionContext::Return
            | DecisionContext::Argument
            | DecisionContext::Expression => false,
        }
    }
}

/// A condition: a leaf of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    pub span: Span,
    pub text: String,
    /// Conditions of the decision with the same number here have the same side-effect-free text and are coupled.
    /// Numbers start at 0 in order of first occurrence; a condition with side effects has a number of its own.
    pub coupling: u32,
    pub constness: Constness,
}

/// What a value depends on, as far as the source text (and after compiling, the module) tells.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Constness {
    /// A constant expression: fixed in the text.
    Constant,
    /// Depends on specialization constants alone: fixed per pipeline.
    Specialization,
    Runtime,
}

/// Whether the evaluations of a decision are recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recording {
    /// Markers stand around it.
    Marked,
    /// It is not; the decision is undetermined, for the reason given (constant-expression context, marked text does
    /// not compile, too many vectors).
    Unmarked { reason: String },
}

/// A Boolean expression over the conditions of one decision, by 0-based condition index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BooleanExpression {
    Condition(u32),
    Not(Box<BooleanExpression>),
    And(Box<BooleanExpression>, Box<BooleanExpression>),
    Or(Box<BooleanExpression>, Box<BooleanExpression>),
    Xor(Box<BooleanExpression>, Box<BooleanExpression>),
}

impl BooleanExpression {
    /// The value where the known values of conditions leave no choice; `value` is asked by condition index.
    pub fn decided_value(&self, value_of: &dyn Fn(u32) -> Option<bool>) -> Option<bool> {
        let decide_controlled = |left: &Self, right: &Self, controlling: bool| {
            let decided_operands = [left.decided_value(value_of), right.decided_value(value_of)];
            match decided_operands {
                _ if decided_operands.contains(&Some(controlling)) => Some(controlling),
                [Some(_), Some(_)] => Some(!controlling),
                _ => None,
            }
        };
        match self {
            BooleanExpression::Condition(condition) => value_of(*condition),
            BooleanExpression::Not(decided_operand) => {
                decided_operand.decided_value(value_of).map(|decided_operand| !decided_operand)
            }
            BooleanExpression::And(left, right) => decide_controlled(left, right, false),
            BooleanExpression::Or(left, right) => decide_controlled(left, right, true),
            BooleanExpression::Xor(left, right) => {
                Some(left.decided_value(value_of)? ^ right.decided_value(value_of)?)
            }
        }
    }
}

impl JsonSchema for BooleanExpression {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BooleanExpression".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "one of {\"condition\": index}, {\"not\": e}, {\"and\": [e, e]}, {\"or\": [e, e]}, {\"xor\": [e, e]}"
        })
    }
}

/// One macro expansion that a token came through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Expansion {
    pub macro_name: String,
    /// Where the macro is used.
    pub site: Span,
}

impl KernelStructure {
    pub fn decision(&self, id: DecisionId) -> &Decision {
        &self.decisions[id.0 as usize - 1]
    }

    pub fn switch(&self, id: SwitchId) -> &Switch {
        &self.switches[id.0 as usize - 1]
    }

    /// The text of a span in its original file.
    pub fn text(&self, span: Span) -> &str {
        &self.files[span.file.0 as usize].text[span.start as usize..span.end as usize]
    }
}

/// `otherwise` as a flat list.
mod chain {
    use super::{DecisionId, Expansion, Span, Statement, StatementId, StatementKind};
    use serde::de::Error;
    use serde::ser::SerializeSeq;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// A statement of the chain without the rest of the chain.
    #[derive(Serialize)]
    struct Link<'a> {
        id: Option<StatementId>,
        span: Span,
        kind: LinkKind<'a>,
        #[serde(skip_serializing_if = "<[Expansion]>::is_empty")]
        expansion: &'a [Expansion],
    }

    #[derive(Serialize)]
    #[serde(rename_all = "kebab-case")]
    enum LinkKind<'a> {
        If {
            decision: DecisionId,
            then: &'a Statement,
            otherwise: [(); 0],
        },
        #[serde(untagged)]
        Other(&'a StatementKind),
    }

    pub(super) fn serialize<S: Serializer>(
        otherwise: &Option<Box<Statement>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut statement_list = serializer.serialize_seq(None)?;
        let mut next_statement = otherwise.as_deref();
        while let Some(statement) = next_statement {
            let kind;
            (kind, next_statement) = match &statement.kind {
                StatementKind::If { decision, then, otherwise } => (
                    LinkKind::If { decision: *decision, then, otherwise: [] },
                    otherwise.as_deref(),
                ),
                other => (LinkKind::Other(other), None),
            };
            let Statement { id, span, expansion, .. } = statement;
            statement_list.serialize_element(&Link { id: *id, span: *span, kind, expansion })?;
        }
        statement_list.end()
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Box<Statement>>, D::Error> {
        let mut statement_chain: Option<Box<Statement>> = None;
        for mut statement in Vec::<Statement>::deserialize(deserializer)?.into_iter().rev() {
            if let Some(following_chain) = statement_chain.take() {
                match &mut statement.kind {
                    StatementKind::If { otherwise, .. } if otherwise.is_none() => {
                        *otherwise = Some(following_chain)
                    }
                    _ => {
                        return Err(D::Error::custom(
                            "only an `if` without `else` stands before the end of a chain",
                        ));
                    }
                }
            }
            statement_chain = Some(Box::new(statement));
        }
        Ok(statement_chain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::FileIndex;

    fn simple(id: u32) -> Statement {
        let span = Span { file: FileIndex(0), start: id, end: id + 1 };
        Statement {
            id: Some(StatementId(id)),
            span,
            kind: StatementKind::Simple,
            expansion: Vec::new(),
        }
    }

    fn branch(id: u32, otherwise: Option<Statement>) -> Statement {
        let (then, otherwise) = (Box::new(simple(id + 1)), otherwise.map(Box::new));
        Statement {
            kind: StatementKind::If { decision: DecisionId(id), then, otherwise },
            ..simple(id)
        }
    }

    #[test]
    fn a_chain_is_flat_in_files_and_whole_when_read_back() {
        let long = (0..100).fold(simple(9), |rest, id| branch(10 * id + 10, Some(rest)));
        for statement in [branch(1, None), branch(1, Some(branch(5, None))), long] {
            let text = serde_json::to_string(&statement).unwrap();
            let depth = text.bytes().fold((0_i32, 0), |(now, most), byte| {
                let now = now + i32::from(b"[{".contains(&byte)) - i32::from(b"]}".contains(&byte));
                (now, most.max(now))
            });
            assert!(depth.1 < 12, "{}", depth.1);
            assert_eq!(serde_json::from_str::<Statement>(&text).unwrap(), statement);
        }
        let wrong = serde_json::to_value(branch(1, Some(simple(5)))).unwrap();
        let mut wrong = wrong;
        let list = wrong["kind"]["if"]["otherwise"].as_array_mut().unwrap();
        list.push(list[0].clone());
        assert!(
            serde_json::from_value::<Statement>(wrong).unwrap_err().to_string().contains("chain")
        );
    }
}

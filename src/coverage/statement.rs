//! Which statements one run executed, from its marks and decision outcomes.
//!
//! Knows: the doc of `model::structure`: marks at function entries and switch labels, outcomes of
//! recorded decisions.
//! Promises: exact wherever every decision and label on the way is recorded, as structured control
//! flow (GLSL 4.60, section 6) has no other way in or out: each edge of the flow graph is either
//! forced (after a statement that completes comes the next one) or taken exactly if its outcome or
//! label was recorded. Where one is not recorded the answer may be [`Truth::Unknown`], but what
//! lies behind it still counts as evidence: a recorded outcome inside a branch says that the branch
//! was entered, a recorded decision right at its start without any outcome says that it was not.
//! Relies on: the run completed (records count only for passed tests), so every loop that was
//! entered was also left.
//! Does not cover: calls that do not return; if a terminating statement (`discard` and the like)
//! was or may have been executed in a function other than the entry point, what follows a simple
//! statement is unknown wherever no record shows it.

mod row_entry;

use std::collections::BTreeMap;
use vkcert_model::id::{DecisionId, StatementId, SwitchId};
use vkcert_model::structure::{
    Block, Exit, Function, KernelStructure, LabelKind, MarkIndex, Statement, StatementKind,
};

/// What is known of something that may have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// It did not happen.
    No,
    /// It may have happened or not.
    Unknown,
    /// It happened.
    Yes,
}

impl Truth {
    fn and_also(self, other: Self) -> Self {
        self.min(other)
    }
    fn or_else(self, other: Self) -> Self {
        self.max(other)
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Truth::Yes } else { Truth::No }
    }
}

/// Whether a decision took each of its outcomes in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionOutcomes {
    /// Every evaluation is recorded.
    Recorded {
        /// Whether it was true in an evaluation.
        true_seen: bool,
        /// Whether it was false in an evaluation.
        false_seen: bool,
    },
    /// Nothing is known of it.
    Unrecorded,
}

/// What one run recorded.
pub trait ExecutionEvidence {
    /// What the run recorded of a decision's outcomes.
    fn decision_outcomes(&self, decision: DecisionId) -> DecisionOutcomes;
    /// None where the mark is not recorded.
    fn mark_passed(&self, mark: MarkIndex) -> Option<bool>;
}

/// What one run executed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Execution {
    /// Every statement with an id.
    pub statements: BTreeMap<StatementId, Truth>,
    /// By function (in the order of the structure): entered, and each exit point left through.
    pub points: Vec<(Truth, Vec<Truth>)>,
}

/// Derives what one run executed.
pub(crate) fn derived_execution(
    structure: &KernelStructure,
    evidence: &dyn ExecutionEvidence,
) -> Execution {
    let called_functions =
        structure.functions.iter().filter(|function| function.name != structure.entry);
    let assuming_return = walk_functions(structure, evidence, Truth::Yes);
    let terminating_functions = called_functions
        .filter(|function| {
            terminating_statements(&function.body)
                .iter()
                .any(|id| assuming_return.statements.get(id) != Some(&Truth::No))
        })
        .count();
    // Without a terminator in a called function every call returns, and the first answer stands.
    if terminating_functions == 0 {
        assuming_return
    } else {
        walk_functions(structure, evidence, Truth::Unknown)
    }
}

fn walk_functions(
    structure: &KernelStructure,
    evidence: &dyn ExecutionEvidence,
    calls_return: Truth,
) -> Execution {
    let mut execution_walk =
        ExecutionWalk { structure, evidence, calls_return, statements: BTreeMap::new() };
    let function_points =
        structure.functions.iter().map(|function| execution_walk.walk_function(function)).collect();
    Execution { statements: execution_walk.statements, points: function_points }
}

/// Ids of terminating statements at any depth.
fn terminating_statements(block: &Block) -> Vec<StatementId> {
    let mut terminating_ids = Vec::new();
    visit_block(block, &mut |statement| {
        if let (StatementKind::Terminate, Some(id)) = (&statement.kind, statement.id) {
            terminating_ids.push(id);
        }
    });
    terminating_ids
}

/// Calls `see` on every statement at any depth.
pub(super) fn visit_block(block: &Block, see: &mut dyn FnMut(&Statement)) {
    block.0.iter().for_each(|statement| visit_statement(statement, see));
}

fn visit_statement(statement: &Statement, see: &mut dyn FnMut(&Statement)) {
    see(statement);
    match &statement.kind {
        StatementKind::Block { block } | StatementKind::Switch { body: block, .. } => {
            visit_block(block, see)
        }
        StatementKind::If { then, otherwise, .. } => {
            visit_statement(then, see);
            otherwise.iter().for_each(|otherwise| visit_statement(otherwise, see));
        }
        StatementKind::While { body, .. } | StatementKind::DoWhile { body, .. } => {
            visit_statement(body, see)
        }
        StatementKind::For { init, body, .. } => {
            init.iter().for_each(|init| visit_statement(init, see));
            visit_statement(body, see);
        }
        StatementKind::Empty
        | StatementKind::Simple
        | StatementKind::Label { .. }
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Return
        | StatementKind::Terminate => {}
    }
}

/// How control leaves a statement, supposing that it was reached.
#[derive(Debug, Clone, Copy)]
struct ControlExits {
    completes: Truth,
    breaks: Truth,
    continues: Truth,
}

impl ControlExits {
    const COMPLETES: ControlExits =
        ControlExits { completes: Truth::Yes, breaks: Truth::No, continues: Truth::No };
    const NEVER: ControlExits =
        ControlExits { completes: Truth::No, breaks: Truth::No, continues: Truth::No };

    fn map_exits(self, other: Self, join_truths: impl Fn(Truth, Truth) -> Truth) -> Self {
        Self {
            completes: join_truths(self.completes, other.completes),
            breaks: join_truths(self.breaks, other.breaks),
            continues: join_truths(self.continues, other.continues),
        }
    }
}

/// The two ways out of a decision, supposing that it was reached. At least one of them was taken,
/// recorded or not.
#[derive(Debug, Clone, Copy)]
struct BranchWays {
    when_true: Truth,
    when_false: Truth,
}

impl BranchWays {
    /// Whether something happened, given whether it happens on each way.
    fn join_ways(self, on_true: Truth, on_false: Truth) -> Truth {
        let seen = self.when_true.and_also(on_true).or_else(self.when_false.and_also(on_false));
        let taken = self.when_true != Truth::No || self.when_false != Truth::No;
        // On an unrecorded decision what happens on both ways happened.
        if taken && on_true == Truth::Yes && on_false == Truth::Yes { Truth::Yes } else { seen }
    }
}

struct ExecutionWalk<'a> {
    structure: &'a KernelStructure,
    evidence: &'a dyn ExecutionEvidence,
    calls_return: Truth,
    statements: BTreeMap<StatementId, Truth>,
}

impl ExecutionWalk<'_> {
    fn walk_function(&mut self, function: &Function) -> (Truth, Vec<Truth>) {
        let is_entered = match self.evidence.mark_passed(function.entry_mark) {
            Some(seen) => seen.into(),
            None => self.row_entered(&function.body.0).map_or(Truth::Unknown, Truth::from),
        };
        let control_exits = self.walk_block(&function.body.0, is_entered);
        let exit_truth = |exit: &Exit| match exit {
            Exit::Return { statement } => {
                self.statements.get(statement).copied().unwrap_or(Truth::Unknown)
            }
            Exit::EndOfBody { .. } => is_entered.and_also(control_exits.completes),
        };
        (is_entered, function.exits.iter().map(exit_truth).collect())
    }

    /// Walks statements in a row. `scale` says whether the row was reached at all; the answer
    /// supposes that it was.
    fn walk_block(&mut self, statements: &[Statement], row_reached: Truth) -> ControlExits {
        self.walk_row(statements, row_reached, Truth::Yes)
    }

    /// Walks statements in a row; `here` says whether control comes in at its beginning.
    fn walk_row(
        &mut self,
        statements: &[Statement],
        row_reached: Truth,
        mut is_reached: Truth,
    ) -> ControlExits {
        let mut control_exits = ControlExits::NEVER;
        for (statement_index, statement) in statements.iter().enumerate() {
            if let StatementKind::Label { switch, label } = statement.kind {
                is_reached = self.label_passed(switch, label, is_reached);
            }
            if is_reached == Truth::Unknown {
                is_reached = self
                    .row_entered(&statements[statement_index..])
                    .map_or(Truth::Unknown, Truth::from);
            }
            let of_statement = self.walk_statement(statement, row_reached.and_also(is_reached));
            control_exits.breaks =
                control_exits.breaks.or_else(is_reached.and_also(of_statement.breaks));
            control_exits.continues =
                control_exits.continues.or_else(is_reached.and_also(of_statement.continues));
            is_reached = is_reached.and_also(of_statement.completes);
        }
        control_exits.completes = is_reached;
        control_exits
    }

    /// Whether a label was passed; `above` says whether control fell into it.
    fn label_passed(&self, switch: SwitchId, label: u32, fell_through: Truth) -> Truth {
        match self.label_mark(switch, label) {
            Some(seen) => seen.into(),
            None => fell_through.or_else(Truth::Unknown),
        }
    }

    fn label_mark(&self, switch: SwitchId, label: u32) -> Option<bool> {
        self.evidence.mark_passed(self.structure.switch(switch).labels.get(label as usize)?.mark?)
    }

    /// Walks a statement; `reached` says whether it was executed, the answer supposes that it was.
    fn walk_statement(&mut self, statement: &Statement, reached: Truth) -> ControlExits {
        if let Some(id) = statement.id {
            self.statements.insert(id, reached);
        }
        match &statement.kind {
            StatementKind::Empty | StatementKind::Label { .. } => ControlExits::COMPLETES,
            StatementKind::Simple => {
                ControlExits { completes: self.calls_return, ..ControlExits::COMPLETES }
            }
            StatementKind::Break => ControlExits { breaks: Truth::Yes, ..ControlExits::NEVER },
            StatementKind::Continue => {
                ControlExits { continues: Truth::Yes, ..ControlExits::NEVER }
            }
            StatementKind::Return | StatementKind::Terminate => ControlExits::NEVER,
            StatementKind::Block { block } => self.walk_block(&block.0, reached),
            StatementKind::If { decision, then, otherwise } => {
                self.walk_branch(*decision, then, otherwise.as_deref(), reached)
            }
            StatementKind::While { decision, body } => {
                self.walk_head_loop(Some(*decision), body, reached)
            }
            StatementKind::For { init, decision, body } => {
                if let Some(init) = init {
                    self.walk_statement(init, reached);
                }
                self.walk_head_loop(*decision, body, reached)
            }
            StatementKind::DoWhile { body, decision } => {
                self.walk_do_while(*decision, body, reached)
            }
            StatementKind::Switch { switch, body } => self.walk_switch(*switch, body, reached),
        }
    }

    fn walk_branch(
        &mut self,
        decision: DecisionId,
        then: &Statement,
        otherwise: Option<&Statement>,
        reached: Truth,
    ) -> ControlExits {
        let branch_edges = self.branch_ways(decision, Some(then), otherwise);
        let on_true = self.walk_statement(then, reached.and_also(branch_edges.when_true));
        let on_false = match otherwise {
            Some(otherwise) => {
                self.walk_statement(otherwise, reached.and_also(branch_edges.when_false))
            }
            None => ControlExits::COMPLETES,
        };
        on_true.map_exits(on_false, |on_true, on_false| branch_edges.join_ways(on_true, on_false))
    }

    /// `while` and `for`: the decision stands before the body; none is always true.
    fn walk_head_loop(
        &mut self,
        decision: Option<DecisionId>,
        body: &Statement,
        reached: Truth,
    ) -> ControlExits {
        let branch_edges = match decision {
            Some(decision) => self.branch_ways(decision, Some(body), None),
            None => BranchWays { when_true: Truth::Yes, when_false: Truth::No },
        };
        let body_exits = self.walk_statement(body, reached.and_also(branch_edges.when_true));
        let is_left =
            branch_edges.when_false.or_else(branch_edges.when_true.and_also(body_exits.breaks));
        ControlExits { completes: self.loop_left(is_left, body), ..ControlExits::NEVER }
    }

    fn walk_do_while(
        &mut self,
        decision: DecisionId,
        body: &Statement,
        reached: Truth,
    ) -> ControlExits {
        let body_exits = self.walk_statement(body, reached);
        let is_left = match self.evidence.decision_outcomes(decision) {
            DecisionOutcomes::Recorded { false_seen, .. } => {
                body_exits.breaks.or_else(false_seen.into())
            }
            DecisionOutcomes::Unrecorded => body_exits.breaks.or_else(
                body_exits.completes.or_else(body_exits.continues).and_also(Truth::Unknown),
            ),
        };
        ControlExits { completes: self.loop_left(is_left, body), ..ControlExits::NEVER }
    }

    /// A loop that was reached was also left; where nothing in its body leaves the function,
    /// control goes on behind it.
    fn loop_left(&self, is_left: Truth, body: &Statement) -> Truth {
        if is_left != Truth::Unknown {
            return is_left;
        }
        let mut may_depart = self.calls_return != Truth::Yes;
        visit_statement(body, &mut |statement| {
            may_depart |=
                matches!(statement.kind, StatementKind::Return | StatementKind::Terminate);
        });
        if may_depart { Truth::Unknown } else { Truth::Yes }
    }

    fn walk_switch(&mut self, switch: SwitchId, body: &Block, reached: Truth) -> ControlExits {
        let switch_labels = &self.structure.switch(switch).labels;
        let skips_labels = match switch_labels
            .iter()
            .position(|label| label.kind != LabelKind::Case)
        {
            // Skipping every label goes unseen where the marked text could not be given a
            // `default`.
            None => Truth::Unknown,
            Some(label) => match switch_labels[label].kind {
                LabelKind::ImplicitDefault => self.label_passed(switch, label as u32, Truth::No),
                LabelKind::Default | LabelKind::Case => Truth::No,
            },
        };
        let body_exits = self.walk_switch_body(&body.0, reached);
        let is_left = body_exits.completes.or_else(body_exits.breaks).or_else(skips_labels);
        let completes = if is_left == Truth::Unknown { self.switch_left(body) } else { is_left };
        ControlExits { completes, breaks: Truth::No, continues: body_exits.continues }
    }

    /// Nothing before the first label is executed.
    fn walk_switch_body(&mut self, statements: &[Statement], reached: Truth) -> ControlExits {
        let first_label = statements
            .iter()
            .position(|statement| matches!(statement.kind, StatementKind::Label { .. }));
        let first_label = first_label.unwrap_or(statements.len());
        for statement in &statements[..first_label] {
            self.walk_statement(statement, Truth::No);
        }
        if first_label == statements.len() {
            return ControlExits::NEVER;
        }
        self.walk_row(&statements[first_label..], reached, Truth::No)
    }

    /// A switch that was reached and holds no way out but its end is left through its end.
    fn switch_left(&self, body: &Block) -> Truth {
        let mut may_depart = self.calls_return != Truth::Yes;
        visit_block(body, &mut |statement| {
            let leaves_function = matches!(
                statement.kind,
                StatementKind::Return | StatementKind::Terminate | StatementKind::Continue
            );
            may_depart |= leaves_function;
        });
        if may_depart { Truth::Unknown } else { Truth::Yes }
    }

    fn way_entered(&self, way: Option<&Statement>) -> Truth {
        let is_entered = way.and_then(|way| self.row_entered(std::slice::from_ref(way)));
        is_entered.map_or(Truth::Unknown, Truth::from)
    }

    /// The ways out of a decision that was reached; where it is not recorded, what lies on them is
    /// asked.
    fn branch_ways(
        &self,
        decision: DecisionId,
        on_true: Option<&Statement>,
        on_false: Option<&Statement>,
    ) -> BranchWays {
        match self.evidence.decision_outcomes(decision) {
            DecisionOutcomes::Recorded { true_seen, false_seen } => {
                BranchWays { when_true: true_seen.into(), when_false: false_seen.into() }
            }
            DecisionOutcomes::Unrecorded => {
                let (when_true, when_false) =
                    (self.way_entered(on_true), self.way_entered(on_false));
                // One way was taken; if it was not this one, it was the other.
                BranchWays {
                    when_true: forced_way(when_true, when_false),
                    when_false: forced_way(when_false, when_true),
                }
            }
        }
    }
}

/// One of two ways was taken; if it was not the other, it was this one.
fn forced_way(way: Truth, other_way: Truth) -> Truth {
    if other_way == Truth::No { Truth::Yes } else { way }
}

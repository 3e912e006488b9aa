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

use std::collections::BTreeMap;
use vkcert_model::id::{DecisionId, StatementId, SwitchId};
use vkcert_model::structure::{
    Block, Exit, Function, KernelStructure, LabelKind, MarkIndex, Statement, StatementKind,
};

/// What is known of something that may have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    No,
    Unknown,
    Yes,
}

impl Truth {
    fn and(self, other: Self) -> Self {
        self.min(other)
    }
    fn or(self, other: Self) -> Self {
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
pub enum Taken {
    /// Every evaluation is recorded.
    Recorded { true_seen: bool, false_seen: bool },
    /// Nothing is known of it.
    Unrecorded,
}

/// What one run recorded.
pub trait Evidence {
    fn decision(&self, decision: DecisionId) -> Taken;
    /// None where the mark is not recorded.
    fn mark(&self, mark: MarkIndex) -> Option<bool>;
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
pub fn execution(structure: &KernelStructure, evidence: &dyn Evidence) -> Execution {
    let calls = structure.functions.iter().filter(|function| function.name != structure.entry);
    let assumed = walk(structure, evidence, Truth::Yes);
    let ended = calls
        .filter(|function| {
            terminators(&function.body)
                .iter()
                .any(|id| assumed.statements.get(id) != Some(&Truth::No))
        })
        .count();
    // Without a terminator in a called function every call returns, and the first answer stands.
    if ended == 0 { assumed } else { walk(structure, evidence, Truth::Unknown) }
}

fn walk(structure: &KernelStructure, evidence: &dyn Evidence, calls_return: Truth) -> Execution {
    let mut walk = Walk { structure, evidence, calls_return, statements: BTreeMap::new() };
    let points = structure.functions.iter().map(|function| walk.function(function)).collect();
    Execution { statements: walk.statements, points }
}

/// Ids of terminating statements at any depth.
fn terminators(block: &Block) -> Vec<StatementId> {
    let mut found = Vec::new();
    visit(block, &mut |statement| {
        if let (StatementKind::Terminate, Some(id)) = (&statement.kind, statement.id) {
            found.push(id);
        }
    });
    found
}

/// Calls `see` on every statement at any depth.
pub(super) fn visit(block: &Block, see: &mut dyn FnMut(&Statement)) {
    block.0.iter().for_each(|statement| visit_statement(statement, see));
}

fn visit_statement(statement: &Statement, see: &mut dyn FnMut(&Statement)) {
    see(statement);
    match &statement.kind {
        StatementKind::Block { block } | StatementKind::Switch { body: block, .. } => {
            visit(block, see)
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
struct Leaves {
    completes: Truth,
    breaks: Truth,
    continues: Truth,
}

impl Leaves {
    const COMPLETES: Leaves =
        Leaves { completes: Truth::Yes, breaks: Truth::No, continues: Truth::No };
    const NEVER: Leaves = Leaves { completes: Truth::No, breaks: Truth::No, continues: Truth::No };

    fn map(self, other: Self, join: impl Fn(Truth, Truth) -> Truth) -> Self {
        Self {
            completes: join(self.completes, other.completes),
            breaks: join(self.breaks, other.breaks),
            continues: join(self.continues, other.continues),
        }
    }
}

/// The two ways out of a decision, supposing that it was reached. At least one of them was taken,
/// recorded or not.
#[derive(Debug, Clone, Copy)]
struct Ways {
    when_true: Truth,
    when_false: Truth,
}

impl Ways {
    /// Whether something happened, given whether it happens on each way.
    fn join(self, on_true: Truth, on_false: Truth) -> Truth {
        let seen = self.when_true.and(on_true).or(self.when_false.and(on_false));
        let taken = self.when_true != Truth::No || self.when_false != Truth::No;
        // On an unrecorded decision what happens on both ways happened.
        if taken && on_true == Truth::Yes && on_false == Truth::Yes { Truth::Yes } else { seen }
    }
}

struct Walk<'a> {
    structure: &'a KernelStructure,
    evidence: &'a dyn Evidence,
    calls_return: Truth,
    statements: BTreeMap<StatementId, Truth>,
}

impl Walk<'_> {
    fn function(&mut self, function: &Function) -> (Truth, Vec<Truth>) {
        let entered = match self.evidence.mark(function.entry_mark) {
            Some(seen) => seen.into(),
            None => self.entered(&function.body.0).map_or(Truth::Unknown, Truth::from),
        };
        let leaves = self.block(&function.body.0, entered);
        let exit = |exit: &Exit| match exit {
            Exit::Return { statement } => {
                self.statements.get(statement).copied().unwrap_or(Truth::Unknown)
            }
            Exit::EndOfBody { .. } => entered.and(leaves.completes),
        };
        (entered, function.exits.iter().map(exit).collect())
    }

    /// Walks statements in a row. `scale` says whether the row was reached at all; the answer
    /// supposes that it was.
    fn block(&mut self, statements: &[Statement], scale: Truth) -> Leaves {
        self.row(statements, scale, Truth::Yes)
    }

    /// Walks statements in a row; `here` says whether control comes in at its beginning.
    fn row(&mut self, statements: &[Statement], scale: Truth, mut here: Truth) -> Leaves {
        let mut leaves = Leaves::NEVER;
        for (index, statement) in statements.iter().enumerate() {
            if let StatementKind::Label { switch, label } = statement.kind {
                here = self.label(switch, label, here);
            }
            if here == Truth::Unknown {
                here = self.entered(&statements[index..]).map_or(Truth::Unknown, Truth::from);
            }
            let of_statement = self.statement(statement, scale.and(here));
            leaves.breaks = leaves.breaks.or(here.and(of_statement.breaks));
            leaves.continues = leaves.continues.or(here.and(of_statement.continues));
            here = here.and(of_statement.completes);
        }
        leaves.completes = here;
        leaves
    }

    /// Whether a label was passed; `above` says whether control fell into it.
    fn label(&self, switch: SwitchId, label: u32, above: Truth) -> Truth {
        match self.label_mark(switch, label) {
            Some(seen) => seen.into(),
            None => above.or(Truth::Unknown),
        }
    }

    fn label_mark(&self, switch: SwitchId, label: u32) -> Option<bool> {
        self.evidence.mark(self.structure.switch(switch).labels.get(label as usize)?.mark?)
    }

    /// Walks a statement; `reached` says whether it was executed, the answer supposes that it was.
    fn statement(&mut self, statement: &Statement, reached: Truth) -> Leaves {
        if let Some(id) = statement.id {
            self.statements.insert(id, reached);
        }
        match &statement.kind {
            StatementKind::Empty | StatementKind::Label { .. } => Leaves::COMPLETES,
            StatementKind::Simple => Leaves { completes: self.calls_return, ..Leaves::COMPLETES },
            StatementKind::Break => Leaves { breaks: Truth::Yes, ..Leaves::NEVER },
            StatementKind::Continue => Leaves { continues: Truth::Yes, ..Leaves::NEVER },
            StatementKind::Return | StatementKind::Terminate => Leaves::NEVER,
            StatementKind::Block { block } => self.block(&block.0, reached),
            StatementKind::If { decision, then, otherwise } => {
                self.branch(*decision, then, otherwise.as_deref(), reached)
            }
            StatementKind::While { decision, body } => {
                self.head_loop(Some(*decision), body, reached)
            }
            StatementKind::For { init, decision, body } => {
                if let Some(init) = init {
                    self.statement(init, reached);
                }
                self.head_loop(*decision, body, reached)
            }
            StatementKind::DoWhile { body, decision } => self.do_while(*decision, body, reached),
            StatementKind::Switch { switch, body } => self.switch(*switch, body, reached),
        }
    }

    fn branch(
        &mut self,
        decision: DecisionId,
        then: &Statement,
        otherwise: Option<&Statement>,
        reached: Truth,
    ) -> Leaves {
        let ways = self.ways(decision, Some(then), otherwise);
        let on_true = self.statement(then, reached.and(ways.when_true));
        let on_false = match otherwise {
            Some(otherwise) => self.statement(otherwise, reached.and(ways.when_false)),
            None => Leaves::COMPLETES,
        };
        on_true.map(on_false, |on_true, on_false| ways.join(on_true, on_false))
    }

    /// `while` and `for`: the decision stands before the body; none is always true.
    fn head_loop(
        &mut self,
        decision: Option<DecisionId>,
        body: &Statement,
        reached: Truth,
    ) -> Leaves {
        let ways = match decision {
            Some(decision) => self.ways(decision, Some(body), None),
            None => Ways { when_true: Truth::Yes, when_false: Truth::No },
        };
        let inside = self.statement(body, reached.and(ways.when_true));
        let left = ways.when_false.or(ways.when_true.and(inside.breaks));
        Leaves { completes: self.left(left, body, ways), ..Leaves::NEVER }
    }

    fn do_while(&mut self, decision: DecisionId, body: &Statement, reached: Truth) -> Leaves {
        let inside = self.statement(body, reached);
        let left = match self.evidence.decision(decision) {
            Taken::Recorded { false_seen, .. } => inside.breaks.or(false_seen.into()),
            Taken::Unrecorded => {
                inside.breaks.or(inside.completes.or(inside.continues).and(Truth::Unknown))
            }
        };
        let entered = Ways { when_true: Truth::Yes, when_false: Truth::No };
        Leaves { completes: self.left(left, body, entered), ..Leaves::NEVER }
    }

    /// A loop that was reached was also left; where nothing in its body leaves the function,
    /// control goes on behind it.
    fn left(&self, left: Truth, body: &Statement, ways: Ways) -> Truth {
        if left != Truth::Unknown || (ways.when_true == Truth::No && ways.when_false == Truth::No) {
            return left;
        }
        let mut departs = self.calls_return != Truth::Yes;
        visit_statement(body, &mut |statement| {
            departs |= matches!(statement.kind, StatementKind::Return | StatementKind::Terminate);
        });
        if departs { Truth::Unknown } else { Truth::Yes }
    }

    fn switch(&mut self, switch: SwitchId, body: &Block, reached: Truth) -> Leaves {
        let labels = &self.structure.switch(switch).labels;
        let skips = match labels.iter().position(|label| label.kind != LabelKind::Case) {
            // Skipping every label goes unseen where the marked text could not be given a
            // `default`.
            None => Truth::Unknown,
            Some(label) => match labels[label].kind {
                LabelKind::ImplicitDefault => self.label(switch, label as u32, Truth::No),
                LabelKind::Default | LabelKind::Case => Truth::No,
            },
        };
        let inside = self.switch_body(&body.0, reached);
        let leaves = inside.completes.or(inside.breaks).or(skips);
        let completes = if leaves == Truth::Unknown { self.switch_left(body) } else { leaves };
        Leaves { completes, breaks: Truth::No, continues: inside.continues }
    }

    /// Nothing before the first label is executed.
    fn switch_body(&mut self, statements: &[Statement], reached: Truth) -> Leaves {
        let first = statements
            .iter()
            .position(|statement| matches!(statement.kind, StatementKind::Label { .. }));
        let first = first.unwrap_or(statements.len());
        for statement in &statements[..first] {
            self.statement(statement, Truth::No);
        }
        if first == statements.len() {
            return Leaves::NEVER;
        }
        self.row(&statements[first..], reached, Truth::No)
    }

    /// A switch that was reached and holds no way out but its end is left through its end.
    fn switch_left(&self, body: &Block) -> Truth {
        let mut departs = self.calls_return != Truth::Yes;
        visit(body, &mut |statement| {
            let leaving = matches!(
                statement.kind,
                StatementKind::Return | StatementKind::Terminate | StatementKind::Continue
            );
            departs |= leaving;
        });
        if departs { Truth::Unknown } else { Truth::Yes }
    }

    /// The ways out of a decision that was reached; where it is not recorded, what lies on them is
    /// asked.
    fn ways(
        &self,
        decision: DecisionId,
        on_true: Option<&Statement>,
        on_false: Option<&Statement>,
    ) -> Ways {
        match self.evidence.decision(decision) {
            Taken::Recorded { true_seen, false_seen } => {
                Ways { when_true: true_seen.into(), when_false: false_seen.into() }
            }
            Taken::Unrecorded => {
                let entered = |way: Option<&Statement>| {
                    let entered = way.and_then(|way| self.entered(std::slice::from_ref(way)));
                    entered.map_or(Truth::Unknown, Truth::from)
                };
                let (when_true, when_false) = (entered(on_true), entered(on_false));
                // One way was taken; if it was not this one, it was the other.
                let forced =
                    |way: Truth, other: Truth| if other == Truth::No { Truth::Yes } else { way };
                Ways {
                    when_true: forced(when_true, when_false),
                    when_false: forced(when_false, when_true),
                }
            }
        }
    }

    /// Whether a row of statements was entered at its beginning, as far as records inside tell.
    fn entered(&self, statements: &[Statement]) -> Option<bool> {
        let mut straight = true;
        for (index, statement) in statements.iter().enumerate() {
            if index > 0 && matches!(statement.kind, StatementKind::Label { .. }) {
                return None;
            }
            if self.seen(statement) {
                return Some(true);
            }
            straight &=
                self.calls_return == Truth::Yes || !matches!(statement.kind, StatementKind::Simple);
            match self.at_head(statement) {
                Head::Unseen if straight => return Some(false),
                Head::Plain => {}
                Head::Unseen | Head::Unknown => straight = false,
            }
        }
        None
    }

    /// Whether any record inside a statement is set.
    fn seen(&self, statement: &Statement) -> bool {
        let mut seen = false;
        let taken = |decision: &DecisionId| match self.evidence.decision(*decision) {
            Taken::Recorded { true_seen, false_seen } => true_seen || false_seen,
            Taken::Unrecorded => false,
        };
        visit_statement(statement, &mut |inner| {
            seen |= match &inner.kind {
                StatementKind::If { decision, .. }
                | StatementKind::While { decision, .. }
                | StatementKind::DoWhile { decision, .. } => taken(decision),
                StatementKind::For { decision, .. } => decision.as_ref().is_some_and(taken),
                StatementKind::Label { switch, label } => {
                    self.label_mark(*switch, *label) == Some(true)
                }
                StatementKind::Switch { switch, .. } => {
                    let labels = 0..self.structure.switch(*switch).labels.len() as u32;
                    labels.into_iter().any(|label| self.label_mark(*switch, label) == Some(true))
                }
                StatementKind::Block { .. }
                | StatementKind::Empty
                | StatementKind::Simple
                | StatementKind::Break
                | StatementKind::Continue
                | StatementKind::Return
                | StatementKind::Terminate => false,
            }
        });
        seen
    }

    /// What a statement without any set record says about whether it was executed.
    fn at_head(&self, statement: &Statement) -> Head {
        let recorded = |decision: &DecisionId| match self.evidence.decision(*decision) {
            Taken::Recorded { .. } => Head::Unseen,
            Taken::Unrecorded => Head::Unknown,
        };
        match &statement.kind {
            StatementKind::Empty | StatementKind::Simple => Head::Plain,
            StatementKind::If { decision, .. } | StatementKind::While { decision, .. } => {
                recorded(decision)
            }
            StatementKind::For { decision, .. } => {
                decision.as_ref().map_or(Head::Unknown, recorded)
            }
            StatementKind::Block { block } => match self.entered(&block.0) {
                Some(_) => Head::Unseen,
                None if block.0.iter().all(|inner| matches!(self.at_head(inner), Head::Plain)) => {
                    Head::Plain
                }
                None => Head::Unknown,
            },
            StatementKind::Switch { switch, .. } => {
                let labels = &self.structure.switch(*switch).labels;
                let whole = labels.iter().any(|label| label.kind != LabelKind::Case);
                let marked =
                    (0..labels.len() as u32).all(|label| self.label_mark(*switch, label).is_some());
                if whole && marked { Head::Unseen } else { Head::Unknown }
            }
            StatementKind::Label { switch, label } => match self.label_mark(*switch, *label) {
                Some(_) => Head::Unseen,
                None => Head::Unknown,
            },
            StatementKind::DoWhile { .. }
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return
            | StatementKind::Terminate => Head::Unknown,
        }
    }
}

/// What the beginning of a statement tells when none of its records is set.
enum Head {
    /// It would have set a record, had it been executed.
    Unseen,
    /// It sets none and always completes.
    Plain,
    Unknown,
}

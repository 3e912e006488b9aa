//! Loops whose iterations are counted, for loop boundary coverage.
//!
//! Knows: how control leaves a loop: by its condition, by its `break`, by a `return` in its body.
//! Promises: on each of these ways the marked text says in which case the loop was; blocks that it
//! opens are closed behind the same tokens, inner before outer.
//! Does not cover: the text of the markers (`marking`).

use super::Outliner;
use crate::marking::{LeftCase, PlacementRole};
use crate::syntax::{Statement as SyntaxStatement, StatementKind as Parsed, TokenIndex};
use vkcert_model::id::LoopId;
use vkcert_model::structure::{
    CaseMark, Loop, LoopCase, LoopKind, MarkIndex, Statement, StatementKind,
};

/// Loops that are counted.
#[derive(Debug, Default)]
pub(super) struct CountedLoops {
    pub loops: Vec<Loop>,
    /// Those around the statement that is being read, outer before inner.
    open: Vec<OpenLoop>,
    /// What a `break` leaves, where it is such a loop.
    break_target: Option<LoopId>,
}

/// A loop that is being read.
#[derive(Debug, Clone)]
pub(super) struct OpenLoop {
    id: LoopId,
    once: MarkIndex,
    more: MarkIndex,
}

/// What a `break` left before a loop or switch began.
#[derive(Debug, Clone, Copy)]
pub(super) struct OuterTarget(Option<LoopId>);

/// None of what is no loop.
fn kind_of(statement: &SyntaxStatement) -> Option<LoopKind> {
    match &statement.kind {
        Parsed::DoWhile { .. } => Some(LoopKind::Tail),
        Parsed::For { condition: None, .. } => Some(LoopKind::Endless),
        Parsed::For { condition: Some(_), .. } | Parsed::While { .. } => Some(LoopKind::Head),
        Parsed::Block(_)
        | Parsed::Empty
        | Parsed::Expression(_)
        | Parsed::Declaration(_)
        | Parsed::If { .. }
        | Parsed::Switch { .. }
        | Parsed::Case(_)
        | Parsed::Default
        | Parsed::Break
        | Parsed::Continue
        | Parsed::Return(_)
        | Parsed::Terminate => None,
    }
}

impl Outliner<'_> {
    /// Begins a loop; none where loops are not counted.
    pub(super) fn open_loop(&mut self, statement: &SyntaxStatement) -> Option<LoopId> {
        let id = LoopId(self.counted_loops.as_ref()?.loops.len() as u32 + 1);
        let kind = kind_of(statement)?;
        let cases = LoopCase::ALL.into_iter().filter(|case| kind.refusal(*case).is_none());
        let marks: Vec<CaseMark> =
            cases.map(|case| CaseMark { case, mark: self.decisions.next_mark() }).collect();
        let mark_of = |wanted: LoopCase| marks.iter().find(|row| row.case == wanted);
        let (once, more) = (mark_of(LoopCase::Once)?.mark, mark_of(LoopCase::More)?.mark);
        let located_header = self.decisions.locate_tokens(statement.header.0, statement.header.1);
        let function = self.decisions.function;
        self.place_marker(
            self.before_attributes(statement.first),
            PlacementRole::LoopOpen { counted: id },
        );
        let counted_loops = self.counted_loops.as_mut()?;
        counted_loops.open.push(OpenLoop { id, once, more });
        counted_loops.loops.push(Loop {
            id,
            function,
            statement: None,
            span: located_header.span,
            kind,
            decision: None,
            marks,
            expansion: located_header.expansion,
        });
        Some(id)
    }

    /// Reads the body of a loop, whose iterations are counted where it is `counted`.
    pub(super) fn loop_body(
        &mut self,
        counted: Option<LoopId>,
        body: &SyntaxStatement,
    ) -> Box<Statement> {
        let outer_target = self.begin_break_target(counted);
        let open_loop = self.counted_loops.as_ref().and_then(|loops| loops.open.last()).cloned();
        if let Some(OpenLoop { id, more, .. }) = open_loop {
            let role = PlacementRole::LoopIteration { counted: id, mark: more };
            self.place_marker(self.before_attributes(body.first), role);
        }
        let body_node = self.scoped_statement(body);
        if let Some(counted) = counted {
            self.place_marker(body.last, PlacementRole::LoopClose { counted });
        }
        self.end_break_target(outer_target);
        body_node
    }

    /// Ends a loop that became `loop_node` of the structure.
    pub(super) fn close_loop(
        &mut self,
        counted: LoopId,
        statement: &SyntaxStatement,
        loop_node: &Statement,
    ) {
        let Some(counted_loops) = &mut self.counted_loops else { return };
        counted_loops.open.pop();
        let Some(row) = counted_loops.loops.get_mut(counted.0 as usize - 1) else { return };
        row.statement = loop_node.id;
        row.decision = match &loop_node.kind {
            StatementKind::While { decision, .. } | StatementKind::DoWhile { decision, .. } => {
                Some(*decision)
            }
            StatementKind::For { decision, .. } => *decision,
            StatementKind::Block { .. }
            | StatementKind::Empty
            | StatementKind::Simple
            | StatementKind::If { .. }
            | StatementKind::Switch { .. }
            | StatementKind::Label { .. }
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return
            | StatementKind::Terminate => None,
        };
        for CaseMark { case, mark } in row.marks.clone() {
            let case = match case {
                LoopCase::Zero => LeftCase::Zero,
                LoopCase::Once => LeftCase::Once,
                LoopCase::Boundary => LeftCase::Boundary,
                LoopCase::More => continue,
            };
            self.place_marker(statement.last, PlacementRole::LoopLeft { counted, case, mark });
        }
        self.place_marker(statement.last, PlacementRole::LoopClose { counted });
    }

    /// Says before a `break` that the condition of its loop did not end it.
    pub(super) fn mark_break(&mut self, statement: &SyntaxStatement) {
        let target = self.counted_loops.as_ref().and_then(|counted| counted.break_target);
        if let Some(counted) = target {
            self.place_marker(statement.first, PlacementRole::LoopBreak { counted });
            self.place_marker(statement.last, PlacementRole::LoopClose { counted });
        }
    }

    /// Says before a `return` which of the loops around it are in their first iteration.
    pub(super) fn open_loop_returns(&mut self, statement: &SyntaxStatement) -> Vec<LoopId> {
        let open_loops = self.counted_loops.as_ref().map(|counted| counted.open.clone());
        let mut left_loops = Vec::new();
        for OpenLoop { id, once, .. } in open_loops.into_iter().flatten() {
            let role = PlacementRole::LoopReturn { counted: id, mark: once };
            self.place_marker(statement.first, role);
            left_loops.push(id);
        }
        left_loops
    }

    pub(super) fn close_loop_returns(&mut self, statement: &SyntaxStatement, loops: &[LoopId]) {
        for counted in loops {
            self.place_marker(statement.last, PlacementRole::LoopClose { counted: *counted });
        }
    }

    /// Begins a loop, or with none a switch or a loop that is not counted.
    pub(super) fn begin_break_target(&mut self, counted: Option<LoopId>) -> OuterTarget {
        let target = self.counted_loops.as_mut().map(|loops| &mut loops.break_target);
        OuterTarget(target.and_then(|target| std::mem::replace(target, counted)))
    }

    pub(super) fn end_break_target(&mut self, outer_target: OuterTarget) {
        if let Some(counted_loops) = &mut self.counted_loops {
            counted_loops.break_target = outer_target.0;
        }
    }

    /// A loop of text that could not be read: every case is an obligation, none has a mark.
    pub(super) fn add_unread_loop(&mut self, first: TokenIndex, kind: LoopKind) {
        let located_word = self.decisions.locate_tokens(first, first);
        let function = self.decisions.function;
        let Some(counted_loops) = &mut self.counted_loops else { return };
        counted_loops.loops.push(Loop {
            id: LoopId(counted_loops.loops.len() as u32 + 1),
            function,
            statement: None,
            span: located_word.span,
            kind,
            decision: None,
            marks: Vec::new(),
            expansion: located_word.expansion,
        });
    }

    /// The first token of `[[...]]` before a statement, which belongs to it; else its own.
    fn before_attributes(&self, first: TokenIndex) -> TokenIndex {
        let text_at = |index: TokenIndex| &*self.tokens[index].text;
        let mut start = first;
        while start >= 2 && text_at(start - 1) == "]" && text_at(start - 2) == "]" {
            let mut brackets = self.tokens[..start - 1].iter();
            let opening = brackets.rposition(|token| &*token.text == "[");
            match opening.and_then(|opening| opening.checked_sub(1)) {
                Some(opening) if text_at(opening) == "[" => start = opening,
                Some(_) | None => return start,
            }
        }
        start
    }
}

//! Obligations made of what is known of them.

use super::super::resolution::RuledOut;
use super::super::statement::{Execution, Truth};
use super::assessment::Assessment;
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::id::{ObligationId, TestId};
use vkcert_model::place::Span;

/// What is known of an obligation.
pub(super) struct State {
    pub status: Status,
    pub reason: Option<String>,
    pub tests: Vec<TestId>,
    pub ruled_out: Option<RuledOut>,
}

impl State {
    pub(super) fn open(status: Status, reason: Option<String>) -> Self {
        Self { status, reason, tests: Vec::new(), ruled_out: None }
    }

    /// What is ruled out is an uncovered obligation, and why is then the reason.
    pub(super) fn settled(mut self) -> Self {
        self.ruled_out = self.ruled_out.filter(|_| self.status == Status::Uncovered);
        self.reason =
            self.ruled_out.as_ref().map(|ruled_out| ruled_out.reason.clone()).or(self.reason);
        self
    }
}

impl Assessment<'_> {
    /// An obligation from what each test says of it.
    pub(super) fn simple(
        &self,
        id: String,
        (span, text): (Span, String),
        found: impl Fn(&Execution) -> Truth,
        ruled_out: Option<RuledOut>,
    ) -> SimpleObligation {
        let truths: Vec<Truth> = self.executions.iter().map(found).collect();
        let with = |wanted: Truth| {
            let tests = self.tests.iter().zip(&truths).filter(move |(_, truth)| **truth == wanted);
            tests.map(|((test, _), _)| test.clone()).collect::<Vec<_>>()
        };
        let tests = with(Truth::Yes);
        let status = match (tests.is_empty(), with(Truth::Unknown).is_empty()) {
            (false, _) => Status::Covered,
            (true, false) => Status::Undetermined,
            (true, true) => Status::Uncovered,
        };
        let reason = (status == Status::Undetermined)
            .then(|| "a decision or label on the way to it is not recorded".to_owned());
        self.obligation(id, (span, text), State { status, reason, tests, ruled_out })
    }

    pub(super) fn obligation(
        &self,
        id: String,
        (span, text): (Span, String),
        state: State,
    ) -> SimpleObligation {
        let (file, position) = self.place(span);
        let State { status, reason, tests, ruled_out } = state.settled();
        SimpleObligation {
            id: ObligationId(id),
            file,
            line: position.line,
            column: position.column,
            text,
            status,
            reason,
            tests,
            uncounted: Vec::new(),
            object: None,
            proposal: ruled_out.and_then(|ruled_out| ruled_out.proposal()),
        }
    }
}

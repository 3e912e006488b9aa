//! Obligations made of what is known of them.

use super::super::resolution::RuledOut;
use super::super::statement::{Execution, Truth};
use super::assessment::Assessment;
use vkcert_model::coverage::{Proposal, SimpleObligation, Status};
use vkcert_model::id::{ObligationId, TestId};
use vkcert_model::place::Span;

/// What is known of an obligation.
pub(super) struct ObligationState {
    pub status: Status,
    pub reason: Option<String>,
    pub tests: Vec<TestId>,
    pub ruled_out: Option<RuledOut>,
}

/// What is known of an obligation, with what a justification could say of it.
pub(super) struct RuledObligation {
    pub status: Status,
    pub reason: Option<String>,
    pub tests: Vec<TestId>,
    pub proposal: Option<Proposal>,
}

impl ObligationState {
    pub(super) fn without_tests(status: Status, reason: Option<String>) -> Self {
        Self { status, reason, tests: Vec::new(), ruled_out: None }
    }

    /// What is ruled out is an uncovered obligation, and why is then the reason. What is ruled out
    /// and recorded all the same is undetermined, because records that contradict what is fixed
    /// show nothing.
    pub(super) fn with_ruling(self) -> RuledObligation {
        let Self { status, reason, tests, ruled_out } = self;
        match (ruled_out, status) {
            (Some(ruled_out), Status::Uncovered) => {
                let (ruling_reason, proposal) = ruled_out.reason_and_proposal();
                RuledObligation { status, reason: Some(ruling_reason), tests, proposal }
            }
            (Some(_), Status::Covered) => {
                let tests_in_words: Vec<String> = tests.iter().map(TestId::to_string).collect();
                let contradiction = format!(
                    "internal error: the records of {} cannot be: control cannot come to it",
                    tests_in_words.join(", ")
                );
                RuledObligation {
                    status: Status::Undetermined,
                    reason: Some(contradiction),
                    tests: Vec::new(),
                    proposal: None,
                }
            }
            (Some(_), Status::Undetermined | Status::Justified) | (None, _) => {
                RuledObligation { status, reason, tests, proposal: None }
            }
        }
    }
}

impl Assessment<'_> {
    /// An obligation from what each test says of it.
    pub(super) fn executed_obligation(
        &self,
        obligation_id: String,
        (span, text): (Span, String),
        truth_in: impl Fn(&Execution) -> Truth,
        ruled_out: Option<RuledOut>,
    ) -> SimpleObligation {
        let test_truths: Vec<Truth> = self.executions.iter().map(truth_in).collect();
        let tests_with = |wanted_truth: Truth| {
            let tests = self
                .tests
                .iter()
                .zip(&test_truths)
                .filter(move |(_, truth)| **truth == wanted_truth);
            tests.map(|((test, _), _)| *test).collect::<Vec<_>>()
        };
        let tests = tests_with(Truth::Yes);
        let status = match (tests.is_empty(), tests_with(Truth::Unknown).is_empty()) {
            (false, _) => Status::Covered,
            (true, false) => Status::Undetermined,
            (true, true) => Status::Uncovered,
        };
        let reason = (status == Status::Undetermined)
            .then(|| "a decision or label on the way to it is not recorded".to_owned());
        self.obligation_of(
            obligation_id,
            (span, text),
            ObligationState { status, reason, tests, ruled_out },
        )
    }

    pub(super) fn obligation_of(
        &self,
        obligation_id: String,
        (span, text): (Span, String),
        obligation_state: ObligationState,
    ) -> SimpleObligation {
        let (file, position) = self.position_of(span);
        let RuledObligation { status, reason, tests, proposal } = obligation_state.with_ruling();
        SimpleObligation {
            id: ObligationId::from(obligation_id),
            file,
            line: position.line,
            column: position.column,
            text,
            status,
            reason,
            tests,
            uncounted: Vec::new(),
            object: None,
            proposal,
        }
    }
}

//! Obligations of loop boundary coverage: the four cases of every loop.
//!
//! Promises: each loop of a function that the module holds has all four cases as obligations, also
//! those that its form rules out: these carry a proposal, as nothing else closes them.
//! Does not cover: how iterations are counted (`glsl::marking`).

use super::assessment::Assessment;
use super::obligations::ObligationState;
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::structure::{Loop, LoopCase};

/// Why the cases of a loop without marks are undetermined.
const UNMARKED: &str = "the loop could not be marked";

impl Assessment<'_> {
    /// Of every loop, in source order; none where nobody asked for them.
    pub(super) fn loop_obligations(&self) -> Option<Vec<SimpleObligation>> {
        let loops = self.structure.requested.loops.as_ref()?;
        let reached_loops = loops.iter().filter(|loop_statement| {
            let function = loop_statement.function.and_then(|id| self.function_by_id(id));
            function.is_none_or(|function| self.is_reached(function))
        });
        let obligations = reached_loops.flat_map(|loop_statement| {
            LoopCase::ALL.map(|case| self.case_obligation(loop_statement, case))
        });
        Some(obligations.collect())
    }

    fn case_obligation(&self, loop_statement: &Loop, case: LoopCase) -> SimpleObligation {
        let case_mark = loop_statement.marks.iter().find(|row| row.case == case);
        let refused = self.resolution.case_refused(loop_statement, case);
        let state = match (case_mark, refused) {
            (None, Some(refused)) if !loop_statement.marks.is_empty() => {
                let mut state = ObligationState::without_tests(Status::Uncovered, None);
                state.ruled_out = Some(refused);
                state
            }
            (case_mark, _) => self.marked_state(case_mark.map(|row| row.mark), UNMARKED, |mark| {
                self.resolution.case_ruled_out(loop_statement, case, mark)
            }),
        };
        let text = format!("{}: {}", self.shortened_text(loop_statement.span), case.words());
        let obligation_id = format!("{}.{}", loop_statement.id, case.name());
        self.obligation_of(obligation_id, (loop_statement.span, text), state)
    }
}

//! Obligations of call coverage: every call of a function of the source was executed.
//!
//! Promises: calls in functions that the module holds, and at file level, are obligations; those in
//! other functions are not, as their statements are not. A call that could not be marked is
//! undetermined.

use super::assessment::Assessment;
use vkcert_model::coverage::SimpleObligation;
use vkcert_model::structure::Call;

impl Assessment<'_> {
    /// Of every call, in source order; none where nobody asked for them.
    pub(super) fn call_obligations(&self) -> Option<Vec<SimpleObligation>> {
        let calls = self.structure.requested.calls.as_ref()?;
        let reached_calls = calls.iter().filter(|call| {
            let function = call.function.and_then(|function| self.function_by_id(function));
            function.is_none_or(|function| self.is_reached(function))
        });
        Some(reached_calls.map(|call| self.call_obligation(call)).collect())
    }

    fn call_obligation(&self, call: &Call) -> SimpleObligation {
        let state = self.marked_state(call.mark, "the call could not be marked", |mark| {
            self.resolution.call_ruled_out(call, mark)
        });
        let span_and_text = (call.span, self.shortened_text(call.span));
        self.obligation_of(call.id.to_string(), span_and_text, state)
    }
}

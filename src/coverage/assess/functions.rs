//! Obligations of function coverage: every function definition of the source was entered.
//!
//! Promises: a function that the module does not hold is an uncovered obligation, as dead code is;
//! one whose entry has no marker is undetermined. Overloads are told apart by their headers.

use super::super::statement::Execution;
use super::assessment::Assessment;
use super::obligations::ObligationState;
use vkcert_model::coverage::{Proposal, SimpleObligation, Status};
use vkcert_model::place::Span;
use vkcert_model::requirement::JustificationClass;
use vkcert_model::structure::{Function, MarkerRole};

impl Assessment<'_> {
    /// Of every function definition, in source order.
    pub(super) fn function_obligations(&self) -> Vec<SimpleObligation> {
        let numbered_functions = self.structure.functions.iter().enumerate();
        numbered_functions
            .map(|(function_index, function)| self.function_obligation(function_index, function))
            .collect()
    }

    fn function_obligation(&self, function_index: usize, function: &Function) -> SimpleObligation {
        let obligation_id = function.id.to_string();
        let span_and_text = (function.span, self.header_text(function));
        if self.is_reached(function) {
            let entry_truth = |execution: &Execution| execution.points[function_index].0;
            let ruled_out = self.resolution.entry_ruled_out(function_index);
            return self.executed_obligation(obligation_id, span_and_text, entry_truth, ruled_out);
        }
        let entry_role = MarkerRole::Mark { mark: function.entry_mark };
        if !self.structure.markers.contains(&entry_role) {
            let reason = Some("the entry of the function is not marked".to_owned());
            let state = ObligationState::without_tests(Status::Undetermined, reason);
            return self.obligation_of(obligation_id, span_and_text, state);
        }
        let reason = "the entry point does not reach the function: no code generated".to_owned();
        let proposal = Proposal { class: JustificationClass::Dead, reason: reason.clone() };
        let state = ObligationState::without_tests(Status::Uncovered, Some(reason));
        let obligation = self.obligation_of(obligation_id, span_and_text, state);
        SimpleObligation { proposal: Some(proposal), ..obligation }
    }

    /// The function up to its body, as in `float scaled(float x)`; the name alone where a macro
    /// made it.
    fn header_text(&self, function: &Function) -> String {
        if !function.expansion.is_empty() {
            return function.name.clone();
        }
        let Span { file, start, end } = function.span;
        let source_file = self.structure.files.get(file.0 as usize);
        let text = source_file.and_then(|file| file.text.get(start as usize..end as usize));
        let header_length = text.and_then(|text| text.find('{'));
        match header_length {
            Some(length) => self.shortened_text(Span { file, start, end: start + length as u32 }),
            None => function.name.clone(),
        }
    }
}

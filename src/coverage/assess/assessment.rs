//! What the assessment of one kernel looks up: its functions, places and texts, and what each test
//! executed.

use super::super::resolution::Resolution;
use super::super::statement::{Execution, derived_execution};
use super::super::subject::CoverageSubject;
use super::test_evidence::TestEvidence;
use std::collections::BTreeMap;
use vkcert_model::id::{DecisionId, FunctionId, TestId};
use vkcert_model::place::{LineStarts, Position, Span};
use vkcert_model::records::{DecisionSlot, RecordLayout, Records};
use vkcert_model::structure::{Function, KernelStructure};

/// Longest text of a statement in a report, in characters.
const MAX_TEXT: usize = 160;

pub(super) struct Assessment<'a> {
    pub structure: &'a KernelStructure,
    pub decision_slots: BTreeMap<DecisionId, &'a DecisionSlot>,
    pub layout: &'a RecordLayout,
    pub tests: &'a [(TestId, &'a Records)],
    pub resolution: Resolution<'a>,
    /// By file.
    pub line_starts: Vec<LineStarts>,
    /// By test.
    pub executions: Vec<Execution>,
}

impl<'a> Assessment<'a> {
    pub(super) fn new(subject: &CoverageSubject<'a>, tests: &'a [(TestId, &'a Records)]) -> Self {
        let CoverageSubject { structure, layout, .. } = *subject;
        let assessment = Self {
            structure,
            decision_slots: slots_by_decision(layout),
            layout,
            tests,
            resolution: Resolution::new(subject),
            line_starts: structure.files.iter().map(|file| LineStarts::of(&file.text)).collect(),
            executions: Vec::new(),
        };
        let executions =
            tests.iter().map(|(_, records)| assessment.execution_of(records)).collect();
        Self { executions, ..assessment }
    }

    pub(super) fn execution_of(&self, records: &Records) -> Execution {
        derived_execution(
            self.structure,
            &TestEvidence {
                structure: self.structure,
                layout: self.layout,
                slots: &self.decision_slots,
                resolution: &self.resolution,
                records,
            },
        )
    }

    /// Whether a function is part of the kernel. The entry point always is, even if its mark should
    /// be missing.
    pub(super) fn is_reached(&self, function: &Function) -> bool {
        self.resolution.marks.contains(&function.entry_mark)
            || function.name == self.structure.entry
    }

    pub(super) fn reached_functions(&self) -> impl Iterator<Item = (usize, &'a Function)> + '_ {
        self.structure
            .functions
            .iter()
            .enumerate()
            .filter(|(_, function)| self.is_reached(function))
    }

    pub(super) fn function_by_id(&self, id: FunctionId) -> Option<&'a Function> {
        self.structure.functions.iter().find(|function| function.id == id)
    }

    pub(super) fn not_reached(&self) -> Vec<String> {
        let functions =
            self.structure.functions.iter().filter(|function| !self.is_reached(function));
        functions.map(|function| function.name.clone()).collect()
    }

    pub(super) fn position_of(&self, span: Span) -> (String, Position) {
        match self.structure.files.get(span.file.0 as usize) {
            Some(file) => {
                let lines = &self.line_starts[span.file.0 as usize];
                (file.path.clone(), lines.position(&file.text, span.start as usize))
            }
            None => (String::new(), Position { line: 1, column: 1 }),
        }
    }

    pub(super) fn shortened_text(&self, span: Span) -> String {
        let file = self.structure.files.get(span.file.0 as usize);
        let text = file
            .and_then(|file| file.text.get(span.start as usize..span.end as usize))
            .unwrap_or("");
        let collapsed_text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match collapsed_text.char_indices().nth(MAX_TEXT) {
            Some((end, _)) => format!("{} …", &collapsed_text[..end]),
            None => collapsed_text,
        }
    }
}

fn slots_by_decision(layout: &RecordLayout) -> BTreeMap<DecisionId, &DecisionSlot> {
    layout.decisions.iter().map(|slot| (slot.decision, slot)).collect()
}

//! The whole texts of what obligations are of, as justifications are bound to them.
//!
//! Knows: the structure of the source, where a kernel has one.
//! Promises: texts have no comments and no lines, so that they change with what they say alone.
//! Does not cover: texts of object code, which are those that are displayed.

use super::super::statement::visit_block;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use vkcert_glsl::collapse_spaces;
use vkcert_model::coverage::SimpleObligation;
use vkcert_model::id::{DecisionId, FunctionId, KernelName, StatementId, SwitchId};
use vkcert_model::pair_obligation::{PairObligation, PairPlace, ShownBy};
use vkcert_model::place::Span;
use vkcert_model::structure::{
    Exit, Expansion, Function, KernelStructure, LabelKind, LoopCase, StatementKind,
};

/// Where in the source something stands.
#[derive(Debug, Clone, Default)]
pub(super) struct SourceText {
    /// Of functions of one name the number behind it; empty at global scope.
    pub(super) function: Rc<str>,
    /// Without comments, white space collapsed.
    pub(super) text: Rc<str>,
    /// Macro uses that it came through, outermost first.
    pub(super) expansion: Rc<[String]>,
}

impl SourceText {
    /// Another text at the same place.
    pub(super) fn with_text(&self, text: Rc<str>) -> Self {
        let Self { function, text: _, expansion } = self;
        Self { function: Rc::clone(function), text, expansion: Rc::clone(expansion) }
    }
}

/// The whole texts of what has an id in the source.
pub(super) struct SourceTexts<'a> {
    structure: Option<&'a KernelStructure>,
    statements: BTreeMap<StatementId, SourceText>,
    /// Of functions, entry and exit points, switch labels, calls and cases of loops.
    named: BTreeMap<String, SourceText>,
}

impl<'a> SourceTexts<'a> {
    pub(super) fn from_structure(structure: Option<&'a KernelStructure>) -> Self {
        let mut source_texts =
            Self { structure, statements: BTreeMap::new(), named: BTreeMap::new() };
        let Some(structure) = structure else { return source_texts };
        for function in &structure.functions {
            let function_label: Rc<str> = function_name(structure, function).into();
            visit_block(&function.body, &mut |statement| {
                if let Some(id) = statement.id {
                    let text = collapse_spaces(text_of(structure, statement.span)).into();
                    let expansion = macro_sites(structure, &statement.expansion);
                    source_texts.statements.insert(
                        id,
                        SourceText { function: Rc::clone(&function_label), text, expansion },
                    );
                }
                if let StatementKind::Switch { switch, .. } = &statement.kind {
                    source_texts.add_labels(structure, *switch, &function_label);
                }
            });
            source_texts.add_function(structure, function, &function_label);
            source_texts.add_points(function, function_label);
        }
        source_texts.add_calls(structure);
        source_texts.add_loop_cases(structure);
        source_texts
    }

    fn add_labels(
        &mut self,
        structure: &KernelStructure,
        switch: SwitchId,
        function_label: &Rc<str>,
    ) {
        let Some(switch) = structure.switches.get((switch.0 as usize).wrapping_sub(1)) else {
            return;
        };
        for (label_index, label) in switch.labels.iter().enumerate() {
            let label_text = match label.kind {
                LabelKind::Case | LabelKind::Default => {
                    format!("{} of switch ({})", label.text, switch.text)
                }
                LabelKind::ImplicitDefault => format!("no label of switch ({})", switch.text),
            };
            let label_text = SourceText {
                function: Rc::clone(function_label),
                text: label_text.into(),
                expansion: Rc::default(),
            };
            self.named.insert(format!("{}.L{}", switch.id, label_index + 1), label_text);
        }
    }

    /// The whole of a function: what is said of it holds no longer when any of it changes.
    fn add_function(
        &mut self,
        structure: &KernelStructure,
        function: &Function,
        function_label: &Rc<str>,
    ) {
        let function_text = SourceText {
            function: Rc::clone(function_label),
            text: collapse_spaces(text_of(structure, function.span)).into(),
            expansion: macro_sites(structure, &function.expansion),
        };
        self.named.insert(function.id.to_string(), function_text);
    }

    fn add_calls(&mut self, structure: &KernelStructure) {
        for call in structure.requested.calls.iter().flatten() {
            let call_text = SourceText {
                function: label_of_function(structure, call.function),
                text: collapse_spaces(text_of(structure, call.span)).into(),
                expansion: macro_sites(structure, &call.expansion),
            };
            self.named.insert(call.id.to_string(), call_text);
        }
    }

    fn add_loop_cases(&mut self, structure: &KernelStructure) {
        for loop_statement in structure.requested.loops.iter().flatten() {
            let header = collapse_spaces(text_of(structure, loop_statement.span));
            let function_label = label_of_function(structure, loop_statement.function);
            for case in LoopCase::ALL {
                let case_text = SourceText {
                    function: Rc::clone(&function_label),
                    text: format!("{header}: {}", case.words()).into(),
                    expansion: macro_sites(structure, &loop_statement.expansion),
                };
                self.named.insert(format!("{}.{}", loop_statement.id, case.name()), case_text);
            }
        }
    }

    fn add_points(&mut self, function: &Function, function_label: Rc<str>) {
        let point_text = |text: String| SourceText {
            function: Rc::clone(&function_label),
            text: text.into(),
            expansion: Rc::default(),
        };
        self.named.insert(format!("{}.entry", function.id), point_text("entry".to_owned()));
        for (exit_index, exit) in function.exits.iter().enumerate() {
            let text = match exit {
                Exit::Return { statement } => {
                    self.statements.get(statement).map_or("", |statement_text| &statement_text.text)
                }
                Exit::EndOfBody { .. } => "end of body",
            };
            self.named.insert(
                format!("{}.X{}", function.id, exit_index + 1),
                point_text(format!("exit: {text}")),
            );
        }
    }

    /// Of an obligation with an id of its own; what the source does not know keeps the text that is
    /// displayed.
    pub(super) fn text_of_obligation(&self, item: &SimpleObligation) -> SourceText {
        let id = item.id.as_str();
        let statement = id.parse::<StatementId>().ok().and_then(|id| self.statements.get(&id));
        let known_text = statement.or_else(|| self.named.get(id)).cloned();
        known_text.unwrap_or_else(|| SourceText {
            text: item.text.as_str().into(),
            ..SourceText::default()
        })
    }

    /// `earlier_kernels` are hashes of what wrote in earlier dispatches.
    pub(super) fn text_of_pair(
        &self,
        pair: &PairObligation,
        earlier_kernels: &BTreeMap<KernelName, String>,
    ) -> SourceText {
        let mut text = format!("{} of class {}", pair.object, pair.class.name());
        if let Some(definition) = &pair.definition {
            text.push_str(&format!(", written in {}", self.text_of_side(definition)));
            let hash = definition.kernel.and_then(|kernel| earlier_kernels.get(&kernel));
            if let Some(hash) = hash {
                text.push_str(&format!(" of a kernel with {hash}"));
            }
        }
        if let Some(barrier) = &pair.barrier {
            text.push_str(&format!(", across {}", self.text_of_side(&barrier.place)));
        }
        let verb = match pair.shown_by {
            ShownBy::Read => "read",
            ShownBy::Execution => "used",
        };
        text.push_str(&format!(", {verb} in {}", self.text_of_side(&pair.use_place)));
        SourceText {
            function: pair.use_place.function.as_str().into(),
            text: text.into(),
            expansion: Rc::default(),
        }
    }

    /// `function: statement`, with the macro uses that it came through; another kernel's is as it is
    /// stored.
    fn text_of_side(&self, place: &PairPlace) -> String {
        let statement = match (&place.kernel, place.statement) {
            (None, Some(id)) => self.statements.get(&id),
            (None, None) | (Some(_), _) => None,
        };
        let kernel = place.kernel.map(|kernel| format!("kernel {kernel}, ")).unwrap_or_default();
        let (text, expansion) = match statement {
            Some(statement) => (&*statement.text, statement.expansion.join("; ")),
            None => (place.text.as_str(), String::new()),
        };
        format!("{kernel}{}: {text} [{expansion}]", place.function)
    }

    /// Of a decision; its text is for each obligation to complete.
    pub(super) fn text_of_decision(&self, id: DecisionId) -> SourceText {
        let decision_text = self.structure.and_then(|structure| {
            let decision = structure.decisions.get((id.0 as usize).wrapping_sub(1))?;
            Some(SourceText {
                function: label_of_function(structure, decision.function),
                text: Rc::default(),
                expansion: macro_sites(structure, &decision.expansion),
            })
        });
        decision_text.unwrap_or_default()
    }
}

/// The name of the function of this id; empty at file level.
fn label_of_function(structure: &KernelStructure, function_id: Option<FunctionId>) -> Rc<str> {
    let function = function_id.and_then(|function_id| {
        structure.functions.iter().find(|function| function.id == function_id)
    });
    function.map(|function| function_name(structure, function)).unwrap_or_default().into()
}

/// The name, with a number behind it where the source has several functions of that name before it.
fn function_name<'s>(structure: &KernelStructure, function: &'s Function) -> Cow<'s, str> {
    let functions_before = structure
        .functions
        .iter()
        .take_while(|earlier_function| earlier_function.id != function.id);
    match functions_before.filter(|earlier_function| earlier_function.name == function.name).count()
    {
        0 => function.name.as_str().into(),
        same_named => format!("{}#{}", function.name, same_named + 1).into(),
    }
}

/// Never panics: stored structures may be anything.
fn text_of(structure: &KernelStructure, span: Span) -> &str {
    let file = structure.files.get(span.file.0 as usize);
    file.and_then(|file| file.text.get(span.start as usize..span.end as usize)).unwrap_or("")
}

fn macro_sites(structure: &KernelStructure, macro_uses: &[Expansion]) -> Rc<[String]> {
    let mut sites = Vec::with_capacity(macro_uses.len());
    for macro_use in macro_uses {
        let site_text = collapse_spaces(text_of(structure, macro_use.site));
        sites.push(format!("{}: {site_text}", macro_use.macro_name));
    }
    sites.into()
}

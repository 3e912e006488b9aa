//! What a justification of an obligation is bound to.
//!
//! Knows: the kernel's structure, its object code, its barriers and its configurations.
//! Promises: the content holds the whole text, the function, the macro uses that it came through,
//! its number among obligations of equal text in the function, the code of the kernel (its
//! production module without debug information) and what each configuration of the kernel fixes. So
//! a justification goes stale with any of them; it survives text that only moves, white space and
//! comments.
//! Does not cover: evidence of format 1, whose justifications are bound to kernel, id and the
//! displayed text alone.

use super::super::statement::visit_block;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use vkcert_glsl::collapse_spaces;
use vkcert_model::canonical::{canonical_json, content_hash};
use vkcert_model::coverage::{KernelCoverage, SimpleObligation};
use vkcert_model::evidence::Configuration;
use vkcert_model::id::{FunctionId, KernelName, ObligationId, StatementId};
use vkcert_model::object::ObjectStructure;
use vkcert_model::place::Span;
use vkcert_model::structure::{
    Exit, Expansion, Function, KernelStructure, LabelKind, LoopCase, StatementKind,
};

/// A kernel as justifications are bound to it.
#[derive(Debug, Clone, Copy)]
pub struct BoundKernel<'a> {
    /// Name of the kernel.
    pub kernel: &'a KernelName,
    /// None for SPIR-V without source.
    pub structure: Option<&'a KernelStructure>,
    /// Branches and loops of the production module.
    pub objects: &'a ObjectStructure,
    /// SHA-256 of the production module without debug information.
    pub code: &'a str,
    /// All configurations of the kernel.
    pub configurations: &'a [BoundConfiguration],
}

/// What a configuration fixes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct BoundConfiguration {
    name: String,
    entry: String,
    target_env: String,
    defines: BTreeMap<String, String>,
    /// Raw bits by specialization id.
    specialization: BTreeMap<u32, String>,
    local_size: [u32; 3],
}

impl BoundConfiguration {
    /// Each of the configurations once, by name.
    pub fn of_all<'a>(configurations: impl Iterator<Item = &'a Configuration>) -> Vec<Self> {
        let mut bound_configurations: Vec<Self> =
            configurations.map(Self::from_configuration).collect();
        bound_configurations.sort();
        bound_configurations.dedup();
        bound_configurations
    }

    /// What of a configuration the content of justifications is made of.
    pub(crate) fn from_configuration(configuration: &Configuration) -> Self {
        let Configuration {
            name,
            entry,
            target_env,
            defines,
            include: _,
            specialization,
            local_size,
        } = configuration;
        Self {
            name: name.clone(),
            entry: entry.clone(),
            target_env: target_env.clone(),
            defines: defines.clone(),
            specialization: specialization
                .iter()
                .map(|constant| (constant.id, constant.bits.clone()))
                .collect(),
            local_size: *local_size,
        }
    }
}

/// What an obligation asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
enum ObligationKind {
    Statement,
    Point,
    Label,
    Outcome,
    UniqueCause,
    Masking,
    Combination,
    ObjectOutcome,
    Barrier,
    Function,
    Call,
    LoopCase,
    BoundaryValue,
    Pair,
}

/// An obligation without what it shares with all others of its kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    kind: ObligationKind,
    /// The whole of it, without comments, white space collapsed to single spaces.
    text: Rc<str>,
    /// Of functions of one name the number behind it: `limit#2`; empty at global scope.
    function: Rc<str>,
    /// Text of the macro uses that it came through, outermost first.
    expansion: Rc<[String]>,
    /// Its number among obligations of the same kind and text in the function, in source order from
    /// 1.
    number: u32,
    /// How many of these there are.
    equals: u32,
}

impl Content {
    /// What obligations have in common that are numbered together.
    fn equality_key(&self) -> (ObligationKind, &str, &str) {
        (self.kind, &self.function, &self.text)
    }

    fn signed(&self) -> SignedContent<'_> {
        let Self { kind, text, function, expansion, number, equals } = self;
        SignedContent { kind: *kind, text, function, expansion, number: *number, equals: *equals }
    }
}

/// A [`Content`] as it is hashed.
#[derive(Serialize)]
struct SignedContent<'a> {
    kind: ObligationKind,
    text: &'a str,
    function: &'a str,
    expansion: &'a [String],
    number: u32,
    equals: u32,
}

/// The contents of all obligations of one kernel.
pub struct BoundContents<'a> {
    bound: BoundKernel<'a>,
    by_id: BTreeMap<ObligationId, Content>,
}

impl<'a> BoundContents<'a> {
    /// Of the obligations of `coverage`; what has been covered of them plays no part.
    pub fn from_coverage(bound: BoundKernel<'a>, coverage: &KernelCoverage) -> Self {
        let mut gathering = ContentGathering {
            texts: SourceTexts::from_structure(bound.structure),
            gathered_contents: Vec::new(),
        };
        gathering.add_source_obligations(coverage);
        gathering.add_object_obligations(bound.objects, coverage);
        gathering.add_obligations(ObligationKind::Barrier, &coverage.barriers);
        Self { bound, by_id: gathering.numbered_contents() }
    }

    /// `sha256:` and the hash of everything that the obligation is bound to; none where there is no
    /// such obligation.
    pub fn content_hash_of(&self, id: &ObligationId) -> Option<String> {
        #[derive(Serialize)]
        struct Signed<'a> {
            kernel: &'a KernelName,
            obligation: &'a ObligationId,
            content: SignedContent<'a>,
            code: &'a str,
            configurations: &'a [BoundConfiguration],
        }
        let BoundKernel { kernel, code, configurations, .. } = self.bound;
        let content = self.by_id.get(id)?.signed();
        let signed_content = Signed { kernel, obligation: id, content, code, configurations };
        let text = canonical_json(&signed_content).expect("contents are representable as JSON");
        Some(content_hash(text.as_bytes()))
    }
}

/// Where in the source something stands.
#[derive(Debug, Clone, Default)]
struct SourceText {
    function: Rc<str>,
    text: Rc<str>,
    expansion: Rc<[String]>,
}

impl SourceText {
    /// Another text at the same place.
    fn with_text(&self, text: Rc<str>) -> Self {
        let Self { function, text: _, expansion } = self;
        Self { function: Rc::clone(function), text, expansion: Rc::clone(expansion) }
    }
}

/// The whole texts of what has an id in the source.
struct SourceTexts<'a> {
    structure: Option<&'a KernelStructure>,
    statements: BTreeMap<StatementId, SourceText>,
    /// Of functions, entry and exit points, switch labels, calls and cases of loops.
    named: BTreeMap<String, SourceText>,
}

impl<'a> SourceTexts<'a> {
    fn from_structure(structure: Option<&'a KernelStructure>) -> Self {
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
        switch: vkcert_model::id::SwitchId,
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
    fn text_of_obligation(&self, item: &SimpleObligation) -> SourceText {
        let id = item.id.as_str();
        let statement = id.parse::<StatementId>().ok().and_then(|id| self.statements.get(&id));
        let known_text = statement.or_else(|| self.named.get(id)).cloned();
        known_text.unwrap_or_else(|| SourceText {
            text: item.text.as_str().into(),
            ..SourceText::default()
        })
    }

    /// Of a decision; its text is for each obligation to complete.
    fn text_of_decision(&self, id: vkcert_model::id::DecisionId) -> SourceText {
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

/// Contents in source order, before equal ones are numbered.
struct ContentGathering<'a> {
    texts: SourceTexts<'a>,
    gathered_contents: Vec<(ObligationId, Content)>,
}

impl ContentGathering<'_> {
    fn add_content(&mut self, id: ObligationId, kind: ObligationKind, source_text: SourceText) {
        let SourceText { function, text, expansion } = source_text;
        self.gathered_contents
            .push((id, Content { kind, text, function, expansion, number: 0, equals: 0 }));
    }

    fn add_obligations(&mut self, kind: ObligationKind, obligations: &[SimpleObligation]) {
        for item in obligations {
            let source_text = self.texts.text_of_obligation(item);
            self.add_content(item.id, kind, source_text);
        }
    }

    fn add_source_obligations(&mut self, coverage: &KernelCoverage) {
        self.add_obligations(ObligationKind::Statement, &coverage.statements);
        self.add_obligations(ObligationKind::Point, &coverage.points);
        let requested_lists = [
            (ObligationKind::Function, &coverage.functions),
            (ObligationKind::Call, &coverage.calls),
            (ObligationKind::LoopCase, &coverage.loops),
            (ObligationKind::BoundaryValue, &coverage.boundaries),
            (ObligationKind::Pair, &coverage.coupling),
        ];
        for (kind, obligations) in requested_lists {
            self.add_obligations(kind, obligations.as_deref().unwrap_or_default());
        }
        let label_items: Vec<_> =
            coverage.branches.iter().filter(|item| item.id.as_str().starts_with('W')).collect();
        for item in label_items {
            let source_text = self.texts.text_of_obligation(item);
            self.add_content(item.id, ObligationKind::Label, source_text);
        }
        for decision in &coverage.decisions {
            let decision_text = self.texts.text_of_decision(decision.id);
            for item in &decision.outcomes {
                let source_text = decision_text.with_text(item.text.as_str().into());
                self.add_content(item.id, ObligationKind::Outcome, source_text);
            }
            for condition in &decision.conditions {
                let text: Rc<str> = format!("{} / {}", decision.text, condition.text).into();
                for (form, kind) in [
                    ("unique-cause", ObligationKind::UniqueCause),
                    ("masking", ObligationKind::Masking),
                ] {
                    self.add_content(
                        ObligationId::from(format!("{}.{form}", condition.id)),
                        kind,
                        decision_text.with_text(Rc::clone(&text)),
                    );
                }
            }
            for item in &decision.combinations {
                let source_text = decision_text.with_text(item.text.as_str().into());
                self.add_content(item.id, ObligationKind::Combination, source_text);
            }
        }
    }

    /// Functions of object code are those of the module.
    fn add_object_obligations(&mut self, objects: &ObjectStructure, coverage: &KernelCoverage) {
        let function_by_branch: BTreeMap<String, &str> = objects
            .branches
            .iter()
            .filter_map(|branch| Some((branch.id.to_string(), branch.place.function.as_deref()?)))
            .collect();
        for item in &coverage.objects {
            let branch = item.id.as_str().split('.').next().unwrap_or_default();
            let source_text = SourceText {
                function: function_by_branch.get(branch).copied().unwrap_or_default().into(),
                text: item.text.as_str().into(),
                expansion: Rc::default(),
            };
            self.add_content(item.id, ObligationKind::ObjectOutcome, source_text);
        }
    }

    fn numbered_contents(self) -> BTreeMap<ObligationId, Content> {
        let contents = self.gathered_contents;
        let mut counts: HashMap<(ObligationKind, &str, &str), u32> = HashMap::new();
        let mut numbers = Vec::with_capacity(contents.len());
        for (_, content) in &contents {
            let count = counts.entry(content.equality_key()).or_insert(0);
            *count += 1;
            numbers.push(*count);
        }
        let equal_counts: Vec<u32> =
            contents.iter().map(|(_, content)| counts[&content.equality_key()]).collect();
        let mut numbered_contents = BTreeMap::new();
        for (((id, content), number), equals) in contents.into_iter().zip(numbers).zip(equal_counts)
        {
            numbered_contents.insert(id, Content { number, equals, ..content });
        }
        numbered_contents
    }
}

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

use super::super::statement::visit;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use vkcert_glsl::collapse_spaces;
use vkcert_model::canonical::{canonical_json, content_hash};
use vkcert_model::coverage::{KernelCoverage, SimpleObligation};
use vkcert_model::evidence::Configuration;
use vkcert_model::id::{KernelName, ObligationId, StatementId};
use vkcert_model::object::ObjectStructure;
use vkcert_model::place::Span;
use vkcert_model::structure::{
    Exit, Expansion, Function, KernelStructure, LabelKind, StatementKind,
};

/// A kernel as justifications are bound to it.
#[derive(Debug, Clone, Copy)]
pub struct BoundKernel<'a> {
    pub kernel: &'a KernelName,
    /// None for SPIR-V without source.
    pub structure: Option<&'a KernelStructure>,
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
        let mut bound: Vec<Self> = configurations.map(Self::of).collect();
        bound.sort();
        bound.dedup();
        bound
    }

    pub fn of(configuration: &Configuration) -> Self {
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
}

/// An obligation without what it shares with all others of its kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Content {
    kind: ObligationKind,
    /// The whole of it, without comments, white space collapsed to single spaces.
    text: String,
    /// Of functions of one name the number behind it: `limit#2`; empty at global scope.
    function: String,
    /// Text of the macro uses that it came through, outermost first.
    expansion: Vec<String>,
    /// Its number among obligations of the same kind and text in the function, in source order from
    /// 1.
    number: u32,
    /// How many of these there are.
    equals: u32,
}

/// The contents of all obligations of one kernel.
pub struct Contents<'a> {
    bound: BoundKernel<'a>,
    by_id: BTreeMap<ObligationId, Content>,
}

impl<'a> Contents<'a> {
    /// Of the obligations of `coverage`; what has been covered of them plays no part.
    pub fn of(bound: BoundKernel<'a>, coverage: &KernelCoverage) -> Self {
        let mut gathering =
            Gathering { texts: SourceTexts::of(bound.structure), found: Vec::new() };
        gathering.source(coverage);
        gathering.objects(bound.objects, coverage);
        gathering.simple(ObligationKind::Barrier, &coverage.barriers);
        Self { bound, by_id: gathering.numbered() }
    }

    /// `sha256:` and the hash of everything that the obligation is bound to; none where there is no
    /// such obligation.
    pub fn hash(&self, id: &ObligationId) -> Option<String> {
        #[derive(Serialize)]
        struct Signed<'a> {
            kernel: &'a KernelName,
            obligation: &'a ObligationId,
            content: &'a Content,
            code: &'a str,
            configurations: &'a [BoundConfiguration],
        }
        let BoundKernel { kernel, code, configurations, .. } = self.bound;
        let content = self.by_id.get(id)?;
        let signed = Signed { kernel, obligation: id, content, code, configurations };
        let text = canonical_json(&signed).expect("contents are representable as JSON");
        Some(content_hash(text.as_bytes()))
    }
}

/// Where in the source something stands.
#[derive(Debug, Clone, Default)]
struct SourceText {
    function: String,
    text: String,
    expansion: Vec<String>,
}

/// The whole texts of what has an id in the source.
struct SourceTexts<'a> {
    structure: Option<&'a KernelStructure>,
    statements: BTreeMap<StatementId, SourceText>,
    /// Of entry and exit points and switch labels.
    named: BTreeMap<String, SourceText>,
}

impl<'a> SourceTexts<'a> {
    fn of(structure: Option<&'a KernelStructure>) -> Self {
        let mut texts = Self { structure, statements: BTreeMap::new(), named: BTreeMap::new() };
        let Some(structure) = structure else { return texts };
        for function in &structure.functions {
            let name = function_name(structure, function);
            visit(&function.body, &mut |statement| {
                if let Some(id) = statement.id {
                    let text = collapse_spaces(text_of(structure, statement.span));
                    let expansion = sites(structure, &statement.expansion);
                    texts
                        .statements
                        .insert(id, SourceText { function: name.clone(), text, expansion });
                }
                if let StatementKind::Switch { switch, .. } = &statement.kind {
                    texts.labels(structure, *switch, &name);
                }
            });
            texts.points(function, name);
        }
        texts
    }

    fn labels(
        &mut self,
        structure: &KernelStructure,
        switch: vkcert_model::id::SwitchId,
        function: &str,
    ) {
        let Some(switch) = structure.switches.get((switch.0 as usize).wrapping_sub(1)) else {
            return;
        };
        for (index, label) in switch.labels.iter().enumerate() {
            let text = match label.kind {
                LabelKind::Case | LabelKind::Default => {
                    format!("{} of switch ({})", label.text, switch.text)
                }
                LabelKind::ImplicitDefault => format!("no label of switch ({})", switch.text),
            };
            let text = SourceText { function: function.to_owned(), text, expansion: Vec::new() };
            self.named.insert(format!("{}.L{}", switch.id, index + 1), text);
        }
    }

    fn points(&mut self, function: &Function, name: String) {
        let point =
            |text: String| SourceText { function: name.clone(), text, expansion: Vec::new() };
        self.named.insert(format!("{}.entry", function.id), point("entry".to_owned()));
        for (index, exit) in function.exits.iter().enumerate() {
            let text = match exit {
                Exit::Return { statement } => {
                    self.statements.get(statement).map_or("", |found| &found.text).to_owned()
                }
                Exit::EndOfBody { .. } => "end of body".to_owned(),
            };
            self.named
                .insert(format!("{}.X{}", function.id, index + 1), point(format!("exit: {text}")));
        }
    }

    /// Of an obligation with an id of its own; what the source does not know keeps the text that is
    /// displayed.
    fn simple(&self, item: &SimpleObligation) -> SourceText {
        let id = item.id.as_str();
        let statement = id.parse::<StatementId>().ok().and_then(|id| self.statements.get(&id));
        let known = statement.or_else(|| self.named.get(id)).cloned();
        known.unwrap_or_else(|| SourceText { text: item.text.clone(), ..SourceText::default() })
    }

    /// Of a decision; its text is for each obligation to complete.
    fn decision(&self, id: vkcert_model::id::DecisionId) -> SourceText {
        let found = self.structure.and_then(|structure| {
            let decision = structure.decisions.get((id.0 as usize).wrapping_sub(1))?;
            let function = decision
                .function
                .and_then(|id| structure.functions.iter().find(|known| known.id == id));
            let function =
                function.map(|function| function_name(structure, function)).unwrap_or_default();
            Some(SourceText {
                function,
                text: String::new(),
                expansion: sites(structure, &decision.expansion),
            })
        });
        found.unwrap_or_default()
    }
}

/// The name, with a number behind it where the source has several functions of that name before it.
fn function_name(structure: &KernelStructure, function: &Function) -> String {
    let same = structure.functions.iter().take_while(|other| other.id != function.id);
    match same.filter(|other| other.name == function.name).count() {
        0 => function.name.clone(),
        before => format!("{}#{}", function.name, before + 1),
    }
}

/// Never panics: stored structures may be anything.
fn text_of(structure: &KernelStructure, span: Span) -> &str {
    let file = structure.files.get(span.file.0 as usize);
    file.and_then(|file| file.text.get(span.start as usize..span.end as usize)).unwrap_or("")
}

fn sites(structure: &KernelStructure, expansion: &[Expansion]) -> Vec<String> {
    let site = |expansion: &Expansion| collapse_spaces(text_of(structure, expansion.site));
    expansion.iter().map(|found| format!("{}: {}", found.macro_name, site(found))).collect()
}

/// Contents in source order, before equal ones are numbered.
struct Gathering<'a> {
    texts: SourceTexts<'a>,
    found: Vec<(ObligationId, Content)>,
}

impl Gathering<'_> {
    fn add(&mut self, id: ObligationId, kind: ObligationKind, source: SourceText) {
        let SourceText { function, text, expansion } = source;
        self.found.push((id, Content { kind, text, function, expansion, number: 0, equals: 0 }));
    }

    fn simple(&mut self, kind: ObligationKind, list: &[SimpleObligation]) {
        for item in list {
            let source = self.texts.simple(item);
            self.add(item.id.clone(), kind, source);
        }
    }

    fn source(&mut self, coverage: &KernelCoverage) {
        self.simple(ObligationKind::Statement, &coverage.statements);
        self.simple(ObligationKind::Point, &coverage.points);
        let labels: Vec<_> =
            coverage.branches.iter().filter(|item| item.id.as_str().starts_with('W')).collect();
        for item in labels {
            let source = self.texts.simple(item);
            self.add(item.id.clone(), ObligationKind::Label, source);
        }
        for decision in &coverage.decisions {
            let place = self.texts.decision(decision.id);
            let about = |text: String| SourceText { text, ..place.clone() };
            for item in &decision.outcomes {
                self.add(item.id.clone(), ObligationKind::Outcome, about(item.text.clone()));
            }
            for condition in &decision.conditions {
                let text = format!("{} / {}", decision.text, condition.text);
                for (form, kind) in [
                    ("unique-cause", ObligationKind::UniqueCause),
                    ("masking", ObligationKind::Masking),
                ] {
                    self.add(
                        ObligationId(format!("{}.{form}", condition.id)),
                        kind,
                        about(text.clone()),
                    );
                }
            }
            for item in &decision.combinations {
                self.add(item.id.clone(), ObligationKind::Combination, about(item.text.clone()));
            }
        }
    }

    /// Functions of object code are those of the module.
    fn objects(&mut self, objects: &ObjectStructure, coverage: &KernelCoverage) {
        let functions: BTreeMap<String, &str> = objects
            .branches
            .iter()
            .filter_map(|branch| Some((branch.id.to_string(), branch.place.function.as_deref()?)))
            .collect();
        for item in &coverage.objects {
            let branch = item.id.as_str().split('.').next().unwrap_or_default();
            let function = functions.get(branch).copied().unwrap_or_default().to_owned();
            let source = SourceText { function, text: item.text.clone(), expansion: Vec::new() };
            self.add(item.id.clone(), ObligationKind::ObjectOutcome, source);
        }
    }

    fn numbered(self) -> BTreeMap<ObligationId, Content> {
        let Gathering { mut found, .. } = self;
        let mut counts: HashMap<(ObligationKind, String, String), u32> = HashMap::new();
        let key =
            |content: &Content| (content.kind, content.function.clone(), content.text.clone());
        for (_, content) in &mut found {
            let count = counts.entry(key(content)).or_insert(0);
            *count += 1;
            content.number = *count;
        }
        for (_, content) in &mut found {
            content.equals = counts[&key(content)];
        }
        found.into_iter().collect()
    }
}

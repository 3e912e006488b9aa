//! What a justification of an obligation is bound to.
//!
//! Knows: the kernel's texts (`source_text`), its object code, its barriers and its configurations.
//! Promises: the content holds the whole text, the function, the macro uses that it came through,
//! its number among obligations of equal text in the function, the code of the kernel (its
//! production module without debug information) and what each configuration of the kernel fixes. So
//! a justification goes stale with any of them; it survives text that only moves, white space and
//! comments.
//! Does not cover: evidence of format 1, whose justifications are bound to kernel, id and the
//! displayed text alone.

use super::source_text::{SourceText, SourceTexts};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use vkcert_model::canonical::{canonical_json, content_hash};
use vkcert_model::coverage::{KernelCoverage, SimpleObligation};
use vkcert_model::evidence::Configuration;
use vkcert_model::id::{KernelName, ObligationId};
use vkcert_model::object::ObjectStructure;
use vkcert_model::pair_obligation::{KernelPairs, PairObligation};
use vkcert_model::structure::KernelStructure;

/// A kernel as justifications are bound to it.
#[derive(Debug, Clone, Copy)]
pub struct BoundKernel<'a> {
    /// Name of the kernel.
    pub kernel: &'a KernelName,
    /// None for SPIR-V without source.
    pub structure: Option<&'a KernelStructure>,
    /// Branches and loops of the production module.
    pub objects: &'a ObjectStructure,
    /// What tests have to show of its coupling; none where it is not asked for.
    pub pairs: Option<&'a KernelPairs>,
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

/// `sha256:` and the hash of what a justification of a mutant, or in another kernel, is bound to of a kernel: its code
/// (SHA-256 of the production module without debug information) and its configurations.
pub fn signed_kernel_hash(code: &str, configurations: &[BoundConfiguration]) -> String {
    let text = canonical_json(&(code, configurations)).expect("contents are representable as JSON");
    content_hash(text.as_bytes())
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
        gathering.add_pairs(bound.pairs, coverage.coupling.as_deref().unwrap_or_default());
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

    /// A pair is what it passes and the statements on both sides and between them, not where they
    /// stand; of an earlier kernel its code and configurations, too. Rows without an obligation, of
    /// what tests showed beside them or of pairs that are not known, are bound to nothing: no
    /// justification is accepted for them.
    fn add_pairs(&mut self, pairs: Option<&KernelPairs>, rows: &[SimpleObligation]) {
        let obligations = pairs.into_iter().flat_map(|pairs| &pairs.obligations);
        let pairs_by_id: BTreeMap<String, &PairObligation> =
            obligations.map(|pair| (pair.id.to_string(), pair)).collect();
        let no_kernels = BTreeMap::new();
        let earlier_kernels = pairs.map_or(&no_kernels, |pairs| &pairs.earlier_kernels);
        for row in rows {
            if let Some(pair) = pairs_by_id.get(row.id.as_str()) {
                let source_text = self.texts.text_of_pair(pair, earlier_kernels);
                self.add_content(row.id, ObligationKind::Pair, source_text);
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

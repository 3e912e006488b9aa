//! Coverage of object code: the branches of a production module as obligations of their own, with
//! what each traces to.
//!
//! Knows: the module alone; where it comes from text, the positions of its instructions
//! (`glsl::Positions`).
//! Promises: every conditional branch, switch and scalar select of the functions that the entry
//! point reaches is recorded, by the same means as decisions are: marker calls are put into the
//! module (`mark`), and from there the way is that of every marked module. What the markers see is
//! what the branch sees.
//! Does not cover: which outcomes tests have shown (`coverage::object`).

mod mark;
mod order;
mod origin;
mod owners;
mod position;
mod values;

pub use position::PositionTable;

use super::trace::{BranchSite, branch_sites};
use super::{InstrumentError, Instrumented, NotInstrumented, RecordRequest, instrument_as};
use std::fmt;
use std::sync::Arc;
use vkcert_model::id::{DecisionId, ObjectBranchId};
use vkcert_model::object::*;
use vkcert_model::place::{FileIndex, Span};
use vkcert_model::records::RecordLayout;
use vkcert_model::structure::{
    Accuracy, BooleanExpression, Condition, Constness, Decision, DecisionContext, KernelStructure,
    MarkIndex, MarkerRole, Recording, RequestedParts, TextDigests,
};
use vkcert_model::vector::Outcome;
use vkcert_spirv::cfg::switch_targets;
use vkcert_spirv::interface::compute_entry;
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::types::{Signedness, Type, Types};

/// A production module whose branches are recorded.
#[derive(Debug, Clone)]
pub struct InstrumentedObject {
    /// Branches and loops, with what they trace to.
    pub structure: ObjectStructure,
    /// Production with marker calls, for the sequential engine.
    pub marked: Arc<Vec<u32>>,
    /// The modules and tables made of it; its findings and notes say nothing new.
    pub made: Instrumented,
}

/// What the branches of a module are traced to.
pub enum SourceKnowledge<'a> {
    /// The source text that the module was compiled from.
    Source {
        /// What the front end read from it.
        structure: &'a KernelStructure,
        /// Where the module's instructions come from.
        positions: &'a PositionTable,
    },
    /// The source is there, but which instruction comes from where is not known; why.
    Unknown(&'a str),
    /// The module came without source.
    NoSource,
}

/// One outcome of a branch before it is recorded.
pub(super) struct BranchExit {
    pub condition: ExitCondition,
    pub role: MarkerRole,
}

/// When control leaves a branch by an exit.
pub(super) enum ExitCondition {
    /// The value of the branch is this one.
    Outcome(Outcome),
    /// The selector has one of the values that lead to the same target.
    Labels { target_number: usize, labels: Vec<SwitchLabel> },
}

/// What leads to a target of a switch.
pub(super) enum SwitchLabel {
    /// A value of the selector, in the type that it has.
    Case(String),
    /// Any value without a case of its own.
    Default,
}

impl SwitchLabel {
    pub(super) fn case_value(&self) -> Option<&str> {
        match self {
            SwitchLabel::Case(value) => Some(value),
            SwitchLabel::Default => None,
        }
    }
}

impl fmt::Display for SwitchLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            SwitchLabel::Case(value) => value,
            SwitchLabel::Default => "default",
        })
    }
}

/// A branch with its place in the records.
pub(super) struct WatchedBranch {
    pub site: BranchSite,
    pub exits: Vec<BranchExit>,
}

/// Marks, instruments and traces the branches of `production`.
pub fn instrument_object(
    production_module: &Module,
    entry_name: &str,
    origins: &SourceKnowledge<'_>,
) -> Result<InstrumentedObject, InstrumentError> {
    instrument_object_as(production_module, entry_name, origins, &RecordRequest::default())
        .map_err(InstrumentError::from)
}

/// The same with a record mode, witnesses or a device in view.
pub fn instrument_object_as(
    production_module: &Module,
    entry_name: &str,
    origins: &SourceKnowledge<'_>,
    record_request: &RecordRequest,
) -> Result<InstrumentedObject, NotInstrumented> {
    let entry_function =
        compute_entry(production_module, entry_name).map_err(InstrumentError::caused_by)?.function;
    let types = Types::of_module(production_module);
    let watched_branches = watch_branches(production_module, &types, entry_function);
    let (marked_words, marker_structure) =
        mark::mark_branches(production_module, &watched_branches, entry_name);
    let marked_words = Arc::new(marked_words);
    let module = Module::parse(Arc::clone(&marked_words)).map_err(InstrumentError::caused_by)?;
    let instrumented = instrument_as(&marker_structure, &module, entry_name, record_request)?;
    let mut object_structure =
        traced_structure(production_module, entry_function, &watched_branches, origins);
    object_structure.bits = instrumented.markers.layout.bits;
    for (branch, watched_branch) in object_structure.branches.iter_mut().zip(&watched_branches) {
        branch.outcomes = recorded_outcomes(watched_branch, &instrumented.markers.layout)?;
    }
    Ok(InstrumentedObject { structure: object_structure, marked: marked_words, made: instrumented })
}

/// The branches of a module with their outcomes and origins, without records: every bit is 0.
pub fn unrecorded_structure(
    production_module: &Module,
    entry_name: &str,
    origins: &SourceKnowledge<'_>,
) -> Result<ObjectStructure, InstrumentError> {
    let entry_function =
        compute_entry(production_module, entry_name).map_err(InstrumentError::caused_by)?.function;
    let types = Types::of_module(production_module);
    Ok(traced_structure(
        production_module,
        entry_function,
        &watch_branches(production_module, &types, entry_function),
        origins,
    ))
}

fn traced_structure(
    production_module: &Module,
    entry_function: Id,
    watched_branches: &[WatchedBranch],
    origins: &SourceKnowledge<'_>,
) -> ObjectStructure {
    let places_and_origins = origin::trace_branches(production_module, watched_branches, origins);
    let loops = origin::trace_loops(production_module, entry_function, origins);
    let mut branches = Vec::with_capacity(watched_branches.len());
    for (branch_number, (watched_branch, (place, origin))) in
        (1..).zip(watched_branches.iter().zip(places_and_origins))
    {
        branches.push(ObjectBranch {
            id: ObjectBranchId(branch_number),
            kind: watched_branch.site.kind,
            place,
            outcomes: watched_branch.exits.iter().map(|exit| exit_outcome(exit, 0)).collect(),
            origin,
        });
    }
    ObjectStructure { branches, loops, bits: 0, unrecorded: None }
}

fn exit_outcome(exit: &BranchExit, bit: u32) -> ObjectOutcome {
    let (label, text) = match &exit.condition {
        ExitCondition::Outcome(outcome) => (outcome.to_string(), outcome.as_bool().to_string()),
        ExitCondition::Labels { target_number, labels } => {
            (format!("L{target_number}"), target_text(labels))
        }
    };
    ObjectOutcome { label, text, bit }
}

fn target_text(labels: &[SwitchLabel]) -> String {
    let listed_labels = labels.iter().map(SwitchLabel::to_string).collect::<Vec<_>>().join(", ");
    match labels {
        [SwitchLabel::Default] => listed_labels,
        _ => format!("case {listed_labels}"),
    }
}

fn bit_of_exit(exit: &BranchExit, record_layout: &RecordLayout) -> Option<u32> {
    match (exit.role, &exit.condition) {
        (MarkerRole::Single { decision }, ExitCondition::Outcome(wanted_outcome)) => {
            let slot = record_layout.slot(decision)?;
            let row = slot.vectors.iter().find(|row| row.vector.outcome == *wanted_outcome)?;
            Some(slot.base + row.sum)
        }
        (MarkerRole::Mark { mark }, _) => record_layout.mark_bit(mark),
        (MarkerRole::Single { .. }, ExitCondition::Labels { .. })
        | (
            MarkerRole::Condition { .. }
            | MarkerRole::Decision { .. }
            | MarkerRole::MarkWhere { .. },
            _,
        ) => None,
    }
}

fn recorded_outcomes(
    watched_branch: &WatchedBranch,
    record_layout: &RecordLayout,
) -> Result<Vec<ObjectOutcome>, InstrumentError> {
    watched_branch
        .exits
        .iter()
        .map(|exit| {
            Ok(exit_outcome(exit, bit_of_exit(exit, record_layout).ok_or_else(missing_record)?))
        })
        .collect()
}

fn missing_record() -> InstrumentError {
    InstrumentError {
        message: "a branch of the object code has no place in the records".to_owned(),
    }
}

/// Every branch with its outcomes: one decision for two outcomes, one mark for each target of a
/// switch.
fn watch_branches(module: &Module, types: &Types, entry_function: Id) -> Vec<WatchedBranch> {
    let (mut decision_count, mut mark_count) = (0, 0);
    let mut watched_branches = Vec::new();
    for site in branch_sites(module, types, entry_function) {
        let exits = match site.kind {
            ObjectBranchKind::Conditional | ObjectBranchKind::Select => {
                decision_count += 1;
                let role = MarkerRole::Single { decision: DecisionId(decision_count) };
                [Outcome::True, Outcome::False]
                    .map(|outcome| BranchExit { condition: ExitCondition::Outcome(outcome), role })
                    .into()
            }
            ObjectBranchKind::Switch => {
                let target_labels = labels_by_target(module, types, site.instruction);
                let exits = (1..).zip(target_labels).map(|(target_number, (_, labels))| {
                    mark_count += 1;
                    BranchExit {
                        condition: ExitCondition::Labels { target_number, labels },
                        role: MarkerRole::Mark { mark: MarkIndex(mark_count - 1) },
                    }
                });
                exits.collect()
            }
        };
        watched_branches.push(WatchedBranch { site, exits });
    }
    watched_branches
}

/// The labels that lead to each distinct target of a switch; cases first, a default of its own
/// last.
fn labels_by_target(
    module: &Module,
    types: &Types,
    switch_index: usize,
) -> Vec<(Id, Vec<SwitchLabel>)> {
    let switch = &module.instructions[switch_index];
    let selector = switch.id(0).and_then(|id| module.definition(id)).and_then(|i| i.result_type);
    let signed_width = selector.and_then(|ty| match types.get(ty) {
        Some(Type::Int { width, signedness: Signedness::Signed }) => Some(*width),
        _ => None,
    });
    let (default_targets, case_targets): (Vec<_>, Vec<_>) =
        switch_targets(switch).into_iter().partition(|(value, _)| value.is_none());
    let mut labels_by_target: Vec<(Id, Vec<SwitchLabel>)> = Vec::new();
    for (value, target) in case_targets.into_iter().chain(default_targets) {
        let label = match value {
            Some(value) => SwitchLabel::Case(label_text(value, signed_width)),
            None => SwitchLabel::Default,
        };
        match labels_by_target.iter_mut().find(|(known_target, _)| *known_target == target) {
            Some((_, labels)) => labels.push(label),
            None => labels_by_target.push((target, vec![label])),
        }
    }
    labels_by_target
}

fn label_text(label_value: u64, signed_width: Option<u32>) -> String {
    match signed_width {
        Some(width @ 1..=63) => {
            let unused_bits = 64 - width;
            ((label_value << unused_bits) as i64 >> unused_bits).to_string()
        }
        Some(_) => (label_value as i64).to_string(),
        None => label_value.to_string(),
    }
}

/// The marker numbers of a marked production module, in the form that instrumentation understands:
/// one decision of one condition for each branch with two outcomes, one mark for each target of a
/// switch.
fn marker_structure(
    roles: Vec<MarkerRole>,
    entry_name: &str,
    value_marker: &str,
    mark_marker: &str,
) -> KernelStructure {
    let span = Span { file: FileIndex(0), start: 0, end: 0 };
    let mut decisions = Vec::new();
    for role in &roles {
        if let MarkerRole::Single { decision } = role {
            decisions.push(Decision {
                id: *decision,
                function: None,
                context: DecisionContext::If,
                span,
                text: String::new(),
                expression: BooleanExpression::Condition(0),
                conditions: vec![Condition {
                    span,
                    text: String::new(),
                    coupling: 0,
                    constness: Constness::Runtime,
                }],
                constness: Constness::Runtime,
                recording: Recording::Marked,
                expansion: Vec::new(),
            });
        }
    }
    KernelStructure {
        files: Vec::new(),
        entry: entry_name.to_owned(),
        functions: Vec::new(),
        decisions,
        switches: Vec::new(),
        accuracy: Accuracy::Exact,
        markers: roles,
        value_marker: value_marker.to_owned(),
        mark_marker: mark_marker.to_owned(),
        texts: TextDigests::default(),
        requested: RequestedParts::default(),
    }
}

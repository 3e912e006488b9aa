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
mod position;
mod values;

pub use position::PositionTable;

use super::trace::{BranchSite, branch_sites};
use super::{InstrumentError, Instrumented, NotInstrumented, RecordRequest, instrument_as};
use vkcert_model::id::{DecisionId, ObjectBranchId};
use vkcert_model::object::*;
use vkcert_model::place::{FileIndex, Span};
use vkcert_model::records::RecordLayout;
use vkcert_model::structure::{
    Accuracy, BooleanExpression, Condition, Constness, Decision, DecisionContext, KernelStructure,
    MarkIndex, MarkerRole, Recording, TextDigests,
};
use vkcert_model::vector::Outcome;
use vkcert_spirv::cfg::switch_targets;
use vkcert_spirv::interface::compute_entry;
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::types::{Signedness, Type, Types};

/// A production module whose branches are recorded.
#[derive(Debug, Clone)]
pub struct InstrumentedObject {
    pub structure: ObjectStructure,
    /// Production with marker calls, for the sequential engine.
    pub marked: Vec<u32>,
    /// The modules and tables made of it; its findings and notes say nothing new.
    pub made: Instrumented,
}

/// What the branches of a module are traced to.
pub enum Origins<'a> {
    /// The source text that the module was compiled from.
    Source {
        structure: &'a KernelStructure,
        positions: &'a PositionTable,
    },
    /// The source is there, but which instruction comes from where is not known; why.
    Unknown(&'a str),
    NoSource,
}

/// One outcome of a branch before it is recorded.
pub(super) struct Exit {
    pub label: String,
    pub text: String,
    pub role: MarkerRole,
}

/// A branch with its place in the records.
pub(super) struct Watched {
    pub site: BranchSite,
    pub exits: Vec<Exit>,
}

/// Marks, instruments and traces the branches of `production`.
pub fn instrument_object(
    production: &Module,
    entry: &str,
    origins: &Origins<'_>,
) -> Result<InstrumentedObject, InstrumentError> {
    instrument_object_as(production, entry, origins, &RecordRequest::default())
        .map_err(InstrumentError::from)
}

/// The same with a record mode, witnesses or a device in view.
pub fn instrument_object_as(
    production: &Module,
    entry: &str,
    origins: &Origins<'_>,
    request: &RecordRequest,
) -> Result<InstrumentedObject, NotInstrumented> {
    let failed = |error: &dyn std::fmt::Display| InstrumentError { message: error.to_string() };
    let function = compute_entry(production, entry).map_err(|error| failed(&error))?.function;
    let types = Types::of_module(production);
    let watched = watch(production, &types, function);
    let (marked, described) = mark::mark(production, &watched, entry);
    let module = Module::parse(marked.clone()).map_err(|error| failed(&error))?;
    let made = instrument_as(&described, &module, entry, request)?;
    let mut structure = traced(production, function, &watched, origins);
    structure.bits = made.markers.layout.bits;
    for (branch, watched) in structure.branches.iter_mut().zip(&watched) {
        branch.outcomes = outcomes(watched, &made.markers.layout)?;
    }
    Ok(InstrumentedObject { structure, marked, made })
}

/// The branches of a module with their outcomes and origins, without records: every bit is 0.
pub fn unrecorded_structure(
    production: &Module,
    entry: &str,
    origins: &Origins<'_>,
) -> Result<ObjectStructure, InstrumentError> {
    let function = compute_entry(production, entry)
        .map_err(|error| InstrumentError { message: error.to_string() })?
        .function;
    let types = Types::of_module(production);
    Ok(traced(production, function, &watch(production, &types, function), origins))
}

fn traced(
    production: &Module,
    function: Id,
    watched: &[Watched],
    origins: &Origins<'_>,
) -> ObjectStructure {
    let traced = origin::trace(production, watched, origins);
    let loops = origin::loops(production, function, origins);
    let rows = watched.iter().zip(traced).enumerate();
    let branches = rows.map(|(index, (watched, (place, origin)))| ObjectBranch {
        id: ObjectBranchId(index as u32 + 1),
        kind: watched.site.kind,
        place,
        outcomes: watched.exits.iter().map(|exit| outcome(exit, 0)).collect(),
        origin,
    });
    ObjectStructure { branches: branches.collect(), loops, bits: 0, unrecorded: None }
}

fn outcome(exit: &Exit, bit: u32) -> ObjectOutcome {
    ObjectOutcome { label: exit.label.clone(), text: exit.text.clone(), bit }
}

fn outcomes(
    watched: &Watched,
    layout: &RecordLayout,
) -> Result<Vec<ObjectOutcome>, InstrumentError> {
    let missing = || InstrumentError {
        message: "a branch of the object code has no place in the records".to_owned(),
    };
    let bit = |exit: &Exit| match exit.role {
        MarkerRole::Single { decision } => {
            let slot = layout.slot(decision)?;
            let wanted = Outcome::from(exit.label == "T");
            let row = slot.vectors.iter().find(|row| row.vector.outcome == wanted)?;
            Some(slot.base + row.sum)
        }
        MarkerRole::Mark { mark } => layout.mark_bit(mark),
        MarkerRole::Condition { .. } | MarkerRole::Decision { .. } => None,
    };
    watched.exits.iter().map(|exit| Ok(outcome(exit, bit(exit).ok_or_else(missing)?))).collect()
}

/// Every branch with its outcomes: one decision for two outcomes, one mark for each target of a
/// switch.
fn watch(module: &Module, types: &Types, entry: Id) -> Vec<Watched> {
    let (mut decisions, mut marks) = (0, 0);
    let mut watched = Vec::new();
    for site in branch_sites(module, types, entry) {
        let exits = match site.kind {
            ObjectBranchKind::Conditional | ObjectBranchKind::Select => {
                decisions += 1;
                let role = MarkerRole::Single { decision: DecisionId(decisions) };
                let exit = |label: &str, text: &str| Exit {
                    label: label.to_owned(),
                    text: text.to_owned(),
                    role,
                };
                vec![exit("T", "true"), exit("F", "false")]
            }
            ObjectBranchKind::Switch => {
                let groups = switch_groups(module, types, site.instruction);
                let exits = groups.into_iter().enumerate().map(|(number, (_, text))| {
                    marks += 1;
                    let role = MarkerRole::Mark { mark: MarkIndex(marks - 1) };
                    Exit { label: format!("L{}", number + 1), text, role }
                });
                exits.collect()
            }
        };
        watched.push(Watched { site, exits });
    }
    watched
}

/// The distinct targets of a switch with the labels that lead there; cases first, a default of its
/// own last.
fn switch_groups(module: &Module, types: &Types, instruction: usize) -> Vec<(Id, String)> {
    let switch = &module.instructions[instruction];
    let selector = switch.id(0).and_then(|id| module.definition(id)).and_then(|i| i.result_type);
    let signed = selector.and_then(|ty| match types.get(ty) {
        Some(Type::Int { width, signedness: Signedness::Signed }) => Some(*width),
        _ => None,
    });
    let (defaults, cases): (Vec<_>, Vec<_>) =
        switch_targets(switch).into_iter().partition(|(value, _)| value.is_none());
    let mut groups: Vec<(Id, Vec<String>)> = Vec::new();
    for (value, target) in cases.into_iter().chain(defaults) {
        let text = value.map_or_else(|| "default".to_owned(), |value| label_text(value, signed));
        match groups.iter_mut().find(|(known, _)| *known == target) {
            Some((_, texts)) => texts.push(text),
            None => groups.push((target, vec![text])),
        }
    }
    let named = |texts: Vec<String>| {
        let only_default = texts.len() == 1 && texts[0] == "default";
        if only_default { texts.join(", ") } else { format!("case {}", texts.join(", ")) }
    };
    groups.into_iter().map(|(target, texts)| (target, named(texts))).collect()
}

fn label_text(value: u64, signed_width: Option<u32>) -> String {
    match signed_width {
        Some(width @ 1..=63) => {
            let shift = 64 - width;
            ((value << shift) as i64 >> shift).to_string()
        }
        Some(_) => (value as i64).to_string(),
        None => value.to_string(),
    }
}

/// The marker numbers of a marked production module, in the form that instrumentation understands:
/// one decision of one condition for each branch with two outcomes, one mark for each target of a
/// switch.
fn described(
    roles: Vec<MarkerRole>,
    entry: &str,
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
        entry: entry.to_owned(),
        functions: Vec::new(),
        decisions,
        switches: Vec::new(),
        accuracy: Accuracy::Exact,
        markers: roles,
        value_marker: value_marker.to_owned(),
        mark_marker: mark_marker.to_owned(),
        texts: TextDigests::default(),
    }
}

//! What the branches, selects and loops of a production module come from.
//!
//! Knows: two ways to the source. *Values*: a condition is computed by instructions that carry the
//! token of their text, and the marked module, re-lined alike, says which decisions the value of
//! that text belongs to. *Order* (modules that are not optimised): the compiler emits the
//! constructs of a function in source order, in production as in the marked module, where every
//! branch names its decision; production leaves out branches of the marked module (a cheap right
//! side of `&&` is evaluated eagerly) and turns some into selects, but changes no order.
//! Promises: what neither way explains is on one of the closed lists of docs/object-code.md, or
//! `Untraced` with a reason.
//! Does not cover: modules without source.

use super::super::markers::MarkerCalls;
use super::super::trace::{BranchSite, ClosedList, branch_sites};
use super::order::{self, AtTernary, BranchCandidate, MarkedConstruct, MarkedSite};
use super::owners::{DecisionOwners, OwnersOfValue};
use super::position::PositionTable;
use super::values::{LeafReader, ValueLeaves};
use super::{ExitCondition, SourceKnowledge, SwitchLabel, WatchedBranch};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_glsl::Optimization;
use vkcert_model::id::SwitchId;
use vkcert_model::object::{ObjectBranchKind, ObjectLoop, ObjectOrigin};
use vkcert_model::place::Place;
use vkcert_model::structure::{KernelStructure, LabelKind, Switch};
use vkcert_spirv::calls::reachable_functions;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::types::Types;

/// Place and origin of every watched branch.
pub(super) fn trace_branches(
    production_module: &Module,
    watched_branches: &[WatchedBranch],
    origins: &SourceKnowledge<'_>,
) -> Vec<(Place, ObjectOrigin)> {
    let same_origin = |origin: ObjectOrigin| {
        watched_branches
            .iter()
            .map(|branch| (production_module.place_of(branch.site.instruction), origin.clone()))
            .collect()
    };
    match origins {
        // The marked text is not compiled for nothing.
        _ if watched_branches.is_empty() => Vec::new(),
        SourceKnowledge::NoSource => same_origin(ObjectOrigin::NoSource),
        SourceKnowledge::Unknown(reason) => {
            same_origin(ObjectOrigin::Untraced((*reason).to_owned()))
        }
        SourceKnowledge::Source { structure, positions } => {
            match ModulePair::read_modules(production_module, structure, positions) {
                Ok(source) => source.trace_watched(watched_branches),
                Err(reason) => same_origin(ObjectOrigin::Untraced(reason)),
            }
        }
    }
}

/// Place and origin of every loop of the functions that `entry` reaches.
pub(super) fn trace_loops(
    production_module: &Module,
    entry_function: Id,
    origins: &SourceKnowledge<'_>,
) -> Vec<ObjectLoop> {
    let mut found_loops = Vec::new();
    for id in reachable_functions(production_module, entry_function) {
        let Some(function) = production_module.function_by_id(id) else { continue };
        for index in function
            .instruction_indices()
            .filter(|index| production_module.instructions[*index].op == Op::LoopMerge)
        {
            let (loop_place, origin) = match origins {
                SourceKnowledge::NoSource => {
                    (production_module.place_of(index), ObjectOrigin::NoSource)
                }
                SourceKnowledge::Unknown(reason) => (
                    production_module.place_of(index),
                    ObjectOrigin::Untraced((*reason).to_owned()),
                ),
                SourceKnowledge::Source { structure, positions } => {
                    loop_origin(production_module, positions, structure, index)
                }
            };
            found_loops.push(ObjectLoop { place: loop_place, origin });
        }
    }
    found_loops
}

/// An optimiser merges the header of a loop with its condition: then its token is one of the
/// condition's.
fn loop_origin(
    production_module: &Module,
    position_table: &PositionTable,
    kernel_structure: &KernelStructure,
    merge_index: usize,
) -> (Place, ObjectOrigin) {
    let loop_place = production_module.place_of(merge_index);
    match position_table.token_of(merge_index).and_then(|token| position_table.loop_of(token)) {
        Some(loop_keyword) => {
            let origin = ObjectOrigin::Loop(position_table.token_text(loop_keyword).to_owned());
            (position_table.place_of_token(loop_place, loop_keyword, kernel_structure), origin)
        }
        None => (
            loop_place,
            ObjectOrigin::Untraced(
                "it stands in no loop statement, or has no place at all".to_owned(),
            ),
        ),
    }
}

/// Production and marked module side by side.
struct ModulePair<'a> {
    production: &'a Module,
    structure: &'a KernelStructure,
    positions: &'a PositionTable,
    constants: Constants,
    owners: DecisionOwners,
    /// Constructs of the marked module by function name, in module order.
    constructs: BTreeMap<String, Vec<MarkedConstruct>>,
}

/// What is known of one branch before the order of its function is looked at.
struct KnownBranch {
    leaves: ValueLeaves,
    owners: Arc<OwnersOfValue>,
}

impl<'a> ModulePair<'a> {
    fn read_modules(
        production_module: &'a Module,
        kernel_structure: &'a KernelStructure,
        position_table: &'a PositionTable,
    ) -> Result<Self, String> {
        let marked = &position_table.marked_module().map_err(|error| error.to_string())?;
        let types = Types::of_module(marked);
        let marked_constants = Constants::evaluate(marked, &types, &BTreeMap::new())
            .map_err(|error| error.to_string())?;
        let marker_calls = MarkerCalls::find_all(kernel_structure, marked, &marked_constants)
            .map_err(|error| error.to_string())?;
        let token_of_marked = |index: usize| position_table.marked_token(marked, index);
        let leaf_reader = LeafReader::for_module(marked, &marked_constants, &token_of_marked);
        let closed_list = ClosedList {
            structure: kernel_structure,
            module: marked,
            constants: &marked_constants,
        };
        let marked_site = |branch_site: BranchSite| {
            let marked_token = token_of_marked(branch_site.instruction);
            MarkedSite {
                site: branch_site,
                ternary: at_ternary(position_table, marked_token),
                token: marked_token,
            }
        };
        let sites: Vec<MarkedSite> = branch_sites_of_all(marked, &types, &marker_calls)
            .into_iter()
            .map(marked_site)
            .collect();
        let constructs = order::marked_constructs(
            kernel_structure,
            &leaf_reader,
            &marker_calls,
            &closed_list,
            &sites,
        );
        let owners = match position_table.optimization() {
            Optimization::Zero => DecisionOwners::of_decisions(&leaf_reader, &marker_calls),
            Optimization::Performance | Optimization::Size => DecisionOwners::of_rewritten(
                &leaf_reader.of_rewritten(),
                &marker_calls,
                kernel_structure,
            ),
        };
        let constants = Constants::evaluate(
            production_module,
            &Types::of_module(production_module),
            &BTreeMap::new(),
        )
        .map_err(|error| error.to_string())?;
        Ok(Self {
            production: production_module,
            structure: kernel_structure,
            positions: position_table,
            constants,
            owners,
            constructs,
        })
    }

    fn trace_watched(&self, watched_branches: &[WatchedBranch]) -> Vec<(Place, ObjectOrigin)> {
        let token = |index: usize| self.positions.token_of(index);
        let keys = LeafReader::for_module(self.production, &self.constants, &token);
        let known_branches = self.known_branches(&keys, watched_branches);
        let ordered_origins = match self.positions.optimization() {
            Optimization::Zero => self.by_order(watched_branches, &known_branches),
            Optimization::Performance | Optimization::Size => vec![None; watched_branches.len()],
        };
        let rows = watched_branches.iter().zip(&known_branches).zip(ordered_origins);
        let mut traced_branches = Vec::with_capacity(watched_branches.len());
        for ((watched_branch, known_branch), ordered_origin) in rows {
            traced_branches.push((
                self.branch_place(watched_branch.site, known_branch),
                ordered_origin.unwrap_or_else(|| self.by_value(watched_branch, known_branch)),
            ));
        }
        traced_branches
    }

    /// Thousands of branches may have one value: a specialization constant.
    fn known_branches(
        &self,
        keys: &LeafReader<'_>,
        watched_branches: &[WatchedBranch],
    ) -> Vec<KnownBranch> {
        let mut owners_by_leaves: BTreeMap<ValueLeaves, Arc<OwnersOfValue>> = BTreeMap::new();
        let mut known_branches = Vec::with_capacity(watched_branches.len());
        for watched_branch in watched_branches {
            let condition = self.production.instructions[watched_branch.site.instruction].id(0);
            let leaves = condition.map(|condition| keys.leaves_of(condition)).unwrap_or_default();
            let owners = match owners_by_leaves.get(&leaves) {
                Some(owners) => Arc::clone(owners),
                None => {
                    let owners = Arc::new(self.owners.of_value(&leaves));
                    owners_by_leaves.insert(leaves.clone(), Arc::clone(&owners));
                    owners
                }
            };
            known_branches.push(KnownBranch { leaves, owners });
        }
        known_branches
    }

    /// The place of a branch: that of the first token of its condition.
    fn branch_place(&self, branch_site: BranchSite, known_branch: &KnownBranch) -> Place {
        let production_place = self.production.place_of(branch_site.instruction);
        match known_branch.leaves.first_token() {
            Some(token) => self.positions.place_of_token(production_place, token, self.structure),
            None => self.positions.place_of_instruction(
                self.production,
                branch_site.instruction,
                self.structure,
            ),
        }
    }

    fn by_value(&self, watched_branch: &WatchedBranch, known_branch: &KnownBranch) -> ObjectOrigin {
        let site = watched_branch.site;
        if site.kind == ObjectBranchKind::Switch {
            return self.switch_by_value(watched_branch, &known_branch.leaves);
        }
        let closed_list = ClosedList {
            structure: self.structure,
            module: self.production,
            constants: &self.constants,
        };
        let closed_reason = closed_list.reason_for(site);
        let at_ternary = self.ternary_of(site);
        match closed_reason {
            Some(why) if at_ternary == AtTernary::No => ObjectOrigin::Construct(why.to_owned()),
            Some(_) | None if !known_branch.owners.closest.is_empty() => {
                ObjectOrigin::Decisions(known_branch.owners.closest.clone())
            }
            Some(why) => ObjectOrigin::Construct(why.to_owned()),
            None => self.without_decision(&known_branch.leaves),
        }
    }

    fn ternary_of(&self, branch_site: BranchSite) -> AtTernary {
        at_ternary(self.positions, self.positions.token_of(branch_site.instruction))
    }

    fn switch_by_value(
        &self,
        watched_branch: &WatchedBranch,
        leaves: &ValueLeaves,
    ) -> ObjectOrigin {
        let switches: Vec<usize> =
            leaves.token_leaves().filter_map(|token| self.positions.switch_of(token)).collect();
        match switches.first() {
            Some(first_switch)
                if switches.iter().all(|other_switch| other_switch == first_switch) =>
            {
                ObjectOrigin::Switch(SwitchId(*first_switch as u32 + 1))
            }
            _ if leaves.is_empty() => ObjectOrigin::CompilerMade(
                "a switch on a constant, by which code is left early".to_owned(),
            ),
            _ => match self.switch_by_labels(watched_branch) {
                Some(switch) => ObjectOrigin::Switch(switch),
                None => ObjectOrigin::Untraced(
                    "several switch statements have the same labels".to_owned(),
                ),
            },
        }
    }

    /// The only switch statement whose labels are those of an OpSwitch.
    fn switch_by_labels(&self, watched_branch: &WatchedBranch) -> Option<SwitchId> {
        let mut own_values: BTreeSet<&str> = BTreeSet::new();
        for exit in &watched_branch.exits {
            let ExitCondition::Labels { labels, .. } = &exit.condition else { continue };
            own_values.extend(labels.iter().filter_map(SwitchLabel::case_value));
        }
        let mut fitting_switches =
            self.structure.switches.iter().filter(|switch| case_values(switch) == own_values);
        let first_fitting = fitting_switches.next()?;
        fitting_switches.next().is_none().then_some(first_fitting.id)
    }

    fn without_decision(&self, leaves: &ValueLeaves) -> ObjectOrigin {
        if leaves.is_empty() {
            return ObjectOrigin::CompilerMade(
                "a flag of constants, by which code is left early".to_owned(),
            );
        }
        if leaves.has_unplaced() {
            return ObjectOrigin::Untraced("the compiler gives its condition no place".to_owned());
        }
        let (owning_decisions, foreign_leaves) = self.owners.of_each(leaves);
        if foreign_leaves.is_empty() {
            return ObjectOrigin::Decisions(owning_decisions.into_iter().collect());
        }
        if let Some(token) =
            foreign_leaves.token_leaves().find(|token| self.positions.in_decision(*token))
        {
            let token_text = self.positions.token_text(token);
            return ObjectOrigin::Untraced(format!(
                "the decision around `{token_text}` is not marked"
            ));
        }
        let token_texts: Vec<String> = foreign_leaves
            .token_leaves()
            .map(|token| format!("`{}`", self.positions.token_text(token)))
            .collect();
        if token_texts.is_empty() {
            return ObjectOrigin::Untraced(
                "its condition is a variable or constant of no known decision".to_owned(),
            );
        }
        let decision_names: Vec<String> =
            owning_decisions.iter().map(ToString::to_string).collect();
        let also_owned = if decision_names.is_empty() {
            String::new()
        } else {
            format!(" and of {}", decision_names.join(", "))
        };
        ObjectOrigin::Construct(format!(
            "the value of Boolean expressions that are no decisions under the policy ({}){also_owned}",
            token_texts.join(", ")
        ))
    }

    /// What order says of each branch, function by function; none where it leaves the origin open.
    fn by_order(
        &self,
        watched_branches: &[WatchedBranch],
        known_branches: &[KnownBranch],
    ) -> Vec<Option<ObjectOrigin>> {
        let mut origins = vec![None; watched_branches.len()];
        let mut branches_by_function: BTreeMap<Id, Vec<usize>> = BTreeMap::new();
        for (index, branch) in watched_branches.iter().enumerate() {
            if let Some(function) = self.production.function_at(branch.site.instruction) {
                branches_by_function.entry(function.id).or_default().push(index);
            }
        }
        for (function, branch_indices) in branches_by_function {
            let constructs =
                self.production.debug_name(function).and_then(|name| self.constructs.get(name));
            let Some(constructs) = constructs else { continue };
            let candidates = branch_indices.iter().map(|branch_index| BranchCandidate {
                kind: watched_branches[*branch_index].site.kind,
                ternary: self.ternary_of(watched_branches[*branch_index].site),
                owners: &known_branches[*branch_index].owners,
                token: self.positions.token_of(watched_branches[*branch_index].site.instruction),
            });
            let candidates: Vec<BranchCandidate<'_>> = candidates.collect();
            let Some(matched_constructs) = order::align_branches(&candidates, constructs) else {
                continue;
            };
            for (branch_index, construct) in branch_indices.into_iter().zip(matched_constructs) {
                origins[branch_index] = constructs[construct].object_origin();
            }
        }
        origins
    }
}

/// The numbers of all case labels of a switch statement.
fn case_values(switch: &Switch) -> BTreeSet<&str> {
    let case_labels = switch.labels.iter().filter(|label| label.kind == LabelKind::Case);
    case_labels
        .map(|label| label.text.trim_matches(|c: char| !c.is_ascii_digit() && c != '-'))
        .collect()
}

fn at_ternary(position_table: &PositionTable, token: Option<u32>) -> AtTernary {
    match token.map(|token| position_table.token_text(token)) {
        Some("?") => AtTernary::Yes,
        Some(_) | None => AtTernary::No,
    }
}

/// Branches of every function but the markers: which functions the entry point reaches is the same
/// in both modules.
fn branch_sites_of_all(
    marked_module: &Module,
    types: &Types,
    marker_calls: &MarkerCalls,
) -> Vec<BranchSite> {
    let mut sites = Vec::new();
    for function in
        marked_module.functions.iter().filter(|function| !marker_calls.is_marker(function.id))
    {
        sites.extend(
            branch_sites(marked_module, types, function.id)
                .into_iter()
                .filter(|site| function.range.contains(site.instruction)),
        );
    }
    sites
}

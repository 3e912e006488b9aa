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
use super::order::{self, AtTernary, Candidate, Construct, MarkedSite};
use super::position::PositionTable;
use super::values::{Keys, Leaves, Owners, OwnersOfValue};
use super::{Origins, Watched};
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
pub(super) fn trace(
    production: &Module,
    watched: &[Watched],
    origins: &Origins<'_>,
) -> Vec<(Place, ObjectOrigin)> {
    let everywhere = |origin: ObjectOrigin| {
        watched
            .iter()
            .map(|branch| (production.place_of(branch.site.instruction), origin.clone()))
            .collect()
    };
    match origins {
        // The marked text is not compiled for nothing.
        _ if watched.is_empty() => Vec::new(),
        Origins::NoSource => everywhere(ObjectOrigin::NoSource),
        Origins::Unknown(reason) => everywhere(ObjectOrigin::Untraced((*reason).to_owned())),
        Origins::Source { structure, positions } => {
            match Source::read(production, structure, positions) {
                Ok(source) => source.trace(watched),
                Err(reason) => everywhere(ObjectOrigin::Untraced(reason)),
            }
        }
    }
}

/// Place and origin of every loop of the functions that `entry` reaches.
pub(super) fn loops(production: &Module, entry: Id, origins: &Origins<'_>) -> Vec<ObjectLoop> {
    let mut found = Vec::new();
    for id in reachable_functions(production, entry) {
        let Some(function) = production.function_by_id(id) else { continue };
        for index in function
            .range
            .clone()
            .filter(|index| production.instructions[*index].op == Op::LoopMerge)
        {
            let (place, origin) = match origins {
                Origins::NoSource => (production.place_of(index), ObjectOrigin::NoSource),
                Origins::Unknown(reason) => {
                    (production.place_of(index), ObjectOrigin::Untraced((*reason).to_owned()))
                }
                Origins::Source { structure, positions } => {
                    loop_origin(production, positions, structure, index)
                }
            };
            found.push(ObjectLoop { place, origin });
        }
    }
    found
}

/// An optimiser merges the header of a loop with its condition: then its token is one of the
/// condition's.
fn loop_origin(
    production: &Module,
    positions: &PositionTable,
    structure: &KernelStructure,
    merge: usize,
) -> (Place, ObjectOrigin) {
    let place = production.place_of(merge);
    match positions.token(merge).and_then(|token| positions.loop_of(token)) {
        Some(keyword) => {
            let origin = ObjectOrigin::Loop(positions.text(keyword).to_owned());
            (positions.at(place, keyword, structure), origin)
        }
        None => (
            place,
            ObjectOrigin::Untraced(
                "it stands in no loop statement, or has no place at all".to_owned(),
            ),
        ),
    }
}

/// Production and marked module side by side.
struct Source<'a> {
    production: &'a Module,
    structure: &'a KernelStructure,
    positions: &'a PositionTable,
    constants: Constants,
    owners: Owners,
    /// Constructs of the marked module by function name, in module order.
    constructs: BTreeMap<String, Vec<Construct>>,
}

/// What is known of one branch before the order of its function is looked at.
struct Known {
    leaves: Leaves,
    owners: Arc<OwnersOfValue>,
}

impl<'a> Source<'a> {
    fn read(
        production: &'a Module,
        structure: &'a KernelStructure,
        positions: &'a PositionTable,
    ) -> Result<Self, String> {
        let marked = &positions.marked().map_err(|error| error.to_string())?;
        let types = Types::of_module(marked);
        let marked_constants = Constants::evaluate(marked, &types, &BTreeMap::new())
            .map_err(|error| error.to_string())?;
        let calls = MarkerCalls::of(structure, marked, &marked_constants)
            .map_err(|error| error.to_string())?;
        let token = |index: usize| positions.marked_token(marked, index);
        let keys = Keys::of(marked, &marked_constants, &token);
        let closed = ClosedList { structure, module: marked, constants: &marked_constants };
        let marked_site = |site: BranchSite| {
            let token = positions.marked_token(marked, site.instruction);
            MarkedSite { site, ternary: at_ternary(positions, token), token }
        };
        let sites: Vec<MarkedSite> =
            branch_sites_of_all(marked, &types, &calls).into_iter().map(marked_site).collect();
        let constructs = order::constructs(structure, &keys, &calls, &closed, &sites);
        let owners = match positions.optimization() {
            Optimization::Zero => Owners::of(&keys, &calls),
            Optimization::Performance | Optimization::Size => {
                Owners::of_rewritten(&keys.of_rewritten(), &calls, structure)
            }
        };
        let constants =
            Constants::evaluate(production, &Types::of_module(production), &BTreeMap::new())
                .map_err(|error| error.to_string())?;
        Ok(Self { production, structure, positions, constants, owners, constructs })
    }

    fn trace(&self, watched: &[Watched]) -> Vec<(Place, ObjectOrigin)> {
        let token = |index: usize| self.positions.token(index);
        let keys = Keys::of(self.production, &self.constants, &token);
        let known = self.known(&keys, watched);
        let ordered = match self.positions.optimization() {
            Optimization::Zero => self.by_order(watched, &known),
            Optimization::Performance | Optimization::Size => vec![None; watched.len()],
        };
        let rows = watched.iter().zip(&known).zip(ordered);
        let place_and_origin =
            |((branch, known), ordered): ((&Watched, &Known), Option<ObjectOrigin>)| {
                (
                    self.place(branch.site, known),
                    ordered.unwrap_or_else(|| self.by_value(branch, known)),
                )
            };
        rows.map(place_and_origin).collect()
    }

    /// Thousands of branches may have one value: a specialization constant.
    fn known(&self, keys: &Keys<'_>, watched: &[Watched]) -> Vec<Known> {
        let mut owners: BTreeMap<Leaves, Arc<OwnersOfValue>> = BTreeMap::new();
        let known = |branch: &Watched| {
            let condition = self.production.instructions[branch.site.instruction].id(0);
            let leaves = condition.map(|condition| keys.leaves(condition)).unwrap_or_default();
            let owners = owners
                .entry(leaves.clone())
                .or_insert_with(|| Arc::new(self.owners.of_value(&leaves)));
            Known { leaves, owners: Arc::clone(owners) }
        };
        watched.iter().map(known).collect()
    }

    /// The place of a branch: that of the first token of its condition.
    fn place(&self, site: BranchSite, known: &Known) -> Place {
        let place = self.production.place_of(site.instruction);
        match known.leaves.first_token() {
            Some(token) => self.positions.at(place, token, self.structure),
            None => self.positions.place(self.production, site.instruction, self.structure),
        }
    }

    fn by_value(&self, branch: &Watched, known: &Known) -> ObjectOrigin {
        let site = branch.site;
        if site.kind == ObjectBranchKind::Switch {
            return self.switch_by_value(branch, &known.leaves);
        }
        let closed = ClosedList {
            structure: self.structure,
            module: self.production,
            constants: &self.constants,
        };
        let explained = closed.explains(site);
        let ternary = self.ternary(site);
        match explained {
            Some(why) if ternary == AtTernary::No => ObjectOrigin::Construct(why.to_owned()),
            Some(_) | None if !known.owners.closest.is_empty() => {
                ObjectOrigin::Decisions(known.owners.closest.clone())
            }
            Some(why) => ObjectOrigin::Construct(why.to_owned()),
            None => self.without_decision(&known.leaves),
        }
    }

    fn ternary(&self, site: BranchSite) -> AtTernary {
        at_ternary(self.positions, self.positions.token(site.instruction))
    }

    fn switch_by_value(&self, branch: &Watched, leaves: &Leaves) -> ObjectOrigin {
        let switches: Vec<usize> =
            leaves.tokens().filter_map(|token| self.positions.switch_of(token)).collect();
        match switches.first() {
            Some(first) if switches.iter().all(|other| other == first) => {
                ObjectOrigin::Switch(SwitchId(*first as u32 + 1))
            }
            _ if leaves.is_empty() => ObjectOrigin::CompilerMade(
                "a switch on a constant, by which code is left early".to_owned(),
            ),
            _ => match self.switch_by_labels(branch) {
                Some(switch) => ObjectOrigin::Switch(switch),
                None => ObjectOrigin::Untraced(
                    "several switch statements have the same labels".to_owned(),
                ),
            },
        }
    }

    /// The only switch statement whose labels are those of an OpSwitch.
    fn switch_by_labels(&self, branch: &Watched) -> Option<SwitchId> {
        let values = |text: &str| {
            text.trim_start_matches("case ").split(", ").map(str::to_owned).collect::<Vec<_>>()
        };
        let own: BTreeSet<String> =
            branch.exits.iter().flat_map(|exit| values(&exit.text)).collect();
        let own: BTreeSet<String> = own.into_iter().filter(|value| value != "default").collect();
        let same = |switch: &&Switch| {
            let cases = switch.labels.iter().filter(|label| label.kind == LabelKind::Case);
            let digits = |text: &str| {
                text.trim_matches(|c: char| !c.is_ascii_digit() && c != '-').to_owned()
            };
            cases.map(|label| digits(&label.text)).collect::<BTreeSet<String>>() == own
        };
        let mut fitting = self.structure.switches.iter().filter(same);
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first.id)
    }

    fn without_decision(&self, leaves: &Leaves) -> ObjectOrigin {
        if leaves.is_empty() {
            return ObjectOrigin::CompilerMade(
                "a flag of constants, by which code is left early".to_owned(),
            );
        }
        if leaves.has_unplaced() {
            return ObjectOrigin::Untraced("the compiler gives its condition no place".to_owned());
        }
        let (owned, foreign) = self.owners.of_each(leaves);
        if foreign.is_empty() {
            return ObjectOrigin::Decisions(owned.into_iter().collect());
        }
        if let Some(token) = foreign.tokens().find(|token| self.positions.in_decision(*token)) {
            let text = self.positions.text(token);
            return ObjectOrigin::Untraced(format!("the decision around `{text}` is not marked"));
        }
        let texts: Vec<String> =
            foreign.tokens().map(|token| format!("`{}`", self.positions.text(token))).collect();
        if texts.is_empty() {
            return ObjectOrigin::Untraced(
                "its condition is a variable or constant of no known decision".to_owned(),
            );
        }
        let names: Vec<String> = owned.iter().map(ToString::to_string).collect();
        let also =
            if names.is_empty() { String::new() } else { format!(" and of {}", names.join(", ")) };
        ObjectOrigin::Construct(format!(
            "the value of Boolean expressions that are no decisions under the policy ({}){also}",
            texts.join(", ")
        ))
    }

    /// What order says of each branch, function by function; none where it leaves the origin open.
    fn by_order(&self, watched: &[Watched], known: &[Known]) -> Vec<Option<ObjectOrigin>> {
        let mut origins = vec![None; watched.len()];
        let mut functions: BTreeMap<Id, Vec<usize>> = BTreeMap::new();
        for (index, branch) in watched.iter().enumerate() {
            if let Some(function) = self.production.function_at(branch.site.instruction) {
                functions.entry(function.id).or_default().push(index);
            }
        }
        for (function, rows) in functions {
            let constructs =
                self.production.debug_name(function).and_then(|name| self.constructs.get(name));
            let Some(constructs) = constructs else { continue };
            let candidates = rows.iter().map(|row| Candidate {
                kind: watched[*row].site.kind,
                ternary: self.ternary(watched[*row].site),
                owners: &known[*row].owners,
                token: self.positions.token(watched[*row].site.instruction),
            });
            let candidates: Vec<Candidate<'_>> = candidates.collect();
            let Some(matched) = order::align(&candidates, constructs) else { continue };
            for (row, construct) in rows.into_iter().zip(matched) {
                origins[row] = constructs[construct].origin();
            }
        }
        origins
    }
}

fn at_ternary(positions: &PositionTable, token: Option<u32>) -> AtTernary {
    match token.map(|token| positions.text(token)) {
        Some("?") => AtTernary::Yes,
        Some(_) | None => AtTernary::No,
    }
}

/// Branches of every function but the markers: which functions the entry point reaches is the same
/// in both modules.
fn branch_sites_of_all(marked: &Module, types: &Types, calls: &MarkerCalls) -> Vec<BranchSite> {
    let mut sites = Vec::new();
    for function in marked.functions.iter().filter(|function| !calls.is_marker(function.id)) {
        sites.extend(
            branch_sites(marked, types, function.id)
                .into_iter()
                .filter(|site| function.range.contains(&site.instruction)),
        );
    }
    sites
}

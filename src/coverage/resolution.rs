//! What a configuration fixes: conditions and outcomes with one value, and what can therefore never
//! happen.
//!
//! Knows: the structure, which markers the module holds with the values and the reach that
//! instrumentation resolved, and the configuration's constants by name.
//! Promises: a thing is called impossible only if no input of the kernel makes it happen; it stays
//! an obligation, with a proposal for a justification that names configuration, constants and
//! values. The classes are DO-178C's: deactivated is what other values of the configuration would
//! bring to life; infeasible is an outcome or effect that the source text itself rules out; dead is
//! what the module does not hold. Code that the text rules out and the module holds all the same
//! has no proposal: it is to be removed.
//! Does not cover: what only relations between changing values rule out; whether a proposal is
//! right for the project.

mod cause_search;
mod ruled_out;
mod ruling;

use super::statement::{Evidence, Execution, Taken, execution};
use super::subject::{CoverageSubject, ProposalRules};
pub(super) use ruled_out::RuledOut;
use ruled_out::{Cause, Ground, Matter};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::Configuration;
use vkcert_model::id::{DecisionId, StatementId, SwitchId};
use vkcert_model::records::{Presence, Reach};
use vkcert_model::structure::{
    Constness, Decision, KernelStructure, MarkIndex, MarkerRole, Recording,
};
use vkcert_model::vector::Outcome;

/// A condition that has one value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fixed {
    value: bool,
    /// Specialization ids behind it.
    constants: Vec<u32>,
}

/// What a module holds, and what a configuration fixes of it.
pub(super) struct Resolution<'a> {
    structure: &'a KernelStructure,
    configuration: &'a Configuration,
    pub proposing: ProposalRules,
    fixed: BTreeMap<(DecisionId, u32), Fixed>,
    pub outcome_markers: BTreeMap<DecisionId, Constness>,
    pub condition_markers: BTreeMap<(DecisionId, u32), Constness>,
    pub marks: BTreeSet<MarkIndex>,
    excluded_decisions: BTreeSet<DecisionId>,
    excluded_marks: BTreeSet<MarkIndex>,
    /// What could happen if nothing were fixed, and what can happen as it is.
    open: Execution,
    possible: Execution,
    causes: BTreeMap<StatementId, Cause>,
    /// Statement that holds a decision in its header.
    headers: BTreeMap<DecisionId, StatementId>,
}

/// The evidence that everything possible would leave.
struct Imagined<'a> {
    resolution: &'a Resolution<'a>,
    world: World,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum World {
    /// Nothing is fixed.
    Open,
    /// What the configuration fixes is fixed.
    Configured,
}

impl Evidence for Imagined<'_> {
    fn decision(&self, decision: DecisionId) -> Taken {
        let resolution = self.resolution;
        if let Recording::Unmarked { .. } = resolution.structure.decision(decision).recording {
            return Taken::Unrecorded;
        }
        let never = Taken::Recorded { true_seen: false, false_seen: false };
        if !resolution.outcome_markers.contains_key(&decision) {
            return never;
        }
        match self.world {
            World::Open => Taken::Recorded { true_seen: true, false_seen: true },
            World::Configured if resolution.excluded_decisions.contains(&decision) => never,
            World::Configured => match resolution.outcome(decision) {
                Some(outcome) => {
                    Taken::Recorded { true_seen: outcome.as_bool(), false_seen: !outcome.as_bool() }
                }
                None => Taken::Recorded { true_seen: true, false_seen: true },
            },
        }
    }

    fn mark(&self, mark: MarkIndex) -> Option<bool> {
        let resolution = self.resolution;
        let excluded = self.world == World::Configured && resolution.excluded_marks.contains(&mark);
        Some(resolution.marks.contains(&mark) && !excluded)
    }
}

impl<'a> Resolution<'a> {
    pub(crate) fn new(subject: &CoverageSubject<'a>) -> Self {
        let CoverageSubject { structure, layout: _, presence, configuration, proposing } = *subject;
        let mut resolution = Self {
            structure,
            configuration,
            proposing,
            fixed: BTreeMap::new(),
            outcome_markers: BTreeMap::new(),
            condition_markers: BTreeMap::new(),
            marks: BTreeSet::new(),
            excluded_decisions: BTreeSet::new(),
            excluded_marks: BTreeSet::new(),
            open: Execution::default(),
            possible: Execution::default(),
            causes: BTreeMap::new(),
            headers: BTreeMap::new(),
        };
        resolution.read(presence);
        resolution.open =
            execution(structure, &Imagined { resolution: &resolution, world: World::Open });
        let nothing_fixed = resolution.fixed.is_empty()
            && resolution.excluded_decisions.is_empty()
            && resolution.excluded_marks.is_empty();
        resolution.possible = match nothing_fixed {
            true => resolution.open.clone(),
            false => execution(
                structure,
                &Imagined { resolution: &resolution, world: World::Configured },
            ),
        };
        resolution.with_causes()
    }

    fn read(&mut self, presence: &Presence) {
        for marker in presence.markers.values() {
            let excluded = marker.reach == Reach::Excluded;
            let condition = match marker.role {
                MarkerRole::Condition { decision, condition } => Some((decision, condition)),
                MarkerRole::Single { decision } => Some((decision, 0)),
                MarkerRole::Decision { .. } | MarkerRole::Mark { .. } => None,
            };
            if let Some(condition) = condition {
                self.condition_markers.insert(condition, marker.constness);
                if let Some(value) = marker.value {
                    self.fixed
                        .insert(condition, Fixed { value, constants: marker.constants.clone() });
                }
            }
            match marker.role {
                MarkerRole::Decision { decision } | MarkerRole::Single { decision } => {
                    self.outcome_markers.insert(decision, marker.constness);
                    if excluded {
                        self.excluded_decisions.insert(decision);
                    }
                }
                MarkerRole::Mark { mark } => {
                    self.marks.insert(mark);
                    if excluded {
                        self.excluded_marks.insert(mark);
                    }
                }
                MarkerRole::Condition { .. } => {}
            }
        }
    }

    /// The value of a condition by 0-based index.
    pub(crate) fn value(&self, decision: DecisionId, condition: u32) -> Option<bool> {
        self.fixed.get(&(decision, condition)).map(|fixed| fixed.value)
    }

    /// By condition, as the calculus takes them.
    pub(crate) fn values(&self, decision: &Decision) -> Vec<Option<bool>> {
        (0..decision.conditions.len())
            .map(|condition| self.value(decision.id, condition as u32))
            .collect()
    }

    /// The only outcome that a decision can have.
    pub(crate) fn outcome(&self, decision: DecisionId) -> Option<Outcome> {
        let expression = &self.structure.decision(decision).expression;
        expression.decided_value(&|condition| self.value(decision, condition)).map(Outcome::from)
    }

    /// Whether control can come to a decision.
    pub(crate) fn is_evaluated(&self, decision: DecisionId) -> bool {
        !self.excluded_decisions.contains(&decision)
    }

    pub(crate) fn is_passed(&self, mark: MarkIndex) -> bool {
        !self.excluded_marks.contains(&mark)
    }

    /// Why a statement cannot be executed.
    pub(crate) fn statement(&self, statement: StatementId) -> Option<RuledOut> {
        let truth = |execution: &Execution| execution.statements.get(&statement).copied();
        let cause = self.causes.get(&statement).copied();
        self.ruled_out(truth(&self.open)?, truth(&self.possible)?, || self.unreached(cause))
    }

    /// For the entry point of the function at `index` of the structure.
    pub(crate) fn entry(&self, index: usize) -> Option<RuledOut> {
        self.ruled_out(self.open.points[index].0, self.possible.points[index].0, || {
            self.uncalled(index)
        })
    }

    /// For one of its exit points.
    pub(crate) fn exit(
        &self,
        index: usize,
        exit: usize,
        statement: Option<StatementId>,
    ) -> Option<RuledOut> {
        if let Some(ruled_out) = self.entry(index) {
            return Some(ruled_out);
        }
        let truth = |execution: &Execution| execution.points[index].1[exit];
        let cause = statement.and_then(|statement| self.causes.get(&statement).copied());
        self.ruled_out(truth(&self.open), truth(&self.possible), || self.unreached(cause))
    }

    pub(crate) fn label(&self, switch: SwitchId, mark: MarkIndex) -> Option<RuledOut> {
        if !self.marks.contains(&mark) {
            return Some(self.absent());
        }
        self.excluded_marks.contains(&mark).then(|| self.unreached(Some(Cause::Switch(switch))))
    }

    /// For an outcome of a decision.
    pub(crate) fn choice(&self, decision: DecisionId, outcome: Outcome) -> Option<RuledOut> {
        if let Some(ruled_out) = self.unevaluated(decision) {
            return Some(ruled_out);
        }
        let only = self.outcome(decision)?;
        (only != outcome).then(|| {
            let ground = self.ground(decision, &self.deciding(decision));
            self.judged(
                Matter::Choice,
                &ground,
                format!("{}{}", self.always(decision, only), self.setting(&ground)),
            )
        })
    }

    /// For everything of a decision that control cannot come to.
    pub(crate) fn unevaluated(&self, decision: DecisionId) -> Option<RuledOut> {
        self.excluded_decisions.contains(&decision).then(|| self.unreached(self.cause_of(decision)))
    }

    /// For the effect of a condition (0-based), or a vector, that fixed conditions of its decision
    /// rule out.
    pub(crate) fn effect(&self, decision: DecisionId, condition: Option<u32>) -> Option<RuledOut> {
        if let Some(ruled_out) = self.unevaluated(decision) {
            return Some(ruled_out);
        }
        let own = condition.filter(|condition| self.fixed.contains_key(&(decision, *condition)));
        let involved = own.map_or_else(|| self.all_fixed(decision), |condition| vec![condition]);
        if involved.is_empty() {
            return None;
        }
        let ground = self.ground(decision, &involved);
        let always = involved.iter().map(|condition| self.always_condition(decision, *condition));
        let always = always.collect::<Vec<_>>().join(" and ");
        Some(self.judged(Matter::Choice, &ground, format!("{always}{}", self.setting(&ground))))
    }

    /// Vectors in the records that cannot be, as sentences: then tool, compiler or device are at
    /// fault.
    pub(crate) fn contradiction(
        &self,
        decision: &Decision,
        values: &vkcert_model::vector::Values,
    ) -> Option<String> {
        if !self.is_evaluated(decision.id) {
            let ground = Ground::default();
            return Some(format!(
                "{} is evaluated, though control cannot come to it{}",
                decision.id,
                self.setting(&ground)
            ));
        }
        let wrong = values.0.iter().enumerate().find_map(|(condition, value)| {
            let (value, fixed) = value.as_bool().zip(self.value(decision.id, condition as u32))?;
            (value != fixed).then_some(condition as u32)
        })?;
        let ground = self.ground(decision.id, &[wrong]);
        let always = self.always_condition(decision.id, wrong);
        Some(format!("{} shows {values}, though {always}{}", decision.id, self.setting(&ground)))
    }
}

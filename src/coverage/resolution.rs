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

use super::statement::{DecisionOutcomes, Execution, ExecutionEvidence, derived_execution};
use super::subject::{CoverageSubject, ProposalRules};
pub(super) use ruled_out::RuledOut;
use ruled_out::{FixingGround, ImpossibleMatter, UnreachableCause};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use vkcert_model::evidence::Configuration;
use vkcert_model::id::{DecisionId, StatementId, SwitchId};
use vkcert_model::records::{Presence, Reach};
use vkcert_model::structure::{
    Call, Constness, Decision, KernelStructure, Loop, LoopCase, LoopKind, MarkIndex, MarkerRole,
    Recording,
};
use vkcert_model::vector::Outcome;

/// A condition that has one value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FixedCondition<'a> {
    value: bool,
    /// Specialization ids behind it.
    constants: &'a [u32],
}

/// What a module holds, and what a configuration fixes of it.
pub(super) struct Resolution<'a> {
    structure: &'a KernelStructure,
    configuration: &'a Configuration,
    pub proposing: ProposalRules,
    fixed_conditions: BTreeMap<(DecisionId, u32), FixedCondition<'a>>,
    pub outcome_markers: BTreeMap<DecisionId, Constness>,
    pub condition_markers: BTreeMap<(DecisionId, u32), Constness>,
    pub marks: BTreeSet<MarkIndex>,
    excluded_decisions: BTreeSet<DecisionId>,
    /// Marks that no marker can set.
    excluded_marks: BTreeSet<MarkIndex>,
    /// What could happen if nothing were fixed, and what can happen as it is.
    if_nothing_fixed: Rc<Execution>,
    as_configured: Rc<Execution>,
    unreachable_causes: BTreeMap<StatementId, UnreachableCause>,
    /// Statement that holds a decision in its header.
    decision_headers: BTreeMap<DecisionId, StatementId>,
}

/// The evidence that everything possible would leave.
struct PossibleEvidence<'a> {
    resolution: &'a Resolution<'a>,
    world: AssumedConfiguration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AssumedConfiguration {
    /// Nothing is fixed.
    Open,
    /// What the configuration fixes is fixed.
    Configured,
}

impl ExecutionEvidence for PossibleEvidence<'_> {
    fn decision_outcomes(&self, decision: DecisionId) -> DecisionOutcomes {
        let resolution = self.resolution;
        if let Recording::Unmarked { .. } = resolution.structure.decision(decision).recording {
            return DecisionOutcomes::Unrecorded;
        }
        let never_taken = DecisionOutcomes::Recorded { true_seen: false, false_seen: false };
        if !resolution.outcome_markers.contains_key(&decision) {
            return never_taken;
        }
        match self.world {
            AssumedConfiguration::Open => {
                DecisionOutcomes::Recorded { true_seen: true, false_seen: true }
            }
            AssumedConfiguration::Configured
                if resolution.excluded_decisions.contains(&decision) =>
            {
                never_taken
            }
            AssumedConfiguration::Configured => match resolution.only_outcome(decision) {
                Some(outcome) => DecisionOutcomes::Recorded {
                    true_seen: outcome.as_bool(),
                    false_seen: !outcome.as_bool(),
                },
                None => DecisionOutcomes::Recorded { true_seen: true, false_seen: true },
            },
        }
    }

    fn mark_passed(&self, mark: MarkIndex) -> Option<bool> {
        let resolution = self.resolution;
        let is_excluded = self.world == AssumedConfiguration::Configured
            && resolution.excluded_marks.contains(&mark);
        Some(resolution.marks.contains(&mark) && !is_excluded)
    }
}

impl<'a> Resolution<'a> {
    pub(crate) fn new(subject: &CoverageSubject<'a>) -> Self {
        let CoverageSubject { structure, layout: _, presence, configuration, proposing } = *subject;
        let mut resolution = Self {
            structure,
            configuration,
            proposing,
            fixed_conditions: BTreeMap::new(),
            outcome_markers: BTreeMap::new(),
            condition_markers: BTreeMap::new(),
            marks: BTreeSet::new(),
            excluded_decisions: BTreeSet::new(),
            excluded_marks: BTreeSet::new(),
            if_nothing_fixed: Rc::default(),
            as_configured: Rc::default(),
            unreachable_causes: BTreeMap::new(),
            decision_headers: BTreeMap::new(),
        };
        resolution.read_markers(presence);
        resolution.if_nothing_fixed = Rc::new(derived_execution(
            structure,
            &PossibleEvidence { resolution: &resolution, world: AssumedConfiguration::Open },
        ));
        let nothing_fixed = resolution.fixed_conditions.is_empty()
            && resolution.excluded_decisions.is_empty()
            && resolution.excluded_marks.is_empty();
        resolution.as_configured = match nothing_fixed {
            true => Rc::clone(&resolution.if_nothing_fixed),
            false => Rc::new(derived_execution(
                structure,
                &PossibleEvidence {
                    resolution: &resolution,
                    world: AssumedConfiguration::Configured,
                },
            )),
        };
        resolution.with_causes()
    }

    fn read_markers(&mut self, presence: &'a Presence) {
        let mut possible_marks: BTreeSet<MarkIndex> = BTreeSet::new();
        for marker in presence.markers.values() {
            let is_excluded = marker.reach == Reach::Excluded;
            let condition_place = match marker.role {
                MarkerRole::Condition { decision, condition: condition_place } => {
                    Some((decision, condition_place))
                }
                MarkerRole::Single { decision } => Some((decision, 0)),
                MarkerRole::Decision { .. }
                | MarkerRole::Mark { .. }
                | MarkerRole::MarkWhere { .. } => None,
            };
            if let Some(condition_place) = condition_place {
                self.condition_markers.insert(condition_place, marker.constness);
                if let Some(value) = marker.value {
                    self.fixed_conditions.insert(
                        condition_place,
                        FixedCondition { value, constants: &marker.constants },
                    );
                }
            }
            match marker.role {
                MarkerRole::Decision { decision } | MarkerRole::Single { decision } => {
                    self.outcome_markers.insert(decision, marker.constness);
                    if is_excluded {
                        self.excluded_decisions.insert(decision);
                    }
                }
                MarkerRole::Mark { mark } | MarkerRole::MarkWhere { mark } => {
                    self.marks.insert(mark);
                    if !is_excluded {
                        possible_marks.insert(mark);
                    }
                }
                MarkerRole::Condition { .. } => {}
            }
        }
        self.excluded_marks = self.marks.difference(&possible_marks).copied().collect();
    }

    /// The value of a condition by 0-based index.
    pub(crate) fn fixed_value(&self, decision: DecisionId, condition: u32) -> Option<bool> {
        self.fixed_conditions.get(&(decision, condition)).map(|fixed| fixed.value)
    }

    /// By condition, as the calculus takes them.
    pub(crate) fn fixed_values(&self, decision: &Decision) -> Vec<Option<bool>> {
        (0..decision.conditions.len())
            .map(|condition| self.fixed_value(decision.id, condition as u32))
            .collect()
    }

    /// The only outcome that a decision can have.
    pub(crate) fn only_outcome(&self, decision: DecisionId) -> Option<Outcome> {
        let expression = &self.structure.decision(decision).expression;
        expression
            .decided_value(&|condition| self.fixed_value(decision, condition))
            .map(Outcome::from)
    }

    /// Whether control can come to a decision.
    pub(crate) fn is_evaluated(&self, decision: DecisionId) -> bool {
        !self.excluded_decisions.contains(&decision)
    }

    pub(crate) fn is_passed(&self, mark: MarkIndex) -> bool {
        !self.excluded_marks.contains(&mark)
    }

    /// Why a statement cannot be executed.
    pub(crate) fn statement_ruled_out(&self, statement: StatementId) -> Option<RuledOut> {
        let statement_truth = |execution: &Execution| execution.statements.get(&statement).copied();
        let cause = self.unreachable_causes.get(&statement).copied();
        self.ruled_out_if(
            statement_truth(&self.if_nothing_fixed)?,
            statement_truth(&self.as_configured)?,
            || self.unreached_ruling(cause),
        )
    }

    /// For the entry point of the function at `index` of the structure.
    pub(crate) fn entry_ruled_out(&self, function_index: usize) -> Option<RuledOut> {
        self.ruled_out_if(
            self.if_nothing_fixed.points[function_index].0,
            self.as_configured.points[function_index].0,
            || self.uncalled_ruling(function_index),
        )
    }

    /// For one of its exit points.
    pub(crate) fn exit_ruled_out(
        &self,
        function_index: usize,
        exit_index: usize,
        statement: Option<StatementId>,
    ) -> Option<RuledOut> {
        if let Some(ruled_out) = self.entry_ruled_out(function_index) {
            return Some(ruled_out);
        }
        let exit_truth = |execution: &Execution| execution.points[function_index].1[exit_index];
        let cause =
            statement.and_then(|statement| self.unreachable_causes.get(&statement).copied());
        self.ruled_out_if(
            exit_truth(&self.if_nothing_fixed),
            exit_truth(&self.as_configured),
            || self.unreached_ruling(cause),
        )
    }

    pub(crate) fn label_ruled_out(&self, switch: SwitchId, mark: MarkIndex) -> Option<RuledOut> {
        if !self.marks.contains(&mark) {
            return Some(self.absent_ruling());
        }
        self.excluded_marks
            .contains(&mark)
            .then(|| self.unreached_ruling(Some(UnreachableCause::Switch(switch))))
    }

    /// Why a call cannot be executed.
    pub(crate) fn call_ruled_out(&self, call: &Call, mark: MarkIndex) -> Option<RuledOut> {
        if !self.marks.contains(&mark) {
            return Some(self.absent_ruling());
        }
        let is_excluded = self.excluded_marks.contains(&mark);
        is_excluded.then(|| self.unreached_ruling(self.cause_at(call.span, None)))
    }

    /// Why no execution of a loop can show the case: control never comes to the loop, its form has
    /// no such case, or its condition has one outcome.
    pub(crate) fn case_refused(&self, loop_statement: &Loop, case: LoopCase) -> Option<RuledOut> {
        let unreached = loop_statement.statement.and_then(|id| self.statement_ruled_out(id));
        if unreached.is_some() {
            return unreached;
        }
        if let Some(reason) = loop_statement.kind.refusal(case) {
            let by_text = FixingGround::default();
            let reason = reason.to_owned();
            return Some(self.classified_ruling(ImpossibleMatter::Choice, &by_text, reason));
        }
        let needed_outcome = match (loop_statement.kind, case) {
            (LoopKind::Head, LoopCase::Zero) => Outcome::False,
            (LoopKind::Head, LoopCase::Once) => Outcome::True,
            (LoopKind::Head | LoopKind::Tail, LoopCase::More) => Outcome::True,
            (LoopKind::Head | LoopKind::Tail, LoopCase::Boundary) => Outcome::False,
            (LoopKind::Tail, LoopCase::Zero | LoopCase::Once)
            | (
                LoopKind::Endless,
                LoopCase::Zero | LoopCase::Once | LoopCase::More | LoopCase::Boundary,
            ) => return None,
        };
        let decision = loop_statement.decision?;
        self.outcome_ruled_out(decision, needed_outcome).or_else(|| {
            // Before the body, `boundary` needs both outcomes.
            let needs_entry = (loop_statement.kind, case) == (LoopKind::Head, LoopCase::Boundary);
            needs_entry.then(|| self.outcome_ruled_out(decision, Outcome::True)).flatten()
        })
    }

    /// Why a case that has a mark cannot be shown.
    pub(crate) fn case_ruled_out(
        &self,
        loop_statement: &Loop,
        case: LoopCase,
        mark: MarkIndex,
    ) -> Option<RuledOut> {
        let refused = self.case_refused(loop_statement, case);
        if refused.is_some() || self.is_passed(mark) && self.marks.contains(&mark) {
            return refused;
        }
        if !self.marks.contains(&mark) {
            return Some(self.absent_ruling());
        }
        Some(self.unreached_ruling(self.cause_at(loop_statement.span, loop_statement.statement)))
    }

    /// For an outcome of a decision.
    pub(crate) fn outcome_ruled_out(
        &self,
        decision: DecisionId,
        outcome: Outcome,
    ) -> Option<RuledOut> {
        if let Some(ruled_out) = self.decision_ruled_out(decision) {
            return Some(ruled_out);
        }
        let only_outcome = self.only_outcome(decision)?;
        (only_outcome != outcome).then(|| {
            let fixing_ground = self.fixing_ground(decision, &self.deciding_conditions(decision));
            self.classified_ruling(
                ImpossibleMatter::Choice,
                &fixing_ground,
                format!(
                    "{}{}",
                    self.always_sentence(decision, only_outcome),
                    self.setting_words(&fixing_ground)
                ),
            )
        })
    }

    /// For everything of a decision that control cannot come to.
    pub(crate) fn decision_ruled_out(&self, decision: DecisionId) -> Option<RuledOut> {
        self.excluded_decisions
            .contains(&decision)
            .then(|| self.unreached_ruling(self.cause_of(decision)))
    }

    /// For the effect of a condition (0-based), or a vector, that fixed conditions of its decision
    /// rule out.
    pub(crate) fn effect_ruled_out(
        &self,
        decision: DecisionId,
        condition: Option<u32>,
    ) -> Option<RuledOut> {
        if let Some(ruled_out) = self.decision_ruled_out(decision) {
            return Some(ruled_out);
        }
        let own_condition = condition
            .filter(|condition| self.fixed_conditions.contains_key(&(decision, *condition)));
        let involved_conditions =
            own_condition.map_or_else(|| self.all_fixed(decision), |condition| vec![condition]);
        if involved_conditions.is_empty() {
            return None;
        }
        let fixing_ground = self.fixing_ground(decision, &involved_conditions);
        let always_words =
            involved_conditions.iter().map(|condition| self.always_condition(decision, *condition));
        let always_words = always_words.collect::<Vec<_>>().join(" and ");
        Some(self.classified_ruling(
            ImpossibleMatter::Choice,
            &fixing_ground,
            format!("{always_words}{}", self.setting_words(&fixing_ground)),
        ))
    }

    /// Vectors in the records that cannot be, as sentences: then tool, compiler or device are at
    /// fault.
    pub(crate) fn contradiction(
        &self,
        decision: &Decision,
        values: &vkcert_model::vector::Values,
    ) -> Option<String> {
        if !self.is_evaluated(decision.id) {
            let fixing_ground = FixingGround::default();
            return Some(format!(
                "{} is evaluated, though control cannot come to it{}",
                decision.id,
                self.setting_words(&fixing_ground)
            ));
        }
        let wrong_condition = values.0.iter().enumerate().find_map(|(condition, value)| {
            let (value, fixed_value) =
                value.as_bool().zip(self.fixed_value(decision.id, condition as u32))?;
            (value != fixed_value).then_some(condition as u32)
        })?;
        let fixing_ground = self.fixing_ground(decision.id, &[wrong_condition]);
        let always_words = self.always_condition(decision.id, wrong_condition);
        Some(format!(
            "{} shows {values}, though {always_words}{}",
            decision.id,
            self.setting_words(&fixing_ground)
        ))
    }
}

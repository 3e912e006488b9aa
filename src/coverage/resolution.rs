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

use super::assess::Subject;
use super::command::UNATTAINABLE;
use super::statement::{Evidence, Execution, Taken, Truth, execution};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::coverage::Proposal;
use vkcert_model::evidence::{Configuration, FIRST_SCHEMA};
use vkcert_model::id::{DecisionId, StatementId, SwitchId};
use vkcert_model::place::Span;
use vkcert_model::records::{Presence, Reach};
use vkcert_model::requirement::JustificationClass;
use vkcert_model::structure::{
    Block, Constness, Decision, KernelStructure, MarkIndex, MarkerRole, Recording, Statement,
    StatementKind,
};
use vkcert_model::vector::Outcome;

/// Which classes are proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proposing {
    Current,
    /// As evidence of format 1 has them: extraneous choices, dead code whether the module holds it
    /// or not.
    AsInFirstFormat,
}

impl Proposing {
    /// Of evidence of a format.
    pub fn of_schema(schema: u32) -> Self {
        if schema == FIRST_SCHEMA { Proposing::AsInFirstFormat } else { Proposing::Current }
    }
}

/// Why something can never happen, and what a justification could therefore say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuledOut {
    /// Names the configuration, constants and values.
    pub reason: String,
    /// None where no justification could: the code is to be removed.
    pub class: Option<JustificationClass>,
}

impl RuledOut {
    pub(crate) fn proposal(&self) -> Option<Proposal> {
        self.class.map(|class| Proposal { class, reason: self.reason.clone() })
    }
}

/// Why something has no markers in the module.
const NO_CODE: &str = "no code generated: the compiler left it out of the module";

/// What becomes of code that the text rules out and the module holds.
const TO_REMOVE: &str = "dead code that is in the module is to be removed";

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
    pub proposing: Proposing,
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

/// Why a statement cannot be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The outcome that leads to it never occurs, or the one that leads past it always does.
    Decision(DecisionId),
    /// No label above it is ever taken.
    Switch(SwitchId),
    /// The function at this index of the structure is never called.
    Function(usize),
}

/// What kind of obligation cannot be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Matter {
    /// Something that is never executed.
    Code,
    /// An outcome or effect of a decision that has none.
    Choice,
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
    pub(crate) fn new(subject: &Subject<'a>) -> Self {
        let Subject { structure, layout: _, presence, configuration, proposing } = *subject;
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
        let mut search = CauseSearch {
            resolution: &resolution,
            causes: BTreeMap::new(),
            headers: BTreeMap::new(),
        };
        for (index, function) in structure.functions.iter().enumerate() {
            let called = !resolution.excluded_marks.contains(&function.entry_mark);
            search.row(&function.body, (!called).then_some(Cause::Function(index)));
        }
        let CauseSearch { causes, headers, .. } = search;
        Self { causes, headers, ..resolution }
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
        expression.decided(&|condition| self.value(decision, condition)).map(Outcome::from)
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

    /// What the module does not hold is absent, whatever is fixed.
    fn ruled_out(
        &self,
        open: Truth,
        possible: Truth,
        why: impl Fn() -> RuledOut,
    ) -> Option<RuledOut> {
        match (open, possible) {
            (Truth::No, _) => Some(self.absent()).filter(|_| self.proposing == Proposing::Current),
            (Truth::Yes | Truth::Unknown, Truth::No) => Some(why()),
            (Truth::Yes | Truth::Unknown, Truth::Yes | Truth::Unknown) => None,
        }
    }

    /// Fixed conditions of a decision, by index.
    fn all_fixed(&self, decision: DecisionId) -> Vec<u32> {
        self.fixed
            .range((decision, 0)..=(decision, u32::MAX))
            .map(|((_, condition), _)| *condition)
            .collect()
    }

    /// Fixed conditions that leave a decision its one outcome; those that do not matter for it are
    /// left out.
    fn deciding(&self, decision: DecisionId) -> Vec<u32> {
        let expression = &self.structure.decision(decision).expression;
        let mut kept = self.all_fixed(decision);
        for condition in self.all_fixed(decision).into_iter().rev() {
            let without: Vec<u32> =
                kept.iter().copied().filter(|other| *other != condition).collect();
            let value =
                |index: u32| self.value(decision, index).filter(|_| without.contains(&index));
            if expression.decided(&value).is_some() {
                kept = without;
            }
        }
        kept
    }

    /// `` `TILE > 8` (D3) is always true ``
    fn always(&self, decision: DecisionId, outcome: Outcome) -> String {
        let text = &self.structure.decision(decision).text;
        format!(
            "`{text}` ({decision}) is always {}",
            if outcome.as_bool() { "true" } else { "false" }
        )
    }

    fn always_condition(&self, decision: DecisionId, condition: u32) -> String {
        let text = &self.structure.decision(decision).conditions[condition as usize].text;
        let value = if self.value(decision, condition) == Some(true) { "true" } else { "false" };
        format!("`{text}` ({decision}.C{}) is always {value}", condition + 1)
    }

    /// What fixes conditions of a decision.
    fn ground(&self, decision: DecisionId, conditions: &[u32]) -> Ground {
        let of =
            |condition: &u32| self.fixed.get(&(decision, *condition)).map(|fixed| &fixed.constants);
        let constants = conditions.iter().filter_map(of).flatten().copied().collect();
        let texts = || {
            conditions
                .iter()
                .map(|condition| &self.structure.decision(decision).conditions[*condition as usize])
        };
        let named = |name: &&String| {
            texts().any(|condition| words(&condition.text).any(|word| word == name.as_str()))
        };
        Ground {
            constants,
            defines: self.configuration.defines.keys().filter(named).cloned().collect(),
        }
    }

    /// Everything that the configuration fixes.
    fn whole_ground(&self) -> Ground {
        let constants =
            self.configuration.specialization.iter().map(|constant| constant.id).collect();
        Ground { constants, defines: self.configuration.defines.keys().cloned().collect() }
    }

    /// ` under configuration TILE=16 (TILE = 16)`
    fn setting(&self, ground: &Ground) -> String {
        let Configuration { name, specialization, defines, .. } = self.configuration;
        let constants =
            specialization.iter().filter(|constant| ground.constants.contains(&constant.id));
        let mut values: Vec<String> = constants
            .map(|constant| format!("{} = {}", constant.label(), constant.value))
            .collect();
        values.extend(ground.defines.iter().map(|name| format!("{name} = {}", defines[name])));
        match (values.is_empty(), name.as_str()) {
            (true, _) => String::new(),
            (false, "" | "default") => {
                format!(" under the default configuration ({})", values.join(", "))
            }
            (false, name) => format!(" under configuration {name} ({})", values.join(", ")),
        }
    }

    fn judged(&self, matter: Matter, ground: &Ground, reason: String) -> RuledOut {
        let by_text = ground.constants.is_empty() && ground.defines.is_empty();
        let ruled_out = |class| RuledOut { reason: reason.clone(), class: Some(class) };
        match (by_text, matter, self.proposing) {
            (false, _, _) => ruled_out(JustificationClass::Deactivated),
            (true, Matter::Choice, Proposing::Current) => ruled_out(JustificationClass::Infeasible),
            (true, Matter::Code, Proposing::Current) => {
                RuledOut { reason: format!("{reason}; {TO_REMOVE}"), class: None }
            }
            (true, Matter::Choice, Proposing::AsInFirstFormat) => {
                ruled_out(JustificationClass::Extraneous)
            }
            (true, Matter::Code, Proposing::AsInFirstFormat) => ruled_out(JustificationClass::Dead),
        }
    }

    /// The compiler made nothing of it.
    pub(crate) fn absent(&self) -> RuledOut {
        let class = (self.proposing == Proposing::Current).then_some(JustificationClass::Dead);
        RuledOut { reason: NO_CODE.to_owned(), class }
    }

    /// No two vectors that can occur show the effect.
    pub(crate) fn unattainable(&self) -> RuledOut {
        let class =
            (self.proposing == Proposing::Current).then_some(JustificationClass::Infeasible);
        RuledOut { reason: UNATTAINABLE.to_owned(), class }
    }

    fn unreached(&self, cause: Option<Cause>) -> RuledOut {
        let (ground, why) = match cause {
            Some(Cause::Decision(decision)) => {
                let ground = self.ground(decision, &self.deciding(decision));
                let outcome = self.outcome(decision).map(|outcome| self.always(decision, outcome));
                (ground, outcome.unwrap_or_else(|| format!("{decision} leads past it")))
            }
            Some(Cause::Switch(switch)) => {
                let text = &self.structure.switch(switch).text;
                (self.whole_ground(), format!("`switch ({text})` ({switch}) takes another label"))
            }
            Some(Cause::Function(index)) => return self.uncalled(index),
            None => (self.whole_ground(), "no way that control can take leads to it".to_owned()),
        };
        let reason = format!("never executed, as {why}{}", self.setting(&ground));
        self.judged(Matter::Code, &ground, reason)
    }

    fn uncalled(&self, index: usize) -> RuledOut {
        let ground = self.whole_ground();
        let name = &self.structure.functions[index].name;
        let reason =
            format!("never executed, as no call of `{name}` is ever made{}", self.setting(&ground));
        self.judged(Matter::Code, &ground, reason)
    }

    /// Why control cannot come to a decision: the cause of the statement that holds it, or the
    /// decision around it.
    fn cause_of(&self, decision: DecisionId) -> Option<Cause> {
        let span = self.structure.decision(decision).span;
        let inside = |outer: Span| {
            outer.file == span.file && outer.start <= span.start && span.end <= outer.end
        };
        let around = self
            .structure
            .decisions
            .iter()
            .filter(|outer| outer.id != decision && inside(outer.span));
        let around = around
            .filter(|outer| !self.all_fixed(outer.id).is_empty())
            .min_by_key(|o| o.span.end - o.span.start);
        let mut statement = self.headers.get(&decision).copied();
        if statement.is_none() {
            let mut best = u32::MAX;
            for function in &self.structure.functions {
                super::statement::visit(&function.body, &mut |found| {
                    let length = found.span.end.saturating_sub(found.span.start);
                    if inside(found.span) && found.id.is_some() && length < best {
                        (best, statement) = (length, found.id);
                    }
                });
            }
        }
        let of_statement = statement.and_then(|statement| self.causes.get(&statement).copied());
        of_statement.or(around.map(|outer| Cause::Decision(outer.id)))
    }
}

/// What makes something fixed; nothing: the source text itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Ground {
    /// Specialization ids.
    constants: BTreeSet<u32>,
    /// Names of defines of the configuration.
    defines: BTreeSet<String>,
}

/// Identifiers of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

/// Finds for every statement that cannot be executed the fixed decision or switch at fault, as far
/// as structure tells.
struct CauseSearch<'r, 'a> {
    resolution: &'r Resolution<'a>,
    causes: BTreeMap<StatementId, Cause>,
    headers: BTreeMap<DecisionId, StatementId>,
}

impl CauseSearch<'_, '_> {
    /// Walks statements in a row that `why` may rule out; returns the last fixed decision inside,
    /// which may be why nothing comes behind it.
    fn row(&mut self, block: &Block, why: Option<Cause>) -> Option<Cause> {
        let (mut last, mut here) = (None, why);
        for statement in &block.0 {
            if let StatementKind::Label { switch, label } = statement.kind {
                let mark = self
                    .resolution
                    .structure
                    .switch(switch)
                    .labels
                    .get(label as usize)
                    .and_then(|l| l.mark);
                let passed = mark.is_none_or(|mark| self.resolution.is_passed(mark));
                (here, last) = (why.or((!passed).then_some(Cause::Switch(switch))), None);
            }
            if self.is_reached(statement) {
                here = None;
            }
            last = self.statement(statement, here.or(last)).or(last);
        }
        last
    }

    /// Whether a statement can be executed; what has no id says nothing.
    fn is_reached(&self, statement: &Statement) -> bool {
        let truth = statement.id.and_then(|id| self.resolution.possible.statements.get(&id));
        truth.is_some_and(|truth| *truth != Truth::No)
    }

    fn statement(&mut self, statement: &Statement, why: Option<Cause>) -> Option<Cause> {
        // What stands before it rules nothing out where it can be executed.
        let why = why.filter(|_| !self.is_reached(statement));
        if let (Some(id), Some(why)) = (statement.id, why)
            && self.resolution.possible.statements.get(&id) == Some(&Truth::No)
        {
            self.causes.insert(id, why);
        }
        match &statement.kind {
            StatementKind::Block { block } | StatementKind::Switch { body: block, .. } => {
                self.row(block, why)
            }
            StatementKind::If { decision, then, otherwise } => {
                let fixed = self.header(*decision, statement);
                let never = |outcome: Outcome| {
                    why.or(fixed.filter(|(_, only)| *only != outcome).map(|(cause, _)| cause))
                };
                let (on_true, on_false) = (never(Outcome::True), never(Outcome::False));
                let inside = self.statement(then, on_true);
                let inside =
                    otherwise.as_ref().and_then(|other| self.statement(other, on_false)).or(inside);
                fixed.map(|(cause, _)| cause).or(inside)
            }
            StatementKind::While { decision, body }
            | StatementKind::For { decision: Some(decision), body, .. } => {
                if let StatementKind::For { init: Some(init), .. } = &statement.kind {
                    self.statement(init, why);
                }
                let fixed = self.header(*decision, statement);
                let never =
                    fixed.filter(|(_, only)| *only == Outcome::False).map(|(cause, _)| cause);
                let inside = self.statement(body, why.or(never));
                fixed.map(|(cause, _)| cause).or(inside)
            }
            StatementKind::For { init, decision: None, body } => {
                let inside = init.as_ref().and_then(|init| self.statement(init, why));
                self.statement(body, why).or(inside)
            }
            StatementKind::DoWhile { body, decision } => {
                let inside = self.statement(body, why);
                self.header(*decision, statement).map(|(cause, _)| cause).or(inside)
            }
            StatementKind::Empty
            | StatementKind::Simple
            | StatementKind::Label { .. }
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return
            | StatementKind::Terminate => None,
        }
    }

    /// Notes the statement of a decision; the decision as a cause, with its only outcome.
    fn header(&mut self, decision: DecisionId, statement: &Statement) -> Option<(Cause, Outcome)> {
        if let Some(id) = statement.id {
            self.headers.insert(decision, id);
        }
        self.resolution.outcome(decision).map(|outcome| (Cause::Decision(decision), outcome))
    }
}

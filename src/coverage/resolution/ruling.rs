//! Why something can never happen, in words, and the class that is proposed for it.

use super::super::explanation::UNATTAINABLE;
use super::super::statement::Truth;
use super::super::statement::visit_block;
use super::super::subject::ProposalRules;
use super::Resolution;
use super::ruled_out::{FixingGround, ImpossibleMatter, RuledOut, UnreachableCause};
use vkcert_model::evidence::Configuration;
use vkcert_model::id::{DecisionId, StatementId};
use vkcert_model::place::Span;
use vkcert_model::requirement::JustificationClass;
use vkcert_model::structure::Decision;
use vkcert_model::vector::Outcome;

/// Why something has no markers in the module.
const NO_CODE: &str = "no code generated: the compiler left it out of the module";

/// What becomes of code that the text rules out and the module holds.
const TO_REMOVE: &str = "dead code that is in the module is to be removed";

/// Identifiers of a text.
fn identifiers_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

impl Resolution<'_> {
    /// What the module does not hold is absent, whatever is fixed.
    pub(super) fn ruled_out_if(
        &self,
        if_nothing_fixed: Truth,
        as_configured: Truth,
        ruling: impl Fn() -> RuledOut,
    ) -> Option<RuledOut> {
        match (if_nothing_fixed, as_configured) {
            (Truth::No, _) => {
                Some(self.absent_ruling()).filter(|_| self.proposing == ProposalRules::Current)
            }
            (Truth::Yes | Truth::Unknown, Truth::No) => Some(ruling()),
            (Truth::Yes | Truth::Unknown, Truth::Yes | Truth::Unknown) => None,
        }
    }

    /// Fixed conditions of a decision, by index.
    pub(super) fn all_fixed(&self, decision: DecisionId) -> Vec<u32> {
        self.fixed_conditions
            .range((decision, 0)..=(decision, u32::MAX))
            .map(|((_, condition), _)| *condition)
            .collect()
    }

    /// Fixed conditions that leave a decision its one outcome; those that do not matter for it are
    /// left out.
    pub(super) fn deciding_conditions(&self, decision: DecisionId) -> Vec<u32> {
        let expression = &self.structure.decision(decision).expression;
        let mut deciding_conditions = self.all_fixed(decision);
        for condition in self.all_fixed(decision).into_iter().rev() {
            let other_conditions: Vec<u32> = deciding_conditions
                .iter()
                .copied()
                .filter(|other_condition| *other_condition != condition)
                .collect();
            let remaining_value = |condition_index: u32| {
                self.fixed_value(decision, condition_index)
                    .filter(|_| other_conditions.contains(&condition_index))
            };
            if expression.decided_value(&remaining_value).is_some() {
                deciding_conditions = other_conditions;
            }
        }
        deciding_conditions
    }

    /// `` `TILE > 8` (D3) is always true ``
    pub(super) fn always_sentence(&self, decision: DecisionId, outcome: Outcome) -> String {
        let text = &self.structure.decision(decision).text;
        format!(
            "`{text}` ({decision}) is always {}",
            if outcome.as_bool() { "true" } else { "false" }
        )
    }

    pub(super) fn always_condition(&self, decision: DecisionId, condition: u32) -> String {
        let text = &self.structure.decision(decision).conditions[condition as usize].text;
        let value =
            if self.fixed_value(decision, condition) == Some(true) { "true" } else { "false" };
        format!("`{text}` ({decision}.C{}) is always {value}", condition + 1)
    }

    /// What fixes conditions of a decision.
    pub(super) fn fixing_ground(&self, decision: DecisionId, conditions: &[u32]) -> FixingGround {
        let constants_of = |condition: &u32| {
            self.fixed_conditions
                .get(&(decision, *condition))
                .map(|fixed_condition| fixed_condition.constants)
        };
        let constants = conditions.iter().filter_map(constants_of).flatten().copied().collect();
        let condition_texts = || {
            conditions
                .iter()
                .map(|condition| &self.structure.decision(decision).conditions[*condition as usize])
        };
        let is_named = |name: &&String| {
            condition_texts()
                .any(|condition| identifiers_of(&condition.text).any(|word| word == name.as_str()))
        };
        FixingGround {
            constants,
            defines: self.configuration.defines.keys().filter(is_named).cloned().collect(),
        }
    }

    /// Everything that the configuration fixes.
    fn whole_ground(&self) -> FixingGround {
        let constants =
            self.configuration.specialization.iter().map(|constant| constant.id).collect();
        FixingGround { constants, defines: self.configuration.defines.keys().cloned().collect() }
    }

    /// ` under configuration TILE=16 (TILE = 16)`
    pub(super) fn setting_words(&self, fixing_ground: &FixingGround) -> String {
        let Configuration { name, specialization, defines, .. } = self.configuration;
        let constants =
            specialization.iter().filter(|constant| fixing_ground.constants.contains(&constant.id));
        let mut setting_values: Vec<String> = constants
            .map(|constant| format!("{} = {}", constant.label(), constant.value))
            .collect();
        setting_values.extend(
            fixing_ground
                .defines
                .iter()
                .map(|macro_name| format!("{macro_name} = {}", defines[macro_name])),
        );
        match (setting_values.is_empty(), name.as_str()) {
            (true, _) => String::new(),
            (false, "" | "default") => {
                format!(" under the default configuration ({})", setting_values.join(", "))
            }
            (false, name) => format!(" under configuration {name} ({})", setting_values.join(", ")),
        }
    }

    pub(super) fn classified_ruling(
        &self,
        matter: ImpossibleMatter,
        fixing_ground: &FixingGround,
        reason: String,
    ) -> RuledOut {
        let is_by_text = fixing_ground.constants.is_empty() && fixing_ground.defines.is_empty();
        let class = match (is_by_text, matter, self.proposing) {
            (false, _, _) => JustificationClass::Deactivated,
            (true, ImpossibleMatter::Choice, ProposalRules::Current) => {
                JustificationClass::Infeasible
            }
            (true, ImpossibleMatter::Code, ProposalRules::Current) => {
                return RuledOut { reason: format!("{reason}; {TO_REMOVE}"), class: None };
            }
            (true, ImpossibleMatter::Choice, ProposalRules::AsInFirstFormat) => {
                JustificationClass::Extraneous
            }
            (true, ImpossibleMatter::Code, ProposalRules::AsInFirstFormat) => {
                JustificationClass::Dead
            }
        };
        RuledOut { reason, class: Some(class) }
    }

    /// The compiler made nothing of it.
    pub(crate) fn absent_ruling(&self) -> RuledOut {
        let class = (self.proposing == ProposalRules::Current).then_some(JustificationClass::Dead);
        RuledOut { reason: NO_CODE.to_owned(), class }
    }

    /// No two vectors that can occur show the effect.
    pub(crate) fn unattainable_ruling(&self) -> RuledOut {
        let class =
            (self.proposing == ProposalRules::Current).then_some(JustificationClass::Infeasible);
        RuledOut { reason: UNATTAINABLE.to_owned(), class }
    }

    pub(super) fn unreached_ruling(&self, cause: Option<UnreachableCause>) -> RuledOut {
        let (fixing_ground, cause_words) = match cause {
            Some(UnreachableCause::Decision(decision)) => {
                let fixing_ground =
                    self.fixing_ground(decision, &self.deciding_conditions(decision));
                let outcome = self
                    .only_outcome(decision)
                    .map(|outcome| self.always_sentence(decision, outcome));
                (fixing_ground, outcome.unwrap_or_else(|| format!("{decision} leads past it")))
            }
            Some(UnreachableCause::Switch(switch)) => {
                let text = &self.structure.switch(switch).text;
                (self.whole_ground(), format!("`switch ({text})` ({switch}) takes another label"))
            }
            Some(UnreachableCause::Function(index)) => return self.uncalled_ruling(index),
            None => (self.whole_ground(), "no way that control can take leads to it".to_owned()),
        };
        let reason =
            format!("never executed, as {cause_words}{}", self.setting_words(&fixing_ground));
        self.classified_ruling(ImpossibleMatter::Code, &fixing_ground, reason)
    }

    pub(super) fn uncalled_ruling(&self, function_index: usize) -> RuledOut {
        let fixing_ground = self.whole_ground();
        let name = &self.structure.functions[function_index].name;
        let reason = format!(
            "never executed, as no call of `{name}` is ever made{}",
            self.setting_words(&fixing_ground)
        );
        self.classified_ruling(ImpossibleMatter::Code, &fixing_ground, reason)
    }

    /// Why control cannot come to a decision: the cause of the statement that holds it, or the
    /// decision around it.
    pub(super) fn cause_of(&self, decision: DecisionId) -> Option<UnreachableCause> {
        let span = self.structure.decision(decision).span;
        let other_decisions = self.structure.decisions.iter();
        let other_decisions = other_decisions.filter(|outer| outer.id != decision);
        self.cause_within(span, self.decision_headers.get(&decision).copied(), other_decisions)
    }

    /// Why control cannot come to a part of the text; `holding_statement` where it is known.
    pub(super) fn cause_at(
        &self,
        span: Span,
        holding_statement: Option<StatementId>,
    ) -> Option<UnreachableCause> {
        self.cause_within(span, holding_statement, self.structure.decisions.iter())
    }

    fn cause_within<'d>(
        &self,
        span: Span,
        holding_statement: Option<StatementId>,
        decisions: impl Iterator<Item = &'d Decision>,
    ) -> Option<UnreachableCause> {
        let mut holding_statement = holding_statement;
        let enclosing_decision =
            decisions.filter(|outer_decision| is_within(span, outer_decision.span));
        let enclosing_decision = enclosing_decision
            .filter(|outer_decision| !self.all_fixed(outer_decision.id).is_empty())
            .min_by_key(|o| o.span.end - o.span.start);
        if holding_statement.is_none() {
            let mut shortest_length = u32::MAX;
            for function in &self.structure.functions {
                visit_block(&function.body, &mut |inner_statement| {
                    let length =
                        inner_statement.span.end.saturating_sub(inner_statement.span.start);
                    if is_within(span, inner_statement.span)
                        && inner_statement.id.is_some()
                        && length < shortest_length
                    {
                        (shortest_length, holding_statement) = (length, inner_statement.id);
                    }
                });
            }
        }
        let of_statement = holding_statement
            .and_then(|holding_statement| self.unreachable_causes.get(&holding_statement).copied());
        of_statement
            .or(enclosing_decision
                .map(|outer_decision| UnreachableCause::Decision(outer_decision.id)))
    }
}

fn is_within(inner_span: Span, outer_span: Span) -> bool {
    outer_span.file == inner_span.file
        && outer_span.start <= inner_span.start
        && inner_span.end <= outer_span.end
}

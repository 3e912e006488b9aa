//! Why something can never happen, in words, and the class that is proposed for it.

use super::super::explanation::UNATTAINABLE;
use super::super::statement::Truth;
use super::super::statement::visit;
use super::super::subject::ProposalRules;
use super::Resolution;
use super::ruled_out::{Cause, Ground, Matter, RuledOut};
use vkcert_model::evidence::Configuration;
use vkcert_model::id::DecisionId;
use vkcert_model::place::Span;
use vkcert_model::requirement::JustificationClass;
use vkcert_model::vector::Outcome;

/// Why something has no markers in the module.
const NO_CODE: &str = "no code generated: the compiler left it out of the module";

/// What becomes of code that the text rules out and the module holds.
const TO_REMOVE: &str = "dead code that is in the module is to be removed";

/// Identifiers of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

impl Resolution<'_> {
    /// What the module does not hold is absent, whatever is fixed.
    pub(super) fn ruled_out(
        &self,
        open: Truth,
        possible: Truth,
        why: impl Fn() -> RuledOut,
    ) -> Option<RuledOut> {
        match (open, possible) {
            (Truth::No, _) => {
                Some(self.absent()).filter(|_| self.proposing == ProposalRules::Current)
            }
            (Truth::Yes | Truth::Unknown, Truth::No) => Some(why()),
            (Truth::Yes | Truth::Unknown, Truth::Yes | Truth::Unknown) => None,
        }
    }

    /// Fixed conditions of a decision, by index.
    pub(super) fn all_fixed(&self, decision: DecisionId) -> Vec<u32> {
        self.fixed
            .range((decision, 0)..=(decision, u32::MAX))
            .map(|((_, condition), _)| *condition)
            .collect()
    }

    /// Fixed conditions that leave a decision its one outcome; those that do not matter for it are
    /// left out.
    pub(super) fn deciding(&self, decision: DecisionId) -> Vec<u32> {
        let expression = &self.structure.decision(decision).expression;
        let mut kept = self.all_fixed(decision);
        for condition in self.all_fixed(decision).into_iter().rev() {
            let without: Vec<u32> =
                kept.iter().copied().filter(|other| *other != condition).collect();
            let value =
                |index: u32| self.value(decision, index).filter(|_| without.contains(&index));
            if expression.decided_value(&value).is_some() {
                kept = without;
            }
        }
        kept
    }

    /// `` `TILE > 8` (D3) is always true ``
    pub(super) fn always(&self, decision: DecisionId, outcome: Outcome) -> String {
        let text = &self.structure.decision(decision).text;
        format!(
            "`{text}` ({decision}) is always {}",
            if outcome.as_bool() { "true" } else { "false" }
        )
    }

    pub(super) fn always_condition(&self, decision: DecisionId, condition: u32) -> String {
        let text = &self.structure.decision(decision).conditions[condition as usize].text;
        let value = if self.value(decision, condition) == Some(true) { "true" } else { "false" };
        format!("`{text}` ({decision}.C{}) is always {value}", condition + 1)
    }

    /// What fixes conditions of a decision.
    pub(super) fn ground(&self, decision: DecisionId, conditions: &[u32]) -> Ground {
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
    pub(super) fn setting(&self, ground: &Ground) -> String {
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

    pub(super) fn judged(&self, matter: Matter, ground: &Ground, reason: String) -> RuledOut {
        let by_text = ground.constants.is_empty() && ground.defines.is_empty();
        let ruled_out = |class| RuledOut { reason: reason.clone(), class: Some(class) };
        match (by_text, matter, self.proposing) {
            (false, _, _) => ruled_out(JustificationClass::Deactivated),
            (true, Matter::Choice, ProposalRules::Current) => {
                ruled_out(JustificationClass::Infeasible)
            }
            (true, Matter::Code, ProposalRules::Current) => {
                RuledOut { reason: format!("{reason}; {TO_REMOVE}"), class: None }
            }
            (true, Matter::Choice, ProposalRules::AsInFirstFormat) => {
                ruled_out(JustificationClass::Extraneous)
            }
            (true, Matter::Code, ProposalRules::AsInFirstFormat) => {
                ruled_out(JustificationClass::Dead)
            }
        }
    }

    /// The compiler made nothing of it.
    pub(crate) fn absent(&self) -> RuledOut {
        let class = (self.proposing == ProposalRules::Current).then_some(JustificationClass::Dead);
        RuledOut { reason: NO_CODE.to_owned(), class }
    }

    /// No two vectors that can occur show the effect.
    pub(crate) fn unattainable(&self) -> RuledOut {
        let class =
            (self.proposing == ProposalRules::Current).then_some(JustificationClass::Infeasible);
        RuledOut { reason: UNATTAINABLE.to_owned(), class }
    }

    pub(super) fn unreached(&self, cause: Option<Cause>) -> RuledOut {
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

    pub(super) fn uncalled(&self, index: usize) -> RuledOut {
        let ground = self.whole_ground();
        let name = &self.structure.functions[index].name;
        let reason =
            format!("never executed, as no call of `{name}` is ever made{}", self.setting(&ground));
        self.judged(Matter::Code, &ground, reason)
    }

    /// Why control cannot come to a decision: the cause of the statement that holds it, or the
    /// decision around it.
    pub(super) fn cause_of(&self, decision: DecisionId) -> Option<Cause> {
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
                visit(&function.body, &mut |found| {
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

//! Whether stored evidence has the form that its readers rely on: indices within range, spans
//! within texts, numbers in order.
//!
//! Promises: in evidence that is well-formed, every lookup of reports and derivations succeeds.
//! Does not cover: whether what is stored is true.

use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::place::Span;
use vkcert_model::records::RecordLayout;
use vkcert_model::structure::{
    Block, BooleanExpression, Decision, Exit, Expansion, Function, KernelStructure, MarkerRole,
    Statement, StatementKind, Switch,
};

/// What is wrong with the form of the evidence; none where it is well-formed.
pub fn malformed_reason(stored: &Evidence) -> Option<String> {
    stored.kernels.iter().find_map(|kernel| {
        let reason = check_kernel(kernel).err()?;
        Some(format!("{} on {}: {reason}", kernel.kernel, kernel.engine))
    })
}

type CheckResult = Result<(), String>;

fn require(holds: bool, reason: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { Err(reason()) }
}

fn check_kernel(kernel: &KernelEvidence) -> CheckResult {
    let structure = &kernel.structure;
    StructureCheck { structure }.check_structure()?;
    for (number, marker) in &kernel.presence.markers {
        let structure_role = structure.markers.get(*number as usize);
        require(structure_role == Some(&marker.role), || {
            format!("marker {number} is not what the structure says")
        })?;
    }
    require(kernel.layout == derived_layout(kernel), || {
        "the layout of its records does not follow from its structure".to_owned()
    })?;
    for (index, branch) in kernel.objects.structure.branches.iter().enumerate() {
        require(branch.id.0 as usize == index + 1, || {
            format!("branch {} is out of order", branch.id)
        })?;
        let record_bits = kernel.objects.structure.bits;
        let bits_inside = branch.outcomes.iter().all(|outcome| outcome.bit < record_bits);
        require(bits_inside, || {
            format!("a record of branch {} lies outside of the records", branch.id)
        })?;
    }
    let coverage = &kernel.coverage;
    for decision in &coverage.decisions {
        require(decision.id.0 >= 1 && decision.id.0 as usize <= structure.decisions.len(), || {
            format!("coverage of a decision {} that does not exist", decision.id)
        })?;
    }
    Ok(())
}

/// The record layout that follows from structure and presence; empty for a kernel that is not
/// measured.
fn derived_layout(kernel: &KernelEvidence) -> RecordLayout {
    if kernel.presence.markers.is_empty() {
        return RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 };
    }
    vkcert_coverage::layout::record_layout(&kernel.structure, &kernel.presence)
}

struct StructureCheck<'a> {
    structure: &'a KernelStructure,
}

impl StructureCheck<'_> {
    fn check_structure(&self) -> CheckResult {
        let structure = self.structure;
        for (index, decision) in structure.decisions.iter().enumerate() {
            require(decision.id.0 as usize == index + 1, || {
                format!("decision {} is out of order", decision.id)
            })?;
            self.check_decision(decision)?;
        }
        for (index, switch) in structure.switches.iter().enumerate() {
            require(switch.id.0 as usize == index + 1, || {
                format!("switch {} is out of order", switch.id)
            })?;
            self.check_switch(switch)?;
        }
        for (index, function) in structure.functions.iter().enumerate() {
            require(function.id.0 as usize == index + 1, || {
                format!("function {} is out of order", function.id)
            })?;
            self.check_function(function)?;
        }
        structure.markers.iter().try_for_each(|role| self.check_marker_role(*role))
    }

    fn check_span(&self, span: Span) -> CheckResult {
        let file = self.structure.files.get(span.file.0 as usize);
        let text = file.and_then(|file| file.text.get(span.start as usize..span.end as usize));
        require(text.is_some(), || {
            format!("a span lies outside of its file: {} to {}", span.start, span.end)
        })
    }

    fn check_expansions(&self, expansions: &[Expansion]) -> CheckResult {
        expansions.iter().try_for_each(|expansion| self.check_span(expansion.site))
    }

    fn check_mark(&self, mark: u32) -> CheckResult {
        // Each mark has a marker.
        require((mark as usize) < self.structure.markers.len(), || {
            format!("there is no mark {mark}")
        })
    }

    fn decision_by_number(&self, number: u32) -> Result<&Decision, String> {
        let index = (number as usize).checked_sub(1);
        let decision = index.and_then(|index| self.structure.decisions.get(index));
        decision.ok_or_else(|| format!("there is no decision D{number}"))
    }

    fn switch_by_number(&self, number: u32) -> Result<&Switch, String> {
        let index = (number as usize).checked_sub(1);
        let switch = index.and_then(|index| self.structure.switches.get(index));
        switch.ok_or_else(|| format!("there is no switch W{number}"))
    }

    fn check_marker_role(&self, role: MarkerRole) -> CheckResult {
        match role {
            MarkerRole::Condition { decision, condition } => {
                let decision = self.decision_by_number(decision.0)?;
                let condition_exists = (condition as usize) < decision.conditions.len();
                require(condition_exists, || {
                    format!("{} has no condition {condition}", decision.id)
                })
            }
            MarkerRole::Decision { decision } | MarkerRole::Single { decision } => {
                self.decision_by_number(decision.0).map(|_| ())
            }
            MarkerRole::Mark { mark } => self.check_mark(mark.0),
        }
    }

    fn check_decision(&self, decision: &Decision) -> CheckResult {
        self.check_span(decision.span)?;
        self.check_expansions(&decision.expansion)?;
        decision.conditions.iter().try_for_each(|condition| self.check_span(condition.span))?;
        if let Some(function) = decision.function {
            let function_exists =
                function.0 >= 1 && function.0 as usize <= self.structure.functions.len();
            require(function_exists, || format!("{} is in no function", decision.id))?;
        }
        let mut used_conditions = vec![false; decision.conditions.len()];
        require(
            mark_conditions_used(&decision.expression, &mut used_conditions)
                && used_conditions.iter().all(|used_conditions| *used_conditions),
            || format!("the expression of {} does not have its conditions once each", decision.id),
        )
    }

    fn check_switch(&self, switch: &Switch) -> CheckResult {
        self.check_span(switch.span)?;
        for label in &switch.labels {
            self.check_span(label.span)?;
            label.mark.map_or(Ok(()), |mark| self.check_mark(mark.0))?;
        }
        Ok(())
    }

    fn check_function(&self, function: &Function) -> CheckResult {
        self.check_span(function.span)?;
        self.check_mark(function.entry_mark.0)?;
        self.check_expansions(&function.expansion)?;
        for exit in &function.exits {
            match exit {
                Exit::Return { .. } => {}
                Exit::EndOfBody { span } => self.check_span(*span)?,
            }
        }
        self.check_block(&function.body)
    }

    fn check_block(&self, block: &Block) -> CheckResult {
        block.0.iter().try_for_each(|statement| self.check_statement(statement))
    }

    fn check_statement(&self, statement: &Statement) -> CheckResult {
        self.check_span(statement.span)?;
        self.check_expansions(&statement.expansion)?;
        match &statement.kind {
            StatementKind::Block { block } => self.check_block(block),
            StatementKind::Empty
            | StatementKind::Simple
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return
            | StatementKind::Terminate => Ok(()),
            StatementKind::If { decision, then: then_statement, otherwise: else_statement } => {
                self.decision_by_number(decision.0)?;
                self.check_statement(then_statement)?;
                else_statement
                    .iter()
                    .try_for_each(|else_statement| self.check_statement(else_statement))
            }
            StatementKind::While { decision, body } | StatementKind::DoWhile { body, decision } => {
                self.decision_by_number(decision.0)?;
                self.check_statement(body)
            }
            StatementKind::For { init, decision, body } => {
                decision
                    .iter()
                    .try_for_each(|decision| self.decision_by_number(decision.0).map(|_| ()))?;
                init.iter().try_for_each(|init| self.check_statement(init))?;
                self.check_statement(body)
            }
            StatementKind::Switch { switch, body } => {
                self.switch_by_number(switch.0)?;
                self.check_block(body)
            }
            StatementKind::Label { switch, label } => {
                let switch = self.switch_by_number(switch.0)?;
                let label_exists = (*label as usize) < switch.labels.len();
                require(label_exists, || format!("{} has no label {label}", switch.id))
            }
        }
    }
}

/// Marks the conditions of an expression as used; false where one does not exist or occurs twice.
fn mark_conditions_used(expression: &BooleanExpression, used_conditions: &mut [bool]) -> bool {
    match expression {
        BooleanExpression::Condition(condition) => {
            match used_conditions.get_mut(*condition as usize) {
                Some(slot) => !std::mem::replace(slot, true),
                None => false,
            }
        }
        BooleanExpression::Not(inner) => mark_conditions_used(inner, used_conditions),
        BooleanExpression::And(left, right)
        | BooleanExpression::Or(left, right)
        | BooleanExpression::Xor(left, right) => {
            mark_conditions_used(left, used_conditions)
                && mark_conditions_used(right, used_conditions)
        }
    }
}

//! Whether stored evidence has the form that everything which reads it relies on: indices that lead
//! somewhere, spans inside of texts, numbers in order.
//!
//! Promises: of evidence that is not malformed, reports and derivations find what they look up.
//! Does not cover: whether what they find is true.

use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::place::Span;
use vkcert_model::records::RecordLayout;
use vkcert_model::structure::{
    Block, BooleanExpression, Decision, Exit, Expansion, Function, KernelStructure, MarkerRole,
    Statement, StatementKind, Switch,
};

/// What is wrong with the form of evidence; none where nothing is.
pub fn malformed(stored: &Evidence) -> Option<String> {
    stored.kernels.iter().find_map(|kernel| {
        let reason = of_kernel(kernel).err()?;
        Some(format!("{} on {}: {reason}", kernel.kernel, kernel.engine))
    })
}

type Checked = Result<(), String>;

fn require(holds: bool, reason: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(reason()) }
}

fn of_kernel(kernel: &KernelEvidence) -> Checked {
    let structure = &kernel.structure;
    Reader { structure }.whole()?;
    for (number, marker) in &kernel.presence.markers {
        let known = structure.markers.get(*number as usize);
        require(known == Some(&marker.role), || {
            format!("marker {number} is not what the structure says")
        })?;
    }
    require(kernel.layout == layout(kernel), || {
        "the layout of its records does not follow from its structure".to_owned()
    })?;
    for (index, branch) in kernel.objects.structure.branches.iter().enumerate() {
        require(branch.id.0 as usize == index + 1, || {
            format!("branch {} is out of order", branch.id)
        })?;
        let bits = kernel.objects.structure.bits;
        let inside = branch.outcomes.iter().all(|outcome| outcome.bit < bits);
        require(inside, || {
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

/// The layout that follows; of a kernel that is not measured, none.
fn layout(kernel: &KernelEvidence) -> RecordLayout {
    if kernel.presence.markers.is_empty() {
        return RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 };
    }
    vkcert_coverage::layout::record_layout(&kernel.structure, &kernel.presence)
}

struct Reader<'a> {
    structure: &'a KernelStructure,
}

impl Reader<'_> {
    fn whole(&self) -> Checked {
        let structure = self.structure;
        for (index, decision) in structure.decisions.iter().enumerate() {
            require(decision.id.0 as usize == index + 1, || {
                format!("decision {} is out of order", decision.id)
            })?;
            self.decision(decision)?;
        }
        for (index, switch) in structure.switches.iter().enumerate() {
            require(switch.id.0 as usize == index + 1, || {
                format!("switch {} is out of order", switch.id)
            })?;
            self.switch(switch)?;
        }
        for (index, function) in structure.functions.iter().enumerate() {
            require(function.id.0 as usize == index + 1, || {
                format!("function {} is out of order", function.id)
            })?;
            self.function(function)?;
        }
        structure.markers.iter().try_for_each(|role| self.marker(*role))
    }

    fn span(&self, span: Span) -> Checked {
        let file = self.structure.files.get(span.file.0 as usize);
        let text = file.and_then(|file| file.text.get(span.start as usize..span.end as usize));
        require(text.is_some(), || {
            format!("a span lies outside of its file: {} to {}", span.start, span.end)
        })
    }

    fn expansions(&self, expansions: &[Expansion]) -> Checked {
        expansions.iter().try_for_each(|expansion| self.span(expansion.site))
    }

    fn mark(&self, mark: u32) -> Checked {
        // Each mark has a marker.
        require((mark as usize) < self.structure.markers.len(), || {
            format!("there is no mark {mark}")
        })
    }

    fn known_decision(&self, number: u32) -> Result<&Decision, String> {
        let index = (number as usize).checked_sub(1);
        let decision = index.and_then(|index| self.structure.decisions.get(index));
        decision.ok_or_else(|| format!("there is no decision D{number}"))
    }

    fn known_switch(&self, number: u32) -> Result<&Switch, String> {
        let index = (number as usize).checked_sub(1);
        let switch = index.and_then(|index| self.structure.switches.get(index));
        switch.ok_or_else(|| format!("there is no switch W{number}"))
    }

    fn marker(&self, role: MarkerRole) -> Checked {
        match role {
            MarkerRole::Condition { decision, condition } => {
                let decision = self.known_decision(decision.0)?;
                let inside = (condition as usize) < decision.conditions.len();
                require(inside, || format!("{} has no condition {condition}", decision.id))
            }
            MarkerRole::Decision { decision } | MarkerRole::Single { decision } => {
                self.known_decision(decision.0).map(|_| ())
            }
            MarkerRole::Mark { mark } => self.mark(mark.0),
        }
    }

    fn decision(&self, decision: &Decision) -> Checked {
        self.span(decision.span)?;
        self.expansions(&decision.expansion)?;
        decision.conditions.iter().try_for_each(|condition| self.span(condition.span))?;
        if let Some(function) = decision.function {
            let known = function.0 >= 1 && function.0 as usize <= self.structure.functions.len();
            require(known, || format!("{} is in no function", decision.id))?;
        }
        let mut used = vec![false; decision.conditions.len()];
        require(places(&decision.expression, &mut used) && used.iter().all(|used| *used), || {
            format!("the expression of {} does not have its conditions once each", decision.id)
        })
    }

    fn switch(&self, switch: &Switch) -> Checked {
        self.span(switch.span)?;
        for label in &switch.labels {
            self.span(label.span)?;
            label.mark.map_or(Ok(()), |mark| self.mark(mark.0))?;
        }
        Ok(())
    }

    fn function(&self, function: &Function) -> Checked {
        self.span(function.span)?;
        self.mark(function.entry_mark.0)?;
        self.expansions(&function.expansion)?;
        for exit in &function.exits {
            match exit {
                Exit::Return { .. } => {}
                Exit::EndOfBody { span } => self.span(*span)?,
            }
        }
        self.block(&function.body)
    }

    fn block(&self, block: &Block) -> Checked {
        block.0.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&self, statement: &Statement) -> Checked {
        self.span(statement.span)?;
        self.expansions(&statement.expansion)?;
        match &statement.kind {
            StatementKind::Block { block } => self.block(block),
            StatementKind::Empty
            | StatementKind::Simple
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return
            | StatementKind::Terminate => Ok(()),
            StatementKind::If { decision, then, otherwise } => {
                self.known_decision(decision.0)?;
                self.statement(then)?;
                otherwise.iter().try_for_each(|otherwise| self.statement(otherwise))
            }
            StatementKind::While { decision, body } | StatementKind::DoWhile { body, decision } => {
                self.known_decision(decision.0)?;
                self.statement(body)
            }
            StatementKind::For { init, decision, body } => {
                decision
                    .iter()
                    .try_for_each(|decision| self.known_decision(decision.0).map(|_| ()))?;
                init.iter().try_for_each(|init| self.statement(init))?;
                self.statement(body)
            }
            StatementKind::Switch { switch, body } => {
                self.known_switch(switch.0)?;
                self.block(body)
            }
            StatementKind::Label { switch, label } => {
                let switch = self.known_switch(switch.0)?;
                let inside = (*label as usize) < switch.labels.len();
                require(inside, || format!("{} has no label {label}", switch.id))
            }
        }
    }
}

/// Marks the conditions of an expression; false where one is not there or stands twice.
fn places(expression: &BooleanExpression, used: &mut [bool]) -> bool {
    match expression {
        BooleanExpression::Condition(condition) => match used.get_mut(*condition as usize) {
            Some(slot) => !std::mem::replace(slot, true),
            None => false,
        },
        BooleanExpression::Not(inner) => places(inner, used),
        BooleanExpression::And(left, right)
        | BooleanExpression::Or(left, right)
        | BooleanExpression::Xor(left, right) => places(left, used) && places(right, used),
    }
}

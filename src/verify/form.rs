//! Whether stored evidence has the form that its readers rely on: indices within range, spans
//! within texts, numbers in order.
//!
//! Promises: in evidence that is well-formed, every lookup of reports and derivations succeeds.
//! Does not cover: whether what is stored is true.

use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::place::Span;
use vkcert_model::records::RecordLayout;
use vkcert_model::structure::{
    Block, BooleanExpression, Decision, Exit, Expansion, Function, KernelStructure, LoopCase,
    MarkerRole, RequestedParts, Statement, StatementKind, Switch,
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
        self.check_requested(&structure.requested)?;
        structure.markers.iter().try_for_each(|role| self.check_marker_role(*role))
    }

    fn check_requested(&self, requested: &RequestedParts) -> CheckResult {
        for (index, call) in requested.calls.iter().flatten().enumerate() {
            require(call.id.0 as usize == index + 1, || {
                format!("call {} is out of order", call.id)
            })?;
            self.check_span(call.span)?;
            self.check_expansions(&call.expansion)?;
            call.mark.map_or(Ok(()), |mark| self.check_mark(mark.0))?;
        }
        for (index, row) in requested.loops.iter().flatten().enumerate() {
            require(row.id.0 as usize == index + 1, || format!("loop {} is out of order", row.id))?;
            self.check_span(row.span)?;
            self.check_expansions(&row.expansion)?;
            row.marks.iter().try_for_each(|case_mark| self.check_mark(case_mark.mark.0))?;
            row.decision.map_or(Ok(()), |id| self.decision_by_number(id.0).map(|_| ()))?;
        }
        Ok(())
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
        // Each mark has a marker, but for those of calls and loops that could not be marked.
        let RequestedParts { calls, loops } = &self.structure.requested;
        let unmarked_calls = calls.iter().flatten().filter(|call| call.mark.is_none()).count();
        let unmarked_loops = loops.iter().flatten().filter(|row| row.marks.is_empty()).count();
        let most_unmarked = unmarked_calls + LoopCase::ALL.len() * unmarked_loops;
        require((mark as usize) < self.structure.markers.len() + most_unmarked, || {
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
            MarkerRole::Mark { mark } | MarkerRole::MarkWhere { mark } => self.check_mark(mark.0),
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

#[cfg(test)]
mod tests {
    use super::malformed_reason;
    use crate::honest::{honest, span_of};
    use serde_json::{Value, json};
    use vkcert_model::evidence::Evidence;
    use vkcert_model::id::{DecisionId, ObjectBranchId};
    use vkcert_model::structure::{Expansion, KernelStructure, MarkIndex, MarkerRole, Statement};

    fn statement(kind: Value) -> Statement {
        let statement = json!({ "id": "S9", "span": span_of("barrier();"), "kind": kind });
        serde_json::from_value(statement).unwrap()
    }

    /// A kernel with a statement of every kind; its records are those of the honest kernel.
    fn well_formed() -> Evidence {
        let mut evidence = honest();
        for kernel in &mut evidence.kernels {
            let structure = &mut kernel.structure;
            let switches = json!([{
                "id": "W1", "span": span_of("i[x] > 5u"), "text": "x",
                "labels": [
                    { "kind": "case", "span": span_of("5u"), "text": "case 0:", "mark": 0 },
                    { "kind": "default", "span": span_of("3u"), "text": "default:", "mark": null },
                ],
            }]);
            structure.switches = serde_json::from_value(switches).unwrap();
            let simple = json!({ "id": "S8", "span": span_of("o[x]"), "kind": "simple" });
            let label = json!({ "id": null, "span": span_of("o[x]"), "kind": {
                "label": { "switch": "W1", "label": 1 },
            }});
            let kinds = [
                json!({ "while": { "decision": "D1", "body": simple } }),
                json!({ "do-while": { "decision": "D1", "body": simple } }),
                json!({ "for": { "init": simple, "decision": "D1", "body": simple } }),
                json!({ "if": { "decision": "D1", "then": simple, "otherwise": [simple] } }),
                json!({ "switch": { "switch": "W1", "body": [label] } }),
                json!("return"),
            ];
            structure.functions[0].body.0.extend(kinds.map(statement));
            let expansion: Expansion =
                serde_json::from_value(json!({ "macro_name": "M", "site": span_of("o[x]") }))
                    .unwrap();
            structure.functions[0].expansion.push(expansion.clone());
            structure.functions[0].body.0[0].expansion.push(expansion.clone());
            structure.decisions[0].expansion.push(expansion);
        }
        evidence
    }

    type Deform = fn(&mut KernelStructure);

    /// Changes a part of one of the statements `while`, `do`, `for`, `if` and `switch`, which stand
    /// behind the three of the honest kernel.
    fn set_kind(structure: &mut KernelStructure, number: usize, pointer: &str, value: Value) {
        let statement = &mut structure.functions[0].body.0[3 + number];
        let mut kind = serde_json::to_value(&statement.kind).unwrap();
        *kind.pointer_mut(pointer).expect("a part of the statement") = value;
        statement.kind = serde_json::from_value(kind).unwrap();
    }

    #[test]
    fn the_parts_of_a_structure_exist() {
        assert_eq!(malformed_reason(&honest()), None);
        assert_eq!(malformed_reason(&well_formed()), None);
        const BEHIND: &str = "a span lies outside of its file: 0 to 9999";
        let cases: [(&str, Deform, &str); 38] = [
            (
                "a decision's number",
                |one| one.decisions[0].id = DecisionId(2),
                "decision D2 is out of order",
            ),
            ("a switch's number", |one| one.switches[0].id.0 = 0, "switch W0 is out of order"),
            ("a function's number", |one| one.functions[0].id.0 = 2, "function F2 is out of order"),
            ("a decision's place", |one| one.decisions[0].span.end = 9999, ""),
            ("a file", |one| one.decisions[0].span.file.0 = 1, ""),
            ("a span that ends before it starts", |one| one.decisions[0].span.end = 0, ""),
            ("a macro of a decision", |one| one.decisions[0].expansion[0].site.end = 9999, ""),
            ("a macro of a function", |one| one.functions[0].expansion[0].site.end = 9999, ""),
            (
                "a macro of a statement",
                |one| one.functions[0].body.0[0].expansion[0].site.end = 9999,
                "",
            ),
            ("a condition's place", |one| one.decisions[0].conditions[1].span.end = 9999, ""),
            ("a switch's place", |one| one.switches[0].span.end = 9999, ""),
            ("a label's place", |one| one.switches[0].labels[1].span.end = 9999, ""),
            ("a function's place", |one| one.functions[0].span.end = 9999, ""),
            ("a statement's place", |one| one.functions[0].body.0[3].span.end = 9999, ""),
            (
                "the end of a function",
                |one| {
                    one.functions[0].exits = serde_json::from_value(json!([{ "end-of-body": {
                        "span": { "file": 0, "start": 0, "end": 9999 },
                    }}]))
                    .unwrap();
                },
                BEHIND,
            ),
            (
                "the mark of a label",
                |one| one.switches[0].labels[0].mark = Some(MarkIndex(4)),
                "there is no mark 4",
            ),
            (
                "the mark of a function",
                |one| one.functions[0].entry_mark = MarkIndex(4),
                "there is no mark 4",
            ),
            (
                "the mark of a marker",
                |one| one.markers[0] = MarkerRole::Mark { mark: MarkIndex(5) },
                "there is no mark 5",
            ),
            (
                "the decision of a marker",
                |one| one.markers[1] = MarkerRole::Decision { decision: DecisionId(2) },
                "there is no decision D2",
            ),
            (
                "the decision of a single condition",
                |one| one.markers[1] = MarkerRole::Single { decision: DecisionId(0) },
                "there is no decision D0",
            ),
            (
                "the decision of a condition",
                |one| {
                    one.markers[2] = MarkerRole::Condition { decision: DecisionId(2), condition: 0 }
                },
                "there is no decision D2",
            ),
            (
                "the condition of a marker",
                |one| {
                    one.markers[2] = MarkerRole::Condition { decision: DecisionId(1), condition: 2 }
                },
                "D1 has no condition 2",
            ),
            (
                "the function of a decision",
                |one| one.decisions[0].function.as_mut().unwrap().0 = 2,
                "D1 is in no function",
            ),
            (
                "function 0 of a decision",
                |one| one.decisions[0].function.as_mut().unwrap().0 = 0,
                "D1 is in no function",
            ),
            (
                "a condition twice",
                |one| {
                    set_expression(one, json!({ "or": [{ "condition": 0 }, { "condition": 0 }] }))
                },
                "the expression of D1 does not have its conditions once each",
            ),
            (
                "a condition that there is none of",
                |one| {
                    set_expression(one, json!({ "xor": [{ "condition": 0 }, { "condition": 2 }] }))
                },
                "the expression of D1 does not have its conditions once each",
            ),
            (
                "all conditions and one more",
                |one| {
                    set_expression(
                        one,
                        json!({ "and": [
                            { "and": [{ "condition": 0 }, { "condition": 1 }] },
                            { "condition": 2 },
                        ]}),
                    )
                },
                "the expression of D1 does not have its conditions once each",
            ),
            (
                "a condition left out",
                |one| set_expression(one, json!({ "not": { "condition": 1 } })),
                "the expression of D1 does not have its conditions once each",
            ),
            (
                "the decision of while",
                |one| set_kind(one, 0, "/while/decision", json!("D2")),
                "there is no decision D2",
            ),
            ("the body of while", |one| set_kind(one, 0, "/while/body/span/end", json!(9999)), ""),
            (
                "the decision of do",
                |one| set_kind(one, 1, "/do-while/decision", json!("D2")),
                "there is no decision D2",
            ),
            (
                "the decision of for",
                |one| set_kind(one, 2, "/for/decision", json!("D2")),
                "there is no decision D2",
            ),
            ("the start of for", |one| set_kind(one, 2, "/for/init/span/end", json!(9999)), ""),
            ("the body of for", |one| set_kind(one, 2, "/for/body/span/end", json!(9999)), ""),
            (
                "the decision of if",
                |one| set_kind(one, 3, "/if/decision", json!("D2")),
                "there is no decision D2",
            ),
            ("what if leads to", |one| set_kind(one, 3, "/if/then/span/end", json!(9999)), ""),
            (
                "what else leads to",
                |one| set_kind(one, 3, "/if/otherwise/0/span/end", json!(9999)),
                "",
            ),
            (
                "the switch of a statement",
                |one| set_kind(one, 4, "/switch/switch", json!("W2")),
                "there is no switch W2",
            ),
        ];
        for (name, deform, told) in cases {
            let mut evidence = well_formed();
            deform(&mut evidence.kernels[1].structure);
            let reason = malformed_reason(&evidence).unwrap_or_default();
            let Some(reason) = reason.strip_prefix("guard on vulkan: ") else {
                panic!("{name}: {reason:?}")
            };
            match told {
                "" => assert!(
                    reason.starts_with("a span lies outside of its file: "),
                    "{name}: {reason}"
                ),
                told => assert_eq!(reason, told, "{name}"),
            }
        }
    }

    fn set_expression(structure: &mut KernelStructure, expression: Value) {
        structure.decisions[0].expression = serde_json::from_value(expression).unwrap();
    }

    #[test]
    fn a_label_is_one_of_its_switch() {
        for (switch, label, told) in [
            ("W1", 0, None),
            ("W1", 2, Some("guard on sequential: W1 has no label 2")),
            ("W2", 0, Some("guard on sequential: there is no switch W2")),
            ("W0", 0, Some("guard on sequential: there is no switch W0")),
        ] {
            let mut evidence = well_formed();
            let kind = json!({ "label": { "switch": switch, "label": label } });
            set_kind(&mut evidence.kernels[0].structure, 4, "/switch/body/0/kind", kind);
            assert_eq!(malformed_reason(&evidence).as_deref(), told, "{switch} {label}");
        }
    }

    #[test]
    fn records_have_the_layout_of_their_structure() {
        type Forge = fn(&mut Evidence);
        let cases: [(&str, Forge, &str); 9] = [
            (
                "a marker",
                |forged| {
                    let marker = forged.kernels[0].presence.markers.get_mut(&1).unwrap();
                    marker.role = MarkerRole::Mark { mark: MarkIndex(0) };
                },
                "marker 1 is not what the structure says",
            ),
            (
                "a marker more",
                |forged| {
                    let markers = &mut forged.kernels[0].presence.markers;
                    markers.insert(4, markers[&0].clone());
                },
                "marker 4 is not what the structure says",
            ),
            (
                "the layout",
                |forged| forged.kernels[0].layout.bits += 1,
                "the layout of its records does not follow from its structure",
            ),
            (
                "a layout of what is not measured",
                |forged| forged.kernels[0].presence.markers.clear(),
                "the layout of its records does not follow from its structure",
            ),
            (
                "the number of a branch",
                |forged| forged.kernels[0].objects.structure.branches[0].id = ObjectBranchId(2),
                "branch B2 is out of order",
            ),
            (
                "a branch left out",
                |forged| drop(forged.kernels[0].objects.structure.branches.remove(0)),
                "branch B2 is out of order",
            ),
            (
                "the bit of an outcome",
                |forged| forged.kernels[0].objects.structure.branches[1].outcomes[1].bit = 4,
                "a record of branch B2 lies outside of the records",
            ),
            (
                "a decision of the coverage",
                |forged| forged.kernels[0].coverage.decisions[0].id = DecisionId(2),
                "coverage of a decision D2 that does not exist",
            ),
            (
                "decision 0 of the coverage",
                |forged| forged.kernels[0].coverage.decisions[0].id = DecisionId(0),
                "coverage of a decision D0 that does not exist",
            ),
        ];
        for (name, forge, told) in cases {
            let mut evidence = honest();
            forge(&mut evidence);
            let told = format!("guard on sequential: {told}");
            assert_eq!(malformed_reason(&evidence), Some(told), "{name}");
        }
        let mut unmeasured = honest();
        let kernel = &mut unmeasured.kernels[0];
        kernel.presence.markers.clear();
        kernel.layout.decisions.clear();
        kernel.layout.marks.clear();
        kernel.layout.bits = 0;
        assert_eq!(malformed_reason(&unmeasured), None);
    }
}

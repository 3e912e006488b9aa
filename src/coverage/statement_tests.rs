//! The derivation of executed statements against an interpreter of random structured programs.

use super::statement::{DecisionOutcomes, Execution, ExecutionEvidence, Truth, derived_execution};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::{DecisionId, FunctionId, StatementId, SwitchId};
use vkcert_model::place::{FileIndex, Span};
use vkcert_model::structure::{
    Accuracy, Block, Exit, Function, KernelStructure, Label, LabelKind, MarkIndex, RequestedParts,
    Statement, StatementKind, Switch, TextDigests,
};

/// Random programs of each test; without optimisation the first of them.
const PROGRAMS: u64 = if cfg!(debug_assertions) { 3_000 } else { 20_000 };

const NOWHERE: Span = Span { file: FileIndex(0), start: 0, end: 0 };

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % sides
    }
}

/// Makes random programs; ids are given in source order.
struct Author {
    dice: Dice,
    statements: u32,
    decisions: u32,
    marks: u32,
    switches: Vec<Switch>,
    exits: Vec<Exit>,
}

impl Author {
    fn program(seed: u64) -> KernelStructure {
        let mut author = Author {
            dice: Dice(seed),
            statements: 0,
            decisions: 0,
            marks: 1,
            switches: Vec::new(),
            exits: Vec::new(),
        };
        let body = author.block(4, false, false);
        author.exits.push(Exit::EndOfBody { span: NOWHERE });
        let function = Function {
            id: FunctionId(1),
            name: "main".to_owned(),
            span: NOWHERE,
            entry_mark: MarkIndex(0),
            body,
            exits: author.exits,
            expansion: Vec::new(),
        };
        KernelStructure {
            files: Vec::new(),
            entry: "main".to_owned(),
            functions: vec![function],
            decisions: Vec::new(),
            switches: author.switches,
            accuracy: Accuracy::Exact,
            markers: Vec::new(),
            value_marker: String::new(),
            mark_marker: String::new(),
            texts: TextDigests::default(),
            requested: RequestedParts::default(),
        }
    }

    fn block(&mut self, depth: u32, in_loop: bool, in_switch: bool) -> Block {
        let length = self.dice.roll(4);
        Block((0..length).map(|_| self.statement(depth, in_loop, in_switch)).collect())
    }

    fn decision(&mut self) -> DecisionId {
        self.decisions += 1;
        DecisionId(self.decisions)
    }

    fn boxed(&mut self, depth: u32, in_loop: bool, in_switch: bool) -> Box<Statement> {
        Box::new(self.statement(depth, in_loop, in_switch))
    }

    fn statement(&mut self, depth: u32, in_loop: bool, in_switch: bool) -> Statement {
        let kinds = if depth == 0 { 8 } else { 18 };
        let choice = self.dice.roll(kinds);
        let has_id = !matches!(choice, 3 | 16 | 17);
        let id = has_id.then(|| {
            self.statements += 1;
            StatementId(self.statements)
        });
        let deeper = depth.saturating_sub(1);
        let kind = match choice {
            0..=2 => StatementKind::Simple,
            3 => StatementKind::Empty,
            4 if in_loop || in_switch => StatementKind::Break,
            5 if in_loop => StatementKind::Continue,
            6 if self.dice.roll(3) == 0 => {
                self.exits.push(Exit::Return { statement: id.expect("a return has an id") });
                StatementKind::Return
            }
            7 if self.dice.roll(6) == 0 => StatementKind::Terminate,
            4..=7 => StatementKind::Simple,
            8..=10 => {
                let decision = self.decision();
                let then = self.boxed(deeper, in_loop, in_switch);
                let otherwise =
                    (self.dice.roll(2) == 0).then(|| self.boxed(deeper, in_loop, in_switch));
                StatementKind::If { decision, then, otherwise }
            }
            11 => StatementKind::While {
                decision: self.decision(),
                body: self.boxed(deeper, true, false),
            },
            12 => {
                let body = self.boxed(deeper, true, false);
                StatementKind::DoWhile { body, decision: self.decision() }
            }
            13 => {
                let simple = Statement {
                    id: None,
                    span: NOWHERE,
                    kind: StatementKind::Simple,
                    expansion: Vec::new(),
                };
                let init = (self.dice.roll(2) == 0).then(|| Box::new(simple));
                let decision = (self.dice.roll(3) > 0).then(|| self.decision());
                StatementKind::For { init, decision, body: self.boxed(deeper, true, false) }
            }
            14 | 15 => self.switch(deeper, in_loop),
            _ => StatementKind::Block { block: self.block(deeper, in_loop, in_switch) },
        };
        Statement { id, span: NOWHERE, kind, expansion: Vec::new() }
    }

    fn switch(&mut self, depth: u32, in_loop: bool) -> StatementKind {
        let number = self.switches.len() as u32 + 1;
        let id = SwitchId(number);
        self.switches.push(Switch { id, span: NOWHERE, text: String::new(), labels: Vec::new() });
        let mut body = Vec::new();
        let mut labels = Vec::new();
        let mut default = false;
        for label in 0..1 + self.dice.roll(3) as u32 {
            let is_default = !default && self.dice.roll(4) == 0;
            default |= is_default;
            labels.push(self.label(if is_default { LabelKind::Default } else { LabelKind::Case }));
            let kind = StatementKind::Label { switch: id, label };
            body.push(Statement { id: None, span: NOWHERE, kind, expansion: Vec::new() });
            body.extend(self.block(depth, in_loop, true).0);
        }
        if !default {
            labels.push(self.label(LabelKind::ImplicitDefault));
        }
        self.switches[number as usize - 1].labels = labels;
        StatementKind::Switch { switch: id, body: Block(body) }
    }

    fn label(&mut self, kind: LabelKind) -> Label {
        self.marks += 1;
        Label { kind, span: NOWHERE, text: String::new(), mark: Some(MarkIndex(self.marks - 1)) }
    }
}

/// What runs did, and what of it is recorded.
#[derive(Default)]
struct Recorded {
    executed: BTreeSet<StatementId>,
    body_completed: bool,
    outcomes: BTreeMap<DecisionId, [bool; 2]>,
    marks: BTreeSet<MarkIndex>,
    hidden_decisions: BTreeSet<DecisionId>,
    hidden_marks: BTreeSet<MarkIndex>,
}

impl ExecutionEvidence for Recorded {
    fn decision_outcomes(&self, decision: DecisionId) -> DecisionOutcomes {
        if self.hidden_decisions.contains(&decision) {
            return DecisionOutcomes::Unrecorded;
        }
        let [true_seen, false_seen] = self.outcomes.get(&decision).copied().unwrap_or_default();
        DecisionOutcomes::Recorded { true_seen, false_seen }
    }

    fn mark_passed(&self, mark: MarkIndex) -> Option<bool> {
        (!self.hidden_marks.contains(&mark)).then(|| self.marks.contains(&mark))
    }
}

#[derive(PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
    Return,
    TooLong,
}

struct Interpreter<'a> {
    structure: &'a KernelStructure,
    dice: Dice,
    steps: u32,
    recorded: Recorded,
    /// Decisions with one outcome.
    fixed: BTreeMap<DecisionId, bool>,
}

impl Interpreter<'_> {
    /// Runs `main` some times, each with its own chance outcomes; none if a run does not end.
    fn runs(structure: &KernelStructure, seed: u64) -> Option<Recorded> {
        Self::runs_with(structure, seed, BTreeMap::new())
    }

    fn runs_with(
        structure: &KernelStructure,
        seed: u64,
        fixed: BTreeMap<DecisionId, bool>,
    ) -> Option<Recorded> {
        let (dice, recorded) = (Dice(seed), Recorded::default());
        let mut interpreter = Interpreter { structure, dice, steps: 2_000, recorded, fixed };
        for _ in 0..interpreter.dice.roll(4) {
            interpreter.recorded.marks.insert(MarkIndex(0));
            match interpreter.block(&structure.functions[0].body.0) {
                Flow::Next => interpreter.recorded.body_completed = true,
                Flow::Return => {}
                Flow::TooLong => return None,
                Flow::Break | Flow::Continue => panic!("a jump left the function"),
            }
        }
        Some(interpreter.recorded)
    }

    fn block(&mut self, statements: &[Statement]) -> Flow {
        for statement in statements {
            let flow = self.statement(statement);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn evaluate(&mut self, decision: DecisionId) -> bool {
        // Some decisions nearly always go one way, so that outcomes stay unseen.
        let value = match decision.0 % 4 {
            0 => self.dice.roll(12) == 0,
            1 => self.dice.roll(12) != 0,
            _ => self.dice.roll(2) == 0,
        };
        let value = self.fixed.get(&decision).copied().unwrap_or(value);
        self.recorded.outcomes.entry(decision).or_default()[usize::from(!value)] = true;
        value
    }

    fn statement(&mut self, statement: &Statement) -> Flow {
        if self.steps == 0 {
            return Flow::TooLong;
        }
        self.steps -= 1;
        self.recorded.executed.extend(statement.id);
        match &statement.kind {
            StatementKind::Simple | StatementKind::Empty => Flow::Next,
            StatementKind::Break => Flow::Break,
            StatementKind::Continue => Flow::Continue,
            StatementKind::Return | StatementKind::Terminate => Flow::Return,
            StatementKind::Label { switch, label } => {
                self.mark(*switch, *label);
                Flow::Next
            }
            StatementKind::Block { block } => self.block(&block.0),
            StatementKind::If { decision, then, otherwise } => {
                match (self.evaluate(*decision), otherwise) {
                    (true, _) => self.statement(then),
                    (false, Some(otherwise)) => self.statement(otherwise),
                    (false, None) => Flow::Next,
                }
            }
            StatementKind::While { decision, body } => self.head_loop(Some(*decision), body),
            StatementKind::For { init, decision, body } => {
                if let Some(init) = init {
                    self.statement(init);
                }
                self.head_loop(*decision, body)
            }
            StatementKind::DoWhile { body, decision } => loop {
                match self.statement(body) {
                    Flow::Break => return Flow::Next,
                    leaving @ (Flow::Return | Flow::TooLong) => return leaving,
                    Flow::Next | Flow::Continue => {}
                }
                if !self.evaluate(*decision) {
                    return Flow::Next;
                }
            },
            StatementKind::Switch { switch, body } => self.switch(*switch, body),
        }
    }

    fn head_loop(&mut self, decision: Option<DecisionId>, body: &Statement) -> Flow {
        while decision.is_none_or(|decision| self.evaluate(decision)) {
            match self.statement(body) {
                Flow::Break => break,
                leaving @ (Flow::Return | Flow::TooLong) => return leaving,
                Flow::Next | Flow::Continue => {}
            }
        }
        Flow::Next
    }

    fn mark(&mut self, switch: SwitchId, label: u32) {
        let mark = self.structure.switch(switch).labels[label as usize].mark;
        self.recorded.marks.extend(mark);
    }

    fn switch(&mut self, switch: SwitchId, body: &Block) -> Flow {
        let labels = &self.structure.switch(switch).labels;
        let label = self.dice.roll(labels.len() as u64) as u32;
        if labels[label as usize].kind == LabelKind::ImplicitDefault {
            self.mark(switch, label);
            return Flow::Next;
        }
        let target =
            |statement: &Statement| statement.kind == StatementKind::Label { switch, label };
        let from = body.0.iter().position(target).expect("the label is in the body");
        match self.block(&body.0[from..]) {
            Flow::Break => Flow::Next,
            other => other,
        }
    }
}

/// The program in a few lines, for failure messages.
fn printed(statements: &[Statement]) -> String {
    statements.iter().map(|statement| print_one(statement) + " ").collect()
}

fn print_one(statement: &Statement) -> String {
    let id = statement.id.map_or(String::new(), |id| format!("{id}:"));
    let kind = match &statement.kind {
        StatementKind::Block { block } => format!("{{ {}}}", printed(&block.0)),
        StatementKind::If { decision, then, otherwise } => {
            let otherwise =
                otherwise.as_ref().map_or(String::new(), |o| format!(" else {}", print_one(o)));
            format!("if({decision}) {}{otherwise}", print_one(then))
        }
        StatementKind::While { decision, body } => format!("while({decision}) {}", print_one(body)),
        StatementKind::DoWhile { body, decision } => {
            format!("do {} while({decision})", print_one(body))
        }
        StatementKind::For { decision, body, .. } => {
            format!("for({decision:?}) {}", print_one(body))
        }
        StatementKind::Switch { switch, body } => {
            format!("switch({switch}) {{ {}}}", printed(&body.0))
        }
        StatementKind::Label { switch, label } => format!("case {switch}.{label}:"),
        other => format!("{other:?};"),
    };
    id + &kind
}

fn agrees(found: Truth, happened: bool) -> bool {
    found == Truth::Unknown || (found == Truth::Yes) == happened
}

/// Statements and points with what really happened.
fn compared<'a>(
    structure: &'a KernelStructure,
    found: &'a Execution,
    recorded: &'a Recorded,
) -> impl Iterator<Item = (String, Truth, bool)> + 'a {
    let statements = found.statements.iter();
    let statements =
        statements.map(|(id, truth)| (id.to_string(), *truth, recorded.executed.contains(id)));
    let exits = structure.functions[0].exits.iter().zip(&found.points[0].1);
    let exits = exits.map(|(exit, truth)| match exit {
        Exit::Return { statement } => {
            (format!("exit {statement}"), *truth, recorded.executed.contains(statement))
        }
        Exit::EndOfBody { .. } => ("end".to_owned(), *truth, recorded.body_completed),
    });
    let entry = ("entry".to_owned(), found.points[0].0, recorded.marks.contains(&MarkIndex(0)));
    statements.chain(exits).chain([entry])
}

#[test]
fn executed_statements_follow_exactly_from_the_records() {
    let mut checked = 0;
    for seed in 0..PROGRAMS {
        let structure = Author::program(seed);
        let Some(recorded) = Interpreter::runs(&structure, !seed) else { continue };
        let found = derived_execution(&structure, &recorded);
        for (name, truth, happened) in compared(&structure, &found, &recorded) {
            assert_eq!(
                truth,
                Truth::from(happened),
                "{name} of seed {seed}: {}",
                printed(&structure.functions[0].body.0)
            );
            checked += 1;
        }
    }
    assert!(checked > 2 * PROGRAMS, "{checked}");
}

/// Everything that fixed decisions leave possible, as evidence.
struct Possible(BTreeMap<DecisionId, bool>);

impl ExecutionEvidence for Possible {
    fn decision_outcomes(&self, decision: DecisionId) -> DecisionOutcomes {
        match self.0.get(&decision) {
            Some(value) => DecisionOutcomes::Recorded { true_seen: *value, false_seen: !value },
            None => DecisionOutcomes::Recorded { true_seen: true, false_seen: true },
        }
    }

    fn mark_passed(&self, _mark: MarkIndex) -> Option<bool> {
        Some(true)
    }
}

#[test]
fn what_fixed_decisions_rule_out_never_happens() {
    let (mut ruled_out, mut happened) = (0, 0);
    for seed in 0..PROGRAMS {
        let structure = Author::program(seed);
        let mut dice = Dice(seed + 1234);
        let fixed: BTreeMap<DecisionId, bool> = (1..200)
            .map(DecisionId)
            .filter_map(|decision| (dice.roll(3) == 0).then_some((decision, dice.roll(2) == 0)))
            .collect();
        let found = derived_execution(&structure, &Possible(fixed.clone()));
        for run in 0..4 {
            let Some(recorded) =
                Interpreter::runs_with(&structure, seed ^ run << 32, fixed.clone())
            else {
                continue;
            };
            for (name, truth, real) in compared(&structure, &found, &recorded) {
                assert!(
                    !(real && truth == Truth::No),
                    "{name} of seed {seed}: {} {:?}",
                    printed(&structure.functions[0].body.0),
                    recorded.executed
                );
                ruled_out += u64::from(truth == Truth::No);
                happened += u64::from(real);
            }
        }
    }
    assert!(
        ruled_out > PROGRAMS / 2 && happened > 2 * PROGRAMS,
        "{ruled_out} ruled out, {happened} happened"
    );
}

#[test]
fn what_is_not_recorded_is_unknown_but_never_wrong() {
    let (mut known, mut unknown) = (0, 0);
    for seed in 0..PROGRAMS {
        let structure = Author::program(seed);
        let Some(mut recorded) = Interpreter::runs(&structure, !seed) else { continue };
        let mut dice = Dice(seed + 77);
        recorded.hidden_decisions =
            (1..200).map(DecisionId).filter(|_| dice.roll(3) == 0).collect();
        recorded.hidden_marks = (0..200).map(MarkIndex).filter(|_| dice.roll(4) == 0).collect();
        let found = derived_execution(&structure, &recorded);
        for (name, truth, happened) in compared(&structure, &found, &recorded) {
            assert!(
                agrees(truth, happened),
                "{name} of seed {seed} is not {truth:?}: {} {:?} {:?}",
                printed(&structure.functions[0].body.0),
                recorded.hidden_decisions.iter().take(8).collect::<Vec<_>>(),
                recorded.executed
            );
            if truth == Truth::Unknown { unknown += 1 } else { known += 1 }
        }
    }
    assert!(known > 3 * unknown, "{known} known, {unknown} unknown");
}

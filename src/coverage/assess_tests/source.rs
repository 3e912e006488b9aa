//! Kernels from short texts, and their records by name.

use super::lines::obligation_lines;
use super::*;
use crate::layout::record_layout;

/// A kernel under a configuration.
pub(super) struct Kernel {
    pub structure: KernelStructure,
    pub presence: Presence,
    pub configuration: Configuration,
    pub proposing: ProposalRules,
}

impl Kernel {
    /// Functions `void name() { ... }` of statements as in GLSL; decisions stand in headers and behind
    /// `=`. The module holds all markers.
    pub(super) fn of_text(text: &str) -> Self {
        let structure = Reader::structure(text);
        let markers = (0..).zip(structure.markers.iter());
        let markers = markers.map(|(number, role)| (number, PresentMarker::runtime(*role)));
        Self {
            presence: Presence { markers: markers.collect() },
            structure,
            configuration: Configuration::default(),
            proposing: ProposalRules::Current,
        }
    }

    /// The marker of `main`, `W1.L2`, `D1`, `D1.C2`.
    pub(super) fn marker(&mut self, name: &str) -> &mut PresentMarker {
        let role = self.role(name);
        let found = self.presence.markers.values_mut().find(|marker| marker.role == role);
        found.unwrap_or_else(|| panic!("no marker {name}"))
    }

    pub(super) fn without_markers(mut self, names: &[&str]) -> Self {
        let absent: Vec<MarkerRole> = names.iter().map(|name| self.role(name)).collect();
        self.presence.markers.retain(|_, marker| !absent.contains(&marker.role));
        self
    }

    /// A condition with one value, from these specialization constants.
    pub(super) fn with_fixed(mut self, name: &str, value: bool, constants: &[u32]) -> Self {
        let marker = self.marker(name);
        marker.value = Some(value);
        marker.constants = constants.to_vec();
        marker.constness =
            if constants.is_empty() { Constness::Constant } else { Constness::Specialization };
        self
    }

    pub(super) fn with_excluded(mut self, names: &[&str]) -> Self {
        for name in names {
            self.marker(name).reach = Reach::Excluded;
        }
        self
    }

    /// Named constants with their ids and values, and defines.
    pub(super) fn with_configuration(
        mut self,
        name: &str,
        constants: &[(u32, &str, &str)],
        defines: &[(&str, &str)],
    ) -> Self {
        let constant = |(id, name, value): &(u32, &str, &str)| SpecializedConstant {
            id: *id,
            name: (!name.is_empty()).then(|| (*name).to_owned()),
            type_name: "uint".to_owned(),
            value: (*value).to_owned(),
            bits: "0x0".to_owned(),
            default: false,
        };
        self.configuration = Configuration {
            name: name.to_owned(),
            specialization: constants.iter().map(constant).collect(),
            defines: defines
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            ..Configuration::default()
        };
        self
    }

    fn role(&self, name: &str) -> MarkerRole {
        if let Some(function) = self.structure.functions.iter().find(|known| known.name == name) {
            return MarkerRole::Mark { mark: function.entry_mark };
        }
        if let Some((switch, label)) = name.split_once(".L") {
            let switch: SwitchId = switch.parse().unwrap();
            let label = &self.structure.switch(switch).labels[label.parse::<usize>().unwrap() - 1];
            return MarkerRole::Mark { mark: label.mark.unwrap() };
        }
        let (decision, condition) = name.split_once(".C").unwrap_or((name, ""));
        let decision: DecisionId = decision.parse().unwrap();
        if self.structure.decision(decision).conditions.len() == 1 {
            return MarkerRole::Single { decision };
        }
        match condition.parse::<u32>() {
            Ok(number) => MarkerRole::Condition { decision, condition: number - 1 },
            Err(_) => MarkerRole::Decision { decision },
        }
    }

    /// The records of a test: marks by name, and `D1=TF` for vectors.
    pub(super) fn records(&self, shown: &str) -> Records {
        let layout = record_layout(&self.structure, &self.presence);
        let mut records = Records { words: vec![0; layout.words()], ..Records::default() };
        for item in shown.split_whitespace() {
            let bit = match item.split_once('=') {
                Some((decision, values)) => {
                    let slot = layout.slot(decision.parse().unwrap()).unwrap();
                    let values: Values = values.parse().unwrap();
                    let row = slot.vectors.iter().find(|row| row.vector.values == values);
                    slot.base + row.unwrap_or_else(|| panic!("{item}")).sum
                }
                None => match self.role(item) {
                    MarkerRole::Mark { mark } => mark.0,
                    role => panic!("{role:?}"),
                },
            };
            records.words[bit as usize / 32] |= 1 << (bit % 32);
            records.witnesses.insert(bit, [bit, 0, 0]);
        }
        records
    }

    /// Coverage by tests `T1`, `T2` ..., and the records that contradict what is fixed.
    pub(super) fn assessed(&self, tests: &[&str]) -> (KernelCoverage, Vec<String>) {
        self.assessed_records(tests.iter().map(|shown| self.records(shown)).collect())
    }

    pub(super) fn assessed_records(&self, tests: Vec<Records>) -> (KernelCoverage, Vec<String>) {
        let tests: Vec<(TestId, &Records)> = (1..)
            .zip(&tests)
            .map(|(number, records)| (TestId::from(format!("T{number}")), records))
            .collect();
        let layout = record_layout(&self.structure, &self.presence);
        let subject = CoverageSubject {
            structure: &self.structure,
            layout: &layout,
            presence: &self.presence,
            configuration: &self.configuration,
            proposing: self.proposing,
        };
        (assess(&subject, &tests), contradictions(&subject, &tests))
    }

    /// All obligations by these tests, a line each.
    pub(super) fn told(&self, tests: &[&str]) -> String {
        let (coverage, contradictions) = self.assessed(tests);
        let lines = contradictions.iter().map(|sentence| format!("CONTRADICTION: {sentence}"));
        lines.chain(obligation_lines(&coverage)).collect::<Vec<_>>().join("\n")
    }
}

/// Reads a text; panics where it does not understand it.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    structure: KernelStructure,
    statements: u32,
    marks: u32,
    exits: Vec<Exit>,
    switches: Vec<SwitchId>,
}

impl<'t> Reader<'t> {
    fn structure(text: &'t str) -> KernelStructure {
        let mut reader = Reader {
            text,
            at: 0,
            structure: KernelStructure {
                files: vec![SourceFile { path: "k.comp".to_owned(), text: text.to_owned() }],
                functions: Vec::new(),
                decisions: Vec::new(),
                markers: Vec::new(),
                ..super::structure()
            },
            statements: 0,
            marks: 0,
            exits: Vec::new(),
            switches: Vec::new(),
        };
        while reader.next_is("void ") {
            reader.function();
        }
        assert_eq!(reader.at, text.len());
        reader.structure
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: FileIndex(0), start: start as u32, end: end as u32 }
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn next_is(&mut self, word: &str) -> bool {
        self.skip_space();
        self.text[self.at..].starts_with(word)
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.next_is(word);
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn take_to(&mut self, end: char) -> &'t str {
        self.skip_space();
        let length = self.text[self.at..].find(end).unwrap();
        let taken = &self.text[self.at..self.at + length];
        self.at += length + 1;
        taken
    }

    fn mark(&mut self) -> MarkIndex {
        self.marks += 1;
        let mark = MarkIndex(self.marks - 1);
        self.structure.markers.push(MarkerRole::Mark { mark });
        mark
    }

    fn function(&mut self) {
        assert!(self.take("void "));
        let start = self.at - 5;
        let name = self.take_to('(').to_owned();
        assert!(self.take(")") && self.take("{"));
        let id = FunctionId(self.structure.functions.len() as u32 + 1);
        let entry_mark = self.mark();
        let body = self.block_body();
        let mut exits = std::mem::take(&mut self.exits);
        exits.push(Exit::EndOfBody { span: self.span(self.at - 1, self.at) });
        let span = self.span(start, self.at);
        let expansion = Vec::new();
        self.structure.functions.push(Function {
            id,
            name,
            span,
            entry_mark,
            body,
            exits,
            expansion,
        });
        self.skip_space();
    }

    fn block_body(&mut self) -> Block {
        let mut statements = Vec::new();
        while !self.take("}") {
            statements.push(self.statement());
        }
        Block(statements)
    }

    /// `(...)`: the bytes between.
    fn parenthesised(&mut self) -> (usize, usize) {
        assert!(self.take("("));
        let (start, mut depth) = (self.at, 1);
        while depth > 0 {
            depth = match self.text.as_bytes()[self.at] {
                b'(' => depth + 1,
                b')' => depth - 1,
                _ => depth,
            };
            self.at += 1;
        }
        (start, self.at - 1)
    }

    fn decision(&mut self, context: DecisionContext, (start, end): (usize, usize)) -> DecisionId {
        let parsed = parse(&self.text[start..end]).unwrap();
        let id = DecisionId(self.structure.decisions.len() as u32 + 1);
        let condition = |condition: &expression::ParsedCondition| Condition {
            span: self.span(start + condition.span.start, start + condition.span.end),
            text: condition.text.clone(),
            coupling: condition.coupling,
            constness: Constness::Runtime,
        };
        let conditions: Vec<Condition> = parsed.conditions.iter().map(condition).collect();
        match conditions.len() as u32 {
            1 => self.structure.markers.push(MarkerRole::Single { decision: id }),
            count => {
                let roles =
                    (0..count).map(|condition| MarkerRole::Condition { decision: id, condition });
                self.structure.markers.extend(roles);
                self.structure.markers.push(MarkerRole::Decision { decision: id });
            }
        }
        self.structure.decisions.push(Decision {
            id,
            function: Some(FunctionId(self.structure.functions.len() as u32 + 1)),
            context,
            span: self.span(start, end),
            text: self.text[start..end].to_owned(),
            conditions,
            expression: parsed.expression,
            constness: Constness::Runtime,
            recording: Recording::Marked,
            expansion: Vec::new(),
        });
        id
    }

    fn statement(&mut self) -> Statement {
        self.skip_space();
        let start = self.at;
        let expansion = Vec::new();
        if self.take("{") {
            let kind = StatementKind::Block { block: self.block_body() };
            return Statement { id: None, span: self.span(start, self.at), kind, expansion };
        }
        if self.next_is("case ") || self.next_is("default:") {
            return self.label();
        }
        self.statements += 1;
        let number = StatementId(self.statements);
        let id = Some(number);
        let mut header_end = None;
        let kind = if self.take("if ") {
            let header = self.parenthesised();
            header_end = Some(self.at);
            let decision = self.decision(DecisionContext::If, header);
            let then = Box::new(self.statement());
            let otherwise = self.take("else ").then(|| Box::new(self.statement()));
            StatementKind::If { decision, then, otherwise }
        } else if self.take("while ") {
            let header = self.parenthesised();
            header_end = Some(self.at);
            let decision = self.decision(DecisionContext::While, header);
            StatementKind::While { decision, body: Box::new(self.statement()) }
        } else if self.take("do ") {
            header_end = Some(self.at - 1);
            let body = Box::new(self.statement());
            assert!(self.take("while "));
            let header = self.parenthesised();
            assert!(self.take(";"));
            StatementKind::DoWhile {
                body,
                decision: self.decision(DecisionContext::DoWhile, header),
            }
        } else if self.take("for ") {
            assert!(self.take("("));
            let init = (!self.take(";")).then(|| Box::new(self.statement()));
            self.skip_space();
            let start = self.at;
            let condition = self.take_to(';').len();
            let decision = (condition > 0)
                .then(|| self.decision(DecisionContext::For, (start, start + condition)));
            self.take_to(')');
            header_end = Some(self.at);
            StatementKind::For { init, decision, body: Box::new(self.statement()) }
        } else if self.take("switch ") {
            let header = self.parenthesised();
            header_end = Some(self.at);
            self.switch(header, start)
        } else {
            let text = self.take_to(';');
            match text {
                "return" => {
                    self.exits.push(Exit::Return { statement: number });
                    StatementKind::Return
                }
                "discard" => StatementKind::Terminate,
                "break" => StatementKind::Break,
                "continue" => StatementKind::Continue,
                _ => {
                    let value = text.find("= ").map(|offset| (start + offset + 2, self.at - 1));
                    if let Some(value) =
                        value.filter(|_| text.contains("&&") || text.contains("||"))
                    {
                        self.decision(DecisionContext::Assignment, value);
                    }
                    StatementKind::Simple
                }
            }
        };
        Statement { id, span: self.span(start, header_end.unwrap_or(self.at)), kind, expansion }
    }

    fn switch(&mut self, (start, end): (usize, usize), from: usize) -> StatementKind {
        let id = SwitchId(self.structure.switches.len() as u32 + 1);
        self.structure.switches.push(Switch {
            id,
            span: self.span(from, self.at),
            text: self.text[start..end].to_owned(),
            labels: Vec::new(),
        });
        self.switches.push(id);
        assert!(self.take("{"));
        let body = self.block_body();
        self.switches.pop();
        let labels = &self.structure.switch(id).labels;
        if labels.iter().all(|label| label.kind == LabelKind::Case) {
            let mark = Some(self.mark());
            let (span, text) = (self.span(from, end + 1), String::new());
            let kind = LabelKind::ImplicitDefault;
            self.structure.switches[id.0 as usize - 1].labels.push(Label {
                kind,
                span,
                text,
                mark,
            });
        }
        StatementKind::Switch { switch: id, body }
    }

    fn label(&mut self) -> Statement {
        let start = self.at;
        let text = self.take_to(':').to_owned();
        let switch = *self.switches.last().unwrap();
        let kind = if text == "default" { LabelKind::Default } else { LabelKind::Case };
        let (span, mark) = (self.span(start, self.at), Some(self.mark()));
        let labels = &mut self.structure.switches[switch.0 as usize - 1].labels;
        labels.push(Label { kind, span, text, mark });
        let kind = StatementKind::Label { switch, label: labels.len() as u32 - 1 };
        Statement { id: None, span, kind, expansion: Vec::new() }
    }
}

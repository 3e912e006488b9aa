//! The printed form of the lowering: nested loops with source lines.
//!
//! Knows: the structured control flow of SPIR-V (merge instructions), barriers, calls of functions
//! with barriers.
//! Promises: constructs with a barrier are printed outside the loops over invocations, the others
//! inside. Lines carry their source text where the module does (OpSource); a `for` line says which
//! of its parts runs at that place.
//! Does not cover: control flow without merge instructions, which is printed block by block;
//! branches within one line (`?:`, `&&`), which stay part of the line.

use super::source_lines::{Item, Listing, Part, SourceLine, Statement, collapsed};
use crate::decode::ops::synchronization::holds_workgroup;
use crate::ir::Program;
use crate::print::region_name;
use rspirv::spirv::Op;
use std::collections::{BTreeSet, HashMap, HashSet};
use vkcert_model::evidence::LoweringDecision;
use vkcert_spirv::module::{Function, Id, Instruction, Module, is_terminator};
use vkcert_spirv::opcodes::is_atomic;

/// The text of a lowered kernel.
pub(super) fn outline(
    module: &Module,
    entry: &str,
    program: &Program,
    decisions: &[LoweringDecision],
) -> String {
    let mut outline = Outline {
        module,
        program,
        decisions,
        text: String::new(),
        depth: 0,
        region: 0,
        begun: false,
        body: Vec::new(),
        inner: 0,
        listing: Listing::of(module),
        loops: Vec::new(),
        barriers: HashMap::new(),
        with_barrier: with_barrier(module),
    };
    outline.header(entry);
    if let Some(function) =
        module.entry_point(entry).and_then(|entry| module.function_by_id(entry.function))
    {
        outline.function(function);
    }
    outline.close_region();
    outline.text
}

/// Where a construct stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Outside the loops over invocations: it holds a barrier, all invocations go through it
    /// together.
    Outside,
    /// Inside them: each invocation goes through it alone.
    Inside,
}

struct Outline<'a> {
    module: &'a Module,
    program: &'a Program,
    decisions: &'a [LoweringDecision],
    text: String,
    depth: usize,
    /// The region that statements belong to, and whether its loops were printed.
    region: usize,
    begun: bool,
    /// Lines of the region being gathered, each with its inner depth.
    body: Vec<(usize, Item)>,
    inner: usize,
    listing: Listing,
    /// Lines of the loops being printed, innermost last, with the part of the loop that is being
    /// printed.
    loops: Vec<(SourceLine, Part)>,
    /// How often a barrier's place was passed, to find its inlined copy.
    barriers: HashMap<u32, usize>,
    with_barrier: HashSet<Id>,
}

impl Outline<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A loop that the lowering adds, with its label.
    fn added_loop(&mut self, decision: usize, header: &str) {
        let label = self.decisions.get(decision).map_or("", |decision| decision.id.as_str());
        let indent = "  ".repeat(self.depth);
        self.text.push_str(&format!(
            "{indent}{header:<width$}  // {label}\n",
            width = 92usize.saturating_sub(indent.len())
        ));
        self.depth += 1;
    }

    fn header(&mut self, entry: &str) {
        let [x, y, z] = self.program.local_size;
        self.line(&format!("sequential form of `{entry}`, local_size = ({x}, {y}, {z})"));
        for (axis, decision) in ["z", "y", "x"].iter().zip(0..) {
            self.added_loop(
                decision,
                &format!(
                    "for workgroup.{axis} = 0; workgroup.{axis} < groups.{axis}; ++workgroup.{axis}"
                ),
            );
        }
        let workgroup: Vec<String> = self
            .program
            .workgroup_variables
            .iter()
            .map(|one| format!("{} ({} words)", one.name, one.scalars))
            .collect();
        if !workgroup.is_empty() {
            self.line(&format!("once per workgroup: {}", workgroup.join(", ")));
        }
        let names: BTreeSet<&str> =
            self.program.expanded.iter().map(|one| one.name.as_str()).collect();
        // Names that the compiler made up say nothing to a reader.
        let (made_up, named): (Vec<&str>, Vec<&str>) =
            names.into_iter().partition(|name| name.starts_with('%') || *name == "param");
        if !named.is_empty() || !made_up.is_empty() {
            let mut text = format!("once per invocation: {}", named.join(", "));
            if !made_up.is_empty() {
                text.push_str(&format!(
                    "{}{} temporaries",
                    if named.is_empty() { "" } else { ", " },
                    made_up.len()
                ));
            }
            self.line(&text);
        }
    }

    /// Prints what was gathered inside the loops over invocations.
    fn close_region(&mut self) {
        let body = collapsed(std::mem::take(&mut self.body));
        if body.is_empty() && self.begun {
            return;
        }
        let depth = self.depth;
        let name = region_name(self.module, self.program, self.region);
        self.line(&if self.begun { format!("{name}, continued:") } else { format!("{name}:") });
        self.depth += 1;
        for (axis, offset) in ["z", "y", "x"].iter().zip(0..) {
            self.added_loop(
                3 + 3 * self.region + offset,
                &format!("for invocation.{axis} = 0; invocation.{axis} < local_size.{axis}; ++invocation.{axis}"),
            );
        }
        self.begun = true;
        let base = self.depth;
        for (inner, item) in body {
            self.depth = base + inner;
            for text in self.listing.lines(&item) {
                self.line(&text);
            }
        }
        self.depth = depth;
    }

    fn statement(&mut self, line: SourceLine) {
        let part = match self.loops.iter().rev().find(|(of, _)| *of == line) {
            Some((_, part)) => *part,
            None if self.listing.is_loop(line) => Part::Start,
            None => Part::Whole,
        };
        let statement = Statement { line, part };
        if let Some((inner, Item::Statements(lines))) = self.body.last_mut()
            && *inner == self.inner
        {
            lines.insert(statement);
            return;
        }
        self.body.push((self.inner, Item::Statements(BTreeSet::from([statement]))));
    }

    fn function(&mut self, function: &Function) {
        if let Some(entry) = function.blocks.first() {
            self.walk(function, entry.label, &mut HashSet::new(), &[]);
        }
    }

    /// Prints from a block on until one of `stops` or a block that was printed already.
    fn walk(&mut self, function: &Function, start: Id, seen: &mut HashSet<Id>, stops: &[Id]) {
        let mut next = Some(start);
        while let Some(label) = next {
            if stops.contains(&label) || !seen.insert(label) {
                return;
            }
            let Some(block) = function.blocks.iter().find(|block| block.label == label) else {
                return;
            };
            let module = self.module;
            let instructions = module.instructions_in(block.range);
            let merge = instructions
                .iter()
                .find(|one| matches!(one.op, Op::LoopMerge | Op::SelectionMerge));
            let looping = merge.is_some_and(|merge| merge.op == Op::LoopMerge);
            if !looping {
                self.statements(function, block.range.range());
            }
            let targets = crate::decode::block_order::branch_targets(instructions);
            match merge.and_then(|merge| merge.id(0)) {
                Some(after) => {
                    self.construct(function, label, instructions, seen, stops, after);
                    next = Some(after);
                }
                None => next = targets.first().copied(),
            }
        }
    }

    /// A loop or selection: outside the invocation loops if it holds a barrier, else inside.
    fn construct(
        &mut self,
        function: &Function,
        label: Id,
        instructions: &[Instruction],
        seen: &mut HashSet<Id>,
        stops: &[Id],
        after: Id,
    ) {
        let merge =
            instructions.iter().find(|one| matches!(one.op, Op::LoopMerge | Op::SelectionMerge));
        let looping = merge.is_some_and(|merge| merge.op == Op::LoopMerge);
        let standing = if self.holds_barrier(function, label, after) {
            Standing::Outside
        } else {
            Standing::Inside
        };
        let header = function.blocks.iter().find(|block| block.label == label);
        let line = header.and_then(|block| self.listing.header(self.module, block));
        let mut inner_stops = stops.to_vec();
        inner_stops.push(after);
        self.open(if looping { "loop" } else { "selection" }, standing, line);
        if looping {
            self.loops.extend(line.map(|line| (line, Part::Condition)));
            if let Some(block) = header {
                self.statements(function, block.range.range());
            }
        }
        // The body ends where the loop goes on.
        let next = merge.filter(|_| looping).and_then(|merge| merge.id(1));
        let mut body_stops = inner_stops.clone();
        body_stops.extend(next);
        for (at, target) in
            crate::decode::block_order::branch_targets(instructions).into_iter().enumerate()
        {
            if at > 0 && !body_stops.contains(&target) && !seen.contains(&target) {
                self.alternative(standing);
            }
            self.walk(function, target, seen, &body_stops);
        }
        if let Some(next) = next {
            if let (Some(_), Some((_, part))) = (line, self.loops.last_mut()) {
                *part = Part::Update;
            }
            self.walk(function, next, seen, &inner_stops);
        }
        if looping && line.is_some() {
            self.loops.pop();
        }
        self.close(standing);
    }

    /// Begins a loop or selection.
    fn open(&mut self, word: &'static str, standing: Standing, line: Option<SourceLine>) {
        match standing {
            Standing::Outside => {
                self.close_region();
                let header = self.listing.construct(&format!("{word} with barriers"), line);
                self.line(&format!("{header} {{  // all invocations together"));
                self.depth += 1;
            }
            Standing::Inside => {
                self.body.push((self.inner, Item::Open { word, line }));
                self.inner += 1;
            }
        }
    }

    fn alternative(&mut self, standing: Standing) {
        match standing {
            Standing::Outside => {
                self.close_region();
                self.depth -= 1;
                self.line("} or {");
                self.depth += 1;
            }
            Standing::Inside => self.body.push((self.inner - 1, Item::Or)),
        }
    }

    fn close(&mut self, standing: Standing) {
        match standing {
            Standing::Outside => {
                self.close_region();
                self.depth -= 1;
                self.line("}");
            }
            Standing::Inside => {
                self.inner -= 1;
                self.body.push((self.inner, Item::Close));
            }
        }
    }

    fn statements(&mut self, function: &Function, range: std::ops::Range<usize>) {
        let module = self.module;
        for index in range {
            let instruction = &module.instructions[index];
            match instruction.op {
                Op::ControlBarrier if holds_workgroup(module, instruction) => self.barrier(index),
                Op::ControlBarrier => self.touch(index),
                Op::FunctionCall => {
                    let callee = instruction.id(0);
                    if let Some(inner) = callee
                        .filter(|id| self.with_barrier.contains(id))
                        .and_then(|id| module.function_by_id(id))
                        && inner.id != function.id
                    {
                        self.function(inner);
                    } else {
                        self.touch(index);
                    }
                }
                Op::Store | Op::CopyMemory | Op::ReturnValue => self.touch(index),
                op if is_atomic(op) => self.touch(index),
                op if is_terminator(op)
                    && matches!(op, Op::BranchConditional | Op::Switch | Op::Return) =>
                {
                    self.touch(index)
                }
                _ => {}
            }
        }
    }

    fn touch(&mut self, index: usize) {
        if let Some(line) = self.module.line_of(index) {
            self.statement(SourceLine { file: line.file, line: line.line });
        }
    }

    fn barrier(&mut self, index: usize) {
        self.close_region();
        let place = self.module.place_of(index);
        self.line(&format!("barrier at {place}"));
        let passed = self.barriers.entry(index as u32).or_insert(0);
        let copies = self
            .program
            .barriers
            .iter()
            .enumerate()
            .filter(|(_, barrier)| barrier.source_index == index as u32);
        if let Some((barrier, _)) = copies.clone().nth(*passed).or_else(|| copies.clone().next()) {
            self.region = barrier + 1;
        }
        *passed += 1;
        self.begun = false;
    }

    fn holds_barrier(&self, function: &Function, from: Id, after: Id) -> bool {
        let blocks: HashMap<Id, &[Instruction]> = function
            .blocks
            .iter()
            .map(|block| (block.label, self.module.instructions_in(block.range)))
            .collect();
        // A selection's header runs before it; a loop's header is part of it.
        let looping =
            blocks.get(&from).is_some_and(|block| block.iter().any(|one| one.op == Op::LoopMerge));
        let mut open = if looping {
            vec![from]
        } else {
            blocks
                .get(&from)
                .map(|block| crate::decode::block_order::branch_targets(block))
                .unwrap_or_default()
        };
        let mut seen: HashSet<Id> = HashSet::from([after]);
        while let Some(label) = open.pop() {
            let Some(block) = blocks.get(&label).filter(|_| seen.insert(label)) else { continue };
            let barrier = |one: &Instruction| {
                holds_workgroup(self.module, one)
                    || (one.op == Op::FunctionCall
                        && one.id(0).is_some_and(|id| self.with_barrier.contains(&id)))
            };
            if block.iter().any(barrier) {
                return true;
            }
            open.extend(crate::decode::block_order::branch_targets(block));
        }
        false
    }
}

fn with_barrier(module: &Module) -> HashSet<Id> {
    crate::decode::functions_with_barrier(module)
}

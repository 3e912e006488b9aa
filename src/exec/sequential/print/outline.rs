//! The printed form of the lowering: nested loops with source lines.
//!
//! Knows: the structured control flow of SPIR-V (merge instructions), barriers, calls of functions
//! with barriers.
//! Promises: constructs with a barrier are printed outside the loops over invocations, the others
//! inside. Lines carry their source text where the module does (OpSource); a `for` line says which
//! of its parts runs at that place.
//! Does not cover: control flow without merge instructions, which is printed block by block;
//! branches within one line (`?:`, `&&`), which stay part of the line.

use super::source_lines::{
    LinePart, RegionItem, SourceLine, SourceListing, Statement, collapse_items,
};
use crate::decode::ops::synchronization::holds_workgroup;
use crate::ir::Program;
use crate::print::region_name;
use rspirv::spirv::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use vkcert_model::evidence::LoweringDecision;
use vkcert_spirv::module::{Function, Id, Instruction, Module, is_terminator};
use vkcert_spirv::opcodes::is_atomic;

/// The text of a lowered kernel.
pub(super) fn print_outline(
    spirv_module: &Module,
    entry_name: &str,
    program: &Program,
    decisions: &[LoweringDecision],
) -> String {
    let mut outline = Outline {
        module: spirv_module,
        program,
        decisions,
        outline_text: String::new(),
        depth: 0,
        region: 0,
        region_begun: false,
        region_items: Vec::new(),
        inner_depth: 0,
        listing: SourceListing::from_module(spirv_module),
        open_loops: Vec::new(),
        passed_barriers: FxHashMap::default(),
        with_barrier: functions_with_barrier(spirv_module),
    };
    outline.push_header(entry_name);
    if let Some(function) = spirv_module
        .entry_point(entry_name)
        .and_then(|entry_point| spirv_module.function_by_id(entry_point.function))
    {
        outline.print_function(function);
    }
    outline.close_region();
    outline.outline_text
}

/// Where a construct stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConstructPlacement {
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
    outline_text: String,
    depth: usize,
    /// The region that statements belong to, and whether its loops were printed.
    region: usize,
    region_begun: bool,
    /// Lines of the region being gathered, each with its inner depth.
    region_items: Vec<(usize, RegionItem)>,
    inner_depth: usize,
    listing: SourceListing,
    /// Lines of the loops being printed, innermost last, with the part of the loop that is being
    /// printed.
    open_loops: Vec<(SourceLine, LinePart)>,
    /// How often a barrier's place was passed, to find its inlined copy.
    passed_barriers: FxHashMap<u32, usize>,
    with_barrier: FxHashSet<Id>,
}

impl Outline<'_> {
    fn push_line(&mut self, text: &str) {
        self.outline_text.push_str(&"  ".repeat(self.depth));
        self.outline_text.push_str(text);
        self.outline_text.push('\n');
    }

    /// A loop that the lowering adds, with its label.
    fn push_added_loop(&mut self, decision_index: usize, loop_header: &str) {
        let decision_label =
            self.decisions.get(decision_index).map_or("", |decision| decision.id.as_str());
        let indent = "  ".repeat(self.depth);
        self.outline_text.push_str(&format!(
            "{indent}{loop_header:<width$}  // {decision_label}\n",
            width = 92usize.saturating_sub(indent.len())
        ));
        self.depth += 1;
    }

    fn push_header(&mut self, entry_name: &str) {
        let [x, y, z] = self.program.local_size;
        self.push_line(&format!("sequential form of `{entry_name}`, local_size = ({x}, {y}, {z})"));
        for (axis, decision_index) in ["z", "y", "x"].iter().zip(0..) {
            self.push_added_loop(
                decision_index,
                &format!(
                    "for workgroup.{axis} = 0; workgroup.{axis} < groups.{axis}; ++workgroup.{axis}"
                ),
            );
        }
        let workgroup_variables: Vec<String> = self
            .program
            .workgroup_variables
            .iter()
            .map(|variable| format!("{} ({} words)", variable.name, variable.scalars))
            .collect();
        if !workgroup_variables.is_empty() {
            self.push_line(&format!("once per workgroup: {}", workgroup_variables.join(", ")));
        }
        let variable_names: BTreeSet<&str> =
            self.program.expanded.iter().map(|variable| variable.name.as_str()).collect();
        // Names that the compiler made up say nothing to a reader.
        let (made_up, named_variables): (Vec<&str>, Vec<&str>) =
            variable_names.into_iter().partition(|name| name.starts_with('%') || *name == "param");
        if !named_variables.is_empty() || !made_up.is_empty() {
            let mut invocation_line =
                format!("once per invocation: {}", named_variables.join(", "));
            if !made_up.is_empty() {
                invocation_line.push_str(&format!(
                    "{}{} temporaries",
                    if named_variables.is_empty() { "" } else { ", " },
                    made_up.len()
                ));
            }
            self.push_line(&invocation_line);
        }
    }

    /// Prints what was gathered inside the loops over invocations.
    fn close_region(&mut self) {
        let body = collapse_items(std::mem::take(&mut self.region_items));
        if body.is_empty() && self.region_begun {
            return;
        }
        let outer_depth = self.depth;
        let region_title = region_name(self.module, self.program, self.region);
        self.push_line(&if self.region_begun {
            format!("{region_title}, continued:")
        } else {
            format!("{region_title}:")
        });
        self.depth += 1;
        for (axis, offset) in ["z", "y", "x"].iter().zip(0..) {
            self.push_added_loop(3 + 3 * self.region + offset, &format!("for invocation.{axis} = 0; invocation.{axis} < local_size.{axis}; ++invocation.{axis}"));
        }
        self.region_begun = true;
        let base_depth = self.depth;
        for (inner_depth, item) in body {
            self.depth = base_depth + inner_depth;
            for line_text in self.listing.printed_lines(&item) {
                self.push_line(&line_text);
            }
        }
        self.depth = outer_depth;
    }

    fn add_statement(&mut self, source_line: SourceLine) {
        let line_part =
            match self.open_loops.iter().rev().find(|(loop_line, _)| *loop_line == source_line) {
                Some((_, line_part)) => *line_part,
                None if self.listing.is_loop(source_line) => LinePart::Start,
                None => LinePart::Whole,
            };
        let statement = Statement { line: source_line, part: line_part };
        if let Some((inner_depth, RegionItem::Statements(lines))) = self.region_items.last_mut()
            && *inner_depth == self.inner_depth
        {
            lines.insert(statement);
            return;
        }
        self.region_items
            .push((self.inner_depth, RegionItem::Statements(BTreeSet::from([statement]))));
    }

    fn print_function(&mut self, function: &Function) {
        if let Some(entry_block) = function.blocks.first() {
            self.print_from_block(function, entry_block.label, &mut FxHashSet::default(), &[]);
        }
    }

    /// Prints from a block on until one of `stops` or a block that was printed already.
    fn print_from_block(
        &mut self,
        function: &Function,
        first_block: Id,
        printed_blocks: &mut FxHashSet<Id>,
        stop_blocks: &[Id],
    ) {
        let mut next_block = Some(first_block);
        while let Some(label) = next_block {
            if stop_blocks.contains(&label) || !printed_blocks.insert(label) {
                return;
            }
            let Some(block) = function.blocks.iter().find(|block| block.label == label) else {
                return;
            };
            let module = self.module;
            let instructions = module.instructions_in(block.range);
            let merge_instruction = instructions
                .iter()
                .find(|instruction| matches!(instruction.op, Op::LoopMerge | Op::SelectionMerge));
            let is_loop = merge_instruction
                .is_some_and(|merge_instruction| merge_instruction.op == Op::LoopMerge);
            if !is_loop {
                self.add_statements(function, block.range.range());
            }
            let branch_targets = crate::decode::block_order::branch_targets(instructions);
            match merge_instruction.and_then(|merge_instruction| merge_instruction.id(0)) {
                Some(merge_block) => {
                    self.print_construct(
                        function,
                        label,
                        instructions,
                        printed_blocks,
                        stop_blocks,
                        merge_block,
                    );
                    next_block = Some(merge_block);
                }
                None => next_block = branch_targets.first().copied(),
            }
        }
    }

    /// A loop or selection: outside the invocation loops if it holds a barrier, else inside.
    fn print_construct(
        &mut self,
        function: &Function,
        header_label: Id,
        instructions: &[Instruction],
        printed_blocks: &mut FxHashSet<Id>,
        stop_blocks: &[Id],
        merge_block: Id,
    ) {
        let merge_instruction = instructions
            .iter()
            .find(|instruction| matches!(instruction.op, Op::LoopMerge | Op::SelectionMerge));
        let is_loop = merge_instruction
            .is_some_and(|merge_instruction| merge_instruction.op == Op::LoopMerge);
        let standing = if self.holds_barrier(function, header_label, merge_block) {
            ConstructPlacement::Outside
        } else {
            ConstructPlacement::Inside
        };
        let header_block = function.blocks.iter().find(|block| block.label == header_label);
        let header_line =
            header_block.and_then(|block| self.listing.header_line(self.module, block));
        let mut inner_stops = stop_blocks.to_vec();
        inner_stops.push(merge_block);
        self.open_construct(if is_loop { "loop" } else { "selection" }, standing, header_line);
        if is_loop {
            self.open_loops
                .extend(header_line.map(|header_line| (header_line, LinePart::Condition)));
            if let Some(block) = header_block {
                self.add_statements(function, block.range.range());
            }
        }
        // The body ends where the loop goes on.
        let continue_block = merge_instruction
            .filter(|_| is_loop)
            .and_then(|merge_instruction| merge_instruction.id(1));
        let mut body_stops = inner_stops.clone();
        body_stops.extend(continue_block);
        for (target_index, target) in
            crate::decode::block_order::branch_targets(instructions).into_iter().enumerate()
        {
            if target_index > 0
                && !body_stops.contains(&target)
                && !printed_blocks.contains(&target)
            {
                self.next_alternative(standing);
            }
            self.print_from_block(function, target, printed_blocks, &body_stops);
        }
        if let Some(continue_block) = continue_block {
            if let (Some(_), Some((_, part))) = (header_line, self.open_loops.last_mut()) {
                *part = LinePart::Update;
            }
            self.print_from_block(function, continue_block, printed_blocks, &inner_stops);
        }
        if is_loop && header_line.is_some() {
            self.open_loops.pop();
        }
        self.close_construct(standing);
    }

    /// Begins a loop or selection.
    fn open_construct(
        &mut self,
        construct_word: &'static str,
        standing: ConstructPlacement,
        header_line: Option<SourceLine>,
    ) {
        match standing {
            ConstructPlacement::Outside => {
                self.close_region();
                let header_text = self
                    .listing
                    .construct_text(&format!("{construct_word} with barriers"), header_line);
                self.push_line(&format!("{header_text} {{  // all invocations together"));
                self.depth += 1;
            }
            ConstructPlacement::Inside => {
                self.region_items.push((
                    self.inner_depth,
                    RegionItem::Open { word: construct_word, line: header_line },
                ));
                self.inner_depth += 1;
            }
        }
    }

    fn next_alternative(&mut self, standing: ConstructPlacement) {
        match standing {
            ConstructPlacement::Outside => {
                self.close_region();
                self.depth -= 1;
                self.push_line("} or {");
                self.depth += 1;
            }
            ConstructPlacement::Inside => {
                self.region_items.push((self.inner_depth - 1, RegionItem::Or))
            }
        }
    }

    fn close_construct(&mut self, standing: ConstructPlacement) {
        match standing {
            ConstructPlacement::Outside => {
                self.close_region();
                self.depth -= 1;
                self.push_line("}");
            }
            ConstructPlacement::Inside => {
                self.inner_depth -= 1;
                self.region_items.push((self.inner_depth, RegionItem::Close));
            }
        }
    }

    fn add_statements(&mut self, function: &Function, instruction_range: std::ops::Range<usize>) {
        let module = self.module;
        for instruction_index in instruction_range {
            let instruction = &module.instructions[instruction_index];
            match instruction.op {
                Op::ControlBarrier if holds_workgroup(module, instruction) => {
                    self.print_barrier(instruction_index)
                }
                Op::ControlBarrier => self.add_line_of(instruction_index),
                Op::FunctionCall => {
                    let callee = instruction.id(0);
                    if let Some(called_function) = callee
                        .filter(|id| self.with_barrier.contains(id))
                        .and_then(|id| module.function_by_id(id))
                        && called_function.id != function.id
                    {
                        self.print_function(called_function);
                    } else {
                        self.add_line_of(instruction_index);
                    }
                }
                Op::Store | Op::CopyMemory | Op::ReturnValue => self.add_line_of(instruction_index),
                op if is_atomic(op) => self.add_line_of(instruction_index),
                op if is_terminator(op)
                    && matches!(op, Op::BranchConditional | Op::Switch | Op::Return) =>
                {
                    self.add_line_of(instruction_index)
                }
                _ => {}
            }
        }
    }

    fn add_line_of(&mut self, instruction_index: usize) {
        if let Some(line_record) = self.module.line_of(instruction_index) {
            self.add_statement(SourceLine { file: line_record.file, line: line_record.line });
        }
    }

    fn print_barrier(&mut self, instruction_index: usize) {
        self.close_region();
        let source_place = self.module.place_of(instruction_index);
        self.push_line(&format!("barrier at {source_place}"));
        let passed_times = self.passed_barriers.entry(instruction_index as u32).or_insert(0);
        let barrier_copies: Vec<usize> = self
            .program
            .barriers
            .iter()
            .enumerate()
            .filter(|(_, barrier)| barrier.source_index == instruction_index as u32)
            .map(|(barrier_index, _)| barrier_index)
            .collect();
        if let Some(barrier_index) =
            barrier_copies.get(*passed_times).or_else(|| barrier_copies.first())
        {
            self.region = barrier_index + 1;
        }
        *passed_times += 1;
        self.region_begun = false;
    }

    fn holds_barrier(&self, function: &Function, first_block: Id, merge_block: Id) -> bool {
        let blocks_by_label: FxHashMap<Id, &[Instruction]> = function
            .blocks
            .iter()
            .map(|block| (block.label, self.module.instructions_in(block.range)))
            .collect();
        // A selection's header runs before it; a loop's header is part of it.
        let is_loop = blocks_by_label
            .get(&first_block)
            .is_some_and(|block| block.iter().any(|instruction| instruction.op == Op::LoopMerge));
        let mut pending_blocks = if is_loop {
            vec![first_block]
        } else {
            blocks_by_label
                .get(&first_block)
                .map(|block| crate::decode::block_order::branch_targets(block))
                .unwrap_or_default()
        };
        let mut visited_blocks: FxHashSet<Id> = FxHashSet::from_iter([merge_block]);
        while let Some(label) = pending_blocks.pop() {
            let Some(block) = blocks_by_label.get(&label).filter(|_| visited_blocks.insert(label))
            else {
                continue;
            };
            let is_barrier = |instruction: &Instruction| {
                holds_workgroup(self.module, instruction)
                    || (instruction.op == Op::FunctionCall
                        && instruction.id(0).is_some_and(|id| self.with_barrier.contains(&id)))
            };
            if block.iter().any(is_barrier) {
                return true;
            }
            pending_blocks.extend(crate::decode::block_order::branch_targets(block));
        }
        false
    }
}

fn functions_with_barrier(spirv_module: &Module) -> FxHashSet<Id> {
    crate::decode::functions_with_barrier(spirv_module)
}

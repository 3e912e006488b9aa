//! Functions and their blocks, inlined: a block belongs to one call path.

use super::declarations::check_supported;
use super::decoder::{Decoder, InlineFrame};
use super::unsupported::{Unsupported, unsupported};
use super::value::DecodedValue;
use crate::decode::{block_order, ops};
use crate::ir::memory_semantics::BarrierFences;
use crate::ir::*;
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use vkcert_spirv::module::{Function, FunctionBlock, Id, is_terminator};

/// Deepest chain of calls.
const DEEPEST_CALLS: usize = 200;

/// Most steps of a program after inlining.
const MOST_STEPS: usize = 2_000_000;

impl<'a> Decoder<'a> {
    /// Inlines a function at a label: `arguments` are the values of its parameters, `result`
    /// receives the returned value.
    pub(crate) fn inline_function(
        &mut self,
        start_label: u32,
        function_id: Id,
        arguments: Vec<DecodedValue>,
        return_to: Option<u32>,
        result: Arc<[Scalar]>,
    ) -> Result<(), Unsupported> {
        if self.frames.len() >= DEEPEST_CALLS {
            return Err(unsupported("calls nested deeper than 200, or recursion"));
        }
        let module = self.module;
        let body = module
            .function_by_id(function_id)
            .ok_or_else(|| unsupported(format!("the missing function %{function_id}")))?;
        let order = block_order::structured_order(module, body);
        let first_block = *order
            .first()
            .ok_or_else(|| unsupported(format!("the function %{function_id} without a body")))?;
        let positions: FxHashMap<Id, usize> =
            order.iter().enumerate().map(|(position, label)| (*label, position)).collect();
        let outer_counters = self.enclosing_counters();
        let mut frame = InlineFrame {
            values: body.parameters.iter().copied().zip(arguments).collect(),
            labels: FxHashMap::default(),
            order_positions: positions,
            block_numbers: body
                .blocks
                .iter()
                .enumerate()
                .map(|(position, block)| (block.label, position))
                .collect(),
            counted_loops: Vec::new(),
            return_label: return_to,
            result_scalars: result,
            current_block: first_block,
            outer_counters,
            phis_by_block: FxHashMap::default(),
        };
        for (position, label) in order.iter().enumerate() {
            let block_label = if position == 0 { start_label } else { self.new_label() };
            frame.labels.insert(*label, block_label);
        }
        self.frames.push(frame);
        self.prepare_blocks(body, &order)?;
        if self.frames.len() == 1 {
            self.initialize_private_variables()?;
        }
        for label in &order {
            self.decode_block(body, *label)?;
        }
        self.frames.pop();
        Ok(())
    }

    /// A block of the function being inlined.
    fn function_block<'b>(&self, body: &'b Function, label: Id) -> Option<&'b FunctionBlock> {
        body.blocks.get(*self.frames.last()?.block_numbers.get(&label)?)
    }

    /// Makes the registers of phis and the iteration counters of loops with barriers.
    fn prepare_blocks(&mut self, body: &Function, block_order: &[Id]) -> Result<(), Unsupported> {
        let module = self.module;
        let mut merged_loops = Vec::new();
        for label in block_order {
            let Some(block) = self.function_block(body, *label) else { continue };
            for instruction in module.instructions_in(block.range) {
                match instruction.op {
                    Op::Phi => {
                        let (Some(type_id), Some(phi_id)) =
                            (instruction.result_type, instruction.result)
                        else {
                            continue;
                        };
                        let phi_registers = self.new_registers(type_id)?;
                        self.current_frame()
                            .values
                            .insert(phi_id, DecodedValue::Scalars(phi_registers));
                        self.current_frame().phis_by_block.entry(*label).or_default().push(phi_id);
                    }
                    Op::LoopMerge => merged_loops
                        .extend(instruction.id(0).map(|merge_block| (*label, merge_block))),
                    _ => {}
                }
            }
        }
        for (header, merge_block) in merged_loops {
            let positions = &self.current_frame().order_positions;
            let loop_range = positions[&header]
                ..positions.get(&merge_block).copied().unwrap_or(block_order.len());
            if loop_range.is_empty() {
                return Err(unsupported("a loop whose merge block comes before it"));
            }
            let loop_blocks = &block_order[loop_range.start..loop_range.end];
            if loop_blocks.iter().any(|label| self.block_has_barrier(body, *label)) {
                let counter = self.new_word();
                self.current_frame().counted_loops.push((header, loop_range, counter));
            }
        }
        Ok(())
    }

    fn block_has_barrier(&self, body: &Function, label: Id) -> bool {
        let Some(block) = self.function_block(body, label) else { return false };
        self.module.instructions_in(block.range).iter().any(|instruction| match instruction.op {
            Op::ControlBarrier => ops::synchronization::holds_workgroup(self.module, instruction),
            Op::FunctionCall => instruction
                .id(0)
                .is_some_and(|callee| self.functions_with_barrier.contains(&callee)),
            _ => false,
        })
    }

    fn decode_block(&mut self, body: &Function, label: Id) -> Result<(), Unsupported> {
        let module = self.module;
        self.current_frame().current_block = label;
        let start_label = self.current_frame().labels[&label];
        let Some(block) = self.function_block(body, label) else {
            return Err(unsupported(format!("the missing block %{label}")));
        };
        if let Some(first_index) = block.instruction_indices().next() {
            self.source_index = first_index as u32;
        }
        self.begin_block(start_label);
        for instruction_index in block.instruction_indices() {
            self.source_index = instruction_index as u32;
            let instruction = &module.instructions[instruction_index];
            if self.total_instructions > MOST_STEPS {
                return Err(unsupported(format!(
                    "a kernel of more than {MOST_STEPS} steps after inlining"
                )));
            }
            check_supported(instruction.op)?;
            self.float_treatment.enter_instruction(module, &self.types, instruction);
            let meaning = ops::meaning_of_opcode(instruction.op);
            let meaning = meaning
                .ok_or_else(|| unsupported(format!("Op{:?} in a function", instruction.op)))?;
            ops::decode_instruction(self, instruction, &meaning)?;
            if is_terminator(instruction.op) {
                break;
            }
        }
        Ok(())
    }

    /// Ends the block by a return.
    pub(crate) fn return_from(&mut self, value_id: Option<Id>) -> Result<(), Unsupported> {
        if let Some(value_id) = value_id {
            let value_scalars = self.scalars_of(value_id)?;
            let result_scalars = Arc::clone(&self.current_frame().result_scalars);
            self.copy_all(&result_scalars, &value_scalars)?;
        }
        let terminator = match self.current_frame().return_label {
            Some(result_scalars) => Terminator::Jump { to: result_scalars },
            None => Terminator::End,
        };
        self.finish_block(terminator);
        Ok(())
    }

    /// Ends the block at a barrier.
    pub(crate) fn end_at_barrier(&mut self, fences: BarrierFences) {
        let counters = self.enclosing_counters();
        let barrier_index = self.program.barriers.len() as u32;
        self.program.barriers.push(ControlBarrier {
            source_index: self.source_index,
            fences,
            counters: counters.into(),
        });
        let next_label = self.new_label();
        self.finish_block(Terminator::Barrier { barrier: barrier_index, to: next_label });
        self.begin_block(next_label);
    }
}

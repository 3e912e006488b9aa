//! Functions and their blocks, inlined: a block belongs to one call path.

use super::declarations::supported;
use super::decoder::{Decoder, Frame};
use super::unsupported::{Unsupported, unsupported};
use super::value::Value;
use crate::decode::{block_order, ops};
use crate::ir::memory_semantics::BarrierFences;
use crate::ir::*;
use rspirv::spirv::Op;
use std::collections::HashMap;
use std::sync::Arc;
use vkcert_spirv::module::{Function, FunctionBlock, Id, is_terminator};

/// Deepest chain of calls.
const MOST_CALLS: usize = 200;

/// Most steps of a program after inlining.
const MOST_STEPS: usize = 2_000_000;

impl<'a> Decoder<'a> {
    /// Inlines a function at label `start`: `arguments` by parameter, `result` receives the
    /// returned value.
    pub(crate) fn inline(
        &mut self,
        start: u32,
        function: Id,
        arguments: Vec<Value>,
        return_to: Option<u32>,
        result: Arc<[Scalar]>,
    ) -> Result<(), Unsupported> {
        if self.frames.len() >= MOST_CALLS {
            return Err(unsupported("calls nested deeper than 200, or recursion"));
        }
        let module = self.module;
        let body = module
            .function_by_id(function)
            .ok_or_else(|| unsupported(format!("the missing function %{function}")))?;
        let order = block_order::structured(module, body);
        let first = *order
            .first()
            .ok_or_else(|| unsupported(format!("the function %{function} without a body")))?;
        let positions: HashMap<Id, usize> =
            order.iter().enumerate().map(|(at, label)| (*label, at)).collect();
        let around = self.counters_here();
        let mut frame = Frame {
            values: body.parameters.iter().copied().zip(arguments).collect(),
            labels: HashMap::new(),
            positions,
            blocks: body.blocks.iter().enumerate().map(|(at, block)| (block.label, at)).collect(),
            loops: Vec::new(),
            return_to,
            result,
            block: first,
            around,
            phis: HashMap::new(),
        };
        for (at, label) in order.iter().enumerate() {
            let new = if at == 0 { start } else { self.new_label() };
            frame.labels.insert(*label, new);
        }
        self.frames.push(frame);
        self.prepare(body, &order)?;
        if self.frames.len() == 1 {
            self.entry_initializers()?;
        }
        for label in &order {
            self.block(body, *label)?;
        }
        self.frames.pop();
        Ok(())
    }

    /// A block of the function being inlined.
    fn block_of<'b>(&self, body: &'b Function, label: Id) -> Option<&'b FunctionBlock> {
        body.blocks.get(*self.frames.last()?.blocks.get(&label)?)
    }

    /// Makes the registers of phis and the iteration counters of loops with barriers.
    fn prepare(&mut self, body: &Function, order: &[Id]) -> Result<(), Unsupported> {
        let module = self.module;
        let mut loops = Vec::new();
        for label in order {
            let Some(block) = self.block_of(body, *label) else { continue };
            for instruction in module.instructions_in(block.range) {
                match instruction.op {
                    Op::Phi => {
                        let (Some(ty), Some(id)) = (instruction.result_type, instruction.result)
                        else {
                            continue;
                        };
                        let registers = self.fresh(ty)?;
                        self.frame().values.insert(id, Value::Scalars(registers));
                        self.frame().phis.entry(*label).or_default().push(id);
                    }
                    Op::LoopMerge => loops.extend(instruction.id(0).map(|merge| (*label, merge))),
                    _ => {}
                }
            }
        }
        for (header, merge) in loops {
            let positions = &self.frame().positions;
            let range = positions[&header]..positions.get(&merge).copied().unwrap_or(order.len());
            if range.is_empty() {
                return Err(unsupported("a loop whose merge block comes before it"));
            }
            if order[range.clone()].iter().any(|label| self.block_has_barrier(body, *label)) {
                let counter = self.word();
                self.frame().loops.push((header, range, counter));
            }
        }
        Ok(())
    }

    fn block_has_barrier(&self, body: &Function, label: Id) -> bool {
        let Some(block) = self.block_of(body, label) else { return false };
        self.module.instructions_in(block.range).iter().any(|instruction| match instruction.op {
            Op::ControlBarrier => ops::synchronization::holds_workgroup(self.module, instruction),
            Op::FunctionCall => {
                instruction.id(0).is_some_and(|callee| self.with_barrier.contains(&callee))
            }
            _ => false,
        })
    }

    fn block(&mut self, body: &Function, label: Id) -> Result<(), Unsupported> {
        let module = self.module;
        self.frame().block = label;
        let start = self.frame().labels[&label];
        self.begin(start);
        let Some(block) = self.block_of(body, label) else {
            return Err(unsupported(format!("the missing block %{label}")));
        };
        for index in block.range {
            self.place = index as u32;
            let instruction = &module.instructions[index];
            if self.total_steps > MOST_STEPS {
                return Err(unsupported(format!(
                    "a kernel of more than {MOST_STEPS} steps after inlining"
                )));
            }
            supported(instruction.op)?;
            self.floats.enter(module, &self.types, instruction);
            let meaning = ops::meaning(instruction.op);
            let meaning = meaning
                .ok_or_else(|| unsupported(format!("Op{:?} in a function", instruction.op)))?;
            ops::decode(self, instruction, &meaning)?;
            if is_terminator(instruction.op) {
                break;
            }
        }
        Ok(())
    }

    /// Ends the block by a return.
    pub(crate) fn return_from(&mut self, value: Option<Id>) -> Result<(), Unsupported> {
        if let Some(value) = value {
            let from = self.scalars(value)?;
            let to = self.frame().result.clone();
            self.copy_all(&to, &from)?;
        }
        let terminator = match self.frame().return_to {
            Some(to) => Terminator::Jump { to },
            None => Terminator::End,
        };
        self.finish(terminator);
        Ok(())
    }

    /// Ends the block at a barrier.
    pub(crate) fn barrier(&mut self, fences: BarrierFences) {
        let counters = self.counters_here();
        let barrier = self.program.barriers.len() as u32;
        self.program.barriers.push(ControlBarrier {
            source_index: self.place,
            fences,
            counters: counters.into(),
        });
        let to = self.new_label();
        self.finish(Terminator::Barrier { barrier, to });
        self.begin(to);
    }
}

//! Edges between blocks: phis as copies, and counters of loops that enclose barriers.

use super::decoder::Decoder;
use super::unsupported::{Unsupported, unsupported};
use crate::ir::*;
use vkcert_spirv::module::Id;

/// Whether two scalars are both words or both masks.
fn have_same_kind(first: Scalar, second: Scalar) -> bool {
    matches!(first, Scalar::Mask(_)) == matches!(second, Scalar::Mask(_))
}

/// A copy between two scalars of one kind.
fn copy_between(to: Scalar, from: Scalar) -> LaneInstruction {
    match (to, from) {
        (Scalar::Word(to), Scalar::Word(from)) => LaneInstruction::Copy { to, from },
        (Scalar::Mask(to) | Scalar::Word(to), Scalar::Mask(from) | Scalar::Word(from)) => {
            LaneInstruction::CopyMask { to, from }
        }
    }
}

impl<'a> Decoder<'a> {
    /// The label for a branch from the current block to `target`: that of an edge block if `target`
    /// has phis or begins a counted loop. `edges` collects these blocks.
    pub(crate) fn edge_label(
        &mut self,
        target: Id,
        edges: &mut Vec<(u32, Vec<LaneInstruction>, u32)>,
    ) -> Result<u32, Unsupported> {
        let module = self.module;
        let source_block = self.current_frame().current_block;
        let target_label = self.current_frame().labels.get(&target).copied();
        let target_label = target_label.ok_or_else(|| {
            unsupported(format!("a branch to %{target}, which is no block of the function"))
        })?;
        let mut edge_instructions = Vec::new();
        let position = self.current_frame().order_positions[&source_block];
        let counter = self
            .current_frame()
            .counted_loops
            .iter()
            .find(|(header, _, _)| *header == target)
            .cloned();
        if let Some((_, range, counter)) = counter {
            edge_instructions.push(if range.contains(&position) {
                LaneInstruction::LoopNext { counter }
            } else {
                LaneInstruction::LoopReset { counter }
            });
        }
        let mut copies: Vec<(Scalar, Scalar)> = Vec::new();
        for phi_id in self.current_frame().phis_by_block.get(&target).cloned().unwrap_or_default() {
            let instruction =
                module.definition(phi_id).expect("phis were collected from the module");
            let phi_pairs: Vec<Id> = instruction.ids().collect();
            let Some(source_id) = phi_pairs
                .chunks(2)
                .find(|pair| pair.get(1) == Some(&source_block))
                .map(|pair| pair[0])
            else {
                return Err(unsupported("an OpPhi without a value for a predecessor"));
            };
            let (targets, sources) = (self.scalars_of(phi_id)?, self.scalars_of(source_id)?);
            if targets.len() != sources.len()
                || !targets.iter().zip(sources.iter()).all(|(to, from)| have_same_kind(*to, *from))
            {
                return Err(unsupported("an OpPhi of values of several types"));
            }
            copies.extend(targets.iter().copied().zip(sources.iter().copied()));
        }
        self.push_parallel_copies(&copies, &mut edge_instructions);
        if edge_instructions.is_empty() {
            return Ok(target_label);
        }
        let edge_label = self.new_label();
        edges.push((edge_label, edge_instructions, target_label));
        Ok(edge_label)
    }

    /// Parallel copies: through temporaries where a destination is also a source.
    fn push_parallel_copies(
        &mut self,
        copies: &[(Scalar, Scalar)],
        edge_instructions: &mut Vec<LaneInstruction>,
    ) {
        let has_overlap = copies.iter().any(|(to, _)| copies.iter().any(|(_, from)| from == to));
        if !has_overlap {
            edge_instructions.extend(copies.iter().map(|(to, from)| copy_between(*to, *from)));
            return;
        }
        let mut second_copies = Vec::new();
        for (to, from) in copies {
            let temporary = match from {
                Scalar::Word(_) => Scalar::Word(self.new_word()),
                Scalar::Mask(_) => Scalar::Mask(self.new_mask()),
            };
            edge_instructions.push(copy_between(temporary, *from));
            second_copies.push(copy_between(*to, temporary));
        }
        edge_instructions.append(&mut second_copies);
    }

    /// Emits the blocks that `edge` collected.
    pub(crate) fn emit_edges(&mut self, edges: Vec<(u32, Vec<LaneInstruction>, u32)>) {
        for (edge_label, edge_instructions, target_label) in edges {
            self.begin_block(edge_label);
            edge_instructions
                .into_iter()
                .for_each(|edge_instruction| self.push_instruction(edge_instruction));
            self.finish_block(Terminator::Jump { to: target_label });
        }
    }
}

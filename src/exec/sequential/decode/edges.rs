//! Edges between blocks: phis as copies, and counters of loops that enclose barriers.

use super::decoder::Decoder;
use super::unsupported::{Unsupported, unsupported};
use crate::ir::*;
use vkcert_spirv::module::Id;

impl<'a> Decoder<'a> {
    /// Where a branch from the current block to `target` goes: through a block of copies where
    /// `target` has phis or begins a counted loop. `edges` collects those blocks.
    pub(crate) fn edge(
        &mut self,
        target: Id,
        edges: &mut Vec<(u32, Vec<LaneInstruction>, u32)>,
    ) -> Result<u32, Unsupported> {
        let module = self.module;
        let from = self.frame().block;
        let to = self.frame().labels.get(&target).copied();
        let to = to.ok_or_else(|| {
            unsupported(format!("a branch to %{target}, which is no block of the function"))
        })?;
        let mut actions = Vec::new();
        let here = self.frame().positions[&from];
        let counter = self.frame().loops.iter().find(|(header, _, _)| *header == target).cloned();
        if let Some((_, range, counter)) = counter {
            actions.push(if range.contains(&here) {
                LaneInstruction::LoopNext { counter }
            } else {
                LaneInstruction::LoopReset { counter }
            });
        }
        let mut copies: Vec<(Scalar, Scalar)> = Vec::new();
        for phi in self.frame().phis.get(&target).cloned().unwrap_or_default() {
            let instruction = module.definition(phi).expect("phis were collected from the module");
            let pairs: Vec<Id> = instruction.ids().collect();
            let Some(source) =
                pairs.chunks(2).find(|pair| pair.get(1) == Some(&from)).map(|pair| pair[0])
            else {
                return Err(unsupported("an OpPhi without a value for a predecessor"));
            };
            let (to, from) = (self.scalars(phi)?, self.scalars(source)?);
            let alike = |to: &Scalar, from: &Scalar| {
                matches!(to, Scalar::Mask(_)) == matches!(from, Scalar::Mask(_))
            };
            if to.len() != from.len()
                || !to.iter().zip(from.iter()).all(|(to, from)| alike(to, from))
            {
                return Err(unsupported("an OpPhi of values of several types"));
            }
            copies.extend(to.iter().copied().zip(from.iter().copied()));
        }
        self.parallel(&copies, &mut actions);
        if actions.is_empty() {
            return Ok(to);
        }
        let label = self.new_label();
        edges.push((label, actions, to));
        Ok(label)
    }

    /// Copies that happen at once: through temporaries where a destination is read as well.
    fn parallel(&mut self, copies: &[(Scalar, Scalar)], actions: &mut Vec<LaneInstruction>) {
        let action = |to: Scalar, from: Scalar| match (to, from) {
            (Scalar::Word(to), Scalar::Word(from)) => LaneInstruction::Copy { to, from },
            (Scalar::Mask(to) | Scalar::Word(to), Scalar::Mask(from) | Scalar::Word(from)) => {
                LaneInstruction::CopyMask { to, from }
            }
        };
        let clash = copies.iter().any(|(to, _)| copies.iter().any(|(_, from)| from == to));
        if !clash {
            actions.extend(copies.iter().map(|(to, from)| action(*to, *from)));
            return;
        }
        let mut second = Vec::new();
        for (to, from) in copies {
            let temporary = match from {
                Scalar::Word(_) => Scalar::Word(self.word()),
                Scalar::Mask(_) => Scalar::Mask(self.mask()),
            };
            actions.push(action(temporary, *from));
            second.push(action(*to, temporary));
        }
        actions.append(&mut second);
    }

    /// Emits the blocks that `edge` collected.
    pub(crate) fn emit_edges(&mut self, edges: Vec<(u32, Vec<LaneInstruction>, u32)>) {
        for (label, actions, to) in edges {
            self.begin(label);
            actions.into_iter().for_each(|action| self.push(action));
            self.finish(Terminator::Jump { to });
        }
    }
}

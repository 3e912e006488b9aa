//! What a kernel reads that its host decides.
//!
//! Knows: push constants, contents of buffers and images, specialization constants where
//! instructions use them, the number of workgroups.
//! Promises: one pair for each use and part; no pair of a binding whose contents the host never
//! writes.
//! Does not cover: ids of workgroups and invocations, which number the dispatch and carry no value
//! of the host; specialization constants that only types depend on; sizes of buffers and images.

use super::access::{Atomicity, Coherence, SharedAccess};
use super::object::{ObjectPath, SharedObject};
use super::{KernelPairs, StaticPair};
use crate::fold::ConstantFolding;
use crate::module::Id;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::access_pair::Passage;
use vkcert_model::structure::Constness;

impl KernelPairs<'_> {
    /// The pairs whose definition is the host.
    pub(super) fn host_pairs(&self) -> Vec<StaticPair> {
        let reads = self.accesses.reads.iter().filter(|read| self.is_from_host(read.path.object));
        let mut pairs: Vec<StaticPair> =
            reads.map(|read| self.static_pair(read, Passage::Host, &read.path)).collect();
        pairs.extend(
            self.constant_uses()
                .iter()
                .map(|read| self.static_pair(read, Passage::Host, &read.path)),
        );
        pairs
    }

    fn is_from_host(&self, object: SharedObject) -> bool {
        match object {
            SharedObject::Workgroup(_) => false,
            SharedObject::Descriptor(descriptor) => {
                !self.request.unwritten_by_host.contains(&descriptor)
            }
            SharedObject::Addressed
            | SharedObject::PushConstants
            | SharedObject::SpecializationConstant(_)
            | SharedObject::NumWorkgroups => true,
        }
    }

    /// Instructions with a specialization constant among their operands, or what follows from one.
    fn constant_uses(&self) -> Vec<SharedAccess> {
        let module = self.request.module;
        let declarations = declared_constants(self.folding);
        let mut ids_of_operand: BTreeMap<Id, BTreeSet<u32>> = BTreeMap::new();
        let mut uses = Vec::new();
        let mut instruction_indices: Vec<usize> = self.pointers.live.live_instructions().collect();
        instruction_indices.sort_unstable();
        for index in instruction_indices {
            let mut used_ids: BTreeSet<u32> = BTreeSet::new();
            for operand in module.instructions[index].ids() {
                if self.pointers.constants.constness(operand) == Constness::Specialization {
                    let ids = ids_of_operand
                        .entry(operand)
                        .or_insert_with(|| self.folding.specialization_ids(operand));
                    used_ids.extend(ids.iter());
                }
            }
            uses.extend(used_ids.into_iter().filter_map(|id| {
                let path = ObjectPath {
                    object: SharedObject::SpecializationConstant(id),
                    declaration: *declarations.get(&id)?,
                    steps: Vec::new(),
                };
                let (atomicity, coherence) = (Atomicity::Plain, Coherence::Ordinary);
                Some(SharedAccess {
                    number: None,
                    index,
                    path,
                    coordinate: None,
                    atomicity,
                    coherence,
                })
            }));
        }
        uses
    }
}

/// The constants of a module that hosts can set, by SpecId.
fn declared_constants(folding: &ConstantFolding<'_>) -> BTreeMap<u32, Id> {
    let results = folding.module.instructions.iter().filter_map(|instruction| instruction.result);
    let declared =
        results.filter_map(|id| folding.module.specialization_id(id).map(|spec_id| (spec_id, id)));
    declared.collect()
}

//! Whether the instructions exist that stored records name: those of pairs of accesses, and the
//! barriers of object code.
//!
//! Knows: the production modules, compiled again.
//! Promises: each side is an instruction in the body of a function of the module that it is said to
//! be of, also of pairs that no obligation has.
//! Does not cover: whether they access what the pair says: obligations follow from the modules.

use super::super::kernel::Kernel;
use rspirv::spirv::Op;
use std::collections::BTreeSet;
use vkcert_model::access_pair::{AccessPair, Passage, ShownPairs};
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::id::KernelName;
use vkcert_spirv::module::Instruction;
use vkcert_verification::Verification;

/// Notes records that name instructions which modules do not have.
pub(super) fn check_instructions(
    stored_evidence: &Evidence,
    kernels: &[Kernel],
    verification: &mut Verification,
) {
    for kernel_row in &stored_evidence.kernels {
        for row in &kernel_row.records {
            let Some(ShownPairs::Shown(pairs)) = &row.records.pairs else { continue };
            let exist = pairs.iter().all(|pair| has_instructions(kernels, kernel_row.kernel, pair));
            verification.check(exist, || {
                format!(
                    "{} on {}: records of {}: a pair of instructions that the module does not have",
                    kernel_row.kernel, kernel_row.engine, row.test
                )
            });
        }
        check_object_barriers(kernel_row, kernels, verification);
    }
}

fn check_object_barriers(
    kernel_row: &KernelEvidence,
    kernels: &[Kernel],
    verification: &mut Verification,
) {
    let kernel = kernels.iter().find(|kernel| kernel.name == kernel_row.kernel.as_str());
    let instructions = kernel.map_or(&[][..], |kernel| &kernel.module.instructions);
    let is_barrier = |instruction: &&Instruction| instruction.op == Op::ControlBarrier;
    let barrier_count = instructions.iter().filter(is_barrier).count();
    for row in &kernel_row.objects.records {
        let mut numbers = row.records.barriers.keys();
        verification.check(numbers.all(|number| (*number as usize) < barrier_count), || {
            format!(
                "{} on {}: records of {}: a barrier that the production module does not have",
                kernel_row.kernel, kernel_row.engine, row.test
            )
        });
    }
}

fn has_instructions(kernels: &[Kernel], reading: KernelName, pair: &AccessPair) -> bool {
    let mut sides: BTreeSet<(KernelName, u32)> =
        pair.own_indices().into_iter().map(|index| (reading, index)).collect();
    match pair.passage {
        Passage::Dispatch { kernel, store, .. } => drop(sides.insert((kernel, store))),
        Passage::Barrier { barrier, .. } => drop(sides.insert((reading, barrier))),
        Passage::Host | Passage::Atomic { .. } | Passage::Unordered { .. } => {}
    }
    sides.into_iter().all(|(kernel, index)| has_instruction(kernels, kernel, index))
}

/// Functions stand behind all else in a module (SPIR-V specification, section 2.4).
fn has_instruction(kernels: &[Kernel], name: KernelName, index: u32) -> bool {
    let Some(kernel) = kernels.iter().find(|kernel| kernel.name == name.as_str()) else {
        return false;
    };
    let instructions = &kernel.module.instructions;
    let functions = instructions.iter().position(|instruction| instruction.op == Op::Function);
    let first = functions.unwrap_or(instructions.len());
    (first..instructions.len()).contains(&(index as usize))
}

//! What of a program results are about: all of it, or the dispatches of one kernel.
//!
//! Promises: of one kernel nothing is left out that may be about it: what names no dispatch at all
//! is everybody's.

use std::collections::BTreeSet;
use vkcert_capture::program::Program;
use vkcert_model::requirement::CapturedFlow;

/// Dispatches of a kernel whose data are followed.
const MOST_FOLLOWED: usize = 12;

/// Flows that are kept.
const MOST_FLOWS: usize = 512;

/// What results are about.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum CheckScope {
    /// The program.
    #[default]
    Program,
    /// The dispatches of one kernel.
    Kernel(KernelScope),
}

/// The dispatches of one kernel, by their operations.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct KernelScope {
    /// Indices of its pipelines.
    pub(crate) pipelines: BTreeSet<usize>,
    /// Indices of its dispatches among the operations.
    pub(crate) own: BTreeSet<usize>,
    /// Those of all other dispatches.
    others: BTreeSet<usize>,
    /// Its first dispatches.
    followed: BTreeSet<usize>,
    /// What passes to and from these.
    pub(crate) flows: BTreeSet<CapturedFlow>,
}

impl KernelScope {
    /// The kernel of these pipelines.
    pub(crate) fn of_pipelines(program: &Program, pipelines: BTreeSet<usize>) -> Self {
        let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
        for (index, dispatch) in program.dispatches() {
            let is_own = pipelines.contains(&dispatch.pipeline);
            if is_own { &mut own } else { &mut others }.insert(index);
        }
        let followed = own.iter().take(MOST_FOLLOWED).copied().collect();
        Self { pipelines, own, others, followed, flows: BTreeSet::new() }
    }

    /// Dispatches that are not followed.
    pub(crate) fn unfollowed(&self) -> u64 {
        (self.own.len() - self.followed.len()) as u64
    }

    /// The dispatches that are.
    pub(crate) fn followed(&self) -> impl Iterator<Item = usize> {
        self.followed.iter().copied()
    }
}

impl CheckScope {
    /// Whether results name this pipeline.
    pub(crate) fn has_pipeline(&self, pipeline: usize) -> bool {
        match self {
            CheckScope::Program => true,
            CheckScope::Kernel(kernel) => kernel.pipelines.contains(&pipeline),
        }
    }

    /// Whether results name this dispatch.
    pub(crate) fn has_dispatch(&self, operation: usize) -> bool {
        match self {
            CheckScope::Program => true,
            CheckScope::Kernel(kernel) => kernel.own.contains(&operation),
        }
    }

    /// Whether a result about these operations is one of the scope.
    pub(crate) fn has_operations(&self, operations: &[usize]) -> bool {
        match self {
            CheckScope::Program => true,
            CheckScope::Kernel(kernel) => {
                operations.iter().any(|operation| kernel.own.contains(operation))
                    || !operations.iter().any(|operation| kernel.others.contains(operation))
            }
        }
    }

    /// Takes notice of data that pass from one operation to another; indices.
    pub(crate) fn add_flow(&mut self, from: usize, to: usize, place: String, orderers: &[usize]) {
        let CheckScope::Kernel(kernel) = self else { return };
        let is_followed = kernel.followed.contains(&from) || kernel.followed.contains(&to);
        if !is_followed || kernel.flows.len() >= MOST_FLOWS {
            return;
        }
        let mut ordered_by: Vec<usize> = orderers.iter().map(|orderer| orderer + 1).collect();
        ordered_by.sort_unstable();
        ordered_by.dedup();
        kernel.flows.insert(CapturedFlow { from: from + 1, to: to + 1, place, ordered_by });
    }
}

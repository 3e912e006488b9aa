//! A value that one side of a coupling wrote and another side read, as a run shows it.
//!
//! Knows: both instructions by their source index, and by which way the value came.
//! Promises: a reading side that is the writing invocation itself makes no pair. Orders are those
//! of the fields, so that sets of pairs are stored alike in every run.
//! Does not cover: which member was read (it follows from the two instructions), how often.

use super::id::KernelName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One definition and one use of a value between the host, kernels and invocations.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct AccessPair {
    /// Source index of the instruction that read the value, in the production module of the kernel
    /// that ran.
    #[serde(rename = "use")]
    pub use_index: u32,
    /// The descriptor that was read through; none of workgroup memory, push constants,
    /// specialization constants, built-ins, and of what a device address names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<ReadDescriptor>,
    /// Who wrote the value, and what brought it here.
    pub passage: Passage,
}

/// What one test showed of the pairs of a kernel: a fact, which stands beside the records of the
/// test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShownPairs {
    /// Every pair that the run showed, and those whose use it executed where that shows them.
    Shown(BTreeSet<AccessPair>),
    /// They were not followed wholly; the reason.
    NotFollowed(String),
}

/// A descriptor by its place. An instruction in a function can read through several.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct ReadDescriptor {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
}

/// Who wrote a value, and by which way another side came to read it. Stores are named by source
/// index.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Passage {
    /// The host wrote it before the dispatch, or it decides it by the dispatch.
    Host,
    /// An earlier dispatch of the same test wrote it.
    Dispatch {
        /// The kernel that wrote.
        kernel: KernelName,
        /// Which of the kernel's specializations it ran under: of a run, its number in the job; in
        /// evidence the number of the kernel's configuration, from 1, or 0 where it is none.
        specialization: u32,
        /// The store, in that kernel's production module.
        store: u32,
    },
    /// Another invocation of the same workgroup wrote it, before a barrier.
    Barrier {
        /// The store.
        store: u32,
        /// Source index of the first control barrier of the workgroup behind the store.
        barrier: u32,
    },
    /// Another invocation wrote it and no barrier stands between; both accesses are atomic, or
    /// atomics order them.
    Atomic {
        /// The store.
        store: u32,
    },
    /// Another invocation wrote it, and nothing orders the two accesses.
    Unordered {
        /// The store.
        store: u32,
    },
}

impl AccessPair {
    /// Source indices of its instructions in the module of the reading kernel.
    pub fn own_indices(&self) -> Vec<u32> {
        match self.passage {
            Passage::Host | Passage::Dispatch { .. } => vec![self.use_index],
            Passage::Barrier { store, .. }
            | Passage::Atomic { store }
            | Passage::Unordered { store } => vec![self.use_index, store],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_stored_with_what_its_passage_knows_alone() {
        let pair = AccessPair {
            use_index: 41,
            descriptor: None,
            passage: Passage::Barrier { store: 30, barrier: 35 },
        };
        let text = serde_json::to_string(&pair).expect("serializes");
        assert_eq!(text, r#"{"use":41,"passage":{"kind":"barrier","store":30,"barrier":35}}"#);
        assert_eq!(serde_json::from_str::<AccessPair>(&text).expect("reads"), pair);
    }

    #[test]
    fn a_pair_of_another_dispatch_names_its_module() {
        let pair = AccessPair {
            use_index: 4,
            descriptor: Some(ReadDescriptor { set: 0, binding: 2 }),
            passage: Passage::Dispatch { kernel: "sum".into(), specialization: 2, store: 9 },
        };
        let text = serde_json::to_string(&pair).expect("serializes");
        assert_eq!(
            text,
            r#"{"use":4,"descriptor":{"set":0,"binding":2},"passage":{"kind":"dispatch","kernel":"sum","specialization":2,"store":9}}"#
        );
        assert_eq!(serde_json::from_str::<AccessPair>(&text).expect("reads"), pair);
    }
}

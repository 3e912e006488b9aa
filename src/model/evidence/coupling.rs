//! The coupling graph of a kernel with its host, and the checks on it.

use crate::id::KernelName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A closed set of words that evidence stores. A word outside of it is kept, so that evidence which
/// holds one can be read and told about.
macro_rules! stored_words {
    (
        $(#[$about_set:meta])*
        pub enum $name:ident {
            $($(#[$about_word:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about_set])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$about_word])* $variant,)+
            /// A word that this program does not write.
            Unknown(String),
        }

        impl $name {
            /// The word in evidence.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $word,)+
                    $name::Unknown(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => $name::$variant,)+
                    _ => $name::Unknown(word.to_owned()),
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                word.as_str().into()
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

/// Host and kernel of one kernel: the graph and the checks made on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingEvidence {
    /// The kernel that the interface is of.
    pub kernel: KernelName,
    /// What the project says of the host; older evidence does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<crate::requirement::Interface>,
    /// The graph's nodes.
    pub nodes: Vec<CouplingNode>,
    /// The graph's edges, between nodes by their ids.
    pub edges: Vec<CouplingEdge>,
    /// The checks with their results.
    pub checks: Vec<CouplingCheck>,
}

/// A node of the coupling graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingNode {
    /// Stable id: `parameter:m`, `push-constant:0`, `buffer:0.1`, `local-size`, `dispatch`, `workgroup:tileA`, `barrier:31`, `decision:D1`.
    pub id: String,
    /// What the node stands for: `parameter`, `buffer`, `dispatch`, `decision` ...
    #[schemars(with = "String")]
    pub kind: CouplingNodeKind,
    /// What graphs and reports print of it.
    pub label: String,
}

stored_words! {
    /// What a node of the coupling graph stands for.
    pub enum CouplingNodeKind {
        /// The kernel itself.
        Kernel = "kernel",
        /// A parameter of the host.
        Parameter = "parameter",
        /// A value that the host computes from parameters.
        Local = "local",
        /// A member of the push constants.
        PushConstant = "push constant",
        /// A specialization constant.
        SpecializationConstant = "specialization constant",
        /// A buffer or an image, by set and binding.
        Buffer = "buffer",
        /// The size of a workgroup.
        LocalSize = "local size",
        /// How many workgroups the host starts.
        Dispatch = "dispatch",
        /// What the host wants to be covered.
        Domain = "domain",
        /// A variable of a workgroup.
        WorkgroupMemory = "workgroup memory",
        /// A barrier of the kernel.
        Barrier = "barrier",
        /// A decision of the kernel's source.
        Decision = "decision",
    }
}

/// A directed edge of the coupling graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingEdge {
    /// Id of the node that gives.
    pub from: String,
    /// Id of the node that takes.
    pub to: String,
    /// `data` or `control`.
    #[schemars(with = "String")]
    pub kind: CouplingEdgeKind,
    /// What graphs print beside the edge.
    pub label: String,
}

stored_words! {
    /// How one node depends on another.
    pub enum CouplingEdgeKind {
        /// The target takes values of the source, or is sized, ordered or covered by it.
        Data = "data",
        /// The source decides whether or how the target is executed.
        Control = "control",
    }
}

/// One coupling check with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingCheck {
    /// `dispatch-covers-domain`, `dispatch-not-truncated`, `host-overflow`, `local-size-match`, `push-constant-layout`, `buffer-size`, `device-limits`, `uniform-barrier` ...
    #[schemars(with = "String")]
    pub check: CouplingCheckName,
    /// `holds`, `refuted` or `undetermined`.
    #[schemars(with = "String")]
    pub status: CheckStatus,
    /// What was found, in one sentence.
    pub message: String,
    /// Values of the parameters that refute the check.
    #[serde(default)]
    pub counterexample: Option<BTreeMap<String, i64>>,
}

stored_words! {
    /// What a coupling check looks at, in the order in which checks are made.
    pub enum CouplingCheckName {
        /// Workgroups cover all of the domain.
        DispatchCoversDomain = "dispatch-covers-domain",
        /// A division drops no part of the domain.
        DispatchNotTruncated = "dispatch-not-truncated",
        /// No value of the host exceeds its type.
        HostOverflow = "host-overflow",
        /// Host and kernel have the same local size.
        LocalSizeMatch = "local-size-match",
        /// Members of the push constants lie where the kernel reads them.
        PushConstantLayout = "push-constant-layout",
        /// Buffers are as large as the kernel uses them.
        BufferSize = "buffer-size",
        /// Images are of the dimension and the format that the kernel declares.
        ImageDescriptor = "image-descriptor",
        /// What the kernel needs is within the limits of the device.
        DeviceLimits = "device-limits",
        /// The host sets specialization constants that the kernel has, to values that fit.
        SpecializationIds = "specialization-ids",
        /// All invocations of a workgroup reach a barrier alike.
        UniformBarrier = "uniform-barrier",
    }
}

/// What a coupling check came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// It holds for all values that the interface allows.
    Holds,
    /// It fails; values or a stated mismatch show it.
    Refuted,
    /// It could not be decided.
    Undetermined,
    /// A word that no check ends with; verification refuses evidence that holds one.
    #[serde(untagged)]
    Unknown(String),
}

impl std::fmt::Display for CheckStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            CheckStatus::Holds => "holds",
            CheckStatus::Refuted => "refuted",
            CheckStatus::Undetermined => "undetermined",
            CheckStatus::Unknown(word) => word,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_word_stays_as_it_is_whether_it_is_known_or_not() {
        let cases = [
            ("device-limits", CouplingCheckName::DeviceLimits),
            ("of-another-version", CouplingCheckName::Unknown("of-another-version".to_owned())),
        ];
        for (word, check) in cases {
            let stored = serde_json::Value::from(word);
            assert_eq!(serde_json::from_value::<CouplingCheckName>(stored.clone()).unwrap(), check);
            assert_eq!(check.to_string(), word);
            assert_eq!(serde_json::to_value(check).unwrap(), stored);
        }
        assert_eq!(CouplingNodeKind::from("push constant"), CouplingNodeKind::PushConstant);
    }
}

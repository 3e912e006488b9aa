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
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// What was read of the headers that the interface names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<crate::requirement::HeaderReading>,
    /// What was read of the captures that the interface names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captures: Vec<crate::requirement::CaptureReading>,
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
    /// Stable id: `parameter:m`, `host-member:m`, `push-constant:0`, `buffer:0.1`, `buffer-member:0.1+16`, `image:0.2`, `built-in:GlobalInvocationId`,
    /// `local-size`, `dispatch`, `workgroup:tileA`, `barrier:BAR1`, `barrier-region:BAR1`, `decision:D1`, `subgroup-operation:1`, `function:blur`,
    /// `earlier-dispatch:blur`, `earlier-binding:blur:0.1`,
    /// `captured-dispatch:host.capture:1`, `captured-barrier:host.capture:4`, `captured-operation:host.capture:2`.
    pub id: String,
    /// What the node stands for: `parameter`, `buffer`, `dispatch`, `decision` ...
    #[schemars(with = "String")]
    pub kind: CouplingNodeKind,
    /// What graphs and reports print of it.
    pub label: String,
    /// Where it stands in the kernel's source; none of what has no place there. Evidence before
    /// 0.4.0 has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<CodePlace>,
}

/// A line of a kernel's source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CodePlace {
    /// The file, from the project's folder.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// The lines of places in the order given: `a.comp:7, 9; b.glsl:2`.
pub fn lines_in_words(places: &[CodePlace]) -> String {
    let mut words = String::new();
    let mut last_file = None;
    for place in places {
        if last_file == Some(&place.file) {
            words.push_str(&format!(", {}", place.line));
        } else {
            let separator = if words.is_empty() { "" } else { "; " };
            words.push_str(&format!("{separator}{}:{}", place.file, place.line));
        }
        last_file = Some(&place.file);
    }
    words
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
        /// A member of the struct that the host pushes.
        HostMember = "host member",
        /// The size of a workgroup that the host's arithmetic assumes.
        AssumedLocalSize = "assumed local size",
        /// A member of the push constants.
        PushConstant = "push constant",
        /// A specialization constant.
        SpecializationConstant = "specialization constant",
        /// A buffer by set and binding; in evidence before 0.4.0 an image, too.
        Buffer = "buffer",
        /// A member of a buffer's block, by set, binding and offset.
        BufferMember = "buffer member",
        /// An image or a sampler, by set and binding.
        Image = "image",
        /// Memory that device addresses name.
        AddressedMemory = "addressed memory",
        /// A built-in variable of the kernel.
        BuiltIn = "built-in",
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
        /// What a workgroup does between two barriers.
        BarrierRegion = "barrier region",
        /// A decision of the kernel's source.
        Decision = "decision",
        /// An operation in which invocations of a subgroup take part together.
        SubgroupOperation = "subgroup operation",
        /// A function that the kernel's entry point calls.
        Function = "function",
        /// A dispatch of another kernel that the host makes before.
        EarlierDispatch = "earlier dispatch",
        /// A buffer or an image of it that the kernel binds, too.
        EarlierBinding = "earlier binding",
        /// A dispatch of a captured host program.
        CapturedDispatch = "captured dispatch",
        /// One that a captured host program recorded.
        CapturedBarrier = "pipeline barrier",
        /// Anything else that a captured host program did.
        CapturedOperation = "captured operation",
    }
}

/// A directed edge of the coupling graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingEdge {
    /// Id of the node that gives.
    pub from: String,
    /// Id of the node that takes.
    pub to: String,
    /// `flows-to`, `sizes`, `indexes`, `controls` or `orders`.
    #[schemars(with = "String")]
    pub kind: CouplingEdgeKind,
    /// What graphs print beside the edge.
    pub label: String,
    /// The lines of the kernel's source where it happens; empty of what the host does alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<CodePlace>,
}

stored_words! {
    /// How one node depends on another.
    pub enum CouplingEdgeKind {
        /// A value of the source is computed into the target.
        FlowsTo = "flows-to",
        /// The source decides how large the target is, or how much it is to cover.
        Sizes = "sizes",
        /// The source decides which element of the target is accessed.
        Indexes = "indexes",
        /// The source decides whether or how often the target is executed or written.
        Controls = "controls",
        /// The source orders accesses to the target, or comes before it.
        Orders = "orders",
        /// In evidence before 0.4.0: all of these but `controls`.
        Data = "data",
        /// In evidence before 0.4.0: `controls`.
        Control = "control",
    }
}

/// One coupling check with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingCheck {
    /// `dispatch-covers-domain`, `dispatch-not-truncated`, `host-overflow`, `local-size-match`, `push-constant-layout`, `buffer-size`, `device-limits`, `uniform-barrier`, `barrier-order`, `index-bounds` ...
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
    /// Of `index-bounds`: access places of the kernel that the row tells of. Of `barrier-order`:
    /// pairs of accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accesses: Option<u32>,
    /// Ids of the graph's nodes that a row which does not hold is about. Empty where the check
    /// itself says it, where no node stands for it, and in evidence before 0.4.0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<String>,
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
        /// What several sources say of one struct of the host agrees.
        HostFacts = "host-facts",
        /// Members of the push constants lie where the kernel reads them.
        PushConstantLayout = "push-constant-layout",
        /// The kernel uses every member that the host stores.
        MemberUse = "member-use",
        /// Buffers are as large as the kernel uses them.
        BufferSize = "buffer-size",
        /// Buffers hold what the kernel's blocks read, where it reads it.
        BufferLayout = "buffer-layout",
        /// Images are of the dimension and the format that the kernel declares.
        ImageDescriptor = "image-descriptor",
        /// Images are of a size that an image can have.
        ImageSize = "image-size",
        /// What earlier kernels leave is bound where both kernels have it, and of one kind.
        EarlierDispatches = "earlier-dispatches",
        /// What the kernel needs is within the limits of the device.
        DeviceLimits = "device-limits",
        /// The host sets specialization constants that the kernel has, to values that fit.
        SpecializationIds = "specialization-ids",
        /// A pipeline that is compiled offline has a name and starts the kernel's entry point.
        PipelineIdentity = "pipeline-identity",
        /// Its layout has what the kernel binds and reads.
        PipelineLayout = "pipeline-layout",
        /// It sets the kernel's constants to what the interface states.
        PipelineSpecialization = "pipeline-specialization",
        /// All invocations of a workgroup reach a barrier alike.
        UniformBarrier = "uniform-barrier",
        /// A barrier orders each value that one invocation writes and another one reads.
        BarrierOrder = "barrier-order",
        /// Accesses of buffers, images and arrays are within them.
        IndexBounds = "index-bounds",
        /// A capture tells all that the host program did.
        CaptureComplete = "capture-complete",
        /// The module that the captured host runs is the kernel's and can be read.
        ShaderModule = "shader-module",
        /// What captured pipelines need is within the limits of their device.
        LocalSizeLimits = "local-size-limits",
        /// Captured dispatches are within the limits of their device.
        DispatchLimits = "dispatch-limits",
        /// Captured dispatches have each byte of push constants that the kernel reads.
        PushConstants = "push-constants",
        /// Captured push constants are what the interface states.
        PushConstantValues = "push-constant-values",
        /// Captured dispatches have a descriptor for each binding.
        Descriptors = "descriptors",
        /// Captured ranges are as large as the blocks.
        BindingSize = "binding-size",
        /// What captured operations write is ordered before the device uses it.
        DeviceDependency = "device-dependency",
        /// It is made visible before the host reads it.
        HostRead = "host-read",
        /// What the captured host writes is available to the device.
        HostWrite = "host-write",
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

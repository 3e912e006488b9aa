//! Which nodes of the coupling graph a row of the checks is about.
//!
//! Knows: the nodes of the graph, and the words by which rows and acceptances name their subject
//! (`CheckRows::begin_subject`). Promises: only nodes of the graph are named, and none where several
//! could be meant.
//! Does not cover: rows about the whole of the dispatch or the local size, which are one node each
//! and are known by the check; rows that name no subject.

use super::graph::CouplingGraph;
use vkcert_model::evidence::{CouplingCheckName, CouplingNode, CouplingNodeKind};

/// The nodes that rows can be about.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SubjectNodes {
    nodes: Vec<CouplingNode>,
}

impl SubjectNodes {
    pub(super) fn of_graph(graph: &CouplingGraph) -> Self {
        Self { nodes: graph.nodes() }
    }

    /// Those of these ids that are nodes.
    pub(super) fn known(&self, ids: impl IntoIterator<Item = String>) -> Vec<String> {
        let is_known = |id: &String| self.nodes.iter().any(|node| node.id == *id);
        ids.into_iter().filter(is_known).collect()
    }

    /// The nodes that the subject of a row stands for.
    pub(super) fn of_subject(&self, check: &CouplingCheckName, subject_words: &str) -> Vec<String> {
        match check {
            CouplingCheckName::HostOverflow => self.known(value_id(subject_words)),
            CouplingCheckName::DeviceLimits => self.known(limited_id(subject_words)),
            CouplingCheckName::BufferSize
            | CouplingCheckName::BufferLayout
            | CouplingCheckName::MemberUse
            | CouplingCheckName::ImageDescriptor
            | CouplingCheckName::ImageSize
            | CouplingCheckName::PipelineLayout => self.known(binding_ids(subject_words)),
            CouplingCheckName::EarlierDispatches => self.known(earlier_ids(subject_words)),
            CouplingCheckName::SpecializationIds | CouplingCheckName::PipelineSpecialization => {
                self.known(constant_id(subject_words, "constant "))
            }
            CouplingCheckName::UniformBarrier => self.barrier_id(subject_words),
            CouplingCheckName::IndexBounds => {
                let object_words = subject_words.split(" in ").next().unwrap_or(subject_words);
                self.object_id(object_words)
            }
            CouplingCheckName::BarrierOrder => {
                let object_words = subject_words.strip_prefix("accesses of ");
                object_words.map_or_else(Vec::new, |words| self.object_id(words))
            }
            CouplingCheckName::DispatchCoversDomain
            | CouplingCheckName::DispatchNotTruncated
            | CouplingCheckName::LocalSizeMatch
            | CouplingCheckName::HostFacts
            | CouplingCheckName::PushConstantLayout
            | CouplingCheckName::PipelineIdentity
            | CouplingCheckName::CaptureComplete
            | CouplingCheckName::ShaderModule
            | CouplingCheckName::LocalSizeLimits
            | CouplingCheckName::DispatchLimits
            | CouplingCheckName::PushConstants
            | CouplingCheckName::PushConstantValues
            | CouplingCheckName::Descriptors
            | CouplingCheckName::BindingSize
            | CouplingCheckName::DeviceDependency
            | CouplingCheckName::HostRead
            | CouplingCheckName::HostWrite
            | CouplingCheckName::Unknown(_) => Vec::new(),
        }
    }

    /// `barrier 2`: the second one that the kernel reaches.
    fn barrier_id(&self, subject_words: &str) -> Vec<String> {
        let number = subject_words.strip_prefix("barrier ").and_then(|words| words.parse().ok());
        let mut barriers = self.nodes.iter().filter(|node| node.kind == CouplingNodeKind::Barrier);
        let barrier = number.and_then(|number: usize| barriers.nth(number.checked_sub(1)?));
        barrier.into_iter().map(|node| node.id.clone()).collect()
    }

    /// `tile[..]`, `Stars.flags[..]` or, of a block without a name of its own, `flags[..]`: the
    /// workgroup variable or member of a buffer that is so called; none where several are.
    fn object_id(&self, object_words: &str) -> Vec<String> {
        let is_named = |name: &str| {
            let rest = object_words.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
        };
        let meant: Vec<&CouplingNode> =
            self.nodes.iter().filter(|node| object_names(node).into_iter().any(is_named)).collect();
        match meant[..] {
            [node] => vec![node.id.clone()],
            _ => Vec::new(),
        }
    }
}

/// The names of a workgroup variable, or of a member with and without its block's; none of others.
fn object_names(node: &CouplingNode) -> Vec<&str> {
    if node.kind == CouplingNodeKind::WorkgroupMemory {
        return node.id.strip_prefix("workgroup:").into_iter().collect();
    }
    if node.kind != CouplingNodeKind::BufferMember {
        return Vec::new();
    }
    // Of several blocks at one binding: `first.m, uint at offset 0; second.n, ...`.
    let names = node.label.split("; ").filter_map(|label| label.split(", ").next());
    names
        .flat_map(|name| [Some(name), name.split_once('.').map(|parts| parts.1)])
        .flatten()
        .collect()
}

/// What the host computes, as the check of overflows names it.
fn value_id(subject_words: &str) -> Option<String> {
    let quoted = |prefix: &str| subject_words.strip_prefix(prefix)?.strip_suffix('`');
    if let Some(name) = quoted("local `") {
        return Some(format!("local:{name}"));
    }
    if let Some(name) = quoted("push constant `") {
        return Some(format!("host-member:{name}"));
    }
    if let Some(place) = subject_words.strip_prefix("the size of buffer ") {
        return Some(format!("buffer:{place}"));
    }
    // `the size of image 0.1 in x`, `the layers of image 0.1`
    if let Some((_, rest)) = subject_words.split_once(" of image ") {
        return rest.split(' ').next().map(|place| format!("image:{place}"));
    }
    if subject_words.starts_with("the group count in ") {
        return Some("dispatch".to_owned());
    }
    if subject_words.starts_with("the domain in ") {
        return Some("domain".to_owned());
    }
    constant_id(subject_words, "the value of specialization constant ")
}

/// What a limit of devices bounds; amounts of memory are of no one node.
fn limited_id(subject_words: &str) -> Option<String> {
    if subject_words.starts_with("groups in ") {
        return Some("dispatch".to_owned());
    }
    let is_of_workgroup =
        subject_words.starts_with("local size in ") || subject_words == "invocations per workgroup";
    is_of_workgroup.then(|| "local-size".to_owned())
}

/// `0.1`, with what follows it: a buffer or an image.
fn binding_ids(subject_words: &str) -> Vec<String> {
    let place = subject_words.split(' ').next().unwrap_or(subject_words);
    ["buffer", "image"].map(|kind| format!("{kind}:{place}")).into()
}

/// `0.1 of blur as 0.0`: what the earlier kernel leaves; of `0.1 is written by nobody` the binding.
fn earlier_ids(subject_words: &str) -> Vec<String> {
    let shared = subject_words.split_once(" of ").and_then(|(from, rest)| {
        let (kernel, _) = rest.split_once(" as ")?;
        Some(format!("earlier-binding:{kernel}:{from}"))
    });
    shared.map_or_else(|| binding_ids(subject_words), |id| vec![id])
}

/// `constant 3`, with what follows it.
fn constant_id(subject_words: &str, prefix: &str) -> Option<String> {
    let number = subject_words.strip_prefix(prefix)?.split(' ').next()?;
    Some(format!("specialization:{number}"))
}

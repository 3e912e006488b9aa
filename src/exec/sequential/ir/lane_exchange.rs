//! Exchange of values between the invocations of a subgroup: shuffles, broadcasts, rotations.
//!
//! Knows: from which invocation each one takes its value (SPIR-V specification, "Non-Uniform
//! Instructions").
//! Does not cover: what a value of an inactive invocation is (`UndefinedGroupResult`).

use super::subgroup_operation::{SubgroupMembers, UndefinedGroupResult};

/// The invocation that a value is taken from; the index is an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneExchange {
    Index,
    Xor,
    Up,
    Down,
    Broadcast,
    First,
    QuadBroadcast,
    /// Within the quad: the invocation whose number differs in these bits.
    QuadSwap(u32),
    /// Within clusters, or the subgroup.
    Rotate(Option<u32>),
}

impl LaneExchange {
    /// The invocation whose index is used for `invocation_id` where the index must be uniform: the
    /// lowest active one of the subgroup, or of the quad.
    pub fn index_holder(self, invocation_id: u32, members: SubgroupMembers) -> u32 {
        match self {
            LaneExchange::QuadBroadcast => {
                SubgroupMembers { active: members.active & 0xf << (invocation_id & !3), ..members }
                    .lowest_active()
            }
            LaneExchange::Index
            | LaneExchange::Xor
            | LaneExchange::Up
            | LaneExchange::Down
            | LaneExchange::Broadcast
            | LaneExchange::First
            | LaneExchange::QuadSwap(_)
            | LaneExchange::Rotate(_) => members.lowest_active(),
        }
    }

    /// Whether the index must be uniform over the active invocations of the subgroup or quad.
    pub fn needs_uniform_index(self) -> bool {
        match self {
            LaneExchange::Broadcast | LaneExchange::QuadBroadcast | LaneExchange::Rotate(_) => true,
            LaneExchange::Index
            | LaneExchange::Xor
            | LaneExchange::Up
            | LaneExchange::Down
            | LaneExchange::First
            | LaneExchange::QuadSwap(_) => false,
        }
    }

    /// The invocation that `invocation_id` takes its value from, if that one is active.
    pub fn source_invocation(
        self,
        invocation_id: u32,
        index: u32,
        members: SubgroupMembers,
    ) -> Option<u32> {
        let source_id = match self {
            LaneExchange::Index | LaneExchange::Broadcast => Some(index),
            LaneExchange::Xor => Some(invocation_id ^ index),
            LaneExchange::Up => invocation_id.checked_sub(index),
            LaneExchange::Down => invocation_id.checked_add(index),
            LaneExchange::First => Some(members.lowest_active()),
            LaneExchange::QuadBroadcast => (index < 4).then_some((invocation_id & !3) | index & 3),
            LaneExchange::QuadSwap(bits) => Some(invocation_id ^ bits),
            LaneExchange::Rotate(cluster) => {
                let cluster_mask = cluster.unwrap_or(members.size).min(members.size) - 1;
                Some(
                    (invocation_id & !cluster_mask)
                        | (invocation_id.wrapping_add(index) & cluster_mask),
                )
            }
        };
        source_id.filter(|source_id| members.is_active(*source_id))
    }

    /// What is undefined about the operation itself for subgroups of a size.
    pub fn oversized_cluster(self, size: u32) -> Option<UndefinedGroupResult> {
        match self {
            LaneExchange::Rotate(Some(cluster)) => {
                (cluster > size).then_some(UndefinedGroupResult::Cluster)
            }
            _ => None,
        }
    }
}

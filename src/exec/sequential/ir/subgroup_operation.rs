//! Subgroup operations (SPIR-V specification, "Non-Uniform Instructions"; SPV_KHR_shader_ballot,
//! SPV_KHR_subgroup_vote, SPV_KHR_subgroup_rotate, SPV_KHR_quad_control,
//! SPV_NV_shader_subgroup_partitioned).
//!
//! Knows: the result of each operation for every active invocation of one subgroup. Invocations are
//! numbered within their subgroup; a ballot is a number of 128 bits.
//! Promises: sums and products are taken in ascending order of the invocations, from the first
//! value on. What is undefined has the result that [`UndefinedGroupResult`] documents.
//! Does not cover: operations over scopes other than Subgroup.

use vkcert_spirv::operation::operator::Binary;
use vkcert_spirv::operation::sized::{NumberFormat, Operation, SizedOperator};
use vkcert_spirv::operation::undefined;
use vkcert_spirv::operation::undefined::UndefinedExtent;

/// Most invocations of a subgroup (Vulkan, `maxSubgroupSize`).
pub(crate) const MOST_INVOCATIONS: u32 = 128;

/// The active invocations of one subgroup.
#[derive(Debug, Clone, Copy)]
pub struct SubgroupMembers {
    /// Bit `i`: invocation `i` is active; at least one is.
    pub active: u128,
    pub size: u32,
}

impl SubgroupMembers {
    pub fn is_active(self, invocation_id: u32) -> bool {
        invocation_id < self.size && self.active >> invocation_id & 1 == 1
    }

    pub fn lowest_active(self) -> u32 {
        self.active.trailing_zeros()
    }

    /// Ascending.
    pub fn active_ids(self) -> impl Iterator<Item = u32> {
        let mut remaining_ids = self.active;
        std::iter::from_fn(move || {
            if remaining_ids == 0 {
                return None;
            }
            let invocation_id = remaining_ids.trailing_zeros();
            remaining_ids &= remaining_ids - 1;
            Some(invocation_id)
        })
    }

    /// The bits of invocations `0 .. count`.
    fn bits_below(count: u32) -> u128 {
        if count >= 128 { u128::MAX } else { (1 << count) - 1 }
    }
}

/// Over which invocations values are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    Reduce,
    Inclusive,
    Exclusive,
    /// By clusters of so many consecutive invocations, a power of two.
    Clustered(u32),
    /// By the sets of a partition, of which each invocation has its own as a ballot behind the
    /// value.
    Partitioned(PartitionRange),
}

/// Over which invocations of a set of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionRange {
    All,
    UpToOwn,
    BelowOwn,
}

/// An associative operation with its identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Combination {
    pub operation: Operation,
    pub identity: u64,
}

impl Combination {
    /// Whether the result for a NaN and another value is the other value.
    fn skips_nan(self) -> bool {
        matches!(self.operation.op, SizedOperator::Binary(Binary::NMin | Binary::NMax))
    }

    /// What is undefined about a result whose operands are all NaN.
    fn all_nan(self, combined_value: Option<u64>) -> Option<UndefinedGroupResult> {
        let is_nan = self.skips_nan()
            && combined_value.is_some_and(|combined_value| {
                self.operation.from.to_float(combined_value).is_nan()
            });
        is_nan.then_some(UndefinedGroupResult::AllNan)
    }
}

/// An operation whose result is computed from the operands of a subgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupOperation {
    Elect,
    All,
    Any,
    /// Of numbers of a form; none: Booleans. Floats are equal as numbers are: zeros of both signs,
    /// no NaN.
    AllEqual(Option<NumberFormat>),
    Combine(Combination, Scan),
    Ballot,
    InverseBallot,
    /// The second operand is the index.
    BitExtract,
    BitCount(Scan),
    FindLowest,
    FindHighest,
    /// The invocations with the same bits.
    Partition,
}

/// Why a result is undefined, and which result the engine gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndefinedGroupResult {
    /// The value is 0 or false.
    Source,
    /// The index of the lowest active invocation counts for all.
    Index,
    /// Each invocation finds its own bit in its own value.
    Ballot,
    /// The bit is 0.
    Bit,
    /// All ones.
    NoBit,
    /// The cluster is the subgroup.
    Cluster,
    /// The invocation's own ballot counts for it.
    Partition,
    /// A NaN.
    AllNan,
}

impl UndefinedGroupResult {
    /// The same as the operation table states it.
    pub fn as_undefined(self) -> undefined::Undefined {
        undefined::Undefined { extent: self.undefined_extent(), why: self.message() }
    }

    fn message(self) -> &'static str {
        match self {
            UndefinedGroupResult::Source => {
                "a value of an invocation that is not active or not in the subgroup; the result is undefined"
            }
            UndefinedGroupResult::Index => {
                "the index differs between the invocations of a subgroup or quad; the result is undefined"
            }
            UndefinedGroupResult::Ballot => {
                "the ballot differs between the invocations of a subgroup; the result is undefined"
            }
            UndefinedGroupResult::Bit => {
                "the index of a bit is not below the subgroup size; the result is undefined"
            }
            UndefinedGroupResult::NoBit => "no bit of the ballot is set; the result is undefined",
            UndefinedGroupResult::Cluster => {
                "the cluster is larger than the subgroup; the result is undefined"
            }
            UndefinedGroupResult::Partition => {
                "the ballots of the active invocations are no partition of them; the result is undefined"
            }
            UndefinedGroupResult::AllNan => {
                "the least or greatest of NaNs alone; the result is undefined"
            }
        }
    }

    /// Whether behaviour is undefined or the result alone (SPIR-V, "Non-Uniform Instructions").
    fn undefined_extent(self) -> UndefinedExtent {
        match self {
            UndefinedGroupResult::Source
            | UndefinedGroupResult::Bit
            | UndefinedGroupResult::NoBit
            | UndefinedGroupResult::AllNan => UndefinedExtent::Value,
            UndefinedGroupResult::Index
            | UndefinedGroupResult::Ballot
            | UndefinedGroupResult::Cluster
            | UndefinedGroupResult::Partition => UndefinedExtent::Behaviour,
        }
    }
}

impl GroupOperation {
    /// Whether the result is discontinuous in the operands; combined floats are not.
    pub fn result_jumps(self) -> bool {
        match self {
            GroupOperation::Combine(combination, _) => {
                matches!(combination.operation.from, NumberFormat::Integer(_))
            }
            GroupOperation::Elect
            | GroupOperation::All
            | GroupOperation::Any
            | GroupOperation::AllEqual(_)
            | GroupOperation::Ballot
            | GroupOperation::InverseBallot
            | GroupOperation::BitExtract
            | GroupOperation::BitCount(_)
            | GroupOperation::FindLowest
            | GroupOperation::FindHighest
            | GroupOperation::Partition => true,
        }
    }

    /// How many of an instruction's operand words are the first operand; the rest is the second.
    pub fn first_operand_words(self, word_count: usize) -> usize {
        match self {
            // The last four words are the ballot.
            GroupOperation::Combine(_, Scan::Partitioned(_)) => word_count - 4,
            _ => word_count,
        }
    }

    /// Whether a result can be undefined.
    pub fn may_be_undefined(self) -> bool {
        match self {
            GroupOperation::Combine(combination, _) => combination.skips_nan(),
            GroupOperation::BitExtract
            | GroupOperation::FindLowest
            | GroupOperation::FindHighest => true,
            GroupOperation::Elect
            | GroupOperation::All
            | GroupOperation::Any
            | GroupOperation::AllEqual(_)
            | GroupOperation::Ballot
            | GroupOperation::InverseBallot
            | GroupOperation::Partition
            | GroupOperation::BitCount(_) => false,
        }
    }

    /// Calls `result` with each active invocation's result. `operands` gives an invocation's
    /// operands as bits.
    pub fn apply_to_members(
        self,
        members: SubgroupMembers,
        operands: impl Fn(u32) -> [u128; 2],
        mut result: impl FnMut(u32, u128, Option<UndefinedGroupResult>),
    ) {
        let first_operand = |invocation_id: u32| operands(invocation_id)[0];
        let all_bits = SubgroupMembers::bits_below(members.size);
        match self {
            GroupOperation::Elect => members.active_ids().for_each(|invocation_id| {
                result(invocation_id, u128::from(invocation_id == members.lowest_active()), None)
            }),
            GroupOperation::All | GroupOperation::Any | GroupOperation::AllEqual(_) => {
                let value = u128::from(match self {
                    GroupOperation::All => {
                        members.active_ids().all(|invocation_id| first_operand(invocation_id) != 0)
                    }
                    GroupOperation::Any => {
                        members.active_ids().any(|invocation_id| first_operand(invocation_id) != 0)
                    }
                    _ => all_equal(self, members, first_operand),
                });
                members.active_ids().for_each(|invocation_id| result(invocation_id, value, None));
            }
            GroupOperation::Combine(combination, Scan::Partitioned(within)) => {
                let partition_set =
                    |invocation_id: u32| operands(invocation_id)[1] & members.active;
                combine_partitions(
                    combination,
                    within,
                    members,
                    (first_operand, partition_set),
                    result,
                );
            }
            GroupOperation::Combine(combination, scan) => {
                combine_scan(combination, scan, members, first_operand, result)
            }
            GroupOperation::Partition => members.active_ids().for_each(|invocation_id| {
                let same = members
                    .active_ids()
                    .filter(|other_id| first_operand(*other_id) == first_operand(invocation_id));
                result(invocation_id, same.fold(0, |bits, same_id| bits | 1 << same_id), None);
            }),
            GroupOperation::Ballot => {
                let ballot = members
                    .active_ids()
                    .filter(|invocation_id| first_operand(*invocation_id) != 0)
                    .fold(0, |bits, invocation_id| bits | 1 << invocation_id);
                members.active_ids().for_each(|invocation_id| result(invocation_id, ballot, None));
            }
            GroupOperation::InverseBallot => {
                let same = members.active_ids().all(|invocation_id| {
                    first_operand(invocation_id) == first_operand(members.lowest_active())
                });
                let undefined_result = (!same).then_some(UndefinedGroupResult::Ballot);
                members.active_ids().for_each(|invocation_id| {
                    result(
                        invocation_id,
                        first_operand(invocation_id) >> invocation_id & 1,
                        undefined_result,
                    )
                });
            }
            GroupOperation::BitExtract => members.active_ids().for_each(|invocation_id| {
                let [ballot, index] = operands(invocation_id);
                match u32::try_from(index).ok().filter(|index| *index < members.size) {
                    Some(index) => result(invocation_id, ballot >> index & 1, None),
                    None => result(invocation_id, 0, Some(UndefinedGroupResult::Bit)),
                }
            }),
            GroupOperation::BitCount(scan) => members.active_ids().for_each(|invocation_id| {
                let counted_bits = match scan {
                    Scan::Reduce | Scan::Clustered(_) | Scan::Partitioned(_) => all_bits,
                    Scan::Inclusive => SubgroupMembers::bits_below(invocation_id + 1),
                    Scan::Exclusive => SubgroupMembers::bits_below(invocation_id),
                };
                result(
                    invocation_id,
                    u128::from(
                        (first_operand(invocation_id) & all_bits & counted_bits).count_ones(),
                    ),
                    None,
                );
            }),
            GroupOperation::FindLowest | GroupOperation::FindHighest => members
                .active_ids()
                .for_each(|invocation_id| match first_operand(invocation_id) & all_bits {
                    0 => result(
                        invocation_id,
                        u128::from(u32::MAX),
                        Some(UndefinedGroupResult::NoBit),
                    ),
                    bits if self == GroupOperation::FindLowest => {
                        result(invocation_id, u128::from(bits.trailing_zeros()), None)
                    }
                    bits => result(invocation_id, u128::from(127 - bits.leading_zeros()), None),
                }),
        }
    }
}

fn all_equal(
    group_operation: GroupOperation,
    members: SubgroupMembers,
    value_of: impl Fn(u32) -> u128,
) -> bool {
    let first_value = value_of(members.lowest_active());
    match group_operation {
        GroupOperation::AllEqual(Some(form @ (NumberFormat::Float(_) | NumberFormat::Brain))) => {
            members.active_ids().all(|invocation_id| {
                form.to_float(value_of(invocation_id) as u64) == form.to_float(first_value as u64)
            })
        }
        _ => members.active_ids().all(|invocation_id| value_of(invocation_id) == first_value),
    }
}

/// Combines within the sets of a partition. If the ballots are not a partition, each invocation's
/// own ballot is its set.
fn combine_partitions(
    combination: Combination,
    partition_range: PartitionRange,
    members: SubgroupMembers,
    (value, set_of): (impl Fn(u32) -> u128, impl Fn(u32) -> u128),
    mut result: impl FnMut(u32, u128, Option<UndefinedGroupResult>),
) {
    let Combination { operation, identity } = combination;
    let is_set = |invocation_id: u32| {
        let own_set = set_of(invocation_id);
        own_set >> invocation_id & 1 == 1
            && SubgroupMembers { active: own_set, ..members }
                .active_ids()
                .all(|other_id| set_of(other_id) == own_set)
    };
    let undefined_result =
        (!members.active_ids().all(is_set)).then_some(UndefinedGroupResult::Partition);
    for invocation_id in members.active_ids() {
        let counted_bits = match partition_range {
            PartitionRange::All => u128::MAX,
            PartitionRange::UpToOwn => SubgroupMembers::bits_below(invocation_id + 1),
            PartitionRange::BelowOwn => SubgroupMembers::bits_below(invocation_id),
        };
        let counted_members =
            SubgroupMembers { active: set_of(invocation_id) & counted_bits, ..members };
        let combined_value = counted_members
            .active_ids()
            .map(|other_id| value(other_id) as u64)
            .reduce(|combined_value, value| {
                operation
                    .result_bits(combined_value, value, 0)
                    .expect("decoding has asked whether it exists")
            });
        result(
            invocation_id,
            u128::from(combined_value.unwrap_or(identity)),
            undefined_result.or(combination.all_nan(combined_value)),
        );
    }
}

fn combine_scan(
    combination: Combination,
    scan: Scan,
    members: SubgroupMembers,
    value: impl Fn(u32) -> u128,
    mut result: impl FnMut(u32, u128, Option<UndefinedGroupResult>),
) {
    let Combination { operation, identity } = combination;
    let join_value = |combined_value: Option<u64>, invocation_id: u32| {
        let value = value(invocation_id) as u64;
        Some(combined_value.map_or(value, |combined_value| {
            operation
                .result_bits(combined_value, value, 0)
                .expect("decoding has asked whether it exists")
        }))
    };
    let cluster_size = match scan {
        Scan::Clustered(cluster_size) => cluster_size.min(members.size),
        Scan::Reduce | Scan::Inclusive | Scan::Exclusive | Scan::Partitioned(_) => members.size,
    };
    let undefined_result = matches!(scan, Scan::Clustered(asked) if asked > members.size)
        .then_some(UndefinedGroupResult::Cluster);
    for cluster_start in (0..members.size).step_by(cluster_size as usize) {
        let cluster_active =
            members.active & (SubgroupMembers::bits_below(cluster_size) << cluster_start);
        let cluster_members = SubgroupMembers { active: cluster_active, ..members };
        let mut combined_value = None;
        match scan {
            Scan::Reduce | Scan::Clustered(_) | Scan::Partitioned(_) => {
                let combined_value = cluster_members.active_ids().fold(None, join_value);
                let value = u128::from(combined_value.unwrap_or(identity));
                cluster_members.active_ids().for_each(|invocation_id| {
                    result(
                        invocation_id,
                        value,
                        undefined_result.or(combination.all_nan(combined_value)),
                    )
                });
            }
            Scan::Inclusive => cluster_members.active_ids().for_each(|invocation_id| {
                combined_value = join_value(combined_value, invocation_id);
                result(
                    invocation_id,
                    u128::from(combined_value.unwrap_or(identity)),
                    combination.all_nan(combined_value),
                );
            }),
            Scan::Exclusive => cluster_members.active_ids().for_each(|invocation_id| {
                result(
                    invocation_id,
                    u128::from(combined_value.unwrap_or(identity)),
                    combination.all_nan(combined_value),
                );
                combined_value = join_value(combined_value, invocation_id);
            }),
        }
    }
}

//! Subgroup operations (SPIR-V specification, "Non-Uniform Instructions"; SPV_KHR_shader_ballot,
//! SPV_KHR_subgroup_vote, SPV_KHR_subgroup_rotate, SPV_KHR_quad_control,
//! SPV_NV_shader_subgroup_partitioned).
//!
//! Knows: what each operation gives to every active invocation of one subgroup. Invocations are
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
    pub fn has(self, id: u32) -> bool {
        id < self.size && self.active >> id & 1 == 1
    }

    pub fn lowest(self) -> u32 {
        self.active.trailing_zeros()
    }

    /// Ascending.
    pub fn ids(self) -> impl Iterator<Item = u32> {
        let mut rest = self.active;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let id = rest.trailing_zeros();
            rest &= rest - 1;
            Some(id)
        })
    }

    /// The bits of invocations `0 .. count`.
    fn below(count: u32) -> u128 {
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
    /// Of a NaN and another value it gives the other one.
    fn skips_nan(self) -> bool {
        matches!(self.operation.op, SizedOperator::Binary(Binary::NMin | Binary::NMax))
    }

    /// What is undefined about a result that only NaNs went into.
    fn all_nan(self, sum: Option<u64>) -> Option<UndefinedGroupResult> {
        let nan =
            self.skips_nan() && sum.is_some_and(|sum| self.operation.from.to_float(sum).is_nan());
        nan.then_some(UndefinedGroupResult::AllNan)
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

/// Where an invocation takes a value from; the index is an operand.
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

/// Why a result is undefined, and what it is here.
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
    /// As other operations have it.
    pub fn as_undefined(self) -> undefined::Undefined {
        undefined::Undefined { extent: self.extent(), why: self.message() }
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
    fn extent(self) -> UndefinedExtent {
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
    /// Whether the result jumps while the operands move little; those of floats do not.
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

    /// How many of so many words are the first operand; the others are the second.
    pub fn first_operand_words(self, all: usize) -> usize {
        match self {
            // Behind the value stands a ballot.
            GroupOperation::Combine(_, Scan::Partitioned(_)) => all - 4,
            _ => all,
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

    /// Gives each active invocation's result. `operands` are an invocation's, as bits.
    pub fn apply(
        self,
        members: SubgroupMembers,
        operands: impl Fn(u32) -> [u128; 2],
        mut result: impl FnMut(u32, u128, Option<UndefinedGroupResult>),
    ) {
        let first = |id: u32| operands(id)[0];
        let all = SubgroupMembers::below(members.size);
        match self {
            GroupOperation::Elect => {
                members.ids().for_each(|id| result(id, u128::from(id == members.lowest()), None))
            }
            GroupOperation::All | GroupOperation::Any | GroupOperation::AllEqual(_) => {
                let value = u128::from(match self {
                    GroupOperation::All => members.ids().all(|id| first(id) != 0),
                    GroupOperation::Any => members.ids().any(|id| first(id) != 0),
                    _ => all_equal(self, members, first),
                });
                members.ids().for_each(|id| result(id, value, None));
            }
            GroupOperation::Combine(combination, Scan::Partitioned(within)) => {
                let sets = |id: u32| operands(id)[1] & members.active;
                combine_partitions(combination, within, members, (first, sets), result);
            }
            GroupOperation::Combine(combination, scan) => {
                combine_scan(combination, scan, members, first, result)
            }
            GroupOperation::Partition => members.ids().for_each(|id| {
                let same = members.ids().filter(|other| first(*other) == first(id));
                result(id, same.fold(0, |bits, id| bits | 1 << id), None);
            }),
            GroupOperation::Ballot => {
                let ballot =
                    members.ids().filter(|id| first(*id) != 0).fold(0, |bits, id| bits | 1 << id);
                members.ids().for_each(|id| result(id, ballot, None));
            }
            GroupOperation::InverseBallot => {
                let same = members.ids().all(|id| first(id) == first(members.lowest()));
                let why = (!same).then_some(UndefinedGroupResult::Ballot);
                members.ids().for_each(|id| result(id, first(id) >> id & 1, why));
            }
            GroupOperation::BitExtract => members.ids().for_each(|id| {
                let [ballot, index] = operands(id);
                match u32::try_from(index).ok().filter(|index| *index < members.size) {
                    Some(index) => result(id, ballot >> index & 1, None),
                    None => result(id, 0, Some(UndefinedGroupResult::Bit)),
                }
            }),
            GroupOperation::BitCount(scan) => members.ids().for_each(|id| {
                let counted = match scan {
                    Scan::Reduce | Scan::Clustered(_) | Scan::Partitioned(_) => all,
                    Scan::Inclusive => SubgroupMembers::below(id + 1),
                    Scan::Exclusive => SubgroupMembers::below(id),
                };
                result(id, u128::from((first(id) & all & counted).count_ones()), None);
            }),
            GroupOperation::FindLowest | GroupOperation::FindHighest => {
                members.ids().for_each(|id| match first(id) & all {
                    0 => result(id, u128::from(u32::MAX), Some(UndefinedGroupResult::NoBit)),
                    bits if self == GroupOperation::FindLowest => {
                        result(id, u128::from(bits.trailing_zeros()), None)
                    }
                    bits => result(id, u128::from(127 - bits.leading_zeros()), None),
                })
            }
        }
    }
}

fn all_equal(group: GroupOperation, members: SubgroupMembers, value: impl Fn(u32) -> u128) -> bool {
    let first = value(members.lowest());
    match group {
        GroupOperation::AllEqual(Some(form @ (NumberFormat::Float(_) | NumberFormat::Brain))) => {
            members.ids().all(|id| form.to_float(value(id) as u64) == form.to_float(first as u64))
        }
        _ => members.ids().all(|id| value(id) == first),
    }
}

/// By the sets of a partition. Where the ballots are none, the own ballot of each invocation
/// counts.
fn combine_partitions(
    combination: Combination,
    within: PartitionRange,
    members: SubgroupMembers,
    (value, set): (impl Fn(u32) -> u128, impl Fn(u32) -> u128),
    mut result: impl FnMut(u32, u128, Option<UndefinedGroupResult>),
) {
    let Combination { operation, identity } = combination;
    let is_set = |id: u32| {
        let own = set(id);
        own >> id & 1 == 1
            && SubgroupMembers { active: own, ..members }.ids().all(|other| set(other) == own)
    };
    let why = (!members.ids().all(is_set)).then_some(UndefinedGroupResult::Partition);
    for id in members.ids() {
        let counted = match within {
            PartitionRange::All => u128::MAX,
            PartitionRange::UpToOwn => SubgroupMembers::below(id + 1),
            PartitionRange::BelowOwn => SubgroupMembers::below(id),
        };
        let others = SubgroupMembers { active: set(id) & counted, ..members };
        let sum = others.ids().map(|other| value(other) as u64).reduce(|sum, value| {
            operation.result_bits(sum, value, 0).expect("decoding has asked whether it exists")
        });
        result(id, u128::from(sum.unwrap_or(identity)), why.or(combination.all_nan(sum)));
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
    let join = |sum: Option<u64>, id: u32| {
        let value = value(id) as u64;
        Some(sum.map_or(value, |sum| {
            operation.result_bits(sum, value, 0).expect("decoding has asked whether it exists")
        }))
    };
    let cluster = match scan {
        Scan::Clustered(cluster) => cluster.min(members.size),
        Scan::Reduce | Scan::Inclusive | Scan::Exclusive | Scan::Partitioned(_) => members.size,
    };
    let why = matches!(scan, Scan::Clustered(asked) if asked > members.size)
        .then_some(UndefinedGroupResult::Cluster);
    for start in (0..members.size).step_by(cluster as usize) {
        let active = members.active & (SubgroupMembers::below(cluster) << start);
        let part = SubgroupMembers { active, ..members };
        let mut sum = None;
        match scan {
            Scan::Reduce | Scan::Clustered(_) | Scan::Partitioned(_) => {
                let sum = part.ids().fold(None, join);
                let value = u128::from(sum.unwrap_or(identity));
                part.ids().for_each(|id| result(id, value, why.or(combination.all_nan(sum))));
            }
            Scan::Inclusive => part.ids().for_each(|id| {
                sum = join(sum, id);
                result(id, u128::from(sum.unwrap_or(identity)), combination.all_nan(sum));
            }),
            Scan::Exclusive => part.ids().for_each(|id| {
                result(id, u128::from(sum.unwrap_or(identity)), combination.all_nan(sum));
                sum = join(sum, id);
            }),
        }
    }
}

impl LaneExchange {
    /// The invocation whose index counts for `id` where it must be the same for all: the lowest
    /// active one of the subgroup, or of the quad.
    pub fn index_holder(self, id: u32, members: SubgroupMembers) -> u32 {
        match self {
            LaneExchange::QuadBroadcast => {
                SubgroupMembers { active: members.active & 0xf << (id & !3), ..members }.lowest()
            }
            LaneExchange::Index
            | LaneExchange::Xor
            | LaneExchange::Up
            | LaneExchange::Down
            | LaneExchange::Broadcast
            | LaneExchange::First
            | LaneExchange::QuadSwap(_)
            | LaneExchange::Rotate(_) => members.lowest(),
        }
    }

    /// Whether the index must be the same in all active invocations, of the subgroup or of the
    /// quad.
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

    /// The invocation that `id` takes its value from, if that one is active.
    pub fn source_invocation(self, id: u32, index: u32, members: SubgroupMembers) -> Option<u32> {
        let source = match self {
            LaneExchange::Index | LaneExchange::Broadcast => Some(index),
            LaneExchange::Xor => Some(id ^ index),
            LaneExchange::Up => id.checked_sub(index),
            LaneExchange::Down => id.checked_add(index),
            LaneExchange::First => Some(members.lowest()),
            LaneExchange::QuadBroadcast => (index < 4).then_some((id & !3) | index & 3),
            LaneExchange::QuadSwap(bits) => Some(id ^ bits),
            LaneExchange::Rotate(cluster) => {
                let last = cluster.unwrap_or(members.size).min(members.size) - 1;
                Some((id & !last) | (id.wrapping_add(index) & last))
            }
        };
        source.filter(|source| members.has(*source))
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

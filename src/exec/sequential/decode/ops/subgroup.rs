//! Subgroup operations (SPIR-V specification, "Non-Uniform Instructions"; SPV_KHR_shader_ballot, SPV_KHR_subgroup_vote,
//! SPV_KHR_subgroup_rotate, SPV_KHR_quad_control, SPV_NV_shader_subgroup_partitioned).
//!
//! Knows: what each operation gives to every active invocation of one subgroup. Invocations are numbered within their
//! subgroup; a ballot is a number of 128 bits.
//! Promises: sums and products are taken in ascending order of the invocations, from the first value on. What is undefined
//! has the result that [`Undefined`] documents.
//! Does not cover: operations over scopes other than Subgroup.

use super::logic::AND;
use super::number::{Numbers, compute2, define, flushed, operand, scalars};
use super::{Meaning, Row, id, row};
use crate::exec::sequential::decode::{Decoder, Unsupported, Value, unsupported};
use crate::exec::sequential::ir::memory_semantics::SUBGROUP_SCOPE;
use crate::exec::sequential::ir::{Action, Parts, Reg, Scalar, SubgroupUse};
use crate::spirv::module::Instruction;
use crate::spirv::operation::sized::{Form, Operation, Sized, Width};
use crate::spirv::operation::undefined;
use crate::spirv::operation::undefined::Extent;
use crate::spirv::operation::word::Binary;
use rspirv::dr::Operand;
use rspirv::spirv::{GroupOperation, Op};
use std::sync::Arc;

/// Most invocations of a subgroup (Vulkan, `maxSubgroupSize`).
pub const MOST_INVOCATIONS: u32 = 128;

/// The active invocations of one subgroup.
#[derive(Debug, Clone, Copy)]
pub struct Members {
    /// Bit `i`: invocation `i` is active; at least one is.
    pub active: u128,
    pub size: u32,
}

impl Members {
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
    /// By the sets of a partition, of which each invocation has its own as a ballot behind the value.
    Partitioned(Within),
}

/// Over which invocations of a set of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
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
        matches!(self.operation.op, Sized::Binary(Binary::NMin | Binary::NMax))
    }

    /// What is undefined about a result that only NaNs went into.
    fn all_nan(self, sum: Option<u64>) -> Option<Undefined> {
        let nan = self.skips_nan() && sum.is_some_and(|sum| self.operation.from.float(sum).is_nan());
        nan.then_some(Undefined::AllNan)
    }
}

/// An operation whose result is computed from the operands of a subgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Elect,
    All,
    Any,
    /// Of numbers of a form; none: Booleans. Floats are equal as numbers are: zeros of both signs, no NaN.
    AllEqual(Option<Form>),
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
pub enum Way {
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
pub enum Undefined {
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

impl Undefined {
    /// As other operations have it.
    pub fn told(self) -> undefined::Undefined {
        undefined::Undefined { extent: self.extent(), why: self.message() }
    }

    fn message(self) -> &'static str {
        match self {
            Undefined::Source => {
                "a value of an invocation that is not active or not in the subgroup; the result is undefined"
            }
            Undefined::Index => {
                "the index differs between the invocations of a subgroup or quad; the result is undefined"
            }
            Undefined::Ballot => "the ballot differs between the invocations of a subgroup; the result is undefined",
            Undefined::Bit => "the index of a bit is not below the subgroup size; the result is undefined",
            Undefined::NoBit => "no bit of the ballot is set; the result is undefined",
            Undefined::Cluster => "the cluster is larger than the subgroup; the result is undefined",
            Undefined::Partition => {
                "the ballots of the active invocations are no partition of them; the result is undefined"
            }
            Undefined::AllNan => "the least or greatest of NaNs alone; the result is undefined",
        }
    }

    /// Whether behaviour is undefined or the result alone (SPIR-V, "Non-Uniform Instructions").
    fn extent(self) -> Extent {
        match self {
            Undefined::Source | Undefined::Bit | Undefined::NoBit | Undefined::AllNan => Extent::Value,
            Undefined::Index | Undefined::Ballot | Undefined::Cluster | Undefined::Partition => Extent::Behaviour,
        }
    }
}

impl Group {
    /// Whether the result jumps while the operands move little; those of floats do not.
    pub fn jumps(self) -> bool {
        match self {
            Group::Combine(combination, _) => matches!(combination.operation.from, Form::Integer(_)),
            Group::Elect
            | Group::All
            | Group::Any
            | Group::AllEqual(_)
            | Group::Ballot
            | Group::InverseBallot
            | Group::BitExtract
            | Group::BitCount(_)
            | Group::FindLowest
            | Group::FindHighest
            | Group::Partition => true,
        }
    }

    /// How many of so many words are the first operand; the others are the second.
    pub fn first_words(self, all: usize) -> usize {
        match self {
            // Behind the value stands a ballot.
            Group::Combine(_, Scan::Partitioned(_)) => all - 4,
            _ => all,
        }
    }

    /// Whether a result can be undefined.
    pub fn may_be_undefined(self) -> bool {
        match self {
            Group::Combine(combination, _) => combination.skips_nan(),
            Group::BitExtract | Group::FindLowest | Group::FindHighest => true,
            Group::Elect
            | Group::All
            | Group::Any
            | Group::AllEqual(_)
            | Group::Ballot
            | Group::InverseBallot
            | Group::Partition
            | Group::BitCount(_) => false,
        }
    }

    /// Gives each active invocation's result. `operands` are an invocation's, as bits.
    pub fn apply(
        self,
        members: Members,
        operands: impl Fn(u32) -> [u128; 2],
        mut result: impl FnMut(u32, u128, Option<Undefined>),
    ) {
        let first = |id: u32| operands(id)[0];
        let all = Members::below(members.size);
        match self {
            Group::Elect => members.ids().for_each(|id| result(id, u128::from(id == members.lowest()), None)),
            Group::All | Group::Any | Group::AllEqual(_) => {
                let value = u128::from(match self {
                    Group::All => members.ids().all(|id| first(id) != 0),
                    Group::Any => members.ids().any(|id| first(id) != 0),
                    _ => all_equal(self, members, first),
                });
                members.ids().for_each(|id| result(id, value, None));
            }
            Group::Combine(combination, Scan::Partitioned(within)) => {
                let sets = |id: u32| operands(id)[1] & members.active;
                partitioned(combination, within, members, (first, sets), result);
            }
            Group::Combine(combination, scan) => combine(combination, scan, members, first, result),
            Group::Partition => members.ids().for_each(|id| {
                let same = members.ids().filter(|other| first(*other) == first(id));
                result(id, same.fold(0, |bits, id| bits | 1 << id), None);
            }),
            Group::Ballot => {
                let ballot = members.ids().filter(|id| first(*id) != 0).fold(0, |bits, id| bits | 1 << id);
                members.ids().for_each(|id| result(id, ballot, None));
            }
            Group::InverseBallot => {
                let same = members.ids().all(|id| first(id) == first(members.lowest()));
                let why = (!same).then_some(Undefined::Ballot);
                members.ids().for_each(|id| result(id, first(id) >> id & 1, why));
            }
            Group::BitExtract => members.ids().for_each(|id| {
                let [ballot, index] = operands(id);
                match u32::try_from(index).ok().filter(|index| *index < members.size) {
                    Some(index) => result(id, ballot >> index & 1, None),
                    None => result(id, 0, Some(Undefined::Bit)),
                }
            }),
            Group::BitCount(scan) => members.ids().for_each(|id| {
                let counted = match scan {
                    Scan::Reduce | Scan::Clustered(_) | Scan::Partitioned(_) => all,
                    Scan::Inclusive => Members::below(id + 1),
                    Scan::Exclusive => Members::below(id),
                };
                result(id, u128::from((first(id) & all & counted).count_ones()), None);
            }),
            Group::FindLowest | Group::FindHighest => members.ids().for_each(|id| match first(id) & all {
                0 => result(id, u128::from(u32::MAX), Some(Undefined::NoBit)),
                bits if self == Group::FindLowest => result(id, u128::from(bits.trailing_zeros()), None),
                bits => result(id, u128::from(127 - bits.leading_zeros()), None),
            }),
        }
    }
}

fn all_equal(group: Group, members: Members, value: impl Fn(u32) -> u128) -> bool {
    let first = value(members.lowest());
    match group {
        Group::AllEqual(Some(form @ (Form::Float(_) | Form::Brain))) => {
            members.ids().all(|id| form.float(value(id) as u64) == form.float(first as u64))
        }
        _ => members.ids().all(|id| value(id) == first),
    }
}

/// By the sets of a partition. Where the ballots are none, the own ballot of each invocation counts.
fn partitioned(
    combination: Combination,
    within: Within,
    members: Members,
    (value, set): (impl Fn(u32) -> u128, impl Fn(u32) -> u128),
    mut result: impl FnMut(u32, u128, Option<Undefined>),
) {
    let Combination { operation, identity } = combination;
    let is_set = |id: u32| {
        let own = set(id);
        own >> id & 1 == 1 && Members { active: own, ..members }.ids().all(|other| set(other) == own)
    };
    let why = (!members.ids().all(is_set)).then_some(Undefined::Partition);
    for id in members.ids() {
        let counted = match within {
            Within::All => u128::MAX,
            Within::UpToOwn => Members::below(id + 1),
            Within::BelowOwn => Members::below(id),
        };
        let others = Members { active: set(id) & counted, ..members };
        let sum = others
            .ids()
            .map(|other| value(other) as u64)
            .reduce(|sum, value| operation.value(sum, value, 0).expect("decoding has asked whether it exists"));
        result(id, u128::from(sum.unwrap_or(identity)), why.or(combination.all_nan(sum)));
    }
}

fn combine(
    combination: Combination,
    scan: Scan,
    members: Members,
    value: impl Fn(u32) -> u128,
    mut result: impl FnMut(u32, u128, Option<Undefined>),
) {
    let Combination { operation, identity } = combination;
    let join = |sum: Option<u64>, id: u32| {
        let value = value(id) as u64;
        Some(sum.map_or(value, |sum| operation.value(sum, value, 0).expect("decoding has asked whether it exists")))
    };
    let cluster = match scan {
        Scan::Clustered(cluster) => cluster.min(members.size),
        Scan::Reduce | Scan::Inclusive | Scan::Exclusive | Scan::Partitioned(_) => members.size,
    };
    let why = matches!(scan, Scan::Clustered(asked) if asked > members.size).then_some(Undefined::Cluster);
    for start in (0..members.size).step_by(cluster as usize) {
        let active = members.active & (Members::below(cluster) << start);
        let part = Members { active, ..members };
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

impl Way {
    /// The invocation whose index counts for `id` where it must be the same for all: the lowest active one of the subgroup,
    /// or of the quad.
    pub fn index_holder(self, id: u32, members: Members) -> u32 {
        match self {
            Way::QuadBroadcast => Members { active: members.active & 0xf << (id & !3), ..members }.lowest(),
            Way::Index
            | Way::Xor
            | Way::Up
            | Way::Down
            | Way::Broadcast
            | Way::First
            | Way::QuadSwap(_)
            | Way::Rotate(_) => members.lowest(),
        }
    }

    /// Whether the index must be the same in all active invocations, of the subgroup or of the quad.
    pub fn wants_one_index(self) -> bool {
        match self {
            Way::Broadcast | Way::QuadBroadcast | Way::Rotate(_) => true,
            Way::Index | Way::Xor | Way::Up | Way::Down | Way::First | Way::QuadSwap(_) => false,
        }
    }

    /// The invocation that `id` takes its value from, if that one is active.
    pub fn source(self, id: u32, index: u32, members: Members) -> Option<u32> {
        let source = match self {
            Way::Index | Way::Broadcast => Some(index),
            Way::Xor => Some(id ^ index),
            Way::Up => id.checked_sub(index),
            Way::Down => id.checked_add(index),
            Way::First => Some(members.lowest()),
            Way::QuadBroadcast => (index < 4).then_some((id & !3) | index & 3),
            Way::QuadSwap(bits) => Some(id ^ bits),
            Way::Rotate(cluster) => {
                let last = cluster.unwrap_or(members.size).min(members.size) - 1;
                Some((id & !last) | (id.wrapping_add(index) & last))
            }
        };
        source.filter(|source| members.has(*source))
    }

    /// What is undefined about the operation itself for subgroups of a size.
    pub fn too_large(self, size: u32) -> Option<Undefined> {
        match self {
            Way::Rotate(Some(cluster)) => (cluster > size).then_some(Undefined::Cluster),
            _ => None,
        }
    }
}

/// Reads rows as `op => meaning`.
macro_rules! rows {
    ($($op:ident => $handler:expr),* $(,)?) => { &[$(row(Op::$op, Meaning::Special($handler))),*] };
}

pub const TABLE: &[Row] = rows! {
    GroupNonUniformElect => |decoder, instruction| {
        scope(decoder, instruction)?;
        to_mask(decoder, instruction, Group::Elect, Arc::new([]))
    },
    GroupNonUniformAll => |decoder, instruction| vote(decoder, instruction, Group::All, Scoped::Yes),
    GroupNonUniformAny => |decoder, instruction| vote(decoder, instruction, Group::Any, Scoped::Yes),
    GroupNonUniformAllEqual => |decoder, instruction| equal(decoder, instruction, Scoped::Yes),
    GroupNonUniformQuadAllKHR => |decoder, instruction| quad_vote(decoder, instruction, Binary::BitwiseAnd),
    GroupNonUniformQuadAnyKHR => |decoder, instruction| quad_vote(decoder, instruction, Binary::BitwiseOr),
    SubgroupAllKHR => |decoder, instruction| vote(decoder, instruction, Group::All, Scoped::No),
    SubgroupAnyKHR => |decoder, instruction| vote(decoder, instruction, Group::Any, Scoped::No),
    SubgroupAllEqualKHR => |decoder, instruction| equal(decoder, instruction, Scoped::No),
    GroupNonUniformBroadcast => |decoder, instruction| exchange(decoder, instruction, Way::Broadcast, Scoped::Yes),
    SubgroupReadInvocationKHR => |decoder, instruction| exchange(decoder, instruction, Way::Broadcast, Scoped::No),
    GroupNonUniformBroadcastFirst => |decoder, instruction| exchange(decoder, instruction, Way::First, Scoped::Yes),
    SubgroupFirstInvocationKHR => |decoder, instruction| exchange(decoder, instruction, Way::First, Scoped::No),
    GroupNonUniformShuffle => |decoder, instruction| exchange(decoder, instruction, Way::Index, Scoped::Yes),
    GroupNonUniformShuffleXor => |decoder, instruction| exchange(decoder, instruction, Way::Xor, Scoped::Yes),
    GroupNonUniformShuffleUp => |decoder, instruction| exchange(decoder, instruction, Way::Up, Scoped::Yes),
    GroupNonUniformShuffleDown => |decoder, instruction| exchange(decoder, instruction, Way::Down, Scoped::Yes),
    GroupNonUniformQuadBroadcast => |decoder, instruction| exchange(decoder, instruction, Way::QuadBroadcast, Scoped::Yes),
    GroupNonUniformQuadSwap => quad_swap,
    GroupNonUniformRotateKHR => rotate,
    GroupNonUniformPartitionEXT => partition,
    GroupNonUniformBallot => |decoder, instruction| ballot(decoder, instruction, Scoped::Yes),
    SubgroupBallotKHR => |decoder, instruction| ballot(decoder, instruction, Scoped::No),
    GroupNonUniformInverseBallot => inverse_ballot,
    GroupNonUniformBallotBitExtract => bit_extract,
    GroupNonUniformBallotBitCount => bit_count,
    GroupNonUniformBallotFindLSB => |decoder, instruction| find(decoder, instruction, Group::FindLowest),
    GroupNonUniformBallotFindMSB => |decoder, instruction| find(decoder, instruction, Group::FindHighest),
    GroupNonUniformIAdd => |decoder, instruction| arithmetic(decoder, instruction, Binary::IAdd),
    GroupNonUniformFAdd => |decoder, instruction| arithmetic(decoder, instruction, Binary::FAdd),
    GroupNonUniformIMul => |decoder, instruction| arithmetic(decoder, instruction, Binary::IMul),
    GroupNonUniformFMul => |decoder, instruction| arithmetic(decoder, instruction, Binary::FMul),
    GroupNonUniformSMin => |decoder, instruction| arithmetic(decoder, instruction, Binary::SMin),
    GroupNonUniformUMin => |decoder, instruction| arithmetic(decoder, instruction, Binary::UMin),
    GroupNonUniformFMin => |decoder, instruction| arithmetic(decoder, instruction, Binary::NMin),
    GroupNonUniformSMax => |decoder, instruction| arithmetic(decoder, instruction, Binary::SMax),
    GroupNonUniformUMax => |decoder, instruction| arithmetic(decoder, instruction, Binary::UMax),
    GroupNonUniformFMax => |decoder, instruction| arithmetic(decoder, instruction, Binary::NMax),
    GroupNonUniformBitwiseAnd => |decoder, instruction| arithmetic(decoder, instruction, Binary::BitwiseAnd),
    GroupNonUniformBitwiseOr => |decoder, instruction| arithmetic(decoder, instruction, Binary::BitwiseOr),
    GroupNonUniformBitwiseXor => |decoder, instruction| arithmetic(decoder, instruction, Binary::BitwiseXor),
    GroupNonUniformLogicalAnd => |decoder, instruction| logical(decoder, instruction, Binary::BitwiseAnd),
    GroupNonUniformLogicalOr => |decoder, instruction| logical(decoder, instruction, Binary::BitwiseOr),
    GroupNonUniformLogicalXor => |decoder, instruction| logical(decoder, instruction, Binary::BitwiseXor),
};

/// Whether an instruction names its scope, as the older ones do not; operands follow.
#[derive(Clone, Copy)]
enum Scoped {
    Yes,
    No,
}

/// Checks the scope in operand 0, notes that invocations work together.
fn scope(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    if decoder.constants.word(id(instruction, 0)?) != Some(SUBGROUP_SCOPE) {
        return Err(unsupported(format!("Op{:?} with a scope other than Subgroup", instruction.op)));
    }
    works_together(decoder);
    Ok(())
}

fn works_together(decoder: &mut Decoder<'_>) {
    decoder.program.subgroups = decoder.program.subgroups.max(SubgroupUse::Operations);
}

/// The position of the first operand behind the scope.
fn first(decoder: &mut Decoder<'_>, instruction: &Instruction, scoped: Scoped) -> Result<usize, Unsupported> {
    match scoped {
        Scoped::Yes => {
            scope(decoder, instruction)?;
            Ok(1)
        }
        Scoped::No => {
            works_together(decoder);
            Ok(0)
        }
    }
}

/// An operation from some scalars to one Boolean.
fn to_mask(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: Group,
    from: Arc<[Scalar]>,
) -> Result<(), Unsupported> {
    let to = decoder.mask();
    decoder.push(Action::Group { op, to: Arc::new([Scalar::Mask(to)]), from, index: None });
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Mask(to)])));
    Ok(())
}

/// An operation on a ballot to a number of 32 bits.
fn from_ballot(decoder: &mut Decoder<'_>, instruction: &Instruction, op: Group, at: usize) -> Result<(), Unsupported> {
    scope(decoder, instruction)?;
    let from = decoder.scalars(id(instruction, at)?)?;
    let form = decoder.result_form(instruction)?;
    if !form.is_word() {
        return Err(unsupported(format!("Op{:?} with a result that has not 32 bits", instruction.op)));
    }
    let to = decoder.word();
    decoder.push(Action::Group { op, to: Arc::new([Scalar::Word(to)]), from, index: None });
    define(decoder, instruction, &[to.into()]);
    Ok(())
}

fn vote(decoder: &mut Decoder<'_>, instruction: &Instruction, op: Group, scoped: Scoped) -> Result<(), Unsupported> {
    let at = first(decoder, instruction, scoped)?;
    let from = decoder.scalars(id(instruction, at)?)?;
    to_mask(decoder, instruction, op, from)
}

/// All components must be equal.
fn equal(decoder: &mut Decoder<'_>, instruction: &Instruction, scoped: Scoped) -> Result<(), Unsupported> {
    let at = first(decoder, instruction, scoped)?;
    let value = id(instruction, at)?;
    let ty = decoder.type_of(value)?;
    let (form, each): (_, Vec<Vec<Scalar>>) = match decoder.form(ty) {
        Some(form) => (Some(form), decoder.numbers(value)?.parts.iter().map(|one| scalars(&[*one])).collect()),
        None => (None, decoder.masks(value)?.into_iter().map(|mask| vec![Scalar::Mask(mask)]).collect()),
    };
    let mut sum: Option<Reg> = None;
    for from in each {
        let to = decoder.mask();
        let (op, to_list) = (Group::AllEqual(form), Arc::new([Scalar::Mask(to)]));
        decoder.push(Action::Group { op, to: to_list, from: from.into(), index: None });
        sum = Some(match sum {
            None => to,
            Some(sum) => {
                let both = decoder.mask();
                decoder.push(Action::Logic { table: AND, to: both, a: sum, b: to });
                both
            }
        });
    }
    let sum = sum.ok_or_else(|| unsupported("a vote on no components"))?;
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Mask(sum)])));
    Ok(())
}

fn ballot(decoder: &mut Decoder<'_>, instruction: &Instruction, scoped: Scoped) -> Result<(), Unsupported> {
    let at = first(decoder, instruction, scoped)?;
    let from = decoder.scalars(id(instruction, at)?)?;
    let ty = instruction.result_type.ok_or_else(|| unsupported("a ballot without a type"))?;
    let to = decoder.fresh(ty)?;
    if to.len() != 4 {
        return Err(unsupported("a ballot that is no vector of four numbers of 32 bits"));
    }
    decoder.push(Action::Group { op: Group::Ballot, to: to.clone(), from, index: None });
    decoder.define(instruction, Value::Scalars(to));
    Ok(())
}

/// Invocations with the same value: of a vector, with the same of each component.
fn partition(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    works_together(decoder);
    let value = decoder.scalars(id(instruction, 0)?)?;
    let ty = instruction.result_type.ok_or_else(|| unsupported("a partition without a type"))?;
    let mut sum: Option<Arc<[Scalar]>> = None;
    for from in value.iter() {
        let to = decoder.fresh(ty)?;
        if to.len() != 4 {
            return Err(unsupported("a partition that is no vector of four numbers of 32 bits"));
        }
        decoder.push(Action::Group { op: Group::Partition, to: to.clone(), from: Arc::new([*from]), index: None });
        sum = Some(match sum {
            None => to,
            Some(sum) => in_both(decoder, &sum, &to)?,
        });
    }
    let sum = sum.ok_or_else(|| unsupported("a partition by no value"))?;
    decoder.define(instruction, Value::Scalars(sum));
    Ok(())
}

fn in_both(decoder: &mut Decoder<'_>, one: &[Scalar], two: &[Scalar]) -> Result<Arc<[Scalar]>, Unsupported> {
    let mut both = Vec::new();
    for pair in one.iter().zip(two) {
        let (Scalar::Word(a), Scalar::Word(b)) = pair else { return Err(unsupported("a ballot of Booleans")) };
        let and = compute2(decoder, Binary::BitwiseAnd, Form::WORD, (*a).into(), (*b).into())?;
        both.push(Scalar::Word(and.low));
    }
    Ok(both.into())
}

fn inverse_ballot(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    scope(decoder, instruction)?;
    let from = decoder.scalars(id(instruction, 1)?)?;
    to_mask(decoder, instruction, Group::InverseBallot, from)
}

fn bit_extract(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    scope(decoder, instruction)?;
    let from = decoder.scalars(id(instruction, 1)?)?;
    let index = Some(index(decoder, instruction, 2)?);
    let to = decoder.mask();
    decoder.push(Action::Group { op: Group::BitExtract, to: Arc::new([Scalar::Mask(to)]), from, index });
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Mask(to)])));
    Ok(())
}

fn bit_count(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let scan = scan(decoder, instruction, 2)?;
    from_ballot(decoder, instruction, Group::BitCount(scan), 2)
}

fn find(decoder: &mut Decoder<'_>, instruction: &Instruction, op: Group) -> Result<(), Unsupported> {
    from_ballot(decoder, instruction, op, 1)
}

/// An index operand: unsigned, as a word.
fn index(decoder: &mut Decoder<'_>, instruction: &Instruction, at: usize) -> Result<Reg, Unsupported> {
    match decoder.number(id(instruction, at)?)? {
        (Form::Integer(_), Parts { low, high: None }) => Ok(low),
        _ => Err(unsupported(format!("Op{:?} with an index of 64 bits", instruction.op))),
    }
}

fn exchange(decoder: &mut Decoder<'_>, instruction: &Instruction, way: Way, scoped: Scoped) -> Result<(), Unsupported> {
    let at = first(decoder, instruction, scoped)?;
    let index = match way {
        Way::First | Way::QuadSwap(_) => None,
        Way::Index | Way::Xor | Way::Up | Way::Down | Way::Broadcast | Way::QuadBroadcast | Way::Rotate(_) => {
            Some(index(decoder, instruction, at + 1)?)
        }
    };
    let from = decoder.scalars(id(instruction, at)?)?;
    let ty = instruction.result_type.ok_or_else(|| unsupported("an exchange without a type"))?;
    let to = decoder.fresh(ty)?;
    if to.len() != from.len() {
        return Err(unsupported(format!("Op{:?} with this type", instruction.op)));
    }
    decoder.push(Action::Exchange { way, to: to.clone(), from, index });
    decoder.define(instruction, Value::Scalars(to));
    Ok(())
}

fn quad_swap(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    // Horizontal, vertical, diagonal.
    match decoder.constants.word(id(instruction, 2)?) {
        Some(direction @ 0..=2) => exchange(decoder, instruction, Way::QuadSwap(direction + 1), Scoped::Yes),
        _ => Err(unsupported("OpGroupNonUniformQuadSwap with a direction that is no constant up to 2")),
    }
}

fn rotate(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let cluster = match instruction.id(3) {
        Some(_) => Some(cluster(decoder, instruction, 3)?),
        None => None,
    };
    exchange(decoder, instruction, Way::Rotate(cluster), Scoped::Yes)
}

fn cluster(decoder: &mut Decoder<'_>, instruction: &Instruction, at: usize) -> Result<u32, Unsupported> {
    let size = decoder.constants.word(id(instruction, at)?).filter(|size| size.is_power_of_two());
    size.ok_or_else(|| {
        unsupported(format!("Op{:?} with a cluster size that is no constant power of two", instruction.op))
    })
}

/// The group operation in operand 1; the value stands at `value`.
fn scan(decoder: &mut Decoder<'_>, instruction: &Instruction, value: usize) -> Result<Scan, Unsupported> {
    match instruction.operands.get(1) {
        Some(Operand::GroupOperation(GroupOperation::Reduce)) => Ok(Scan::Reduce),
        Some(Operand::GroupOperation(GroupOperation::InclusiveScan)) => Ok(Scan::Inclusive),
        Some(Operand::GroupOperation(GroupOperation::ExclusiveScan)) => Ok(Scan::Exclusive),
        Some(Operand::GroupOperation(GroupOperation::ClusteredReduce)) => {
            cluster(decoder, instruction, value + 1).map(Scan::Clustered)
        }
        Some(Operand::GroupOperation(GroupOperation::PartitionedReduceEXT)) => Ok(Scan::Partitioned(Within::All)),
        Some(Operand::GroupOperation(GroupOperation::PartitionedInclusiveScanEXT)) => {
            Ok(Scan::Partitioned(Within::UpToOwn))
        }
        Some(Operand::GroupOperation(GroupOperation::PartitionedExclusiveScanEXT)) => {
            Ok(Scan::Partitioned(Within::BelowOwn))
        }
        _ => Err(unsupported(format!("Op{:?} without a group operation", instruction.op))),
    }
}

fn arithmetic(decoder: &mut Decoder<'_>, instruction: &Instruction, op: Binary) -> Result<(), Unsupported> {
    scope(decoder, instruction)?;
    let scan = scan(decoder, instruction, 2)?;
    let Numbers { form, parts } = operand(decoder, instruction, 2)?;
    let rounding = decoder.floats.rounding(form);
    let operation = Operation { rounding, ..Operation::new(Sized::Binary(op), form, form) };
    let identity = identity(op, form).filter(|_| operation.exists());
    let identity = identity.ok_or_else(|| unsupported(format!("Op{:?} with this type", instruction.op)))?;
    let sets = partition_of(decoder, instruction, scan, 3)?;
    let mut results = Vec::with_capacity(parts.len());
    for from in parts {
        let to = decoder.parts(form);
        let op = Group::Combine(Combination { operation, identity }, scan);
        let from = flushed(decoder, form, from);
        let (to_list, from) = (scalars(&[to]).into(), [scalars(&[from]), sets.clone()].concat().into());
        decoder.push(Action::Group { op, to: to_list, from, index: None });
        results.push(flushed(decoder, form, to));
    }
    define(decoder, instruction, &results);
    Ok(())
}

/// The ballots of a partition; none where there is none.
fn partition_of(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    scan: Scan,
    at: usize,
) -> Result<Vec<Scalar>, Unsupported> {
    match scan {
        Scan::Partitioned(_) => match decoder.scalars(id(instruction, at)?)? {
            ballot if ballot.len() == 4 => Ok(ballot.to_vec()),
            _ => Err(unsupported("a ballot that is no vector of four numbers of 32 bits")),
        },
        Scan::Reduce | Scan::Inclusive | Scan::Exclusive | Scan::Clustered(_) => Ok(Vec::new()),
    }
}

/// Booleans as the numbers 0 and 1.
fn logical(decoder: &mut Decoder<'_>, instruction: &Instruction, op: Binary) -> Result<(), Unsupported> {
    scope(decoder, instruction)?;
    let scan = scan(decoder, instruction, 2)?;
    of_masks(decoder, instruction, op, (scan, 2))
}

/// A vote of the active invocations of a quad, which is a cluster of four.
fn quad_vote(decoder: &mut Decoder<'_>, instruction: &Instruction, op: Binary) -> Result<(), Unsupported> {
    works_together(decoder);
    of_masks(decoder, instruction, op, (Scan::Clustered(4), 0))
}

/// The Booleans of an operand, combined.
fn of_masks(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: Binary,
    (scan, at): (Scan, usize),
) -> Result<(), Unsupported> {
    let form = Form::Integer(Width::W8);
    let operation = Operation::new(Sized::Binary(op), form, form);
    let combination = Combination { operation, identity: u64::from(op == Binary::BitwiseAnd) };
    let sets = partition_of(decoder, instruction, scan, at + 1)?;
    let mut results = Vec::new();
    for from in decoder.masks(id(instruction, at)?)? {
        let to = Scalar::Mask(decoder.mask());
        let op = Group::Combine(combination, scan);
        let from = [vec![Scalar::Mask(from)], sets.clone()].concat();
        decoder.push(Action::Group { op, to: Arc::new([to]), from: from.into(), index: None });
        results.push(to);
    }
    decoder.define(instruction, Value::Scalars(results.into()));
    Ok(())
}

/// What changes nothing: the first result of an exclusive scan (SPIR-V, "Group Operation").
fn identity(op: Binary, form: Form) -> Option<u64> {
    let ones = u64::MAX >> (64 - form.width().bits());
    let integer = matches!(form, Form::Integer(_));
    Some(match op {
        Binary::IAdd | Binary::BitwiseOr | Binary::BitwiseXor | Binary::UMax if integer => 0,
        Binary::IMul if integer => 1,
        Binary::UMin | Binary::BitwiseAnd if integer => ones,
        Binary::SMin if integer => ones >> 1,
        Binary::SMax if integer => (ones >> 1) + 1,
        Binary::FAdd if !integer => form.of_float(0.0),
        Binary::FMul if !integer => form.of_float(1.0),
        Binary::NMin if !integer => form.of_float(f64::INFINITY),
        Binary::NMax if !integer => form.of_float(f64::NEG_INFINITY),
        _ => return None,
    })
}

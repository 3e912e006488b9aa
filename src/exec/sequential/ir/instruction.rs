//! Instructions of a program, each for all active lanes, and how a block ends.

use super::access::Access;
use super::atomic::AtomicOperation;
use super::cooperative_product::MatrixProduct;
use super::dot_product::DotProduct;
use super::image::ImageInstruction;
use super::lane_exchange::LaneExchange;
use super::memory_semantics::{BarrierFences, Fence};
use super::print_format::{FormatPiece, ValueKind};
use super::register::{NumberRegisters, Reg, Scalar};
use super::subgroup_operation::GroupOperation;
use std::sync::Arc;
use vkcert_spirv::operation::operator::{Binary, Classify, Compare, Ternary, Unary};
use vkcert_spirv::operation::sized::{NumberFormat, Operation, Relation};

/// A float comparison whose operands are kept for the comparison of engines.
#[derive(Debug, Clone)]
pub struct RecordedComparison {
    /// 0-based index of the condition in its decision.
    pub condition: u32,
    pub symbol: &'static str,
    pub left: Reg,
    pub right: Reg,
    pub names: [Arc<str>; 2],
}

/// A line that each invocation prints.
#[derive(Debug, Clone)]
pub struct PrintedLine {
    pub pieces: Arc<[FormatPiece]>,
    pub values: Arc<[PrintedValue]>,
}

/// A Boolean, a number, or a vector of one of them.
#[derive(Debug, Clone)]
pub enum PrintedValue {
    Booleans(Arc<[Reg]>),
    Numbers(ValueKind, Arc<[NumberRegisters]>),
}

/// An instruction of a block, executed for all active lanes.
#[derive(Debug, Clone)]
pub enum LaneInstruction {
    Copy {
        to: Reg,
        from: Reg,
    },
    CopyMask {
        to: Reg,
        from: Reg,
    },
    Unary {
        op: Unary,
        to: Reg,
        a: Reg,
    },
    Binary {
        op: Binary,
        to: Reg,
        a: Reg,
        b: Reg,
    },
    Ternary {
        op: Ternary,
        to: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    Compare {
        op: Compare,
        to: Reg,
        a: Reg,
        b: Reg,
    },
    Classify {
        op: Classify,
        to: Reg,
        a: Reg,
    },
    /// On numbers that are not all 32 bits wide.
    Sized {
        operation: Operation,
        to: NumberRegisters,
        /// As many as the operation has.
        from: Arc<[NumberRegisters]>,
    },
    /// Dot product of integers: the numbers of both vectors, then the accumulator.
    Dot {
        dot: DotProduct,
        to: NumberRegisters,
        from: Arc<[NumberRegisters]>,
    },
    Relate {
        relation: Relation,
        form: NumberFormat,
        to: Reg,
        /// As many as the relation has.
        from: Arc<[NumberRegisters]>,
    },
    /// Of two masks, by truth table: bit `2a + b` of `table` is the result.
    Logic {
        table: u8,
        to: Reg,
        a: Reg,
        b: Reg,
    },
    Not {
        to: Reg,
        a: Reg,
    },
    Select {
        to: Reg,
        condition: Reg,
        a: Reg,
        b: Reg,
    },
    SelectMask {
        to: Reg,
        condition: Reg,
        a: Reg,
        b: Reg,
    },
    /// `a * b + c` of matrices that the invocations of a subgroup hold together.
    Product(Arc<MatrixFactors>),
    /// All invocations of a subgroup must be active.
    Converged,
    /// Copies a value and makes the copy undefined where a condition holds.
    UndefinedWhere {
        to: Reg,
        value: Reg,
        condition: Reg,
        why: &'static str,
    },
    /// Where the condition is false, behaviour is undefined: a finding with this message.
    Assume {
        condition: Reg,
        otherwise: &'static str,
    },
    /// 1 where the mask is set, else 0.
    ToWord {
        to: Reg,
        a: Reg,
    },
    /// Set where the word is not 0.
    ToMask {
        to: Reg,
        a: Reg,
    },
    /// Component `index` of the vector `from`.
    ExtractDynamic {
        to: Reg,
        from: Arc<[Reg]>,
        index: Reg,
    },
    /// `to` becomes `value` where `index` equals `position`, else `old`.
    InsertDynamic {
        to: Reg,
        old: Reg,
        value: Reg,
        index: Reg,
        position: u32,
    },
    Load {
        access: Arc<Access>,
        to: Arc<[Scalar]>,
    },
    Store {
        access: Arc<Access>,
        from: Arc<[Scalar]>,
    },
    /// `a` is the value (absent for loads, increments), `b` the comparator.
    Atomic {
        op: AtomicOperation,
        form: NumberFormat,
        access: Arc<Access>,
        to: Option<NumberRegisters>,
        a: Option<NumberRegisters>,
        b: Option<NumberRegisters>,
    },
    Image(Arc<ImageInstruction>),
    /// Number of elements from `base` on; base and stride in bytes.
    ArrayLength {
        descriptor: u32,
        base: u32,
        stride: u32,
        to: Reg,
    },
    /// The lifetime of a variable begins: its content is undefined.
    Undefine {
        to: Reg,
    },
    UndefineMask {
        to: Reg,
    },
    /// Words of invocation memory become undefined.
    UndefineMemory {
        base: u32,
        words: u32,
    },
    LoopReset {
        counter: Reg,
    },
    LoopNext {
        counter: Reg,
    },
    /// A condition of a decision with several was evaluated; `slot` indexes the layout's decisions.
    Condition {
        slot: u32,
        sum: Reg,
        value: Reg,
        weights: [u32; 2],
    },
    /// A decision with several conditions ends.
    Decision {
        slot: u32,
        sum: Reg,
        compared: Arc<[RecordedComparison]>,
    },
    SingleCondition {
        slot: u32,
        value: Reg,
        weights: [u32; 2],
        compared: Arc<[RecordedComparison]>,
    },
    RecordBit {
        bit: u32,
    },
    /// By those of the active lanes for which the value holds.
    RecordBitWhere {
        bit: u32,
        value: Reg,
    },
    /// Of the active invocations of each subgroup; `from` is one number, Boolean or ballot.
    Group {
        op: GroupOperation,
        to: Arc<[Scalar]>,
        from: Arc<[Scalar]>,
        index: Option<Reg>,
    },
    /// Copies values from one invocation of a subgroup to another.
    Exchange {
        way: LaneExchange,
        to: Arc<[Scalar]>,
        from: Arc<[Scalar]>,
        index: Option<Reg>,
    },
    /// Debug printf.
    Print(Arc<PrintedLine>),
    /// Barrier of a subgroup. Its invocations run together, so only the order of accesses matters.
    SubgroupBarrier {
        fences: BarrierFences,
    },
    /// OpMemoryBarrier; only in programs whose order is [`OrderUse::Exact`].
    Fence {
        fence: Fence,
    },
}

/// The registers of a product of cooperative matrices: each invocation's elements.
#[derive(Debug, Clone)]
pub struct MatrixFactors {
    pub product: MatrixProduct,
    pub a: Vec<NumberRegisters>,
    pub b: Vec<NumberRegisters>,
    pub c: Vec<NumberRegisters>,
    pub to: Vec<NumberRegisters>,
}

/// An instruction with the SPIR-V instruction that it was made from.
#[derive(Debug, Clone)]
pub struct LocatedInstruction {
    pub instruction: LaneInstruction,
    /// Index into the module's instruction list.
    pub source_index: u32,
    /// Operands that some path can leave undefined, so that they must be checked at run time.
    pub operands_to_check: Box<[Scalar]>,
    /// Whether the specification can leave something about the operation undefined, for the
    /// operands it may have.
    pub may_be_undefined: bool,
}

#[derive(Debug, Clone)]
pub enum Terminator {
    Jump {
        to: u32,
    },
    Branch {
        condition: Reg,
        yes: u32,
        no: u32,
    },
    Switch {
        selector: Reg,
        cases: Arc<[(u32, u32)]>,
        default: u32,
    },
    /// Index into [`Program::barriers`].
    Barrier {
        barrier: u32,
        to: u32,
    },
    /// The invocation ends.
    End,
    /// OpUnreachable was reached.
    Unreachable,
}

impl LaneInstruction {
    /// Whether it is an OpMemoryBarrier whose semantics order anything.
    pub fn is_ordering_fence(&self) -> bool {
        matches!(self, LaneInstruction::Fence { fence } if fence.orders_anything())
    }
}

impl Terminator {
    /// The blocks that may follow.
    pub fn successors(&self) -> Vec<u32> {
        match self {
            Terminator::Jump { to } | Terminator::Barrier { to, barrier: _ } => vec![*to],
            Terminator::Branch { yes, no, condition: _ } => vec![*yes, *no],
            Terminator::Switch { cases, default, selector: _ } => {
                cases.iter().map(|(_, to)| *to).chain([*default]).collect()
            }
            Terminator::End | Terminator::Unreachable => Vec::new(),
        }
    }

    /// The register that decides which successor follows.
    pub fn deciding_register(&self) -> Option<Scalar> {
        match self {
            Terminator::Branch { condition, yes: _, no: _ } => Some(Scalar::Mask(*condition)),
            Terminator::Switch { selector, cases: _, default: _ } => Some(Scalar::Word(*selector)),
            Terminator::Jump { .. }
            | Terminator::Barrier { .. }
            | Terminator::End
            | Terminator::Unreachable => None,
        }
    }
}

//! The register program that the machine runs: blocks of actions over lanes.
//!
//! Knows: the form of a decoded kernel. Every value is a *register* that holds one scalar per lane; Booleans live in
//! registers of their own, one bit per lane. Functions are inlined (SPIR-V forbids recursion for shaders), composites
//! are lists of registers, so construction and extraction cost nothing.
//! Promises: blocks stand in an order in which a block comes before everything that it reaches without a back edge,
//! and a loop's blocks come before its merge block. Running the lowest block that has lanes therefore brings lanes
//! together again where the structured control flow of SPIR-V says so (SPIR-V specification, section 2.11).
//! Does not cover: how the program is made (`decode`) and run (`machine`).

pub mod atomic;
pub mod image;
pub mod lane_mask;
pub mod memory_semantics;

use crate::exec::sequential::decode::ops::cooperative_matrix::Product;
use crate::exec::sequential::decode::ops::debug_printf::{Kindred, Piece};
use crate::exec::sequential::decode::ops::dot_product::Dot;
use crate::exec::sequential::decode::ops::subgroup::{Group, Way};
use crate::exec::sequential::ir::atomic::Atomic;
use crate::exec::sequential::memory::aliasing::Exclusive;
use crate::exec::sequential::memory::vector_clocks::places::Places;
use crate::spirv::module::Id;
use crate::spirv::operation::sized::{Form, Operation, Relation};
use crate::spirv::operation::word::{Binary, Classify, Compare, Ternary, Unary};
use crate::spirv::precision::Freedom;
use image::ImageStep;
use memory_semantics::{Fence, Fences};
use std::sync::Arc;

/// Index of a register of 32-bit words or of a mask register; which of the two follows from where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u32);

/// A scalar value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    Word(Reg),
    /// A Boolean.
    Mask(Reg),
}

/// The registers of one number: one of up to 32 bits lies in the low end of a word whose other bits are 0; one of 64 bits
/// has another word for its high half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Parts {
    pub low: Reg,
    pub high: Option<Reg>,
}

impl Parts {
    pub fn registers(self) -> impl Iterator<Item = Reg> {
        std::iter::once(self.low).chain(self.high)
    }

    fn visit(&mut self, visit: &mut dyn FnMut(&mut Scalar, Use), using: Use) {
        word(visit, &mut self.low, using);
        self.high.iter_mut().for_each(|high| word(visit, high, using));
    }
}

impl From<Reg> for Parts {
    fn from(low: Reg) -> Self {
        Self { low, high: None }
    }
}

/// How an action uses a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Read as a computation's operand: an undefined value is a finding.
    Operand,
    /// Read and passed on: an undefined value travels.
    Travel,
    /// Read and written in place, by lane.
    Update,
    Write,
}

/// Where an access goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// Index into [`Program::descriptors`].
    Descriptor(u32),
    Workgroup,
    /// Private and function variables that need an address.
    Invocation,
    PushConstant,
    /// One of some descriptors that follow each other, by an index that lanes may have of their own.
    Descriptors {
        first: u32,
        length: u32,
        index: Reg,
    },
    /// Where a device address leads.
    Address(Parts),
    /// Where a variable pointer leads: the number of its [`Object`] from 1 on; 0 is null.
    Pointer {
        which: Reg,
        into: Pointed,
    },
    /// A whole buffer of the job, at the offset that the machine has for each lane; made of an address when it is followed.
    Buffer(u32),
}

/// The memory that a variable pointer leads into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pointed {
    Buffers,
    Workgroup,
}

impl Root {
    /// Whether others than the kernel's invocations see what is written.
    pub fn is_buffer(self) -> bool {
        match self {
            Root::Descriptor(_)
            | Root::Descriptors { .. }
            | Root::Address(_)
            | Root::Buffer(_)
            | Root::Pointer { which: _, into: Pointed::Buffers } => true,
            Root::Workgroup
            | Root::Invocation
            | Root::PushConstant
            | Root::Pointer { which: _, into: Pointed::Workgroup } => false,
        }
    }
}

/// What addresses are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Every scalar is a word at a multiple of four bytes.
    Word,
    /// Some scalar has one byte or two.
    Byte,
}

impl Unit {
    /// Units of so many words.
    pub fn of_words(self, words: u32) -> u32 {
        match self {
            Unit::Word => words,
            Unit::Byte => words.saturating_mul(4),
        }
    }

    pub fn bytes(self) -> u32 {
        match self {
            Unit::Word => 4,
            Unit::Byte => 1,
        }
    }
}

/// One dynamic index of an access chain.
#[derive(Debug, Clone, Copy)]
pub struct Dimension {
    pub index: Reg,
    /// From one element to the next: bytes while decoding, units of the access after that.
    pub stride: u32,
    pub bound: Bound,
    pub signed: bool,
}

/// How many elements a dimension has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Fixed(u32),
    /// A runtime array: what the bound range holds.
    Runtime,
}

/// A memory access: address `base + sum(index * stride)`, and the scalars at `components` from there.
#[derive(Debug, Clone)]
pub struct Access {
    pub root: Root,
    pub unit: Unit,
    /// Units.
    pub base: u32,
    pub dimensions: Arc<[Dimension]>,
    /// Offset of each scalar, in units.
    pub components: Arc<[u32]>,
    /// Bytes of each scalar (1, 2 or 4); empty where all are words.
    pub sizes: Arc<[u32]>,
    /// Of workgroup memory, the only words that it may go to: the first, and how many. A variable pointer has them.
    pub window: Option<[u32; 2]>,
    pub alignment: Alignment,
    /// For messages: the variable's name.
    pub name: Arc<str>,
}

/// Of an access through a device address, what must be a multiple of so many bytes; 1 where nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    /// The address that is accessed (SPIR-V, memory operand Aligned; of an atomic its width).
    pub access: u32,
    /// The address that the block begins at (GLSL, `buffer_reference_align`).
    pub block: u32,
}

impl Alignment {
    pub const NONE: Alignment = Alignment { access: 1, block: 1 };
}

/// What a variable pointer may point into: a buffer, or a variable of workgroup memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    pub root: Root,
    pub window: Option<[u32; 2]>,
    pub name: Arc<str>,
}

/// A float comparison whose operands are kept for the comparison of engines.
#[derive(Debug, Clone)]
pub struct Compared {
    /// 0-based index of the condition in its decision.
    pub condition: u32,
    pub symbol: &'static str,
    pub left: Reg,
    pub right: Reg,
    pub names: [Arc<str>; 2],
}

/// A line that each invocation prints.
#[derive(Debug, Clone)]
pub struct Print {
    pub pieces: Arc<[Piece]>,
    pub values: Arc<[Printable]>,
}

/// A Boolean, a number, or a vector of one of them.
#[derive(Debug, Clone)]
pub enum Printable {
    Booleans(Arc<[Reg]>),
    Numbers(Kindred, Arc<[Parts]>),
}

/// One step of a block, for all active lanes.
#[derive(Debug, Clone)]
pub enum Action {
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
        to: Parts,
        /// As many as the operation has.
        from: Arc<[Parts]>,
    },
    /// Dot product of integers: the numbers of both vectors, then the accumulator.
    Dot {
        dot: Dot,
        to: Parts,
        from: Arc<[Parts]>,
    },
    Relate {
        relation: Relation,
        form: Form,
        to: Reg,
        /// As many as the relation has.
        from: Arc<[Parts]>,
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
    Product(Arc<Factors>),
    /// All invocations of a subgroup must be here.
    Converged,
    /// Passes a value on that is undefined where a condition holds.
    Doubt {
        to: Reg,
        value: Reg,
        condition: Reg,
        why: &'static str,
    },
    /// Where it is not so, behaviour is undefined, which is a finding with this message.
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
    Pick {
        to: Reg,
        from: Arc<[Reg]>,
        index: Reg,
    },
    /// `to` becomes `value` where `index` equals `position`, else `old`.
    Put {
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
        op: Atomic,
        form: Form,
        access: Arc<Access>,
        to: Option<Parts>,
        a: Option<Parts>,
        b: Option<Parts>,
    },
    Image(Arc<ImageStep>),
    /// Elements behind `base`; both in bytes.
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
        compared: Arc<[Compared]>,
    },
    Single {
        slot: u32,
        value: Reg,
        weights: [u32; 2],
        compared: Arc<[Compared]>,
    },
    Mark {
        bit: u32,
    },
    /// Of the active invocations of each subgroup; `from` is one number, Boolean or ballot.
    Group {
        op: Group,
        to: Arc<[Scalar]>,
        from: Arc<[Scalar]>,
        index: Option<Reg>,
    },
    /// Values from one invocation of a subgroup to another.
    Exchange {
        way: Way,
        to: Arc<[Scalar]>,
        from: Arc<[Scalar]>,
        index: Option<Reg>,
    },
    /// Debug printf.
    Print(Arc<Print>),
    /// Invocations of a subgroup wait for each other; they run together, so that only the order of accesses matters.
    SubgroupBarrier {
        fences: Fences,
    },
    /// OpMemoryBarrier; only in programs whose order is [`OrderUse::Exact`].
    Fence {
        fence: Fence,
    },
}

/// The registers of a product of cooperative matrices: each invocation's elements.
#[derive(Debug, Clone)]
pub struct Factors {
    pub product: Product,
    pub a: Vec<Parts>,
    pub b: Vec<Parts>,
    pub c: Vec<Parts>,
    pub to: Vec<Parts>,
}

/// An action with its place and the operands whose definedness must be looked at.
#[derive(Debug, Clone)]
pub struct Step {
    pub action: Action,
    /// Index into the module's instruction list.
    pub place: u32,
    pub suspects: Box<[Scalar]>,
    /// Whether the specification can leave something about the operation undefined, for the operands it may have.
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

#[derive(Debug, Clone)]
pub struct Block {
    pub steps: Vec<Step>,
    pub terminator: Terminator,
    pub place: u32,
    pub suspects: Box<[Scalar]>,
    /// The SPIR-V label it was made from, and which inlined copy of its function; for the printed form.
    pub label: Id,
}

/// A barrier in one inlined copy.
#[derive(Debug, Clone)]
pub struct Barrier {
    pub place: u32,
    pub fences: Fences,
    /// Iteration counters of the loops around it, outermost first.
    pub counters: Arc<[Reg]>,
}

/// What the memory behind a descriptor counts as where barriers order memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Buffer,
    /// An image or texel buffer; a sampler has no memory.
    Image,
}

/// A buffer, image or sampler variable of the kernel, or one element of an array of such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    pub set: u32,
    pub binding: u32,
    pub array_index: u32,
    pub name: String,
    pub kept: Kept,
    /// Whether any instruction writes through it.
    pub written: bool,
    pub atomics: bool,
    /// Whether its variable says that there is no other way to its memory.
    pub exclusive: Exclusive,
    /// Whether it may be left unbound: one of an array whose index is not known.
    pub may_be_unbound: bool,
}

/// A register that the dispatch fills before anything runs, the same for every lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Uniform {
    Constant(u32),
    /// Word of the push constants.
    PushConstant(u32),
    WorkgroupId(u8),
    NumWorkgroups(u8),
    SubgroupSize,
    NumSubgroups,
}

/// A register that differs by lane and is filled when a workgroup starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PerLane {
    LocalId(u8),
    GlobalId(u8),
    LocalIndex,
    /// Number of the subgroup in its workgroup, and of the invocation in its subgroup.
    SubgroupId,
    SubgroupInvocation,
    /// Word of a ballot.
    SubgroupMask(SubgroupMask, u8),
}

/// Which invocations of a subgroup a built-in mask has, by how they stand to the invocation that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SubgroupMask {
    Equal,
    AtLeast,
    Above,
    AtMost,
    Below,
}

/// How the invocations of a subgroup work together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SubgroupUse {
    #[default]
    None,
    Operations,
    /// Barriers of subgroups, and maybe operations.
    Barriers,
}

/// A variable of the kernel, for the printed form and for initial values.
#[derive(Debug, Clone)]
pub struct Expanded {
    pub name: String,
    pub scalars: u32,
}

/// A decoded kernel.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub blocks: Vec<Block>,
    pub barriers: Vec<Barrier>,
    pub descriptors: Vec<Descriptor>,
    /// What variable pointers point into.
    pub objects: Vec<Object>,
    pub local_size: [u32; 3],
    /// Word registers `0 .. shared_words` need not survive a block (or are uniform); the rest belongs to a tile.
    pub words: u32,
    pub shared_words: u32,
    pub masks: u32,
    pub shared_masks: u32,
    pub uniforms: Vec<(Uniform, Reg)>,
    pub uniform_masks: Vec<(bool, Reg)>,
    pub per_lane: Vec<(PerLane, Reg)>,
    /// Word registers that are undefined when an invocation starts.
    pub undefined_words: Vec<Reg>,
    pub undefined_masks: Vec<Reg>,
    /// Words of workgroup memory, and of memory per invocation.
    pub workgroup_words: u32,
    pub invocation_words: u32,
    pub workgroup_variables: Vec<Expanded>,
    pub expanded: Vec<Expanded>,
    /// Sum registers: zero when an invocation starts.
    pub zeroed: Vec<Reg>,
    /// What the module leaves to an implementation; read for a variation alone.
    pub freedom: Freedom,
    /// Words of workgroup memory that are zero when a workgroup starts.
    pub workgroup_zeroed: Vec<std::ops::Range<u32>>,
    /// What is done through device addresses.
    pub addresses: Addressing,
    /// Bytes of the smallest number in memory that is accessed by itself, at most 4.
    pub granule: u32,
    pub subgroups: SubgroupUse,
    pub order: OrderUse,
    pub waits: Waits,
}

/// What orders the accesses of a program.
#[derive(Debug, Clone, Default)]
pub enum OrderUse {
    /// Barriers of workgroups alone: what lies between two of them is one interval.
    #[default]
    Intervals,
    /// Fences, flags and barriers of subgroups as well, or atomics that are not atomic for each other.
    Exact(Arc<Places>),
}

/// Whether an invocation may wait for what another one writes: it reads in a loop what others write meanwhile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waits {
    #[default]
    Never,
    /// By plain reads, which no order makes right: others of its workgroup go on.
    Plainly,
    /// By atomic, coherent or volatile reads: other workgroups go on, too.
    Possibly,
}

/// What a program does through device addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Addressing {
    #[default]
    Reads,
    Writes,
    Atomics,
}

impl Action {
    /// Calls `visit` for every register field, reads before writes.
    pub fn registers(&mut self, visit: &mut dyn FnMut(&mut Scalar, Use)) {
        use Use::{Operand, Travel, Update, Write};
        let v = visit;
        match self {
            Action::Copy { to, from } => {
                word(v, from, Travel);
                word(v, to, Write);
            }
            Action::CopyMask { to, from } => {
                mask(v, from, Travel);
                mask(v, to, Write);
            }
            Action::Unary { to, a, op: _ } => {
                word(v, a, Operand);
                word(v, to, Write);
            }
            Action::Binary { to, a, b, op: _ } => {
                word(v, a, Operand);
                word(v, b, Operand);
                word(v, to, Write);
            }
            Action::Ternary { to, a, b, c, op: _ } => {
                [a, b, c].into_iter().for_each(|reg| word(v, reg, Operand));
                word(v, to, Write);
            }
            Action::Compare { op: _, to, a, b } => {
                word(v, a, Operand);
                word(v, b, Operand);
                mask(v, to, Write);
            }
            Action::Classify { op: _, to, a } | Action::ToMask { to, a } => {
                word(v, a, Operand);
                mask(v, to, Write);
            }
            Action::Sized { operation: _, to, from } | Action::Dot { dot: _, to, from } => {
                *from = parts(from, v);
                to.visit(v, Write);
            }
            Action::Relate { relation: _, form: _, to, from } => {
                *from = parts(from, v);
                mask(v, to, Write);
            }
            Action::Logic { table: _, to, a, b } => {
                mask(v, a, Operand);
                mask(v, b, Operand);
                mask(v, to, Write);
            }
            Action::Not { to, a } => {
                mask(v, a, Operand);
                mask(v, to, Write);
            }
            Action::Select { to, condition, a, b } => {
                mask(v, condition, Operand);
                word(v, a, Travel);
                word(v, b, Travel);
                word(v, to, Write);
            }
            Action::SelectMask { to, condition, a, b } => {
                mask(v, condition, Operand);
                mask(v, a, Travel);
                mask(v, b, Travel);
                mask(v, to, Write);
            }
            Action::Product(factors) => {
                let factors = Arc::make_mut(factors);
                let read = factors.a.iter_mut().chain(&mut factors.b).chain(&mut factors.c);
                read.for_each(|parts| parts.visit(v, Operand));
                factors.to.iter_mut().for_each(|parts| parts.visit(v, Write));
            }
            Action::Converged => {}
            Action::Doubt { to, value, condition, why: _ } => {
                mask(v, condition, Operand);
                word(v, value, Travel);
                word(v, to, Write);
            }
            Action::Assume { condition, otherwise: _ } => mask(v, condition, Operand),
            Action::ToWord { to, a } => {
                mask(v, a, Operand);
                word(v, to, Write);
            }
            Action::Pick { to, from, index } => {
                word(v, index, Operand);
                let mut registers = from.to_vec();
                registers.iter_mut().for_each(|reg| word(v, reg, Travel));
                *from = registers.into();
                word(v, to, Write);
            }
            Action::Put { to, old, value, index, position: _ } => {
                word(v, index, Operand);
                word(v, old, Travel);
                word(v, value, Travel);
                word(v, to, Write);
            }
            Action::ArrayLength { to, descriptor: _, base: _, stride: _ }
            | Action::Undefine { to }
            | Action::LoopReset { counter: to } => word(v, to, Write),
            Action::UndefineMask { to } => mask(v, to, Write),
            Action::LoopNext { counter } => word(v, counter, Update),
            Action::UndefineMemory { base: _, words: _ }
            | Action::Mark { bit: _ }
            | Action::SubgroupBarrier { fences: _ }
            | Action::Fence { fence: _ } => {}
            Action::Group { op: _, to, from, index } => {
                *from = scalars(from, Operand, v);
                index.iter_mut().for_each(|index| word(v, index, Operand));
                *to = scalars(to, Write, v);
            }
            Action::Exchange { way: _, to, from, index } => {
                *from = scalars(from, Travel, v);
                index.iter_mut().for_each(|index| word(v, index, Operand));
                *to = scalars(to, Write, v);
            }
            Action::Atomic { op: _, form: _, access, to, a, b } => {
                *access = Arc::new(access.with_registers(v));
                a.iter_mut().chain(b.iter_mut()).for_each(|parts| parts.visit(v, Operand));
                to.iter_mut().for_each(|parts| parts.visit(v, Write));
            }
            Action::Print(print) => {
                let mut new = Print::clone(print);
                let value = |value: &Printable| match value {
                    Printable::Booleans(masks) => {
                        let mut masks = masks.to_vec();
                        masks.iter_mut().for_each(|reg| mask(v, reg, Operand));
                        Printable::Booleans(masks.into())
                    }
                    Printable::Numbers(kindred, numbers) => Printable::Numbers(*kindred, parts(numbers, v)),
                };
                new.values = new.values.iter().map(value).collect();
                *print = Arc::new(new);
            }
            Action::Image(step) => *step = Arc::new(step.with_registers(v)),
            Action::Load { access, to } => {
                *access = Arc::new(access.with_registers(v));
                *to = scalars(to, Write, v);
            }
            Action::Store { access, from } => {
                *access = Arc::new(access.with_registers(v));
                let using = if access.root.is_buffer() { Operand } else { Travel };
                *from = scalars(from, using, v);
            }
            Action::Condition { slot: _, sum, value, weights: _ } => {
                mask(v, value, Travel);
                word(v, sum, Update);
            }
            Action::Decision { slot: _, sum, compared } => {
                *compared = compared.iter().map(|one| one.with_registers(v)).collect();
                word(v, sum, Update);
            }
            Action::Single { slot: _, value, weights: _, compared } => {
                *compared = compared.iter().map(|one| one.with_registers(v)).collect();
                mask(v, value, Travel);
            }
        }
    }
}

fn word(visit: &mut dyn FnMut(&mut Scalar, Use), reg: &mut Reg, using: Use) {
    let mut scalar = Scalar::Word(*reg);
    visit(&mut scalar, using);
    let (Scalar::Word(new) | Scalar::Mask(new)) = scalar;
    *reg = new;
}

fn mask(visit: &mut dyn FnMut(&mut Scalar, Use), reg: &mut Reg, using: Use) {
    let mut scalar = Scalar::Mask(*reg);
    visit(&mut scalar, using);
    let (Scalar::Word(new) | Scalar::Mask(new)) = scalar;
    *reg = new;
}

fn parts(list: &[Parts], visit: &mut dyn FnMut(&mut Scalar, Use)) -> Arc<[Parts]> {
    let mut list = list.to_vec();
    list.iter_mut().for_each(|parts| parts.visit(visit, Use::Operand));
    list.into()
}

fn scalars(list: &[Scalar], using: Use, visit: &mut dyn FnMut(&mut Scalar, Use)) -> Arc<[Scalar]> {
    let mut list = list.to_vec();
    list.iter_mut().for_each(|scalar| visit(scalar, using));
    list.into()
}

impl Access {
    /// Units from the first scalar's start to the last one's end.
    pub fn span(&self) -> u32 {
        let sizes = self.sizes.iter().copied().chain(std::iter::repeat(1));
        self.components.iter().zip(sizes).map(|(offset, size)| offset + size).max().unwrap_or(0)
    }

    fn with_registers(&self, visit: &mut dyn FnMut(&mut Scalar, Use)) -> Access {
        let mut dimensions = self.dimensions.to_vec();
        dimensions.iter_mut().for_each(|dimension| word(visit, &mut dimension.index, Use::Operand));
        let mut root = self.root;
        match &mut root {
            Root::Descriptors { first: _, length: _, index } | Root::Pointer { which: index, into: _ } => {
                word(visit, index, Use::Operand)
            }
            Root::Address(parts) => parts.visit(visit, Use::Operand),
            Root::Descriptor(_) | Root::Workgroup | Root::Invocation | Root::PushConstant | Root::Buffer(_) => {}
        }
        Access { root, dimensions: dimensions.into(), ..self.clone() }
    }
}

impl Compared {
    fn with_registers(&self, visit: &mut dyn FnMut(&mut Scalar, Use)) -> Compared {
        let mut new = self.clone();
        word(visit, &mut new.left, Use::Travel);
        word(visit, &mut new.right, Use::Travel);
        new
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

    /// The register that decides where to go.
    pub fn decider(&mut self) -> Option<Scalar> {
        match self {
            Terminator::Branch { condition, yes: _, no: _ } => Some(Scalar::Mask(*condition)),
            Terminator::Switch { selector, cases: _, default: _ } => Some(Scalar::Word(*selector)),
            Terminator::Jump { .. } | Terminator::Barrier { .. } | Terminator::End | Terminator::Unreachable => None,
        }
    }
}

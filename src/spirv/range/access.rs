//! Whether accesses are within what they access.
//!
//! Knows: the accesses that a walk recorded, each with the facts of its place.
//! Promises: an access is within only if each index is proved to be at least 0 and below the number
//! of elements, and the last byte to be within what the host binds, in every call of its function.
//! What is not modelled is open with its name.
//! Does not cover: alignment.

use super::Walk;
use super::atom::Origin;
use super::deciders::Deciders;
use super::fact::FactList;
use super::polynomial::Polynomial;
use super::proof::{Effort, is_at_least_zero};
use super::state::{State, WordType};
use super::value::{IndexStep, Pointer, Root, StepLength};
use crate::module::Id;
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, StorageClass};
use std::rc::Rc;

/// Greatest index that is the same number signed and unsigned in 32 bits.
const GREATEST_INDEX: i128 = i32::MAX as i128;

/// How an access place uses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes in one.
    Atomic,
}

/// What is known of an access place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessOutcome {
    /// It is within what it accesses, whenever it is executed.
    Within,
    /// No invocation comes to it.
    Unreached,
    /// Not decided: why.
    Open {
        /// In words.
        reason: String,
        /// Whether it depends on nothing but host values and ids of invocations, so that a run
        /// with any contents shows it.
        is_of_host_and_ids: bool,
    },
}

/// An access of a recorded execution.
#[derive(Debug, Clone)]
pub(super) struct RecordedAccess {
    pub instruction: usize,
    pub kind: AccessKind,
    pub target: AccessTarget,
    pub facts: FactList,
    pub deciders: Deciders,
}

#[derive(Debug, Clone)]
pub(super) enum AccessTarget {
    /// Through a pointer.
    Pointed(Rc<Pointer>),
    /// Texels: coordinates against the components of a size.
    Texel { words: String, pairs: Vec<TexelBound> },
    /// Not modelled: the object and why.
    Unmodelled { words: String, reason: String },
}

/// A coordinate and the size that it must stay below.
#[derive(Debug, Clone)]
pub(super) struct TexelBound {
    pub index: Rc<Polynomial>,
    pub word: WordType,
    pub size: Polynomial,
}

impl Walk<'_> {
    /// Records an access through a pointer, if it can leave what it accesses.
    pub(super) fn record_pointed(
        &mut self,
        state: &State,
        instruction: usize,
        kind: AccessKind,
        pointer: &Rc<Pointer>,
    ) {
        let is_judged = match &pointer.root {
            Root::Own(_) => !pointer.steps.is_empty(),
            Root::Module(variable) => match self.variable_storage(*variable) {
                Some(StorageClass::StorageBuffer | StorageClass::Uniform) => true,
                Some(StorageClass::Workgroup | StorageClass::PushConstant) => {
                    !pointer.steps.is_empty()
                }
                Some(StorageClass::Input) => {
                    pointer.steps.iter().any(|step| step.index.number().is_none())
                }
                Some(StorageClass::UniformConstant) => pointer.is_of_descriptor_array,
                Some(_) | None => false,
            },
            Root::Texel => false,
            Root::Unknown(_) => true,
        };
        if is_judged {
            let target = AccessTarget::Pointed(pointer.clone());
            self.record(state, instruction, kind, target);
        }
    }

    pub(super) fn record(
        &mut self,
        state: &State,
        instruction: usize,
        kind: AccessKind,
        target: AccessTarget,
    ) {
        let (facts, deciders) = (state.facts.clone(), state.deciders.clone());
        self.accesses.push(RecordedAccess { instruction, kind, target, facts, deciders });
        if self.accesses.len() > super::MOST_RECORDED {
            self.stop("the kernel has more accesses in its calls than the analysis follows");
        }
    }

    /// Name of what an access uses.
    pub(super) fn target_words(&self, target: &AccessTarget) -> String {
        match target {
            AccessTarget::Pointed(pointer) => match &pointer.root {
                Root::Module(variable) => self.object_name(*variable, pointer),
                Root::Own(_) | Root::Texel | Root::Unknown(_) if pointer.words.is_empty() => {
                    "memory behind a pointer".to_owned()
                }
                Root::Own(_) | Root::Texel | Root::Unknown(_) => pointer.words.clone(),
            },
            AccessTarget::Texel { words, .. } | AccessTarget::Unmodelled { words, .. } => {
                words.clone()
            }
        }
    }

    /// Decides a recorded access.
    pub(super) fn judge(&mut self, access: &RecordedAccess) -> AccessOutcome {
        let result = match &access.target {
            AccessTarget::Pointed(pointer) => self.judge_pointer(&access.facts, pointer),
            AccessTarget::Texel { pairs, .. } => self.judge_texel(&access.facts, pairs),
            AccessTarget::Unmodelled { reason, .. } => Err(OpenAccess::not_followed(reason)),
        };
        match result {
            Ok(()) => AccessOutcome::Within,
            Err(open) => {
                let is_of_host_and_ids =
                    open.is_followed && self.is_shown_by_any_run(access, &open.numbers);
                AccessOutcome::Open { reason: self.reason_of(&open), is_of_host_and_ids }
            }
        }
    }

    /// Whether an access is of host values and ids alone, whether or not it stays within.
    pub(super) fn is_of_host_and_ids(&self, access: &RecordedAccess) -> bool {
        let numbers: Vec<Polynomial> = match &access.target {
            AccessTarget::Pointed(pointer) => {
                if matches!(pointer.root, Root::Unknown(_)) || pointer.is_of_descriptor_array {
                    return false;
                }
                pointer.steps.iter().map(|step| (*step.index).clone()).collect()
            }
            AccessTarget::Texel { pairs, .. } => {
                pairs.iter().map(|pair| (*pair.index).clone()).collect()
            }
            AccessTarget::Unmodelled { .. } => return false,
        };
        self.is_shown_by_any_run(access, &numbers)
    }

    fn judge_texel(&mut self, facts: &FactList, pairs: &[TexelBound]) -> Result<(), OpenAccess> {
        for pair in pairs {
            let greatest = pair.size.plus_number(-1);
            self.number_below(facts, &pair.index, pair.word, &greatest)?;
        }
        Ok(())
    }

    fn judge_pointer(&mut self, facts: &FactList, pointer: &Pointer) -> Result<(), OpenAccess> {
        if let Root::Unknown(reason) = &pointer.root {
            return Err(OpenAccess::not_followed(reason));
        }
        if pointer.is_of_descriptor_array {
            return Err(OpenAccess::not_followed("arrays of descriptors are not followed"));
        }
        let mut numbers = Vec::new();
        for step in &pointer.steps {
            numbers.push(self.step_number(facts, step)?);
        }
        let Root::Module(variable) = pointer.root else { return Ok(()) };
        match self.variable_storage(variable) {
            Some(StorageClass::StorageBuffer | StorageClass::Uniform) => {
                self.judge_bytes(facts, variable, pointer, &numbers)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The number that an index is, if it is below the number of elements.
    fn step_number(
        &mut self,
        facts: &FactList,
        step: &IndexStep,
    ) -> Result<Polynomial, OpenAccess> {
        let greatest = match &step.length {
            StepLength::Fixed(length) => (i128::from(*length) - 1).min(GREATEST_INDEX),
            StepLength::Bound => GREATEST_INDEX,
            StepLength::Unknown(reason) => return Err(OpenAccess::not_followed(reason)),
        };
        let word = WordType { width: step.width, is_signed: step.is_signed };
        self.number_below(facts, &step.index, word, &Polynomial::constant(greatest))
    }

    /// The number that a word is, if it is from 0 to `greatest` and the word is that number also
    /// when it is read with sign, as indices are (SPIR-V specification, OpAccessChain).
    fn number_below(
        &mut self,
        facts: &FactList,
        index: &Rc<Polynomial>,
        word: WordType,
        greatest: &Polynomial,
    ) -> Result<Polynomial, OpenAccess> {
        if let Some(cause) = self.atoms.undefined_cause(index) {
            let claim = format!("it may be an undefined value, because {}", undefined_words(cause));
            return Err(OpenAccess { claim, numbers: vec![(**index).clone()], is_followed: true });
        }
        if self.is_index(facts, index, word, greatest) {
            return Ok((**index).clone());
        }
        let reading = self.reading_of(facts, index, word);
        if reading != **index && self.is_index(facts, &reading, word, greatest) {
            return Ok(reading);
        }
        let is_natural = self.proves(facts, &reading);
        let of_word = Polynomial::constant(word.greatest_index());
        let exceeded = match self.atoms.interval_of(greatest).high > word.greatest_index() {
            true => &of_word,
            false => greatest,
        };
        let claim = match is_natural {
            true => format!("it may exceed {}", self.words_of(exceeded)),
            false => "it may be below 0".to_owned(),
        };
        Err(OpenAccess { claim, numbers: vec![reading, greatest.clone()], is_followed: true })
    }

    fn is_index(
        &mut self,
        facts: &FactList,
        number: &Polynomial,
        word: WordType,
        greatest: &Polynomial,
    ) -> bool {
        let of_word = Polynomial::constant(word.greatest_index());
        self.proves(facts, number)
            && self.is_at_most(facts, number, greatest)
            && self.is_at_most(facts, number, &of_word)
    }

    fn is_at_most(&mut self, facts: &FactList, number: &Polynomial, limit: &Polynomial) -> bool {
        limit.minus(number).is_some_and(|room| self.proves(facts, &room))
    }

    fn proves(&mut self, facts: &FactList, goal: &Polynomial) -> bool {
        if self.proof_work > super::MOST_PROOF_WORK {
            return self.atoms.interval_of(goal).low >= 0;
        }
        is_at_least_zero(&self.atoms, facts, goal, Effort::Full, &mut self.proof_work)
    }

    /// The last byte against what the host binds.
    fn judge_bytes(
        &mut self,
        facts: &FactList,
        variable: Id,
        pointer: &Pointer,
        numbers: &[Polynomial],
    ) -> Result<(), OpenAccess> {
        let place = (
            self.decorated_number(variable, Decoration::DescriptorSet),
            self.decorated_number(variable, Decoration::Binding),
        );
        let size = match place {
            (Some(set), Some(binding)) => self.host.buffer_sizes.get(&(set, binding)).cloned(),
            (_, _) => None,
        };
        let Some(size) = size else {
            return Err(OpenAccess::not_followed("the interface does not state its size"));
        };
        let end = self.end_of_bytes(pointer, numbers);
        let Some(room) = end.and_then(|end| size.minus(&end)) else {
            return Err(OpenAccess::not_followed("where its bytes end is not followed"));
        };
        if self.proves(facts, &room) {
            return Ok(());
        }
        let claim = format!("it may end behind the {} bytes of the buffer", self.words_of(&size));
        Err(OpenAccess { claim, numbers: vec![room], is_followed: true })
    }

    /// The byte behind the last one of an access.
    fn end_of_bytes(&self, pointer: &Pointer, numbers: &[Polynomial]) -> Option<Polynomial> {
        let offset = i128::from(pointer.offset?);
        let mut end = Polynomial::constant(offset);
        // The columns and components of a matrix lie by its own layout: all of it is taken.
        let laid_out = pointer.steps.iter().take_while(|step| step.stride.is_some()).count();
        for (step, number) in pointer.steps[..laid_out].iter().zip(numbers) {
            end = end.plus(&number.scaled(i128::from(step.stride?))?)?;
        }
        let last_type = match laid_out < pointer.steps.len() {
            true => pointer.matrix?,
            false => pointer.pointee,
        };
        let layout = pointer.matrix_layout;
        let bytes = self.types.byte_extent(last_type, layout, &self.constants).ok()?;
        Some(end.plus_number(i128::from(bytes)))
    }

    pub(super) fn decorated_number(&self, id: Id, decoration: Decoration) -> Option<u32> {
        match self.module.decoration(id, decoration)?.operands.first()? {
            Operand::LiteralBit32(number) => Some(*number),
            _ => None,
        }
    }

    /// Why an access is open.
    fn reason_of(&self, open: &OpenAccess) -> String {
        let origins = open.numbers.iter().flat_map(|number| self.atoms.origins(number));
        let mut causes: Vec<String> = origins.filter_map(cause_words).collect();
        causes.sort();
        causes.dedup();
        match causes.is_empty() {
            true => open.claim.clone(),
            false => format!("{}; it depends on {}", open.claim, causes.join(", ")),
        }
    }
}

/// Why a value may be undefined.
fn undefined_words(cause: &Origin) -> String {
    match cause {
        Origin::Undefined(name) => format!("{name} is not shown to be defined"),
        Origin::Memory(_)
        | Origin::FloatingPoint
        | Origin::Instruction(_)
        | Origin::Variable
        | Origin::Element
        | Origin::Host(_)
        | Origin::BuiltIn(_)
        | Origin::Loop
        | Origin::Wrapped
        | Origin::Joined
        | Origin::Known => "a variable of the invocation is not shown to be set".to_owned(),
    }
}

/// Where a number comes from that keeps it from being bounded.
fn cause_words(origin: &Origin) -> Option<String> {
    match origin {
        Origin::Memory(name) => Some(format!("a value read from {name}")),
        Origin::FloatingPoint => Some("a floating-point number".to_owned()),
        Origin::Instruction(name) => Some(format!("{name}, which is not modelled")),
        Origin::Element => Some("an element of an array of the invocation".to_owned()),
        Origin::Host(what) => Some(format!("{what}, which is not stated")),
        Origin::BuiltIn(name) => Some(name.clone()),
        Origin::Loop => Some("a variable that a loop changes".to_owned()),
        Origin::Wrapped => Some("arithmetic that may wrap around".to_owned()),
        // A claim of its own names it.
        Origin::Undefined(_) | Origin::Variable => None,
        Origin::Joined | Origin::Known => None,
    }
}

/// What could not be proved.
struct OpenAccess {
    claim: String,
    /// Numbers that it is about.
    numbers: Vec<Polynomial>,
    /// Whether all of it is modelled.
    is_followed: bool,
}

impl OpenAccess {
    fn not_followed(reason: &str) -> Self {
        Self { claim: reason.to_owned(), numbers: Vec::new(), is_followed: false }
    }
}

/// How an instruction uses memory through its pointer or image; none: it does not.
pub(super) fn access_kind(op: Op) -> Option<AccessKind> {
    match op {
        Op::Load
        | Op::ImageRead
        | Op::ImageFetch
        | Op::ImageSparseRead
        | Op::ImageSparseFetch
        | Op::CooperativeMatrixLoadKHR => Some(AccessKind::Read),
        Op::Store | Op::ImageWrite | Op::CooperativeMatrixStoreKHR => Some(AccessKind::Write),
        Op::ImageTexelPointer => Some(AccessKind::Atomic),
        Op::AtomicLoad => Some(AccessKind::Read),
        Op::AtomicStore => Some(AccessKind::Write),
        op if crate::module::is_atomic(op) => Some(AccessKind::Atomic),
        _ => None,
    }
}

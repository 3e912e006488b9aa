//! Facts of accesses for the memory model: scopes, semantics, coherence, availability and
//! visibility.

use super::memory_semantics::{Fence, Scope};

/// Whether an access takes part in what orders invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Privacy {
    #[default]
    NonPrivate,
    Private,
}

/// What the memory model asks of an access beside its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccessFacts {
    pub privacy: Privacy,
    /// Whether the variable or member is declared coherent or volatile.
    pub coherent: bool,
    /// Scope of the availability operation that the access itself performs, and of its visibility
    /// operation.
    pub available: Option<Scope>,
    pub visible: Option<Scope>,
    /// Of an atomic.
    pub atomic: Option<Atomicity>,
}

/// Scope, semantics and width of an atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomicity {
    pub fence: Fence,
    pub bytes: u32,
}

/// Which memory model a module declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeclaredModel {
    /// GLSL450: release fences make available and acquire fences make visible by themselves.
    #[default]
    Implicit,
    /// The Vulkan memory model: each access and each fence states its availability and visibility
    /// operations.
    Vulkan,
}

/// Facts by index into the module's instruction list.
#[derive(Debug, Clone, Default)]
pub struct FactsByInstruction {
    pub declared: DeclaredModel,
    /// Whether every fence and atomic has the scope of the whole device.
    pub all_reach_device: bool,
    /// Whether all atomics have one width and the scope of the whole device, so that any two of
    /// them are atomic for each other.
    pub atomics_uniform: bool,
    /// Row of `distinct_facts` of each instruction; instructions behind the last entry have row 0.
    row_by_instruction: Vec<u16>,
    /// All facts that occur, each once; row 0 holds the default facts of instructions without an
    /// access.
    distinct_facts: Vec<AccessFacts>,
}

impl FactsByInstruction {
    /// Facts by place, in ascending order; those of all others are the default.
    pub(crate) fn from_facts(
        declared: DeclaredModel,
        facts: impl Iterator<Item = (u32, AccessFacts)>,
    ) -> Self {
        let (mut row_by_instruction, mut distinct_facts) =
            (Vec::new(), vec![AccessFacts::default()]);
        for (source_index, facts) in facts {
            let facts_row = distinct_facts
                .iter()
                .position(|known_facts| *known_facts == facts)
                .unwrap_or_else(|| {
                    distinct_facts.push(facts);
                    distinct_facts.len() - 1
                });
            row_by_instruction.resize(source_index as usize, 0);
            // Scopes, semantics and widths are few.
            row_by_instruction
                .push(u16::try_from(facts_row).expect("there are fewer kinds of access"));
        }
        Self {
            declared,
            all_reach_device: false,
            atomics_uniform: false,
            row_by_instruction,
            distinct_facts,
        }
    }

    fn facts_row(&self, source_index: u32) -> u16 {
        self.row_by_instruction.get(source_index as usize).copied().unwrap_or_default()
    }

    pub fn facts_at(&self, source_index: u32) -> AccessFacts {
        self.distinct_facts[usize::from(self.facts_row(source_index))]
    }

    /// Whether all facts of two accesses are equal.
    pub fn have_equal_facts(&self, first_index: u32, second_index: u32) -> bool {
        self.facts_row(first_index) == self.facts_row(second_index)
    }

    /// Whether some atomic does not reach the whole device.
    pub fn has_narrow_atomics(&self) -> bool {
        self.atomics().any(|atomic| atomic.fence.reach() != Scope::Device)
    }

    pub fn atomics(&self) -> impl Iterator<Item = Atomicity> {
        self.distinct_facts.iter().filter_map(|facts| facts.atomic)
    }
}

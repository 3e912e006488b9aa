//! What is known of accesses beside where they go: scopes, semantics, coherence, availability and
//! visibility.

use super::memory_semantics::{Fence, Scope};

/// Whether an access takes part in what orders invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Privacy {
    #[default]
    NonPrivate,
    Private,
}

/// What is known of an access beside its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccessFacts {
    pub privacy: Privacy,
    /// Whether the variable or member is declared coherent or volatile.
    pub coherent: bool,
    /// To whom the access itself makes what it writes available, and from whom it sees what is
    /// available.
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
    /// GLSL450: fences make available and visible by themselves.
    #[default]
    Implicit,
    /// The Vulkan memory model: each access and each fence says.
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
    /// All facts that occur, each once; row 0 holds the default facts of instructions without an access.
    distinct_facts: Vec<AccessFacts>,
}

impl FactsByInstruction {
    /// Facts by place, in ascending order; those of all others are the default.
    pub(crate) fn from_facts(
        declared: DeclaredModel,
        facts: impl Iterator<Item = (u32, AccessFacts)>,
    ) -> Self {
        let (mut by_place, mut different) = (Vec::new(), vec![AccessFacts::default()]);
        for (place, facts) in facts {
            let which = different.iter().position(|known| *known == facts).unwrap_or_else(|| {
                different.push(facts);
                different.len() - 1
            });
            by_place.resize(place as usize, 0);
            // Scopes, semantics and widths are few.
            by_place.push(u16::try_from(which).expect("there are fewer kinds of access"));
        }
        Self {
            declared,
            all_reach_device: false,
            atomics_uniform: false,
            row_by_instruction: by_place,
            distinct_facts: different,
        }
    }

    fn facts_row(&self, place: u32) -> u16 {
        self.row_by_instruction.get(place as usize).copied().unwrap_or_default()
    }

    pub fn facts_at(&self, place: u32) -> AccessFacts {
        self.distinct_facts[usize::from(self.facts_row(place))]
    }

    /// Whether all facts of two accesses are equal.
    pub fn have_equal_facts(&self, one: u32, other: u32) -> bool {
        self.facts_row(one) == self.facts_row(other)
    }

    /// Whether some atomic does not reach the whole device.
    pub fn has_narrow_atomics(&self) -> bool {
        self.atomics().any(|atomic| atomic.fence.reach() != Scope::Device)
    }

    pub fn atomics(&self) -> impl Iterator<Item = Atomicity> {
        self.distinct_facts.iter().filter_map(|facts| facts.atomic)
    }
}

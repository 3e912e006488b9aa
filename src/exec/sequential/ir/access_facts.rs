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
pub struct Facts {
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
pub enum Declared {
    /// GLSL450: fences make available and visible by themselves.
    #[default]
    Implicit,
    /// The Vulkan memory model: each access and each fence says.
    Vulkan,
}

/// Facts by index into the module's instruction list.
#[derive(Debug, Clone, Default)]
pub struct Places {
    pub declared: Declared,
    /// Whether every fence and atomic reaches the whole device.
    pub wide: bool,
    /// Whether every atomic is as wide as every other one, and reaches all that share its memory.
    pub alike: bool,
    /// Which of `different` each instruction has; what lies behind the last has the first.
    by_place: Vec<u16>,
    /// All that occur, each once; the first are those of no access.
    different: Vec<Facts>,
}

impl Places {
    /// Facts by place, in ascending order; those of all others are the default.
    pub(crate) fn with(declared: Declared, facts: impl Iterator<Item = (u32, Facts)>) -> Self {
        let (mut by_place, mut different) = (Vec::new(), vec![Facts::default()]);
        for (place, facts) in facts {
            let which = different.iter().position(|known| *known == facts).unwrap_or_else(|| {
                different.push(facts);
                different.len() - 1
            });
            by_place.resize(place as usize, 0);
            // Scopes, semantics and widths are few.
            by_place.push(u16::try_from(which).expect("there are fewer kinds of access"));
        }
        Self { declared, wide: false, alike: false, by_place, different }
    }

    fn which(&self, place: u32) -> u16 {
        self.by_place.get(place as usize).copied().unwrap_or_default()
    }

    pub fn facts(&self, place: u32) -> Facts {
        self.different[usize::from(self.which(place))]
    }

    /// Whether all facts of two accesses are equal.
    pub fn are_alike(&self, one: u32, other: u32) -> bool {
        self.which(one) == self.which(other)
    }

    /// Whether some atomic does not reach the whole device.
    pub fn has_narrow_atomics(&self) -> bool {
        self.atomics().any(|atomic| atomic.fence.reach() != Scope::Device)
    }

    pub fn atomics(&self) -> impl Iterator<Item = Atomicity> {
        self.different.iter().filter_map(|facts| facts.atomic)
    }
}

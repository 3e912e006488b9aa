//! Lanes that let others go on before a change, and what a first run showed of who looks at which
//! words.

use crate::ir::lane_mask::LaneMask;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Lanes that an instruction holds in all, whole tiles apart; then it holds no more. More of them
/// show little that is new.
const MOST_HELD: u32 = 16;

/// Words of memory that are remembered.
const MOST_CELLS: usize = 1 << 16;

/// Rounds of all workgroups that wait, after which one that holds a flag goes on though others
/// still change something.
pub(super) const PATIENT_ROUNDS: usize = 4;

/// A word of common memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Cell {
    /// Of the job, by index.
    Buffer { buffer: usize, word: usize },
    /// Of whichever workgroup.
    Workgroup { word: usize },
}

/// How atomics look at a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    /// Some have a result.
    WithResult,
    /// Some have a result and leave the word as it is.
    AsFlag,
}

/// The words that the atomics of a dispatch look at.
#[derive(Debug, Clone, Default)]
pub(crate) struct LookedAt {
    cells: HashMap<Cell, Look>,
}

impl LookedAt {
    fn note(&mut self, cell: Cell, look: Look) {
        if let Some(known) = self.cells.get_mut(&cell) {
            *known = look.max(*known);
        } else if self.cells.len() < MOST_CELLS {
            self.cells.insert(cell, look);
        }
    }
}

/// What an atomic would do in one lane.
pub(super) struct Effect {
    pub(super) cell: Cell,
    pub(super) changes: bool,
}

/// What a change is of; in the order in which those that hold go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    Counter,
    Flag,
}

/// Which of the two runs it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Looking,
    Holding,
}

/// Who lets others go first in a dispatch.
#[derive(Debug)]
pub(crate) struct Yielding {
    pub(super) stage: Stage,
    looked_at: LookedAt,
    /// By instruction: lanes that it has held.
    held: HashMap<u32, u32>,
    /// Holds so far: the number of the next one.
    pub(super) next: u64,
    /// Lanes that went on after they held.
    pub(super) released: u64,
    /// Whether a workgroup may let a lane change a flag.
    pub(super) flags_may_change: bool,
    /// Turns of workgroups since anybody did anything, and since one could change a flag.
    pub(super) quiet_turns: usize,
    pub(super) turns: usize,
}

impl Yielding {
    fn of(stage: Stage, looked_at: LookedAt) -> Self {
        Self {
            stage,
            looked_at,
            held: HashMap::new(),
            next: 0,
            released: 0,
            flags_may_change: false,
            quiet_turns: 0,
            turns: 0,
        }
    }

    /// Runs in the ordinary order and remembers what is looked at.
    pub(crate) fn looking() -> Self {
        Self::of(Stage::Looking, LookedAt::default())
    }

    /// Lets those go first who look at what is known to be looked at.
    pub(crate) fn holding(looked_at: LookedAt) -> Self {
        Self::of(Stage::Holding, looked_at)
    }

    pub(crate) fn into_looked_at(self) -> LookedAt {
        self.looked_at
    }

    /// Whether lanes with these effects hold, and for what.
    pub(super) fn judge(
        &mut self,
        place: u32,
        effects: &[Effect],
        has_result: bool,
    ) -> Option<Urgency> {
        for effect in effects.iter().filter(|_| has_result) {
            self.looked_at
                .note(effect.cell, if effect.changes { Look::WithResult } else { Look::AsFlag });
        }
        let look = |effect: &Effect| self.looked_at.cells.get(&effect.cell).copied();
        let urgency =
            effects.iter().filter(|effect| effect.changes).filter_map(look).max().map(|look| {
                match look {
                    Look::WithResult => Urgency::Counter,
                    Look::AsFlag => Urgency::Flag,
                }
            })?;
        let held = self.held.entry(place).or_insert(0);
        if self.stage == Stage::Looking || *held >= MOST_HELD {
            return None;
        }
        *held += effects.len() as u32;
        Some(urgency)
    }
}

/// Registers that need not survive a block.
#[derive(Debug)]
pub(super) struct BlockRegisters {
    pub(super) words: Vec<Box<[u32]>>,
    pub(super) masks: Vec<u64>,
    pub(super) undefined_words: Vec<u64>,
    pub(super) undefined_masks: Vec<u64>,
}

/// Lanes that hold before a step.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) number: u64,
    pub(super) urgency: Urgency,
    pub block: u32,
    pub step: usize,
    pub lanes: LaneMask,
    pub(super) registers: Rc<BlockRegisters>,
}

/// Lanes of a tile that hold, and one of them that goes on next.
#[derive(Debug, Clone, Default)]
pub(super) struct Holding {
    pub(super) held: VecDeque<Held>,
    pub(super) released: Option<Held>,
}

impl Holding {
    pub(super) fn clear(&mut self) {
        self.held.clear();
        self.released = None;
    }

    /// Whether nobody holds.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.released.is_none()
    }

    pub(super) fn has_released(&self) -> bool {
        self.released.is_some()
    }

    pub(super) fn take_released(&mut self) -> Option<Held> {
        self.released.take()
    }
}

/// How the steps of a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Steps {
    Done,
    /// The lanes hold.
    Held,
}

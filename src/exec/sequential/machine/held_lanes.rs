//! Lanes that let others go on before a change, and what a first run showed of who looks at which
//! words.

use crate::ir::lane_mask::LaneMask;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Lanes that an instruction holds in all, whole tiles apart; then it holds no more. More of them
/// show little that is new.
const MOST_HELD: u32 = 16;

/// Words of memory that are remembered.
const MOST_OBSERVED_WORDS: usize = 1 << 16;

/// Rounds of all workgroups that wait, after which one that holds a flag goes on though others
/// still change something.
pub(super) const PATIENT_ROUNDS: usize = 4;

/// A word of common memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SharedWord {
    /// Of the job, by index.
    Buffer { buffer: usize, word: usize },
    /// Of whichever workgroup.
    Workgroup { word: usize },
}

/// How atomics look at a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WordLook {
    /// Some have a result.
    WithResult,
    /// Some have a result and leave the word as it is.
    AsFlag,
}

/// The words that the atomics of a dispatch look at.
#[derive(Debug, Clone, Default)]
pub(crate) struct ObservedWords {
    looks_by_word: HashMap<SharedWord, WordLook>,
}

impl ObservedWords {
    fn note_look(&mut self, shared_word: SharedWord, new_look: WordLook) {
        if let Some(known_look) = self.looks_by_word.get_mut(&shared_word) {
            *known_look = new_look.max(*known_look);
        } else if self.looks_by_word.len() < MOST_OBSERVED_WORDS {
            self.looks_by_word.insert(shared_word, new_look);
        }
    }
}

/// What an atomic would do in one lane.
pub(super) struct AtomicEffect {
    pub(super) shared_word: SharedWord,
    pub(super) changes: bool,
}

/// What a change is of; in the order in which those that hold go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HoldUrgency {
    Counter,
    Flag,
}

/// Which of the two runs it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum YieldStage {
    Observing,
    Holding,
}

/// Who lets others go first in a dispatch.
#[derive(Debug)]
pub(crate) struct DirectedYield {
    pub(super) stage: YieldStage,
    observed_words: ObservedWords,
    /// By instruction: lanes that it has held.
    held_by_instruction: HashMap<u32, u32>,
    /// Holds so far: the number of the next one.
    pub(super) next_hold: u64,
    /// Lanes that went on after they held.
    pub(super) released: u64,
    /// Whether a workgroup may let a lane change a flag.
    pub(super) flags_may_change: bool,
    /// Turns of workgroups since anybody did anything, and since one could change a flag.
    pub(super) quiet_turns: usize,
    pub(super) turns: usize,
}

impl DirectedYield {
    fn in_stage(yield_stage: YieldStage, observed_words: ObservedWords) -> Self {
        Self {
            stage: yield_stage,
            observed_words,
            held_by_instruction: HashMap::new(),
            next_hold: 0,
            released: 0,
            flags_may_change: false,
            quiet_turns: 0,
            turns: 0,
        }
    }

    /// Runs in the ordinary order and remembers what is looked at.
    pub(crate) fn observing() -> Self {
        Self::in_stage(YieldStage::Observing, ObservedWords::default())
    }

    /// Lets those go first who look at what is known to be looked at.
    pub(crate) fn holding(observed_words: ObservedWords) -> Self {
        Self::in_stage(YieldStage::Holding, observed_words)
    }

    pub(crate) fn into_observed_words(self) -> ObservedWords {
        self.observed_words
    }

    /// Whether lanes with these effects hold, and for what.
    pub(super) fn urgency_of_effects(
        &mut self,
        source_index: u32,
        lane_effects: &[AtomicEffect],
        has_result: bool,
    ) -> Option<HoldUrgency> {
        for effect in lane_effects.iter().filter(|_| has_result) {
            self.observed_words.note_look(
                effect.shared_word,
                if effect.changes { WordLook::WithResult } else { WordLook::AsFlag },
            );
        }
        let known_look = |effect: &AtomicEffect| {
            self.observed_words.looks_by_word.get(&effect.shared_word).copied()
        };
        let urgency =
            lane_effects.iter().filter(|effect| effect.changes).filter_map(known_look).max().map(
                |known_look| match known_look {
                    WordLook::WithResult => HoldUrgency::Counter,
                    WordLook::AsFlag => HoldUrgency::Flag,
                },
            )?;
        let held_count = self.held_by_instruction.entry(source_index).or_insert(0);
        if self.stage == YieldStage::Observing || *held_count >= MOST_HELD {
            return None;
        }
        *held_count += lane_effects.len() as u32;
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
pub(super) struct HeldLanes {
    pub(super) hold_number: u64,
    pub(super) urgency: HoldUrgency,
    pub block_index: u32,
    pub step_index: usize,
    pub lanes: LaneMask,
    pub(super) registers: Rc<BlockRegisters>,
}

/// Lanes of a tile that hold, and one of them that goes on next.
#[derive(Debug, Clone, Default)]
pub(super) struct TileHolds {
    pub(super) held_lanes: VecDeque<HeldLanes>,
    pub(super) released_lanes: Option<HeldLanes>,
}

impl TileHolds {
    pub(super) fn clear(&mut self) {
        self.held_lanes.clear();
        self.released_lanes = None;
    }

    /// Whether nobody holds.
    pub(super) fn is_empty(&self) -> bool {
        self.held_lanes.is_empty() && self.released_lanes.is_none()
    }

    pub(super) fn has_released(&self) -> bool {
        self.released_lanes.is_some()
    }

    pub(super) fn take_released(&mut self) -> Option<HeldLanes> {
        self.released_lanes.take()
    }
}

/// How the steps of a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockProgress {
    Completed,
    /// The lanes hold.
    Held,
}

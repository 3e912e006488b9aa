//! Lanes that hold before a change so that others run first, and the words that a first run observed
//! atomics to read.

use crate::ir::lane_mask::LaneMask;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Lanes that an instruction holds in all, not counting whole tiles. The number is limited because
/// further holds of the same instruction show little that is new and each costs a turn.
const MOST_HELD: u32 = 16;

/// Words of memory that are observed at most.
const MOST_OBSERVED_WORDS: usize = 1 << 16;

/// Turns of each waiting workgroup after which a lane that holds a flag is released though others
/// still make progress.
pub(super) const PATIENT_ROUNDS: usize = 4;

/// A word of common memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SharedWord {
    /// Of the job, by index.
    Buffer { buffer: usize, word: usize },
    /// Of whichever workgroup.
    Workgroup { word: usize },
}

/// How atomics read a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WordLook {
    /// Some have a result.
    WithResult,
    /// Some have a result and leave the word as it is.
    AsFlag,
}

/// The words that the atomics of a dispatch read.
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

/// What a held change would change, in the order in which held lanes are released.
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

/// Which lanes of a dispatch hold, and which may be released.
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
    /// Turns of workgroups without progress, and turns since a flag was last released.
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

    /// The first run: in the ordinary order, observing which words atomics read.
    pub(crate) fn observing() -> Self {
        Self::in_stage(YieldStage::Observing, ObservedWords::default())
    }

    /// The second run: changes of the observed words hold.
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

    /// Whether no lane holds.
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

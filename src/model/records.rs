//! Coverage records: one bit per evaluation vector of every decision and per mark, the same for every engine.
//!
//! Vectors are numbered by edge weights (`coverage::numbering`): when a condition is evaluated, the weight of the edge
//! taken is added to a sum; when the decision ends, bit `base + sum` is set. The numbering may have gaps (`^^`).

use super::access_pair::{AccessPair, ShownPairs};
use super::id::DecisionId;
use super::metric::StatementCounts;
use super::schedule::Schedule;
use super::structure::{MarkIndex, MarkerRole};
use super::vector::Vector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Bit numbers of one kernel. Bit 0 is the first bit of the first data word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordLayout {
    /// By ascending decision number.
    pub decisions: Vec<DecisionSlot>,
    /// `marks[i]` is the bit of `MarkIndex(i)`.
    pub marks: Vec<u32>,
    /// Number of bits in use.
    pub bits: u32,
}

/// Bits `base .. base + size` of one decision, with the edge weights of its conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionSlot {
    /// The decision.
    pub decision: DecisionId,
    /// The bit of sum 0.
    pub base: u32,
    /// Exclusive upper bound of the sums.
    pub size: u32,
    /// Per condition in source order: weight when it is true, weight when it is false.
    pub weights: Vec<[u32; 2]>,
    /// The vectors by sum, ascending; sums in no row cannot occur.
    pub vectors: Vec<NumberedVector>,
}

/// A vector with the sum of its conditions' weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumberedVector {
    /// Sum of the weights: the vector's bit is the slot's base plus this.
    pub sum: u32,
    /// The vector.
    pub vector: Vector,
}

impl RecordLayout {
    /// Number of 32-bit data words that hold the bits.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(32) as usize
    }

    /// The slot of a decision; none where it is not recorded.
    pub fn slot(&self, decision: DecisionId) -> Option<&DecisionSlot> {
        self.position(decision).map(|(_, slot)| slot)
    }

    /// The slot of a decision with its index.
    pub fn position(&self, decision: DecisionId) -> Option<(u32, &DecisionSlot)> {
        let slot_index =
            self.decisions.binary_search_by_key(&decision, |slot| slot.decision).ok()?;
        Some((slot_index as u32, &self.decisions[slot_index]))
    }
}

/// Which marker calls a compiled module holds, with what is known of their operands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Presence {
    /// Marker numbers found in the module, each with its role and the constness of its operand in the module.
    pub markers: BTreeMap<u32, PresentMarker>,
}

/// A marker that the compiled module holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresentMarker {
    /// What the marker stands for.
    pub role: MarkerRole,
    /// For value markers: what the operand is in the module. For marks: `Runtime`.
    pub constness: super::structure::Constness,
    /// The value that the operand has whatever the kernel computes, under the configuration at hand; none where it can
    /// vary or cannot be told, and for outcomes (they follow from their conditions).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<bool>,
    /// Specialization ids that the value depends on, ascending; none for a value fixed in the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<u32>,
    /// Whether control can come to it under the configuration.
    #[serde(default, skip_serializing_if = "Reach::is_possible")]
    pub reach: Reach,
}

impl PresentMarker {
    /// A marker of which nothing is known but that it is there.
    pub fn runtime(role: MarkerRole) -> Self {
        let constness = super::structure::Constness::Runtime;
        Self { role, constness, value: None, constants: Vec::new(), reach: Reach::Possible }
    }
}

/// Whether control can come to a marker, as far as values that are fixed under the configuration tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Nothing that is fixed keeps control from it.
    #[default]
    Possible,
    /// Every way to it takes an outcome or label that cannot happen.
    Excluded,
}

impl Reach {
    fn is_possible(&self) -> bool {
        *self == Reach::Possible
    }
}

/// What one run of one kernel on one engine recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Records {
    /// Data words: bit `n` of the layout is bit `n % 32` of word `n / 32`.
    pub words: Vec<u32>,
    /// Global invocation id of the lowest invocation (by workgroup, then local index) that set a bit; engines that
    /// cannot tell leave a bit out.
    #[serde(default)]
    pub witnesses: BTreeMap<u32, [u32; 3]>,
    /// For decisions with floating-point operands, what was compared where (first evaluations), for the comparison of
    /// engines; keyed by bit.
    #[serde(default)]
    pub operands: BTreeMap<u32, Vec<String>>,
    /// By number of a barrier (`KernelBarrier::number`): how often all invocations of a workgroup executed it together. Of
    /// engines that see who comes to a barrier.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub barriers: BTreeMap<u32, u64>,
    /// Bits that a directed schedule alone has set, with that schedule: they depend on who comes first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub directed: BTreeMap<u32, Schedule>,
    /// Bits that no invocation sets in every run with other undefined values: whoever set them may have done so by such a value.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub undefined: BTreeSet<u32>,
    /// Barriers, by number, that no workgroup executes in every such run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub undefined_barriers: BTreeSet<u32>,
    /// How many invocations executed each statement; absent where the project does not ask for it, and of engines that
    /// do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_counts: Option<StatementCounts>,
    /// Which values of other sides its invocations read; absent where the project does not ask for coupling coverage, and
    /// of engines that do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<ShownPairs>,
    /// Those of the pairs that a directed schedule alone has shown, by that schedule.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub directed_pairs: BTreeMap<Schedule, BTreeSet<AccessPair>>,
}

impl Records {
    /// Whether the bit is set; no bit behind the last word is.
    pub fn has(&self, bit: u32) -> bool {
        self.words.get(bit as usize / 32).is_some_and(|word| word >> (bit % 32) & 1 == 1)
    }

    /// Adds what `other` recorded; witnesses already there stay.
    pub fn merge(&mut self, other: &Records) {
        self.directed.retain(|bit, _| !other.has(*bit) || other.directed.contains_key(bit));
        let new_directed: Vec<_> =
            other.directed.iter().filter(|(bit, _)| !self.has(**bit)).collect();
        self.directed.extend(new_directed);
        self.undefined.retain(|bit| !other.has(*bit) || other.undefined.contains(bit));
        let new_undefined: Vec<u32> =
            other.undefined.iter().copied().filter(|bit| !self.has(*bit)).collect();
        self.undefined.extend(new_undefined);
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (own_word, other_word) in self.words.iter_mut().zip(&other.words) {
            *own_word |= other_word;
        }
        for (bit, witness) in &other.witnesses {
            self.witnesses.entry(*bit).or_insert(*witness);
        }
        for (bit, operand_values) in &other.operands {
            self.operands.entry(*bit).or_insert_with(|| operand_values.clone());
        }
        for (barrier, reached_times) in &other.barriers {
            let known_times = self.barriers.entry(*barrier).or_insert(0);
            *known_times = known_times.saturating_add(*reached_times);
        }
    }
}

impl Records {
    /// Adds those of some bits that a directed schedule has set and that are not set here; how many these are.
    pub fn add_directed(
        &mut self,
        other: &Records,
        bits: &BTreeSet<u32>,
        schedule: Schedule,
    ) -> u32 {
        let new_bits: Vec<u32> =
            bits.iter().copied().filter(|bit| other.has(*bit) && !self.has(*bit)).collect();
        for bit in &new_bits {
            self.words[*bit as usize / 32] |= 1 << (bit % 32);
            self.directed.insert(*bit, schedule);
            self.witnesses.extend(other.witnesses.get(bit).map(|witness| (*bit, *witness)));
            self.operands.extend(
                other.operands.get(bit).map(|operand_values| (*bit, operand_values.clone())),
            );
        }
        new_bits.len() as u32
    }

    /// Adds pairs that a directed schedule has shown and that are not here; how many these are.
    pub fn add_directed_pairs(
        &mut self,
        shown_pairs: impl Iterator<Item = AccessPair>,
        schedule: Schedule,
    ) -> u32 {
        let Some(ShownPairs::Shown(pairs)) = &mut self.pairs else { return 0 };
        let new_pairs: BTreeSet<AccessPair> =
            shown_pairs.filter(|pair| !pairs.contains(pair)).collect();
        let count = new_pairs.len() as u32;
        if count > 0 {
            pairs.extend(new_pairs.iter().copied());
            self.directed_pairs.insert(schedule, new_pairs);
        }
        count
    }
}

impl Records {
    /// The bits that are set, ascending.
    pub fn bits(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.words.len() as u32 * 32).filter(|bit| self.has(*bit))
    }

    /// What the ordinary schedule alone has set.
    pub fn of_ordinary_schedule(&self) -> Records {
        let mut ordinary_records = self.clone();
        for bit in std::mem::take(&mut ordinary_records.directed).into_keys() {
            ordinary_records.clear_bit(bit);
        }
        let directed_pairs = std::mem::take(&mut ordinary_records.directed_pairs);
        if let Some(ShownPairs::Shown(pairs)) = &mut ordinary_records.pairs {
            pairs.retain(|pair| !directed_pairs.values().any(|shown| shown.contains(pair)));
        }
        ordinary_records
    }

    fn clear_bit(&mut self, bit: u32) {
        if let Some(record_word) = self.words.get_mut(bit as usize / 32) {
            *record_word &= !(1 << (bit % 32));
        }
    }

    /// Whether anything recorded may follow an undefined value.
    pub fn follow_undefined(&self) -> bool {
        !self.undefined.is_empty() || !self.undefined_barriers.is_empty()
    }

    /// What was recorded whatever undefined values are.
    pub fn without_undefined(&self) -> Records {
        let mut defined_records = self.clone();
        for bit in std::mem::take(&mut defined_records.undefined) {
            defined_records.clear_bit(bit);
        }
        let undefined_barriers = std::mem::take(&mut defined_records.undefined_barriers);
        defined_records.barriers.retain(|number, _| !undefined_barriers.contains(number));
        // Which of the pairs follow an undefined value is not told.
        if self.follow_undefined() && defined_records.pairs.is_some() {
            defined_records.pairs = Some(ShownPairs::Shown(BTreeSet::new()));
            defined_records.directed_pairs.clear();
        }
        defined_records
    }

    /// Notes that all but some bits and barriers may follow undefined values.
    pub fn keep_undefined_outside(
        &mut self,
        defined_bits: &BTreeSet<u32>,
        defined_barriers: &BTreeSet<u32>,
    ) {
        self.undefined = self.bits().filter(|bit| !defined_bits.contains(bit)).collect();
        self.undefined_barriers = self
            .barriers
            .keys()
            .copied()
            .filter(|number| !defined_barriers.contains(number))
            .collect();
    }
}

/// Mark bits are looked up often enough to deserve a name.
impl RecordLayout {
    /// The bit of a mark; none where the layout has no such mark.
    pub fn mark_bit(&self, mark: MarkIndex) -> Option<u32> {
        self.marks.get(mark.0 as usize).copied()
    }
}

/// What the marker calls of a marked module mean.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MarkerTable {
    /// Result id of the OpFunction `bool value(const uint id, const bool v)`; none if the module has no such call.
    pub value_function: Option<u32>,
    /// Result id of the OpFunction `void mark(const uint id)`.
    pub mark_function: Option<u32>,
    /// By marker number.
    pub roles: Vec<MarkerRole>,
    /// Which bit of the records stands for what.
    pub layout: RecordLayout,
}

/// How an instrumented module brings the bits of its invocations into the record buffer.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RecordMode {
    /// Gathered in private words, handed over once when the invocation ends; an atomic for new bits alone.
    Private,
    /// As `private`, but the test for new bits is made in workgroup memory first.
    Workgroup,
    /// As `private`, but the bits of a subgroup are united first and one invocation hands them over.
    Subgroup,
    /// Each bit is tested in the buffer when it is set; an atomic for a new bit alone.
    Direct,
    /// One slot of the buffer per invocation, united by the host; no atomics.
    Slots,
}

impl RecordMode {
    /// Every mode with its name, in the order of help texts.
    pub const ALL: [(RecordMode, &'static str); 5] = [
        (RecordMode::Private, "private"),
        (RecordMode::Workgroup, "workgroup"),
        (RecordMode::Subgroup, "subgroup"),
        (RecordMode::Direct, "direct"),
        (RecordMode::Slots, "slots"),
    ];

    /// The name in options and evidence.
    pub fn name(self) -> &'static str {
        match self {
            RecordMode::Private => "private",
            RecordMode::Workgroup => "workgroup",
            RecordMode::Subgroup => "subgroup",
            RecordMode::Direct => "direct",
            RecordMode::Slots => "slots",
        }
    }
}

impl std::fmt::Display for RecordMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Whether the records tell the lowest invocation that set each bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Witnesses {
    /// No bit has a witness.
    #[default]
    Omitted,
    /// Each bit has its witness.
    Recorded,
}

/// How the records of an instrumented module were made, for evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// How invocations put their bits together.
    pub mode: RecordMode,
    /// Whether witnesses were recorded.
    pub witnesses: Witnesses,
    /// 32-bit data words.
    pub words: u32,
}

/// Where an instrumented module expects its record buffer, and what it does with it. The buffer starts with
/// [`HEADER_WORDS`] words: the host's nonce, the canary, and the size of the dispatch; `instrument::RecordForm` lays out
/// the rest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordBuffer {
    /// Descriptor set of the buffer.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Number of data words.
    pub words: u32,
    /// Which bit of the data words stands for what.
    pub layout: RecordLayout,
    /// How invocations put their bits together.
    pub mode: RecordMode,
    /// Whether a witness per bit is recorded.
    pub witnesses: Witnesses,
    /// How often the data words are there: a power of two. The workgroups take the copies in turn, so that not all of
    /// a dispatch go to the same words at once.
    pub copies: u32,
}

impl RecordBuffer {
    /// How the records are made, as evidence stores it.
    pub fn recorded(&self) -> Recorded {
        Recorded { mode: self.mode, witnesses: self.witnesses, words: self.words }
    }
}

/// Words before the data of a record buffer.
pub const HEADER_WORDS: u32 = 8;

/// What the instrumented module writes to word 1 is the nonce in word 0 exclusive-or this.
pub const CANARY: u32 = 0x5643_4552;

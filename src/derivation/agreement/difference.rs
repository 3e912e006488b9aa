//! Vectors and marks that one engine alone recorded, as findings and `left_open` tell of them.
//!
//! Promises: what the comparison writes and what `verify` looks for are the same words and details.

use serde_json::Value;
use vkcert_model::finding::Finding;
use vkcert_model::finding_details::DetailName;
use vkcert_model::place::{Position, Span};
use vkcert_model::records::{DecisionSlot, NumberedVector, RecordLayout, Records};
use vkcert_model::structure::{KernelStructure, MarkIndex};
use vkcert_model::verdict::EngineName;

/// A vector or a mark of a module.
#[derive(Clone, Copy)]
pub enum RecordedItem<'a> {
    /// The decision's bits, and the vector.
    Vector(&'a DecisionSlot, &'a NumberedVector),
    /// The mark and its bit.
    Mark(MarkIndex, u32),
}

impl RecordedItem<'_> {
    /// The bit of the records that it sets.
    pub fn bit(&self) -> u32 {
        match self {
            RecordedItem::Vector(slot, row) => slot.base + row.sum,
            RecordedItem::Mark(_, bit) => *bit,
        }
    }
}

/// A vector or a mark that one engine alone recorded.
#[derive(Clone, Copy)]
pub struct RecordDifference<'a> {
    /// The vector or mark.
    pub row: RecordedItem<'a>,
    /// The engine that recorded it.
    pub only_on: EngineName,
}

/// Which of two records has what the other lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnlyIn {
    /// The first one has it.
    Left,
    /// The second one has it.
    Right,
}

impl OnlyIn {
    /// None where both have it, or neither.
    pub fn of(in_left: bool, in_right: bool) -> Option<Self> {
        match (in_left, in_right) {
            (true, false) => Some(Self::Left),
            (false, true) => Some(Self::Right),
            (true, true) | (false, false) => None,
        }
    }
}

/// What one engine alone recorded: vectors, then marks. The sequential engine's records are the
/// first.
pub fn record_differences<'a>(
    layout: &'a RecordLayout,
    records: [&Records; 2],
) -> Vec<RecordDifference<'a>> {
    let on_engine = |(row, only_in)| match only_in {
        OnlyIn::Left => RecordDifference { row, only_on: EngineName::Sequential },
        OnlyIn::Right => RecordDifference { row, only_on: EngineName::Vulkan },
    };
    differing_rows(layout, records).map(on_engine).collect()
}

/// What one of two records of a module alone has: vectors, then marks.
pub fn differing_rows<'a, 'r>(
    layout: &'a RecordLayout,
    [left, right]: [&'r Records; 2],
) -> impl Iterator<Item = (RecordedItem<'a>, OnlyIn)> + use<'a, 'r> {
    let vectors = layout
        .decisions
        .iter()
        .flat_map(|slot| slot.vectors.iter().map(move |row| RecordedItem::Vector(slot, row)));
    let marks = layout
        .marks
        .iter()
        .enumerate()
        .map(|(index, bit)| RecordedItem::Mark(MarkIndex(index as u32), *bit));
    vectors
        .chain(marks)
        .filter_map(move |row| Some((row, OnlyIn::of(left.has(row.bit()), right.has(row.bit()))?)))
}

impl RecordDifference<'_> {
    /// The bit of the records that it sets.
    pub fn bit(&self) -> u32 {
        self.row.bit()
    }

    /// `D3 `a && b`: vector TF on vulkan alone`
    pub fn words(&self, structure: &KernelStructure, kernel: &str) -> String {
        let only_on = self.only_on;
        match self.row {
            RecordedItem::Vector(slot, row) => {
                let (decision, text) = (slot.decision, &structure.decision(slot.decision).text);
                format!("{decision} `{text}`: vector {} on {only_on} alone", row.vector.values)
            }
            RecordedItem::Mark(index, _) => {
                format!("{kernel}: {} on {only_on} alone", mark_words(structure, index))
            }
        }
    }

    /// Whether a finding of its module tells of it.
    pub fn is_told_by(&self, finding: &Finding) -> bool {
        let has_detail = |name: DetailName, value: Value| finding.detail(name) == Some(value);
        let tells_of_row = match self.row {
            RecordedItem::Vector(slot, row) => {
                has_detail(DetailName::Decision, slot.decision.to_string().into())
                    && has_detail(DetailName::Vector, row.vector.values.to_string().into())
            }
            RecordedItem::Mark(index, _) => has_detail(DetailName::Mark, index.0.into()),
        };
        tells_of_row && has_detail(DetailName::OnlyOn, self.only_on.to_string().into())
    }
}

/// What a mark stands for: the entry of a function, a label.
pub fn mark_words(structure: &KernelStructure, mark_index: MarkIndex) -> String {
    let file_and_line = |span: &Span| {
        let file = &structure.files[span.file.0 as usize];
        format!("{}:{}", file.path, Position::of(&file.text, span.start as usize).line)
    };
    let mut functions =
        structure.functions.iter().filter(|function| function.entry_mark == mark_index);
    let mut labels = structure
        .switches
        .iter()
        .flat_map(|switch| &switch.labels)
        .filter(|label| label.mark == Some(mark_index));
    match (functions.next(), labels.next()) {
        (Some(function), _) => {
            format!("entry of `{}` ({})", function.name, file_and_line(&function.span))
        }
        (None, Some(label)) => format!("label `{}` ({})", label.text, file_and_line(&label.span)),
        (None, None) => format!("mark {}", mark_index.0),
    }
}

//! Contents of buffers by the names that kernels give to their members: what goes in, what is
//! expected with its tolerance, what came out, and the difference.
//!
//! Promises: a row per scalar in the order of bytes; of more than fit, the first ones and, per
//! member, the least, the greatest and the mean of all. Where kernels lay a buffer out differently,
//! that is said.
//! Does not cover: buffers that are plain lists of numbers (`contents`), images, expectations
//! without values of their own.

use super::contents::{decoded_bytes, number_statistics};
use crate::document::{Block, ColumnAlign, Outline, Table, Text, Tone};
use crate::expectation::tolerance_in_words;
use crate::scalars::{self, ScalarValue, float_in_words, scalars_in_words};
use std::collections::BTreeMap;
use vkcert_model::block_layout::{BlockLayout, NamedScalar};
use vkcert_model::element::{DataType, Datum, ScalarType};
use vkcert_model::evidence::{OutputBytes, StoredContents, StoredExpectation, TestEvidence};

/// So many scalars have a row.
const ROWS: usize = 24;

/// Of an array without length so many scalars are looked for in what a test states by members.
const MEMBERS_LOOKED_AT: usize = 1 << 12;

/// Whether what came out is told, or the test case alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentsOf {
    Case,
    Results,
}

/// The layout by which a buffer's contents are told; none where there is none or several.
pub(super) fn single_layout<'a>(test: &'a TestEvidence, buffer: &str) -> Option<&'a BlockLayout> {
    match test.layouts.get(buffer)?.as_slice() {
        [layout] => Some(layout),
        _ => None,
    }
}

/// Tables of every buffer with a layout, and a word on those with several.
pub(super) fn add_member_tables(test: &TestEvidence, of: ContentsOf, outline: &mut Outline) {
    for (buffer, layouts) in &test.layouts {
        match layouts.as_slice() {
            [layout] => {
                MemberTables::of_buffer(test, buffer, layout, of).add_to(test, buffer, outline);
            }
            several => outline.add_paragraph(differing_layouts(buffer, several)),
        }
    }
}

fn differing_layouts(buffer: &str, layouts: &[BlockLayout]) -> Text {
    let kernels_of = |layout: &BlockLayout| {
        Text::join(layout.kernels.iter().map(|kernel| Text::code(kernel.as_str())), " and ")
    };
    Text::plain("The members of ")
        .followed_by(Text::code(buffer))
        .then_plain(" have no single name: ")
        .followed_by(Text::join(layouts.iter().map(kernels_of), "; "))
        .then_plain(" lay it out differently. Its contents are told as plain elements.")
}

/// Values of a buffer from one source.
struct MemberValues {
    title: String,
    /// By scalar; none where the source says nothing of it.
    values: Vec<Option<MemberValue>>,
}

/// A value in words, with its bytes where they are known.
struct MemberValue {
    words: String,
    bytes: Option<Vec<u8>>,
}

impl MemberValue {
    fn of_bytes(bytes: &[u8], scalar: ScalarType) -> Self {
        Self { words: scalars_in_words(bytes, scalar).concat(), bytes: Some(bytes.to_owned()) }
    }
}

/// What is told of a buffer, scalar by scalar.
struct MemberTables {
    scalars: Vec<NamedScalar>,
    input: Option<MemberValues>,
    expected: Option<MemberValues>,
    /// By scalar.
    tolerances: Vec<Option<String>>,
    actual: Vec<MemberValues>,
}

impl MemberTables {
    fn of_buffer(test: &TestEvidence, buffer: &str, layout: &BlockLayout, of: ContentsOf) -> Self {
        let outputs = match of {
            ContentsOf::Case => Vec::new(),
            ContentsOf::Results => distinct_outputs(test, buffer),
        };
        let expectations: Vec<(&StoredExpectation, Vec<PlacedRun>)> = test
            .expected
            .iter()
            .filter(|expectation| expectation.buffer == buffer)
            .filter_map(|expectation| Some((expectation, placed_runs(expectation)?)))
            .collect();
        let input = InputValues::of_buffer(test, buffer);
        let bytes = known_bytes(&input, layout, &expectations, &outputs);
        let scalars = layout.scalars(bytes, usize::MAX);
        let expected_at = |named: &NamedScalar| {
            expectations.iter().find_map(|(expectation, runs)| {
                Some((*expectation, runs.iter().find_map(|run| run.value_at(named))?))
            })
        };
        let (mut expected, mut tolerances) = (Vec::new(), Vec::new());
        for named in &scalars {
            let stated = expected_at(named);
            tolerances
                .push(stated.map(|(expectation, _)| tolerance_in_words(&expectation.tolerance)));
            expected.push(stated.map(|(_, bytes)| MemberValue::of_bytes(bytes, named.scalar)));
        }
        let some_values = |title: &str, values: Vec<Option<MemberValue>>| {
            let has_some = values.iter().any(Option::is_some);
            has_some.then(|| MemberValues { title: title.to_owned(), values })
        };
        Self {
            input: some_values(
                "Input",
                scalars.iter().map(|named| input.value_at(named)).collect(),
            ),
            expected: some_values("Expected", expected),
            tolerances,
            actual: outputs
                .iter()
                .filter_map(|output| {
                    let value = |named: &NamedScalar| {
                        let value_bytes = bytes_at(&output.bytes, named)?;
                        Some(MemberValue::of_bytes(value_bytes, named.scalar))
                    };
                    some_values(
                        &format!("Actual, {}", output.engines.join(", ")),
                        scalars.iter().map(value).collect(),
                    )
                })
                .collect(),
            scalars,
        }
    }

    fn columns(&self) -> impl Iterator<Item = &MemberValues> {
        self.input.iter().chain(&self.expected).chain(&self.actual)
    }

    fn add_to(&self, test: &TestEvidence, buffer: &str, outline: &mut Outline) {
        if self.columns().next().is_none() {
            return;
        }
        outline.add_table(self.scalar_table(test, buffer));
        if self.scalars.len() > ROWS {
            outline.add_block(Block::Table(self.statistics_table(test, buffer)));
        }
    }

    fn scalar_table(&self, test: &TestEvidence, buffer: &str) -> Table {
        let shown_count = self.scalars.len().min(ROWS);
        let extent = match self.scalars.len() - shown_count {
            0 => String::new(),
            more => format!(", the first {shown_count} scalars; {more} more"),
        };
        let caption = Text::plain(format!("{}: members of ", test.id))
            .followed_by(Text::code(buffer))
            .then_plain(extent);
        let mut table = Table::new(caption)
            .with_column("Member", ColumnAlign::Left)
            .with_column("Byte", ColumnAlign::Right)
            .with_column("Type", ColumnAlign::Left);
        for column in self.input.iter().chain(&self.expected) {
            table = table.with_column(column.title.as_str(), ColumnAlign::Right);
        }
        if self.expected.is_some() {
            table = table.with_column("Tolerance", ColumnAlign::Left);
        }
        for column in &self.actual {
            table = table.with_column(column.title.as_str(), ColumnAlign::Right);
            if self.expected.is_some() {
                table = table.with_column("Difference", ColumnAlign::Right);
            }
        }
        (0..shown_count).for_each(|index| table.add_row(self.scalar_row(index)));
        table
    }

    fn scalar_row(&self, index: usize) -> Vec<Text> {
        let NamedScalar { path, offset, scalar } = &self.scalars[index];
        let mut cells = vec![
            Text::code(path.as_str()),
            Text::plain(offset.to_string()),
            Text::plain(scalar.to_string()),
        ];
        let value_cell = |column: &MemberValues| match &column.values[index] {
            Some(value) => Text::code(value.words.as_str()),
            None => Text::quiet("–"),
        };
        cells.extend(self.input.iter().chain(&self.expected).map(value_cell));
        let Some(expected) = &self.expected else {
            cells.extend(self.actual.iter().map(value_cell));
            return cells;
        };
        cells.push(match &self.tolerances[index] {
            Some(tolerance) => Text::plain(tolerance.as_str()),
            None => Text::quiet("–"),
        });
        for actual in &self.actual {
            cells.push(value_cell(actual));
            cells.push(difference_cell(&expected.values[index], &actual.values[index], *scalar));
        }
        cells
    }

    /// Of every member, its indices left out.
    fn statistics_table(&self, test: &TestEvidence, buffer: &str) -> Table {
        let caption = Text::plain(format!("{}: all values of ", test.id))
            .followed_by(Text::code(buffer))
            .then_plain(", by member");
        let mut table = Table::new(caption).columns(&["Member", "Of", "Number", "Statistics"]);
        let mut members: Vec<(String, Vec<usize>)> = Vec::new();
        let mut numbers_of_members = std::collections::HashMap::new();
        for (index, named) in self.scalars.iter().enumerate() {
            let member = without_indices(&named.path);
            let number = *numbers_of_members.entry(member.clone()).or_insert(members.len());
            match members.get_mut(number) {
                Some((_, scalars)) => scalars.push(index),
                None => members.push((member, vec![index])),
            }
        }
        for (member, scalars) in &members {
            for column in self.columns() {
                let values: Vec<String> = scalars
                    .iter()
                    .filter_map(|index| Some(column.values[*index].as_ref()?.words.clone()))
                    .collect();
                let Some(statistics) = number_statistics(&values) else { continue };
                table.add_row(vec![
                    Text::code(member.as_str()),
                    Text::plain(column.title.as_str()),
                    Text::plain(values.len().to_string()),
                    Text::plain(statistics),
                ]);
            }
        }
        table
    }
}

/// `star[].flags` of `star[1].flags`
fn without_indices(path: &str) -> String {
    let mut is_index = false;
    path.chars()
        .filter(|character| {
            match character {
                '[' => {
                    is_index = true;
                    return true;
                }
                ']' => is_index = false,
                _ => {}
            }
            !is_index
        })
        .collect()
}

fn difference_cell(
    expected: &Option<MemberValue>,
    actual: &Option<MemberValue>,
    scalar: ScalarType,
) -> Text {
    let bytes_of = |value: &Option<MemberValue>| value.as_ref()?.bytes.clone();
    let (Some(expected), Some(actual)) = (bytes_of(expected), bytes_of(actual)) else {
        return Text::quiet("–");
    };
    if expected == actual {
        return Text::plain("0");
    }
    match ScalarValue::distance([&expected, &actual], scalar) {
        Some(ScalarValue::Integer(distance)) => Text::plain(distance.to_string()),
        Some(ScalarValue::Float(distance)) => Text::plain(float_in_words(distance)),
        None => Text::plain("no number").with_tone(Tone::Caution),
    }
}

/// Expected scalars with their bytes.
struct PlacedRun {
    offset: u64,
    scalar: ScalarType,
    bytes: Vec<u8>,
}

impl PlacedRun {
    /// Of the same type in the same place.
    fn value_at(&self, named: &NamedScalar) -> Option<&[u8]> {
        if named.scalar != self.scalar {
            return None;
        }
        let start = usize::try_from(named.offset.checked_sub(self.offset)?).ok()?;
        let is_whole = start.is_multiple_of(self.scalar.size());
        is_whole.then(|| self.bytes.get(start..start + self.scalar.size()))?
    }
}

/// None of expectations whose values stand in no place or are no plain scalars.
fn placed_runs(expectation: &StoredExpectation) -> Option<Vec<PlacedRun>> {
    let StoredContents::Values(runs) = &expectation.contents else { return None };
    if expectation.record.is_some() || expectation.format.is_some() {
        return None;
    }
    let placed = runs.iter().map(|run| {
        let (scalar, bytes) = (ScalarType::of_name(&run.scalar)?, decoded_bytes(&run.bytes)?);
        Some(PlacedRun { offset: run.offset, scalar, bytes })
    });
    placed.collect()
}

/// What engines left alike.
struct DistinctOutput {
    engines: Vec<String>,
    bytes: Vec<u8>,
}

fn distinct_outputs(test: &TestEvidence, buffer: &str) -> Vec<DistinctOutput> {
    let mut outputs: Vec<DistinctOutput> = Vec::new();
    for result in &test.results {
        let Some(OutputBytes::Bytes(base64)) = result.outputs.get(buffer) else { continue };
        let Some(bytes) = decoded_bytes(base64) else { continue };
        let engine = result.engine.to_string();
        match outputs.iter_mut().find(|known| known.bytes == bytes) {
            Some(known) => known.engines.push(engine),
            None => outputs.push(DistinctOutput { engines: vec![engine], bytes }),
        }
    }
    outputs
}

fn bytes_at<'a>(bytes: &'a [u8], named: &NamedScalar) -> Option<&'a [u8]> {
    let start = usize::try_from(named.offset).ok()?;
    bytes.get(start..start.checked_add(named.scalar.size())?)
}

/// Initial contents as the test states them.
enum InputValues<'a> {
    Bytes(Vec<u8>),
    /// One type throughout.
    Scalars {
        scalar: ScalarType,
        values: Vec<&'a Datum>,
    },
    /// By the names of members.
    Members(&'a Datum),
    /// They follow from a rule, stand in a file, or there are none.
    NotAtHand,
}

impl<'a> InputValues<'a> {
    fn of_buffer(test: &'a TestEvidence, buffer: &str) -> Self {
        let Some(stated) = test.definition.buffers.get(buffer) else { return Self::NotAtHand };
        if let Some(bytes) = stated.bytes.as_deref().and_then(decoded_bytes) {
            return Self::Bytes(bytes);
        }
        match (&stated.data, stated.data_type) {
            (Some(data), Some(DataType::Reflect)) => Self::Members(data),
            (Some(data), Some(data_type)) => match scalars::scalar_of(data_type) {
                Some(scalar) => {
                    let mut values = Vec::new();
                    add_scalars(data, &mut values);
                    Self::Scalars { scalar, values }
                }
                None => Self::NotAtHand,
            },
            (Some(_), None) | (None, _) => Self::NotAtHand,
        }
    }

    fn value_at(&self, named: &NamedScalar) -> Option<MemberValue> {
        match self {
            Self::Bytes(bytes) => {
                Some(MemberValue::of_bytes(bytes_at(bytes, named)?, named.scalar))
            }
            Self::Scalars { scalar, values } => {
                let size = scalar.size() as u64;
                if *scalar != named.scalar || !named.offset.is_multiple_of(size) {
                    return None;
                }
                stated_value(values.get(usize::try_from(named.offset / size).ok()?)?)
            }
            Self::Members(data) => stated_value(datum_at(data, &named.path)?),
            Self::NotAtHand => None,
        }
    }

    /// Up to the last value that is stated.
    fn bytes(&self, layout: &BlockLayout) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Scalars { scalar, values } => (values.len() * scalar.size()) as u64,
            Self::Members(data) => {
                let scalars = layout.scalars(u64::MAX, MEMBERS_LOOKED_AT);
                let stated = scalars.iter().filter(|named| datum_at(data, &named.path).is_some());
                stated.map(|named| named.offset + named.scalar.size() as u64).max().unwrap_or(0)
            }
            Self::NotAtHand => 0,
        }
    }
}

fn add_scalars<'a>(data: &'a Datum, scalars: &mut Vec<&'a Datum>) {
    match data {
        Datum::List(values) => values.iter().for_each(|value| add_scalars(value, scalars)),
        Datum::Record(_)
        | Datum::Float(_)
        | Datum::Bool(_)
        | Datum::Integer(_)
        | Datum::Text(_) => scalars.push(data),
    }
}

/// As the test writes it; none of a list or of an object that is no device address.
fn stated_value(data: &Datum) -> Option<MemberValue> {
    let words = match data {
        Datum::Float(value) => float_in_words(*value),
        Datum::Bool(_) | Datum::Integer(_) => data.to_string(),
        Datum::Text(text) => text.clone(),
        Datum::Record(members) => address_in_words(members)?,
        Datum::List(_) => return None,
    };
    Some(MemberValue { words, bytes: None })
}

/// `address of b, byte 4`
fn address_in_words(members: &BTreeMap<String, Datum>) -> Option<String> {
    let Some(Datum::Text(buffer)) = members.get("address_of") else { return None };
    let byte = members.get("offset").map_or_else(|| "0".to_owned(), ToString::to_string);
    Some(format!("address of {buffer}, byte {byte}"))
}

/// What an object says of `star[1].place.x`, where vectors and matrices are lists.
fn datum_at<'a>(data: &'a Datum, path: &str) -> Option<&'a Datum> {
    path.split(['.', '[']).try_fold(data, |data, step| {
        let step = step.trim_end_matches(']');
        match data {
            Datum::Record(members) => members.get(step),
            Datum::List(values) => {
                let component = ["x", "y", "z", "w"].iter().position(|name| *name == step);
                values.get(component.or_else(|| step.parse().ok())?)
            }
            Datum::Float(_) | Datum::Bool(_) | Datum::Integer(_) | Datum::Text(_) => None,
        }
    })
}

/// As far as contents are known.
fn known_bytes(
    input: &InputValues<'_>,
    layout: &BlockLayout,
    expectations: &[(&StoredExpectation, Vec<PlacedRun>)],
    outputs: &[DistinctOutput],
) -> u64 {
    let run_ends = expectations
        .iter()
        .flat_map(|(_, runs)| runs)
        .map(|run| run.offset.saturating_add(run.bytes.len() as u64));
    let output_ends = outputs.iter().map(|output| output.bytes.len() as u64);
    run_ends.chain(output_ends).chain([input.bytes(layout)]).max().unwrap_or(0)
}

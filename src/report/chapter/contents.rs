//! Contents of a test: what goes in, what is expected and what came out, each with its type, where
//! the evidence holds it, its SHA-256 and its values, or the first of them.
//!
//! Promises: every buffer and image of the test, every expectation, and every output that one looks
//! at have a row; values that are left out are counted.
//! Does not cover: contents that follow from a rule (they are told by the rule).

use super::fill_rule::rule_in_words;
use super::members::single_layout;
use crate::document::{Table, Text, Tone};
use crate::scalars;
use crate::shortened::shortened;
use base64::Engine as _;
use std::collections::BTreeSet;
use vkcert_model::canonical::content_hash;
use vkcert_model::element::{DataType, Datum, ElementType, ScalarType};
use vkcert_model::evidence::{Evidence, OutputBytes, StoredContents, TestEvidence};
use vkcert_model::image::{Image, TexelEncoding};
use vkcert_model::procedure::{Buffer, Fill};

/// So many values are printed in full.
const ALL_VALUES: usize = 16;
/// Of more values, so many.
const FIRST_VALUES: usize = 8;
/// Characters of a value that has no end of its own.
const VALUE: usize = 160;

/// Where `campaign.json` stands in the manifest.
const CAMPAIGN: &str = "campaign.json";

/// What every table of contents goes without.
pub(super) fn contents_legend(evidence: &Evidence) -> Text {
    let campaign_hash =
        evidence.manifest.outputs.get(CAMPAIGN).map(|hash| hash.trim_start_matches("sha256:"));
    let campaign_hash = campaign_hash.map_or_else(Text::empty, |hash| {
        Text::plain(" (SHA-256 ").followed_by(Text::code(hash)).then_plain(")")
    });
    Text::plain("Contents stand in ")
        .followed_by(Text::code(CAMPAIGN))
        .followed_by(campaign_hash)
        .followed_by(Text::sentence(format!(
            " of the evidence, at the JSON pointer given; what a test states itself is also covered by its hash. SHA-256 is that of \
             the bytes. Up to {ALL_VALUES} values are printed, of more the first {FIRST_VALUES} and, of \
             numbers, the least, the greatest and the mean of all (rounded to six digits). Values are little-endian in the \
             type that the test gives the buffer, or the expectation that looks at it; without one they are bytes. Where a kernel's block \
             is more than one list of numbers, a table by the names of its members follows. In it a difference of 0 means the same bits. \
             Blocks whose members have no names in the module are told as plain elements. In a table of members “–” says: of the input of a `reflect` \
             buffer, that the member is not initialised; of other input and of output, that nothing of the member's type stands in \
             its place; of what is expected, that no comparison has a value of its own for it."
        )))
}

/// Where a part of a test stands in the campaign (RFC 6901).
fn json_pointer(test_index: usize, pointer_parts: &[&str]) -> Text {
    let pointer_parts: Vec<String> =
        pointer_parts.iter().map(|part| part.replace('~', "~0").replace('/', "~1")).collect();
    Text::code(format!("/tests/{test_index}/{}", pointer_parts.join("/")))
}

/// The table of a test, `index` in the evidence's tests; none of a test without contents.
pub(super) fn contents_table(evidence: &Evidence, test_index: usize) -> Option<Table> {
    let mut table = stated_contents_table(evidence, test_index);
    let test = &evidence.campaign.tests[test_index];
    let judged_buffers: BTreeSet<&str> =
        test.expected.iter().map(|expected| expected.buffer.as_str()).collect();
    for name in judged_buffers {
        add_output_rows(test, name, &mut table, |result_index| {
            json_pointer(test_index, &["results", &result_index.to_string(), "outputs", name])
        });
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The same without what came out.
pub(super) fn case_contents_table(evidence: &Evidence, test_index: usize) -> Option<Table> {
    let table = stated_contents_table(evidence, test_index);
    (!table.rows.is_empty()).then_some(table)
}

/// What goes in and what is expected.
fn stated_contents_table(evidence: &Evidence, test_index: usize) -> Table {
    let test = &evidence.campaign.tests[test_index];
    let columns = ["Contents", "Type and number", "Values", "Stands in"];
    let mut table = Table::new(format!("Contents of {}", test.id)).columns(&columns);
    for (name, buffer) in &test.definition.buffers {
        let mut stated_contents = buffer_contents(buffer);
        if let (Some(_), Some(DataType::Reflect), Some(_)) =
            (single_layout(test, name), buffer.data_type, &buffer.data)
        {
            stated_contents.by_member();
        }
        let file_words =
            buffer.file.as_deref().map(|file_path| file_with_hash(evidence, test, file_path));
        let contents_place = json_pointer(test_index, &["definition", "buffers", name]);
        table.add_row(contents_row("Input", name, stated_contents, contents_place, file_words));
    }
    for (name, image) in &test.definition.images {
        let file_words =
            image.file.as_deref().map(|file_path| file_with_hash(evidence, test, file_path));
        table.add_row(contents_row(
            "Input image",
            name,
            image_contents(image),
            json_pointer(test_index, &["definition", "images", name]),
            file_words,
        ));
    }
    for (number, expected) in test.expected.iter().enumerate() {
        let contents_place =
            json_pointer(test_index, &["expected", &number.to_string(), "contents"]);
        let (mut stated_contents, contents_hash) = expected_contents(&expected.contents);
        if let (Some(_), StoredContents::Values(_), None) =
            (single_layout(test, &expected.buffer), &expected.contents, expected.record)
        {
            stated_contents.by_member();
        }
        table.add_row(contents_row(
            "Expected",
            &expected.buffer,
            stated_contents,
            contents_place,
            contents_hash.map(Text::code),
        ));
    }
    table
}

/// Type and number, and the values or what they follow from.
struct StatedContents {
    kind: String,
    values: Text,
}

impl StatedContents {
    /// A table of members tells the values.
    fn by_member(&mut self) {
        self.values = Text::plain("by member, below");
    }
}

fn contents_row(
    role: &str,
    name: &str,
    stated_contents: StatedContents,
    contents_place: Text,
    more_places: Option<Text>,
) -> Vec<Text> {
    let subject = Text::plain(format!("{role} ")).followed_by(Text::code(name));
    let contents_place = more_places
        .into_iter()
        .fold(contents_place, |places, next_place| places.then_plain(", ").followed_by(next_place));
    vec![subject, Text::plain(stated_contents.kind), stated_contents.values, contents_place]
}

fn value_count(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}

/// Type and number of a buffer's elements.
pub(super) fn buffer_kind(buffer: &Buffer) -> String {
    buffer_contents(buffer).kind
}

/// Shape, format and size of an image.
pub(super) fn image_kind(image: &Image) -> String {
    image_contents(image).kind
}

fn buffer_contents(buffer: &Buffer) -> StatedContents {
    let type_words =
        buffer.data_type.map_or_else(|| "no type".to_owned(), |data_type| data_type.to_string());
    let element = match buffer.data_type {
        Some(DataType::Element(element)) => Some(element),
        Some(DataType::Reflect) | None => None,
    };
    let contents = InitialContents {
        data: buffer.data.as_ref(),
        bytes: buffer.bytes.as_deref(),
        fill: buffer.fill.as_ref(),
        file: buffer.file.is_some(),
        element,
    };
    let count_words = buffer.count.map(element_count);
    let mut stated_contents = contents.stated_contents(type_words, count_words.clone());
    let is_block = buffer.data_type == Some(DataType::Reflect) && buffer.data.is_some();
    if let Some(count_words) = count_words.filter(|_| is_block) {
        let array_words = format!(", {count_words} of the array at the end of its block");
        stated_contents.kind.push_str(&array_words);
    }
    stated_contents
}

fn element_count(count: u64) -> String {
    if count == 1 { "1 element".to_owned() } else { format!("{count} elements") }
}

fn image_contents(image: &Image) -> StatedContents {
    let extent_words = image.extent.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
    let part_words = |name: &str, count: Option<u32>| {
        count.map(|count| format!(", {name} {count}")).unwrap_or_default()
    };
    let all_parts =
        [("layers", image.layers), ("levels", image.levels), ("samples", image.samples)];
    let all_parts: String =
        all_parts.into_iter().map(|(name, count)| part_words(name, count)).collect();
    let type_words =
        format!("{} {}, {extent_words} texels{all_parts}", image.dim.name(), image.format.name());
    let contents = InitialContents {
        data: image.data.as_ref(),
        bytes: image.bytes.as_deref(),
        fill: image.fill.as_ref(),
        file: image.file.is_some(),
        element: Some(ElementType {
            scalar: image.format.component(),
            components: image.format.components(),
        }),
    };
    contents.stated_contents(type_words, None)
}

/// The forms in which a test states initial contents; of these it has one, or none.
struct InitialContents<'a> {
    data: Option<&'a Datum>,
    bytes: Option<&'a str>,
    fill: Option<&'a Fill>,
    file: bool,
    /// What a rule makes; none of bytes and of a kernel's block.
    element: Option<ElementType>,
}

impl InitialContents<'_> {
    /// `element_count` is told where no values are, such as `2 elements`.
    fn stated_contents(&self, type_words: String, element_count: Option<String>) -> StatedContents {
        if let Some(data) = self.data {
            let mut leaves = Vec::new();
            add_leaves(data, &mut leaves);
            return StatedContents {
                kind: format!("{type_words}, {}", value_count(leaves.len())),
                values: shown_numbers(&leaves),
            };
        }
        if let Some(base64) = self.bytes {
            let Some(bytes) = decoded_bytes(base64) else {
                return StatedContents { kind: type_words, values: undecoded_note() };
            };
            let bytes_hash = content_hash(&bytes);
            let values = shown_values(&bytes_in_hex(&bytes))
                .then_plain(", ")
                .followed_by(Text::code(bytes_hash));
            return StatedContents { kind: format!("{type_words}, {} bytes", bytes.len()), values };
        }
        let rule_words = match self.fill {
            Some(fill) => rule_in_words(fill, self.element),
            None if self.file => "those of the file".to_owned(),
            None => "not initialised".to_owned(),
        };
        let kind = match element_count {
            Some(element_count) => format!("{type_words}, {element_count}"),
            None => type_words,
        };
        StatedContents { kind, values: Text::plain(rule_words) }
    }
}

/// Numbers, Booleans and strings in order; those of an object with their member's name.
fn add_leaves(data: &Datum, leaves: &mut Vec<String>) {
    match data {
        Datum::List(values) => values.iter().for_each(|value| add_leaves(value, leaves)),
        Datum::Record(members) => {
            for (name, value) in members {
                let first_leaf = leaves.len();
                add_leaves(value, leaves);
                leaves[first_leaf..].iter_mut().for_each(|leaf| *leaf = format!("{name} {leaf}"));
            }
        }
        Datum::Float(value) => leaves.push(scalars::float_in_words(*value)),
        Datum::Bool(_) | Datum::Integer(_) => leaves.push(data.to_string()),
        Datum::Text(text) => leaves.push(text.clone()),
    }
}

fn value_list(values: &[String]) -> Text {
    Text::code(shortened(&values.join(", "), VALUE))
}

/// All of few values; the first of many with their number, and what is told of all of them.
fn shown_values(values: &[String]) -> Text {
    match values.len() {
        0 => Text::quiet("none"),
        1..=ALL_VALUES => value_list(values),
        count => value_list(&values[..FIRST_VALUES])
            .followed_by(Text::quiet(format!(", … and {} more", count - FIRST_VALUES))),
    }
}

/// The same of numbers, with statistics of all where not all are shown.
fn shown_numbers(values: &[String]) -> Text {
    let shown = shown_values(values);
    match number_statistics(values).filter(|_| values.len() > ALL_VALUES) {
        Some(statistics) => shown.followed_by(Text::quiet(format!("; {statistics}"))),
        None => shown,
    }
}

/// `least 0, greatest 39, mean 19.5`; none where not every value is a number.
pub(super) fn number_statistics(values: &[String]) -> Option<String> {
    let integers: Option<Vec<i128>> = values.iter().map(|value| value.parse().ok()).collect();
    if let Some(integers) = integers {
        let (least, greatest) = (integers.iter().min()?, integers.iter().max()?);
        let mean = integers.iter().sum::<i128>() as f64 / integers.len() as f64;
        return Some(format!("least {least}, greatest {greatest}, mean {}", six_digits(mean)));
    }
    let floats: Option<Vec<f64>> = values.iter().map(|value| value.parse().ok()).collect();
    let floats = floats?;
    let finite = || floats.iter().copied().filter(|value| value.is_finite());
    let other_words = match floats.len() - finite().count() {
        0 => String::new(),
        other_count => format!(", {other_count} NaN or infinite"),
    };
    let (least, greatest) = (finite().reduce(f64::min), finite().reduce(f64::max));
    let (Some(least), Some(greatest)) = (least, greatest) else {
        return Some("no finite number".to_owned());
    };
    let count = finite().count() as f64;
    // Divided before they are summed: the sum of great values is no number.
    let mean: f64 = finite().map(|value| value / count).sum();
    let [least, greatest] = [least, greatest].map(scalars::float_in_words);
    Some(format!("least {least}, greatest {greatest}, mean {}{other_words}", six_digits(mean)))
}

/// Rounded to six significant digits.
fn six_digits(value: f64) -> String {
    let rounded = format!("{value:.5e}").parse().unwrap_or(value);
    scalars::float_in_words(rounded)
}

/// Said of contents that only evidence which does not verify can hold.
fn undecoded_note() -> Text {
    Text::plain("cannot be decoded: not base64").with_tone(Tone::Bad)
}

pub(super) fn decoded_bytes(base64: &str) -> Option<Vec<u8>> {
    base64::engine::general_purpose::STANDARD.decode(base64).ok()
}

fn bytes_in_hex(bytes: &[u8]) -> Vec<String> {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A data file with its hash as the manifest has it.
fn file_with_hash(evidence: &Evidence, test: &TestEvidence, path: &str) -> Text {
    let beside_test = test.file.rsplit_once('/').map(|(folder, _)| format!("{folder}/{path}"));
    let manifest_entry = |input_path: String| {
        evidence.manifest.inputs.get(&input_path).map(|file_hash| (input_path, file_hash))
    };
    match manifest_entry(path.to_owned()).or_else(|| beside_test.and_then(manifest_entry)) {
        Some((input_path, file_hash)) => Text::plain("file ")
            .followed_by(Text::code(input_path))
            .then_plain(" ")
            .followed_by(Text::code(file_hash.as_str())),
        None => Text::plain("file ")
            .followed_by(Text::code(path))
            .followed_by(Text::plain(" (not in the manifest)").with_tone(Tone::Caution)),
    }
}

/// What is expected, with the SHA-256 of its bytes where the evidence holds them.
fn expected_contents(contents: &StoredContents) -> (StatedContents, Option<String>) {
    let by_rule_words = |type_words: &str, values: String| {
        (StatedContents { kind: type_words.to_owned(), values: Text::sentence(values) }, None)
    };
    match contents {
        StoredContents::Values(runs) => {
            let (mut values, mut all_bytes, mut scalar_types) =
                (Vec::new(), Vec::new(), Vec::new());
            for run in runs {
                let Some(bytes) = decoded_bytes(&run.bytes) else {
                    return (
                        StatedContents { kind: run.scalar.clone(), values: undecoded_note() },
                        None,
                    );
                };
                let scalar = ScalarType::of_name(&run.scalar);
                values.extend(scalar.map_or_else(
                    || bytes_in_hex(&bytes).iter().map(|byte| format!("0x{byte}")).collect(),
                    |scalar| scalars::scalars_in_words(&bytes, scalar),
                ));
                all_bytes.extend(bytes);
                if !scalar_types.contains(&run.scalar.as_str()) {
                    scalar_types.push(&run.scalar);
                }
            }
            let type_words =
                format!("{}, {}", scalar_types.join(" and "), value_count(values.len()));
            (
                StatedContents { kind: type_words, values: shown_numbers(&values) },
                Some(content_hash(&all_bytes)),
            )
        }
        StoredContents::EqualsBuffer { buffer, scalar, .. } => {
            by_rule_words(scalar, format!("those of `{buffer}` at the end"))
        }
        StoredContents::Reference { kernel, scalar, .. } => by_rule_words(
            scalar,
            format!("what the reference kernel `{kernel}` stores; not stored"),
        ),
        StoredContents::Check { kernel, .. } => by_rule_words(
            "uint",
            format!("1 in every uint, which the checker kernel `{kernel}` writes"),
        ),
    }
}

/// How the bytes of a judged output are read: as the test types the buffer, as its image format
/// stores it, or as the expectation.
fn scalar_of(test: &TestEvidence, name: &str) -> Option<ScalarType> {
    if let Some(image) = test.definition.images.get(name) {
        return match image.format.encoding() {
            TexelEncoding::Plain(scalar) => Some(scalar),
            // Told as bytes.
            TexelEncoding::Unorm(_)
            | TexelEncoding::Snorm(_)
            | TexelEncoding::Srgb
            | TexelEncoding::Rgb10A2
            | TexelEncoding::Rgb10A2Uint
            | TexelEncoding::R11G11B10 => None,
        };
    }
    let expected_scalar =
        test.expected.iter().find(|expectation| expectation.buffer == name).and_then(
            |expectation| match &expectation.contents {
                StoredContents::Values(runs) => runs.first().map(|run| run.scalar.as_str()),
                StoredContents::EqualsBuffer { scalar, .. }
                | StoredContents::Reference { scalar, .. } => Some(scalar.as_str()),
                StoredContents::Check { .. } => Some("uint"),
            },
        );
    let stated_type = test.definition.buffers.get(name).and_then(|buffer| buffer.data_type);
    let stated_type = stated_type.and_then(scalars::scalar_of);
    stated_type.or_else(|| ScalarType::of_name(expected_scalar?))
}

/// What engines left in a judged buffer or image; those that left the same are one row.
fn add_output_rows(
    test: &TestEvidence,
    name: &str,
    table: &mut Table,
    pointer: impl Fn(usize) -> Text,
) {
    let mut results_by_output: Vec<(&OutputBytes, Vec<usize>)> = Vec::new();
    for (result_index, result) in test.results.iter().enumerate() {
        let Some(output) = result.outputs.get(name) else { continue };
        match results_by_output.iter_mut().find(|(known_output, _)| *known_output == output) {
            Some((_, results)) => results.push(result_index),
            None => results_by_output.push((output, vec![result_index])),
        }
    }
    for (output, results) in results_by_output {
        let engines = results
            .iter()
            .map(|result_index| test.results[*result_index].engine.to_string())
            .collect::<Vec<_>>()
            .join(", ");
        let (mut stated_contents, output_hash) = output_contents(output, scalar_of(test, name));
        if let (Some(_), OutputBytes::Bytes(base64)) = (single_layout(test, name), output)
            && let Some(bytes) = decoded_bytes(base64)
        {
            // Members have types of their own.
            stated_contents.kind = format!("{} bytes", bytes.len());
            stated_contents.by_member();
        }
        let contents_place =
            Text::join(results.iter().map(|result_index| pointer(*result_index)), ", ");
        let mut row_cells = contents_row(
            "Actual",
            name,
            stated_contents,
            contents_place,
            output_hash.map(Text::code),
        );
        row_cells[0] = std::mem::take(&mut row_cells[0]).then_plain(format!(", {engines}"));
        table.add_row(row_cells);
    }
}

/// An output with the SHA-256 of its bytes, where it can be told.
fn output_contents(
    output: &OutputBytes,
    scalar: Option<ScalarType>,
) -> (StatedContents, Option<String>) {
    let bytes = match output {
        OutputBytes::Bytes(base64) => match decoded_bytes(base64) {
            Some(bytes) => bytes,
            None => {
                return (
                    StatedContents { kind: "bytes".to_owned(), values: undecoded_note() },
                    None,
                );
            }
        },
        OutputBytes::Hash { sha256, bytes } => {
            let values = Text::plain("not stored: above the limit");
            return (
                StatedContents { kind: format!("{bytes} bytes"), values },
                Some(sha256.clone()),
            );
        }
    };
    let output_hash = content_hash(&bytes);
    let stated_contents = match scalar {
        Some(scalar) if bytes.len().is_multiple_of(scalar.size()) => {
            let values = scalars::scalars_in_words(&bytes, scalar);
            StatedContents {
                kind: format!("{scalar}, {}", value_count(values.len())),
                values: shown_numbers(&values),
            }
        }
        Some(_) | None => StatedContents {
            kind: format!("{} bytes", bytes.len()),
            values: shown_values(&bytes_in_hex(&bytes)),
        },
    };
    (stated_contents, Some(output_hash))
}

#[cfg(test)]
mod tests {
    use super::number_statistics;

    fn of(values: &[&str]) -> Option<String> {
        number_statistics(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn statistics_are_of_all_numbers_and_name_what_has_none() {
        let told = |values: &[&str]| of(values).unwrap();
        assert_eq!(told(&["3", "-1", "1"]), "least -1, greatest 3, mean 1");
        let great = "18446744073709551615";
        assert_eq!(told(&[great, "0"]), format!("least 0, greatest {great}, mean 9.22337e18"));
        assert_eq!(
            told(&["0.5", "NaN", "2", "-Infinity"]),
            "least 0.5, greatest 2, mean 1.25, 2 NaN or infinite"
        );
        assert_eq!(told(&["1e308", "1e308"]), "least 1e308, greatest 1e308, mean 1e308");
        assert_eq!(told(&["NaN"]), "no finite number");
        assert_eq!(of(&["flags 3"]), None);
        assert_eq!(of(&[]), None);
    }
}

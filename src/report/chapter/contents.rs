//! Contents of a test: what goes in, what is expected and what came out, each with its type, where
//! the evidence holds it, its SHA-256 and its values, or the first of them.
//!
//! Promises: every buffer and image of the test, every expectation, and every output that one looks
//! at have a row; values that are left out are counted.
//! Does not cover: contents that follow from a rule (they are told by the rule).

use crate::document::{Table, Text, Tone};
use crate::scalars;
use crate::shortened::shortened;
use base64::Engine as _;
use std::collections::BTreeSet;
use vkcert_model::canonical::content_hash;
use vkcert_model::element::{Datum, ScalarType};
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
pub(super) fn legend(evidence: &Evidence) -> Text {
    let hash =
        evidence.manifest.outputs.get(CAMPAIGN).map(|hash| hash.trim_start_matches("sha256:"));
    let hash = hash
        .map_or_else(Text::empty, |hash| Text::plain(" (SHA-256 ").and(Text::code(hash)).then(")"));
    Text::plain("Contents stand in ")
        .and(Text::code(CAMPAIGN))
        .and(hash)
        .then(format!(
            " of the evidence, at the JSON pointer given; what a test states itself is also covered by its hash. SHA-256 is that of \
             the bytes. Up to {ALL_VALUES} values are printed, of more the first {FIRST_VALUES}. Values are little-endian in the \
             type that the test gives the buffer, or the expectation that looks at it; without one they are bytes."
        ))
}

/// The table of a test, `index` in the evidence's tests; none of a test without contents.
pub(super) fn table(evidence: &Evidence, index: usize) -> Option<Table> {
    let test = &evidence.campaign.tests[index];
    let pointer = |parts: &[&str]| {
        let parts: Vec<String> =
            parts.iter().map(|part| part.replace('~', "~0").replace('/', "~1")).collect();
        Text::code(format!("/tests/{index}/{}", parts.join("/")))
    };
    let columns = ["Contents", "Type and number", "Values", "Stands in"];
    let mut table = Table::new(format!("Contents of {}", test.id)).columns(&columns);
    for (name, buffer) in &test.definition.buffers {
        let stated = of_buffer(buffer);
        let file = buffer.file.as_deref().map(|path| of_file(evidence, test, path));
        let place = pointer(&["definition", "buffers", name]);
        table.row(row("Input", name, stated, place, file));
    }
    for (name, image) in &test.definition.images {
        let file = image.file.as_deref().map(|path| of_file(evidence, test, path));
        table.row(row(
            "Input image",
            name,
            of_image(image),
            pointer(&["definition", "images", name]),
            file,
        ));
    }
    for (number, expected) in test.expected.iter().enumerate() {
        let place = pointer(&["expected", &number.to_string(), "contents"]);
        let (stated, hash) = of_expected(&expected.contents);
        table.row(row("Expected", &expected.buffer, stated, place, hash.map(Text::code)));
    }
    let judged: BTreeSet<&str> =
        test.expected.iter().map(|expected| expected.buffer.as_str()).collect();
    for name in judged {
        actual(test, name, &mut table, |result| {
            pointer(&["results", &result.to_string(), "outputs", name])
        });
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Type and number, and the values or what they follow from.
struct Stated {
    kind: String,
    values: Text,
}

fn row(role: &str, name: &str, stated: Stated, place: Text, more: Option<Text>) -> Vec<Text> {
    let subject = Text::plain(format!("{role} ")).and(Text::code(name));
    let place = more.into_iter().fold(place, |place, more| place.then(", ").and(more));
    vec![subject, Text::plain(stated.kind), stated.values, place]
}

fn numbers(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}

fn of_buffer(buffer: &Buffer) -> Stated {
    let kind =
        buffer.data_type.map_or_else(|| "no type".to_owned(), |data_type| data_type.to_string());
    let contents = Contents {
        data: buffer.data.as_ref(),
        bytes: buffer.bytes.as_deref(),
        fill: buffer.fill.as_ref(),
        file: buffer.file.is_some(),
    };
    contents.stated(
        kind,
        buffer.count.map(|count| {
            if count == 1 { "1 element".to_owned() } else { format!("{count} elements") }
        }),
    )
}

fn of_image(image: &Image) -> Stated {
    let extent = image.extent.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
    let part = |name: &str, count: Option<u32>| {
        count.map(|count| format!(", {name} {count}")).unwrap_or_default()
    };
    let parts = [("layers", image.layers), ("levels", image.levels), ("samples", image.samples)];
    let parts: String = parts.into_iter().map(|(name, count)| part(name, count)).collect();
    let kind = format!("{} {}, {extent} texels{parts}", image.dim.name(), image.format.name());
    let contents = Contents {
        data: image.data.as_ref(),
        bytes: image.bytes.as_deref(),
        fill: image.fill.as_ref(),
        file: image.file.is_some(),
    };
    contents.stated(kind, None)
}

/// The forms in which a test states initial contents; of these it has one, or none.
struct Contents<'a> {
    data: Option<&'a Datum>,
    bytes: Option<&'a str>,
    fill: Option<&'a Fill>,
    file: bool,
}

impl Contents<'_> {
    fn stated(&self, kind: String, count: Option<String>) -> Stated {
        let counted = |count: Option<String>| {
            count.map_or_else(|| kind.clone(), |count| format!("{kind}, {count}"))
        };
        if let Some(data) = self.data {
            let mut leaves = Vec::new();
            add_leaves(data, &mut leaves);
            return Stated { kind: counted(Some(numbers(leaves.len()))), values: shown(&leaves) };
        }
        if let Some(base64) = self.bytes {
            let Some(bytes) = decoded(base64) else { return Stated { kind, values: undecoded() } };
            let hash = content_hash(&bytes);
            let values = shown(&hexadecimal(&bytes)).then(", ").and(Text::code(hash));
            return Stated { kind: counted(Some(format!("{} bytes", bytes.len()))), values };
        }
        let rule = match self.fill {
            Some(fill) => by_rule(fill),
            None if self.file => "those of the file".to_owned(),
            None => "not initialised".to_owned(),
        };
        Stated { kind: counted(count), values: Text::plain(rule) }
    }
}

fn by_rule(fill: &Fill) -> String {
    let bound = |value: &Option<Datum>, absent: &str| {
        value.as_ref().map_or(absent.to_owned(), ToString::to_string)
    };
    match fill {
        Fill::Constant(value) => format!("every element {value}"),
        Fill::Iota(iota) => {
            format!("from {} on in steps of {}", bound(&iota.start, "0"), bound(&iota.step, "1"))
        }
        Fill::Random(random) => format!(
            "random (SplitMix64), seed {}, from {} to {}",
            random.seed,
            bound(&random.min, "the type's least"),
            bound(&random.max, "the type's greatest")
        ),
    }
}

/// Numbers, Booleans and strings in order; those of an object with their member's name.
fn add_leaves(data: &Datum, leaves: &mut Vec<String>) {
    match data {
        Datum::List(values) => values.iter().for_each(|value| add_leaves(value, leaves)),
        Datum::Record(members) => {
            for (name, value) in members {
                let first = leaves.len();
                add_leaves(value, leaves);
                leaves[first..].iter_mut().for_each(|leaf| *leaf = format!("{name} {leaf}"));
            }
        }
        Datum::Float(value) => leaves.push(scalars::real(*value)),
        Datum::Bool(_) | Datum::Integer(_) => leaves.push(data.to_string()),
        Datum::Text(text) => leaves.push(text.clone()),
    }
}

/// All of few values, the first of many with their number.
fn shown(values: &[String]) -> Text {
    let list = |values: &[String]| {
        let text = values.join(", ");
        Text::code(shortened(&text, VALUE))
    };
    match values.len() {
        0 => Text::quiet("none"),
        1..=ALL_VALUES => list(values),
        count => list(&values[..FIRST_VALUES])
            .and(Text::quiet(format!(", … and {} more", count - FIRST_VALUES))),
    }
}

/// Said of contents that only evidence which does not verify can hold.
fn undecoded() -> Text {
    Text::plain("cannot be decoded: not base64").tone(Tone::Bad)
}

fn decoded(base64: &str) -> Option<Vec<u8>> {
    base64::engine::general_purpose::STANDARD.decode(base64).ok()
}

fn hexadecimal(bytes: &[u8]) -> Vec<String> {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A data file with its hash as the manifest has it.
fn of_file(evidence: &Evidence, test: &TestEvidence, path: &str) -> Text {
    let beside = test.file.rsplit_once('/').map(|(folder, _)| format!("{folder}/{path}"));
    let known = |path: String| evidence.manifest.inputs.get(&path).map(|hash| (path, hash));
    match known(path.to_owned()).or_else(|| beside.and_then(known)) {
        Some((path, hash)) => {
            Text::plain("file ").and(Text::code(path)).then(" ").and(Text::code(hash.as_str()))
        }
        None => Text::plain("file ")
            .and(Text::code(path))
            .and(Text::plain(" (not in the manifest)").tone(Tone::Caution)),
    }
}

/// What is expected, with the SHA-256 of its bytes where the evidence holds them.
fn of_expected(contents: &StoredContents) -> (Stated, Option<String>) {
    let rule = |kind: &str, values: String| {
        (Stated { kind: kind.to_owned(), values: Text::sentence(values) }, None)
    };
    match contents {
        StoredContents::Values(runs) => {
            let (mut values, mut all, mut types) = (Vec::new(), Vec::new(), Vec::new());
            for run in runs {
                let Some(bytes) = decoded(&run.bytes) else {
                    return (Stated { kind: run.scalar.clone(), values: undecoded() }, None);
                };
                let scalar = ScalarType::of_name(&run.scalar);
                values.extend(scalar.map_or_else(
                    || hexadecimal(&bytes),
                    |scalar| scalars::in_words(&bytes, scalar),
                ));
                all.extend(bytes);
                if !types.contains(&run.scalar.as_str()) {
                    types.push(&run.scalar);
                }
            }
            let kind = format!("{}, {}", types.join(" and "), numbers(values.len()));
            (Stated { kind, values: shown(&values) }, Some(content_hash(&all)))
        }
        StoredContents::EqualsBuffer { buffer, scalar, .. } => {
            rule(scalar, format!("those of `{buffer}` at the end"))
        }
        StoredContents::Reference { kernel, scalar, .. } => {
            rule(scalar, format!("what the reference kernel `{kernel}` stores; not stored"))
        }
        StoredContents::Check { kernel, .. } => {
            rule("uint", format!("1 wherever the checker kernel `{kernel}` stores"))
        }
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
    let expected =
        test.expected.iter().find(|expected| expected.buffer == name).and_then(|expected| {
            match &expected.contents {
                StoredContents::Values(runs) => runs.first().map(|run| run.scalar.as_str()),
                StoredContents::EqualsBuffer { scalar, .. }
                | StoredContents::Reference { scalar, .. } => Some(scalar.as_str()),
                StoredContents::Check { .. } => Some("uint"),
            }
        });
    let stated = test.definition.buffers.get(name).and_then(|buffer| buffer.data_type);
    let stated = stated.and_then(scalars::scalar_of);
    stated.or_else(|| ScalarType::of_name(expected?))
}

/// What engines left in a judged buffer or image; those that left the same are one row.
fn actual(test: &TestEvidence, name: &str, table: &mut Table, pointer: impl Fn(usize) -> Text) {
    let mut groups: Vec<(&OutputBytes, Vec<usize>)> = Vec::new();
    for (index, result) in test.results.iter().enumerate() {
        let Some(output) = result.outputs.get(name) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == output) {
            Some((_, results)) => results.push(index),
            None => groups.push((output, vec![index])),
        }
    }
    for (output, results) in groups {
        let engines = results
            .iter()
            .map(|index| test.results[*index].engine.to_string())
            .collect::<Vec<_>>()
            .join(", ");
        let (stated, hash) = of_output(output, scalar_of(test, name));
        let place = Text::join(results.iter().map(|index| pointer(*index)), ", ");
        let mut cells = row("Actual", name, stated, place, hash.map(Text::code));
        cells[0] = std::mem::take(&mut cells[0]).then(format!(", {engines}"));
        table.row(cells);
    }
}

/// An output with the SHA-256 of its bytes, where it can be told.
fn of_output(output: &OutputBytes, scalar: Option<ScalarType>) -> (Stated, Option<String>) {
    let bytes = match output {
        OutputBytes::Bytes(base64) => match decoded(base64) {
            Some(bytes) => bytes,
            None => return (Stated { kind: "bytes".to_owned(), values: undecoded() }, None),
        },
        OutputBytes::Hash { sha256, bytes } => {
            let values = Text::plain("not stored: above the limit");
            return (Stated { kind: format!("{bytes} bytes"), values }, Some(sha256.clone()));
        }
    };
    let hash = content_hash(&bytes);
    let stated = match scalar {
        Some(scalar) if bytes.len().is_multiple_of(scalar.size()) => {
            let values = scalars::in_words(&bytes, scalar);
            Stated { kind: format!("{scalar}, {}", numbers(values.len())), values: shown(&values) }
        }
        Some(_) | None => {
            Stated { kind: format!("{} bytes", bytes.len()), values: shown(&hexadecimal(&bytes)) }
        }
    };
    (stated, Some(hash))
}

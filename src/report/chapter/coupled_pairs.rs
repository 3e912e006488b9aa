//! The pairs of a kernel that tests show: who writes, who reads, what passes and how, which tests
//! tell.
//!
//! Promises: every covered pair has a row, up to a number of them; what is left out is counted, with
//! where it stands.
//! Does not cover: open and justified pairs, and what couples by control, which stand in lists of
//! their own.

use super::links::test_link;
use crate::document::{Outline, Table, Text};
use crate::shortened::shortened;
use std::collections::BTreeMap;
use vkcert_model::access_pair::ReadDescriptor;
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::evidence::KernelEvidence;
use vkcert_model::id::{ObligationId, TestId};
use vkcert_model::pair_obligation::{CouplingClass, PairObligation, PairPlace, ShownBy};
use vkcert_model::requirement::Interface;

/// Most rows of a kernel.
const MOST_ROWS: usize = 200;
/// Most tests that a row names.
const MOST_TESTS: usize = 6;
/// Most characters of a statement.
const MOST_CHARACTERS: usize = 96;

/// A table of what tests show on an engine; nothing where they show nothing. The interface tells
/// what of the host stands behind its values.
pub(super) fn shown_pairs(
    side: &KernelEvidence,
    interface: Option<&Interface>,
    outline: &mut Outline,
) {
    let obligations = side.pairs.iter().flat_map(|pairs| &pairs.obligations);
    let by_id: BTreeMap<ObligationId, &PairObligation> = obligations
        .map(|obligation| (ObligationId::from(obligation.id.to_string()), obligation))
        .collect();
    let rows = side.coverage.coupling.iter().flatten();
    let is_covered = |row: &&SimpleObligation| row.status == Status::Covered;
    let shown: Vec<(&SimpleObligation, &PairObligation)> =
        rows.filter(is_covered).filter_map(|row| Some((row, *by_id.get(&row.id)?))).collect();
    if shown.is_empty() {
        return;
    }
    let caption = format!("Pairs that tests show, {} ({})", side.engine, shown.len());
    let mut table = Table::new(caption)
        .columns(&["Pair", "What passes, and how", "Written", "Read", "Shown by"])
        .folded();
    for (row, obligation) in shown.iter().take(MOST_ROWS) {
        table.add_row(vec![
            Text::code(row.id.as_str()),
            passing_text(side, obligation),
            obligation
                .definition
                .as_ref()
                .map_or_else(|| host_text(interface, obligation), |place| place_text(side, place)),
            place_text(side, &obligation.use_place),
            tests_text(&row.tests),
        ]);
    }
    outline.add_table(table);
    if let Some(words) = left_out_words(&shown) {
        outline.add_paragraph(Text::quiet(words));
    }
}

/// What is left out, and where it stands.
fn left_out_words(shown: &[(&SimpleObligation, &PairObligation)]) -> Option<String> {
    let left_out_rows = shown.len().saturating_sub(MOST_ROWS);
    let has_more_tests = shown.iter().any(|(row, _)| row.tests.len() > MOST_TESTS);
    let left_out = match (left_out_rows, has_more_tests) {
        (0, false) => return None,
        (0, true) => "All tests of each pair".to_owned(),
        (1, _) => "One more pair, and all tests of each,".to_owned(),
        (count, _) => format!("{count} more pairs, and all tests of each,"),
    };
    let verb = if left_out_rows == 1 { "stands" } else { "stand" };
    Some(format!(
        "{left_out} {verb} in the evidence of the kernel, in coverage.coupling and pairs.obligations."
    ))
}

fn passing_text(side: &KernelEvidence, obligation: &PairObligation) -> Text {
    let object = Text::code(obligation.object.as_str());
    match obligation.class {
        CouplingClass::HostToKernel => object.then_plain(" from the host"),
        CouplingClass::KernelToKernel => {
            let writer = obligation.definition.as_ref().and_then(|place| place.kernel);
            let writer = writer.unwrap_or(side.kernel);
            object.then_plain(" from a dispatch of ").followed_by(Text::code(writer.as_str()))
        }
        CouplingClass::InvocationToInvocation => match &obligation.barrier {
            Some(barrier) => {
                let number = barrier.number;
                object
                    .then_plain(format!(" across barrier {number} at "))
                    .followed_by(Text::code(place_words(side, &barrier.place)))
            }
            None => object.then_plain(" across a barrier"),
        },
        CouplingClass::Atomic => object.then_plain(" by atomics"),
        CouplingClass::Barrier | CouplingClass::Call => object,
    }
}

/// The host, with the expression or the binding that it gives the value by, where its interface
/// says so.
fn host_text(interface: Option<&Interface>, obligation: &PairObligation) -> Text {
    let host = Text::plain("the host");
    let given = interface.zip(obligation.pairs.first()).and_then(|(interface, pair)| {
        match (pair.descriptor, obligation.shown_by) {
            (Some(descriptor), _) => name_of_binding(interface, descriptor),
            (None, ShownBy::Read) => pushed_expression(interface, &obligation.object),
            (None, ShownBy::Execution) => None,
        }
    });
    match given {
        Some(given) => host.then_plain(": ").followed_by(Text::code(given)),
        None => host,
    }
}

fn name_of_binding(interface: &Interface, descriptor: ReadDescriptor) -> Option<&str> {
    let buffers = interface.buffers.iter().map(|row| (row.set, row.binding, row.name.as_deref()));
    let images = interface.images.iter().map(|row| (row.set, row.binding, row.name.as_deref()));
    let mut bindings = buffers.chain(images);
    let place = (descriptor.set, descriptor.binding);
    bindings.find(|(set, binding, _)| (*set, *binding) == place)?.2
}

/// What the host stores in the member of the push constants that an object names, with or without
/// the block. What device addresses name begins with `*`.
fn pushed_expression<'i>(interface: &'i Interface, object: &str) -> Option<&'i str> {
    let members = || interface.push_constants.iter().flat_map(|block| &block.members);
    let is_member = |name: &str| members().any(|member| member.name == name);
    let member_name = match object.split_once('.') {
        None => object,
        Some((block, member)) if !is_member(block) && !block.starts_with('*') => member,
        Some(_) => return None,
    };
    let member = members().find(|member| member.name == member_name.trim_end_matches("[]"))?;
    Some(member.value.as_deref().unwrap_or(&member.name))
}

/// Place and statement.
fn place_text(side: &KernelEvidence, place: &PairPlace) -> Text {
    let words = Text::code(place_words(side, place));
    match place.text.as_str() {
        "" => words,
        text => words.then_plain("  ").followed_by(Text::code(shortened(text, MOST_CHARACTERS))),
    }
}

fn place_words(side: &KernelEvidence, place: &PairPlace) -> String {
    if place.file == side.source || place.file.is_empty() {
        place.to_string()
    } else {
        format!("{}:{place}", place.file)
    }
}

fn tests_text(tests: &[TestId]) -> Text {
    let named = Text::join(tests.iter().take(MOST_TESTS).map(test_link), ", ");
    match tests.len().saturating_sub(MOST_TESTS) {
        0 => named,
        count => named.then_plain(format!(" and {count} more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Block, Outline};
    use vkcert_model::access_pair::{AccessPair, Passage};
    use vkcert_model::id::{KernelName, PairId};
    use vkcert_model::pair_obligation::{KernelPairs, NamedBy, PairBarrier, ShownBy};
    use vkcert_model::records::Reach;
    use vkcert_sample as sample;

    fn place(file: &str, line: u32, text: &str) -> PairPlace {
        PairPlace {
            kernel: None,
            file: file.to_owned(),
            line,
            column: 5,
            function: "main".to_owned(),
            instruction: 7,
            statement: None,
            text: text.to_owned(),
            named_by: NamedBy::Place,
        }
    }

    fn across_barrier(side: &KernelEvidence, number: u32) -> PairObligation {
        PairObligation {
            id: PairId(number),
            class: CouplingClass::InvocationToInvocation,
            object: "tile[]".to_owned(),
            definition: Some(place(&side.source, 10, "tile[i] = given[i];")),
            use_place: place("lib.glsl", 12, &"sum += tile[j]; ".repeat(9)),
            barrier: Some(PairBarrier { number: 2, place: place(&side.source, 11, "barrier();") }),
            shown_by: ShownBy::Read,
            reach: Reach::Possible,
            pairs: Vec::new(),
        }
    }

    fn row(side: &KernelEvidence, number: u32, status: Status, tests: usize) -> SimpleObligation {
        let names = (1..=tests).map(|test| TestId::from(format!("T-{test}").as_str()));
        SimpleObligation {
            id: ObligationId::from(format!("P{number}")),
            status,
            tests: names.collect(),
            ..side.coverage.statements[0].clone()
        }
    }

    /// Cells of the rows, and the words below the table.
    fn shown(side: &KernelEvidence) -> (Vec<Vec<String>>, Vec<String>) {
        let mut outline = Outline::default();
        shown_pairs(side, None, &mut outline);
        let mut told = (Vec::new(), Vec::new());
        for block in &outline.blocks {
            match block {
                Block::Table(table) => {
                    let cells = |row: &Vec<Text>| row.iter().map(Text::plain_words).collect();
                    told.0.extend(table.rows.iter().map(cells));
                }
                Block::Paragraph(text) => told.1.push(text.plain_words()),
                other => panic!("neither table nor paragraph: {other:?}"),
            }
        }
        told
    }

    #[test]
    fn a_covered_pair_stands_with_both_statements_and_its_tests() {
        let mut side = sample::evidence().kernels[0].clone();
        let mut from_host = across_barrier(&side, 2);
        (from_host.class, from_host.definition) = (CouplingClass::HostToKernel, None);
        let mut from_dispatch = across_barrier(&side, 4);
        from_dispatch.class = CouplingClass::KernelToKernel;
        from_dispatch.definition =
            Some(PairPlace { kernel: Some("first".into()), ..place("first.comp", 3, "a = 1u;") });
        let obligations =
            vec![across_barrier(&side, 1), from_host, across_barrier(&side, 3), from_dispatch];
        side.pairs = Some(KernelPairs { obligations, ..KernelPairs::default() });
        side.coverage.coupling = Some(vec![
            row(&side, 1, Status::Covered, 2),
            row(&side, 2, Status::Covered, 8),
            row(&side, 3, Status::Uncovered, 0),
            row(&side, 4, Status::Covered, 1),
        ]);
        let (rows, words) = shown(&side);
        let statement = shortened(&"sum += tile[j]; ".repeat(9), MOST_CHARACTERS);
        let read = format!("lib.glsl:12:5  {statement}");
        let expected = [
            [
                "P1",
                "tile[] across barrier 2 at 11:5",
                "10:5  tile[i] = given[i];",
                &read,
                "T-1, T-2",
            ],
            [
                "P2",
                "tile[] from the host",
                "the host",
                &read,
                "T-1, T-2, T-3, T-4, T-5, T-6 and 2 more",
            ],
            ["P4", "tile[] from a dispatch of first", "first.comp:3:5  a = 1u;", &read, "T-1"],
        ];
        assert_eq!(rows, expected);
        let expected = "All tests of each pair stand in the evidence of the kernel, in \
                        coverage.coupling and pairs.obligations.";
        assert_eq!(words, [expected]);
    }

    #[test]
    fn the_interface_names_what_the_host_gives() {
        let side = sample::evidence().kernels[0].clone();
        let interface: Interface = serde_json::from_value(serde_json::json!({
            "kernel": "k", "groups": ["1", "1", "1"],
            "buffers": [{ "set": 0, "binding": 2, "name": "given", "size": "4" }],
            "push_constants": { "members": [
                { "name": "count", "type": "uint32", "value": "rows * 2" },
                { "name": "scale", "type": "uint32" },
            ] },
        }))
        .expect("an interface");
        let told = |object: &str, descriptor: Option<u32>, shown_by: ShownBy| {
            let descriptor = descriptor.map(|binding| ReadDescriptor { set: 0, binding });
            let pair = AccessPair { use_index: 4, descriptor, passage: Passage::Host };
            let obligation = PairObligation {
                class: CouplingClass::HostToKernel,
                object: object.to_owned(),
                shown_by,
                pairs: vec![pair],
                ..across_barrier(&side, 1)
            };
            host_text(Some(&interface), &obligation).plain_words()
        };
        assert_eq!(told("count", None, ShownBy::Read), "the host: rows * 2");
        assert_eq!(told("Push.scale", None, ShownBy::Read), "the host: scale");
        assert_eq!(told("given[]", Some(2), ShownBy::Read), "the host: given");
        let others = [
            told("scale.count", None, ShownBy::Read),
            told("*Node.count", None, ShownBy::Read),
            told("other", None, ShownBy::Read),
            told("count", Some(1), ShownBy::Read),
            told("count", None, ShownBy::Execution),
        ];
        assert_eq!(others, ["the host"; 5]);
    }

    #[test]
    fn rows_beyond_the_limit_are_counted() {
        let mut side = sample::evidence().kernels[0].clone();
        for (count, left_out) in [(MOST_ROWS, None), (MOST_ROWS + 3, Some("3 more pairs"))] {
            let numbers = || 1..=count as u32;
            let obligations = numbers().map(|number| across_barrier(&side, number)).collect();
            let rows = numbers().map(|number| row(&side, number, Status::Covered, 1)).collect();
            side.pairs = Some(KernelPairs { obligations, ..KernelPairs::default() });
            side.coverage.coupling = Some(rows);
            let (rows, words) = shown(&side);
            assert_eq!(rows.len(), MOST_ROWS);
            let told = words.first().map(|words| words.starts_with(left_out.unwrap_or("?")));
            assert_eq!(told, left_out.map(|_| true), "{words:?}");
        }
    }

    #[test]
    fn nothing_stands_where_tests_show_nothing() {
        let mut side = sample::evidence().kernels[0].clone();
        let obligations = vec![across_barrier(&side, 1)];
        side.pairs = Some(KernelPairs { obligations, ..KernelPairs::default() });
        side.coverage.coupling = Some(vec![row(&side, 1, Status::Uncovered, 0)]);
        assert_eq!(shown(&side), (Vec::new(), Vec::new()));
        assert_ne!(side.kernel, KernelName::from("first"));
    }
}

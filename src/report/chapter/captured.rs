//! The dispatches of captured host programs: what each was given, and what it is ordered behind.
//!
//! Promises: every cell is in the evidence, the last column in the coupling graph, whose nodes it
//! leads to. Does not cover: dispatches that the evidence does not list, which are counted.

use super::links::{joined_texts, listed_texts};
use crate::document::{ColumnAlign, Outline, Table, Text, Tone};
use crate::drawing::graph::node_anchor;
use vkcert_model::evidence::{CouplingEdge, CouplingEdgeKind, CouplingEvidence};
use vkcert_model::requirement::{CaptureReading, CapturedDispatch, GivenFacts};

/// Hexadecimal digits of a word of push constants.
const WORD_DIGITS: usize = 8;

/// One table for each capture; nothing of a kernel that states none.
pub(super) fn captured_tables(coupling: &CouplingEvidence, outline: &mut Outline) {
    for reading in &coupling.captures {
        if reading.dispatches.is_empty() {
            outline.add_paragraph(
                Text::plain("The capture ")
                    .followed_by(Text::code(reading.file.as_str()))
                    .then_plain(" has no dispatch of the kernel."),
            );
            continue;
        }
        outline.add_table(dispatch_table(coupling, reading));
        outline.add_paragraph(Text::quiet(reading_of_table(reading)));
    }
}

fn dispatch_table(coupling: &CouplingEvidence, reading: &CaptureReading) -> Table {
    let title = format!(
        "Captured dispatches of the kernel in {}, {} in all",
        reading.file, reading.dispatch_count
    );
    let mut table = Table::new(title)
        .with_column("Dispatch", ColumnAlign::Right)
        .with_column("Alike", ColumnAlign::Right)
        .columns(&["Workgroups", "Push constants", "Bound bytes", "Takes from", "Ordered by"]);
    for captured in &reading.dispatches {
        let given = &captured.given;
        let incoming_edges = incoming_edges(coupling, &reading.file, captured);
        table.add_row(vec![
            Text::plain(captured.dispatch.to_string()),
            Text::plain(captured.count.to_string()),
            workgroups_text(given),
            pushed_text(given),
            bound_text(given),
            source_text(coupling, &incoming_edges, &CouplingEdgeKind::FlowsTo),
            source_text(coupling, &incoming_edges, &CouplingEdgeKind::Orders),
        ]);
    }
    table
}

/// How the table is read, and what it leaves out.
fn reading_of_table(reading: &CaptureReading) -> String {
    let further_rows = match reading.unlisted {
        0 => String::new(),
        1 => " One row more is not listed.".to_owned(),
        row_count => format!(" {row_count} rows more are not listed."),
    };
    format!(
        "Dispatches that were given the same are one row, with the number of the first; Alike counts them. Push constants are words of \
         four bytes in hexadecimal digits, first byte first, -- for a byte that nothing set. The last two columns are about the first \
         dispatch of the row, as far as the coupling graph has it.{further_rows}"
    )
}

fn workgroups_text(given: &GivenFacts) -> Text {
    let groups = match given.groups {
        Some([x, y, z]) => Text::plain(format!("{x}\u{a0}×\u{a0}{y}\u{a0}×\u{a0}{z}")),
        None => Text::plain("read on the device").with_tone(Tone::Caution),
    };
    let sized_groups = match given.local_size {
        Some([x, y, z]) => {
            groups.followed_by(Text::quiet(format!(" of {x}\u{a0}×\u{a0}{y}\u{a0}×\u{a0}{z}")))
        }
        None => groups,
    };
    let constants = given
        .specialization
        .iter()
        .map(|(id, bits)| Text::quiet(format!("constant {id}\u{a0}=\u{a0}{bits}")));
    Text::join(std::iter::once(sized_groups).chain(constants), ", ")
}

fn pushed_text(given: &GivenFacts) -> Text {
    if let Some(command) = &given.unseen {
        return Text::plain(format!("not known behind {command}")).with_tone(Tone::Caution);
    }
    let digits = given.push_constants.as_bytes();
    let words = digits
        .chunks(WORD_DIGITS)
        .map(|word| Text::code(String::from_utf8_lossy(word).into_owned()));
    joined_texts(words, " ", Tone::Quiet)
}

fn bound_text(given: &GivenFacts) -> Text {
    if let Some(command) = &given.unseen {
        return Text::plain(format!("not known behind {command}")).with_tone(Tone::Caution);
    }
    let bound_ranges = given
        .buffers
        .iter()
        .map(|bound| Text::plain(format!("{}.{}:\u{a0}{}", bound.set, bound.binding, bound.bytes)));
    let bound_views = given.images.iter().map(|bound| {
        let (set, binding) = (bound.set, bound.binding);
        Text::plain(format!("{set}.{binding}:\u{a0}{}", bound.size_in_words("\u{a0}×\u{a0}")))
    });
    listed_texts(bound_ranges.chain(bound_views), Tone::Quiet)
}

/// What leads to a dispatch in the graph.
fn incoming_edges<'evidence>(
    coupling: &'evidence CouplingEvidence,
    file: &str,
    captured: &CapturedDispatch,
) -> Vec<&'evidence CouplingEdge> {
    let node_id = format!("captured-dispatch:{file}:{}", captured.dispatch);
    coupling.edges.iter().filter(|edge| edge.to == node_id).collect()
}

/// The nodes at the other end of the edges of a kind, with what stands at the edges.
fn source_text(
    coupling: &CouplingEvidence,
    incoming_edges: &[&CouplingEdge],
    edge_kind: &CouplingEdgeKind,
) -> Text {
    let sources = incoming_edges.iter().filter(|edge| edge.kind == *edge_kind).filter_map(|edge| {
        let source_node = coupling.nodes.iter().find(|node| node.id == edge.from)?;
        let source = Text::plain(source_node.label.as_str())
            .with_link(node_anchor(&coupling.kernel, &source_node.id));
        Some(match edge.label.as_str() {
            "" => source,
            label => source.followed_by(Text::quiet(format!(" ({label})"))),
        })
    });
    joined_texts(sources, "; ", Tone::Quiet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Block;
    use std::collections::BTreeMap;
    use vkcert_model::evidence::{CouplingEdge, CouplingNode};
    use vkcert_model::requirement::{BoundBytes, CapturedModules};

    const FILE: &str = "host/scale.capture";

    fn captured(dispatch: u32, given: GivenFacts) -> CapturedDispatch {
        CapturedDispatch { dispatch, operation: 20, count: 3, given }
    }

    fn reading(dispatches: Vec<CapturedDispatch>, unlisted: u64) -> CaptureReading {
        CaptureReading {
            file: FILE.into(),
            sha256: format!("sha256:{}", "0".repeat(64)),
            modules: CapturedModules::Production(vec![1]),
            dispatch_count: 3 * dispatches.len() as u64,
            dispatches,
            unlisted,
        }
    }

    fn known_facts() -> GivenFacts {
        GivenFacts {
            groups: Some([16, 1, 1]),
            local_size: Some([64, 1, 1]),
            specialization: BTreeMap::from([(0, 64)]),
            push_constants: "e8030000----803f".into(),
            buffers: vec![BoundBytes { set: 0, binding: 1, bytes: 4000 }],
            images: Vec::new(),
            unseen: None,
        }
    }

    /// The coupling of the sample with a capture of two dispatches, the first before the second.
    fn coupling_with(reading: CaptureReading) -> CouplingEvidence {
        let mut coupling = vkcert_sample::evidence().campaign.coupling.remove(0);
        let earlier = format!("captured-dispatch:{FILE}:1");
        let later = format!("captured-dispatch:{FILE}:2");
        let barrier = format!("captured-barrier:{FILE}:9");
        for (id, label) in [(&earlier, "first"), (&later, "second"), (&barrier, "all memory")] {
            coupling.nodes.push(CouplingNode {
                id: id.clone(),
                kind: "captured dispatch".into(),
                label: label.into(),
                place: None,
            });
        }
        for (from, kind, label) in [
            (&earlier, "flows-to", "binding 0.1"),
            (&barrier, "orders", ""),
            (&later, "sizes", "x"),
        ] {
            coupling.edges.push(CouplingEdge {
                from: from.clone(),
                to: later.clone(),
                kind: kind.into(),
                label: label.into(),
                places: Vec::new(),
            });
        }
        coupling.captures = vec![reading];
        coupling
    }

    /// The cells of the tables, and the paragraphs behind them.
    fn words_of(coupling: &CouplingEvidence) -> (Vec<Vec<String>>, Vec<String>) {
        let mut outline = Outline::default();
        captured_tables(coupling, &mut outline);
        let (mut rows, mut paragraphs) = (Vec::new(), Vec::new());
        for block in outline.blocks {
            match block {
                Block::Table(table) => rows.extend(
                    table.rows.iter().map(|row| row.iter().map(Text::plain_words).collect()),
                ),
                Block::Paragraph(text) => paragraphs.push(text.plain_words()),
                other => panic!("{other:?}"),
            }
        }
        (rows, paragraphs)
    }

    #[test]
    fn a_row_tells_what_a_dispatch_was_given_and_what_orders_it() {
        let facts = known_facts();
        let dispatches = vec![captured(1, facts.clone()), captured(2, facts)];
        let (rows, paragraphs) = words_of(&coupling_with(reading(dispatches, 2)));
        let given = ["3", "16 × 1 × 1 of 64 × 1 × 1, constant 0 = 64", "e8030000 ----803f"];
        let plain = |row: &[String]| -> Vec<String> {
            row.iter().map(|cell| cell.replace('\u{a0}', " ")).collect()
        };
        let [first, second] = [plain(&rows[0]), plain(&rows[1])];
        assert_eq!(first[0], "1");
        assert_eq!(first[1..4], given);
        assert_eq!(first[4..], ["0.1: 4000", "none", "none"]);
        assert_eq!(second[4..], ["0.1: 4000", "first (binding 0.1)", "all memory"]);
        assert!(paragraphs[0].ends_with("2 rows more are not listed."), "{paragraphs:?}");
    }

    #[test]
    fn what_is_not_known_is_said_in_its_cell() {
        let unseen = Some("vkCmdPushConstants2".to_owned());
        let facts = GivenFacts { groups: None, local_size: None, unseen, ..known_facts() };
        let (rows, paragraphs) = words_of(&coupling_with(reading(vec![captured(1, facts)], 0)));
        assert!(rows[0][2].starts_with("read on the device"), "{rows:?}");
        assert_eq!(rows[0][3..5], ["not known behind vkCmdPushConstants2"; 2]);
        assert!(paragraphs[0].ends_with("as far as the coupling graph has it."), "{paragraphs:?}");
    }

    #[test]
    fn a_capture_without_a_dispatch_of_the_kernel_says_so_and_has_no_table() {
        let (rows, paragraphs) = words_of(&coupling_with(reading(Vec::new(), 0)));
        assert_eq!(rows, Vec::<Vec<String>>::new());
        assert_eq!(paragraphs, ["The capture host/scale.capture has no dispatch of the kernel."]);
    }
}

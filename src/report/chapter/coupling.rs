//! Data and control coupling between host and kernel.

use super::captured::captured_tables;
use super::coupling_coverage::classes_section;
use super::hand_over::hand_over_section;
use super::links::{kernel_link, listed_texts, text_or_none};
use crate::document::{Outline, Table, Text, Tone};
use crate::drawing::graph::{coupling_drawings, is_of_host, node_anchor};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::{
    CheckStatus, CodePlace, CouplingCheck, CouplingEdge, CouplingEvidence, CouplingNode, Evidence,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::KernelName;

pub(super) fn coupling_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Data and control coupling", "chapter/coupling");
    if evidence.campaign.coupling.is_empty() {
        outline.add_paragraph("No kernel has an interface description, so that no coupling with the host was checked.");
    } else if let Some(without) = without_interface(evidence) {
        outline.add_paragraph(without);
    }
    classes_section(evidence, outline);
    outline.add_parts(&evidence.campaign.coupling, |coupling, outline| {
        let name = &coupling.kernel;
        outline.add_heading(
            2,
            Text::plain("Kernel ").followed_by(Text::code(name.as_str())),
            format!("coupling/{name}"),
        );
        // The table between the figures leaves no page half empty.
        let mut drawings = coupling_drawings(coupling).into_iter();
        outline.add_drawings(drawings.next());
        checks_table(evidence, coupling, outline);
        outline.add_drawings(drawings);
        captured_tables(coupling, outline);
        nodes_table(evidence, coupling, outline);
    });
    hand_over_section(evidence, outline);
}

/// The kernels of which this chapter says nothing, where there are some.
fn without_interface(evidence: &Evidence) -> Option<Text> {
    let mut kernel_names: Vec<&KernelName> = Vec::new();
    for row in &evidence.campaign.conclusion.summary {
        let is_described =
            evidence.campaign.coupling.iter().any(|coupling| coupling.kernel == row.kernel);
        if !is_described && !kernel_names.contains(&&row.kernel) {
            kernel_names.push(&row.kernel);
        }
    }
    let (kernel_noun, kernel_verb) =
        if kernel_names.len() == 1 { ("Kernel", "has") } else { ("Kernels", "have") };
    let kernel_links = Text::join(kernel_names.iter().map(|name| kernel_link(name)), ", ");
    (!kernel_names.is_empty()).then(|| {
        Text::plain(format!("{kernel_noun} ")).followed_by(kernel_links).then_plain(format!(
            " {kernel_verb} no interface description: no coupling with the host was checked there."
        ))
    })
}

fn checks_table(evidence: &Evidence, coupling: &CouplingEvidence, outline: &mut Outline) {
    let mut table =
        Table::new("Checks").columns(&["Check", "Status", "Statement", "Counterexample"]);
    for check in &coupling.checks {
        let check_status = match &check.status {
            CheckStatus::Holds => Text::plain("✓\u{a0}holds").with_tone(Tone::Good),
            CheckStatus::Refuted => Text::strong("✗\u{a0}refuted").with_tone(Tone::Bad),
            other @ (CheckStatus::Undetermined | CheckStatus::Unknown(_)) => {
                Text::plain(format!("?\u{a0}{other}")).with_tone(Tone::Caution)
            }
        };
        let counterexample_values = check
            .counterexample
            .iter()
            .flatten()
            .map(|(name, value)| Text::code(format!("{name} = {value}")));
        let counterexample_values = listed_texts(counterexample_values, Tone::Quiet);
        table.add_row(vec![
            Text::plain(check.check.as_str()),
            check_status,
            statement_with_place(evidence, coupling, check),
            counterexample_values,
        ]);
    }
    if table.rows.is_empty() {
        outline.add_paragraph("No checks were made.");
    } else {
        outline.add_table(table);
    }
}

/// What a check says, and where what it refutes stands: its finding has the place.
fn statement_with_place(
    evidence: &Evidence,
    coupling: &CouplingEvidence,
    check: &CouplingCheck,
) -> Text {
    let statement = Text::sentence(check.message.as_str());
    let findings = evidence.campaign.findings.iter().filter(|row| row.kernel == coupling.kernel);
    let is_of_check = |finding: &&Finding| {
        finding.kind == FindingKind::Coupling && finding.message == check.message
    };
    let finding = findings.map(|row| &row.finding).find(is_of_check);
    match finding.and_then(|finding| finding.place.as_ref()) {
        Some(place) if check.status == CheckStatus::Refuted => {
            statement.followed_by(Text::quiet(format!(" ({place})")))
        }
        Some(_) | None => statement,
    }
}

/// Every node with what it takes from others, and the code on both sides.
fn nodes_table(evidence: &Evidence, coupling: &CouplingEvidence, outline: &mut Outline) {
    let mut edges_by_target: BTreeMap<&str, Vec<&CouplingEdge>> = BTreeMap::new();
    for edge in &coupling.edges {
        edges_by_target.entry(edge.to.as_str()).or_default().push(edge);
    }
    let node_by_id: BTreeMap<&str, &CouplingNode> =
        coupling.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let lines = SourceLinesOf { evidence, coupling };
    let mut table =
        Table::new("Nodes of the coupling graph").columns(&["Node", "Takes from", "Code"]);
    for node in &coupling.nodes {
        let edges = edges_by_target.get(node.id.as_str()).map_or(&[][..], Vec::as_slice);
        let taken = edges.iter().map(|edge| edge_text(&coupling.kernel, &node_by_id, edge));
        let cells = vec![
            Text::plain(node.label.as_str()).followed_by(Text::quiet(format!(" ({})", node.kind))),
            listed_texts(taken, Tone::Quiet),
            lines.code_of(node, edges),
        ];
        table.add_anchored_row(node_anchor(&coupling.kernel, &node.id), cells);
    }
    if table.rows.is_empty() {
        return;
    }
    outline.add_table(table);
    outline.add_paragraph(Text::quiet(
        "A node flows to another where its value is computed into it, sizes it where it decides how large or how many it is, indexes \
         it where it decides which element is accessed, controls it where it decides whether or how often, orders it where accesses \
         are ordered by it. Not shown: which element of a buffer or an array goes where, and flow within one invocation.",
    ));
}

/// `uint32 m at offset 0 flows-to (46, 51)`, with a link to the row of the node.
fn edge_text(
    kernel: &KernelName,
    node_by_id: &BTreeMap<&str, &CouplingNode>,
    edge: &CouplingEdge,
) -> Text {
    let from = match node_by_id.get(edge.from.as_str()) {
        Some(node) => Text::plain(node.label.as_str()).with_link(node_anchor(kernel, &node.id)),
        None => Text::code(edge.from.as_str()),
    };
    let how = match edge.label.as_str() {
        "" => edge.kind.to_string(),
        label => format!("{}: {label}", edge.kind),
    };
    from.followed_by(Text::quiet(format!(" ({how})")))
}

/// The code that nodes and edges stand on.
struct SourceLinesOf<'a> {
    evidence: &'a Evidence,
    coupling: &'a CouplingEvidence,
}

impl SourceLinesOf<'_> {
    /// The lines of the kernel that a node and its edges stand on; of the host's side where the
    /// interface says that its code stands.
    fn code_of(&self, node: &CouplingNode, edges: &[&CouplingEdge]) -> Text {
        let edge_places = edges.iter().flat_map(|edge| &edge.places);
        let places: BTreeSet<&CodePlace> = node.place.iter().chain(edge_places).collect();
        let kernel_lines = places.into_iter().map(|place| {
            let number = Text::quiet(format!("{}:{} ", place.file, place.line));
            number.followed_by(Text::code(self.line_of(place)))
        });
        let kernel_lines = Text::join(kernel_lines, "; ");
        if !kernel_lines.0.is_empty() {
            return kernel_lines;
        }
        let source = self.coupling.definition.as_ref().and_then(|host| host.source.as_deref());
        match (is_of_host(&node.kind), source) {
            (true, Some(source)) => Text::plain(format!("host: {source}")),
            (true, None) | (false, _) => text_or_none(""),
        }
    }

    /// The text of a line without its indentation; empty where the evidence holds no such file.
    fn line_of(&self, place: &CodePlace) -> String {
        let kernels = self.evidence.kernels.iter();
        let structures = kernels
            .filter(|kernel| kernel.kernel == self.coupling.kernel)
            .map(|kernel| &kernel.structure);
        let mut files = structures.flat_map(|structure| &structure.files);
        let file = files.find(|file| file.path == place.file);
        let line_index = (place.line as usize).saturating_sub(1);
        let line = file.and_then(|file| file.text.lines().nth(line_index));
        line.unwrap_or_default().trim().to_owned()
    }
}

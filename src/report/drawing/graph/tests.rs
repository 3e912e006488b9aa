use super::*;
use vkcert_model::evidence::{CheckStatus, CouplingCheckName};
use vkcert_sample as sample;

fn node(id: &str, kind: &str, name: &str) -> CouplingNode {
    CouplingNode { id: id.to_owned(), kind: kind.into(), label: name.to_owned(), place: None }
}

fn edge(from: &str, to: &str, kind: &str) -> CouplingEdge {
    CouplingEdge {
        from: from.to_owned(),
        to: to.to_owned(),
        kind: kind.into(),
        label: String::new(),
        places: Vec::new(),
    }
}

/// A parameter that goes to the kernel by a push constant, and a buffer that is read and written.
fn coupling() -> CouplingEvidence {
    let mut coupling = sample::evidence().campaign.coupling[0].clone();
    coupling.nodes = vec![
        node("parameter:n", "parameter", "uint32 n from 1 to 9"),
        node("push-constant:0", "push constant", "n at offset 0"),
        node("buffer:0.0", "buffer", "field"),
        node("dispatch", "dispatch", "(n, 1, 1) workgroups"),
        node("domain", "domain", "n x 1 x 1"),
        node("kernel", "kernel", "blur"),
    ];
    coupling.edges = vec![
        edge("parameter:n", "push-constant:0", "data"),
        edge("parameter:n", "dispatch", "data"),
        edge("dispatch", "domain", "data"),
        edge("push-constant:0", "kernel", "data"),
        edge("buffer:0.0", "kernel", "data"),
        edge("kernel", "buffer:0.0", "data"),
        edge("dispatch", "kernel", "control"),
    ];
    coupling
}

fn label_texts(drawing: &Drawing) -> Vec<&str> {
    let labels = drawing.shapes.iter().filter_map(|shape| match shape {
        Shape::Label { text, .. } => Some(text.text.as_str()),
        Shape::Area { .. } | Shape::Line { .. } | Shape::Raster { .. } => None,
    });
    labels.collect()
}

/// Arrow heads: one per edge.
fn arrow_count(drawing: &Drawing) -> usize {
    let is_arrow =
        |shape: &&Shape| matches!(shape, Shape::Area { corners, .. } if corners.len() == 3);
    drawing.shapes.iter().filter(is_arrow).count()
}

#[test]
fn every_node_and_edge_of_the_evidence_is_drawn() {
    let coupling = coupling();
    let drawings = coupling_drawings(&coupling);
    let [host, data, control] = &drawings[..] else { panic!("parts: {}", drawings.len()) };
    // Between push constants, dispatch and domain; buffer and kernel; dispatch and kernel.
    assert_eq!([host, data, control].map(arrow_count), [3, 3, 1]);
    for node in &coupling.nodes {
        let is_drawn =
            |drawing: &Drawing| label_texts(drawing).join(" ").contains(node.label.as_str());
        assert!([host, data, control].into_iter().any(is_drawn), "{}", node.label);
    }
    assert!(host.caption.0.iter().any(|run| run.text.contains("3 edges")), "{:?}", host.caption);
    let right_edge = |shape: &Shape| match shape {
        Shape::Area { corners, .. } => corners.iter().map(|spot| spot.x).fold(0.0, f32::max),
        Shape::Line { spots, .. } => spots.iter().map(|spot| spot.x).fold(0.0, f32::max),
        Shape::Label { spot, .. } => spot.x,
        Shape::Raster { .. } => 0.0,
    };
    for drawing in &drawings {
        assert!(drawing.shapes.iter().all(|shape| right_edge(shape) <= WIDTH + 0.01));
    }
}

#[test]
fn a_name_that_is_cut_keeps_the_offset_of_its_member() {
    let mut coupling = coupling();
    let name = "PictureOfTheWholeSky.magnitudes_of_stars";
    coupling.nodes[1].label = format!("{name}, uint[] at offset 1024");
    // A long chain makes columns narrow.
    for number in 1..5 {
        let [from, to] = [number, number + 1].map(|number| format!("push-constant:{number}"));
        coupling.nodes.push(node(&to, "push constant", "m at offset 0"));
        let from = if number == 1 { "push-constant:0" } else { &from };
        coupling.edges.push(edge(from, &to, "data"));
    }
    let drawings = coupling_drawings(&coupling);
    let labels = drawings.iter().map(label_texts).find(|labels| {
        labels.iter().any(|label| label.starts_with("Pict") && label.ends_with('…'))
    });
    let labels = labels.unwrap_or_else(|| panic!("the name is cut: {drawings:?}"));
    assert!(labels.contains(&"at offset 1024"), "{labels:?}");
}

#[test]
fn a_sign_has_the_colour_of_its_kind() {
    let mut coupling = coupling();
    for (status, tone) in
        [(CheckStatus::Refuted, Tone::Bad), (CheckStatus::Undetermined, Tone::Caution)]
    {
        for check in &mut coupling.checks {
            check.status = status.clone();
            check.subjects = vec!["buffer:0.0".to_owned()];
        }
        let drawings = coupling_drawings(&coupling);
        let tones = drawings.iter().flat_map(|drawing| &drawing.shapes).filter_map(|shape| {
            let Shape::Label { text, .. } = shape else { return None };
            text.text.contains("buffer: ").then_some(text.tone)
        });
        let tones: Vec<_> = tones.collect();
        assert!(!tones.is_empty() && tones.iter().all(|own| *own == tone), "{tones:?}");
    }
}

#[test]
fn what_a_check_refutes_is_thick_and_signed_and_what_holds_is_not() {
    let mut coupling = coupling();
    // The sample refutes that the dispatch covers the domain.
    let signs = |coupling: &CouplingEvidence| {
        let drawings = coupling_drawings(coupling);
        let signs = label_texts(&drawings[0]).into_iter().filter(|text| *text == "✗").count();
        let is_thick =
            |shape: &&Shape| matches!(shape, Shape::Line { thickness, .. } if *thickness == 2.2);
        (signs, drawings[0].shapes.iter().filter(is_thick).count())
    };
    // One line of the key is thick as well.
    assert_eq!(signs(&coupling), (1, 2));
    coupling.checks.iter_mut().for_each(|check| check.status = CheckStatus::Holds);
    assert_eq!(signs(&coupling), (0, 1));
    coupling.checks[0].check = CouplingCheckName::HostOverflow;
    coupling.checks[0].status = CheckStatus::Refuted;
    coupling.nodes[0] = node("parameter:n", "local", "uint32 n = 4");
    let local = "✗ local: host-overflow";
    assert!(!label_texts(&coupling_drawings(&coupling)[0]).contains(&local), "no node is named");
    coupling.checks[0].subjects = vec!["parameter:n".to_owned()];
    assert!(label_texts(&coupling_drawings(&coupling)[0]).contains(&local));
}

#[test]
fn of_nodes_of_one_kind_the_one_that_a_row_names_is_marked() {
    let mut coupling = coupling();
    coupling.nodes.push(node("buffer:0.1", "buffer", "other"));
    coupling.edges.push(edge("buffer:0.1", "kernel", "data"));
    coupling.checks[0].check = CouplingCheckName::BufferSize;
    coupling.checks[0].status = CheckStatus::Refuted;
    coupling.checks[0].subjects = vec!["buffer:0.1".to_owned()];
    let drawings = coupling_drawings(&coupling);
    let texts = label_texts(&drawings[1]);
    let after = |words: &str| {
        let position = texts.iter().position(|text| *text == words);
        texts[position.unwrap_or_else(|| panic!("{words} is not in {texts:?}")) + 1]
    };
    assert_eq!(after("✗ buffer: buffer-size"), "other");
    assert_eq!(after("buffer"), "field");
}

#[test]
fn a_large_graph_counts_what_it_leaves_out() {
    let mut coupling = coupling();
    for number in 1..200 {
        let id = format!("push-constant:{number}");
        coupling.nodes.push(node(&id, "push constant", "a member"));
        coupling.edges.push(edge("parameter:n", &id, "data"));
    }
    let drawings = coupling_drawings(&coupling);
    assert!(drawings[0].height < 600.0, "{}", drawings[0].height);
    assert!(label_texts(&drawings[0]).contains(&"and 187 more"), "{:?}", label_texts(&drawings[0]));
    assert!(drawings[0].caption.0.iter().any(|run| run.text.contains("187 nodes have no room")));
}

#[test]
fn edges_that_pass_a_column_leave_the_figure_on_its_page() {
    let mut coupling = coupling();
    for number in 1..14 {
        let [value, local, member] =
            ["parameter", "local", "push-constant"].map(|kind| format!("{kind}:p{number}"));
        for (id, kind) in [(&value, "parameter"), (&local, "local"), (&member, "push constant")] {
            coupling.nodes.push(node(id, kind, "a value"));
        }
        // Each member follows from its local, and from every parameter past the locals.
        coupling.edges.push(edge(&value, &local, "data"));
        coupling.edges.push(edge(&local, &member, "data"));
        for other in 1..14 {
            coupling.edges.push(edge(&format!("parameter:p{other}"), &member, "data"));
        }
    }
    let drawings = coupling_drawings(&coupling);
    assert!(drawings[0].height <= MOST_HEIGHT + KEY_HEIGHT, "{}", drawings[0].height);
    assert!(arrow_count(&drawings[0]) > 3);
    assert!(drawings[0].caption.0.iter().any(|run| run.text.contains("have no room")));
}

#[test]
fn the_file_of_a_graph_stands_alone() {
    let svg = crate::coupling_svg(&[coupling()]);
    assert!(svg.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns="), "{svg}");
    assert!(svg.contains("kernel matmul_naive, part 1 of 3"), "{svg}");
    for absent in ["var(--", "href", "class="] {
        assert!(!svg.contains(absent), "{absent}: {svg}");
    }
    assert_eq!(svg, crate::coupling_svg(&[coupling()]));
    assert!(crate::coupling_svg(&[]).contains("the project describes no host"));
}

/// A chain of captured dispatches with a barrier between each two.
fn captured_chain(dispatch_count: usize) -> CouplingEvidence {
    let mut coupling = coupling();
    (coupling.nodes, coupling.edges) = (vec![node("kernel", "kernel", "blur")], Vec::new());
    let id = |number: usize| format!("captured-dispatch:host.capture:{number}");
    let barrier = |number: usize| format!("captured-barrier:host.capture:{number}");
    for number in 0..dispatch_count {
        coupling.nodes.push(node(&id(number), "captured dispatch", &format!("dispatch {number}")));
        coupling.nodes.push(node(&barrier(number), "pipeline barrier", "all memory"));
        coupling.edges.push(edge(&id(number), "kernel", "controls"));
        if number > 0 {
            coupling.edges.push(edge(&id(number - 1), &id(number), "flows-to"));
            coupling.edges.push(edge(&id(number - 1), &barrier(number - 1), "orders"));
            coupling.edges.push(edge(&barrier(number - 1), &id(number), "orders"));
        }
    }
    coupling
}

#[test]
fn a_long_chain_of_captured_dispatches_is_drawn_in_pieces_that_can_be_read() {
    for dispatch_count in [1, 2, 3, 12] {
        let coupling = captured_chain(dispatch_count);
        let drawings = coupling_drawings(&coupling);
        let drawn: usize = drawings.iter().map(arrow_count).sum();
        assert_eq!(drawn, coupling.edges.len(), "each edge stands in one drawing");
        assert!(drawings.len() <= dispatch_count, "{}", drawings.len());
        for drawing in &drawings {
            let names = label_texts(drawing);
            assert!(names.iter().all(|name| !name.starts_with("dispatch…")), "{names:?}");
            assert!(names.contains(&"captured dispatch"), "{names:?}");
        }
    }
}

/// Regions that follow each other behind barriers, the last of which leads back to the first barrier,
/// and a variable that each writes and the next one reads.
fn regions(barrier_count: usize) -> CouplingEvidence {
    let mut coupling = coupling();
    coupling.nodes = vec![
        node("workgroup:tile", "workgroup memory", "tile, 32 bytes"),
        node("barrier-region:start", "barrier region", "from the start to BAR1"),
    ];
    coupling.edges = vec![
        edge("barrier-region:start", "barrier:BAR1", "orders"),
        edge("barrier-region:start", "workgroup:tile", "flows-to"),
    ];
    for number in 1..=barrier_count {
        let next = if number == barrier_count { 1 } else { number + 1 };
        let [barrier, region, next] = [
            format!("barrier:BAR{number}"),
            format!("barrier-region:BAR{number}"),
            format!("barrier:BAR{next}"),
        ];
        coupling.nodes.push(node(&barrier, "barrier", "barrier in main"));
        coupling.nodes.push(node(&region, "barrier region", "a region"));
        coupling.edges.push(edge(&barrier, &region, "orders"));
        coupling.edges.push(edge("workgroup:tile", &region, "flows-to"));
        coupling.edges.push(edge(&region, &next, "orders"));
    }
    coupling.edges.push(edge(
        &format!("barrier-region:BAR{barrier_count}"),
        "workgroup:tile",
        "flows-to",
    ));
    coupling
}

#[test]
fn regions_run_from_the_start_of_the_kernel_and_loops_lead_back() {
    let drawings = coupling_drawings(&regions(2));
    let [drawing] = &drawings[..] else { panic!("figures: {}", drawings.len()) };
    assert_eq!(arrow_count(drawing), regions(2).edges.len());
    let left_edge = |words: &str| {
        let labels = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Label { spot, text, .. } => Some((spot.x, text.text.as_str())),
            Shape::Area { .. } | Shape::Line { .. } | Shape::Raster { .. } => None,
        });
        let mut lefts = labels.filter(|(_, text)| text.starts_with(words)).map(|(x, _)| x);
        lefts.next().unwrap_or_else(|| panic!("no {words}"))
    };
    let columns = ["from the start", "BAR1", "a region", "BAR2"].map(left_edge);
    assert!(columns.is_sorted_by(|left, right| left < right), "{columns:?}");
    assert_eq!(left_edge("BAR1"), left_edge("tile"));
}

#[test]
fn regions_that_no_figure_has_room_for_are_counted() {
    let coupling = regions(60);
    let drawings = coupling_drawings(&coupling);
    assert_eq!(drawings.len(), 6);
    let drawn: usize = drawings.iter().map(arrow_count).sum();
    let count = coupling.edges.len() - drawn;
    let words = format!("{count} edges more follow");
    assert!(drawings[5].caption.0.iter().any(|run| run.text.contains(&words)), "{words}");
    assert!(count > 0 && drawings[4].caption.0.iter().all(|run| !run.text.contains("more follow")));
}

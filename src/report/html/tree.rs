//! Trees of lines whose parts open and close, by mouse, keyboard and without script.
//!
//! Promises: a line that opens holds no link, because what opens and what leads elsewhere must be two
//! things to a keyboard; where it leads stands below it.

use super::{Page, set_run, set_text};
use crate::document::{Text, TreeNode};
use maud::{Markup, html};

/// Roots with at most as many parts are open at first.
const OPEN_PARTS: usize = 12;

pub(super) fn tree_view(label: &str, trees: &[TreeNode], page: &Page) -> Markup {
    html! {
        div.tree role="group" aria-label=(label) {
            p.tree-title {
                strong { (label) }
                span.tree-buttons hidden {
                    " " button.open-all type="button" { "Open all" }
                    " " button.close-all type="button" { "Close all" }
                }
                " " output.tree-shown {}
            }
            ul { @for node in trees { (set_node(node, 0, page)) } }
        }
    }
}

fn set_node(node: &TreeNode, depth: usize, page: &Page) -> Markup {
    let is_open = depth == 0 && node.below.len() <= OPEN_PARTS;
    html! {
        li.node {
            @if node.below.is_empty() {
                span.tree-line { (set_text(&node.line, page)) }
            } @else {
                details open[is_open] {
                    summary.tree-line { (set_text(&without_links(&node.line), page)) }
                    @for run in node.line.0.iter().filter(|run| run.link.is_some()) {
                        p.in-full { "In full: " (set_run(run, page)) }
                    }
                    ul { @for part in &node.below { (set_node(part, depth + 1, page)) } }
                }
            }
        }
    }
}

fn without_links(line: &Text) -> Text {
    let mut plain_line = line.clone();
    plain_line.0.iter_mut().for_each(|run| run.link = None);
    plain_line
}

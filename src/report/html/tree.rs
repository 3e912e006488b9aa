//! Trees of lines whose parts open and close, by mouse, keyboard and without script.

use super::{Page, set_text};
use crate::document::TreeNode;
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
                    summary.tree-line { (set_text(&node.line, page)) }
                    ul { @for part in &node.below { (set_node(part, depth + 1, page)) } }
                }
            }
        }
    }
}

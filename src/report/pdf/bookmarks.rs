//! The document outline: headings as bookmarks, chapters at the top, deeper levels closed.

use super::canvas::OutlineMark;
use super::file::destination;
use krilla::outline::{Outline, OutlineNode};

/// The outline tree (ISO 32000-1, 12.3.3).
pub(super) fn document_outline(marks: &[OutlineMark]) -> Outline {
    let tree = OutlineTree::of_marks(marks);
    let mut outline = Outline::new();
    for index in &tree.top {
        outline.push_child(outline_node(marks, &tree, *index));
    }
    outline
}

fn outline_node(marks: &[OutlineMark], tree: &OutlineTree, index: usize) -> OutlineNode {
    let mark = &marks[index];
    let mut node = OutlineNode::new(mark.title.clone(), destination(mark.page, mark.y));
    for child in &tree.children[index] {
        node.push_child(outline_node(marks, tree, *child));
    }
    node
}

/// Marks as a tree, by index: a mark belongs to the nearest earlier one of a smaller depth.
pub(super) struct OutlineTree {
    pub top: Vec<usize>,
    pub children: Vec<Vec<usize>>,
}

impl OutlineTree {
    pub(super) fn of_marks(marks: &[OutlineMark]) -> Self {
        let mut tree = Self { top: Vec::new(), children: vec![Vec::new(); marks.len()] };
        // The way from the top to the mark before.
        let mut open_marks: Vec<usize> = Vec::new();
        for (mark_index, mark) in marks.iter().enumerate() {
            while open_marks.pop_if(|last_open| marks[*last_open].depth >= mark.depth).is_some() {}
            match open_marks.last() {
                Some(parent) => tree.children[*parent].push(mark_index),
                None => tree.top.push(mark_index),
            }
            open_marks.push(mark_index);
        }
        tree
    }
}

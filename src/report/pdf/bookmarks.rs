//! The document outline: headings as bookmarks.

use super::canvas::{OutlineMark, Sheet};
use super::operations::round_to_hundredth;

/// The outline tree (ISO 32000-1, 12.3.3): chapters open, deeper levels closed.
pub(super) fn add_bookmarks(
    file: &mut lopdf::Document,
    marks: &[OutlineMark],
    sheet: Sheet,
) -> lopdf::Object {
    use lopdf::{Object, dictionary};
    let pages: Vec<lopdf::ObjectId> = file.get_pages().into_values().collect();
    let root_id = file.new_object_id();
    let entry_ids: Vec<lopdf::ObjectId> = marks.iter().map(|_| file.new_object_id()).collect();
    let outline_tree = OutlineTree::of_marks(marks);
    for (mark_index, mark) in marks.iter().enumerate() {
        let Some(page) = pages.get(mark.page) else { continue };
        let page_top = Object::Real(round_to_hundredth(sheet.above_edge(mark.y) + 14.0));
        let mut outline_entry = dictionary! {
            "Title" => lopdf::text_string(&mark.title),
            "Parent" => outline_tree.parents[mark_index].map_or(root_id, |parent| entry_ids[parent]),
            "Dest" => vec![(*page).into(), "XYZ".into(), Object::Integer(0), page_top, Object::Null],
        };
        let siblings = outline_tree.siblings(mark_index);
        let sibling_index = outline_tree.places[mark_index];
        if sibling_index > 0 {
            outline_entry.set("Prev", entry_ids[siblings[sibling_index - 1]]);
        }
        if let Some(next) = siblings.get(sibling_index + 1) {
            outline_entry.set("Next", entry_ids[*next]);
        }
        let child_marks = &outline_tree.children[mark_index];
        if let (Some(first), Some(last)) = (child_marks.first(), child_marks.last()) {
            outline_entry.set("First", entry_ids[*first]);
            outline_entry.set("Last", entry_ids[*last]);
            // Negative: closed at first (12.3.3, table 153).
            outline_entry.set("Count", -(child_marks.len() as i64));
        }
        file.set_object(entry_ids[mark_index], outline_entry);
    }
    let mut outlines =
        dictionary! { "Type" => "Outlines", "Count" => outline_tree.top.len() as i64 };
    if let (Some(first), Some(last)) = (outline_tree.top.first(), outline_tree.top.last()) {
        outlines.set("First", entry_ids[*first]);
        outlines.set("Last", entry_ids[*last]);
    }
    file.set_object(root_id, outlines);
    Object::Reference(root_id)
}

/// Marks as a tree, by index: a mark belongs to the nearest earlier one of a smaller depth.
pub(super) struct OutlineTree {
    pub top: Vec<usize>,
    pub parents: Vec<Option<usize>>,
    pub children: Vec<Vec<usize>>,
    /// Place among its siblings.
    pub places: Vec<usize>,
}

impl OutlineTree {
    pub(super) fn of_marks(marks: &[OutlineMark]) -> Self {
        let mut outline_tree = Self {
            top: Vec::new(),
            parents: Vec::new(),
            children: vec![Vec::new(); marks.len()],
            places: Vec::new(),
        };
        // The way from the top to the mark before.
        let mut open_marks: Vec<usize> = Vec::new();
        for (mark_index, mark) in marks.iter().enumerate() {
            while open_marks.pop_if(|last_open| marks[*last_open].depth >= mark.depth).is_some() {}
            let parent = open_marks.last().copied();
            let siblings = match parent {
                Some(parent) => &mut outline_tree.children[parent],
                None => &mut outline_tree.top,
            };
            outline_tree.places.push(siblings.len());
            siblings.push(mark_index);
            outline_tree.parents.push(parent);
            open_marks.push(mark_index);
        }
        outline_tree
    }

    pub(super) fn siblings(&self, index: usize) -> &[usize] {
        match self.parents[index] {
            Some(parent) => &self.children[parent],
            None => &self.top,
        }
    }
}

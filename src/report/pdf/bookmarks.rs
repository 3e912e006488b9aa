//! The document outline: headings as bookmarks.

use super::canvas::{Mark, PAGE_HEIGHT};
use super::operations::round;

/// The outline tree (ISO 32000-1, 12.3.3): chapters open, deeper levels closed.
pub(super) fn bookmarks(file: &mut lopdf::Document, marks: &[Mark]) -> lopdf::Object {
    use lopdf::{Object, dictionary};
    let pages: Vec<lopdf::ObjectId> = file.get_pages().into_values().collect();
    let root = file.new_object_id();
    let ids: Vec<lopdf::ObjectId> = marks.iter().map(|_| file.new_object_id()).collect();
    let tree = OutlineTree::of(marks);
    for (index, mark) in marks.iter().enumerate() {
        let Some(page) = pages.get(mark.page) else { continue };
        let top = Object::Real(round(PAGE_HEIGHT - mark.y + 14.0));
        let mut entry = dictionary! {
            "Title" => lopdf::text_string(&mark.title),
            "Parent" => tree.parents[index].map_or(root, |parent| ids[parent]),
            "Dest" => vec![(*page).into(), "XYZ".into(), Object::Integer(0), top, Object::Null],
        };
        let siblings = tree.siblings(index);
        let place = tree.places[index];
        if place > 0 {
            entry.set("Prev", ids[siblings[place - 1]]);
        }
        if let Some(next) = siblings.get(place + 1) {
            entry.set("Next", ids[*next]);
        }
        let inner = &tree.children[index];
        if let (Some(first), Some(last)) = (inner.first(), inner.last()) {
            entry.set("First", ids[*first]);
            entry.set("Last", ids[*last]);
            // Negative: closed at first (12.3.3, table 153).
            entry.set("Count", -(inner.len() as i64));
        }
        file.set_object(ids[index], entry);
    }
    let mut outlines = dictionary! { "Type" => "Outlines", "Count" => tree.top.len() as i64 };
    if let (Some(first), Some(last)) = (tree.top.first(), tree.top.last()) {
        outlines.set("First", ids[*first]);
        outlines.set("Last", ids[*last]);
    }
    file.set_object(root, outlines);
    Object::Reference(root)
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
    pub(super) fn of(marks: &[Mark]) -> Self {
        let mut tree = Self {
            top: Vec::new(),
            parents: Vec::new(),
            children: vec![Vec::new(); marks.len()],
            places: Vec::new(),
        };
        // The way from the top to the mark before.
        let mut open: Vec<usize> = Vec::new();
        for (index, mark) in marks.iter().enumerate() {
            while open.pop_if(|last| marks[*last].depth >= mark.depth).is_some() {}
            let parent = open.last().copied();
            let siblings = match parent {
                Some(parent) => &mut tree.children[parent],
                None => &mut tree.top,
            };
            tree.places.push(siblings.len());
            siblings.push(index);
            tree.parents.push(parent);
            open.push(index);
        }
        tree
    }

    pub(super) fn siblings(&self, index: usize) -> &[usize] {
        match self.parents[index] {
            Some(parent) => &self.children[parent],
            None => &self.top,
        }
    }
}

//! The structure as the tag tree of the file.
//!
//! Promises: every content and every link's area stands in the tree once; headings begin at the
//! first level and go down one level at a time, as a reader who skips by them expects (ISO 14289-1,
//! 7.4.2).

use super::structure::{ContentId, Element, ElementChild, ElementId, ElementRole, Structure};
use krilla::tagging::{
    Identifier, ListNumbering, Node, TableHeaderScope, Tag, TagGroup, TagKind, TagTree,
};
use std::collections::BTreeMap;
use std::num::NonZeroU16;

/// Where the contents and links of the structure stand in the file.
pub(super) struct WrittenPieces {
    contents: Vec<Option<Identifier>>,
    annotations: BTreeMap<ElementId, Vec<Identifier>>,
}

impl WrittenPieces {
    pub(super) fn of_structure(structure: &Structure) -> Self {
        Self { contents: vec![None; structure.content_count()], annotations: BTreeMap::new() }
    }

    pub(super) fn add_content(&mut self, content: ContentId, identifier: Identifier) {
        let previous = self.contents[content.0].replace(identifier);
        assert!(previous.is_none(), "a content is drawn in one piece");
    }

    pub(super) fn add_annotation(&mut self, link: ElementId, identifier: Identifier) {
        self.annotations.entry(link).or_default().push(identifier);
    }
}

pub(super) fn tag_tree(structure: &Structure, pieces: &WrittenPieces) -> TagTree {
    let mut writer = TagWriter { structure, pieces, heading_level: 0 };
    let mut tree = TagTree::new();
    tree.children = writer.child_nodes(structure.root());
    tree
}

struct TagWriter<'s> {
    structure: &'s Structure,
    pieces: &'s WrittenPieces,
    /// Of the heading before.
    heading_level: u16,
}

impl TagWriter<'_> {
    fn child_nodes(&mut self, element: &Element) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(element.children.len());
        for child in &element.children {
            match child {
                ElementChild::Element(id) => nodes.extend(self.element_node(*id)),
                ElementChild::Content(content) => {
                    nodes.extend(self.pieces.contents[content.0].map(Node::Leaf));
                }
            }
        }
        nodes
    }

    /// None for what would be empty and need not be there.
    fn element_node(&mut self, id: ElementId) -> Option<Node> {
        let element = self.structure.element(id);
        let annotations = self.pieces.annotations.get(&id);
        let tag = self.tag_of(&element.role, annotations.is_some());
        let mut children = self.child_nodes(element);
        children.extend(annotations.into_iter().flatten().copied().map(Node::Leaf));
        let is_cell = matches!(element.role, ElementRole::Cell | ElementRole::ColumnHeader);
        (is_cell || !children.is_empty())
            .then(|| Node::Group(TagGroup::with_children(tag, children)))
    }

    fn tag_of(&mut self, role: &ElementRole, leads_somewhere: bool) -> TagKind {
        match role {
            ElementRole::Document | ElementRole::Group => Tag::Div.into(),
            ElementRole::Title => Tag::Title.into(),
            ElementRole::Heading { depth, title } => {
                self.heading_level = u16::from(*depth).clamp(1, self.heading_level + 1);
                let level = NonZeroU16::new(self.heading_level).expect("levels begin at 1");
                Tag::Hn(level, Some(title.clone())).into()
            }
            ElementRole::Paragraph => Tag::P.into(),
            ElementRole::List => Tag::L(ListNumbering::None).into(),
            ElementRole::ListItem => Tag::LI.into(),
            ElementRole::Label => Tag::Lbl.into(),
            ElementRole::ListBody => Tag::LBody.into(),
            ElementRole::Contents => Tag::TOC.into(),
            ElementRole::ContentsEntry => Tag::TOCI.into(),
            ElementRole::Table => Tag::Table.into(),
            ElementRole::TableHead => Tag::THead.into(),
            ElementRole::TableBody => Tag::TBody.into(),
            ElementRole::Row => Tag::TR.into(),
            ElementRole::ColumnHeader => Tag::TH(TableHeaderScope::Column).into(),
            ElementRole::Cell => Tag::TD.into(),
            ElementRole::Caption => Tag::Caption.into(),
            ElementRole::Figure { description } => Tag::Figure(Some(description.clone())).into(),
            ElementRole::Link if leads_somewhere => Tag::Link.into(),
            ElementRole::Link => Tag::Span.into(),
        }
    }
}

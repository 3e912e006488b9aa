//! The logical structure of the document beside its drawing (ISO 32000-1, 14.7 and 14.8): elements
//! as a tree in reading order, and which drawing of the pages belongs to which element.
//!
//! Promises: what is drawn has one mark; a content stands on one page and its drawing is in one
//! piece; elements stand in the order in which the text was set.
//! Does not cover: how the tree is written (`tags.rs`).

use super::canvas::DrawItem;

/// Index of an element in the structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ElementId(usize);

/// Index of a piece of drawing that belongs to one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ContentId(pub usize);

/// What an element is to a reader.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ElementRole {
    /// The root.
    Document,
    /// A title that no bookmark leads to.
    Title,
    Heading {
        depth: u8,
        title: String,
    },
    Paragraph,
    /// Blocks that belong together, such as those of a notice.
    Group,
    List,
    ListItem,
    Label,
    ListBody,
    Contents,
    ContentsEntry,
    Table,
    TableHead,
    TableBody,
    Row,
    /// A header cell; it heads its column.
    ColumnHeader,
    Cell,
    Caption,
    /// A picture; its description is for readers who do not see it.
    Figure {
        description: String,
    },
    Link,
}

/// Drawing outside the structure (14.8.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArtifactKind {
    Header,
    Footer,
    /// What a page repeats of a table that goes on.
    Repeated,
    /// Rules, washes, leaders.
    Layout,
}

/// What a drawing belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DrawMark {
    Artifact(ArtifactKind),
    Content(ContentId),
    /// A link's area belongs to the element of the link.
    Annotation(ElementId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementChild {
    Element(ElementId),
    Content(ContentId),
}

#[derive(Debug, Clone)]
pub(super) struct Element {
    pub role: ElementRole,
    pub children: Vec<ElementChild>,
}

/// What is being set now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Element(ElementId),
    Artifact(ArtifactKind),
}

/// The elements of a document, in order of their making; the first one is the root.
#[derive(Debug)]
pub(super) struct Structure {
    elements: Vec<Element>,
    contents: usize,
    pub scope: Scope,
    /// The content that further drawing goes on with, and its page.
    open_content: Option<(ElementId, ContentId, usize)>,
}

impl Structure {
    const ROOT: ElementId = ElementId(0);

    pub(super) fn new() -> Self {
        let root = Element { role: ElementRole::Document, children: Vec::new() };
        Self {
            elements: vec![root],
            contents: 0,
            scope: Scope::Element(Self::ROOT),
            open_content: None,
        }
    }

    /// A structure that takes nothing in, of drawing outside the text.
    pub(super) fn of_artifacts(kind: ArtifactKind) -> Self {
        Self { scope: Scope::Artifact(kind), ..Self::new() }
    }

    pub(super) fn root(&self) -> &Element {
        self.element(Self::ROOT)
    }

    pub(super) fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.0]
    }

    /// The role of the element that a content belongs to.
    #[cfg(test)]
    pub(super) fn role_of(&self, content: ContentId) -> &ElementRole {
        let owns = |element: &&Element| element.children.contains(&ElementChild::Content(content));
        &self.elements.iter().find(owns).expect("every content has an element").role
    }

    pub(super) fn content_count(&self) -> usize {
        self.contents
    }

    /// A new last child of what is being set; none while an artifact is set.
    pub(super) fn add_element(&mut self, role: ElementRole) -> Option<ElementId> {
        let Scope::Element(parent) = self.scope else { return None };
        let id = ElementId(self.elements.len());
        self.elements.push(Element { role, children: Vec::new() });
        self.elements[parent.0].children.push(ElementChild::Element(id));
        Some(id)
    }

    /// A new first child of the root.
    pub(super) fn add_first(&mut self, role: ElementRole) -> ElementId {
        let id = ElementId(self.elements.len());
        self.elements.push(Element { role, children: Vec::new() });
        self.elements[Self::ROOT.0].children.insert(0, ElementChild::Element(id));
        id
    }

    /// A content of its own at the end of what is being set: nothing else goes on with it.
    pub(super) fn single_content(&mut self) -> DrawMark {
        self.open_content = None;
        match self.scope {
            Scope::Element(element) => DrawMark::Content(self.add_content(element)),
            Scope::Artifact(kind) => DrawMark::Artifact(kind),
        }
    }

    fn add_content(&mut self, element: ElementId) -> ContentId {
        let content = ContentId(self.contents);
        self.contents += 1;
        self.elements[element.0].children.push(ElementChild::Content(content));
        content
    }

    /// What `draw` on `page` belongs to, while it is set.
    pub(super) fn mark_of(&mut self, draw: &DrawItem, page: usize) -> Option<DrawMark> {
        match draw {
            DrawItem::Rule { .. } | DrawItem::Fill { .. } | DrawItem::Area { .. } => {
                Some(match self.scope {
                    Scope::Element(element) if self.is_figure(element) => {
                        DrawMark::Content(self.going_content(element, page))
                    }
                    Scope::Element(_) | Scope::Artifact(_) => {
                        DrawMark::Artifact(ArtifactKind::Layout)
                    }
                })
            }
            DrawItem::Link { .. } => match self.scope {
                Scope::Element(element) => Some(DrawMark::Annotation(element)),
                // A repeated header leads nowhere: what it repeats does.
                Scope::Artifact(_) => None,
            },
            DrawItem::PageNumber { .. } => Some(self.single_content()),
            DrawItem::Text { .. } => Some(match self.scope {
                Scope::Artifact(kind) => {
                    self.open_content = None;
                    DrawMark::Artifact(kind)
                }
                Scope::Element(element) => DrawMark::Content(self.going_content(element, page)),
            }),
        }
    }

    /// Areas and lines are what a figure shows, and elsewhere only what guides the eye.
    fn is_figure(&self, element: ElementId) -> bool {
        matches!(self.element(element).role, ElementRole::Figure { .. })
    }

    /// The open content where it is one of `element` on `page`, else a new one.
    fn going_content(&mut self, element: ElementId, page: usize) -> ContentId {
        if let Some((open_element, content, open_page)) = self.open_content
            && (open_element, open_page) == (element, page)
        {
            return content;
        }
        let content = self.add_content(element);
        self.open_content = Some((element, content, page));
        content
    }
}

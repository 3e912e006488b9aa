//! Blocks grouped below their headings, so that the page can hide what a filter leaves out.

use crate::document::{Block, Heading};

/// A heading with all that stands below it up to the next one of its depth.
pub(super) struct Section<'a> {
    pub heading: Option<&'a Heading>,
    /// What stands below the heading itself; a block that the heading is in comes first.
    pub blocks: Vec<&'a Block>,
    /// Deeper headings.
    pub parts: Vec<Section<'a>>,
}

/// What a page consists of between its front and its footer, in order.
#[derive(Clone, Copy)]
pub(super) enum SectionPiece<'a> {
    /// A section begins.
    Start {
        depth: u8,
    },
    Block(&'a Block),
    /// The innermost section ends.
    End,
}

/// The pieces of sections, one behind the other.
pub(super) fn pieces_of<'a>(sections: &[Section<'a>]) -> Vec<SectionPiece<'a>> {
    let mut pieces = Vec::new();
    add_pieces(sections, &mut pieces);
    pieces
}

fn add_pieces<'a>(sections: &[Section<'a>], pieces: &mut Vec<SectionPiece<'a>>) {
    for section in sections {
        let depth = section.heading.map_or(1, |heading| heading.depth);
        pieces.push(SectionPiece::Start { depth });
        pieces.extend(section.blocks.iter().map(|block| SectionPiece::Block(block)));
        add_pieces(&section.parts, pieces);
        pieces.push(SectionPiece::End);
    }
}

/// The sections of a body, chapters outermost.
pub(super) fn sections_of(blocks: &[Block]) -> Vec<Section<'_>> {
    let mut chapters: Vec<Section> = Vec::new();
    for block in blocks {
        match block.leading_heading() {
            Some(heading) => {
                let section =
                    Section { heading: Some(heading), blocks: vec![block], parts: vec![] };
                parent_parts(&mut chapters, heading.depth).push(section);
            }
            None => match deepest_section(&mut chapters) {
                Some(section) => section.blocks.push(block),
                None => {
                    chapters.push(Section { heading: None, blocks: vec![block], parts: vec![] });
                }
            },
        }
    }
    chapters
}

/// Where a section with a heading of this depth goes.
fn parent_parts<'s, 'a>(sections: &'s mut Vec<Section<'a>>, depth: u8) -> &'s mut Vec<Section<'a>> {
    let goes_below = sections
        .last()
        .and_then(|section| section.heading)
        .is_some_and(|heading| heading.depth < depth);
    if !goes_below {
        return sections;
    }
    let last = sections.last_mut().expect("a section that it goes below");
    parent_parts(&mut last.parts, depth)
}

fn deepest_section<'s, 'a>(sections: &'s mut [Section<'a>]) -> Option<&'s mut Section<'a>> {
    let last = sections.last_mut()?;
    if last.parts.is_empty() { Some(last) } else { deepest_section(&mut last.parts) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Outline;

    fn shape(sections: &[Section]) -> String {
        let one = |section: &Section| {
            let name = section.heading.map_or("-", |heading| heading.number.as_str());
            format!("{name}:{}[{}]", section.blocks.len(), shape(&section.parts))
        };
        sections.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn blocks_stand_below_the_heading_before_them() {
        let mut outline = Outline::default();
        outline.add_paragraph("before");
        outline.add_heading(1, "a", "a");
        outline.add_paragraph("text");
        outline.add_heading(2, "b", "b");
        let deep = outline.numbered_heading(3, "c", "c");
        outline.add_block(Block::Together(vec![deep]));
        outline.add_paragraph("text");
        outline.add_heading(2, "d", "d");
        outline.add_heading(1, "e", "e");
        let deep = outline.numbered_heading(3, "f", "f");
        outline.add_block(deep);
        assert_eq!(
            shape(&sections_of(&outline.blocks)),
            "-:1[] 1:2[1.1:1[1.1.1:2[]] 1.2:1[]] 2:1[2.0.1:1[]]"
        );
    }
}

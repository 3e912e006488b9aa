//! A page's drawing on a page of the file: washes and rules first, then text and figures, each
//! piece marked with what it belongs to.

use super::canvas::{Anchors, DrawItem, InkColour, MarkedDraw, Page};
use super::face::{FontFace, FontFaces};
use super::file::destination;
use super::structure::{ArtifactKind, DrawMark};
use super::tags::WrittenPieces;
use crate::document::Tone;
use krilla::annotation::{Annotation, LinkAnnotation, Target};
use krilla::color::rgb;
use krilla::geom::{PathBuilder, Point, Rect};
use krilla::page::PageSettings;
use krilla::paint::Fill;
use krilla::surface::Surface;
use krilla::tagging::{Artifact, ArtifactType, ContentTag, SpanTag};
use krilla::text::{GlyphId, KrillaGlyph};

fn ink_colour(ink: InkColour) -> rgb::Color {
    let [red, green, blue] = match ink {
        InkColour::Tone(Tone::Neutral) => [0x12, 0x14, 0x1a],
        InkColour::Tone(Tone::Quiet) => [0x66, 0x6b, 0x75],
        InkColour::Tone(Tone::Good) => [0x0d, 0x66, 0x33],
        InkColour::Tone(Tone::Caution) => [0x94, 0x5c, 0x00],
        InkColour::Tone(Tone::Bad) => [0xb3, 0x17, 0x1c],
        InkColour::Link => [0x17, 0x3d, 0x7d],
        InkColour::Accent => [0x17, 0x3d, 0x7d],
        InkColour::Hairline => [0xcc, 0xd1, 0xd9],
        InkColour::Rule => [0x40, 0x47, 0x54],
        InkColour::Wash(Tone::Neutral | Tone::Quiet) => [0xf1, 0xf3, 0xf6],
        InkColour::Wash(Tone::Good) => [0xed, 0xf7, 0xf0],
        InkColour::Wash(Tone::Caution) => [0xfc, 0xf5, 0xe6],
        InkColour::Wash(Tone::Bad) => [0xfc, 0xf0, 0xf0],
        InkColour::Paper => [0xff, 0xff, 0xff],
        InkColour::Pixel(levels) => levels,
    };
    rgb::Color::new(red, green, blue)
}

fn ink_fill(ink: InkColour) -> Option<Fill> {
    Some(Fill { paint: ink_colour(ink).into(), ..Fill::default() })
}

/// Hundredths of a point are far below what a printer resolves.
fn round_to_hundredth(value: f32) -> f32 {
    (value * 100.0).round() / 100.0
}

fn rounded_area([x, y, width, height]: [f32; 4]) -> Option<Rect> {
    let [left, top] = [x, y].map(round_to_hundredth);
    Rect::from_ltrb(left, top, round_to_hundredth(x + width), round_to_hundredth(y + height))
}

/// Adds a page to the file; `pieces` learns where its contents and links stand.
pub(super) fn write_page(
    page: &Page,
    file: &mut krilla::Document,
    (faces, anchors): (&FontFaces, &Anchors),
    pieces: &mut WrittenPieces,
) -> Option<()> {
    let sheet = page.sheet;
    let mut file_page = file.start_page_with(PageSettings::from_wh(sheet.width, sheet.height)?);
    let mut surface = file_page.surface();
    let (below, above): (Vec<&MarkedDraw>, Vec<&MarkedDraw>) =
        page.draws.iter().partition(|draw| draw.mark == DrawMark::Artifact(ArtifactKind::Layout));
    for group in below.chunk_by(same_mark).chain(above.chunk_by(same_mark)) {
        write_group(&mut surface, group, faces, pieces);
    }
    surface.finish();
    for draw in &page.draws {
        if let (DrawItem::Link { x, y, width, height, anchor }, DrawMark::Annotation(link)) =
            (&draw.item, draw.mark)
            && let Some(annotation) = link_annotation([*x, *y, *width, *height], anchor, anchors)
        {
            pieces.add_annotation(link, file_page.add_tagged_annotation(annotation));
        }
    }
    file_page.finish();
    Some(())
}

fn same_mark(first: &&MarkedDraw, second: &&MarkedDraw) -> bool {
    first.mark == second.mark
}

/// Draws what belongs to one thing, between the marks that say so.
fn write_group(
    surface: &mut Surface<'_>,
    group: &[&MarkedDraw],
    faces: &FontFaces,
    pieces: &mut WrittenPieces,
) {
    let Some(first_draw) = group.first() else { return };
    let content_tag = match first_draw.mark {
        DrawMark::Artifact(kind) => ContentTag::Artifact(artifact(kind)),
        DrawMark::Content(_) => ContentTag::Span(SpanTag::empty()),
        DrawMark::Annotation(_) => return,
    };
    let identifier = surface.start_tagged(content_tag);
    group.iter().for_each(|draw| write_item(surface, &draw.item, faces));
    surface.end_tagged();
    if let DrawMark::Content(content) = first_draw.mark {
        pieces.add_content(content, identifier);
    }
}

fn artifact(kind: ArtifactKind) -> Artifact {
    Artifact::with_kind(match kind {
        ArtifactKind::Header => ArtifactType::Header,
        ArtifactKind::Footer => ArtifactType::Footer,
        ArtifactKind::Repeated => ArtifactType::PaginationOther,
        ArtifactKind::Layout => ArtifactType::Layout,
    })
}

fn write_item(surface: &mut Surface<'_>, item: &DrawItem, faces: &FontFaces) {
    match item {
        DrawItem::Fill { x, y, width, height, ink } => {
            write_area(surface, [*x, *y, *width, *height], *ink);
        }
        DrawItem::Rule { x, y, length, thickness, ink } => {
            write_area(surface, [*x, *y - thickness / 2.0, *length, *thickness], *ink);
        }
        DrawItem::Area { corners, ink } => write_polygon(surface, corners, *ink),
        DrawItem::Text { x, y, face, size, ink, text } => {
            surface.set_fill(ink_fill(*ink));
            let place = Point::from_xy(round_to_hundredth(*x), round_to_hundredth(*y));
            let (font, size) = (faces.drawn_font(*face), round_to_hundredth(*size));
            surface.draw_glyphs(place, &text_glyphs(text, *face, faces), font, text, size, false);
        }
        DrawItem::Link { .. } | DrawItem::PageNumber { .. } => {}
    }
}

fn write_area(surface: &mut Surface<'_>, area: [f32; 4], ink: InkColour) {
    let Some(area) = rounded_area(area) else { return };
    let mut path = PathBuilder::new();
    path.push_rect(area);
    write_path(surface, path, ink);
}

fn write_polygon(surface: &mut Surface<'_>, corners: &[(f32, f32)], ink: InkColour) {
    let mut path = PathBuilder::new();
    for (index, (x, y)) in corners.iter().enumerate() {
        let (x, y) = (round_to_hundredth(*x), round_to_hundredth(*y));
        if index == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    path.close();
    write_path(surface, path, ink);
}

/// A path without an area draws nothing.
fn write_path(surface: &mut Surface<'_>, path: PathBuilder, ink: InkColour) {
    let Some(path) = path.finish() else { return };
    surface.set_fill(ink_fill(ink));
    surface.draw_path(&path);
}

fn text_glyphs(text: &str, face: FontFace, faces: &FontFaces) -> Vec<KrillaGlyph> {
    let glyph_at = |(start, character): (usize, char)| {
        let glyph = faces.character_glyph(face, character);
        let range = start..start + character.len_utf8();
        KrillaGlyph::new(GlyphId::new(glyph.number), glyph.advance, 0.0, 0.0, 0.0, range, None)
    };
    text.char_indices().map(glyph_at).collect()
}

/// None where the anchor is not in the document.
fn link_annotation(area: [f32; 4], anchor: &str, anchors: &Anchors) -> Option<Annotation> {
    let place = anchors.get(anchor)?;
    let target = Target::Destination(destination(place.page, place.y).into());
    let link = LinkAnnotation::new(rounded_area(area)?, target);
    Some(Annotation::new_link(link, Some(format!("Goes to {}", place.title))))
}

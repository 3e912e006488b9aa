//! The report as PDF, A4. This folder alone names `printpdf` (and `lopdf`, which it hands its
//! documents over as).
//!
//! Promises: equal evidence gives equal bytes (the document identifier follows from the root hash,
//! dates come from the evidence); every font is embedded as a subset; every page has a header and
//! `Page n of N`; chapters, sections, decisions and requirements are bookmarks.
//! Does not cover: tagged structure (PDF/UA).

mod face;
mod flow;
mod line;
mod table;

use super::document::{Block, Document, Heading, Text, Tone};
use super::{Format, Presentation, ReportError, Standing};
use face::{Face, Faces};
use flate2::{Compression, write::ZlibEncoder};
use flow::{
    Anchors, BOTTOM, Draw, Flow, Ink, LEFT, LINE_WIDTH, Mark, PAGE_HEIGHT, PAGE_WIDTH, TOP,
};
use printpdf::{
    Actions, BorderArray, Color, Destination, FontId, LinkAnnotation, Mm, Op, ParsedFont,
    PdfDocument, PdfFontHandle, PdfPage, PdfSaveOptions, Point, Pt, Rect, Rgb, TextItem,
    TextMatrix,
};
use rayon::iter::{IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use vkcert_model::evidence::Evidence;

/// Of page contents, of 0 to 9.
const COMPRESSION_LEVEL: u32 = 5;

/// What is repeated between a title of the contents and its page number.
const LEADER: &str = ". ";

pub(super) struct Pdf;

impl Format for Pdf {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let document = super::chapter::document(evidence)?;
        let faces = Faces::load()?;
        let mut flow = set(&document, &faces);
        furnish(&mut flow, &document);
        stamp(&mut flow, &presentation.standing);
        resolve_page_numbers(&mut flow);
        let identifier =
            Sha256::digest(format!("{} {:?}", evidence.root()?, presentation.standing));
        write(flow, &document, &identifier[..16])
    }
}

/// Sets title page, contents and body.
fn set<'a>(document: &Document, faces: &'a Faces) -> Flow<'a> {
    let mut flow = Flow::new(faces);
    title(&mut flow, document);
    flow.blocks(&document.front);
    flow.new_page();
    contents(&mut flow, document);
    flow.new_page();
    flow.blocks(&document.body);
    flow
}

fn title(flow: &mut Flow, document: &Document) {
    flow.y = 96.0;
    flow.draw(Draw::Rule {
        x: LEFT,
        y: flow.y - 14.0,
        length: 54.0,
        thickness: 3.0,
        ink: Ink::Accent,
    });
    for (text, size) in [
        (Text::quiet("Software verification report"), 13.0),
        (Text::strong(document.project.as_str()), 27.0),
    ] {
        flow.text(&text, size, LEFT, LINE_WIDTH);
        flow.y += 4.0;
    }
    flow.text(
        &Text::emphasis(
            "Requirement-based tests, structural coverage and coupling of Vulkan compute kernels",
        ),
        12.0,
        LEFT,
        LINE_WIDTH,
    );
    flow.y += 22.0;
}

/// All headings of chapters, and of sections where that is not too many, with page numbers.
fn contents(flow: &mut Flow, document: &Document) {
    let headings: Vec<&Heading> = document.body.iter().filter_map(heading).collect();
    let depth =
        if headings.iter().filter(|heading| heading.depth <= 2).count() <= 90 { 2 } else { 1 };
    let size = 15.0;
    let line = flow.breaker(size).lines(&Text::strong("Contents"), LINE_WIDTH).remove(0);
    flow.line(&line, LEFT, flow.y + size, size, Some(Ink::Accent));
    flow.y += 2.0 * size;
    for heading in headings.into_iter().filter(|heading| heading.depth <= depth) {
        let chapter = heading.depth == 1;
        let size = if chapter { 10.5 } else { 9.6 };
        let indent = if chapter { 0.0 } else { 20.0 };
        flow.y += if chapter { 4.0 } else { 0.0 };
        flow.need(size * 1.4);
        let number = if chapter { 20.0 } else { 28.0 };
        let style = |text: &str| if chapter { Text::strong(text) } else { Text::plain(text) };
        let plain = heading.text.0.iter().map(|run| run.text.as_str()).collect::<String>();
        let baseline = flow.y + size;
        let breaker = flow.breaker(size);
        let label = breaker.lines(&style(&heading.number), LINE_WIDTH).remove(0);
        flow.line(&label, LEFT + indent, baseline, size, None);
        // One line per entry; a longer title is cut here, never in its place.
        let title = breaker.lines(&style(&plain), LINE_WIDTH - indent - number - 40.0).remove(0);
        flow.line(&title, LEFT + indent + number, baseline, size, None);
        let left = LEFT + indent + number + title.width + 6.0;
        let anchor = heading.anchor.clone();
        flow.draw(Draw::Link {
            x: LEFT,
            y: flow.y,
            width: LINE_WIDTH,
            height: size * 1.3,
            anchor: anchor.clone(),
        });
        flow.draw(Draw::PageNumber { left, right: LEFT + LINE_WIDTH, y: baseline, size, anchor });
        flow.y += size * 1.42;
    }
}

fn heading(block: &Block) -> Option<&Heading> {
    match block {
        Block::Heading(heading) => Some(heading),
        Block::Paragraph(_)
        | Block::List(_)
        | Block::Pairs(_)
        | Block::Table(_)
        | Block::Notice { .. }
        | Block::Together(_)
        | Block::Fitting { .. }
        | Block::Source { .. } => None,
    }
}

/// The project's name with the title of the report behind it, where that fits; a longer name is
/// shortened with `…`.
fn header_left(breaker: &line::Breaker, project: &str) -> line::Line {
    let room = LINE_WIDTH * 0.8;
    let title = "   Software verification report";
    let whole = Text::plain(project).and(Text::quiet(title));
    if breaker.natural(&whole) <= room {
        return breaker.lines(&whole, LINE_WIDTH).remove(0);
    }
    let mut name: Vec<char> = project.chars().collect();
    let shown =
        |name: &[char]| Text::plain(format!("{}…", name.iter().collect::<String>().trim_end()));
    let mut text = Text::plain(project);
    while breaker.natural(&text) > room && !name.is_empty() {
        name.pop();
        text = shown(&name);
    }
    breaker.lines(&text, LINE_WIDTH).remove(0)
}

/// Running header and footer.
fn furnish(flow: &mut Flow, document: &Document) {
    let total = flow.pages.len();
    let size = 8.6;
    let breaker = flow.breaker(size);
    let set = |text: Text| breaker.lines(&text, LINE_WIDTH * 0.62).remove(0);
    let left = header_left(&breaker, &document.project);
    let right = set(Text::quiet(document.tool.as_str()));
    let level = set(Text::quiet(format!("DO-178C level {}", document.level)));
    let date = set(Text::quiet(document.date.clone().unwrap_or_default()));
    for index in 0..total {
        let page = set(Text::quiet(format!("Page {} of {total}", index + 1)));
        let mut furniture = Flow::new(flow.faces);
        let end = LEFT + LINE_WIDTH;
        if index > 0 {
            furniture.line(&left, LEFT, TOP - 32.0, size, None);
            furniture.line(&right, end - right.width, TOP - 32.0, size, None);
            let y = TOP - 25.0;
            furniture.draw(Draw::Rule {
                x: LEFT,
                y,
                length: LINE_WIDTH,
                thickness: 0.4,
                ink: Ink::Rule,
            });
        }
        let y = BOTTOM + 16.0;
        furniture.draw(Draw::Rule {
            x: LEFT,
            y,
            length: LINE_WIDTH,
            thickness: 0.4,
            ink: Ink::Rule,
        });
        furniture.line(&level, LEFT, y + 13.0, size, None);
        furniture.line(&date, LEFT + (LINE_WIDTH - date.width) / 2.0, y + 13.0, size, None);
        furniture.line(&page, end - page.width, y + 13.0, size, None);
        flow.pages[index].append(&mut furniture.pages[0]);
    }
}

/// What stands at the top of every page where the evidence does not verify.
fn stamp(flow: &mut Flow, standing: &Standing) {
    let Some(stamp) = standing.stamp() else { return };
    let size = 12.0;
    let line = flow.breaker(size).lines(&Text::strong(stamp).tone(Tone::Bad), LINE_WIDTH).remove(0);
    for index in 0..flow.pages.len() {
        let mut furniture = Flow::new(flow.faces);
        furniture.line(&line, LEFT + (LINE_WIDTH - line.width) / 2.0, TOP - 48.0, size, None);
        flow.pages[index].append(&mut furniture.pages[0]);
    }
}

/// Page numbers of the contents, once all anchors have their place.
fn resolve_page_numbers(flow: &mut Flow) {
    let anchors = flow.anchors.clone();
    let faces = flow.faces;
    for page in &mut flow.pages {
        let mut resolved = Vec::with_capacity(page.len());
        for draw in page.drain(..) {
            let Draw::PageNumber { left, right, y, size, anchor } = draw else {
                resolved.push(draw);
                continue;
            };
            let Some((number, _)) = anchors.get(&anchor) else { continue };
            let text = (number + 1).to_string();
            let width: f32 = text.chars().map(|c| faces.width(Face::Text, c, size)).sum();
            let pitch: f32 = LEADER.chars().map(|c| faces.width(Face::Text, c, size)).sum();
            let count = ((right - width - 6.0 - left) / pitch).max(0.0) as usize;
            let (x, ink) = (right - width - 6.0 - count as f32 * pitch, Ink::Tone(Tone::Quiet));
            resolved.push(Draw::Text {
                x,
                y,
                face: Face::Text,
                size,
                ink,
                text: LEADER.repeat(count),
            });
            let ink = Ink::Tone(Tone::Neutral);
            resolved.push(Draw::Text { x: right - width, y, face: Face::Text, size, ink, text });
        }
        *page = resolved;
    }
}

fn colour(ink: Ink) -> [f32; 3] {
    match ink {
        Ink::Tone(Tone::Neutral) => [0.07, 0.08, 0.10],
        Ink::Tone(Tone::Quiet) => [0.40, 0.42, 0.46],
        Ink::Tone(Tone::Good) => [0.05, 0.40, 0.20],
        Ink::Tone(Tone::Caution) => [0.58, 0.36, 0.0],
        Ink::Tone(Tone::Bad) => [0.70, 0.09, 0.11],
        Ink::Link => [0.09, 0.24, 0.49],
        Ink::Accent => [0.09, 0.24, 0.49],
        Ink::Hairline => [0.80, 0.82, 0.85],
        Ink::Rule => [0.25, 0.28, 0.33],
        Ink::Wash(Tone::Neutral | Tone::Quiet) => [0.945, 0.953, 0.965],
        Ink::Wash(Tone::Good) => [0.93, 0.97, 0.94],
        Ink::Wash(Tone::Caution) => [0.99, 0.96, 0.90],
        Ink::Wash(Tone::Bad) => [0.99, 0.94, 0.94],
    }
}

fn font_id(face: Face) -> FontId {
    FontId(match face {
        Face::Text => "FText".into(),
        Face::Strong => "FStrong".into(),
        Face::Emphasis => "FEmphasis".into(),
        Face::Code => "FCode".into(),
    })
}

fn write(
    mut flow: Flow<'_>,
    document: &Document,
    identifier: &[u8],
) -> Result<Vec<u8>, ReportError> {
    let mut pdf = PdfDocument::new(&format!("{}: software verification report", document.project));
    for (face, font) in subsets(&flow)? {
        pdf.resources.fonts.map.insert(font_id(face), printpdf::PdfFont::new(font));
    }
    let size = (Mm::from(Pt(PAGE_WIDTH)), Mm::from(Pt(PAGE_HEIGHT)));
    // Each page's drawing goes as its operations come: a long report is held in one form at a time.
    let pages = std::mem::take(&mut flow.pages);
    let page = |draws: Vec<Draw>| PdfPage::new(size.0, size.1, operations(&draws, &flow.anchors));
    pdf.pages = pages.into_par_iter().map(page).collect();
    pdf.metadata.info.creator = document.tool.clone();
    pdf.metadata.info.producer = document.tool.clone();
    pdf.metadata.info.subject = format!("DO-178C level {}", document.level);
    let mut warnings = Vec::new();
    let mut file = pdf.to_lopdf_document(&PdfSaveOptions::default(), &mut warnings);
    drop(pdf);
    finish(&mut file, &flow.outline, document, identifier)
        .map_err(|error| ReportError::Pdf(error.to_string()))?;
    compress(&mut file).map_err(|error| ReportError::Pdf(error.to_string()))?;
    let mut bytes = Vec::new();
    file.save_to(&mut bytes).map_err(|error| ReportError::Pdf(error.to_string()))?;
    Ok(bytes)
}

/// Compresses the page contents on all cores; what does not become smaller stays as it is.
fn compress(file: &mut lopdf::Document) -> io::Result<()> {
    let mut objects: Vec<&mut lopdf::Object> = file.objects.values_mut().collect();
    let streams = objects.par_iter_mut().filter_map(|object| object.as_stream_mut().ok());
    streams
        .filter(|stream| stream.allows_compression && !stream.dict.has(b"Filter"))
        .try_for_each(compress_stream)
}

/// Not by lopdf, which always asks for the smallest form: twice the time for less than a hundredth
/// of the size.
fn compress_stream(stream: &mut lopdf::Stream) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(COMPRESSION_LEVEL));
    encoder.write_all(&stream.content)?;
    let compressed = encoder.finish()?;
    if compressed.len() < stream.content.len() {
        stream.dict.set("Filter", "FlateDecode");
        stream.set_content(compressed);
    }
    Ok(())
}

fn subsets(flow: &Flow) -> Result<BTreeMap<Face, ParsedFont>, ReportError> {
    let mut used: BTreeMap<Face, BTreeSet<char>> = BTreeMap::new();
    for draw in flow.pages.iter().flatten() {
        if let Draw::Text { face, text, .. } = draw {
            used.entry(*face).or_default().extend(text.chars());
        }
    }
    used.into_iter()
        .map(|(face, characters)| Ok((face, flow.faces.subset(face, &characters)?)))
        .collect()
}

/// Hundredths of a point are far below what a printer resolves.
fn round(value: f32) -> f32 {
    (value * 100.0).round() / 100.0
}

fn pt(value: f32) -> Pt {
    Pt(round(value))
}

/// A page's drawing operations: washes first, then rules, then text. Font and colour are set where
/// they change.
fn operations(draws: &[Draw], anchors: &Anchors) -> Vec<Op> {
    let mut fills = Fills::default();
    let mut texts = Texts::new();
    let mut links = Vec::new();
    for draw in draws {
        match draw {
            Draw::Fill { x, y, width, height, ink } => {
                fills.push(*ink, rectangle(*x, *y, *width, *height))
            }
            Draw::Rule { x, y, length, thickness, ink } => {
                fills.push(*ink, rectangle(*x, *y - thickness / 2.0, *length, *thickness));
            }
            Draw::Text { x, y, face, size, ink, text } => {
                texts.push((*x, *y), (*face, *size), *ink, text)
            }
            Draw::Link { x, y, width, height, anchor } => {
                links.extend(link([*x, *y, *width, *height], anchor, anchors))
            }
            Draw::PageNumber { .. } => {}
        }
    }
    let texts = texts.operations.into_iter().chain([Op::EndTextSection]);
    fills.operations.into_iter().chain(texts).chain(links).collect()
}

/// Filled areas of a page.
#[derive(Default)]
struct Fills {
    operations: Vec<Op>,
    ink: Option<Ink>,
}

impl Fills {
    fn push(&mut self, ink: Ink, area: Op) {
        if self.ink.replace(ink) != Some(ink) {
            self.operations.push(fill_colour(ink));
        }
        self.operations.push(area);
    }
}

/// Texts of a page.
struct Texts {
    operations: Vec<Op>,
    font: Option<(Face, f32)>,
    ink: Option<Ink>,
}

impl Texts {
    fn new() -> Self {
        Self { operations: vec![Op::StartTextSection], font: None, ink: None }
    }

    fn push(&mut self, (x, y): (f32, f32), font: (Face, f32), ink: Ink, text: &str) {
        if self.font.replace(font) != Some(font) {
            let (face, size) = font;
            self.operations
                .push(Op::SetFont { font: PdfFontHandle::External(font_id(face)), size: pt(size) });
        }
        if self.ink.replace(ink) != Some(ink) {
            self.operations.push(fill_colour(ink));
        }
        self.operations
            .push(Op::SetTextMatrix { matrix: TextMatrix::Translate(pt(x), pt(PAGE_HEIGHT - y)) });
        self.operations.push(Op::ShowText { items: vec![TextItem::Text(text.to_owned())] });
    }
}

fn fill_colour(ink: Ink) -> Op {
    let [r, g, b] = colour(ink);
    Op::SetFillColor { col: Color::Rgb(Rgb { r, g, b, icc_profile: None }) }
}

fn rectangle(x: f32, y: f32, width: f32, height: f32) -> Op {
    let corner = |x: f32, y: f32| printpdf::LinePoint {
        p: Point { x: pt(x), y: pt(PAGE_HEIGHT - y) },
        bezier: false,
    };
    let points = vec![
        corner(x, y),
        corner(x + width, y),
        corner(x + width, y + height),
        corner(x, y + height),
    ];
    Op::DrawPolygon {
        polygon: printpdf::Polygon {
            rings: vec![printpdf::PolygonRing { points }],
            mode: printpdf::PaintMode::Fill,
            winding_order: printpdf::WindingOrder::NonZero,
        },
    }
}

fn link([x, y, width, height]: [f32; 4], anchor: &str, anchors: &Anchors) -> Option<Op> {
    let (page, top) = anchors.get(anchor)?;
    let rect = Rect {
        x: pt(x),
        y: pt(PAGE_HEIGHT - y - height),
        width: pt(width),
        height: pt(height),
        mode: None,
        winding_order: None,
    };
    let target = Destination::Xyz {
        page: page + 1,
        left: Some(0.0),
        top: Some(round(PAGE_HEIGHT - top + 14.0)),
        zoom: None,
    };
    let border = BorderArray::Solid([0.0, 0.0, 0.0]);
    Some(Op::LinkAnnotation {
        link: LinkAnnotation::new(rect, Actions::go_to(target), Some(border), None, None),
    })
}

/// What `printpdf` cannot say: a fixed identifier, dates of the evidence, nested bookmarks with
/// exact places.
fn finish(
    file: &mut lopdf::Document,
    marks: &[Mark],
    document: &Document,
    identifier: &[u8],
) -> lopdf::Result<()> {
    use lopdf::{Object, StringFormat, dictionary};
    file.version = "1.7".into();
    let id = Object::String(identifier.to_vec(), StringFormat::Hexadecimal);
    file.trailer.set("ID", vec![id.clone(), id]);
    let information = file.trailer.get(b"Info")?.as_reference()?;
    let date = document.date.as_deref().and_then(pdf_date);
    let information = file.get_object_mut(information)?.as_dict_mut()?;
    for key in [
        "GTS_PDFXVersion",
        "Identifier",
        "Keywords",
        "Author",
        "Trapped",
        "CreationDate",
        "ModDate",
    ] {
        information.remove(key.as_bytes());
    }
    if let Some(date) = date {
        information.set("CreationDate", Object::string_literal(date.as_str()));
        information.set("ModDate", Object::string_literal(date.as_str()));
    }
    let outlines = bookmarks(file, marks);
    let catalog = file.catalog_mut()?;
    catalog.set("Lang", Object::string_literal("en"));
    catalog.set("ViewerPreferences", dictionary! { "DisplayDocTitle" => true });
    catalog.set("PageMode", "UseOutlines");
    catalog.set("Outlines", outlines);
    Ok(())
}

/// `D:20260131120000Z` of an RFC 3339 date in UTC (ISO 32000-1, 7.9.4).
fn pdf_date(date: &str) -> Option<String> {
    let digits: String = date.chars().take(19).filter(char::is_ascii_digit).collect();
    (digits.len() == 14).then(|| format!("D:{digits}Z"))
}

/// The outline tree (ISO 32000-1, 12.3.3): chapters open, deeper levels closed.
fn bookmarks(file: &mut lopdf::Document, marks: &[Mark]) -> lopdf::Object {
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
struct OutlineTree {
    top: Vec<usize>,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// Place among its siblings.
    places: Vec<usize>,
}

impl OutlineTree {
    fn of(marks: &[Mark]) -> Self {
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

    fn siblings(&self, index: usize) -> &[usize] {
        match self.parents[index] {
            Some(parent) => &self.children[parent],
            None => &self.top,
        }
    }
}

#[cfg(test)]
mod tests;

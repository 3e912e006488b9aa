//! The file as a strict reader of PDF/A-2a and PDF/UA-1 sees it, by `lopdf` and nothing of ours: what
//! is drawn, what the structure says of it, and whether the two agree.

use super::tests::pdf;
use super::*;
use crate::document::Block;
use crate::{FormatName, render};
use lopdf::content::Content;
use lopdf::{Dictionary, Document as File, Object, ObjectId};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_sample as sample;

/// A piece of marked content: its page and number on it.
type Piece = (ObjectId, i64);

/// An element of the structure as the file has it.
#[derive(Debug)]
struct ReadElement {
    id: ObjectId,
    role: String,
    entries: Dictionary,
    children: Vec<ReadChild>,
}

#[derive(Debug)]
enum ReadChild {
    Element(ReadElement),
    Piece(Piece),
    Annotation(ObjectId),
}

/// The whole file, read.
struct Reading {
    file: File,
    tree: ReadElement,
    /// Text of each piece of marked content, in the order of drawing.
    drawn: Vec<(Piece, String)>,
}

fn entry<'f>(file: &'f File, dictionary: &'f Dictionary, key: &str) -> Option<&'f Object> {
    let object = dictionary.get(key.as_bytes()).ok()?;
    Some(file.dereference(object).unwrap().1)
}

fn name_of(file: &File, dictionary: &Dictionary, key: &str) -> Option<String> {
    let name = entry(file, dictionary, key)?.as_name().ok()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

impl Reading {
    fn of(bytes: &[u8]) -> Self {
        let file = File::load_mem(bytes).unwrap();
        let root = file.catalog().unwrap();
        let tree_root =
            entry(&file, root, "StructTreeRoot").expect("a structure").as_dict().unwrap();
        let document = tree_root.get(b"K").unwrap();
        let document = match file.dereference(document).unwrap().1 {
            Object::Array(children) => children[0].as_reference().unwrap(),
            _ => document.as_reference().unwrap(),
        };
        let tree = read_element(&file, document);
        let drawn = file.get_pages().values().flat_map(|page| drawn_pieces(&file, *page)).collect();
        Self { file, tree, drawn }
    }

    /// Every element, a parent before its children.
    fn elements(&self) -> Vec<&ReadElement> {
        let mut elements = Vec::new();
        let mut open = vec![&self.tree];
        while let Some(element) = open.pop() {
            elements.push(element);
            open.extend(element.child_elements().rev());
        }
        elements
    }

    /// The text in the order of the structure, without white space.
    fn structured_text(&self) -> String {
        let drawn: BTreeMap<Piece, &str> =
            self.drawn.iter().map(|(piece, text)| (*piece, text.as_str())).collect();
        let mut text = String::new();
        add_text(&self.tree, &drawn, &mut text);
        text
    }
}

fn add_text(element: &ReadElement, drawn: &BTreeMap<Piece, &str>, text: &mut String) {
    for child in &element.children {
        match child {
            ReadChild::Element(element) => add_text(element, drawn, text),
            ReadChild::Piece(piece) => text.extend(drawn[piece].split_whitespace()),
            ReadChild::Annotation(_) => {}
        }
    }
}

impl ReadElement {
    fn child_elements(&self) -> impl DoubleEndedIterator<Item = &ReadElement> {
        self.children.iter().filter_map(|child| match child {
            ReadChild::Element(element) => Some(element),
            ReadChild::Piece(_) | ReadChild::Annotation(_) => None,
        })
    }

    fn text_entry(&self, key: &str) -> Option<String> {
        lopdf::decode_text_string(self.entries.get(key.as_bytes()).ok()?).ok()
    }
}

fn read_element(file: &File, id: ObjectId) -> ReadElement {
    let entries = file.get_dictionary(id).unwrap().clone();
    let page = entries.get(b"Pg").ok().map(|page| page.as_reference().unwrap());
    let kids = match entries.get(b"K") {
        Ok(Object::Array(kids)) => kids.clone(),
        Ok(kid) => vec![kid.clone()],
        Err(_) => Vec::new(),
    };
    let children = kids.iter().map(|kid| match kid {
        Object::Integer(number) => ReadChild::Piece((page.expect("a page"), *number)),
        Object::Reference(kid_id) => {
            let child = read_element(file, *kid_id);
            let parent = child.entries.get(b"P").unwrap().as_reference().unwrap();
            assert_eq!(parent, id, "an element names its parent");
            ReadChild::Element(child)
        }
        Object::Dictionary(kid) => match name_of(file, kid, "Type").as_deref() {
            Some("MCR") => {
                let page = kid.get(b"Pg").unwrap().as_reference().unwrap();
                ReadChild::Piece((page, kid.get(b"MCID").unwrap().as_i64().unwrap()))
            }
            Some("OBJR") => ReadChild::Annotation(kid.get(b"Obj").unwrap().as_reference().unwrap()),
            kind => panic!("{kind:?} in the structure"),
        },
        kid => panic!("{kid:?} in the structure"),
    });
    let children = children.collect();
    ReadElement { id, role: name_of(file, &entries, "S").unwrap(), entries, children }
}

/// What marks drawing, from the outside in.
enum OpenMark {
    Artifact,
    Piece(i64),
    Other,
}

/// The pieces of a page with their text; panics where something is drawn that is neither in a piece
/// nor an artifact.
fn drawn_pieces(file: &File, page: ObjectId) -> Vec<(Piece, String)> {
    let fonts = file.get_page_fonts(page).unwrap();
    let encodings: BTreeMap<&[u8], lopdf::Encoding> = fonts
        .iter()
        .map(|(name, font)| (name.as_slice(), font.get_font_encoding(file).unwrap()))
        .collect();
    let mut font: &[u8] = b"";
    let mut open_marks: Vec<OpenMark> = Vec::new();
    let mut pieces: Vec<(Piece, String)> = Vec::new();
    let content = Content::decode(&file.get_page_content(page)).unwrap();
    for operation in &content.operations {
        match operation.operator.as_str() {
            "BMC" | "BDC" => open_marks.push(open_mark(file, page, &operation.operands)),
            "EMC" => assert!(open_marks.pop().is_some(), "a mark ends that did not begin"),
            "Tf" => {
                let name = operation.operands[0].as_name().unwrap();
                font = fonts.get_key_value(name).expect("a font of the page").0;
            }
            "Tj" | "TJ" | "f" | "f*" | "S" | "s" | "B" | "B*" | "Do" | "sh" => {
                let text = shown_text(&operation.operands, encodings.get(font));
                let innermost = open_marks.iter().rev().find_map(|mark| match mark {
                    OpenMark::Artifact => Some(None),
                    OpenMark::Piece(number) => Some(Some((page, *number))),
                    OpenMark::Other => None,
                });
                let Some(piece) = innermost.expect("all drawing is marked") else { continue };
                match pieces.last_mut().filter(|(last, _)| *last == piece) {
                    Some((_, piece_text)) => piece_text.push_str(&text),
                    None => pieces.push((piece, text)),
                }
            }
            _ => {}
        }
    }
    assert!(open_marks.is_empty(), "a mark does not end");
    pieces
}

fn open_mark(file: &File, page: ObjectId, operands: &[Object]) -> OpenMark {
    if operands[0].as_name().unwrap() == b"Artifact" {
        return OpenMark::Artifact;
    }
    let named = |name: &[u8]| {
        let resources = file.get_dictionary(page).unwrap().get(b"Resources").unwrap();
        let resources = file.dereference(resources).unwrap().1.as_dict().unwrap();
        let lists = file.get_dict_in_dict(resources, b"Properties").unwrap();
        file.get_dict_in_dict(lists, name).unwrap().clone()
    };
    let properties = match operands.get(1) {
        Some(Object::Dictionary(properties)) => properties.clone(),
        Some(Object::Name(name)) => named(name),
        _ => return OpenMark::Other,
    };
    properties
        .get(b"MCID")
        .map_or(OpenMark::Other, |number| OpenMark::Piece(number.as_i64().unwrap()))
}

fn shown_text(operands: &[Object], encoding: Option<&lopdf::Encoding>) -> String {
    let parts = match operands.first() {
        Some(Object::Array(parts)) => parts.as_slice(),
        _ => operands,
    };
    let strings = parts.iter().filter_map(|part| part.as_str().ok());
    strings
        .map(|string| File::decode_text(encoding.expect("a font is set"), string).unwrap())
        .collect()
}

fn sample_reading() -> Reading {
    Reading::of(&pdf(&sample::evidence()))
}

#[test]
fn the_file_says_which_standards_it_keeps() {
    let reading = sample_reading();
    let (file, catalog) = (&reading.file, reading.file.catalog().unwrap());
    let metadata = entry(file, catalog, "Metadata").unwrap().as_stream().unwrap();
    let packet = metadata.decompressed_content().unwrap_or_else(|_| metadata.content.clone());
    let packet = String::from_utf8_lossy(&packet).into_owned();
    for part in [
        "<pdfaid:part>2</pdfaid:part>",
        "<pdfaid:conformance>A</pdfaid:conformance>",
        "<pdfuaid:part>1</pdfuaid:part>",
        "<dc:title>",
    ] {
        assert!(packet.contains(part), "{part} is not in {packet}");
    }
    let document =
        crate::chapter::report_document(&sample::evidence(), DocumentName::All, None).unwrap();
    let information = entry(file, &file.trailer, "Info").unwrap().as_dict().unwrap();
    let title = lopdf::decode_text_string(entry(file, information, "Title").unwrap()).unwrap();
    assert_eq!(title, document.project_and_title());
    let marks = entry(file, catalog, "MarkInfo").unwrap().as_dict().unwrap();
    assert!(entry(file, marks, "Marked").unwrap().as_bool().unwrap());
    assert_eq!(name_of(file, catalog, "PageMode").as_deref(), Some("UseOutlines"));
    let language = lopdf::decode_text_string(entry(file, catalog, "Lang").unwrap());
    assert_eq!(language.unwrap(), "en");
    let view = entry(file, catalog, "ViewerPreferences").unwrap().as_dict().unwrap();
    assert!(entry(file, view, "DisplayDocTitle").unwrap().as_bool().unwrap());
    let intents = entry(file, catalog, "OutputIntents").unwrap().as_array().unwrap();
    let intent = file.dereference(&intents[0]).unwrap().1.as_dict().unwrap();
    assert_eq!(name_of(file, intent, "S").as_deref(), Some("GTS_PDFA1"));
    assert!(entry(file, intent, "DestOutputProfile").unwrap().as_stream().is_ok());
}

/// A date that the evidence does not give would be made up, and PDF/A asks for one.
#[test]
fn undated_evidence_gives_accessible_files_that_claim_no_archive_standard() {
    let mut evidence = sample::evidence();
    evidence.campaign.project.date = None;
    let reading = Reading::of(&pdf(&evidence));
    let catalog = reading.file.catalog().unwrap();
    let metadata = entry(&reading.file, catalog, "Metadata").unwrap().as_stream().unwrap();
    let packet = metadata.decompressed_content().unwrap_or_else(|_| metadata.content.clone());
    let packet = String::from_utf8_lossy(&packet).into_owned();
    assert!(packet.contains("<pdfuaid:part>1</pdfuaid:part>"), "{packet}");
    assert!(!packet.contains("pdfaid:") && !packet.contains("CreateDate"), "{packet}");
}

/// Both ways: what the structure names is drawn, what is drawn is named once, and the reader who
/// comes from the page finds the same element (ISO 32000-1, 14.7.4.4).
#[test]
fn every_drawing_belongs_to_one_element_or_is_an_artifact() {
    let reading = sample_reading();
    let mut named: BTreeMap<Piece, ObjectId> = BTreeMap::new();
    for element in reading.elements() {
        for child in &element.children {
            if let ReadChild::Piece(piece) = child {
                let earlier = named.insert(*piece, element.id);
                assert!(earlier.is_none(), "{piece:?} is named twice");
            }
        }
    }
    let drawn: BTreeSet<Piece> = reading.drawn.iter().map(|(piece, _)| *piece).collect();
    assert_eq!(drawn.len(), reading.drawn.len(), "a piece is drawn in two parts");
    assert_eq!(named.keys().copied().collect::<BTreeSet<_>>(), drawn);
    let parents = parent_tree(&reading.file);
    for (page, number) in drawn {
        let entries = reading.file.get_dictionary(page).unwrap();
        let key = entries.get(b"StructParents").unwrap().as_i64().unwrap();
        let elements = parents[&key].as_array().unwrap();
        let element = elements[usize::try_from(number).unwrap()].as_reference().unwrap();
        assert_eq!(element, named[&(page, number)]);
    }
}

fn parent_tree(file: &File) -> BTreeMap<i64, Object> {
    let root = entry(file, file.catalog().unwrap(), "StructTreeRoot").unwrap().as_dict().unwrap();
    let mut open = vec![entry(file, root, "ParentTree").unwrap().as_dict().unwrap()];
    let mut leaves = BTreeMap::new();
    while let Some(node) = open.pop() {
        if let Some(kids) = entry(file, node, "Kids") {
            let kids = kids.as_array().unwrap().iter();
            open.extend(kids.map(|kid| file.dereference(kid).unwrap().1.as_dict().unwrap()));
        }
        if let Some(numbers) = entry(file, node, "Nums") {
            for pair in numbers.as_array().unwrap().chunks_exact(2) {
                let leaf = file.dereference(&pair[1]).unwrap().1.clone();
                leaves.insert(pair[0].as_i64().unwrap(), leaf);
            }
        }
    }
    leaves
}

#[test]
fn every_page_says_something_besides_its_header_and_footer() {
    let reading = sample_reading();
    let pages = reading.file.get_pages();
    assert!(pages.len() > 10);
    for (number, page) in pages {
        let texts = reading.drawn.iter().filter(|((drawn_page, _), _)| *drawn_page == page);
        let length: usize = texts.map(|(_, text)| text.trim().len()).sum();
        assert!(length > 40, "page {number} says {length} characters");
    }
}

#[test]
fn tables_have_header_cells_and_rows_of_one_length() {
    let reading = sample_reading();
    let tables: Vec<&ReadElement> =
        reading.elements().into_iter().filter(|element| element.role == "Table").collect();
    assert!(tables.len() > 20);
    for table in tables {
        let parts: Vec<&ReadElement> = table.child_elements().collect();
        let rows_of = |role: &str| {
            let part = parts.iter().find(|part| part.role == role);
            part.map(|part| part.child_elements().collect::<Vec<_>>()).unwrap_or_default()
        };
        let head_rows = rows_of("THead");
        assert_eq!(head_rows.len(), 1, "{table:?}");
        let head_cells: Vec<&ReadElement> = head_rows[0].child_elements().collect();
        for cell in &head_cells {
            assert_eq!(cell.role, "TH");
            assert_eq!(table_scope(&reading.file, cell).as_deref(), Some("Column"));
        }
        for row in rows_of("TBody") {
            assert_eq!(row.role, "TR");
            assert_eq!(row.child_elements().count(), head_cells.len());
            assert!(row.child_elements().all(|cell| cell.role == "TD"));
        }
    }
}

fn table_scope(file: &File, cell: &ReadElement) -> Option<String> {
    let attributes = match entry(file, &cell.entries, "A")? {
        Object::Array(sets) => sets.iter().map(|set| file.dereference(set).unwrap().1).collect(),
        set => vec![set],
    };
    attributes.into_iter().find_map(|set| name_of(file, set.as_dict().ok()?, "Scope"))
}

/// ISO 14289-1, 7.4.2 and 7.3.
#[test]
fn headings_go_down_one_level_at_a_time_and_figures_are_described() {
    for evidence in [sample::evidence(), sample::flawless()] {
        let reading = Reading::of(&pdf(&evidence));
        let mut previous_level = 0;
        for element in reading.elements() {
            let level = element.role.strip_prefix('H').and_then(|level| level.parse::<u32>().ok());
            if let Some(level) = level {
                assert!(level >= 1 && level <= previous_level + 1, "{element:?}");
                assert!(element.text_entry("T").is_some_and(|title| !title.is_empty()));
                previous_level = level;
            }
            if element.role == "Figure" {
                assert!(element.text_entry("Alt").is_some_and(|text| text.len() > 10));
            }
        }
        assert!(previous_level > 0, "there are headings");
    }
}

#[test]
fn every_link_is_in_the_structure_and_says_where_it_goes() {
    let reading = sample_reading();
    let mut named: BTreeSet<ObjectId> = BTreeSet::new();
    for element in reading.elements() {
        for child in &element.children {
            if let ReadChild::Annotation(annotation) = child {
                assert_eq!(element.role, "Link");
                assert!(named.insert(*annotation));
            }
        }
    }
    let mut drawn: BTreeSet<ObjectId> = BTreeSet::new();
    for page in reading.file.get_pages().values() {
        let entries = reading.file.get_dictionary(*page).unwrap();
        let Some(annotations) = entry(&reading.file, entries, "Annots") else { continue };
        for annotation in annotations.as_array().unwrap() {
            let id = annotation.as_reference().unwrap();
            let link = reading.file.get_dictionary(id).unwrap();
            let goal = lopdf::decode_text_string(link.get(b"Contents").unwrap()).unwrap();
            assert!(goal.len() > "Goes to ".len(), "{goal}");
            drawn.insert(id);
        }
        assert_eq!(name_of(&reading.file, entries, "Tabs").as_deref(), Some("S"));
    }
    assert!(drawn.len() > 50);
    assert_eq!(named, drawn);
}

#[test]
fn every_font_is_embedded_and_gives_its_characters() {
    let reading = sample_reading();
    let mut count = 0;
    for object in reading.file.objects.values() {
        let Ok(font) = object.as_dict() else { continue };
        if name_of(&reading.file, font, "Subtype").as_deref() != Some("Type0") {
            continue;
        }
        assert!(entry(&reading.file, font, "ToUnicode").unwrap().as_stream().is_ok());
        let descendants =
            entry(&reading.file, font, "DescendantFonts").unwrap().as_array().unwrap();
        let descendant = reading.file.dereference(&descendants[0]).unwrap().1.as_dict().unwrap();
        let descriptor = entry(&reading.file, descendant, "FontDescriptor").unwrap();
        let descriptor = descriptor.as_dict().unwrap();
        assert!(descriptor.has(b"FontFile2") || descriptor.has(b"FontFile3"));
        count += 1;
    }
    assert_eq!(count, face::FontFace::ALL.len());
}

/// The order of drawing, that of the structure and that of the document are one: whoever reads,
/// copies or searches finds the sentences as they follow each other.
#[test]
fn text_is_read_in_the_order_of_the_document() {
    let evidence = sample::evidence();
    let history = crate::trend_tests::history_of(&evidence);
    let document =
        crate::chapter::report_document(&evidence, DocumentName::All, Some(&history)).unwrap();
    let presentation = Presentation { history: Some(history), ..Presentation::default() };
    let reading = Reading::of(&render(&evidence, FormatName::Pdf, &presentation).unwrap());
    let structured = reading.structured_text();
    let drawn = reading.drawn.iter().flat_map(|(_, text)| text.split_whitespace());
    assert!(drawn.collect::<String>() == structured, "drawing and structure differ in order");
    let mut place = 0;
    for block in document.front.iter().chain(&document.body) {
        for text in block_texts(block) {
            let rest = &structured[place..];
            let begin = rest.find(&text).unwrap_or_else(|| panic!("{text} does not come here"));
            place += begin + text.len();
        }
    }
    assert!(structured.len() - place < 20, "text behind the end of the document");
}

/// The texts of a block in order, without white space.
fn block_texts(block: &Block) -> Vec<String> {
    let bare = |text: &crate::document::Text| {
        let runs = text.0.iter().flat_map(|run| run.text.split_whitespace());
        // The character of the sample that no font has.
        runs.collect::<String>().replace('\u{4e2d}', "<U+4E2D>")
    };
    match block {
        Block::Heading(heading) => vec![heading.number.clone(), bare(&heading.text)],
        Block::Paragraph(text) => vec![bare(text)],
        Block::List(items) | Block::Lines(items) => items.iter().map(bare).collect(),
        Block::Tree { .. } => Vec::new(),
        Block::Pairs(pairs) => {
            let texts =
                pairs.iter().flat_map(|(name, value)| [bare(&name.as_str().into()), bare(value)]);
            texts.collect()
        }
        Block::Table(table) => {
            let titles = table.columns.iter().map(|column| bare(&column.title));
            let cells = table.rows.iter().flatten().map(bare);
            table.caption.iter().map(bare).chain(titles).chain(cells).collect()
        }
        Block::Drawing(drawing) => vec![bare(&drawing.caption)],
        Block::Notice { title, lines, .. } => {
            std::iter::once(title).chain(lines).map(bare).collect()
        }
        Block::Together(blocks) => blocks.iter().flat_map(block_texts).collect(),
        // Which one a page has room for is not known here.
        Block::Fitting { .. } => Vec::new(),
        Block::Source { listing, .. } => {
            let lines = listing.files.iter().flat_map(|file| &file.lines);
            let lines = lines.flat_map(|line| [&line.source, &line.obligations, &line.tests]);
            listing.lead.iter().flat_map(block_texts).chain(lines.map(bare)).collect()
        }
    }
}

#[test]
fn every_document_on_every_paper_keeps_the_standards() {
    let evidence = sample::evidence();
    for (document, paper) in [(DocumentName::All, Paper::Letter), (DocumentName::Svcp, Paper::A4)] {
        let presentation = Presentation { document, paper: Some(paper), ..Presentation::default() };
        let reading = Reading::of(&render(&evidence, FormatName::Pdf, &presentation).unwrap());
        assert!(!reading.drawn.is_empty());
    }
}

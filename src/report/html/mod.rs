//! The report as HTML pages without any outside reference: style and script stand in each page. Up
//! to a number of kernels it is one page, above it an index and a page per kernel (`split`).
//!
//! Promises: all text is escaped (`maud` does it; the style and script are constants of ours), and
//! none turns the direction of what stands around it; readable from 320 pixels of width, in light and dark, on paper, and without script.

#[cfg(test)]
mod browser_tests;
mod drawing;
mod links;
mod sections;
mod source;
mod split;
mod toolbar;
mod tree;

use super::document::{
    Block, ColumnAlign, Document, Heading, Style, Table, TableFolding, Text, TextRun, Tone,
    shows_other_text,
};
use super::{Format, Presentation, ReportError, Standing, facts, rendered_bytes};
use links::{PageLinks, element_id};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use rayon::prelude::*;
use sections::SectionPiece;
use std::collections::BTreeSet;
use std::io::{self, Write};
use vkcert_model::evidence::Evidence;
use vkcert_model::pipelined::write_while_making;

pub(crate) use drawing::svg_document;
pub use split::{HTML_SPLIT_ABOVE, KERNEL_FOLDER, KERNEL_PAGE_START, PagedHtml, kernel_folder};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Pieces of a page that are in memory at a time.
const PIECES_AT_A_TIME: usize = 4096;

pub(super) struct Html;

impl Format for Html {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        rendered_bytes(self, evidence, presentation)
    }

    fn render_to(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
        target: &mut (dyn Write + Send),
    ) -> Result<(), ReportError> {
        let document = super::chapter::report_document(
            evidence,
            presentation.document,
            presentation.history.as_ref(),
        )?;
        let page = Page {
            evidence,
            standing: &presentation.standing,
            links: PageLinks::OnePage,
            heading: document.project.clone(),
            known_names: toolbar::names_of_run(evidence),
        };
        Ok(write_page(&document, &page, target)?)
    }
}

/// A document that is no report of one campaign, as one page.
pub(crate) fn document_page(document: &Document, evidence: &Evidence) -> Vec<u8> {
    let page = Page {
        evidence,
        standing: &Standing::Verified,
        links: PageLinks::OnePage,
        heading: document.project.clone(),
        known_names: toolbar::names_of_run(evidence),
    };
    page_bytes(document, &page)
}

/// What setting the blocks of one page needs to know.
struct Page<'a> {
    evidence: &'a Evidence,
    standing: &'a Standing,
    links: PageLinks<'a>,
    /// What the page is about.
    heading: String,
    /// What its search proposes.
    known_names: BTreeSet<String>,
}

#[cfg(test)]
impl<'a> Page<'a> {
    /// The one page of a report.
    fn only(evidence: &'a Evidence, standing: &'a Standing) -> Self {
        Self {
            evidence,
            standing,
            links: PageLinks::OnePage,
            heading: String::new(),
            known_names: BTreeSet::new(),
        }
    }
}

/// What stands above everything, on paper on every page, where the evidence does not verify.
fn standing_stamp(standing: &Standing) -> Markup {
    let stamp_detail = match standing {
        Standing::Verified => return html! {},
        Standing::InPart(_) => " (`vkcert verify` names what)".to_owned(),
        Standing::Unverified(problems) => {
            format!(" ({} problems; `vkcert verify` lists them)", problems.len())
        }
    };
    html! {
        p.stamp role="alert" { strong { (standing.stamp().unwrap_or_default()) } (stamp_detail) }
    }
}

/// Begins what stands on a page behind its chapters.
const FOOTER_START: &str = "<footer>";

/// The page as its file holds it.
fn page_bytes(document: &Document, page: &Page) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_page(document, page, &mut bytes).expect("memory takes all that is written to it");
    bytes
}

/// Writes the page, whose pieces are set on all cores.
fn write_page(document: &Document, page: &Page, target: &mut (dyn Write + Send)) -> io::Result<()> {
    let frame = shown_markup(page_frame(document, page));
    // Text on the page is escaped: the tag itself stands there once.
    let (before, behind) =
        frame.split_once(FOOTER_START).expect("the frame of a page has its footer");
    target.write_all(before.as_bytes())?;
    let sections = sections::sections_of(&document.body);
    let pieces = sections::pieces_of(&sections);
    let set_pieces = |pieces: &[SectionPiece]| -> io::Result<Vec<String>> {
        Ok(pieces.par_iter().map(|piece| shown_markup(set_piece(piece, page))).collect())
    };
    write_while_making(pieces.chunks(PIECES_AT_A_TIME), set_pieces, |texts| {
        texts.iter().try_for_each(|text| target.write_all(text.as_bytes()))
    })?;
    target.write_all(FOOTER_START.as_bytes())?;
    target.write_all(behind.as_bytes())
}

/// Markup as a file holds it. What would turn the direction of text is replaced wherever it stands:
/// in names, in source text, in what the pointer shows.
fn shown_markup(markup: Markup) -> String {
    let text = markup.into_string();
    if text.contains(shows_other_text) { text.replace(shows_other_text, "\u{fffd}") } else { text }
}

/// The page without its chapters, which stand in front of its footer.
fn page_frame(document: &Document, page: &Page) -> Markup {
    let title = document.project_and_title();
    let is_whole = page.heading == document.project;
    html! {
        (DOCTYPE)
        html lang="en" data-vkcert-page=(page.links.page_kind()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content=(document.tool);
                title { @if !is_whole { (page.heading) " · " } (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (standing_stamp(page.standing))
                (navigation(document, page))
                main {
                    (toolbar::toolbar(&page.known_names))
                    header.front {
                        p.kicker { @if !is_whole { (document.project) " · " } (document.title) }
                        h1 { (page.heading) }
                        @for block in &document.front { (set_block(block, page)) }
                    }
                    footer {
                        (document.tool) " · " (document.level)
                        @if let Some(date) = &document.date { " · SOURCE_DATE_EPOCH " (date) }
                        " · root " code { (document.root) }
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

fn headings_of(blocks: &[Block]) -> Vec<&Heading> {
    let mut all_headings = Vec::new();
    for block in blocks {
        match block {
            Block::Heading(heading) => all_headings.push(heading),
            Block::Together(inner_blocks) | Block::Fitting { whole: inner_blocks, brief: _ } => {
                all_headings.extend(headings_of(inner_blocks))
            }
            Block::Paragraph(_)
            | Block::List(_)
            | Block::Lines(_)
            | Block::Tree { .. }
            | Block::Pairs(_)
            | Block::Table(_)
            | Block::Drawing(_)
            | Block::Notice { .. }
            | Block::Source { .. } => {}
        }
    }
    all_headings
}

fn navigation(document: &Document, page: &Page) -> Markup {
    let ways = page.links.ways();
    html! {
        nav aria-label="Contents" {
            p.brand { (document.project) }
            @if !ways.is_empty() {
                ul.ways { @for (words, link) in ways { li { a href=(link) { (words) } } } }
            }
            ul {
                @for heading in headings_of(&document.body) {
                    @if heading.depth <= 2 {
                        li class=(format!("depth-{}", heading.depth)) {
                            a href=(format!("#{}", element_id(&heading.anchor))) {
                                span.number { (heading.number) } " " (set_text(&heading.text, page))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Chapters are laid out by browsers once they come into sight, so that many of them cost nothing.
fn set_piece(piece: &SectionPiece, page: &Page) -> Markup {
    match piece {
        SectionPiece::Start { depth: 1 } => {
            PreEscaped("<section class=\"part chapter\">".to_owned())
        }
        SectionPiece::Start { .. } => PreEscaped("<section class=\"part\">".to_owned()),
        SectionPiece::Block(block) => set_block(block, page),
        SectionPiece::End => PreEscaped("</section>".to_owned()),
    }
}

fn set_block(block: &Block, page: &Page) -> Markup {
    match block {
        Block::Heading(heading) => set_heading(heading, page),
        Block::Paragraph(line) => html! { p { (set_text(line, page)) } },
        Block::List(items) => html! { ul { @for item in items { li { (set_text(item, page)) } } } },
        Block::Lines(lines) => set_lines(lines),
        Block::Tree { label, trees } => tree::tree_view(label, trees, page),
        Block::Pairs(pairs) => html! {
            dl.pairs { @for (name, value) in pairs { dt { (name) } dd { (set_text(value, page)) } } }
        },
        Block::Table(table) => set_table(table, page),
        Block::Drawing(drawing) => drawing::set_drawing(drawing, page),
        Block::Notice { tone, title, lines } => html! {
            section.notice.(tone_class(*tone)) role="status" {
                p.title { (set_text(title, page)) }
                @for line in lines { p { (set_text(line, page)) } }
            }
        },
        Block::Together(inner_blocks) => html! {
            section.together { @for inner in inner_blocks { (set_block(inner, page)) } }
        },
        Block::Fitting { whole: inner_blocks, brief: _ } => {
            html! { @for inner in inner_blocks { (set_block(inner, page)) } }
        }
        Block::Source { kernel, .. } => {
            let evidence = page.evidence;
            evidence.kernels.get(*kernel).map_or_else(
                || html! {},
                |kernel| {
                    source::source_view(
                        evidence,
                        kernel,
                        &facts::kernel_unit(evidence, &kernel.kernel, &kernel.configuration.name)
                            .chapter_anchor(),
                    )
                },
            )
        }
    }
}

fn set_heading(heading: &Heading, page: &Page) -> Markup {
    let id = element_id(&heading.anchor);
    let content = html! { span.number { (heading.number) } " " (set_text(&heading.text, page)) };
    match heading.depth {
        1 => html! { h2 id=(id) { (content) } },
        2 => html! { h3 id=(id) { (content) } },
        _ => html! { h4 id=(id) { (content) } },
    }
}

fn set_table(table: &Table, page: &Page) -> Markup {
    match (table.folding, &table.caption) {
        (TableFolding::Folded, Some(caption)) => html! {
            details.folded {
                summary { (set_text(caption, page)) }
                (set_rows(table, None, page))
            }
        },
        (TableFolding::Folded, None) | (TableFolding::Unfolded, _) => {
            set_rows(table, table.caption.as_ref(), page)
        }
    }
}

fn set_rows(table: &Table, caption: Option<&Text>, page: &Page) -> Markup {
    let align = |index: usize| match table.columns[index].align {
        ColumnAlign::Left => "left",
        ColumnAlign::Centre => "centre",
        ColumnAlign::Right => "right",
    };
    html! {
        div.scroll {
            table {
                @if let Some(caption) = caption { caption { (set_text(caption, page)) } }
                thead { tr {
                    @for (index, column) in table.columns.iter().enumerate() {
                        th scope="col" class=(align(index)) { (set_text(&column.title, page)) }
                    }
                } }
                tbody {
                    @for (row_index, row) in table.rows.iter().enumerate() {
                        tr id=[table.row_anchors.get(&row_index).map(|anchor| element_id(anchor))] { @for (index, cell) in row.iter().enumerate() { td class=(align(index)) { (set_text(cell, page)) } } }
                    }
                }
            }
        }
    }
}

fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Neutral => "neutral",
        Tone::Quiet => "quiet",
        Tone::Good => "good",
        Tone::Caution => "caution",
        Tone::Bad => "bad",
    }
}

/// Lines as they are; they hold no links.
fn set_lines(lines: &[Text]) -> Markup {
    html! {
        pre.code {
            @for line in lines {
                span.line { @for run in &line.0 { span class=(tone_class(run.tone)) { (run.text) } } }
            }
        }
    }
}

fn set_text(line: &Text, page: &Page) -> Markup {
    html! { @for part in &line.0 { (set_run(part, page)) } }
}

/// Identifiers up to this many bytes are not broken.
const UNBROKEN: usize = 20;

fn set_run(run: &TextRun, page: &Page) -> Markup {
    let styled_run = match run.style {
        Style::Plain => html! { (run.text) },
        Style::Strong => html! { strong { (run.text) } },
        Style::Emphasis => html! { em { (run.text) } },
        Style::Code if run.text.len() <= UNBROKEN && !run.text.contains(' ') => {
            html! { code.id { (run.text) } }
        }
        // A long name may break behind `_` and `/`.
        Style::Code => {
            html! { code { @for part in run.text.split_inclusive(['_', '/']) { (part) wbr; } } }
        }
    };
    let toned_run = match run.tone {
        Tone::Neutral => styled_run,
        tone => html! { span class=(tone_class(tone)) { (styled_run) } },
    };
    match run.link.as_ref().and_then(|anchor| page.links.link_to(anchor)) {
        Some(link) => html! { a href=(link) { (toned_run) } },
        None => toned_run,
    }
}

#[cfg(test)]
mod tests;

//! A report as headings, paragraphs and tables, before any format: the PDF and the HTML page show
//! the same document.
//!
//! Promises: anchors are unique within a document; text is plain Unicode that each format escapes
//! itself.

use super::drawing::Drawing;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_model::wording::is_deceptive;

/// How a run of text is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Style {
    Plain,
    Strong,
    Emphasis,
    /// Source text, identifiers, hashes: fixed width.
    Code,
}

/// What a run of text says about the matter. Never shown by colour alone: a word or a symbol stands
/// with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    Neutral,
    Quiet,
    Good,
    Caution,
    Bad,
}

/// What links lead to, by name; many runs and draws share one.
pub(crate) type Anchor = Arc<str>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextRun {
    pub text: String,
    pub style: Style,
    pub tone: Tone,
    /// Anchor within the document.
    pub link: Option<Anchor>,
}

/// A line of running text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Text(pub Vec<TextRun>);

/// Characters that turn the direction of the text around them (Unicode Standard Annex 9), and
/// control characters that are no white space: a report must read as it is.
pub(crate) fn shows_other_text(character: char) -> bool {
    // The marks of direction are no fault of a text, but turn what stands beside them.
    let is_mark = matches!(character, '\u{200e}' | '\u{200f}' | '\u{61c}');
    is_mark || (character != '\u{c}' && is_deceptive(character))
}

impl Text {
    fn single_run(text: impl Into<String>, style: Style) -> Self {
        let mut text = text.into();
        if text.contains(shows_other_text) {
            text = text
                .chars()
                .map(|character| {
                    if shows_other_text(character) {
                        char::REPLACEMENT_CHARACTER
                    } else {
                        character
                    }
                })
                .collect();
        }
        Self(vec![TextRun { text, style, tone: Tone::Neutral, link: None }])
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::single_run(text, Style::Plain)
    }

    /// A sentence of the tool: what it sets between backticks is code. A backtick without partner
    /// stays.
    pub(crate) fn sentence(text: impl Into<String>) -> Self {
        let text = text.into();
        let backtick_parts: Vec<&str> = text.split('`').collect();
        if backtick_parts.len() == 1 || backtick_parts.len().is_multiple_of(2) {
            return Self::plain(text);
        }
        let styled_parts =
            backtick_parts.into_iter().enumerate().map(|(part_index, part)| match part_index % 2 {
                0 => Self::plain(part),
                _ => Self::code(part),
            });
        Self(
            styled_parts
                .flat_map(|part_text| part_text.0)
                .filter(|run| !run.text.is_empty())
                .collect(),
        )
    }

    pub(crate) fn strong(text: impl Into<String>) -> Self {
        Self::single_run(text, Style::Strong)
    }

    pub(crate) fn emphasis(text: impl Into<String>) -> Self {
        Self::single_run(text, Style::Emphasis)
    }

    pub(crate) fn code(text: impl Into<String>) -> Self {
        Self::single_run(text, Style::Code)
    }

    pub(crate) fn quiet(text: impl Into<String>) -> Self {
        Self::plain(text).with_tone(Tone::Quiet)
    }

    pub(crate) fn empty() -> Self {
        Self::default()
    }

    pub(crate) fn with_tone(mut self, tone: Tone) -> Self {
        self.0.iter_mut().for_each(|run| run.tone = tone);
        self
    }

    pub(crate) fn with_link(mut self, anchor: impl Into<Anchor>) -> Self {
        let anchor = anchor.into();
        self.0.iter_mut().for_each(|run| run.link = Some(Arc::clone(&anchor)));
        self
    }

    /// The same text, with what is plain in it strong.
    pub(crate) fn strengthened(&self) -> Self {
        let mut strong_text = self.clone();
        for run in strong_text.0.iter_mut().filter(|run| run.style == Style::Plain) {
            run.style = Style::Strong;
        }
        strong_text
    }

    fn for_each_run(&mut self, change: &mut impl FnMut(&mut TextRun)) {
        self.0.iter_mut().for_each(change);
    }

    pub(crate) fn followed_by(mut self, appended: Text) -> Self {
        self.0.extend(appended.0);
        self
    }

    /// Adds plain text.
    pub(crate) fn then_plain(self, text: impl Into<String>) -> Self {
        self.followed_by(Text::plain(text))
    }

    /// The words without their styles.
    pub(crate) fn plain_words(&self) -> String {
        self.0.iter().map(|run| run.text.as_str()).collect()
    }

    pub(crate) fn join(parts: impl IntoIterator<Item = Text>, separator: &str) -> Self {
        parts.into_iter().fold(Self::empty(), |joined_text, part| {
            if joined_text.0.is_empty() {
                part
            } else {
                joined_text.then_plain(separator).followed_by(part)
            }
        })
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::plain(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::plain(text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnAlign {
    Left,
    Centre,
    Right,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub title: Text,
    pub align: ColumnAlign,
}

/// How wide a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableExtent {
    /// As wide as its content needs.
    Content,
    /// The whole line.
    Full,
}

/// Whether a reader opens a table first, where a format can fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableFolding {
    Unfolded,
    Folded,
}

/// A table; its header row is repeated on every page that it reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub caption: Option<Text>,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Text>>,
    /// Rows that links lead to, by their index.
    pub row_anchors: BTreeMap<usize, Anchor>,
    pub extent: TableExtent,
    pub folding: TableFolding,
}

impl Table {
    pub(crate) fn new(caption: impl Into<Text>) -> Self {
        Self {
            caption: Some(caption.into()),
            columns: Vec::new(),
            rows: Vec::new(),
            row_anchors: BTreeMap::new(),
            extent: TableExtent::Full,
            folding: TableFolding::Unfolded,
        }
    }

    pub(crate) fn with_column(mut self, title: impl Into<Text>, align: ColumnAlign) -> Self {
        self.columns.push(Column { title: title.into(), align });
        self
    }

    /// Adds left-aligned columns.
    pub(crate) fn columns(self, titles: &[&str]) -> Self {
        titles.iter().fold(self, |table, title| table.with_column(*title, ColumnAlign::Left))
    }

    /// # Panics
    /// If the row has not one cell per column.
    pub(crate) fn add_row(&mut self, cells: Vec<Text>) {
        assert_eq!(cells.len(), self.columns.len(), "a row has one cell per column");
        self.rows.push(cells);
    }

    /// A row that links lead to.
    pub(crate) fn add_anchored_row(&mut self, anchor: impl Into<Anchor>, cells: Vec<Text>) {
        self.row_anchors.insert(self.rows.len(), anchor.into());
        self.add_row(cells);
    }

    /// Only its caption is shown at first, where a format can fold; on paper all of it.
    pub(crate) fn folded(mut self) -> Self {
        self.folding = TableFolding::Folded;
        self
    }

    pub(crate) fn extent(mut self, extent: TableExtent) -> Self {
        self.extent = extent;
        self
    }
}

/// Depth of a heading: 1 is a chapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub depth: u8,
    /// `3.2`; empty for headings without number.
    pub number: String,
    pub text: Text,
    pub anchor: Anchor,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    Heading(Heading),
    Paragraph(Text),
    List(Vec<Text>),
    /// Lines below lines, that open and close. Formats on paper leave it out: whatever it says stands
    /// in tables beside it.
    Tree {
        label: &'static str,
        trees: Vec<TreeNode>,
    },
    /// Lines of a text whose white space counts, such as a difference of two texts.
    Lines(Vec<Text>),
    /// Name and value, one pair per line.
    Pairs(Vec<(String, Text)>),
    Table(Table),
    Drawing(Drawing),
    /// A framed statement: a title and sentences below it.
    Notice {
        tone: Tone,
        title: Text,
        lines: Vec<Text>,
    },
    /// Blocks that stay on one page where they fit on one.
    Together(Vec<Block>),
    /// What a page has room for: `whole` where it fits on what is left of the page, else `brief`.
    /// Formats without pages set `whole`.
    Fitting {
        whole: Vec<Block>,
        brief: Vec<Block>,
    },
    /// The marked source text of a kernel, by index in the evidence's kernels. Formats on paper set
    /// the listing, others mark the text itself.
    Source {
        kernel: usize,
        listing: SourceListing,
    },
}

/// A line of a tree with the lines below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeNode {
    pub line: Text,
    pub below: Vec<TreeNode>,
}

/// The source text of a kernel line by line, with what begins on each line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SourceListing {
    /// Legend and key, before the files.
    pub lead: Vec<Block>,
    pub files: Vec<ListedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedFile {
    pub path: Text,
    /// All lines, the first one is line 1.
    pub lines: Vec<ListedLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedLine {
    /// Symbol and tone; none where nothing begins.
    pub mark: Option<(&'static str, Tone)>,
    /// White space counts.
    pub source: Text,
    pub obligations: Text,
    pub tests: Text,
}

/// A whole report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    pub project: String,
    /// What kind of document it is, or the title that the project gives it.
    pub title: String,
    /// Number and revision of the document, where the project states them.
    pub label: Option<String>,
    pub level: String,
    /// Tool name and version.
    pub tool: String,
    pub date: Option<String>,
    /// SHA-256 of the evidence manifest.
    pub root: String,
    /// Title page, before the contents.
    pub front: Vec<Block>,
    pub body: Vec<Block>,
}

impl Document {
    /// For title bars and lists of files.
    pub(crate) fn project_and_title(&self) -> String {
        let mut title = self.title.clone();
        let is_acronym = title.chars().nth(1).is_some_and(char::is_uppercase);
        if let Some(first_letter) = title.get_mut(..1).filter(|_| !is_acronym) {
            first_letter.make_ascii_lowercase();
        }
        format!("{}: {title}", self.project)
    }

    /// What links can lead to in it.
    pub(crate) fn anchors(&self) -> BTreeSet<Anchor> {
        let mut anchors = BTreeSet::new();
        for block in self.front.iter().chain(&self.body) {
            block.add_anchors(&mut anchors);
        }
        anchors
    }

    /// Text that leads to what another document holds stays as text alone.
    pub(crate) fn drop_links_to_other_documents(&mut self) {
        let anchors = self.anchors();
        for block in self.front.iter_mut().chain(&mut self.body) {
            block.for_each_run(&mut |run| {
                run.link = run.link.take().filter(|anchor| anchors.contains(anchor));
            });
        }
    }
}

impl Block {
    /// The heading that the block is or begins with.
    pub(crate) fn leading_heading(&self) -> Option<&Heading> {
        match self {
            Block::Heading(heading) => Some(heading),
            Block::Together(blocks) => blocks.first().and_then(Block::leading_heading),
            Block::Paragraph(_)
            | Block::List(_)
            | Block::Lines(_)
            | Block::Tree { .. }
            | Block::Pairs(_)
            | Block::Table(_)
            | Block::Drawing(_)
            | Block::Notice { .. }
            | Block::Fitting { .. }
            | Block::Source { .. } => None,
        }
    }

    fn add_anchors(&self, anchors: &mut BTreeSet<Anchor>) {
        match self {
            Block::Heading(heading) => {
                anchors.insert(Arc::clone(&heading.anchor));
            }
            Block::Together(blocks) => blocks.iter().for_each(|block| block.add_anchors(anchors)),
            Block::Fitting { whole, brief } => {
                whole.iter().chain(brief).for_each(|block| block.add_anchors(anchors));
            }
            Block::Source { listing, .. } => {
                listing.lead.iter().for_each(|block| block.add_anchors(anchors));
            }
            Block::Table(table) => anchors.extend(table.row_anchors.values().cloned()),
            Block::Paragraph(_)
            | Block::List(_)
            | Block::Lines(_)
            | Block::Tree { .. }
            | Block::Pairs(_)
            | Block::Drawing(_)
            | Block::Notice { .. } => {}
        }
    }

    fn for_each_run(&mut self, change: &mut impl FnMut(&mut TextRun)) {
        match self {
            Block::Heading(heading) => heading.text.for_each_run(change),
            Block::Paragraph(text) => text.for_each_run(change),
            Block::List(texts) | Block::Lines(texts) => {
                texts.iter_mut().for_each(|text| text.for_each_run(change))
            }
            Block::Tree { trees, .. } => {
                trees.iter_mut().for_each(|node| node.for_each_run(change));
            }
            Block::Pairs(pairs) => {
                pairs.iter_mut().for_each(|(_, text)| text.for_each_run(change));
            }
            Block::Table(table) => table.for_each_run(change),
            Block::Drawing(drawing) => drawing.for_each_run(change),
            Block::Notice { title, lines, .. } => {
                std::iter::once(title).chain(lines).for_each(|text| text.for_each_run(change));
            }
            Block::Together(blocks) => {
                blocks.iter_mut().for_each(|block| block.for_each_run(change));
            }
            Block::Fitting { whole, brief } => {
                whole.iter_mut().chain(brief).for_each(|block| block.for_each_run(change));
            }
            Block::Source { listing, .. } => listing.for_each_run(change),
        }
    }
}

impl TreeNode {
    pub(crate) fn leaf(line: Text) -> Self {
        Self { line, below: Vec::new() }
    }

    fn for_each_run(&mut self, change: &mut impl FnMut(&mut TextRun)) {
        self.line.for_each_run(change);
        self.below.iter_mut().for_each(|node| node.for_each_run(change));
    }
}

impl Table {
    fn for_each_run(&mut self, change: &mut impl FnMut(&mut TextRun)) {
        let titles = self.columns.iter_mut().map(|column| &mut column.title);
        self.caption
            .iter_mut()
            .chain(titles)
            .chain(self.rows.iter_mut().flatten())
            .for_each(|text| text.for_each_run(change));
    }
}

impl SourceListing {
    fn for_each_run(&mut self, change: &mut impl FnMut(&mut TextRun)) {
        self.lead.iter_mut().for_each(|block| block.for_each_run(change));
        for line in self.files.iter_mut().flat_map(|file| &mut file.lines) {
            [&mut line.source, &mut line.obligations, &mut line.tests]
                .into_iter()
                .for_each(|text| text.for_each_run(change));
        }
    }
}

/// Collects the blocks of a document and numbers its headings.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub blocks: Vec<Block>,
    counters: [u32; 3],
}

impl Outline {
    /// A numbered heading; `depth` is 1 to 3.
    pub(crate) fn add_heading(
        &mut self,
        depth: u8,
        text: impl Into<Text>,
        anchor: impl Into<Anchor>,
    ) {
        let heading = self.numbered_heading(depth, text, anchor);
        self.blocks.push(heading);
    }

    /// The heading alone, numbered in order, for a block that the caller puts together.
    pub(crate) fn numbered_heading(
        &mut self,
        depth: u8,
        text: impl Into<Text>,
        anchor: impl Into<Anchor>,
    ) -> Block {
        let number = self.next_number(depth);
        Block::Heading(Heading { depth, number, text: text.into(), anchor: anchor.into() })
    }

    /// The number of the next heading of this depth.
    fn next_number(&mut self, depth: u8) -> String {
        let heading_level = usize::from(depth.clamp(1, 3));
        self.counters[heading_level - 1] += 1;
        self.counters[heading_level..].fill(0);
        self.counters[..heading_level].iter().map(u32::to_string).collect::<Vec<_>>().join(".")
    }

    /// Adds what `make` adds for each part, as if it were called for one after the other; it is called
    /// on all cores.
    pub(crate) fn add_parts<Part: Send>(
        &mut self,
        parts: impl IntoParallelIterator<Item = Part, Iter: IndexedParallelIterator>,
        make: impl Fn(Part, &mut Outline) + Sync,
    ) {
        let outline_of = |part| {
            let mut outline = Outline::default();
            make(part, &mut outline);
            outline
        };
        let outlines: Vec<Outline> = parts.into_par_iter().map(outline_of).collect();
        outlines.into_iter().for_each(|outline| self.append(outline));
    }

    /// Adds the blocks of another outline, whose headings get the numbers that follow here.
    fn append(&mut self, other: Outline) {
        let mut blocks = other.blocks;
        blocks.iter_mut().for_each(|block| self.number_headings(block));
        self.blocks.append(&mut blocks);
    }

    fn number_headings(&mut self, block: &mut Block) {
        match block {
            Block::Heading(heading) => heading.number = self.next_number(heading.depth),
            Block::Together(blocks) => {
                blocks.iter_mut().for_each(|block| self.number_headings(block));
            }
            Block::Fitting { whole, brief } => {
                whole.iter_mut().chain(brief).for_each(|block| self.number_headings(block));
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

    pub(crate) fn add_paragraph(&mut self, text: impl Into<Text>) {
        self.blocks.push(Block::Paragraph(text.into()));
    }

    pub(crate) fn add_table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    pub(crate) fn add_drawings(&mut self, drawings: impl IntoIterator<Item = Drawing>) {
        self.blocks.extend(drawings.into_iter().map(Block::Drawing));
    }

    pub(crate) fn add_block(&mut self, block: Block) {
        self.blocks.push(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbered_as_if_added_one_after_the_other() {
        let add_part = |number: usize, outline: &mut Outline| {
            outline.add_heading(2, format!("part {number}"), format!("part/{number}"));
            let deep = outline.numbered_heading(3, "deep", format!("deep/{number}"));
            outline.add_block(Block::Together(vec![deep]));
            outline.add_parts(0..number % 3, |inner, outline| {
                outline.add_heading(3, "inner", format!("inner/{number}/{inner}"));
            });
        };
        let outline_of = |add_all: &dyn Fn(&mut Outline)| {
            let mut outline = Outline::default();
            outline.add_heading(1, "before", "before");
            outline.add_heading(2, "own", "own");
            add_all(&mut outline);
            outline.add_heading(2, "behind", "behind");
            outline.blocks
        };
        let one_by_one = outline_of(&|outline| (0..20).for_each(|part| add_part(part, outline)));
        let all_at_once = outline_of(&|outline| outline.add_parts(0..20, add_part));
        assert_eq!(all_at_once, one_by_one);
        let Some(Block::Heading(last)) = all_at_once.last() else { panic!("a heading") };
        assert_eq!(last.number, "1.22");
    }

    #[test]
    fn what_stands_between_backticks_is_code() {
        let runs = |text: &str| {
            let runs = Text::sentence(text).0.into_iter();
            runs.map(|run| (run.text, run.style)).collect::<Vec<_>>()
        };
        let code = |text: &str| (text.to_owned(), Style::Code);
        let plain = |text: &str| (text.to_owned(), Style::Plain);
        assert_eq!(runs("`a` of `b c`."), [code("a"), plain(" of "), code("b c"), plain(".")]);
        assert_eq!(runs("don`t"), [plain("don`t")]);
        assert_eq!(runs("none"), [plain("none")]);
    }

    #[test]
    fn text_cannot_turn_what_stands_around_it() {
        let text = Text::plain("harm\u{202e}sselmrah\u{2066}\u{0}\u{1b}[2J\n");
        assert_eq!(text.0[0].text, "harm\u{fffd}sselmrah\u{fffd}\u{fffd}\u{fffd}[2J\n");
    }
}

//! Text broken into lines of a given width, with real widths of real fonts.
//!
//! Breaks at spaces; inside a word that is longer than a line behind `/`, `_`, `.` and the like;
//! between any two characters only in a hash and where nothing else is left. A character that no font shows is printed as its code point,
//! `<U+4E2D>`, never dropped.

use super::face::{FontFace, FontFaces};
use crate::document::{Anchor, Text, TextRun, Tone};
use std::sync::Arc;

/// Text of one face and tone on one line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextSpan {
    pub face: FontFace,
    pub tone: Tone,
    pub link: Option<Anchor>,
    pub text: String,
    /// Points.
    pub width: f32,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct TextLine {
    pub spans: Vec<TextSpan>,
    pub width: f32,
    /// A word ends with the line and another one follows on the next.
    pub ends_word: bool,
}

/// Starts a line with another word.
fn start_line(lines: &mut Vec<TextLine>) {
    lines.iter_mut().rev().take(1).for_each(|line| line.ends_word = true);
    lines.push(TextLine::default());
}

/// Characters without a space between them, as spans.
type Word = Vec<TextSpan>;

/// Widths of a text, in points.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct TextBounds {
    /// Of the widest word; of one that can be broken the widest part that reads badly when it is,
    /// up to three times the width from which on words are broken.
    pub least: f32,
    /// On one line.
    pub natural: f32,
}

impl TextBounds {
    /// Of several texts below each other.
    pub(super) fn of_both(self, other: Self) -> Self {
        Self { least: self.least.max(other.least), natural: self.natural.max(other.natural) }
    }
}

pub(super) struct LineBreaker<'a> {
    pub faces: &'a FontFaces,
    /// Points.
    pub size: f32,
}

impl LineBreaker<'_> {
    /// Width of the text on one line.
    pub(super) fn natural_width(&self, text: &Text) -> f32 {
        self.natural_width_of(&self.text_words(text))
    }

    fn natural_width_of(&self, words: &[Word]) -> f32 {
        let spaces = words.len().saturating_sub(1) as f32 * self.space_width();
        words.iter().map(|word| word_width(word)).sum::<f32>() + spaces
    }

    /// How narrow and how wide the text can sensibly be. A word wider than `cap` can be broken.
    pub(super) fn text_bounds(&self, text: &Text, word_cap: f32) -> TextBounds {
        let words = self.text_words(text);
        let least_width = |word: &Word| match word_width(word) {
            whole if whole <= word_cap => whole,
            _ => self.widest_part(word, word_cap).clamp(word_cap, 3.0 * word_cap),
        };
        TextBounds {
            least: words.iter().map(least_width).fold(0.0, f32::max),
            natural: self.natural_width_of(&words),
        }
    }

    /// Width of the widest part between places where a break reads well; of a hash, which may break
    /// anywhere, no more than `hash_width`.
    fn widest_part(&self, word: &Word, hash_width: f32) -> f32 {
        let characters = self.single_characters(word);
        let (mut widest_width, mut part_start) = (0.0_f32, 0);
        for end in 1..=characters.len() {
            if end < characters.len() && !break_reads_well(&characters, end) {
                continue;
            }
            let part = &characters[part_start..end];
            let part_width = word_width(part);
            let is_hash = part.len() >= HASH && part.iter().all(is_hash_digit);
            widest_width = widest_width.max(match is_hash {
                true => part_width.min(hash_width),
                false => part_width,
            });
            part_start = end;
        }
        widest_width
    }

    pub(super) fn space_width(&self) -> f32 {
        self.faces.character_width(FontFace::Text, ' ', self.size)
    }

    /// Breaks the text into lines no wider than `limit` (a single character may be wider).
    pub(super) fn text_lines(&self, text: &Text, line_limit: f32) -> Vec<TextLine> {
        let mut lines = vec![TextLine::default()];
        for word in self.text_words(text) {
            let line = lines.last().expect("there is always a line");
            let space_before = if line.spans.is_empty() { 0.0 } else { self.space_width() };
            let word_width = word_width(&word);
            if line.width + space_before + word_width <= line_limit + 0.01 {
                self.append_word(
                    lines.last_mut().expect("there is always a line"),
                    word,
                    space_before,
                );
            } else if word_width <= line_limit {
                start_line(&mut lines);
                self.append_word(lines.last_mut().expect("there is always a line"), word, 0.0);
            } else {
                self.append_broken(&mut lines, word, line_limit);
            }
        }
        lines
    }

    /// Breaks source text, whose white space counts, into lines no wider than `limit`, each with
    /// its indent; what goes on stands a little further in than the beginning.
    pub(super) fn source_lines(&self, text: &Text, line_limit: f32) -> Vec<(f32, TextLine)> {
        let spaceless = |character: char| !character.is_whitespace();
        let characters = self.source_characters(text);
        let is_blank = |span: &TextSpan| !span.text.contains(spaceless);
        let text_start = characters.iter().position(|span| !is_blank(span));
        let Some(text_start) = text_start else { return vec![(0.0, TextLine::default())] };
        let (indent_part, mut remaining) = characters.split_at(text_start);
        let natural_indent: f32 = indent_part.iter().map(|span| span.width).sum();
        // Text that stands too far in would have no room.
        let mut indent = natural_indent.min(line_limit / 2.0);
        let next_indent = indent + 2.0 * self.faces.character_width(FontFace::Code, ' ', self.size);
        let mut lines = Vec::new();
        while !remaining.is_empty() {
            let fitting_count = fitting_source(remaining, line_limit - indent);
            let (fitting_part, remaining_part) = remaining.split_at(fitting_count);
            remaining = remaining_part;
            let spans = join_characters(fitting_part);
            let width = word_width(&spans);
            lines.push((indent, TextLine { spans, width, ends_word: false }));
            indent = next_indent;
        }
        lines
    }

    /// One span per character, white space included; one that no font shows as its code point.
    fn source_characters(&self, text: &Text) -> Vec<TextSpan> {
        let mut word = Word::new();
        for run in &text.0 {
            let mut pen = RunPen::new(self, run);
            run.text.chars().for_each(|character| pen.push(&mut word, character));
        }
        self.single_characters(&word)
    }

    fn append_word(&self, line: &mut TextLine, word: Word, space_before: f32) {
        if space_before > 0.0 {
            let link = match (line.spans.last(), word.first()) {
                (Some(last), Some(first)) if last.link == first.link => shared(&first.link),
                _ => None,
            };
            line.spans.push(TextSpan {
                face: FontFace::Text,
                tone: Tone::Neutral,
                link,
                text: " ".into(),
                width: space_before,
            });
        }
        line.width += space_before + word_width(&word);
        line.spans.extend(word);
    }

    /// A word that is wider than a line: fills the current line where at least a third of it is
    /// free.
    fn append_broken(&self, lines: &mut Vec<TextLine>, word: Word, line_limit: f32) {
        let characters = self.single_characters(&word);
        let mut remaining = characters.as_slice();
        while !remaining.is_empty() {
            let line = lines.last().expect("there is always a line");
            let space_before = if line.spans.is_empty() { 0.0 } else { self.space_width() };
            let free_width = line_limit - line.width - space_before;
            if !line.spans.is_empty() && free_width < line_limit / 3.0 {
                start_line(lines);
                continue;
            }
            let place = break_place(remaining, free_width);
            if !place.reads_well && !line.spans.is_empty() {
                start_line(lines);
                continue;
            }
            let (fitting_part, remaining_part) = remaining.split_at(place.end);
            let part = join_characters(fitting_part);
            remaining = remaining_part;
            self.append_word(lines.last_mut().expect("there is always a line"), part, space_before);
            if !remaining.is_empty() {
                lines.push(TextLine::default());
            }
        }
    }

    /// One span per character.
    fn single_characters(&self, word: &Word) -> Vec<TextSpan> {
        word.iter().flat_map(|span| self.span_characters(span)).collect()
    }

    fn span_characters<'s>(&'s self, span: &'s TextSpan) -> impl Iterator<Item = TextSpan> + 's {
        span.text.chars().map(|character| TextSpan {
            face: span.face,
            tone: span.tone,
            link: shared(&span.link),
            text: character.to_string(),
            width: self.faces.character_width(span.face, character, self.size),
        })
    }

    fn text_words(&self, text: &Text) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        let mut is_open = false;
        for run in &text.0 {
            let mut pen = RunPen::new(self, run);
            for character in run.text.chars() {
                if character.is_whitespace() && character != '\u{a0}' {
                    is_open = false;
                    continue;
                }
                if !is_open {
                    words.push(Word::new());
                    pen.begin_word();
                    is_open = true;
                }
                pen.push(words.last_mut().expect("a word has just been opened"), character);
            }
        }
        words
    }
}

/// Puts the characters of a run behind each other. Spans of one word are compared once for a run and
/// a face, and not for each character.
struct RunPen<'r> {
    faces: &'r FontFaces,
    /// Points.
    size: f32,
    run: &'r TextRun,
    wanted_face: FontFace,
    /// That of the last span of the word, where it is one of this run's characters.
    span_face: Option<FontFace>,
}

impl<'r> RunPen<'r> {
    fn new(breaker: &LineBreaker<'r>, run: &'r TextRun) -> Self {
        let LineBreaker { faces, size } = *breaker;
        Self { faces, size, run, wanted_face: FontFace::from(run.style), span_face: None }
    }

    /// What is pushed next begins a word.
    fn begin_word(&mut self) {
        self.span_face = None;
    }

    /// The character in the face that shows it; one that no font shows as its code point.
    fn push(&mut self, word: &mut Word, character: char) {
        match self.faces.face_showing(self.wanted_face, character) {
            Some(face) => self.push_shown(word, face, character),
            None => format!("<U+{:04X}>", character as u32)
                .chars()
                .for_each(|digit| self.push_shown(word, FontFace::Code, digit)),
        }
    }

    fn push_shown(&mut self, word: &mut Word, face: FontFace, character: char) {
        let Self { faces, size, run, .. } = *self;
        let width = faces.character_width(face, character, size);
        let is_of_span =
            |span: &TextSpan| span.face == face && span.tone == run.tone && span.link == run.link;
        match word.last_mut() {
            Some(span) if self.span_face == Some(face) || is_of_span(span) => {
                span.text.push(character);
                span.width += width;
            }
            _ => word.push(TextSpan {
                face,
                tone: run.tone,
                link: shared(&run.link),
                text: character.to_string(),
                width,
            }),
        }
        self.span_face = Some(face);
    }
}

fn shared(link: &Option<Anchor>) -> Option<Anchor> {
    link.as_ref().map(Arc::clone)
}

fn word_width(word: &[TextSpan]) -> f32 {
    word.iter().map(|span| span.width).sum()
}

/// Hexadecimal digits from this many on are a hash.
const HASH: usize = 16;

fn is_hash_digit(span: &TextSpan) -> bool {
    span.text.chars().all(|character| matches!(character, '0'..='9' | 'a'..='f'))
}

/// Where a word is broken.
struct BreakPlace {
    /// Characters before it, at least one.
    end: usize,
    reads_well: bool,
}

/// The last place within `free_width` points where a break reads well, else the last one at all.
fn break_place(characters: &[TextSpan], free_width: f32) -> BreakPlace {
    let mut used_width = 0.0;
    let fits = |span: &&TextSpan| {
        used_width += span.width;
        used_width <= free_width
    };
    let fitting_count = characters.iter().take_while(fits).count();
    if fitting_count == characters.len() || stands_in_hash(characters, fitting_count) {
        return BreakPlace { end: fitting_count.max(1), reads_well: fitting_count > 0 };
    }
    let good_end = (1..=fitting_count).rev().find(|end| break_reads_well(characters, *end));
    BreakPlace { end: good_end.unwrap_or(fitting_count.max(1)), reads_well: good_end.is_some() }
}

fn stands_in_hash(characters: &[TextSpan], place: usize) -> bool {
    let before = characters[..place].iter().rev().take(HASH).take_while(|span| is_hash_digit(span));
    let behind = characters[place..].iter().take(HASH).take_while(|span| is_hash_digit(span));
    let (before, behind) = (before.count(), behind.count());
    before > 0 && behind > 0 && before + behind >= HASH
}

/// How many characters of source text fit, at least one, preferably up to behind a space.
fn fitting_source(characters: &[TextSpan], free_width: f32) -> usize {
    let mut used_width = 0.0;
    let fits = |span: &&TextSpan| {
        used_width += span.width;
        used_width <= free_width + 0.01
    };
    let fitting_count = characters.iter().take_while(fits).count().max(1);
    if fitting_count == characters.len() {
        return fitting_count;
    }
    let space_end = characters[..fitting_count].iter().rposition(|span| span.text == " ");
    space_end
        .map(|place| place + 1)
        .filter(|end| *end * 3 >= fitting_count * 2)
        .unwrap_or(fitting_count)
}

/// Whether a break before the character at `end` reads well.
fn break_reads_well(characters: &[TextSpan], end: usize) -> bool {
    let character_at = |index: usize| characters[index].text.chars().next().unwrap_or(' ');
    let (last_character, next_character) = (character_at(end - 1), character_at(end));
    "/_.-,:;=&|)]+".contains(last_character)
        || (last_character.is_lowercase() && next_character.is_uppercase())
}

fn join_characters(characters: &[TextSpan]) -> Word {
    let mut word: Word = Vec::new();
    for span in characters {
        match word.last_mut() {
            Some(last)
                if last.face == span.face && last.tone == span.tone && last.link == span.link =>
            {
                last.text.push_str(&span.text);
                last.width += span.width;
            }
            _ => word.push(span.clone()),
        }
    }
    word
}

//! Text broken into lines of a given width, with real widths of real fonts.
//!
//! Breaks at spaces; inside a word that is longer than a line behind `/`, `_`, `.` and the like,
//! else between any two characters. A character that no font shows is printed as its code point,
//! `<U+4E2D>`, never dropped.

use super::face::{Face, Faces};
use crate::document::{Text, Tone};

/// Text of one face and tone on one line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub face: Face,
    pub tone: Tone,
    pub link: Option<String>,
    pub text: String,
    /// Points.
    pub width: f32,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Line {
    pub spans: Vec<Span>,
    pub width: f32,
}

/// Characters without a space between them, as spans.
type Word = Vec<Span>;

/// Widths of a text, in points.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Bounds {
    /// Of the widest word; of one that can be broken the widest part that reads badly when it is,
    /// up to half as much again as the width from which on words are broken.
    pub least: f32,
    /// On one line.
    pub natural: f32,
}

impl Bounds {
    /// Of several texts below each other.
    pub(super) fn of_both(self, other: Self) -> Self {
        Self { least: self.least.max(other.least), natural: self.natural.max(other.natural) }
    }
}

pub(super) struct Breaker<'a> {
    pub faces: &'a Faces,
    /// Points.
    pub size: f32,
}

impl Breaker<'_> {
    /// Width of the text on one line.
    pub(super) fn natural(&self, text: &Text) -> f32 {
        self.natural_of(&self.words(text))
    }

    fn natural_of(&self, words: &[Word]) -> f32 {
        let spaces = words.len().saturating_sub(1) as f32 * self.space();
        words.iter().map(|word| width(word)).sum::<f32>() + spaces
    }

    /// How narrow and how wide the text can sensibly be. A word wider than `cap` can be broken.
    pub(super) fn bounds(&self, text: &Text, cap: f32) -> Bounds {
        let words = self.words(text);
        let of_word = |word: &Word| match width(word) {
            whole if whole <= cap => whole,
            _ => self.widest_part(word).clamp(cap, 1.5 * cap),
        };
        Bounds {
            least: words.iter().map(of_word).fold(0.0, f32::max),
            natural: self.natural_of(&words),
        }
    }

    /// Width of the widest part between places where a break reads well.
    fn widest_part(&self, word: &Word) -> f32 {
        let characters = self.characters(word);
        let (mut widest, mut part) = (0.0_f32, 0.0);
        for (index, span) in characters.iter().enumerate() {
            part += span.width;
            if index + 1 < characters.len() && reads_well(&characters, index + 1) {
                widest = widest.max(part);
                part = 0.0;
            }
        }
        widest.max(part)
    }

    pub(super) fn space(&self) -> f32 {
        self.faces.width(Face::Text, ' ', self.size)
    }

    /// Breaks the text into lines no wider than `limit` (a single character may be wider).
    pub(super) fn lines(&self, text: &Text, limit: f32) -> Vec<Line> {
        let mut lines = vec![Line::default()];
        for word in self.words(text) {
            let line = lines.last().expect("there is always a line");
            let before = if line.spans.is_empty() { 0.0 } else { self.space() };
            let whole = width(&word);
            if line.width + before + whole <= limit + 0.01 {
                self.append(lines.last_mut().expect("there is always a line"), word, before);
            } else if whole <= limit {
                let mut line = Line::default();
                self.append(&mut line, word, 0.0);
                lines.push(line);
            } else {
                self.append_broken(&mut lines, word, limit);
            }
        }
        lines
    }

    fn append(&self, line: &mut Line, word: Word, before: f32) {
        if before > 0.0 {
            let link = match (line.spans.last(), word.first()) {
                (Some(last), Some(first)) if last.link == first.link => first.link.clone(),
                _ => None,
            };
            line.spans.push(Span {
                face: Face::Text,
                tone: Tone::Neutral,
                link,
                text: " ".into(),
                width: before,
            });
        }
        line.width += before + width(&word);
        line.spans.extend(word);
    }

    /// A word that is wider than a line: fills the current line where at least a third of it is
    /// free.
    fn append_broken(&self, lines: &mut Vec<Line>, word: Word, limit: f32) {
        let characters = self.characters(&word);
        let mut rest = characters.as_slice();
        while !rest.is_empty() {
            let line = lines.last().expect("there is always a line");
            let before = if line.spans.is_empty() { 0.0 } else { self.space() };
            let free = limit - line.width - before;
            if !line.spans.is_empty() && free < limit / 3.0 {
                lines.push(Line::default());
                continue;
            }
            let (fits, behind) = rest.split_at(fitting(rest, free));
            let part = join(fits);
            rest = behind;
            self.append(lines.last_mut().expect("there is always a line"), part, before);
            if !rest.is_empty() {
                lines.push(Line::default());
            }
        }
    }

    /// One span per character.
    fn characters(&self, word: &Word) -> Vec<Span> {
        let each = |span: &Span| {
            let Span { face, tone, link, text, width: _ } = span.clone();
            let single = |character: char| Span {
                face,
                tone,
                link: link.clone(),
                text: character.to_string(),
                width: self.faces.width(face, character, self.size),
            };
            text.chars().map(single).collect::<Vec<_>>()
        };
        word.iter().flat_map(each).collect()
    }

    fn words(&self, text: &Text) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        let mut open = false;
        for run in &text.0 {
            for character in run.text.chars() {
                if character.is_whitespace() && character != '\u{a0}' {
                    open = false;
                    continue;
                }
                if !open {
                    words.push(Word::new());
                    open = true;
                }
                let word = words.last_mut().expect("a word has just been opened");
                let wanted = Face::from(run.style);
                match self.faces.showing(wanted, character) {
                    Some(face) => self.push(word, face, run, character),
                    None => {
                        let code = format!("<U+{:04X}>", character as u32);
                        code.chars().for_each(|c| self.push(word, Face::Code, run, c));
                    }
                }
            }
        }
        words
    }

    fn push(&self, word: &mut Word, face: Face, run: &crate::document::Run, character: char) {
        let width = self.faces.width(face, character, self.size);
        match word.last_mut() {
            Some(span) if span.face == face && span.tone == run.tone && span.link == run.link => {
                span.text.push(character);
                span.width += width;
            }
            _ => word.push(Span {
                face,
                tone: run.tone,
                link: run.link.clone(),
                text: character.to_string(),
                width,
            }),
        }
    }
}

fn width(word: &[Span]) -> f32 {
    word.iter().map(|span| span.width).sum()
}

/// How many characters fit into `free` points, at least one, preferably up to a place where a break
/// reads well.
fn fitting(characters: &[Span], free: f32) -> usize {
    let mut used = 0.0;
    let mut fit = 0;
    for span in characters {
        used += span.width;
        if used > free {
            break;
        }
        fit += 1;
    }
    if fit == characters.len() {
        return fit;
    }
    let good = (1..=fit).rev().find(|end| reads_well(characters, *end));
    // A break that leaves less than a third of the line filled reads worse than one inside a name.
    good.filter(|end| *end * 3 >= fit).unwrap_or(fit).max(1)
}

/// Whether a break before the character at `end` reads well.
fn reads_well(characters: &[Span], end: usize) -> bool {
    let at = |index: usize| characters[index].text.chars().next().unwrap_or(' ');
    let (last, next) = (at(end - 1), at(end));
    "/_.-,:;=&|)]+".contains(last) || (last.is_lowercase() && next.is_uppercase())
}

fn join(characters: &[Span]) -> Word {
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

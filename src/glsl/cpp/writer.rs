//! Text that is written piece by piece, with the position known at every moment.
//!
//! Promises: line and column are those of the finished text, so that what was written can be found
//! in what a tool says about it.

use super::LineExtent;

/// A growing program text.
#[derive(Debug)]
pub(super) struct ProgramWriter {
    text: String,
    line: u32,
    /// Byte offset of the current line.
    line_start: usize,
    depth: usize,
}

impl Default for ProgramWriter {
    fn default() -> Self {
        Self { text: String::new(), line: 1, line_start: 0, depth: 0 }
    }
}

impl ProgramWriter {
    /// A whole line at the current depth.
    pub(super) fn line(&mut self, text: &str) {
        self.start_line();
        self.write_piece(text);
        self.end_line();
    }

    /// A line behind which everything stands one level deeper.
    pub(super) fn open_block(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    /// A line one level higher than what stands before it.
    pub(super) fn close_block(&mut self, text: &str) {
        self.dedent();
        self.line(text);
    }

    pub(super) fn indent_more(&mut self) {
        self.depth += 1;
    }

    pub(super) fn dedent(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Begins a line that is written in pieces.
    pub(super) fn start_line(&mut self) {
        debug_assert_eq!(self.text.len(), self.line_start, "a line is begun at its beginning");
        self.text.extend(std::iter::repeat_n("    ", self.depth));
    }

    /// A piece of the current line; it holds no line end.
    pub(super) fn write_piece(&mut self, text: &str) {
        debug_assert!(!text.contains('\n'), "pieces of a line hold no line end");
        self.text.push_str(text);
    }

    /// Ends the current line.
    pub(super) fn end_line(&mut self) {
        let kept_length = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept_length.max(self.line_start));
        self.text.push('\n');
        self.line += 1;
        self.line_start = self.text.len();
    }

    /// Where the next piece will stand.
    pub(super) fn current_column(&self) -> u32 {
        (self.text.len() - self.line_start) as u32 + 1
    }

    /// From a place on the current line up to here.
    pub(super) fn extent_since(&self, start_column: u32) -> LineExtent {
        LineExtent { line: self.line, start: start_column, end: self.current_column() }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

//! The marked text: the preprocessed tokens with calls of the marker functions between them.
//!
//! Promises: without the markers the compiler reads the same tokens on the same lines of the same
//! files as in the production text; a marker never adds a line. The numbers in the calls are the
//! indexes of the returned role list.
//! Does not cover: where markers stand (`decisions`, `outline`) and whether the text compiles
//! (`isolate`).

use super::preprocessor::TranslationUnit;
use super::syntax::TokenIndex;
use super::token::Token;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use vkcert_model::id::DecisionId;
use vkcert_model::place::FileIndex;
use vkcert_model::structure::{MARKER_PAGE, MarkIndex, MarkerRole};

/// Most blank lines written instead of a `#line` directive.
const BLANK_LINES: u32 = 8;

/// The instruction set of the markers in compiled text, before `marker_calls` makes calls of them.
pub(crate) const MARKER_SET: &str = "vkcert.markers";
pub(crate) const VALUE_INSTRUCTION: u32 = 1;
pub(crate) const MARK_INSTRUCTION: u32 = 2;
/// Lets text declare markers as instructions.
const MARKER_EXTENSION: &str = "#extension GL_EXT_spirv_intrinsics : enable";

/// What a placement marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlacementRole {
    /// Around a condition.
    Condition { decision: DecisionId, condition: u32 },
    /// Around a decision with several conditions.
    Decision { decision: DecisionId },
    /// Around the only condition of a decision.
    Single { decision: DecisionId },
    /// Behind a function's `{`.
    Entry { mark: MarkIndex },
    /// Behind a label's colon.
    Label { mark: MarkIndex },
    /// Behind a switch's `{`: a `default` of our own. It stands first and leaves at once, so that
    /// no case falls into it.
    ImplicitDefault { mark: MarkIndex },
}

/// Tokens `first..=last` with what is to be recorded of them. Outer placements stand before inner
/// ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    pub first: TokenIndex,
    pub last: TokenIndex,
    pub role: PlacementRole,
}

/// A thing that is marked or left out as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MarkedItem {
    Decision(DecisionId),
    Mark(MarkIndex),
}

impl PlacementRole {
    pub(crate) fn marked_item(self) -> MarkedItem {
        match self {
            PlacementRole::Condition { decision, .. }
            | PlacementRole::Decision { decision }
            | PlacementRole::Single { decision } => MarkedItem::Decision(decision),
            PlacementRole::Entry { mark }
            | PlacementRole::Label { mark }
            | PlacementRole::ImplicitDefault { mark } => MarkedItem::Mark(mark),
        }
    }

    fn marker_role(self) -> MarkerRole {
        match self {
            PlacementRole::Condition { decision, condition } => {
                MarkerRole::Condition { decision, condition }
            }
            PlacementRole::Decision { decision } => MarkerRole::Decision { decision },
            PlacementRole::Single { decision } => MarkerRole::Single { decision },
            PlacementRole::Entry { mark }
            | PlacementRole::Label { mark }
            | PlacementRole::ImplicitDefault { mark } => MarkerRole::Mark { mark },
        }
    }
}

/// Names of the two marker functions.
#[derive(Debug, Clone)]
pub(crate) struct MarkerNames {
    pub value: String,
    pub mark: String,
}

/// The name, with as many `x` behind it as make it a word that the text does not use.
fn unused_name(name: &str, used_words: &BTreeSet<&str>) -> String {
    let mut unused_name = name.to_owned();
    while used_words.contains(unused_name.as_str()) {
        unused_name.push('x');
    }
    unused_name
}

impl MarkerNames {
    /// `vkcert_value` and `vkcert_mark`, or longer names where the text has these.
    pub(crate) fn unused_in(tokens: &[Token]) -> Self {
        let used_words: BTreeSet<&str> = tokens.iter().map(|token| &*token.text).collect();
        Self {
            value: unused_name("vkcert_value", &used_words),
            mark: unused_name("vkcert_mark", &used_words),
        }
    }

    fn marker_definitions(&self, marker_form: MarkerForm) -> String {
        let Self { value, mark } = self;
        let id_parameters = "const uint page, const uint id";
        match marker_form {
            MarkerForm::Functions => {
                format!(
                    "bool {value}({id_parameters}, const bool v) {{ return v; }} void {mark}({id_parameters}) {{ }}"
                )
            }
            MarkerForm::Instructions => {
                let (value_qualifier, mark_qualifier) = (
                    instruction_qualifier(VALUE_INSTRUCTION),
                    instruction_qualifier(MARK_INSTRUCTION),
                );
                format!(
                    "{value_qualifier} bool {value}({id_parameters}, const bool v); {mark_qualifier} void {mark}({id_parameters});"
                )
            }
        }
    }
}

fn instruction_qualifier(id: u32) -> String {
    format!("spirv_instruction(set = \"{MARKER_SET}\", id = {id})")
}

/// The form in which markers are given to the compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkerForm {
    /// Costs nothing in a large kernel; [`super::marker_calls`] makes calls of them.
    Instructions,
    /// Operands keep lines of their own: those of an instruction get the line of its end.
    Functions,
}

/// Marked text with what its marker numbers mean.
#[derive(Debug, Clone)]
pub(crate) struct MarkedText {
    pub text: String,
    pub roles: Vec<MarkerRole>,
}

/// Text that is inserted around the tokens.
#[derive(Debug, Clone, Default)]
pub(crate) struct MarkerInsertions {
    /// A line behind `#version`.
    pub directive: &'static str,
    pub before: BTreeMap<TokenIndex, String>,
    pub behind: BTreeMap<TokenIndex, String>,
    pub roles: Vec<MarkerRole>,
}

/// All placements but those of `excluded`, as text; the markers are declared before the first
/// token.
pub(crate) fn marker_insertions(
    placements: &[Placement],
    excluded: &BTreeSet<MarkedItem>,
    marker_names: &MarkerNames,
    marker_form: MarkerForm,
) -> MarkerInsertions {
    let mut before_tokens: BTreeMap<TokenIndex, String> =
        BTreeMap::from([(0, marker_names.marker_definitions(marker_form))]);
    let mut behind_tokens: BTreeMap<TokenIndex, String> = BTreeMap::new();
    let mut marker_roles = Vec::new();
    for placement in
        placements.iter().filter(|placement| !excluded.contains(&placement.role.marked_item()))
    {
        let (page_number, id) =
            (marker_roles.len() / MARKER_PAGE as usize, marker_roles.len() % MARKER_PAGE as usize);
        marker_roles.push(placement.role.marker_role());
        let text_behind = behind_tokens.entry(placement.last).or_default();
        match placement.role {
            PlacementRole::Condition { .. }
            | PlacementRole::Decision { .. }
            | PlacementRole::Single { .. } => {
                text_behind.push_str(" )");
                let text_before = before_tokens.entry(placement.first).or_default();
                let _ = write!(text_before, " {}({page_number}u,{id}u,", marker_names.value);
            }
            PlacementRole::Entry { .. } | PlacementRole::Label { .. } => {
                let _ = write!(text_behind, " {}({page_number}u,{id}u);", marker_names.mark);
            }
            PlacementRole::ImplicitDefault { .. } => {
                let _ = write!(
                    text_behind,
                    " default: {}({page_number}u,{id}u); break;",
                    marker_names.mark
                );
            }
        }
    }
    let directive = match marker_form {
        MarkerForm::Instructions => MARKER_EXTENSION,
        MarkerForm::Functions => "",
    };
    MarkerInsertions {
        directive,
        before: before_tokens,
        behind: behind_tokens,
        roles: marker_roles,
    }
}

/// Writes the text with all placements but those of `excluded`.
pub(crate) fn render_marked(
    unit: &TranslationUnit,
    placements: &[Placement],
    excluded: &BTreeSet<MarkedItem>,
    marker_names: &MarkerNames,
) -> MarkedText {
    let marker_insertions =
        marker_insertions(placements, excluded, marker_names, MarkerForm::Instructions);
    let mut text_writer =
        MarkedTextWriter { unit, text: String::new(), file: FileIndex(0), line: 1 };
    text_writer.write_tokens(&marker_insertions);
    MarkedText { text: text_writer.text, roles: marker_insertions.roles }
}

struct MarkedTextWriter<'a> {
    unit: &'a TranslationUnit,
    text: String,
    file: FileIndex,
    /// Line that the compiler counts at the end of `text`.
    line: u32,
}

impl MarkedTextWriter<'_> {
    fn write_tokens(&mut self, marker_insertions: &MarkerInsertions) {
        let mut directives = self.unit.directives.iter().peekable();
        for (index, token) in self.unit.tokens.iter().enumerate() {
            while let Some(directive) = directives.next_if(|directive| directive.before <= index) {
                self.write_directive(directive, marker_insertions);
            }
            self.move_to(token.line_file, token.line);
            self.text.push_str(marker_insertions.before.get(&index).map_or("", String::as_str));
            self.text.push(' ');
            self.text.push_str(&token.text);
            self.text.push_str(marker_insertions.behind.get(&index).map_or("", String::as_str));
        }
        for directive in directives {
            self.write_directive(directive, marker_insertions);
        }
        self.text.push('\n');
    }

    fn write_directive(
        &mut self,
        directive: &super::preprocessor::KeptDirective,
        marker_insertions: &MarkerInsertions,
    ) {
        // `#version` must be the first thing of all (GLSL 4.60, 3.3).
        if directive.text.starts_with("#version") {
            self.text
                .insert_str(0, &format!("{}\n{}\n", directive.text, marker_insertions.directive));
            self.line += 2;
            return;
        }
        self.move_to(directive.line_file, directive.line);
        self.fresh_line();
        self.text.push_str(&directive.text);
        self.text.push('\n');
        self.line += 1;
    }

    fn fresh_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
            self.line += 1;
        }
    }

    fn move_to(&mut self, file: FileIndex, line: u32) {
        if file == self.file && line == self.line {
            return;
        }
        if file == self.file && line > self.line && line - self.line <= BLANK_LINES {
            for _ in self.line..line {
                self.text.push('\n');
            }
        } else {
            self.fresh_line();
            let _ = if file == self.file {
                writeln!(self.text, "#line {line}")
            } else {
                writeln!(self.text, "#line {line} \"{}\"", self.unit.files[file.0 as usize].path)
            };
        }
        (self.file, self.line) = (file, line);
    }
}

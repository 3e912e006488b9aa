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
use vkcert_model::id::{DecisionId, LoopId};
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
    /// Around a call: the mark is passed before the arguments are evaluated.
    Call { mark: MarkIndex },
    /// Before a loop: opens a block with the counter of its iterations.
    LoopOpen { counted: LoopId },
    /// Before a loop's body: opens a block that counts the iteration. The mark is set from the
    /// second one on.
    LoopIteration { counted: LoopId, mark: MarkIndex },
    /// Before a `break` of a loop: opens a block that says that its condition did not end it.
    LoopBreak { counted: LoopId },
    /// Before a `return` in a loop: opens a block; the mark is set in the first iteration.
    LoopReturn { counted: LoopId, mark: MarkIndex },
    /// Behind a loop: the mark is set where the loop was left in this case.
    LoopLeft { counted: LoopId, case: LeftCase, mark: MarkIndex },
    /// Behind what a block of a loop was opened for.
    LoopClose { counted: LoopId },
}

/// The cases of a loop that are known when it has been left by its condition or a `break`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftCase {
    Zero,
    Once,
    Boundary,
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
    Loop(LoopId),
}

impl PlacementRole {
    pub(crate) fn marked_item(self) -> MarkedItem {
        match self {
            PlacementRole::Condition { decision, .. }
            | PlacementRole::Decision { decision }
            | PlacementRole::Single { decision } => MarkedItem::Decision(decision),
            PlacementRole::Entry { mark }
            | PlacementRole::Label { mark }
            | PlacementRole::ImplicitDefault { mark }
            | PlacementRole::Call { mark } => MarkedItem::Mark(mark),
            PlacementRole::LoopOpen { counted }
            | PlacementRole::LoopIteration { counted, .. }
            | PlacementRole::LoopBreak { counted }
            | PlacementRole::LoopReturn { counted, .. }
            | PlacementRole::LoopLeft { counted, .. }
            | PlacementRole::LoopClose { counted } => MarkedItem::Loop(counted),
        }
    }

    /// What its marker stands for; none where it has no marker.
    fn marker_role(self) -> Option<MarkerRole> {
        match self {
            PlacementRole::Condition { decision, condition } => {
                Some(MarkerRole::Condition { decision, condition })
            }
            PlacementRole::Decision { decision } => Some(MarkerRole::Decision { decision }),
            PlacementRole::Single { decision } => Some(MarkerRole::Single { decision }),
            PlacementRole::Entry { mark }
            | PlacementRole::Label { mark }
            | PlacementRole::ImplicitDefault { mark }
            | PlacementRole::Call { mark } => Some(MarkerRole::Mark { mark }),
            PlacementRole::LoopIteration { mark, .. }
            | PlacementRole::LoopReturn { mark, .. }
            | PlacementRole::LoopLeft { mark, .. } => Some(MarkerRole::MarkWhere { mark }),
            PlacementRole::LoopOpen { .. }
            | PlacementRole::LoopBreak { .. }
            | PlacementRole::LoopClose { .. } => None,
        }
    }
}

/// Text before the first and behind the last token of a placement.
struct TextAround {
    before: String,
    behind: String,
}

impl PlacementRole {
    fn text_around(self, number: &str, names: &MarkerNames) -> TextAround {
        let before = |before: String| TextAround { before, behind: String::new() };
        let behind = |behind: String| TextAround { before: String::new(), behind };
        let MarkerNames { value, mark, .. } = names;
        match self {
            PlacementRole::Condition { .. }
            | PlacementRole::Decision { .. }
            | PlacementRole::Single { .. } => {
                TextAround { before: format!(" {value}({number},"), behind: " )".to_owned() }
            }
            PlacementRole::Entry { .. } | PlacementRole::Label { .. } => {
                behind(format!(" {mark}({number});"))
            }
            PlacementRole::ImplicitDefault { .. } => {
                behind(format!(" default: {mark}({number}); break;"))
            }
            PlacementRole::Call { .. } => {
                TextAround { before: format!(" ({mark}({number}),"), behind: " )".to_owned() }
            }
            PlacementRole::LoopOpen { counted } => {
                before(format!(" {{ uint {} = 0u;", names.counter_of(counted)))
            }
            PlacementRole::LoopIteration { counted, .. } => {
                let count = names.counter_of(counted);
                // 0, 1, 2, 2 ... without a branch or select, which would have no decision.
                before(format!(
                    " {{ {count} = {count} + 1u - ({count} >> 1u); {value}({number}, {count} == 2u);"
                ))
            }
            PlacementRole::LoopBreak { counted } => {
                let count = names.counter_of(counted);
                before(format!(" {{ {count} = {count} | 4u;"))
            }
            PlacementRole::LoopReturn { counted, .. } => {
                before(format!(" {{ {value}({number}, {} == 1u);", names.counter_of(counted)))
            }
            PlacementRole::LoopLeft { counted, case, .. } => {
                let count = names.counter_of(counted);
                let is_case = match case {
                    LeftCase::Zero => format!("{count} == 0u"),
                    LeftCase::Once => format!("({count} & 3u) == 1u"),
                    // 1 or 2; 0 wraps round, and a `break` has added 4.
                    LeftCase::Boundary => format!("{count} - 1u < 2u"),
                };
                behind(format!(" {value}({number}, {is_case});"))
            }
            PlacementRole::LoopClose { .. } => behind(" }".to_owned()),
        }
    }
}

/// Names of the two marker functions, and how those of the counters of loops begin.
#[derive(Debug, Clone)]
pub(crate) struct MarkerNames {
    pub value: String,
    pub mark: String,
    pub counter: String,
}

/// The name, with as many `x` behind it as make it a word that the text does not use.
pub(crate) fn unused_name(name: &str, used_words: &BTreeSet<&str>) -> String {
    let mut unused_name = name.to_owned();
    while used_words.contains(unused_name.as_str()) {
        unused_name.push('x');
    }
    unused_name
}

/// The name, with as many `x` behind it as make it one that no word of the text begins with.
pub(crate) fn unused_beginning(name: &str, used_words: &BTreeSet<&str>) -> String {
    let mut unused_beginning = name.to_owned();
    while used_words.iter().any(|word| word.starts_with(&unused_beginning)) {
        unused_beginning.push('x');
    }
    unused_beginning
}

impl MarkerNames {
    /// `vkcert_value` and `vkcert_mark`, or longer names where the text has these.
    pub(crate) fn unused_in(tokens: &[Token]) -> Self {
        let used_words: BTreeSet<&str> = tokens.iter().map(|token| &*token.text).collect();
        Self {
            value: unused_name("vkcert_value", &used_words),
            mark: unused_name("vkcert_mark", &used_words),
            counter: unused_beginning("vkcert_iterations", &used_words),
        }
    }

    /// The variable that counts the iterations of a loop in its two lowest bits, up to two; the
    /// third says that a `break` ended it.
    fn counter_of(&self, counted: LoopId) -> String {
        format!("{}{}", self.counter, counted.0)
    }

    fn marker_definitions(&self, marker_form: MarkerForm) -> String {
        let Self { value, mark, counter: _ } = self;
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
        let number = marker_roles.len();
        let (page_number, id) = (number / MARKER_PAGE as usize, number % MARKER_PAGE as usize);
        marker_roles.extend(placement.role.marker_role());
        let number_arguments = format!("{page_number}u,{id}u");
        let text_around = placement.role.text_around(&number_arguments, marker_names);
        before_tokens.entry(placement.first).or_default().push_str(&text_around.before);
        behind_tokens.entry(placement.last).or_default().push_str(&text_around.behind);
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
    let text = render_inserted(unit, &marker_insertions);
    MarkedText { text, roles: marker_insertions.roles }
}

/// Writes the text with insertions.
pub(crate) fn render_inserted(unit: &TranslationUnit, insertions: &MarkerInsertions) -> String {
    let mut text_writer =
        MarkedTextWriter { unit, text: String::new(), file: FileIndex(0), line: Some(1) };
    text_writer.write_tokens(insertions);
    text_writer.text
}

struct MarkedTextWriter<'a> {
    unit: &'a TranslationUnit,
    text: String,
    file: FileIndex,
    /// Line that the compiler counts at the end of `text`; none behind inserted text with lines of its
    /// own.
    line: Option<u32>,
}

impl MarkedTextWriter<'_> {
    fn write_tokens(&mut self, marker_insertions: &MarkerInsertions) {
        let mut directives = self.unit.directives.iter().peekable();
        for (index, token) in self.unit.tokens.iter().enumerate() {
            while let Some(directive) = directives.next_if(|directive| directive.before <= index) {
                self.write_directive(directive, marker_insertions);
            }
            self.move_to(token.line_file, token.line);
            if let Some(inserted) = marker_insertions.before.get(&index) {
                self.text.push_str(inserted);
                if inserted.contains('\n') {
                    self.line = None;
                    self.move_to(token.line_file, token.line);
                }
            }
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
            self.line = self.line.map(|line| line + 2);
            return;
        }
        self.move_to(directive.line_file, directive.line);
        self.fresh_line();
        self.text.push_str(&directive.text);
        self.text.push('\n');
        self.line = self.line.map(|line| line + 1);
    }

    fn fresh_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
            self.line = self.line.map(|line| line + 1);
        }
    }

    fn move_to(&mut self, file: FileIndex, line: u32) {
        let lines_behind = match self.line {
            Some(own_line) if file == self.file => line.checked_sub(own_line),
            Some(_) | None => None,
        };
        match lines_behind {
            Some(0) => return,
            Some(blank_lines) if blank_lines <= BLANK_LINES => {
                (0..blank_lines).for_each(|_| self.text.push('\n'));
            }
            Some(_) | None => {
                self.fresh_line();
                let is_same_file = file == self.file && self.line.is_some();
                let _ = match is_same_file {
                    true => writeln!(self.text, "#line {line}"),
                    false => {
                        let path = &self.unit.files[file.0 as usize].path;
                        writeln!(self.text, "#line {line} \"{path}\"")
                    }
                };
            }
        }
        (self.file, self.line) = (file, Some(line));
    }
}

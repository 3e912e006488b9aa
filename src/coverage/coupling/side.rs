//! Which statement a side of a pair stands in, and what tells it from other sides.
//!
//! Knows: the structures of the kernel that reads and of those that ran before it.
//! Promises: sides with equal keys are in one statement, and in one part of the header of a `for`.
//! Where a place fits several statements (those of one use of a macro, or of one line where the
//! column is not known) the instruction is the key, and the place says so.
//! Does not cover: where instructions stand (`spirv`, `campaign::access_pairs`).

use super::super::acceptance::place_in_source;
use super::super::statement::visit_block;
use std::collections::{BTreeMap, HashMap};
use vkcert_model::finding_subject::SubjectPlace;
use vkcert_model::id::{KernelName, StatementId};
use vkcert_model::pair_obligation::{NamedBy, PairPlace};
use vkcert_model::place::{LineStarts, Place, Span};
use vkcert_model::structure::{KernelStructure, StatementKind};

/// The structures of the sources that sides of pairs stand in.
#[derive(Debug, Clone, Default)]
pub struct SideStructures<'a> {
    /// Of the kernel that reads; none of a module without source.
    pub own: Option<&'a KernelStructure>,
    /// Of the kernels of earlier dispatches that have a source.
    pub earlier: BTreeMap<KernelName, &'a KernelStructure>,
}

/// What tells a side of an obligation from others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SideKey {
    Statement(Option<KernelName>, StatementId),
    /// Between statements, and in the header of a `for`, whose parts are executed by themselves.
    Column(Option<KernelName>, String, u32, u32),
    /// Of a module without source.
    Line(Option<KernelName>, String, u32),
    Word(Option<KernelName>, u32),
}

/// File, line and column, as far as they are known.
type LinePlace = (Option<String>, Option<u32>, Option<u32>);

/// Finds the statements of sides, and remembers them by place.
pub(super) struct SideFinder<'a> {
    sources: BTreeMap<Option<KernelName>, SourceStatements<'a>>,
}

impl<'a> SideFinder<'a> {
    pub(super) fn of_structures(structures: &SideStructures<'a>) -> Self {
        let own = structures.own.map(|structure| (None, structure));
        let earlier = structures.earlier.iter();
        let all =
            own.into_iter().chain(earlier.map(|(kernel, structure)| (Some(*kernel), *structure)));
        Self {
            sources: all
                .map(|(kernel, structure)| (kernel, SourceStatements::of_structure(structure)))
                .collect(),
        }
    }

    /// A side as it is stored, with its key; `kernel` is that of an earlier dispatch.
    pub(super) fn side(
        &mut self,
        place: &Place,
        kernel: Option<KernelName>,
    ) -> (PairPlace, SideKey) {
        let known = self.sources.get_mut(&kernel).map(|source| source.at(place));
        let has_source = known.is_some();
        let (subject, fit) = known.flatten().unwrap_or((None, StatementFit::Between));
        let (statement, text) =
            subject.map_or((None, String::new()), |subject| (subject.statement, subject.text));
        let named_by = match fit {
            StatementFit::Several => NamedBy::Instruction,
            StatementFit::Sole | StatementFit::LoopHeader | StatementFit::Between => NamedBy::Place,
        };
        let side = PairPlace {
            kernel,
            file: place.file.clone().unwrap_or_default(),
            line: place.line.unwrap_or(0),
            column: place.column.unwrap_or(0),
            function: place.function.clone().unwrap_or_default(),
            instruction: place.instruction.unwrap_or(0),
            statement: statement.filter(|_| named_by == NamedBy::Place),
            text,
            named_by,
        };
        let column_key = SideKey::Column(kernel, side.file.clone(), side.line, side.column);
        let key = match (fit, side.statement) {
            (StatementFit::Sole, Some(statement)) => SideKey::Statement(kernel, statement),
            (StatementFit::LoopHeader | StatementFit::Sole | StatementFit::Between, _)
                if side.line > 0 && side.column > 0 =>
            {
                column_key
            }
            (StatementFit::Between, None) if !has_source && kernel.is_none() && side.line > 0 => {
                SideKey::Line(kernel, side.file.clone(), side.line)
            }
            (
                StatementFit::Sole
                | StatementFit::LoopHeader
                | StatementFit::Between
                | StatementFit::Several,
                _,
            ) => SideKey::Word(kernel, side.instruction),
        };
        (side, key)
    }
}

/// How a place fits the statements of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatementFit {
    /// It is in one statement.
    Sole,
    /// It is in the header of a `for`: its parts are executed by themselves.
    LoopHeader,
    /// It may be in several statements.
    Several,
    /// It is in none.
    Between,
}

/// A statement as places see it.
struct SeenStatement {
    id: StatementId,
    /// By file: where it stands, or the outermost macro use there that it comes out of.
    sites: Vec<Span>,
    is_for: bool,
}

impl SeenStatement {
    /// What comes out of a macro is where the macro is used.
    fn site_in(&self, file: usize) -> Option<Span> {
        self.sites.iter().copied().find(|site| site.file.0 as usize == file)
    }
}

type FoundStatement = (Option<SubjectPlace>, StatementFit);

/// The statements of a kernel's source, by the places that were asked for.
struct SourceStatements<'a> {
    structure: &'a KernelStructure,
    statements: Vec<SeenStatement>,
    known: HashMap<LinePlace, Option<FoundStatement>>,
}

impl<'a> SourceStatements<'a> {
    fn of_structure(structure: &'a KernelStructure) -> Self {
        let mut statements = Vec::new();
        for function in &structure.functions {
            visit_block(&function.body, &mut |statement| {
                let Some(id) = statement.id else { return };
                let expansions = statement.expansion.iter().map(|expansion| expansion.site);
                statements.push(SeenStatement {
                    id,
                    sites: expansions.chain([statement.span]).collect(),
                    is_for: matches!(statement.kind, StatementKind::For { .. }),
                });
            });
        }
        Self { structure, statements, known: HashMap::new() }
    }

    fn at(&mut self, place: &Place) -> Option<FoundStatement> {
        let key = (place.file.clone(), place.line, place.column);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = place_in_source(self.structure, place).map(|subject| {
            let fit = self.fit_of(place, subject.statement);
            (Some(subject), fit)
        });
        self.known.insert(key, found.clone());
        found
    }

    fn fit_of(&self, place: &Place, chosen: Option<StatementId>) -> StatementFit {
        let files = &self.structure.files;
        let file = files.iter().position(|file| Some(&file.path) == place.file.as_ref());
        let (Some(file), Some(chosen)) = (file, chosen) else { return StatementFit::Between };
        let line = place.line.and_then(|line| {
            let text = &files[file].text;
            LineStarts::of(text).range(text, line)
        });
        let chosen_statement = self.statements.iter().find(|statement| statement.id == chosen);
        let (Some(chosen), Some((start, end))) = (chosen_statement, line) else {
            return StatementFit::Between;
        };
        let chosen_site = chosen.site_in(file);
        let fits = |statement: &&SeenStatement| match (place.column, statement.site_in(file)) {
            (_, None) => false,
            (Some(_), site) => site == chosen_site,
            (None, Some(site)) => (site.start as usize) < end && start < site.end as usize,
        };
        match self.statements.iter().filter(fits).nth(1) {
            Some(_) => StatementFit::Several,
            None if chosen.is_for => StatementFit::LoopHeader,
            None => StatementFit::Sole,
        }
    }
}

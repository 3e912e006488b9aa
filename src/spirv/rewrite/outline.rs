//! Large functions cut into small ones, for the validator alone.
//!
//! Knows: the validator walks the chain of dominators for every use of an id and for every
//! construct, so that it takes time quadratic in the blocks of *one* function. Here a stretch of a
//! function that begins and ends inside of blocks becomes a function of its own, called in its
//! place.
//! Promises: if the module that [`outline_functions`] returns is valid, so is the module that it
//! was given. Every instruction stays, with its types and in its order, but for the ids of the
//! function's variables and parameters, of which each piece has its own, and of the block that a
//! cut lies in. A stretch is taken only if every pair of a definition and a use (of values and of
//! labels, so of every branch, merge and continue target) lies inside of it or outside of it,
//! variables and parameters apart. So nothing enters or leaves it but at its ends: what dominates
//! what is the same in both modules, and no construct is cut through. What the validator asks of
//! single instructions, types, decorations, entry points and the functions that these reach, it
//! asks of the pieces. What only the whole shows is checked here: nesting of constructs.
//! Does not cover: functions without such stretches, as optimised ones with values that live
//! throughout.

use super::super::module::{disguise_constant_operations, whole_instructions};
use rspirv::binary::{Consumer, ParseAction};
use rspirv::dr::{self, Operand};
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use std::ops::Range;

type Id = u32;

/// How large things are, in blocks.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Functions of at most so many blocks stay whole.
    pub function: usize,
    /// A piece has at least so many, pieces of its own not counted.
    pub piece: usize,
}

/// What costs the validator least.
pub const SIZES: Sizes = Sizes { function: 256, piece: 48 };

/// Most constructs within each other (SPIR-V specification, section 2.17).
const NESTING: i64 = 1023;

/// The module with its large functions cut; none where no function is large or none can be cut.
pub fn outline_functions(words: &[u32], sizes: Sizes) -> Option<Vec<u32>> {
    if !has_large_function(words, sizes) || whole_instructions(words).is_err() {
        return None;
    }
    let readable = disguise_constant_operations(words);
    let mut rows = Rows::new(words);
    rspirv::binary::parse_words(readable.as_deref().unwrap_or(words), &mut rows).ok()?;
    if rows.state == Readable::No {
        return None;
    }
    let mut cutter =
        Cutter { rows: &rows, next: *words.get(3)?, copies: BTreeMap::new(), out: Vec::new() };
    let mut pieces = 0;
    let mut done = rows.functions().first()?.start;
    for function in rows.functions() {
        // Debug lines stand between functions.
        cutter.between(done..function.start);
        done = function.end;
        let regions = match rows.blocks(&function) > sizes.function {
            true => regions(&rows, &function, sizes)?,
            false => Vec::new(),
        };
        pieces += regions.len();
        cutter.function(function, regions)?;
    }
    cutter.between(done..rows.rows.len());
    (pieces > 0).then(|| cutter.module()).flatten()
}

fn has_large_function(words: &[u32], sizes: Sizes) -> bool {
    let (mut offset, mut blocks) = (5, 0);
    while let Some(word) = words.get(offset) {
        match Op::from_u32(word & 0xFFFF) {
            Some(Op::Function) => blocks = 0,
            Some(Op::Label) => blocks += 1,
            _ => {}
        }
        if blocks > sizes.function {
            return true;
        }
        offset += (word >> 16).max(1) as usize;
    }
    false
}

/// An instruction: where its words stand, and which of them are ids.
struct Row {
    op: Op,
    result: Option<Id>,
    offset: usize,
    length: usize,
    /// In [`Rows::uses`].
    uses: Range<usize>,
}

#[derive(PartialEq, Eq)]
enum Readable {
    Yes,
    No,
}

/// A module as instructions whose ids can be replaced word by word.
struct Rows<'a> {
    words: &'a [u32],
    rows: Vec<Row>,
    /// Word offset and id of every operand that is one; the result type is none of them.
    uses: Vec<(usize, Id)>,
    state: Readable,
}

impl<'a> Rows<'a> {
    fn new(words: &'a [u32]) -> Self {
        Self { words, rows: Vec::new(), uses: Vec::new(), state: Readable::Yes }
    }

    fn uses(&self, row: usize) -> &[(usize, Id)] {
        &self.uses[self.rows[row].uses.clone()]
    }

    /// From OpFunction up to and including OpFunctionEnd.
    fn functions(&self) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut start = None;
        for (index, row) in self.rows.iter().enumerate() {
            match (row.op, start) {
                (Op::Function, None) => start = Some(index),
                (Op::FunctionEnd, Some(first)) => {
                    found.push(first..index + 1);
                    start = None;
                }
                _ => {}
            }
        }
        found
    }

    fn blocks(&self, function: &Range<usize>) -> usize {
        self.rows[function.clone()].iter().filter(|row| row.op == Op::Label).count()
    }
}

impl Consumer for Rows<'_> {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_header(&mut self, _header: dr::ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_instruction(&mut self, read: dr::Instruction) -> ParseAction {
        let offset = self.rows.last().map_or(5, |row| row.offset + row.length);
        let length = (self.words.get(offset).copied().unwrap_or(1 << 16) >> 16) as usize;
        let first = self.uses.len();
        let mut at = offset
            + 1
            + usize::from(read.result_type.is_some())
            + usize::from(read.result_id.is_some());
        for operand in &read.operands {
            at += match operand {
                Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => {
                    self.uses.push((at, *id));
                    1
                }
                Operand::LiteralString(text) => text.len() / 4 + 1,
                Operand::LiteralBit64(_) => 2,
                _ => 1,
            };
        }
        let op = read.class.opcode;
        // What is not read as it stands (constant operations) has no use inside functions; group
        // decorations have two forms.
        let declared = op == Op::SpecConstantComposite || op == Op::Source;
        let grouped =
            matches!(op, Op::DecorationGroup | Op::GroupDecorate | Op::GroupMemberDecorate);
        if grouped || (at != offset + length && !declared) {
            self.state = Readable::No;
        }
        self.rows.push(Row {
            op,
            result: read.result_id,
            offset,
            length,
            uses: first..self.uses.len(),
        });
        ParseAction::Continue
    }
}

/// Stretches of a function, each a range of rows, inner before outer; those of one level by place.
fn regions(rows: &Rows<'_>, function: &Range<usize>, sizes: Sizes) -> Option<Vec<Range<usize>>> {
    let open = open_pairs(rows, function)?;
    let eligible = eligible(rows, function);
    let mut found: Vec<Range<usize>> = Vec::new();
    // Where a stretch may begin: by the pairs that are open there, with the blocks before it that
    // are in no piece.
    let mut starts: Vec<(u128, usize, i64)> = Vec::new();
    let mut places: BTreeMap<u128, usize> = BTreeMap::new();
    let mut blocks = 0_i64;
    for row in function.clone() {
        let at = row - function.start;
        if eligible[at] {
            match places.get(&open[at]).map(|place| starts[*place]) {
                Some((_, start, before)) if blocks - before >= sizes.piece as i64 => {
                    found.push(start..row);
                    let place = places[&open[at]];
                    for (open, ..) in starts.drain(place..) {
                        places.remove(&open);
                    }
                    blocks = before;
                    places.insert(open[at], starts.len());
                    starts.push((open[at], row, blocks));
                }
                Some(_) => {}
                None => {
                    places.insert(open[at], starts.len());
                    starts.push((open[at], row, blocks));
                }
            }
        }
        if rows.rows[row].op == Op::Label {
            blocks += 1;
        }
    }
    Some(found)
}

/// Before each row, the pairs of definition and use with one on either side, as a sum over numbers
/// of the pairs: equal sums are equal sets but for a chance of 2^-128, and then the pieces are not
/// valid.
fn open_pairs(rows: &Rows<'_>, function: &Range<usize>) -> Option<Vec<u128>> {
    let mut defined: BTreeMap<Id, usize> = BTreeMap::new();
    // The terminator of each block, by label.
    let mut ends: BTreeMap<Id, usize> = BTreeMap::new();
    let mut label = None;
    for row in function.clone() {
        let here = &rows.rows[row];
        if here.op == Op::Label {
            label = here.result;
        }
        if super::super::module::is_terminator(here.op)
            && let Some(label) = label.take()
        {
            ends.insert(label, row);
        }
        if let Some(result) = here.result
            && !matches!(here.op, Op::Function | Op::FunctionParameter | Op::Variable)
            && defined.insert(result, row).is_some()
        {
            return None;
        }
    }
    let length = function.len();
    let mut toggles = vec![0_u128; length + 2];
    let mut nesting = vec![0_i64; length + 2];
    let mut number = 0_u64;
    for row in function.clone() {
        for (operand, (_, id)) in rows.uses(row).iter().enumerate() {
            let Some(definition) = defined.get(id).copied() else { continue };
            // A phi names the block whose end leads to it: a cut before that end gives the block
            // another name.
            let parent = rows.rows[row].op == Op::Phi && operand % 2 == 1;
            let definition = match ends.get(id) {
                Some(end) if parent && *end < row => *end,
                _ => definition,
            };
            let (low, high) =
                (definition.min(row) - function.start, definition.max(row) - function.start);
            number += 1;
            let sign = signature(number);
            toggles[low + 1] ^= sign;
            toggles[high + 1] ^= sign;
            if operand == 0 && matches!(rows.rows[row].op, Op::SelectionMerge | Op::LoopMerge) {
                nesting[low] += 1;
                nesting[high] -= 1;
            }
        }
    }
    let mut depth = 0;
    if nesting.iter().any(|change| {
        depth += change;
        depth > NESTING
    }) {
        return None;
    }
    let mut open = 0;
    Some(
        toggles[..length]
            .iter()
            .map(|toggle| {
                open ^= toggle;
                open
            })
            .collect(),
    )
}

/// 128 bits that depend on a number (the finaliser of splitmix64, twice).
fn signature(number: u64) -> u128 {
    let mix = |seed: u64| {
        let mut value = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    };
    u128::from(mix(number)) << 64 | u128::from(mix(number ^ 0xA5A5_A5A5_0000_0000))
}

/// Rows before which a function can be cut: inside a block, behind its phis and the function's
/// variables, not between a merge instruction and its branch.
fn eligible(rows: &Rows<'_>, function: &Range<usize>) -> Vec<bool> {
    #[derive(PartialEq, Eq)]
    enum Part {
        Outside,
        Head,
        Body,
        Merge,
    }
    let variables = rows.rows[function.clone()].iter().rposition(|row| row.op == Op::Variable);
    let first = variables.map_or(0, |last| last + 1);
    let mut part = Part::Outside;
    let mut found = Vec::with_capacity(function.len());
    for row in function.clone() {
        let op = rows.rows[row].op;
        if part == Part::Head && !matches!(op, Op::Line | Op::NoLine | Op::Phi | Op::Variable) {
            part = Part::Body;
        }
        found.push(part == Part::Body && row - function.start >= first);
        part = match op {
            Op::Label => Part::Head,
            Op::SelectionMerge | Op::LoopMerge => Part::Merge,
            op if super::super::module::is_terminator(op) => Part::Outside,
            _ => part,
        };
    }
    found
}

struct Cutter<'a> {
    rows: &'a Rows<'a>,
    next: Id,
    /// New ids of variables and parameters, with the function that has each.
    copies: BTreeMap<Id, Vec<Id>>,
    /// The functions.
    out: Vec<u32>,
}

/// A function that is being written: the whole of one, or a piece.
struct Piece {
    range: Range<usize>,
    words: Vec<u32>,
    /// Ids of the original that have another one here.
    names: BTreeMap<Id, Id>,
    /// The block that is being written, as it is called here.
    block: Option<Id>,
}

/// A function's own declarations, of which each piece has copies.
struct Shared {
    function: usize,
    parameters: Vec<usize>,
    variables: BTreeMap<Id, usize>,
}

impl Cutter<'_> {
    fn fresh(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    fn between(&mut self, outside: Range<usize>) {
        for row in &self.rows.rows[outside] {
            self.out.extend_from_slice(&self.rows.words[row.offset..row.offset + row.length]);
        }
    }

    /// Writes a function and its pieces. Regions are properly nested, inner before outer.
    fn function(&mut self, function: Range<usize>, regions: Vec<Range<usize>>) -> Option<()> {
        let rows = self.rows;
        let of_kind = |op| function.clone().filter(move |row| rows.rows[*row].op == op);
        let shared = Shared {
            function: function.start,
            parameters: of_kind(Op::FunctionParameter).collect(),
            variables: of_kind(Op::Variable)
                .filter_map(|row| Some((rows.rows[row].result?, row)))
                .collect(),
        };
        // By start: an outer region stands before those within it.
        let mut regions = regions;
        regions.sort_by_key(|region| (region.start, usize::MAX - region.end));
        let mut pending = regions.into_iter().peekable();
        let mut finished: Vec<Vec<u32>> = Vec::new();
        let root = Piece {
            range: function.clone(),
            words: Vec::new(),
            names: BTreeMap::new(),
            block: None,
        };
        let mut open = vec![root];
        // The block of the original that a row stands in.
        let mut block = None;
        for row in function {
            while open.len() > 1 && open.last()?.range.end == row {
                let mut piece = open.pop()?;
                let parent = open.last_mut()?;
                // What is left of the block that the piece ends in belongs to the block that it
                // began in.
                parent.names.insert(block?, parent.block?);
                end(&mut piece);
                finished.push(piece.words);
            }
            while let Some(region) = pending.next_if(|region| region.start == row) {
                if region.end > open.last()?.range.end {
                    return None;
                }
                let piece = self.begin(&shared, region, block?, open.last_mut()?)?;
                open.push(piece);
            }
            if rows.rows[row].op == Op::Label {
                block = rows.rows[row].result;
            }
            self.copy(row, open.last_mut()?);
        }
        if open.len() != 1 || pending.next().is_some() {
            return None;
        }
        self.out.append(&mut open.pop()?.words);
        finished.iter_mut().for_each(|words| self.out.append(words));
        Some(())
    }

    /// Calls a new function in the place of a region.
    fn begin(
        &mut self,
        shared: &Shared,
        region: Range<usize>,
        block: Id,
        parent: &mut Piece,
    ) -> Option<Piece> {
        let rows = self.rows;
        let function = &rows.rows[shared.function];
        let header = rows.words.get(function.offset..function.offset + function.length)?;
        let [opcode, result_type, _, control, signature] = *header else { return None };
        let (id, result, label) = (self.fresh(), self.fresh(), self.fresh());
        let mut piece =
            Piece { range: region, words: Vec::new(), names: BTreeMap::new(), block: Some(label) };
        piece.words.extend([opcode, result_type, id, control, signature]);
        let call_length = 4 + shared.parameters.len() as u32;
        parent.words.extend([call_length << 16 | Op::FunctionCall as u32, result_type, result, id]);
        for parameter in &shared.parameters {
            let own = rows.rows[*parameter].result?;
            parent.words.push(parent.names.get(&own).copied().unwrap_or(own));
            let copy = self.fresh();
            self.copies.entry(own).or_default().push(copy);
            piece.names.insert(own, copy);
            piece.words.extend([
                3 << 16 | Op::FunctionParameter as u32,
                rows.words[rows.rows[*parameter].offset + 1],
                copy,
            ]);
        }
        piece.words.extend([2 << 16 | Op::Label as u32, label]);
        piece.names.insert(block, label);
        self.declare_variables(shared, &mut piece);
        Some(piece)
    }

    /// Copies of the variables that the piece names.
    fn declare_variables(&mut self, shared: &Shared, piece: &mut Piece) {
        let rows = self.rows;
        for row in piece.range.clone() {
            for (_, id) in rows.uses(row) {
                let Some(variable) = shared.variables.get(id) else { continue };
                if piece.names.contains_key(id) {
                    continue;
                }
                let copy = self.fresh();
                self.copies.entry(*id).or_default().push(copy);
                piece.names.insert(*id, copy);
                let declared = &rows.rows[*variable];
                let at = piece.words.len();
                piece.words.extend_from_slice(
                    &rows.words[declared.offset..declared.offset + declared.length],
                );
                piece.words[at + 2] = copy;
            }
        }
    }

    fn copy(&self, row: usize, piece: &mut Piece) {
        let rows = self.rows;
        let copied = &rows.rows[row];
        let at = piece.words.len();
        piece.words.extend_from_slice(&rows.words[copied.offset..copied.offset + copied.length]);
        for (offset, id) in rows.uses(row) {
            if let Some(name) = piece.names.get(id) {
                piece.words[at + offset - copied.offset] = *name;
            }
        }
        if copied.op == Op::Label {
            piece.block = copied.result;
        }
    }

    /// Everything before the functions, with the copies decorated as their originals, and the
    /// functions.
    fn module(self) -> Option<Vec<u32>> {
        let rows = self.rows;
        let mut words = rows.words.get(..5)?.to_vec();
        words[3] = self.next;
        let first = rows.functions().first()?.start;
        for row in &rows.rows[..first] {
            let own = rows.words.get(row.offset..row.offset + row.length)?;
            words.extend_from_slice(own);
            if matches!(row.op, Op::Decorate | Op::DecorateId | Op::DecorateString) {
                for copy in self.copies.get(own.get(1)?).into_iter().flatten() {
                    let at = words.len();
                    words.extend_from_slice(own);
                    words[at + 1] = *copy;
                }
            }
        }
        words.extend(self.out);
        Some(words)
    }
}

/// The end of a piece is reached nowhere else than where the whole goes on.
fn end(piece: &mut Piece) {
    piece.words.push(1 << 16 | Op::Unreachable as u32);
    piece.words.push(1 << 16 | Op::FunctionEnd as u32);
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;

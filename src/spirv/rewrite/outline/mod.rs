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

mod regions;
mod rows;

use crate::module::{disguise_constant_operations, whole_instructions};
use regions::regions;
use rows::{Readable, Rows};
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
mod tests;

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
use regions::find_regions;
use rows::{ModuleRows, Readability};
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use std::ops::Range;
use vkcert_model::index_range::IndexRange;

type Id = u32;

/// How large things are, in blocks.
#[derive(Debug, Clone, Copy)]
pub struct OutlineSizes {
    /// Functions of at most so many blocks stay whole.
    pub function: usize,
    /// A piece has at least so many, pieces of its own not counted.
    pub piece: usize,
}

/// What costs the validator least.
pub const SIZES: OutlineSizes = OutlineSizes { function: 256, piece: 48 };

/// The module with its large functions cut; none where no function is large or none can be cut.
pub fn outline_functions(module_words: &[u32], sizes: OutlineSizes) -> Option<Vec<u32>> {
    if !has_large_function(module_words, sizes) || whole_instructions(module_words).is_err() {
        return None;
    }
    let readable = disguise_constant_operations(module_words);
    let mut rows = ModuleRows::new(module_words);
    rspirv::binary::parse_words(readable.as_deref().unwrap_or(module_words), &mut rows).ok()?;
    if rows.state == Readability::No {
        return None;
    }
    let mut cutter = FunctionCutter {
        rows: &rows,
        next: *module_words.get(3)?,
        copies: BTreeMap::new(),
        out: Vec::new(),
    };
    let mut piece_count = 0;
    let mut copied_rows = rows.function_ranges().first()?.start;
    for function in rows.function_ranges() {
        // Debug lines stand between functions.
        cutter.copy_between(copied_rows..function.start);
        copied_rows = function.end;
        let regions = match rows.block_count(function) > sizes.function {
            true => find_regions(&rows, function, sizes)?,
            false => Vec::new(),
        };
        piece_count += regions.len();
        cutter.cut_function(function, regions)?;
    }
    cutter.copy_between(copied_rows..rows.rows.len());
    (piece_count > 0).then(|| cutter.finish_module()).flatten()
}

fn has_large_function(module_words: &[u32], sizes: OutlineSizes) -> bool {
    let (mut word_offset, mut block_count) = (5, 0);
    while let Some(word) = module_words.get(word_offset) {
        match Op::from_u32(word & 0xFFFF) {
            Some(Op::Function) => block_count = 0,
            Some(Op::Label) => block_count += 1,
            _ => {}
        }
        if block_count > sizes.function {
            return true;
        }
        word_offset += (word >> 16).max(1) as usize;
    }
    false
}

struct FunctionCutter<'a> {
    rows: &'a ModuleRows<'a>,
    next: Id,
    /// New ids of variables and parameters, with the function that has each.
    copies: BTreeMap<Id, Vec<Id>>,
    /// The functions.
    out: Vec<u32>,
}

/// A function that is being written: the whole of one, or a piece.
struct FunctionPiece {
    range: IndexRange,
    words: Vec<u32>,
    /// Ids of the original that have another one here.
    names: BTreeMap<Id, Id>,
    /// The block that is being written, as it is called here.
    block: Option<Id>,
}

/// A function's own declarations, of which each piece has copies.
struct SharedDeclarations {
    function: usize,
    parameters: Vec<usize>,
    variables: BTreeMap<Id, usize>,
}

impl FunctionCutter<'_> {
    fn fresh_id(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    fn copy_between(&mut self, outside_rows: Range<usize>) {
        for row in &self.rows.rows[outside_rows] {
            self.out.extend_from_slice(&self.rows.words[row.offset..row.offset + row.length]);
        }
    }

    /// Writes a function and its pieces. Regions are properly nested, inner before outer.
    fn cut_function(&mut self, function_rows: IndexRange, regions: Vec<IndexRange>) -> Option<()> {
        let rows = self.rows;
        let of_kind = |op| function_rows.range().filter(move |row| rows.rows[*row].op == op);
        let shared_declarations = SharedDeclarations {
            function: function_rows.start,
            parameters: of_kind(Op::FunctionParameter).collect(),
            variables: of_kind(Op::Variable)
                .filter_map(|row| Some((rows.rows[row].result?, row)))
                .collect(),
        };
        // By start: an outer region stands before those within it.
        let mut regions = regions;
        regions.sort_by_key(|region| (region.start, usize::MAX - region.end));
        let mut pending_regions = regions.into_iter().peekable();
        let mut finished_pieces: Vec<Vec<u32>> = Vec::new();
        let whole_function = FunctionPiece {
            range: function_rows,
            words: Vec::new(),
            names: BTreeMap::new(),
            block: None,
        };
        let mut open_pieces = vec![whole_function];
        // The block of the original that a row stands in.
        let mut current_block = None;
        for row in function_rows {
            while open_pieces.len() > 1 && open_pieces.last()?.range.end == row {
                let mut piece = open_pieces.pop()?;
                let parent = open_pieces.last_mut()?;
                // What is left of the block that the piece ends in belongs to the block that it
                // began in.
                parent.names.insert(current_block?, parent.block?);
                end_piece(&mut piece);
                finished_pieces.push(piece.words);
            }
            while let Some(region) = pending_regions.next_if(|region| region.start == row) {
                if region.end > open_pieces.last()?.range.end {
                    return None;
                }
                let piece = self.begin_piece(
                    &shared_declarations,
                    region,
                    current_block?,
                    open_pieces.last_mut()?,
                )?;
                open_pieces.push(piece);
            }
            if rows.rows[row].op == Op::Label {
                current_block = rows.rows[row].result;
            }
            self.copy_row(row, open_pieces.last_mut()?);
        }
        if open_pieces.len() != 1 || pending_regions.next().is_some() {
            return None;
        }
        self.out.append(&mut open_pieces.pop()?.words);
        finished_pieces.iter_mut().for_each(|words| self.out.append(words));
        Some(())
    }

    /// Calls a new function in the place of a region.
    fn begin_piece(
        &mut self,
        shared_declarations: &SharedDeclarations,
        region: IndexRange,
        enclosing_block: Id,
        parent_piece: &mut FunctionPiece,
    ) -> Option<FunctionPiece> {
        let rows = self.rows;
        let function = &rows.rows[shared_declarations.function];
        let function_words = rows.words.get(function.offset..function.offset + function.length)?;
        let [opcode, result_type, _, function_control, function_type] = *function_words else {
            return None;
        };
        let (id, result, label) = (self.fresh_id(), self.fresh_id(), self.fresh_id());
        let mut piece = FunctionPiece {
            range: region,
            words: Vec::new(),
            names: BTreeMap::new(),
            block: Some(label),
        };
        piece.words.extend([opcode, result_type, id, function_control, function_type]);
        let call_length = 4 + shared_declarations.parameters.len() as u32;
        parent_piece.words.extend([
            call_length << 16 | Op::FunctionCall as u32,
            result_type,
            result,
            id,
        ]);
        for parameter in &shared_declarations.parameters {
            let original_parameter = rows.rows[*parameter].result?;
            parent_piece.words.push(
                parent_piece.names.get(&original_parameter).copied().unwrap_or(original_parameter),
            );
            let copied_parameter = self.fresh_id();
            self.copies.entry(original_parameter).or_default().push(copied_parameter);
            piece.names.insert(original_parameter, copied_parameter);
            piece.words.extend([
                3 << 16 | Op::FunctionParameter as u32,
                rows.words[rows.rows[*parameter].offset + 1],
                copied_parameter,
            ]);
        }
        piece.words.extend([2 << 16 | Op::Label as u32, label]);
        piece.names.insert(enclosing_block, label);
        self.declare_variables(shared_declarations, &mut piece);
        Some(piece)
    }

    /// Copies of the variables that the piece names.
    fn declare_variables(
        &mut self,
        shared_declarations: &SharedDeclarations,
        piece: &mut FunctionPiece,
    ) {
        let rows = self.rows;
        for row in piece.range {
            for (_, id) in rows.uses(row) {
                let Some(variable) = shared_declarations.variables.get(id) else { continue };
                if piece.names.contains_key(id) {
                    continue;
                }
                let copied_variable = self.fresh_id();
                self.copies.entry(*id).or_default().push(copied_variable);
                piece.names.insert(*id, copied_variable);
                let declared_row = &rows.rows[*variable];
                let copy_start = piece.words.len();
                piece.words.extend_from_slice(
                    &rows.words[declared_row.offset..declared_row.offset + declared_row.length],
                );
                piece.words[copy_start + 2] = copied_variable;
            }
        }
    }

    fn copy_row(&self, row: usize, piece: &mut FunctionPiece) {
        let rows = self.rows;
        let copied_row = &rows.rows[row];
        let copy_start = piece.words.len();
        piece.words.extend_from_slice(
            &rows.words[copied_row.offset..copied_row.offset + copied_row.length],
        );
        for (offset, id) in rows.uses(row) {
            if let Some(renamed_id) = piece.names.get(id) {
                piece.words[copy_start + offset - copied_row.offset] = *renamed_id;
            }
        }
        if copied_row.op == Op::Label {
            piece.block = copied_row.result;
        }
    }

    /// Everything before the functions, with the copies decorated as their originals, and the
    /// functions.
    fn finish_module(self) -> Option<Vec<u32>> {
        let rows = self.rows;
        let mut module_words = rows.words.get(..5)?.to_vec();
        module_words[3] = self.next;
        let first_function = rows.function_ranges().first()?.start;
        for row in &rows.rows[..first_function] {
            let original_words = rows.words.get(row.offset..row.offset + row.length)?;
            module_words.extend_from_slice(original_words);
            if matches!(row.op, Op::Decorate | Op::DecorateId | Op::DecorateString) {
                for copied_id in self.copies.get(original_words.get(1)?).into_iter().flatten() {
                    let copy_start = module_words.len();
                    module_words.extend_from_slice(original_words);
                    module_words[copy_start + 1] = *copied_id;
                }
            }
        }
        module_words.extend(self.out);
        Some(module_words)
    }
}

/// The end of a piece is reached nowhere else than where the whole goes on.
fn end_piece(piece: &mut FunctionPiece) {
    piece.words.push(1 << 16 | Op::Unreachable as u32);
    piece.words.push(1 << 16 | Op::FunctionEnd as u32);
}

#[cfg(test)]
mod tests;

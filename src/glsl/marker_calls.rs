//! From marker instructions to marker calls.
//!
//! Knows: the compiler checks its graph of calls in time quadratic in the calls between functions,
//! and two marker functions are called by every function of a kernel. So in marked text markers are
//! declared as instructions of a set of their own (GL_EXT_spirv_intrinsics), which are no calls to
//! the compiler, keep their order and keep `&&` and `||` from being evaluated at once.
//! Promises: what [`restore_calls`] returns is the module that the compiler makes where markers are
//! functions, `bool value(uint page, uint id, bool v) { return v; }` and `void mark(uint page, uint
//! id) { }`, but for the numbers of ids: no trace of set or extension is left.
//! Does not cover: what the markers stand for.

use super::marking::{MARKER_SET, MarkerNames, VALUE_INSTRUCTION};
use rspirv::spirv::Op;

/// Words of a module's header.
pub(super) const HEADER_WORDS: usize = 5;

/// A module with marker calls in the place of its marker instructions.
pub(crate) fn restore_calls(words: &[u32], names: &MarkerNames) -> Vec<u32> {
    let Some(import_row) = instructions(words).find(|row| {
        opcode(row) == Op::ExtInstImport as u32 && string_operand(row, 2) == MARKER_SET
    }) else {
        return instructions(words).filter(|row| !is_marker_declaration(row)).fold(
            module_header(words),
            |mut restored_words, row| {
                restored_words.extend_from_slice(row);
                restored_words
            },
        );
    };
    let mut call_restorer = CallRestorer {
        set: import_row[1],
        next: words[3],
        value: None,
        mark: None,
        declared: Vec::new(),
    };
    let marker_functions = call_restorer.marker_functions(words, names);
    let mut restored_words = module_header(words);
    restored_words[3] = call_restorer.next;
    let mut written_parts = WrittenParts::Before;
    for row in instructions(words).filter(|row| !is_marker_declaration(row)) {
        let row_opcode = opcode(row);
        if written_parts == WrittenParts::Before
            && (row_opcode == Op::Name as u32 || row_opcode == Op::MemberName as u32)
        {
            restored_words.extend(&marker_functions.names);
            written_parts = WrittenParts::Named;
        }
        if written_parts != WrittenParts::Declared && row_opcode == Op::Function as u32 {
            restored_words.extend(&call_restorer.declared);
            written_parts = WrittenParts::Declared;
        }
        match call_restorer.call_for(row) {
            Some(call_row) => restored_words.extend(call_row),
            None => restored_words.extend_from_slice(row),
        }
    }
    restored_words.extend(marker_functions.bodies);
    restored_words
}

/// Which of the additions have been written.
#[derive(PartialEq, Eq)]
enum WrittenParts {
    Before,
    Named,
    Declared,
}

struct MarkerFunctions {
    names: Vec<u32>,
    bodies: Vec<u32>,
}

struct CallRestorer {
    /// Result id of the import of the set.
    set: u32,
    /// The next id that nothing uses.
    next: u32,
    value: Option<u32>,
    mark: Option<u32>,
    /// Types that the module does not have.
    declared: Vec<u32>,
}

impl CallRestorer {
    fn fresh_id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// The marker functions that are called. All calls of one marker have the same types.
    fn marker_functions(&mut self, words: &[u32], names: &MarkerNames) -> MarkerFunctions {
        let mut marker_functions = MarkerFunctions { names: Vec::new(), bodies: Vec::new() };
        let (mut value_type, mut mark_type) = (None, None);
        for row in instructions(words).filter(|row| self.is_marker(row)) {
            match row[4] == VALUE_INSTRUCTION {
                true => value_type = Some(row[1]),
                false => mark_type = Some(row[1]),
            }
        }
        let uint_type = instructions(words)
            .find(|row| opcode(row) == Op::TypeInt as u32 && row[2..] == [32, 0]);
        let Some(uint_type) = uint_type.map(|row| row[1]) else { return marker_functions };
        if let Some(boolean_type) = value_type {
            let function_id = self.write_function(
                words,
                boolean_type,
                &[uint_type, uint_type, boolean_type],
                &mut marker_functions.bodies,
            );
            marker_functions.names.extend(string_instruction(
                Op::Name,
                function_id,
                &format!("{}(u1;u1;b1;", names.value),
            ));
            self.value = Some(function_id);
        }
        if let Some(void_type) = mark_type {
            let function_id = self.write_function(
                words,
                void_type,
                &[uint_type, uint_type],
                &mut marker_functions.bodies,
            );
            marker_functions.names.extend(string_instruction(
                Op::Name,
                function_id,
                &format!("{}(u1;u1;", names.mark),
            ));
            self.mark = Some(function_id);
        }
        marker_functions
    }

    /// Writes a function that returns its third parameter, where it has one.
    fn write_function(
        &mut self,
        words: &[u32],
        result_type: u32,
        parameters: &[u32],
        bodies: &mut Vec<u32>,
    ) -> u32 {
        let function_type = self.function_type(words, result_type, parameters);
        let function_id = self.fresh_id();
        bodies.extend([5 << 16 | Op::Function as u32, result_type, function_id, 0, function_type]);
        let parameter_ids: Vec<u32> = parameters.iter().map(|_| self.fresh_id()).collect();
        for (parameter_type, parameter) in parameters.iter().zip(&parameter_ids) {
            bodies.extend([3 << 16 | Op::FunctionParameter as u32, *parameter_type, *parameter]);
        }
        bodies.extend([2 << 16 | Op::Label as u32, self.fresh_id()]);
        match parameter_ids.get(2) {
            Some(value) => bodies.extend([2 << 16 | Op::ReturnValue as u32, *value]),
            None => bodies.push(1 << 16 | Op::Return as u32),
        }
        bodies.push(1 << 16 | Op::FunctionEnd as u32);
        function_id
    }

    /// A function type, declared once: no two may be the same (SPIR-V specification, section 2.8).
    fn function_type(&mut self, words: &[u32], result_type: u32, parameters: &[u32]) -> u32 {
        let declared_type = instructions(words).find(|row| {
            opcode(row) == Op::TypeFunction as u32
                && row[2] == result_type
                && &row[3..] == parameters
        });
        if let Some(declared_type) = declared_type {
            return declared_type[1];
        }
        let type_id = self.fresh_id();
        self.declared.extend([
            (3 + parameters.len() as u32) << 16 | Op::TypeFunction as u32,
            type_id,
            result_type,
        ]);
        self.declared.extend(parameters);
        type_id
    }

    fn is_marker(&self, row: &[u32]) -> bool {
        opcode(row) == Op::ExtInst as u32 && row.len() > 4 && row[3] == self.set
    }

    /// The call in the place of a marker instruction.
    fn call_for(&self, row: &[u32]) -> Option<Vec<u32>> {
        let marker_function = self
            .is_marker(row)
            .then(|| if row[4] == VALUE_INSTRUCTION { self.value } else { self.mark })??;
        let mut call_row = vec![
            (row.len() as u32 - 1) << 16 | Op::FunctionCall as u32,
            row[1],
            row[2],
            marker_function,
        ];
        call_row.extend_from_slice(&row[5..]);
        Some(call_row)
    }
}

/// Whether an instruction declares the marker set, or the extension that lets text declare it.
fn is_marker_declaration(row: &[u32]) -> bool {
    let row_opcode = opcode(row);
    (row_opcode == Op::ExtInstImport as u32 && string_operand(row, 2) == MARKER_SET)
        || (row_opcode == Op::Extension as u32 && string_operand(row, 1) == MARKER_SET)
        || (row_opcode == Op::SourceExtension as u32
            && string_operand(row, 1) == "GL_EXT_spirv_intrinsics")
}

fn module_header(words: &[u32]) -> Vec<u32> {
    let mut header_words = Vec::with_capacity(words.len() + 64);
    header_words.extend_from_slice(&words[..HEADER_WORDS.min(words.len())]);
    header_words
}

/// The instructions of a module that the compiler has made.
pub(super) fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut remaining_words = words.get(HEADER_WORDS..).unwrap_or_default();
    std::iter::from_fn(move || {
        let row_length = (remaining_words.first()? >> 16) as usize;
        let (row, words_behind) =
            remaining_words.split_at_checked(row_length).filter(|_| row_length > 0)?;
        remaining_words = words_behind;
        Some(row)
    })
}

pub(super) fn opcode(row: &[u32]) -> u32 {
    row[0] & 0xFFFF
}

/// The string that begins at a word.
pub(super) fn string_operand(row: &[u32], word_index: usize) -> String {
    let text_bytes =
        row[word_index..].iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0);
    String::from_utf8_lossy(&text_bytes.collect::<Vec<u8>>()).into_owned()
}

/// An instruction with an id and a string behind it.
pub(super) fn string_instruction(op: Op, id: u32, text: &str) -> Vec<u32> {
    let mut text_bytes = text.as_bytes().to_vec();
    text_bytes.resize((text_bytes.len() / 4 + 1) * 4, 0);
    let letter_words = text_bytes
        .chunks_exact(4)
        .map(|four| four.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
    let mut row = vec![(2 + text_bytes.len() as u32 / 4) << 16 | op as u32, id];
    row.extend(letter_words);
    row
}

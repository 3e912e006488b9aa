//! From marker instructions to marker calls.
//!
//! Knows: the compiler checks its graph of calls in time quadratic in the calls between functions,
//! and two marker functions are called by every function of a kernel. So in marked text markers are
//! declared as instructions of a set of their own (GL_EXT_spirv_intrinsics), which are no calls to
//! the compiler, keep their order and keep `&&` and `||` from being evaluated at once.
//! Promises: what [`restore`] returns is the module that the compiler makes where markers are
//! functions, `bool value(uint page, uint id, bool v) { return v; }` and `void mark(uint page, uint
//! id) { }`, but for the numbers of ids: no trace of set or extension is left.
//! Does not cover: what the markers stand for.

use super::marking::{MARKER_SET, MarkerNames, VALUE_INSTRUCTION};
use rspirv::spirv::Op;

/// Words of a module's header.
const HEADER: usize = 5;

/// A module with marker calls in the place of its marker instructions.
pub(crate) fn restore(words: &[u32], names: &MarkerNames) -> Vec<u32> {
    let Some(set) = instructions(words)
        .find(|row| opcode(row) == Op::ExtInstImport as u32 && text(row, 2) == MARKER_SET)
    else {
        return instructions(words).filter(|row| !of_markers(row)).fold(
            header(words),
            |mut all, row| {
                all.extend_from_slice(row);
                all
            },
        );
    };
    let mut made =
        Made { set: set[1], next: words[3], value: None, mark: None, declared: Vec::new() };
    let functions = made.functions(words, names);
    let mut all = header(words);
    all[3] = made.next;
    let mut parts = Parts::Before;
    for row in instructions(words).filter(|row| !of_markers(row)) {
        let op = opcode(row);
        if parts == Parts::Before && (op == Op::Name as u32 || op == Op::MemberName as u32) {
            all.extend(&functions.names);
            parts = Parts::Named;
        }
        if parts != Parts::Declared && op == Op::Function as u32 {
            all.extend(&made.declared);
            parts = Parts::Declared;
        }
        match made.call(row) {
            Some(call) => all.extend(call),
            None => all.extend_from_slice(row),
        }
    }
    all.extend(functions.bodies);
    all
}

/// What of the additions has been written.
#[derive(PartialEq, Eq)]
enum Parts {
    Before,
    Named,
    Declared,
}

struct Functions {
    names: Vec<u32>,
    bodies: Vec<u32>,
}

struct Made {
    /// Result id of the import of the set.
    set: u32,
    /// The next id that nothing uses.
    next: u32,
    value: Option<u32>,
    mark: Option<u32>,
    /// Types that the module does not have.
    declared: Vec<u32>,
}

impl Made {
    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// The marker functions that are called. All calls of one marker have the same types.
    fn functions(&mut self, words: &[u32], names: &MarkerNames) -> Functions {
        let mut made = Functions { names: Vec::new(), bodies: Vec::new() };
        let (mut value_type, mut mark_type) = (None, None);
        for row in instructions(words).filter(|row| self.is_marker(row)) {
            match row[4] == VALUE_INSTRUCTION {
                true => value_type = Some(row[1]),
                false => mark_type = Some(row[1]),
            }
        }
        let uint = instructions(words)
            .find(|row| opcode(row) == Op::TypeInt as u32 && row[2..] == [32, 0]);
        let Some(uint) = uint.map(|row| row[1]) else { return made };
        if let Some(boolean) = value_type {
            let id = self.function(words, boolean, &[uint, uint, boolean], &mut made.bodies);
            made.names.extend(name(id, &format!("{}(u1;u1;b1;", names.value)));
            self.value = Some(id);
        }
        if let Some(void) = mark_type {
            let id = self.function(words, void, &[uint, uint], &mut made.bodies);
            made.names.extend(name(id, &format!("{}(u1;u1;", names.mark)));
            self.mark = Some(id);
        }
        made
    }

    /// Writes a function that returns its third parameter, where it has one.
    fn function(
        &mut self,
        words: &[u32],
        result: u32,
        parameters: &[u32],
        bodies: &mut Vec<u32>,
    ) -> u32 {
        let signature = self.signature(words, result, parameters);
        let id = self.fresh();
        bodies.extend([5 << 16 | Op::Function as u32, result, id, 0, signature]);
        let ids: Vec<u32> = parameters.iter().map(|_| self.fresh()).collect();
        for (ty, parameter) in parameters.iter().zip(&ids) {
            bodies.extend([3 << 16 | Op::FunctionParameter as u32, *ty, *parameter]);
        }
        bodies.extend([2 << 16 | Op::Label as u32, self.fresh()]);
        match ids.get(2) {
            Some(value) => bodies.extend([2 << 16 | Op::ReturnValue as u32, *value]),
            None => bodies.push(1 << 16 | Op::Return as u32),
        }
        bodies.push(1 << 16 | Op::FunctionEnd as u32);
        id
    }

    /// A function type, declared once: no two may be the same (SPIR-V specification, section 2.8).
    fn signature(&mut self, words: &[u32], result: u32, parameters: &[u32]) -> u32 {
        let known = instructions(words).find(|row| {
            opcode(row) == Op::TypeFunction as u32 && row[2] == result && &row[3..] == parameters
        });
        if let Some(known) = known {
            return known[1];
        }
        let id = self.fresh();
        self.declared.extend([
            (3 + parameters.len() as u32) << 16 | Op::TypeFunction as u32,
            id,
            result,
        ]);
        self.declared.extend(parameters);
        id
    }

    fn is_marker(&self, row: &[u32]) -> bool {
        opcode(row) == Op::ExtInst as u32 && row.len() > 4 && row[3] == self.set
    }

    /// The call in the place of a marker instruction.
    fn call(&self, row: &[u32]) -> Option<Vec<u32>> {
        let function = self
            .is_marker(row)
            .then(|| if row[4] == VALUE_INSTRUCTION { self.value } else { self.mark })??;
        let mut call =
            vec![(row.len() as u32 - 1) << 16 | Op::FunctionCall as u32, row[1], row[2], function];
        call.extend_from_slice(&row[5..]);
        Some(call)
    }
}

/// Whether an instruction declares the marker set, or the extension that lets text declare it.
fn of_markers(row: &[u32]) -> bool {
    let op = opcode(row);
    (op == Op::ExtInstImport as u32 && text(row, 2) == MARKER_SET)
        || (op == Op::Extension as u32 && text(row, 1) == MARKER_SET)
        || (op == Op::SourceExtension as u32 && text(row, 1) == "GL_EXT_spirv_intrinsics")
}

fn header(words: &[u32]) -> Vec<u32> {
    let mut header = Vec::with_capacity(words.len() + 64);
    header.extend_from_slice(&words[..HEADER.min(words.len())]);
    header
}

/// The instructions of a module that the compiler has made.
pub(super) fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = (rest.first()? >> 16) as usize;
        let (row, behind) = rest.split_at_checked(length).filter(|_| length > 0)?;
        rest = behind;
        Some(row)
    })
}

pub(super) fn opcode(row: &[u32]) -> u32 {
    row[0] & 0xFFFF
}

/// The string that begins at a word.
fn text(row: &[u32], at: usize) -> String {
    let bytes = row[at..].iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}

fn name(id: u32, text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() / 4 + 1) * 4, 0);
    let letters = bytes
        .chunks_exact(4)
        .map(|four| four.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
    let mut row = vec![(2 + bytes.len() as u32 / 4) << 16 | Op::Name as u32, id];
    row.extend(letters);
    row
}

//! A copy in the place of the function that it is a copy of.
//!
//! Knows: words of modules as the compiler makes them (SPIR-V specification, section 2.3): functions stand
//! behind everything else. Promises: the module has the function's id and the copy's body; names, decorations
//! and files of other copies are gone with them, as is what nothing calls.

use super::{ENTRY, MARK};
use crate::marker_calls::{HEADER_WORDS, instructions, opcode, string_instruction, string_operand};
use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// What is declared of a module as a whole: capabilities, extensions, memory model.
pub(super) fn module_declarations(words: &[u32]) -> Vec<u32> {
    let is_of_whole = |row: &&[u32]| {
        [Op::Capability, Op::Extension, Op::MemoryModel].map(|op| op as u32).contains(&opcode(row))
    };
    instructions(words).filter(is_of_whole).flatten().copied().collect()
}

/// A module with copies of functions.
pub(super) struct ModuleParts<'w> {
    header: &'w [u32],
    /// What stands in front of the functions.
    rows: Vec<&'w [u32]>,
    functions: Vec<FunctionRows<'w>>,
    /// By id: the function that defines it.
    owners: BTreeMap<u32, usize>,
}

struct FunctionRows<'w> {
    id: u32,
    /// Without its parameters' types.
    name: String,
    rows: Vec<&'w [u32]>,
}

impl<'w> ModuleParts<'w> {
    /// None of words that are no module.
    pub(super) fn of_module(words: &'w [u32]) -> Option<Self> {
        let header = words.get(..HEADER_WORDS)?;
        let (mut rows, mut functions): (Vec<&[u32]>, Vec<FunctionRows>) = (Vec::new(), Vec::new());
        let mut names: BTreeMap<u32, String> = BTreeMap::new();
        let mut owners = BTreeMap::new();
        for row in instructions(words) {
            let op = opcode(row);
            if op == Op::Function as u32 {
                let id = *row.get(2)?;
                let name = names.get(&id).cloned().unwrap_or_default();
                functions.push(FunctionRows { id, name, rows: Vec::new() });
            }
            let number = functions.len();
            match functions.last_mut() {
                Some(function) => {
                    owners.extend(result_id(row).map(|id| (id, number - 1)));
                    function.rows.push(row);
                }
                None => rows.push(row),
            }
            if op == Op::Name as u32 && functions.is_empty() {
                let name = string_operand(row, 2);
                let base = name.split('(').next().unwrap_or_default().to_owned();
                names.insert(*row.get(1)?, base);
            }
        }
        Some(Self { header, rows, functions, owners })
    }

    /// The module with the bodies of other functions in the places of some, by name; what nothing calls then is left
    /// out. None where one of them is not there.
    pub(super) fn with_bodies(
        &self,
        bodies: &BTreeMap<String, String>,
        mark: &str,
    ) -> Option<Vec<u32>> {
        let place_of =
            |name: &String| self.functions.iter().position(|function| function.name == *name);
        let mut body_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (name, body) in bodies {
            body_of.insert(place_of(name)?, place_of(body)?);
        }
        let body = |place: usize| body_of.get(&place).copied().unwrap_or(place);
        let called = self.called_functions(place_of(&ENTRY.to_owned())?, &body)?;
        let kept: BTreeSet<usize> = called.iter().map(|place| body(*place)).collect();
        let kept_ids: BTreeSet<u32> =
            called.iter().map(|place| self.functions[*place].id).collect();
        let is_gone = |id: u32| match self.owners.get(&id) {
            Some(owner) if self.functions[*owner].id == id => !kept_ids.contains(&id),
            Some(owner) => !kept.contains(owner),
            None => false,
        };
        let mut words = self.header.to_vec();
        for row in &self.rows {
            let op = opcode(row);
            let is_of_gone = row.get(1).is_some_and(|id| is_gone(*id));
            if names_or_decorates(op) && is_of_gone || op == Op::SourceContinued as u32 {
                continue;
            }
            if op == Op::String as u32 {
                let text = string_operand(row, 2);
                match (text.strip_suffix(mark), text.contains(MARK)) {
                    (Some(path), _) => words.extend(string_instruction(Op::String, row[1], path)),
                    (None, true) => {}
                    (None, false) => words.extend_from_slice(row),
                }
            } else if op == Op::Source as u32 {
                // Language and version, without the text.
                words.push(3 << 16 | op);
                words.extend_from_slice(row.get(1..3)?);
            } else {
                words.extend_from_slice(row);
            }
        }
        for (place, function) in self.functions.iter().enumerate() {
            if called.contains(&place) {
                let start = words.len();
                self.functions[body(place)]
                    .rows
                    .iter()
                    .for_each(|row| words.extend_from_slice(row));
                // Those that call it know it by this id.
                *words.get_mut(start + 2)? = function.id;
            }
        }
        Some(words)
    }

    /// Places of the functions that are called from one on; none where one comes to call itself, which the compiler
    /// refuses.
    fn called_functions(
        &self,
        entry: usize,
        body: &impl Fn(usize) -> usize,
    ) -> Option<BTreeSet<usize>> {
        let callees = |place: usize| -> Vec<usize> {
            let calls = self.functions[body(place)].rows.iter();
            let calls = calls.filter(|row| opcode(row) == Op::FunctionCall as u32);
            calls.filter_map(|row| self.owners.get(row.get(3)?).copied()).collect()
        };
        let mut called = BTreeSet::new();
        // Functions on the way to the last one, each with the calls that are still to be followed.
        let mut way = vec![(entry, callees(entry))];
        while let Some((place, pending)) = way.last_mut() {
            let Some(callee) = pending.pop() else {
                called.insert(*place);
                way.pop();
                continue;
            };
            if way.iter().any(|(place, _)| *place == callee) {
                return None;
            }
            if !called.contains(&callee) {
                way.push((callee, callees(callee)));
            }
        }
        Some(called)
    }
}

/// Whether an instruction says something of the id behind it.
fn names_or_decorates(op: u32) -> bool {
    const OPS: [Op; 6] = [
        Op::Name,
        Op::MemberName,
        Op::Decorate,
        Op::DecorateId,
        Op::DecorateString,
        Op::MemberDecorate,
    ];
    OPS.iter().any(|own| *own as u32 == op)
}

/// The id that an instruction defines.
fn result_id(row: &[u32]) -> Option<u32> {
    static PLACES: LazyLock<BTreeMap<u32, usize>> = LazyLock::new(|| {
        let places = INSTRUCTION_TABLE.iter().filter_map(|row| {
            let mut operands = row.operands.iter();
            let place = operands.position(|operand| operand.kind == OperandKind::IdResult)?;
            Some((row.opcode as u32, place + 1))
        });
        places.collect()
    });
    row.get(*PLACES.get(&opcode(row))?).copied()
}

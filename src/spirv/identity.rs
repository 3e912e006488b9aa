//! Whether two modules are one.
//!
//! Knows: what a module says beside its code: names, lines, the numbers of ids, the order of declarations,
//! capabilities that no code needs. Promises: two modules with one identity have the same entry point with the same
//! code, declarations and decorations; they do the same. Does not cover: modules that do the same by other code
//! (`normal_form`).

use super::module::{Id, Instruction, Module};
use super::module_index::ModuleIndex;
use super::opcodes::is_debug;
use rspirv::binary::Assemble;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;

/// What a module is but for names, lines, the numbers of its ids, capabilities, and what its entry point does not
/// reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleIdentity([u8; 32]);

/// The identity of a module with one entry point; none of one with more, or with groups of decorations.
pub fn module_identity(module: &Module) -> Option<ModuleIdentity> {
    let [entry] = module.entry_points.as_slice() else { return None };
    let index = ModuleIndex::of_module(module)?;
    let mut writer = IdentityWriter::new(module, &index);
    writer.write_whole();
    writer.number_of(entry.function);
    writer.write_queued();
    let mut leftovers: Vec<Vec<u32>> = index
        .resources
        .iter()
        .filter(|resource| writer.numbers[**resource as usize] == 0)
        .map(|resource| IdentityWriter::new(module, &index).of_id(*resource))
        .collect();
    leftovers.sort();
    let mut hash = Sha256::new();
    for words in std::iter::once(&writer.words).chain(&leftovers) {
        let length = u64::try_from(words.len()).expect("lengths fit");
        hash.update(length.to_le_bytes());
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        hash.update(&bytes);
    }
    Some(ModuleIdentity(hash.finalize().into()))
}

/// In front of an operand that is an id, and of one that is none.
const ID: u32 = 1;
const LITERAL: u32 = 2;

/// Writes instructions with ids in the order in which they are met; what an id is follows once, in that order.
struct IdentityWriter<'m> {
    module: &'m Module,
    index: &'m ModuleIndex,
    words: Vec<u32>,
    /// By id, from 1 on; 0: not yet met.
    numbers: Vec<u32>,
    count: u32,
    /// Met and still to be written.
    queue: VecDeque<Id>,
}

impl<'m> IdentityWriter<'m> {
    fn new(module: &'m Module, index: &'m ModuleIndex) -> Self {
        let numbers = vec![0; module.header.bound as usize];
        Self { module, index, words: Vec::new(), numbers, count: 0, queue: VecDeque::new() }
    }

    /// What an id is, by itself.
    fn of_id(mut self, id: Id) -> Vec<u32> {
        self.number_of(id);
        self.write_queued();
        self.words
    }

    /// What the module says of itself as a whole.
    fn write_whole(&mut self) {
        let header = &self.module.header;
        self.words.push(header.version);
        for entry in &self.module.entry_points {
            self.words.push(entry.model as u32);
            let name = entry.name.as_bytes();
            self.words.push(name.len() as u32);
            self.words.extend(name.iter().copied().map(u32::from));
        }
        for place in &self.index.whole {
            self.write_row(&self.module.instructions[*place]);
        }
        for size in &self.index.sizes {
            let number = self.number_of(*size);
            self.words.push(number);
        }
    }

    fn write_queued(&mut self) {
        while let Some(id) = self.queue.pop_front() {
            for (_, place) in self.index.decorations_of(id) {
                self.write_row(&self.module.instructions[*place]);
            }
            let Some(definition) = self.module.definition_index(id) else { continue };
            match self.module.function_by_id(id) {
                Some(function) => {
                    for place in function.range.range() {
                        self.write_row(&self.module.instructions[place]);
                    }
                }
                // Another one stands in its function.
                None if definition < self.index.first_function => {
                    self.write_row(&self.module.instructions[definition]);
                }
                None => {}
            }
        }
    }

    fn write_row(&mut self, row: &Instruction) {
        if is_debug(row.op) {
            return;
        }
        self.words.push((row.operands.len() as u32) << 16 | row.op as u32);
        for id in row.result_type.into_iter().chain(row.result) {
            let number = self.number_of(id);
            self.words.push(number);
        }
        for operand in &row.operands {
            match operand.id_ref_any() {
                Some(id) => {
                    let number = self.number_of(id);
                    self.words.extend([ID, number]);
                }
                None => {
                    let length_at = self.words.len() + 1;
                    self.words.extend([LITERAL, 0]);
                    operand.assemble_into(&mut self.words);
                    self.words[length_at] = (self.words.len() - length_at - 1) as u32;
                }
            }
        }
    }

    fn number_of(&mut self, id: Id) -> u32 {
        let number = &mut self.numbers[id as usize];
        if *number == 0 {
            self.count += 1;
            *number = self.count;
            self.queue.push_back(id);
        }
        self.numbers[id as usize]
    }
}

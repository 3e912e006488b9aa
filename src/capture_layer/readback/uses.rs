//! Which bindings a module uses.
//!
//! Knows: an entry point statically uses a variable that a function names which it calls, at any depth
//! (Vulkan specification, "Static Use").
//! Promises: nothing that is used is left out. A literal that has the number of a variable counts as a
//! use of it.
//! Does not cover: decorations in groups, for which there is no answer.

use std::collections::{BTreeMap, BTreeSet};

/// Set and binding.
pub(super) type UsedBindings = BTreeSet<(u32, u32)>;

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;

const OP_ENTRY_POINT: u32 = 15;
const OP_FUNCTION: u32 = 54;
const OP_FUNCTION_END: u32 = 56;
const OP_FUNCTION_CALL: u32 = 57;
const OP_DECORATE: u32 = 71;
const OP_GROUP_DECORATE: u32 = 74;
const OP_GROUP_MEMBER_DECORATE: u32 = 75;

/// GLCompute.
const COMPUTE: u32 = 5;
const BINDING: u32 = 33;
const DESCRIPTOR_SET: u32 = 34;

/// What a module says of its bindings and functions.
#[derive(Default)]
struct Scan {
    entry: Option<u32>,
    sets: BTreeMap<u32, u32>,
    bindings: BTreeMap<u32, u32>,
    functions: BTreeMap<u32, Function>,
}

/// What a function names.
#[derive(Default)]
struct Function {
    variables: BTreeSet<u32>,
    calls: BTreeSet<u32>,
}

/// The bindings that an entry point of a module uses; none where that cannot be told.
pub(super) fn used_bindings(code: &[u8], entry: &str) -> Option<UsedBindings> {
    let words =
        code.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
    let words: Vec<u32> = words.collect();
    let scan = scan(&words, entry)?;
    let mut open = vec![scan.entry?];
    let mut reached = BTreeSet::new();
    let mut used = UsedBindings::new();
    while let Some(id) = open.pop() {
        if !reached.insert(id) {
            continue;
        }
        let function = scan.functions.get(&id)?;
        open.extend(&function.calls);
        let places = function.variables.iter().map(|variable| {
            let set = scan.sets.get(variable).copied().unwrap_or(0);
            (set, scan.bindings[variable])
        });
        used.extend(places);
    }
    Some(used)
}

fn scan(words: &[u32], entry: &str) -> Option<Scan> {
    if *words.first()? != MAGIC {
        return None;
    }
    let mut scan = Scan::default();
    let mut rest = words.get(HEADER_WORDS..)?;
    let mut current = None;
    while let Some(first) = rest.first() {
        let (length, code) = ((first >> 16) as usize, first & 0xffff);
        let operands = rest.get(1..length)?;
        rest = &rest[length..];
        match code {
            OP_GROUP_DECORATE | OP_GROUP_MEMBER_DECORATE => return None,
            OP_ENTRY_POINT => {
                if let [COMPUTE, function, name @ ..] = operands
                    && has_name(name, entry)
                {
                    scan.entry = Some(*function);
                }
            }
            OP_DECORATE => scan.take_decoration(operands),
            OP_FUNCTION => current = operands.get(1).copied(),
            OP_FUNCTION_END => current = None,
            _ => {}
        }
        if let Some(function) = current {
            scan.take_operands(function, code, operands);
        }
    }
    Some(scan)
}

/// Whether words begin with a text: its bytes and a zero.
fn has_name(words: &[u32], name: &str) -> bool {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.split(|byte| *byte == 0).next() == Some(name.as_bytes())
}

impl Scan {
    fn take_decoration(&mut self, operands: &[u32]) {
        match operands {
            [target, BINDING, number] => {
                self.bindings.insert(*target, *number);
            }
            [target, DESCRIPTOR_SET, number] => {
                self.sets.insert(*target, *number);
            }
            _ => {}
        }
    }

    fn take_operands(&mut self, function: u32, code: u32, operands: &[u32]) {
        let bindings = &self.bindings;
        let own = self.functions.entry(function).or_default();
        own.variables.extend(operands.iter().filter(|word| bindings.contains_key(word)));
        if code == OP_FUNCTION_CALL {
            own.calls.extend(operands.get(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instruction(code: u32, operands: &[u32]) -> Vec<u32> {
        let length = u32::try_from(operands.len() + 1).unwrap();
        [&[length << 16 | code], operands].concat()
    }

    /// Variables 10 and 11 have bindings 0.3 and 1.0; function 20, `main`, calls 21.
    fn module(in_main: &[u32], in_called: &[u32]) -> Vec<u8> {
        let name = u32::from_le_bytes(*b"main");
        let words = [
            vec![MAGIC, 0x0001_0000, 0, 100, 0],
            instruction(OP_ENTRY_POINT, &[COMPUTE, 20, name, 0, 10, 11]),
            instruction(OP_DECORATE, &[10, BINDING, 3]),
            instruction(OP_DECORATE, &[11, BINDING, 0]),
            instruction(OP_DECORATE, &[11, DESCRIPTOR_SET, 1]),
            instruction(OP_FUNCTION, &[1, 20, 0, 2]),
            instruction(OP_FUNCTION_CALL, &[1, 30, 21]),
            instruction(61, in_main),
            instruction(OP_FUNCTION_END, &[]),
            instruction(OP_FUNCTION, &[1, 21, 0, 2]),
            instruction(61, in_called),
            instruction(OP_FUNCTION_END, &[]),
        ];
        words.concat().iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn a_called_function_counts_and_the_list_of_an_entry_point_does_not() {
        let used = |code: &[u8]| used_bindings(code, "main").map(Vec::from_iter);
        assert_eq!(used(&module(&[1, 40, 10], &[1, 41, 11])), Some(vec![(0, 3), (1, 0)]));
        assert_eq!(used(&module(&[1, 40, 50], &[1, 41, 11])), Some(vec![(1, 0)]));
        assert_eq!(used(&module(&[1, 40, 50], &[1, 41, 51])), Some(vec![]));
    }

    #[test]
    fn what_is_no_module_has_no_answer() {
        let code = module(&[1, 40, 10], &[1, 41, 11]);
        assert_eq!(used_bindings(&code, "other"), None);
        assert_eq!(used_bindings(&code[..code.len() - 8], "main"), None);
        assert_eq!(used_bindings(&[], "main"), None);
        let group = instruction(OP_GROUP_DECORATE, &[5, 10]);
        let group: Vec<u8> = group.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(used_bindings(&[code, group].concat(), "main"), None);
    }
}

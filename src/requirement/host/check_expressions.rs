//! The expressions of an interface, read where they stand.
//!
//! Knows: every key of an interface that holds an expression, and which names it may use.
//! Promises: what is wrong with one is told at its file and line and with the kernel's name.
//! Does not cover: values (`decide`), and what the kernel makes of them (`coupling`).

use super::decide::{check_range, declare_name};
use super::decimal_number;
use super::expression::HostName;
use super::parser::parse_expression;
use crate::document::{Located, Origin};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::requirement::{HostType, Interface};

/// Tells what is wrong with the expressions of an interface; names are those of parameters and of
/// the locals in front of it.
pub(in super::super) fn check_expressions(
    interface: &Located<Interface>,
    problems: &mut Vec<Diagnostic>,
) {
    let mut reader = ExpressionReader { interface, names: Vec::new(), problems };
    reader.read_names();
    // Each further one would be told for what is wrong with a name.
    if reader.names.len() == interface.parameters.len() + interface.locals.len() {
        reader.read_others();
    }
}

struct ExpressionReader<'a> {
    interface: &'a Located<Interface>,
    names: Vec<HostName>,
    problems: &'a mut Vec<Diagnostic>,
}

impl ExpressionReader<'_> {
    fn read_names(&mut self) {
        let interface = self.interface;
        let origin = &interface.origin;
        for (index, parameter) in interface.parameters.iter().enumerate() {
            let place = origin.at("parameters").at(index);
            let declared = self.declare(&parameter.name, parameter.width);
            // A range that runs down is told by the check of the interface.
            let fault = match declared {
                Ok(()) if parameter.min <= parameter.max => {
                    check_range(parameter).err().map(|fault| self.of_subject(fault))
                }
                Ok(()) => None,
                Err(fault) => Some(fault),
            };
            self.tell(fault, &place);
        }
        for (index, local) in interface.locals.iter().enumerate() {
            let place = origin.at("locals").at(index);
            self.read(&local.value, &place.at("value"));
            let declared = self.declare(&local.name, local.width);
            self.tell(declared.err(), &place);
        }
    }

    fn read_others(&mut self) {
        let interface = self.interface;
        let origin = &interface.origin;
        let axes = [("groups", Some(&interface.groups)), ("domain", interface.domain.as_ref())];
        for (key, texts) in axes {
            for (axis, text) in texts.into_iter().flatten().enumerate() {
                self.read(text, &origin.at(key).at(axis));
            }
        }
        for (index, buffer) in interface.buffers.iter().enumerate() {
            self.read(&buffer.size, &origin.at("buffers").at(index).at("size"));
        }
        let members = interface.push_constants.iter().flat_map(|block| &block.members);
        for (index, member) in members.enumerate() {
            if let Some(value) = &member.value {
                let place = origin.at("push_constants").at("members").at(index);
                self.read(value, &place.at("value"));
            }
        }
        for (index, constant) in interface.specialization.iter().enumerate() {
            if decimal_number(&constant.value).is_none() {
                self.read(&constant.value, &origin.at("specialization").at(index).at("value"));
            }
        }
    }

    fn read(&mut self, text: &str, place: &Origin) {
        let parsed = parse_expression(text, &self.names, &self.subject());
        self.tell(parsed.err(), place);
    }

    fn declare(&mut self, name: &str, host_type: HostType) -> Result<(), Diagnostic> {
        declare_name(&mut self.names, name, host_type).map_err(|fault| self.of_subject(fault))
    }

    /// What faults are of.
    fn subject(&self) -> String {
        format!("the interface of `{}`", self.interface.kernel)
    }

    fn of_subject(&self, fault: Diagnostic) -> Diagnostic {
        Diagnostic { message: format!("{}: {}", self.subject(), fault.message), ..fault }
    }

    fn tell(&mut self, fault: Option<Diagnostic>, place: &Origin) {
        let Some(fault) = fault else { return };
        let problem = place.error(fault.kind, fault.message);
        self.problems.push(match fault.hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Document, FileSyntax};

    /// Line and message of each fault.
    fn faults(text: &str) -> Vec<(usize, String)> {
        let document = Document::parse("i.toml", text, FileSyntax::Toml).unwrap();
        let origin = Origin::of(&document);
        let value = origin.read().unwrap();
        let mut problems = Vec::new();
        check_expressions(&Located { value, origin }, &mut problems);
        let line = |problem: &Diagnostic| {
            let location = problem.location.as_ref().unwrap();
            assert_eq!(location.file, "i.toml");
            1 + text[..location.span.as_ref().unwrap().start].matches('\n').count()
        };
        problems.iter().map(|problem| (line(problem), problem.message.clone())).collect()
    }

    #[test]
    fn each_faulty_expression_is_told_at_its_line_and_kernel() {
        let text = r#"kernel = "k"
parameters = [{ name = "n", type = "uint32", min = 0, max = 3 }]
locals = [{ name = "l", type = "uint32", value = "n + 1" }]
groups = [
    "l",
    "m",
    "1",
]
domain = ["1", "n *", "1"]
buffers = [
    { set = 0, binding = 0, name = "a", size = "4" },
    { set = 0, binding = 1, name = "b", size = "4 4" },
]
specialization = [{ id = 0, value = "1.5" }, { id = 1, value = "x" }]
[push_constants]
members = [{ name = "n", type = "uint32", value = "y" }]
"#;
        let faults = faults(text);
        let lines: Vec<usize> = faults.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [6, 9, 12, 16, 14], "{faults:?}");
        assert_eq!(faults[0].1, "the interface of `k`: `m` is not declared");
    }

    #[test]
    fn a_faulty_name_is_told_and_not_what_follows_from_it() {
        let of = |parameter: &str, local: &str| {
            faults(&format!(
                "kernel = \"k\"\ngroups = [\"l\", \"1\", \"1\"]\nparameters = [\n{{ name = \"n\", {parameter} }}]\nlocals = [\n{{ name = \"l\", {local} }}]\n"
            ))
        };
        let (parameter, local) = ("type = \"uint8\", min = 0, max = 9", "type = \"int32\"");
        assert_eq!(of(parameter, &format!("{local}, value = \"n\"")), []);
        let range = of("type = \"uint8\", min = 0, max = 300", "type = \"int32\", value = \"n\"");
        assert_eq!((range.len(), range[0].0), (1, 4), "{range:?}");
        let float = of("type = \"float32\", min = 0, max = 3", "type = \"int32\", value = \"1\"");
        assert_eq!((float.len(), float[0].0), (1, 4), "{float:?}");
        let unknown = of(parameter, "type = \"int32\", value = \"o\"");
        assert_eq!((unknown.len(), unknown[0].0), (1, 6), "{unknown:?}");
    }
}

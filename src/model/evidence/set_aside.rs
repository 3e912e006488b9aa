//! Kernels that a run went on without, because they do not compile (`certify --keep-going`).

use super::Campaign;
use crate::diagnostic::Diagnostic;
use crate::id::{KernelName, TestId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// A kernel of the project that does not compile: nothing of it was certified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetAsideKernel {
    /// Name of the kernel as in the project file.
    pub kernel: KernelName,
    /// Path of its source, relative to the project.
    pub source: String,
    /// Files that it includes, as far as they were found, by path relative to the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub included: Vec<String>,
    /// Tests that did not run because they name it, in project order; those that the command line
    /// left out are not among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestId>,
    /// What the compiler says against it, in the order in which it says it; never empty.
    pub diagnostics: Vec<StoredDiagnostic>,
}

impl SetAsideKernel {
    /// Whether a file is the kernel's source, or one that it includes.
    pub fn has_file(&self, path: &str) -> bool {
        self.source == path || self.included.iter().any(|included| included == path)
    }
}

/// What the compiler says against a kernel, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredDiagnostic {
    /// What kind of diagnostic it is: `glsl-syntax`, `bad-spirv` ...
    pub kind: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Path of the file that it is about, relative to the project; none: it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl StoredDiagnostic {
    /// What evidence stores of a diagnostic.
    pub fn of(diagnostic: &Diagnostic) -> Self {
        let location = diagnostic.location.as_ref();
        let position = location.and_then(|location| location.position);
        Self {
            kind: diagnostic.kind.to_owned(),
            message: diagnostic.message.clone(),
            file: location.map(|location| location.file.clone()),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
        }
    }
}

/// `glsl/k.comp:5:3: 'x' : undeclared identifier`
impl fmt::Display for StoredDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(f, "{number}:")?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.message)
    }
}

impl Campaign {
    /// Every test of the project that the run was made without: those that the command line left
    /// out, then those of kernels that were set aside, each once.
    pub fn tests_not_in_run(&self) -> Vec<TestId> {
        let of_set_aside = self.set_aside.iter().flat_map(|row| &row.tests);
        let mut seen = BTreeSet::new();
        self.left_out
            .iter()
            .chain(of_set_aside)
            .copied()
            .filter(|test| seen.insert(*test))
            .collect()
    }

    /// Whether the run was made without some test of the project.
    pub fn lacks_tests(&self) -> bool {
        !self.left_out.is_empty() || self.set_aside.iter().any(|row| !row.tests.is_empty())
    }

    /// Whether a kernel of the project was set aside.
    pub fn has_set_aside(&self, kernel: &KernelName) -> bool {
        self.set_aside.iter().any(|row| row.kernel == *kernel)
    }

    /// `3 of 13 kernels do not compile and were set aside`; none where there is none.
    pub fn set_aside_in_words(&self) -> Option<String> {
        let count = self.set_aside.len();
        if count == 0 {
            return None;
        }
        let certified = self.settings.as_ref().map_or(0, |settings| settings.kernels.len());
        let verbs = if count == 1 { "does not compile and was" } else { "do not compile and were" };
        let kernels = crate::wording::plural(count + certified, "kernel", "kernels");
        Some(format!("{count} of {kernels} {verbs} set aside"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Position;

    #[test]
    fn a_diagnostic_is_stored_with_its_place() {
        let whole = Diagnostic::new("glsl-syntax", "'x' : undeclared identifier")
            .at_position("glsl/k.comp", Position { line: 5, column: 3 });
        let of_file = Diagnostic::new("bad-spirv", "3 bytes are no SPIR-V module").in_file("k.spv");
        let without_place = Diagnostic::new("usage", "a macro definition holds a NUL byte");
        for (diagnostic, expected) in [
            (whole, "glsl/k.comp:5:3: 'x' : undeclared identifier"),
            (of_file, "k.spv: 3 bytes are no SPIR-V module"),
            (without_place, "a macro definition holds a NUL byte"),
        ] {
            let stored = StoredDiagnostic::of(&diagnostic);
            assert_eq!(stored.to_string(), expected);
            assert_eq!(stored.kind, diagnostic.kind);
        }
    }
}

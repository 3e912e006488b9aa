//! Structs of C and C++ headers as a compiler lays them out.
//!
//! Knows: libclang, which is loaded when a header is read and not before; what its syntax tree says
//! of a struct under a stated target, language standard, definitions and include folders.
//! Promises: offsets, sizes and types are the compiler's. What has no layout that can be compared
//! (unions, bit-fields, pointers, bases, virtual functions) is kept by name. The compiler runs in a
//! process of its own with limits on time and memory, so that no header stops the program.
//! Does not cover: what the host program does with the struct.

mod file_names;
mod library;
mod members;
mod naming;
mod parsing;
mod process;
mod silenced;
mod syntax_tree;

pub use library::{INSTALL_COMMAND, find_library};
pub use parsing::answer_request;
pub use process::read_header;

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::requirement::HostContents;

/// What is read of which header.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HeaderRequest {
    /// Path relative to the folder that the compiler runs in.
    pub file: String,
    /// Qualified name of a struct, or of a type that stands for one; `struct` or `typedef` in front
    /// of it says which of both.
    pub structure: String,
    /// Target triple.
    pub target: String,
    /// Language standard: `c11`, `c++17`.
    pub standard: String,
    /// Macros, by name.
    pub defines: BTreeMap<String, String>,
    /// Include folders, relative to the same folder.
    pub include: Vec<String>,
    /// Further flags of the compiler.
    pub flags: Vec<String>,
    /// Folder with the target's own headers, relative to the same folder.
    pub sysroot: Option<String>,
}

/// What came of a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum HeaderOutcome {
    /// The struct.
    Read(Box<ReadStruct>),
    /// The header has errors, or is more than the limits allow.
    Faulty(Vec<HeaderFault>),
    /// It declares no struct of that name.
    NoStruct {
        /// Names that it declares.
        declared: BTreeSet<String>,
    },
    /// It declares several types of that name.
    SeveralTypes,
    /// The library cannot be used.
    Unusable(String),
}

/// A struct as a compiler lays it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadStruct {
    /// What the compiler calls itself.
    pub reader: String,
    /// The struct.
    pub contents: HostContents,
    /// Files of the project that were read, by their paths in it.
    pub project_files: BTreeSet<String>,
    /// Files outside of the project that its files include, as `#include <...>` names them.
    pub outside_files: BTreeSet<String>,
}

/// An error in a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderFault {
    /// The compiler's words.
    pub message: String,
    /// The file; none where the error is in no file (the target, the language standard).
    pub file: Option<String>,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1.
    pub column: u32,
}

impl HeaderFault {
    /// An error about a file as a whole.
    fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { message: message.into(), file: Some(file.to_owned()), line: 1, column: 1 }
    }
}

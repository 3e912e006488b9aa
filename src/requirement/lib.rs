//! Requirements, tests, justifications and interfaces of a project, and test procedures outside
//! one: reading, checking, tracing.
//!
//! Knows: what `vkcert.toml`, `requirements/**/*.toml` and test-procedure files must hold to be
//! consistent.
//! Promises: what [`load_project`] and [`load_procedure`] return is free of unknown keys, duplicate
//! names, dangling references and cycles; every problem is a diagnostic with its place, and many
//! are reported at once.
//! Does not cover: the kernels' own text and modules, sizes and layouts (`exec::prepare`), verdicts
//! (`exec::judge`).

mod check;
mod check_document;
mod check_headers;
mod check_interface;
mod check_justification;
mod check_requirements;
mod check_structs;
mod check_test;
#[cfg(test)]
mod check_tests;
mod check_texts;
pub mod code;
pub mod document;
pub mod hash;
pub mod host;
mod load;
mod load_procedure;
#[cfg(test)]
mod load_tests;
pub mod nearest;
pub mod pin;
mod pipeline;
#[cfg(test)]
mod procedure_tests;
#[cfg(test)]
mod project_folder;
pub mod reach;
#[cfg(test)]
mod reach_tests;
pub mod schema;
mod set_aside;
pub mod status;
#[cfg(test)]
mod status_tests;
mod target_triple;
pub mod trace;

pub use document::{Located, Origin};
pub use load::{
    PROJECT_FILE, Project, is_requirement_file, load_project, load_project_with,
    load_stored_project, requirement_files,
};
pub use load_procedure::{ProcedureFile, load_procedure, parse_procedure};
pub use set_aside::SetAside;

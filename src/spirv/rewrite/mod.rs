//! Modules made from modules.
//!
//! Knows: the logical layout of a module (SPIR-V specification, section 2.4): a [`ModuleDraft`]
//! keeps its sections and their order, finds or declares types and constants, and gives new ids
//! from the module's bound on. [`InstructionEdits`] say what goes before or in the place of
//! instructions of a function, a [`Rewrite`] does so while it copies.
//! Promises: ids of the original keep their numbers; what no edit names is copied as it is.
//! Does not cover: whether the result is valid; each pass is held to the validator by its tests.
//!
//! Outlining (`outline`) works on words, because it prepares modules for the validator that nobody
//! has checked yet.

mod draft;
mod edits;
pub mod outline;
mod writer;

#[cfg(test)]
mod tests;

pub use draft::{ModuleDraft, StorageBlock, has_own_storage_class, new_instruction};
pub use edits::{InstructionEdits, Rewrite};
pub use writer::ModuleWriter;

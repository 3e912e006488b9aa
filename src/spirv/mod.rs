//! SPIR-V modules: reading, reflection, control flow, effects.
//!
//! Knows: the binary form and the meaning of declarations. Every layer below reads modules through this one.
//! Promises: a [`module::Module`] is parsed once and immutable; passes make new word streams.
//! Does not cover: execution (`exec`), coverage records (`instrument`).

pub mod calls;
pub mod cfg;
pub mod constants;
pub mod effects;
pub mod fold;
pub mod locate;
pub mod module;
mod pieces;
pub mod precision;
pub mod reflect;
pub mod types;
pub mod uniformity;
pub mod validate;

#[cfg(test)]
pub(crate) mod tests;

//! SPIR-V modules: reading, reflection, control flow, opcodes and their effects.
//!
//! Knows: the binary form and the meaning of declarations. Every layer below reads modules through
//! this one.
//! Promises: a [`module::Module`] is parsed once and immutable; passes make new word streams.
//! Does not cover: execution (`exec`), coverage records (`instrument`).

pub mod barriers;
pub mod calls;
pub mod cfg;
pub mod changed_code;
pub mod constants;
pub mod float_controls;
pub mod flow;
pub mod fold;
pub mod foreign;
pub mod identity;
pub mod interface;
pub mod locate;
pub mod memory_semantics;
pub mod module;
mod module_index;
mod nesting;
pub mod normal_form;
pub mod opcodes;
pub mod operation;
pub mod pairs;
pub mod precision;
pub mod range;
pub mod rewrite;
pub mod touched;
pub mod types;
pub mod uniformity;
pub mod validate;

#[cfg(test)]
mod compile_tests;
#[cfg(test)]
mod identity_tests;
#[cfg(test)]
use validate::TargetEnv;
#[cfg(test)]
mod tests;

//! A second measurement: kernels as C++ programs, built and measured by a compiler that knows
//! nothing of this tool.
//!
//! Knows: what the emitted program needs to be told of a kernel's interface ([`interface`]), how a
//! test's data reaches it ([`job`]), how clang builds, runs and measures it ([`clang`]), what
//! llvm-cov says of its decisions ([`coverage`]), and how that compares with what the engines
//! recorded ([`comparison`]).
//! Promises: the compiler's own words decide what it could measure; where it could not, its reason
//! is in the table, and what was not compared never counts as agreement.
//! Does not cover: translating (`glsl::cpp`), running the engines (`cli`).

pub mod clang;
pub mod comparison;
pub mod coverage;
pub mod interface;
pub mod job;
pub mod table;

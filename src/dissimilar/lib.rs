//! A second measurement: kernels as C++ programs, built and measured by a compiler that knows
//! nothing of this tool.
//!
//! Knows: the kernel's interface that the emitted program needs ([`interface`]), how a test's data
//! reaches it ([`job`]), how clang builds, runs and measures it ([`clang`]), how llvm-cov reports
//! its decisions ([`coverage`]), and how that compares with the records of the engines
//! ([`comparison`]).
//! Promises: the compiler decides what it can measure; where it cannot, its reason is in the table,
//! and what was not compared never counts as agreement.
//! Does not cover: translating (`glsl::cpp`), running the engines (`cli`).

pub mod clang;
pub mod comparison;
pub mod coverage;
pub mod interface;
pub mod job;
pub mod table;

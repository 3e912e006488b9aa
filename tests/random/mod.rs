//! Random valid compute kernels over what the sequential engine runs.
//!
//! A kernel is a function of its seed alone (`frame::kernel`), its data too (`host::job`). It has
//! no undefined behaviour: divisors are not zero, shifts are below the width, indices in range,
//! every variable has a value before it is read, barriers stand in uniform control flow, no two
//! invocations meet in memory but by atomics that commute. So a finding is a defect of the engine,
//! and so is a difference between any two runs.
//! Does not cover: results that the specification leaves open (docs/random-kernels.md has the
//! list).

#![allow(dead_code)]

pub(crate) mod expression;
pub(crate) mod faults;
pub(crate) mod float;
pub(crate) mod frame;
pub(crate) mod host;
pub(crate) mod reduce;
pub(crate) mod statement;
pub(crate) mod types;
pub(crate) mod writer;

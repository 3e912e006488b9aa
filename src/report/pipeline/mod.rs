//! Formats that other programs read: build servers, editors, viewers of coverage.
//!
//! Promises: none of them says more than the report for people. What is not covered by a test is
//! not covered here, justified or not; of a line that several kernels, configurations or engines
//! have, the worst counts; evidence that does not verify says so in the file.

mod cobertura;
mod lcov;
mod source_coverage;
#[cfg(test)]
mod tests;
mod xml;

pub(super) use cobertura::Cobertura;
pub(super) use lcov::Lcov;

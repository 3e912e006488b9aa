//! Formats that other programs read: build servers, editors, viewers of coverage.
//!
//! Promises: none of them says more than the report for people. What is not covered by a test is
//! not covered here, justified or not; of a line that several kernels, configurations or engines
//! have, the worst counts; evidence that does not verify says so in the file.

mod cobertura;
#[cfg(test)]
mod cobertura_tests;
mod command_lines;
mod declared;
mod junit;
mod lcov;
mod lines;
mod mutants;
mod notices;
#[cfg(test)]
mod result_tests;
mod rules;
mod sarif;
mod source_coverage;
#[cfg(test)]
mod tests;
mod xml;
#[cfg(test)]
mod xml_reader;

pub(super) use cobertura::Cobertura;
pub use command_lines::{InterfacePlaces, ProcedurePlaces, coupling_lines, outcome_lines};
pub(super) use junit::Junit;
pub(super) use lcov::Lcov;
pub use lines::{DiagnosticLine, LineForm, LineLevel, result_lines};
pub(super) use mutants::Mutants;
pub(super) use sarif::Sarif;

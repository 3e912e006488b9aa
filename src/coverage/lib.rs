//! Structural coverage: what the records of passed tests show, as pure calculus.
//!
//! Knows: `model`, and from `glsl` which functions are pure. Reads a kernel's structure, the layout
//! of its records, which markers its module holds, and the records of the tests that passed; makes
//! obligations with their status.
//! Promises: no obligation is dropped: what cannot be measured is `undetermined`, with the reason.
//! Does not cover: running tests and decoding record buffers (`exec`, `instrument`), MC/DC of the
//! host program.

pub mod acceptance;
pub mod assess;
mod average;
pub mod barrier;
pub mod boundary;
pub mod closing;
mod combination;
pub mod command;
pub mod coupling;
pub mod criteria;
pub mod decision;
mod explanation;
pub mod expression;
pub mod independence;
pub mod justification;
pub mod layout;
pub mod limits;
pub mod mcdc;
pub mod numbering;
pub mod object;
mod person;
mod resolution;
pub mod statement;
mod subject;
mod uncounted;
mod undefined;
pub mod vector_fault;

#[cfg(test)]
mod assess_tests;
#[cfg(test)]
mod definition_tests;
#[cfg(test)]
mod statement_tests;

pub use assess::{assess, contradictions};
pub use average::average_statement;
pub use command::{McdcResult, mcdc_command};
pub use criteria::{CRITERIA, Criterion, CriterionSubject};
pub use justification::{
    ApproverRule, HashBinding, JustificationStandard, JustifiedCoverage, apply_justifications,
};
pub use person::may_be_same_person;
pub use subject::{CoverageSubject, ProposalRules};
pub use uncounted::name_uncounted_tests;
pub use undefined::{covered_through_undefined, leave_undetermined};

//! What is assessed, and how what cannot happen is proposed.
//!
//! Does not cover: the records of tests.

use vkcert_model::evidence::{Configuration, FIRST_SCHEMA};
use vkcert_model::records::{Presence, RecordLayout};
use vkcert_model::structure::KernelStructure;

/// What is assessed: a kernel's structure, where its records stand, what its module holds under a
/// configuration.
#[derive(Debug, Clone, Copy)]
pub struct CoverageSubject<'a> {
    pub structure: &'a KernelStructure,
    pub layout: &'a RecordLayout,
    pub presence: &'a Presence,
    pub configuration: &'a Configuration,
    pub proposing: ProposalRules,
}

/// Which classes are proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalRules {
    Current,
    /// As evidence of format 1 has them: extraneous choices, dead code whether the module holds it
    /// or not.
    AsInFirstFormat,
}

impl ProposalRules {
    /// Of evidence of a format.
    pub fn for_schema(schema: u32) -> Self {
        if schema == FIRST_SCHEMA { ProposalRules::AsInFirstFormat } else { ProposalRules::Current }
    }
}

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
    /// What the front end read from the source.
    pub structure: &'a KernelStructure,
    /// Which bit of the records stands for what.
    pub layout: &'a RecordLayout,
    /// Which markers the compiled module holds.
    pub presence: &'a Presence,
    /// The production configuration that the records belong to.
    pub configuration: &'a Configuration,
    /// Which classes proposals have.
    pub proposing: ProposalRules,
}

/// Which classes are proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalRules {
    /// As this version has them.
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

//! What the engine cannot run, by name.

/// What the engine cannot run, by its SPIR-V name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Unsupported {
    /// The instruction, capability or form that is missing, by name.
    pub what: String,
}

/// Shorthand for an error by name.
pub(super) fn unsupported(what: impl Into<String>) -> Unsupported {
    Unsupported { what: what.into() }
}

//! Which of a range of permitted results a varied run takes.

/// A result of the permitted range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermittedChoice {
    Computed,
    Low,
    High,
}

//! Which of a range of permitted results a varied run takes.

/// Of a range of permitted results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermittedChoice {
    Computed,
    Low,
    High,
}

//! How large a decision may be for the calculus to be exact.

/// Most conditions that one decision may have.
pub const MAX_CONDITIONS: usize = 128;

/// Most vectors, at hand or possible, that the calculus lists and searches.
pub const MAX_VECTORS: usize = 65_536;

/// Vectors excluded by coupling that are listed.
pub(crate) const MAX_EXCLUDED: usize = 64;

//! Tests of `vkcert verify`: evidence that the program makes, forged in every way.

#[cfg(test)]
mod agreement_tests;
#[cfg(any(test, feature = "fuzzing"))]
mod compiled;
#[cfg(test)]
mod extent_tests;
#[cfg(test)]
mod forged_tests;
#[cfg(any(test, feature = "fuzzing"))]
mod forgery;
#[cfg(test)]
mod mutation_forgery_tests;
#[cfg(test)]
mod tests;

#[cfg(feature = "fuzzing")]
pub use forgery::survive_changes;

//! The capture of a running host program: its file, and what the program did.
//!
//! Knows: the events that the layer (`src/capture_layer/`) records ([`event`], [`command`],
//! [`image`], [`reading`]), the file that holds them ([`file`]) and the program that they come to ([`program`]).
//! Promises: a file that is damaged or contradicts itself ends in a diagnostic that names the
//! record.
//! Does not cover: whether what the program did is right.

pub mod command;
pub mod event;
pub mod file;
pub mod format;
pub mod image;
mod pipeline;
pub mod program;
pub mod reading;
pub mod value;

/// The schema of a record as JSON has it.
pub fn record_schema() -> schemars::Schema {
    schemars::schema_for!(event::Record)
}

#[cfg(test)]
mod reading_tests;
#[cfg(test)]
mod tests;

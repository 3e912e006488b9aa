//! How a job ends before anything runs.

use crate::decode::Unsupported;
use vkcert_exec::{Completion, ExecError};

/// Why a job ends early, as a completion.
pub(crate) enum Early {
    Completion(Completion),
    Failure(ExecError),
}

impl From<Unsupported> for Early {
    fn from(error: Unsupported) -> Self {
        Early::Completion(Completion::Unsupported { what: error.what })
    }
}

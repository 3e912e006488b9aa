//! How a job ends before anything runs.

use crate::decode::Unsupported;
use vkcert_exec::{Completion, ExecError};

/// Why a job ends early, as a completion.
pub(crate) enum EarlyEnd {
    Completion(Completion),
    Failure(ExecError),
}

impl From<Unsupported> for EarlyEnd {
    fn from(error: Unsupported) -> Self {
        EarlyEnd::Completion(Completion::Unsupported { what: error.what })
    }
}

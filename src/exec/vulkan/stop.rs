//! Why a job stops before its end: its own ending, or a call that failed.

use super::device::CallFailure;
use super::protocol::Ending;

/// Why a job stops before its end.
pub(crate) enum JobStop {
    Ending(Ending),
    Call(CallFailure),
}

impl From<Ending> for JobStop {
    fn from(ending: Ending) -> Self {
        Self::Ending(ending)
    }
}

impl From<CallFailure> for JobStop {
    fn from(failure: CallFailure) -> Self {
        Self::Call(failure)
    }
}

//! What instructions of the machine leave that give no value.

use super::state::Machine;
use super::undefined_contents::{Unwritten, Whose};
use vkcert_model::random::mix_bits;

impl Machine<'_> {
    /// The unwritten words of the workgroup at hand.
    pub(super) fn unwritten(&self, whose: Whose) -> Unwritten {
        Unwritten::of(self.settings.variation, whose, self.scheduler.workgroup_index)
    }

    /// What an instruction leaves that gives no value, or takes it away.
    pub(super) fn unwritten_now(&self) -> Unwritten {
        Unwritten::of(
            self.settings.variation,
            Whose::Execution,
            mix_bits(self.scheduler.workgroup_index) ^ self.scheduler.steps_left,
        )
    }
}

//! The unwritten words that instructions without a result value leave.

use super::state::Machine;
use super::undefined_contents::{UnwrittenWords, WordOwner};
use vkcert_model::random::mix_bits;

impl Machine<'_> {
    /// The unwritten words of the workgroup at hand.
    pub(super) fn unwritten_words(&self, word_owner: WordOwner) -> UnwrittenWords {
        UnwrittenWords::for_owner(
            self.settings.variation,
            word_owner,
            self.scheduler.workgroup_index,
        )
    }

    /// What an instruction leaves that gives no value, or takes it away.
    pub(super) fn unwritten_now(&self) -> UnwrittenWords {
        UnwrittenWords::for_owner(
            self.settings.variation,
            WordOwner::Execution,
            mix_bits(self.scheduler.workgroup_index) ^ self.scheduler.steps_left,
        )
    }
}

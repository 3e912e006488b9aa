//! What a test notices of altered contents: whether its expectations would fail if a kernel had stored something else.
//!
//! Promises: the names that evidence stores. Does not cover: how contents are altered and tried.

use super::id::KernelName;
use super::verdict::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How stored elements are altered, always at the scale of the values that stand there (`exec::alteration`). The order is that of the trials.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Alteration {
    /// The scale is added.
    Shifted,
    /// Every byte is 0.
    Zeroed,
    /// Of unsigned integers: what is missing to the scale.
    Negated,
    /// The value is twice what it was.
    Doubled,
    /// Each element holds what the next one of its group held.
    Rotated,
    /// Each element holds what it held before the dispatch, where that was defined and is of the scale.
    Unstored,
}

impl Alteration {
    /// Every alteration, in the order of the trials.
    pub const ALL: [Self; 6] =
        [Self::Shifted, Self::Zeroed, Self::Negated, Self::Doubled, Self::Rotated, Self::Unstored];
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Alteration::Shifted => "shifted",
            Alteration::Zeroed => "zeroed",
            Alteration::Negated => "negated",
            Alteration::Doubled => "doubled",
            Alteration::Rotated => "rotated",
            Alteration::Unstored => "unstored",
        })
    }
}

/// Which elements are altered.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AlteredExtent {
    /// Those that hold something else after the only dispatch than before.
    Changed,
    /// Those that the dispatch stored to.
    Stored,
    /// Those that it can store to, by its code, and did not.
    Storable,
}

/// An alteration that the test does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoticedAlteration {
    /// The dispatch whose stores were altered, counted from 0.
    pub dispatch: u32,
    /// Which of its stores were altered.
    pub extent: AlteredExtent,
    /// How they were altered.
    pub alteration: Alteration,
}

/// What altered contents of a kernel's stores did to a test that had passed on the sequential engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlteredStores {
    /// The kernel whose stores were altered.
    pub kernel: KernelName,
    /// Its dispatches under one specialization, as far as their code says that the test judges them; counted from 0.
    pub dispatches: Vec<u32>,
    /// The first alteration found that fails the test; none: every one that was tried passes.
    pub noticed: Option<NoticedAlteration>,
    /// Those of the dispatches of which later ones overwrite all that they stored before anything can read it: not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overwritten: Vec<u32>,
    /// Those of the dispatches that were tried as well, and none of whose tried alterations fails the test: only what others stored
    /// is shown to be judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unnoticed: Vec<u32>,
}

/// What a run of the sequential engine is held to: altered contents are tried where it passed, and stay where a rule has taken
/// the pass back; none of another run.
pub fn failed_alterations(verdict: Verdict, altered: &[AlteredStores]) -> Option<&[AlteredStores]> {
    (verdict == Verdict::Pass || !altered.is_empty()).then_some(altered)
}

impl fmt::Display for AlteredStores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.noticed {
            Some(noticed) => {
                write!(f, "{}: fails where its stores are {}", self.kernel, noticed.alteration)?
            }
            None => write!(
                f,
                "{}: none of the tried alterations of its stores fails the test",
                self.kernel
            )?,
        }
        let all = self.dispatches.len();
        if !self.overwritten.is_empty() {
            write!(
                f,
                "; {} of its {all} dispatches are overwritten unread",
                self.overwritten.len()
            )?;
        }
        match self.unnoticed.len() {
            0 => Ok(()),
            count => {
                write!(f, "; none of those tried on {count} of its {all} dispatches fails the test")
            }
        }
    }
}

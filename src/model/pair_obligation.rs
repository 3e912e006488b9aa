//! Obligations of coupling coverage: pairs of a statement (or the host) that writes a value and a
//! statement on another side that reads it.
//!
//! Knows: which instruction pairs stand for an obligation, where both sides stand in the source.
//! Promises: numbers follow the order of the uses in the module; the text names object, both places
//! and what lies between.
//! Does not cover: which pairs a kernel has (`spirv::pairs`) and which of them tests show
//! (`coverage::coupling`).

use super::access_pair::{AccessPair, Passage, ReadDescriptor};
use super::id::{KernelName, PairId, StatementId};
use super::place::Place;
use super::records::Reach;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Between which sides a value passes, or control.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CouplingClass {
    /// The host gives it and a kernel reads it.
    HostToKernel,
    /// A dispatch leaves it in memory and a later one reads it.
    KernelToKernel,
    /// An invocation writes it and another one of its workgroup reads it behind a barrier.
    InvocationToInvocation,
    /// An invocation writes it and another one reads it by atomics, or ordered by them.
    Atomic,
    /// The invocations of a workgroup wait for each other at a barrier.
    Barrier,
    /// A function of the source calls another one.
    Call,
}

impl CouplingClass {
    /// Every class, in the order of reports.
    pub const ALL: [CouplingClass; 6] = [
        CouplingClass::HostToKernel,
        CouplingClass::KernelToKernel,
        CouplingClass::InvocationToInvocation,
        CouplingClass::Atomic,
        CouplingClass::Barrier,
        CouplingClass::Call,
    ];

    /// The class of what passes in this way.
    pub fn of_passage(passage: Passage) -> Self {
        match passage {
            Passage::Host => CouplingClass::HostToKernel,
            Passage::Dispatch { .. } => CouplingClass::KernelToKernel,
            Passage::Barrier { .. } => CouplingClass::InvocationToInvocation,
            Passage::Atomic { .. } | Passage::Unordered { .. } => CouplingClass::Atomic,
        }
    }

    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            CouplingClass::HostToKernel => "host-to-kernel",
            CouplingClass::KernelToKernel => "kernel-to-kernel",
            CouplingClass::InvocationToInvocation => "invocation-to-invocation",
            CouplingClass::Atomic => "atomic",
            CouplingClass::Barrier => "barrier",
            CouplingClass::Call => "call",
        }
    }
}

/// How a run shows an obligation.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ShownBy {
    /// The use reads what the definition wrote.
    #[default]
    Read,
    /// The use is executed: what it uses is always the host's.
    Execution,
}

/// What tells a side from others in the source.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NamedBy {
    /// Its statement or place.
    #[default]
    Place,
    /// Its instruction: several statements have this place, such as those of one use of a macro.
    Instruction,
}

/// One side of an obligation in the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairPlace {
    /// The kernel, where it is another one than that of the obligation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelName>,
    /// Path of the source file, relative to the project; of a module without debug lines empty.
    pub file: String,
    /// 1-based line; 0 where it is not known.
    pub line: u32,
    /// 1-based column; 0 where it is not known.
    pub column: u32,
    /// Name of the function, or its id as `%12` where it has none.
    pub function: String,
    /// Word offset of the instruction in the module.
    pub instruction: u32,
    /// The statement that it stands in; none without source, and between statements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<StatementId>,
    /// Source text of the statement or line, white space collapsed; empty without source.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What tells it from others.
    #[serde(default, skip_serializing_if = "is_named_by_place")]
    pub named_by: NamedBy,
}

/// A barrier between the two sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairBarrier {
    /// Its number among the barriers of the kernel, from 1 in source order.
    pub number: u32,
    /// Where it stands.
    pub place: PairPlace,
}

/// What tests have to show of the coupling of a kernel under a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct KernelPairs {
    /// The obligations, in the order of the uses in the module.
    pub obligations: Vec<PairObligation>,
    /// Why they cannot be told; none: all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// Bindings whose contents the host never writes, as its interface says: what the host gives
    /// through them in a test is no obligation.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unwritten_by_host: BTreeSet<ReadDescriptor>,
    /// Of each kernel that an obligation says wrote in an earlier dispatch: `sha256:` and the hash of
    /// its code and configurations, which justifications are bound to as well.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub earlier_kernels: BTreeMap<KernelName, String>,
    /// Pairs that tests showed, whether they count or not, and no obligation has, ascending: `PX1`,
    /// `PX2` ...
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub pairs_outside: BTreeSet<AccessPair>,
    /// Where instructions of these pairs stand, by source index.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places_outside: BTreeMap<u32, Place>,
}

/// A pair that tests have to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairObligation {
    /// Its name in the kernel.
    pub id: PairId,
    /// Between which sides the value passes.
    pub class: CouplingClass,
    /// The part of the object that both access, in GLSL's words without indices: `stars[].flags`.
    pub object: String,
    /// Where the value is written; none where the host gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<PairPlace>,
    /// Where it is read.
    #[serde(rename = "use")]
    pub use_place: PairPlace,
    /// The barrier that it passes; of class `invocation-to-invocation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub barrier: Option<PairBarrier>,
    /// How runs show it.
    #[serde(default, skip_serializing_if = "is_shown_by_read")]
    pub shown_by: ShownBy,
    /// Whether the configuration lets control come to both sides.
    #[serde(default, skip_serializing_if = "is_possible")]
    pub reach: Reach,
    /// The instruction pairs that stand for it, ascending; each shows it.
    pub pairs: Vec<AccessPair>,
}

fn is_shown_by_read(shown_by: &ShownBy) -> bool {
    *shown_by == ShownBy::Read
}

fn is_named_by_place(named_by: &NamedBy) -> bool {
    *named_by == NamedBy::Place
}

fn is_possible(reach: &Reach) -> bool {
    *reach == Reach::Possible
}

impl fmt::Display for PairPlace {
    /// `line:column`, as far as they are known; else function and word. The word, too, where
    /// several statements have the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => return write!(f, "{}+word {}", self.function, self.instruction),
            (line, 0) => write!(f, "{line}")?,
            (line, column) => write!(f, "{line}:{column}")?,
        }
        match self.named_by {
            NamedBy::Place => Ok(()),
            NamedBy::Instruction => write!(f, " (word {})", self.instruction),
        }
    }
}

/// `tile[]: written at 31:5 -> read at 38:20 across barrier 1`.
impl fmt::Display for PairObligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.object)?;
        match &self.definition {
            None => f.write_str("given by the host")?,
            Some(definition) => {
                f.write_str("written ")?;
                if let Some(kernel) = &definition.kernel {
                    write!(f, "by {kernel} ")?;
                }
                self.write_place(f, definition)?;
            }
        }
        f.write_str(match self.shown_by {
            ShownBy::Read => " -> read ",
            ShownBy::Execution => " -> used ",
        })?;
        write!(f, "at {}", self.use_place)?;
        match (&self.barrier, self.class) {
            (Some(barrier), _) => write!(f, " across barrier {}", barrier.number),
            (None, CouplingClass::Atomic) => f.write_str(" by atomics"),
            (
                None,
                CouplingClass::HostToKernel
                | CouplingClass::KernelToKernel
                | CouplingClass::InvocationToInvocation
                | CouplingClass::Barrier
                | CouplingClass::Call,
            ) => Ok(()),
        }
    }
}

impl PairObligation {
    /// The file is named where it is another one than that of the use.
    fn write_place(&self, f: &mut fmt::Formatter<'_>, place: &PairPlace) -> fmt::Result {
        if place.file == self.use_place.file || place.file.is_empty() {
            write!(f, "at {place}")
        } else {
            write!(f, "at {}:{place}", place.file)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32, column: u32) -> PairPlace {
        PairPlace {
            kernel: None,
            file: "k.comp".to_owned(),
            line,
            column,
            function: "main".to_owned(),
            instruction: 7,
            statement: None,
            text: String::new(),
            named_by: NamedBy::Place,
        }
    }

    fn obligation(class: CouplingClass, definition: Option<PairPlace>) -> PairObligation {
        PairObligation {
            id: PairId(1),
            class,
            object: "tile[]".to_owned(),
            definition,
            use_place: place(38, 20),
            barrier: None,
            shown_by: ShownBy::Read,
            reach: Reach::Possible,
            pairs: Vec::new(),
        }
    }

    #[test]
    fn an_obligation_names_its_sides_and_what_lies_between() {
        let barrier = Some(PairBarrier { number: 1, place: place(33, 5) });
        let across = PairObligation {
            barrier,
            ..obligation(CouplingClass::InvocationToInvocation, Some(place(31, 5)))
        };
        assert_eq!(across.to_string(), "tile[]: written at 31:5 -> read at 38:20 across barrier 1");
        let host = obligation(CouplingClass::HostToKernel, None);
        assert_eq!(host.to_string(), "tile[]: given by the host -> read at 38:20");
        let used = PairObligation { shown_by: ShownBy::Execution, ..host };
        assert_eq!(used.to_string(), "tile[]: given by the host -> used at 38:20");
        let atomic = obligation(CouplingClass::Atomic, Some(place(31, 0)));
        assert_eq!(atomic.to_string(), "tile[]: written at 31 -> read at 38:20 by atomics");
        let other = PairPlace {
            kernel: Some("first".into()),
            file: "first.comp".to_owned(),
            ..place(0, 0)
        };
        let dispatch = obligation(CouplingClass::KernelToKernel, Some(other));
        assert_eq!(
            dispatch.to_string(),
            "tile[]: written by first at first.comp:main+word 7 -> read at 38:20"
        );
    }
}

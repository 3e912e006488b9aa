//! Mutation operators: the faults that are put into kernels to see whether their tests notice.
//!
//! Knows: every operator once, with its code, what it does and where it is from.
//! Promises: help texts, documents and campaigns iterate [`MUTATION_OPERATORS`].
//! Does not cover: where in a kernel an operator applies (`glsl::mutation`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A kind of small fault; in the order of the table.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum MutationOperator {
    /// `<` for `<=` and the like.
    ConditionalBoundary,
    /// `++` for `--`.
    IncrementReplacement,
    /// `&&` for `||`.
    ConditionalOperator,
    /// An arithmetic or bitwise operator for another one.
    MathReplacement,
    /// `<` for `>=` and the like.
    NegatedConditional,
    /// `+=` for `-=` and the like.
    AssignmentOperator,
    /// `-a` for `a`.
    NegationInsertion,
    /// `a` for `!a`.
    NotDeletion,
    /// `a` for `-a` or `~a`.
    ArithmeticDeletion,
    /// `true` or `false` for a comparison.
    ConditionDeletion,
    /// Two sizes of the workgroup, or two counts of workgroups, exchanged.
    SizeExchange,
    /// A size of the workgroup, or a count of workgroups, plus one.
    SizeIncrement,
    /// A size of the workgroup, or a count of workgroups, minus one.
    SizeDecrement,
    /// Memory of the workgroup as memory of each invocation.
    SharedRemoval,
    /// One built-in index for another.
    IndexReplacement,
    /// A built-in index plus one.
    IndexIncrement,
    /// A built-in index minus one.
    IndexDecrement,
    /// No barrier.
    BarrierRemoval,
    /// An atomic operation as plain reading and writing.
    AtomicReplacement,
    /// No barrier between two dispatches.
    DispatchBarrierRemoval,
    /// No fence.
    FenceRemoval,
    /// Any comparison for another one.
    RelationalReplacement,
    /// A condition that is always true or always false.
    StuckCondition,
    /// A condition negated.
    NegatedCondition,
    /// A decision negated.
    NegatedDecision,
    /// `&&`, `||` and `^^` for each other.
    LogicalExchange,
    /// A barrier in the guard before it.
    BarrierIntoGuard,
    /// A fence, barrier or atomic operation of other or less memory, or of a smaller scope.
    FenceWeakening,
    /// The bound of a loop plus or minus one.
    LoopBound,
    /// The start of a loop plus or minus one.
    LoopStart,
    /// A loop that is not entered.
    LoopSkipped,
    /// A literal as 0, as 1, plus one and minus one.
    LiteralReplacement,
    /// An index of an array plus or minus one.
    OffsetReplacement,
    /// Components of a vector exchanged.
    ComponentExchange,
    /// A coordinate, level or layer of an image plus one.
    ImageCoordinate,
    /// `int` for `uint` in a conversion.
    SignednessExchange,
    /// No statement.
    StatementDeletion,
    /// A return before a statement.
    EarlyReturn,
    /// `~a` for `a`.
    ComplementInsertion,
    /// `&=`, `|=`, `^=`, `<<=` and `>>=` for each other.
    BitwiseAssignment,
    /// One atomic operation for another.
    AtomicExchange,
    /// One operation of a subgroup for another.
    SubgroupExchange,
    /// Memory that is not `coherent` or not `volatile`.
    QualifierRemoval,
    /// Members of a block of push constants exchanged.
    PushConstantExchange,
    /// A specialization constant plus one, minus one, or negated.
    SpecializationOffset,
    /// A cluster of a subgroup of half the size.
    ClusterHalving,
    /// No order of memory accesses.
    MemoryOrderRelaxation,
}

/// Where an operator is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorSource {
    /// Y. Liu, Testing and Mutation Testing for GPU Kernels, University of Twente 2023, tables 6.1 and
    /// 6.2.
    Thesis,
    /// What a test set for MC/DC must tell from the kernel.
    Conditions,
    /// Faults that kernels had.
    Kernels,
}

/// A row of [`MUTATION_OPERATORS`].
pub struct MutationOperatorRow {
    /// The operator.
    pub operator: MutationOperator,
    /// As the command line and evidence have it.
    pub code: &'static str,
    /// Where it is from.
    pub source: OperatorSource,
    /// What it does, in words.
    pub description: &'static str,
}

const fn row(
    operator: MutationOperator,
    code: &'static str,
    source: OperatorSource,
    description: &'static str,
) -> MutationOperatorRow {
    MutationOperatorRow { operator, code, source, description }
}

use MutationOperator as Operator;
use OperatorSource::{Conditions, Kernels, Thesis};

/// Every operator, in the order in which a mutant that several of them make is named.
pub const MUTATION_OPERATORS: &[MutationOperatorRow] = &[
    row(Operator::ConditionalBoundary, "CBR", Thesis, "`<` and `<=`, `>` and `>=` for each other"),
    row(Operator::IncrementReplacement, "ARS", Thesis, "`++` and `--` for each other"),
    row(Operator::ConditionalOperator, "COR", Thesis, "`&&` and `||` for each other"),
    row(
        Operator::MathReplacement,
        "MR",
        Thesis,
        "`+` and `-`, `*` and `/`, `&` and `|`, `<<` and `>>` for each other; `*` for `%`, `&` for `^`",
    ),
    row(Operator::NegatedConditional, "NCR", Thesis, "a comparison for its opposite"),
    row(
        Operator::AssignmentOperator,
        "ASR",
        Thesis,
        "`+=` and `-=`, `*=` and `/=` for each other; `*=` for `%=`",
    ),
    row(Operator::NegationInsertion, "AIU", Thesis, "`-a` for `a`"),
    row(Operator::NotDeletion, "COD", Thesis, "`a` for `!a`"),
    row(Operator::ArithmeticDeletion, "AOD", Thesis, "`a` for `-a` and `~a`"),
    row(Operator::ConditionDeletion, "CSD", Thesis, "`true` and `false` for a comparison"),
    row(
        Operator::SizeExchange,
        "AS",
        Thesis,
        "two sizes of the workgroup, or two counts of workgroups, exchanged",
    ),
    row(
        Operator::SizeIncrement,
        "AI",
        Thesis,
        "a size of the workgroup, or a count of workgroups, plus one",
    ),
    row(
        Operator::SizeDecrement,
        "AD",
        Thesis,
        "a size of the workgroup, or a count of workgroups, minus one",
    ),
    row(Operator::SharedRemoval, "SHR", Thesis, "memory of the workgroup without `shared`"),
    row(
        Operator::IndexReplacement,
        "GIR",
        Thesis,
        "the index of the workgroup, the local and the global index of the invocation for each other",
    ),
    row(Operator::IndexIncrement, "GII", Thesis, "an index that GIR exchanges, plus one"),
    row(Operator::IndexDecrement, "GID", Thesis, "an index that GIR exchanges, minus one"),
    row(Operator::BarrierRemoval, "SYR", Thesis, "no barrier"),
    row(
        Operator::AtomicReplacement,
        "AR",
        Thesis,
        "an atomic operation as plain reading and writing",
    ),
    row(Operator::DispatchBarrierRemoval, "SCR", Thesis, "no barrier between two dispatches"),
    row(Operator::FenceRemoval, "FR", Thesis, "no fence"),
    row(Operator::RelationalReplacement, "ROR", Conditions, "each comparison for each other one"),
    row(
        Operator::StuckCondition,
        "SCO",
        Conditions,
        "a condition that is always true or always false",
    ),
    row(Operator::NegatedCondition, "NCO", Conditions, "a condition negated"),
    row(Operator::NegatedDecision, "NDE", Conditions, "a decision negated"),
    row(Operator::LogicalExchange, "LOX", Conditions, "`&&`, `||` and `^^` for each other"),
    row(Operator::BarrierIntoGuard, "BIG", Kernels, "a barrier moved into the guard before it"),
    row(
        Operator::FenceWeakening,
        "FWK",
        Kernels,
        "a fence of other or less memory, or of a smaller scope",
    ),
    row(Operator::LoopBound, "LBO", Kernels, "the bound of a loop plus or minus one"),
    row(Operator::LoopStart, "LST", Kernels, "the start of a loop plus or minus one"),
    row(Operator::LoopSkipped, "LSK", Kernels, "a loop that is not entered"),
    row(
        Operator::LiteralReplacement,
        "LIT",
        Kernels,
        "a literal as 0, as 1, plus one and minus one; `true` and `false` for each other",
    ),
    row(Operator::OffsetReplacement, "OFF", Kernels, "an index of an array plus or minus one"),
    row(Operator::ComponentExchange, "CEX", Kernels, "components of a vector exchanged"),
    row(
        Operator::ImageCoordinate,
        "IMC",
        Kernels,
        "a coordinate, level or layer of an image plus one",
    ),
    row(
        Operator::SignednessExchange,
        "SGN",
        Kernels,
        "`int` and `uint` in a conversion for each other",
    ),
    row(Operator::StatementDeletion, "SDL", Kernels, "no statement"),
    row(Operator::EarlyReturn, "ERT", Kernels, "a return before a statement"),
    row(Operator::ComplementInsertion, "CIN", Kernels, "`~a` for `a`"),
    row(
        Operator::BitwiseAssignment,
        "BAS",
        Kernels,
        "`&=`, `|=`, `^=`, `<<=` and `>>=` for each other",
    ),
    row(Operator::AtomicExchange, "ATX", Kernels, "one atomic operation for another"),
    row(Operator::SubgroupExchange, "SGX", Kernels, "one operation of a subgroup for another"),
    row(Operator::QualifierRemoval, "QRM", Kernels, "no `coherent`, no `volatile`"),
    row(
        Operator::PushConstantExchange,
        "PCX",
        Kernels,
        "neighbouring push constants of one type exchanged",
    ),
    row(
        Operator::SpecializationOffset,
        "SPC",
        Kernels,
        "a specialization constant plus one, minus one, negated",
    ),
    row(Operator::ClusterHalving, "SGC", Kernels, "a cluster of a subgroup of half the size"),
    row(Operator::MemoryOrderRelaxation, "MOR", Kernels, "a relaxed memory order"),
];

impl MutationOperator {
    /// The operator's row in [`MUTATION_OPERATORS`].
    pub fn row(self) -> &'static MutationOperatorRow {
        let mut rows = MUTATION_OPERATORS.iter();
        rows.find(|row| row.operator == self).expect("the table has a row for every operator")
    }

    /// As the command line and evidence have it.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// Whether it changes dispatches, beside texts of kernels or alone.
    pub fn makes_mutants_of_dispatches(self) -> bool {
        matches!(
            self,
            Operator::SizeExchange
                | Operator::SizeIncrement
                | Operator::SizeDecrement
                | Operator::DispatchBarrierRemoval
        )
    }
}

impl fmt::Display for MutationOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// A word that names no operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no mutation operator; there are {}", known_codes())]
pub struct UnknownOperator {
    /// The word.
    pub word: String,
}

fn known_codes() -> String {
    MUTATION_OPERATORS.iter().map(|row| row.code).collect::<Vec<_>>().join(", ")
}

impl From<MutationOperator> for String {
    fn from(operator: MutationOperator) -> String {
        operator.code().to_owned()
    }
}

impl TryFrom<String> for MutationOperator {
    type Error = UnknownOperator;

    fn try_from(code: String) -> Result<Self, UnknownOperator> {
        code.parse()
    }
}

impl FromStr for MutationOperator {
    type Err = UnknownOperator;

    /// In capital or small letters.
    fn from_str(word: &str) -> Result<Self, UnknownOperator> {
        let mut rows = MUTATION_OPERATORS.iter();
        let row = rows.find(|row| row.code.eq_ignore_ascii_case(word));
        row.map(|row| row.operator).ok_or_else(|| UnknownOperator { word: word.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_operator_is_named_by_its_code() {
        let codes: BTreeSet<&str> = MUTATION_OPERATORS.iter().map(|row| row.code).collect();
        assert_eq!(codes.len(), MUTATION_OPERATORS.len());
        assert!(MUTATION_OPERATORS.is_sorted_by_key(|row| row.operator));
        for row in MUTATION_OPERATORS {
            assert_eq!(row.code.parse(), Ok(row.operator));
            assert_eq!(row.code.to_lowercase().parse(), Ok(row.operator));
            assert_eq!(row.operator.code(), row.code);
        }
        assert!("XYZ".parse::<MutationOperator>().unwrap_err().to_string().contains("CBR, ARS"));
    }
}

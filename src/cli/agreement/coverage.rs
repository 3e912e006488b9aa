//! Vectors and marks of the two engines: they must be the same, but for those that depend on the schedule, and those that
//! follow an undefined value of which a finding tells.
//!
//! Promises: any other difference is a finding whatever it comes from. Where a run within the error bounds of the specification records
//! as the device did, the finding says so, with that run's operands. A vector or mark follows an undefined value only if the sequential
//! engine, with nothing changed but undefined values, records it as the device did.
//! Does not cover: undefined behaviour whose effect is another than that of some value; which invocations recorded what (`invocation`).

use super::invocation::{ByInvocation, Excuses, Refusal};
use super::{Means, disagreement, is_of_undefined, places_of_undefined, run_varied};
use crate::cli::configuration::Specialization;
use crate::cli::kernel::{Kernel, Measured, Variant};
use crate::cli::left_open::{LeftOpen, Recorded};
use crate::cli::test_run::{ModuleRecords, TestRun, job_of};
use crate::exec::prepare::ModuleUse;
use crate::exec::sequential::{SequentialExecutor, Variation};
use crate::model::agreement::AgreementOutcome;
use crate::model::finding::Finding;
use crate::model::place::{Position, Span};
use crate::model::records::{DecisionSlot, NumberedVector, Records};
use crate::model::structure::{KernelStructure, MarkIndex};
use std::collections::{BTreeMap, BTreeSet};

/// What the vectors of one kernel in a test come to.
pub struct CoverageComparison {
    /// None where no records could be compared.
    pub outcome: Option<AgreementOutcome>,
    pub differences: Vec<String>,
    pub findings: Vec<Finding>,
    /// Vectors and marks that one engine alone has, and that depend on the schedule or follow an undefined value, in words.
    pub left_open: Vec<String>,
}

/// Vectors of every specialization that the test ran the kernel with.
pub fn compare(
    open: &LeftOpen<'_>,
    means: &mut Means,
    kernel: &Kernel,
    sequential: &TestRun,
    vulkan: &TestRun,
) -> CoverageComparison {
    let of_kernel = |run: &&ModuleRecords| run.kernel == kernel.name;
    let engine = &means.sequential.clone();
    let (differences, findings, left_open) = Default::default();
    let mut comparison = CoverageComparison { outcome: None, differences, findings, left_open };
    for ours in sequential.records.iter().filter(of_kernel) {
        let theirs = vulkan.records.iter().filter(of_kernel).find(|row| row.specialization == ours.specialization);
        let (Ok(left), Some(Ok(right)), Some(measured)) =
            (&ours.records, theirs.map(|row| &row.records), kernel.measured())
        else {
            continue;
        };
        let compared =
            Compared { open, engine, kernel, measured, specialization: &ours.specialization, sequential, vulkan };
        let ModuleComparison { outcome, findings, left_open } = compared.of_module([left, right], means);
        comparison.outcome = comparison.outcome.max(Some(outcome));
        comparison.differences.extend(findings.iter().map(|finding| finding.message.clone()));
        comparison.findings.extend(findings);
        comparison.left_open.extend(left_open);
    }
    comparison
}

/// What the records of one module come to.
struct ModuleComparison {
    outcome: AgreementOutcome,
    findings: Vec<Finding>,
    left_open: Vec<String>,
}

/// A vector or a mark that one engine alone recorded.
#[derive(Clone, Copy)]
enum Row<'a> {
    Vector(&'a DecisionSlot, &'a NumberedVector),
    Mark(MarkIndex, u32),
}

impl Row<'_> {
    fn bit(&self) -> u32 {
        match self {
            Row::Vector(slot, row) => slot.base + row.sum,
            Row::Mark(_, bit) => *bit,
        }
    }
}

/// A module whose records are compared.
struct Compared<'a> {
    open: &'a LeftOpen<'a>,
    engine: &'a SequentialExecutor,
    kernel: &'a Kernel,
    measured: &'a Measured,
    specialization: &'a Specialization,
    sequential: &'a TestRun,
    vulkan: &'a TestRun,
}

impl Compared<'_> {
    /// A finding for each vector and mark that one engine recorded and the other did not, unless it depends on the schedule or follows
    /// an undefined value.
    fn of_module(&self, records: [&Records; 2], means: &mut Means) -> ModuleComparison {
        let mut comparison =
            ModuleComparison { outcome: AgreementOutcome::Identical, findings: Vec::new(), left_open: Vec::new() };
        let differing = self.differing(records);
        if differing.is_empty() {
            return comparison;
        }
        let label = module_label(self.open, self.kernel, self.specialization);
        let scheduled = label.and_then(|label| self.open.dependence(Recorded::Source).bits.get(&label));
        let (scheduled, fixed): (Vec<Row>, Vec<Row>) =
            differing.into_iter().partition(|row| scheduled.is_some_and(|bits| bits.contains(&row.bit())));
        let Excuses { following, refused } = self.excuses(&fixed, records, means);
        let (undefined, disagreeing): (Vec<Row>, Vec<Row>) =
            fixed.into_iter().partition(|row| following.contains(&row.bit()));
        if !scheduled.is_empty() {
            comparison.outcome = AgreementOutcome::ScheduleDependent;
        }
        let depends = |row: &Row| format!("{}: it depends on the schedule", self.words(row, records));
        comparison.left_open.extend(scheduled.iter().map(depends));
        if !undefined.is_empty() {
            comparison.outcome = AgreementOutcome::UndefinedValue;
        }
        let places = places_of_undefined(&self.sequential.findings);
        let follows = |row: &Row| format!("{}: it follows {places}", self.words(row, records));
        comparison.left_open.extend(undefined.iter().map(follows));
        if !disagreeing.is_empty() {
            comparison.outcome = AgreementOutcome::Different;
            comparison.findings = self.findings(&disagreeing, records, &refused);
        }
        comparison
    }

    /// What one engine alone recorded: vectors, then marks.
    fn differing(&self, [ours, theirs]: [&Records; 2]) -> Vec<Row<'_>> {
        let layout = &self.measured.markers.layout;
        let vectors =
            layout.decisions.iter().flat_map(|slot| slot.vectors.iter().map(move |row| Row::Vector(slot, row)));
        let marks = layout.marks.iter().enumerate().map(|(index, bit)| Row::Mark(MarkIndex(index as u32), *bit));
        vectors.chain(marks).filter(|row| ours.has(row.bit()) != theirs.has(row.bit())).collect()
    }

    /// The bits that follow an undefined value, in every invocation by which the engines differ.
    fn excuses(&self, rows: &[Row], records: [&Records; 2], means: &mut Means) -> Excuses {
        let following = self.following_undefined(rows, records);
        match self.module() {
            Some(module) if !following.is_empty() => {
                let Self { open, kernel, vulkan, .. } = *self;
                ByInvocation { open, kernel, module, records, vulkan }.excuse(means, &following)
            }
            Some(_) | None => Excuses::default(),
        }
    }

    /// Index into the modules of the job.
    fn module(&self) -> Option<usize> {
        let is_of = |of: &ModuleUse| of.kernel.0 == self.kernel.name && of.specialization == *self.specialization;
        self.open.plan.modules.iter().position(is_of)
    }

    /// The bits that runs with other undefined values record as the device did; none where nothing tells of such a value.
    fn following_undefined(&self, rows: &[Row], [_, theirs]: [&Records; 2]) -> BTreeSet<u32> {
        let mut following = BTreeSet::new();
        if !self.sequential.findings.iter().any(is_of_undefined) {
            return following;
        }
        for variation in Variation::OF_UNDEFINED {
            if rows.iter().all(|row| following.contains(&row.bit())) {
                break;
            }
            let Some(records) = self.varied(*variation) else { continue };
            let agreeing = rows.iter().map(Row::bit).filter(|bit| records.has(*bit) == theirs.has(*bit));
            following.extend(agreeing);
        }
        following
    }

    /// The records of a run of the marked module that departs from the ordinary one; none where it does not complete.
    fn varied(&self, variation: Variation) -> Option<Records> {
        let prepared = self.open.prepared;
        let job = job_of(prepared, Variant::Marked)?;
        let module = self.module()?;
        run_varied(self.engine, prepared, &job, variation)?.run.records.remove(&job.modules[module].kernel)
    }

    /// Which vector or mark is on which engine alone.
    fn words(&self, row: &Row, [ours, _]: [&Records; 2]) -> String {
        let side = Side::of(ours, row.bit()).words();
        let structure = &self.measured.structure;
        match row {
            Row::Vector(slot, row) => {
                let text = &structure.decision(slot.decision).text;
                format!("{} `{text}`: vector {} on {side}", slot.decision, row.vector.values)
            }
            Row::Mark(index, _) => format!("{}: {} on {side}", self.kernel.name, marked(structure, *index)),
        }
    }

    fn findings(&self, rows: &[Row], records: [&Records; 2], refused: &BTreeMap<u32, Refusal>) -> Vec<Finding> {
        let vectors = rows.iter().any(|row| matches!(row, Row::Vector(..)));
        let varied: Vec<Records> =
            if vectors { Variation::ALL.iter().filter_map(|one| self.varied(*one)).collect() } else { Vec::new() };
        let finding = |row: &Row| match row {
            Row::Vector(slot, row) => {
                let refusal = refused.get(&(slot.base + row.sum));
                VectorDifference { measured: self.measured, slot, row, records, varied: &varied, refusal }.finding()
            }
            Row::Mark(index, bit) => self.mark_finding(row, (*index, *bit), records, refused.get(bit)),
        };
        rows.iter().map(finding).collect()
    }

    fn mark_finding(
        &self,
        row: &Row,
        (index, bit): (MarkIndex, u32),
        records: [&Records; 2],
        refusal: Option<&Refusal>,
    ) -> Finding {
        let witness = records.into_iter().find_map(|records| records.witnesses.get(&bit)).copied();
        let witness = refusal.and_then(Refusal::invocation).or(witness);
        let message = format!("{}{}", self.words(row, records), refusal.map(Refusal::words).unwrap_or_default());
        let finding = disagreement(message)
            .detail("mark", u64::from(index.0))
            .detail("text", marked(&self.measured.structure, index))
            .detail("only_on", Side::of(records[0], bit).engine());
        Finding { invocations: witness.into_iter().collect(), ..with_refusal(finding, refusal) }
    }
}

/// Why it does not follow an undefined value, where that was asked.
fn with_refusal(finding: Finding, refusal: Option<&Refusal>) -> Finding {
    match refusal {
        Some(refusal) => finding.detail("undefined_values", refusal.name()),
        None => finding,
    }
}

/// Under which name engines keep the records of a kernel with a specialization.
fn module_label(open: &LeftOpen<'_>, kernel: &Kernel, specialization: &Specialization) -> Option<String> {
    let mut modules = open.plan.modules.iter().zip(&open.plan.job.modules);
    let is_of = |of: &ModuleUse| of.kernel.0 == kernel.name && of.specialization == *specialization;
    modules.find(|(of, _)| is_of(of)).map(|(_, module)| module.kernel.clone())
}

/// What a mark stands for: the entry of a function, a label.
pub fn marked(structure: &KernelStructure, mark: MarkIndex) -> String {
    let line = |span: &Span| {
        let file = &structure.files[span.file.0 as usize];
        format!("{}:{}", file.path, Position::of(&file.text, span.start as usize).line)
    };
    let mut functions = structure.functions.iter().filter(|function| function.entry_mark == mark);
    let mut labels =
        structure.switches.iter().flat_map(|switch| &switch.labels).filter(|label| label.mark == Some(mark));
    match (functions.next(), labels.next()) {
        (Some(function), _) => format!("entry of `{}` ({})", function.name, line(&function.span)),
        (None, Some(label)) => format!("label `{}` ({})", label.text, line(&label.span)),
        (None, None) => format!("mark {}", mark.0),
    }
}

/// The engine that alone recorded something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Sequential,
    Vulkan,
}

impl Side {
    fn of(ours: &Records, bit: u32) -> Self {
        if ours.has(bit) { Side::Sequential } else { Side::Vulkan }
    }

    fn words(self) -> &'static str {
        match self {
            Side::Sequential => "sequential alone",
            Side::Vulkan => "vulkan alone",
        }
    }

    fn engine(self) -> &'static str {
        match self {
            Side::Sequential => "sequential",
            Side::Vulkan => "vulkan",
        }
    }
}

/// A vector that one engine alone recorded.
struct VectorDifference<'a> {
    measured: &'a Measured,
    slot: &'a DecisionSlot,
    row: &'a NumberedVector,
    /// The sequential engine's and the device's.
    records: [&'a Records; 2],
    varied: &'a [Records],
    /// Why it does not follow an undefined value, where that was asked.
    refusal: Option<&'a Refusal>,
}

impl VectorDifference<'_> {
    fn finding(&self) -> Finding {
        let [ours, theirs] = self.records;
        let bit = self.slot.base + self.row.sum;
        let side = Side::of(ours, bit);
        let decision = self.measured.structure.decision(self.slot.decision);
        let file = &self.measured.structure.files[decision.span.file.0 as usize];
        let line = Position::of(&file.text, decision.span.start as usize).line;
        let agreeing = self.varied.iter().find(|records| records.has(bit) == theirs.has(bit));
        let witness = [ours, theirs].into_iter().chain(agreeing).find_map(|records| records.witnesses.get(&bit));
        let witness = self.refusal.and_then(Refusal::invocation).or(witness.copied());
        let operands = self.operands(side, agreeing);
        let mut message = format!(
            "{} `{}` ({}:{line}): vector {} on {}",
            self.slot.decision,
            decision.text,
            file.path,
            self.row.vector.values,
            side.words()
        );
        if let Some([x, y, z]) = witness {
            message.push_str(&format!(", invocation ({x}, {y}, {z})"));
        }
        operands.iter().for_each(|text| message.push_str(&format!("; {text}")));
        message.push_str(&self.refusal.map(Refusal::words).unwrap_or_default());
        message.push_str(match agreeing {
            Some(_) => "; a run within the error bounds of the specification agrees with vulkan: the vector depends on rounding",
            None => "; no run within the error bounds of the specification agrees with vulkan",
        });
        let finding = disagreement(message)
            .detail("decision", self.slot.decision.to_string())
            .detail("text", decision.text.clone())
            .detail("file", file.path.clone())
            .detail("line", line)
            .detail("vector", self.row.vector.values.to_string())
            .detail("only_on", side.engine())
            .detail("operands", operands)
            .detail("within_error_bounds", agreeing.is_some());
        Finding { invocations: witness.into_iter().collect(), ..with_refusal(finding, self.refusal) }
    }

    /// What was compared: where the vector was recorded, else in the vectors that the sequential engine recorded instead.
    fn operands(&self, side: Side, agreeing: Option<&Records>) -> Vec<String> {
        let bit = self.slot.base + self.row.sum;
        let [ours, _] = self.records;
        let of = |records: &Records, bit: u32| records.operands.get(&bit).map(|texts| texts.join(", "));
        let here = match side {
            Side::Sequential => of(ours, bit),
            Side::Vulkan => None,
        };
        let mut texts: Vec<String> = here.into_iter().collect();
        if side == Side::Vulkan {
            let others = self.slot.vectors.iter().filter_map(|row| {
                let text = of(ours, self.slot.base + row.sum)?;
                Some(format!("sequential has {} with {text}", row.vector.values))
            });
            texts.extend(others);
            let varied = agreeing.and_then(|records| of(records, bit));
            texts.extend(varied.map(|text| format!("within the error bounds {text}")));
        }
        texts
    }
}

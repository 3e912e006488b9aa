//! Vectors and marks of the two engines: they must be the same, but for those of decisions that depend on the schedule.
//!
//! Promises: any other difference is a finding whatever it comes from. Where a run within the error bounds of the specification records
//! as the device did, the finding says so, with that run's operands.

use super::{disagreement, run_varied};
use crate::cli::configuration::Specialization;
use crate::cli::kernel::{Kernel, Measured, Variant};
use crate::cli::left_open::{LeftOpen, Recorded};
use crate::cli::test_run::{ModuleRecords, PreparedTest, TestRun, job_of};
use crate::exec::prepare::ModuleUse;
use crate::exec::sequential::Variation;
use crate::model::finding::Finding;
use crate::model::place::{Position, Span};
use crate::model::records::{DecisionSlot, NumberedVector, Records};
use crate::model::structure::{KernelStructure, MarkIndex};

/// What the vectors of one kernel in a test come to.
pub struct CoverageComparison {
    pub outcome: &'static str,
    pub differences: Vec<String>,
    pub findings: Vec<Finding>,
    /// Vectors that depend on the schedule and that one engine alone has, in words.
    pub left_open: Vec<String>,
}

/// Vectors of every specialization that the test ran the kernel with.
pub fn compare(open: &LeftOpen<'_>, kernel: &Kernel, sequential: &TestRun, vulkan: &TestRun) -> CoverageComparison {
    let of_kernel = |run: &&ModuleRecords| run.kernel == kernel.name;
    let (differences, findings, left_open) = Default::default();
    let mut comparison = CoverageComparison { outcome: "not compared", differences, findings, left_open };
    for ours in sequential.records.iter().filter(of_kernel) {
        let theirs = vulkan.records.iter().filter(of_kernel).find(|row| row.specialization == ours.specialization);
        let (Ok(left), Some(Ok(right)), Some(measured)) =
            (&ours.records, theirs.map(|row| &row.records), kernel.measured())
        else {
            continue;
        };
        let ModuleComparison { findings, left_open } =
            of_module(open, kernel, measured, &ours.specialization, [left, right]);
        comparison.outcome = match (findings.is_empty(), left_open.is_empty(), comparison.outcome) {
            (false, _, _) | (_, _, "different") => "different",
            (true, false, _) | (true, true, "schedule-dependent") => "schedule-dependent",
            (true, true, _) => "identical",
        };
        comparison.differences.extend(findings.iter().map(|finding| finding.message.clone()));
        comparison.findings.extend(findings);
        comparison.left_open.extend(left_open);
    }
    comparison
}

/// What the records of one module come to.
struct ModuleComparison {
    findings: Vec<Finding>,
    left_open: Vec<String>,
}

/// A finding for each vector and mark that one engine recorded and the other did not, unless it depends on the schedule.
fn of_module(
    open: &LeftOpen<'_>,
    kernel: &Kernel,
    measured: &Measured,
    specialization: &Specialization,
    [ours, theirs]: [&Records; 2],
) -> ModuleComparison {
    let prepared = open.prepared;
    let layout = &measured.markers.layout;
    let rows = layout.decisions.iter().flat_map(|slot| slot.vectors.iter().map(move |row| (slot, row)));
    let differs = |bit: u32| ours.has(bit) != theirs.has(bit);
    let differing: Vec<_> = rows.filter(|(slot, row)| differs(slot.base + row.sum)).collect();
    let marks: Vec<_> = layout.marks.iter().enumerate().filter(|(_, bit)| differs(**bit)).collect();
    if differing.is_empty() && marks.is_empty() {
        return ModuleComparison { findings: Vec::new(), left_open: Vec::new() };
    }
    let label = module_label(open, kernel, specialization);
    let scheduled = label.and_then(|label| open.dependence(Recorded::Source).bits.get(&label));
    let depends = |bit: u32| scheduled.is_some_and(|bits| bits.contains(&bit));
    let mark_text = |index: usize, bit: u32| {
        format!(
            "{}: {} on {}",
            kernel.name,
            marked(&measured.structure, MarkIndex(index as u32)),
            Side::of(ours, bit).words()
        )
    };
    let mut left_open = Vec::new();
    for (slot, row) in differing.iter().filter(|(slot, row)| depends(slot.base + row.sum)) {
        left_open.push(format!(
            "{} `{}`: vector {} on {}: it depends on the schedule",
            slot.decision,
            measured.structure.decision(slot.decision).text,
            row.vector.values,
            Side::of(ours, slot.base + row.sum).words()
        ));
    }
    for (index, bit) in marks.iter().filter(|(_, bit)| depends(**bit)) {
        left_open.push(format!("{}: it depends on the schedule", mark_text(*index, **bit)));
    }
    let mark = |(index, bit): (usize, &u32)| {
        let side = Side::of(ours, *bit);
        let witness = [ours, theirs].into_iter().find_map(|records| records.witnesses.get(bit)).copied();
        let finding = disagreement(mark_text(index, *bit))
            .detail("mark", index as u64)
            .detail("text", marked(&measured.structure, MarkIndex(index as u32)))
            .detail("only_on", side.engine());
        Finding { invocations: witness.into_iter().collect(), ..finding }
    };
    let marks: Vec<_> = marks.into_iter().filter(|(_, bit)| !depends(**bit)).map(mark).collect();
    let differing: Vec<_> = differing.into_iter().filter(|(slot, row)| !depends(slot.base + row.sum)).collect();
    if differing.is_empty() {
        return ModuleComparison { findings: marks, left_open };
    }
    let varied = varied_records(prepared, kernel, specialization);
    let vectors = differing.into_iter().map(|(slot, row)| {
        let difference = VectorDifference { measured, slot, row, records: [ours, theirs], varied: &varied };
        difference.finding()
    });
    ModuleComparison { findings: vectors.chain(marks).collect(), left_open }
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

/// Records of one kernel in runs of the marked module within the error bounds of the specification.
fn varied_records(prepared: &PreparedTest, kernel: &Kernel, specialization: &Specialization) -> Vec<Records> {
    let (Ok(plan), Some(job)) = (&prepared.plan, job_of(prepared, Variant::Marked)) else { return Vec::new() };
    let module = plan.modules.iter().position(|of| of.kernel.0 == kernel.name && of.specialization == *specialization);
    let Some(label) = module.map(|index| &job.modules[index].kernel) else { return Vec::new() };
    let runs = Variation::ALL.iter().filter_map(|variation| run_varied(prepared, &job, *variation));
    runs.filter_map(|mut run| run.run.records.remove(label)).collect()
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
        Finding { invocations: witness.into_iter().copied().collect(), ..finding }
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

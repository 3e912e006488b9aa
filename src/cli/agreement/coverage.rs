//! Vectors and marks of the two engines: they must be the same.
//!
//! Promises: a difference is a finding whatever it comes from. Where a run within the error bounds of the specification records
//! as the device did, the finding says so, with that run's operands.

use super::{disagreement, run_varied};
use crate::cli::configuration::Specialization;
use crate::cli::kernel::{Kernel, Measured, Variant};
use crate::cli::test_run::{ModuleRecords, PreparedTest, TestRun, job_of};
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
}

/// Vectors of every specialization that the test ran the kernel with.
pub fn compare(prepared: &PreparedTest, kernel: &Kernel, sequential: &TestRun, vulkan: &TestRun) -> CoverageComparison {
    let of_kernel = |run: &&ModuleRecords| run.kernel == kernel.name;
    let mut comparison = CoverageComparison { outcome: "not compared", differences: Vec::new(), findings: Vec::new() };
    for ours in sequential.records.iter().filter(of_kernel) {
        let theirs = vulkan.records.iter().filter(of_kernel).find(|row| row.specialization == ours.specialization);
        let (Ok(left), Some(Ok(right)), Some(measured)) =
            (&ours.records, theirs.map(|row| &row.records), kernel.measured())
        else {
            continue;
        };
        let found = of_module(prepared, kernel, measured, &ours.specialization, [left, right]);
        comparison.outcome =
            if found.is_empty() && comparison.outcome != "different" { "identical" } else { "different" };
        comparison.differences.extend(found.iter().map(|finding| finding.message.clone()));
        comparison.findings.extend(found);
    }
    comparison
}

/// A finding for each vector and mark that one engine recorded and the other did not.
fn of_module(
    prepared: &PreparedTest,
    kernel: &Kernel,
    measured: &Measured,
    specialization: &Specialization,
    [ours, theirs]: [&Records; 2],
) -> Vec<Finding> {
    let layout = &measured.markers.layout;
    let rows = layout.decisions.iter().flat_map(|slot| slot.vectors.iter().map(move |row| (slot, row)));
    let differing: Vec<_> =
        rows.filter(|(slot, row)| ours.has(slot.base + row.sum) != theirs.has(slot.base + row.sum)).collect();
    let marks = layout.marks.iter().enumerate().filter(|(_, bit)| ours.has(**bit) != theirs.has(**bit));
    let mark = |(index, bit): (usize, &u32)| {
        let side = Side::of(ours, *bit);
        let witness = [ours, theirs].into_iter().find_map(|records| records.witnesses.get(bit)).copied();
        let marked = marked(&measured.structure, MarkIndex(index as u32));
        let finding = disagreement(format!("{}: {marked} on {}", kernel.name, side.words()))
            .detail("mark", index as u64)
            .detail("text", marked)
            .detail("only_on", side.engine());
        Finding { invocations: witness.into_iter().collect(), ..finding }
    };
    let marks: Vec<_> = marks.map(mark).collect();
    if differing.is_empty() {
        return marks;
    }
    let varied = varied_records(prepared, kernel, specialization);
    let vectors = differing.into_iter().map(|(slot, row)| {
        let difference = VectorDifference { measured, slot, row, records: [ours, theirs], varied: &varied };
        difference.finding()
    });
    vectors.chain(marks).collect()
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

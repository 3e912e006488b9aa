//! Comparison of the engines, test by test: outputs within the test's tolerance, vector sets exactly.

use super::kernel::Kernel;
use super::test_run::{ModuleRecords, TestRun};
use crate::model::evidence::{Agreement, KernelFinding};
use crate::model::finding::{Finding, FindingKind};
use crate::model::id::KernelName;
use crate::model::procedure::Test;
use crate::model::records::{RecordLayout, Records};
use crate::model::structure::KernelStructure;
use crate::model::verdict::{EngineName, Verdict};
use crate::requirement::{Project, trace};

/// One row per test and kernel that two engines ran, and a finding for each that differs.
pub fn compare(project: &Project, kernels: &[Kernel], runs: &[Vec<TestRun>]) -> (Vec<Agreement>, Vec<KernelFinding>) {
    let mut rows = Vec::new();
    let mut findings = Vec::new();
    for (test, row) in project.tests.iter().zip(runs) {
        for agreement in compare_test(test, kernels, row) {
            findings.extend(finding(&agreement).map(|finding| KernelFinding {
                kernel: agreement.kernel.clone(),
                engine: None,
                test: Some(test.id.clone()),
                finding,
            }));
            rows.push(agreement);
        }
    }
    (rows, findings)
}

/// Findings of one test alone.
pub fn of_test(test: &Test, kernels: &[Kernel], row: &[TestRun]) -> Vec<Finding> {
    compare_test(test, kernels, row).iter().filter_map(finding).collect()
}

fn finding(agreement: &Agreement) -> Option<Finding> {
    if agreement.differences.is_empty() {
        return None;
    }
    let message = format!("sequential and vulkan differ: {}", agreement.differences.join("; "));
    Some(Finding::new(FindingKind::EngineDisagreement, message).detail("comparison", "sequential/vulkan"))
}

/// One row per kernel of the test, that both engines could run.
fn compare_test(test: &Test, kernels: &[Kernel], row: &[TestRun]) -> Vec<Agreement> {
    // What one engine cannot run is a limit of that engine, reported as `unsupported`; there is nothing to compare.
    let ran = |run: &&TestRun| !matches!(run.verdict, Verdict::NotRun | Verdict::Unsupported);
    let engine = |name: EngineName| row.iter().filter(ran).find(|run| run.engine == name);
    let (Some(sequential), Some(vulkan)) = (engine(EngineName::Sequential), engine(EngineName::Vulkan)) else {
        return Vec::new();
    };
    let named = |name: &KernelName| kernels.iter().find(|kernel| kernel.name == name.as_str());
    let names = trace::kernels_of(test);
    names.iter().filter_map(|name| Some(compare_kernel(test, name, named(name)?, sequential, vulkan))).collect()
}

fn compare_kernel(
    test: &Test,
    name: &KernelName,
    kernel: &Kernel,
    sequential: &TestRun,
    vulkan: &TestRun,
) -> Agreement {
    let mut differences = Vec::new();
    let outputs = compare_outputs(test, sequential, vulkan, &mut differences);
    let coverage = compare_coverage(name, kernel, sequential, vulkan, &mut differences);
    Agreement {
        test: test.id.clone(),
        kernel: name.clone(),
        outputs: outputs.to_owned(),
        coverage: coverage.to_owned(),
        differences,
    }
}

/// Vectors of every specialization that the test ran the kernel with.
fn compare_coverage(
    name: &KernelName,
    kernel: &Kernel,
    sequential: &TestRun,
    vulkan: &TestRun,
    differences: &mut Vec<String>,
) -> &'static str {
    let of_kernel = |run: &&ModuleRecords| run.kernel == name.as_str();
    let mut result = "not compared";
    for ours in sequential.records.iter().filter(of_kernel) {
        let theirs = vulkan.records.iter().filter(of_kernel).find(|row| row.specialization == ours.specialization);
        let (Ok(ours), Some(Ok(theirs)), Some(measured)) =
            (&ours.records, theirs.map(|row| &row.records), kernel.measured())
        else {
            continue;
        };
        let found = vector_differences(&measured.structure, &measured.markers.layout, ours, theirs);
        result = if found.is_empty() && result != "different" { "identical" } else { "different" };
        differences.extend(found);
    }
    result
}

fn compare_outputs(test: &Test, ours: &TestRun, theirs: &TestRun, differences: &mut Vec<String>) -> &'static str {
    if ours.outputs.is_empty() || theirs.outputs.is_empty() {
        if ours.verdict != theirs.verdict {
            differences.push(format!("verdicts differ: {} and {}", ours.verdict, theirs.verdict));
        }
        return "not compared";
    }
    let mut result = "identical";
    for (name, left) in &ours.outputs {
        let Some(right) = theirs.outputs.get(name) else { continue };
        let mut offsets = left.iter().zip(right).enumerate().filter(|(_, (left, right))| left != right);
        let Some((first, _)) = offsets.next() else { continue };
        // Both engines meet the same expectation with a tolerance: the difference is what the test allows.
        let tolerated = ours.verdict == Verdict::Pass
            && theirs.verdict == Verdict::Pass
            && test.expect.iter().any(|e| e.judged() == name && e.tolerance.is_some());
        if tolerated {
            result = if result == "identical" { "within-tolerance" } else { result };
        } else {
            result = "different";
            differences
                .push(format!("buffer `{name}` differs in {} bytes, first at offset {first}", 1 + offsets.count()));
        }
    }
    result
}

/// Vectors and marks that one engine recorded and the other did not, with operands where they are known.
fn vector_differences(
    structure: &KernelStructure,
    layout: &RecordLayout,
    ours: &Records,
    theirs: &Records,
) -> Vec<String> {
    let mut differences = Vec::new();
    let side = |ours: bool| if ours { "sequential alone" } else { "vulkan alone" };
    for slot in &layout.decisions {
        for row in &slot.vectors {
            let bit = slot.base + row.sum;
            if ours.has(bit) == theirs.has(bit) {
                continue;
            }
            let operands = ours.operands.get(&bit).or(theirs.operands.get(&bit));
            let operands = operands.map(|texts| format!(" with {}", texts.join(", "))).unwrap_or_default();
            let text = &structure.decision(slot.decision).text;
            differences.push(format!(
                "{} `{text}`: vector {} on {}{operands}",
                slot.decision,
                row.vector.values,
                side(ours.has(bit))
            ));
        }
    }
    for (index, bit) in layout.marks.iter().enumerate() {
        if ours.has(*bit) != theirs.has(*bit) {
            differences.push(format!("mark {index} on {}", side(ours.has(*bit))));
        }
    }
    differences
}

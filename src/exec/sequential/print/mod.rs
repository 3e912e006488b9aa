//! The lowering: a kernel as an explicit sequential program.
//!
//! Knows: the loops that the single-thread-equivalent form adds around a kernel: three over the
//! workgroups, and three over the invocations of each barrier region; and which variables must
//! exist once per invocation. A region is what an invocation runs from the entry or a barrier to
//! the next barrier or the end. A loop or selection that holds a barrier stays outside the loops
//! over invocations; its condition is evaluated per invocation and must be uniform.
//! Promises: the program beside the text is what the interpreter runs; regions count as the
//! interpreter counts them.
//! Does not cover: the instructions of a statement: the text shows source lines, the emitter of C++
//! will print expressions.

mod outline;
pub(crate) mod source_lines;

use super::compile::compile;
use super::decode::DispatchFacts;
use super::decode::Unsupported;
use super::ir::Program;
use outline::print_outline;
use std::collections::BTreeMap;
use vkcert_model::evidence::LoweringDecision;
use vkcert_spirv::module::Module;

/// A kernel in its sequential form.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// What the interpreter runs.
    pub program: Program,
    /// The loop decisions that the lowering adds, with counts of zero.
    pub decisions: Vec<LoweringDecision>,
    text: String,
}

/// Lowers an entry point with the default specialization.
pub fn lower_kernel(spirv_module: &Module, entry_name: &str) -> Result<Lowered, Unsupported> {
    let program =
        compile(spirv_module, entry_name, &BTreeMap::new(), None, &DispatchFacts::default())?;
    let decisions = LoopTally::new(spirv_module, &program).decisions();
    let text = print_outline(spirv_module, entry_name, &program, &decisions);
    Ok(Lowered { program, decisions, text })
}

/// The loop decisions that the lowering of an entry point adds under a specialization, with counts
/// of zero.
pub fn loop_decisions(
    spirv_module: &Module,
    entry_name: &str,
    specialization: &BTreeMap<u32, u64>,
) -> Result<Vec<LoweringDecision>, Unsupported> {
    let program =
        compile(spirv_module, entry_name, specialization, None, &DispatchFacts::default())?;
    Ok(LoopTally::new(spirv_module, &program).decisions())
}

impl std::fmt::Display for Lowered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Counts of the loop decisions of one kernel.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoopTally {
    decisions: Vec<LoweringDecision>,
}

const AXES: [char; 3] = ['z', 'y', 'x'];

impl LoopTally {
    pub(crate) fn new(spirv_module: &Module, program: &Program) -> Self {
        let mut condition_texts: Vec<String> =
            AXES.iter().map(|axis| format!("workgroup.{axis} < groups.{axis}")).collect();
        for region_index in 0..=program.barriers.len() {
            let region_index = region_name(spirv_module, program, region_index);
            condition_texts.extend(
                AXES.iter()
                    .map(|axis| format!("invocation.{axis} < local_size.{axis} ({region_index})")),
            );
        }
        let loop_decision = |(index, text)| LoweringDecision {
            id: format!("L{}", index + 1),
            text,
            true_count: 0,
            false_count: 0,
        };
        Self { decisions: condition_texts.into_iter().enumerate().map(loop_decision).collect() }
    }

    /// Adds a dispatch: `entered[i]` workgroups ran region `i`.
    pub(crate) fn add_dispatch(
        &mut self,
        program: &Program,
        workgroup_counts: [u32; 3],
        entered_times: &[u64],
    ) {
        let nest_counts = |[x, y, z]: [u32; 3], times: u64| {
            let [x, y, z] = [x, y, z].map(u64::from);
            // The outermost loop is over z: its condition is true z times and false once, and so on
            // inwards.
            [(z * times, times), (z * y * times, z * times), (z * y * x * times, z * y * times)]
        };
        let mut all_counts = nest_counts(workgroup_counts, 1).to_vec();
        for times in entered_times {
            all_counts.extend(nest_counts(program.local_size, *times));
        }
        for (decision, (true_count, false_count)) in self.decisions.iter_mut().zip(all_counts) {
            decision.true_count += true_count;
            decision.false_count += false_count;
        }
    }

    pub(crate) fn decisions(self) -> Vec<LoweringDecision> {
        self.decisions
    }
}

/// `region 1 from the entry`, `region 2 behind the barrier at file:9`.
pub(crate) fn region_name(spirv_module: &Module, program: &Program, region_index: usize) -> String {
    match region_index.checked_sub(1).and_then(|index| program.barriers.get(index)) {
        Some(barrier) => {
            format!(
                "region {} behind the barrier at {}",
                region_index + 1,
                spirv_module.place_of(barrier.source_index as usize)
            )
        }
        None => "region 1 from the entry".to_owned(),
    }
}

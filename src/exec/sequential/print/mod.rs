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
use outline::outline;
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
pub fn lower(module: &Module, entry: &str) -> Result<Lowered, Unsupported> {
    let program = compile(module, entry, &BTreeMap::new(), None, &DispatchFacts::default())?;
    let decisions = LoopTally::new(module, &program).decisions();
    let text = outline(module, entry, &program, &decisions);
    Ok(Lowered { program, decisions, text })
}

/// The loop decisions that the lowering of an entry point adds under a specialization, with counts
/// of zero.
pub fn loop_decisions(
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
) -> Result<Vec<LoweringDecision>, Unsupported> {
    let program = compile(module, entry, specialization, None, &DispatchFacts::default())?;
    Ok(LoopTally::new(module, &program).decisions())
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
    pub(crate) fn new(module: &Module, program: &Program) -> Self {
        let mut texts: Vec<String> =
            AXES.iter().map(|axis| format!("workgroup.{axis} < groups.{axis}")).collect();
        for region in 0..=program.barriers.len() {
            let region = region_name(module, program, region);
            texts.extend(
                AXES.iter().map(|axis| format!("invocation.{axis} < local_size.{axis} ({region})")),
            );
        }
        let decision = |(index, text)| LoweringDecision {
            id: format!("L{}", index + 1),
            text,
            true_count: 0,
            false_count: 0,
        };
        Self { decisions: texts.into_iter().enumerate().map(decision).collect() }
    }

    /// Adds a dispatch: `entered[i]` workgroups ran region `i`.
    pub(crate) fn add(&mut self, program: &Program, groups: [u32; 3], entered: &[u64]) {
        let nest = |[x, y, z]: [u32; 3], times: u64| {
            let [x, y, z] = [x, y, z].map(u64::from);
            // The outermost loop is over z: its condition is true z times and false once, and so on
            // inwards.
            [(z * times, times), (z * y * times, z * times), (z * y * x * times, z * y * times)]
        };
        let mut counts = nest(groups, 1).to_vec();
        for times in entered {
            counts.extend(nest(program.local_size, *times));
        }
        for (decision, (yes, no)) in self.decisions.iter_mut().zip(counts) {
            decision.true_count += yes;
            decision.false_count += no;
        }
    }

    pub(crate) fn decisions(self) -> Vec<LoweringDecision> {
        self.decisions
    }
}

/// `region 1 from the entry`, `region 2 behind the barrier at file:9`.
pub(crate) fn region_name(module: &Module, program: &Program, region: usize) -> String {
    match region.checked_sub(1).and_then(|barrier| program.barriers.get(barrier)) {
        Some(barrier) => {
            format!(
                "region {} behind the barrier at {}",
                region + 1,
                module.place_of(barrier.source_index as usize)
            )
        }
        None => "region 1 from the entry".to_owned(),
    }
}

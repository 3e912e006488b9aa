//! Which tests come to what a mutant changes.
//!
//! Knows: what of the kernel's own module each test executes; in which code a mutant's module differs from that.
//! Promises: a test that is said not to reach a mutant does with it what it does with the kernel itself, whether it was
//! run or not. Where it is not known, the test reaches it.
//! Does not cover: mutants of dispatches, which each test with their fault reaches.

use crate::kernel::Kernel;
use std::cell::OnceCell;
use std::ops::Range;
use vkcert_exec::access_pairs::AccessPairs;
use vkcert_model::evidence::MutantVerdict;
use vkcert_model::id::KernelName;
use vkcert_model::index_range::IndexRange;
use vkcert_spirv::calls::reachable_functions;
use vkcert_spirv::changed_code::{ChangedCode, ChangedEffects, ComparedModule, changed_code};
use vkcert_spirv::module::Module;

/// What of a kernel's own module a test executes.
pub(super) enum ExecutedCode {
    /// Instructions by their indices in the module.
    Known(Vec<Range<u32>>),
    /// Each instruction that the entry point can come to.
    All,
    /// It was not followed, for this reason.
    Unknown(String),
}

impl ExecutedCode {
    /// Of a run of a kernel that was asked for pairs of accesses.
    pub(super) fn of_run(access_pairs: &AccessPairs, kernel: &Kernel) -> Self {
        match access_pairs {
            AccessPairs::Tracked(modules) => {
                let name = KernelName::from(&kernel.name);
                let own = modules.iter().filter(|(key, _)| key.kernel == name);
                let ranges: Vec<Range<u32>> =
                    own.flat_map(|(_, module)| module.executed.iter().cloned()).collect();
                match blocks_of(kernel).all(|block| is_entered(&ranges, block)) {
                    true => ExecutedCode::All,
                    false => ExecutedCode::Known(ranges),
                }
            }
            AccessPairs::Undetermined { reason } => ExecutedCode::Unknown(reason.clone()),
            AccessPairs::NotTracked => ExecutedCode::Unknown("it was not asked for".to_owned()),
        }
    }
}

fn is_entered(executed: &[Range<u32>], block: IndexRange) -> bool {
    executed
        .iter()
        .any(|range| (range.start as usize) < block.end && block.start < range.end as usize)
}

/// The blocks that the entry point of a kernel can come to.
fn blocks_of(kernel: &Kernel) -> impl Iterator<Item = IndexRange> {
    let module = &*kernel.module;
    let entry = module.entry_point(&kernel.entry).map(|entry| entry.function);
    let functions = entry.into_iter().flat_map(|entry| reachable_functions(module, entry));
    let functions = functions.filter_map(|id| module.function_by_id(id));
    functions.flat_map(|function| function.blocks.iter().map(|block| block.range))
}

/// What a mutant changes of its kernel's module, told where that decides something.
pub(super) struct MutantReach<'m> {
    kernel: Option<&'m ComparedModule<'m>>,
    mutant: &'m Module,
    changed: OnceCell<Option<ChangedCode>>,
}

impl<'m> MutantReach<'m> {
    /// `kernel`: none where it cannot be compared.
    pub(super) fn of_module(kernel: Option<&'m ComparedModule<'m>>, mutant: &'m Module) -> Self {
        Self { kernel, mutant, changed: OnceCell::new() }
    }

    /// The verdict of a test that executes what is given. It runs where it may execute some of what is changed, and where
    /// the engine might run the whole program in another way because of code that is not executed.
    pub(super) fn verdict_of_test(
        &self,
        executed: &ExecutedCode,
        run: impl FnOnce() -> MutantVerdict,
    ) -> MutantVerdict {
        match self.unreached_effects(executed) {
            None => run(),
            Some(ChangedEffects::Same) => MutantVerdict::NotReached,
            Some(ChangedEffects::Others) => match run() {
                MutantVerdict::NotNoticed => MutantVerdict::NotReached,
                other => other,
            },
        }
    }

    /// What the code has for effects that is changed and not executed; none where some may be executed.
    fn unreached_effects(&self, executed: &ExecutedCode) -> Option<ChangedEffects> {
        let executed = match executed {
            ExecutedCode::Known(executed) => executed,
            ExecutedCode::All | ExecutedCode::Unknown(_) => return None,
        };
        let changed = self.changed()?;
        // Where nothing is told to change, no test could be said to miss it.
        let is_reached = changed.blocks.is_empty()
            || changed.blocks.iter().any(|block| is_entered(executed, *block));
        (!is_reached).then_some(changed.effects)
    }

    fn changed(&self) -> Option<&ChangedCode> {
        let compare = || changed_code(self.kernel?, &ComparedModule::of_module(self.mutant)?);
        self.changed.get_or_init(compare).as_ref()
    }
}

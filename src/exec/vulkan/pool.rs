//! Several workers on one device, that share the tests of a campaign.
//!
//! Knows: how many workers are worth starting, and that they slow each other down.
//! Promises: each test gets the result that it has alone: one that is out of time while others use
//! the device is run once more by itself, and that run counts. Results come in the order of the
//! tests, whichever worker had them.
//! Does not cover: what a test is.

use super::executor::VulkanExecutor;
use super::identity::DeviceIdentity;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use vkcert_exec::repeat::Results;
use vkcert_exec::{Completion, Counts, ExecError, Executor, Observer, RunRequest};
use vkcert_model::verdict::EngineName;

/// Most workers on one device: each holds a device context of its own, and a device has one queue
/// of work in the end.
const MOST: usize = 4;
/// A worker takes as long to start as some tens of small tests to run.
const WORTH: usize = 8;

/// How many workers share a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workers {
    /// So many.
    AtMost(usize),
    /// As many where workers are processors' work; one on a device of its own, which runs their
    /// work in turn.
    AsSuits(usize),
}

impl Workers {
    fn on(self, device: &DeviceIdentity) -> usize {
        match self {
            Workers::AtMost(number) => number,
            Workers::AsSuits(number) if device.kind == "cpu" => number,
            Workers::AsSuits(_) => 1,
        }
    }
}

/// Runs `one` for every item on a pool of workers, the first of which is there already.
pub fn share<T: Sync, R: Send>(
    first: &mut VulkanExecutor,
    workers: Workers,
    items: &[T],
    one: impl Fn(&T, &mut dyn Executor) -> R + Sync,
) -> Vec<R> {
    let workers =
        workers.on(&first.opened.identity).min(MOST).min(items.len().div_ceil(WORTH)).max(1);
    if workers == 1 {
        return items.iter().map(|item| one(item, first)).collect();
    }
    let (next, device) = (AtomicUsize::new(0), RwLock::new(()));
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    let work = |executor: &mut VulkanExecutor| {
        let mut member = Member { executor, device: &device };
        while let Some((index, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, items.get(i)?)))
        {
            let result = one(item, &mut member);
            results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
        }
    };
    let (choice, settings, identity) =
        (first.device.clone(), first.settings.clone(), first.opened.identity.clone());
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|| {
                // Without it the others do its work.
                let sibling = VulkanExecutor::new(choice.clone(), settings.clone());
                sibling
                    .ok()
                    .filter(|sibling| sibling.opened.identity == identity)
                    .as_mut()
                    .map(work)
            });
        }
        work(first);
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results
        .into_iter()
        .map(|result| result.expect("every item was taken by a worker, and workers end in order"))
        .collect()
}

/// A worker of a pool.
struct Member<'a> {
    executor: &'a mut VulkanExecutor,
    /// Held for writing by a worker that has the device for itself.
    device: &'a RwLock<()>,
}

impl Executor for Member<'_> {
    fn name(&self) -> EngineName {
        self.executor.name()
    }

    fn execute(
        &mut self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Results, Counts), ExecError> {
        let shared = self.device.read().unwrap_or_else(PoisonError::into_inner);
        let (results, counts) = self.executor.execute(request, observer)?;
        drop(shared);
        match results.last() {
            Completion::Timeout { .. } => {
                let _alone = self.device.write().unwrap_or_else(PoisonError::into_inner);
                self.executor.execute(request, observer)
            }
            Completion::Completed
            | Completion::NoTermination { .. }
            | Completion::Unsupported { .. }
            | Completion::Error { .. }
            | Completion::DeviceLost { .. }
            | Completion::Undetermined { .. }
            | Completion::Varying { .. } => Ok((results, counts)),
        }
    }
}

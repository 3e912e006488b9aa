//! Several workers on one device, that share the tests of a campaign.
//!
//! Knows: how many workers are worth starting, and that they slow each other down.
//! Promises: each test gets the result that it has alone: one that is out of time while others use
//! the device is run once more by itself, and that run counts. Results come in the order of the
//! tests, whichever worker had them.
//! Does not cover: what a test is.

use super::executor::{Clock, VulkanExecutor};
use super::identity::DeviceIdentity;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use vkcert_exec::repeat::Results;
use vkcert_exec::{Counts, ExecError, Executor, Observer, RunRequest};
use vkcert_model::device_type::DeviceType;
use vkcert_model::verdict::EngineName;

/// Most workers on one device: each holds a device context of its own, and a device has one queue
/// of work in the end.
const MOST_WORKERS: usize = 4;
/// A worker takes as long to start as some tens of small tests to run.
const ITEMS_PER_WORKER: usize = 8;

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
    fn count_on(self, device: &DeviceIdentity) -> usize {
        match self {
            Workers::AtMost(worker_count) => worker_count,
            Workers::AsSuits(worker_count) if device.kind == DeviceType::Cpu => worker_count,
            Workers::AsSuits(_) => 1,
        }
    }
}

/// Runs `one` for every item on a pool of workers, the first of which is there already.
pub fn share_items<T: Sync, R: Send>(
    first_executor: &mut VulkanExecutor,
    worker_count: Workers,
    items: &[T],
    run_item: impl Fn(&T, &mut dyn Executor) -> R + Sync,
) -> Vec<R> {
    let worker_count = worker_count
        .count_on(&first_executor.opened.identity)
        .min(MOST_WORKERS)
        .min(items.len().div_ceil(ITEMS_PER_WORKER))
        .max(1);
    if worker_count == 1 {
        return items.iter().map(|item| run_item(item, first_executor)).collect();
    }
    let (next_item, device_lock) = (AtomicUsize::new(0), RwLock::new(()));
    let item_results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    let run_items = |executor: &mut VulkanExecutor| {
        let mut pool_member = PoolMember { executor, device: &device_lock };
        while let Some((item_index, item)) =
            Some(next_item.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, items.get(i)?)))
        {
            let item_result = run_item(item, &mut pool_member);
            item_results.lock().unwrap_or_else(PoisonError::into_inner)[item_index] =
                Some(item_result);
        }
    };
    let (device_choice, settings, identity) = (
        first_executor.device.clone(),
        first_executor.settings.clone(),
        first_executor.opened.identity.clone(),
    );
    std::thread::scope(|scope| {
        for _ in 1..worker_count {
            scope.spawn(|| {
                // Without it the others do its work.
                let sibling_executor = VulkanExecutor::new(device_choice.clone(), settings.clone());
                sibling_executor
                    .ok()
                    .filter(|sibling_executor| sibling_executor.opened.identity == identity)
                    .as_mut()
                    .map(run_items)
            });
        }
        run_items(first_executor);
    });
    let item_results = item_results.into_inner().unwrap_or_else(PoisonError::into_inner);
    item_results
        .into_iter()
        .map(|item_result| {
            item_result.expect("every item was taken by a worker, and workers end in order")
        })
        .collect()
}

/// A worker of a pool.
struct PoolMember<'a> {
    executor: &'a mut VulkanExecutor,
    /// Held for writing by a worker that has the device for itself.
    device: &'a RwLock<()>,
}

impl Executor for PoolMember<'_> {
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
        match self.executor.clock {
            Clock::InTime => Ok((results, counts)),
            // The others may have taken the time.
            Clock::RanOut => {
                let _alone = self.device.write().unwrap_or_else(PoisonError::into_inner);
                self.executor.execute(request, observer)
            }
        }
    }
}

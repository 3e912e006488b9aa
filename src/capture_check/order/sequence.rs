//! In which order operations are executed.
//!
//! Knows: a batch may wait for a value of a timeline semaphore that a later submission signals
//! (Vulkan specification, "Semaphores"): it is executed behind that, and so is all that was submitted
//! to its queue later.
//! Promises: what the host does stays in its order, and so does each queue. What waits for a value
//! that no submission signals, or that waits in a circle, is executed in the order of submissions.

use std::collections::{BTreeMap, VecDeque};
use vkcert_capture::program::{Action, Operation};

/// Operations by their indices, as they are executed.
pub(super) fn execution_order(operations: &[Operation]) -> Vec<usize> {
    let mut sequence = Sequence {
        operations,
        largest: BTreeMap::new(),
        reached: BTreeMap::new(),
        waiting: BTreeMap::new(),
        order: Vec::with_capacity(operations.len()),
    };
    for operation in operations {
        if let Some((semaphore, value)) = signaled(operation) {
            let largest = sequence.largest.entry(semaphore).or_default();
            *largest = value.max(*largest);
        }
    }
    (0..operations.len()).for_each(|index| sequence.take(index));
    let mut rest: Vec<usize> = sequence.waiting.values().flatten().copied().collect();
    rest.sort_unstable();
    sequence.order.extend(rest);
    sequence.order
}

/// A timeline semaphore and the value that an operation gives it.
fn signaled(operation: &Operation) -> Option<(usize, u64)> {
    match &operation.action {
        Action::SemaphoreSignal(step) => step.value.map(|value| (step.semaphore, value)),
        _ => None,
    }
}

struct Sequence<'a> {
    operations: &'a [Operation],
    /// The largest value that is ever signaled, by semaphore.
    largest: BTreeMap<usize, u64>,
    /// The largest value that was signaled yet.
    reached: BTreeMap<usize, u64>,
    /// Operations that are not executed yet, by queue; the first of each waits for a semaphore.
    waiting: BTreeMap<usize, VecDeque<usize>>,
    order: Vec<usize>,
}

impl Sequence<'_> {
    fn take(&mut self, index: usize) {
        let operation = &self.operations[index];
        let is_of_device = operation.batch.is_some();
        if is_of_device && (self.waiting.contains_key(&operation.queue) || self.must_wait(index)) {
            self.waiting.entry(operation.queue).or_default().push_back(index);
            return;
        }
        if let Action::HostWait { completed } = &operation.action {
            completed.iter().for_each(|(queue, last)| self.execute_completed(*queue, *last));
        }
        self.execute(index);
    }

    /// Whether a later submission signals what an operation waits for.
    fn must_wait(&self, index: usize) -> bool {
        let Action::SemaphoreWait(step) = &self.operations[index].action else { return false };
        let Some(value) = step.value else { return false };
        let largest = |values: &BTreeMap<usize, u64>| values.get(&step.semaphore).copied();
        largest(&self.reached).is_none_or(|reached| reached < value)
            && largest(&self.largest).is_some_and(|largest| largest >= value)
    }

    fn execute(&mut self, index: usize) {
        self.order.push(index);
        let Some((semaphore, value)) = signaled(&self.operations[index]) else { return };
        let reached = self.reached.entry(semaphore).or_default();
        *reached = value.max(*reached);
        let queues: Vec<usize> = self.waiting.keys().copied().collect();
        queues.into_iter().for_each(|queue| self.execute_waiting(queue));
    }

    /// Executes what no longer waits on a queue.
    fn execute_waiting(&mut self, queue: usize) {
        while let Some(first) = self.waiting.get(&queue).and_then(|waiting| waiting.front()) {
            let first = *first;
            if self.must_wait(first) {
                return;
            }
            self.execute_first(queue, first);
        }
    }

    /// What the host knows to be complete was executed, whatever it waited for.
    fn execute_completed(&mut self, queue: usize, last: u32) {
        while let Some(first) = self.waiting.get(&queue).and_then(|waiting| waiting.front()) {
            let first = *first;
            if self.operations[first].batch > Some(last) {
                return;
            }
            self.execute_first(queue, first);
        }
    }

    fn execute_first(&mut self, queue: usize, first: usize) {
        if let Some(waiting) = self.waiting.get_mut(&queue) {
            waiting.pop_front();
            if waiting.is_empty() {
                self.waiting.remove(&queue);
            }
        }
        self.execute(first);
    }
}

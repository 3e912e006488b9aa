//! Submissions and what tells the host and other queues that they are complete.
//!
//! Knows: a fence, a wait for a queue and a timeline's value complete everything that was submitted
//! to the queue before (Vulkan specification, "Implicit Synchronization Guarantees", "Fences"); of the
//! submission that signals the value that is up to the batch which does.

use super::build::Builder;
use super::{Action, BatchPlace, Operation, SemaphoreStep};
use crate::event::{Batch, Event, ObjectKind, SemaphoreUse, SemaphoreValue, Submit};
use crate::value::Handle;
use std::ops::Range;

/// What was submitted to a queue.
#[derive(Debug)]
pub(super) struct QueueState {
    pub(super) device: usize,
    /// Numbers of the batches of the last submission; 0 for none.
    pub(super) last_batches: Range<u32>,
    /// Number of the last batch that the host knows to be complete.
    pub(super) completed: u32,
}

impl QueueState {
    /// Number of the last batch; 0 for none.
    fn last_batch(&self) -> u32 {
        self.last_batches.end - 1
    }
}

/// What a fence was given to last: a queue and the last batch of a submission.
#[derive(Debug, Default)]
pub(super) struct FenceState {
    submitted: Option<(usize, u32)>,
}

/// A semaphore.
#[derive(Debug)]
pub(super) struct SemaphoreState {
    is_timeline: bool,
    /// Values that batches signal, each with a queue and a batch.
    signals: Vec<(u64, usize, u32)>,
}

impl Builder {
    pub(super) fn take_submission_event(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Fence(fence) => {
                self.live.insert(ObjectKind::Fence, fence, self.fences.len());
                self.fences.push(FenceState::default());
                Ok(())
            }
            Event::Semaphore(semaphore) => {
                let index = self.semaphores.len();
                self.live.insert(ObjectKind::Semaphore, semaphore.semaphore, index);
                let is_timeline = semaphore.timeline.is_some();
                self.semaphores.push(SemaphoreState { is_timeline, signals: Vec::new() });
                Ok(())
            }
            Event::Submit(submit) => self.submit(&submit),
            Event::SubmitFailed(queue) => {
                let queue = self.live.find(ObjectKind::Queue, queue)?;
                self.refused.extend(self.queues[queue].last_batches.clone());
                Ok(())
            }
            Event::FencesSignaled(fences) => self.fences_signaled(&fences),
            Event::ResetFences(fences) => {
                for fence in fences {
                    let fence = self.live.find(ObjectKind::Fence, fence)?;
                    self.fences[fence].submitted = None;
                }
                Ok(())
            }
            Event::QueueIdle(queue) => {
                let queue = self.live.find(ObjectKind::Queue, queue)?;
                self.complete(vec![(queue, self.queues[queue].last_batch())]);
                Ok(())
            }
            Event::DeviceIdle(device) => {
                let device = self.live.find(ObjectKind::Device, device)?;
                let queues = self.queues.iter().enumerate();
                let idle = queues.filter(|(_, queue)| queue.device == device);
                let completed = idle.map(|(index, queue)| (index, queue.last_batch()));
                self.complete(completed.collect());
                Ok(())
            }
            Event::SemaphoresReached(values) => self.semaphores_reached(&values),
            Event::SemaphoreSignaled(value) => {
                // What waits for it is ordered behind the host, which its submission is already.
                self.live.find(ObjectKind::Semaphore, value.semaphore).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    fn submit(&mut self, submit: &Submit) -> Result<(), String> {
        let queue = self.live.find(ObjectKind::Queue, submit.queue)?;
        let fence = self.live.find_or_null(ObjectKind::Fence, submit.fence)?;
        self.submissions = self
            .submissions
            .checked_add(1)
            .ok_or_else(|| "there are too many submissions".to_owned())?;
        let of = submit.batches.len().max(1);
        let first = self.begin_batch(1, of);
        self.push_device(queue, Action::Submit);
        self.readings.begin_submission();
        for (batch, number) in submit.batches.iter().zip(1..) {
            if number > 1 {
                self.begin_batch(number, of);
            }
            self.take_batch(queue, batch)?;
        }
        self.queues[queue].last_batches = first..self.last_batch() + 1;
        if let Some(fence) = fence {
            self.fences[fence].submitted = Some((queue, self.last_batch()));
        }
        Ok(())
    }

    /// Number of the batch that is taken.
    pub(super) fn last_batch(&self) -> u32 {
        u32::try_from(self.batches.len()).unwrap_or(u32::MAX)
    }

    fn begin_batch(&mut self, number: usize, of: usize) -> u32 {
        self.batches.push(BatchPlace { submission: self.submissions, number, of });
        self.last_batch()
    }

    fn take_batch(&mut self, queue: usize, batch: &Batch) -> Result<(), String> {
        for wait in &batch.waits {
            let step = self.semaphore_step(wait)?;
            self.push_device(queue, Action::SemaphoreWait(step));
        }
        for command_buffer in &batch.command_buffers {
            let index = self.live.find(ObjectKind::CommandBuffer, *command_buffer)?;
            self.readings.begin_command_buffer();
            self.execute(index, queue, 0)?;
        }
        for signal in &batch.signals {
            let step = self.semaphore_step(signal)?;
            let batch = self.last_batch();
            if let Some(value) = step.value {
                self.semaphores[step.semaphore].signals.push((value, queue, batch));
            }
            self.push_device(queue, Action::SemaphoreSignal(step));
        }
        Ok(())
    }

    fn semaphore_step(&self, used: &SemaphoreUse) -> Result<SemaphoreStep, String> {
        let semaphore = self.live.find(ObjectKind::Semaphore, used.semaphore)?;
        let value = self.semaphores[semaphore].is_timeline.then_some(used.value);
        Ok(SemaphoreStep { semaphore, value, stages: used.stages })
    }

    fn push_device(&mut self, queue: usize, action: Action) {
        let batch = Some(self.last_batch());
        self.operations.push(Operation { batch, queue, action });
    }

    fn fences_signaled(&mut self, fences: &[Handle]) -> Result<(), String> {
        let mut completed = Vec::new();
        for fence in fences {
            let fence = self.live.find(ObjectKind::Fence, *fence)?;
            completed.extend(self.fences[fence].submitted);
        }
        self.complete(completed);
        Ok(())
    }

    fn semaphores_reached(&mut self, values: &[SemaphoreValue]) -> Result<(), String> {
        let mut completed = Vec::new();
        for reached in values {
            let semaphore = self.live.find(ObjectKind::Semaphore, reached.semaphore)?;
            let signals = &self.semaphores[semaphore].signals;
            let passed = signals.iter().filter(|(value, ..)| *value <= reached.value);
            completed.extend(passed.map(|(_, queue, batch)| (*queue, *batch)));
        }
        self.complete(completed);
        Ok(())
    }

    /// Notes what the host learns to be complete; nothing where it knew that before.
    fn complete(&mut self, completed: Vec<(usize, u32)>) {
        let mut news = Vec::new();
        for (queue, batch) in completed {
            if batch > self.queues[queue].completed {
                self.queues[queue].completed = batch;
                news.push((queue, batch));
            }
        }
        if !news.is_empty() {
            self.host(Action::HostWait { completed: news });
        }
    }
}

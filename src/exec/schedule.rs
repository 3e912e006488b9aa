//! A job with its workgroups in another order.
//!
//! Knows: the rewritten form of a job's modules (`instrument::permute`), which descriptor is free for the permutation.
//! Promises: buffers of the job keep their index; what is added stands behind them. Nothing else of the job changes.
//! Does not cover: which schedules there are (`model::schedule`), comparing what they leave.

use super::{Job, JobBinding, JobBuffer, JobDispatch, JobModule};
use crate::instrument::{permutation_words, permute};
use crate::model::schedule::{MOST_WORKGROUPS, Schedule};
use crate::spirv::module::{Module, ModuleError};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The descriptor set of the permutations.
const SET: u32 = 0;

/// A job whose modules ask a buffer for their workgroup.
pub struct PermutableJob {
    job: Job,
    orders: Vec<Order>,
}

/// A dispatch whose workgroups can be permuted.
pub struct Order {
    /// Index into `Job::dispatches`.
    pub dispatch: usize,
    pub workgroups: u32,
    /// Index into `Job::buffers` of what holds their order.
    buffer: usize,
}

impl PermutableJob {
    /// None: there is nothing to permute, because every dispatch has one workgroup or no kernel asks which one it is. An
    /// error says what cannot be permuted.
    pub fn of(production: &Job) -> Result<Option<Self>, String> {
        let counts = workgroup_counts(production)?;
        let several: BTreeSet<usize> = (production.dispatches.iter().zip(&counts))
            .filter(|(_, count)| **count > 1)
            .map(|(dispatch, _)| dispatch.module)
            .collect();
        let mut job = production.clone();
        let binding = free_binding(production).map_err(|error| error.to_string())?;
        let mut rewritten = BTreeSet::new();
        for index in several {
            let module = &mut job.modules[index];
            if let Some(words) = rewrite(module, binding)? {
                module.words = Arc::new(words);
                rewritten.insert(index);
            }
        }
        let mut orders = Vec::new();
        for (dispatch, workgroups) in counts.into_iter().enumerate() {
            let call = &mut job.dispatches[dispatch];
            if !rewritten.contains(&call.module) {
                continue;
            }
            let words = permutation_words(call.groups, &Schedule::InOrder.permutation(workgroups));
            let (buffer, contents) = (job.buffers.len(), order_buffer(dispatch, &words));
            call.bindings.push(JobBinding::storage(SET, binding, buffer, contents.bytes.len() as u64));
            job.limits.memory_bytes = job.limits.memory_bytes.saturating_add(contents.bytes.len() as u64);
            job.buffers.push(contents);
            orders.push(Order { dispatch, workgroups, buffer });
        }
        Ok((!orders.is_empty()).then_some(Self { job, orders }))
    }

    /// The job from first to last.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The dispatches that have an order, those of one workgroup included.
    pub fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// The job with these dispatches in the order of a schedule, the others from first to last.
    pub fn in_order(&self, schedule: Schedule, dispatches: impl Fn(usize) -> bool) -> Job {
        let mut job = self.job.clone();
        for order in &self.orders {
            let schedule = if dispatches(order.dispatch) { schedule } else { Schedule::InOrder };
            let words =
                permutation_words(job.dispatches[order.dispatch].groups, &schedule.permutation(order.workgroups));
            job.buffers[order.buffer] = order_buffer(order.dispatch, &words);
        }
        job
    }
}

/// Workgroups of each dispatch, all within the limit.
fn workgroup_counts(job: &Job) -> Result<Vec<u32>, String> {
    let count = |(index, dispatch): (usize, &JobDispatch)| {
        let workgroups = dispatch.groups.map(u64::from).iter().product::<u64>();
        let kernel = &job.modules[dispatch.module].kernel;
        let refused = || {
            format!(
                "dispatch {index} of kernel `{kernel}` has {workgroups} workgroups; schedules are made for at most \
                 {MOST_WORKGROUPS}"
            )
        };
        Some(workgroups).filter(|count| *count <= MOST_WORKGROUPS).map(|count| count as u32).ok_or_else(refused)
    };
    job.dispatches.iter().enumerate().map(count).collect()
}

/// The module that asks a buffer at `binding` for its workgroup; none where it asks for none.
fn rewrite(module: &JobModule, binding: u32) -> Result<Option<Vec<u32>>, String> {
    let told = |error: &dyn std::fmt::Display| format!("kernel `{}`: {error}", module.kernel);
    let parsed = Module::parse(module.words.clone()).map_err(|error| told(&error))?;
    permute(&parsed, SET, binding).map_err(|error| told(&error))
}

fn order_buffer(dispatch: usize, words: &[u32]) -> JobBuffer {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let defined = std::iter::once(0..bytes.len()).collect();
    JobBuffer { name: format!("order of the workgroups of dispatch {dispatch}"), bytes, defined }
}

/// A binding number that neither the job nor any of its modules uses in any set.
fn free_binding(job: &Job) -> Result<u32, ModuleError> {
    let mut most: Option<u32> = job.dispatches.iter().flat_map(|d| &d.bindings).map(|binding| binding.binding).max();
    for module in &job.modules {
        let module = Module::parse(module.words.clone())?;
        most = most.max(module.binding_numbers().max());
    }
    // A module that has the last number as well cannot be laid out by a driver either.
    Ok(most.map_or(0, |most| most.saturating_add(1)))
}

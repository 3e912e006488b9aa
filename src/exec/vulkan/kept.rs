//! Buffers and descriptor pools that jobs hand back, for later jobs of the same shape.
//!
//! Knows: the lengths of a job's buffers and the descriptors of its layouts: what makes two jobs
//! alike here.
//! Promises: at most [`MOST`] of each are kept, and no storage of more than [`SMALL`] bytes; what
//! is handed out holds no descriptor set. Contents are as the last job left them: the session
//! writes every byte anew, guards included.
//! Does not cover: pipelines (`pipeline`).

use super::descriptors::{DescriptorPool, Room};
use super::device::{CallFailure, Device};
use super::fit::Layout;
use super::memory::{Block, Placement, Storage};
use super::stop::Stop;
use std::rc::Rc;

/// A test runs as production, traced and instrumented module, each with its loop count; two kernels
/// in turn fit.
const MOST: usize = 12;
/// Bytes of a storage that is kept with its buffers; of larger ones the block alone is kept, one at
/// a time.
const SMALL: u64 = 16 << 20;

pub(crate) struct Kept {
    /// Last used last.
    storages: Vec<Storage>,
    /// Last used last.
    pools: Vec<DescriptorPool>,
    spare: Option<Block>,
    device: Rc<Device>,
}

impl Kept {
    pub(crate) fn new(device: &Rc<Device>) -> Self {
        Self { storages: Vec::new(), pools: Vec::new(), spare: None, device: device.clone() }
    }

    /// Buffers of these lengths where the host reads fast.
    pub(crate) fn storage(&mut self, lengths: &[usize]) -> Result<Storage, CallFailure> {
        match self.storages.iter().position(|storage| storage.has_lengths(lengths)) {
            Some(place) => Ok(self.storages.remove(place)),
            None => Storage::create(&self.device, lengths, Placement::ReadBack, self.spare.take()),
        }
    }

    /// An empty pool with room for the sets of these layouts.
    pub(crate) fn pool(&mut self, layouts: &[&Layout]) -> Result<DescriptorPool, Stop> {
        let room = Room::of(layouts);
        match self.pools.iter().position(|pool| pool.room == room) {
            Some(place) => Ok(self.pools.remove(place)),
            None => DescriptorPool::create(&self.device, room),
        }
    }

    /// Takes back what a job used; all of its dispatches have ended.
    pub(crate) fn take_back(
        &mut self,
        storage: Storage,
        pool: DescriptorPool,
    ) -> Result<(), CallFailure> {
        pool.reset()?;
        if self.pools.len() >= MOST {
            self.pools.remove(0);
        }
        self.pools.push(pool);
        if storage.bytes() > SMALL {
            self.spare = storage.into_block();
            return Ok(());
        }
        if self.storages.len() >= MOST {
            let oldest = self.storages.remove(0).into_block();
            self.spare = self.spare.take().or(oldest);
        }
        self.storages.push(storage);
        Ok(())
    }
}

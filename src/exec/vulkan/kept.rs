//! Buffers and descriptor pools that jobs hand back, for later jobs of the same shape.
//!
//! Knows: the lengths of a job's buffers and the descriptors of its layouts: what makes two jobs
//! alike here.
//! Promises: at most [`MOST_KEPT`] of each are kept, and no storage of more than
//! [`SMALL_STORAGE`] bytes; what is handed out holds no descriptor set. Contents are as the last
//! job left them: the session writes every byte anew, guards included.
//! Does not cover: pipelines (`pipeline`).

use super::descriptors::{DescriptorPool, PoolRoom};
use super::device::{CallFailure, Device};
use super::fit::DescriptorLayout;
use super::memory::{BufferStorage, MemoryBlock, Placement};
use super::stop::JobStop;
use std::rc::Rc;

/// A test runs as production, traced and instrumented module, each with its loop count; two kernels
/// in turn fit.
const MOST_KEPT: usize = 12;
/// Bytes of a storage that is kept with its buffers; of larger ones the block alone is kept, one at
/// a time.
const SMALL_STORAGE: u64 = 16 << 20;

pub(crate) struct KeptResources {
    /// Last used last.
    storages: Vec<BufferStorage>,
    /// Last used last.
    pools: Vec<DescriptorPool>,
    spare_block: Option<MemoryBlock>,
    device: Rc<Device>,
}

impl KeptResources {
    pub(crate) fn new(device: &Rc<Device>) -> Self {
        Self {
            storages: Vec::new(),
            pools: Vec::new(),
            spare_block: None,
            device: Rc::clone(device),
        }
    }

    /// Buffers of these lengths where the host reads fast.
    pub(crate) fn storage_for(
        &mut self,
        buffer_lengths: &[usize],
    ) -> Result<BufferStorage, CallFailure> {
        match self.storages.iter().position(|storage| storage.has_lengths(buffer_lengths)) {
            Some(storage_index) => Ok(self.storages.remove(storage_index)),
            None => BufferStorage::create_buffers(
                &self.device,
                buffer_lengths,
                Placement::ReadBack,
                self.spare_block.take(),
            ),
        }
    }

    /// An empty pool with room for the sets of these layouts.
    pub(crate) fn pool_for(
        &mut self,
        layouts: &[&DescriptorLayout],
    ) -> Result<DescriptorPool, JobStop> {
        let wanted_room = PoolRoom::for_layouts(layouts);
        match self.pools.iter().position(|pool| pool.pool_room == wanted_room) {
            Some(pool_index) => Ok(self.pools.remove(pool_index)),
            None => DescriptorPool::create_pool(&self.device, wanted_room),
        }
    }

    /// Takes back what a job used; all of its dispatches have ended.
    pub(crate) fn take_back(
        &mut self,
        storage: BufferStorage,
        pool: DescriptorPool,
    ) -> Result<(), CallFailure> {
        pool.free_sets()?;
        if self.pools.len() >= MOST_KEPT {
            self.pools.remove(0);
        }
        self.pools.push(pool);
        if storage.block_bytes() > SMALL_STORAGE {
            self.spare_block = storage.into_block();
            return Ok(());
        }
        if self.storages.len() >= MOST_KEPT {
            let oldest_block = self.storages.remove(0).into_block();
            self.spare_block = self.spare_block.take().or(oldest_block);
        }
        self.storages.push(storage);
        Ok(())
    }
}

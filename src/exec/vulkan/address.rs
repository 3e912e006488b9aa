//! Real device addresses in place of their symbols, and back.
//!
//! Knows: where each buffer of a job lies on the device (feature bufferDeviceAddress).
//! Promises: while kernels run, an address points behind the guard zone of its buffer; in outputs
//! its symbol stands again, so that outputs are the same in every run. That holds for every address
//! of one of the job's buffers that stands at a multiple of 8 bytes or where the test put one,
//! whether the kernel left it or copied it there.
//! Does not cover: addresses that kernels store elsewhere (in images, in two halves, or with other
//! bits in them).

use super::device::Device;
use super::memory::{BufferStorage, GUARD};
use super::protocol::WireJob;
use ash::vk;
use vkcert_exec::resource::{AddressPlace, JobAddress, address_symbol};

/// Addresses of a job's buffers; empty for a job that stores none.
pub(crate) struct DeviceAddresses {
    /// By index of the job's buffers: address and length of the contents.
    buffer_ranges: Vec<(u64, u64)>,
    stored_addresses: Vec<JobAddress>,
}

impl DeviceAddresses {
    /// `job` stores addresses only if the device has the feature (`image_fit::check_images`).
    pub(crate) fn for_job(device: &Device, job: &WireJob, storage: &BufferStorage) -> Self {
        let buffer_count = if job.addresses.is_empty() { 0 } else { job.buffers.len() };
        let buffer_range = |buffer_index| {
            let create_info =
                vk::BufferDeviceAddressInfo::default().buffer(storage.buffer(buffer_index));
            // SAFETY: the feature is on, and buffer and memory were made for it
            // (`Device::buffer_usage`, `Block`). Version 1.2 has the call in its core; the feature
            // is only known there.
            let device_address = unsafe { device.raw.get_buffer_device_address(&create_info) };
            (device_address + GUARD as u64, job.buffers[buffer_index].0.len() as u64)
        };
        Self {
            buffer_ranges: (0..buffer_count).map(buffer_range).collect(),
            stored_addresses: job.addresses.clone(),
        }
    }

    /// Puts the real addresses of a place into its bytes.
    pub(crate) fn insert_addresses(&self, address_place: AddressPlace, bytes: &mut [u8]) {
        for address in self.stored_addresses.iter().filter(|address| address.place == address_place)
        {
            let byte_offset = address.at as usize;
            let (Some(address_bytes), Some((buffer_start, _))) = (
                bytes.get_mut(byte_offset..byte_offset + 8),
                self.buffer_ranges.get(address.target as usize),
            ) else {
                continue;
            };
            address_bytes.copy_from_slice(&(buffer_start + address.offset).to_le_bytes());
        }
    }

    /// Puts symbols in place of the addresses in a buffer's final contents.
    pub(crate) fn replace_by_symbols(&self, buffer_index: usize, bytes: &mut [u8]) {
        if self.buffer_ranges.is_empty() {
            return;
        }
        let own_place = AddressPlace::Buffer(buffer_index as u32);
        let stored_offsets = self
            .stored_addresses
            .iter()
            .filter(|address| address.place == own_place)
            .map(|address| address.at as usize);
        let all_offsets = (0..bytes.len()).step_by(8).chain(stored_offsets);
        for byte_offset in all_offsets {
            let Some(address_bytes) = bytes.get_mut(byte_offset..byte_offset + 8) else { continue };
            let device_address = u64::from_le_bytes(address_bytes.try_into().expect("8 bytes"));
            if let Some(symbol) = self.symbol_of(device_address) {
                address_bytes.copy_from_slice(&symbol.to_le_bytes());
            }
        }
    }

    /// The symbol of an address within or directly behind a buffer.
    fn symbol_of(&self, device_address: u64) -> Option<u64> {
        let is_within = |(buffer_start, length): &(u64, u64)| {
            (*buffer_start..=buffer_start + length).contains(&device_address)
        };
        let target_buffer = self.buffer_ranges.iter().position(is_within)?;
        Some(address_symbol(
            target_buffer as u32,
            device_address - self.buffer_ranges[target_buffer].0,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_goes_in_and_its_symbol_comes_out_wherever_it_was_copied() {
        let place = AddressPlace::Buffer(0);
        let stored = vec![JobAddress { place, at: 4, target: 1, offset: 8 }];
        let addresses = DeviceAddresses {
            buffer_ranges: vec![(0x7000_0000_0100, 32), (0x7000_0000_0400, 16)],
            stored_addresses: stored,
        };
        let mut bytes = vec![0; 32];
        addresses.insert_addresses(place, &mut bytes);
        assert_eq!(bytes[4..12], 0x7000_0000_0408_u64.to_le_bytes());
        let copy: [u8; 8] = bytes[4..12].try_into().unwrap();
        bytes[16..24].copy_from_slice(&copy);
        addresses.replace_by_symbols(0, &mut bytes);
        assert_eq!(bytes[4..12], address_symbol(1, 8).to_le_bytes());
        assert_eq!(bytes[16..24], address_symbol(1, 8).to_le_bytes());
        assert_eq!(bytes[24..], [0; 8]);
    }
}

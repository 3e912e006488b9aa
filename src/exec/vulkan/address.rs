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
use super::memory::{GUARD, Storage};
use super::protocol::WireJob;
use ash::vk;
use vkcert_exec::resource::{AddressPlace, JobAddress, address_symbol};

/// Addresses of a job's buffers; empty for a job that stores none.
pub(crate) struct Addresses {
    /// By index of the job's buffers: address and length of the contents.
    places: Vec<(u64, u64)>,
    stored: Vec<JobAddress>,
}

impl Addresses {
    /// `job` stores addresses only if the device has the feature (`image_fit::check_images`).
    pub(crate) fn of(device: &Device, job: &WireJob, storage: &Storage) -> Self {
        let buffers = if job.addresses.is_empty() { 0 } else { job.buffers.len() };
        let place = |index| {
            let info = vk::BufferDeviceAddressInfo::default().buffer(storage.buffer(index));
            // SAFETY: the feature is on, and buffer and memory were made for it
            // (`Device::buffer_usage`, `Block`). Version 1.2 has the call in its core; the feature
            // is only known there.
            let start = unsafe { device.raw.get_buffer_device_address(&info) };
            (start + GUARD as u64, job.buffers[index].0.len() as u64)
        };
        Self { places: (0..buffers).map(place).collect(), stored: job.addresses.clone() }
    }

    /// Puts the real addresses of a place into its bytes.
    pub(crate) fn put(&self, place: AddressPlace, bytes: &mut [u8]) {
        for address in self.stored.iter().filter(|address| address.place == place) {
            let at = address.at as usize;
            let (Some(slot), Some((start, _))) =
                (bytes.get_mut(at..at + 8), self.places.get(address.target as usize))
            else {
                continue;
            };
            slot.copy_from_slice(&(start + address.offset).to_le_bytes());
        }
    }

    /// Puts symbols in place of the addresses in a buffer's final contents.
    pub(crate) fn take_out(&self, buffer: usize, bytes: &mut [u8]) {
        if self.places.is_empty() {
            return;
        }
        let own = AddressPlace::Buffer(buffer as u32);
        let stored = self
            .stored
            .iter()
            .filter(|address| address.place == own)
            .map(|address| address.at as usize);
        let places = (0..bytes.len()).step_by(8).chain(stored);
        for at in places {
            let Some(slot) = bytes.get_mut(at..at + 8) else { continue };
            let value = u64::from_le_bytes(slot.try_into().expect("8 bytes"));
            if let Some(symbol) = self.symbol(value) {
                slot.copy_from_slice(&symbol.to_le_bytes());
            }
        }
    }

    /// The symbol of an address within or directly behind a buffer.
    fn symbol(&self, value: u64) -> Option<u64> {
        let within = |(start, length): &(u64, u64)| (*start..=start + length).contains(&value);
        let target = self.places.iter().position(within)?;
        Some(address_symbol(target as u32, value - self.places[target].0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_goes_in_and_its_symbol_comes_out_wherever_it_was_copied() {
        let place = AddressPlace::Buffer(0);
        let stored = vec![JobAddress { place, at: 4, target: 1, offset: 8 }];
        let addresses =
            Addresses { places: vec![(0x7000_0000_0100, 32), (0x7000_0000_0400, 16)], stored };
        let mut bytes = vec![0; 32];
        addresses.put(place, &mut bytes);
        assert_eq!(bytes[4..12], 0x7000_0000_0408_u64.to_le_bytes());
        let copy: [u8; 8] = bytes[4..12].try_into().unwrap();
        bytes[16..24].copy_from_slice(&copy);
        addresses.take_out(0, &mut bytes);
        assert_eq!(bytes[4..12], address_symbol(1, 8).to_le_bytes());
        assert_eq!(bytes[16..24], address_symbol(1, 8).to_le_bytes());
        assert_eq!(bytes[24..], [0; 8]);
    }
}

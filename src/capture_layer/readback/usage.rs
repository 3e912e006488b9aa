//! Buffers and images that are made so that they can be read.
//!
//! Knows: TRANSFER_SRC is added to what a program asks for while contents are asked for.
//! Promises: it is added only where that changes nothing that the program can see but memory
//! requirements, which it asks for anew: nothing that another process or interface shares, sparse,
//! protected or replayed resources, or images that the device cannot make so.

use crate::device_table::DeviceTable;
use crate::instance_table::instance_of;
use ash::vk;
use vkcert_capture::format::image_format;

/// How a resource is made.
pub(crate) enum ReadableCreation<C> {
    /// As the program asks for it.
    AsAsked,
    /// With another usage.
    With(C),
    /// As the program asks for it, and it is not read.
    Unread(&'static str),
}

impl<C> ReadableCreation<C> {
    /// Makes a resource so, and as asked for where that fails; why it is not read.
    pub(crate) fn make(
        &self,
        asked: *const C,
        create: impl Fn(*const C) -> vk::Result,
    ) -> (vk::Result, Option<&'static str>) {
        match self {
            ReadableCreation::AsAsked => (create(asked), None),
            ReadableCreation::Unread(reason) => (create(asked), Some(reason)),
            ReadableCreation::With(readable) => match create(readable) {
                vk::Result::SUCCESS => (vk::Result::SUCCESS, None),
                _ => (create(asked), Some("the device does not make it so that it can be copied")),
            },
        }
    }
}

/// How a buffer is made.
pub(super) fn readable_buffer<'a>(
    create: &vk::BufferCreateInfo<'a>,
) -> ReadableCreation<vk::BufferCreateInfo<'a>> {
    if create.flags.contains(vk::BufferCreateFlags::PROTECTED) {
        return ReadableCreation::Unread("its buffer is protected");
    }
    if create.flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
        return ReadableCreation::Unread("its buffer is sparse");
    }
    if create.usage.contains(vk::BufferUsageFlags::TRANSFER_SRC) {
        return ReadableCreation::AsAsked;
    }
    if !create.p_next.is_null() || !create.flags.is_empty() {
        return ReadableCreation::Unread("its buffer is made with structures or flags of its own");
    }
    ReadableCreation::With(vk::BufferCreateInfo {
        usage: create.usage | vk::BufferUsageFlags::TRANSFER_SRC,
        ..*create
    })
}

/// How an image is made.
///
/// # Safety
/// The device is that of the table.
pub(super) unsafe fn readable_image<'a>(
    table: &DeviceTable,
    create: &vk::ImageCreateInfo<'a>,
) -> ReadableCreation<vk::ImageCreateInfo<'a>> {
    let sparse = vk::ImageCreateFlags::SPARSE_BINDING | vk::ImageCreateFlags::SUBSAMPLED_EXT;
    if create.flags.contains(vk::ImageCreateFlags::PROTECTED) {
        return ReadableCreation::Unread("it is protected");
    }
    if create.flags.intersects(sparse) {
        return ReadableCreation::Unread("it is sparse or subsampled");
    }
    if create.samples != vk::SampleCountFlags::TYPE_1 {
        return ReadableCreation::Unread("it has several samples");
    }
    if image_format(create.format.as_raw()).is_none() {
        return ReadableCreation::Unread("texels of its format are not followed");
    }
    if matches!(create.format, vk::Format::D16_UNORM | vk::Format::D32_SFLOAT) {
        return ReadableCreation::Unread("it holds depths");
    }
    if create.usage.contains(vk::ImageUsageFlags::TRANSFER_SRC) {
        return ReadableCreation::AsAsked;
    }
    let is_transient = create.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
    if !create.p_next.is_null() || is_transient {
        return ReadableCreation::Unread("it is made with structures or a usage of its own");
    }
    let usage = create.usage | vk::ImageUsageFlags::TRANSFER_SRC;
    let with = vk::ImageCreateInfo { usage, ..*create };
    match unsafe { can_be_made(table, &with) } {
        true => ReadableCreation::With(with),
        false => ReadableCreation::Unread("the device makes no such image that can be copied from"),
    }
}

/// Whether the device makes images like this.
unsafe fn can_be_made(table: &DeviceTable, create: &vk::ImageCreateInfo<'_>) -> bool {
    let physical = table.physical;
    let Some(ask) = instance_of(physical).and_then(|instance| instance.image_format_properties)
    else {
        return false;
    };
    let mut limits = vk::ImageFormatProperties::default();
    let answer = unsafe {
        ask(
            physical,
            create.format,
            create.image_type,
            create.tiling,
            create.usage,
            create.flags,
            &mut limits,
        )
    };
    let most = limits.max_extent;
    let extent = create.extent;
    answer == vk::Result::SUCCESS
        && (extent.width <= most.width
            && extent.height <= most.height
            && extent.depth <= most.depth)
        && create.mip_levels <= limits.max_mip_levels
        && create.array_layers <= limits.max_array_layers
        && limits.sample_counts.contains(create.samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage_of(creation: &ReadableCreation<vk::BufferCreateInfo<'_>>) -> Option<u32> {
        match creation {
            ReadableCreation::With(create) => Some(create.usage.as_raw()),
            ReadableCreation::AsAsked | ReadableCreation::Unread(_) => None,
        }
    }

    #[test]
    fn a_plain_buffer_is_made_so_that_it_can_be_copied() {
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let plain = vk::BufferCreateInfo::default().size(64).usage(storage);
        assert_eq!(usage_of(&readable_buffer(&plain)), Some(0x21));
        let copied = plain.usage(storage | vk::BufferUsageFlags::TRANSFER_SRC);
        assert!(matches!(readable_buffer(&copied), ReadableCreation::AsAsked));
        for flags in [
            vk::BufferCreateFlags::PROTECTED,
            vk::BufferCreateFlags::SPARSE_BINDING,
            vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY,
        ] {
            assert!(matches!(readable_buffer(&plain.flags(flags)), ReadableCreation::Unread(_)));
        }
        let mut shared = vk::ExternalMemoryBufferCreateInfo::default();
        let shared = plain.push_next(&mut shared);
        assert!(matches!(readable_buffer(&shared), ReadableCreation::Unread(_)));
    }

    /// A device that cannot make it so makes it as the program asks for it.
    #[test]
    fn what_cannot_be_made_so_is_made_as_asked() {
        let (asked, readable) = (1, ReadableCreation::With(2));
        let refuses = |create: *const i32| match unsafe { *create } {
            1 => vk::Result::SUCCESS,
            _ => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
        };
        let (result, unread) = readable.make(&asked, refuses);
        assert_eq!((result, unread.is_some()), (vk::Result::SUCCESS, true));
        let (result, unread) = readable.make(&asked, |_| vk::Result::SUCCESS);
        assert_eq!((result, unread), (vk::Result::SUCCESS, None));
    }
}

//! Which queue family serves.
//!
//! Knows: dispatches need a family with compute; copies of depth formats need one with graphics
//! (Vulkan specification, VUID-vkCmdCopyBufferToImage-commandBuffer-07739 and its kin).
//! Promises: if one family can do both, it is that one, so that one queue and one order of commands
//! serve every job.
//! Does not cover: several queues; a device whose compute family has no graphics takes no depth
//! images (`image_fit`).

use ash::vk;

/// The queue family in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueFamily {
    pub index: u32,
    /// What it can do.
    pub flags: vk::QueueFlags,
    /// Significant bits of its timestamps; 0: it has none.
    pub timestamp_bits: u32,
}

/// The first family with compute and graphics, else the first with compute; none: the device cannot
/// compute.
pub(crate) fn choose_queue_family(
    queue_families: &[vk::QueueFamilyProperties],
) -> Option<QueueFamily> {
    let family_flags = |chosen_family: &vk::QueueFamilyProperties| chosen_family.queue_flags;
    let usable_families = queue_families
        .iter()
        .enumerate()
        .filter(|(_, chosen_family)| chosen_family.queue_count > 0);
    let compute_families = usable_families
        .filter(|(_, chosen_family)| family_flags(chosen_family).contains(vk::QueueFlags::COMPUTE));
    // `min_by_key` keeps the first of equals.
    let (family_index, chosen_family) = compute_families.min_by_key(|(_, chosen_family)| {
        !family_flags(chosen_family).contains(vk::QueueFlags::GRAPHICS)
    })?;
    Some(QueueFamily {
        index: family_index as u32,
        flags: chosen_family.queue_flags,
        timestamp_bits: chosen_family.timestamp_valid_bits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::QueueFlags as Flags;

    fn family(flags: Flags, count: u32, bits: u32) -> vk::QueueFamilyProperties {
        vk::QueueFamilyProperties {
            queue_flags: flags,
            queue_count: count,
            timestamp_valid_bits: bits,
            ..Default::default()
        }
    }

    fn chosen(families: &[vk::QueueFamilyProperties]) -> Option<u32> {
        choose_queue_family(families).map(|family| family.index)
    }

    #[test]
    fn a_family_that_can_do_both_goes_before_one_that_computes_alone() {
        let both = Flags::GRAPHICS | Flags::COMPUTE | Flags::TRANSFER;
        let compute = Flags::COMPUTE | Flags::TRANSFER;
        let (graphics, transfer) = (Flags::GRAPHICS | Flags::TRANSFER, Flags::TRANSFER);
        // One family, as llvmpipe has it; families as discrete devices have them, in several
        // orders.
        assert_eq!(chosen(&[family(both, 1, 64)]), Some(0));
        assert_eq!(
            chosen(&[family(both, 16, 64), family(transfer, 2, 64), family(compute, 8, 64)]),
            Some(0)
        );
        assert_eq!(
            chosen(&[family(transfer, 2, 64), family(compute, 8, 64), family(both, 1, 64)]),
            Some(2)
        );
        assert_eq!(
            chosen(&[family(compute, 8, 64), family(both, 1, 64), family(both, 1, 64)]),
            Some(1)
        );
        // Without one that can do both: compute alone, and never graphics alone.
        assert_eq!(
            chosen(&[family(graphics, 1, 64), family(compute, 1, 0), family(compute, 1, 64)]),
            Some(1)
        );
        assert_eq!(chosen(&[family(graphics, 1, 64), family(transfer, 1, 64)]), None);
        assert_eq!(chosen(&[]), None);
        // A family without a queue is none.
        assert_eq!(chosen(&[family(both, 0, 64), family(compute, 1, 36)]), Some(1));
    }

    #[test]
    fn what_the_family_can_do_is_told() {
        let flags = Flags::COMPUTE | Flags::TRANSFER;
        let found = choose_queue_family(&[family(Flags::TRANSFER, 1, 64), family(flags, 1, 36)]);
        assert_eq!(found, Some(QueueFamily { index: 1, flags, timestamp_bits: 36 }));
    }
}

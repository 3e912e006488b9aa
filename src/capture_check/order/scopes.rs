//! Stages and accesses of dependencies (Vulkan specification, "Execution and Memory Dependencies",
//! "Pipeline Stages", "Access Types").
//!
//! Knows: the stages of compute dispatches, transfers and the host; which stages stand logically
//! before and behind others; which flags include which.

/// DRAW_INDIRECT: where an indirect dispatch reads its numbers.
pub(super) const INDIRECT_STAGE: u64 = 0x2;
/// COMPUTE_SHADER.
pub(super) const COMPUTE_STAGE: u64 = 0x800;
/// COPY, which TRANSFER includes.
pub(super) const COPY_STAGE: u64 = 0x1_0000_0000;
/// CLEAR, which TRANSFER includes: fills and updates.
pub(super) const CLEAR_STAGE: u64 = 0x8_0000_0000;
/// HOST.
pub(super) const HOST_STAGE: u64 = 0x4000;

const TOP_OF_PIPE: u64 = 0x1;
const BOTTOM_OF_PIPE: u64 = 0x2000;
const TRANSFER: u64 = 0x1000;
const ALL_TRANSFER: u64 = 0xF_0000_0000;
/// ALL_COMMANDS.
pub(super) const ALL_COMMANDS: u64 = 0x1_0000;

/// The stages that commands of a compute queue have. HOST is none of them: it is no stage of a
/// command, and ALL_COMMANDS does not include it.
const COMMAND_STAGES: u64 = INDIRECT_STAGE | COMPUTE_STAGE | ALL_TRANSFER;

/// INDIRECT_COMMAND_READ.
pub(super) const INDIRECT_READ: u64 = 0x1;
/// UNIFORM_READ.
pub(super) const UNIFORM_READ: u64 = 0x8;
const SHADER_READ: u64 = 0x20;
const SHADER_WRITE: u64 = 0x40;
/// TRANSFER_READ.
pub(super) const TRANSFER_READ: u64 = 0x800;
/// TRANSFER_WRITE.
pub(super) const TRANSFER_WRITE: u64 = 0x1000;
/// HOST_READ.
pub(super) const HOST_READ: u64 = 0x2000;
const MEMORY_READ: u64 = 0x8000;
const MEMORY_WRITE: u64 = 0x1_0000;
/// SHADER_SAMPLED_READ, which SHADER_READ includes.
pub(super) const SAMPLED_READ: u64 = 0x1_0000_0000;
/// SHADER_STORAGE_READ, which SHADER_READ includes.
pub(super) const STORAGE_READ: u64 = 0x2_0000_0000;
/// SHADER_STORAGE_WRITE, which SHADER_WRITE includes.
pub(super) const STORAGE_WRITE: u64 = 0x4_0000_0000;

/// The stages that a mask names, single ones in the place of those that include them; accesses are
/// limited to these.
pub(super) fn access_stages(mask: u64) -> u64 {
    let mut stages = mask & (COMMAND_STAGES | HOST_STAGE);
    if mask & TRANSFER != 0 {
        stages |= ALL_TRANSFER;
    }
    if mask & ALL_COMMANDS != 0 {
        stages |= COMMAND_STAGES;
    }
    stages
}

/// The stages whose execution a first scope holds: those that are named and what stands logically
/// before them.
pub(super) fn source_stages(mask: u64) -> u64 {
    let mut stages = access_stages(mask);
    if mask & BOTTOM_OF_PIPE != 0 {
        stages |= COMMAND_STAGES;
    }
    if stages & COMPUTE_STAGE != 0 {
        stages |= INDIRECT_STAGE;
    }
    stages
}

/// The stages whose execution a second scope holds: those that are named and what stands logically
/// behind them.
pub(super) fn target_stages(mask: u64) -> u64 {
    let mut stages = access_stages(mask);
    if mask & TOP_OF_PIPE != 0 {
        stages |= COMMAND_STAGES;
    }
    if stages & INDIRECT_STAGE != 0 {
        stages |= COMPUTE_STAGE;
    }
    stages
}

/// Whether a mask of accesses includes one access.
pub(super) fn includes_access(mask: u64, access: u64) -> bool {
    let mut accesses = mask;
    if mask & SHADER_READ != 0 {
        accesses |= SAMPLED_READ | STORAGE_READ;
    }
    if mask & SHADER_WRITE != 0 {
        accesses |= STORAGE_WRITE;
    }
    if mask & MEMORY_READ != 0 {
        accesses |= INDIRECT_READ | UNIFORM_READ | TRANSFER_READ | HOST_READ;
        accesses |= SAMPLED_READ | STORAGE_READ;
    }
    if mask & MEMORY_WRITE != 0 {
        accesses |= TRANSFER_WRITE | STORAGE_WRITE;
    }
    accesses & access == access
}

/// The same access as the first version of synchronization names it.
pub(super) fn advised_access(access: u64) -> u64 {
    match access {
        SAMPLED_READ | STORAGE_READ => SHADER_READ,
        STORAGE_WRITE => SHADER_WRITE,
        other => other,
    }
}

/// The same stage as the first version of synchronization names it.
pub(super) fn advised_stage(stage: u64) -> u64 {
    if stage & ALL_TRANSFER != 0 { TRANSFER } else { stage }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_hold_what_the_specification_gives_them() {
        // "Pipeline Stages": TRANSFER is COPY, RESOLVE, BLIT and CLEAR; ALL_COMMANDS holds no HOST.
        assert_ne!(source_stages(0x1000) & COPY_STAGE, 0);
        assert_eq!(source_stages(ALL_COMMANDS) & HOST_STAGE, 0);
        // A first scope of COMPUTE_SHADER holds DRAW_INDIRECT, a second one does not.
        assert_ne!(source_stages(COMPUTE_STAGE) & INDIRECT_STAGE, 0);
        assert_eq!(target_stages(COMPUTE_STAGE) & INDIRECT_STAGE, 0);
        assert_ne!(target_stages(INDIRECT_STAGE) & COMPUTE_STAGE, 0);
        // TOP_OF_PIPE in a first scope and BOTTOM_OF_PIPE in a second one hold nothing.
        assert_eq!(source_stages(0x1), 0);
        assert_eq!(target_stages(0x2000), 0);
        assert_eq!(access_stages(0x2000), 0);
    }

    #[test]
    fn flags_include_the_ones_that_they_stand_for() {
        assert!(includes_access(0x20, STORAGE_READ));
        assert!(includes_access(0x8000, HOST_READ));
        assert!(!includes_access(0x20, UNIFORM_READ));
        assert!(!includes_access(0x20, STORAGE_WRITE));
        assert!(!includes_access(0x8000, STORAGE_WRITE));
    }
}

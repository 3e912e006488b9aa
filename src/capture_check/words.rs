//! Operations, stages and accesses as messages name them.

use vkcert_capture::program::{Action, BarrierPart, BarrierScope, Program};

/// What an operation is called: `dispatch 3 (operation 17)`.
pub fn operation_in_words(program: &Program, index: usize) -> String {
    let name = match &program.operations[index].action {
        Action::Dispatch(dispatch) => format!("dispatch {}", dispatch.number),
        Action::UnboundDispatch { .. } => "the dispatch without a pipeline".to_owned(),
        Action::Copy { .. } => "the copy".to_owned(),
        Action::Fill { .. } => "the fill".to_owned(),
        Action::Update { .. } => "the update".to_owned(),
        Action::CopyToImage { .. } | Action::CopyFromImage { .. } | Action::CopyImage { .. } => {
            "the copy".to_owned()
        }
        Action::ClearImage { .. } => "the clear".to_owned(),
        Action::ImageCopy { name, .. } => name.to_string(),
        Action::Barrier(_) => "the barrier".to_owned(),
        Action::Unsupported { name, .. } => name.to_string(),
        Action::Submit => "the submission".to_owned(),
        Action::SemaphoreWait(_) => "the wait for a semaphore".to_owned(),
        Action::SemaphoreSignal(_) => "the signal of a semaphore".to_owned(),
        Action::HostWait { .. } => "the host's wait".to_owned(),
        Action::Map(_) => "vkMapMemory".to_owned(),
        Action::Unmap(_) => "vkUnmapMemory".to_owned(),
        Action::Flush(_) => "vkFlushMappedMemoryRanges".to_owned(),
        Action::Invalidate(_) => "vkInvalidateMappedMemoryRanges".to_owned(),
        Action::Contents { .. } | Action::ImageContents { .. } => "the contents".to_owned(),
        Action::UnreadImage { .. } => "contents that were not read".to_owned(),
    };
    format!("{name} (operation {})", index + 1)
}

/// Bits with their names.
type Names = &'static [(u64, &'static str)];

const STAGES: Names = &[
    (0x1, "TOP_OF_PIPE"),
    (0x2, "DRAW_INDIRECT"),
    (0x800, "COMPUTE_SHADER"),
    (0x1000, "TRANSFER"),
    (0x2000, "BOTTOM_OF_PIPE"),
    (0x4000, "HOST"),
    (0x8000, "ALL_GRAPHICS"),
    (0x1_0000, "ALL_COMMANDS"),
    (0x1_0000_0000, "COPY"),
    (0x8_0000_0000, "CLEAR"),
];

const ACCESSES: Names = &[
    (0x1, "INDIRECT_COMMAND_READ"),
    (0x8, "UNIFORM_READ"),
    (0x20, "SHADER_READ"),
    (0x40, "SHADER_WRITE"),
    (0x800, "TRANSFER_READ"),
    (0x1000, "TRANSFER_WRITE"),
    (0x2000, "HOST_READ"),
    (0x4000, "HOST_WRITE"),
    (0x8000, "MEMORY_READ"),
    (0x1_0000, "MEMORY_WRITE"),
    (0x1_0000_0000, "SHADER_SAMPLED_READ"),
    (0x2_0000_0000, "SHADER_STORAGE_READ"),
    (0x4_0000_0000, "SHADER_STORAGE_WRITE"),
];

fn bits_in_words(bits: u64, names: Names) -> String {
    if bits == 0 {
        return "0".to_owned();
    }
    let named = names.iter().filter(|(bit, _)| bits & bit != 0);
    let mut words: Vec<String> = named.map(|(_, name)| (*name).to_owned()).collect();
    let known = names.iter().fold(0, |known, (bit, _)| known | bit);
    if bits & !known != 0 {
        words.push(format!("{:#x}", bits & !known));
    }
    words.join(" | ")
}

/// Stages without their prefix.
pub(crate) fn stages_in_words(bits: u64) -> String {
    bits_in_words(bits, STAGES)
}

/// Accesses without their prefix.
pub(crate) fn accesses_in_words(bits: u64) -> String {
    bits_in_words(bits, ACCESSES)
}

/// A VkImageLayout without its prefix.
pub(crate) fn layout_in_words(layout: i32) -> String {
    let name = match layout {
        0 => "UNDEFINED",
        1 => "GENERAL",
        2 => "COLOR_ATTACHMENT_OPTIMAL",
        3 => "DEPTH_STENCIL_ATTACHMENT_OPTIMAL",
        4 => "DEPTH_STENCIL_READ_ONLY_OPTIMAL",
        5 => "SHADER_READ_ONLY_OPTIMAL",
        6 => "TRANSFER_SRC_OPTIMAL",
        7 => "TRANSFER_DST_OPTIMAL",
        8 => "PREINITIALIZED",
        1_000_001_002 => "PRESENT_SRC",
        1_000_314_000 => "READ_ONLY_OPTIMAL",
        _ => return format!("the layout {layout}"),
    };
    name.to_owned()
}

/// A dependency of a barrier: `COMPUTE_SHADER / SHADER_WRITE to HOST / HOST_READ, all memory`.
pub fn dependency_in_words(part: &BarrierPart) -> String {
    let scope = match &part.scope {
        BarrierScope::Execution => "no memory".to_owned(),
        BarrierScope::All => "all memory".to_owned(),
        BarrierScope::Buffer { buffer, .. } => format!("buffer {}", buffer + 1),
        BarrierScope::Image => "an image".to_owned(),
        BarrierScope::ImagePart { image, layouts: [before, behind], .. } if before == behind => {
            format!("image {}", image + 1)
        }
        BarrierScope::ImagePart { image, layouts: [before, behind], .. } => {
            let (before, behind) = (layout_in_words(*before), layout_in_words(*behind));
            format!("image {} from {before} to {behind}", image + 1)
        }
    };
    format!(
        "{} / {} to {} / {}, {scope}",
        stages_in_words(part.source_stages),
        accesses_in_words(part.source_access),
        stages_in_words(part.target_stages),
        accesses_in_words(part.target_access),
    )
}

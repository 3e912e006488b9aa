//! Whether the view of a descriptor is what its kernel declares of the image.
//!
//! Knows: the rules for the type, samples, format and swizzle of a view (Vulkan specification,
//! "Compatibility Between SPIR-V Image Dimensions and Vulkan ImageView Types", "Interpretation of
//! Numeric Format", and what the messages name).
//! Promises: what both sides say otherwise is a fault whether or not an invocation reaches it, as
//! with the size of a block; of several descriptors, and of a binding that need not be bound wholly,
//! it is undetermined.
//! Does not cover: formats of buffer views and what a device can do without a format, by name;
//! components of what is written, samplers that compare.

use crate::declared_images::{
    DeclaredImage, SignReading, TexelNumbers, TexelWidth, format_number, numbers_of_format,
};
use rspirv::spirv::Dim;
use vkcert_capture::program::ViewObject;
use vkcert_model::evidence::CheckStatus;
use vkcert_model::image::TexelClass;
use vkcert_model::procedure::DescriptorClass;
use vkcert_spirv::interface::Access;

/// Something that does not agree, and how sure that is.
pub(crate) type ViewFault = (CheckStatus, String);

/// How a kernel uses an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageUse {
    pub(crate) class: DescriptorClass,
    pub(crate) access: Access,
}

/// What of a view is not what the kernel declares; the first of what is sure, else of what is open.
pub(crate) fn image_fault(
    declared: &DeclaredImage,
    used: ImageUse,
    view: &ViewObject,
    samples: u32,
) -> Option<ViewFault> {
    let faults = [
        type_fault(declared, view),
        samples_fault(declared, samples),
        numbers_fault(declared, view),
        storage_fault(declared, used, view),
    ];
    let mut faults: Vec<ViewFault> = faults.into_iter().flatten().collect();
    faults.sort_by_key(|(status, _)| *status != CheckStatus::Refuted);
    faults.into_iter().next()
}

/// Names of VkImageViewType, with the dimension and whether it has layers.
const VIEW_TYPES: [(&str, Dim, bool); 7] = [
    ("1D", Dim::Dim1D, false),
    ("2D", Dim::Dim2D, false),
    ("3D", Dim::Dim3D, false),
    ("CUBE", Dim::DimCube, false),
    ("1D_ARRAY", Dim::Dim1D, true),
    ("2D_ARRAY", Dim::Dim2D, true),
    ("CUBE_ARRAY", Dim::DimCube, true),
];

fn type_fault(declared: &DeclaredImage, view: &ViewObject) -> Option<ViewFault> {
    let (dim, arrayed) = (declared.image.dim, declared.image.arrayed);
    let view_type = usize::try_from(view.made.view_type).ok();
    let known = view_type.and_then(|view_type| VIEW_TYPES.get(view_type));
    let Some((name, seen_dim, seen_arrayed)) = known else {
        let words = format!("its view is of the type {}, which is not known", view.made.view_type);
        return Some((CheckStatus::Undetermined, words));
    };
    if (dim, arrayed) == (*seen_dim, *seen_arrayed) {
        return None;
    }
    let own = VIEW_TYPES.iter().find(|(_, other, layers)| (*other, *layers) == (dim, arrayed));
    let own = own.map_or_else(|| format!("{dim:?}"), |(name, ..)| (*name).to_owned());
    let words = format!(
        "its view is of the type {name}, and the kernel declares an image that is seen as {own} \
         (VUID-vkCmdDispatch-viewType-07752)"
    );
    Some((CheckStatus::Refuted, words))
}

fn samples_fault(declared: &DeclaredImage, samples: u32) -> Option<ViewFault> {
    let words = match (declared.image.multisampled, samples) {
        (true, 1) => "its image has one sample for each texel, and the kernel declares several \
             (VUID-RuntimeSpirv-samples-08726)"
            .to_owned(),
        (false, 2..) => format!(
            "its image has {samples} samples for each texel, and the kernel declares one \
             (VUID-RuntimeSpirv-samples-08725)"
        ),
        (true | false, _) => return None,
    };
    Some((CheckStatus::Refuted, words))
}

fn numbers_fault(declared: &DeclaredImage, view: &ViewObject) -> Option<ViewFault> {
    let format = view.made.format;
    let Some(seen) = numbers_of_format(format, view.made.range.aspects) else {
        let words =
            format!("what texels of its view's format (VkFormat {format}) are is not known here");
        return Some((CheckStatus::Undetermined, words));
    };
    let Some(own) = declared.numbers else {
        let words = "what its kernel reads texels as is not known".to_owned();
        return Some((CheckStatus::Undetermined, words));
    };
    if seen.class != own.class {
        let words = format!(
            "its view has {} texels (VkFormat {format}), and the kernel's are {} \
             (VUID-vkCmdDispatch-format-07753)",
            seen.class.name(),
            own.class.name()
        );
        let is_open = declared.sign == SignReading::PerInstruction && differ_in_sign(seen, own);
        return Some(if is_open {
            let doubt = "undetermined, because instructions of the kernel read texels as signed or \
                         as unsigned (SignExtend, ZeroExtend)";
            (CheckStatus::Undetermined, format!("{words}; {doubt}"))
        } else {
            (CheckStatus::Refuted, words)
        });
    }
    if seen.width != own.width {
        let (bits, rule) = match own.width {
            TexelWidth::Wide => ("64 bits", "04471"),
            TexelWidth::Narrow => ("fewer", "04470"),
        };
        let words = format!(
            "its view has components of {} (VkFormat {format}), and the kernel's have {bits} \
             (VUID-vkCmdDispatch-SampledType-{rule})",
            if seen.width == TexelWidth::Wide { "64 bits" } else { "fewer than 64 bits" }
        );
        return Some((CheckStatus::Refuted, words));
    }
    None
}

fn differ_in_sign(seen: TexelNumbers, own: TexelNumbers) -> bool {
    seen.class != TexelClass::Float && own.class != TexelClass::Float
}

/// VK_COMPONENT_SWIZZLE_IDENTITY.
const IDENTITY: i32 = 0;

/// VK_COMPONENT_SWIZZLE_R; those of the other components follow.
const RED: i32 = 3;

fn storage_fault(declared: &DeclaredImage, used: ImageUse, view: &ViewObject) -> Option<ViewFault> {
    if used.class != DescriptorClass::StorageImage {
        return None;
    }
    let is_swizzled = (RED..)
        .zip(view.made.components)
        .any(|(own, component)| component != IDENTITY && component != own);
    if is_swizzled {
        let words = "its view exchanges components, which a storage image may not \
                     (VUID-VkWriteDescriptorSet-descriptorType-00336)";
        return Some((CheckStatus::Refuted, words.to_owned()));
    }
    let format = view.made.format;
    let Some(own) = format_number(declared.image.format) else {
        return unformatted_fault(used.access, format);
    };
    (own != format).then(|| {
        let words = format!(
            "its view is of VkFormat {format}, and the kernel declares {:?}, VkFormat {own}: what is \
             read and written is undefined (Vulkan specification, \"Compatibility Between SPIR-V \
             Image Formats And Vulkan Formats\")",
            declared.image.format
        );
        (CheckStatus::Refuted, words)
    })
}

/// Images without a format can be used where the device says so.
fn unformatted_fault(access: Access, format: i32) -> Option<ViewFault> {
    let (verb, rules) = match access {
        Access::ReadOnly => ("reads", "07028"),
        Access::WriteOnly => ("writes", "07027"),
        Access::ReadWrite => ("reads and writes", "07027 and 07028"),
        Access::None => return None,
    };
    let words = format!(
        "the kernel {verb} it without declaring a format, and whether the device can do that with \
         VkFormat {format} is not in the capture (VUID-vkCmdDispatch-OpTypeImage-{rules})"
    );
    Some((CheckStatus::Undetermined, words))
}

//! Commands that are not modelled: their names, and what each leaves open.
//!
//! Knows: every command of the binding that `hooks` does not read, with its parameters, so that it
//! can be passed on.
//! Promises: each is recorded by name when it is called, none when it is only asked for.
//! Does not cover: what it does.

use crate::device_table::device_of;
use crate::hooks::commands::record_unmodelled;
use ash::vk::*;
use std::ffi::c_void;
use vkcert_capture::event::OpenEffect;

type GetFunction<'a> = &'a dyn Fn(&[&'static str]) -> Option<unsafe extern "system" fn()>;

/// A field, a loader and a hook for every row: the name of the hook, the type of the function, the
/// names that it goes by, parameters behind the command buffer, result, and what it leaves open.
macro_rules! unmodelled_commands {
    ($($hook:ident $pfn:ident [$($name:literal)|+]
        ($($parameter:ident: $type:ty),* $(,)?) $(-> $result:ty)? , $effect:ident;)+) => {
        /// What stands below for each of them.
        pub(crate) struct UnmodelledCommands {
            $($hook: Option<$pfn>,)+
        }

        impl UnmodelledCommands {
            /// Asks the layer below for all of them.
            pub(crate) fn load(get: GetFunction<'_>) -> Self {
                // Safety: a function that goes by one of these names is of this type.
                Self { $($hook: get(&[$($name),+]).map(|function| unsafe {
                    std::mem::transmute::<unsafe extern "system" fn(), $pfn>(function)
                }),)+ }
            }
        }

        /// The hook of a name.
        pub(crate) fn hook_of(name: &str) -> Option<unsafe extern "system" fn()> {
            match name {
                $($($name)|+ => Some(unsafe {
                    std::mem::transmute::<$pfn, unsafe extern "system" fn()>($hook)
                }),)+
                _ => None,
            }
        }

        $(unsafe extern "system" fn $hook(command_buffer: CommandBuffer, $($parameter: $type),*
        ) $(-> $result)? {
            let device = device_of(command_buffer);
            record_unmodelled(command_buffer, [$($name),+][0], OpenEffect::$effect);
            let Some(below) = device.and_then(|device| device.unmodelled.$hook) else {
                return Default::default();
            };
            unsafe { below(command_buffer, $($parameter),*) }
        })+
    };
}

unmodelled_commands! {
    cmd_begin_conditional_rendering_ext PFN_vkCmdBeginConditionalRenderingEXT
        ["vkCmdBeginConditionalRenderingEXT"]
        (p_conditional_rendering_begin: *const ConditionalRenderingBeginInfoEXT<'_>), Accesses;
    cmd_begin_debug_utils_label_ext PFN_vkCmdBeginDebugUtilsLabelEXT
        ["vkCmdBeginDebugUtilsLabelEXT"]
        (p_label_info: *const DebugUtilsLabelEXT<'_>), Nothing;
    cmd_begin_query PFN_vkCmdBeginQuery ["vkCmdBeginQuery"]
        (query_pool: QueryPool, query: u32, flags: QueryControlFlags), Nothing;
    cmd_begin_query_indexed_ext PFN_vkCmdBeginQueryIndexedEXT ["vkCmdBeginQueryIndexedEXT"]
        (query_pool: QueryPool, query: u32, flags: QueryControlFlags, index: u32), Nothing;
    cmd_begin_render_pass PFN_vkCmdBeginRenderPass ["vkCmdBeginRenderPass"]
        (p_render_pass_begin: *const RenderPassBeginInfo<'_>, contents: SubpassContents), Order;
    cmd_begin_render_pass2 PFN_vkCmdBeginRenderPass2
        ["vkCmdBeginRenderPass2" | "vkCmdBeginRenderPass2KHR"]
        (p_render_pass_begin: *const RenderPassBeginInfo<'_>,
         p_subpass_begin_info: *const SubpassBeginInfo<'_>), Order;
    cmd_begin_rendering PFN_vkCmdBeginRendering ["vkCmdBeginRendering" | "vkCmdBeginRenderingKHR"]
        (p_rendering_info: *const RenderingInfo<'_>), Order;
    cmd_begin_transform_feedback_ext PFN_vkCmdBeginTransformFeedbackEXT
        ["vkCmdBeginTransformFeedbackEXT"]
        (first_counter_buffer: u32, counter_buffer_count: u32, p_counter_buffers: *const Buffer,
         p_counter_buffer_offsets: *const DeviceSize), Accesses;
    cmd_begin_video_coding_khr PFN_vkCmdBeginVideoCodingKHR ["vkCmdBeginVideoCodingKHR"]
        (p_begin_info: *const VideoBeginCodingInfoKHR<'_>), Accesses;
    cmd_bind_descriptor_buffers_ext PFN_vkCmdBindDescriptorBuffersEXT
        ["vkCmdBindDescriptorBuffersEXT"]
        (buffer_count: u32, p_binding_infos: *const DescriptorBufferBindingInfoEXT<'_>), Accesses;
    cmd_bind_descriptor_sets2_khr PFN_vkCmdBindDescriptorSets2KHR
        ["vkCmdBindDescriptorSets2" | "vkCmdBindDescriptorSets2KHR"]
        (p_bind_descriptor_sets_info: *const BindDescriptorSetsInfoKHR<'_>), Accesses;
    cmd_bind_index_buffer PFN_vkCmdBindIndexBuffer ["vkCmdBindIndexBuffer"]
        (buffer: Buffer, offset: DeviceSize, index_type: IndexType), Nothing;
    cmd_bind_index_buffer2_khr PFN_vkCmdBindIndexBuffer2KHR
        ["vkCmdBindIndexBuffer2" | "vkCmdBindIndexBuffer2KHR"]
        (buffer: Buffer, offset: DeviceSize, size: DeviceSize, index_type: IndexType), Nothing;
    cmd_bind_invocation_mask_huawei PFN_vkCmdBindInvocationMaskHUAWEI
        ["vkCmdBindInvocationMaskHUAWEI"]
        (image_view: ImageView, image_layout: ImageLayout), Accesses;
    cmd_bind_pipeline_shader_group_nv PFN_vkCmdBindPipelineShaderGroupNV
        ["vkCmdBindPipelineShaderGroupNV"]
        (pipeline_bind_point: PipelineBindPoint, pipeline: Pipeline, group_index: u32), Nothing;
    cmd_bind_shaders_ext PFN_vkCmdBindShadersEXT ["vkCmdBindShadersEXT"]
        (stage_count: u32, p_stages: *const ShaderStageFlags, p_shaders: *const ShaderEXT), Accesses;
    cmd_bind_shading_rate_image_nv PFN_vkCmdBindShadingRateImageNV ["vkCmdBindShadingRateImageNV"]
        (image_view: ImageView, image_layout: ImageLayout), Accesses;
    cmd_bind_transform_feedback_buffers_ext PFN_vkCmdBindTransformFeedbackBuffersEXT
        ["vkCmdBindTransformFeedbackBuffersEXT"]
        (first_binding: u32, binding_count: u32, p_buffers: *const Buffer,
         p_offsets: *const DeviceSize, p_sizes: *const DeviceSize), Accesses;
    cmd_bind_vertex_buffers PFN_vkCmdBindVertexBuffers ["vkCmdBindVertexBuffers"]
        (first_binding: u32, binding_count: u32, p_buffers: *const Buffer,
         p_offsets: *const DeviceSize), Nothing;
    cmd_bind_vertex_buffers2 PFN_vkCmdBindVertexBuffers2
        ["vkCmdBindVertexBuffers2" | "vkCmdBindVertexBuffers2EXT"]
        (first_binding: u32, binding_count: u32, p_buffers: *const Buffer,
         p_offsets: *const DeviceSize, p_sizes: *const DeviceSize,
         p_strides: *const DeviceSize), Nothing;
    cmd_blit_image PFN_vkCmdBlitImage ["vkCmdBlitImage"]
        (src_image: Image, src_image_layout: ImageLayout, dst_image: Image,
         dst_image_layout: ImageLayout, region_count: u32, p_regions: *const ImageBlit,
         filter: Filter), Accesses;
    cmd_blit_image2 PFN_vkCmdBlitImage2 ["vkCmdBlitImage2" | "vkCmdBlitImage2KHR"]
        (p_blit_image_info: *const BlitImageInfo2<'_>), Accesses;
    cmd_build_acceleration_structure_nv PFN_vkCmdBuildAccelerationStructureNV
        ["vkCmdBuildAccelerationStructureNV"]
        (p_info: *const AccelerationStructureInfoNV<'_>, instance_data: Buffer,
         instance_offset: DeviceSize, update: Bool32, dst: AccelerationStructureNV,
         src: AccelerationStructureNV, scratch: Buffer, scratch_offset: DeviceSize), Accesses;
    cmd_build_acceleration_structures_khr PFN_vkCmdBuildAccelerationStructuresKHR
        ["vkCmdBuildAccelerationStructuresKHR"]
        (info_count: u32, p_infos: *const AccelerationStructureBuildGeometryInfoKHR<'_>,
         pp_build_range_infos: *const *const AccelerationStructureBuildRangeInfoKHR), Accesses;
    cmd_build_micromaps_ext PFN_vkCmdBuildMicromapsEXT ["vkCmdBuildMicromapsEXT"]
        (info_count: u32, p_infos: *const MicromapBuildInfoEXT<'_>), Accesses;
    cmd_clear_attachments PFN_vkCmdClearAttachments ["vkCmdClearAttachments"]
        (attachment_count: u32, p_attachments: *const ClearAttachment, rect_count: u32,
         p_rects: *const ClearRect), Accesses;
    cmd_clear_depth_stencil_image PFN_vkCmdClearDepthStencilImage ["vkCmdClearDepthStencilImage"]
        (image: Image, image_layout: ImageLayout, p_depth_stencil: *const ClearDepthStencilValue,
         range_count: u32, p_ranges: *const ImageSubresourceRange), Accesses;
    cmd_control_video_coding_khr PFN_vkCmdControlVideoCodingKHR ["vkCmdControlVideoCodingKHR"]
        (p_coding_control_info: *const VideoCodingControlInfoKHR<'_>), Accesses;
    cmd_copy_acceleration_structure_khr PFN_vkCmdCopyAccelerationStructureKHR
        ["vkCmdCopyAccelerationStructureKHR"]
        (p_info: *const CopyAccelerationStructureInfoKHR<'_>), Accesses;
    cmd_copy_acceleration_structure_nv PFN_vkCmdCopyAccelerationStructureNV
        ["vkCmdCopyAccelerationStructureNV"]
        (dst: AccelerationStructureNV, src: AccelerationStructureNV,
         mode: CopyAccelerationStructureModeKHR), Accesses;
    cmd_copy_memory_indirect_nv PFN_vkCmdCopyMemoryIndirectNV ["vkCmdCopyMemoryIndirectNV"]
        (copy_buffer_address: DeviceAddress, copy_count: u32, stride: u32), Accesses;
    cmd_copy_memory_to_image_indirect_nv PFN_vkCmdCopyMemoryToImageIndirectNV
        ["vkCmdCopyMemoryToImageIndirectNV"]
        (copy_buffer_address: DeviceAddress, copy_count: u32, stride: u32, dst_image: Image,
         dst_image_layout: ImageLayout,
         p_image_subresources: *const ImageSubresourceLayers), Accesses;
    cmd_copy_memory_to_micromap_ext PFN_vkCmdCopyMemoryToMicromapEXT
        ["vkCmdCopyMemoryToMicromapEXT"]
        (p_info: *const CopyMemoryToMicromapInfoEXT<'_>), Accesses;
    cmd_copy_micromap_ext PFN_vkCmdCopyMicromapEXT ["vkCmdCopyMicromapEXT"]
        (p_info: *const CopyMicromapInfoEXT<'_>), Accesses;
    cmd_copy_micromap_to_memory_ext PFN_vkCmdCopyMicromapToMemoryEXT
        ["vkCmdCopyMicromapToMemoryEXT"]
        (p_info: *const CopyMicromapToMemoryInfoEXT<'_>), Accesses;
    cmd_copy_query_pool_results PFN_vkCmdCopyQueryPoolResults ["vkCmdCopyQueryPoolResults"]
        (query_pool: QueryPool, first_query: u32, query_count: u32, dst_buffer: Buffer,
         dst_offset: DeviceSize, stride: DeviceSize, flags: QueryResultFlags), Accesses;
    cmd_cu_launch_kernel_nvx PFN_vkCmdCuLaunchKernelNVX ["vkCmdCuLaunchKernelNVX"]
        (p_launch_info: *const CuLaunchInfoNVX<'_>), Accesses;
    cmd_cuda_launch_kernel_nv PFN_vkCmdCudaLaunchKernelNV ["vkCmdCudaLaunchKernelNV"]
        (p_launch_info: *const CudaLaunchInfoNV<'_>), Accesses;
    cmd_debug_marker_begin_ext PFN_vkCmdDebugMarkerBeginEXT ["vkCmdDebugMarkerBeginEXT"]
        (p_marker_info: *const DebugMarkerMarkerInfoEXT<'_>), Nothing;
    cmd_debug_marker_end_ext PFN_vkCmdDebugMarkerEndEXT ["vkCmdDebugMarkerEndEXT"] (), Nothing;
    cmd_debug_marker_insert_ext PFN_vkCmdDebugMarkerInsertEXT ["vkCmdDebugMarkerInsertEXT"]
        (p_marker_info: *const DebugMarkerMarkerInfoEXT<'_>), Nothing;
    cmd_decode_video_khr PFN_vkCmdDecodeVideoKHR ["vkCmdDecodeVideoKHR"]
        (p_decode_info: *const VideoDecodeInfoKHR<'_>), Accesses;
    cmd_decompress_memory_indirect_count_nv PFN_vkCmdDecompressMemoryIndirectCountNV
        ["vkCmdDecompressMemoryIndirectCountNV"]
        (indirect_commands_address: DeviceAddress, indirect_commands_count_address: DeviceAddress,
         stride: u32), Accesses;
    cmd_decompress_memory_nv PFN_vkCmdDecompressMemoryNV ["vkCmdDecompressMemoryNV"]
        (decompress_region_count: u32,
         p_decompress_memory_regions: *const DecompressMemoryRegionNV), Accesses;
    cmd_dispatch_graph_amdx PFN_vkCmdDispatchGraphAMDX ["vkCmdDispatchGraphAMDX"]
        (scratch: DeviceAddress, p_count_info: *const DispatchGraphCountInfoAMDX), Accesses;
    cmd_dispatch_graph_indirect_amdx PFN_vkCmdDispatchGraphIndirectAMDX
        ["vkCmdDispatchGraphIndirectAMDX"]
        (scratch: DeviceAddress, p_count_info: *const DispatchGraphCountInfoAMDX), Accesses;
    cmd_dispatch_graph_indirect_count_amdx PFN_vkCmdDispatchGraphIndirectCountAMDX
        ["vkCmdDispatchGraphIndirectCountAMDX"]
        (scratch: DeviceAddress, count_info: DeviceAddress), Accesses;
    cmd_draw PFN_vkCmdDraw ["vkCmdDraw"]
        (vertex_count: u32, instance_count: u32, first_vertex: u32, first_instance: u32), Accesses;
    cmd_draw_cluster_huawei PFN_vkCmdDrawClusterHUAWEI ["vkCmdDrawClusterHUAWEI"]
        (group_count_x: u32, group_count_y: u32, group_count_z: u32), Accesses;
    cmd_draw_cluster_indirect_huawei PFN_vkCmdDrawClusterIndirectHUAWEI
        ["vkCmdDrawClusterIndirectHUAWEI"]
        (buffer: Buffer, offset: DeviceSize), Accesses;
    cmd_draw_indexed PFN_vkCmdDrawIndexed ["vkCmdDrawIndexed"]
        (index_count: u32, instance_count: u32, first_index: u32, vertex_offset: i32,
         first_instance: u32), Accesses;
    cmd_draw_indexed_indirect PFN_vkCmdDrawIndexedIndirect ["vkCmdDrawIndexedIndirect"]
        (buffer: Buffer, offset: DeviceSize, draw_count: u32, stride: u32), Accesses;
    cmd_draw_indexed_indirect_count PFN_vkCmdDrawIndexedIndirectCount
        ["vkCmdDrawIndexedIndirectCount" | "vkCmdDrawIndexedIndirectCountAMD" | "vkCmdDrawIndexedIndirectCountKHR"]
        (buffer: Buffer, offset: DeviceSize, count_buffer: Buffer, count_buffer_offset: DeviceSize,
         max_draw_count: u32, stride: u32), Accesses;
    cmd_draw_indirect PFN_vkCmdDrawIndirect ["vkCmdDrawIndirect"]
        (buffer: Buffer, offset: DeviceSize, draw_count: u32, stride: u32), Accesses;
    cmd_draw_indirect_byte_count_ext PFN_vkCmdDrawIndirectByteCountEXT
        ["vkCmdDrawIndirectByteCountEXT"]
        (instance_count: u32, first_instance: u32, counter_buffer: Buffer,
         counter_buffer_offset: DeviceSize, counter_offset: u32, vertex_stride: u32), Accesses;
    cmd_draw_indirect_count PFN_vkCmdDrawIndirectCount
        ["vkCmdDrawIndirectCount" | "vkCmdDrawIndirectCountAMD" | "vkCmdDrawIndirectCountKHR"]
        (buffer: Buffer, offset: DeviceSize, count_buffer: Buffer, count_buffer_offset: DeviceSize,
         max_draw_count: u32, stride: u32), Accesses;
    cmd_draw_mesh_tasks_ext PFN_vkCmdDrawMeshTasksEXT ["vkCmdDrawMeshTasksEXT"]
        (group_count_x: u32, group_count_y: u32, group_count_z: u32), Accesses;
    cmd_draw_mesh_tasks_indirect_count_ext PFN_vkCmdDrawMeshTasksIndirectCountEXT
        ["vkCmdDrawMeshTasksIndirectCountEXT"]
        (buffer: Buffer, offset: DeviceSize, count_buffer: Buffer, count_buffer_offset: DeviceSize,
         max_draw_count: u32, stride: u32), Accesses;
    cmd_draw_mesh_tasks_indirect_count_nv PFN_vkCmdDrawMeshTasksIndirectCountNV
        ["vkCmdDrawMeshTasksIndirectCountNV"]
        (buffer: Buffer, offset: DeviceSize, count_buffer: Buffer, count_buffer_offset: DeviceSize,
         max_draw_count: u32, stride: u32), Accesses;
    cmd_draw_mesh_tasks_indirect_ext PFN_vkCmdDrawMeshTasksIndirectEXT
        ["vkCmdDrawMeshTasksIndirectEXT"]
        (buffer: Buffer, offset: DeviceSize, draw_count: u32, stride: u32), Accesses;
    cmd_draw_mesh_tasks_indirect_nv PFN_vkCmdDrawMeshTasksIndirectNV
        ["vkCmdDrawMeshTasksIndirectNV"]
        (buffer: Buffer, offset: DeviceSize, draw_count: u32, stride: u32), Accesses;
    cmd_draw_mesh_tasks_nv PFN_vkCmdDrawMeshTasksNV ["vkCmdDrawMeshTasksNV"]
        (task_count: u32, first_task: u32), Accesses;
    cmd_draw_multi_ext PFN_vkCmdDrawMultiEXT ["vkCmdDrawMultiEXT"]
        (draw_count: u32, p_vertex_info: *const MultiDrawInfoEXT, instance_count: u32,
         first_instance: u32, stride: u32), Accesses;
    cmd_draw_multi_indexed_ext PFN_vkCmdDrawMultiIndexedEXT ["vkCmdDrawMultiIndexedEXT"]
        (draw_count: u32, p_index_info: *const MultiDrawIndexedInfoEXT, instance_count: u32,
         first_instance: u32, stride: u32, p_vertex_offset: *const i32), Accesses;
    cmd_encode_video_khr PFN_vkCmdEncodeVideoKHR ["vkCmdEncodeVideoKHR"]
        (p_encode_info: *const VideoEncodeInfoKHR<'_>), Accesses;
    cmd_end_conditional_rendering_ext PFN_vkCmdEndConditionalRenderingEXT
        ["vkCmdEndConditionalRenderingEXT"] (), Accesses;
    cmd_end_debug_utils_label_ext PFN_vkCmdEndDebugUtilsLabelEXT ["vkCmdEndDebugUtilsLabelEXT"]
        (), Nothing;
    cmd_end_query PFN_vkCmdEndQuery ["vkCmdEndQuery"] (query_pool: QueryPool, query: u32), Nothing;
    cmd_end_query_indexed_ext PFN_vkCmdEndQueryIndexedEXT ["vkCmdEndQueryIndexedEXT"]
        (query_pool: QueryPool, query: u32, index: u32), Nothing;
    cmd_end_render_pass PFN_vkCmdEndRenderPass ["vkCmdEndRenderPass"] (), Order;
    cmd_end_render_pass2 PFN_vkCmdEndRenderPass2 ["vkCmdEndRenderPass2" | "vkCmdEndRenderPass2KHR"]
        (p_subpass_end_info: *const SubpassEndInfo<'_>), Order;
    cmd_end_rendering PFN_vkCmdEndRendering ["vkCmdEndRendering" | "vkCmdEndRenderingKHR"] (), Order;
    cmd_end_transform_feedback_ext PFN_vkCmdEndTransformFeedbackEXT ["vkCmdEndTransformFeedbackEXT"]
        (first_counter_buffer: u32, counter_buffer_count: u32, p_counter_buffers: *const Buffer,
         p_counter_buffer_offsets: *const DeviceSize), Accesses;
    cmd_end_video_coding_khr PFN_vkCmdEndVideoCodingKHR ["vkCmdEndVideoCodingKHR"]
        (p_end_coding_info: *const VideoEndCodingInfoKHR<'_>), Accesses;
    cmd_execute_generated_commands_nv PFN_vkCmdExecuteGeneratedCommandsNV
        ["vkCmdExecuteGeneratedCommandsNV"]
        (is_preprocessed: Bool32,
         p_generated_commands_info: *const GeneratedCommandsInfoNV<'_>), Accesses;
    cmd_initialize_graph_scratch_memory_amdx PFN_vkCmdInitializeGraphScratchMemoryAMDX
        ["vkCmdInitializeGraphScratchMemoryAMDX"]
        (scratch: DeviceAddress), Accesses;
    cmd_insert_debug_utils_label_ext PFN_vkCmdInsertDebugUtilsLabelEXT
        ["vkCmdInsertDebugUtilsLabelEXT"]
        (p_label_info: *const DebugUtilsLabelEXT<'_>), Nothing;
    cmd_next_subpass PFN_vkCmdNextSubpass ["vkCmdNextSubpass"] (contents: SubpassContents), Order;
    cmd_next_subpass2 PFN_vkCmdNextSubpass2 ["vkCmdNextSubpass2" | "vkCmdNextSubpass2KHR"]
        (p_subpass_begin_info: *const SubpassBeginInfo<'_>,
         p_subpass_end_info: *const SubpassEndInfo<'_>), Order;
    cmd_optical_flow_execute_nv PFN_vkCmdOpticalFlowExecuteNV ["vkCmdOpticalFlowExecuteNV"]
        (session: OpticalFlowSessionNV,
         p_execute_info: *const OpticalFlowExecuteInfoNV<'_>), Accesses;
    cmd_preprocess_generated_commands_nv PFN_vkCmdPreprocessGeneratedCommandsNV
        ["vkCmdPreprocessGeneratedCommandsNV"]
        (p_generated_commands_info: *const GeneratedCommandsInfoNV<'_>), Accesses;
    cmd_push_constants2_khr PFN_vkCmdPushConstants2KHR
        ["vkCmdPushConstants2" | "vkCmdPushConstants2KHR"]
        (p_push_constants_info: *const PushConstantsInfoKHR<'_>), Accesses;
    cmd_push_descriptor_set2_khr PFN_vkCmdPushDescriptorSet2KHR
        ["vkCmdPushDescriptorSet2" | "vkCmdPushDescriptorSet2KHR"]
        (p_push_descriptor_set_info: *const PushDescriptorSetInfoKHR<'_>), Accesses;
    cmd_reset_event PFN_vkCmdResetEvent ["vkCmdResetEvent"]
        (event: Event, stage_mask: PipelineStageFlags), Order;
    cmd_reset_event2 PFN_vkCmdResetEvent2 ["vkCmdResetEvent2" | "vkCmdResetEvent2KHR"]
        (event: Event, stage_mask: PipelineStageFlags2), Order;
    cmd_reset_query_pool PFN_vkCmdResetQueryPool ["vkCmdResetQueryPool"]
        (query_pool: QueryPool, first_query: u32, query_count: u32), Nothing;
    cmd_resolve_image PFN_vkCmdResolveImage ["vkCmdResolveImage"]
        (src_image: Image, src_image_layout: ImageLayout, dst_image: Image,
         dst_image_layout: ImageLayout, region_count: u32, p_regions: *const ImageResolve), Accesses;
    cmd_resolve_image2 PFN_vkCmdResolveImage2 ["vkCmdResolveImage2" | "vkCmdResolveImage2KHR"]
        (p_resolve_image_info: *const ResolveImageInfo2<'_>), Accesses;
    cmd_set_alpha_to_coverage_enable_ext PFN_vkCmdSetAlphaToCoverageEnableEXT
        ["vkCmdSetAlphaToCoverageEnableEXT"]
        (alpha_to_coverage_enable: Bool32), Nothing;
    cmd_set_alpha_to_one_enable_ext PFN_vkCmdSetAlphaToOneEnableEXT ["vkCmdSetAlphaToOneEnableEXT"]
        (alpha_to_one_enable: Bool32), Nothing;
    cmd_set_blend_constants PFN_vkCmdSetBlendConstants ["vkCmdSetBlendConstants"]
        (blend_constants: *const [f32; 4usize]), Nothing;
    cmd_set_checkpoint_nv PFN_vkCmdSetCheckpointNV ["vkCmdSetCheckpointNV"]
        (p_checkpoint_marker: *const c_void), Nothing;
    cmd_set_coarse_sample_order_nv PFN_vkCmdSetCoarseSampleOrderNV ["vkCmdSetCoarseSampleOrderNV"]
        (sample_order_type: CoarseSampleOrderTypeNV, custom_sample_order_count: u32,
         p_custom_sample_orders: *const CoarseSampleOrderCustomNV<'_>), Nothing;
    cmd_set_color_blend_advanced_ext PFN_vkCmdSetColorBlendAdvancedEXT
        ["vkCmdSetColorBlendAdvancedEXT"]
        (first_attachment: u32, attachment_count: u32,
         p_color_blend_advanced: *const ColorBlendAdvancedEXT), Nothing;
    cmd_set_color_blend_enable_ext PFN_vkCmdSetColorBlendEnableEXT ["vkCmdSetColorBlendEnableEXT"]
        (first_attachment: u32, attachment_count: u32,
         p_color_blend_enables: *const Bool32), Nothing;
    cmd_set_color_blend_equation_ext PFN_vkCmdSetColorBlendEquationEXT
        ["vkCmdSetColorBlendEquationEXT"]
        (first_attachment: u32, attachment_count: u32,
         p_color_blend_equations: *const ColorBlendEquationEXT), Nothing;
    cmd_set_color_write_enable_ext PFN_vkCmdSetColorWriteEnableEXT ["vkCmdSetColorWriteEnableEXT"]
        (attachment_count: u32, p_color_write_enables: *const Bool32), Nothing;
    cmd_set_color_write_mask_ext PFN_vkCmdSetColorWriteMaskEXT ["vkCmdSetColorWriteMaskEXT"]
        (first_attachment: u32, attachment_count: u32,
         p_color_write_masks: *const ColorComponentFlags), Nothing;
    cmd_set_coverage_modulation_mode_nv PFN_vkCmdSetCoverageModulationModeNV
        ["vkCmdSetCoverageModulationModeNV"]
        (coverage_modulation_mode: CoverageModulationModeNV), Nothing;
    cmd_set_coverage_modulation_table_nv PFN_vkCmdSetCoverageModulationTableNV
        ["vkCmdSetCoverageModulationTableNV"]
        (coverage_modulation_table_count: u32, p_coverage_modulation_table: *const f32), Nothing;
    cmd_set_coverage_reduction_mode_nv PFN_vkCmdSetCoverageReductionModeNV
        ["vkCmdSetCoverageReductionModeNV"]
        (coverage_reduction_mode: CoverageReductionModeNV), Nothing;
    cmd_set_coverage_to_color_enable_nv PFN_vkCmdSetCoverageToColorEnableNV
        ["vkCmdSetCoverageToColorEnableNV"]
        (coverage_to_color_enable: Bool32), Nothing;
    cmd_set_coverage_to_color_location_nv PFN_vkCmdSetCoverageToColorLocationNV
        ["vkCmdSetCoverageToColorLocationNV"]
        (coverage_to_color_location: u32), Nothing;
    cmd_set_cull_mode PFN_vkCmdSetCullMode ["vkCmdSetCullMode" | "vkCmdSetCullModeEXT"]
        (cull_mode: CullModeFlags), Nothing;
    cmd_set_depth_bias PFN_vkCmdSetDepthBias ["vkCmdSetDepthBias"]
        (depth_bias_constant_factor: f32, depth_bias_clamp: f32,
         depth_bias_slope_factor: f32), Nothing;
    cmd_set_depth_bias2_ext PFN_vkCmdSetDepthBias2EXT ["vkCmdSetDepthBias2EXT"]
        (p_depth_bias_info: *const DepthBiasInfoEXT<'_>), Nothing;
    cmd_set_depth_bias_enable PFN_vkCmdSetDepthBiasEnable
        ["vkCmdSetDepthBiasEnable" | "vkCmdSetDepthBiasEnableEXT"]
        (depth_bias_enable: Bool32), Nothing;
    cmd_set_depth_bounds PFN_vkCmdSetDepthBounds ["vkCmdSetDepthBounds"]
        (min_depth_bounds: f32, max_depth_bounds: f32), Nothing;
    cmd_set_depth_bounds_test_enable PFN_vkCmdSetDepthBoundsTestEnable
        ["vkCmdSetDepthBoundsTestEnable" | "vkCmdSetDepthBoundsTestEnableEXT"]
        (depth_bounds_test_enable: Bool32), Nothing;
    cmd_set_depth_clamp_enable_ext PFN_vkCmdSetDepthClampEnableEXT ["vkCmdSetDepthClampEnableEXT"]
        (depth_clamp_enable: Bool32), Nothing;
    cmd_set_depth_clip_enable_ext PFN_vkCmdSetDepthClipEnableEXT ["vkCmdSetDepthClipEnableEXT"]
        (depth_clip_enable: Bool32), Nothing;
    cmd_set_depth_compare_op PFN_vkCmdSetDepthCompareOp
        ["vkCmdSetDepthCompareOp" | "vkCmdSetDepthCompareOpEXT"]
        (depth_compare_op: CompareOp), Nothing;
    cmd_set_depth_test_enable PFN_vkCmdSetDepthTestEnable
        ["vkCmdSetDepthTestEnable" | "vkCmdSetDepthTestEnableEXT"]
        (depth_test_enable: Bool32), Nothing;
    cmd_set_depth_write_enable PFN_vkCmdSetDepthWriteEnable
        ["vkCmdSetDepthWriteEnable" | "vkCmdSetDepthWriteEnableEXT"]
        (depth_write_enable: Bool32), Nothing;
    cmd_set_descriptor_buffer_offsets2_ext PFN_vkCmdSetDescriptorBufferOffsets2EXT
        ["vkCmdSetDescriptorBufferOffsets2EXT"]
        (p_set_descriptor_buffer_offsets_info: *const SetDescriptorBufferOffsetsInfoEXT<'_>), Accesses;
    cmd_set_descriptor_buffer_offsets_ext PFN_vkCmdSetDescriptorBufferOffsetsEXT
        ["vkCmdSetDescriptorBufferOffsetsEXT"]
        (pipeline_bind_point: PipelineBindPoint, layout: PipelineLayout, first_set: u32,
         set_count: u32, p_buffer_indices: *const u32, p_offsets: *const DeviceSize), Accesses;
    cmd_set_device_mask PFN_vkCmdSetDeviceMask ["vkCmdSetDeviceMask" | "vkCmdSetDeviceMaskKHR"]
        (device_mask: u32), Nothing;
    cmd_set_discard_rectangle_ext PFN_vkCmdSetDiscardRectangleEXT ["vkCmdSetDiscardRectangleEXT"]
        (first_discard_rectangle: u32, discard_rectangle_count: u32,
         p_discard_rectangles: *const Rect2D), Nothing;
    cmd_set_discard_rectangle_enable_ext PFN_vkCmdSetDiscardRectangleEnableEXT
        ["vkCmdSetDiscardRectangleEnableEXT"]
        (discard_rectangle_enable: Bool32), Nothing;
    cmd_set_discard_rectangle_mode_ext PFN_vkCmdSetDiscardRectangleModeEXT
        ["vkCmdSetDiscardRectangleModeEXT"]
        (discard_rectangle_mode: DiscardRectangleModeEXT), Nothing;
    cmd_set_event PFN_vkCmdSetEvent ["vkCmdSetEvent"]
        (event: Event, stage_mask: PipelineStageFlags), Order;
    cmd_set_event2 PFN_vkCmdSetEvent2 ["vkCmdSetEvent2" | "vkCmdSetEvent2KHR"]
        (event: Event, p_dependency_info: *const DependencyInfo<'_>), Order;
    cmd_set_exclusive_scissor_enable_nv PFN_vkCmdSetExclusiveScissorEnableNV
        ["vkCmdSetExclusiveScissorEnableNV"]
        (first_exclusive_scissor: u32, exclusive_scissor_count: u32,
         p_exclusive_scissor_enables: *const Bool32), Nothing;
    cmd_set_exclusive_scissor_nv PFN_vkCmdSetExclusiveScissorNV ["vkCmdSetExclusiveScissorNV"]
        (first_exclusive_scissor: u32, exclusive_scissor_count: u32,
         p_exclusive_scissors: *const Rect2D), Nothing;
    cmd_set_fragment_shading_rate_enum_nv PFN_vkCmdSetFragmentShadingRateEnumNV
        ["vkCmdSetFragmentShadingRateEnumNV"]
        (shading_rate: FragmentShadingRateNV,
         combiner_ops: *const [FragmentShadingRateCombinerOpKHR; 2usize]), Nothing;
    cmd_set_fragment_shading_rate_khr PFN_vkCmdSetFragmentShadingRateKHR
        ["vkCmdSetFragmentShadingRateKHR"]
        (p_fragment_size: *const Extent2D,
         combiner_ops: *const [FragmentShadingRateCombinerOpKHR; 2usize]), Nothing;
    cmd_set_front_face PFN_vkCmdSetFrontFace ["vkCmdSetFrontFace" | "vkCmdSetFrontFaceEXT"]
        (front_face: FrontFace), Nothing;
    cmd_set_line_rasterization_mode_ext PFN_vkCmdSetLineRasterizationModeEXT
        ["vkCmdSetLineRasterizationModeEXT"]
        (line_rasterization_mode: LineRasterizationModeEXT), Nothing;
    cmd_set_line_stipple_enable_ext PFN_vkCmdSetLineStippleEnableEXT
        ["vkCmdSetLineStippleEnableEXT"]
        (stippled_line_enable: Bool32), Nothing;
    cmd_set_line_stipple_khr PFN_vkCmdSetLineStippleKHR
        ["vkCmdSetLineStipple" | "vkCmdSetLineStippleKHR" | "vkCmdSetLineStippleEXT"]
        (line_stipple_factor: u32, line_stipple_pattern: u16), Nothing;
    cmd_set_line_width PFN_vkCmdSetLineWidth ["vkCmdSetLineWidth"] (line_width: f32), Nothing;
    cmd_set_logic_op_ext PFN_vkCmdSetLogicOpEXT ["vkCmdSetLogicOpEXT"] (logic_op: LogicOp), Nothing;
    cmd_set_logic_op_enable_ext PFN_vkCmdSetLogicOpEnableEXT ["vkCmdSetLogicOpEnableEXT"]
        (logic_op_enable: Bool32), Nothing;
    cmd_set_patch_control_points_ext PFN_vkCmdSetPatchControlPointsEXT
        ["vkCmdSetPatchControlPointsEXT"]
        (patch_control_points: u32), Nothing;
    cmd_set_performance_marker_intel PFN_vkCmdSetPerformanceMarkerINTEL
        ["vkCmdSetPerformanceMarkerINTEL"]
        (p_marker_info: *const PerformanceMarkerInfoINTEL<'_>) -> Result, Nothing;
    cmd_set_performance_override_intel PFN_vkCmdSetPerformanceOverrideINTEL
        ["vkCmdSetPerformanceOverrideINTEL"]
        (p_override_info: *const PerformanceOverrideInfoINTEL<'_>) -> Result, Nothing;
    cmd_set_performance_stream_marker_intel PFN_vkCmdSetPerformanceStreamMarkerINTEL
        ["vkCmdSetPerformanceStreamMarkerINTEL"]
        (p_marker_info: *const PerformanceStreamMarkerInfoINTEL<'_>) -> Result, Nothing;
    cmd_set_polygon_mode_ext PFN_vkCmdSetPolygonModeEXT ["vkCmdSetPolygonModeEXT"]
        (polygon_mode: PolygonMode), Nothing;
    cmd_set_primitive_restart_enable PFN_vkCmdSetPrimitiveRestartEnable
        ["vkCmdSetPrimitiveRestartEnable" | "vkCmdSetPrimitiveRestartEnableEXT"]
        (primitive_restart_enable: Bool32), Nothing;
    cmd_set_primitive_topology PFN_vkCmdSetPrimitiveTopology
        ["vkCmdSetPrimitiveTopology" | "vkCmdSetPrimitiveTopologyEXT"]
        (primitive_topology: PrimitiveTopology), Nothing;
    cmd_set_provoking_vertex_mode_ext PFN_vkCmdSetProvokingVertexModeEXT
        ["vkCmdSetProvokingVertexModeEXT"]
        (provoking_vertex_mode: ProvokingVertexModeEXT), Nothing;
    cmd_set_rasterization_samples_ext PFN_vkCmdSetRasterizationSamplesEXT
        ["vkCmdSetRasterizationSamplesEXT"]
        (rasterization_samples: SampleCountFlags), Nothing;
    cmd_set_rasterization_stream_ext PFN_vkCmdSetRasterizationStreamEXT
        ["vkCmdSetRasterizationStreamEXT"]
        (rasterization_stream: u32), Nothing;
    cmd_set_rasterizer_discard_enable PFN_vkCmdSetRasterizerDiscardEnable
        ["vkCmdSetRasterizerDiscardEnable" | "vkCmdSetRasterizerDiscardEnableEXT"]
        (rasterizer_discard_enable: Bool32), Nothing;
    cmd_set_sample_locations_ext PFN_vkCmdSetSampleLocationsEXT ["vkCmdSetSampleLocationsEXT"]
        (p_sample_locations_info: *const SampleLocationsInfoEXT<'_>), Nothing;
    cmd_set_sample_locations_enable_ext PFN_vkCmdSetSampleLocationsEnableEXT
        ["vkCmdSetSampleLocationsEnableEXT"]
        (sample_locations_enable: Bool32), Nothing;
    cmd_set_sample_mask_ext PFN_vkCmdSetSampleMaskEXT ["vkCmdSetSampleMaskEXT"]
        (samples: SampleCountFlags, p_sample_mask: *const SampleMask), Nothing;
    cmd_set_scissor PFN_vkCmdSetScissor ["vkCmdSetScissor"]
        (first_scissor: u32, scissor_count: u32, p_scissors: *const Rect2D), Nothing;
    cmd_set_scissor_with_count PFN_vkCmdSetScissorWithCount
        ["vkCmdSetScissorWithCount" | "vkCmdSetScissorWithCountEXT"]
        (scissor_count: u32, p_scissors: *const Rect2D), Nothing;
    cmd_set_shading_rate_image_enable_nv PFN_vkCmdSetShadingRateImageEnableNV
        ["vkCmdSetShadingRateImageEnableNV"]
        (shading_rate_image_enable: Bool32), Nothing;
    cmd_set_stencil_compare_mask PFN_vkCmdSetStencilCompareMask ["vkCmdSetStencilCompareMask"]
        (face_mask: StencilFaceFlags, compare_mask: u32), Nothing;
    cmd_set_stencil_op PFN_vkCmdSetStencilOp ["vkCmdSetStencilOp" | "vkCmdSetStencilOpEXT"]
        (face_mask: StencilFaceFlags, fail_op: StencilOp, pass_op: StencilOp,
         depth_fail_op: StencilOp, compare_op: CompareOp), Nothing;
    cmd_set_stencil_reference PFN_vkCmdSetStencilReference ["vkCmdSetStencilReference"]
        (face_mask: StencilFaceFlags, reference: u32), Nothing;
    cmd_set_stencil_test_enable PFN_vkCmdSetStencilTestEnable
        ["vkCmdSetStencilTestEnable" | "vkCmdSetStencilTestEnableEXT"]
        (stencil_test_enable: Bool32), Nothing;
    cmd_set_stencil_write_mask PFN_vkCmdSetStencilWriteMask ["vkCmdSetStencilWriteMask"]
        (face_mask: StencilFaceFlags, write_mask: u32), Nothing;
    cmd_set_tessellation_domain_origin_ext PFN_vkCmdSetTessellationDomainOriginEXT
        ["vkCmdSetTessellationDomainOriginEXT"]
        (domain_origin: TessellationDomainOrigin), Nothing;
    cmd_set_vertex_input_ext PFN_vkCmdSetVertexInputEXT ["vkCmdSetVertexInputEXT"]
        (vertex_binding_description_count: u32,
         p_vertex_binding_descriptions: *const VertexInputBindingDescription2EXT<'_>,
         vertex_attribute_description_count: u32,
         p_vertex_attribute_descriptions: *const VertexInputAttributeDescription2EXT<'_>), Nothing;
    cmd_set_viewport PFN_vkCmdSetViewport ["vkCmdSetViewport"]
        (first_viewport: u32, viewport_count: u32, p_viewports: *const Viewport), Nothing;
    cmd_set_viewport_shading_rate_palette_nv PFN_vkCmdSetViewportShadingRatePaletteNV
        ["vkCmdSetViewportShadingRatePaletteNV"]
        (first_viewport: u32, viewport_count: u32,
         p_shading_rate_palettes: *const ShadingRatePaletteNV<'_>), Nothing;
    cmd_set_viewport_swizzle_nv PFN_vkCmdSetViewportSwizzleNV ["vkCmdSetViewportSwizzleNV"]
        (first_viewport: u32, viewport_count: u32,
         p_viewport_swizzles: *const ViewportSwizzleNV), Nothing;
    cmd_set_viewport_wscaling_enable_nv PFN_vkCmdSetViewportWScalingEnableNV
        ["vkCmdSetViewportWScalingEnableNV"]
        (viewport_w_scaling_enable: Bool32), Nothing;
    cmd_set_viewport_wscaling_nv PFN_vkCmdSetViewportWScalingNV ["vkCmdSetViewportWScalingNV"]
        (first_viewport: u32, viewport_count: u32,
         p_viewport_w_scalings: *const ViewportWScalingNV), Nothing;
    cmd_set_viewport_with_count PFN_vkCmdSetViewportWithCount
        ["vkCmdSetViewportWithCount" | "vkCmdSetViewportWithCountEXT"]
        (viewport_count: u32, p_viewports: *const Viewport), Nothing;
    cmd_subpass_shading_huawei PFN_vkCmdSubpassShadingHUAWEI ["vkCmdSubpassShadingHUAWEI"] (), Order;
    cmd_trace_rays_indirect2_khr PFN_vkCmdTraceRaysIndirect2KHR ["vkCmdTraceRaysIndirect2KHR"]
        (indirect_device_address: DeviceAddress), Accesses;
    cmd_trace_rays_indirect_khr PFN_vkCmdTraceRaysIndirectKHR ["vkCmdTraceRaysIndirectKHR"]
        (p_raygen_shader_binding_table: *const StridedDeviceAddressRegionKHR,
         p_miss_shader_binding_table: *const StridedDeviceAddressRegionKHR,
         p_hit_shader_binding_table: *const StridedDeviceAddressRegionKHR,
         p_callable_shader_binding_table: *const StridedDeviceAddressRegionKHR,
         indirect_device_address: DeviceAddress), Accesses;
    cmd_trace_rays_khr PFN_vkCmdTraceRaysKHR ["vkCmdTraceRaysKHR"]
        (p_raygen_shader_binding_table: *const StridedDeviceAddressRegionKHR,
         p_miss_shader_binding_table: *const StridedDeviceAddressRegionKHR,
         p_hit_shader_binding_table: *const StridedDeviceAddressRegionKHR,
         p_callable_shader_binding_table: *const StridedDeviceAddressRegionKHR, width: u32,
         height: u32, depth: u32), Accesses;
    cmd_trace_rays_nv PFN_vkCmdTraceRaysNV ["vkCmdTraceRaysNV"]
        (raygen_shader_binding_table_buffer: Buffer, raygen_shader_binding_offset: DeviceSize,
         miss_shader_binding_table_buffer: Buffer, miss_shader_binding_offset: DeviceSize,
         miss_shader_binding_stride: DeviceSize, hit_shader_binding_table_buffer: Buffer,
         hit_shader_binding_offset: DeviceSize, hit_shader_binding_stride: DeviceSize,
         callable_shader_binding_table_buffer: Buffer, callable_shader_binding_offset: DeviceSize,
         callable_shader_binding_stride: DeviceSize, width: u32, height: u32, depth: u32), Accesses;
    cmd_update_pipeline_indirect_buffer_nv PFN_vkCmdUpdatePipelineIndirectBufferNV
        ["vkCmdUpdatePipelineIndirectBufferNV"]
        (pipeline_bind_point: PipelineBindPoint, pipeline: Pipeline), Accesses;
    cmd_wait_events PFN_vkCmdWaitEvents ["vkCmdWaitEvents"]
        (event_count: u32, p_events: *const Event, src_stage_mask: PipelineStageFlags,
         dst_stage_mask: PipelineStageFlags, memory_barrier_count: u32,
         p_memory_barriers: *const MemoryBarrier<'_>, buffer_memory_barrier_count: u32,
         p_buffer_memory_barriers: *const BufferMemoryBarrier<'_>, image_memory_barrier_count: u32,
         p_image_memory_barriers: *const ImageMemoryBarrier<'_>), Order;
    cmd_wait_events2 PFN_vkCmdWaitEvents2 ["vkCmdWaitEvents2" | "vkCmdWaitEvents2KHR"]
        (event_count: u32, p_events: *const Event,
         p_dependency_infos: *const DependencyInfo<'_>), Order;
    cmd_write_buffer_marker2_amd PFN_vkCmdWriteBufferMarker2AMD ["vkCmdWriteBufferMarker2AMD"]
        (stage: PipelineStageFlags2, dst_buffer: Buffer, dst_offset: DeviceSize,
         marker: u32), Accesses;
    cmd_write_buffer_marker_amd PFN_vkCmdWriteBufferMarkerAMD ["vkCmdWriteBufferMarkerAMD"]
        (pipeline_stage: PipelineStageFlags, dst_buffer: Buffer, dst_offset: DeviceSize,
         marker: u32), Accesses;
    cmd_write_micromaps_properties_ext PFN_vkCmdWriteMicromapsPropertiesEXT
        ["vkCmdWriteMicromapsPropertiesEXT"]
        (micromap_count: u32, p_micromaps: *const MicromapEXT, query_type: QueryType,
         query_pool: QueryPool, first_query: u32), Accesses;
    cmd_write_timestamp PFN_vkCmdWriteTimestamp ["vkCmdWriteTimestamp"]
        (pipeline_stage: PipelineStageFlags, query_pool: QueryPool, query: u32), Nothing;
    cmd_write_timestamp2 PFN_vkCmdWriteTimestamp2
        ["vkCmdWriteTimestamp2" | "vkCmdWriteTimestamp2KHR"]
        (stage: PipelineStageFlags2, query_pool: QueryPool, query: u32), Nothing;
}

//! target vulkan1.2
//! refused capability VulkanMemoryModel (feature vulkanMemoryModel, not in sc_features) at word _
#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() {
    values[0] = 1u;
}

//! target vulkan1.3
//! refused target environment vulkan1.3 (Vulkan SC 1.0 is based on Vulkan 1.2)
//! refused SPIR-V 1.6 (Vulkan SC 1.0 takes up to 1.5)
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() {
    values[0] = 1u;
}

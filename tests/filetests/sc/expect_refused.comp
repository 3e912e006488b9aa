//! refused capability ExpectAssumeKHR (Vulkan SC 1.0 has no feature shaderExpectAssume) at word _
//! refused extension SPV_KHR_expect_assume (not part of Vulkan SC 1.0) at word _
#version 450
#extension GL_EXT_expect_assume : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() {
    assumeEXT(values[0] > 0u);
    values[0] = 1u;
}

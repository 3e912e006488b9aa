#version 450
//! buffer 0 uint 0*4
//! finding data-race 12 13
//! unordered
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    into[i] = s[(i + 3) & 3u];
}

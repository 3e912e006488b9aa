#version 450
//! vulkan 1.2
//! buffer 0 uint 0*4
//! finding data-race 14 15
//! detail data-race memory workgroup
//! unordered
#extension GL_EXT_shared_memory_block : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared First { uint words[4]; };
shared Second { uvec2 pairs[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    words[i] = i + 1;
    into[i] = pairs[0][1 - (i & 1u)];
}

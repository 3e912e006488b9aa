#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! buffer 2 uint 0
//! address 0 0 1
//! expect 2 uint 12
#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Message { uvec4 data; };
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Mail { Message message; uint flag; };
layout(std430, set=0, binding=2) buffer Into { uint into; };
void main() {
    if (gl_LocalInvocationIndex == 0) {
        message.data = uvec4(3);
        memoryBarrierBuffer();
        atomicExchange(flag, 1u);
    } else {
        while (atomicOr(flag, 0u) == 0u) {}
        memoryBarrierBuffer();
        uvec4 seen = message.data;
        into = seen.x + seen.y + seen.z + seen.w;
    }
}

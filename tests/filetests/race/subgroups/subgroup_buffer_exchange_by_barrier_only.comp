#version 450
// `barrier()` is for workgroup memory; that all invocations are in one subgroup changes nothing.
//! subgroup-size 8
//! buffer 0 uint 0*8
//! buffer 1 uint 0*8
//! finding data-race 15 17
//! detail data-race memory buffer
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = i;
    barrier();
    into[i] = d[(i + 1) & 7u];
}

#version 450
//! buffer 0 uint 5
//! buffer 1 uint 0*2
//! expect 0 uint 6
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Data { uint d; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0)
        atomicStore(d, 6u, gl_ScopeDevice, 0, 0);
    else
        into[0] = atomicLoad(d, gl_ScopeDevice, 0, 0) * 0;
}

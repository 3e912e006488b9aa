#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0*3
//! buffer 1 uint 0
//! finding data-race 15 20
//! unordered
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Message { uint a; uint b; uint flag; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
void main() {
    if (gl_LocalInvocationIndex == 0) {
        atomicStore(a, 4u, gl_ScopeDevice, 0, 0);
        b = 8;
        atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, 0, 0) == 0u) {}
        uint sum = atomicLoad(a, gl_ScopeDevice, 0, 0);
        into = sum + b;
    }
}

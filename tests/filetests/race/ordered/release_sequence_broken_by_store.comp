#version 450
//! sequential-only
//! steps 2000000
// The second one stores a new value; who reads that has not read what the first one released.
//! buffer 0 uint 0*3
//! buffer 1 uint 0
//! finding data-race 16 30
//! unordered
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Message { uint data; uint flag; uint go; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) {
        data = 17;
        memoryBarrierBuffer();
        atomicExchange(flag, 1u);
    }
    if (i == 1) {
        while (atomicOr(flag, 0u) == 0u) {}
        atomicStore(flag, 2u, gl_ScopeDevice, 0, 0);
        atomicStore(go, 1u, gl_ScopeDevice, 0, 0);
    }
    if (i == 2) {
        // Who comes when both are done never sees the first one's value.
        while (atomicLoad(go, gl_ScopeDevice, 0, 0) == 0u) {}
        uint seen = atomicLoad(flag, gl_ScopeDevice, 0, 0);
        memoryBarrierBuffer();
        if (seen == 2u) into = data;
    }
}

#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0*3
//! buffer 1 uint 0
//! expect 0 uint 17 2 1
//! expect 1 uint 17
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
        atomicAdd(flag, 1u);
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

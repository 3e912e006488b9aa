#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! expect 0 uint 0 19
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint flag;
shared uint data;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 1) { flag = 0; data = 0; }
    barrier();
    if (i == 0) {
        data = 19;
        memoryBarrierShared();
        atomicExchange(flag, 1u);
    } else {
        while (atomicOr(flag, 0u) == 0u) {}
        memoryBarrierShared();
        into[i] = data;
    }
}

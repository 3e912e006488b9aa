#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 float 0 0
//! expect 0 float 1.5 1.5
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Data { float data; float into; };
shared uint flag;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) flag = 0;
    barrier();
    if (i == 0) {
        data = 1.5;
        memoryBarrier();
        atomicExchange(flag, 1u);
    } else {
        while (atomicOr(flag, 0u) != 1u) {}
        memoryBarrier();
        into = data;
    }
}

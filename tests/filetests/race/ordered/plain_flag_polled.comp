#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! buffer 1 uint 0
//! finding data-race 16 18
//! finding data-race 14 20
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) volatile buffer Message { uint data; uint flag; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
void main() {
    if (gl_LocalInvocationIndex == 0) {
        data = 21;
        memoryBarrierBuffer();
        flag = 1;
    } else {
        while (flag == 0) {}
        memoryBarrierBuffer();
        into = data;
    }
}

#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0*2
//! finding data-race 16 24
//! detail data-race memory workgroup
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint data, flag;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 1) { flag = 0; data = 1; }
    barrier();
    if (i == 0) {
        data = 77;
        memoryBarrierBuffer();
        atomicExchange(flag, 5u);
    } else {
        for (;;) {
            if (atomicAdd(flag, 0u) == 5u) break;
        }
        memoryBarrierBuffer();
        into[i] = data;
    }
}

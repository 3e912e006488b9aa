#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! finding data-race 20 22
//! finding data-race 18 24
//! detail data-race memory workgroup
//! unordered
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
        flag = 1;
    } else {
        while (flag == 0) {}
        memoryBarrierShared();
        into[i] = data;
    }
}

#version 450
//! groups 2 1 1
//! buffer 0 uint 0*6
//! completion error
//! finding barrier-divergence 13 16
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint value;
void main() {
    if (gl_LocalInvocationIndex == 0) {
        value = 9;
        memoryBarrierShared();
        barrier();
        into[gl_GlobalInvocationID.x] = value;
    }
}

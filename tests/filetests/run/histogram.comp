#version 450
//! groups 4 1 1
//! buffer 0 uint 0*4
//! expect 0 uint 8 8 8 8
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
shared uint bins[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 4)
        bins[i] = 0;
    barrier();
    atomicAdd(bins[gl_GlobalInvocationID.x % 4], 1u);
    barrier();
    if (i < 4)
        atomicAdd(r[i], bins[i]);
}

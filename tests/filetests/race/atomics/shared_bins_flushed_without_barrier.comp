#version 450
//! groups 2 1 1
//! buffer 0 uint 0 1 1 2 2 2 0 1
//! buffer 1 uint 0*3
//! finding data-race 15 16
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Bins { uint bins[3]; };
shared uint local[3];
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 3) local[i] = 0;
    barrier();
    atomicAdd(local[from[gl_GlobalInvocationID.x]], 1u);
    if (i < 3) atomicAdd(bins[i], local[i]);
}

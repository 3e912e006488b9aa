#version 450
//! buffer 0 uint 3 1 0 2 3 3 1 0
//! buffer 1 uint 0*4
//! expect 1 uint 2 2 1 3
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) writeonly buffer Bins { uint bins[]; };
shared uint local[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 4) local[i] = 0;
    barrier();
    atomicAdd(local[from[i]], 1u);
    barrier();
    if (i < 4) bins[i] = local[i];
}

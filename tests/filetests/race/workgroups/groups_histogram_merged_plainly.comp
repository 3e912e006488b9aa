#version 450
//! groups 2 1 1
//! buffer 0 uint 0 1 1 1
//! buffer 1 uint 0*2
//! finding data-race 18 18
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Bins { uint bins[2]; };
shared uint local[2];
void main() {
    uint i = gl_LocalInvocationIndex;
    local[i] = 0;
    barrier();
    atomicAdd(local[from[gl_GlobalInvocationID.x]], 1u);
    barrier();
    bins[i] += local[i];
}

#version 450
//! buffer 0 uint 0 4 0 0
//! buffer 1 uint 0*2
//! expect 1 uint 4 0
//! expect 0 uint 3 4
struct Job { uint done; uint size; };
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Jobs { Job jobs[2]; };
layout(std430, set=0, binding=1) buffer Into { uint size; uint unused; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i > 0) { atomicAdd(jobs[0].done, 1u); }
    else size = jobs[0].size;
}

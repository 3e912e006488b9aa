#version 450
//! groups 3 1 1
//! buffer 0 uint 0
//! finding data-race 10 12
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Counter { uint counter; };
void main() {
    if (gl_GlobalInvocationID.x == 0) counter = 0;
    barrier();
    atomicAdd(counter, 1u);
}

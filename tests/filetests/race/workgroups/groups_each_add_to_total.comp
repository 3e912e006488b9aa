#version 450
//! groups 4 1 1
//! buffer 0 uint 0 0
//! expect 0 uint 10 0
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Sums { uint total; uint copy; };
void main() {
    uint group = gl_WorkGroupID.x;
    atomicAdd(total, group + 1);
}

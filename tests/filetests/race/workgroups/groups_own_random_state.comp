#version 450
//! groups 3 1 1
//! buffer 0 uint 1 2 3
//! expect 0 uint 8 11 14
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer State { uint state[]; };
uint next(uint at) {
    state[at] = state[at] * 3 + 5;
    return 1;
}
void main() {
    uint value = next(gl_WorkGroupID.x);
    if (value == 0) next(2);
}

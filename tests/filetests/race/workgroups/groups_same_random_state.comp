#version 450
//! groups 3 1 1
//! buffer 0 uint 1 2 3
//! finding data-race 10 10
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer State { uint state[]; };
uint next(uint at) {
    state[at] = state[at] * 3 + 5;
    return 1;
}
void main() {
    uint value = next(0);
    if (value == 0) next(2);
}

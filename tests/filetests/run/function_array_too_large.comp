#version 450
//! buffer 0 uint 7 0
//! completion unsupported invocation memory of more than 1 GiB
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
void main() {
    uint large[400000000];
    large[r[0]] = 1u;
    r[1] = large[r[0]];
}

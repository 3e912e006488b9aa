#version 450
//! buffer 0 float 1 3 5 7 9
//! buffer 1 float 0*9
//! finding data-race 12 14
//! detail data-race same_value true
//! expect 1 float 1 2 3 4 5 6 7 8 9
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer Coarse { float coarse[]; };
layout(std430, set=0, binding=1) writeonly buffer Fine { float fine[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    fine[2 * i] = coarse[i];
    fine[2 * i + 1] = 0.5 * (coarse[i] + coarse[i + 1]);
    fine[2 * i + 2] = coarse[i + 1];
}

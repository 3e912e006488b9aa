#version 450
//! buffer 0 float 1 2 3 4
//! buffer 1 float 0
//! finding data-race 10 10
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { float from[]; };
layout(std430, set=0, binding=1) buffer Sum { float sum; };
void main() {
    sum += from[gl_LocalInvocationIndex];
}

#version 450
//! buffer 0 uint 3 1 0 2 3 3 1 0
//! buffer 1 uint 0*4
//! finding data-race 12 12
//! finding data-race 12 12
//! detail data-race memory buffer
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Bins { uint bins[]; };
void main() {
    bins[from[gl_LocalInvocationIndex]]++;
}

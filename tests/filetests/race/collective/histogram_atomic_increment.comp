#version 450
//! buffer 0 uint 3 1 0 2 3 3 1 0
//! buffer 1 uint 0*4
//! expect 1 uint 2 2 1 3
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Bins { uint bins[]; };
void main() {
    atomicAdd(bins[from[gl_LocalInvocationIndex]], 1u);
}

#version 450
//! buffer 0 float 1 2 3 4
//! buffer 1 float 0
//! expect 1 float 10
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { float from[]; };
layout(std430, set=0, binding=1) buffer Sum { float sum; };
void main() {
    atomicAdd(sum, from[gl_LocalInvocationIndex]);
}

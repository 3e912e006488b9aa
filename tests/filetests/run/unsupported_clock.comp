#version 450
#extension GL_ARB_shader_clock : require
//! buffer 0 uint 0
//! completion unsupported ShaderClockKHR
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uvec2 now = clock2x32ARB();
    r[0] = now.x == 7u ? 1u : 1u;
}

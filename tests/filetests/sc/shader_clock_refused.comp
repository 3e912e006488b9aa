//! refused capability ShaderClockKHR (feature shaderSubgroupClock or shaderDeviceClock, not in sc_features) at word _
#version 450
#extension GL_ARB_shader_clock : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uvec2 values[]; };
void main() {
    values[0] = clock2x32ARB();
}

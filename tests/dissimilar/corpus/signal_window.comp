#version 450
//! buffer 0 float 1*8
layout(local_size_x = 8) in;
layout(binding = 0) buffer X { float x[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float phase = radians(360.0) * float(i) / 7.0;
    x[i] *= 0.42 - 0.5 * cos(phase) + 0.08 * cos(2.0 * phase);
}

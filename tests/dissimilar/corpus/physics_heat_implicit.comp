#version 450
//! buffer 0 float 0 1 4 9 16 25 36 49
//! buffer 1 float 0*8
layout(local_size_x = 8) in;
layout(binding = 0) buffer A { float old[]; };
layout(binding = 1) buffer B { float fresh[]; };
void main() {
    const uint n = 8u, i = gl_GlobalInvocationID.x;
    const float k = 0.1;
    float left = old[i == 0u ? n - 1u : i - 1u], right = old[(i + 1u) % n];
    fresh[i] = old[i] + k * (left - 2.0 * old[i] + right);
}

#version 450
//! buffer 0 float 1 2 3 4 5 6 7 8
//! buffer 1 float 0*8
layout(local_size_x = 8) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
const float TAPS[] = { 0.25, 0.5, 0.25 };
void main() {
    int i = int(gl_GlobalInvocationID.x);
    float sum = 0.0;
    for (int k = 0; k < TAPS.length(); ++k) { int at = i - k; if (at >= 0) sum += TAPS[k] * x[at]; }
    y[i] = sum;
}

#version 450
//! buffer 0 float 1 0 0 0 0 1 0 0
//! buffer 1 float 0.5 0.5 0 0 0.1 0.9 0 0
//! buffer 2 float 0*4
layout(local_size_x = 2, local_size_y = 2) in;
layout(binding = 0) buffer Q { vec4 q[]; };
layout(binding = 1) buffer K { vec4 k[]; };
layout(binding = 2) buffer S { float scores[]; };
void main() {
    uint row = gl_LocalInvocationID.y, column = gl_LocalInvocationID.x;
    bool masked = column > row;
    scores[row * 2u + column] = masked ? -1e30 : dot(q[row], k[column]) / sqrt(float(4));
}

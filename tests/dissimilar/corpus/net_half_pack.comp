#version 450
//! buffer 0 float 1 65504 0.00006 -2.5 3.14159 1000000 0.1 0
//! buffer 1 hex 0*4
//! buffer 2 float 0*8
layout(local_size_x = 4) in;
layout(binding = 0) buffer X { vec2 x[]; };
layout(binding = 1) buffer Y { uint y[]; };
layout(binding = 2) buffer Z { vec2 z[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    y[i] = packHalf2x16(x[i]);
    z[i] = unpackHalf2x16(y[i]);
}

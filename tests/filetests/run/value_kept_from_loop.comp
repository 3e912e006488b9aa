#version 450
//! buffer 0 uint 6 2 34 20
//! buffer 1 uint 0*4
//! expect 1 uint 6 2 2 0
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer I { uint i[]; };
layout(std430, set=0, binding=1) buffer R { uint r[]; };
// The value before the update is used behind a loop that the invocations leave at different times.
void main() {
    uint u = i[gl_LocalInvocationIndex], k = 0u, kept = 0u;
    do {
        k++;
        kept = u & 15u;
        u = 4u * u;
    } while (k < 3u && (u & 64u) != 0u);
    r[gl_LocalInvocationIndex] = kept;
}
